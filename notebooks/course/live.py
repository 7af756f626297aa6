"""Live figures: what moves is drawn over a background drawn once, so that a figure follows the mouse.

A frame takes 4 to 8 ms, so controls answer while they are dragged, and a prediction can be made by dragging before the
answer is shown. What takes longer than 50 ms is computed before the figure is made, or is a `Panel`, which waits until
its control is released.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as w
import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from cofactor_app.plots.style import alt_text, spoken, to_png
from course.panel import Panel, choice, slider

HIDDEN, SHOWN = "hidden", "shown"


class Live(Panel):
    """Controls and a figure of which only some artists move.

    Parameters
    ----------
    controls
        By the names that `update` takes: `drag` for numbers, `course.panel.choice` for words, `reveal` for what is
        hidden until it is asked for.
    figure
        Drawn in the house style, with its final axes, limits and title.
    moving
        Artists that `update` changes; they are left out of the background.
    update
        Moves the artists to the values of the controls, and returns the sentence that says what is to be seen. A
        CofactorError is shown in the place of the sentence, and the figure stays as it was.
    look
        One line above the controls: what to do, and what to look for.
    """

    def __init__(
        self,
        controls: Mapping[str, Any],
        figure: Figure,
        moving: Sequence[Artist],
        update: Callable[..., str],
        look: str = "",
    ) -> None:
        self.figure, self.moving, self.image = figure, list(moving), w.HTML()
        for artist in self.moving:
            artist.set_animated(True)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once: the background stays where the axes are
        self.canvas = FigureCanvasAgg(figure)
        self.canvas.draw()
        self.background = self.canvas.copy_from_bbox(figure.bbox)
        super().__init__(controls, update, lambda _: figure, str)
        rows = w.HBox(list(self.controls.values()), layout=w.Layout(flex_flow="row wrap"))
        lead = [w.HTML(f"<b>{html.escape(look)}</b>")] if look else []
        self.box = w.VBox([*lead, rows, self.view, self.image])

    def _fill(self, fig: Figure | None) -> None:
        role = 'aria-live="polite"' if fig is not None else 'role="alert"'
        self.view.value = f'<p class="cofactor-readout" {role}>{html.escape(self.text)}</p>'
        if fig is not None:
            self.png, words = self.frame(), html.escape(alt_text(fig), quote=True)
            source = f"data:image/png;base64,{base64.b64encode(self.png).decode()}"
            self.image.value = f'<img alt="{words}" style="max-width:100%" src="{source}">'

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The live box; and where no kernel runs the figure as it stands."""
        self.png, self.spoken = to_png(self.figure), spoken(self.figure)
        return super()._repr_mimebundle_(**kwargs)

    def frame(self) -> bytes:
        """Return the figure as it stands, as PNG: the background as it was, and over it the artists that move."""
        self.canvas.restore_region(self.background)
        for artist in self.moving:
            if artist.get_visible():
                artist.axes.draw_artist(artist)
        buffer = io.BytesIO()
        Image.fromarray(np.asarray(self.canvas.buffer_rgba())[..., :3]).save(buffer, "png", compress_level=1)
        return buffer.getvalue()


def drag(value: float, low: float, high: float, step: float, name: str) -> Any:
    """Return a slider that answers while it is dragged; of whole numbers, if all of these are."""
    whole = all(isinstance(one, int) for one in (value, low, high, step))
    made = slider(w.IntSlider if whole else w.FloatSlider, value, low, high, step, name)
    made.continuous_update = True
    return made


def sliding(values: tuple[Any, ...], value: Any, name: str) -> Any:
    """Return a slider over a few values that answers while it is dragged."""
    made = choice(w.SelectionSlider, values, value, name)
    made.continuous_update = True
    return made


def reveal(name: str = "answer") -> Any:
    """Return two buttons that hide and show what the learner predicts first; `update` gets True when it is shown."""
    buttons = w.ToggleButtons(options=[(HIDDEN, False), (SHOWN, True)], value=False, description=name)
    buttons.style.button_width = "5em"
    return buttons

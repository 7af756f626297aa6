"""Live figures: moving artists are drawn over a fixed background, so that a figure follows the mouse.

A frame takes 4 to 8 ms, so controls respond while they are dragged, and a learner can predict by dragging before the
answer is shown. Whatever takes longer than 50 ms is computed before the figure is made, or is a `Panel`, which waits
until its control is released.
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
    """Controls and a figure in which only some artists move.

    Parameters
    ----------
    controls
        By the argument names of `update`: `drag` for numbers, `course.panel.choice` for words, `reveal` for what is
        hidden at first.
    figure
        Drawn in the common style, with its final axes, limits and title.
    moving
        Artists that `update` changes; they are left out of the background.
    update
        Moves the artists to the values of the controls, and returns the sentence that describes them. A CofactorError
        is shown instead of the sentence, and the figure does not change.
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
        """Return the live box, and the current figure for use without a kernel."""
        self.png, self.spoken = to_png(self.figure), spoken(self.figure)
        return super()._repr_mimebundle_(**kwargs)

    def frame(self) -> bytes:
        """Return the current figure as PNG: the background, and over it the moving artists."""
        self.canvas.restore_region(self.background)
        for artist in self.moving:
            if artist.get_visible():
                artist.axes.draw_artist(artist)
        buffer = io.BytesIO()
        Image.fromarray(np.asarray(self.canvas.buffer_rgba())[..., :3]).save(buffer, "png", compress_level=1)
        return buffer.getvalue()


def drag(value: float, low: float, high: float, step: float, name: str) -> Any:
    """Return a slider that responds while it is dragged; it has whole numbers if all arguments are whole."""
    whole = all(isinstance(one, int) for one in (value, low, high, step))
    made = slider(w.IntSlider if whole else w.FloatSlider, value, low, high, step, name)
    made.continuous_update = True
    return made


def sliding(values: tuple[Any, ...], value: Any, name: str) -> Any:
    """Return a slider over a few values that responds while it is dragged."""
    made = choice(w.SelectionSlider, values, value, name)
    made.continuous_update = True
    return made


def reveal(name: str = "answer") -> Any:
    """Return two buttons that hide and show an answer that the learner predicts; `update` gets True if it is shown."""
    buttons = w.ToggleButtons(options=[(HIDDEN, False), (SHOWN, True)], value=False, description=name)
    buttons.style.button_width = "5em"
    return buttons

"""Panels: controls, a figure, and a sentence that says what the figure shows.

A panel recomputes when a control is released, not while it moves. It also works without a kernel: the stored notebook
keeps the figure as PNG and the sentence as text.
"""

from __future__ import annotations

import base64
import html
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import ipywidgets as w
from matplotlib.figure import Figure

from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning
from cofactor_app.plots.style import alt_text, spoken, to_png

BUSY = '<span role="status">computing ...</span>'


class Shown(NamedTuple):
    """What a panel shows for some values; if cofactor refuses them, there is no figure, and the text says why."""

    outcome: Any
    figure: Figure | None
    text: str


class Panel:
    """Controls, a figure, and a sentence that says what the figure shows.

    `compute` takes the values of the controls by name and returns an outcome; `draw` makes a figure and `describe` a
    sentence from the outcome alone. A new value of any control recomputes.

    Attributes
    ----------
    outcome, png, text
        Of the values shown. `png` is empty if cofactor refuses these values; `text` then says why.
    spoken
        The picture's alternative text, as metadata.
    caption
        The sentence and the values of all controls, for a stored picture without controls.
    """

    def __init__(
        self,
        controls: Mapping[str, Any],
        compute: Callable[..., Any],
        draw: Callable[[Any], Figure],
        describe: Callable[[Any], str],
    ) -> None:
        self.controls, self.compute, self.draw, self.describe = dict(controls), compute, draw, describe
        self.view, self.sign = w.HTML(), w.HTML(layout=w.Layout(height="1.6em"))
        self.outcome: Any = None
        self.text, self.png = "", b""
        self.spoken: dict[str, Any] = {}
        for control in self.controls.values():
            control.observe(lambda _: self.refresh(), names="value")
        self.refresh()
        rows = w.HBox(list(self.controls.values()), layout=w.Layout(flex_flow="row wrap"))
        self.box = w.VBox([rows, self.sign, self.view])

    @property
    def params(self) -> dict[str, Any]:
        """Current values of the controls."""
        return {name: control.value for name, control in self.controls.items()}

    @property
    def caption(self) -> str:
        """The sentence and the values that it was computed from."""
        settings = [f"{control.description} = {label(control, control.value)}" for control in self.controls.values()]
        return f"{self.text} Shown for: {'; '.join(settings)}."

    def refresh(self) -> None:
        """Recompute from the current values; a refusal by cofactor is shown in the panel, any other error is raised.

        A notice between controls and figure says that the new figure is being computed.
        """
        self.sign.value = BUSY
        try:
            shown = self.at(**self.params)
            self.outcome, self.text = shown.outcome, shown.text
            self._fill(shown.figure)
        finally:
            self.sign.value = ""

    def at(self, **params: Any) -> Shown:
        """Compute what the panel shows for these values; controls and view do not change."""
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                outcome = self.compute(**params)
            return Shown(outcome, self.draw(outcome), " ".join([self.describe(outcome), *_told(caught)]))
        except CofactorError as refusal:
            return Shown(None, None, f"Not possible with these values: {refusal}")

    def _fill(self, fig: Figure | None) -> None:
        if fig is None:
            self.png, self.spoken = b"", {}
            self.view.value = f'<p class="cofactor-readout" role="alert">{html.escape(self.text)}</p>'
            return
        self.png, self.spoken = to_png(fig), spoken(fig)
        self.view.value = (
            f'<figure style="margin:0"><figcaption class="cofactor-readout" aria-live="polite">'
            f'{html.escape(self.text)}</figcaption><img alt="{html.escape(alt_text(fig), quote=True)}" '
            f'style="max-width:100%" src="data:image/png;base64,{base64.b64encode(self.png).decode()}"></figure>'
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the live box, and what to show without a kernel (a stored notebook, a web page)."""
        still = {"text/plain": f"[interactive panel] {self.caption}"}
        if self.png:
            still["image/png"] = base64.b64encode(self.png).decode()
        return {**(self.box._repr_mimebundle_(**kwargs) or {}), **still}, self.spoken


def label(control: Any, value: Any) -> str:
    """Format a value as the control itself shows it.

    >>> label(choice(w.Dropdown, (("none", 0.0), ("10 dB", 10.0)), 0.0, "noise"), 10.0)
    '10 dB'
    """
    if hasattr(control, "options"):
        return next(name for name, option in named(control) if option == value)
    return format(value, getattr(control, "readout_format", ""))


def named(control: Any) -> list[tuple[str, Any]]:
    """Return the names and values of the options of a control."""
    return [option if isinstance(option, tuple) else (str(option), option) for option in control.options]


def _told(caught: list[warnings.WarningMessage]) -> list[str]:
    """Return the warnings of cofactor for the sentence, once each; warn again of all others."""
    told = []
    for warning in caught:
        if issubclass(warning.category, ConvergenceWarning | DataWarning):
            told.append(f"Note: {warning.message}.")
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return list(dict.fromkeys(told))


def slider(kind: Any, value: float, low: float, high: float, step: float, name: str) -> Any:
    """Return a slider that recomputes on release; a fraction is shown with as many decimals as its step has."""
    decimals = {"readout_format": f".{len(str(step).partition('.')[2])}f"} if kind is w.FloatSlider else {}
    return kind(
        value=value, min=low, max=high, step=step, description=name, continuous_update=False, **decimals,
        style={"description_width": "initial"}, layout=w.Layout(width="350px"),
    )  # fmt: skip


def choice(kind: Any, options: tuple[Any, ...], value: Any, name: str) -> Any:
    """Return a choice among a few values, as a drop-down list or a slider."""
    late = {"continuous_update": False} if kind is w.SelectionSlider else {}
    style, layout = {"description_width": "initial"}, w.Layout(width="350px")
    # by index: a value of None would count as nothing chosen, and the first option of a slider would have no label
    place = [option[1] if isinstance(option, tuple) else option for option in options].index(value)
    return kind(options=options, index=place, description=name, style=style, layout=layout, **late)

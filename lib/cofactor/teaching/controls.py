"""Panels: controls beside a figure and a sentence that says what the figure shows.

A panel computes when a control is released, not while it moves. It also survives without a kernel: the stored notebook
keeps the figure as PNG and the sentence as text.
"""

from __future__ import annotations

import base64
import html
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import ipywidgets as w
import numpy as np
from matplotlib.figure import Figure

from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning
from cofactor.teaching import demos
from cofactor.teaching.figures.matrices import draw_completion
from cofactor.teaching.figures.panels import draw_crowd, draw_rounds
from cofactor.teaching.figures.simplex import TOUCH, draw_simplex, hull_margin
from cofactor.teaching.style import ROUNDING, alt_text, number, percent, to_png

METHODS = ("MV-EM", "SymNMF(no imputation)", "DesSymNMF", "RobSymNMF", "RobSymNMF-EM", "MultiStart-EM")
TASKS = (100, 300, 1000, 3000, 10_000)


class Panel:
    """Controls, a figure, and a sentence that says what the figure shows.

    Parameters
    ----------
    controls : mapping of name to widget
        Every widget has a `value`; a new value recomputes.
    compute : function of the named values
        Returns the outcome. The other two are functions of that outcome alone.
    draw : function of the outcome, returns a Figure
    describe : function of the outcome, returns a sentence

    Attributes
    ----------
    outcome, png, text
        Of the values shown. `png` is empty while the values are ones the kit refuses; `text` then says why.
    """

    def __init__(
        self,
        controls: Mapping[str, Any],
        compute: Callable[..., Any],
        draw: Callable[[Any], Figure],
        describe: Callable[[Any], str],
    ) -> None:
        self.controls, self.compute, self.draw, self.describe = dict(controls), compute, draw, describe
        self.view = w.HTML()
        self.outcome: Any = None
        self.text, self.png = "", b""
        for control in self.controls.values():
            control.observe(lambda _: self.refresh(), names="value")
        self.refresh()
        self.box = w.VBox([w.HBox(list(self.controls.values()), layout=w.Layout(flex_flow="row wrap")), self.view])

    @property
    def params(self) -> dict[str, Any]:
        """Current values of the controls."""
        return {name: control.value for name, control in self.controls.items()}

    def refresh(self) -> None:
        """Recompute from the current values; what the kit refuses is said in the panel, any other error is raised."""
        try:
            self._show()
        except CofactorError as refusal:
            self.outcome, self.png, self.text = None, b"", f"Not possible with these values: {refusal}"
            self.view.value = f'<p class="cofactor-readout" role="alert">{html.escape(self.text)}</p>'

    def _show(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.outcome = self.compute(**self.params)
        fig = self.draw(self.outcome)
        self.png = to_png(fig)
        self.text = " ".join([self.describe(self.outcome), *_told(caught)])
        self.view.value = (
            f'<figure style="margin:0"><figcaption class="cofactor-readout" aria-live="polite">'
            f'{html.escape(self.text)}</figcaption><img alt="{html.escape(alt_text(fig), quote=True)}" '
            f'style="max-width:100%" src="data:image/png;base64,{base64.b64encode(self.png).decode()}"></figure>'
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """The live box, and what to show where no kernel runs (a stored notebook, a web page)."""
        still = {"text/plain": f"[interactive panel] {self.text}"}
        if self.png:
            still["image/png"] = base64.b64encode(self.png).decode()
        return {**(self.box._repr_mimebundle_(**kwargs) or {}), **still}


def _told(caught: list[warnings.WarningMessage]) -> list[str]:
    """Warnings of the kit belong in the sentence, once each; all others go on to whoever listens."""
    told = []
    for warning in caught:
        if issubclass(warning.category, ConvergenceWarning | DataWarning):
            told.append(f"Note: {warning.message}.")
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return list(dict.fromkeys(told))


def _slider(kind: Any, value: float, low: float, high: float, step: float, name: str) -> Any:
    return kind(
        value=value, min=low, max=high, step=step, description=name, continuous_update=False,
        style={"description_width": "initial"}, layout=w.Layout(width="310px"),
    )  # fmt: skip


def _choice(kind: Any, options: tuple[Any, ...], value: Any, name: str) -> Any:
    late = {"continuous_update": False} if kind is w.SelectionSlider else {}
    style, layout = {"description_width": "initial"}, w.Layout(width="310px")
    return kind(options=options, value=value, description=name, style=style, layout=layout, **late)


def missing_block_panel(seed: int = 0) -> Panel:
    """Hide pairs of eight annotators, choose how to fill the holes, see the error."""

    def compute(share: float, n_tasks: int, imputation: str) -> demos.Completion:
        crowd = demos.small_crowd(8, 3, n_tasks, seed)
        return demos.complete(crowd, demos.hide_pairs(8, share, seed), imputation)

    controls = {
        "share": _slider(w.FloatSlider, 0.3, 0.0, 0.9, 0.1, "share of pairs missing"),
        "n_tasks": _choice(w.SelectionSlider, TASKS, 1000, "tasks"),
        "imputation": _choice(w.Dropdown, demos.IMPUTATIONS, "none", "imputation"),
    }
    return Panel(controls, compute, draw_completion, describe_completion)


def describe_completion(completion: demos.Completion) -> str:
    """Say how many blocks are missing, how well they were filled, and whether that can suffice."""
    n_missing, n_pairs = int(completion.pairs.sum()) // 2, len(completion.missing) * (len(completion.missing) - 1) // 2
    unreached = int((completion.unreached & completion.pairs).sum()) // 2
    text = f"{n_missing} of {n_pairs} pairs are missing. {completion.finding}."
    if unreached and completion.imputation != "none":
        text += f" {unreached} of them stay empty: no chain of annotators links them."
    return f"{text} No method can recover the model: {completion.verdict}." if completion.verdict else text


def scattering_panel() -> Panel:
    """Make the specialist worse or the crowd larger, see whether the rows still cover the disc."""
    controls = {
        "specialist_error": _slider(w.FloatSlider, 0.0, 0.0, 0.6, 0.05, "error of the specialist"),
        "n_workers": _slider(w.IntSlider, 10, 3, 40, 1, "annotators"),
        "seed": _slider(w.IntSlider, 0, 0, 20, 1, "seed"),
    }
    return Panel(controls, demos.scattering, lambda outcome: draw_simplex(outcome.H), describe_scattering)


def describe_scattering(outcome: demos.Scattering) -> str:
    """Say whether the hull covers the disc, and how far SymNMF of exact co-occurrences is from the truth."""
    margin = hull_margin(outcome.H)
    covers = "covers the disc" if margin >= -TOUCH else f"is {-margin:.3f} short of the disc"
    ending = "" if outcome.converged else ", not yet converged"
    return (
        f"The hull {covers}. From exact co-occurrences, SymNMF finds the model with a mean squared error "
        f"{'' if outcome.error < ROUNDING else 'of '}{number(outcome.error)}{ending}."
    )


def crowd_panel(seed: int = 0) -> Panel:
    """Choose how many tasks and labels there are and a method; see its errors and what it thinks of the workers."""

    def compute(n_tasks: int, labels_per_task: int, method: str) -> demos.Comparison:
        return demos.compare(n_tasks, labels_per_task, method, seed)

    controls = {
        "n_tasks": _choice(w.SelectionSlider, TASKS[:-1], 1000, "tasks"),
        "labels_per_task": _slider(w.IntSlider, 5, 2, 20, 1, "labels per task"),
        "method": _choice(w.Dropdown, METHODS, "RobSymNMF-EM", "method"),
    }
    return Panel(controls, compute, draw_crowd, describe_comparison)


def describe_comparison(outcome: demos.Comparison) -> str:
    """Say how often majority vote and the method err, and how well the method knows the workers."""
    return (
        f"With {outcome.labels_per_task:.1f} labels per task, majority vote errs on "
        f"{percent(outcome.errors['MajorityVote'], 1)} of the tasks, {outcome.method} on "
        f"{percent(outcome.errors[outcome.method], 1)}. Its estimate of a worker's accuracy is off by "
        f"{percent(outcome.accuracy_error, 1)} on average."
    )


def em_panel(seed: int = 3) -> Panel:
    """Stop EM after so many rounds; see the likelihood reached and the posteriors it then has."""
    rounds = demos.em_rounds(seed=seed)
    controls = {"after": _slider(w.IntSlider, 1, 0, rounds.last, 1, "rounds of EM")}
    return Panel(controls, lambda after: after, partial(draw_rounds, rounds), partial(describe_rounds, rounds))


def describe_rounds(rounds: demos.Rounds, after: int) -> str:
    """Say where EM stands after so many rounds."""
    error, n_tasks = rounds.errors[after], len(rounds.truth)
    wrong = f"{round(error * n_tasks, 1):g} of {n_tasks} labels are wrong ({percent(error, 1)})"
    if after == 0:
        return f"Before EM, by majority vote, {wrong}."
    gain = "" if after == 1 else f", {np.diff(rounds.log_likelihood)[after - 1]:.2g} more than a round before"
    level = f"{rounds.log_likelihood[after]:.1f}".replace("-", "\N{MINUS SIGN}")
    return f"After {after} round{'s' if after > 1 else ''} of EM the log-likelihood is {level} nats{gain}; {wrong}."

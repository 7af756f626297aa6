"""Pictures of results: the error rates of methods; and the tasks on which a model overrules the majority."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from cofactor.core.errors import CofactorError
from cofactor.core.types import Ints
from cofactor.crowd.labels import CrowdLabels
from cofactor_app.plots.style import (
    BLUE,
    FAINT,
    INK,
    WIDTH,
    new_picture,
    percent,
    say,
    styled,
)

VOTE = "MajorityVote"


@styled
def draw_methods(errors: Mapping[str, float], reference: str = VOTE) -> Figure:
    """Draw the error rate of each method as a bar, best on top, with a line at the majority vote.

    Parameters
    ----------
    errors : mapping of method name to error rate in [0, 1]
    reference : str
        Name of the method at which the line is drawn, if it is present.
    """
    if not errors:
        raise CofactorError("no methods to draw: give at least one method with its error rate")
    fig = new_picture(WIDTH, 1.25 + 0.32 * len(errors))
    fill_methods(fig.subplots(), errors, reference)
    best = min(errors, key=lambda name: errors[name])
    against = f", {_method(reference)} on {percent(errors[reference], 1)}" if reference in errors else ""
    ahead = "" if best == reference else against
    say(fig, f"{_method(best, True)} errs on {percent(errors[best], 1)} of the tasks{ahead}")
    return fig


def fill_methods(ax: Axes, errors: Mapping[str, float], reference: str) -> None:
    """Draw one bar per method into axes, and a line at the reference."""
    names = sorted(errors, key=lambda name: errors[name])[::-1]  # bars are stacked upwards
    values = 100 * np.array([errors[name] for name in names])
    bars = ax.barh(names, values, color=[FAINT if name == reference else BLUE for name in names], height=0.68)
    for bar, name in zip(bars, names, strict=True):
        bar.set_hatch("///" if name == reference else "")
        bar.set_edgecolor("white")
    ax.bar_label(bars, [f"{value:.1f}" for value in values], padding=3)
    if reference in errors:
        ax.axvline(100 * errors[reference], color=INK, ls="--", lw=1)
    ax.set(xlabel="tasks labelled wrongly (%)", xlim=(0, max(1.12 * values.max(), 1)))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def _method(name: str, first: bool = False) -> str:
    return ("Majority vote" if first else "majority vote") if name == VOTE else name


def disagreements(labels: CrowdLabels, posterior: ArrayLike) -> Ints:
    """Return the codes of tasks on which the model's class has fewer votes than another, most certain first."""
    posterior = np.asarray(posterior)
    winner = posterior.argmax(axis=1)
    votes = labels.votes
    overruled = np.flatnonzero(votes[np.arange(len(votes)), winner] < votes.max(axis=1))
    return overruled[np.argsort(-posterior[overruled].max(axis=1), kind="stable")]

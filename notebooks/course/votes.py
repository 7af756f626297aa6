"""Views of answers: the methods by their errors, and tasks on which a model overrules the majority."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from cofactor.core.errors import CofactorError
from cofactor.core.types import Ints
from cofactor.crowd.labels import CrowdLabels
from cofactor_app.plots.crowd import known
from cofactor_app.plots.style import (
    BLUE,
    CLASS_COLOURS,
    CLASS_HATCHES,
    FAINT,
    INK,
    WIDTH,
    new_picture,
    percent,
    say,
    short,
    styled,
)

TASKS = 6  # tasks shown unless others are asked for
VOTE = "MajorityVote"
BADGE = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}


@styled
def draw_methods(errors: Mapping[str, float], reference: str = VOTE) -> Figure:
    """Draw the error rate of each method as a bar, best on top, against the majority vote.

    Parameters
    ----------
    errors : mapping of method name to error rate in [0, 1]
    reference : str
        Name of the method the line stands at, if it is there.
    """
    if not errors:
        raise CofactorError("no methods to draw: give at least one name with its error rate")
    fig = new_picture(WIDTH, 1.25 + 0.32 * len(errors))
    fill_methods(fig.subplots(), errors, reference)
    best = min(errors, key=lambda name: errors[name])
    against = f", {_method(reference)} on {percent(errors[reference], 1)}" if reference in errors else ""
    ahead = "" if best == reference else against
    say(fig, f"{_method(best, True)} errs on {percent(errors[best], 1)} of the tasks{ahead}")
    return fig


def fill_methods(ax: Axes, errors: Mapping[str, float], reference: str) -> None:
    """Draw one bar for each method into axes, and a line at the reference."""
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
    """Return the codes of tasks where the model's class got fewer votes than another, the most certain first."""
    posterior = np.asarray(posterior)
    winner = posterior.argmax(axis=1)
    votes = labels.votes
    overruled = np.flatnonzero(votes[np.arange(len(votes)), winner] < votes.max(axis=1))
    return overruled[np.argsort(-posterior[overruled].max(axis=1), kind="stable")]


@styled
def draw_votes(labels: CrowdLabels, posterior: ArrayLike, task_codes: ArrayLike | None = None) -> Figure:
    """Draw, for several tasks, the votes of the crowd beside the posterior of the model.

    Parameters
    ----------
    labels : CrowdLabels
    posterior : (N, K) class probabilities
    task_codes : (P,) ints, optional
        Default: up to six tasks where the model overrules the majority, the most certain first.

    Raises
    ------
    CofactorError
        A code is not a task's, or none was given and the model overrules nobody.
    """
    posterior = np.asarray(posterior, dtype=np.float64)
    overruled = disagreements(labels, posterior)
    codes = overruled[:TASKS] if task_codes is None else np.asarray(task_codes)
    if task_codes is None and not codes.size:
        raise CofactorError("the model agrees with the majority on every task: name the tasks to draw (task_codes)")
    codes = known(codes, labels.n_tasks, "task")
    fig = new_picture(WIDTH, 1.7 + 0.34 * len(codes))
    left, right = fig.subplots(1, 2, sharey=True)
    _stack(left, labels.votes[codes], lambda value: f"{value:.0f}")
    _stack(right, 100 * posterior[codes], lambda value: f"{value:.0f}")
    names = [f"{short(labels.tasks[n])} {'►' if n in overruled else ' '}" for n in codes]
    left.set_yticks(range(len(codes)), names)
    left.invert_yaxis()
    left.set(xlabel="votes", ylabel="task (►: overruled)")
    right.set(xlabel="posterior (%)", xlim=(0, 100))
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    _legend_of_classes(fig, labels.classes)
    say(fig, f"The model overrules the majority on {np.isin(codes, overruled).sum()} of these {len(codes)} tasks")
    return fig


def _stack(ax: Axes, values: ArrayLike, number: Callable[[float], str]) -> None:
    """Horizontal bars, one per row, stacked over the classes, each part with its number where there is room."""
    values = np.asarray(values, dtype=np.float64)
    left = np.zeros(len(values))
    least = 0.07 * values.sum(axis=1).max()
    for k, part in enumerate(values.T):
        colour, hatch = CLASS_COLOURS[k % 8], CLASS_HATCHES[k % 8]
        bars = ax.barh(
            np.arange(len(values)), part, left=left, color=colour, hatch=hatch, edgecolor="white", height=0.7
        )
        ax.bar_label(bars, [number(v) if v >= least else "" for v in part], label_type="center", bbox=BADGE)
        left += part
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def _legend_of_classes(fig: Figure, classes: Sequence[object]) -> None:
    handles = [
        Patch(facecolor=CLASS_COLOURS[k % 8], hatch=CLASS_HATCHES[k % 8], edgecolor="white", label=short(name, 24))
        for k, name in enumerate(classes)
    ]
    fig.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 4))

"""Pictures of notebook 07 and what they show: who labelled what, error against time, printed errors, misled crowds."""

from __future__ import annotations

import time
import warnings
from collections import namedtuple
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import ArrayLike

from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning
from cofactor.core.types import Floats, Ints
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.scores import error_rate
from cofactor.data.loading import CrowdDataset
from cofactor_app.plots import style
from cofactor_app.plots.style import BLUE, FAINT, INK, WIDTH, new_picture, percent, say, styled
from course.crowds import without_prior
from course.public import load_public

BUSIEST = {"dog": 52}  # people kept, those with most labels, as in the published tables
FAMILIES = {  # how methods are drawn whose names start so
    "majority vote": (INK, "X", ("MajorityVote",)),
    "with a prior": (style.SKY, "h", ("WorkerTypes",)),
    "EM from the vote": (BLUE, "o", ("MV-EM",)),
    "EM from three starts": (BLUE, "D", ("MultiStart",)),
    "SymNMF family": (style.ORANGE, "s", ("RobSymNMF", "DesSymNMF", "SymNMF")),
    "other moments": (style.GREEN, "^", ("MultiSPA", "CNMF", "TensorADMM", "Spectral")),
    "minimax entropy": (style.PURPLE, "P", ("Minimax",)),
    "for two classes": (style.GREY, "*", ("KOS", "GhoshSVD", "EigenRatio")),
    "others": (style.GREEN, "v", ("",)),
}
SECONDS_FLOOR = 1e-4
ROOM = 0.75  # decades of seconds that a name takes
ROUND = (6, 8, 10, 15, 20, 30, 50)  # per cent

Trial = namedtuple("Trial", "method error seconds")


def public_crowds(names: Iterable[str]) -> dict[str, CrowdDataset]:
    """Load those crowds that can be had; of Dog, the 52 people with most labels are kept, as in ICML 2021."""
    found = load_public(names, "the cells below continue without them")
    kept = {name: BUSIEST.get(name, crowd.labels.n_workers) for name, crowd in found.items()}
    return {name: replace(crowd, labels=crowd.labels.busiest_workers(kept[name])) for name, crowd in found.items()}


@styled
def draw_who_labelled(crowds: Mapping[str, CrowdLabels]) -> Figure:
    """Draw the labels of each crowd as a table, people by tasks, one colour for each class; white: no label."""
    fig = new_picture(WIDTH, 0.9 + 1.35 * len(crowds))
    axes = fig.subplots(len(crowds), 1, squeeze=False)[:, 0]
    for ax, (name, labels) in zip(axes, crowds.items(), strict=True):
        K = labels.n_classes
        colours = ListedColormap([(1.0, 1.0, 1.0), *style.CLASS_COLOURS, *style.CLASS_COLOURS][: K + 1])
        ax.imshow(labels.table.codes.T + 1, cmap=colours, vmin=0, vmax=K, aspect="auto", interpolation="none")
        ax.spines[:].set_visible(True)
        ax.tick_params(length=2, labelsize=8)
        ax.set_title(f"{name}: {labels.n_workers} people, {labels.n_tasks} tasks", loc="left", color=INK)
    fig.supxlabel("task", fontsize=9.5)
    fig.supylabel("person", fontsize=9.5)
    shares = {name: labels.n_labels / (labels.n_workers * labels.n_tasks) for name, labels in crowds.items()}
    told = ", ".join(f"{percent(share)} of {name}" for name, share in shares.items())
    say(fig, f"Filled fraction of the table: {told}")
    return fig


# ---- error against time ----


def run_method(labels: CrowdLabels, truth: Ints, name: str) -> Trial:
    """Fit one method, `without_prior`, and score it: share of tasks labelled wrongly (ties split) and CPU seconds.

    What cofactor refuses is a trial with error NaN; its warnings are not shown.
    """
    start, error = time.process_time(), np.nan
    with warnings.catch_warnings(), suppress(CofactorError):
        for kind in (DataWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", kind)
        method = without_prior(name, random_state=0)
        error = error_rate(method.fit(labels).predict_proba(labels), truth)
    return Trial(name, error, time.process_time() - start)


def family(method: str) -> tuple[object, str, str]:
    """Colour, marker and name of the family of a method."""
    return next(
        (colour, marker, name) for name, (colour, marker, starts) in FAMILIES.items() if method.startswith(starts)
    )


@styled
def draw_time_and_error(found: Mapping[str, Mapping[str, Trial]]) -> Figure:
    """Draw the error of every method against its CPU time (log scale), one set of axes for each crowd.

    The line joins the methods that no other beats in both; of these, and the worst, are named as many as there is
    room for. The title depends on the errors alone, since times differ from run to run.
    """
    fig = new_picture(WIDTH, 0.95 + 2.35 * len(found))
    axes = fig.subplots(len(found), 1, squeeze=False, sharex=True)[:, 0]
    told = []
    for ax, (name, runs) in zip(axes, found.items(), strict=True):
        ran = [trial for trial in runs.values() if np.isfinite(trial.error)]
        _fill_times(ax, ran)
        ax.set_title(name, loc="left", color=INK)
        best = min(ran, key=lambda trial: trial.error)
        told.append(f"{best.method} on {name} ({percent(best.error, 1)})")
    axes[-1].set_xlabel("CPU time (s)")
    looks = dict.fromkeys(family(method) for runs in found.values() for method in runs)
    handles = [axes[0].plot([], [], marker, color=colour, ms=6, label=name)[0] for colour, marker, name in looks]
    fig.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8)
    say(fig, f"Lowest error: {', '.join(told)}")
    return fig


def _fill_times(ax: Axes, ran: Sequence[Trial]) -> None:
    seconds = np.maximum([trial.seconds for trial in ran], SECONDS_FLOOR)
    errors = 100 * np.array([trial.error for trial in ran])
    for trial, x, y in zip(ran, seconds, errors, strict=True):
        colour, marker, _ = family(trial.method)
        ax.plot(x, y, marker, color=colour, ms=7, alpha=0.8, mec="white", mew=0.5)
    front = _front(seconds, errors)
    ax.step(seconds[front], errors[front], where="post", color=FAINT, lw=1, zorder=0)
    for i in [*_with_room(front, seconds), int(errors.argmax())]:
        away, va = (-7, "top") if i in front else (7, "bottom")
        look: dict[str, Any] = {"ha": "center", "va": va, "fontsize": 8}
        ax.annotate(ran[i].method, (seconds[i], errors[i]), (0, away), textcoords="offset points", **look)
    ax.set(xscale="log", yscale="log", ylabel="tasks wrong (%)")
    _per_cent_ticks(ax.yaxis, errors)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.margins(x=0.1, y=0.25)


def _front(seconds: Floats, errors: Floats) -> list[int]:
    """Indices of the points that no other beats in both, the fastest first."""
    order = np.lexsort((errors, seconds))
    best = np.minimum.accumulate(errors[order])
    fresh = np.concatenate([[True], best[1:] < best[:-1]])
    return [int(i) for i in order[fresh]]


def _with_room(front: Sequence[int], seconds: Floats) -> list[int]:
    """The fastest and the best, and those between them that are far enough from what is named."""
    named = list(dict.fromkeys([front[0], front[-1]]))
    for i in front[1:-1]:
        if np.abs(np.log10(seconds[named] / seconds[i])).min() > ROOM:
            named.append(i)
    return named


def _per_cent_ticks(axis: Axis, errors: ArrayLike) -> None:
    """Ticks of a log axis at round numbers among the errors."""
    low, high = np.nanmin(errors), np.nanmax(errors)
    ticks = [t for t in ROUND if 0.9 * low < t < 1.1 * high]
    axis.set_ticks(ticks, [str(t) for t in ticks])
    axis.set_minor_formatter(NullFormatter())
    axis.set_tick_params(which="minor", length=0)


# ---- beside the printed ----


@styled
def draw_beside_published(table: pd.DataFrame) -> Figure:
    """Draw our errors (filled) beside the printed ones (hollow), a line between.

    The table has a row per method; columns in pairs (crowd, "ours") and (crowd, "printed"), in per cent, NaN for none.
    """
    crowds = list(dict.fromkeys(table.columns.get_level_values(0)))
    fig = new_picture(WIDTH, 1.3 + 0.21 * len(table))
    axes = fig.subplots(1, len(crowds), squeeze=False, sharey=True)[0]
    for ax, crowd in zip(axes, crowds, strict=True):
        _fill_pairs(ax, table[crowd])
        ax.set_title(crowd, loc="left", color=INK)
    axes[0].set_yticks(range(len(table)), table.index)
    axes[0].invert_yaxis()
    axes[len(axes) // 2].set_xlabel("tasks wrong (%), log scale")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    gaps = np.concatenate([np.abs(table[crowd]["ours"] - table[crowd]["printed"]) for crowd in crowds])
    near, printed = np.sum(gaps < 1.005), np.isfinite(gaps).sum()
    told = f"{near} of {printed} printed errors come back within a percentage point"
    say(fig, told if printed else "None of these numbers is printed in the paper")
    return fig


def _fill_pairs(ax: Axes, pairs: pd.DataFrame) -> None:
    y = np.arange(len(pairs))
    ax.hlines(y, pairs.min(axis=1), pairs.max(axis=1), color=FAINT, lw=2)
    ax.plot(pairs["printed"], y, "o", mfc="white", mec=INK, ms=7, label="printed in the paper")
    ax.plot(pairs["ours"], y, "o", color=BLUE, ms=4, label="measured here")
    ax.set_xscale("log")
    _per_cent_ticks(ax.xaxis, pairs)
    ax.set_axisbelow(True)
    ax.grid(axis="y", color=style.PAPER)
    ax.tick_params(axis="y", length=0)

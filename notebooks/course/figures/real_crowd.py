"""Pictures of notebook 07: who labelled what, error against time, ours beside the printed, thin and misled crowds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import ArrayLike

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats
from cofactor.crowd.labels import CrowdLabels
from cofactor.plots.crowd import VOTE, fill_methods, fill_uncertainty
from cofactor.plots.style import (
    BLUE,
    BROWN,
    CLASS_COLOURS,
    FAINT,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PAPER,
    PURPLE,
    SKY,
    WIDTH,
    new_picture,
    percent,
    say,
    styled,
)
from course.demos.real_crowd import Thinned, Trial

FAMILIES = {  # start of a method's name: how it is drawn
    "MajorityVote": (INK, "X", "majority vote"),
    "BayesDS": (SKY, "h", "with a prior"),
    "IBCC": (SKY, "h", "with a prior"),
    "EBCC": (SKY, "h", "with a prior"),
    "Wawa": (INK, "<", "weighted votes"),
    "CATD": (INK, "<", "weighted votes"),
    "BWA": (INK, "<", "weighted votes"),
    "OneCoin": (BROWN, ">", "few numbers a worker"),
    "MACE": (BROWN, ">", "few numbers a worker"),
    "GLAD": (BROWN, ">", "few numbers a worker"),
    "MV-EM": (BLUE, "o", "EM from the vote"),
    "MultiStart": (BLUE, "D", "EM from three starts"),
    "RobSymNMF": (ORANGE, "s", "SymNMF family"),
    "DesSymNMF": (ORANGE, "s", "SymNMF family"),
    "SymNMF": (ORANGE, "s", "SymNMF family"),
    "MultiSPA": (GREEN, "^", "other moments"),
    "CNMF": (GREEN, "^", "other moments"),
    "TensorADMM": (GREEN, "^", "other moments"),
    "Spectral": (GREEN, "^", "other moments"),
    "Minimax": (PURPLE, "P", "minimax entropy"),
    "PG-TAC": (BROWN, "v", "completed labels"),
    "CRIAV": (BROWN, "v", "completed labels"),
}
BINARY = (GREY, "*", "for two classes")
CURVES = ((INK, "X", ":"), (BLUE, "o", "-"), (ORANGE, "s", "--"), (GREEN, "^", "-."), (PURPLE, "P", (0, (5, 1))),
          (SKY, "D", (0, (1, 1))))  # fmt: skip
SECONDS_FLOOR = 1e-4
ROOM = 0.75  # decades of seconds that a name takes
ROUND = (6, 8, 10, 15, 20, 30, 50)  # per cent


def family(method: str) -> tuple[object, str, str]:
    """Colour, marker and name of the family of a method."""
    return next((look for start, look in FAMILIES.items() if method.startswith(start)), BINARY)


@styled
def draw_who_labelled(crowds: Mapping[str, CrowdLabels]) -> Figure:
    """Draw the labels of each crowd as a table, people by tasks, one colour for each class; white: no label."""
    if not crowds:
        raise CofactorError("no crowd to draw: give at least one name with its labels")
    fig = new_picture(WIDTH, 0.9 + 1.35 * len(crowds))
    axes = fig.subplots(len(crowds), 1, squeeze=False)[:, 0]
    shares = {}
    for ax, (name, labels) in zip(axes, crowds.items(), strict=True):
        _fill_labels(ax, labels)
        shares[name] = labels.n_labels / (labels.n_workers * labels.n_tasks)
        ax.set_title(f"{name}: {labels.n_workers} people, {labels.n_tasks} tasks", loc="left", color=INK)
    fig.supxlabel("task", fontsize=9.5)
    fig.supylabel("person", fontsize=9.5)
    told = ", ".join(f"{percent(share)} of {name}" for name, share in shares.items())
    say(fig, f"How much of the table is filled: {told}")
    return fig


def _fill_labels(ax: Axes, labels: CrowdLabels) -> None:
    colours = ListedColormap([(1.0, 1.0, 1.0), *CLASS_COLOURS, *CLASS_COLOURS][: labels.n_classes + 1])
    ax.imshow(
        labels.table.codes.T + 1, cmap=colours, vmin=0, vmax=labels.n_classes, aspect="auto", interpolation="none"
    )
    ax.spines[:].set_visible(True)
    ax.tick_params(length=2, labelsize=8)


@styled
def draw_time_and_error(found: Mapping[str, Mapping[str, Trial]]) -> Figure:
    """Draw the error of every method against its CPU time (log scale), one set of axes for each crowd.

    The line joins the methods that no other beats in both; of these, and the worst, are named as many as there is
    room for. The title depends on the errors alone, since times differ from run to run.
    """
    if not found:
        raise CofactorError("no crowd to draw: give at least one name with its trials")
    fig = new_picture(WIDTH, 0.95 + 2.35 * len(found))
    axes = fig.subplots(len(found), 1, squeeze=False, sharex=True)[:, 0]
    told = []
    for ax, (name, runs) in zip(axes, found.items(), strict=True):
        ran = [trial for trial in runs.values() if not trial.refused]
        _fill_times(ax, ran)
        ax.set_title(name, loc="left", color=INK)
        best = min(ran, key=lambda trial: trial.error)
        told.append(f"{best.method} on {name} ({percent(best.error, 1)})")
    axes[-1].set_xlabel("CPU time (s)")
    _legend_of_families(fig, [method for runs in found.values() for method in runs])
    say(fig, f"Fewest wrong: {', '.join(told)}")
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
        below = i in front
        ax.annotate(
            ran[i].method, (seconds[i], errors[i]), xytext=(0, -7 if below else 7), textcoords="offset points",
            ha="center", va="top" if below else "bottom", fontsize=8,
        )  # fmt: skip
    ax.set(xscale="log", yscale="log", ylabel="tasks wrong (%)")
    _per_cent_ticks(ax.yaxis, errors)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.margins(x=0.1, y=0.25)


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


def _front(seconds: Floats, errors: Floats) -> list[int]:
    """Indices of the points that no other beats in both, the fastest first."""
    order = np.lexsort((errors, seconds))
    best = np.minimum.accumulate(errors[order])
    fresh = np.concatenate([[True], best[1:] < best[:-1]])
    return [int(i) for i in order[fresh]]


def _legend_of_families(fig: Figure, methods: Sequence[str]) -> None:
    looks = dict.fromkeys(family(method) for method in methods)
    first = fig.axes[0]
    handles = [first.plot([], [], marker, color=colour, ms=6, label=name)[0] for colour, marker, name in looks]
    fig.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8)


@styled
def draw_beside_published(table: pd.DataFrame) -> Figure:
    """Draw our errors (filled) beside the printed ones (hollow), a line between.

    Parameters
    ----------
    table : DataFrame
        One row per method; columns in pairs (crowd, "ours") and (crowd, "printed"), in per cent, NaN for none.
    """
    crowds = list(dict.fromkeys(table.columns.get_level_values(0)))
    if not crowds or table.empty:
        raise CofactorError("nothing to compare: no crowd, or no method")
    fig = new_picture(WIDTH, 1.3 + 0.21 * len(table))
    axes = fig.subplots(1, len(crowds), squeeze=False, sharey=True)[0]
    for ax, crowd in zip(axes, crowds, strict=True):
        _fill_pairs(ax, table[crowd])
        ax.set_title(crowd, loc="left", color=INK)
    axes[0].set_yticks(range(len(table)), table.index)
    axes[0].invert_yaxis()
    axes[len(axes) // 2].set_xlabel("tasks wrong (%), log scale")
    handles, names = axes[0].get_legend_handles_labels()
    fig.legend(handles, names, loc="outside lower center", ncols=2)
    say(fig, _agreement(table, crowds))
    return fig


def _fill_pairs(ax: Axes, pairs: pd.DataFrame) -> None:
    y = np.arange(len(pairs))
    ax.hlines(y, pairs.min(axis=1), pairs.max(axis=1), color=FAINT, lw=2)
    ax.plot(pairs["printed"], y, "o", mfc="white", mec=INK, ms=7, label="printed in the paper")
    ax.plot(pairs["ours"], y, "o", color=BLUE, ms=4, label="measured here")
    ax.set_xscale("log")
    _per_cent_ticks(ax.xaxis, pairs)
    ax.set_axisbelow(True)
    ax.grid(axis="y", color=PAPER)
    ax.tick_params(axis="y", length=0)


def _agreement(table: pd.DataFrame, crowds: Sequence[str]) -> str:
    gaps = np.concatenate([np.abs(table[crowd]["ours"] - table[crowd]["printed"]) for crowd in crowds])
    gaps = gaps[np.isfinite(gaps)]
    if not gaps.size:
        return "None of these numbers is printed in the paper"
    return f"{np.sum(gaps < 1.005)} of {gaps.size} printed errors come back within a percentage point"


@styled
def draw_curves(
    levels: ArrayLike, curves: Mapping[str, Mapping[str, ArrayLike]], xlabel: str, finding: str, per_cent: bool = False
) -> Figure:
    """Draw errors of methods against a level, mean and range over seeds, one set of axes for each crowd.

    Parameters
    ----------
    levels : (L,) array
    curves : mapping of crowd to mapping of method to (seeds, L) error rates
        NaN where a method refused.
    xlabel, finding : str
    per_cent : bool
        The levels are shares, to be shown in per cent.
    """
    if not curves:
        raise CofactorError("no crowd to draw: give at least one name with its curves")
    x = np.asarray(levels, dtype=np.float64) * (100 if per_cent else 1)
    fig = new_picture(WIDTH, 3.5)
    axes = fig.subplots(1, len(curves), squeeze=False, sharey=True)[0]
    for ax, (name, methods) in zip(axes, curves.items(), strict=True):
        for (method, values), look in zip(methods.items(), CURVES, strict=False):
            _fill_curve(ax, x, 100 * np.asarray(values, dtype=np.float64), method, look)
        ax.set_title(name, loc="left", color=INK)
        ax.set_ylim(bottom=0)
        if not per_cent:
            ax.set(xscale="log", xticks=x, xticklabels=[f"{value:g}" for value in x])
            ax.xaxis.set_minor_formatter(NullFormatter())
            ax.tick_params(axis="x", which="minor", length=0)
    axes[0].set_ylabel("tasks wrong (%)")
    axes[len(axes) // 2].set_xlabel(xlabel)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    say(fig, finding)
    return fig


def _fill_curve(ax: Axes, x: Floats, values: Floats, name: str, look: tuple[object, str, object]) -> None:
    ran = np.isfinite(values).all(axis=0)
    colour, marker, line = look
    low, high = values[:, ran].min(axis=0), values[:, ran].max(axis=0)
    ax.fill_between(x[ran], low, high, color=colour, alpha=0.12, lw=0)
    ax.plot(x[ran], values[:, ran].mean(axis=0), color=colour, marker=marker, ls=line, ms=5, label=name)


@styled
def draw_thinned(outcome: Thinned) -> Figure:
    """Draw the errors of vote and method on a crowd with fewer labels, beside how certain each task is."""
    fig = new_picture(WIDTH, 3.6)
    left, right = fig.subplots(1, 2, width_ratios=[1, 1.2])
    fill_methods(left, outcome.errors, VOTE)
    left.margins(y=0.3)
    fill_uncertainty(right, outcome.posterior, outcome.truth)
    before, after = outcome.errors[VOTE], outcome.errors[outcome.method]
    each = outcome.labels.n_labels / outcome.labels.n_tasks
    said = f"{outcome.name}, {each:.3g} labels a task: majority vote errs on {percent(before, 1)}"
    say(fig, said if outcome.method == VOTE else f"{said}, {outcome.method} on {percent(after, 1)}")
    return fig

"""Pictures of notebook 08 and what they show: coins, sizes, anchors, likelihoods, starvation, columns, films."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import ArrayLike

from cofactor.core.tables import CategoricalTable
from cofactor_app.plots import style
from cofactor_app.plots.style import (
    BLUE,
    FAINT,
    INK,
    LOOKS,
    RED,
    WIDTH,
    heat,
    new_picture,
    number,
    percent,
    say,
    styled,
)
from course.nb08.panels import CONSTANT, Anchors, fill_anchors

SMALLEST = 0.1  # nats: nearer to the best is drawn there


@styled
def draw_coins(tables: Mapping[str, ArrayLike]) -> Figure:
    """Draw joint tables of two coins side by side; the title says how far each is from independence."""
    fig = new_picture(WIDTH, 2.7)
    told = []
    for ax, (name, table) in zip(fig.subplots(1, len(tables), squeeze=False)[0], tables.items(), strict=True):
        P = np.asarray(table, dtype=np.float64)
        heat(ax, P, (0, 0.5), number=lambda value: f"{value:.2f}")
        sides = ["tails", "heads"]
        ax.set(title=name, xticks=[0, 1], yticks=[0, 1], xticklabels=sides, yticklabels=sides)
        ax.set(xlabel="coin 2", ylabel="coin 1")
        told.append(f"{percent(P.trace())} {name}")
    say(fig, f"Both coins show the same: {', '.join(told)}")
    return fig


@styled
def draw_anchors(found: Mapping[str, Anchors]) -> Figure:
    """Draw the columns of virtual matrices in the plane: corners are the true classes, diamonds what SPA took."""
    fig = new_picture(WIDTH, 3.4)
    axes = fig.subplots(1, len(found), squeeze=False)[0]
    for ax, (name, one) in zip(axes, found.items(), strict=True):
        fill_anchors(ax, one)
        ax.set_title(name, color=INK)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    told = ", ".join(f"{one.gaps.max():.2f} {name}" for name, one in found.items())
    say(fig, f"Largest distance between a corner and its anchor: {told}")
    return fig


@styled
def draw_likelihoods(curves: Mapping[str, ArrayLike]) -> Figure:
    """Draw how far below the best of all ends each run of EM is, round by round (nats, log scale)."""
    runs = {name: np.asarray(curve, dtype=np.float64) for name, curve in curves.items()}
    best = max(run[-1] for run in runs.values())
    fig = new_picture(WIDTH, 3.6)
    ax = fig.subplots()
    for (name, run), (colour, _, line) in zip(runs.items(), LOOKS, strict=False):
        below = np.maximum(best - run, SMALLEST)
        ax.loglog(np.arange(1, len(run) + 1), below, color=colour, ls=line, lw=1.8, label=name)
    ax.set(xlabel="rounds of EM", ylabel="log-likelihood below the best (nats)")
    ax.legend(loc="lower left", title="start")
    worst = min(runs, key=lambda name: runs[name][-1])
    lost = number(round(best - runs[worst][-1]))
    say(fig, f"EM ends where its start leads it: from {worst}, {lost} nats below the best")
    return fig


@styled
def draw_starvation(
    shares: Sequence[float], errors: Mapping[str, ArrayLike], rows: int, cells: int, constant: float
) -> Figure:
    """Draw the error of methods against the rows per cell of a triple, S p^3 / I^3, with the constant's.

    The title compares the last method, by triples, with the first, by pairs.
    """
    x = rows * np.asarray(shares, dtype=np.float64) ** 3 / cells
    fig = new_picture(WIDTH, 3.5)
    ax = fig.subplots()
    for (name, values), (colour, marker, line) in zip(errors.items(), LOOKS, strict=False):
        runs = np.asarray(values, dtype=np.float64)
        ax.fill_between(x, runs.min(axis=0), runs.max(axis=0), color=colour, alpha=0.12, lw=0)
        ax.loglog(x, np.median(runs, axis=0), color=colour, marker=marker, ls=line, ms=5, label=name)
    ax.axhline(constant, color=FAINT, ls="-", lw=1)
    ax.text(x.max(), constant * 1.12, "a constant, without data", va="bottom", color=INK, fontsize=8.5)
    ax.set(xlabel="rows per cell of a triple, S p³ / I³", ylabel="MSE of the parameters")
    ax.invert_xaxis()
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(errors))
    pairs, *_, triples = errors
    ratio = np.median(np.asarray(errors[triples]), axis=0) / np.median(np.asarray(errors[pairs]), axis=0)
    most, few = (f"{ratio[i]:.2g} with {x[i]:.2g}" for i in (x.argmax(), x.argmin()))
    say(fig, f"Error of {triples}, as a multiple of that of {pairs}: {most} rows per cell, {few}")
    return fig


@styled
def draw_errors(mse: Mapping[str, float], mre: Mapping[str, float]) -> Figure:
    """Draw the two errors of each method beside each other (log scales); the line is the constant's."""
    fig = new_picture(WIDTH, 1.1 + 0.3 * len(mse))
    left, right = fig.subplots(1, 2, sharey=True)
    _fill_errors(left, mse, "MSE of the parameters")
    _fill_errors(right, mre, "MRE of the joint PMF")
    worse = [sum(value > errors[CONSTANT] for value in errors.values()) for errors in (mse, mre)]
    say(fig, f"Worse than a constant: {worse[0]} of {len(mse) - 1} methods by MSE, {worse[1]} by MRE")
    return fig


# ---- what a model is good for ----


def _fill_errors(ax: Axes, errors: Mapping[str, float], name: str) -> None:
    """Draw one error of each method as a dot, red where it is above the constant's."""
    names = list(errors)[::-1]
    level = errors[CONSTANT]
    ax.axvline(level, color=FAINT, lw=1, zorder=0)
    for y, method in enumerate(names):
        colour: str | tuple[float, float, float]
        colour, marker = (RED, "X") if errors[method] > level else (BLUE, "o")
        if method == CONSTANT:
            colour, marker = INK, "s"
        place = errors[method], y
        ax.plot(*place, marker, color=colour, ms=7)
        said = number(float(f"{errors[method]:.2g}"))
        ax.annotate(said, place, (0, 6), textcoords="offset points", ha="center", fontsize=8)
    ax.set(xscale="log", xlabel=name, yticks=range(len(names)), yticklabels=names)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.margins(x=0.25, y=0.22)


@styled
def draw_columns(names: Sequence[str], right: ArrayLike, frequent: ArrayLike) -> Figure:
    """Draw how often every column is predicted rightly from the others, beside its most frequent value."""
    right, frequent = 100 * np.asarray(right, dtype=np.float64), 100 * np.asarray(frequent, dtype=np.float64)
    order = np.argsort(right)
    y = np.arange(len(order))
    fig = new_picture(WIDTH, 1.4 + 0.22 * len(order))
    ax = fig.subplots()
    ax.hlines(y, frequent[order], right[order], color=FAINT, lw=1.2, zorder=0)
    ax.plot(frequent[order], y, "X", color=INK, ms=6, label="most frequent value")
    ax.plot(right[order], y, "o", color=BLUE, ms=6, label="from the other columns, one model")
    ax.set(yticks=y, yticklabels=[str(names[n]).replace("_", " ") for n in order], xlabel="held-out rows right (%)")
    ax.tick_params(axis="y", labelsize=8.5)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    better = int(np.sum(right > frequent))
    say(fig, f"One model predicts {better} of {len(order)} columns better than their most frequent value does")
    return fig


@styled
def draw_ratings(films: Sequence[str], seen: CategoricalTable, expected: ArrayLike, people: Sequence[int]) -> Figure:
    """Draw some people's ratings, those given in bold with a frame, the others as expected (stars)."""
    given = seen.codes[list(people)]
    stars = np.where(given >= 0, given, np.asarray(expected, dtype=np.float64)[list(people)]) + 1
    fig = new_picture(WIDTH, 1.6 + 0.3 * len(people))
    ax = fig.subplots()
    dark = heat(ax, stars, (1, 5)).to_rgba(stars)[..., :3] @ style.LUMINANCE < 0.55
    for (row, column), value in np.ndenumerate(stars):
        known = given[row, column] >= 0
        frame = {"boxstyle": "square,pad=0.25", "fc": "none", "ec": FAINT if known else "none"}
        said, weight = (f"{value:.0f}", "bold") if known else (f"{value:.1f}", "normal")
        text = ax.text(column, row, said, ha="center", va="center", fontsize=8.5, fontweight=weight, bbox=frame)
        text.set_color("white" if dark[row, column] else INK)
    ax.set(yticks=range(len(people)), yticklabels=[f"person {s}" for s in people], aspect="auto")
    ax.set_xticks(range(len(films)), [film.replace(" ", "\n") for film in films], fontsize=8)
    ax.set_xlabel("film")
    say(fig, f"{(given < 0).sum()} of these {given.size} ratings are expectations; framed: given")
    return fig

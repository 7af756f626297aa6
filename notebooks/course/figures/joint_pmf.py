"""Pictures of notebook 08: coins, sizes, anchors in the plane, likelihoods, starvation, errors, columns, films."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.ticker import NullFormatter
from numpy.typing import ArrayLike, NDArray

from cofactor.core.errors import CofactorError
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats
from cofactor.plots.style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    LUMINANCE,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    WIDTH,
    heat,
    new_picture,
    number,
    percent,
    say,
    styled,
)
from course.demos.joint_pmf import Anchors, Recovered, count_numbers

LOOKS = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (GREEN, "^", "-."), (PURPLE, "D", ":"), (INK, "X", (0, (5, 1))),
         (SKY, "v", (0, (1, 1))))  # fmt: skip
CONSTANT = "Constant"
SIZES = ("joint", "triples", "pairs", "model")
SMALLEST = 0.1  # nats: nearer to the best is drawn there
MOST_PEOPLE = 12


@styled
def draw_coins(tables: Mapping[str, ArrayLike]) -> Figure:
    """Draw joint tables of two coins side by side; the title says how far each is from independence."""
    if not tables:
        raise CofactorError("no coins to draw: give at least one name with its table")
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
def draw_growth(alphabet: int = 10, rank: int = 10, most: int = 15) -> Figure:
    """Draw how many numbers the joint table, all triples, all pairs and the model have, against the variables."""
    N = np.arange(3, most + 1)
    counts = {name: [count_numbers(int(n), alphabet, rank)[name] for n in N] for name in SIZES}
    names = {"joint": "joint table", "triples": "all triples", "pairs": "all pairs", "model": f"model, F = {rank}"}
    fig = new_picture(WIDTH, 3.3)
    ax = fig.subplots()
    for name, (colour, marker, line) in zip(SIZES, LOOKS, strict=False):
        ax.semilogy(N, counts[name], color=colour, marker=marker, ls=line, ms=4, label=names[name])
    ax.set(xlabel="variables", ylabel="numbers")
    ax.legend(loc="upper left")
    last = {name: f"{values[-1]:,}" for name, values in counts.items()}
    say(
        fig, f"{most} variables of {alphabet} values: {counts['joint'][-1]:.0e} cells, {last['pairs']} numbers in pairs"
    )
    return fig


@styled
def draw_anchors(found: Mapping[str, Anchors]) -> Figure:
    """Draw the columns of virtual matrices in the plane: corners are the true classes, diamonds what SPA took."""
    if not found:
        raise CofactorError("nothing to draw: give at least one name with its anchors")
    fig = new_picture(WIDTH, 3.4)
    axes = fig.subplots(1, len(found), squeeze=False)[0]
    for ax, (name, one) in zip(axes, found.items(), strict=True):
        fill_anchors(ax, one)
        ax.set_title(name, color=INK)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    told = ", ".join(f"{one.gaps.max():.2f} {name}" for name, one in found.items())
    say(fig, f"Farthest that a corner is from the anchor taken for it: {told}")
    return fig


def fill_anchors(ax: Axes, found: Anchors) -> None:
    """Draw one set of columns into axes; classes are the corners of a regular polygon."""
    corners = polygon(found.theta.shape[1])
    places, taken = found.theta @ corners, found.theta[found.found] @ corners
    ax.add_patch(Polygon(corners, closed=True, fc="none", ec=INK, lw=1.2))
    ax.add_patch(Polygon(taken[_around(taken)], closed=True, fc=(*ORANGE, 0.15), ec=ORANGE, lw=1.2, ls="--"))
    ax.plot(*corners.T, "s", color=INK, ms=6, label="class (truth)")
    ax.plot(*places.T, "o", color=BLUE, ms=4, alpha=0.6, mec="white", mew=0.4, label="value: column of X")
    ax.plot(*taken.T, "D", color=ORANGE, ms=6, mec="white", mew=0.6, label="taken by SPA")
    reach = np.vstack([corners, places])
    margin = 0.08 * np.ptp(reach, axis=0).max()
    low, high = reach.min(axis=0) - margin, reach.max(axis=0) + margin
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.set_xlabel("plane of the classes")


def polygon(n_classes: int) -> Floats:
    """Return the (F, 2) corners of a regular polygon; for three classes distances are those of the simplex, scaled."""
    angle = np.pi / 2 + 2 * np.pi * np.arange(n_classes) / n_classes
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _around(places: Floats) -> NDArray[np.intp]:
    """Order of points around their centre."""
    away = places - places.mean(axis=0)
    return np.argsort(np.arctan2(away[:, 1], away[:, 0]))


@styled
def draw_likelihoods(curves: Mapping[str, ArrayLike]) -> Figure:
    """Draw how far below the best of all ends each run of EM is, round by round (nats, log scale)."""
    if not curves:
        raise CofactorError("no run to draw: give at least one name with its log-likelihoods")
    runs = {name: np.asarray(curve, dtype=np.float64) for name, curve in curves.items()}
    best = max(run[-1] for run in runs.values())
    fig = new_picture(WIDTH, 3.6)
    ax = fig.subplots()
    for (name, run), (colour, _, line) in zip(runs.items(), LOOKS, strict=False):
        ax.loglog(
            np.arange(1, len(run) + 1), np.maximum(best - run, SMALLEST), color=colour, ls=line, lw=1.8, label=name
        )
    ax.set(xlabel="rounds of EM", ylabel="log-likelihood below the best (nats)")
    ax.legend(loc="lower left", title="start")
    worst = min(runs, key=lambda name: runs[name][-1])
    say(
        fig,
        f"EM ends where its start leads it: from {worst}, {number(round(best - runs[worst][-1]))} nats below the best",
    )
    return fig


@styled
def draw_starvation(
    shares: Sequence[float], errors: Mapping[str, ArrayLike], rows: int, cells: int, constant: float
) -> Figure:
    """Draw the error of methods against the rows per cell of a triple, S p^3 / I^3, with the constant's."""
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
    say(fig, _starved(x, {name: np.median(np.asarray(values), axis=0) for name, values in errors.items()}))
    return fig


def _starved(x: Floats, medians: Mapping[str, Floats]) -> str:
    """Compare the last method, by triples, with the first, by pairs, where rows are most and where they are fewest."""
    pairs, *_, triples = medians
    ratio = medians[triples] / medians[pairs]
    most, fewest = int(x.argmax()), int(x.argmin())
    return (
        f"Error of {triples}, as a multiple of that of {pairs}: {ratio[most]:.2g} with {x[most]:.2g} rows per cell, "
        f"{ratio[fewest]:.2g} with {x[fewest]:.2g}"
    )


@styled
def draw_errors(mse: Mapping[str, float], mre: Mapping[str, float]) -> Figure:
    """Draw the two errors of each method beside each other (log scales); the line is the constant's."""
    if CONSTANT not in mse or set(mse) != set(mre):
        raise CofactorError(f"give both errors of the same methods, {CONSTANT!r} among them")
    fig = new_picture(WIDTH, 1.1 + 0.3 * len(mse))
    left, right = fig.subplots(1, 2, sharey=True)
    fill_errors(left, mse, "MSE of the parameters")
    fill_errors(right, mre, "MRE of the joint PMF")
    worse = [sum(value > errors[CONSTANT] for value in errors.values()) for errors in (mse, mre)]
    say(fig, f"Worse than a constant: {worse[0]} of {len(mse) - 1} methods by MSE, {worse[1]} by MRE")
    return fig


def fill_errors(ax: Axes, errors: Mapping[str, float], name: str) -> None:
    """Draw one error of each method as a dot, red where it is above the constant's."""
    names = list(errors)[::-1]
    level = errors[CONSTANT]
    ax.axvline(level, color=FAINT, lw=1, zorder=0)
    for y, method in enumerate(names):
        colour, marker = (RED, "X") if errors[method] > level else (BLUE, "o")
        if method == CONSTANT:
            colour, marker = INK, "s"
        ax.plot(errors[method], y, marker, color=colour, ms=7)
        ax.annotate(number(float(f"{errors[method]:.2g}")), (errors[method], y), (0, 6), textcoords="offset points",
                    ha="center", fontsize=8)  # fmt: skip
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
    if not 0 < len(people) <= MOST_PEOPLE:
        raise CofactorError(f"{len(people)} people: there is room for 1 to {MOST_PEOPLE}")
    given = seen.codes[list(people)]
    stars = np.where(given >= 0, given, np.asarray(expected, dtype=np.float64)[list(people)]) + 1
    fig = new_picture(WIDTH, 1.6 + 0.3 * len(people))
    ax = fig.subplots()
    image = heat(ax, stars, (1, 5))
    dark = image.to_rgba(stars)[..., :3] @ LUMINANCE < 0.55
    for (row, column), value in np.ndenumerate(stars):
        known = given[row, column] >= 0
        ax.text(column, row, f"{value:.0f}" if known else f"{value:.1f}", ha="center", va="center", fontsize=8.5,
                color="white" if dark[row, column] else INK, fontweight="bold" if known else "normal",
                bbox={"boxstyle": "square,pad=0.25", "fc": "none", "ec": FAINT if known else "none"})  # fmt: skip
    ax.set(yticks=range(len(people)), yticklabels=[f"person {s}" for s in people], aspect="auto")
    ax.set_xticks(range(len(films)), [film.replace(" ", "\n") for film in films], fontsize=8)
    ax.set_xlabel("film")
    hidden = int((given < 0).sum())
    say(fig, f"{hidden} of these {given.size} ratings are expectations; framed: given")
    return fig


@styled
def draw_recovered(outcome: Recovered) -> Figure:
    """Draw the anchors of a simulated table beside the errors of three methods and the constant."""
    fig = new_picture(WIDTH, 3.4)
    left, *both = fig.subplots(1, 3, width_ratios=[1.15, 1, 1])
    fill_anchors(left, outcome.anchors)
    fill_errors(both[0], outcome.mse, "MSE")
    fill_errors(both[1], outcome.mre, "MRE")
    both[1].set_yticklabels([])
    best = min(outcome.mre, key=lambda name: outcome.mre[name])
    say(fig, f"Best joint PMF: {best}, {percent(outcome.mre[best])} off; SPA misses a corner by "
             f"{outcome.anchors.gaps.max():.2f}")  # fmt: skip
    return fig

"""What notebook 05 measures and draws: gap and objective, rows of C, scores, shares of successes, memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor import simulate
from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats
from cofactor_app.peak import measure_peak
from cofactor_app.plots.style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    WIDTH,
    new_picture,
    number,
    percent,
    say,
    styled,
)

N_ROWS = 50  # of X in drawn mixtures
FUNCTIONS = {"MERIT": "cofactor.separable:merit", "FastGradient": "cofactor.separable:fast_gradient"}
STEPS = {"MERIT": "n_iter", "FastGradient": "max_iter"}  # how they call their number of steps
SMALL = 200  # points of the call that comes before the one that is measured
LOOKS = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (GREEN, "^", "-."), (PURPLE, "D", ":"))
MOST_BARS = 120  # more scores than these are not told apart; the largest are drawn
CLEAR = 40  # more bars than these touch, or their gaps would flicker


@styled
def draw_cloud(X: Floats, anchors: Sequence[int]) -> Figure:
    """Draw the columns of X (2, N) by their numbers, anchors otherwise, and the origin, from which lengths count."""
    fig = new_picture(WIDTH, 3.4)
    ax = fig.subplots()
    mixed = np.delete(X, anchors, axis=1)
    ax.plot(*mixed, "o", color=BLUE, ms=5, label="mixtures")
    ax.plot(*X[:, anchors], "D", color=ORANGE, ms=6, label="anchors")
    ax.plot(0, 0, "+", color=INK, ms=9, label="origin")
    for n, point in enumerate(X.T):
        ax.annotate(str(n), tuple(point), (5, 3), textcoords="offset points", fontsize=9)
    ax.set(aspect="equal")
    ax.set_axis_off()
    fig.legend(*ax.get_legend_handles_labels(), loc="outside right center")
    say(fig, f"{X.shape[1]} columns of X by their numbers, {len(anchors)} of them anchors, all of them noisy")
    return fig


@styled
def draw_gap(gap: ArrayLike, above: ArrayLike) -> Figure:
    """Draw gap and objective above its least value after each step (log scales), without the first entry, of C = 0."""
    gap, above = np.asarray(gap, dtype=np.float64)[1:], np.asarray(above, dtype=np.float64)[1:]
    t = np.arange(1, len(gap) + 1)
    fig = new_picture(WIDTH, 3.2)
    ax = fig.subplots()
    ax.loglog(t, gap, color=ORANGE, ls="--", label="gap: can be computed")
    ax.loglog(t, above, color=BLUE, label="objective above its least value")
    ax.loglog(t, 2 * gap[0] / t, color=FAINT, lw=1, ls=":", label="1 / t")
    ax.set(xlabel="steps t", ylabel="squared distance")
    ax.legend(loc="lower left")
    bound = "never below" if (gap >= above).all() else "not always above"
    say(fig, f"The gap is {bound} what is left to gain; after {t[-1]} steps, {above[-1]:.1g} is left")
    return fig


@styled
def draw_coefficients(panels: Mapping[str, tuple[object, ArrayLike]]) -> Figure:
    """Draw where coefficients are stored, (C, anchors) by name; rows of anchors on top, columns alike."""
    if not panels:
        raise CofactorError("nothing to draw: give at least one name with its coefficients and anchors")
    fig = new_picture(WIDTH, min(1.6 + WIDTH / len(panels) * 0.8, 5.5))
    told = []
    for ax, (name, (C, anchors)) in zip(fig.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        C, anchors = sparse.csr_array(C), np.asarray(anchors)
        N, K = C.shape[0], len(anchors)
        order = np.append(np.sort(anchors), np.setdiff1d(np.arange(N), anchors))
        row, column = C[order][:, order].nonzero()
        ax.plot(column, row, "s", color=BLUE, ms=max(72 * 2.3 / N, 0.9), mew=0)
        ax.axhline(K - 0.5, color=ORANGE, lw=1, ls="--")
        ax.set(xlim=(-0.5, N - 0.5), ylim=(N - 0.5, -0.5), aspect="equal", title=name, xlabel="column of C (a point)")
        ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        told.append(f"{percent(C.nnz / N**2)} of C in {len(np.unique(row))} of {N} rows {name}")
    fig.axes[0].set_ylabel("row of C (a column touched)")
    say(fig, f"Stored: {'; '.join(told)}. Above the dashed line: rows of anchors")
    return fig


@styled
def draw_scores(panels: Mapping[str, ArrayLike], anchors: ArrayLike) -> Figure:
    """Draw the largest row scores, falling, anchors apart from the others; one panel per name."""
    if not panels:
        raise CofactorError("nothing to draw: give at least one name with its scores")
    fig = new_picture(WIDTH, 3.1)
    told = []
    axes = fig.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for ax, (name, scores) in zip(axes, panels.items(), strict=True):
        margin = _fill_scores(ax, np.asarray(scores, dtype=np.float64), np.asarray(anchors))
        ax.set_title(name, color=INK)
        told.append(f"{number(round(margin, 2))} with {name}")
    axes[0].set_ylabel("score: row maximum")
    axes[-1].legend(loc="upper right")
    say(fig, f"From the highest mixture up to the lowest anchor: {', '.join(told)}")
    return fig


def _fill_scores(ax: Axes, scores: Floats, anchors: NDArray[np.intp]) -> float:
    """Draw sorted scores into axes; return by how much the lowest anchor is above the highest mixture."""
    order = np.argsort(-scores, kind="stable")
    true = np.isin(order, anchors)
    shown = min(len(order), max(3 * len(anchors), 10), MOST_BARS)
    place = np.arange(1, shown + 1)
    pure = true[:shown]
    width = 0.8 if shown <= CLEAR else 1.0
    ax.bar(place[pure], scores[order[:shown]][pure], color=BLUE, lw=0, width=width, label="anchor")
    ax.bar(place[~pure], scores[order[:shown]][~pure], color=ORANGE, hatch="///", ec="white", lw=0, width=width,
           label="mixture")  # fmt: skip
    ax.axvline(len(anchors) + 0.5, color=INK, lw=1, ls=":")
    ax.set(xlabel="rows of C, by falling score", ylim=(0, 1.02))
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    return float(scores[anchors].min() - np.delete(scores, anchors).max())


@styled
def draw_success(x: Sequence[float], shares: Mapping[str, ArrayLike], name: str, trials: int) -> Figure:
    """Draw the share of problems in which all anchors are found against one quantity, one line per method."""
    if not shares:
        raise CofactorError("nothing to draw: give at least one name with its shares")
    fig = new_picture(WIDTH, 3.3)
    ax = fig.subplots()
    place, reached = np.arange(len(x)), []  # equally far apart, so that a scale may hold a zero
    for (method, values), (colour, marker, line) in zip(shares.items(), LOOKS, strict=False):
        values = 100 * np.asarray(values, dtype=np.float64)
        ax.plot(place, values, color=colour, marker=marker, ls=line, ms=6, label=method)
        full = np.flatnonzero(values >= 100)
        ends = dict.fromkeys(number(x[k]) for k in (*full[:1], *full[-1:]))
        reached.append(f"{method} {'at ' + ' to '.join(ends) if ends else 'nowhere'}")
    ax.set(xlabel=name, ylabel="all anchors found (%)", ylim=(-5, 105))
    ax.set_xticks(place, [number(value) for value in x])
    if len(shares) > 1:
        fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(shares))
    say(fig, f"Always right ({trials} trials): {', '.join(reached)}")
    return fig


def in_bytes(size: float) -> str:
    r"""Write a number of bytes in the unit in which it is a small number.

    >>> in_bytes(3_200_000), in_bytes(8e10)
    ('3.2\xa0MB', '80\xa0GB')
    """
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        value = size / 10**power
        if value >= 1:
            return f"{value:{'.2g' if value < 99.5 else '.0f'}}\N{NO-BREAK SPACE}{unit}"
    return f"{size:.0f}\N{NO-BREAK SPACE}bytes"


def measure_memory(method: str, sizes: Sequence[int], n_iter: int, n_anchors: int = 40) -> dict[int, float]:
    """Measure the peak of a method on drawn mixtures of every size, each in a fresh process.

    Returns bytes by N, what the process held before the call not counted; empty where the system does not tell.
    """
    peaks = {}
    for n_points in sizes:
        X = simulate.dirichlet_mixtures(N_ROWS, n_points, n_anchors, random_state=0).X
        options: dict[str, Any] = {"n_anchors": n_anchors, STEPS[method]: n_iter}
        figures = measure_peak(FUNCTIONS[method], warm={"X": X[:, :SMALL], **options}, X=X, **options)
        if figures is not None:
            peaks[int(n_points)] = 1e6 * (figures["peak_mb"] - figures["base_mb"])
    return peaks


@styled
def draw_memory(
    n_points: Sequence[int],
    predicted: Mapping[str, ArrayLike],
    measured: Mapping[str, Mapping[int, float]],
    machine: float | None = None,
) -> Figure:
    """Draw predicted bytes against N as lines and measured ones, {N: bytes}, as markers (log scales)."""
    if set(measured) - set(predicted):
        raise CofactorError(f"measured without prediction: {sorted(set(measured) - set(predicted))}")
    fig = new_picture(WIDTH, 3.7)
    ax = fig.subplots()
    off = []
    for (name, sizes), (colour, marker, line) in zip(predicted.items(), LOOKS, strict=False):
        sizes = np.asarray(sizes, dtype=np.float64)
        ax.loglog(n_points, sizes, color=colour, ls=line, label=f"{name}, predicted")
        found = measured.get(name, {})
        ax.loglog(list(found), list(found.values()), marker, color=colour, ms=7, mec="white", label=f"{name}, measured")
        at = np.exp(np.interp(np.log(list(found)), np.log(n_points), np.log(sizes)))
        off += (np.array(list(found.values())) / at).tolist()
    if machine:
        ax.axhline(machine, color=FAINT, lw=1, ls=":")
        ax.text(n_points[0], machine * 1.15, f"{in_bytes(machine)}, a laptop", fontsize=8.5, color=INK)
    ax.set(xlabel="points N", ylabel="peak memory of the call")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: in_bytes(value)))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(predicted))
    last = ", ".join(f"{in_bytes(float(np.asarray(sizes)[-1]))} by {name}" for name, sizes in predicted.items())
    spread = f"; measured: {min(off):.2f} to {max(off):.2f} of the prediction" if off else ""
    say(fig, f"{n_points[-1]:,} points take {last}{spread}")
    return fig

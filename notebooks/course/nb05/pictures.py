"""Pictures of notebook 05: gap and objective, rows of C, scores, success rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats
from cofactor_app.plots.style import (
    BLUE,
    FAINT,
    INK,
    LOOKS,
    ORANGE,
    WIDTH,
    new_picture,
    number,
    percent,
    say,
    styled,
)

INDEX, WEIGHT = 4, 8  # bytes of a row number and of a weight in a list entry
N_ROWS = 50  # of X in drawn mixtures
MOST_BARS = 120  # more bars could not be told apart; the largest scores are drawn
CLEAR = 40  # more bars are drawn without gaps, which would flicker


@styled
def draw_gap(gap: ArrayLike, above: ArrayLike) -> Figure:
    """Draw gap and excess of the objective after each step, on log scales; the first entry, at C = 0, is left out."""
    gap, above = np.asarray(gap, dtype=np.float64)[1:], np.asarray(above, dtype=np.float64)[1:]
    t = np.arange(1, len(gap) + 1)
    fig = new_picture(WIDTH, 3.2)
    ax = fig.subplots()
    ax.loglog(t, gap, color=ORANGE, ls="--", label="gap (can be computed)")
    ax.loglog(t, above, color=BLUE, label="objective minus its minimum")
    ax.loglog(t, 2 * gap[0] / t, color=FAINT, lw=1, ls=":", label="1 / t")
    ax.set(xlabel="steps t", ylabel="squared distance")
    ax.legend(loc="lower left")
    bound = "is never below" if (gap >= above).all() else "is not always above"
    say(fig, f"The gap {bound} the suboptimality, which is {above[-1]:.1g} after {t[-1]} steps")
    return fig


@styled
def draw_coefficients(panels: Mapping[str, tuple[object, ArrayLike]]) -> Figure:
    """Draw which entries are stored, from (C, anchors) by name; rows and columns of anchors come first."""
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
        ax.set(xlim=(-0.5, N - 0.5), ylim=(N - 0.5, -0.5), aspect="equal", title=name, xlabel="column of C")
        ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        told.append(f"{percent(C.nnz / N**2)} of C in {len(np.unique(row))} of {N} rows {name}")
    fig.axes[0].set_ylabel("row of C")
    say(fig, f"Stored: {'; '.join(told)}. Above the dashed line: rows of anchors")
    return fig


@styled
def draw_scores(panels: Mapping[str, ArrayLike], anchors: ArrayLike) -> Figure:
    """Draw the largest row scores in falling order, with anchors marked; one panel per name."""
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
    say(fig, f"Lowest score of an anchor minus highest of a mixture: {', '.join(told)}")
    return fig


def _fill_scores(ax: Axes, scores: Floats, anchors: NDArray[np.intp]) -> float:
    """Draw sorted scores into axes; return the lowest score of an anchor minus the highest of a mixture."""
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
    """Draw the fraction of problems in which all anchors are found against one quantity, one line per method."""
    if not shares:
        raise CofactorError("nothing to draw: give at least one method with its success rates")
    fig = new_picture(WIDTH, 3.3)
    ax = fig.subplots()
    place, reached = np.arange(len(x)), []  # equally far apart, so that a scale may hold a zero
    for (method, values), (colour, marker, line) in zip(shares.items(), LOOKS, strict=False):
        values = 100 * np.asarray(values, dtype=np.float64)
        ax.plot(place, values, color=colour, marker=marker, ls=line, ms=6, label=method)
        full = np.flatnonzero(values >= 100)
        ends = dict.fromkeys(number(x[k]) for k in (*full[:1], *full[-1:]))
        reached.append(f"{method} {'at ' + ' to '.join(ends) if ends else 'never'}")
    ax.set(xlabel=name, ylabel="all anchors found (%)", ylim=(-5, 105))
    ax.set_xticks(place, [number(value) for value in x])
    if len(shares) > 1:
        fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(shares))
    say(fig, f"All anchors found in all {trials} trials: {', '.join(reached)}")
    return fig


def in_bytes(size: float) -> str:
    r"""Format a number of bytes with the largest unit in which it is at least one.

    >>> in_bytes(3_200_000), in_bytes(8e10)
    ('3.2\xa0MB', '80\xa0GB')
    """
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        value = size / 10**power
        if value >= 1:
            return f"{value:{'.2g' if value < 99.5 else '.0f'}}\N{NO-BREAK SPACE}{unit}"
    return f"{size:.0f}\N{NO-BREAK SPACE}bytes"

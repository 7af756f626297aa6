"""What notebook 05 measures and draws: gap and objective, rows of C, scores, shares of successes."""

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

N_ROWS = 50  # of X in drawn mixtures
MOST_BARS = 120  # more scores than these are not told apart; the largest are drawn
CLEAR = 40  # more bars than these touch, or their gaps would flicker


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

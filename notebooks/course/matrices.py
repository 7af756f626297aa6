"""Pictures of co-occurrences: all blocks with the missing ones, and one block with its estimate."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor_app.plots.style import (
    DIVERGING,
    FAINT,
    PAPER,
    WIDTH,
    heat,
    new_picture,
    percent,
    say,
    styled,
)

Mask = NDArray[np.bool_]

QUIET = 0.2  # errors below this fraction of the largest entry look pale
NUMBERED = 30  # with more annotators, missing blocks are not hatched


@styled
def draw_cooccurrence(cooccurrences: Cooccurrences) -> Figure:
    """Draw the (M K, M K) matrix of co-occurrence blocks; missing blocks are hatched, since a hole is not a zero."""
    X, M, K = cooccurrences.dense(), cooccurrences.n_workers, cooccurrences.n_classes
    missing = np.ones((M, M), dtype=bool)
    missing[cooccurrences.rows, cooccurrences.indices] = False
    fig = new_picture(WIDTH, 4.8)
    ax = fig.subplots()
    top = float(np.quantile(X[X > 0], 0.995)) if (X > 0).any() else 1.0  # thin pairs would stretch the scale
    fill_blocks(ax, X, missing, top)
    ticks = np.arange(0, M, max(1, -(-M // 12)))
    ax.set_xticks(ticks * K + (K - 1) / 2, ticks)
    ax.set_yticks(ticks * K + (K - 1) / 2, ticks)
    beyond = "max" if X.max() > top else "neither"
    ax.set(xlabel="annotator j", ylabel="annotator m")
    fig.colorbar(ax.images[0], ax=ax, label="joint frequency of two labels", shrink=0.8, extend=beyond)
    pairs = missing[~np.eye(M, dtype=bool)]
    hatch = "hatched" if M <= NUMBERED else "grey"
    say(fig, f"{percent(float(pairs.mean()))} of annotator pairs share no task: a hole ({hatch}) is not a zero")
    return fig


def fill_blocks(ax: Axes, X: Floats, missing: Mask, top: float) -> None:
    """Draw a block matrix with lines between the blocks and hatches over the missing ones."""
    M, K = len(missing), len(X) // len(missing)
    edges = np.arange(M + 1) * K - 0.5
    heat(ax, X, (0.0, top))
    holes = np.ma.masked_where(~missing, np.zeros((M, M)))
    hatch = "/////" if M <= NUMBERED else None
    ax.pcolor(edges, edges, holes, cmap=ListedColormap([PAPER]), hatch=hatch, edgecolor=FAINT, lw=0, zorder=2)
    for edge in edges:
        ax.axhline(edge, color="white", lw=1.2 if M <= NUMBERED else 0.3, zorder=3)
        ax.axvline(edge, color="white", lw=1.2 if M <= NUMBERED else 0.3, zorder=3)


def relative_error(truth: ArrayLike, estimate: ArrayLike) -> float:
    """Return ||estimate - truth||_F / ||truth||_F."""
    truth = np.asarray(truth, dtype=np.float64)
    return float(np.linalg.norm(np.asarray(estimate) - truth) / np.linalg.norm(truth))


@styled
def draw_blocks(
    true: ArrayLike,
    estimate: ArrayLike,
    title: str = "This block",
    row: str = "label of one annotator",
    column: str = "label of the other",
) -> Figure:
    """Draw a (K, K) block, its estimate and the error.

    `title` names the block, and the error is added; `row` and `column` are labels of the axes.
    """
    true, estimate = np.asarray(true, dtype=np.float64), np.asarray(estimate, dtype=np.float64)
    if true.shape != estimate.shape or true.ndim != 2:
        raise CofactorError(
            f"truth and estimate must be matrices of the same shape, got {true.shape} and {estimate.shape}"
        )
    fig = new_picture(WIDTH, 2.9)
    axes = fig.subplots(1, 3, sharex=True, sharey=True)
    top, error = float(max(true.max(), estimate.max())), estimate - true
    reach = max(float(np.abs(error).max()), QUIET * top)
    heat(axes[0], true, (0, top), number="{:.3f}".format)
    heat(axes[1], estimate, (0, top), number="{:.3f}".format)
    heat(axes[2], error, (-reach, reach), DIVERGING, number=_signed)
    for ax, name in zip(axes, ("truth", "estimate", "estimate − truth"), strict=True):
        ax.set_title(name)
    axes[0].set(ylabel=row, xticks=range(true.shape[1]), yticks=range(true.shape[0]))
    fig.supxlabel(column, fontsize=9.5)
    say(fig, f"{title}: the estimate is {percent(relative_error(true, estimate), 1)} off (Frobenius)")
    return fig


def _signed(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}".replace("-", "\N{MINUS SIGN}")

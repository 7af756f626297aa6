"""Plots of rankings, joint distributions, anchors and topics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from cofactor.comparisons.ranking import Ranking
from cofactor.core.types import Floats
from cofactor_app.plots.style import (
    BLUE,
    FAINT,
    HEIGHT,
    IN_TITLE,
    INK,
    ORANGE,
    WIDTH,
    axes_of,
    heat,
    new_picture,
    percent,
    say,
    short,
    styled,
)

MOST_ITEMS = 40  # drawn; of more the best
LONGEST_ITEM = 24  # letters of a name along an axis
ITEM_HEIGHT = 0.2  # inches an item
LONGEST = 18  # letters of another name along an axis
MOST_COLUMNS = 20
CERTAIN = 0.01  # log-loss of a column that hardly varies: there is nothing to take away
ROW_HEIGHT = 0.24  # inches per column
MAPS_ACROSS = 4  # small pictures side by side
MOST_SPECTRA = 10


@styled
def draw_ranking(ranking: Ranking, *, fig: Figure | SubFigure | None = None) -> Figure | SubFigure:
    """Draw utilities with their intervals, best item on top, and the range of possible ranks."""
    shown = ranking.table().head(MOST_ITEMS)
    if fig is None:
        fig = new_picture(WIDTH, max(2.6, 1.1 + ITEM_HEIGHT * len(shown)))
        say(fig, _finding(ranking))
    left, right = fig.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    rows = np.arange(len(shown))
    left.hlines(rows, shown["low"], shown["high"], color=BLUE, lw=2)
    left.plot(shown["utility"], rows, "o", color=INK, ms=3.5)
    left.axvline(0, color=FAINT, lw=0.8, ls=":")
    left.set(xlabel=f"utility, with {percent(ranking.level)} interval", ylim=(len(shown) - 0.4, -0.6))
    left.set_yticks(rows, [short(item, LONGEST_ITEM) for item in shown["item"]])
    right.hlines(rows, shown["rank_low"], shown["rank_high"], color=BLUE, lw=5, alpha=0.45)
    right.plot(shown["rank"], rows, "o", color=INK, ms=3.5)
    right.set(xlabel="rank, and range of possible ranks", xlim=(0.4, shown["rank_high"].max() + 0.6))
    right.tick_params(axis="y", left=False)
    right.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    return fig


def _finding(ranking: Ranking) -> str:
    """Say which items may be the best."""
    table = ranking.table()
    first = table[table["rank_low"] == 1]
    if len(first) == 1:
        best = short(first["item"].iloc[0], IN_TITLE)
        return f"{best} is the best item, with {percent(ranking.level)} confidence"
    return f"{len(first)} of {len(table)} items could be the best: the comparisons do not distinguish them"


@styled
def draw_gains(columns: pd.DataFrame, names: Sequence[object], *, ax: Axes | None = None) -> Axes:
    """Draw the fraction of each column's log-loss that the other columns remove.

    `columns` is the result of `HeldOutCells.by_variable`. At most 20 columns are drawn, from the smallest to the
    largest gain.
    """
    varied = columns["base_loss"].clip(lower=CERTAIN)
    gains = ((varied - columns["loss"]) / varied).where(columns["base_loss"] > CERTAIN, 0.0).sort_values(kind="stable")
    chosen = np.unique(np.linspace(0, len(gains) - 1, min(MOST_COLUMNS, len(gains))).round().astype(int))
    shown = gains.iloc[chosen]
    best, most = short(names[gains.index[-1]], IN_TITLE), percent(max(gains.iloc[-1], 0))
    finding = f"The other columns reduce the log-loss of {best} by {most}"
    ax = axes_of(ax, finding, WIDTH, max(HEIGHT, 1 + ROW_HEIGHT * len(shown)))
    ax.barh(range(len(shown)), 100 * shown.to_numpy(), color=BLUE)
    ax.set_yticks(range(len(shown)), [short(names[n], LONGEST) for n in shown.index])
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_xlabel("reduction of the log-loss by the other columns (%)")
    return ax


@styled
def draw_dependence(shares: Floats, names: Sequence[object], *, ax: Axes | None = None) -> Axes:
    """Draw the dependence between pairs of columns, for the 20 columns that depend most on another.

    `shares` is the (N, N) result of `shared_information`, from 0 (independent) to 1 (one determines the other).
    """
    off = shares - np.diag(np.diagonal(shares))
    chosen = np.sort(np.argsort(-off.max(axis=0), kind="stable")[:MOST_COLUMNS])
    size = max(HEIGHT, 1.6 + ROW_HEIGHT * len(chosen))
    m, n = divmod(int(off.argmax()), len(off))
    finding = f"{short(names[m], IN_TITLE)} and {short(names[n], IN_TITLE)} depend most on each other"
    ax = axes_of(ax, finding, max(WIDTH, size), size)
    image = heat(ax, off[np.ix_(chosen, chosen)], (0.0, max(off.max(), 1e-9)), number=lambda share: f"{share:.2f}")
    labels = [short(names[n], LONGEST) for n in chosen]
    ax.set_xticks(range(len(chosen)), labels, rotation=90)
    ax.set_yticks(range(len(chosen)), labels)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="dependence")
    return ax


@styled
def draw_residuals(squares: Floats, n_anchors: int, *, ax: Axes | None = None) -> Axes:
    """Draw the squared residual of every column that successive projection chooses, and mark the anchors."""
    shown = squares[: max(3 * n_anchors, 12)]
    k = np.arange(1, len(shown) + 1)
    finding = f"Successive projection finds only {n_anchors} anchors"
    if n_anchors < len(shown):
        left = shown[n_anchors] / shown[n_anchors - 1]
        finding = f"After {n_anchors} anchors, the residual falls to {left:.2g} of its value"
    ax = axes_of(ax, finding)
    ax.plot(k, shown, "o-", color=BLUE, label="chosen column", markersize=4)
    ax.plot(k[:n_anchors], shown[:n_anchors], "s", color=ORANGE, label="anchor", markersize=7, fillstyle="none")
    ax.set_yscale("log")
    ax.set(xlabel="order in which successive projection chooses columns", ylabel="squared residual")
    ax.legend()
    return ax


@styled
def draw_spectra(names: Sequence[object], bands: Floats, spectra: Floats, *, ax: Axes | None = None) -> Axes:
    """Draw the spectra of at most ten anchors, (bands, anchors), against the numbers of the bands."""
    more = f" (of {len(names)})" if len(names) > MOST_SPECTRA else ""
    reach = f"from {bands.min():g} to {bands.max():g}"
    ax = axes_of(ax, f"Spectra of {min(len(names), MOST_SPECTRA)} anchors{more}, {reach}")
    for name, spectrum in list(zip(names, spectra.T, strict=True))[:MOST_SPECTRA]:
        ax.plot(bands, spectrum, label=short(name), linewidth=1.2)
    ax.set(xlabel="first column", ylabel="spectrum")
    ax.legend(fontsize="small", ncols=2)
    return ax


@styled
def draw_maps(names: Sequence[object], maps: Floats, *, fig: Figure | SubFigure | None = None) -> Figure | SubFigure:
    """Draw the weight of each anchor, (anchors, rows, columns), in every pixel; at most the 20 with the largest means.

    Pixels without weights (NaN) stay white.
    """
    means = np.nanmean(maps, axis=(1, 2))
    shown = np.sort(np.argsort(-means, kind="stable")[:MOST_COLUMNS])
    across = min(MAPS_ACROSS, len(shown))
    down = -(-len(shown) // across)
    height = WIDTH / across * maps.shape[1] / maps.shape[2]
    if fig is None:
        fig, most = (
            new_picture(WIDTH, 0.9 + down * (0.3 + np.clip(height, 0.6, 2 * WIDTH / across))),
            int(means.argmax()),
        )
        named = short(names[most], IN_TITLE)
        say(fig, f"{named} has the largest mean weight in the image: {percent(float(means[most]))}")
    axes = fig.subplots(down, across, squeeze=False).ravel()
    for ax in axes:
        ax.set_axis_off()
    for ax, k in zip(axes, shown, strict=False):
        image = heat(ax, maps[k], cmap="viridis")
        ax.set_title(short(names[int(k)]))
    fig.colorbar(image, ax=axes, label="weight", shrink=0.8, aspect=30, location="bottom")
    return fig


@styled
def draw_shares(names: Sequence[object], shares: ArrayLike, what: str, *, ax: Axes | None = None) -> Axes:
    """Draw the fractions of the 20 largest anchors or topics."""
    values = np.asarray(shares, dtype=np.float64)
    order = np.argsort(values, kind="stable")[-MOST_COLUMNS:]
    finding = f"{short(names[int(order[-1])], IN_TITLE)} has the largest {what}: {percent(float(values[order[-1]]))}"
    ax = axes_of(ax, finding, WIDTH, max(HEIGHT, 1 + ROW_HEIGHT * len(order)))
    ax.barh(range(len(order)), 100 * values[order], color=BLUE)
    ax.set_yticks(range(len(order)), [short(names[int(n)], LONGEST) for n in order])
    ax.set_xlabel(f"{what} (%)")
    return ax

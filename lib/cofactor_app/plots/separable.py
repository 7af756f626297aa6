"""Pictures of anchors and topics for a practitioner's page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import ArrayLike

from cofactor.core.types import Floats
from cofactor_app.plots.joint import LONGEST, MOST_COLUMNS, ROW_HEIGHT
from cofactor_app.plots.style import (
    BLUE,
    HEIGHT,
    IN_TITLE,
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

MAPS_ACROSS = 4  # small pictures side by side
MOST_SPECTRA = 10


@styled
def draw_residuals(squares: Floats, n_anchors: int, *, ax: Axes | None = None) -> Axes:
    """Draw the squared residual of every column that successive projection chooses; the anchors taken are marked."""
    shown = squares[: max(3 * n_anchors, 12)]
    k = np.arange(1, len(shown) + 1)
    finding = f"{n_anchors} anchors are all that successive projection finds"
    if n_anchors < len(shown):
        left = shown[n_anchors] / shown[n_anchors - 1]
        finding = f"After {n_anchors} anchors the residual falls to {left:.2g} of what it was"
    ax = axes_of(ax, finding)
    ax.plot(k, shown, "o-", color=BLUE, label="column chosen next", markersize=4)
    ax.plot(k[:n_anchors], shown[:n_anchors], "s", color=ORANGE, label="taken", markersize=7, fillstyle="none")
    ax.set_yscale("log")
    ax.set(xlabel="columns chosen by successive projection", ylabel="squared residual")
    ax.legend()
    return ax


@styled
def draw_spectra(names: Sequence[object], bands: Floats, spectra: Floats, *, ax: Axes | None = None) -> Axes:
    """Draw the spectrum of each anchor, (bands, anchors), over numbers of the bands; at most ten anchors."""
    more = f", the first {MOST_SPECTRA} of {len(names)}" if len(names) > MOST_SPECTRA else ""
    reach = f"from {bands.min():g} to {bands.max():g}"
    ax = axes_of(ax, f"Spectra of {min(len(names), MOST_SPECTRA)} anchors{more}, {reach}")
    for name, spectrum in list(zip(names, spectra.T, strict=True))[:MOST_SPECTRA]:
        ax.plot(bands, spectrum, label=short(name), linewidth=1.2)
    ax.set(xlabel="first column", ylabel="spectrum")
    ax.legend(fontsize="small", ncols=2)
    return ax


@styled
def draw_maps(names: Sequence[object], maps: Floats, *, fig: Figure | SubFigure | None = None) -> Figure | SubFigure:
    """Draw the weight of each anchor, (anchors, rows, columns), in every pixel; the 20 with the largest mean weight.

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
    """Draw how much each anchor or topic accounts for; the 20 largest."""
    values = np.asarray(shares, dtype=np.float64)
    order = np.argsort(values, kind="stable")[-MOST_COLUMNS:]
    finding = f"{short(names[int(order[-1])], IN_TITLE)} accounts for most: {percent(float(values[order[-1]]))}"
    ax = axes_of(ax, finding, WIDTH, max(HEIGHT, 1 + ROW_HEIGHT * len(order)))
    ax.barh(range(len(order)), 100 * values[order], color=BLUE)
    ax.set_yticks(range(len(order)), [short(names[int(n)], LONGEST) for n in order])
    ax.set_xlabel(f"{what}, in %")
    return ax

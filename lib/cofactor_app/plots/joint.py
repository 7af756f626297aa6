"""Pictures of a joint distribution of named columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from cofactor.core.types import Floats
from cofactor_app.plots.style import BLUE, HEIGHT, IN_TITLE, INK, WIDTH, axes_of, heat, percent, short, styled

LONGEST = 18  # letters of a name along an axis
MOST_COLUMNS = 20
CERTAIN = 0.01  # log-loss of a column that hardly varies: there is nothing to take away
ROW_HEIGHT = 0.24  # inches per column


@styled
def draw_gains(columns: pd.DataFrame, names: Sequence[object], *, ax: Axes | None = None) -> Axes:
    """Draw for every column which share of its uncertainty the other columns take away.

    `columns` is what `HeldOutCells.by_variable` returns. The columns of most and of least gain are drawn, 20 at most.
    """
    varied = columns["base_loss"].clip(lower=CERTAIN)
    gains = ((varied - columns["loss"]) / varied).where(columns["base_loss"] > CERTAIN, 0.0).sort_values(kind="stable")
    chosen = np.unique(np.linspace(0, len(gains) - 1, min(MOST_COLUMNS, len(gains))).round().astype(int))
    shown = gains.iloc[chosen]
    best, most = short(names[gains.index[-1]], IN_TITLE), percent(max(gains.iloc[-1], 0))
    finding = f"The other columns take away {most} of what is unknown of {best}"
    ax = axes_of(ax, finding, WIDTH, max(HEIGHT, 1 + ROW_HEIGHT * len(shown)))
    ax.barh(range(len(shown)), 100 * shown.to_numpy(), color=BLUE)
    ax.set_yticks(range(len(shown)), [short(names[n], LONGEST) for n in shown.index])
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_xlabel("log-loss below that of the column alone, in %")
    return ax


@styled
def draw_dependence(shares: Floats, names: Sequence[object], *, ax: Axes | None = None) -> Axes:
    """Draw how much every two columns have in common, as `shared_information` says; the 20 columns with the most.

    `shares` is (N, N), from 0 (independent) to 1 (one determines the other).
    """
    off = shares - np.diag(np.diagonal(shares))
    chosen = np.sort(np.argsort(-off.max(axis=0), kind="stable")[:MOST_COLUMNS])
    size = max(HEIGHT, 1.6 + ROW_HEIGHT * len(chosen))
    m, n = divmod(int(off.argmax()), len(off))
    finding = f"{short(names[m], IN_TITLE)} and {short(names[n], IN_TITLE)} tell most about each other"
    ax = axes_of(ax, finding, max(WIDTH, size), size)
    image = heat(ax, off[np.ix_(chosen, chosen)], (0.0, max(off.max(), 1e-9)), number=lambda share: f"{share:.2f}")
    labels = [short(names[n], LONGEST) for n in chosen]
    ax.set_xticks(range(len(chosen)), labels, rotation=90)
    ax.set_yticks(range(len(chosen)), labels)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="share in common")
    return ax

"""Pictures of a ranking."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from cofactor.comparisons.ranking import Ranking
from cofactor_app.plots.style import BLUE, FAINT, IN_TITLE, INK, WIDTH, new_picture, percent, say, short, styled

MOST_ITEMS = 40  # drawn; of more the best
LONGEST = 24  # letters of a name along an axis
ROW_HEIGHT = 0.2  # inches an item


@styled
def draw_ranking(ranking: Ranking, *, fig: Figure | SubFigure | None = None) -> Figure | SubFigure:
    """Draw utilities with their intervals, the best item on top, and the ranks that the data allow."""
    shown = ranking.table().head(MOST_ITEMS)
    if fig is None:
        fig = new_picture(WIDTH, max(2.6, 1.1 + ROW_HEIGHT * len(shown)))
        say(fig, finding(ranking))
    left, right = fig.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    rows = np.arange(len(shown))
    left.hlines(rows, shown["low"], shown["high"], color=BLUE, lw=2)
    left.plot(shown["utility"], rows, "o", color=INK, ms=3.5)
    left.axvline(0, color=FAINT, lw=0.8, ls=":")
    left.set(xlabel=f"utility, with interval of {percent(ranking.level)}", ylim=(len(shown) - 0.4, -0.6))
    left.set_yticks(rows, [short(item, LONGEST) for item in shown["item"]])
    right.hlines(rows, shown["rank_low"], shown["rank_high"], color=BLUE, lw=5, alpha=0.45)
    right.plot(shown["rank"], rows, "o", color=INK, ms=3.5)
    right.set(xlabel="rank, and ranks allowed", xlim=(0.4, shown["rank_high"].max() + 0.6))
    right.tick_params(axis="y", left=False)
    right.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    return fig


def finding(ranking: Ranking) -> str:
    """Say which items may be the best."""
    table = ranking.table()
    first = table[table["rank_low"] == 1]
    if len(first) == 1:
        best = short(first["item"].iloc[0], IN_TITLE)
        return f"{best} is the best item, with a confidence of {percent(ranking.level)}"
    return f"{len(first)} of {len(table)} items may be the best: these comparisons do not tell them apart"

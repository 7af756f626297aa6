"""The page that `cofactor rank --report` writes: who is best, how sure that is, and what the votes can tell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.places import Ranking
from cofactor.core.diagnosis import Diagnosis
from cofactor.core.lazy import pd
from cofactor_app.pages.render import report
from cofactor_app.plots.comparisons import draw_ranking

MOST_ROWS = 100  # of the ranking
MOST_PAIRS = 20


def rank_page(
    source: str,
    ranking: Ranking,
    comparisons: Comparisons,
    facts: Sequence[str],
    diagnosis: Diagnosis,
    warnings: Sequence[str] = (),
) -> str:
    """Return the page of a ranking of these comparisons.

    `source` says where they come from, `facts` is what was printed, `warnings` stand on top of the page.

    Cost: O(n^2) for the pairs, and about a second for the picture.
    """
    table = ranking.table()
    return report(
        "rank",
        [("utilities", draw_ranking(ranking))],
        source=source,
        facts=facts,
        warnings=warnings,
        cards=_cards(table, comparisons),
        diagnosis=diagnosis,
        level=ranking.level,
        n_items=len(table),
        rows=table.head(MOST_ROWS).to_dict("records"),
        pairs=_neighbours(ranking, table).to_dict("records"),
        coefficients=ranking.coefficients().to_dict("records"),
        has_users=ranking.n_users > 0,
    )


def _cards(table: pd.DataFrame, comparisons: Comparisons) -> list[tuple[str, str]]:
    """Numbers to open with, each with its words."""
    best = int((table["rank_low"] == 1).sum())
    told = int((table["rank_low"] == table["rank_high"]).sum())
    return [
        (f"{len(table):,}", "items"),
        (f"{comparisons.total:,.10g}", "comparisons"),
        (f"{best:,}", "may be the best" if best > 1 else "can be the best"),
        (f"{told:,}", "have just one possible rank"),
    ]


def _neighbours(ranking: Ranking, table: pd.DataFrame) -> pd.DataFrame:
    """Chances between items whose ranks follow one another, the best first."""
    pairs = ranking.probabilities().set_index(["item", "against"])
    items = table["item"].tolist()[: MOST_PAIRS + 1]
    return pairs.loc[list(pairwise(items))].reset_index()

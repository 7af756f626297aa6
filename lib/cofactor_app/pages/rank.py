"""The page of a ranking: who is best, how sure that is, and what the votes can tell."""

from __future__ import annotations

from itertools import pairwise

from cofactor.core.lazy import pd
from cofactor.verbs.rank import RankingResult
from cofactor_app.pages.render import report
from cofactor_app.plots.comparisons import draw_ranking

MOST_ROWS = 100  # of the ranking
MOST_PAIRS = 20


def page(result: RankingResult) -> str:
    """Return the page of a ranking. Cost: O(n^2) for the pairs, and about a second for the picture."""
    ranking, table = result.method, result.items
    return report(
        "rank",
        [("utilities", draw_ranking(ranking))],
        source=result.source,
        facts=[*result.summary, *result.details, *(note for note in result.notes if note not in result.warnings)],
        warnings=result.warnings,
        cards=_cards(result),
        diagnosis=result.checks,
        level=ranking.level,
        n_items=len(table),
        rows=table.head(MOST_ROWS).to_dict("records"),
        pairs=_neighbours(result.probabilities, table["item"].tolist()).to_dict("records"),
        coefficients=result.coefficients.to_dict("records"),
        has_users=ranking.n_users > 0,
    )


def _cards(result: RankingResult) -> list[tuple[str, str]]:
    """Numbers to open with, each with its words."""
    table = result.items
    best = int((table["rank_low"] == 1).sum())
    told = int((table["rank_low"] == table["rank_high"]).sum())
    return [
        (f"{len(table):,}", "items"),
        (f"{result.comparisons.total:,.10g}", "comparisons"),
        (f"{best:,}", "may be the best" if best > 1 else "can be the best"),
        (f"{told:,}", "have just one possible rank"),
    ]


def _neighbours(pairs: pd.DataFrame, items: list[object]) -> pd.DataFrame:
    """Chances between items whose ranks follow one another, the best first."""
    return pairs.set_index(["item", "against"]).loc[list(pairwise(items[: MOST_PAIRS + 1]))].reset_index()

"""The pages that `cofactor anchors --report` and `cofactor topics --report` write."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from cofactor.core.diagnosis import Diagnosis
from cofactor.core.lazy import pd
from cofactor.core.spa import spa
from cofactor.core.types import Floats
from cofactor.separable.selection import MOST_ANCHORS, residuals
from cofactor.separable.words import TopicModel
from cofactor_app.pages.render import report
from cofactor_app.plots.separable import draw_maps, draw_residuals, draw_shares
from cofactor_app.plots.style import percent


def anchors_page(
    source: str,
    name: str,
    X: Floats,
    table: pd.DataFrame,
    left: float,
    facts: Sequence[str],
    diagnosis: Diagnosis,
    maps: Floats | None = None,
) -> str:
    """Return the page about anchors of the (M, N) matrix X.

    `source` says where it comes from, `table` has a row per anchor (name, column, score, mean_weight, leads; of a pixel
    also row; without score where anchors are no columns), mixtures of them leave the share `left` of the norm of X, and
    `facts` is what was printed. Of an image, `maps` are the weights of its pixels, anchors x rows x columns.

    Cost: that of SPA with 200 anchors.
    """
    K, squares = len(table), residuals(X, spa(X, min(MOST_ANCHORS, *X.shape)))
    cards = [
        (f"{X.shape[1]:,}", "columns"),
        (f"{K:,}", "anchors"),
        (percent(left, 1), "of the norm is left by mixtures of them"),
    ]
    pictures = [
        ("residuals", draw_residuals(squares, min(K, len(squares)))),
        ("shares", draw_shares(table["name"].tolist(), table["mean_weight"], "mean weight")),
    ]
    if maps is not None:
        what = "pixel " if "score" in table else ""
        pictures.append(("maps", draw_maps([f"{what}{name}" for name in table["name"]], maps)))
    common = {"source": source, "method": name, "facts": facts, "cards": cards}
    return report("anchors", pictures, **common, rows=table.to_dict("records"), diagnosis=diagnosis)


def topics_page(
    source: str, name: str, model: TopicModel, counts: sparse.csr_array, table: pd.DataFrame, facts: Sequence[str]
) -> str:
    """Return the page about topics; `table` has a row per topic and word, `facts` is what was printed."""
    topics = [{**own.iloc[0].to_dict(), "words": own["word"].tolist()} for _, own in table.groupby("topic")]
    empty = int((np.asarray(counts.sum(axis=1)) == 0).sum())
    cards = [
        (f"{counts.shape[0]:,}", "documents" + (f", {empty} without words" if empty else "")),
        (f"{counts.shape[1] - model.dropped.size:,}", "words used"),
        (f"{len(topics):,}", "topics"),
    ]
    called = [f"{one['topic']} {one['words'][0]}" for one in topics]
    shares = draw_shares(called, [one["share"] for one in topics], "share of the words of all documents")
    return report("topics", [("shares", shares)], source=source, method=name, facts=facts, cards=cards, topics=topics)

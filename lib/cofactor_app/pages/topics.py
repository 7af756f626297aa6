"""The page of topics: their leading words, and how much of all words each accounts for."""

from __future__ import annotations

from cofactor.verbs.topics import TopicsResult
from cofactor_app.pages.render import report
from cofactor_app.plots.separable import draw_shares


def page(result: TopicsResult) -> str:
    """Return the page of topics."""
    topics = [{**own.iloc[0].to_dict(), "words": own["word"].tolist()} for _, own in result.topics.groupby("topic")]
    cards = [
        (f"{result.counts.shape[0]:,}", "documents"),
        (f"{result.counts.shape[1] - result.method.dropped.size:,}", "words used"),
        (f"{len(topics):,}", "topics"),
    ]
    called = [f"{one['topic']} {one['words'][0]}" for one in topics]
    shares = draw_shares(called, [one["share"] for one in topics], "share of the words of all documents")
    return report(
        "topics",
        [("shares", shares)],
        source=result.source,
        method=result.called,
        facts=[*result.summary, *result.details],
        warnings=result.notes,
        cards=cards,
        topics=topics,
    )

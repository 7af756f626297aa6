"""Table II: topics of TDT2 and Reuters-21578.

Source: Nguyen, Fu and Wu, IEEE TSP 2022.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from cofactor.data import TopicsDataset, load_topics
from cofactor.separable import TopicModel, coherence, document_accuracy, lda_topics, merit, sim_count, topic_model
from evaluation.experiment import PAPER_PROTOCOL, Measurement, measure_each

Find = Callable[[TopicsDataset, int, int], TopicModel]

DATA = {"tdt2": "tdt2", "reuters": "reuters21578"}
TOP = 20  # leading words that count


@cache
def documents(name: str) -> TopicsDataset:
    """Load a data set once per process."""
    return load_topics(DATA[name])


def by_name(name: str, some: TopicsDataset, K: int, seed: int) -> TopicModel:
    """Find topics as Table II does."""
    return topic_model(some.counts, K, method=name, random_state=seed)


def by_merit(some: TopicsDataset, K: int, seed: int, **options: Any) -> TopicModel:
    """Find topics with choices of one's own."""
    return topic_model(some.counts, K, method=partial(merit, **options))


def by_lda(some: TopicsDataset, K: int, seed: int) -> TopicModel:
    """Find topics by latent Dirichlet allocation."""
    return lda_topics(some.counts, K, random_state=seed)


RELEASED: dict[str, Any] = {"lam": 1e-6, "init": "spa", "n_iter": 100, "gap_abs": 0.5}
FINDERS: dict[str, Find] = {
    **{name: partial(by_name, name) for name in ("SPA", "XRAY", "MERIT", "MERIT(0)", "FastAnchor")},
    "MERIT" + PAPER_PROTOCOL: partial(by_merit, **RELEASED),
    "MERIT(0)" + PAPER_PROTOCOL: partial(by_merit, **(RELEASED | {"lam": 0.0})),
    "MERIT (own defaults)": partial(by_merit, merge_duplicates=True),
    "LDA": by_lda,
}


def topics(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One of the trials that were published with the data: random classes, all of their documents."""
    name, number = setting.split(",K=")
    some = documents(name).trial(int(number), trial)
    seed = int(rng.integers(2**31))
    return measure_each(FINDERS, lambda find: _quality(some, int(number), find, seed))


def _quality(some: TopicsDataset, K: int, find: Find, seed: int) -> dict[str, float]:
    found = find(some, K, seed)
    words = found.top_words(TOP)
    accuracy = document_accuracy(some.truth, found.weights, random_state=seed)
    return {"coherence": coherence(some.counts, words), "sim_count": sim_count(words), "accuracy": 100 * accuracy}

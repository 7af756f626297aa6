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
from evaluation.experiment import PAPER_PROTOCOL, Experiment, Measurement, measure
from evaluation.separable.synthetic import LINES, PAPER

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
    rows: list[Measurement] = []
    for method, find in FINDERS.items():
        rows += measure(method, partial(_quality, some, int(number), find, seed))
    return rows


def _quality(some: TopicsDataset, K: int, find: Find, seed: int) -> dict[str, float]:
    found = find(some, K, seed)
    words = found.top_words(TOP)
    accuracy = document_accuracy(some.truth, found.weights, random_state=seed)
    return {"coherence": coherence(some.counts, words), "sim_count": sim_count(words), "accuracy": 100 * accuracy}


NO_SCRIPT = "no settings are published for it"
TOO_LARGE = "it takes memory and time of order N^2 for thousands of words, and no settings are published for it"


def _table2(name: str, title: str) -> Experiment:
    settings = {f"{name},K={K}": f"{K} topics" for K in range(3, 11)}
    return Experiment(
        name=f"separable-table2-{name}",
        title=f"Table II: topics of {title}",
        source=f"{PAPER}, Table II",
        settings=settings,
        run=topics,
        trials=50,
        quick=2,
        lines=LINES,
        metrics={"coherence": "1", "sim_count": "1", "accuracy": "%"},
        published="separable_table2",
        protocol="The 50 random choices of classes that are published with the data; TF-IDF, co-occurrences of words "
        "in 2K dimensions, the released code's definitions of all three metrics, documents weighted by raw counts (the "
        "released code passes TF-IDF; the printed accuracies follow from raw counts). MERIT from SPA, lambda 1e-6, gap "
        "of 0.5, with equal words merged: 4 to 16 % of all words are copies of another, and rounding decides between "
        "them in the released code, so that its numbers can be met on average only. 'MERIT (own defaults)': lambda "
        "from the mean squared residual of SPA, from zero, 50 steps. The "
        "spread is over choices of classes, which all methods share: it hides that MERIT and SPA differ little. Over "
        "the first 13 choices and more of each number of topics in both sets, 217 in all, accuracy of MERIT less that "
        "of SPA is 0.0 with a standard error of 0.4 points; of no number more than 2.6 standard errors. With equal "
        "words apart, as released ('MERIT (paper protocol)'), it is ahead at ten topics: by 7.0 points in TDT2, 4.6 in "
        "Reuters, standard errors 3.6 and 2.4, over 13 choices (printed: 5 and 5), not at three and five topics. "
        "Copies share their row of C, so that few of these rare words come out on top: with the scores of merged words "
        "divided by their copies, mean coherence in TDT2 rises from -455 to -411 (apart: -421, SPA: -458).",
        notes={
            ("", "FastGradient"): TOO_LARGE,
            ("", "FastAnchor"): "the paper's threshold on rare words is not published; without one it picks rare words",
            ("", "LDA"): NO_SCRIPT,
        },
        plot="sweep",
        full_only=tuple(settings)[1:],
    )


TABLE2_TDT2 = _table2("tdt2", "TDT2")
TABLE2_REUTERS = _table2("reuters", "Reuters-21578")

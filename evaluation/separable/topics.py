"""Table II: topics of TDT2 and Reuters-21578.

Source: Nguyen, Fu and Wu, IEEE TSP 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial

import numpy as np

from cofactor.data import TopicsDataset, load
from cofactor.separable import TopicModel, coherence, document_accuracy, sim_count, topic_model
from cofactor.separable.methods import AnchorMethod
from evaluation.experiment import PAPER_PROTOCOL, Given, Measurement, experiment, measure_each
from evaluation.released.separable import topic_merit

Find = Callable[[TopicsDataset, int, int], TopicModel]

DATA = {"tdt2": "tdt2", "reuters": "reuters21578"}
TOPICS = range(3, 11)  # numbers of topics in Table II
TOP = 20  # leading words that count


@cache
def documents(name: str) -> TopicsDataset:
    """Load a data set once per process."""
    return load(DATA[name], "topics")


def by(method: str | AnchorMethod, some: TopicsDataset, K: int, seed: int) -> TopicModel:
    """Find topics by a method's name, which stands for its defaults, or by an estimator."""
    return topic_model(some.counts, K, method=method, random_state=seed)


FINDERS: dict[str, Find] = {
    "SPA": partial(by, "SPA"),
    "XRAY": partial(by, "XRAY"),
    "MERIT": partial(by, topic_merit()),
    "MERIT(0)": partial(by, topic_merit(lam=0.0)),
    "FastAnchor": partial(by, "FastAnchor"),
    "MERIT" + PAPER_PROTOCOL: partial(by, topic_merit(merge_duplicates=False)),
    "MERIT(0)" + PAPER_PROTOCOL: partial(by, topic_merit(lam=0.0, merge_duplicates=False)),
    "MERIT (own defaults)": partial(by, "MERIT"),
    "LDA": partial(by, "LDA"),
}
ALL = ("SPA", "XRAY", "FastAnchor", "MERIT(0)" + PAPER_PROTOCOL)
ON_ALL: dict[str, Find] = {name: FINDERS[name] for name in ALL}  # a third of the minute
DENSE: dict[str, Find] = {"FastGradient": partial(by, "FastGradient")}  # time and memory of order N^2


@experiment(
    "separable-table2-tdt2",
    title="Table II: topics of TDT2",
    source="Nguyen, Fu and Wu, IEEE TSP 2022, Table II",
    settings={f"tdt2,K={K}": f"{K} topics" for K in TOPICS},
    metrics={"coherence": "1", "sim_count": "1", "accuracy": "%"},
    trials=50,
    plot="sweep",
    published="separable_table2",
    methods=["SPA", "XRAY", "MERIT", "MERIT(0)", "FastAnchor", "LDA"],
    control={
        "experiment": "separable-table2-tdt2-fast",
        "method": "SPA",
        "followed by": "MERIT, MERIT(0)",
    },
    repeated={"SPA": {"accuracy": 0.15}},
)
@experiment(
    "separable-table2-reuters",
    like="separable-table2-tdt2",
    title="Table II: topics of Reuters-21578",
    settings={f"reuters,K={K}": f"{K} topics" for K in TOPICS},
    control={
        "experiment": "separable-table2-reuters-fast",
        "method": "SPA",
        "followed by": "MERIT, MERIT(0)",
    },
    repeated={"SPA": {"accuracy": 0.25}},
)
def topics(
    setting: str, trial: int, rng: np.random.Generator, finders: Mapping[str, Find] = FINDERS
) -> list[Measurement]:
    """One of the trials that were published with the data: random classes, all of their documents."""
    name, number = setting.split(",K=")
    some = documents(name).trial(int(number), trial)
    seed = int(rng.integers(2**31))
    return measure_each(finders, lambda find: _quality(some, int(number), find, seed))


@experiment(
    "separable-table2-tdt2-fast",
    like="separable-table2-tdt2",
    title="Table II: topics of TDT2, some methods on all choices",
    settings={f"tdt2,K={K}": f"{K} topics" for K in TOPICS},
    control={},
    methods=["SPA", "XRAY", "FastAnchor", "MERIT(0)"],
    repeated={
        "SPA": {"coherence": 0.0, "sim_count": 0.0, "accuracy": 0.15},
        "XRAY": {"coherence": 0.0, "sim_count": 0.0, "accuracy": 0.15},
        "MERIT(0) (paper protocol)": {"coherence": 0.0, "sim_count": 0.0, "accuracy": 0.15},
        "FastAnchor": {"coherence": 17.73, "sim_count": 16.9, "accuracy": 5.82},
    },
)
@experiment(
    "separable-table2-reuters-fast",
    like="separable-table2-tdt2-fast",
    title="Table II: topics of Reuters-21578, some methods on all choices",
    settings={f"reuters,K={K}": f"{K} topics" for K in TOPICS},
    repeated={
        "SPA": {"coherence": 0.0, "sim_count": 0.0, "accuracy": 0.25},
        "XRAY": {"coherence": 0.0, "sim_count": 0.0, "accuracy": 0.25},
        "MERIT(0) (paper protocol)": {"coherence": 0.0, "sim_count": 0.0, "accuracy": 0.25},
        "FastAnchor": {"coherence": 26.88, "sim_count": 15.16, "accuracy": 4.61},
    },
)
def fast(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One of the same trials by the methods for which there is time for all of them."""
    return topics(setting, trial, rng, ON_ALL)


@experiment(
    "separable-table2-reuters-fastgradient",
    like="separable-table2-tdt2",
    title="Table II: topics of Reuters-21578, FastGradient",
    settings={f"reuters,K={K}": f"{K} topics" for K in TOPICS},
    given={f"reuters,K={K}": {"trials": 5} for K in TOPICS},
    control={"experiment": "separable-table2-reuters-fast", "method": "SPA", "followed by": ""},
    repeated={},
    methods=["FastGradient"],
)
@experiment(
    "separable-table2-tdt2-fastgradient",
    like="separable-table2-reuters-fastgradient",
    title="Table II: topics of TDT2, FastGradient",
    settings={f"tdt2,K={K}": f"{K} topics" for K in TOPICS},
    given={f"tdt2,K={K}": {"trials": 5} for K in TOPICS},
    control={"experiment": "separable-table2-tdt2-fast", "method": "SPA", "followed by": ""},
    repeated={},
)
def dense(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One of the same trials by FastGradient; nothing of those for which there is no time."""
    return topics(setting, trial, rng, DENSE) if trial < given[setting]["trials"] else []


def _quality(some: TopicsDataset, K: int, find: Find, seed: int) -> dict[str, float]:
    found = find(some, K, seed)
    words = found.top_words(TOP)
    accuracy = document_accuracy(some.truth, found.weights, random_state=seed)
    return {"coherence": coherence(some.counts, words), "sim_count": sim_count(words), "accuracy": 100 * accuracy}

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
    protocol="""
        The 50 random choices of classes that are published with the data; TF-IDF, co-occurrences of words in 2K
        dimensions, the released code's definitions of all three metrics, documents weighted by raw counts (the
        released code passes TF-IDF; the printed accuracies follow from raw counts). MERIT from SPA, lambda 1e-6, gap
        of 0.5, with equal words merged: 4 to 16 % of all words are copies of another, and rounding decides between
        them in the released code, so that its numbers can be met on average only. 'MERIT (own defaults)': 50 steps;
        lambda from the mean squared residual of SPA, from zero; or, where mixtures of SPA's anchors leave more than
        half of the other words' squared length, as in all choices kept here, without penalty, from SPA. SPA was run
        on all 50 choices. MERIT starts at SPA's words, and was run on fewer: its number is SPA's mean over all, plus
        the mean of its differences from SPA on the same choices, and ± is what the choices that were not run leave
        open: whether a choice is easy or hard for both drops out. Where MERIT is SPA on more than half of them, or SPA
        has other values on the others, those that were run tell nothing: XRAY, which is seldom another than SPA, is
        the same on all of 5 choices in three cases of four, and in four of five of these it is not the same on the
        other 45. LDA does not follow SPA, and its own mean counts; its own draws are left out of ±, which is up to a
        tenth too short. XRAY, FastAnchor and MERIT(0) without merging were run on all 50, too: there their own values
        stand in SPA's place.
    """,
    notes={
        ("", "FastAnchor"): """
            the paper's threshold on rare words is not published; without one it picks rare words
        """,
        ("", "MERIT (own defaults)"): """
            mixtures of SPA's anchors leave more than half of these words' squared length, so the default takes no
            penalty and keeps what SPA found; the printed number is of the paper's settings, see the row MERIT
        """,
        ("", "LDA"): "no settings are published for it",
        ("", "MERIT"): """
            equal words are merged here, which keeps MERIT nearer to SPA: it has SPA's coherence in 120 of the 200
            choices that were run, without merging in 8. The printed numbers are of words that are not merged: see the
            row of the paper's protocol
        """,
        ("", ("MERIT(0)", "MERIT(0) (paper protocol)")): """
            in print it is near SPA and seldom equal to it; here it starts at SPA's words and keeps them, without
            merging in all 800 choices, with equal words merged in all 200 that were run, so that its coherence and
            similarity are SPA's. Cause unknown. Tried on 6 to 10 choices of 3 topics of Reuters, always with SPA's
            answer: all 100 steps whatever the gap, the half in the objective, steps that begin at 1 or 15, noise of
            1e-13. Without SPA's start it is far from SPA: coherence -373 for -410 on 6 choices, where the
            printed means differ by 1.0. The authors' raw results hold nothing for topics
        """,
        ("tdt2,K=5", "SPA"): """
            cause unknown: XRAY finds the same topics in 49 of the 50 choices, has the same accuracy to 0.01, and is
            printed with 80, which is met
        """,
    },
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
    notes={
        ("reuters,K=10", "MERIT (paper protocol)"): """
            the twenty choices that were run are not like the others. SPA's similarity is above 500 on 15 of all 50 and
            on three of these twenty, where MERIT has 302 to 407 for 578 to 700. So MERIT gains the more, the more SPA
            has, and the mean of their differences is too small a correction: with a straight line through the twenty
            (slope .53) MERIT would have 149 over all 50. All 50 have to be run
        """,
    },
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
    words={
        "moves": "0.15",
        "again": "40",
    },
    protocol="""
        All of the 50 random choices of classes that are published with the data, for the methods that take seconds, and
        for MERIT(0), which starts at SPA's words. The others take hours: they are run, beside these, on as many choices
        as the table of all methods says. TF-IDF, co-occurrences and metrics as there. The paper has these very choices,
        and SPA, XRAY and MERIT(0) draw nothing: their coherence and similarity have no error, and must be the printed
        number but for its rounding. Accuracy comes from k-means, which draws its starts: with other starts, the
        accuracy of one choice moves by {moves}
        points (standard deviation over {again} choices that the table of all methods has, too), and that is all that
        it can differ by. FastAnchor draws as well, and what it moves by was measured in the same way.
    """,
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
    words={
        "moves": "0.25",
        "again": "160",
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
    words={
        "about": "The first five of the 50 random choices of classes.",
    },
    protocol="""
        {about} FastGradient as the authors released it, with its own weight of the penalty and 150 steps from zero,
        on the same points as the other methods; the paper starts it at SPA, tries several weights, which it does not
        tell, and shows the best. For N words it takes up to 20 N^2 bytes and 4e-7 N^2 seconds with three topics, 8e-7
        with ten. So all 50 choices would take 0.1 to 1.1 hours per number of topics of Reuters (4,000 to 8,100 words on
        average), and 0.4 to 8 hours in TDT2 (8,300 to 18,800), as five of them took beside another program.
    """,
    notes={
        ("", "FastGradient"): """
            by FastGradient's own weight, where the paper shows the best of several; five choices leave a wide
            interval
        """,
    },
)
@experiment(
    "separable-table2-tdt2-fastgradient",
    like="separable-table2-reuters-fastgradient",
    title="Table II: topics of TDT2, FastGradient",
    settings={f"tdt2,K={K}": f"{K} topics" for K in TOPICS},
    given={f"tdt2,K={K}": {"trials": 5} for K in TOPICS},
    control={"experiment": "separable-table2-tdt2-fast", "method": "SPA", "followed by": ""},
    repeated={},
    notes={
        ("", "FastGradient"): """
            by FastGradient's own weight, where the paper shows the best of several; five choices leave a wide
            interval, and all 50 would take up to 8 hours of a core per number of topics, and the largest, of 28,419
            words, 16 GB
        """,
    },
)
def dense(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One of the same trials by FastGradient; nothing of those for which there is no time."""
    return topics(setting, trial, rng, DENSE) if trial < given[setting]["trials"] else []


def _quality(some: TopicsDataset, K: int, find: Find, seed: int) -> dict[str, float]:
    found = find(some, K, seed)
    words = found.top_words(TOP)
    accuracy = document_accuracy(some.truth, found.weights, random_state=seed)
    return {"coherence": coherence(some.counts, words), "sim_count": sim_count(words), "accuracy": 100 * accuracy}

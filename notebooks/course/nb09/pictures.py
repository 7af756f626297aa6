"""Pictures of notebook 09 and what they show: words and nodes in a plane, documents, contests, a range of settings."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from sklearn.preprocessing import normalize

from cofactor.core.errors import ConvergenceWarning
from cofactor.core.types import Floats
from cofactor.data import GraphDataset, TopicsDataset
from cofactor.plots.style import CLASS_COLOURS, FAINT, INK, WIDTH, heat, new_picture, percent, say, styled
from cofactor.separable import (
    coherence,
    communities,
    document_accuracy,
    merit,
    sim_count,
    spearman_rank_correlation,
    topic_model,
)
from cofactor.separable.methods import AnchorMethod
from course.library import LENGTH, draw_counts
from course.nb09.panels import (
    MARKERS,
    draw_friends,
    fill_corners,
    fill_nodes,
    fill_points,
    fill_words,
    share_inside,
)
from course.public import load_public

TOP = 20  # leading words that count, as in Table II
JITTER = 1e-13  # relative: the rounding of another machine is of this size


def public_evidence(names: Iterable[str]) -> dict[str, Any]:
    """Load public data sets; in the place of one that cannot be had comes one that is made up, and a line tells so."""
    return load_public(
        names,
        "made-up data of the same kind take their place; the texts below are about the real ones",
        lambda name: draw_friends(600, activity=0.5, seed=int(name[-1])) if "dblp" in name else made_up_news(name),
    )


def made_up_news(name: str, n_documents: int = 400, n_words: int = 300, seed: int = 0) -> TopicsDataset:
    """Draw documents of six topics and 300 words without names; trials are the triples of topics."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.05), 6).T
    counts, weights = draw_counts(topics, n_documents, LENGTH, 0.1, rng)
    trials = {3: [list(some) for some in combinations(range(6), 3)]}
    return TopicsDataset(name, "Made-up documents", counts, weights.argmax(axis=1), trials)


@styled
def draw_two_clouds(
    X: ArrayLike, anchors: ArrayLike, nodes: ArrayLike, pure: ArrayLike, memberships: ArrayLike
) -> Figure:
    """Draw words of documents beside nodes of a graph, each in the plane of three corners."""
    fig = new_picture(WIDTH, 3.4)
    left, right = fig.subplots(1, 2)
    fill_points(left, fill_corners(left, X, {"MERIT": anchors}))
    left.set_title(f"{np.shape(X)[1]:,} words of news", color=INK)
    fill_points(right, fill_corners(right, nodes, {"MERIT": pure}), np.argmax(memberships, axis=1), "field")
    right.set_title(f"{np.shape(nodes)[1]:,} authors of papers", color=INK)
    inside = f"{percent(share_inside(X, anchors))} of the words, {percent(share_inside(nodes, pure))} of the authors"
    say(fig, f"Three of them are corners of all others: {inside} lie in the triangle")
    return fig


@styled
def draw_words(X: ArrayLike, words: ArrayLike, corners: Mapping[str, ArrayLike]) -> Figure:
    """Draw words by name in the plane of three corners, the corners that methods took marked."""
    fig = new_picture(WIDTH, 4.2)
    fill_words(fig.subplots(), X, words, corners)
    anchors, names = np.asarray(next(iter(corners.values()))), np.asarray(words)
    share = percent(share_inside(X, anchors))
    say(fig, f"Corners: {', '.join(names[anchors])}. {share} of {len(names)} words lie between them")
    return fig


@styled
def draw_nodes(
    graph: GraphDataset, X: ArrayLike, corners: Mapping[str, ArrayLike], shown: ArrayLike | None = None
) -> Figure:
    """Draw nodes, or those to be `shown`, in the plane of three of them, coloured by their main community."""
    fig = new_picture(WIDTH, 4.0)
    fill_nodes(fig.subplots(), graph, X, corners, shown)
    share = percent(share_inside(X, next(iter(corners.values()))))
    say(fig, f"{np.shape(X)[1]:,} nodes of {graph.name}: {share} lie in the triangle of {next(iter(corners))}")
    return fig


@styled
def draw_documents(weights: ArrayLike, truth: ArrayLike) -> Figure:
    """Draw how the documents of each class are spread over topics, classes in the order of their main topic."""
    shares, truth = normalize(np.asarray(weights, dtype=np.float64), norm="l1"), np.asarray(truth)
    classes = np.unique(truth)
    table = np.array([shares[truth == c].mean(axis=0) for c in classes])
    order = np.argsort(table.argmax(axis=1), kind="stable")
    fig = new_picture(WIDTH, 1.3 + 0.55 * len(classes))
    ax = fig.subplots()
    heat(ax, table[order], number=lambda value: f"{value:.2f}")
    names = [f"class {c} ({np.sum(truth == c)} documents)" for c in classes[order]]
    topics = [f"topic {k + 1}" for k in range(table.shape[1])]
    ax.set(yticks=range(len(classes)), yticklabels=names, xticks=range(len(topics)), xticklabels=topics)
    ax.set_xlabel("mean share of the topic in a document")
    told = ", ".join(percent(value) for value in table[order].max(axis=1))
    say(fig, f"Share of the main topic, class by class: {told}")
    return fig


# ---- contests ----


class Contest(NamedTuple):
    """Scores of methods on the same trials, (trials,) each."""

    accuracy: Mapping[str, Floats]
    coherence: Mapping[str, Floats]
    sim_count: Mapping[str, Floats]

    def difference(self, first: str, second: str, measure: str = "accuracy") -> tuple[float, float]:
        """Mean of second minus first over trials, and its standard error."""
        d = getattr(self, measure)[second] - getattr(self, measure)[first]
        return float(d.mean()), float(d.std(ddof=1) / np.sqrt(len(d)))


def contest(
    news: TopicsDataset, methods: Mapping[str, str | AnchorMethod], n_topics: int = 3, most_documents: int = 1000
) -> Contest:
    """Find topics in those published trials that have at most so many documents; methods by what they are called."""
    trials = [news.trial(n_topics, number) for number in range(len(news.trials[n_topics]))]
    small = [some for some in trials if some.counts.shape[0] <= most_documents]
    scores = {name: np.array([_scores(some, n_topics, by) for some in small]).T for name, by in methods.items()}
    return Contest(*({name: rows[i] for name, rows in scores.items()} for i in range(3)))


def _scores(some: TopicsDataset, n_topics: int, method: str | AnchorMethod) -> tuple[float, float, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = topic_model(some.counts, n_topics, method=method)
    words = model.top_words(TOP)
    accuracy = document_accuracy(some.truth, model.weights, n_runs=1, random_state=0)
    return accuracy, coherence(some.counts, words), sim_count(words)


@styled
def draw_contest(results: Contest, first: str, second: str) -> Figure:
    """Draw the accuracy of two methods on every trial, against each other: on the diagonal they are the same."""
    x, y = 100 * results.accuracy[first], 100 * results.accuracy[second]
    fig = new_picture(4.8, 4.2)
    ax = fig.subplots()
    ax.axline((50, 50), slope=1, color=FAINT, lw=1)
    ax.plot(x, y, "o", color=CLASS_COLOURS[0], ms=6, alpha=0.6, mec="white", mew=0.5)
    ax.set(xlabel=f"documents right, {first} (%)", ylabel=f"documents right, {second} (%)", aspect="equal")
    mean, error = results.difference(first, second)
    equal = int(np.sum(np.abs(x - y) < 1e-9))
    told = f"{100 * mean:+.1f} ± {100 * error:.1f} points".replace("-", "−")
    say(fig, f"{second} minus {first} on {len(x)} trials: {told}; the same on {equal}")
    return fig


# ---- where it fails ----


def shaken_anchors(X: Floats, n_anchors: int, n_trials: int = 5, **options: Any) -> list[list[int]]:
    """Anchors of MERIT, sorted: of X first, then with every entry changed by about a 1e-13th of itself."""
    rng = np.random.default_rng(0)
    found = []
    for trial in range(n_trials + 1):
        jitter = JITTER * rng.standard_normal(X.shape) if trial else 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found.append(np.sort(merit(X * (1 + jitter), n_anchors, **options).anchors).tolist())
    return found


def correlations(graph: GraphDataset, lambdas: Iterable[float], gaps: Sequence[float]) -> dict[float, Floats]:
    """Rank correlation of MERIT for every penalty, and every gap at which it stops (120 steps at most)."""
    return {lam: np.array([_correlation(graph, lam, gap) for gap in gaps]) for lam in lambdas}


def _correlation(graph: GraphDataset, lam: float, gap: float) -> float:
    finder = partial(merit, lam=lam, n_iter=120, gap_abs=gap, merge_duplicates=False, select="top")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = communities(graph.adjacency, graph.memberships.shape[1], finder)
    return spearman_rank_correlation(graph.memberships, found.memberships)


@styled
def draw_range(found: Mapping[float, ArrayLike], gaps: Sequence[float], others: Mapping[str, float]) -> Figure:
    """Draw the rank correlation of one method against the gap at which it stops; lines are other methods."""
    fig = new_picture(WIDTH, 3.3)
    ax = fig.subplots()
    for (lam, values), colour, marker in zip(found.items(), CLASS_COLOURS, MARKERS, strict=False):
        ax.semilogx(gaps, np.asarray(values), marker=marker, color=colour, label=f"MERIT, λ = {lam:g}")
    beside: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center"}
    for name, value in others.items():
        ax.axhline(value, color=FAINT, lw=1, ls="--")
        ax.annotate(name, (1, value), (3, 0), fontsize=8.5, color=INK, **beside)
    ax.set(xlabel="gap at which it stops", ylabel="rank correlation (SRC)", xticks=gaps)
    ax.set_xticks(gaps, [f"{gap:g}" for gap in gaps])
    ax.minorticks_off()
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(found))
    values = np.concatenate([np.asarray(v) for v in found.values()])
    say(fig, f"One method, {values.size} settings: SRC from {values.min():.3f} to {values.max():.3f}")
    return fig

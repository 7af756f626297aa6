"""What notebook 09 computes: documents of three known topics, a graph of known communities, greedy beside convex.

symbol   meaning                                                        shape
S        topics, distributions over words                               (N, K)
theta    memberships: of documents in topics, of nodes in communities   (D, K), (N, K)
X        points, one per word or node                                   (M, N)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.alignment import match_columns
from cofactor.core.errors import CofactorError, ConvergenceWarning, DatasetUnavailableError
from cofactor.core.types import Floats, Indices
from cofactor.data import GraphDataset, TopicsDataset, load
from cofactor.separable import (
    Communities,
    TopicModel,
    coherence,
    communities,
    document_accuracy,
    merit,
    sim_count,
    spearman_rank_correlation,
    topic_model,
)
from cofactor.separable.graphs import leading_eigenvectors
from cofactor.separable.topics import WordPairs, words_kept

TOPICS = ("kitchen", "sky", "music")
OWN = (
    ("oven", "flour", "onion", "butter", "recipe", "simmer"),
    ("telescope", "galaxy", "comet", "eclipse", "nebula", "crater"),
    ("violin", "melody", "choir", "tempo", "chord", "sonata"),
)
SHARED = {  # how often in each topic, beside the 3 of a word of one topic alone
    "dish": (2, 1, 0), "plate": (1.5, 1.5, 0), "season": (1, 2, 0), "cup": (2, 0, 1), "scale": (1, 0, 2),
    "bass": (1.5, 0, 1.5), "ring": (0, 1.5, 1.5), "star": (0, 2, 1), "record": (0, 1, 2), "night": (0.7, 1.6, 0.7),
    "time": (1, 1, 1), "light": (1, 1.4, 0.6), "note": (0.6, 0.6, 1.8),
}  # fmt: skip
LENGTH = 60  # words of a document, on average
TOP = 20  # leading words that count, as in Table II
WITHIN, ACROSS = 90.0, 6.0  # neighbours of a node if all others are in its community, if all are in another
JITTER = 1e-13  # relative: the rounding of another machine is of this size
INSIDE = 0.02  # a weight above minus this is inside the triangle


@dataclass(frozen=True, eq=False)
class Library:
    """Documents drawn from known topics.

    Attributes
    ----------
    words : names of the columns of `counts`
    counts : (D, N) sparse array
    topics : (N, K) array
        S: columns sum to one.
    weights : (D, K) array
        What share of a document each topic has.
    """

    words: NDArray[np.str_]
    counts: sparse.csr_array = field(repr=False)
    topics: Floats = field(repr=False)
    weights: Floats = field(repr=False)

    @property
    def truth(self) -> Indices:
        """(D,) the main topic of every document."""
        return self.weights.argmax(axis=1)


def library(
    n_documents: int = 400, length: float = LENGTH, mixing: float = 0.2, leak: float = 0.0, seed: int = 0
) -> Library:
    """Draw documents on kitchen, sky and music.

    Words of one topic alone are its anchors; others, as "star", stand in two or three.

    Parameters
    ----------
    n_documents, length : int, float
        How many, and how many words each has on average.
    mixing : float > 0
        Parameter of the Dirichlet distribution of the weights: small for documents of one topic.
    leak : float in [0, 1)
        How much of every topic is spread over all words alike. Above zero no word is an anchor.
    """
    if not mixing > 0 or not 0 <= leak < 1:
        raise CofactorError(f"mixing={mixing} must be above zero, leak={leak} at least zero and below one")
    rng = np.random.default_rng(seed)
    own = np.kron(np.eye(3), np.ones((len(OWN[0]), 1))) * 3
    topics = np.vstack([own, list(SHARED.values())])
    topics = (1 - leak) * topics / topics.sum(axis=0) + leak / len(topics)
    counts, weights = _documents(topics, n_documents, length, mixing, rng)
    seen = np.flatnonzero(counts.sum(axis=0))
    words = np.array([word for some in OWN for word in some] + list(SHARED))
    return Library(words[seen], counts[:, seen], topics[seen], weights)


def _documents(
    topics: Floats, n_documents: int, length: float, mixing: float, rng: np.random.Generator
) -> tuple[sparse.csr_array, Floats]:
    """Word counts, and the weights of topics they were drawn with; every document has a word at least."""
    weights = rng.dirichlet(np.full(topics.shape[1], mixing), n_documents)
    sizes = np.maximum(rng.poisson(length, n_documents), 1)
    chances = weights @ topics.T
    counts = rng.multinomial(sizes, chances / chances.sum(axis=1, keepdims=True))
    return sparse.csr_array(counts.astype(np.float64)), weights


def draw_friends(
    n_nodes: int = 300, n_communities: int = 3, mixing: float = 0.3, activity: float = 0.0, seed: int = 0
) -> GraphDataset:
    """Draw a graph of mixed memberships: nodes i and j are joined with probability a_i a_j theta_i' B theta_j.

    Nodes stand in the order of their main community.

    Parameters
    ----------
    mixing : float > 0
        Parameter of the Dirichlet distribution of the memberships: small for nodes of one community.
    activity : float >= 0
        Spread of a_i (standard deviation of its logarithm); zero: all nodes are equally active.
    """
    if not mixing > 0 or not activity >= 0:
        raise CofactorError(f"mixing={mixing} must be above zero, activity={activity} at least zero")
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(n_communities, mixing), n_nodes)
    theta = theta[np.lexsort((-theta.max(axis=1), theta.argmax(axis=1)))]
    B = (ACROSS + (WITHIN - ACROSS) * np.eye(n_communities)) / n_nodes
    a = np.exp(activity * rng.standard_normal(n_nodes) - activity**2 / 2)
    chance = np.minimum((theta @ B @ theta.T) * np.outer(a, a), 1.0)
    upper = np.triu(rng.random(chance.shape) < chance, k=1)
    adjacency = sparse.csr_array((upper | upper.T).astype(np.float64))
    return GraphDataset("a made-up graph", "A graph of known memberships", adjacency, theta)


def public_evidence(names: Iterable[str]) -> dict[str, Any]:
    """Load public data sets; in the place of one that cannot be had comes one that is made up, and a line tells so."""
    found, missing = {}, []
    for name in names:
        try:
            found[name] = load(name)
        except DatasetUnavailableError:
            missing.append(name)
            found[name] = draw_friends(600, activity=0.5, seed=len(missing)) if "dblp" in name else made_up_news(name)
    print(f"here: {', '.join(name for name in found if name not in missing) or 'nothing'}")
    if missing:
        print(f"not to be had without network or COFACTOR_MIRROR: {', '.join(missing)}")
        print("made-up data of the same kind take their place; the texts below are about the real ones")
    return found


def made_up_news(name: str, n_documents: int = 400, n_words: int = 300, seed: int = 0) -> TopicsDataset:
    """Draw documents of six topics and 300 words without names; trials are the triples of topics."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.05), 6).T
    counts, weights = _documents(topics, n_documents, LENGTH, 0.1, rng)
    trials = {3: [list(some) for some in combinations(range(6), 3)]}
    return TopicsDataset(name, "Made-up documents", counts, weights.argmax(axis=1), trials)


def in_plane(X: ArrayLike, anchors: ArrayLike) -> Floats:
    """Project columns of X to the plane through three of them: (2, N), distances kept.

    The first of the three is the origin, the second lies to its right, the third above.
    """
    X, anchors = np.asarray(X, dtype=np.float64), _three(anchors)
    first, *others = X[:, anchors].T
    Q = np.linalg.qr(np.column_stack([other - first for other in others]))[0]
    places = Q.T @ (X - first[:, None])
    signs = [places[0, anchors[1]], places[1, anchors[2]]]
    return np.asarray(places * np.where(np.signbit(signs), -1.0, 1.0)[:, None])


def corner_weights(X: ArrayLike, anchors: ArrayLike) -> Floats:
    """Write columns of X as mixtures of three of them, weights summing to one but of any sign: (N, 3)."""
    places = np.vstack([in_plane(X, anchors), np.ones(np.shape(X)[1])])
    return np.asarray(np.linalg.solve(places[:, _three(anchors)], places).T)


def share_inside(X: ArrayLike, anchors: ArrayLike) -> float:
    """Share of the columns that lie in the triangle of three of them, seen in its plane."""
    return float(np.mean((corner_weights(X, anchors) > -INSIDE).all(axis=1)))


def _three(anchors: ArrayLike) -> Indices:
    indices = np.asarray(anchors, dtype=np.intp)
    if indices.shape != (3,):
        raise CofactorError(f"a triangle has three corners: give three anchors, not {indices.size}")
    return indices


def topic_error(truth: ArrayLike, found: ArrayLike) -> float:
    """Tell how much of a topic is wrong, from 0 to 1: half the l1 distance, topics matched, mean over topics."""
    truth, found = np.asarray(truth, dtype=np.float64), np.asarray(found, dtype=np.float64)
    order = match_columns(truth, found)
    return float(np.abs(truth - found[:, order]).sum(axis=0).mean() / 2)


def word_points(counts: sparse.csr_array, n_topics: int) -> Floats:
    """Return X as `topic_model` makes it, of the words that it keeps: one point per word, (2K, N)."""
    return WordPairs(counts[:, words_kept(counts, None)]).reduced(2 * n_topics)


def node_points(adjacency: sparse.csr_array, n_communities: int) -> Floats:
    """Return the rows of the leading eigenvectors as `communities` takes them, one point per node: (K, N)."""
    return np.asarray(leading_eigenvectors(adjacency, n_communities, "LM")[1].T)


@dataclass(frozen=True, eq=False)
class Shelved:
    """A drawn library and the topics found in it.

    Attributes
    ----------
    words, X : the words that were kept, and their points
    corners : (3,) ints
        Which of these words are anchors.
    """

    library: Library
    model: TopicModel
    words: NDArray[np.str_]
    X: Floats
    corners: Indices

    @property
    def error(self) -> float:
        """See `topic_error`."""
        return topic_error(self.library.topics, self.model.topics)


def shelve(n_documents: int, length: float, mixing: float, leak: float, method: str, seed: int = 0) -> Shelved:
    """Draw a library and find its topics."""
    drawn = library(n_documents, length, mixing, leak, seed)
    model = topic_model(drawn.counts, 3, method=method)
    kept = np.setdiff1d(np.arange(len(drawn.words)), model.dropped)
    corners = np.searchsorted(kept, model.anchors)
    return Shelved(drawn, model, drawn.words[kept], word_points(drawn.counts, 3), corners)


@dataclass(frozen=True, eq=False)
class Befriended:
    """A drawn graph, the points of its nodes and the communities found."""

    graph: GraphDataset
    X: Floats
    found: Communities

    @property
    def src(self) -> float:
        """Rank correlation of true and found memberships."""
        return spearman_rank_correlation(self.graph.memberships, self.found.memberships)


def befriend(n_nodes: int, mixing: float, activity: float, method: str, seed: int = 0) -> Befriended:
    """Draw a graph and find its communities."""
    graph = draw_friends(n_nodes, 3, mixing, activity, seed)
    found = communities(graph.adjacency, 3, method=method, random_state=seed)
    return Befriended(graph, node_points(graph.adjacency, 3), found)


@dataclass(frozen=True)
class Contest:
    """Methods on the same trials.

    Attributes
    ----------
    accuracy, coherence, sim_count : dict of (trials,) arrays by method
    stopped : dict of int by method
        Runs that ended at the limit of steps.
    """

    accuracy: Mapping[str, Floats]
    coherence: Mapping[str, Floats]
    sim_count: Mapping[str, Floats]
    stopped: Mapping[str, int]

    def difference(self, first: str, second: str, measure: str = "accuracy") -> tuple[float, float]:
        """Mean of second minus first over trials, and its standard error."""
        d = getattr(self, measure)[second] - getattr(self, measure)[first]
        return float(d.mean()), float(d.std(ddof=1) / np.sqrt(len(d)))


def contest(news: TopicsDataset, methods: Iterable[str], n_topics: int = 3, most_documents: int = 1000) -> Contest:
    """Find topics in those published trials that have at most so many documents."""
    trials = [news.trial(n_topics, number) for number in range(len(news.trials[n_topics]))]
    small = [some for some in trials if some.counts.shape[0] <= most_documents]
    scores = {name: np.array([_scores(some, n_topics, name) for some in small]).T for name in methods}
    accuracy, likely, shared, stopped = ({name: rows[i] for name, rows in scores.items()} for i in range(4))
    return Contest(accuracy, likely, shared, {name: int(runs.sum()) for name, runs in stopped.items()})


def _scores(some: TopicsDataset, n_topics: int, method: str) -> tuple[float, float, float, bool]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model = topic_model(some.counts, n_topics, method=method)
    words = model.top_words(TOP)
    accuracy = document_accuracy(some.truth, model.weights, n_runs=1, random_state=0)
    stopped = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    return accuracy, coherence(some.counts, words), sim_count(words), stopped


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
    finder = partial(merit, lam=lam, n_iter=120, gap_abs=gap)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = communities(graph.adjacency, graph.memberships.shape[1], finder)
    return spearman_rank_correlation(graph.memberships, found.memberships)

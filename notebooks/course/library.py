"""A random library of documents on kitchen, sky and music, with known topics.

symbol   meaning                                                        shape
S        topics, distributions over words                               (N, K)
X        points, one per word                                           (M, N)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import match_columns
from cofactor.core.types import Floats, Indices
from cofactor.separable.topics import WordPairs, words_kept

OWN = (
    ("oven", "flour", "onion", "butter", "recipe", "simmer"),
    ("telescope", "galaxy", "comet", "eclipse", "nebula", "crater"),
    ("violin", "melody", "choir", "tempo", "chord", "sonata"),
)
SHARED = {  # frequency in each topic; a word of one topic alone has 3
    "dish": (2, 1, 0), "plate": (1.5, 1.5, 0), "season": (1, 2, 0), "cup": (2, 0, 1), "scale": (1, 0, 2),
    "bass": (1.5, 0, 1.5), "ring": (0, 1.5, 1.5), "star": (0, 2, 1), "record": (0, 1, 2), "night": (0.7, 1.6, 0.7),
    "time": (1, 1, 1), "light": (1, 1.4, 0.6), "note": (0.6, 0.6, 1.8),
}  # fmt: skip
LENGTH = 60  # words of a document, on average


class Library(NamedTuple):
    """Words, (D, N) counts, (N, K) topics whose columns sum to one, and (D, K) weights of topics in documents."""

    words: NDArray[np.str_]
    counts: sparse.csr_array
    topics: Floats
    weights: Floats

    @property
    def truth(self) -> Indices:
        """(D,) the main topic of every document."""
        return self.weights.argmax(axis=1)


def library(
    n_documents: int = 400, length: float = LENGTH, mixing: float = 0.2, leak: float = 0.0, seed: int = 0
) -> Library:
    """Draw documents on kitchen, sky and music, with `length` words on average.

    Words of one topic alone are its anchors; others, such as "star", occur in two or three. `mixing` is the parameter
    of the Dirichlet distribution of the weights: small for documents on one topic. A fraction `leak` of every topic is
    spread evenly over all words; above zero, no word is an anchor.
    """
    if not mixing > 0 or not 0 <= leak < 1:
        raise CofactorError(f"mixing={mixing} must be positive, and leak={leak} must be at least 0 and below 1")
    rng = np.random.default_rng(seed)
    own = np.kron(np.eye(3), np.ones((len(OWN[0]), 1))) * 3
    topics = np.vstack([own, list(SHARED.values())])
    topics = (1 - leak) * topics / topics.sum(axis=0) + leak / len(topics)
    counts, weights = draw_counts(topics, n_documents, length, mixing, rng)
    seen = np.flatnonzero(counts.sum(axis=0))
    words = np.array([word for some in OWN for word in some] + list(SHARED))
    return Library(words[seen], counts[:, seen], topics[seen], weights)


def draw_counts(
    topics: Floats, n_documents: int, length: float, mixing: float, rng: np.random.Generator
) -> tuple[sparse.csr_array, Floats]:
    """Draw topic weights, and word counts from them; every document has at least one word."""
    weights = rng.dirichlet(np.full(topics.shape[1], mixing), n_documents)
    sizes = np.maximum(rng.poisson(length, n_documents), 1)
    chances = weights @ topics.T
    counts = rng.multinomial(sizes, chances / chances.sum(axis=1, keepdims=True))
    return sparse.csr_array(counts.astype(np.float64)), weights


def topic_error(truth: ArrayLike, found: ArrayLike) -> float:
    """Return the mean error of matched topics, from 0 to 1: half the l1 distance between two topics."""
    truth, found = np.asarray(truth, dtype=np.float64), np.asarray(found, dtype=np.float64)
    order = match_columns(truth, found)
    return float(np.abs(truth - found[:, order]).sum(axis=0).mean() / 2)


def word_points(counts: sparse.csr_array, n_topics: int) -> Floats:
    """Return the (2K, N) matrix X of `topic_model`, with one point for each word that it keeps."""
    return WordPairs(counts[:, words_kept(counts, None)]).reduced(2 * n_topics)

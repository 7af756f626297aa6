"""Counts of words in documents, and topics found in them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.checks import added_up, check_whole, numbers, sound_places
from cofactor.core.errors import CofactorError, listing
from cofactor.core.result import Result
from cofactor.core.types import Floats, Indices
from cofactor.separable.base import AnchorFit, Matrix
from cofactor.separable.least_squares import nonnegative_least_squares

GRAM_RANK = 1e-13  # share of the largest eigenvalue of a Gram matrix below which a direction is rounding


@dataclass(frozen=True, eq=False)
class TopicModel:
    """Topics, and what the documents hold of them.

    Attributes
    ----------
    anchors : (K,) words
        Topic k is the one of anchor word k; empty where a method has no anchors.
    topics : (N, K) array
        Distributions over words: columns sum to one, rows of dropped words are zero.
    weights : (D, K) array
        Nonnegative; how many of a document's words each topic accounts for. Zero for documents without words.
    dropped : words
        Left out: in too few documents, or in all, where TF-IDF is zero.
    fit : AnchorFit or None
        What the finder of anchors returned; its columns are the words that were not dropped.
    result : Result or None
        How the method went.
    loadings : (N, K) array or None
        What documents are weighted by: the topics, of NMF its factor of TF-IDF.
    """

    anchors: Indices
    topics: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    dropped: Indices = field(repr=False)
    fit: AnchorFit | None = field(default=None, repr=False)
    result: Result | None = field(default=None, repr=False)
    loadings: Floats | None = field(default=None, repr=False)

    def weights_of(self, counts: Matrix) -> Floats:
        """Return the (D, K) nonnegative weights of the topics in other documents, by least squares.

        Raises a CofactorError where counts have another number of words, or are no counts. Not of LDA, whose estimator
        has `transform`.
        """
        documents, B = word_counts(counts), self.loadings
        if B is None or documents.shape[1] != len(B):
            known = "none to weigh documents by" if B is None else len(B)
            raise CofactorError(f"counts have {documents.shape[1]} words, and the topics {known}")
        used = np.setdiff1d(np.arange(len(B)), self.dropped)
        S = B[used].T
        return np.asarray(nonnegative_weights(S @ S.T, S @ documents[:, used].T).T)

    def top_words(self, n: int = 20) -> Indices:
        """Return the (K, n) leading words of every topic, the heaviest first; ties go to the lower index.

        Fewer where fewer words are left.
        """
        used = np.setdiff1d(np.arange(len(self.topics)), self.dropped)
        return used[np.argsort(-self.topics[used], axis=0, kind="stable")[:n].T]


def documents_with(counts: sparse.csr_array) -> NDArray[np.intp]:
    """Return how many documents each word stands in."""
    return np.bincount(counts.indices, minlength=counts.shape[1])


def word_counts(counts: Matrix) -> sparse.csr_array:
    """Return counts as a sparse matrix of floats, checked; errors name the documents."""
    given = (
        sound_places(counts, "counts")
        if sparse.issparse(counts)
        else numbers(np.atleast_2d(numbers(counts, "counts")), "counts", 2)
    )
    matrix = added_up(sparse.csr_array(given, dtype=np.float64))
    bad = ~(np.isfinite(matrix.data) & (matrix.data >= 1))
    if bad.any():
        rows = np.unique(matrix.tocoo().coords[0][bad])
        raise CofactorError(f"counts of documents {listing(rows.tolist())} are not zero or at least one")
    if not matrix.nnz:
        raise CofactorError("no document has a word")
    return matrix


def words_kept(counts: sparse.csr_array, min_documents: int | None) -> Indices:
    """Return the words to work with, see `topic_model`."""
    found = documents_with(counts)
    if min_documents is not None:
        check_whole(1, min_documents=min_documents)
    if min_documents is None and not found.all():
        absent = np.flatnonzero(found == 0)
        raise CofactorError(f"no document has the words {listing(absent.tolist())}: pass min_documents=1 to drop them")
    used = np.flatnonzero((found >= (min_documents or 1)) & (found < counts.shape[0]))
    if not used.size:
        raise CofactorError("no word is left that stands in enough documents but not in all: lower min_documents")
    return used


def nonnegative_weights(G: Floats, Q: Floats) -> Floats:
    """Argmin over H >= 0 of trace(H'G H - 2 H'Q): least squares of which only G = W'W and Q = W'X are known."""
    values, vectors = np.linalg.eigh(G)
    clear = values > GRAM_RANK * values[-1]
    root = np.sqrt(values[clear])
    return nonnegative_least_squares((vectors[:, clear] * root).T, (vectors[:, clear] / root).T @ Q)

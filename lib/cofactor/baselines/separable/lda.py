"""Latent Dirichlet allocation, the usual topic model without anchors, by collapsed Gibbs sampling.

The sampler is that of the package `lda`, needed only where this is called: ``pip install cofactor[topics]``.

Sources: Blei, Ng and Jordan, "Latent Dirichlet allocation", JMLR 2003; Griffiths and Steyvers, "Finding scientific
topics", PNAS 2004 (the sampler).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from cofactor.core.checks import check_positive, check_whole, require_bytes, rng_of
from cofactor.core.errors import CofactorError, listing
from cofactor.core.result import Result
from cofactor.core.types import Floats, Seed
from cofactor.separable.base import Matrix
from cofactor.separable.topic_estimators import TopicTransformer
from cofactor.separable.words import TopicModel, word_counts, words_kept

WEIGHT_PASSES = 50  # of EM on the weights of new documents


def lda_topics(
    counts: Matrix,
    n_topics: int,
    max_iter: int = 500,
    alpha: float = 0.1,
    eta: float = 0.01,
    min_documents: int | None = None,
    random_state: Seed = None,
) -> TopicModel:
    """Fit latent Dirichlet allocation.

    Every word of document d comes from topic k with probability theta_dk, then from word n with probability s_kn;
    theta_d has a Dirichlet prior with parameter alpha, s_k one with parameter eta. The topics of single words are drawn
    in turn, given all others; topics and weights are those of the last of `max_iter` sweeps.

    Parameters
    ----------
    counts : (D, N) array or scipy.sparse matrix
        How often each word stands in each document, whole numbers.
    n_topics : int >= 1
    max_iter : int >= 1
        Sweeps.
    alpha, eta : float > 0
        Parameters of the priors; small values favour documents of few topics, topics of few words.
    min_documents
        As for `topic_model`.
    random_state : int, Generator or None

    Returns
    -------
    TopicModel
        Without anchors; `weights` are (D, K) shares, rows summing to one.

    Raises a CofactorError where the package `lda` is not installed, a count is no whole number (documents are named), a
    parameter is out of range, and as `topic_model` on counts and `min_documents`.

    Cost: O(max_iter K words of all documents) time, about 0.15 microseconds each at K = 3.

    Source: Table II of Nguyen, Fu and Wu has a row LDA (Gibbs) without any setting; alpha, eta are the defaults of
    `lda`.

    >>> counts = [[9, 8, 0, 0], [7, 9, 0, 0], [0, 0, 8, 7], [0, 0, 9, 9]]
    >>> lda_topics(counts, 2, max_iter=50, random_state=0).weights.argmax(axis=1).tolist()  # doctest: +SKIP
    [1, 1, 0, 0]
    """
    check_whole(1, n_topics=n_topics, max_iter=max_iter)
    check_positive(alpha=alpha, eta=eta)
    documents = word_counts(counts)
    broken = documents.tocoo().coords[0][documents.data != np.floor(documents.data)]
    if broken.size:
        raise CofactorError(f"counts of documents {listing(np.unique(broken).tolist())} are no whole numbers")
    require_bytes(12 * documents.sum() + 16.0 * n_topics * sum(documents.shape), "topics of all words of all documents")
    used_words = words_kept(documents, min_documents)
    seed = int(rng_of(random_state).integers(2**31))
    model = _sampler()(n_topics, max_iter, alpha, eta, seed, refresh=1)
    model.fit(
        sparse.csr_matrix(documents[:, used_words], dtype=np.int64)
    )  # it knows sparse matrices, not sparse arrays
    topics = np.zeros((documents.shape[1], n_topics))
    topics[used_words] = model.topic_word_.T
    dropped = np.setdiff1d(np.arange(documents.shape[1]), used_words)
    likelihood = np.array(model.loglikelihoods_[-max_iter:])
    result = Result(-likelihood, max_iter, True, f"made the {max_iter} sweeps asked for")
    return TopicModel(np.array([], dtype=np.intp), topics, model.doc_topic_, dropped, result=result)


def document_shares(counts: Matrix, topics: Floats, alpha: float) -> Floats:
    """Return (D, K) shares of given topics in documents: EM on theta, whose prior adds alpha to the counts of each."""
    documents = word_counts(counts)
    if documents.shape[1] != len(topics):
        raise CofactorError(f"counts have {documents.shape[1]} words, and the topics {len(topics)}")
    rows, words = documents.tocoo().coords
    theta = np.full((documents.shape[0], topics.shape[1]), 1 / topics.shape[1])
    for _ in range(WEIGHT_PASSES):
        chance = np.einsum("ek,ek->e", theta[rows], topics[words])
        parts = sparse.csr_array(
            (documents.data / np.where(chance > 0, chance, 1.0), (rows, words)), shape=documents.shape
        )
        theta = alpha + theta * (parts @ topics)
        theta /= theta.sum(axis=1, keepdims=True)
    return theta


def _sampler() -> Any:
    try:
        package = import_module("lda")
    except ImportError as error:
        raise CofactorError(f"this method needs the package lda ({error}): pip install cofactor[topics]") from None
    logger = logging.getLogger("lda")
    if len(logger.handlers) == 1:  # with its own handler alone, it would set up logging for the whole program
        logger.addHandler(logging.NullHandler())
    return package.LDA


@dataclass(eq=False, repr=False)
class LDA(TopicTransformer):
    """Latent Dirichlet allocation of word counts. Parameters, cost and source: see `lda_topics`.

    `transform` gives the shares of the topics in documents, rows summing to one.

    Order: the sampler goes from word to word as they stand, so that another order is another draw, as another
    `random_state` is. By how much topics move was not measured.

    Attributes
    ----------
    model_ : TopicModel
    result_ : Result
        Minus the log-likelihood after every sweep.
    """

    n_topics: int = 10
    max_iter: int = field(default=500, kw_only=True)
    alpha: float = field(default=0.1, kw_only=True)
    eta: float = field(default=0.01, kw_only=True)
    min_documents: int | None = field(default=None, kw_only=True)
    random_state: Seed = field(default=None, kw_only=True)
    verbose: bool = field(default=False, kw_only=True)

    def _topics(self, counts: Matrix) -> TopicModel:
        settings = self.get_params(deep=False)
        settings.pop("verbose")  # the sampler is silent
        return lda_topics(counts, **settings)

    def _weights(self, counts: Matrix) -> Floats:
        return document_shares(counts, self.model_.topics, self.alpha)

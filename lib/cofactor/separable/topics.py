"""Topics from word counts: anchor words, topics as distributions over words, and how much of each a document holds.

Model: two words of a document come from topics, so that their co-occurrences are P = S' B S with one topic per row of
S. An anchor word stands in one topic only; its column of P, scaled to sum to one, is a corner of all others.

    symbol   meaning                                             shape
    F        TF-IDF weights of the words of a document           (D, N), sparse
    P        co-occurrences F'F / D, never formed                (N, N)
    c        column sums of P                                    (N,)
    U        leading left singular vectors of P diag(1/c)        (N, 2K)
    X        U' P diag(1/c), one point per word                  (2K, N)
    W        columns of P of the anchor words                    (N, K)
    S        topics, P ~ W S up to scale                         (K, N)
    A        document weights, counts ~ A S                      (D, K)

Source: Nguyen, Fu and Wu on MERIT, Sec. V-B and Table II.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.checks import added_up, check_whole, numbers, rng_of, sound_places
from cofactor.core.errors import CofactorError, ConvergenceWarning, listing
from cofactor.core.estimator import Estimator, Result
from cofactor.core.lazy import pd, sparse_linalg
from cofactor.core.types import Floats, Indices, Seed
from cofactor.separable.columns import AnchorFit, Matrix, random_projection
from cofactor.separable.least_squares import nonnegative_least_squares
from cofactor.separable.methods import METHODS, AnchorMethod, Finder, find_anchors

NMF_STEPS = 500  # of NMF at most
CLEARLY = 0.999  # share of the error below which a second start is better: steps end before smaller gains are real
START_SHARE = 1e-6  # share of the mean added to the start of NMF: what is zero stays zero
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
        return weights_on(B[used].T, documents[:, used])

    def top_words(self, n: int = 20) -> Indices:
        """Return the (K, n) leading words of every topic, the heaviest first; ties go to the lower index.

        Fewer where fewer words are left.
        """
        used = np.setdiff1d(np.arange(len(self.topics)), self.dropped)
        return used[np.argsort(-self.topics[used], axis=0, kind="stable")[:n].T]


def topic_model(
    counts: Matrix,
    n_topics: int,
    method: str | AnchorMethod | Finder = "MERIT",
    min_documents: int | None = None,
    random_state: Seed = None,
    second_start: bool = False,
) -> TopicModel:
    """Find topics by anchor words.

        X = U' P diag(1/c),   anchors from X,   S = argmin over S >= 0 of ||P - W S||_F^2, rows scaled to sum to one,
        A = argmin over A >= 0 of ||counts - A S||_F^2

    Parameters
    ----------
    counts : (D, N) array or scipy.sparse matrix
        How often each word stands in each document: zero, or at least one.
    n_topics : int in [1, min(D, N)]
        K. `suggest_n_anchors` does not count topics: words of few documents lie outside of all mixtures.
    method : str, estimator or callable
        "MERIT", "SPA" or another name in `METHODS` that takes points, "LDA" (see `lda_topics`), an estimator of theirs
        with settings of your own, or any function that takes X, (2K, N), and K, and returns an `AnchorFit`. SPA is
        faster, and over 20 choices of 3 and of 5 topics of TDT2 and Reuters each, MERIT is not ahead of it. "NMF"
        starts scikit-learn's nonnegative factors of TF-IDF, documents of length one, from the topics of SPA, and keeps
        SPA's anchor words: its topics sort documents better.
    min_documents : int, optional
        Leave out words that stand in fewer documents; the published trials take 2. Default: a word that stands in none
        is an error. Words that stand in all documents are always left out.
    random_state : int, Generator or None
        Of the random projection that FastAnchor takes in place of U, and of LDA.
    second_start : bool
        Start "NMF" a second time, from singular vectors (scikit-learn's "nndsvd"), and keep that where its error
        ||F - A S||_F is smaller by 0.1 %. Topics then have no anchor words: `anchors` is empty.

    Raises a CofactorError for counts that are negative, not finite or between zero and one (documents are named), words
    that stand in no document (they are named), where no word is left, or an argument is out of range.

    Cost: O(nonzeros(counts) K) per step of the singular vectors, O(N K^2) for the rest, apart from the finder;
    O(nonzeros + N K) memory (FastAnchor: 1000 N). Words by words is never formed.

    Source: Nguyen, Fu and Wu, Sec. V-B. Deviations: nonnegative least squares are exact, the released code makes 500
    sweeps; P is applied, not formed; documents are weighted by raw counts, from which the published accuracy follows,
    not by TF-IDF as the released code has it.

    >>> counts = [[3, 1, 0, 0, 2], [2, 2, 0, 0, 0], [0, 0, 4, 1, 0], [0, 0, 1, 3, 1]]
    >>> model = topic_model(counts, 2, method="SPA")
    >>> model.top_words(2).tolist()
    [[2, 3], [0, 1]]
    >>> model.weights.argmax(axis=1).tolist()
    [1, 1, 0, 0]
    """
    if method == "NMF":
        return _refined(topic_model(counts, n_topics, "SPA", min_documents), word_counts(counts), second_start)
    if method == "LDA":
        lda = METHODS["LDA"](n_topics, min_documents=min_documents, random_state=random_state)
        return cast(TopicModel, lda.fit(counts).model_)
    documents = word_counts(counts)
    used_words = words_kept(documents, min_documents)
    whole = isinstance(n_topics, int | np.integer)
    if not (whole and 1 <= n_topics <= min(documents.shape[0], used_words.size)):
        most = f"{documents.shape[0]} documents and {used_words.size} words"
        raise CofactorError(f"n_topics={n_topics!r}: ask for 1 to as many as there are of both, {most}")
    left = documents[:, used_words]
    pairs = WordPairs(left)
    X = pairs.projected(random_state) if method == "FastAnchor" else pairs.reduced(2 * n_topics)
    fit = find_anchors(method, X, n_topics, random_state, "LDA")
    S = pairs.topics(fit.anchors)
    if not np.isfinite(S).all():
        rank = int(np.linalg.matrix_rank(X))
        fewer = f"ask for {rank} at most" if rank < n_topics else "ask for fewer"
        raise CofactorError(f"the {used_words.size} words that are used do not distinguish {n_topics} topics: {fewer}")
    topics = np.zeros((documents.shape[1], len(S)))
    topics[used_words] = S.T
    dropped = np.setdiff1d(np.arange(documents.shape[1]), used_words)
    return TopicModel(used_words[fit.anchors], topics, weights_on(S, left), dropped, fit, fit.result, topics)


def _refined(model: TopicModel, counts: sparse.csr_array, second_start: bool) -> TopicModel:
    """Return topics and weights of NMF, started from those of `model`, or also from singular vectors.

    F ~ A S, F the TF-IDF of documents scaled to length one. Documents are weighted by their counts on S; words are then
    given as they are counted, by least squares of the counts on A, since those of largest TF-IDF are rare ones.
    """
    from sklearn import config_context  # here: slow to import
    from sklearn.decomposition import NMF
    from sklearn.exceptions import ConvergenceWarning as SlowNMF
    from sklearn.feature_extraction.text import TfidfTransformer

    used_words = np.setdiff1d(np.arange(counts.shape[1]), model.dropped)
    with config_context(transform_output="default"):
        F = TfidfTransformer().fit_transform(sparse.csr_matrix(counts[:, used_words]))
    S = model.topics[used_words].T
    S = S / np.linalg.norm(S, axis=1, keepdims=True)
    A = nonnegative_weights(S @ S.T, (F @ S.T).T).T
    start = [np.ascontiguousarray(part + START_SHARE * part.mean()) for part in (A, S)]
    solver, anchors = NMF(len(S), init="custom", max_iter=NMF_STEPS), model.anchors
    with (
        warnings.catch_warnings(),
        np.errstate(invalid="ignore"),  # it takes the root of an error below zero
        config_context(transform_output="default"),
    ):
        warnings.simplefilter("ignore", SlowNMF)  # told below, as of all methods
        A = solver.fit_transform(F, W=start[0], H=start[1])
        if second_start:
            other = NMF(len(S), init="nndsvd", max_iter=NMF_STEPS, random_state=0)
            from_vectors = other.fit_transform(F)
            if np.nan_to_num(other.reconstruction_err_) < CLEARLY * np.nan_to_num(solver.reconstruction_err_):
                solver, A, anchors = other, from_vectors, model.anchors[:0]
    left, tiny = counts[:, used_words], np.finfo(float).tiny
    S = solver.components_ / np.maximum(solver.components_.sum(axis=1, keepdims=True), tiny)
    weighed, loadings = weights_on(S, left), np.zeros_like(model.topics)
    loadings[used_words] = S.T
    S = nonnegative_weights(A.T @ A, A.T @ left)  # how often words stand in a topic, where NMF has their TF-IDF
    S /= np.maximum(S.sum(axis=1, keepdims=True), tiny)
    topics = np.zeros_like(model.topics)
    topics[used_words] = S.T
    converged = solver.n_iter_ < NMF_STEPS
    why = f"changes fell below {solver.tol:g} of the first"
    why = why if converged else f"stopped after the {NMF_STEPS} steps allowed"
    result = Result(np.array([np.nan_to_num(solver.reconstruction_err_) ** 2]), int(solver.n_iter_), converged, why)
    if not converged:
        warnings.warn(f"NMF: {why}; topics may still move", ConvergenceWarning, stacklevel=3)
    fit = model.fit if anchors.size else None
    return replace(model, anchors=anchors, topics=topics, weights=weighed, loadings=loadings, fit=fit, result=result)


class WordPairs:
    """Co-occurrence of words over documents, P = F'F / D, as an operator that is never formed.

    Every word must stand in some documents, but not in all.
    """

    def __init__(self, counts: sparse.csr_array) -> None:
        self.F = tf_idf(counts)
        self.Ft = self.F.T.tocsr()
        self.c = self.apply(np.ones(self.F.shape[1]))

    def apply(self, V: Floats) -> Floats:
        """Return P V, of a vector or a matrix."""
        return (self.Ft @ (self.F @ V)) / self.F.shape[0]

    def reduced(self, dimension: int) -> Floats:
        """Return X = U' P diag(1/c), U the leading left singular vectors of P diag(1/c), largest entries positive."""
        N = len(self.c)
        scaled = sparse_linalg.LinearOperator(
            (N, N),
            matvec=lambda v: self.apply(v.ravel() / self.c),
            rmatvec=lambda u: self.apply(u.ravel()) / self.c,
            dtype=np.float64,
        )
        rank = min(dimension, *self.F.shape)
        U = sparse_linalg.svds(scaled, k=rank, v0=np.ones(N), return_singular_vectors="u")[0] if rank < N else np.eye(N)
        X = (self.apply(U) / self.c[:, None]).T
        largest = X[np.arange(len(X)), np.abs(X).argmax(axis=1)]
        return X * np.where(largest < 0, -1.0, 1.0)[:, None]  # singular vectors leave their signs to chance

    def projected(self, random_state: Seed) -> Floats:
        """Return R P diag(1/c), R a random projection to at most 1000 dimensions."""
        R = random_projection(len(self.c), random_state)
        return (self.Ft @ (self.F @ R.T).toarray()).T / self.F.shape[0] / self.c

    def topics(self, anchors: Indices) -> Floats:
        """Return S, rows summing to one."""
        W = (self.Ft @ self.F[:, anchors].toarray()) / self.F.shape[0]
        W = W / np.linalg.norm(W, axis=0)  # a scale of a topic, gone once its row sums to one
        S = nonnegative_weights(W.T @ W, self.apply(W).T)
        with np.errstate(invalid="ignore"):  # an anchor that no word needs
            return np.asarray(S / S.sum(axis=1, keepdims=True))


def tf_idf(counts: sparse.csr_array) -> sparse.csr_array:
    """Return (1 + ln count) ln(D / number of documents with the word), zero where the count is."""
    idf = np.log(counts.shape[0] / documents_with(counts))
    F = counts.copy()
    F.data = (1 + np.log(F.data)) * idf[F.indices]
    return F


def weights_on(S: Floats, counts: sparse.csr_array) -> Floats:
    """Return A, (D, K): argmin over A >= 0 of ||counts - A S||_F^2."""
    return np.asarray(nonnegative_weights(S @ S.T, S @ counts.T).T)


# ---- counts ----


def documents_with(counts: sparse.csr_array) -> NDArray[np.intp]:
    """Return how many documents each word stands in."""
    return np.bincount(counts.indices, minlength=counts.shape[1])


def word_counts(counts: Matrix) -> sparse.csr_array:
    """Return counts as a sparse matrix of floats, checked; errors name the documents."""
    if sparse.issparse(counts):
        given = sound_places(counts, "counts")
    else:
        given = numbers(np.atleast_2d(numbers(counts, "counts")), "counts", 2)
    matrix = added_up(sparse.csr_array(given, dtype=np.float64))
    bad = ~(np.isfinite(matrix.data) & (matrix.data >= 1))
    if bad.any():
        rows = np.unique(matrix.tocoo().coords[0][bad])
        raise CofactorError(f"counts must be 0 or at least 1: not so in documents {listing(rows.tolist())}")
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
        raise CofactorError(
            f"no document contains the words {listing(absent.tolist())}: pass min_documents=1 to drop them"
        )
    used = np.flatnonzero((found >= (min_documents or 1)) & (found < counts.shape[0]))
    if not used.size:
        raise CofactorError("no word occurs in enough documents but not in all of them: lower min_documents")
    return used


def nonnegative_weights(G: Floats, Q: Floats) -> Floats:
    """Argmin over H >= 0 of trace(H'G H - 2 H'Q): least squares of which only G = W'W and Q = W'X are known."""
    values, vectors = np.linalg.eigh(G)
    clear = values > GRAM_RANK * values[-1]
    root = np.sqrt(values[clear])
    return nonnegative_least_squares((vectors[:, clear] * root).T, (vectors[:, clear] / root).T @ Q)


# ---- estimators: documents by words in, documents by topics out ----


class TopicTransformer(Estimator):
    """Base class of transformers from (D, N) counts of words to (D, K) weights of topics, one row per document.

    A method implements `_topics`, which fits checked counts, and `_weights`, of checked counts.

    Attributes after `fit`
    ----------------------
    model_ : TopicModel
    result_ : Result
    n_iter_ : int
    n_features_in_, feature_names_in_
        As in scikit-learn: the number of words, and their names where `counts` is a data frame.
    """

    random_state: Seed
    model_: TopicModel
    result_: Result
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: counts may be sparse, and are never negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        return tags

    def fit(self, counts: Matrix, y: object = None) -> Self:
        """Find topics in (D, N) counts of words in documents, dense, sparse or a data frame; y is not used."""
        rng_of(self.random_state)  # refuses what is no seed, also where nothing is drawn
        self.model_ = self._topics(self._checked(counts))
        self.result_ = cast(Result, self.model_.result)
        self.n_iter_ = self.result_.n_iter
        return self

    def transform(self, counts: Matrix) -> Floats | pd.DataFrame:
        """Return the (D, K) weights of the topics in documents: an array, or as `set_output` has it."""
        from sklearn import get_config

        self._check_fitted()
        weights = self._weights(self._checked(counts, reset=False))
        configured = get_config()["transform_output"]
        if getattr(self, "_sklearn_output_config", {}).get("transform", configured) != "pandas":
            return weights
        return pd.DataFrame(weights, getattr(counts, "index", None), self.get_feature_names_out())

    def fit_transform(self, counts: Matrix, y: object = None) -> Floats | pd.DataFrame:
        """Fit, and return the weights of the topics in the same documents."""
        return self.fit(counts).transform(counts)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns: "default", an array, or "pandas", a data frame; None changes nothing."""
        if transform not in ("default", "pandas", None):
            raise CofactorError(f"transform={transform!r}: choose 'default' or 'pandas'")
        if transform:
            self._sklearn_output_config = {"transform": transform}  # clones take it along
        return self

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the K names of topics, as "topics0"; words, if given, must be those of the fit."""
        from sklearn.utils.validation import _check_feature_names_in

        self._check_fitted()
        _check_feature_names_in(self, input_features)
        return np.array([f"{type(self).__name__.lower()}{k}" for k in range(self.model_.topics.shape[1])], dtype=object)

    def _topics(self, counts: Matrix) -> TopicModel:
        raise NotImplementedError

    def _weights(self, counts: Matrix) -> Floats:
        raise NotImplementedError

    def _checked(self, counts: Matrix, reset: bool = True) -> sparse.csr_array:
        """Return counts checked, of the words of the fit where they are not `reset`."""
        from sklearn.utils.validation import validate_data

        n_axes = 2 if sparse.issparse(counts) else numbers(counts, "counts").ndim
        if n_axes != 2:
            raise CofactorError(f"counts have {n_axes} axes, one row per document is needed. Reshape your data")
        documents = word_counts(counts)
        try:
            validate_data(self, counts if hasattr(counts, "columns") else documents, skip_check_array=True, reset=reset)
        except ValueError as error:
            raise CofactorError(str(error)) from None
        return documents


@dataclass(eq=False, repr=False)
class Topics(TopicTransformer):
    """Topics of word counts, one document per row: nonnegative factors that start at anchor words, or anchors alone.

    Parameters
    ----------
    n_topics : int
    method, min_documents, random_state
        See `topic_model`. LDA is a transformer of its own.
    verbose : bool
        No effect: no method shows its progress here.

    `transform` gives nonnegative weights, by least squares on the topics. Attributes after `fit`: see
    `TopicTransformer`. Raises, cost and source: see `topic_model`.

    >>> counts = [[3, 1, 0, 0, 2], [2, 2, 0, 0, 0], [0, 0, 4, 1, 0], [0, 0, 1, 3, 1]]
    >>> Topics(2, method="SPA").fit_transform(counts).argmax(axis=1).tolist()
    [1, 1, 0, 0]
    """

    n_topics: int = 10
    method: Any = field(default="NMF", kw_only=True)
    min_documents: int | None = field(default=None, kw_only=True)
    random_state: Seed = field(default=None, kw_only=True)
    verbose: bool = field(default=False, kw_only=True)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: only FastAnchor draws at random."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic &= self.method == "FastAnchor"
        return tags

    def _topics(self, counts: Matrix) -> TopicModel:
        if self.method == "LDA":
            raise CofactorError("method='LDA': use cofactor.separable.LDA, a transformer of its own")
        return topic_model(counts, self.n_topics, self.method, self.min_documents, self.random_state)

    def _weights(self, counts: Matrix) -> Floats:
        return self.model_.weights_of(counts)

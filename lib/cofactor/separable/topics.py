"""Topics from word counts: anchor words, topics as distributions over words, and weights of topics in documents.

Model: the words of a document come from topics, so the co-occurrences of pairs of words are P = S' B S with one topic
per row of S. An anchor word occurs in one topic only; its column of P, scaled to sum to one, is a vertex of the convex
hull of all columns.

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
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning, listing
from cofactor.core.estimator import Estimator, Result
from cofactor.core.lazy import pd, sparse_linalg
from cofactor.core.types import Floats, Indices, Seed
from cofactor.separable.columns import AnchorFit, Matrix, columns_with_size, random_projection
from cofactor.separable.least_squares import nonnegative_least_squares
from cofactor.separable.methods import METHODS, AnchorMethod, Finder, find_anchors

NMF_STEPS = 500  # of NMF at most
CLEARLY = 0.999  # share of the error below which a second start is better: steps end before smaller gains are real
START_SHARE = 1e-6  # share of the mean added to the start of NMF: what is zero stays zero
NO_COUNTS = "counts must be 0 or at least 1"
GRAM_RANK = 1e-13  # share of the largest eigenvalue of a Gram matrix below which a direction is rounding


@dataclass(frozen=True, eq=False)
class TopicModel:
    """Result of `topic_model`: topics, and their weights in the documents.

    Attributes
    ----------
    anchors : (K,) words
        The anchor word of every topic; empty if the method has no anchors.
    topics : (N, K) array
        Distributions over words: columns sum to one, and rows of dropped words are zero.
    weights : (D, K) array
        Nonnegative numbers of words of each document that each topic accounts for; zero for documents without words.
    dropped : words
        Words that were left out because they occur in too few documents, or in all (with a TF-IDF of zero).
    fit : AnchorFit or None
        The result of the anchor finder; its columns are the words that were not dropped.
    result : Result or None
        Convergence information.
    loadings : (N, K) array or None
        The factor used to compute weights: the topics or, for NMF, its factor of TF-IDF.
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

        Raises a CofactorError if `counts` are invalid or have another number of words, and for LDA, whose estimator has
        `transform` instead.
        """
        documents, B = word_counts(counts, some=False), self.loadings
        if B is None or documents.shape[1] != len(B):
            known = "the topics are those of LDA, which has `transform`" if B is None else f"the topics have {len(B)}"
            raise CofactorError(f"counts have {documents.shape[1]} words, but {known}")
        used = np.setdiff1d(np.arange(len(B)), self.dropped)
        return weights_on(B[used].T, documents[:, used])

    def top_words(self, n: int = 20) -> Indices:
        """Return the (K, n) leading words of every topic, heaviest first; ties go to the lower index.

        There are fewer than n columns if fewer words are left.
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
        How often each word occurs in each document: zero, or at least one.
    n_topics : int in [1, min(D, N)]
        K. `suggest_n_anchors` does not suggest a number of topics, because rare words lie outside all mixtures.
    method : str, estimator or callable
        "MERIT", "SPA" or another method for points in `METHODS`; "LDA" (see `lda_topics`); an estimator with custom
        settings; or a function that takes X, (2K, N), and K, and returns an `AnchorFit`. SPA is faster than MERIT and,
        over 20 choices of 3 and of 5 topics from each of TDT2 and Reuters, at least as good. "NMF" starts
        scikit-learn's nonnegative factorisation of TF-IDF, for documents of length one, at the topics of SPA, and keeps
        SPA's anchor words; its topics sort documents better.
    min_documents : int, optional
        Leave out words that occur in fewer documents; the published trials use 2. By default, a word that occurs in no
        document is an error. Words that occur in all documents are always left out.
    random_state : int, Generator or None
        Used by LDA, and by the random projection of FastAnchor, which replaces U.
    second_start : bool
        Start "NMF" a second time, from singular vectors (scikit-learn's "nndsvd"), and keep that result if its error
        ||F - A S||_F is smaller by 0.1 %. Topics then have no anchor words, and `anchors` is empty.

    Raises a CofactorError if counts are negative, not finite or between zero and one (documents are named), words occur
    in no document (they are named), no word is left, or an argument is out of range.

    Cost: O(nonzeros(counts) K) per step of the singular vectors and O(N K^2) for the rest, plus the anchor finder;
    O(nonzeros + N K) memory (FastAnchor: 1000 N). The matrix P is never formed.

    Source: Nguyen, Fu and Wu, Sec. V-B. Deviations: nonnegative least squares are exact (released: 500 sweeps); P is
    applied without forming it; weights are computed for raw counts, from which the published accuracy follows, and not
    for TF-IDF as in the released code.

    >>> counts = [[3, 1, 0, 0, 2], [2, 2, 0, 0, 0], [0, 0, 4, 1, 0], [0, 0, 1, 3, 1]]
    >>> model = topic_model(counts, 2, method="SPA")
    >>> model.top_words(2).tolist()
    [[2, 3], [0, 1]]
    >>> model.weights.argmax(axis=1).tolist()
    [1, 1, 0, 0]
    """
    if method == "NMF":
        with warnings.catch_warnings():  # it gives a share to words apart from those of its start
            warnings.filterwarnings("ignore", r"\d+ of the \d+ words that are used occur in no topic", DataWarning)
            start = topic_model(counts, n_topics, "SPA", min_documents)
        return _refined(start, word_counts(counts), second_start)
    if method == "LDA":
        lda = METHODS["LDA"](n_topics, min_documents=min_documents, random_state=random_state)
        return cast(TopicModel, lda.fit(counts).model_)
    documents = word_counts(counts)
    used_words = words_kept(documents, min_documents)
    whole = isinstance(n_topics, int | np.integer)
    if not (whole and 1 <= n_topics <= min(documents.shape[0], used_words.size)):
        most = min(documents.shape[0], used_words.size)
        size = f"{documents.shape[0]} documents and {used_words.size} words"
        raise CofactorError(f"n_topics={n_topics!r}: with {size}, choose 1 to {most} topics")
    left = documents[:, used_words]
    pairs = WordPairs(left)
    X = pairs.projected(random_state) if method == "FastAnchor" else pairs.reduced(2 * n_topics)
    with warnings.catch_warnings():  # the columns of counts are not zero
        warnings.filterwarnings("ignore", r"\d+ columns of X are zero", DataWarning)
        fit = find_anchors(method, X, n_topics, random_state, "LDA")
    S = pairs.topics(fit.anchors)
    if not np.isfinite(S).all():
        rank = int(np.linalg.matrix_rank(X))
        fewer = f"choose at most {rank}" if rank < n_topics else "choose fewer"
        raise CofactorError(f"the {used_words.size} words that are used cannot distinguish {n_topics} topics: {fewer}")
    absent = (S == 0).all(axis=0).sum()
    if absent and len(columns_with_size(X)) < used_words.size:
        what = f"{absent} of the {used_words.size} words that are used occur in no topic"
        why = "they share no documents with the words of topics"
        warnings.warn(f"{what}, because {why}: choose more topics", DataWarning, stacklevel=2)
    topics = np.zeros((documents.shape[1], len(S)))
    topics[used_words] = S.T
    dropped = np.setdiff1d(np.arange(documents.shape[1]), used_words)
    return TopicModel(used_words[fit.anchors], topics, weights_on(S, left), dropped, fit, fit.result, topics)


def _refined(model: TopicModel, counts: sparse.csr_array, second_start: bool) -> TopicModel:
    """Return topics and weights by NMF, started at those of `model` or also from singular vectors.

    F ~ A S, where F is the TF-IDF of documents scaled to length one. The weights of documents are those of their counts
    on S. The words of topics are then computed by least squares of the counts on A, because the words with the largest
    TF-IDF are rare.
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
    why = why if converged else f"did not converge within {NMF_STEPS} iterations"
    result = Result(np.array([np.nan_to_num(solver.reconstruction_err_) ** 2]), int(solver.n_iter_), converged, why)
    if not converged:
        warnings.warn(f"NMF {why}, so the topics may still change", ConvergenceWarning, stacklevel=3)
    fit = model.fit if anchors.size else None
    return replace(model, anchors=anchors, topics=topics, weights=weighed, loadings=loadings, fit=fit, result=result)


class WordPairs:
    """Co-occurrences of words in documents, P = F'F / D, as a linear operator that is never formed.

    Every word must occur in some documents, but not in all.
    """

    def __init__(self, counts: sparse.csr_array) -> None:
        self.F = tf_idf(counts)
        self.Ft = self.F.T.tocsr()
        self.c = self.apply(np.ones(self.F.shape[1]))

    def apply(self, V: Floats) -> Floats:
        """Return P V for a vector or a matrix V."""
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
        """Return R P diag(1/c), where R is a random projection to at most 1000 dimensions."""
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
    """Return the TF-IDF weights (1 + ln count) ln(D / number of documents with the word), zero for zero counts."""
    idf = np.log(counts.shape[0] / documents_with(counts))
    F = counts.copy()
    F.data = (1 + np.log(F.data)) * idf[F.indices]
    return F


def weights_on(S: Floats, counts: sparse.csr_array) -> Floats:
    """Return A, (D, K): argmin over A >= 0 of ||counts - A S||_F^2."""
    return np.asarray(nonnegative_weights(S @ S.T, S @ counts.T).T)


# ---- counts ----


def documents_with(counts: sparse.csr_array) -> NDArray[np.intp]:
    """Return the number of documents that contain each word."""
    return np.bincount(counts.indices, minlength=counts.shape[1])


def are_counts(values: Floats) -> NDArray[np.bool_]:
    """Return which numbers are zero or at least one."""
    return (values == 0) | (np.isfinite(values) & (values >= 1))


def word_counts(counts: Matrix, some: bool = True) -> sparse.csr_array:
    """Check counts and return them as a sparse matrix of floats; errors name the documents.

    All may be zero unless there must be `some`, as in a fit.
    """
    if sparse.issparse(counts):
        given = sound_places(counts, "counts")
    else:
        given = numbers(np.atleast_2d(numbers(counts, "counts")), "counts", 2)
    matrix = added_up(sparse.csr_array(given, dtype=np.float64))
    bad = ~are_counts(matrix.data)
    if bad.any():
        rows, places = np.unique(matrix.tocoo().coords[0][bad], return_index=True)
        values = matrix.data[bad]
        found = listing(
            f"{row} ({value:.4g})" for row, value in zip(rows.tolist(), values[places].tolist(), strict=True)
        )
        parts = "; TF-IDF and frequencies are no counts" if ((values > 0) & (values < 1)).any() else ""
        raise CofactorError(f"{NO_COUNTS}, but this does not hold in documents {found}: correct or drop them{parts}")
    if some and not matrix.nnz:
        raise CofactorError("all counts are zero: no document contains any words")
    return matrix


def words_kept(counts: sparse.csr_array, min_documents: int | None) -> Indices:
    """Return the words that are used, as described in `topic_model`."""
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
        raise CofactorError("every word occurs in too few documents or in all of them: lower min_documents")
    return used


def nonnegative_weights(G: Floats, Q: Floats) -> Floats:
    """Return argmin over H >= 0 of trace(H'G H - 2 H'Q), nonnegative least squares given G = W'W and Q = W'X."""
    values, vectors = np.linalg.eigh(G)
    clear = values > GRAM_RANK * values[-1]
    root = np.sqrt(values[clear])
    return nonnegative_least_squares((vectors[:, clear] * root).T, (vectors[:, clear] / root).T @ Q)


# ---- estimators: documents by words in, documents by topics out ----


class TopicTransformer(Estimator):
    """Base class of transformers from (D, N) word counts to (D, K) weights of topics, with one row per document.

    Subclasses implement `_topics`, which fits a model to checked counts, and `_weights`, which weights checked counts.

    Attributes after `fit`
    ----------------------
    model_ : TopicModel
    result_ : Result
    n_iter_ : int
    n_features_in_, feature_names_in_
        As in scikit-learn: the number of words, and their names if `counts` is a data frame.
    """

    random_state: Seed
    model_: TopicModel
    result_: Result
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: counts may be sparse and must not be negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        return tags

    def fit(self, counts: Matrix, y: object = None) -> Self:
        """Find topics in (D, N) word counts, given as a dense or sparse matrix or a data frame; y is ignored."""
        rng_of(self.random_state)  # refuses invalid seeds, even if nothing is drawn
        self.model_ = self._topics(self._checked(counts))
        self.result_ = cast(Result, self.model_.result)
        self.n_iter_ = self.result_.n_iter
        return self

    def transform(self, counts: Matrix) -> Floats | pd.DataFrame:
        """Return the (D, K) weights of the topics in documents, as an array or as chosen by `set_output`."""
        from sklearn import get_config

        self._check_fitted()
        weights = self._weights(self._checked(counts, reset=False))
        configured = get_config()["transform_output"]
        if getattr(self, "_sklearn_output_config", {}).get("transform", configured) != "pandas":
            return weights
        return pd.DataFrame(weights, getattr(counts, "index", None), self.get_feature_names_out())

    def fit_transform(self, counts: Matrix, y: object = None) -> Floats | pd.DataFrame:
        """Fit the model and return the weights of the topics in the same documents; y is ignored."""
        return self.fit(counts).transform(counts)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the output of `transform`: "default" (array) or "pandas" (data frame); None has no effect."""
        if transform not in ("default", "pandas", None):
            raise CofactorError(f"transform={transform!r}: must be 'default' or 'pandas'")
        if transform:
            self._sklearn_output_config = {"transform": transform}  # clones take it along
        return self

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the K names of the topics, such as "topics0"; `input_features` must be the words of the fit."""
        from sklearn.utils.validation import _check_feature_names_in

        self._check_fitted()
        _check_feature_names_in(self, input_features)
        return np.array([f"{type(self).__name__.lower()}{k}" for k in range(self.model_.topics.shape[1])], dtype=object)

    def _topics(self, counts: Matrix) -> TopicModel:
        raise NotImplementedError

    def _weights(self, counts: Matrix) -> Floats:
        raise NotImplementedError

    def _checked(self, counts: Matrix, reset: bool = True) -> sparse.csr_array:
        """Return checked counts; unless `reset`, their words must be those of the fit, and all may be zero."""
        from sklearn.utils.validation import validate_data

        n_axes = 2 if sparse.issparse(counts) else numbers(counts, "counts").ndim
        if n_axes != 2:
            raise CofactorError(
                f"counts have {n_axes} dimensions, but two are needed, with one row per document. Reshape your data"
            )
        documents = word_counts(counts, some=reset)
        try:
            validate_data(self, counts if hasattr(counts, "columns") else documents, skip_check_array=True, reset=reset)
        except ValueError as error:
            raise CofactorError(str(error)) from None
        return documents


@dataclass(eq=False, repr=False)
class Topics(TopicTransformer):
    """Topics of word counts (one document per row), by anchor words or by NMF started at anchor words.

    Parameters
    ----------
    n_topics : int
    method, min_documents, random_state
        See `topic_model`. LDA has its own transformer.
    verbose : bool
        Has no effect.

    `transform` returns nonnegative weights, by least squares on the topics. Attributes after `fit`: see
    `TopicTransformer`. Errors, cost and source: see `topic_model`.

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
        """Return scikit-learn's tags: only FastAnchor is random."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic &= self.method == "FastAnchor"
        return tags

    def _topics(self, counts: Matrix) -> TopicModel:
        if self.method == "LDA":
            raise CofactorError("method='LDA' is not available here: use the transformer cofactor.separable.LDA")
        return topic_model(counts, self.n_topics, self.method, self.min_documents, self.random_state)

    def _weights(self, counts: Matrix) -> Floats:
        return self.model_.weights_of(counts)

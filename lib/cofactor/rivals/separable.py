"""The methods that MERIT is compared with: FastGradient, XRAY and FastAnchor for points, and LDA for counts.

FastGradient solves the full self-dictionary problem with N x N coefficients by accelerated projected gradient. Model:
X ~ X C, and column j of X is an anchor if C_jj is large; up to the size of columns, no entry of row j of C is larger.
It is included to show the cost of the full problem; `merit` finds anchors in linear memory.

    symbol   meaning                                                  shape
    C        coefficients                                             (N, N)
    Y        extrapolated coefficients                                (N, N)
    w        l1 norms of the columns of X                             (N,)
    p        weights of the diagonal, 1 plus a small random part      (N,)
    nu       weight of p'diag(C)
    L        Lipschitz constant ||X||_2^2
    a, b     acceleration: momentum, and extrapolation of Y

XRAY and FastAnchor are greedy methods, which find one anchor at a time. LDA (latent Dirichlet allocation), the usual
topic model without anchors, is sampled by the package `lda`, which only LDA needs: ``pip install cofactor[topics]``.

Sources: Gillis and Luce, "A fast gradient method for nonnegative sparse regression with self-dictionary", IEEE TIP
2018, Algorithms 1 and 2, with the defaults of their released code; Kumar, Sindhwani and Kambadur, "Fast conical hull
algorithms for near-separable non-negative matrix factorization", ICML 2013 (XRAY); Arora et al., "A practical algorithm
for topic modeling with provable guarantees", ICML 2013, Algorithm 4 (FastAnchor); Blei, Ng and Jordan, "Latent
Dirichlet allocation", JMLR 2003; Griffiths and Steyvers, "Finding scientific topics", PNAS 2004 (its sampler).
"""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass, field
from importlib import import_module

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.checks import check_positive, check_whole, numbers, require_bytes, rng_of
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.estimator import Result, progress
from cofactor.core.lazy import njit
from cofactor.core.simplex import require_anchors, spa
from cofactor.core.types import Floats, Indices, Seed
from cofactor.separable.columns import (
    AnchorFit,
    Matrix,
    anchors_by_scores,
    columns_kept,
    columns_used,
    dense_points,
    random_projection,
    top_rows,
)
from cofactor.separable.least_squares import nonnegative_least_squares
from cofactor.separable.methods import AnchorMethod, require_memory
from cofactor.separable.topics import TopicModel, TopicTransformer, word_counts, words_kept

MOMENTUM = 0.05  # a at the start and after every restart
P_SPREAD = 0.01  # p is uniform on 1 -+ half of this, so that equal columns do not share their diagonal
RESIDUAL_FLOOR = 1e-3  # added to the squared residual that sets nu
CACHED = 2**17  # numbers of a block of rows: two blocks, of C and B, stay in the processor's cache
CHANGE = 0.1  # how much nu changes at a restart, halved at each change of direction
SHIFT = 1e-6  # share of the mean of p'x added to it, so that no column is divided by zero
ROUNDING_RESIDUAL = 1e-12  # squared residuals below this share of the largest squared length are rounding
WEIGHT_PASSES = 50  # of EM on the weights of new documents


# ---- FastGradient ----


def fast_gradient(
    X: Matrix,
    n_anchors: int,
    nu: float | None = None,
    max_iter: int = 150,
    random_state: Seed = None,
    verbose: bool = False,
) -> AnchorFit:
    """Find anchors by the diagonal of dense self-dictionary coefficients.

        min over C of 1/2 ||X - X C||_F^2 + nu p'diag(C),   0 <= w_j C_ji <= w_i C_jj,  C_jj <= 1

    by accelerated gradient steps of length 1 / L from C = 0, each projected row by row. When the objective has risen,
    the momentum is restarted and nu is changed so that the trace of C approaches K / 2 + 1.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column, finite.
    n_anchors : int in [1, N]
    nu : float > 0, optional
        Default: (||X - X_K H||_F^2 + 0.001) / sum of p over K, where K are the anchors of SPA and H is the nonnegative
        least-squares solution.
    max_iter : int
        Number of steps.
    random_state : int, Generator or None
        Used to draw p.
    verbose : bool
        Show a progress bar on a terminal.

    The scores are the diagonal of C. Raises a CofactorError if there is not enough free memory (the bytes are stated),
    X contains NaN or infinity or only zeros, or n_anchors or max_iter is out of range. Cost: 4 M N^2 flops per step,
    two N x N matrices of doubles, and the nonzero coefficients; see `predicted_bytes`.

    Source: Gillis and Luce 2018, as released. Deviations: the projection of a row is exact, by Newton's method on its
    breakpoint (released: sorting, with violations up to 1e-8); H is exact (released: 500 sweeps); X'X is never formed;
    columns of zeros are left out. `tests/oracles` has the projection as a quadratic programme.

    Examples
    --------
    >>> fit = fast_gradient([[1.0, 0.0, 0.0, 0.5, 0.4], [0.0, 1.0, 0.0, 0.5, 0.3], [0.0, 0.0, 1.0, 0.0, 0.3]], 3)
    >>> sorted(fit.anchors.tolist())
    [0, 1, 2]
    """
    whole = dense_points(X)
    require_anchors(n_anchors, whole.shape[1])
    check_whole(1, max_iter=max_iter)
    if nu is not None:
        check_positive(zero=True, nu=nu)
    require_memory("FastGradient", whole.shape[0], whole.shape[1], n_anchors, max_iter)
    columns = columns_used(whole)
    points = np.ascontiguousarray(columns.points)
    p = 1 + P_SPREAD * (rng_of(random_state).random(columns.used.size) - 0.5)
    found = spa(points, min(n_anchors, columns.used.size))
    square = 4.0**columns.exponent
    if nu is None:
        W = points[:, found]
        rest = np.linalg.norm(points - W @ nonnegative_least_squares(W, points)) ** 2
        weight = float((rest + RESIDUAL_FLOOR / square) / p[found].sum())
    else:
        weight = nu / square
    C, objective = _descend(points, p, weight, min(n_anchors / 2 + 1, len(found)), max_iter, verbose)
    scores = np.diagonal(C).copy()
    result = Result(square * objective, max_iter, True, f"stopped after {max_iter} steps")
    anchors = columns.used[top_rows(scores, n_anchors)]
    return AnchorFit(anchors, columns.expand_scores(scores), columns.expand(_sparse(C)), result)


def _descend(
    X: Floats, p: Floats, nu: float, trace: float, max_iter: int, verbose: bool = False
) -> tuple[Floats, Floats]:
    """Take max_iter accelerated steps; return C and all objectives. Y is C + b (C - B), where B is the previous C."""
    N = X.shape[1]
    C, B = np.zeros((N, N)), np.zeros((N, N))
    XC = XY = np.zeros_like(X)
    w, L = np.abs(X).sum(axis=0), float(np.linalg.norm(X, 2)) ** 2
    a, b, change, restarted = MOMENTUM, 0.0, CHANGE, False
    fall: bool | None = None
    objective: list[float] = []
    last = np.inf
    for _ in progress(range(max_iter), "FastGradient", verbose):
        XB, XC = XC, _step(X, XY - X, C, B, b, (p, w, nu, L))
        B, C = C, B
        fit, diagonal = float(np.sum((X - XC) ** 2)) / 2, float(p @ np.diagonal(C))
        objective.append(fit + nu * diagonal)
        restarted = objective[-1] > last and not restarted
        if restarted:
            a, b = MOMENTUM, 0.0
            small = bool(np.trace(C) < trace)
            change = change / 2 if fall is not None and small != fall else change
            nu, fall = nu * (1 - change if small else 1 + change), small
        else:
            after = (np.sqrt(a**4 + 4 * a**2) - a**2) / 2
            a, b = after, a * (1 - a) / (a**2 + after)
        XY = XC + b * (XC - XB)
        last = fit + nu * diagonal
    return C, np.array(objective)


def _step(X: Floats, R: Floats, C: Floats, B: Floats, b: float, weights: tuple[Floats, Floats, float, float]) -> Floats:
    """Overwrite B with the projection of Y - (X'R + nu diag(p)) / L, Y = C + b (C - B), and return X times the result.

    Rows are processed in blocks that fit into the processor's cache, so C and B are read from memory only once.
    """
    N, product = X.shape[1], np.zeros_like(X)
    rows = max(1, CACHED // N)
    for start in range(0, N, rows):
        some = X[:, start : start + rows]
        _projected_rows(some.T @ R, C[start:], B[start:], b, start, *weights)
        product += some @ B[start : start + rows]
    return product


def _sparse(C: Floats) -> sparse.csc_array:
    """Return C as a sparse matrix; SciPy's own conversion temporarily needs five times as much memory."""
    indptr = np.append(0, np.cumsum(np.count_nonzero(C, axis=0)))
    index = np.int32 if indptr[-1] <= np.iinfo(np.int32).max else np.int64
    data, rows = np.empty(indptr[-1]), np.empty(indptr[-1], index)
    _fill(C, indptr[:-1].copy(), data, rows)
    indptr = indptr.astype(index)  # the same as of rows, or scipy copies these
    return sparse.csc_array((data, rows, indptr), shape=C.shape)


@njit(cache=True, nogil=True)
def _fill(C: Floats, place: Indices, data: Floats, rows: NDArray[np.integer]) -> None:
    """Write the entries of C by columns; `place` is the position of the next entry of each column."""
    for n in range(len(C)):
        for l in range(len(C)):
            if C[n, l] != 0:
                data[place[l]], rows[place[l]] = C[n, l], n
                place[l] += 1


@njit(cache=True, nogil=True)
def _projected_rows(
    G: Floats, C: Floats, B: Floats, b: float, start: int, p: Floats, w: Floats, nu: float, L: float
) -> None:
    """Overwrite the first rows of B, which are rows `start`, ... of the matrix, with their projected step; G is X'R."""
    for k in range(len(G)):
        row, gradient, present, j = B[k], G[k], C[k], start + k
        for i in range(len(row)):
            row[i] = (present[i] - row[i]) * b + present[i] - gradient[i] / L
        row[j] -= nu * p[j] / L
        project_row(row, j, w)


@njit(cache=True, nogil=True, fastmath={"reassoc"})  # sums in any order: the processor adds several at once
def project_row(y: Floats, j: int, w: Floats) -> None:
    """Project row j, in place, onto 0 <= y_i <= w_i t for i != j and y_j = w_j t with 0 <= t <= 1 / w_j.

    The derivative in t, w_j (w_j t - y_j) + sum over y_i > w_i t of w_i (w_i t - y_i), is increasing and concave, so
    Newton's method from the left converges after a few passes, each of which may cross several breakpoints.
    """
    own, y[j] = y[j], 0.0  # which is above no w_j t
    t, rising = max(own / w[j], 0.0), True
    while rising:
        top, bottom = w[j] * own, w[j] * w[j]
        for i in range(len(y)):
            above = w[i] if y[i] > w[i] * t else 0.0
            top += above * y[i]
            bottom += above * w[i]
        rising = top / bottom > t
        t = max(t, top / bottom)
    t = min(t, 1.0 / w[j])
    for i in range(len(y)):
        y[i] = min(max(y[i], 0.0), w[i] * t)
    y[j] = w[j] * t


@dataclass(eq=False, repr=False, kw_only=True)
class FastGradient(AnchorMethod):
    """FastGradient: N x N self-dictionary by projected gradient. Parameters, cost and source: see `fast_gradient`."""

    nu: float | None = None
    max_iter: int = 150

    def _find(self, X: Floats) -> AnchorFit:
        taking_part, K = self._chosen(X)
        found = fast_gradient(X[:, taking_part], K, self.nu, self.max_iter, self.random_state, self.verbose)
        return found.expanded(taking_part, X.shape[1])


# ---- XRAY and FastAnchor ----


def xray(X: Matrix, n_anchors: int, sums: ArrayLike | None = None) -> AnchorFit:
    """Find anchors as extreme rays of the cone spanned by the columns of X, by XRAY with the rule "max".

    Repeats n_anchors times:

        i = argmax_n ||r_n||^2,   j = argmax over n not in S of r_i'x_n / p'x_n,   S = S + {j},
        H = argmin over H >= 0 of ||X - X_S H||_F^2,   R = X - X_S H

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column, finite.
    n_anchors : int in [1, N]
    sums : number or (N,) array, positive
        p'x_n, by default the sums of the columns. After a dimension reduction, pass the original sums of the columns,
        which are 1 for topics.

    Anchors are in the order found; their scores are ||r_i||^2 when they were chosen, which decrease. If the cone of
    fewer anchors contains all columns, fewer are returned, with a `DataWarning`. Raises a CofactorError if X is not a
    matrix of finite numbers or has only zeros, `n_anchors` is out of range, or sums are not positive (columns are
    named). Cost: O(M N K + N K^3) time, O(M N) memory.

    Deviations: weights are exact, by an active set (released: up to 500 sweeps of coordinate descent); for topics, the
    anchors are the same. The released code adds 1e-6 to p'x for any size of X; here it is a fraction of the mean.

    Examples
    --------
    >>> xray([[1.0, 0.0, 0.5, 0.2], [0.0, 2.0, 1.0, 0.1]], 2).anchors
    array([1, 0])
    """
    points = dense_points(X)
    require_anchors(n_anchors, points.shape[1])
    columns_kept(points)
    totals = points.sum(axis=0) if sums is None else numbers(sums, "sums")
    if totals.shape not in ((), (points.shape[1],)):
        need = f"one number, or one for each of the {points.shape[1]} columns"
        raise CofactorError(f"sums have shape {totals.shape}: pass {need}")
    totals = np.broadcast_to(totals, points.shape[1])
    bad = np.flatnonzero(~((totals >= 0) & (totals < np.inf)))
    if bad.size or not totals.any():
        raise CofactorError(f"the sums of columns {listing(bad)} are not positive: pass `sums`, or shift X")
    anchors: list[int] = []
    scores: list[float] = []
    R = points
    floor = ROUNDING_RESIDUAL * np.einsum("mn,mn->n", points, points).max()
    for _ in range(n_anchors):
        lengths = np.einsum("mn,mn->n", R, R)
        i = int(np.argmax(lengths))
        if lengths[i] <= floor:
            break
        steepness = (R[:, i] @ points) / (totals + SHIFT * totals.mean())
        steepness[anchors] = -np.inf
        anchors.append(int(np.argmax(steepness)))
        scores.append(float(lengths[i]))
        R = points - points[:, anchors] @ nonnegative_least_squares(points[:, anchors], points)
    return _greedy_fit(anchors, scores, points.shape[1], n_anchors)


def fast_anchor(X: Matrix, n_anchors: int, random_state: Seed = None, refine: bool = True) -> AnchorFit:
    """Find anchors by FastAnchor, which repeatedly takes the point farthest from the affine hull of the previous ones.

    The first anchor is farthest from the origin. After n_anchors were found, every anchor in turn is replaced by the
    point farthest from the affine hull of all others.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column, finite; more than 1000 rows are projected to 1000 dimensions at random.
    n_anchors : int in [1, N]
    random_state : int, Generator or None
        Used for the projection.
    refine : bool
        Whether to replace anchors at the end.

    Anchors are in the order found; their scores are the squared distances when they were chosen. Raises a CofactorError
    as `xray` does. Cost: O(min(M, 1000) N K) time, and K times that for the refinement; O(min(M, 1000) N) memory.

    Deviations: distances are computed as by `spa`, so ties go to the longer column, then to the lower index. Arora et
    al. use only words that occur in enough documents as candidates, with a threshold that Nguyen et al. do not state;
    leave out rare words beforehand.

    Examples
    --------
    >>> fast_anchor([[0.1, 1.0, 0.0, 0.5], [0.0, 0.0, 2.0, 1.0]], 3).anchors
    array([2, 1, 0])
    """
    points = dense_points(X)
    n_points = points.shape[1]
    require_anchors(n_anchors, n_points)
    taking_part = columns_kept(points)  # the origin would be a corner of the affine hull
    wanted = min(n_anchors, taking_part.size)
    points = random_projection(points.shape[0], random_state) @ points[:, taking_part]
    first = spa(points, 1)
    rest = spa(points - points[:, first], wanted - 1) if wanted > 1 else np.array([], dtype=np.intp)
    anchors = np.concatenate([first, rest])
    for k in range(len(anchors) if refine and len(anchors) > 1 else 0):
        anchors[k] = np.argmax(_squared_distances(points, np.delete(anchors, k)))
    scores = [_squared_distances(points, anchors[:k])[anchors[k]] for k in range(len(anchors))]
    return _greedy_fit(taking_part[anchors].tolist(), scores, n_points, n_anchors)


def _squared_distances(X: Floats, hull: Indices) -> Floats:
    """Return the squared distance of every column from the affine hull of some (if none, from the origin)."""
    if hull.size:
        X = X - X[:, hull[:1]]
    Q = np.linalg.qr(X[:, hull[1:]])[0]
    return np.maximum(np.einsum("mn,mn->n", X, X) - np.einsum("kn,kn->n", Q.T @ X, Q.T @ X), 0.0)


def _greedy_fit(anchors: list[int], scores: list[float], n_points: int, wanted: int) -> AnchorFit:
    """Return the `AnchorFit` of a greedy method, with a warning if there are fewer anchors than wanted."""
    if len(anchors) < wanted:
        warnings.warn(
            f"only {len(anchors)} of {wanted} anchors were found, as they explain all columns",
            DataWarning,
            stacklevel=3,
        )
    return anchors_by_scores(anchors, scores, n_points)


@dataclass(eq=False, repr=False, kw_only=True)
class XRAY(AnchorMethod):
    """XRAY: extreme rays of the cone of all columns, one at a time. Parameters, cost and source: see `xray`."""

    sums: ArrayLike | None = None

    def _find(self, X: Floats) -> AnchorFit:
        taking_part, K = self._chosen(X)
        sums = self.sums if self.sums is None or np.ndim(self.sums) == 0 else np.asarray(self.sums)[taking_part]
        return xray(X[:, taking_part], K, sums).expanded(taking_part, X.shape[1])


@dataclass(eq=False, repr=False, kw_only=True)
class FastAnchor(AnchorMethod):
    """Columns farthest from the affine hull of the others. Parameters, cost and source: see `fast_anchor`."""

    refine: bool = True

    def _find(self, X: Floats) -> AnchorFit:
        taking_part, K = self._chosen(X)
        return fast_anchor(X[:, taking_part], K, self.random_state, self.refine).expanded(taking_part, X.shape[1])


# ---- latent Dirichlet allocation ----


def lda_topics(
    counts: Matrix,
    n_topics: int,
    max_iter: int = 500,
    alpha: float = 0.1,
    eta: float = 0.01,
    min_documents: int | None = None,
    random_state: Seed = None,
) -> TopicModel:
    """Fit latent Dirichlet allocation (LDA) by Gibbs sampling.

    Every word of document d has topic k with probability theta_dk, and is word n of this topic with probability s_kn;
    theta_d has a Dirichlet prior with parameter alpha, and s_k one with parameter eta. The topics of single words are
    drawn in turn, given all others; topics and weights are those of the last of `max_iter` sweeps.

    Parameters
    ----------
    counts : (D, N) array or scipy.sparse matrix
        How often each word occurs in each document, as integers.
    n_topics : int >= 1
    max_iter : int >= 1
        Number of sweeps.
    alpha, eta : float > 0
        Parameters of the priors; small values favour documents with few topics, and topics with few words.
    min_documents
        See `topic_model`.
    random_state : int, Generator or None

    Returns
    -------
    TopicModel
        It has no anchors; `weights` are (D, K) proportions, whose rows sum to one.

    Raises a CofactorError if the package `lda` is not installed, a count is not an integer (documents are named), or a
    parameter is out of range, and, for counts and `min_documents`, as `topic_model` does.

    Cost: O(max_iter K) time per word of all documents, about 0.15 microseconds per sweep at K = 3.

    Source: Table II of Nguyen, Fu and Wu has a row LDA (Gibbs) without settings; alpha and eta are the defaults of
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
        raise CofactorError(
            f"counts of documents {listing(np.unique(broken).tolist())} are not integers: LDA needs whole counts"
        )
    require_bytes(12 * documents.sum() + 16.0 * n_topics * sum(documents.shape), "topics of all words of all documents")
    used_words = words_kept(documents, min_documents)
    seed = int(rng_of(random_state).integers(2**31))
    try:
        package = import_module("lda")
    except ImportError as error:
        raise CofactorError(f"this method needs the package lda ({error}): pip install cofactor[topics]") from None
    logger = logging.getLogger("lda")
    if len(logger.handlers) == 1:  # with its own handler alone, it would set up logging for the whole program
        logger.addHandler(logging.NullHandler())
    model = package.LDA(n_topics, max_iter, alpha, eta, seed, refresh=1)
    model.fit(sparse.csr_matrix(documents[:, used_words], dtype=np.int64))  # it knows no sparse arrays
    topics = np.zeros((documents.shape[1], n_topics))
    topics[used_words] = model.topic_word_.T
    dropped = np.setdiff1d(np.arange(documents.shape[1]), used_words)
    likelihood = np.array(model.loglikelihoods_[-max_iter:])
    result = Result(-likelihood, max_iter, True, f"stopped after {max_iter} sweeps")
    return TopicModel(np.array([], dtype=np.intp), topics, model.doc_topic_, dropped, result=result)


def document_shares(counts: Matrix, topics: Floats, alpha: float) -> Floats:
    """Return (D, K) proportions of given topics in documents, by EM on theta with alpha added to expected counts."""
    documents = word_counts(counts, some=False)
    if documents.shape[1] != len(topics):
        raise CofactorError(f"counts have {documents.shape[1]} words, but the topics have {len(topics)}")
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


@dataclass(eq=False, repr=False)
class LDA(TopicTransformer):
    """LDA: latent Dirichlet allocation of word counts. Parameters, cost and source: see `lda_topics`.

    `transform` returns the proportions of the topics in documents; rows sum to one.

    Dependence on the order: the sampler visits words in their order, so another order acts like another `random_state`.
    The effect on topics was not measured.

    Attributes
    ----------
    model_ : TopicModel
    result_ : Result
        Its objective is the negative log-likelihood after every sweep.
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

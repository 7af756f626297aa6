"""Columns of a data matrix (one per point): selection of columns, number of anchors, and the result of anchor finders.

Model: X ~ X[:, anchors] H with the columns of H on the simplex (separable NMF); equivalently, X ~ X C where only the
rows of C that belong to anchors are nonzero (self-dictionary).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.checks import numbers, refuse_columns, rng_of, sound_places
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.estimator import Result
from cofactor.core.lazy import csgraph
from cofactor.core.simplex import RANK_SHARE, SQUARES, require_anchors, spa, with_squares
from cofactor.core.types import Floats, Indices, Seed
from cofactor.separable.least_squares import simplex_least_squares

Matrix: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix

ZERO = 1e-12  # a column whose largest entry is this share of the largest of all, or less, is zero
DIMENSION = 1000  # of the random projection, as in Arora et al.
DENSITY = 1 / 3  # of its entries that are not zero: -1, 0, 1 with probabilities 1/6, 2/3, 1/6
SAME_COLUMN = 1e-9  # columns no further apart than this share of the largest entry are one
MOST_ANCHORS = 200  # tried, where their number is not given
MOST_SHARE = 0.75  # of the columns may be anchors: behind it the last residuals fall fast in any matrix
CLEAR_MARGIN = 0.5  # margin below which the suggested number is often wrong
GROWTH = 1.25  # factor by which squares left may grow without a column that leads itself alone
LONE_COLUMNS, LONE_ONE_IN, LONE_ONE_IN_AT_MOST = 3, 50, 10  # lone columns: at most three, or one in fifty; a tenth
EACH = 2  # columns per anchor, or more: with fewer, many anchors lead none by chance
LONE_SHARE = 0.5  # of what others hold of the middle anchor: a lone one has less, one that leads none by chance more
WHITE = 0.4  # by how much the largest direction left may exceed that of noise before nothing is clear
NOISE_ROWS, NOISE_COLUMNS = 500, 2000  # that tell whether only noise is left
SCALING_ROUNDS = 3  # of dividing rows by the size of their noise
COLUMNS_AT_A_TIME = 500  # columns at a time


@dataclass(frozen=True)
class AnchorFit:
    """Result of an anchor finder: the columns of X that are anchors, their scores, and convergence information.

    Attributes
    ----------
    anchors : (K,) ints
        Indices of columns of X, by decreasing score.
    scores : (N,) array
        Largest entry of every row of the coefficients; for greedy methods, the squared length of the residual when the
        column was chosen, and zero for all other columns.
    coefficients : (N, N) scipy.sparse csc_array, or None
        C in X ~ X C, nonnegative and sparse. None if the method has no coefficients.
    result : Result
    """

    anchors: Indices
    scores: Floats
    coefficients: sparse.csc_array | None
    result: Result

    def expanded(self, kept: Indices, n_points: int) -> AnchorFit:
        """Return the result for all columns of X, given that `kept` were used; other coefficients stay empty."""
        if kept.size == n_points:
            return self
        scores, C = np.zeros(n_points), self.coefficients
        scores[kept] = self.scores
        if C is not None:
            indptr = np.zeros(n_points + 1, dtype=C.indptr.dtype)
            indptr[kept + 1] = np.diff(C.indptr)
            C = sparse.csc_array((C.data, kept[C.indices], np.cumsum(indptr)), shape=(n_points, n_points))
        return replace(self, anchors=kept[self.anchors], scores=scores, coefficients=C)


def points_of(X: Matrix) -> Floats:
    """Return X as a dense matrix of numbers, which may not be finite."""
    points = numbers(sound_places(X, "X").toarray() if sparse.issparse(X) else X, "X")
    if points.ndim != 2 or not points.size:
        raise CofactorError(f"X must be a non-empty matrix with one point per column, got shape {points.shape}")
    return points


def dense_points(X: Matrix) -> Floats:
    """Return X as a dense matrix of finite numbers; raise a CofactorError that names invalid columns."""
    points = points_of(X)
    refuse_columns(np.flatnonzero(~np.isfinite(points).all(axis=0)), "X")
    return points


def columns_with_size(X: Floats) -> Indices:
    """Return the indices of the nonzero columns."""
    largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    return np.flatnonzero(largest > ZERO * largest.max())


def columns_kept(X: Floats) -> Indices:
    """Return the nonzero columns and warn of the others; refuse X if all are zero, or if squares overflow."""
    largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    exponent = int(np.frexp(largest.max())[1])
    if abs(exponent) > SQUARES:
        raise CofactorError(
            f"the square of the largest entry of X, {largest.max():.3g}, overflows or underflows: divide X by "
            f"2.0**{exponent - 1}, which does not change the anchors"
        )
    kept = columns_with_size(X)
    if not kept.size:
        raise CofactorError("all entries of X are zero, so there are no anchors to find")
    if kept.size < X.shape[1]:
        dropped = np.setdiff1d(np.arange(X.shape[1]), kept)
        warnings.warn(
            f"{dropped.size} columns of X are zero ({listing(dropped)}) and were left out, with empty coefficients",
            DataWarning,
            stacklevel=3,
        )
    return kept


def spa_fit(X: Matrix, n_anchors: int) -> AnchorFit:
    """Find anchors by successive projection and return an `AnchorFit`; see `spa`.

    If X has no further direction, the method starts over, so n_anchors may exceed the number of rows; columns that are
    found after that have a score of zero.

    >>> spa_fit([[1.0, 0.0, 0.5], [0.0, 2.0, 1.0]], 2).scores
    array([1., 4., 0.])
    """
    points = dense_points(X)
    require_anchors(n_anchors, points.shape[1])
    columns_kept(points)
    anchors = spa(X, n_anchors, restart=True)
    lengths = np.diagonal(np.linalg.qr(points[:, anchors], mode="r")) ** 2
    return anchors_by_scores(anchors[: lengths.size], lengths, points.shape[1], anchors)


def anchors_by_scores(
    scored: ArrayLike, values: ArrayLike, n_points: int, anchors: ArrayLike | None = None
) -> AnchorFit:
    """Return the `AnchorFit` of a greedy method without coefficients."""
    found = np.array(scored if anchors is None else anchors, dtype=np.intp)
    scores = np.zeros(n_points)
    scores[np.array(scored, dtype=np.intp)] = values
    result = Result(scores[found], len(found), True, f"{len(found)} anchors found")
    return AnchorFit(found, scores, None, result)


# ---- which columns take part ----


@dataclass(frozen=True)
class Columns:
    """The columns that are used: nonzero, one per group of equal ones, divided by a power of two.

    The power of two is close to the largest entry, so the division is exact and squares neither overflow nor vanish.
    """

    points: Floats
    exponent: int
    used: Indices
    owner: Indices  # of every column of X, the position among `used` of what represents it; -1 for zero columns
    groups: list[Indices]

    def expand_scores(self, scores: Floats) -> Floats:
        """Return the (N,) scores of all columns of X, given those of the used columns; zero for all others."""
        whole = np.zeros(self.owner.size)
        whole[self.used] = scores
        return whole

    def expand(self, C: sparse.csc_array) -> sparse.csc_array:
        """Return the (N, N) coefficients of all columns of X; merged columns get those of their representative."""
        N, n = self.owner.size, self.used.size
        if n == N:
            return C
        indptr = np.append(C.indptr, C.indptr[-1])  # one more column, empty: where the owner is -1
        return sparse.csc_array((C.data, self.used[C.indices], indptr), shape=(N, n + 1))[:, self.owner]

    def shrink(self, C: sparse.csc_array) -> sparse.csc_array:
        """Return (N, N) coefficients as (n, n) ones, with the rows of merged columns added up."""
        N, n = self.owner.size, self.used.size
        seen = np.flatnonzero(self.owner >= 0)
        gather = sparse.csc_array((np.ones(seen.size), (self.owner[seen], seen)), shape=(n, N))
        return sparse.csc_array((gather @ C)[:, self.used])


def columns_used(X: Floats, merge: bool = False, left_out: Indices | None = None) -> Columns:
    """Return the used columns: not zero (otherwise a warning), not in `left_out` and, if `merge`, one of equal ones."""
    kept = columns_kept(X) if left_out is None else np.setdiff1d(columns_kept(X), left_out)
    representative, groups = same_columns(X[:, kept]) if merge else (np.arange(kept.size), [])
    used = np.unique(kept[representative])
    owner = np.full(X.shape[1], -1)
    owner[kept] = np.searchsorted(used, kept[representative])
    exponent = int(np.frexp(max(X.max(), -X.min()))[1])
    points = np.ldexp(X.T[used], -exponent).T  # rows of the transpose lie together
    return Columns(points, exponent, used, owner, [kept[group] for group in groups])


def same_columns(X: Floats) -> tuple[Indices, list[Indices]]:
    """Find groups of columns that are equal up to rounding, directly or through other columns.

    Returns
    -------
    representative : (N,) ints
        Lowest index in each column's group; its own index if the column is unique.
    groups : list of int arrays
        Groups of two or more columns, in ascending order.

    Columns are sorted along a generic direction v, in which equal ones differ by at most SAME_COLUMN max|X| ||v||_1, so
    only neighbours are compared: O(M N + N log N) unless many different columns coincide in this direction.
    """
    N = X.shape[1]
    limit = SAME_COLUMN * np.abs(X).max()
    v = np.sin(np.arange(1, len(X) + 1))  # any direction without structure will do
    along = v @ X
    order = np.argsort(along, kind="stable")
    reach = np.searchsorted(along[order], along[order] + limit * np.abs(v).sum(), side="right")
    pairs: list[tuple[int, int]] = []
    for start in np.flatnonzero(reach > np.arange(N) + 1):
        near = order[start + 1 : reach[start]]
        equal = near[(np.abs(X[:, near] - X[:, [order[start]]]) <= limit).all(axis=0)]
        pairs += [(int(order[start]), int(other)) for other in equal]
    left, right = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    graph = sparse.coo_array((np.ones(len(pairs)), (left, right)), shape=(N, N))
    _, label = csgraph.connected_components(graph, directed=False)
    first = np.full(N, N)
    np.minimum.at(first, label, np.arange(N))
    representative = first[label]
    repeated = np.flatnonzero(np.bincount(label) > 1)
    groups = sorted((np.flatnonzero(label == g) for g in repeated), key=lambda group: int(group[0]))
    return representative, groups


def random_projection(n_rows: int, random_state: Seed) -> sparse.csr_array:
    """Return a random (1000, n_rows) projection with entries -s, 0, s (probabilities 1/6, 2/3, 1/6) that keeps lengths.

    For at most 1000 rows, it is the identity. Source: Achlioptas, "Database-friendly random projections", 2003.
    """
    if n_rows <= DIMENSION:
        return sparse.csr_array(sparse.eye_array(n_rows))
    from sklearn.random_projection import SparseRandomProjection  # here: slow to import, and rarely needed

    seed = int(rng_of(random_state).integers(2**31))
    projection = SparseRandomProjection(DIMENSION, density=DENSITY, random_state=seed)
    return sparse.csr_array(projection.fit(np.zeros((1, n_rows))).components_)


# ---- how many anchors, and which columns are lone ----


def suggest_n_anchors(X: Matrix) -> tuple[int, float]:
    """Suggest a number of anchors: the one after which the residual of successive projection drops most.

    With r_k the squared residual of the k-th column that SPA chooses, r_1 >= r_2 >= ..., the suggestion is the k > 1
    that maximises r_k / r_{k+1}: the first K columns are anchors, and only noise is left after them. `lone_columns` are
    left out.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column, finite, of any sign.

    Returns
    -------
    k : int
        At most 200, at most the rank of X (more anchors than rows cannot be detected), and at most three quarters of
        the columns. It is 1 only if X has rank one.
    margin : float in [0, 1]
        Relative difference between the largest and the second largest factor; near zero, another k is as good. It is 0
        if there is only one factor. If more than noise is left, it is at most 1 - (s - 1) / 0.4, where s is the largest
        eigenvalue of the residual after k directions, relative to that of noise (with the noise of all rows equalised).

    Raises a CofactorError if X is not a matrix, contains NaN or infinity, or has only zeros.

    Cost: that of SPA with 200 anchors, O(200 M N) at most, and of `lone_columns`.

    Source: the paper has no rule and assumes that K is known. `evaluation/studies.py` draws 1080 mixtures of 2 to 10
    anchors from nine families, at 10 to 35 dB, most of them with one or two outliers. The margin is 0.5 or more in 61 %
    of them, and then the number is right in 97 %: in 99 % for well separated columns with equal noise, in 82 % if the
    scale of columns varies, and in 80 % if pure columns are similar (smooth spectra), because anchors that differ from
    mixtures of the others by less than the noise are not detected. For 40 anchors among 200 points at 20 dB, the number
    is right in 96 % of draws.

    >>> suggest_n_anchors([[1.0, 0.0, 0.5, 0.4], [0.0, 1.0, 0.5, 0.6]])[0]
    2
    """
    points = with_squares(dense_points(X))
    if not points.any():
        raise CofactorError("all entries of X are zero, so there are no anchors to find")
    return suggested_number(np.delete(points, lone_columns(points), axis=1))[1:]


def lone_columns(X: Matrix, n_anchors: int | None = None) -> Indices:
    """Find columns that would be anchors of themselves only: outliers, glints, columns with a single large entry.

    An anchor chosen by SPA is lone if it has the largest weight in no other column, if its total weight in the other
    columns is less than half of that of the median anchor, and if mixtures of at most as many anchors without it
    explain the other columns nearly as well, with less than 1.25 times the residual sum of squares. The second
    condition keeps anchors that dominate no column by chance, as happens if few columns contain each anchor; the third
    keeps anchors with large weights in other columns.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column, finite.
    n_anchors : int in [1, N], optional
        K, if known. Default: the number that the residuals of SPA suggest, updated after each lone column.

    Returns column indices in ascending order: at most three or a fiftieth of the columns, whichever is larger, and at
    most a tenth; none if there are at most two columns per anchor. Raises a CofactorError if X is not a matrix of
    finite numbers, or `n_anchors` is out of range.

    Cost: O(200 M N) for SPA and O(N K^3) for weights, repeated for every lone column.

    >>> X = np.hstack([np.eye(3)[:, [0, 1]], [[0.2], [0.2], [9.0]], np.full((3, 9), [[0.5], [0.5], [0.0]])])
    >>> lone_columns(X).tolist()
    [2]
    """
    points = with_squares(dense_points(X))
    if n_anchors is not None:
        require_anchors(n_anchors, points.shape[1])
    start = remaining = columns_with_size(points)
    allowed = min(max(LONE_COLUMNS, start.size // LONE_ONE_IN), start.size // LONE_ONE_IN_AT_MOST)
    for known in (None,) if n_anchors is None else (None, n_anchors):
        while (found := _lone(points[:, remaining], known, allowed - start.size + remaining.size)).size:
            remaining = np.delete(remaining, found)
    return np.setdiff1d(start, remaining)


def _lone(X: Floats, n_anchors: int | None, allowed: int) -> Indices:
    """Return the lone columns among the anchors of X, or the most isolated one; an empty array if there are none."""
    none, anchors = np.array([], dtype=np.intp), _first_anchors(X, n_anchors)
    if allowed <= 0 or X.shape[1] <= EACH * len(anchors):
        return none
    H = simplex_least_squares(X[:, anchors], X)
    leads, held = np.bincount(H.argmax(axis=0), minlength=len(H)), H.sum(axis=1) - 1  # held: by other columns
    few = np.flatnonzero((leads <= 1) & (held < LONE_SHARE * np.median(held)) | (len(anchors) == 1))
    few = few[np.argsort(held[few])]
    for some in [few, *few[:, None]] if few.size > 1 else [few]:
        if 0 < some.size <= allowed:
            rest = np.delete(X, anchors[some], axis=1)
            others = _first_anchors(rest, n_anchors)[: len(anchors)]
            before, after = squares_left(rest, X[:, anchors]), squares_left(rest, rest[:, others])
            if after <= max(GROWTH * before, RANK_SHARE**2 * float(np.vdot(rest, rest))):
                return anchors[some]
    return none


def _first_anchors(X: Floats, n_anchors: int | None) -> Indices:
    """Return the first n_anchors columns that SPA chooses, or as many as its residuals suggest."""
    if n_anchors is not None:
        return spa(X, min(n_anchors, X.shape[1]))
    found, number = _drop(X)[:2]
    return found[:number]


def _drop(X: Floats) -> tuple[Indices, int, float]:
    """Return the columns that SPA finds, the number after which its residual drops most, and the margin."""
    tried = min(MOST_ANCHORS, *X.shape)
    found = spa(X, tried)
    return found, *largest_drop(residuals(X, found), tried, X.shape[1])


def suggested_number(X: Floats) -> tuple[Indices, int, float]:
    """Return SPA's columns, the suggested number of anchors, and its margin, reduced if more than noise is left."""
    found, number, margin = _drop(X)
    return found, number, min(margin, max(1 - (_beside_noise(X, number) - 1) / WHITE, 0.0))


def _beside_noise(X: Floats, k: int) -> float:
    """Return the largest eigenvalue of X X' after removing k directions, relative to that of noise of the same size.

    The noise may differ between rows. The reference is the Marchenko-Pastur edge, (1 + sqrt((M - k) / N))^2. The result
    is 1 if hardly any direction is left, or only rounding errors.
    """
    M, N = X.shape
    most = max(NOISE_ROWS, 4 * k)
    rows = np.unique(np.linspace(0, M - 1, most).astype(int)) if most < M else np.arange(M)
    Y = X[rows][:, np.unique(np.linspace(0, N - 1, min(NOISE_COLUMNS, N)).astype(int))]
    free, n = len(rows) - k, Y.shape[1]
    rest = Y
    for _ in range(SCALING_ROUNDS if free > 1 else 0):
        U = np.linalg.eigh(Y @ Y.T)[1][:, -k:]
        rest = Y - U @ (U.T @ Y)
        size = np.sqrt(np.einsum("mn,mn->m", rest, rest) * len(rows) / (free * n))
        if not (size > 0).any() or size.max() <= RANK_SHARE * np.abs(Y).max():
            return 1.0
        size = np.where(size > RANK_SHARE * size.max(), size, 1.0)[:, None]
        Y, rest = Y / size, rest / size
    if free <= 1:
        return 1.0
    return float(np.linalg.eigvalsh(rest @ rest.T)[-1] / n / (1 + np.sqrt(free / n)) ** 2)


def squares_left(X: Floats, W: Floats) -> float:
    """Return ||X - W H||_F^2 for the best mixtures H, the part of X that the columns of W do not explain."""
    left = 0.0
    for block in np.array_split(np.arange(X.shape[1]), max(X.shape[1] // COLUMNS_AT_A_TIME, 1)):  # little memory
        rest = W @ simplex_least_squares(W, X[:, block]) - X[:, block]
        left += float(np.vdot(rest, rest))
    return left


def lone_columns_with_warning(X: Floats) -> Indices:
    """Return `lone_columns` and warn of them."""
    lone = lone_columns(X)
    if lone.size:
        warnings.warn(
            f"columns {listing(lone.tolist())} would be anchors of themselves only and were left out; set n_anchors to "
            "keep them",
            DataWarning,
            stacklevel=3,
        )
    return lone


def settled_number(n_anchors: int | None, suggested: int, margin: float) -> int:
    """Return the given number of anchors, or the suggested one, with a warning if it is uncertain."""
    if n_anchors is None and margin < CLEAR_MARGIN:
        warnings.warn(
            f"the suggested number of anchors, {suggested}, is uncertain: its margin is {margin:.2f}, and below "
            f"{CLEAR_MARGIN} the suggestion is often wrong; try several numbers, or set n_anchors",
            DataWarning,
            stacklevel=3,
        )
    return n_anchors or suggested


def residuals(points: Floats, found: Indices) -> Floats:
    """Return the squared residuals of the columns that SPA found, when it found them, relative to the first."""
    lengths = np.diagonal(np.linalg.qr(points[:, found], mode="r"))
    return np.asarray((lengths / lengths[0]) ** 2)


def largest_drop(squares: Floats, tried: int, n_points: int) -> tuple[int, float]:
    """Return the k > 1 with the largest r_k / r_{k+1}, and its margin in [0, 1].

    If there are fewer squares than `tried`, SPA stopped, and the residual after the last one is set to RANK_SHARE.
    """
    known = np.append(squares, RANK_SHARE) if len(squares) < tried else squares
    factors = (known[:-1] / known[1:])[1 : int(MOST_SHARE * n_points)]
    if not factors.size:
        return len(squares), 0.0
    best = int(np.argmax(factors))
    second = np.delete(factors, best).max(initial=1.0)
    return best + 2, float(max(1 - second / factors[best], 0.0))


def top_rows(scores: Floats, n_anchors: int) -> Indices:
    """Return the rows with the largest scores, in decreasing order; ties go to the lower index."""
    return np.argsort(-scores, kind="stable")[:n_anchors]


def spread_rows(X: Floats, scores: Floats, n_anchors: int, n_listed: int) -> Indices:
    """Choose anchors by successive projection among the `n_listed` rows with the largest scores; sort by score."""
    listed = np.sort(top_rows(scores, max(n_listed, n_anchors)))
    chosen = listed[spa(X[:, listed], n_anchors, restart=True)]
    return chosen[top_rows(scores[chosen], n_anchors)]

"""The probability simplex: projection onto it, and successive projection (SPA) to find its corners.

SPA finds the columns of which all other columns are mixtures. Model: X = W H, columns of H on the simplex, and
(separability) W = X[:, anchors]. A convex function on a polytope is largest at a vertex, so the longest column is an
anchor; project it out and repeat.

    symbol   meaning                                        shape
    X        data, one point per column                     (M, N), dense or sparse
    r        squared residual length of each column         (N,)
    u        direction of the newest anchor                 (M,)

Source: Gillis and Vavasis, "Fast and robust recursive algorithms for separable nonnegative matrix
factorization", IEEE TPAMI 2014, Algorithm 1.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.checks import is_whole, numbers, refuse_columns, sound_places
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import njit
from cofactor.core.types import Floats


def project_to_simplex(V: ArrayLike) -> Floats:
    """Project every column of V onto the simplex: argmin ||x - v|| with x >= 0, sum(x) = 1.

    Parameters
    ----------
    V : (K, N) array, finite
        One point per column.

    Returns
    -------
    (K, N) array whose columns are nonnegative and sum to one.

    Raises
    ------
    CofactorError
        V is not a matrix, is empty, or contains NaN or infinity.

    Cost: O(N K log K) time, O(N K) memory.

    Source: Held, Wolfe and Crowder, "Validation of subgradient optimization", 1974; sort-and-threshold form.

    >>> project_to_simplex([[0.5], [1.5]])
    array([[0.],
           [1.]])
    """
    points = numbers(V, "V")
    if points.ndim != 2 or points.size == 0 or not np.isfinite(points).all():
        raise CofactorError(f"expected a non-empty matrix of finite numbers, one point per column; got {points.shape}")
    points = points - points.max(axis=0)  # the projection does not change, and large entries do not swallow the one
    falling = -np.sort(-points, axis=0)
    excess = np.cumsum(falling, axis=0) - 1.0
    ranks = np.arange(1, len(points) + 1)[:, None]
    support = np.sum(falling * ranks > excess, axis=0)
    threshold = excess[support - 1, np.arange(points.shape[1])] / support
    return np.maximum(points - threshold, 0.0)


@njit(cache=True)
def project_vector(x: Floats) -> None:
    """Project one finite vector onto the simplex, in place and unchecked: `project_to_simplex` for compiled loops.

    Entries at or below the threshold of the remaining ones are dropped until there are none; O(K) passes without extra
    memory, few in practice. Source: Michelot, "A finite algorithm for finding the projection of a point onto the
    canonical simplex of R^n", 1986.
    """
    top, support, threshold = x.max(), len(x) + 1, -np.inf
    while True:
        total, left = -1.0, 0
        for i in range(len(x)):
            if x[i] - top > threshold:
                total += x[i] - top
                left += 1
        threshold = total / left
        if left >= support:  # by rounding, one more may come back
            break
        support = left
    for i in range(len(x)):
        x[i] = max(x[i] - top - threshold, 0.0)


# ---- successive projection ----


Points: TypeAlias = Floats | sparse.csc_array

LENGTH_TIE = 1e-6  # columns this close to the longest count as tied
SQUARES = 500  # powers of two up to which squares of entries, and their sums, stay numbers
RANK_SHARE = 1e-9  # stop when the longest squared residual has shrunk to this share of the first


def spa(X: ArrayLike | sparse.sparray | sparse.spmatrix, n_anchors: int, restart: bool = False) -> NDArray[np.intp]:
    """Return the indices of up to `n_anchors` anchor columns of X, in the order found.

    Repeats n_anchors times

        a = argmax_n r_n,   u = (I - U U') x_a / ||(I - U U') x_a||,   r_n = r_n - (u' x_n)^2

    starting from r_n = ||x_n||^2, where U are the directions so far.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column; finite, of any sign. Columns are not normalised: do so first if the model requires it
        (topics, co-occurrences: columns that sum to one). Columns of zeros are never chosen.
    n_anchors : int in [1, N]
    restart : bool
        When no direction is left, start over on the remaining columns, to get more anchors than the rank of X as a
        start for methods that allow it.

    Returns
    -------
    (K,) column indices. K < n_anchors if X has no further direction (with `restart`: no further nonzero column).

    Raises
    ------
    CofactorError
        X is not a matrix, a column contains NaN or infinity (the first ten are named), or `n_anchors` is out of range.

    Cost: O(nonzeros K) time, O(M K + N) memory in addition to X. A sparse X stays sparse.

    Deviations
    ----------
    Ties go to the longer *original* column, then to the lower index (the paper leaves them open), so that the result
    depends neither on rounding nor on the number of threads. Directions are orthogonalised twice against rounding.
    If squares of entries would overflow or underflow, X is first divided by a power of two, which changes no digit.
    The released `SPAselect` restarts after min(M, N) columns and stops if max(X) <= 0, which is wrong for data of both
    signs; here residual norms are the criterion.

    >>> spa([[1.0, 0.0, 0.5], [0.0, 2.0, 1.0]], n_anchors=2)
    array([1, 0])
    """
    points: Points
    if sparse.issparse(X):
        points = sparse.csc_array(sound_places(X, "X"), dtype=np.float64)
        bad = np.unique(points.tocoo().col[~np.isfinite(points.tocoo().data)])
    else:
        points = numbers(X, "X")
        if points.ndim != 2:
            raise CofactorError(f"X must be a matrix with one point per column, got shape {points.shape}")
        bad = np.flatnonzero(~np.isfinite(points).all(axis=0))
    refuse_columns(bad, "X")
    points = with_squares(points)
    n_points = points.shape[1]
    require_anchors(n_anchors, n_points)
    anchors = _successive_projection(points, n_anchors)
    while restart and 0 < len(anchors) < n_anchors:
        left = np.setdiff1d(np.arange(n_points), anchors)
        more = left[_successive_projection(points[:, left], n_anchors - len(anchors))]
        if not more.size:
            break
        anchors = np.concatenate([anchors, more])
    return anchors


def require_anchors(n_anchors: int, n_points: int) -> None:
    """Raise a CofactorError unless `n_anchors` is a whole number from 1 to the number of points."""
    if not is_whole(n_anchors) or not 1 <= n_anchors <= n_points:
        raise CofactorError(f"n_anchors={n_anchors!r}: X has {n_points} columns, so choose from 1 to {n_points}")


def _successive_projection(X: Points, n_anchors: int) -> NDArray[np.intp]:
    length = np.einsum("mn,mn->n", X, X) if isinstance(X, np.ndarray) else np.asarray(X.multiply(X).sum(axis=0)).ravel()
    r, U = length.copy(), np.empty((min(n_anchors, X.shape[0]), X.shape[0]))
    anchors: list[int] = []
    for k in range(len(U)):
        if r.max() <= RANK_SHARE * length.max():
            break
        tied = np.flatnonzero(r >= (1 - LENGTH_TIE) * r.max())
        a = int(tied[np.argmax(length[tied])])
        u = X[:, a] if isinstance(X, np.ndarray) else X[:, [a]].toarray()[:, 0]
        for _ in range(2):  # twice, against rounding
            u = u - U[:k].T @ (U[:k] @ u)
        U[k] = u / np.linalg.norm(u)
        r = np.maximum(r - (X.T @ U[k]) ** 2, 0.0)
        anchors.append(a)
    return np.array(anchors, dtype=np.intp)


def with_squares(X: Points) -> Points:
    """Return X, divided by a power of two if squares of its largest entries would overflow or underflow."""
    values = X if isinstance(X, np.ndarray) else X.data
    exponent = int(np.frexp(max(values.max(initial=0), -values.min(initial=0)))[1])
    if abs(exponent) <= SQUARES:
        return X
    if isinstance(X, np.ndarray):
        return np.ldexp(X, -exponent)
    return sparse.csc_array((np.ldexp(X.data, -exponent), X.indices, X.indptr), shape=X.shape)

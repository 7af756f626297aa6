"""Exact least squares with simplex or nonnegativity constraints, for many right-hand sides at once.

    symbol   meaning                                        shape
    W        dictionary, one atom per column                (M, K)
    X        right-hand sides, one per column               (M, N)
    H        weights                                        (K, N)
    G, q     Gram matrix W'W and correlations W'x           (K, K), (K,)
    P        passive set: atoms with free weights           p indices
    L        Cholesky factor of G on P                      (p, p)
    nu       multiplier of sum(h) = 1; zero without it

Only G and W'X enter the loop, so the cost of a column does not depend on M.

Source: Lawson and Hanson, "Solving least squares problems", 1974, chapter 23, on the normal equations as in Bro and
de Jong, "A fast non-negativity-constrained least squares algorithm", J. Chemometrics 1997; the equality constraint is
met by a second right-hand side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import numbers, refuse_columns
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import njit
from cofactor.core.types import Floats, Indices

COLUMNS_PER_BLOCK = 4096  # columns at a time
VIOLATION = 1e-10  # an atom joins when its gradient is below the multiplier by this share of G_ii
DEPENDENT = 1e-6  # atoms with a singular value below this share of the largest are taken as dependent
DIAGONAL_SHARE = 1e-13  # share of the mean of G_ii added to the diagonal where the atoms depend on one another


def simplex_least_squares(W: ArrayLike, X: ArrayLike) -> Floats:
    """Approximate every column of X (M, N) by the closest mixture of the columns of W (M, K).

        min over H of ||W H - X||_F^2   subject to   H >= 0,  columns of H sum to one

    Returns H (K, N). If columns of W are affinely dependent, as for K > M + 1, it is one of the minimisers. Raises a
    CofactorError if the shapes do not match, W has no columns, or a column contains NaN or infinity (it is named).

    Cost: O(M K N) for the correlations and O(p^3) per column with p positive weights; O(K N) memory.

    Source: primal active set, see the module. The released code of MERIT uses 100 FISTA steps instead, whose objective
    is up to a thousandth above the minimum; `tests/oracles` has the quadratic programme.

    >>> simplex_least_squares([[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.6], [0.0, 0.6]])
    array([[1. , 0.5],
           [0. , 0.5]])
    """
    return _solve(W, X, on_simplex=True)


def nonnegative_least_squares(W: ArrayLike, X: ArrayLike) -> Floats:
    """Approximate every column of X by the closest nonnegative combination of the columns of W.

        min over H >= 0 of ||W H - X||_F^2

    Parameters, result, errors, cost and source are those of `simplex_least_squares`, without the sum constraint. For a
    single right-hand side, use `scipy.optimize.nnls`; this function shares the Gram matrix among many.

    >>> nonnegative_least_squares([[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.6], [-1.0, 0.6]])
    array([[2. , 0.6],
           [0. , 0.6]])
    """
    return _solve(W, X, on_simplex=False)


def _solve(W: ArrayLike, X: ArrayLike, on_simplex: bool) -> Floats:
    atoms, points = _finite(W, "W"), _finite(X, "X")
    if atoms.shape[0] != points.shape[0] or not atoms.shape[1]:
        raise CofactorError(
            f"W {atoms.shape} and X {points.shape} must have equally many rows, and W at least one column"
        )
    size = np.abs(atoms).max() or 1.0  # so that no square leaves the range of numbers
    atoms = _augmented(atoms / size, on_simplex)
    G = atoms.T @ atoms
    if np.linalg.matrix_rank(atoms, rtol=DEPENDENT) < len(G):
        G += DIAGONAL_SHARE * np.trace(G) / len(G) * np.eye(len(G))
    H, unfinished = np.zeros((points.shape[1], len(G))), 0
    for start in range(0, len(H), COLUMNS_PER_BLOCK):
        block = _augmented(points[:, start : start + COLUMNS_PER_BLOCK] / size, on_simplex)
        unfinished += _active_set(G, block.T @ atoms, H[start : start + COLUMNS_PER_BLOCK], on_simplex)
    if unfinished:
        raise CofactorError(f"least squares did not converge for {unfinished} columns: W is too close to singular")
    return H.T


def _augmented(A: Floats, on_simplex: bool) -> Floats:
    """Add a row of ones, which has no effect if sum(h) = 1, so that only affine dependence is a problem."""
    return np.vstack([A, np.ones(A.shape[1])]) if on_simplex else A


def _finite(A: ArrayLike, name: str) -> Floats:
    matrix = numbers(A, name, 2)
    refuse_columns(np.flatnonzero(~np.isfinite(matrix).all(axis=0)), name)
    return matrix


@njit(cache=True, nogil=True)
def _active_set(G: Floats, Q: Floats, H: Floats, on_simplex: bool) -> int:
    """Fill H (N, K) row by row; return the number of rows that reached the iteration limit."""
    K, unfinished = len(G), 0
    L, work = np.zeros((K, K)), np.empty((4, K))
    P = np.empty(K, np.intp)
    for n in range(len(Q)):
        unfinished += not _one_column(G, Q[n], H[n], on_simplex, L, P, work)
    return unfinished


@njit(cache=True, nogil=True)
def _one_column(G: Floats, q: Floats, h: Floats, on_simplex: bool, L: Floats, P: Indices, work: Floats) -> bool:
    """Add the most helpful atom until none helps, each time moving to the exact minimiser on the passive set."""
    K, p, nu = len(G), 0, 0.0
    if on_simplex:
        P[0] = np.argmin(np.diag(G) - 2 * q)
        h[P[0]], L[0, 0], p = 1.0, np.sqrt(G[P[0], P[0]]), 1
        nu = q[P[0]] - G[P[0], P[0]]
    for _ in range(10 * K + 10):
        j = _most_violated(G, q, h, nu, P, p)
        if j < 0:
            return True
        L[p, p] = _append(G, L, P, p, j)
        if L[p, p] <= 0:  # depends on the passive atoms: nothing to gain but rounding
            return True
        P[p] = j
        p, nu = _descend(G, q, h, on_simplex, L, P, p + 1, work)
    return False


@njit(cache=True, nogil=True)
def _most_violated(G: Floats, q: Floats, h: Floats, nu: float, P: Indices, p: int) -> int:
    """Return the atom outside P whose correlation with the residual exceeds the multiplier most, or -1."""
    w = q.copy()
    for a in range(p):
        w -= h[P[a]] * G[P[a]]
    for a in range(p):
        w[P[a]] = -np.inf
    j = int(np.argmax(w))
    return j if w[j] - nu > VIOLATION * max(G[j, j], abs(q[j])) else -1


@njit(cache=True, nogil=True)
def _append(G: Floats, L: Floats, P: Indices, p: int, j: int) -> float:
    """Write row p of the factor for atom j; return its pivot, zero if the atom depends on the others."""
    pivot = G[j, j]
    for a in range(p):
        total = G[P[a], j]
        for b in range(a):
            total -= L[a, b] * L[p, b]
        L[p, a] = total / L[a, a]
        pivot -= L[p, a] ** 2
    return np.sqrt(pivot) if pivot > 1e-15 * G[j, j] else 0.0


@njit(cache=True, nogil=True)
def _descend(
    G: Floats, q: Floats, h: Floats, on_simplex: bool, L: Floats, P: Indices, p: int, work: Floats
) -> tuple[int, float]:
    """Move h to the minimiser on P, dropping atoms that reach the boundary; return the new size of P, and nu."""
    while True:
        z, nu = _minimiser(q, on_simplex, L, P, p, work)
        step, block = 1.0, -1
        for a in range(p):
            if z[a] <= 0:
                share = h[P[a]] / (h[P[a]] - z[a]) if h[P[a]] > z[a] else 0.0
                if share < step or block < 0:
                    step, block = share, a
        for a in range(p):
            h[P[a]] += step * (z[a] - h[P[a]])
        if block < 0:
            return p, nu
        h[P[block]] = 0.0
        p = _drop(G, h, L, P, p)


@njit(cache=True, nogil=True)
def _minimiser(q: Floats, on_simplex: bool, L: Floats, P: Indices, p: int, work: Floats) -> tuple[Floats, float]:
    """Solve G_PP z = q_P - nu 1 with 1'z = 1 (or nu = 0)."""
    a, b = work[0], work[1]
    for i in range(p):
        a[i], b[i] = q[P[i]], 1.0
        for k in range(i):
            a[i] -= L[i, k] * a[k]
            b[i] -= L[i, k] * b[k]
        a[i] /= L[i, i]
        b[i] /= L[i, i]
    nu = 0.0
    if on_simplex:
        nu = ((a[:p] * b[:p]).sum() - 1.0) / (b[:p] ** 2).sum()
    z = work[2]
    for i in range(p):
        z[i] = a[i] - nu * b[i]
    for i in range(p - 1, -1, -1):
        z[i] /= L[i, i]
        for k in range(i):
            z[k] -= L[i, k] * z[i]
    return z, nu


@njit(cache=True, nogil=True)
def _drop(G: Floats, h: Floats, L: Floats, P: Indices, p: int) -> int:
    """Drop the atoms with zero weight and factor again."""
    kept = 0
    for a in range(p):
        j = P[a]
        if h[j] > 0:
            if kept != a:
                L[kept, kept] = _append(G, L, P, kept, j)
            P[kept] = j
            kept += 1
        else:
            h[j] = 0.0
    return kept

"""MERIT: finds all anchors at once, by convex optimisation in memory linear in the number of columns.

    min over C of  ||X - X C||_F^2 + lam Phi_mu(C),   C >= 0, columns of C sum to one
    Phi_mu(C) = sum_n mu log( (1/N) sum_l exp(C_nl / mu) )      approximately the sum of the row maxima

Every column is written as a mixture of all columns, using few rows. A Frank-Wolfe step moves column l towards the unit
vector e_j, where j is the smallest entry of column l of the gradient

    G = 2 X'(X C - X) + lam P,    P_nl = exp(C_nl / mu) / sum_l exp(C_nl / mu).

So it adds at most one entry per column, and C stays sparse: this is the main idea of the paper. Where C is empty, all
entries of a row of P are equal, so P is stored as one number per row and a sparse matrix for the rest.

Source: Nguyen, Fu and Wu, "Memory-efficient convex optimization for self-dictionary separable nonnegative matrix
factorization: a Frank-Wolfe approach", IEEE TSP 2022, Algorithm 1; full squares, as its released code has them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.plain.counts import Floats, Ints
from cofactor.plain.simplex import mixtures
from cofactor.plain.spa import spa

MSR_SHARE = 1.5


def merit(
    X: ArrayLike, K: int, lam: float | None = None, mu: float = 1e-5, n_iter: int = 50
) -> tuple[Ints, sparse.csc_array]:
    """Return the positions (K,) of the anchors among the columns of X (M, N), best first, and C (N, N), sparse.

    Anchors are the rows of C with the largest entries. With `lam=None`, it is 1.5 times the mean squared residual of
    the mixtures of SPA's anchors. O(n_iter M N^2) time, O(n_iter N) memory in addition to one block of G at a time.

    >>> merit([[1.0, 0.5, 0.0, 0.7], [0.0, 0.5, 1.0, 0.3]], 2, lam=0.01)[0].tolist()
    [0, 2]
    """
    X = np.asarray(X, dtype=float)
    N = X.shape[1]
    lam = residual_of_spa(X, K) if lam is None else lam
    C = sparse.csc_array((N, N))
    for t in range(n_iter):
        U = sparse.csc_array((np.ones(N), (least_of_gradient(X, C, lam, mu), np.arange(N))), (N, N))
        step = 2 / (t + 2)
        C = (1 - step) * C + step * U
        C.eliminate_zeros()
    scores = C.max(axis=1).toarray().ravel()
    return np.argsort(-scores, kind="stable")[:K], C


def residual_of_spa(X: Floats, K: int) -> float:
    """Return 1.5 ||X - W H||_F^2 / (N - K), with W the anchors of SPA, as an estimate of the noise."""
    W = X[:, spa(X, K)]
    return float(MSR_SHARE * np.sum((X - W @ mixtures(W, X)) ** 2) / (X.shape[1] - K))


def least_of_gradient(X: Floats, C: sparse.csc_array, lam: float, mu: float, width: int = 500) -> Ints:
    """Return for every column of the gradient the row of its smallest entry, computing `width` columns at a time."""
    empty, P = row_softmax(C, mu)
    X_C = (C.T @ X.T).T
    best = []
    for first in range(0, X.shape[1], width):
        part = slice(first, first + width)
        G = 2 * X.T @ (X_C[:, part] - X[:, part]) + lam * (empty[:, None] + P[:, part].toarray())
        best.append(G.argmin(axis=0))
    return np.concatenate(best)


def row_softmax(C: sparse.csc_array, mu: float) -> tuple[Floats, sparse.csc_array]:
    """Return P in two parts: its value (N,) for empty entries of each row of C, and the excess at entries of C."""
    rows = C.tocsr()
    n, stored = rows.shape[1], np.diff(rows.indptr)
    owner = np.repeat(np.arange(n), stored)
    peak = rows.max(axis=1).toarray().ravel()
    filled, empty = np.exp((rows.data - peak[owner]) / mu), np.exp(-peak / mu)
    total = np.bincount(owner, filled, n) + (n - stored) * empty
    above = (filled - empty[owner]) / total[owner]
    return empty / total, sparse.csr_array((above, rows.indices, rows.indptr), rows.shape).tocsc()

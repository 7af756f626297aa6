"""Symmetric NMF: the nonnegative H with X = H H', and the confusion matrices obtained from it.

X holds the co-occurrences of all annotators, block (m, j) is R_mj = A_m D A_j'. So X = H H' with
H = [A_1 ; ... ; A_M] D^1/2 >= 0. Any square root U of X is a rotation of H: U = H Q'. Rotate it until nonnegative:

    H = max(U Q, 0)                        (13a)
    W S V' = svd(H'U),  Q = V W'           (13b, 13c)

Source: Ibrahim and Fu, ICML 2021, Eq. (12)-(13), Proposition 1.
"""

from __future__ import annotations

import numpy as np

from cofactor.plain.counts import Floats


def square_root(X: Floats, K: int) -> Floats:
    """Return U (M K, K) such that U U' is closest to the symmetric X, from the K largest eigenpairs. O((M K)^3)."""
    values, P = np.linalg.eigh(X)
    U = P[:, ::-1][:, :K] * np.sqrt(np.maximum(values[::-1][:K], 0.0))
    return U * np.where(U.sum(axis=0) < 0, -1.0, 1.0)


def symnmf(U: Floats, n_iter: int = 10_000, tol: float = 1e-10) -> tuple[Floats, Floats]:
    """Return the nonnegative H (M K, K) and the rotation Q (K, K), when Q has converged. O(M K^3) per round.

    >>> H = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]])
    >>> found = symnmf(square_root(H @ H.T, 2))[0]
    >>> (found @ found.T).round(6).tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 2.0], [1.0, 2.0, 5.0]]
    """
    Q = np.eye(U.shape[1])
    for _ in range(n_iter):
        H = np.maximum(U @ Q, 0.0)
        W, _, Vt = np.linalg.svd(H.T @ U)
        before, Q = Q, (W @ Vt).T
        if np.linalg.norm(Q - before) <= tol:
            break
    return np.maximum(U @ Q, 0.0), Q


def model_of_factor(H: Floats) -> tuple[Floats, Floats]:
    """Return prior (K,) and confusion matrices (M, K, K); in each block of K rows, column sums are sqrt(prior)."""
    K = H.shape[1]
    stacked = H.reshape(-1, K, K)
    prior = stacked.sum(axis=1).mean(axis=0) ** 2
    return prior / prior.sum(), stacked / stacked.sum(axis=1, keepdims=True)

"""The joint distribution of many discrete variables from its pairs: R_mj = A_m diag(lambda) A_j'.

CNMF-SPA computes the model from one tall matrix of pairs, with variables "left" in rows and "right" in columns:

    X = [R_mj] = [A_m ; ...] diag(lambda) [A_j ; ...]' = W H',   H >= 0

If some value of a right variable occurs almost only in one class, its column of X is proportional to a column of W: an
anchor, which SPA finds. CNMF-OPT fits all pairs at once, from any start:

    min sum_{m<j} n_mj KL(R_mj || A_m diag(lambda) A_j')

Each round divides every cell among the classes, as EM does with rows.

Source: Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP
2021, Section IV and Algorithm 1. Deviation: CNMF-OPT uses EM steps, which need no step size, where the paper
uses mirror descent; pairs are weighted by the number of rows in which they were observed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from cofactor.plain.counts import Floats, Pairs, blocks
from cofactor.plain.simplex import mixtures
from cofactor.plain.spa import spa


def cnmf_spa(R: Pairs, sizes: ArrayLike, K: int, left: Sequence[int]) -> tuple[Floats, Floats]:
    """Return prior (K,) and stacked conditionals (V, K) of K classes, from anchors among the values of "right".

    All pairs of a left and a right variable must be observed; K is at most the number of left values. O(V^2 K), and one
    least-squares problem per right value.
    """
    S = blocks(sizes)
    right = [j for j in range(len(S)) if j not in left]
    X = np.block([[R[m, j][0] for j in right] for m in left])
    length = X.sum(axis=0)
    seen = length > 0
    Y = X[:, seen] / length[seen]
    W = Y[:, spa(Y, K)]
    H = np.zeros((K, X.shape[1]))
    H[:, seen] = mixtures(W, Y) * length[seen]
    A = np.zeros((S[-1].stop, K))
    for m, rows in zip(left, _side_by_side(sizes, left), strict=True):
        A[S[m]] = W[rows] / W[rows].sum(axis=0)
    for j, columns in zip(right, _side_by_side(sizes, right), strict=True):
        A[S[j]] = (H[:, columns] / H[:, columns].sum(axis=1, keepdims=True)).T
    return H.sum(axis=1) / H.sum(), A


def _side_by_side(sizes: ArrayLike, chosen: Sequence[int]) -> list[slice]:
    """Return the places of the chosen variables where these alone are stacked."""
    return blocks([int(np.asarray(sizes)[m]) for m in chosen])


def cnmf_opt(R: Pairs, prior: Floats, A: Floats, sizes: ArrayLike, n_iter: int = 100) -> tuple[Floats, Floats]:
    """Return prior and stacked conditionals after `n_iter` rounds from a starting model. O(V^2 K) per round.

    Entries that are zero in the start stay zero.

    >>> R_01 = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> R = {(0, 1): (R_01, 100.0), (1, 0): (R_01.T, 100.0)}
    >>> start = np.array([[0.8, 0.3], [0.2, 0.7], [0.7, 0.2], [0.3, 0.8]])
    >>> prior, A = cnmf_opt(R, np.array([0.5, 0.5]), start, [2, 2])
    >>> (A[:2] * prior @ A[2:].T).round(2).tolist()
    [[0.4, 0.1], [0.1, 0.4]]
    """
    S = blocks(sizes)
    for _ in range(n_iter):
        T = np.zeros_like(A)
        for (m, j), (R_mj, n_mj) in R.items():  # both ways round
            M = np.maximum(A[S[m]] * prior @ A[S[j]].T, 1e-300)
            T[S[m]] += A[S[m]] * ((n_mj * R_mj / M) @ A[S[j]] * prior)
        prior, A = T.sum(axis=0) / T.sum(), T
        for block in S:
            A[block] = A[block] / A[block].sum(axis=0)
    return prior, A

"""Pairwise evidence: counts of how often two variables took each pair of values together.

    symbol   meaning                                                    shape
    codes    value of each variable in each row; -1: not observed       (S, N)
    I_n      number of values of variable n ("size")                    (N,)
    F        one-hot codes, the columns of all variables side by side   (S, V), V = sum of I_n
    C        counts of all pairs, C = F'F; block (m, j) is C_mj         (V, V)
    R_mj     joint frequencies, C_mj / n_mj                             (I_m, I_j)
    n_mj     rows in which both were observed

Such counts are the evidence in all four problems: labels of two workers, values of two variables, words of a document.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Pairs = dict[tuple[int, int], tuple[Floats, float]]  # (m, j): R_mj and n_mj, both ways round


def one_hot(codes: ArrayLike, sizes: ArrayLike) -> sparse.csr_array:
    """Return F (S, V): one if the variable of the column has its value in row s, else zero. O(S N)."""
    codes, first = np.asarray(codes), np.cumsum(sizes) - sizes
    s, n = np.nonzero(codes >= 0)
    return sparse.csr_array((np.ones(s.size), (s, first[n] + codes[s, n])), (len(codes), int(np.sum(sizes))))


def blocks(sizes: ArrayLike) -> list[slice]:
    """Return the slice of every variable among the V stacked values."""
    ends = np.cumsum(sizes)
    return [slice(int(end - size), int(end)) for end, size in zip(ends, np.asarray(sizes), strict=True)]


def pair_counts(F: sparse.csr_array) -> Floats:
    """Return C (V, V), the counts of all pairs of values at once. O(S N^2).

    >>> pair_counts(one_hot([[0, 1], [0, 0], [1, -1]], [2, 2])).astype(int).tolist()
    [[2, 0, 1, 1], [0, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]]
    """
    return np.asarray((F.T @ F).toarray())


def pair_frequencies(C: Floats, sizes: ArrayLike) -> Pairs:
    """Return R_mj and n_mj of every pair m != j that is observed together in some row."""
    S, found = blocks(sizes), {}
    for m in range(len(S)):
        for j in range(len(S)):
            n = float(C[S[m], S[j]].sum())
            if m != j and n > 0:
                found[m, j] = C[S[m], S[j]] / n, n
    return found

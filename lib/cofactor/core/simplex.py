"""The probability simplex: normalising onto it and projecting onto it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import numbers
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import njit
from cofactor.core.types import Floats


def normalize_blocks(stacked: ArrayLike, sizes: ArrayLike) -> Floats:
    """Scale every column of every block of rows to sum to one.

    Parameters
    ----------
    stacked : (I_1 + ... + I_N, F) array, nonnegative
        Blocks of rows, one block per variable.
    sizes : (N,) positive ints
        Rows of each block.

    Returns
    -------
    Array of the same shape. A column of a block that is all zero carries no evidence and becomes uniform.

    Cost: O(F sum(I_n)) time and memory.

    >>> normalize_blocks([[1.0, 0.0], [3.0, 0.0]], [2])
    array([[0.25, 0.5 ],
           [0.75, 0.5 ]])
    """
    stacked, sizes = np.asarray(stacked, dtype=np.float64), np.asarray(sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    totals = np.add.reduceat(stacked, starts, axis=0)
    empty = ~(totals > 0)
    found = stacked / np.repeat(np.where(empty, 1.0, totals), sizes, axis=0)
    if empty.any():
        found = np.where(np.repeat(empty, sizes, axis=0), np.repeat(1.0 / sizes, sizes)[:, None], found)
    return found


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
        V is not a matrix, is empty, or holds NaN or infinity.

    Cost: O(N K log K) time, O(N K) memory.

    Source: Held, Wolfe and Crowder, "Validation of subgradient optimization", 1974; sort-and-threshold form.

    >>> project_to_simplex([[0.5], [1.5]])
    array([[0.],
           [1.]])
    """
    points = numbers(V, "V")
    if points.ndim != 2 or points.size == 0 or not np.isfinite(points).all():
        raise CofactorError(f"expected a non-empty matrix of finite numbers, one point per column: {points.shape}")
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

    Entries at or below the threshold of those that are left are dropped until none is; O(K) memory-free passes, few in
    practice. Source: Michelot, "A finite algorithm for finding the projection of a point onto the canonical simplex
    of R^n", 1986.
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

"""The simplex {x >= 0, sum of x = 1}: the nearest point to a vector, and the nearest mixture of columns.

Source: Held, Wolfe and Crowder, "Validation of subgradient optimization", Mathematical Programming 1974 (projection).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from cofactor.plain.counts import Floats


def project_to_simplex(v: ArrayLike) -> Floats:
    """Return the point of the simplex nearest to v (K,): subtract a constant from all entries, and clip at zero.

    With sorted entries u_1 >= u_2 >= ..., the constant is (u_1 + ... + u_r - 1) / r, for the largest r such that u_r
    is larger. O(K log K).

    >>> project_to_simplex([0.8, 0.6, -1.0]).round(2).tolist()
    [0.6, 0.4, 0.0]
    """
    u = np.sort(np.asarray(v, dtype=float))[::-1]
    lowered = (np.cumsum(u) - 1) / np.arange(1, len(u) + 1)
    return np.maximum(v - lowered[np.flatnonzero(u > lowered)[-1]], 0.0)


def mixtures(W: Floats, X: Floats, weight: float = 1e4) -> Floats:
    """Return H (K, N), with columns on the simplex, that minimises ||W H - X||_F.

    Nonnegative least squares, with an extra row of ones of large weight that makes the columns sum to one.
    """
    heavy = weight * np.abs(W).max()
    W1 = np.vstack([W, np.full((1, W.shape[1]), heavy)])
    X1 = np.vstack([X, np.full((1, X.shape[1]), heavy)])
    return np.array([nnls(W1, x)[0] for x in X1.T]).T

"""Test whether H >= 0 is sufficiently scattered; then H is the unique factor of X = H H', up to column order.

Let T = {x : H x >= 0, sum of x = 1}. The more the rows of H are spread, the smaller T is. Condition 1 of the
definition says that no point of T is longer than the unit vectors, which are always in T. The longest is a vertex.
Condition 2 says that the unit vectors are the only orthogonal set of vertices of this length.

Source: Ibrahim and Fu, ICML 2021, Definition 1. Vertices are found by trying all sets of K - 1 rows, for small H.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from cofactor.plain.counts import Floats


def vertices(H: ArrayLike, slack: float = 1e-9) -> Floats:
    """Return the vertices (V, K) of T, at each of which K - 1 rows of H (J, K) are zero. O(J^(K-1) K^3).

    If the rows of H do not surround the centre, T is unbounded, and its vertices do not determine it.
    """
    H = np.asarray(H, dtype=float)
    K = H.shape[1]
    found: list[Floats] = []
    for chosen in combinations(range(len(H)), K - 1):
        walls = np.vstack([H[list(chosen)], np.ones(K)])
        if abs(np.linalg.det(walls)) < 1e-12:
            continue
        x = np.linalg.solve(walls, np.eye(K)[-1])
        inside = (slack * max(1.0, float(np.linalg.norm(x))) + H @ x >= 0).all()
        if inside and not any(np.allclose(x, other) for other in found):
            found.append(x)
    return np.array(found)


def is_scattered(H: ArrayLike, tol: float = 1e-6) -> bool:
    """Return whether H is certainly scattered: all vertices of T except the unit vectors have norm below one.

    >>> is_scattered([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), is_scattered([[4, 1, 1], [1, 4, 1], [1, 1, 4]])
    (True, False)
    """
    found = vertices(H)
    unit = np.abs(found - found.round()).max(axis=1) <= tol
    return bool((np.linalg.norm(found[~unit], axis=1) < 1 - tol).all())

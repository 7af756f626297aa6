"""Whether a factor H >= 0 is sufficiently scattered: then X = H H' has one such H of K columns, but for their order.

Look at T = {x : H x >= 0, sum of x = 1}. The more the rows of H are spread, the smaller T is. Condition 1 of the
definition says that no point of T is longer than the unit vectors, which are always in it. The longest is a vertex.
Condition 2 says that only the unit vectors are that long, as far as they are at right angles.

Source: Ibrahim and Fu, ICML 2021, Definition 1. The vertices by trying all sets of K - 1 rows: for small H.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from cofactor.plain.counts import Floats


def vertices(H: ArrayLike, slack: float = 1e-9) -> Floats:
    """Return the vertices (V, K) of T: each lies on the walls of K - 1 rows of H (J, K). O(J^(K-1) K^3).

    Where the rows of H do not surround the middle, T has no end, and its vertices do not tell how far it goes.
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
    """Return whether H is scattered beyond doubt: no vertex of T but the unit vectors is as long as one.

    >>> is_scattered([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), is_scattered([[4, 1, 1], [1, 4, 1], [1, 1, 4]])
    (True, False)
    """
    found = vertices(H)
    unit = np.abs(found - found.round()).max(axis=1) <= tol
    return bool((np.linalg.norm(found[~unit], axis=1) < 1 - tol).all())

"""The successive projection algorithm: finds the columns of which all other columns are mixtures.

X = W H, columns of H on the simplex, W among the columns of X. A mixture is at most as long as the longest of its
components. So the longest column is in W; all columns are projected onto its orthogonal complement, and the longest
residual is the next.

Source: Gillis and Vavasis, "Fast and robust recursive algorithms for separable nonnegative matrix factorization",
IEEE TPAMI 2014, Algorithm 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cofactor.plain.counts import Floats, Ints


def spa(X: ArrayLike, K: int) -> Ints:
    """Return the positions (K,) of the anchors among the columns of X (M, N), in the order found. O(M N K).

    >>> spa([[1.0, 0.0, 0.5], [0.0, 2.0, 1.0]], 2).tolist()
    [1, 0]
    """
    R: Floats = np.array(X, dtype=float)
    anchors = []
    for _ in range(K):
        j = int(np.argmax((R**2).sum(axis=0)))
        q = R[:, j] / np.linalg.norm(R[:, j])
        R = R - np.outer(q, q @ R)  # (I - q q') R
        anchors.append(j)
    return np.array(anchors)

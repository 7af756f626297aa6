"""From coefficients to anchors: how many there are, which rows they are, and columns that are the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from cofactor.core.spa import spa
from cofactor.separable.base import Floats, Ints

SAME = 1e-9  # columns no further apart than this share of the largest entry are one


def suggest_n_anchors(scores: ArrayLike) -> tuple[int, float]:
    """Suggest how many anchors there are: where the sorted row scores drop most.

    With the scores falling, rho_1 >= rho_2 >= ..., the suggestion is the k among the first half of all that maximises
    rho_k - rho_{k+1}.

    Parameters
    ----------
    scores : (N,) array

    Returns
    -------
    k : int
    margin : float in [0, 1]
        By how much the largest drop exceeds the second largest, as a share of it: near zero, another k is as good.

    Cost
    ----
    O(N log N).

    Source
    ------
    No rule is given in the paper, which takes K as known. A fixed threshold on the scores fails where K is large.

    Examples
    --------
    >>> suggest_n_anchors([0.9, 0.1, 0.8, 0.2, 0.1])
    (2, 0.8333333333333334)
    """
    rho = -np.sort(-np.asarray(scores, dtype=np.float64))
    drops = -np.diff(rho)[: max(len(rho) // 2, 1)]
    if not drops.size or drops.max() <= 0:
        return 1, 0.0
    k = int(np.argmax(drops))
    second = np.delete(drops, k).max(initial=0.0)
    return k + 1, float((drops[k] - second) / drops[k])


def top_rows(scores: Floats, n_anchors: int) -> Ints:
    """Return the rows of the largest scores, falling; the lower index first on ties."""
    return np.argsort(-scores, kind="stable")[:n_anchors]


def spread_rows(X: Floats, scores: Floats, n_anchors: int, n_listed: int) -> Ints:
    """Let successive projection choose among the `n_listed` rows of largest scores; by falling score."""
    listed = np.sort(top_rows(scores, max(n_listed, n_anchors)))
    chosen = listed[spa(X[:, listed], n_anchors, restart=True)]
    return chosen[top_rows(scores[chosen], n_anchors)]


def same_columns(X: Floats) -> tuple[Ints, list[Ints]]:
    """Find columns that are equal up to rounding, and chains of such.

    Returns
    -------
    representative : (N,) ints
        Lowest index of each column's group; its own where it has none.
    groups : list of int arrays
        Groups of two and more, each rising.

    Notes
    -----
    Columns are sorted along one generic direction v; equal ones differ by at most SAME max|X| ||v||_1 there, so that
    only neighbours are compared: O(M N + N log N) unless many columns meet on v without being equal.
    """
    N = X.shape[1]
    limit = SAME * np.abs(X).max()
    v = np.sin(np.arange(1, len(X) + 1))  # any direction without structure will do
    along = v @ X
    order = np.argsort(along, kind="stable")
    reach = np.searchsorted(along[order], along[order] + limit * np.abs(v).sum(), side="right")
    pairs: list[tuple[int, int]] = []
    for start in np.flatnonzero(reach > np.arange(N) + 1):
        near = order[start + 1 : reach[start]]
        equal = near[(np.abs(X[:, near] - X[:, [order[start]]]) <= limit).all(axis=0)]
        pairs += [(int(order[start]), int(other)) for other in equal]
    left, right = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    graph = sparse.coo_array((np.ones(len(pairs)), (left, right)), shape=(N, N))
    _, label = connected_components(graph, directed=False)
    first = np.full(N, N)
    np.minimum.at(first, label, np.arange(N))
    representative = first[label]
    repeated = np.flatnonzero(np.bincount(label) > 1)
    groups = sorted((np.flatnonzero(label == g) for g in repeated), key=lambda group: int(group[0]))
    return representative, groups

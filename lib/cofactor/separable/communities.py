"""Communities that overlap: from the edges of a graph to how far every node belongs to each.

Rows of the leading eigenvectors V of the adjacency matrix are mixtures of the rows of pure nodes. An anchor finder
picks these among the nodes that carry nearly all of the energy, and every row, written in the pure ones, gives the
memberships of its node.

Source: Nguyen, Fu and Wu on MERIT, Sec. V-C and Table IV.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from cofactor.core.checks import is_number
from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats, Indices, Seed
from cofactor.separable.base import AnchorFit, Matrix
from cofactor.separable.graphs import (
    adjacency_of,
    degree_scaled_rows,
    geo_nmf,
    leading_eigenvectors,
    rows_from_pure,
    spa_on_rows,
)
from cofactor.separable.methods import AnchorMethod, Finder, find_anchors

Clip = Literal["mean", "floor", "zero"]

LEAST_MEMBERSHIP = 1e-12  # a membership below this is rounding
SPOC_FLOOR = np.finfo(np.float64).eps  # what SPOC puts in place of less than NOISE
NOISE = 1e-13  # SPOC makes shares of what is left of a row, however small: digits of the processor must not be among it
LIKE = 1 - 1e-9  # rows of nodes in the same position differ by rounding only

CLIPS: dict[str, Clip] = {"SPOC": "floor", "GeoNMF": "zero"}


@dataclass(frozen=True, eq=False)
class Communities:
    """Result of `communities`: how far every node belongs to each community, and the pure nodes of the communities.

    Attributes
    ----------
    memberships : (N, K) array
        Nonnegative, rows sum to one (with clip="zero": or to zero, where nothing is known of a node).
    pure : (K,) nodes
        Node k belongs to community k alone.
    kept : nodes
        Those among which pure nodes were looked for, rising.
    fit : AnchorFit
        What the method returned; its columns are the nodes of `kept`.
    """

    memberships: Floats = field(repr=False)
    pure: Indices
    kept: Indices = field(repr=False)
    fit: AnchorFit = field(repr=False)


def communities(
    adjacency: Matrix,
    n_communities: int,
    method: str | AnchorMethod | Finder = "MERIT",
    energy: float = 0.99,
    clip: Clip | None = None,
    random_state: Seed = None,
) -> Communities:
    """Find overlapping communities of a graph.

        A ~ V E V',   V ~ Theta V_pure,   Theta >= 0 with rows that sum to one

    Parameters
    ----------
    adjacency : (N, N) array or scipy.sparse matrix
        Symmetric, nonnegative, diagonal zero.
    n_communities : int in [1, N]
        K.
    method : str, estimator or callable
        "MERIT", "SPA", "SPOC", "GeoNMF" or another name in `METHODS` that takes points, an estimator of theirs with
        settings of your own, or any function that takes a (K, n) matrix, one node per column, and K, and returns an
        `AnchorFit`.
    energy : float in (0, 1]
        Pure nodes are looked for among the longest rows of V, which together have this share of all squared lengths;
        nodes as long as the last of these are kept too. Not used by SPOC and GeoNMF.
    clip : "mean", "floor" or "zero"
        What becomes of V V_pure^-1, which has negative entries, before rows are divided by their sums: negative entries
        become zero, rows without any entry the mean of all others ("mean", default) or zero ("zero", as GeoNMF);
        or entries below 1e-13 become 2.2e-16 ("floor", as SPOC). This decides more of the rank correlation than the
        choice of pure nodes does: on DBLP2 .2931 and .2126 for "mean" and "floor" with the same pure nodes.
    random_state : int, Generator or None
        Of the k-means of GeoNMF; no other method is random.

    Raises
    ------
    CofactorError
        The adjacency matrix is none (entries are named), an argument is out of range, there is no such method, or the
        pure nodes found do not span all communities.

    Cost: That of K eigenvectors of a sparse matrix, and of the method on a K x n matrix. Nothing is N x N.

    Source: Nguyen, Fu and Wu, Sec. V-C. Deviations, all as in the released code: memberships by the inverse of V_pure
    instead of simplex least squares (whose rank correlation is lower by .02 to .12), MERIT started at zero. Own: what
    SPOC's floor replaces begins at 1e-13, since nodes far from all communities have rows of rounding errors.

    Examples
    --------
    >>> two_triangles = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    >>> found = communities(two_triangles, 2, method="SPA")
    >>> found.memberships[found.pure].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    A = adjacency_of(adjacency)
    if not (is_number(energy) and 0 < energy <= 1):
        raise CofactorError(f"energy={energy!r} must be above 0 and at most 1")
    clip = clip or CLIPS.get(method if isinstance(method, str) else "", "mean")
    if clip not in ("mean", "floor", "zero"):
        raise CofactorError(f"clip={clip!r}: choose mean, floor or zero")
    everyone = np.arange(A.shape[0])
    if method == "GeoNMF":
        fit = geo_nmf(A, n_communities, random_state)
        Z, degrees = degree_scaled_rows(A, n_communities)
        scale = np.sqrt(degrees)[:, None] / np.sqrt(degrees[fit.anchors])
        return Communities(_clipped(rows_from_pure(Z, fit.anchors) * scale, clip), fit.anchors, everyone, fit)
    if method == "SPOC":
        _, V = leading_eigenvectors(A, n_communities, "LA")
        kept, fit = everyone, spa_on_rows(V, n_communities)
    else:
        _, V = leading_eigenvectors(A, n_communities, "LM")
        kept = energetic_rows(V, energy)
        fit = find_anchors(method, V[kept].T, n_communities, random_state, ", ".join(CLIPS))
    pure = kept[fit.anchors]
    return Communities(_clipped(rows_from_pure(V, pure), clip), pure, kept, fit)


def energetic_rows(V: Floats, energy: float) -> Indices:
    """Nodes of the longest rows, up to the first at which the squared lengths exceed this share of their sum."""
    squares = np.einsum("nk,nk->n", V, V)
    falling = -np.sort(-squares)
    total = np.cumsum(falling)
    last = min(int(np.searchsorted(total, energy * total[-1], side="right")), len(total) - 1)
    return np.flatnonzero(squares >= LIKE * falling[last])


def _clipped(theta: Floats, clip: Clip) -> Floats:
    """Make rows nonnegative with sum one, see `communities`."""
    theta = (
        np.where(theta < NOISE, SPOC_FLOOR, theta)
        if clip == "floor"
        else np.where(theta < LEAST_MEMBERSHIP, 0.0, theta)
    )
    sums = theta.sum(axis=1, keepdims=True)
    theta = theta / np.where(sums > 0, sums, 1.0)
    unknown = sums[:, 0] == 0
    if clip == "mean" and unknown.any():
        theta[unknown] = theta[~unknown].mean(axis=0)
    return theta

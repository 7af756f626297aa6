"""Prepare X for a finder of anchors: drop zero columns, merge equal ones, scale by a power of two, project rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cofactor.core.checks import rng_of
from cofactor.core.lazy import csgraph
from cofactor.core.types import Floats, Indices, Seed
from cofactor.separable.base import columns_kept

DIMENSION = 1000  # of the random projection, as in Arora et al.
DENSITY = 1 / 3  # of its entries that are not zero: -1, 0, 1 with probabilities 1/6, 2/3, 1/6
SAME_COLUMN = 1e-9  # columns no further apart than this share of the largest entry are one


@dataclass(frozen=True)
class Columns:
    """The columns that take part: not zero, one of each group, divided by a power of two near the largest entry.

    The division is exact and keeps squares within the range of numbers.
    """

    points: Floats
    exponent: int
    used: Indices
    owner: Indices  # of every column of X, the position among `used` of what represents it; -1 for zero columns
    groups: list[Indices]

    def scaled(self, square: float) -> float:
        """Convert a squared quantity, such as lam, from the units of X to those of the scaled `points`."""
        return float(np.ldexp(square, -2 * self.exponent))

    def expand_scores(self, scores: Floats) -> Floats:
        """Return the (N,) scores of all columns of X from those of the columns used; zero for columns left out."""
        whole = np.zeros(self.owner.size)
        whole[self.used] = scores
        return whole

    def expand(self, C: sparse.csc_array) -> sparse.csc_array:
        """Return the (N, N) coefficients of all columns of X; a merged column gets those of its representative."""
        N, n = self.owner.size, self.used.size
        if n == N:
            return C
        indptr = np.append(C.indptr, C.indptr[-1])  # one more column, empty: where the owner is -1
        return sparse.csc_array((C.data, self.used[C.indices], indptr), shape=(N, n + 1))[:, self.owner]

    def shrink(self, C: sparse.csc_array) -> sparse.csc_array:
        """Return given (N, N) coefficients summed onto the (n, n) columns that are used."""
        N, n = self.owner.size, self.used.size
        seen = np.flatnonzero(self.owner >= 0)
        gather = sparse.csc_array((np.ones(seen.size), (self.owner[seen], seen)), shape=(n, N))
        return sparse.csc_array((gather @ C)[:, self.used])


def columns_used(X: Floats, merge: bool = False, left_out: Indices | None = None) -> Columns:
    """Leave out columns that are zero (with a warning), those named and, with `merge`, all but one of equal ones."""
    kept = columns_kept(X) if left_out is None else np.setdiff1d(columns_kept(X), left_out)
    representative, groups = same_columns(X[:, kept]) if merge else (np.arange(kept.size), [])
    used = np.unique(kept[representative])
    owner = np.full(X.shape[1], -1)
    owner[kept] = np.searchsorted(used, kept[representative])
    exponent = int(np.frexp(max(X.max(), -X.min()))[1])
    points = np.ldexp(X.T[used], -exponent).T  # rows of the transpose lie together
    return Columns(points, exponent, used, owner, [kept[group] for group in groups])


def same_columns(X: Floats) -> tuple[Indices, list[Indices]]:
    """Find columns that are equal up to rounding, and chains of such.

    Returns
    -------
    representative : (N,) ints
        Lowest index of each column's group; its own where it has none.
    groups : list of int arrays
        Groups of two and more, each rising.

    Columns are sorted along one generic direction v; equal ones differ by at most SAME_COLUMN max|X| ||v||_1 there,
    so that only neighbours are compared: O(M N + N log N) unless many columns meet on v without being equal.
    """
    N = X.shape[1]
    limit = SAME_COLUMN * np.abs(X).max()
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
    _, label = csgraph.connected_components(graph, directed=False)
    first = np.full(N, N)
    np.minimum.at(first, label, np.arange(N))
    representative = first[label]
    repeated = np.flatnonzero(np.bincount(label) > 1)
    groups = sorted((np.flatnonzero(label == g) for g in repeated), key=lambda group: int(group[0]))
    return representative, groups


def random_projection(n_rows: int, random_state: Seed) -> sparse.csr_array:
    """Return a (1000, n_rows) matrix of -s, 0, s with probabilities 1/6, 2/3, 1/6 that keeps lengths on average.

    The identity where there are at most 1000 rows. Source: Achlioptas, "Database-friendly random projections", 2003.
    """
    if n_rows <= DIMENSION:
        return sparse.csr_array(sparse.eye_array(n_rows))
    from sklearn.random_projection import SparseRandomProjection  # here: slow to import, and rarely needed

    seed = int(rng_of(random_state).integers(2**31))
    projection = SparseRandomProjection(DIMENSION, density=DENSITY, random_state=seed)
    return sparse.csr_array(projection.fit(np.zeros((1, n_rows))).components_)

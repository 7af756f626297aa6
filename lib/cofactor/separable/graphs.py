"""Overlapping communities of a graph: pure nodes, and the memberships of all nodes.

Model (mixed-membership stochastic block model): A ~ rho Theta B Theta' with the rows of Theta on the simplex. Rows of
the leading eigenvectors are then mixtures of the rows of pure nodes, which belong to one community each. An anchor
finder selects the pure nodes among the nodes with nearly all of the energy, and the coefficients of every row with
respect to the pure rows are the memberships of its node.

    symbol   meaning                                             shape
    A        adjacency matrix, symmetric                         (N, N), sparse
    V, E     leading eigenvectors and eigenvalues of A           (N, K), (K,)
    d        degrees, row sums of A                              (N,)
    Z        D^-1/2 V |E|^1/2, the points of GeoNMF              (N, K)

Sources: Nguyen, Fu and Wu on MERIT, Sec. V-C and Table IV; Panov, Slavnov and Ushakov, "Consistent estimation of mixed
memberships with successive projections", Complex Networks 2017 (SPOC); Mao, Sarkar and Chakrabarti, "On mixed
memberships and symmetric nonnegative matrix factorizations", ICML 2017 (GeoNMF).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.checks import added_up, is_number, is_whole, numbers, rng_of, sound_places
from cofactor.core.errors import CofactorError, listing
from cofactor.core.estimator import Result
from cofactor.core.lazy import sparse_linalg
from cofactor.core.types import Floats, Indices, Seed
from cofactor.separable.columns import ZERO, AnchorFit, Matrix, dense_points, spa_fit
from cofactor.separable.methods import AnchorMethod, Finder, find_anchors

Clip = Literal["mean", "floor", "zero"]

FIRST_SHARE, SHARE_STEP = 0.25, 0.025  # rows longer than (1 - share) of the longest may be pure; widened by steps
ROUND, ROUND_DENSE, DENSE_DEGREE = 2.0, 1.5, 250  # largest condition number of pure rows; of graphs of high degree
RUNS = 20  # of k-means
DIGITS = 9  # rows equal up to these are the same point
TOP = 0.95  # quantile of degree-weighted lengths above which a node of a cluster may represent it
DENSE_NODES = 80  # nodes up to which all eigenvectors are computed
LEAST_MEMBERSHIP = 1e-12  # a membership below this is rounding
SPOC_FLOOR = np.finfo(np.float64).eps  # what SPOC puts in place of less than NOISE
NOISE = 1e-13  # SPOC makes shares of what is left of a row, however small: digits of the processor must not be among it
LIKE = 1 - 1e-9  # rows of nodes in the same position differ by rounding only

CLIPS: dict[str, Clip] = {"SPOC": "floor", "GeoNMF": "zero"}


@dataclass(frozen=True, eq=False)
class Communities:
    """Result of `communities`: the memberships of all nodes, and the pure nodes of the communities.

    Attributes
    ----------
    memberships : (N, K) array
        Nonnegative; rows sum to one (with clip="zero", rows of nodes without information are zero).
    pure : (K,) nodes
        The k-th of them belongs to community k only.
    kept : nodes
        The nodes among which pure nodes were searched, in ascending order.
    fit : AnchorFit
        The result of the method; its columns are the nodes in `kept`.
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
        "MERIT", "SPA", "SPOC", "GeoNMF" or another method for points in `METHODS`; an estimator with custom settings;
        or a function that takes a (K, n) matrix (one node per column) and K, and returns an `AnchorFit`.
    energy : float in (0, 1]
        Pure nodes are searched among the longest rows of V that together have this fraction of the squared lengths;
        nodes as long as the last of these are included. Not used by SPOC and GeoNMF.
    clip : "mean", "floor" or "zero"
        Treatment of the negative entries of V V_pure^-1 before rows are divided by their sums. "mean" (default) and
        "zero" (as GeoNMF) set negative entries to zero, and rows without positive entries to the mean of all others or
        to zero; "floor" (as SPOC) replaces entries below 1e-13 with 2.2e-16. This affects the rank correlation more
        than the choice of pure nodes: on DBLP2, it is .2931 for "mean" and .2126 for "floor" with the same pure nodes.
    random_state : int, Generator or None
        Used by the k-means of GeoNMF; no other method is random.

    Raises
    ------
    CofactorError
        The adjacency matrix is invalid (its entries are named), an argument is out of range, the method is unknown, or
        the pure nodes do not span all communities.

    Cost: that of K eigenvectors of a sparse matrix, and of the method on a K x n matrix. No N x N matrix is formed.

    Source: Nguyen, Fu and Wu, Sec. V-C. Deviations, all as in the released code: memberships by the inverse of V_pure
    instead of simplex least squares (whose rank correlation is lower by .02 to .12), and MERIT starts at zero. Own
    deviation: SPOC's floor replaces entries below 1e-13, because rows of nodes far from all communities are rounding
    errors.

    Examples
    --------
    >>> two_triangles = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    >>> found = communities(two_triangles, 2, method="SPA")
    >>> found.memberships[found.pure].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    A = adjacency_of(adjacency)
    if not (is_number(energy) and 0 < energy <= 1):
        raise CofactorError(f"energy={energy!r}: must be above 0 and at most 1")
    clip = clip or CLIPS.get(method if isinstance(method, str) else "", "mean")
    if clip not in ("mean", "floor", "zero"):
        raise CofactorError(f"clip={clip!r}: must be 'mean', 'floor' or 'zero'")
    everyone = np.arange(A.shape[0])
    if method == "GeoNMF":
        Z, degrees = degree_scaled_rows(A, n_communities)
        fit = pure_by_clusters(Z, degrees, random_state)
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
    """Return the nodes with the longest rows that together exceed this fraction of the sum of squared lengths."""
    squares = np.einsum("nk,nk->n", V, V)
    falling = -np.sort(-squares)
    total = np.cumsum(falling)
    last = min(int(np.searchsorted(total, energy * total[-1], side="right")), len(total) - 1)
    return np.flatnonzero(squares >= LIKE * falling[last])


def _clipped(theta: Floats, clip: Clip) -> Floats:
    """Make rows nonnegative with sum one, as described in `communities`."""
    least, below = (NOISE, SPOC_FLOOR) if clip == "floor" else (LEAST_MEMBERSHIP, 0.0)
    theta = np.where(theta < least, below, theta)
    sums = theta.sum(axis=1, keepdims=True)
    theta = theta / np.where(sums > 0, sums, 1.0)
    unknown = sums[:, 0] == 0
    if clip == "mean" and unknown.any():
        theta[unknown] = theta[~unknown].mean(axis=0)
    return theta


# ---- pure nodes: SPOC and GeoNMF ----


def spoc(A: Matrix, n_anchors: int) -> AnchorFit:
    """Find pure nodes by successive projection on the rows of the leading eigenvectors.

    Parameters
    ----------
    A : (N, N) array or scipy.sparse matrix
        Symmetric adjacency matrix, nonnegative, diagonal zero.
    n_anchors : int in [1, N]
        Number of communities.

    Anchors are nodes, in the order found. Raises a CofactorError if A is not an adjacency matrix (its entries are
    named) or has no edge, or `n_anchors` is out of range. Cost: that of K eigenvectors of a sparse matrix, and O(N K^2)
    for the projection. Source: Panov et al., Algorithm 1, with the eigenvectors of the largest eigenvalues, as in the
    released code.

    Examples
    --------
    >>> spoc(np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3)), 2).anchors // 3  # one in each of two triangles
    array([0, 1])
    """
    _, U = leading_eigenvectors(adjacency_of(A), n_anchors, "LA")
    return spa_on_rows(U, n_anchors)


def geo_nmf(A: Matrix, n_anchors: int, random_state: Seed = None) -> AnchorFit:
    """Find pure nodes by clustering the longest rows of the degree-scaled eigenvectors.

    The rows of Z = D^-1/2 V |E|^1/2 with ||z_i||^2 > (1 - s) max ||z||^2 are clustered by k-means into K clusters. From
    each cluster, the node with the smallest d_i ||z_i|| above the 95 % quantile is taken. s starts at 0.25 and is
    increased until the condition number of the K rows is below 2 (1.5 in graphs with mean degree 250 or more).

    Parameters, errors and cost are those of `spoc`; `random_state` is used by k-means, with the best of 20 starts.
    Anchors are nodes, by decreasing score d_i ||z_i||; if no s gives a small condition number, the rows with the
    smallest one are returned.

    Deviations: the released code compares with a variable that it never updates, and so keeps the last of 20 runs of
    k-means instead of the best. Degrees are those of the whole graph; the random split of nodes in the paper's analysis
    is left out, as in the released code.

    Examples
    --------
    >>> np.sort(geo_nmf(np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3)), 2, random_state=0).anchors // 3)
    array([0, 1])
    """
    return pure_by_clusters(*degree_scaled_rows(adjacency_of(A), n_anchors), random_state)


def pure_by_clusters(Z: Floats, degrees: Floats, random_state: Seed) -> AnchorFit:
    """Find pure nodes from the rows of Z (N, K) and the degrees; see `geo_nmf`."""
    from sklearn.cluster import KMeans  # here: slow to import

    n_anchors = Z.shape[1]
    squares = np.einsum("nk,nk->n", Z, Z)
    unit = (Z / np.sqrt(squares.max())).round(DIGITS)
    weights = degrees * np.sqrt(squares)
    limit = ROUND_DENSE if degrees.mean() >= DENSE_DEGREE else ROUND
    seed = int(rng_of(random_state).integers(2**31))
    best, condition, last = None, np.inf, 0
    for trimmed in np.arange(FIRST_SHARE, 1.0, SHARE_STEP):
        near = np.flatnonzero(squares > (1 - trimmed) * squares.max())
        if len(near) == last or len(np.unique(unit[near], axis=0)) < n_anchors:
            continue
        last = len(near)
        clusters = KMeans(n_anchors, n_init=RUNS, random_state=seed).fit_predict(Z[near])
        found = np.array([_representative(near[clusters == k], weights) for k in np.unique(clusters)])
        if len(found) == n_anchors and np.linalg.cond(Z[found]) < condition:
            best, condition = found, float(np.linalg.cond(Z[found]))
        if condition < limit:
            break
    if best is None:
        raise CofactorError(
            f"GeoNMF cannot find {n_anchors} nodes that are far from one another: choose fewer communities"
        )
    anchors = best[np.argsort(-weights[best], kind="stable")]
    scores = np.zeros(len(weights))
    scores[anchors] = weights[anchors]
    reason = f"pure rows of condition number {condition:.2f}"
    return AnchorFit(anchors, scores, None, Result(np.array([condition]), 1, condition < limit, reason))


def _representative(cluster: Indices, weights: Floats) -> int:
    heavy = cluster[weights[cluster] >= np.quantile(weights[cluster], TOP, method="hazen")]
    return int(heavy[np.argmin(weights[heavy])])


def degree_scaled_rows(A: sparse.csr_array, n_vectors: int) -> tuple[Floats, Floats]:
    """Return Z, with zero rows for isolated nodes, and the degrees."""
    values, V = leading_eigenvectors(A, n_vectors, "LM")
    degrees = A.sum(axis=0)
    return V * np.sqrt(np.abs(values)) / np.sqrt(np.where(degrees > 0, degrees, 1.0))[:, None], degrees


def spa_on_rows(V: Floats, n_anchors: int) -> AnchorFit:
    """Run SPA on the nonzero rows of V; nodes that occur in no leading eigenvector have zero rows."""
    lengths = np.linalg.norm(V, axis=1)
    nonzero = np.flatnonzero(lengths > ZERO * lengths.max())
    fit = spa_fit(V[nonzero].T, n_anchors)
    scores = np.zeros(len(V))
    scores[nonzero] = fit.scores
    return AnchorFit(nonzero[fit.anchors], scores, None, fit.result)


def leading_eigenvectors(A: sparse.csr_array, n_vectors: int, which: Literal["LM", "LA"]) -> tuple[Floats, Floats]:
    """Return the eigenvalues of largest magnitude ("LM") or value ("LA"), and their eigenvectors (N, K).

    The result is deterministic: the iteration always starts at the same vector, and equivalent nodes have identical
    rows.
    """
    n_nodes = A.shape[0]
    if not (is_whole(n_vectors) and 1 <= n_vectors <= n_nodes):
        raise CofactorError(f"{n_vectors!r} communities in a graph of {n_nodes} nodes: choose 1 to {n_nodes}")
    if n_nodes <= max(DENSE_NODES, 2 * n_vectors):
        values, vectors = np.linalg.eigh(A.toarray())
        first = np.argsort(-(np.abs(values) if which == "LM" else values), kind="stable")[:n_vectors]
        return values[first], _of_first_alike(A, vectors[:, first])
    values, vectors = sparse_linalg.eigsh(A, n_vectors, which=which, v0=np.linspace(1.0, 2.0, n_nodes))
    return values, _of_first_alike(A, vectors)


def _of_first_alike(A: sparse.csr_array, V: Floats) -> Floats:
    """Give nodes with the same neighbours, adjacent or not, the row of the first of them.

    Their rows differ only by rounding, so a method that takes the best of them would depend on the processor.
    Eigenvectors that distinguish the ends of an edge, as those of a negative eigenvalue may, are not changed.
    """
    for with_itself in (A, sparse.csr_array(A + sparse.eye_array(A.shape[0]))):
        met = dict[tuple[bytes, bytes], int]()
        rows = (slice(*ends) for ends in pairwise(with_itself.indptr.tolist()))
        keys = ((with_itself.indices[row].tobytes(), with_itself.data[row].tobytes()) for row in rows)
        first = np.array([met.setdefault(key, node) for node, key in enumerate(keys)])
        alike = np.abs(V[first] - V).max(axis=1) <= 10.0**-DIGITS * np.abs(V).max()
        V = np.where(alike[:, None], V[first], V)
    return V


def adjacency_of(A: Matrix) -> sparse.csr_array:
    """Check an adjacency matrix and return it as a sparse matrix of floats; errors name the entries."""
    given = sound_places(A, "the adjacency matrix") if sparse.issparse(A) else numbers(A, "the adjacency matrix", 2)
    matrix = added_up(sparse.csr_array(given, dtype=np.float64))
    if matrix.shape[0] != matrix.shape[1]:
        raise CofactorError(f"the adjacency matrix must be square, got shape {matrix.shape}")
    entries = matrix.tocoo()
    _refuse(entries, ~(np.isfinite(entries.data) & (entries.data >= 0)), "are negative or not finite")
    loops = (entries.row == entries.col) & (entries.data > 0)
    _refuse(entries, loops, "connect a node with itself: set the diagonal to zero")
    one_way = abs(matrix - matrix.T).tocoo()
    _refuse(one_way, one_way.data > 0, "differ from those of the transpose: add A and its transpose")
    if not matrix.count_nonzero():
        raise CofactorError("the graph has no edges, so it has no communities")
    return matrix


def _refuse(entries: sparse.coo_array, bad: NDArray[np.bool_], why: str) -> None:
    if bad.any():
        places = zip(entries.row[bad].tolist(), entries.col[bad].tolist(), strict=True)
        raise CofactorError(f"entries {listing(places)} of the adjacency matrix {why}")


def rows_from_pure(V: Floats, pure: ArrayLike) -> Floats:
    """Return the coefficients of every row of V with respect to the rows of pure nodes, V V_pure^-1."""
    corners = V[np.asarray(pure)]
    if np.linalg.matrix_rank(corners) < len(corners):
        raise CofactorError(
            f"the rows of the pure nodes {listing(np.asarray(pure).tolist())} are linearly dependent: choose fewer "
            "communities"
        )
    return np.linalg.solve(corners.T, V.T).T


@dataclass(eq=False, repr=False)
class GraphMethod(AnchorMethod):
    """Base class of finders of pure nodes: `fit` takes the (N, N) adjacency matrix of a graph; `n_anchors` is required.

    `transform` takes the (N, n) links of n nodes to the nodes of the fit. W_ contains the (K, K) rows of the pure nodes
    in the leading eigenvectors. Other attributes: see `AnchorMethod`.
    """

    which: ClassVar[Literal["LM", "LA"]] = "LM"

    def fit(self, X: Matrix, y: object = None) -> AnchorMethod:
        """Find the pure nodes of a graph; X is its adjacency matrix, symmetric, nonnegative, with a zero diagonal."""
        A = adjacency_of(X)
        if self.n_anchors is None:
            raise CofactorError("n_anchors=None: set the number of communities, which cannot be suggested for graphs")
        values, vectors = leading_eigenvectors(A, self.n_anchors, self.which)
        self._basis = vectors / np.where(values == 0, 1.0, values)  # links times this are rows of eigenvectors
        return self._keep(self._pure(A, vectors), vectors.T)

    def _pure(self, A: sparse.csr_array, vectors: Floats) -> AnchorFit:
        raise NotImplementedError

    def _points(self, X: Matrix) -> Floats:
        links = dense_points(X)
        if len(links) != len(self._basis):
            raise CofactorError(f"links have {len(links)} rows, but the graph of the fit has {len(self._basis)} nodes")
        return np.asarray(self._basis.T @ links)


@dataclass(eq=False, repr=False)
class SPOC(GraphMethod):
    """SPOC: successive projection on the leading eigenvectors of a graph. Cost and source: see `spoc`."""

    which: ClassVar[Literal["LM", "LA"]] = "LA"

    def _pure(self, A: sparse.csr_array, vectors: Floats) -> AnchorFit:
        return spa_on_rows(vectors, vectors.shape[1])


@dataclass(eq=False, repr=False)
class GeoNMF(GraphMethod):
    """GeoNMF: clusters of the longest rows of degree-scaled eigenvectors. Cost and source: see `geo_nmf`."""

    def _pure(self, A: sparse.csr_array, vectors: Floats) -> AnchorFit:
        return pure_by_clusters(*degree_scaled_rows(A, vectors.shape[1]), self.random_state)

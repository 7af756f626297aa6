"""Pure nodes of a graph, from the leading eigenvectors of its adjacency matrix: SPOC and GeoNMF.

Model (mixed-membership stochastic blocks): A ~ rho Theta B Theta', rows of Theta on the simplex, so that rows of the
leading eigenvectors are mixtures of the rows of pure nodes, which belong to one community each.

    symbol   meaning                                             shape
    A        adjacency matrix, symmetric                         (N, N), sparse
    V, E     leading eigenvectors and eigenvalues of A           (N, K), (K,)
    d        degrees, row sums of A                              (N,)
    Z        D^-1/2 V |E|^1/2, the points of GeoNMF              (N, K)

Sources: Panov, Slavnov and Ushakov, "Consistent estimation of mixed memberships with successive projections", Complex
Networks 2017 (SPOC); Mao, Sarkar and Chakrabarti, "On mixed memberships and symmetric nonnegative matrix
factorizations", ICML 2017 (GeoNMF).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.checks import added_up, is_whole, numbers, rng_of, sound_places
from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import sparse_linalg
from cofactor.core.result import Result
from cofactor.core.types import Floats, Indices, Seed
from cofactor.separable.base import ZERO, AnchorFit, Matrix, spa_fit

FIRST_SHARE, SHARE_STEP = 0.25, 0.025  # rows longer than (1 - share) of the longest may be pure; widened by steps
ROUND, ROUND_DENSE, DENSE_DEGREE = 2.0, 1.5, 250  # largest condition number of pure rows; of graphs of high degree
RUNS = 20  # of k-means
DIGITS = 9  # rows equal up to these are the same point
TOP = 0.95  # quantile of degree-weighted lengths above which a node of a cluster may represent it
DENSE_NODES = 80  # nodes up to which all eigenvectors are computed


def spoc(A: Matrix, n_anchors: int) -> AnchorFit:
    """Find pure nodes by successive projection on the rows of the leading eigenvectors.

    Parameters
    ----------
    A : (N, N) array or scipy.sparse matrix
        Symmetric adjacency matrix, nonnegative, diagonal zero.
    n_anchors : int in [1, N]
        Number of communities.

    Anchors are nodes, in the order found. Raises `CofactorError` where A is no adjacency matrix (the entries are
    named), has no edge, or `n_anchors` is out of range. Cost: that of K eigenvectors of a sparse matrix; O(N K^2) for
    the projection. Source: Panov et al., Algorithm 1, with the eigenvectors of the largest eigenvalues as in the
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

    Of Z = D^-1/2 V |E|^1/2, rows with ||z_i||^2 > (1 - s) max ||z||^2 are clustered by k-means into K; from each
    cluster comes the node with the smallest d_i ||z_i|| among those above its 95 % quantile. s starts at 0.25 and is
    widened until the K rows have condition number below 2 (1.5 in graphs of mean degree 250 or more).

    Parameters, errors and cost are those of `spoc`; `random_state` is that of k-means, best of 20 starts. Anchors are
    nodes, by falling score d_i ||z_i||; where no s gives rows of small condition number, the best conditioned ones.

    Deviations: The released code compares with a variable that it never updates, and so keeps the last of 20 runs of
    k-means instead of the best. Degrees are those of the whole graph; the random split of nodes in the paper's analysis
    is left out, as in the released code.

    Examples
    --------
    >>> np.sort(geo_nmf(np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3)), 2, random_state=0).anchors // 3)
    array([0, 1])
    """
    from sklearn.cluster import KMeans  # here: slow to import

    matrix = adjacency_of(A)
    Z, degrees = degree_scaled_rows(matrix, n_anchors)
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
        raise CofactorError(f"GeoNMF finds no {n_anchors} nodes far from each other: ask for fewer communities")
    anchors = best[np.argsort(-weights[best], kind="stable")]
    scores = np.zeros(len(weights))
    scores[anchors] = weights[anchors]
    reason = f"pure rows of condition number {condition:.2f}"
    return AnchorFit(anchors, scores, None, Result(np.array([condition]), 1, condition < limit, reason))


def _representative(cluster: Indices, weights: Floats) -> int:
    heavy = cluster[weights[cluster] >= np.quantile(weights[cluster], TOP, method="hazen")]
    return int(heavy[np.argmin(weights[heavy])])


def degree_scaled_rows(A: sparse.csr_array, n_vectors: int) -> tuple[Floats, Floats]:
    """Return Z (rows of isolated nodes zero) and the degrees."""
    values, V = leading_eigenvectors(A, n_vectors, "LM")
    degrees = A.sum(axis=0)
    return V * np.sqrt(np.abs(values)) / np.sqrt(np.where(degrees > 0, degrees, 1.0))[:, None], degrees


def spa_on_rows(V: Floats, n_anchors: int) -> AnchorFit:
    """Run SPA on the rows of V that are not zero, as those of nodes without part in any leading eigenvector are."""
    lengths = np.linalg.norm(V, axis=1)
    nonzero = np.flatnonzero(lengths > ZERO * lengths.max())
    fit = spa_fit(V[nonzero].T, n_anchors)
    scores = np.zeros(len(V))
    scores[nonzero] = fit.scores
    return AnchorFit(nonzero[fit.anchors], scores, None, fit.result)


def leading_eigenvectors(A: sparse.csr_array, n_vectors: int, which: Literal["LM", "LA"]) -> tuple[Floats, Floats]:
    """Return eigenvalues and eigenvectors (N, K), of largest magnitude ("LM") or value ("LA").

    Deterministic: the iteration always starts at the same vector, and nodes alike have the same row to the last bit.
    """
    n_nodes = A.shape[0]
    if not (is_whole(n_vectors) and 1 <= n_vectors <= n_nodes):
        raise CofactorError(f"{n_vectors} communities of {n_nodes} nodes: ask for 1 to that many")
    if n_nodes <= max(DENSE_NODES, 2 * n_vectors):
        values, vectors = np.linalg.eigh(A.toarray())
        first = np.argsort(-(np.abs(values) if which == "LM" else values), kind="stable")[:n_vectors]
        return values[first], _of_first_alike(A, vectors[:, first])
    values, vectors = sparse_linalg.eigsh(A, n_vectors, which=which, v0=np.linspace(1.0, 2.0, n_nodes))
    return values, _of_first_alike(A, vectors)


def _of_first_alike(A: sparse.csr_array, V: Floats) -> Floats:
    """Give nodes with the same neighbours, joined or not, the row of the first of them.

    Their rows differ by rounding alone. A method that takes the best of them would take another on another processor.
    Eigenvectors that tell the ends of an edge apart, as those of a negative eigenvalue may, stay as they are.
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
    """Return A as a sparse matrix of floats, checked; errors name the entries."""
    given = sound_places(A, "the adjacency matrix") if sparse.issparse(A) else numbers(A, "the adjacency matrix", 2)
    matrix = added_up(sparse.csr_array(given, dtype=np.float64))
    if matrix.shape[0] != matrix.shape[1]:
        raise CofactorError(f"an adjacency matrix is square, got shape {matrix.shape}")
    entries = matrix.tocoo()
    _refuse(entries, ~(np.isfinite(entries.data) & (entries.data >= 0)), "are negative or not finite")
    loops = (entries.row == entries.col) & (entries.data > 0)
    _refuse(entries, loops, "join a node to itself: set the diagonal to zero")
    one_way = abs(matrix - matrix.T).tocoo()
    _refuse(one_way, one_way.data > 0, "differ from those mirrored: add A and its transpose")
    if not matrix.count_nonzero():
        raise CofactorError("the graph has no edge")
    return matrix


def _refuse(entries: sparse.coo_array, bad: NDArray[np.bool_], why: str) -> None:
    if bad.any():
        places = zip(entries.row[bad].tolist(), entries.col[bad].tolist(), strict=True)
        raise CofactorError(f"entries of the adjacency matrix {why}; these are: {listing(places)}")


def rows_from_pure(V: Floats, pure: ArrayLike) -> Floats:
    """Write every row of V as a combination of the rows of pure nodes: V V_pure^-1."""
    corners = V[np.asarray(pure)]
    if np.linalg.matrix_rank(corners) < len(corners):
        raise CofactorError(f"the rows of nodes {listing(np.asarray(pure).tolist())} depend on each other")
    return np.linalg.solve(corners.T, V.T).T

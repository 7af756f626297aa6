"""Pure nodes from eigenvectors: laws, planted communities, bad graphs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import sampled_from
from scipy import sparse

from cofactor.core.errors import CofactorError
from cofactor.separable import METHODS, geo_nmf, spoc
from cofactor.separable.graphs import leading_eigenvectors, rows_from_pure
from tests.each import each
from tests.oracles.generators import laws, seeds


def cliques(sizes=(6, 5, 4)):
    """Return the adjacency matrix of cliques, and in which of them each node is."""
    member = np.repeat(np.arange(len(sizes)), sizes)
    return (member[:, None] == member).astype(float) - np.eye(len(member)), member


def mixed_graph(seed=0, n_nodes=900, n_communities=3):
    """Return a random graph of mixed memberships, and these; a fifth of the nodes is pure."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.ones(n_communities), n_nodes)
    theta[: n_nodes // 5] = np.eye(n_communities)[rng.integers(0, n_communities, n_nodes // 5)]
    chance = theta @ (0.02 + 0.5 * np.eye(n_communities)) @ theta.T
    upper = np.triu(rng.random((n_nodes, n_nodes)) < chance, k=1)
    return sparse.csr_array((upper | upper.T).astype(float)), theta


@each("method", ["SPOC", "GeoNMF"])
def test_planted_pure_nodes_are_nearly_pure(method):
    A, theta = mixed_graph()
    fit = METHODS[method](3, random_state=0).fit(A).model_
    assert sorted(theta[fit.anchors].argmax(axis=1)) == [0, 1, 2] and theta[fit.anchors].max(axis=1).min() > 0.8
    assert np.array_equal(np.flatnonzero(fit.scores), np.sort(fit.anchors)) and fit.scores.shape == (900,)
    assert np.array_equal(METHODS[method](3, random_state=0).fit(A.toarray()).anchors_, fit.anchors)
    A, member = cliques()
    padded = np.zeros((20, 20))
    padded[2:17, 2:17] = A  # nodes without edges are never pure
    assert sorted(member[METHODS[method](3, random_state=0).fit(padded).anchors_ - 2]) == [0, 1, 2]
    assert len(METHODS[method](1, random_state=0).fit(cliques((6,))[0]).anchors_) == 1


def test_geo_nmf_is_reproducible_and_tells_how_round_the_corners_are():
    A, _ = mixed_graph()
    fit = geo_nmf(A, 3, random_state=4)
    assert np.array_equal(fit.anchors, geo_nmf(A, 3, random_state=4).anchors)
    assert fit.result.converged and "condition number" in fit.result.reason
    assert np.all(np.diff(fit.scores[fit.anchors]) <= 0)


@laws
@given(which=sampled_from(["LM", "LA"]), seed=seeds)
def test_eigenvectors_are_those_of_lapack(which, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 140))  # small graphs and others are solved in different ways
    A = np.triu(rng.random((n, n)) < 0.2, k=1).astype(float)
    A += A.T
    values, V = leading_eigenvectors(sparse.csr_array(A), 3, which)
    all_values = np.linalg.eigvalsh(A)
    key = np.abs(all_values) if which == "LM" else all_values
    assert np.allclose(np.sort(values), np.sort(all_values[np.argsort(-key)[:3]]), atol=1e-9)
    assert np.allclose(A @ V, V * values, atol=1e-8) and np.allclose(V.T @ V, np.eye(3), atol=1e-9)


def test_nodes_with_the_same_neighbours_have_the_same_row_to_the_last_bit():
    for n_nodes, joined, which in ((450, 0, "LM"), (450, 1, "LA"), (30, 0, "LA"), (30, 1, "LM")):
        graph, _ = mixed_graph(seed=3, n_nodes=n_nodes)
        swapped = np.array([[0, joined], [joined, 0]])
        A = sparse.csr_array(sparse.kron(graph, np.ones((2, 2))) + sparse.kron(sparse.eye_array(n_nodes), swapped))
        values, V = leading_eigenvectors(A, 3, which)
        case = f"{n_nodes} pairs, joined: {joined}, {which}"
        assert np.array_equal(V[::2], V[1::2]), case
        np.testing.assert_allclose(A @ V, V * values, atol=1e-9 * values.max(), err_msg=case)


def test_ends_of_an_edge_that_an_eigenvector_tells_apart_stay_apart():
    A = sparse.csr_array(np.kron(np.diag([1.0, 0.5, 0.25]), [[0.0, 1.0], [1.0, 0.0]]))
    values, V = leading_eigenvectors(A, 2, "LM")
    assert sorted(values.round(9)) == [-1, 1]
    np.testing.assert_allclose(A @ V, V * values, atol=1e-12)


def test_rows_are_written_in_pure_ones():
    rng = np.random.default_rng(0)
    theta = np.vstack([np.eye(3), rng.dirichlet(np.ones(3), 5)])
    assert np.allclose(rows_from_pure(theta @ rng.standard_normal((3, 3)), [0, 1, 2]), theta, atol=1e-12)
    with pytest.raises(CofactorError, match="rows of the pure nodes 0, 1 are linearly dependent"):
        rows_from_pure(np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 1.0]]), [0, 1])


@each(
    "change, message",
    [
        ({(2, 2): 1.0}, r"entries \(2, 2\) of the adjacency matrix connect a node with itself"),
        ({(0, 9): 1.0}, r"entries \(0, 9\), \(9, 0\) of the adjacency matrix differ from those of the transpose"),
        ({(0, 1): 2.0}, r"entries \(0, 1\), \(1, 0\) of the adjacency matrix differ from those of the transpose"),
        (
            {(0, 1): -1.0, (1, 0): -1.0},
            r"entries \(0, 1\), \(1, 0\) of the adjacency matrix are negative or not finite",
        ),
        (
            {(0, 1): np.nan, (1, 0): np.inf},
            r"entries \(0, 1\), \(1, 0\) of the adjacency matrix are negative or not finite",
        ),
    ],
)
def test_entries_that_are_no_edges_are_named(change, message):
    A, _ = cliques()
    for place, value in change.items():
        A[place] = value
    for kind in (np.array, sparse.csr_matrix):
        with pytest.raises(CofactorError, match=message):
            spoc(kind(A), 2)


def test_graphs_that_are_none():
    A, _ = cliques()
    for wrong in (0, 16, 2.5):
        with pytest.raises(CofactorError, match=f"{wrong} communities in a graph of 15 nodes"):
            spoc(A, wrong)
    with pytest.raises(CofactorError, match="square"):
        spoc(A[:5], 2)
    with pytest.raises(CofactorError, match="the adjacency matrix must contain numbers"):
        spoc([["a", "b"], ["b", "a"]], 1)
    with pytest.raises(CofactorError, match="the graph has no edges"):
        spoc(np.zeros((4, 4)), 2)
    one_edge = np.zeros((5, 5))
    one_edge[0, 1] = one_edge[1, 0] = 1
    with pytest.raises(CofactorError, match="cannot find 3 nodes that are far from one another"):
        geo_nmf(one_edge, 3)

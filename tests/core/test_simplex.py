"""The simplex: projection by its optimality conditions, normalising block by block, and successive projection."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import sparse

from cofactor import plain
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import normalize_blocks
from cofactor.core.simplex import project_to_simplex, project_vector, spa
from tests.each import each
from tests.oracles.generators import laws, seeds
from tests.oracles.simplex import project_by_quadratic_programme

numbers = st.floats(-1e3, 1e3, allow_subnormal=False)
matrices = arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=numbers)


@laws
@given(V=matrices)
def test_projection_meets_the_optimality_conditions(V):
    X = project_to_simplex(V)
    assert np.all(X >= 0)
    assert np.allclose(X.sum(axis=0), 1, atol=1e-10)
    for x, v in zip(X.T, V.T, strict=True):
        multiplier = v - x  # the same where x > 0, at most that where x = 0
        assert np.ptp(multiplier[x > 0]) <= 1e-9
        assert np.all(multiplier[x == 0] <= multiplier[x > 0].min() + 1e-9)


@laws
@given(seed=seeds)
def test_projection_equals_the_quadratic_programme(seed):
    v = 2 * np.random.default_rng(seed).standard_normal(4)
    assert np.allclose(project_to_simplex(v[:, None])[:, 0], project_by_quadratic_programme(v), atol=1e-5)


@laws
@given(V=matrices)
def test_projecting_in_place_is_the_same(V):
    X = V.copy()
    for column in X.T:
        project_vector(column)
    assert np.allclose(X, project_to_simplex(V), atol=1e-10)


@each(
    "entries",
    [
        [0.03725214251764704, -0.015186236327984326, 0.046817304331190426, 0.8703718441672094],
        [-0.028234024974652328, 0.1342982023349349, 0.5817048279578769, 0.19929489478323098],
    ],
)
def test_an_entry_at_the_threshold_does_not_come_and_go_for_ever(entries):
    """One entry lies on the threshold of the others, where rounding decides anew in every pass."""
    x = np.array(entries)
    project_vector(x)
    assert np.allclose(x, project_to_simplex(np.array(entries)[:, None])[:, 0], atol=1e-12)


@laws
@given(V=matrices)
def test_projecting_twice_is_projecting_once(V):
    once = project_to_simplex(V)
    assert np.allclose(project_to_simplex(once), once, atol=1e-12)


@laws
@given(V=matrices, shift=st.floats(-100, 100))
def test_projection_ignores_a_common_shift(V, shift):
    assert np.allclose(project_to_simplex(V + shift), project_to_simplex(V), atol=1e-9)


def test_projects_very_large_points():
    assert project_to_simplex([[1e17], [0.0]]).tolist() == [[1], [0]]


@each("V", [[1.0, 2.0], np.zeros((0, 3)), [[np.nan]], [[np.inf], [0]]])
def test_refuses_what_cannot_be_projected(V):
    with pytest.raises(CofactorError, match="non-empty matrix of finite numbers"):
        project_to_simplex(V)


@laws
@given(seed=seeds)
def test_blocks_are_scaled_one_by_one(seed):
    sizes, rng = [2, 1, 3], np.random.default_rng(seed)
    stacked = rng.random((6, 4)) + 0.01
    normal = normalize_blocks(stacked, sizes)
    for part, raw in zip(np.split(normal, [2, 3]), np.split(stacked, [2, 3]), strict=True):
        assert np.allclose(part, raw / raw.sum(axis=0), rtol=1e-14)
    assert np.allclose(normalize_blocks(normal, sizes), normal, rtol=1e-14)


def test_a_column_without_evidence_becomes_uniform():
    normal = normalize_blocks([[0.0, 2.0], [0.0, 2.0], [0.0, 0.0]], [2, 1])
    assert normal.tolist() == [[0.5, 0.5], [0.5, 0.5], [1, 1]]


# ---- successive projection ----


def separable(M=8, K=4, N=30, noise=0.0, seed=0):
    """Return (X, indices of its anchors)."""
    rng = np.random.default_rng(seed)
    W = rng.random((M, K))
    H = np.hstack([np.eye(K), rng.dirichlet(np.ones(K), N - K).T])
    order = rng.permutation(N)
    X = (W @ H + noise * rng.standard_normal((M, N)))[:, order]
    return X, np.flatnonzero(order < K)


@laws
@given(seed=seeds)
def test_finds_all_anchors_without_noise(seed):
    X, anchors = separable(seed=seed)
    assert sorted(spa(X, 4)) == list(anchors)


@laws
@given(seed=seeds)
def test_follows_a_permutation_of_the_columns(seed):
    X, _ = separable(noise=0.01, seed=seed)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    assert np.array_equal(order[spa(X[:, order], 4)], spa(X, 4))


@laws
@given(seed=seeds)
def test_equals_the_slow_version(seed):
    X, _ = separable(noise=0.1, seed=seed)
    assert np.array_equal(spa(X, 4), plain.spa(X, 4))


@laws
@given(seed=seeds)
def test_the_same_of_a_sparse_matrix(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 15)) * (rng.random((20, 15)) < 0.3)
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        assert np.array_equal(spa(kind(X), 6), spa(X, 6))


def test_a_residual_of_rounding_size_is_no_direction():
    X, _ = separable(K=3)
    assert len(spa(X + 1e-9 * np.eye(8, 30), 8)) == 3
    assert len(spa(X + 1e-3 * np.eye(8, 30), 8)) == 8


def test_starts_over_where_more_anchors_than_dimensions_are_asked_for():
    X = np.array([[3.0, 0, 2, 0, 1, 0], [0, 4, 0, 1.5, 0, 0]])
    assert spa(X, 6, restart=True).tolist() == [1, 0, 2, 3, 4]
    assert spa(X, 3, restart=True).tolist() == [1, 0, 2]
    assert spa(sparse.csr_array(X), 6, restart=True).tolist() == [1, 0, 2, 3, 4]
    assert spa(np.zeros((2, 3)), 2, restart=True).size == 0


def test_ties_go_to_the_longer_original_column_then_to_the_lower_index():
    tied = np.array([[5.0, 0, 0, 0], [0, 1, 1, 1], [0, 0, 3, 0]])
    tied[2, 2] = 1e-4  # column 2 is longer than 1 and 3 by far less than a tie
    assert spa(tied, 2).tolist() == [0, 2]
    assert spa(np.eye(4)[:, [2, 1, 0]], 3).tolist() == [0, 1, 2]
    leaning = np.array([[5.0, 0, 2], [0, 1 + 1e-9, 1]])  # residuals after column 0 equal but for rounding
    assert spa(leaning, 2).tolist() == [0, 2]


@each("value", [np.nan, np.inf])
@each("kind", [np.array, sparse.csr_array])
def test_names_the_columns_that_are_not_finite(kind, value):
    X, _ = separable()
    X[0, [3, 7]] = value
    with pytest.raises(CofactorError, match=r"2 columns \(3, 7\)"):
        spa(kind(X), 4)


@each("wrong", [0, -1, 31])
def test_says_how_many_anchors_can_be_asked_for(wrong):
    with pytest.raises(CofactorError, match=f"n_anchors={wrong}: X has 30 columns"):
        spa(separable()[0], wrong)


def test_refuses_what_is_no_matrix():
    with pytest.raises(CofactorError, match=r"matrix with one point per column, got shape \(3,\)"):
        spa([1.0, 2.0, 3.0], 1)

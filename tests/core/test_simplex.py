"""The simplex: projection by its optimality conditions, and normalising block by block."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from cofactor.core.errors import CofactorError
from cofactor.core.simplex import normalize_blocks, project_to_simplex, project_vector
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

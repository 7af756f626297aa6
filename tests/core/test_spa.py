"""SPA: what must always hold, what is known exactly, what bad input gets."""

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from cofactor import plain
from cofactor.core.errors import CofactorError
from cofactor.core.spa import spa
from tests.each import each
from tests.oracles.generators import laws, seeds


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

"""XRAY and FastAnchor: laws, the slow versions, bad input."""

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from cofactor.core.errors import CofactorError, DataWarning
from cofactor.rivals.separable import random_projection
from cofactor.separable import METHODS, fast_anchor, xray
from tests.oracles.generators import laws, seeds
from tests.oracles.greedy import distance_from_hull, fast_anchor_by_distances, xray_column_by_column

both = pytest.mark.parametrize("method", ["XRAY", "FastAnchor"])


def separable(M=8, K=4, N=30, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.random((M, K))
    H = np.hstack([np.eye(K), rng.dirichlet(np.ones(K), N - K).T])
    order = rng.permutation(N)
    X = W @ H + noise * rng.random((M, N))
    return X[:, order], np.flatnonzero(order < K)


@both
@laws
@given(seed=seeds)
def test_laws(method, seed):
    """Without noise all anchors are found; the order, scale and storage of columns change nothing."""
    X, anchors = separable(seed=seed)
    assert sorted(METHODS[method](4, random_state=seed).fit(X).anchors_) == list(anchors)
    X, _ = separable(noise=0.05, seed=seed)
    order, fit = np.random.default_rng(seed).permutation(X.shape[1]), METHODS[method](4).fit(X).model_
    assert np.array_equal(order[METHODS[method](4).fit(X[:, order]).anchors_], fit.anchors)
    for other in (1e-100 * X, 1e100 * X, sparse.csc_array(X)):
        assert np.array_equal(METHODS[method](4).fit(other).anchors_, fit.anchors)
    assert fit.result.converged and np.array_equal(np.flatnonzero(fit.scores), np.sort(fit.anchors))


@laws
@given(seed=seeds)
def test_xray_equals_the_slow_version(seed):
    X, _ = separable(noise=0.1, seed=seed)
    assert xray(X, 4).anchors.tolist() == xray_column_by_column(X, 4, X.sum(axis=0))
    assert xray(X, 4, sums=1.0).anchors.tolist() == xray_column_by_column(X, 4, np.ones(30))


def test_xray_scores_are_residuals_that_fall():
    X, _ = separable(noise=0.1)
    fit = xray(X, 4)
    scores = fit.scores[fit.anchors]
    assert scores[0] == np.max(np.sum(X**2, axis=0)) and np.all(np.diff(scores) < 0)


@pytest.mark.parametrize("refine", [False, True])
@laws
@given(seed=seeds)
def test_fast_anchor_equals_the_slow_version(refine, seed):
    X, _ = separable(noise=0.1, seed=seed)
    assert fast_anchor(X, 4, refine=refine).anchors.tolist() == fast_anchor_by_distances(X, 4, refine)


@laws
@given(seed=seeds)
def test_fast_anchor_scores_are_squared_distances(seed):
    X, _ = separable(noise=0.1, seed=seed)
    fit = fast_anchor(X, 3)
    anchors = fit.anchors.tolist()
    expected = [distance_from_hull(X, anchors[:k], anchors[k]) ** 2 for k in range(3)]
    assert np.allclose(fit.scores[anchors], expected, rtol=1e-9)


def test_refinement_takes_the_two_points_farthest_apart():
    X = np.array([[0.0, 6, -9], [10, -7, 4]])  # column 0 is farthest from the origin, but 2 is farther from 1
    assert fast_anchor(X, 2, refine=False).anchors.tolist() == [0, 1]
    assert fast_anchor(X, 2).anchors.tolist() == [2, 1]


def test_many_rows_are_projected_at_random_but_reproducibly():
    X, anchors = separable(M=1500, K=5, N=40, noise=0.01)
    assert sorted(fast_anchor(X, 5, random_state=3).anchors) == list(anchors)
    first, again, other = (random_projection(1500, seed) for seed in (3, 3, 4))
    assert first.shape == (1000, 1500) and (first != again).nnz == 0 and (first != other).nnz > 0
    assert first.nnz / 1.5e6 == pytest.approx(1 / 3, abs=0.01)
    assert np.mean(first.data > 0) == pytest.approx(0.5, abs=0.01)
    lengths = np.linalg.norm(first @ X, axis=0) / np.linalg.norm(X, axis=0)
    assert np.allclose(lengths, 1, atol=0.15)
    assert (random_projection(7, 0) != sparse.eye_array(7)).nnz == 0


def test_fewer_anchors_than_asked_for_are_told():
    X = np.array([[1.0, 0, 0.5, 0.2], [0, 1.0, 0.5, 0.1]])
    with pytest.warns(DataWarning, match="only 2 of 3 anchors were found"):
        assert sorted(xray(X, 3).anchors) == [0, 1]
    line = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])
    with pytest.warns(DataWarning, match="only 2 of 3 anchors were found"):
        assert sorted(fast_anchor(line, 3).anchors) == [0, 2]


def test_sums_that_are_not_positive_are_named():
    with pytest.raises(CofactorError, match="sums of columns 1, 2 are not positive"):
        xray([[1.0, -1.0, 0.5], [0.0, 0.0, -1.0]], 2)
    with pytest.raises(CofactorError, match="sums of columns 1 are not positive"):
        xray([[1.0, 2.0], [0.0, 0.0]], 1, sums=[1.0, np.nan])

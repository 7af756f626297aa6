"""Separable mixtures: anchors where they are said to be, noise of the size asked for, both kinds of it."""

import numpy as np
import pytest

from cofactor import simulate

DRAWS = [simulate.dirichlet_mixtures, simulate.midpoint_mixtures]


@pytest.mark.parametrize("draw", DRAWS)
def test_without_noise_it_is_the_model(draw):
    p = draw(random_state=3, snr_db=None)
    K = p.anchors.size
    assert np.array_equal(p.H[:, p.anchors], np.eye(K))
    assert np.allclose(p.X, p.W @ p.H) and np.allclose(p.X[:, p.anchors], p.W)
    assert p.H.min() >= 0 and np.allclose(p.H.sum(axis=0), 1)
    assert np.sum(np.isclose(p.H.max(axis=0), 1)) == K


@pytest.mark.parametrize("snr_db", [0.0, 10.0, 20.0])
@pytest.mark.parametrize("draw", [*DRAWS, lambda **kw: simulate.midpoint_mixtures(noise="gaussian", **kw)])
def test_noise_has_the_size_asked_for(draw, snr_db):
    p = draw(random_state=3, snr_db=snr_db)
    Y = p.W @ p.H
    assert 10 * np.log10(np.sum(Y**2) / np.sum((p.X - Y) ** 2)) == pytest.approx(snr_db, abs=0.3)


def test_released_noise_leaves_pure_columns_alone_and_pushes_mid_points_outwards():
    p = simulate.midpoint_mixtures(50, 10, 8.0, random_state=1)
    Y, mean = p.W @ p.H, p.W.mean(axis=1, keepdims=True)
    assert np.allclose(p.X[:, p.anchors], p.W) and p.X.shape == (50, 55)
    middle = np.setdiff1d(np.arange(55), p.anchors)
    factor = (p.X - Y)[:, middle] / (Y - mean)[:, middle]
    assert np.allclose(factor, factor[0, 0]) and factor[0, 0] > 0
    assert np.allclose(p.W.sum(axis=0), 1) and np.allclose(np.sort(p.H[:, middle], axis=0)[-2:], 0.5)

"""Angles of pure columns and share of the data explained: known answers and laws."""

import numpy as np
import pytest

from cofactor import CofactorError
from cofactor.separable import mrsa, rae


def test_a_right_angle_is_half_of_the_scale():
    W = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])
    turned = np.array([[0.0, 0.0, 1.0, -1.0], [1.0, -1.0, 0.0, 0.0]])
    assert mrsa(W, turned) == pytest.approx(0)  # the same four columns in another order
    quarter = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2) @ W  # turned by 45 degrees
    assert mrsa(W, quarter) == pytest.approx(25)


def test_order_shift_and_scale_of_columns_do_not_matter_and_noise_does():
    rng = np.random.default_rng(0)
    W = rng.random((20, 6))
    order = rng.permutation(6)
    assert mrsa(W, 3 * W[:, order] + 1) == pytest.approx(0, abs=1e-5)
    near, far = (mrsa(W, W + scale * rng.random((20, 6))) for scale in (0.01, 0.5))
    assert 0.05 < near < 1 < far


def test_the_mean_column_is_taken_off():
    W = np.eye(3)
    assert mrsa(W + 100, W) == pytest.approx(0, abs=1e-5)


def test_a_column_without_direction_is_at_a_right_angle():
    W = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 0.0]])  # the third is the mean
    assert mrsa(W, W) == pytest.approx(50 / 3)


def test_share_explained():
    X = np.array([[3.0, 0.0], [0.0, 4.0]])
    assert rae(X, X, np.eye(2)) == 1
    assert rae(X, np.zeros((2, 1)), np.zeros((1, 2))) == 0
    assert rae(X, X[:, :1], [[1.0, 0.0]]) == pytest.approx(1 - 4 / 5)


@pytest.mark.parametrize("scale", [1e-318, 1e-200, 1e200, 1.7e308])
def test_neither_depends_on_the_scale(scale):
    X = np.array([[1.0, 0.0], [0.0, 0.5]])
    assert rae(scale * X, scale * X[:, :1], [[1.0, 0.0]]) == pytest.approx(rae(X, X[:, :1], [[1.0, 0.0]]), rel=1e-3)
    assert mrsa(scale * np.eye(3), np.eye(3)[:, ::-1]) == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("X", [np.zeros((2, 3)), -np.zeros((1, 1)), [[False]]])
def test_no_share_of_nothing_is_explained(X):
    X = np.asarray(X)
    with pytest.raises(CofactorError, match="X is zero"):
        rae(X, np.ones((len(X), 1)), np.ones((1, X.shape[1])))


@pytest.mark.parametrize("W", [[[1e200]], [[1e10]]])
def test_what_is_beyond_all_numbers_is_refused(W):
    with pytest.raises(CofactorError, match="too large beside X"):
        rae([[1e-200]], W, [[1e200]])


def test_shapes_are_named():
    with pytest.raises(CofactorError, match=r"\(3, 2\) and \(3, 1\)"):
        mrsa(np.ones((3, 2)), np.ones((3, 1)))
    with pytest.raises(CofactorError, match=r"X \(2, 3\) .* W \(2, 1\) times H \(2, 3\)"):
        rae(np.ones((2, 3)), np.ones((2, 1)), np.ones((2, 3)))

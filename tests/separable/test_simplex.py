"""Corners of a simplex: anchors without noise, the papers' steps, what is refused."""

import numpy as np
import pytest
from hypothesis import given

from cofactor import CofactorError, simulate
from cofactor.core.errors import DataWarning
from cofactor.separable import METHODS, vca
from tests.oracles.generators import laws, seeds
from tests.oracles.unmixing import decibels, vca_step_by_step


def angles(W, found):
    """Mean angle in degrees between pure columns and those found, matched one to one."""
    from scipy.optimize import linear_sum_assignment

    cosines = (W / np.linalg.norm(W, axis=0)).T @ (found / np.linalg.norm(found, axis=0))
    angle = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    return angle[linear_sum_assignment(angle)].mean()


@laws
@given(seed=seeds)
def test_vca_finds_all_anchors_without_noise_at_any_scale_and_brightness(seed):
    drawn = simulate.dirichlet_mixtures(20, 60, 4, None, random_state=seed)
    brightness = np.random.default_rng(seed).uniform(0.1, 9, 60)
    for X in (drawn.X, drawn.X * brightness, 1e-100 * drawn.X, drawn.X - 3):
        assert sorted(METHODS["VCA"](4, random_state=seed).fit(X).anchors_) == sorted(drawn.anchors)


@pytest.mark.parametrize("snr", [10, 15, 40])
@laws
@given(seed=seeds)
def test_vca_takes_the_steps_of_the_paper(snr, seed):
    X = simulate.dirichlet_mixtures(12, 80, 4, snr, random_state=seed).X
    assert (decibels(X, 4) > 15 + 10 * np.log10(4)) == (snr == 40)
    assert vca(X, 4, random_state=seed).anchors.tolist() == vca_step_by_step(X, 4, seed)


def test_vca_with_noise_is_near_the_pure_columns_as_spa_is():
    drawn = [simulate.dirichlet_mixtures(50, 300, 5, 30, random_state=seed) for seed in range(20)]
    found = {
        name: np.mean([angles(one.W, one.X[:, METHODS[name](5, random_state=0).fit(one.X).anchors_]) for one in drawn])
        for name in ("VCA", "SPA")
    }
    noise = np.mean([angles(one.W, one.X[:, one.anchors]) for one in drawn])
    assert noise <= found["VCA"] < 1.1 * noise and found["SPA"] < 1.1 * noise


@laws
@given(seed=seeds)
def test_vca_follows_a_permutation_and_takes_the_first_of_equal_columns(seed):
    X = simulate.dirichlet_mixtures(12, 50, 4, 15, random_state=seed).X
    order = np.random.default_rng(seed).permutation(50)
    found = vca(X, 4, random_state=seed).anchors
    assert np.array_equal(order[vca(X[:, order], 4, random_state=seed).anchors], found)
    assert np.array_equal(vca(np.hstack([X, X]), 4, random_state=seed).anchors, found)


def test_vca_on_little():
    assert vca([[2.0]], 1).anchors.tolist() == [0]
    assert vca([[1.0, 3.0, 2.0]], 1).anchors.tolist() == [1]
    line = np.array([[1.0, 2.0, 3.0, 2.5], [1.0, 1.0, 1.0, 1.0]])
    with pytest.warns(DataWarning, match="2 anchors explain all columns: 3 asked for"):
        fit = vca(line, 3, random_state=0)
    assert sorted(fit.anchors) == [0, 2] and np.array_equal(np.flatnonzero(fit.scores), [0, 2])
    with pytest.warns(DataWarning, match=r"1 columns of X are zero \(1\)"):
        assert 1 not in vca(np.insert(np.eye(4) + 0.1, 1, 0.0, axis=1), 4, random_state=0).anchors


def test_vca_refuses_what_is_no_matrix_of_points():
    X = simulate.dirichlet_mixtures(12, 50, 4, 15, random_state=0).X
    for wrong in (0, 51, 2.5):
        with pytest.raises(CofactorError, match=f"n_anchors={wrong}: X has 50 columns"):
            vca(X, wrong)
    X[0, [3, 7]] = np.nan
    with pytest.raises(CofactorError, match=r"2 columns \(3, 7\)"):
        vca(X, 4)

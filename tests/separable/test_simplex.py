"""Corners of a simplex: anchors without noise, the papers' steps, what is refused."""

import numpy as np
import pytest
from hypothesis import given

from cofactor import CofactorError, simulate
from cofactor.core.errors import DataWarning
from cofactor.separable import METHODS, bootstrap, sisal, topic_model, vca
from cofactor.separable.least_squares import simplex_least_squares
from tests.oracles.generators import laws, seeds
from tests.oracles.unmixing import decibels, least_objective, vca_step_by_step


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
    assert noise * (1 - 1e-9) <= found["VCA"] < 1.1 * noise and found["SPA"] < 1.1 * noise


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


# ---- corners that are no columns ----


def mixed(seed, n_points=400, K=4, snr_db=30, most=0.8):
    """Pure columns, and mixtures of which none holds `most` of one."""
    rng = np.random.default_rng(seed)
    W, H = rng.random((30, K)), rng.dirichlet(np.ones(K), 20 * n_points).T
    H = H[:, H.max(axis=0) < most][:, :n_points]
    noise = rng.standard_normal((30, n_points)) * np.sqrt(np.mean((W @ H) ** 2) / 10 ** (snr_db / 10))
    return W, H, W @ H + noise


def turned(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ [[-4.0, 4.0, 0.0], [-3.0, -3.0, 5.0], [1.0, 1.0, 1.0]]


@pytest.mark.parametrize("lam", [1.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_sisal_ends_where_a_solver_of_the_programme_ends(seed, lam):
    _, _, X = mixed(seed, n_points=40, K=3)
    fit = sisal(X, 3, lam=lam, tol=1e-9, max_iter=3000, random_state=0)
    mean = X.mean(axis=1, keepdims=True)
    U, lengths, _ = np.linalg.svd(X - mean, full_matrices=False)
    basis = U[:, :2] * lengths[:2] / np.sqrt(40)
    Y = np.vstack([np.linalg.pinv(basis) @ (X - mean), np.ones(40)])
    ends = [least_objective(Y, np.linalg.inv(triangle), lam) for triangle in map(turned, np.arange(0, 2, 0.3))]
    assert fit.result.converged and np.abs(fit.result.objective[-1] - ends).min() < 1e-5  # there are several minima
    assert fit.result.objective[-1] < min(ends) + 0.01
    assert (np.diff(fit.result.objective) <= 0).all()
    corners = np.vstack([np.linalg.pinv(basis) @ (fit.vertices - mean), np.ones(3)])
    Q = np.linalg.inv(corners)
    stated = lam * np.maximum(-(Q @ Y), 0).sum() - np.linalg.slogdet(Q)[1]
    assert stated == pytest.approx(fit.result.objective[-1], abs=1e-6)


def test_sisal_is_nearer_than_finders_of_columns_where_no_column_is_pure():
    for seed in range(10):
        W, H, X = mixed(seed)
        fitted = METHODS["SISAL"](4, random_state=seed).fit(X)
        found = angles(W, fitted.W_)
        columns = [METHODS[name](4, random_state=seed).fit(X).W_ for name in ("VCA", "SPA", "MERIT")]
        assert found < 0.3 * min(angles(W, own) for own in columns)
        weights = fitted.transform(X)
        assert not fitted.anchors_.size and np.allclose(weights.sum(axis=0), 1)
        order = (H @ weights.T).argmax(axis=1)
        assert np.abs(weights[order] - H).mean() < 0.02


def test_sisal_without_noise_finds_the_pure_columns_of_mixtures_with_two_parts():
    W = np.random.default_rng(0).random((6, 3))
    H = np.array([[0.7, 0.3, 0.7, 0.3, 0.0, 0.0], [0.3, 0.7, 0.0, 0.0, 0.7, 0.3], [0.0, 0.0, 0.3, 0.7, 0.3, 0.7]])
    for scale in (1.0, 1e-100, 1e100):
        fit = sisal(scale * (W @ H), 3, lam=10, tol=1e-9, random_state=0)
        assert angles(W, fit.vertices) < 0.05 and fit.vertices.max() == pytest.approx(scale * W.max(), rel=0.01)


def test_sisal_on_little_and_what_it_refuses():
    assert sisal([[1.0, 3.0, 2.0]], 1).vertices.tolist() == [[2.0]]
    assert sorted(sisal([[1.0, 3.0, 2.0]], 2, lam=10, random_state=0).vertices[0].round(2)) == [1, 3]
    line = np.outer([1.0, 2.0], [1.0, 2.0, 3.0, 5.0])
    with pytest.raises(CofactorError, match="the columns span 1 dimensions around their mean: ask for 1 to 2 anchors"):
        sisal(line, 3)
    with pytest.raises(CofactorError, match="lam=0"):
        sisal(line, 2, lam=0)
    with pytest.raises(CofactorError, match="finds corners that are no columns"):
        topic_model(np.random.default_rng(0).poisson(2.0, (30, 9)), 2, METHODS["SISAL"](2))
    with pytest.raises(CofactorError, match="finds corners that are no columns"):
        bootstrap(METHODS["SISAL"](2), line, n_draws=3)


def test_weights_on_corners_are_those_of_least_squares():
    _, _, X = mixed(1)
    fitted = METHODS["SISAL"](4, random_state=0).fit(X)
    assert np.array_equal(fitted.transform(X), simplex_least_squares(fitted.W_, X))

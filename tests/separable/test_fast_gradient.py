"""FastGradient: its projection against the quadratic programme, its constraints, what it finds."""

import numpy as np
import pytest
from hypothesis import given

from cofactor import simulate
from cofactor.core.errors import CofactorError
from cofactor.rivals.separable import project_row
from cofactor.separable import fast_gradient
from tests.oracles.fast_gradient import plain_steps, project_row_by_quadratic_programme
from tests.oracles.generators import laws, seeds


@laws
@given(seed=seeds)
def test_projection_equals_the_quadratic_programme(seed):
    rng = np.random.default_rng(seed)
    for size in (0.3, 1.0, 3.0):
        N = int(rng.integers(2, 9))
        y, w, j = size * rng.standard_normal(N), rng.random(N) + 0.1, int(rng.integers(N))
        z = y.copy()
        project_row(z, j, w)
        assert np.abs(z - project_row_by_quadratic_programme(y, j, w)).max() <= 1e-8


def test_coefficients_meet_the_constraints_and_fit():
    X = simulate.dirichlet_mixtures(20, 60, 5, 20.0, random_state=0).X
    fit = fast_gradient(X, 5, random_state=0)
    C, w = fit.coefficients.toarray(), np.abs(X).sum(axis=0)
    assert C.min() >= 0 and np.diagonal(C).max() <= 1 + 1e-12
    assert (w[:, None] * C <= w * np.diagonal(C)[:, None] + 1e-9).all()
    assert np.array_equal(fit.scores, np.diagonal(C))
    assert np.linalg.norm(X - X @ C) <= 0.15 * np.linalg.norm(X)
    assert fit.result.objective[-1] < 0.9 * fit.result.objective[0]


PLAIN = {  # X, anchors, nu, whether the weight must turn
    "noise": (simulate.dirichlet_mixtures(6, 12, 3, 15.0, random_state=1).X, 3, 0.135, True),
    "a trace of K / 2 + 1 at the first restart": (np.array([[0.75, 0.25], [0.25, 0.75]]), 2, 0.01, False),
}


@pytest.mark.parametrize("case", PLAIN)
def test_steps_are_those_of_the_plain_version(case, monkeypatch):
    X, K, nu, turning = PLAIN[case]
    p = 1 + 0.01 * (np.random.default_rng(0).random(X.shape[1]) - 0.5)
    C, values, turns = plain_steps(X, p, nu, K / 2 + 1, 200)
    for cached in (2**17, 5 * X.shape[1], 1):  # all rows at once; by five, with a rest; one by one
        monkeypatch.setattr("cofactor.rivals.separable.CACHED", cached)
        fit = fast_gradient(X, K, nu=nu, max_iter=200, random_state=0)
        assert np.allclose(fit.coefficients.toarray(), C, atol=1e-9)
        assert np.allclose(fit.result.objective, values, rtol=1e-9) and (turns > 1) == turning


@pytest.mark.slow
def test_finds_the_anchors_where_the_published_rate_is_one():
    """At 12 dB; and the same random numbers give the same answer."""
    for seed in range(5):
        truth = simulate.dirichlet_mixtures(50, 200, 40, 12.0, random_state=seed)
        one, two = (fast_gradient(truth.X, 40, random_state=seed) for _ in range(2))
        assert set(one.anchors) == set(truth.anchors)
        assert (one.coefficients != two.coefficients).nnz == 0


@pytest.mark.parametrize("scale", [1e-150, 1e3, 1e150])
def test_scale_does_not_matter_where_the_weight_scales_too(scale):
    X = simulate.dirichlet_mixtures(20, 60, 5, 20.0, random_state=0).X
    one = fast_gradient(X, 5, nu=1.0, random_state=0)
    two = fast_gradient(scale * X, 5, nu=scale * scale, random_state=0)
    assert np.array_equal(one.anchors, two.anchors) and np.allclose(one.scores, two.scores, atol=1e-6)


@pytest.mark.parametrize("max_iter", [0, 1.5])
def test_refuses_numbers_of_steps_that_are_none(max_iter):
    with pytest.raises(CofactorError, match=f"max_iter={max_iter}: give a whole number of at least 1"):
        fast_gradient(np.eye(3), 2, max_iter=max_iter)

"""Constrained least squares: against the quadratic programme, its optimality conditions, atoms that depend."""

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import nnls

from cofactor.core.errors import CofactorError
from cofactor.separable.least_squares import nonnegative_least_squares, simplex_least_squares
from tests.each import each
from tests.oracles.generators import laws, seeds
from tests.oracles.least_squares import least_squares_by_supports


def problem(seed, M=7, K=5, N=6):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((M, K)), 2 * rng.standard_normal((M, N))


@laws
@given(seed=seeds)
def test_simplex_equals_the_quadratic_programme(seed):
    W, X = problem(seed)
    slow = np.stack([least_squares_by_supports(W, x, on_simplex=True) for x in X.T], axis=1)
    assert np.abs(simplex_least_squares(W, X) - slow).max() <= 1e-8


@laws
@given(seed=seeds)
def test_nonnegative_equals_scipy(seed):
    W, X = problem(seed, M=12, K=9)
    slow = np.stack([nnls(W, x)[0] for x in X.T], axis=1)
    assert np.abs(nonnegative_least_squares(W, X) - slow).max() <= 1e-8


def gradient_conditions(W, X, H, on_simplex):
    """Largest violation of: gradient at least the multiplier everywhere, equal to it where H > 0."""
    gradient = W.T @ (W @ H - X)
    multiplier = (gradient * H).sum(axis=0) if on_simplex else 0.0
    excess = gradient - multiplier
    return max(-excess.min(), np.abs(excess[H > 1e-9]).max(initial=0.0))


@each("M, K, N", [(50, 40, 300), (20, 10, 1000), (80, 70, 100), (3, 1, 5)])
def test_meets_the_optimality_conditions_at_size(M, K, N):
    rng = np.random.default_rng(0)
    W, X = rng.random((M, K)), rng.random((M, N))
    H = simplex_least_squares(W, X)
    assert H.shape == (K, N) and (H >= 0).all() and np.allclose(H.sum(axis=0), 1, atol=1e-12)
    assert gradient_conditions(W, X, H, on_simplex=True) <= 1e-10
    assert gradient_conditions(W, X, nonnegative_least_squares(W, X), on_simplex=False) <= 1e-10


@laws
@given(seed=seeds)
def test_atoms_that_depend_on_one_another(seed):
    """Repeated atoms, more atoms than rows, atoms in one direction: no unique answer, but a least value."""
    rng = np.random.default_rng(seed)
    base = rng.random((4, 3))
    for W in (base[:, [0, 1, 1, 2, 0]], rng.random((3, 12)), np.outer(base[:, 0], [1.0, 2.0, 3.0])):
        X = rng.random((len(W), 8))
        H = simplex_least_squares(W, X)
        assert np.allclose(H.sum(axis=0), 1, atol=1e-12)
        assert gradient_conditions(W, X, H, on_simplex=True) <= 1e-6
        assert gradient_conditions(W, X, nonnegative_least_squares(W, X), on_simplex=False) <= 1e-6


def test_scale_and_sizes_of_atoms_do_not_matter():
    W, X = problem(0, M=12, K=9)
    size = np.logspace(-5, 0, 9)
    assert np.allclose(size[:, None] * nonnegative_least_squares(W * size, X), nonnegative_least_squares(W, X))
    for solve in (simplex_least_squares, nonnegative_least_squares):
        for scale in (1e-150, 1e150):
            assert np.allclose(solve(scale * W, scale * X), solve(W, X), atol=1e-12)


def test_an_atom_is_itself_exactly():
    W, _ = problem(1)
    assert np.array_equal(simplex_least_squares(W, W), np.eye(5))


@each("solve", [simplex_least_squares, nonnegative_least_squares])
def test_bad_input(solve):
    W, X = problem(0)
    with pytest.raises(CofactorError, match=r"W \(7, 5\) and X \(6, 6\) must have equally many rows"):
        solve(W, X[:6])
    with pytest.raises(CofactorError, match="at least one column"):
        solve(W[:, :0], X)
    with pytest.raises(CofactorError, match=r"W must have 2 dimension\(s\)"):
        solve(W[0], X)
    X[0, 2] = np.nan
    with pytest.raises(CofactorError, match=r"X contains NaN or infinity in 1 columns \(2\)"):
        solve(W, X)


@each("solve", [simplex_least_squares, nonnegative_least_squares])
def test_of_many_atoms_that_depend_on_one_another_mixtures_are_met(solve):
    rng = np.random.default_rng(0)
    W = rng.random((5, 300))
    X = W @ rng.dirichlet(np.full(300, 0.02), 20).T
    assert np.abs(W @ solve(W, X) - X).max() < 1e-11

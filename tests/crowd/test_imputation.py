"""Imputation: exact where nothing is noisy, the slow version where it is, honest where it cannot reach."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofactor.core.errors import CofactorError
from cofactor.core.moments import pairwise_moments
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import (
    _fit_in_ball,
    designated_imputation,
    factors_of_model,
    reachable_blocks,
    robust_imputation,
)
from tests.oracles.crowd import (
    ball_fit_by_bisection,
    ball_fit_by_slsqp,
    ball_objective,
    blocks_of,
    criterion_gradient,
    designated_block,
    link_by_svd,
    robust_criterion,
    robust_sweep,
)
from tests.oracles.generators import laws, recorded, seeds, skilled_crowd


def mask_of(M, missing, seed=0):
    """A random pattern around a ring and a triangle, so that it is connected and not bipartite."""
    mask = np.triu(np.random.default_rng(seed).random((M, M)) > missing, 1)
    mask[np.arange(M - 1), np.arange(1, M)] = mask[0, 2] = True
    return mask | mask.T


def model_of(M, K, seed=0):
    return skilled_crowd(seed, n_workers=M, n_classes=K, n_tasks=1).model


def noisy(M, K, seed=0, missing=0.3):
    """Blocks of a finite sample, the thinnest missing; connected, with triangles, every annotator in it."""
    labels = skilled_crowd(seed, n_workers=M, n_classes=K, n_tasks=150, label_rate=0.4).labels
    moments = pairwise_moments(labels.table)
    thin = np.quantile(moments.n_joint.data, missing)
    cooc = Cooccurrences.from_moments(moments, min_common=int(thin) + 1)
    assert cooc.missing_share > missing / 2 and not cooc.isolated.size and cooc.bipartite == [False]
    return cooc


def completed(U):
    stacked = U.reshape(-1, U.shape[2])
    return stacked @ stacked.T


def truth_of(model):
    return completed(factors_of_model(model))


def blunt_start(cooc):
    """Everybody a little better than chance."""
    M, K = cooc.n_workers, cooc.n_classes
    return np.tile((0.5 * np.eye(K) + 0.5 / K) / np.sqrt(K), (M, 1, 1))


def fit(cooc, start=None, **named):
    return recorded(robust_imputation, cooc, blunt_start(cooc) if start is None else start, **named)[0]


# ---- designated annotators ----


@laws
@given(seed=seeds, K=st.integers(2, 4))
def test_a_link_needs_no_svd(seed, K):
    R_mr, R_lr, R_nl = 0.1 * np.random.default_rng(seed).random((3, K, K)) + np.eye(K)
    assert np.allclose(R_mr @ np.linalg.inv(R_lr) @ R_nl.T, link_by_svd(R_mr, R_lr, R_nl), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_designated_equals_the_slow_version_on_noisy_blocks(seed):
    cooc = noisy(8, 3, seed)
    assert len(np.unique(cooc.n)) > 3
    X, observed = designated_imputation(cooc).X.reshape(8, 3, 8, 3), blocks_of(cooc)
    for m in range(8):
        for n in range(8):
            expected = observed[m, n][0] if (m, n) in observed else designated_block(cooc, m, n)
            assert np.allclose(X[m, :, n], expected, atol=1e-10)


@laws
@given(seed=seeds, K=st.integers(2, 4))
def test_designated_is_exact_without_noise(seed, K):
    model = model_of(8, K, seed)
    mask = mask_of(8, 0.3, seed)
    imputed = designated_imputation(Cooccurrences.from_model(model, mask))
    error = np.abs(imputed.X - truth_of(model)).reshape(8, K, 8, K).max(axis=(1, 3))
    assert np.array_equal(imputed.reached, in_three_steps(mask))
    assert imputed.reached.diagonal().sum() >= 3  # diagonal blocks are reached within triangles
    assert error[imputed.reached].max() < 1e-12


@pytest.mark.parametrize("n_references", [3, 5, 12])
def test_a_few_references_are_enough_without_noise(n_references):
    model = model_of(12, 3)
    imputed = designated_imputation(Cooccurrences.from_model(model, mask_of(12, 0.1)), n_references)
    assert np.abs(imputed.X - truth_of(model))[np.kron(imputed.reached, np.ones((3, 3))) > 0].max() < 1e-12
    assert imputed.unreached_share < 0.2


def in_three_steps(mask):
    """Blocks that are observed, or linked over m - r - l - n."""
    return mask | (np.linalg.matrix_power(mask.astype(int), 3) > 0)


def chain():
    """Annotators 0-1-2 all linked, then 3, 4, 5, 6 in a row behind them."""
    mask = np.zeros((7, 7), dtype=bool)
    mask[[0, 0, 1, 2, 3, 4, 5], [1, 2, 2, 3, 4, 5, 6]] = True
    return mask | mask.T


def test_what_no_link_reaches_is_zero_and_reported():
    mask = chain()
    cooc = Cooccurrences.from_model(model_of(7, 2), mask)
    imputed = designated_imputation(cooc)
    three_steps = in_three_steps(mask)
    blocks = imputed.X.reshape(7, 2, 7, 2).sum(axis=(1, 3))
    assert np.array_equal(imputed.reached, three_steps)
    assert np.array_equal(reachable_blocks(cooc), three_steps)
    assert np.all(blocks[~three_steps] == 0) and np.allclose(blocks[three_steps], 1)
    assert imputed.unreached_share == pytest.approx(1 - three_steps.mean())


def test_singular_blocks_link_nobody():
    flat = replace(cooc := noisy(8, 3), blocks=np.full_like(cooc.blocks, 1 / 9))
    imputed = designated_imputation(flat)
    observed = (flat.graph > 0).toarray()
    assert np.array_equal(imputed.reached, observed)
    assert np.array_equal(reachable_blocks(flat), observed)


def test_refuses_what_does_not_fit_in_memory():
    M = 6000
    ends = np.arange(M + 1) * 0
    empty = Cooccurrences(ends, ends[:0], np.zeros((0, 2, 2)), np.zeros(0))
    with pytest.raises(CofactorError, match=r"12000 x 12000 .* 1\.2 GB: use RobSymNMF"):
        designated_imputation(empty)


# ---- robust ----


@pytest.mark.parametrize("p", [1.0, 2.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_sweeps_equal_the_slow_version(seed, p):
    cooc = noisy(7, 3, seed)
    U, result = fit(cooc, p=p, max_iter=3, tol=-1)
    slow = blunt_start(cooc)
    for objective in result.objective:
        slow = robust_sweep(cooc, slow, p)
        assert objective == pytest.approx(robust_criterion(cooc, slow, p), rel=1e-10)
    assert np.allclose(U, slow, atol=1e-8)


@pytest.mark.parametrize("p", [0.5, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_criterion_never_rises(seed, p):
    cooc = noisy(8, 3, seed)
    start = np.random.default_rng(seed).random((8, 3, 3)) / 3
    _, result = fit(cooc, start, p=p, max_iter=60, tol=-1)
    assert result.objective[0] <= robust_criterion(cooc, start, p) * (1 + 1e-12)
    assert np.all(np.diff(result.objective) <= 1e-11 * result.objective[0])


def least_squares_problem(seed, K, size):
    rng = np.random.default_rng(seed)
    V = rng.random((K + 2, K))
    return V.T @ V, size * rng.standard_normal((K, K))


@laws
@given(seed=seeds, K=st.integers(2, 4), size=st.sampled_from([1e-3, 1.0, 10.0, 1e4]))
def test_ball_constrained_fit_meets_the_optimality_conditions(seed, K, size):
    G, B = least_squares_problem(seed, K, size)
    U = _fit_in_ball(G, B)
    pull = B - U @ G  # equals mu U with mu >= 0, and mu = 0 inside the ball
    mu = np.sum(pull * U) / np.sum(U * U)
    assert np.linalg.norm(U) <= 1 + 1e-9
    assert np.allclose(pull, mu * U, atol=1e-7 * max(size, 1))
    assert mu >= -1e-7
    assert abs(mu) * (1 - np.linalg.norm(U)) <= 1e-7 * max(size, 1)


@pytest.mark.parametrize("seed", range(5))
def test_ball_constrained_fit_is_as_good_as_a_general_solver(seed):
    G, B = least_squares_problem(seed, 2, 1.0)
    U, slow = _fit_in_ball(G, B), ball_fit_by_slsqp(G, B)
    assert ball_objective(G, B, U) <= ball_objective(G, B, slow) + 1e-6
    assert np.allclose(U, ball_fit_by_bisection(G, B), atol=1e-9)


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_factors_stay_in_the_ball(p):
    cooc = noisy(8, 3)
    U, _ = fit(replace(cooc, blocks=50 * cooc.blocks), p=p, max_iter=30)
    norms = np.linalg.norm(U, axis=(1, 2))
    assert norms.max() <= 1 + 1e-9
    assert norms.max() > 1 - 1e-6  # these blocks are too large for it, so that the constraint is felt


@pytest.mark.parametrize("p", [1.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_robust_recovers_all_blocks_without_noise(seed, p):
    model = model_of(10, 3, seed)
    cooc = Cooccurrences.from_model(model, mask_of(10, 0.4, seed))
    U, _ = fit(cooc, p=p, max_iter=20_000, tol=0.0)
    assert np.abs(completed(U) - truth_of(model)).max() < 1e-6


def test_robust_criterion_sees_through_garbage():
    errors = {1.0: [], 2.0: []}
    for seed in range(6):
        model, rng = model_of(12, 3, seed), np.random.default_rng(seed)
        cooc = Cooccurrences.from_model(model, mask_of(12, 0.2, seed))
        blocks = cooc.blocks.copy()
        for m, j in [pair for pair in blocks_of(cooc) if pair[0] < pair[1] and rng.random() < 0.15]:
            garbage = rng.dirichlet(np.ones(9)).reshape(3, 3)
            blocks[(cooc.rows == m) & (cooc.indices == j)] = garbage
            blocks[(cooc.rows == j) & (cooc.indices == m)] = garbage.T
        for p in errors:
            U, _ = fit(replace(cooc, blocks=blocks), p=p, max_iter=500)
            errors[p].append(np.linalg.norm(completed(U) - truth_of(model)))
    assert all(robust < plain / 2 for robust, plain in zip(errors[1.0], errors[2.0], strict=True))


def projected_gradient(cooc, U, p):
    """How far a gradient step moves U, once put back into the ball; zero at a constrained minimum."""
    moved = U - criterion_gradient(cooc, U, p)
    moved /= np.maximum(np.linalg.norm(moved, axis=(1, 2), keepdims=True), 1)
    return np.abs(moved - U).max()


@pytest.mark.parametrize("seed", range(3))
def test_nothing_pulls_at_a_converged_fit(seed):
    cooc = noisy(6, 2, seed)
    U, _ = fit(cooc, p=1.0, max_iter=50_000, tol=0.0)
    assert projected_gradient(cooc, U, 1.0) < 1e-4 * projected_gradient(cooc, blunt_start(cooc), 1.0)


def test_annotators_without_blocks_keep_their_start():
    mask = mask_of(6, 0.0)
    mask[4] = mask[:, 4] = False
    cooc = Cooccurrences.from_model(model_of(6, 2), mask)
    U, _ = fit(cooc, max_iter=5)
    assert np.array_equal(U[4], blunt_start(cooc)[4])
    assert not np.array_equal(U[3], blunt_start(cooc)[3])


def test_the_start_of_the_caller_is_not_changed():
    cooc = noisy(6, 2)
    start = blunt_start(cooc)
    fit(cooc, start, max_iter=2)
    assert np.array_equal(start, blunt_start(cooc))


@pytest.mark.parametrize("p", [0.0, -1.0, 3.0])
def test_refuses_a_power_without_a_descent_guarantee(p):
    with pytest.raises(CofactorError, match="p="):
        fit(noisy(6, 2), p=p, max_iter=2)

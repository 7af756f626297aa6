"""CNMF: exact from exact moments, never uphill, as the slow version; in closed form exact on separable models."""

import numpy as np
import pytest
from hypothesis import given

from cofactor import simulate
from cofactor.core.errors import CofactorError, DataWarning, NotIdentifiableError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.pmf import cnmf as module
from cofactor.pmf.cnmf import (
    LIFTED,
    _lift_growing,
    _pass_over_blocks,
    _prior,
    _weighted_cells,
    cnmf_opt,
    cnmf_spa,
    rank_cap,
    virtual_matrix,
    weighted_pairs,
)
from cofactor.pmf.metrics import mse
from evaluation.released.mirror_descent import mirror_descent
from tests.each import each
from tests.oracles.coupled import (
    block_pass,
    coupled_objective,
    exact_pairs,
    mm_step,
    pair_blocks,
)
from tests.oracles.generators import laws, random_codes, random_model, recorded, seeds

SIZES = (2, 3, 4, 2)


def problem(seed, missing=0.4, n_classes=3, sizes=SIZES):
    codes = random_codes(seed, 30, sizes, missing)
    return codes, pairwise_moments(CategoricalTable(codes, sizes)), random_model(seed + 1, n_classes, sizes)


def weights_of(pairs, kind):
    return {pair: n if kind == "count" else 1.0 for pair, (_, n) in pairs.items()}


def skilled(seed=0, sizes=(3,) * 6):
    """Return a model in which the first two variables tell the classes apart, and a start that is not it.

    Without such specialists second moments do not identify a model, exact or not.
    """
    rng = np.random.default_rng(seed)
    A = [np.eye(size, 3) for size in sizes[:2]] + [rng.dirichlet(np.ones(size), 3).T for size in sizes[2:]]
    start = [0.3 * np.eye(size, 3) + 0.7 / size for size in sizes]
    return LatentClassModel([0.2, 0.3, 0.5], A), LatentClassModel(np.ones(3) / 3, [B / B.sum(axis=0) for B in start])


def run(solver, *arguments, **named):
    return recorded(solver, *arguments, **named)[0]


def fit(*arguments, **named):
    return run(cnmf_opt, *arguments, **named)


both = pytest.mark.parametrize("solver", [cnmf_opt, mirror_descent], ids=["mm", "mirror"])


# ---- the slow version ----


@pytest.mark.parametrize("share", [0.0, 2.0], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", ["count", "equal"])
@given(seed=seeds)
@laws
def test_a_step_and_its_objective_equal_the_slow_version(kind, share, seed):
    codes, moments, model = problem(seed)
    pairs = pair_blocks(codes, SIZES)
    w = weights_of(pairs, kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE_SHARE", share)
        evidence = _weighted_cells(moments, weighted_pairs(moments, model, kind))
    cost, (A, prior) = evidence.step((model.stacked, model.prior))
    slow_prior, slow_A = mm_step(pairs, model.prior, model.conditionals, w)
    assert np.isclose(cost, coupled_objective(pairs, model, w))
    assert np.allclose(prior, slow_prior) and np.allclose(A, np.vstack(slow_A))


@pytest.mark.parametrize("kind", ["count", "equal"])
@given(seed=seeds)
@laws
def test_passes_over_blocks_equal_the_slow_version(kind, seed):
    codes, moments, model = problem(seed)
    pairs = pair_blocks(codes, SIZES)
    prior, A = model.prior, model.conditionals
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_PASSES", 2)
        patch.setattr(module, "BLOCK_STEPS", 3)
        found, found_prior = _pass_over_blocks(
            _weighted_cells(moments, weighted_pairs(moments, model, kind)), (model.stacked, prior)
        )
    for _ in range(2):
        prior, A = block_pass(pairs, prior, A, weights_of(pairs, kind), 3)
    assert np.allclose(found_prior, prior) and np.allclose(found, np.vstack(A))


# ---- laws ----


@both
@given(seed=seeds)
@laws
def test_the_objective_never_rises(solver, seed):
    _, moments, model = problem(seed)
    _, result = run(solver, moments, model, max_iter=40, tol=0)
    assert len(result.objective) > 1
    assert np.all(np.diff(result.objective) <= 1e-9 * (1 + result.objective[0]))


@each("sizes", [(3,) * 6, (3, 4, 2, 3, 5, 2)])
def test_recovers_a_model_from_its_exact_moments(sizes):
    truth, start = skilled(0, sizes)
    found, result = cnmf_opt(exact_pairs(truth), start, max_iter=20_000, tol=1e-13)
    assert result.objective[-1] < 1e-10
    assert truth.mse(found) < 1e-8


@both
def test_pairs_that_are_not_observed_do_not_count_as_zero(solver):
    truth, _ = skilled(2)
    ring = [(m, j) for m in range(6) for j in range(m + 1, 6) if (m, j) not in {(0, 1), (2, 4)}]
    moments = exact_pairs(truth, ring)
    found, result = run(solver, moments, truth, max_iter=50, tol=0, floor=0.0)
    assert result.objective[-1] < 1e-8  # the truth fits all that was observed
    assert truth.mse(found) < 1e-6


@both
def test_a_weight_of_zero_masks_a_pair(solver):
    codes, moments, model = problem(5, missing=0.2)
    w = np.ones((4, 4))
    w[1, 3] = w[3, 1] = 0
    without = codes.copy()
    both = (codes[:, 1] >= 0) & (codes[:, 3] >= 0)
    masked = run(solver, moments, model, w, max_iter=5)
    assert both.any() and not np.allclose(
        masked[0].stacked, run(solver, moments, model, "equal", max_iter=5)[0].stacked
    )
    pairs = {pair: block for pair, block in pair_blocks(without, SIZES).items() if pair != (1, 3)}
    if solver is cnmf_opt:
        assert np.isclose(masked[1].objective[-1], coupled_objective(pairs, masked[0], weights_of(pairs, "equal")))


@both
def test_a_variable_without_pairs_keeps_its_place(solver):
    codes, _, model = problem(6)
    codes[:, 1] = -1
    found, _ = run(solver, pairwise_moments(CategoricalTable(codes, SIZES)), model, max_iter=5)
    assert np.array_equal(found.conditionals[1], np.full((3, 3), 1 / 3))
    assert np.isfinite(found.stacked).all() and np.allclose(found.conditionals[2].sum(axis=0), 1)


@both
def test_more_classes_than_values_and_a_single_value(solver):
    _, moments, model = problem(7, n_classes=6, sizes=(2, 1, 3))
    found, result = run(solver, moments, model, max_iter=20)
    assert np.isfinite(result.objective).all() and np.isfinite(found.stacked).all()
    assert np.allclose(found.conditionals[1], 1)


# ---- looking for a lower optimum ----


@given(seed=seeds)
@laws
def test_a_thorough_fit_never_rises_and_is_fixed_by_its_last_objective(seed):
    codes, moments, model = problem(seed)
    found, result = fit(moments, model, weights="equal", thorough=True)
    assert np.all(np.diff(result.objective) <= 1e-9 * (1 + result.objective[0])) and result.n_iter == len(
        result.objective
    )
    pairs = pair_blocks(codes, SIZES)
    assert np.isclose(result.objective[-1], coupled_objective(pairs, found, weights_of(pairs, "equal")), atol=1e-9)


def test_an_entry_given_up_too_soon_is_lifted_and_one_that_belongs_at_zero_is_not():
    truth, _ = skilled(0)
    evidence = _weighted_cells(exact_pairs(truth), weighted_pairs(exact_pairs(truth), truth, "equal"))
    assert _lift_growing(evidence, (truth.stacked, truth.prior)) is None  # half of the first rows are zeros
    lost = np.array(truth.stacked)
    lost[[7, 8], 1] = 1e-12, lost[[7, 8], 1].sum() - 1e-12
    A, prior = _lift_growing(evidence, (lost, truth.prior))
    assert A[7, 1] == pytest.approx(LIFTED, rel=0.01) and np.array_equal(prior, truth.prior)
    assert np.allclose(A[6:9].sum(axis=0), 1) and np.array_equal(A[:6], truth.stacked[:6])


def test_lifting_ends_where_it_does_not_help(monkeypatch):
    _, moments, start = problem(0)
    tried = []
    monkeypatch.setattr(module, "_lift_growing", lambda evidence, end: tried.append(end) or end)
    assert fit(moments, start, thorough=True, max_iter=20_000)[1].converged and len(tried) == 1


# ---- what is refused, what is said ----


@each(
    "named, message",
    [
        (dict(weights="n"), "choose 'count' or 'equal'"),
        (dict(weights=np.ones((2, 2))), r"shape \(2, 2\): pass an \(4, 4\) array"),
        (dict(weights=np.triu(np.ones((4, 4)))), r"symmetric, but are not for pairs \(0, 1\)"),
    ],
)
def test_refuses_what_it_cannot_use(named, message):
    _, moments, model = problem(0)
    with pytest.raises(CofactorError, match=message):
        cnmf_opt(moments, model, **named)


def test_refuses_a_start_of_other_variables_and_moments_without_pairs():
    codes, moments, _ = problem(0)
    with pytest.raises(CofactorError, match="4 variables with 11 values in total, the start has 3 with 9"):
        cnmf_opt(moments, random_model(0))
    codes[:, 1:] = -1
    with pytest.raises(NotIdentifiableError, match="no two variables were observed together"):
        cnmf_opt(pairwise_moments(CategoricalTable(codes, SIZES)), random_model(0, 3, SIZES))


# ---- CNMF-SPA ----


SPLIT_SIZES = (5, 3, 4, 6)


def separable(seed=0, sizes=SPLIT_SIZES, n_classes=3):
    """Variable 3 takes each of its first three values under one class alone."""
    rng = np.random.default_rng(seed)
    A = [rng.dirichlet(np.ones(size), n_classes).T for size in sizes]
    A[3] = np.vstack([np.diag(rng.uniform(0.2, 0.5, n_classes)), rng.random((sizes[3] - n_classes, n_classes))])
    A[3][n_classes:] *= (1 - A[3][:n_classes].sum(axis=0)) / A[3][n_classes:].sum(axis=0)
    return LatentClassModel(rng.dirichlet(np.full(n_classes, 5)), A)


@laws
@given(seed=seeds)
def test_exact_where_one_side_has_anchors(seed):
    truth = separable(seed)
    for split in (2, [0, 1], [0, 2], [1, 0, 2]):
        assert mse(truth, cnmf_spa(exact_pairs(truth), 3, split, floor=1e-12)) < 1e-12


def test_values_that_never_occur_are_no_anchors():
    truth = separable()
    A = [np.vstack([block, np.zeros(3)]) for block in truth.conditionals]
    longer = LatentClassModel(truth.prior, A)
    assert mse(longer, cnmf_spa(exact_pairs(longer), 3, 2, floor=1e-12)) < 1e-12


@pytest.mark.slow
def test_the_error_falls_with_rows_as_measured():
    """Table 1 as measured: true MSE .0051 at 1e4 rows, .00055 at 1e5 (means; sd about half of that)."""
    truth = [simulate.joint_model(5, 10, 5, separability=0.1, random_state=seed) for seed in range(5)]
    for n_rows, error in ((10_000, 0.0051), (100_000, 0.00055)):
        tables = [simulate.joint_table(one, n_rows, 0.5, seed) for seed, one in enumerate(truth)]
        found = [mse(one, cnmf_spa(pairwise_moments(t), 5, 3)) for one, t in zip(truth, tables, strict=True)]
        assert np.mean(found) == pytest.approx(error, rel=0.5)


def test_nothing_falls_below_the_floor():
    model = cnmf_spa(exact_pairs(separable()), 3, 2, floor=0.01)
    assert model.stacked.min() > 0.009 and np.allclose(model.stacked[:5].sum(axis=0), 1)
    with pytest.raises(CofactorError, match=r"floor=1\.5: give a number from 0 to 1"):
        cnmf_spa(exact_pairs(separable()), 3, 2, floor=1.5)


def test_the_virtual_matrix_puts_joint_pmfs_side_by_side():
    truth = separable()
    X = virtual_matrix(exact_pairs(truth), np.array([0, 2]), np.array([1, 3]))
    expected = np.block([[truth.pairwise(0, 1), truth.pairwise(0, 3)], [truth.pairwise(2, 1), truth.pairwise(2, 3)]])
    assert np.allclose(X, expected, atol=1e-15)


# ---- the bound ----


@each("split, cap", [(1, 5), ([1], 3), ([0, 2], 8), (2, 7), ([3, 0], 6), (None, 8)])
def test_the_bound_is_the_smaller_side(split, cap):
    """1 + 4 | 1 + 2 + 3 + 5, and so on; by default 5 + 4 against 3 + 6 values would be best, 5 + 3 | 4 + 6 is found."""
    moments = exact_pairs(separable())
    assert rank_cap(moments, split) == cap or split is None
    assert rank_cap(moments) >= 7


def test_refuses_ranks_above_the_bound_unless_it_may_pad():
    moments = pairwise_moments(separable().sample(2000, random_state=0)[0])
    with pytest.raises(CofactorError, match=r"rank=8: with variables 0, 1 on one side .* at most 7 classes"):
        cnmf_spa(moments, 8, 2)
    padded = cnmf_spa(moments, 20, 2, pad=True, random_state=0)
    assert padded.n_classes == 20 and padded.prior.sum() == pytest.approx(1)
    assert np.allclose(np.add.reduceat(padded.stacked, [0, 5, 8, 12], axis=0), 1)


def test_refuses_more_classes_than_the_frequencies_show():
    moments = exact_pairs(separable())
    with pytest.raises(CofactorError, match="rank=4: the pairwise frequencies contain only 3 anchors"):
        cnmf_spa(moments, 4, 2)
    assert cnmf_spa(moments, 4, 2, pad=True, random_state=0).n_classes == 4


def test_copies_share_the_prior_of_what_they_copy():
    moments = exact_pairs(separable())
    plain, padded = cnmf_spa(moments, 3, 2), cnmf_spa(moments, 4, 2, pad=True, random_state=0)
    largest = int(np.argmax(plain.prior))
    assert padded.prior[largest] == padded.prior[3] == pytest.approx(plain.prior[largest] / 2)
    assert np.abs(padded.stacked[:, 3] / plain.stacked[:, largest] - 1).max() < 0.12
    assert not np.array_equal(padded.stacked[:, 3], padded.stacked[:, largest])


# ---- pairs that were never observed ----


def test_the_default_split_goes_around_missing_pairs():
    """Pairs 0-1 and 2-3 are missing: 0, 1 against 2, 3 has all that is needed."""
    truth = separable(sizes=(6, 6, 6, 6))
    moments = exact_pairs(truth, observed=[(0, 2), (0, 3), (1, 2), (1, 3)])
    assert mse(truth, cnmf_spa(moments, 3, floor=1e-12)) < 1e-12


def test_a_pair_that_must_be_missing_is_taken_for_independent_and_named():
    moments = exact_pairs(separable(), observed=[(0, 2), (0, 3), (1, 3), (0, 1), (2, 3)])
    with pytest.warns(DataWarning, match=r"CNMF-SPA treats pairs that were never observed as independent: \(1, 2\)"):
        cnmf_spa(moments, 3, split=2)
    X = virtual_matrix(moments, np.array([0, 1]), np.array([2, 3]))
    truth = separable()
    assert np.allclose(X[5:, :4], np.outer(truth.marginal(1), truth.marginal(2)))


# ---- bad input ----


@each("split", [0, 4, [], [0, 1, 2, 3], [4], [-1, 2]])
def test_refuses_splits_with_nobody_on_one_side(split):
    with pytest.raises(CofactorError, match=r"must be some, but not all, of the variables 0\.\.3, or their number"):
        cnmf_spa(exact_pairs(separable()), 2, split)


def test_refuses_one_variable():
    table, _ = LatentClassModel([1.0], [[[0.5], [0.5]]]).sample(10, random_state=0)
    with pytest.raises(CofactorError, match="a single variable has no pairs"):
        cnmf_spa(pairwise_moments(table), 1)


@each("seed", range(3))
def test_the_prior_of_equal_classes_is_found_though_its_equations_are_singular(seed):
    rng = np.random.default_rng(seed)
    W, H = (np.repeat(rng.dirichlet(np.ones(5))[:, None], 4, axis=1) for _ in range(2))
    prior = _prior(W @ H.T / 4, W, H)
    assert np.allclose(W @ np.diag(prior) @ H.T, W @ H.T / 4)

"""CNMF-SPA: exact on separable models and endless data, within its bound, honest beyond it."""

import numpy as np
import pytest
from hypothesis import given

from cofactor import simulate
from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.pmf.cnmf_spa import _prior, cnmf_spa, rank_cap, virtual_matrix
from cofactor.pmf.metrics import mse
from tests.each import each
from tests.oracles.coupled import exact_pairs
from tests.oracles.generators import laws, seeds

SIZES = (5, 3, 4, 6)


def separable(seed=0, sizes=SIZES, n_classes=3):
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
    with pytest.raises(CofactorError, match="rank=4: the pairwise frequencies show only 3 classes"):
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
    with pytest.warns(DataWarning, match=r"never observed, which CNMF-SPA treats as independent: \(1, 2\)"):
        cnmf_spa(moments, 3, split=2)
    X = virtual_matrix(moments, np.array([0, 1]), np.array([2, 3]))
    truth = separable()
    assert np.allclose(X[5:, :4], np.outer(truth.marginal(1), truth.marginal(2)))


# ---- bad input ----


@each("split", [0, 4, [], [0, 1, 2, 3], [4], [-1, 2]])
def test_refuses_splits_with_nobody_on_one_side(split):
    with pytest.raises(CofactorError, match=r"give some, but not all, of the variables 0\.\.3, or how many"):
        cnmf_spa(exact_pairs(separable()), 2, split)


def test_refuses_one_variable():
    table, _ = LatentClassModel([1.0], [[[0.5], [0.5]]]).sample(10, random_state=0)
    with pytest.raises(CofactorError, match="one variable has no pairs"):
        cnmf_spa(pairwise_moments(table), 1)


@each("seed", range(3))
def test_the_prior_of_equal_classes_is_found_though_its_equations_are_singular(seed):
    rng = np.random.default_rng(seed)
    W, H = (np.repeat(rng.dirichlet(np.ones(5))[:, None], 4, axis=1) for _ in range(2))
    prior = _prior(W @ H.T / 4, W, H)
    assert np.allclose(W @ np.diag(prior) @ H.T, W @ H.T / 4)

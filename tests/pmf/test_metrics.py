"""Errors of joint PMFs: by the definition, all orders tried and tensors formed."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given

from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.pmf.metrics import inner_product, mre, mse
from tests.oracles.generators import laws, random_model, seeds
from tests.oracles.latent_class import joint_by_outer_products


def mse_in_order(truth, estimate):
    prior = np.sum((truth.prior - estimate.prior) ** 2)
    pairs = zip(truth.conditionals, estimate.conditionals, strict=True)
    return prior + np.mean([np.sum((A - B) ** 2) for A, B in pairs]) / truth.n_classes


@laws
@given(seed=seeds)
def test_mse_is_that_of_the_best_order(seed):
    truth, estimate = random_model(seed), random_model(seed + 1)
    orders = [estimate.reorder(list(order)) for order in permutations(range(3))]

    def misfit(other):
        return np.sum((truth.prior - other.prior) ** 2) + np.sum((truth.stacked - other.stacked) ** 2)

    assert mse(truth, estimate) == pytest.approx(mse_in_order(truth, min(orders, key=misfit)), rel=1e-12)


@laws
@given(seed=seeds)
def test_any_order_of_classes_is_without_error(seed):
    truth = random_model(seed, n_classes=4)
    shuffled = truth.reorder(np.random.default_rng(seed).permutation(4))
    assert mse(truth, shuffled) == 0
    assert mre(truth, shuffled) == pytest.approx(0, abs=1e-6)


@laws
@given(seed=seeds)
def test_mre_equals_that_of_the_tensors(seed):
    truth, estimate = random_model(seed), random_model(seed + 1, n_classes=2 + seed % 3)
    T, T_hat = joint_by_outer_products(truth), joint_by_outer_products(estimate)
    assert mre(truth, estimate) == pytest.approx(np.linalg.norm(T - T_hat) / np.linalg.norm(T), rel=1e-9)
    assert inner_product(truth, estimate) == pytest.approx(np.sum(T * T_hat), rel=1e-12)


def test_mre_of_fifteen_variables_needs_no_tensor():
    truth, estimate = (random_model(seed, n_classes=4, sizes=(10,) * 15) for seed in (0, 1))
    assert 0 < mre(truth, estimate) < np.inf


def test_mre_divides_by_the_norm_of_the_truth():
    """Twice as large a norm of the estimate must not halve the error."""
    flat, peak = LatentClassModel([1.0], [[[0.5], [0.5]]]), LatentClassModel([1.0], [[[1.0], [0.0]]])
    assert mre(flat, peak) == pytest.approx(1)
    assert mre(peak, flat) == pytest.approx(np.sqrt(0.5))


def test_an_error_in_one_variable_counts_one_nth():
    truth = LatentClassModel([0.5, 0.5], [np.eye(2)] * 4)
    off = LatentClassModel([0.5, 0.5], [np.eye(2)] * 3 + [[[0.9, 0.1], [0.1, 0.9]]])
    assert mse(truth, off) == pytest.approx(4 * 0.01 / 4 / 2)


def test_refuses_models_that_cannot_be_compared():
    with pytest.raises(CofactorError, match="cannot align"):
        mse(random_model(0), random_model(0, n_classes=2))
    with pytest.raises(CofactorError, match="different alphabets: no distance between them"):
        mre(random_model(0), random_model(0, sizes=(2, 3, 5)))

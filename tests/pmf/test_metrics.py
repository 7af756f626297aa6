"""Errors of joint PMFs: by the definition, all orders tried and tensors formed."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given

from cofactor import CategoricalTable, simulate
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.pmf import METHODS
from cofactor.pmf.base import hide_cells
from cofactor.pmf.metrics import held_out, inner_product, mre, mse, shared_information
from tests.oracles.generators import laws, random_model, seeds
from tests.oracles.latent_class import conditional_by_summing, joint_by_outer_products


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


def test_refuses_models_that_cannot_be_compared():
    with pytest.raises(CofactorError, match="cannot align"):
        mse(random_model(0), random_model(0, n_classes=2))
    with pytest.raises(CofactorError, match="different alphabets, so their distance is undefined"):
        mre(random_model(0), random_model(0, sizes=(2, 3, 5)))


# ---- hidden cells ----


def test_losses_are_those_of_the_definition_and_the_estimator_is_not_changed():
    truth = simulate.joint_model(4, 3, 2, random_state=0)
    table = simulate.joint_table(truth, 200, 0.8, random_state=1)
    method = METHODS["RAND-EM"](rank=2, random_state=0)
    found = held_out(method, table, 5)
    assert not hasattr(method, "model_")
    hidden = hide_cells(table, np.random.default_rng(5))[0]
    model = METHODS["RAND-EM"](rank=2, random_state=0).fit(hidden.seen).model_
    for e in range(0, len(hidden.row), 9):
        row = hidden.seen.codes[hidden.row[e]]
        shares = conditional_by_summing(model, row, int(hidden.variable[e]))
        assert found.loss[e] == pytest.approx(-np.log(shares[hidden.code[e]]), rel=1e-6)
        assert found.right[e] == (shares.argmax() == hidden.code[e])
    n = found.variable[0]
    counts = np.bincount(hidden.seen.codes[:, n][hidden.seen.codes[:, n] >= 0], minlength=3) + 0.5
    assert found.base_loss[0] == pytest.approx(-np.log(counts / counts.sum())[hidden.code[0]])


def test_gain_counts_rows_not_cells():
    table = simulate.joint_table(simulate.joint_model(5, 3, 2, random_state=0), 100, random_state=1)
    found = held_out(METHODS["RAND-EM"](rank=2, random_state=0), table, 0)
    gains = found.base_loss - found.loss
    mean, error = found.gain()
    sums = [np.sum(gains[found.row == s] - gains.mean()) for s in np.unique(found.row)]
    assert mean == pytest.approx(gains.mean()) and error == pytest.approx(np.linalg.norm(sums) / len(gains))
    means = found.by_variable()
    assert means["cells"].sum() == len(gains)
    sums = means.drop(columns="cells").mul(means["cells"], axis=0).sum()
    totals = {"loss": found.loss, "base_loss": found.base_loss}
    totals |= {"wrong": ~found.right.astype(bool), "base_wrong": ~found.base_right.astype(bool)}
    assert sums.to_dict() == pytest.approx({name: values.sum() for name, values in totals.items()})


def test_too_few_cells_to_hide_any():
    assert held_out(METHODS["RAND-EM"](rank=1), CategoricalTable([[0, 1]])) is None


def test_dependence_is_the_mutual_information_of_the_joint():
    model = simulate.joint_model(3, 4, 2, random_state=0)
    pair = joint_by_outer_products(model).sum(axis=2)
    rows, columns = pair.sum(axis=1), pair.sum(axis=0)
    common = np.sum(pair * np.log(pair / np.outer(rows, columns)))
    least = min(-np.sum(p * np.log(p)) for p in (rows, columns))
    found = shared_information(model)
    assert found[0, 1] == pytest.approx(common / least) == pytest.approx(found[1, 0]) and found[2, 2] == 1

"""The latent-class model: probabilities are right, whatever is missing, long or impossible."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.latent_class import LatentClassModel, map_class, match_classes, match_columns
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from tests.each import each
from tests.oracles.generators import SIZES, laws, random_model, random_table, seeds
from tests.oracles.latent_class import (
    best_order,
    conditional_by_summing,
    joint_by_multiplying,
    joint_by_outer_products,
    likelihood_by_summing,
    most_probable_fill,
    mse_by_trying,
)

A = [[0.9, 0.2], [0.1, 0.8]]


@laws
@given(seed=seeds)
def test_posterior_and_likelihood_equal_the_slow_version(seed):
    model, table = random_model(seed), random_table(seed)
    joint = np.array([joint_by_multiplying(model, row) for row in table.codes])
    assert np.allclose(model.posterior(table), joint / joint.sum(axis=1, keepdims=True), atol=1e-12)
    assert model.log_likelihood(table) == pytest.approx(likelihood_by_summing(model, table.codes), rel=1e-12)


def test_a_class_that_never_occurs_is_impossible_without_a_warning():
    model = LatentClassModel([1.0, 0.0], [A, A])
    assert np.isneginf(model.log_joint(CategoricalTable([[0, 1]], (2, 2)))[:, 1]).all()


def test_rows_of_two_thousand_labels_do_not_underflow():
    model = LatentClassModel([0.5, 0.5], [A] * 2000)
    codes = np.zeros((2, 2000), dtype=int)
    codes[1, :1000] = 1
    posterior = model.posterior(CategoricalTable(codes, model.sizes))
    odds = 1000 * (np.log(0.9 / 0.2) + np.log(0.1 / 0.8))
    assert posterior[0].tolist() == [1, 0]
    assert np.allclose(posterior[1], [0, 1] if odds < -50 else [1, 0])
    expected = np.log(0.5) + 2000 * np.log(0.9)
    assert model.explain(CategoricalTable(codes, model.sizes))[1][0] == pytest.approx(expected, rel=1e-12)


def test_a_row_without_observations_gets_the_prior():
    model = random_model(4)
    posterior, log_likelihood = model.explain(CategoricalTable([[-1, -1, -1]], SIZES))
    assert np.allclose(posterior[0], model.prior, rtol=1e-14)
    assert log_likelihood[0] == pytest.approx(0, abs=1e-14)


def test_an_impossible_observation_has_no_likelihood_but_a_posterior():
    model = LatentClassModel([1.0, 0.0], [np.eye(2)] * 2)
    table = CategoricalTable([[0, 1], [1, 1], [0, 0], [-1, -1]])
    posterior, log_likelihood = model.explain(table)
    assert log_likelihood.tolist() == [-np.inf, -np.inf, 0, 0]
    assert np.isfinite(posterior).all() and np.allclose(posterior.sum(axis=1), 1)
    assert model.log_likelihood(table) == -np.inf


def test_what_is_nearly_impossible_costs_what_it_costs():
    """Posteriors are floored at 1e-12, log-likelihoods are not."""
    model = LatentClassModel([0.5, 0.5], [[[1.0, 1 - 1e-40], [0.0, 1e-40]]])
    assert model.log_likelihood(CategoricalTable([[1]], [2])) == pytest.approx(np.log(0.5e-40), rel=1e-12)


def test_a_zero_in_some_classes_makes_no_row_impossible():
    model = LatentClassModel([0.5, 0.5], [np.eye(2), [[0.3, 1.0], [0.7, 0.0]]])
    found = model.explain(CategoricalTable([[0, 1], [1, 0], [1, 1]]))[1]
    assert np.allclose(found, [np.log(0.35), np.log(0.5), -np.inf])


# ---- one variable given the others ----


@laws
@given(seed=seeds)
def test_conditional_expectation_and_map_equal_the_joint_tensor_summed_out(seed):
    model, table = random_model(seed), random_table(seed)
    for target, size in enumerate(SIZES):
        expected = np.array([conditional_by_summing(model, row, target) for row in table.codes])
        assert np.allclose(model.conditional(table, target), expected, atol=1e-12)
        assert np.array_equal(model.predict_map(table, target), expected.argmax(axis=1))
        stars = np.arange(size) * 0.5 + 1
        assert np.allclose(model.expectation(table, target, stars), expected @ stars, atol=1e-12)
        assert np.allclose(model.expectation(table, target), expected @ np.arange(size), atol=1e-12)


@laws
@given(seed=seeds)
def test_what_a_row_holds_of_the_target_itself_is_not_looked_at(seed):
    model, codes = random_model(seed), random_table(seed).codes
    hidden = codes.copy()
    hidden[:, 1] = -1
    one, other = (model.conditional(CategoricalTable(c, SIZES), 1) for c in (codes, hidden))
    assert np.allclose(one, other, atol=1e-12)


def test_a_tie_goes_to_the_value_more_frequent_under_the_model():
    model = LatentClassModel([0.3, 0.7], [np.eye(2), [[0.5, 0.1], [0.5, 0.9]]])
    assert model.predict_map(CategoricalTable([[0, -1]], [2, 2]), 1).tolist() == [1]


@laws
@given(seed=seeds)
def test_imputes_each_missing_entry_by_its_most_probable_value(seed):
    model, table = random_model(seed), random_table(seed)
    filled = model.impute(table)
    assert np.array_equal(filled, [most_probable_fill(model, row) for row in table.codes])
    assert np.array_equal(filled[table.codes >= 0], table.codes[table.codes >= 0])


@pytest.mark.parametrize("sizes", [(4,), (2, 3), SIZES, (1, 3, 2, 1, 2)], ids=str)
def test_joint_tensor_is_the_sum_of_rank_one_tensors(sizes):
    model = random_model(1, sizes=sizes)
    T = model.joint_tensor()
    assert T.shape == sizes
    assert np.allclose(T, joint_by_outer_products(model), atol=1e-15)
    assert T.sum() == pytest.approx(1)


def test_codes_beyond_the_model_count_as_missing_and_are_named():
    model = random_model(0, sizes=(2, 3))
    with pytest.warns(
        DataWarning, match="2 codes outside their alphabet count as missing: row 0, variable 0: 4, row 1,"
    ):
        shares = model.conditional(CategoricalTable([[4, 1], [5, -1], [1, 0]], [6, 3]), 1)
    expected = model.conditional(CategoricalTable([[-1, 1], [-1, -1], [1, 0]], [2, 3]), 1)
    assert np.array_equal(shares, expected)


# ---- order of the classes ----


@laws
@given(seed=seeds)
def test_aligning_undoes_any_order(seed):
    model = random_model(seed, n_classes=4)
    order = np.random.default_rng(seed).permutation(4)
    aligned = model.reorder(order).align_to(model)
    assert np.array_equal(aligned.prior, model.prior)
    assert np.array_equal(aligned.stacked, model.stacked)


@laws
@given(seed=seeds)
def test_order_permutes_the_posterior_and_keeps_the_likelihood(seed):
    model, table = random_model(seed), random_table(seed)
    other = model.reorder([2, 0, 1])
    assert np.allclose(other.posterior(table), model.posterior(table)[:, [2, 0, 1]])
    assert other.log_likelihood(table) == pytest.approx(model.log_likelihood(table), rel=1e-12)


def test_refuses_to_align_models_of_other_variables():
    with pytest.raises(CofactorError, match="cannot align"):
        random_model(0).align_to(random_model(0, sizes=(2, 3)))


# ---- sampling ----


def test_samples_have_the_pairwise_joints_of_the_model():
    model, n_rows = random_model(5), 40_000
    table, classes = model.sample(n_rows, random_state=0)
    moments = pairwise_moments(table)
    for m, j in [(0, 1), (1, 2), (0, 2)]:
        P = model.pairwise(m, j)
        assert np.all(np.abs(moments.joint(m, j) - P) <= 5 * np.sqrt(P * (1 - P) / n_rows))
    share = np.bincount(classes, minlength=3) / n_rows
    assert np.all(np.abs(share - model.prior) <= 5 * np.sqrt(model.prior * (1 - model.prior) / n_rows))


def test_pairwise_is_the_sum_over_classes():
    model = random_model(6)
    expected = sum(
        model.prior[f] * np.outer(model.conditionals[0][:, f], model.conditionals[2][:, f]) for f in range(3)
    )
    assert np.allclose(model.pairwise(0, 2), expected, rtol=1e-13)
    assert model.pairwise(0, 2).sum() == pytest.approx(1)


def test_samples_exactly_the_entries_asked_for():
    row, variable = np.array([4, 0, 0, 2]), np.array([1, 2, 0, 2])
    table, classes = random_model(7).sample(5, (row, variable), random_state=0)
    asked = np.zeros((5, 3), dtype=bool)
    asked[row, variable] = True
    assert np.array_equal(table.codes >= 0, asked)
    assert len(classes) == 5


def test_never_draws_what_has_probability_zero():
    model = LatentClassModel([0.5, 0.5], [[[0, 0.5], [1, 0], [0, 0.5]], np.eye(2)])
    table, classes = model.sample(2000, random_state=1)
    assert set(zip(classes.tolist(), table.codes[:, 0].tolist(), strict=True)) == {(0, 1), (1, 0), (1, 2)}
    assert np.array_equal(table.codes[:, 1], classes)


# ---- ties ----


@each(
    "posterior, prior, expected",
    [
        ([0.4, 0.4, 0.2], [0.3, 0.5, 0.2], 1),  # the tied class with the larger prior
        ([0.4, 0.4, 0.2], [0.2, 0.2, 0.6], 0),  # a class outside the tie has no say; then the lower code
        ([0.4, 0.4 + 1e-12, 0.2], [0.5, 0.3, 0.2], 0),  # rounding breaks no tie
        ([0.3, 0.4, 0.3], [0.9, 0.1, 0.0], 1),  # no tie, no prior
        ([1 / 3] * 3, [0.0, 0.0, 1.0], 2),
    ],
)
def test_tie_rule(posterior, prior, expected):
    assert map_class([posterior], prior).tolist() == [expected]


# ---- bad input ----


@each(
    "prior, conditionals, message",
    [
        ([0.5, 0.6], [A], "prior must be nonnegative and sum to one"),
        ([-0.5, 1.5], [A], "prior"),
        ([np.nan, 1], [A], "prior"),
        ([[0.5, 0.5]], [A], r"prior of shape \(F,\)"),
        ([0.5, 0.5], [], "at least one conditional"),
        ([0.5, 0.5], 3, "a list of matrices, one per variable; got 3"),
        ([0.5, 0.5], np.array(3.0), "a list of matrices, one per variable"),
        ([0.5, 0.5], [A, np.eye(3), A, [1, 2]], r"\(I_n, 2\); see variables 1, 3"),
        ([0.5, 0.5], [A, np.ones((2, 2)), A, -np.eye(2)], "see variables 1, 3"),
        ([0.5, 0.5], [A] + [np.full((2, 2), np.nan)] * 12, r"1, 2, .*10, \.\.\. \(12 in all\)"),
    ],
)
def test_names_the_variables_that_are_wrong(prior, conditionals, message):
    with pytest.raises(CofactorError, match=message):
        LatentClassModel(prior, conditionals)


def test_refuses_a_table_of_other_variables():
    with pytest.raises(CofactorError, match="the table has 2 variables, the model 3"):
        random_model(0).posterior(random_table(0, sizes=(2, 3)))


def test_refuses_a_joint_tensor_that_would_not_fit_and_names_its_size():
    with pytest.raises(CofactorError, match=r"joint PMF of 15 variables has 1e\+15 cells, 8e\+06 GB: use conditional"):
        random_model(0, sizes=(10,) * 15).joint_tensor()
    with pytest.raises(CofactorError, match="24 cells"):
        random_model(0).joint_tensor(most_bytes=191)
    assert random_model(0).joint_tensor(most_bytes=192).size == 24


@each("target", [-1, 3, 1.0, "class"])
def test_refuses_variables_that_do_not_exist(target):
    model, table = random_model(0), random_table(0)
    for question in (partial(model.conditional, table), partial(model.pairwise, 0), model.marginal):
        with pytest.raises(CofactorError, match=f"no variable {target!r}: the model has 3"):
            question(target)


@each("question", ["posterior", "log_likelihood", "impute"])
def test_refuses_what_is_no_table(question):
    with pytest.raises(CofactorError, match=r"expected a CategoricalTable, got ndarray: CategoricalTable\(codes\)"):
        getattr(random_model(0), question)(random_table(0).codes)


@each("values", [[1, 2], [1, 2, np.nan], [[1, 2, 3]]])
def test_refuses_an_expectation_without_a_number_for_each_value(values):
    with pytest.raises(CofactorError, match="variable 1 has 3 values: give one finite number for each"):
        random_model(0).expectation(random_table(0), 1, values)


def test_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        random_model(0).prior[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        random_model(0).conditionals[0][0, 0] = 1


# ---- order of the classes of two models ----


THREE_CYCLES = [[1, 2, 0], [2, 0, 1]]  # not their own inverses: P for P' shows


@laws
@given(seed=seeds, n_columns=st.integers(1, 5))
def test_matching_equals_trying_all_orders(seed, n_columns):
    reference, estimate = np.random.default_rng(seed).random((2, 4, n_columns))
    assert tuple(match_columns(reference, estimate)) == best_order(reference, estimate)


@laws
@given(seed=seeds)
def test_error_equals_the_equation(seed):
    truth, estimate = random_model(seed), random_model(seed + 1)
    assert truth.mse(estimate) == pytest.approx(mse_by_trying(truth, estimate), rel=1e-10)


@laws
@given(seed=seeds)
def test_error_ignores_the_names_on_both_sides(seed):
    truth, estimate = random_model(seed), random_model(seed + 1)
    assert truth.reorder([1, 2, 0]).mse(estimate.reorder([0, 2, 1])) == pytest.approx(truth.mse(estimate), rel=1e-10)


@each("order", THREE_CYCLES)
def test_votes_name_the_classes(order):
    votes = np.random.default_rng(1).dirichlet(np.full(3, 0.2), size=50)
    posterior = votes[:, order]
    assert np.array_equal(posterior[:, match_classes(votes, posterior)], votes)

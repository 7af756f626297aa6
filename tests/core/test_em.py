"""Expectation-maximisation: uphill, at rest in the truth, the same under every renaming."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given

import cofactor as cf
from cofactor.core.em import em, expectation, iterate_em, maximization, soft_counts
from cofactor.core.errors import CofactorError, ConvergenceWarning
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from tests.each import each
from tests.oracles.generators import SIZES, laws, random_model, random_table, recorded, seeds
from tests.oracles.latent_class import em_round

pytestmark = pytest.mark.usefixtures("both_ways")


def run(table, start, **named):
    return recorded(em, table, start, **named)[0]


@laws
@given(seed=seeds)
def test_likelihood_never_falls(seed):
    table = random_table(seed, n_rows=60)
    model, result = run(table, random_model(seed + 1), max_iter=40)
    steps = np.diff([*result.objective, model.log_likelihood(table)])
    assert np.all(steps >= -1e-9 * np.abs(result.objective[0]))


@laws
@given(seed=seeds)
def test_equals_five_rounds_of_the_slow_version(seed):
    table, start = random_table(seed, n_rows=40), random_model(seed + 1)
    model, _ = run(table, start, max_iter=5, tol=-1)
    prior, conditionals = start.prior, start.conditionals
    for _ in range(5):
        prior, conditionals = em_round(prior, conditionals, table.codes)
    assert np.allclose(model.prior, prior, atol=1e-10)
    assert np.allclose(model.stacked, np.vstack(conditionals), atol=1e-10)


def every_row_once():
    """All 24 complete rows of SIZES."""
    return np.stack(np.meshgrid(*(np.arange(size) for size in SIZES), indexing="ij"), axis=-1).reshape(-1, 3)


def test_the_truth_is_a_fixed_point_of_endless_data():
    truth, rows = random_model(2), every_row_once()
    table = CategoricalTable(rows, SIZES)
    posterior, log_probability = truth.explain(table)
    weighted = posterior * np.exp(log_probability)[:, None]  # every row as often as the truth draws it
    moved = maximization(table, weighted)
    assert np.allclose(weighted.sum(axis=0), truth.prior, atol=1e-14)
    assert np.allclose(moved.stacked, truth.stacked, atol=1e-13)


def test_stays_near_the_truth_on_many_rows():
    truth = LatentClassModel([0.3, 0.7], [[[0.9, 0.2], [0.1, 0.8]]] * 5)
    table, _ = truth.sample(20_000, random_state=0)
    model, result = em(table, truth)
    assert result.converged
    assert np.abs(model.stacked - truth.stacked).max() < 0.02


@laws
@given(seed=seeds)
def test_empty_rows_change_nothing(seed):
    codes = random_table(seed).codes
    padded = np.insert(codes, [0, 7, 20], -1, axis=0)
    (model, result), (other, padded_result) = (
        run(CategoricalTable(c, SIZES), random_model(seed), max_iter=10) for c in (codes, padded)
    )
    assert np.array_equal(model.stacked, other.stacked) and np.array_equal(model.prior, other.prior)
    assert np.array_equal(result.objective, padded_result.objective)


@laws
@given(seed=seeds)
def test_follows_any_order_of_classes_variables_and_rows(seed):
    table, start, rng = random_table(seed, n_rows=40), random_model(seed + 1), np.random.default_rng(seed)
    rows, variables, classes = rng.permutation(40), rng.permutation(3), rng.permutation(3)
    moved_start = LatentClassModel(start.prior, [start.conditionals[n] for n in variables]).reorder(classes)
    model, _ = run(table, start, max_iter=10, tol=-1)
    moved, _ = run(table.take_rows(rows).take_variables(variables), moved_start, max_iter=10, tol=-1)
    assert np.allclose(moved.prior, model.prior[classes], atol=1e-10)
    for n, B in zip(variables, moved.conditionals, strict=True):
        assert np.allclose(B, model.conditionals[n][:, classes], atol=1e-10)


def test_a_variable_without_observations_becomes_uniform():
    codes = random_table(0).codes
    codes[:, 1] = -1
    model, _ = run(CategoricalTable(codes, SIZES), random_model(0), max_iter=2)
    assert np.array_equal(model.conditionals[1], np.full((3, 3), 1 / 3))


# ---- pseudo-counts ----


def log_posterior(model, table, alpha):
    return model.log_likelihood(table) + alpha * (np.log(model.stacked).sum() + np.log(model.prior).sum())


@laws
@given(seed=seeds)
def test_the_penalised_objective_never_falls_and_is_what_it_says(seed):
    table, start, alpha = random_table(seed, n_rows=60), random_model(seed + 1), 0.3
    model, result = run(table, start, max_iter=40, pseudo_count=alpha)
    assert result.objective[0] == pytest.approx(log_posterior(start, table, alpha), rel=1e-12)
    steps = np.diff([*result.objective, log_posterior(model, table, alpha)])
    assert np.all(steps >= -1e-9 * np.abs(result.objective[0]))


@laws
@given(seed=seeds)
def test_rows_given_twice_count_twice(seed):
    table, start = random_table(seed, n_rows=30), random_model(seed + 1)
    twice = CategoricalTable(np.vstack([table.codes, table.codes]), SIZES)
    rows = table.take_rows(table.entries_per_row > 0)
    repeated, _ = run(twice, start, max_iter=10, tol=-1, pseudo_count=0.4)
    weighted, _ = recorded(
        iterate_em, lambda model: expectation(rows, model) + expectation(rows, model), start, 10, -1, pseudo_count=0.4
    )[0]
    halved, _ = run(table, start, max_iter=10, tol=-1, pseudo_count=0.2)
    for other in (weighted, halved):
        assert np.allclose(repeated.stacked, other.stacked, atol=1e-10)
        assert np.allclose(repeated.prior, other.prior, atol=1e-10)


def test_a_value_never_seen_tells_as_much_as_a_missing_one():
    codes = random_table(3, n_rows=60).codes
    codes[codes[:, 2] == 3, 2] = -1
    model, _ = run(CategoricalTable(codes, SIZES), random_model(4), max_iter=5)
    unseen, missing = (model.conditional(CategoricalTable([[1, 0, c]], SIZES), 0) for c in (3, -1))
    assert np.allclose(unseen, missing, atol=1e-12)


# ---- long rows ----


@each("length", [20, 21, 300])
def test_posteriors_are_the_same_in_products_and_in_logarithms(length):
    model = random_model(5, n_classes=4, sizes=(2, 3) * (length // 2) + (2,) * (length % 2))
    table, _ = model.sample(50, random_state=1)
    Q, log_likelihood = model.explain(table)
    fast, slow = expectation(table, model), soft_counts(table, Q, float(log_likelihood.sum()))
    assert np.allclose(fast.cells, slow.cells, atol=1e-9)
    assert np.allclose(fast.classes, slow.classes, atol=1e-9)
    assert fast.log_likelihood == pytest.approx(slow.log_likelihood, rel=1e-12)


def test_few_long_rows_and_rows_that_no_class_allows_are_counted_as_by_arrays(monkeypatch):
    """Compiled, where logarithms of all cells are not worth it; a class with a zero for what is seen is excluded."""
    rng, model = np.random.default_rng(0), random_model(5, n_classes=3, sizes=(3,) * 60)
    stacked = np.where(rng.random(model.stacked.shape) < 0.2, 0.0, model.stacked)
    model = LatentClassModel.from_stacked(model.prior, stacked, model.sizes)
    codes = np.where(rng.random((40, 60)) < 0.1, rng.integers(3, size=(40, 60)), -1)
    codes[0, :30], codes[:, 59] = 1, 2
    table = CategoricalTable(codes, model.sizes)
    slow = expectation(table, model)
    monkeypatch.setattr("cofactor.core.em.WORTH_COMPILING", 0)
    fast = expectation(table, model)
    assert np.allclose(fast.cells, slow.cells, atol=1e-12) and np.allclose(fast.classes, slow.classes, atol=1e-12)
    assert fast.log_likelihood == pytest.approx(slow.log_likelihood, rel=1e-12)


def test_warns_at_the_limit_and_still_returns():
    with pytest.warns(ConvergenceWarning, match="EM: iteration limit 2 "):
        model, result = em(random_table(0), random_model(1), max_iter=2, tol=0)
    assert (result.n_iter, result.converged) == (2, False)
    assert model.prior.sum() == pytest.approx(1)


def test_takes_five_hundred_rounds_at_most_unless_told_otherwise():
    rows, start = random_table(0), random_model(1)
    with pytest.warns(ConvergenceWarning, match="EM: iteration limit 500 "):
        results = em(rows, start, tol=-1)[1], iterate_em(lambda model: expectation(rows, model), start, tol=-1)[1]
    assert [result.n_iter for result in results] == [500, 500]


def test_classes_with_prior_zero_stay_empty():
    start = LatentClassModel([1.0, 0.0], [[[1, 0.5], [0, 0.5]]] * 2)
    model, _ = run(CategoricalTable([[1, 1], [0, 0], [0, 0]]), start)
    assert model.prior[1] < 1e-6


# ---- bad input ----


def test_refuses_a_table_in_which_nothing_was_observed():
    with pytest.raises(CofactorError, match="no row has an observed entry"):
        em(CategoricalTable(np.full((3, 3), -1), SIZES), random_model(0))


def test_refuses_a_start_with_other_variables():
    with pytest.raises(CofactorError, match="the model 2 with 5"):
        em(random_table(0), random_model(0, sizes=(2, 3)))


# ---- sums over pieces ----


def pieces_of(table, n_rows):
    return [table.take_rows(slice(first, first + n_rows)) for first in range(0, table.n_rows, n_rows)]


@pytest.fixture
def table():
    model = cf.simulate.dawid_skene_model(9, 3, skill=0.6, random_state=2)
    return cf.simulate.crowd(model, 400, 0.5, random_state=2).labels.table


@pytest.fixture
def start():
    return cf.simulate.dawid_skene_model(9, 3, skill=0.4, random_state=3)


def test_soft_counts_of_pieces_add_up_and_give_the_same_model(table, start):
    Q = start.posterior(table)
    whole = soft_counts(table, Q)
    pieces = reduce(add, (expectation(piece, start) for piece in pieces_of(table, 70)))
    assert np.allclose(pieces.cells, whole.cells, atol=1e-10) and pieces.n_rows == whole.n_rows == 400
    assert np.isclose(pieces.log_likelihood, start.log_likelihood(table), rtol=1e-13)
    model, known = pieces.model(0.5), maximization(table, Q, 0.5)
    assert np.allclose(model.stacked, known.stacked, atol=1e-13) and np.allclose(model.prior, known.prior, atol=1e-13)


def test_em_over_pieces_is_em(table, start):
    rows = table.take_rows(table.entries_per_row > 0)
    model, result = iterate_em(lambda model: reduce(add, (expectation(p, model) for p in pieces_of(rows, 70))), start)
    whole, known = em(table, start)
    assert result.n_iter == known.n_iter and np.allclose(result.objective, known.objective, rtol=1e-13)
    assert np.allclose(model.stacked, whole.stacked, atol=1e-12)


def test_soft_counts_of_other_variables_do_not_merge(table, start):
    counts = expectation(table, start)
    fewer = table.take_variables(range(8))
    with pytest.raises(cf.CofactorError, match="same variables and classes"):
        counts + soft_counts(fewer, np.ones((400, 3)) / 3)
    with pytest.raises(cf.CofactorError, match="nothing to fit"):
        soft_counts(table.take_rows(slice(0, 0)), np.ones((0, 3))).model()


def test_moments_of_pieces_add_up(table):
    whole, moments = pairwise_moments(table), reduce(add, map(pairwise_moments, pieces_of(table, 70)))
    assert (moments.counts != whole.counts).nnz == 0 and moments.counts.dtype == whole.counts.dtype
    assert np.array_equal(moments.singles, whole.singles) and moments.n_rows == whole.n_rows


def test_large_counts_are_kept_whole():
    many = pairwise_moments(cf.CategoricalTable(np.zeros((70_000, 2), dtype=int), sizes=[2, 2]))
    assert (many + many).counts[0, 2] == 140_000

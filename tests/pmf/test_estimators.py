"""All estimators of a joint PMF: the same laws for each, what each is for, one error for each bad input."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

from cofactor import simulate
from cofactor.core.errors import CofactorError, NotIdentifiableError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.pmf.base import DEFAULT_PSEUDO_COUNT, PSEUDO_COUNTS, RANKS, START_FLOOR, independence, random_model
from cofactor.pmf.estimators import CNMFEM, CNMFOPT, CNMFSPA, CNMFSPAEM, RANDEM, Constant, Independence
from cofactor.pmf.metrics import mre, mse
from cofactor.rivals.pmf import MLEAD
from tests.each import each
from tests.oracles.generators import recorded

METHODS = {
    "CNMF-SPA": CNMFSPA(rank=3),
    "CNMF-SPA-EM": CNMFSPAEM(rank=3, em_max_iter=20),
    "CNMF-OPT": CNMFOPT(rank=3, max_iter=100),
    "CNMF-OPT random": CNMFOPT(rank=3, init="random", max_iter=100, random_state=0),
    "CNMF-EM": CNMFEM(rank=3, max_iter=100, em_max_iter=20, pseudo_count=0.1),
    "RAND-EM": RANDEM(rank=3, max_iter=20, random_state=0),
    "Independence": Independence(),
    "Constant": Constant(rank=3),
}
each_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
TRUTH = simulate.joint_model(5, 5, 3, separability=0.1, random_state=0)


def drawn(n_rows=3000, observed=0.7, truth=TRUTH):
    return simulate.joint_table(truth, n_rows, observed, random_state=1)


def fit(method, table):
    return recorded(clone(method).fit, table)[0]


@each_method
def test_gives_a_model_of_the_table(method):
    fitted = fit(method, drawn())
    model = fitted.model_
    assert np.array_equal(model.sizes, drawn().sizes)
    assert model.n_classes == method.rank
    assert model.prior.sum() == pytest.approx(1) and model.stacked.min() >= 0
    assert np.allclose([A.sum(axis=0) for A in model.conditionals], 1)
    assert isinstance(fitted.result_.reason, str)


@each_method
def test_the_same_table_and_seed_give_the_same_model(method):
    one, two = (fit(method, drawn()).model_ for _ in range(2))
    assert np.array_equal(one.stacked, two.stacked) and np.array_equal(one.prior, two.prior)


@each_method
def test_order_of_rows_and_empty_rows_change_nothing_but_a_count(method):
    codes = drawn(500).codes
    empty = int((codes < 0).all(axis=1).sum())
    moved = np.vstack([np.full((2, 5), -1), codes[::-1]])
    one, two = (fit(method, CategoricalTable(c, TRUTH.sizes)) for c in (codes, moved))
    assert np.allclose(one.model_.stacked, two.model_.stacked, atol=1e-9)
    assert (one.n_empty_rows_, two.n_empty_rows_) == (empty, empty + 2)


@each_method
def test_names_of_values_change_nothing(method):
    """Random starts are drawn in the order of values: their sizes must not care, their draws may."""
    if "random" in str(method) or isinstance(method, RANDEM):
        pytest.skip("another order of values is another start")
    codes, orders = drawn(2000).codes, [np.random.default_rng(n).permutation(5) for n in range(5)]
    renamed = np.stack([np.where(c >= 0, order[c], -1) for c, order in zip(codes.T, orders, strict=True)], axis=1)
    one, two = (fit(method, CategoricalTable(c, TRUTH.sizes)).model_ for c in (codes, renamed))
    back = LatentClassModel(two.prior, [A[order] for A, order in zip(two.conditionals, orders, strict=True)])
    assert mse(one, back) < 1e-10


@each_method
def test_values_never_seen_and_constants_are_allowed(method):
    codes = drawn(1000).codes
    codes[:, 4] = 0
    model = fit(method, CategoricalTable(codes, [5, 5, 5, 7, 1])).model_
    assert np.isfinite(model.stacked).all() and np.allclose(model.conditionals[4], 1)


@pytest.mark.parametrize("name", set(METHODS) - {"Constant"})
@pytest.mark.parametrize("alpha", [0, 0.7])
def test_rank_one_is_the_independence_model(name, alpha):
    table = drawn()
    method = clone(METHODS[name]).set_params(pseudo_count=alpha)
    method.rank = 1
    model = fit(method, table).model_
    for n, A in enumerate(model.conditionals):
        counts = np.bincount(table.column(n)[1], minlength=5)
        assert np.allclose(A[:, 0], (counts + alpha) / (counts.sum() + 5 * alpha), rtol=1e-12)


@pytest.mark.parametrize("rank", [1, 4])
def test_the_constant_looks_at_no_data_at_any_rank(rank):
    model = fit(Constant(rank=rank), drawn()).model_
    assert np.array_equal(model.stacked, np.full((25, rank), 0.2))


# ---- what each is for ----


def test_separable_models_come_near_with_every_method():
    """Measured: .0053, .0029, .0024 at 1e4 rows of five variables of ten values, as in Table 1."""
    table = drawn(20_000)
    for name in ("CNMF-SPA", "CNMF-OPT", "CNMF-EM"):
        method = clone(METHODS[name]).set_params(split=3)  # the anchors are in one of the last two variables
        assert mse(TRUTH, fit(method, table).model_) < 0.01, name
    assert mse(TRUTH, fit(Constant(rank=3), table).model_) > 0.05


def test_em_raises_the_likelihood_of_its_start():
    table = drawn()
    for plain, refined in (("CNMF-SPA", "CNMF-SPA-EM"), ("CNMF-OPT", "CNMF-EM")):
        one, two = (fit(METHODS[name], table).model_.log_likelihood(table) for name in (plain, refined))
        assert two > one


def test_the_best_of_several_starts_is_kept():
    table = drawn(300)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        singles = [recorded(RANDEM(3, max_iter=30, random_state=rng).fit, table)[0] for _ in range(4)]
        best = fit(RANDEM(3, n_starts=4, max_iter=30, random_state=seed), table).result_.objective[-1]
        assert best == pytest.approx(max(one.result_.objective[-1] for one in singles), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("init", ["spa", "random"])
def test_the_best_pipeline_finds_fifteen_variables_from_any_start(init):
    """MSE .0027 from both starts, as from the truth; SPA-EM and RAND-EM have .008 to .016."""
    truth = simulate.joint_model(15, 10, 10, random_state=3)
    table = simulate.joint_table(truth, 10_000, 0.5, random_state=3)
    fitted = fit(CNMFEM(10, init=init, random_state=3), table).model_
    assert mse(truth, fitted) <= 0.0035
    assert mre(truth, fitted) < 0.7


def test_lifting_leaves_no_zeros_and_sums_of_one():
    model = LatentClassModel([1.0, 0.0], [np.eye(2)] * 2).lift(START_FLOOR)
    assert model.stacked.min() > START_FLOOR / 2 and model.prior.min() > START_FLOOR / 2
    assert np.allclose(model.stacked[:2].sum(axis=0), 1) and model.prior.sum() == pytest.approx(1)


def test_random_models_are_proper_and_differ():
    one, two = (random_model(TRUTH.sizes, 7, seed) for seed in (0, 1))
    assert not np.array_equal(one.stacked, two.stacked)
    assert np.allclose([A.sum(axis=0) for A in one.conditionals], 1) and one.n_classes == 7


# ---- smoothing ----


@each_method
def test_no_row_has_probability_zero(method):
    """Ten rows of five variables: most cells of a fresh table were never seen."""
    fitted = fit(method, drawn(10, observed=1.0))
    assert fitted.model_.stacked.min() > 0 and fitted.model_.prior.min() > 0
    assert np.isfinite(fitted.model_.log_likelihood(drawn(2000)))


@pytest.mark.parametrize("name", ["CNMF-OPT", "CNMF-EM", "RAND-EM", "Independence"])
def test_without_smoothing_unseen_values_are_impossible_and_said_to_be(name):
    codes = drawn(300, observed=1.0).codes
    table = CategoricalTable(codes[codes[:, 0] > 0], TRUTH.sizes)  # the first value of the first variable never occurs
    model = fit(clone(METHODS[name]).set_params(pseudo_count=0), table).model_
    assert model.conditionals[0][0].max() < 1e-9
    if name != "CNMF-OPT":  # which keeps its floor
        assert model.log_likelihood(CategoricalTable([[0, 1, 1, 1, 1]], TRUTH.sizes)) == -np.inf


def test_smoothing_adds_observations_to_the_counts_that_the_estimate_expects():
    table = drawn(200, observed=1.0)
    plain, with_two = (fit(CNMFSPA(rank=3, pseudo_count=alpha), table).model_ for alpha in (0, 2.0))
    n = table.entries_per_variable[1]
    expected = n * plain.prior * plain.conditionals[1] + 2
    assert np.allclose(with_two.conditionals[1], expected / expected.sum(axis=0))
    assert np.allclose(with_two.prior, (200 * plain.prior + 2) / 206)


def test_smoothing_predicts_thin_data_better():
    table, fresh = drawn(40, observed=1.0), drawn(2000)
    for name in ("CNMF-EM", "RAND-EM"):
        plain, smooth = (fit(clone(METHODS[name]).set_params(pseudo_count=a), table).model_ for a in (1e-3, 0.3))
        assert smooth.log_likelihood(fresh) > plain.log_likelihood(fresh) + 2000, name


# ---- rank and smoothing by hidden cells ----


def test_all_ranks_and_counts_are_tried_and_what_is_near_the_best_is_averaged():
    fitted = fit(RANDEM("auto", pseudo_count="auto", random_state=0), drawn(60))
    tried = [(one["rank"], one["pseudo_count"]) for one in fitted.validation_]
    assert tried[: len(RANKS)] == [(rank, DEFAULT_PSEUDO_COUNT) for rank in RANKS]
    assert len(tried) == len(RANKS) + len(PSEUDO_COUNTS) - 1
    best = max(fitted.validation_, key=lambda one: one["score"])
    assert (fitted.rank_, fitted.pseudo_count_) == (best["rank"], best["pseudo_count"])
    kept = [(one["rank"], one["pseudo_count"]) for one in fitted.validation_ if one["kept"]]
    assert 1 < len(kept) < len(tried)
    assert sorted(kept) == sorted((one.rank_, one.pseudo_count_) for one in fitted.members)
    singles = [fit(RANDEM(rank, pseudo_count=a, random_state=0), drawn(60)).model_ for rank, a in kept]
    mean = np.mean([model.joint_tensor() for model in singles], axis=0)
    assert np.allclose(fitted.model_.joint_tensor(), mean, atol=1e-14)


@pytest.mark.parametrize("name", ["CNMF-SPA", "CNMF-OPT", "CNMF-EM", "RAND-EM"])
def test_a_rank_that_is_chosen_predicts_better_than_one_too_low_or_too_high(name):
    table, fresh = drawn(600), drawn(2000)
    chosen = fit(clone(METHODS[name]).set_params(rank="auto"), table).model_.log_likelihood(fresh)
    for rank in (1, 9):
        assert chosen > fit(clone(METHODS[name]).set_params(rank=rank), table).model_.log_likelihood(fresh), rank


def test_what_is_given_is_not_chosen():
    table = drawn(300)
    count_given = fit(RANDEM("auto", pseudo_count=0.7, random_state=0), table)
    assert {one["pseudo_count"] for one in count_given.validation_} == {0.7}
    rank_given = fit(RANDEM(3, pseudo_count="auto", random_state=0), table)
    assert {one["rank"] for one in rank_given.validation_} == {3}
    both = fit(RANDEM(3, random_state=0), table)
    assert (
        both.validation_ == []
        and both.members == [both]
        and (both.rank_, both.pseudo_count_) == (3, DEFAULT_PSEUDO_COUNT)
    )
    assert len(fit(Independence(pseudo_count="auto"), table).validation_) == len(PSEUDO_COUNTS)


def test_ranks_that_a_method_refuses_are_left_out():
    fitted = fit(CNMFSPA("auto"), drawn(500))
    assert {one["rank"] for one in fitted.validation_} == {1, 2, 3, 5, 8}  # two variables of five values cap it at nine


def test_where_every_rank_above_one_is_refused_the_reason_is_said():
    with pytest.raises(CofactorError, match="init='zeros'"):
        fit(CNMFOPT("auto", init="zeros"), drawn(100))


def test_tables_too_thin_to_hide_anything_get_the_product_of_marginals():
    fitted = fit(RANDEM("auto", random_state=0), CategoricalTable([[0, 1]], [2, 2]))
    assert (fitted.rank_, fitted.validation_) == (1, [])
    linked = CategoricalTable([[0, 1, -1], [-1, 0, 1]], [2, 2, 2])  # any cell hidden breaks the chain
    assert fit(RANDEM("auto", random_state=0), linked).rank_ == 1


# ---- bad input ----


@each_method
def test_refuses_variables_never_observed_and_names_them(method):
    codes = drawn(200).codes
    codes[:, [1, 3]] = -1
    with pytest.raises(CofactorError, match="never observed in any row: 1, 3; leave them out"):
        fit(method, CategoricalTable(codes, TRUTH.sizes))


@each_method
def test_refuses_groups_never_observed_together_and_names_them(method):
    codes = drawn(200).codes
    codes[::2, [0, 4]] = -1
    codes[1::2, 1:4] = -1
    with pytest.raises(NotIdentifiableError, match="2 groups never observed together: 0, 4; 1, 2, 3"):
        fit(method, CategoricalTable(codes, TRUTH.sizes))


@each_method
def test_a_single_pair_never_observed_is_masked(method):
    codes = drawn(4000).codes
    codes[::2, 0] = -1
    codes[1::2, 1] = -1
    model = fit(method, CategoricalTable(codes, TRUTH.sizes)).model_
    assert np.isfinite(model.stacked).all()


@each_method
def test_refuses_tables_without_any_entry(method):
    for codes in (np.full((3, 2), -1), np.zeros((0, 2), dtype=int)):
        with pytest.raises(CofactorError, match="nothing was observed in any row"):
            fit(method, CategoricalTable(codes, [2, 2]))


@each_method
def test_refuses_what_is_no_table(method):
    with pytest.raises(CofactorError, match=r"expected a CategoricalTable, a DataFrame, or an array of .*, got set"):
        fit(method, {1, 2})


@each("name, rank", product(["CNMF-SPA", "CNMF-OPT", "RAND-EM", "Constant"], [0, -1, 2.5, "3", None, True]))
def test_refuses_ranks_that_are_no_number_of_classes(name, rank):
    with pytest.raises(CofactorError, match="the number of hidden classes is a whole number of at least 1"):
        fit(clone(METHODS[name]).set_params(rank=rank), drawn(10))


def test_refuses_codes_outside_their_alphabet_and_names_them():
    with pytest.raises(CofactorError, match=r"codes outside their alphabet .* row 1, variable 0: 2"):
        CategoricalTable([[0, 1], [2, 0]], [2, 2])


@each(
    "method, message",
    [
        (CNMFOPT(init="zeros"), "init='zeros': choose 'spa' or 'random'"),
        (CNMFOPT(weights="square"), "weights"),
        (RANDEM(n_starts=0), "n_starts=0: give a whole number of at least 1"),
        (CNMFSPA(rank=40), "rank=40"),
        (RANDEM(rank=2, pseudo_count=-1), "pseudo_count=-1: give a number of at least 0, or 'auto'"),
        (CNMFSPA(rank=2, pseudo_count=np.nan), "pseudo_count=nan"),
        (Independence(pseudo_count="some"), "pseudo_count='some'"),
        (RANDEM(rank=2, max_iter=0), "max_iter=0: give a whole number of at least 1"),
        (CNMFSPA(rank=2, em_max_iter=0), "em_max_iter=0: give a whole number of at least 1"),
        (MLEAD(rank=2, start=random_model(TRUTH.sizes, 3, 0)), "the start has 3 classes, rank=2"),
    ],
)
def test_refuses_unknown_settings(method, message):
    with pytest.raises(CofactorError, match=message):
        fit(method, drawn(200))


def test_independence_is_the_product_of_marginals():
    table = drawn()
    model = independence(pairwise_moments(table))
    assert np.allclose(model.pairwise(0, 1), np.outer(model.marginal(0), model.marginal(1)))

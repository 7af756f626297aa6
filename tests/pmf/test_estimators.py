"""All estimators of a joint PMF: the same laws for each, what each is for, one error for each bad input."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

import cofactor as cf
from cofactor import NotFittedError, pmf, simulate
from cofactor.core.errors import CofactorError, ConvergenceWarning, NotIdentifiableError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.pmf import estimators, from_marginals
from cofactor.pmf.base import (
    DEFAULT_PSEUDO_COUNT,
    PSEUDO_COUNTS,
    RANKS,
    START_FLOOR,
    choose_rank_and_smoothing,
    hide_cells,
    lowest_rank,
    mean_model,
    near_best,
)
from cofactor.pmf.base import random_model as random_start
from cofactor.pmf.estimators import CNMFEM, CNMFOPT, CNMFSPA, CNMFSPAEM, RANDEM, Constant, Independence
from cofactor.pmf.metrics import mre, mse
from cofactor.rivals.pmf import MLEAD
from evaluation.peers.step_mix import latent_classes
from tests.each import each
from tests.oracles.generators import random_model, random_table, recorded
from tests.oracles.latent_class import conditional_by_summing, joint_by_outer_products

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
each_method = each("method", METHODS.values())
TRUTH = simulate.joint_model(5, 5, 3, separability=0.1, random_state=0)


def drawn(n_rows=3000, observed=0.7, truth=TRUTH):
    return simulate.joint_table(truth, n_rows, observed, random_state=1)


def fit(method, table):
    return recorded(clone(method).fit, table)[0]


@each_method
def test_order_of_rows_and_empty_rows_change_nothing_but_a_count(method):
    codes = drawn(500).codes
    empty = int((codes < 0).all(axis=1).sum())
    moved = np.vstack([np.full((2, 5), -1), codes[::-1]])
    one, two = (fit(method, CategoricalTable(c, TRUTH.sizes)) for c in (codes, moved))
    assert np.allclose(one.model_.stacked, two.model_.stacked, atol=1e-9)
    assert (one.n_empty_rows_, two.n_empty_rows_) == (empty, empty + 2)


@each_method
def test_values_never_seen_and_constants_are_allowed(method):
    codes = drawn(1000).codes
    codes[:, 4] = 0
    model = fit(method, CategoricalTable(codes, [5, 5, 5, 7, 1])).model_
    assert np.isfinite(model.stacked).all() and np.allclose(model.conditionals[4], 1)


@each("name", set(METHODS) - {"Constant"})
@each("alpha", [0, 0.7])
def test_rank_one_is_the_independence_model(name, alpha):
    table = drawn()
    method = clone(METHODS[name]).set_params(pseudo_count=alpha)
    method.rank = 1
    model = fit(method, table).model_
    for n, A in enumerate(model.conditionals):
        counts = np.bincount(table.column(n)[1], minlength=5)
        assert np.allclose(A[:, 0], (counts + alpha) / (counts.sum() + 5 * alpha), rtol=1e-12)


@each("rank", [1, 4])
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
@each("init", ["spa", "random"])
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


# ---- smoothing ----


@each_method
def test_no_row_has_probability_zero(method):
    """Ten rows of five variables: most cells of a fresh table were never seen."""
    fitted = fit(method, drawn(10, observed=1.0))
    assert fitted.model_.stacked.min() > 0 and fitted.model_.prior.min() > 0
    assert np.isfinite(fitted.model_.log_likelihood(drawn(2000)))


@each("name", ["CNMF-OPT", "CNMF-EM", "RAND-EM", "Independence"])
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


@pytest.mark.slow
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


@pytest.mark.slow
@each("name", ["CNMF-EM", "RAND-EM"])
def test_a_rank_that_is_chosen_predicts_better_than_one_too_low_or_too_high(name):
    table, fresh = drawn(600), drawn(2000)
    chosen = fit(clone(METHODS[name]).set_params(rank="auto"), table).model_.log_likelihood(fresh)
    for rank in (1, 9):
        assert chosen > fit(clone(METHODS[name]).set_params(rank=rank), table).model_.log_likelihood(fresh), rank


@pytest.mark.slow
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


@pytest.mark.slow
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
    with pytest.raises(CofactorError, match="these variables were never observed: 1, 3; leave them out"):
        fit(method, CategoricalTable(codes, TRUTH.sizes))


@each_method
def test_refuses_groups_never_observed_together_and_names_them(method):
    codes = drawn(200).codes
    codes[::2, [0, 4]] = -1
    codes[1::2, 1:4] = -1
    with pytest.raises(NotIdentifiableError, match=r"2 groups that were never observed together \(0, 4; 1, 2, 3\)"):
        fit(method, CategoricalTable(codes, TRUTH.sizes))


@each_method
def test_refuses_tables_without_any_entry(method):
    for codes in (np.full((3, 2), -1), np.zeros((0, 2), dtype=int)):
        with pytest.raises(CofactorError, match="the table has no observed values"):
            fit(method, CategoricalTable(codes, [2, 2]))


@each("name, rank", product(["CNMF-SPA", "CNMF-OPT", "RAND-EM", "Constant"], [0, -1, 2.5, "3", None, True]))
def test_refuses_ranks_that_are_no_number_of_classes(name, rank):
    with pytest.raises(CofactorError, match="the number of latent classes must be a positive integer"):
        fit(clone(METHODS[name]).set_params(rank=rank), drawn(10))


@each(
    "method, message",
    [
        (CNMFOPT(init="zeros"), "init='zeros': must be 'spa' or 'random'"),
        (CNMFOPT(weights="square"), "weights"),
        (RANDEM(n_starts=0), "n_starts=0: give a whole number of at least 1"),
        (CNMFSPA(rank=40), "rank=40"),
        (RANDEM(rank=2, pseudo_count=-1), "pseudo_count=-1: must be a nonnegative number or 'auto'"),
        (CNMFSPA(rank=2, pseudo_count=np.nan), "pseudo_count=nan"),
        (Independence(pseudo_count="some"), "pseudo_count='some'"),
        (RANDEM(rank=2, max_iter=0), "max_iter=0: give a whole number of at least 1"),
        (CNMFSPA(rank=2, em_max_iter=0), "em_max_iter=0: give a whole number of at least 1"),
        (MLEAD(rank=2, start=random_start(TRUTH.sizes, 3, 0)), "the start has 3 classes, but rank=2"),
    ],
)
def test_refuses_unknown_settings(method, message):
    with pytest.raises(CofactorError, match=message):
        fit(method, drawn(200))


def test_a_descent_that_stops_early_is_one_warning(monkeypatch):
    monkeypatch.setattr(estimators, "OPT_ITERATIONS", 2)
    table, tables = drawn(200), {(i, j): TRUTH.pairwise(i, j) for i in range(3) for j in range(i)}
    for call in (lambda: pmf.from_marginals(tables, rank=2), lambda: CNMFOPT(rank=2, max_iter=2).fit(table)):
        with pytest.warns(ConvergenceWarning, match="coupled NMF: iteration limit 2 ") as told:
            call()
        assert len(told) == 1


# ---- by name ----


TABLE = simulate.joint_table(simulate.joint_model(4, 3, 2, random_state=0), 300, observed=0.8, random_state=0)
each_name = each("name", pmf.METHODS)
each_recommender = each("name", pmf.RECOMMENDERS)


def made(name):
    return pmf.METHODS[name](random_state=0) if name == "Independence" else pmf.METHODS[name](rank=2, random_state=0)


@pytest.mark.slow
@each_name
def test_answers_and_draws_as_its_model_does(name):
    fitted = recorded(made(name).fit, TABLE)[0]
    shares = fitted.predict_proba(TABLE, 2)
    assert shares == pytest.approx(fitted.model_.conditional(TABLE, 2)) and shares.shape == (300, 3)
    assert np.array_equal(fitted.predict(TABLE, 2), fitted.model_.predict_map(TABLE, 2))
    one, two, other = (fitted.sample(50, random_state=seed).codes for seed in (0, 0, 1))
    assert np.array_equal(one, two) and not np.array_equal(one, other) and one.shape == (50, 4) and one.min() == 0
    assert fitted.result_.reason and len(fitted.result_.objective) == fitted.result_.n_iter


@each_name
def test_refuses_to_answer_about_other_variables(name):
    fitted = recorded(made(name).fit, TABLE)[0]
    with pytest.raises(CofactorError, match="the table has 2 variables, the model 4"):
        fitted.predict(CategoricalTable([[0, 1]]), 0)
    with pytest.raises(CofactorError, match="no variable 4"):
        fitted.predict(TABLE, 4)
    with pytest.raises(CofactorError, match="n_rows=-1"):
        fitted.sample(-1)


@each_recommender
def test_recommenders_are_found_by_name_and_refuse_likewise(name):
    user, item = (index.ravel() for index in np.indices((30, 4)))
    rating = 1.0 + (user + item) % 5
    films = pmf.RECOMMENDERS[name](random_state=0)
    with pytest.raises(NotFittedError, match="is not fitted"):
        films.predict([0], [0])
    if name == "JointPMF":
        films.estimator = pmf.RANDEM(rank=2, random_state=0)
    fitted = recorded(films.fit, user, item, rating)[0]
    assert ((fitted.predict(user, item) >= 1) & (fitted.predict(user, item) <= 5)).all()
    assert fitted.result_.reason


# ---- AIC and BIC ----


def test_criteria_of_two_columns_by_hand():
    # column a: 3 of 4 rows are 0; column b: 1, 2, 1 of 4 are 0, 1, 2; a row without any entry does not count
    table = CategoricalTable([[0, 0], [0, 1], [0, 1], [1, 2], [-1, -1]])
    fitted = Independence(pseudo_count=0).fit(table)
    log_likelihood = 3 * np.log(3 / 4) + np.log(1 / 4) + 2 * np.log(1 / 4) + 2 * np.log(2 / 4)
    assert fitted.model_.n_parameters == 1 + 2
    assert fitted.aic(table) == pytest.approx(2 * 3 - 2 * log_likelihood, rel=1e-12)
    assert fitted.bic(table) == pytest.approx(3 * np.log(4) - 2 * log_likelihood, rel=1e-12)


def test_criteria_are_those_of_stepmix():
    stepmix = pytest.importorskip("stepmix.stepmix")
    table = simulate.joint_table(simulate.joint_model(5, 3, 2, random_state=0), 400, random_state=0)
    settings = {"measurement": "categorical", "random_state": 0, "verbose": 0, "progress_bar": 0}
    theirs = stepmix.StepMix(n_components=2, **settings).fit(table.codes)
    ours = CNMFEM(2).fit(table)
    ours.model_ = latent_classes(table, 2, 0)
    assert ours.model_.n_parameters == theirs.n_parameters
    assert ours.aic(table) == pytest.approx(theirs.aic(table.codes), rel=1e-6)
    assert ours.bic(table) == pytest.approx(theirs.bic(table.codes), rel=1e-6)


# ---- from pairwise marginals alone ----


def tables_of(model, n=5):
    return {(i, j): model.pairwise(i, j) for i in range(n) for j in range(i)}


def test_the_joint_pmf_follows_from_exact_pairs():
    truth = simulate.joint_model(5, 4, 3, separability=0.1, random_state=0)
    tables = tables_of(truth)
    closed = from_marginals(tables, 3, "CNMF-SPA")
    assert mre(truth, closed) < 0.3 and closed.n_classes == 3
    found = from_marginals(tables, 3)
    assert mre(truth, found) < 0.01
    for (i, j), table in tables.items():
        assert np.abs(found.pairwise(i, j) - table).max() < 1e-3


def test_tables_of_counts_give_what_the_rows_give_and_some_pairs_are_enough():
    truth = simulate.joint_model(5, 3, 2, random_state=0)
    table = simulate.joint_table(truth, 20_000, random_state=0)
    codes = table.codes
    counts = {(i, j): np.histogram2d(codes[:, i], codes[:, j], bins=(range(4), range(4)))[0]
              for i in range(5) for j in range(i)}  # fmt: skip
    assert mre(truth, from_marginals(counts, 2)) < 0.2
    by_rows = cf.pmf.METHODS["CNMF-OPT"](2, pseudo_count=0, random_state=0).fit(table).model_
    assert mre(by_rows, from_marginals(counts, 2)) < 0.01
    some = {pair: table for pair, table in counts.items() if pair not in ((4, 3), (2, 0))}
    assert mre(truth, from_marginals(some, 2)) < 0.25
    turned = {(j, i): table.T for (i, j), table in counts.items()}
    assert mre(from_marginals(counts, 2), from_marginals(turned, 2)) < 1e-6


def test_tables_that_disagree_are_warned_of():
    a, b = np.full((2, 2), 0.25), np.array([[0.4, 0.4], [0.1, 0.1]])
    with pytest.warns(
        cf.DataWarning, match="tables imply different marginals of variables 0; check that they describe"
    ):
        from_marginals({(0, 1): a, (0, 2): b, (1, 2): a}, 1)


def test_what_is_no_set_of_marginals_is_refused():
    a = np.full((2, 2), 0.25)
    refused = {
        "rank=0": lambda: from_marginals({(0, 1): a}, 0),
        "must be 'CNMF-OPT' or 'CNMF-SPA'": lambda: from_marginals({(0, 1): a}, 1, "EM"),
        "no pairs: pass": lambda: from_marginals({}, 1),
        "pair 'a': must be two variable numbers": lambda: from_marginals({"a": a}, 1),
        r"pair .0, 0.: pass exactly one table": lambda: from_marginals({(0, 0): a}, 1),
        r"pair .1, 0.: pass exactly one table": lambda: from_marginals({(0, 1): a, (1, 0): a}, 1),
        r"the table of .0, 1. must contain probabilities": lambda: from_marginals({(0, 1): -a}, 1),
        "has 3 values of variable 0, but another table has 2": lambda: from_marginals(
            {(0, 1): a, (0, 2): np.ones((3, 2))}, 1
        ),
        "variables 1 are in no pair": lambda: from_marginals({(0, 2): a}, 1),
        "2 groups that were never observed together": lambda: from_marginals({(0, 1): a, (2, 3): a}, 1),
    }
    for message, ask in refused.items():
        with pytest.raises(cf.CofactorError, match=message):
            ask()


# ---- the choice of rank and smoothing ----


def scored(levels):
    """Scores without noise; every call's choices are noted."""
    calls = []

    def validate(choices):
        calls.append(choices)
        return {choice: np.full(3, levels[choice]) for choice in choices if choice in levels}

    return validate, calls


def test_tries_all_ranks_at_the_first_count_then_all_counts_at_the_best_rank():
    validate, calls = scored({(2, 0.3): -3, (4, 0.3): -1, (8, 0.3): -2, (4, 0.1): -0.5, (4, 1.0): -4})
    assert choose_rank_and_smoothing((2, 4, 8), (0.1, 0.3, 1.0), 0.3, validate) == [(4, 0.1)]
    assert calls == [[(2, 0.3), (4, 0.3), (8, 0.3)], [(4, 0.1), (4, 1.0)]]


def test_refused_choices_are_left_out_and_nothing_is_chosen_where_all_are():
    assert choose_rank_and_smoothing((2, 40), (0.3,), 0.3, scored({(2, 0.3): -1})[0]) == [(2, 0.3)]
    assert choose_rank_and_smoothing((2, 40), (0.3,), 0.3, scored({})[0]) == []


def test_choices_that_validation_cannot_tell_from_the_best_are_kept():
    rng = np.random.default_rng(0)
    best = rng.normal(0, 1, 100)
    noise = rng.normal(0, 1, 100)
    noise -= noise.mean()
    error = noise.std() / 10
    scores = {(8, 0.3): best - noise - 1.1 * error, (4, 0.3): best - noise - 0.9 * error, (2, 0.3): best}
    assert near_best(scores) == [(2, 0.3), (4, 0.3)]
    assert near_best({(2, 0.3): best - 1e-3, (4, 0.3): best}) == [(4, 0.3)]


def test_the_mean_of_models_is_the_mean_of_their_joint_pmfs():
    models = [random_model(seed, n_classes=2 + seed) for seed in range(3)]
    mean = mean_model(models)
    assert np.allclose(joint_by_outer_products(mean), np.mean([joint_by_outer_products(m) for m in models], axis=0))
    assert mean.n_classes == 9 and mean.prior.sum() == pytest.approx(1)
    table = random_table(0)
    assert np.all(np.isfinite(mean.conditional(table, 1)))


def test_a_fifth_of_the_cells_is_hidden_and_nothing_lost():
    table = random_table(0, n_rows=250)
    found = hide_cells(table, np.random.default_rng(0))
    assert len(found) == 4  # 250 rows each: a thousand rows scored
    for one in found:
        assert len(one.code) == round(0.2 * table.n_entries)
        codes = one.seen.codes
        assert (codes[one.row, one.variable] == -1).all()
        codes[one.row, one.variable] = one.code
        assert np.array_equal(codes, table.codes)
    assert not np.array_equal(found[0].seen.codes, found[1].seen.codes)
    assert hide_cells(CategoricalTable([[0, 1]], [2, 2]), np.random.default_rng(0)) == []


def test_hidden_cells_are_scored_given_what_was_seen_of_their_row():
    table, model = random_table(1, n_rows=40), random_model(1)
    one = hide_cells(table, np.random.default_rng(0))[0]
    rows, codes = np.unique(one.row), one.seen.codes
    expected = dict.fromkeys(rows.tolist(), 0.0)
    for s, n, code in zip(one.row.tolist(), one.variable.tolist(), one.code.tolist(), strict=True):
        expected[s] += np.log(conditional_by_summing(model, codes[s], n)[code])
    assert np.allclose(one.score(model), list(expected.values()), rtol=1e-12)


def test_the_lowest_rank_within_one_standard_error_is_described_if_rows_are_enough():
    tried = [
        {"rank": rank, "behind": behind, "error": 0.1} for rank, behind in ((1, 0.5), (2, 0.09), (3, 0.0), (5, 0.05))
    ]
    rng = np.random.default_rng(0)
    many, few = CategoricalTable(rng.integers(0, 3, (400, 5))), CategoricalTable(rng.integers(0, 2, (400, 2)))
    assert lowest_rank(tried, many) == 2
    assert lowest_rank([{**one, "behind": one["behind"] * 10} for one in tried], many) == 3
    assert lowest_rank(tried, few) == 1  # two classes have five parameters, for four rows

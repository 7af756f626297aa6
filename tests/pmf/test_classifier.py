"""The classifier: categories and gaps of every kind, choices made on training rows only."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from cofactor import data, simulate
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning
from cofactor.core.latent_class import LatentClassModel
from cofactor.pmf.classifier import PSEUDO_COUNTS, RANKS, Coding, JointPMFClassifier
from tests.each import each
from tests.oracles.latent_class import conditional_by_summing

QUICK = dict(rank=3, pseudo_count=0.1, n_starts=2, random_state=0)


def drawn(seed=0, n_rows=600, observed=0.9):
    """Features with gaps and the class, which five variables of a joint PMF tell well."""
    rng = np.random.default_rng(seed)
    A = [0.75 * np.eye(3) + 0.25 * rng.dirichlet(np.ones(3), 3).T for _ in range(6)]
    codes = simulate.joint_table(LatentClassModel(np.full(3, 1 / 3), A), n_rows, observed, seed).codes
    codes = codes[codes[:, -1] >= 0]
    X = np.where(codes[:, :-1] >= 0, codes[:, :-1], np.nan)
    return X, np.array(["a", "b", "c"])[codes[:, -1]]


# ---- what it computes ----


def test_predicts_the_conditional_of_the_class_in_its_joint_pmf():
    X, y = drawn()
    fitted = JointPMFClassifier(**QUICK).fit(X, y)
    order = [coding.values.tolist() for coding in fitted.codings_]
    rows = [[order[n].index(x) if x == x else -1 for n, x in enumerate(row)] + [-1] for row in X[:5]]
    expected = [conditional_by_summing(fitted.model_, np.array(row), 5) for row in rows]
    assert np.allclose(fitted.predict_proba(X[:5]), expected, atol=1e-10)
    assert np.array_equal(fitted.predict(X), fitted.classes_[fitted.predict_proba(X).argmax(axis=1)])


@pytest.mark.slow
@each("method", ["EM", "CNMF-EM"])
def test_names_of_values_and_classes_and_the_kind_of_array_change_nothing(method):
    X, y = drawn(n_rows=200)
    names = {0: "x", 1: "y", 2: "z"}
    words = np.array([[names.get(x) for x in row] for row in X], dtype=object)
    frame = pd.DataFrame(words, columns=list("pqrst"))
    renamed = np.array([{"a": 10, "b": 20, "c": 30}[label] for label in y])
    shares = [
        JointPMFClassifier(**QUICK, method=method).fit(X_any, y_any).predict_proba(X_any)
        for X_any, y_any in [(X, y), (words, y), (frame, renamed)]
    ]
    assert np.array_equal(shares[0], shares[1]) and np.array_equal(shares[0], shares[2])


# ---- choices ----


def test_the_docstring_names_what_is_tried():
    for tried in (RANKS, PSEUDO_COUNTS):
        most = ", ".join(f"{one:g}" for one in tried[:-1])
        assert f'"auto" tries {most} and {tried[-1]:g} on validation rows' in JointPMFClassifier.__doc__


@pytest.mark.slow
def test_tries_all_ranks_then_all_pseudo_counts_and_takes_the_best():
    X, y = drawn(n_rows=200)
    fitted = JointPMFClassifier(n_starts=1, random_state=0).fit(X, y)
    tried = [(one["rank"], one["pseudo_count"]) for one in fitted.validation_]
    assert [rank for rank, _ in tried[: len(RANKS)]] == list(RANKS)
    assert {alpha for rank, alpha in tried if rank == fitted.rank_} >= {fitted.pseudo_count_}
    assert len(tried) == len(RANKS) + len(PSEUDO_COUNTS) - 1 and len(set(tried)) == len(tried)
    best = max(fitted.validation_, key=lambda one: one["score"])
    assert (fitted.rank_, fitted.pseudo_count_) == (best["rank"], best["pseudo_count"])
    assert fitted.rank_ < 30


@pytest.mark.slow
def test_the_model_is_the_mean_over_kept_choices_and_starts():
    X, y = drawn(n_rows=80)
    fitted = JointPMFClassifier(n_starts=2, random_state=0).fit(X, y)
    kept = [one for one in fitted.validation_ if one["kept"]]
    assert 1 < len(kept) < len(fitted.validation_)
    assert fitted.model_.n_classes == 2 * sum(one["rank"] for one in kept)
    assert len(fitted.results_) == 2 * len(kept)


@pytest.mark.slow
def test_classes_of_one_row_and_tables_of_two_rows_still_fit():
    X, y = drawn(n_rows=100)
    y = y.astype(object)
    y[0] = "rare"
    assert set(JointPMFClassifier(n_starts=1, random_state=0).fit(X, y).predict(X)) <= {"a", "b", "c", "rare"}
    tiny = JointPMFClassifier(n_starts=1, random_state=0).fit([["u"], ["v"]], [0, 1])
    assert tiny.predict_proba([["u"]]).shape == (1, 2)


# ---- values of every kind ----


def test_counts_and_names_values_not_seen_and_takes_them_for_missing():
    X = [["red", "round"], ["green", "round"], ["yellow", "long"], ["green", "long"]] * 10
    fitted = JointPMFClassifier(**QUICK).fit(X, [0, 0, 1, 1] * 10)
    with pytest.warns(
        DataWarning, match="2 values that did not occur in fit are treated as missing: row 0, column 0: 'blue', row 2"
    ):
        shares = fitted.predict_proba([["blue", "round"], [None, "long"], ["red", "flat"]])
    expected = fitted.predict_proba(np.array([[None, "round"], [None, "long"], ["red", np.nan]], dtype=object))
    assert np.array_equal(shares, expected)


def test_columns_that_are_missing_in_every_row_are_said_to_be_useless():
    X, y = drawn(n_rows=150)
    gap = np.column_stack([X[:, :2], np.full(len(X), np.nan), X[:, 2:]])
    with pytest.warns(DataWarning, match="columns that are missing in every row have no effect: 2"):
        fitted = JointPMFClassifier(**QUICK).fit(gap, y)
    assert np.isfinite(fitted.predict_proba(gap)).all()


def test_numbers_of_many_values_are_cut_at_quantiles_and_others_are_not():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), rng.integers(0, 5, 400)])
    fitted = JointPMFClassifier(**QUICK, n_bins=8).fit(X, X[:, 0] > 0)
    assert [coding.size for coding in fitted.codings_] == [8, 5]
    assert np.ptp(np.bincount(fitted.codings_[0].codes(X[:, 0]))) <= 1
    assert fitted.score(X, X[:, 0] > 0) > 0.95
    assert fitted.predict(np.array([[-100.0, 1], [100.0, 1]])).tolist() == [False, True]
    assert Coding.of(X[:, 0], 0, None).size == 400
    halves = JointPMFClassifier(**QUICK, n_bins=2).fit(X, X[:, 0] > 0)
    assert [coding.size for coding in halves.codings_] == [2, 2]


def test_ties_at_a_quantile_make_no_empty_interval():
    column = np.concatenate([np.zeros(50), np.arange(1, 41), np.full(60, 99)])
    coding = Coding.of(column, 0, 8)
    assert np.bincount(coding.codes(column), minlength=coding.size).min() > 0


# ---- published accuracies ----


@pytest.mark.slow
@each("name, least", [("car", 94), ("votes", 94)])
def test_reaches_the_accuracy_asked_for(name, least):
    """One split each; the means over five splits are in the results of the experiments."""
    table = data.load(name)
    X, y = table.features, table.target
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    assert 100 * JointPMFClassifier(random_state=0).fit(X, y).score(X_new, y_new) >= least


# ---- bad input ----


@each(
    "wrong, message",
    [
        (dict(rank=0), "rank=0: the number of latent classes must be a positive integer or 'auto'"),
        (dict(rank=2.5), "rank=2.5"),
        (dict(rank="best"), "rank='best'"),
        (dict(pseudo_count=-1), "pseudo_count=-1: must be a nonnegative number or 'auto'"),
        (dict(pseudo_count=float("nan")), "pseudo_count=nan"),
        (dict(pseudo_count="some"), "pseudo_count='some'"),
        (dict(method="SPA"), "method='SPA': choose 'EM' or 'CNMF-EM'"),
        (dict(n_starts=0), "n_starts=0"),
        (dict(max_iter=0), "max_iter=0: give a whole number of at least 1"),
        (dict(validation_share=1.0), "validation_share=1.0"),
        (dict(n_bins=1), "n_bins=1: must be at least 2"),
    ],
)
def test_refuses_parameters_out_of_range(wrong, message):
    with pytest.raises(CofactorError, match=message):
        JointPMFClassifier(**wrong).fit([["u"], ["v"]], [0, 1])


@each("gap", [None, np.nan, pd.NA])
@each("classes, where", [("----", "in every row"), ("a-b-", "in rows 1, 3")])
def test_refuses_classes_that_are_missing(classes, where, gap):
    y = [gap if one == "-" else one for one in classes]
    with pytest.raises(CofactorError, match=f"the class is missing {where}: leave these rows out"):
        JointPMFClassifier(**QUICK).fit([["u"], ["v"], ["u"], ["v"]], np.array(y, dtype=object))


def test_refuses_cells_that_are_no_categories():
    X = np.array([[1, {"a": 1}], [2, {"b": 2}]], dtype=object)
    with pytest.raises(CofactorError, match="column 1 contains values that are neither numbers nor strings"):
        JointPMFClassifier(**QUICK).fit(X, [0, 1])


def test_says_when_em_was_cut_short():
    X, y = drawn(n_rows=100)
    with pytest.warns(ConvergenceWarning, match="EM did not converge within 3 iterations for 2 of 2 starts"):
        JointPMFClassifier(**QUICK, max_iter=3).fit(X, y)

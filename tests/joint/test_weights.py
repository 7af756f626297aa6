"""Rows with weights: as so many equal rows, in moments, EM, rank and smoothing, draws and their pooled estimates."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cofactor import CofactorError, pairwise_moments, simulate
from cofactor.core.em import expectation
from cofactor.core.lazy import WORTH_COMPILING
from cofactor.core.tables import CategoricalTable
from cofactor.pmf import METHODS
from cofactor.pmf.base import random_model
from cofactor.pmf.frames import CategoricalFrame
from cofactor_app.joint.draws import pooled
from cofactor_app.joint.filling import number_errors
from cofactor_app.joint.holdout import held_out
from cofactor_app.joint.weights import effective_rows, survey_weights
from tests.each import each

TABLE = simulate.joint_table(simulate.joint_model(4, 3, 2, random_state=0), 200, 0.8, random_state=1)
TIMES = np.random.default_rng(0).integers(0, 4, 200)
WEIGHTED = ("CNMF-SPA", "CNMF-OPT", "CNMF-EM", "RAND-EM", "Independence")


def made(name):
    return METHODS[name](random_state=0) if name == "Independence" else METHODS[name](2, random_state=0)


def repeated(table, times):
    return table.take_rows(np.repeat(np.arange(table.n_rows), times))


@each("name", WEIGHTED)
def test_whole_weights_are_repeated_rows_and_equal_ones_are_none(name):
    found, again = made(name).fit(TABLE, TIMES), made(name).fit(repeated(TABLE, TIMES))
    np.testing.assert_allclose(found.model_.stacked, again.model_.stacked, atol=1e-10)
    np.testing.assert_allclose(found.model_.prior, again.model_.prior, atol=1e-10)
    table = TABLE.weighted(TIMES)
    assert found.bic(table) == pytest.approx(again.bic(repeated(TABLE, TIMES)), rel=1e-9)
    equal, plain = made(name).fit(TABLE, np.ones(200)), made(name).fit(TABLE)
    np.testing.assert_allclose(equal.model_.stacked, plain.model_.stacked, atol=1e-12)
    assert np.abs(found.model_.stacked - plain.model_.stacked).max() > 0.01


def test_weighted_counts_and_posteriors_are_sums_over_repeated_rows_in_pieces_as_in_one():
    moments, again = pairwise_moments(TABLE.weighted(TIMES)), pairwise_moments(repeated(TABLE, TIMES))
    assert np.array_equal(moments.counts.toarray(), again.counts.toarray())
    assert np.array_equal(moments.singles, again.singles) and moments.counts.nnz == again.counts.nnz
    model = random_model(TABLE.sizes, 3, 0)
    many = repeated(TABLE, np.full(200, 1 + WORTH_COMPILING // (2 * TABLE.n_entries)))
    times = np.random.default_rng(1).integers(0, 3, many.n_rows)
    found, again = expectation(many.weighted(times), model), expectation(repeated(many, times), model)
    np.testing.assert_allclose(found.cells, again.cells, rtol=1e-9)
    assert found.log_likelihood == pytest.approx(again.log_likelihood, rel=1e-12)


def test_rank_and_smoothing_are_chosen_with_weights():
    truth = simulate.joint_model(6, 4, 3, separability=0.3, random_state=0)
    table = simulate.joint_table(truth, 400, random_state=0)
    noise = np.random.default_rng(0).integers(0, 4, (4000, 6))  # nothing depends on anything, and counts little
    both = CategoricalTable(np.vstack([table.codes, noise]), table.sizes)
    weights = np.append(np.ones(400), np.full(4000, 1e-6))
    assert METHODS["RAND-EM"](random_state=0).fit(both).rank_ == 1
    found = METHODS["RAND-EM"](random_state=0).fit(both, weights)
    assert found.rank_ > 1 and len(found.validation_) > 5


WRONG = {
    "negative": ([1.0] * 198 + [-1, np.nan], r"numbers of at least 0; not so in row 198: -1, row 199: nan \(0 is the"),
    "endless": ([np.inf] * 200, "not so in row 0: inf, row 1: inf"),
    "all zero": ([0] * 200, "weights of rows are all zero"),
    "too few": ([1] * 3, "3 weights for 200 rows: give one for each"),
    "text": (["heavy"] * 200, "weights must hold numbers"),
    "a table": ([[1]] * 200, "weights must have 1 dimension"),
}


@each("case", WRONG)
def test_other_weights_are_refused(case):
    weights, said = WRONG[case]
    with pytest.raises(CofactorError, match=said):
        made("RAND-EM").fit(TABLE, weights)


@each("name", ("CTD", "MLE-AD", "MLE-AD-EM"))
def test_methods_of_triples_take_no_weights(name):
    with pytest.raises(CofactorError, match="triples are counted without weights of rows"):
        made(name).fit(TABLE, TIMES)
    assert pd.Series(TIMES).notna().all() and TABLE.weights is None  # the table itself stays as it was


def survey(n_rows=300):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, n_rows)
    frame = pd.DataFrame({"hat": np.where(kind ^ (rng.random(n_rows) < 0.1), "red", "blue")})
    frame["kids"] = (2 * kind + rng.integers(0, 2, n_rows)).astype(str)
    return CategoricalFrame.from_frame(frame), kind


def with_weights(data, weights):
    return replace(data, table=data.table.weighted(weights))


def test_pooled_means_and_shares_are_weighted_and_their_variance_is_that_over_samples():
    data, _ = survey()
    weights = np.random.default_rng(1).gamma(0.5, size=300)
    found = pooled([data.frame] * 2, with_weights(data, weights)).set_index(["column", "value"])
    kids, red = data.numbers[1], (data.frame["hat"] == "red").to_numpy()
    assert found.loc[("kids", ""), "estimate"] == pytest.approx(np.average(kids, weights=weights))
    assert found.loc[("hat", "red"), "estimate"] == pytest.approx(np.average(red, weights=weights))
    rng = np.random.default_rng(2)
    again = (rng.integers(300, size=300) for _ in range(2000))
    spread = np.std([np.average(kids[rows], weights=weights[rows]) for rows in again])
    assert (found["high"] - found["low"])[("kids", "")] / 2 == pytest.approx(1.65 * spread, rel=0.1)
    plain, equal = (pooled([data.frame] * 2, one) for one in (data, with_weights(data, np.full(300, 2.5))))
    numbers = ["estimate", "low", "high"]
    np.testing.assert_allclose(plain[numbers], equal[numbers], atol=1e-12)


def test_hidden_cells_count_by_the_weights_of_their_rows():
    data, kind = survey()
    weights = np.where(kind == 1, 1.0, 1e-9)
    found = held_out(made("RAND-EM"), with_weights(data, weights).table, 0)
    own = kind[found.row] == 1
    assert found.mean(found.loss) == pytest.approx(found.loss[own].mean(), rel=1e-4)
    assert found.gain()[0] == pytest.approx((found.base_loss - found.loss)[own].mean(), rel=1e-4)
    table = found.by_variable()
    assert table["loss"][0] == pytest.approx(found.loss[own & (found.variable == 0)].mean(), rel=1e-6)
    assert table["cells"].sum() == len(found.row) and number_errors(found, data).loc[1, "cells"] == table["cells"][1]


def test_survey_weights_have_mean_one_and_name_the_rows_that_have_none():
    column = pd.Series(["1,5", "0,5", "4,0"], name="w")
    assert survey_weights(column).tolist() == [0.75, 0.25, 2.0] and effective_rows(np.array([1.0, 1.0, 0.0])) == 2
    cases = {("1", "x", None, "-2"): r"data rows 1 \('x'\), 2 \(''\), 3 \('-2'\)", ("0", "0"): "all weights are zero"}
    for cells, said in cases.items():
        with pytest.raises(CofactorError, match=f"weight='w': .*{said}"):
            survey_weights(pd.Series(cells, name="w"))

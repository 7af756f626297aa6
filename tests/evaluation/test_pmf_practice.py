"""Thin tables: what is hidden and scored, what is compared with what, and a peer that is not installed."""

import sys

import numpy as np
import pandas as pd
import pytest

from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from evaluation import EXPERIMENTS
from evaluation.pmf import practice
from tests.oracles.latent_class import conditional_by_summing

VOTES = "votes,n=100"


def case(seed=0, setting=VOTES):
    return practice.draw_case(setting, np.random.default_rng(seed))


def test_cells_are_hidden_and_other_rows_held_out():
    drawn = case()
    codes, truth = drawn.seen.codes, drawn.truth
    assert drawn.seen.n_rows == 100 and drawn.fresh.n_rows == 335
    assert not ((codes >= 0) & (truth >= 0)).any()
    assert 0.15 < (truth >= 0).sum() / ((codes >= 0) | (truth >= 0)).sum() < 0.25


def test_numbers_are_cut_into_eight_intervals_and_categories_are_not():
    codes, sizes = practice.codes_of("credit")
    assert len(codes) == 690 and sizes.max() == 14 and np.sum(sizes == practice.BINS) >= 3
    assert (codes < sizes).all()


def test_cells_are_scored_by_the_conditional_of_their_column():
    drawn = case()
    model = practice.independence(drawn)
    mixed = LatentClassModel([0.3, 0.7], [np.column_stack([A[:, 0], A[::-1, 0]]) for A in model.conditionals])
    s, n = (int(index[5]) for index in np.nonzero(drawn.truth >= 0))
    place = int((drawn.truth[:s, n] >= 0).sum())
    expected = conditional_by_summing(mixed, drawn.seen.codes[s], n)
    assert np.allclose(practice.shares_of(mixed, drawn)[n][place], expected)


def test_rows_below_the_floor_are_counted_and_cost_no_more_than_it():
    model = LatentClassModel([1.0], [[[1.0], [0.0]], [[1 - 1e-20], [1e-20]]])
    found = practice.of_rows(model, CategoricalTable([[0, 0], [1, 0], [0, 1], [0, 0]], [2, 2]))
    assert found["impossible"] == 50
    assert found["log-likelihood"] == pytest.approx(2 * np.log(1e-12) / 4)


def test_what_is_claimed_beyond_what_is_right():
    drawn = practice.Case(CategoricalTable([[0], [0]], [2]), np.array([[0], [1]]), CategoricalTable([[0]], [2]), 0)
    assert practice.of_cells([np.array([[0.9, 0.1], [0.8, 0.2]])], drawn) == pytest.approx(
        {"accuracy": 50, "overconfidence": 35}
    )


@pytest.mark.parametrize("name", list(practice.FILLERS))
def test_every_filler_gives_a_distribution_for_every_hidden_cell(name):
    drawn = case()
    found = practice.FILLERS[name](drawn)
    assert [len(shares) for shares in found] == (drawn.truth >= 0).sum(axis=0).tolist()
    assert np.allclose(np.concatenate([shares.sum(axis=1) for shares in found]), 1)
    if name != "most frequent":
        right, usual = (practice.of_cells(each, drawn)["accuracy"] for each in (found, practice.most_frequent(drawn)))
        assert right > usual + 5


def test_the_default_predicts_rows_and_cells_better_than_the_simple_method():
    rows = practice.practice(VOTES, 0, np.random.default_rng(0))
    found = {(row.method, row.metric): row.value for row in rows}
    assert found[practice.DEFAULT, "more than Independence"] > 1
    assert found[practice.SIMPLE, "more than default"] < -5
    assert found[practice.DEFAULT, "log-likelihood"] > found["CNMF-EM, rank 5, not smoothed", "log-likelihood"]


def test_the_peer_that_is_not_installed_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "stepmix", None)
    monkeypatch.setitem(sys.modules, "stepmix.stepmix", None)
    with pytest.raises(CofactorError, match="stepmix is not installed"):
        practice.stepmix(case())


def test_the_peer_gives_a_model_of_the_table():
    pytest.importorskip("stepmix")
    drawn = case()
    model = practice.stepmix(drawn)
    assert np.array_equal(model.sizes, drawn.seen.sizes) and np.allclose(model.prior.sum(), 1)
    gained = model.log_likelihood(drawn.seen) - practice.independence(drawn).log_likelihood(drawn.seen)
    assert gained > 100  # it was fitted to these rows


def test_the_digest_has_means_over_sets_and_intervals_of_differences():
    gains = {"votes": 1.0, "car": 2.0, "credit": 3.0}
    rows = [
        {"setting": f"{name},n=100", "method": "m", "metric": "more than Independence", "ours": gain, "trials": 2}
        for name, gain in gains.items()
    ]
    (heading, lines), *_ = practice.digest(EXPERIMENTS["practice-pmf"], pd.DataFrame(rows)).items()
    assert heading.startswith("100 rows: mean over 3 sets")
    assert lines[0]["more than Independence"] == "+2.00 (-0.48 to +4.48)"  # 2 ± 4.303 / sqrt(3)
    assert lines[0]["worst set"] == "1"

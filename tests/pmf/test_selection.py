"""The one choice of rank and smoothing: what is tried, what is kept, what is averaged."""

import numpy as np
import pytest

from cofactor.core.tables import CategoricalTable
from cofactor.pmf.base import choose_rank_and_smoothing, hide_cells, lowest_rank, mean_model, near_best
from tests.oracles.generators import random_model, random_table
from tests.oracles.latent_class import conditional_by_summing, joint_by_outer_products


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

"""Plans agree with the crowds they stand for: simulated ones, and real ones whose labels are thinned."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import cofactor as cf
from cofactor import CofactorError, CrowdLabels, DataWarning, simulate
from cofactor.crowd import MVEM, RobSymNMF, WorkerTypes, error_rate, vote_shares
from cofactor.crowd.plan_next import (
    CLARITY_RANGE,
    LOG_STEP,
    Population,
    _posterior,
    _root,
    agreement,
    harder,
    population_of,
    with_difficulty,
)
from cofactor.verbs.plan import difficulty_range, plan
from tests.each import each

TRUTH = simulate.dawid_skene_model(12, 3, skill=0.6, prior=[0.5, 0.3, 0.2], random_state=0)
CROWD = simulate.crowd(TRUTH, 400, 0.4, random_state=0)
AMOUNTS = [1, 2, 3, 5, 8, 12]


def thinned(labels, d, rng):
    """At most d labels of every task, drawn at random."""
    table = labels.table
    order = np.lexsort((rng.random(table.n_entries), table.rows))
    place = np.arange(table.n_entries) - np.repeat(table.indicator.indptr[:-1], table.entries_per_row)
    kept = order[place < d]
    sizes = labels.n_classes, labels.n_tasks, labels.n_workers
    return CrowdLabels.from_arrays(
        table.rows[kept], table.variables[kept], table.values[kept], *sizes, unlabelled="keep"
    )


def median_errors(found, name):
    table = found.curve()
    return table.loc[table["method"] == name, "error"].to_numpy()


# ---- the simulated crowd ----


@pytest.mark.slow
def test_the_plan_of_a_crowd_without_hard_tasks_is_what_that_crowd_does():
    found = plan(CROWD.labels, 0.1, ["MajorityVote", "MV-EM"], AMOUNTS, CROWD.truth, n_trials=12, random_state=0)
    everybody = simulate.crowd(TRUTH, 3000, 1.0, random_state=1)
    rng = np.random.default_rng(0)
    thin = [thinned(everybody.labels, d, rng) for d in AMOUNTS]
    votes = [error_rate(vote_shares(labels), everybody.truth) for labels in thin]
    em = [error_rate(MVEM().fit(labels).predict_proba(labels), everybody.truth) for labels in thin]
    assert np.abs(median_errors(found, "MajorityVote") - votes).mean() < 0.03
    assert np.abs(median_errors(found, "MV-EM") - em).mean() < 0.03


def pulled_crowd(tau, d, rng):
    """1500 tasks with d labels each that pull at everybody, and their truth."""
    alike = population_of(CROWD.labels, MVEM().fit(CROWD.labels))
    population = replace(alike, difficulty=tau, clarity=1.5)
    task = np.repeat(np.arange(1500), d)
    worker = population.workers(1500, d, rng).ravel()
    truth, label = population.label(population.annotators(rng), task, worker, 1500, rng)
    return CrowdLabels.from_arrays(task, worker, label), truth


@pytest.mark.slow
def test_known_truth_tells_how_hard_tasks_are():
    """Without truth the plan is a range that holds the real error, with 150 truths it is narrower and fair."""
    rng = np.random.default_rng(0)
    everything, truth = pulled_crowd(0.8, 12, rng)
    real = error_rate(vote_shares(everything), truth)
    pilot = thinned(everything, 4, rng)
    some = np.where(np.arange(1500) < 150, truth, -1)
    blind, fair = (
        plan(pilot, 0.1, ["MajorityVote"], [12], known, n_trials=12, random_state=0) for known in (None, some)
    )
    (_, _, _, low, high), (_, _, error, least, most) = (list(found.curve().loc[0]) for found in (blind, fair))
    assert low < real < high and most - least < high - low
    assert error == pytest.approx(real, rel=0.35)
    assert "aggregate reports an expected error of " in blind.notes[1] and len(fair.notes) == 1
    assert "no truth is known" in blind.notes[0] and "150 tasks with known truth" in fair.notes[0]
    assert blind.only_range and not fair.only_range and " to " in blind.answers()["MajorityVote"]


@pytest.mark.slow
def test_without_truth_the_range_is_that_of_the_difficulties():
    """The note's errors are those of crowds as easy and as hard as it says, on the same workers and tasks."""
    found = plan(CROWD.labels, 0.1, ["MajorityVote"], [4], n_trials=8, random_state=0)
    method = WorkerTypes().fit(CROWD.labels)
    levels = [*harder(population_of(CROWD.labels, method), CROWD.labels, method, 1)][:9]
    low, high = np.interp(difficulty_range(), [one.difficulty for one, _ in levels], [error for _, error in levels])
    said = [float(word[:-1]) / 100 for word in found.notes[0].split() if word.endswith("%")]
    assert said == pytest.approx([low, high], abs=0.03) and low < high - 0.1


@pytest.mark.slow
def test_errors_that_no_difficulty_explains_are_told():
    """Everybody agrees, and the truth is another."""
    wrong = (MVEM().fit(CROWD.labels).predict(CROWD.labels) + 1) % 3
    settings = {"n_trials": 2, "method": MVEM(), "random_state": 0}
    found = plan(CROWD.labels, 0.1, ["MajorityVote"], [4], wrong, **settings)
    assert "below the measured 100.0%: more labels are needed" in found.notes[1]
    right = plan(CROWD.labels, 0.1, ["MajorityVote"], [4], CROWD.truth, **settings)
    assert len(right.notes) == 1


@pytest.mark.parametrize("tau", [0.8, 30.0])
def test_difficulty_leaves_the_agreement_of_pairs_as_it_is(tau):
    population, table = population_of(CROWD.labels, MVEM().fit(CROWD.labels)), CROWD.labels.table
    table = table.take_rows(table.entries_per_row > 0)
    harder = with_difficulty(population, table, tau, seed=0)
    assert harder.difficulty == tau and harder.clarity != 1
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        _, label = harder.label(harder.annotators(rng), table.rows, table.variables, table.n_rows, rng)
        found.append(agreement(table.rows, label, table.n_rows, 3))
    assert np.mean(found) == pytest.approx(agreement(table.rows, table.values, table.n_rows, 3), abs=0.02)


def test_where_no_clarity_explains_the_agreement_the_nearest_is_taken():
    """Workers who know nothing, and labels that all agree: no clarity makes strangers agree."""
    labels = CrowdLabels.from_arrays(np.repeat(np.arange(50), 4), np.tile(np.arange(4), 50), np.repeat([0, 1] * 25, 4))
    nothing = Population(np.full(2, 0.5), np.full((4, 2, 2), 1e4), np.ones(4))
    assert 0 < with_difficulty(nothing, labels.table, 0.0, seed=0).clarity < 25


@pytest.mark.slow
def test_harder_tasks_mean_more_errors_at_the_same_agreement():
    method = MVEM().fit(CROWD.labels)
    levels = [*harder(population_of(CROWD.labels, method), CROWD.labels, method, 0)]
    errors = np.array([error for _, error in levels])
    assert errors[0] < 0.15 and errors[-1] > 0.5 and (np.diff(errors) > -0.03).all()


class Doubtful(MVEM):
    """Warns of the labels that it is fitted to."""

    def fit(self, labels, gold=None):
        warnings.warn("these labels do not show who is right", DataWarning, stacklevel=2)
        return super().fit(labels, gold)


def test_what_a_method_warns_of_simulated_labels_is_not_shown():
    with warnings.catch_warnings(record=True, action="always") as caught:
        _, error = next(harder(population_of(CROWD.labels, MVEM().fit(CROWD.labels)), CROWD.labels, Doubtful(), 0))
    assert not caught and 0 < error < 0.5


def test_agreement_counts_pairs_of_labels():
    task, label = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 1, 0])
    assert agreement(task, label, 3, 2) == pytest.approx((1 / 3 + 1) / 2)  # the third task has no pair


def test_every_task_gets_different_workers_the_busy_ones_more_often():
    population = Population(np.full(2, 0.5), np.ones((4, 2, 2)), np.array([1.0, 2.0, 5.0, 0.0]))
    drawn = population.workers(20_000, 3, np.random.default_rng(0))
    assert (np.sort(drawn, axis=1) == [0, 1, 2]).all()
    first = np.bincount(drawn[:, 0], minlength=4) / 20_000
    assert first == pytest.approx([1 / 8, 2 / 8, 5 / 8, 0], abs=0.015)


def test_annotators_are_as_the_counts_say():
    weights = np.random.default_rng(0).uniform(1, 50, (3, 2, 2))
    population = Population(np.full(2, 0.5), weights, np.ones(3))
    draws = np.array([population.annotators(np.random.default_rng(seed)) for seed in range(2000)])
    assert np.allclose(draws.sum(axis=2), 1)
    assert np.allclose(draws.mean(axis=0), weights / weights.sum(axis=1, keepdims=True), atol=0.02)


def test_workers_are_drawn_together_as_far_as_they_are_alike():
    """Shares 0.8 and 0.2 of all: taken for the same worker. Half always right, half always wrong: taken as they are."""
    alike, unlike = np.tile([8.0, 2.0], (30, 1)), np.repeat([[10.0, 0.0], [0.0, 10.0]], 15, axis=0)
    assert (_posterior(alike) - alike).sum(axis=1).min() > 100
    assert (_posterior(unlike) - unlike).sum(axis=1).max() < 2


# ---- the real one ----


@pytest.mark.slow
@pytest.mark.needs_mirror
@pytest.mark.parametrize(("name", "d"), [("dog", 3), ("rte", 5)])
def test_a_pilot_with_a_hundred_truths_predicts_the_whole_crowd(name, d):
    """Errors predicted are off by .02 to .06 on average over the amounts, from one pilot to the next."""
    dataset, off = cf.load(name), []
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        known = np.full(dataset.labels.n_tasks, -1)
        chosen = rng.permutation(np.flatnonzero(dataset.truth >= 0))[:100]
        known[chosen] = dataset.truth[chosen]
        pilot = thinned(dataset.labels, d, rng)
        found = plan(pilot, 0.1, ["MV-EM"], [1, 3, 5, 10], known, n_trials=10, random_state=0)
        more = [thinned(dataset.labels, amount, rng) for amount in (1, 3, 5, 10)]
        real = [error_rate(MVEM().fit(labels).predict_proba(labels), dataset.truth) for labels in more]
        off.append(np.abs(median_errors(found, "MV-EM") - real).mean())
    assert np.mean(off) < 0.06


@pytest.mark.slow
@pytest.mark.needs_mirror
@pytest.mark.parametrize("name", ["weather_amt", "music_genre", "zencrowd_us"])
def test_without_truth_the_range_holds_the_error_of_real_crowds(name):
    """Planned from the model alone, weather would have 0.6 per cent of errors in place of 14."""
    dataset = cf.load(name)
    d = round(dataset.labels.n_labels / dataset.labels.n_tasks)
    found = plan(dataset.labels, 0.1, ["WorkerTypes"], [d], n_trials=10, random_state=0)
    (_, _, _, low, high) = found.curve().loc[0]
    real = error_rate(WorkerTypes().fit(dataset.labels).predict_proba(dataset.labels), dataset.truth)
    assert low < real < high


# ---- the edge ----


@pytest.mark.slow
def test_is_the_same_for_the_same_seed_at_any_number_of_jobs():
    one, two, other = (
        plan(CROWD.labels, 0.1, ["MajorityVote"], [1, 4], None, 100, 4, MVEM(), seed, jobs)
        for seed, jobs in ((0, 1), (0, 2), (1, 1))
    )
    assert np.array_equal(one.errors["MajorityVote"], two.errors["MajorityVote"])
    assert not np.array_equal(one.errors["MajorityVote"], other.errors["MajorityVote"])


@pytest.mark.slow
def test_asks_for_no_more_labels_than_there_are_workers():
    padded = CrowdLabels(CROWD.labels.table, CROWD.labels.tasks, CROWD.labels.workers, CROWD.labels.classes)
    found = plan(padded.take_workers([0, 1, 2, 3]), n_trials=2, n_tasks=50, random_state=0)
    assert found.amounts.tolist() == [1, 2, 3, 4]


@pytest.mark.slow
def test_where_a_method_refuses_there_is_no_error():
    found = plan(CROWD.labels, 0.1, ["RobSymNMF"], [1, 8], n_trials=2, random_state=0)
    assert np.isnan(found.errors["RobSymNMF"][:, 0]).all() and np.isfinite(found.errors["RobSymNMF"][:, 1]).all()


@pytest.mark.slow
def test_any_fitted_method_can_lend_its_model():
    labels = CROWD.labels
    method = RobSymNMF().fit(labels)
    model = method.model_
    found = plan(labels, 0.1, ["MajorityVote"], [5], n_trials=3, n_tasks=100, method=method, random_state=0)
    assert method.model_ is model and found.present == pytest.approx(labels.n_labels / 400, rel=0.02)


@each(
    "settings, message",
    [
        ({"wanted_error": 5}, "between 0 and 1"),
        ({"methods": ["MajorityVote", "Vote"]}, "choose one or more of WorkerTypes"),
        ({"amounts": [0.5]}, "whole numbers"),
        ({"amounts": [20]}, "the largest possible amount, 12"),
        ({"n_trials": 1}, "at least two trials"),
        ({"n_jobs": 0}, "at least two trials"),
        ({"truth": np.zeros(3, dtype=int)}, "wrong length"),
        ({"truth": np.where(np.arange(400) < 5, 0, -1)}, "the truth of only 5 tasks is known"),
    ],
)
def test_names_what_makes_no_sense(settings, message):
    with pytest.raises(CofactorError, match=message):
        plan(CROWD.labels, **settings)


def test_the_search_for_consistency_stays_within_its_range():
    least, most = np.log(CLARITY_RANGE)
    assert _root(lambda x: x + 100, least + LOG_STEP / 3) == pytest.approx(least)
    assert most <= _root(lambda x: x - 100, most - LOG_STEP / 3) < most + LOG_STEP
    assert _root(lambda x: x - 1.2345, 0.0) == pytest.approx(1.2345, abs=1e-2)

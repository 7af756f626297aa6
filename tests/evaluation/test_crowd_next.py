"""Labels revealed one after another: as many as asked for, each once, and what is said to be saved."""

import numpy as np
import pytest

from cofactor.crowd import WorkerTypes
from cofactor.simulate import crowd, dawid_skene_model
from evaluation import EXPERIMENTS
from evaluation.crowd import next_labels
from evaluation.crowd.next_labels import EVENLY, RULE, Curve, asked, by_rule, evenly, only, random_places, saved


@pytest.fixture(scope="module")
def made():
    return crowd(dawid_skene_model(12, 2, skill=0.5, random_state=0), 60, 0.6, random_state=0)


def test_labels_come_in_random_order_each_once(made):
    table = made.labels.table
    places = [random_places(table, np.random.default_rng(seed)) for seed in (0, 0, 1)]
    for task in range(made.labels.n_tasks):
        mine = places[0][table.rows == task]
        assert sorted(mine) == list(range(len(mine)))
    assert (places[0] == places[1]).all() and (places[0] != places[2]).any()


@pytest.mark.parametrize("choose", [evenly, by_rule])
def test_as_many_are_revealed_as_asked_for_and_as_there_are(made, choose):
    labels = made.labels
    known = only(labels, random_places(labels.table, np.random.default_rng(0)) < 2)
    free = labels.table.entries_per_row - known.table.entries_per_row
    method = WorkerTypes().fit(known)
    for n in (1, 40, int(free.sum())):
        more = choose(known, method, free, n, np.random.default_rng(0))
        assert more.sum() == n and (more >= 0).all() and (more <= free).all()
    free = np.minimum(free, np.arange(len(free)) % 2)
    assert (choose(known, method, free, int(free.sum()), np.random.default_rng(0)) == free).all()


def test_evenly_goes_where_there_are_fewest():
    there, free = np.array([2, 3, 5, 2]), np.array([9, 9, 9, 1])
    assert next_labels.fewest(there, free, 6, np.random.default_rng(0)).tolist() in ([3, 2, 0, 1], [2, 3, 0, 1])


@pytest.mark.slow
def test_both_ways_begin_alike_and_end_at_the_same_amount(made):
    curves = [asked(made.labels, made.truth, way, np.random.default_rng(3)) for way in (evenly, by_rule)]
    assert curves[0].error[0] == curves[1].error[0] and curves[0].amount[0] == pytest.approx(2.0, abs=0.05)
    for curve in curves:
        assert (np.diff(curve.amount) > 0).all() and curve.amount[-1] <= next_labels.END + next_labels.BATCH
        assert ((curve.error >= 0) & (curve.error <= 1) & (curve.estimated >= 0)).all()


def test_saved_is_the_share_of_labels_less():
    amount = np.arange(2.0, 7.51, 0.25)
    even = Curve(amount, 1 / amount, amount)
    assert saved(even, even) == pytest.approx(0, abs=0.05)
    twice = Curve(amount, 0.5 / amount, amount)
    assert saved(twice, even) == pytest.approx(0.5, abs=0.05)
    never = Curve(amount, 2 / amount, amount)
    assert saved(never, even) == pytest.approx(-1 / 6)


@pytest.mark.slow
def test_a_trial_measures_all_that_is_declared(made, monkeypatch):
    found = type("Found", (), {"labels": made.labels, "truth": made.truth})
    monkeypatch.setattr(next_labels, "load", lambda name, kind: found)
    rows = next_labels.revealed("made", 0, np.random.default_rng(0))
    metrics = EXPERIMENTS["crowd-next"].metrics
    assert {(row.method, row.metric) for row in rows} == {(way, metric) for way in (EVENLY, RULE) for metric in metrics}

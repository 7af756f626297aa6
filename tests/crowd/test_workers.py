"""The table of the workers: agreement counted by hand, and nobody accused before the interval says so."""

from dataclasses import replace

import numpy as np
import pytest

from cofactor import CofactorError, CrowdLabels, crowd, simulate
from cofactor.crowd.workers import (
    ABOVE,
    BELOW,
    BETTER,
    MAY_BE_GRADES,
    NOT_KNOWN,
    UNCLEAR,
    UNJUDGED,
    WORSE,
    agreement_with_others,
    mean_agreement,
    why_not_judged,
    without_information,
    workers_table,
)
from tests.oracles.crowds import over_callers
from tests.oracles.graders import grader_crowd

COLUMNS = ["worker", "n_labels", "accuracy", "low", "high", "agreement", "verdict", "mistake", "note"]
LABELS = simulate.crowd(simulate.dawid_skene_model(8, 3, skill=0.6, random_state=0), 150, 0.5, random_state=0).labels
METHOD = crowd.WorkerTypes().fit(LABELS)
FOUND = crowd.bootstrap(METHOD, LABELS, n_draws=10, random_state=0)


def test_has_a_row_of_every_worker_in_order():
    table = workers_table(METHOD, LABELS, FOUND)
    assert table.columns.tolist() == COLUMNS
    assert table["worker"].tolist() == LABELS.workers
    assert table["n_labels"].tolist() == LABELS.table.entries_per_variable.tolist()
    numbers = FOUND.accuracy()[["estimate", "low", "high"]]
    assert np.allclose(table[["accuracy", "low", "high"]], numbers)


def test_a_narrower_level_gives_narrower_intervals():
    wide, narrow = (workers_table(METHOD, LABELS, FOUND, level) for level in (0.9, 0.5))
    assert ((wide["high"] - wide["low"]) > (narrow["high"] - narrow["low"])).all()


@pytest.mark.parametrize("name", ["WorkerTypes", "MV-EM", "MajorityVote"])
def test_without_intervals_nobody_is_judged(name):
    table = workers_table(crowd.METHODS[name]().fit(LABELS), LABELS)
    assert set(table["verdict"]) == {UNJUDGED} and set(table["mistake"]) == {""}
    assert table[["low", "high"]].isna().all(axis=None) and table["accuracy"].between(0, 1).all()


def test_agreement_leaves_the_own_label_out():
    triples = list(zip(*(getattr(LABELS.table, name) for name in ("rows", "variables", "values")), strict=True))
    all_equal = all_pairs = 0
    for w in range(LABELS.n_workers):
        pairs = [a == b for t, v, a in triples if v == w for s, u, b in triples if s == t and u != w]
        assert agreement_with_others(LABELS)[w] == pytest.approx(np.mean(pairs))
        all_equal, all_pairs = all_equal + sum(pairs), all_pairs + len(pairs)
    assert mean_agreement(LABELS) == pytest.approx(all_equal / all_pairs)


def test_a_worker_who_was_always_alone_agrees_with_nobody():
    labels = CrowdLabels.from_arrays([0, 0, 1], [0, 1, 2], [0, 1, 1])
    assert np.isnan(agreement_with_others(labels)).tolist() == [False, False, True]
    assert np.isnan(mean_agreement(labels.take_workers([2])))


@pytest.mark.parametrize(
    ("right", "spread", "verdict"),
    [(0.1, 0.02, WORSE), (0.5, 0.02, BELOW), (0.95, 0.01, ABOVE), (0.7, 0.1, BETTER), (0.2, 0.3, UNCLEAR)],
)
def test_a_verdict_needs_an_interval_on_one_side(right, spread, verdict):
    found = replace(FOUND, right=np.full(8, right), right_spread=np.full(8, spread), labels_given=np.full(8, 1000.0))
    table = workers_table(METHOD, LABELS, found)
    mean = np.average(table["accuracy"], weights=table["n_labels"])
    assert 0.6 < mean < 0.9
    assert set(table["verdict"]) == {verdict}


def test_a_worker_of_few_labels_is_not_accused():
    """Worker 8 gave three labels, all against the others; with sixty of the kind the verdict comes."""
    task, worker, said = LABELS.table.rows, LABELS.table.variables, LABELS.table.values
    best = METHOD.predict(LABELS)
    for n, verdicts in ((3, {UNCLEAR}), (60, {WORSE})):
        wrong = (best[:n] + 1) % 3
        arrays = np.append(task, np.arange(n)), np.append(worker, np.full(n, 8)), np.append(said, wrong)
        labels = CrowdLabels.from_arrays(*arrays, unlabelled="keep")
        method = crowd.WorkerTypes().fit(labels)
        table = workers_table(method, labels, crowd.bootstrap(method, labels, n_draws=10, random_state=0))
        row = table.set_index("worker").loc[8]
        assert {row["verdict"]} == verdicts
        assert bool(row["mistake"]) == (n == 60)


def test_nobody_is_judged_where_no_task_has_two_labels():
    labels = CrowdLabels.from_arrays(np.arange(60), np.arange(60) % 3, np.arange(60) % 2)
    method = crowd.WorkerTypes().fit(labels)
    table = workers_table(method, labels, crowd.bootstrap(method, labels, n_draws=5, random_state=0))
    assert set(table["verdict"]) == {NOT_KNOWN} and np.allclose(table["accuracy"], 0.8)
    arrays = (np.append(x, more) for x, more in ((np.arange(60), 0), (np.arange(60) % 3, 0), (np.arange(60) % 2, 1)))
    often = CrowdLabels.from_arrays(*arrays, conflicts="all")
    assert often.table.shared and why_not_judged(crowd.WorkerTypes().fit(often), often) == "no task has two labels"


def test_a_mistake_is_named_only_beyond_that_of_the_crowd():
    table = workers_table(METHOD, LABELS, FOUND)
    cells = FOUND.confusion().set_index(["worker", "said", "true"])
    crowds = np.average(FOUND.model.stacked.reshape(8, 3, 3), axis=0, weights=FOUND.labels_given)
    assert (table["mistake"] != "").any() and (table["mistake"] == "").any()
    for _, row in table[table["mistake"] != ""].iterrows():
        said, true = (int(name) for name in row["mistake"].split(":")[0].split(" for "))
        assert said != true and cells.loc[(row["worker"], said, true), "low"] > crowds[said, true]


@pytest.mark.parametrize("K", [2, 3])
def test_nobody_is_told_a_mistake_in_a_crowd_that_makes_none(K):
    task, worker = np.divmod(np.arange(48), 3)
    labels = CrowdLabels.from_arrays(task, worker, task % K)
    method = crowd.MVEM(pseudo_counts=(0, 0)).fit(labels)
    table = workers_table(method, labels, crowd.bootstrap(method, labels, n_draws=3, random_state=0))
    assert table["mistake"].tolist() == [""] * 3 and (table["accuracy"] > 0.99).all()


def test_another_crowd_is_refused():
    with pytest.raises(CofactorError, match="fitted on 8 workers"):
        workers_table(METHOD, LABELS.take_workers([0, 1, 2]))


def test_workers_with_nothing_to_say_are_named_where_labels_can_tell():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=300)
    honest = np.where(rng.random((300, 4)) < 0.85, truth[:, None], 1 - truth[:, None])
    codes = np.hstack([honest, np.zeros((300, 1), dtype=int), rng.integers(2, size=(300, 1))])
    cases = {  # workers, and whether they are said to have no information
        "four who know, a constant one, one who guesses": (codes, [False] * 4 + [True] * 2),
        "two who differ": (codes[:, [0, 4]], [False] * 2),
        "one who knows, and a constant one twice": (codes[:, [0, 4, 4]], [False] * 3),
    }
    for case, (said, expected) in cases.items():
        task, worker = np.indices(said.shape).reshape(2, -1)
        labels = CrowdLabels.from_arrays(task, worker, said.ravel())
        assert without_information(crowd.WorkerTypes().fit(labels)).tolist() == expected, case
        assert not without_information(crowd.MajorityVote().fit(labels)).any()
    alone = CrowdLabels.from_arrays(np.arange(300), np.arange(300) % 3, truth)
    assert not without_information(crowd.WorkerTypes().fit(alone)).any()


def covered(method, labels, truth):
    """Return the share of the workers whose interval holds the share of their labels that are right."""
    table = workers_table(method, labels, crowd.bootstrap(method, labels, n_draws=10, random_state=0))
    owner, right = labels.table.variables, labels.table.values == truth[labels.table.rows]
    rate = np.bincount(owner, right) / np.bincount(owner)
    return np.mean((table["low"] <= rate) & (rate <= table["high"])), table["verdict"]


def test_workers_are_not_judged_where_classes_may_be_grades_and_intervals_do_not_hold():
    """A crowd grades one step too low, so that its shared error is in no label; beside it, a crowd of names."""
    drawn, truth = grader_crowd(300, 25, spread=(0.3, 0.3))
    table = drawn.table
    arrays = table.rows, table.variables, np.maximum(table.values - 1, 0)
    low = CrowdLabels.from_arrays(*arrays)
    named = simulate.crowd(simulate.dawid_skene_model(25, 5, skill=0.6, random_state=0), 300, 0.2, random_state=0)
    declared = crowd.WorkerTypes(order=low.classes).fit(low)
    share, verdicts = covered(crowd.WorkerTypes().fit(low), low, truth)
    assert share < 0.5 and set(verdicts) == {NOT_KNOWN}
    assert why_not_judged(crowd.MajorityVote().fit(low), low) == MAY_BE_GRADES
    assert why_not_judged(declared, low) != MAY_BE_GRADES
    share, verdicts = covered(crowd.WorkerTypes().fit(named.labels), named.labels, named.truth)
    assert share > 0.8 and NOT_KNOWN not in set(verdicts)


def test_a_worker_is_not_judged_whose_accuracy_depends_on_a_camp():
    i, w, l, _ = over_callers(0)
    labels = CrowdLabels.from_arrays(i, w, l)
    method = crowd.WorkerTypes().fit(labels)
    boot, seen = crowd.bootstrap(method, labels, n_draws=10, random_state=0), crowd.readings(labels, method)
    before, after = (set(workers_table(method, labels, boot, readings=r)["verdict"]) for r in (None, seen))
    assert BELOW in before and after == {NOT_KNOWN}


def test_below_the_mean_needs_the_vote_to_agree():
    seen = crowd.readings(LABELS, METHOD)
    found = replace(FOUND, right=np.where(np.arange(8) < 4, 0.4, 0.9), right_spread=np.full(8, 0.01))
    found = replace(found, labels_given=np.full(8, 1000.0))
    table = workers_table(METHOD, LABELS, found, readings=seen)
    votes = seen.posterior("vote")[LABELS.table.rows, LABELS.table.values]
    by_vote = np.bincount(LABELS.table.variables, votes) / np.bincount(LABELS.table.variables)
    below = by_vote < votes.mean()
    assert 0 < below[:4].sum() < 4
    assert table["verdict"][:4].tolist() == [BELOW if x else UNCLEAR for x in below[:4]]


def test_a_report_that_refuses_to_judge_judges_no_worker():
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=(300, 8))
    codes[:, 0] = 0
    task, worker = np.indices(codes.shape).reshape(2, -1)
    labels = CrowdLabels.from_arrays(task, worker, codes.ravel())
    method = crowd.WorkerTypes().fit(labels)
    assert why_not_judged(method, labels) == "the labels agree no more than chance"
    table = workers_table(method, labels, crowd.bootstrap(method, labels, n_draws=3, random_state=0))
    assert without_information(method).any() and set(table["verdict"]) == {NOT_KNOWN}

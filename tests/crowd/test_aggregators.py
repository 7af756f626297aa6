"""Aggregators: names never matter, nobody is dropped, nothing is NaN, and hopeless data is refused with the reason."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

import cofactor as cf
from cofactor import simulate
from cofactor.core.errors import CofactorError, DataWarning, NotIdentifiableError
from cofactor.core.latent_class import LatentClassModel
from cofactor.crowd import METHODS
from cofactor.crowd.aggregators import MVEM, DesSymNMF, MajorityVote, MultiStartEM, RobSymNMF, SymNMF
from cofactor.crowd.base import TaskScorer, error_rate
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.method import WorkerTypes
from tests.oracles.generators import permutations_of, recorded, relabel, skilled_crowd, triples

FAMILY = [name for name in METHODS if "SymNMF" in name]
ELSEWHERE = ("KOS", "GhoshSVD", "EigenRatio")  # see test_binary
ANY_K = [name for name in METHODS if not name.startswith(ELSEWHERE)]
CLASSES = [MajorityVote, MVEM, SymNMF, DesSymNMF, RobSymNMF, MultiStartEM]


def fitted(name, labels):
    return recorded(METHODS[name]().fit, labels)[0]


def extended(labels, task, worker, label, n_tasks=0, n_workers=0):
    """Add labels, tasks and workers at the end."""
    new = [np.append(old, more) for old, more in zip(triples(labels), (task, worker, label), strict=True)]
    sizes = labels.n_classes, labels.n_tasks + n_tasks, labels.n_workers + n_workers
    return CrowdLabels.from_arrays(*new, *sizes, unlabelled="keep")


def assert_finite(method, labels):
    posterior = method.predict_proba(labels)
    assert posterior.shape == (labels.n_tasks, labels.n_classes)
    assert np.isfinite(posterior).all() and np.allclose(posterior.sum(axis=1), 1)
    assert np.isfinite(method.model_.prior).all() and np.isfinite(method.model_.stacked).all()
    assert method.model_.n_variables == labels.n_workers


@pytest.fixture(params=ANY_K)
def name(request):
    return request.param


# ---- names never matter ----


@pytest.mark.parametrize("seed", [0, 1])
def test_renaming_tasks_workers_and_classes_renames_the_answer(name, seed):
    if name == "Spectral-D&S(no EM)":
        pytest.skip("the order of the workers decides its groups; test_spectral keeps them together")
    labels = skilled_crowd(seed).labels
    tasks, workers, classes = permutations_of(labels, seed)
    renamed = relabel(labels, tasks, workers, classes)
    method, other = fitted(name, labels), fitted(name, renamed)
    posterior = method.predict_proba(labels)
    clear = np.diff(np.sort(posterior, axis=1)[:, -2:], axis=1)[:, 0] > 0.01
    assert clear.mean() > 0.8
    assert np.array_equal(other.predict(renamed)[tasks][clear], classes[method.predict(labels)][clear])
    assert np.allclose(other.model_.prior[classes], method.model_.prior, atol=0.01)
    for m in range(labels.n_workers):
        moved = other.model_.conditionals[workers[m]][np.ix_(classes, classes)]
        assert np.allclose(moved, method.model_.conditionals[m], atol=0.02)


def test_the_same_result_twice(name):
    labels = skilled_crowd(2).labels
    first, second = fitted(name, labels), fitted(name, labels)
    assert np.array_equal(first.predict_proba(labels), second.predict_proba(labels))
    again = recorded(first.fit, labels)[0]
    assert np.array_equal(again.model_.stacked, second.model_.stacked)


# ---- nobody is dropped, nothing is NaN ----


def test_a_task_without_labels_gets_the_prior(name):
    labels = extended(skilled_crowd(0).labels, [], [], [], n_tasks=2)
    method = fitted(name, labels)
    assert_finite(method, labels)
    even = isinstance(method, TaskScorer | MajorityVote)
    expected = np.full(3, 1 / 3) if even else method.model_.prior
    assert np.allclose(method.predict_proba(labels)[-2:], expected)


def test_tasks_without_labels_change_nothing_else(name):
    labels = skilled_crowd(0).labels
    more = extended(labels, [], [], [], n_tasks=5)
    assert np.array_equal(fitted(name, more).predict(more)[:-5], fitted(name, labels).predict(labels))


def test_a_duplicated_worker_does_no_harm(name):
    crowd = skilled_crowd(0)
    task, worker, label = triples(crowd.labels)
    copied = worker == 3
    labels = extended(crowd.labels, task[copied], np.full(copied.sum(), 12), label[copied], n_workers=1)
    method = fitted(name, labels)
    assert_finite(method, labels)
    assert np.allclose(method.model_.conditionals[12], method.model_.conditionals[3], atol=0.1)


def test_useless_workers_keep_their_place(name):
    """The worker before and the worker after the useless ones must not be mistaken for one another."""
    crowd = skilled_crowd(0)
    task, worker, label = triples(crowd.labels)
    rng, useless = np.random.default_rng(0), np.isin(worker, [4, 5])
    label = np.where(worker == 4, 0, np.where(worker == 5, rng.integers(0, 3, len(label)), label))
    labels = CrowdLabels.from_arrays(task, worker, label, 3, 400, 12, unlabelled="keep")
    method = fitted(name, labels)
    assert_finite(method, labels)
    assert useless.any()
    uniform = name == "MultiSPA"  # no vertices: no evidence
    constant = np.full((3, 3), 1 / 3) if uniform else [[1] * 3, [0] * 3, [0] * 3]
    assert np.allclose(method.model_.conditionals[4], constant, atol=0.1)
    errors = [[np.abs(B - A).mean() for A in crowd.model.conditionals[6:]] for B in method.model_.conditionals[6:]]
    if name != "MajorityVote":
        assert np.array_equal(linear_sum_assignment(errors)[1], np.arange(6))


def with_isolated_worker():
    """Worker 12 labels tasks that nobody else does."""
    labels = skilled_crowd(0).labels
    return extended(labels, np.arange(400, 430), np.full(30, 12), np.arange(30) % 3, n_tasks=30, n_workers=1)


def test_an_isolated_worker_is_named_and_kept(name):
    labels = with_isolated_worker()
    method, given = recorded(METHODS[name]().fit, labels)
    named = [w for w in given if w.category is DataWarning and "share too few tasks with anybody" in str(w.message)]
    assert bool(named) == (name in FAMILY or name == "MultiStart-EM")
    assert all(str(w.message).endswith(": 12") for w in named)
    assert_finite(method, labels)
    if name in FAMILY and not name.endswith("-EM"):
        assert np.array_equal(method.model_.conditionals[12], np.full((3, 3), 1 / 3))


# ---- what cannot be identified ----


def disconnected():
    """Two crowds that share neither workers nor tasks."""
    first, second = skilled_crowd(0).labels, skilled_crowd(1).labels
    task, worker, label = triples(second)
    return extended(first, task + 400, worker + 12, label, n_tasks=400, n_workers=12)


def teams():
    """Every task is labelled by one worker of each of two teams."""
    labels = skilled_crowd(0, label_rate=1.0).labels
    task, worker, label = triples(labels)
    rng = np.random.default_rng(0)
    chosen = (worker == rng.integers(0, 6, 400)[task]) | (worker == rng.integers(6, 12, 400)[task])
    return CrowdLabels.from_arrays(task[chosen], worker[chosen], label[chosen], 3)


@pytest.mark.parametrize("family", FAMILY)
def test_separate_crowds_are_refused_with_their_members(family):
    listed = ", ".join(map(str, range(10)))
    with pytest.raises(NotIdentifiableError, match=rf"2 components: \[{listed}, \.\.\. \(12 in all\)\]; \[12, 13"):
        METHODS[family]().fit(disconnected())


@pytest.mark.parametrize("family", FAMILY)
def test_two_teams_are_refused(family):
    with pytest.raises(NotIdentifiableError, match="bipartite"):
        METHODS[family]().fit(teams())


@pytest.mark.parametrize("build", [disconnected, teams])
@pytest.mark.parametrize("other", ["MajorityVote", "MV-EM"])
def test_voting_runs_where_the_family_refuses(build, other):
    labels = build()
    assert_finite(fitted(other, labels), labels)


@pytest.mark.parametrize("build", [disconnected, teams])
def test_multi_start_says_which_starts_it_left_out(build):
    labels = build()
    with pytest.warns(DataWarning, match="started without DesSymNMF, RobSymNMF: the co-labelling graph"):
        method = MultiStartEM().fit(labels)
    assert method.best_start_ == "MajorityVote"
    assert [bool(start.refusal) for start in method.starts_] == [False, True, True]
    assert_finite(method, labels)


@pytest.mark.parametrize("family", FAMILY)
def test_a_class_that_nobody_uses_is_refused(family):
    task, worker, label = triples(skilled_crowd(0, n_classes=2).labels)
    labels = CrowdLabels.from_arrays(task, worker, label, n_classes=3, n_tasks=400, unlabelled="keep")
    with pytest.raises(CofactorError, match=r"more classes \(3\) than the co-occurrences have rank"):
        recorded(METHODS[family]().fit, labels)


def test_refuses_labels_without_labels():
    table = skilled_crowd(0).labels
    empty = table.take_tasks(np.flatnonzero(table.table.entries_per_row < 0))
    for cls in (MajorityVote, MVEM, MultiStartEM):
        with pytest.raises(CofactorError, match="no task has a label"):
            cls().fit(empty)


# ---- good crowds, bad crowds ----


def strong_crowd(seed=0):
    """One perfect worker in nine, all others barely better than chance: votes drown the one who knows."""
    model = simulate.dawid_skene_model(9, 3, 0, skill=0.25, prior=np.ones(3) / 3, random_state=seed)
    return simulate.crowd(model, 2000, 0.9, random_state=seed)


@pytest.mark.parametrize("better", ["RobSymNMF-EM", "DesSymNMF-EM", "MultiStart-EM"])
def test_knowing_the_workers_beats_counting_votes(better):
    crowd = strong_crowd()
    votes, model = (
        error_rate(fitted(n, crowd.labels).predict_proba(crowd.labels), crowd.truth) for n in ("MajorityVote", better)
    )
    assert model < votes / 2


def test_no_method_beats_the_truth_by_more_than_chance(name):
    crowd = skilled_crowd(3)
    best = np.mean(crowd.model.predict(crowd.labels.table) != crowd.truth)
    found = np.mean(fitted(name, crowd.labels).predict(crowd.labels) != crowd.truth)
    assert best - 5 * np.sqrt(best * (1 - best) / 400) <= found <= best + 0.05


@pytest.mark.parametrize("method", [n for n in ANY_K if n != "MajorityVote"])
def test_a_fifth_of_adversaries_is_seen_through(method):
    honest = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    model = LatentClassModel(np.ones(3) / 3, [np.roll(honest, 1, axis=0)] * 3 + [honest] * 12)
    crowd = simulate.crowd(model, 1000, 0.5, random_state=0)
    found, votes = fitted(method, crowd.labels), fitted("MajorityVote", crowd.labels)
    assert np.mean(found.predict(crowd.labels) != crowd.truth) < np.mean(votes.predict(crowd.labels) != crowd.truth)
    for A in found.model_.conditionals[:3]:
        assert np.array_equal(np.argmax(A, axis=0), [1, 2, 0])


def test_em_never_leaves_a_less_likely_model():
    labels = skilled_crowd(4).labels
    starts = [name for name in FAMILY if f"{name}-EM" in METHODS]
    assert len(starts) >= 3
    for name in starts:
        before, after = fitted(name, labels).model_, fitted(f"{name}-EM", labels).model_
        assert after.log_likelihood(labels.table) >= before.log_likelihood(labels.table)


def test_multi_start_keeps_the_most_likely_run():
    labels = skilled_crowd(5, n_workers=8, skill=0.2, label_rate=0.4).labels
    method = fitted("MultiStart-EM", labels)
    found = {start.name: start.log_posterior for start in method.starts_}
    assert list(found) == ["MajorityVote", "DesSymNMF", "RobSymNMF"]
    assert len(set(found.values())) > 1
    assert method.best_start_ == max(found, key=found.get)
    assert method.result_.objective[-1] == max(found.values())


def test_multi_start_without_a_prior_keeps_the_most_likely_run():
    labels = skilled_crowd(5, n_workers=8, skill=0.2, label_rate=0.4).labels
    method = recorded(MultiStartEM(pseudo_counts=(0, 0)).fit, labels)[0]
    best = max(start.log_posterior for start in method.starts_)
    assert method.model_.log_likelihood(labels.table) == pytest.approx(best, rel=1e-6)


def test_multi_start_leaves_out_what_many_classes_make_hopeless():
    task, worker = np.repeat(np.arange(62), 3), np.tile(np.arange(3), 62)
    labels = CrowdLabels.from_arrays(task, worker, task % 31)
    with pytest.warns(DataWarning, match="started from the vote only: with 31 classes"):
        method = MultiStartEM().fit(labels)
    assert [start.name for start in method.starts_] == ["MajorityVote"]


# ---- the contract ----


def test_majority_vote_counts():
    labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1, 1, 0, 0, 0])
    method = MajorityVote().fit(labels)
    assert np.allclose(method.predict_proba(labels), [[1 / 3, 2 / 3], [1, 0]])
    assert method.predict(labels).tolist() == [1, 0]
    assert method.result_.converged


@pytest.mark.parametrize("cls", CLASSES)
def test_parameters_survive_cloning(cls):
    method = cls()
    changed = {
        parameter: not value if isinstance(value, bool) else 7 for parameter, value in method.get_params().items()
    }
    assert "random_state" in changed
    copy = clone(cls(**changed))
    assert copy.get_params() == changed
    assert all(getattr(copy, parameter) == value for parameter, value in changed.items())


def test_fit_returns_self_and_reports_the_iteration(name):
    labels = skilled_crowd(6).labels
    method = METHODS[name]()
    assert recorded(method.fit, labels)[0] is method
    assert method.result_.n_iter == len(method.result_.objective)
    assert method.result_.reason


def test_refuses_to_predict_before_fit(name):
    with pytest.raises(CofactorError, match="is not fitted"):
        METHODS[name]().predict(skilled_crowd(0).labels)


def test_refuses_to_predict_after_a_fit_that_failed():
    labels, method = skilled_crowd(0).labels, MultiStartEM(pseudo_counts=(-1, 0))
    with pytest.raises(CofactorError):
        recorded(method.fit, labels)
    assert method.starts_  # a finding is there, and no model
    with pytest.raises(CofactorError, match="is not fitted"):
        method.predict(labels)


def test_predicts_labels_of_a_part_of_the_workers_in_another_order(name):
    labels = skilled_crowd(0).labels
    method = fitted(name, labels)
    if isinstance(method, TaskScorer):
        with pytest.raises(CofactorError, match="fitted on 12 workers and 3 classes, asked about 5 and 3"):
            method.predict(labels.take_workers(range(5)))
        return
    some = labels.take_workers([7, 2, 4])
    thinned = extended(labels.take_workers([2, 4, 7]), [], [], [])
    thinned.workers = [2, 4, 7]
    assert np.allclose(method.predict_proba(some), method.predict_proba(thinned), atol=1e-12)


def test_predicts_new_tasks_of_the_same_crowd(name):
    labels = skilled_crowd(7).labels
    method = fitted(name, labels.take_tasks(range(300)))
    new = labels.take_tasks(range(300, 400))
    if isinstance(method, TaskScorer):
        new = labels.take_tasks(range(300))
        with pytest.raises(CofactorError, match="scores only the labels it was fitted on"):
            method.predict(labels.take_tasks(range(100, 400)))
    assert method.predict(new).shape == (new.n_tasks,)


@pytest.mark.parametrize("cls", [WorkerTypes, MVEM])
def test_workers_who_were_not_there_count_as_the_average(cls):
    labels = skilled_crowd(0).labels
    method = cls().fit(labels)
    other = labels.take_workers(np.arange(labels.n_workers))
    other.workers = ["new", *labels.workers[1:]]
    with pytest.warns(DataWarning, match="not there in fit count as the average of those who were: new$"):
        posterior = method.predict_proba(other)
    alone = CrowdLabels(labels.take_workers([0]).table, labels.tasks, ["new"], labels.classes)
    with pytest.warns(DataWarning, match="new"):
        by_one = method.predict_proba(alone)
    assert np.isfinite(posterior).all()
    labelled = alone.table.entries_per_row > 0
    assert len(np.unique(by_one[labelled].round(9), axis=0)) == labels.n_classes  # one answer for each of his labels
    assert np.array_equal(by_one[labelled].argmax(axis=1), alone.votes[labelled].argmax(axis=1))


def test_classes_are_matched_by_name():
    labels = skilled_crowd(0).labels
    method = WorkerTypes().fit(labels)
    two = np.flatnonzero(labels.votes[:, 0] == 0)  # a batch in which the first class does not occur
    task, worker, label = triples(labels.take_tasks(two))
    batch = CrowdLabels.from_arrays(task, worker, label - 1, n_classes=2, n_tasks=len(two), n_workers=labels.n_workers)
    batch.classes = labels.classes[1:]
    assert np.allclose(method.predict_proba(batch), method.predict_proba(labels.take_tasks(two)), atol=1e-12)
    batch.classes = [labels.classes[1], "unheard of"]
    with pytest.raises(CofactorError, match="classes that were not there in fit: 'unheard of'"):
        method.predict(batch)


def test_a_table_or_a_file_gives_ids_back(tmp_path):
    frame = pd.DataFrame({"task": list("aabb"), "worker": [1, 2, 1, 2], "label": ["cat", "cat", "dog", "dog"]})
    frame.to_csv(tmp_path / "labels.csv", index=False)
    for given in (frame, tmp_path / "labels.csv", str(tmp_path / "labels.csv")):
        found = WorkerTypes().fit_predict(given)
        assert found.to_dict() == {"a": "cat", "b": "dog"}
        method = WorkerTypes().fit(given)
        new = pd.DataFrame({"task": ["c"], "worker": [2], "label": ["dog"]})  # a batch of one class only
        assert method.predict(new).to_dict() == {"c": "dog"}
        with pytest.raises(CofactorError, match="labels that are not among the classes 'cat', 'dog'"):
            method.predict(new.assign(label="cow"))
        posterior = method.predict_proba(given)
        assert list(posterior.columns) == ["cat", "dog"] and list(posterior.index) == ["a", "b"]


@pytest.mark.parametrize("given", [None, [[0, 1]], 3])
def test_says_how_to_make_labels_of_something_else(given):
    for call in (MajorityVote().fit, cf.crowd.diagnose):
        with pytest.raises(CofactorError, match=r"expected CrowdLabels, got .*from_frame"):
            call(given)


def test_a_refused_fit_leaves_the_method_as_it_was():
    labels = skilled_crowd(0).labels
    method = DesSymNMF().fit(labels)
    before = method.model_
    with pytest.raises(CofactorError):
        method.fit(labels.take_workers([0, 1]))
    assert method.model_ is before

"""What all aggregators keep to, the vote and EM from it, and scores of tasks."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment

import cofactor as cf
from cofactor import simulate
from cofactor.core.errors import CofactorError, DataWarning, NotIdentifiableError
from cofactor.core.estimator import Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.crowd import METHODS
from cofactor.crowd.aggregators import MVEM, DesSymNMF, MajorityVote, MultiStartEM
from cofactor.crowd.base import Floats, TaskScorer
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.scores import error_rate
from cofactor.simulate import crowd, dawid_skene_model
from tests.oracles.generators import recorded, skilled_crowd, triples
from tests.oracles.textbook import dawid_skene_1979

FAMILY = [name for name in METHODS if "SymNMF" in name]
ELSEWHERE = ("KOS", "GhoshSVD", "EigenRatio")  # see test_binary
ANY_K = [name for name in METHODS if not name.startswith(ELSEWHERE)]
QUICK = ("MajorityVote", "MV-EM", "WorkerTypes", "MultiSPA-EM", "Spectral-D&S")  # the others' items are slow


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


@pytest.fixture(params=[one if one in QUICK else pytest.param(one, marks=pytest.mark.slow) for one in ANY_K])
def name(request):
    return request.param


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
    named = [w for w in given if w.category is DataWarning and "share too few tasks with any other" in str(w.message)]
    assert bool(named) == (name in FAMILY or name == "MultiStart-EM")
    assert all(str(w.message).endswith(": workers 12") for w in named)
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
    with pytest.raises(NotIdentifiableError, match=rf"2 components, .*: \[{listed}, \.\.\. \(12 in all\)\]; \[12, 13"):
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
    with pytest.raises(CofactorError, match=r"more classes \(3\) than the rank of the co-occurrences"):
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


@pytest.mark.slow
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
    with pytest.warns(DataWarning, match="started only from the vote: with 31 classes"):
        method = MultiStartEM().fit(labels)
    assert [start.name for start in method.starts_] == ["MajorityVote"]


# ---- the contract ----


def test_majority_vote_counts():
    labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1, 1, 0, 0, 0])
    method = MajorityVote().fit(labels)
    assert np.allclose(method.predict_proba(labels), [[1 / 3, 2 / 3], [1, 0]])
    assert method.predict(labels).tolist() == [1, 0]
    assert method.result_.converged


@pytest.mark.slow
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
        with pytest.raises(CofactorError, match="fitted on 12 workers and 3 classes, but the labels have 5 and 3"):
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
    with pytest.warns(DataWarning, match="not seen in fit count as the average of those who were: new$"):
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
    with pytest.raises(CofactorError, match="classes not seen in fit: 'unheard of'"):
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
        with pytest.raises(CofactorError, match="labels outside the classes 'cat', 'dog'"):
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


def thin_crowd(seed, n_classes=5, n_workers=60, n_tasks=90):
    """Four labels a worker, as on crowd platforms: most workers are never seen on most classes."""
    model = dawid_skene_model(n_workers, n_classes, skill=0.6, random_state=seed)
    labels = crowd(model, n_tasks, 4 / n_workers, random_state=seed).labels
    return labels.take_tasks(labels.table.entries_per_row > 0)


def test_without_prior_em_is_that_of_1979_also_where_workers_were_never_seen_on_a_class():
    for seed in range(5):
        labels = thin_crowd(seed)
        model = MVEM(pseudo_counts=(0, 0), max_iter=12, tol=-1)
        with pytest.warns(cf.ConvergenceWarning):
            ours = model.fit(labels)
        expected, log_likelihood = dawid_skene_1979(labels, rounds=12)
        assert np.allclose(ours.result_.objective, log_likelihood, rtol=1e-9)
        *_, last = MVEM(pseudo_counts=(0, 0), max_iter=12, tol=-1).rounds(labels)
        assert np.allclose(last.posterior(labels.table), expected, atol=1e-6)
        assert (expected[vote_shares(labels) == 0] < 1e-9).mean() > 0.5  # zeros stay, else this test holds nothing


def test_rounds_are_those_of_the_fit_beginning_with_the_vote():
    labels = thin_crowd(1)
    models = list(MVEM().rounds(labels))
    fitted = MVEM().fit(labels)
    assert len(models) == fitted.result_.n_iter + 1
    assert np.allclose(models[-1].posterior(labels.table), fitted.predict_proba(labels))
    assert np.allclose(models[0].prior, vote_shares(labels).mean(axis=0))
    assert len(list(MVEM(max_iter=3).rounds(labels))) == 4
    assert len(list(MVEM(tol=1e-2).rounds(labels))) < len(models)


FRAME = pd.DataFrame(
    [("a", 1, "x"), ("a", 2, "y"), ("a", 3, "y"), ("b", 1, "x"), ("b", 2, "x"), ("b", 3, "y"), ("c", 2, "y")],
    columns=["task", "worker", "label"],
)


def test_votes_count_what_their_workers_are_known_for():
    shares = MajorityVote(skills={1: 3.0, 2: 1.0, 3: 1.0}).fit(FRAME).predict_proba(FRAME)
    assert np.allclose(shares.loc["a"], [0.6, 0.4])
    with pytest.warns(DataWarning, match="without a skill count as the mean of the others: 3$"):
        shares = MajorityVote(skills=pd.Series({1: 3.0, 2: 1.0})).fit(FRAME).predict_proba(FRAME)
    assert np.allclose(shares.loc["a"], [0.5, 0.5])
    nobody = MajorityVote(skills={1: 1.0, 2: 0.0, 3: 0.0}).fit(FRAME).predict_proba(FRAME)
    assert np.allclose(nobody.loc["c"], [0.0, 1.0])  # only worker 2, of no weight: the plain vote


def test_skills_are_the_shares_right_on_gold():
    with pytest.warns(DataWarning, match="ignored 1 gold task without labels: 'zz'"):
        method = MajorityVote().fit(FRAME, gold={"a": "x", "b": "x", "zz": "x"})
    assert method.weights_.tolist() == [1.0, 0.5, 0.0]
    assert method.predict(FRAME).to_dict() == {"a": "x", "b": "x", "c": "y"}


@pytest.mark.parametrize(
    ("skills", "message"),
    [({1: -1.0}, "invalid for 1"), ({1: 0.0}, "no worker has a skill above zero"), ([1.0], "dict or a Series")],
)
def test_refuses_what_is_no_skill(skills, message):
    with pytest.raises(CofactorError, match=message):
        MajorityVote(skills=skills).fit(FRAME)


def test_gold_of_two_classes_is_refused_and_a_table_is_read():
    twice = pd.Series(["x", "y", "x"], index=["a", "a", "b"])
    for gold in (twice, twice[::-1]):
        with pytest.raises(CofactorError, match="two classes for tasks 'a'"):
            MVEM().fit(FRAME, gold)
    table = pd.DataFrame({"task": ["b", "b"], "label": ["y", "y"]})
    fitted = MVEM().fit(FRAME, table)
    assert fitted.gold_ == {"b": 1}
    assert fitted.predict(FRAME)["b"] == "y"
    with pytest.raises(CofactorError, match="needs the columns task and truth"):
        MVEM().fit(FRAME, table.rename(columns={"label": "class"}))


def test_tuples_are_ids():
    frame = FRAME.assign(task=[("doc", task) for task in FRAME["task"]], label=[("is", c) for c in FRAME["label"]])
    found = MajorityVote().fit_predict(frame)
    assert found.index.tolist() == [("doc", "a"), ("doc", "b"), ("doc", "c")]
    assert found.tolist() == [("is", c) for c in MajorityVote().fit_predict(FRAME)]
    assert cf.crowd.WorkerTypes().fit(frame).predict_proba(frame).columns.tolist() == [("is", "x"), ("is", "y")]


def test_methods_of_signs_follow_the_vote_where_no_worker_varies():
    rows = [(task, worker, "n" if worker == 3 else "y") for task in range(50) for worker in range(4) if task != worker]
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    for name in ("KOS", "GhoshSVD", "EigenRatio"):
        with pytest.warns(DataWarning, match=f"so {name} cannot weight the workers and uses the majority vote"):
            method = cf.crowd.METHODS[name]().fit(frame)
        assert (method.predict(frame) == "y").all()
        assert np.allclose(method.predict_proba(frame), MajorityVote().fit(frame).predict_proba(frame))


@dataclass(eq=False, repr=False)
class Shares(TaskScorer):
    """Score tasks by their vote shares."""

    em: bool = False

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        return vote_shares(labels), Result(np.zeros(0), 0, True, "closed form")


LABELS = CrowdLabels.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 1, 0])
OTHER = CrowdLabels.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 0, 0])


def test_scores_are_kept_for_the_tasks_fitted_on():
    method = Shares().fit(LABELS)
    np.testing.assert_array_equal(method.predict_proba(LABELS), vote_shares(LABELS))
    np.testing.assert_allclose(method.model_.prior, [0.5, 0.5])
    np.testing.assert_allclose(method.model_.conditionals[0], [[2 / 3, 0], [1 / 3, 1]])


def test_other_labels_are_refused_unless_em_made_a_model_of_them():
    with pytest.raises(CofactorError, match="only the labels it was fitted on"):
        Shares().fit(LABELS).predict_proba(OTHER)
    refined = Shares(em=True).fit(LABELS)
    np.testing.assert_allclose(refined.predict_proba(OTHER), refined.model_.posterior(OTHER.table))

"""Which tasks to label next: the worth of labels against all answers listed, budgets, and when to stop."""

import numpy as np
import pytest

from cofactor.core.errors import CofactorError
from cofactor.crowd import METHODS, CrowdLabels, WorkerTypes, error_rate
from cofactor.simulate import crowd, dawid_skene_model
from cofactor.verbs.next_tasks import AHEAD, average_worker, concave_slopes, next_tasks, worth
from tests.oracles import asking


@pytest.fixture(scope="module")
def labels():
    return crowd(dawid_skene_model(12, 3, skill=0.5, random_state=0), 120, 0.3, random_state=0).labels


@pytest.fixture(scope="module")
def method(labels):
    return WorkerTypes().fit(labels)


def test_the_worth_of_labels_is_that_of_all_answers_listed():
    rng = np.random.default_rng(0)
    p, A = rng.dirichlet(np.ones(4), 30), rng.dirichlet(np.ones(4), 4).T
    found = np.cumsum(worth(p, A), axis=1)
    for task, posterior in enumerate(p):
        a, b = np.argsort(-posterior)[:2]
        right = [asking.right_after(posterior[a], posterior[b], A[b, a], A[b, b], m) for m in range(AHEAD + 1)]
        np.testing.assert_allclose(found[task], np.array(asking.concave_above(right)[1:]) - right[0], atol=1e-12)


def test_several_labels_overrule_what_one_cannot():
    A = np.array([[0.8, 0.2], [0.2, 0.8]])
    gains = worth(np.array([[0.9, 0.1], [0.6, 0.4], [1.0, 0.0]]), A)
    assert gains[0, 0] == gains[0, 1] > 0  # one label of 80 % does not overrule 90 %: the worth is that of two or more
    assert gains[1, 0] > gains[0, 0] and (gains[2] < 1e-12).all()
    assert (np.diff(gains, axis=1) <= 1e-15).all()


def test_slopes_are_those_of_the_concave_function_above():
    V = np.random.default_rng(1).random((20, 6)).cumsum(axis=1)
    above = np.array([asking.concave_above(row) for row in V.tolist()])
    np.testing.assert_allclose(concave_slopes(V), np.diff(above, axis=1), atol=1e-12)


def test_never_stops_where_nothing_is_known():
    """One label a task: an error of 20 % is the prior's, not the crowd's."""
    single = CrowdLabels.from_arrays(np.arange(30), np.arange(30) % 4, np.arange(30) % 3)
    found = next_tasks(single, 5, wanted_error=0.5)
    assert not found.known and not found.stop and found.needed is None
    assert found.table["ask"].sum() == 5 and "so the error cannot be estimated" in str(found)


def test_the_budget_goes_to_the_best_labels(labels, method):
    gains = worth(method.predict_proba(labels), average_worker(method))
    for budget in (1, 7, 40, 10_000):
        found = next_tasks(labels, budget, method=method)
        best = np.sort(gains[gains > 1e-12])[::-1][:budget]
        assert found.table["ask"].sum() == len(best)
        assert found.table["gain"].sum() == pytest.approx(best.sum(), abs=1e-4)
        assert found.expected_error == pytest.approx(found.error - best.sum() / labels.n_tasks)
    assert (found.table["ask"] <= AHEAD).all() and found.table["task"].is_unique


def test_workers_are_named_for_every_label_asked_for_and_new_ones_where_too_few_are_left(labels, method):
    found = next_tasks(labels, 10_000, method=method)
    seen = {task: set[int]() for task in labels.tasks}
    for row in labels.to_frame().itertuples():
        seen[row.task].add(row.worker)
    short = 0
    for row in found.table.itertuples():
        who = [int(name) for name in row.who.split(", ") if name]
        left = labels.n_workers - len(seen[row.task])
        assert len(who) == min(left, max(row.ask, 3)) and not seen[row.task] & set(who)
        short += left < row.ask
    assert short == found.new_workers > 0 and f"new workers are needed: {short} tasks with fewer workers left" in str(
        found
    )
    assert "new workers" not in str(next_tasks(labels.take_tasks(range(60)), 1))


def test_of_equal_tasks_the_one_with_fewer_labels_comes_first():
    """Workers of MajorityVote count alike: tasks with a tie of 1 : 1 and of 2 : 2 are as doubtful."""
    task, worker = [0, 0, 0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 0, 1, 2, 3]
    labels = CrowdLabels.from_arrays(task, worker, [0, 1, 0, 1, 0, 1, 1, 1])
    found = next_tasks(labels, 3, method=METHODS["MajorityVote"]().fit(labels)).table
    assert found["task"].tolist()[:1] == [1]


def test_it_stops_where_the_estimated_error_is_as_wanted(labels, method):
    now = next_tasks(labels, 5, method=method)
    assert now.error == pytest.approx(np.mean(1 - method.predict_proba(labels).max(axis=1)))
    assert now.needed is None and not now.stop
    enough = next_tasks(labels, 5, wanted_error=now.error + 0.01, method=method)
    assert enough.stop and enough.needed == 0 and enough.table.empty and "stop here" in str(enough)
    little = next_tasks(labels, 500, wanted_error=now.error - 0.01, method=method)
    assert little.table["ask"].sum() == little.needed > 0 and little.expected_error <= now.error - 0.01
    one_less = next_tasks(labels, little.needed - 1, method=method)
    assert one_less.expected_error > now.error - 0.01
    assert f"about {little.needed}" in str(little)
    never = next_tasks(labels, 5, wanted_error=1e-9, method=method)
    assert never.needed is None and "more than 5 per task" in str(never)


@pytest.mark.slow
def test_chosen_labels_help_more_than_even_ones():
    """On simulated crowds: one more label for 60 chosen tasks, or for 60 at random."""
    gains = []
    for seed in range(6):
        model = dawid_skene_model(15, 2, skill=0.5, random_state=seed)
        whole = crowd(model, 200, 1.0, random_state=seed)
        frame = whole.labels.to_frame().sample(frac=1, random_state=seed)
        start = CrowdLabels.from_frame(frame.groupby("task").head(3))
        rest = frame.drop(frame.groupby("task").head(3).index)
        ask = next_tasks(start, 120).table.set_index("task")["ask"]
        more = rest[rest.groupby("task").cumcount() < rest["task"].map(ask).fillna(0)]
        even = rest.groupby("task").head(1).sample(len(more), random_state=seed)
        errors = []
        for added in (more, even):
            labels = CrowdLabels.from_frame(frame.loc[start_index(frame).union(added.index)])
            errors.append(error_rate(WorkerTypes().fit_predict(labels), whole.truth))
        gains.append(errors[1] - errors[0])
    assert np.mean(gains) > 0.01


def start_index(frame):
    return frame.groupby("task").head(3).index


def test_what_cannot_be_is_refused(labels, method):
    for arguments in (
        {"budget": 0},
        {"budget": 2.5},
        {"wanted_error": 0.0},
        {"wanted_error": 1},
        {"method": "WorkerTypes"},
    ):
        with pytest.raises(CofactorError):
            next_tasks(labels, **arguments)
    with pytest.raises(CofactorError, match="fitted on 12 workers"):
        next_tasks(labels.take_workers(range(5)), method=method)

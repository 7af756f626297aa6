"""Whether workers err together: not said of independent ones, however few their labels; said of hard tasks."""

import numpy as np
import pytest

from cofactor import CrowdLabels
from cofactor.crowd.together import Together, errors_together, independent_crowd
from cofactor.crowd.voting import MajorityVote
from cofactor.crowd.worker_types import WorkerTypes


def drawn(n_classes, per_task, hard=0.0, n_tasks=400, n_workers=25, seed=0):
    """Independent workers, right in 60 to 90 %; on a share of the tasks everybody in 30 % only."""
    rng = np.random.default_rng(seed)
    truth, is_hard = rng.integers(n_classes, size=n_tasks), rng.random(n_tasks) < hard
    task = np.repeat(np.arange(n_tasks), per_task)
    worker = np.concatenate([rng.choice(n_workers, per_task, replace=False) for _ in range(n_tasks)])
    right = rng.random(len(task)) < np.where(is_hard[task], 0.3, rng.uniform(0.6, 0.9, n_workers)[worker])
    wrong = rng.integers(1, n_classes, size=len(task))
    label = np.where(right, truth[task], truth[task] + wrong) % n_classes
    return CrowdLabels.from_arrays(task, worker, label, n_classes)


def test_independent_workers_are_cleared_where_z_alone_would_accuse_them():
    for n_classes, per_task in ((10, 2), (20, 3)):
        labels = drawn(n_classes, per_task)
        found = errors_together(WorkerTypes().fit(labels), labels)
        assert found.z > 5 and len(found.chance) == 5  # the old rule, 2, accuses
        assert not found.found
        assert abs(found.chance.mean() - found.z) < 0.4 * found.z


def test_tasks_that_are_hard_for_everybody_are_still_told():
    labels = drawn(5, 10, hard=0.4)
    found = errors_together(WorkerTypes().fit(labels), labels)
    assert found.found and found.z > found.chance.mean() + 3


def test_no_simulation_where_z_is_low_and_no_answer_from_methods_that_do_not_ask():
    labels = drawn(3, 5)
    assert not errors_together(WorkerTypes().fit(labels), labels).chance.size
    assert errors_together(MajorityVote().fit(labels), labels) is None


@pytest.mark.parametrize(("chance", "limit"), [([], 2.0), ([-9.0, -9.0], 2.0), ([4.0, 4.0], 4 + 2 * np.sqrt(1.5))])
def test_the_limit_lies_above_chance_but_never_below_two(chance, limit):
    assert Together(3.0, np.array(chance)).limit == pytest.approx(limit)


def test_simulated_crowds_have_the_tasks_and_the_accuracies_of_the_labels():
    labels = drawn(4, 8, n_tasks=3000, n_workers=8)
    r = WorkerTypes(design_effect=0.0).fit(labels).predict_proba(labels)
    other = independent_crowd(labels, r, np.random.default_rng(0))
    assert np.array_equal(other.table.rows, labels.table.rows)
    assert np.array_equal(other.table.variables, labels.table.variables)
    shares = [np.sort(each.votes, axis=1).mean(axis=0) for each in (labels, other)]
    assert np.allclose(*shares, atol=0.05)

"""Coverage of workers' intervals: counted by hand, and known truth that is no fair sample is told from the rest."""

import numpy as np
import pytest
from scipy import stats

from cofactor import CrowdLabels, simulate
from evaluation.crowd.coverage import Known, measured, parts


def test_labels_of_known_truth_are_counted_by_hand():
    labels = CrowdLabels.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 1, 1, 1, 0, 1])
    known = Known.of(labels, np.array([0, 1, -1]))
    assert known.given.tolist() == [2, 2] and known.right.tolist() == [2, 1]
    a, variance = parts(labels, np.eye(2)[[0, 1, 1]])
    assert a.tolist() == pytest.approx([2 / 3, 2 / 3]) and variance.tolist() == pytest.approx([2 / 27] * 2)


def test_an_interval_holds_what_lies_inside_and_workers_of_few_labels_do_not_count():
    known = Known(given=np.array([100, 100, 19]), right=np.array([80, 50, 0]))
    held, expected = known.held(np.array([0.7, 0.6, 0.5]), np.array([0.9, 1.0, 0.6]))
    chances = [stats.beta(80.5, 20.5).cdf([0.7, 0.9]), stats.beta(50.5, 50.5).cdf([0.6, 1.0])]
    assert held == 0.5 and expected == pytest.approx(np.mean([high - low for low, high in chances]))


def test_truth_of_easy_tasks_alone_is_compared_with_the_same_tasks():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=600)
    right = np.where(np.arange(600) < 120, 0.9, 0.75)[:, None]
    codes = np.where(rng.random((600, 21)) < right, truth[:, None], 1 - truth[:, None])
    task, worker = np.indices(codes.shape).reshape(2, -1)
    labels = CrowdLabels.from_arrays(task, worker, codes.ravel())
    row = measured(labels, np.where(np.arange(600) < 120, truth, -1))
    assert float(row["interval of all tasks"]) < 50 < float(row["of the same tasks"])
    drawn = simulate.crowd(simulate.dawid_skene_model(12, 2, skill=0.6, random_state=0), 300, random_state=0)
    row = measured(drawn.labels, drawn.truth)
    assert row["interval of all tasks"] == row["of the same tasks"] and float(row["expected"]) > 80

"""The order of grades: declared, suggested where labels speak for it, and refused where it is none."""

import numpy as np
import pandas as pd
import pytest

from cofactor import CofactorError, CrowdLabels, simulate
from cofactor.crowd.agreement import in_order, suggested_order
from tests.oracles.graders import grader_crowd


def named(labels, names):
    """The same labels, with these names of the classes."""
    return CrowdLabels(labels.table, labels.tasks, labels.workers, names)


def test_codes_are_grades_in_the_declared_order_and_labels_stay_what_they_are():
    frame = {"task": [0, 0, 1, 1], "worker": [0, 1, 0, 1], "label": ["low", "high", "mid", "low"]}
    labels = CrowdLabels.from_frame(pd.DataFrame(frame))
    graded = in_order(labels, ["lowest", "low", "mid", "high"])
    assert graded.table.codes.tolist() == [[1, 3], [2, 1]] and graded.n_classes == 4
    assert graded.to_frame().equals(labels.to_frame())
    assert in_order(graded, graded.classes) is graded


def test_what_is_no_order_is_refused_by_name():
    labels = CrowdLabels.from_arrays([0, 0, 1], [0, 1, 0], [0, 1, 2])
    for order, words in (
        ([0, 1], "leaves out 2: name all classes"),
        ([0, 1, 2, 1], "each once"),
        ("012", "give all classes in a list"),
        (7, "give all classes in a list"),
        ([[0], [1]], "give all classes in a list"),
        ([2], "give all classes in a list"),
    ):
        with pytest.raises(CofactorError, match=words):
            in_order(labels, order)


def test_grades_are_suggested_and_classes_without_order_seldom():
    words = ["very good", "Good", "fair", "bad", "very_bad"]
    graders = [grader_crowd(150, 10, seed=seed)[0] for seed in range(5)]
    for labels in graders:
        assert suggested_order(labels) == [0, 1, 2, 3, 4]
        assert suggested_order(named(labels, words)) == words[::-1]
        assert suggested_order(named(labels, ["cat", "dog", "cow", "fox", "ant"])) is None  # names tell no order
    names = np.array([0, 3, 1, 4, 2]).tolist()  # the order of the names is not that of the labels
    assert [suggested_order(named(labels, names)) for labels in graders] == [None] * 5
    models = [simulate.dawid_skene_model(10, 5, skill=0.5, random_state=seed) for seed in range(30)]
    flat = [simulate.crowd(model, 200, 0.5, seed) for seed, model in enumerate(models)]
    assert sum(suggested_order(drawn.labels) is not None for drawn in flat) <= 7  # a tenth, and two standard deviations


def test_too_few_classes_or_none_that_pair_suggest_nothing():
    three = grader_crowd(100, 10, 3)[0]
    alone = CrowdLabels.from_arrays([0, 1, 2, 3], [0, 0, 0, 0], [0, 1, 2, 3])
    many = grader_crowd(100, 10, 9)[0]
    assert suggested_order(three) is None and suggested_order(alone) is None
    assert suggested_order(many) == list(range(9))

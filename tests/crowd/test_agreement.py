"""Agreement beyond chance, and the order of classes that are grades."""

import itertools
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from cofactor import CofactorError, CrowdLabels, simulate
from cofactor.crowd.agreement import Level, in_order, krippendorff_alpha, suggested_order
from tests.oracles.generators import laws, seeds
from tests.oracles.graders import grader_crowd

PUBLISHED = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""  # four observers of twelve units, Krippendorff 2004; alphas 0.743, 0.815 and 0.849


def read(text):
    rows = [line.split() for line in text.split("\n") if line]
    entries = [(u, m, int(c) - 1) for m, row in enumerate(rows) for u, c in enumerate(row) if c != "."]
    return CrowdLabels.from_arrays(*zip(*entries, strict=True))


def by_pairs(labels, level):
    """The definition: differences of pairs within tasks against those of pairs among all labels in such tasks."""
    table = labels.table.codes
    tasks = [[c for c in row if c >= 0] for row in table.tolist()]
    tasks = [codes for codes in tasks if len(codes) > 1]
    everything = [c for codes in tasks for c in codes]
    n = len(everything)

    def delta(a, b):
        low, high = min(a, b), max(a, b)
        between = sum(everything.count(c) for c in range(low, high + 1))
        ranks = between - (everything.count(low) + everything.count(high)) / 2
        return {"nominal": a != b, "interval": (a - b) ** 2, "ordinal": 0 if a == b else ranks**2}[level]

    observed = sum(sum(delta(a, b) for a, b in itertools.permutations(codes, 2)) / (len(codes) - 1) for codes in tasks)
    expected = sum(delta(a, b) for a, b in itertools.permutations(everything, 2)) / (n - 1)
    return 1 - observed / expected


def test_the_published_example():
    for level, alpha in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)):
        assert krippendorff_alpha(read(PUBLISHED), level) == pytest.approx(alpha, abs=5e-4), level


@pytest.mark.slow
@laws
@given(seed=seeds)
def test_equals_the_definition_by_pairs(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 3, (12, 5))
    codes[:2, :2] = [[0, 1], [2, 2]]
    task, worker = np.nonzero(codes >= 0)
    labels = CrowdLabels.from_arrays(
        *(task, worker, codes[task, worker]), n_classes=4, n_tasks=12, n_workers=5, unlabelled="keep"
    )
    for level in get_args(Level):
        assert krippendorff_alpha(labels, level) == pytest.approx(by_pairs(labels, level)), level


def test_full_agreement_is_one_and_full_disagreement_below_zero():
    assert krippendorff_alpha(CrowdLabels.from_arrays([0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1])) == 1
    assert krippendorff_alpha(CrowdLabels.from_arrays([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 1])) == -0.5


def test_without_pairs_or_without_difference_it_says_so():
    with pytest.raises(CofactorError, match="tasks with two labels or more: there is none"):
        krippendorff_alpha(CrowdLabels.from_arrays([0, 1], [0, 1], [0, 1]))
    for level in get_args(Level):
        assert np.isnan(krippendorff_alpha(CrowdLabels.from_arrays([0, 0, 1], [0, 1, 0], [1, 1, 0]), level)), level
    with pytest.raises(CofactorError, match="level='ratio': choose one of nominal, ordinal, interval"):
        krippendorff_alpha(read(PUBLISHED), "ratio")


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

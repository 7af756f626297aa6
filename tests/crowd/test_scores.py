"""Scores of labels and probabilities, by hand and by scikit-learn; agreement, and the order of grades."""

import itertools
from dataclasses import asdict
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

from cofactor import CrowdLabels, simulate
from cofactor.core.errors import CofactorError
from cofactor.crowd.confidence import HeldOut, tempered
from cofactor.crowd.labels import in_order
from cofactor.crowd.scores import (
    BINS,
    Level,
    Score,
    calibration_error,
    krippendorff_alpha,
    paired_difference,
    score,
    suggested_order,
)
from tests.oracles.generators import laws, seeds
from tests.oracles.graders import grader_crowd

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.995, 0.005, 0.0], [0.0, 0.0, 1.0]])
TRUTH = np.array([0, 2, 2, 0, 1])


def drawn(seed, n_tasks=200, n_classes=3):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(n_classes), n_tasks), rng.integers(n_classes, size=n_tasks)


def test_worked_by_hand():
    found = score(P, TRUTH)
    assert found.n_tasks == 5 and found.accuracy == pytest.approx(3 / 5)
    assert found.log_loss == pytest.approx(-np.log([0.7, 0.1, 0.4, 0.995, 1e-15]).mean())
    squares = [0.09 + 0.04 + 0.01, 0.01 + 0.64 + 0.81, 0.09 + 0.09 + 0.36, 2 * 0.005**2, 1 + 1]
    assert found.brier == pytest.approx(np.mean(squares))
    # bins of .7, .8 and .4 hold one task each, the last one both .995 (right) and 1 (wrong)
    assert found.ece == pytest.approx((0.3 + 0.8 + 0.6 + abs(1 - 1.995)) / 5)
    assert found.confidence == pytest.approx((0.7 + 0.8 + 0.4 + 0.995 + 1) / 5)
    assert (found.n_sure, found.sure_wrong) == (2, 0.5)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_as_in_scikit_learn(n_classes):
    p, truth = drawn(n_classes, n_classes=n_classes)
    found, codes = score(p, truth), list(range(n_classes))
    assert found.log_loss == pytest.approx(log_loss(truth, p, labels=codes), rel=1e-12)
    assert found.accuracy == pytest.approx(accuracy_score(truth, p.argmax(axis=1)))
    if n_classes == 2:  # the sum over both classes is twice what is usual for one
        assert found.brier == pytest.approx(2 * brier_score_loss(truth, p[:, 1]), rel=1e-12)
    assert found.brier == pytest.approx(np.mean(np.sum((p - np.eye(n_classes)[truth]) ** 2, axis=1)), rel=1e-12)


def test_sure_begins_at_99_per_cent():
    p = [[0.99, 0.01], [0.989, 0.011], [0.01, 0.99], [0.5, 0.5]]
    found = score(p, [0, 1, 0, 0])
    assert (found.n_sure, found.sure_wrong) == (2, 0.5)


def test_unknown_truth_does_not_count():
    p, truth = drawn(1)
    partly = np.where(np.arange(200) % 3 == 0, truth, -1)
    p_spoiled = np.where((partly < 0)[:, None], 5.0, p)
    np.testing.assert_equal(asdict(score(p_spoiled, partly)), asdict(score(p[::3], truth[::3])))  # one is not a number


def test_ties_are_split_everywhere():
    found = score(np.full((4, 2), 0.5), [0, 0, 1, 1])
    assert found.accuracy == 0.5 and found.ece == 0 and np.isnan(found.sure_wrong) and found.n_sure == 0


def test_a_class_that_nobody_chose_has_probability_zero():
    found = score([[0.75, 0.25]], [2])
    assert (found.accuracy, found.brier) == (0, pytest.approx(0.5625 + 0.0625 + 1))
    assert found.log_loss == pytest.approx(-np.log(1e-15))


def test_labels_have_an_accuracy_only():
    found = score([0, 1, 1], [0, 1, 0])
    assert (found.n_tasks, found.accuracy) == (3, pytest.approx(2 / 3))
    assert all(np.isnan([found.log_loss, found.brier, found.ece, found.confidence, found.sure_wrong]))
    assert found.n_sure == Score(3, 0.0).n_sure == 0


@pytest.mark.parametrize("rows", [[[0.5, 0.4], [0.5, 0.5]], [[1.5, -0.5], [0.5, 0.5]], [[3, 1], [0.5, 0.5]]])
def test_what_is_no_probability_is_named(rows):
    with pytest.raises(CofactorError, match=r"rows are not probabilities that sum to one: 0; pass the output"):
        score(np.asarray(rows, dtype=float), [0, 1])


def test_no_truth_is_an_error():
    with pytest.raises(CofactorError, match="no task has known truth"):
        score([[0.5, 0.5]], [-1])


def test_calibration_error_sees_both_directions():
    sure = np.full(100, 0.95)
    assert calibration_error(sure, np.arange(100) < 95) == pytest.approx(0, abs=1e-12)
    assert calibration_error(sure, np.arange(100) < 80) == pytest.approx(0.15)
    assert calibration_error(np.full(100, 0.65), np.arange(100) < 80) == pytest.approx(0.15)
    # one bin too sure and another too cautious do not make up for one another, unless they are one bin
    both, right = np.array([0.95, 0.55]), np.array([0.85, 0.65])
    assert calibration_error(both, right) == pytest.approx(0.1)
    assert calibration_error(both, right, bins=1) == pytest.approx(0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_calibration_error_is_that_of_a_loop_over_bins(confidence, random):
    right = [random.random() < 0.5 for _ in confidence]
    total = 0.0
    for b in range(BINS):
        here = [e for e, c in enumerate(confidence) if b <= c * BINS < b + 1 or (b == BINS - 1 and c == 1)]
        if here:
            gap = np.mean([right[e] for e in here]) - np.mean([confidence[e] for e in here])
            total += len(here) / len(right) * abs(gap)
    assert calibration_error(confidence, right) == pytest.approx(total, abs=1e-12)


def test_the_design_effect_of_gold_tasks_makes_chances_true():
    for right in (85, 88, 60):  # of a hundred, each said to be right with a chance of .9 by five labels
        truth = np.array([0] * right + [1] * (100 - right))
        held = HeldOut(np.tile([0.9, 0.1], (100, 1)), np.full(100, 5), truth)
        effect = held.best_design_effect()
        assert tempered(held.posterior[:1], held.n_labels[:1], effect)[0, 0] == pytest.approx(right / 100, abs=1e-3)


def test_difference_is_paired():
    truth = np.zeros(100, dtype=int)
    one = np.where(np.arange(100) < 10, 1, 0)  # wrong on the first ten
    other = np.where(np.arange(100) < 15, 1, 0)  # wrong on these, and five more
    found = paired_difference(one, other, truth)
    half = 1.959964 * np.sqrt(0.05 * 0.95 * 100 / 99 / 100)  # five differences of one, 95 of none
    assert (found.mean, found.low, found.high) == pytest.approx((0.05, 0.05 - half, 0.05 + half), rel=1e-6)
    assert found.better and not found.worse
    back = paired_difference(other, one, truth)
    assert back.worse and not back.better and back.mean == -found.mean


def test_a_difference_that_may_be_chance_is_neither_better_nor_worse():
    truth = np.zeros(100, dtype=int)
    other = np.where(np.arange(100) < 2, 1, 0)
    for found in (paired_difference(truth, other, truth), paired_difference(other, truth, truth)):
        assert found.low < 0 < found.high and abs(found.mean) == pytest.approx(0.02)
        assert not found.better and not found.worse


def test_the_same_labels_do_not_differ():
    found = paired_difference(P, P, TRUTH)
    assert (found.mean, found.low, found.high) == (0, 0, 0) and not found.better and not found.worse


def test_one_task_tells_nothing():
    found = paired_difference([0], [1], [0])
    assert found.mean == 1 and (found.low, found.high) == (-np.inf, np.inf)


@pytest.mark.slow
def test_the_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        hard = rng.random(300) < 0.3  # tasks on which both err more often
        wrong = [rng.random(300) < np.where(hard, rate, 0.05) for rate in (0.5, 0.4)]
        found = paired_difference(*(w.astype(int) for w in wrong), np.zeros(300, dtype=int))
        covered += found.low <= -0.3 * 0.1 <= found.high
    assert 0.93 < covered / 1000 < 0.97


# ---- agreement, and the order of grades ----


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
    with pytest.raises(CofactorError, match="at least one task with two labels or more"):
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
        ([0, 1], "leaves out 2: name all classes$"),
        ([0, 1, 2, 1], "each once"),
        ("012", "must be a list of all classes"),
        (7, "must be a list of all classes"),
        ([[0], [1]], "must be a list of all classes"),
        ([2], "must be a list of all classes"),
    ):
        with pytest.raises(CofactorError, match=words):
            in_order(labels, order)
    labels = CrowdLabels.from_arrays([0, 0, 1], [0, 1, 0], [0, 1, 1]).to_frame().replace({"label": {0: "no", 1: "yes"}})
    with pytest.raises(CofactorError, match=r"name all classes as the labels do \('No' and 'no' look alike\)$"):
        in_order(CrowdLabels.from_frame(labels), ["No", "yes"])


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

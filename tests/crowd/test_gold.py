"""Gold tasks, what priors are good for, errors together, and tempering."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from cofactor.core.errors import CofactorError
from cofactor.crowd.aggregators import MVEM
from cofactor.crowd.base import gold_codes, vote_model
from cofactor.crowd.confidence import accuracies, dependence, tempered
from cofactor.crowd.fit import Evidence
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.model import Rows
from cofactor.crowd.scores import error_rate
from cofactor.rivals.crowd.binary import KOS
from cofactor.verbs.aggregate import aggregate
from tests.oracles.generators import skilled_crowd, triples


@pytest.mark.slow
def test_beats_maximum_likelihood_on_thin_crowds():
    """Five labels a task, 24 a worker, six classes: the case the prior is for."""
    ours, theirs = [], []
    for seed in range(5):
        crowd = skilled_crowd(seed, n_tasks=300, n_workers=60, n_classes=6, skill=0.6, label_rate=0.08)
        ours.append(error_rate(WorkerTypes().fit(crowd.labels).predict_proba(crowd.labels), crowd.truth))
        likely = MVEM(pseudo_counts=(0, 0)).fit(crowd.labels)
        theirs.append(error_rate(likely.predict_proba(crowd.labels), crowd.truth))
    assert np.mean(ours) < np.mean(theirs) - 0.02


def test_dependence_of_parts_adds_up_and_is_that_of_the_loops():
    labels = skilled_crowd(0, n_tasks=60).labels
    model = vote_model(labels, 1.0)
    C = Evidence.of(labels).e_step(model).cells.reshape(-1, 3, 3)
    z, p = model.posterior(labels.table), accuracies(np.diagonal(C, axis1=1, axis2=2), C.sum(axis=1))
    rows = Rows.all(labels.n_workers, 3)
    whole = dependence(labels.table, z, p, rows)
    parts = [dependence(labels.table.take_rows(i), z[i], p, rows) for i in (np.arange(20), np.arange(20, 60))]
    assert np.allclose(
        np.array([whole.excess, whole.squares, whole.most]),
        np.array([sum(getattr(part, name) for part in parts) for name in ("excess", "squares", "most")]),
    )
    excess = 0.0
    for i in range(labels.n_tasks):
        mine = [(w, y) for t, w, y in zip(*triples(labels), strict=True) if t == i]
        for k in range(3):
            errors = [(y == k) - p[w, k] for w, y in mine]
            excess += z[i, k] * 2 * sum(a * b for a, b in combinations(errors, 2))
    assert whole.excess == pytest.approx(excess)


# ---- tempering ----


def test_tempering_flattens_the_more_the_more_labels_there_are():
    p = tempered(np.array([[0.9, 0.1]] * 3), np.array([0, 1, 6]), 0.4)
    assert np.allclose(p[:2], [[0.9, 0.1]] * 2)
    assert np.allclose(p[2, 0] / p[2, 1], 9 ** (1 / 3**0.5))  # 1 + 0.4 * 5 = 3
    assert np.allclose(tempered(np.array([[1.0, 0.0]]), np.array([5]), 0.4), [[1, 0]])


def test_tempering_changes_no_label():
    labels = skilled_crowd(2).labels
    one, two = WorkerTypes(design_effect=0).fit(labels), WorkerTypes(design_effect=2.0).fit(labels)
    assert np.array_equal(one.predict(labels), two.predict(labels))
    assert one.predict_proba(labels).max(axis=1).mean() > two.predict_proba(labels).max(axis=1).mean() + 0.02


# ---- gold tasks ----


def gold_of(crowd, n):
    return np.where(np.arange(crowd.labels.n_tasks) < n, crowd.truth, -1)


@pytest.mark.slow
def test_gold_tasks_keep_their_class_and_help_the_others_in_em():
    gains = []
    for seed in range(4):
        crowd = skilled_crowd(seed, n_workers=15, n_classes=4, skill=0.1, label_rate=0.3)
        gold = gold_of(crowd, 200)
        method = MVEM().fit(crowd.labels, gold=gold)
        assert np.array_equal(method.predict(crowd.labels)[:200], crowd.truth[:200])
        rest = np.where(gold < 0, crowd.truth, -1)
        without = error_rate(MVEM().fit(crowd.labels).predict_proba(crowd.labels), rest)
        gains.append(without - error_rate(method.predict_proba(crowd.labels), rest))
    assert np.mean(gains) > 0.01


def test_where_all_tasks_are_gold_confusion_matrices_are_counts():
    crowd = skilled_crowd(0, n_classes=3)
    task, worker, label = triples(crowd.labels)
    counts = np.zeros((crowd.labels.n_workers, 3, 3))
    np.add.at(counts, (worker, label, crowd.truth[task]), 1)
    likely = MVEM(pseudo_counts=(0, 0)).fit(crowd.labels, gold=crowd.truth).model_
    assert np.allclose(likely.stacked, (counts / counts.sum(axis=1, keepdims=True)).reshape(-1, 3))


def test_gold_may_be_named_by_task():
    frame = pd.DataFrame({"task": list("aabb"), "worker": [1, 2, 1, 2], "label": ["cat", "dog", "dog", "dog"]})
    found = WorkerTypes().fit_predict(frame, gold={"a": "dog"})
    assert found.to_dict() == {"a": "dog", "b": "dog"}
    assert WorkerTypes().fit_predict(frame, gold=pd.Series({"a": "cat"}))["a"] == "cat"


@pytest.mark.parametrize(
    ("gold", "problem"),
    [
        ([0, 5], r"gold codes must be between -1 and 1; found task 'b': 5"),
        ([-1, -1], "gold contains no known class"),
        ([0], "gold must have one class code per task"),
        ([0.0, 1.0], "gold must have one class code per task"),
        ({"a": "cow"}, "gold has classes that no label has: task 'a': 'cow'"),
        ({"z": "cat"}, "gold contains none of the labelled tasks; its tasks are 'z'"),
    ],
)
def test_refuses_gold_that_makes_no_sense(gold, problem):
    frame = pd.DataFrame({"task": list("aabb"), "worker": [1, 2, 1, 2], "label": ["cat", "dog", "dog", "dog"]})
    with pytest.raises(CofactorError, match=problem):
        WorkerTypes().fit(frame, gold=gold)
    if isinstance(gold, list):
        with pytest.raises(CofactorError, match=problem.replace("gold", "truth")):
            aggregate(frame, truth=gold, draws=0)


def test_gold_is_found_by_how_it_is_written_as_truth_is():
    labels = CrowdLabels.from_frame(pd.DataFrame({"task": [1, 1, 2], "worker": list("abb"), "label": [7, 8, 8]}))
    assert gold_codes({"1": "8", 2: 7}, labels).tolist() == [1, 0]
    with pytest.raises(CofactorError, match="two classes for tasks 1: keep only one"):
        gold_codes({"1": 7, 1: 8}, labels)
    some = pd.DataFrame({"task": [1, 2], "truth": [8, np.nan]})
    assert gold_codes(some, labels).tolist() == [1, -1]  # without a class, a task is unknown


def test_methods_without_use_for_gold_say_which_have():
    with pytest.raises(CofactorError, match="KOS cannot use gold tasks: use WorkerTypes"):
        KOS().fit(skilled_crowd(0).labels, gold=skilled_crowd(0).truth)


def test_design_effect_is_learned_from_gold_tasks_held_out():
    """Nine labels of ten are copied from one of three workers: they repeat one another, and the posterior must know."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=600)
    three = np.where(rng.random((600, 3)) < 0.75, truth[:, None], 1 - truth[:, None])
    own = np.where(rng.random((600, 15)) < 0.75, truth[:, None], 1 - truth[:, None])
    copied = np.where(rng.random((600, 15)) < 0.9, three[:, rng.integers(3, size=15)], own)
    task, worker = np.repeat(np.arange(600), 15), np.tile(np.arange(15), 600)
    labels = CrowdLabels.from_arrays(task, worker, copied.ravel())
    gold = np.where(np.arange(600) < 200, truth, -1)
    method = WorkerTypes().fit(labels, gold=gold)
    sure = WorkerTypes(design_effect=0).fit(labels, gold=gold)
    rest = np.where(gold < 0, truth, -1)
    known = rest >= 0
    loss = [-np.log(m.predict_proba(labels)[known, rest[known]]).mean() for m in (method, sure)]
    assert method.design_effect_ > 0.3
    assert loss[0] < loss[1]
    check = method.gold_check_
    assert check.n_tasks == 200 and abs(check.confidence - (1 - check.error)) < 0.1
    assert abs(check.error - error_rate(method.predict_proba(labels), rest)) < 0.1
    assert WorkerTypes().fit(labels, gold=np.where(np.arange(600) < 29, truth, -1)).gold_check_ is None


# ---- levels on public sets ----

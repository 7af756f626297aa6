"""Answers that are no single label: repeated ones count in parts, "unsure" can be none, wide tables are read."""

import re

import numpy as np
import pandas as pd
import pytest

from cofactor import CofactorError, CrowdLabels, DataWarning
from cofactor.crowd import METHODS
from cofactor.crowd.aggregators import MVEM, MajorityVote
from cofactor.crowd.method import weighted_vote_shares
from cofactor.crowd.workers import agreement_with_others, mean_over_labels
from cofactor.rivals.crowd.binary import KOS

ASKED_FIVE_TIMES = [("a", "model", "x")] * 3 + [("a", "model", "y")] * 2
REST = [("a", "ann", "y"), ("a", "ben", "x"), ("b", "ann", "x"), ("b", "ben", "x"), ("b", "model", "y")]
FRAME = pd.DataFrame(ASKED_FIVE_TIMES + REST, columns=["task", "worker", "label"])


def test_each_of_m_answers_of_one_worker_counts_one_in_m():
    labels = CrowdLabels.from_frame(FRAME, conflicts="all")
    assert (labels.n_workers, labels.votes.tolist()) == (3, [[1.6, 1.4], [2, 1]])
    assert labels.whole.votes.tolist() == [[2, 1], [2, 1]]
    assert np.allclose(MajorityVote().fit(labels).predict_proba(labels)[0], [1.6 / 3, 1.4 / 3])
    with pytest.raises(CofactorError, match="conflicting labels: task 'a' by worker 'model'"):
        CrowdLabels.from_frame(FRAME)


def test_answers_are_exponents_in_the_e_step():
    labels = CrowdLabels.from_frame(FRAME, conflicts="all")
    model = next(MVEM().rounds(labels))
    A = dict(zip(labels.workers, (block + 0.1 for block in model.conditionals), strict=True))
    expected = model.prior * A["model"][0] ** 0.6 * A["model"][1] ** 0.4 * A["ann"][1] * A["ben"][0]
    lifted = type(model)(model.prior, [A[w] / A[w].sum(axis=0) for w in labels.workers])
    scale = np.prod([1 / A[w].sum(axis=0) for w in labels.workers], axis=0)
    posterior = lifted.posterior(labels.table)[0]
    assert np.allclose(posterior, expected * scale / np.sum(expected * scale))
    assert not np.allclose(posterior, lifted.posterior(labels.whole.table)[0], atol=0.01)


def test_equal_answers_count_once_in_every_method_that_counts_parts():
    frame = pd.concat([FRAME, FRAME[:1].assign(task="c", label="y"), FRAME[5:7].assign(task="c", label="y")])
    once = frame.drop_duplicates(["task", "worker"])
    often = CrowdLabels.from_frame(pd.concat([once] * 4), conflicts="all")
    split = CrowdLabels.from_frame(frame, conflicts="all")
    labels = CrowdLabels.from_frame(once)
    for name in ("MajorityVote", "MV-EM", "WorkerTypes"):
        method = METHODS[name]()
        expected = method.fit(labels).predict_proba(labels)
        assert np.allclose(method.fit(often).predict_proba(often), expected), name
        p = method.fit(split).predict_proba(split)
        assert np.allclose(p.sum(axis=1), 1) and p[0, 0] < expected[0, 0], name  # two of five said y


def test_what_is_said_of_workers_counts_their_answers_in_parts():
    labels = CrowdLabels.from_frame(FRAME, conflicts="all")  # the model said x of a three times of five
    assert labels.workers == ["ann", "ben", "model"]
    assert np.allclose(agreement_with_others(labels), agreement_with_others(labels.whole))
    assert np.allclose(weighted_vote_shares(labels.table, np.ones(3)), [[1.6 / 3, 1.4 / 3], [2 / 3, 1 / 3]])
    p = np.array([[0.9, 0.1], [0.8, 0.2]])
    expected = [(0.1 + 0.8) / 2, (0.9 + 0.8) / 2, (0.6 * 0.9 + 0.4 * 0.1 + 0.2) / 2]
    assert np.allclose(mean_over_labels(labels, p[labels.table.rows, labels.table.values]), expected)


def test_other_methods_say_that_they_count_the_most_frequent_answer():
    labels = CrowdLabels.from_frame(FRAME, conflicts="all")
    with pytest.warns(DataWarning, match="KOS counts the most frequent of a worker's answers"):
        method = KOS().fit(labels)
    assert np.allclose(method.predict_proba(labels), KOS().fit(labels.whole).predict_proba(labels.whole))


def test_an_answer_can_be_none():
    unsure = pd.DataFrame(
        [("a", 1, "x"), ("a", 2, "Unsure"), ("a", 3, "unsure"), ("b", 1, "y"), ("c", 2, "unsure")],
        columns=["task", "worker", "label"],
    )
    with pytest.warns(DataWarning) as said:
        assert CrowdLabels.from_frame(unsure, spelling="keep").n_classes == 4
    noted = " ".join(str(one.message) for one in said)
    assert re.search(r"count as a class: 'Unsure' .1., 'unsure' .2.; if.*--ignore 'Unsure'", noted)
    with pytest.warns(DataWarning, match="^1 tasks without any label left are left out: c$"):
        labels = CrowdLabels.from_frame(unsure, ignore=["unsure"])
    assert (labels.tasks, labels.classes, labels.n_labels) == (["a", "b"], ["x", "y"], 2)
    with pytest.raises(CofactorError, match="no labels: all are"):
        CrowdLabels.from_frame(unsure, ignore=["unsure", "x", "y"])


def test_several_classes_in_a_cell_are_refused_with_the_way_out():
    lists = pd.DataFrame({"task": [1, 2], "worker": [1, 1], "label": ["x", ["x", "y"]]})
    with pytest.raises(CofactorError, match=r"data rows 1 .*ask one question per label"):
        CrowdLabels.from_frame(lists)


def test_wide_tables_are_tasks_by_workers():
    wide = pd.DataFrame({"ann": [0, 1, np.nan], "ben": [0, np.nan, np.nan]}, index=["a", "b", "c"])
    labels = CrowdLabels.from_wide(wide, classes=[0, 1])
    assert labels.to_frame().values.tolist() == [["a", "ann", 0], ["a", "ben", 0], ["b", "ann", 1]]
    with pytest.raises(CofactorError, match="tasks by workers, got dict"):
        CrowdLabels.from_wide({})


def test_files_the_later_answer_is_that_of_the_later_time(tmp_path):
    path = tmp_path / "labels.csv"
    rows = ["a,ann,x,2026-01-03", "a,ann,y,2026-01-01", "b,ann,y,2026-01-02", "b,ben,x,2026-01-02"]
    path.write_text("\n".join(["task,worker,label,updated_at", *rows]))
    for conflicts, label in (("last", "x"), ("first", "y")):
        with pytest.warns(DataWarning, match="given again"):
            frame = CrowdLabels.from_csv(path, conflicts=conflicts).to_frame()
        assert frame["label"][0] == label


def test_files_classes_that_nobody_chose_can_be_named(tmp_path):
    path = tmp_path / "day.csv"
    path.write_text("task,worker,label\na,1,1\nb,1,1\n")
    with pytest.raises(CofactorError, match=r"name them all with classes=\[...\] \(--classes\)"):
        CrowdLabels.from_csv(path)
    assert CrowdLabels.from_csv(path, classes=["0", "1"]).classes == [0, 1]


def test_an_infinity_is_kept_as_a_class_and_noted():
    frame = pd.DataFrame({"task": ["a", "a", "b", "b"], "worker": [1, 2, 1, 2], "label": ["1", "inf", "2", "1"]})
    with pytest.warns(DataWarning, match="look like no answer count as a class: 'inf' .1.; if"):
        assert len(CrowdLabels.from_frame(frame).classes) == 3

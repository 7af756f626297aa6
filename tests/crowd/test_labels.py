"""CrowdLabels: ids come out as they went in, several answers of one worker, and what cannot be is refused."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofactor.core import checks
from cofactor.core.errors import CofactorError, DataWarning
from cofactor.crowd import METHODS
from cofactor.crowd.aggregators import MVEM, MajorityVote
from cofactor.crowd.base import tied_share, worker_accuracy
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.method import weighted_vote_shares
from cofactor.crowd.scores import error_rate
from cofactor.crowd.workers import agreement_with_others, mean_over_labels
from cofactor.rivals.crowd.binary import KOS
from tests.each import each
from tests.oracles.generators import laws, random_model, seeds, skilled_crowd

ROWS = [("a", "w1", "cat"), ("a", "w2", "dog"), ("b", "w1", "dog")]


def frame(rows=ROWS):
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def contents(labels):
    return set(labels.to_frame().itertuples(index=False, name=None))


def test_a_file_of_too_many_classes_for_the_memory_is_refused(csv, monkeypatch):
    content = "\n".join(["Task,worker,label", *(f"{n},w{n % 3},c{n // 2}" for n in range(100))])
    monkeypatch.setattr(checks, "available_bytes", lambda: 1000)
    with pytest.raises(CofactorError, match="of 100 tasks, 3 workers, 50 classes would take"):
        csv(content)


@pytest.fixture
def csv(tmp_path):
    def read(content, name="labels.csv", **named):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return CrowdLabels.from_csv(path, **named)

    return read


# ---- ids and counts ----


def test_reads_a_long_table():
    labels = CrowdLabels.from_frame(frame())
    assert (labels.tasks, labels.workers, labels.classes) == (["a", "b"], ["w1", "w2"], ["cat", "dog"])
    assert labels.table.codes.tolist() == [[0, 1], [1, -1]]
    assert (labels.n_tasks, labels.n_workers, labels.n_classes, labels.n_labels) == (2, 2, 2, 3)


@pytest.mark.slow
@pytest.mark.filterwarnings("always::cofactor.core.errors.DataWarning")  # such as '0' and '00', rows that share nothing
@laws
@given(
    rows=st.dictionaries(
        st.tuples(st.text(max_size=3).filter(str.strip), st.integers()),
        st.sampled_from(["x", "y", "z"]),
        min_size=2,
        max_size=20,
    )
)
def test_long_table_there_and_back(rows):
    given_rows = {(task, worker, label) for (task, worker), label in rows.items()}
    with warnings.catch_warnings(record=True) as told:
        labels = CrowdLabels.from_frame(frame(list(given_rows)), classes=["z", "y", "x"])
    left_out = any("occur in no other row" in str(one.message) for one in told)
    assert contents(labels) == given_rows or (left_out and contents(labels) < given_rows)


def test_classes_may_be_given_in_any_order_with_unused_ones():
    labels = CrowdLabels.from_frame(frame(), classes=["dog", "bird", "cat"])
    assert labels.table.codes.tolist() == [[2, 0], [0, -1]]
    assert contents(labels) == set(ROWS)


def test_ids_of_mixed_types_keep_the_order_they_came_in():
    with pytest.warns(DataWarning, match="tasks contain different values with the same text .1 and '1'."):
        labels = CrowdLabels.from_frame(frame([(1, "w", "x"), ("1", "w", "y"), ("a", 7, "x")]))
    assert labels.tasks == [1, "1", "a"]
    assert labels.workers == ["w", 7]
    assert labels.table.codes.tolist() == [[0, -1], [1, -1], [-1, 0]]


def test_arrays_are_codes_already():
    labels = CrowdLabels.from_arrays([0, 2, 1], [1, 0, 0], [1.0, 0.0, 2.0], n_classes=4)
    assert labels.table.codes.tolist() == [[-1, 1], [2, -1], [0, -1]]
    assert labels.classes == [0, 1, 2, 3]


def test_votes_are_counted_per_task():
    labels = CrowdLabels.from_arrays([0, 0, 0, 1], [0, 1, 2, 0], [1, 1, 0, 0], n_tasks=3, unlabelled="keep")
    assert labels.votes.tolist() == [[1, 2], [1, 0], [0, 0]]
    assert np.allclose(vote_shares(labels), [[1 / 3, 2 / 3], [1, 0], [0.5, 0.5]])
    assert tied_share(labels) == pytest.approx(1 / 3)


def test_unlabelled_tasks_and_workers_stay_where_asked():
    labels = CrowdLabels.from_arrays([0, 2], [1, 1], [0, 1], n_tasks=4, n_workers=3, unlabelled="keep")
    assert labels.table.codes.tolist() == [[-1, 0, -1], [-1] * 3, [-1, 1, -1], [-1] * 3]


@laws
@given(seed=seeds)
def test_parts_equal_dense_indexing(seed):
    labels, rng = skilled_crowd(seed, n_workers=6, n_tasks=20).labels, np.random.default_rng(seed)
    tasks, workers = rng.permutation(20)[:7], rng.random(6) < 0.6
    assert np.array_equal(labels.take_tasks(tasks).table.codes, labels.table.codes[tasks])
    assert labels.take_tasks(tasks).tasks == tasks.tolist()
    assert np.array_equal(labels.take_workers(workers).table.codes, labels.table.codes[:, workers])
    assert labels.take_workers(workers).workers == np.flatnonzero(workers).tolist()


def test_busiest_workers_in_their_old_order_earlier_ones_first():
    labels = CrowdLabels.from_arrays([0, 0, 1, 0, 1, 1], [0, 1, 1, 2, 3, 2], [0, 1, 0, 1, 0, 1])
    assert labels.busiest_workers(3).workers == [0, 1, 2]
    assert labels.busiest_workers(1).workers == [1]
    with pytest.raises(CofactorError, match="n_workers=5: must be from 1 to 4"):
        labels.busiest_workers(5)


# ---- the same worker twice on one task ----

TWICE = [("a", "w1", "cat"), ("a", "w1", "dog"), ("b", "w1", "dog"), ("a", "w1", "cat")]


@each(
    "call, message",
    [
        (
            lambda: CrowdLabels.from_frame(frame(TWICE)),
            r"conflicting labels: task 'a' by worker 'w1'; correct the data, keep one",
        ),
        (lambda: CrowdLabels.from_frame(frame(), conflicts="newest"), "conflicts='newest': choose"),
        (lambda: CrowdLabels.from_frame(frame([])), "header but no rows"),
        (lambda: CrowdLabels.from_frame(frame([("a", "w", "cat"), ("b", "w", "cat")])), r"only one class \(cat\)"),
        (lambda: CrowdLabels.from_frame(frame(), classes=["cat", "dog", "cat"]), "contain a duplicate"),
        (
            lambda: CrowdLabels.from_arrays([0, 10**9], [0, 1], [0, 1]),
            r"tasks without labels: 1, 2, .*, 10, ... \(999999999 in all\)",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(call, message):
    with pytest.raises(CofactorError, match=message):
        call()


def test_conflicting_pairs_are_counted():
    rows = [(t, "w", label) for t in range(12) for label in "xy"]
    with pytest.raises(CofactorError, match=r"task 0 by .*task 9 by worker 'w', \.\.\. \(12 in all\)"):
        CrowdLabels.from_frame(frame(rows))


@pytest.mark.parametrize("conflicts", ["error", "first", "last"])
def test_identical_repeats_count_once(conflicts):
    with pytest.warns(DataWarning, match="2 labels were given again"):
        labels = CrowdLabels.from_frame(frame([*ROWS, ROWS[0], ROWS[0]]), conflicts=conflicts)
    assert contents(labels) == set(ROWS)


# ---- bad frames ----


@pytest.mark.parametrize("column", ["task", "worker", "label"])
def test_names_missing_columns_and_those_found(column):
    with pytest.raises(CofactorError, match=f"no column {column}; found "):
        CrowdLabels.from_frame(frame().drop(columns=column))


@each("missing, column", product([None, np.nan, pd.NA], ["task", "worker", "label"]))
def test_names_rows_with_missing_ids_or_labels(column, missing):
    rows = frame(ROWS * 5).astype(object)
    rows.loc[range(1, 13), column] = missing
    with pytest.raises(CofactorError, match=rf"missing {column} in data rows 1, .*, 10, \.\.\. \(12 in all\)"):
        CrowdLabels.from_frame(rows)


def test_names_labels_outside_the_classes():
    message = r"outside the classes 'cat', 'bird': data rows 1 \('dog'\) and 2 \('dog'\) \(counting from 0\)"
    with pytest.raises(CofactorError, match=message):
        CrowdLabels.from_frame(frame(), classes=["cat", "bird"])
    with pytest.raises(CofactorError, match=r"; 'Dog' and 'dog' look alike: write the classes as the labels do$"):
        CrowdLabels.from_frame(frame(), classes=["cat", "Dog"])


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(frame().set_axis(["task", "label", "label"], axis=1).assign(worker=1), id="column twice"),
        pytest.param(frame([(["a"], "w", "x"), (["b"], "w", "y")]), id="ids without a hash"),
    ],
)
def test_refuses_frames_that_pandas_cannot_encode(bad):
    with pytest.raises(CofactorError):
        CrowdLabels.from_frame(bad)


def test_tuples_of_any_length_are_ids():
    labels = CrowdLabels.from_frame(frame([(("b",), "w", "x"), (("a", 1), "w", "y")]))
    assert labels.tasks == [("a", 1), ("b",)]
    assert labels.to_frame()["label"].tolist() == ["y", "x"]


# ---- bad arrays ----


@each(
    "task, worker, label, named, message",
    [
        ([0, 1], [0], [0, 1], {}, "differ in length: 2, 1, 2"),
        ([], [], [], {}, "no labels: task, worker and label are empty"),
        ([[0, 1]], [0], [0], {}, r"task must be one-dimensional, got shape \(1, 2\)"),
        (["a", "b"], [0, 0], [0, 1], {}, "task must contain integer codes, got .*: use from_frame"),
        (
            [0, 1],
            [0, 0],
            [0, np.nan],
            {},
            r"label must be whole .*, without NaN; see row 1: nan \(counting from 0\)",
        ),
        ([0, 1], [0, np.inf], [0, 1], {}, "worker must be whole numbers .* row 1: inf"),
        ([0, 1], [0, 0], [0, 0.5], {}, "label .* row 1: 0.5"),
        ([0, -1], [0, 0], [0, 1], {}, "task .* row 1: -1"),
        ([0, 1], [0, 0], [0, -1], {}, "label .* row 1: -1"),
        ([0, 1], [0, 0], [0, 2], {"n_classes": 2}, "label codes must be below 2; see row 1: 2"),
        ([0, 5], [0, 0], [0, 1], {"n_tasks": 5}, "task codes must be below 5; see row 1: 5"),
        ([0, 1], [3, 0], [0, 1], {"n_workers": 3}, "worker codes must be below 3; see row 0: 3"),
        ([0, 1], [0, 0], [0, 0], {}, r"only one class \(0\)"),
        ([0, 2], [0, 0], [0, 1], {}, "tasks without labels: 1; .* unlabelled='keep'"),
        ([0, 1], [0, 2], [0, 1], {}, "workers without labels: 1"),
        ([0, 0], [0, 0], [0, 1], {}, "conflicting labels: task 0 by worker 0"),
        (range(14), [0] * 14, [-1] * 14, {}, r"row 0: -1, .*row 9: -1, \.\.\. \(14 in all\)"),
    ],
)
def test_names_what_is_wrong_with_arrays(task, worker, label, named, message):
    with pytest.raises(CofactorError, match=message):
        CrowdLabels.from_arrays(task, worker, label, **named)


@pytest.mark.parametrize(
    ("predicted", "truth", "message"),
    [
        ([0, 1, 1], [0, 1], "truth has the wrong length: 2 entries for 3 tasks"),
        ([0, 1], [-1, -1], "no task has known truth"),
    ],
)
def test_refuses_truth_that_does_not_fit(predicted, truth, message):
    with pytest.raises(CofactorError, match=message):
        error_rate(predicted, truth)


def test_accuracy_of_a_worker_is_the_chance_to_be_right():
    model = random_model(0, sizes=(3, 3))
    expected = [sum(model.prior[c] * A[c, c] for c in range(3)) for A in model.conditionals]
    assert np.allclose(worker_accuracy(model), expected)


def test_the_long_table_is_in_order_whatever_the_order_of_workers():
    labels = CrowdLabels.from_arrays([0, 0, 1], [0, 1, 1], [0, 1, 1]).take_workers([1, 0])
    assert labels.to_frame()["worker"].tolist() == [1, 0, 1]
    assert labels.to_frame()["label"].tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("predicted", "truth"),
    [([[0.5, 0.5]], [5]), (["a"], [0]), ([0], ["a"]), ([0, 1], [0, np.nan]), ([[np.nan, 1.0]], [0])],
)
def test_error_rate_refuses_what_is_no_class_and_no_score(predicted, truth):
    with pytest.raises(CofactorError):
        error_rate(predicted, truth)


@pytest.mark.parametrize("kind", ["bool", object, "boolean", "bool[pyarrow]"])
def test_booleans_of_pandas_are_labels_and_masks(kind):
    given = pd.Series([True, False, True, True, False, False], dtype=kind)
    labels = CrowdLabels.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], given)
    assert labels.to_frame()["label"].tolist() == [1, 0, 1, 1, 0, 0]
    assert labels.take_tasks(given[:3]).tasks == [0, 2]
    if kind in ("boolean", "bool[pyarrow]"):
        given[1] = pd.NA
        with pytest.raises(CofactorError, match="see row 1"):
            CrowdLabels.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], given)
        with pytest.raises(CofactorError, match="a mask of length 3"):
            labels.take_tasks(given[:3])


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
    with pytest.warns(DataWarning, match="KOS counts only the most frequent of a worker's answers"):
        method = KOS().fit(labels)
    assert np.allclose(method.predict_proba(labels), KOS().fit(labels.whole).predict_proba(labels.whole))


def test_wide_tables_are_tasks_by_workers():
    wide = pd.DataFrame({"ann": [0, 1, np.nan], "ben": [0, np.nan, np.nan]}, index=["a", "b", "c"])
    labels = CrowdLabels.from_wide(wide, classes=[0, 1])
    assert labels.to_frame().values.tolist() == [["a", "ann", 0], ["a", "ben", 0], ["b", "ann", 1]]
    with pytest.raises(CofactorError, match="tasks by workers, got dict"):
        CrowdLabels.from_wide({})


def test_files_classes_that_nobody_chose_can_be_named(tmp_path):
    path = tmp_path / "day.csv"
    path.write_text("task,worker,label\na,1,1\nb,1,1\n")
    with pytest.raises(CofactorError, match=r"name all classes with classes=\[...\] \(--classes\)"):
        CrowdLabels.from_csv(path)
    assert CrowdLabels.from_csv(path, classes=["0", "1"]).classes == [0, 1]

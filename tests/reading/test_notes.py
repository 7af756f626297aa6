"""Labels and ids that are not what they are taken for are named when a file is read, others are not."""

import warnings

import pandas as pd
import pytest

import cofactor as cf
from cofactor.reading.notes import odd_labels

ODD = {
    "hold several answers": ["pos", "neg", "pos|neg"],
    "are JSON": ['{"label": "pos"}', '{"label": "neg"}'],
    "are decimal numbers": ["1,5", "2,0", "3"],
    "are orderings of the same 3 items": ["B>A>C", "A>B>C"],
    "are paths": ["animal", "animal/cat", "animal/dog", "car/van"],
    "keep the part before '/'": ["animal/cat", "animal/dog", "car/van"],
    "12 distinct labels among 20": [f"a text of its own, number {n}" for n in range(12)],
}
SOUND = (
    ["yes", "no"],
    ["1", "2", "3.0"],
    [str(grade) for grade in range(20)],
    ["n/a", "w/o", "yes"],
    ["a>b", "b>a"],
    ["-1.0", "1.0"],
    ["", "x"],
)


def test_each_kind_is_named_and_sound_labels_are_not():
    for said, labels in ODD.items():
        found = list(odd_labels(labels, 20))
        assert len(found) == 1 and said in found[0], said
    for labels in SOUND:
        assert list(odd_labels(labels, 100)) == [], labels


def test_a_file_with_cut_ids_or_a_column_of_confidence_says_so(tmp_path):
    rows = "".join(f"1.2{n}E+11,w{m},{'ab'[(n + m) % 2]},.5\n" for n in range(3) for m in range(3))
    (tmp_path / "cut.csv").write_text("task,worker,label,Confidence\n" + rows)
    with pytest.warns(cf.DataWarning) as told:
        cf.CrowdLabels.from_file(tmp_path / "cut.csv")
    said = [str(one.message) for one in told]
    assert said[0].startswith("column Confidence is not used")
    assert said[1].startswith("tasks such as '1.20E+11' are numbers that a spreadsheet has rounded")


def test_a_worker_whose_tasks_nobody_else_labelled_is_named():
    rows = [(f"t{n}.jpg", f"w{m}", "yn"[(n + m) % 2]) for n in range(10) for m in range(4)]
    for last, named in ((10, True), (9, False)):
        own = [(f"/img/t{n}.jpg", "own", "y") for n in range(last)]
        frame = pd.DataFrame(rows + own, columns=["task", "worker", "label"])
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            cf.CrowdLabels.from_frame(frame)
        said = "workers none of whose tasks anybody else labelled: own (10 tasks); do these write the same tasks"
        assert any(str(one.message).startswith(said) for one in told) == named


def test_addresses_that_are_one_are_named():
    tasks = ["x.org/a", "x.org/a/", "x.org/b c", "x.org/b%20c", "x.org/d", "x.org/100%"]
    frame = pd.DataFrame(
        [(task, f"w{m}", "yn"[m % 2]) for task in tasks for m in range(3)], columns=["task", "worker", "label"]
    )
    with pytest.warns(cf.DataWarning, match="tasks that look alike") as told:
        cf.CrowdLabels.from_frame(frame)
    said = str(told[0].message)
    assert "'x.org/a' = 'x.org/a/'" in said and "'x.org/b c' = 'x.org/b%20c'" in said and "100" not in said

"""Labels of files and frames: laws that hold for any table, and what is noted or refused of odd ones."""

import csv
import json
import re
import warnings

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cofactor as cf
from cofactor.reading.labels import LabelTable, labels_of, of_frame, read_labels
from cofactor.reading.tables import Coded
from cofactor_app.cli import main

WORDS = st.sampled_from(
    ["a", "B", "b", "07", "7", "7.0", " x ", "é", "e\u0301", "NA", "n/a", "no way", '5"', "1,5", "?"]
)
ROWS = st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=12)
HEAD = ["task", "worker", "label"]
PLACE = re.compile(
    r" (in (rows|records|lines) .*|(row|record|line) \d+|\(counting the header line\))"
)  # each form counts from another line
FEW = settings(max_examples=20, deadline=None)


def outcome(path, **options):
    """Labels as text, or the refusal; and notes."""
    with warnings.catch_warnings(record=True, action="always", category=cf.DataWarning) as noted:
        try:
            found = sorted(map(tuple, cf.CrowdLabels.from_file(path, **options).to_frame().astype(str).to_numpy()))
        except cf.CofactorError as refused:
            found = PLACE.sub("", str(refused))
    return found, [PLACE.sub("", str(one.message)) for one in noted]


def written(folder, rows):
    """The same table in every form."""
    frame = pd.DataFrame(rows, columns=HEAD)
    forms = {
        "minimal.csv": {},
        "all.csv": {"quoting": csv.QUOTE_ALL},
        "semicolon.csv": {"sep": ";"},
        "tab.tsv": {"sep": "\t"},
    }
    for name, how in forms.items():
        frame.to_csv(folder / name, index=False, **how)
    frame.to_parquet(folder / "labels.parquet")
    frame.astype("category").to_parquet(folder / "coded.parquet")
    frame.to_csv(folder / "packed.csv.gz", index=False)
    lines = [json.dumps(dict(zip(HEAD, row, strict=True))) for row in rows]
    (folder / "labels.jsonl").write_text("\n".join(lines), encoding="utf8")
    return [folder / name for name in (*forms, "labels.parquet", "coded.parquet", "packed.csv.gz", "labels.jsonl")]


@pytest.mark.slow
@FEW
@given(rows=ROWS, conflicts=st.sampled_from(["error", "first", "last", "all"]))
def test_a_table_is_the_same_in_every_form(tmp_path_factory, rows, conflicts):
    first, *others = [outcome(path, conflicts=conflicts) for path in written(tmp_path_factory.mktemp("forms"), rows)]
    assert all(one == first for one in others)


@pytest.mark.slow
@FEW
@given(rows=ROWS, data=st.data())
def test_neither_the_order_of_rows_nor_their_repetition_counts(rows, data):
    def labels(rows):
        with warnings.catch_warnings(action="ignore", category=cf.DataWarning):
            try:
                found = cf.CrowdLabels.from_frame(pd.DataFrame(rows, columns=HEAD), spelling="keep")
            except cf.CofactorError as refused:
                return str(refused).split(":")[0]
        return found.tasks, found.workers, found.classes, found.table.codes.tolist()

    assert labels(rows) == labels(data.draw(st.permutations(rows))) == labels([*rows, *rows])


def test_labels_of_coded_columns_are_those_of_the_file(tmp_path):
    rows = [("t1", "ann", "Yes"), ("t1", "ben", "no"), ("t2", "ann", "yes "), ("t2", "ben", "yes")]
    frame = pd.DataFrame(rows, columns=HEAD)
    frame.to_csv(tmp_path / "labels.csv", index=False)
    columns = [Coded.of(frame[name].str.strip()) for name in HEAD]
    with pytest.warns(cf.DataWarning, match="classes that differ only in capitals.*'Yes' = 'yes'"):
        found = labels_of(LabelTable(*columns, pd.RangeIndex(2, 6, name="row")))
    with pytest.warns(cf.DataWarning, match="classes that differ only in capitals"):
        assert found.to_frame().equals(cf.CrowdLabels.from_file(tmp_path / "labels.csv").to_frame())
    empty = Coded(columns[2].codes, ["", *columns[2].values[1:]])
    with pytest.raises(cf.CofactorError, match=r"missing label in row 2 \(counting the header line\)"):
        labels_of(LabelTable(*columns[:2], empty, pd.RangeIndex(2, 6, name="row")))


def test_a_note_says_by_what_conflicts_were_settled_and_for_how_many(tmp_path):
    """The later label is "no" by the time; by the order of the file it is "yes"."""
    times = {
        "ISO": ("2026-01-01T13:00", "2026-01-01T11:59"),
        "half days": ("2026-01-01 01:00 PM", "2026-01-01 11:59 AM"),
        "seconds": ("1767272400", "1767268740.5"),
        "milliseconds": ("1767272400000", "1767268740000"),
    }
    path = tmp_path / "labels.csv"
    for name, (late, early) in times.items():
        path.write_text(f"task,worker,label,updated_at\na,w1,no,{late}\na,w1,yes,{early}\na,w2,no,\n", encoding="utf8")
        with pytest.warns(cf.DataWarning, match="where they differ .1., the last one by column updated_at counts"):
            assert cf.CrowdLabels.from_file(path, conflicts="last", classes=["yes", "no"]).votes.tolist() == [[0, 2]], (
                name
            )
    for late, early in (times["ISO"], map(pd.Timestamp, times["ISO"])):  # of a table in memory as of a file
        columns = {"task": "a", "worker": ["w1", "w1", "w2"], "label": ["no", "yes", "no"]}
        frame = pd.DataFrame(columns | {"updated_at": [late, early, None]})
        with pytest.warns(cf.DataWarning, match="where they differ .1., the last one by column updated_at counts"):
            assert cf.CrowdLabels.from_frame(frame, conflicts="last").votes.tolist() == [[2, 0]]
    path.write_text("task,worker,label\na,w1,no\na,w1,yes\na,w2,yes\na,w2,yes\n", encoding="utf8")
    with pytest.warns(
        cf.DataWarning, match="^2 labels were .* where they differ .1., the first one by the order of the file"
    ):
        cf.CrowdLabels.from_file(path, conflicts="first")


def test_a_time_that_cannot_be_read_is_refused_where_it_would_settle_a_conflict(tmp_path):
    path = tmp_path / "labels.csv"
    for cell in ("", "last week", "01/02/2026 1 PM"):
        path.write_text(
            f"task,worker,label,updated_at\na,w1,no,2026-01-01\na,w1,yes,{cell}\na,w2,no,\n", encoding="utf8"
        )
        with pytest.raises(cf.CofactorError, match=rf"updated_at decides .* cannot be read in row 3 \('{cell}'\)"):
            cf.CrowdLabels.from_file(path, conflicts="last")
        with pytest.raises(cf.CofactorError, match=r"^conflicting labels"):
            cf.CrowdLabels.from_file(path)


def test_rows_and_workers_that_share_nothing_are_named_and_strict_makes_that_an_error(tmp_path, capsys):
    good = [(f"t{n}", f"w{m}", "yes" if n % 2 else "no") for n in range(6) for m in range(4)]
    path = tmp_path / "labels.csv"
    total = ("Total", "4 workers", "24")
    cases = {
        r"left out 2 labels whose task, worker and class occur in no other row, .*: rows 14 and 27 ": [
            *good[:12],
            total,
            *good[12:],
            total,
        ],
        r"left out 1 label whose task, worker and class occur in no other row, .*: row 26 ": [*good, total],
        r"occur in no other row, as in a row of totals: row 2 ": [total, *good],
        r"workers whose classes no other worker uses: w0 \(only 'ja', 'nein'\)": [
            (t, w, {"yes": "ja", "no": "nein"}[k] if w == "w0" else k) for t, w, k in good
        ],
    }
    for note, rows in cases.items():
        pd.DataFrame(rows, columns=HEAD).to_csv(path, index=False)
        with pytest.warns(cf.DataWarning) as told:
            found = cf.CrowdLabels.from_file(path)
        assert any(re.search(note, str(one.message)) for one in told)
        assert found.n_labels == len(good), note
        assert main(["diagnose", str(path), "--strict"]) == 1
        assert capsys.readouterr().err.startswith("error: --strict: ")
    pd.DataFrame(good, columns=HEAD).to_csv(path, index=False)
    assert outcome(path)[1] == [] and main(["diagnose", str(path), "--strict"]) == 0


def test_values_that_read_the_same_are_named():
    rows = [(1, "a", "x"), ("1", "a", "y"), (2, "b", "x"), (2, "a", "y")]
    with pytest.warns(cf.DataWarning, match="tasks contain different values with the same text .1 and '1'."):
        assert cf.CrowdLabels.from_frame(pd.DataFrame(rows, columns=HEAD)).n_tasks == 3


def test_blank_cells_of_frames_and_nan_in_lists_are_missing_as_in_files():
    rows = [(f"t{n}", f"w{m}", "ab"[(n + (n == m)) % 2]) for n in range(4) for m in range(4)]
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    for column in frame:
        holed = frame.copy()
        holed.loc[[3, 7], column] = ["", " "]
        with pytest.raises(
            cf.CofactorError, match=rf"missing {column} in data rows 3 and 7 \(counting from 0\): fill them"
        ):
            cf.CrowdLabels.from_frame(holed)
        with pytest.warns(cf.DataWarning, match="left out 2 labels with an empty cell: data rows 3 and 7"):
            assert of_frame(holed, skip_bad=True).n_labels == 14
    with pytest.raises(cf.CofactorError, match="missing label in data row 0 "):
        cf.aggregate((list(frame["task"]), list(frame["worker"]), [float("nan"), *frame["label"][1:]]))


def test_several_classes_in_a_cell_are_refused_with_the_way_out():
    lists = pd.DataFrame({"task": [1, 2], "worker": [1, 1], "label": ["x", ["x", "y"]]})
    with pytest.raises(cf.CofactorError, match=r"data row 1 .*make a table for each class"):
        cf.CrowdLabels.from_frame(lists)


def test_rows_of_several_files_are_named_with_their_file(tmp_path):
    first, second, third = (tmp_path / name for name in ("a.csv", "b.csv", "c.jsonl"))
    first.write_text("task,worker,label\nt1,a,x\nt2,a,y\n")
    second.write_text("task,worker,label\nt1,b,x\nt2,b,\nt2,,y\n")
    third.write_text('{"task": "t1", "worker": "c", "label": "x"}\n')
    with pytest.raises(cf.CofactorError, match=r"missing worker in row 4 of .*b.csv \(counting the header line\)"):
        cf.CrowdLabels.from_file([first, second])
    with pytest.warns(cf.DataWarning, match=r"empty cell: rows 3 of .*b.csv and 4 of .*b.csv \(counting the header"):
        assert read_labels([first, second], skip_bad=True).n_labels == 3
    with pytest.raises(cf.CofactorError, match=r"missing worker in data row 5 \(counting from 0\)"):
        cf.CrowdLabels.from_file([third, first, second])

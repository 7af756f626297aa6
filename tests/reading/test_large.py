"""Large sources: what DuckDB reads is what the reader of small files reads, and a database is a source of rows."""

import gzip
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest

import cofactor as cf
from cofactor.reading import labels as reading
from cofactor.reading import large
from cofactor_app.cli import main
from tests.each import each


def rows(seed=0, n=3000):
    """Shuffled labels whose ids need care: numbers among texts, blanks, one row given twice."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"task": random.integers(0, 400, n), "worker": random.integers(0, 30, n)}).drop_duplicates()
    frame["label"] = random.choice(["yes", "no", " maybe"], len(frame))
    frame["task"] = [f"t{t}" if t % 3 else f" t{t}" for t in frame["task"]]
    frame["updated_at"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(random.permutation(len(frame)), unit="min")
    return pd.concat([frame, frame.iloc[[5]]])


def write(frame, path, form):
    if form == "parquet":
        frame.to_parquet(path)
    elif form == "jsonl":
        frame.assign(updated_at=frame["updated_at"].astype(str)).to_json(path, orient="records", lines=True)
    else:
        text = frame.to_csv(index=False, sep="\t" if form.startswith("tsv") else ",").encode()
        path.write_bytes(gzip.compress(text) if form.endswith("gz") else text)
    return path


@pytest.fixture
def as_large(monkeypatch):
    """Take every file for a large one, and require that DuckDB reads it."""
    monkeypatch.setattr(reading, "is_large", lambda path: True)

    def read(*how):
        found = large.coded_file(*how)
        assert found is not None
        return found

    monkeypatch.setattr(reading, "coded_file", read)


def same(found, expected):
    assert (found.tasks, found.workers, found.classes) == (expected.tasks, expected.workers, expected.classes)
    assert (found.table.indicator != expected.table.indicator).nnz == 0


@each("form", ["parquet", "csv", "tsv", "csv.gz", "jsonl"])
def test_labels_are_those_of_a_small_file(form, tmp_path, as_large, monkeypatch):
    path = write(rows(), tmp_path / f"labels.{form}", form)
    with pytest.warns(cf.DataWarning, match="1 label was given again"):
        found = cf.CrowdLabels.from_file(path)
    monkeypatch.setattr(reading, "is_large", lambda path: False)
    with pytest.warns(cf.DataWarning, match="1 label was given again"):
        same(found, cf.CrowdLabels.from_file(path))
    monkeypatch.setattr(reading, "is_large", lambda path: True)


@pytest.mark.slow
@each("conflicts", ["first", "last", "all"])
def test_conflicts_are_settled_as_in_a_small_file(conflicts, tmp_path, as_large, monkeypatch):
    frame = rows(1)
    again = frame.iloc[:40].assign(label="no", updated_at=pd.Timestamp("2025-12-31"))
    path = write(pd.concat([frame, again]), tmp_path / "labels.csv", "csv")
    with pytest.warns(cf.DataWarning) if conflicts != "all" else pytest.MonkeyPatch.context():
        found = cf.CrowdLabels.from_file(path, conflicts=conflicts)
    with monkeypatch.context() as small:
        small.setattr(reading, "is_large", lambda path: False)
        with pytest.warns(cf.DataWarning) if conflicts != "all" else pytest.MonkeyPatch.context():
            same(found, cf.CrowdLabels.from_file(path, conflicts=conflicts))
    with pytest.raises(cf.CofactorError, match=r"^conflicting labels"):
        cf.CrowdLabels.from_file(path)


def test_bad_rows_are_named_by_their_numbers_in_the_file(tmp_path, as_large):
    frame = rows(2).reset_index(drop=True).assign(task=lambda table: [f"t{n}" for n in range(len(table), 0, -1)])
    frame.loc[[7, 1200], "worker"] = None
    path = write(frame, tmp_path / "labels.csv", "csv")
    with pytest.raises(cf.CofactorError, match=r"missing worker in rows 9 and 1202 \("):
        cf.CrowdLabels.from_file(path)
    frame["label"] = "yes"
    frame.loc[[7, 1200], ["worker", "label"]] = [[1, "no"], [1, "maybe"]]
    with pytest.raises(cf.CofactorError, match=r"rows 9 \('no'\) and 1202 \('maybe'\)"):
        cf.CrowdLabels.from_file(write(frame, path, "csv"), classes=["yes", "never"])


@each("spelling", ["classes", "all"])
@each("conflicts", ["first", "last"])
def test_the_order_of_the_file_settles_conflicts_of_tasks_that_become_one(
    conflicts, spelling, tmp_path, as_large, monkeypatch
):
    one, other = ("t3", " t3") if spelling == "classes" else ("t3", "T3")
    for n, (first, second) in enumerate([(one, other), (other, one)]):
        path = tmp_path / f"{n}.csv"
        path.write_text(f"task,worker,label\n{first},a,yes\n{second},a,no\nt4,a,yes\nt4,b,no\nt4,a,yes\n")
        for source in (path, [path, path]):
            with pytest.warns(cf.DataWarning):
                found = cf.CrowdLabels.from_file(source, conflicts=conflicts, spelling=spelling).to_frame()
            kept = found[found.task.str.casefold() == "t3"]
            assert kept.label.tolist() == [{"first": "yes", "last": "no"}[conflicts]], (n, source)


def test_size_alone_decides_who_reads(tmp_path, monkeypatch):
    monkeypatch.setattr(large, "LARGE_TEXT", 1000)
    monkeypatch.setattr(large, "LARGE_TABLE", 100)
    text, table = write(rows(), tmp_path / "a.csv", "csv"), write(rows(), tmp_path / "a.parquet", "parquet")
    short = write(rows(n=10), tmp_path / "b.csv", "csv")
    few = write(rows(n=50), tmp_path / "b.parquet", "parquet")
    assert list(map(large.is_large, (text, table, short, few, tmp_path, tmp_path / "none"))) == [1, 1, 0, 0, 0, 0]


def test_a_file_that_changes_is_refused(tmp_path, monkeypatch):
    path = write(rows(), tmp_path / "labels.csv", "csv")
    sort = large._sorted

    def and_written(*how):
        path.write_bytes(path.read_bytes() + b"t1,2,yes,\n")
        return sort(*how)

    monkeypatch.setattr(large, "_sorted", and_written)
    with pytest.raises(cf.CofactorError, match=r"labels.csv changed while it was being read: try again"):
        large.coded_file(path, ("task", "worker", "label"), (), "utf-8", None)


def test_a_full_disk_is_told_with_the_folder(tmp_path, monkeypatch):
    path = write(rows(), tmp_path / "labels.csv", "csv")

    def full(*how):
        raise duckdb.IOException('Could not write file "x": No space left on device')

    monkeypatch.setattr(large, "_sorted", full)
    with pytest.raises(cf.CofactorError, match=r"sorting .* has too little space.*TMPDIR"):
        large.coded_file(path, ("task", "worker", "label"), (), "utf-8", None)


# ---- databases ----


def database(kind, path):
    frame = rows(3).drop_duplicates(["task", "worker"])[["task", "worker", "label"]]
    if kind == "sqlite":
        with sqlite3.connect(path) as base:
            frame.to_sql("labels", base, index=False)
        base.close()
    else:
        with duckdb.connect(str(path)) as base:
            base.register("frame", frame)
            base.execute("CREATE TABLE labels AS SELECT * FROM frame")
    return frame


@pytest.mark.slow
@each("kind", ["sqlite", "duckdb"])
def test_a_database_is_a_source_of_rows(kind, tmp_path, capsys):
    path = tmp_path / f"labels of {kind}"
    frame = database(kind, path)
    expected = cf.CrowdLabels.from_file(write(frame, tmp_path / "same.csv", "csv"))
    same(reading.read_database(f"{kind}:///{path}"), expected)
    out = tmp_path / f"{kind}.csv"
    query = "SELECT label AS answer, worker, task AS item FROM labels WHERE worker < 20"
    names = ["--query", query, "--task", "item", "--label", "answer"]
    assert (
        main(["aggregate", "--database", f"{kind}:///{path}", *names, "-o", str(out), "--method", "MajorityVote"]) == 0
    )
    assert len(pd.read_csv(out)) == frame[frame.worker < 20].task.str.strip().nunique()


@each("address, query, error", [
    ("sqlite:////none/there", "", r"no such database: .*; an address has the form sqlite:///FILE"),
    ("sqlite:///{path}", "SELECT task FROM labels", "the query returns columns task, but not worker, label: rename"),
    ("sqlite:///{path}", "SELECT task FROM other", "cannot be read: no such table: other"),
    ("duckdb:///{path}", "", "cannot be read: "),
])  # fmt: skip
def test_what_a_database_refuses_is_one_sentence(address, query, error, tmp_path):
    path = tmp_path / "labels"
    path.unlink(missing_ok=True)
    database("sqlite", path)
    with pytest.raises(cf.CofactorError, match=error):
        reading.read_database(address.format(path=path), query)


@pytest.mark.slow
def test_a_password_is_in_no_message():
    pytest.importorskip("sqlalchemy")
    for address in ("postgresql://me:s3cret@localhost/none", "nothing://me:s3cret@localhost/none"):
        with pytest.raises(cf.CofactorError) as refused:
            reading.read_database(address)
        assert "s3cret" not in str(refused.value) and "cannot be read" in str(refused.value)

"""The commands sql and fit: the round trip of labels that stay in a database, through files."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cofactor.crowd import METHODS, CrowdLabels
from cofactor.simulate import crowd, dawid_skene_model
from cofactor_app.cli import main, sampled, warehouse
from cofactor_app.cli.known import of_file_or_table
from cofactor_app.running import Run
from cofactor_app.scale import copies
from cofactor_app.scale.doors import opened

duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def labels(tmp_path, monkeypatch):
    """Return labels that lie in labels.csv of the working directory."""
    monkeypatch.chdir(tmp_path)
    labels = crowd(dawid_skene_model(12, 3, skill=0.6, random_state=0), 200, 0.5, random_state=0).labels
    frame = labels.to_frame()
    frame["label"] = frame["label"].map({0: "ant", 1: "bee", 2: "cat"})
    frame.to_csv("labels.csv", index=False)
    return CrowdLabels.from_frame(frame)


def run(*words):
    """Run a command, which must end well."""
    assert main(list(words)) == 0


def refused(capsys, *words):
    """Run a command, which must be refused; return its message."""
    assert main(list(words)) == 1
    return capsys.readouterr().err


def ask(query, result):
    """Run a query from a file on DuckDB, and keep its result in a file."""
    with duckdb.connect() as base, open(query, encoding="utf8") as file:
        base.execute(f"COPY ({file.read().rstrip().rstrip(';')}) TO '{result}'")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_round_trip_gives_what_aggregate_gives(labels, form, capsys):
    table, model = ("--table", "read_csv('labels.csv')"), ("--model", f"read_{form}('model.{form}')")
    run("sql", "counts", *table, "-o", "counts.sql")
    run("sql", "refine", *table, *model, "-o", "refine.sql")
    run("sql", "score", *table, *model, "-o", "score.sql")
    ask("counts.sql", f"counts.{form}")
    run("fit", f"counts.{form}", "-o", "model.npz", "--sql-tables", f"model.{form}")
    assert "labels of 200 tasks were counted" in capsys.readouterr().out
    method = METHODS["MV-EM"]().fit(labels)
    for _ in method.result_.objective:
        ask("refine.sql", f"sums.{form}")
        again = ("--model", "model.npz", "-o", "model.npz", "--force", "--sql-tables", f"model.{form}")
        run("fit", f"sums.{form}", *again)
    rounds = capsys.readouterr().out.split("round ")[1:]
    values, gains = (re.findall(rf"{word} (-?[\d.]+)", " ".join(rounds)) for word in ("objective", "gained"))
    values, gains = np.array(values, dtype=float), np.array(gains, dtype=float)
    np.testing.assert_allclose(gains, np.diff(values), rtol=0, atol=2e-6)
    settled = ["the model has settled" in said for said in rounds]
    assert settled[-1] and settled == [False, *(gains <= 1e-6 * np.abs(values[1:]))]
    ask("score.sql", "consensus.csv")
    found = pd.read_csv("consensus.csv").set_index("task").loc[labels.tasks]
    posterior = method.predict_proba(labels)
    np.testing.assert_allclose(found["probability"], posterior.max(axis=1), rtol=0, atol=1e-9)
    assert found["label"].tolist() == [labels.classes[k] for k in method.predict(labels)]


def test_a_query_is_printed_where_no_file_is_named(labels, capsys):
    run("sql", "score", "--dialect", "spark", "--task", "item")
    printed = capsys.readouterr().out
    assert printed.startswith("WITH") and "`item` AS task" in printed


def test_nothing_is_overwritten_unasked_and_what_does_not_go_together_is_refused(labels, capsys):
    run("sql", "counts", "--table", "read_csv('labels.csv')", "-o", "counts.sql")
    assert "counts.sql exists" in refused(capsys, "sql", "counts", "-o", "counts.sql")
    ask("counts.sql", "counts.csv")
    run("fit", "counts.csv", "-o", "model.npz")
    assert "model.npz exists" in refused(capsys, "fit", "counts.csv", "-o", "model.npz")
    both = ("--model", "model.npz", "--method", "RobSymNMF", "-o", "next.npz")
    assert "leave --method out" in refused(capsys, "fit", "counts.csv", *both)
    assert "no column" in refused(capsys, "fit", "counts.csv", "--model", "model.npz", "-o", "next.npz")
    assert "no column" in refused(capsys, "fit", "labels.csv", "-o", "next.npz")
    assert "needs the column" in refused(capsys, "sql", "counts", "--conflicts", "last")


@pytest.fixture
def database(labels):
    """Put the labels into a database in the working directory; return the words that name it."""
    with duckdb.connect("labels.db") as base:
        base.execute("CREATE TABLE crowd AS SELECT * FROM 'labels.csv'")
    return ["aggregate", "--database", "duckdb:///labels.db", "--table", "crowd"]


def in_database(query):
    with duckdb.connect("labels.db") as base:
        return base.execute(query).df()


@pytest.mark.parametrize("method", ["WorkerTypes", "MV-EM"])
def test_a_database_runs_the_rounds_and_keeps_the_consensus_or_gives_it_out(labels, database, capsys, method):
    run("aggregate", "labels.csv", "--method", method, "-o", "expected.csv")
    expected = pd.read_csv("expected.csv").sort_values("task", ignore_index=True)
    run(*database, "--method", method, "-o", "consensus", "--force", "--workers", "workers.csv")
    found = in_database("SELECT * FROM consensus ORDER BY task")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=0, atol=1e-6)
    run(*database, "--method", method, "-o", "here.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet("here.parquet"), expected, check_dtype=False, rtol=0, atol=2e-6)
    assert len(pd.read_csv("workers.csv")) == labels.n_workers
    told = capsys.readouterr().out
    assert "no row is empty; no worker gave a task two" in told
    assert "wrote the table consensus of the database: 200 tasks" in told
    tables = in_database("SELECT table_name FROM information_schema.tables")["table_name"]
    assert sorted(tables) == ["consensus", "crowd"]  # nothing is left behind


def test_coded_labels_are_held_where_memory_is_enough_and_it_is_said(database, capsys, monkeypatch):
    for memory, said in ((1e9, "coded labels are held here for the rounds"), (1e3, "of 0.0 GB of memory here")):
        monkeypatch.setattr(warehouse, "machine_memory", lambda memory=memory: memory)
        run(*database, "-o", f"{memory:.0f}.csv")
        assert said in capsys.readouterr().out
    one, other = (pd.read_csv(f"{memory}.csv") for memory in ("1000000000", "1000"))
    pd.testing.assert_frame_equal(one, other, rtol=0, atol=2e-6)


@pytest.fixture
def known(labels):
    """Files of known tasks, and their frames by the names of tables: 40 of gold, 60 of truth, of which 20 are gold."""
    truth = crowd(dawid_skene_model(12, 3, skill=0.6, random_state=0), 200, 0.5, random_state=0).truth
    frame = pd.DataFrame({"task": range(200), "label": np.array(["ant", "bee", "cat"])[truth]})
    frame.iloc[:40].to_csv("gold.csv", index=False)
    frame.iloc[20:80].to_csv("truth.csv", index=False)
    return {"gold": frame.iloc[:40], "true_classes": frame.iloc[20:80]}


@pytest.mark.parametrize(("memory", "tables"), [(1e9, False), (1e9, True), (1e3, True)])
def test_gold_tasks_and_truth_are_used_in_a_database_as_in_memory(database, known, capsys, monkeypatch, memory, tables):
    files = ("--gold", "gold.csv", "--truth", "truth.csv")
    run("aggregate", "labels.csv", *files, "-o", "expected.csv")
    expected = pd.read_csv("expected.csv").sort_values("task", ignore_index=True)
    said = capsys.readouterr().out.splitlines()
    kept = [line for line in said if line.startswith(("gold tasks used in the fit: 40; ", "error on the 40 tasks"))]
    assert len(kept) == 2
    with duckdb.connect("labels.db") as base:
        for name, frame in known.items():
            base.register("given", frame)
            base.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
    monkeypatch.setattr(warehouse, "machine_memory", lambda: memory)
    run(*database, *(("--gold", "gold", "--truth", "true_classes") if tables else files), "-o", "consensus")
    told = capsys.readouterr().out.splitlines()
    assert set(kept) <= set(told), told
    assert "wrote the table consensus of the database: 200 tasks" in told
    found = in_database("SELECT * FROM consensus ORDER BY task")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=0, atol=1e-6)
    assert found["task"].dtype == in_database("SELECT task FROM crowd")["task"].dtype
    assert found["disputed"].dtype == bool


def test_gold_tasks_are_used_in_sqlite(labels, known):
    pytest.importorskip("sqlalchemy")
    with closing(sqlite3.connect("labels.sqlite")) as base:
        pd.read_csv("labels.csv").to_sql("crowd", base, index=False)
        known["gold"].to_sql("gold", base, index=False)
        base.commit()
    run("aggregate", "labels.csv", "--gold", "gold.csv", "-o", "expected.csv")
    run("aggregate", "--database", "sqlite:///labels.sqlite", "--table", "crowd", "--gold", "gold", "-o", "found.csv")
    expected = pd.read_csv("expected.csv").sort_values("task", ignore_index=True)
    found = pd.read_csv("found.csv").assign(disputed=lambda frame: frame["disputed"] == 1)
    pd.testing.assert_frame_equal(found, expected, rtol=0, atol=2e-6)


@pytest.mark.parametrize("more", [("--method", "MV-EM"), ("--gold", "gold.csv")])
@pytest.mark.parametrize(
    ("most", "sentence"), [(500, "crowd of duckdb:///labels.db (one task in 3)</h1>"), (10_000, "shows all tasks")]
)
def test_the_report_is_about_a_sample_of_tasks(database, known, capsys, monkeypatch, most, sentence, more):
    monkeypatch.setattr(sampled, "MOST_SHOWN", most)
    run(*database, "--report", "page.html", *more)
    text = Path("page.html").read_text(encoding="utf8")
    assert sentence in text and "the model was fitted to all labels" in text
    assert ("the page shows all tasks" if most > 500 else "one task in 3, and") in capsys.readouterr().out
    shown = re.search(r"(\d+) tasks, 12 workers, 3 classes, (\d+) labels", text)
    assert int(shown[1]) == (200 if most > 500 else 67) and int(shown[2]) > 300


def test_the_record_holds_no_password():
    said = Run(
        ["aggregate", "--database", "postgresql://me:se/cr?et@host/name?key=x", "/data/me/a.csv"], [], []
    ).words()
    assert said == "cofactor aggregate --database postgresql://host/name a.csv"
    assert "duckdb:///labels.db" in Run(["--database=duckdb:////data/me/labels.db"], [], []).words()


@pytest.fixture
def copied(labels):
    """The labels, with a worker who copies every other one of another's."""
    frame = pd.read_csv("labels.csv")
    frame = pd.concat([frame, frame[frame["worker"] == 3].iloc[::2].assign(worker=12)])
    frame.to_csv("copied.csv", index=False)
    in_database("CREATE TABLE crowd AS SELECT * FROM 'copied.csv'")
    return frame


@pytest.mark.parametrize("more", [(), ("--gold", "gold.csv")])
def test_copies_count_as_one_worker_in_a_database_as_in_memory(copied, known, capsys, more):
    run("aggregate", "copied.csv", *more, "-o", "expected.csv")
    expected = pd.read_csv("expected.csv").sort_values("task", ignore_index=True)
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("workers who", "gold tasks"))]
    assert said[0].endswith("the same: 3 = 12")
    words = ("--workers", "workers.csv", "-o", "consensus")
    run("aggregate", "--database", "duckdb:///labels.db", "--table", "crowd", *more, *words)
    assert set(said) <= set(capsys.readouterr().out.splitlines())
    found = in_database("SELECT * FROM consensus ORDER BY task")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=0, atol=1e-6)
    assert pd.read_csv("workers.csv").set_index("worker")["n_labels"].to_dict() == (
        copied["worker"].value_counts().to_dict()
    )


def test_where_labels_are_many_copies_are_looked_for_on_some_tasks(copied, capsys, monkeypatch):
    monkeypatch.setattr(copies, "MOST_COMPARED", 400)
    run("aggregate", "--database", "duckdb:///labels.db", "--table", "crowd")
    assert "copies among workers were looked for on one task in 4" in capsys.readouterr().out


def test_known_classes_are_the_truth_of_a_table_or_else_its_labels(database):
    in_database("CREATE TABLE one AS SELECT 1 AS task, ' ant ' AS truth, 'bee' AS label")
    in_database("CREATE TABLE other AS SELECT task, label FROM one")
    with opened("duckdb:///labels.db") as door:
        found = [of_file_or_table(name, door, "utf8").to_dict("list") for name in ("one", "other")]
    assert found == [{"task": ["1"], "truth": ["ant"]}, {"task": ["1"], "truth": ["bee"]}]


def test_known_classes_of_tasks_are_no_consensus_to_replace(database, capsys):
    in_database("CREATE TABLE known AS SELECT DISTINCT task, label FROM crowd")
    assert "known is no consensus (its columns are task, label)" in refused(capsys, *database, "-o", "known", "--force")


def test_what_does_not_go_with_a_database_is_refused(database, capsys):
    run(*database, "-o", "consensus")
    in_database("CREATE TABLE lonely AS SELECT task FROM crowd")
    for words, told in (
        (["-o", "consensus"], "the database has a table consensus"),
        (["--gold", "labels.csv", "--method", "MV-EM"], "--gold: in a database, it goes with WorkerTypes alone"),
        (["--gold", "nothing"], "nothing: no such file, and no such table"),
        (["--truth", "lonely"], "the table lonely has no columns task and truth (or label): task"),
        (["--record", "run.json"], "--record: does not go"),
        (["--draws", "5", "--jobs", "2", "--reading", "mean"], "--draws, --jobs, --reading: does not go"),
        (["--encoding", "cp1252", "--plan", "0.1"], "--encoding, --plan: does not go"),
        (["--method", "IBCC"], "in a database work WorkerTypes and MV-EM"),
        *(
            (["-o", name, "--force"], f"{name} is no consensus")
            for name in ("Crowd", "main.crowd", "labels.main.crowd")
        ),
        (["-o", "out.json"], "-o out.json: the table cannot be made"),
        (["--engine", "shards"], "--engine: the labels are in a database"),
        (["-o", "a'b"], "is no name of a table"),
        (["--task", "none"], "has the columns task, worker, label: name those of the labels by --task"),
    ):
        assert told in refused(capsys, *database, *words), words
    assert "say where the labels are" in refused(capsys, "aggregate")
    assert "say where the labels are" in refused(capsys, *database, "labels.csv")
    assert "--table names a table" in refused(capsys, "aggregate", "labels.csv", "--table", "crowd")
    assert len(in_database("SELECT * FROM crowd"))

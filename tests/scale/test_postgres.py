"""Labels in Postgres, where COFACTOR_POSTGRES=postgresql://user@host/name is a database to try things in."""

import os
import warnings

import pandas as pd
import pytest

from cofactor import CofactorError
from cofactor.crowd import METHODS, CrowdLabels, WorkerTypes
from cofactor.data import load
from cofactor_app.cli import main
from cofactor_app.scale.coded import CodedLabels
from cofactor_app.scale.copies import merged_there, owners_of
from cofactor_app.scale.doors import opened
from cofactor_app.scale.rounds import fit
from cofactor_app.scale.verdicts import consensus
from tests.scale.test_rounds import check_consensus, check_same, drawn, with_copies

ADDRESS = os.environ.get("COFACTOR_POSTGRES", "")
pytestmark = pytest.mark.skipif(not ADDRESS, reason="COFACTOR_POSTGRES names no database")
WORDS = ("aggregate", "--database", ADDRESS, "--table")


@pytest.fixture
def base():
    """Run queries in a schema of its own, in which names of tables are looked for first."""
    library = pytest.importorskip("sqlalchemy")
    engine = library.create_engine(ADDRESS, isolation_level="AUTOCOMMIT")
    with engine.connect().execution_options(no_parameters=True) as connection:
        connection.exec_driver_sql("DROP SCHEMA IF EXISTS cofactor_tests CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA cofactor_tests")
        yield connection
        connection.exec_driver_sql("DROP SCHEMA cofactor_tests CASCADE")
    engine.dispose()


def kept(base, frame, name="labels"):
    frame.to_sql(name, base, schema="cofactor_tests", index=False, if_exists="replace")
    return f"cofactor_tests.{name}"


@pytest.mark.slow
def test_fits_consensus_and_copies_are_those_in_memory(base):
    for frame in (load("bluebird", "crowd").labels.to_frame(), with_copies(drawn(5, 3, n_tasks=200, share=0.6))):
        labels = CrowdLabels.from_frame(frame)
        for name in ("WorkerTypes", "MV-EM"):
            with opened(ADDRESS) as door, warnings.catch_warnings(action="ignore"):
                coded = CodedLabels.of(door, kept(base, frame))
                if name == "WorkerTypes":
                    coded = merged_there(coded, owners_of(coded)[0])
                method, expected = fit(METHODS[name](), coded), METHODS[name]().fit(labels)
                check_same(method, expected, labels, name)
                check_consensus(door.ask(consensus(method, coded)), expected, labels, name)
    with warnings.catch_warnings(action="ignore"):
        assert WorkerTypes().fit(labels).copies_ == [["copy 0", "copy 1", "w8"]]


def test_columns_of_any_name_and_type_are_read(base, tmp_path, capsys):
    frame = drawn(2, 2)
    frame["label"] = frame["label"].map({"l0": "100%", "l1": "%s"})
    table = kept(base, frame)
    base.exec_driver_sql("CREATE TYPE cofactor_tests.kind AS ENUM ('100%', '%s')")
    base.exec_driver_sql(
        f"""CREATE TABLE cofactor_tests."Upper" AS SELECT task::char(9) AS "Task Id", worker::char(5) AS "order",
        label::cofactor_tests.kind AS "Select" FROM {table}"""
    )
    assert main([*WORDS, table, "--method", "MV-EM", "-o", f"{tmp_path}/1.csv"]) == 0
    names = ("--task", "Task Id", "--worker", "order", "--label", "Select")
    words = (*WORDS, 'cofactor_tests."Upper"', *names, "--method", "MV-EM", "-o")
    assert main([*words, f"{tmp_path}/2.csv"]) == 0
    assert main([*words, 'cofactor_tests."Found"']) == 0
    one, other = (pd.read_csv(tmp_path / f"{k}.csv") for k in (1, 2))
    pd.testing.assert_frame_equal(one, other)
    there = pd.read_sql('SELECT * FROM cofactor_tests."Found" ORDER BY task COLLATE "C"', base)
    pd.testing.assert_frame_equal(there.round({"probability": 6}), one.sort_values("task", ignore_index=True))
    assert "wrote the table" in capsys.readouterr().out


def test_gold_tasks_and_the_report(base, tmp_path, capsys):
    labels = load("bluebird", "crowd")
    table, gold = kept(base, labels.labels.to_frame()), labels.labels.tasks[:40]
    known = pd.DataFrame({"task": gold, "truth": [labels.labels.classes[k] for k in labels.truth[:40]]})
    known.to_csv(tmp_path / "gold.csv", index=False)
    assert main(["aggregate", "bluebird", "--gold", f"{tmp_path}/gold.csv", "-o", f"{tmp_path}/1.csv"]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("gold tasks used")]
    words = ("--report", f"{tmp_path}/page.html", "-o", f"{tmp_path}/2.csv", "--workers", f"{tmp_path}/workers.csv")
    assert main([*WORDS, table, "--gold", kept(base, known, "gold"), *words]) == 0
    assert set(said) <= set(capsys.readouterr().out.splitlines())
    one, other = (pd.read_csv(tmp_path / f"{k}.csv").set_index("task").sort_index() for k in (1, 2))
    pd.testing.assert_frame_equal(one, other, rtol=0, atol=2e-6)
    page = (tmp_path / "page.html").read_text(encoding="utf8")
    assert table in page and ("@" not in ADDRESS or ADDRESS.split("://")[1].split("@")[0] + "@" not in page)


def test_what_cannot_be_is_one_sentence(base, capsys):
    frame = drawn(2)
    table = kept(base, pd.concat([frame, frame.iloc[:2].assign(label=[None, " "])]))
    kept(base, pd.DataFrame({"a": [1]}), "other")
    for words, told in (
        (["cofactor_tests.none"], '"cofactor_tests.none" does not exist): name the table of the labels by --table'),
        ([table], f"2 of {len(frame) + 2} rows of the table have no task, no worker or no label"),
        ([table, "--task", "item"], "has the columns task, worker, label: name those of the labels"),
        ([table, "-o", "cofactor_tests.other"], "the database has a table cofactor_tests.other"),
        ([table, "-o", "cofactor_tests.other", "--force"], "is no consensus (its columns are a)"),
        ([table, "-o", "no_schema.found"], "the table cannot be made"),
    ):
        assert main([*WORDS, *words]) == 1, words
        assert told in capsys.readouterr().err, words
    read_only = f"{ADDRESS}{'&' if '?' in ADDRESS else '?'}options=-c%20default_transaction_read_only%3Don"
    with opened(read_only) as door, pytest.raises(CofactorError, match="rounds need temporary tables there"):
        CodedLabels.of(door, kept(base, frame))


def test_steps_of_a_round_are_computed_once(base):
    """Written into one another, they made a round of 21 states take 18 times as long."""
    with opened(ADDRESS) as door, warnings.catch_warnings(action="ignore"):
        coded, asked, ask = CodedLabels.of(door, kept(base, drawn(2))), [], door.ask
        door.ask = lambda query: asked.append(query) or ask(query)
        fit(METHODS["MV-EM"](max_iter=1), coded)
        rounds = [door.translated(query) for query in asked if "p_mass" in query]
        plan = door._ask(f"EXPLAIN {rounds[0]}").iloc[:, 0].str.cat(sep="\n")
    assert "CTE Scan on p_mass" in plan and "Subquery Scan" not in plan

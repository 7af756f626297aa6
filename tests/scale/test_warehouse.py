"""Labels in a database: its counts, sums and labels equal those in memory, on DuckDB, SQLite and Spark."""

import math
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cofactor import CofactorError
from cofactor.core.errors import DataWarning
from cofactor.crowd import METHODS, CrowdLabels
from cofactor.crowd.moments import CrowdMoments
from cofactor.data import load
from cofactor.simulate import crowd, dawid_skene_model
from cofactor_app.scale.queries import Queries
from cofactor_app.scale.warehouse import WarehouseFit, moments_of, named_by_votes

duckdb = pytest.importorskip("duckdb")


@dataclass
class Database:
    """Runs a query over tables given as data frames; Spark reads these from files."""

    dialect: str
    session: Any = None
    folder: Any = None

    def run(self, query, **tables):
        """Return the result as a data frame."""
        if self.dialect == "duckdb":
            with duckdb.connect() as connection:
                for name, table in tables.items():
                    connection.register(name, table)
                return connection.execute(query).df()
        if self.dialect == "sqlite":
            with closing(sqlite3.connect(":memory:")) as connection:
                for name, function in (("LN", math.log), ("EXP", math.exp)):  # some builds lack them
                    connection.create_function(name, 1, function)
                for name, table in tables.items():
                    table.to_sql(name, connection, index=False)
                return pd.read_sql(query, connection)
        for name, table in tables.items():
            path = self.folder / f"{name}-{len(list(self.folder.iterdir()))}.parquet"
            table.to_parquet(path)
            self.session.read.parquet(str(path)).createOrReplaceTempView(name)
        found = self.session.sql(query.rstrip(";\n"))
        return pd.DataFrame([row.asDict() for row in found.collect()], columns=found.columns)


@pytest.fixture(scope="module", params=["duckdb", "sqlite", "spark"])
def database(request, tmp_path_factory):
    """Return a DuckDB or SQLite in memory, or a Spark session on one thread."""
    if request.param != "spark":
        return Database(request.param)
    pyspark = pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'cofactor[spark]'")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java")
    builder = pyspark.sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    request.addfinalizer(session.stop)
    return Database("spark", session, tmp_path_factory.mktemp("tables"))


def simulated(seed=0, n_tasks=60, ids=str):
    """Return labels of twelve workers and three classes, with ids that are text or whole numbers."""
    model = dawid_skene_model(12, 3, skill=0.6, random_state=seed)
    frame = crowd(model, n_tasks, 0.5, random_state=seed).labels.to_frame()
    if ids is int:
        return frame
    return pd.DataFrame({name: [f"{name} {code}" for code in frame[name]] for name in frame})


def counted(database, frame, **options):
    """Return the moments that a database counted."""
    return moments_of(database.run(Queries("labels", dialect=database.dialect, **options).counts(), labels=frame))


def assert_equal_moments(found, labels):
    """Counts to the last bit, vote shares to rounding."""
    expected = CrowdMoments.of(labels)
    assert (found.workers, found.classes) == (expected.workers, expected.classes)
    assert (found.pairs.counts != expected.pairs.counts).nnz == 0
    assert found.pairs.counts.nnz == expected.pairs.counts.nnz
    np.testing.assert_array_equal(found.pairs.singles, expected.pairs.singles)
    assert (found.n_tasks, found.votes.n_rows) == (expected.n_tasks, expected.votes.n_rows)
    np.testing.assert_allclose(found.votes.cells, expected.votes.cells, rtol=1e-12)
    np.testing.assert_allclose(found.votes.classes, expected.votes.classes, rtol=1e-12)


@pytest.mark.parametrize("ids", [str, int])
def test_counts_are_those_in_memory(database, ids):
    frame = simulated(ids=ids)
    assert_equal_moments(counted(database, frame), CrowdLabels.from_frame(frame))


def test_counts_of_a_real_crowd(database):
    labels = load("bluebird", "crowd").labels
    assert_equal_moments(counted(database, labels.to_frame()), labels)


@pytest.mark.parametrize("most", [2, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["MV-EM", "RobSymNMF-EM"])
def test_rounds_and_labels_are_those_in_memory(database, name, most):
    most = 2 if database.dialect == "spark" else most
    frame = simulated(n_tasks=200)
    labels = CrowdLabels.from_frame(frame)
    method = METHODS[name](random_state=0).fit(labels)
    queries = Queries("labels", dialect=database.dialect)
    fit = WarehouseFit.start(METHODS[name](random_state=0), counted(database, frame))
    objectives = []
    rounds = min(most, len(method.result_.objective))
    for _ in range(rounds):
        fit = fit.refined(database.run(queries.refine("model"), labels=frame, model=fit.model_table()))
        objectives.append(fit.objective)
    np.testing.assert_allclose(objectives, method.result_.objective[:rounds], rtol=1e-12)
    scored = database.run(queries.score("model"), labels=frame, model=fit.model_table()).set_index("task")
    scored = scored.loc[labels.tasks]
    posterior = fit.model.posterior(labels.table)
    np.testing.assert_allclose(scored["probability"], posterior.max(axis=1), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(scored["n_labels"], labels.table.entries_per_row)
    if rounds > 2:
        np.testing.assert_allclose(fit.model.stacked, method.model_.stacked, rtol=0, atol=1e-9)
        assert scored["label"].tolist() == [labels.classes[k] for k in method.predict(labels)]


def test_ties_go_to_the_larger_prior_then_to_the_first_class(database):
    frame = pd.DataFrame([("a", "x", "p"), ("a", "y", "q"), ("b", "x", "q"), ("b", "y", "q")])
    frame.columns = ["task", "worker", "label"]
    fit = WarehouseFit.start(METHODS["MV-EM"](), counted(database, frame))
    table = fit.model_table().assign(log_probability=np.log(0.5))
    query = Queries("labels", dialect=database.dialect).score("model")
    assert database.run(query, labels=frame, model=table).set_index("task")["label"].to_dict() == {"a": "p", "b": "p"}
    prior = table["worker"].isna() & (table["code"] == 1)
    table.loc[prior, "log_probability"] += 1e-12
    assert database.run(query, labels=frame, model=table).set_index("task")["label"].to_dict() == {"a": "q", "b": "q"}


@pytest.mark.parametrize("conflicts", ["first", "last"])
def test_conflicts_follow_the_option(database, conflicts):
    frame = simulated()
    again = frame.iloc[:20].assign(label=np.roll(frame["label"].iloc[:20], 1))
    both = pd.concat([frame, again, frame.iloc[:5]], ignore_index=True)
    with pytest.warns(DataWarning, match="25 labels were given again"):
        expected = CrowdLabels.from_frame(both, conflicts=conflicts)
    table = both.assign(at=np.arange(len(both))).sample(frac=1, random_state=0)
    assert_equal_moments(counted(database, table, conflicts=conflicts, order="at"), expected)


def test_repeated_labels_count_once_and_conflicts_are_refused(database):
    frame = simulated()
    repeated = pd.concat([frame, frame.iloc[:9]], ignore_index=True)
    assert_equal_moments(counted(database, repeated), CrowdLabels.from_frame(frame))
    worker, label = frame.loc[0, ["worker", "label"]]
    other = next(known for known in frame["label"].unique() if known != label)
    clash = pd.concat([frame, frame.iloc[:1].assign(label=other)], ignore_index=True)
    with pytest.raises(CofactorError, match=f"conflicting labels: worker '{worker}' on 1 tasks"):
        counted(database, clash)


def test_rows_without_a_label_are_refused(database):
    frame = simulated()
    frame.loc[[3, 4], "label"] = [None, " NaN "]
    frame.loc[5, "worker"] = "  "
    with pytest.raises(CofactorError, match="3 rows of the table have no task"):
        counted(database, frame)


# ---- on DuckDB alone ----


DUCK = Database("duckdb")


def counts_of(frame, **options):
    """Return the rows that DuckDB counts."""
    return DUCK.run(Queries("labels", **options).counts(), labels=frame)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda rows: rows.drop(columns="size"), "no column size"),
        (lambda rows: rows.drop(rows.index[rows["what"] == "pair"][:1]), "pairs, the votes tell of"),
        (lambda rows: rows.drop(rows.index[rows["what"] == "vote"][:1]), "rows of votes are missing"),
        (lambda rows: rows.assign(n=rows["n"].astype(object).mask(rows.index == 0, "x")), "column n must hold numbers"),
        (lambda rows: rows.assign(n=rows["n"].mask(rows["what"] == "vote", 0)), "at least 1"),
        (lambda rows: rows.replace({"other_worker": {"worker 3": "who"}}), "not among those counted: 'who'"),
        (lambda rows: rows[rows["what"] == "missing"], "there are no votes"),
    ],
)
def test_counts_that_are_damaged_are_refused(spoil, message):
    with pytest.raises(CofactorError, match=message):
        moments_of(spoil(counts_of(simulated())))


def test_sums_of_other_labels_or_without_a_part_are_refused():
    frame = simulated()
    fit = WarehouseFit.start(METHODS["MV-EM"](), moments_of(counts_of(frame)))
    query = Queries("labels").refine("model")
    sums = DUCK.run(query, labels=frame, model=fit.model_table())
    with pytest.raises(CofactorError, match="count these shards"):
        fit.refined(DUCK.run(query, labels=frame.iloc[:-1], model=fit.model_table()))
    with pytest.raises(CofactorError, match="no rows of evidence"):
        fit.refined(sums[sums["what"] != "evidence"])
    with pytest.raises(CofactorError, match="rows are missing"):
        fit.refined(sums.drop(sums.index[sums["what"] == "cell"][0]))


def test_a_model_is_read_as_it_was_written(tmp_path):
    frame = simulated()
    fit = WarehouseFit.start(METHODS["RobSymNMF"](random_state=0), moments_of(counts_of(frame)))
    fit = fit.refined(DUCK.run(Queries("labels").refine("model"), labels=frame, model=fit.model_table()))
    fit.save(tmp_path / "model.npz")
    again = WarehouseFit.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.model.stacked, fit.model.stacked)
    np.testing.assert_array_equal(again.votes.cells, fit.votes.cells)
    assert (again.workers, again.classes, again.rounds, again.objective) == (
        *(fit.workers, fit.classes, 1, fit.objective),
    )
    assert again.pseudo_counts == fit.pseudo_counts
    (tmp_path / "other.npz").write_bytes(b"no model")
    with pytest.raises(CofactorError, match="other"):
        WarehouseFit.load(tmp_path / "other.npz")


def test_classes_are_named_by_the_votes():
    labels = load("bluebird", "crowd").labels
    method = METHODS["RobSymNMF"](random_state=0).fit(labels)
    swapped = method.model_.reorder([1, 0])
    np.testing.assert_array_equal(named_by_votes(swapped, CrowdMoments.of(labels).votes).stacked, method.model_.stacked)


def test_a_method_that_needs_the_labels_is_refused():
    with pytest.raises(CofactorError, match="GLAD needs more than counts"):
        WarehouseFit.start(METHODS["GLAD"](), moments_of(counts_of(simulated())))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dialect": "dbase"}, "no dialect 'dbase'"),
        ({"table": "labels; DROP TABLE labels"}, "no name of a table"),
        ({"columns": ("task", "worker)", "label")}, "no name of a table or column"),
        ({"conflicts": "first"}, "needs the column"),
        ({"order": "at"}, "has no use for the column"),
        ({"conflicts": "some"}, "say error, first or last"),
    ],
)
def test_names_that_cannot_be_are_refused(options, message):
    with pytest.raises(CofactorError, match=message):
        Queries(**({"table": "labels"} | options))


def test_names_in_quotes_are_kept():
    query = Queries('"my labels"', ('"Task id"', "worker", "label")).counts()
    frame = simulated().rename(columns={"task": "Task id"})
    assert_equal_moments(moments_of(DUCK.run(query, **{"my labels": frame})), CrowdLabels.from_frame(simulated()))


def test_names_may_be_words_of_sql_and_keep_the_capitals_that_a_database_gives_them():
    words = {"task": "user", "worker": "order", "label": "at"}
    frame = simulated().rename(columns=words)
    found = moments_of(DUCK.run(Queries("table_of", tuple(words.values())).counts(), table_of=frame))
    assert_equal_moments(found, CrowdLabels.from_frame(simulated()))
    given = {"postgres": ("At", '"at"'), "oracle": ("At", '"AT"'), "duckdb": ("At", '"At"'), "mysql": ("At", "`At`")}
    for dialect, (name, written) in (given | {"redshift": ('"At"', '"At"')}).items():
        assert f"{written} AS task" in Queries("labels", (name, "b", "c"), dialect=dialect).counts(), dialect


@pytest.mark.parametrize("dialect", ["postgres", "bigquery", "snowflake", "mysql", "tsql", "oracle", "redshift"])
def test_queries_are_written_for_other_databases(dialect):
    import sqlglot

    queries = Queries("labels", dialect=dialect)
    for text in (queries.counts(), queries.score("model"), queries.refine("model")):
        assert len(sqlglot.parse(text, read=dialect)) == 1

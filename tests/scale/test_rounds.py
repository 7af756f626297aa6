"""Rounds inside a database: fits and consensus are those in memory, on DuckDB, SQLite and Spark."""

import shutil
import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing
from dataclasses import astuple
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from cofactor import CofactorError
from cofactor.core.errors import DataWarning
from cofactor.core.latent_class import LatentClassModel
from cofactor.crowd import METHODS, CrowdLabels, WorkerTypes
from cofactor.crowd.copies import owners, without_copies_of
from cofactor.crowd.evidence import Evidence, GoldEvidence, gold_codes
from cofactor.crowd.tables import consensus_frame
from cofactor.crowd.voting import DawidSkene
from cofactor.data import load
from cofactor.simulate import crowd, dawid_skene_model
from cofactor_app.cli.warehouse import _check_place
from cofactor_app.scale import copies, doors, held
from cofactor_app.scale.coded import CODED, CodedLabels
from cofactor_app.scale.copies import merged_there, owners_of
from cofactor_app.scale.doors import opened
from cofactor_app.scale.known import apart, labels_of, sample_there, taken_out
from cofactor_app.scale.passes import Passes
from cofactor_app.scale.rounds import DatabaseEvidence, evidence_of, fit
from cofactor_app.scale.sharding import shard_labels
from cofactor_app.scale.threads import Threads
from cofactor_app.scale.verdicts import consensus
from tests.each import each

duckdb = pytest.importorskip("duckdb")


def drawn(seed, n_classes=3, n_tasks=80, share=0.4):
    """Labels of nine workers, one of whom says the same of all tasks, with ids that are text."""
    model = dawid_skene_model(9, n_classes, skill=0.5, random_state=seed)
    frame = crowd(model, n_tasks, share, random_state=seed).labels.to_frame()
    frame.loc[frame["worker"] == 0, "label"] = 0
    return pd.DataFrame({name: [f"{name[0]}{code}" for code in frame[name]] for name in frame})


def kept(frame, tmp_path, name="labels.db"):
    """Labels as a table of a file of DuckDB; its address."""
    path = tmp_path / name
    with duckdb.connect(str(path)) as base:
        base.register("given", frame)
        base.execute("CREATE OR REPLACE TABLE labels AS SELECT * FROM given")
    return f"duckdb:///{path}"


def in_memory(name, labels, **settings):
    """The method that a database runs, fitted in memory."""
    method = WorkerTypes(merge_copies=False, **settings) if name == "WorkerTypes" else METHODS[name](**settings)
    with warnings.catch_warnings(action="ignore"):
        return method.fit(labels)


def check_equal(door, frame, name, **settings):
    """Fit, and compare model, rounds and consensus with those in memory."""
    labels, coded = CrowdLabels.from_frame(frame), CodedLabels.of(door, "labels")
    expected = in_memory(name, labels, **settings)
    for here in (True, False):
        method = METHODS[name](**settings)
        with warnings.catch_warnings(action="ignore"):
            fit(method, coded, evidence_of(coded, here))
        check_same(method, expected, labels, name)
    check_consensus(door.ask(consensus(method, coded)), expected, labels, name)


def with_copies(frame, n_copies=2):
    """Add workers who copy: of each task of one, or of every other one, the same label."""
    chosen = frame[frame["worker"] == frame["worker"].max()]
    parts = [chosen.iloc[k % 2 :: 1 + k].assign(worker=f"copy {k}") for k in range(n_copies)]
    return pd.concat([frame, *parts], ignore_index=True)


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_copies_are_merged_as_in_memory(kind, tmp_path):
    frame = with_copies(drawn(5, 3, n_tasks=200, share=0.6))
    labels = CrowdLabels.from_frame(frame)
    with warnings.catch_warnings(action="ignore"):
        expected = WorkerTypes(**SHORT["WorkerTypes"]).fit(labels)
    assert expected.copies_ == [["copy 0", "copy 1", "w8"]]
    with opened(in_kind(kind, frame, tmp_path)) as door:
        coded = CodedLabels.of(door, "labels")
        owner, step = owners_of(coded)
        assert step == 1
        merged = merged_there(coded, owner)
        for here in (True, False):
            method = WorkerTypes(**SHORT["WorkerTypes"])
            with warnings.catch_warnings(action="ignore"):
                fit(method, merged, evidence_of(merged, here))
            check_same(method, expected, labels, "WorkerTypes")
            assert method.copies_ == expected.copies_
            assert method.labels_given_.tolist() == expected.labels_given_.tolist()
        check_consensus(door.ask(consensus(method, merged)), expected, labels, "WorkerTypes")


def test_copies_are_looked_for_among_some_tasks_where_labels_are_many(tmp_path, monkeypatch):
    frame = with_copies(drawn(5, 3, n_tasks=200, share=0.6))
    labels = CrowdLabels.from_frame(frame)
    with opened(kept(frame, tmp_path)) as door:
        coded = CodedLabels.of(door, "labels")
        monkeypatch.setattr(copies, "MOST_COMPARED", coded.n_labels // 2)
        passes = Passes(sharded(frame, tmp_path), Threads(2), 1e9)
        wanted = owners(labels.take_tasks(np.arange(0, labels.n_tasks, 3)).table)
        for source in (coded, passes):
            owner, step = owners_of(source)
            assert step == 3 and owner.tolist() == wanted.tolist()
        some = copies._of_shards(passes, 7)
        assert (some.indicator != labels.take_tasks(np.arange(0, labels.n_tasks, 7)).table.indicator).nnz == 0
        assert merged_there(coded, np.arange(len(owner))) is coded and passes.merged(np.arange(len(owner))) is passes


def sharded(frame, tmp_path):
    """Labels in shards."""
    frame.to_csv(tmp_path / "labels.csv", index=False)
    return shard_labels([tmp_path / "labels.csv"], tmp_path / "shards", n_shards=4)


def test_copies_are_merged_from_shards_as_in_memory(tmp_path):
    frame = with_copies(drawn(5, 3, n_tasks=200, share=0.6))
    labels, shards = CrowdLabels.from_frame(frame), sharded(frame, tmp_path)
    tasks = ["t3", "t11", "t150"]
    gold = dict.fromkeys(tasks, "l1")
    with warnings.catch_warnings(action="ignore"):
        expected, told = WorkerTypes().fit(labels), WorkerTypes().fit(labels, gold)
    for memory in (0.0, 1e9):  # read anew in every round, or held decoded
        passes = Passes(shards, Threads(2), memory)
        method = shards.fit(WorkerTypes(), shards.votes(passes), passes=passes)
        check_same(method, expected, labels, "WorkerTypes")
        assert method.copies_ == expected.copies_
        assert method.labels_given_.tolist() == expected.labels_given_.tolist()
        parts = zip(shards.consensus(method), shards.tables(lambda _, posterior: posterior, method), strict=True)
        found = [frame.assign(probability=posterior.max(axis=1)) for frame, posterior in parts]
        check_consensus(pd.concat(found, ignore_index=True), expected, labels, "WorkerTypes")
        merged = passes.merged(owners_of(passes)[0])
        some = labels_of(merged, tasks)
        evidence = apart(merged, some).told(gold_codes(gold, some))
        method = shards.fit(WorkerTypes(), evidence.start(), passes=merged, apart=evidence)
        check_same(method, told, labels, "WorkerTypes")
    apart_too = shards.fit(WorkerTypes(merge_copies=False), shards.votes())
    check_same(apart_too, in_memory("WorkerTypes", labels), labels, "WorkerTypes")


def check_same(method, expected, labels, name):
    """Compare model and rounds."""
    assert (method.workers_, method.classes_) == (labels.workers, labels.classes)
    if name == "WorkerTypes":
        np.testing.assert_allclose(method.design_effect_, expected.design_effect_, rtol=1e-6)
    assert method.result_.n_iter == expected.result_.n_iter
    np.testing.assert_allclose(method.result_.objective, expected.result_.objective, rtol=1e-9)
    np.testing.assert_allclose(method.model_.stacked, expected.model_.stacked, rtol=0, atol=1e-9)


def check_consensus(found, expected, labels, name):
    """Compare the label of every task."""
    posterior = expected.predict_proba(labels)
    table = consensus_frame(labels, posterior, expected).assign(probability=posterior.max(axis=1))
    found = found.set_index("task").loc[labels.tasks].reset_index()
    np.testing.assert_allclose(found["probability"].astype(float), table["probability"], rtol=0, atol=1e-9)
    for column in ("label", "n_labels", *(["disputed"] if name == "WorkerTypes" else [])):
        assert found[column].tolist() == table[column].tolist(), column


BOTH = ["WorkerTypes", "MV-EM"]
SHORT = {"WorkerTypes": {"design_effect": 0.5, "max_iter": 2}, "MV-EM": {"max_iter": 4}}


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_random_crowds_are_fitted_as_in_memory(name, n_classes, tmp_path):
    frame = drawn(n_classes, n_classes)
    with opened(kept(frame, tmp_path)) as door:
        check_equal(door, frame, name, **SHORT[name])


def check_sums(door, frame):
    """Compare each sum that a fit needs with that in memory, and two kinds that it needs for all workers or some."""
    labels, coded = CrowdLabels.from_frame(frame), CodedLabels.of(door, "labels")
    model, states = two_models(len(labels.workers))
    there, here = DatabaseEvidence(coded), Evidence.of(labels)
    assert_counts(there.start(), here.start())
    assert there.start() is there.votes
    for one in (model, states):
        assert_counts(there.e_step(one), here.e_step(one))
    np.testing.assert_allclose(there.agreement(model), here.agreement(model), rtol=1e-9)
    accuracies = np.linspace(0.5, 0.9, 3 * len(labels.workers)).reshape(-1, 3)
    one, other = (evidence.dependence(model, accuracies) for evidence in (there, here))
    np.testing.assert_allclose(astuple(one), astuple(other), rtol=1e-9)
    sure, wanted = (evidence.confidence(model, states) for evidence in (there, here))
    np.testing.assert_allclose(sure.by_difficulty, wanted.by_difficulty, rtol=1e-9)
    np.testing.assert_allclose(sure.tempered, wanted.tempered, rtol=1e-9)


def two_models(n_workers):
    """A model of three classes, one class of one worker impossible, and one of six states."""
    model = dawid_skene_model(n_workers, 3, skill=0.5, random_state=1)
    random = np.random.default_rng(0)
    stacked = random.dirichlet(np.ones(3), (n_workers, 6)).swapaxes(1, 2).reshape(3 * n_workers, 6)
    return model, LatentClassModel.from_stacked(random.dirichlet(np.ones(6)), stacked, np.full(n_workers, 3))


def assert_counts(found, expected):
    """Compare soft counts of all kinds."""
    np.testing.assert_allclose(found.cells, expected.cells, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.classes, expected.classes, rtol=1e-9)
    assert (found.n_rows, found.sizes.tolist()) == (expected.n_rows, expected.sizes.tolist())
    np.testing.assert_allclose(found.log_likelihood, expected.log_likelihood, rtol=1e-9)


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_every_sum_is_that_in_memory(kind, tmp_path):
    frame = drawn(3)
    with opened(in_kind(kind, frame, tmp_path)) as door:
        check_sums(door, frame)


@pytest.mark.slow
@each("name", BOTH)
@each("seed", range(3, 8))
def test_more_crowds_are_fitted_as_in_memory(name, seed, tmp_path):
    frame = drawn(seed, 2 + seed % 4, n_tasks=150, share=0.3)
    with opened(kept(frame, tmp_path)) as door:
        check_equal(door, frame, name)


def test_a_bundled_set_is_fitted_as_in_memory(tmp_path):
    frame = load("bluebird", "crowd").labels.to_frame()
    with opened(kept(frame, tmp_path)) as door:
        check_equal(door, frame, "MV-EM", **SHORT["MV-EM"])


def test_labels_held_here_are_those_of_the_database_in_pieces_of_whole_tasks(tmp_path, monkeypatch):
    frame = drawn(3)
    labels = CrowdLabels.from_frame(frame)
    with opened(kept(frame, tmp_path)) as door:
        coded = CodedLabels.of(door, "labels")
        for n_tasks in (1, 7, 1000):
            monkeypatch.setattr(held, "PER_PIECE", n_tasks)
            found = list(held.HeldLabels(coded, Threads(2)))
            assert all(piece.table.n_rows <= n_tasks for piece in found)
            F = sparse.vstack([piece.table.indicator for piece in found])
            assert (labels.table.indicator != F).nnz == 0
        for change in ("INSERT INTO {0} SELECT * FROM {0} LIMIT 1", "DELETE FROM {0} WHERE cell < 0"):
            door.run(change.format(CODED))
            with pytest.raises(CofactorError, match="was changed meanwhile"):
                held.HeldLabels(coded)


def test_by_address_of_sqlalchemy_it_is_the_same(tmp_path):
    """SQLite stands for the databases that have no door of their own."""
    library = pytest.importorskip("sqlalchemy")
    frame = drawn(2)
    engine = library.create_engine(f"sqlite:///{tmp_path / 'labels.sqlite'}")
    frame.to_sql("labels", engine, index=False)
    engine.dispose()
    for name in BOTH:
        with opened(f"sqlite:///{tmp_path / 'labels.sqlite'}") as door:
            check_equal(door, frame, name, **SHORT[name])
    with pytest.raises(CofactorError, match="no such file"), opened(f"sqlite:////{tmp_path}/none/none.sqlite"):
        pass


def test_a_query_is_translated_once(tmp_path):
    """Rounds ask the same again and again, and a translation takes longer than the answer of a small table."""
    pytest.importorskip("sqlalchemy")
    with opened(in_sqlite(drawn(2), tmp_path / "labels.sqlite")) as door:
        text = "SELECT 1 AS once_only"
        assert door.translated(text) == door.translated(text)
        with mock.patch.object(doors, "sqlglot"):
            assert "once_only" in door.translated(text)


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """A Spark session on one thread, whose tables lie in a folder of its own."""
    pyspark = pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'cofactor[spark]'")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java")
    folder = tmp_path_factory.mktemp("spark")
    builder = pyspark.sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.warehouse.dir", str(folder)).config("spark.sql.shuffle.partitions", "2")
    session = builder.getOrCreate()
    yield session
    session.stop()


def shown(session, frame):
    """Labels as a view of Spark."""
    pa = pytest.importorskip("pyarrow")
    session.createDataFrame(pa.Table.from_pandas(frame)).createOrReplaceTempView("labels")


@pytest.mark.slow
def test_on_spark_it_is_the_same(spark):
    """A few rounds of MV-EM and its consensus, and each sum that the default needs besides."""
    frame = drawn(2)
    shown(spark, frame)
    labels = CrowdLabels.from_frame(frame)
    with opened("spark") as door, warnings.catch_warnings(action="ignore"):
        coded = CodedLabels.of(door, "labels")
        method, expected = DawidSkene(max_iter=2), DawidSkene(max_iter=2).fit(labels)
        found = door.ask(consensus(fit(method, coded), coded)).set_index("task").loc[labels.tasks]
        check_sums(door, frame)
    np.testing.assert_allclose(method.result_.objective, expected.result_.objective, rtol=1e-12)
    np.testing.assert_allclose(found["probability"], expected.predict_proba(labels).max(axis=1), rtol=0, atol=1e-9)


@pytest.mark.slow
def test_gold_tasks_and_copies_on_spark(spark, monkeypatch):
    """A round of the default, told of some gold tasks, with a worker who is there three times."""
    monkeypatch.setattr(doors, "BUCKETS", 2)  # each is a task of Spark's in every query
    frame = with_copies(drawn(5, 3, n_tasks=200, share=0.6))
    shown(spark, frame)
    labels = CrowdLabels.from_frame(frame)
    told = [task for task in labels.tasks if task < "t12"]
    gold = np.array([k % 3 if task in told else -1 for k, task in enumerate(labels.tasks)])
    settings = {"design_effect": 0.5, "max_iter": 1}
    with opened("spark") as door, warnings.catch_warnings(action="ignore"):
        coded = CodedLabels.of(door, "labels")
        owner, _ = owners_of(coded)
        known, rest = taken_out(coded, told)
        rest = merged_there(rest, owner)
        evidence = GoldEvidence(evidence_of(rest), without_copies_of(known, owner))
        codes = np.array([gold[labels.tasks.index(task)] for task in known.tasks])
        method = fit(WorkerTypes(**settings), rest, evidence.told(codes))
        expected = WorkerTypes(**settings).fit(labels, gold=gold)
        check_same(method, expected, labels, "WorkerTypes")
        check_consensus(door.ask(consensus(method, rest, known)), expected, labels, "WorkerTypes")
    assert method.copies_ == [["copy 0", "copy 1", "w8"]] and method.gold_ == expected.gold_
    assert not [table.name for table in spark.catalog.listTables() if table.name.startswith(CODED)]


@pytest.mark.slow
def test_a_round_on_spark_moves_partial_sums_alone(spark):
    """The labels lie in buckets by task: the plan has one exchange, by cell, besides the model that goes everywhere."""
    shown(spark, drawn(2))
    with opened("spark") as door:
        coded = CodedLabels.of(door, "labels")
        asked, ask = [], door.ask
        door.ask = lambda query: asked.append(query) or ask(query)
        evidence = DatabaseEvidence(coded)
        evidence.e_step(evidence.start().model(0.1))
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "4000")  # bytes: the labels are larger, the model is not
        plan = spark.sql(f"EXPLAIN {door.translated(asked[-1])}").collect()[0][0]
    exchanges = [line.strip() for line in plan.splitlines() if "Exchange hashpartitioning" in line]
    spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    assert "SortMergeJoin [task#" in plan and len(exchanges) == 1 and "(cell#" in exchanges[0], plan
    assert "Exchange rangepartitioning" not in plan and "Exchange SinglePartition" not in plan


def refused(frame, tmp_path, **options):
    with opened(kept(frame, tmp_path)) as door, pytest.raises(CofactorError) as told:
        CodedLabels.of(door, "labels", **options)
    return str(told.value)


FOUR = [("a", "x", "p"), ("a", "y", "q"), ("b", "x", "q"), ("b", "y", "q")]


def test_empty_rows_are_counted_and_refused(tmp_path):
    frame = pd.DataFrame(FOUR, columns=["task", "worker", "label"])
    for role, empty in (("task", None), ("task", "\u00a0"), ("worker", " "), ("label", None), ("label", "NA")):
        bad = pd.concat([frame, frame.iloc[:1].assign(**{role: [empty]})])
        assert refused(bad, tmp_path).startswith("1 of 5 rows of the table have no task, no worker or no label")


def test_conflicts_and_one_class_are_counted_and_refused(tmp_path):
    frame = pd.DataFrame(FOUR, columns=["task", "worker", "label"])
    clash = pd.concat([frame, pd.DataFrame([("a", "x", "q"), ("b", "x", "p")], columns=list(frame))])
    assert refused(clash, tmp_path).startswith("conflicting labels: worker 'x' on 2 tasks")
    assert "needs a column updated_at" in refused(clash, tmp_path, conflicts="first")
    assert refused(frame.assign(label="p"), tmp_path).startswith("only one class")
    assert refused(frame.iloc[:0], tmp_path) == "no labels: the table has no rows"


def test_rounds_are_computed_where_the_labels_lie_unless_asked_otherwise(tmp_path):
    with opened(kept(drawn(2), tmp_path)) as door:
        coded = CodedLabels.of(door, "labels")
        found = [isinstance(evidence_of(coded, here), DatabaseEvidence) for here in (None, True, False)]
        door.here = False
        assert [*found, isinstance(evidence_of(coded), DatabaseEvidence)] == [False, False, True, True]


def test_a_sample_is_one_task_in_as_many_as_leaves_few_labels(tmp_path):
    frame = drawn(2)
    labels = CrowdLabels.from_frame(frame)
    with opened(kept(frame, tmp_path)) as door:
        coded = CodedLabels.of(door, "labels")
        for n_labels, wanted in ((len(frame), 1), (len(frame) - 1, 2), (len(frame) // 4, 5)):
            found, step = sample_there(coded, n_labels)
            expected = labels.take_tasks(np.arange(0, labels.n_tasks, step))
            assert (step, found.n_tasks) == (wanted, expected.n_tasks)
            assert (found.table.indicator != expected.table.indicator).nnz == 0


def test_workers_and_classes_that_look_alike_are_told(tmp_path):
    frame = drawn(2)
    frame = frame.assign(task="t" + frame["task"].astype(str).str.removeprefix("t"))
    old_task = frame["task"][0]
    for column, old, what in (("worker", "w3", "workers"), ("label", "l1", "classes"), ("task", old_task, "tasks")):
        alike = frame.assign(**{column: frame[column].where(frame.index % 2 > 0, frame[column].str.replace(old, "W3"))})
        alike = alike.replace({column: {old: "w3"}})
        with opened(kept(alike, tmp_path)) as door, pytest.warns(DataWarning, match=f"{what}.*look alike"):
            CodedLabels.of(door, "labels")


def test_a_header_among_the_rows_of_a_table_is_told(tmp_path):
    frame = drawn(2).astype(str)
    for row in (["Task", "worker", "label"], ["worker", "item", "answer"]):
        table = pd.concat([frame, pd.DataFrame([row], columns=["task", "worker", "label"])])
        said = rf"1 rows of the table name its columns, as a header does \({', '.join(row)}\), and count as labels"
        with opened(kept(table, tmp_path)) as door, pytest.warns(DataWarning, match=said):
            CodedLabels.of(door, "labels")
    table = pd.concat([frame, pd.DataFrame([["t0", "item", "answer"]], columns=["task", "worker", "label"])])
    with opened(kept(table, tmp_path)) as door, warnings.catch_warnings(action="error"):
        CodedLabels.of(door, "labels")


def test_of_labels_in_conflict_the_time_decides(tmp_path):
    frame = drawn(2).assign(updated_at=1)
    again = frame.iloc[:20].assign(label="l1", updated_at=0)
    for conflicts, kept_rows in (("first", again), ("last", frame.iloc[:20])):
        with opened(kept(pd.concat([frame, again]), tmp_path)) as door, pytest.warns(DataWarning, match="20 labels"):
            coded = CodedLabels.of(door, "labels", conflicts=conflicts)
            votes = np.rint(DatabaseEvidence(coded).start().cells.sum(axis=1))
        expected = CrowdLabels.from_frame(pd.concat([kept_rows, frame.iloc[20:]]))
        assert coded.n_labels == len(frame)
        np.testing.assert_array_equal(votes, np.bincount(expected.table.indicator.indices, minlength=len(votes)))


def test_labels_in_conflict_at_the_same_time_are_refused(tmp_path):
    """Which of them came first nobody knows, and the database's choice would change from run to run."""
    frame = drawn(2).assign(updated_at=1)
    both = pd.concat([frame, frame.iloc[:2].assign(label=frame["label"].iloc[:2].map({"l0": "l1", "l1": "l0"}))])
    for conflicts in ("first", "last"):
        told = refused(both, tmp_path, conflicts=conflicts)
        assert told.startswith("conflicting labels with the same updated_at: worker"), told


def test_ids_are_taken_as_from_files(tmp_path):
    rows = [(" a", 7.0, "1"), ("a ", 8.0, " 2"), ("b", 7.0, "2 "), ("b", 8.0, "2")]
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    with opened(kept(frame, tmp_path)) as door:
        coded = CodedLabels.of(door, "labels")
    assert (coded.classes, coded.n_tasks, coded.n_labels) == ([1, 2], 2, 4)


def test_other_methods_and_addresses_are_refused(tmp_path):
    with opened(kept(drawn(2), tmp_path)) as door, pytest.raises(CofactorError, match="work WorkerTypes and MV-EM"):
        fit(METHODS["IBCC"](), CodedLabels.of(door, "labels"))
    for address, told in (
        ("labels.db", "give an address"),
        (f"duckdb:///{tmp_path}/none.db", "no such file"),
    ):
        with pytest.raises(CofactorError, match=told), opened(address):
            pass


def test_a_table_that_is_not_there_is_one_sentence(tmp_path):
    with opened(kept(drawn(2), tmp_path)) as door:
        for table, told in (("none", "name the table of the labels by --table"), ("a'b", "is no name of a table")):
            with pytest.raises(CofactorError, match=told):
                CodedLabels.of(door, table)
        with pytest.raises(CofactorError, match="has the columns task, worker, label: name those of the labels"):
            CodedLabels.of(door, "labels", ("item", "worker", "label"))


def test_columns_are_named_as_the_table_has_them(tmp_path):
    pytest.importorskip("sqlalchemy")
    names = ("Task id", "order", "select")
    frame = drawn(2)
    odd = frame.set_axis(list(names), axis=1)
    for address in (kept(odd, tmp_path), in_sqlite(odd, tmp_path / "odd.sqlite")):
        with opened(address) as door:
            coded = CodedLabels.of(door, "labels", names)
            assert coded.n_labels == len(frame) and coded.workers == sorted(set(frame["worker"]))


def in_sqlite(frame, path):
    """Labels as a table of a file of SQLite; its address."""
    with closing(sqlite3.connect(path)) as base:
        frame.to_sql("labels", base, index=False)
        base.commit()
    return f"sqlite:///{path}"


def in_kind(kind, frame, folder):
    """Labels as a table of a file of DuckDB or SQLite; its address."""
    if kind == "duckdb":
        return kept(frame, folder)
    pytest.importorskip("sqlalchemy")
    return in_sqlite(frame, folder / "labels.sqlite")


@pytest.fixture(params=["duckdb", "sqlite"])
def address(request, tmp_path):
    """A database of labels, of each kind."""
    return in_kind(request.param, drawn(2), tmp_path)


def test_a_table_is_replaced_whole_or_not_at_all(address):
    with opened(address) as door:
        door.write("found", "SELECT 1 AS n")
        door.write("found", "SELECT 2 AS n", replace=True)
    for query, replace in (("SELECT no_such_column AS n", True), ("SELECT 3 AS n", False)):
        with pytest.raises(CofactorError, match="the database refuses"), opened(address) as door:
            door.write("found", query, replace)
    with opened(address) as door:
        assert door.ask("SELECT n FROM found")["n"].tolist() == [2]
        door.check_place("another")
        with pytest.raises(CofactorError, match="another"):
            door.ask("SELECT * FROM another")


KILLED = """
import os, sys
from cofactor_app.cli.warehouse import _check_place
from cofactor_app.scale.coded import CodedLabels
from cofactor_app.scale.doors import opened

with opened(sys.argv[1]) as door:
    CodedLabels.of(door, "labels")
    run = door.run
    door.run = lambda query: (run(query), query.startswith("DROP TABLE IF EXISTS found") and os._exit(9))
    door.write("found", "SELECT 2 AS n", replace=True)
"""


def test_a_run_that_is_killed_leaves_the_tables_as_they_were(address):
    """It is killed between the removal of the old table and the making of the new one."""
    with opened(address) as door:
        door.write("found", "SELECT 1 AS n")
        labels = door.ask("SELECT * FROM labels ORDER BY task, worker")
    assert subprocess.run([sys.executable, "-c", KILLED, address], timeout=120).returncode == 9
    catalogue = "sqlite_master" if address.startswith("sqlite") else "duckdb_tables()"
    with opened(address) as door:
        assert door.ask("SELECT n FROM found")["n"].tolist() == [1]
        pd.testing.assert_frame_equal(door.ask("SELECT * FROM labels ORDER BY task, worker"), labels)
        column = "name" if address.startswith("sqlite") else "table_name"
        assert sorted(door.ask(f"SELECT {column} FROM {catalogue}")[column]) == ["found", "labels"]


def test_others_may_write_while_rounds_run_in_sqlite(tmp_path):
    pytest.importorskip("sqlalchemy")
    path = tmp_path / "labels.sqlite"
    with opened(in_sqlite(drawn(2), path)) as door:
        fit(METHODS["MV-EM"](), CodedLabels.of(door, "labels"))
        with closing(sqlite3.connect(path, timeout=0)) as other:
            other.execute("INSERT INTO labels SELECT * FROM labels LIMIT 1")
            other.commit()


def test_too_little_memory_is_no_fault_of_a_table(tmp_path):
    with opened(kept(drawn(2), tmp_path)) as door:
        door.run("SET memory_limit = '1MB'")
        with pytest.raises(MemoryError, match="Out of Memory"):
            door.ask("SELECT * FROM range(1000000) ORDER BY random()")
        with mock.patch.object(door, "_ask", side_effect=MemoryError), pytest.raises(MemoryError):
            _check_place(door, "found", force=True)


def test_sqlite_waits_for_another_writer_as_long_as_for_a_file_unless_told_otherwise(tmp_path):
    pytest.importorskip("sqlalchemy")
    address = in_sqlite(drawn(2), tmp_path / "labels.sqlite")
    for asked, waits in [("", 60_000), ("?timeout=0.1", 100)]:
        with opened(address + asked) as door:
            assert door.ask("PRAGMA busy_timeout").squeeze() == waits


def test_sqlite_is_given_the_functions_that_some_builds_lack(tmp_path):
    pytest.importorskip("sqlalchemy")
    with opened(in_sqlite(drawn(2), tmp_path / "labels.sqlite")) as door:
        query = "SELECT LOWER(name), narg FROM pragma_function_list WHERE NOT builtin"
        found = set(map(tuple, door.connection.exec_driver_sql(query).fetchall()))
        given = {("ln", 1), ("exp", 1), ("power", 2), ("sqrt", 1)}
        assert given <= found
        values = door.ask("SELECT LN(2.0) AS ln, EXP(2.0) AS exp, POWER(2.0, 3.0) AS power, SQRT(2.0) AS sqrt")
    assert values.iloc[0].tolist() == pytest.approx([np.log(2), np.exp(2), 8, np.sqrt(2)])


def test_sqlite_finds_the_labels_of_a_task_by_an_index(tmp_path):
    """Without one it compares every task with every label."""
    pytest.importorskip("sqlalchemy")
    with opened(in_sqlite(drawn(2), tmp_path / "labels.sqlite")) as door:
        coded = CodedLabels.of(door, "labels")
        asked, ask = [], door.ask
        door.ask = lambda query: asked.append(query) or ask(query)
        DatabaseEvidence(coded).start()
        plan = door.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {door.translated(asked[-1])}").fetchall()
    assert any("SEARCH c USING INDEX" in row[-1] for row in plan), plan


def test_a_file_of_sqlite_that_is_not_there_is_not_made(tmp_path):
    pytest.importorskip("sqlalchemy")
    with pytest.raises(CofactorError, match="no such file"), opened(f"sqlite:///{tmp_path}/none.sqlite"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_file_of_duckdb_that_is_only_read_is_open_to_others(tmp_path):
    address = kept(drawn(2), tmp_path)
    with opened(address, to_write=False) as one:
        fit(METHODS["MV-EM"](), CodedLabels.of(one, "labels"))
        with pytest.raises(CofactorError, match="read-only"):
            one.write("found", "SELECT 1 AS n")
        read = "import duckdb, sys; duckdb.connect(sys.argv[1], read_only=True)"
        subprocess.run([sys.executable, "-c", read, str(tmp_path / "labels.db")], check=True, timeout=60)


def test_a_file_that_another_program_writes_is_one_sentence(tmp_path):
    held = "import duckdb, sys; base = duckdb.connect(sys.argv[1]); print(flush=True); input()"
    address, told = kept(drawn(2), tmp_path), "another program has it open, so wait until that ends"
    words = [sys.executable, "-c", held, str(tmp_path / "labels.db")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        with pytest.raises(CofactorError, match=told), opened(address):
            pass
        other.communicate(b"\n")
    pytest.importorskip("sqlalchemy")
    address = in_sqlite(drawn(2), tmp_path / "labels.sqlite")
    with closing(sqlite3.connect(tmp_path / "labels.sqlite")) as other, opened(f"{address}?timeout=0.1") as door:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CofactorError, match=told):
            door.write("found", "SELECT 1 AS n")


def test_classes_that_look_like_no_answer_are_noted_with_their_labels_as_in_memory(tmp_path):
    for labels, told in {
        ("?", "no", "no", "?"): "class: '?' (2); if",
        (-999, 1, 1, 1): "class: '-999' (1); if",
        ("-", "+", "+", "-"): "",
    }.items():
        frame = pd.DataFrame({"task": [1, 1, 2, 2], "worker": ["a", "b"] * 2, "label": labels})
        with warnings.catch_warnings(record=True) as noted, opened(kept(frame, tmp_path)) as door:
            warnings.simplefilter("always")
            CodedLabels.of(door, "labels")
        said = [str(one.message) for one in noted if "no answer" in str(one.message)]
        assert len(said) == bool(told) and all(told in one for one in said), labels

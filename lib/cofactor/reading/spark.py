"""Labels on a Spark cluster: partitions hold complete tasks, and the in-memory fit runs on each of them.

Spark reads labels and groups them by task; every partition becomes one `Piece`, which stays there. A sum over tasks is
`rdd.map(f).treeReduce(add)` with the same functions as in memory, so only counts are transferred. Spark needs Java, and
the workers of a cluster need this package.
"""

from __future__ import annotations

import os
import pickle
import re
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import add
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from cofactor.core.cells import plain_numbers
from cofactor.core.errors import CofactorError, amount
from cofactor.core.lazy import pd
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Ints
from cofactor.crowd.copies import one_label_each, owners
from cofactor.crowd.fit import Evidence, Piece
from cofactor.crowd.labels import COLUMNS, UNKNOWN, CrowdLabels
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.model import Rows
from cofactor.reading.tables import cleaned

SAMPLED_LABELS = 2_000_000  # at most: what needs pairs of workers, or single rows, is looked at on so many
FORMS = {".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".jsonl": "json"}
MASTER = re.compile(r"local(\[(\d+|\*)\])?|yarn|(spark|k8s)://\S+")
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
T = TypeVar("T")
Part = tuple[Piece, list[Any]]  # whole tasks, and their ids


@dataclass(frozen=True)
class OnCluster:
    """Pieces in the partitions of a Spark RDD (see `cofactor.crowd.fit.Pieces`)."""

    rdd: Any

    def sum(self, f: Callable[[Piece], T]) -> T:
        """Apply f to every piece, and return the sum of the results, added up on the cluster."""
        found: T = self.rdd.map(f).treeReduce(add)
        return found

    def map(self, f: Callable[[Piece], Piece]) -> OnCluster:
        """Apply f to every piece; the resulting pieces stay on the cluster."""
        return OnCluster(self.rdd.map(f).persist())


class SparkLabels:
    """Labels of one crowd on a cluster.

    Attributes
    ----------
    workers, classes : lists of ids, in the order of the codes
    n_tasks, n_labels : int
    """

    def __init__(self, session: Any, parts: Any, workers: list[Any], classes: list[Any]) -> None:
        self.session, self.workers, self.classes = session, workers, classes
        amounts = parts.persist().map(lambda part: (part[0].table.n_rows, part[0].table.n_entries)).collect()
        first = np.cumsum([0, *(n for n, _ in amounts)]).tolist()
        self.n_tasks, self.n_labels = first[-1], sum(n for _, n in amounts)
        self.parts = (
            parts.zipWithIndex().map(lambda one: (replace(one[0][0], first=first[one[1]]), one[0][1])).persist()
        )

    def evidence(self, gold: dict[Any, int] | None = None) -> Evidence:
        """Return the sums that fits need; `gold` maps known tasks to class codes."""
        pieces = self.parts.map(partial(_with_gold, gold=gold or {})).persist()
        return Evidence(OnCluster(pieces), Rows.all(len(self.workers), len(self.classes)))

    def fit(self, gold: dict[Any, int] | None = None, verbose: bool = False) -> WorkerTypes:
        """Fit the default to all labels, merging copies found in a sample; `gold` maps known tasks to class codes."""
        method = WorkerTypes(verbose=verbose)
        if alone := method.words_that_never_meet(self.sample):
            raise CofactorError(f"{alone}; on Spark, remove or rename them beforehand")
        owner = owners(self.sample)
        evidence = self.evidence(gold)
        method.labels_given_ = evidence.pieces.sum(_given)
        if not np.array_equal(owner, np.arange(len(owner))):
            evidence = Evidence(evidence.pieces.map(partial(_merged, owner=owner)), evidence.rows)
        method.workers_, method.classes_, method.gold_ = self.workers, self.classes, gold or {}
        method.fit_evidence(evidence, owner)
        return method

    @cached_property
    def sample(self) -> CrowdLabels:
        """The labels of every m-th task, in memory: all labels, or at most about two million."""
        step = -(-self.n_labels // SAMPLED_LABELS)
        return self.here(self.parts.map(partial(_every, step=step)))

    def of_tasks(self, tasks: Collection[Any]) -> CrowdLabels:
        """Return the labels of these tasks, in memory; tasks without labels are ignored."""
        return self.here(self.parts.map(partial(_of_tasks, tasks=frozenset(tasks))))

    def here(self, parts: Any) -> CrowdLabels:
        """Collect the tasks of some partitions as labels in memory."""
        found = [part for part in parts.collect() if part[1]]
        lengths = np.concatenate([piece.table.entries_per_row for piece, _ in found])
        column = np.concatenate([piece.table.indicator.indices for piece, _ in found])
        sizes = np.full(len(self.workers), len(self.classes))
        table = CategoricalTable.of_columns(np.repeat(np.arange(len(lengths)), lengths), column, sizes, len(lengths))
        return CrowdLabels(table, [task for _, ids in found for task in ids], self.workers, self.classes)

    def write(self, answer: Callable[[CrowdLabels], pd.DataFrame], path: Path, overwrite: bool) -> None:
        """Apply `answer` to the labels of each partition, and write the results as a folder of Parquet, atomically."""
        frames = self.parts.map(partial(_answered, answer=answer, workers=self.workers, classes=self.classes)).persist()
        schema = self.session.createDataFrame(frames.first().head(1)).schema
        rows = frames.flatMap(lambda frame: frame.astype(object).to_numpy().tolist())
        mode = "overwrite" if overwrite else "errorifexists"
        self.session.createDataFrame(rows, schema).write.mode(mode).parquet(str(path))


def read_spark(master: str, path: str, columns: tuple[str, str, str] = COLUMNS) -> SparkLabels:
    """Read labels from a file or a folder of files with Spark.

    Parameters
    ----------
    master : address of a cluster, such as ``spark://host:7077``, or ``local[2]`` for two cores here
    path : one that all workers of the cluster can read, ending in .parquet, .csv, .tsv or .jsonl
    columns : names of task, worker and label

    Raises a CofactorError if PySpark or Java is missing, the format is another, a column is missing, cells are empty,
    or a worker gave a task two labels. Cost: the labels are sorted once; four bytes per label are kept.
    """
    try:
        from pyspark.sql import SparkSession, functions
    except ImportError:
        raise CofactorError("Spark needs PySpark and Java: pip install 'cofactor[spark]'") from None
    form = FORMS.get(Path(path).suffix.lower())
    if form is None:
        raise CofactorError(f"{path}: Spark reads files or folders whose names end in {', '.join(FORMS)}")
    if not MASTER.fullmatch(master):
        raise CofactorError(f"{master!r} is not a Spark master: use, for example, local[2] or spark://host:7077")
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark would take any python3
    quiet: dict[str, Any] = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    try:
        session = SparkSession.builder.master(master).appName("cofactor").config(map=quiet).getOrCreate()
    except Exception as error:  # of Java, or of the cluster
        raise CofactorError(f"Spark does not start at {master}: {' '.join(str(error).split())[:300]}") from None
    session.sparkContext.setLogLevel("ERROR")
    options = {"header": True, "sep": "\t" if path.endswith(".tsv") else ",", "escape": '"'} if form == "csv" else {}
    frame = session.read.options(**options).format(form).load(path)
    if missing := [name for name in columns if name not in frame.columns]:
        raise CofactorError(f"no column {missing[0]}; found {', '.join(frame.columns)}: set task, worker or label")
    texts = frame.select(*(functions.trim(functions.col(name).cast("string")).alias(name) for name in columns))
    workers, classes = (_distinct(texts, name) for name in columns[1:])
    code = [{text: n for n, text in enumerate(map(str, ids))} for ids in (workers, classes)]
    task = functions.col(columns[0])
    if texts.filter(~task.rlike(WHOLE)).isEmpty():  # ids that are whole numbers are sorted as such, as in memory
        texts = texts.withColumn(columns[0], task.cast("bigint"))
    grouped = texts.repartitionByRange(task).sortWithinPartitions(task)
    parts = grouped.mapInArrow(partial(_piece, code=code), "part binary").rdd.map(lambda row: pickle.loads(row.part))
    return SparkLabels(session, parts, workers, classes)


def _distinct(texts: Any, name: str) -> list[Any]:
    found = cleaned([one[0] for one in texts.select(name).distinct().collect()])
    if "" in found or None in found:
        empty = texts.filter(f"{name} IS NULL OR {name} = ''").count()
        raise CofactorError(f"missing {name} in {amount(empty, 'row')}: fill or drop them")
    return sorted(plain_numbers(found))


def _piece(batches: Iterator[Any], code: list[dict[str, int]]) -> Iterator[Any]:
    """Convert the rows of a partition, sorted by task, to one piece."""
    import pyarrow as pa

    some = list(batches)
    if not some:
        return
    table = pa.Table.from_batches(some)
    task, worker, label = (column.to_pylist() for column in table.columns)
    if None in task or "" in task:
        raise CofactorError("missing task in some rows: fill or drop them")
    row, ids = pd.factorize(np.array(task, dtype=object))
    K, M = len(code[1]), len(code[0])
    column = np.array([code[0][w] * K + code[1][k] for w, k in zip(worker, label, strict=True)])
    labelled = np.unique(np.stack([row, column]), axis=1)  # the same label given again counts once
    twice = (np.diff(labelled[0]) == 0) & (np.diff(labelled[1] // K) == 0)
    if twice.any():
        raise CofactorError(f"conflicting labels of one worker for task {ids[labelled[0][:-1][twice][0]]!r}: keep one")
    piece = Piece(CategoricalTable.of_columns(labelled[0], labelled[1], np.full(M, K), len(ids)))
    yield pa.record_batch({"part": pa.array([pickle.dumps((piece, ids.tolist()))], pa.binary())})


def _given(piece: Piece) -> Ints:
    return piece.table.entries_per_variable


def _merged(piece: Piece, owner: Ints) -> Piece:
    return replace(piece, table=one_label_each(piece.table, owner))


def _with_gold(part: Part, gold: dict[Any, int]) -> Piece:
    piece, tasks = part
    return replace(piece, gold=np.array([gold.get(task, UNKNOWN) for task in tasks])) if gold else piece


def _every(part: Part, step: int) -> Part:
    return part[0].every(step), part[1][-part[0].first % step :: step]


def _of_tasks(part: Part, tasks: frozenset[Any]) -> Part:
    mine = [n for n, task in enumerate(part[1]) if task in tasks]
    return replace(part[0], table=part[0].table.take_rows(np.array(mine, dtype=np.int64))), [part[1][n] for n in mine]


def _answered(part: Part, answer: Any, workers: list[Any], classes: list[Any]) -> pd.DataFrame:
    found: pd.DataFrame = answer(CrowdLabels(part[0].table, part[1], workers, classes))
    return found

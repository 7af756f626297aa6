"""``aggregate`` on a Spark cluster: the default is fitted to all labels there; a sample stands for single rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError
from cofactor.core.lazy import pd
from cofactor.core.types import Ints
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.method import WorkerTypes
from cofactor.reading.spark import SparkLabels, read_spark
from cofactor.reading.truth import codes_of, read_task_and_truth, without_strange
from cofactor.verbs.consensus import Consensus, consensus_frame, doubt, errors_of, judged_by, notes_of
from cofactor.verbs.result import is_path, noting


@dataclass(repr=False, eq=False)
class ClusterConsensus(Consensus):
    """Result of `aggregate` on a cluster: `crowd` and `labels` are of a sample where there are many; `write` has all.

    Attributes
    ----------
    on_spark : SparkLabels
        All labels.
    judged : (CrowdLabels, codes) or None
        Labels of the tasks of known truth, and that truth.
    """

    on_spark: SparkLabels | None = None
    judged: tuple[CrowdLabels, Ints] | None = None

    def write(self, path: Path, overwrite: bool = False) -> None:
        """Write the labels of all tasks as a folder of parquet, atomically."""
        assert self.on_spark is not None and isinstance(self.method, WorkerTypes)
        self.on_spark.write(partial(_table, method=self.method), path, overwrite)

    @cached_property
    def errors(self) -> tuple[float, float, int] | None:
        """Error rates of the method and of the vote, and the number of tasks of known truth."""
        if self.judged is None:
            return None
        labels, truth = self.judged
        return errors_of(self.method, self.method.predict_proba(labels), labels, truth)


def on_cluster(
    master: str,
    path: str,
    columns: tuple[str, str, str],
    gold: Any,
    truth: Any,
    encoding: str,
    draws: int,
    verbose: bool,
) -> ClusterConsensus:
    """Fit the default to all labels of a file or folder that Spark reads; see `aggregate`."""
    if not all(known is None or is_path(known) for known in (gold, truth)):
        raise CofactorError("with spark, gold and truth are files")
    notes, warned = list[str](), list[str]()
    with noting(notes, warned):
        labels = read_spark(master, path, columns)
        told: dict[Any, int] = {}
        if gold is not None:
            known, codes = _known(gold, labels, encoding)
            told = {task: code for task, code in zip(known.tasks, codes.tolist(), strict=True) if code >= 0}
        method = labels.fit(told, verbose=verbose)
        some, judged = labels.sample, None
        if truth is not None:
            known, codes = _known(truth, labels, encoding)
            left = judged_by(codes, np.array([told.get(task, -1) for task in known.tasks]))
            judged = None if left is None else (known, left)
        posterior = method.predict_proba(some)
    if some.n_tasks < labels.n_tasks:
        notes.append(f"classes and workers are those of a sample of {some.n_tasks:,} tasks; the fit is of all")
    table = consensus_frame(some, posterior, method)
    known_to_result = {"draws": draws, "notes": notes, "warnings": warned, "on_spark": labels, "judged": judged}
    found = ClusterConsensus(path, type(method).__name__, method, some, posterior, table, **known_to_result)  # type: ignore[arg-type]
    doubt(found, path)
    notes += [note for note in notes_of(found) if note not in notes]
    return found


def _known(path: Any, labels: SparkLabels, encoding: str) -> tuple[CrowdLabels, Ints]:
    """Return the labels of the tasks of a file of true classes, and these as codes."""
    frame = read_task_and_truth(path, encoding)
    tasks = set(frame["task"])
    known = labels.of_tasks({*tasks, *(int(task) for task in tasks if task.isdigit())})
    return known, without_strange(codes_of(frame, known, path), known, path)


def _table(labels: CrowdLabels, method: WorkerTypes) -> pd.DataFrame:
    return consensus_frame(labels, method.predict_proba(labels), method)

"""``aggregate``: from crowd labels to one label per task, with its probability, and the accuracy of each worker."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from cofactor.core.cells import Spelling
from cofactor.core.checks import check_whole, unmasked
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.estimator import clone
from cofactor.core.lazy import pd
from cofactor.core.types import Ints, Seed
from cofactor.crowd.aggregators import MajorityVote, Outside
from cofactor.crowd.base import Aggregator, Gold, gold_codes
from cofactor.crowd.labels import COLUMNS, Conflicts, CrowdLabels, in_declared_order
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.readings import believed, readings
from cofactor.reading.labels import of_table, read_database, read_labels
from cofactor.reading.tables import read_frame
from cofactor.reading.truth import codes_of, read_task_and_truth, read_truth, without_strange
from cofactor.registry import Methods, names
from cofactor.verbs.consensus import DRAWS, Consensus, consensus_frame, doubt, errors_of, judged_by, notes_of
from cofactor.verbs.result import as_frame, frame_like, is_path, named_source, noting, paths_of

if TYPE_CHECKING:
    from cofactor.reading.spark import SparkLabels

METHODS = Methods("crowd")
DEFAULT = "WorkerTypes"
NAMED_FILES = 4  # more are counted


def aggregate(
    source: Any = None,
    *,
    task: str | None = None,
    worker: str | None = None,
    label: str | None = None,
    classes: Sequence[Any] | None = None,
    ignore: Sequence[Any] = (),
    conflicts: Conflicts = "error",
    spelling: Spelling = "classes",
    skip_bad: bool = False,
    method: str | Aggregator = DEFAULT,
    gold: Any = None,
    truth: Any = None,
    order: Sequence[Any] | str | None = None,
    group: Any = None,
    database: str | None = None,
    query: str = "",
    spark: str | None = None,
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    draws: int = DRAWS,
    random_state: Seed = 0,
    verbose: bool = False,
) -> Consensus:
    """Infer one label per task, with its probability, from labels of several workers.

    Parameters
    ----------
    source : path, several paths, name of a data set, DataFrame, CrowdLabels, (task, worker, label) or an (n, 3) array
        Long tables, tables with one column per worker, or exports of labelling tools; see `CrowdLabels.from_file`. A
        DataFrame can be from pandas, polars, pyarrow or any library with `to_pandas` or `__arrow_c_stream__`.
    task, worker, label : names of columns that are not recognised
    classes, ignore, conflicts : as in `CrowdLabels.from_frame`
    spelling : {"classes", "keep", "all"}
        Which names are merged if they differ only in capitals, surrounding blanks or invisible characters.
    skip_bad : bool
        Leave out rows without task, worker or label, or with a label outside `classes`, and name them.
    method : str or Aggregator
        A name in `cf.crowd.METHODS`, `FILE.py:NAME` or `PACKAGE.MODULE:NAME` (see `cf.crowd.Outside`), or an estimator
        of cofactor with its settings.
    gold, truth : path or DataFrame with task and truth, dict from task to class, or (N,) class codes, -1 where unknown
        Known classes: gold is used in the fit, truth only measures the error. Their task column may also have the name
        given by `task`.
    order : classes from lowest to highest, or a comma-separated string of them
        Treat classes as grades; the answer is the median grade.
    group : path or DataFrame with columns worker and group, or a dict from worker to group
        The family or source of each worker; a model in which each group counts as one worker is then compared.
    database, query : address of a database and SQL that returns the columns, instead of `source`
    spark : address of a Spark cluster, such as "local[2]", which reads one file or folder and fits there
    encoding, sep : encoding and column separator of text files
    draws : int
        Number of refits for the intervals of workers: at least 2, or 0 for no intervals.
    random_state : seed
        For methods that use random numbers. The default uses none, and intervals of workers have their own seed.
    verbose : bool
        Show progress.

    Returns a `Consensus`. Every task with a label has a row, sorted by id; anything left out is named in the notes.

    Raises a CofactorError if the labels cannot be read or fitted. Warns (`DataWarning`) about problems in the data, and
    about anything that makes the answer uncertain. Cost: one fit, and for the default those of `cf.crowd.readings`.

    >>> rows = [("a", "ann", "cat"), ("a", "ben", "cat"), ("a", "cy", "dog"), ("b", "ann", "dog"), ("b", "ben", "dog")]
    >>> aggregate(pd.DataFrame(rows, columns=["task", "worker", "label"])).labels[["task", "label", "n_labels"]]
      task label  n_labels
    0    a   cat         3
    1    b   dog         2
    """
    if (source is None) == (database is None):
        raise CofactorError("give the labels either as files or a data set, or as a database with a query")
    if query and database is None:
        raise CofactorError("query needs a database: give its address as database")
    if draws != 0:
        check_whole(2, draws=draws)
    name = _name_of(method, order, group)
    columns = {"task": task, "worker": worker, "label": label}
    if spark is not None:
        if not (method == DEFAULT and len(paths_of(source)) == 1):
            raise CofactorError(f"with spark, only {DEFAULT} can be fitted, and only to one file or folder")
        given = {"order": order is not None, "group": group is not None, "conflicts": conflicts != "error"}
        given |= {"classes": classes is not None, "ignore": len(ignore) > 0, "spelling": spelling != "classes"}
        given |= {"skip_bad": skip_bad, "sep": sep is not None}
        if unused := [option for option, used in given.items() if used]:
            raise CofactorError(
                f"spark does not support {listing(unused)}: prepare the file beforehand, or leave spark out"
            )
        return _on_cluster(spark, paths_of(source)[0], _columns(columns), gold, truth, encoding, draws, verbose)
    notes, warned = list[str](), list[str]()
    with noting(notes, []):
        how = {"classes": classes, "ignore": ignore, "conflicts": conflicts, "spelling": spelling, "skip_bad": skip_bad}
        crowd, own = read_crowd(source, columns, how, encoding, sep, database, query)
        if order is not None:
            crowd, own = in_declared_order(order, crowd, own)
        right = own if truth is None else known_classes(truth, crowd, encoding, sep, task or "task")
        told = _gold_of(gold, crowd, encoding, sep, task or "task")
        families = group if group is None or isinstance(group, Mapping) else groups_of(group, crowd, encoding, sep)
    with noting(notes, warned):
        fitted, chosen = _fitted(method, crowd, told, order, families, random_state, verbose)
        posterior = np.asarray(fitted.predict_proba(crowd))
        seen = None
        if isinstance(fitted, WorkerTypes) and not fitted.gold_ and fitted.order is None and fitted.types_:
            whole = crowd.whole  # the labels themselves, unless a worker gave a task several answers
            seen = readings(whole, fitted, families, posterior if whole is crowd else None)
            posterior = seen.posterior("model") if whole is crowd else posterior  # held once
    name = "MajorityVote" if chosen and isinstance(fitted, MajorityVote) else name
    paths = paths_of(source)
    file = " ".join(paths) if paths else "labels of the database" if source is None else named_source(source)
    file = f"{len(paths)} files" if len(paths) >= NAMED_FILES else file
    labels = consensus_frame(crowd, posterior, fitted)
    found = Consensus(
        *(file, name, fitted, crowd, posterior, labels, judged_by(right, told), seen, chosen, draws, notes, warned)
    )
    doubt(found, file if paths else "FILE")
    notes += [note for note in notes_of(found) if note not in notes]
    return found


# ---- the source ----


def read_crowd(
    source: Any,
    columns: Mapping[str, str | None] = MappingProxyType({}),
    how: Mapping[str, Any] = MappingProxyType({}),
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    database: str | None = None,
    query: str = "",
) -> tuple[CrowdLabels, Ints | None]:
    """Return labels from any source, and the truth if a data set has one; `how` has keywords of `labels_of`."""
    if database is not None:
        return read_database(database, query, _columns(columns), **how), None
    paths = paths_of(source)
    if len(paths) == 1 and paths[0].isidentifier() and not Path(paths[0]).exists():
        from cofactor.data import load

        source = load(paths[0], "crowd")
    if isinstance(getattr(source, "labels", None), CrowdLabels):
        return _without_columns(source.labels, columns), source.truth
    if isinstance(source, CrowdLabels):
        return _without_columns(source, columns), None
    if paths:
        read: Any = paths if len(paths) > 1 else paths[0]
        return read_labels(read, _columns(columns), encoding, sep, **how), None
    frame = as_frame(source) if frame_like(source) else _of_arrays(source)
    return of_table(frame, _columns(columns), **how), None


def _columns(named: Mapping[str, str | None]) -> tuple[str, str, str]:
    task, worker, label = (named.get(name) or name for name in COLUMNS)
    return task, worker, label


def _without_columns(labels: CrowdLabels, columns: Mapping[str, str | None]) -> CrowdLabels:
    """Return labels that need no reading, and refuse names of columns, which they do not have."""
    if given := [f"{name}={value!r}" for name, value in columns.items() if value is not None]:
        raise CofactorError(f"cannot use {listing(given)}: data sets and CrowdLabels have no columns to name")
    return labels


def _of_arrays(source: Any) -> pd.DataFrame:
    """Return three arrays of equal length, or an array of three columns, as a table."""
    if isinstance(source, tuple) and len(source) == len(COLUMNS) and len({np.shape(one) for one in source}) == 1:
        plain = (pd.Series(one) if isinstance(one, list) else one for one in source)
        columns = (unmasked(one) if np.ma.is_masked(one) else np.asarray(one) for one in plain)
        return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
    array = unmasked(source, dtype=object) if isinstance(source, np.ndarray | list) else np.empty(0)
    if array.ndim != 2 or array.shape[1] != len(COLUMNS):
        given = f"{type(source).__name__} of shape {array.shape}" if array.size else type(source).__name__
        wanted = (
            "give a path, a DataFrame, CrowdLabels, three arrays (task, worker, label) or an array with three columns"
        )
        raise CofactorError(f"expected crowd labels, got {given}: {wanted}")
    told = "the three columns of the array are read as task, worker and label"
    warnings.warn(f"{told}; pass a table of tasks by workers as a DataFrame", DataWarning, stacklevel=2)
    return pd.DataFrame(array, columns=list(COLUMNS)).infer_objects()


# ---- what is known beforehand ----


def known_classes(
    known: Any, labels: CrowdLabels, encoding: str = "utf-8-sig", sep: str | None = None, task: str = "task"
) -> Ints:
    """Return the class codes of the tasks, -1 where unknown, from a file, a table, a dict or codes."""
    if is_path(known):
        return read_truth(known, labels, encoding, sep, task)
    if isinstance(known, pd.DataFrame):
        names = {"label": "truth"} if "truth" not in known else {}
        frame = known.rename(columns=names | ({task: "task"} if "task" not in known else {}))
        if not {"task", "truth"} <= set(frame):
            raise CofactorError(
                f"a table of true classes needs the columns task and truth; found {listing(known.columns)}"
            )
        return codes_of(frame[["task", "truth"]].astype(str), labels, "truth")
    if isinstance(known, Mapping | pd.Series):
        frame = pd.DataFrame(list(dict(known).items()), columns=["task", "truth"])
        return codes_of(frame.astype(str), labels, "truth")
    return gold_codes(np.asarray(known), labels, "truth")


def _gold_of(gold: Any, labels: CrowdLabels, encoding: str, sep: str | None, task: str) -> Ints | None:
    """Return codes of the gold tasks, as given, or else as the source of the labels knows them itself."""
    if gold is None:
        return gold_codes(labels.gold, labels) if labels.gold else None
    if is_path(gold):
        return without_strange(read_truth(gold, labels, encoding, sep, task), labels, gold)
    if isinstance(gold, pd.DataFrame) and "task" not in gold:
        gold = gold.rename(columns={task: "task"})
    return gold_codes(gold, labels)


def groups_of(group: Any, labels: CrowdLabels, encoding: str = "utf-8-sig", sep: str | None = None) -> dict[Any, Any]:
    """Return the group of each worker from a file or table with the columns worker and group."""
    frame = read_frame(group, ("worker", "group"), encoding, sep, "worker") if is_path(group) else as_frame(group)
    if not {"worker", "group"} <= set(frame):
        raise CofactorError(f"a table of groups needs the columns worker and group; found {listing(frame.columns)}")
    pairs = frame.loc[frame["group"].notna(), ["worker", "group"]].astype(str).drop_duplicates()
    if (twice := pairs["worker"].duplicated()).any():
        raise CofactorError(f"group gives two groups for workers {listing(pairs['worker'][twice].unique())}: keep one")
    known = {str(worker): worker for worker in labels.workers}
    return {known.get(worker, worker): name for worker, name in pairs.to_numpy().tolist() if name}


# ---- the method ----


def _name_of(method: Any, order: Any, group: Any) -> str:
    """Return the name of a method; raises a CofactorError where there is none of this name."""
    if isinstance(method, Aggregator):
        return type(method).__name__
    known = names("crowd", takes="labels")
    if not isinstance(method, str) or (":" not in method and method not in known):
        named = " (Dawid and Skene's is MV-EM)" if "dawid" in str(method).casefold() else ""
        raise CofactorError(f"no method {method!r}: choose FILE.py:NAME, or one of {', '.join(known)}{named}")
    for name, given in (("order", order), ("group", group)):
        if given is not None and method != DEFAULT:
            raise CofactorError(f"{name} can only be used with {DEFAULT}: leave out method {method}")
    return method


def _fitted(
    method: str | Aggregator,
    labels: CrowdLabels,
    gold: Gold | None,
    order: Any,
    group: Mapping[Any, Any] | None,
    random_state: Seed,
    verbose: bool,
) -> tuple[Any, dict[str, float]]:
    """Return the fitted method; of the default, the reading that gold tasks choose, and how many each has right."""
    if isinstance(method, Aggregator):
        own = clone(method)
        return (own.set_params(order=labels.classes) if order is not None else own).fit(labels, gold=gold), {}
    if gold is not None and method == DEFAULT and order is None:
        return believed(labels, gold, verbose=verbose, group=group)
    settings: dict[str, Any] = {"random_state": random_state, "verbose": verbose}
    settings |= {} if order is None else {"order": labels.classes}
    found = Outside(method, **settings) if ":" in method else METHODS[method](**settings)
    return found.fit(labels, gold=gold), {}


# ---- on a Spark cluster: the fit is of all labels, a sample stands for single rows ----


@dataclass(repr=False, eq=False)
class ClusterConsensus(Consensus):
    """Result of `aggregate` on a cluster: of many labels, `crowd` and `labels` are a sample; `write` writes all.

    Attributes
    ----------
    on_spark : SparkLabels
        All labels.
    judged : (CrowdLabels, codes) or None
        Labels of the tasks with known truth, and that truth.
    """

    on_spark: SparkLabels | None = None
    judged: tuple[CrowdLabels, Ints] | None = None

    def write(self, path: Path, overwrite: bool = False) -> None:
        """Write the labels of all tasks as a folder of parquet, atomically."""
        assert self.on_spark is not None and isinstance(self.method, WorkerTypes)
        self.on_spark.write(partial(_consensus_of, method=self.method), path, overwrite)

    @cached_property
    def errors(self) -> tuple[float, float, int] | None:
        """Error rates of the method and of the vote, and the number of tasks with known truth."""
        if self.judged is None:
            return None
        labels, truth = self.judged
        return errors_of(self.method, self.method.predict_proba(labels), labels, truth)


def _on_cluster(
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
    from cofactor.reading.spark import read_spark  # it needs Spark and Java

    if not all(known is None or is_path(known) for known in (gold, truth)):
        raise CofactorError("with spark, gold and truth must be files")
    notes, warned = list[str](), list[str]()
    with noting(notes, warned):
        labels = read_spark(master, path, columns)
        told: dict[Any, int] = {}
        if gold is not None:
            known, codes = _truth_on_cluster(gold, labels, encoding)
            told = {task: code for task, code in zip(known.tasks, codes.tolist(), strict=True) if code >= 0}
        method = labels.fit(told, verbose=verbose)
        some, judged = labels.sample, None
        if truth is not None:
            known, codes = _truth_on_cluster(truth, labels, encoding)
            left = judged_by(codes, np.array([told.get(task, -1) for task in known.tasks]))
            judged = None if left is None else (known, left)
        posterior = method.predict_proba(some)
    if some.n_tasks < labels.n_tasks:
        notes.append(
            f"counts of classes and workers are from a sample of {some.n_tasks:,} tasks; all tasks were used in the fit"
        )
    table = consensus_frame(some, posterior, method)
    known_to_result = {"draws": draws, "notes": notes, "warnings": warned, "on_spark": labels, "judged": judged}
    found = ClusterConsensus(path, type(method).__name__, method, some, posterior, table, **known_to_result)  # type: ignore[arg-type]
    doubt(found, path)
    notes += [note for note in notes_of(found) if note not in notes]
    return found


def _truth_on_cluster(path: Any, labels: SparkLabels, encoding: str) -> tuple[CrowdLabels, Ints]:
    """Return the labels of the tasks of a file of true classes, and these as codes."""
    frame = read_task_and_truth(path, encoding)
    tasks = set(frame["task"])
    known = labels.of_tasks({*tasks, *(int(task) for task in tasks if task.isdigit())})
    return known, without_strange(codes_of(frame, known, path), known, path)


def _consensus_of(labels: CrowdLabels, method: WorkerTypes) -> pd.DataFrame:
    return consensus_frame(labels, method.predict_proba(labels), method)

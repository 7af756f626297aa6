"""Read true classes of tasks from a file."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from cofactor.core.cells import NO_VALUE, check_present, skeleton
from cofactor.core.errors import CofactorError, DataWarning, amount, listing
from cofactor.core.lazy import pd
from cofactor.core.types import Ints
from cofactor.crowd.labels import COLUMNS, CrowdLabels
from cofactor.reading.layouts import recognised
from cofactor.reading.records import GOLD, unfold
from cofactor.reading.tables import read_frame


class TruthWarning(DataWarning):
    """Known classes cannot be used: their tasks have no labels, or no worker chose them."""


def read_task_and_truth(
    path: str | PathLike[str], encoding: str = "utf-8-sig", sep: str | None = None, task: str = "task"
) -> pd.DataFrame:
    """Read the columns task and truth as text (see `read_truth`); without a column `truth`, `label` is used.

    `task` is the name of the task column in the labels, which the file may use as well.
    """
    for columns in ((one, truth) for truth in ("truth", "label") for one in dict.fromkeys(("task", task))):
        try:
            return read_frame(path, columns, encoding, sep, "truth").set_axis(["task", "truth"], axis=1)
        except CofactorError as refusal:
            if columns == ("task", "truth") and (known := _known_to_export(path, encoding, sep)) is not None:
                return known
            if not str(refusal).startswith("no column") or " set sep=" in str(refusal):
                raise
            found = str(refusal).partition("; found ")[2].rpartition(": ")[0]
    either = "task" if task == "task" else f"task (or {task})"
    raise CofactorError(f"{path}: no columns {either} and truth (or label); found {found}: rename two of them")


def _known_to_export(path: str | PathLike[str], encoding: str, sep: str | None) -> pd.DataFrame | None:
    """Return the tasks of known class in an export of labels, such as golden units of Figure Eight."""
    try:
        with warnings.catch_warnings(action="ignore", category=DataWarning):  # the labels may be others
            unfolded = partial(unfold, columns=COLUMNS)
            known = read_frame(path, COLUMNS, encoding, sep, "label", unfolded, recognise=recognised).attrs.get(GOLD)
    except CofactorError:
        return None
    return pd.DataFrame(list(known.items()), columns=["task", "truth"]) if known else None


def read_truth(
    path: str | PathLike[str],
    labels: CrowdLabels,
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    task: str = "task",
) -> Ints:
    """Read the (N,) true class codes of the tasks of `labels` from a file; -1 for tasks that are not in it.

    The file has the columns ``task`` (or the name given as `task`) and ``truth`` (or ``label``), in any format that
    `CrowdLabels.from_file` reads, or is an export that contains the class of some tasks. Tasks without labels are
    ignored; classes that no worker chose get the code K, which no prediction can equal, so that they count as errors of
    every method; a class that looks like one of the labels is read as that one; each with a `DataWarning`. Tasks with
    two truths, rows without task or truth, and a file none of whose classes occurs among the labels raise a
    `CofactorError`.
    """
    return codes_of(read_task_and_truth(path, encoding, sep, task), labels, path)


def codes_of(frame: pd.DataFrame, labels: CrowdLabels, path: str | PathLike[str]) -> Ints:
    """Convert a table that `read_task_and_truth` returned to the codes that `read_truth` returns."""
    absent = [word for word in NO_VALUE if word not in map(str, labels.classes)]
    frame = frame.assign(truth=frame["truth"].mask(frame["truth"].isin(absent)))
    for name in frame.columns:
        check_present(frame[name], name, text=True)
    tasks, classes = ({str(name) for name in names} for names in (labels.tasks, labels.classes))
    frame = frame.assign(task=_unescaped(frame["task"], tasks), truth=_unescaped(frame["truth"], classes))
    frame = frame.drop_duplicates()
    code = pd.Index([str(task) for task in labels.tasks]).get_indexer(pd.Index(frame["task"]))
    known = code >= 0
    if not known.any():
        alike = _alike(frame["task"], labels)
        raise CofactorError(f"{path}: none of its tasks has labels ({listing(frame['task'])}){alike}")
    if not known.all():
        message = f"{path}: ignored {amount(int((~known).sum()), 'task')} without labels"
        warnings.warn(f"{message}{_alike(frame['task'][~known], labels)}", TruthWarning, stacklevel=2)
    frame, task = frame[known], code[known]
    twice = np.flatnonzero(np.bincount(task, minlength=labels.n_tasks) > 1)
    if twice.size:
        found = listing(labels.tasks[n] for n in twice)
        raise CofactorError(f"{path} gives several true classes for tasks {found}: keep one each")
    frame = frame.assign(truth=_as_classes(frame["truth"], labels, path))
    truth = pd.Index([str(name) for name in labels.classes]).get_indexer(pd.Index(frame["truth"]))
    unknown = frame["truth"][truth < 0]
    if len(unknown) == len(frame):
        named = listing(unknown.unique()), listing(labels.classes)
        raise CofactorError(
            f"{path}: none of its classes ({named[0]}) occurs among the labels ({named[1]}): use the same names"
        )
    if len(unknown):
        n, found = amount(len(unknown), "task"), listing(unknown.unique())
        message = f"{path}: no worker chose the true class of {n} ({found}), so every method is wrong there"
        warnings.warn(message, TruthWarning, stacklevel=2)
    codes = np.full(labels.n_tasks, -1)
    codes[task] = np.where(truth < 0, labels.n_classes, truth)
    return codes


def _unescaped(column: pd.Series[Any], known: Collection[str]) -> pd.Series[Any]:
    """Take off the apostrophe that results have before cells that a spreadsheet would run as formulas."""
    bare = {one: one[1:] for one in column.unique() if one[:1] == "'" and one not in known and one[1:] in known}
    return column.replace(bare) if bare else column


def _alike(tasks: pd.Series[Any], labels: CrowdLabels) -> str:
    """Describe which tasks without labels look like a labelled one; "" if there are none."""
    keys = {skeleton(str(task)): str(task) for task in labels.tasks}
    found = listing(f"{task!r} like {keys[key]!r}" for task in tasks if (key := skeleton(task)) in keys)
    return f"; some differ from labelled tasks only in spelling: {found}" if found else ""


def _as_classes(column: pd.Series[Any], labels: CrowdLabels, path: str | PathLike[str]) -> pd.Series[Any]:
    """Rename true classes that look like exactly one of the labels' classes, with a warning."""
    known = [str(name) for name in labels.classes]
    alike: dict[str, list[str]] = {}
    for name in known:
        alike.setdefault(skeleton(name, truth_values=True), []).append(name)
    said = {}
    for name in column.unique():
        like = alike.get(skeleton(name, truth_values=True), [])
        if name not in known and len(like) == 1:
            said[name] = like[0]
    if said:
        found = listing(f"{name!r} as {other!r}" for name, other in said.items())
        warnings.warn(
            f"{path}: classes that look like those of the labels are read as them: {found}", DataWarning, stacklevel=3
        )
    return column.map(lambda name: said.get(name, name))


def without_strange(gold: Ints, labels: CrowdLabels, path: str | PathLike[str]) -> Ints:
    """Leave out gold tasks whose class no worker chose, since no confusion matrix includes it."""
    strange = gold >= labels.n_classes
    if strange.any():
        message = f"{path}: ignored {amount(strange.sum(), 'gold task')} whose class no worker chose"
        warnings.warn(message, DataWarning, stacklevel=3)
    return np.where(strange, -1, gold)

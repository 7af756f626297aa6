"""Files of crowd labels and of truth, as tables."""

from __future__ import annotations

import unicodedata
import warnings
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.frames import check_present, plain_numbers, read_frame
from cofactor.core.types import Ints
from cofactor.crowd.exports import unfold

if TYPE_CHECKING:
    from cofactor.crowd.labels import CrowdLabels

COLUMNS = ("task", "worker", "label")
NO_LABEL = ("", "nan", "NaN", "NA", "N/A", "null", "NULL", "None")  # how a missing label reads in a file


def read_labels(
    path: str | PathLike[str],
    columns: tuple[str, str, str] = COLUMNS,
    encoding: str = "utf-8-sig",
    sep: str | None = None,
) -> pd.DataFrame:
    """Read the columns task, worker and label of a file, see `CrowdLabels.from_file`; missing cells are NaN."""
    frame = read_frame(path, columns, encoding, sep, unfold=partial(unfold, columns=columns))
    label = columns[-1]
    frame[label] = frame[label].mask(frame[label].isin(NO_LABEL))
    _warn_of_lookalikes(frame[label].dropna())
    for name in columns:
        frame[name] = plain_numbers(frame[name].mask(frame[name] == ""))
    return frame


def read_truth(
    path: str | PathLike[str], labels: CrowdLabels, encoding: str = "utf-8-sig", sep: str | None = None
) -> Ints:
    """Read the (N,) true class codes of the tasks of `labels` from a file; -1 where a task is not listed.

    The file has columns ``task`` and ``truth``, in any form that `CrowdLabels.from_file` reads but exports. Tasks that
    nobody labelled are passed over, and classes that nobody chose get the code K, which no prediction can equal, so
    that they count as errors of every method; both with a `DataWarning`. Tasks with two truths, and rows without task
    or truth, raise `CofactorError`.
    """
    frame = read_frame(path, ("task", "truth"), encoding, sep, "truth")
    for name in frame.columns:
        check_present(frame[name].mask(frame[name] == ""), name)
    frame = frame.drop_duplicates()
    code = pd.Index([str(task) for task in labels.tasks]).get_indexer(pd.Index(frame["task"]))
    known = code >= 0
    if not known.any():
        raise CofactorError(f"{path}: none of its tasks has a label ({listing(frame['task'])})")
    if not known.all():
        message = f"{path}: {int((~known).sum())} tasks that nobody labelled are passed over"
        warnings.warn(message, DataWarning, stacklevel=2)
    frame, task = frame[known], code[known]
    twice = np.flatnonzero(np.bincount(task, minlength=labels.n_tasks) > 1)
    if twice.size:
        raise CofactorError(f"{path} gives two truths for tasks {listing(labels.tasks[n] for n in twice)}")
    truth = pd.Index([str(name) for name in labels.classes]).get_indexer(pd.Index(frame["truth"]))
    unknown = frame["truth"][truth < 0]
    if len(unknown):
        message = f"{path}: nobody chose the true class of {len(unknown)} tasks ({listing(unknown.unique())}): "
        warnings.warn(f"{message}they count as errors", DataWarning, stacklevel=2)
    codes = np.full(labels.n_tasks, -1)
    codes[task] = np.where(truth < 0, labels.n_classes, truth)
    return codes


def _warn_of_lookalikes(column: pd.Series[Any]) -> None:
    distinct = pd.Series(column.unique(), dtype=object)
    alike = distinct[distinct.map(_skeleton).duplicated(keep=False)]
    if not alike.empty:
        found = listing(repr(name) for name in sorted(alike))
        message = f"classes that look alike count as different: {found}; write each class in one way if they are one"
        warnings.warn(message, DataWarning, stacklevel=4)


def _skeleton(name: str) -> str:
    """What is left of a class without capitals, blanks and the way to write numbers and truth values."""
    plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    plain = {"true": "1", "false": "0"}.get(plain, plain)
    try:
        return repr(float(plain))
    except ValueError:
        return plain

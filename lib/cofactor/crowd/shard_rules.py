"""The rules of files of shards: which task lies where, and which codes the labels have; see `cofactor.crowd.shards`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.errors import CofactorError, listing
from cofactor.core.tables import CategoricalTable

ADVICE = "make shards with `cofactor shard`"
T = TypeVar("T")


def table_of(
    new: NDArray[np.bool_], worker: NDArray[Any], label: NDArray[Any], n_workers: int, n_classes: int
) -> CategoricalTable:
    """Return the table of labels in the order of tasks and workers; labels in another order, or bad ones, take longer.

    `new` tells where tasks begin.
    """
    sizes = np.full(n_workers, n_classes)
    V = n_workers * n_classes
    plain = worker.dtype.kind == "i" and label.dtype.kind == "i" and max(V, len(new)) < np.iinfo(np.int32).max
    inside = plain and min(worker.min(), label.min()) >= 0 and worker.max() < n_workers and label.max() < n_classes
    if not inside or not (new[1:] | (worker[1:] > worker[:-1])).all():
        return CategoricalTable.from_entries(np.cumsum(new) - 1, worker, label, sizes, int(new.sum()))
    columns = worker.astype(np.int32) * np.int32(n_classes) + label.astype(np.int32)
    starts = np.append(np.flatnonzero(new), len(new)).astype(np.int32)
    indicator = sparse.csr_array((np.ones(len(new)), columns, starts), shape=(len(starts) - 1, V))
    return CategoricalTable._with(indicator, sizes)


def check_grouped(ids: NDArray[Any], path: Path) -> None:
    """Refuse tasks (one entry per run of equal ids) that do not rise, or are neither all text nor all whole numbers."""
    if ids.dtype.kind == "i" and (ids[1:] > ids[:-1]).all():
        return
    tasks = np.array(ids.tolist(), dtype=object)
    kinds = sorted({type(task).__name__ for task in tasks})
    if kinds not in (["str"], ["int"]):
        found = listing(kinds)
        raise CofactorError(f"{path}: tasks must be text or whole numbers, one kind only; found {found}; {ADVICE}")
    fallen = tasks[1:][tasks[1:] <= tasks[:-1]]
    again = tasks[pd.Index(tasks, dtype=object).duplicated()]
    if again.size:
        raise CofactorError(f"{path}: labels of {again[0]!r} are scattered; {ADVICE}")
    if fallen.size:
        raise CofactorError(f"{path}: not sorted by task from {fallen[0]!r} on; {ADVICE}")


def disjoint(paths: Iterable[Path], parts: Iterable[tuple[T, tuple[Any, Any]]]) -> Iterator[T]:
    """Yield what belongs to each shard; refuse one whose first task does not come after the last of the one before.

    Parts are that and the first and last task, in the order of the paths.
    """
    before, end = Path(), None
    for path, (value, (first, last)) in zip(paths, parts, strict=True):
        if end is not None and type(end) is not type(first):
            raise CofactorError(f"{before} and {path}: tasks are text in one, numbers in the other; {ADVICE}")
        if end is not None and end >= first:
            problem = f"task {first!r} lies in both" if end == first else f"tasks from {first!r} on overlap"
            raise CofactorError(f"{before} and {path}: {problem}; {ADVICE}")
        before, end = path, last
        yield value

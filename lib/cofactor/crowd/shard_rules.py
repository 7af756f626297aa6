"""The rules of files of shards: which task lies where, and which codes the labels have; see `cofactor.crowd.shards`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.errors import CofactorError, listing
from cofactor.core.tables import CategoricalTable

ADVICE = "make shards with `cofactor shard`"


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
    tasks = ids.tolist()
    kinds = {type(task) for task in tasks}
    if kinds != {str} and kinds != {int}:
        found = listing(sorted(kind.__name__ for kind in kinds))
        raise CofactorError(f"{path}: tasks must be text or whole numbers, one kind only; found {found}; {ADVICE}")
    fallen = next((n for n in range(1, len(tasks)) if tasks[n] <= tasks[n - 1]), None)
    if fallen is None:
        return
    seen: set[Any] = set()
    again = next((task for task in tasks if task in seen or seen.add(task)), None)  # type: ignore[func-returns-value]
    problem = f"not sorted by task from {tasks[fallen]!r} on" if again is None else f"labels of {again!r} are scattered"
    raise CofactorError(f"{path}: {problem}; {ADVICE}")


def check_disjoint(last: tuple[Any, Path] | None, first: tuple[Any, Path]) -> None:
    """Refuse a shard whose first task does not come after the last one of the shard before."""
    if last is None:
        return
    if type(last[0]) is not type(first[0]):
        raise CofactorError(f"{last[1]} and {first[1]}: tasks are text in one, numbers in the other; {ADVICE}")
    if last[0] < first[0]:
        return
    problem = f"task {first[0]!r} lies in both" if last[0] == first[0] else f"tasks from {first[0]!r} on overlap"
    raise CofactorError(f"{last[1]} and {first[1]}: {problem}; {ADVICE}")

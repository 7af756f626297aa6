"""New labels come into shards: every task lies whole in one of them, and every worker has one label for it."""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.files import reading_parquet
from cofactor.core.lazy import pd
from cofactor.core.types import Ints
from cofactor.crowd.labels import Conflicts, CrowdLabels
from cofactor_app.scale.passes import ADVICE
from cofactor_app.scale.sharding import PER_SHARD
from cofactor_app.scale.shards import LabelShards

MOST_PART = 5_000_000  # labels of changed tasks that are kept in memory for rounds of their own


class Merging:
    """Shards that take in new labels, one after the other.

    Parameters
    ----------
    shards : LabelShards
    new : CrowdLabels
        Of the same classes, with tasks of the same kind.
    workers : list
        Old ones, then new ones.
    worker : (n_workers,) ints
        The place there of every worker of `new`.
    conflicts : see `CrowdFit.updated`

    Attributes, complete after `files`
    ----------------------------------
    changed : bool
        Whether a label came in, or is another now.
    n_again : int
        Labels that were there already, in whatever class.
    sources : list of Path
        Of every file that was yielded, the old shard whose tasks it has.
    n_part : int
        Labels of the tasks of `new`, old and new ones.
    parts : list of CrowdLabels
        These; empty where they are more than `MOST_PART`.
    """

    def __init__(
        self, shards: LabelShards, new: CrowdLabels, workers: list[Any], worker: Ints, conflicts: Conflicts
    ) -> None:
        self.shards, self.new, self.workers, self.worker, self.conflicts = shards, new, workers, worker, conflicts
        self.changed, self.n_again, self.n_part = False, 0, 0
        self.parts: list[CrowdLabels] = []
        self.sources: list[Path] = []

    def files(self) -> Iterator[Any]:
        """Yield the shards of all labels in their order: the path of one that stays, or a pyarrow table to write.

        Raises a CofactorError for labels in conflict, as `CrowdLabels.from_frame`.
        """
        tasks = self.new.tasks
        order = sorted(range(len(tasks)), key=tasks.__getitem__)
        cuts = _by_shard([tasks[n] for n in order], first_tasks(self.shards))
        for path, (begin, end) in zip(self.shards.paths, cuts, strict=True):
            some = None if begin == end else self._joined(path, self.new.take_tasks(order[begin:end]))
            for one in [path] if some is None else _tables(some):
                self.sources.append(path)
                yield one

    def _joined(self, path: Path, some: CrowdLabels) -> CrowdLabels | None:
        """Return the labels of a shard and new ones; None where all of these were there already."""
        old = self.shards.read(path)
        ids = sorted({*old.tasks, *some.tasks})
        index = pd.Index(ids)
        at_old, at_new = index.get_indexer(old.tasks), index.get_indexer(some.tasks)
        codes = [
            np.concatenate([at_old[old.table.rows], at_new[some.table.rows]]),
            np.concatenate([old.table.variables, self.worker[some.table.variables]]),
            np.concatenate([old.table.values, some.table.values]),
        ]
        with warnings.catch_warnings(action="ignore"):  # labels that were there already are told of all shards at once
            both = CrowdLabels._assemble(codes, [ids, self.workers, self.shards.classes], self.conflicts)
        self.n_again += len(codes[0]) - both.n_labels
        part = both.take_tasks(at_new)
        self.n_part += part.n_labels
        self.parts = [*self.parts, part] if self.n_part <= MOST_PART else []
        if both.n_labels == old.n_labels and np.array_equal(both.table.values, old.table.values):
            return None
        self.changed = True
        return both

    def tell(self) -> None:
        """Note the labels that were there already."""
        if self.n_again:
            again = f"{self.n_again} labels were given again by the same worker on the same task: one each was kept"
            warnings.warn(again, DataWarning, stacklevel=3)


def _tables(labels: CrowdLabels) -> Iterator[Any]:
    """Yield the labels as columns of shards; a shard that has grown to twice the usual size is cut."""
    import pyarrow as pa

    starts = labels.table.indicator.indptr
    n_files = -(-labels.n_labels // PER_SHARD) if labels.n_labels > 2 * PER_SHARD else 1
    wanted = np.arange(1, n_files) * labels.n_labels // n_files
    cuts = np.unique([0, *np.searchsorted(starts, wanted), labels.n_tasks])
    tasks = pa.array(labels.tasks).take(pa.array(labels.table.rows))
    codes = (code.astype(np.int32) for code in (labels.table.variables, labels.table.values))
    whole = pa.table(dict(zip(("task", "worker", "label"), (tasks, *codes), strict=True)))
    for first, end in zip(starts[cuts[:-1]].tolist(), starts[cuts[1:]].tolist(), strict=True):
        yield whole.slice(first, end - first)


# ---- tasks ----


def first_tasks(shards: LabelShards) -> list[Any]:
    """Return the first task of every shard; the first lines of each are read."""
    found = []
    for path in shards.paths:
        with reading_parquet(path):
            from pyarrow import parquet

            with parquet.ParquetFile(path) as file:
                first = next(file.iter_batches(1, columns=["task"]), None)
            if first is None or "task" not in first.schema.names:
                raise CofactorError(f"{path}: no labels; {ADVICE}")
            found.append(first["task"][0].as_py())
    return found


def of_their_kind(new: CrowdLabels, known: Sequence[Any]) -> CrowdLabels:
    """Return labels whose tasks are text where the known ones are; refuse text where these are whole numbers."""
    kinds = {type(one) for one in known}
    if kinds == {str}:
        return CrowdLabels(new.table, list(map(str, new.tasks)), new.workers, new.classes)
    text = [task for task in new.tasks if not isinstance(task, int)]
    if text:
        problem = f"tasks of the fit are whole numbers, and new ones are not ({listing(map(repr, text))})"
        raise CofactorError(f"{problem}: aggregate all labels anew, old and new ones together")
    return new


def old_tasks(shards: LabelShards, names: set[str]) -> set[str]:
    """Return those of some names that tasks have which are text; of whole numbers none are looked up."""
    firsts, rising = first_tasks(shards), sorted(names)
    if not isinstance(firsts[0], str):
        return set()
    places = zip(shards.paths, _by_shard(rising, firsts), strict=True)
    return {name for path, (begin, end) in places if begin < end for name in _there(path, rising[begin:end])}


def _by_shard(rising: list[Any], firsts: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Return which of some tasks, sorted, belong into each shard: from where to where."""
    return pairwise([0, *(bisect_left(rising, first) for first in firsts[1:]), len(rising)])


def _there(path: Path, names: list[str]) -> list[str]:
    with reading_parquet(path):
        import pyarrow as pa
        from pyarrow import compute, parquet

        tasks = parquet.read_table(path, columns=["task"])["task"]
        found = pa.array(names, tasks.type)
        return list(found.filter(compute.is_in(found, value_set=tasks)).to_pylist())

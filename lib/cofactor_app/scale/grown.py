"""A fit beyond memory, kept in a folder with its labels: new ones come into its shards, and the rounds go on.

    vocabulary.json, shard-*.parquet    all labels, see `cofactor_app.scale.shards`
    fit.npz                             what is believed after the last rounds

The folder is replaced as a whole. Shards whose tasks get no label are linked into the new one, not written again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.cells import spellings
from cofactor.core.errors import CofactorError
from cofactor.core.files import from_json, load_arrays, save_arrays, whole_folder
from cofactor.core.lazy import pd
from cofactor.core.result import Result
from cofactor.crowd.evidence import UNKNOWN, Evidence, GoldEvidence
from cofactor.crowd.labels import Conflicts, CrowdLabels
from cofactor.crowd.worker_types import WorkerTypes, merged_evidence
from cofactor_app.growing import (
    BELIEF,
    PART_ROUNDS,
    about,
    checked_belief,
    method_about,
    note_alike,
    places,
    refuse_swapped,
)
from cofactor_app.scale.copies import owners_of
from cofactor_app.scale.known import apart, joined, labels_of
from cofactor_app.scale.merging import Merging, first_tasks, of_their_kind, old_tasks
from cofactor_app.scale.passes import Passes
from cofactor_app.scale.sharding import PER_SHARD, shard_name, write_shard
from cofactor_app.scale.shards import LabelShards, labels_given, write_vocabulary
from cofactor_app.scale.threads import Threads

FIT = "fit.npz"
EXPECTED = ("expected_prior", "expected", "anybody")


class _Nothing(Exception):
    """Raised where all labels are there already."""


@dataclass(frozen=True)
class ShardsFit:
    """A fitted WorkerTypes with its labels in shards, kept in a folder.

    Attributes
    ----------
    method : WorkerTypes
    shards : LabelShards
    n_chosen : int
        Labels from which types, copies and design effect were chosen.
    n_tasks, n_labels : int
    n_moved : int
        Tasks that were there before the last update, and have another label since.
    """

    method: WorkerTypes
    shards: LabelShards
    n_chosen: int
    n_tasks: int
    n_labels: int
    n_moved: int = 0

    @classmethod
    def keep(cls, method: WorkerTypes, shards: LabelShards, n_tasks: int, folder: Path) -> ShardsFit:
        """Keep a method that was fitted to shards, and these, in a folder; one that is there is replaced.

        Cost: the shards are linked; where the disk takes no links, or is another one, they are copied.
        """
        n_labels = sum(map(shards.n_labels, shards.paths))
        found = cls(method, shards, n_labels, n_tasks, n_labels)
        with whole_folder(folder) as part:
            for path in shards.paths:
                _link(path, part / path.name)
            listed = {path.name: shards.manifest[path.name] for path in shards.paths}
            write_vocabulary(part, shards.workers, shards.classes, listed)
            found._write(part)
        return replace(found, shards=LabelShards.open(folder))

    @classmethod
    def load(cls, folder: Path) -> ShardsFit:
        """Open a folder that `keep` filled; a CofactorError names one that is none."""
        shards = LabelShards.open(folder)
        kept = load_arrays(folder / FIT, ("about", *BELIEF, *EXPECTED, "given"), "kept fit")
        try:
            told = from_json(kept["about"].tobytes())
            method, result = method_about(told)
            _restore(method, shards, kept, result)
            method.gold_ = _checked_gold(told["gold"], len(shards.classes))
            return cls(method, shards, int(told["found"][2]), *map(int, told["amounts"]))
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, CofactorError) as error:
            form = f"{folder / FIT} is no kept fit, as `cofactor aggregate --model` writes it"
            raise CofactorError(f"{form}: {error}") from None

    def _write(self, folder: Path) -> None:
        method = self.method
        told = about(method, self.n_chosen) | {
            "gold": [list(method.gold_), [int(code) for code in method.gold_.values()]],
            "amounts": [self.n_tasks, self.n_labels],
        }
        arrays = dict(zip((*BELIEF, *EXPECTED), (*method.state_arrays(), *method.expected_arrays()), strict=True))
        save_arrays(folder / FIT, about=told, **arrays, given=method.labels_given_)

    def updated(
        self,
        new: CrowdLabels,
        folder: Path,
        conflicts: Conflicts = "error",
        threads: Threads | None = None,
        memory: float = 0.0,
    ) -> ShardsFit:
        """Add labels to those in the folder, which is replaced, and go on from where the fit was.

        Equal to `CrowdFit.updated` up to rounding; but old tasks that are whole numbers stay so, and new ones that
        are text are a CofactorError. Where all labels are there already: this one, and the folder stays as it is.

        Parameters
        ----------
        new : CrowdLabels
            Of the classes of the fit, in memory.
        conflicts : see `CrowdFit.updated`
        threads, memory : see `Passes`

        Cost: shards with tasks of `new` are read and written; then as rounds from shards, and two consensus tables.
        """
        with suppress(_Nothing):
            with whole_folder(folder) as part:
                merging = self._merged(new, part, conflicts)
                found = self._going_on(Passes(LabelShards.open(part), threads, memory), merging)
                found._write(part)
                n_moved = self._moved(found, merging.sources, threads or Threads())
            return replace(found, shards=LabelShards.open(folder), n_moved=n_moved)
        return replace(self, n_moved=0)

    def _merged(self, new: CrowdLabels, folder: Path, conflicts: Conflicts) -> Merging:
        """Write the shards of all labels into a folder, in which there are none."""
        shards = self.shards
        new = of_their_kind(new, first_tasks(shards))
        refuse_swapped(new, shards.workers, lambda names: old_tasks(shards, names))
        note_alike(new, shards.workers, lambda names: old_tasks(shards, set(chain(*map(spellings, names)))))
        workers, worker = places(shards.workers, new.workers)
        merging = Merging(shards, new, workers, worker, conflicts)
        listed: dict[str, dict[str, Any]] = {}
        n_files = len(shards.paths) + (self.n_labels + new.n_labels) // PER_SHARD
        for number, one in enumerate(merging.files()):
            path = shard_name(folder, number, n_files)
            if isinstance(one, Path):
                _link(one, path)
                listed[path.name] = shards.manifest[one.name]
            else:
                write_shard(one, path)
        merging.tell()
        if not merging.changed:
            raise _Nothing
        write_vocabulary(folder, workers, shards.classes, listed)
        return merging

    def _going_on(self, passes: Passes, merging: Merging) -> ShardsFit:
        """Return the fit after rounds over all labels."""
        method, gold, workers = copy(self.method), self.method.gold_, passes.shards.workers
        anew = not method.types_
        passes = passes.merged(owners_of(passes)[0] if anew else method.owner_of_all(len(workers)))
        evidence, n_labels = _evidence(passes, gold), passes.n_labels
        votes = evidence.start()
        if anew:
            known = evidence if isinstance(evidence, GoldEvidence) else None
            passes.shards.fit(method, votes, method.max_iter, method.verbose, passes, known)
        else:
            part = _part(merging, gold, method.owner_of_all(len(workers)))
            method.go_on_from(evidence, workers, part, min(PART_ROUNDS, n_labels // max(merging.n_part, 1)))
            method.labels_given_ = labels_given(votes) if passes.given is None else passes.given
        return ShardsFit(method, passes.shards, n_labels if anew else self.n_chosen, votes.n_rows, n_labels)

    def _moved(self, after: ShardsFit, sources: Sequence[Path], threads: Threads) -> int:
        """Return how many of these tasks have another label after; of each new shard, the old one is known."""
        pairs = list(zip(sources, after.shards.paths, strict=True))
        calls = ((_moved, self, after, path, [new for old, new in pairs if old == path]) for path in self.shards.paths)
        return sum(threads.in_order(calls))


def _moved(before: ShardsFit, after: ShardsFit, path: Path, paths: Sequence[Path]) -> int:
    labels, parts = before.shards.read(path), list(map(after.shards.read, paths))
    now = np.concatenate([after.method.predict(part) for part in parts])
    place = pd.Index([task for part in parts for task in part.tasks]).get_indexer(labels.tasks)
    return int(np.sum(before.method.predict(labels) != now[place]))


def _link(source: Path, path: Path) -> None:
    """Let a file have a second name, or a copy where the disk has no links, or it is another disk."""
    try:
        os.link(source.resolve(), path)
    except OSError:
        shutil.copyfile(source, path)


def _evidence(passes: Passes, gold: Mapping[Any, int]) -> Evidence:
    """Return the sums of all labels, told of gold tasks, whose labels come into memory."""
    if not gold:
        return Evidence(passes, votes=Evidence(passes).start())
    labels = labels_of(passes, list(map(str, gold)))
    return apart(passes, labels).told(_codes(labels, gold))


def _codes(labels: CrowdLabels, gold: Mapping[Any, int]) -> NDArray[np.int64]:
    return np.array([gold.get(task, UNKNOWN) for task in labels.tasks], dtype=np.int64)


def _part(merging: Merging, gold: Mapping[Any, int], owner: NDArray[np.int64]) -> Evidence | None:
    """Return the sums of the changed tasks, whose labels are in memory; None where they are too many for that."""
    if not merging.parts:
        return None
    labels = joined(merging.parts)
    return merged_evidence(labels, _codes(labels, gold) if gold else None, owner)


def _restore(method: WorkerTypes, shards: LabelShards, kept: Mapping[str, NDArray[Any]], result: Result) -> None:
    M, K = len(shards.workers), len(shards.classes)
    belief = checked_belief(kept, len(method.types_), M, K)
    *expected, given = (kept[name] for name in (*EXPECTED, "given"))
    sound = all(part.dtype.kind == "f" and np.isfinite(part).all() and (part >= 0).all() for part in expected)
    if not sound or [part.shape for part in expected] != [(K,), (M * K, K), (K, K)]:
        raise CofactorError("its confusion matrices are of other labels, or hold what are no probabilities")
    if given.shape != (M,) or given.dtype.kind != "i":
        raise CofactorError("its numbers of labels are those of other workers")
    method.workers_, method.classes_, method.labels_given_ = shards.workers, shards.classes, given
    method.restore_all(belief, expected, result)


def _checked_gold(gold: Sequence[Sequence[Any]], n_classes: int) -> dict[Any, int]:
    tasks, codes = gold
    if not {type(task) for task in tasks} <= {str, int} or not set(codes) <= set(range(n_classes)):
        raise CofactorError("its gold tasks are none")
    return dict(zip(tasks, codes, strict=True))

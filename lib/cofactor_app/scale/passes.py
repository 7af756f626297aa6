"""Passes over shards: every round of a fit reads all labels once, wherever they are and whoever reads them.

Shards that fit into a budget stay decoded, as the indices of a table's indicator: at most 8 bytes a label. Sums of a
round are kept on disk, so that a run that was stopped makes no round twice.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy import sparse

from cofactor.core.em import SoftCounts
from cofactor.core.errors import CofactorError
from cofactor.core.files import load_arrays, make_folder, save_arrays, whole_file
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Ints
from cofactor.crowd.labels import CrowdLabels
from cofactor_app.scale.crew import Crew, Threads, in_order

if TYPE_CHECKING:
    from cofactor_app.scale.shards import LabelShards

ADVICE = "make shards with `cofactor shard`"
MOST_WHOLE = 4  # shards in a call whose results are as long as the shards
BYTES_PER_LABEL = 8  # at most, of a shard that is kept: its column, and where its task begins
SUMS = ("cells", "classes", "n_rows", "sizes", "log_likelihood")
UNITS = {"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "B": 1.0}
T = TypeVar("T")


@dataclass(frozen=True)
class Piece:
    """A shard decoded, without its tasks' ids but the first and the last."""

    indices: Ints
    starts: Ints
    span: tuple[Any, Any]

    def labels(self, shards: LabelShards) -> CrowdLabels:
        """Return the labels, with the ids of the first and the last task only."""
        sizes = np.full(len(shards.workers), len(shards.classes))
        parts = np.ones(len(self.indices)), self.indices, self.starts
        indicator = sparse.csr_array(parts, shape=(len(self.starts) - 1, int(sizes.sum())))
        return CrowdLabels(CategoricalTable._with(indicator, sizes), self.span, shards.workers, shards.classes)


class Passes:
    """Shards that are read over and over by a crew (default: this thread).

    Parameters
    ----------
    memory : float
        Bytes for decoded shards that stay: here, or on all workers of a cluster together.
    kept : Path, optional
        Folder for the sums of every round. Remove it (`forget`) when the result is safe.
    """

    def __init__(
        self, shards: LabelShards, crew: Crew | None = None, memory: float = 0.0, kept: Path | None = None
    ) -> None:
        self.shards, self.crew, self.memory, self.kept = shards, crew or Threads(), memory, kept
        self.shared = self.crew.share(shards)
        self.groups = self._in_groups()  # of shards that one call reads; always the same, since they stay together
        self.stay: dict[tuple[Path, ...], Any] = {}  # pieces on the way, or there

    def __iter__(self) -> Iterator[CrowdLabels]:
        """Yield the labels of every shard, read here."""
        return iter(self.shards)

    def map(self, function: Callable[[CrowdLabels], Any], whole: bool = False) -> Iterator[Any]:
        """Return what a function makes of every shard, in their order; `whole`: with the ids of tasks, read anew.

        Raises a CofactorError as `LabelShards.read`, and where a task lies in two shards.
        """
        groups = self._in_groups(MOST_WHOLE) if whole else self.groups
        shared = self.shared, self.crew.share(function)
        calls = ((_applied, *shared, group if whole else self._pieces(group)) for group in groups)
        return disjoint(self.shards.paths, chain.from_iterable(in_order(self.crew, calls)))

    def _in_groups(self, most: int | None = None) -> list[tuple[Path, ...]]:
        paths = self.shards.paths
        size = min(self.crew.together(len(paths)), most or len(paths))
        return [tuple(paths[first : first + size]) for first in range(0, len(paths), size)]

    def _pieces(self, group: tuple[Path, ...]) -> Any:
        """Return shards that stay, or will; or the paths of those that are read each time."""
        if group in self._staying and group not in self.stay:
            self.stay[group] = self.crew.submit(_decoded, self.shared, group)
        return self.stay.get(group, group)

    @cached_property
    def _staying(self) -> set[tuple[Path, ...]]:
        """The first groups that fit into the budget together."""
        if not self.memory:
            return set()
        n_labels = [sum(map(self.shards.n_labels, group)) for group in self.groups]
        sizes = BYTES_PER_LABEL * np.cumsum(n_labels)
        return {group for group, size in zip(self.groups, sizes, strict=True) if size <= self.memory}

    def remembered(self, model: LatentClassModel, rows: Ints | None, count: Callable[[], SoftCounts]) -> SoftCounts:
        """Return the sums that belong to a model, counted now or by a run that was stopped."""
        if self.kept is None:
            return count()
        part = self.kept / f"{self._mark(model, rows)}.npz"
        if part.exists():
            cells, classes, n_rows, sizes, fit = load_arrays(part, SUMS, "file of sums of a round").values()
            return SoftCounts(cells, classes, int(n_rows), sizes, float(fit))
        counts = count()
        make_folder(self.kept)
        with whole_file(part) as unfinished:
            save_arrays(unfinished, **{name: getattr(counts, name) for name in SUMS})
        return counts

    def _mark(self, model: LatentClassModel, rows: Ints | None) -> str:
        """Tell rounds of other models or other shards apart."""
        mark = hashlib.sha256("".join(self.shards.manifest[path.name]["sha256"] for path in self.shards.paths).encode())
        for array in (model.prior, model.stacked, model.sizes, np.zeros(0) if rows is None else rows):
            mark.update(str((array.dtype, array.shape)).encode() + np.ascontiguousarray(array).tobytes())
        return mark.hexdigest()[:32]

    def forget(self) -> None:
        """Remove the sums of all rounds."""
        if self.kept is not None:
            shutil.rmtree(self.kept, ignore_errors=True)


def _decoded(shards: LabelShards, group: tuple[Path, ...]) -> list[Piece]:
    pieces = []
    for labels in map(shards.read, group):
        F = labels.table.indicator
        pieces.append(Piece(F.indices, F.indptr, (labels.tasks[0], labels.tasks[-1])))
    return pieces


def _applied(
    shards: LabelShards, function: Callable[[CrowdLabels], Any], pieces: Sequence[Piece | Path]
) -> list[tuple[Any, tuple[Any, Any]]]:
    """Return what a function makes of each shard, and its first and last task."""
    read = (one.labels(shards) if isinstance(one, Piece) else shards.read(one) for one in pieces)
    return [(function(labels), (labels.tasks[0], labels.tasks[-1])) for labels in read]


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


def bytes_of(text: str) -> float:
    """Read an amount of memory such as 500MB, 1.5GB or 0."""
    amount = text.strip().upper()
    unit = next((name for name in UNITS if amount.endswith(name)), "")
    try:
        found = float(amount.removesuffix(unit)) * UNITS.get(unit, 1.0)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise CofactorError(f"memory {text!r}: give an amount such as 500MB or 2GB; 0 keeps nothing")
    return found

"""Passes over shards: every round of a fit reads all labels once, wherever they are and whoever reads them.

Shards that fit into a budget are held decoded, as the indices of a table's indicator: at most 8 bytes a label. Sums of
a round are kept on disk, so that a run that was stopped makes no round twice.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.em import SoftCounts
from cofactor.core.errors import CofactorError
from cofactor.core.files import load_arrays, make_folder, save_arrays, whole_file
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Ints
from cofactor.crowd.copies import without_copies_of
from cofactor.crowd.labels import CrowdLabels
from cofactor_app.scale.threads import Threads

if TYPE_CHECKING:
    from cofactor_app.scale.coded import CodedLabels
    from cofactor_app.scale.shards import LabelShards

ADVICE = "make shards with `cofactor shard`"
BYTES_PER_LABEL = 8  # at most, of a shard that is kept: its column, and where its task begins
SUMS = ("cells", "classes", "n_rows", "sizes", "log_likelihood")
UNITS = {"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "B": 1.0}
T = TypeVar("T")


@dataclass(frozen=True)
class Piece:
    """A shard decoded, without its tasks' ids but the first and the last; the indices of a task rise."""

    indices: NDArray[Any]
    starts: NDArray[Any]
    span: tuple[Any, Any]

    def labels(self, crowd: LabelShards | CodedLabels) -> CrowdLabels:
        """Return the labels of workers and classes of a crowd, with the ids of the first and the last task only."""
        sizes = np.full(len(crowd.workers), len(crowd.classes))
        parts = _ones(len(self.indices)), self.indices, self.starts
        indicator = sparse.csr_array(parts, shape=(len(self.starts) - 1, int(sizes.sum())))
        indicator.has_sorted_indices = True  # looking costs as much as a tenth of an E-step, in every pass
        table = CategoricalTable._with(indicator, sizes)
        table.shared = False
        return CrowdLabels(table, self.span, crowd.workers, crowd.classes)


@cache
def _longest(length: int) -> NDArray[np.float64]:
    ones = np.ones(length)
    ones.flags.writeable = False
    return ones


def _ones(length: int) -> NDArray[np.float64]:
    """Return ones that all pieces share, so that no pass makes them anew."""
    return _longest(1 << max(length - 1, 0).bit_length())[:length]


class Passes:
    """Shards that are read over and over by some threads (default: this one).

    Parameters
    ----------
    memory : float
        Bytes for decoded shards that are held between passes.
    kept : Path, optional
        Folder for the sums of every round. Remove it (`forget`) when the result is safe.
    left_out : set of tasks
        Of which no labels are read, but where labels come with the ids of their tasks.

    Attributes
    ----------
    owner : (M,) array or None
        Whom every worker belongs to, where copies are merged (`merged`); None: they were not looked for.
    given : (M,) array or None
        Labels of every worker before copies were merged, where there are some.
    """

    owner: Ints | None = None
    given: Ints | None = None

    def __init__(
        self,
        shards: LabelShards,
        threads: Threads | None = None,
        memory: float = 0.0,
        kept: Path | None = None,
        left_out: Iterable[Any] = (),
    ) -> None:
        self.left_out = frozenset(left_out)
        self.shards, self.threads, self.memory, self.kept = shards, threads or Threads(), memory, kept
        self._in_memory: dict[Path, Any] = {}  # decoded shards, or calls that decode them

    @property
    def n_labels(self) -> int:
        """The number of labels of all shards, those of copies and of tasks that are left out among them."""
        return sum(map(self.shards.n_labels, self.shards.paths))

    def merged(self, owner: Ints) -> Passes:
        """Return passes in which copies are one worker, as `without_copies`; those are kept that have no copies.

        Cost: where there are copies, one pass; shards are decoded anew.
        """
        found = self
        if not np.array_equal(owner, np.arange(len(owner))):
            found = self.without(self.left_out)
            found.given = sum(self.map(lambda labels: labels.table.entries_per_variable))
            self._in_memory.clear()
        found.owner = owner
        return found

    def without(self, tasks: Iterable[Any]) -> Passes:
        """Return passes in place of these, with the same copies, that leave these tasks out; held shards are let go."""
        self._in_memory.clear()
        found = Passes(self.shards, self.threads, self.memory, self.kept, tasks)
        found.owner, found.given = self.owner, self.given
        return found

    def __iter__(self) -> Iterator[CrowdLabels]:
        """Yield the labels of every shard, read here, without those of copies and of tasks that are left out."""
        return map(self._prepared, self.shards)

    def _prepared(self, labels: CrowdLabels) -> CrowdLabels:
        if self.left_out:
            labels = labels.take_tasks([task not in self.left_out for task in labels.tasks])
        return labels if self.owner is None else without_copies_of(labels, self.owner)

    def map(self, function: Callable[[CrowdLabels], Any], whole: bool = False) -> Iterator[Any]:
        """Return what a function makes of every shard, in their order.

        `whole`: of all labels, as they were given, with the ids of their tasks, read anew.
        Raises a CofactorError as `LabelShards.read`, and where a task lies in two shards.
        """
        paths = self.shards.paths
        calls = ((self._applied, function, path if whole else self._piece(path), whole) for path in paths)
        return disjoint(paths, self.threads.in_order(calls))

    def _applied(self, function: Callable[[CrowdLabels], Any], piece: Piece | Path, whole: bool) -> Any:
        """Return what a function makes of a shard, and its first and last task."""
        labels = piece.labels(self.shards) if isinstance(piece, Piece) else self.shards.read(piece)
        chosen = labels if whole or isinstance(piece, Piece) else self._prepared(labels)
        return function(chosen), (labels.tasks[0], labels.tasks[-1])

    def _decoded(self, path: Path) -> Piece:
        labels = self.shards.read(path)
        F = self._prepared(labels).table.indicator
        return Piece(F.indices, F.indptr, (labels.tasks[0], labels.tasks[-1]))

    def _piece(self, path: Path) -> Any:
        """Return a decoded shard, or the call that decodes it; the path of one that is read in each pass."""
        if path in self._to_hold and path not in self._in_memory:
            self._in_memory[path] = self.threads.submit(self._decoded, path)
        return self._in_memory.get(path, path)

    @cached_property
    def _to_hold(self) -> set[Path]:
        """Paths of the first shards that fit into `memory` together, and are held decoded."""
        if not self.memory:
            return set()
        sizes = BYTES_PER_LABEL * np.cumsum([self.shards.n_labels(path) for path in self.shards.paths])
        return {path for path, size in zip(self.shards.paths, sizes, strict=True) if size <= self.memory}

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
        """Return the name under which the sums of a round are kept: a hash of the shards, the model and its rows."""
        mark = hashlib.sha256("".join(self.shards.manifest[path.name]["sha256"] for path in self.shards.paths).encode())
        mark.update("".join(sorted(map(repr, self.left_out))).encode())
        whole = [np.zeros(0) if one is None else one for one in (rows, self.owner)]
        for array in (model.prior, model.stacked, model.sizes, *whole):
            mark.update(str((array.dtype, array.shape)).encode() + np.ascontiguousarray(array).tobytes())
        return mark.hexdigest()[:32]

    def forget(self) -> None:
        """Remove the sums of all rounds."""
        if self.kept is not None:
            shutil.rmtree(self.kept, ignore_errors=True)


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

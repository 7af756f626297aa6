"""Coded labels of a database that runs in this process, held here: rounds over them need no query.

DuckDB and SQLite are libraries, so this process reads their tables in any case. The table `CODED`, sorted by task and
cell, is one column of whole numbers: a row -1 where a task begins, then its cells. That column is read once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.em import SoftCounts
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.types import Ints
from cofactor.crowd.labels import CrowdLabels
from cofactor_app.scale.coded import CHANGED, CODED, CodedLabels
from cofactor_app.scale.passes import Piece
from cofactor_app.scale.threads import Threads

PER_PIECE = 1 << 18  # tasks, of a piece that one thread works on
BYTES = 4  # of a label, and of a task


class HeldLabels:
    """Labels of a database as pieces of whole tasks, without the tasks' ids; see `cofactor.crowd.evidence.Passes`.

    The labels were coded, see `CodedLabels`. Sums are added up in the order of the pieces, which is that of the tasks.
    Raises a CofactorError where the table of coded labels was changed meanwhile.
    Cost: four bytes a label and a task, and once more as much while they are read; one query, which sorts.
    """

    def __init__(self, labels: CodedLabels, threads: Threads | None = None) -> None:
        self.coded, self.threads = labels, threads or Threads(-1)
        self.pieces = list(pieces(_column(labels), labels.n_tasks))

    @staticmethod
    def size(labels: CodedLabels) -> int:
        """Return the bytes that labels take while they are read, the most that they take."""
        return 2 * BYTES * (labels.n_labels + labels.n_tasks)

    def __iter__(self) -> Iterator[CrowdLabels]:
        """Yield the pieces."""
        return (piece.labels(self.coded) for piece in self.pieces)

    def map(self, function: Callable[[CrowdLabels], Any]) -> Iterator[Any]:
        """Return what a function makes of each piece, in their order."""
        return self.threads.in_order((self._applied, function, piece) for piece in self.pieces)

    def _applied(self, function: Callable[[CrowdLabels], Any], piece: Piece) -> Any:
        return function(piece.labels(self.coded))

    def remembered(self, model: LatentClassModel, rows: Ints | None, count: Callable[[], SoftCounts]) -> SoftCounts:
        """Count the sums now: none are kept."""
        return count()


def _column(labels: CodedLabels) -> NDArray[np.int32]:
    """Return the cells of all tasks, one after the other, each behind a -1."""
    column, n = np.empty(labels.n_labels + labels.n_tasks, dtype=np.int32), 0
    for part in labels.door.column(f"SELECT cell FROM {CODED} ORDER BY task, cell"):
        if n + len(part) > len(column):
            raise CofactorError(CHANGED)
        column[n : n + len(part)] = part
        n += len(part)
    if n < len(column):
        raise CofactorError(CHANGED)
    return column


def pieces(column: NDArray[np.int32], n_tasks: int, per_piece: int | None = None) -> Iterator[Piece]:
    """Yield pieces of the cells of some tasks, one after the other, each behind a -1; default: of `PER_PIECE` tasks."""
    per_piece = per_piece or PER_PIECE
    begins = np.append(np.flatnonzero(column < 0), len(column))
    if len(begins) != n_tasks + 1:
        raise CofactorError(CHANGED)
    for first in range(0, n_tasks, per_piece):
        these = begins[first : first + per_piece + 1]
        part = column[these[0] : these[-1]]
        starts = these - these[0] - np.arange(len(these))  # without the -1 of each task before
        yield Piece(part[part >= 0], starts.astype(np.int32), (first, first + len(these) - 2))

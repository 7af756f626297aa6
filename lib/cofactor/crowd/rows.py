"""Pairs (worker, label): the rows of counts and models, of which a fit needs those only that occur."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from cofactor.core.types import Floats, Ints

WORKERS_OF_A_PIECE = 2048


@dataclass(frozen=True)
class Rows:
    """Pairs (worker, label), the rows of counts and of models: those that occur, or all.

    Attributes
    ----------
    owner, label : (R,) ints
        Worker and label of every row, by worker, then label.
    n_workers, n_classes : int
    """

    owner: Ints
    label: Ints
    n_workers: int
    n_classes: int

    @classmethod
    def of(cls, rows: Ints, n_workers: int, n_classes: int) -> Rows:
        """Return the pairs with these numbers, of all pairs numbered by worker, then label."""
        return cls(rows // n_classes, rows % n_classes, n_workers, n_classes)

    @classmethod
    def all(cls, n_workers: int, n_classes: int) -> Rows:
        """Return all pairs, whether they occur or not."""
        return cls.of(np.arange(n_workers * n_classes), n_workers, n_classes)

    @property
    def sizes(self) -> Ints:
        """Number of rows of every worker: (M,)."""
        return np.bincount(self.owner, minlength=self.n_workers)

    @cached_property
    def places(self) -> Ints:
        """Numbers of the rows, 0 to R - 1: (R,)."""
        return np.arange(len(self.owner))

    @cached_property
    def of_labels(self) -> list[Ints]:
        """Numbers of the rows of each label."""
        return [np.flatnonzero(self.label == label) for label in range(self.n_classes)]

    @cached_property
    def pieces(self) -> list[tuple[slice, slice, Rows]]:
        """Pieces of few workers, whose arrays fit into fast memory: their places, those of their rows, and these."""
        first = np.arange(0, self.n_workers, WORKERS_OF_A_PIECE)
        workers = list(zip(first, np.append(first[1:], self.n_workers), strict=True))
        ends = np.searchsorted(self.owner, np.append(first, self.n_workers))
        return [
            (slice(u, v), slice(x, y), Rows(self.owner[x:y] - u, self.label[x:y], int(v - u), self.n_classes))
            for (u, v), x, y in zip(workers, ends[:-1], ends[1:], strict=True)
        ]

    def by_worker(self, values: Floats) -> Floats:
        """Add up (R,) or (R, K) values over the rows of each worker."""
        return np.asarray(self._workers @ values)

    def by_label(self, values: Floats) -> Floats:
        """Add up (R, K) values over workers: (K, K)."""
        return np.asarray(self._labels @ values)

    @cached_property
    def _workers(self) -> sparse.csr_array:
        return sparse.csr_array(
            (np.ones(len(self.owner)), (self.owner, self.places)), (self.n_workers, len(self.owner))
        )

    @cached_property
    def _labels(self) -> sparse.csr_array:
        return sparse.csr_array(
            (np.ones(len(self.label)), (self.label, self.places)), (self.n_classes, len(self.label))
        )

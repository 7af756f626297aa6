"""Fits of worker types to one set of labels, in memory or in pieces; what `WorkerTypes` makes of them is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from cofactor.core.em import SoftCounts
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.result import Result
from cofactor.core.types import Floats
from cofactor.crowd.base import PRIOR
from cofactor.crowd.dependence import MAX_INDEPENDENT_Z, Dependence, accuracies
from cofactor.crowd.evidence import Evidence
from cofactor.crowd.priors import prior_cells
from cofactor.crowd.rows import Rows
from cofactor.crowd.types import (
    Believe,
    ByClass,
    Coin,
    NoInformation,
    Own,
    TypesBelief,
    WorkerType,
    iterate,
)

ALL_TYPES = ("coin", "class", "own", "none")
MIN_CLASS_VOTES = 1e-3


class Fit:
    """Fits worker types to one set of labels, with different types; the sums that every fit starts from are made once.

    Parameters
    ----------
    evidence : Evidence
        Labels in which copies are merged.
    prior : (a, b)
        Labels imagined for every worker before the first: right ones, and each wrong one.
    max_iter, tol, verbose : see `iterate`
    """

    def __init__(
        self,
        evidence: Evidence,
        prior: tuple[float, float] = PRIOR,
        max_iter: int = 500,
        tol: float = 1e-5,
        verbose: bool = False,
    ) -> None:
        self.labels, self.prior = evidence, prior
        self.rounds = partial(iterate, max_iter=max_iter, tol=tol, verbose=verbose)
        votes = evidence.start()
        M, K = len(votes.sizes), len(votes.classes)
        self.alpha = np.maximum(votes.classes, MIN_CLASS_VOTES)
        self.places = np.flatnonzero(votes.cells.any(axis=1))
        self.rows, self.of_rows = Rows.of(self.places, M, K), evidence.of_rows(self.places)
        self.start = replace(votes, cells=votes.cells[self.places], sizes=self.rows.sizes)
        self.votes = replace(votes, cells=votes.cells[:0])  # cells are many; those that occur are in `start`
        self.active = self.rows.sizes > 0
        self.n_labels, self.n_cells = round(float(votes.cells.sum())), int(self.active.sum()) * K

    def named(self, names: Sequence[str]) -> list[WorkerType]:
        """Return the types of workers that have these names, in the order of `ALL_TYPES`."""
        known: tuple[WorkerType, ...] = (Coin(*self.prior), ByClass(*self.prior), Own(*self.prior), NoInformation())
        return [kind for kind in known if kind.name in names]

    def offered(self) -> tuple[list[WorkerType], Dependence | None]:
        """Return the types, "own" among them where labels are enough and workers do not err together."""
        without = self.named(("coin", "class", "none"))
        if len(self.alpha) < 3 or self.n_labels < self.n_cells:
            return without, None
        together = self.dependence(self.run(self.named(("own",)))[0])
        return (self.named(ALL_TYPES) if together.z <= MAX_INDEPENDENT_Z else without), together

    def of_rows_alone(self, model: LatentClassModel) -> LatentClassModel:
        """Return a model of all workers without the rows that do not occur."""
        return LatentClassModel.from_stacked(model.prior, model.stacked[self.places], self.rows.sizes)

    def dependence(self, belief: TypesBelief) -> Dependence:
        """Return how far workers err together, given what is believed of each."""
        p = accuracies(belief.counts.right, belief.counts.given)
        return self.of_rows.dependence(belief.expected_logs(), p)

    def run(self, types: list[WorkerType]) -> tuple[TypesBelief, SoftCounts, Result]:
        """Iterate from the votes; the counts are those of the posterior of the belief."""
        believe = Believe(types, self.rows, self.alpha, self.active)
        return self.rounds(self.of_rows.e_step, self.start, believe)

    def expected(self, counts: SoftCounts) -> LatentClassModel:
        """Return the Dawid-Skene model of expected confusion matrices, with the prior counts."""
        M = self.rows.n_workers
        cells = np.tile(self._prior_cells(), (M, 1))
        cells[self.places] += counts.cells
        return SoftCounts(cells, counts.classes + self.votes.classes, counts.n_rows, self.votes.sizes).model()

    def average_worker(self, counts: SoftCounts) -> Floats:
        """Return the (K, K) confusion matrix of a worker drawn as often as the labels are."""
        cells = self.rows.by_label(counts.cells) + self._prior_cells()
        return np.asarray(cells / cells.sum(axis=0))

    def _prior_cells(self) -> Floats:
        return prior_cells(self.prior, self.rows.n_classes)

"""Rounds: a fit of worker types to one set of labels, as sums over tasks; see `cofactor.crowd.model` for the symbols.

From r = vote shares and rho = 1 / T, a round is a belief (M-step) and its posterior (E-step). Where workers have few
labels, types are hard to tell apart, and rho takes hundreds of rounds to settle. So after 40 rounds, a round takes the
rho of the highest bound (`cofactor.crowd.model`), not one step towards it. Fits are the same, sooner. Not from the
start: shares that settle while r is near the votes can lead to a lower bound.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from cofactor.core.em import SoftCounts
from cofactor.core.errors import ConvergenceWarning
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.result import History, Result
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import PRIOR, prior_cells
from cofactor.crowd.confidence import (
    MAX_INDEPENDENT_Z,
    Dependence,
    Difficulty,
    accuracies,
    confidence_of,
    dependence_of,
    fit_difficulty,
)
from cofactor.crowd.evidence import Evidence
from cofactor.crowd.model import Belief, Model, within_classes

ROUNDS_OF_ONE_STEP = 40  # after these, each round takes the best shares of the types, not one step towards them
MIN_CLASS_TASKS = 1e-3
UNINFORMED = 0.9  # of the labels, of workers without information: above it, the vote is the answer
USUAL_DESIGN_EFFECT, MAX_CLASSES = 2.4, 50  # the best single one for public crowds, where learning one takes too long
SAMPLED_TASKS = 200_000  # at most about as many, of more, say how much labels repeat one another
MAX_EFFECT_OF_GRADES = 5.0  # a larger one tells that offsets look like difficulty, not that labels repeat one another
WITHOUT_OWN, WITH_OWN = ("coin", "class", "none"), ("coin", "class", "own", "none")


def majorities(shares: Floats, first: int) -> Floats:
    """Return (N, K) shares of the majority vote, ties split, from vote shares; a `Split` of the evidence."""
    most = shares == shares.max(axis=1, keepdims=True)
    return np.asarray(most / most.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Rounds:
    """What rounds led to.

    Attributes
    ----------
    model : Model
    belief : Belief
    counts : SoftCounts
        Of the posterior under this belief.
    result : Result
        `objective` is the lower bound of the log-probability of the labels (nats), up to a constant; it never falls.
    """

    model: Model
    belief: Belief
    counts: SoftCounts
    result: Result


class Fit:
    """Fits worker types to one set of labels, with different types; the sums that every fit starts from are made once.

    Parameters
    ----------
    evidence : Evidence
        Labels in which copies are merged.
    prior : (a, b)
        Labels imagined for every worker before the first: right ones, and each wrong one.
    max_iter, tol, verbose
        Rounds stop when one moves the expected labels by at most `tol`, on average over the labels.
    grades : (K,) ints, optional
        Place of each class in a declared order.

    Cost: a round costs an E-step of K states (3 K with an order), and O(rows K types) digamma functions.
    """

    def __init__(
        self,
        evidence: Evidence,
        prior: tuple[float, float] = PRIOR,
        max_iter: int = 500,
        tol: float = 1e-5,
        verbose: bool = False,
        grades: Ints | None = None,
    ) -> None:
        self.prior, self.max_iter, self.tol, self.verbose, self.grades = prior, max_iter, tol, verbose, grades
        self.of_rows = evidence.occurring()
        self.rows, votes = self.of_rows.rows, self.of_rows.start()
        K, self.start = self.rows.n_classes, replace(votes, sizes=self.rows.sizes)
        self.alpha = np.maximum(self.of_rows.start(majorities).classes, MIN_CLASS_TASKS)
        self.places = self.rows.owner * K + self.rows.label
        self.active = self.rows.sizes > 0
        self.n_labels, self.n_cells = round(float(votes.cells.sum())), int(self.active.sum()) * K

    def model(self, types: tuple[str, ...]) -> Model:
        """Return the model with these types, before its first round."""
        return Model(types, self.rows, self.alpha, self.active, self.prior, self.grades)

    def offered(self) -> tuple[tuple[str, ...], Dependence | None]:
        """Return the types: "own" where labels are enough and workers do not err together, "graded" with an order."""
        types: tuple[str, ...] = WITHOUT_OWN
        together = None
        if len(self.alpha) >= 3 and self.n_labels >= self.n_cells:
            together = self.dependence(self.run(("own",)).belief)
            types = WITH_OWN if together.z <= MAX_INDEPENDENT_Z else WITHOUT_OWN
        return (types if self.grades is None else (*types, "graded")), together

    def run(self, types: tuple[str, ...], max_iter: int | None = None) -> Rounds:
        """Iterate from the votes."""
        model = self.model(types)
        history = History("worker types", max_iter or self.max_iter, self.tol, self.verbose)
        counts = model.begin(self.start)
        for n in history:
            belief = model(counts, n >= ROUNDS_OF_ONE_STEP)
            before, counts = counts, self.of_rows.e_step(belief.model)
            change = float(np.abs(counts.cells - before.cells).sum() / before.cells.sum())
            history.record(counts.log_likelihood - belief.divergence, change)
        return Rounds(model, belief, counts, history.result())

    def log_probability(self, max_iter: int) -> float:
        """Return the bound of the log-probability of the labels after so many rounds of coin, class and none (nats)."""
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            found = self.run(WITHOUT_OWN, max_iter)
        return found.model.log_probability(found.belief, found.counts)

    def gain_of_difficulty(self) -> float:
        """Return the nats that tasks of different difficulty gain; at least zero."""
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            counts = self.run(WITHOUT_OWN).counts
        start = self.of_rows_alone(self.expected(counts))
        fits = [fit_difficulty(self.of_rows.e_step, start, self.rows, self.alpha, x)[1] for x in (0.5, 0.0)]
        return max(fits[0] - fits[1], 0.0)

    def uninformed(self, found: Rounds) -> bool:
        """Return whether more than nine tenths of the labels are of workers without information."""
        n = self.rows.by_worker(self.start.cells.sum(axis=1))
        return bool(found.belief.q[:, found.belief.types.index("none")] @ n > UNINFORMED * n.sum())

    def effect(self, found: Rounds) -> tuple[float, Difficulty | None]:
        """Return the design effect under which the posterior is as sure as the model of difficulty, and that model.

        Of very many tasks, a sample says how sure both are, with the matrices of all. With an order the effect is at
        most 5; with more than 50 classes it is 2.4, and no model is fitted.
        """
        if len(self.alpha) > MAX_CLASSES:
            return USUAL_DESIGN_EFFECT, None
        start = self.of_rows_alone(self.expected(found.counts))
        difficulty, _ = fit_difficulty(self.of_rows.e_step, start, self.rows, self.alpha)
        some = self.of_rows.sample(SAMPLED_TASKS)
        other, n_classes = difficulty.model(self.rows), len(self.alpha)
        sure = partial(confidence_of, model=found.belief.model, other=other, n_classes=n_classes)
        effect = some.pieces.sum(sure).design_effect
        return (effect if self.grades is None else min(effect, MAX_EFFECT_OF_GRADES)), difficulty

    def of_rows_alone(self, model: LatentClassModel) -> LatentClassModel:
        """Return a model of all workers without the rows that do not occur."""
        return LatentClassModel.from_stacked(model.prior, model.stacked[self.places], self.rows.sizes)

    def dependence(self, belief: Belief) -> Dependence:
        """Return how far workers err together, given what is believed of each."""
        p = accuracies(*belief.right_and_given)
        return self.of_rows.pieces.sum(partial(dependence_of, model=belief.model, p=p, rows=self.rows))

    def expected(self, counts: SoftCounts) -> LatentClassModel:
        """Return the Dawid-Skene model of expected confusion matrices of all workers, with the prior counts."""
        K, M = self.rows.n_classes, self.rows.n_workers
        cells = np.tile(prior_cells(self.prior, K), (M, 1))
        cells[self.places] += within_classes(counts.cells, K)
        classes = within_classes(counts.classes, K) + self.alpha
        return SoftCounts(cells, classes, counts.n_rows, np.full(M, K)).model()

    def average_worker(self, counts: SoftCounts) -> Floats:
        """Return the (K, K) confusion matrix of a worker drawn as often as the labels are."""
        K = self.rows.n_classes
        cells = self.rows.by_label(within_classes(counts.cells, K)) + prior_cells(self.prior, K)
        return np.asarray(cells / cells.sum(axis=0))

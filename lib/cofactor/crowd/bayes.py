"""BayesDS, the default of this kit: Dawid-Skene with a prior; its published relatives are in `baselines.bayesian`.

Source: Kim and Ghahramani, "Bayesian classifier combination", AISTATS 2012; Li, Rubinstein and Cohn, "Exploiting worker
correlation for label aggregation in crowdsourcing", ICML 2019.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from cofactor.core.checks import check_positive, check_whole
from cofactor.core.em import SoftCounts
from cofactor.core.errors import CofactorError
from cofactor.core.estimator import clone
from cofactor.core.result import Result
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import PRIOR, Aggregator
from cofactor.crowd.calibration import GoldCheck, HeldOut, tempered
from cofactor.crowd.dependence import Dependence, accuracies
from cofactor.crowd.difficulty import Difficulty, fit_difficulty
from cofactor.crowd.evidence import UNKNOWN, Evidence, split_by_agreement
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.variational import (
    AnyBelief,
    Belief,
    Cells,
    LearnedStrengths,
    Priors,
    SharedErrors,
    variational_em,
)

Structure = Literal["auto", "own", "kinds", "shared"]

STRUCTURES: tuple[Structure, ...] = ("own", "kinds", "shared")
MAX_INDEPENDENT_Z = 2.0  # above it, workers are taken to err together (see Dependence)
USUAL_DESIGN_EFFECT = 2.4  # where none is learned: the best single one for public crowds
MAX_CLASSES = 50  # with more, learning the design effect takes too long
MIN_CLASS_VOTES = 1e-3
MIN_GOLD_TASKS = 30  # for a check on held-out gold tasks
N_FOLDS = 5


class VariationalAggregator(Aggregator):
    """Base class of aggregators whose model is a belief: Dirichlet distributions of all confusion matrices.

    A method implements `fit_evidence`, which sets `belief_`, `result_` and `model_`.

    Parameters
    ----------
    diagonal, off : float
        Prior counts of a confusion matrix's column: of the right label, and of each wrong one.
    max_iter, tol
        Rounds stop when the evidence changes by at most `tol`, relative to its size, or after `max_iter`.
    random_state, verbose
        See `Aggregator`; only EBCC draws random numbers.

    Attributes after `fit`
    ----------------------
    belief_ : Belief or SharedErrors
        Parameters of all distributions.
    model_, result_, ... : see `Aggregator`
        `model_` has one confusion matrix a worker, the mean of the belief over kinds of tasks.
    """

    belief_: AnyBelief

    diagonal: float
    off: float
    max_iter: int
    tol: float

    def _takes_gold(self) -> bool:
        return True

    def _fit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        self.fit_evidence(Evidence.of(labels, gold))

    def fit_evidence(self, evidence: Evidence) -> None:
        """Set `belief_`, `model_` and `result_` from labels in memory or in shards."""
        raise NotImplementedError

    def _check_settings(self) -> None:
        check_positive(diagonal=self.diagonal, off=self.off)
        check_whole(1, max_iter=self.max_iter)

    def _keep(self, found: tuple[AnyBelief, Result]) -> None:
        belief, self.result_ = found
        self.belief_ = belief.everywhere()
        self.model_ = self.belief_.mean()

    def _posterior(self, labels: CrowdLabels) -> Floats:
        """Return the posterior of the model, the kinds added up; of a task without labels, the prior."""
        states = self._for_workers(self.belief_.expected_logs(), labels.workers)
        by_kind = states.posterior(labels.table).reshape(labels.n_tasks, labels.n_classes, -1)
        empty = labels.table.entries_per_row == 0
        return np.where(empty[:, None], self.model_.prior, by_kind.sum(axis=2))

    def _population(self, blocks: Floats) -> Floats:
        """Return the (K, S) expected confusion matrix of a worker who is not known."""
        return self.belief_.population()


@dataclass(eq=False, repr=False)
class BayesDS(VariationalAggregator):
    """Bayesian Dawid-Skene that looks how far its assumptions hold: the default of this kit.

    Every confusion matrix has a prior, so that few labels move it little. There are three structures:

    - own: every worker errs in a way of his own (Dawid and Skene);
    - kinds: tasks of one class come in two kinds, easy and hard, each with confusion matrices of its own;
    - shared: workers differ in how often they are right; what is taken for what is the same for all.

    The labels choose the structure ("auto"). Two kinds are taken where the evidence of the labels (a lower bound of
    their probability) is larger with them. Otherwise, with three classes or more, errors are shared where workers err
    together on the same tasks (`Dependence.z` above 2), which no structure of independent workers explains, or where
    labels are fewer than cells of confusion matrices and the evidence is larger. With less than one label a class and
    worker, as with many classes, only shared errors are fitted.

    Labels of one task repeat one another more than any of these structures says. So the posterior z of task i is
    flattened before it is given out, the more the more labels n_i it has; the label stays that of z:

        p_ik proportional to z_ik^beta_i,   beta_i = 1 / sqrt(1 + design_effect (n_i - 1))

    The design effect is learned. A second model, in which tasks of one class differ in difficulty
    (`cofactor.crowd.difficulty`), says how probable the chosen labels are on average; the design effect is the one
    under which p says the same.

    Parameters
    ----------
    structure : "auto", "own", "kinds" or "shared"
    design_effect : float, optional
        How much the labels of a task repeat one another; 0 leaves the posterior as it is. Default: learned as above;
        2.4 with more than 50 classes, where that takes too long; with 30 gold tasks or more, the value of smallest
        log-loss on gold tasks that were held out.
    diagonal, off, max_iter, tol, random_state, verbose
        See `VariationalAggregator`; the method is deterministic.

    Attributes after `fit`
    ----------------------
    structure_ : "own", "kinds" or "shared"
    kinds_ : int
        Kinds of tasks a class, 1 or 2.
    evidence_ : dict
        The evidence (ELBO, nats) of the structures that were compared.
    dependence_ : Dependence
        Whether workers err together more than "own" has it.
    design_effect_ : float
    difficulty_ : Difficulty or None
        How much tasks of a class differ in difficulty, where the design effect was learned.
    gold_check_ : GoldCheck or None
        With 30 gold tasks or more: how well they are predicted where they are not shown.
    belief_, model_, result_, ... : see `VariationalAggregator`

    Cost
    ----
    Two to four fits. A round costs an E-step of K states, or of 2 K for two kinds: O(labels K). The design effect
    takes up to 50 rounds of 7 K states.

    Source and deviations
    ---------------------
    Kim and Ghahramani, AISTATS 2012 ("own"); Li, Rubinstein and Cohn, ICML 2019 ("kinds", there subtypes of tasks), for
    the models and their updates. Here there are two kinds at most, started from the votes' agreement instead of at
    random forty times, and the class prior is that of the votes. "shared", the choice between the structures and the
    flattening are this kit's; their constants were found on the 17 public sets of `cofactor reproduce crowd-benchmark`
    and on simulated crowds, see docs/aggregation.md.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> BayesDS().fit(labels).predict(labels).tolist()
    [0, 1]
    """

    structure: Structure = "auto"
    takes_shares = True
    diagonal: float = PRIOR[0]
    off: float = PRIOR[1]
    design_effect: float | None = None
    max_iter: int = 500
    tol: float = 1e-6
    random_state: int | None = None
    verbose: bool = False

    def _fit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        self.fit_evidence(Evidence.of(labels, gold))
        if gold is not None and np.sum(gold != UNKNOWN) >= MIN_GOLD_TASKS:
            held_out = self._held_out(labels, gold)
            if self.design_effect is None:
                self.design_effect_ = held_out.best_design_effect()
            self.gold_check_: GoldCheck | None = held_out.check(self.design_effect_)

    def fit_evidence(self, evidence: Evidence) -> None:
        """Set `belief_`, `model_` and `result_` from labels in memory or in shards."""
        self._check_settings()
        fits = Fits(self, evidence)
        self.dependence_ = fits.dependence()
        self.structure_ = self._chosen(fits) if self.structure == "auto" else self.structure
        self._keep(fits[self.structure_])
        self.evidence_ = {name: fits.evidence(name) for name in fits if name in STRUCTURES}
        self.kinds_ = self.belief_.priors.kinds
        self.gold_check_ = None
        self.difficulty_: Difficulty | None = None
        self.design_effect_ = self._learned_effect(fits) if self.design_effect is None else self.design_effect

    def _check_settings(self) -> None:
        if self.structure not in ("auto", *STRUCTURES):
            raise CofactorError(f"structure={self.structure!r}: choose one of auto, {', '.join(STRUCTURES)}")
        super()._check_settings()
        if self.design_effect is not None:
            check_positive(zero=True, design_effect=self.design_effect)

    def _chosen(self, fits: Fits) -> Structure:
        """Return the structure that the labels speak for."""
        if fits.fewer_than_classes:
            return "shared"
        if not fits.fewer_than_cells and fits.evidence("kinds") > fits.evidence("own"):
            return "kinds"
        if fits.n_classes == 2:
            return "own"  # there is one error only: nothing to share
        if self.dependence_.z > MAX_INDEPENDENT_Z:
            return "shared"
        if fits.fewer_than_cells and fits.evidence("shared, given strengths") > fits.evidence("own"):
            return "shared"
        return "own"

    def _learned_effect(self, fits: Fits) -> float:
        """Return the design effect under which the posterior is as sure as the model of difficulty."""
        if fits.n_classes > MAX_CLASSES:
            return USUAL_DESIGN_EFFECT
        self.difficulty_ = fit_difficulty(fits.labels.e_step, self.model_, class_votes(fits.votes))
        return fits.labels.confidence(self.belief_.expected_logs(), self.difficulty_.model()).design_effect

    def _posterior(self, labels: CrowdLabels) -> Floats:
        return tempered(super()._posterior(labels), labels.table.entries_per_row, self.design_effect_)

    def _held_out(self, labels: CrowdLabels, gold: Ints) -> HeldOut:
        """Predict gold tasks from fits that were shown the other gold tasks only."""
        known = np.flatnonzero(gold != UNKNOWN)
        posterior = np.empty((len(known), labels.n_classes))
        for fold in range(N_FOLDS):
            mine = np.arange(len(known)) % N_FOLDS == fold
            shown = gold.copy()
            shown[known[mine]] = UNKNOWN
            again = clone(self).set_params(structure=self.structure_, design_effect=0.0)  # not tempered here
            again.workers_, again.classes_ = labels.workers, labels.classes
            again.fit_evidence(Evidence.of(labels, shown))
            posterior[mine] = super(BayesDS, again)._posterior(labels.take_tasks(known[mine]))
        return HeldOut(posterior, labels.table.entries_per_row[known], gold[known])


class Fits(dict[str, tuple[AnyBelief, Result]]):
    """Fits of one method's structures to the same labels, each made when it is first asked for."""

    def __init__(self, method: BayesDS, evidence: Evidence) -> None:
        super().__init__()
        self.method, self.labels = method, evidence
        self.votes = evidence.start()
        self.n_classes, n_workers = len(self.votes.classes), len(self.votes.sizes)
        self.n_labels, self.n_pairs = round(float(self.votes.cells.sum())), n_workers * self.n_classes
        self.rows = np.flatnonzero(self.votes.cells.any(axis=1))
        self.cells = Cells.of(self.rows, n_workers, self.n_classes)
        self.of_rows = evidence.of_rows(self.rows)

    def __missing__(self, structure: str) -> tuple[AnyBelief, Result]:
        start = self.labels.start(split_by_agreement) if structure == "kinds" else self.votes
        self[structure] = self.run(structure, start, (self.method.diagonal, self.method.off))
        return self[structure]

    def run(self, structure: str, start: SoftCounts, strengths: tuple[float, float]) -> tuple[AnyBelief, Result]:
        """Iterate from soft counts, and strengths where they are learned."""
        method, one_kind, labels = self.method, self._priors(1), self.labels
        beliefs: dict[str, Callable[[SoftCounts], AnyBelief]] = {
            "own": partial(Belief.after, priors=one_kind),
            "kinds": partial(Belief.after, priors=self._priors(2)),
            "shared": LearnedStrengths(one_kind, self.cells, strengths),
            "shared, given strengths": partial(SharedErrors.after, priors=one_kind, cells=self.cells),
        }
        believe = beliefs[structure]
        if structure.startswith("shared"):
            start, labels = replace(start, cells=start.cells[self.rows], sizes=self.cells.sizes), self.of_rows
        return variational_em(labels.e_step, start, believe, method.max_iter, method.tol, method.verbose)

    def _priors(self, kinds: int) -> Priors:
        return Priors(self.method.diagonal, self.method.off, class_votes(self.votes), kinds)

    def evidence(self, structure: str) -> float:
        """Return the lower bound of the log-probability of the labels."""
        return float(self[structure][1].objective[-1])

    @property
    def fewer_than_cells(self) -> bool:
        """Whether there are fewer labels than cells of confusion matrices."""
        return bool(self.n_labels < self.n_pairs * self.n_classes)

    @property
    def fewer_than_classes(self) -> bool:
        """Whether a worker has less than one label a class on average, with three classes or more."""
        return bool(self.n_labels < self.n_pairs) and self.n_classes > 2

    def dependence(self) -> Dependence:
        """Return whether workers err together, given what "own" believes of them; "shared" where labels are few."""
        name, labels = ("shared", self.of_rows) if self.fewer_than_classes else ("own", self.labels)
        belief = self[name][0]
        return labels.dependence(belief.expected_logs(), accuracies(*belief.right_and_given()))


def class_votes(votes: SoftCounts) -> Floats:
    """alpha, the votes each class got, in tasks. It must be positive: one without votes counts as a thousandth."""
    return np.maximum(votes.classes, MIN_CLASS_VOTES)

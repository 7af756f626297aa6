"""Aggregators with a prior: the default of this kit (BayesDS), and its published relatives IBCC and EBCC.

Source: Kim and Ghahramani, "Bayesian classifier combination", AISTATS 2012 (IBCC); Li, Rubinstein and Cohn,
"Exploiting worker correlation for label aggregation in crowdsourcing", ICML 2019 (EBCC).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from sklearn.base import clone

from cofactor.core.checks import check_positive, check_whole
from cofactor.core.em import SoftCounts
from cofactor.core.errors import CofactorError
from cofactor.core.result import Result
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import PRIOR, Aggregator
from cofactor.crowd.calibration import GoldCheck, HeldOut, tempered
from cofactor.crowd.dependence import Dependence, accuracies
from cofactor.crowd.difficulty import Difficulty, fit_difficulty
from cofactor.crowd.evidence import UNKNOWN, Evidence, split_by_agreement
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.variational import AnyBelief, Belief, Cells, LearnedStrengths, Priors, SharedErrors, variational_em

Structure = Literal["auto", "own", "kinds", "shared"]

STRUCTURES: tuple[Structure, ...] = ("own", "kinds", "shared")
ERR_TOGETHER = 2.0  # standard errors of the dependence, above which errors are shared
USUAL_EFFECT = 2.4  # the best of one design effect for all public crowds
MOST_CLASSES = 50  # for which the effects of tasks are fitted
LEAST_VOTES = 1e-3
LEAST_GOLD = 30  # gold tasks from which a check on held-out ones says something
FOLDS = 5


class VariationalAggregator(Aggregator):
    """Base class of aggregators whose model is a belief: Dirichlet distributions of all confusion matrices.

    A method implements `fit_evidence`, which sets `belief_`, `result_` and `model_`.

    Attributes after `fit`
    ----------------------
    belief_ : Belief or SharedErrors
        Parameters of all distributions.
    model_, result_, ... : see `Aggregator`
        `model_` has one confusion matrix a worker, the mean of the belief over kinds of tasks.
    """

    max_iter: int
    belief_: AnyBelief

    def _takes_gold(self) -> bool:
        return True

    def _fit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        self.fit_evidence(Evidence.of(labels, gold))

    def fit_evidence(self, evidence: Evidence) -> None:
        """Set `belief_`, `model_` and `result_` from labels in memory or in shards."""
        raise NotImplementedError

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


class BayesDS(VariationalAggregator):
    """Bayesian Dawid-Skene that looks how far its assumptions hold: the default of this kit.

    Every worker's confusion matrix has a prior, so that few labels move it little. Three structures are offered:

    - own: every worker errs in a way of his own (Dawid and Skene);
    - kinds: tasks of one class come in two kinds, easy and hard, each with confusion matrices of its own;
    - shared: workers differ in how often they are right; what is taken for what is the same for all.

    Two kinds are taken where the evidence of the labels (a lower bound of their probability) is larger with them.
    Otherwise, with three classes or more, errors are shared where workers err together on the same tasks, which no
    structure of independent workers explains (`Dependence.z` above 2), or where there are fewer labels than cells of
    confusion matrices and the evidence is larger. Where a worker has less than one label a class, as with many classes,
    nothing can be known of errors of his own, and only shared errors are fitted.

    Labels of one task repeat one another more than any of these has it, so the posterior is flattened before it is
    given out, by the factor that correlated labels widen a standard error by:

        p_ik proportional to z_ik^beta_i,   beta_i = 1 / sqrt(1 + design_effect (n_i - 1))

    with z_i the posterior and n_i the labels of task i. The label is that of z.

    Parameters
    ----------
    structure : "auto", "own", "kinds" or "shared"
    diagonal, off : float
        Prior counts of a confusion matrix's column: of the right label, and of each wrong one.
    design_effect : float, optional
        How much the labels of a task repeat one another: 0 where they are independent given its class. Default: the
        one that makes the posterior as sure as a model in which tasks differ in difficulty (`difficulty_`); 2.4 with
        more than 50 classes, where that takes too long; with 30 gold tasks or more, the value of smallest log-loss on
        gold tasks that were held out.
    max_iter, tol
        Rounds stop when the evidence changes by at most `tol`, relative to its size, or after `max_iter`.
    random_state, verbose
        See `Aggregator`; the method is deterministic.

    Attributes after `fit`
    ----------------------
    structure_ : "own", "kinds" or "shared"
        Other than "own" says that tasks differ in more than their class, or that workers share errors.
    kinds_ : int
        Kinds of tasks a class, 1 or 2.
    evidence_ : dict
        The evidence (ELBO, nats) of the structures that were compared.
    dependence_ : Dependence
        Whether workers err together more than "own" has it.
    design_effect_ : float
    difficulty_ : Difficulty or None
        How much tasks of a class differ in difficulty, where the design effect was learned from that.
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
    the models and their updates. Here kinds are started from the votes' agreement instead of at random forty times,
    there are at most two, the class prior is that of the votes, and the posterior is flattened. "shared", the choice
    between the structures and the constants are this kit's; they were found on the 17 public sets of
    `cofactor reproduce crowd-benchmark` and on simulated crowds, which that page says more about.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> BayesDS().fit(labels).predict(labels).tolist()
    [0, 1]
    """

    structure_: str
    kinds_: int
    evidence_: dict[str, float]
    dependence_: Dependence
    design_effect_: float
    difficulty_: Difficulty | None
    gold_check_: GoldCheck | None

    def __init__(
        self,
        structure: Structure = "auto",
        diagonal: float = PRIOR[0],
        off: float = PRIOR[1],
        design_effect: float | None = None,
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(random_state=random_state, verbose=verbose)
        self.structure = structure
        self.diagonal, self.off = diagonal, off
        self.design_effect = design_effect
        self.max_iter, self.tol = max_iter, tol

    def _fit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        self.fit_evidence(Evidence.of(labels, gold))
        if gold is not None and np.sum(gold != UNKNOWN) >= LEAST_GOLD:
            held_out = self._held_out(labels, gold)
            if self.design_effect is None:
                self.design_effect_ = held_out.best_design_effect()
            self.gold_check_ = held_out.check(self.design_effect_)

    def fit_evidence(self, evidence: Evidence) -> None:
        """Set `belief_`, `model_` and `result_` from labels in memory or in shards."""
        self._check_settings()
        fits = Fits(self, evidence)
        self.dependence_ = fits.dependence()
        self.structure_ = self._chosen(fits) if self.structure == "auto" else self.structure
        self._keep(fits[self.structure_])
        self.evidence_ = {name: fits.evidence(name) for name in fits if name in STRUCTURES}
        self.kinds_, self.gold_check_ = self.belief_.priors.kinds, None
        self.difficulty_ = None
        self.design_effect_ = self._learned_effect(fits) if self.design_effect is None else self.design_effect

    def _check_settings(self) -> None:
        if self.structure not in ("auto", *STRUCTURES):
            raise CofactorError(f"structure={self.structure!r}: choose one of auto, {', '.join(STRUCTURES)}")
        check_positive(diagonal=self.diagonal, off=self.off)
        if self.design_effect is not None:
            check_positive(zero=True, design_effect=self.design_effect)
        check_whole(1, max_iter=self.max_iter)

    def _chosen(self, fits: Fits) -> Structure:
        """Return the structure that the labels speak for."""
        if fits.few:
            return "shared"
        if not fits.thin and fits.evidence("kinds") > fits.evidence("own"):
            return "kinds"
        if fits.n_classes == 2:
            return "own"  # there is one error only: nothing to share
        if self.dependence_.z > ERR_TOGETHER:
            return "shared"
        return "shared" if fits.thin and fits.evidence("shared, given strengths") > fits.evidence("own") else "own"

    def _learned_effect(self, fits: Fits) -> float:
        """Return the design effect under which the posterior is as sure as where tasks differ in difficulty."""
        if fits.n_classes > MOST_CLASSES:
            return USUAL_EFFECT
        self.difficulty_ = fit_difficulty(fits.labels.e_step, self.model_, class_votes(fits.votes))
        return fits.labels.confidence(self.belief_.expected_logs(), self.difficulty_.model()).design_effect

    def _posterior(self, labels: CrowdLabels) -> Floats:
        return tempered(super()._posterior(labels), labels.table.entries_per_row, self.design_effect_)

    def _held_out(self, labels: CrowdLabels, gold: Ints) -> HeldOut:
        """Predict gold tasks from fits that were shown the other gold tasks only."""
        known = np.flatnonzero(gold != UNKNOWN)
        posterior = np.empty((len(known), labels.n_classes))
        for fold in range(FOLDS):
            mine = np.arange(len(known)) % FOLDS == fold
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
        self.n_labels, self.n_pairs = self.votes.cells.sum(), n_workers * self.n_classes
        self.rows = np.flatnonzero(self.votes.cells.any(axis=1))
        self.cells = Cells.of(self.rows, n_workers, self.n_classes)
        self.of_rows = evidence.of_rows(self.rows)

    def __missing__(self, structure: str) -> tuple[AnyBelief, Result]:
        method, one_kind = self.method, self._priors(1)
        believe: dict[str, Callable[[SoftCounts], AnyBelief]] = {
            "own": partial(Belief.after, priors=one_kind),
            "kinds": partial(Belief.after, priors=self._priors(2)),
            "shared": LearnedStrengths(one_kind, self.cells, (method.diagonal, method.off)),
            "shared, given strengths": partial(SharedErrors.after, priors=one_kind, cells=self.cells),
        }
        start = self.labels.start(split_by_agreement) if structure == "kinds" else self.votes
        labels = self.labels
        if structure.startswith("shared"):
            start, labels = replace(start, cells=start.cells[self.rows], sizes=self.cells.sizes), self.of_rows
        rounds = method.max_iter, method.tol, method.verbose
        self[structure] = variational_em(labels.e_step, start, believe[structure], *rounds)
        return self[structure]

    def _priors(self, kinds: int) -> Priors:
        return Priors(self.method.diagonal, self.method.off, class_votes(self.votes), kinds)

    def evidence(self, structure: str) -> float:
        """Return the lower bound of the log-probability of the labels."""
        return float(self[structure][1].objective[-1])

    @property
    def thin(self) -> bool:
        """Whether there are fewer labels than cells of confusion matrices."""
        return bool(self.n_labels < self.n_pairs * self.n_classes)

    @property
    def few(self) -> bool:
        """Whether a worker has less than one label a class, of three classes or more."""
        return bool(self.n_labels < self.n_pairs) and self.n_classes > 2

    def dependence(self) -> Dependence:
        """Return whether workers err together, given what "own" believes of them; "shared" where labels are few."""
        name, labels = ("shared", self.of_rows) if self.few else ("own", self.labels)
        belief = self[name][0]
        return labels.dependence(belief.expected_logs(), accuracies(*belief.right_and_given()))


def class_votes(votes: SoftCounts) -> Floats:
    """alpha, the votes each class got, in tasks. It must be positive: one without votes counts as a thousandth."""
    return np.maximum(votes.classes, LEAST_VOTES)


class EBCC(VariationalAggregator):
    """Enhanced Bayesian classifier combination: many kinds of tasks a class, from random starts.

    Parameters
    ----------
    kinds : int
        Kinds of tasks a class (subtypes).
    n_starts : int
        Random starts; the one of largest evidence (ELBO) is kept.
    diagonal, off : float
        Prior counts of a confusion matrix's column: of the right label, and of each wrong one.
    max_iter, tol
        As in `BayesDS`.
    random_state : int, optional
        Of the starts; None is 0.
    verbose : bool

    Cost
    ----
    `n_starts` times that of `BayesDS` with so many kinds.

    Source and deviations
    ---------------------
    Li, Rubinstein and Cohn, ICML 2019, with its 10 kinds, 40 starts and prior counts; the class prior is that of the
    votes, as in their experiments. Deviation: rounds stop when the evidence settles.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> EBCC(kinds=2, n_starts=2).fit(labels).predict(labels).tolist()
    [0, 1]
    """

    def __init__(
        self,
        kinds: int = 10,
        n_starts: int = 40,
        diagonal: float = PRIOR[0],
        off: float = PRIOR[1],
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: int | None = 0,
        verbose: bool = False,
    ) -> None:
        super().__init__(random_state=random_state, verbose=verbose)
        self.kinds, self.n_starts = kinds, n_starts
        self.diagonal, self.off = diagonal, off
        self.max_iter, self.tol = max_iter, tol

    def fit_evidence(self, evidence: Evidence) -> None:
        """Set `belief_`, `model_` and `result_` from labels in memory or in shards."""
        check_whole(1, kinds=self.kinds, n_starts=self.n_starts, max_iter=self.max_iter)
        check_positive(diagonal=self.diagonal, off=self.off)
        votes = evidence.start()
        believe = partial(Belief.after, priors=Priors(self.diagonal, self.off, class_votes(votes), self.kinds))
        runs = []
        for rng in np.random.default_rng(self.random_state or 0).spawn(self.n_starts):
            start = evidence.start(partial(self._split, rng=rng))
            runs.append(variational_em(evidence.e_step, start, believe, self.max_iter, self.tol, self.verbose))
        self._keep(max(runs, key=lambda run: float(run[1].objective[-1])))

    def _split(self, shares: Floats, rng: np.random.Generator) -> Floats:
        """Split (N, K) vote shares at random into (N, K M) states."""
        parts = rng.dirichlet(np.ones(self.kinds), shares.shape)
        return np.asarray((shares[:, :, None] * parts).reshape(len(shares), -1))


class IBCC(VariationalAggregator):
    """Independent Bayesian classifier combination: variational Bayes for the Dawid-Skene model.

    Parameters
    ----------
    diagonal, off : float
        Prior counts of a confusion matrix's column: of the right label, and of each wrong one.
    class_count : float
        Prior count of every class.
    max_iter, tol, random_state, verbose
        As in `BayesDS`.

    Cost: O(labels K) per round. Source: Kim and Ghahramani, AISTATS 2012, by variational Bayes instead of sampling,
    with the priors of Li, Rubinstein and Cohn, ICML 2019.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> IBCC().fit(labels).predict(labels).tolist()
    [0, 1]
    """

    def __init__(
        self,
        diagonal: float = PRIOR[0],
        off: float = PRIOR[1],
        class_count: float = 1.0,
        max_iter: int = 500,
        tol: float = 1e-7,
        random_state: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(random_state=random_state, verbose=verbose)
        self.diagonal, self.off, self.class_count = diagonal, off, class_count
        self.max_iter, self.tol = max_iter, tol

    def fit_evidence(self, evidence: Evidence) -> None:
        """Set `belief_`, `model_` and `result_` from labels in memory or in shards."""
        check_positive(diagonal=self.diagonal, off=self.off, class_count=self.class_count)
        check_whole(1, max_iter=self.max_iter)
        votes = evidence.start()
        classes = np.full(len(votes.classes), float(self.class_count))
        believe = partial(Belief.after, priors=Priors(self.diagonal, self.off, classes))
        self._keep(variational_em(evidence.e_step, votes, believe, self.max_iter, self.tol, self.verbose))

"""Aggregators with a prior: the default of this kit (BayesDS), and its published relatives IBCC and EBCC.

Source: Kim and Ghahramani, "Bayesian classifier combination", AISTATS 2012 (IBCC); Li, Rubinstein and Cohn,
"Exploiting worker correlation for label aggregation in crowdsourcing", ICML 2019 (EBCC).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.base import clone

from cofactor.core.checks import check_positive, check_whole
from cofactor.core.em import SoftCounts
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import FLOOR
from cofactor.core.result import Result
from cofactor.core.tables import Ints
from cofactor.crowd.base import PRIOR, Aggregator, error_rate
from cofactor.crowd.evidence import UNKNOWN, Evidence, split_by_agreement
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.variational import AnyBelief, Belief, Priors, variational_em

Floats = NDArray[np.float64]
Kinds = int | Literal["evidence"]

DESIGN_EFFECT = 0.4
LEAST_VOTES = 1e-3
LEAST_GOLD = 30  # gold tasks from which a check on held-out ones says something
FOLDS = 5
LARGEST_EFFECT = 20.0  # tried on gold tasks: twenty labels then say little more than one


def tempered(posterior: Floats, n_labels: Ints, design_effect: float) -> Floats:
    """Flatten posteriors of tasks whose labels repeat one another: p proportional to z^(1 / (1 + effect (n - 1))).

    Parameters
    ----------
    posterior : (N, K) array
        z.
    n_labels : (N,) ints
        n, labels of every task. With one label or none, p is z.
    design_effect : float
        0: p is z everywhere.

    Source: Kish, "Survey sampling", 1965, for the design effect 1 + rho (n - 1) of n answers with correlation rho.
    """
    power = 1 / (1 + design_effect * np.maximum(n_labels - 1, 0))
    with np.errstate(divide="ignore"):
        return np.asarray(softmax(np.log(posterior) * power[:, None], axis=1))


@dataclass(frozen=True)
class GoldCheck:
    """How well gold tasks are predicted by fits that were not shown them.

    Attributes
    ----------
    n_tasks : int
    error : float
        Share labelled wrongly.
    confidence : float
        Mean probability of the label: one minus the error, if the probabilities can be believed.
    log_loss : float
        Nats.
    """

    n_tasks: int
    error: float
    confidence: float
    log_loss: float


@dataclass(frozen=True)
class HeldOut:
    """Posteriors (n, K) of gold tasks that were held out, with their labels' numbers and classes (n,)."""

    posterior: Floats
    n_labels: Ints
    truth: Ints

    def probabilities(self, design_effect: float) -> Floats:
        """Return the tempered posteriors."""
        return tempered(self.posterior, self.n_labels, design_effect)

    def log_loss(self, design_effect: float) -> float:
        """Mean negative logarithm of the true class's probability."""
        p = self.probabilities(design_effect)[np.arange(len(self.truth)), self.truth]
        return float(-np.mean(np.log(np.maximum(p, FLOOR))))

    def best_design_effect(self) -> float:
        """Return the design effect of the smallest log-loss."""
        return float(minimize_scalar(self.log_loss, bounds=(0.0, LARGEST_EFFECT), method="bounded").x)

    def check(self, design_effect: float) -> GoldCheck:
        """Say how well the held-out tasks are predicted."""
        p = self.probabilities(design_effect)
        return GoldCheck(
            len(self.truth), error_rate(p, self.truth), float(p.max(axis=1).mean()), self.log_loss(design_effect)
        )


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
        self.belief_, self.result_ = found
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
    """Bayesian Dawid-Skene with one or two kinds of tasks a class: the default of this kit.

    Every worker's confusion matrix has a Dirichlet prior, so that few labels move it little. Tasks of one class may
    come in two kinds, easy and hard, each with its own confusion matrices; the evidence of the labels (a lower bound
    of their probability) decides between one kind and two. Labels of one task are less independent than any such
    model has it, so the posterior is tempered before it is given out:

        p_ik proportional to z_ik^beta_i,   beta_i = 1 / (1 + design_effect (n_i - 1))

    with z_i the posterior and n_i the labels of task i. The label is that of z.

    Parameters
    ----------
    kinds : 1, 2 or "evidence"
        Kinds of tasks a class; "evidence" fits both and keeps the one of larger evidence, ties to one.
    diagonal, off : float
        Prior counts of a confusion matrix's column: of the right label, and of each wrong one.
    design_effect : float, optional
        How much the labels of a task repeat one another: 0 where they are independent given its class. Default: 0.4,
        and with 30 gold tasks or more the value of smallest log-loss on gold tasks that were held out.
    max_iter, tol
        Rounds stop when the evidence changes by at most `tol`, relative to its size, or after `max_iter`.
    random_state, verbose
        See `Aggregator`; the method is deterministic.

    Attributes after `fit`
    ----------------------
    kinds_ : int
        Kinds of tasks a class. Two of them say that tasks differ in more than their class, or that workers share
        errors.
    evidence_ : dict of int to float
        The evidence (ELBO, nats) by the number of kinds.
    design_effect_ : float
    belief_ : Belief
        Dirichlet parameters of everything.
    gold_check_ : GoldCheck or None
        With 30 gold tasks or more: how well they are predicted where they are not shown.
    model_, result_, ... : see `Aggregator`
        `model_` has one confusion matrix a worker, the mean over kinds.

    Cost
    ----
    A round costs an E-step of K states for one kind and of 2 K for two: O(labels K).

    Source and deviations
    ---------------------
    Li, Rubinstein and Cohn, ICML 2019 (BCC with subtypes of tasks), for the model and its updates. Here the kinds are
    started from the votes' agreement instead of at random forty times, there are at most two, the class prior is that
    of the votes, and the posterior is tempered.
    The constants were chosen on 17 public sets, see `cofactor reproduce crowd-benchmark` for what leaving out a set
    says of that.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> BayesDS().fit(labels).predict(labels).tolist()
    [0, 1]
    """

    kinds_: int
    evidence_: dict[int, float]
    design_effect_: float
    gold_check_: GoldCheck | None

    def __init__(
        self,
        kinds: Kinds = "evidence",
        diagonal: float = PRIOR[0],
        off: float = PRIOR[1],
        design_effect: float | None = None,
        max_iter: int = 200,
        tol: float = 1e-7,
        random_state: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(random_state=random_state, verbose=verbose)
        self.kinds = kinds
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
        votes = evidence.start()
        tried = (1, 2) if self.kinds == "evidence" else (self.kinds,)
        found = {M: self._believe(evidence, votes, M) for M in tried}
        self.evidence_ = {M: float(result.objective[-1]) for M, (_, result) in found.items()}
        self.kinds_ = max(self.evidence_, key=self.evidence_.__getitem__)
        self._keep(found[self.kinds_])
        self.gold_check_ = None
        self.design_effect_ = DESIGN_EFFECT if self.design_effect is None else self.design_effect

    def _check_settings(self) -> None:
        if self.kinds not in ("evidence", 1, 2):
            raise CofactorError(f"kinds={self.kinds!r}: choose 1, 2, or 'evidence' to let the labels decide")
        check_positive(diagonal=self.diagonal, off=self.off)
        if self.design_effect is not None:
            check_positive(zero=True, design_effect=self.design_effect)
        check_whole(1, max_iter=self.max_iter)

    def _believe(self, evidence: Evidence, votes: SoftCounts, kinds: int) -> tuple[AnyBelief, Result]:
        start = votes if kinds == 1 else evidence.start(split_by_agreement)
        believe = partial(Belief.after, priors=Priors(self.diagonal, self.off, class_votes(votes), kinds))
        return variational_em(evidence.e_step, start, believe, self.max_iter, self.tol, self.verbose)

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
            again = clone(self).set_params(kinds=self.kinds_)
            again.workers_, again.classes_ = labels.workers, labels.classes
            again.fit_evidence(Evidence.of(labels, shown))
            posterior[mine] = super(BayesDS, again)._posterior(labels.take_tasks(known[mine]))
        return HeldOut(posterior, labels.table.entries_per_row[known], gold[known])


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
        max_iter: int = 200,
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

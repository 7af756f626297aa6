"""IBCC: variational Bayes for the Dawid-Skene model, here with one or more kinds of tasks a class (`ebcc.py`).

    symbol   meaning                                                                shape
    s        state (k, m): kind m of class k                                        S = K M of them
    a        prior counts: `diagonal` where the label is the class, else `off`      (K, S)
    C        expected counts: labels of worker w on tasks of state s                (sum K, S)
    P        C + a, the Dirichlet parameters of the columns                         (sum K, S)
    nu       alpha + expected tasks of each class                                   (K,)
    eta      KINDS_COUNT / M + expected tasks of each state                         (K, M)
    r_i      state probabilities of task i                                          (S,)

    log r_is + const = psi(nu_k) - psi(sum nu) + psi(eta_km) - psi(sum_m eta_km)
                       + sum over labels (w, l) of i: psi(P_wls) - psi(sum_l P_wls)

The right-hand side is the log-joint of a latent-class model whose probabilities sum to less than one, so a round is the
E-step of `cofactor.core.em`. The bound is its log-likelihood less the divergence of the belief from the prior.

Source: Kim and Ghahramani, "Bayesian classifier combination", AISTATS 2012, by variational Bayes instead of sampling,
with the priors of Li, Rubinstein and Cohn, "Exploiting worker correlation for label aggregation in crowdsourcing",
ICML 2019.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln

from cofactor.core.em import SoftCounts
from cofactor.core.estimator import History, Result
from cofactor.core.latent_class import LatentClassModel, normalize_blocks
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator
from cofactor.crowd.fit import Evidence
from cofactor.crowd.labels import CrowdLabels

KINDS_COUNT = 0.1  # prior count shared by the kinds of a class


class Belief:
    """Dirichlet distributions after soft counts of the states, under prior counts a (K, S) and alpha (K,)."""

    def __init__(self, counts: SoftCounts, a: Floats, alpha: Floats) -> None:
        (K, S), self.a, self.alpha, self.sizes = a.shape, a, alpha, counts.sizes
        by_kind = counts.classes.reshape(K, S // K)
        self.P = (counts.cells.reshape(-1, K, S) + a).swapaxes(0, 1)  # labels first
        self.nu, self.eta = alpha + by_kind.sum(axis=1), KINDS_COUNT / (S // K) + by_kind

    def expected_logs(self) -> LatentClassModel:
        """Return exp of the expected logarithms, as a model of the S states."""
        log_prior = log_mean(self.nu)[:, None] + log_mean(self.eta.T).T
        cells = np.exp(log_mean(self.P).swapaxes(0, 1)).reshape(-1, self.eta.size)
        return LatentClassModel.from_stacked(np.exp(log_prior).ravel(), cells, self.sizes)

    def divergence(self) -> float:
        """Return the Kullback-Leibler divergence from the prior, all distributions added up (nats)."""
        kinds = np.full(self.eta.T.shape, KINDS_COUNT / self.eta.shape[1])
        of_cells, of_kinds = (
            divergence(self.P, np.broadcast_to(self.a[:, None], self.P.shape)),
            divergence(self.eta.T, kinds),
        )
        return float(of_cells.sum() + of_kinds.sum() + divergence(self.nu, self.alpha))

    def mean(self) -> LatentClassModel:
        """Return the Dawid-Skene model of the K classes: expected counts over all kinds, the prior's once."""
        K, kinds = self.eta.shape
        C = (self.P.swapaxes(0, 1) - self.a).reshape(-1, K, K, kinds).sum(axis=3) + self.a[:, ::kinds]
        return LatentClassModel.from_stacked(
            self.nu / self.nu.sum(), normalize_blocks(C.reshape(-1, K), self.sizes), self.sizes
        )

    def population(self) -> Floats:
        """Return the (K, S) confusion matrix, by state, of a worker drawn as often as the labels are."""
        cells = (self.P.swapaxes(0, 1) - self.a).sum(axis=0) + self.a
        return np.asarray(cells / cells.sum(axis=0))


def log_mean(parameters: Floats) -> Floats:
    """Expected logarithms under Dirichlet distributions along the first axis: psi(x) - psi(sum x)."""
    return np.asarray(digamma(parameters) - digamma(parameters.sum(axis=0)))


def divergence(x: Floats, a: Floats) -> Floats:
    """KL(Dir(x) || Dir(a)) along the first axis, in nats."""
    ratio = gammaln(x.sum(axis=0)) - gammaln(a.sum(axis=0)) + (gammaln(a) - gammaln(x)).sum(axis=0)
    return np.asarray(ratio + ((x - a) * log_mean(x)).sum(axis=0))


@dataclass(eq=False, repr=False)
class IBCC(Aggregator):
    """Raise the bound from vote shares until a round changes it by at most `tol`, relative to its size.

    `diagonal` and `off` are the prior counts of a right label and of each wrong one, `class_count` that of a class.
    After `fit`, `belief_` has the distributions. Cost: O(labels K) a round.
    """

    takes_gold = True
    diagonal: float = 4.0
    off: float = 1.0
    class_count: float = 1.0
    max_iter: int = 500
    tol: float = 1e-7
    random_state: int | None = None

    def _fit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        evidence = Evidence.of(labels, gold)
        self._keep(*self._rounds_from(evidence, evidence.start(), np.full(labels.n_classes, float(self.class_count))))

    def _rounds_from(
        self, evidence: Evidence, counts: SoftCounts, alpha: Floats, kinds: int = 1
    ) -> tuple[Belief, Result]:
        a = np.repeat(np.where(np.eye(len(alpha), dtype=bool), self.diagonal, self.off), kinds, axis=1)
        history = History("variational Bayes", self.max_iter, self.tol)
        for _ in history:
            belief = Belief(counts, a, alpha)
            counts = evidence.e_step(belief.expected_logs())
            history.record(counts.log_likelihood - belief.divergence())
        return belief, history.result()

    def _keep(self, belief: Belief, result: Result) -> None:
        self.belief_, self.result_, self.model_ = belief, result, belief.mean()

    def _posterior(self, labels: CrowdLabels) -> Floats:
        states = self._for_workers(self.belief_.expected_logs(), labels.workers)
        by_class = states.posterior(labels.table).reshape(labels.n_tasks, labels.n_classes, -1).sum(axis=2)
        return np.where(labels.table.entries_per_row[:, None] == 0, self.model_.prior, by_class)

    def _population(self, blocks: Floats) -> Floats:
        return self.belief_.population()

"""MACE: a worker either knows the class and gives it, or answers by a habit of their own, regardless of the class.

    Pr(label l of worker j | class c) = theta_j [l = c] + (1 - theta_j) xi_j(l),    classes equally likely

    symbol     meaning                                                               shape
    theta_j    chance that worker j knows the class ("competence")                   (M,)
    xi_j       how worker j answers without knowing                                  (M, K)
    T          expected counts of (label, class) for every worker                    (M K, K)
    k_j, s_jl  expected labels of worker j that were known, and that were habit's    (M,), (M, K)

A label l of worker j is known with chance Pr(class l) theta_j / (theta_j + (1 - theta_j) xi_j(l)), so that variational
Bayes needs nothing but T: theta_j ~ Beta(1/2 + k_j, 1/2 + sum_l s_jl), xi_j ~ Dirichlet(10 + s_j).

Source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy, "Learning whom to trust with MACE", NAACL-HLT 2013, in its variational
form, with the numbers of their released code. Deviations: one start (theta = .7, xi uniform) instead of the best of ten
random ones; rounds go on until the bound settles instead of fifty; scores are those of the posterior means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, digamma, gammaln

from cofactor.core.em import expectation
from cofactor.core.estimator import History, Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator
from cofactor.crowd.labels import CrowdLabels

COMPETENCE = 0.7  # theta of all workers at the start
BETA, DIRICHLET = 0.5, 10.0  # priors Beta(1/2, 1/2) of theta and Dirichlet(10, ..., 10) of xi


@dataclass(eq=False, repr=False)
class MACE(Aggregator):
    """Fit competences and habits by variational Bayes; `result_.objective` is the lower bound of the evidence.

    After `fit`, `competence_` is the posterior mean of theta. Cost: O(labels K) time a round, O(M K^2) memory.
    """

    max_iter: int = 500
    tol: float = 1e-6
    random_state: int | None = None

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        table, (M, K) = labels.table, (labels.n_workers, labels.n_classes)
        seen, cell = table.take_rows(table.entries_per_row > 0), table.variables.astype(np.int64) * K + table.values
        given = np.bincount(cell, minlength=M * K).reshape(M, K).astype(np.float64)
        theta, habit = np.full(M, COMPETENCE), np.full((M, K), (1 - COMPETENCE) / K)  # habit: (1 - theta) xi
        known = known_labels(theta, habit, expectation(seen, model_of(theta, habit, seen.sizes)).cells)
        history = History("MACE", self.max_iter, self.tol)
        for _ in history:
            theta, habit, log_prior = variational_step(known.sum(axis=1), given - known)
            counts = expectation(seen, model_of(theta, habit, seen.sizes))
            history.record(counts.log_likelihood + log_prior)
            known = known_labels(theta, habit, counts.cells)
        k, s = known.sum(axis=1), given - known
        self.competence_ = (k + BETA) / (k + s.sum(axis=1) + 2 * BETA)
        xi = (s + DIRICHLET) / (s.sum(axis=1) + K * DIRICHLET)[:, None]
        return model_of(self.competence_, (1 - self.competence_)[:, None] * xi, table.sizes), history.result()


def model_of(theta: Floats, habit: Floats, sizes: Ints) -> LatentClassModel:
    """Return the Dawid-Skene model; its columns sum to less than one while rounds go on."""
    K = habit.shape[1]
    A = theta[:, None, None] * np.eye(K) + habit[:, :, None]
    return LatentClassModel.from_stacked(np.full(K, 1 / K), A.reshape(-1, K), sizes)


def known_labels(theta: Floats, habit: Floats, T: Floats) -> Floats:
    """Return (M, K) how many of the labels l of worker j were known, as expected."""
    M, K = habit.shape
    return np.asarray(np.einsum("mkk->mk", T.reshape(M, K, K)) * (theta[:, None] / (theta[:, None] + habit)))


def variational_step(k: Floats, s: Floats) -> tuple[Floats, Floats, float]:
    """Return exp E[log theta], exp E[log (1 - theta) xi], and minus their posterior's divergence from the prior."""
    unknown, K = s.sum(axis=1), s.shape[1]
    n = k + unknown
    log_theta = digamma(k + BETA) - digamma(n + 2 * BETA)
    log_other = digamma(unknown + BETA) - digamma(n + 2 * BETA)
    log_xi = digamma(s + DIRICHLET) - digamma(unknown + K * DIRICHLET)[:, None]
    beta = betaln(BETA, BETA) - betaln(k + BETA, unknown + BETA) + k * log_theta + unknown * log_other
    prior = K * gammaln(DIRICHLET) - gammaln(K * DIRICHLET)
    posterior = gammaln(s + DIRICHLET).sum(axis=1) - gammaln(unknown + K * DIRICHLET)
    divergence = float(np.sum(beta + prior - posterior + np.sum(s * log_xi, axis=1)))
    return np.exp(log_theta), np.exp(log_other[:, None] + log_xi), -divergence

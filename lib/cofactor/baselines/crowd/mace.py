"""MACE: a worker either knows the class and says it, or answers with a habit of their own, whatever the class.

    Pr(label l of worker j | class c) = theta_j [l = c] + (1 - theta_j) xi_j(l),    classes equally likely

    symbol     meaning                                                               shape
    theta_j    chance that worker j knows the class ("competence")                   (M,)
    xi_j       how worker j answers without knowing                                  (M, K)
    T          expected counts of (label, class) for every worker                    (M K, K)
    k_j, s_jl  expected labels of worker j that were known, and that were habit's    (M,), (M, K)

Given the posterior of the classes, a label l of worker j is known with chance Pr(class l) theta_j / (theta_j + (1 -
theta_j) xi_j(l)), so that both forms of EM need nothing but T.

Source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy, "Learning whom to trust with MACE", NAACL-HLT 2013.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofactor.baselines.crowd.one_coin import labelled_part
from cofactor.core.checks import check_whole
from cofactor.core.em import expectation
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import special
from cofactor.core.result import History, Result
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator
from cofactor.crowd.labels import CrowdLabels

COMPETENCE = 0.7  # theta of everybody at the start
BETA = 0.5  # variational form: prior Beta(1/2, 1/2) of theta
DIRICHLET = 10.0  # variational form: prior Dirichlet(10, ..., 10) of xi
PLAIN_SMOOTHING = 0.01  # plain form: over K, added to every expected count


@dataclass(eq=False, repr=False)
class MACE(Aggregator):
    """Fit competences and habits by variational or plain EM ("MACE").

    Parameters
    ----------
    variational : bool
        Priors Beta(1/2, 1/2) on theta and Dirichlet(10) on xi, their posteriors by variational Bayes. Otherwise EM with
        0.01/K added to every expected count.
    max_iter, tol, random_state, verbose
        Most rounds, and the relative change of the objective that ends them; see `Aggregator`, nothing is random.

    Attributes after `fit`
    ----------------------
    competence_ : (n_workers,) array
        theta; its posterior mean in the variational form.
    model_, result_ : see `Aggregator`
        `model_` has a uniform prior. `result_.objective` is the evidence lower bound in the variational form, otherwise
        the log-likelihood plus 0.01/K times the sum of all log-parameters, in nats; it never falls.

    Raises `CofactorError` in `fit`: no task has a label.

    Cost: O(labels K) time per round, O(M K^2) memory. Source: Hovy et al., 2013, with the numbers of their released
    code. Deviations: one start (theta = 0.7, xi uniform) instead of the best of ten random ones, so that runs repeat;
    rounds go on until the objective settles instead of fifty; scores are those of the posterior means of theta and xi,
    so that they apply to new tasks.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> MACE().fit(labels).predict(labels).tolist()
    [0, 1]
    """

    variational: bool = True
    max_iter: int = 500
    tol: float = 1e-6
    random_state: int | None = None
    verbose: bool = False

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        check_whole(1, max_iter=self.max_iter)
        seen, _ = labelled_part(labels)
        given = label_counts(labels)
        update = variational_step if self.variational else smoothed_step
        start = Parameters(np.full(len(given), COMPETENCE), np.full(given.shape, (1 - COMPETENCE) / labels.n_classes))
        known = known_labels(start, expectation(seen, start.model(seen.sizes)).cells)
        history = History("MACE", self.max_iter, self.tol, self.verbose)
        for _ in history:
            parameters, log_prior = update(known.sum(axis=1), given - known)
            counts = expectation(seen, parameters.model(seen.sizes))
            history.record(counts.log_likelihood + log_prior)
            known = known_labels(parameters, counts.cells)
        if self.variational:
            parameters = posterior_means(known.sum(axis=1), given - known)
        self.competence_ = parameters.theta
        return parameters.model(labels.table.sizes), history.result()


@dataclass(frozen=True)
class Parameters:
    """What the chance of a label is made of; in the variational form, exponentials of expected logarithms."""

    theta: Floats  # (M,) weight of knowing
    habit: Floats  # (M, K) weight of not knowing, times that of the label then: (1 - theta) xi

    def model(self, sizes: Ints) -> LatentClassModel:
        """Return the Dawid-Skene model; its columns sum to less than one for a round of the variational form."""
        K = self.habit.shape[1]
        A = self.theta[:, None, None] * np.eye(K) + self.habit[:, :, None]
        return LatentClassModel.from_stacked(np.full(K, 1 / K), A.reshape(-1, K), sizes)


def label_counts(labels: CrowdLabels) -> Floats:
    """Return (M, K) how often each worker gave each label."""
    table, (M, K) = labels.table, (labels.n_workers, labels.n_classes)
    cell = np.asarray(table.variables, dtype=np.int64) * K + table.values
    return np.bincount(cell, minlength=M * K).reshape(M, K).astype(np.float64)


def known_labels(parameters: Parameters, T: Floats) -> Floats:
    """Return (M, K) how many of the labels l of worker j were known, as expected."""
    M, K = parameters.habit.shape
    agreed = np.einsum("mkk->mk", T.reshape(M, K, K))
    total = parameters.theta[:, None] + parameters.habit
    return agreed * (parameters.theta[:, None] / total)


def variational_step(k: Floats, s: Floats) -> tuple[Parameters, float]:
    """Return exp E[log parameters] under their posteriors, and minus the divergence of these from the priors.

    theta_j ~ Beta(1/2 + k_j, 1/2 + sum_l s_jl), xi_j ~ Dirichlet(10 + s_j).
    """
    n, unknown = k + s.sum(axis=1), s.sum(axis=1)
    log_theta = special.digamma(k + BETA) - special.digamma(n + 2 * BETA)
    log_other = special.digamma(unknown + BETA) - special.digamma(n + 2 * BETA)
    log_xi = special.digamma(s + DIRICHLET) - special.digamma(unknown + s.shape[1] * DIRICHLET)[:, None]
    beta = special.betaln(BETA, BETA) - special.betaln(k + BETA, unknown + BETA) + k * log_theta + unknown * log_other
    dirichlet = _log_beta(np.full_like(s, DIRICHLET)) - _log_beta(s + DIRICHLET) + np.sum(s * log_xi, axis=1)
    return Parameters(np.exp(log_theta), np.exp(log_other[:, None] + log_xi)), -float(np.sum(beta + dirichlet))


def smoothed_step(k: Floats, s: Floats) -> tuple[Parameters, float]:
    """Return the parameters that maximise expected log-likelihood and log-prior, and this prior."""
    added, unknown = PLAIN_SMOOTHING / s.shape[1], s.sum(axis=1)
    theta = (k + added) / (k + unknown + 2 * added)
    xi = (s + added) / (unknown + s.shape[1] * added)[:, None]
    log_prior = added * float(np.sum(np.log(theta) + np.log1p(-theta)) + np.sum(np.log(xi)))
    return Parameters(theta, (1 - theta)[:, None] * xi), log_prior


def posterior_means(k: Floats, s: Floats) -> Parameters:
    """Return the parameters' means under the posteriors of the variational form."""
    unknown = s.sum(axis=1)
    theta = (k + BETA) / (k + unknown + 2 * BETA)
    xi = (s + DIRICHLET) / (unknown + s.shape[1] * DIRICHLET)[:, None]
    return Parameters(theta, (1 - theta)[:, None] * xi)


def _log_beta(a: Floats) -> Floats:
    """Logarithm of the Dirichlet's constant, one per row."""
    return np.asarray(special.gammaln(a).sum(axis=1) - special.gammaln(a.sum(axis=1)))

"""Variational Bayes for the Dawid-Skene model with one or more kinds of tasks a class.

Every column of every confusion matrix has a Dirichlet prior, which acts like labels seen before: `a` of them in each
cell. A class may come in kinds (easy and hard tasks), each with its own confusion matrices. A fit finds a distribution
over all of these, and a lower bound of the evidence, Pr(labels), by which models can be compared.

    symbol   meaning                                                                shape
    s        state (k, m): kind m of class k                                        S = K M of them
    a        prior counts: `diagonal` where the label is the class, else `off`      (K, S)
    C        expected counts: labels of worker w on tasks of state s                (sum K, S)
    P        C + a, the Dirichlet parameters of the columns                         (sum K, S)
    nu       alpha + expected tasks of each class                                   (K,)
    eta      kinds_count / M + expected tasks of each state                         (K, M)
    r_i      state probabilities of task i                                          (S,)

    log r_is + const = psi(nu_k) - psi(sum nu) + psi(eta_km) - psi(sum_m eta_km)
                       + sum over labels (w, l) of i: psi(P_wls) - psi(sum_l P_wls)

The right-hand side is the log-joint of a latent-class model whose probabilities are exp of these expectations
(they sum to less than one). So a round is the E-step of `cofactor.core.em`, and, like it, a sum over tasks.

Source: Kim and Ghahramani, "Bayesian classifier combination", AISTATS 2012 (one kind); Li, Rubinstein and Cohn,
"Exploiting worker correlation for label aggregation in crowdsourcing", ICML 2019 (kinds; there called subtypes).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cofactor.core.em import SoftCounts
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import special
from cofactor.core.result import History, Result
from cofactor.core.simplex import normalize_blocks
from cofactor.core.types import Floats, Ints


@dataclass(frozen=True)
class Priors:
    """What is believed before any label.

    Attributes
    ----------
    diagonal, off : float
        Prior counts `a` of a confusion matrix's column: of right labels, and of each wrong one.
    classes : (K,) array
        alpha, prior counts of the classes.
    kinds : int
        M.
    kinds_count : float
        Prior count shared by the kinds of a class.
    """

    diagonal: float
    off: float
    classes: Floats
    kinds: int = 1
    kinds_count: float = 0.1

    @property
    def cells(self) -> Floats:
        """Prior counts of one worker's labels by state, a of the symbols: (K, S)."""
        K = len(self.classes)
        a = np.where(np.eye(K, dtype=bool), self.diagonal, self.off)
        return np.repeat(a, self.kinds, axis=1)


@dataclass(frozen=True)
class Belief:
    """Dirichlet distributions over all confusion matrices, the class prior and the kinds; see the module's symbols."""

    priors: Priors
    P: Floats
    nu: Floats
    eta: Floats
    sizes: Ints

    @classmethod
    def after(cls, counts: SoftCounts, priors: Priors) -> Belief:
        """M-step: return the posterior, whose Dirichlet counts are those of the prior plus the expected ones."""
        K, M = len(priors.classes), priors.kinds
        by_kind = counts.classes.reshape(K, M)
        P = (counts.cells.reshape(-1, K, K * M) + priors.cells).reshape(-1, K * M)
        return cls(priors, P, priors.classes + by_kind.sum(axis=1), priors.kinds_count / M + by_kind, counts.sizes)

    def expected_logs(self) -> LatentClassModel:
        """Return exp of the expected logarithms, as a model of the S states whose columns sum to less than one."""
        log_prior = log_mean(self.nu)[:, None] + log_mean(self.eta.T).T
        K, S = len(self.nu), self.eta.size
        log_cells = log_mean(self.P.reshape(-1, K, S).swapaxes(0, 1)).swapaxes(0, 1)
        return LatentClassModel.from_stacked(np.exp(log_prior).ravel(), np.exp(log_cells).reshape(-1, S), self.sizes)

    def divergence(self) -> float:
        """Return the Kullback-Leibler divergence of this belief from the prior, all distributions added up (nats)."""
        K, S = len(self.nu), self.eta.size
        a, M = self.priors.cells, self.priors.kinds
        P = self.P.reshape(-1, K, S).swapaxes(0, 1)
        cells = dirichlet_divergence(P, np.broadcast_to(a[:, None], P.shape))
        kinds = dirichlet_divergence(self.eta.T, np.full((M, K), self.priors.kinds_count / M))
        return float(cells.sum() + kinds.sum() + dirichlet_divergence(self.nu, self.priors.classes))

    def counts(self) -> Floats:
        """Return the (M K, K) expected labels of every worker on tasks of every class, all kinds together."""
        K, kinds = len(self.nu), self.priors.kinds
        C = self.P.reshape(-1, K, K, kinds) - self.priors.cells.reshape(K, K, kinds)
        return np.asarray(C.sum(axis=3).reshape(-1, K))

    def mean(self) -> LatentClassModel:
        """Return the Dawid-Skene model of the K classes: expected counts over all kinds, the prior's once."""
        cells = self.counts() + np.tile(self.priors.cells[:, :: self.priors.kinds], (len(self.sizes), 1))
        return LatentClassModel.from_stacked(self.nu / self.nu.sum(), normalize_blocks(cells, self.sizes), self.sizes)

    def population(self) -> Floats:
        """Return the (K, S) confusion matrix, by state, of a worker drawn as often as the labels are."""
        K, S = len(self.nu), self.eta.size
        a = self.priors.cells
        cells = (self.P.reshape(-1, K, S) - a).sum(axis=0) + a
        return np.asarray(cells / cells.sum(axis=0))


def log_mean(parameters: Floats) -> Floats:
    """Expected logarithms under Dirichlet distributions along the first axis: psi(x) - psi(sum x)."""
    return np.asarray(special.digamma(parameters) - special.digamma(parameters.sum(axis=0)))


def dirichlet_divergence(x: Floats, a: Floats) -> Floats:
    """KL(Dir(x) || Dir(a)) along the first axis, in nats."""
    ratio = (
        special.gammaln(x.sum(axis=0))
        - special.gammaln(a.sum(axis=0))
        + (special.gammaln(a) - special.gammaln(x)).sum(axis=0)
    )
    return np.asarray(ratio + ((x - a) * log_mean(x)).sum(axis=0))


def variational_em(
    e_step: Callable[[LatentClassModel], SoftCounts],
    start: SoftCounts,
    believe: Callable[[SoftCounts], Belief],
    max_iter: int,
    tol: float,
    verbose: bool = False,
) -> tuple[Belief, Result]:
    """Raise the lower bound of the evidence until a round changes it by at most `tol`, relative to its size.

    Parameters
    ----------
    e_step : callable
        From a model of the S states to the soft counts of all tasks; see `cofactor.core.em.expectation`.
    start : SoftCounts of S states
    believe : callable
        From soft counts to the belief they lead to: `after` of a kind of belief, with its priors.

    Returns
    -------
    belief : Belief
    result : Result
        `objective` is the bound (ELBO, nats) of the belief before each round; it never falls.

    Cost
    ----
    A round costs an E-step of S states, and O(workers K S) digamma functions.
    """
    counts, history = start, History("variational Bayes", max_iter, tol, verbose)
    for _ in history:
        belief = believe(counts)
        counts = e_step(belief.expected_logs())
        history.record(counts.log_likelihood - belief.divergence())
    return belief, history.result()

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
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from cofactor.core.em import SoftCounts
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import special
from cofactor.core.result import History, Result
from cofactor.core.simplex import normalize_blocks
from cofactor.core.types import Floats, Ints

STRENGTH_STEPS = 10  # of the fixed point in every round
STRENGTH_RANGE = (0.05, 50.0)  # kept within: workers who are all alike have no maximum


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
        """a, one worker's (K, S) prior counts."""
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
        """Add the expected counts to the prior's."""
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

    def right_and_given(self) -> tuple[Floats, Floats]:
        """Return the (M, K) expected numbers of right labels and of all labels, by class."""
        C = self.counts().reshape(-1, len(self.nu), len(self.nu))
        return np.diagonal(C, axis1=1, axis2=2), C.sum(axis=1)

    def everywhere(self) -> Belief:
        """Return itself: there is a row for every pair of a worker and a label."""
        return self

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


@dataclass(frozen=True)
class Cells:
    """Pairs (worker, label), the rows of counts and models: all M K, or only those that occur, as a fit needs.

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
    def all(cls, n_workers: int, n_classes: int) -> Cells:
        """Every pair."""
        return cls.of(np.arange(n_workers * n_classes), n_workers, n_classes)

    @classmethod
    def of(cls, rows: Ints, n_workers: int, n_classes: int) -> Cells:
        """Some of the rows of all pairs."""
        return cls(rows // n_classes, rows % n_classes, n_workers, n_classes)

    @property
    def sizes(self) -> Ints:
        """(M,) rows of every worker."""
        return np.bincount(self.owner, minlength=self.n_workers)

    def by_label(self, counts: Floats) -> Floats:
        """Add up (R, S) counts over workers: (K, S)."""
        return self._sums(self.label, self.n_classes) @ counts

    def right_and_wrong(self, counts: Floats) -> tuple[Floats, Floats]:
        """Return the (M, K) expected numbers of right and of wrong labels, by class, from (R, K) expected counts."""
        given = self._sums(self.owner, self.n_workers) @ counts
        right = np.zeros_like(given)
        right[self.owner, self.label] = counts[np.arange(len(self.label)), self.label]
        return right, np.maximum(given - right, 0.0)

    def _sums(self, group: Ints, n_groups: int) -> sparse.csr_array:
        rows = np.arange(len(group))
        return sparse.csr_array((np.ones(len(group)), (group, rows)), shape=(n_groups, len(group)))


@dataclass(frozen=True)
class SharedErrors:
    """A belief in which workers differ in how often they are right, but share the errors they make.

    A worker labels tasks of class k rightly with probability ~ Beta(strengths); a wrong label is drawn from the
    errors of class k that the whole crowd shares, ~ Dirichlet(1, ..., 1) over the other classes. With two classes and
    strengths (diagonal, off) this is `Belief`, since there is one error only.

    Attributes
    ----------
    priors : Priors
        With one kind.
    cells : Cells
        The pairs (worker, label) of the model's rows: those that occur, or all.
    strengths : (float, float)
        Prior counts of right labels and of wrong ones.
    right, wrong : (M, K) arrays
        Parameters of the Beta distributions.
    errors : (K, K) array
        Parameters of the Dirichlet distributions: how often class k (column) was taken for the label (row); zero on
        the diagonal.
    nu : (K,) array
        Parameters of the class prior.
    """

    priors: Priors
    cells: Cells
    strengths: tuple[float, float]
    right: Floats
    wrong: Floats
    errors: Floats
    nu: Floats

    @classmethod
    def after(
        cls, counts: SoftCounts, priors: Priors, cells: Cells, learned: tuple[float, float] | None = None
    ) -> SharedErrors:
        """Add the expected counts to the prior's; its strengths are those of `priors` unless they were `learned`."""
        right, wrong = cells.right_and_wrong(counts.cells)
        errors = np.where(np.eye(len(priors.classes), dtype=bool), 0.0, cells.by_label(counts.cells) + 1.0)
        a, b = learned or (priors.diagonal, priors.off)
        return cls(priors, cells, (a, b), right + a, wrong + b, errors, priors.classes + counts.classes)

    def everywhere(self) -> SharedErrors:
        """Return the same belief, with a row for every pair of a worker and a label."""
        return replace(self, cells=Cells.all(*self.right.shape))

    def _model(self, prior: Floats, right: Floats, wrong: Floats, errors: Floats) -> LatentClassModel:
        """Return the model of probabilities of being right or wrong (M, K), and of each error (K, K)."""
        owner, label = self.cells.owner, self.cells.label
        stacked = wrong[owner] * errors[label]
        stacked[np.arange(len(label)), label] = right[owner, label]
        return LatentClassModel.from_stacked(prior, stacked, self.cells.sizes)

    def expected_logs(self) -> LatentClassModel:
        """Return exp of the expected logarithms, as a model whose columns sum to less than one."""
        right, wrong = np.exp(log_mean(np.stack([self.right, self.wrong])))
        errors = self.errors + np.eye(len(self.nu))  # any positive number does: the diagonal is not read
        log_errors = special.digamma(errors) - special.digamma(self.errors.sum(axis=0))
        return self._model(np.exp(log_mean(self.nu)), right, wrong, np.exp(log_errors))

    def divergence(self) -> float:
        """Return the Kullback-Leibler divergence of this belief from the prior, all distributions added up (nats)."""
        beta = np.stack([self.right, self.wrong])
        before = np.array(self.strengths)[:, None, None]
        workers = dirichlet_divergence(beta, np.broadcast_to(before, beta.shape)).sum()
        K = len(self.nu)
        others = self.errors.T[~np.eye(K, dtype=bool)].reshape(K, K - 1).T  # column k: the errors of class k
        shared = dirichlet_divergence(others, np.ones((K - 1, K))).sum()
        return float(workers + shared + dirichlet_divergence(self.nu, self.priors.classes))

    def mean(self) -> LatentClassModel:
        """Return the Dawid-Skene model of expected confusion matrices."""
        accuracy = self.right / (self.right + self.wrong)
        return self._model(self.nu / self.nu.sum(), accuracy, 1 - accuracy, self.errors / self.errors.sum(axis=0))

    def right_and_given(self) -> tuple[Floats, Floats]:
        """Return the (M, K) expected numbers of right labels and of all labels, by class."""
        a, b = self.strengths
        return self.right - a, self.right - a + self.wrong - b

    def population(self) -> Floats:
        """Return the (K, K) confusion matrix of a worker drawn as often as the labels are."""
        right, given = (counts.sum(axis=0) for counts in self.right_and_given())
        accuracy = (right + self.strengths[0]) / (given + sum(self.strengths))
        wrong = (1 - accuracy) * self.errors / self.errors.sum(axis=0)
        return np.where(np.eye(len(accuracy), dtype=bool), accuracy, wrong)


AnyBelief = Belief | SharedErrors


@dataclass
class LearnedStrengths:
    """`SharedErrors` whose strengths are those under which the expected counts are most probable (empirical Bayes).

    Each call takes some steps towards the maximum over (a, b) of the sum over workers and classes of
    log B(a + right, b + wrong) - log B(a, b), from where the last call ended; so the evidence still never falls.

    Source: Minka, "Estimating a Dirichlet distribution", 2000, Eq. (55).
    """

    priors: Priors
    cells: Cells
    strengths: tuple[float, float]

    def __call__(self, counts: SoftCounts) -> SharedErrors:
        """Return the belief after these counts."""
        right, wrong = self.cells.right_and_wrong(counts.cells)
        for _ in range(STRENGTH_STEPS):
            self.strengths = more_probable_strengths(right, wrong, *self.strengths)
        return SharedErrors.after(counts, self.priors, self.cells, self.strengths)


def more_probable_strengths(right: Floats, wrong: Floats, a: float, b: float) -> tuple[float, float]:
    """Return strengths (a, b) of a Beta distribution after one step of Minka's fixed point."""
    both = float(np.sum(special.digamma(right + wrong + a + b) - special.digamma(a + b)))
    if both <= 0:
        return a, b
    a = a * float(np.sum(special.digamma(right + a) - special.digamma(a))) / both
    b = b * float(np.sum(special.digamma(wrong + b) - special.digamma(b))) / both
    return float(np.clip(a, *STRENGTH_RANGE)), float(np.clip(b, *STRENGTH_RANGE))


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
    believe: Callable[[SoftCounts], AnyBelief],
    max_iter: int,
    tol: float,
    verbose: bool = False,
) -> tuple[AnyBelief, Result]:
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
    belief : Belief or SharedErrors
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

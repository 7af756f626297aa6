"""Worker types: the model behind `WorkerTypes`, the default of this kit.

Every worker is of one type, and the labels tell of which:

    coin    right with one probability for all classes; a wrong label is one of the errors of the whole crowd
    class   right with a probability for each class; errors as above
    own     errors of one's own: a confusion matrix (Dawid and Skene)
    none    labels are drawn whatever the class: constant workers, and all who say nothing beside the others

    symbol    meaning                                                                          shape
    r_ik      posterior of class k for task i                                                  (N, K)
    C_wlk     expected labels l of worker w on tasks of class k: sum_i r_ik [w said l of i]    (rows, K)
    R, W      right and wrong ones among them, by class: C_wkk and sum over l != k             (M, K)
    n_wl      labels l of worker w                                                             (rows,)
    e_lk      errors of the crowd: Pr(label l | class k, wrong); zero on the diagonal          (K, K)
    a, b      labels imagined for every worker before the first: right ones, each wrong one
    gamma     labels imagined of each class for a worker who says nothing
    L_wt      log-probability of worker w's expected labels under type t (log marginal)        (M, T)
    E_t       expected log Pr(label l of w | class k) under type t                             (rows, K)
    rho_t     share of type t                                                                  (T,)
    q_wt      probability that worker w is of type t                                           (M, T)
    alpha     votes each class got, in tasks: prior counts of the classes                      (K,)
    nu        alpha + expected tasks of each class                                             (K,)

Rows are the pairs (worker, label) that occur. A round is

    e_lk  = (1 + sum_w (q_w,coin + q_w,class) C_wlk) / sum over l != k
    q_wt  proportional to rho_t exp L_wt,    rho_t = (1 + sum_w q_wt) / (M + T),    and q once more
    r_ik  proportional to exp(psi(nu_k) - psi(sum nu) + sum over labels (w, l) of i, sum_t q_wt E_t[wl, k])

from r = vote shares, rho = 1 / T. The last line is the E-step of a latent-class model whose probabilities are exp of
these expectations, so that a round is a sum over tasks. This is mean field for q(z) q(t_w, theta_w); e and rho are
modes under Dirichlet(2, ..., 2). Each line raises the same lower bound of the log-probability of the labels.

Where workers have few labels, types are hard to tell apart, and rho takes hundreds of rounds to settle. So after 40
rounds, a round takes the rho of the highest bound (`cofactor.crowd.shares`), not one step towards it. Fits are the
same, sooner. Not from the start: shares that settle while r is near the votes can lead to a lower bound.

Source: this kit's. "coin" is the one-coin model and "own" that of Dawid and Skene (1979) with the variational
treatment of Kim and Ghahramani, AISTATS 2012; a type that spams is in MACE (Hovy et al., NAACL 2013), there for single
labels. What was tried beside is in docs/aggregation.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import add
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from cofactor.core.em import SoftCounts
from cofactor.core.gamma import psi_and_log_gamma
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import special
from cofactor.core.result import History, Result
from cofactor.core.types import Floats
from cofactor.crowd.rows import Rows
from cofactor.crowd.shares import best_shares, type_probabilities

NO_INFORMATION_COUNT = 0.5  # gamma
ROUNDS_OF_ONE_STEP = 40  # after these, each round takes the best shares of the types, not one step towards them


@dataclass(frozen=True)
class Counts:
    """Expected labels of every worker, as the types read them; see the module's symbols.

    Attributes
    ----------
    rows : Rows
    C : (R, K) array
    log_errors : (K, K) array
        log e, zero on the diagonal.
    found : dict
        What a type has found of these counts, by its name, to be asked for again.
    """

    rows: Rows
    C: Floats
    log_errors: Floats
    found: dict[str, tuple[Floats, Floats, Floats]] = field(default_factory=dict, repr=False)

    @cached_property
    def given(self) -> Floats:
        """Expected labels, right and wrong, of every worker on tasks of every class: (M, K)."""
        return self.rows.by_worker(self.C)

    @cached_property
    def right(self) -> Floats:
        """Expected right labels of every worker on tasks of every class, R of the symbols: (M, K)."""
        right, rows = np.zeros((self.rows.n_workers, self.rows.n_classes)), self.rows
        right[rows.owner, rows.label] = self.C[rows.places, rows.label]
        return right

    @cached_property
    def wrong(self) -> Floats:
        """Expected wrong labels of every worker on tasks of every class, W of the symbols: (M, K)."""
        return np.maximum(self.given - self.right, 0.0)

    @cached_property
    def of_all_classes(self) -> tuple[Floats, Floats]:
        """Expected right and wrong labels of every worker, R_w and W_w: both (M, 1)."""
        ones = np.ones((self.rows.n_classes, 1))
        return self.right @ ones, self.wrong @ ones

    @cached_property
    def labels(self) -> Floats:
        """Number of labels of each row, worker w said label l: n_wl, (R,)."""
        return np.asarray(self.C @ np.ones(self.rows.n_classes))

    @cached_property
    def log_of_errors(self) -> Floats:
        """Sum over labels and classes, l != k, of C_wlk log e_lk: (M,)."""
        if not self.log_errors.any():  # of two classes, there is one error
            return np.zeros(self.rows.n_workers)
        return self.rows.by_worker(np.einsum("rk,rk->r", self.C, self.log_errors[self.rows.label]))

    def of_right_and_wrong(self, log_right: Floats, log_wrong: Floats, share: Floats) -> Floats:
        """Return (R, K) logs of labels, from those of a right one and of a wrong one, both (M, K or 1).

        To those of a wrong one log e is added, as far as the worker shares the errors of the crowd: `share` (M, 1).
        """
        K, logs = self.rows.n_classes, np.empty(self.C.shape)
        for workers, places, rows in self.rows.pieces:
            of_piece, right = logs[places], log_right[workers]
            of_piece[:] = log_wrong[workers][rows.owner]
            if self.log_errors.any():
                of_piece += share[workers][rows.owner] * self.log_errors[rows.label]
            of_piece[rows.places, rows.label] = np.broadcast_to(right, (rows.n_workers, K))[rows.owner, rows.label]
        return logs


class WorkerType(Protocol):
    """What a type of worker has to compute from expected counts of labels."""

    @property
    def name(self) -> str:
        """Name of the type in results, such as "coin"."""
        ...

    @property
    def shares_errors(self) -> bool:
        """Whether wrong labels follow the errors of the whole crowd, and so take part in estimating these."""
        ...

    def expected_log(self, counts: Counts) -> Floats:
        """Return E_t, the (R, K) expected log-probabilities of the labels of the rows, given the class."""
        ...

    def log_evidence(self, counts: Counts) -> Floats:
        """Return L_t, the (M,) log-probabilities of each worker's expected labels, parameters integrated out."""
        ...


@dataclass(frozen=True)
class WithPrior:
    """A type with labels imagined for every worker before the first: a right ones, b of each wrong one."""

    a: float
    b: float


class Coin(WithPrior):
    """Right with probability c_w ~ Beta(a, b), whatever the class."""

    name, shares_errors = "coin", True

    def _right_and_wrong(self, counts: Counts) -> tuple[Floats, Floats]:
        return counts.of_all_classes

    def log_right_and_wrong(self, counts: Counts) -> tuple[Floats, Floats]:
        """Return psi(R + a) - psi(R + W + a + b) and psi(W + b) - psi(R + W + a + b), both (M, 1 or K)."""
        return self._found(counts)[:2]

    def _found(self, counts: Counts) -> tuple[Floats, Floats, Floats]:
        """Return these two, and log B(R + a, W + b) - log B(a, b)."""
        if self.name not in counts.found:
            R, W = self._right_and_wrong(counts)
            psi, log_gamma = zip(
                *map(psi_and_log_gamma, (R + self.a, W + self.b, R + W + self.a + self.b)), strict=True
            )
            gain = log_gamma[0] + log_gamma[1] - log_gamma[2] - log_beta(self.a, self.b)
            counts.found[self.name] = psi[0] - psi[2], psi[1] - psi[2], gain
        return counts.found[self.name]

    def expected_log(self, counts: Counts) -> Floats:
        """Return the first of these if right, else the second and log e."""
        return counts.of_right_and_wrong(*self.log_right_and_wrong(counts), np.ones((counts.rows.n_workers, 1)))

    def log_evidence(self, counts: Counts) -> Floats:
        """Return sums of log B(R + a, W + b) - log B(a, b), and the logarithms of the errors."""
        gain = self._found(counts)[2]
        return gain @ np.ones(gain.shape[1]) + counts.log_of_errors


class ByClass(Coin):
    """Right with probability c_wk ~ Beta(a, b) for each class k."""

    name = "class"

    def _right_and_wrong(self, counts: Counts) -> tuple[Floats, Floats]:
        return counts.right, counts.wrong


class Own(WithPrior):
    """A confusion matrix of one's own, each column k ~ Dirichlet(a on the diagonal, b elsewhere)."""

    name, shares_errors = "own", False

    def _prior(self, counts: Counts) -> tuple[Floats, float]:
        """Return the (R, K) prior counts of the rows, and the sum of a column of all labels."""
        K = counts.rows.n_classes
        prior = np.full(counts.C.shape, self.b)
        prior[counts.rows.places, counts.rows.label] = self.a
        return prior, self.a + (K - 1) * self.b

    def expected_log(self, counts: Counts) -> Floats:
        """Return psi(C + prior) - psi(sum over labels)."""
        prior, total = self._prior(counts)
        return np.asarray(special.digamma(counts.C + prior) - special.digamma(counts.given + total)[counts.rows.owner])

    def log_evidence(self, counts: Counts) -> Floats:
        """Return the sum over classes of log B(C + prior) - log B(prior); labels that do not occur cancel."""
        prior, total = self._prior(counts)
        cells = counts.rows.by_worker((special.gammaln(counts.C + prior) - special.gammaln(prior)).sum(axis=1))
        return np.asarray(cells + np.sum(special.gammaln(total) - special.gammaln(counts.given + total), axis=1))


@dataclass(frozen=True)
class NoInformation:
    """Labels drawn from s_w ~ Dirichlet(gamma, ..., gamma) whatever the class: they move no posterior.

    E is psi(gamma + n_wl) - psi(K gamma + n_w) for all classes, so neither posterior nor bound change without it.
    """

    gamma: float = NO_INFORMATION_COUNT
    name: str = "none"
    shares_errors: bool = False

    def expected_log(self, counts: Counts) -> Floats:
        """Return zeros: what is the same for all classes is left out."""
        return np.broadcast_to(0.0, counts.C.shape)

    def log_evidence(self, counts: Counts) -> Floats:
        """Return log B(gamma + n_w) - log B(gamma): a constant of the data."""
        n, total = counts.labels, self.gamma * counts.rows.n_classes
        cells = counts.rows.by_worker(special.gammaln(n + self.gamma) - special.gammaln(self.gamma))
        return np.asarray(cells + special.gammaln(total) - special.gammaln(counts.rows.by_worker(n) + total))


def log_beta(a: Floats | float, b: Floats | float) -> Floats:
    """Logarithm of the Beta function."""
    return np.asarray(special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b))


def crowd_errors(weighted: Floats) -> Floats:
    """Return log e, from the (K, K) expected labels of the crowd by label and class; zero on the diagonal."""
    off = ~np.eye(len(weighted), dtype=bool)
    counts = np.where(off, weighted + 1.0, 0.0)
    return np.log(np.where(off, counts / counts.sum(axis=0), 1.0))


@dataclass(frozen=True)
class TypesBelief:
    """What is believed of workers and classes after a round; see the module's symbols."""

    types: tuple[WorkerType, ...]
    counts: Counts
    alpha: Floats
    nu: Floats
    rho: Floats
    q: Floats
    bound: float = field(repr=False)  # of the log-probability of workers' labels, given the soft counts

    @cached_property
    def expected_log_labels(self) -> Floats:
        """Sum over t of q_wt E_t: (R, K); types that share the crowd's errors are added up by worker first."""
        counts, shared, parts = self.counts, [], []
        for t, kind in enumerate(self.types):
            q = self.q[:, [t]]
            if isinstance(kind, Coin):
                log_right, log_wrong = kind.log_right_and_wrong(counts)
                shared.append((q * log_right, q * log_wrong, q))
            elif not isinstance(kind, NoInformation):
                parts.append(q[counts.rows.owner] * kind.expected_log(counts))
        if shared:
            log_right, log_wrong, share = (np.asarray(sum(terms)) for terms in zip(*shared, strict=True))
            parts.append(counts.of_right_and_wrong(log_right, log_wrong, share))
        return reduce(add, parts)

    def expected_logs(self) -> LatentClassModel:
        """Return exp of the expected logarithms, as a model of the classes whose columns sum to less than one."""
        log_prior = special.digamma(self.nu) - special.digamma(self.nu.sum())
        return LatentClassModel.from_stacked(
            np.exp(log_prior), np.exp(self.expected_log_labels), self.counts.rows.sizes
        )

    def divergence(self) -> float:
        """Return what the log-likelihood under `expected_logs` is above the bound (nats)."""
        given = self.nu - self.alpha
        classes = log_dirichlet_constant(self.nu) - log_dirichlet_constant(self.alpha)
        expected = float(given @ (special.digamma(self.nu) - special.digamma(self.nu.sum())))
        return float(np.vdot(self.counts.C, self.expected_log_labels)) + expected - self.bound - classes

    def bare(self) -> Self:
        """Return the same belief without the sums and logarithms that were kept of it, which are many numbers."""
        return replace(self, counts=replace(self.counts, found={}))

    def everywhere(self) -> TypesBelief:
        """Return the same belief with a row for every pair of a worker and a label."""
        rows = self.counts.rows
        every = Rows.all(rows.n_workers, rows.n_classes)
        C = np.zeros((len(every.owner), rows.n_classes))
        C[rows.owner * rows.n_classes + rows.label] = self.counts.C
        counts = Counts(every, C, self.counts.log_errors)
        return TypesBelief(self.types, counts, self.alpha, self.nu, self.rho, self.q, self.bound)


def iterate(
    e_step: Callable[[LatentClassModel], SoftCounts],
    start: SoftCounts,
    believe: Believe,
    max_iter: int,
    tol: float,
    verbose: bool = False,
) -> tuple[TypesBelief, SoftCounts, Result]:
    """Run rounds until one moves the expected labels by at most `tol`, on average over the labels.

    Parameters
    ----------
    e_step : callable
        From a model of the classes to the soft counts of all tasks; see `cofactor.core.em.expectation`.
    start : SoftCounts
        Of the rows of `believe`.

    Returns
    -------
    belief : TypesBelief
    counts : SoftCounts
        Of the posterior under this belief.
    result : Result
        `objective` is the lower bound of the log-probability of the labels (nats), up to a constant; it never falls.

    Cost
    ----
    A round costs an E-step of K states, and O(rows K types) digamma functions.
    """
    counts, history = start, History("worker types", max_iter, tol, verbose)
    n_labels = start.cells.sum()
    for n in history:
        belief = believe(counts, n >= ROUNDS_OF_ONE_STEP)
        after = e_step(belief.expected_logs())
        change = float(np.abs(after.cells - counts.cells).sum() / n_labels)
        history.record(after.log_likelihood - belief.divergence(), change)
        belief, counts = belief.bare(), after
    return belief, counts, history.result()


def log_dirichlet_constant(x: Floats) -> float:
    """Logarithm of the multivariate Beta function."""
    return float(special.gammaln(x).sum() - special.gammaln(x.sum()))


class Believe:
    """From soft counts to the belief they lead to; the types found in one round weigh the errors of the next.

    Parameters
    ----------
    types : sequence of WorkerType
    rows : Rows
    alpha : (K,) array
    active : (M,) bools
        Workers with labels; the others take no part in the shares of the types.
    """

    def __init__(self, types: Sequence[WorkerType], rows: Rows, alpha: Floats, active: NDArray[np.bool_]) -> None:
        self.types, self.rows, self.alpha, self.active = tuple(types), rows, alpha, active
        T = len(self.types)
        self.rho = np.full(T, 1 / T)
        self.q = np.full((rows.n_workers, T), 1 / T)
        self._of_data: dict[str, Floats] = {}

    def __call__(self, counts: SoftCounts, settle: bool = False) -> TypesBelief:
        """M-step: return the belief that these counts lead to, with the best shares of types if `settle`."""
        log_errors = self._log_errors(counts.cells)
        found = Counts(self.rows, counts.cells, log_errors)
        L = np.stack([self._log_evidence(kind, found) for kind in self.types]).T
        self.rho = self._shares(L, settle)
        self.q, log_total = type_probabilities(self.rho, L)
        bound = float(log_total[self.active].sum() + log_errors.sum() + np.log(self.rho).sum())
        return TypesBelief(self.types, found, self.alpha, self.alpha + counts.classes, self.rho, self.q, bound)

    def _log_errors(self, cells: Floats) -> Floats:
        """Log e, of the errors of workers who share those of the crowd; of two classes, there is one error."""
        if self.rows.n_classes == 2:
            return np.zeros((2, 2))
        weight = self.q @ np.array([float(kind.shares_errors) for kind in self.types])
        return crowd_errors(self.rows.by_label(cells * weight[self.rows.owner, None]))

    def _log_evidence(self, kind: WorkerType, found: Counts) -> Floats:
        """L_t; of "none" it is a constant of the data, computed in the first round."""
        if not isinstance(kind, NoInformation):
            return kind.log_evidence(found)
        if kind.name not in self._of_data:
            self._of_data[kind.name] = kind.log_evidence(found)
        return self._of_data[kind.name]

    def _shares(self, L: Floats, settle: bool) -> Floats:
        """Return rho after one step, or the best, given the evidence (M, T) of every worker."""
        if settle:
            return best_shares(self.rho, L[self.active])
        q = type_probabilities(self.rho, L)[0]
        return np.asarray((1 + self.active @ q) / (self.active.sum() + q.shape[1]))

"""Types of workers: the model behind `WorkerTypes`, the default for crowds.

Every worker is of one type, which is inferred from the labels:

    coin     correct with one probability for all classes; wrong labels follow the errors of the whole crowd
    class    correct with one probability per class; errors as above
    own      a confusion matrix of the worker's own (Dawid and Skene)
    none     labels do not depend on the class: constant workers, and all who add no information to the others
    graded   errs by steps along a declared order of the classes

    symbol    meaning                                                                          shape
    r_ik      posterior of class k for task i                                                  (N, K)
    C_wlk     expected labels l of worker w on tasks of class k: sum_i r_ik [w said l of i]    (rows, K)
    R, W      correct and wrong ones among them, by class: C_wkk and sum over l != k           (M, K)
    n_wl      labels l of worker w                                                             (rows,)
    e_lk      errors of the crowd: Pr(label l | class k, wrong); zero on the diagonal          (K, K)
    a, b      prior counts for every worker: of correct labels, of each wrong label
    gamma     prior count of each label for a worker without information
    L_wt      log-probability of worker w's expected labels under type t (log marginal)        (M, T)
    E_t       expected log Pr(label l of w | class k) under type t                             (rows, K)
    rho_t     share of type t                                                                  (T,)
    q_wt      probability that worker w is of type t                                           (M, T)
    alpha     prior counts of the classes: the majority votes, as many as there are tasks      (K,)
    nu        alpha + expected tasks of each class                                             (K,)

Rows are the pairs (worker, label) that occur. A round is

    e_lk  = (1 + sum_w (q_w,coin + q_w,class) C_wlk) / sum over l != k
    q_wt  proportional to rho_t exp L_wt,    rho_t = (1 + sum_w q_wt) / (M + T),    and q once more
    r_ik  proportional to exp(psi(nu_k) - psi(sum nu) + sum over labels (w, l) of i, sum_t q_wt E_t[wl, k])

The last line is the E-step of a latent-class model whose probabilities are exp of these expectations. This is a mean
field approximation q(z) q(t_w, theta_w); e and rho are modes under Dirichlet(2, ..., 2). Each line increases the same
lower bound.

**graded**: with an order, each class has m = 3 scores x = k - 1/3, k, k + 1/3, and a grader draws a normal number with
standard deviation s around x + b, rounded to a grade; or, on a reversed scale, around K - 1 - x. The states g are the
scores, k(g) is their class.

    P_j(l | x) = .98 [Phi((l + 1/2 - x - b) / s) - Phi((l - 1/2 - x - b) / s)] + .02 / K     ends open (Phi = 0, 1)
    L_w,graded = log sum_j omega_j exp L_wj,   L_wj = sum_lg C_wlg log P_j(l | x_g),   omega falls with the offset b

The errors of the crowd then weight all workers equally: weighted by type, they follow the few workers who are not
graders (accuracy on `web` falls from 88 to 74 %). So the bound may fall here.

Sources: "coin" is the one-coin model and "own" that of Dawid and Skene (1979) with the variational treatment of Kim and
Ghahramani, AISTATS 2012; a spamming type is in MACE (Hovy et al., NAACL 2013), there for single labels; graders are
the graded responses of Johnson, "On Bayesian analysis of multirater ordinal data", JASA 1996, on a lattice. The rest is
this library's own; alternatives that were tried are in docs/default.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.em import SoftCounts
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import FLOOR, LatentClassModel
from cofactor.core.lazy import special
from cofactor.core.types import Floats, Ints

PseudoCounts = tuple[float, float]

PRIOR: PseudoCounts = (4.0, 1.0)  # labels imagined for every class and worker: right ones, and each wrong one
NO_PRIOR: PseudoCounts = (0.0, 0.0)  # maximum likelihood, as in the papers
WORKERS_OF_A_PIECE = 2048


def prior_cells(pseudo_counts: tuple[float, float], n_classes: int) -> Floats:
    """Return the (K, K) prior counts of one worker; raise if `pseudo_counts` is no pair of valid numbers."""
    try:
        right, wrong = (float(count) for count in pseudo_counts)
    except (TypeError, ValueError):
        right = wrong = -1.0
    if not (0 <= right < np.inf and 0 <= wrong < np.inf):
        raise CofactorError(
            f"pseudo_counts={pseudo_counts!r}: must be two numbers of at least 0, for correct and for each wrong label"
        )
    return np.where(np.eye(n_classes, dtype=bool), right, wrong)


@dataclass(frozen=True)
class Rows:
    """Pairs (worker, label), the rows of counts and models: all pairs, or those that occur.

    Attributes
    ----------
    owner, label : (R,) ints
        Worker and label of every row, sorted by worker, then label.
    n_workers, n_classes : int
    """

    owner: Ints
    label: Ints
    n_workers: int
    n_classes: int

    @classmethod
    def all(cls, n_workers: int, n_classes: int) -> Rows:
        """Return all pairs, including those that do not occur."""
        owner, label = np.divmod(np.arange(n_workers * n_classes), n_classes)
        return cls(owner, label, n_workers, n_classes)

    @cached_property
    def sizes(self) -> Ints:
        """Number of rows of every worker: (M,)."""
        return np.bincount(self.owner, minlength=self.n_workers)

    @cached_property
    def places(self) -> Ints:
        """Indices of the rows, 0 to R - 1: (R,)."""
        return np.arange(len(self.owner))

    @cached_property
    def of_labels(self) -> list[Ints]:
        """Indices of the rows of each label."""
        return [np.flatnonzero(self.label == label) for label in range(self.n_classes)]

    @cached_property
    def pieces(self) -> list[tuple[slice, slice, Rows]]:
        """Pieces of few workers, whose arrays fit into the cache: slices of workers and of rows, and these rows."""
        first = np.arange(0, self.n_workers, WORKERS_OF_A_PIECE)
        workers = list(zip(first, np.append(first[1:], self.n_workers), strict=True))
        ends = np.searchsorted(self.owner, np.append(first, self.n_workers))
        return [
            (slice(u, v), slice(x, y), Rows(self.owner[x:y] - u, self.label[x:y], int(v - u), self.n_classes))
            for (u, v), x, y in zip(workers, ends[:-1], ends[1:], strict=True)
        ]

    def by_worker(self, values: Floats) -> Floats:
        """Return the sums of (R,) or (R, K) values over the rows of each worker."""
        return np.asarray(self._workers @ values)

    def by_label(self, values: Floats) -> Floats:
        """Return the (K, K) sums of (R, K) values over workers."""
        return np.asarray(self._labels @ values)

    @cached_property
    def _workers(self) -> sparse.csr_array:
        return sparse.csr_array(
            (np.ones(len(self.owner)), (self.owner, self.places)), (self.n_workers, len(self.owner))
        )

    @cached_property
    def _labels(self) -> sparse.csr_array:
        return sparse.csr_array(
            (np.ones(len(self.label)), (self.label, self.places)), (self.n_classes, len(self.label))
        )


# ---- shares of the types ----


SHARE_STEPS = 500  # at most; three are usual
SHARES_SETTLED = 1e-8  # decrement of the last step, whose square is twice the nats that are left


def type_probabilities(rho: Floats, L: Floats) -> tuple[Floats, Floats]:
    """Return q (M, T), proportional to rho exp L, and the logarithm of its sum over types (M,)."""
    joint = np.ascontiguousarray(L.T) + np.log(rho)[:, None]  # (T, M): NumPy is fast along the long axis only
    top = joint.max(axis=0)
    q = np.exp(joint - top)
    total = q.sum(axis=0)
    return (q / total).T, top + np.log(total)


def best_shares(rho: Floats, L: Floats) -> Floats:
    """Return the rho that maximises sum_w log sum_t rho_t exp L_wt + sum_t log rho_t, starting from `rho`.

    If (M + T) sum_t rho_t is subtracted, the maximiser is the same without the constraint that shares sum to one: along
    each ray, the maximum is where they do. This objective is self-concordant. So Newton steps, each divided by one plus
    its decrement, keep rho positive and never decrease the objective, from any start.

    Cost: a few steps, each O(M T^2).

    Source: the damped step, Nesterov and Nemirovskii, "Interior-point polynomial algorithms in convex programming",
    1994, chapter 2; without the condition, Kim, Carbonetto, Stephens and Anitescu, "A fast algorithm for maximum
    likelihood estimation of mixture proportions", Journal of Computational and Graphical Statistics 2020.

    >>> best_shares(np.array([0.5, 0.5]), np.log([[0.9, 0.1]] * 8)).round(2).tolist()
    [0.89, 0.11]
    """
    M, T = L.shape
    likelihood = np.exp(L - L.max(axis=1, keepdims=True))
    for _ in range(SHARE_STEPS):
        relative = likelihood / (likelihood @ rho)[:, None]
        slope = relative.sum(axis=0) + 1 / rho - (M + T)
        step = np.linalg.solve(relative.T @ relative + np.diag(rho**-2), slope)
        decrement = np.sqrt(max(slope @ step, 0.0))
        rho = rho + step / (1 + decrement)
        if decrement <= SHARES_SETTLED:
            break
    return np.asarray(rho / rho.sum())


# ---- the model ----


TYPES = ("coin", "class", "own", "none", "graded")
SHARING = ("coin", "class")  # types whose wrong labels are errors of the crowd
NO_INFORMATION_COUNT = 0.5  # gamma
SCORES = 3  # m
OFFSETS = np.array([-1.5, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 1.5])  # b, in units of (K - 1) / 4
SPREADS = np.array([0.25, 0.4, 0.6, 0.9, 1.3, 2.0])  # s, in the same units
OFFSET_WIDTH = 0.25  # of omega, in the same units; chosen on public sets, see docs/default.md
REVERSED_SHARE, LAPSE = 0.1, 0.02  # of omega; of the labels, which are any grade


def right_and_given(cells: Floats, rows: Rows) -> tuple[Floats, Floats]:
    """Return correct labels, and all labels, of every worker by class, from (R, K ...) counts: both (M, K, ...)."""
    by_class = cells.reshape(len(cells), rows.n_classes, -1)
    right = np.zeros((rows.n_workers, *by_class.shape[1:]))
    right[rows.owner, rows.label] = by_class[rows.places, rows.label]
    return right, rows.by_worker(cells).reshape(right.shape)


def crowd_errors(labels: Floats) -> Floats:
    """Return the errors e of the crowd from (K, K) expected counts (label by class), adding one to each wrong label."""
    wrong = np.where(np.eye(len(labels), dtype=bool), 0.0, labels + 1.0)
    return np.asarray(wrong / wrong.sum(axis=0))


def log_dirichlet_constant(x: Floats) -> float:
    """Return the logarithm of the multivariate Beta function."""
    return float(special.gammaln(x).sum() - special.gammaln(x.sum()))


def graded_tables(n_grades: int) -> tuple[Floats, Floats]:
    """Return log P (J, K, G) and log omega (J,) of J graders: offsets outer, spreads inner, reversed ones last.

    >>> log_p, log_weight = graded_tables(5)
    >>> log_p.shape, bool(np.allclose(np.exp(log_p).sum(axis=1), 1)), round(float(np.exp(log_weight).sum()), 6)
    ((60, 5, 15), True, 1.0)
    """
    h, top = (n_grades - 1) / 4, n_grades - 1
    b, s = (grid.ravel() * h for grid in np.meshgrid(OFFSETS, SPREADS, indexing="ij"))
    x = np.repeat(np.arange(n_grades), SCORES) + np.tile((np.arange(SCORES) - 1) / SCORES, n_grades)
    centre = np.concatenate([x + b[:, None], np.tile(top - x, (len(SPREADS), 1))])[:, None]
    edges = np.linspace(0.5, n_grades - 1.5, n_grades - 1)[:, None]
    below = special.ndtr((edges - centre) / np.concatenate([s, SPREADS * h])[:, None, None])
    ends = np.zeros_like(below[:, :1])
    P = np.diff(np.concatenate([ends, below, ends + 1], axis=1), axis=1)
    weight = np.exp(-((b / h) ** 2) / (2 * OFFSET_WIDTH**2))
    upside_down = np.full(len(SPREADS), REVERSED_SHARE / len(SPREADS))
    omega = np.concatenate([(1 - REVERSED_SHARE) * weight / weight.sum(), upside_down])
    return np.log((1 - LAPSE) * P + LAPSE / n_grades), np.log(omega)


@dataclass(frozen=True)
class Tables:
    """Tables of graders, with classes in the order of their codes, not of the grades.

    Attributes
    ----------
    log_p : (J, K, K m) array
    log_omega : (J,) array
    """

    log_p: Floats
    log_omega: Floats

    @classmethod
    def of(cls, grades: Ints) -> Tables:
        """Return the tables of classes with these positions in the order."""
        log_p, log_omega = graded_tables(len(grades))
        by_score = log_p.reshape(len(log_p), len(grades), len(grades), SCORES)[:, grades][:, :, grades]
        return cls(by_score.reshape(log_p.shape), log_omega)


class Found:
    """L of every type, and E averaged over types, computed from expected counts of labels.

    Parameters
    ----------
    types : sequence of names
    rows : Rows
    cells : (R, K) array, or (R, K m) by scores
    prior : (a, b)
    log_errors : (K, K) array
        log e, zero on the diagonal.
    tables : Tables, optional
        Of graders.
    """

    def __init__(
        self,
        types: Sequence[str],
        rows: Rows,
        cells: Floats,
        prior: tuple[float, float],
        log_errors: Floats,
        tables: Tables | None = None,
    ) -> None:
        self.types, self.rows, self.cells, self.log_errors, self.tables = types, rows, cells, log_errors, tables
        self.C, (self.a, self.b) = within_classes(cells, rows.n_classes), prior

    @cached_property
    def _psi_and_gain(self) -> tuple[Floats, Floats, Floats]:
        """Expected log of correct and wrong labels, and log B(R + a, W + b) - log B(a, b): (M, 1 + K), coin first."""
        right, given = (x[:, :, 0] for x in right_and_given(self.C, self.rows))
        wrong, ones = np.maximum(given - right, 0.0), np.ones((right.shape[1], 1))
        R, W = (np.hstack([x @ ones, x]) for x in (right, wrong))
        counts = R + self.a, W + self.b, R + W + self.a + self.b
        psi, log_gamma = (list(map(function, counts)) for function in (special.digamma, special.gammaln))
        before = special.gammaln(self.a) + special.gammaln(self.b) - special.gammaln(self.a + self.b)
        return psi[0] - psi[2], psi[1] - psi[2], log_gamma[0] + log_gamma[1] - log_gamma[2] - before

    @cached_property
    def _own(self) -> tuple[Floats, Floats]:
        """E (R, K) and L (M,) of a confusion matrix of the worker's own; labels that do not occur cancel."""
        rows, K = self.rows, self.rows.n_classes
        D, total = self.C + self.b, self.a + (K - 1) * self.b
        D[rows.places, rows.label] += self.a - self.b
        T = rows.by_worker(self.C) + total
        cells = special.gammaln(D) @ np.ones(K) - special.gammaln(self.a) - (K - 1) * special.gammaln(self.b)
        columns = K * special.gammaln(total) - special.gammaln(T) @ np.ones(K)
        return special.digamma(D) - special.digamma(T)[rows.owner], np.asarray(rows.by_worker(cells) + columns)

    @cached_property
    def _by_table(self) -> Floats:
        """L_wj and log omega_j of graders: (M, J)."""
        assert self.tables is not None  # where "graded" is a type
        logs = np.empty((len(self.cells), len(self.tables.log_omega)))
        for label, rows in enumerate(self.rows.of_labels):
            logs[rows] = self.cells[rows] @ self.tables.log_p[:, label].T
        return self.rows.by_worker(logs) + self.tables.log_omega

    def log_evidence(self, none: Floats) -> Floats:
        """Return L (M, T); that of "none", which depends only on the data, is passed in."""
        columns = {"none": none}
        if {*SHARING} & {*self.types}:
            gain, errors = self._psi_and_gain[2], np.zeros(self.rows.n_workers)
            if self.log_errors.any():  # of two classes, there is one error
                errors = self.rows.by_worker(np.einsum("rk,rk->r", self.C, self.log_errors[self.rows.label]))
            columns |= {"coin": gain[:, 0] + errors, "class": gain[:, 1:] @ np.ones(gain.shape[1] - 1) + errors}
        if "own" in self.types:
            columns["own"] = self._own[1]
        if "graded" in self.types:
            columns["graded"] = special.logsumexp(self._by_table, axis=1)
        return np.stack([columns[name] for name in self.types], axis=1)

    def mixed(self, q: Floats) -> Floats:
        """Return E averaged over types with weights q: (R, K), or (R, K m) by scores."""
        share, rows = {name: q[:, [t]] for t, name in enumerate(self.types)}, self.rows
        logs = np.zeros(self.C.shape)
        if {*SHARING} & {*self.types}:
            right, wrong, _ = self._psi_and_gain
            coin, by_class = (share.get(name, np.zeros((len(q), 1))) for name in SHARING)
            log_right, log_wrong = (coin * x[:, :1] + by_class * x[:, 1:] for x in (right, wrong))
            for workers, places, part in rows.pieces:
                of_piece = logs[places]
                of_piece[:] = log_wrong[workers][part.owner]
                if self.log_errors.any():
                    of_piece += (coin + by_class)[workers][part.owner] * self.log_errors[part.label]
                of_piece[part.places, part.label] = log_right[workers][part.owner, part.label]
        if "own" in self.types:
            logs += share["own"][rows.owner] * self._own[0]
        if "graded" not in self.types or self.tables is None:
            return logs
        logs = np.repeat(logs, SCORES, axis=1)
        by_table = self._by_table - special.logsumexp(self._by_table, axis=1, keepdims=True)
        graders = share["graded"] * np.exp(by_table)
        for label, mine in enumerate(rows.of_labels):
            logs[mine] += graders[rows.owner[mine]] @ self.tables.log_p[:, label]
        return logs


def within_classes(states: Floats, n_classes: int) -> Floats:
    """Sum over the scores of each class along the last axis, if states are scores."""
    if states.shape[-1] == n_classes:
        return states
    return np.asarray(states.reshape(*states.shape[:-1], n_classes, -1).sum(axis=-1))


@dataclass(frozen=True)
class Belief:
    """Beliefs about workers and classes after a round; see the symbols at the top of this module.

    Attributes
    ----------
    model : LatentClassModel
        exp of the expected logarithms, for the rows that occur; its columns sum to less than one.
    divergence : float
        Log-likelihood under `model` minus the bound (nats).
    """

    types: tuple[str, ...]
    rows: Rows
    cells: Floats
    prior: tuple[float, float]
    log_errors: Floats
    tables: Tables | None
    nu: Floats
    rho: Floats
    q: Floats
    model: LatentClassModel
    divergence: float

    @property
    def right_and_given(self) -> tuple[Floats, Floats]:
        """Expected correct labels and all labels of every worker on tasks of every class: both (M, K)."""
        right, given = right_and_given(within_classes(self.cells, self.rows.n_classes), self.rows)
        return right[:, :, 0], given[:, :, 0]

    def everywhere(self) -> LatentClassModel:
        """Return `model` with rows for all pairs of a worker and a label."""
        rows = self.rows
        every = Rows.all(rows.n_workers, rows.n_classes)
        cells = np.zeros((len(every.owner), self.cells.shape[1]))
        cells[rows.owner * rows.n_classes + rows.label] = self.cells
        logs = Found(self.types, every, cells, self.prior, self.log_errors, self.tables).mixed(self.q)
        return LatentClassModel.from_stacked(self.model.prior, np.exp(logs), every.sizes)


class Model:
    """The M-step, from soft counts to beliefs; the type probabilities of a round weight the errors in the next.

    Parameters
    ----------
    types : sequence of names
    rows : Rows
    alpha : (K,) array
    active : (M,) bools
        Workers with labels; the others do not count in the shares of the types.
    prior : (a, b)
    grades : (K,) ints, optional
        Position of each class in a declared order, for "graded".
    """

    def __init__(
        self,
        types: Sequence[str],
        rows: Rows,
        alpha: Floats,
        active: NDArray[np.bool_],
        prior: tuple[float, float],
        grades: Ints | None = None,
    ) -> None:
        self.types, self.rows, self.alpha, self.active, self.prior = tuple(types), rows, alpha, active, prior
        self.tables = Tables.of(grades) if grades is not None and "graded" in types else None
        T = len(self.types)
        self.rho, self.q = np.full(T, 1 / T), np.full((rows.n_workers, T), 1 / T)
        self._sharing, self._none = np.array([float(name in SHARING) for name in types]), np.zeros(0)

    def begin(self, votes: SoftCounts) -> SoftCounts:
        """Return the counts of the votes by state, divided equally among the scores of a class."""
        if self.tables is None:
            return votes
        cells, classes = (np.repeat(x, SCORES, axis=-1) / SCORES for x in (votes.cells, votes.classes))
        return SoftCounts(cells, classes, votes.n_rows, votes.sizes)

    def __call__(self, counts: SoftCounts, settle: bool = False) -> Belief:
        """Return the belief after an M-step on these counts, with the best shares of the types if `settle`."""
        found = self._found(counts.cells)
        L = found.log_evidence(self._without_information(found.C))
        if settle:
            self.rho = best_shares(self.rho, L[self.active])
        else:
            q = type_probabilities(self.rho, L)[0]
            self.rho = np.asarray((1 + self.active @ q) / (self.active.sum() + q.shape[1]))
        self.q, log_total = type_probabilities(self.rho, L)
        tasks = within_classes(counts.classes, len(self.alpha))
        nu = self.alpha + tasks
        log_prior = special.digamma(nu) - special.digamma(nu.sum())
        logs, m = found.mixed(self.q), counts.cells.shape[1] // len(nu)
        prior = np.exp(np.repeat(log_prior - np.log(m), m))
        bound = float(log_total[self.active].sum())
        if self.tables is None:
            bound += float(found.log_errors.sum() + np.log(self.rho).sum())
        bound += log_dirichlet_constant(nu) - log_dirichlet_constant(self.alpha)
        divergence = float(np.vdot(counts.cells, logs)) + float(tasks @ log_prior) - bound
        model = LatentClassModel.from_stacked(prior, np.exp(logs), self.rows.sizes)
        of_crowd = self.prior, found.log_errors, self.tables
        return Belief(self.types, self.rows, counts.cells, *of_crowd, nu, self.rho, self.q, model, divergence)

    def log_probability(self, belief: Belief, counts: SoftCounts) -> float:
        """Return the bound of the log-probability of the labels (nats), from the posterior counts under a belief."""
        L = self._found(counts.cells).log_evidence(self._without_information(counts.cells))[self.active]
        of_workers = type_probabilities(best_shares(belief.rho, L), L)[1].sum()
        log_A, log_prior = (np.log(np.maximum(x, FLOOR)) for x in (belief.model.stacked, belief.model.prior))
        entropy = counts.log_likelihood - np.vdot(counts.cells, log_A) - counts.classes @ log_prior
        classes = log_dirichlet_constant(self.alpha + counts.classes) - log_dirichlet_constant(self.alpha)
        return float(of_workers + entropy + classes)

    def _found(self, cells: Floats) -> Found:
        """Return what the types make of counts, with the errors of workers who share those of the crowd."""
        K = self.rows.n_classes
        log_errors = np.zeros((K, K))
        if K > 2:  # of two classes, there is one error
            C = within_classes(cells, K)
            share = 1.0 if self.tables is not None else (self.q @ self._sharing)[self.rows.owner, None]
            e = crowd_errors(self.rows.by_label(C * share))
            log_errors = np.log(np.where(np.eye(K, dtype=bool), 1.0, e))
        return Found(self.types, self.rows, cells, self.prior, log_errors, self.tables)

    def _without_information(self, C: Floats) -> Floats:
        """L of "none", log B(gamma + n_w) - log B(gamma): (M,), a constant of the data, computed in the first round."""
        if not len(self._none):
            n, K, gamma, rows = C.sum(axis=1), self.rows.n_classes, NO_INFORMATION_COUNT, self.rows
            cells = rows.by_worker(special.gammaln(n + gamma) - special.gammaln(gamma))
            self._none = np.asarray(cells + special.gammaln(K * gamma) - special.gammaln(rows.by_worker(n) + K * gamma))
        return self._none

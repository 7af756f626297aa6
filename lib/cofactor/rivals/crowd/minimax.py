"""Minimax conditional entropy: a model in which every worker and every task has its own label confusions.

    p_ij(l | c) = exp(alpha_j[c, l] + w_i[c, l]) / sum_k exp(alpha_j[c, k] + w_i[c, k])

is the probability that worker j gives the label l to task i of class c. The dual of the regularised minimax problem is
to maximise

    F(mu, alpha, w) = sum_ij sum_c mu_i(c) log p_ij(L_ij | c) + H(mu) - lam_w/2 ||alpha||^2 - lam_t/2 ||w||^2

over mu, alpha and w in turn. F is concave in each of them and separable: given mu and w, every row alpha_j[c, :] is a
separate problem with K unknowns, and so is every row w_i[c, :] given mu and alpha; Newton's method solves each of them.

    symbol    meaning                                                     shape
    L_ij      label that worker j gave task i
    alpha_j   confusability of the classes for worker j                   (M, K, K)
    w_i       confusability of the classes on task i                      (N, K, K)
    mu_i      class probabilities of task i; H(mu) their entropy          (N, K)
    lam_w     ridge on alpha: gamma K^2
    lam_t     ridge on w: lam_w (labels per worker) / (labels per task)

Source: Zhou, Liu, Platt, Meek and Shah, "Regularized minimax conditional entropy for crowdsourcing", 2015
(arXiv:1503.07240), the categorical ("multiclass") model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cofactor.core.errors import CofactorError
from cofactor.core.estimator import History, Result
from cofactor.core.lazy import njit, special
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import TaskScorer
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.model import PRIOR, PseudoCounts

SOLVED = 1e-10  # nats: half of Newton's decrement, below which a row counts as solved
ROW_STEPS = 50  # of Newton per row; a handful is usual
ARMIJO = 1e-4  # share of the predicted gain that a step must reach


@dataclass(eq=False, repr=False)
class MinimaxEntropy(TaskScorer):
    """MinimaxEntropy: regularised minimax conditional entropy.

    Maximises F(mu, alpha, w), as defined in the module, starting at the vote fractions.

    Parameters
    ----------
    ridge : float
        gamma > 0, the ridge on the workers' parameters in units of K^2. The tables use 0.25, and that on Credit uses 5.
    max_iter, tol
        Maximum number of rounds over alpha, w and mu; stop when no class probability changes by `tol` in a round.
    em, pseudo_counts, random_state, verbose
        See `Aggregator`; EM starts at the scores, and nothing is random.

    Attributes after `fit`
    ----------------------
    posterior_ : (n_tasks, n_classes) array
        mu; uniform for tasks without labels, because the model has no class prior.
    model_, result_ : see `TaskScorer`
        `result_.objective` is F in nats after each round; it never decreases.

    Raises a CofactorError in `fit` if `ridge` is not positive, or no task has a label.

    Cost: O(labels K^3 + (M + N) K^4) time per round and step of Newton, O(labels K + (M + N) K^2) memory. Source: Zhou
    et al., 2015; gamma, the ratio of the ridges, 50 rounds and 5e-3 as in the code released with the ICML 2021 paper.
    Deviation: rows are solved exactly by Newton's method instead of all at once by at most 25 steps of L-BFGS.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> MinimaxEntropy().fit(labels).predict(labels).tolist()
    [0, 1]
    """

    ridge: float = 0.25
    max_iter: int = 50
    tol: float = 5e-3
    em: bool = False
    pseudo_counts: PseudoCounts = PRIOR
    random_state: int | None = None
    verbose: bool = False

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        if not self.ridge > 0:
            raise CofactorError(
                f"ridge={self.ridge}: must be positive, or the objective has no maximum for unanimous labels"
            )
        if not labels.n_labels:
            raise CofactorError("no task has a label, so there is nothing to fit")
        codes = labels.table.rows, labels.table.variables, labels.table.values
        task, worker, label = (np.asarray(code, dtype=np.int64) for code in codes)
        by_task = SortedLabels.sort(task, worker, label, labels.n_tasks)
        by_worker = SortedLabels.sort(worker, task, label, labels.n_workers)
        lam_w = self.ridge * labels.n_classes**2
        lam_t = lam_w * by_worker.mean_degree / by_task.mean_degree
        mu, history = vote_shares(labels), History("MinimaxEntropy", self.max_iter, self.tol, self.verbose)
        alpha, w = (np.zeros((n, *2 * mu.shape[1:])) for n in (labels.n_workers, labels.n_tasks))
        for _ in history:
            _maximise_rows(alpha, w, *by_worker[:3], mu[by_worker.partner], lam_w)
            _maximise_rows(w, alpha, *by_task[:3], mu[by_task.owner], lam_t)
            S = _log_likelihood(w, alpha, *by_task[:3])
            old, mu = mu, special.softmax(S, axis=1)
            entropy_and_fit = special.logsumexp(S, axis=1)[by_task.degree > 0].sum()  # sum mu S + H(mu), at the best mu
            F = entropy_and_fit - lam_w / 2 * np.sum(alpha**2) - lam_t / 2 * np.sum(w**2)
            history.record(float(F), change=float(np.abs(mu - old).max()))
        return mu, history.result()


class SortedLabels(NamedTuple):
    """Labels sorted by owner: tasks whose partners are workers, or workers whose partners are tasks."""

    indptr: Ints
    partner: Ints
    label: Ints
    owner: Ints

    @classmethod
    def sort(cls, owner: Ints, partner: Ints, label: Ints, n_owners: int) -> SortedLabels:
        """Sort entries in any order by owner."""
        order = np.argsort(owner, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n_owners))])
        return cls(indptr, partner[order], label[order], owner[order])

    @property
    def degree(self) -> Ints:
        """The number of labels of each owner."""
        return np.diff(self.indptr)

    @property
    def mean_degree(self) -> float:
        """The mean number of labels per owner, without owners that have none."""
        return float(self.degree[self.degree > 0].mean())


@njit(cache=True)
def _maximise_rows(
    theta: Floats, offset: Floats, indptr: Ints, partner: Ints, label: Ints, weight: Floats, lam: float
) -> None:
    """Maximise F over theta (B, K, K) of the owners in place, given theta of the partners and mu per entry (E, K)."""
    for b in range(len(theta)):
        mine = slice(indptr[b], indptr[b + 1])
        for c in range(theta.shape[1]):
            rows = np.empty((indptr[b + 1] - indptr[b], theta.shape[2]))
            for e in range(len(rows)):
                rows[e] = offset[partner[indptr[b] + e], c]
            _newton(theta[b, c], rows, label[mine], weight[mine, c], lam)


@njit(cache=True)
def _newton(x: Floats, offset: Floats, label: Ints, weight: Floats, lam: float) -> None:
    """Maximise f(x) = sum_e weight_e log softmax(x + offset_e)[label_e] - lam/2 ||x||^2 in place; strictly concave."""
    for _ in range(ROW_STEPS):
        f, gradient, hessian = _derivatives(x, offset, label, weight, lam)
        direction = np.linalg.solve(hessian, gradient)
        gain = np.dot(gradient, direction)
        if gain <= 2 * SOLVED:
            x += direction  # squares the error that is left
            return
        step = 1.0
        while _value(x + step * direction, offset, label, weight, lam) < f + ARMIJO * step * gain and step > 1e-9:
            step /= 2
        x += step * direction


@njit(cache=True)
def _value(x: Floats, offset: Floats, label: Ints, weight: Floats, lam: float) -> float:
    f, log_p = -lam / 2 * np.dot(x, x), np.empty(len(x))
    for e in range(len(label)):
        _log_softmax(x, offset[e], log_p)
        f += weight[e] * log_p[label[e]]
    return f


@njit(cache=True)
def _derivatives(x: Floats, offset: Floats, label: Ints, weight: Floats, lam: float) -> tuple[float, Floats, Floats]:
    """Return f, its gradient, and the negative of its Hessian, lam I + sum_e weight_e (diag(p_e) - p_e p_e')."""
    f, gradient, hessian, p = -lam / 2 * np.dot(x, x), -lam * x, lam * np.eye(len(x)), np.empty(len(x))
    for e in range(len(label)):
        _log_softmax(x, offset[e], p)
        f += weight[e] * p[label[e]]
        gradient[label[e]] += weight[e]
        for k in range(len(x)):
            p[k] = np.exp(p[k])
            gradient[k] -= weight[e] * p[k]
            hessian[k, k] += weight[e] * p[k]
            for l in range(k + 1):
                hessian[k, l] -= weight[e] * p[k] * p[l]
                hessian[l, k] = hessian[k, l]
    return f, gradient, hessian


@njit(cache=True)
def _log_softmax(x: Floats, offset: Floats, out: Floats) -> None:
    """Write log softmax(x + offset) to `out`, in scalar loops, as allocating K numbers costs more than filling them."""
    top, total = -np.inf, 0.0
    for k in range(len(x)):
        out[k] = x[k] + offset[k]
        top = max(top, out[k])
    for k in range(len(x)):
        total += np.exp(out[k] - top)
    shift = top + np.log(total)
    for k in range(len(x)):
        out[k] -= shift


@njit(cache=True)
def _log_likelihood(theta: Floats, offset: Floats, indptr: Ints, partner: Ints, label: Ints) -> Floats:
    """Return the (B, K) sums of log p(L | c) over the entries of each owner."""
    S, log_p = np.zeros(theta.shape[:2]), np.empty(theta.shape[2])
    for b in range(len(theta)):
        for e in range(indptr[b], indptr[b + 1]):
            for c in range(theta.shape[1]):
                _log_softmax(theta[b, c], offset[partner[e], c], log_p)
                S[b, c] += log_p[label[e]]
    return S

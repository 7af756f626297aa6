"""WorkerTypes, the default for crowds, on one page: worker types, their fit, and the uncertainty of labels.

Every worker is of one type, which is inferred from the labels:

    coin    correct with one probability; wrong labels follow the errors of the whole crowd
    class   correct with one probability per class; errors as above
    own     a confusion matrix of the worker's own; only if workers do not err together
    none    labels do not depend on the class

    symbol   meaning                                                                  shape
    F        labels: one where worker w said l of task i                              (N, M K)
    V, n     votes, labels of each task                                               (N, K), (N,)
    r        probability of each class for each task                                  (N, K)
    C        expected labels of a worker on tasks of a class: [worker, label, class]  (M, K, K)
    R, W     correct and wrong labels among them, by class                            (M, K)
    e        errors of the crowd: Pr(label | class, wrong)                            (K, K)
    E, L     of a type: expected log-probabilities of labels; log-probability of C    (M, K, K), (M,)
    rho, q   share of each type in the crowd; probability of each type for a worker   (T,), (M, T)
    alpha    prior counts of the classes: the majority votes                          (K,)
    nu       alpha and the expected tasks of each class                               (K,)
    p        probability of each class if tasks of a class differ in difficulty       (N, K)

A round (mean field):

    e_lk  = (1 + sum_w (q_w,coin + q_w,class) C_wlk) / sum over l != k
    q_wt  proportional to rho_t exp L_wt,    rho_t = (1 + sum_w q_wt) / (M + T)
    r_ik  proportional to exp(psi(nu_k) - psi(sum nu) + sum over labels (w, l) of i, sum_t q_wt E_wt,lk)

The labels of a task are dependent, so r is overconfident. P is proportional to r^(1 / sqrt(1 + effect (n - 1))), with
the effect under which the chosen labels are as probable as under p. With more than 50 classes, the default uses the
effect 2.4 instead, since learning it takes too long; grades and gold tasks are not covered here. Sources: those of
`cofactor.crowd.model`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import betaln, digamma, gammaln, logsumexp, ndtr, ndtri, softmax

from cofactor.plain.counts import Floats, Ints

SHARING = ("coin", "class")  # types whose wrong labels are errors of the crowd
RIGHT, WRONG, ANY = 4.0, 1.0, 0.5  # a, b, gamma: labels imagined for every worker, right, each wrong, and any
FLOOR, TINY = 1e-12, 1e-12
PULL = 5.0  # labels of the whole crowd added to a worker's
TOL, ONE_STEP = 1e-5, 40  # rounds after which rho is the best for L
INDEPENDENT = 2.0  # standard errors up to which workers do not err together
UNINFORMED = 0.9  # share of labels of type "none" above which the vote is the answer
POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
EFFECTS = np.concatenate([[0.0], np.geomspace(0.01, 1000.0, 80)])
RESIDUAL = 0.45  # effect that the difficulty of tasks does not show


class Fit(NamedTuple):
    """The result of a fit; see the symbols above. `C` are the counts that q comes from, `after` those of r."""

    P: Floats
    r: Floats
    q: Floats
    rho: Floats
    types: tuple[str, ...]
    nu: Floats
    effect: float
    log_likelihood: float  # of the model of difficulty
    uninformed: bool
    rounds: int
    C: Floats
    after: Floats


def meeting(worker: Ints, label: Ints) -> Ints:
    """Return the indices of the labels in the largest connected component of workers and classes.

    All indices are returned if this component has only one class.
    """
    M, K = worker.max() + 1, label.max() + 1
    graph = sparse.coo_array((np.ones(len(worker)), (worker, M + label)), (M + K, M + K))
    part = connected_components(graph, directed=False)[1][worker]
    inside = part == np.bincount(part).argmax()
    return np.flatnonzero(inside) if len(np.unique(label[inside])) > 1 else np.arange(len(worker))


def worker_types(task: Ints, worker: Ints, label: Ints, K: int, evidence: bool = False, max_iter: int = 500) -> Fit:
    """Fit labels of workers who are not copies; all tasks and workers have labels, and codes start at zero.

    With `evidence`, for comparing bounds, only coin, class and none are used, and P is r. O(labels K) per round.

    >>> i, w = np.divmod(np.arange(32), 4)
    >>> fit = worker_types(i, w, np.where(w < 3, i >= 4, 0), 2)
    >>> fit.P.argmax(axis=1).tolist(), fit.q[:, fit.types.index("none")].round().tolist()
    ([0, 0, 0, 0, 1, 1, 1, 1], [0.0, 0.0, 0.0, 1.0])
    """
    N, M = task.max() + 1, worker.max() + 1
    F = sparse.csr_array((np.ones(len(task)), (task, worker * K + label)), (N, M * K))
    V = F @ np.tile(np.eye(K), (M, 1))
    n = V.sum(axis=1)
    if n.max() <= 1:  # nothing tells how good workers are
        P = np.where(V > 0, 0.8, 0.2 / (K - 1))
        none = np.zeros((M, 0))
        return Fit(P, P, none, none[0], (), np.ones(K), 0.0, 0.0, False, 0, none, none)
    majority = V.max(axis=1, keepdims=True) == V
    alpha = np.maximum((majority / majority.sum(axis=1, keepdims=True)).sum(axis=0), 1e-3)
    types: tuple[str, ...] = ("coin", "class", "none")
    if not evidence and K >= 3 and n.sum() >= M * K:
        alone = rounds(F, V / n[:, None], alpha, ("own",), max_iter)
        if errors_together(F, alone.r, alone.C) <= INDEPENDENT:
            types = ("coin", "class", "own", "none")
    found = rounds(F, V / n[:, None], alpha, types, max_iter)
    silent = found.q[:, types.index("none")] @ np.bincount(worker)
    if evidence:
        return found
    if silent > UNINFORMED * len(task):  # the vote, with one imagined label a task
        return found._replace(P=(V + 1 / K) / (n[:, None] + 1), uninformed=True)
    p, log_likelihood = difficulty(F, found.after, found.r, alpha)
    effect = design_effect(found.r, p, n)
    return found._replace(P=flattened(found.r, n, effect), effect=effect, log_likelihood=log_likelihood)


def rounds(F: sparse.csr_array, V: Floats, alpha: Floats, types: tuple[str, ...], max_iter: int = 500) -> Fit:
    """Iterate from vote shares V until a round changes the expected labels by at most `TOL` on average."""
    K, T = V.shape[1], len(types)
    M, nu, after = F.shape[1] // K, alpha + V.sum(axis=0), F.T @ V
    rho, q = np.full(T, 1 / T), np.full((M, T), 1 / T)
    for n in range(max_iter):
        C = after.reshape(M, K, K)
        log_e = errors_of_crowd(C, q[:, [name in SHARING for name in types]].sum(axis=1))
        E, L = (np.stack(x, axis=1) for x in zip(*(of_type(name, C, log_e) for name in types), strict=True))
        rho = best_shares(rho, L) if n >= ONE_STEP else (1 + softmax(np.log(rho) + L, axis=1).sum(axis=0)) / (M + T)
        q = softmax(np.log(rho) + L, axis=1)
        mixed = np.maximum(np.einsum("wt,wtlk->wlk", q, E), np.log(FLOOR))
        r = softmax(F @ mixed.reshape(-1, K) + digamma(nu) - digamma(nu.sum()), axis=1)
        before, after, nu = after, F.T @ r, alpha + r.sum(axis=0)
        if np.abs(after - before).sum() <= TOL * before.sum():
            break
    return Fit(r, r, q, rho, types, nu, 0.0, 0.0, False, n + 1, C, after.reshape(M, K, K))


def errors_of_crowd(C: Floats, share: Floats) -> Floats:
    """Return log e, zero on the diagonal, with workers weighted by `share`, the probability of such a type."""
    off = ~np.eye(C.shape[1], dtype=bool)
    e = (1 + np.einsum("w,wlk->lk", share, C)) * off
    return np.log(np.where(off, e / e.sum(axis=0), 1.0))


def right_and_given(C: Floats) -> tuple[Floats, Floats]:
    """Return R and R + W from counts (M, K, K, ...) by worker, label, class and further axes."""
    return np.einsum("wkk...->wk...", C), C.sum(axis=1)


def prior_counts(K: int) -> Floats:
    """Return the (K, K) prior counts of labels for every worker."""
    return np.where(np.eye(K, dtype=bool), RIGHT, WRONG)


def of_type(name: str, C: Floats, log_e: Floats) -> tuple[Floats, Floats]:
    """Return E (M, K, K) and L (M,) of all workers under this type."""
    K, (R, given) = C.shape[1], right_and_given(C)
    if name in SHARING:
        W = np.maximum(given - R, 0)
        if name == "coin":
            R, W = R.sum(axis=1, keepdims=True), W.sum(axis=1, keepdims=True)
        total = digamma(R + W + RIGHT + WRONG)
        right, wrong = (
            np.broadcast_to(x, given.shape) for x in (digamma(R + RIGHT) - total, digamma(W + WRONG) - total)
        )
        E = np.where(np.eye(K, dtype=bool), right[:, None], wrong[:, None] + log_e)
        return E, (betaln(R + RIGHT, W + WRONG) - betaln(RIGHT, WRONG)).sum(axis=1) + (C * log_e).sum(axis=(1, 2))
    if name == "own":
        D = C + prior_counts(K)
        return digamma(D) - digamma(D.sum(axis=1, keepdims=True)), log_marginal(C, prior_counts(K)).sum(axis=1)
    labels = C.sum(axis=2, keepdims=True)
    return np.zeros_like(C), log_marginal(labels, np.full((K, 1), ANY))[:, 0]


def log_marginal(C: Floats, prior: Floats) -> Floats:
    """Return log B(C + prior) - log B(prior), B over the labels: (M, classes)."""
    after, before = (gammaln(x).sum(axis=-2) - gammaln(x.sum(axis=-2)) for x in (C + prior, prior))
    return np.asarray(after - before)


def best_shares(rho: Floats, L: Floats) -> Floats:
    """Return the rho that maximises sum_w log sum_t rho_t exp L_wt + sum_t log rho_t, by damped Newton steps."""
    M, T = L.shape
    likelihood = np.exp(L - L.max(axis=1, keepdims=True))
    for _ in range(500):
        relative = likelihood / (likelihood @ rho)[:, None]
        slope = relative.sum(axis=0) + 1 / rho - (M + T)
        step = np.linalg.solve(relative.T @ relative + np.diag(rho**-2), slope)
        decrement = np.sqrt(max(slope @ step, 0.0))
        rho = rho + step / (1 + decrement)
        if decrement <= 1e-8:
            break
    return np.asarray(rho / rho.sum())


def pulled_to_crowd(R: Floats, given: Floats) -> Floats:
    """Return the probabilities (M, K) of being right, shrunk to those of the whole crowd."""
    crowd = (R.sum(axis=0) + RIGHT) / (given.sum(axis=0) + RIGHT + WRONG)
    return np.asarray((R + PULL * crowd) / (given + PULL))


def errors_together(F: sparse.csr_array, r: Floats, C: Floats) -> float:
    """Return by how many standard errors pairs of errors on one task exceed those of independent workers."""
    x = (np.eye(C.shape[1]) - pulled_to_crowd(*right_and_given(C))[:, None]).reshape(F.shape[1], -1)
    t = (r * ((F @ x) ** 2 - F @ x**2)).sum(axis=1)
    return float(t.sum() / max(np.sqrt(t @ t), TINY))


def difficulty(F: sparse.csr_array, C: Floats, r: Floats, alpha: Floats, spread: float = 0.5) -> tuple[Floats, float]:
    """Return p and the log-likelihood of Pr(right) = Phi(ability_wk + spread b), b ~ N(0, 1) of each task.

    The states of a task are (class k, one of Q points of b). Fitted by expectation-maximisation, with one step of
    Fisher scoring for abilities and spread per round. A spread of 0 stays 0.
    """
    (M, K, _), Q, same = C.shape, len(POINTS), np.eye(len(alpha), dtype=bool)
    A = (C + prior_counts(K)) / (C + prior_counts(K)).sum(axis=1, keepdims=True)
    r = softmax(F @ np.log(np.maximum(A, FLOOR)).reshape(-1, K) + np.log(r.sum(axis=0) + alpha), axis=1)
    C, tasks = (F.T @ r).reshape(M, K, K), r.sum(axis=0)
    ability = ndtri(np.clip(pulled_to_crowd(*right_and_given(C)), 1e-9, 1 - 1e-9)) * np.sqrt(1 + spread**2)
    crowd, before = C.sum(axis=0)[:, :, None], np.nan

    def scores(R: Floats, given: Floats) -> tuple[Floats, Floats]:
        x = ability[:, :, None] + spread * POINTS
        p, density = np.clip(ndtr(x), 1e-9, 1 - 1e-9), np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
        return (R - given * p) * density / (p * (1 - p)), given * density**2 / (p * (1 - p))

    for _ in range(50):
        e = np.where(same, 0.0, crowd.sum(axis=2) + 1)
        p = np.clip(ndtr(ability[:, :, None] + spread * POINTS), 1e-9, 1 - 1e-9)[:, None]
        A = np.where(same[..., None], p, (1 - p) * (e / e.sum(axis=0))[..., None])
        prior = ((tasks + alpha) / (tasks + alpha).sum())[:, None] * WEIGHTS
        logs = F @ np.log(np.maximum(A, FLOOR)).reshape(M * K, -1) + np.log(prior).ravel()
        states, value = softmax(logs, axis=1), float(logsumexp(logs, axis=1).sum())
        if abs(value - before) <= 1e-5 * abs(before):
            break
        before, C, tasks = value, (F.T @ states).reshape(M, K, K, Q), states.sum(axis=0).reshape(K, Q).sum(axis=1)
        crowd, (R, given) = C.sum(axis=0), right_and_given(C)
        share = PULL / (crowd.sum(axis=(0, 2))[:, None] + TINY)
        score, information = scores(R + np.einsum("kkq->kq", crowd) * share, given + crowd.sum(axis=0) * share)
        ability = np.clip(ability + score.sum(axis=2) / np.maximum(information.sum(axis=2), TINY), -4, 4)
        score, information = scores(R, given)
        spread = spread and float(
            np.clip(spread + (score * POINTS).sum() / max((information * POINTS**2).sum(), TINY), 0, 5)
        )
    return states.reshape(-1, K, Q).sum(axis=2), value


def flattened(r: Floats, n: Floats, effect: float) -> Floats:
    """Return r^(1 / sqrt(1 + effect (n - 1))), scaled to sum to one."""
    with np.errstate(divide="ignore"):
        return np.asarray(softmax(np.log(r) / np.sqrt(1 + effect * np.maximum(n - 1, 0))[:, None], axis=1))


def design_effect(r: Floats, p: Floats, n: Floats) -> float:
    """Return the effect under which r gives its labels the same mean probability as p, flattened by a constant."""
    sure = flattened(p, n, RESIDUAL)[np.arange(len(r)), r.argmax(axis=1)].sum()
    return float(np.interp(sure, [flattened(r, n, x).max(axis=1).sum() for x in EFFECTS[::-1]], EFFECTS[::-1]))

"""Worker types, the default for crowds: every worker is of one type, and the labels tell of which.

    coin    right with one probability; a wrong label is one of the errors of the whole crowd
    class   right with a probability for each class; errors as above
    own     a confusion matrix of one's own
    none    labels do not depend on the class

    symbol   meaning                                                               shape
    r        probability of each class for each task                               (N, K)
    C        expected labels of a worker on tasks of a class: [label, class]       (M, K, K)
    e        errors of the crowd: Pr(label | class, wrong)                         (K, K)
    E, L     of a type and a worker: expected log-probabilities of labels, log-probability of C
    rho, q   share of each type in the crowd; probability of each type for a worker  (T,), (M, T)
    alpha    votes that each class got, in tasks                                   (K,)

The equations and their source are in `cofactor.crowd.types`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import betaln, digamma, gammaln, logsumexp

from cofactor.plain.counts import Floats

ALL = ("coin", "class", "own", "none")
RIGHT, WRONG, ANY = 4.0, 1.0, 0.5  # a, b, gamma: labels imagined before the first


def worker_types(
    triples: Sequence[tuple[int, int, int]], K: int, names: Sequence[str] = ALL, n_iter: int = 100
) -> tuple[Floats, Floats, Floats, list[float]]:
    """Return r (N, K), q (M, T), rho (T,) and the lower bound after each of `n_iter` rounds, which never falls.

    `triples` are (task, worker, label), all counted from zero; copies are one worker already. O(labels K T) a round.

    >>> triples = [(i, w, int(i >= 4)) for i in range(8) for w in range(3)] + [(i, 3, 0) for i in range(8)]
    >>> r, q, rho, _ = worker_types(triples, 2, ("coin", "none"))
    >>> r.argmax(axis=1).tolist(), q[:, 1].round().tolist()
    ([0, 0, 0, 0, 1, 1, 1, 1], [0.0, 0.0, 0.0, 1.0])
    """
    task, worker, label = np.array(triples).T
    N, M, T = task.max() + 1, worker.max() + 1, len(names)
    r = np.zeros((N, K))
    np.add.at(r, (task, label), 1.0)
    r /= r.sum(axis=1, keepdims=True)
    alpha, rho, bounds = r.sum(axis=0), np.full(T, 1 / T), []
    q = np.full((M, T), 1 / T)
    for _ in range(n_iter):
        C = np.zeros((M, K, K))
        np.add.at(C, (worker, label), r[task])
        e = errors_of_crowd(C, q[:, [name in ("coin", "class") for name in names]].sum(axis=1))
        found = [[of_type(name, C[w], e) for name in names] for w in range(M)]
        E, L = np.array([[log for log, _ in row] for row in found]), np.array([[L for _, L in row] for row in found])
        rho = (1 + normalised(np.log(rho) + L).sum(axis=0)) / (M + T)
        q = normalised(np.log(rho) + L)
        nu = alpha + r.sum(axis=0)
        log_prior = digamma(nu) - digamma(nu.sum())
        log_r = np.tile(log_prior, (N, 1))
        mixed = np.einsum("wt,wtlk->wlk", q, E)
        np.add.at(log_r, task, mixed[worker, label])
        bounds.append(logsumexp(log_r, axis=1).sum() - (C * mixed).sum() - (nu - alpha) @ log_prior)
        bounds[-1] += logsumexp(np.log(rho) + L, axis=1).sum() + np.log(rho).sum() + np.log(e[e > 0]).sum()
        bounds[-1] += gammaln(nu).sum() - gammaln(nu.sum()) - gammaln(alpha).sum() + gammaln(alpha.sum())
        r = normalised(log_r)
    return r, q, rho, bounds


def errors_of_crowd(C: Floats, share: Floats) -> Floats:
    """Return e, from the wrong labels of every worker, each counted by the probability of a type that has them."""
    K = C.shape[1]
    e = (1 + np.einsum("w,wlk->lk", share, C)) * (1 - np.eye(K))
    return np.asarray(e / e.sum(axis=0))


def of_type(name: str, C: Floats, e: Floats) -> tuple[Floats, float]:
    """Return E (K, K) and L of one worker, were it of this type, from its expected labels C (K, K)."""
    K, log_e = len(C), np.log(np.where(e > 0, e, 1.0))
    a, b = RIGHT, WRONG
    if name in ("coin", "class"):
        R, W = np.diag(C), C.sum(axis=0) - np.diag(C)
        if name == "coin":
            R, W = R.sum(keepdims=True), W.sum(keepdims=True)
        all_of_it = digamma(R + W + a + b)
        E = np.where(np.eye(K, dtype=bool), digamma(R + a) - all_of_it, digamma(W + b) - all_of_it + log_e)
        return E, float((betaln(R + a, W + b) - betaln(a, b)).sum() + (C * log_e).sum())
    if name == "own":
        D = C + np.where(np.eye(K, dtype=bool), a, b)
        return digamma(D) - digamma(D.sum(axis=0)), sum(log_of_sequence(D[:, k], D[:, k] - C[:, k]) for k in range(K))
    n = C.sum(axis=1) + ANY
    E = np.tile((digamma(n) - digamma(n.sum()))[:, None], (1, K))
    return E, log_of_sequence(n, np.full(K, ANY))


def log_of_sequence(posterior: Floats, prior: Floats) -> float:
    """Return the log-probability of labels, from the Dirichlet counts of their probabilities after and before."""
    after, before = (gammaln(n).sum() - gammaln(n.sum()) for n in (posterior, prior))
    return float(after - before)


def normalised(logs: Floats) -> Floats:
    """Return exp of the rows, scaled to sum to one."""
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))

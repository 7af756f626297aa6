"""Copies: workers with equal labels on all common tasks and the same errors.

Two good workers often agree because both are right. Copies are recognised by equal *errors*: if two workers err
independently, the second repeats a wrong label l of the first only with probability A_l^2 / A_l.

    symbol   meaning                                                                       shape
    n_uv     common tasks of two workers
    d        share of different labels among those of others on these tasks
    g, A     a group as one worker, with the label of most members; its matrix             (K, K)
    rho_i    class of task i, known from the labels of all others, flattened               (K,)
    D_uv     -log Pr(v gives the labels of u): -sum_i log sum_k rho_ik A_lk^2 / sum_k rho_ik A_lk
    gain     gain in nats of the labels with a group merged, over all workers unmerged

Candidates have n_uv >= 5, all labels equal, and -n_uv log(1 - d) above the limit log(pairs of workers / .001); linked
candidates form a group. They are merged if D_uv is also above the limit, and the gain is not negative:

    bound of the labels with the group as one + log marginal of members' labels given its labels
        - bound of the unmerged labels - log(M binomial(M, members))
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaln, logsumexp, softmax, xlogy

from cofactor.plain.counts import Ints
from cofactor.plain.worker_types import (
    SHARING,
    Fit,
    best_shares,
    errors_of_crowd,
    log_marginal,
    of_type,
    prior_counts,
    worker_types,
)

FEWEST_TASKS, FALSE_ALARMS = 5, 1e-3  # common tasks of a pair; crowds of no copies in which one is found
FEW, HOPELESS = 30, -10.0  # rounds of a first look at a gain; a gain that is not looked at for longer


def owners(task: Ints, worker: Ints, label: Ints, K: int) -> Ints:
    """Return the (M,) owners of the workers: the first of a group of copies, or the worker.

    With fewer than four workers, or one label per task, there are no copies. Cost: O(M^2) memory, one fit, and two for
    each group.

    >>> i, w = np.divmod(np.arange(1000), 5)
    >>> wrong = np.random.default_rng(0).random((200, 5)) < 0.2
    >>> wrong[:, 1] = wrong[:, 0]
    >>> owners(i, w, np.where(wrong[i, w], 1 - i % 2, i % 2), 2).tolist()
    [0, 0, 2, 3, 4]
    """
    M = int(worker.max() + 1)
    owner, limit = np.arange(M), np.log(M * (M - 1) / 2 / FALSE_ALARMS) if M > 1 else np.inf
    if M < 4 or np.bincount(task).max() <= 1:
        return owner
    alike = candidates(task, worker, label, K, limit)
    if (alike == owner).all():
        return owner
    i, w, l = merged(task, worker, label, alike)
    fit = worker_types(i, np.unique(w, return_inverse=True)[1], l, K)
    value = partial(log_probability, task, worker, label, K)
    for first in np.flatnonzero(np.bincount(alike, minlength=M) > 1) if fit.types else []:
        copies = [
            v for v in np.flatnonzero(alike == first)[1:] if same_errors(task, worker, label, alike, fit, v) > limit
        ]
        if copies:
            group = joined(np.arange(M), np.array([first, *copies]))
            gain = -np.inf
            for n in (FEW, 500):
                gain = value(group, n) - value(np.arange(M), n) - log_choices(M, len(copies) + 1)
                if gain < HOPELESS:
                    break
            owner = np.where(group == first, first, owner) if gain >= 0 else owner
    return owner


def candidates(task: Ints, worker: Ints, label: Ints, K: int, limit: float) -> Ints:
    """Return for each worker (M,) the first of a group whose labels agree more often than chance allows."""
    N, M, one = task.max() + 1, worker.max() + 1, np.ones(len(task))
    said = [sparse.csr_array((one * (label == k), (task, worker)), (N, M)) for k in range(K)]
    gave = sparse.csr_array((one, (task, worker)), (N, M))
    n = np.bincount(task)
    common, equal = (gave.T @ gave).toarray(), sum((x.T @ x).toarray() for x in said)
    others = (gave.T @ gave.multiply(n[:, None] - 2)).toarray()
    unlike = sum((x.T @ x.multiply((n - x.sum(axis=1))[:, None])).toarray() for x in said)
    u, v = np.nonzero(np.triu((common >= FEWEST_TASKS) & (equal == common) & (others > 0), 1))
    d = (unlike[u, v] + 0.5) / (others[u, v] + 1)
    alike = -common[u, v] * np.log(1 - d) > limit
    pairs = sparse.coo_array((np.ones(alike.sum()), (u[alike], v[alike])), (M, M))
    group = connected_components(pairs, directed=False)[1]
    return np.unique(group, return_index=True)[1][group]


def merged(task: Ints, worker: Ints, label: Ints, owner: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the labels of merged groups: the most frequent label per group and task; ties: the first in the file."""
    pair, place = np.unique(np.stack([task, owner[worker]]), axis=1, return_inverse=True)
    count = np.zeros((pair.shape[1], label.max() + 1))
    np.add.at(count, (place.ravel(), label), 1)
    most = count[place.ravel(), label] == count.max(axis=1)[place.ravel()]
    first = np.flatnonzero(most)[np.unique(place.ravel()[most], return_index=True)[1]]
    return task[first], owner[worker[first]], label[first]


def joined(owner: Ints, group: Ints) -> Ints:
    """Return the owners after merging these workers and all who belong to them."""
    inside = np.isin(owner, owner[group])
    return np.where(inside, np.flatnonzero(inside)[0], owner)


def same_errors(task: Ints, worker: Ints, label: Ints, owner: Ints, fit: Fit, v: int) -> float:
    """Return D of a worker and the first of their group, from a fit of the merged labels."""
    i, w, l = merged(task, worker, label, owner)
    K, g = fit.P.shape[1], np.searchsorted(np.unique(w), owner[v])
    A = (fit.after + prior_counts(K)) / (fit.after + prior_counts(K)).sum(axis=1, keepdims=True)
    scores = np.zeros(fit.P.shape)
    np.add.at(scores, i, np.log(A)[np.unique(w, return_inverse=True)[1], l])
    both = np.intersect1d(task[worker == v], task[worker == owner[v]])
    said = np.full(len(scores), -1)
    said[task[worker == v]] = label[worker == v]
    own, n = A[g, said[both]], np.bincount(i)[both]
    logs = (scores[both] - np.log(own)) / np.sqrt(1 + fit.effect * np.maximum(n - 2, 0))[:, None]
    r = softmax(logs + np.log(fit.nu / fit.nu.sum()), axis=1)
    return float(-np.log((r * own**2).sum(axis=1) / (r * own).sum(axis=1)).sum())


def log_probability(task: Ints, worker: Ints, label: Ints, K: int, owner: Ints, max_iter: int) -> float:
    """Return the bound of the merged labels plus the log marginal of members' labels given their group's."""
    i, w, l = merged(task, worker, label, owner)
    fit = worker_types(i, np.unique(w, return_inverse=True)[1], l, K, evidence=True, max_iter=max_iter)
    M, of_group = worker.max() + 1, np.bincount(owner)[owner[worker]] > 1
    of_owner = l[np.searchsorted(i * M + w, task * M + owner[worker])]  # of every label
    N = np.zeros((M, K, K))
    np.add.at(N, (worker[of_group], label[of_group], of_owner[of_group]), 1)
    return float(bound(fit) + log_marginal(N, prior_counts(K)).sum())


def bound(fit: Fit) -> float:
    """Return the lower bound of the log-probability of the labels: from types, entropy of r, and classes."""
    sharing = fit.q[:, [name in SHARING for name in fit.types]].sum(axis=1)
    L = np.stack([of_type(name, fit.after, errors_of_crowd(fit.after, sharing))[1] for name in fit.types], axis=1)
    types = logsumexp(np.log(best_shares(fit.rho, L)) + L, axis=1).sum()
    tasks = fit.r.sum(axis=0)[:, None]
    classes = log_marginal(tasks, fit.nu[:, None] - tasks).sum()
    return float(types - xlogy(fit.r, fit.r).sum() + classes)


def log_choices(M: int, n: int) -> float:
    """Return log(M binomial(M, n)), the log number of possible groups of n workers, over all sizes."""
    return float(np.log(M) + gammaln(M + 1) - gammaln(n + 1) - gammaln(M - n + 1))

"""Dawid and Skene's EM as in 1979, by loops in the probability domain; what is 0 / 0 there is zero."""

import numpy as np


def dawid_skene_1979(labels, rounds):
    """Return the (N, K) posterior after so many rounds from the vote, and the log-likelihood before each."""
    N, M, K = labels.n_tasks, labels.n_workers, labels.n_classes
    given = [[] for _ in range(N)]
    for i, m, k in zip(labels.table.rows, labels.table.variables, labels.table.values, strict=True):
        given[i].append((m, k))
    T = np.array([[sum(k == c for _, k in mine) / len(mine) for c in range(K)] for mine in given])
    objective = []
    for _ in range(rounds + 1):
        prior, pi = T.mean(axis=0), np.zeros((M, K, K))
        for i, mine in enumerate(given):
            for m, k in mine:
                pi[m, k] += T[i]
        total = pi.sum(axis=1, keepdims=True)
        pi = np.divide(pi, total, out=np.zeros_like(pi), where=total > 0)
        joint = np.array([prior * np.prod([pi[m, k] for m, k in mine], axis=0) for mine in given])
        objective.append(np.log(joint.sum(axis=1)).sum())
        T = joint / joint.sum(axis=1, keepdims=True)
    return T, np.array(objective[:-1])

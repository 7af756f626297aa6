"""Wawa, CATD and BWA by plain loops over labels, workers and classes."""

import numpy as np
from scipy.stats import chi2


def shares_of_winners(s):
    """1 for the class with most votes, 1/t each in a tie of t."""
    won = []
    for row in s:
        best = [k for k, votes in enumerate(row) if abs(votes - max(row)) < 1e-9]
        won.append([1 / len(best) if k in best else 0.0 for k in range(len(row))])
    return won


def lost_and_given(triples, won, n_workers):
    lost, given = [0.0] * n_workers, [0] * n_workers
    for i, j, label in zip(*triples, strict=True):
        lost[j] += 1 - won[i][label]
        given[j] += 1
    return lost, given


def weighted_vote(triples, shape, weight, rounds):
    """Alternate winners and weights; `weight` is a function of the lost and of all labels of a worker."""
    n_tasks, n_workers, n_classes = shape
    v = [1.0] * n_workers
    for r in range(rounds + 1):
        s = np.zeros((n_tasks, n_classes))
        for i, j, label in zip(*triples, strict=True):
            s[i, label] += v[j]
        if r == rounds:
            return s / s.sum(axis=1, keepdims=True), v
        v = [weight(d, n) for d, n in zip(*lost_and_given(triples, shares_of_winners(s), n_workers), strict=True)]


def wawa(lost, n):
    return (n - lost) / n


def catd(lost, n):
    """Lower 2.5 % quantile of chi-square with n degrees of freedom, over the lost labels or at least a half."""
    return chi2(df=n).ppf(0.025) / max(lost, 0.5)


def bwa_of_class(triples, k, shape, rounds, a_v=15, lam=1):
    """The binary problem "k or another class?"; every worker and task has labels."""
    n_tasks, n_workers, n_classes = shape
    y = {(i, j): float(label == k) for i, j, label in zip(*triples, strict=True)}
    of_task = [[y[e] for e in y if e[0] == i] for i in range(n_tasks)]
    z = [np.mean(votes) for votes in of_task]
    variance = sum(len(votes) * z_i * (1 - z_i) for votes, z_i in zip(of_task, z, strict=True)) / len(y)
    b = max(4 * (1 - 1 / n_classes) * a_v * variance, 1e-9)
    for _ in range(rounds):
        mu, v = np.mean(z), []
        for j in range(n_workers):
            mine = [(y[e] - z[e[0]]) ** 2 for e in y if e[1] == j]
            v.append((a_v + len(mine)) / (b + sum(mine)))
        new = []
        for i in range(n_tasks):
            votes = [(v[e[1]], y[e]) for e in y if e[0] == i]
            new.append((lam * mu + sum(w * x for w, x in votes)) / (lam + sum(w for w, _ in votes)))
        z = new
    return z, v

"""MACE by plain loops, in the notation of Hovy et al., 2013: T the class, S whether a label is the worker's habit."""

import numpy as np
from scipy.special import digamma


def e_step(triples, know, other, xi, n_tasks):
    """Expected labels known (M,) and habit's (M, K), and the log-likelihood; classes equally likely."""
    K = xi.shape[1]
    Q = np.full((n_tasks, K), 1 / K)
    for i, j, label in zip(*triples, strict=True):
        for c in range(K):
            Q[i, c] *= know[j] * (label == c) + other[j] * xi[j, label]
    log_likelihood = np.log(Q.sum(axis=1)).sum()
    Q /= Q.sum(axis=1, keepdims=True)
    k, s = np.zeros(len(xi)), np.zeros(xi.shape)
    for i, j, label in zip(*triples, strict=True):
        known = Q[i, label] * know[j] / (know[j] + other[j] * xi[j, label])
        k[j] += known
        s[j, label] += 1 - known
    return k, s, log_likelihood


def variational(k, s):
    """M-step of variational Bayes: exp of the digamma of counts, less that of their sum."""
    know, other, xi = [], [], []
    for a, b in zip(k, s, strict=True):
        total = np.exp(digamma(a + b.sum() + 1))
        know.append(np.exp(digamma(a + 0.5)) / total)
        other.append(np.exp(digamma(b.sum() + 0.5)) / total)
        xi.append(np.exp(digamma(b + 10)) / np.exp(digamma((b + 10).sum())))
    return np.array(know), np.array(other), np.array(xi)


def run(triples, shape, m_step, rounds):
    """Start with competence 0.7 and no habit; returns the counts after the last round and its log-likelihood."""
    n_tasks, n_workers, n_classes = shape
    parameters = np.full(n_workers, 0.7), np.full(n_workers, 0.3), np.full((n_workers, n_classes), 1 / n_classes)
    k, s, _ = e_step(triples, *parameters, n_tasks)
    for _ in range(rounds):
        parameters = m_step(k, s)
        k, s, log_likelihood = e_step(triples, *parameters, n_tasks)
    return parameters, k, s, log_likelihood

"""Variational Bayes for Dawid-Skene in loops, in the symbols of the module, and the evidence by enumeration."""

from itertools import product

import numpy as np
from scipy.special import digamma, gammaln, logsumexp


def rounds_of_bayes(task, worker, label, K, M, n_rounds, diagonal=4.0, off=1.0, kinds_count=0.1):
    """Return the class posteriors (N, K) and the lower bound after each of so many rounds."""
    N, J = max(task) + 1, max(worker) + 1
    labels_of = [[(w, y) for t, w, y in zip(task, worker, label, strict=True) if t == i] for i in range(N)]
    v = np.zeros((N, K))
    for i in range(N):
        for _, y in labels_of[i]:
            v[i, y] += 1 / len(labels_of[i])
    alpha = v.sum(axis=0)
    r = np.zeros((N, K, M))
    for i in range(N):
        q = sum(v[i] ** 2)
        r[i] = v[i][:, None] if M == 1 else np.stack([v[i] * q, v[i] * (1 - q)], axis=1)
    bounds = []
    for _ in range(n_rounds):
        P = np.ones((J, K, K, M)) * off
        for k in range(K):
            P[:, k, k] = diagonal
        a = P.copy()
        for i in range(N):
            for w, y in labels_of[i]:
                P[w, y] += r[i]
        nu = alpha + r.sum(axis=(0, 2))
        eta = kinds_count / M + r.sum(axis=0)
        log_r = np.zeros((N, K, M))
        for i in range(N):
            for k in range(K):
                for m in range(M):
                    log_r[i, k, m] = digamma(nu[k]) - digamma(nu.sum()) + digamma(eta[k, m]) - digamma(eta[k].sum())
                    for w, y in labels_of[i]:
                        log_r[i, k, m] += digamma(P[w, y, k, m]) - digamma(P[w, :, k, m].sum())
        bound = sum(logsumexp(log_r[i]) for i in range(N))
        bound -= sum(divergence(P[w, :, k, m], a[w, :, k, m]) for w in range(J) for k in range(K) for m in range(M))
        bound -= sum(divergence(eta[k], np.full(M, kinds_count / M)) for k in range(K)) + divergence(nu, alpha)
        bounds.append(bound)
        r = np.exp(log_r - logsumexp(log_r, axis=(1, 2), keepdims=True))
    return r.sum(axis=2), bounds


def divergence(x, a):
    """KL(Dir(x) || Dir(a))."""
    value = gammaln(sum(x)) - gammaln(sum(a))
    for one, before in zip(x, a, strict=True):
        value += gammaln(before) - gammaln(one) + (one - before) * (digamma(one) - digamma(sum(x)))
    return value


def exact_evidence(task, worker, label, K, M, diagonal=4.0, off=1.0, kinds_count=0.1):
    """Log-probability of the labels: all states of all tasks are gone through, the matrices integrated out."""
    N, J = max(task) + 1, max(worker) + 1
    votes = np.zeros((N, K))
    np.add.at(votes, (task, label), 1)
    alpha = (votes / votes.sum(axis=1, keepdims=True)).sum(axis=0)
    terms = []
    for states in product(product(range(K), range(M)), repeat=N):
        n_class, n_kind = np.zeros(K), np.zeros((K, M))
        for k, m in states:
            n_class[k] += 1
            n_kind[k, m] += 1
        value = counted(n_class, alpha) + sum(counted(n_kind[k], np.full(M, kinds_count / M)) for k in range(K))
        C = np.zeros((J, K, K, M))
        for t, w, y in zip(task, worker, label, strict=True):
            C[w, y, states[t][0], states[t][1]] += 1
        for w, k, m in product(range(J), range(K), range(M)):
            prior = np.where(np.arange(K) == k, diagonal, off)
            value += counted(C[w, :, k, m], prior)
        terms.append(value)
    return logsumexp(terms)


def counted(n, a):
    """Log-probability of a sequence with counts n whose probabilities are Dirichlet(a)."""
    return gammaln(a.sum()) - gammaln(a.sum() + n.sum()) + np.sum(gammaln(a + n) - gammaln(a))

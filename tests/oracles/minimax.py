"""Minimax conditional entropy by plain loops and a general solver, in the notation of Zhou et al., 2014."""

import numpy as np
from scipy.optimize import minimize


def log_p(alpha_j, w_i, c, label):
    """Return log p_ij(label | c), the softmax of alpha_j[c, :] + w_i[c, :]."""
    z = alpha_j[c] + w_i[c]
    return z[label] - np.log(np.sum(np.exp(z)))


def dual(triples, mu, alpha, w, lam_w, lam_t):
    """F(mu, alpha, w): expected log-likelihood, entropy of mu where there are labels, and the two ridges."""
    F = -lam_w / 2 * np.sum(alpha**2) - lam_t / 2 * np.sum(w**2)
    for i, j, label in zip(*triples, strict=True):
        F += sum(mu[i, c] * log_p(alpha[j], w[i], c, label) for c in range(mu.shape[1]))
    for i in set(triples[0].tolist()):
        F -= sum(m * np.log(m) for m in mu[i] if m > 0)
    return F


def class_probabilities(triples, alpha, w):
    """Return mu_i(c) proportional to prod_j p_ij(L_ij | c)."""
    mu = np.zeros((len(w), w.shape[1]))
    for i, j, label in zip(*triples, strict=True):
        for c in range(w.shape[1]):
            mu[i, c] += log_p(alpha[j], w[i], c, label)
    mu = np.exp(mu)
    return mu / mu.sum(axis=1, keepdims=True)


def maximise(function, start):
    """Maximise over all parameters at once."""
    found = minimize(lambda x: -function(x.reshape(start.shape)), start.ravel(), method="L-BFGS-B", tol=1e-13)
    return found.x.reshape(start.shape)


def minimax_rounds(triples, mu, n_workers, n_rounds, lam_w, lam_t):
    """Alternate over alpha, w and mu; returns mu and F after every round."""
    K, values = mu.shape[1], []
    alpha, w = np.zeros((n_workers, K, K)), np.zeros((len(mu), K, K))
    for _ in range(n_rounds):
        alpha = maximise(lambda a, w=w, mu=mu: dual(triples, mu, a, w, lam_w, lam_t), alpha)
        w = maximise(lambda b, alpha=alpha, mu=mu: dual(triples, mu, alpha, b, lam_w, lam_t), w)
        mu = class_probabilities(triples, alpha, w)
        values.append(dual(triples, mu, alpha, w, lam_w, lam_t))
    return mu, values

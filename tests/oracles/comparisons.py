"""The objective of comparisons in the paper's notation: one comparison at a time, its sampling matrix written out."""

import numpy as np
from scipy.special import log_expit, log_ndtr

LOG_CHANCE = {"logistic": log_expit, "probit": log_ndtr}


def sampling_matrix(u, i, j, n1, n2):
    """A of Eq. (5)."""
    A = np.zeros((n1 + n2, n1 + n2))
    A[u, n1 + i], A[u, n1 + j] = 1.0, -1.0
    return A


def plain_loss(data, Z, link="logistic"):
    """Eq. (8)."""
    n1, n2, Y, log_g = data.n_users, data.n_items, Z @ Z.T, LOG_CHANCE[link]
    losses = []
    for u, i, j, w in zip(data.user, data.left, data.right, data.outcome, strict=True):
        z = np.sum(sampling_matrix(u, i, j, n1, n2) * Y)
        losses.append(-w * log_g(z) - (1 - w) * log_g(-z))
    return float(np.mean(losses))


def balance_penalty(Z, n1):
    """Eq. (13)."""
    D = np.diag(np.append(np.ones(n1), -np.ones(len(Z) - n1)))
    return float(np.linalg.norm(Z.T @ D @ Z) ** 2)


def logistic_gradient(data, Z):
    """Eq. (9)."""
    n1, n2, Y = data.n_users, data.n_items, Z @ Z.T
    total = np.zeros_like(Z)
    for u, i, j, w in zip(data.user, data.left, data.right, data.outcome, strict=True):
        A = sampling_matrix(u, i, j, n1, n2)
        g = 1 / (1 + np.exp(-np.sum(A * Y)))
        h = g * (1 - g) * (g - w) / (g * (1 - g))
        total += h * (A + A.T) @ Z
    return total / len(data)

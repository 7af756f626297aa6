"""Davidson's model one comparison at a time, its derivatives by differences, users left out one after another."""

from __future__ import annotations

import numpy as np

STEP = 1e-4


def log_likelihood(theta, data, X, rows=None):
    """Sum over comparisons of the log of the chance of what happened."""
    n, k = data.n_items, X.shape[1]
    u, beta, ties = theta[:n], theta[n : n + k], len(theta) > n + k
    total = 0.0
    for c in range(len(data)) if rows is None else rows:
        z = u[data.left[c]] - u[data.right[c]] + float(X[c] @ beta)
        terms = {1.0: np.exp(z / 2), 0.0: np.exp(-z / 2), 0.5: np.exp(theta[-1]) if ties else 0.0}
        total += np.log(terms[data.outcome[c]] / sum(terms.values()))
    return total


def gradient(value, theta):
    """Central differences."""
    steps = STEP * np.eye(len(theta))
    return np.array([(value(theta + e) - value(theta - e)) / (2 * STEP) for e in steps])


def hessian(value, theta):
    """Central differences of central differences."""
    steps = STEP * np.eye(len(theta))
    return np.array([(gradient(value, theta + e) - gradient(value, theta - e)) / (2 * STEP) for e in steps])


def inverse(H, n_items):
    """Inverse of H among parameters whose utilities have mean zero."""
    keep = np.eye(len(H))
    keep[:n_items, :n_items] -= 1 / n_items
    return keep @ np.linalg.pinv(keep @ H @ keep, rcond=1e-9) @ keep


def covariance_by_users(theta, data, X, R):
    """What leaving users out tells, and the own part of the prior, of inverse variances R."""
    P = inverse(R - hessian(lambda x: log_likelihood(x, data, X), theta), data.n_items)
    return jackknife(theta, data, X, R, data.user) + P @ R @ P


def jackknife(theta, data, X, R, user):
    """In one step: theta moves by the inverse of what is left of H, times the scores left out."""
    whole = R - hessian(lambda x: log_likelihood(x, data, X), theta)
    moves = []
    for g in np.unique(user):
        rows = np.flatnonzero(user == g)
        own = lambda x, rows=rows: log_likelihood(x, data, X, rows)  # noqa: E731
        P_without = inverse(whole + hessian(own, theta), data.n_items)
        moves.append(P_without @ gradient(own, theta))
    return (1 - 1 / len(moves)) * np.array(moves).T @ np.array(moves)

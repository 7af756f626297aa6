"""Constrained least squares as the quadratic programme that defines it: every support tried."""

from itertools import combinations

import numpy as np


def least_squares_by_supports(W, x, on_simplex):
    """Solve the equations of every set of atoms; the best of the solutions that are nonnegative."""
    K = W.shape[1]
    best, value = np.zeros(K), np.inf if on_simplex else x @ x
    for size in range(1, K + 1):
        for support in map(list, combinations(range(K), size)):
            h = np.zeros(K)
            h[support] = _equality_constrained(W[:, support], x) if on_simplex else np.linalg.lstsq(W[:, support], x)[0]
            objective = np.sum((W @ h - x) ** 2)
            if (h >= 0).all() and objective < value:
                best, value = h, objective
    return best


def _equality_constrained(W, x):
    """Minimise ||W h - x||^2 over sum(h) = 1, by its optimality conditions."""
    K = W.shape[1]
    ones = np.ones((K, 1))
    conditions = np.block([[W.T @ W, ones], [ones.T, np.zeros((1, 1))]])
    return np.linalg.solve(conditions, np.append(W.T @ x, 1.0))[:K]

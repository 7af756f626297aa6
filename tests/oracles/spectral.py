"""Spectral-D&S by plain loops: Zhang et al., 2014, Algorithm 1, one task, one restart and one worker at a time."""

from itertools import permutations

import numpy as np


def group_votes(labels):
    """Return x[g][task], the votes of group g = m mod 3 for each class."""
    x = np.zeros((3, labels.n_tasks, labels.n_classes))
    for task, worker, label in zip(labels.table.rows, labels.table.variables, labels.table.values, strict=True):
        x[worker % 3, task, label] += 1
    return x


def moments(x_a, x_b, x_g):
    """Return M2 = E[x~_a x~_b'] and M3 = E[x~_a (x) x~_b (x) x_g], both symmetrised."""
    E_ga, E_gb, E_ab = (
        np.mean([np.outer(p, q) for p, q in zip(*pair, strict=True)], axis=0)
        for pair in ((x_g, x_a), (x_g, x_b), (x_a, x_b))
    )
    M2, M3 = 0, 0
    for a, b, g in zip(x_a, x_b, x_g, strict=True):
        a_moved, b_moved = E_gb @ np.linalg.inv(E_ab) @ a, E_ga @ np.linalg.inv(E_ab.T) @ b
        M2 = M2 + np.outer(a_moved, b_moved) / len(x_g)
        M3 = M3 + np.multiply.outer(np.outer(a_moved, b_moved), g) / len(x_g)
    return (M2 + M2.T) / 2, sum(np.transpose(M3, order) for order in permutations(range(3))) / 6


def power_by_restarts(T, seed, n_restarts=30, n_iterations=100):
    """Robust tensor power method with deflation; returns [(eigenvalue, eigenvector)]."""
    rng, pairs = np.random.default_rng(seed), []
    for _ in range(len(T)):
        found = []
        for _ in range(n_restarts):
            v = rng.standard_normal(len(T))
            for _ in range(n_iterations):
                v = np.einsum("ijk,j,k->i", T, v, v)
                v = v / np.linalg.norm(v)
            found.append((np.einsum("ijk,i,j,k", T, v, v, v), v))
        value, v = max(found, key=lambda pair: pair[0])
        T = T - value * np.multiply.outer(np.outer(v, v), v)
        pairs.append((value, v))
    return pairs


def group_factor(x_a, x_b, x_g, seed=0):
    """Return (mu, w) of group g: columns go to the class of their largest coordinate, which must be unambiguous."""
    M2, M3 = moments(x_a, x_b, x_g)
    U, s, _ = np.linalg.svd(M2)
    W = U / np.sqrt(s)
    mu, w = np.full(M2.shape, np.nan), np.full(len(M2), np.nan)
    for value, v in power_by_restarts(np.einsum("ijk,ip,jq,kr->pqr", M3, W, W, W), seed):
        column = value * np.linalg.pinv(W.T) @ v
        mu[:, np.argmax(column)], w[np.argmax(column)] = column, value**-2
    return mu, w


def confusions(labels, seed=0):
    """Return the K x K confusion matrix of every worker, before any naming of the classes."""
    x, K = group_votes(labels), labels.n_classes
    factor = {g: group_factor(x[a], x[b], x[g], seed) for g, a, b in ((0, 1, 2), (1, 2, 0), (2, 0, 1))}
    found = []
    for m in range(labels.n_workers):
        others = [g for g in range(3) if g != m % 3]
        mu, w = (sum(factor[g][part] for g in others) for part in (0, 1))
        E = np.zeros((K, K))
        for task, worker, label in zip(labels.table.rows, labels.table.variables, labels.table.values, strict=True):
            if worker == m:
                E[label] += sum(x[g][task] for g in others) / labels.n_tasks
        A = np.maximum(E @ np.linalg.inv(np.diag(w / 2) @ mu.T), 1e-6)
        found.append(A / A.sum(axis=0))
    return found

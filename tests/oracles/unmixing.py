"""Vertex component analysis step by step; the smallest simplex as the programme that defines it."""

import numpy as np
from scipy.optimize import minimize


def decibels(X, K):
    """Estimate the signal-to-noise ratio as the paper does."""
    M, N = X.shape
    mean = X.mean(axis=1)
    U = np.linalg.svd(X - mean[:, None])[0][:, :K]
    whole = sum(x @ x for x in X.T) / N
    kept = sum(np.sum((U.T @ (x - mean)) ** 2) for x in X.T) / N + mean @ mean
    return 10 * np.log10((kept - K / M * whole) / (whole - kept))


def vca_step_by_step(X, K, random_state):
    M, N = X.shape
    rng = np.random.default_rng(random_state)
    if decibels(X, K) > 15 + 10 * np.log10(K):
        U = np.linalg.svd(X)[0][:, :K]
        mean = U.T @ X.mean(axis=1)
        Y = np.array([U.T @ x / (mean @ (U.T @ x)) for x in X.T]).T
    else:
        mean = X.mean(axis=1)
        U = np.linalg.svd(X - mean[:, None])[0][:, : K - 1]
        parts = [U.T @ (x - mean) for x in X.T]
        Y = np.array([[*part, max(map(np.linalg.norm, parts))] for part in parts]).T
    E = np.zeros((K, K))
    E[-1, 0] = 1
    anchors = []
    for k in range(K):
        w = np.append(U.T @ rng.standard_normal(M), rng.standard_normal(K - U.shape[1]))
        f = w - E @ np.linalg.pinv(E) @ w
        anchors.append(max(range(N), key=lambda n: abs(f @ Y[:, n])))
        E[:, k] = Y[:, anchors[-1]]
    return anchors


def least_objective(Y, start, lam):
    """Minimise -log |det Q| + lam sum s over Q y + s >= 0, s >= 0, sums of the columns of Q kept, from a given Q."""
    K, N = Y.shape
    above = np.hstack([np.kron(np.eye(K), Y.T), np.eye(K * N)])
    sums = np.hstack([np.kron(np.ones(K), np.eye(K)), np.zeros((K, K * N))])
    first = np.append(start, np.maximum(-(start @ Y), 0))
    found = minimize(
        lambda v: lam * v[K * K :].sum() - np.linalg.slogdet(v[: K * K].reshape(K, K))[1],
        first,
        jac=lambda v: np.append(-np.linalg.inv(v[: K * K].reshape(K, K)).T, np.full(K * N, lam)),
        bounds=[(None, None)] * K * K + [(0, None)] * K * N,
        constraints=[
            {"type": "ineq", "fun": lambda v: above @ v, "jac": lambda v: above},
            {"type": "eq", "fun": lambda v: sums @ (v - first), "jac": lambda v: sums},
        ],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return found.fun

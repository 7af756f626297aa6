"""MERIT with every N x N matrix written out: Algorithm 1, exponentials shifted by the row maximum."""

import numpy as np


def row_softmax(C, mu):
    """Gradient of Phi_mu: exp(C_nl / mu) / sum_l exp(C_nl / mu)."""
    E = np.exp((C - C.max(axis=1, keepdims=True)) / mu)
    return E / E.sum(axis=1, keepdims=True)


def smooth_peak(C, mu):
    """Phi_mu(C) = sum_n mu log mean_l exp(C_nl / mu)."""
    m = C.max(axis=1)
    return np.sum(m + mu * np.log(np.exp((C - m[:, None]) / mu).mean(axis=1)))


def dense_merit(X, lam, mu=1e-5, n_iter=50, full=True, C0=None, t_init=0):
    """C after n_iter steps; objective after, gap before each."""
    N = X.shape[1]
    C = np.zeros((N, N)) if C0 is None else C0.copy()
    square = 1.0 if full else 0.5
    objectives, gaps = [], []
    for t in range(t_init, t_init + n_iter):
        gradient = 2 * square * X.T @ (X @ C - X) + lam * row_softmax(C, mu)
        U = np.zeros((N, N))
        U[gradient.argmin(axis=0), np.arange(N)] = 1.0
        gaps.append(np.sum(gradient * (C - U)))
        alpha = 2 / (t + 2)
        C = (1 - alpha) * C + alpha * U
        objectives.append(square * np.sum((X - X @ C) ** 2) + lam * smooth_peak(C, mu))
    return C, np.array(objectives), np.array(gaps)

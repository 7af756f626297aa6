"""FastGradient: its row projection as the quadratic programme that defines it, and its steps one after the other."""

import numpy as np
from scipy.optimize import minimize

from cofactor.rivals.separable import project_row


def project_row_by_quadratic_programme(y, j, w):
    """Minimise ||z - y||^2 over 0 <= w_j z_i <= w_i z_j, z_j <= 1."""
    N = len(y)
    below = np.outer(w, np.eye(N)[j]) - w[j] * np.eye(N)
    below = np.delete(below, j, axis=0)
    found = minimize(
        lambda z: np.sum((z - y) ** 2) / 2,
        np.full(N, 0.1) * w / w.max(),
        jac=lambda z: z - y,
        bounds=[(0, 1) if i == j else (0, None) for i in range(N)],
        constraints=[{"type": "ineq", "fun": lambda z: below @ z, "jac": lambda z: below}],
        method="SLSQP",
        options={"ftol": 1e-18, "maxiter": 1000},
    )
    return found.x


def plain_steps(X, p, nu, trace, n_iter):
    """C and the objective after every step, and how often the weight nu turned from growing to shrinking or back."""
    N = X.shape[1]
    C, Y, w, L = np.zeros((N, N)), np.zeros((N, N)), np.abs(X).sum(axis=0), np.linalg.norm(X, 2) ** 2
    momentum, change, directions, restarted = 0.05, 0.1, [], False
    last, values = np.inf, []
    for _ in range(n_iter):
        after = (np.sqrt(momentum**4 + 4 * momentum**2) - momentum**2) / 2
        ahead = momentum * (1 - momentum) / (momentum**2 + after)
        before, C = C, Y - (X.T @ (X @ Y - X) + nu * np.diag(p)) / L
        for j in range(N):
            project_row(C[j], j, w)
        values.append(np.sum((X - X @ C) ** 2) / 2 + nu * p @ np.diagonal(C))
        restarted = values[-1] > last and not restarted
        if restarted:
            Y, momentum = C.copy(), 0.05
            directions.append(-1 if np.trace(C) < trace else 1)
            if directions[-2:] in ([-1, 1], [1, -1]):
                change /= 2
            nu *= 1 + change * directions[-1]
        else:
            Y, momentum = C + ahead * (C - before), after
        last = np.sum((X - X @ C) ** 2) / 2 + nu * p @ np.diagonal(C)
    return C, np.array(values), int(np.count_nonzero(np.diff(directions)))

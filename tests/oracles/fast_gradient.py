"""The row projection of FastGradient as the quadratic programme that defines it."""

import numpy as np
from scipy.optimize import minimize


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

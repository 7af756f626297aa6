"""The slice T = {x : H x >= 0, 1'x = 1}, looked at directly."""

from itertools import combinations

import numpy as np
from scipy.optimize import minimize


def corners_one_by_one(H, slack=1e-9):
    """Every corner of T lies on K - 1 of its walls: try all choices of K - 1 rows."""
    K = H.shape[1]
    corners = []
    for chosen in combinations(range(len(H)), K - 1):
        system = np.vstack([H[list(chosen)], np.ones(K)])
        if abs(np.linalg.det(system)) > 1e-12:
            x = np.linalg.solve(system, np.eye(K)[-1])
            if np.all(H @ x >= -slack * max(1.0, np.linalg.norm(x))):
                corners.append(x)
    return np.array(corners)


def longest_by_climbing(H, rng, n_starts=8, box=20.0):
    """Climb in ||x|| over T (and a box) from random feasible points; a lower bound on the largest norm."""
    K = H.shape[1]
    walls = [
        {"type": "ineq", "fun": lambda x: H @ x, "jac": lambda x: H},
        {"type": "eq", "fun": lambda x: x.sum() - 1, "jac": lambda x: np.ones(K)},
    ]
    best = 1.0
    for _ in range(n_starts):
        found = minimize(
            lambda x: -x @ x,
            rng.dirichlet(np.ones(K)),
            jac=lambda x: -2 * x,
            bounds=[(-box, box)] * K,
            constraints=walls,
        )
        if np.all(H @ found.x >= -1e-9) and abs(found.x.sum() - 1) < 1e-9:
            best = max(best, float(np.linalg.norm(found.x)))
    return best


def distances_by_loops(H):
    """Per class, how far the nearest row, scaled to sum to one, is from the unit vector."""
    rows = [h / h.sum() for h in H if h.sum() > 0]
    return np.array([min(np.linalg.norm(row - e) for row in rows) for e in np.eye(H.shape[1])])

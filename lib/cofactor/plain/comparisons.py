"""Features of users and items from comparisons: "user u picked item i over item j".

    Pr(u picks i over j) = g(<u_u, v_i - v_j>),    g the logistic function

    min over U, V of  -(1/m) sum [w log g(z) + (1 - w) log g(-z)] + ridge / (2 m) (||U||_F^2 + ||V||_F^2)

Source: paper 004 of the four, Eq. (8), with a ridge instead of its balance penalty (13); both fix the relative scale of
U and V.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from cofactor.plain.counts import Floats, Ints


def objective(
    x: Floats, user: Ints, left: Ints, right: Ints, won: Floats, n_users: int, rank: int, ridge: float
) -> tuple[float, Floats]:
    """Return the objective and its gradient at x, the concatenation of U and V."""
    m, Z = len(won), x.reshape(-1, rank)
    U, V = Z[:n_users], Z[n_users:]
    D = V[left] - V[right]
    z = (U[user] * D).sum(axis=1)
    slope = ((expit(z) - won) / m)[:, None]
    G = ridge / m * Z
    np.add.at(G, user, slope * D)
    np.add.at(G, n_users + left, slope * U[user])
    np.add.at(G, n_users + right, -slope * U[user])
    value = -(won * log_expit(z) + (1 - won) * log_expit(-z)).mean() + ridge / (2 * m) * (x @ x)
    return float(value), G.ravel()


def comparison_features(
    user: Ints,
    left: Ints,
    right: Ints,
    won: Floats,
    shape: tuple[int, int],
    rank: int,
    ridge: float = 1.0,
    random_state: int = 0,
) -> tuple[Floats, Floats]:
    """Return user features (n_users, rank) and item features (n_items, rank), by L-BFGS from a small random start.

    `won` is 1 if the left item was picked, `shape` is (n_users, n_items). Only U (v_i - v_j)' is identified: U and V
    may be rotated together. O(m rank) per step.
    """
    start = np.random.default_rng(random_state).normal(0, 0.1, sum(shape) * rank)
    data = (user, left, right, won, shape[0], rank, ridge)
    options = {"maxiter": 1000, "maxfun": 100_000, "gtol": 1e-9, "ftol": 1e-14}
    found = minimize(objective, start, data, jac=True, method="L-BFGS-B", options=options)
    Z: Floats = found.x.reshape(-1, rank)
    return Z[: shape[0]], Z[shape[0] :]

"""Shares of the types of workers in a crowd, and the probabilities of the types for every worker.

The symbols are those of `cofactor.crowd.model`: L_wt log-probability of worker w's labels under type t, rho_t share of
the type in the crowd, q_wt its probability for the worker.
"""

from __future__ import annotations

import numpy as np

from cofactor.core.types import Floats

SHARE_STEPS = 500  # at most; three are usual
SHARES_SETTLED = 1e-8  # decrement of the last step, whose square is twice the nats that are left


def type_probabilities(rho: Floats, L: Floats) -> tuple[Floats, Floats]:
    """Return q (M, T), proportional to rho exp L, and the logarithm of its sum over types (M,)."""
    joint = np.ascontiguousarray(L.T) + np.log(rho)[:, None]  # (T, M): NumPy is fast along the long axis only
    top = joint.max(axis=0)
    q = np.exp(joint - top)
    total = q.sum(axis=0)
    return (q / total).T, top + np.log(total)


def best_shares(rho: Floats, L: Floats) -> Floats:
    """Return the rho of the highest sum_w log sum_t rho_t exp L_wt + sum_t log rho_t; start from another.

    With (M + T) sum_t rho_t taken off, the highest point is the same without the condition that shares add up to one:
    along each ray, it is where they do. What is left is self-concordant. So Newton's step, divided by one plus its
    decrement, stays above zero and never falls, from any start.

    Cost: a few steps, each O(M T^2).

    Source: the damped step, Nesterov and Nemirovskii, "Interior-point polynomial algorithms in convex programming",
    1994, chapter 2; without the condition, Kim, Carbonetto, Stephens and Anitescu, "A fast algorithm for maximum
    likelihood estimation of mixture proportions", Journal of Computational and Graphical Statistics 2020.

    >>> best_shares(np.array([0.5, 0.5]), np.log([[0.9, 0.1]] * 8)).round(2).tolist()
    [0.89, 0.11]
    """
    M, T = L.shape
    likelihood = np.exp(L - L.max(axis=1, keepdims=True))
    for _ in range(SHARE_STEPS):
        relative = likelihood / (likelihood @ rho)[:, None]
        slope = relative.sum(axis=0) + 1 / rho - (M + T)
        step = np.linalg.solve(relative.T @ relative + np.diag(rho**-2), slope)
        decrement = np.sqrt(max(slope @ step, 0.0))
        rho = rho + step / (1 + decrement)
        if decrement <= SHARES_SETTLED:
            break
    return np.asarray(rho / rho.sum())

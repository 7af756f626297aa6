"""Imputation of the co-occurrences of annotators without a common task from those of others.

    symbol   meaning                                                              shape
    R_mj     co-occurrences of annotators m and j, R_mj = A_m D A_j'              (K, K)
    n_mj     number of tasks it was counted on
    U_m      factor of annotator m, U_m = A_m D^1/2 up to a rotation              (K, K)

Designated annotators: if l and r link m and n, then R_mn = R_mr R_lr^-1 R_ln, since

    A_m D A_r' (A_l D A_r')^-1 A_l D A_n' = A_m D A_n'.

Robust imputation: factors of all annotators are fitted to all observed blocks at once, with smaller weights for
outlying blocks:

    min sum (n_mj (||R_mj - U_m U_j'||_F^2 + xi))^(p/2),    ||U_m||_F <= 1

Source: Ibrahim and Fu, "Crowdsourcing via annotator co-occurrence imputation and provable symmetric nonnegative matrix
factorization", ICML 2021, Eq. (7)-(11). Deviations: all linking pairs are averaged, where the paper designates one;
blocks are weighted by their numbers of tasks; a factor is the exact minimiser on the ball.
"""

from __future__ import annotations

import numpy as np

from cofactor.plain.counts import Floats, Pairs

SMOOTHING = 1e-6  # xi


def designated_imputation(R: Pairs, m: int, n: int, n_annotators: int) -> Floats:
    """Return R_mn (K, K) from all l and r who link m and n, or zeros if there are none. O(M^2 K^3).

    Each link has weight n_mr n_lr n_ln s^2, with s the smallest singular value of R_lr, since the error of an inverse
    grows as 1 / s^2.

    >>> R = {(0, 1): (np.diag([0.6, 0.4]), 9.0), (1, 2): (np.diag([0.6, 0.4]), 9.0), (2, 3): (np.diag([0.6, 0.4]), 9.0)}
    >>> R |= {(j, m): block for (m, j), block in R.items()}
    >>> designated_imputation(R, 0, 3, 4).round(2).tolist()
    [[0.6, 0.0], [0.0, 0.4]]
    """
    total = np.zeros_like(next(iter(R.values()))[0])
    for r in range(n_annotators):
        for l in range(n_annotators):
            if (m, r) in R and (l, r) in R and (l, n) in R:
                (R_mr, n_mr), (R_lr, n_lr), (R_ln, n_ln) = R[m, r], R[l, r], R[l, n]
                s = np.linalg.svd(R_lr, compute_uv=False)
                if s[-1] > 1e-8 * s[0]:
                    total += n_mr * n_lr * n_ln * s[-1] ** 2 * R_mr @ np.linalg.inv(R_lr) @ R_ln
    total = np.maximum(total, 0.0)
    return total / total.sum() if total.sum() > 0 else total


def robust_imputation(R: Pairs, U: Floats, p: float = 1.0, n_iter: int = 50) -> Floats:
    """Return the factors (M, K, K) after `n_iter` passes over the annotators from a start. O(blocks K^3) per pass.

    For each annotator, weights w_mj = n_mj^(p/2) (||R_mj - U_m U_j'||^2 + xi)^(p/2 - 1), Eq. (11); then weighted least
    squares on the ball.
    """
    U = U.copy()
    for _ in range(n_iter):
        for m in range(len(U)):
            G, B = np.zeros_like(U[m]), np.zeros_like(U[m])
            for j in range(len(U)):
                if (m, j) in R:
                    R_mj, n_mj = R[m, j]
                    misfit = ((R_mj - U[m] @ U[j].T) ** 2).sum() + SMOOTHING
                    w = n_mj ** (p / 2) * misfit ** (p / 2 - 1)
                    G += w * U[j].T @ U[j]
                    B += w * R_mj @ U[j]
            if B.any():
                U[m] = fit_in_ball(G, B)
    return U


def fit_in_ball(G: Floats, B: Floats) -> Floats:
    """Return the minimiser of tr(U G U') - 2 tr(U B') with ||U||_F <= 1: B (G + mu I)^-1, mu by bisection."""
    g, V = np.linalg.eigh(G)
    g = np.maximum(g, 1e-12 * g[-1])
    B_V = B @ V
    low, high = 0.0, float(np.linalg.norm(B))
    if np.linalg.norm(B_V / g) <= 1:
        high = 0.0
    for _ in range(100):
        mu = (low + high) / 2
        low, high = (mu, high) if np.linalg.norm(B_V / (g + mu)) > 1 else (low, mu)
    return (B_V / (g + high)) @ V.T

"""Imputation and the co-labelling graph by plain loops, in the notation of ICML 2021."""

from itertools import product

import numpy as np
from scipy.optimize import minimize

XI = 1e-6


def blocks_of(cooc):
    """Return {(m, j): (R_mj, n_mj)} of all observed pairs, both ways round."""
    pairs = zip(cooc.rows, cooc.indices, cooc.blocks, cooc.n, strict=True)
    return {(int(m), int(j)): (R, n) for m, j, R, n in pairs}


def link_by_svd(R_mr, R_lr, R_nl):
    """Eq. (7)-(8): [U_m; U_l] spans the columns of [R_mr; R_lr], and R_mn = U_m U_l^-1 R_nl'."""
    K = len(R_mr)
    U = np.linalg.svd(np.vstack([R_mr, R_lr]))[0][:, :K]
    return U[:K] @ np.linalg.inv(U[K:]) @ R_nl.T


def designated_block(cooc, m, n):
    """R_mn from all linking pairs (l, r), each weighted with n_mr n_lr n_ln s_lr^2; zero where there are none."""
    R, total = blocks_of(cooc), np.zeros((cooc.n_classes,) * 2)
    for r, l in product(range(cooc.n_workers), repeat=2):
        if (m, r) in R and (l, r) in R and (l, n) in R:
            s = np.linalg.svd(R[l, r][0])[1][-1]
            weight = R[m, r][1] * R[l, r][1] * R[l, n][1] * s**2
            total += weight * link_by_svd(R[m, r][0], R[l, r][0], R[n, l][0])
    total = np.maximum(total, 0)
    return total / total.sum() if total.sum() else total


def robust_criterion(cooc, U, p):
    """Eq. (9), each unordered pair once, with sample sizes."""
    total = 0.0
    for (m, j), (R, n) in blocks_of(cooc).items():
        if m < j:
            total += (n * (np.sum((R - U[m] @ U[j].T) ** 2) + XI)) ** (p / 2)
    return total


def robust_sweep(cooc, U, p):
    """One pass over the annotators: weights of Eq. (11), then the least squares problem of U_m on the ball."""
    U, R = U.copy(), blocks_of(cooc)
    for m in range(cooc.n_workers):
        mine = [(j, *R[m, j]) for j in range(cooc.n_workers) if (m, j) in R]
        w = [n ** (p / 2) * (np.sum((R_mj - U[m] @ U[j].T) ** 2) + XI) ** (p / 2 - 1) for j, R_mj, n in mine]
        G = sum(w_j * U[j].T @ U[j] for w_j, (j, _, _) in zip(w, mine, strict=True))
        B = sum(w_j * R_mj @ U[j] for w_j, (j, R_mj, _) in zip(w, mine, strict=True))
        U[m] = ball_fit_by_bisection(G, B)
    return U


def ball_fit_by_bisection(G, B, radius=1.0):
    """U (G + mu I) = B with the smallest mu >= 0 for which ||U|| <= radius."""

    def fit(mu):
        return np.linalg.solve(G + mu * np.eye(len(G)), B.T).T

    if np.linalg.norm(fit(0.0)) <= radius:
        return fit(0.0)
    low, high = 0.0, np.linalg.norm(B) / radius
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.linalg.norm(fit(middle)) > radius else (low, middle)
    return fit(high)


def ball_objective(G, B, U):
    return np.trace(U @ G @ U.T) - 2 * np.trace(U @ B.T)


def ball_fit_by_slsqp(G, B, radius=1.0):
    """The same by a general solver; only about six digits."""
    K = len(G)
    inside = {"type": "ineq", "fun": lambda u: radius**2 - u @ u}
    found = minimize(lambda u: ball_objective(G, B, u.reshape(K, K)), np.zeros(K * K), constraints=[inside])
    return found.x.reshape(K, K)


def criterion_gradient(cooc, U, p, step=1e-6):
    """Central differences of the criterion, one entry at a time."""
    gradient = np.zeros_like(U)
    for index in np.ndindex(U.shape):
        up, down = U.copy(), U.copy()
        up[index] += step
        down[index] -= step
        gradient[index] = (robust_criterion(cooc, up, p) - robust_criterion(cooc, down, p)) / (2 * step)
    return gradient


def components_by_spreading(mask):
    """Connected components with at least one edge, as sets: grow each until nothing joins."""
    left, found = {m for m in range(len(mask)) if mask[m].any()}, []
    while left:
        component = {min(left)}
        while more := {j for m in component for j in np.flatnonzero(mask[m])} - component:
            component |= more
        found.append(component)
        left -= component
    return found


def bipartite_by_trying(mask, component):
    """Whether one of all splits into two teams leaves no edge within a team."""
    members = sorted(component)
    for teams in product([0, 1], repeat=len(members)):
        side = dict(zip(members, teams, strict=True))
        if all(side[m] != side[j] for m in members for j in members if mask[m, j]):
            return True
    return False

"""Hunts for counterexamples to the theorems of the MERIT paper."""

from fractions import Fraction
from itertools import combinations

import numpy as np

from cofactor.plain.simplex import mixtures
from tests.evaluation.hunts import full_rank

OUTSIDE = 2.0  # the share of a pick outside of the anchors


def corners_and_weights(rng, most_corners=5):
    """Draw W, apart or nearly alike, and H: the unit vectors, then mixtures that come near them or not."""
    K = int(rng.integers(2, most_corners + 1))
    W = rng.standard_normal((K + int(rng.integers(0, 4)), K))
    W += rng.choice([0, 3]) * rng.standard_normal((len(W), 1))
    mixed = rng.dirichlet(np.full(K, rng.choice([0.2, 1, 5])), int(rng.integers(1, 12))).T
    return W, np.hstack([np.eye(K), 0.999 * mixed + 0.001 / K])


def noise(rng, shape, delta):
    """Draw noise with columns of this length."""
    V = rng.standard_normal(shape)
    return V * delta / np.linalg.norm(V, axis=0)


def stepped(C, picks, going, t):
    """Return C after a step of Frank-Wolfe in the columns that still go on."""
    C = C * np.where(going, t / (t + 2), 1)
    C[picks[going], np.flatnonzero(going)] += 2 / (t + 2)
    return C


def two_least(q):
    """Return by how much the second smallest entry of each column exceeds the smallest."""
    return np.diff(np.sort(q, axis=0)[:2], axis=0)[0]


def noiseless(rng, steps=150):
    """Theorem 1: picks outside of the anchors by unfitted columns, and the gap after each step (Jaggi's bound)."""
    W, H = corners_and_weights(rng)
    X, K = W @ H, W.shape[1]
    if not full_rank(W):
        return None
    C, shares, curvature = (
        np.zeros((X.shape[1],) * 2),
        [],
        max(np.sum((X - x[:, None]) ** 2, axis=0).max() for x in X.T),
    )
    for t in range(steps):
        off = X @ C - X
        q = W.T @ off
        going = (np.linalg.norm(off, axis=0) > 1e-9) & (two_least(q) > 1e-9 * np.abs(q).max())  # (15)
        picks = (X.T @ off).argmin(axis=0)
        shares.append(OUTSIDE * (picks[going] >= K).any())
        if t:
            shares.append(0.5 * np.sum(off**2, axis=0).max() * (t + 2) / (2 * curvature))
        C = stepped(C, picks, going, t)
    return max(shares)


def with_noise(rng):
    """Theorem 2: picks and error with its own stop, noise at nine tenths of what (17) allows after the run."""
    W, H = corners_and_weights(rng, 3)
    gamma, sizes, K = np.linalg.norm(W, axis=0).max(), np.linalg.svd(W, compute_uv=False), W.shape[1]
    eta, delta = gamma * rng.uniform(0.03, 0.3), 1e-3 * gamma
    V = noise(rng, (len(W), H.shape[1]), 1.0)
    for _ in range(8):
        C, outside, nu = until_fitted(W, H, W @ H + delta * V, eta + 2 * delta)
        if C is None or not nu > 0:
            return None
        allowed = np.sqrt(gamma**2 + nu * eta * (1 - H[:, K:].max()) / (4 * sizes[0])) - gamma
        if delta <= allowed:
            error = np.linalg.norm(H @ C - H, axis=0).max()
            return max(OUTSIDE * outside, error * sizes[-1] / (eta + 4 * delta))
        delta = 0.9 * allowed
    return None


def until_fitted(W, H, X, near, steps=400):
    """Return C, whether a pick was outside of the anchors, and the gap nu of (16); None for C where steps run out."""
    C, going, nu, outside = np.zeros((X.shape[1],) * 2), np.ones(X.shape[1], dtype=bool), np.inf, False
    for t in range(steps):
        off = X @ C - X
        going &= np.linalg.norm(off, axis=0) > near
        if not going.any():
            return C, outside, nu
        gap = (H @ C - H)[:, going]
        nu = min(nu, two_least(W.T @ W @ gap / np.linalg.norm(gap, axis=0)).min())
        picks = (X.T @ off).argmin(axis=0)
        outside |= bool((picks[going] >= W.shape[1]).any())
        C = stepped(C, picks, going, t)
    return None, outside, nu


def smooth_part(C, mu):
    """Return the gradient of Phi_mu, with the maximum of a row taken off first."""
    P = np.exp((C - C.max(axis=1, keepdims=True)) / mu)
    return P / P.sum(axis=1, keepdims=True)


def on_simplex(V):
    """Return the nearest matrix with columns on the simplex."""
    down = -np.sort(-V, axis=0)
    level = (np.cumsum(down, axis=0) - 1) / np.arange(1, len(V) + 1)[:, None]
    last = (down > level).sum(axis=0) - 1
    return np.maximum(V - level[last, np.arange(V.shape[1])], 0)


def minimiser(X, lam, mu, steps=4000):
    """Return the C of (18), by an accelerated descent that ends where at most lam / 10^7 is left to gain; or None."""
    curvature = np.linalg.norm(X, 2) ** 2 + lam / mu
    C = Y = np.full((X.shape[1],) * 2, 1 / X.shape[1])
    speed = 1.0
    for t in range(steps):
        new = on_simplex(Y - (X.T @ (X @ Y - X) + lam * smooth_part(Y, mu)) / curvature)
        speed = 1.0 if np.sum((Y - new) * (new - C)) > 0 else speed
        before, speed = speed, (1 + np.sqrt(1 + 4 * speed**2)) / 2
        Y, C = new + (before - 1) / speed * (new - C), new
        if t % 100 == 99:
            G = X.T @ (X @ C - X) + lam * smooth_part(C, mu)
            if np.sum(G * C) - G.min(axis=0).sum() < 1e-7 * lam:
                return C
    return None


def from_the_others(W, k):
    """Return the distance of an anchor from the hull of the others."""
    others = np.delete(W, k, axis=1)
    return float(np.linalg.norm(W[:, [k]] - others @ mixtures(others, W[:, [k]])))


def penalised(rng):
    """Theorem 3: scores of minimisers of (18), with weights for which its bounds lie between 0 and 1."""
    W, H = corners_and_weights(rng, 3)
    K, N = H.shape
    kappa, d = min(from_the_others(W, k) for k in range(K)), H[:, K:].max()
    V = rng.standard_normal((len(W), N)) * 10 ** rng.uniform(-5, -2) * kappa * (1 - d)
    total, delta = np.sum(V**2), np.linalg.norm(V, axis=0).max()
    rho, beta, mu = N * delta**2 / total, rng.uniform(0.1, 1), 10 ** rng.uniform(-4, -2)
    lam = (max(beta * kappa * (1 - d) - 2 * delta, 0) ** 2 - 4 * rho * (1 - K / N) * total) / (2 * K)
    C = minimiser(W @ H + V, lam, mu) if lam > 0 else None
    if C is None:
        return None
    others = 2 * rho * (N - K) / (lam * N) * total + mu * N * np.log(N) + beta * K
    return max(((1 - C.max(axis=1)[:K]) / beta).max(), C.max(axis=1)[K:].max() / others)


def penalised_step(rng, of_lambda=1.000001):
    """Theorem 4: one step from weights on anchors, with many ties or none, the weight at the edge of (22)."""
    W, H = corners_and_weights(rng, 4)
    (K, N), gamma = H.shape, np.linalg.norm(W, axis=0).max()
    C = np.zeros((N, N))
    C[:K] = (rng.multinomial(rng.choice([1, 2, 5]), np.full(K, 1 / K), N) if rng.random() < 0.5 else H.T).T
    C /= C.sum(axis=0)
    steps = [np.diff(np.unique(row)).min() for row in C[:K] if len(np.unique(row)) > 1]
    if not steps or not full_rank(W):
        return None
    delta, mu = gamma * 10 ** rng.uniform(-3, 0.5), min(steps) / (np.log(N) + rng.choice([0.01, 1, 20]))
    squared = max(2 * (H[:, K:].max() - 0.5) ** 2, 2 * (0.5 - 1 / K) ** 2) + 0.5
    needed = (squared + 2 * np.sqrt(squared) + 5) * np.linalg.norm(W, 2) ** 2 / 2 + 4 * (delta**2 + 2 * gamma * delta)
    lam = of_lambda * needed / (1 / N - np.exp(-min(steps) / mu))
    X = W @ H + noise(rng, (len(W), N), delta)
    return OUTSIDE * ((X.T @ (X @ C - X) + lam * smooth_part(C, mu)).argmin(axis=0) >= K).any()


def warm_start(rng, counted_from_the_start=False):
    """Proposition 1, T the number of the last step: differences in rational numbers, picks random or against them."""
    first, steps, parts = int(rng.integers(1, 5)), int(rng.integers(1, 9)), int(rng.integers(2, 30))
    row = [Fraction(int(part), parts) for part in rng.integers(0, parts + 1, 3)]
    C, times = [row, [1 - c for c in row]], Fraction(first * (first + 1), 2)  # two anchors, three columns
    D = [times * abs(a - b) for a, b in combinations(row, 2)]
    if all(d.denominator == 1 for d in D):  # (23)
        return None
    xi, shares = min(abs(d - z) for d in D if d.denominator > 1 for z in (int(d), int(d) + 1)), []
    for t in range(first, first + steps):
        picks = rng.integers(0, 3, 3) if rng.random() < 0.5 else [int(a > b) for a, b in zip(*C, strict=True)]
        C = [[Fraction(t, t + 2) * c + Fraction(2 * int(p == n), t + 2) for c, p in zip(C[n], picks, strict=True)]
             for n in (0, 1)]  # fmt: skip
        if len(set(C[0])) == 1:
            return np.inf
        last = steps if counted_from_the_start else t + 1
        least = min(abs(a - b) for row in C for a, b in combinations(row, 2) if a != b)
        shares.append(Fraction(2, last * (last + 1)) * xi / least)
    return float(max(shares))

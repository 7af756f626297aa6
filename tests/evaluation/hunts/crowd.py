"""Hunts for counterexamples to the theorems of the crowd paper."""

import numpy as np

from cofactor.core.scattering import scattering_certificate
from cofactor.plain.imputation import robust_imputation
from cofactor.plain.symnmf import symnmf
from tests.evaluation.hunts import conditionals, counted, distance, full_rank, orthogonal

DELTA = 0.01  # the chance of failure that the theorems allow


def barely_scattered(rng, K, least=1e-3):
    """Draw four factors; of those that the certificate proves to be scattered, return the one nearest to the edge."""
    drawn = [rng.random((5 * K, K)) * (rng.random((5 * K, K)) < rng.uniform(0.3, 0.9)) for _ in range(4)]
    margins = [(scattering_certificate(H).margin, number) for number, H in enumerate(drawn) if full_rank(H)]
    margins = [each for each in margins if each[0] >= least]
    return drawn[min(margins)[1]] if margins else None


def other_factors(rng):
    """Proposition 1: square roots of H H' that are not negative, from random rotations of barely scattered H."""
    K = int(rng.integers(2, 5))
    H = barely_scattered(rng, K)
    if H is None:
        return None
    U = H @ orthogonal(rng, K)
    found, Q = symnmf(U, n_iter=1500, tol=1e-9)
    if np.linalg.norm(np.minimum(U @ Q, 0)) > 1e-6 * np.linalg.norm(U):
        return None  # a local minimum, no factor
    return distance(found, H) / (1e-3 * np.linalg.norm(H))


def imputed_block(rng, constant=0.01):
    """Theorem 1: blocks by (7)-(8) from counts, annotators nearly alike or nearly of lower rank, S at its bound."""
    K = int(rng.integers(2, 5))
    A_m, A_n, A_l, A_r = crowd = [conditionals(rng, K, K) for _ in range(4)]
    D = np.diag(rng.dirichlet(np.full(K, rng.choice([0.5, 5]))))
    blocks = [A_m @ D @ A_r.T, A_l @ D @ A_r.T, A_n @ D @ A_l.T]
    gamma, rho = max(map(np.linalg.cond, crowd)), min(np.linalg.svd(R, compute_uv=False)[-1] for R in blocks)
    S = K**2 * gamma**2 * np.log(1 / DELTA) / rho**4
    if not S < 1e17:  # such counts do not fit into integers
        return None
    R_mr, R_lr, R_nl = (counted(rng, R, int(S) + 1) for R in blocks)
    U = np.linalg.svd(np.vstack([R_mr, R_lr]), full_matrices=False)[0]
    error = np.linalg.norm(U[:K] @ np.linalg.solve(U[K:], R_nl.T) - A_m @ D @ A_n.T)
    return error / (constant * K**2 * gamma**3 * np.sqrt(np.log(1 / DELTA)) / (rho**2 * np.sqrt(S)))


def robust_fit(rng, constant=0.1):
    """Theorem 2: robust fits that cost no more than the truth, from it or from random starts, uneven counts."""
    M, K = int(rng.integers(6, 13)), int(rng.integers(2, 4))
    true = np.array([conditionals(rng, K, K) for _ in range(M)]) * np.sqrt(rng.dirichlet(np.ones(K)))
    S = (10 ** (rng.uniform(0.5, 6) * rng.choice([0.3, 1], (M, M)))).astype(int) + 1
    seen = np.argwhere(np.triu(rng.random((M, M)) < rng.uniform(0.3, 1), 1))
    R = {(m, j): (counted(rng, true[m] @ true[j].T, S[m, j]), 1.0) for m, j in seen}
    start = true if rng.random() < 0.5 else np.abs(rng.standard_normal(true.shape)) / K
    found = robust_imputation(R | {(j, m): (block.T, n) for (m, j), (block, n) in R.items()}, start, n_iter=15)
    cost, of_truth = (sum(np.linalg.norm(B - U[m] @ U[j].T) for (m, j), (B, _) in R.items()) for U in (found, true))
    if not R or cost > of_truth:
        return None
    L = M * (M - 1) / 2
    left = sum(np.linalg.norm(found[m] @ found[j].T - true[m] @ true[j].T) for j in range(M) for m in range(j)) / L
    noise = (1 / len(R) + 1 / L) * sum((1 + np.sqrt(M)) / np.sqrt(S[m, j]) for m, j in R)
    return left / (constant * np.sqrt(M * K**2 * np.log(M) / len(R)) + noise)


def near_start(rng):
    """Draw H, its nonzeros' least, noise N, and a start that meets (15) with the root, at its edge or near it."""
    K, J = int(rng.integers(2, 5)), int(rng.integers(8, 80))
    H = rng.uniform(rng.uniform(0.05, 0.9), 1, (J, K)) * (rng.random((J, K)) < rng.uniform(0.2, 1))
    Q, N, low = orthogonal(rng, K), rng.standard_normal((J, K)), H[H > 0].min()
    N *= rng.choice([0, 0.2, 0.8]) * low / 2 / np.linalg.norm(N)
    room = (low - 2 * np.linalg.norm(N)) / (2 * np.linalg.norm(H))
    return H, Q, N, low, Q @ turned(rng, K, room * rng.uniform(0.5, 0.999))


def turned(rng, K, most):
    """Draw an orthogonal matrix that is off the identity by at most so much, and nearly that (Cayley's map)."""
    skew = np.triu(rng.standard_normal((K, K)), 1)
    skew = (skew - skew.T) * most / (2 * np.linalg.norm(np.triu(skew, 1)) * np.sqrt(2))
    return np.linalg.solve(np.eye(K) + skew, np.eye(K) - skew)


def shifted_steps(rng):
    """Theorem 3: (16b), and (16a) with constants of one, over ten steps; all conditions but that rho is below one."""
    H, Q, N, low, Q_t = near_start(rng)
    if not full_rank(H):
        return None
    left, beta, _ = np.linalg.svd(H, full_matrices=False)
    sigma, gamma, nu = np.linalg.norm(H), -np.diff(np.append(beta**2, 0)).max(), np.linalg.norm(N)
    eta = (H > 0).mean() * (1 + len(H) * (left**2).sum(axis=1).max())
    q = [np.sum((Q_t - Q) ** 2)]
    alpha, shares = rng.uniform(sigma * np.sqrt(q[0]) + nu, low - sigma * np.sqrt(q[0]) - nu), []
    while len(shares) < 10 and 1e-24 < q[-1] <= q[0]:
        H_t = (H @ Q.T + N) @ Q_t
        H_t = np.where(H_t >= alpha, H_t, 0)
        W, _, Vt = np.linalg.svd(H_t.T @ (H @ Q.T + N))
        Q_t = (W @ Vt).T
        q.append(np.sum((Q_t - Q) ** 2))
        of_q = len(beta) * eta * sigma**4 / gamma**2 * q[-2] + len(beta) * sigma**2 * nu**2 / gamma**2
        shares.append(max(np.sum((H_t - H) ** 2) / (2 * eta * sigma**2 * q[-2] + 2 * nu**2), q[-1] / of_q))
    return max(shares)

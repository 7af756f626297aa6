"""The released code's steps by plain loops, one annotator, block or row at a time."""

from itertools import product

import numpy as np
from scipy.linalg import polar

from cofactor import plain
from tests.oracles.coupled import lifted, mirror_pass
from tests.oracles.coupled import pair_blocks as pairs_of
from tests.oracles.crowd import XI, blocks_of


def pair_blocks(cooc, m, n):
    """Every block that one linking pair (l, r) can give for (m, n), scaled, zero where a gate is shut."""
    R, found = blocks_of(cooc), {}
    for l, r in product(range(cooc.n_workers), repeat=2):
        if (m, r) in R and (l, r) in R and (l, n) in R:
            found[l, r] = pair_block(R[m, r][0], R[l, r][0], R[n, l][0])
    return found


def pair_block(R_mr, R_lr, R_nl):
    K = len(R_mr)
    C = np.vstack([R_mr, R_lr])
    if (C.sum(axis=1) == 0).any() or (R_nl.sum(axis=0) == 0).any():
        return np.zeros((K, K))
    U = np.linalg.svd(C)[0][:, :K]
    X = np.abs(U[:K] @ np.linalg.pinv(U[K:]) @ R_nl.T)
    X = X / X.sum()
    return X if np.linalg.matrix_rank(X) == K else np.zeros((K, K))


def gradient_sweep(cooc, U, p, steps, restart, fill, spectral):
    """One pass over the annotators: stack the weighted blocks beside one another and descend."""
    U, R = U.copy(), blocks_of(cooc)
    for m in range(cooc.n_workers):
        X, H = [], []
        for j in range(cooc.n_workers):
            if (m, j) in R:
                block = np.where(R[m, j][0] == 0, fill, R[m, j][0])
                block = block / block.sum()
                norm = np.linalg.norm(block - U[m] @ U[j].T, 2 if spectral else "fro")
                w = p / 2 * (norm**2 + XI) ** ((p - 2) / 2)
                X.append(np.sqrt(w) * block)
                H.append(np.sqrt(w) * U[j].T)
        if X:
            U[m] = descend(U[m], np.hstack(X), np.hstack(H), steps, restart)
    return U


def descend(U, X, H, steps, restart):
    """Projected gradient on ||X - U H||^2 / 2 in the unit ball."""
    if restart:
        U = X @ H.T @ np.linalg.inv(H @ H.T + 1e-6 * np.eye(len(U)))
    for _ in range(steps):
        before = U
        U = U - (U @ H - X) @ H.T / np.linalg.eigvalsh(H @ H.T)[-1]
        U = U / max(np.linalg.norm(U), 1)
        if np.linalg.norm(U - before, 2) < 1e-6 * np.linalg.norm(U, 2):
            break
    return U


def columns_by_row(A):
    """Column i of the result is the column of A that is largest in row i."""
    return np.stack([A[:, max(range(len(A)), key=lambda c, i=i: A[i, c])] for i in range(len(A))], axis=1)


def rotated(U, shift, iterations):
    """H after so many rounds from Q = I: H = max(U Q, shift), then the rotation nearest to it."""
    Q = np.eye(U.shape[1])
    for _ in range(iterations):
        H = np.maximum(U @ Q, shift)
        Q = polar(U.T @ H)[0]
    return H


def read_off(H, floor, align):
    """lambda, scaled to sum to one, and all A_m of a factor: columns scaled, floored and ordered; flat without rank."""
    K = H.shape[1]
    A = [np.maximum(H[i : i + K], 2.0**-52) for i in range(0, len(H), K)]
    A = [block / block.sum(axis=0) for block in A]
    root = np.linalg.lstsq(np.vstack(A), H, rcond=None)[0].T  # of H = A D^(1/2)
    if align:
        A = [np.maximum(block, floor) / np.maximum(block, floor).sum(axis=0) for block in A]
        A = [columns_by_row(B) if np.linalg.matrix_rank(B) == K else np.full((K, K), 1 / K) for B in A]
    return np.diag(root) ** 2 / np.sum(np.diag(root) ** 2), A


def cnmf_passes(codes, K, prior, A, settings, passes):
    """CNMF: passes of mirror descent over the pairs with more than rank one once zeros are lifted."""
    pairs = pairs_of(codes, [K] * codes.shape[1])
    pairs = {pair: R for pair, R in pairs.items() if np.linalg.matrix_rank(lifted(R[0], settings.lift)) > 1}
    for _ in range(passes):
        prior, A = mirror_pass(pairs, prior, A, dict.fromkeys(pairs, 1.0), settings)
    return pairs, prior, A


def em_rounds(codes, prior, A, rounds):
    """Rounds of EM: a zero counts as 2e-16, a row without entries has the prior as posterior."""
    for _ in range(rounds):
        Q = []
        for row in codes:
            q = np.where(prior == 0, 2.0**-52, prior)
            for n, value in enumerate(row):
                if value >= 0:
                    q = q * np.where(A[n][value] == 0, 2.0**-52, A[n][value])
            Q.append(q / q.sum())
        Q = np.array(Q)
        A = [np.array([Q[codes[:, n] == i].sum(axis=0) for i in range(len(A[n]))]) for n in range(len(A))]
        A = [T / T.sum(axis=0) for T in A]
        prior = Q.sum(axis=0) / Q.sum()
    return prior, A


def single_spa(codes, sizes, rank, H, split, steps):
    """CNMF-SPA from a start of H: anchors among the scaled columns of X, gradient steps on H, products of maxima."""
    N, pairs = len(sizes), pairs_of(codes, sizes)
    X = np.block(
        [
            [pairs[m, j][0] if (m, j) in pairs else np.zeros((sizes[m], sizes[j])) for j in range(split, N)]
            for m in range(split)
        ]
    )
    columns = np.flatnonzero(X.sum(axis=0))
    W = X[:, columns[plain.spa(X[:, columns] / X[:, columns].sum(axis=0), rank)]]
    H = H / H.sum(axis=1, keepdims=True)
    for _ in range(steps):
        H = np.maximum(H - (H @ W.T @ W - X.T @ W) / np.linalg.norm(W, 2) ** 2, 0)
    cut = np.cumsum(sizes[:split])[:-1], np.cumsum(sizes[split:])[:-1]
    blocks = [*np.split(W, cut[0]), *np.split(H, cut[1])]
    sums = np.array([block.sum(axis=0) for block in blocks])
    prior = sums[:split].max(axis=0) * sums[split:].max(axis=0)
    return prior / prior.sum(), [block / np.where(s > 0, s, 1) for block, s in zip(blocks, sums, strict=True)]


def biased_sweeps(R, B, rank, lbd, sweeps):
    """BMF: least squares in turn, `lbd` as further rows of zeros; R has nan where nothing is known."""
    seen = ~np.isnan(R)
    A, a, b, mu = np.zeros((len(R), rank)), np.zeros(len(R)), np.zeros(R.shape[1]), 0.0

    def ridge(X, y):
        return np.linalg.lstsq(np.vstack([X, lbd * np.eye(rank)]), np.append(y, np.zeros(rank)), rcond=None)[0]

    for _ in range(sweeps):
        A = np.array([ridge(B[s], R[i, s] - mu - a[i] - b[s]) for i, s in enumerate(seen)])
        B = np.array([ridge(A[s], R[s, j] - mu - a[s] - b[j]) for j, s in enumerate(seen.T)])
        mu = (R - A @ B.T - a[:, None] - b)[seen].mean()
        a = np.array([(R[i] - mu - b - B @ A[i])[s].mean() / (1 + lbd**2) for i, s in enumerate(seen)])
        b = np.array([(R[:, j] - mu - a - A @ B[j])[s].mean() / (1 + lbd**2) for j, s in enumerate(seen.T)])
    return mu, a, b, A, B

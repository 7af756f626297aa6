"""The released code's steps by plain loops, one annotator and one block at a time."""

from itertools import product

import numpy as np

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
        if np.linalg.norm(U - before) < 1e-6 * np.linalg.norm(U):
            break
    return U


def columns_by_row(A):
    """Column i of the result is the column of A that is largest in row i."""
    return np.stack([A[:, max(range(len(A)), key=lambda c, i=i: A[i, c])] for i in range(len(A))], axis=1)

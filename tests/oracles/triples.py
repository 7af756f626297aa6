"""CTD as released, and MLE-AD, by plain loops over dense blocks, in the notation of the papers."""

from itertools import combinations

import numpy as np

from cofactor.core.simplex import project_to_simplex


def descend(x, H, inner, step=0.01, least=1e-7):
    """Minimise -x' log(sum_f H[:, :, f] A[:, f]) as released; H is (cells, I, F)."""
    _, I, F = H.shape
    B = np.repeat(np.arange(I, -1, -1)[:, None] / I, F, axis=1)
    for _ in range(inner):
        A = B[:-1] - B[1:]
        ratio = x / np.einsum("zif,if->z", H, A)
        Q = np.einsum("z,zif->if", ratio, H)
        old = B.copy()
        for f in range(F):
            G = step * (Q[:-1, f] - Q[1:, f])
            for i in sorted(range(I - 1), key=lambda i, G=G: -G[i]):
                B[i + 1, f] = max(min(B[i + 1, f] - G[i], B[i, f] - least), B[i + 2, f] + least)
        if np.all(np.abs(B - old) < least):
            break
    return B[:-1] - B[1:]


def alternating_directions(data, order, model, n_sweeps, inner):
    """MLE-AD: `data` holds the (I_j, I_k, I_l) frequencies of the triples listed in `order`; zeros where unobserved.

    They are strung together in that order, as released, and cut anew for the triples in lexicographic order.
    """
    A, prior = [A_n.copy() for A_n in model.conditionals], model.prior.copy()
    N, x = len(A), np.concatenate([data[triple].ravel(order="F") for triple in order])
    for _ in range(n_sweeps):
        for n in range(N):
            H, picked, base = [], [], 0
            for triple in combinations(range(N), 3):
                sizes = [len(A[m]) for m in triple]
                if n in triple:
                    shape = (len(A[n]), len(prior))
                    unit = np.repeat(np.eye(len(A[n]))[:, :, None], len(prior), axis=2)
                    factors = [
                        unit if m == n else np.broadcast_to(A[m][:, None, :], (len(A[m]), *shape)) for m in triple
                    ]
                    block = prior * np.einsum("aif,bif,cif->cbaif", *factors)
                    H.append(block.reshape(-1, len(A[n]), len(prior)))
                    picked.append(x[base : base + np.prod(sizes)])
                base += np.prod(sizes)
            A[n] = descend(np.concatenate(picked), np.concatenate(H), inner)
        H = [np.einsum("af,bf,cf->cbaf", *(A[m] for m in t)).reshape(-1, len(prior)) for t in combinations(range(N), 3)]
        prior = descend(x, np.concatenate(H)[:, :, None], inner)[:, 0]
    return prior, A


def at_most_one(A):
    """Project columns onto {x >= 0, sum x <= 1}."""
    cut = np.maximum(A, 0)
    return np.where(cut.sum(axis=0) > 1, project_to_simplex(A), cut)


def clipped(A):
    return project_to_simplex(np.maximum(A, 0))


def admm(G, V, A, U, rho, inner, tol, project):
    """One block as released; V is (F, I), A and U are (I, F)."""
    for _ in range(inner):
        before = A
        T = np.linalg.solve(G + rho * np.eye(len(G)), V + rho * (A + U).T)
        A = project(T.T - U)
        U = U + A - T.T
        if np.linalg.norm(A - T.T) < tol and np.linalg.norm(A - before) < tol:
            break
    return A, U


def released_ctd(data, model, penalty, inner, tol, project, n_sweeps):
    """CTD as released, on the (I_j, I_k, I_l) frequencies of all triples."""
    A, prior, N = [A_n.copy() for A_n in model.conditionals], model.prior.copy(), model.n_variables
    U, u = [np.zeros_like(A_n) for A_n in A], np.zeros((1, len(prior)))
    for _ in range(n_sweeps):
        for n in range(N):
            G, V = np.zeros((len(prior),) * 2), np.zeros((len(prior), len(A[n])))
            for triple in (t for t in combinations(range(N), 3) if n in t):
                k, l = (m for m in triple if m != n)
                G += np.outer(prior, prior) * (A[k].T @ A[k]) * (A[l].T @ A[l])
                X = np.moveaxis(data[triple], triple.index(n), 0)
                V += prior[:, None] * np.einsum("akl,kf,lf->fa", X, A[k], A[l])
            A[n], U[n] = admm(G, V, A[n], U[n], penalty[0], inner[0], tol, project)
        G = sum(np.prod([A[m].T @ A[m] for m in t], axis=0) for t in combinations(range(N), 3))
        V = sum(np.einsum("jkl,jf,kf,lf->f", X, *(A[m] for m in t)) for t, X in data.items())
        row, u = admm(G, V[:, None], prior[None], u, penalty[1], inner[1], tol, lambda B: clipped(B.T).T)
        prior = row[0]
    return prior / prior.sum(), A

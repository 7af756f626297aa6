"""Coupled factorisations by plain loops: every pair and triple as a dense block, in the notation of the papers."""

from itertools import combinations

import numpy as np
from scipy import sparse

from cofactor.core.moments import PairwiseMoments
from cofactor.rivals.triple_moments import TripleMoments


def pair_blocks(codes, sizes):
    """Return {(m, j): (R_mj, n_mj)} of the pairs m < j that some row shows together."""
    found = {}
    for m, j in combinations(range(len(sizes)), 2):
        C = np.zeros((sizes[m], sizes[j]))
        for row in codes:
            if row[m] >= 0 and row[j] >= 0:
                C[row[m], row[j]] += 1
        if C.sum():
            found[m, j] = C / C.sum(), C.sum()
    return found


def triple_blocks(codes, sizes):
    """Return {(j, k, l): (X_jkl, n_jkl)} of the triples that some row shows together."""
    found = {}
    for triple in combinations(range(len(sizes)), 3):
        C = np.zeros([sizes[n] for n in triple])
        for row in codes:
            if min(row[list(triple)]) >= 0:
                C[tuple(row[list(triple)])] += 1
        if C.sum():
            found[triple] = C / C.sum(), C.sum()
    return found


def divergence(R, M):
    """KL(R || M) with 0 log 0 = 0."""
    seen = R > 0
    return np.sum(R[seen] * np.log(R[seen] / M[seen]))


def coupled_objective(pairs, model, w):
    return sum(w[m, j] * divergence(R, model.pairwise(m, j)) for (m, j), (R, _) in pairs.items())


def mm_step(pairs, prior, A, w):
    """One step of EM on every pair as if its two variables were all there is, added up."""
    T, total = [np.zeros_like(A_n) for A_n in A], np.zeros_like(prior)
    for (m, j), (R, _) in pairs.items():
        for i, k in np.argwhere(R > 0):
            joint = prior * A[m][i] * A[j][k]
            q = w[m, j] * R[i, k] * joint / joint.sum()
            T[m][i] += q
            T[j][k] += q
            total += q
    return total / total.sum(), [T_n / T_n.sum(axis=0) for T_n in T]


def block_pass(pairs, prior, A, w, inner):
    """`inner` steps on each A_m in turn with all else fixed, each from where the last one led, then on lambda."""
    A = [A_n.copy() for A_n in A]
    for m in range(len(A)):
        for _ in range(inner):
            A[m] = mm_step(pairs, prior, A, w)[1][m]
    for _ in range(inner):
        prior = mm_step(pairs, prior, A, w)[0]
    return prior, A


def lifted(R, lift):
    R = np.where(R == 0, lift, R)
    return R / R.sum()


def clipped(M, clip):
    M = np.maximum(M, clip)
    return M / M.sum()


def mirror_cost(pairs, prior, A, w, clip, lift):
    blocks = {(m, j): clipped(A[m] * prior @ A[j].T, clip) for m, j in pairs}
    return sum(w[pair] * divergence(lifted(R, lift), blocks[pair]) for pair, (R, _) in pairs.items())


def mirror_pass(pairs, prior, A, w, settings):
    """One outer iteration: most `inner` steps on each A_m in turn, each from where the last one led, then on lambda."""
    A, weight = [A_n.copy() for A_n in A], sum(w[pair] for pair in pairs)

    def cost(prior, A, clip=settings.clip):
        return mirror_cost(pairs, prior, A, w, clip, settings.lift)

    def ratio(m, j, clip=settings.clip):
        R = lifted(pairs[m, j][0], settings.lift)
        return w[m, j] * R / clipped(A[m] * prior @ A[j].T, clip)

    for n in range(len(A)):
        for _ in range(settings.inner):
            G = np.zeros_like(A[n])
            for m, j in pairs:
                if n == m:
                    G -= ratio(m, j) @ A[j] * prior
                if n == j:
                    G -= ratio(m, j).T @ A[m] * prior
            before = A[n]
            A[n] = backtrack(A[n], G, lambda B, n=n: cost(prior, [*A[:n], B, *A[n + 1 :]]), settings)
            if np.linalg.norm(A[n] - before) < settings.still * np.linalg.norm(before):
                break
    for _ in range(settings.inner_prior):
        ratios = {(m, j): ratio(m, j, settings.clip_prior) for m, j in pairs}
        g = -sum(np.einsum("ik,if,kf->f", ratios[m, j], A[m], A[j]) for m, j in pairs) * len(pairs) / weight

        def mean(B):
            return cost(B[:, 0], A, settings.clip_prior) / weight

        before = prior
        prior = backtrack(prior[:, None], g[:, None], mean, settings)[:, 0]
        if np.linalg.norm(prior - before) < settings.still * np.linalg.norm(before):
            break
    return prior, A


def backtrack(X, G, cost, settings):
    s = settings.step
    while s >= settings.smallest:
        with np.errstate(over="ignore", invalid="ignore"):
            Y = X * np.exp(-s * G)
            Y = Y / Y.sum(axis=0)
        if not np.isnan(Y).any() and cost(Y) <= cost(X) + settings.sufficient * np.sum(G * (Y - X)):
            return Y
        s *= settings.shrink
    return X


def least_squares(model, triples, pairs=None, frequencies=()):
    """The objective of the coupled tensor fit, term by term."""
    A, prior, total = model.conditionals, model.prior, 0.0
    for n, p in frequencies:
        total += np.sum((p - A[n] @ prior) ** 2) / 2
    for (m, j), (R, _) in (pairs or {}).items():
        total += np.sum((R - model.pairwise(m, j)) ** 2) / 2
    for (j, k, l), (X, _) in triples.items():
        total += np.sum((X - np.einsum("f,if,jf,kf->ijk", prior, A[j], A[k], A[l])) ** 2) / 2
    return total


def exact_pairs(model, observed=None):
    """The moments of infinitely many rows, for the pairs m < j in `observed` (default: all)."""
    first = np.concatenate([[0], np.cumsum(model.sizes)])
    C = np.zeros((first[-1], first[-1]))
    for m, j in combinations(range(model.n_variables), 2) if observed is None else observed:
        C[first[m] : first[m + 1], first[j] : first[j + 1]] = model.pairwise(m, j)
    return PairwiseMoments(sparse.csr_array(C + C.T), model.stacked @ model.prior, model.sizes, 1)


def exact_triples(model, observed=None):
    """The third moments of infinitely many rows, for the triples j < k < l in `observed` (default: all)."""
    first, V, A = np.cumsum(model.sizes) - model.sizes, int(model.sizes.sum()), model.conditionals
    cells = []
    for j, k, l in combinations(range(model.n_variables), 3) if observed is None else observed:
        X = np.einsum("f,if,jf,kf->ijk", model.prior, A[j], A[k], A[l])
        a, b, c = np.indices(X.shape) + np.reshape([first[j], first[k], first[l]], (3, 1, 1, 1))
        cells += zip(((a * V + b) * V + c).ravel(), X.ravel(), strict=True)
    keys, values = zip(*sorted(cells), strict=True)
    return TripleMoments(np.array(keys), np.array(values), model.sizes)

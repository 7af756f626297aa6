"""Worker types with graders among them in loops, in the symbols of `cofactor.crowd.model`, and crowds of graders."""

import numpy as np
from scipy.special import digamma, logsumexp, softmax
from scipy.stats import norm

from cofactor import CrowdLabels
from cofactor.plain.worker_types import of_type


def tables(K):
    """Return [(log weight, table (label, state))], one grader after the other."""
    h = (K - 1) / 4
    scores = [k + step / 3 for k in range(K) for step in (-1, 0, 1)]
    spreads = [s * h for s in (0.25, 0.4, 0.6, 0.9, 1.3, 2.0)]
    offsets = [-1.5, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 1.5]
    total = sum(np.exp(-(b**2) / (2 * 0.25**2)) for b in offsets) * len(spreads)
    found = [
        (0.9 * np.exp(-(b**2) / (2 * 0.25**2)) / total, [x + b * h for x in scores], s)
        for b in offsets
        for s in spreads
    ]
    found += [(0.1 / len(spreads), [K - 1 - x for x in scores], s) for s in spreads]
    return [(np.log(weight), np.array([grades(c, s, K) for c in centres]).T) for weight, centres, s in found]


def grades(centre, spread, K):
    """Probabilities of the grades of one grader for one score."""
    edges = [-np.inf, *(k + 0.5 for k in range(K - 1)), np.inf]
    return [
        0.98 * (norm.cdf(edges[k + 1], centre, spread) - norm.cdf(edges[k], centre, spread)) + 0.02 / K
        for k in range(K)
    ]


def rounds_of_graders(task, worker, label, K, names, n_rounds):
    """Return r (N, 3 K), q (M, T) with graders last, and rho (T,), after so many rounds."""
    N, M, G, T = max(task) + 1, max(worker) + 1, 3 * K, len(names) + 1
    triples = list(zip(task, worker, label, strict=True))
    r = np.zeros((N, G))
    for i, _, y in triples:
        r[i, 3 * y : 3 * y + 3] += 1
    r /= r.sum(axis=1, keepdims=True)
    votes = r.reshape(N, K, 3).sum(axis=2)
    most = votes == votes.max(axis=1, keepdims=True)
    alpha = np.maximum((most / most.sum(axis=1, keepdims=True)).sum(axis=0), 1e-3)
    rho, graders = np.full(T, 1 / T), tables(K)
    for _ in range(n_rounds):
        C = np.zeros((M, K, G))
        for i, w, y in triples:
            C[w, y] += r[i]
        by_grade = C.reshape(M, K, K, 3).sum(axis=3)
        e = np.where(np.eye(K, dtype=bool), 0.0, 1 + by_grade.sum(axis=0))
        e /= e.sum(axis=0)
        E, L = np.zeros((T - 1, M, K, K)), np.zeros((M, T))
        for t, name in enumerate(names):
            E[t], L[:, t] = of_type(name, by_grade, np.log(np.where(e > 0, e, 1.0)))
        each = np.array([[weight + np.sum(C[w] * np.log(P)) for weight, P in graders] for w in range(M)])
        L[:, -1] = logsumexp(each, axis=1)
        rho = (1 + softmax(np.log(rho) + L, axis=1).sum(axis=0)) / (M + T)
        q = softmax(np.log(rho) + L, axis=1)
        nu = alpha + r.reshape(N, K, 3).sum(axis=(0, 2))
        log_r = np.tile(np.repeat(digamma(nu) - digamma(nu.sum()), 3), (N, 1))
        for i, w, y in triples:
            log_r[i] += sum(q[w, t] * np.repeat(E[t, w, y], 3) for t in range(T - 1))
            of_graders = q[w, -1] * softmax(each[w])
            log_r[i] += sum(of_graders[j] * np.log(P[y]) for j, (_, P) in enumerate(graders))
        r = softmax(log_r, axis=1)
    return r, q, rho


def grader_crowd(N=300, M=25, K=5, per=5, offset=0.0, spread=(0.6, 0.6), reversed_share=0.0, random_share=0.0, seed=0):
    """Return labels and truth: scores in the middle of the scale, rounded with each grader's offset and spread."""
    rng = np.random.default_rng(seed)
    centre, h = (K - 1) / 2, (K - 1) / 4
    x = rng.normal(centre, 1.3 * h, N)
    slope, b, s = np.ones(M), offset * rng.normal(size=M), rng.uniform(*spread, M)
    kinds = rng.permutation(M)
    slope[kinds[: round(reversed_share * M)]] = -1
    worker = np.argsort(rng.random((N, M)), axis=1)[:, :per].ravel()
    task = np.repeat(np.arange(N), per)
    y = centre + slope[worker] * (x[task] - centre) + b[worker] + s[worker] * rng.normal(size=len(task))
    label = np.clip(np.rint(y), 0, K - 1).astype(int)
    guess = np.isin(worker, kinds[M - round(random_share * M) :] if random_share else [])
    label = np.where(guess, rng.integers(K, size=len(label)), label)
    return CrowdLabels.from_arrays(task, worker, label, K, N, M), np.clip(np.rint(x), 0, K - 1).astype(int)

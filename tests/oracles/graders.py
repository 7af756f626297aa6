"""Both readings of grades in loops, in the symbols of `cofactor.crowd.graders` and `cofactor.crowd.additive`."""

import numpy as np
from scipy.special import digamma, logsumexp
from scipy.stats import norm

from cofactor.plain.types import normalised, of_type


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
    alpha = r.reshape(N, K, 3).sum(axis=(0, 2))
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
            for w in range(M):
                E[t, w], L[w, t] = of_type(name, by_grade[w], e)
        each = np.array([[weight + np.sum(C[w] * np.log(P)) for weight, P in graders] for w in range(M)])
        L[:, -1] = logsumexp(each, axis=1)
        rho = (1 + normalised(np.log(rho) + L).sum(axis=0)) / (M + T)
        q = normalised(np.log(rho) + L)
        nu = alpha + r.reshape(N, K, 3).sum(axis=(0, 2))
        log_r = np.tile(np.repeat(digamma(nu) - digamma(nu.sum()), 3), (N, 1))
        for i, w, y in triples:
            log_r[i] += sum(q[w, t] * np.repeat(E[t, w, y], 3) for t in range(T - 1))
            of_graders = q[w, -1] * normalised(each[w : w + 1])[0]
            log_r[i] += sum(of_graders[j] * np.log(P[y]) for j, (_, P) in enumerate(graders))
        r = normalised(log_r)
    return r, q, rho


def additive_rounds(task, worker, y, n_rounds):
    """Return mu, u (N,), b (M,) and the three variances after so many rounds."""
    N, M = max(task) + 1, max(worker) + 1
    triples = list(zip(task, worker, y, strict=True))
    of_task = [sum(t == i for t in task) for i in range(N)]
    of_worker = [sum(v == w for v in worker) for w in range(M)]
    mu, u, b, ve, vq, vb = np.mean(y), np.zeros(N), np.zeros(M), 1.0, 0.5, 0.1
    for _ in range(n_rounds):
        for i in range(N):
            u[i] = sum(x - mu - b[w] for t, w, x in triples if t == i) / (of_task[i] + ve / vq)
        for w in range(M):
            b[w] = sum(x - mu - u[t] for t, v, x in triples if v == w) / (of_worker[w] + ve / vb)
        var_u, var_b = [ve / (n + ve / vq) for n in of_task], [ve / (n + ve / vb) for n in of_worker]
        mu += np.mean([x - mu - u[t] - b[w] for t, w, x in triples])
        ve = np.mean([(x - mu - u[t] - b[w]) ** 2 + var_u[t] + var_b[w] for t, w, x in triples])
        vq, vb = np.mean(u**2 + var_u), np.mean(b**2 + var_b)
    return mu, u, b, ve, vq, vb

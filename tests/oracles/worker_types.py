"""Worker types in loops over tasks and workers, in the symbols of `cofactor.crowd.types`."""

import numpy as np
from scipy.special import betaln, digamma, gammaln, logsumexp


def rounds_of_types(task, worker, label, K, names, n_rounds, a=4.0, b=1.0, gamma=0.5):
    """Return r (N, K), q (M, T) and rho (T,) after so many rounds, and the lower bound after each of them."""
    N, M = max(task) + 1, max(worker) + 1
    triples = list(zip(task, worker, label, strict=True))
    r = np.zeros((N, K))
    for i, _, y in triples:
        r[i, y] += 1
    r /= r.sum(axis=1, keepdims=True)
    alpha = r.sum(axis=0)
    T = len(names)
    q, rho, bounds = np.full((M, T), 1 / T), np.full(T, 1 / T), []
    shared = [name in ("coin", "class") for name in names]
    for _ in range(n_rounds):
        C = np.zeros((M, K, K))  # worker, label, class
        for i, w, y in triples:
            C[w, y] += r[i]
        e = np.zeros((K, K))
        for k in range(K):
            for y in range(K):
                if y != k:
                    e[y, k] = 1 + sum(q[w, shared].sum() * C[w, y, k] for w in range(M))
        e /= e.sum(axis=0)
        E, L = np.zeros((T, M, K, K)), np.zeros((M, T))
        for t, name in enumerate(names):
            for w in range(M):
                E[t, w], L[w, t] = of_type(name, C[w], e, K, a, b, gamma)
        q = normalised(np.log(rho) + L)
        rho = (1 + q.sum(axis=0)) / (M + T)
        q = normalised(np.log(rho) + L)
        nu = alpha + r.sum(axis=0)
        log_prior = digamma(nu) - digamma(nu.sum())
        log_r = np.tile(log_prior, (N, 1))
        for i, w, y in triples:
            log_r[i] += sum(q[w, t] * E[t, w, y] for t in range(T))
        bound = logsumexp(log_r, axis=1).sum()
        bound += sum(logsumexp(np.log(rho) + L[w]) for w in range(M)) + np.log(rho).sum()
        bound -= sum(q[w, t] * (C[w] * E[t, w]).sum() for w in range(M) for t in range(T))
        bound += gammaln(nu).sum() - gammaln(nu.sum()) - gammaln(alpha).sum() + gammaln(alpha.sum())
        bound -= (nu - alpha) @ log_prior
        bound += np.log(e[e > 0]).sum()
        bounds.append(bound)
        r = normalised(log_r)
    return r, q, rho, bounds


def of_type(name, C, e, K, a, b, gamma):
    """Expected log-probabilities (label, class) and log evidence of one worker's counts (label, class)."""
    log_e = np.log(np.where(e > 0, e, 1))
    R, W = np.diag(C).copy(), C.sum(axis=0) - np.diag(C)
    if name == "coin":
        R, W = np.full(K, R.sum()), np.full(K, W.sum())
    if name in ("coin", "class"):
        E = digamma(W + b) - digamma(R + W + a + b) + log_e
        E[np.eye(K, dtype=bool)] = digamma(R + a) - digamma(R + W + a + b)
        terms = betaln(R + a, W + b) - betaln(a, b)
        return E, (terms[0] if name == "coin" else terms.sum()) + (C * log_e).sum()
    if name == "own":
        prior = np.where(np.eye(K, dtype=bool), a, b)
        E = digamma(C + prior) - digamma((C + prior).sum(axis=0))
        return E, sum(of_sequence(C[:, k], prior[:, k]) for k in range(K))
    n = C.sum(axis=1)
    E = np.tile((digamma(n + gamma) - digamma(n.sum() + K * gamma))[:, None], (1, K))
    return E, of_sequence(n, np.full(K, gamma))


def of_sequence(n, prior):
    """Log-probability of a sequence with counts n whose probabilities are Dirichlet(prior)."""
    return gammaln(n + prior).sum() - gammaln((n + prior).sum()) - gammaln(prior).sum() + gammaln(prior.sum())


def normalised(logs):
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def pairs_of_copies(codes, min_common=5, false_alarms=1e-3):
    """Return the pairs of workers who are copies, from the (N, M) codes, -1 where there is no label."""
    N, M = codes.shape
    found = []
    active = sum((codes[:, w] >= 0).any() for w in range(M))
    for u in range(M):
        for v in range(u + 1, M):
            both = [i for i in range(N) if codes[i, u] >= 0 and codes[i, v] >= 0]
            if len(both) < min_common or any(codes[i, u] != codes[i, v] for i in both):
                continue
            others = [(i, codes[i, w]) for i in both for w in range(M) if w not in (u, v) and codes[i, w] >= 0]
            d = (sum(y != codes[i, u] for i, y in others) + 0.5) / (len(others) + 1)
            if others and -len(both) * np.log(1 - d) > np.log(active * (active - 1) / 2 / false_alarms):
                found.append((u, v))
    return found

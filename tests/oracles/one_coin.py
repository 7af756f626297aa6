"""One-coin Dawid-Skene by plain loops over tasks, labels and classes."""

import numpy as np


def chance(p_j, label, c, n_classes):
    """Pr(label | class c) of a worker who is right with chance p_j."""
    return p_j if label == c else (1 - p_j) / (n_classes - 1)


def e_step(triples, p, prior, n_tasks):
    """Posterior of every task, by products, and the log-likelihood."""
    K = len(prior)
    Q = np.tile(prior, (n_tasks, 1))
    for i, j, label in zip(*triples, strict=True):
        for c in range(K):
            Q[i, c] *= chance(p[j], label, c, K)
    return Q / Q.sum(axis=1, keepdims=True), np.log(Q.sum(axis=1)).sum()


def em(triples, Q, n_workers, rounds, right=1.0, wrong=1.0, estimate_prior=False):
    """EM from soft classes Q; returns accuracies, posterior and the objective of every round."""
    n_tasks, K = Q.shape
    values = []
    for _ in range(rounds):
        hits, given = np.full(n_workers, right), np.full(n_workers, right + wrong)
        for i, j, label in zip(*triples, strict=True):
            hits[j] += Q[i, label]
            given[j] += 1
        p = hits / given
        prior = Q.mean(axis=0) if estimate_prior else np.full(K, 1 / K)
        Q, log_likelihood = e_step(triples, p, prior, n_tasks)
        values.append(log_likelihood + np.sum(right * np.log(p) + wrong * np.log(1 - p)))
    return p, Q, values

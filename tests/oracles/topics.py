"""Topics as on the board: every matrix formed, every least-squares problem on its own."""

from itertools import combinations

import numpy as np
from scipy.optimize import nnls

from cofactor.core.simplex import spa


def co_occurrences(counts):
    """P = F'F / D of TF-IDF weights."""
    D = len(counts)
    F = np.zeros(counts.shape)
    for d, n in zip(*np.nonzero(counts), strict=True):
        F[d, n] = (1 + np.log(counts[d, n])) * np.log(D / np.count_nonzero(counts[:, n]))
    return F.T @ F / D


def reduced_points(P, dimension):
    Pbar = P / P.sum(axis=0)
    U = np.linalg.svd(Pbar)[0][:, :dimension]
    return U.T @ Pbar


def topics_by_spa(counts, n_topics):
    """Anchors, topics (N, K) and document weights (D, K) of counts without rare or omnipresent words."""
    P = co_occurrences(counts)
    anchors = spa(reduced_points(P, 2 * n_topics), n_topics)
    S = np.array([nnls(P[:, anchors], P[:, n])[0] for n in range(len(P))]).T
    S /= S.sum(axis=1, keepdims=True)
    A = np.array([nnls(S.T, document)[0] for document in counts])
    return anchors, S.T, A


def coherence_by_counting(counts, top_words):
    total = 0.0
    for words in top_words:
        for a, b in combinations(words, 2):
            holding = [document for document in counts if document[a]]
            total += 2 * np.log((sum(bool(document[b]) for document in holding) + 0.01) / len(holding))
    return total / len(top_words)


def sim_count_by_sets(top_words):
    return sum(len(set(one) & set(other)) for one, other in combinations(map(tuple, top_words), 2))

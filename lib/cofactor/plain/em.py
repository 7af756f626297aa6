"""EM for the latent-class model: variables are independent given a latent class.

    symbol   meaning                                                  shape
    F        one-hot codes of the rows (see counts)                   (S, V)
    prior    lambda_f = Pr(class f)                                   (K,)
    A        Pr(value | class), the A_n stacked                       (V, K)
    Q        Pr(class | observed entries of the row)                  (S, K)

A crowd is such a table: rows are tasks, variables are workers, A_m is the confusion matrix of worker m.

Source: Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm", 1979.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import logsumexp, softmax

from cofactor.plain.counts import Floats, blocks


def posterior(F: sparse.csr_array, prior: Floats, A: Floats) -> tuple[Floats, float]:
    """E-step: return Q, and the log-likelihood of all rows (nats). O(entries K)."""
    log_joint = F @ np.log(np.maximum(A, 1e-300)) + np.log(np.maximum(prior, 1e-300))
    return softmax(log_joint, axis=1), float(logsumexp(log_joint, axis=1).sum())


def refit(F: sparse.csr_array, Q: Floats, sizes: ArrayLike, pseudo_count: float = 0.0) -> tuple[Floats, Floats]:
    """M-step: return prior and A, the frequencies weighted by the soft classes Q. O(entries K)."""
    A = F.T @ Q + pseudo_count
    for block in blocks(sizes):
        A[block] /= A[block].sum(axis=0)
    return Q.mean(axis=0), A


def em(
    F: sparse.csr_array, prior: Floats, A: Floats, sizes: ArrayLike, n_iter: int = 100, tol: float = 1e-8
) -> tuple[Floats, Floats, list[float]]:
    """Alternate both steps from a starting model; return prior, A and the log-likelihood before each round.

    It never falls. Stops when its relative increase is at most `tol`. To start from soft classes, such as vote shares,
    call `refit` first.

    >>> from cofactor.plain.counts import one_hot
    >>> F = one_hot([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 0]], [2, 2, 2])
    >>> start = np.array([[0.8, 0.3], [0.2, 0.7]] * 3)
    >>> em(F, np.array([0.5, 0.5]), start, [2, 2, 2])[0].round(2).tolist()
    [0.5, 0.5]
    """
    values: list[float] = []
    for _ in range(n_iter):
        Q, value = posterior(F, prior, A)
        prior, A = refit(F, Q, sizes)
        values.append(value)
        if len(values) > 1 and value - values[-2] <= tol * abs(value):
            break
    return prior, A, values

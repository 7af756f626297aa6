"""Whether the labels of one task are independent given its class, as the Dawid-Skene model has it.

A task can mislead several workers at once. Then errors of workers come together:

    e_wk = 1[label of w is k] - p_wk                      zero on average for a task of class k
    T_i  = sum_k z_ik sum over pairs w != v of e_wk e_vk  zero on average if workers are independent

    symbol   meaning                                                                        shape
    z        posterior of the classes, not tempered                                         (N, K)
    p        probability that worker w is right on class k, drawn to the crowd's mean       (M, K)
    T        of every task, see above                                                       (N,)

All of it is a sum over tasks.

Source: the residual correlations of latent class analysis, see Qu, Tan and Kutner, "Random effects models in latent
class analysis for evaluating accuracy of diagnostic tests", Biometrics 1996; here summed over all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofactor.core.lazy import WORTH_COMPILING, njit
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.rows import Rows

SHRINKAGE_COUNT = 5.0  # labels for which the crowd's mean accuracy counts in a worker's
PRIOR_RIGHT, PRIOR_TOTAL = 4.0, 5.0  # labels imagined for that mean, as in the prior of WorkerTypes
MAX_INDEPENDENT_Z = 2.0  # above it, workers are taken to err together
TINY = 1e-12


@dataclass(frozen=True)
class Dependence:
    """Sums over tasks; add two of them to merge disjoint sets of tasks.

    Attributes
    ----------
    excess : float
        sum_i T_i.
    squares : float
        sum_i T_i^2.
    most : float
        The excess if all errors of a task came together.
    """

    excess: float
    squares: float
    most: float

    def __add__(self, other: Dependence) -> Dependence:
        """Merge the sums of two disjoint sets of tasks."""
        return Dependence(self.excess + other.excess, self.squares + other.squares, self.most + other.most)

    @property
    def correlation(self) -> float:
        """Mean correlation of two errors on a task, given its class; below the truth, since z bends to the errors."""
        return self.excess / max(self.most, TINY)

    @property
    def z(self) -> float:
        """How many standard errors the excess lies above zero."""
        return self.excess / max(float(np.sqrt(self.squares)), TINY)


def accuracies(right: Floats, given: Floats) -> Floats:
    """p: (M, K) probabilities of being right, from the expected numbers of right labels and of all, by class."""
    crowd = (right.sum(axis=0) + PRIOR_RIGHT) / (given.sum(axis=0) + PRIOR_TOTAL)
    return np.asarray((right + SHRINKAGE_COUNT * crowd) / (given + SHRINKAGE_COUNT))


def dependence(table: CategoricalTable, posterior: Floats, p: Floats, rows: Rows) -> Dependence:
    """Sum up some tasks, from their (N, K) posterior and the workers' (M, K) accuracies; `rows` are the columns.

    Cost: O(labels K) time; of many labels, no memory beside.
    """
    F, K = table.indicator, p.shape[1]
    if table.n_entries * K > WORTH_COMPILING:
        return Dependence(*_sums(F.indptr, F.indices, rows.owner, rows.label, posterior, p))
    mine = p[rows.owner[F.indices]]
    e = np.where(rows.label[F.indices][:, None] == np.arange(K), 1.0, 0.0) - mine
    T = np.sum(posterior * _pairs(e, table.rows, table.n_rows), axis=1)
    most = _pairs(np.sqrt(mine * (1 - mine)), table.rows, table.n_rows)
    return Dependence(float(T.sum()), float(T @ T), float(np.sum(posterior * most)))


@njit(cache=True, error_model="numpy", nogil=True)
def _sums(
    indptr: Ints, indices: Ints, owner: Ints, label: Ints, posterior: Floats, p: Floats
) -> tuple[float, float, float]:
    """Return the sums of `Dependence`, task by task."""
    excess = squares = most = 0.0
    K = p.shape[1]
    for i in range(len(indptr) - 1):
        T = 0.0
        for k in range(K):
            sum_e = squares_e = sum_h = squares_h = 0.0
            for x in range(indptr[i], indptr[i + 1]):
                row = indices[x]
                right = p[owner[row], k]
                e, h = (1.0 if label[row] == k else 0.0) - right, np.sqrt(right * (1 - right))
                sum_e, squares_e = sum_e + e, squares_e + e**2
                sum_h, squares_h = sum_h + h, squares_h + h**2
            T += posterior[i, k] * (sum_e**2 - squares_e)
            most += posterior[i, k] * (sum_h**2 - squares_h)
        excess, squares = excess + T, squares + T**2
    return excess, squares, most


def _pairs(x: Floats, task: Ints, n_tasks: int) -> Floats:
    """(N, K) sums of x_w x_v over all pairs of different labels of a task: (sum x)^2 - sum x^2."""
    columns = [np.bincount(task, column, n_tasks) ** 2 - np.bincount(task, column**2, n_tasks) for column in x.T]
    return np.stack(columns, axis=1)

"""CrowdMoments: the sums over tasks that the factorisations need of crowd labels, and nothing else.

    symbol   meaning                                                    shape
    C        counts of label pairs, `PairwiseMoments`                   (M K, M K), sparse
    F'V      votes of every worker by vote share of the task's labels   (M K, K)

Both add up over tasks.

Source: Ibrahim and Fu, ICML 2021, Eq. (3); Dawid and Skene, 1979, for the start from majority vote.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cofactor.core.em import SoftCounts
from cofactor.core.lazy import njit
from cofactor.core.moments import PairwiseMoments, pairwise_moments
from cofactor.core.types import Floats, Ints
from cofactor.crowd.labels import CrowdLabels


@dataclass(frozen=True)
class CrowdMoments:
    """Sums over tasks: label pairs, and majority votes as soft classes.

    Attributes
    ----------
    pairs : PairwiseMoments
        `n_rows` is the number of tasks.
    votes : SoftCounts
        Of the vote shares, over tasks with a label: `votes.model()` is the start from majority vote.
    workers, classes : lists
        Ids, in the order of the codes.
    """

    pairs: PairwiseMoments
    votes: SoftCounts
    workers: list[Any]
    classes: list[Any]

    @classmethod
    def of(cls, labels: CrowdLabels) -> CrowdMoments:
        """Count labels that are in memory. Cost as `pairwise_moments`."""
        return cls(pairwise_moments(labels.table), votes_of(labels), labels.workers, labels.classes)


def votes_of(labels: CrowdLabels) -> SoftCounts:
    """Return the soft counts of the vote shares, over tasks with a label."""
    F, K = labels.table.indicator, labels.n_classes
    cells, classes = np.zeros((F.shape[1], K)), np.zeros(K)
    n_tasks = _add_votes(F.indptr, F.indices, cells, classes)
    return SoftCounts(cells, classes, n_tasks, labels.table.sizes)


@njit(cache=True, nogil=True)
def _add_votes(indptr: Ints, indices: Ints, cells: Floats, classes: Floats) -> int:
    K, n_tasks = len(classes), 0
    shares = np.empty(K)
    for s in range(len(indptr) - 1):
        first, end = indptr[s], indptr[s + 1]
        n_tasks += first < end
        shares[:] = 0
        for x in range(first, end):
            shares[np.uint32(indices[x]) % np.uint32(K)] += 1
        for k in range(K):
            shares[k] /= max(end - first, 1)
            classes[k] += shares[k]
        for x in range(first, end):
            v = np.uint64(indices[x])
            for k in range(K):
                cells[v, k] += shares[k]
    return n_tasks

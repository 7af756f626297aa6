"""Wawa: votes weighted by the worker's agreement with the winners, repeated until the winners no longer change.

    s_ik = sum of v_j over the workers j who gave task i the label k,    v_j = share of the worker's labels that won

Source: "worker agreement with aggregate" of crowd-kit 1.4 (class `Wawa`); no paper. Deviations: rounds go on until the
winners settle (crowd-kit weighs once, `max_iter=1`), and tied winners share instead of the first of them winning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofactor.core.estimator import History, Result
from cofactor.core.types import Floats
from cofactor.crowd.base import TaskScorer
from cofactor.crowd.labels import CrowdLabels, vote_shares

VOTE_TIE = 1e-9  # share of the winner's votes by which a class may fall short and still count as tied


@dataclass(eq=False, repr=False)
class Wawa(TaskScorer):
    """Weighted vote by agreement with the winners.

    `tol` is the share of tasks with another winner that ends the rounds. After `fit`, `weights_` is v, zero for a
    worker without labels, and `posterior_` holds the shares of the weighted votes. Cost: O(labels + N K) time a round.
    """

    max_iter: int = 100
    tol: float = 0.0
    random_state: int | None = None

    def _weights(self, agreed: Floats, n: Floats) -> Floats:
        """Return (M,) weights of workers, of whose n labels so many agreed with the winners."""
        return agreed / np.maximum(n, 1)

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        table, (N, K, M) = labels.table, (labels.n_tasks, labels.n_classes, labels.n_workers)
        n, cell = np.bincount(table.variables, minlength=M).astype(np.float64), table.rows.astype(np.int64) * K
        s = labels.votes.astype(np.float64)
        won, history = winners(s), History(type(self).__name__, self.max_iter, self.tol)
        for _ in history:
            agreed = np.asarray(np.bincount(table.variables, won[table.rows, table.values], M), dtype=np.float64)
            self.weights_ = self._weights(agreed, n)
            s = np.bincount(cell + table.values, self.weights_[table.variables], N * K).reshape(N, K)
            before, won = won, winners(s)
            history.record(agreed.sum() / n.sum(), change=float(np.any(won != before, axis=1).mean()))
        totals = s.sum(axis=1, keepdims=True)
        return np.where(totals > 0, s / np.where(totals > 0, totals, 1.0), vote_shares(labels)), history.result()


def winners(s: Floats) -> Floats:
    """Return (N, K) shares of the classes with most votes: 1 for the winner, 1/t each in a tie of t."""
    tied = s >= s.max(axis=1, keepdims=True) * (1 - VOTE_TIE)
    return np.asarray(tied / tied.sum(axis=1, keepdims=True))

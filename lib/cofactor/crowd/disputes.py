"""Votes in which workers do not count alike, and labels that most of them speak against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints

FEW_VOTES = 1e-6  # votes of a task that come from nobody who counts
SAME_SHARE = 1e-6  # of votes: closer ones are tied


def weighted_vote_shares(table: CategoricalTable, weight: Floats) -> Floats:
    """Return (N, K) vote shares in which worker w counts with weight (M,), several answers of one by their shares.

    Where only workers of no weight labelled a task, all count the same. A task without labels has shares of zero.
    """
    K = int(table.sizes[0])
    weighted, plain = (table.indicator @ np.kron(w[:, None], np.eye(K)) for w in (weight, np.ones(len(weight))))
    votes = np.where(weighted.sum(axis=1, keepdims=True) > FEW_VOTES, weighted, plain)
    return np.asarray(votes / np.maximum(votes.sum(axis=1, keepdims=True), FEW_VOTES))


def outvoted(votes: Floats, label: Ints) -> NDArray[np.bool_]:
    """Tell of every task whether another class than its label (N,) has more of its (N, K) votes."""
    return np.asarray(votes.max(axis=1) - votes[np.arange(len(votes)), label] > SAME_SHARE)

"""CRIAV: complete one 0/1 matrix of labels per class, then take a vote of all labels.

    symbol   meaning                                                              shape
    Y_c      1 where the label is c, of the known entries Omega                   (N, M)
    Z_c      completed Y_c, A B' with factors A (N, r) and B (M, r)               (N, M)
    g        class scores of the tasks                                            (N, K)
    w        weights of the annotators                                            (M,)

Source: Li and Jiang, "Multi-label crowdsourcing learning with incomplete annotations", PRICAI 2018, with which the ICML
2021 paper compares. A reconstruction: the original could not be had, so levels of error can be compared, not details.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofactor.core.errors import CofactorError
from cofactor.core.estimator import History, Result
from cofactor.core.types import Floats
from cofactor.crowd.base import TaskScorer
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.model import PRIOR, PseudoCounts
from evaluation.released.crowd_soft_impute import Entries, completed, held_out


@dataclass(eq=False, repr=False)
class CRIAV(TaskScorer):
    """CRIAV: complete the 0/1 matrix of each class by itself, then weighted votes of all completed labels.

    1. Z_c = argmin 1/2 ||P_Omega(Z - Y_c)||^2 + lambda_c ||Z||_*, see `soft_impute`. Penalties go down a path of shares
       of the largest singular value on 90 % of the labels, up to the first that predicts the rest worse; then all
       labels are fitted. Labels that were given count as given.
    2. g_c = sum_m w_m Z_c[:, m],  w_m = share of m's given labels that agree with argmax g (ties in part), from vote
       shares until g settles.

    Parameters
    ----------
    em, pseudo_counts, random_state, verbose
        As for `PGTAC`.

    Raises (in `fit`): CofactorError where no task has a label.
    Cost: that of `soft_impute` per class and penalty; no completed matrix is formed.
    Source: Li and Jiang, 2018, reconstructed (see the module).
    """

    em: bool = False
    pseudo_counts: PseudoCounts = PRIOR
    random_state: int | None = None
    verbose: bool = False

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        if not labels.n_labels:
            raise CofactorError("no task has a label")
        hidden = held_out(labels.n_labels, self.random_state)
        table = labels.table
        everything = Entries(table.rows, table.variables, (labels.n_tasks, labels.n_workers))
        Y = [(table.values == c).astype(np.float32) for c in range(labels.n_classes)]
        # step 1
        Z = [completed(everything, y, hidden) for y in Y]
        corrections = [everything.matrix(y - everything.at(*z)) for y, z in zip(Y, Z, strict=True)]
        g = vote_shares(labels)  # step 2
        history = History("CRIAV", max_iter=100, tol=0.0, verbose=self.verbose)
        for _ in history:
            w = agreement(labels, _decided(g))
            new = np.column_stack([A @ (B.T @ w) + C @ w for (A, B), C in zip(Z, corrections, strict=True)])
            moved = float(np.mean(np.argmax(new, axis=1) != np.argmax(g, axis=1)))
            history.record(moved, change=moved)
            g = new
        return _as_shares(g), history.result()


def agreement(labels: CrowdLabels, decided: Floats) -> Floats:
    """Return the (M,) share of each annotator's labels that agree with the vote; zero without labels."""
    table, M = labels.table, labels.n_workers
    agreeing = np.bincount(table.variables, decided[table.rows, table.values], minlength=M)
    return agreeing / np.maximum(np.bincount(table.variables, minlength=M), 1)


def _decided(g: Floats) -> Floats:
    """One for the class with the largest score, ties shared."""
    top = g >= g.max(axis=1, keepdims=True) - 1e-6
    return np.asarray(top / top.sum(axis=1, keepdims=True), dtype=np.float64)


def _as_shares(g: Floats) -> Floats:
    """Scores as class probabilities: shares of the vote, uniform where there is none."""
    g = np.maximum(g, 0.0)
    total = g.sum(axis=1, keepdims=True)
    return np.where(total > 1e-9, g / np.maximum(total, 1e-9), 1 / g.shape[1])

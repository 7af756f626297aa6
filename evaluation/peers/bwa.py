"""BWA: Bayesian weighted average, from a normal model of the workers' errors, each class against all others.

    y_ijk ~ Normal(z_ik, 1/v_jk),    z_ik ~ Normal(mu_k, 1/lambda),    v_jk ~ Gamma(a_v/2, b_k/2)
    F = sum_jk ((a_v + n_j) log v_jk - v_jk (b_k + sum_i (y_ijk - z_ik)^2)) / 2 - lambda/2 sum_ik (z_ik - mu_k)^2

    symbol   meaning                                               shape
    y_ijk    1 where worker j gave task i the label k              sparse
    z_ik     mean of "is the label of task i a k?"                 (N, K)
    v_jk     precision of worker j                                 (M, K)
    n_j      labels of worker j                                    (M,)

Source: Li, Rubinstein and Cohn, "Truth inference at scale", WWW 2019; a_v, lambda, and b_k = 4 (1 - 1/K) a_v (mean
variance of the votes) as in their code (yuan-li/truth-inference-at-scale on GitHub). Deviations: b_k has a floor,
without which unanimous labels give NaN; classes run side by side until all have settled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cofactor.core.estimator import History, Result
from cofactor.core.types import Floats
from cofactor.crowd.base import TaskScorer
from cofactor.crowd.labels import CrowdLabels, vote_shares

NO_SPREAD = 1e-9  # smallest b_k: with unanimous labels it is zero, and so is the distance that it is added to


@dataclass(eq=False, repr=False)
class BWA(TaskScorer):
    """Maximise F, one of v, mu and z at a time, from vote shares; `ridge` is lambda.

    After `fit`, `posterior_` is z normalised over the classes (the mean of the others for a task without labels), and
    `weights_` is v. Cost: O(labels K) time a round, O((N + M) K) memory.
    """

    a_v: float = 15.0
    ridge: float = 1.0
    max_iter: int = 500
    tol: float = 1e-4
    random_state: int | None = None

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        labelled = labels.table.entries_per_row > 0
        z, result = self._average(labels.take_tasks(labelled))
        z /= z.sum(axis=1, keepdims=True)
        posterior = np.tile(z.mean(axis=0), (labels.n_tasks, 1))
        posterior[labelled] = z
        return posterior, result

    def _average(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        table, z = labels.table, vote_shares(labels)
        (N, K, M), (i, j, k) = (
            (labels.n_tasks, labels.n_classes, labels.n_workers),
            (table.rows, table.variables, table.values),
        )
        given = sparse.csr_array((np.ones(len(i)), (i, j)), (N, M))
        n, of_worker, of_task = (
            table.entries_per_variable[:, None],
            j.astype(np.int64) * K + k,
            i.astype(np.int64) * K + k,
        )
        variance = table.entries_per_row @ (z * (1 - z)) / labels.n_labels
        b = np.maximum(4 * (1 - 1 / K) * self.a_v * variance, NO_SPREAD)
        history = History("BWA", self.max_iter, self.tol)
        for _ in history:
            mu = z.mean(axis=0)
            at_label = np.bincount(of_worker, 1 - 2 * z[i, k], minlength=M * K).reshape(M, K)
            distance = np.maximum(given.T @ z**2 + at_label, 0.0)  # sum_i (y_ijk - z_ik)^2
            v = (self.a_v + n) / (b + distance)  # maximises F, where v (b + distance) = a_v + n
            F = np.sum((self.a_v + n) * (np.log(v) - 1)) / 2 - self.ridge / 2 * np.sum((z - mu) ** 2)
            s = np.bincount(of_task, v[j, k], minlength=N * K).reshape(N, K)
            old, z = z, (self.ridge * mu + s) / (self.ridge + given @ v)
            history.record(float(F), change=float(np.abs(z - old).max()))
        self.weights_ = v
        return z, history.result()

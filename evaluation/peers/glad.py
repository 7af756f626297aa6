"""GLAD: the worker's ability and the task's difficulty determine accuracy; errors are uniform.

    Pr(label of worker j on task i is right) = sigma(a_j exp(b_i)),    another one: (1 - that) / (K - 1)
    a_j ~ Normal(1, 1),  b_i ~ Normal(1, 1),  classes equally likely

    symbol   meaning                                                          shape
    a_j      ability of worker j; negative for adversaries                    (M,)
    b_i      log-easiness of task i                                           (N,)
    x        a, then b                                                        (M + N,)
    p_e      posterior of the class that label e names                        (E,)

EM: the E-step is Bayes' rule; the M-step climbs the expected log-posterior of all a and b at once.

Source: Whitehill, Ruvolo, Wu, Bergsma and Movellan, "Whose vote should count more: optimal integration of labels from
labelers of unknown expertise", NIPS 2009, for two classes; even errors and the priors are those of their released code.
Deviation: at most ten steps of L-BFGS in place of 25 of conjugate gradients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from cofactor.core.estimator import History, Result
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import TaskScorer
from cofactor.crowd.labels import CrowdLabels

MEAN = 1.0  # of the priors of ability and log-easiness; their variance is one
LARGEST_LOG_EASINESS = 30.0  # beyond it every label is certain, and inf * 0 would give NaN


@dataclass(eq=False, repr=False)
class GLAD(TaskScorer):
    """Maximise sum_i log sum_c prod_j Pr(label | c) / K - |a - 1|^2 / 2 - |b - 1|^2 / 2 by EM, from a = b = 1.

    After `fit`, `ability_` is a and `easiness_` is exp(b). Cost: O(labels steps + N K) time a round.
    """

    max_iter: int = 100
    tol: float = 1e-6
    steps: int = 10
    random_state: int | None = None

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        table, M = labels.table, labels.n_workers
        task, worker, label = (np.asarray(code, dtype=np.int64) for code in (table.rows, table.variables, table.values))
        x, history = np.full(M + labels.n_tasks, MEAN), History("GLAD", self.max_iter, self.tol)
        S = log_joint(x, task, worker, label, labels)
        for _ in history:
            p = softmax(S, axis=1)[task, label]
            climb = {"jac": True, "method": "L-BFGS-B", "options": {"maxiter": self.steps}}
            x = minimize(expected_loss, x, (task, worker, p, M), **climb).x
            S = log_joint(x, task, worker, label, labels)
            history.record(float(logsumexp(S, axis=1).sum() - np.sum((x - MEAN) ** 2) / 2))
        self.ability_, self.easiness_ = x[:M], np.exp(np.minimum(x[M:], LARGEST_LOG_EASINESS))
        return softmax(S, axis=1), history.result()


def log_joint(x: Floats, task: Ints, worker: Ints, label: Ints, labels: CrowdLabels) -> Floats:
    """Return (N, K) log Pr(labels of task i, class c)."""
    N, K, M = labels.n_tasks, labels.n_classes, labels.n_workers
    z = x[worker] * np.exp(np.minimum(x[M + task], LARGEST_LOG_EASINESS))
    log_right, log_wrong = -np.logaddexp(0, -z), -np.logaddexp(0, z) - np.log(K - 1)
    all_wrong = np.bincount(task, log_wrong, minlength=N)
    at_label = np.bincount(task * K + label, log_right - log_wrong, minlength=N * K).reshape(N, K)
    return all_wrong[:, None] + at_label - np.log(K)


@njit(cache=True)
def expected_loss(x: Floats, task: Ints, worker: Ints, p: Floats, n_workers: int) -> tuple[float, Floats]:
    """Return minus the expected log-posterior and its gradient, up to a constant."""
    gradient = x - MEAN
    loss = np.dot(gradient, gradient) / 2
    exp_b = np.exp(np.minimum(x[n_workers:], LARGEST_LOG_EASINESS))
    for e in range(len(p)):
        i, j = task[e], worker[e]
        z = x[j] * exp_b[i]
        decay = np.exp(-abs(z))
        sigma = 1 / (1 + decay) if z > 0 else decay / (1 + decay)
        loss += np.log1p(decay) + max(z, 0.0) - p[e] * z  # -p log sigma(z) - (1 - p) log sigma(-z)
        gradient[j] += (sigma - p[e]) * exp_b[i]
        gradient[n_workers + i] += (sigma - p[e]) * z
    return loss, gradient

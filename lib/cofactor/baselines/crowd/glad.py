"""GLAD: labels are right by the worker's ability and the task's difficulty; errors are even.

    Pr(label of worker j on task i is right) = sigma(a_j exp(b_i)),    another one: (1 - that) / (K - 1)
    a_j ~ Normal(1, 1),  b_i ~ Normal(1, 1),  classes equally likely

    symbol   meaning                                                          shape
    a_j      ability of worker j; negative for adversaries: `ability`         (M,)
    b_i      log-easiness of task i; 1/exp(b_i) is its difficulty: `easiness` (N,)
    Q        posterior of the classes                                         (N, K)
    p_e      Q at the label of entry e: the chance that it is right           (E,)

EM: the E-step is Bayes' rule, the M-step climbs the expected log-posterior of all a and b at once.

Source: Whitehill, Ruvolo, Wu, Bergsma and Movellan, "Whose vote should count more: optimal integration of labels from
labelers of unknown expertise", NIPS 2009.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofactor.core.checks import check_whole
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import njit, optimize, special
from cofactor.core.result import History, Result
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import TaskScorer
from cofactor.crowd.labels import CrowdLabels

MEAN = 1.0  # of the priors of ability and log-easiness; their variance is one
LARGEST_LOG_EASINESS = (
    30.0  # log-easiness up to which exp is taken: beyond, every label is certain, and inf * 0 would give NaN
)


@dataclass(eq=False, repr=False)
class GLAD(TaskScorer):
    """Score tasks by EM over abilities of workers and difficulties of tasks ("GLAD").

    Maximises sum_i log sum_c prod_j Pr(label | c) / K - ||a - 1||^2 / 2 - ||b - 1||^2 / 2, from a = b = 1.

    Parameters
    ----------
    steps : int
        Most steps of L-BFGS in one M-step; the posterior moves on anyway, so that a few are enough.
    max_iter, tol, random_state, verbose
        Most rounds, and the relative change of the objective that ends them; see `Aggregator`, nothing is random.

    Attributes after `fit`
    ----------------------
    posterior_ : (n_tasks, n_classes) array
        Q; uniform for a task without labels.
    ability_, easiness_ : (n_workers,) and (n_tasks,) arrays
        a and exp(b); 1 for a worker, e for a task without labels.
    model_, result_ : see `TaskScorer`
        `result_.objective` is the objective in nats after each round; it never falls.

    Raises `CofactorError` in `fit`: no task has a label, or a parameter is not a whole number of at least 1.

    Cost: O(labels steps + N K) time per round, O(labels + N K) memory. Source: Whitehill et al., NIPS 2009, for two
    classes; errors that are even over K classes and the priors Normal(1, 1) as in their released code. Deviation:
    L-BFGS with at most ten steps instead of conjugate gradients with 25.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> method = GLAD().fit(labels)
    >>> method.predict(labels).tolist(), bool(method.easiness_[0] < method.easiness_[1])
    ([0, 1], True)
    """

    max_iter: int = 100
    tol: float = 1e-6
    steps: int = 10
    random_state: int | None = None
    verbose: bool = False

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        check_whole(1, max_iter=self.max_iter, steps=self.steps)
        if not labels.n_labels:
            raise CofactorError("no task has a label")
        table = labels.table
        task, worker, label = (np.asarray(code, dtype=np.int64) for code in (table.rows, table.variables, table.values))
        x = np.full(labels.n_workers + labels.n_tasks, MEAN)
        S = log_joint(x, task, worker, label, labels)
        history = History("GLAD", self.max_iter, self.tol, self.verbose)
        for _ in history:
            p = special.softmax(S, axis=1)[task, label]
            x = _climb(x, task, worker, p, labels, self.steps)
            S = log_joint(x, task, worker, label, labels)
            history.record(float(special.logsumexp(S, axis=1).sum() - np.sum((x - MEAN) ** 2) / 2))
        self.ability_, self.easiness_ = (
            x[: labels.n_workers],
            np.exp(np.minimum(x[labels.n_workers :], LARGEST_LOG_EASINESS)),
        )
        return special.softmax(S, axis=1), history.result()


def log_joint(x: Floats, task: Ints, worker: Ints, label: Ints, labels: CrowdLabels) -> Floats:
    """Return (N, K) log Pr(labels of task i, class c) at x = (a, b)."""
    N, K, M = labels.n_tasks, labels.n_classes, labels.n_workers
    z = x[worker] * np.exp(np.minimum(x[M + task], LARGEST_LOG_EASINESS))
    log_right, log_wrong = -np.logaddexp(0, -z), -np.logaddexp(0, z) - np.log(K - 1)
    all_wrong = np.bincount(task, log_wrong, minlength=N)
    at_label = np.bincount(task * K + label, log_right - log_wrong, minlength=N * K).reshape(N, K)
    return all_wrong[:, None] + at_label - np.log(K)


def _climb(x: Floats, task: Ints, worker: Ints, p: Floats, labels: CrowdLabels, steps: int) -> Floats:
    """M-step: return a better x for the expected log-posterior; the p_e are all it needs of Q."""
    found = optimize.minimize(
        _loss, x, (task, worker, p, labels.n_workers), jac=True, method="L-BFGS-B", options={"maxiter": steps}
    )
    return np.asarray(found.x)


@njit(cache=True)
def _loss(x: Floats, task: Ints, worker: Ints, p: Floats, n_workers: int) -> tuple[float, Floats]:
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

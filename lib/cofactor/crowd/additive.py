"""Additive graders: labels as numbers, to which tasks and workers add up.

    y = mu + u_i + b_w + e,   u_i ~ N(0, vq), b_w ~ N(0, vb), e ~ N(0, ve)

    symbol       meaning                                                 shape
    y            label as a number, 0 to K - 1                           (E,)
    u, b         task's height above the mean, worker's offset           (N,), (M,)
    ve, vq, vb   variances of rest, tasks, workers
    theta        score of a task: mean of y - b over its labels          (N,)

Source: two crossed random effects (Searle, Casella and McCulloch, "Variance components", 1992), by variational
expectation-maximisation. An offset of the whole crowd cannot be seen: offsets are those from one another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofactor.core.lazy import special
from cofactor.core.types import Floats, Ints

MIN_VARIANCE = 1e-4
ROUNDING_VARIANCE = 1 / 12  # of a number rounded to a whole one
ADDITIVE_ROUNDS, ADDITIVE_TOL = 200, 1e-6  # of the fit, in steps


@dataclass(frozen=True)
class Additive:
    """A fit of additive scores; see the module's symbols.

    Attributes
    ----------
    mu, ve, vq, vb : float
    u, b : (N,) and (M,) arrays
    rounds : int
    converged : bool
    """

    mu: float
    u: Floats
    b: Floats
    ve: float
    vq: float
    vb: float
    rounds: int
    converged: bool

    def predict(self, task: Ints, worker: Ints) -> Floats:
        """Return the expected labels (E,) of these workers on these tasks."""
        return np.asarray(self.mu + self.u[task] + self.b[worker])


def fit_additive(
    task: Ints,
    worker: Ints,
    y: Floats,
    n_tasks: int,
    n_workers: int,
    max_rounds: int = ADDITIVE_ROUNDS,
    tol: float = ADDITIVE_TOL,
) -> Additive:
    """Fit additive scores to the labels y (E,) that `worker` (E,) gave to `task` (E,).

    Rounds stop when no u changes by more than `tol` steps. A round updates u, b, mu, then ve, vq, vb by

        u_i = sum(y - mu - b_w) / (n_i + ve / vq),   var u_i = ve / (n_i + ve / vq);   b_w alike with vb
        ve = mean over labels of rest^2 + var u_i + var b_w,   vq = mean of u_i^2 + var u_i,   vb alike

    Cost: O(E) time and memory a round.

    >>> fit = fit_additive(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0.0, 1.0, 2.0, 3.0]), 2, 2)
    >>> round(fit.mu, 3), bool(fit.u[0] < fit.u[1]), bool(fit.b[0] < fit.b[1])
    (1.5, True, True)
    """
    n_i, n_w = np.bincount(task, minlength=n_tasks), np.bincount(worker, minlength=n_workers)
    mu, u, b = float(y.mean()), np.zeros(n_tasks), np.zeros(n_workers)
    ve, vq, vb, change, rounds = 1.0, 0.5, 0.1, np.inf, 0
    while change > tol and rounds < max_rounds:
        before, by_task, by_worker = u, n_i + ve / vq, n_w + ve / vb
        u, var_u = np.bincount(task, y - mu - b[worker], n_tasks) / by_task, ve / by_task
        b, var_b = np.bincount(worker, y - mu - u[task], n_workers) / by_worker, ve / by_worker
        mu = mu + float(np.mean(y - mu - u[task] - b[worker]))
        rest = y - mu - u[task] - b[worker]
        ve = max(float(np.mean(rest**2 + var_u[task] + var_b[worker])), MIN_VARIANCE)
        vq, vb = (max(float(np.mean(x**2 + var)), MIN_VARIANCE) for x, var in ((u, var_u), (b, var_b)))
        change, rounds = float(np.abs(u - before).max()), rounds + 1
    return Additive(mu, u, b, ve, vq, vb, rounds, change <= tol)


def score_posterior(task: Ints, rest: Floats, ve: float, n_tasks: int, n_grades: int) -> tuple[Floats, Floats]:
    """Return scores theta (N,) and grade probabilities (N, K) of tasks, from labels without their workers' offsets.

        theta_i = mean of rest,   p_ik = Phi((k + 1/2 - theta_i) / sd) - Phi((k - 1/2 - theta_i) / sd),
        sd^2 = ve / n_i + 1 / 12                                               ends open, theta kept within the scale

    The task's own mean is not drawn to the crowd's: drawn, it is less often right. A task without labels has theta NaN
    and equal probabilities.
    """
    n_i = np.bincount(task, minlength=n_tasks)
    with np.errstate(invalid="ignore", divide="ignore"):
        theta = np.bincount(task, rest, n_tasks) / n_i
        sd = np.sqrt(ve / n_i + ROUNDING_VARIANCE)
    p = between(n_grades, np.clip(theta, 0, n_grades - 1), sd).T
    return theta, np.where((n_i > 0)[:, None], p, 1 / n_grades)


def between(n_grades: int, centre: Floats, spread: Floats) -> Floats:
    """Return how probable a normal number is rounded to each grade, ends open: (..., K, G) of (..., 1, G) arrays."""
    edges = np.linspace(0.5, n_grades - 1.5, n_grades - 1)
    below = special.ndtr((edges[:, None] - centre) / spread)
    ends = np.zeros_like(below[..., :1, :])
    return np.diff(np.concatenate([ends, below, ends + 1], axis=-2), axis=-2)

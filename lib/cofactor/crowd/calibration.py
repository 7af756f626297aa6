"""Probabilities that can be believed: posteriors flattened for labels that repeat one another, and gold tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cofactor.core.latent_class import FLOOR
from cofactor.core.lazy import optimize, special
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import error_rate
from cofactor.crowd.difficulty import power

MAX_DESIGN_EFFECT = 100.0  # tried on gold tasks
N_FOLDS = 5


def tempered(posterior: Floats, n_labels: Ints, design_effect: float) -> Floats:
    """Flatten posteriors of tasks whose labels repeat one another: p ~ z^beta, beta = 1 / sqrt(1 + effect (n - 1)).

    Parameters
    ----------
    posterior : (N, K) array
        z.
    n_labels : (N,) ints
        n, labels of every task. With one label or none, p is z.
    design_effect : float
        0: p is z everywhere.

    Source: Kish, "Survey sampling", 1965: correlated answers widen the standard error of their mean by the root of
    1 + rho (n - 1).
    """
    with np.errstate(divide="ignore"):
        return np.asarray(special.softmax(np.log(posterior) * power(n_labels, design_effect)[:, None], axis=1))


@dataclass(frozen=True)
class GoldCheck:
    """How well gold tasks are predicted by fits that were not shown them.

    Attributes
    ----------
    n_tasks : int
    error : float
        Share labelled wrongly.
    confidence : float
        Mean probability of the label: one minus the error, if the probabilities can be believed.
    log_loss : float
        Nats.
    """

    n_tasks: int
    error: float
    confidence: float
    log_loss: float


@dataclass(frozen=True)
class HeldOut:
    """Posteriors (n, K) of gold tasks that were held out, with their labels' numbers and classes (n,)."""

    posterior: Floats
    n_labels: Ints
    truth: Ints

    def log_loss(self, design_effect: float) -> float:
        """Mean negative logarithm of the true class's tempered probability."""
        p = tempered(self.posterior, self.n_labels, design_effect)[np.arange(len(self.truth)), self.truth]
        return float(-np.mean(np.log(np.maximum(p, FLOOR))))

    def best_design_effect(self) -> float:
        """Return the design effect of the smallest log-loss."""
        return float(optimize.minimize_scalar(self.log_loss, bounds=(0.0, MAX_DESIGN_EFFECT), method="bounded").x)

    def check(self, design_effect: float) -> GoldCheck:
        """Say how well the held-out tasks are predicted."""
        p = tempered(self.posterior, self.n_labels, design_effect)
        error, confidence = error_rate(p, self.truth), float(p.max(axis=1).mean())
        return GoldCheck(len(self.truth), error, confidence, self.log_loss(design_effect))


def held_out_gold(predict: Callable[[Ints], tuple[Floats, Ints]], tasks: Ints, classes: Ints) -> HeldOut:
    """Predict gold tasks from fits that were told of the other gold tasks only.

    Parameters
    ----------
    predict : callable
        From the numbers of tasks (rising) to their posteriors and numbers of labels, by a fit without their classes.
    tasks, classes : (n,) ints
        Numbers of the gold tasks, and their classes.
    """
    posterior, n_labels = zip(*(predict(tasks[fold::N_FOLDS]) for fold in range(N_FOLDS)), strict=True)
    truth = np.concatenate([classes[fold::N_FOLDS] for fold in range(N_FOLDS)])
    return HeldOut(np.concatenate(posterior), np.concatenate(n_labels), truth)

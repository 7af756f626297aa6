"""Whether workers err together by more than independent workers would seem to.

`Dependence.z` has mean zero where the model is known. A fitted one bends to the labels: with many classes and few
labels a task, independent workers seem to err together (z of 10 at 20 classes and three labels a task), or against one
another. How far, simulation tells: crowds of the same tasks, workers and amounts, in which errors are independent,
fitted the same way.

    symbol   meaning                                                              shape
    r        posterior of the classes                                             (N, K)
    p        probability that worker w is right on class k, as in `dependence`    (M, K)
    e        errors of the crowd: Pr(label l | class k, wrong)                    (K, K)
    c_i      class of simulated task i, drawn from r_i
    y        label of w on i: c_i with probability p_w,c_i, else drawn from e

Source: the parametric bootstrap of a goodness of fit, as in Efron and Tibshirani, "An introduction to the bootstrap",
1993, chapter 15, with a normal distribution in place of quantiles, since refits are few.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from cofactor.core.errors import ConvergenceWarning, DataWarning
from cofactor.core.estimator import clone
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.dependence import MAX_INDEPENDENT_Z, accuracies
from cofactor.crowd.labels import CrowdLabels

SIMULATED = 5  # crowds: the error of their mean adds a tenth to the limit


@dataclass(frozen=True)
class Together:
    """What was found beside what chance gives.

    Attributes
    ----------
    z : float
        Of the labels, see `Dependence`.
    chance : (n,) array
        Of simulated crowds in which errors are independent; empty where z is too low for a look.
    """

    z: float
    chance: Floats

    @property
    def limit(self) -> float:
        """The z above which chance is no explanation: some standard deviations above the mean of simulated crowds."""
        if not self.chance.size:
            return MAX_INDEPENDENT_Z
        spread = max(float(self.chance.std(ddof=1)), 1.0) * np.sqrt(1 + 1 / self.chance.size)
        return max(float(self.chance.mean()) + MAX_INDEPENDENT_Z * float(spread), MAX_INDEPENDENT_Z)

    @property
    def found(self) -> bool:
        """Whether workers err together: z lies above the limit."""
        return self.z > self.limit


def errors_together(method: Any, labels: CrowdLabels, random_state: int = 0) -> Together | None:
    """Say whether workers err together on these labels, which `method` was fitted to; None where it does not ask.

    Cost: nothing where z is at most 2; else that of six fits.
    """
    if (dependence := getattr(method, "dependence_", None)) is None:
        return None
    if dependence.z <= MAX_INDEPENDENT_Z:
        return Together(dependence.z, np.zeros(0))
    rng = np.random.default_rng(random_state)
    plain = clone(method).set_params(design_effect=0.0)
    with warnings.catch_warnings():
        for category in (ConvergenceWarning, DataWarning):
            warnings.simplefilter("ignore", category)
        r = plain.fit(labels).predict_proba(labels)
        z = plain.dependence_.z
        drawn = (clone(plain).fit(independent_crowd(labels, r, rng)) for _ in range(SIMULATED))
        chance = [fit.dependence_.z for fit in drawn if fit.dependence_ is not None]
    return Together(z, np.array(chance))


def independent_crowd(labels: CrowdLabels, r: Floats, rng: np.random.Generator) -> CrowdLabels:
    """Draw a label of the same workers for each of the same tasks, independent given the class. O(labels K)."""
    labels = labels.whole
    table, K = labels.table, labels.n_classes
    cells = np.asarray(table.indicator.T @ r).reshape(labels.n_workers, K, K)  # by label, then class
    p = accuracies(np.einsum("mkk->mk", cells), cells.sum(axis=1))
    errors = np.where(np.eye(K, dtype=bool), 0.0, cells.sum(axis=0) + 1)
    c = drawn_from(r, rng)[table.rows]
    right = rng.random(len(c)) < p[table.variables, c]
    y = np.where(right, c, drawn_from((errors / errors.sum(axis=0)).T[c], rng))
    entries = table.rows, table.variables, y
    simulated = CategoricalTable.from_entries(*entries, table.sizes, labels.n_tasks)
    return CrowdLabels(simulated, labels.tasks, labels.workers, labels.classes)


def drawn_from(p: Floats, rng: np.random.Generator) -> Ints:
    """Draw one column from every row of probabilities (n, K)."""
    above = np.cumsum(p, axis=1) < rng.random((len(p), 1)) * p.sum(axis=1, keepdims=True)
    return np.asarray(np.minimum(above.sum(axis=1), p.shape[1] - 1))

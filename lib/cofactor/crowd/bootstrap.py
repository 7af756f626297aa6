"""How sure an aggregator is of its crowd: intervals for prior, accuracies and confusion matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from cofactor.core.bootstrap import (
    LEVEL,
    ModelBootstrap,
    Rows,
    Seed,
    observations,
    probability_intervals,
    refit_by_em,
    resample,
    seen_rows,
    warn_of_unfinished,
)
from cofactor.core.latent_class import LatentClassModel
from cofactor.crowd.aggregators import MultiStartEM
from cofactor.crowd.base import Aggregator, Floats, require_labels, worker_accuracy
from cofactor.crowd.labels import CrowdLabels


@dataclass(frozen=True, repr=False)
class CrowdBootstrap(ModelBootstrap):
    """The model of a crowd with its refits; see `bootstrap`.

    Attributes
    ----------
    workers, classes : lists
        Ids, in the order of the model.
    labels_given : (n_workers,) array
    model, draws, counts, n_rows : see `ModelBootstrap`
    """

    workers: list[Any]
    classes: list[Any]
    labels_given: Floats

    def prior(self, level: float = LEVEL) -> pd.DataFrame:
        """Return a table of the classes: class, estimate, low, high."""
        low, high = self.prior_interval(level)
        return pd.DataFrame({"class": self.classes, "estimate": self.model.prior, "low": low, "high": high})

    def accuracy(self, level: float = LEVEL) -> pd.DataFrame:
        """Return a table of the workers: worker, labels (given), estimate, low, high of Pr(label is right)."""
        estimate = worker_accuracy(self.model)
        spread = np.std([worker_accuracy(draw) for draw in self.draws], axis=0)
        low, high = probability_intervals(estimate, spread, self.labels_given, level)
        return pd.DataFrame(
            {
                "worker": self.workers,
                "labels": self.labels_given.astype(int),
                "estimate": estimate,
                "low": low,
                "high": high,
            }
        )

    def confusion(self, level: float = LEVEL) -> pd.DataFrame:
        """Return a table of Pr(worker says `said` | class `true`): worker, said, true, estimate, low, high."""
        low, high = self.cell_intervals(level)
        ids = pd.MultiIndex.from_product([self.workers, self.classes, self.classes], names=["worker", "said", "true"])
        cells = {"estimate": self.model.stacked.ravel(), "low": low.ravel(), "high": high.ravel()}
        return pd.DataFrame(cells, index=ids).reset_index()

    def intervals(self, level: float = LEVEL) -> pd.DataFrame:
        """Return all of them as one long table, `quantity` being prior, accuracy or confusion."""
        tables = {
            "prior": self.prior(level).rename(columns={"class": "true"}),
            "accuracy": self.accuracy(level).drop(columns="labels"),
            "confusion": self.confusion(level),
        }
        long = pd.concat(tables, names=["quantity"]).reset_index(level=0).reset_index(drop=True)
        return long[["quantity", "worker", "said", "true", "estimate", "low", "high"]]


def bootstrap(
    method: Aggregator,
    labels: CrowdLabels,
    n_draws: int = 200,
    random_state: Seed = None,
    n_jobs: int = 1,
    verbose: bool = False,
) -> CrowdBootstrap:
    """Fit a method again to tasks drawn with replacement: how far its model would move on another set of tasks.

    Parameters
    ----------
    method : Aggregator
        Fitted on `labels`, or not fitted yet.
    labels : CrowdLabels
    n_draws, random_state, n_jobs, verbose
        See `resample`; the result is the same at any number of jobs.

    Returns
    -------
    CrowdBootstrap
        `prior`, `accuracy`, `confusion`, `intervals`, each a table for the level asked for; `interval` for any other
        function of the model.

    Raises
    ------
    CofactorError
        As `fit` and `resample`, or `method` was fitted on another crowd.

    Cost
    ----
    That of `n_draws` fits. Methods that end in EM are fitted again by EM from their model, which takes fewer rounds
    and stays in its basin; the others start anew.

    Source and deviations
    ---------------------
    See `cofactor.core.bootstrap`. Intervals hold the truth of a crowd that is as the Dawid-Skene model has it; that
    tasks differ in difficulty they do not know.

    Examples
    --------
    >>> from cofactor import crowd, simulate
    >>> labels = simulate.crowd(simulate.dawid_skene_model(8, 2, skill=0.6, random_state=0), 200, random_state=0).labels
    >>> found = crowd.bootstrap(crowd.DawidSkene(), labels, n_draws=50, random_state=0)
    >>> found.accuracy(level=0.9).round(2).head(2)
       worker  labels  estimate   low  high
    0       0      55      0.73  0.58  0.85
    1       1      59      0.79  0.64  0.89
    """
    require_labels(labels)
    fitted = method if hasattr(method, "model_") else clone(method).fit(labels)
    fitted._check_same_crowd(labels)
    model, rows = fitted.model_, seen_rows(labels.table)
    table = labels.table.take_rows(rows)
    settings = (len(rows), n_draws, random_state, n_jobs, verbose)
    if ends_in_em(method):
        found = resample(partial(refit_by_em, table=table, model=model), *settings)
        warn_of_unfinished([converged for _, converged in found])
        draws = [draw for draw, _ in found]
    else:
        draws = resample(partial(_refit, method=clone(method), labels=labels.take_tasks(rows), model=model), *settings)
    given = labels.table.entries_per_variable.astype(np.float64)
    counts = observations(table, model)
    return CrowdBootstrap(model, tuple(draws), counts, len(rows), labels.workers, labels.classes, given)


def ends_in_em(method: Aggregator) -> bool:
    """Whether a method's model is a maximum of the likelihood, so that EM can go on from it."""
    return (method.em or isinstance(method, MultiStartEM)) and not getattr(method, "paper_protocol", False)


def _refit(rows: Rows, method: Aggregator, labels: CrowdLabels, model: LatentClassModel) -> LatentClassModel:
    return clone(method).fit(labels.take_tasks(rows)).model_.align_to(model)

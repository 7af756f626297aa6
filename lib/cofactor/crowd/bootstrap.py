r"""How sure an aggregator is of its crowd: intervals for prior, accuracies and confusion matrices.

Tasks are drawn with replacement and the method is fitted again. That shows how far the fit would move on other tasks,
but not where it is wrong, since all refits share its assumption that workers err independently. `WorkerTypes` says how
far its labels can be wrong, by its tempered probabilities. So its estimate of a worker's accuracy is the mean
probability of the worker's labels, and the variance has three parts:

    symbol   meaning                                                                            shape
    p_i      tempered probabilities of task i                                                   (K,)
    a_w      mean over the n_w labels (i, l) of worker w of p_il: the estimated accuracy        (workers,)
    u_w      mean over them of p_il (1 - p_il)                                                  (workers,)
    s_w      standard deviation of a_w over refits to tasks drawn anew, started from the vote   (workers,)

    variance = s_w^2 + (MODEL_ERROR_FACTOR u_w)^2 + (u_w + a_w (1 - a_w)) / n_w

The second part is the model's error: probabilities that are too high or too low are so on many tasks at once, and only
where they are neither 0 nor 1. The third is chance: whether the labels are right, and that n_w labels stand for all
that the worker would give.
"""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cofactor.core.bootstrap import (
    LEVEL,
    REFIT_ROUNDS,
    REFIT_TOL,
    START_FLOOR,
    ModelBootstrap,
    Rows,
    observations,
    probability_intervals,
    resample,
    seen_rows,
    warn_of_unfinished,
)
from cofactor.core.checks import check_kind
from cofactor.core.em import iterate_em, soft_counts
from cofactor.core.errors import ConvergenceWarning
from cofactor.core.estimator import clone
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints, Seed
from cofactor.crowd.aggregators import MultiStartEM
from cofactor.crowd.base import Aggregator, require_labels, worker_accuracy
from cofactor.crowd.evidence import UNKNOWN, Evidence
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.method import WorkerTypes
from cofactor.crowd.priors import prior_cells

MODEL_ERROR_FACTOR = 0.6  # of u_w; chosen on public crowds, see docs/default.md


@dataclass(frozen=True, repr=False)
class CrowdBootstrap(ModelBootstrap):
    """The model of a crowd with its refits; see `bootstrap`.

    Attributes
    ----------
    workers, classes : lists
        Ids, in the order of the model.
    labels_given : (n_workers,) array
    right, right_spread : (n_workers,) arrays
        Estimated accuracy of every worker, and its standard deviation.
    model, draws, counts, n_rows, other : see `ModelBootstrap`
        `other` is, for WorkerTypes, the model in which tempered probabilities count as soft classes.
    """

    workers: list[Any]
    classes: list[Any]
    labels_given: Floats
    right: Floats
    right_spread: Floats

    def prior(self, level: float = LEVEL) -> pd.DataFrame:
        """Return a table of the classes: class, estimate, low, high."""
        low, high = self.prior_interval(level)
        return pd.DataFrame({"class": self.classes, "estimate": self.model.prior, "low": low, "high": high})

    def accuracy(self, level: float = LEVEL) -> pd.DataFrame:
        """Return a table of the workers: worker, labels (given), estimate, low, high of Pr(label is right)."""
        low, high = probability_intervals(self.right, self.right_spread, self.labels_given, level)
        columns = {"worker": self.workers, "labels": self.labels_given.astype(int), "estimate": self.right}
        return pd.DataFrame(columns | {"low": low, "high": high})

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
    """Fit a method again to tasks drawn with replacement: how sure one may be of its workers and classes.

    Parameters
    ----------
    method : Aggregator
        Fitted on `labels`, or not fitted yet.
    labels : CrowdLabels
    n_draws, random_state, n_jobs, verbose
        See `resample`; the result is the same at any number of jobs. 50 draws do for WorkerTypes, whose intervals come
        mostly from what refits cannot show.

    Raises
    ------
    CofactorError
        As `fit` and `resample`, or `method` was fitted on another crowd.

    Cost
    ----
    That of `n_draws` fits, and for WorkerTypes as many posteriors. Methods that end in EM are fitted again by EM from
    their model, which takes fewer rounds and stays in its basin; the others start anew.

    Source and deviations
    ---------------------
    See `cofactor.core.bootstrap`; the variance of an accuracy under WorkerTypes is this kit's own, see the top of this
    module. On 29 public crowds, intervals of 90 per cent hold the accuracy of 87 to 100 workers in 100 on 22, of 50 to
    76 on five, and of nobody on two, where labels of a task repeat one another unseen: see docs/default.md.
    Intervals of other methods hold the truth only if the Dawid-Skene model does: on 23 of these crowds, those of
    maximum likelihood hold 55.

    Examples
    --------
    >>> from cofactor import crowd, simulate
    >>> labels = simulate.crowd(simulate.dawid_skene_model(8, 2, skill=0.6, random_state=0), 200, random_state=0).labels
    >>> found = crowd.bootstrap(crowd.WorkerTypes(), labels, n_draws=50, random_state=0)
    >>> found.accuracy(level=0.9).round(1).head(2)
       worker  labels  estimate  low  high
    0       0      55       0.7  0.5   0.9
    1       1      59       0.7  0.5   0.9
    """
    fitted = fitted_on(method, labels)
    settings = (n_draws, random_state, n_jobs, verbose)
    if isinstance(fitted, WorkerTypes):
        return _bootstrap_types(fitted, labels, settings)
    draws = _draws(fitted, labels, settings)
    spread = np.std([worker_accuracy(draw) for draw in draws], axis=0)
    return _collected(fitted, labels, draws, worker_accuracy(fitted.model_), spread)


def fitted_on(method: Aggregator, labels: CrowdLabels) -> Aggregator:
    """Return the method, if it was fitted on this crowd, or a copy that is fitted now."""
    require_labels(labels)
    check_kind(Aggregator, method=method)
    fitted = method if hasattr(method, "model_") else clone(method).fit(labels)
    fitted._check_same_crowd(labels)
    return fitted


def estimated_accuracy(method: Aggregator, labels: CrowdLabels) -> Floats:
    """Return the estimated accuracy of every worker: by WorkerTypes a_w, by other methods that of their model.

    With a prior, the model's accuracy is that of the prior for workers of few labels; a_w is not.
    """
    if isinstance(method, WorkerTypes):
        return mean_over_labels(labels, of_labels(labels, method.predict_proba(labels)))
    return worker_accuracy(method.model_)


def mean_over_labels(labels: CrowdLabels, values: Floats) -> Floats:
    """Return the mean of each worker's labels of a value given per label; of a worker without labels, that of all.

    Of several answers of a worker to one task, each counts its share.
    """
    owner, share = labels.table.variables, labels.table.indicator.data
    total, given = (np.bincount(owner, amount, minlength=labels.n_workers) for amount in (values * share, share))
    return np.asarray(np.where(given > 0, total / np.where(given > 0, given, 1), values.mean()))


def of_labels(labels: CrowdLabels, posterior: Floats) -> Floats:
    """Probability of being right of every single label."""
    return posterior[labels.table.rows, labels.table.values]


def _collected(
    fitted: Aggregator,
    labels: CrowdLabels,
    draws: list[LatentClassModel],
    right: Floats,
    spread: Floats,
    other: LatentClassModel | None = None,
) -> CrowdBootstrap:
    rows = seen_rows(labels.table)
    counts = observations(labels.table.take_rows(rows), fitted.model_)
    given = labels.table.entries_per_variable.astype(np.float64)
    return CrowdBootstrap(
        *(fitted.model_, tuple(draws), counts, len(rows), labels.workers, labels.classes, given, right, spread),
        other=other,
    )


# ---- methods that say nothing of the model's error ----


def _draws(fitted: Aggregator, labels: CrowdLabels, settings: tuple[Any, ...]) -> list[LatentClassModel]:
    seen = labels.take_tasks(seen_rows(labels.table))
    if not ends_in_em(fitted):
        refit = partial(_refit, method=clone(fitted), labels=seen, model=fitted.model_)
        return resample(refit, seen.n_tasks, *settings)
    refit_em = partial(_refit_by_em, labels=seen, gold=_gold(fitted, seen), model=fitted.model_)
    found = resample(refit_em, seen.n_tasks, *settings)
    warn_of_unfinished([converged for _, converged in found])
    return [draw for draw, _ in found]


def ends_in_em(method: Aggregator) -> bool:
    """Whether a method's model is a maximum of the likelihood, so that EM can go on from it."""
    return method.em or isinstance(method, MultiStartEM)


def _refit(rows: Rows, method: Aggregator, labels: CrowdLabels, model: LatentClassModel) -> LatentClassModel:
    return clone(method).fit(labels.take_tasks(rows)).model_.align_to(model)


def _refit_by_em(
    rows: Rows, labels: CrowdLabels, gold: Ints | None, model: LatentClassModel
) -> tuple[LatentClassModel, bool]:
    """EM on redrawn tasks from the model of all tasks: aligned to it, and whether it converged.

    Without pseudo-counts, whose pull towards one matrix would make all refits alike.
    """
    evidence = Evidence.of(labels.take_tasks(rows), None if gold is None else gold[rows])
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # the caller counts them
        found, result = iterate_em(evidence.e_step, model.lift(START_FLOOR), REFIT_ROUNDS, REFIT_TOL)
    return (found if gold is not None else found.align_to(model)), result.converged


def _gold(fitted: Aggregator, labels: CrowdLabels) -> Ints | None:
    """Codes of the tasks that were gold in the fit."""
    if not fitted.gold_:
        return None
    return np.array([fitted.gold_.get(task, UNKNOWN) for task in labels.tasks], dtype=np.int64)


# ---- WorkerTypes, which does ----


def _bootstrap_types(fitted: WorkerTypes, labels: CrowdLabels, settings: tuple[Any, ...]) -> CrowdBootstrap:
    """Return the model with its refits, and the accuracies by the formulas at the top of this module."""
    seen = labels.take_tasks(seen_rows(labels.table))
    refit = partial(_refit_types, fitted=fitted, labels=seen, gold=_gold(fitted, seen))
    found = resample(refit, seen.n_tasks, *settings)
    warn_of_unfinished([converged for _, _, converged in found])
    tempered = fitted.predict_proba(seen)
    right, variance = _right(seen, tempered)
    spread = np.sqrt(np.var([share for _, share, _ in found], axis=0) + variance)
    cells = np.tile(prior_cells((fitted.diagonal, fitted.off), labels.n_classes), (labels.n_workers, 1))
    other = soft_counts(seen.table, tempered).model(cells)
    return _collected(fitted, labels, [draw for draw, _, _ in found], right, spread, other)


def _right(labels: CrowdLabels, posterior: Floats) -> tuple[Floats, Floats]:
    """Return a_w, and the parts of its variance that refits do not show."""
    p = of_labels(labels, posterior)
    right, unsure = mean_over_labels(labels, p), mean_over_labels(labels, p * (1 - p))
    chance = (unsure + right * (1 - right)) / np.maximum(labels.table.entries_per_variable, 1)
    return right, (MODEL_ERROR_FACTOR * unsure) ** 2 + chance


def _refit_types(
    rows: Rows, fitted: WorkerTypes, labels: CrowdLabels, gold: Ints | None
) -> tuple[LatentClassModel, Floats, bool]:
    """Fit redrawn tasks from their votes, with the same copies: model, accuracies on all tasks, if it converged."""
    again = copy(fitted)
    again.verbose, again.design_effect = False, fitted.design_effect_
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # the caller counts them
        again.refit(labels.take_tasks(rows), None if gold is None else gold[rows])
    posterior = again.predict_proba(labels)
    return again.model_, mean_over_labels(labels, of_labels(labels, posterior)), again.result_.converged

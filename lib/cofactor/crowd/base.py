"""What every aggregator has in common: fit, predict, and the check that labels and model belong together."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from cofactor.core.alignment import match_classes
from cofactor.core.em import em, maximization
from cofactor.core.errors import CofactorError, listing
from cofactor.core.latent_class import LatentClassModel, map_class
from cofactor.core.result import Result
from cofactor.core.tables import Ints
from cofactor.crowd.labels import CrowdLabels

Floats = NDArray[np.float64]


class Aggregator(BaseEstimator):
    """Base class: turns crowd labels into one label per task.

    A method implements `_estimate`, which returns the Dawid-Skene model and how its iteration went; where `em` is
    set, expectation-maximisation goes on from there.

    Attributes after `fit`
    ----------------------
    model_ : LatentClassModel
        Class prior (K,) and one (K, K) annotator confusion matrix per worker, Pr(label i | class c) in [i, c].
    result_ : Result
        Of the last iterative stage.
    workers_, classes_ : lists
        The ids fitted on; `predict` refuses labels of other workers or classes.
    """

    model_: LatentClassModel
    result_: Result
    workers_: list[Any]
    classes_: list[Any]

    def __init__(self, em: bool = False, random_state: int | None = None, verbose: bool = False) -> None:
        self.em = em
        self.random_state = random_state  # the methods here are deterministic; part of the common signature
        self.verbose = verbose

    def fit(self, labels: CrowdLabels) -> Self:
        """Estimate the model from labels; returns self."""
        require_labels(labels)
        model, result = self._estimate(labels)
        if self.em:
            model, result = self._refine(model, labels)
        self.model_, self.result_ = model, result
        self.workers_, self.classes_ = labels.workers, labels.classes
        return self

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        raise NotImplementedError

    def _refine(self, model: LatentClassModel, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        return refine(model, labels, self.verbose)

    def predict_proba(self, labels: CrowdLabels) -> Floats:
        """Return the (n_tasks, n_classes) posterior of every task; a task without labels gets the prior."""
        self._check_same_crowd(labels)
        return self.model_.posterior(labels.table)

    def predict(self, labels: CrowdLabels) -> Ints:
        """Return the (n_tasks,) class codes; ties go to the class with the larger prior, then to the lower code."""
        return map_class(self.predict_proba(labels), self.model_.prior)

    def _check_same_crowd(self, labels: CrowdLabels) -> None:
        require_labels(labels)
        if not hasattr(self, "model_"):
            raise CofactorError(f"{type(self).__name__} is not fitted yet: call fit(labels) first")
        if not np.array_equal(labels.table.sizes, self.model_.sizes):
            raise CofactorError(
                f"fitted on {self.model_.n_variables} workers and {self.model_.n_classes} classes, "
                f"asked about {labels.n_workers} and {labels.n_classes}: give labels of the same crowd"
            )
        fitted = [*self.workers_, *self.classes_]
        asked = [*labels.workers, *labels.classes]
        other = [f"{new!r} for {old!r}" for old, new in zip(fitted, asked, strict=True) if old != new]
        if other:
            raise CofactorError(f"not the workers and classes fitted on, in the same order: {listing(other)}")


class TaskScorer(Aggregator):
    """Base class of methods that score the tasks themselves instead of fitting a model that could score others.

    A method implements `_score`, which returns (N, K) class probabilities of the tasks and how its iteration went.
    `model_` then holds the Dawid-Skene model in which these count as soft classes; with `em`, EM goes on from it.

    Attributes after `fit`
    ----------------------
    posterior_ : (n_tasks, n_classes) array
        The scores, for the tasks fitted on.
    model_, result_, workers_, classes_ : see `Aggregator`
    """

    posterior_: Floats

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        raise NotImplementedError

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        self.posterior_, result = self._score(labels)
        self._fitted = labels.table.indicator
        labelled = labels.table.entries_per_row > 0
        return maximization(labels.table.take_rows(labelled), self.posterior_[labelled]), result

    def predict_proba(self, labels: CrowdLabels) -> Floats:
        """Return the (n_tasks, n_classes) scores of the tasks fitted on; after EM, the posterior of any tasks."""
        if self.em:
            return super().predict_proba(labels)
        self._check_same_crowd(labels)
        same = labels.table.indicator.shape == self._fitted.shape and (labels.table.indicator != self._fitted).nnz == 0
        if not same:
            name = type(self).__name__
            raise CofactorError(
                f"{name} scores only the labels it was fitted on: fit it on these, "
                "or use model_.posterior(labels.table)"
            )
        return self.posterior_


def require_labels(labels: object) -> None:
    """Refuse anything but `CrowdLabels`, and say how to make one."""
    if not isinstance(labels, CrowdLabels):
        kind = type(labels).__name__
        raise CofactorError(f"expected CrowdLabels, got {kind}: make them with CrowdLabels.from_frame or from_arrays")


def vote_shares(labels: CrowdLabels) -> Floats:
    """Return the (N, K) share of each label among a task's votes; uniform where there are none (a K-way tie)."""
    totals = labels.votes.sum(axis=1, keepdims=True)
    return np.where(totals > 0, labels.votes / np.maximum(totals, 1), 1.0 / labels.n_classes)


def vote_model(labels: CrowdLabels, pseudo_count: float = 0.0) -> LatentClassModel:
    """Return the Dawid-Skene model in which vote shares count as soft classes (one M-step)."""
    labelled = labels.table.entries_per_row > 0
    if not labelled.any():
        raise CofactorError("no task has a label")
    return maximization(labels.table.take_rows(labelled), vote_shares(labels)[labelled], pseudo_count)


def refine(model: LatentClassModel, labels: CrowdLabels, verbose: bool = False) -> tuple[LatentClassModel, Result]:
    """Run EM from a model, then name the classes anew, since EM from a poor start can swap them."""
    model, result = em(labels.table, model, verbose=verbose)
    return name_classes(model, labels), result


def name_classes(model: LatentClassModel, labels: CrowdLabels) -> LatentClassModel:
    """Order the hidden classes so that they agree most with the majority votes; no ground truth is used."""
    labelled = labels.table.entries_per_row > 0
    posterior = model.posterior(labels.table)[labelled]
    return model.reorder(match_classes(vote_shares(labels)[labelled], posterior))


def tied_share(labels: CrowdLabels) -> float:
    """Share of all tasks on which the vote is tied, those without any label included."""
    top = labels.votes.max(axis=1, keepdims=True)
    return float(np.mean(np.sum(labels.votes == top, axis=1) > 1))


def worker_accuracy(model: LatentClassModel) -> Floats:
    """Return (M,) Pr(label is the true class) = sum_c lambda_c A_m[c, c] of every annotator."""
    other = np.flatnonzero(model.sizes != model.n_classes)
    if other.size:
        raise CofactorError(f"not one label per class, as a crowd's model has: variables {listing(other.tolist())}")
    return np.array([model.prior @ np.diag(A) for A in model.conditionals])


def error_rate(predicted: ArrayLike, truth: ArrayLike) -> float:
    """Share of tasks with known truth that are labelled wrongly.

    Parameters
    ----------
    predicted : (N,) class codes, or (N, K) scores such as posteriors or vote shares
        Of scores, the largest counts; a tie of t classes that includes the true one counts 1 - 1/t.
    truth : (N,) class codes, -1 where unknown

    Raises
    ------
    CofactorError
        Lengths differ, or no truth is known.

    Examples
    --------
    >>> error_rate([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]], truth=[0, 1, -1])
    0.75
    """
    return float(1 - right_shares(predicted, truth).mean())


def right_shares(predicted: ArrayLike, truth: ArrayLike) -> Floats:
    """Tell of every task with known truth whether it is labelled rightly: 1, 0, or 1/t in a tie of t classes.

    Parameters, errors and the rule for ties are those of `error_rate`, which is one minus their mean.

    Examples
    --------
    >>> right_shares([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]], truth=[0, 1, -1]).tolist()
    [0.5, 0.0]
    """
    predicted, truth = np.asarray(predicted), np.asarray(truth)
    if truth.dtype.kind not in "iu" or predicted.dtype.kind not in "iuf":
        raise CofactorError(f"class codes or scores are needed, got {predicted.dtype} and truth {truth.dtype}")
    if len(predicted) != len(truth):
        raise CofactorError(f"truth of the wrong length: {len(truth)} entries for {len(predicted)} tasks (-1: unknown)")
    known = truth >= 0
    if not known.any():
        raise CofactorError("the truth of no task is known (-1 means unknown)")
    predicted, truth = predicted[known], truth[known]
    if predicted.ndim > 1 and (truth.max() >= predicted.shape[1] or np.isnan(predicted).any()):
        raise CofactorError(f"scores of {predicted.shape[1]} classes without NaN, and truth below that, are needed")
    if predicted.ndim == 1:
        return np.asarray(predicted == truth, dtype=np.float64)
    tied = predicted >= predicted.max(axis=1, keepdims=True) - 1e-9
    return np.asarray(tied[np.arange(len(truth)), truth] / tied.sum(axis=1))

"""Majority vote, and Dawid-Skene EM started from it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cofactor.core.checks import is_number
from cofactor.core.em import maximization
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import pd
from cofactor.core.result import History, Result
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import (
    EM_ROUNDS,
    EM_TOL,
    PRIOR,
    Aggregator,
    Labels,
    PseudoCounts,
    as_labels,
    vote_model,
)
from cofactor.crowd.evidence import Gold
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.priors import own_class

CLOSED_FORM = Result(np.zeros(0), 0, True, "closed form")
TINY = 1e-12


@dataclass(eq=False, repr=False)
class MajorityVote(Aggregator):
    """Let the most frequent label of each task win; where skills of workers are known, the label of most weight.

    `predict_proba` returns vote shares (uniform for a task without labels); `model_` holds the confusion matrices
    that result when these shares count as soft truth. `predict` breaks ties as every aggregator does; score
    `predict_proba` with `error_rate` to split ties instead.

    Parameters
    ----------
    skills : dict or Series of worker to weight, optional
        Weights of the votes, at least zero; workers without one get the mean, with a `DataWarning`. Where gold tasks
        are given to `fit` and no skills, the skill of a worker is the share of the gold tasks they labelled rightly.
        Default: all equal.
    random_state, verbose
        See `Aggregator`; the method is deterministic.

    Attributes after `fit`
    ----------------------
    weights_ : (n_workers,) array

    Raises `CofactorError` in `fit`: a skill is no number of at least zero, all are zero, or are of no worker there is.
    Cost: O(labels). Source: the baseline of every table of Ibrahim and Fu, ICML 2021. Skills as in crowd-kit
    (`MajorityVote(skills)` and `GoldMajorityVote`).

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [1, 0, 0, 1, 1, 0])
    >>> MajorityVote(skills={0: 0.9, 1: 0.4, 2: 0.4}).fit(labels).predict(labels).tolist()
    [1, 1]
    """

    takes_shares = True
    skills: Mapping[Any, float] | pd.Series[Any] | None = None
    random_state: int | None = None
    verbose: bool = False

    def _takes_gold(self) -> bool:
        return True

    def _fit(self, labels: CrowdLabels, gold: Ints | None) -> None:
        self.weights_ = self._skills(labels, gold)
        if np.ptp(self.weights_) == 0:
            self.model_ = vote_model(labels)
        else:
            seen = labels.take_tasks(labels.table.entries_per_row > 0)
            self.model_ = maximization(seen.table, weighted_shares(seen, self.weights_))
        self.result_ = CLOSED_FORM

    def _skills(self, labels: CrowdLabels, gold: Ints | None) -> Floats:
        if self.skills is not None:
            if not isinstance(self.skills, Mapping | pd.Series):
                raise CofactorError(f"skills are a dict or a Series by worker, got {type(self.skills).__name__}")
            return known_skills(dict(self.skills.items()), labels.workers)
        return np.ones(labels.n_workers) if gold is None else skills_on_gold(labels, gold)

    def _posterior(self, labels: CrowdLabels) -> Floats:
        """Return the (n_tasks, n_classes) weighted shares; who was not there in `fit` counts as the mean."""
        place = {worker: m for m, worker in enumerate(self.workers_)}
        everybody = np.append(self.weights_, self.weights_.mean())
        return weighted_shares(labels, everybody[[place.get(worker, -1) for worker in labels.workers]])


def known_skills(skills: Mapping[Any, float], workers: Sequence[Any]) -> Floats:
    """Return the (M,) weights of workers; without one, the mean of the others."""
    bad = [repr(worker) for worker, skill in skills.items() if not (is_number(skill) and 0 <= skill < np.inf)]
    if bad:
        raise CofactorError(f"a skill is a number of at least zero, the weight of a vote; not so for {listing(bad)}")
    weights = np.array([skills.get(worker, np.nan) for worker in workers], dtype=np.float64)
    if not np.nansum(weights) > 0:
        raise CofactorError(f"no worker has a skill above zero; skills are of {listing(map(repr, skills))}")
    return _filled(weights, workers, "without a skill")


def skills_on_gold(labels: CrowdLabels, gold: Ints) -> Floats:
    """Return the (M,) share of the gold tasks that each worker labelled rightly; of who saw none, the mean."""
    table = labels.table
    known, weight = gold[table.rows] >= 0, table.indicator.data
    right = known & (table.values == gold[table.rows])
    asked, hits = (np.bincount(table.variables, weight * part, labels.n_workers) for part in (known, right))
    if not hits.any():
        raise CofactorError("no worker labelled a gold task rightly: skills cannot be learned from these")
    return _filled(np.where(asked > 0, hits / np.maximum(asked, TINY), np.nan), labels.workers, "who saw no gold task")


def _filled(weights: Floats, workers: Sequence[Any], who: str) -> Floats:
    missing = np.flatnonzero(np.isnan(weights)).tolist()
    if missing:
        found = listing(repr(workers[m]) for m in missing)
        warnings.warn(f"workers {who} count as the mean of the others: {found}", DataWarning, stacklevel=5)
    return np.where(np.isnan(weights), np.nanmean(weights), weights)


def weighted_shares(labels: CrowdLabels, weights: Floats) -> Floats:
    """Return (N, K) shares of the votes of workers who count `weights`; plain shares where no vote has any weight."""
    columns = np.kron(weights[:, None], np.eye(labels.n_classes))
    votes = np.asarray(labels.table.indicator @ columns)
    totals = votes.sum(axis=1, keepdims=True)
    return np.where(totals > 0, votes / np.where(totals > 0, totals, 1.0), vote_shares(labels))


@dataclass(eq=False, repr=False)
class MVEM(Aggregator):
    """MV-EM: the Dawid-Skene model by EM, started from the majority vote.

    Where majority vote is a poor start, it stays in the wrong basin. Without a prior (`pseudo_counts=(0, 0)`) it
    overfits workers of few labels.

    Parameters
    ----------
    pseudo_counts : (float, float)
        The prior, see `Aggregator`; (0, 0) is the maximum likelihood of 1979.
    max_iter, tol
        Most rounds, and the relative change of the objective that ends them.
    random_state, verbose
        See `Aggregator`; the method is deterministic.

    Cost: O(labels K) per round. Source: Dawid and Skene, 1979. Deviations from the code released with the ICML 2021
    paper: confusion matrices have a prior, the class prior is estimated, posteriors are computed in the log domain
    (there, one task without a label turns everything to NaN), and rounds go on until the posterior settles instead of
    ten.
    """

    em, takes_shares = True, True
    pseudo_counts: PseudoCounts = PRIOR
    max_iter: int = EM_ROUNDS
    tol: float = EM_TOL
    random_state: int | None = None
    verbose: bool = False

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        return vote_model(labels, unseen=own_class(labels)), CLOSED_FORM

    def _limits(self) -> tuple[int, float]:
        return self.max_iter, self.tol

    def rounds(self, labels: Labels, gold: Gold | None = None) -> Iterator[LatentClassModel]:
        """Yield the model of the vote, then the model after every round, to look at them one by one.

        Parameters as in `fit`, which goes through the same rounds, and at the end names the classes by the votes. The
        iterator ends as `fit` does, by `tol` or `max_iter`, without a warning. Cost: O(labels K) for each model.

        Examples
        --------
        >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
        >>> for model in MVEM(max_iter=2).rounds(labels):
        ...     print(model.posterior(labels.table)[0].round(3))
        [0.889 0.111]
        [0.865 0.135]
        [0.856 0.144]
        """
        known = as_labels(labels)
        codes = None if gold is None else self._checked_gold(gold, known)
        model, _ = self._estimate(known)
        yield model
        yield from self._rounds(model, known, codes, History("EM", *self._limits()))

"""Majority vote, and Dawid-Skene EM started from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.result import Result
from cofactor.core.types import Floats
from cofactor.crowd.base import PRIOR, Aggregator, PseudoCounts, vote_model
from cofactor.crowd.labels import CrowdLabels, vote_shares

CLOSED_FORM = Result(np.zeros(0), 0, True, "closed form")


@dataclass(eq=False, repr=False)
class MajorityVote(Aggregator):
    """Let the most frequent label of each task win.

    `predict_proba` returns vote shares (uniform for a task without labels); `model_` holds the confusion matrices
    that result when these shares count as soft truth. `predict` breaks ties as every aggregator does; score
    `predict_proba` with `error_rate` to split ties instead.

    Cost: O(labels). Source: the baseline of every table of Ibrahim and Fu, ICML 2021.
    """

    random_state: int | None = None
    verbose: bool = False

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        return vote_model(labels), CLOSED_FORM

    def _posterior(self, labels: CrowdLabels) -> Floats:
        """Return the (n_tasks, n_classes) vote shares."""
        return vote_shares(labels)


@dataclass(eq=False, repr=False)
class DawidSkene(Aggregator):
    """MV-EM: the Dawid-Skene model by EM, started from the majority vote.

    Where majority vote is a poor start, it stays in the wrong basin. Without a prior (`pseudo_counts=(0, 0)`) it
    overfits workers of few labels.

    Parameters
    ----------
    pseudo_counts : (float, float)
        The prior, see `Aggregator`; (0, 0) is the maximum likelihood of 1979.
    random_state, verbose
        See `Aggregator`; the method is deterministic.

    Cost: O(labels K) per round. Source: Dawid and Skene, 1979. Deviations from the code released with the ICML 2021
    paper: confusion matrices have a prior, the class prior is estimated, posteriors are computed in the log domain
    (there, one task without a label turns everything to NaN), and rounds go on until the posterior settles instead of
    ten.
    """

    em = True
    pseudo_counts: PseudoCounts = PRIOR
    random_state: int | None = None
    verbose: bool = False

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        return vote_model(labels), CLOSED_FORM

"""Majority vote, and Dawid-Skene EM started from it."""

from __future__ import annotations

import numpy as np

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.result import Result
from cofactor.crowd import paper_protocol as released
from cofactor.crowd.base import Aggregator, Floats, vote_model, vote_shares
from cofactor.crowd.labels import CrowdLabels

START = Result(np.zeros(0), 0, True, "closed form")


class MajorityVote(Aggregator):
    """Let the most frequent label of each task win.

    `predict_proba` returns vote shares (uniform for a task without labels); `model_` holds the confusion matrices
    that result when these shares count as soft truth. `predict` breaks ties as every aggregator does; score
    `predict_proba` with `error_rate` to split ties instead.

    Cost: O(labels). Source: the baseline of every table of Ibrahim and Fu, ICML 2021.
    """

    def __init__(self, random_state: int | None = None, verbose: bool = False) -> None:
        super().__init__(random_state=random_state, verbose=verbose)

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        return vote_model(labels), START

    def predict_proba(self, labels: CrowdLabels) -> Floats:
        """Return the (n_tasks, n_classes) vote shares."""
        self._check_same_crowd(labels)
        return vote_shares(labels)


class DawidSkene(Aggregator):
    """MV-EM: the Dawid-Skene model by EM, started from the majority vote.

    The strong baseline: where workers are mostly honest, nothing beats it by much. Where majority vote is a poor
    start, it stays in the wrong basin.

    Cost: O(labels K) per round. Source: Dawid and Skene, 1979. Deviations from the code released with the ICML 2021
    paper: the prior is estimated, posteriors are computed in the log domain (there, one task without a label turns
    everything to NaN), and rounds go on until the likelihood settles instead of ten. With `paper_protocol`, the prior
    stays uniform and there are ten rounds, see `cofactor.crowd.paper_protocol.votes_em`.
    """

    def __init__(
        self, random_state: int | None = None, verbose: bool = False, paper_protocol: released.Which = False
    ) -> None:
        super().__init__(em=True, random_state=random_state, verbose=verbose)
        self.paper_protocol = paper_protocol

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        return vote_model(labels), START

    def _refine(self, model: LatentClassModel, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        if self.paper_protocol:
            return released.votes_em(labels, self.verbose)
        return super()._refine(model, labels)

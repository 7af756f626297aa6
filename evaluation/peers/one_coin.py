"""One-coin Dawid-Skene: a worker has one accuracy for all classes, and errors are uniform.

    Pr(label l of worker j | class c) = p_j if l = c, else (1 - p_j) / (K - 1)

    symbol   meaning                                                                 shape
    p_j      chance that worker j is right                                           (M,)
    T        expected counts of (label, class) for every worker                      (M K, K)
    r, w     labels imagined for every worker before the first, right and wrong ones

Source: Zhang, Chen, Zhou and Jordan, "Spectral methods meet EM", JMLR 2016, the one-coin model and its EM updates, with
a uniform class prior as there. Deviations: EM starts from vote shares instead of moments, and pseudo-counts keep the
accuracies away from 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlog1py, xlogy

from cofactor.core.em import SoftCounts, expectation, soft_counts
from cofactor.core.estimator import History, Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.types import Floats
from cofactor.crowd.base import Aggregator
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.model import PseudoCounts


@dataclass(eq=False, repr=False)
class OneCoin(Aggregator):
    """Maximise sum_i log sum_c lambda_c prod_j Pr(label | c) + sum_j (r log p_j + w log(1 - p_j)) by EM.

    Parameters
    ----------
    pseudo_counts : (float, float)
        r and w. With (0, 0), the accuracy of a worker who always agrees is one, and their label decides alone.
    estimate_prior : bool
        Estimate the class prior lambda; by default it is uniform.

    After `fit`, `accuracy_` is p; 1/K for a worker without labels. Cost: O(labels K) time a round.
    """

    takes_shares = True
    pseudo_counts: PseudoCounts = (1.0, 1.0)
    estimate_prior: bool = False
    max_iter: int = 500
    tol: float = 1e-6
    random_state: int | None = None

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        labelled, (r, w) = labels.table.entries_per_row > 0, self.pseudo_counts
        seen = labels.table.take_rows(labelled)
        counts = soft_counts(seen, vote_shares(labels)[labelled])
        history = History("OneCoin", self.max_iter, self.tol)
        for _ in history:
            p, model = self._maximise(counts)
            counts = expectation(seen, model)
            history.record(counts.log_likelihood + float(np.sum(xlogy(r, p) + xlog1py(w, -p))))
        self.accuracy_ = p
        return model, history.result()

    def _maximise(self, counts: SoftCounts) -> tuple[Floats, LatentClassModel]:
        K, (r, w) = len(counts.classes), self.pseudo_counts
        T = counts.cells.reshape(-1, K, K)
        right, n = np.trace(T, axis1=1, axis2=2), T.sum(axis=(1, 2))
        p = np.clip(np.where(n > 0, (right + r) / np.where(n > 0, n + r + w, 1.0), 1 / K), 0.0, 1.0)
        A = np.where(np.eye(K, dtype=bool), p[:, None, None], (1 - p[:, None, None]) / (K - 1))
        prior = counts.classes / counts.classes.sum() if self.estimate_prior else np.full(K, 1 / K)
        return p, LatentClassModel.from_stacked(prior, A.reshape(-1, K), counts.sizes)

"""One-coin Dawid-Skene: a worker is right with one chance, whatever the class, and errs evenly.

    Pr(label l of worker j | class c) = p_j if l = c, else (1 - p_j) / (K - 1)

    symbol   meaning                                                       shape
    p_j      chance that worker j is right                                 (M,)
    T        expected counts of (label, class) for every worker            (M K, K)
    r, w     labels imagined for every worker before the first, right and wrong ones

One number a worker instead of K (K - 1): fewer labels are enough, and errors that prefer a class are not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofactor.core.checks import check_whole
from cofactor.core.em import SoftCounts, expectation, soft_counts
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import special
from cofactor.core.result import History, Result
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats
from cofactor.crowd.base import Aggregator, PseudoCounts
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.priors import prior_cells


@dataclass(eq=False, repr=False)
class OneCoin(Aggregator):
    """Fit one accuracy a worker by EM from vote shares ("OneCoin").

    Maximises sum_i log sum_c lambda_c prod_j Pr(label | c) + sum_j (r log p_j + w log(1 - p_j)).

    Parameters
    ----------
    pseudo_counts : (float, float)
        r and w: labels imagined for every worker before the first, right ones and wrong ones of any class. With (0, 0),
        the accuracy of a worker who always agrees is one, and their label decides alone.
    estimate_prior : bool
        Estimate the class prior lambda. By default it is uniform, as in the source: where errors have a class that
        they prefer, a free prior takes their part.
    max_iter, tol, random_state, verbose
        Most rounds, and the relative change of the objective that ends them; see `Aggregator`, nothing is random.

    Attributes after `fit`
    ----------------------
    accuracy_ : (n_workers,) array
        p; 1/K for a worker without labels.
    model_, result_ : see `Aggregator`
        `result_.objective` is the objective in nats before each round; it never falls.

    Raises `CofactorError` in `fit`: no task has a label, or `pseudo_counts` are not two numbers of at least 0.

    Cost: O(labels K) time per round, O(M K^2) memory. Source: Zhang, Chen, Zhou and Jordan, "Spectral methods meet EM",
    JMLR 2016, the one-coin model and the EM updates for it, with a uniform class prior as there. Deviations: EM starts
    from vote shares instead of moments, and pseudo-counts keep the accuracies away from 0 and 1.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1])
    >>> OneCoin().fit(labels).predict(labels).tolist()
    [0, 1]
    """

    takes_shares = True
    pseudo_counts: PseudoCounts = (1.0, 1.0)
    estimate_prior: bool = False
    max_iter: int = 500
    tol: float = 1e-6
    random_state: int | None = None
    verbose: bool = False

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        prior_cells(self.pseudo_counts, labels.n_classes)  # refuses what is none
        check_whole(1, max_iter=self.max_iter)
        seen, shares = labelled_part(labels)
        counts = soft_counts(seen, shares)
        history = History("OneCoin", self.max_iter, self.tol, self.verbose)
        for _ in history:
            p, model = self._maximise(counts)
            counts = expectation(seen, model)
            history.record(counts.log_likelihood + self._log_prior(p))
        self.accuracy_ = p
        return model, history.result()

    def _maximise(self, counts: SoftCounts) -> tuple[Floats, LatentClassModel]:
        """M-step."""
        K = len(counts.classes)
        T, (r, w) = counts.cells.reshape(-1, K, K), self.pseudo_counts
        right, n = np.trace(T, axis1=1, axis2=2), T.sum(axis=(1, 2))
        p = np.where(n > 0, (right + r) / np.where(n > 0, n + r + w, 1.0), 1 / K)
        p = np.clip(p, 0.0, 1.0)  # against rounding
        A = np.where(np.eye(K, dtype=bool), p[:, None, None], (1 - p[:, None, None]) / (K - 1))
        prior = counts.classes / counts.classes.sum() if self.estimate_prior else np.full(K, 1 / K)
        return p, LatentClassModel.from_stacked(prior, A.reshape(-1, K), counts.sizes)

    def _log_prior(self, p: Floats) -> float:
        r, w = self.pseudo_counts
        return float(np.sum(special.xlogy(r, p) + special.xlog1py(w, -p)))


def labelled_part(labels: CrowdLabels) -> tuple[CategoricalTable, Floats]:
    """Return the tasks that have labels, and their vote shares; none is a `CofactorError`."""
    rows = labels.table.entries_per_row > 0
    if not rows.any():
        raise CofactorError("no task has a label")
    return labels.table.take_rows(rows), vote_shares(labels)[rows]

"""Dawid-Skene models fitted to second moments of the labels (CNMF), or to moments up to third order (TensorADMM).

Source: Ibrahim, Fu, Kargas and Huang, "Crowdsourcing via pairwise co-occurrences: identifiability and algorithms",
NeurIPS 2019 (CNMF); Traganitis, Pages-Zamora and Giannakis, "Blind multiclass ensemble classification", IEEE TSP 2018
(TensorADMM); both are baselines of Ibrahim and Fu, ICML 2021.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.estimator import Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.crowd.base import Aggregator, name_classes, vote_model
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.model import PRIOR, PseudoCounts
from cofactor.pmf.cnmf import cnmf_opt
from cofactor.rivals.coupled_tensor import coupled_tensor
from cofactor.rivals.crowd.multispa import MultiSPA
from cofactor.rivals.triple_moments import triple_moments

START_COUNT = 0.1  # pseudo-count of the majority-vote start where MultiSPA cannot run
PROXIMAL = 0.01  # of TensorADMM, as released
ADMM_STEPS = 10  # ADMM steps per block, as released


@dataclass(eq=False, repr=False)
class CNMF(Aggregator):
    """CNMF (coupled NMF): the Dawid-Skene model closest to all co-occurrences in Kullback-Leibler divergence.

    Parameters
    ----------
    weights : "count" or "equal"
        Weight pairs of workers by the number of tasks they share, or equally, as in the papers.
    max_iter, tol
        Maximum number of iterations, and the relative change of the objective at which they stop.
    em, pseudo_counts, random_state, verbose
        See `Aggregator`; the method is deterministic.

    Raises (in `fit`) a NotIdentifiableError if no two workers share a task. Issues a DataWarning if `MultiSPA`, the
    start, cannot be computed; the majority vote then replaces it.

    Cost: see `cnmf_opt`. Source: NeurIPS 2019. Deviations: see `cnmf_opt`; classes are named by one common permutation,
    and pairs whose co-occurrences have rank one are not left out. The papers stop after ten passes of mirror descent,
    long before the optimum.

    Examples
    --------
    >>> from cofactor import simulate
    >>> crowd = simulate.crowd(simulate.dawid_skene_model(8, 2, skill=0.7, random_state=0), 200, random_state=0)
    >>> CNMF().fit(crowd.labels).result_.converged
    True
    """

    weights: Literal["equal", "count"] = "count"
    max_iter: int = 1000
    tol: float = 1e-9
    em: bool = False
    pseudo_counts: PseudoCounts = PRIOR
    random_state: int | None = None
    verbose: bool = False

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        settings = (self.weights, self.max_iter, self.tol)
        moments, start = pairwise_moments(labels.table), multispa_start(labels)
        model, result = cnmf_opt(moments, start, *settings, verbose=self.verbose)
        return name_classes(model, labels), result


@dataclass(eq=False, repr=False)
class TensorADMM(Aggregator):
    """TensorADMM: the Dawid-Skene model closest to all first, second and third moments of the labels in least squares.

    Parameters
    ----------
    max_iter, tol
        Maximum number of sweeps over the workers, and the change of the relative residual at which they stop.
    em, pseudo_counts, random_state, verbose
        See `Aggregator`; the method is deterministic.

    Raises (in `fit`) a NotIdentifiableError if no three workers share a task, and a CofactorError if the third moments
    would take more than 2 GB (only triples of labels that occurred are stored). Warnings are those of `CNMF`.

    Cost: see `triple_moments` and `coupled_tensor`. Source: IEEE TSP 2018, started at `MultiSPA`. Deviations: see
    `coupled_tensor`.

    Dependence on the order: sweeps visit the workers in their order and stop before the exact minimum. 20 other orders
    of the workers of bluebird changed probabilities by up to .005 (with `em`, .00002), and no class.

    Examples
    --------
    >>> from cofactor import simulate
    >>> crowd = simulate.crowd(simulate.dawid_skene_model(8, 2, skill=0.7, random_state=0), 200, random_state=0)
    >>> TensorADMM().fit(crowd.labels).result_.converged
    True
    """

    max_iter: int = 500
    tol: float = 1e-6
    em: bool = False
    pseudo_counts: PseudoCounts = PRIOR
    random_state: int | None = None
    verbose: bool = False

    def _estimate(self, labels: CrowdLabels) -> tuple[LatentClassModel, Result]:
        triples, start, pairs = triple_moments(labels.table), multispa_start(labels), pairwise_moments(labels.table)
        settings = (PROXIMAL, self.max_iter, self.tol, self.verbose)
        model, result = coupled_tensor(triples, start, pairs, ADMM_STEPS, *settings)
        return name_classes(model, labels), result


def multispa_start(labels: CrowdLabels) -> LatentClassModel:
    """Return the model of MultiSPA or, with a warning, that of the majority vote if MultiSPA fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # workers it cannot estimate start uniform, and are then fitted
        try:
            return MultiSPA(min_common=1).fit(labels).model_
        except CofactorError as refusal:
            reason = str(refusal)
    warnings.warn(f"started at the majority vote instead of MultiSPA: {reason}", DataWarning, stacklevel=5)
    return vote_model(labels, START_COUNT)

"""Expectation-maximisation as released: a fixed number of rounds, and what it does with zeros and empty rows.

Symbols: see `cofactor.core.em`. Source: code with Ibrahim and Fu, ICML 2021 (`EM_yeredor.m`, `run_EM_MV.m`) and IEEE
TSP 2021 (`run_EM.m`).
"""

from __future__ import annotations

import numpy as np

from cofactor.core.em import soft_counts
from cofactor.core.estimator import History, Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats

EPS = float(np.finfo(np.float64).eps)


def posterior(table: CategoricalTable, model: LatentClassModel) -> tuple[Floats, float]:
    """Return Q (S, F) and the log-likelihood (nats). A probability of zero counts as 2e-16, other ones as they are.

    Deviation: each row's largest logarithm is taken off first; in the released code rows of some 700 nats underflow.
    """
    log_A, log_prior = (np.log(np.where(p == 0, EPS, p)) for p in (model.stacked, model.prior))
    joint = table.indicator @ log_A + log_prior
    top = joint.max(axis=1, keepdims=True)
    Q = np.exp(joint - top)
    total = Q.sum(axis=1, keepdims=True)
    return Q / total, float(np.sum(top + np.log(total)))


def released_em(
    table: CategoricalTable, start: LatentClassModel, rounds: int, verbose: bool = False
) -> tuple[LatentClassModel, Result]:
    """Run so many rounds of E- and M-step, whatever the likelihood does; rows without entries count, with the prior.

    `objective` is the log-likelihood before each round. Cost: O(entries F) time per round, O(S F) memory.
    """
    model, history = start, History("EM (as released)", rounds, -np.inf, verbose)
    for _ in history:
        Q, log_likelihood = posterior(table, model)
        history.record(log_likelihood)
        model = soft_counts(table, Q).model()
    return model, history.result()

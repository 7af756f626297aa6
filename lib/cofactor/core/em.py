"""Expectation-maximisation for the latent-class model.

    E   Q[s, f] = Pr(class f | what was observed in row s)
    M   lambda = mean of Q's rows;  A_n[i, f] proportional to the sum of Q[s, f] over rows s with x_n = i

    symbol   meaning                                 shape
    F        one-hot indicator of the table          (S, sum I_n), sparse
    Q        posterior of the hidden class           (S, F)

Source: Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm", 1979.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.result import History, Result
from cofactor.core.simplex import normalize_blocks
from cofactor.core.tables import CategoricalTable

Floats = NDArray[np.float64]


def em(
    table: CategoricalTable,
    start: LatentClassModel,
    max_iter: int = 500,
    tol: float = 1e-6,
    verbose: bool = False,
) -> tuple[LatentClassModel, Result]:
    """Maximise the likelihood of a latent-class model from a starting model.

    Parameters
    ----------
    table : CategoricalTable
        Rows in which nothing was observed say nothing about the model and are passed over.
    start : LatentClassModel
        With the variables of `table`. Classes with prior zero stay empty.
    max_iter : int
        Most rounds.
    tol : float
        Stop when the log-likelihood changes by at most this, relative to its size.
    verbose : bool
        Show a progress bar on a terminal.

    Returns
    -------
    model : LatentClassModel
    result : Result
        `objective` is the log-likelihood (nats) of the model before each round; it never falls.

    Raises
    ------
    CofactorError
        Nothing was observed at all, or model and table differ in their variables.

    Cost
    ----
    O(entries F) time per round, O(S F + sum I_n F) memory.

    Source
    ------
    Dawid and Skene, 1979. The prior is estimated, and posteriors are computed in the log domain: the code released
    with the ICML 2021 paper does neither, and returns NaN as soon as one row is empty.
    """
    rows = table.entries_per_row > 0
    if not rows.any():
        raise CofactorError("nothing was observed in any row: there is nothing to fit")
    seen = table if rows.all() else table.take_rows(rows)
    model, history = start, History("EM", max_iter, tol, verbose)
    for _ in history:
        Q, log_likelihood = model.explain(seen)
        model = maximization(seen, Q)
        history.record(float(log_likelihood.sum()))
    return model, history.result()


def maximization(table: CategoricalTable, Q: Floats, pseudo_count: float = 0.0) -> LatentClassModel:
    """M-step: the model with the greatest expected likelihood under the soft classes Q.

    `pseudo_count` is added to every cell of every conditional. A variable without observations gets uniform
    conditionals.
    """
    stacked = normalize_blocks(table.indicator.T @ Q + pseudo_count, table.sizes)
    prior = Q.mean(axis=0)
    return LatentClassModel.from_stacked(prior, stacked, table.sizes)

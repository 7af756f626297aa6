"""Expectation-maximisation for the latent-class model.

    E   Q[s, f] = Pr(class f | what was observed in row s)
    M   lambda = mean of Q's rows;  A_n[i, f] proportional to the sum of Q[s, f] over rows s with x_n = i

    symbol   meaning                                 shape
    F        one-hot indicator of the table          (S, sum I_n), sparse
    Q        posterior of the hidden class           (S, F)

What the M-step needs of Q are sums over rows, so that rows may stay where they are, in as many pieces as one likes.

Source: Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm", 1979.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.result import History, Result
from cofactor.core.simplex import normalize_blocks
from cofactor.core.tables import CategoricalTable, Ints

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SoftCounts:
    """Sufficient statistics of an M-step; add two of them to merge disjoint sets of rows.

    Attributes
    ----------
    cells : (sum I_n, F) array
        F'Q: how often each variable took each value in each class, softly.
    classes : (F,) array
        Sum of Q over rows.
    n_rows : int
    sizes : (N,) ints
        Alphabet sizes I_n.
    log_likelihood : float
        Of the rows, under the model that gave Q (nats); zero where no model did.
    """

    cells: Floats
    classes: Floats
    n_rows: int
    sizes: Ints
    log_likelihood: float = 0.0

    def __add__(self, other: SoftCounts) -> SoftCounts:
        """Merge the counts of two disjoint sets of rows of the same variables."""
        if not np.array_equal(self.sizes, other.sizes) or self.cells.shape != other.cells.shape:
            raise CofactorError("only counts of the same variables and classes can be merged")
        return SoftCounts(
            self.cells + other.cells,
            self.classes + other.classes,
            self.n_rows + other.n_rows,
            self.sizes,
            self.log_likelihood + other.log_likelihood,
        )

    def model(self, pseudo_count: float = 0.0) -> LatentClassModel:
        """M-step; `pseudo_count` is added to every cell. A variable without observations gets uniform conditionals."""
        if not self.n_rows:
            raise CofactorError("nothing was observed in any row: there is nothing to fit")
        stacked = normalize_blocks(self.cells + pseudo_count, self.sizes)
        return LatentClassModel.from_stacked(self.classes / self.n_rows, stacked, self.sizes)


def soft_counts(table: CategoricalTable, Q: Floats, log_likelihood: float = 0.0) -> SoftCounts:
    """Add up (S, F) soft classes Q over the rows of a table. O(entries F) time."""
    return SoftCounts(table.indicator.T @ Q, Q.sum(axis=0), table.n_rows, table.sizes, log_likelihood)


def expectation(table: CategoricalTable, model: LatentClassModel) -> SoftCounts:
    """E-step: the soft counts of the posterior classes. Every row counts, so leave out those without entries."""
    Q, log_likelihood = model.explain(table)
    return soft_counts(table, Q, float(log_likelihood.sum()))


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
    return iterate_em(lambda model: expectation(seen, model), start, max_iter, tol, verbose)


def iterate_em(
    e_step: Callable[[LatentClassModel], SoftCounts],
    start: LatentClassModel,
    max_iter: int = 500,
    tol: float = 1e-6,
    verbose: bool = False,
) -> tuple[LatentClassModel, Result]:
    """Run EM over rows that only `e_step` sees: it returns the soft counts of all rows under a model.

    For rows that do not fit into memory, `e_step` adds up `expectation` over pieces. Arguments, result and source as
    in `em`; equal to it up to rounding.
    """
    model, history = start, History("EM", max_iter, tol, verbose)
    for _ in history:
        counts = e_step(model)
        model = counts.model()
        history.record(counts.log_likelihood)
    return model, history.result()


def maximization(table: CategoricalTable, Q: Floats, pseudo_count: float = 0.0) -> LatentClassModel:
    """M-step: the model with the greatest expected likelihood under the soft classes Q; see `SoftCounts.model`."""
    return soft_counts(table, Q).model(pseudo_count)

"""How sure an estimate of a joint PMF is: intervals for prior, conditionals, and any entry of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from cofactor.core.bootstrap import (
    LEVEL,
    ModelBootstrap,
    Rows,
    observations,
    refit_by_em,
    resample,
    seen_rows,
    warn_of_unfinished,
)
from cofactor.core.errors import CofactorError
from cofactor.core.estimator import clone
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import pd
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Seed
from cofactor.pmf.base import JointPMFEstimator, check_table, mean_model


@dataclass(frozen=True, repr=False)
class PMFBootstrap(ModelBootstrap):
    """A joint PMF with its refits; see `bootstrap`. Attributes: those of `ModelBootstrap`."""

    def intervals(self, level: float = LEVEL) -> pd.DataFrame:
        """Return prior and conditionals as one table: quantity, variable, value, latent class, estimate, low, high."""
        model, F = self.model, self.model.n_classes
        prior = pd.DataFrame({"quantity": "prior", "class": range(F), "estimate": model.prior})
        prior["low"], prior["high"] = self.prior_interval(level)
        variable = np.repeat(np.arange(model.n_variables), model.sizes)
        value = np.concatenate([np.arange(size) for size in model.sizes])
        ids = {"quantity": "conditional", "variable": np.repeat(variable, F), "value": np.repeat(value, F)}
        cells = pd.DataFrame({**ids, "class": np.tile(np.arange(F), len(value)), "estimate": model.stacked.ravel()})
        cells["low"], cells["high"] = (end.ravel() for end in self.cell_intervals(level))
        long = pd.concat([prior, cells], ignore_index=True)
        long[["variable", "value"]] = long[["variable", "value"]].astype("Int64")  # the prior has neither
        return long[["quantity", "variable", "value", "class", "estimate", "low", "high"]]

    def entries(self, table: CategoricalTable, level: float = LEVEL) -> pd.DataFrame:
        """Return entries of the joint PMF, one per row of a table, missing codes summed over: estimate, low, high."""

        def probability(model: LatentClassModel) -> np.ndarray:
            return np.exp(model.explain(table)[1])

        estimate, low, high = self.interval(probability, level)
        return pd.DataFrame({"estimate": estimate, "low": low, "high": high})


def bootstrap(
    method: JointPMFEstimator,
    table: CategoricalTable,
    *,
    n_draws: int = 200,
    random_state: Seed = None,
    n_jobs: int = 1,
    verbose: bool = False,
) -> PMFBootstrap:
    """Fit a method again to rows drawn with replacement: how far its model would move on another sample.

    Parameters
    ----------
    method : JointPMFEstimator
        Fitted on `table`, or not fitted yet.
    table : CategoricalTable
    n_draws, random_state, n_jobs, verbose
        See `resample`; the result is the same at any number of jobs.

    Returns
    -------
    PMFBootstrap
        `intervals` of the parameters, `entries` of the joint PMF or its marginals, `interval` of anything else.

    Raises a CofactorError as `fit` and `resample` do, and where the fitted model has other variables.

    Cost: that of `n_draws` fits. Methods that end in EM are fitted again by EM from their model, which takes fewer
    rounds and stays in its basin; the others start anew. Rank and pseudo-count that were chosen stay as they are.
    Source: see `cofactor.core.bootstrap`.

    Examples
    --------
    >>> from cofactor import pmf, simulate
    >>> table = simulate.joint_table(simulate.joint_model(4, 3, 2, random_state=0), 1000, random_state=0)
    >>> found = pmf.bootstrap(pmf.CNMFEM(rank=2), table, n_draws=50, random_state=0)
    >>> found.entries(CategoricalTable([[0, 0, 0, 0], [0, -1, -1, -1]], table.sizes)).round(3)
       estimate    low   high
    0     0.005  0.004  0.005
    1     0.322  0.304  0.350
    """
    if not isinstance(method, JointPMFEstimator):
        raise CofactorError(f"method={method!r}: give an estimator of a joint PMF, see cofactor.pmf.METHODS")
    check_table(table)
    fitted = method if hasattr(method, "model_") else clone(method).fit(table)
    model, rows = fitted.model_, seen_rows(table)
    if not np.array_equal(model.sizes, table.sizes):
        raise CofactorError(f"fitted on {model.n_variables} variables, {table!r} has others: fit on this table")
    seen = table.take_rows(rows)
    draws = refits(fitted, seen, n_draws, random_state, n_jobs, verbose)
    return PMFBootstrap(model, tuple(draws), observations(seen, model), len(rows))


def refits(
    fitted: JointPMFEstimator,
    table: CategoricalTable,
    n_draws: int,
    random_state: Seed,
    n_jobs: int = 1,
    verbose: bool = False,
) -> list[LatentClassModel]:
    """Return fits to redrawn rows of a table without empty ones; EM takes the pseudo-count of the fit."""
    settings = (table.n_rows, n_draws, random_state, n_jobs, verbose)
    if not fitted.em or fitted.model_.n_classes == 1:
        return resample(partial(_refit, members=fitted.members, table=table), *settings)
    parts = [(one.model_, one.pseudo_count_) for one in fitted.members]
    found = resample(partial(_refit_by_em, table=table, parts=parts), *settings)
    warn_of_unfinished([converged for _, converged in found])
    return [draw for draw, _ in found]


def _refit_by_em(
    rows: Rows, table: CategoricalTable, parts: list[tuple[LatentClassModel, float]]
) -> tuple[LatentClassModel, bool]:
    """The mean of refits of every part, each from its own model, and whether all converged."""
    found = [refit_by_em(rows, table, model, alpha) for model, alpha in parts]
    return mean_model([model for model, _ in found]), all(converged for _, converged in found)


def _refit(rows: Rows, members: list[JointPMFEstimator], table: CategoricalTable) -> LatentClassModel:
    return mean_model([clone(one).fit(table.take_rows(rows)).model_.align_to(one.model_) for one in members])

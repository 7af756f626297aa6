"""Bootstrap intervals for a joint PMF: its prior, its conditionals, and any of its entries."""

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
    """Result of `bootstrap`: a joint PMF and its refits. The attributes are those of `ModelBootstrap`."""

    def intervals(self, level: float = LEVEL) -> pd.DataFrame:
        """Return intervals for prior and conditionals: quantity, variable, value, class, estimate, low and high."""
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
        """Return intervals for the probability of every row of a table, summed over missing codes."""

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
    """Refit a method to rows drawn with replacement, to show how much its model would vary between samples.

    Parameters
    ----------
    method : JointPMFEstimator
        Unfitted, or fitted on `table`.
    table : CategoricalTable
    n_draws, random_state, n_jobs, verbose
        See `resample`; the result does not depend on the number of jobs.

    Returns
    -------
    PMFBootstrap
        Its methods give `intervals` of the parameters, `entries` of the joint PMF or its marginals, and the `interval`
        of any other quantity.

    Raises a CofactorError as `fit` and `resample` do, and if the fitted model has other variables.

    Cost: that of `n_draws` fits. Methods that end in EM are refitted by EM from their model, which takes fewer
    iterations and stays near the same optimum; the others start anew. The chosen rank and pseudo-count are kept.
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
        raise CofactorError(f"method={method!r}: must be a joint PMF estimator, see cofactor.pmf.METHODS")
    check_table(table)
    fitted = method if hasattr(method, "model_") else clone(method).fit(table)
    model, rows = fitted.model_, seen_rows(table)
    if not np.array_equal(model.sizes, table.sizes):
        raise CofactorError(
            f"the method was fitted on {model.n_variables} variables, which are not those of {table!r}: fit it to this "
            "table"
        )
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
    """Return refits to redrawn rows of a table without empty rows; EM uses the pseudo-count of the fit."""
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
    """Return the mean of the refits of all parts, each started at its own model, and whether all converged."""
    found = [refit_by_em(rows, table, model, alpha) for model, alpha in parts]
    return mean_model([model for model, _ in found]), all(converged for _, converged in found)


def _refit(rows: Rows, members: list[JointPMFEstimator], table: CategoricalTable) -> LatentClassModel:
    return mean_model([clone(one).fit(table.take_rows(rows)).model_.align_to(one.model_) for one in members])

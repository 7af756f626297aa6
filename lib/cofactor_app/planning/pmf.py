"""How many rows a wanted error of the joint PMF takes: tables simulated from the user's own model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.bootstrap import check_runs
from cofactor.core.checks import rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.estimator import clone
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Seed
from cofactor.pmf.base import JointPMFEstimator
from cofactor.pmf.bootstrap import bootstrap
from cofactor.pmf.methods import METHODS, name_of
from cofactor.pmf.metrics import mre
from cofactor_app.planning.plan import Plan, check_names, checked_amounts, checked_error, error_or_nan, simulated

Measure = Literal["mre", "log loss"]
Methods = str | JointPMFEstimator | Sequence[str | JointPMFEstimator]

__all__ = ["plan"]
DEFAULT = "CNMF-EM"
SPAN = 2.0 ** np.arange(-4, 4)  # amounts tried, in numbers of rows that there are
FEWEST = 10  # rows
FRESH = 2000  # rows on which the log loss is measured
MEASURES = {"mre": "relative error of the joint PMF", "log loss": "log loss per row beyond the least possible (nats)"}


def plan(
    table: CategoricalTable,
    wanted_error: float = 0.1,
    *,
    amounts: ArrayLike | None = None,
    methods: Methods = DEFAULT,
    measure: Measure = "mre",
    n_trials: int = 20,
    random_state: Seed = None,
    n_jobs: int = 1,
    verbose: bool = False,
) -> Plan:
    """Simulate how the error of a joint PMF falls with the number of rows, for a table like this one.

    Every trial takes the model of one bootstrap refit for the truth, draws rows from it with entries missing as in rows
    of the table, and fits every method anew. The truth has the rank of the first method: what a low rank cannot say
    stays wrong, however many rows there are, and is not in the plan.

    Parameters
    ----------
    table : CategoricalTable
        A fitted estimator does not do: which entries are missing is in the table alone.
    wanted_error : float in (0, 1)
    amounts : whole numbers, optional
        Rows to try. Default: from a sixteenth of the rows that there are to eight times as many.
    methods : names in METHODS, estimators, or one of either
        Settings of an estimator count, its rank above all. The first draws the truths, fitted on `table` or not.
    measure : {"mre", "log loss"}
        What the error is: ||T - T^||_F / ||T||_F, see `mre`; or how much more a full row costs than under the truth,
        KL(T || T^) in nats.
    n_trials, random_state, n_jobs, verbose
        As in `bootstrap`; the result is the same at any number of jobs.

    Returns
    -------
    Plan
        `needed` answers how many rows, `curve` holds the errors.

    Raises a CofactorError for an unknown method or measure, amounts that are no whole numbers, an error not between 0
    and 1, or as `bootstrap`. Cost: the bootstrap, and a fit for every trial, amount and method. Source: this kit's own.

    >>> from cofactor import pmf, simulate
    >>> from cofactor_app import planning
    >>> table = simulate.joint_table(simulate.joint_model(4, 3, 2, random_state=0), 500, random_state=0)
    >>> found = planning.pmf.plan(table, wanted_error=0.1, methods=pmf.CNMFEM(rank=2), n_trials=5, random_state=0)
    >>> bool(found.needed(0.05)["amount"].item() > found.needed(0.2)["amount"].item())
    True
    """
    checked_error(wanted_error)
    check_runs(n_jobs, n_trials=n_trials)
    if measure not in get_args(Measure):
        raise CofactorError(f"measure={measure!r}: choose one of {', '.join(get_args(Measure))}")
    named = _named(methods)
    rng = rng_of(random_state)
    refits = bootstrap(next(iter(named.values())), table, n_draws=n_trials, random_state=rng, n_jobs=n_jobs)
    seen = table.take_rows(table.entries_per_row > 0)
    default = np.maximum(np.rint(SPAN * seen.n_rows), FEWEST)
    tried = checked_amounts(default if amounts is None else amounts)
    trial = partial(_trial, methods=list(named.values()), table=seen, amounts=tried, measure=measure)
    found = simulated(trial, refits.draws, rng, n_jobs, verbose)
    note = f"the distribution is taken to have {refits.model.n_classes} hidden classes"
    errors = {name: found[:, place] for place, name in enumerate(named)}
    return Plan("rows", MEASURES[measure], tried, errors, wanted_error, seen.n_rows, (note,))


def _named(methods: Methods) -> dict[str, JointPMFEstimator]:
    """The methods by name; those given by name with their defaults."""
    if isinstance(methods, str | JointPMFEstimator):
        methods = [methods]
    chosen = [one for one in methods if isinstance(one, JointPMFEstimator)]
    if not chosen or len(chosen) < len(methods):
        check_names([one for one in methods if not isinstance(one, JointPMFEstimator)], METHODS)
    fits = [one if isinstance(one, JointPMFEstimator) else METHODS[one](random_state=0) for one in methods]
    names = [name_of(one) for one in fits]
    if len(set(names)) < len(names):
        raise CofactorError(f"methods={methods!r}: give every method once")
    return dict(zip(names, fits, strict=True))


def _trial(
    truth: LatentClassModel,
    rng: np.random.Generator,
    methods: list[JointPMFEstimator],
    table: CategoricalTable,
    amounts: Floats,
    measure: Measure,
) -> Floats:
    """Errors of every method at every amount, NaN where it refused; the fewer rows are the first."""
    rows = table.take_rows(rng.integers(table.n_rows, size=int(amounts[-1])))
    drawn, _ = truth.sample(rows.n_rows, (rows.rows, rows.variables), rng)
    fresh, _ = truth.sample(FRESH, None, rng)

    def error(method: JointPMFEstimator, n: float) -> float:
        model = clone(method).fit(drawn.take_rows(slice(int(n)))).model_
        if measure == "mre":
            return mre(truth, model)
        return (truth.log_likelihood(fresh) - model.log_likelihood(fresh)) / fresh.n_rows

    return np.array([[error_or_nan(partial(error, method, n)) for n in amounts] for method in methods])

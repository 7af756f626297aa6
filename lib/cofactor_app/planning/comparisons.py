"""How many comparisons a wanted error takes, by simulation.

The simulation takes features fitted to redrawn comparisons for the truth, lets them choose, and fits anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from cofactor.comparisons.base import PreferenceModel, require_comparisons
from cofactor.comparisons.bootstrap import fitted_and_refits
from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.estimators import ComparisonMF
from cofactor.comparisons.formulas import expected_error
from cofactor.comparisons.kernels import Arrays
from cofactor.comparisons.links import link_named
from cofactor.comparisons.metrics import product_norm, utility_error
from cofactor.comparisons.spectral import project_to_centred
from cofactor.core.bootstrap import check_runs
from cofactor.core.checks import rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.estimator import clone
from cofactor.core.types import Floats, Seed
from cofactor.registry import Methods
from cofactor_app.planning.plan import Plan, check_names, checked_amounts, checked_error, error_or_nan, simulated

__all__ = ["plan"]
METHODS = Methods("comparisons")

SPAN = 2.0 ** np.arange(-2, 4)  # amounts tried, in numbers of comparisons that there are
FORMULA = "formula"


def plan(
    comparisons: Comparisons,
    wanted_error: float = 0.3,
    *,
    amounts: ArrayLike | None = None,
    methods: Mapping[str, PreferenceModel] | Iterable[str] | None = None,
    n_trials: int = 10,
    random_state: Seed = None,
    n_jobs: int = 1,
    verbose: bool = False,
) -> Plan:
    """Simulate how the error of utilities falls with the number of choices, for users and items like these.

    Every trial fits features to redrawn comparisons and takes them for the truth, draws who is asked which pair from
    the comparisons there are, lets them choose, and fits every method anew.

    Parameters
    ----------
    comparisons : Comparisons
        Choices; they need not be many.
    wanted_error : float in (0, 1)
        ||(X^ - X) J||_F / ||X J||_F, see `utility_error`.
    amounts : whole numbers, optional
        Choices to try. Default: from a quarter of those that there are to eight times as many.
    methods : dict from names to methods, or names of METHODS, optional
        The first ComparisonMF among them finds the truths: its settings count, its rank above all. Default: one with
        its defaults.
    n_trials : int
    random_state, n_jobs, verbose
        As in `bootstrap`; the result is the same at any number of jobs.

    Returns
    -------
    Plan
        `needed` answers how many choices, `curve` holds the errors. Beside the methods stands "formula", the
        `expected_error` of every trial's truth, if that ComparisonMF has no biases; it knows no ridge, and is too high
        where it is near one.

    Raises
    ------
    CofactorError
        Exact chances as outcomes, nothing to plan from where no preferences are found, a method that only orders
        items, or as `fit`.

    Cost: a fit per trial, and one more for every amount and method.

    A ridge draws utilities together, so that those taken for the truth are weaker than the real ones and take more
    choices to be told: from few comparisons the plan errs on the safe side.

    >>> from cofactor import comparisons, simulate
    >>> from cofactor_app import planning
    >>> data = simulate.draw_comparisons(*simulate.comparison_factors(30, 20, 1, random_state=0), 2000, random_state=0)
    >>> methods = {"MF": comparisons.ComparisonMF(rank=1, item_bias=False, random_state=0)}
    >>> found = planning.comparisons.plan(data, 0.2, methods=methods, n_trials=2, random_state=0)
    >>> list(found.needed()["method"])
    ['MF', 'formula']
    """
    checked_error(wanted_error)
    check_runs(n_jobs, n_trials=n_trials)
    data, tried = require_comparisons(comparisons), _checked_methods(methods)
    if not data.noisy:
        raise CofactorError("outcomes are exact chances, of which a few per feature tell all: plans are for choices")
    m = checked_amounts(np.maximum(np.rint(SPAN * len(data)), 1) if amounts is None else amounts)
    model = next((method for method in tried.values() if isinstance(method, ComparisonMF)), ComparisonMF())
    rng = rng_of(random_state)
    fitted, refits = fitted_and_refits(model, data, n_trials, rng, n_jobs, verbose)
    truths = [factors_of(one) for one in refits]
    found = simulated(partial(_trial, list(tried.values()), model.link, data, m), truths, rng, n_jobs, verbose)
    names = [*tried, *(() if model.item_bias else (FORMULA,))]
    errors = {name: found[:, k] for k, name in enumerate(names)}
    notes = (f"utilities are taken to have {fitted.user_factors_.shape[1]} features, and to be as strong as now",)
    return Plan("choices", "relative error of utilities", m, errors, wanted_error, data.total, notes)


def _checked_methods(methods: Mapping[str, PreferenceModel] | Iterable[str] | None) -> dict[str, PreferenceModel]:
    if isinstance(methods, Mapping):
        found = dict(methods)
        strange = [name for name, method in found.items() if not isinstance(method, PreferenceModel)]
        if strange or not found:
            raise CofactorError(f"methods={methods!r}: give a dict from names to methods such as ComparisonMF()")
    else:
        names = check_names(("ComparisonMF",) if methods is None else methods, METHODS)
        found = {name: METHODS[name]() for name in names}
    for name, method in found.items():
        if not method.link:
            raise CofactorError(f"{name} only orders items: its utilities have no size, and so no error")
    return found


def factors_of(mf: PreferenceModel) -> Arrays:
    """Return the features of users U and of items V, and the biases of items b, of a fitted model."""
    return mf.user_factors_, mf.item_factors_, mf.item_bias_


def _with_bias(factors: Arrays) -> tuple[Floats, Floats]:
    """Features of which the last holds the biases."""
    U, V, b = factors
    return np.column_stack([U, np.ones(len(U))]), project_to_centred(np.column_stack([V, b]))


def _trial(
    methods: list[PreferenceModel],
    link: str,
    data: Comparisons,
    amounts: Floats,
    truth: Arrays,
    rng: np.random.Generator,
) -> Floats:
    """Errors of every method (rows) at every amount, NaN where it refused; last by formula. The fewer are the first."""
    U, V, b = truth
    asked = data.take(rng.integers(len(data), size=int(amounts[-1])))
    z = np.einsum("ka,ka->k", U[asked.user], V[asked.left] - V[asked.right]) + b[asked.left] - b[asked.right]
    chosen = (rng.random(len(asked)) < link_named(link).probability(z)).astype(np.float64)
    triples, order = (asked.user, asked.left, asked.right), rng.permutation(len(asked))
    drawn = Comparisons(*triples, chosen, data.n_users, data.n_items)
    A, B = _with_bias(truth)
    spread = product_norm(A, B) / np.sqrt(len(A) * len(B))
    seed = int(rng.integers(2**31))
    errors = [[_error(method, drawn.take(order[: int(m)]), (A, B), seed) for m in amounts] for method in methods]
    sizes = data.n_users, data.n_items, U.shape[1], spread, link
    return np.array([*errors, [expected_error(m, *sizes) for m in amounts]])


def _error(method: PreferenceModel, data: Comparisons, truth: tuple[Floats, Floats], seed: int) -> float:
    def fit() -> float:
        mf = clone(method).set_params(random_state=seed).fit(data)
        return utility_error(*_with_bias(factors_of(mf)), *truth)

    return error_or_nan(fit)

"""How many comparisons a wanted error takes, and what error given ones leave: by formula, and by simulation.

The simulation takes features fitted to redrawn comparisons for the truth, lets them choose, and fits anew.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from joblib import delayed
from numpy.typing import ArrayLike, NDArray
from scipy.special import roots_hermitenorm
from sklearn.base import clone

from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.kernels import Arrays
from cofactor.comparisons.links import link_named
from cofactor.comparisons.metrics import product_norm, utility_error
from cofactor.comparisons.projections import project_to_centred
from cofactor.core.bootstrap import check_runs, in_parallel, resample
from cofactor.core.checks import check_positive, check_whole
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning
from cofactor.core.planning import Plan, checked_amounts, checked_error
from cofactor.core.types import Floats, Seed

if TYPE_CHECKING:
    from cofactor.comparisons.estimators import ComparisonMF

Rows = NDArray[np.int64]

LEAST = 1e-6  # error planned for
NODES = 64  # of the Gauss-Hermite rule
SPAN = 2.0 ** np.arange(-2, 4)  # amounts tried, in numbers of comparisons that there are


def degrees_of_freedom(n_users: int, n_items: int, rank: int) -> int:
    """Return (n1 + n2 - 1) r - r^2: what is left of U and V without shift and change of basis.

    >>> degrees_of_freedom(200, 300, 3)
    1488
    """
    check_whole(1, n_users=n_users, n_items=n_items, rank=rank)
    if not rank < min(n_users, n_items):
        raise CofactorError(f"rank={rank}: ask for 1 to {min(n_users, n_items) - 1} features")
    return (n_users + n_items - 1) * rank - rank**2


def mean_information(spread: float, link: str = "logistic") -> float:
    """Return what one choice tells about z on average, E[g'(z)^2 / g(z) g(-z)], z normal with variance 2 spread^2.

    For the logistic link that is the mean of g'(z). Two utilities of standard deviation `spread` differ by such a z.

    >>> round(mean_information(0.571), 3)
    0.219
    """
    check_positive(spread=spread)
    nodes, weights = roots_hermitenorm(NODES)
    values = link_named(link).information(np.sqrt(2) * spread * nodes)
    found = float(weights @ values / weights.sum())
    if not found:
        raise CofactorError(f"spread={spread}: utilities so far apart that every choice is certain and tells no more")
    return found


def expected_error(
    n_comparisons: float, n_users: int, n_items: int, rank: int, spread: float, link: str = "logistic"
) -> float:
    """Return the relative error of utilities that this many choices leave, with an efficient estimator.

        error = sqrt(dof / (2 m E[information])) / spread

    A fit with the right ridge comes within a few per cent of it from 25 comparisons per degree of freedom on; with less
    it stays below, near one.

    Parameters
    ----------
    n_comparisons : positive number
        m, choices with outcomes 0 and 1, users and pairs of items drawn at random.
    n_users, n_items, rank : int
    spread : float
        Root mean square of centred utilities, the strength of preferences in units of the link.
    link : {"logistic", "probit"}

    Source
    ------
    Not in the paper, which has exact outcomes: m times the mean of information z^2 is dof at an efficient estimate, and
    the mean of z^2 is gamma ||dX J||_F^2.

    Examples
    --------
    >>> round(expected_error(40_000, 200, 300, 3, spread=0.571), 2)
    0.51
    """
    check_positive(n_comparisons=n_comparisons)
    dof = degrees_of_freedom(n_users, n_items, rank)
    return float(np.sqrt(dof / (2 * n_comparisons * mean_information(spread, link))) / spread)


def comparisons_needed(
    error: float, n_users: int, n_items: int, rank: int, spread: float, link: str = "logistic"
) -> int:
    """Return the number of choices that leaves this relative error: the inverse of `expected_error`.

    >>> comparisons_needed(0.25, 200, 300, 3, spread=0.571)
    167042
    """
    check_positive(error=error)
    if error < LEAST:
        raise CofactorError(f"error={error}: ask for {LEAST:g} at least, which takes more choices than anybody makes")
    one = expected_error(1, n_users, n_items, rank, spread, link)
    return int(np.ceil((one / error) ** 2))


def plan(
    estimator: ComparisonMF,
    comparisons: Comparisons,
    wanted_error: float = 0.3,
    amounts: ArrayLike | None = None,
    n_trials: int = 10,
    random_state: Seed = None,
    n_jobs: int = 1,
    verbose: bool = False,
) -> Plan:
    """Simulate how the error of utilities falls with the number of choices, for users and items like these.

    Every trial fits features to redrawn comparisons and takes them for the truth, draws who is asked which pair from
    the comparisons there are, lets them choose, and fits the estimator anew.

    Parameters
    ----------
    estimator : ComparisonMF
        Its settings count, its rank above all.
    comparisons : Comparisons
        Choices; they need not be many.
    wanted_error : float in (0, 1)
        ||(X^ - X) J||_F / ||X J||_F, see `utility_error`.
    amounts : whole numbers, optional
        Choices to try. Default: from a quarter of those that there are to eight times as many.
    n_trials : int
    random_state, n_jobs, verbose
        As in `bootstrap`; the result is the same at any number of jobs.

    Returns
    -------
    Plan
        `needed` answers how many choices, `curve` holds the errors. Beside the estimator stands "formula", the
        `expected_error` of every trial's truth, if the estimator has no biases; it knows no ridge, and is too high
        where it is near one.

    Raises
    ------
    CofactorError
        Exact chances as outcomes, nothing to plan from where no preferences are found, or as `fit`.

    Cost
    ----
    A fit per trial, and one more for every amount.

    Notes
    -----
    A ridge draws utilities together, so that those taken for the truth are weaker than the real ones and take more
    choices to be told: from few comparisons the plan errs on the safe side.

    Examples
    --------
    >>> from cofactor import comparisons, simulate
    >>> data = simulate.draw_comparisons(*simulate.comparison_factors(30, 20, 1, random_state=0), 2000, random_state=0)
    >>> mf = comparisons.ComparisonMF(rank=1, item_bias=False, random_state=0)
    >>> found = comparisons.plan(mf, data, wanted_error=0.2, n_trials=2, random_state=0)
    >>> list(found.needed()["method"])
    ['ComparisonMF', 'formula']
    """
    checked_error(wanted_error)
    check_runs(n_jobs, n_trials=n_trials)
    if not comparisons.noisy:
        raise CofactorError("outcomes are exact chances, of which a few per feature tell all: plans are for choices")
    tried = checked_amounts(np.maximum(np.rint(SPAN * len(comparisons)), 1) if amounts is None else amounts)
    rng = np.random.default_rng(random_state)
    seeded = clone(estimator).set_params(random_state=int(rng.integers(2**31)))
    fitted = clone(seeded).fit(comparisons)
    again = partial(refit, with_what_was_chosen(fitted), comparisons)
    truths = [factors_of(mf) for mf in resample(again, len(comparisons), n_trials, rng, n_jobs, verbose)]
    run, children = delayed(_trial), rng.spawn(len(truths))
    jobs = (run(estimator, truth, comparisons, tried, child) for truth, child in zip(truths, children, strict=True))
    found = np.array(list(in_parallel(jobs, len(truths), "plan", n_jobs, verbose)))
    errors = {type(estimator).__name__: found[:, 0]} | ({} if estimator.item_bias else {"formula": found[:, 1]})
    notes = (f"utilities are taken to have {fitted.rank_} features, and to be as strong as those found now",)
    return Plan("choices", "relative error of utilities", tried, errors, wanted_error, comparisons.total, notes)


def with_what_was_chosen(fitted: ComparisonMF) -> ComparisonMF:
    """Return the estimator, not fitted, with the rank and the ridges that a fit has chosen."""
    if np.isinf(fitted.ridge_):
        raise CofactorError("no preferences are found in these comparisons that could be fitted again: collect more")
    chosen = {"rank": fitted.rank_, "ridge": fitted.ridge_, "bias_ridge": fitted.bias_ridge_}
    return clone(fitted).set_params(**chosen)


def refit(estimator: ComparisonMF, comparisons: Comparisons, rows: Rows) -> ComparisonMF:
    """Fit to redrawn comparisons."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(estimator).fit(comparisons.take(rows))


def factors_of(mf: ComparisonMF) -> Arrays:
    """Return U, V and b."""
    return mf.user_factors_, mf.item_factors_, mf.item_bias_


def _with_bias(factors: Arrays) -> tuple[Floats, Floats]:
    """Features of which the last holds the biases."""
    U, V, b = factors
    return np.column_stack([U, np.ones(len(U))]), project_to_centred(np.column_stack([V, b]))


def _trial(
    estimator: ComparisonMF, truth: Arrays, data: Comparisons, amounts: Floats, rng: np.random.Generator
) -> Floats:
    """Errors at every amount, NaN where the estimator refused; and by formula; the fewer choices are the first."""
    U, V, b = truth
    drawn = data.take(rng.integers(len(data), size=int(amounts[-1])))
    z = np.einsum("ka,ka->k", U[drawn.user], V[drawn.left] - V[drawn.right]) + b[drawn.left] - b[drawn.right]
    drawn.outcome = (rng.random(len(drawn)) < link_named(estimator.link).probability(z)).astype(np.float64)
    drawn.counts, order = None, rng.permutation(len(drawn))
    A, B = _with_bias(truth)
    spread = product_norm(A, B) / np.sqrt(len(A) * len(B))
    sizes = data.n_users, data.n_items, U.shape[1], spread, estimator.link
    seed = int(rng.integers(2**31))
    errors = [_error(estimator, drawn.take(order[: int(m)]), (A, B), seed) for m in amounts]
    return np.array([errors, [expected_error(m, *sizes) for m in amounts]])


def _error(estimator: ComparisonMF, data: Comparisons, truth: tuple[Floats, Floats], seed: int) -> float:
    try:
        mf = refit(clone(estimator).set_params(random_state=seed), data, np.arange(len(data)))
    except CofactorError:
        return float("nan")
    return utility_error(*_with_bias(factors_of(mf)), *truth)

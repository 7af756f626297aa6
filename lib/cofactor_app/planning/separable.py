"""How many columns, or how many measurements of each, a wanted error of the anchors takes: simulated from the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.bootstrap import check_runs
from cofactor.core.checks import rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import optimize
from cofactor.core.types import Floats, Seed
from cofactor.separable.base import Matrix, dense_points
from cofactor.separable.methods import METHODS, OF_POINTS, SPA
from cofactor_app.planning.plan import Plan, check_names, checked_amounts, checked_error, error_or_nan, simulated

__all__ = ["plan"]
Vary = Literal["columns", "measurements"]

SPAN = {"columns": 2.0 ** np.arange(-3, 4), "measurements": 2.0 ** np.arange(8)}  # amounts tried, of those there are
UNITS = {"columns": "columns", "measurements": "measurements per column"}


@dataclass(frozen=True)
class Population:
    """Pure columns W, the weights H that columns have, and the standard deviation of the noise."""

    W: Floats
    H: Floats
    sigma: float


def plan(
    X: Matrix,
    wanted_error: float = 0.1,
    *,
    n_anchors: int | None = None,
    amounts: ArrayLike | None = None,
    methods: Sequence[str] = ("MERIT", "SPA"),
    vary: Vary = "columns",
    n_trials: int = 20,
    random_state: Seed = None,
    n_jobs: int = 1,
    verbose: bool = False,
) -> Plan:
    """Simulate how pure the columns that a method chooses are, for more columns or less noise, on data like these.

    Every trial draws columns with weights as the data have, adds the noise that the data leave, and finds anchors. The
    error is the mean share of the chosen columns that is not of the anchor that they stand for: 0 where all are pure.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        Its anchors, as SPA finds them, and the weights of its columns are those of the simulations.
    wanted_error : float in (0, 1)
    n_anchors : int, optional
        K. Default: as many as `suggest_n_anchors` says.
    amounts : whole numbers, optional
        To try. Default: an eighth of the columns to eight times as many; 1 to 128 measurements.
    methods : names in `METHODS` that take points
    vary : "columns" or "measurements"
        What there may be more of: columns, or measurements of every column (spectra, words of a document), whose mean
        has a noise variance that falls with their number; there is one now.
    n_trials, random_state, n_jobs, verbose
        As in `bootstrap`; the result is the same at any number of jobs.

    Returns
    -------
    Plan
        `needed` answers how many, `curve` holds the errors.

    Raises
    ------
    CofactorError
        Unknown methods or `vary`, amounts that are no whole numbers, an error not between 0 and 1, or as `fit`.

    Cost: A fit for every trial, amount and method.

    What the fit finds is taken for the truth: where it took noisy mixtures for anchors, the plan promises too much.

    Examples
    --------
    >>> from cofactor import simulate
    >>> from cofactor_app import planning
    >>> X = simulate.dirichlet_mixtures(20, 100, 3, 20.0, random_state=0).X
    >>> found = planning.separable.plan(X, 0.1, methods=["SPA"], n_trials=5, random_state=0)
    >>> bool(found.needed(0.02)["amount"].item() > found.needed(0.3)["amount"].item())
    True
    """
    checked_error(wanted_error)
    check_runs(n_jobs, n_trials=n_trials)
    names = check_names(methods, OF_POINTS)
    if vary not in SPAN:
        raise CofactorError(f"vary={vary!r}: choose one of {', '.join(SPAN)}")
    truth = _population(dense_points(X), n_anchors)
    K, N = truth.H.shape
    if amounts is None:
        amounts = np.maximum(np.rint(SPAN[vary] * N), K) if vary == "columns" else SPAN[vary]
    tried = checked_amounts(amounts)
    run = partial(_trial, amounts=tried, vary=vary, names=names)
    found = simulated(run, [truth] * n_trials, rng_of(random_state), n_jobs, verbose)
    errors = {name: found[:, :, j] for j, name in enumerate(names)}
    signal = np.sqrt(np.mean((truth.W @ truth.H) ** 2))
    decibels = f"{20 * np.log10(signal / truth.sigma):.0f} dB below the signal" if truth.sigma else "none"
    note = f"the {K} anchors of the data are taken for pure, their noise for equal in all entries: {decibels}"
    present = N if vary == "columns" else 1
    return Plan(UNITS[vary], "share of other anchors in those chosen", tried, errors, wanted_error, present, (note,))


def _population(X: Floats, n_anchors: int | None) -> Population:
    fitted = SPA(n_anchors).fit(X)
    H = fitted.transform(X)
    rest = float(np.sum((X - fitted.W_ @ H) ** 2))
    free = max(X.shape[1] - len(H), 1) * max(len(X) - len(H) + 1, 1)  # anchors fit themselves
    return Population(fitted.W_, H, float(np.sqrt(rest / free)))


def _trial(truth: Population, rng: np.random.Generator, amounts: Floats, vary: Vary, names: Sequence[str]) -> Floats:
    """Return errors, (amounts, methods)."""
    found = np.empty((len(amounts), len(names)))
    for row, amount in zip(found, amounts, strict=True):
        n_columns, repeats = (int(amount), 1.0) if vary == "columns" else (truth.H.shape[1], amount)
        H = truth.H[:, rng.integers(truth.H.shape[1], size=n_columns)]
        noise = truth.sigma / np.sqrt(repeats) * rng.standard_normal((len(truth.W), n_columns))
        seed = int(rng.integers(2**31))
        row[:] = [error_or_nan(partial(_error, name, truth.W @ H + noise, H, seed)) for name in names]
    return found


def _error(name: str, X: Floats, H: Floats, seed: int) -> float:
    """Return 1 less the mean weight that chosen columns have on the anchors they stand for."""
    fitted = METHODS[name](len(H), random_state=seed).fit(X)
    share = H[:, fitted.anchors_]
    return 1 - float(share[optimize.linear_sum_assignment(share, maximize=True)].sum()) / len(H)

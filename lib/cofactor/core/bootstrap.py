"""Bootstrap: the uncertainty of a fitted model, from refits to rows drawn with replacement.

Rows (tasks, samples) are the independent units, so S rows are drawn with replacement and the model is refitted;
latent classes are matched to those of the fit to all rows. Quantiles of the refits are used where they are smooth.
Probabilities near 0 and 1, or from few observations, need more care: a confusion that occurs in none of five labels
does not occur in redrawn labels either, which does not prove that it never happens. Their intervals are those of a
Beta distribution with the effective number of observations that matches the spread of the refits.

    symbol   meaning                                                        shape
    S        rows
    B        refits
    p        a probability of the fit to all rows                           (...)
    s        its standard deviation over the refits                         (...)
    n        soft count of the observations it was estimated from           (...)
    n_eff    min(n, p (1 - p) / s^2 - 1), effective observations            (...)

Source: Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 1979; Brown, Cai and DasGupta,
"Interval estimation for a binomial proportion", Statistical Science 2001 (the halves added, from Jeffreys).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.core.checks import is_number, is_whole, rng_of
from cofactor.core.em import em, expectation
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning
from cofactor.core.estimator import progress
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import joblib, special
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints, Seed

Rows = NDArray[np.intp]
Fit = TypeVar("Fit")

MOST_RUNS, MOST_JOBS = 100_000, 10_000  # more tell nothing that so many do not
LEVEL = 0.9
START_FLOOR = 1e-3  # refits start no lower: a probability of zero would stay zero
REFIT_TOL = 1e-7  # of the log-likelihood; a refit that stops early stays too near to where it started
REFIT_ROUNDS = 2000
LEAST_VARIANCE = 1e-12


def resample(
    refit: Callable[[Rows], Fit],
    n_rows: int,
    n_draws: int = 200,
    random_state: Seed = None,
    n_jobs: int = 1,
    verbose: bool = False,
) -> list[Fit]:
    """Refit `n_draws` times to rows drawn with replacement; the result does not depend on the number of jobs.

    Parameters
    ----------
    refit : callable
        Maps the (n_rows,) drawn indices to a fit. It must be picklable unless `n_jobs` is one.
    n_draws : int
        B; with 200, the ends of a 90 % interval vary by about a twentieth of its width.
    n_jobs : int
        Number of processes; -1 for one per processor.
    verbose : bool
        Show a progress bar on a terminal.

    Returns a list of fits. Draws on which `refit` raises `CofactorError` are left out, with a `DataWarning`.

    Raises a CofactorError for fewer than two draws, for `n_jobs=0`, or if more than half of the refits fail.

    >>> x = np.array([1.0, 2.0, 6.0])
    >>> len(resample(lambda rows: x[rows].mean(), 3, n_draws=5, random_state=0))
    5
    """
    check_runs(n_jobs, n_draws=n_draws)
    attempt = joblib.delayed(partial(_attempt, refit, n_rows))
    jobs = (attempt(child) for child in rng_of(random_state).spawn(n_draws))
    found = list(in_parallel(jobs, n_draws, "bootstrap", n_jobs, verbose))
    refused = [one for one in found if isinstance(one, CofactorError)]
    fits = [one for one in found if not isinstance(one, CofactorError)]
    if len(fits) < max(n_draws / 2, 2):
        raise CofactorError(f"{len(refused)} of {n_draws} refits failed on the rows drawn: {refused[0]}")
    if refused:
        message = f"{len(refused)} of {n_draws} refits failed on the rows drawn and are left out: {refused[0]}"
        warnings.warn(message, DataWarning, stacklevel=3)
    return fits


def check_runs(n_jobs: Any, **runs: Any) -> None:
    """Raise a CofactorError for fewer than two runs (`n_draws`, `n_trials`), or without any process."""
    for name, n in runs.items():
        if not is_whole(n) or n < 2 or not is_whole(n_jobs) or n_jobs == 0:
            needed = f"at least two {name.removeprefix('n_')} and one process are needed"
            raise CofactorError(f"{name}={n!r}, n_jobs={n_jobs!r}: {needed}, as whole numbers")
        if n > MOST_RUNS or abs(n_jobs) > MOST_JOBS:
            raise CofactorError(f"{name}={n}, n_jobs={n_jobs}: at most {MOST_RUNS} runs on {MOST_JOBS} processes")


def _attempt(refit: Callable[[Rows], Fit], n_rows: int, rng: np.random.Generator) -> Fit | CofactorError:
    try:
        return refit(rng.integers(n_rows, size=n_rows))
    except CofactorError as refusal:
        return refusal


def in_parallel(jobs: Iterator[Any], n_jobs_in_all: int, name: str, n_jobs: int, verbose: bool) -> Iterator[Any]:
    """Run joblib's delayed calls on `n_jobs` processes and yield their results in order, with a progress bar."""
    results = joblib.Parallel(n_jobs, return_as="generator")(jobs)
    yield from progress(results, name, verbose, n_jobs_in_all)
    if n_jobs != 1:
        joblib.externals.loky.get_reusable_executor().shutdown()  # idle processes would keep their memory


def refit_by_em(
    rows: Rows, table: CategoricalTable, model: LatentClassModel, pseudo_count: float = 0.0
) -> tuple[LatentClassModel, bool]:
    """Run EM on redrawn rows from the model of all rows; return the aligned model, and whether it converged."""
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # the caller counts them
        found, result = em(table.take_rows(rows), model.lift(START_FLOOR), REFIT_ROUNDS, REFIT_TOL, False, pseudo_count)
    return found.align_to(model), result.converged


def warn_of_unfinished(converged: list[bool]) -> None:
    """Warn with the number of refits that reached their iteration limit, if any did."""
    if not all(converged):
        unfinished = f"{converged.count(False)} of {len(converged)} refits stopped before convergence"
        warnings.warn(f"{unfinished}: intervals may be too narrow", ConvergenceWarning, stacklevel=4)


def quantiles(draws: ArrayLike, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the ends of the central interval of (B, ...) draws at a level."""
    tail = (1 - checked_level(level)) / 2
    low, high = np.quantile(np.asarray(draws, dtype=np.float64), [tail, 1 - tail], axis=0)
    return low, high


def probability_intervals(p: Floats, spread: Floats, n: ArrayLike, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return intervals of estimated probabilities from their spread over refits.

        quantiles (1 - level) / 2 and (1 + level) / 2 of Beta(n_eff p + 1/2, n_eff (1 - p) + 1/2),
        n_eff = min(n, p (1 - p) / s^2 - 1), with p at least a half observation from 0 and 1

    Parameters
    ----------
    p : array
        Probabilities of the fit to all rows.
    spread : array of the same shape
        s, the standard deviation over the refits.
    n : array that broadcasts to it
        Number of observations behind each; 0 gives an interval of nearly (0, 1).
    level : float in (0, 1)

    Returns low and high, arrays of the same shape; p lies between them.

    >>> probability_intervals(np.array([0.0, 0.5]), np.array([0.0, 0.05]), n=20)[1].round(2)
    array([0.09, 0.68])
    """
    tail = (1 - checked_level(level)) / 2
    n = np.broadcast_to(np.asarray(n, dtype=np.float64), p.shape)
    inside = np.clip(p, 0.5 / (n + 1.0), 1 - 0.5 / (n + 1.0))
    worth = np.minimum(inside * (1 - inside) / np.maximum(spread**2, LEAST_VARIANCE) - 1, n)
    worth = np.maximum(worth, 0.0)
    low, high = (special.betaincinv(worth * p + 0.5, worth * (1 - p) + 0.5, q) for q in (tail, 1 - tail))
    return np.minimum(low, p), np.maximum(high, p)


def checked_level(level: float) -> float:
    """Return the level; raise a CofactorError unless it is a number between 0 and 1."""
    if not is_number(level) or not 0 < level < 1:
        raise CofactorError(f"level={level!r}: the level of an interval must be between 0 and 1")
    return level


@dataclass(frozen=True, repr=False)
class ModelBootstrap:
    """A latent-class model with its refits and intervals.

    Attributes
    ----------
    model : LatentClassModel
        The fit to all rows.
    draws : tuple of LatentClassModel
        The refits, with latent classes in the order of `model`.
    counts : (sum I_n, F) array
        Soft count of how often each variable was observed in each class, repeated for every value.
    n_rows : int
        Number of rows with an observed entry.
    other : LatentClassModel, optional
        A model of the same rows under another plausible assumption. Refits share the assumption of `model`, so they
        cannot show its error; the distance to the other model counts as one standard deviation of this error.
    """

    model: LatentClassModel
    draws: tuple[LatentClassModel, ...]
    counts: Floats
    n_rows: int
    _: KW_ONLY
    other: LatentClassModel | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, {len(self.draws)} refits to {self.n_rows} rows)"

    def interval(
        self, statistic: Callable[[LatentClassModel], ArrayLike], level: float = LEVEL
    ) -> tuple[Floats, Floats, Floats]:
        """Return estimate, low and high of a statistic of the model: quantiles of the refits, widened by `other`."""
        low, high = quantiles(np.stack([np.asarray(statistic(draw)) for draw in self.draws]), level)
        estimate = np.asarray(statistic(self.model), dtype=np.float64)
        more = special.ndtri((1 + level) / 2) * self._away(statistic)
        below, above = np.hypot(estimate - low, more), np.hypot(high - estimate, more)
        return estimate, np.where(more > 0, estimate - below, low), np.where(more > 0, estimate + above, high)

    def spread(self, statistic: Callable[[LatentClassModel], Floats]) -> Floats:
        """Return the standard deviation of a statistic of the model, from the refits and from `other`."""
        return np.hypot(np.std([statistic(draw) for draw in self.draws], axis=0), self._away(statistic))

    def _away(self, statistic: Callable[[LatentClassModel], ArrayLike]) -> Floats:
        estimate = np.asarray(statistic(self.model), dtype=np.float64)
        return np.abs(np.asarray(statistic(self.other)) - estimate) if self.other else np.zeros_like(estimate)

    def prior_interval(self, level: float = LEVEL) -> tuple[Floats, Floats]:
        """Return low and high of the (F,) prior."""
        spread = self.spread(lambda model: np.asarray(model.prior))
        return probability_intervals(self.model.prior, spread, self.n_rows, level)

    def cell_intervals(self, level: float = LEVEL) -> tuple[Floats, Floats]:
        """Return low and high of the (sum I_n, F) stacked conditionals."""
        spread = self.spread(lambda model: model.stacked)
        return probability_intervals(self.model.stacked, spread, self.counts, level)


def observations(table: CategoricalTable, model: LatentClassModel) -> Floats:
    """Return the (sum I_n, F) soft number of rows of each class in which a variable was observed."""
    cells = expectation(table, model).cells
    totals = np.add.reduceat(cells, np.cumsum(model.sizes) - model.sizes, axis=0)
    return np.asarray(np.repeat(totals, model.sizes, axis=0))


def seen_rows(table: CategoricalTable) -> Ints:
    """Return the indices of rows with an observed entry."""
    return np.flatnonzero(table.entries_per_row > 0)

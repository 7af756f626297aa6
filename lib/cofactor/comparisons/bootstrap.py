"""How sure learnt preferences are: intervals for differences of utilities and for the chances of choices.

Features are known up to a change of basis and utilities up to a number per user, so intervals are of what remains: the
difference of two items' utilities for one user, and the chance that follows. They reach as far to both sides of the
estimate as a normal distribution with the standard deviation of the refits.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from cofactor.comparisons.base import PreferenceModel, require_comparisons
from cofactor.comparisons.data import Comparisons
from cofactor.core.bootstrap import LEVEL, checked_level, resample
from cofactor.core.checks import check_kind, rng_of
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning
from cofactor.core.estimator import clone
from cofactor.core.lazy import pd, special
from cofactor.core.types import Indices, Seed

CHOSEN_SETTINGS = ("rank", "ridge", "bias_ridge")  # settings that a fit may choose; it keeps them with an underscore


@dataclass(frozen=True, repr=False)
class ComparisonBootstrap:
    """A fitted method (`model`) with its refits (`draws`); see `bootstrap`."""

    model: PreferenceModel
    draws: tuple[PreferenceModel, ...]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, {len(self.draws)} refits)"

    def margins(self, user: ArrayLike, left: ArrayLike, right: ArrayLike, level: float = LEVEL) -> pd.DataFrame:
        """Return the differences of utilities, left less right, one row per question: estimate, low, high."""
        estimate = self.model.margin(user, left, right)
        spread = np.std([draw.margin(user, left, right) for draw in self.draws], axis=0, ddof=1)
        reach = special.ndtri((1 + checked_level(level)) / 2) * spread
        return pd.DataFrame({"estimate": estimate, "low": estimate - reach, "high": estimate + reach})

    def chances(self, user: ArrayLike, left: ArrayLike, right: ArrayLike, level: float = LEVEL) -> pd.DataFrame:
        """Return the chances that left is preferred: estimate, low, high. A method that only orders items refuses."""
        margins = self.margins(user, left, right, level)
        return pd.DataFrame({name: self.model.chance_of(column.to_numpy()) for name, column in margins.items()})


def bootstrap(
    method: PreferenceModel,
    comparisons: Comparisons,
    *,
    n_draws: int = 200,
    random_state: Seed = None,
    n_jobs: int = 1,
    verbose: bool = False,
) -> ComparisonBootstrap:
    """Fit again to comparisons drawn with replacement: how far preferences would move on another sample.

    Rank and ridges are chosen once, on all comparisons, and held fixed in the refits.

    Parameters
    ----------
    method : a method of METHODS, not fitted
    comparisons : Comparisons
    n_draws, random_state, n_jobs, verbose
        See `resample`; the result is the same at any number of jobs.

    Returns
    -------
    ComparisonBootstrap
        `margins` and `chances` answer questions with intervals.

    Raises a CofactorError where no preferences are found, so that the ridge is infinite, and as `fit` and `resample`.

    Cost: `n_draws` fits without a search for ridges. A ridge that is given, and far too large, draws utilities together
    beyond what refits show.

    >>> from cofactor import comparisons, simulate
    >>> data = simulate.draw_comparisons(*simulate.comparison_factors(30, 20, 1, random_state=0), 2000, random_state=0)
    >>> sure = comparisons.bootstrap(comparisons.ComparisonMF(1, ridge=5.0), data, n_draws=5, random_state=0)
    >>> chance = sure.chances(0, 1, 2)
    >>> bool((chance["low"] < chance["high"]).all())
    True
    """
    rng = rng_of(random_state)
    model, draws = fitted_and_refits(method, require_comparisons(comparisons), n_draws, rng, n_jobs, verbose)
    return ComparisonBootstrap(model, tuple(draws))


def fitted_and_refits(
    method: PreferenceModel,
    comparisons: Comparisons,
    n_draws: int,
    rng: np.random.Generator,
    n_jobs: int,
    verbose: bool,
) -> tuple[PreferenceModel, list[PreferenceModel]]:
    """Return the fit to all comparisons, and fits to redrawn ones with the rank and ridges that it chose."""
    check_kind(PreferenceModel, method=method)
    model = clone(method).set_params(random_state=int(rng.integers(2**31))).fit(comparisons)
    again = partial(refit_to_redrawn, with_what_was_chosen(model), comparisons)
    return model, resample(again, len(comparisons), n_draws, rng, n_jobs, verbose)


def with_what_was_chosen(fitted: PreferenceModel) -> PreferenceModel:
    """Return the method, not fitted, with the rank and the ridges that a fit has chosen."""
    chosen = {name: getattr(fitted, f"{name}_") for name in CHOSEN_SETTINGS if hasattr(fitted, f"{name}_")}
    if np.isinf(chosen.get("ridge", 0.0)):
        raise CofactorError("no preferences are found in these comparisons that could be fitted again: collect more")
    unfitted: PreferenceModel = clone(fitted).set_params(**chosen)
    return unfitted


def refit_to_redrawn(method: PreferenceModel, comparisons: Comparisons, rows: Indices) -> PreferenceModel:
    """Return the method fitted to these rows of the comparisons; rows may repeat."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        found: PreferenceModel = clone(method).fit(comparisons.take(rows))
        return found

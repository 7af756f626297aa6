"""How sure learnt preferences are: intervals for differences of utilities and for the chances of choices.

Features are known up to a change of basis and utilities up to a number per user, so intervals are of what remains: the
difference of two items' utilities for one user, and the chance that follows. They reach as far to both sides of the
estimate as a normal distribution with the standard deviation of the refits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm
from sklearn.base import clone

from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.links import link_named
from cofactor.comparisons.planner import refit, with_what_was_chosen
from cofactor.core.bootstrap import LEVEL, checked_level, resample
from cofactor.core.types import Seed

if TYPE_CHECKING:
    from cofactor.comparisons.estimators import ComparisonMF


@dataclass(frozen=True, repr=False)
class ComparisonBootstrap:
    """A fitted ComparisonMF with its refits; see `bootstrap`.

    Attributes
    ----------
    model : ComparisonMF
        The fit to all comparisons.
    draws : tuple of ComparisonMF
        The refits.
    """

    model: ComparisonMF
    draws: tuple[ComparisonMF, ...]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, {len(self.draws)} refits)"

    def margins(self, user: ArrayLike, left: ArrayLike, right: ArrayLike, level: float = LEVEL) -> pd.DataFrame:
        """Return the differences of utilities, left less right, one row per question: estimate, low, high."""
        return self._intervals(user, left, right, level)

    def chances(self, user: ArrayLike, left: ArrayLike, right: ArrayLike, level: float = LEVEL) -> pd.DataFrame:
        """Return the chances that left is preferred: estimate, low, high."""
        return self._intervals(user, left, right, level).transform(link_named(self.model.link).probability)

    def _intervals(self, user: ArrayLike, left: ArrayLike, right: ArrayLike, level: float) -> pd.DataFrame:
        estimate = self.model.margin(user, left, right)
        spread = np.std([draw.margin(user, left, right) for draw in self.draws], axis=0, ddof=1)
        reach = norm.ppf((1 + checked_level(level)) / 2) * spread
        return pd.DataFrame({"estimate": estimate, "low": estimate - reach, "high": estimate + reach})


def bootstrap(
    estimator: ComparisonMF,
    comparisons: Comparisons,
    n_draws: int = 200,
    random_state: Seed = None,
    n_jobs: int = 1,
    verbose: bool = False,
) -> ComparisonBootstrap:
    """Fit again to comparisons drawn with replacement: how far preferences would move on another sample.

    Rank and ridges are chosen once, on all comparisons, and held fixed in the refits.

    Parameters
    ----------
    estimator : ComparisonMF
    comparisons : Comparisons
    n_draws, random_state, n_jobs, verbose
        See `resample`; the result is the same at any number of jobs.

    Returns
    -------
    ComparisonBootstrap
        `margins` and `chances` answer questions with intervals.

    Raises
    ------
    CofactorError
        No preferences found, so that the ridge is infinite, or as `fit` and `resample`.

    Cost
    ----
    `n_draws` fits without a search for ridges.

    Notes
    -----
    Measured on 40 users, 30 items, rank 2, three truths each: of the true differences of utilities, intervals of 90 per
    cent hold 90 from 3000 choices (87 to 94), and 91 from 9000 (89 to 93); quantiles of as many refits, 40, hold 86 and
    87. A ridge that is given, and far too large, draws utilities together beyond what refits show.

    Examples
    --------
    >>> from cofactor import comparisons, simulate
    >>> data = simulate.draw_comparisons(*simulate.comparison_factors(30, 20, 1, random_state=0), 2000, random_state=0)
    >>> sure = comparisons.bootstrap(comparisons.ComparisonMF(1, ridge=5.0), data, n_draws=5, random_state=0)
    >>> chance = sure.chances(0, 1, 2)
    >>> bool((chance["low"] < chance["high"]).all())
    True
    """
    rng = np.random.default_rng(random_state)
    seeded = clone(estimator).set_params(random_state=int(rng.integers(2**31)))
    model = clone(seeded).fit(comparisons)
    again = partial(refit, with_what_was_chosen(model), comparisons)
    return ComparisonBootstrap(model, tuple(resample(again, len(comparisons), n_draws, rng, n_jobs, verbose)))

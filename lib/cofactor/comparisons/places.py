"""A ranking, its tables, and which places cannot be told apart.

    symbol   meaning                                                              shape
    u        utilities of the items                                               (n,)
    V        covariance of their estimates                                        (n, n)
    d_ij     u_i - u_j, with standard error se_ij

Ranks are simultaneous: with a chance of at least `level`, all items at once have their rank within the places given.
Item i is surely above j where d_ij exceeds c se_ij; c is a quantile of the largest |d_ij - E d_ij| / se_ij over all
pairs, simulated with covariance V.

Source: Mogstad, Romano, Shaikh and Wilhelm, "Inference for ranks with applications to mobility across neighbourhoods
and academic achievement across countries", Review of Economic Studies 2024, Section 3, with normal draws in place of a
bootstrap, and in one step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm, t

from cofactor.comparisons import davidson
from cofactor.core.result import Result
from cofactor.core.types import Floats, Ints

NO_SPREAD = 1e-7  # of the largest standard error: rounding, which tells no difference
N_DRAWS = 2000  # of the largest difference; they tell its 90 % quantile to a hundredth or two


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """What `rank` found.

    Attributes
    ----------
    items : list of n ids
    utilities : (n,) array
        In logits, of mean zero. Where nobody tied and covariates are zero, i is preferred to j with chance
        1 / (1 + exp(u_j - u_i)).
    ranks : (n, 3) array
        Rank (1 is best), and the least and the largest rank that the data allow; simultaneous for all items.
    counts : (n, 3) array
        Comparisons won, lost, and made; ties are made and neither.
    covariates : list of k names
    parameters : (p,) array, covariance : (p, p) array
        Utilities, coefficients of the covariates, and log of the tie parameter if there are ties.
    n_users : float
        As many equally busy users would tell as much (see `clusters`); 0 where comparisons count as independent.
    unlinked : list of ids
        Items that never lost to the others, or never won, so that a prior holds their utilities finite.
    level : float
        Chance of intervals to hold the truth.
    result : Result
    """

    items: list[Any]
    ranks: Ints
    counts: Floats
    covariates: list[str]
    parameters: Floats
    covariance: Floats
    n_users: float
    unlinked: list[Any]
    level: float
    result: Result

    def __repr__(self) -> str:
        return f"Ranking({len(self.items)} items, {self.counts[:, 2].sum() / 2:g} comparisons)"

    @property
    def utilities(self) -> Floats:
        """(n,) utilities."""
        return self.parameters[: len(self.items)]

    @property
    def quantile(self) -> float:
        """Standard errors that an interval reaches to both sides."""
        share = (1 + self.level) / 2
        return float(t.ppf(share, self.n_users - 1) if self.n_users else norm.ppf(share))

    def table(self) -> pd.DataFrame:
        """Return a row per item, best first: utility with its interval, rank and allowed ranks, counts."""
        n = len(self.items)
        found = {"item": pd.Series(self.items, dtype=object), **self._intervals(slice(0, n), "utility")}
        found |= dict(zip(("rank", "rank_low", "rank_high"), self.ranks.T, strict=True))
        counts = self.counts.astype(np.int64) if (self.counts % 1 == 0).all() else self.counts
        found |= dict(zip(("wins", "losses", "comparisons"), counts.T, strict=True))
        return pd.DataFrame(found).iloc[np.argsort(-self.utilities, kind="stable")].reset_index(drop=True)

    def coefficients(self) -> pd.DataFrame:
        """Return a row per covariate, with the interval of its coefficient; the last row is tau, if there are ties."""
        n = len(self.items)
        names = [*self.covariates, "log of tie parameter"] if self._ties else self.covariates
        return pd.DataFrame({"name": names, **self._intervals(slice(n, None), "coefficient")})

    def probabilities(self) -> pd.DataFrame:
        """Return a row per pair of items, the better one first, where covariates are zero.

        `chance` is that of the first if one of them wins, with its interval; `tie` the chance that none does.
        """
        n, order = len(self.items), np.argsort(-self.utilities, kind="stable")
        first, second = (order[part] for part in np.triu_indices(len(order), 1))
        z = self.utilities[first] - self.utilities[second]
        reach = self.quantile * spreads(self.covariance[:n, :n])[first, second]
        tau = self.parameters[-1] if self._ties else -np.inf
        names = np.array([*self.items, None], dtype=object)  # ids that are sequences stay whole beside None
        found = {"item": names[first], "against": names[second], "chance": expit(z)}
        found |= {"low": expit(z - reach), "high": expit(z + reach), "tie": davidson.chances(z, tau)[2]}
        return pd.DataFrame(found)

    @property
    def _ties(self) -> bool:
        return len(self.parameters) > len(self.items) + len(self.covariates)

    def _intervals(self, rows: slice, name: str) -> dict[str, Floats]:
        estimate = self.parameters[rows]
        reach = self.quantile * np.sqrt(np.diag(self.covariance)[rows])
        return {name: estimate, "low": estimate - reach, "high": estimate + reach}


def places(u: Floats, V: Floats, level: float, n_users: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of every item that its differences to the others allow.

    Cost: O(N_DRAWS n^2).
    """
    n, se = len(u), spreads(V)
    se[se <= NO_SPREAD * se.max()] = np.inf  # of an item with itself, and where each user won as often as he lost
    draws = rng.multivariate_normal(np.zeros(n), V, N_DRAWS, method="eigh")
    largest = np.max([np.max(np.abs(draws - draws[:, [i]]) / se[i], axis=1) for i in range(n)], axis=0)
    if n_users:
        largest *= np.sqrt((n_users - 1) / rng.chisquare(n_users - 1, N_DRAWS))
    surely_above = (u[:, None] - u[None, :]) / se > np.quantile(largest, level)
    return 1 + surely_above.sum(axis=0), n - surely_above.sum(axis=1)


def spreads(V: Floats) -> Floats:
    """Return the standard errors of all differences."""
    variance = np.diag(V)
    return np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * V, 0.0))

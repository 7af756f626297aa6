"""The result of a ranking: utilities, ranks with simultaneous intervals, tables, and pairs to compare next.

    symbol   meaning                                                              shape
    u        utilities of the items                                               (n,)
    V        covariance of their estimates                                        (n, n)
    q        normal scores of ranks, ndtri((rank - 1/2) / n)

Ranks are simultaneous: with a chance of `level`, all items at once have their rank within the places given. Utilities
are drawn from what the comparisons leave possible, normal with covariance V about u; the places of item i are those
with |q - mean q_i| <= c sd(q_i), and c is the quantile of the largest such ratio over all items.

Source: Besag, Green, Higdon and Mengersen, "Bayesian computation and stochastic systems", Statistical Science 1995,
Section 6.3 (simultaneous regions from draws), with a studentised largest deviation; Laird and Louis, "Empirical Bayes
ranking methods", Journal of Educational Statistics 1989 (ranks of draws). The sets of Mogstad, Romano, Shaikh and
Wilhelm, "Inference for ranks", Review of Economic Studies 2024, which compare all pairs by a studentised maximum, hold
for every truth and are far wider: each pair that is not told apart widens two of them. docs/rank.md has both widths.
These hold on the mean over items as the prior has them, and where who is compared more often is better (`evidence`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cofactor.comparisons import davidson
from cofactor.core.checks import check_whole, is_number
from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import pd, special
from cofactor.core.result import Result
from cofactor.core.types import Floats, Ints

UTILITY_DRAWS = 8000  # of all utilities
ELO = 400 / np.log(10)  # points for a unit of utility
FEW_OF_AN_ITEM = 2  # comparisons of an item, which hardly tell its rank
# so many items that are so far apart need so many comparisons each
FAR_APART = 1.3
MANY_ITEMS = 20
ENOUGH_PER_ITEM = 10
SCORE_ROUNDING = 1e-9  # relative, of scores that are equal


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Result of `rank`: utilities with intervals, simultaneous intervals of ranks, and tables of them.

    Attributes
    ----------
    items : list of n ids
    utilities : (n,) array
        In logits, of mean zero. If they were known, i would be preferred to j with chance 1 / (1 + exp(u_j - u_i)).
    ranks : (n, 3) array
        Rank (1 is best), and the least and the largest rank that the data allow; simultaneous for all items.
    counts : (n, 3) array
        Comparisons won, lost, and made; ties are made and neither.
    covariates : list of k names
    parameters : (p,) array, covariance : (p, p) array
        Utilities, coefficients of the covariates, and log of the tie parameter if there are ties.
    n_users : float
        As many equally busy users would tell as much (see `clusters`); 0 where theirs count as independent.
    n_prompts : float
        The same of prompts.
    unlinked : list of ids
        Items that never lost to the others, or never won, so that the prior alone holds their utilities finite.
    sd : float
        Standard deviation of the prior on utilities, chosen by the evidence of the comparisons.
    log_loss, trivial_log_loss : float
        Mean log-loss on comparisons that were held out in five folds, and that of the trivial guess.
    sided : bool
        Whether the trivial guess knows how often either side wins; else it takes both for equally good.
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
    n_prompts: float
    unlinked: list[Any]
    sd: float
    log_loss: float
    trivial_log_loss: float
    sided: bool
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
        upper, fewer = (1 + self.level) / 2, fewest(self.n_users, self.n_prompts)
        return float(special.stdtrit(fewer - 1, upper) if fewer else special.ndtri(upper))

    @property
    def told_apart(self) -> bool:
        """Whether the ranks that are allowed put any item above another."""
        return bool(self.ranks[:, 1].max() > self.ranks[:, 2].min())

    def doubts(self) -> list[str]:
        """Return sentences: that no order can be inferred, which were seldom compared, that intervals are short."""
        found = [] if self.told_apart else ["no order can be inferred: the allowed ranks of all items overlap"]
        few = [self.items[i] for i in np.flatnonzero(self.counts[:, 2] <= FEW_OF_AN_ITEM).tolist()]
        what = f"items with {FEW_OF_AN_ITEM} comparisons or fewer, whose ranks are hardly determined"
        found += [f"{what}: {listing(few)}"] if few else []
        each = float(np.median(self.counts[:, 2]))
        if len(self.items) >= MANY_ITEMS and self.sd > FAR_APART and each < ENOUGH_PER_ITEM:
            far = f"items are far apart for {each:.3g} comparisons of each"
            found.append(f"intervals of utilities may be too short: {far}, and those of 90 % may hold 80 % of them")
        return found

    def table(self, elo: tuple[Any, float] | None = None) -> pd.DataFrame:
        """Return a row per item, best first: utility with its interval, rank and allowed ranks, counts.

        `elo`: an item and its number, or None and that of the mean; adds the columns elo, elo_low and elo_high on that
        scale, 400 points for odds of ten. Their intervals are of the difference to this item.
        """
        n = len(self.items)
        found = {"item": pd.Series(self.items, dtype=object), **self._intervals(slice(0, n), "utility")}
        found |= dict(zip(("rank", "rank_low", "rank_high"), self.ranks.T, strict=True))
        counts = self.counts.astype(np.int64) if (self.counts % 1 == 0).all() else self.counts
        found |= dict(zip(("wins", "losses", "comparisons"), counts.T, strict=True))
        found |= {} if elo is None else self._elo(*elo)
        return pd.DataFrame(found).iloc[np.argsort(-self.utilities, kind="stable")].reset_index(drop=True)

    def _elo(self, anchor: Any, number: float) -> dict[str, Floats]:
        n, zero = len(self.items), 0.0
        reach = np.sqrt(np.diag(self.covariance)[:n])
        if anchor is not None:
            if anchor not in self.items:
                raise CofactorError(f"no item {anchor}: anchor the scale at one of {listing(self.items)}")
            k = self.items.index(anchor)
            zero, reach = float(self.utilities[k]), spreads(self.covariance[:n, :n])[k]
        center, reach = number + ELO * (self.utilities - zero), ELO * self.quantile * reach
        return {"elo": center, "elo_low": center - reach, "elo_high": center + reach}

    def coefficients(self) -> pd.DataFrame:
        """Return a row per covariate, with the interval of its coefficient; the last row is tau, if there are ties."""
        n = len(self.items)
        names = [*self.covariates, "log of tie parameter"] if self._ties else self.covariates
        return pd.DataFrame({"name": names, **self._intervals(slice(n, None), "coefficient")})

    def probabilities(self) -> pd.DataFrame:
        """Return a row per pair of items, the better one first, where covariates are zero.

        `chance` is that of the first if one of them wins, the mean over what the comparisons leave possible, with its
        interval; `tie` the chance that none does.
        """
        n, order = len(self.items), np.argsort(-self.utilities, kind="stable")
        first, second = (order[part] for part in np.triu_indices(len(order), 1))
        z = self.utilities[first] - self.utilities[second]
        s = spreads(self.covariance[:n, :n])[first, second]
        mean, reach = davidson.averaged(z, s**2), self.quantile * s
        tau = self.parameters[-1] if self._ties else -np.inf
        names = np.array([*self.items, None], dtype=object)  # ids that are sequences stay whole beside None
        found = {"item": names[first], "against": names[second], "chance": special.expit(mean)}
        found |= {
            "low": special.expit(z - reach),
            "high": special.expit(z + reach),
            "tie": davidson.outcome_chances(mean, tau)[2],
        }
        return pd.DataFrame(found)

    def chance(self, item: Any, against: Any, given: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return the chance that one item wins, if one of two does, with its interval; and the chance of a tie.

        The chance is the mean over what the comparisons leave possible; see `davidson.averaged`.

        `given`: values of covariates, of the first item less the second (home=1); the others are zero.

        Raises a CofactorError for items and covariates that are not of this ranking.
        """
        way, given = np.zeros(len(self.parameters)), given or {}
        for name, sign in ((item, 1.0), (against, -1.0)):
            way[self._place(name)] += sign
        for name, value in given.items():
            if name not in self.covariates or not is_number(value):
                known = f"numbers of {listing(self.covariates)}" if self.covariates else "none, there are none"
                raise CofactorError(f"given {name}={value!r}: covariates are {known}")
            way[len(self.items) + self.covariates.index(name)] = value
        z, v = float(way @ self.parameters), float(way @ self.covariance @ way)
        mean, reach = float(davidson.averaged(np.array(z), np.array(v))), self.quantile * np.sqrt(v)
        tie = davidson.outcome_chances(np.array([mean]), self.parameters[-1] if self._ties else -np.inf)[2]
        low, chance, high = special.expit([z - reach, mean, z + reach]).tolist()
        return {"chance": chance, "low": low, "high": high, "tie": float(tie[0])}

    def next_pairs(self, n_pairs: int = 5) -> pd.DataFrame:
        """Return the pairs to compare next, one a row: those whose outcomes are expected to tell most of utilities.

        `gain` is log(1 + p (1 - p) s^2) / 2 nats, p the chance of the first and s the standard error of the difference;
        each pair is chosen as if the ones before it had been compared. Ties and the likeness of users do not count.

        Cost: O(n^2) a pair. Source: MacKay, "Information-based objective functions for active data selection", Neural
        Computation 1992.
        """
        check_whole(1, n_pairs=n_pairs)
        n, rows = len(self.items), []
        V, z = self.covariance[:n, :n].copy(), self.utilities[:, None] - self.utilities
        p = special.expit(z)
        for _ in range(n_pairs):
            told = p * (1 - p) * spreads(V) ** 2
            i, j = np.unravel_index(int(np.argmax(np.triu(told, 1) if n > 1 else told)), told.shape)
            way = V[:, i] - V[:, j]
            rows.append((self.items[i], self.items[j], float(p[i, j]), float(np.log1p(told[i, j]) / 2)))
            V -= p[i, j] * (1 - p[i, j]) / (1 + told[i, j]) * np.outer(way, way)
        return pd.DataFrame(rows, columns=["item", "against", "chance", "gain"])

    def _place(self, item: Any) -> int:
        if item not in self.items:
            raise CofactorError(f"no item {item}: the ranking has {listing(self.items)}")
        return self.items.index(item)

    @property
    def _ties(self) -> bool:
        return len(self.parameters) > len(self.items) + len(self.covariates)

    def _intervals(self, rows: slice, name: str) -> dict[str, Floats]:
        estimate = self.parameters[rows]
        reach = self.quantile * np.sqrt(np.diag(self.covariance)[rows])
        return {name: estimate, "low": estimate - reach, "high": estimate + reach}


def fewest(*counts: float) -> float:
    """Return the smallest positive count; 0 if there is none."""
    return min(filter(None, counts), default=0.0)


def places(u: Floats, V: Floats, level: float, n_users: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of every item that the comparisons allow, for all items at once.

    Draws follow the order of utilities, so that names of items change nothing.

    Cost: O(n^3 + UTILITY_DRAWS n (n + log n)).
    """
    n, order = len(u), np.argsort(-u, kind="stable")
    drawn = _drawn_ranks(u[order], V[np.ix_(order, order)], n_users, rng)
    table = special.ndtri((np.arange(n) + 0.5) / n)
    q = table[drawn]
    mean, sd = q.mean(axis=0), q.std(axis=0)
    ratio = np.abs(q - mean) / np.where(sd > 0, sd, 1.0)
    reach = np.quantile(ratio.max(axis=1), level, method="higher") * sd + SCORE_ROUNDING * (1 + np.abs(mean))
    low, high = np.searchsorted(table, mean - reach), np.searchsorted(table, mean + reach, side="right") - 1
    least, most = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
    least[order], most[order] = np.minimum(low, np.arange(n)), np.maximum(high, np.arange(n))
    return 1 + least, 1 + most


def _drawn_ranks(u: Floats, V: Floats, n_users: float, rng: np.random.Generator) -> Ints:
    """(UTILITY_DRAWS, n) ranks, from 0, of utilities that are drawn; a number that all share changes none."""
    n = len(u)
    size = max(np.trace(V) / n, np.finfo(float).tiny)
    L = np.linalg.cholesky(V + size / n + 1e-10 * size * np.eye(n))
    noise = rng.standard_normal((UTILITY_DRAWS, n)) @ L.T
    if n_users:
        noise *= np.sqrt((n_users - 1) / rng.chisquare(n_users - 1, (UTILITY_DRAWS, 1)))
    by_place = np.argsort(-(u + noise), axis=1)
    drawn = np.empty_like(by_place)
    np.put_along_axis(drawn, by_place, np.arange(n)[None, :], axis=1)
    return drawn


def spreads(V: Floats) -> Floats:
    """Return the (n, n) standard errors of the differences of all two utilities."""
    variance = np.diag(V)
    return np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * V, 0.0))

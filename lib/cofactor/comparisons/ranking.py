"""``rank``: one order of the items for all users, how sure it is, and what follows: tables, chances, pairs to compare.

    symbol   meaning                                                              shape
    u        utilities of the items                                               (n,)
    V        covariance of their estimates                                        (n, n)
    q        normal scores of ranks, ndtri((rank - 1/2) / n)

The model, its prior and the covariance are in `davidson`.

Ranks are simultaneous: with a chance of `level`, all items at once have their rank within the places given. Utilities
are drawn from what the comparisons leave possible, normal with covariance V about u; the places of item i are those
with |q - mean q_i| <= c sd(q_i), and c is the quantile of the largest such ratio over all items.

Source: Besag, Green, Higdon and Mengersen, "Bayesian computation and stochastic systems", Statistical Science 1995,
Section 6.3 (simultaneous regions from draws), with a studentised largest deviation; Laird and Louis, "Empirical Bayes
ranking methods", Journal of Educational Statistics 1989 (ranks of draws). The sets of Mogstad, Romano, Shaikh and
Wilhelm, "Inference for ranks", Review of Economic Studies 2024, which compare all pairs by a studentised maximum, hold
for every truth and are far wider: each pair that is not told apart widens two of them. docs/rank.md has both widths.
These hold on the mean over items as the prior has them, and where who is compared more often is better (`davidson`).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cofactor.comparisons import davidson
from cofactor.comparisons.base import require_comparisons
from cofactor.comparisons.data import CHOICES, Codes, Comparisons
from cofactor.core.bootstrap import LEVEL, checked_level
from cofactor.core.checks import check_whole, is_number, numbers, rng_of
from cofactor.core.errors import CofactorError, DataWarning, NotIdentifiableError, listing
from cofactor.core.estimator import Result
from cofactor.core.lazy import pd, special
from cofactor.core.types import Floats, Indices, Ints, Seed

FEW_USERS = 5  # equally busy ones: fewer cannot tell how users differ, in all or about one item
ALIKE = 1e-9  # share of a covariate that items and other covariates leave unexplained, below which it is one of them
UNSEEN = "items without comparisons have no rank"
UNTOLD = "these comparisons do not predict who wins the next one"
UTILITY_DRAWS = 8000  # of all utilities
ELO = 400 / np.log(10)  # points for a unit of utility
FEW_OF_AN_ITEM = 2  # comparisons of an item, which hardly tell its rank
# so many items that are so far apart need so many comparisons each
FAR_APART = 1.3
MANY_ITEMS = 20
ENOUGH_PER_ITEM = 10
SCORE_ROUNDING = 1e-9  # relative, of scores that are equal


def rank(
    comparisons: Comparisons,
    covariates: pd.DataFrame | ArrayLike | None = None,
    *,
    level: float = LEVEL,
    min_comparisons: int = 1,
    random_state: Seed = None,
) -> Ranking:
    """Rank items by comparisons, with intervals for utilities and simultaneous ones for ranks.

    P(left wins) : P(right wins) : P(tie) = exp(z / 2) : exp(-z / 2) : nu,   z = u_left - u_right + X beta

    by the largest posterior density: utilities have a normal prior, whose standard deviation the evidence of the
    comparisons chooses. So items that were seldom compared, or never lost, are drawn towards the mean as far as the
    others are alike. Two users or more make the intervals allow for users who are alike in all their votes, and so
    do two prompts or more.

    Parameters
    ----------
    comparisons : Comparisons
        Outcomes 1 (left won), 0 and 0.5 (a tie).
    covariates : (m, k) numbers, optional
        Of left less right, in the order of `comparisons.left`; `read_votes` returns them so.
    level : float
    min_comparisons : int
        Items with fewer comparisons are left out, then those that have fewer without them.
    random_state : int, Generator or None
        Of the simulated quantile for ranks.

    Returns a `Ranking`, with `table()`, `probabilities()` and `coefficients()`.

    Raises a NotIdentifiableError where a covariate is a sum of others and of utilities; a CofactorError for other
    outcomes, and covariates of another shape. Warns (`DataWarning`) where chances are no better than the trivial guess
    on comparisons that were held out, where the prior alone holds utilities or coefficients finite, where items are in
    parts that nobody compared, and where users are few, in all or who compared an item.

    Cost: O(m) time, O(m + n^2) memory, and n^3 for n items, some sixty times. Covariates make every step pass over all
    comparisons.

    Source: see the head of this module, and `davidson`.

    >>> found = rank(Comparisons([0] * 60, [0, 0, 1] * 20, [1, 2, 2] * 20, [1, 1, 1, 1, 0] * 12))
    >>> found.table()[["item", "rank", "rank_low", "rank_high"]].values.tolist()
    [[0, 1, 1, 1], [1, 2, 2, 2], [2, 3, 3, 3]]
    """
    rng = rng_of(random_state)
    data, names, X = checked(comparisons, covariates, level)
    rows = comparable(data, min_comparisons)
    return ranking_of(data.take(rows), X[rows], names, level, rng)


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
        As many equally busy users would tell as much (see `davidson`); 0 where theirs count as independent.
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
        for one, sign in ((item, 1.0), (against, -1.0)):
            if one not in self.items:
                raise CofactorError(f"no item {one}: the ranking has {listing(self.items)}")
            way[self.items.index(one)] += sign
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
        """Return the comparisons to make next, one a row: those expected to tell most of utilities.

        A pair stands there several times where asking again tells more than any other pair.

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

    @property
    def _ties(self) -> bool:
        return len(self.parameters) > len(self.items) + len(self.covariates)

    def _intervals(self, rows: slice, name: str) -> dict[str, Floats]:
        estimate = self.parameters[rows]
        reach = self.quantile * np.sqrt(np.diag(self.covariance)[rows])
        return {name: estimate, "low": estimate - reach, "high": estimate + reach}


# ---- checks ----


def checked(
    comparisons: Comparisons, covariates: pd.DataFrame | ArrayLike | None = None, level: float = LEVEL
) -> tuple[Comparisons, list[str], Floats]:
    """Return the comparisons, and names and values of the covariates."""
    data = require_comparisons(comparisons)
    checked_level(level)
    bad = ~np.isin(data.outcome, CHOICES)
    if bad.any():
        found = listing(data.outcome[bad].tolist())
        raise CofactorError(f"outcomes must be 1, 0 or 0.5 (a tie), not {found}: give a row with counts for each")
    return data, *_checked_covariates(covariates, len(data))


def _checked_covariates(covariates: pd.DataFrame | ArrayLike | None, m: int) -> tuple[list[str], Floats]:
    if covariates is None:
        return [], np.zeros((m, 0))
    if isinstance(covariates, pd.DataFrame):
        names, X = list(map(str, covariates.columns)), numbers(covariates.to_numpy(), "covariates", 2)
    else:
        X = numbers(covariates, "covariates", 2)
        names = [f"covariate {k}" for k in range(X.shape[1])]
    if len(X) != m:
        raise CofactorError(f"covariates of {len(X)} comparisons, but there are {m}: give one row of each")
    bad = [names[k] for k in np.flatnonzero(~np.isfinite(X).all(axis=0)).tolist()]
    if bad:
        raise CofactorError(f"covariates hold NaN or infinity: {listing(bad)}; fill or drop these comparisons")
    zero = [names[k] for k in np.flatnonzero(~X.any(axis=0)).tolist()]
    if zero:
        raise NotIdentifiableError(f"covariates that are always zero have no effect: {listing(zero)}; leave them out")
    return names, X


def comparable(data: Comparisons, least: int) -> Indices:
    """Rows of the items that are ranked; those that are left out are named."""
    unseen = [data.items[i] for i in np.flatnonzero(data.per_item == 0).tolist()]
    if unseen:
        warnings.warn(f"{UNSEEN}: {listing(unseen)}", DataWarning, stacklevel=3)
    rows = _well_compared(data, least)
    return rows[largest_part(data.take(rows))]


def _well_compared(data: Comparisons, least: int) -> Indices:
    """Rows of items that have as many comparisons, also among themselves."""
    check_whole(1, min_comparisons=least)
    weight = np.ones(len(data)) if data.counts is None else data.counts
    ranked = np.ones(len(data), dtype=bool)
    while True:
        left, right = (np.bincount(side, weight * ranked, data.n_items) for side in (data.left, data.right))
        each = left + right
        left_out = ranked & ((each[data.left] < least) | (each[data.right] < least))
        if least == 1 or not left_out.any():
            break
        ranked &= ~left_out
    if not ranked.any():
        raise CofactorError(
            f"min_comparisons={least}: no items have so many comparisons with one another; ask for fewer"
        )
    return np.flatnonzero(ranked)


def largest_part(data: Comparisons) -> Indices:
    """Rows of the part with most items, of several that no comparison links; the other items are named."""
    part = data.components
    if data.n_components == 1:
        return np.arange(len(data))
    largest = int(np.bincount(part[part >= 0]).argmax())
    others = listing(data.items[i] for i in np.flatnonzero((part >= 0) & (part != largest)).tolist())
    what = f"no comparison links these items with the largest part, so that they have no rank in it: {others}"
    warnings.warn(f"{what}; ranked are the {np.sum(part == largest)} items of that part", DataWarning, stacklevel=3)
    return np.flatnonzero(part[data.left] == largest)


# ---- the fit ----


def ranking_of(data: Comparisons, X: Floats, names: list[str], level: float, rng: np.random.Generator) -> Ranking:
    """Return the ranking of checked comparisons."""
    scale = covariate_scales(X)
    seen = data.per_item > 0
    items, code = [data.items[i] for i in np.flatnonzero(seen).tolist()], np.cumsum(seen, dtype=np.int32) - np.int32(1)
    rows = davidson.rows_of(data, X / scale)
    rows = replace(rows, n_items=len(items), left=code[rows.left], right=code[rows.right])
    cells = davidson.pairs_of(rows)
    _check_told(cells, names)
    unlinked = unlinked_of(cells, items)
    sd, doubt, fitted = davidson.chosen(cells)
    _warn_of_covariates(cells, fitted, names)
    n, u = len(items), fitted.theta[: len(items)]
    (n_users, n_prompts), used = ways_of(rows, data, items)
    P, counts = davidson.independent(rows, fitted), davidson.counts(cells)
    V = davidson.with_doubt(davidson.clustered(rows, fitted, *used) if used else P, P, fitted, doubt, counts[:, 2])
    ranks = [1 + np.sum(u[None, :] > u[:, None], axis=1), *places(u, V[:n, :n], level, fewest(n_users, n_prompts), rng)]
    losses = davidson.held_out_loss(cells, fitted, doubt, V)
    warn_of_loss(*losses)
    size = np.concatenate([np.ones(n), scale, np.ones(int(cells.has_ties))])
    return Ranking(
        items=items,
        ranks=np.column_stack(ranks),
        counts=counts,
        covariates=names,
        parameters=fitted.theta / size,
        covariance=V / np.outer(size, size),
        n_users=n_users,
        n_prompts=n_prompts,
        unlinked=unlinked,
        sd=sd,
        log_loss=losses[0],
        trivial_log_loss=losses[1],
        sided=davidson.is_sided(cells),
        level=level,
        result=fitted.result,
    )


def covariate_scales(X: Floats) -> Floats:
    """Root mean squares of the covariates; divided by these they share one prior."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    return np.asarray(largest * np.sqrt(np.mean((X / largest) ** 2, axis=0)))


def _check_told(cells: davidson.Cells, names: list[str]) -> None:
    """Refuse comparisons that are all ties, and covariates that are sums of utilities and of other covariates."""
    if not (cells.won.any() or cells.lost.any()):
        raise NotIdentifiableError("every comparison is a tie, so none says which item is better")
    left, whole = davidson.covariate_information(cells, np.zeros(cells.size))
    bad = []
    for k, name in enumerate(names):
        if left[k, k] <= ALIKE * whole[k]:
            bad.append(name)
        else:
            left = left - np.outer(left[:, k], left[k]) / left[k, k]
    if bad:
        found = f"covariates that follow from the items, or from other covariates: {listing(bad)}"
        raise NotIdentifiableError(f"{found}; leave them out")


def unlinked_of(cells: davidson.Cells, items: list[Any]) -> list[Any]:
    """Name items outside of the largest group in which every item lost to every other, directly or through others."""
    group = davidson.linked_both_ways(cells)
    unlinked = [items[i] for i in np.flatnonzero(group != np.bincount(group).argmax()).tolist()]
    if unlinked:
        what = f"items that never lost to the others, or never won, not even through third ones: {listing(unlinked)}"
        warnings.warn(f"{what}; only the prior decides how far they are from the others", DataWarning, stacklevel=5)
    return unlinked


def _warn_of_covariates(cells: davidson.Cells, fitted: davidson.Fitted, names: list[str]) -> None:
    """Name those that the prior alone holds finite."""
    n, k = cells.n_items, len(names)
    told = np.diag(davidson.covariate_information(cells, fitted.theta)[0])
    if (told <= 2 * (fitted.ridge * np.abs(fitted.theta))[n : n + k]).any():
        what = f"covariates decide every comparison: {listing(names)}"
        warnings.warn(f"{what}; only the prior decides how large their coefficients are", DataWarning, stacklevel=5)


def warn_of_loss(loss: float, trivial: float) -> None:
    """Warn where the log-loss on held-out comparisons is no better than that of the trivial guess."""
    if not loss < trivial:
        what = f"log-loss {loss:.4f} on held-out comparisons, the trivial guess has {trivial:.4f}"
        message = f"{UNTOLD} ({what}): items may all be equally good, or comparisons too few"
        warnings.warn(message, DataWarning, stacklevel=4)


def ways_of(rows: davidson.Cells, data: Comparisons, items: list[Any]) -> tuple[list[float], list[Codes]]:
    """Return how many users and prompts count, 0 where they are left out, and the codes of those that are not."""
    ways = {"users": data.user} | ({} if data.prompt is None else {"prompts": data.prompt})
    codes = {name: np.unique(way, return_inverse=True)[1].astype(np.int32) for name, way in ways.items()}
    count = {name: _count(rows, code, name, items) for name, code in codes.items()}
    used = [code for name, code in codes.items() if count[name]]
    return [count.get(name, 0.0) for name in ("users", "prompts")], used


def _count(rows: davidson.Cells, code: Codes, name: str, items: list[Any]) -> float:
    """Return how many count, 0 if there is one or if they are too few, with a warning."""
    n = int(code.max()) + 1
    if n == 1:
        return 0.0
    count = davidson.users_that_count(rows, code)
    if count < FEW_USERS:
        message = f"{n} {name}, who count as {count:.3g} equally busy ones, are too few to show how {name} differ"
        advice = f"intervals are for these {name} alone, as if their comparisons were independent"
        warnings.warn(f"{message}: {advice}", DataWarning, stacklevel=5)
        return 0.0
    few = [items[i] for i in np.flatnonzero(davidson.users_of_items(rows, code) < FEW_USERS).tolist()]
    if few:
        message = f"fewer than {FEW_USERS} {name} compared {listing(few)}: the intervals of these items are too short"
        warnings.warn(message, DataWarning, stacklevel=5)
    return count


# ---- ranks that hold at once ----


def fewest(*counts: float) -> float:
    """Return the smallest positive count; 0 if there is none."""
    return min(filter(None, counts), default=0.0)


def places(u: Floats, V: Floats, level: float, n_users: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of every item that the comparisons allow, for all items at once.

    Draws follow the order of utilities, so that names of items change nothing; a number added to all changes no rank.

    Cost: O(n^3 + UTILITY_DRAWS n (n + log n)).
    """
    n, order = len(u), np.argsort(-u, kind="stable")
    size = max(np.trace(V[np.ix_(order, order)]) / n, np.finfo(float).tiny)
    L = np.linalg.cholesky(V[np.ix_(order, order)] + size / n + 1e-10 * size * np.eye(n))
    noise = rng.standard_normal((UTILITY_DRAWS, n)) @ L.T
    if n_users:
        noise *= np.sqrt((n_users - 1) / rng.chisquare(n_users - 1, (UTILITY_DRAWS, 1)))
    by_place = np.argsort(-(u[order] + noise), axis=1)
    drawn = np.empty_like(by_place)
    np.put_along_axis(drawn, by_place, np.arange(n)[None, :], axis=1)
    table = special.ndtri((np.arange(n) + 0.5) / n)
    q = table[drawn]
    mean, sd = q.mean(axis=0), q.std(axis=0)
    ratio = np.abs(q - mean) / np.where(sd > 0, sd, 1.0)
    reach = np.quantile(ratio.max(axis=1), level, method="higher") * sd + SCORE_ROUNDING * (1 + np.abs(mean))
    low, high = np.searchsorted(table, mean - reach), np.searchsorted(table, mean + reach, side="right") - 1
    least, most = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
    least[order], most[order] = np.minimum(low, np.arange(n)), np.maximum(high, np.arange(n))
    return 1 + least, 1 + most


def spreads(V: Floats) -> Floats:
    """Return the (n, n) standard errors of the differences of all two utilities."""
    variance = np.diag(V)
    return np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * V, 0.0))

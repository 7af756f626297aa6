"""Ranking of items for all users, with intervals, tables, win probabilities and pairs to compare next.

    symbol   meaning                                                              shape
    u        utilities of the items                                               (n,)
    V        covariance of their estimates                                        (n, n)
    q        normal scores of ranks, ndtri((rank - 1/2) / n)

The model, its prior and the covariance are in `davidson`.

Rank intervals are simultaneous: with probability `level`, they contain the ranks of all items at once. Utilities are
drawn from a normal distribution with mean u and covariance V; the interval of item i contains the ranks with
|q - mean q_i| <= c sd(q_i), where c is the quantile of the largest such ratio over all items.

Source: Besag, Green, Higdon and Mengersen, "Bayesian computation and stochastic systems", Statistical Science 1995,
Section 6.3 (simultaneous regions from draws), with a studentised largest deviation; Laird and Louis, "Empirical Bayes
ranking methods", Journal of Educational Statistics 1989 (ranks of draws). The sets of Mogstad, Romano, Shaikh and
Wilhelm, "Inference for ranks", Review of Economic Studies 2024, which compare all pairs by a studentised maximum, are
valid for every truth and far wider: each pair that cannot be distinguished widens two of them. The intervals here are
valid on average over items drawn from the prior, and if items that are compared more often are better (`davidson`).
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
UNTOLD = "these comparisons do not predict the outcome of further ones"
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
    """Rank items by comparisons, with intervals for utilities and simultaneous intervals for ranks.

    P(left wins) : P(right wins) : P(tie) = exp(z / 2) : exp(-z / 2) : nu,   z = u_left - u_right + X beta

    The estimate maximises the posterior density: utilities have a normal prior, whose standard deviation is chosen by
    the evidence of the comparisons. Items that were rarely compared, or never lost, are therefore shrunk towards the
    mean, the more so the more similar the other items are. With two or more users, the intervals allow for correlated
    votes of a user, and with two or more prompts, for correlated answers to a prompt.

    Parameters
    ----------
    comparisons : Comparisons
        Outcomes 1 (left won), 0 and 0.5 (a tie).
    covariates : (m, k) numbers, optional
        Differences left minus right, in the order of `comparisons.left`, as `read_votes` returns them.
    level : float
        Probability level of the intervals.
    min_comparisons : int
        Leave out items with fewer comparisons, and repeat this for the remaining items.
    random_state : int, Generator or None
        Used for the simulated quantile of ranks.

    Returns a `Ranking`, with the methods `table()`, `probabilities()` and `coefficients()`.

    Raises a NotIdentifiableError if a covariate is a combination of other covariates and of utilities, and a
    CofactorError for other outcomes or covariates of the wrong shape. Issues a `DataWarning` if predictions of held-out
    comparisons are no better than the trivial prediction, if only the prior keeps utilities or coefficients finite, if
    items are in components that no comparisons link, or if there are few users, overall or for an item.

    Cost: O(m) time and O(m + n^2) memory, plus about sixty times n^3 for n items. With covariates, every step is a pass
    over all comparisons.

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
    """Result of `rank`: utilities with intervals, simultaneous rank intervals, and tables of both.

    Attributes
    ----------
    items : list of n ids
    utilities : (n,) array
        In logits, with mean zero. Known utilities would give i preferred to j with probability
        1 / (1 + exp(u_j - u_i)).
    ranks : (n, 3) array
        Rank (1 is best), and the lower and upper end of its interval, simultaneous for all items.
    counts : (n, 3) array
        Number of wins, losses and comparisons; a tie counts as a comparison only.
    covariates : list of k names
    parameters : (p,) array, covariance : (p, p) array
        Utilities, coefficients of the covariates, and log of the tie parameter if there are ties.
    n_users : float
        Effective number of users (see `davidson`); 0 if comparisons are treated as independent of users.
    n_prompts : float
        Effective number of prompts, likewise.
    unlinked : list of ids
        Items that never lost to the others or never won, so that only the prior keeps their utilities finite.
    sd : float
        Standard deviation of the prior on utilities, chosen by the evidence of the comparisons.
    log_loss, trivial_log_loss : float
        Mean log-loss in five-fold cross-validation, and that of the trivial prediction.
    sided : bool
        Whether the trivial prediction uses how often either side wins; otherwise both sides are equally likely.
    level : float
        Probability level of the intervals.
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
        """The (n,) utilities."""
        return self.parameters[: len(self.items)]

    @property
    def quantile(self) -> float:
        """Half-width of an interval in standard errors."""
        upper, fewer = (1 + self.level) / 2, fewest(self.n_users, self.n_prompts)
        return float(special.stdtrit(fewer - 1, upper) if fewer else special.ndtri(upper))

    @property
    def told_apart(self) -> bool:
        """Whether the rank intervals place any item above another."""
        return bool(self.ranks[:, 1].max() > self.ranks[:, 2].min())

    def doubts(self) -> list[str]:
        """Return warnings: no order can be inferred, items were rarely compared, or intervals may be too short."""
        found = [] if self.told_apart else ["no order can be inferred: the rank intervals of all items overlap"]
        few = [self.items[i] for i in np.flatnonzero(self.counts[:, 2] <= FEW_OF_AN_ITEM).tolist()]
        what = f"the ranks of items with {FEW_OF_AN_ITEM} comparisons or fewer are uncertain"
        found += [f"{what}: {listing(few)}"] if few else []
        each = float(np.median(self.counts[:, 2]))
        if len(self.items) >= MANY_ITEMS and self.sd > FAR_APART and each < ENOUGH_PER_ITEM:
            far = f"with {each:.3g} comparisons per item and utilities this far apart"
            found.append(
                f"intervals for utilities may be too short: {far}, 90 % intervals may contain only 80 % of them"
            )
        return found

    def table(self, elo: tuple[Any, float] | None = None) -> pd.DataFrame:
        """Return a row per item, best first: utility with interval, rank with interval, and counts.

        `elo` is an item and its rating, or None and the mean rating. It adds the columns elo, elo_low and elo_high, on
        a scale with 400 points for odds of ten to one. Their intervals are for the difference from this item.
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
                raise CofactorError(f"there is no item {anchor}: anchor the scale at one of {listing(self.items)}")
            k = self.items.index(anchor)
            zero, reach = float(self.utilities[k]), spreads(self.covariance[:n, :n])[k]
        center, reach = number + ELO * (self.utilities - zero), ELO * self.quantile * reach
        return {"elo": center, "elo_low": center - reach, "elo_high": center + reach}

    def coefficients(self) -> pd.DataFrame:
        """Return a row per covariate, with its coefficient and interval; if there are ties, the last row is tau."""
        n = len(self.items)
        names = [*self.covariates, "log of tie parameter"] if self._ties else self.covariates
        return pd.DataFrame({"name": names, **self._intervals(slice(n, None), "coefficient")})

    def probabilities(self) -> pd.DataFrame:
        """Return a row per pair of items, the better one first, for covariates of zero.

        `chance` is the probability that the first wins, given that there is no tie, averaged over the uncertainty of
        the utilities, with its interval; `tie` is the probability of a tie.
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
        """Return the probability that `item` beats `against`, given no tie, with its interval, and that of a tie.

        The probability is averaged over the uncertainty of the utilities; see `davidson.averaged`.

        `given` has values of covariates, first item minus second (such as home=1); the other covariates are zero.

        Raises a CofactorError if the ranking does not have these items or covariates.
        """
        way, given = np.zeros(len(self.parameters)), given or {}
        for one, sign in ((item, 1.0), (against, -1.0)):
            if one not in self.items:
                raise CofactorError(f"there is no item {one}: the ranking has {listing(self.items)}")
            way[self.items.index(one)] += sign
        for name, value in given.items():
            if name not in self.covariates or not is_number(value):
                known = f"pass numbers for {listing(self.covariates)}" if self.covariates else "there are no covariates"
                raise CofactorError(f"given {name}={value!r}: {known}")
            way[len(self.items) + self.covariates.index(name)] = value
        z, v = float(way @ self.parameters), float(way @ self.covariance @ way)
        mean, reach = float(davidson.averaged(np.array(z), np.array(v))), self.quantile * np.sqrt(v)
        tie = davidson.outcome_chances(np.array([mean]), self.parameters[-1] if self._ties else -np.inf)[2]
        low, chance, high = special.expit([z - reach, mean, z + reach]).tolist()
        return {"chance": chance, "low": low, "high": high, "tie": float(tie[0])}

    def next_pairs(self, n_pairs: int = 5) -> pd.DataFrame:
        """Return the comparisons to make next, one per row: those with the largest expected information gain.

        A pair is listed several times if repeating it is more informative than any other pair.

        `gain` is log(1 + p (1 - p) s^2) / 2 nats, with p the win probability of the first item and s the standard error
        of the difference. Each pair is chosen as if the previous ones had been compared. Ties and correlations within
        users are ignored.

        Cost: O(n^2) per pair. Source: MacKay, "Information-based objective functions for active data selection", Neural
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
    """Check and return the comparisons, and the names and values of the covariates."""
    data = require_comparisons(comparisons)
    checked_level(level)
    bad = ~np.isin(data.outcome, CHOICES)
    if bad.any():
        found = listing(data.outcome[bad].tolist())
        raise CofactorError(
            f"outcomes must be 1, 0 or 0.5 (a tie), not {found}: split other outcomes into rows with counts"
        )
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
        raise CofactorError(
            f"covariates have {len(X)} rows, but there are {m} comparisons: pass one row per comparison"
        )
    bad = [names[k] for k in np.flatnonzero(~np.isfinite(X).all(axis=0)).tolist()]
    if bad:
        raise CofactorError(f"covariates contain NaN or infinity: {listing(bad)}; fill them, or drop these comparisons")
    zero = [names[k] for k in np.flatnonzero(~X.any(axis=0)).tolist()]
    if zero:
        raise NotIdentifiableError(f"covariates that are always zero have no effect: {listing(zero)}; leave them out")
    return names, X


def comparable(data: Comparisons, least: int) -> Indices:
    """Return the rows of the items that are ranked, with a warning that names the others."""
    unseen = [data.items[i] for i in np.flatnonzero(data.per_item == 0).tolist()]
    if unseen:
        warnings.warn(f"{UNSEEN}: {listing(unseen)}", DataWarning, stacklevel=3)
    rows = _well_compared(data, least)
    return rows[largest_part(data.take(rows))]


def _well_compared(data: Comparisons, least: int) -> Indices:
    """Return the rows of items that have at least `least` comparisons with one another."""
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
            f"min_comparisons={least}: no items have so many comparisons with one another; choose a smaller number"
        )
    return np.flatnonzero(ranked)


def largest_part(data: Comparisons) -> Indices:
    """Return the rows of the largest component, with a warning that names the items of the others."""
    part = data.components
    if data.n_components == 1:
        return np.arange(len(data))
    largest = int(np.bincount(part[part >= 0]).argmax())
    others = listing(data.items[i] for i in np.flatnonzero((part >= 0) & (part != largest)).tolist())
    what = f"only the {np.sum(part == largest)} items of the largest component are ranked"
    warnings.warn(f"{what}; no comparisons link these items with it: {others}", DataWarning, stacklevel=3)
    return np.flatnonzero(part[data.left] == largest)


# ---- the fit ----


def ranking_of(data: Comparisons, X: Floats, names: list[str], level: float, rng: np.random.Generator) -> Ranking:
    """Return the ranking for checked comparisons."""
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
    """Return the root mean squares of the covariates, by which they are divided so that one prior fits all."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    return np.asarray(largest * np.sqrt(np.mean((X / largest) ** 2, axis=0)))


def _check_told(cells: davidson.Cells, names: list[str]) -> None:
    """Refuse comparisons that are all ties, and covariates that are combinations of utilities and covariates."""
    if not (cells.won.any() or cells.lost.any()):
        raise NotIdentifiableError("every comparison is a tie, so no item can be ranked above another")
    left, whole = davidson.covariate_information(cells, np.zeros(cells.size))
    bad = []
    for k, name in enumerate(names):
        if left[k, k] <= ALIKE * whole[k]:
            bad.append(name)
        else:
            left = left - np.outer(left[:, k], left[k]) / left[k, k]
    if bad:
        found = f"covariates are determined by the items or by other covariates: {listing(bad)}"
        raise NotIdentifiableError(f"{found}; leave them out")


def unlinked_of(cells: davidson.Cells, items: list[Any]) -> list[Any]:
    """Return, with a warning, the items outside the largest group whose items all lost to one another."""
    group = davidson.linked_both_ways(cells)
    unlinked = [items[i] for i in np.flatnonzero(group != np.bincount(group).argmax()).tolist()]
    if unlinked:
        what = f"only the prior determines the distance of these items from the others: {listing(unlinked)}"
        why = "they never lost to the others or never won, not even through third items"
        warnings.warn(f"{what}; {why}", DataWarning, stacklevel=5)
    return unlinked


def _warn_of_covariates(cells: davidson.Cells, fitted: davidson.Fitted, names: list[str]) -> None:
    """Warn of covariates whose coefficients only the prior keeps finite."""
    n, k = cells.n_items, len(names)
    told = np.diag(davidson.covariate_information(cells, fitted.theta)[0])
    if (told <= 2 * (fitted.ridge * np.abs(fitted.theta))[n : n + k]).any():
        what = f"the covariates predict every comparison: {listing(names)}"
        warnings.warn(f"{what}; only the prior determines the size of their coefficients", DataWarning, stacklevel=5)


def warn_of_loss(loss: float, trivial: float) -> None:
    """Warn if the log-loss on held-out comparisons is no better than that of the trivial prediction."""
    if not loss < trivial:
        what = f"log-loss {loss:.4f} on held-out comparisons, trivial prediction {trivial:.4f}"
        message = f"{UNTOLD} ({what}): all items may be equally good, or there are too few comparisons"
        warnings.warn(message, DataWarning, stacklevel=4)


def ways_of(rows: davidson.Cells, data: Comparisons, items: list[Any]) -> tuple[list[float], list[Codes]]:
    """Return the effective numbers of users and prompts (0 if ignored), and the codes of those that are used."""
    ways = {"users": data.user} | ({} if data.prompt is None else {"prompts": data.prompt})
    codes = {name: np.unique(way, return_inverse=True)[1].astype(np.int32) for name, way in ways.items()}
    count = {name: _count(rows, code, name, items) for name, code in codes.items()}
    used = [code for name, code in codes.items() if count[name]]
    return [count.get(name, 0.0) for name in ("users", "prompts")], used


def _count(rows: davidson.Cells, code: Codes, name: str, items: list[Any]) -> float:
    """Return the effective number of users or prompts; 0 if there is one, or, with a warning, if there are too few."""
    n = int(code.max()) + 1
    if n == 1:
        return 0.0
    count = davidson.users_that_count(rows, code)
    if count < FEW_USERS:
        message = f"{n} {name} (effectively {count:.3g}) are too few to estimate how {name} differ"
        advice = f"intervals treat all comparisons as independent and are valid for these {name} only"
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
    """Return the lower and the upper end of the rank interval of every item, simultaneous for all items.

    Draws follow the order of the utilities, so the result does not depend on the names of items.

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
    """Return the (n, n) standard errors of the differences between all pairs of utilities."""
    variance = np.diag(V)
    return np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * V, 0.0))

"""``rank``: one order of the items for all users, and how sure it is.

The model is in `davidson`, its prior in `evidence`, the covariance of its estimates in `clusters`, ranks and tables in
`places`.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cofactor.comparisons import davidson, evidence
from cofactor.comparisons.base import require_comparisons
from cofactor.comparisons.clusters import clustered, independent, users_of_items, users_that_count
from cofactor.comparisons.data import CHOICES, Codes, Comparisons
from cofactor.comparisons.places import Ranking, fewest, places
from cofactor.core.bootstrap import LEVEL, checked_level
from cofactor.core.checks import check_whole, numbers, rng_of
from cofactor.core.errors import CofactorError, DataWarning, NotIdentifiableError, listing
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Indices, Seed

FEW_USERS = 5  # equally busy ones: fewer cannot tell how users differ, in all or about one item
ALIKE = 1e-9  # share of a covariate that items and other covariates leave unexplained, below which it is one of them
UNSEEN = "items without comparisons have no rank"
UNTOLD = "these comparisons do not tell who wins the next one"


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

    Source: see the modules `davidson`, `evidence`, `clusters`, `places`.

    >>> found = rank(Comparisons([0] * 60, [0, 0, 1] * 20, [1, 2, 2] * 20, [1, 1, 1, 1, 0] * 12))
    >>> found.table()[["item", "rank", "rank_low", "rank_high"]].values.tolist()
    [[0, 1, 1, 1], [1, 2, 2, 2], [2, 3, 3, 3]]
    """
    rng = rng_of(random_state)
    data, names, X = checked(comparisons, covariates, level)
    rows = comparable(data, min_comparisons)
    return ranking_of(data.take(rows), X[rows], names, level, rng)


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
        raise NotIdentifiableError(f"covariates that are always zero tell nothing: {listing(zero)}; leave them out")
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
    rows, items = _seen_items(davidson.rows_of(data, X / scale), data)
    cells = davidson.pairs_of(rows)
    _check_told(cells, names)
    unlinked = unlinked_of(cells, items)
    sd, doubt, fitted = evidence.chosen(cells)
    _warn_of_covariates(cells, fitted, names)
    n, u = len(items), fitted.theta[: len(items)]
    (n_users, n_prompts), V = _covariance(rows, fitted, data, items)
    counts = davidson.counts(cells)
    V = evidence.with_doubt(V, independent(rows, fitted), fitted, doubt, counts[:, 2])
    ranks = [1 + np.sum(u[None, :] > u[:, None], axis=1), *places(u, V[:n, :n], level, fewest(n_users, n_prompts), rng)]
    losses = evidence.held_out_loss(cells, fitted, doubt, V)
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
        sided=evidence.is_sided(cells),
        level=level,
        result=fitted.result,
    )


def covariate_scales(X: Floats) -> Floats:
    """Root mean squares of the covariates; divided by these they share one prior."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    return np.asarray(largest * np.sqrt(np.mean((X / largest) ** 2, axis=0)))


def _seen_items(rows: davidson.Cells, data: Comparisons) -> tuple[davidson.Cells, list[Any]]:
    """Leave out items that nobody compared."""
    seen = data.per_item > 0
    items = [data.items[i] for i in np.flatnonzero(seen).tolist()]
    code = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    return replace(rows, n_items=len(items), left=code[rows.left], right=code[rows.right]), items


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
        warnings.warn(f"{what}; how far they are from the others, the prior decides", DataWarning, stacklevel=5)
    return unlinked


def _warn_of_covariates(cells: davidson.Cells, fitted: davidson.Fitted, names: list[str]) -> None:
    """Name those that the prior alone holds finite."""
    n, k = cells.n_items, len(names)
    told = np.diag(davidson.covariate_information(cells, fitted.theta)[0])
    if (told <= 2 * (fitted.ridge * np.abs(fitted.theta))[n : n + k]).any():
        what = f"covariates decide every comparison: {listing(names)}"
        warnings.warn(f"{what}; how large their coefficients are, the prior decides", DataWarning, stacklevel=5)


def warn_of_loss(loss: float, trivial: float) -> None:
    """Warn where the log-loss on held-out comparisons is no better than that of the trivial guess."""
    if not loss < trivial:
        what = f"log-loss {loss:.4f} on held-out comparisons, the trivial guess has {trivial:.4f}"
        message = f"{UNTOLD} ({what}): items may all be equally good, or comparisons too few"
        warnings.warn(message, DataWarning, stacklevel=4)


def _covariance(
    rows: davidson.Cells, fitted: davidson.Fitted, data: Comparisons, items: list[Any]
) -> tuple[list[float], Floats]:
    """Return how many users and prompts count, 0 where they are left out, and the covariance."""
    counts, used = ways_of(rows, data, items)
    return counts, clustered(rows, fitted, *used) if used else independent(rows, fitted)


def ways_of(rows: davidson.Cells, data: Comparisons, items: list[Any]) -> tuple[list[float], list[Codes]]:
    """Return how many users and prompts count, 0 where they are left out, and the codes of those that are not."""
    ways = {"users": data.user} | ({} if data.prompt is None else {"prompts": data.prompt})
    codes = {name: np.unique(way, return_inverse=True)[1].astype(np.int32) for name, way in ways.items()}
    count = {name: _count(rows, code, name, items) for name, code in codes.items()}
    used = [code for name, code in codes.items() if count[name]]
    return [count.get(name, 0.0) for name in ("users", "prompts")], used


def _count(rows: davidson.Cells, code: Codes, name: str, items: list[Any]) -> float:
    """Return how many count, 0 if there is one or if they are too few, who are told of."""
    n = int(code.max()) + 1
    if n == 1:
        return 0.0
    count = users_that_count(rows, code)
    if count < FEW_USERS:
        message = f"{n} {name}, who count as {count:.3g} equally busy ones, cannot tell how {name} differ"
        advice = f"intervals are for these {name} alone, as if their comparisons were independent"
        warnings.warn(f"{message}: {advice}", DataWarning, stacklevel=6)
        return 0.0
    few = [items[i] for i in np.flatnonzero(users_of_items(rows, code) < FEW_USERS).tolist()]
    if few:
        message = f"fewer than {FEW_USERS} {name} compared {listing(few)}: the intervals of these items are too short"
        warnings.warn(message, DataWarning, stacklevel=6)
    return count

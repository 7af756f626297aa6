"""A ranking by any method of comparisons, somebody's or one of this kit: what `cofactor rank --method` makes.

A method that gives scores is taken at its word: they are log-odds. One that gives chances is asked about every pair of
items. The utility of an item is the mean, over the others, of the log-odds that it wins; a chance is the mean over
users, and each counts by the number of comparisons. Scores of a model of Bradley and Terry come out as they are.

Intervals are those of refits to users drawn with replacement; to comparisons, where users do not repeat or are too few.
Where users and prompts both repeat, the covariance has that of either, less what both count: that of refits to what one
user answered to one prompt, drawn with replacement; negative eigenvalues become zero. Source: Cameron, Gelbach and
Miller, "Robust inference with multiway clustering", Journal of Business and Economic Statistics 2011. Drawing users and
prompts at once instead (Owen, "The pigeonhole bootstrap", 2007) counts their noise twice: errors half as large again.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from cofactor.comparisons import davidson
from cofactor.comparisons.boards import of_users
from cofactor.comparisons.data import Codes, Comparisons
from cofactor.comparisons.evidence import FOLDS
from cofactor.comparisons.places import Ranking, fewest, places
from cofactor.comparisons.ranking import checked, comparable, unlinked_of, warn_of_loss, ways_of
from cofactor.core.errors import CofactorError, DataWarning, NotIdentifiableError
from cofactor.core.lazy import optimize, pd, special
from cofactor.core.result import progress
from cofactor.core.types import Floats, Indices
from cofactor.crowd.outside import DONE, is_outside, loaded
from cofactor.protocol.answers import chances_of, learnt
from cofactor.registry import listed

REFITS = 100  # behind intervals: a standard error is then known to 7 %
MOST_ITEMS = 2000  # that chances are asked about, two million pairs
MOST_ASKED = 1_000_000  # questions for one fit; more users than that allows are drawn
MOST_MADE = 10_000_000  # comparisons, where a row counts several
FAILED = "refits for the intervals failed"
LEAST = 1e-6  # a chance is no nearer to 0 and 1, so that log-losses and utilities are numbers
NU = (-20.0, 20.0)  # logarithms of the parameter of ties that are tried


def rank_by(
    name: str, comparisons: Comparisons, *, level: float, min_comparisons: int = 1, all_parts: bool = False
) -> Ranking:
    """Rank items by a method; `sd` of what is returned is NaN, for the kit puts no prior on it.

    `name` is that of a method of this kit or `FILE.py:NAME`: a function of `Comparisons` that returns (n,) scores in
    log-odds, or a class with `fit` and `predict_proba(user, left, right)`. It gets numbers for users and items, and one
    row for every comparison.

    Raises `CofactorError` where the method fails, answers in another shape, or fails on most refits. Warns as `rank`.

    Cost: `REFITS` and six fits, or three times `REFITS` where users and prompts repeat; and for each (users) n^2 / 2
    questions, at most `MOST_ASKED` where n is below 1,400.
    """
    data = checked(comparisons, None, level)[0]
    data = data.take(comparable(data, min_comparisons, all_parts))
    items, given = _bare(data)
    rows, rng = davidson.rows_of(given, np.zeros((len(given), 0))), np.random.default_rng(0)
    if not (rows.won.any() or rows.lost.any()):
        raise CofactorError("every comparison is a tie: nobody says which item is better")
    (n_users, n_prompts), ways = ways_of(rows, given, items)
    method = loaded(name) if is_outside(name) else listed("comparisons")[name].make(random_state=0)
    found, n = learnt(method, given), len(items)
    parameters = _parameters(found, given, rng)
    with warnings.catch_warnings(record=True, action="always", category=DataWarning) as noted:
        V, losses = _covariance(method, given, ways, rows.has_ties), _losses(method, given)
    for text in {str(one.message): None for one in noted if FAILED in str(one.message)}:
        warnings.warn(text, DataWarning, stacklevel=2)
    u = parameters[:n]
    warn_of_loss(*losses)
    ranks = [1 + np.sum(u > u[:, None], axis=1), *places(u, V[:n, :n], level, fewest(n_users, n_prompts), rng)]
    return Ranking(
        items=items,
        ranks=np.column_stack(ranks),
        counts=davidson.counts(davidson.pairs_of(rows)),
        covariates=[],
        parameters=parameters,
        covariance=V,
        n_users=n_users,
        n_prompts=n_prompts,
        unlinked=unlinked_of(davidson.pairs_of(rows), items, "the method"),
        sd=np.nan,
        log_loss=losses[0],
        trivial_log_loss=losses[1],
        level=level,
        result=getattr(found, "result_", DONE),
    )


def users_by(name: str, comparisons: Comparisons, *, level: float) -> tuple[pd.DataFrame, dict[Any, str]]:
    """Rank items for every user who made enough comparisons, by a method that is fitted to these alone.

    Returns the table of `rank_users`, and why the method failed on users who are therefore left out.

    Cost: that of `rank_by` for each such user.
    """
    failed: dict[Any, str] = {}

    def ranked(rows: Indices) -> Ranking:
        try:
            return rank_by(name, comparisons.take(rows), level=level)
        except CofactorError as error:
            failed[comparisons.users[comparisons.user[rows[0]]]] = str(error)
            raise NotIdentifiableError(str(error)) from error

    return of_users(comparisons, ranked), failed


def _bare(data: Comparisons) -> tuple[list[Any], Comparisons]:
    """Return the items, and one row for every comparison of them, in codes without gaps."""
    seen = np.flatnonzero(data.per_item > 0)
    code = np.zeros(data.n_items, dtype=np.int32)
    code[seen] = np.arange(len(seen))
    often = np.ones(len(data)) if data.counts is None else data.counts
    if (often % 1 != 0).any() or often.sum() > MOST_MADE:
        raise CofactorError(f"--method takes one row a comparison: give weights that are whole, {MOST_MADE:,} in all")
    row = np.repeat(np.arange(len(data)), often.astype(np.int64))
    user = np.unique(data.user[row], return_inverse=True)[1]
    prompt = None if data.prompt is None else data.prompt[row]
    parts = (code[data.left[row]], code[data.right[row]], data.outcome[row])
    return [data.items[i] for i in seen.tolist()], Comparisons(user, *parts, n_items=len(seen), prompt=prompt)


# ---- what a fit says of all items ----


def _parameters(found: Any, data: Comparisons, rng: np.random.Generator, ties: bool | None = None) -> Floats:
    """Return (n,) utilities of mean zero; and the log of the parameter of ties, where there are `ties`."""
    u = found if isinstance(found, np.ndarray) else _mean_log_odds(found, data, rng)
    u = u - u.mean()
    tied = data.outcome == 0.5
    return np.append(u, _tau(u[data.left] - u[data.right], tied)) if (tied.any() if ties is None else ties) else u


def _mean_log_odds(found: Any, data: Comparisons, rng: np.random.Generator) -> Floats:
    n = data.n_items
    if n > MOST_ITEMS:
        raise CofactorError(f"chances are asked about {MOST_ITEMS:,} items at most, not {n:,}: answer with scores")
    left, right = np.triu_indices(n, 1)
    users, most = np.flatnonzero(data.per_user), max(1, MOST_ASKED // len(left))
    share = data.per_user[users] / len(data)
    if len(users) > most:
        users, often = np.unique(rng.choice(users, most, p=share), return_counts=True)
        share = often / most
    chance = np.zeros(len(left))
    for user, weight in zip(users.tolist(), share.tolist(), strict=True):
        chance += weight * chances_of(found, np.column_stack([np.full_like(left, user), left, right]))
    odds = special.logit(np.clip(chance, LEAST, 1 - LEAST))
    return (np.bincount(left, odds, n) - np.bincount(right, odds, n)) / n


def _tau(z: Floats, tied: Any) -> float:
    """Return the parameter of ties with which these differences have as many as there were, and half a one more."""
    wanted = (tied.sum() + 0.5) / (len(tied) + 1)
    return float(optimize.brentq(lambda tau: davidson.outcome_chances(z, tau)[2].mean() - wanted, *NU))


# ---- refits ----


def _covariance(method: Any, data: Comparisons, ways: Sequence[Codes], ties: bool) -> Floats:
    """Return the covariance of the parameters, by what is drawn with replacement."""
    if len(ways) < 2:
        return _spread(method, data, ways[0] if ways else np.arange(len(data), dtype=np.int32), ties)
    both = np.unique(np.column_stack(ways), axis=0, return_inverse=True)[1].ravel().astype(np.int32)
    one, other, shared = (_spread(method, data, way, ties) for way in (*ways, both))
    values, vectors = np.linalg.eigh(one + other - shared)
    return np.asarray(vectors * np.maximum(values, 0.0) @ vectors.T)


def _spread(method: Any, data: Comparisons, way: Codes, ties: bool) -> Floats:
    """Return the covariance of refits to groups of comparisons that are drawn; those that fail are left out."""
    rng, found, failed, n = np.random.default_rng(1), [], "", int(way.max()) + 1
    for _ in progress(range(REFITS), "refits", True):
        often = np.bincount(rng.integers(n, size=n), minlength=n)
        drawn = data.take(np.repeat(np.arange(len(data)), often[way]))
        try:
            found.append(_parameters(learnt(method, drawn), drawn, rng, ties))
        except CofactorError as error:
            failed = str(error)
    told = f"{REFITS - len(found)} of {REFITS} {FAILED}"
    if 2 * len(found) < REFITS:
        raise CofactorError(f"{told}; the last: {failed}")
    if failed:
        warnings.warn(f"{told}, which are of the others; the last: {failed}", DataWarning, stacklevel=2)
    return np.atleast_2d(np.cov(found, rowvar=False))


# ---- what chances are worth ----


def _losses(method: Any, data: Comparisons) -> tuple[float, float]:
    """Return the mean log-loss on comparisons held out in five folds, and that of the trivial guess.

    The chance of a tie is its share among the others, for both.
    """
    fold = np.random.default_rng(0).permutation(np.arange(len(data)) % FOLDS)
    total = np.zeros(2)
    for k in range(min(FOLDS, len(data))):
        learn, held = data.take(fold != k) if (fold != k).any() else data, data.take(fold == k)
        tied = ((learn.outcome == 0.5).sum() + 0.5) / (len(learn) + 1) if (data.outcome == 0.5).any() else 0.0
        asked = np.column_stack([held.user, held.left, held.right]).astype(np.int64)
        chance = np.clip(chances_of(learnt(method, learn), asked), LEAST, 1 - LEAST)
        for place, p in enumerate((chance, np.full(len(held), 0.5))):
            happened = np.where(held.outcome == 1, p, 1 - p) * (1 - tied)
            total[place] -= np.log(np.where(held.outcome == 0.5, tied, happened)).sum()
    return float(total[0] / len(data)), float(total[1] / len(data))

"""Checks of comparisons before a fit, and bootstrap intervals for learned preferences after it.

Features are identified up to a change of basis, and utilities up to a constant per user. Intervals are therefore given
for the difference in utility of two items for one user, and for the probability that follows. They are normal intervals
with the standard deviation of the refits.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.comparisons.base import PreferenceModel, require_comparisons
from cofactor.comparisons.data import Comparisons, held_out_once
from cofactor.comparisons.davidson import linked_both_ways, pairs_of, rows_of
from cofactor.comparisons.objective import ENOUGH_PER_DEGREE, degrees_of_freedom
from cofactor.core.bootstrap import LEVEL, checked_level, resample
from cofactor.core.checks import check_kind, is_whole, rng_of
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning, listing
from cofactor.core.estimator import Check, Diagnosis, clone
from cofactor.core.lazy import csgraph, pd, special
from cofactor.core.types import Indices, Seed

Counts = NDArray[np.intp]

BOTH_WAYS = "wins and losses"
CHOICE_OF_RANK = "choice of rank and ridge"
ENOUGH_HELD_OUT = 400  # answers that tell which ridge is right: with 240 to 300, 4 of 16 choices on real data were bad
CHOSEN_SETTINGS = ("rank", "ridge", "bias_ridge")  # settings that a fit may choose; it keeps them with an underscore


def diagnose(comparisons: Comparisons, rank: int = 3) -> Diagnosis:
    """Check comparisons before a fit: users, items, links between items, and the amount of data.

    `rank` is the planned number of features r, or 0 for a single ranking of all users. The verdict says what can be
    fitted: with a ridge, without one, or with biases only. Raises a CofactorError if the argument is not `Comparisons`,
    or the rank is out of range. O(m log m) time.

    >>> report = diagnose(Comparisons([0, 0, 1], [0, 1, 3], [1, 2, 4], [1, 1, 0], n_users=3), rank=1)
    >>> report["items linked"].value
    '2 components with 3, 2 items'
    >>> report["users"].value
    '3, of which 1 without comparisons: 2'
    """
    data = require_comparisons(comparisons)
    if is_whole(rank) and rank == 0:
        return _of_ranking(data)
    dof = degrees_of_freedom(data.n_users, data.n_items, rank)
    checks = (
        _present("users", data.per_user, data.users, "predicted by biases alone"),
        _present("items", data.per_item, data.items, "never recommended"),
        _linked(data),
        _span(data, rank),
        _amount(data, dof),
        _choice(data),
        _one_sided(data),
    )
    return Diagnosis(repr(data), checks, _verdict(checks))


def _verdict(checks: tuple[Check, ...]) -> str:
    warned = {check.name for check in checks if check.status != "pass"}
    doubt = " (the choice is uncertain, as there are few comparisons)" if CHOICE_OF_RANK in warned else ""
    if warned & {"comparisons", "always or never chosen", "comparisons per user", "items linked"}:
        first = f"fit with a ridge (ridge='auto'){doubt}, and compare with biases alone"
        return f"{first}; without a ridge, the utilities are not determined"
    return "no method is ruled out; read the warnings" if warned else "no method is ruled out"


def _of_ranking(data: Comparisons) -> Diagnosis:
    items = _present("items", data.per_item, data.items, "left out")
    checks = items, _linked(data), _both_ways(data), _amount(data, max(data.n_items - 1, 1))
    return Diagnosis(repr(data), checks, _verdict_of_ranking({check.name: check.status for check in checks}))


def _verdict_of_ranking(status: dict[str, str]) -> str:
    if status["items linked"] == "fail":
        return "items in different components cannot be ranked together"
    if status[BOTH_WAYS] == "warn":
        return "all items can be ranked, but for some only the prior determines their distance from the others"
    return "all items can be ranked" if len(set(status.values())) == 1 else "all items can be ranked; read the warnings"


def _present(name: str, counts: Counts, ids: Sequence[Any], advice: str) -> Check:
    absent = np.flatnonzero(counts == 0).tolist()
    seen = counts[counts > 0]
    if absent:
        named = listing(ids[k] for k in absent)
        return Check(name, "warn", f"{len(counts)}, of which {len(absent)} without comparisons: {named}", advice)
    return Check(name, "pass", f"{len(counts)}; comparisons of each: median {np.median(seen):g}, minimum {seen.min()}")


def _linked(data: Comparisons) -> Check:
    if data.n_components > 1:
        sizes = np.bincount(data.components[data.components >= 0]).tolist()
        advice = "collect comparisons between the components; until then, only a prior relates their utilities"
        return Check("items linked", "fail", f"{data.n_components} components with {listing(sizes)} items", advice)
    return Check("items linked", "pass", "comparisons link all items")


def _span(data: Comparisons, rank: int) -> Check:
    """The pairs of a user span as many directions as a spanning forest of the user's items has edges."""
    spans = user_spans(data)
    few = np.flatnonzero((spans < rank) & (data.per_user > 0)).tolist()
    if few:
        named = listing(data.users[u] for u in few)
        advice = "use a ridge, without which their features are not determined, or a lower rank"
        value = f"the pairs of {len(few)} users span fewer than {rank} directions: {named}"
        return Check("comparisons per user", "warn", value, advice)
    return Check("comparisons per user", "pass", f"the pairs of every user span at least {rank} directions")


def user_spans(data: Comparisons) -> Counts:
    """Return the (n1,) dimensions spanned by every user's e_i - e_j: items compared minus their components."""
    key = np.tile(data.user.astype(np.int64), 2) * data.n_items + np.concatenate([data.left, data.right])
    met, code = np.unique(key, return_inverse=True)
    m = len(data)
    edges = sparse.coo_array((np.ones(m, dtype=bool), (code[:m], code[m:])), (len(met),) * 2)
    n_parts, part = csgraph.connected_components(edges.tocsr(), directed=False)
    owner = np.zeros(n_parts, dtype=np.int64)
    owner[part] = met // data.n_items
    n1 = data.n_users
    return np.asarray(np.bincount(met // data.n_items, minlength=n1) - np.bincount(owner, minlength=n1))


def _amount(data: Comparisons, dof: int) -> Check:
    enough, kind = ENOUGH_PER_DEGREE[data.noisy], "choices" if data.noisy else "probabilities"
    value = f"{data.total:g} {kind} for {dof} degrees of freedom"
    if data.total < enough * dof:
        advice = f"fewer than {enough} for each: use a ridge, and judge the fit by held-out comparisons only"
        return Check("comparisons", "warn", value, advice)
    return Check("comparisons", "pass", value)


def _choice(data: Comparisons) -> Check:
    """Number of held-out answers that choose rank and ridge, and the precision of an accuracy measured on them."""
    n = held_out_once(data)
    if not data.noisy:
        return Check(CHOICE_OF_RANK, "pass", "exact probabilities, which need no ridge")
    points = 100 * np.sqrt(0.25 / max(n, 1))
    value = f"based on {n} answers, each held out once; the standard error of an accuracy is {points:.1f} points"
    if n < ENOUGH_HELD_OUT:
        advice = (
            f"fewer than {ENOUGH_HELD_OUT}: the choice may be wrong, and biases alone as good; collect more answers"
        )
        return Check(CHOICE_OF_RANK, "warn", value, advice)
    return Check(CHOICE_OF_RANK, "pass", value)


def _one_sided(data: Comparisons) -> Check:
    """Items that won or lost every comparison have no finite utility in a ranking without a prior."""
    won = np.bincount(data.left, data.outcome, data.n_items) + np.bincount(data.right, 1 - data.outcome, data.n_items)
    seen = data.per_item > 0
    sure = np.flatnonzero(seen & ((won == 0) | (won == data.per_item))).tolist()
    if sure:
        advice = "use a ridge: without one, their utilities are infinite (separable data)"
        named = listing(data.items[i] for i in sure)
        return Check("always or never chosen", "warn", f"{len(sure)} items: {named}", advice)
    return Check("always or never chosen", "pass", "no item")


def _both_ways(data: Comparisons) -> Check:
    """Warn of items that never lost to the others or never won: comparisons do not determine their distance."""
    group = linked_both_ways(pairs_of(rows_of(data, np.zeros((len(data), 0)))))
    seen = data.per_item > 0
    apart = np.flatnonzero(seen & (group != np.bincount(group[seen]).argmax())).tolist()
    if apart:
        named = listing(data.items[i] for i in apart)
        advice = "only the prior determines their distance; collect comparisons with items of similar strength"
        return Check(BOTH_WAYS, "warn", f"{len(apart)} items never lost to the others or never won: {named}", advice)
    return Check(BOTH_WAYS, "pass", "every item lost to every other, directly or through others")


# ---- intervals from refits to comparisons drawn with replacement ----


@dataclass(frozen=True, repr=False)
class ComparisonBootstrap:
    """Result of `bootstrap`: a fitted method (`model`) with its refits (`draws`)."""

    model: PreferenceModel
    draws: tuple[PreferenceModel, ...]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, {len(self.draws)} refits)"

    def margins(self, user: ArrayLike, left: ArrayLike, right: ArrayLike, level: float = LEVEL) -> pd.DataFrame:
        """Return intervals for the differences in utility, left minus right: estimate, low and high per row."""
        estimate = self.model.margin(user, left, right)
        spread = np.std([draw.margin(user, left, right) for draw in self.draws], axis=0, ddof=1)
        reach = special.ndtri((1 + checked_level(level)) / 2) * spread
        return pd.DataFrame({"estimate": estimate, "low": estimate - reach, "high": estimate + reach})

    def chances(self, user: ArrayLike, left: ArrayLike, right: ArrayLike, level: float = LEVEL) -> pd.DataFrame:
        """Return intervals for the probability that left is preferred: estimate, low and high per row.

        Raises a CofactorError for methods that only order items.
        """
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
    """Refit a method to comparisons drawn with replacement, to show how much preferences vary between samples.

    Rank and ridges are chosen once, on all comparisons, and kept in the refits.

    Parameters
    ----------
    method : an unfitted method from METHODS
    comparisons : Comparisons
    n_draws, random_state, n_jobs, verbose
        See `resample`; the result does not depend on the number of jobs.

    Returns
    -------
    ComparisonBootstrap
        Its methods `margins` and `chances` return predictions with intervals.

    Raises a CofactorError if the fit finds no preferences (an infinite ridge), and as `fit` and `resample` do.

    Cost: `n_draws` fits without a search for ridges. If a given ridge is far too large, it shrinks the utilities, which
    the refits do not show.

    >>> from cofactor import comparisons, simulate
    >>> data = simulate.draw_comparisons(*simulate.comparison_factors(30, 20, 1, random_state=0), 2000, random_state=0)
    >>> sure = comparisons.bootstrap(comparisons.ComparisonMF(1, ridge=5.0), data, n_draws=5, random_state=0)
    >>> chance = sure.chances(0, 1, 2)
    >>> bool((chance["low"] < chance["high"]).all())
    True
    """
    data, rng = require_comparisons(comparisons), rng_of(random_state)
    check_kind(PreferenceModel, method=method)
    model = clone(method).set_params(random_state=int(rng.integers(2**31))).fit(data)
    chosen = {name: getattr(model, f"{name}_") for name in CHOSEN_SETTINGS if hasattr(model, f"{name}_")}
    if np.isinf(chosen.get("ridge", 0.0)):
        raise CofactorError("the fit found no preferences, so there is nothing to refit: collect more comparisons")
    again = partial(_refit, clone(model).set_params(**chosen), data)
    return ComparisonBootstrap(model, tuple(resample(again, len(data), n_draws, rng, n_jobs, verbose)))


def _refit(method: PreferenceModel, comparisons: Comparisons, rows: Indices) -> PreferenceModel:
    """Return the method fitted to these rows of the comparisons, which may repeat."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        found: PreferenceModel = clone(method).fit(comparisons.take(rows))
        return found

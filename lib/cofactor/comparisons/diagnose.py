"""Before a fit: whether comparisons can tell utilities. After it: how sure learnt preferences are.

Features are known up to a change of basis and utilities up to a number per user, so intervals are of what remains: the
difference of two items' utilities for one user, and the chance that follows. They reach as far to both sides of the
estimate as a normal distribution with the standard deviation of the refits.
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
    """Check comparisons before preferences are learnt: who takes part, what is linked, whether it is enough.

    `rank` is the r that is planned, 0 for one ranking that all users share. The verdict says what can be fitted: with a
    ridge, without one, with biases only. Raises a CofactorError where these are no `Comparisons`, or the rank does not
    fit. O(m log m) time.

    >>> report = diagnose(Comparisons([0, 0, 1], [0, 1, 3], [1, 2, 4], [1, 1, 0], n_users=3), rank=1)
    >>> report["items linked"].value
    '2 parts of 3, 2 items'
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
    doubt = "; so few answers may choose a wrong one" if CHOICE_OF_RANK in warned else ""
    if warned & {"comparisons", "always or never chosen", "comparisons per user", "items linked"}:
        first = "fit with a ridge (ridge='auto'), and compare with biases alone"
        return f"{first}{doubt}; without a ridge utilities are not determined"
    return "no method is ruled out; read the warnings" if warned else "no method is ruled out"


def _of_ranking(data: Comparisons) -> Diagnosis:
    items = _present("items", data.per_item, data.items, "left out")
    checks = items, _linked(data), _both_ways(data), _amount(data, max(data.n_items - 1, 1))
    return Diagnosis(repr(data), checks, _verdict_of_ranking({check.name: check.status for check in checks}))


def _verdict_of_ranking(status: dict[str, str]) -> str:
    if status["items linked"] == "fail":
        return "items of different parts have no common order"
    if status[BOTH_WAYS] == "warn":
        return "all items can be ranked; how far some are from the others, the prior decides"
    return "all items can be ranked" if len(set(status.values())) == 1 else "all items can be ranked; read the warnings"


def _present(name: str, counts: Counts, ids: Sequence[Any], advice: str) -> Check:
    absent = np.flatnonzero(counts == 0).tolist()
    seen = counts[counts > 0]
    if absent:
        named = listing(ids[k] for k in absent)
        return Check(name, "warn", f"{len(counts)}, of which {len(absent)} without comparisons: {named}", advice)
    return Check(name, "pass", f"{len(counts)}; comparisons of each: median {np.median(seen):g}, least {seen.min()}")


def _linked(data: Comparisons) -> Check:
    if data.n_components > 1:
        sizes = np.bincount(data.components[data.components >= 0]).tolist()
        advice = "collect comparisons between the parts; until then only a prior relates their utilities"
        return Check("items linked", "fail", f"{data.n_components} parts of {listing(sizes)} items", advice)
    return Check("items linked", "pass", "every item to every other, through comparisons by any user")


def _span(data: Comparisons, rank: int) -> Check:
    """Pairs of one user span as many directions as there are links in a forest on the user's items."""
    spans = user_spans(data)
    few = np.flatnonzero((spans < rank) & (data.per_user > 0)).tolist()
    if few:
        named = listing(data.users[u] for u in few)
        advice = "their features are not determined without a ridge; a lower rank helps"
        return Check("comparisons per user", "warn", f"{len(few)} users span fewer than {rank}: {named}", advice)
    return Check("comparisons per user", "pass", f"every user's span at least {rank} directions")


def user_spans(data: Comparisons) -> Counts:
    """Return the (n1,) dimensions spanned by every user's e_i - e_j: items met less connected parts among them."""
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
    enough, kind = ENOUGH_PER_DEGREE[data.noisy], "choices" if data.noisy else "chances"
    value = f"{data.total:g} {kind} for {dof} degrees of freedom"
    if data.total < enough * dof:
        advice = f"fewer than {enough} for each: a ridge is needed, and a small loss proves nothing; hold some out"
        return Check("comparisons", "warn", value, advice)
    return Check("comparisons", "pass", value)


def _choice(data: Comparisons) -> Check:
    """How many answers say which rank and ridge are right, and how well these tell the accuracy of a model."""
    n = held_out_once(data)
    if not data.noisy:
        return Check(CHOICE_OF_RANK, "pass", "exact chances, which need no ridge")
    points = 100 * np.sqrt(0.25 / max(n, 1))
    value = f"rests on {n} answers, each held out once: they tell an accuracy to {points:.1f} points"
    if n < ENOUGH_HELD_OUT:
        advice = (
            f"fewer than {ENOUGH_HELD_OUT}: the choice may be wrong, and biases alone no worse; collect more answers"
        )
        return Check(CHOICE_OF_RANK, "warn", value, advice)
    return Check(CHOICE_OF_RANK, "pass", value)


def _one_sided(data: Comparisons) -> Check:
    """Items that won, or lost, every comparison have no finite utility in a ranking without prior."""
    won = np.bincount(data.left, data.outcome, data.n_items) + np.bincount(data.right, 1 - data.outcome, data.n_items)
    seen = data.per_item > 0
    sure = np.flatnonzero(seen & ((won == 0) | (won == data.per_item))).tolist()
    if sure:
        advice = "separable: without a ridge their utilities run to infinity"
        named = listing(data.items[i] for i in sure)
        return Check("always or never chosen", "warn", f"{len(sure)} items: {named}", advice)
    return Check("always or never chosen", "pass", "no item")


def _both_ways(data: Comparisons) -> Check:
    """Items, and groups, that never lost to the others, or never won: comparisons do not tell how far they are."""
    group = linked_both_ways(pairs_of(rows_of(data, np.zeros((len(data), 0)))))
    seen = data.per_item > 0
    apart = np.flatnonzero(seen & (group != np.bincount(group[seen]).argmax())).tolist()
    if apart:
        named = listing(data.items[i] for i in apart)
        advice = "the prior decides how far they are; collect comparisons with items of their strength"
        return Check(BOTH_WAYS, "warn", f"{len(apart)} items never lost to the others, or never won: {named}", advice)
    return Check(BOTH_WAYS, "pass", "every item lost to every other, directly or through others")


# ---- intervals from refits to comparisons drawn with replacement ----


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
    data, rng = require_comparisons(comparisons), rng_of(random_state)
    check_kind(PreferenceModel, method=method)
    model = clone(method).set_params(random_state=int(rng.integers(2**31))).fit(data)
    chosen = {name: getattr(model, f"{name}_") for name in CHOSEN_SETTINGS if hasattr(model, f"{name}_")}
    if np.isinf(chosen.get("ridge", 0.0)):
        raise CofactorError("no preferences are found in these comparisons that could be fitted again: collect more")
    again = partial(_refit, clone(model).set_params(**chosen), data)
    return ComparisonBootstrap(model, tuple(resample(again, len(data), n_draws, rng, n_jobs, verbose)))


def _refit(method: PreferenceModel, comparisons: Comparisons, rows: Indices) -> PreferenceModel:
    """Return the method fitted to these rows of the comparisons; rows may repeat."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        found: PreferenceModel = clone(method).fit(comparisons.take(rows))
        return found

"""Before fitting: whether these comparisons can tell utilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.comparisons.base import require_comparisons
from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.davidson import linked_both_ways, pairs_of, rows_of
from cofactor.comparisons.folds import held_out_once
from cofactor.comparisons.formulas import ENOUGH_PER_DEGREE, degrees_of_freedom
from cofactor.core.checks import is_whole
from cofactor.core.diagnosis import Check, Diagnosis
from cofactor.core.errors import listing
from cofactor.core.lazy import csgraph

Counts = NDArray[np.intp]

BOTH_WAYS = "wins and losses"
CHOICE_OF_RANK = "choice of rank and ridge"
ENOUGH_HELD_OUT = 400  # answers that tell which ridge is right: with 240 to 300, 4 of 16 choices on real data were bad


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

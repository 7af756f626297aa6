"""How far workers agree beyond chance (Krippendorff's alpha), and the order of classes that are grades.

An order is declared by the user, or suggested by a note, never taken by itself.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any, Literal, get_args

import numpy as np

from cofactor.core.checks import check_kind
from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import special
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.labels import CrowdLabels

# ---- agreement ----


Level = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(labels: CrowdLabels, level: Level = "nominal") -> float:
    r"""Return Krippendorff's alpha: 1 if workers always agree, 0 if as often as by chance.

    Two labels c and k differ by delta(c, k), with n_g labels g in all:

        nominal    [c != k]
        ordinal    (n_c / 2 + n_(c+1) + ... + n_(k-1) + n_k / 2)^2, for c < k
        interval   (c - k)^2, in steps

    Of all pairs of labels on one task, those of a task with n labels weighted by 1 / (n - 1), the observed
    disagreement D_o is the mean difference; the expected one, D_e, that of pairs drawn from all labels:
    alpha = 1 - D_o / D_e. Tasks with one label hold no pair and are left out.

    Parameters
    ----------
    labels : CrowdLabels
        For ordinal and interval, with classes in their order; see `in_order`.
    level : {"nominal", "ordinal", "interval"}
        What the classes are: names, ranks, or steps of equal width.

    Returns
    -------
    float, at most 1; below 0 if workers disagree more than by chance. NaN if no two labels on tasks with several
    differ, where chance would agree as well.

    Raises
    ------
    CofactorError
        No task has two labels, or a level that is none.

    Cost
    ----
    O(N K) for N tasks and K classes; with order O(N K^2).

    Source
    ------
    K. Krippendorff, Content Analysis, 2nd edition, 2004, chapter 11. With several workers who all know the classes,
    alpha says how clear the tasks are, not whether the majority is right: errors that workers share count as agreement.

    Examples
    --------
    >>> labels = CrowdLabels.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 0, 1])
    >>> round(krippendorff_alpha(labels), 3)
    0.444
    """
    check_kind(CrowdLabels, labels=labels)
    if level not in get_args(Level):
        raise CofactorError(f"level={level!r}: choose one of {', '.join(get_args(Level))}")
    votes = pairable_votes(labels)
    n, given = votes.sum(axis=0), votes.sum(axis=1)
    if level == "nominal":  # without a matrix of all pairs of classes
        observed = np.sum((given**2 - np.square(votes).sum(axis=1)) / (given - 1))
        expected = n.sum() ** 2 - np.sum(n**2)
        return float(1 - (n.sum() - 1) * observed / expected) if expected > 0 else float("nan")
    return alpha_of(coincidences(votes), differences(n, level))


def alpha_interval(labels: CrowdLabels, level: float = 0.9) -> tuple[float, float]:
    """Return the interval of the nominal alpha over other tasks like these; NaN where it is not defined. O(N K).

    By the delta method, from the influence of every task on D_o and D_e. A task of one label has none.

    >>> low, high = alpha_interval(CrowdLabels.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 0, 1]))
    >>> round(low, 1), round(high, 1)
    (-0.5, 1.0)
    """
    try:
        votes = pairable_votes(labels)
    except CofactorError:
        return float("nan"), float("nan")
    m, n = votes.sum(axis=1), votes.sum()
    p = votes.sum(axis=0) / n
    observed = (m**2 - np.square(votes).sum(axis=1)) / (m - 1)
    D_o, D_e = observed.sum() / n, 1 - p @ p
    if D_e <= 0:
        return float("nan"), float("nan")
    of_o, of_e = (observed - D_o * m) / n, -2 * (votes - m[:, None] * p) @ p / n
    influence = (D_o / D_e * of_e - of_o) / D_e
    alpha, half = krippendorff_alpha(labels), special.ndtri((1 + level) / 2) * np.sqrt(influence @ influence)
    return float(alpha - half), float(min(alpha + half, 1.0))


def pairable_votes(labels: CrowdLabels) -> Floats:
    """Return the (n, K) votes of the tasks with two labels or more; refuse labels without any."""
    votes = labels.votes.astype(np.float64)
    votes = votes[votes.sum(axis=1) > 1]
    if not len(votes):
        raise CofactorError("agreement needs tasks with two labels or more: there is none")
    return votes


def coincidences(votes: Floats) -> Floats:
    """Return the (K, K) ordered pairs of labels on one task, each weighted by 1 / (labels of the task - 1).

    Rows and columns add up to the labels of each class, as in Krippendorff's coincidence matrix.
    """
    weighted = votes / (votes.sum(axis=1, keepdims=True) - 1)
    return np.asarray(weighted.T @ votes - np.diag(weighted.sum(axis=0)))


def differences(n: Floats, level: Level) -> Floats:
    """Return delta (K, K), ordinal or interval, of classes with n (K,) labels."""
    place = np.cumsum(n) - n / 2 if level == "ordinal" else np.arange(len(n), dtype=np.float64)
    return np.asarray((place[:, None] - place) ** 2)


def alpha_of(pairs: Floats, delta: Floats) -> float:
    """Return 1 - D_o / D_e from the coincidences and the differences of classes, both (K, K)."""
    n = pairs.sum(axis=0)
    expected = n @ delta @ n
    return float(1 - (n.sum() - 1) * np.vdot(pairs, delta) / expected) if expected > 0 else float("nan")


# ---- order ----


FEWEST, MOST = 4, 20  # classes: three have three orders, so that labels cannot tell; more are no grades
ALL_ORDERS = 6  # classes with so few are asked in all orders
DRAWN = 2000  # orders of more classes
LUCK = 0.1  # share of the orders that may agree as well
SCALES = (
    "never, rarely, seldom, occasionally, sometimes, usually, often, mostly, always",
    "strongly disagree, disagree, somewhat disagree, neutral, somewhat agree, agree, strongly agree",
    "terrible, very bad, very poor, bad, poor, below average, fair, average, okay, good, very good, great, excellent",
    "none, minimal, very low, low, medium, moderate, high, very high",
    "none, slight, mild, moderate, serious, severe, extreme",
    "very negative, negative, slightly negative, neutral, slightly positive, positive, very positive",
    "not at all, slightly, somewhat, moderately, very, extremely",
    "irrelevant, not relevant, marginally relevant, partially relevant, relevant, highly relevant, perfectly relevant",
)


def in_order(labels: CrowdLabels, order: Sequence[Any]) -> CrowdLabels:
    """Return the same labels with classes in a declared order, so that their codes are the grades.

    Parameters
    ----------
    labels : CrowdLabels
    order : sequence
        All classes, the lowest first. A class that no worker chose may be among them: it is a grade between or beyond.

    Raises
    ------
    CofactorError
        No sequence, fewer than two classes, one named twice, or a class of the labels that is left out.

    Cost: O(labels).

    >>> labels = CrowdLabels.from_arrays([0, 0, 1], [0, 1, 0], [1, 0, 1])
    >>> in_order(labels, [1, 0]).table.codes.tolist()
    [[0, 1], [0, -1]]
    """
    check_kind(CrowdLabels, labels=labels)
    grades = checked_order(order)
    place = {name: k for k, name in enumerate(grades)}
    left_out = [name for name in labels.classes if name not in place]
    if left_out:
        raise CofactorError(
            f"the order {listing(map(repr, grades))} leaves out {listing(map(repr, left_out))}: name all classes"
        )
    if labels.classes == grades:
        return labels
    table, to_grade = labels.table, np.array([place[name] for name in labels.classes])
    sizes, values = np.full(labels.n_workers, len(grades)), to_grade[table.values]
    shares = table.indicator.data if table.shared else None
    recoded = CategoricalTable.from_entries(table.rows, table.variables, values, sizes, labels.n_tasks, shares)
    return CrowdLabels(recoded, labels.tasks, labels.workers, grades)


def in_declared_order(
    order: Sequence[Any] | str, labels: CrowdLabels, truth: Ints | None = None
) -> tuple[CrowdLabels, Ints | None]:
    """Return labels, and codes of true classes, in a declared order: a list, or a text with commas, see `in_order`."""
    if isinstance(order, str):
        names = [name.strip() for name in next(csv.reader([order], skipinitialspace=True), [])]
        known = {str(name): name for name in labels.classes}
        whole = all(isinstance(name, int | np.integer) for name in labels.classes)
        order = [known.get(one, int(one) if whole and one.lstrip("-").isdigit() else one) for one in names]
    graded = in_order(labels, order)
    if truth is None:
        return graded, None
    place = np.array([graded.classes.index(name) for name in labels.classes] + [-1])
    return graded, np.where(truth < 0, -1, place[truth])


def checked_order(order: Sequence[Any]) -> list[Any]:
    """Return the classes of a declared order as a list, and refuse what is none."""
    try:
        plain = order.tolist() if hasattr(order, "tolist") else order  # numbers of NumPy and pandas as Python's
        grades = None if isinstance(order, str) else list(plain)
        twice = grades is None or len(set(grades)) < len(grades)
    except TypeError:
        grades = None
    if grades is None or len(grades) < 2 or twice:
        raise CofactorError(f"order={order!r}: give all classes in a list, the lowest first, each once")
    return grades


def suggested_order(labels: CrowdLabels) -> list[Any] | None:
    """Return the order that the labels suggest for their classes, or None.

    Classes must be 4 to 20, named by numbers or by words of one known scale. Then Krippendorff's alpha of squared steps
    is computed in this order and in all others (with more than six classes, in 2,000 drawn ones): where workers
    disagree by neighbours, few other orders agree as well. Suggested if at most a tenth do, this one counted. So of
    classes without order that are named by numbers, up to a tenth are suggested as well: a note, never a switch.

    Cost: O(N K^2), and O(K^2) for each order.
    """
    check_kind(CrowdLabels, labels=labels)
    order = _named_order(labels.classes) if FEWEST <= labels.n_classes <= MOST else None
    if order is None:
        return None
    votes = in_order(labels, order).votes.astype(np.float64)
    pairs = coincidences(votes[votes.sum(axis=1) > 1])
    delta = differences(pairs.sum(axis=0), "interval")
    mine = alpha_of(pairs, delta)
    others = [alpha_of(pairs, delta[np.ix_(p, p)]) for p in _orders(len(order))]
    as_good = np.mean(np.array(others) >= mine)  # False for NaN: nothing to compare
    return order if mine > 0 and as_good <= LUCK else None


def _orders(n: int) -> Iterator[Ints]:
    """Yield this order first, then all others up to turning them round, or 2,000 drawn ones."""
    if n <= ALL_ORDERS:
        yield from (np.array(p) for p in permutations(range(n)) if p[0] < p[-1])
        return
    rng = np.random.default_rng(0)
    yield np.arange(n)
    yield from (rng.permutation(n) for _ in range(DRAWN))


def _named_order(classes: list[Any]) -> list[Any] | None:
    """Return the classes by the numbers or words they are named by; None where these tell no order."""
    numbers = _numbers(classes)
    if numbers is not None:
        return [classes[k] for k in np.argsort(numbers, kind="stable")]
    words = [str(name).strip().casefold().replace("_", " ").replace("-", " ") for name in classes]
    for scale in SCALES:
        place = {word: k for k, word in enumerate(scale.split(", "))}
        if len(set(words)) == len(words) and all(word in place for word in words):
            return [classes[k] for k in np.argsort([place[word] for word in words])]
    return None


def _numbers(classes: list[Any]) -> list[float] | None:
    try:
        numbers = [float(name) for name in classes if not isinstance(name, bool)]
    except (TypeError, ValueError):
        return None
    distinct = len(set(numbers)) == len(classes) and bool(np.isfinite(numbers).all())
    return numbers if distinct else None

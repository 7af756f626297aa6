"""How far workers agree beyond chance: Krippendorff's alpha of labels with or without order."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from cofactor.core.checks import check_kind
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import special
from cofactor.core.types import Floats
from cofactor.crowd.labels import CrowdLabels

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

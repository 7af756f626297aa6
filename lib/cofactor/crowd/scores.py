"""Quality of labels: accuracy, proper scores and calibration with known truth, and agreement without it.

Symbols: p_ik probability of class k for task i, c_i its true class, m_i = max_k p_ik; r_i is 1 if the label is
correct, 0 if it is not, and 1/t in a tie of t classes that includes the true one. Only the n tasks with known truth
count.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.core.checks import check_kind, unmasked
from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import special
from cofactor.core.types import Floats
from cofactor.crowd.labels import UNKNOWN, CrowdLabels, in_order

BINS = 15
HIGH_PROBABILITY = 0.99
MIN_PROBABILITY = 1e-15  # probability whose logarithm is taken: one that is zero for the true class would cost infinity
SUM_TOLERANCE = 1e-6  # of the probabilities of a task
CONFIDENCE = 0.95
EQUAL_SHARES = 1e-9  # difference of two shares that is none


@dataclass(frozen=True)
class Score:
    """Quality of labels or probabilities; scores that need probabilities are NaN if only labels were given.

    Attributes
    ----------
    n_tasks
        Tasks with known truth.
    accuracy
        Mean of r_i.
    log_loss
        Mean of -log p_i,c_i, in nats; probabilities below 1e-15 count as 1e-15.
    brier
        Mean of sum_k (p_ik - [k = c_i])^2, from 0 to 2.
    ece
        Expected calibration error: the mean of |accuracy - mean m_i| over 15 bins of m_i of equal width, weighted by
        their numbers of tasks.
    confidence
        Mean of m_i; above the accuracy if probabilities are too high.
    n_sure
        Number of tasks with m_i of at least .99.
    sure_wrong
        Fraction of these that are wrong; NaN if there are none.
    """

    n_tasks: int
    accuracy: float
    log_loss: float = np.nan
    brier: float = np.nan
    ece: float = np.nan
    confidence: float = np.nan
    n_sure: int = 0
    sure_wrong: float = np.nan


def error_rate(predicted: ArrayLike, truth: ArrayLike) -> float:
    """Return the fraction of tasks with known truth that are labelled wrongly.

    Parameters
    ----------
    predicted : (N,) class codes, or (N, K) scores such as posteriors or vote shares
        The class with the largest score counts; a tie of t classes that includes the true one counts 1 - 1/t.
    truth : (N,) class codes, -1 where unknown
        K, one more than the last code, stands for a class that no worker chose, as in `read_truth`; it is never
        predicted.

    Raises
    ------
    CofactorError
        Lengths differ, or no truth is known.

    Examples
    --------
    >>> error_rate([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]], truth=[0, 1, -1])
    0.75
    """
    return float(1 - right_shares(predicted, truth).mean())


def right_shares(predicted: ArrayLike, truth: ArrayLike) -> Floats:
    """Return for every task with known truth whether its label is correct: 1, 0, or 1/t in a tie of t classes.

    Parameters, errors and the rule for ties are those of `error_rate`, which is one minus their mean.

    Examples
    --------
    >>> right_shares([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]], truth=[0, 1, -1]).tolist()
    [0.5, 0.0]
    """
    predicted, truth = unmasked(predicted), unmasked(truth, np.int64(UNKNOWN))
    if truth.dtype.kind not in "iu" or predicted.dtype.kind not in "iuf":
        raise CofactorError(f"expected codes or scores, and truth as codes; got {predicted.dtype} and {truth.dtype}")
    if truth.ndim != 1 or predicted.ndim not in (1, 2) or len(predicted) != len(truth):
        n_tasks = len(np.atleast_1d(predicted))
        raise CofactorError(f"truth has the wrong length: {truth.size} entries for {n_tasks} tasks (-1 where unknown)")
    if not (known := truth >= 0).any():
        raise CofactorError("no task has known truth (-1 means unknown)")
    predicted, truth = predicted[known], truth[known]
    if np.isnan(predicted).any() or (predicted.ndim == 2 and truth.max() > predicted.shape[1]):
        raise CofactorError("predictions must not contain NaN, and truth must not exceed the number of classes")
    if predicted.ndim == 1:
        return np.asarray(predicted == truth, dtype=np.float64)
    tied = predicted >= predicted.max(axis=1, keepdims=True) - 1e-9
    among = truth < predicted.shape[1]
    hit = tied[np.arange(len(truth)), np.where(among, truth, 0)] & among
    return np.asarray(hit / tied.sum(axis=1))


def score(predicted: ArrayLike, truth: ArrayLike) -> Score:
    """Score labels or probabilities on the tasks with known truth.

    Parameters
    ----------
    predicted : (N,) class codes, or (N, K) probabilities
        Rows of probabilities must sum to one.
    truth : (N,) class codes, -1 where unknown
        K, one more than the last code, stands for a class that no worker chose: its probability is zero.

    Raises
    ------
    CofactorError
        Lengths differ, no truth is known, or rows are not probabilities; the first ten such rows are named.

    Cost: O(N K).
    Sources: Brier, "Verification of forecasts expressed in terms of probability", 1950; Guo, Pleiss, Sun and
    Weinberger, "On calibration of modern neural networks", ICML 2017, for the calibration error and its 15 bins. Here
    a tie of t classes counts as 1/t of a correct label, also in the bins.

    Examples
    --------
    >>> found = score([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], truth=[0, 1, -1])
    >>> found.n_tasks, found.accuracy, round(found.brier, 3), round(found.ece, 3)
    (2, 1.0, 0.05, 0.15)
    """
    right = right_shares(predicted, truth)
    p, truth = unmasked(predicted), unmasked(truth, np.int64(-1))
    if p.ndim == 1:
        return Score(len(right), float(right.mean()))
    known = truth >= 0
    _check_probabilities(p, known)
    p, truth = p[known].astype(np.float64), truth[known]
    among = truth < p.shape[1]
    of_truth = np.where(among, p[np.arange(len(truth)), np.where(among, truth, 0)], 0.0)  # zero if no worker chose it
    largest = p.max(axis=1)
    sure = largest >= HIGH_PROBABILITY
    return Score(
        n_tasks=len(right),
        accuracy=float(right.mean()),
        log_loss=float(-np.log(np.maximum(of_truth, MIN_PROBABILITY)).mean()),
        brier=float((np.square(p).sum(axis=1) - 2 * of_truth + 1).mean()),  # sum_k p_k^2 - 2 p_c + 1
        ece=calibration_error(largest, right),
        confidence=float(largest.mean()),
        n_sure=int(sure.sum()),
        sure_wrong=float(1 - right[sure].mean()) if sure.any() else np.nan,
    )


def _check_probabilities(p: Floats, known: NDArray[np.bool_]) -> None:
    outside = ((p < 0) | (p > 1 + SUM_TOLERANCE)).any(axis=1) | (np.abs(p.sum(axis=1) - 1) > SUM_TOLERANCE)
    bad = np.flatnonzero(outside & known)
    if bad.size:
        raise CofactorError(
            f"rows are not probabilities that sum to one: {listing(bad.tolist())}; "
            "pass the output of predict_proba, or class codes"
        )


def calibration_error(confidence: ArrayLike, right: ArrayLike, bins: int = BINS) -> float:
    """Return the expected calibration error: how far confidences are from the fractions that are correct.

    Parameters
    ----------
    confidence : (n,) numbers from 0 to 1
    right : (n,) numbers from 0 to 1
        Whether the statement with that confidence is correct.
    bins : int
        Number of bins of equal width from 0 to 1; a value on an edge belongs to the upper bin.

    Examples
    --------
    >>> round(calibration_error([0.9, 0.9, 0.6], [1, 0, 1]), 3)  # (2 |0.5 - 0.9| + |1 - 0.6|) / 3
    0.4
    """
    confidence, right = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    place = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    return float(np.abs(np.bincount(place, right - confidence, bins)).sum() / len(right))


@dataclass(frozen=True)
class Difference:
    """Difference in accuracy between two labellings of the same tasks, with an interval.

    Attributes
    ----------
    mean : float
        Accuracy of the first minus that of the second.
    low, high : float
        The 95 % interval.
    """

    mean: float
    low: float
    high: float

    @property
    def worse(self) -> bool:
        """Whether the first is significantly less accurate: the whole interval is below zero."""
        return self.high < 0

    @property
    def better(self) -> bool:
        """Whether the first is significantly more accurate: the whole interval is above zero."""
        return self.low > 0


def paired_difference(predicted: ArrayLike, other: ArrayLike, truth: ArrayLike) -> Difference:
    """Compare the accuracies of two labellings of the same tasks.

    The labellings are paired, so the difference is taken task by task, d_i = r_i - r'_i, with the normal interval
    mean +- 1.96 sd(d) / sqrt(n). It holds for other tasks of the same kind labelled by the same crowd, not for another
    crowd.

    Parameters
    ----------
    predicted, other : (N,) class codes, or (N, K) scores such as posteriors or vote shares
    truth : (N,) class codes, -1 where unknown

    Raises
    ------
    CofactorError
        As `error_rate`.

    Examples
    --------
    >>> found = paired_difference([0, 1, 1, 0], [0, 1, 0, 1], truth=[0, 1, 1, 0])
    >>> found.mean, round(found.low, 2), round(found.high, 2)
    (0.5, -0.07, 1.07)
    """
    difference = right_shares(predicted, truth) - right_shares(other, truth)
    n, mean = len(difference), float(difference.mean())
    half = special.ndtri((1 + CONFIDENCE) / 2) * difference.std(ddof=1) / np.sqrt(n) if n > 1 else np.inf
    return Difference(mean, float(mean - half), float(mean + half))


def sign_test(predicted: ArrayLike, other: ArrayLike, truth: ArrayLike) -> float:
    """Return the exact two-sided p-value of a sign test between two labellings of the same tasks.

    Arguments and errors as in `paired_difference`; ties count as fractions. The p-value is one if no task differs.

    >>> sign_test([1, 1, 1, 1, 1], [0, 0, 0, 0, 0], truth=[1, 1, 1, 1, 1])
    0.0625
    """
    from scipy.stats import binomtest  # here: takes a second

    difference = right_shares(predicted, truth) - right_shares(other, truth)
    better, worse = int(np.sum(difference > EQUAL_SHARES)), int(np.sum(difference < -EQUAL_SHARES))
    return float(binomtest(better, better + worse).pvalue) if better + worse else 1.0


# ---- agreement of workers ----


Level = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(labels: CrowdLabels, level: Level = "nominal") -> float:
    r"""Return Krippendorff's alpha: 1 if workers always agree, 0 if they agree as often as by chance.

    The difference of two labels c and k is delta(c, k); n_g is the number of labels g:

        nominal    [c != k]
        ordinal    (n_c / 2 + n_(c+1) + ... + n_(k-1) + n_k / 2)^2, for c < k
        interval   (c - k)^2, in steps

    The observed disagreement D_o is the mean difference over all pairs of labels of one task, with weight 1 / (n - 1)
    on a task with n labels; the expected one, D_e, is the mean difference of pairs drawn from all labels:
    alpha = 1 - D_o / D_e. Tasks with one label contain no pair and are left out.

    Parameters
    ----------
    labels : CrowdLabels
        For "ordinal" and "interval", the classes must be in order; see `in_order`.
    level : {"nominal", "ordinal", "interval"}
        Whether the classes are names, ranks, or steps of equal width.

    Returns
    -------
    float, at most 1; below 0 if workers disagree more than by chance. NaN if tasks with several labels use only one
    class, since chance would agree as well.

    Raises
    ------
    CofactorError
        No task has two labels, or `level` is unknown.

    Cost
    ----
    O(N K) for N tasks and K classes; O(N K^2) for "ordinal" and "interval".

    Source
    ------
    K. Krippendorff, Content Analysis, 2nd edition, 2004, chapter 11. If all workers are competent, alpha measures how
    clear the tasks are, not whether the majority is right: errors that workers share count as agreement.

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
    """Return a confidence interval of the nominal alpha over tasks like these; NaN if alpha is not defined. O(N K).

    By the delta method, from the influence of every task on D_o and D_e. Tasks with one label have none.

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
    """Return the (n, K) votes of the tasks with two labels or more; raise if there are none."""
    votes = labels.votes.astype(np.float64)
    votes = votes[votes.sum(axis=1) > 1]
    if not len(votes):
        raise CofactorError("agreement needs at least one task with two labels or more, but there is none")
    return votes


def coincidences(votes: Floats) -> Floats:
    """Return the (K, K) counts of ordered pairs of labels on one task, weighted by 1 / (labels of the task - 1).

    Rows and columns sum to the number of labels of each class, as in Krippendorff's coincidence matrix.
    """
    weighted = votes / (votes.sum(axis=1, keepdims=True) - 1)
    return np.asarray(weighted.T @ votes - np.diag(weighted.sum(axis=0)))


def differences(n: Floats, level: Level) -> Floats:
    """Return delta (K, K), ordinal or interval, of classes with n (K,) labels."""
    place = np.cumsum(n) - n / 2 if level == "ordinal" else np.arange(len(n), dtype=np.float64)
    return np.asarray((place[:, None] - place) ** 2)


def alpha_of(pairs: Floats, delta: Floats) -> float:
    """Return alpha = 1 - D_o / D_e from the coincidences and the differences of classes, both (K, K)."""
    n = pairs.sum(axis=0)
    expected = n @ delta @ n
    return float(1 - (n.sum() - 1) * np.vdot(pairs, delta) / expected) if expected > 0 else float("nan")


# ---- the order that labels suggest ----


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


def suggested_order(labels: CrowdLabels) -> list[Any] | None:
    """Return the order that the names and labels of the classes suggest, or None.

    There must be 4 to 20 classes, named by numbers or by words of one known scale. Then Krippendorff's alpha of squared
    steps is computed in this order and in all others (with more than six classes, in 2,000 random ones): if workers
    disagree mostly by one step, few other orders give as high an alpha. The order is suggested if at most a tenth do,
    itself included. So for up to a tenth of the crowds whose classes are numbers without an order, one is suggested
    nevertheless: it is only a note and changes nothing.

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
    K, rng = len(order), np.random.default_rng(0)  # this order first, then others, up to turning them round
    every = [np.array(p) for p in permutations(range(K)) if p[0] < p[-1]] if K <= ALL_ORDERS else []
    orders = every or [np.arange(K), *(rng.permutation(K) for _ in range(DRAWN))]
    others = [alpha_of(pairs, delta[np.ix_(p, p)]) for p in orders]
    as_good = np.mean(np.array(others) >= mine)  # False for NaN: nothing to compare
    return order if mine > 0 and as_good <= LUCK else None


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

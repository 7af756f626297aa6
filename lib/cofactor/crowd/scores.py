"""How good labels and probabilities are, where the truth is known: accuracy, proper scores, calibration, a comparison.

Symbols: p_ik probability of class k for task i, c_i its true class, m_i = max_k p_ik; r_i is 1 where the label is
right, 0 where it is not, and 1/t in a tie of t classes that includes the true one. Only the n tasks with known truth
count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.core.checks import unmasked
from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import special
from cofactor.core.types import Floats
from cofactor.crowd.evidence import UNKNOWN

BINS = 15
HIGH_PROBABILITY = 0.99
MIN_PROBABILITY = 1e-15  # probability whose logarithm is taken: one that is zero for the true class would cost infinity
SUM_TOLERANCE = 1e-6  # of the probabilities of a task
CONFIDENCE = 0.95
EQUAL_SHARES = 1e-9  # difference of two shares that is none


@dataclass(frozen=True)
class Score:
    """How good labels or probabilities are; what needs probabilities is NaN where only labels were given.

    Attributes
    ----------
    n_tasks
        Tasks with known truth.
    accuracy
        Mean of r_i.
    log_loss
        Mean of -log p_i,c_i, in nats; a probability below 1e-15 counts as that.
    brier
        Mean of sum_k (p_ik - [k = c_i])^2, from 0 to 2.
    ece
        Expected calibration error: the mean of |accuracy - mean m_i| over 15 bins of m_i of equal width, each weighted
        with its tasks.
    confidence
        Mean of m_i; above the accuracy where probabilities are too high.
    n_sure
        Tasks with m_i of at least .99.
    sure_wrong
        Share of these that is wrong; NaN where there are none.
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
    """Share of tasks with known truth that are labelled wrongly.

    Parameters
    ----------
    predicted : (N,) class codes, or (N, K) scores such as posteriors or vote shares
        Of scores, the largest counts; a tie of t classes that includes the true one counts 1 - 1/t.
    truth : (N,) class codes, -1 where unknown
        K, one more than the last class, is a class that none chose, as `read_truth` has it: never predicted rightly.

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
    """Return for every task with known truth whether it is labelled rightly: 1, 0, or 1/t in a tie of t classes.

    Parameters, errors and the rule for ties are those of `error_rate`, which is one minus their mean.

    Examples
    --------
    >>> right_shares([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]], truth=[0, 1, -1]).tolist()
    [0.5, 0.0]
    """
    predicted, truth = unmasked(predicted), unmasked(truth, np.int64(UNKNOWN))
    if truth.dtype.kind not in "iu" or predicted.dtype.kind not in "iuf":
        raise CofactorError(f"class codes or scores are needed, got {predicted.dtype} and truth {truth.dtype}")
    if truth.ndim != 1 or predicted.ndim not in (1, 2) or len(predicted) != len(truth):
        n_tasks = len(np.atleast_1d(predicted))
        raise CofactorError(f"truth of the wrong length: {truth.size} entries for {n_tasks} tasks (-1: unknown)")
    if not (known := truth >= 0).any():
        raise CofactorError("the truth of no task is known (-1 means unknown)")
    predicted, truth = predicted[known], truth[known]
    if np.isnan(predicted).any() or (predicted.ndim == 2 and truth.max() > predicted.shape[1]):
        raise CofactorError("scores or codes without NaN, and truth up to the number of classes, are needed")
    if predicted.ndim == 1:
        return np.asarray(predicted == truth, dtype=np.float64)
    tied = predicted >= predicted.max(axis=1, keepdims=True) - 1e-9
    among = truth < predicted.shape[1]
    hit = tied[np.arange(len(truth)), np.where(among, truth, 0)] & among
    return np.asarray(hit / tied.sum(axis=1))


def score(predicted: ArrayLike, truth: ArrayLike) -> Score:
    """Score labels or probabilities against what is known of the truth.

    Parameters
    ----------
    predicted : (N,) class codes, or (N, K) probabilities
        Rows of probabilities add up to one.
    truth : (N,) class codes, -1 where unknown
        K, one more than the last class, is a class that no worker chose: its probability is zero.

    Raises
    ------
    CofactorError
        Lengths differ, no truth is known, or rows are no probabilities; the first ten such rows are named.

    Cost: O(N K).
    Sources: Brier, "Verification of forecasts expressed in terms of probability", 1950; Guo, Pleiss, Sun and
    Weinberger, "On calibration of modern neural networks", ICML 2017, for the calibration error and its 15 bins. Here
    a tie of t classes counts as 1/t of a right label, in the bins as well.

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
            f"rows are no probabilities that add up to one: {listing(bad.tolist())}; "
            "give those of predict_proba, or class codes"
        )


def calibration_error(confidence: ArrayLike, right: ArrayLike, bins: int = BINS) -> float:
    """Return the expected calibration error: how far confidences are from the shares that are right.

    Parameters
    ----------
    confidence : (n,) numbers from 0 to 1
    right : (n,) numbers from 0 to 1
        Whether what was said with that confidence is right.
    bins : int
        Of equal width, from 0 to 1; a value on an edge belongs to the upper bin.

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
    """How much more accurate one labelling is than another on the same tasks.

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
        """Whether the first is less accurate by more than chance: the whole interval lies below zero."""
        return self.high < 0

    @property
    def better(self) -> bool:
        """Whether the first is more accurate by more than chance: the whole interval lies above zero."""
        return self.low > 0


def paired_difference(predicted: ArrayLike, other: ArrayLike, truth: ArrayLike) -> Difference:
    """Compare two labellings of the same tasks by accuracy.

    Both are right or wrong on the same tasks, so the difference is taken task by task, d_i = r_i - r'_i, and its
    interval is the normal one, mean +- 1.96 sd(d) / sqrt(n). It tells what other tasks of the same kind, labelled by
    the same crowd, could give; not what another crowd would.

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
    """Return the exact two-sided p-value of as many tasks on which one of two labellings is the better one.

    Arguments and errors as in `paired_difference`; a tie counts in parts. One where they differ on no task.

    >>> sign_test([1, 1, 1, 1, 1], [0, 0, 0, 0, 0], truth=[1, 1, 1, 1, 1])
    0.0625
    """
    from scipy.stats import binomtest  # here: takes a second

    difference = right_shares(predicted, truth) - right_shares(other, truth)
    better, worse = int(np.sum(difference > EQUAL_SHARES)), int(np.sum(difference < -EQUAL_SHARES))
    return float(binomtest(better, better + worse).pvalue) if better + worse else 1.0

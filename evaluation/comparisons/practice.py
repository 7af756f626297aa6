"""Beyond the paper: what a practitioner gets from real answers, few of each person or all of them.

The default beside the convex relaxation, one ranking for all, and choix, a library of such rankings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from cofactor.comparisons import (
    BradleyTerry,
    ComparisonMF,
    Comparisons,
    NuclearNormMLE,
    PreferenceModel,
    WinRate,
    pair_accuracy,
)
from cofactor.comparisons.loss import excess_loss
from cofactor.core.types import Floats
from evaluation.comparisons.real import answers, first_answers, margins, seeded, split
from evaluation.experiment import Measurement, beyond, measure_each
from evaluation.peers.rankings import Choix

Margins = Callable[[Comparisons, Comparisons, int], Floats]  # of the second, having learnt from the first

DEFAULT = "ComparisonMF"
ALPHA = 1.0  # of choix, its inverse variance halved
STEEPEST = 50.0  # slope beyond which chances are called far too timid


def learnt(make: Callable[[], PreferenceModel], learn: Comparisons, test: Comparisons, seed: int) -> Floats:
    """Fit a method of this library with its defaults."""
    return margins(seeded(make(), seed).fit(learn), test)


def choix_ranking(learn: Comparisons, test: Comparisons, seed: int) -> Floats:
    """One ranking for all by choix; a tie counts half for either item."""
    b = Choix(ALPHA).fit(learn).utilities_
    return np.asarray(b[test.left] - b[test.right])


METHODS: dict[str, Margins] = {
    DEFAULT: partial(learnt, ComparisonMF),
    "NuclearNormMLE": partial(learnt, NuclearNormMLE),
    "BradleyTerry": partial(learnt, BradleyTerry),
    "WinRate": partial(learnt, WinRate),
    "choix": choix_ranking,
}


def scores(z: Floats, asked: Comparisons) -> dict[str, float]:
    """Return loss, accuracy and calibration of chances g(z) of held-out answers."""
    loss = excess_loss(asked, z, "logistic") + _ties(asked)
    found = {"log-loss": loss, "accuracy": 100 * pair_accuracy(z, asked.outcome)}
    return found | ({"slope": slope} if np.isfinite(slope := calibration_slope(z, asked.outcome)) else {})


def _ties(asked: Comparisons) -> float:
    """Entropy of outcomes that are neither 0 nor 1, which the excess loss leaves out."""
    return float(np.log(2) * np.mean(asked.outcome == 0.5))


def calibration_slope(z: Floats, outcome: Floats) -> float:
    """Return the a for which g(a z) explains the outcomes best: 1 where chances are right, below where too bold.

    NaN where z is zero throughout, or no a is best within reason.
    """

    def gradient(a: float) -> float:
        return float(np.sum((outcome - expit(a * z)) * z))

    if not z.any() or gradient(-STEEPEST) <= 0 or gradient(STEEPEST) >= 0:
        return float("nan")
    return float(brentq(gradient, -STEEPEST, STEEPEST))


def practice(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One split: every method, and how much more log-loss it has than the default on the same answers."""
    name, count = setting.split(",n=")
    learn, test = split(answers(name), rng)
    learn = learn if count == "all" else first_answers(learn, int(count), rng)
    seed = int(rng.integers(2**31))
    rows = measure_each(METHODS, lambda fit: scores(fit(learn, test, seed), test))
    return rows + beyond(rows, "log-loss", DEFAULT, "more than default")

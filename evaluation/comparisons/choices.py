"""Beyond the paper: choices instead of chances, known features.

How far utilities are from the truth against the number of choices, beside what the planner predicts.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from cofactor.comparisons import ComparisonMF, Comparisons, expected_error, spectral_start, utility_error
from cofactor.comparisons.solvers import project_to_centred
from cofactor.core.types import Floats
from cofactor.simulate import comparison_factors, draw_comparisons
from evaluation.comparisons.figures import RANK
from evaluation.experiment import Measurement, experiment, measure

Features = tuple[Floats, Floats]

SHAPE = 200, 300
SLOPE_COUNTS = (80_000, 160_000, 320_000, 640_000, 1_280_000)
QUESTIONS = 20_000  # on which the order of two items is asked


def _spread(true: Features) -> float:
    """Root mean square of centred utilities."""
    U, V = true[0], project_to_centred(true[1])
    return float(np.sqrt(np.sum((U.T @ U) * (V.T @ V)) / (len(U) * len(V))))


def _predicted(true: Features, m: int) -> float:
    return expected_error(m, *SHAPE, RANK, _spread(true))


def _fitted(data: Comparisons, seed: int) -> Features:
    mf = ComparisonMF(RANK, item_bias=False, folds=1, random_state=seed).fit(data)
    return mf.user_factors_, mf.item_factors_


def _quality(found: Features, true: Features, seed: int) -> dict[str, float]:
    """Relative error, and how often the better of two random items is found."""
    asked = draw_comparisons(*true, QUESTIONS, "exact", random_state=seed)
    z = np.einsum("ka,ka->k", found[0][asked.user], found[1][asked.left] - found[1][asked.right])
    right = np.mean((z > 0) == (asked.outcome > 0.5))
    return {"error": utility_error(*found, *true), "accuracy": 100 * float(right)}


@experiment(
    "comparisons-choices",
    title="Choices: error against their number",
    source="Beyond Sankagiri, Etesami and Grossglauser, ICML 2025",
    settings={
        "m=20,000": "20,000 choices",
        "m=40,000": "40,000 choices",
        "m=80,000": "80,000 choices",
        "m=160,000": "160,000 choices",
        "m=320,000": "320,000 choices",
    },
    metrics={"error": "relative", "accuracy": "%"},
    trials=5,
    plot="sweep",
)
def choices(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One number of choices: the default fit, the spectral start alone, and the planner's forecast.

    200 users, 300 items, rank 3, rows of length one; outcomes 0 and 1. ComparisonMF chooses its ridge on a tenth of
    the choices, held out. 'accuracy': how often the better of two items is found. 'planner': sqrt(dof / (2 m
    E[information])) / spread. The paper's theory and figures have exact chances as outcomes, each of which tells as
    much as thousands of choices. Its Gaussian truth at 2000 x 3000 is so weak, 0.1 of difference, that choices teach
    nothing.
    """
    true = comparison_factors(*SHAPE, RANK, random_state=rng)
    seed, m = int(rng.integers(2**31)), int(setting.removeprefix("m=").replace(",", ""))
    data = draw_comparisons(*true, m, random_state=seed)
    rows = measure("ComparisonMF", lambda: _quality(_fitted(data, seed), true, seed + 1))
    rows += measure("spectral start", lambda: _quality(spectral_start(data, RANK, random_state=seed), true, seed + 1))
    return rows + measure("planner", lambda: {"error": _predicted(true, m)})


@experiment(
    "comparisons-choices-slope",
    title="Choices: error falls as one over the root of their number",
    source="Beyond Sankagiri, Etesami and Grossglauser, ICML 2025",
    settings={"unit": "200 x 300, unit rows"},
    metrics={"slope": "1", "over forecast": "1", "over forecast, last": "1"},
    trials=5,
)
def slope(setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """All numbers of choices on one truth: the slope of the logarithms, and the error over the forecast.

    As before, 80,000 to 1,280,000 choices: slope of log error against log number, and error over the planner's
    forecast, its mean and its last value.
    """
    true = comparison_factors(*SHAPE, RANK, random_state=rng)
    seed = int(rng.integers(2**31))
    return measure("ComparisonMF", partial(_slope, true, seed))


def _slope(true: Features, seed: int) -> dict[str, float]:
    errors = [
        utility_error(*_fitted(draw_comparisons(*true, m, random_state=seed + k), seed), *true)
        for k, m in enumerate(SLOPE_COUNTS)
    ]
    ratios = [error / _predicted(true, m) for error, m in zip(errors, SLOPE_COUNTS, strict=True)]
    fitted = np.polyfit(np.log(SLOPE_COUNTS), np.log(errors), 1)[0]
    return {"slope": float(fitted), "over forecast": float(np.mean(ratios)), "over forecast, last": ratios[-1]}

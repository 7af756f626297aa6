"""Figures 2 to 5 and Table I: drawn mixtures, known anchors.

Source: Nguyen, Fu and Wu, "Memory-efficient convex optimization for self-dictionary separable nonnegative matrix
factorization: a Frank-Wolfe approach", IEEE TSP 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from cofactor.core.types import Indices
from cofactor.separable import MERIT, SPA, FastGradient, merit, mrsa, rae
from cofactor.separable.least_squares import simplex_least_squares
from cofactor.separable.merit import MSR_SHARE
from cofactor.separable.methods import AnchorMethod
from cofactor.simulate import Mixture, dirichlet_mixtures, midpoint_mixtures
from evaluation.experiment import PAPER_PROTOCOL, Given, Measurement, experiment, measure_each
from evaluation.released.separable import figure_merit

Method = Callable[[Mixture, int], Indices]

# ---- methods ----


def by(make: Callable[..., AnchorMethod], problem: Mixture, seed: int, **settings: Any) -> Indices:
    """Find anchors by a method of the library, or as released."""
    return make(problem.anchors.size, random_state=seed, **settings).fit(problem.X).anchors_


AS_PRINTED = "MERIT (paper protocol, objective as printed)"
FINDERS: dict[str, Method] = {
    "SPA": partial(by, SPA),
    "FastGradient": partial(by, FastGradient),
    "MERIT": partial(by, MERIT),
    "MERIT" + PAPER_PROTOCOL: partial(by, figure_merit),
    AS_PRINTED: partial(by, figure_merit, objective="half"),
    "MERIT(0)": partial(by, figure_merit, lam=0.0),
}


def recovery(problem: Mixture, found: Indices) -> dict[str, float]:
    """Compare anchors with the true ones: all found, share found, angle of the pure columns, share of X explained."""
    hits = np.intersect1d(found, problem.anchors).size / problem.anchors.size
    W = problem.X[:, found]
    fit = rae(problem.X, W, simplex_least_squares(W, problem.X))
    return {"success": float(hits == 1), "hits": hits, "mrsa": mrsa(problem.W, W), "rae": fit}


def drawn(numbers: Mapping[str, Any], rng: np.random.Generator) -> Mixture:
    """Draw mixtures of uniform weights (shape: rows, points, anchors), or the mid-points of ten columns."""
    if "noise" in numbers:
        return midpoint_mixtures(50, 10, numbers["snr_db"], numbers["noise"], rng)
    n_rows, n_points, n_anchors = numbers["shape"]
    return dirichlet_mixtures(n_rows, n_points, n_anchors, numbers["snr_db"], rng)


def recovered(
    finders: Mapping[str, Method], given: Given, setting: str, trial: int, rng: np.random.Generator
) -> list[Measurement]:
    """One trial: draw mixtures, find their anchors by every method."""
    problem = drawn(given[setting], rng)
    seed = int(rng.integers(2**31))
    return measure_each(finders, lambda find: recovery(problem, find(problem, seed)))


def at(*levels: int) -> dict[str, float]:
    """Name settings by their level of noise in decibels."""
    return {f"SNR={level}": float(level) for level in levels}


RELEASED_NOISE = at(8, 9, 10, 11, 12, 14, 15, 16, 17, 20, 22, 24)
GAUSSIAN_NOISE = at(10, 12, 14, 16, 18)
UNIFORM = at(6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)


@experiment(
    "separable-figure2",
    title="Figures 2 and 3: mid-points, noise as released",
    source="Nguyen, Fu and Wu, IEEE TSP 2022, Figures 2 and 3",
    settings={name: f"{x:g} dB" for name, x in RELEASED_NOISE.items()},
    given={name: {"noise": "released", "snr_db": x} for name, x in RELEASED_NOISE.items()},
    metrics={"success": "share of trials", "hits": "share of anchors", "mrsa": "0 to 100", "rae": "1"},
    trials=50,
    published="separable_figure2",
    plot="sweep",
)
@experiment(
    "separable-figure2-gaussian",
    like="separable-figure2",
    title="Figures 2 and 3: mid-points, noise as the text says",
    settings={name: f"{x:g} dB" for name, x in GAUSSIAN_NOISE.items()},
    given={name: {"noise": "gaussian", "snr_db": x} for name, x in GAUSSIAN_NOISE.items()},
    beside=True,
)
@experiment(
    "separable-figure4a",
    title="Figure 4a: uniform weights",
    source="Nguyen, Fu and Wu, IEEE TSP 2022, Figure 4a",
    settings={name: f"{x:g} dB" for name, x in UNIFORM.items()},
    given={name: {"shape": [50, 200, 40], "snr_db": x} for name, x in UNIFORM.items()},
    metrics={"success": "share of trials", "hits": "share of anchors", "mrsa": "0 to 100", "rae": "1"},
    trials=50,
    plot="sweep",
)
def found(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Find the anchors of drawn mixtures, by the paper's methods."""
    return recovered(FINDERS, given, setting, trial, rng)


MANY = {f"K={K}": K for K in (40, 50, 60, 70)}
RADIANS_TO_PRINTED = 106 * np.pi / 100  # what the scale of the paper comes to in all twelve printed entries


@experiment(
    "separable-table1",
    title="Table I: many anchors",
    source="Nguyen, Fu and Wu, IEEE TSP 2022, Table I",
    settings={name: f"{K} anchors" for name, K in MANY.items()},
    given={name: {"shape": [80, 200, K], "snr_db": 10.0} for name, K in MANY.items()},
    metrics={"success": "share of trials", "rae": "1", "mrsa (published)": "1", "mrsa": "0 to 100"},
    trials=50,
    printed_as={"mrsa": "", "mrsa (published)": "mrsa"},
    published="separable_table1",
    calibrated={"mrsa (published)": "one constant, fitted to the twelve printed entries"},
)
def counted(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial of Table I, with the angle in the paper's scale beside our own.

    200 columns of 80 rows, weights uniform on the simplex, Gaussian noise at 10 dB. 'mrsa' is the mean angle between
    true and found pure columns, both less the mean column of their matrix, 100 being a half turn. The printed one is
    scaled by the largest angle of the experiment, which is not printed: 106 times the angle in radians gives all
    twelve entries to half a per cent.
    """
    rows = recovered(FINDERS, given, setting, trial, rng)
    return rows + [
        Measurement(row.method, "mrsa (published)", row.value * RADIANS_TO_PRINTED, row.seconds)
        for row in rows
        if row.metric == "mrsa" and row.value is not None
    ]


# ---- Figure 5, and how to choose lambda: the weight and the smoothing of the penalty ----

LAMBDAS = (0.0, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
MUS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
SHARES = (0.25, 0.5, 1.0, 2.0, 4.0)


def by_share(share: float, problem: Mixture, seed: int) -> Indices:
    """Find anchors with lambda at some multiple of the mean squared residual of SPA."""
    unit = merit(problem.X, problem.anchors.size, n_iter=1).lam / MSR_SHARE
    return by(MERIT, problem, seed, lam=share * unit)


WEIGHTS: dict[str, Method] = {f"lambda={lam:g}": partial(by, figure_merit, lam=lam) for lam in LAMBDAS}
SMOOTHINGS: dict[str, Method] = {f"mu={mu:g}": partial(by, figure_merit, lam=0.1, mu=mu) for mu in MUS}
WEIGHTS_BY_RULE: dict[str, Method] = {
    **{name: FINDERS[name] for name in ("SPA", "MERIT", "MERIT" + PAPER_PROTOCOL)},
    **{f"MERIT, lambda = {share:g} mean squared residuals": partial(by_share, share) for share in SHARES},
}
WEIGHED, SMOOTHED = at(7, 8, 10, 12, 14, 16), at(9, 10, 12)
MIXTURES: dict[str, dict[str, Any]] = {
    f"{n_rows}x{n_points},K={K},SNR={level}": {"shape": [n_rows, n_points, K], "snr_db": float(level)}
    for n_rows, n_points, K, level in (
        *((50, 200, 40, 8), (50, 200, 40, 9), (20, 500, 10, 15), (50, 2000, 10, 10)),
        *((50, 1000, 40, 8), (50, 1000, 40, 10), (80, 200, 70, 8), (80, 200, 70, 10)),
    )
}


@experiment(
    "separable-figure5a",
    title="Figure 5a: the weight of the penalty",
    source="Nguyen, Fu and Wu, IEEE TSP 2022, Figure 5",
    settings={name: f"{x:g} dB" for name, x in WEIGHED.items()},
    given={name: {"shape": [50, 200, 40], "snr_db": x} for name, x in WEIGHED.items()},
    metrics={"success": "share of trials", "hits": "share of anchors"},
    trials=30,
    plot="sweep",
)
def weighed(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Find anchors with penalties of many weights."""
    return recovered(WEIGHTS, given, setting, trial, rng)


@experiment(
    "separable-figure5b",
    like="separable-figure5a",
    title="Figure 5b: the smoothing of the penalty",
    settings={name: f"{x:g} dB" for name, x in SMOOTHED.items()},
    given={name: {"shape": [50, 200, 40], "snr_db": x} for name, x in SMOOTHED.items()},
)
def smoothed(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Find anchors with many smoothings of the penalty."""
    return recovered(SMOOTHINGS, given, setting, trial, rng)


@experiment(
    "separable-lambda",
    title="The weight of the penalty by rule",
    source="Beyond Nguyen, Fu and Wu, IEEE TSP 2022, Figures 2 and 4",
    settings={
        "midpoints,SNR=10": "mid-points as released, 10 dB",
        "midpoints,SNR=12": "mid-points as released, 12 dB",
        "gaussian,SNR=12": "mid-points, Gaussian noise, 12 dB",
        **{name: "{} x {}, {} anchors, {:g} dB".format(*one["shape"], one["snr_db"]) for name, one in MIXTURES.items()},
    },
    given={
        "midpoints,SNR=10": {"noise": "released", "snr_db": 10.0},
        "midpoints,SNR=12": {"noise": "released", "snr_db": 12.0},
        "gaussian,SNR=12": {"noise": "gaussian", "snr_db": 12.0},
        **MIXTURES,
    },
    metrics={"success": "share of trials", "hits": "share of anchors"},
    trials=50,
)
def by_rule(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """Find anchors with weights that a rule takes from the data.

    The paper's lambda, ||X - X C0||_F / K, does not scale with X as the data term does and grows with the root of the
    number of points; it fails where there are few anchors among many points. MERIT's default here is 1.5 mean squared
    residuals of SPA, the mean over the columns that SPA did not choose, with 50 steps instead of 100; other multiples
    are beside it, with 50 steps too.
    """
    return recovered(WEIGHTS_BY_RULE, given, setting, trial, rng)

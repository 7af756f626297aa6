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
from cofactor.separable.frank_wolfe import MSR_SHARE
from cofactor.separable.least_squares import simplex_least_squares
from cofactor.separable.methods import AnchorMethod
from cofactor.simulate import Mixture, dirichlet_mixtures, midpoint_mixtures
from evaluation.experiment import PAPER_PROTOCOL, Given, Measurement, measure_each
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


RADIANS_TO_PRINTED = 106 * np.pi / 100  # what the scale of the paper comes to in all twelve printed entries


def counted(given: Given, setting: str, trial: int, rng: np.random.Generator) -> list[Measurement]:
    """One trial of Table I, with the angle in the paper's scale beside our own."""
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

"""The exercises of notebook 03: a power law, the labels it asks for, the weights of robust imputation."""

from __future__ import annotations

from typing import Literal

import numpy as np

from cofactor.core.types import Floats
from course.demos.imputation import PowerLaw
from course.exercises.old import Exercise, Given, Mistake, Part

XI = 1e-6  # of Eq. (9)


def _rate_given() -> Given:
    S = np.array([50, 200, 800, 3200, 12_800])
    e = 3.1 * S**-0.46 * np.exp(0.12 * np.random.default_rng(4).standard_normal(len(S)))
    return {"sizes": S, "errors": e.round(4)}


def _slope(x: Floats, y: Floats) -> float:
    return float(np.polyfit(x, y, 1)[0])


def _ends(g: Given) -> float:
    return float(np.log(g["errors"][0] / g["errors"][-1]) / np.log(g["sizes"][-1] / g["sizes"][0]))


RATE = Exercise(
    _rate_given,
    (
        Part(
            "b",
            lambda g: PowerLaw.fit(g["sizes"], g["errors"][None]).exponents[0],
            (
                Mistake(
                    lambda g: _slope(np.log(g["sizes"]), np.log(g["errors"])),
                    "this is the slope itself, which is negative; in e = c S^-b, b is minus the slope",
                ),
                Mistake(
                    lambda g: _slope(g["sizes"], np.log(g["errors"])),
                    "take the logarithm of the sizes as well: a power law is a line on log-log axes only",
                ),
                Mistake(
                    lambda g: -_slope(np.log(g["sizes"]), np.log10(g["errors"])),
                    "two kinds of logarithm are mixed: take the same for both axes",
                ),
                Mistake(
                    lambda g: -_slope(np.log(g["errors"]), np.log(g["sizes"])),
                    "the axes are swapped: the sizes are given, so they go first in np.polyfit",
                ),
                Mistake(_ends, "this is the slope through the first and the last point; fit all of them"),
            ),
        ),
    ),
    (
        "take logarithms: log e = log c - b log S is a line in log S",
        "np.polyfit(x, y, 1) returns slope and intercept of the least-squares line",
        "b = -np.polyfit(np.log(sizes), np.log(errors), 1)[0]",
    ),
    "a little below one half, as everywhere: averages of S answers err by 1 / sqrt(S)",
)


def _needed_given() -> Given:
    return {"items": 250, "error": 0.12, "target": 0.05}


NEEDED = Exercise(
    _needed_given,
    (
        Part(
            "factor",
            lambda g: (g["error"] / g["target"]) ** 2,
            (
                Mistake(lambda g: g["error"] / g["target"], "the error falls with the square root of S: square this"),
                Mistake(
                    lambda g: np.sqrt(g["error"] / g["target"]), "the root goes the other way: square the ratio instead"
                ),
                Mistake(lambda g: (g["target"] / g["error"]) ** 2, "upside down: fewer items would raise the error"),
                Mistake(
                    lambda g: g["items"] * (g["error"] / g["target"]) ** 2,
                    "this is the number of items; asked is how many times as many",
                ),
                Mistake(lambda g: (g["error"] / g["target"]) ** 2 - 1, "these are the additional ones; asked is all"),
            ),
        ),
    ),
    (
        "e = c / sqrt(S): what happens to e when S is multiplied by f?",
        "it is divided by sqrt(f), and that must be error / target",
        "f = (error / target)**2",
    ),
    "less than half the error costs nearly six times the labels: the square root is an expensive law",
)


def _weights_given() -> Given:
    rng = np.random.default_rng(7)
    U = np.stack([0.6 * np.eye(3) + 0.4 * rng.dirichlet(np.ones(3), 3).T for _ in range(5)]) / np.sqrt(3)
    R = U[0] @ U[1:].transpose(0, 2, 1) + 0.01 * rng.standard_normal((4, 3, 3))
    R[2] = rng.dirichlet(np.ones(9)).reshape(3, 3)
    return {"R": R, "U_m": U[0], "U": U[1:]}


def _residuals(g: Given, order: Literal["fro"] | float = "fro") -> Floats:
    fits = g["U_m"] @ g["U"].transpose(0, 2, 1)
    return np.array([np.linalg.norm(difference, order) for difference in g["R"] - fits])


def _shares(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum())


def _weights(g: Given) -> Floats:
    return _shares((_residuals(g) ** 2 + XI) ** -0.5)


def _transposed(g: Given) -> Floats:
    fits = g["U"] @ g["U_m"].T
    return _shares(((g["R"] - fits) ** 2).sum(axis=(1, 2)) ** -0.5)


WEIGHTS = Exercise(
    _weights_given,
    (
        Part(
            "w",
            _weights,
            (
                Mistake(
                    lambda g: _shares((_residuals(g) ** 2 + XI) ** -1.0), "the exponent is -1/2: take the square root"
                ),
                Mistake(
                    lambda g: _shares(_residuals(g)), "these grow with the misfit; a block that fits badly counts less"
                ),
                Mistake(
                    lambda g: _shares((_residuals(g, 2) ** 2 + XI) ** -0.5),
                    "this is the spectral norm (np.linalg.norm(., 2) of a matrix); Eq. (11) has the Frobenius norm",
                ),
                Mistake(_transposed, "the fit is transposed: R_mj is compared with U_m U_j'"),
                Mistake(
                    lambda g: (_residuals(g) ** 2 + XI) ** -0.5,
                    "these are the weights of Eq. (11); divide by their sum, so that they are shares",
                ),
            ),
        ),
    ),
    (
        "the misfit of block j is the Frobenius norm of R[j] - U_m @ U[j].T",
        "w_j = (misfit_j**2 + 1e-6)**(-1/2)",
        "then divide by the sum: w / w.sum()",
    ),
    "the garbage block is left with a fraction of the say of the others, and nobody had to point at it",
)


EXERCISES = {"rate": RATE, "labels_needed": NEEDED, "weights": WEIGHTS}

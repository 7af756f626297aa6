"""The exercises of notebook 03: a power law, the labels it asks for, the weights of robust imputation."""

from __future__ import annotations

import numpy as np

from cofactor.core.types import Floats, Ints
from course.grading import Exercise, Given, Part
from course.nb03.pictures import PowerLaw

XI = 1e-6  # of Eq. (9)


class Rate(Exercise):
    """The exponent of a power law, from a few errors."""

    hints = (
        "take logarithms: log e = log c - b log S is a line in log S",
        "np.polyfit(x, y, 1) returns slope and intercept of the least-squares line",
        "b = -np.polyfit(np.log(sizes), np.log(errors), 1)[0]",
    )
    praise = "a little below one half, as everywhere: averages of S answers err by 1 / sqrt(S)"

    def given(self) -> Given:
        S = np.array([50, 200, 800, 3200, 12_800])
        e = 3.1 * S**-0.46 * np.exp(0.12 * np.random.default_rng(4).standard_normal(len(S)))
        return {"sizes": S, "errors": e.round(4)}

    def solve(self, sizes: Ints, errors: Floats) -> list[Part]:
        right = PowerLaw.fit(sizes, errors[None]).exponents[0]
        x, y = np.log(sizes), np.log(errors)
        mistakes = {
            "this is the slope itself, which is negative; in e = c S^-b, b is minus the slope": slope(x, y),
            "take the logarithm of the sizes as well: a power law is a line on log-log axes only": slope(sizes, y),
            "two kinds of logarithm are mixed: take the same for both axes": -slope(x, np.log10(errors)),
            "the axes are swapped: the sizes are given, so they go first in np.polyfit": -slope(y, x),
            "this is the slope through the first and the last point; fit all of them": (y[0] - y[-1]) / (x[-1] - x[0]),
        }
        return [Part("b", right, mistakes)]


def slope(x: Floats | Ints, y: Floats) -> float:
    """Of the least-squares line."""
    return float(np.polyfit(x, y, 1)[0])


class LabelsNeeded(Exercise):
    """How many times as many items a smaller error takes."""

    hints = (
        "e = c / sqrt(S): what happens to e when S is multiplied by f?",
        "it is divided by sqrt(f), and that must be error / target",
        "f = (error / target)**2",
    )
    praise = "less than half the error costs nearly six times the labels: the square root is an expensive law"

    def given(self) -> Given:
        return {"items": 250, "error": 0.12, "target": 0.05}

    def solve(self, items: int, error: float, target: float) -> list[Part]:
        ratio = error / target
        mistakes = {
            "the error falls with the square root of S: square this": ratio,
            "the root goes the other way: square the ratio instead": np.sqrt(ratio),
            "upside down: fewer items would raise the error": 1 / ratio**2,
            "this is the number of items; asked is how many times as many": items * ratio**2,
            "these are the additional ones; asked is all": ratio**2 - 1,
        }
        return [Part("factor", ratio**2, mistakes)]


class Weights(Exercise):
    """How much each observed block counts in robust imputation; one of the four is garbage."""

    hints = (
        "the misfit of block j is the Frobenius norm of R[j] - U_m @ U[j].T",
        "w_j = (misfit_j**2 + 1e-6)**(-1/2)",
        "then divide by the sum: w / w.sum()",
    )
    praise = "the garbage block is left with a fraction of the say of the others, and nobody had to point at it"

    def given(self) -> Given:
        rng = np.random.default_rng(7)
        U = np.stack([0.6 * np.eye(3) + 0.4 * rng.dirichlet(np.ones(3), 3).T for _ in range(5)]) / np.sqrt(3)
        R = U[0] @ U[1:].transpose(0, 2, 1) + 0.01 * rng.standard_normal((4, 3, 3))
        R[2] = rng.dirichlet(np.ones(9)).reshape(3, 3)
        return {"R": R, "U_m": U[0], "U": U[1:]}

    def solve(self, R: Floats, U_m: Floats, U: Floats) -> list[Part]:
        off = R - U_m @ U.transpose(0, 2, 1)
        misfit, spectral = np.linalg.norm(off, axis=(1, 2)), np.linalg.norm(off, 2, axis=(1, 2))
        transposed = np.linalg.norm(R - U @ U_m.T, axis=(1, 2))
        raw = (misfit**2 + XI) ** -0.5
        mistakes = {
            "the exponent is -1/2: take the square root": shares(raw**2),
            "these grow with the misfit; a block that fits badly counts less": shares(misfit),
            "this is the spectral norm (np.linalg.norm(., 2) of a matrix); Eq. (11) has the Frobenius norm": (
                shares((spectral**2 + XI) ** -0.5)
            ),
            "the fit is transposed: R_mj is compared with U_m U_j'": shares(1 / transposed),
            "these are the weights of Eq. (11); divide by their sum, so that they are shares": raw,
        }
        return [Part("w", shares(raw), mistakes)]


def shares(weights: Floats) -> Floats:
    """Weights that sum to one."""
    return np.asarray(weights / weights.sum())


EXERCISES = {"rate": Rate(), "labels_needed": LabelsNeeded(), "weights": Weights()}

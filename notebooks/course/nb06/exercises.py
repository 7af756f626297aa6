"""The exercises of notebook 06: the pull of one comparison, the error of utilities, how many choices it takes."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from cofactor.comparisons import expected_error, utility_error
from cofactor.comparisons.formulas import mean_information
from cofactor.core.types import Floats
from course.grading import Exercise, Given, Part


class Pull(Exercise):
    """The gradient of one comparison's loss in the features of the item that was chosen."""

    hints = (
        "z = U_u @ (V_i - V_j), and h = g(z) - w with g = scipy.special.expit",
        "z has the slope U_u in V_i, and -U_u in V_j",
        "h * U_u",
    )
    praise = "the chosen item moves towards the user, the more the less it was expected; the other moves away as far"

    def given(self) -> Given:
        return {"U_u": np.array([1.2, -0.5]), "V_i": np.array([0.4, 0.9]), "V_j": np.array([-0.6, 0.1]), "w": 1.0}

    def solve(self, U_u: Floats, V_i: Floats, V_j: Floats, w: float) -> list[Part]:
        z = U_u @ (V_i - V_j)
        h = expit(z) - w
        mistakes = {
            "this is the way the item moves; the gradient points the other way: h = g(z) - w": -h * U_u,
            "z is a difference of utilities, no chance: h = g(z) - w": (z - w) * U_u,
            "this is the gradient in U_u; in V_i, z has the slope U_u": h * (V_i - V_j),
            "the other item is missing: z = <U_u, V_i - V_j>": (expit(U_u @ V_i) - w) * U_u,
            "this is the slope of the squared gap; of the log-likelihood, g'(z) cancels": h
            * expit(z)
            * expit(-z)
            * U_u,
        }
        return [Part("gradient in V_i", h * U_u, mistakes)]


class Error(Exercise):
    """The relative error of utilities, each user's mean taken off."""

    hints = (
        "compare utilities, not features: X = U @ V.T",
        "take off what no comparison tells: X - X.mean(axis=1, keepdims=True)",
        "np.linalg.norm(found - truth) / np.linalg.norm(truth), of the centred ones",
    )
    praise = "turned by 90 degrees and shifted, the features look all wrong; the utilities are nearly right"

    def given(self) -> Given:
        rng = np.random.default_rng(0)
        true_U, true_V = rng.standard_normal((5, 2)).round(1), rng.standard_normal((7, 2)).round(1)
        U = (true_U @ [[0.0, 1.0], [-1.0, 0.0]]).round(1)
        V = (true_V @ [[0.0, 1.1], [-1.0, 0.0]] + [2.0, -1.0]).round(1)
        return {"U": U, "V": V, "true_U": true_U, "true_V": true_V}

    def solve(self, U: Floats, V: Floats, true_U: Floats, true_V: Floats) -> list[Part]:
        found, truth = U @ V.T, true_U @ true_V.T
        absolute = float(np.linalg.norm(found - truth - (found - truth).mean(axis=1, keepdims=True)))
        uncentred = _relative(found, truth)
        over_users = _relative(found - found.mean(axis=0), truth - truth.mean(axis=0))
        features = _relative(np.vstack([U, V]), np.vstack([true_U, true_V]))
        mistakes = {
            "a number per user is counted as error that no comparison can tell: take every user's mean off": uncentred,
            "this takes the mean over users off; utilities of one user are known up to a shift": over_users,
            "the truth must be centred, too, before its norm is taken": absolute / float(np.linalg.norm(truth)),
            "features are known up to a change of basis: compare the products U V'": features,
            "this is the error itself; divide by the norm of the centred true utilities": absolute,
        }
        return [Part("relative error", utility_error(U, V, true_U, true_V), mistakes)]


def _relative(found: Floats, truth: Floats) -> float:
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


class Choices(Exercise):
    """The error foretold for so many choices, and how many times more divide it by three."""

    hints = (
        "dof = (n_users + n_items - 1) * rank - rank**2",
        "error = np.sqrt(dof / (2 * m * information)) / spread",
        "a third of the error: 1/sqrt(m) must fall to a third",
    )
    praise = "each digit of utilities costs a hundred times the choices: ask the right questions, not ever more"

    def given(self) -> Given:
        information = round(mean_information(0.8), 4)
        return {"n_users": 500, "n_items": 200, "rank": 4, "spread": 0.8, "m": 100_000, "information": information}

    def solve(self, n_users: int, n_items: int, rank: int, spread: float, m: int, information: float) -> list[Part]:
        dof = (n_users + n_items - 1) * rank - rank**2
        error = np.sqrt(dof / (2 * m * information)) / spread
        all_cells = error * np.sqrt(n_users * n_items / dof)
        mistakes = {
            "a factor 2 is missing: z is a difference of two utilities": np.sqrt(2) * error,
            "dof is not the number of utilities: rank r has (n1 + n2 - 1) r - r^2 numbers": all_cells,
            "this is a mean square: take the square root first": error**2 * spread,
            "this is the error in units of utility; relative means divided by their spread": error * spread,
        }
        times = {
            "the error falls with the square root of m": 3.0,
            "the other way round: the error is 1/sqrt(m)": np.sqrt(3),
            "this is the share of choices that triples the error": 1 / 9,
        }
        return [
            Part("error", expected_error(m, n_users, n_items, rank, spread), mistakes),
            Part("times", 9.0, times),
        ]


EXERCISES = {"pull": Pull(), "error": Error(), "choices": Choices()}

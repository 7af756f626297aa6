"""The exercises of notebook 06: the pull of one comparison, the error of utilities, how many choices it takes."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from cofactor.comparisons import expected_error, utility_error
from cofactor.comparisons.planner import mean_information
from cofactor.core.types import Floats
from course.exercises.old import Exercise, Given, Mistake, Part


def _pull_given() -> Given:
    return {"U_u": np.array([1.2, -0.5]), "V_i": np.array([0.4, 0.9]), "V_j": np.array([-0.6, 0.1]), "w": 1.0}


def _z(g: Given) -> float:
    return float(g["U_u"] @ (g["V_i"] - g["V_j"]))


def _h(g: Given) -> float:
    return float(expit(_z(g)) - g["w"])


PULL = Exercise(
    _pull_given,
    (
        Part(
            "gradient in V_i",
            lambda g: _h(g) * g["U_u"],
            (
                Mistake(
                    lambda g: -_h(g) * g["U_u"],
                    "this is the way the item moves; the gradient points the other way: h = g(z) - w",
                ),
                Mistake(
                    lambda g: (_z(g) - g["w"]) * g["U_u"], "z is a difference of utilities, no chance: h = g(z) - w"
                ),
                Mistake(
                    lambda g: _h(g) * (g["V_i"] - g["V_j"]),
                    "this is the gradient in U_u; in V_i, z has the slope U_u",
                ),
                Mistake(
                    lambda g: (expit(g["U_u"] @ g["V_i"]) - g["w"]) * g["U_u"],
                    "the other item is missing: z = <U_u, V_i - V_j>",
                ),
                Mistake(
                    lambda g: _h(g) * expit(_z(g)) * expit(-_z(g)) * g["U_u"],
                    "this is the slope of the squared gap; of the log-likelihood, g'(z) cancels",
                ),
            ),
        ),
    ),
    (
        "z = U_u @ (V_i - V_j), and h = g(z) - w with g = scipy.special.expit",
        "z has the slope U_u in V_i, and -U_u in V_j",
        "h * U_u",
    ),
    "the chosen item moves towards the user, the more the less it was expected; the other moves away as far",
)


def _error_given() -> Given:
    rng = np.random.default_rng(0)
    true_U, true_V = rng.standard_normal((5, 2)).round(1), rng.standard_normal((7, 2)).round(1)
    return {
        "U": (true_U @ [[0.0, 1.0], [-1.0, 0.0]]).round(1),
        "V": (true_V @ [[0.0, 1.1], [-1.0, 0.0]] + [2.0, -1.0]).round(1),
        "true_U": true_U,
        "true_V": true_V,
    }


def _products(g: Given) -> tuple[Floats, Floats]:
    return g["U"] @ g["V"].T, g["true_U"] @ g["true_V"].T


def _relative(found: Floats, truth: Floats) -> float:
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


def _centred(X: Floats, axis: int) -> Floats:
    return np.asarray(X - X.mean(axis=axis, keepdims=True))


def _over_users(g: Given) -> float:
    found, truth = _products(g)
    return _relative(_centred(found, 0), _centred(truth, 0))


def _half_centred(g: Given) -> float:
    found, truth = _products(g)
    return float(np.linalg.norm(_centred(found - truth, 1)) / np.linalg.norm(truth))


def _of_features(g: Given) -> float:
    return _relative(np.vstack([g["U"], g["V"]]), np.vstack([g["true_U"], g["true_V"]]))


def _absolute(g: Given) -> float:
    found, truth = _products(g)
    return float(np.linalg.norm(_centred(found - truth, 1)))


ERROR = Exercise(
    _error_given,
    (
        Part(
            "relative error",
            lambda g: utility_error(g["U"], g["V"], g["true_U"], g["true_V"]),
            (
                Mistake(
                    lambda g: _relative(*_products(g)),
                    "a number per user is counted as error that no comparison can tell: take every user's mean off",
                ),
                Mistake(
                    _over_users, "this takes the mean over users off; utilities of one user are known up to a shift"
                ),
                Mistake(_half_centred, "the truth must be centred, too, before its norm is taken"),
                Mistake(_of_features, "features are known up to a change of basis: compare the products U V'"),
                Mistake(_absolute, "this is the error itself; divide by the norm of the centred true utilities"),
            ),
        ),
    ),
    (
        "compare utilities, not features: X = U @ V.T",
        "take off what no comparison tells: X - X.mean(axis=1, keepdims=True)",
        "np.linalg.norm(found - truth) / np.linalg.norm(truth), of the centred ones",
    ),
    "turned by 90 degrees and shifted, the features look all wrong; the utilities are nearly right",
)


def _choices_given() -> Given:
    return {"n_users": 500, "n_items": 200, "rank": 4, "spread": 0.8, "m": 100_000, "information": _information()}


def _information() -> float:
    return round(mean_information(0.8), 4)


def _formula(g: Given, dof: float, factor: float = 2.0, information: float | None = None) -> float:
    told = g["information"] if information is None else information
    return float(np.sqrt(dof / (factor * g["m"] * told)) / g["spread"])


def _dof(g: Given) -> int:
    return int((g["n_users"] + g["n_items"] - 1) * g["rank"] - g["rank"] ** 2)


CHOICES = Exercise(
    _choices_given,
    (
        Part(
            "error",
            lambda g: expected_error(g["m"], g["n_users"], g["n_items"], g["rank"], g["spread"]),
            (
                Mistake(
                    lambda g: _formula(g, _dof(g), 1.0), "a factor 2 is missing: z is a difference of two utilities"
                ),
                Mistake(
                    lambda g: _formula(g, g["n_users"] * g["n_items"]),
                    "dof is not the number of utilities: rank r has (n1 + n2 - 1) r - r^2 numbers",
                ),
                Mistake(
                    lambda g: _formula(g, _dof(g)) ** 2 * g["spread"],
                    "this is a mean square: take the square root first",
                ),
                Mistake(
                    lambda g: _formula(g, _dof(g)) * g["spread"],
                    "this is the error in units of utility; relative means divided by their spread",
                ),
            ),
        ),
        Part(
            "times",
            lambda g: 9.0,
            (
                Mistake(lambda g: 3.0, "the error falls with the square root of m"),
                Mistake(lambda g: np.sqrt(3), "the other way round: the error is 1/sqrt(m)"),
                Mistake(lambda g: 1 / 9, "this is the share of choices that triples the error"),
            ),
        ),
    ),
    (
        "dof = (n_users + n_items - 1) * rank - rank**2",
        "error = np.sqrt(dof / (2 * m * information)) / spread",
        "a third of the error: 1/sqrt(m) must fall to a third",
    ),
    "each digit of utilities costs a hundred times the choices: ask the right questions, not ever more",
)


EXERCISES = {"pull": PULL, "error": ERROR, "choices": CHOICES}

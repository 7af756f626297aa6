"""The exercises of notebook 08: a pair from a model, a step of SPA, what to make of a value that is missing."""

from __future__ import annotations

import numpy as np

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats
from course.exercises.old import Exercise, Given, Mistake, Part


def _pair_given() -> Given:
    A_1 = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.1], [0.1, 0.2, 0.8]])
    A_2 = np.array([[0.1, 0.5, 0.4], [0.6, 0.3, 0.1], [0.3, 0.2, 0.5]])
    return {"prior": np.array([0.5, 0.3, 0.2]), "A_1": A_1, "A_2": A_2}


def _pair(g: Given) -> Floats:
    return LatentClassModel(g["prior"], [g["A_1"], g["A_2"]]).pairwise(0, 1)


PAIR = Exercise(
    _pair_given,
    (
        Part(
            "X_12",
            _pair,
            (
                Mistake(
                    lambda g: np.outer(g["A_1"] @ g["prior"], g["A_2"] @ g["prior"]),
                    "this is the product of the marginals: right for independent variables; these are independent "
                    "only within a class, so multiply first and sum over classes after",
                ),
                Mistake(
                    lambda g: g["A_1"] @ g["A_2"].T / 3,
                    "this takes the classes for equally frequent: weigh each with its prior",
                ),
                Mistake(
                    lambda g: g["A_1"] @ g["A_2"].T, "the prior is missing: these numbers sum to three, not to one"
                ),
                Mistake(
                    lambda g: (g["A_1"] * g["prior"]) @ (g["A_2"] * g["prior"]).T,
                    "the prior is counted twice, once with either variable",
                ),
            ),
        ),
    ),
    (
        "if the class f is known: Pr(i, k | f) = A_1[i, f] A_2[k, f]",
        "sum over the classes, each with its prior: X_12[i, k] = sum_f prior[f] A_1[i, f] A_2[k, f]",
        'task["A_1"] * task["prior"] @ task["A_2"].T',
    ),
    "a pair is a sum over classes of products; it is of rank F at most, and that is all there is to factor",
)


def _residual_given() -> Given:
    X = np.array([[0.9, 0.1, 0.5, 0.1, 0.4], [0.05, 0.8, 0.4, 0.2, 0.3], [0.05, 0.1, 0.1, 0.7, 0.3]])
    return {"X": X, "first": 0}


def _rest(g: Given) -> Floats:
    """Columns without what they have of the first anchor."""
    u = g["X"][:, g["first"]] / np.linalg.norm(g["X"][:, g["first"]])
    return np.asarray(g["X"] - np.outer(u, u @ g["X"]))


def _away(g: Given) -> Floats:
    return np.asarray(g["X"] - g["X"][:, [g["first"]]])


def _unscaled(g: Given) -> Floats:
    a = g["X"][:, g["first"]]
    return np.asarray(g["X"] - np.outer(a, a @ g["X"]))


RESIDUAL = Exercise(
    _residual_given,
    (
        Part(
            "r",
            lambda g: np.sum(_rest(g) ** 2, axis=0),
            (
                Mistake(
                    lambda g: np.sum(_away(g) ** 2, axis=0),
                    "this is the distance to the anchor; project instead: take away what points along the anchor, "
                    "and the anchor's direction only",
                ),
                Mistake(
                    lambda g: np.sum(_unscaled(g) ** 2, axis=0),
                    "u must have length one: divide the anchor by its norm before projecting",
                ),
                Mistake(lambda g: np.linalg.norm(_rest(g), axis=0), "these are the lengths; asked are their squares"),
                Mistake(lambda g: np.sum(g["X"] ** 2, axis=0), "these are the squared lengths before the projection"),
                Mistake(
                    lambda g: np.sum(g["X"] ** 2, axis=0) - np.sum(_rest(g) ** 2, axis=0),
                    "this is what the projection takes away; asked is what stays",
                ),
            ),
        ),
    ),
    (
        "u is the first anchor, divided by its length",
        "a column x keeps x - u (u'x); u is orthogonal to what stays",
        "rest = X - np.outer(u, u @ X), and then np.sum(rest**2, axis=0)",
    ),
    "the anchor itself has nothing left, and the longest rest, column 2, is the next anchor",
)


def _missing_given() -> Given:
    A = [
        np.array([[0.8, 0.3], [0.2, 0.7]]),
        np.array([[0.6, 0.1], [0.4, 0.9]]),
        np.array([[0.7, 0.1], [0.2, 0.3], [0.1, 0.6]]),
    ]
    return {"prior": np.array([0.75, 0.25]), "A_1": A[0], "A_2": A[1], "A_3": A[2], "x": np.array([1, -1, -1])}


def _class_given(g: Given) -> Floats:
    """Joint probability of the class and of what was seen."""
    return np.asarray(g["prior"] * g["A_1"][g["x"][0]])


def _third(g: Given) -> Floats:
    model = LatentClassModel(g["prior"], [g["A_1"], g["A_2"], g["A_3"]])
    return model.conditional(CategoricalTable(g["x"][None], [2, 2, 3]), 2)[0]


def _scaled(weights: Floats, g: Given) -> Floats:
    return np.asarray(g["A_3"] @ weights / weights.sum())


MISSING = Exercise(
    _missing_given,
    (
        Part(
            "Pr(x_3 | x_1)",
            _third,
            (
                Mistake(
                    lambda g: _scaled(_class_given(g) * g["A_2"][-1], g),
                    "x_2 is missing, and -1 picks the last value of A_2: leave its factor out",
                ),
                Mistake(
                    lambda g: _scaled(g["A_1"][g["x"][0]], g), "the prior is missing: the classes are not as frequent"
                ),
                Mistake(
                    lambda g: g["A_3"] @ g["prior"], "this is the marginal of x_3: what x_1 tells of the class is lost"
                ),
                Mistake(
                    lambda g: g["A_3"] @ _class_given(g),
                    "this is Pr(x_1, x_3): divide by Pr(x_1), so that it sums to one",
                ),
            ),
        ),
    ),
    (
        "the posterior of the class first: Pr(f | x_1) is proportional to prior[f] A_1[x_1, f]",
        "what is missing has no factor: summed over its values it gives one",
        'q = task["prior"] * task["A_1"][1]; task["A_3"] @ (q / q.sum())',
    ),
    "a missing value is left out, and nothing needs to be filled in before",
)


EXERCISES = {"pair": PAIR, "residual": RESIDUAL, "missing": MISSING}

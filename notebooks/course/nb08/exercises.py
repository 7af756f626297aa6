"""The exercises of notebook 08: a pair from a model, a step of SPA, what to make of a value that is missing."""

from __future__ import annotations

import numpy as np

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from course.grading import Exercise, Given, Part


class Pair(Exercise):
    """The joint distribution of two variables, from their conditionals."""

    hints = (
        "if the class f is known: Pr(i, k | f) = A_1[i, f] A_2[k, f]",
        "sum over the classes, each with its prior: X_12[i, k] = sum_f prior[f] A_1[i, f] A_2[k, f]",
        'task["A_1"] * task["prior"] @ task["A_2"].T',
    )
    praise = "a pair is a sum over classes of products; it is of rank F at most, and that is all there is to factor"

    def given(self) -> Given:
        A_1 = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.1], [0.1, 0.2, 0.8]])
        A_2 = np.array([[0.1, 0.5, 0.4], [0.6, 0.3, 0.1], [0.3, 0.2, 0.5]])
        return {"prior": np.array([0.5, 0.3, 0.2]), "A_1": A_1, "A_2": A_2}

    def solve(self, prior: Floats, A_1: Floats, A_2: Floats) -> list[Part]:
        mistakes = {
            "this is the product of the marginals: right for independent variables; these are independent only within "
            "a class, so multiply first and sum over classes after": np.outer(A_1 @ prior, A_2 @ prior),
            "this takes the classes for equally frequent: weigh each with its prior": A_1 @ A_2.T / 3,
            "the prior is missing: these numbers sum to three, not to one": A_1 @ A_2.T,
            "the prior is counted twice, once with either variable": (A_1 * prior) @ (A_2 * prior).T,
        }
        return [Part("X_12", LatentClassModel(prior, [A_1, A_2]).pairwise(0, 1), mistakes)]


class Residual(Exercise):
    """What columns keep once the first anchor is projected out: squared lengths."""

    hints = (
        "u is the first anchor, divided by its length",
        "a column x keeps x - u (u'x); u is orthogonal to what stays",
        "rest = X - np.outer(u, u @ X), and then np.sum(rest**2, axis=0)",
    )
    praise = "the anchor itself has nothing left, and the longest rest, column 2, is the next anchor"

    def given(self) -> Given:
        X = np.array([[0.9, 0.1, 0.5, 0.1, 0.4], [0.05, 0.8, 0.4, 0.2, 0.3], [0.05, 0.1, 0.1, 0.7, 0.3]])
        return {"X": X, "first": 0}

    def solve(self, X: Floats, first: int) -> list[Part]:
        a = X[:, first]
        u = a / np.linalg.norm(a)
        rest = np.sum((X - np.outer(u, u @ X)) ** 2, axis=0)
        unscaled = np.sum((X - np.outer(a, a @ X)) ** 2, axis=0)
        mistakes = {
            "this is the distance to the anchor; project instead: take away what points along the anchor, and the "
            "anchor's direction only": np.sum((X - a[:, None]) ** 2, axis=0),
            "u must have length one: divide the anchor by its norm before projecting": unscaled,
            "these are the lengths; asked are their squares": np.sqrt(rest),
            "these are the squared lengths before the projection": np.sum(X**2, axis=0),
            "this is what the projection takes away; asked is what stays": np.sum(X**2, axis=0) - rest,
        }
        return [Part("r", rest, mistakes)]


class Missing(Exercise):
    """The third variable, given the first; the second is missing."""

    hints = (
        "the posterior of the class first: Pr(f | x_1) is proportional to prior[f] A_1[x_1, f]",
        "what is missing has no factor: summed over its values it gives one",
        'q = task["prior"] * task["A_1"][1]; task["A_3"] @ (q / q.sum())',
    )
    praise = "a missing value is left out, and nothing needs to be filled in before"

    def given(self) -> Given:
        A_1, A_2 = np.array([[0.8, 0.3], [0.2, 0.7]]), np.array([[0.6, 0.1], [0.4, 0.9]])
        A_3 = np.array([[0.7, 0.1], [0.2, 0.3], [0.1, 0.6]])
        return {"prior": np.array([0.75, 0.25]), "A_1": A_1, "A_2": A_2, "A_3": A_3, "x": np.array([1, -1, -1])}

    def solve(self, prior: Floats, A_1: Floats, A_2: Floats, A_3: Floats, x: Ints) -> list[Part]:
        model = LatentClassModel(prior, [A_1, A_2, A_3])
        third = model.conditional(CategoricalTable(x[None], model.sizes), 2)[0]
        joint = prior * A_1[x[0]]  # of the class and of what was seen
        last = joint * A_2[-1]
        mistakes = {
            "x_2 is missing, and -1 picks the last value of A_2: leave its factor out": A_3 @ last / last.sum(),
            "the prior is missing: the classes are not as frequent": A_3 @ A_1[x[0]] / A_1[x[0]].sum(),
            "this is the marginal of x_3: what x_1 tells of the class is lost": A_3 @ prior,
            "this is Pr(x_1, x_3): divide by Pr(x_1), so that it sums to one": A_3 @ joint,
        }
        return [Part("Pr(x_3 | x_1)", third, mistakes)]


EXERCISES = {"pair": Pair(), "residual": Residual(), "missing": Missing()}

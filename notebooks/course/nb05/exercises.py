"""The exercises of notebook 05: a step of Frank-Wolfe, the step without C, bytes of lists, the slope of the penalty."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.special import softmax

from cofactor.core.types import Floats, Indices
from course.grading import NONNEGATIVE, ROWS_SUM_TO_ONE, SUMS_TO_ONE, Exercise, FunctionExercise, Given, Part
from course.seeds import own

INDEX, WEIGHT = 4, 8  # bytes of an entry that is stored
MEGA = 1e6


class Step(Exercise):
    """The third step of Frank-Wolfe for one point."""

    hints = (
        'the gradient first: task["X"].T @ (task["X"] @ task["c"] - task["x"]), one entry per column',
        "its smallest entry is the column to move to; all weights shrink by 1 - alpha, that one gains alpha",
        'c = 0.5 * task["c"], then c[gradient.argmin()] += 0.5',
    )
    praise = "one entry more at most, whatever the size of the problem"

    def given(self) -> Given:
        X = np.array([[0.0, -0.9, 0.9, -0.2, 0.1, 0.3], [1.0, -0.5, -0.5, 0.2, 0.45, -0.4]])
        return {"X": X, "x": X[:, 3], "c": np.array([2.0, 0.0, 4.0, 0.0, 0.0, 0.0]) / 6, "t": 2}

    def solve(self, X: Floats, x: Floats, c: Floats, t: int) -> list[Part]:
        def moved(pick: int, alpha: float = 2 / (t + 2)) -> Floats:
            return np.asarray((1 - alpha) * c + alpha * np.eye(len(c))[pick])

        gradient = X.T @ (X @ c - x)
        best, highest = int(gradient.argmin()), int(gradient.argmax())
        nearest = int(((X - x[:, None]) ** 2).sum(axis=0).argmin())
        mistakes = {
            "this moves to where the gradient is largest: uphill; take the smallest entry": moved(highest),
            "this moves to the column nearest to x; take the smallest entry of the gradient": moved(nearest),
            "the column is right, the length is not: alpha = 2 / (t + 2), t from zero": moved(best, 2 / (t + 1)),
            "the column is right; alpha is 2 / (t + 2), not 1 / (t + 1)": moved(best, 1 / (t + 1)),
            "the column is right; this step goes all the way, alpha is 2 / (t + 2)": moved(best, 1),
            "these are the weights before the step: move towards the smallest entry of the gradient": c,
            "the old weights were not shrunk by 1 - alpha: these sum to more than one": moved(best) + 2 / (t + 2) * c,
        }
        return [Part("c", moved(best), mistakes, "weights", (NONNEGATIVE, SUMS_TO_ONE))]


def _open(t: int) -> float:
    return 2 / (t + 2)


def _step(
    X: Floats, R: Floats, t: int, sign: int = 1, axis: int = 0, own: int = 1, shrink: int = 1,
    alpha: Callable[[int], float] = _open, size: Callable[[Floats], Floats] = np.asarray,
) -> tuple[Indices, Floats]:  # fmt: skip
    """A step, right as it is called by default, and wrong otherwise."""
    picks = size(sign * X.T @ R).argmin(axis=axis)
    return picks, (1 - shrink * alpha(t)) * R + alpha(t) * (X[:, picks] - own * X)


class ThinStep(FunctionExercise):
    """One step of Frank-Wolfe for all columns, from the residuals, without C."""

    hints = (
        "the gradient is X' R: one column per point; its smallest entry, column by column, is the pick",
        "C becomes (1 - alpha) C + alpha E, so X C becomes (1 - alpha) X C + alpha X[:, j]; subtract X",
        "j = (X.T @ R).argmin(axis=0); return j, (1 - alpha) * R + alpha * (X[:, j] - X)",
    )
    praise = "picks and residuals are all that a step needs: N whole numbers and an array of the size of X"
    wrong: ClassVar = {
        "this moves uphill: take the smallest entry of every column of X' R, not the largest": partial(_step, sign=-1),
        "one pick for every point, so the smallest entry of every column: argmin along axis 0": partial(_step, axis=1),
        "R is X C - X: beside the column picked, X[:, j], the point itself has to come off": partial(_step, own=0),
        "the old residuals were not shrunk by 1 - alpha": partial(_step, shrink=0),
        "alpha is 2 / (t + 2), with t counted from zero, not 2 / (t + 1)": partial(_step, alpha=lambda t: 2 / (t + 1)),
        "alpha is 2 / (t + 2), with t counted from zero, not 2 / (t + 3)": partial(_step, alpha=lambda t: 2 / (t + 3)),
        "these are the residuals before the step": lambda X, R, t: ((X.T @ R).argmin(axis=0), R),
        "the smallest entry is the one furthest below zero, not the one nearest to it": partial(_step, size=np.abs),
        "alpha is 2 / (t + 2), not 1 / (t + 1)": partial(_step, alpha=lambda t: 1 / (t + 1)),
    }

    def given(self) -> Given:
        X = np.array([[0.0, -0.9, 0.9, -0.2, 0.3], [1.0, -0.5, -0.5, 0.2, -0.4], [0.4, 0.8, 0.1, 0.5, 0.3]])
        return {"X": X, "R": X.mean(axis=1, keepdims=True) - X, "t": 2}

    def cases(self) -> list[Given]:
        rng = np.random.default_rng(own(5))
        drawn = []
        for shape, t in (((3, 8), 0), ((6, 15), 4), ((2, 30), 11), ((20, 5), 1)):
            X = rng.random(shape)
            C = rng.dirichlet(np.ones(shape[1]), shape[1]).T if t else np.zeros((shape[1], shape[1]))
            drawn.append({"X": X, "R": X @ C - X, "t": t})
        return [*drawn, {"X": np.array([[2.0], [1.0]]), "R": np.zeros((2, 1)), "t": 3}]

    def solve(self, X: Floats, R: Floats, t: int) -> list[Part]:
        picks, after = _step(X, R, t)
        return [Part("j", picks, {}, "columns"), Part("R", after, {}, "residuals")]


class Bytes(Exercise):
    """What C costs at most in lists, and as a dense array."""

    hints = (
        "every step adds at most one entry to every column of C",
        "an entry in a list costs an index and a weight; in a dense array a weight only",
        "(12 * N * T / 1e6, 8 * N**2 / 1e6)",
    )
    praise = "a dense C grows with the square of N, the lists with N: here they differ by a factor of hundreds"

    def given(self) -> Given:
        return {"N": 20_000, "K": 40, "T": 50, "bytes per index": INDEX, "bytes per weight": WEIGHT}

    def solve(self, N: int, K: int, T: int, **_: int) -> list[Part]:
        lists, dense = (INDEX + WEIGHT) * N * T / MEGA, WEIGHT * N**2 / MEGA
        units = {
            "this is in bytes; give millions of bytes (MB)": MEGA,
            "this is in kB; give MB": 1e3,
            "this is in MiB, 2^20 bytes; an MB has a million": MEGA / 2**20,
            "this is in GB; give MB": 1e-3,
        }
        of_lists = {
            "this counts one entry per anchor; the most there can be is one per step": lists * K / T,
            "these are the weights alone: an entry of a list also stores its row": WEIGHT * N * T / MEGA,
            "an index takes 4 bytes here, not 8: 12 bytes an entry": 2 * WEIGHT * N * T / MEGA,
            "a step adds one entry to a column, whatever the number of anchors": lists * K,
            "this is what one step adds: there are T steps": lists / T,
            "this is one column: there are N": lists / N,
        }
        of_dense = {
            "a dense array stores no rows: where an entry stands tells its row": (INDEX + WEIGHT) * N**2 / MEGA,
            "this is K x N; for a dense solver all N rows are unknowns": dense * K / N,
            "a weight takes 8 bytes, not 4": dense / 2,
            "these are T dense arrays: one is enough, it is overwritten in every step": dense * T,
        }
        return [
            Part(name, right, wrong | {says: right * factor for says, factor in units.items()}, "MB")
            for name, right, wrong in (("lists", lists, of_lists), ("dense", dense, of_dense))
        ]


class Penalty(Exercise):
    """The gradient of the smoothed row maxima."""

    hints = (
        "the derivative of mu log sum_l exp(C_nl / mu) by C_nl is exp(C_nl / mu) / sum_l exp(C_nl / mu)",
        'E = np.exp(task["C"] / task["mu"]); with a small mu take each row\'s maximum off C first, or exp overflows',
        "E / E.sum(axis=1, keepdims=True)",
    )
    praise = "every row sums to one: a row pays for its largest entries, and only for them"

    def given(self) -> Given:
        C = np.array([[0.9, 0.8, 0.3, 0.5], [0.1, 0.1, 0.0, 0.0], [0.0, 0.1, 0.7, 0.1], [0.0, 0.0, 0.0, 0.4]])
        return {"C": C, "mu": 0.1}

    def solve(self, C: Floats, mu: float) -> list[Part]:
        right, shifted = softmax(C / mu, axis=1), np.exp((C - C.max(axis=1, keepdims=True)) / mu)
        largest = np.eye(C.shape[1])[C.argmax(axis=1)]
        unfinished = "after the exponential, every row has to be divided by its sum"
        mistakes = {
            "this sums down the columns: the penalty is about rows, sum over l": softmax(C / mu, axis=0),
            "mu is missing: C / mu goes into the exponential": softmax(C, axis=1),
            "this divides by the sum over all entries: every row has a sum of its own": softmax(C / mu),
            "this divides by the mean: the 1/N of the penalty falls out in its slope": right * C.shape[1],
            "this is the slope of the maximum itself; the smoothed one shares it out": largest,
            unfinished: shifted,
            f"{unfinished} (and before it, take the maximum off)": np.exp(C / mu),
            "the mu before the logarithm and the 1 / mu from within it cancel": right / mu,
            "the 1 / mu from within the logarithm cancels the mu before it": right * mu,
        }
        return [Part("y", right, mistakes, "slopes", (NONNEGATIVE, ROWS_SUM_TO_ONE))]


EXERCISES = {"step": Step(), "thin_step": ThinStep(), "bytes": Bytes(), "penalty": Penalty()}

OBJECTIVES = (  # of the notebook, in its order: the exercises of each
    ("step", "thin_step"),
    (),
    ("bytes",),
    ("penalty",),
    (),
    (),
)

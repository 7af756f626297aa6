"""The exercises of notebook 05: a step of Frank-Wolfe, what lists cost in bytes, the gradient of the penalty."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from cofactor.core.types import Floats
from course.grading import Exercise, Given, Part

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
        best, nearest = int(gradient.argmin()), int(((X - x[:, None]) ** 2).sum(axis=0).argmin())
        mistakes = {
            "this moves to where the gradient is largest: uphill; take the smallest entry": (
                moved(int(gradient.argmax()))
            ),
            "this moves to the column nearest to x; Frank-Wolfe moves to the smallest entry of the gradient": (
                moved(nearest)
            ),
            "the column is right, the length is not: alpha = 2 / (t + 2), with t counted from zero": (
                moved(best, 2 / (t + 1))
            ),
            "the old weights were not shrunk by 1 - alpha: these sum to more than one": (moved(best) + 2 / (t + 2) * c),
        }
        return [Part("c", moved(best), mistakes)]


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
        in_bytes = "this is in bytes; give millions of bytes (MB)"
        of_lists = {
            "this counts one entry per anchor: what one hopes for; the most there can be is one per step": (
                lists * K / T
            ),
            "these are the weights alone: an entry of a list also stores its row": lists * WEIGHT / (INDEX + WEIGHT),
            in_bytes: MEGA * lists,
            "this is in MiB, 2^20 bytes; an MB has a million": lists * MEGA / 2**20,
        }
        of_dense = {
            "a dense array stores no rows: where an entry stands tells its row": dense * (INDEX + WEIGHT) / WEIGHT,
            "this is K x N; for a dense solver all N rows are unknowns": dense * K / N,
            in_bytes: MEGA * dense,
            "this is in GB; give millions of bytes (MB)": dense / 1e3,
        }
        return [Part("lists", lists, of_lists), Part("dense", dense, of_dense)]


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
        right = softmax(C / mu, axis=1)
        mistakes = {
            "this sums down the columns: the penalty is about rows, sum over l": softmax(C / mu, axis=0),
            "mu is missing: C / mu goes into the exponential, or the largest entries hardly stand out": (
                softmax(C, axis=1)
            ),
            "this divides by the sum over all entries: every row has a sum of its own": softmax(C / mu),
            "this divides by the mean: the 1/N of the penalty is gone once its logarithm is differentiated": (
                right * C.shape[1]
            ),
        }
        return [Part("y", right, mistakes)]


EXERCISES = {"step": Step(), "bytes": Bytes(), "penalty": Penalty()}

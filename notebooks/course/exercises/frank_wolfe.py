"""The exercises of notebook 05: a step of Frank-Wolfe, what lists cost in bytes, the gradient of the penalty."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from cofactor.core.types import Floats
from course.exercises.old import Exercise, Given, Mistake, Part

INDEX, WEIGHT = 4, 8  # bytes of an entry that is stored
MEGA = 1e6


def _step_given() -> Given:
    X = np.array([[0.0, -0.9, 0.9, -0.2, 0.1, 0.3], [1.0, -0.5, -0.5, 0.2, 0.45, -0.4]])
    return {"X": X, "x": X[:, 3], "c": np.array([2.0, 0.0, 4.0, 0.0, 0.0, 0.0]) / 6, "t": 2}


def _gradient(g: Given) -> Floats:
    return np.asarray(g["X"].T @ (g["X"] @ g["c"] - g["x"]))


def _moved(g: Given, pick: int, alpha: float) -> Floats:
    c = (1 - alpha) * g["c"]
    c[pick] += alpha
    return np.asarray(c)


def _step(g: Given) -> Floats:
    return _moved(g, int(_gradient(g).argmin()), 2 / (g["t"] + 2))


STEP = Exercise(
    _step_given,
    (
        Part(
            "c",
            _step,
            (
                Mistake(
                    lambda g: _moved(g, int(_gradient(g).argmax()), 2 / (g["t"] + 2)),
                    "this moves to where the gradient is largest: uphill; take the smallest entry",
                ),
                Mistake(
                    lambda g: _moved(g, int(((g["X"] - g["x"][:, None]) ** 2).sum(axis=0).argmin()), 2 / (g["t"] + 2)),
                    "this moves to the column nearest to x; Frank-Wolfe moves to the smallest entry of the gradient",
                ),
                Mistake(
                    lambda g: _moved(g, int(_gradient(g).argmin()), 2 / (g["t"] + 1)),
                    "the column is right, the length is not: alpha = 2 / (t + 2), with t counted from zero",
                ),
                Mistake(
                    lambda g: _step(g) + 2 / (g["t"] + 2) * g["c"],
                    "the old weights were not shrunk by 1 - alpha: these sum to more than one",
                ),
            ),
        ),
    ),
    (
        'the gradient first: task["X"].T @ (task["X"] @ task["c"] - task["x"]), one entry per column',
        "its smallest entry is the column to move to; all weights shrink by 1 - alpha, that one gains alpha",
        'c = 0.5 * task["c"], then c[gradient.argmin()] += 0.5',
    ),
    "one entry more at most, whatever the size of the problem",
)


def _bytes_given() -> Given:
    return {"N": 20_000, "K": 40, "T": 50, "bytes per index": INDEX, "bytes per weight": WEIGHT}


def _lists(g: Given) -> float:
    return float((INDEX + WEIGHT) * g["N"] * g["T"] / MEGA)


def _dense(g: Given) -> float:
    return float(WEIGHT * g["N"] ** 2 / MEGA)


BYTES = Exercise(
    _bytes_given,
    (
        Part(
            "lists",
            _lists,
            (
                Mistake(
                    lambda g: _lists(g) * g["K"] / g["T"],
                    "this counts one entry per anchor: what one hopes for; the most there can be is one per step",
                ),
                Mistake(
                    lambda g: _lists(g) * WEIGHT / (INDEX + WEIGHT),
                    "these are the weights alone: an entry of a list also stores its row",
                ),
                Mistake(lambda g: MEGA * _lists(g), "this is in bytes; give millions of bytes (MB)"),
                Mistake(lambda g: _lists(g) * MEGA / 2**20, "this is in MiB, 2^20 bytes; an MB has a million"),
            ),
        ),
        Part(
            "dense",
            _dense,
            (
                Mistake(
                    lambda g: _dense(g) * (INDEX + WEIGHT) / WEIGHT,
                    "a dense array stores no rows: where an entry stands tells its row",
                ),
                Mistake(
                    lambda g: _dense(g) * g["K"] / g["N"], "this is K x N; for a dense solver all N rows are unknowns"
                ),
                Mistake(lambda g: MEGA * _dense(g), "this is in bytes; give millions of bytes (MB)"),
                Mistake(lambda g: _dense(g) / 1e3, "this is in GB; give millions of bytes (MB)"),
            ),
        ),
    ),
    (
        "every step adds at most one entry to every column of C",
        "an entry in a list costs an index and a weight; in a dense array a weight only",
        "(12 * N * T / 1e6, 8 * N**2 / 1e6)",
    ),
    "a dense C grows with the square of N, the lists with N: here they differ by a factor of hundreds",
)


def _penalty_given() -> Given:
    C = np.array([[0.9, 0.8, 0.3, 0.5], [0.1, 0.1, 0.0, 0.0], [0.0, 0.1, 0.7, 0.1], [0.0, 0.0, 0.0, 0.4]])
    return {"C": C, "mu": 0.1}


def _penalty(g: Given) -> Floats:
    return np.asarray(softmax(g["C"] / g["mu"], axis=1))


PENALTY = Exercise(
    _penalty_given,
    (
        Part(
            "y",
            _penalty,
            (
                Mistake(
                    lambda g: softmax(g["C"] / g["mu"], axis=0),
                    "this sums down the columns: the penalty is about rows, sum over l",
                ),
                Mistake(
                    lambda g: softmax(g["C"], axis=1),
                    "mu is missing: C / mu goes into the exponential, or the largest entries hardly stand out",
                ),
                Mistake(
                    lambda g: softmax(g["C"] / g["mu"]),
                    "this divides by the sum over all entries: every row has a sum of its own",
                ),
                Mistake(
                    lambda g: np.exp(g["C"] / g["mu"]) / np.exp(g["C"] / g["mu"]).mean(axis=1, keepdims=True),
                    "this divides by the mean: the 1/N of the penalty is gone once its logarithm is differentiated",
                ),
            ),
        ),
    ),
    (
        "the derivative of mu log sum_l exp(C_nl / mu) by C_nl is exp(C_nl / mu) / sum_l exp(C_nl / mu)",
        'E = np.exp(task["C"] / task["mu"]); with a small mu take each row\'s maximum off C first, or exp overflows',
        "E / E.sum(axis=1, keepdims=True)",
    ),
    "every row sums to one: a row pays for its largest entries, and only for them",
)


EXERCISES = {"step": STEP, "bytes": BYTES, "penalty": PENALTY}

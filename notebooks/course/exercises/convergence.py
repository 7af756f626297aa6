"""The exercises of notebook 04: two readings of a shift, one rotation, a linear rate."""

from __future__ import annotations

import numpy as np

from cofactor import simulate
from cofactor.core.types import Floats
from cofactor.crowd.symnmf import convergence_curve, shifted_relu
from course.demos.convergence import linear_rate
from course.exercises.old import Exercise, Given, Mistake, Part

FIRST = 10  # iterations before are not yet a line


def _shift_given() -> Given:
    return {"Z": np.array([[0.82, -0.15], [0.07, 0.44], [0.22, 0.11], [-0.31, 0.65]]), "alpha": 0.2}


_SOFT = Mistake(
    lambda g: np.maximum(g["Z"] - g["alpha"], 0),
    "the shift was subtracted (soft thresholding); entries above alpha stay as they are",
)
_PLAIN = Mistake(lambda g: np.maximum(g["Z"], 0), "this is the plain ReLU; entries between 0 and alpha change as well")

SHIFT = Exercise(
    _shift_given,
    (
        Part(
            "zeroed",
            lambda g: shifted_relu(g["Z"], g["alpha"], "zero"),
            (
                Mistake(
                    lambda g: shifted_relu(g["Z"], g["alpha"], "clamp"),
                    "these are clamped up to alpha; in this reading small entries become zero",
                ),
                _PLAIN,
                _SOFT,
                Mistake(
                    lambda g: np.where(np.abs(g["Z"]) >= g["alpha"], g["Z"], 0),
                    "negative entries are left: compare the entry itself with alpha, not its size",
                ),
            ),
        ),
        Part(
            "clamped",
            lambda g: shifted_relu(g["Z"], g["alpha"], "clamp"),
            (
                Mistake(
                    lambda g: shifted_relu(g["Z"], g["alpha"], "zero"),
                    "small entries became zero; in this reading they become alpha",
                ),
                _PLAIN,
                Mistake(
                    lambda g: np.maximum(g["Z"], 0) + g["alpha"], "alpha was added to all; only small entries change"
                ),
            ),
        ),
    ),
    (
        "the first keeps entries that are alpha or more and sets all others to zero",
        "the second raises entries below alpha to alpha, negative ones too",
        "np.where(Z >= alpha, Z, 0) and np.maximum(Z, alpha)",
    ),
    "one makes small entries vanish, the other holds them up: two algorithms under one name",
)


def _rotation_given() -> Given:
    U, _ = simulate.symnmf_problem(12, 3, 0.5, random_state=6)
    return {"U": U.round(3), "H": np.maximum(U, 0).round(3)}


def _turn(g: Given) -> Floats:
    W, _, Vt = np.linalg.svd(g["H"].T @ g["U"])
    return np.asarray(Vt.T @ W.T)


def _unaligned(g: Given) -> Floats:
    W, _, Vt = np.linalg.svd(g["H"].T @ g["U"])
    return np.asarray(Vt @ W.T)


ROTATION = Exercise(
    _rotation_given,
    (
        Part(
            "Q",
            _turn,
            (
                Mistake(
                    lambda g: np.linalg.lstsq(g["U"], g["H"], rcond=None)[0],
                    "this is the least-squares solution without a constraint: it is not orthogonal, it stretches",
                ),
                Mistake(_unaligned, "np.linalg.svd returns V', not V: transpose its third result"),
                Mistake(lambda g: g["U"].T @ g["H"], "this is U' H itself; take the orthogonal part of its SVD"),
                Mistake(
                    lambda g: np.linalg.qr(g["U"].T @ g["H"])[0],
                    "QR gives some orthogonal matrix, not the nearest one: use the SVD",
                ),
            ),
        ),
    ),
    (
        "W, s, Vt = np.linalg.svd(H.T @ U)",
        "Q = V W', and numpy returns V' as Vt",
        "Q = Vt.T @ W.T",
    ),
    "of all rotations this one brings U nearest to H: the orthogonal Procrustes problem",
)


def _speed_given() -> Given:
    U, H = simulate.symnmf_problem(300, 3, 0.6, random_state=2)
    return {"errors": convergence_curve(U, H), "first": FIRST}


def _from_start(g: Given) -> float:
    return linear_rate(g["errors"], 0)


def _log_slope(g: Given) -> float:
    return float(np.log(linear_rate(g["errors"], g["first"])))


SPEED = Exercise(
    _speed_given,
    (
        Part(
            "rho",
            lambda g: linear_rate(g["errors"], g["first"]),
            (
                Mistake(
                    lambda g: np.exp(_log_slope(g) / np.log(10)), "the slope of log10 e needs 10 to its power, not exp"
                ),
                Mistake(_from_start, "the first iterations are not on the line: fit from `first` on"),
                Mistake(
                    lambda g: 1 - linear_rate(g["errors"], g["first"]),
                    "this is the share an iteration removes; rho is what it leaves",
                ),
            ),
        ),
        Part(
            "digit",
            lambda g: np.log(0.1) / _log_slope(g),
            (
                Mistake(lambda g: 1 / _log_slope(g), "this is the time for a factor e = 2.718; a digit is a factor 10"),
                Mistake(lambda g: -_log_slope(g) * np.log(10), "upside down: solve rho^t = 0.1 for t"),
                Mistake(
                    lambda g: np.log(0.5) / _log_slope(g), "this is the time to halve the error; a digit is a factor 10"
                ),
            ),
        ),
    ),
    (
        "log e_t is a line in t: np.polyfit(t[first:], np.log(errors[first:]), 1)",
        "rho = np.exp(slope)",
        "rho**t = 0.1 for t = np.log(0.1) / np.log(rho)",
    ),
    "every digit costs the same number of iterations: that is what linear convergence means",
)


EXERCISES = {"shift": SHIFT, "rotation": ROTATION, "speed": SPEED}

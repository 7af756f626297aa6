"""The exercises of notebook 04: two readings of a shift, one rotation, a linear rate."""

from __future__ import annotations

import numpy as np

from cofactor import simulate
from cofactor.core.types import Floats
from cofactor.crowd.symnmf import convergence_curve, shifted_relu
from course.grading import Exercise, Given, Part
from course.rates import linear_rate

FIRST = 10  # iterations before are not yet a line


class Shift(Exercise):
    """ReLU_alpha of some entries, in both readings."""

    hints = (
        "the first keeps entries that are alpha or more and sets all others to zero",
        "the second raises entries below alpha to alpha, negative ones too",
        "np.where(Z >= alpha, Z, 0) and np.maximum(Z, alpha)",
    )
    praise = "one makes small entries vanish, the other holds them up: two algorithms under one name"

    def given(self) -> Given:
        return {"Z": np.array([[0.82, -0.15], [0.07, 0.44], [0.22, 0.11], [-0.31, 0.65]]), "alpha": 0.2}

    def solve(self, Z: Floats, alpha: float) -> list[Part]:
        zeroed, clamped = shifted_relu(Z, alpha, "zero"), shifted_relu(Z, alpha, "clamp")
        plain = {
            "this is the plain ReLU; entries between 0 and alpha change as well": np.maximum(Z, 0),
        }
        of_zeroed = {
            "these are clamped up to alpha; in this reading small entries become zero": clamped,
            **plain,
            "the shift was subtracted (soft thresholding); entries above alpha stay as they are": (
                np.maximum(Z - alpha, 0)
            ),
            "negative entries are left: compare the entry itself with alpha, not its size": (
                np.where(np.abs(Z) >= alpha, Z, 0)
            ),
        }
        of_clamped = {
            "small entries became zero; in this reading they become alpha": zeroed,
            **plain,
            "alpha was added to all; only small entries change": np.maximum(Z, 0) + alpha,
        }
        return [Part("zeroed", zeroed, of_zeroed), Part("clamped", clamped, of_clamped)]


class Rotation(Exercise):
    """The orthogonal matrix that brings U nearest to H."""

    hints = (
        "W, s, Vt = np.linalg.svd(H.T @ U)",
        "Q = V W', and numpy returns V' as Vt",
        "Q = Vt.T @ W.T",
    )
    praise = "of all rotations this one brings U nearest to H: the orthogonal Procrustes problem"

    def given(self) -> Given:
        U, _ = simulate.symnmf_problem(12, 3, 0.5, random_state=6)
        return {"U": U.round(3), "H": np.maximum(U, 0).round(3)}

    def solve(self, U: Floats, H: Floats) -> list[Part]:
        W, _, Vt = np.linalg.svd(H.T @ U)
        mistakes = {
            "this is the least-squares solution without a constraint: it is not orthogonal, it stretches": (
                np.linalg.lstsq(U, H, rcond=None)[0]
            ),
            "np.linalg.svd returns V', not V: transpose its third result": Vt @ W.T,
            "this is U' H itself; take the orthogonal part of its SVD": U.T @ H,
            "QR gives some orthogonal matrix, not the nearest one: use the SVD": np.linalg.qr(U.T @ H)[0],
        }
        return [Part("Q", Vt.T @ W.T, mistakes)]


class Speed(Exercise):
    """The factor per iteration of a linear convergence, and the iterations per digit."""

    hints = (
        "log e_t is a line in t: np.polyfit(t[first:], np.log(errors[first:]), 1)",
        "rho = np.exp(slope)",
        "rho**t = 0.1 for t = np.log(0.1) / np.log(rho)",
    )
    praise = "every digit costs the same number of iterations: that is what linear convergence means"

    def given(self) -> Given:
        U, H = simulate.symnmf_problem(300, 3, 0.6, random_state=2)
        return {"errors": convergence_curve(U, H), "first": FIRST}

    def solve(self, errors: Floats, first: int) -> list[Part]:
        rho = linear_rate(errors, first)
        slope = np.log(rho)
        of_rho = {
            "the slope of log10 e needs 10 to its power, not exp": np.exp(slope / np.log(10)),
            "the first iterations are not on the line: fit from `first` on": linear_rate(errors, 0),
            "this is the share an iteration removes; rho is what it leaves": 1 - rho,
        }
        of_digit = {
            "this is the time for a factor e = 2.718; a digit is a factor 10": 1 / slope,
            "upside down: solve rho^t = 0.1 for t": -slope * np.log(10),
            "this is the time to halve the error; a digit is a factor 10": np.log(0.5) / slope,
        }
        return [Part("rho", rho, of_rho), Part("digit", np.log(0.1) / slope, of_digit)]


EXERCISES = {"shift": Shift(), "rotation": Rotation(), "speed": Speed()}

"""The exercises of notebook 04: one rotation, a linear rate, two readings of a shift, one step of SymNMF."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np
from scipy.stats import ortho_group

from cofactor import simulate
from cofactor.core.types import Floats
from cofactor.crowd.symnmf import convergence_curve, shifted_relu
from course.grading import NONNEGATIVE, ORTHOGONAL, Exercise, FunctionExercise, Given, Law, Part
from course.rates import linear_rate
from course.seeds import own

FIRST = 10  # iterations before are not yet a line


def nearest_rotation(U: Floats, H: Floats) -> Floats:
    """Solve the Procrustes problem: the orthogonal Q that minimises ||H - U Q||_F."""
    W, _, Vt = np.linalg.svd(H.T @ U)
    return np.asarray(Vt.T @ W.T)


class Rotation(Exercise):
    """The orthogonal matrix that brings U nearest to H."""

    hints = (
        "W, s, Vt = np.linalg.svd(H.T @ U)",
        "Q = V W', and numpy returns V' as Vt",
        "Q = Vt.T @ W.T",
    )
    praise = "of all orthogonal matrices this one brings U nearest to H"

    def given(self) -> Given:
        U, _ = simulate.symnmf_problem(12, 3, 0.5, random_state=6)
        return {"U": U.round(3), "H": np.maximum(U, 0).round(3)}

    def solve(self, U: Floats, H: Floats) -> list[Part]:
        W, s, Vt = np.linalg.svd(H.T @ U)
        mistakes = {
            "this is least squares without a constraint: it is not orthogonal, it stretches": _stretched(U, H),
            "this is the least-squares solution from H to U, and not orthogonal": _stretched(H, U),
            "np.linalg.svd returns V', not V: transpose its third result": _swapped(U, H),
            "numpy's third result is V', and W has to be transposed too: Q = V W'": Vt.T @ W,
            "this is U' H itself; leave the singular values out": U.T @ H,
            "the singular values stay out: Q = V W'": Vt.T @ np.diag(s) @ W.T / s.mean(),
            "this turns nothing; take the orthogonal matrix that is nearest, by the SVD of H' U": np.eye(U.shape[1]),
            "QR gives some orthogonal matrix, not the nearest one: use the SVD": np.linalg.qr(U.T @ H)[0],
        }
        return [Part("Q", Vt.T @ W.T, mistakes, "entries of a rotation", (ORTHOGONAL,))]


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
            "the slope of log e needs exp, not 10 to its power": 10**slope,
            "this is the slope of the line; rho is exp of it": slope,
            "the first iterations are not on the line: fit from `first` on": linear_rate(errors, 0),
            "this looks at two errors only: fit a line through all": (errors[-1] / errors[first]) ** (1 / (60 - first)),
            "this is a mean of ratios: fit a line through log e": np.mean(errors[first + 1 :] / errors[first:-1]),
            "this is the share an iteration removes; rho is what it leaves": 1 - rho,
            "this is 1 / rho: the error falls, so rho is below one": 1 / rho,
            "this is the rate of the root; e_t is a squared error, and its own rate is asked": np.sqrt(rho),
        }
        digit = np.log(0.1) / slope
        of_digit = {
            "this is the time for a factor e = 2.718; a digit is a factor 10": -1 / slope,
            "upside down: solve rho^t = 0.1 for t": -slope / np.log(10),
            "this is the time to halve the error; a digit is a factor 10": np.log(0.5) / slope,
            "this is rounded up to whole iterations; give the number itself": np.ceil(digit),
            "this is rounded to whole iterations; give the number itself": np.floor(digit),
            "this is with the rate of all iterations; fit from `first` on": np.log(0.1)
            / np.log(linear_rate(errors, 0)),
        }
        return [Part("rho", rho, of_rho, "share left"), Part("digit", digit, of_digit, "iterations")]


class Shift(Exercise):
    """ReLU_alpha of some entries, in both readings."""

    hints = (
        "the first keeps entries that are alpha or more and sets all others to zero",
        "the second raises entries below alpha to alpha, negative ones too",
        "np.where(Z >= alpha, Z, 0) and np.maximum(Z, alpha)",
    )
    praise = "one makes small entries vanish, the other holds them up: two algorithms under one name"

    def given(self) -> Given:
        return {"Z": np.array([[0.82, -0.15], [0.07, 0.44], [0.23, 0.11], [-0.31, 0.65]]), "alpha": 0.2}

    def solve(self, Z: Floats, alpha: float) -> list[Part]:
        zeroed, clamped = shifted_relu(Z, alpha, "zero"), shifted_relu(Z, alpha, "clamp")
        both = {
            "this is the plain ReLU; entries between 0 and alpha change as well": np.maximum(Z, 0),
            "large entries were cut down to alpha; they stay as they are": np.minimum(Z, alpha),
            "the shift was subtracted (soft thresholding); entries above alpha stay as they are": (
                np.maximum(Z - alpha, 0)
            ),
            "negative entries are left: compare the entry itself with alpha, not its size": (
                np.where(np.abs(Z) >= alpha, Z, 0)
            ),
        }
        of_zeroed = both | {"these are clamped up to alpha; in this reading small entries become zero": clamped}
        of_clamped = both | {
            "small entries became zero; in this reading they become alpha": zeroed,
            "alpha was added to all; only small entries change": np.maximum(Z, 0) + alpha,
            "entries below zero became zero; in this reading they, too, become alpha": (
                np.where(Z > 0, np.maximum(Z, alpha), 0)
            ),
        }
        held_up = Law("there are entries below alpha", lambda found: bool((found >= alpha - 1e-9).all()))
        return [
            Part("zeroed", zeroed, of_zeroed, "entries of H", (NONNEGATIVE,)),
            Part("clamped", clamped, of_clamped, "entries of H", (held_up,)),
        ]


Cut = Callable[[Floats, float], Floats]
Turn = Callable[[Floats, Floats], Floats]


def _zeroed(Z: Floats, alpha: float) -> Floats:
    return np.where(alpha <= Z, Z, 0.0)


def _stretched(U: Floats, H: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(U, H, rcond=None)[0])


def _swapped(U: Floats, H: Floats) -> Floats:
    W, _, Vt = np.linalg.svd(H.T @ U)
    return np.asarray(Vt @ W.T)


def _step(cut: Cut = _zeroed, turn: Turn = nearest_rotation) -> Callable[[Floats, Floats, float], tuple[Floats, ...]]:
    """Return the step that cuts and turns in this way."""

    def step(U: Floats, Q: Floats, alpha: float) -> tuple[Floats, ...]:
        H = cut(U @ Q, alpha)
        return H, turn(U, H)

    return step


class SymNMFStep(FunctionExercise):
    """One iteration (13) with the shifted ReLU that sets small entries to zero."""

    hints = (
        "first turn, Z = U @ Q; then H is Z where Z >= alpha, and zero elsewhere",
        "the new rotation is the one of the exercise 'rotation', of U and this H",
        "W, s, Vt = np.linalg.svd(H.T @ U), and return H, Vt.T @ W.T",
    )
    praise = "cut and turn: repeated, this is the whole algorithm"
    wrong: ClassVar = {
        "this is the plain ReLU; entries between 0 and alpha become zero as well": _step(lambda Z, _: np.maximum(Z, 0)),
        "small entries were raised to alpha; in this reading they become zero": _step(np.maximum),
        "the shift was subtracted; entries above alpha stay as they are": _step(lambda Z, a: np.maximum(Z - a, 0)),
        "compare the entry itself with alpha, not its size": _step(lambda Z, a: np.where(abs(Z) >= a, Z, 0)),
        "an entry equal to alpha stays as it is": _step(lambda Z, a: np.where(a < Z, Z, 0)),
        "H is right, but the least-squares solution is no rotation: it stretches": (_step(turn=_stretched)),
        "H is right, the rotation is transposed: it turns H towards U": _step(turn=lambda U, H: nearest_rotation(H, U)),
        "H is right; np.linalg.svd returns V', not V: transpose its third result": _step(turn=_swapped),
        "H is right, but leave the singular values out of the rotation": _step(turn=lambda U, H: U.T @ H),
        "U is cut before it is turned: H comes from U @ Q": lambda U, Q, a: _step()(U, np.eye(len(Q)), a),
        "H is right, but Q has not moved: turn U onto H, not onto U Q": lambda U, Q, a: (_zeroed(U @ Q, a), Q),
        "H is right; the rotation is only the turn from U Q to H: multiply it to Q, or turn U itself": (
            lambda U, Q, a: (_zeroed(U @ Q, a), nearest_rotation(U @ Q, _zeroed(U @ Q, a)))
        ),
        "the rotation is right, but H was cut again after the turn: return the H that it was made of": (
            lambda U, Q, a: (_zeroed(U @ _step()(U, Q, a)[1], a), _step()(U, Q, a)[1])
        ),
    }

    def given(self) -> Given:
        return self._drawn(8, 3, 0.2, 5)

    def cases(self) -> list[Given]:
        tie = {"U": np.array([[0.2, 0.9], [0.7, -0.1], [0.5, 0.2], [-0.3, 0.6]]), "Q": np.eye(2), "alpha": 0.2}
        return [self._drawn(5, 2, 0.1, own(1)), self._drawn(20, 4, 0.0, own(2)), tie, self._drawn(40, 5, 0.3, own(3))]

    @staticmethod
    def _drawn(n_rows: int, n_classes: int, alpha: float, seed: int) -> Given:
        U, _ = simulate.symnmf_problem(n_rows, n_classes, 0.7, random_state=seed)
        Q = ortho_group.rvs(n_classes, random_state=seed)
        Q *= np.sign((U @ Q).sum(axis=0))  # a column all negative has no best rotation
        return {"U": U.round(3), "Q": Q, "alpha": alpha}

    def solve(self, U: Floats, Q: Floats, alpha: float) -> list[Part]:
        Z = U @ Q
        H = np.zeros(Z.shape)
        for j, k in np.ndindex(Z.shape):
            if Z[j, k] >= alpha:
                H[j, k] = Z[j, k]
        return [
            Part("H", H, {}, "entries of H", (NONNEGATIVE,)),
            Part("Q_next", nearest_rotation(U, H), {}, "entries of a rotation", (ORTHOGONAL,)),
        ]

    def properties(self, case: Given, result: list[Floats]) -> Iterator[str]:
        H, turned = result
        before, after = (np.sum((H - case["U"] @ Q) ** 2) for Q in (case["Q"], turned))
        if after > before + 1e-9:
            yield f"the new rotation takes U further away from H: the misfit rises from {before:.3g} to {after:.3g}"


EXERCISES = {"rotation": Rotation(), "speed": Speed(), "shift": Shift(), "symnmf_step": SymNMFStep()}

OBJECTIVES = (  # of the notebook, in its order: the exercises of each
    ("rotation", "symnmf_step"),
    ("speed",),
    ("shift",),
    (),
    (),
    (),
)

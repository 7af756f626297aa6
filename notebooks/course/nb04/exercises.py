"""The exercises of notebook 04: a rotation, a rate, two readings of a shift, a step, and what goes right or wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from string import ascii_uppercase
from typing import ClassVar

import numpy as np
from scipy.stats import ortho_group

from cofactor import simulate
from cofactor.core.types import Floats
from cofactor.crowd.symnmf import convergence_curve, shifted_relu
from course.grading import NONNEGATIVE, ORTHOGONAL, Exercise, FunctionExercise, Given, Law, Part
from course.nb04.ends import ends, kinds
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
    praise = "of all orthogonal matrices, this one brings U nearest to H"

    def given(self) -> Given:
        return self.own(41, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        U, _ = simulate.symnmf_problem(12, 3, 0.5, random_state=int(rng.integers(2**31)))
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
    praise = "every digit takes the same number of iterations: this is what linear convergence means"

    def given(self) -> Given:
        return self.own(42, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        U, H = simulate.symnmf_problem(300, 3, rng.uniform(0.5, 0.8), random_state=int(rng.integers(2**31)))
        read_off = np.exp(0.2 * rng.standard_normal(61))  # as from a picture
        return {"errors": convergence_curve(U, H) * read_off, "first": FIRST}

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
    praise = "one sets small entries to zero, the other raises them: two different algorithms under one name"

    def given(self) -> Given:
        return self.own(43, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        low, high = np.array([(0.4, 0.9)] * 3 + [(0.05, 0.15)] * 2 + [(0.22, 0.3)] + [(-0.4, -0.1)] * 2).T
        return {"Z": rng.permutation(rng.uniform(low, high)).reshape(4, 2).round(2), "alpha": 0.2}

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
    praise = "repeating these two steps, cut and turn, is the whole algorithm"
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


class NearStart(Exercise):
    """Condition (15) at a start, and the shifts that Lemma 8 allows there."""

    hints = (
        "a start is near if it is near to Q with its columns in some order: take the least q_0 over the six orders",
        "q_0 = np.sum((Q_0 - Q[:, order]) ** 2), sigma = np.linalg.norm(H); (15) has the root of q_0, and 2 nu",
        "r = sigma * sqrt(q_0) + nu; the left side is 2 r, and shifts go from r to H[H > 0].min() - r",
    )
    praise = "(15) says that a suitable shift exists: if it fails, the lowest allowed shift is above the highest"

    def given(self) -> Given:
        rng = np.random.default_rng(own(45))
        H = np.zeros((12, 3))
        H.ravel()[rng.permutation(36)[:18]] = np.append(0.5, rng.uniform(0.55, 1, 17)).round(2)
        Q, order = ortho_group.rvs(3, random_state=int(rng.integers(10**6))), np.roll(np.arange(3), rng.integers(1, 3))
        angle, nu = rng.uniform(0.03, 0.04), round(rng.uniform(0.03, 0.04), 3)
        turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        return {"H": H, "Q": Q, "Q_0": (turn @ Q)[:, order], "nu": nu}

    def solve(self, H: Floats, Q: Floats, Q_0: Floats, nu: float) -> list[Part]:
        q = min(np.sum((Q_0 - Q[:, order]) ** 2) for order in permutations(range(3)))
        sigma, least = np.linalg.norm(H), H[H > 0].min()
        off = sigma * np.sqrt(q)
        r = off + nu
        without_order = sigma * np.linalg.norm(Q_0 - Q)
        of_left = {
            "classes have no order: take the order of Q's columns that is nearest to the start": 2 * without_order
            + 2 * nu,
            "(15) needs the root of q_0; so does the proof, and the paper prints q_0": 2 * sigma * q + 2 * nu,
            "the noise is missing: 2 nu is added": 2 * off,
            "this is half of it: (15) keeps off what is too large at a zero, and what is too small at a nonzero": r,
            "sigma is the norm of H, not its square": 2 * sigma * off + 2 * nu,
            "sigma is the Frobenius norm, not the largest singular value": (
                2 * np.linalg.norm(H, 2) * np.sqrt(q) + 2 * nu
            ),
        }
        of_lowest = {
            "this is the left side of (15); a zero of H is off by half of it at most": 2 * r,
            "the noise is missing: a zero of H may also be off by nu": off,
            "classes have no order: take the order of Q's columns that is nearest to the start": without_order + nu,
            "zeros of H are not zero at the start: the shift must be above what they are": 0.0,
        }
        of_highest = {
            "a nonzero is too small by half of the left side at most": least - 2 * r,
            "this is the smallest nonzero itself; at the start it may be smaller": least,
            "take the least of the nonzeros, not of all entries": -r,
            "the other way: a nonzero may be smaller at the start, so that the shift must be lower": least + r,
        }
        return [
            Part("left side", 2 * r, of_left, "of entries of H"),
            Part("lowest shift", r, of_lowest, "of entries of H"),
            Part("highest shift", least - r, of_highest, "of entries of H"),
        ]


class NoiseAndTol(Exercise):
    """Where the error ends with more noise, and what a tolerance costs in iterations."""

    hints = (
        "the error is a squared one; ten decibels more noise make a squared error ten times as large",
        "Q moves as the root of e_t does: by the share sqrt(rho) from one iteration to the next",
        "end * 10 ** ((30 - snr) / 10); np.log(tight / loose) / np.log(np.sqrt(rho))",
    )
    praise = "the noise alone determines the final error; the rate alone determines the cost of each digit of Q"

    def given(self) -> Given:
        rng = np.random.default_rng(own(46))
        names = "end", "snr", "rho", "loose", "tight"
        end, rho = round(rng.uniform(2e-4, 9e-4), 5), round(rng.uniform(0.4, 0.8), 3)
        snr, loose = float(rng.choice([12, 13, 16, 17, 23, 24])), float(rng.choice([1e-4, 1e-3, 1e-2]))
        return dict(zip(names, (end, snr, rho, loose, 1e-10), strict=True))

    def solve(self, end: float, snr: float, rho: float, loose: float, tight: float) -> list[Part]:
        louder, digits = 10 ** ((30 - snr) / 10), np.log(tight / loose)
        iterations = digits / np.log(np.sqrt(rho))
        of_end = {
            "the other way: fewer decibels are more noise": end / louder,
            "20 decibels are a factor ten in the noise; the error is its square": end * np.sqrt(louder),
            "the error is squared already: ten decibels are a factor ten in it, not a hundred": end * louder**2,
            "decibels are logarithms: a difference of them is a factor": end * 30 / snr,
            "the end rises with the noise": end,
        }
        of_iterations = {
            "e_t is a squared error: Q moves by the share sqrt(rho), so a digit of Q takes two of e_t": iterations / 2,
            "the root of rho, not its square: Q moves more slowly than e_t falls": iterations / 4,
            "these are the digits over log(rho): take natural logarithms, or log10, of both": iterations / np.log(10),
            "this is what a single digit takes": iterations / np.log10(loose / tight),
            "these are all iterations from a move of one on; the exercise asks for those after `loose`": (
                iterations * np.log(tight) / digits
            ),
        }
        return [
            Part("end", end * louder, of_end, "error"),
            Part("iterations", iterations, of_iterations, "iterations"),
        ]


class Ends(Exercise):
    """Which of four ways each of five problems went wrong, and how many of them more starts mend."""

    hints = (
        "does a part of the starts fit? Then the others are stuck. Do all fit? Then look whether they end at one point",
        "none fits: do the misfits still fall at the end, or stand still, all at the same value?",
        "more starts help where a better one is known by its misfit; where all fit, or all end alike, they do not",
    )
    praise = "misfits and distances between results need no truth; more starts solve only the first kind of problem"
    says: ClassVar = {
        1: {
            2: "not all of its starts fit: some stand still above the dotted line",
            3: "some starts are at a perfect fit; those above stand still, and more steps do not move them",
            4: "a part of the starts fits perfectly, which a shift above nonzeros would not let them",
        },
        2: {
            1: "all of its starts fit: none is stuck; look at the distances of their ends",
            3: "all of its starts have arrived below the dotted line; look at the distances of their ends",
            4: "it fits perfectly, so nothing is cut off that belongs to H; look at the distances of the ends",
        },
        3: {
            1: "nothing stands still here: the misfits still fall when the run ends",
            2: "no start fits yet; the ends are far apart since none has arrived",
            4: "under a shift that is too large the misfits stand still; here they still fall",
        },
        4: {
            1: "no start fits, and all are at one end: they do not get stuck in different places",
            2: "all starts end at one point, so that the end is unique; but it does not fit",
            3: "the misfits stand still after a few iterations; more of them change nothing",
        },
    }

    def given(self) -> Given:
        return ends(own(47))

    def solve(self, misfits: Floats, far: Floats) -> list[Part]:
        found = kinds(misfits)
        stuck, early = (int(np.sum(found == kind)) for kind in (1, 3))
        of_count = {
            "one kind is mended: where some starts fit, keep the start with the least misfit": 0,
            "runs that were stopped too early need more steps, not more starts": stuck + early,
            "where all starts fit, or all end alike, another start tells nothing new": len(found),
        }
        return [
            *(
                Part(letter, kind, {text: other for other, text in self.says[int(kind)].items()}, "1, 2, 3 or 4")
                for letter, kind in zip(ascii_uppercase, found, strict=False)
            ),
            Part("mended", stuck, of_count, "problems"),
        ]


EXERCISES = {
    "rotation": Rotation(),
    "speed": Speed(),
    "shift": Shift(),
    "symnmf_step": SymNMFStep(),
    "near_start": NearStart(),
    "noise_and_tol": NoiseAndTol(),
    "ends": Ends(),
}

OBJECTIVES = (("rotation",), ("speed",), ("shift",))  # the exercises of each, in their order
LAB = ("symnmf_step", "near_start", "noise_and_tol", "ends")

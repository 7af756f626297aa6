"""The exercises of notebook 04: a rotation, a rate, two versions of a shift, a step, and how runs succeed or fail."""

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

FIRST = 10  # the earlier errors do not lie on the line


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
            "this is the unconstrained least-squares solution, which is not orthogonal; use the SVD of H' U": (
                _stretched(U, H)
            ),
            "this is the least-squares solution from H to U, which is not orthogonal; use the SVD of H' U": (
                _stretched(H, U)
            ),
            "you used numpy's third result, V', as V; transpose it": _swapped(U, H),
            "you did not transpose W; Q = V W'": Vt.T @ W,
            "this is U' H, singular values included; leave them out: Q = V W'": U.T @ H,
            "you included the singular values; leave them out: Q = V W'": Vt.T @ np.diag(s) @ W.T / s.mean(),
            "this is the identity, which turns nothing; take Q from the SVD of H' U": np.eye(U.shape[1]),
            "QR gives an orthogonal matrix, but not the one that minimises the distance; use the SVD": (
                np.linalg.qr(U.T @ H)[0]
            ),
        }
        return [Part("Q", Vt.T @ W.T, mistakes, "entries of a rotation", (ORTHOGONAL,))]


class Speed(Exercise):
    """The factor per iteration of linear convergence, and the iterations per digit."""

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
            "you took exp of the slope of log10 e; take 10**slope": np.exp(slope / np.log(10)),
            "you took 10**slope of the slope of log e; take np.exp(slope)": 10**slope,
            "this is the slope of the line; rho is np.exp(slope)": slope,
            "you fitted all iterations, but the early ones do not lie on the line; start at `first`": (
                linear_rate(errors, 0)
            ),
            "you used only two errors; fit a line to all of them from `first` on": (
                (errors[-1] / errors[first]) ** (1 / (60 - first))
            ),
            "this is the mean ratio of successive errors; fit a line to log e instead": (
                np.mean(errors[first + 1 :] / errors[first:-1])
            ),
            "this is the fraction of the error that an iteration removes; rho is the fraction that it leaves": 1 - rho,
            "this is 1 / rho; the error falls, so rho is below one": 1 / rho,
            "this is the square root of rho; give the rate of e_t itself, which is a squared error": np.sqrt(rho),
        }
        digit = np.log(0.1) / slope
        of_digit = {
            "these are the iterations for a factor of e = 2.718; a digit is a factor of 10": -1 / slope,
            "this is the inverse, digits per iteration; solve rho^t = 0.1 for t": -slope / np.log(10),
            "these are the iterations that halve the error; a digit is a factor of 10": np.log(0.5) / slope,
            "you rounded up to whole iterations; do not round": np.ceil(digit),
            "you rounded down to whole iterations; do not round": np.floor(digit),
            "you used the rate of all iterations; fit it from `first` on": (
                np.log(0.1) / np.log(linear_rate(errors, 0))
            ),
        }
        return [Part("rho", rho, of_rho, "fraction left"), Part("digit", digit, of_digit, "iterations")]


class Shift(Exercise):
    """ReLU_alpha of a matrix, in both versions."""

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
            "this is the plain ReLU; entries between 0 and alpha must change, too": np.maximum(Z, 0),
            "you reduced large entries to alpha; keep entries above alpha": np.minimum(Z, alpha),
            "you subtracted the shift (soft thresholding); keep entries above alpha as they are": (
                np.maximum(Z - alpha, 0)
            ),
            "you kept negative entries; compare each entry itself with alpha, not its absolute value": (
                np.where(np.abs(Z) >= alpha, Z, 0)
            ),
        }
        of_zeroed = both | {"you raised small entries to alpha; in this version, they become zero": clamped}
        of_clamped = both | {
            "you set small entries to zero; in this version, they become alpha": zeroed,
            "you added alpha to every entry; keep entries above alpha as they are": np.maximum(Z, 0) + alpha,
            "you set negative entries to zero; in this version, they become alpha, too": (
                np.where(Z > 0, np.maximum(Z, alpha), 0)
            ),
        }
        held_up = Law(
            "there are entries below alpha; in this version, they become alpha",
            lambda found: bool((found >= alpha - 1e-9).all()),
        )
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
    """Return the step made of this cut and this turn."""

    def step(U: Floats, Q: Floats, alpha: float) -> tuple[Floats, ...]:
        H = cut(U @ Q, alpha)
        return H, turn(U, H)

    return step


class SymNMFStep(FunctionExercise):
    """One iteration of SymNMF with the shifted ReLU that sets small entries to zero."""

    hints = (
        "first turn: Z = U @ Q; then H equals Z where Z >= alpha, and zero elsewhere",
        "the new rotation is the solution of the exercise 'rotation' for U and this H",
        "W, s, Vt = np.linalg.svd(H.T @ U), and return H, Vt.T @ W.T",
    )
    praise = "repeating these two steps, cut and turn, is the whole algorithm"
    wrong: ClassVar = {
        "this is the plain ReLU; entries between 0 and alpha must become zero, too": (
            _step(lambda Z, _: np.maximum(Z, 0))
        ),
        "you raised small entries to alpha; in this version, they become zero": _step(np.maximum),
        "you subtracted the shift; keep entries above alpha as they are": _step(lambda Z, a: np.maximum(Z - a, 0)),
        "you kept negative entries; compare each entry itself with alpha, not its absolute value": (
            _step(lambda Z, a: np.where(abs(Z) >= a, Z, 0))
        ),
        "you set an entry equal to alpha to zero; keep it: Z >= alpha": _step(lambda Z, a: np.where(a < Z, Z, 0)),
        "H is right, but Q is the least-squares solution, which is not orthogonal; use the SVD of H' U": (
            _step(turn=_stretched)
        ),
        "H is right, but Q is transposed: it turns H towards U; turn U towards H": (
            _step(turn=lambda U, H: nearest_rotation(H, U))
        ),
        "H is right, but you used numpy's third result, V', as V; transpose it": _step(turn=_swapped),
        "H is right, but Q includes the singular values; leave them out": _step(turn=lambda U, H: U.T @ H),
        "H comes from U, not from U @ Q; turn first, then cut": lambda U, Q, a: _step()(U, np.eye(len(Q)), a),
        "H is right, but Q is unchanged; find the rotation that turns U towards H": (
            lambda U, Q, a: (_zeroed(U @ Q, a), Q)
        ),
        "H is right, but Q is only the turn from U Q to H; return the rotation that turns U itself towards H": (
            lambda U, Q, a: (_zeroed(U @ Q, a), nearest_rotation(U @ Q, _zeroed(U @ Q, a)))
        ),
        "Q is right, but H was computed again with the new Q; return the H that Q was computed from": (
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
            yield f"the new rotation moves U away from H: the misfit rises from {before:.3g} to {after:.3g}"


class NearStart(Exercise):
    """Condition (15) at a start, and the shifts that Lemma 8 allows there."""

    hints = (
        "compare Q_0 with Q in every order of its columns, and take the smallest q_0 of the six",
        "q_0 = np.sum((Q_0 - Q[:, order]) ** 2), sigma = np.linalg.norm(H); (15) uses the square root of q_0, and 2 nu",
        "r = sigma * sqrt(q_0) + nu; the left side is 2 r, and the shift may lie between r and H[H > 0].min() - r",
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
            "you kept the order of the columns of Q; use the order that is nearest to Q_0": 2 * without_order + 2 * nu,
            "you used q_0, as the paper prints it; (15) and its proof need the square root of q_0": (
                2 * sigma * q + 2 * nu
            ),
            "the noise is missing; add 2 nu": 2 * off,
            "this is half of the left side of (15); it counts the error at a zero and the error at a nonzero": r,
            "you used the squared norm of H for sigma; use the norm": 2 * sigma * off + 2 * nu,
            "you used the largest singular value of H for sigma; use the Frobenius norm": (
                2 * np.linalg.norm(H, 2) * np.sqrt(q) + 2 * nu
            ),
        }
        of_lowest = {
            "this is the left side of (15); a zero of H is off by at most half of it": 2 * r,
            "the noise is missing; a zero of H may also be off by nu": off,
            "you kept the order of the columns of Q; use the order that is nearest to Q_0": without_order + nu,
            "the zeros of H are not zero at the start; the shift must be above the largest value they can have": 0.0,
        }
        of_highest = {
            "you subtracted the whole left side of (15); a nonzero is too small by at most half of it": least - 2 * r,
            "this is the smallest nonzero of H; it may be smaller at the start, so subtract that error": least,
            "you used the smallest entry of H; use its smallest nonzero": -r,
            "you added the error; a nonzero may be smaller at the start, so subtract it": least + r,
        }
        return [
            Part("left side", 2 * r, of_left, "in units of the entries of H"),
            Part("lowest shift", r, of_lowest, "in units of the entries of H"),
            Part("highest shift", least - r, of_highest, "in units of the entries of H"),
        ]


class NoiseAndTol(Exercise):
    """The final error with more noise, and the iterations that a tighter tolerance costs."""

    hints = (
        "the error is squared; ten decibels more noise make a squared error ten times as large",
        "the change of Q falls like the square root of e_t: by a factor of sqrt(rho) per iteration",
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
            "your error falls as the noise grows; fewer decibels mean more noise, so it must rise": end / louder,
            "you scaled the error like the noise; it is squared, so 10 dB are a factor of 10": end * np.sqrt(louder),
            "you squared once too often; the error is already squared, so 10 dB are a factor of 10": end * louder**2,
            "you used the ratio of the decibels; they are logarithms, so use their difference": end * 30 / snr,
            "this is the final error at 30 dB; it rises with the noise": end,
        }
        of_iterations = {
            "you used rho, the rate of the squared error; the change of Q falls at the rate sqrt(rho)": iterations / 2,
            "you used rho squared; the change of Q falls at the rate sqrt(rho)": iterations / 4,
            "you mixed two kinds of logarithm; use the same for the tolerances and the rate": iterations / np.log(10),
            "these are the iterations for one digit; multiply by the number of digits from `loose` to `tight`": (
                iterations / np.log10(loose / tight)
            ),
            "you counted from a change of one; count the iterations from `loose` to `tight`": (
                iterations * np.log(tight) / digits
            ),
        }
        return [
            Part("end", end * louder, of_end, "error"),
            Part("iterations", iterations, of_iterations, "iterations"),
        ]


class Ends(Exercise):
    """What went wrong in each of five problems, and how many of them more starts solve."""

    hints = (
        "if only some starts fit, the others are stuck; if all fit, check whether they end at the same point",
        "if no start fits, are the misfits still falling at the end, or have they all stopped at the same value?",
        "more starts help if the misfit tells a better start from a worse; not if all fit, or all end alike",
    )
    praise = "misfits and distances between results need no truth; more starts solve only the first kind of problem"
    says: ClassVar = {
        1: {
            2: "not all starts fit here: some have stopped above the dotted line",
            3: "some starts fit perfectly here; the others have stopped, so more iterations would not help them",
            4: "some starts fit perfectly here, which a shift above some nonzeros would prevent",
        },
        2: {
            1: "all starts fit here, so none is stuck; look at the distances between their results",
            3: "all starts have arrived below the dotted line here; look at the distances between their results",
            4: "all starts fit here, so the shift removed nothing that belongs to H; look at the distances below",
        },
        3: {
            1: "no start is stuck here: all misfits are still falling when the run ends",
            2: "no start fits yet here; the results are far apart because none has converged",
            4: "the misfits are still falling here; with a shift that is too large, they would stop",
        },
        4: {
            1: "no start fits here, and all have the same result; stuck starts would stop in different places",
            2: "all starts have the same result here, so it is unique, but it does not fit",
            3: "the misfits stop falling after a few iterations here, so more iterations change nothing",
        },
    }

    def given(self) -> Given:
        return ends(own(47))

    def solve(self, misfits: Floats, far: Floats) -> list[Part]:
        found = kinds(misfits)
        stuck, early = (int(np.sum(found == kind)) for kind in (1, 3))
        of_count = {
            "more starts do solve one kind: if only some starts fit, keep the one with the smallest misfit": 0,
            "you counted runs that were stopped too early; they need more iterations, not more starts": stuck + early,
            "you counted all problems; more starts do not help if all fit, or if all have the same result": len(found),
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

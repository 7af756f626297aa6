"""The exercises of notebook 05: steps of Frank-Wolfe, columns they pick, memory of lists, the penalty, a theorem."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.spatial import ConvexHull
from scipy.special import softmax

from cofactor.core.types import Floats, Indices
from cofactor.separable.least_squares import simplex_least_squares
from course.grading import NONNEGATIVE, ROWS_SUM_TO_ONE, SUMS_TO_ONE, Exercise, FunctionExercise, Given, Law, Part
from course.nb05.judging import Remedies
from course.nb05.pictures import INDEX, WEIGHT
from course.seeds import own

MEGA = 1e6


class Step(Exercise):
    """The third step of Frank-Wolfe for one point."""

    hints = (
        'compute the gradient first: task["X"].T @ (task["X"] @ task["c"] - task["x"]), one entry per column',
        "move towards the column with the smallest entry: multiply all weights by 1 - alpha, then add alpha there",
        'with alpha = 2 / (2 + 2): c = 0.5 * task["c"], then c[gradient.argmin()] += 0.5',
    )
    praise = "a step adds at most one entry to a column, regardless of the size of the problem"

    def given(self) -> Given:
        return self.own(51, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        corners = np.array([[0.0, -0.9, 0.9], [1.0, -0.5, -0.5]])
        X = np.hstack([corners, corners @ rng.dirichlet(np.ones(3), 3).T]).round(2)
        first, second = rng.permutation(3)[:2]
        return {"X": X, "x": X[:, 3], "c": (np.eye(6)[first] + 2 * np.eye(6)[second]) / 3, "t": 2}

    def solve(self, X: Floats, x: Floats, c: Floats, t: int) -> list[Part]:
        def moved(pick: int, alpha: float = 2 / (t + 2)) -> Floats:
            return np.asarray((1 - alpha) * c + alpha * np.eye(len(c))[pick])

        gradient = X.T @ (X @ c - x)
        best, highest = int(gradient.argmin()), int(gradient.argmax())
        nearest = int(((X - x[:, None]) ** 2).sum(axis=0).argmin())
        mistakes = {
            "you moved uphill, to the largest entry of the gradient; move to the smallest": moved(highest),
            "you moved to the column nearest to x; move to the smallest entry of the gradient": moved(nearest),
            "the column is right, but alpha is 2 / (t + 2), not 2 / (t + 1)": moved(best, 2 / (t + 1)),
            "the column is right, but alpha is 2 / (t + 2), not 1 / (t + 1)": moved(best, 1 / (t + 1)),
            "the column is right, but you moved all the way; alpha is 2 / (t + 2)": moved(best, 1),
            "these are the weights before the step; move towards the smallest entry of the gradient": c,
            "you did not multiply the old weights by 1 - alpha, so they sum to more than one": (
                moved(best) + 2 / (t + 2) * c
            ),
        }
        return [Part("c", moved(best), mistakes, "weights", (NONNEGATIVE, SUMS_TO_ONE))]


def _step(
    X: Floats, R: Floats, t: int, sign: int = 1, axis: int = 0, own: int = 1, shrink: int = 1,
    alpha: Callable[[int], float] = lambda t: 2 / (t + 2), size: Callable[[Floats], Floats] = np.asarray,
) -> tuple[Indices, Floats]:  # fmt: skip
    """Do one step; the arguments after t introduce typical mistakes."""
    picks = size(sign * X.T @ R).argmin(axis=axis)
    return picks, (1 - shrink * alpha(t)) * R + alpha(t) * (X[:, picks] - own * X)


class ThinStep(FunctionExercise):
    """One step of Frank-Wolfe for all columns, from the residuals, without C."""

    hints = (
        "the gradient is X' R, with one column per point; the pick is the row of the smallest entry in each column",
        "C becomes (1 - alpha) C + alpha E, so X C becomes (1 - alpha) X C + alpha X[:, j]; subtract X to get R",
        "j = (X.T @ R).argmin(axis=0); return j, (1 - alpha) * R + alpha * (X[:, j] - X)",
    )
    praise = "a step needs only picks and residuals: N integers and an array of the size of X"
    wrong: ClassVar = {
        "you moved uphill; pick the smallest entry in each column of X' R, not the largest": partial(_step, sign=-1),
        "you picked the smallest entry in each row of X' R; pick it in each column, with argmin(axis=0)": partial(
            _step, axis=1
        ),
        "you added alpha * X[:, j]; R is X C - X, so add alpha * (X[:, j] - X)": partial(_step, own=0),
        "you did not multiply the old residuals by 1 - alpha": partial(_step, shrink=0),
        "alpha is 2 / (t + 2), with t counted from zero, not 2 / (t + 1)": partial(_step, alpha=lambda t: 2 / (t + 1)),
        "alpha is 2 / (t + 2), with t counted from zero, not 2 / (t + 3)": partial(_step, alpha=lambda t: 2 / (t + 3)),
        "the picks are right, but you returned the old residuals; return those after the step": (
            lambda X, R, t: ((X.T @ R).argmin(axis=0), R)
        ),
        "you picked the entry nearest to zero; pick the most negative one": partial(_step, size=np.abs),
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
    """The memory that C needs at most in lists, and as a dense array."""

    hints = (
        "every step adds at most one entry to each of the N columns of C",
        "a list entry stores an index (4 bytes) and a weight (8 bytes), an entry of a dense array only a weight",
        "hand in (12 * N * T / 1e6, 8 * N**2 / 1e6)",
    )
    praise = "a dense C grows with the square of N, the lists grow with N: here they differ by a factor of hundreds"

    def given(self) -> Given:
        return self.own(52, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        N, K, T = (int(rng.choice(some)) for some in ((15_000, 20_000, 30_000), (30, 40), (50, 60, 80)))
        return {"N": N, "K": K, "T": T, "bytes per index": INDEX, "bytes per weight": WEIGHT}

    def solve(self, N: int, K: int, T: int, **_: int) -> list[Part]:
        lists, dense = (INDEX + WEIGHT) * N * T / MEGA, WEIGHT * N**2 / MEGA
        units = {
            "this is in bytes; give millions of bytes (MB)": MEGA,
            "this is in kB; give MB": 1e3,
            "this is in MiB (2^20 bytes); give MB (10^6 bytes)": MEGA / 2**20,
            "this is in GB; give MB": 1e-3,
        }
        of_lists = {
            "you counted one entry per anchor in each column; count one per step, T in all": lists * K / T,
            "you counted only the weights; a list entry also stores its row number": WEIGHT * N * T / MEGA,
            "you counted 8 bytes for the row number; it takes 4, so an entry takes 12": 2 * WEIGHT * N * T / MEGA,
            "you multiplied by the number of anchors; a step adds at most one entry to a column": lists * K,
            "this is what one step adds; there are T steps": lists / T,
            "this is the memory for one column; there are N": lists / N,
        }
        of_dense = {
            "you counted row numbers; a dense array stores only weights, 8 bytes each": (INDEX + WEIGHT) * N**2 / MEGA,
            "this is for a K x N array; a dense C is N x N": dense * K / N,
            "you counted 4 bytes for a weight; it takes 8": dense / 2,
            "this is for T dense arrays; every step overwrites the same one": dense * T,
        }
        return [
            Part(name, right, wrong | {says: right * factor for says, factor in units.items()}, "MB")
            for name, right, wrong in (("lists", lists, of_lists), ("dense", dense, of_dense))
        ]


class Penalty(Exercise):
    """The gradient of the smoothed row maxima."""

    hints = (
        "the derivative of mu log sum_l exp(C_nl / mu) by C_nl is exp(C_nl / mu) / sum_l exp(C_nl / mu)",
        'E = np.exp(task["C"] / task["mu"]); for small mu, subtract each row\'s maximum from C first, or exp overflows',
        "E / E.sum(axis=1, keepdims=True)",
    )
    praise = "every row sums to one: the penalty charges a row only for its largest entries"

    def given(self) -> Given:
        return self.own(53, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        C = rng.dirichlet([4, 0.5, 1.5, 0.5], 4).T.round(1)
        return {"C": C, "mu": 0.1}

    def solve(self, C: Floats, mu: float) -> list[Part]:
        right, shifted = softmax(C / mu, axis=1), np.exp((C - C.max(axis=1, keepdims=True)) / mu)
        largest = np.eye(C.shape[1])[C.argmax(axis=1)]
        unfinished = "these are exponentials; divide each row by its sum"
        mistakes = {
            "you divided each column by its sum; divide each row by its sum": softmax(C / mu, axis=0),
            "mu is missing; take the exponential of C / mu": softmax(C, axis=1),
            "you divided by the sum of all entries; divide each row by its own sum": softmax(C / mu),
            "you divided each row by its mean; divide by its sum, since 1/N drops out of the slope": right * C.shape[1],
            "this is the slope of the maximum itself; the smoothed maximum spreads it over the row": largest,
            unfinished: shifted,
            f"{unfinished}, after subtracting the row's maximum from C": np.exp(C / mu),
            "this is too large by 1 / mu; it cancels with the mu in front of the logarithm": right / mu,
            "this is too small by mu; it cancels with the 1 / mu inside the logarithm": right * mu,
        }
        return [Part("y", right, mistakes, "slopes", (NONNEGATIVE, ROWS_SUM_TO_ONE))]


def _hull(X: Floats) -> Indices:
    """Return the columns of X (2, N) that are corners of the convex hull."""
    return np.sort(ConvexHull(X.T).vertices)


def _mask(columns: Indices, n: int) -> Indices:
    return np.isin(np.arange(n), columns).astype(np.int64)


def _longest(X: Floats, n: int) -> Indices:
    return np.sort(np.argsort(-np.sum(X**2, axis=0))[:n])


def _sticks_out(X: Floats, corners: Indices) -> float:
    """Return the smallest distance of a corner from the hull of the other corners."""
    others = ((X[:, [n]], X[:, corners[corners != n]]) for n in corners)
    return float(min(np.linalg.norm(x - rest @ simplex_least_squares(rest, x)) for x, rest in others))


class Touched(Exercise):
    """Which columns Frank-Wolfe picks under noise, and how many entries C has at most in 2 and in 50 dimensions."""

    hints = (
        "a pick is the column that minimises a linear function of the position; which points of a cloud can do that?",
        "spatial.ConvexHull(X.T).vertices; a column of C has at most one entry per step, and one per pickable column",
        "for these columns, 12 times the number of corners of the hull; in 50 dimensions, N times T",
    )
    praise = "few columns are picked if few are extreme; if all are, there are few steps: C stays small in both cases"
    n = 12

    def given(self) -> Given:
        rng = np.random.default_rng(own(53))
        while True:
            X, anchors = self._cloud(rng)
            corners = _hull(X)
            near = set(_longest(X, len(corners))) != set(corners) != set(anchors)
            if 5 <= len(corners) <= 8 and corners[0] == 0 and near and _sticks_out(X, corners) > 0.05:
                break
        T, N = int(rng.choice([25, 35, 45, 55])), int(rng.choice([200, 300, 400]))
        return {"X": X, "anchors": anchors, "T": T, "N there": N}

    def _cloud(self, rng: np.random.Generator) -> tuple[Floats, Indices]:
        """Draw twelve noisy points of a triangle away from the origin, three of which are anchors."""
        H = np.hstack([np.eye(3), rng.dirichlet(np.ones(3), self.n - 3).T])
        W = np.array([[1.0, 3.0, 3.2], [1.2, 0.6, 2.8]])
        order = rng.permutation(self.n)
        X = (W @ H + rng.normal(0, 0.2, (2, self.n)))[:, order]
        return X.round(2), np.flatnonzero(order < 3)

    def solve(self, X: Floats, anchors: Indices, T: int, **high: int) -> list[Part]:
        N, n, corners = high["N there"], X.shape[1], _hull(X)
        of_columns = {
            "you marked the anchors; with noise, mark the corners of the hull of the noisy columns": _mask(anchors, n),
            "you marked the longest columns; mark the corners of the hull of all columns": (
                _mask(_longest(X, len(corners)), n)
            ),
            "you marked all columns; one inside the hull never minimises a linear function": np.ones(n, dtype=np.int64),
            "you marked the columns that are never picked; give 1 for those that can be": 1 - _mask(corners, n),
        }
        of_plane = {
            "you counted T entries per column of C; there are only as many as columns that can be picked": n * T,
            "this counts all of C; rows of columns that are never picked are empty": n * n,
            "you counted three anchors per column of C; with noise, more columns can be picked": 3 * n,
            "this is the number for one column of C; there are 12": len(corners),
        }
        of_space = {
            "this counts all of C; a step adds at most one entry to a column": N * N,
            "all columns are extreme points there, so the number of steps is the limit: N times T": N * len(corners),
            "this is the number for one column of C; there are N": T,
            "this is the number of columns of C; each has up to T entries": N,
        }
        return [
            Part("touched", _mask(corners, n), of_columns, "1 where a column is picked, else 0"),
            Part("here", n * min(T, len(corners)), of_plane, "entries"),
            Part("there", N * T, of_space, "entries"),
        ]


SOME_ROOM = Law(
    "the allowed noise must be positive; in d(H), leave out the columns of the anchors, whose largest weight is one",
    lambda found: bool(np.all(found > 0)),
)


class AllowedNoise(Exercise):
    """How much noise (17) allows, and by how many decibels the actual noise exceeds it."""

    hints = (
        "gamma is the largest norm of a column of W, and sigma_max its largest singular value, np.linalg.norm(W, 2)",
        "d(H) is the largest weight outside the columns of the anchors: np.delete(H, anchors, axis=1).max()",
        "decibels refer to squares, so a ratio of lengths is 20 * np.log10(delta / allowed)",
    )
    praise = "the condition is sufficient but far from necessary: real data are never this clean"

    def given(self) -> Given:
        rng = np.random.default_rng(own(54))
        W = (rng.uniform(0.1, 0.5, (5, 3)) + np.eye(5, 3)) * [1.0, 1.4, 1.9]
        H = np.hstack([np.eye(3), (0.7 * rng.dirichlet(np.ones(3), 9) + 0.1).T.round(3)])
        order = rng.permutation(12)
        numbers = {"nu": round(rng.uniform(0.02, 0.06), 3), "delta": round(rng.uniform(0.05, 0.2), 3)}
        return {"W": W.round(2), "H": H[:, order], "anchors": np.argsort(order)[:3], "eta": 0.1, **numbers}

    def solve(self, W: Floats, H: Floats, anchors: Indices, eta: float, nu: float, delta: float) -> list[Part]:
        lengths, sigma = np.linalg.norm(W, axis=0), np.linalg.svd(W, compute_uv=False)
        gamma, most = lengths.max(), np.delete(H, anchors, axis=1).max()
        room = nu * eta * (1 - most) / (4 * sigma[0])

        def bound(extra: float = room, longest: float = gamma) -> float:
            return float(np.sqrt(longest**2 + extra) - longest)

        allowed = bound()
        decibels = 20 * np.log10(delta / allowed)
        of_allowed = {
            "this is the actual noise; give the noise that (17) allows": delta,
            "you used the Frobenius norm of W for sigma_max; use its largest singular value": (
                bound(room * sigma[0] / np.linalg.norm(W))
            ),
            "you used the smallest singular value of W; use the largest": bound(room * sigma[0] / sigma[-1]),
            "you used the shortest anchor for gamma; use the longest": bound(longest=lengths.min()),
            "this is the square root alone; subtract gamma": float(np.sqrt(gamma**2 + room)),
            "this is the fraction added to gamma^2; take the square root of the sum, and subtract gamma": room,
            "the 4 in the denominator is missing": bound(4 * room),
            "you used d(H); use 1 - d(H)": bound(room * most / (1 - most)),
        }
        of_decibels = {
            "you used 10 log10; delta is a length, and decibels refer to squares, so use 20 log10": decibels / 2,
            "this is the ratio of the lengths; take 20 log10 of it": delta / allowed,
            "you used the natural logarithm; decibels use log10": decibels * np.log(10),
            "this is log10 of the ratio; multiply it by 20": decibels / 20,
        }
        return [
            Part("allowed", allowed, of_allowed, "length of a column of the noise", (SOME_ROOM,)),
            Part("decibels", decibels, of_decibels, "dB"),
        ]


EXERCISES = {
    "step": Step(),
    "thin_step": ThinStep(),
    "touched": Touched(),
    "bytes": Bytes(),
    "penalty": Penalty(),
    "allowed_noise": AllowedNoise(),
    "remedies": Remedies(),
}

OBJECTIVES = (("step",), ("bytes",), ("penalty",))  # the exercises of each, in their order
LAB = ("thin_step", "touched", "allowed_noise", "remedies")

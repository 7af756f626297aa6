"""The exercises of notebook 05: steps of Frank-Wolfe, what they touch, bytes of lists, the penalty, a theorem."""

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
    praise = "a step needs only picks and residuals: N integers and an array of the size of X"
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


def _hull(X: Floats) -> Indices:
    """The columns of X (2, N) that are corners of the hull of all."""
    return np.sort(ConvexHull(X.T).vertices)


def _mask(columns: Indices, n: int) -> Indices:
    return np.isin(np.arange(n), columns).astype(np.int64)


def _longest(X: Floats, n: int) -> Indices:
    return np.sort(np.argsort(-np.sum(X**2, axis=0))[:n])


def _sticks_out(X: Floats, corners: Indices) -> float:
    """The least distance of a corner from the hull of the other corners."""
    others = ((X[:, [n]], X[:, corners[corners != n]]) for n in corners)
    return float(min(np.linalg.norm(x - rest @ simplex_least_squares(rest, x)) for x, rest in others))


class Touched(Exercise):
    """Which columns Frank-Wolfe ever picks under noise, and how many entries C has at most, in the plane and above."""

    hints = (
        "a pick is the column at which a linear function of the place is lowest: where can that be, over a cloud?",
        "spatial.ConvexHull(X.T).vertices; a column of C has at most one entry a step, and one for each that is picked",
        "12 columns times the number of corners of the hull; there, N times T",
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
        """Twelve noisy points of a triangle away from the origin, three of which are anchors."""
        H = np.hstack([np.eye(3), rng.dirichlet(np.ones(3), self.n - 3).T])
        W = np.array([[1.0, 3.0, 3.2], [1.2, 0.6, 2.8]])
        order = rng.permutation(self.n)
        X = (W @ H + rng.normal(0, 0.2, (2, self.n)))[:, order]
        return X.round(2), np.flatnonzero(order < 3)

    def solve(self, X: Floats, anchors: Indices, T: int, **high: int) -> list[Part]:
        N, n, corners = high["N there"], X.shape[1], _hull(X)
        of_columns = {
            "these are the anchors; under noise other columns stick out, too, and an anchor may not": _mask(anchors, n),
            "these are the longest columns, as SPA would take them; what counts is who sticks out of the cloud": (
                _mask(_longest(X, len(corners)), n)
            ),
            "a column within the cloud is never where a linear function is lowest": np.ones(n, dtype=np.int64),
            "these are the columns that are never picked": 1 - _mask(corners, n),
        }
        of_plane = {
            "a column of C cannot have more entries than there are columns that are picked": n * T,
            "this is all of C; rows of columns that are never picked are empty": n * n,
            "this is one anchor each: under noise more columns are picked": 3 * n,
            "every one of the 12 columns of C has at most so many": len(corners),
        }
        of_space = {
            "this is all of C; a step adds one entry to a column at most": N * N,
            "all columns stick out there: the steps are the limit": N * len(corners),
            "this is one column: there are N": T,
            "this is the number of columns; each has up to T entries": N,
        }
        return [
            Part("touched", _mask(corners, n), of_columns, "1 where a column is picked, else 0"),
            Part("here", n * min(T, len(corners)), of_plane, "entries"),
            Part("there", N * T, of_space, "entries"),
        ]


SOME_ROOM = Law(
    "nothing is allowed: d(H) is the largest weight in a column that is no anchor; in those of anchors it is one",
    lambda found: bool(np.all(found > 0)),
)


class AllowedNoise(Exercise):
    """How much noise (17) allows, and how many decibels less that is than what there is."""

    hints = (
        "gamma is the longest column of W, sigma_max its largest singular value, np.linalg.norm(W, 2)",
        "d(H) leaves the anchors out, the columns with a single one: np.delete(H, anchors, axis=1).max()",
        "noise is measured in decibels of its square: 20 * np.log10(delta / allowed)",
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
            "this is the actual noise; the exercise asks what (17) allows": delta,
            "sigma_max is the largest singular value of W, not its Frobenius norm": (
                bound(room * sigma[0] / np.linalg.norm(W))
            ),
            "this is with the least singular value of W; take the largest": bound(room * sigma[0] / sigma[-1]),
            "gamma is the longest anchor, not the shortest": bound(longest=lengths.min()),
            "gamma is taken off the root": float(np.sqrt(gamma**2 + room)),
            "this is what stands beside gamma^2 under the root": room,
            "the 4 under the fraction is missing": bound(4 * room),
            "this is with d(H) in the place of 1 - d(H)": bound(room * most / (1 - most)),
        }
        of_decibels = {
            "delta is a length, and decibels are of squares: 20 log10": decibels / 2,
            "this is how many times as long the noise is; decibels are 20 log10 of it": delta / allowed,
            "decibels take log10, not the natural logarithm": decibels * np.log(10),
            "this is log10 alone; decibels are 20 times that": decibels / 20,
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

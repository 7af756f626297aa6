"""The exercises of notebook 02, on uniqueness and on measuring the error of a model whose classes have no names.

H (I, 3) is the factor with rows h_i, T = {x : H x >= 0, 1'x = 1}, and r the largest norm in T.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from typing import ClassVar

import numpy as np

from cofactor.core.scattering import scattering_certificate
from cofactor.core.types import Floats
from course.crowds import Mask
from course.grading import NONNEGATIVE, Exercise, FunctionExercise, Given, Part
from course.seeds import own

K = 3
HEXAGON = np.array([[2, 1, 0], [1, 2, 0], [0, 2, 1], [0, 1, 2], [1, 0, 2], [2, 0, 1]])


class Specialists(Exercise):
    """How far the nearest row is from each corner."""

    hints = (
        "scale each row of H to sum to one: these are the dots in the triangle",
        "for class k, subtract the k-th unit vector from every row and take norms",
        "rows = H / H.sum(axis=1, keepdims=True); np.linalg.norm(rows[:, None] - np.eye(3), axis=2).min(axis=0)",
    )
    praise = "a class without a row near its corner has no specialist, and the hull misses that corner"

    def given(self) -> Given:
        return self.own(21, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        H = rng.integers(1, 30, size=(7, K)) / 40
        H[rng.permutation(7)[:3]] += np.diag(rng.uniform(0.5, 2.5, 3))
        return {"H": H.round(3)}

    def solve(self, H: Floats) -> list[Part]:
        rows = H / H.sum(axis=1, keepdims=True)
        apart = np.linalg.norm(rows[:, None] - np.eye(K), axis=2)
        mistakes = {
            "the rows have different sizes: scale each to sum to one first, only its direction counts": nearest(H),
            "the columns were scaled; it is each row that is scaled to sum to one": nearest(H / H.sum(axis=0)),
            "the rows were scaled to length one; scale them to sum to one, into the plane of the triangle": (
                nearest(H / np.linalg.norm(H, axis=1, keepdims=True))
            ),
            "these are squared distances: take the square root": nearest(rows) ** 2,
            "these are sums of absolute differences": nearest(rows, order=1),
            "this is one minus the largest entry; take the distance of the whole row to e_k": 1 - rows.max(axis=0),
            "these are the farthest rows; a specialist is the nearest": apart.max(axis=0),
            "these are means over all rows; one near row is enough": apart.mean(axis=0),
            "these are the numbers of the nearest rows; give their distances": apart.argmin(axis=0),
        }
        return [Part("distances", nearest(rows), mistakes, "distances", [NONNEGATIVE])]


def nearest(rows: Floats, order: float = 2) -> Floats:
    """Distance of the nearest row to each unit vector, (K,)."""
    return np.asarray(np.linalg.norm(rows[:, None] - np.eye(K), ord=order, axis=2).min(axis=0))


def _factor(seed: int) -> Floats:
    """Five workers of three classes, one below the other."""
    A = np.random.default_rng(seed).dirichlet(np.ones(K), (5, K)).transpose(0, 2, 1)
    return np.asarray((0.5 * np.eye(K) + 0.5 * A).reshape(-1, K))


class LongestCorner(FunctionExercise):
    """The largest norm in T, for any factor with three columns: condition 1 by hand."""

    hints = (
        "at a corner, h_i'x = 0 for two rows at once: np.cross(H[i], H[j]) is at right angles to both; try all pairs",
        "divide x by its sum; it lies in T if no entry of H @ x is below zero, up to rounding: say -1e-9",
        "for i, j in itertools.combinations(range(len(H)), 2): ...; skip an x that sums to zero: its rows are parallel",
    )
    praise = (
        "this is the whole first condition for three classes: the factor is unique if r is one and "
        "condition 2 also holds"
    )

    def given(self) -> Given:
        return {"H": np.array([[0.6, 0.1, 0.06], [0.2, 0.4, 0.05], [0.02, 0.1, 0.8]])}

    def cases(self) -> list[Given]:
        never = np.vstack([[1, 1, 2], np.zeros(K), HEXAGON, HEXAGON[0]])  # a label never given, a row twice
        made = HEXAGON / [[1], [2], [5], [1], [3], [4]], never, 2 * np.eye(K)
        return [{"H": H} for H in (_factor(5), *made, _factor(own(6)))]  # the first tells all typical mistakes apart

    def solve(self, H: Floats) -> list[Part]:
        return [Part("r", scattering_certificate(H).radius, {}, "a norm")]

    def properties(self, case: Given, result: list[Floats]) -> Iterator[str]:
        if result[0] < scattering_certificate(case["H"]).radius - 1e-6:
            yield "a corner of T is lost, since r is too small; in H @ x, a zero can come out as -1e-17"

    wrong: ClassVar = {
        "keep only those x that lie in T: no entry of H @ x below zero": lambda H: top(H, inside=lambda H, x: True),
        "it is H x that must not be negative; x itself may have negative entries": (
            lambda H: top(H, inside=lambda H, x: x.min() > -1e-9)
        ),
        "x must sum to one: divide it by its sum": lambda H: top(H, scale=lambda x: 1.0),
        "first divide x by its sum, then look whether it lies in T: np.cross(u, v) can point the other way": (
            lambda H: top(H, [p for p in combinations(range(len(H)), 2) if (H @ np.cross(*H[list(p)])).min() > -1e-9])
        ),
        "x was scaled to length one; divide it by its sum": lambda H: top(H, scale=lambda x: float(np.linalg.norm(x))),
        "this is the shortest corner; r is the longest": lambda H: top(H, best=min),
        "this is the largest entry of a corner; r is a norm": lambda H: top(H, order=np.inf),
        "these are sums of absolute entries; r is the norm, the root of a sum of squares": lambda H: top(H, order=1),
        "these are squared norms: take the square root": lambda H: top(H) ** 2,
        "this is the margin 1 - r; return r itself": lambda H: 1 - top(H),
        "any two rows can make a corner, not only a row and the next": (
            lambda H: top(H, pairs=[(i, i + 1) for i in range(len(H) - 1)])
        ),
        "these are norms of the rows of H; r is about the corners of T": (
            lambda H: max(np.linalg.norm(h) / max(h.sum(), 1e-12) for h in H)
        ),
    }


def top(
    H: Floats,
    pairs: list[tuple[int, int]] | None = None,
    scale: Callable[[Floats], float] = np.sum,
    inside: Callable[[Floats, Floats], bool] = lambda H, x: (H @ x).min() > -1e-9,
    best: Callable[..., float] = max,
    order: float = 2,
) -> float:
    """Largest norm among the corners of T, from all pairs of rows; its arguments are where learners go wrong."""
    crossed = [np.cross(H[i], H[j]) for i, j in pairs or combinations(range(len(H)), 2)]
    corners = [x / scale(x) for x in crossed if abs(x.sum()) > 1e-12]
    return best((float(np.linalg.norm(x, order)) for x in corners if inside(H, x)), default=0.0)


class ModelError(Exercise):
    """The mean squared error of an estimate whose classes stand in another order."""

    hints = (
        "for K = 3 there are six orders of the classes: itertools.permutations(range(3))",
        "for each order p: sum of squares of prior - prior_hat[p] and of A - A_hat[:, :, p]",
        "the smallest of these sums, divided by M K + 1 = 13",
    )
    praise = "with one common order of the classes, renaming is not an error, but confusing classes is"

    def given(self) -> Given:
        rng = np.random.default_rng(4)
        A = (0.6 * np.eye(K) + 0.4 * rng.dirichlet(np.ones(K), (4, K))).transpose(0, 2, 1)
        A_hat = 0.8 * A + 0.2 * rng.dirichlet(np.ones(K), (4, K)).transpose(0, 2, 1)
        A_hat[3] = A_hat[3][:, [1, 0, 2]]  # the estimate is wrong: it says that annotator 4 swaps two classes
        names = [2, 0, 1]
        prior, prior_hat = np.array([0.45, 0.35, 0.2]), np.array([0.2, 0.65, 0.15])  # the two largest change places
        return {"prior": prior, "A": A, "prior_hat": prior_hat[names], "A_hat": A_hat[:, :, names]}

    def solve(self, prior: Floats, A: Floats, prior_hat: Floats, A_hat: Floats) -> list[Part]:
        orders = [list(p) for p in permutations(range(K))]
        of_prior = np.array([np.sum((prior_hat[p] - prior) ** 2) for p in orders])
        of_each = np.array([np.sum((A_hat[:, :, p] - A) ** 2, axis=(1, 2)) for p in orders])  # (6, M)
        total, terms = float((of_prior + of_each.sum(axis=1)).min()), len(A) * K + 1
        sizes = [np.abs(prior_hat[p] - prior).sum() + np.abs(A_hat[:, :, p] - A).sum() for p in orders]
        released = np.stack([A_m[:, A_m.argmax(axis=1)] for A_m in A_hat])
        wrong = _wrong_orders(orders, of_prior, of_each) | {
            "every annotator's columns were put by their largest entries; there is one order for all": (
                of_prior[0] + np.sum((released - A) ** 2)
            ),
            "the rows are labels, which have names; it is the columns, the classes, that change places": min(
                of_prior[k] + np.sum((A_hat[:, p] - A) ** 2) for k, p in enumerate(orders)
            ),
            "this is the sum of squares: divide by MK + 1": total * terms,
            "this is the mean over all entries; divide by MK + 1": total * terms / (A.size + K),
            "this was divided by M + 1; it is MK + 1": total * terms / (len(A) + 1),
            "this was divided by MK, without the one for the prior": total * terms / (terms - 1),
            "this is the square root of it": np.sqrt(total * terms),
            "these are absolute errors; square them": min(sizes),
        }
        mistakes = {says: value / terms for says, value in wrong.items()}
        return [Part("MSE", total / terms, mistakes, "a squared error", [NONNEGATIVE])]


def _wrong_orders(orders: list[list[int]], of_prior: Floats, of_each: Floats) -> dict[str, float]:
    """Sums of squares with the classes in a wrong order, from those of the prior (6,) and the annotators (6, M)."""
    sums, own = of_prior + of_each.sum(axis=1), of_each.min(axis=0).sum()
    best = int(sums.argmin())
    return {
        "latent classes have no names: try all orders of the classes of the estimate, keep the smallest": sums[0],
        "the prior has the same classes: put it in the same order as the columns": of_prior[0] + of_each[best].sum(),
        "this is the order the wrong way round, its inverse": sums[orders.index(np.argsort(orders[best]).tolist())],
        "every annotator got an order of their own; there is one for all, or bad annotators look good": (
            of_prior[best] + own
        ),
        "every annotator got an order of their own, and the prior another; there is one order for all": (
            of_prior.min() + own
        ),
        "the order was chosen by the prior alone; the confusion matrices know the classes better": (
            sums[of_prior.argmin()]
        ),
        "this is the mean over all orders; keep the smallest": sums.mean(),
        "the prior is missing in the sum": of_each[best].sum(),
    }


class Margin(Exercise):
    """The margins of four crowds, from the corners of their T, and which of them say that a perfect fit is right."""

    hints = (
        "the margin is one minus the norm of the longest corner of T that is no unit vector",
        "a corner that is only near a unit vector counts; it sticks out of the ball by little",
        "with a positive margin no second Q is left; at zero and below one may be, as for the hexagon",
    )
    praise = (
        "only a positive margin guarantees it: at zero the hexagon has a second factor, and below zero most crowds do"
    )

    def given(self) -> Given:
        rng = np.random.default_rng(own(23))
        kinds = (rng.uniform(0.72, 0.9), 0), (2 / 3, 0), (rng.uniform(0.54, 0.62), 0), (0.85, rng.uniform(0.02, 0.04))
        corners = [rng.permutation(_corners(*kind)) for kind in kinds]
        return {"corners": rng.permutation(corners).round(9) + 0.0}

    def solve(self, corners: Floats) -> list[Part]:
        norms = np.linalg.norm(corners, axis=2)
        distances = np.linalg.norm(corners[:, :, None] - np.eye(K), axis=3).min(axis=2)
        others = np.where(distances < 1e-6, 0, norms)  # no unit vectors
        farther = np.sort(np.where(np.argsort(np.argsort(distances)) < K, 0, norms))[:, -1]
        margins = 1 - others.max(axis=1)
        sure, zero = margins > 1e-6, np.abs(margins) < 1e-6
        nearly = (norms.max(axis=1) > 1 + 1e-6) & (farther < 1)
        of_margin = {
            "unit vectors are always corners of T, and their norm is one: leave them out": 1 - norms.max(axis=1),
            "leave out unit vectors only; where all entries are mixed, T has corners near them that are longer": (
                1 - farther
            ),
            "these are the norms of the longest corners; the margin is one minus that": others.max(axis=1),
            "these are squared norms: take the square root first": 1 - others.max(axis=1) ** 2,
            "this takes the shortest corner; the longest one decides": 1 - norms.min(axis=1),
            "this is the mean over corners; the longest one decides": 1 - norms.mean(axis=1),
        }
        of_promise = {
            "a margin of zero promises nothing: three corners on the ball can form a second Q, as for the hexagon": (
                sure | zero
            ),
            "a small negative margin is negative: the corner sticks out, and a small turn is left": sure | nearly,
            "only a positive margin promises; zero and a little below zero do not": sure | zero | nearly,
            "the other way round: 1 is for a margin that leaves no second factor": ~sure,
            "one of the margins is positive; there a perfect fit is right": np.zeros(len(sure)),
            "a perfect fit is possible for all four; right it is for sure only with a positive margin": (
                np.ones(len(sure))
            ),
        }
        return [
            Part("margins", margins, of_margin, "margins"),
            Part("promise", sure.astype(int), of_promise, "1 or 0 each"),
        ]


class Split(Exercise):
    """The margin of all rows of a crowd, and the best that its split into two groups leaves to the worse of them."""

    hints = (
        "np.vstack(blocks) stacks the blocks of a crowd or of a group; blocks[split] are those of the first group",
        "a split is as good as its worse group: the smaller of the margins of blocks[split] and blocks[~split]",
        "max(min(margin_of(blocks[split]), margin_of(blocks[~split])) for split in splits)",
    )
    praise = "one set of specialists is enough for all rows together; two groups would need two sets"

    def given(self) -> Given:
        rng, others = np.random.default_rng(12), 1 - np.eye(K)
        A = (0.5 * np.eye(K) + 0.5 * rng.dirichlet(np.ones(K), (6, K))).transpose(0, 2, 1)
        for m in range(K):  # annotator m gives label m to class m only
            A[m, m] *= 1 - others[m]
            A[m] /= np.where(others[m] > 0, A[m].sum(axis=0), 1)
        chosen = [{0, *more} for size in range(5) for more in combinations(range(1, 6), size)]
        splits = np.array([[m in first for m in range(6)] for first in chosen])
        return {"blocks": (A * np.sqrt([0.4, 0.35, 0.25])).round(3), "splits": splits}

    def solve(self, blocks: Floats, splits: Mask) -> list[Part]:
        both = np.array([[_margin(blocks[split]), _margin(blocks[~split])] for split in splits])
        worse = both.min(axis=1)
        of_all = {
            "this is r, the longest corner; the exercise asks for the margin": 1.0,
            "this is the margin of the first annotator alone; stack the rows of all": _margin(blocks[:1]),
            "the blocks were averaged; stack them, one below the other": _margin(blocks.mean(axis=0)),
            "the blocks were transposed; the rows of H are those of the blocks": _margin(blocks.transpose(0, 2, 1)),
        }
        of_best = {
            "this is the better group of a split; both have to meet the condition, so take the worse": both.max(),
            "this is the worst split; the exercise asks for the best": worse.min(),
            "this is the mean over the splits; the exercise asks for the best of them": worse.mean(),
            "this is the mean of both groups; a split is as good as its worse group": both.mean(axis=1).max(),
            "this is the first split alone; try all": worse[0],
            "this is the number of the best split; the exercise asks for its margin": worse.argmax(),
        }
        return [Part("all", _margin(blocks), of_all, "a margin"), Part("best split", worse.max(), of_best, "a margin")]


def _margin(blocks: Floats) -> float:
    return scattering_certificate(blocks.reshape(-1, K)).margin


class Fool(FunctionExercise):
    """A factor that is certainly not unique, and certified as soon as its small entries count as zero."""

    hints = (
        "begin with a factor that is certified, such as two annotators who never err: np.vstack([np.eye(3)] * 2)",
        "fill its empty cells, so that no entry is zero; scaled to sum to one, rows have to come below the level there",
        "level / 2 in every empty cell is below the level, and above a quarter of it",
    )
    praise = "at every level, some factor that is not unique passes: the verdict is about the modified matrix"

    def given(self) -> Given:
        return {"level": 0.05}

    def cases(self) -> list[Given]:
        rng = np.random.default_rng(own(52))
        return [{"level": float(rng.uniform(low, high))} for low, high in ((0.008, 0.012), (0.1, 0.14))]

    def solve(self, level: float) -> list[Part]:
        return [Part("H", _twice(np.eye(K)) + level / 2, {}, "entries", [NONNEGATIVE])]

    def arranged(self, parts: list[Part], result: list[Floats]) -> list[Floats]:
        """Every factor that fools is right."""
        right = np.asarray(parts[0].answer)
        return result if any(_not_fooled(result[0], 2 * right[0, 1])) else [right]

    def properties(self, case: Given, result: list[Floats]) -> Iterator[str]:
        yield from _not_fooled(result[0], case["level"])

    wrong: ClassVar = {
        "this factor is unique, and the certificate right: fill the empty cells": lambda level: _twice(np.eye(K)),
        "these small entries are too large: scaled, they have to be below the level": (
            lambda level: _twice(np.eye(K)) + 2 * level
        ),
        "the small entries have to follow the level: below it, and at least a quarter of it": (
            lambda level: _twice(np.eye(K)) + 0.025
        ),
        "all rows lie in the middle: without the small entries, rows have to reach the corners": (
            lambda level: np.ones((2 * K, K))
        ),
        "the six rows at 2 : 1 have a second factor: move them out, such as to 3 : 1": lambda level: HEXAGON + level,
    }


def _twice(A: Floats) -> Floats:
    return np.vstack([A, A])


def _not_fooled(H: Floats, level: float) -> Iterator[str]:
    """Say why a factor does not fool the certificate at a level."""
    if H.min() <= 0:
        yield "H has an entry of zero or less: then its factor can be unique, and the certificate right"
        return
    rows = H / H.sum(axis=1, keepdims=True)
    if rows.min() < level / 4:
        yield "an entry of a scaled row is below a quarter of the level"
    elif not scattering_certificate(np.where(rows < level, 0.0, rows)).holds:
        yield f"the certificate does not hold when entries below {level:.3f} count as zero"


def _corners(right: float, mixed: float) -> Floats:
    """The six corners of T of a crowd that takes a class for one other, a share of whose labels is mixed evenly."""
    sides = np.where(HEXAGON == 2, right, np.where(HEXAGON == 1, 1 - right, 0.0))
    rows = (1 - mixed) * sides + mixed / K
    crossed = np.cross(rows, np.roll(rows, -1, axis=0))  # of neighbours on the hull
    return np.asarray(crossed / crossed.sum(axis=1, keepdims=True))


EXERCISES = {
    "specialists": Specialists(),
    "longest_corner": LongestCorner(),
    "split": Split(),
    "margin": Margin(),
    "model_error": ModelError(),
    "fool": Fool(),
}


OBJECTIVES = (("specialists",), ("longest_corner",), ("margin",))  # the exercises of each, in their order
LAB = ("split", "model_error", "fool")

"""The exercises of notebook 02, on uniqueness and on the error of a model whose classes are known only up to order.

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
    """The distance of the nearest row from each corner."""

    hints = (
        "scale each row of H to sum to one: these are the dots in the triangle",
        "for class k, subtract the k-th unit vector from every row, take norms, and keep the smallest",
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
            "you took distances of the raw rows; first scale each row to sum to one": nearest(H),
            "you scaled the columns to sum to one; scale the rows": nearest(H / H.sum(axis=0)),
            "you scaled the rows to length one; scale them to sum to one, onto the plane of the triangle": (
                nearest(H / np.linalg.norm(H, axis=1, keepdims=True))
            ),
            "these are squared distances; take the square root": nearest(rows) ** 2,
            "these are sums of absolute differences; take Euclidean norms": nearest(rows, order=1),
            "this is one minus the largest entry in column k; take the distance of a whole row from e_k": (
                1 - rows.max(axis=0)
            ),
            "these are the distances of the farthest rows; give those of the nearest": apart.max(axis=0),
            "these are mean distances over all rows; give the distance of the nearest row": apart.mean(axis=0),
            "these are the indices of the nearest rows; give their distances": apart.argmin(axis=0),
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
    """The largest norm in T, for any factor with three columns: condition 1 checked by hand."""

    hints = (
        "a corner x satisfies h_i'x = 0 for two rows: x = np.cross(H[i], H[j]) is orthogonal to both; try all pairs",
        "divide x by its sum; it lies in T if every entry of H @ x is at least zero, up to rounding: say -1e-9",
        "for i, j in itertools.combinations(range(len(H)), 2): ...; skip x if it sums to zero (parallel rows)",
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
            yield "r is too small, so a corner of T was missed; rounding can turn a zero in H @ x into -1e-17"

    wrong: ClassVar = {
        "some of your x lie outside T; keep an x only if no entry of H @ x is negative": (
            lambda H: top(H, inside=lambda H, x: True)
        ),
        "you required x to be nonnegative; require it of H @ x, since x itself may have negative entries": (
            lambda H: top(H, inside=lambda H, x: x.min() > -1e-9)
        ),
        "your x does not sum to one; divide it by its sum": lambda H: top(H, scale=lambda x: 1.0),
        "you missed corners, because np.cross can point the other way; divide x by its sum first, then test H @ x": (
            lambda H: top(H, [p for p in combinations(range(len(H)), 2) if (H @ np.cross(*H[list(p)])).min() > -1e-9])
        ),
        "you scaled x to length one; divide it by its sum": lambda H: top(H, scale=lambda x: float(np.linalg.norm(x))),
        "this is the smallest norm of a corner; r is the largest": lambda H: top(H, best=min),
        "this is the largest entry of a corner; r is the Euclidean norm of a corner": lambda H: top(H, order=np.inf),
        "this is a sum of absolute entries; r is the Euclidean norm, the root of the sum of squares": (
            lambda H: top(H, order=1)
        ),
        "this is a squared norm; take the square root": lambda H: top(H) ** 2,
        "this is the margin 1 - r; return r itself": lambda H: 1 - top(H),
        "you tried only consecutive rows; try all pairs of rows": (
            lambda H: top(H, pairs=[(i, i + 1) for i in range(len(H) - 1)])
        ),
        "this is the largest norm of a row of H; r is the largest norm of a corner of T": (
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
    """Largest norm among the corners of T, from all pairs of rows; the arguments introduce typical mistakes."""
    crossed = [np.cross(H[i], H[j]) for i, j in pairs or combinations(range(len(H)), 2)]
    corners = [x / scale(x) for x in crossed if abs(x.sum()) > 1e-12]
    return best((float(np.linalg.norm(x, order)) for x in corners if inside(H, x)), default=0.0)


class ModelError(Exercise):
    """The mean squared error of an estimate whose classes are in a different order."""

    hints = (
        "for K = 3 there are six orders of the classes: itertools.permutations(range(3))",
        "for each order p, add the squares of all entries of prior - prior_hat[p] and of A - A_hat[:, :, p]",
        "take the smallest of the six sums and divide it by M K + 1 = 13",
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
            "you ordered each annotator's columns by their largest entries; use one order of the classes for all": (
                of_prior[0] + np.sum((released - A) ** 2)
            ),
            "you reordered the rows, the labels, which have fixed names; reorder the columns, the classes": min(
                of_prior[k] + np.sum((A_hat[:, p] - A) ** 2) for k, p in enumerate(orders)
            ),
            "this is the sum of squares; divide it by M K + 1": total * terms,
            "you divided by the number of entries; divide by the number of columns, M K + 1": total
            * terms
            / (A.size + K),
            "you divided by M + 1; divide by M K + 1": total * terms / (len(A) + 1),
            "you divided by M K; the prior is one more column, so divide by M K + 1": total * terms / (terms - 1),
            "this is the square root of the mean squared error; do not take the root": np.sqrt(total * terms),
            "you added absolute errors; add their squares": min(sizes),
        }
        mistakes = {says: value / terms for says, value in wrong.items()}
        return [Part("MSE", total / terms, mistakes, "a squared error", [NONNEGATIVE])]


def _wrong_orders(orders: list[list[int]], of_prior: Floats, of_each: Floats) -> dict[str, float]:
    """Sums of squares with the classes in a wrong order, from those of the prior (6,) and the annotators (6, M)."""
    sums, own = of_prior + of_each.sum(axis=1), of_each.min(axis=0).sum()
    best = int(sums.argmin())
    return {
        "you kept the classes in the given order, which is arbitrary; try all orders, keep the smallest error": sums[0],
        "you reordered only the columns of A_hat; put prior_hat in the same order": of_prior[0] + of_each[best].sum(),
        "you used the inverse of the right order; index the estimate by p: prior_hat[p], A_hat[:, :, p]": (
            sums[orders.index(np.argsort(orders[best]).tolist())]
        ),
        "you chose an order for each annotator, which hides real confusion; use one order for all": (
            of_prior[best] + own
        ),
        "you chose an order for each annotator and for the prior; use one order for all": (of_prior.min() + own),
        "you chose the order by the prior alone; choose it by the total error of prior and matrices": (
            sums[of_prior.argmin()]
        ),
        "this is the mean error over all orders; keep the smallest": sums.mean(),
        "the prior is missing from the sum; add the squares of prior - prior_hat[p]": of_each[best].sum(),
    }


class Margin(Exercise):
    """The margins of four crowds, from the corners of their T, and which of them guarantee a unique factor."""

    hints = (
        "the margin is one minus the largest norm of the corners of T that are not unit vectors",
        "a corner that is only close to a unit vector counts, even if its norm is only just above one",
        "a positive margin rules out a second Q; at zero or below, a second Q may exist, as for the hexagon",
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
            "you included the unit vectors, which are always corners of T; leave them out": 1 - norms.max(axis=1),
            "you also left out corners that are only close to unit vectors; leave out exact unit vectors only": (
                1 - farther
            ),
            "these are the largest norms; the margin is one minus the largest norm": others.max(axis=1),
            "these are one minus squared norms; use the norms themselves": (1 - others.max(axis=1) ** 2),
            "you used the smallest norm of a corner; use the largest": 1 - norms.min(axis=1),
            "you used the mean norm of the corners; use the largest": 1 - norms.mean(axis=1),
        }
        of_promise = {
            "a margin of zero guarantees nothing: three corners of norm one can form a second Q, as for the hexagon": (
                sure | zero
            ),
            "a slightly negative margin guarantees nothing: the factor can still turn a little": sure | nearly,
            "only a positive margin is a guarantee; zero or slightly below zero is not": sure | zero | nearly,
            "this is the wrong way round; give 1 for a crowd whose margin rules out a second factor": ~sure,
            "one of the margins is positive, and for that crowd a perfect fit is right; give it a 1": np.zeros(
                len(sure)
            ),
            "all four can be fitted perfectly, but only a positive margin guarantees that the fit is right": (
                np.ones(len(sure))
            ),
        }
        return [
            Part("margins", margins, of_margin, "margins"),
            Part("promise", sure.astype(int), of_promise, "1 or 0 each"),
        ]


class Split(Exercise):
    """The margin of all rows of a crowd, and the largest margin of the worse group over all splits into two."""

    hints = (
        "np.vstack(blocks) stacks the blocks of a crowd or group; blocks[split] are the blocks of the first group",
        "a split is only as good as its worse group: the smaller of the margins of blocks[split] and blocks[~split]",
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
            "this is r, the largest norm in T; give the margin": 1.0,
            "this is the margin of the first annotator alone; stack the blocks of all annotators": _margin(blocks[:1]),
            "you averaged the blocks; stack them, one below the other": _margin(blocks.mean(axis=0)),
            "you transposed the blocks; stack them as they are": _margin(blocks.transpose(0, 2, 1)),
        }
        of_best = {
            "this is the margin of the better group; both groups count, so take the smaller margin": both.max(),
            "this is the margin of the worst split; give that of the best": worse.min(),
            "this is the mean over the splits; give the margin of the best split": worse.mean(),
            "you averaged the two groups; a split is only as good as its worse group": both.mean(axis=1).max(),
            "this is the margin of the first split alone; try all splits": worse[0],
            "this is the index of the best split; give its margin": worse.argmax(),
        }
        return [Part("all", _margin(blocks), of_all, "a margin"), Part("best split", worse.max(), of_best, "a margin")]


def _margin(blocks: Floats) -> float:
    return scattering_certificate(blocks.reshape(-1, K)).margin


class Fool(FunctionExercise):
    """A factor that is certainly not unique, yet is certified once its small entries count as zero."""

    hints = (
        "begin with a factor that is certified, such as two annotators who never err: np.vstack([np.eye(3)] * 2)",
        "replace its zeros by small positive entries, which must be below the level once the rows sum to one",
        "level / 2 in place of every zero is below the level and above a quarter of it",
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
        "this factor is unique, so the certificate is right; replace the zeros by small positive entries": (
            lambda level: _twice(np.eye(K))
        ),
        "the small entries are too large; after scaling rows to sum to one, they must be below the level": (
            lambda level: _twice(np.eye(K)) + 2 * level
        ),
        "the small entries must depend on the level: below it, and at least a quarter of it": (
            lambda level: _twice(np.eye(K)) + 0.025
        ),
        "all rows lie in the middle; without their small entries, some rows must reach each corner": (
            lambda level: np.ones((2 * K, K))
        ),
        "rows in the ratio 2 : 1 are not certified, as for the hexagon; move them out, for example to 3 : 1": (
            lambda level: HEXAGON + level
        ),
    }


def _twice(A: Floats) -> Floats:
    return np.vstack([A, A])


def _not_fooled(H: Floats, level: float) -> Iterator[str]:
    """Say why a factor does not fool the certificate at a level."""
    if H.min() <= 0:
        yield "H has an entry that is zero or negative, so it may be unique; make every entry positive"
        return
    rows = H / H.sum(axis=1, keepdims=True)
    if rows.min() < level / 4:
        yield "after scaling rows to sum to one, an entry is below a quarter of the level; make it larger"
    elif not scattering_certificate(np.where(rows < level, 0.0, rows)).holds:
        yield f"the certificate fails when entries below {level:.3f} count as zero; start from a certified factor"


def _corners(right: float, mixed: float) -> Floats:
    """Six corners of T for a crowd that confuses each class with one other; a fraction `mixed` of labels is random."""
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

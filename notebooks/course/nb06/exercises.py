"""The exercises of notebook 06: the error of utilities, pull of one comparison and of all, flat directions, choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from cofactor.comparisons import expected_error, utility_error
from cofactor.comparisons.metrics import mean_information
from cofactor.core.types import Floats, Ints
from course.grading import Exercise, FunctionExercise, Given, Law, Part, told_apart
from course.nb06.judging import Failures, Personal, Trusted
from course.seeds import drawn, own


class Pull(Exercise):
    """The gradient of one comparison's loss in the features of the item that was chosen."""

    hints = (
        "z = U_u @ (V_i - V_j), and h = g(z) - w with g = scipy.special.expit",
        "z has the slope U_u in V_i, and -U_u in V_j",
        "h * U_u",
    )
    praise = "the chosen item moves towards the user, further if it was less expected; the other moves away as far"

    def given(self) -> Given:
        def make(rng: np.random.Generator) -> Given:
            U_u, V_i, V_j = rng.normal(size=(3, 2)).round(1)
            return {"U_u": U_u, "V_i": V_i, "V_j": V_j, "w": 1.0}

        return drawn(61, make, lambda made: told_apart(self.solve(**made)))

    def solve(self, U_u: Floats, V_i: Floats, V_j: Floats, w: float) -> list[Part]:
        z = U_u @ (V_i - V_j)
        h = expit(z) - w
        mistakes = {
            "this is the way the item moves; the gradient points the other way: h = g(z) - w": -h * U_u,
            "the outcome is missing: h = g(z) - w": (h + w) * U_u,
            "this is half of it: the loss has no factor 1/2 whose slope would need one": h * U_u / 2,
            "z is a difference of utilities, no chance: h = g(z) - w": (z - w) * U_u,
            "this is the gradient in U_u; in V_i, z has the slope U_u": h * (V_i - V_j),
            "the other item is missing: z = <U_u, V_i - V_j>": (expit(U_u @ V_i) - w) * U_u,
            "this is the slope of the squared gap; of the log-likelihood, g'(z) cancels": h
            * expit(z)
            * expit(-z)
            * U_u,
        }
        return [Part("gradient in V_i", h * U_u, mistakes)]


NO_GAIN = Law(
    "its rows do not add up to zero; what a comparison adds to one item, it takes from the other",
    lambda a: bool(np.abs(a.sum(axis=0)).max() <= 2e-3 * np.abs(a).max()),
)


def _unlike(z: Floats, w: Floats) -> Floats:
    return np.asarray(expit(z) - w)


def _mean_of(slope: Callable[[Floats, Floats], Floats] = _unlike, right: float = -1.0, once: bool = False) -> Any:
    """A gradient with this slope h(z, w), with this weight of V_j, or with only the last comparison of every index."""

    def gradient(U: Floats, V: Floats, u: Ints, i: Ints, j: Ints, w: Floats) -> tuple[Floats, Floats]:
        h, GU, GV = slope(np.sum(U[u] * (V[i] - V[j]), axis=1), w) / len(w), np.zeros_like(U), np.zeros_like(V)
        for G, at, change in ((GU, u, V[i] - V[j]), (GV, i, U[u]), (GV, j, right * U[u])):
            before = G.copy() if once else G
            for k in range(len(w)):
                G[at[k]] = (before if once else G)[at[k]] + h[k] * change[k]
        return GU, GV

    return gradient


class ComparisonGradient(FunctionExercise):
    """The gradient of the mean loss of all comparisons, in the features of users and of items."""

    hints = (
        "one comparison first: with h = g(z) - w, row u gets h (V_i - V_j), row i gets h U_u, and row j gets -h U_u",
        "for k in range(len(w)): GU[u[k]] += h[k] * (V[i[k]] - V[j[k]]), and so on; divide by len(w) at the end",
        "without a loop: np.add.at(GU, u, h[:, None] * (V[i] - V[j])), since GU[u] += ... keeps one of several only",
    )
    praise = "a descent needs only these gradients; users and items without comparisons have zero gradients"
    wrong: ClassVar = {
        "this is the sum; the loss is a mean over comparisons": _mean_of(lambda z, w: len(w) * _unlike(z, w)),
        "this is the way downhill; the gradient points uphill: h = g(z) - w": _mean_of(lambda z, w: w - expit(z)),
        "z is a difference of utilities, no chance: h = g(z) - w": _mean_of(lambda z, w: z - w),
        "the outcomes are missing: h = g(z) - w": _mean_of(lambda z, w: expit(z)),
        "this is half of it: the loss is a mean over m comparisons, not over their 2 m items": _mean_of(
            lambda z, w: _unlike(z, w) / 2
        ),
        "the gradient in V is still zero: V_i gets h U_u, and V_j gets -h U_u": lambda *given: (
            _mean_of()(*given)[0],
            np.zeros_like(given[1]),
        ),
        "the gradient in U is still zero: U_u gets h (V_i - V_j)": lambda *given: (
            np.zeros_like(given[0]),
            _mean_of()(*given)[1],
        ),
        "V_j moves, too: it gets minus what V_i gets": _mean_of(right=0.0),
        "V_j gets minus what V_i gets, not the same": _mean_of(right=1.0),
        "of several comparisons of a user only the last counts: GU[u] += ... adds once, np.add.at all": _mean_of(
            once=True
        ),
        "this is the slope of half the squared gap; of the log-likelihood, g'(z) cancels": _mean_of(
            lambda z, w: _unlike(z, w) * expit(z) * expit(-z)
        ),
    }

    def given(self) -> Given:
        return self._made(3, 4, 2, 6, seed=5)

    def cases(self) -> list[Given]:
        again = self._made(2, 3, 2, 3, seed=own(1))
        again |= {name: np.repeat(again[name][:1], 3) for name in "uij"}  # one question, asked three times
        return [
            self._made(6, 9, 3, 40, own(2)),
            self._made(9, 12, 1, 5, own(3)),
            self._made(2, 3, 4, 1, own(4)),
            again,
        ]

    def _made(self, n_users: int, n_items: int, rank: int, m: int, seed: int) -> Given:
        rng = np.random.default_rng(seed)
        i, apart = rng.integers(n_items, size=m), rng.integers(1, n_items, size=m)
        U, V = (rng.standard_normal((rows, rank)).round(1) for rows in (n_users, n_items))
        asked = {"u": rng.integers(n_users, size=m), "i": i, "j": (i + apart) % n_items}
        return {"U": U, "V": V, **asked, "w": rng.random(m).round(1)}

    def solve(self, **given: Any) -> list[Part]:
        GU, GV = _mean_of()(**given)
        return [Part("gradient in U", GU, {}), Part("gradient in V", GV, {}, laws=[NO_GAIN])]

    def properties(self, case: Given, result: Sequence[Floats]) -> Iterator[str]:
        """Whether a short step against the gradient makes the loss smaller."""
        U, V, u, i, j, w = case.values()
        steps = ((U - t * result[0], V - t * result[1]) for t in (0.0, 1e-3))
        zs = [np.sum(A[u] * (B[i] - B[j]), axis=1) for A, B in steps]
        before, after = (np.mean(np.logaddexp(0, z) - w * z) for z in zs)
        if after > before:
            yield "a short step against this gradient makes the loss larger"


class Error(Exercise):
    """The relative error of utilities, each user's mean taken off."""

    hints = (
        "compare utilities, not features: X = U @ V.T",
        "take off what no comparison tells: X - X.mean(axis=1, keepdims=True)",
        "np.linalg.norm(found - truth) / np.linalg.norm(truth), of the centred ones",
    )
    praise = "rotated by 90 degrees and shifted, the features look wrong, but the utilities are nearly right"

    def given(self) -> Given:
        def make(rng: np.random.Generator) -> Given:
            true_U, true_V = rng.standard_normal((5, 2)).round(1), rng.standard_normal((7, 2)).round(1)
            U = (true_U @ [[0.0, 1.0], [-1.0, 0.0]]).round(1)
            V = (true_V @ [[0.0, 1.1], [-1.0, 0.0]] + [2.0, -1.0]).round(1)
            return {"U": U, "V": V, "true_U": true_U, "true_V": true_V}

        return drawn(62, make, lambda made: told_apart(self.solve(**made)))

    def solve(self, U: Floats, V: Floats, true_U: Floats, true_V: Floats) -> list[Part]:
        found, truth = U @ V.T, true_U @ true_V.T
        absolute = float(np.linalg.norm(found - truth - (found - truth).mean(axis=1, keepdims=True)))
        uncentred = _relative(found, truth)
        over_users = _relative(found - found.mean(axis=0), truth - truth.mean(axis=0))
        of_found = absolute / float(np.linalg.norm(found - found.mean(axis=1, keepdims=True)))
        features = _relative(np.vstack([U, V]), np.vstack([true_U, true_V]))
        mistakes = {
            "a number per user is counted as error that no comparison can tell: take every user's mean off": uncentred,
            "this takes the mean over users off; utilities of one user are known up to a shift": over_users,
            "this is relative to what was found; divide by the norm of the true utilities": of_found,
            "the truth must be centred, too, before its norm is taken": absolute / float(np.linalg.norm(truth)),
            "features are known up to a change of basis: compare the products U V'": features,
            "features of items are known up to a change of basis and a shift: compare U V'": _relative(V, true_V),
            "this takes one mean over all utilities off; each user has a mean of their own": _relative(
                found - found.mean(), truth - truth.mean()
            ),
            "this is the error itself; divide by the norm of the centred true utilities": absolute,
            "this is the square of the relative error: take the root": utility_error(U, V, true_U, true_V) ** 2,
        }
        return [Part("relative error", utility_error(U, V, true_U, true_V), mistakes, "share")]


def _relative(found: Floats, truth: Floats) -> float:
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


class Choices(Exercise):
    """The error predicted for so many choices, and how many times more divide it by three."""

    hints = (
        "dof = (n_users + n_items - 1) * rank - rank**2",
        "error = np.sqrt(dof / (2 * m * information)) / spread",
        "a third of the error: 1/sqrt(m) must fall to a third",
    )
    praise = "a third of the error takes nine times as many choices, and one more digit a hundred times as many"

    def given(self) -> Given:
        def make(rng: np.random.Generator) -> Given:
            sizes = {"n_users": 10 * rng.integers(2, 5), "n_items": rng.integers(10, 20), "rank": rng.integers(3, 6)}
            spread = float(rng.choice([0.6, 0.8, 1.2]))
            asked = {"spread": spread, "m": 1000 * int(rng.integers(4, 9)), "information": mean_information(spread)}
            return (
                {name: int(size) for name, size in sizes.items()}
                | asked
                | {"information": round(asked["information"], 4)}
            )

        return drawn(63, make, lambda made: told_apart(self.solve(**made)))

    def solve(self, n_users: int, n_items: int, rank: int, spread: float, m: int, information: float) -> list[Part]:
        dof = (n_users + n_items - 1) * rank - rank**2
        error = expected_error(m, n_users, n_items, rank, spread)
        counted = {
            "dof is not the number of utilities: rank r has (n1 + n2 - 1) r - r^2 numbers": n_users * n_items,
            "dof: a shift of all items goes unnoticed, which takes r more numbers away": dof + rank,
            "dof: a change of basis goes unnoticed, which takes r^2 more numbers away": dof + rank**2,
            "dof: take the shift, r, and the change of basis, r^2, away": dof + rank + rank**2,
        }
        mistakes = {says: error * np.sqrt(other / dof) for says, other in counted.items()} | {
            "a factor 2 is missing: z is a difference of two utilities": np.sqrt(2) * error,
            "1/4 is what a choice between equals tells; the mean, `information`, is less": 2 * error * information**0.5,
            "this is the square of the error: take the root": error**2,
            "this is a mean square: take the square root first": error**2 * spread,
            "this is the error in units of utility; relative means divided by their spread": error * spread,
        }
        times = {
            "the error falls with the square root of m": 3.0,
            "the other way round: the error is 1/sqrt(m)": np.sqrt(3),
            "this is the share of choices that triples the error": 1 / 9,
            "the exercise asks how many times as many choices, not how many": 9.0 * m,
            "the exercise asks how many times as many, not how many more": 8.0,
        }
        return [
            Part("error", error, mistakes, "relative"),
            Part("times", 9.0, times, "times as many choices"),
        ]


class Flat(Exercise):
    """How many directions at the truth are flat: those that no comparison notices, and those that these do not."""

    hints = (
        "no comparison notices an invertible r x r matrix, nor one vector that is added to all items",
        "one row of A for each comparison: V_i - V_j at the place of u, U_u at that of i, -U_u at that of j; a "
        "direction is flat if all rows miss it",
        "r**2 + r; and A.shape[1] - np.linalg.matrix_rank(A), where A is (m, (n_1 + n_2) r)",
    )
    praise = "each user who is never asked and each item that is never shown leaves r flat directions"

    def given(self) -> Given:
        rng = np.random.default_rng(own(64))
        rank, n_users, n_items = int(rng.integers(3, 5)), 8, 9
        U, V = (rng.standard_normal((rows, rank)).round(2) for rows in (n_users, n_items))
        asked, shown = rng.permutation(n_users)[2:], rng.permutation(n_items)[2:]
        triples = [(u, i, j) for u in asked for i, j in combinations(shown, 2)]
        u, i, j = rng.permutation(np.array(triples)).T
        return {"U": U, "V": V, "u": u, "i": i, "j": j}

    def solve(self, U: Floats, V: Floats, u: Ints, i: Ints, j: Ints) -> list[Part]:
        (n_users, r), n_items = U.shape, len(V)
        A = np.zeros((len(u), n_users + n_items, r))
        k = np.arange(len(u))
        A[k, u], A[k, n_users + i], A[k, n_users + j] = V[i] - V[j], U[u], -U[u]
        rank = int(np.linalg.matrix_rank(A.reshape(len(u), -1)))
        always, left_out = r * r + r, n_users - len(np.unique(u)) + n_items - len(np.unique([i, j]))
        of_all = {
            "one and the same vector can be added to all items, too: r more": r * r,
            "any invertible matrix goes unnoticed, not only a rotation: r^2 in the place of r (r - 1) / 2": (
                r * (r - 1) // 2 + r
            ),
            "these are the shifts of items alone; invertible matrices go unnoticed, too": r,
            "a vector added to all users is noticed: all users like the same items more": always + r,
            "this is what comparisons can tell, dof; the exercise asks what they cannot": (n_users + n_items) * r
            - always,
        }
        of_these = {
            "two users were never asked and two items never shown: nothing holds their features": always,
            "these are two that were left out; there are two users and two items": always + 2 * r,
            "each user or item that was left out has r features, not one": always + left_out,
            "this is the rank of A; flat is what its rows leave of all (n_1 + n_2) r": rank,
            "this counts combinations of comparisons, the rows; directions are columns: A.shape[1] less the rank": (
                len(u) - rank
            ),
        }
        return [
            Part("always", always, of_all, "directions"),
            Part("here", (n_users + n_items) * r - rank, of_these, "directions"),
        ]


EXERCISES = {
    "error": Error(),
    "pull": Pull(),
    "comparison_gradient": ComparisonGradient(),
    "flat": Flat(),
    "trusted": Trusted(),
    "choices": Choices(),
    "personal": Personal(),
    "failures": Failures(),
}


OBJECTIVES = (("error",), ("pull",), ("choices",))  # of the notebook, in its order: the exercises of each
LAB = ("comparison_gradient", "flat", "trusted", "personal", "failures")  # exercises of the lab

"""The exercises of notebook 06: the error of utilities, gradients of one and of all comparisons, flat directions."""

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
    """The gradient of one comparison's loss with respect to the features of the chosen item."""

    hints = (
        "z = U_u @ (V_i - V_j), and h = g(z) - w with g = scipy.special.expit",
        "the gradient of z is U_u with respect to V_i, and -U_u with respect to V_j",
        "by the chain rule, the gradient is h * U_u",
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
            "this is the downhill direction, minus the gradient; use h = g(z) - w": -h * U_u,
            "the outcome is missing; use h = g(z) - w": (h + w) * U_u,
            "this is half the gradient; the loss has no factor of 1/2": h * U_u / 2,
            "you used z - w, but z is a utility difference, not a probability; use h = g(z) - w": (z - w) * U_u,
            "this is the gradient with respect to U_u; with respect to V_i, it is h * U_u": h * (V_i - V_j),
            "the other item is missing; z = <U_u, V_i - V_j>": (expit(U_u @ V_i) - w) * U_u,
            "this is the gradient of half the squared gap; for the log-likelihood, the factor g'(z) cancels": (
                h * expit(z) * expit(-z) * U_u
            ),
        }
        return [Part("gradient in V_i", h * U_u, mistakes)]


NO_GAIN = Law(
    "its rows do not add up to zero; a comparison contributes opposite terms to its two items",
    lambda a: bool(np.abs(a.sum(axis=0)).max() <= 2e-3 * np.abs(a).max()),
)


def _unlike(z: Floats, w: Floats) -> Floats:
    return np.asarray(expit(z) - w)


def _mean_of(slope: Callable[[Floats, Floats], Floats] = _unlike, right: float = -1.0, once: bool = False) -> Any:
    """Return a gradient; slope h(z, w), weight `right` of V_j and `once` introduce typical mistakes."""

    def gradient(U: Floats, V: Floats, u: Ints, i: Ints, j: Ints, w: Floats) -> tuple[Floats, Floats]:
        h, GU, GV = slope(np.sum(U[u] * (V[i] - V[j]), axis=1), w) / len(w), np.zeros_like(U), np.zeros_like(V)
        for G, at, change in ((GU, u, V[i] - V[j]), (GV, i, U[u]), (GV, j, right * U[u])):
            before = G.copy() if once else G
            for k in range(len(w)):
                G[at[k]] = (before if once else G)[at[k]] + h[k] * change[k]
        return GU, GV

    return gradient


class ComparisonGradient(FunctionExercise):
    """The gradient of the mean loss of all comparisons, with respect to the features of users and of items."""

    hints = (
        "with h = g(z) - w, one comparison adds h (V_i - V_j) to row u of GU, h U_u to row i of GV, -h U_u to row j",
        "for k in range(len(w)): GU[u[k]] += h[k] * (V[i[k]] - V[j[k]]), and likewise GV; divide by len(w) at the end",
        "without a loop: np.add.at(GU, u, h[:, None] * (V[i] - V[j])); GU[u] += ... adds only once to a repeated row",
    )
    praise = "a descent needs only these gradients; users and items without comparisons have zero gradients"
    wrong: ClassVar = {
        "these are sums over the comparisons; the loss is a mean, so divide by len(w)": _mean_of(
            lambda z, w: len(w) * _unlike(z, w)
        ),
        "this is the downhill direction, minus the gradient; use h = g(z) - w": _mean_of(lambda z, w: w - expit(z)),
        "you used z - w, but z is a utility difference, not a probability; use h = g(z) - w": _mean_of(
            lambda z, w: z - w
        ),
        "the outcomes are missing; use h = g(z) - w": _mean_of(lambda z, w: expit(z)),
        "this is half the gradient; divide by the number of comparisons, m, not by 2 m": _mean_of(
            lambda z, w: _unlike(z, w) / 2
        ),
        "the gradient in V is still zero; add h U_u to row i and -h U_u to row j": lambda *given: (
            _mean_of()(*given)[0],
            np.zeros_like(given[1]),
        ),
        "the gradient in U is still zero; add h (V_i - V_j) to row u": lambda *given: (
            np.zeros_like(given[0]),
            _mean_of()(*given)[1],
        ),
        "the terms of V_j are missing; add -h U_u to row j": _mean_of(right=0.0),
        "you added h U_u to row j; add -h U_u, the opposite of what row i gets": _mean_of(right=1.0),
        "GU[u] += ... keeps only the last comparison of a repeated user or item; use np.add.at": _mean_of(once=True),
        "this is the gradient of half the squared gap; for the log-likelihood, the factor g'(z) cancels": _mean_of(
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
        """Report it if a short step against the gradient does not reduce the loss."""
        U, V, u, i, j, w = case.values()
        steps = ((U - t * result[0], V - t * result[1]) for t in (0.0, 1e-3))
        zs = [np.sum(A[u] * (B[i] - B[j]), axis=1) for A, B in steps]
        before, after = (np.mean(np.logaddexp(0, z) - w * z) for z in zs)
        if after > before:
            yield "a short step against this gradient increases the loss; check the signs"


class Error(Exercise):
    """The relative error of utilities, with each user's mean subtracted."""

    hints = (
        "compare utilities, not features: X = U @ V.T",
        "comparisons cannot reveal a user's mean, so subtract it: X - X.mean(axis=1, keepdims=True)",
        "np.linalg.norm(found - truth) / np.linalg.norm(truth), where both are centred",
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
            "you did not subtract each user's mean, which no comparison can reveal": uncentred,
            "you subtracted the mean over users, of each item; subtract the mean over items, of each user": over_users,
            "you divided by the norm of the estimate; divide by the norm of the centred true utilities": of_found,
            "you did not centre the truth in the denominator; subtract each user's mean before taking its norm": (
                absolute / float(np.linalg.norm(truth))
            ),
            "you compared features, which are known only up to a change of basis; compare the utilities U V'": features,
            "you compared item features, which are known only up to a change of basis and a shift; compare U V'": (
                _relative(V, true_V)
            ),
            "you subtracted one mean of all utilities; subtract each user's own mean": _relative(
                found - found.mean(), truth - truth.mean()
            ),
            "this is the absolute error; divide by the norm of the centred true utilities": absolute,
            "this is the square of the relative error; take the square root": (
                utility_error(U, V, true_U, true_V) ** 2
            ),
        }
        return [Part("relative error", utility_error(U, V, true_U, true_V), mistakes, "a fraction")]


def _relative(found: Floats, truth: Floats) -> float:
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


class Choices(Exercise):
    """The error predicted for a number of choices, and how many times as many divide it by three."""

    hints = (
        "dof = (n_users + n_items - 1) * rank - rank**2",
        "error = np.sqrt(dof / (2 * m * information)) / spread",
        "the error falls like 1/sqrt(m); what makes sqrt(m) three times as large?",
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
            "you used the number of utilities for dof; with rank r, dof = (n1 + n2 - 1) r - r^2": n_users * n_items,
            "your dof is too large by r; subtract r for the common shift of all items": dof + rank,
            "your dof is too large by r^2; subtract r^2 for the change of basis": dof + rank**2,
            "your dof counts all features; subtract r for the shift and r^2 for the change of basis": (
                dof + rank + rank**2
            ),
        }
        mistakes = {says: error * np.sqrt(other / dof) for says, other in counted.items()} | {
            "the factor 2 in the denominator is missing; z is a difference of two utilities": np.sqrt(2) * error,
            "you used 1/4, the information of a choice between equals; use the smaller mean, `information`": (
                2 * error * information**0.5
            ),
            "this is the square of the error; take the square root": error**2,
            "you did not take the square root before you divided by the spread": error**2 * spread,
            "this is the absolute error; divide by `spread` for the relative error": error * spread,
        }
        times = {
            "with 3 times the choices, the error falls only by sqrt(3); it is proportional to 1/sqrt(m)": 3.0,
            "you took the square root of 3; the error is proportional to 1/sqrt(m), so square it": np.sqrt(3),
            "with this factor, the error would triple; a smaller error needs more choices": 1 / 9,
            "this is the number of choices; give the factor by which it grows": 9.0 * m,
            "this is the factor minus one; give the factor by which the number of choices grows": 8.0,
        }
        return [
            Part("error", error, mistakes, "relative"),
            Part("times", 9.0, times, "times as many choices"),
        ]


class Flat(Exercise):
    """How many directions at the truth are flat: for any comparisons, and for the ones given."""

    hints = (
        "no comparison can detect a change of basis by an invertible r x r matrix, or a vector added to all items",
        "each comparison is a row of A: V_i - V_j in the columns of u, U_u in those of i, -U_u in those of j; a "
        "direction is flat if A maps it to zero",
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
            "you counted only the changes of basis; adding one vector to all items is undetectable, too: r more": r * r,
            "you counted rotations, r (r - 1) / 2; any invertible matrix is undetectable: r^2": (r * (r - 1) // 2 + r),
            "you counted only the shifts of all items; changes of basis are undetectable, too: r^2 more": r,
            "you counted shifts of all users, which comparisons do detect: they change utility differences": always + r,
            "this is dof, the number of directions that comparisons detect; give the number that they do not": (
                (n_users + n_items) * r - always
            ),
        }
        of_these = {
            "two users were never asked and two items never shown; their features are free, so add them": always,
            "you counted two users or two items without comparisons; there are two of each": always + 2 * r,
            "you counted one direction per user or item without comparisons; each has r features": always + left_out,
            "this is the rank of A; subtract it from the number of columns, (n_1 + n_2) r": rank,
            "you subtracted the rank from the number of rows; subtract it from the number of columns, A.shape[1]": (
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

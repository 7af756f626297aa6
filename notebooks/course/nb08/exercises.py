"""The exercises of notebook 08: a pair, a second model, a step of SPA, a step of the fit, pairs or triples, a gap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from cofactor.core.types import Floats, Ints
from course.grading import (
    COLUMNS_SUM_TO_ONE,
    NONNEGATIVE,
    SUMS_TO_ONE,
    Exercise,
    FunctionExercise,
    Given,
    Part,
    told_apart,
)
from course.nb08.failures import JUDGED
from course.seeds import drawn, own

EXACT = 1e-9  # a model with nearly the same pairs is no counterexample


class Pair(Exercise):
    """The joint distribution of two variables, from their conditionals."""

    hints = (
        "if the class f is known: Pr(i, k | f) = A_1[i, f] A_2[k, f]",
        "sum over the classes, each with its prior: X_12[i, k] = sum_f prior[f] A_1[i, f] A_2[k, f]",
        'task["A_1"] * task["prior"] @ task["A_2"].T',
    )
    praise = "a pair is a sum of products over classes, so its rank is at most F"

    def given(self) -> Given:
        def make(rng: np.random.Generator) -> Given:
            A_1, A_2 = (rng.multinomial(10, rng.dirichlet(np.ones(3)), 3).T / 10 for _ in range(2))
            return {"prior": np.array([0.5, 0.3, 0.2]), "A_1": A_1, "A_2": A_2}

        return drawn(81, make, lambda made: told_apart(self.solve(**made)))

    def solve(self, prior: Floats, A_1: Floats, A_2: Floats) -> list[Part]:
        mistakes = {
            "this is the product of the marginals, as for independent variables; these are independent only within "
            "a class, so multiply first, then sum over classes": np.outer(A_1 @ prior, A_2 @ prior),
            "this treats the classes as equally frequent: weight each by its prior": A_1 @ A_2.T / 3,
            "the prior is missing: these numbers sum to three, not to one": A_1 @ A_2.T,
            "the prior is used twice, once with each variable": (A_1 * prior) @ (A_2 * prior).T,
            "weight the classes by the prior itself, not by its square root": A_1 * np.sqrt(prior) @ A_2.T,
            "the prior weights the rows here; the classes are the columns": (prior[:, None] * A_1) @ A_2.T,
            "this sums over the values; sum over the classes, which are the columns of both": (A_1 * prior).T @ A_2,
            "these are the rows times the columns of A_2; transpose it": A_1 * prior @ A_2,
        }
        return [Part("X_12", A_1 * prior @ A_2.T, mistakes, "probabilities", (NONNEGATIVE, SUMS_TO_ONE))]


class SecondModel(FunctionExercise):
    """Another model with the same pairs, by a turn of the classes."""

    hints = (
        "the rotated classes have the roots R' sqrt(lam); the squares of these are the new priors",
        "scale the columns of A by sqrt(lam), rotate them by R, and divide them by the new roots",
        "root = R.T @ np.sqrt(lam); return A * np.sqrt(lam) @ R / root, root**2",
    )
    praise = "a rotation changes no pair; only a negative entry could have revealed it"

    def given(self) -> Given:
        return _turned([[6, 1], [3, 2], [1, 7]], [1, 1], 0.1)

    def cases(self) -> list[Given]:
        rng = np.random.default_rng(own(88))
        turn = np.linalg.qr(np.eye(3) + 0.1 * rng.standard_normal((3, 3)))[0]
        return [
            _turned([[2, 1], [3, 4], [1, 1], [4, 2]], [3, 1], -0.2),
            _turned(1 + rng.random((5, 3)), [5, 3, 2], turn * np.sign(np.diag(turn))),
            _turned([[5, 1], [2, 6]], [2, 3], 0.0),
        ]

    def solve(self, A: Floats, lam: Floats, R: Floats) -> list[Part]:
        B, mu = _second(A, lam, R)
        return [
            Part("B", B, {}, "probabilities", (NONNEGATIVE, COLUMNS_SUM_TO_ONE), EXACT),
            Part("mu", mu, {}, "shares", (NONNEGATIVE, SUMS_TO_ONE), EXACT),
        ]

    def arranged(self, parts: list[Part], result: list[Floats]) -> list[Floats]:
        """Classes have no order: take that of the solution."""
        (B, mu), (right, _) = result, (np.asarray(part.answer) for part in parts)
        apart = np.abs(B[:, :, None] - right[:, None, :]).sum(axis=0)
        order = linear_sum_assignment(apart.T)[1]
        return [B[:, order], mu[order]]

    def properties(self, case: Given, result: list[Floats]) -> Iterator[str]:
        A, lam, (B, mu) = case["A"], case["lam"], result
        apart = np.abs((A * lam) @ A.T - (B * mu) @ B.T).max()
        if apart > EXACT:
            rounded = "; are B and mu rounded?" if apart < 1e-2 else ""
            yield f"the pairs are not the same: they are up to {apart:.2g} apart{rounded}"

    wrong: ClassVar = {
        "the pairs are right, but this is the rotation by R'; the exercise asks for R": lambda A, lam, R: _second(
            A, lam, R.T
        ),
        "this is the given model: rotate it": lambda A, lam, R: (A, lam),
        "these are roots, not probabilities: square them": (
            lambda A, lam, R: (_second(A, lam, R)[0], R.T @ np.sqrt(lam))
        ),
        "rotate the roots of the priors, not the priors themselves": lambda A, lam, R: (
            A * lam @ R / (R.T @ lam),
            R.T @ lam,
        ),
        "scale the columns of A by the roots before you rotate them": lambda A, lam, R: (
            A @ R / (R.T @ np.sqrt(lam)),
            (R.T @ np.sqrt(lam)) ** 2,
        ),
        "divide the columns by the new roots, so that they sum to one": lambda A, lam, R: (
            A * np.sqrt(lam) @ R,
            (R.T @ np.sqrt(lam)) ** 2,
        ),
        "the two rotations do not match: A is multiplied by R, so the roots by R'": lambda A, lam, R: (
            A * np.sqrt(lam) @ R / (R @ np.sqrt(lam)),
            (R @ np.sqrt(lam)) ** 2,
        ),
    }


def _second(A: Floats, lam: Floats, R: Floats) -> tuple[Floats, Floats]:
    root = R.T @ np.sqrt(lam)
    return A * np.sqrt(lam) @ R / root, root**2


def _turned(A: ArrayLike, lam: ArrayLike, R: ArrayLike) -> Given:
    """A and lam scaled to sum to one, and a turn: a rotation, or the angle of one."""
    factors = np.array(A, dtype=np.float64), np.array(lam, dtype=np.float64)
    if np.ndim(R) == 0:
        c, s = np.cos(R), np.sin(R)
        R = [[c, -s], [s, c]]
    return {"A": factors[0] / factors[0].sum(axis=0), "lam": factors[1] / factors[1].sum(), "R": np.array(R)}


class Residual(Exercise):
    """What columns keep once the first anchor is projected out: squared lengths."""

    hints = (
        "u is the first anchor, divided by its length",
        "a column x keeps x - u (u'x); the remainder is orthogonal to u",
        "rest = X - np.outer(u, u @ X), and then np.sum(rest**2, axis=0)",
    )
    praise = "the anchor itself has no remainder, and the longest remainder, column 1, is the next anchor"

    def given(self) -> Given:
        def make(rng: np.random.Generator) -> Given:
            return {"X": (rng.multinomial(20, rng.dirichlet(np.ones(3), 5)) / 20).T, "first": 0}

        def clear(made: Given) -> bool:
            """Whether column 0 is the longest, and column 1 what is longest without it, as the praise says."""
            parts = self.solve(**made)
            longest = np.linalg.norm(made["X"], axis=0).argmax(), np.asarray(parts[0].answer).argmax()
            return longest == (0, 1) and told_apart(parts)

        return drawn(82, make, clear)

    def solve(self, X: Floats, first: int) -> list[Part]:
        a = X[:, first]
        u = a / np.linalg.norm(a)
        left = X - np.outer(u, u @ X)
        rest, other = np.sum(left**2, axis=0), X[:, first + 1] / np.linalg.norm(X[:, first + 1])
        mistakes = {
            "this is the distance to the anchor; project instead: remove only the component along the anchor": np.sum(
                (X - a[:, None]) ** 2, axis=0
            ),
            "u must have length one: divide the anchor by its norm before projecting": np.sum(
                (X - np.outer(a, a @ X)) ** 2, axis=0
            ),
            "these are the lengths; the exercise asks for their squares": np.sqrt(rest),
            "these are sums of absolute entries; the exercise asks for sums of squares": np.abs(left).sum(axis=0),
            "the second column was projected out; columns are counted from 0, and the anchor is column 0": np.sum(
                (X - np.outer(other, other @ X)) ** 2, axis=0
            ),
            "these are the squared lengths before the projection": np.sum(X**2, axis=0),
            "this is the component that the projection removes; the exercise asks for the remainder": (
                np.sum(X**2, axis=0) - rest
            ),
            "the difference of the lengths is not the length of the difference; project first, then square": (
                np.linalg.norm(X, axis=0) - np.abs(u @ X)
            )
            ** 2,
        }
        return [Part("r", rest, mistakes, "squared lengths", (NONNEGATIVE,))]


class PairStep(FunctionExercise):
    """One multiplicative step of the fit of a table of pairs."""

    hints = (
        "M = A_1 * lam @ A_2.T is the table under the model; ratio = C / M, and 0 where C is 0",
        "the expected counts of the first variable are T_1 = A_1 * (ratio @ (A_2 * lam)); T_2 takes ratio.T and A_1",
        "A_1 = T_1 / T_1.sum(axis=0), A_2 likewise, and lam = T_1.sum(axis=0) / C.sum()",
    )
    praise = "there is no step size, no negative entry, and the divergence never rises"

    def given(self) -> Given:
        return _table([[12, 3, 5], [4, 20, 6]], [[3, 1], [1, 2]], [[3, 1], [1, 3], [2, 1]], [3, 2])

    def cases(self) -> list[Given]:
        rng = np.random.default_rng(own(8))
        return [
            _table(rng.integers(0, 40, (4, 5)), rng.random((4, 3)), rng.random((5, 3)), [1, 2, 5]),
            _table([[0, 0], [7, 0], [2, 9]], [[0, 0], [2, 1], [1, 3]], [[2, 1], [1, 2]], [1, 3]),  # a value never seen
            _table([[5, 1], [2, 2]], [[1], [3]], [[2], [1]], [1]),
        ]

    def solve(self, C: Floats, A_1: Floats, A_2: Floats, lam: Floats) -> list[Part]:
        A_1, A_2, lam = _scaled(*_counts(C, A_1, A_2, lam))
        laws = (NONNEGATIVE, COLUMNS_SUM_TO_ONE)
        return [
            Part("A_1", A_1, {}, "probabilities", laws),
            Part("A_2", A_2, {}, "probabilities", laws),
            Part("lam", lam, {}, "shares", (NONNEGATIVE, SUMS_TO_ONE)),
        ]

    def properties(self, case: Given, result: list[Floats]) -> Iterator[str]:
        C, start = case["C"], [case[name] for name in ("A_1", "A_2", "lam")]
        before, after = (float(np.sum(C[C > 0] * np.log((A * p @ B.T)[C > 0]))) for A, B, p in (start, result))
        if after < before - 1e-9:
            yield f"the fit gets worse: sum of C log M falls from {before:.5g} to {after:.5g}"

    wrong: ClassVar = {
        "this returns its input: make the step": lambda *given: given[1:],
        "this is the mean of the old and the new values; take the full step": lambda *given: tuple(
            (old + new) / 2 for old, new in zip(given[1:], _scaled(*_counts(*given)), strict=True)
        ),
        "these are still expected counts: divide the columns by their sums, and the prior by the total": (
            lambda *given: (T := _counts(*given)) + (T[0].sum(axis=0),)
        ),
        "the expected counts need the factor itself: T_1 = A_1 * (ratio @ (A_2 * lam))": (
            lambda *given: _scaled(*(T / A.clip(1e-99) for T, A in zip(_counts(*given), given[1:3], strict=True)))
        ),
        "the model needs the prior: M = A_1 * lam @ A_2.T": lambda C, A, B, lam: _scaled(*_counts(C, A, B, lam**0)),
        "T_1 and T_2 need the prior as well: A_2 * lam and A_1 * lam": (
            lambda *given: (*_scaled(*_counts(*given))[:2], _counts(*given)[0].sum(axis=0) / given[3] / given[0].sum())
        ),
        "these are the counts themselves: T_1 and T_2 take the ratio C / M": (
            lambda C, A, B, lam: (*_scaled(*(T := _counts(C * (A * lam @ B.T), A, B, lam)))[:2], T[0].sum(0) / C.sum())
        ),
        "the columns do not sum to one: you divide the rows by their sums, so divide by T.sum(axis=0)": (
            lambda *given: (*(T / T.sum(1)[:, None].clip(1e-99) for T in _counts(*given)), _scaled(*_counts(*given))[2])
        ),
        "this is inverted: the ratio is the counts divided by the model, C / M": (
            lambda C, A_1, A_2, lam: _scaled(*_counts((C > 0) * (A_1 * lam @ A_2.T) ** 2 / C.clip(1), A_1, A_2, lam))
        ),
        "all three come from the same expected counts, those of the old factors; do not use the new A_1 for A_2": (
            lambda C, A, B, lam: (new := _scaled(*_counts(C, A, B, lam))[0], *_scaled(*_counts(C, new, B, lam))[1:])
        ),
        "sum the counts to get the prior before the columns are scaled; after, all columns have the same sum": (
            lambda *given: (*_scaled(*_counts(*given))[:2], given[3] * 0 + 1 / len(given[3]))
        ),
        "the prior is unchanged; update it as part of the step": (
            lambda *given: (*_scaled(*_counts(*given))[:2], given[3])
        ),
    }


def _table(C: ArrayLike, *factors: ArrayLike) -> Given:
    """Counts, and factors whose columns are scaled to sum to one."""
    scaled = [np.array(A, dtype=np.float64) / np.sum(A, axis=0) for A in factors]
    return {"C": np.array(C, dtype=np.float64)} | dict(zip(("A_1", "A_2", "lam"), scaled, strict=True))


def _counts(C: Floats, A_1: Floats, A_2: Floats, lam: Floats) -> tuple[Floats, Floats]:
    """Expected counts of the values of both variables, by class."""
    M = A_1 * lam @ A_2.T
    ratio = np.divide(C, M, out=np.zeros_like(M), where=(C > 0) & (M > 0))
    return A_1 * (ratio @ (A_2 * lam)), A_2 * (ratio.T @ (A_1 * lam))


def _scaled(T_1: Floats, T_2: Floats) -> tuple[Floats, Floats, Floats]:
    return T_1 / T_1.sum(axis=0), T_2 / T_2.sum(axis=0), T_1.sum(axis=0) / T_1.sum()


class Evidence(Exercise):
    """Whether pairs or triples have rows enough, for tables of several sizes."""

    hints = (
        "an entry is observed with probability p, a pair of entries with p**2, three with p**3",
        "a triple has I**3 cells for S p**3 rows; triples are useful from about one row per cell on",
        "S * p**3 / I**3; take 3 where that is one or more, else 2 where S * p**2 / I**2 is, else 0",
    )
    praise = "the observed fraction enters to the third power: halving it leaves an eighth of the rows for each triple"

    def given(self) -> Given:
        rng = np.random.default_rng(own(84))
        I, p = np.array([6, 8, 12, 3, 10]), np.array([0.8, 0.2, 0.7, 0.9, 0.05]) * rng.uniform(0.9, 1.1, 5).round(2)
        wanted = rng.uniform([4, 0.1, 0.1, 4, 0.0002], [9, 0.25, 0.25, 9, 0.0006])  # rows for each cell of a triple
        order = rng.permutation(5)
        tables = {"S": np.ceil(wanted * I**3 / p**3).astype(int), "p": p.round(3), "I": I}
        return {name: values[order] for name, values in tables.items()}

    def solve(self, S: Ints, p: Floats, I: Ints) -> list[Part]:
        triples, pairs = S * p**3 / I**3, S * p**2 / I**2
        take = np.where(triples >= 1, 3, np.where(pairs >= 1, 2, 0))
        of_rows = {
            "these are rows per cell of a pair; a triple is observed in S p^3 rows and has I^3 cells": pairs,
            "not every row contains all three values: they are observed together with probability p^3": S / I**3,
            "three entries must be observed, not one: use p^3": S * p / I**3,
            "this uses the cells of a pair; a triple has I^3": S * p**3 / I**2,
            "these are the rows in which a triple is seen; divide by its I^3 cells": S * p**3,
            "this is inverted: divide rows by cells": I**3 / (S * p**3),
        }
        of_choice = {
            "triples need rows for each of their I^3 cells, S p^3 of them; this looks at pairs alone": (
                np.where(pairs >= 1, 3, 0)
            ),
            "entries are missing, so few rows contain all three values: S p^3, not S": np.where(S / I**3 >= 1, 3, take),
            "the number of rows alone does not decide; use the rows per cell": np.where(np.median(S) < S, 3, 2),
            "the answers are swapped: use pairs for thin tables, because a pair has fewer cells to fill": (
                np.choose(take - take // 2, [0, 3, 2])
            ),
            "in one table not even pairs have a row per cell: the answer is 0": np.where(take == 0, 2, take),
            "triples are not always best: if they have less than one row per cell, pairs still work with fewer rows": (
                np.full(5, 3)
            ),
            "pairs are safe, but if triples have enough rows, they need neither anchors nor zeros": np.full(5, 2),
        }
        return [
            Part("rows", triples, of_rows, "rows for each cell of a triple", (NONNEGATIVE,)),
            Part("take", take, of_choice, "3 for triples, 2 for pairs, 0 for neither"),
        ]


class Missing(Exercise):
    """The third variable, given the first; the second is missing."""

    hints = (
        "the posterior of the class first: Pr(f | x_1) is proportional to prior[f] A_1[x_1, f]",
        "a missing variable has no factor, because its probabilities sum to one",
        'q = task["prior"] * task["A_1"][1]; task["A_3"] @ (q / q.sum())',
    )
    praise = "a missing value is left out; nothing needs to be filled in first"

    def given(self) -> Given:
        def make(rng: np.random.Generator) -> Given:
            A_1, A_2 = (np.array([[a, b], [1 - a, 1 - b]]) for a, b in rng.integers(1, 10, (2, 2)) / 10)
            A_3 = rng.multinomial(10, rng.dirichlet(np.ones(3), 2)).T / 10
            return {"prior": np.array([0.75, 0.25]), "A_1": A_1, "A_2": A_2, "A_3": A_3, "x": np.array([1, -1, -1])}

        return drawn(84, make, lambda made: (made["A_1"][1] > 0).all() and told_apart(self.solve(**made)))

    def solve(self, prior: Floats, A_1: Floats, A_2: Floats, A_3: Floats, x: Ints) -> list[Part]:
        def told(q: Floats) -> Floats:
            return np.asarray(A_3 @ q / q.sum())

        joint = prior * A_1[x[0]]  # of the class and of what was seen
        mistakes = {
            "x_2 is missing, and -1 picks the last value of A_2: leave its factor out": told(joint * A_2[-1]),
            "the prior is missing: the classes are not equally frequent": told(A_1[x[0]]),
            "the prior is missing, and so is the division by the sum": A_3 @ A_1[x[0]],
            "this is the marginal of x_3, which ignores x_1": A_3 @ prior,
            "this is Pr(x_1, x_3): divide by Pr(x_1), so that it sums to one": A_3 @ joint,
            "x_1 = 1 is the second value, row 1 of A_1": told(prior * A_1[0]),
            "this uses only the more probable class: weight both classes by their posteriors": A_3[:, joint.argmax()],
            "x_2 is missing; it does not have the value 0": told(joint * A_2[0]),
        }
        return [Part("Pr(x_3 | x_1)", told(joint), mistakes, "probabilities", (NONNEGATIVE, SUMS_TO_ONE))]


EXERCISES = {
    "pair": Pair(),
    "second": SecondModel(),
    "residual": Residual(),
    "pair_step": PairStep(),
    "evidence": Evidence(),
    "missing": Missing(),
    **JUDGED,
}

OBJECTIVES = (("pair",), ("residual",), ("missing",))  # of the notebook, in its order: the exercises of each
LAB = ("second", "pair_step", "evidence", "held_out", "blind")  # exercises of the lab

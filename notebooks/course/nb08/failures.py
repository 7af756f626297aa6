"""Exercises of notebook 08 that judge: a fit by rows that it has not seen, and what pairs of a table show."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from cofactor.core.types import Floats, Ints
from course.grading import NONNEGATIVE, Exercise, Given, Part, told_apart
from course.seeds import drawn

SIZES = 4, 3  # variables, and values of each, of `HeldOut`
ALPHAS = 0.01, 0.3, 30.0


class HeldOut(Exercise):
    """The log-likelihood of rows that a fit has not seen, for three amounts of smoothing, beside the constant."""

    hints = (
        "smooth first: A = T + alpha, and every block of three rows is divided by its column sums",
        "of one row: log of the sum over classes of prior[f] times the product of A[n, x[n], f] over the "
        "four variables",
        "A[np.arange(4), rows] has shape (rows, variables, classes): np.log(A[...].prod(axis=1) @ prior).mean()",
    )
    praise = "the fit with the least smoothing explains its own rows best, and the new rows worse than a constant"

    def given(self) -> Given:
        return drawn(85, _fit, lambda given: told_apart(self.solve(**given)) and self._is_a_lesson(**given))

    def solve(self, prior: Floats, T: Floats, alpha: Floats, own_rows: Ints, rows: Ints) -> list[Part]:
        nats = np.array([_nats(prior, _smoothed(T, a), rows).mean() for a in alpha])
        own = np.array([_nats(prior, _smoothed(T, a), own_rows).mean() for a in alpha])
        constant = -SIZES[0] * np.log(SIZES[1])
        by_class = [np.log(_values(_smoothed(T, a), rows)).sum(axis=1) for a in alpha]
        of_nats = {
            "these are its own rows; the exercise asks for the others": own,
            "these are sums over the rows; take the mean": nats * len(rows),
            "the log comes after the sum over classes, not before": np.array(
                [(log @ prior).mean() for log in by_class]
            ),
            "the classes are not equally frequent: weight them by the prior": (
                np.array([_nats(prior * 0 + 1 / len(prior), _smoothed(T, a), rows).mean() for a in alpha])
            ),
            "the prior is missing: weight the classes before you sum over them": (
                np.array([_nats(prior * 0 + 1, _smoothed(T, a), rows).mean() for a in alpha])
            ),
            "columns sum to one within each variable, not over all": (
                np.array([_nats(prior, (T + a) / (T + a).sum(axis=(0, 1)), rows).mean() for a in alpha])
            ),
            "the exercise asks for nats: use np.log, to the base e": nats / np.log(2),
            "this is the log of the mean; take the mean of the logs": (
                np.array([np.log(np.exp(_nats(prior, _smoothed(T, a), rows)).mean()) for a in alpha])
            ),
        }
        better = 1 * (nats > constant)
        of_verdicts = {
            "judged by its own rows, the fit with the least smoothing always looks good": 1 * (own > constant),
            "the answers are swapped: 1 means that the fit is better than the constant": 1 - better,
            "the constant gives every row log(1/81), because there are four variables of three values": (
                1 * (nats > -np.log(3))
            ),
        }
        return [
            Part("nats", nats, of_nats, "nats a row"),
            Part("better", better, of_verdicts, "1 where better than the constant, else 0"),
        ]

    def _is_a_lesson(self, **given: Any) -> bool:
        """Whether little smoothing is worse than the constant, and the middle clearly better than both others."""
        (little, some, much), better = (np.asarray(part.answer) for part in self.solve(**given))
        return bool(better.tolist() == [0, 1, 1] and some > max(little, much) + 0.05)


def _smoothed(T: Floats, alpha: float) -> Floats:
    """Eq. (8): counts (variables, values, classes) to conditionals."""
    return np.asarray((T + alpha) / (T + alpha).sum(axis=1, keepdims=True))


def _values(A: Floats, rows: Ints) -> Floats:
    """Probabilities of the values of every row, (rows, variables, classes)."""
    return np.asarray(A[np.arange(rows.shape[1]), rows])


def _nats(prior: Floats, A: Floats, rows: Ints) -> Floats:
    """Log-likelihood of every row."""
    return np.asarray(logsumexp(np.log(_values(A, rows)).sum(axis=1) + np.log(prior), axis=1))


def _fit(rng: np.random.Generator) -> Given:
    """Expected counts of two classes of a fit on fourteen rows, those rows, and forty others."""
    N, I = SIZES
    A = rng.dirichlet(np.full(I, 0.9), (N, 2)).transpose(0, 2, 1)
    z = (rng.random(54) < 0.35).astype(int)
    rows = np.array([[rng.choice(I, p=A[n, :, k]) for n in range(N)] for k in z])
    T = np.zeros((N, I, 2))
    for row, k in zip(rows[:14], z[:14], strict=True):
        T[np.arange(N), row, k] += 1
    share = np.bincount(z[:14], minlength=2) + 1
    return {"prior": share / share.sum(), "T": T, "alpha": np.array(ALPHAS), "own_rows": rows[:14], "rows": rows[14:]}


CLEAR = 4.0  # a dependence of so many standard errors is no chance


class Blind(Exercise):
    """What the pairs of three coins show, what the three show together, and what that does to a fit of pairs."""

    hints = (
        "take the rows of a table in which both coins were observed, so neither is -1; n is their number",
        "two independent fair coins are equal in half of the rows: z = |2 share - 1| sqrt(n); "
        "for three, share is that of rows with an even sum",
        "pairs: the largest of the three z; rows: that of the three together; verdict 2 if pairs > 4, else 3 if rows > "
        "4, else 0",
    )
    praise = "pairs may show nothing because of the classes, or because too few rows contain both: two of the cases"

    def given(self) -> Given:
        return drawn(87, _coins, lambda given: told_apart(self.solve(**given)) and self._is_clear(**given))

    def solve(self, tables: Ints) -> list[Part]:
        pairs, triples, gaps, all_seen = (np.array([row[k] for row in map(_seen, tables)]) for k in range(4))
        verdict = np.where(pairs > CLEAR, 2, np.where(triples > CLEAR, 3, 0))
        of_pairs = {
            "a missing coin, -1, was treated as a side: leave these rows out": gaps,
            "this is the z of one pair; take the largest of the three": np.array(
                [_z(_without_gaps(table[:, :2])) for table in tables]
            ),
            "only rows in which the two of a pair were seen count, and all of them; the third may be missing": all_seen,
            "z is |2 share - 1| times the root of the rows": pairs**2,
        }
        of_rows = {
            "these are the pairs; look at the three together": pairs,
            "z is |2 share - 1| times the root of the rows": triples**2,
            "a missing coin, -1, was treated as a side: leave these rows out": (
                np.array([_z(table) for table in tables])
            ),
        }
        of_verdicts = {
            "if pairs show nothing, whole rows may still show something": np.where(pairs > CLEAR, 2, 0),
            "if neither is above 4, the answer is 0: nothing can be concluded": np.where(pairs > CLEAR, 2, 3),
            "a z below 4 may be chance; here every table shows something": np.where(pairs > triples, 2, 3),
        }
        return [
            Part("pairs", pairs, of_pairs, "standard errors", (NONNEGATIVE,)),
            Part("rows", triples, of_rows, "standard errors", (NONNEGATIVE,)),
            Part("verdict", verdict, of_verdicts, "2 where pairs show it, 3 where rows alone do, 0 where neither"),
        ]

    def _is_clear(self, tables: Ints) -> bool:
        """Whether no verdict hangs on a digit."""
        z = np.concatenate([np.asarray(part.answer) for part in self.solve(tables)[:2]])
        return bool(np.all((z < CLEAR - 1) | (z > CLEAR + 1)))


PAIRS = (0, 1), (0, 2), (1, 2)


def _z(coins: Ints) -> float:
    """How many standard errors the share of rows with an even sum is away from one half."""
    if not len(coins):
        return 0.0
    return float(abs(2 * np.mean(coins.sum(axis=1) % 2 == 0) - 1) * np.sqrt(len(coins)))


def _without_gaps(coins: Ints) -> Ints:
    return coins[(coins >= 0).all(axis=1)]


def _seen(table: Ints) -> tuple[float, float, float, float]:
    """The z of pairs and of triples; of pairs where gaps count as a side, or the third coin must be seen."""
    pairs = max(_z(_without_gaps(table[:, pair])) for pair in PAIRS)
    complete = _without_gaps(table)
    return pairs, _z(complete), max(_z(table[:, pair]) for pair in PAIRS), max(_z(complete[:, pair]) for pair in PAIRS)


def _coins(rng: np.random.Generator) -> Given:
    """Five tables of three coins: of two bags, of two bags seldom seen, of parity, of parity with gaps, of chance."""
    bags = rng.integers(0, 2, (2, 400, 1)) ^ (rng.random((2, 400, 3)) < 0.15)
    two = rng.integers(0, 2, (2, 400, 2))
    parity = np.concatenate([two, two.sum(axis=2, keepdims=True) % 2], axis=2) ^ (rng.random((2, 400, 3)) < 0.1)
    tables = np.concatenate([bags, parity, rng.integers(0, 2, (1, 400, 3))]).astype(int)
    observed = np.array([0.8, 0.22, 1.0, 0.8, 0.7])
    tables[rng.random(tables.shape) > observed[:, None, None]] = -1
    return {"tables": tables[rng.permutation(5)]}


JUDGED = {"held_out": HeldOut(), "blind": Blind()}

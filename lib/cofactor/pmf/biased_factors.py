"""Biased matrix factorisation of ratings by alternating least squares.

symbol   meaning                                          shape
R        ratings of items by users, most of them unknown  (U, N)
mu       level                                            number
a, b     biases of users and of items                     (U,), (N,)
A, B     factors of users and of items                    (U, F), (N, F)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cofactor.core.checks import require_bytes, rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.result import History, Result
from cofactor.core.types import Floats, Ints


@dataclass(frozen=True)
class BiasedFactors:
    """The fit: R_ij is near level + a_i + b_j + <A_i, B_j>."""

    level: float
    a: Floats
    b: Floats
    A: Floats
    B: Floats
    result: Result


def biased_factors(
    row: Ints,
    column: Ints,
    rating: Floats,
    rank: int,
    ridge: float,
    pulls: tuple[Floats, Floats],
    max_iter: int = 200,
    tol: float = 1e-6,
    random_state: int | np.random.Generator | None = None,
    verbose: bool = False,
) -> BiasedFactors:
    """Fit level, biases and factors to known ratings.

        min over mu, a, b, A, B of  sum over known (i, j) of (R_ij - mu - a_i - b_j - <A_i, B_j>)^2
            + ridge (||A||_F^2 + ||B||_F^2) + sum_i pull_i a_i^2 + sum_j pull_j b_j^2

    Parameters
    ----------
    row, column : (E,) ints, rating : (E,) floats
        Codes of users below U and of items below N; whoever has no rating keeps zeros.
    rank : int >= 0, ridge : float > 0
    pulls : arrays (U,) and (N,), positive where nothing was rated
    max_iter, tol
        Most sweeps; relative change of the objective at which they stop.
    random_state : int, Generator or None
        Of the start of B, normal; A starts at zero.

    Cost: O(E F^2 + (U + N) F^3) time per sweep, O((U + N) F^2) memory.

    >>> row, column, pull = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.ones(2)
    >>> biased_factors(row, column, np.array([5.0, 4, 3, 2]), 0, 1.0, (pull, pull)).a.round(2).tolist()
    [0.67, -0.67]
    """
    pull_a, pull_b = pulls
    U, N = len(pull_a), len(pull_b)
    require_bytes(32.0 * (U + N) * rank**2, f"rank={rank} for {U} users and {N} items")
    A, B = np.zeros((U, rank)), rng_of(random_state).standard_normal((N, rank))
    a, b, mu = np.zeros(U), np.zeros(N), 0.0
    history, cost = History("biased matrix factorisation", max_iter, tol, verbose), np.inf
    for _ in history:
        rest = rating - mu - a[row] - b[column]
        A = _factors(row, column, rest, B, ridge, U)
        B = _factors(column, row, rest, A, ridge, N)
        rest = rating - np.einsum("ef,ef->e", A[row], B[column])
        mu = float(np.mean(rest - a[row] - b[column]))
        a = _biases(row, rest - mu - b[column], pull_a)
        b = _biases(column, rest - mu - a[row], pull_b)
        penalty = ridge * (np.sum(A**2) + np.sum(B**2)) + np.sum(pull_a * a**2) + np.sum(pull_b * b**2)
        before, cost = cost, float(np.sum((rest - mu - a[row] - b[column]) ** 2) + penalty)
        history.record(cost, abs(before - cost) / max(cost, np.finfo(float).tiny))
    return BiasedFactors(mu, a, b, A, B, history.result())


def _biases(index: Ints, rest: Floats, pull: Floats) -> Floats:
    """Minimise sum of (rest - a)^2 + pull a^2 for everybody."""
    return np.asarray(np.bincount(index, rest, len(pull)) / (np.bincount(index, minlength=len(pull)) + pull))


def _factors(index: Ints, partner: Ints, rest: Floats, B: Floats, ridge: float, count: int) -> Floats:
    """Minimise sum of (rest - <a, B_j>)^2 + ridge ||a||^2 for everybody: (count, F)."""
    shape, F = (count, len(B)), B.shape[1]
    if not F:
        return np.zeros((count, 0))
    who = sparse.csr_array((np.ones(len(rest)), (index, partner)), shape=shape)
    what = sparse.csr_array((rest, (index, partner)), shape=shape)
    squares = (B[:, :, None] * B[:, None, :]).reshape(len(B), F * F)
    G = (who @ squares).reshape(count, F, F) + ridge * np.eye(F)
    try:
        return np.asarray(np.linalg.solve(G, (what @ B)[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        raise CofactorError("ratings are so large that the ridge is lost beside them: divide the ratings") from None

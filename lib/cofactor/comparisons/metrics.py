"""Errors of learned utilities and quality of the order of items, measured or predicted by a formula.

Errors of features are measured up to what comparisons cannot determine: a shift of all items and a rotation.

symbol   meaning
n1, n2   users, items
m        choices with outcomes 0 and 1, users and pairs of items drawn at random
dof      (n1 + n2 - 1) r - r^2, the degrees of freedom of U and V without shift and change of basis
spread   root mean square of centred utilities, the strength of preferences in units of the link
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.comparisons.objective import degrees_of_freedom, link_named
from cofactor.comparisons.solvers import project_to_centred
from cofactor.core.checks import check_between, check_positive, check_whole, finite_matrix, finite_numbers, unmasked
from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import linalg, pd, special
from cofactor.core.types import Floats

LARGEST_FACTOR = 1e70  # feature whose products, squared, are still numbers
MOST_RATING = 1000  # whose gain, 2^rating, can be added up
LEAST_SQUARED = 1e-30  # smallest number of choices, or spread, of which squares are sure to be numbers
LEAST_ERROR = 1e-6  # error planned for
N_NODES = 64  # of the Gauss-Hermite rule


def utility_error(U: Floats, V: Floats, true_U: Floats, true_V: Floats, relative: bool = True) -> float:
    """Return ||(U V' - U* V*') J||_F, divided by ||U* V*' J||_F if `relative`.

    J removes the mean over items, because utilities are identified up to a constant per user. The computation by two QR
    decompositions is exact to rounding; a difference of squares by Gram matrices would lose half of the digits. The
    absolute error divided by sqrt(n1 n2) is the axis of the paper's Figure 2.

    Cost: O((n1 + n2) r^2), no n1 x n2 matrix.

    >>> U, V = np.ones((2, 1)), np.array([[1.0], [0.0], [-1.0]])
    >>> round(utility_error(U, 1.1 * V + 5, U, V), 3)
    0.1
    """
    U, V, true_U, true_V = _checked(U, V, true_U, true_V)
    V, true_V = project_to_centred(V), project_to_centred(true_V)
    gap, size = product_norm(np.hstack([U, -true_U]), np.hstack([V, true_V])), product_norm(true_U, true_V)
    if relative and not size:
        raise CofactorError("the true utilities of all items are equal, so the relative error is undefined")
    return gap / size if relative else gap


def product_norm(A: Floats, B: Floats) -> float:
    """Return ||A B'||_F without forming A B'."""
    return float(np.linalg.norm(np.linalg.qr(A)[1] @ np.linalg.qr(B)[1].T))


def feature_error(U: Floats, V: Floats, true_U: Floats, true_V: Floats) -> float:
    """Return ||Delta(Z)||_F = min over rotations R of ||Z - Z* R||_F for centred items; Eq. (16)-(18).

    It is zero only if the factors are also balanced. Divided by sqrt(n1 n2), it is the axis of the paper's Figure 1.

    >>> U, V = np.eye(3)[:, :2], np.array([[1.0, 0.0], [-1.0, 0.0]])
    >>> round(feature_error(U @ [[0, 1], [-1, 0]], V @ [[0, 1], [-1, 0]], U, V), 12)
    0.0
    """
    U, V, true_U, true_V = _checked(U, V, true_U, true_V)
    if U.shape[1] != true_U.shape[1]:
        raise CofactorError(
            f"{U.shape[1]} and {true_U.shape[1]} features cannot be compared; use utility_error for different ranks"
        )
    Z = np.vstack([U, project_to_centred(V)])
    true_Z = np.vstack([true_U, project_to_centred(true_V)])
    R, _ = linalg.orthogonal_procrustes(true_Z, Z)
    return float(np.linalg.norm(Z - true_Z @ R))


def pair_accuracy(margin: ArrayLike, outcome: ArrayLike, counts: ArrayLike | None = None) -> float:
    """Return the fraction of comparisons whose winner has the higher utility.

    `margin` is the difference in utility, left minus right; a margin of zero counts one half. Ties (outcome 0.5) are
    left out; an outcome of 0.8 is a win of the left item.

    >>> pair_accuracy([1.0, -2.0, 0.0, 3.0], [1, 1, 0, 0.5])
    0.5
    """
    margin, outcome = finite_numbers(margin, "margin"), finite_numbers(outcome, "outcome")
    weight = np.ones(len(margin)) if counts is None else finite_numbers(counts, "counts")
    _check_lengths(margin=margin, outcomes=outcome, counts=weight)
    decided = outcome != 0.5
    if not decided.any():
        raise CofactorError("every outcome is a tie, so there is no winner to predict")
    points = (1 + np.sign(margin[decided]) * np.sign(outcome[decided] - 0.5)) / 2
    if not weight[decided].sum() > 0:
        raise CofactorError("the counts sum to zero: pass positive counts")
    return float(np.average(points, weights=weight[decided]))


def ndcg(user: ArrayLike, rating: ArrayLike, score: ArrayLike, k: int = 10) -> float:
    """Return NDCG@k, averaged over users: how close to the top the best-rated items are when sorted by score.

    The gain is 2^rating - 1 and the discount log2(1 + position); tied scores are averaged. Users with fewer than two
    items, or whose ratings are all zero, are left out.

    >>> round(ndcg([0, 0, 0], [3, 2, 1], [0.3, 0.2, 0.1]), 6)
    1.0
    """
    user, rating, score = unmasked(user), finite_numbers(rating, "rating"), finite_numbers(score, "score")
    _check_lengths(users=user, ratings=rating, scores=score)
    check_whole(1, k=k)
    if (rating < 0).any():
        raise CofactorError(
            f"ratings in rows {listing(np.flatnonzero(rating < 0).tolist())} are negative: shift them up"
        )
    if (rating > MOST_RATING).any():
        rows = listing(np.flatnonzero(rating > MOST_RATING).tolist())
        raise CofactorError(
            f"ratings in rows {rows} exceed {MOST_RATING}: their gain 2^rating overflows, so rescale them"
        )
    codes = pd.factorize(user.astype(user.dtype.newbyteorder("=")))[0]  # any ids: numbers, text, dates
    if (codes < 0).any():
        raise CofactorError(f"rows {listing(np.flatnonzero(codes < 0).tolist())} have no user: drop or fill them")
    order = np.argsort(codes, kind="stable")
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    gain = 2.0**rating - 1
    from sklearn.metrics import ndcg_score  # here: slow to import

    users = np.split(order, cuts)
    values = [ndcg_score(gain[None, rows], score[None, rows], k=k) for rows in users if rows.size > 1]
    if not values:
        raise CofactorError("no user has two rated items, so there is nothing to rank")
    return float(np.mean(values))


def _checked(U: Floats, V: Floats, true_U: Floats, true_V: Floats) -> tuple[Floats, ...]:
    given = {"U": U, "V": V, "true_U": true_U, "true_V": true_V}
    U, V, true_U, true_V = (finite_matrix(values, name) for name, values in given.items())
    if max(np.abs(values).max() for values in (U, V, true_U, true_V)) > LARGEST_FACTOR:
        raise CofactorError(
            f"features exceed {LARGEST_FACTOR:g}, and squares of their products overflow: scale them down"
        )
    if U.shape[1] != V.shape[1] or true_U.shape[1] != true_V.shape[1]:
        raise CofactorError(
            f"users and items need equally many features, got {U.shape}, {V.shape} and {true_U.shape}, {true_V.shape}"
        )
    if len(U) != len(true_U) or len(V) != len(true_V):
        raise CofactorError(
            f"{len(U)} users and {len(V)} items, but {len(true_U)} and {len(true_V)} in the truth: they must match"
        )
    return U, V, true_U, true_V


def _check_lengths(**columns: NDArray[Any]) -> None:
    if len({values.shape for values in columns.values()}) > 1:
        found = listing(f"{values.size} {name}" for name, values in columns.items())
        raise CofactorError(f"lengths differ: {found}; pass one value of each per row")


# ---- formulas: the expected error for a number of choices, and the number for an error ----


def mean_information(spread: float, link: str = "logistic") -> float:
    """Return the mean Fisher information of a choice about z, E[g'(z)^2 / g(z) g(-z)], for z ~ N(0, 2 spread^2).

    For the logistic link, it is the mean of g'(z). z is the difference of two utilities with standard deviation
    `spread`.

    >>> round(mean_information(0.571), 3)
    0.219
    """
    check_positive(spread=spread)
    nodes, weights = special.roots_hermitenorm(N_NODES)
    values = link_named(link).information(np.sqrt(2) * spread * nodes)
    found = float(weights @ values / weights.sum())
    if not found:
        raise CofactorError(
            f"spread={spread}: the utilities are so far apart that every choice is certain and adds no information"
        )
    return found


def expected_error(
    n_comparisons: float, n_users: int, n_items: int, rank: int, spread: float, link: str = "logistic"
) -> float:
    """Return the expected relative error of utilities for a number of choices, with an efficient estimator.

        error = sqrt(dof / (2 m E[information])) / spread

    From 25 comparisons per degree of freedom on, the error of a fit with the right ridge is within a few per cent of
    this; with fewer comparisons it is smaller, close to one. Not in the paper, which has exact outcomes. Derivation: m
    times the mean of information z^2 is dof at an efficient estimate, and the mean of z^2 is gamma ||dX J||_F^2.

    >>> round(expected_error(40_000, 200, 300, 3, spread=0.571), 2)
    0.51
    """
    check_positive(n_comparisons=n_comparisons)
    dof, information = degrees_of_freedom(n_users, n_items, rank), mean_information(spread, link)
    check_between(LEAST_SQUARED, 1 / LEAST_SQUARED, n_comparisons=n_comparisons, spread=spread)
    return float(np.sqrt(dof / (2 * n_comparisons * information)) / spread)


def comparisons_needed(
    error: float, n_users: int, n_items: int, rank: int, spread: float, link: str = "logistic"
) -> int:
    """Return the number of choices needed for a relative error, the inverse of `expected_error`.

    >>> comparisons_needed(0.25, 200, 300, 3, spread=0.571)
    167042
    """
    check_positive(error=error)
    if error < LEAST_ERROR:
        raise CofactorError(
            f"error={error}: must be at least {LEAST_ERROR:g}, which already needs more choices than can be collected"
        )
    one = expected_error(1, n_users, n_items, rank, spread, link)
    return int(np.ceil((one / error) ** 2))

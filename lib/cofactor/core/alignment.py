"""Match the columns of an estimate with those of a reference, since hidden classes come in any order.

Every error metric of a model goes through here, so that a mere renaming of classes never counts as an error.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import finite_matrix
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import optimize
from cofactor.core.types import Floats, Indices


def match_columns(reference: ArrayLike, estimate: ArrayLike) -> Indices:
    """Find the order of the (F,) columns of `estimate` that is nearest to `reference`.

    Solves min over permutations of ||reference - estimate[:, order]||_F^2 exactly (Hungarian algorithm), such that
    ``estimate[:, order]`` lines up with `reference`. O(I F^2 + F^3) time.

    >>> match_columns([[1, 0], [0, 1]], [[0, 1], [1, 0]]).tolist()
    [1, 0]
    """
    reference, estimate = finite_matrix(reference, "reference"), finite_matrix(estimate, "estimate")
    _check_same_rows(reference, estimate)
    size = max(np.abs(reference).max(), np.abs(estimate).max()) or 1.0  # so that no square leaves the range of numbers
    reference, estimate = reference / size, estimate / size
    squares = (reference**2).sum(axis=0)[:, None] + (estimate**2).sum(axis=0)
    return np.asarray(optimize.linear_sum_assignment(squares - 2 * reference.T @ estimate)[1])


def match_classes(votes: ArrayLike, posterior: ArrayLike) -> Indices:
    """Find the order of the columns of `posterior` that agrees most with `votes`, over all rows.

    Both are (S, F) class probabilities. No ground truth is needed: majority votes serve as the reference, which
    fixes the names of the classes as long as the crowd as a whole is better than chance.
    """
    votes, posterior = finite_matrix(votes, "votes"), finite_matrix(posterior, "posterior")
    _check_same_rows(votes, posterior)
    return np.asarray(optimize.linear_sum_assignment(votes.T @ posterior, maximize=True)[1])


def _check_same_rows(one: Floats, other: Floats) -> None:
    if len(one) != len(other):
        raise CofactorError(f"matrices of shapes {one.shape} and {other.shape} need the same rows")

"""Ratings in place of comparisons: biased matrix factorisation, asked which of two items it would choose."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from cofactor.comparisons.base import PreferenceModel
from cofactor.comparisons.checks import finite_numbers
from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.kernels import Arrays
from cofactor.core.biased_factors import biased_factors
from cofactor.core.checks import check_positive, check_whole
from cofactor.core.errors import CofactorError
from cofactor.core.result import Result


class RatingMF(PreferenceModel):
    """Orders items by predicted ratings, level + a_u + b_i + <A_u, B_i>; learns from ratings by `fit_ratings`.

    Says what ratings would have told where comparisons were derived from them. Orders only; no chances. Rank zero is
    the mean rating of an item, biases of users taken off.

    Parameters
    ----------
    rank : int
    ridge, shrinkage : float
        Of features, and of biases; see `cofactor.core.biased_factors`.
    random_state : int, Generator or None

    Examples
    --------
    >>> model = RatingMF(rank=0, shrinkage=1.0).fit_ratings([0, 0, 1, 1], [0, 1, 0, 2], [5, 3, 4, 1])
    >>> model.recommend(user=1, k=3)
    [0, 1, 2]
    """

    link = ""

    def __init__(
        self,
        rank: int = 5,
        ridge: float = 10.0,
        shrinkage: float = 5.0,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.rank = rank
        self.ridge = ridge
        self.shrinkage = shrinkage
        self.random_state = random_state

    def fit_ratings(
        self,
        user: ArrayLike,
        item: ArrayLike,
        rating: ArrayLike,
        n_users: int | None = None,
        n_items: int | None = None,
    ) -> Self:
        """Learn from (E,) codes of users and items from 0 and their ratings; returns self.

        Raises a CofactorError where lengths differ, nothing is given, codes are not whole numbers in range, ratings
        are not finite (named), or a parameter is out of range.
        """
        row, column, value = np.asarray(user), np.asarray(item), finite_numbers(rating, "rating")
        n_users, n_items = _check(row, n_users, "user"), _check(column, n_items, "item")
        if not row.shape == column.shape == value.shape:
            raise CofactorError(f"{row.size} users, {column.size} items, {value.size} ratings: give one of each")
        check_whole(0, rank=self.rank)
        check_positive(ridge=self.ridge, shrinkage=self.shrinkage)
        pulls = np.full(n_users, self.shrinkage), np.full(n_items, self.shrinkage)
        fit = biased_factors(*(row, column, value, self.rank, self.ridge, pulls), random_state=self.random_state)
        self.users_, self.items_ = range(n_users), range(n_items)
        seen_users, seen_items = np.bincount(row, minlength=n_users) > 0, np.bincount(column, minlength=n_items) > 0
        self.unseen_users_, self.unseen_items_ = (np.flatnonzero(~seen).tolist() for seen in (seen_users, seen_items))
        self.components_ = np.where(seen_items, 0, -1).astype(np.int32)
        self.user_factors_, self.item_factors_ = fit.A * seen_users[:, None], fit.B * seen_items[:, None]
        self.item_bias_, self.result_ = fit.b, fit.result
        return self

    def _estimate(self, comparisons: Comparisons) -> tuple[Arrays, Result]:
        raise CofactorError("RatingMF learns from ratings: use fit_ratings(user, item, rating)")


def _check(code: np.ndarray[tuple[int], np.dtype[np.int64]], size: int | None, name: str) -> int:
    if code.ndim != 1 or not code.size or not np.issubdtype(code.dtype, np.integer) or code.min() < 0:
        raise CofactorError(f"{name}s must be codes from 0, at least one; got {code.dtype} of shape {code.shape}")
    if size is None:
        return int(code.max()) + 1
    check_whole(1, **{f"n_{name}s": size})
    if code.max() >= size:
        raise CofactorError(f"{name} codes must be below {size}; found {code.max()}")
    return size

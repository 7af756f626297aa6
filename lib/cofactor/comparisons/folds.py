"""Splits of comparisons: each is held out once, and answers that predict each other are held out together."""

from __future__ import annotations

import numpy as np

from cofactor.comparisons.data import Comparisons
from cofactor.core.errors import CofactorError
from cofactor.core.types import Ints

Split = tuple[Comparisons, Comparisons]


def folds(comparisons: Comparisons, n: int, rng: np.random.Generator) -> list[Split]:
    """Split n times into comparisons to learn from and held-out ones, so that each is held out once.

    All answers of a user about one pair of items are in the same fold, whichever stood left: held out one by one they
    would be predicted by their repetition. Every fold has about the same share of every user's pairs. Nobody loses all
    of them: who compared one pair only keeps it in every fold. Folds in which nothing is held out are left out.

    Raises a CofactorError where nobody compared two pairs.

    >>> data = Comparisons([0, 0, 0, 1, 1], [0, 1, 0, 1, 0], [1, 0, 2, 2, 1], [1, 0, 1, 1, 0])
    >>> [len(held) for _, held in folds(data, 2, np.random.default_rng(0))]
    [2, 3]
    """
    pair, owner = user_pairs(comparisons)
    count = np.bincount(owner, minlength=comparisons.n_users)
    order = np.lexsort((rng.random(len(owner)), owner))
    place = np.empty(len(owner), dtype=np.int64)
    place[order] = np.arange(len(owner)) - (np.cumsum(count) - count)[owner]
    fold = (place + rng.integers(n, size=len(count))[owner]) % n
    fold[count[owner] < 2] = -1
    of_row = fold[pair]
    found = [(comparisons.take(of_row != k), comparisons.take(of_row == k)) for k in range(n) if (of_row == k).any()]
    if not found:
        raise CofactorError(
            "nothing to hold out: no user compared two pairs of items; collect more comparisons of each user, or give "
            "rank and ridge"
        )
    return found


def user_pairs(comparisons: Comparisons) -> tuple[Ints, Ints]:
    """Number the pairs of items that users compared: (m,) pair of every comparison, and the user of every pair."""
    data = comparisons
    low, high = (side(data.left, data.right).astype(np.int64) for side in (np.minimum, np.maximum))
    distinct, code = np.unique(low * data.n_items + high, return_inverse=True)
    key, pair = np.unique(data.user.astype(np.int64) * len(distinct) + code, return_inverse=True)
    return pair, key // len(distinct)


def held_out_once(comparisons: Comparisons) -> int:
    """Return how many comparisons `folds` holds out in all."""
    pair, owner = user_pairs(comparisons)
    return int((np.bincount(owner)[owner] > 1)[pair].sum())

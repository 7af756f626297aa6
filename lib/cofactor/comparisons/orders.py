"""Orders of three items and more, and choices of one of several: checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.comparisons.data import LARGEST_COUNT, Codes, Comparisons
from cofactor.core.checks import check_kind, numbers, positions, whole_codes
from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Indices

LARGEST_CODE = np.iinfo(np.int32).max
NONE = -1  # pads orders of fewer items


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Orders:
    """Orders of items: order k holds item[k, 0] before item[k, 1] and so on, as far as places were given.

    Parameters
    ----------
    item : (m, L) whole numbers from -1
        Items of every order, the best first; -1 after the last one, where an order has fewer than L.
    placed : (m,) whole numbers from 1, optional
        How many of the first were put in order; the others came after these, in no order. 1 is a choice of one out of
        several. Default: all.
    user : (m,) whole numbers from 0, optional
        Who ordered. Default: everybody is another one.
    items : ids, optional
        In the order of the codes. Default: the codes.
    weight : (m,) numbers above 0, optional
        How often this order was given. Default: once.

    Raises a CofactorError for no orders, other shapes and numbers, and for orders of fewer than two items or of one
    item twice, by row.

    >>> orders = Orders([[0, 1, 2], [1, 2, -1], [2, 0, 1]], placed=[3, 2, 1])
    >>> orders
    Orders(3 orders of 3 items)
    >>> pairs = orders.pairs()
    >>> list(zip(pairs.left.tolist(), pairs.right.tolist()))
    [(0, 1), (0, 2), (1, 2), (1, 2), (2, 0), (2, 1)]
    """

    item: Codes
    placed: Codes
    user: Codes | None
    items: Sequence[Any]
    weight: Floats

    def __init__(
        self,
        item: ArrayLike,
        placed: ArrayLike | None = None,
        user: ArrayLike | None = None,
        items: Sequence[Any] | None = None,
        weight: ArrayLike | None = None,
    ) -> None:
        codes = _checked_items(item)
        size = (codes != NONE).sum(axis=1)
        first, who = (_one_of_each(name, values, len(codes)) for name, values in (("placed", placed), ("user", user)))
        first = size if first is None else np.minimum(first, size)
        _refuse(first < 1, "orders without a first place")
        if items is not None:
            check_kind((list, tuple, range, pd.Index, np.ndarray), items=items)
        ids = range(int(codes.max()) + 1) if items is None else tuple(items)
        if len(ids) <= codes.max():
            raise CofactorError(f"{len(ids)} ids for items up to code {codes.max()}: give one of each")
        often = np.ones(len(codes)) if weight is None else _checked_weight(weight, len(codes))
        self.__dict__.update({"item": codes, "placed": first, "user": who, "items": ids, "weight": often})

    def __repr__(self) -> str:
        return f"Orders({len(self)} orders of {len(self.items)} items)"

    def __len__(self) -> int:
        return len(self.item)

    @property
    def size(self) -> Indices:
        """(m,) how many items every order has."""
        return np.asarray((self.item != NONE).sum(axis=1))

    def take(self, rows: ArrayLike) -> Orders:
        """Return these orders only (a mask, or positions); all items stay."""
        at = positions(rows, len(self), "rows to take")
        if not at.size:
            raise CofactorError("no orders are left: take at least one")
        user = None if self.user is None else self.user[at]
        return Orders(self.item[at], self.placed[at], user, self.items, self.weight[at])

    def pairs(self) -> Comparisons:
        """Return what the orders say of two items each: who came before whom."""
        parts, often = [], []
        for a in range(self.item.shape[1] - 1):
            for b in range(a + 1, self.item.shape[1]):
                rows = np.flatnonzero((a < self.placed) & (self.item[:, b] != NONE))
                who = rows if self.user is None else self.user[rows]
                parts.append(np.stack([self.item[rows, a], self.item[rows, b], who]))
                often.append(self.weight[rows])
        first, second, who = np.concatenate(parts, axis=1)
        won, counts = np.ones(len(first)), np.concatenate(often)
        return Comparisons(who, first, second, won, None, len(self.items), counts).with_ids(items=self.items)


def _one_of_each(name: str, values: ArrayLike | None, m: int) -> Indices | None:
    if values is None:
        return None
    codes = whole_codes(values, name, LARGEST_CODE)
    if len(codes) != m:
        raise CofactorError(f"{len(codes)} {name} for {m} orders: give one of each")
    return codes


def _checked_weight(weight: ArrayLike, m: int) -> Floats:
    values = numbers(weight, "weight", 1)
    if len(values) != m:
        raise CofactorError(f"{len(values)} weights for {m} orders: give one of each")
    _refuse(
        ~((values >= 1 / LARGEST_COUNT) & (values <= LARGEST_COUNT)),
        f"weights must lie from {1 / LARGEST_COUNT:g} to {LARGEST_COUNT:g}",
    )
    return values


def _checked_items(item: ArrayLike) -> Codes:
    values = numbers(item, "item", 2)
    if not values.size or not np.isfinite(values).all() or (values % 1 != 0).any() or values.min() < NONE:
        raise CofactorError("orders must hold whole numbers: items from 0, and -1 after the last one")
    if values.max() >= LARGEST_CODE:
        raise CofactorError(f"codes of items must be below {LARGEST_CODE}: number them from 0")
    codes = values.astype(np.int32)
    there = codes != NONE
    _refuse((np.diff(there.astype(int), axis=1) > 0).any(axis=1), "orders with a gap before the last item")
    _refuse(there.sum(axis=1) < 2, "orders of fewer than two items")
    in_order = np.sort(codes, axis=1)
    twice = (in_order[:, 1:] == in_order[:, :-1]) & (in_order[:, 1:] != NONE)
    _refuse(twice.any(axis=1), "orders that hold an item twice")
    return codes


def _refuse(bad: NDArray[np.bool_], what: str) -> None:
    if bad.any():
        raise CofactorError(f"{what}: rows {listing(np.flatnonzero(bad).tolist())}; mend or drop them")

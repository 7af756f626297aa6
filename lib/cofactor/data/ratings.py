"""Ratings of items by users, and the table in which every item is a variable and every user a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.core.checks import numbers
from cofactor.core.errors import CofactorError, listing
from cofactor.core.tables import CategoricalTable

Ids = NDArray[np.int32]  # half the memory of 64 bits, and MovieLens has 20 to 33 million ratings
Stars = NDArray[np.float32]
Times = NDArray[np.int64]

COLUMNS: dict[str, Any] = {"user": np.int32, "item": np.int32, "rating": np.float32}
SCALES = {"halves": tuple(0.5 * k for k in range(1, 11)), "stars": (1.0, 2.0, 3.0, 4.0, 5.0)}


@dataclass(frozen=True, eq=False)
class RatingsDataset:
    """Who rated what, and how; kept as a list, since most users rate few items.

    Attributes
    ----------
    name, title : str
    user, item : (E,) ints
        Ids as in the source.
    rating : (E,) floats
        From 0.5 to 5, in steps of a half.
    timestamp : (E,) ints, or None
        Seconds since 1970, where the source has them.
    titles, genres : dict
        Item id to title, and to the names of its genres; of all items that the source lists, rated or not.
    citation, licence : str

    Examples
    --------
    >>> ratings = RatingsDataset("made", "Three ratings", user=[7, 7, 9], item=[1, 5, 5], rating=[4.0, 2.5, 0.5])
    >>> ratings
    RatingsDataset('made', 3 ratings of 2 items by 2 users)
    >>> ratings.table(scale="stars").codes.tolist()
    [[3, 2], [-1, 0]]
    """

    name: str
    title: str
    user: Ids
    item: Ids
    rating: Stars
    timestamp: Times | None = None
    titles: Mapping[int, str] = field(default_factory=dict)
    genres: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    citation: str = ""
    licence: str = ""

    def __post_init__(self) -> None:
        """Make arrays of lists, and check that they belong together."""
        for name, kind in COLUMNS.items():
            object.__setattr__(self, name, _column(getattr(self, name), name, kind))
        _check_ratings(self)

    def __repr__(self) -> str:
        size = f"{len(self.rating)} ratings of {len(self.items)} items by {len(self.users)} users"
        return f"RatingsDataset({self.name!r}, {size})"

    @property
    def users(self) -> Ids:
        """Ids of the users who rated something, rising: the rows of `table`."""
        return np.unique(self.user)

    @property
    def items(self) -> Ids:
        """Ids of the items that somebody rated, rising."""
        return np.unique(self.item)

    def only(self, items: ArrayLike, min_ratings: int = 1) -> RatingsDataset:
        """Keep the ratings of these items, by users who rated at least `min_ratings` of them.

        Raises a CofactorError that names the items if one is there twice, and one if nothing is left.
        """
        chosen = np.isin(self.item, distinct(items))
        users, count = np.unique(self.user[chosen], return_counts=True)
        chosen &= np.isin(self.user, users[count >= min_ratings])
        if not chosen.any():
            raise CofactorError(f"{self.name}: nobody rated {min_ratings} of these items or more: ask for fewer")
        timestamp = None if self.timestamp is None else self.timestamp[chosen]
        kept = {name: getattr(self, name)[chosen] for name in COLUMNS}
        return replace(self, **kept, timestamp=timestamp)

    def table(self, items: ArrayLike | None = None, scale: str = "halves") -> CategoricalTable:
        """Return ratings as codes: a row for each of `users`, a variable for each item, missing where not rated.

        Parameters
        ----------
        items : (N,) item ids, optional
            The variables, in this order. Default: `items`.
        scale : {"halves", "stars"}
            "halves" keeps ratings as they are, 0.5 to 5 as codes 0 to 9. "stars" rounds half up, floor(rating + 1/2),
            1 to 5 as codes 0 to 4. `SCALES[scale]` holds what each code stands for.

        Raises a CofactorError for another scale, or an item named twice. Cost: O(E log E).

        Source: Ibrahim and Fu, IEEE TSP 2021, Section 5.4, rounds to the closest integer, and its code with MATLAB's
        `round`, which takes halves up (NumPy's takes them to the even number).
        """
        if scale not in SCALES:
            raise CofactorError(f"no scale {scale!r}: there are {listing(SCALES)}")
        columns = self.items if items is None else distinct(items)
        order = np.argsort(columns)
        chosen = np.isin(self.item, columns)
        stars = np.floor(self.rating[chosen] + 0.5) if scale == "stars" else 2 * self.rating[chosen]
        return CategoricalTable.from_entries(
            row=np.searchsorted(self.users, self.user[chosen]),
            variable=order[np.searchsorted(columns, self.item[chosen], sorter=order)],
            code=stars.astype(np.int64) - 1,
            sizes=np.full(len(columns), len(SCALES[scale])),
            n_rows=len(self.users),
        )


def distinct(items: ArrayLike) -> NDArray[np.int64]:
    """Return item ids as an array; ids named twice are a CofactorError."""
    ids = np.asarray(items, dtype=np.int64).ravel()
    known, count = np.unique(ids, return_counts=True)
    if (count > 1).any():
        raise CofactorError(f"items named twice (keep each once): {listing(known[count > 1].tolist())}")
    return ids


def _column(values: ArrayLike, name: str, kind: Any) -> NDArray[Any]:
    if isinstance(values, np.ndarray) and values.dtype == kind and values.ndim == 1:  # there may be millions
        return values
    array = numbers(values, name, 1)
    if kind != np.float32 and not (np.abs(array) < 2**31).all():
        raise CofactorError(f"{name} ids must be whole numbers below {2**31}, without NaN")
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused as a rating
        return array.astype(kind)


def _check_ratings(data: RatingsDataset) -> None:
    n, m, size = len(data.user), len(data.item), len(data.rating)
    if not n == m == size:
        raise CofactorError(f"{n} users, {m} items and {size} ratings: lengths differ")
    bad = np.flatnonzero(~np.isin(data.rating, SCALES["halves"]))
    if bad.size:
        found = listing(f"rating {e}: {data.rating[e]}" for e in bad.tolist())
        raise CofactorError(f"{data.name}: ratings must be 0.5 to 5 in steps of a half; not so {found}")
    low = np.int64(2**32 - 1)
    pair = np.sort(data.user.astype(np.int64) << 32 | data.item & low)  # one sort, not two: there may be millions
    twice = pair[1:][np.diff(pair) == 0]
    if twice.size:
        found = listing(f"user {both >> 32}, item {both & low}" for both in twice.tolist())
        raise CofactorError(f"{data.name}: rated more than once (keep one rating each): {found}")

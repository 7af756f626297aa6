"""Orders of items as files hold them: one a row, or one result a row of a long table."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from cofactor.comparisons.data import LARGEST_COUNT
from cofactor.comparisons.orders import NONE, Orders
from cofactor.core.cells import check_columns, check_present, located, look_alikes, merged_names, numeric, told
from cofactor.core.checks import check_kind
from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.lazy import pd
from cofactor.core.types import Floats
from cofactor.reading.tables import read_frame
from cofactor.reading.votes import encoded, told_of_nothing


def read_orders(
    source: str | PathLike[str] | pd.DataFrame,
    places: Sequence[str] = (),
    others: Sequence[str] = (),
    races: Sequence[str] = (),
    user: str | None = None,
    weight: str | None = None,
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    spelling: str = "classes",
) -> Orders:
    """Read orders: one a row from columns of places, or one result a row from a long table.

    Parameters
    ----------
    source : path, "-" for standard input, or DataFrame
    places : columns of the items at the first, second, ... place; later ones may be empty
    others : columns of items that came after these in no order, such as what was not chosen
        A cell may hold several, with ; or | between them. The items of `places` are left out.
    races : three columns, instead of the above: the race, the item, and its place in it, a number
        Several may share the last place of a race, and then have no order.
    user : column of who ordered
    weight : column of how often this order was given; of a race, in its first row
    encoding, sep : as of `Comparisons.from_csv`
    spelling : as of `read_votes`, of items

    Raises a CofactorError that names rows with equal items or places, and where a cell cannot be read.

    Cost: O(m L).

    >>> frame = pd.DataFrame({"1st": ["a", "b"], "2nd": ["c", "a"], "3rd": ["b", ""]})
    >>> read_orders(frame, ["1st", "2nd", "3rd"]).item.tolist()
    [[0, 2, 1], [1, 0, -1]]
    """
    check_kind((str, PathLike, pd.DataFrame), source=source)
    for name, columns in {"places": places, "others": others, "races": races}.items():
        check_kind((list, tuple), **{name: columns})
    if bool(places) == bool(races) or len(races) not in (0, 3) or (races and others):
        raise CofactorError("give columns as places, and perhaps others; or three as races: race, item, place")
    names = [*places, *others, *races, *filter(None, (user, weight))]
    text = not isinstance(source, pd.DataFrame)
    frame = source if isinstance(source, pd.DataFrame) else read_frame(source, names, encoding, sep, "order")
    check_columns(frame, names, "orders")
    if races:
        race, item, place = races
        frame, lists, placed = _of_races(frame, race, item, place, text)
    else:
        lists, placed = _lists(frame, list(places), list(others))
    lists = _one_way(lists, spelling == "all")
    rule = f"{weight} (how often this order was given) must hold numbers above 0"
    often = numeric(frame, weight, rule, lambda n: (n >= 1 / LARGEST_COUNT) & (n <= LARGEST_COUNT)) if weight else None
    return _orders(frame, lists, placed, None if user is None else frame[user], often, text)


def _one_way(lists: list[list[Any]], merge: bool) -> list[list[Any]]:
    """Merge items that look alike into the one that is used most, or warn of them."""
    counts = Counter(str(item) for one in lists for item in one)
    if not merge:
        for message in filter(None, (told(look_alikes(counts, spaced=False), "items"), told_of_nothing(counts))):
            warnings.warn(message, DataWarning, stacklevel=3)
        return lists
    known = merged_names(counts)
    return [[known.get(str(item), item) for item in one] for one in lists]


def _lists(frame: pd.DataFrame, places: list[str], others: list[str]) -> tuple[list[list[Any]], list[int]]:
    """Return the items of every row, and how many were placed."""
    first = [[cell for cell in row if _there(cell)] for row in frame[places].itertuples(index=False)]
    rest = [[item for cell in row for item in _several(cell)] for row in frame[others].itertuples(index=False)]
    lists = [
        [*one, *(item for item in dict.fromkeys(two) if item not in one)]
        for one, two in zip(first, rest or [[]] * len(first), strict=True)
    ]
    return lists, [len(one) for one in first]


def _there(cell: Any) -> bool:
    return not (pd.isna(cell) or (isinstance(cell, str) and not cell.strip()))


def _several(cell: Any) -> list[Any]:
    if not isinstance(cell, str):
        return [cell] if _there(cell) else []
    return [part.strip() for part in cell.replace("|", ";").split(";") if part.strip()]


def _of_races(
    frame: pd.DataFrame, race: str, item: str, place: str, text: bool
) -> tuple[pd.DataFrame, list[list[Any]], list[int]]:
    """Return the first row of every race, its items in order, and how many of them have a place of their own."""
    for name in (race, item):
        check_present(frame[name], name, text)
    at = numeric(frame, place, f"{place} (the place in a race) must hold numbers")
    code = pd.factorize(frame[race])[0]
    results = pd.DataFrame({"race": code, "place": at})
    last = at == results.groupby("race")["place"].transform("max").to_numpy()
    twice = results.duplicated(keep=False).to_numpy()
    if (twice & ~last).any():
        found = located(frame, twice & ~last)
        raise CofactorError(f"equal places of one race, before its last, in {found}: decide who was first")
    order = np.lexsort((at, code))
    names = frame[item].to_numpy(dtype=object)[order]
    lists = [list(part) for part in np.split(names, np.flatnonzero(np.diff(code[order])) + 1)]
    firsts = frame.iloc[pd.Series(code).drop_duplicates().index]
    placed = np.bincount(code, ~(twice & last)).astype(int).tolist()
    return firsts, lists, placed


def _orders(
    frame: pd.DataFrame,
    lists: list[list[Any]],
    placed: list[int],
    user: pd.Series | None,
    weight: Floats | None,
    text: bool,
) -> Orders:
    for bad, what in (
        ([len(one) < 2 or not n for one, n in zip(lists, placed, strict=True)], "no first place, or one item alone,"),
        ([len({str(item) for item in one}) < len(one) for one in lists], "an item stands twice"),
    ):
        found = located(frame, np.array(bad))
        if found:
            raise CofactorError(f"{what} in {found}: mend or drop these rows")
    flat, items = encoded([pd.Series([item for one in lists for item in one], dtype=object)], "items", text)
    size = np.array([len(one) for one in lists])
    codes = np.full((len(lists), size.max()), NONE, dtype=np.int32)
    codes[np.arange(size.max()) < size[:, None]] = flat
    who = None
    if user is not None:
        check_present(user, str(user.name), text)
        who = encoded([user], "users", text)[0]
    return Orders(codes, np.array(placed), who, items, weight)

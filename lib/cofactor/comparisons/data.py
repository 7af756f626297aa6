"""The data class of comparisons, which checks its input and keeps the ids, and splits of comparisons."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.checks import check_whole, is_number, numbers, positions, require_bytes, rng_of, whole_codes
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.lazy import csgraph, pd
from cofactor.core.types import Floats, Ints, Seed

Codes = NDArray[np.int32]  # half the memory of 64 bits, and passes over comparisons are bound by memory
SameItem = Literal["error", "drop"]
Names = tuple[str, str, str, str, str | None]  # of the columns user, left, right, outcome, counts
COLUMNS: Names = ("user", "left", "right", "outcome", None)
CHOICES = (0.0, 0.5, 1.0)  # outcomes of one comparison: right was chosen, nobody, left
LARGEST_CODE = np.iinfo(np.int32).max
LARGEST_COUNT = 1e100  # count of one comparison, and 1 / LARGEST_COUNT the least: squares and inverses must be numbers


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Comparisons:
    """Outcomes of pairwise comparisons: user[k] chose between the items left[k] and right[k].

    Comparisons are immutable; `take` and `with_ids` return new ones.

    Parameters
    ----------
    user, left, right : (m,) whole numbers from 0
    outcome : (m,) array in [0, 1]
        1 if the left item was chosen, 0 if the right one was, 0.5 for a tie; or the probability (or fraction) of left.
    n_users, n_items : int, optional
        n1 and n2. Default: the largest code plus one.
    counts : (m,) array in [1e-100, 1e100], optional
        How often each comparison was made; `outcome` is then the fraction for left. Default: once.
    same_item : {"error", "drop"}
        Whether to refuse comparisons of an item with itself, which carry no information, or to drop them with a
        `DataWarning`.
    prompt : (m,) whole numbers from 0, optional
        The question (a prompt, a picture, a day), if questions repeat: `rank` allows for similar answers to one prompt.

    Attributes
    ----------
    user, left, right : (m,) int32, outcome : (m,) float, counts : (m,) float or None, prompt : (m,) int32 or None
        Sorted by user (stably), so that passes over the data read memory in order.
    users, items : tuples, or ranges
        The caller's ids in the order of the codes; the codes themselves unless built by `from_frame` or `from_csv`.

    Raises a CofactorError if there are no comparisons, lengths differ, codes are not integers in range, outcomes are
    missing or outside [0, 1], counts are not positive, or an item is compared with itself; the first ten rows are
    named.

    Cost: O(m log m) time, O(m) memory.

    >>> Comparisons(user=[0, 1, 0], left=[0, 2, 1], right=[1, 0, 2], outcome=[1, 0, 0.5])
    Comparisons(3 comparisons of 3 items by 2 users)
    """

    user: Codes
    left: Codes
    right: Codes
    outcome: Floats
    counts: Floats | None
    users: Sequence[Any]
    items: Sequence[Any]
    prompt: Codes | None = None

    def __init__(
        self,
        user: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        outcome: ArrayLike,
        n_users: int | None = None,
        n_items: int | None = None,
        counts: ArrayLike | None = None,
        same_item: SameItem = "error",
        prompt: ArrayLike | None = None,
    ) -> None:
        given = {"user": user, "left": left, "right": right} | ({} if prompt is None else {"prompt": prompt})
        codes = {name: whole_codes(values, name, LARGEST_CODE).astype(np.int32) for name, values in given.items()}
        columns: dict[str, NDArray[Any]] = {**codes, "outcome": numbers(outcome, "outcome", 1)}
        w, rule = columns["outcome"], "outcomes must lie in [0, 1], with 1 if left was chosen"
        advice = "drop these rows, or rescale (for -1 and 1: (outcome + 1) / 2)"
        _refuse(w, ~((w >= 0) & (w <= 1)), rule, advice)
        if counts is not None:
            columns["counts"] = _counts(counts)
        if len({len(values) for values in columns.values()}) > 1:
            found = listing(f"{len(values)} of {name}" for name, values in columns.items())
            raise CofactorError(f"lengths differ: {found}; pass one value of each per comparison")
        if not len(w):
            raise CofactorError("there are no comparisons to learn from")
        items = np.append(codes["left"], codes["right"])
        sizes = _size(codes["user"], n_users, "user"), _size(items, n_items, "item")
        require_bytes(40.0 * sum(sizes), f"counts of {sizes[0]} users and {sizes[1]} items")
        columns = _without_same_items(columns, same_item)
        order = np.argsort(columns["user"], kind="stable")
        sorted_columns = {name: np.ascontiguousarray(values[order]) for name, values in columns.items()}
        self.__setstate__({"counts": None, **sorted_columns, "users": range(sizes[0]), "items": range(sizes[1])})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set all attributes, with read-only arrays, also when unpickling."""
        self.__dict__.update({name: _read_only(value) for name, value in state.items()})

    def _with(self, **parts: Any) -> Self:
        """Return a copy with some attributes replaced; their rows must be sorted by user."""
        names = ("user", "left", "right", "outcome", "counts", "users", "items", "prompt")
        other = object.__new__(type(self))
        other.__setstate__({name: getattr(self, name) for name in names} | parts)
        return other

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        user: str = "user",
        left: str = "left",
        right: str = "right",
        outcome: str = "outcome",
        counts: str | None = None,
        same_item: SameItem = "error",
    ) -> Self:
        """Read a long table with one row per comparison; the arguments name its columns.

        If left, right and outcome are neither in the table nor named, columns are recognised as by `cofactor.rank`,
        such as winner and loser, or home and away with goals; without a user column, all comparisons belong to one
        user. Ids may be any hashable objects; codes follow their sorted order if they can be sorted. Errors are those
        of the class; in addition, a column, user or item may be missing.

        >>> frame = pd.DataFrame({"user": ["ann", "bob"], "left": ["tea", "tea"], "right": ["milk", "gin"]})
        >>> Comparisons.from_frame(frame.assign(outcome=[1, 0])).items
        ('gin', 'milk', 'tea')
        >>> Comparisons.from_frame(pd.DataFrame({"winner": ["tea", "gin"], "loser": ["milk", "tea"]}))
        Comparisons(2 comparisons of 3 items by 1 users)
        """
        from cofactor.reading.votes import comparisons_of, read_votes

        unnamed = (user, left, right, outcome, counts) == COLUMNS
        if unnamed and isinstance(frame, pd.DataFrame) and not {left, right, outcome} & set(frame.columns):
            return cast("Self", read_votes(frame)[0])
        return comparisons_of(cls, frame, (user, left, right, outcome, counts), same_item, text=False)

    @classmethod
    def from_csv(
        cls,
        path: str | PathLike[str],
        user: str = "user",
        left: str = "left",
        right: str = "right",
        outcome: str = "outcome",
        counts: str | None = None,
        same_item: SameItem = "error",
        encoding: str = "utf-8-sig",
        sep: str | None = None,
    ) -> Self:
        """Read a file with one row per comparison: CSV with a header row, Parquet or JSON, possibly compressed.

        Ids are kept as written ("007" is not 7), without surrounding blanks, unless all ids of a column are plain
        integers. By default, `sep` is detected among comma, tab, semicolon and ``|``. The other arguments and errors
        are those of `from_frame`.
        """
        from cofactor.reading.votes import read_comparisons

        names = user, left, right, outcome, counts
        return read_comparisons(cls, path, names, same_item, encoding, sep)

    def __repr__(self) -> str:
        return f"Comparisons({len(self)} comparisons of {self.n_items} items by {self.n_users} users)"

    def __len__(self) -> int:
        return len(self.user)

    @property
    def n_users(self) -> int:
        """n1, the number of users, including those without comparisons."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """n2, the number of items, including those never compared."""
        return len(self.items)

    @property
    def total(self) -> float:
        """The number of comparisons made: m, or the sum of `counts`."""
        return float(len(self)) if self.counts is None else float(self.counts.sum())

    def with_ids(self, users: Iterable[Any] | None = None, items: Iterable[Any] | None = None) -> Self:
        """Return the same comparisons with new ids of users or items, in the order of the codes.

        Raises a CofactorError if the number of ids is wrong, or an id occurs twice (it is named).
        """
        given = {"users": users, "items": items}
        ids = {name: tuple(values) for name, values in given.items() if values is not None}
        for name, values in ids.items():
            if len(values) != len(getattr(self, name)):
                raise CofactorError(f"{len(values)} ids for {len(getattr(self, name))} {name}: pass one id each")
            if twice := [value for value, count in Counter(values).items() if count > 1]:
                raise CofactorError(f"several {name} have the same id: {listing(twice)}; ids must be unique")
        return self._with(**ids)

    @cached_property
    def noisy(self) -> bool:
        """Whether outcomes are choices (0, 1 or ties, or fractions with counts) and not exact probabilities."""
        return self.counts is not None or bool(np.isin(self.outcome, CHOICES).all())

    @cached_property
    def per_user(self) -> NDArray[np.intp]:
        """(n1,) number of comparisons of every user."""
        return _read_only(np.bincount(self.user, minlength=self.n_users))

    @cached_property
    def per_item(self) -> NDArray[np.intp]:
        """(n2,) number of comparisons of every item."""
        codes = np.concatenate([self.left, self.right])
        return _read_only(np.bincount(codes, minlength=self.n_items))

    @cached_property
    def components(self) -> Codes:
        """(n2,) connected component of every item in the graph of compared items, -1 for items never compared.

        Components are numbered from 0 in the order of their first items. No comparisons link items in different
        components, not even through other items.
        """
        edges = sparse.coo_array((np.ones(len(self), dtype=bool), (self.left, self.right)), (self.n_items,) * 2)
        label = csgraph.connected_components(edges.tocsr(), directed=False)[1]
        found = np.full(self.n_items, -1, dtype=np.int32)
        seen = self.per_item > 0
        found[seen] = pd.factorize(label[seen])[0]
        return _read_only(found)

    @property
    def n_components(self) -> int:
        """The number of connected components; one if all compared items are linked."""
        return int(self.components.max()) + 1

    def take(self, rows: ArrayLike) -> Self:
        """Return a subset, given by a mask or by positions in the sorted arrays; all users and items are kept."""
        chosen = positions(rows, len(self), "rows to take")
        if not chosen.size:
            raise CofactorError("no comparisons are selected: take at least one")
        chosen = chosen[np.argsort(self.user[chosen], kind="stable")]
        names = ("user", "left", "right", "outcome", "counts", "prompt")
        return self._with(**{name: getattr(self, name)[chosen] for name in names if getattr(self, name) is not None})

    def hold_out(self, share: float = 0.1, random_state: Seed = None, by_items: bool = False) -> tuple[Self, Self]:
        """Split at random into training and held-out comparisons, with about a fraction `share` of every user held out.

        Of a user with n comparisons, `share` * n are held out, rounded at random, but never all of them.

        `by_items`: instead, hide a fraction sqrt(`share`) of the items from every user and hold out the comparisons
        between two hidden items; comparisons with one hidden item are in neither part. This tests predictions for items
        that are new to the user, even if pairs made from ratings or orderings follow from one another.

        >>> learn, held = Comparisons([0] * 10, [0] * 10, [1] * 10, [1] * 10).hold_out(0.2, random_state=0)
        >>> len(learn), len(held)
        (8, 2)
        """
        if not is_number(share) or not 0 < share < 1:
            raise CofactorError(f"share={share!r}: must be strictly between 0 and 1")
        rng = rng_of(random_state)
        if by_items:
            n_hidden = self._hidden_items(np.sqrt(share), rng)
            out, learnt = n_hidden == 2, n_hidden == 0
        else:
            out = _some_of_each(self.user, self.n_users, share, rng)
            learnt = ~out
        if not out.any():
            raise CofactorError(
                f"nothing to hold out: no user has enough comparisons to hold out a fraction of {share}"
            )
        return self.take(learnt), self.take(out)

    def _hidden_items(self, share: float, rng: np.random.Generator) -> NDArray[np.intp]:
        """Hide a fraction of every user's items; return the hidden items per comparison, 0 if a user would lose all."""
        user = self.user.astype(np.int64)
        met, code = np.unique(np.stack([user, user]) * self.n_items + [self.left, self.right], return_inverse=True)
        hidden = _some_of_each(met // self.n_items, self.n_users, share, rng)[code.reshape(2, -1)].sum(axis=0)
        return np.asarray(hidden * (np.bincount(self.user, hidden == 0, self.n_users) > 0)[self.user])


def _read_only(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        values = values.view()
        values.flags.writeable = False
    return values


def _some_of_each(owner: NDArray[Any], n_owners: int, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw a fraction `share` of every owner's entries, rounded at random, but never all; owners must be sorted."""
    n = np.bincount(owner, minlength=n_owners)
    wanted = np.minimum(np.floor(share * n + rng.random(n_owners)).astype(np.intp), np.maximum(n - 1, 0))
    return np.asarray(_places(owner, n, rng) < wanted[owner])


def _places(owner: NDArray[Any], n: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Number every owner's entries from 0 in random order; `n` has the entries per owner, and owners are sorted."""
    order = np.lexsort((rng.random(len(owner)), owner))
    place = np.empty(len(owner), dtype=np.intp)
    place[order] = np.arange(len(owner)) - (np.cumsum(n) - n)[owner]
    return place


# ---- splits: each comparison is held out once, and answers that predict each other are held out together ----

Split = tuple[Comparisons, Comparisons]


def folds(comparisons: Comparisons, n: int, rng: np.random.Generator) -> list[Split]:
    """Return n splits into training and held-out comparisons that hold out every comparison once.

    All answers of a user about the same pair of items are in one fold, in either order; otherwise, repeated answers
    would predict one another. Every fold has about the same fraction of every user's pairs. Users who compared only one
    pair keep it in every fold. Folds without held-out comparisons are left out.

    Raises a CofactorError if no user compared two pairs.

    >>> data = Comparisons([0, 0, 0, 1, 1], [0, 1, 0, 1, 0], [1, 0, 2, 2, 1], [1, 0, 1, 1, 0])
    >>> [len(held) for _, held in folds(data, 2, np.random.default_rng(0))]
    [2, 3]
    """
    pair, owner = user_pairs(comparisons)
    count = np.bincount(owner, minlength=comparisons.n_users)
    fold = (_places(owner, count, rng) + rng.integers(n, size=len(count))[owner]) % n
    fold[count[owner] < 2] = -1
    of_row = fold[pair]
    found = [(comparisons.take(of_row != k), comparisons.take(of_row == k)) for k in range(n) if (of_row == k).any()]
    if not found:
        raise CofactorError(
            "nothing to hold out: no user compared two pairs of items; collect more comparisons per user, or set rank "
            "and ridge"
        )
    return found


def user_pairs(comparisons: Comparisons) -> tuple[Ints, Ints]:
    """Number the pairs of items per user; return the (m,) pair of every comparison and the user of every pair."""
    data = comparisons
    low, high = (side(data.left, data.right).astype(np.int64) for side in (np.minimum, np.maximum))
    distinct, code = np.unique(low * data.n_items + high, return_inverse=True)
    key, pair = np.unique(data.user.astype(np.int64) * len(distinct) + code, return_inverse=True)
    return pair, key // len(distinct)


def held_out_once(comparisons: Comparisons) -> int:
    """Return how many comparisons `folds` holds out in total."""
    pair, owner = user_pairs(comparisons)
    return int((np.bincount(owner)[owner] > 1)[pair].sum())


# ---- checks ----


def _counts(values: ArrayLike) -> Floats:
    counts = numbers(values, "counts", 1)
    _refuse(counts, ~((counts > 0) & np.isfinite(counts)), "counts must be positive and finite", "drop these rows")
    rule = f"counts must lie between {1 / LARGEST_COUNT:g} and {LARGEST_COUNT:g}, or their squares overflow"
    _refuse(counts, (counts < 1 / LARGEST_COUNT) | (counts > LARGEST_COUNT), rule, "rescale the counts")
    return counts


def _refuse(values: NDArray[Any], bad: NDArray[np.bool_], rule: str, advice: str) -> None:
    """Raise a CofactorError that names the rows that break a rule, if there are any."""
    if bad.any():
        found = listing(f"row {k}: {values[k]}" for k in np.flatnonzero(bad))
        raise CofactorError(f"{rule}, but this does not hold in {found}; {advice}")


def _size(code: Codes, limit: int | None, name: str) -> int:
    if limit is None:
        return int(code.max()) + 1
    check_whole(1, **{f"n_{name}s": limit})
    bad = np.flatnonzero(code >= limit)
    if bad.size:
        found = listing(np.unique(code[bad]).tolist())
        raise CofactorError(f"{name} codes must be below n_{name}s={limit}, but these are not: {found}")
    return int(limit)


def _without_same_items(columns: dict[str, NDArray[Any]], same_item: SameItem) -> dict[str, NDArray[Any]]:
    if same_item not in ("error", "drop"):
        raise CofactorError(f"same_item={same_item!r}: must be 'error' or 'drop'")
    same = columns["left"] == columns["right"]
    if not same.any():
        return columns
    rows = listing(np.flatnonzero(same).tolist())
    if same_item == "error":
        raise CofactorError(
            f"an item is compared with itself in rows {rows}: drop these rows, or pass same_item='drop'"
        )
    if same.all():
        raise CofactorError("every comparison is of an item with itself, so there is nothing to learn from")
    message = f"{int(same.sum())} comparisons of an item with itself were dropped (rows {rows}); check these rows"
    warnings.warn(message, DataWarning, stacklevel=3)
    return {name: values[~same] for name, values in columns.items()}

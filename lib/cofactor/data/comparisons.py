"""Pairwise choices made by real people, and comparisons derived from ratings.

reader   a line is                                  numbers
food     user,item_a,item_b,preference              users from 0, items from 1; preference 1 (a), -1 (b), 0 (neither)
         item,name
cars     User ID, Item1 ID, Item2 ID, Is Control    all from 1; Item1 was preferred; 1: a control question
         Item ID, BodyType, ...                     items from 1, then numbers
colors   a MATLAB file, with the arrays             SingPrefAFCload[left, right, user]: 1 (left), 2 (right), 0 (none)
                                                    CIELAB: lightness, green to red, blue to yellow of each colour
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.comparisons.data import Comparisons
from cofactor.core.checks import check_whole, finite_numbers, numbers, rng_of, unmasked
from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats, Seed
from cofactor.data.matlab import load_matlab
from cofactor.data.readers import SHOWN, lines_of, quoted

CODE = r"(?:0|[1-9]\d{0,5})"
DECIMAL = r"\d{1,6}(?:\.\d{1,6})?"
FOOD = re.compile(rf"{CODE},{CODE},{CODE},(?:-1|0|1)\r?", re.ASCII)
RECIPE = re.compile(rf"{CODE},[^,]+")
CHOICE = re.compile(rf"{CODE},{CODE},{CODE},[01]\r?", re.ASCII)
CAR = re.compile(rf"{CODE}(?:,{DECIMAL})+\r?", re.ASCII)
LINE_OF_FOOD, LINE_OF_RECIPES = "user,item_a,item_b,preference", "item,name"
LINE_OF_CHOICES = "User ID, Item1 ID, Item2 ID, Is Control"
FIRST_OF_CARS = "Item ID"
ANSWERS = "SingPrefAFCload"


@dataclass(frozen=True, eq=False)
class ComparisonsDataset:
    """Choices between two items, and what is known about the items.

    Attributes
    ----------
    name, title : str
    comparisons : Comparisons
        Users are numbered from zero, as in the source; so are items, unless they have names, which are then their ids.
    features : (n2, P) array
        Numbers that describe the items, as in the source; P may be zero.
    feature_names : list of P names
    controls : Comparisons or None
        Questions that were asked again to detect random answers, if the set has them; not part of `comparisons`.
    citation, licence : str
    """

    name: str
    title: str
    comparisons: Comparisons = field(repr=False)
    features: Floats = field(repr=False)
    feature_names: list[str] = field(default_factory=list, repr=False)
    controls: Comparisons | None = field(default=None, repr=False)
    citation: str = field(default="", repr=False)
    licence: str = field(default="", repr=False)

    def __repr__(self) -> str:
        data = self.comparisons
        found = f"{len(data)} comparisons of {data.n_items} items by {data.n_users} users"
        return f"ComparisonsDataset({self.name!r}, {found})"


def read_food(path: Path, items: Path, n_users: int, n_items: int) -> Comparisons:
    """Read preferences between recipes, whose ids are their names; ties have the outcome 0.5.

    Raises a CofactorError if a file cannot be read, or contains malformed lines (the first ten are listed), codes out
    of range, or a recipe with no name or two.
    """
    answers = _numbers(path, LINE_OF_FOOD, FOOD)
    names = [line.split(",") for line in _lines(items, LINE_OF_RECIPES, RECIPE)]
    if [code for code, _ in names] != [str(i + 1) for i in range(n_items)]:
        raise CofactorError(f"{items}: expected the items 1 to {n_items} in order, one line each")
    user, left, right = (answers[:, :3] - [0, 1, 1]).T
    found = _compared(path, user, left, right, (answers[:, 3] + 1) / 2, n_users, n_items)
    return found.with_ids(items=[name.rstrip("\r") for _, name in names])


def read_cars(path: Path, n_users: int, n_items: int) -> tuple[Comparisons, Comparisons]:
    """Read choices between cars, and the control questions; errors as for `read_food`."""
    answers = _numbers(path, LINE_OF_CHOICES, CHOICE)
    control = answers[:, 3] == 1
    user, winner, loser = (answers[:, :3] - 1).T

    def those(rows: NDArray[np.bool_]) -> Comparisons:
        return _compared(path, user[rows], winner[rows], loser[rows], np.ones(rows.sum()), n_users, n_items)

    return those(~control), those(control)


def read_car_features(path: Path, n_items: int) -> tuple[Floats, list[str]]:
    """Read the numbers that describe each car, and their names; errors as for `read_food`."""
    lines = lines_of(path)
    first, *names = [name.strip() for name in lines[0].split(",")]
    if first != FIRST_OF_CARS or not names:
        raise CofactorError(f"{path}, line 1: expected {FIRST_OF_CARS} and further columns, got {lines[0][:SHOWN]!r}")
    _check(path, lines[1:], CAR)
    rows = [line.split(",") for line in lines[1:]]
    numbered = [row[0] for row in rows] == [str(i + 1) for i in range(n_items)]
    if not numbered or any(len(row) != 1 + len(names) for row in rows):
        raise CofactorError(f"{path}: expected items 1 to {n_items} in order, {len(names)} numbers each")
    return np.array(rows, dtype=np.float64)[:, 1:], names


def read_colors(path: Path, n_users: int, n_items: int) -> tuple[Comparisons, Floats]:
    """Read choices between colours from a MATLAB file, and the coordinates of the colours.

    Raises a CofactorError if the file cannot be read, or has other shapes or answers.
    """
    answers, colours = (numbers(found, str(path)) for found in load_matlab(path, [ANSWERS, "CIELAB"]).values())
    shapes = (n_items, n_items, n_users), (n_items, 3)
    if (answers.shape, colours.shape) != shapes or not np.isin(answers, (0, 1, 2)).all():
        raise CofactorError(f"{path}: expected answers 0 to 2 of shape {shapes[0]} and colours of shape {shapes[1]}")
    left, right, user = np.nonzero(answers)
    left_won = answers[left, right, user] == 1
    return _compared(path, user, left, right, left_won.astype(np.float64), n_users, n_items), colours


def comparisons_from_ratings(
    user: ArrayLike,
    item: ArrayLike,
    rating: ArrayLike,
    most: int | None = None,
    n_users: int | None = None,
    n_items: int | None = None,
    random_state: Seed = None,
) -> Comparisons:
    """Derive comparisons from ratings: of each pair that a user rated differently, the item rated higher is chosen.

    Such comparisons contain less than the ratings, and do not show how people answer when they are asked to compare.
    Pairs with equal ratings are left out.

    Parameters
    ----------
    user, item : (E,) codes from 0
    rating : (E,) numbers
    most : int, optional
        Largest number of pairs per user, drawn at random. Default: all pairs.
    n_users, n_items : int, optional
        Default: the largest code plus one.

    Raises
    ------
    CofactorError
        Lengths differ, no user rated two items differently, or `Comparisons` refuses the result.

    Cost: O(sum of squares of ratings per user).

    >>> made = comparisons_from_ratings([0, 0, 0, 1, 1], [0, 1, 2, 0, 2], [5.0, 3.0, 3.0, 1.0, 4.0])
    >>> made.user.tolist(), made.left.tolist(), made.right.tolist(), made.outcome.tolist()
    ([0, 0, 1], [0, 0, 0], [1, 2, 2], [1.0, 1.0, 0.0])
    """
    who, what = (unmasked(values) for values in (user, item))
    stars = finite_numbers(rating, "rating")
    if not who.shape == what.shape == stars.shape:
        raise CofactorError(f"{who.size} users, {what.size} items and {stars.size} ratings: give equal lengths")
    if most is not None:
        check_whole(1, most=most)
    rng = rng_of(random_state)
    order = np.argsort(who, kind="stable")
    cuts = np.flatnonzero(np.diff(who[order])) + 1
    pairs = np.concatenate([_pairs(own, stars, most, rng) for own in np.split(order, cuts)])
    if not len(pairs):
        raise CofactorError("no user rated two items differently, so no comparison can be derived")
    a, b = pairs.T
    return Comparisons(who[a], what[a], what[b], (stars[a] > stars[b]).astype(np.float64), n_users, n_items)


def _pairs(own: NDArray[np.intp], stars: Floats, most: int | None, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return pairs of positions of a user's ratings that differ, at most `most` of them."""
    a, b = (own[k] for k in np.triu_indices(len(own), 1))
    differ = np.flatnonzero(stars[a] != stars[b])
    if most is not None and len(differ) > most:
        differ = np.sort(rng.choice(differ, most, replace=False))
    return np.stack([a[differ], b[differ]], axis=1)


# ---- lines ----


def _compared(
    path: Path, user: ArrayLike, left: ArrayLike, right: ArrayLike, outcome: ArrayLike, n_users: int, n_items: int
) -> Comparisons:
    try:
        return Comparisons(user, left, right, outcome, n_users, n_items)
    except CofactorError as error:
        raise CofactorError(f"{path}: {error}") from None


def _numbers(path: Path, header: str, well_formed: re.Pattern[str]) -> NDArray[np.int64]:
    return np.array([line.split(",") for line in _lines(path, header, well_formed)], dtype=np.int64)


def _lines(path: Path, header: str, well_formed: re.Pattern[str]) -> list[str]:
    lines = lines_of(path)
    if lines[0].rstrip("\r") != header:
        raise CofactorError(f"{path}, line 1: expected {header!r}, got {lines[0][:SHOWN]!r}")
    _check(path, lines[1:], well_formed)
    return lines[1:]


def _check(path: Path, lines: list[str], well_formed: re.Pattern[str]) -> None:
    bad = quoted((n, line) for n, line in enumerate(lines, 2) if not well_formed.fullmatch(line))
    if bad or not lines:
        raise CofactorError(f"{path}: lines do not match the header: {bad or 'the file ends after line 1'}")

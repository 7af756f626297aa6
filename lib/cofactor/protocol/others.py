"""What a method of a table, of points or of comparisons must keep to, tried on small data."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from cofactor.comparisons.data import Comparisons
from cofactor.core.errors import CofactorError
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.protocol.answers import Problem, answer_by
from cofactor.protocol.labels import REFUSED

CLOSE = 1e-4  # of chances
K = 4  # anchors among the points


def _asked(method: Any, problem: Problem) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return answer_by(method, problem)


def _accepts(ask: Callable[[Any, Any], Any], change: Callable[[Any], Any]) -> Callable[[Any, Any, Any], str]:
    """Return the check that a method answers or refuses such data, and does not stop."""

    def check(method: Any, data: Any, plain: Any) -> str:
        try:
            ask(method, change(data))
        except CofactorError as error:
            if any(words in str(error) for words in REFUSED):
                return str(error)
        return ""

    return check


# ---- tables ----


def table() -> CategoricalTable:
    """80 rows of five columns with three values, of two hidden classes; a tenth of the cells is missing."""
    rng = np.random.default_rng(13)  # no column has two values that are as frequent
    hidden = rng.integers(2, size=(80, 1))
    common = np.where(hidden == 1, [0, 1, 2, 0, 1], [2, 0, 1, 1, 2])
    codes = np.where(rng.random((80, 5)) < 0.75, common, rng.integers(3, size=(80, 5)))
    return _table(np.where(rng.random((80, 5)) < 0.9, codes, -1))


def _table(codes: Any) -> CategoricalTable:
    return CategoricalTable(codes, [3] * codes.shape[1])


def filled(method: Any, data: CategoricalTable) -> Ints:
    """Return the codes that the method has for the missing cells, and those that are known."""
    codes, cells = np.array(data.codes), np.argwhere(data.codes < 0)
    codes[tuple(cells.T)] = _asked(method, Problem("pmf", data, cells))
    return codes


def cells_differ(one: Ints, other: Ints, what: str) -> str:
    """Say how many cells are filled otherwise."""
    moved = int((one != other).sum())
    return f"{what}: {moved} cells are filled otherwise" if moved else ""


def _table_kept(method: Any, data: CategoricalTable, plain: Ints) -> str:
    given = _table(np.array(data.codes))
    filled(method, given)
    return "" if np.array_equal(given.codes, data.codes) else "it changes the table that it is given: work on a copy"


def _rows_moved(method: Any, data: CategoricalTable, plain: Ints) -> str:
    rows = np.random.default_rng(0).permutation(len(data.codes))
    return cells_differ(plain[rows], filled(method, _table(data.codes[rows])), "the order of the rows matters")


def _columns_moved(method: Any, data: CategoricalTable, plain: Ints) -> str:
    columns = np.array([3, 0, 4, 1, 2])
    found = filled(method, _table(data.codes[:, columns]))
    return cells_differ(plain[:, columns], found, "the order of the columns matters")


def _values_moved(method: Any, data: CategoricalTable, plain: Ints) -> str:
    new = np.array([2, 0, 1, -1])  # the last for what is missing
    return cells_differ(new[plain], filled(method, _table(new[data.codes])), "the order of the values matters")


def _cells(change: Callable[[Any], Any]) -> Callable[[Any, Any, Any], str]:
    return _accepts(filled, lambda data: _table(change(np.array(data.codes))))


def _one_cell(codes: Any) -> Any:
    single, place = np.full_like(codes, -1), np.arange(len(codes))
    single[place, place % codes.shape[1]] = np.maximum(codes[place, place % codes.shape[1]], 0)
    return single


def _empty(where: Any) -> Callable[[Any], Any]:
    def change(codes: Any) -> Any:
        codes[where] = -1
        return codes

    return change


TABLES = {
    "input": _table_kept,
    "order": _rows_moved,
    "columns": _columns_moved,
    "values": _values_moved,
    "one cell a row": _cells(_one_cell),
    "a row without cells": _cells(_empty(0)),
    "a column without cells": _cells(_empty((slice(None), 0))),
    "one value only": _cells(lambda codes: np.minimum(codes, 0)),
    "two rows": _cells(lambda codes: codes[:2]),
}


# ---- points ----


def points() -> Floats:
    """30 points of 12 numbers, mixtures of four of them, with little noise."""
    rng = np.random.default_rng(0)
    weights = np.column_stack([np.eye(K), rng.dirichlet(np.full(K, 0.8), 26).T])
    X = rng.random((12, K)) @ weights + 1e-4 * rng.random((12, 30))
    return np.ascontiguousarray(X[:, rng.permutation(30)])


def anchors(method: Any, X: Floats, n_anchors: int = K) -> Ints:
    """Return the columns that the method takes for anchors, sorted."""
    return np.sort(_asked(method, Problem("separable", X.copy(), n_anchors)))


def anchors_differ(one: Ints, other: Ints, what: str) -> str:
    """Say how many anchors are others."""
    moved = len(set(one.tolist()) - set(other.tolist()))
    return f"{what}: {moved} of {len(one)} anchors are others" if moved else ""


def _points_kept(method: Any, X: Floats, plain: Ints) -> str:
    given = X.copy()
    _asked(method, Problem("separable", given, K))
    return "" if np.array_equal(given, X) else "it changes the matrix that it is given: work on a copy"


def _points_moved(method: Any, X: Floats, plain: Ints) -> str:
    order = np.random.default_rng(1).permutation(X.shape[1])
    found = order[anchors(method, np.ascontiguousarray(X[:, order]))]
    return anchors_differ(plain, found, "the order of the points matters")


def _numbers_moved(method: Any, X: Floats, plain: Ints) -> str:
    order = np.random.default_rng(1).permutation(len(X))
    return anchors_differ(plain, anchors(method, np.ascontiguousarray(X[order])), "the order of the rows matters")


def _scaled(method: Any, X: Floats, plain: Ints) -> str:
    return anchors_differ(plain, anchors(method, 1024 * X), "the unit of the numbers matters")


def _points(change: Callable[[Any], Any], n_anchors: int = K) -> Callable[[Any, Any, Any], str]:
    return _accepts(lambda method, X: anchors(method, X, n_anchors), change)


POINTS = {
    "input": _points_kept,
    "order": _points_moved,
    "rows": _numbers_moved,
    "scale": _scaled,
    "equal points": _points(lambda X: np.hstack([X, X])),
    "a point of zeros": _points(lambda X: np.hstack([X, np.zeros((len(X), 1))])),
    "one anchor": _points(lambda X: X, 1),
    "all points are one": _points(lambda X: np.repeat(X[:, :1], 6, axis=1)),
    "as many anchors as points": _points(lambda X: X[:, :K]),
}


# ---- comparisons ----

USERS, ITEMS = 12, 6


def comparisons() -> Comparisons:
    """360 comparisons of six items by twelve users, an item better than the next; a tenth are ties."""
    rng = np.random.default_rng(0)
    user, left = rng.integers(USERS, size=360), rng.integers(ITEMS, size=360)
    right = (left + rng.integers(1, ITEMS, 360)) % ITEMS
    won = (rng.random(360) < 1 / (1 + np.exp(0.6 * (left - right)))).astype(float)
    return _choices(user, left, right, np.where(rng.random(360) < 0.1, 0.5, won))


def _choices(user: Any, left: Any, right: Any, outcome: Any) -> Comparisons:
    return Comparisons(user, left, right, outcome, USERS, ITEMS)


def chances(method: Any, data: Comparisons) -> Floats:
    """Return the (users, items, items) chances of the left item; of an item with itself 0.5."""
    left, right = np.nonzero(~np.eye(ITEMS, dtype=bool))
    asked = np.column_stack([np.repeat(np.arange(USERS), len(left)), np.tile([left, right], USERS).T])
    found = np.full((USERS, ITEMS, ITEMS), 0.5)
    found[tuple(asked.T)] = _asked(method, Problem("comparisons", data, asked))
    return found


def chances_differ(one: Floats, other: Floats, what: str) -> str:
    """Say how far chances move."""
    most = float(np.abs(one - other).max())
    return f"{what}: chances move by up to {most:.2g}" if most > CLOSE else ""


def _ids(method: Any, data: Comparisons, plain: Floats) -> str:
    rng = np.random.default_rng(1)
    user, item = rng.permutation(USERS), rng.permutation(ITEMS)
    found = chances(method, _choices(user[data.user], item[data.left], item[data.right], data.outcome))
    back = found[np.ix_(user, item, item)]
    return chances_differ(plain, back, "the numbers of users and items matter")


def _order(method: Any, data: Comparisons, plain: Floats) -> str:
    order = np.random.default_rng(2).permutation(len(data))
    other = chances(method, data.take(order))
    return chances_differ(plain, other, "the order of the comparisons matters")


def _sides(method: Any, data: Comparisons, plain: Floats) -> str:
    other = chances(method, _choices(data.user, data.right, data.left, 1 - data.outcome))
    return chances_differ(plain, other, "it matters which item stood left")


def _given(change: Callable[[Comparisons], Any]) -> Callable[[Any, Any, Any], str]:
    return _accepts(chances, change)


def _first_of_each(data: Comparisons) -> Comparisons:
    return data.take(np.unique(data.user, return_index=True)[1])


CHOICES = {
    "ids": _ids,
    "order": _order,
    "sides": _sides,
    "one comparison a user": _given(_first_of_each),
    "a user without comparisons": _given(lambda data: data.take(data.user > 0)),
    "an item without comparisons": _given(lambda data: data.take((data.left > 0) & (data.right > 0))),
    "one user only": _given(lambda data: data.take(data.user == 0)),
    "one outcome only": _given(lambda data: _choices(data.user, data.left, data.right, np.ones(len(data)))),
    "ties only": _given(lambda data: _choices(data.user, data.left, data.right, np.full(len(data), 0.5))),
}

"""Cells of joint moments, grouped so that a factor shared by many cells is formed once.

A sum over the cells of third moments, such as V[a] += X[a, b, c] A[b] * A[c], meets the same product A[b] * A[c] once
for every value a of the variable that is solved for. So the cells are listed under each of their variables, and there
in groups of the same other values.

    symbol   meaning                                                     shape
    V        sum of all alphabet sizes
    d        entrywise product of the rows of A of a group's values      (F,)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cofactor.core.lazy import njit
from cofactor.core.types import Floats, Ints


class CellGroups(NamedTuple):
    """Cells of one order, listed under each of their variables.

    Variable n has the groups variables[n] to variables[n + 1]; group g has the cells groups[g] to groups[g + 1].
    """

    variables: Ints  # (N + 1,)
    groups: Ints  # (groups + 1,)
    others: NDArray[np.int32]  # (groups, order - 1) stacked values, those of the other variables
    own: NDArray[np.int32]  # (cells,) stacked value of the variable itself
    value: Floats  # (cells,)

    @classmethod
    def of(cls, cells: Ints, value: Floats, sizes: Ints) -> CellGroups:
        """Group (order, Z) stacked values a < b < ... and their Z moments. O(Z log Z) time, 84 bytes a cell at most."""
        order, V, owner = len(cells), int(sizes.sum()), np.repeat(np.arange(len(sizes)), sizes)
        own = np.concatenate(list(cells))
        key = owner[own]
        others = [np.concatenate(list(column)) for column in _others(cells)]
        for column in others:
            key = key * V + column  # at most N V^2: V is at most 2,000,000
        by_key = np.argsort(key, kind="stable")
        key, own = key[by_key], own[by_key]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        ends = np.searchsorted(owner[own[first]], np.arange(len(sizes) + 1))
        rows = np.stack([column[by_key[first]] for column in others], axis=1)
        return cls(
            ends.astype(np.int64),
            np.append(first, len(key)).astype(np.int64),
            rows.astype(np.int32),
            own.astype(np.int32),
            np.tile(value, order)[by_key],
        )


def _others(cells: Ints) -> list[list[Ints]]:
    """For each place but one: that index of every cell, as seen from its first, second, ... variable."""
    order = len(cells)
    return [[cells[place + (place >= seen)] for seen in range(order)] for place in range(order - 1)]


@njit(cache=True)
def add_products(cells: CellGroups, n: int, start: int, A: Floats, V: Floats) -> None:
    """Add value * d to the row of V, counted from stacked value `start`, of every cell of variable n."""
    F = A.shape[1]
    d = np.empty(F)
    for g in range(cells.variables[n], cells.variables[n + 1]):
        _product(cells.others, g, A, d)
        for e in range(cells.groups[g], cells.groups[g + 1]):
            row, value = np.uint64(cells.own[e] - start), cells.value[e]
            for f in range(F):
                V[row, f] += value * d[f]


@njit(cache=True)
def add_full_products(cells: CellGroups, A: Floats, v: Floats) -> None:
    """Add value * (product of all rows of A of a cell) to v; each cell is met once, under its first variable."""
    F = A.shape[1]
    d, inner = np.empty(F), np.empty(F)
    for g in range(len(cells.groups) - 1):
        if cells.own[cells.groups[g]] < cells.others[g, 0]:
            inner[:] = 0.0
            for e in range(cells.groups[g], cells.groups[g + 1]):
                row, value = np.uint64(cells.own[e]), cells.value[e]
                for f in range(F):
                    inner[f] += value * A[row, f]
            _product(cells.others, g, A, d)
            for f in range(F):
                v[f] += inner[f] * d[f]


@njit(cache=True)
def _product(others: NDArray[np.int32], g: int, A: Floats, d: Floats) -> None:
    """Put the product of a group into d. Unsigned indices and no slices: a third of the time in all."""
    first = np.uint64(others[g, 0])
    for f in range(len(d)):
        d[f] = A[first, f]
    for place in range(1, others.shape[1]):
        row = np.uint64(others[g, place])
        for f in range(len(d)):
            d[f] *= A[row, f]

"""Coding of the classifier's columns: categories by name, numbers with many values by quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError
from cofactor.core.lazy import pd
from cofactor.core.tables import MISSING
from cofactor.core.types import Floats, Ints

NUMBERS = ("integer", "floating", "mixed-integer-float")  # what pandas calls a column of numbers


@dataclass(frozen=True)
class Coding:
    """The values of a column, in the order of their codes; or the edges between its intervals.

    >>> Coding.of(np.array(["b", None, "a", "b"], dtype=object), 0, None).codes(np.array(["a", "c"], dtype=object))
    array([ 1, -1])
    >>> Coding.of(np.arange(100.0), 0, 4).codes(np.array([-5.0, 30.0, np.nan, 99.0]))
    array([ 0,  1, -1,  3])
    """

    values: pd.Index
    edges: Floats | None = None

    @classmethod
    def of(cls, column: NDArray[Any], n: int, n_bins: int | None) -> Coding:
        """Learn the coding of column `n`."""
        cells = as_objects(column)
        seen = cells[~pd.isna(cells)]
        try:
            values = pd.Index(pd.unique(seen), dtype=object)
        except TypeError:
            raise CofactorError(f"column {n} holds values that are neither numbers nor strings") from None
        if n_bins is None or len(values) <= n_bins or pd.api.types.infer_dtype(seen, skipna=True) not in NUMBERS:
            return cls(values)
        numbers = seen.astype(np.float64)
        edges = np.unique(np.quantile(numbers, np.linspace(0, 1, n_bins + 1)[1:-1]))
        return cls(values[:0], edges[edges > numbers.min()])

    @property
    def size(self) -> int:
        """How many codes there are; at least one."""
        return max(len(self.values), 1) if self.edges is None else len(self.edges) + 1

    def codes(self, column: NDArray[Any]) -> Ints:
        """Return the (S,) codes; missing where the cell is, or where its value was not seen."""
        cells = as_objects(column)
        if self.edges is None:
            return np.asarray(self.values.get_indexer(pd.Index(cells, dtype=object)), dtype=np.int64)
        numbers = np.asarray(pd.to_numeric(pd.Series(cells), errors="coerce"), dtype=np.float64)
        return np.where(np.isnan(numbers), MISSING, np.searchsorted(self.edges, numbers, side="right"))


def as_objects(column: NDArray[Any]) -> NDArray[Any]:
    """Return the column with Python objects for cells: what strings, numbers and missing values have in common."""
    return np.asarray(column, dtype=object)


def encode(X: NDArray[Any], codings: list[Coding]) -> tuple[Ints, list[tuple[int, int, Any]]]:
    """Return (S, N) codes, and (row, column, value) of every value that was there but has no code."""
    codes = np.column_stack([coding.codes(column) for coding, column in zip(codings, X.T, strict=True)])
    row, column = np.nonzero((codes == MISSING) & ~pd.isna(X))
    unseen = as_objects(X[row, column])  # 7.0 rather than np.float64(7.0)
    return codes, list(zip(row.tolist(), column.tolist(), unseen, strict=True))

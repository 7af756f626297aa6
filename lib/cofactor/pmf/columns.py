"""Coding of a column of text for `fill`: categories by name, numbers with many values by intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cofactor.core.cells import located
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import pd
from cofactor.core.tables import LARGEST_EXACT_CODE, MISSING
from cofactor.core.types import Floats, Ints

FEW_VALUES = 20  # values: a column of fewer is always taken as it is, one of more numbers is cut


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column of text as codes.

    Attributes
    ----------
    name : str
    observed : list of lists of str
        For every code the cells behind it: one text, or those of an interval, rising.
    edges : array or None
        Where all intervals but the first begin; None where codes are single values.
    often : (I,) ints
        How often each code was observed.
    """

    name: str
    observed: list[list[str]]
    edges: Floats | None
    often: Ints

    @classmethod
    def of(cls, cells: pd.Series[str], n_bins: int) -> CodedColumn:
        """Learn how a column is coded from its cells, missing ones among them; numbers rise, texts are in order."""
        known = cells.dropna()
        numbers = as_numbers(known)
        if numbers is None or known.nunique() <= FEW_VALUES:
            key = None if numbers is None else float
            values = sorted(sorted(known.unique()), key=key)
            often: Ints = np.asarray(known.value_counts().reindex(values), dtype=np.int64)
            return cls(str(cells.name), [[one] for one in values], None, often)
        edges = _edges(np.asarray(numbers, dtype=np.float64), n_bins)
        code = np.searchsorted(edges, numbers, side="right")
        order = np.argsort(numbers.to_numpy(), kind="stable")
        observed = [known.iloc[order[code[order] == one]].tolist() for one in range(len(edges) + 1)]
        return cls(str(cells.name), observed, edges, np.bincount(code, minlength=len(edges) + 1).astype(np.int64))

    @property
    def is_cut(self) -> bool:
        """Whether codes are intervals of numbers rather than single values."""
        return any(cells[0] != cells[-1] for cells in self.observed)

    @cached_property
    def is_numeric(self) -> bool:
        """Whether all values are numbers."""
        return as_numbers(pd.Series([cells[0] for cells in self.observed], dtype=object)) is not None

    def shown(self, code: int) -> str:
        """Return the text of a code for the user: its value, or the ends of its interval."""
        cells = self.observed[code]
        return cells[0] if cells[0] == cells[-1] else f"{cells[0]} to {cells[-1]}"

    def codes(self, cells: pd.Series[str]) -> Ints:
        """Return the (S,) codes of cells, missing where these are; refuse values without a code, with their rows."""
        found = self._places(cells) if self.edges is None else self._intervals(cells, self.edges)
        unknown = (found == MISSING) & cells.notna().to_numpy()
        if unknown.any():
            what = "what are no numbers" if self.edges is not None else "values never seen before"
            where = located(cells, unknown, cells[unknown].tolist())
            raise CofactorError(f"{self.name} holds {what}: {where}; mend them, leave them empty, or fit all rows anew")
        return found

    def _places(self, cells: pd.Series[str]) -> Ints:
        values = [one[0] for one in self.observed]
        found = np.asarray(pd.Index(values, dtype=object).get_indexer(pd.Index(cells, dtype=object)), dtype=np.int64)
        if self.is_numeric and len(set(map(float, values))) == len(values):  # 7.0 is 7
            numbers = pd.Index(pd.to_numeric(cells, errors="coerce"), dtype=np.float64)
            by_number = pd.Index(values).astype(np.float64).get_indexer(numbers)
            found = np.where((found == MISSING) & cells.notna().to_numpy(), by_number, found)
        return found

    def _intervals(self, cells: pd.Series[str], edges: Floats) -> Ints:
        numbers = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64)
        return np.where(np.isfinite(numbers), np.searchsorted(edges, numbers, side="right"), MISSING)


def as_numbers(cells: pd.Series[str]) -> pd.Series[float] | None:
    """Return cells as numbers, or None where they are text, also in part."""
    numbers = pd.to_numeric(cells, errors="coerce").astype(np.float64)
    return numbers if np.isfinite(numbers).all() else None


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of anything as text, missing where it is missing; whole numbers are written without a point.

    Raises a CofactorError where cells hold what is neither text, a number, a date nor a truth value.

    >>> as_text(pd.DataFrame({"age": [31.0, None], "hat": ["red", "blue"]})).values.tolist()
    [['31', 'red'], [nan, 'blue']]
    """
    columns = [_texts(frame.iloc[:, n], name) for n, name in enumerate(frame.columns)]
    found = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(len(frame)))
    return found.set_axis([str(name) for name in frame.columns], axis=1)


def _texts(column: pd.Series[Any], name: object) -> pd.Series[str]:
    cells = column.reset_index(drop=True)
    if pd.api.types.is_float_dtype(cells):
        numbers = cells.dropna().to_numpy(dtype=np.float64)
        if (numbers == np.floor(numbers)).all() and (np.abs(numbers) < LARGEST_EXACT_CODE).all():
            cells = cells.astype("Int64")
    nested = [row for row, cell in enumerate(cells.tolist()) if pd.api.types.is_list_like(cell)]
    if nested:
        where = located(cells, cells.index.isin(nested))
        raise CofactorError(f"column {name} holds lists or the like, no categories: {where}")
    text = cells.astype(object).where(cells.notna(), None)
    return text.map(lambda cell: cell if cell is None else str(cell).strip()).astype(object).where(cells.notna())


def _edges(numbers: Floats, n_bins: int) -> Floats:
    """Return where intervals begin: at quantiles; a value that would fill one by itself, such as zero, gets its own."""
    values, counts = np.unique(numbers, return_counts=True)
    often = counts * n_bins > len(numbers)
    rest = numbers[~np.isin(numbers, values[often])]
    shares = np.linspace(0, 1, max(n_bins - int(often.sum()), 1) + 1)[1:-1]
    quantiles = np.quantile(rest, shares) if rest.size else rest
    edges = np.unique(np.concatenate([values[often], values[1:][often[:-1]], quantiles]))
    _, first = np.unique(np.searchsorted(values, edges), return_index=True)  # between two edges lies a value
    edges = edges[first]
    return np.asarray(edges[edges > values[0]])


def names_of(columns: Sequence[CodedColumn]) -> list[str]:
    """Return the names of columns."""
    return [column.name for column in columns]

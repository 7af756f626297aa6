"""Files of categorical and numeric columns to codes.

format   columns            header              cells
csv      comma-separated    names               values as text, blanks around them dropped
commas   comma-separated    none                the same
blanks   blank-separated    none                the same
codes    comma-separated    none                position of the value in its column's list; past the last: missing
pmlb     tab-separated      names, "target"     position of the value among the sorted values of its column
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError, listing
from cofactor.core.tables import MISSING
from cofactor.core.types import Ints
from cofactor.data.readers import lines_of, quoted
from cofactor.data.registry import NUMBER

Texts = NDArray[np.str_]
Columns = Mapping[str, "list[str] | str"]

SEPARATORS = {"csv": ",", "commas": ",", "blanks": " ", "codes": ",", "pmlb": "\t"}
UNKNOWN = "?"  # how files write a missing value


@dataclass(frozen=True, eq=False)
class Column:
    """One column: (S,) codes, -1 where missing, and what each code stands for."""

    codes: Ints
    values: list[str]


def read_table(path: Path, reader: str, columns: Columns, target: str) -> list[Column]:
    """Read a table of values, in one of the formats above: one `Column` each. Cost: O(size of the file).

    Parameters
    ----------
    columns : mapping of name to values
        In the order of the columns. Values in the order of their codes; for "number", codes follow the numbers that
        occur, from the smallest.
    target : str
        The column that a header calls "target".

    Raises
    ------
    CofactorError
        Not readable, not text, another header, no rows, another number of columns, or a value that the column does not
        have. The first ten lines are named.
    """
    lines = lines_of(path)
    header = _header(reader, list(columns), target)
    if header and (found := lines.pop(0).rstrip("\r").split(SEPARATORS[reader])) != header:
        raise CofactorError(f"{path}, line 1: expected the columns {listing(header)}; got {listing(found)}")
    first = 2 if header else 1
    if not lines:
        raise CofactorError(f"{path}, line {first}: the file ends here, without any rows")
    cells = _cells(path, lines, SEPARATORS[reader], list(columns), first)
    spelt = [_spelt_out(path, reader, *pair, first) for pair in zip(cells.T, columns.values(), strict=True)]
    return [_column(path, name, columns[name], text, first) for name, text in zip(columns, spelt, strict=True)]


def _header(reader: str, names: list[str], target: str) -> list[str]:
    """Return the names in the first line; none where a format has no such line."""
    if reader == "csv":
        return names
    return ["target" if name == target else name for name in names] if reader == "pmlb" else []


def _cells(path: Path, lines: list[str], separator: str, names: list[str], first: int) -> Texts:
    rows = [[cell.strip() for cell in line.split(separator)] for line in lines]
    bad = quoted((first + s, lines[s]) for s, row in enumerate(rows) if len(row) != len(names))
    if bad:
        raise CofactorError(f"{path}: expected {len(names)} values separated by {separator!r}; not so in {bad}")
    return np.array(rows)


def _spelt_out(path: Path, reader: str, cells: Texts, values: list[str] | str, first: int) -> Texts:
    """Turn positions into the values at them, where a format writes positions."""
    if reader not in ("codes", "pmlb") or values == NUMBER:
        return cells
    spelling = np.array([*values, UNKNOWN] if reader == "codes" else sorted(values))
    known = np.isin(cells, np.arange(len(spelling)).astype(str))
    if not known.all():
        raise CofactorError(f"{path}: not a position among {len(spelling)} values in {_named(cells, ~known, first)}")
    return spelling[cells.astype(int)]


def _column(path: Path, name: str, values: list[str] | str, cells: Texts, first: int) -> Column:
    missing = cells == UNKNOWN
    if values == NUMBER:
        known = missing | np.array([_is_number(cell) for cell in cells])
        values = sorted(set(cells[known & ~missing].tolist()), key=lambda text: (float(text), text))
    else:
        known = missing | np.isin(cells, list(values))
    if not known.all():
        raise CofactorError(f"{path}: not a value of column {name!r} in {_named(cells, ~known, first)}")
    code: dict[Any, int] = {value: k for k, value in enumerate(values)} | {UNKNOWN: MISSING}
    return Column(np.array([code[cell] for cell in cells.tolist()], dtype=np.int64), list(values))


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal() and text.isascii()


def _named(cells: Texts, bad: NDArray[np.bool_], first: int) -> str:
    return quoted((first + s, str(cells[s])) for s in np.flatnonzero(bad).tolist())

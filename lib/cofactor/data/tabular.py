"""Files of categorical and numeric columns to codes.

format   columns            header              cells
commas   comma-separated    none                values as text, blanks around them dropped
blanks   blank-separated    none                the same
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
from cofactor.core.tables import MISSING, Ints
from cofactor.data.readers import SHOWN, text_of
from cofactor.data.registry import NUMBER

Texts = NDArray[np.str_]
Columns = Mapping[str, "list[str] | str"]

SEPARATORS = {"commas": ",", "blanks": " ", "pmlb": "\t"}
UNKNOWN = "?"  # how files write a missing value


@dataclass(frozen=True, eq=False)
class Column:
    """One column: (S,) codes, -1 where missing, and what each code stands for."""

    codes: Ints
    values: list[str]


def read_table(path: Path, reader: str, columns: Columns, target: str) -> list[Column]:
    """Read a table of values.

    Parameters
    ----------
    path : Path
    reader : {"commas", "blanks", "pmlb"}
        The format (see above).
    columns : mapping of name to values
        In the order of the columns. Values in the order of their codes; for "number", codes follow the numbers that
        occur, from the smallest.
    target : str
        The column that a header calls "target".

    Returns
    -------
    One `Column` each.

    Raises
    ------
    CofactorError
        Not readable, not text, another header, another number of columns, or a value that the column does not have.
        The first ten lines are named.

    Cost
    ----
    O(size of the file) time and memory.
    """
    lines = text_of(path).rstrip("\r\n").split("\n")
    first = 1
    if reader == "pmlb":
        first = 2
        _check_header(path, lines.pop(0).rstrip("\r").split("\t"), ["target" if c == target else c for c in columns])
    cells = _cells(path, lines, SEPARATORS[reader], list(columns), first)
    return [
        _column(
            path, name, values, _spelt_out(path, cells[:, n], values, first) if reader == "pmlb" else cells[:, n], first
        )
        for n, (name, values) in enumerate(columns.items())
    ]


def _check_header(path: Path, found: list[str], expected: list[str]) -> None:
    if found != expected:
        raise CofactorError(f"{path}, line 1: expected the columns {listing(expected)}; got {listing(found)}")


def _cells(path: Path, lines: list[str], separator: str, names: list[str], first: int) -> Texts:
    rows = [[cell.strip() for cell in line.split(separator)] for line in lines]
    bad = [f"line {s}: {lines[s - first][:SHOWN]!r}" for s, row in enumerate(rows, first) if len(row) != len(names)]
    if bad:
        raise CofactorError(
            f"{path}: expected {len(names)} values separated by {separator!r}; not so in {listing(bad)}"
        )
    return np.array(rows)


def _spelt_out(path: Path, cells: Texts, values: list[str] | str, first: int) -> Texts:
    """Turn positions among the sorted values into the values."""
    spelling = np.array(sorted(values))
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
    return listing(f"line {first + s}: {cells[s][:SHOWN]!r}" for s in np.flatnonzero(bad).tolist())

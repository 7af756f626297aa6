"""Read files of integer codes as arrays; errors name the file and the line.

    format   columns            first code   header
    tsv      tab-separated      1            none
    csv      comma-separated    0            names of the columns
    items    comma-separated    0            the same, but tasks are called item
    matrix   blank-separated    0            none; one row per task, one column per worker, -1: no label
    classes  one                0            none; one line per task
    npy      NumPy array of float32 features, one row per task

Lines end in LF or CRLF. Files whose names end in .gz are decompressed.

Tables of categorical and numeric columns have their own formats:

    format   columns            header              cells
    csv      comma-separated    names               values as text, blanks around them dropped
    commas   comma-separated    none                the same
    blanks   blank-separated    none                the same
    codes    comma-separated    none                position of the value in its column's list; past the last: missing
    pmlb     tab-separated      names, "target"     position of the value among the sorted values of its column
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import unpacked
from cofactor.core.tables import MISSING
from cofactor.core.types import Ints
from cofactor.data.registry import NUMBER


@dataclass(frozen=True)
class Format:
    """How a file stores codes: the separator, the first code, and the header's name for tasks ("": no header)."""

    separator: str
    first: int
    header: str


Features = NDArray[np.float32]

FORMATS = {"tsv": Format("\t", 1, ""), "csv": Format(",", 0, "task"), "items": Format(",", 0, "item")}
SHOWN = 40  # characters of an offending line that are quoted
Texts = NDArray[np.str_]
Columns = Mapping[str, "list[str] | str"]

TABLE_SEPARATORS = {"csv": ",", "commas": ",", "blanks": " ", "codes": ",", "pmlb": "\t"}
UNKNOWN = "?"  # how files write a missing value


def read_codes(path: Path, reader: str, limits: Mapping[str, int]) -> Ints:
    """Read a table of integer codes in the format "tsv", "csv" or "items"; cost O(size of the file).

    `limits` maps the names of the C columns, in order, to their numbers of codes; the first column has the tasks.
    Returns (E, C) codes from zero, in the order of the lines.

    Raises
    ------
    CofactorError
        The file cannot be read, is not text or is empty, or has another header, another number of columns, cells that
        are not whole numbers, or codes out of range. The first ten such lines are listed.
    """
    form = FORMATS[reader]
    lines = _lines(path, form, list(limits))
    first_line = 2 if form.header else 1
    number = "[1-9][0-9]{0,8}" if form.first else "(?:0|[1-9][0-9]{0,8})"  # at most nine digits: fits any integer
    well_formed = re.compile(form.separator.join([number] * len(limits)) + "\r?")
    wanted = f"{len(limits)} whole numbers from {form.first} ({', '.join(limits)}) separated by {form.separator!r}"
    check_lines(path, lines, well_formed, wanted, first_line)
    codes = np.array([line.split(form.separator) for line in lines], dtype=np.int64) - form.first
    outside = np.flatnonzero((codes >= list(limits.values())).any(axis=1))
    if outside.size:
        most = ", ".join(f"{name} {limit - 1 + form.first}" for name, limit in limits.items())
        found = quoted((first_line + e, lines[e]) for e in outside.tolist())
        raise CofactorError(f"{path}: codes above the largest ({most}) in {found}")
    return codes


def read_truth(path: Path, reader: str, n_tasks: int, n_classes: int) -> Ints:
    """Read true classes in any format except "matrix": (n_tasks,) codes, -1 for tasks that are not in the file.

    A row may be repeated. Raises what `read_codes` raises, and a CofactorError that lists tasks with more than one
    class.
    """
    if reader == "classes":
        return _grid(path, (n_tasks, 1), n_classes, "[0-9]{1,9}")[:, 0]
    task, label = np.unique(read_codes(path, reader, {"task": n_tasks, "truth": n_classes}), axis=0).T
    clash = np.unique(task[1:][np.diff(task) == 0])
    if clash.size:
        as_written = clash + FORMATS[reader].first
        raise CofactorError(f"{path}: more than one true class for tasks {listing(as_written.tolist())}: keep one each")
    truth = np.full(n_tasks, MISSING, dtype=np.int64)
    truth[task] = label
    return truth


def read_labels(path: Path, reader: str, n_tasks: int, n_workers: int, n_classes: int) -> Ints:
    """Read labels in any format except "classes": (E, 3) codes of task, worker and label, from zero.

    If a worker labelled a task more than once, the last label counts. Raises what `read_codes` raises.
    """
    if reader != "matrix":
        return _last(read_codes(path, reader, {"task": n_tasks, "worker": n_workers, "label": n_classes}))
    codes = _grid(path, (n_tasks, n_workers), n_classes, "-1|[0-9]{1,9}")
    task, worker = np.nonzero(codes != MISSING)
    return np.stack([task, worker, codes[task, worker]], axis=1)


def _last(codes: Ints) -> Ints:
    pair = codes[:, 0] * (1 + codes[:, 1].max()) + codes[:, 1]
    _, from_the_end = np.unique(pair[::-1], return_index=True)
    return codes[np.sort(len(codes) - 1 - from_the_end)]


def _grid(path: Path, shape: tuple[int, int], n_classes: int, cell: str) -> Ints:
    lines = lines_of(path)
    if len(lines) != shape[0]:
        raise CofactorError(f"{path}: expected one line for each of the {shape[0]} tasks, got {len(lines)} lines")
    well_formed = re.compile(" ".join([f"(?:{cell})"] * shape[1]) + "\r?")
    bad = [(n, line) for n, line in enumerate(lines, 1) if not well_formed.fullmatch(line)]
    codes = np.array([line.split() for line in lines], dtype=np.int64) if not bad else np.zeros(shape, dtype=np.int64)
    bad += [(n + 1, lines[n]) for n in np.flatnonzero((codes >= n_classes).any(axis=1)).tolist()]
    if bad:
        raise CofactorError(f"{path}: expected {shape[1]} codes below {n_classes} per line; see {quoted(bad)}")
    return codes


def read_features(path: Path) -> Features:
    """Read the (S, P) float32 features of tasks; raises a CofactorError for any other content."""
    try:
        with path.open("rb") as file:
            features = np.load(file, allow_pickle=False)
    except Exception as error:  # numpy raises whatever the bytes lead it to
        raise CofactorError(f"{path} cannot be read as a NumPy array: {error}") from None
    if not isinstance(features, np.ndarray) or features.dtype != np.float32 or features.ndim != 2:
        raise CofactorError(f"{path}: expected one two-dimensional array of float32")
    bad = np.flatnonzero(~np.isfinite(features).all(axis=1))
    if bad.size:
        raise CofactorError(f"{path}: NaN or infinity in rows {listing(bad.tolist())}")
    return features


def _lines(path: Path, form: Format, columns: list[str]) -> list[str]:
    """Return the lines of codes without the header, which is checked."""
    lines = lines_of(path)
    if form.header:
        header = lines.pop(0).rstrip("\r")
        names = [form.header, *columns[1:]]
        if header != form.separator.join(names):
            raise CofactorError(f"{path}, line 1: expected the header {names}, got {header[:SHOWN]!r}")
    if not any(lines):
        raise CofactorError(f"{path}, line {2 if form.header else 1}: the file ends here without any codes")
    return lines


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file, decompressed; raises a CofactorError if it cannot be read or is not text."""
    try:
        return unpacked(path).decode("utf-8-sig").rstrip("\r\n").split("\n")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise CofactorError(f"{path}, line {line}: not text (byte {error.object[error.start]:#04x})") from None
    except (OSError, EOFError, zlib.error) as error:
        raise CofactorError(f"{path} cannot be read: {error}") from None


def check_lines(path: Path, lines: list[str], well_formed: re.Pattern[str], expected: str, first: int = 1) -> None:
    """Raise a CofactorError that lists the first ten malformed lines, if any, numbered from `first`."""
    bad = ((n, line) for n, line in enumerate(lines, first) if not well_formed.fullmatch(line))
    found = quoted(bad)  # there may be millions of them
    if found:
        raise CofactorError(f"{path}: expected {expected}; see {found}")


def quoted(numbered: Iterable[tuple[int, str]]) -> str:
    """Quote lines with their numbers, ten at most; "" if there are none."""
    return listing(f"line {number}: {line[:SHOWN]!r}" for number, line in numbered)


# ---- tables of columns ----


@dataclass(frozen=True, eq=False)
class Column:
    """A column: (S,) codes, -1 if missing, and the value of each code."""

    codes: Ints
    values: list[str]


def read_table(path: Path, reader: str, columns: Columns, target: str) -> list[Column]:
    """Read a table in one of the formats above, as one `Column` per column. Cost: O(size of the file).

    Parameters
    ----------
    columns : mapping of name to values
        In the order of the columns. Values are in the order of their codes; for "number", codes follow the numbers
        that occur, in ascending order.
    target : str
        The column that the header calls "target".

    Raises
    ------
    CofactorError
        The file cannot be read or is not text, or has another header, no rows, another number of columns, or values
        that do not belong to their column. The first ten such lines are listed.
    """
    lines = lines_of(path)
    header = _header(reader, list(columns), target)
    if header and (found := lines.pop(0).rstrip("\r").split(TABLE_SEPARATORS[reader])) != header:
        raise CofactorError(f"{path}, line 1: expected the columns {listing(header)}; got {listing(found)}")
    first = 2 if header else 1
    if not lines:
        raise CofactorError(f"{path}, line {first}: the file ends here without any rows")
    cells = _cells(path, lines, TABLE_SEPARATORS[reader], list(columns), first)
    spelt = [_spelt_out(path, reader, *pair, first) for pair in zip(cells.T, columns.values(), strict=True)]
    return [_column(path, name, columns[name], text, first) for name, text in zip(columns, spelt, strict=True)]


def _header(reader: str, names: list[str], target: str) -> list[str]:
    """Return the names in the first line; [] if the format has no header."""
    if reader == "csv":
        return names
    return ["target" if name == target else name for name in names] if reader == "pmlb" else []


def _cells(path: Path, lines: list[str], separator: str, names: list[str], first: int) -> Texts:
    rows = [[cell.strip() for cell in line.split(separator)] for line in lines]
    bad = quoted((first + s, lines[s]) for s, row in enumerate(rows) if len(row) != len(names))
    if bad:
        raise CofactorError(f"{path}: expected {len(names)} values separated by {separator!r}; see {bad}")
    return np.array(rows)


def _spelt_out(path: Path, reader: str, cells: Texts, values: list[str] | str, first: int) -> Texts:
    """Replace positions by values if the format stores positions."""
    if reader not in ("codes", "pmlb") or values == NUMBER:
        return cells
    spelling = np.array([*values, UNKNOWN] if reader == "codes" else sorted(values))
    known = np.isin(cells, np.arange(len(spelling)).astype(str))
    if not known.all():
        raise CofactorError(f"{path}: expected positions 0 to {len(spelling) - 1}; see {_named(cells, ~known, first)}")
    return spelling[cells.astype(int)]


def _column(path: Path, name: str, values: list[str] | str, cells: Texts, first: int) -> Column:
    missing = cells == UNKNOWN
    if values == NUMBER:
        known = missing | np.array([cell.isascii() and cell.replace(".", "", 1).isdecimal() for cell in cells])
        values = sorted(set(cells[known & ~missing].tolist()), key=lambda text: (float(text), text))
    else:
        known = missing | np.isin(cells, list(values))
    if not known.all():
        raise CofactorError(f"{path}: expected values of column {name!r}; see {_named(cells, ~known, first)}")
    code: dict[Any, int] = {value: k for k, value in enumerate(values)} | {UNKNOWN: MISSING}
    return Column(np.array([code[cell] for cell in cells.tolist()], dtype=np.int64), list(values))


def _named(cells: Texts, bad: NDArray[np.bool_], first: int) -> str:
    return quoted((first + s, str(cells[s])) for s in np.flatnonzero(bad).tolist())

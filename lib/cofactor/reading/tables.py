"""Read tables from files of any common format; errors say what is wrong and how to correct it.

The format is recognised from the first bytes: Parquet, JSON (an array, or one object per line), or text with a
separator between columns. Every cell is read as text, so that a table gives the same result in every format. A column
is stored as codes for its distinct values (`Coded`), and all rules are applied to these values.
"""

from __future__ import annotations

import csv
import io
import itertools
import lzma
import os
import stat
import sys
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from string import ascii_letters, digits
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.cells import check_columns, has_no_shape, located, nested_cells, plain_name
from cofactor.core.errors import CofactorError, DataWarning, amount, listing
from cofactor.core.files import read_parquet, reading_parquet, unpacked
from cofactor.core.lazy import pd
from cofactor.core.tables import counted
from cofactor.reading.records import SCOPE, Unfold, read_json
from cofactor.reading.text import (
    FOUND,
    HEADER,
    TWICE,
    UTF_8,
    categories,
    encoding_of_mark,
    likely_encoding,
    needed_columns,
    read_text,
    refuse_many,
    whole,
)

Recognise = Callable[["pd.DataFrame", Sequence[str]], "pd.DataFrame"]
Rule = Callable[[list[Any]], Sequence[Any]]  # from distinct values to what is meant, None where nothing is

STDIN = "-"
HEADLESS = "the first line ({}) looks like data, not like a header, but it names"
TAKEN = "taken"  # attribute of a frame: the columns that were recognised
PLAIN = frozenset(ascii_letters + digits)  # letters that can be seen, with which most texts begin and end
HEAD = 1 << 16  # bytes that the form and the separator are told from
PACKED = (".gz", ".bz2", ".xz", ".zip")
MAGIC = {
    b"\x1f\x8b": "compressed with gzip: rename it to end in .gz, or decompress it",
    b"BZh": "compressed with bzip2: rename it to end in .bz2, or decompress it",
    b"\xfd7zXZ": "compressed with xz: rename it to end in .xz, or decompress it",
    b"PK\x03\x04": "a zip archive or a spreadsheet: save the table as CSV, or rename the archive to end in .zip",
    b"\xd0\xcf\x11\xe0": "a spreadsheet in an old format: save the table as CSV",
    b"\x28\xb5\x2f\xfd": "compressed with zstandard: decompress it",
    b"ARROW1\0": "an Arrow file: save the table as Parquet or CSV",
    b"SQLite format 3\0": "an SQLite database: save its table as CSV",
    b"\x89HDF": "an HDF5 file: save the table as CSV",
    b"%PDF-": "a PDF document: save the table as CSV",
    **dict.fromkeys(
        (b"\x89PNG", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*"),
        "a picture: pass a table, or the pixels as an array (.npy)",
    ),
}
UNREADABLE = (
    *(Warning, OSError, EOFError, ValueError, LookupError, csv.Error),  # pandas raises the first two kinds
    *(zipfile.BadZipFile, lzma.LZMAError, zlib.error, RuntimeError),  # the last: a zip's password, JSON too deep
)


@dataclass(frozen=True, eq=False)
class Coded:
    """A column stored as codes for its distinct values: `values[codes[row]]`, or missing if the code is -1.

    >>> column = Coded.of(pd.Series([" yes", "no", None, "yes"])).map(cleaned)
    >>> column.codes.tolist(), column.values
    ([0, 1, -1, 0], ['yes', 'no'])
    """

    codes: NDArray[Any]
    values: list[Any]

    @classmethod
    def of(cls, column: pd.Series[Any]) -> Coded:
        """Encode a column; raises a TypeError if it holds unhashable values, such as lists."""
        if isinstance(column.dtype, pd.CategoricalDtype):
            return cls(column.cat.codes.to_numpy(), column.cat.categories.tolist())
        cells = column.to_numpy(dtype=object) if column.dtype.kind == "O" else column
        codes, values = pd.factorize(cells)
        return cls(codes, values.tolist())

    @classmethod
    def joined(cls, parts: Sequence[Coded]) -> Coded:
        """Concatenate columns."""
        if len(parts) == 1:
            return parts[0]
        code: dict[Any, int] = {}
        for part in parts:
            for value in part.values:
                code.setdefault(value, len(code))
        places = [np.array([*(code[value] for value in part.values), -1]) for part in parts]
        return cls(np.concatenate([at[part.codes] for at, part in zip(places, parts, strict=True)]), list(code))

    @classmethod
    def of_ids(cls, columns: Sequence[pd.Series[Any]], name: str) -> Coded:
        """Encode concatenated columns of ids; `name` is what they hold, for the error if values are not hashable."""
        try:
            return cls.joined([cls.of(one) for one in columns])
        except TypeError as error:
            raise CofactorError(f"{name} holds values that cannot be used as ids: {error}") from None

    def map(self, rule: Rule) -> Coded:
        """Apply a rule to the distinct values; equal results are merged, and None means missing. O(rows + values)."""
        meant = rule(self.values)
        if meant is self.values or meant == self.values:
            return self
        code: dict[Any, int] = {}
        new = [-1 if one is None else code.setdefault(one, len(code)) for one in meant]
        place = np.array([*new, -1], dtype=np.int32)
        return Coded(place[self.codes], list(code))

    def sorted(self) -> Coded:
        """Keep the values that occur, sorted if they can be compared, otherwise in their current order."""
        there = self.counts > 0
        kept = self.values if there.all() else [self.values[n] for n in np.flatnonzero(there)]
        if there.all() and _is_sorted(kept):
            return self
        order = _order(kept)
        place = np.full(len(self.values) + 1, -1, dtype=np.int32)
        place[np.flatnonzero(there)[order]] = np.arange(len(kept))
        return Coded(place[self.codes], list(map(kept.__getitem__, order)))

    def take(self, rows: NDArray[Any]) -> Coded:
        """Select rows by a mask or by position."""
        return Coded(self.codes[rows], self.values)

    def where(self, fits: Sequence[bool]) -> NDArray[np.bool_]:
        """Return a mask of the rows whose value is marked in `fits`, one flag per value; missing rows are False."""
        return np.array([*fits, False], dtype=bool)[self.codes]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """A mask of the rows without a value."""
        return self.codes < 0

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """The number of rows with each value."""
        codes = self.codes if self.codes.min(initial=0) >= 0 else self.codes[self.codes >= 0]
        return counted(codes, len(self.values))

    def series(self, index: pd.Index[Any], coded: bool = False) -> pd.Series[Any]:
        """Return the column as a Series of values, or as a categorical Series if `coded`."""
        if coded:
            dtype = pd.CategoricalDtype(pd.Index(self.values, dtype=object))
            return pd.Series(pd.Categorical.from_codes(self.codes, dtype=dtype), index)
        return pd.Series(np.array([*self.values, None], dtype=object)[self.codes], index, dtype=object)


def _is_sorted(values: list[Any]) -> bool:
    try:
        return values == sorted(values)
    except TypeError:
        return True  # as they come


def _order(values: list[Any]) -> list[int]:
    """Return the positions of values in sorted order, or in their own order if they cannot be compared."""
    import pyarrow as pa
    from pyarrow import compute

    with suppress(pa.ArrowException, UnicodeError):  # of texts, in the order of their letters' numbers as Python's
        return list(compute.array_sort_indices(pa.array(values, pa.string())).to_pylist())
    try:
        return sorted(range(len(values)), key=values.__getitem__)
    except TypeError:
        return list(range(len(values)))


def cleaned(values: Sequence[Any], missing: Sequence[str] = ()) -> list[Any]:
    r"""Strip surrounding blanks; invisible texts become "", and texts listed in `missing` become None.

    >>> cleaned([" yes", "\u200b", "NA", None], missing=["NA"])
    ['yes', '', None, None]
    """
    found = [one if type(one) is str and one[:1] in PLAIN and one[-1:] in PLAIN else _stripped(one) for one in values]
    return [None if one in missing else one for one in found] if missing else found


def _stripped(one: Any) -> Any:
    if not isinstance(one, str):
        return None
    text = one.strip()
    return "" if text[:1] not in PLAIN and all(map(has_no_shape, "".join(text.split()))) else text


# ---- a file ----


def read_frame(
    path: str | PathLike[str],
    columns: Sequence[str] | None,
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    row: str = "label",
    unfold: Unfold | None = None,
    optional: Sequence[str] = (),
    pairs: tuple[str, str] | None = None,
    recognise: Recognise | None = None,
    coded: bool = False,
    empty_rows: bool = False,
    repeated: bool = False,
    flat: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Read columns of a file as text, stripping blanks around cells; any failure raises a `CofactorError`.

    Parameters
    ----------
    path : path, or "-" for standard input
        CSV, TSV or similar text with a header row; Parquet; or JSON, as an array of objects or one object per line.
        All but Parquet may be compressed (.gz, .bz2, .xz, .zip).
    columns : names of the columns to read; case and surrounding blanks are ignored if only one matches. None: all
    encoding : encoding of a text file
    sep : column separator of a text file, one character; default: comma, tab, semicolon or ``|``, whichever fits
    row : noun for what a row represents, for messages
    unfold : function, optional
        Converts the objects of a JSON file to a table, or returns None if they are flat rows already.
    optional : names of further columns, which are returned last if present
    pairs : column names for JSON whose records are arrays of two values
    recognise : function, optional
        Converts a table that lacks some of the columns to one that has them, if it recognises the layout.
    coded : bool
        Return categorical columns, which `Coded.of` converts without a pass over the rows.
    empty_rows : bool
        Keep empty rows of a text file, except for empty lines at the end.
    repeated : bool
        Allow duplicate column names: the first line need not be a header.
    flat : names of columns that must hold single values; default: all that are read
        Other columns that hold lists or objects are left out, with a `DataWarning`, unless all do.

    Returns
    -------
    DataFrame
        The columns, under the requested names; `attrs["found"]` lists all columns of the file. The index has row
        numbers as in a spreadsheet (the first line is row 1), or numbers of lines or records from 1 for JSON, and is
        named after what it counts. Empty rows are left out.
    """
    asked = None if columns is None else [*columns, *optional]
    frame = _read(path, columns, optional, encoding, sep, row, unfold, pairs, empty_rows)
    attrs, twice = frame.attrs, frame.attrs.get(TWICE, ())
    frame = renamed_columns(frame, asked or ())
    there = list(frame.columns)
    known = attrs.get(FOUND, there)
    if recognise is not None and columns is not None and not set(columns) <= set(there):
        frame = recognise(frame if coded else frame.astype(object), columns)
        attrs, named = frame.attrs, frame.attrs.get(TAKEN, there)
    else:
        named = there if columns is None else columns
    first = attrs.get(HEADER, ()) if columns is None and not repeated else ()
    headless = _looks_like_data(frame, first)
    again = [name for name in named if name in twice and not repeated]
    if again and headless:
        raise CofactorError(f"{HEADLESS.format(listing(first))} more than one column {again[0]}: add a header above it")
    refuse_twice(again)
    wanted = there if columns is None else [*columns, *(name for name in optional if name in frame)]
    check_columns(frame, wanted, f"{row}s")
    frame = frame if asked is None else frame[list(dict.fromkeys(wanted))]
    frame = _without_nested(frame, _called(path), f"; {SCOPE}" if row == "label" else "", flat)
    read = pd.DataFrame({name: _cleaned_cells(frame[name], coded) for name in frame}, index=frame.index)
    if headless:
        told = f"{HEADLESS.format(listing(first))} the columns: add a header above it"
        warnings.warn(told, DataWarning, stacklevel=3)
    elif frame.index.name == "row" and len(read.columns) > 1 and recognise is None:
        read = without_headers(read, {name: (name,) for name in map(str, read)})
    read.attrs = attrs | {FOUND: there if len(there) == len(known) else known}
    return read


def _without_nested(frame: pd.DataFrame, name: str, scope: str, flat: Sequence[str] | None) -> pd.DataFrame:
    """Refuse lists and objects in cells; leave out their columns, with a warning, unless they are `flat` or all are."""
    nested = {str(column): cells for column in frame if (cells := nested_cells(frame[column])).any()}
    if not nested:
        return frame
    found = f"columns {listing(nested)} hold lists or objects"
    if flat is not None and len(nested) < frame.shape[1] and not {*flat} & {*nested}:
        told = f"{found} and are left out: if one is needed, make a column of each of its parts"
        warnings.warn(told, DataWarning, stacklevel=4)
        return frame.drop(columns=list(nested))
    where = located(frame, np.any([*nested.values()], axis=0))
    what = f"expected a single value, found a list or an object in column {listing(nested)}, {where}"
    raise CofactorError(f"{name}: {what}: remove the column, or make a column of each of its parts{scope}")


def _looks_like_data(frame: pd.DataFrame, first: Sequence[str]) -> bool:
    """Return whether the first line of a text file looks like a row below it, so that it is no header.

    Two of its cells occur below in their own columns, which hold other values, too; or it begins with a number from
    which the first column counts on. Numbers that rise or are consecutive may be names, such as years and questions.
    Rows that are equal to the first line prove nothing: they repeat the header, if it is one.
    """
    if len(first) != frame.shape[1] or len(first) < 2:
        return False
    below = frame.iloc[:, 0].tolist()
    if first[0].isdecimal() and len(below) > 2 and below == [str(int(first[0]) + n) for n in range(1, 1 + len(below))]:
        return True
    numbers = [float(cell) for cell in first if _is_number(cell)]
    steps = np.diff(numbers)
    consecutive = bool((np.diff(sorted(numbers)) == 1).all())
    named = len(numbers) > 1 and (bool((steps > 0).all()) or consecutive)
    cells = [(n, cell) for n, cell in enumerate(first) if cell and not (named and _is_number(cell))]
    same = {n: (frame.iloc[:, n] == cell).to_numpy() for n, cell in cells}
    if sum(found.any() for found in same.values()) < 2:
        return False
    whole = np.all([(frame.iloc[:, n] == cell).to_numpy() for n, cell in enumerate(first)], axis=0)
    others = {n: ~found & (frame.iloc[:, n] != "").to_numpy() for n, found in same.items()}
    return sum(bool((found & ~whole).any() and others[n].any()) for n, found in same.items()) > 1


def _cleaned_cells(column: pd.Series[Any], coded: bool) -> pd.Series[Any]:
    found = Coded.of(column)
    plain = found.map(cleaned)
    return column if coded and plain is found else plain.series(column.index, coded)


def refuse_twice(names: Sequence[str]) -> None:
    """Raise a CofactorError listing duplicate columns, which pandas would rename silently."""
    if names:
        raise CofactorError(f"more than one column is called {listing(names)}: rename all but one")


def _read(
    path: str | PathLike[str],
    columns: Sequence[str] | None,
    optional: Sequence[str],
    encoding: str,
    sep: str | None,
    row: str,
    unfold: Unfold | None,
    pairs: tuple[str, str] | None,
    empty_rows: bool,
) -> pd.DataFrame:
    check_sep(sep)
    with _explained(path, encoding, row) as seen:
        head, content = _opened(path)
        seen |= {"content": content}
        if encoding.casefold() in UTF_8:
            encoding = encoding_of_mark(head) or encoding
        seen |= {"form": _form(head, encoding)}
        if seen["form"] == "parquet":
            return _read_parquet(content, columns or (), optional, _called(path))
        if seen["form"] == "JSON":
            text = whole(content).decode(encoding).lstrip("\ufeff")
            return read_json(text, columns or (), unfold, pairs, row)
        return read_text(head, content, columns or (), optional, encoding, sep, empty_rows)


def check_sep(sep: str | None) -> None:
    """Raise a CofactorError unless a separator is one ASCII character that neither ends a row nor quotes a cell."""
    if sep is not None and (len(sep) != 1 or sep in '\r\n"' or not sep.isascii()):
        raise CofactorError(f"sep={sep!r}: must be one ASCII character, such as a comma, but no quote or line break")


@contextmanager
def _explained(path: str | PathLike[str], encoding: str, row: str) -> Iterator[dict[str, Any]]:
    """Convert any failure to a CofactorError; yields a dict for what is known about the file."""
    name, seen = _called(path), {"form": "a table", "content": b""}
    try:
        yield seen
    except CofactorError:
        raise
    except FileNotFoundError:
        raise CofactorError(f"no such file: {path}") from None
    except IsADirectoryError:
        raise CofactorError(f"{name} is a folder: pass a file") from None
    except pd.errors.EmptyDataError:
        raise CofactorError(f"{name} is empty: expected a header row and one row per {row}") from None
    except UnicodeDecodeError as error:
        where = _first_bad(seen["content"], encoding, error)
        raise CofactorError(
            f"{name} is not valid {encoding.removesuffix('-sig')} text (byte {where}): "
            f"save it as UTF-8, or set its encoding, for example encoding={likely_encoding(seen['content'])!r}"
        ) from None
    except MemoryError:
        raise CofactorError(f"{name} does not fit into memory: remove rows or columns that are not needed") from None
    except UNREADABLE as error:
        raise CofactorError(f"{name} cannot be read as {seen['form']}: {' '.join(str(error).split())}") from None


def _first_bad(content: Any, encoding: str, error: UnicodeDecodeError) -> int:
    """Return the position in the file of the first undecodable byte, since pandas counts from its last chunk."""
    try:
        whole(content).decode(encoding)
    except UnicodeDecodeError as first:
        return first.start
    return error.start


def _called(path: str | PathLike[str]) -> str:
    return "standard input" if path == STDIN else str(path)


def _opened(path: str | PathLike[str]) -> tuple[bytes, Any]:
    """Return the first bytes, and the source for pandas and pyarrow: the path itself unless it is compressed."""
    content: Any = path
    if path == STDIN:
        if sys.stdin is None:
            raise CofactorError("standard input is closed: redirect a file to it, or pass a file name")
        content = io.BytesIO(sys.stdin.buffer.read())
    elif str(path).lower().endswith(PACKED):
        content = io.BytesIO(unpacked(path))
    elif stat.S_ISFIFO(os.stat(path).st_mode):  # a pipe, which can be read once
        content = io.BytesIO(Path(path).read_bytes())
    if isinstance(content, io.BytesIO):
        head = content.getvalue()[:HEAD]
    else:
        with open(path, "rb") as file:
            if stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty() and file.read(1):
                raise CofactorError(f"{_called(path)} is an endless device: pass a file")
            head = file.read(HEAD)
    found = [what for magic, what in MAGIC.items() if head.startswith(magic)]
    if found:
        raise CofactorError(f"{_called(path)} is {found[0]}")
    return head, content


def _form(head: bytes, encoding: str) -> str:
    if head.startswith(b"PAR1"):
        return "parquet"
    begin = head.decode(encoding, errors="ignore").lstrip("\ufeff \t\r\n")[:1]
    return "JSON" if begin and begin in "[{" else "CSV"


# ---- parquet ----


def _read_parquet(content: Any, columns: Sequence[str], optional: Sequence[str], name: str) -> pd.DataFrame:
    """Read the wanted columns, or all columns if one is missing or none is named."""
    with reading_parquet(name):
        import pyarrow.parquet

        names = pyarrow.parquet.ParquetFile(content).schema_arrow.names
        if columns:
            refuse_many(names)
        refuse_twice([name for name, count in Counter(names).items() if count > 1])
        table = read_parquet(content, needed_columns(names, columns, optional), name)
        index = pd.RangeIndex(1, 1 + table.num_rows, name="record")
        frame = pd.DataFrame({column: _of_arrow(table[column]) for column in table.column_names}, index=index)
    frame.attrs[FOUND] = names
    return frame


def _of_arrow(column: Any) -> Any:
    """Convert a column to text as in a CSV file; whole floats are written without a decimal point."""
    import pyarrow as pa

    if pa.types.is_nested(column.type):
        return column.to_pylist()
    if pa.types.is_dictionary(column.type) and not pa.types.is_string(column.type.value_type):
        column = column.cast(column.type.value_type)
    if pa.types.is_boolean(column.type):
        return [None if cell is None else str(cell) for cell in column.to_pylist()]
    return categories(column if pa.types.is_dictionary(column.type) else column.cast(pa.string()))


# ---- columns ----


def renamed_columns(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Rename columns that differ from a wanted name only in case, blanks, "-" or "_", if exactly one does."""
    names = [str(name).strip() for name in frame.columns]
    plain = list(map(plain_name, names))
    for wanted in columns:
        same = plain_name(wanted)
        alike = [i for i, name in enumerate(names) if plain[i] == same and name not in columns]
        if wanted not in names and len(alike) == 1:
            names[alike[0]] = wanted
    return frame.set_axis(names, axis=1)


def without_headers(frame: pd.DataFrame, written: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Drop rows that repeat the header, as in concatenated files, with a warning.

    Cells are compared like column names, ignoring a byte order mark and quotes after it. A row that lists the columns
    in another order raises a CofactorError, since the rows below it would be misread. A header of numbers only is not
    looked for, since it may look like any row.

    Parameters
    ----------
    frame : a table of text
    written : for each column, the names that a header may use for it, its own first; columns are checked in this order
    """
    if all(map(_is_number, itertools.chain(*written.values()))):
        return frame
    place = places_of(written)
    again = np.ones(len(frame), dtype=bool)
    for name in written:
        column = Coded.of(frame[name])
        again &= column.where([isinstance(one, str) and as_name(one) in place for one in column.values])
        if not again.any():
            return frame
    meant = frame.loc[again, list(written)].astype(object).map(lambda cell: place[as_name(cell)])
    same = (meant == list(written)).all(axis=1).to_numpy()
    _refuse_other_order(frame, meant[~same & (meant.nunique(axis=1) == len(written))].index)
    again[again] = same
    if not again.any():
        return frame
    message = f"left out {amount(again.sum(), 'row')} repeating the header: were several files concatenated?"
    warnings.warn(message, DataWarning, stacklevel=4)
    return frame[~again]


def places_of(written: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Map names to columns; the name of a column takes precedence over alternative names of another."""
    place: dict[str, str] = {}
    for names in itertools.zip_longest(*written.values()):
        for column, name in zip(written, names, strict=True):
            if name is not None:
                place.setdefault(plain_name(name), column)
    return place


def as_name(cell: str) -> str:
    """Normalise a cell for comparison with column names, ignoring a byte order mark and quotes after it."""
    return plain_name(cell.lstrip("\ufeff").strip('"'))


def _refuse_other_order(frame: pd.DataFrame, rows: Any) -> None:
    if len(rows):
        found = listing(frame.loc[rows[0]].astype(str))
        raise CofactorError(
            f"a second header ({found}) in {located(frame, frame.index.isin(rows))} has the columns in another order, "
            "as if two files had been joined: pass the files separately, or put their columns in the same order"
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

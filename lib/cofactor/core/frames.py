"""Tables as callers bring them: a file of any usual form or a data frame, read with errors that say what to mend.

What a file holds is told from its first bytes: parquet, JSON (an array, or one object a line), or text with a
separator between its columns. Every cell becomes text, so that the same table reads the same from each form.
"""

from __future__ import annotations

import csv
import io
import lzma
import os
import stat
import sys
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from string import ascii_letters, digits
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.files import read_parquet, reading_parquet, unpacked
from cofactor.core.json_tables import Unfold, read_json
from cofactor.core.lazy import pd
from cofactor.core.look_alikes import has_no_shape, plain_name
from cofactor.core.spelling import by_value, plain
from cofactor.core.text_tables import (
    SEPARATORS,
    TWICE,
    likely_encoding,
    pieces,
    read_text,
    refuse_many,
    whole,
    without_headers,
)
from cofactor.core.types import Floats

Recognise = Callable[["pd.DataFrame", Sequence[str]], "pd.DataFrame"]

STDIN = "-"
TAKEN = "taken"  # attribute of a frame: the columns that were recognised
PLAIN = frozenset(ascii_letters + digits)  # letters that can be seen, with which most texts begin
HEAD = 1 << 16  # bytes that the form and the separator are told from
PACKED = (".gz", ".bz2", ".xz", ".zip")
MAGIC = {
    b"\x1f\x8b": "packed by gzip: call it .gz, or unpack it",
    b"BZh": "packed by bzip2: call it .bz2, or unpack it",
    b"\xfd7zXZ": "packed by xz: call it .xz, or unpack it",
    b"PK\x03\x04": "a zip archive or a spreadsheet: save the table as CSV, or call the archive .zip",
    b"\xd0\xcf\x11\xe0": "a spreadsheet of an old kind: save the table as CSV",
    b"\x28\xb5\x2f\xfd": "packed by zstandard: unpack it",
    b"ARROW1\0": "a file of Arrow: save the table as parquet or CSV",
    b"SQLite format 3\0": "a database of SQLite: save its table as CSV",
    b"\x89HDF": "a file of HDF5: save the table as CSV",
}
SCOPE = "one class per task and worker can be used, not several at once, free text or marked regions"
INDEX_NAMES = ("row", "line", "record", "annotation")  # names of an index that counts as the file's owner counts
UNREADABLE = (
    *(Warning, OSError, EOFError, ValueError, LookupError, csv.Error),  # pandas raises the first two kinds
    *(zipfile.BadZipFile, lzma.LZMAError, zlib.error, RuntimeError),  # the last: a zip's password, JSON too deep
)


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
) -> pd.DataFrame:
    """Read columns of a file as text, without blanks around cells; whatever goes wrong is one `CofactorError`.

    Parameters
    ----------
    path : path, or "-" for standard input
        CSV, TSV or the like with a header row; parquet; JSON: an array of objects, or one object a line. All but
        parquet may be packed (.gz, .bz2, .xz, .zip).
    columns : names wanted; capitals and blanks around them do not matter where only one column can be meant. None: all
    encoding : of text
    sep : one character between the columns of text; default: whichever of comma, tab, semicolon and ``|`` fits
    row : what one row of the table holds, for messages
    unfold : function, optional
        Turns the objects of a JSON file into a table, or returns None where they are flat rows already.
    optional : names of more columns, which come last where they are found
    pairs : names of the two columns that JSON of arrays of two values has
    recognise : function, optional
        Turns a table that lacks some of the columns into one that has them, where it knows how

    Returns
    -------
    DataFrame
        The columns, under the wanted names; `attrs["found"]` names all that there were. Its index counts as a
        spreadsheet does (the first line is row 1), in JSON the lines or records from 1, and is named after what it
        counts. Empty rows are left out.
    """
    asked = None if columns is None else [*columns, *optional]
    options = optional, encoding, sep, row, unfold, pairs
    frame = _read(path, columns, *options)
    twice = frame.attrs.get(TWICE, ())
    frame = renamed_columns(frame, asked or ())
    there = list(frame.columns)
    if recognise is not None and columns is not None and not set(columns) <= set(there):
        if frame.index.name == "record" and path != STDIN:  # of parquet, only what was asked for has been read
            frame = _read(path, None, *options)
        frame = recognise(frame, columns)
        named = frame.attrs.get(TAKEN, there)
    else:
        named = there if columns is None else columns
    refuse_twice([name for name in named if name in twice])
    wanted = there if asked is None else [name for name in asked if name in frame or name not in optional]
    check_columns(frame, wanted, f"{row}s")
    frame = frame if asked is None else frame[list(dict.fromkeys(wanted))]
    if frame.index.name != "row":  # text holds no lists
        nested = located(frame, frame.apply(nested_cells).any(axis=1))
        if nested:
            found = f"a list or an object where one value is expected in {nested}"
            raise CofactorError(f"{_called(path)}: {found}" + (f"; {SCOPE}" if row == "label" else ""))
    read = frame.apply(lambda column: column if column.isna().all() else by_value(column, stripped))
    if frame.index.name == "row" and len(read.columns) > 1 and recognise is None:
        read = without_headers(read, {name: (name,) for name in read})
    read.attrs = frame.attrs | {"found": there}
    return read


def stripped(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return texts without blanks around them; a text of invisible characters alone becomes empty."""
    return pd.Series([_stripped(one) if isinstance(one, str) else np.nan for one in values], values.index, dtype=object)


def _stripped(one: str) -> str:
    text = one.strip()
    return "" if text[:1] not in PLAIN and all(map(has_no_shape, "".join(text.split()))) else text


def refuse_twice(names: Sequence[str]) -> None:
    """Raise a CofactorError that names columns which occur twice; pandas would rename the second in silence."""
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
) -> pd.DataFrame:
    _check_sep(sep)
    with _explained(path, encoding, row) as seen:
        head, content = _opened(path)
        seen |= {"content": content, "form": _form(head, encoding)}
        if seen["form"] == "parquet":
            return _read_parquet(content, None if columns is None else [*columns, *optional], _called(path))
        if seen["form"] == "JSON":
            text = whole(content).decode(encoding).lstrip("\ufeff")
            return read_json(text, columns or (), unfold, pairs)
        return read_text(head, content, [*(columns or ()), *optional], encoding, sep)


def text_pieces(
    path: str | PathLike[str], columns: Sequence[str], sep: str | None, size: int, encoding: str = "utf-8-sig"
) -> Iterator[pd.DataFrame]:
    """Yield a file of text in pieces of `size` rows, as `read_frame` reads it before columns are chosen.

    Raises a CofactorError as that does, and for a file that is JSON or parquet, which are no text with separators.
    """
    _check_sep(sep)
    with _explained(path, encoding, "label") as seen:
        head, content = _opened(path)
        seen |= {"content": content, "form": _form(head, encoding)}
        if seen["form"] != "CSV":
            raise CofactorError(f"{path} is {seen['form']}, which is not read in pieces: save the table as CSV")
        yield from pieces(head, content, columns, encoding, sep, size)


def _check_sep(sep: str | None) -> None:
    if sep is not None and (len(sep) != 1 or sep in '\r\n"' or not sep.isascii()):
        raise CofactorError(f"sep={sep!r}: one character separates the columns, of ASCII, such as a comma")


@contextmanager
def _explained(path: str | PathLike[str], encoding: str, row: str) -> Iterator[dict[str, Any]]:
    """Turn whatever goes wrong into a CofactorError; yields where to write what is known of the file."""
    name, seen = _called(path), {"form": "a table", "content": b""}
    try:
        yield seen
    except CofactorError:
        raise
    except FileNotFoundError:
        raise CofactorError(f"no such file: {path}") from None
    except IsADirectoryError:
        shards = "; shards are counted with `cofactor moments`, then aggregated with --moments"
        raise CofactorError(f"{name} is a folder: name one file{shards if row == 'label' else ''}") from None
    except pd.errors.EmptyDataError:
        raise CofactorError(f"{name} is empty: expected a header row and one row per {row}") from None
    except UnicodeDecodeError as error:
        where = _first_bad(seen["content"], encoding, error)
        raise CofactorError(
            f"{name} is not {encoding.removesuffix('-sig')} text (byte {where}): "
            f"save it as UTF-8, or name its encoding, for example encoding={likely_encoding(seen['content'])!r}"
        ) from None
    except MemoryError:
        raise CofactorError(f"{name} does not fit into memory: drop rows or columns that are not needed") from None
    except UNREADABLE as error:
        raise CofactorError(f"{name} cannot be read as {seen['form']}: {' '.join(str(error).split())}") from None


def _first_bad(content: Any, encoding: str, error: UnicodeDecodeError) -> int:
    """Return the place of the first byte that cannot be read in a whole file: pandas counts from where it read on."""
    try:
        whole(content).decode(encoding)
    except UnicodeDecodeError as first:
        return first.start
    return error.start


def _called(path: str | PathLike[str]) -> str:
    return "standard input" if path == STDIN else str(path)


def _opened(path: str | PathLike[str]) -> tuple[bytes, Any]:
    """Return the first bytes, and what pandas and pyarrow read: the path itself where nothing has to be unpacked."""
    content: Any = path
    if path == STDIN:
        content = io.BytesIO(sys.stdin.buffer.read())
    elif str(path).lower().endswith(PACKED):
        content = io.BytesIO(unpacked(path))
    if isinstance(content, io.BytesIO):
        head = content.getvalue()[:HEAD]
    else:
        with open(path, "rb") as file:
            if stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty() and file.read(1):
                raise CofactorError(f"{_called(path)} is a device that never ends: name a file")
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


def _read_parquet(content: Any, columns: Sequence[str] | None, name: str) -> pd.DataFrame:
    with reading_parquet(name):
        import pyarrow.parquet

        names = pyarrow.parquet.ParquetFile(content).schema_arrow.names
        if columns is not None:
            refuse_many(names)
        refuse_twice([name for name, count in Counter(names).items() if count > 1])
        wanted = {plain_name(column) for column in (names if columns is None else columns)}
        table = read_parquet(content, [column for column in names if plain_name(column) in wanted], name)
        index = pd.RangeIndex(1, 1 + table.num_rows, name="record")
        frame = pd.DataFrame(index=index, columns=names, dtype=object)
        for column in table.column_names:
            frame[column] = pd.Series(_arrow_text(table[column]), index=index, dtype=object)
    return frame


def _arrow_text(column: Any) -> list[Any]:
    """Text of a column as a CSV file would hold it; of floats that are whole, without their point."""
    import pyarrow as pa

    if pa.types.is_nested(column.type):
        return list(column.to_pylist())
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_boolean(column.type):
        return [None if cell is None else str(cell) for cell in column.to_pylist()]
    return list(column.cast(pa.string()).to_pylist())


# ---- columns and rows ----


def renamed_columns(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Give columns the wanted names where they differ in capitals, blanks, "-" and "_" alone, and just one does."""
    names = [str(name).strip() for name in frame.columns]
    plain = list(map(plain_name, names))
    for wanted in columns:
        same = plain_name(wanted)
        alike = [i for i, name in enumerate(names) if plain[i] == same and name not in columns]
        if wanted not in names and len(alike) == 1:
            names[alike[0]] = wanted
    return frame.set_axis(names, axis=1)


def check_columns(frame: pd.DataFrame, columns: Sequence[str], rows: str = "labels") -> None:
    """Refuse a table without rows, or in which one of `columns` is missing or there twice; `rows` is what it holds."""
    if not isinstance(frame, pd.DataFrame):
        raise CofactorError(f"expected a pandas DataFrame of {rows}, got {type(frame).__name__}")
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        alone = str(frame.columns[0]) if len(frame.columns) == 1 else ""
        other = [sep for sep in SEPARATORS if sep in alone]
        example = f"{missing[0]}='{frame.columns[0]}'" if len(frame.columns) else "another table"
        advice = f"say which column is which, for example {example}, or rename"
        if other:
            advice = f"columns seem to be separated by another character, say sep='{other[0]}'"
        raise CofactorError(f"no column {listing(missing)}; found {listing(frame.columns)}: {advice}")
    twice = [name for name in columns if list(frame.columns).count(name) > 1]
    if twice:
        raise CofactorError(f"more than one column is called {listing(twice)}: rename all but one")
    if frame.empty:
        raise CofactorError(f"no {rows}: the table has a header but no rows")


def one_way(word: object) -> str:
    """Return a word in small letters with single blanks, so that spellings can be compared."""
    return " ".join(str(word).casefold().split())


def check_present(column: pd.Series[Any], name: str, text: bool = False) -> None:
    """Refuse missing values, in text also empty cells; their rows are named."""
    bad = located(column, column.isna() | (column == "") if text else column.isna())
    if bad:
        raise CofactorError(f"missing {name} in {bad}: fill or drop them")


def numeric(
    frame: pd.DataFrame, name: str, rule: str, fits: Callable[[Floats], NDArray[np.bool_]] = np.isfinite
) -> Floats:
    """Return a column as numbers; cells that are none, or do not fit, are named with their rows behind the `rule`.

    A `DataWarning` says where numbers are written with a decimal comma and the like.
    """
    column, how = plain(frame[name])
    if how:
        warnings.warn(f"{name}: numbers {how}, read as 1234.5", DataWarning, stacklevel=2)
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~fits(values)
    if bad.any():
        found = located(frame, bad, frame[name][bad].tolist())
        raise CofactorError(f"{rule}; not so in {found}: fill or drop these rows")
    return values


def located(table: pd.DataFrame | pd.Series[Any], where: ArrayLike, values: Sequence[object] | None = None) -> str:
    """Name rows as the owner of a file counts them, of a frame from 0, with their values if given; "" for none.

    >>> located(pd.Series([1, 2, 3]), [False, True, True])
    'data rows 1, 2 (0 is the first)'
    """
    bad = np.flatnonzero(np.asarray(where))
    counted = table.index.name in INDEX_NAMES
    numbers = table.index[bad] if counted else bad
    said = numbers if values is None else [f"{n} ({value!r})" for n, value in zip(numbers, values, strict=True)]
    word, base = (f"{table.index.name}s", "") if counted else ("data rows", " (0 is the first)")
    base = " (the first line is row 1)" if table.index.name == "row" else base
    return f"{word} {listing(said)}{base}" if bad.size else ""


def nested_cells(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a mask of the cells that hold lists or objects, recognised by their missing hash."""
    try:
        pd.factorize(column)
    except TypeError:
        return column.map(lambda cell: isinstance(cell, list | set | dict | np.ndarray))
    return pd.Series(False, column.index)


def plain_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Turn text into whole numbers if that loses nothing ("12", but not "012" or "1.0")."""
    codes, values = pd.factorize(column)
    different = pd.Series(values, dtype=object)
    if different.empty or not different.str.fullmatch(r"0|-?[1-9][0-9]{0,17}").all():
        return column
    numbers = np.append(different.astype("int64").to_numpy(), 0)[codes]
    return pd.Series(pd.array(numbers, dtype="Int64"), column.index, name=column.name).mask(codes < 0)

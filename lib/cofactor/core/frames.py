"""Tables as callers bring them: a file of any usual form or a data frame, read with errors that say what to mend.

What a file holds is told from its first bytes: parquet, JSON (an array, or one object a line), or text with a
separator between its columns. Every cell becomes text, so that the same table reads the same from each form.
"""

from __future__ import annotations

import csv
import io
import json
import lzma
import os
import re
import stat
import sys
import unicodedata
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.files import from_json, read_table, reading_parquet, unpacked
from cofactor.core.lazy import pd
from cofactor.core.types import Floats

Record = dict[str, Any]
Unfold = Callable[[list[Record]], "pd.DataFrame | None"]  # from objects within objects to a table
Recognise = Callable[["pd.DataFrame", Sequence[str]], "pd.DataFrame"]

STDIN = "-"
SEPARATORS = ",\t;|"
MOST_COLUMNS = 5000  # where a few are wanted; one for each worker may be among them
HEAD = 1 << 16  # bytes that the form and the separator are told from
PACKED = (".gz", ".bz2", ".xz", ".zip")
MAGIC = {
    b"\x1f\x8b": "packed by gzip: call it .gz, or unpack it",
    b"BZh": "packed by bzip2: call it .bz2, or unpack it",
    b"\xfd7zXZ": "packed by xz: call it .xz, or unpack it",
    b"PK\x03\x04": "a zip archive or a spreadsheet: save the table as CSV, or call the archive .zip",
}
SCOPE = "one class per task and worker can be used, not several at once, free text or marked regions"
NO_VALUE = ("", "nan", "NaN", "NA", "N/A", "null", "NULL", "None")  # how a missing cell reads in a file
LIKE_MISSING = (  # how spreadsheets, databases and surveys write that there is none; as a label, it is noted
    *("?", ".", "n/a", "#N/A", "<NA>", "undefined"),
    *("#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!"),
)
NO_ANSWERS = (  # words that may say that nothing was answered, and may be an answer: they are noted
    *("unsure", "not sure", "uncertain", "skip", "skipped", "no answer", "idk", "dunno", "dk", "refused"),
    *("-", "--", "nil", "missing", "-999", *(word.casefold() for word in LIKE_MISSING)),
    *("don't know", "dont know", "don\u2019t know", "do not know", "can't tell", "cannot tell", "can't say"),
    *("unknown", "not known", "not stated", "not available", "unspecified", "prefer not to say", "not applicable"),
)
COUNTED = ("row", "line", "record", "annotation")  # names of an index that counts as the file's owner counts
UNCLOSED = re.compile(r"EOF inside string starting at row (\d+)")  # as pandas says it, counted from 0
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
    frame = renamed_columns(_read(path, asked, encoding, sep, row, unfold, pairs), asked or ())
    there = list(frame.columns)
    if recognise is not None and columns is not None and not set(columns) <= set(there):
        if frame.index.name == "record" and path != STDIN:  # of parquet, only what was asked for has been read
            frame = _read(path, None, encoding, sep, row, unfold, pairs)
        frame = recognise(frame, columns)
    wanted = there if asked is None else [name for name in asked if name in frame or name not in optional]
    check_columns(frame, wanted, f"{row}s")
    frame = frame if asked is None else frame[list(dict.fromkeys(wanted))]
    if frame.index.name != "row":  # text holds no lists
        nested = located(frame, frame.apply(nested_cells).any(axis=1))
        if nested:
            found = f"a list or an object where one value is expected in {nested}"
            raise CofactorError(f"{_called(path)}: {found}" + (f"; {SCOPE}" if row == "label" else ""))
    read = frame.apply(lambda column: column if column.isna().all() else by_value(column, lambda one: one.str.strip()))
    read.attrs = frame.attrs | {"found": there}
    return read


def _read(
    path: str | PathLike[str],
    columns: Sequence[str] | None,
    encoding: str,
    sep: str | None,
    row: str,
    unfold: Unfold | None,
    pairs: tuple[str, str] | None,
) -> pd.DataFrame:
    name, form = _called(path), "a table"
    if sep is not None and (len(sep) != 1 or sep in '\r\n"'):
        raise CofactorError(f"sep={sep!r}: one character separates the columns, such as a comma")
    try:
        head, content = _opened(path)
        form = _form(head, encoding)
        if form == "parquet":
            return _read_parquet(content, columns, name)
        if form == "JSON":
            return _read_json(_whole(content), encoding, unfold, pairs)
        return _read_text(head, content, columns, encoding, sep)
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
        raise CofactorError(
            f"{name} is not {encoding.removesuffix('-sig')} text (byte {error.start}): "
            "save it as UTF-8, or name its encoding, for example encoding='latin-1'"
        ) from None
    except MemoryError:
        raise CofactorError(f"{name} does not fit into memory: drop rows or columns that are not needed") from None
    except UNREADABLE as error:
        raise CofactorError(f"{name} cannot be read as {form}: {error}") from None


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


def _whole(content: Any) -> bytes:
    return content.getvalue() if isinstance(content, io.BytesIO) else Path(content).read_bytes()


def _form(head: bytes, encoding: str) -> str:
    if head.startswith(b"PAR1"):
        return "parquet"
    begin = head.decode(encoding, errors="ignore").lstrip("\ufeff \t\r\n")[:1]
    return "JSON" if begin and begin in "[{" else "CSV"


# ---- text ----


def _read_text(
    head: bytes, content: Any, columns: Sequence[str] | None, encoding: str, sep: str | None
) -> pd.DataFrame:
    begin = head.decode(encoding, errors="ignore").lstrip("\ufeff")
    sep = sep or separator_of(begin.lstrip("\r\n"), columns or ())
    names = next(csv.reader(io.StringIO(begin.lstrip("\r\n"), newline=""), delimiter=sep), [])
    if columns is None:
        _refuse_twice(names)
    else:
        _refuse_many(names)
    above = len(begin[: len(begin) - len(begin.lstrip("\r\n"))].splitlines())  # empty lines above the header
    options: Any = {"dtype": str, "keep_default_na": False, "encoding": encoding, "index_col": False, "sep": sep}
    options |= {"skip_blank_lines": False, "skiprows": above, "compression": None}
    try:
        with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):  # rows that are too long
            frame = pd.read_csv(content, **options)
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        with suppress(csv.Error):  # a cell too long for its reader, where a quote is not closed
            _name_ragged(_whole(content).decode(encoding), sep)
        if found := UNCLOSED.search(str(error)):
            what = f"a quote in row {int(found[1]) + 1} (the first line is row 1) is never closed"
            raise ValueError(f"{what}: close it, or write a quote within a cell twice") from None
        raise
    frame.index = pd.RangeIndex(above + 2, above + 2 + len(frame), name="row")
    return frame[~(frame == "").all(axis=1)]


def separator_of(begin: str, columns: Sequence[str]) -> str:
    """Return the separator under which the header names most of the wanted columns, then most columns at all."""
    wanted = {_plain(name) for name in columns}

    def fit(sep: str) -> tuple[int, int]:
        names = [_plain(name) for name in next(csv.reader(io.StringIO(begin), delimiter=sep), [])]
        return len(wanted.intersection(names)), len(names)

    try:
        return max(SEPARATORS, key=fit)
    except csv.Error:
        return SEPARATORS[0]


def _refuse_many(names: Sequence[str]) -> None:
    """Refuse a header without end, where a few columns are wanted: each is looked at."""
    if len(names) > MOST_COLUMNS:
        raise CofactorError(f"the table has more than {MOST_COLUMNS} columns: leave only those that are needed")


def _refuse_twice(names: Sequence[str]) -> None:
    """Refuse a header with one name twice, where all columns are wanted: pandas would give the second a new name."""
    names = [name.strip() for name in names]
    twice = [name for name in dict.fromkeys(names) if name and names.count(name) > 1]
    if twice:
        raise CofactorError(f"more than one column is called {listing(twice)}: rename all but one")


def _name_ragged(text: str, sep: str) -> None:
    """Refuse rows that have more cells than the header, by the numbers that a spreadsheet gives them."""
    rows = enumerate(csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=sep), 1)
    header: list[str] = next((cells for _, cells in rows if cells), [])
    bad = [f"row {n} ({len(cells)} cells)" for n, cells in rows if len(cells) > len(header)]
    if bad:
        raise CofactorError(
            f"more cells than the {len(header)} of the header in {listing(bad)} (the first line is row 1): "
            f"mend these rows; cells that hold {sep!r} belong in quotes"
        )


# ---- JSON and parquet ----


def _read_json(
    content: bytes, encoding: str, unfold: Unfold | None, pairs: tuple[str, str] | None = None
) -> pd.DataFrame:
    text = content.decode(encoding).lstrip("\ufeff")
    lines = text.lstrip().startswith("{")
    numbered = _json_lines(text) if lines else list(enumerate(_parsed(text), 1))
    word = "line" if lines else "record"
    if pairs and all(isinstance(record, list) and len(record) == len(pairs) for _, record in numbered):
        numbered = [(number, dict(zip(pairs, record, strict=True))) for number, record in numbered]
    bad = [number for number, record in numbered if not isinstance(record, dict)]
    if bad or not numbered:
        found = f"{word}s {listing(bad)} hold none" if bad else "there is none"
        example = '{"task": 1, "worker": "w", "label": "x"}'
        if pairs:
            example = f'{{"{pairs[0]}": "x", "{pairs[1]}": "y"}}, or ["x", "y"]'
        raise ValueError(f"every {word} must be an object such as {example}, but {found}")
    records = [record for _, record in numbered]
    unfolded = unfold(records) if unfold else None
    if unfolded is not None:
        return unfolded
    index = pd.Index([number for number, _ in numbered], name=word)
    frame = pd.DataFrame(records, index=index, dtype=object)
    return frame.map(lambda cell: str(cell) if isinstance(cell, bool) else cell)


def _json_lines(text: str) -> list[tuple[int, Any]]:
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                found.append((number, _parsed(line)))
            except json.JSONDecodeError as error:
                raise ValueError(f"line {number}: {error.msg} (column {error.colno})") from None
    return found


def _parsed(text: str) -> Any:
    """Parse JSON with numbers as written, so that 1.0 and 10^30 stay what they are; NaN is missing."""
    found = from_json(text, parse_int=str, parse_float=str, parse_constant=lambda _: None)
    if "\\ud" in text.lower():  # halves of characters that were written as two escapes; alone they are no text
        json.dumps(found, ensure_ascii=False).encode("utf8")
    return found


def _read_parquet(content: Any, columns: Sequence[str] | None, name: str) -> pd.DataFrame:
    with reading_parquet(name):
        import pyarrow.parquet

        names = pyarrow.parquet.ParquetFile(content).schema_arrow.names
        _refuse_many(names if columns is not None else [])
        wanted = {_plain(column) for column in (names if columns is None else columns)}
        table = read_table(content, [column for column in names if _plain(column) in wanted], name)
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


def _plain(name: object) -> str:
    """Return a column's name without what tells no two names apart: capitals, and how its words are joined."""
    return re.sub(r"[\s_-]+", "_", unicodedata.normalize("NFKC", str(name)).strip().casefold())


def renamed_columns(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Give columns the wanted names where they differ in capitals, blanks, "-" and "_" alone, and just one does."""
    names = [str(name).strip() for name in frame.columns]
    plain = list(map(_plain, names))
    for wanted in columns:
        same = _plain(wanted)
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
    """Write a word without capitals and with single blanks."""
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
    from cofactor.core.spelling import plain  # which reads tables as this module does

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
    counted = table.index.name in COUNTED
    numbers = table.index[bad] if counted else bad
    said = numbers if values is None else [f"{n} ({value!r})" for n, value in zip(numbers, values, strict=True)]
    word, base = (f"{table.index.name}s", "") if counted else ("data rows", " (0 is the first)")
    base = " (the first line is row 1)" if table.index.name == "row" else base
    return f"{word} {listing(said)}{base}" if bad.size else ""


def by_value(column: pd.Series[Any], clean: Callable[[pd.Series[Any]], pd.Series[Any]]) -> pd.Series[Any]:
    """Clean each different value of a column once, instead of each cell; missing cells stay missing."""
    codes, values = pd.factorize(column)
    cleaned = clean(pd.Series(values, dtype=object)).to_numpy(dtype=object)
    return pd.Series(np.append(cleaned, [None])[codes], column.index, dtype=object, name=column.name)


def nested_cells(column: pd.Series[Any]) -> pd.Series[Any]:
    """Which cells hold lists or objects: they have no hash, so that a column whose cells have one holds none."""
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

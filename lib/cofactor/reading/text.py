"""Read delimited text, with pyarrow if its quotes are simple, otherwise with pandas.

In addition to what pandas rejects, rows longer than the header and cells with text after a closing quote are rejected:
some programs escape quotes inside a cell with a backslash, and everything after such a quote would be misread.
"""

from __future__ import annotations

import csv
import io
import mmap
import re
import warnings
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from cofactor.core.cells import SEPARATORS, numbered_rows, plain_name
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.lazy import pd

MOST_COLUMNS = 5000  # where a few are wanted; one for each worker may be among them
UNCLOSED = re.compile(r"EOF inside string starting at row (\d+)")  # as pandas says it, counted from 0
LOOK = 1 << 12  # bytes by which an encoding is guessed
LINES = 100  # data lines by which a separator is chosen
TITLES = 5  # lines at most that are titles above a header
AFTER_QUOTE = "double every quote inside a cell, and enclose the whole cell in quotes"
RETURN_ALONE = re.compile(rb"\r(?![\r\n])")
TWICE = "twice"  # attribute of a frame: names that more than one column has
HEADER = "header"  # attribute of a frame of text: its first line as it stands
FOUND = "found"  # another: the names of all columns of the file
PIECE = 1 << 20  # bytes that are looked at in one go
BLOCK = 1 << 26  # bytes that pyarrow reads at once; no row is longer
UTF_8 = ("utf-8-sig", "utf-8", "utf8", "ascii")
DECLARED = re.compile(r"sep=([^\r\n])(\r\n|\n|\r)", re.IGNORECASE)  # the first line, as spreadsheets write it
OF_WINDOWS = re.compile(rb"[\x80-\x9f]")  # quotes and dashes there, control characters in latin-1
ONE_BYTE_SIGNS = ("utf-8-sig", "utf-8", "utf8", "ascii", "latin-1", "latin1", "iso-8859-1", "cp1252", "windows-1252")


def read_text(
    head: bytes,
    content: Any,
    columns: Sequence[str],
    optional: Sequence[str],
    encoding: str,
    sep: str | None,
    empty_rows: bool = False,
) -> pd.DataFrame:
    """Read a delimited text table without its empty rows, or only without those at its end if `empty_rows`.

    The index has row numbers as in a spreadsheet, `attrs["twice"]` lists duplicate names, and `attrs["found"]` all
    names. pyarrow reads simple text directly as codes of distinct values; what it refuses, pandas reads or explains.

    Parameters
    ----------
    head : bytes
        The beginning of the file.
    content : path or BytesIO
    columns, optional : names of wanted columns, by which the separator is recognised if `sep` is None
        If all `columns` are present, only these and the optional ones are read; otherwise, or without `columns`, all.
    """
    begin = head.decode(encoding, errors="ignore").lstrip("\ufeff")
    if declared := DECLARED.match(begin):
        sep, begin = sep or declared[1], begin[declared.end() :]
    sep = sep or separator_of(begin.lstrip("\r\n"), [*columns, *optional])
    above = len(begin[: len(begin) - len(begin.lstrip("\r\n"))].splitlines())  # empty lines above the header
    above += 1 if declared else 0
    names = _row(begin.lstrip("\r\n"), sep, 0)
    if columns:
        refuse_many(names)
    if not columns or not set(map(plain_name, columns)) <= set(map(plain_name, names)):
        _refuse_titles(begin.lstrip("\r\n"), sep, above)
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    options: Any = {"dtype": str, "keep_default_na": False, "encoding": encoding, "index_col": False, "sep": sep}
    options |= {"skip_blank_lines": False, "skiprows": above, "compression": None}
    try:
        simple = check_text(content, encoding, sep) and not twice and all(names) and encoding.casefold() in UTF_8
        header, end, _ = begin.lstrip("\r\n").partition("\n")
        if simple and (columns or optional) and end and header.count('"') % 2 == 0:
            frame = _by_arrow(content, sep, names, needed_columns(names, columns, optional), above)
            if frame is not None:
                return frame
        if len(_row(begin.lstrip("\r\n"), sep, 1)) > len(names):  # an empty cell behind all rows: pandas 2 drops it
            _name_ragged(whole(content).decode(encoding), sep)
        with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):  # rows that are too long
            frame = pd.read_csv(content, **options)
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        with suppress(csv.Error):  # a cell too long for its reader, where a quote is not closed
            _name_ragged(whole(content).decode(encoding), sep)
        if found := UNCLOSED.search(str(error)):
            what = f"a quote in {numbered_rows([int(found[1]) + 1])} is never closed"
            raise ValueError(f"{what}: close it, or double it if it belongs to the cell") from None
        raise
    frame.index = pd.RangeIndex(above + 2, above + 2 + len(frame), name="row")
    if empty_rows:
        text = whole(content).decode(encoding)
        ending = text[len(text.rstrip("\r\n")) :].replace("\r\n", "\n").replace("\r", "\n")
        frame = frame.iloc[: len(frame) - max(len(ending) - 1, 0)]
    else:
        frame = frame[~(frame == "").all(axis=1)]
    frame.attrs |= {TWICE: twice, FOUND: list(map(str, frame.columns)), HEADER: names}
    return frame


def needed_columns(names: Sequence[str], columns: Sequence[str], optional: Sequence[str]) -> list[str]:
    """Return the names of the columns to read: the wanted ones if all are present, otherwise all."""
    plain = {name: plain_name(name) for name in names}
    wanted = (
        set(map(plain_name, [*columns, *optional])) if set(map(plain_name, columns)) <= {*plain.values()} else set()
    )
    return [name for name in names if plain[name] in wanted] or list(names)


def _by_arrow(content: Any, sep: str, names: list[str], kept: list[str], above: int) -> pd.DataFrame | None:
    """Read simple text as categorical columns; None if pyarrow refuses it or rows are empty."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    types = dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string()))
    try:
        table = arrow.read_csv(
            pa.BufferReader(content.getvalue()) if isinstance(content, io.BytesIO) else pa.OSFile(str(content)),
            arrow.ReadOptions(column_names=names, skip_rows=above + 1, block_size=BLOCK, use_threads=False),
            arrow.ParseOptions(delimiter=sep, newlines_in_values=True, ignore_empty_lines=False),
            arrow.ConvertOptions(column_types=types, include_columns=kept, strings_can_be_null=False),
        )
    except (pa.ArrowException, OSError, ValueError):
        return None
    index = pd.RangeIndex(above + 2, above + 2 + table.num_rows, name="row")
    frame = pd.DataFrame({name: categories(table[name]) for name in kept}, index=index)
    if (frame == "").all(axis=1).any():
        return None
    frame.attrs |= {TWICE: [], FOUND: names}
    return frame


def categories(column: Any) -> Any:
    """Convert a pyarrow column of strings, plain or dictionary-encoded, to a pandas Categorical."""
    import pyarrow as pa

    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    coded = coded.unify_dictionaries().combine_chunks()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    values = pd.Index(coded.dictionary.to_pylist(), dtype=object)
    return pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(values))


def refuse_many(names: Sequence[str]) -> None:
    """Raise a CofactorError if a header has too many columns to search for the few that are wanted."""
    if len(names) > MOST_COLUMNS:
        raise CofactorError(f"the table has more than {MOST_COLUMNS} columns: keep only those that are needed")


def whole(content: Any) -> bytes:
    """Return the contents of a path or a BytesIO."""
    return content.getvalue() if isinstance(content, io.BytesIO) else Path(content).read_bytes()


def likely_encoding(content: Any) -> str:
    r"""Guess the encoding of a text that is not UTF-8.

    >>> likely_encoding(io.BytesIO("task".encode("utf-16-le"))), likely_encoding(io.BytesIO(b"caf\\xe9"))
    ('utf-16-le', 'latin-1')
    """
    head = whole(content)[:LOOK]
    if marked := encoding_of_mark(head):
        return marked
    zeros = [head[place::2].count(0) for place in (0, 1)]
    if 4 * max(zeros) >= len(head):
        return "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
    return "cp1252" if OF_WINDOWS.search(whole(content)) else "latin-1"


def encoding_of_mark(head: bytes) -> str:
    """Return the encoding given by a byte order mark, other than UTF-8; "" without such a mark."""
    marks = {"utf-32": (BOM_UTF32_LE, BOM_UTF32_BE), "utf-16": (BOM_UTF16_LE, BOM_UTF16_BE)}
    return next((name for name, known in marks.items() if head.startswith(known)), "")


def separator_of(begin: str, columns: Sequence[str]) -> str:
    r"""Return the separator that gives the header the most wanted columns; in a tie, the one of the data lines.

    This is the one with which most of the first data lines have as many cells as the header, and then one other than a
    comma, which numbers and names may contain. If no line decides, it is the one with the most columns.

    >>> separator_of("size, cm;weight, kg;kind\n150,0;50,0;m\n", []), separator_of("size, cm;kind\n", ["kind"])
    (';', ';')
    """
    wanted = {plain_name(name) for name in columns}

    def fit(sep: str) -> tuple[int, float, bool, int]:
        names, *lines = _rows(begin, sep, LINES + 1) or [[]]
        fitting = [len(line) == len(names) for line in lines[:-1] or lines if line]  # the last one may be cut
        share = sum(fitting) / len(fitting) if fitting and len(names) > 1 else 0.0
        return len(wanted.intersection(map(plain_name, names))), share, share > 0 and sep != ",", len(names)

    return max(SEPARATORS, key=fit)


def _rows(begin: str, sep: str, most: int) -> list[list[str]]:
    """Return the first rows, up to one that cannot be read."""
    found: list[list[str]] = []
    with suppress(csv.Error):
        for row in islice(csv.reader(io.StringIO(begin, newline=""), delimiter=sep), most):
            found.append(row)
    return found


def _row(begin: str, sep: str, number: int) -> list[str]:
    """Return the cells of a row (0 is the header); [] if the text has no such row."""
    return [cell.strip() for row in _rows(begin, sep, number + 1)[number:] for cell in row]


def _refuse_titles(begin: str, sep: str, above: int) -> None:
    """Refuse titles above a header that are padded with empty cells, as spreadsheets write them, or two header lines.

    At least half of the cells of titles are empty. The header is the first line without an empty cell. It holds
    different texts, and none of them occurs in the same column below, as it would in a row of data.
    """
    first = _row(begin, sep, 0)
    if 2 * first.count("") < len(first) or len(first) < 2 or (first.count("") == 1 and not first[0]):
        return
    rows = [(n, [one.strip() for one in cells]) for n, cells in enumerate(_rows(begin, sep, LINES), above + 1) if cells]
    at = next((n for n, (_, cells) in enumerate(rows) if all(cells)), 0)
    titles, (number, header), below = rows[:at], rows[at], rows[at + 1 :]
    texts = {cell.casefold() for cell in header if any(map(str.isalpha, cell))}
    padded = 0 < at <= TITLES and all(2 * cells.count("") >= len(cells) for _, cells in titles)
    again = any(cell == name for _, cells in below for cell, name in zip(cells, header, strict=False))
    if padded and below and len(texts) == len(header) == len(first) and not again:
        found = f"row {number} ({listing(header)}) looks like the header, because it names every column"
        called = [(n, ", ".join(filter(None, cells))) for n, cells in titles if any(cells)]
        raise CofactorError(f"{found}: {_without_titles(called) or 'remove the empty line above it'}")


def _without_titles(titles: Sequence[tuple[int, str]]) -> str:
    """Return the advice to remove lines, given by row number and text; "" without such lines."""
    if len(titles) < 2:
        return "".join(f"if {text!r} is a title, remove its line" for _, text in titles)
    *some, last = [f"{text!r} (row {n})" for n, text in titles]
    return f"if {', '.join(some)} and {last} are titles, remove their lines"


def _name_ragged(text: str, sep: str) -> None:
    """Refuse rows with more cells than the header, listed by their row numbers in a spreadsheet.

    If all rows but the first few have the same number of cells, and more than these, these may be titles.
    """
    text = text.lstrip("\ufeff")
    start = 2 if (declared := DECLARED.match(text)) else 1
    rows = enumerate(
        csv.reader(io.StringIO(text[declared.end() if declared else 0 :], newline=""), delimiter=sep), start
    )
    header, *below = lines = [(n, cells) for n, cells in rows if cells] or [(1, [])]
    bad = [f"{n} ({len(cells)} cells)" for n, cells in below if len(cells) > len(header[1])]
    if bad:
        mend = f"correct these rows; put cells that contain {sep!r} in quotes"
        width = len(lines[-1][1])
        at = 1 + max(n for n, (_, cells) in enumerate(lines) if len(cells) != width or n == 0)
        most = max(len(cells) for _, cells in lines[:at])
        if len(lines) > max(2 * at, 2) and at <= TITLES and most < width and (at == 1 or 2 * most <= width):
            mend += f"; {_without_titles([(n, sep.join(cells)) for n, cells in lines[:at]])}"
        raise CofactorError(f"more cells than in the header ({len(header[1])}) in {numbered_rows(bad)}: {mend}")


# ---- what pandas passes over ----


def check_text(content: Any, encoding: str, sep: str) -> bool:
    """Raise a ValueError for zero bytes or text after a closing quote; return whether the text is simple.

    In simple text, quotes only enclose whole cells, and rows end in a line feed, which may follow a carriage return. A
    `DataWarning` lists rows that end in a carriage return alone if others end in a line feed.
    Cost: O(bytes) time, one search for each of the three characters, and one more if there are quotes.
    """
    with _bytes_of(content, encoding) as text:
        zero = text.find(b"\0")
        if zero >= 0:
            whole(content).decode(encoding)  # what is no text in this encoding is told as such
            advice = "set its encoding, for example encoding='utf-16', or save it as UTF-8"
            raise ValueError(f"byte {zero} is zero, so it is not text in this encoding: {advice}")
        odd = text.find(b'"') >= 0 and not _all_around(text, sep)
        if odd and (row := _row_after_quote(text, sep)):
            raise ValueError(f"text follows a closing quote in {numbered_rows([row])}: {AFTER_QUOTE}")
        alone = text.find(b"\r") >= 0 and RETURN_ALONE.search(text) is not None
        if alone and text.find(b"\n") >= 0:
            _note_returns(text, sep)
        return not (odd or alone)


def _all_around(text: Any, sep: str) -> bool:
    """Whether quotes come in pairs, the first after a separator or line end and the second before one."""
    signs = np.frombuffer(text, dtype=np.uint8)
    end = np.zeros(256, dtype=bool)
    end[[ord(one) for one in (sep, "\n", "\r")]] = True
    start, seen = len(BOM_UTF8) * (text[: len(BOM_UTF8)] == BOM_UTF8), 0
    for begin in range(start, len(signs), PIECE):
        quotes = begin + np.flatnonzero(signs[begin : begin + PIECE] == ord('"'))
        first, second = quotes[seen % 2 :: 2], quotes[1 - seen % 2 :: 2]
        seen += len(quotes)
        before, after = signs[first[first > start] - 1], signs[second[second < len(signs) - 1] + 1]
        if not (end[before].all() and end[after].all()):
            return False
    return seen % 2 == 0


def _note_returns(text: Any, sep: str) -> None:
    """Warn of rows that end in a carriage return alone if others do not: it may belong to a cell."""
    quoted = rb'(?:\A%b|(?<![^\r\n%b]))"(?:[^"]++|"")*+"' % (BOM_UTF8, re.escape(sep.encode()))
    row, alone, others = 1, [], 0
    for found in re.compile(rb"%b|(\r++)(\n|\Z)?|\n" % quoted).finditer(text):
        if found[0][:1] not in b"\r\n":
            continue
        if found[1] and found[2] is None:
            alone.append(row)
        else:
            others += 1
        row += len(found[1] or b"\n")
    if alone and others:
        where = f"a carriage return alone, not a line feed, ends {numbered_rows(alone)}"
        message = f"{where}: if it belongs to a cell, put that cell in quotes"
        warnings.warn(message, DataWarning, stacklevel=4)


def _row_after_quote(text: Any, sep: str) -> int:
    """Return the row of the first cell with text after its closing quote; 0 if there is none."""
    mark = re.escape(sep.encode())
    blanks = rb"[^\S\r\n%b]*+" % mark
    quoted, bare = rb'"(?:[^"]++|"")*+"' + blanks, rb'[^"\r\n%b][^\r\n%b]*+' % (mark, mark)
    cell = rb"(?:%b|%b|)(?:%b|\r\n|\r|\n)" % (quoted, bare, mark)
    begin = len(BOM_UTF8) * (text[: len(BOM_UTF8)] == BOM_UTF8)
    well = re.compile(b"(?:%b)*+" % cell).match(text, begin)
    assert well is not None  # it matches nothing at least
    last = re.compile(b"(?:%b|%b|)\\Z" % (quoted, bare)).match(text, well.end())
    if last or not re.compile(quoted).match(text, well.end()):  # else a quote is never closed: pandas names it
        return 0
    above = csv.reader(io.StringIO(text[begin : well.end()].decode("latin-1") + "x", newline=""), delimiter=sep)
    return sum(1 for _ in above)


@contextmanager
def _bytes_of(content: Any, encoding: str) -> Iterator[Any]:
    """Yield text as bytes in UTF-8, or in an encoding with the same separators; files are memory-mapped."""
    if encoding.casefold() not in ONE_BYTE_SIGNS:
        yield whole(content).decode(encoding).encode("utf8", "surrogatepass")
    elif isinstance(content, io.BytesIO):
        yield content.getvalue()
    elif not Path(content).is_file() or not Path(content).stat().st_size:
        yield b""
    else:
        with Path(content).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            yield mapped

"""Files of integer codes to arrays; whatever else a file holds is one error that names the file and the line.

    format   columns            first code   header
    tsv      tab-separated      1            none
    csv      comma-separated    0            names of the columns

Lines end in LF or CRLF. A name that ends in .gz is unpacked.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cofactor.core.errors import CofactorError, listing
from cofactor.core.tables import MISSING, Ints


@dataclass(frozen=True)
class Format:
    """How a file writes codes: what separates them, the first code, whether the columns are named."""

    separator: str
    first: int
    header: bool


FORMATS = {"tsv": Format("\t", 1, False), "csv": Format(",", 0, True)}
SHOWN = 40  # characters of an offending line that are quoted


def read_codes(path: Path, reader: str, limits: Mapping[str, int]) -> Ints:
    """Read a table of integer codes.

    Parameters
    ----------
    path : Path
    reader : {"tsv", "csv"}
        The format (see above).
    limits : mapping, column name to number of codes
        In the order of the columns, C of them.

    Returns
    -------
    (E, C) codes, counted from zero, in the order of the lines.

    Raises
    ------
    CofactorError
        Not readable, not text, empty, another header, another number of columns, something else than whole numbers,
        or codes out of range. The first ten lines are named.

    Cost
    ----
    O(size of the file) time and memory.
    """
    form = FORMATS[reader]
    lines = _lines(path, form, list(limits))
    first_line = 2 if form.header else 1
    _check_lines(path, lines, form, list(limits), first_line)
    codes = np.array([line.split(form.separator) for line in lines], dtype=np.int64) - form.first
    outside = np.flatnonzero((codes >= list(limits.values())).any(axis=1))
    if outside.size:
        most = ", ".join(f"{name} {limit - 1 + form.first}" for name, limit in limits.items())
        found = _quoted((first_line + e, lines[e]) for e in outside.tolist())
        raise CofactorError(f"{path}: codes above the largest ({most}) in {found}")
    return codes


def read_truth(path: Path, reader: str, n_tasks: int, n_classes: int) -> Ints:
    """Read true classes: (n_tasks,) codes, -1 where the file says nothing.

    A row may be repeated. Raises what `read_codes` raises, and a CofactorError that names the tasks if a task has
    more than one class.
    """
    task, label = np.unique(read_codes(path, reader, {"task": n_tasks, "truth": n_classes}), axis=0).T
    clash = np.unique(task[1:][np.diff(task) == 0])
    if clash.size:
        as_written = clash + FORMATS[reader].first
        raise CofactorError(f"{path}: more than one true class for tasks {listing(as_written.tolist())}: keep one each")
    truth = np.full(n_tasks, MISSING, dtype=np.int64)
    truth[task] = label
    return truth


def _lines(path: Path, form: Format, columns: list[str]) -> list[str]:
    """Lines of codes: without the header, which is checked, and the last line end."""
    lines = _text(path).rstrip("\r\n").split("\n")
    if form.header:
        header = lines.pop(0).rstrip("\r")
        if header != form.separator.join(columns):
            raise CofactorError(f"{path}, line 1: expected the header {columns}, got {header[:SHOWN]!r}")
    if not any(lines):
        raise CofactorError(f"{path}, line {2 if form.header else 1}: the file ends here, without any codes")
    return lines


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise CofactorError(f"{path}, line {line}: not text (byte {error.object[error.start]:#04x})") from None
    except (OSError, EOFError, zlib.error) as error:
        raise CofactorError(f"{path} cannot be read: {error}") from None


def _check_lines(path: Path, lines: list[str], form: Format, columns: list[str], first_line: int) -> None:
    number = "[1-9][0-9]{0,8}" if form.first else "(?:0|[1-9][0-9]{0,8})"  # at most nine digits: fits any integer
    well_formed = re.compile(form.separator.join([number] * len(columns)) + "\r?")
    bad = [(e, line) for e, line in enumerate(lines, first_line) if not well_formed.fullmatch(line)]
    if bad:
        wanted = f"{len(columns)} whole numbers from {form.first} ({', '.join(columns)})"
        raise CofactorError(f"{path}: expected {wanted} separated by {form.separator!r}; not so in {_quoted(bad)}")


def _quoted(numbered: Iterable[tuple[int, str]]) -> str:
    return listing(f"line {number}: {line[:SHOWN]!r}" for number, line in numbered)

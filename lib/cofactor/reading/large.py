"""Read labels from large files and databases with DuckDB: encoded and sorted by task, on disk if necessary.

The embedded engine finds the distinct workers and classes, stores each label as two small codes, and sorts these by
task. The result is a column of codes for each, to which `cofactor.reading.labels` applies the same rules as to those of
a small file. No part of a fit runs here. What DuckDB refuses to read, the reader of small files reads or explains.
DuckDB's Python API changes between versions, so no other file calls it.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sqlite3
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cofactor.core.cells import plain_name
from cofactor.core.checks import available_bytes
from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import pd
from cofactor.reading.tables import HEAD, PACKED, Coded, check_sep
from cofactor.reading.text import UTF_8, check_text, separator_of

LARGE_TEXT = 1 << 26  # bytes of text, unpacked, from which on DuckDB reads a file
LARGE_TABLE = 2_000_000  # rows of parquet
UNPACKED = 5  # times the size of a packed text, about
MOST_MEMORY = 1 << 29  # bytes for DuckDB; beyond them it sorts on disk
BATCH = 1 << 18  # rows that come back at once, or go in
NO_ROWS = re.compile(rb"\n\r?\n|\r[^\n]|\\u0000")  # an empty line, a return within one, a zero character in JSON
TYPES = ((1 << 7, "TINYINT"), (1 << 15, "SMALLINT"), (1 << 31, "INTEGER"))
PLAIN = (
    *("VARCHAR", "ENUM", "TIMESTAMP", "DATE", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
)  # beginnings of types whose values are written as in a CSV file
WHOLE = "abs({0}) < 1e15 AND {0} = trunc({0})"  # floats that are written without their point


class Source(NamedTuple):
    """Where DuckDB finds rows: a FROM clause, its columns as text, the number of a row, and the noun for rows."""

    relation: str
    columns: dict[str, str]
    row: str
    what: str


def is_large(path: str | PathLike[str]) -> bool:
    """Return whether DuckDB should read a file, judging by its size alone."""
    try:
        size = os.stat(path).st_size if Path(path).is_file() else 0
    except OSError:
        return False
    if size >= 8 * LARGE_TABLE:  # fewer bytes hold no so many rows that it would matter
        with open(path, "rb") as file:
            if file.read(4) == b"PAR1":
                import pyarrow.parquet

                return bool(pyarrow.parquet.read_metadata(path).num_rows >= LARGE_TABLE)
    return size * (UNPACKED if str(path).lower().endswith(PACKED) else 1) >= LARGE_TEXT


def coded_file(
    path: str | PathLike[str], columns: Sequence[str], optional: Sequence[str], encoding: str, sep: str | None
) -> tuple[dict[str, Coded], Any] | None:
    """Read a file with one row per label as coded columns, sorted by task, with their row numbers.

    Parameters
    ----------
    path : a large file of text, JSON lines or Parquet; text may be compressed with gzip
    columns : names of task, worker and label
    optional : names of further columns, which are read if present
    encoding, sep : as for `read_frame`

    Returns
    -------
    Columns by name, and an Index of row numbers as in `read_frame`. None if the reader of small files has to take over:
    for another layout or encoding, lines that need care, or anything that DuckDB refuses.

    Raises a CofactorError if the file changes while it is read, or the disk is full. Cost: two or three passes over the
    file, and one sort; some 10 bytes per label in memory, the rest on disk.
    """
    import duckdb

    before = _state(path)
    with _database() as base:
        try:
            source = _source(base, path, [*columns, *optional], encoding, sep)
            if source is None or not set(columns) <= set(source.columns):
                return None
            found = _sorted(base, source, columns[0])
        except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
            _refuse_full(path, error)
            return None
        except (duckdb.Error, ValueError, EOFError, zlib.error, gzip.BadGzipFile):
            return None
    if _state(path) != before:
        raise CofactorError(f"{path} changed while it was being read: try again when no program writes to it")
    return _coded(source, columns[0], *found)


def coded_query(
    address: str, query: str, columns: Sequence[str], optional: Sequence[str]
) -> tuple[dict[str, Coded], Any]:
    """Read the result of a database query as coded columns, sorted by task, with their row numbers.

    Parameters
    ----------
    address : ``duckdb:///FILE`` or ``sqlite:///FILE``; with the extra `database`, any address that SQLAlchemy accepts
    query : SQL whose result has the columns `columns`, in any order, and may have those of `optional`

    Raises a CofactorError if the database cannot be reached or refuses the query, or a column is missing. No message
    contains the password of the address. Rows are streamed.
    """
    import duckdb
    import pyarrow as pa

    with _database() as base, ExitStack() as stack:
        with _explained(address):
            names, rows = _streamed(stack, address, query)
            found = _named(names, [*columns, *optional])
            if missing := [name for name in columns if name not in found]:
                how = f"rename columns, for example with SELECT {names[0]} AS {missing[0]}"
                raise CofactorError(f"the query returns columns {listing(names)}, but not {listing(missing)}: {how}")
            schema = pa.schema([(name, pa.string()) for name in names])
            batches = (pa.record_batch([*map(_texts, zip(*part, strict=True))], schema=schema) for part in rows)
            base.register("rows", pa.RecordBatchReader.from_batches(schema, batches))
            base.execute(f"CREATE TABLE given AS SELECT {', '.join(map(_name, found.values()))} FROM rows")
        try:
            source = Source("given", {name: _name(own) for name, own in found.items()}, "rowid + 1", "row")
            sorted_rows = _sorted(base, source, columns[0])
        except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
            _refuse_full("the result of the query", error)
            raise
    return _coded(source, columns[0], *sorted_rows)


def _streamed(stack: ExitStack, address: str, query: str) -> tuple[list[str], Iterator[Sequence[Sequence[Any]]]]:
    """Return the column names of a query, and its rows in batches."""
    if address.startswith(("duckdb:", "sqlite:")):
        kind, file = address.split(":", 1)[0], address.split(":", 1)[1].removeprefix("///")
        if not Path(file).is_file():
            raise CofactorError(f"no such database: {file}; an address has the form {kind}:///FILE")
        if kind == "duckdb":
            import duckdb

            cursor: Any = stack.enter_context(closing(duckdb.connect(file, read_only=True)))
        else:
            file = f"{Path(file).resolve().as_uri()}?mode=ro"
            base = sqlite3.connect(file, uri=True, check_same_thread=False)  # DuckDB reads in a thread of its own
            cursor = stack.enter_context(closing(base)).cursor()
        cursor.execute(query)
        names = [one[0] for one in cursor.description or ()]
    else:
        try:
            import sqlalchemy
        except ImportError:
            raise CofactorError(
                "databases other than DuckDB and SQLite need SQLAlchemy: pip install 'cofactor[database]'"
            ) from None
        engine = sqlalchemy.create_engine(address)
        stack.callback(engine.dispose)
        connection = stack.enter_context(engine.connect()).execution_options(stream_results=True)
        cursor = connection.execute(sqlalchemy.text(query))
        names = list(cursor.keys()) if cursor.returns_rows else []
    if not names:
        raise CofactorError(f"the query returns no columns: {query!r} must be a SELECT statement")
    return names, iter(lambda: cursor.fetchmany(BATCH), [])


def _texts(cells: Sequence[Any]) -> Any:
    """Convert cells of a database to pyarrow strings, as a CSV file would have them."""
    import pyarrow as pa

    plain = [int(one) if isinstance(one, float) and one.is_integer() else one for one in cells]
    return pa.array([None if one is None else str(one) for one in plain], pa.string())


@contextmanager
def _explained(address: str) -> Iterator[None]:
    """Convert errors of a database to a CofactorError, without the password of its address."""
    try:
        yield
    except (CofactorError, MemoryError):
        raise
    except Exception as error:  # each driver has its own
        secret = re.search(r"://[^:/@]*:([^@]*)@", address)
        said = " ".join(str(error).split())
        said, shown = (text.replace(secret[1], "***") if secret and secret[1] else text for text in (said, address))
        raise CofactorError(f"{shown} cannot be read: {said}") from None


def _state(path: str | PathLike[str]) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def _refuse_full(path: object, error: Exception) -> None:
    """Raise a CofactorError if the disk is full; return if the error has another cause."""
    said = str(error)
    if not re.search("space left|disk|temp_directory|memory", said, re.IGNORECASE):
        return
    folder = tempfile.gettempdir()
    free = os.statvfs(folder) if hasattr(os, "statvfs") else None
    left = f" ({free.f_bavail * free.f_frsize / 1e9:.1f} GB are free)" if free else ""
    raise CofactorError(
        f"sorting {path} on disk takes about its uncompressed size, but {folder} has too little space{left}: free "
        "some space, or set the environment variable TMPDIR to another folder"
    ) from None


@contextmanager
def _database() -> Iterator[Any]:
    """Open an empty database in a temporary folder."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="cofactor-", ignore_cleanup_errors=True) as folder:
        memory = int(min(MOST_MEMORY, available_bytes() / 2))
        config: dict[str, Any] = {"memory_limit": f"{memory}B", "temp_directory": folder}
        config |= {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        with closing(duckdb.connect(str(Path(folder, "labels.duckdb")), config=config)) as base:
            yield base


# ---- sources ----


def _source(
    base: Any, path: str | PathLike[str], wanted: Sequence[str], encoding: str, sep: str | None
) -> Source | None:
    """Return where DuckDB finds the wanted columns of a file, as far as they are present."""
    packed = str(path).lower().endswith(".gz")
    if encoding.casefold() not in UTF_8 or (str(path).lower().endswith(PACKED) and not packed):
        return None
    check_sep(sep)
    with gzip.open(path) if packed else open(path, "rb") as file:
        head = file.read(HEAD)
    if head.startswith(b"PAR1"):
        return _of_parquet(base, path, wanted)
    begin = head.decode("utf-8-sig", errors="ignore")
    if not begin.strip() or begin.lstrip()[0] == "[":
        return None
    if begin.lstrip()[0] == "{":
        return _of_json(base, path, begin, wanted) if _has_simple_lines(path, packed) else None
    sep = sep or separator_of(begin, wanted)
    names = [name.strip().strip('"') for name in begin.partition("\n")[0].rstrip("\r").split(sep)]
    if not all(names) or '"' in "".join(names) or len(set(names)) < len(names):
        return None
    if not _has_simple_lines(path, packed, sep, len(names)) or not (packed or check_text(path, encoding, sep)):
        return None
    return _of_text(base, path, names, wanted, sep)


def _of_parquet(base: Any, path: str | PathLike[str], wanted: Sequence[str]) -> Source | None:
    import pyarrow.parquet

    names = pyarrow.parquet.read_schema(path).names
    if len(set(names)) < len(names):
        return None
    relation = f"read_parquet({_quoted(path)}, file_row_number = true)"
    kinds = base.sql(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    texts = {name: text for name, kind, *_ in kinds if (text := _text(name, kind))}
    found = _named(texts, wanted)
    return Source(relation, {name: texts[own] for name, own in found.items()}, "file_row_number + 1", "record")


def _of_json(base: Any, path: str | PathLike[str], begin: str, wanted: Sequence[str]) -> Source | None:
    """Return a source of JSON lines whose wanted cells are strings, whole numbers or null."""
    found = _named(list(json.loads(begin.partition("\n")[0])), wanted)
    kinds = ", ".join(f"{_quoted(own)}: 'JSON'" for own in found.values())
    base.execute(
        f"CREATE TABLE given AS SELECT {', '.join(map(_name, found.values()))} "
        f"FROM read_json({_quoted(path)}, format = 'newline_delimited', columns = {{{kinds}}})"
    )
    plain = " AND ".join(
        f"coalesce(json_type({_name(own)}), 'NULL') IN ('VARCHAR', 'UBIGINT', 'BIGINT', 'NULL')"
        for own in found.values()
    )
    if not base.sql(f"SELECT bool_and({plain}) FROM given").fetchall()[0][0]:
        return None
    return Source(
        "given", {n: f"json_extract_string({_name(own)}, '$')" for n, own in found.items()}, "rowid + 1", "line"
    )


def _of_text(
    base: Any, path: str | PathLike[str], names: Sequence[str], wanted: Sequence[str], sep: str
) -> Source | None:
    found = _named(names, wanted)
    kinds = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in names)
    base.execute(
        f"CREATE TABLE given AS SELECT {', '.join(map(_name, found.values()))} FROM read_csv({_quoted(path)}, "
        f"auto_detect = false, header = false, skip = 1, delim = {_quoted(sep)}, quote = '\"', escape = '\"', "
        f"nullstr = '', strict_mode = true, columns = {{{kinds}}})"
    )
    empty = " AND ".join(f"{_name(own)} IS NULL" for own in found.values())
    if base.sql(f"SELECT count(*) FROM given WHERE {empty}").fetchall()[0][0]:
        return None
    return Source("given", {name: _name(own) for name, own in found.items()}, "rowid + 2", "row")


def _has_simple_lines(path: str | PathLike[str], packed: bool, sep: str = "", n_columns: int = 0) -> bool:
    """Whether lines are rows: none is empty, and without quotes each has as many cells as the header."""
    before, quotes, separators, lines = b"", 0, 0, 0
    with gzip.open(path) if packed else open(path, "rb") as file:
        while piece := file.read(1 << 22):
            if NO_ROWS.search(before + piece):
                return False
            quotes += piece.count(b'"')
            separators += piece.count(sep.encode()) if sep else 0
            lines += piece.count(b"\n")
            before = piece[-2:]
    lines += not before.endswith(b"\n")
    return not sep or quotes > 0 or separators == (n_columns - 1) * lines


def _text(name: str, kind: str) -> str | None:
    """Return SQL for a column as text, as a CSV file would have it; None for lists, objects and the like."""
    column = _name(name)
    if kind in ("FLOAT", "DOUBLE"):
        whole = WHOLE.format(column)
        return f"CASE WHEN {whole} THEN CAST(CAST({column} AS BIGINT) AS VARCHAR) ELSE CAST({column} AS VARCHAR) END"
    if kind == "BOOLEAN":
        return f"CASE WHEN {column} THEN 'True' WHEN NOT {column} THEN 'False' END"
    if not kind.endswith("]") and kind.startswith(PLAIN):
        return f"CAST({column} AS VARCHAR)"
    return None


def _named(names: Sequence[str] | dict[str, str], wanted: Sequence[str]) -> dict[str, str]:
    """Map wanted names to columns with that name, or with the same name up to case and the like if only one has it."""
    found = {}
    for name in wanted:
        alike = [own for own in names if own == name] or [own for own in names if plain_name(own) == plain_name(name)]
        if len(alike) == 1:
            found[name] = alike[0]
    return found


def _quoted(text: object) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


# ---- coding and sorting ----


def _sorted(base: Any, source: Source, task: str) -> tuple[dict[str, list[str]], Any, Any, list[Any]]:
    """Encode all columns but the task, and sort by a hash of the task and by row.

    Returns the values of each column; the task of each run of rows of one task, and how many rows it has; the number
    of each row, and its codes.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values: dict[str, list[str]] = {}
    codes: list[str] = []
    for n, (name, text) in enumerate(source.columns.items()):
        if name == task:
            continue
        base.execute(
            f"CREATE TYPE kind{n} AS ENUM (SELECT DISTINCT {text} AS t FROM {source.relation} WHERE t IS NOT NULL)"
        )
        values[name] = [one for (one,) in base.sql(f"SELECT unnest(enum_range(NULL::kind{n}))").fetchall()]
        kind = next(kind for most, kind in TYPES if len(values[name]) < most)
        codes.append(f"coalesce(CAST(enum_code(CAST({text} AS kind{n})) AS {kind}), -1)")
    ids: list[Any] = []
    lengths: list[Any] = []
    columns: list[list[Any]] = [[] for _ in range(len(codes) + 1)]
    wanted = f"{source.columns[task]} AS t, CAST({source.row} AS INTEGER) AS r, {', '.join(codes)}"
    by_task = base.sql(f"SELECT {wanted} FROM {source.relation} ORDER BY hash(t), r")  # half the time of texts in order
    for batch in by_task.to_arrow_reader(BATCH):
        runs = pc.run_end_encode(batch.column(0))
        ids.append(runs.values)
        lengths.append(np.diff(runs.run_ends.to_numpy(), prepend=0))
        for part, column in zip(columns, batch.columns[1:], strict=True):
            part.append(column.to_numpy().copy())  # else the whole batch is kept, with its texts
    found = [np.concatenate(columns.pop(0)) for _ in range(len(columns))]
    return values, pa.chunked_array(ids, pa.string()), np.concatenate(lengths).astype(np.int32), found


def _coded(
    source: Source, task: str, values: dict[str, list[str]], runs_of: Any, length: Any, found: list[Any]
) -> tuple[dict[str, Coded], Any]:
    """Sort rows that are sorted by a hash of the task by task and row, and encode the task."""
    import pyarrow as pa
    import pyarrow.compute as pc

    order = pc.sort_indices(runs_of).to_numpy()  # stable: runs of one task stay in the order of their rows
    tasks, begin, length = runs_of.take(order), np.cumsum(length, dtype=np.int32)[order] - length[order], length[order]
    new = np.append(True, pc.fill_null(pc.not_equal(tasks[1:], tasks[:-1]), True).to_numpy())[: len(length)]
    place = np.repeat(begin - np.cumsum(length, dtype=np.int32) + length, length)
    place += np.arange(len(place), dtype=np.int32)
    row = found.pop(0)[place]
    coded = {name: Coded(found.pop(0)[place], values[name]) for name in values}
    del place
    code = np.repeat(np.cumsum(new, dtype=np.int32) - 1, length)
    known = tasks.filter(pa.array(new)).to_pylist()
    if known and known[-1] is None:  # sorted last
        while known and known[-1] is None:
            known.pop()
        code[code >= len(known)] = -1
    return {name: coded.get(name) or Coded(code, known) for name in source.columns}, pd.Index(row, name=source.what)

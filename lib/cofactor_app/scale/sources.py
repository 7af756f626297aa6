"""Files of labels on their way into DuckDB: parquet by DuckDB itself, text as `CrowdLabels.from_file` reads it.

DuckDB reads text some times faster, and is asked first where nothing has to be decided: there are no quotes and no odd
ends of lines. If it meets a row of another length, a missing id, a header again or bytes that are no text, the file is
read anew in pieces by the reader of all other roads, which says what is wrong, or reads what it can.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cofactor.core.cells import plain_name
from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import refuse_packed_parquet
from cofactor.crowd.labels import COLUMNS, Conflicts
from cofactor.reading.layouts import names_of_columns
from cofactor.reading.records import TIME
from cofactor.reading.tables import as_name, places_of, read_frame
from cofactor.reading.text import TWICE
from cofactor_app.scale.coding import BATCH, Ids, batches, check_present, import_labels, missing

WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
ODD = re.compile(rb"\r(?!\n)")  # ends of lines that DuckDB may not take for one
SAID = "header = true, all_varchar = true, quote = '', escape = '', comment = '', skip = 0, strict_mode = true"


class Unclear(Exception):
    """Something of a text has to be decided by the reader of all roads."""


def imported(
    base: Any, sources: Sequence[str], columns: Sequence[str], sep: str | None, conflicts: Conflicts
) -> tuple[Ids, Ids]:
    """Make the table `coded` of files, see `import_labels`; no id is missing."""
    absent = [path for path in sources if not Path(path).is_file()]
    if absent:
        raise CofactorError(f"no such file: {listing(absent)}")
    parquet = {Path(path).suffix == ".parquet" for path in sources}
    if len(parquet) > 1:
        raise CofactorError("CSV and parquet files cannot be mixed")
    if parquet == {True}:
        query, text = _of_parquet(base, sources, columns, conflicts)
        numbers = import_labels(base, partial(batches, query=query, size=BATCH), text)
        check_present(base, *numbers)
        return numbers
    firsts = [read_frame(path, None, sep=sep) for path in sources]
    known = [{TIME, *columns} if first is None else set(map(str, first.columns)) for first in firsts]
    _refuse_times(known, conflicts)
    try:
        return _by_duckdb(base, sources, columns, firsts)
    except Unclear:
        base.execute("DROP TABLE IF EXISTS coded")
    return import_labels(base, lambda _: _in_pieces(sources, columns, sep), text=True)


def _refuse_times(names: Sequence[set[str]], conflicts: Conflicts) -> None:
    """Refuse to choose the first or last label by the order of the files, where a column says when each was given."""
    if conflicts != "error" and any(TIME in one for one in names):
        advice = "sort the rows by it and rename it, or aggregate in memory (--engine memory)"
        raise CofactorError(f"column {TIME} says which label came {conflicts}, and is not read here: {advice}")


# ---- text ----


def _in_pieces(sources: Sequence[str], columns: Sequence[str], sep: str | None) -> Iterator[Any]:
    import pyarrow as pa

    for path in sources:
        try:
            for frame in [read_frame(path, columns, sep=sep).set_axis(list(COLUMNS), axis=1)]:
                yield pa.record_batch({name: pa.array(frame[name], pa.string()) for name in COLUMNS})
        except CofactorError as error:
            raise error if len(sources) == 1 or path in str(error) else CofactorError(f"{path}: {error}") from None


def _by_duckdb(base: Any, sources: Sequence[str], columns: Sequence[str], firsts: Sequence[Any]) -> tuple[Ids, Ids]:
    """Let DuckDB read the files; `Unclear` where something has to be decided."""
    import duckdb
    import pyarrow as pa

    seps = {","}
    twice = any(first is None or set(columns) & set(first.attrs[TWICE]) for first in firsts)
    if twice or len(seps) != 1 or not all(map(_is_plain, sources)):
        raise Unclear
    how = f"read_csv([{', '.join(map(_text, sources))}], {SAID}, delim = {_text(seps.pop())})"
    try:
        query = _query(how, _chosen([name for name, *_ in _described(base, how)], columns))
        numbers = import_labels(base, partial(batches, query=query, size=BATCH), text=True)
    except (duckdb.Error, pa.ArrowException, OSError, CofactorError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # others are DuckDB's, which pyarrow hands on
            raise
        raise Unclear from None
    if _is_unclear(base, *numbers, columns):
        raise Unclear
    return numbers


def _is_plain(path: str) -> bool:
    """Whether a text has no quotes, no zero bytes, begins with its header and ends its lines in one way."""
    with Path(path).open("rb") as file:
        if not file.read(4).lstrip(b"\xef\xbb\xbf").strip():
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            odd = any(text.find(sign) >= 0 for sign in (b'"', b"\0"))
            return not odd and not (text.find(b"\r") >= 0 and ODD.search(text))


def _is_unclear(base: Any, workers: Ids, labels: Ids, columns: Sequence[str]) -> bool:
    """Whether an id is missing, or a row may be the header again."""
    known = places_of(names_of_columns(columns))
    if any(as_name(name) in known for name in labels.names()):
        return True
    absent = " OR ".join(missing(base, workers, labels).values())
    return bool(base.execute(f"SELECT 1 FROM coded WHERE {absent} LIMIT 1").fetchall())


# ---- queries ----


def _of_parquet(base: Any, sources: Sequence[str], columns: Sequence[str], conflicts: Conflicts) -> tuple[str, bool]:
    """Return the query for the three columns of parquet files, and whether tasks are text."""
    for path in sources:
        refuse_packed_parquet(path, len(columns))
    how = f"read_parquet([{', '.join(map(_text, sources))}])"
    types = {name: kind for name, kind, *_ in _described(base, how)}
    _refuse_times([set(types)], conflicts)
    chosen = _chosen(list(types), columns)
    for name, role in zip(chosen, COLUMNS, strict=True):
        if types[name] not in ("VARCHAR", *WHOLE):
            raise CofactorError(f"ids in column {role} are {types[name]}: make them text or whole numbers")
    return _query(how, chosen), types[chosen[0]] == "VARCHAR"


def _described(base: Any, how: str) -> Any:
    return base.execute(f"DESCRIBE SELECT * FROM {how}").fetchall()


def _chosen(names: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the names in the file of the wanted columns."""
    found = []
    for wanted in columns:
        same = [name for name in names if name.strip() == wanted]
        same = same or [name for name in names if plain_name(name) == plain_name(wanted)]
        found += same if len(same) == 1 else []
    if len(found) < len(columns):
        absent = [name for name in columns if name not in found]
        raise CofactorError(f"no column {listing(absent)}; found {listing(names)}: say which column is which")
    return found


def _query(how: str, chosen: Sequence[str]) -> str:
    named = ", ".join(f"{_quoted(name)} AS {role}" for name, role in zip(chosen, COLUMNS, strict=True))
    return f"SELECT {named} FROM {how}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"

"""From a file of labels in any order to a folder of shards: an external sort, in bounded memory.

DuckDB sorts by task, on disk where memory is short; ids of workers and classes become codes that all shards share.
The folder appears when it is complete: what a stopped run leaves lies in a hidden folder beside it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import restore, whole_folder
from cofactor.crowd.files import COLUMNS, NO_LABEL
from cofactor.crowd.labels import Conflicts
from cofactor.crowd.shards import LabelShards, write_vocabulary

PER_SHARD = 1_000_000  # labels: some 100 MB while they are counted
PLAIN = "0|-?[1-9][0-9]{0,17}"  # whole numbers that lose nothing as numbers, as in `CrowdLabels.from_csv`
WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
KEEP = {"error": "min(label)", "first": "arg_min(label, place)", "last": "arg_max(label, place)"}


def shard_labels(
    sources: Sequence[str | PathLike[str]],
    folder: str | PathLike[str],
    n_shards: int | None = None,
    columns: Sequence[str] = COLUMNS,
    conflicts: Conflicts = "error",
    sep: str = ",",
    memory: str = "1GB",
    replace: bool = False,
) -> LabelShards:
    """Group a file of labels by task into shards.

    Parameters
    ----------
    sources : paths
        CSV files (UTF-8), or parquet files, with one row per label. Ids are text or whole numbers; of a CSV file, they
        are read as `CrowdLabels.from_csv` reads them.
    folder : path
        For the shards; must not exist, unless `replace`.
    n_shards : int, optional
        Shards of about equal size. Default: a million labels each.
    columns : three names
        Of the columns that hold task, worker and label.
    conflicts : {"error", "first", "last"}
        As in `CrowdLabels.from_frame`. The same label given twice counts once.
    sep : str
        Between the columns of CSV files.
    memory : str
        What DuckDB may use, such as "500MB". Needs disk space beside `folder`, about twice the labels' size.
    replace : bool
        Put the new folder in the place of one that is there: a run that is killed leaves the old one or the new one.

    Returns
    -------
    LabelShards

    Raises
    ------
    CofactorError
        DuckDB is not installed; a file cannot be read; ids are missing, or neither text nor whole numbers; fewer than
        two classes; conflicting labels; `n_shards` below one. What is wrong is named.

    Cost
    ----
    O(E log E) time for E labels.
    """
    folder = Path(folder)
    if n_shards is not None and n_shards < 1:
        raise CofactorError(f"n_shards={n_shards}: at least one file has to hold the labels")
    restore(folder)
    if folder.exists() and not replace:
        raise CofactorError(f"{folder} exists: name another folder")
    with whole_folder(folder) as part, _database(folder.with_name(f".{folder.name}.work"), memory) as base:
        _import(base, [str(path) for path in sources], columns, sep)
        workers, classes = _codes(base, "worker"), _codes(base, "label")
        _check_classes(classes)
        _sort(base)
        _cut(base, part, n_shards, conflicts)
        write_vocabulary(part, workers, classes)
    return LabelShards.open(folder)


@contextmanager
def _database(work: Path, memory: str) -> Iterator[Any]:
    """Open a database in a folder of its own, which is removed afterwards."""
    try:
        import duckdb
    except ImportError:
        raise CofactorError("sharding needs DuckDB: pip install 'cofactor[scale]'") from None
    shutil.rmtree(work, ignore_errors=True)  # of a run that was stopped
    work.mkdir()
    try:
        settings: Any = {"memory_limit": memory, "temp_directory": str(work / "spill")}
        with duckdb.connect(str(work / "work.duckdb"), config=settings) as base:
            yield base
    except duckdb.Error as error:
        raise CofactorError(f"the labels cannot be sharded: {str(error).splitlines()[0]}") from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _import(base: Any, sources: list[str], columns: Sequence[str], sep: str) -> None:
    """Make the table `raw` of task, worker and label, in the order of the files."""
    missing = [path for path in sources if not Path(path).is_file()]
    if missing:
        raise CofactorError(f"no such file: {listing(missing)}")
    parquet = {Path(path).suffix == ".parquet" for path in sources}
    if len(parquet) > 1:
        raise CofactorError("CSV and parquet files cannot be mixed")
    how = "read_parquet(?)" if parquet == {True} else "read_csv(?, header = true, all_varchar = true, delim = ?)"
    values = [sources] if parquet == {True} else [sources, sep]
    found = [name for name, *_ in base.execute(f"DESCRIBE SELECT * FROM {how}", values).fetchall()]
    absent = [name for name in columns if name not in found]
    if absent:
        raise CofactorError(f"no column {listing(absent)}; found {listing(found)}: say which column is which")
    chosen = ", ".join(f"{_quoted(name)} AS {role}" for name, role in zip(columns, COLUMNS, strict=True))
    base.execute(f"CREATE TABLE raw AS SELECT {chosen} FROM {how}", values)
    types = dict(base.execute("SELECT column_name, data_type FROM information_schema.columns").fetchall())
    one_csv = len(sources) == 1 and parquet == {False}
    for role in COLUMNS:
        _check_ids(base, role, types[role], one_csv)
    _clean(base, numbers=parquet == {False})


def _check_classes(classes: list[Any]) -> None:
    if not classes:
        raise CofactorError("no labels: there is a header but no rows")
    if len(classes) < 2:
        raise CofactorError(f"only one class ({listing(classes)}): there is nothing to tell apart")


def _check_ids(base: Any, role: str, kind: str, one_csv: bool) -> None:
    if kind not in ("VARCHAR", *WHOLE):
        raise CofactorError(f"ids in column {role} are {kind}: make them text or whole numbers")
    absent = f"{role} IS NULL"
    if kind == "VARCHAR":
        absent += f" OR trim({role}) IN {NO_LABEL if role == 'label' else ('', '')}"
    bad = base.execute(f"SELECT rowid FROM raw WHERE {absent} ORDER BY rowid LIMIT 1000").fetchall()
    if bad:
        first, said = (2, "rows {} (the first line is row 1)") if one_csv else (1, "records {} of all files together")
        rows = said.format(listing(row + first for (row,) in bad))
        raise CofactorError(f"missing {role} in {rows}: fill or drop them")


def _clean(base: Any, numbers: bool) -> None:
    """Name the places of `raw`; of CSV text, drop blanks, and make numbers of columns of plain whole numbers."""
    how = list(COLUMNS)
    if numbers:
        plain = [f"coalesce(bool_and(regexp_full_match(trim({role}), '{PLAIN}')), false)" for role in COLUMNS]
        answers = base.execute(f"SELECT {', '.join(plain)} FROM raw").fetchone()
        casts = {True: "CAST(trim({0}) AS BIGINT) AS {0}", False: "trim({0}) AS {0}"}
        how = [casts[yes].format(role) for role, yes in zip(COLUMNS, answers, strict=True)]
    base.execute(f"CREATE VIEW clean AS SELECT {', '.join(how)}, rowid AS place FROM raw")


def _codes(base: Any, role: str) -> list[Any]:
    """Number the distinct ids of a column in their order (of text: that of its code points, as Python sorts)."""
    base.execute(
        f"CREATE TABLE {role}s AS SELECT id, CAST(row_number() OVER (ORDER BY id) - 1 AS INTEGER) AS code "
        f"FROM (SELECT DISTINCT {role} AS id FROM clean)"
    )
    return [known for (known,) in base.execute(f"SELECT id FROM {role}s ORDER BY code").fetchall()]


def _sort(base: Any) -> None:
    base.execute(
        "CREATE TABLE sorted AS SELECT task, workers.code AS worker, labels.code AS label, place FROM clean "
        "JOIN workers ON worker = workers.id JOIN labels ON label = labels.id ORDER BY task"
    )


def _cut(base: Any, folder: Path, n_shards: int | None, conflicts: str) -> None:
    """Write slices of `sorted` that begin where a task begins."""
    (n_labels,) = base.execute("SELECT count(*) FROM sorted").fetchone()
    n_shards = n_shards or -(-n_labels // PER_SHARD)
    at = np.unique(np.arange(n_shards) * n_labels // n_shards).tolist()
    rows = base.execute("SELECT DISTINCT task FROM sorted WHERE rowid IN (SELECT unnest(?)) ORDER BY task", [at])
    starts = [task for (task,) in rows.fetchall()]
    width = max(3, len(str(len(starts))))
    for number, start in enumerate(starts):
        inside, values = "task >= ?", [start]
        if number + 1 < len(starts):
            inside, values = "task >= ? AND task < ?", [start, starts[number + 1]]
        if conflicts == "error":
            _check_conflicts(base, inside, values)
        base.execute(
            f"COPY (SELECT task, worker, CAST({KEEP[conflicts]} AS INTEGER) AS label FROM sorted WHERE {inside} "
            f"GROUP BY task, worker ORDER BY task, worker) TO '{_text(folder / f'shard-{number:0{width}}.parquet')}'",
            values,
        )


def _check_conflicts(base: Any, inside: str, values: list[Any]) -> None:
    clash = base.execute(
        f"SELECT task, workers.id FROM (SELECT task, worker FROM sorted WHERE {inside} GROUP BY task, worker "
        "HAVING min(label) < max(label)) JOIN workers ON worker = code ORDER BY 1, 2 LIMIT 1000",
        values,
    ).fetchall()
    if clash:
        found = listing(f"task {task!r} by worker {worker!r}" for task, worker in clash)
        raise CofactorError(f"conflicting labels: {found}; mend the data, or keep the first or last (--conflicts)")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(path: Path) -> str:
    return str(path).replace("'", "''")

"""From a file of labels in any order to a folder of shards: an external sort, in bounded memory.

Ids of workers and classes become codes that all shards share; DuckDB sorts by task, on disk where memory is short.
The folder appears when it is complete: what a stopped run leaves lies in a hidden folder beside it.
"""

from __future__ import annotations

import errno
import shutil
import warnings
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.files import whole_folder
from cofactor.core.locks import beside, locked
from cofactor.core.types import Ints
from cofactor.crowd.labels import COLUMNS, Conflicts
from cofactor.reading.labels import alike_names, odd_names, unsure
from cofactor_app.scale.coding import BATCH, MOST_COMPARED, PLAIN, Ids, batches, trimmed
from cofactor_app.scale.shards import LabelShards, write_vocabulary
from cofactor_app.scale.sources import imported

MOST = 100_000  # files in a folder
PER_SHARD = 1_000_000  # labels: some 100 MB while they are counted


def shard_labels(
    sources: Sequence[str | PathLike[str]],
    folder: str | PathLike[str],
    n_shards: int | None = None,
    columns: Sequence[str] = COLUMNS,
    conflicts: Conflicts = "error",
    sep: str | None = None,
    memory: str = "1GB",
    replace: bool = False,
) -> LabelShards:
    """Group a file of labels by task into shards.

    Parameters
    ----------
    sources : paths
        CSV files (UTF-8), or parquet files, with one row per label. Ids are text or whole numbers, read as
        `CrowdLabels.from_file` reads them.
    folder : path
        For the shards; must not exist, unless `replace`.
    n_shards : int, optional
        Shards of about equal size. Default: a million labels each.
    columns : three names
        Of the columns that hold task, worker and label.
    conflicts : {"error", "first", "last"}
        As in `CrowdLabels.from_frame`. The same label given twice counts once.
    sep : str
        Between the columns of CSV files; default: as `CrowdLabels.from_file` tells it.
    memory : str
        What DuckDB may use, such as "500MB". Needs disk space beside `folder`, about twice the labels' size.
    replace : bool
        Put the new folder in the place of one that is there: a run that is killed leaves the old one or the new one.

    Raises a CofactorError where DuckDB is not installed; a file cannot be read; ids are missing, or neither text nor
    whole numbers; fewer than two classes; conflicting labels; `n_shards` below one. What is wrong is named.
    Cost: O(E log E) time for E labels.
    """
    folder = Path(folder)
    if n_shards is not None and not 1 <= n_shards <= MOST:
        raise CofactorError(f"n_shards={n_shards}: give a number of files from 1 to {MOST}")
    work = beside(folder, "work")
    with locked(folder), whole_folder(folder) as part, database(work, memory) as base:
        if folder.exists() and not replace:
            raise CofactorError(f"{folder} exists: name another folder")
        numbers = imported(base, [str(path) for path in sources], [name.strip() for name in columns], sep, conflicts)
        write_vocabulary(part, *_write(base, part, numbers, n_shards, conflicts))
    return LabelShards.open(folder)


def _write(
    base: Any, folder: Path, numbers: tuple[Ids, Ids], n_shards: int | None, conflicts: Conflicts
) -> tuple[list[Any], list[Any]]:
    """Write the shards; returns the ids of workers and classes."""
    _tell_of_names(base, *numbers)
    (workers, place_of_worker), (classes, place_of_class) = (ids.in_order() for ids in numbers)
    if len(classes) < 2:
        raise CofactorError(f"only one class ({listing(classes)}): there is nothing to tell apart")
    ((n_labels,),) = base.execute("SELECT count(*) FROM coded").fetchall()
    reader = _sorted(base, place_of_worker, len(place_of_class), by_place=conflicts != "error")
    n_shards, n_kept = n_shards or -(-n_labels // PER_SHARD), 0
    for number, table in enumerate(_cut(reader, n_labels, n_shards)):
        kept = _one_label_each(table, conflicts, workers, place_of_class)
        n_kept += len(kept)
        write_shard(kept, shard_name(folder, number, n_shards))
    if n_kept < n_labels:
        again = f"{n_labels - n_kept} labels were given again by the same worker on the same task: one each was kept"
        warnings.warn(again, DataWarning, stacklevel=4)
    return workers, classes


def shard_name(folder: Path, number: int, n_shards: int) -> Path:
    """Return the path of one of some shards; the names rise as the tasks do."""
    return folder / f"shard-{number:0{max(3, len(str(n_shards)))}}.parquet"


def write_shard(table: Any, path: Path) -> None:
    """Write a pyarrow table of task, and codes of worker and label."""
    from pyarrow import parquet

    # tasks that are numbers rise, and take a byte each as differences
    encoding = "PLAIN" if str(table["task"].type).endswith("string") else "DELTA_BINARY_PACKED"
    parquet.write_table(table, path, use_dictionary=["worker", "label"], column_encoding={"task": encoding})


def _tell_of_names(base: Any, workers: Ids, labels: Ids) -> None:
    """Note what is noted of names in memory; of tasks, where they are not many."""
    ((kind, n_labels),) = base.execute("SELECT any_value(typeof(task)), count(*) FROM coded").fetchall()
    names = _tasks(base) if kind == "VARCHAR" else [], workers.names(), labels.names()
    found = odd_names(names, n_labels)
    for different, what in zip(names, ("tasks", "workers", "classes"), strict=True):
        found += [] if all(map(PLAIN.fullmatch, different)) else [alike_names(different, what)]
    found += [unsure(_counts(base, labels)) if unsure(dict.fromkeys(names[2], 0)) else ""]
    for message in filter(None, found):
        warnings.warn(message, DataWarning, stacklevel=5)


def _counts(base: Any, labels: Ids) -> Counter[str]:
    """Return how many labels each class has."""
    written, counts = list(labels.number), Counter[str]()
    for code, n in base.execute("SELECT label, count(*) FROM coded GROUP BY label").fetchall():
        counts[trimmed(str(written[code]))] += n
    return counts


def _tasks(base: Any) -> list[str]:
    """Return the tasks in the order of the files; none where they are many."""
    ((n_tasks,),) = base.execute("SELECT count(DISTINCT task) FROM coded").fetchall()
    if n_tasks > MOST_COMPARED:
        return []
    return [name for (name,) in base.execute("SELECT task FROM coded GROUP BY task ORDER BY min(rowid)").fetchall()]


@contextmanager
def database(work: Path, memory: str) -> Iterator[Any]:
    """Open a database in a folder of its own, which is removed afterwards; it has what does not fit into `memory`."""
    try:
        import duckdb
        import pyarrow
    except ImportError:
        raise CofactorError("sorting on disk needs DuckDB and pyarrow: pip install 'cofactor[scale]'") from None
    shutil.rmtree(work, ignore_errors=True)  # of a run that was stopped
    work.mkdir()
    try:
        settings: Any = {"memory_limit": memory, "temp_directory": str(work / "spill")}
        with duckdb.connect(str(work / "work.duckdb"), config=settings) as base:
            base.execute("PRAGMA force_compression = 'uncompressed'")  # all is read once: packing it costs more
            yield base
    except (duckdb.Error, OSError, pyarrow.ArrowException) as error:
        if isinstance(error, OSError) and error.errno is not None:  # others are DuckDB's, which pyarrow hands on
            raise
        if "No space left" in str(error):
            raise OSError(errno.ENOSPC, str(error)) from None
        raise CofactorError(f"sorting on disk failed: {str(error).splitlines()[0]}") from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _sorted(base: Any, place_of_worker: Ints, n_labels: int, by_place: bool) -> Any:
    """Return a reader of task, code of the worker and number of the label, by task and worker.

    Labels given twice come as they came, if `by_place`. What is sorted is made narrow: it may have to go to the disk.
    """
    import pyarrow as pa

    code = place_of_worker.astype(np.min_scalar_type(len(place_of_worker)))
    base.register("workers", pa.table({"number": np.arange(len(code)), "code": code}))
    chosen = f"task, code, label::{'UTINYINT' if n_labels < 256 else 'INTEGER'} AS label"
    order = "task, code, coded.rowid" if by_place else "task, code"
    return batches(base, f"SELECT {chosen} FROM coded JOIN workers ON worker = number ORDER BY {order}", BATCH)


def _cut(reader: Any, n_labels: int, n_shards: int) -> Iterator[Any]:
    """Yield tables about equally long, each of which begins where a task begins."""
    import pyarrow as pa
    from pyarrow import compute

    cuts = deque(np.unique(np.arange(1, n_shards) * n_labels // n_shards).tolist())
    held, first = reader.schema.empty_table(), 0
    for batch in reader:
        held = pa.concat_tables([held, pa.Table.from_batches([batch])])
        while cuts and cuts[0] < first + len(held):
            place = cuts.popleft() - first
            start = compute.index(held["task"], held["task"][place]).as_py() if place > 0 else 0
            if start > 0:
                yield held.slice(0, start)
                held, first = held.slice(start), first + start
    yield held


def _one_label_each(table: Any, conflicts: Conflicts, workers: list[Any], places: Ints) -> Any:
    """Return task, worker and label as codes, a worker's labels of a task once; refuse or choose where they differ."""
    import pyarrow as pa
    from pyarrow import compute

    tasks = table["task"].combine_chunks()
    worker, label = table["code"].to_numpy().astype(np.int32), places[table["label"].to_numpy()]
    again = compute.equal(tasks[1:], tasks[:-1]).to_numpy(zero_copy_only=False) & (worker[1:] == worker[:-1])
    if conflicts == "error" and (clash := np.flatnonzero(again & (label[1:] != label[:-1]))).size:
        pairs = dict.fromkeys((tasks[n].as_py(), workers[worker[n]]) for n in clash.tolist())
        found = listing(f"task {task!r} by worker {name!r}" for task, name in pairs)
        raise CofactorError(f"conflicting labels: {found}; mend the data, or keep the first or last (--conflicts)")
    whole = pa.table({"task": tasks, "worker": worker, "label": label})
    if not again.any():
        return whole
    return whole.filter(pa.array(np.append(~again, True) if conflicts == "last" else np.append(True, ~again)))

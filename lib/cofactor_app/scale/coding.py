"""From ids to codes: one pass over files of labels, in bounded memory.

Ids of workers and classes become numbers as they come; their order, and whether those of a CSV file are whole numbers,
is known at the end only. Tasks are too many for that: they are taken for whole numbers until one is none, and then
read anew as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cofactor.core.cells import NO_VALUE as NO_LABEL
from cofactor.core.cells import UNSEEN, has_no_shape
from cofactor.core.errors import CofactorError, listing
from cofactor.core.types import Ints
from cofactor.crowd.labels import COLUMNS

PLAIN = re.compile("0|-?[1-9][0-9]{0,17}")  # whole numbers that lose nothing as numbers, as in `CrowdLabels.from_csv`
BLANK_CELL = rf"[\s\p{{Cf}}{UNSEEN}]*"  # a cell in which nothing can be seen
LARGEST = 10**18  # the first with more digits
BATCH = 1 << 19  # labels
MOST_COMPARED = 100_000  # tasks of which is said that they look alike


class Ids:
    """Numbers for the distinct ids of a column, from 0, in the order in which they are first read."""

    def __init__(self) -> None:
        self.number: dict[Any, int] = {}

    def codes(self, column: Any) -> Ints:
        """Return the numbers of a pyarrow array of ids; missing ones have a number, too."""
        coded = column.dictionary_encode(null_encoding="encode")
        numbers = [self.number.setdefault(known, len(self.number)) for known in coded.dictionary.to_pylist()]
        return np.array(numbers, dtype=np.int32)[coded.indices.to_numpy()]

    def missing(self, blanks: Iterable[str]) -> list[int]:
        """Return the numbers of ids that are missing: none, or among these blanks."""
        absent = {None, *blanks}
        return [n for known, n in self.number.items() if (trimmed(known) if known else known) in absent]

    def names(self) -> list[str]:
        """Return the different ids that are text, without the blanks around them."""
        return list(dict.fromkeys(trimmed(known) for known in self.number if isinstance(known, str)))

    def in_order(self) -> tuple[list[Any], Ints]:
        """Return the sorted ids, and the place there of every number; text sorts as its code points do.

        Text loses the blanks around it, and becomes numbers where all ids are plain whole ones.
        """
        ids = [trimmed(known) for known in self.number]
        if all(isinstance(known, str) and PLAIN.fullmatch(known) for known in ids):
            ids = [int(known) for known in ids]
        distinct = sorted(set(ids))
        place = {known: code for code, known in enumerate(distinct)}
        return distinct, np.array([place[known] for known in ids], dtype=np.int32)


class NotWhole(Exception):
    """Raised where tasks are taken for whole numbers and one is other text."""


def import_labels(base: Any, read: Callable[[Any], Iterable[Any]], text: bool) -> tuple[Ids, Ids]:
    """Make the table `coded` of task, and numbers of worker and label; its `rowid` is the place in the files.

    Parameters
    ----------
    base : connection to DuckDB
    read : function
        Of a cursor of it: record batches of the three columns as they stand in the files.
    text : bool
        Tasks are text, to be read as `CrowdLabels.from_file` reads it.
    """
    if text:
        try:
            return _import(base, read, whole_numbers)
        except NotWhole:
            base.execute("DROP TABLE IF EXISTS coded")
    return _import(base, read, trimmed_text if text else lambda tasks: tasks)


def _import(base: Any, read: Callable[[Any], Iterable[Any]], task_of: Callable[[Any], Any]) -> tuple[Ids, Ids]:
    import pyarrow as pa

    workers, labels, empty = Ids(), Ids(), True
    with base.cursor() as reader:
        for batch in read(reader):
            task, worker, label = (batch.column(n) for n in range(3))
            codes = task_of(task), workers.codes(worker), labels.codes(label)
            base.register("part", pa.table(dict(zip(COLUMNS, codes, strict=True))))
            base.execute(f"{'CREATE TABLE coded AS' if empty else 'INSERT INTO coded'} SELECT * FROM part")
            base.unregister("part")
            empty = False
    if empty:
        raise CofactorError("no labels: there is a header but no rows")
    return workers, labels


def batches(base: Any, query: str, size: int) -> Any:
    """Return a reader of record batches."""
    found = base.sql(query)
    return (found.to_arrow_reader if hasattr(found, "to_arrow_reader") else found.fetch_arrow_reader)(size)


def whole_numbers(tasks: Any) -> Any:
    """Return a pyarrow array of text as whole numbers; raise `NotWhole` unless all are plain ones."""
    import pyarrow as pa
    from pyarrow import compute

    try:
        numbers = compute.cast(tasks, pa.int64())
    except pa.ArrowInvalid:
        tasks = trimmed_text(tasks)
        try:
            numbers = compute.cast(tasks, pa.int64())
        except pa.ArrowInvalid:
            raise NotWhole from None
    if numbers.null_count or (compute.sum(compute.binary_length(tasks)).as_py() or 0) > _letters(numbers.to_numpy()):
        raise NotWhole  # one is missing, or written with a plus or zeros before it
    return numbers


def _letters(numbers: Ints) -> int:
    """Return how many letters whole numbers have if written plainly; raise `NotWhole` if one has too many digits."""
    least, most = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)
    if not -LARGEST < least <= most < LARGEST:
        raise NotWhole
    letters = len(numbers) + int(np.count_nonzero(numbers < 0))
    for power in (10**n for n in range(1, len(str(max(-least, most))))):
        letters += int(np.count_nonzero(numbers >= power))
        letters += int(np.count_nonzero(numbers <= -power)) if least < 0 else 0
    return letters


def trimmed_text(column: Any) -> Any:
    """Return a pyarrow array of text without the blanks around it."""
    from pyarrow import compute

    return compute.utf8_trim_whitespace(column)


def trimmed(known: Any) -> Any:
    """Return text as `core.frames.stripped` does; what is no text, as it is."""
    if not isinstance(known, str):
        return known
    return "" if all(map(has_no_shape, "".join(known.split()))) else known.strip()


def missing(base: Any, workers: Ids, labels: Ids) -> dict[str, str]:
    """Return conditions for labels without a task, a worker or a class, by role."""
    ((kind,),) = base.execute("SELECT typeof(task) FROM coded LIMIT 1").fetchall()
    blank = f" OR trim(task) = '' OR (strlen(task) < 9 AND regexp_full_match(task, '{BLANK_CELL}'))"
    blank = blank if kind == "VARCHAR" else ""
    return {
        "task": f"task IS NULL{blank}",
        "worker": f"worker IN {(-1, -1, *workers.missing(['']))}",
        "label": f"label IN {(-1, -1, *labels.missing(NO_LABEL))}",
    }


def check_present(base: Any, workers: Ids, labels: Ids) -> None:
    """Refuse labels without a task, a worker or a class; their records are named."""
    for role, absent in missing(base, workers, labels).items():
        bad = base.execute(f"SELECT rowid FROM coded WHERE {absent} ORDER BY rowid LIMIT 10").fetchall()
        if bad:
            ((n_bad,),) = base.execute(f"SELECT count(*) FROM coded WHERE {absent}").fetchall()
            found = listing((row + 1 for (row,) in bad), n_bad)
            raise CofactorError(f"missing {role} in records {found} of all files together: fill or drop them")

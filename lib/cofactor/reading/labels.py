"""Read crowd labels as `CrowdLabels` from files, data frames or coded columns.

All sources end in `labels_of`, which applies the rules to the distinct tasks, workers and classes. It looks at single
rows only to name them in a message, to find tasks that a worker labelled twice, and to build the table.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import PurePath
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cofactor.core.cells import (
    INDEX_NAMES,
    NO_VALUE,
    Spelling,
    alike_note,
    check_columns,
    check_spelling,
    is_blank,
    located,
    look_alikes,
    merged_names,
    merged_note,
    nested_cells,
    one_way,
    plain_numbers,
    says_nothing,
    skeleton,
)
from cofactor.core.errors import CofactorError, DataWarning, amount, listing
from cofactor.core.lazy import pd
from cofactor.crowd.labels import COLUMNS, Conflicts, CrowdLabels, named_classes, require_crowd
from cofactor.reading.large import coded_file, coded_query, is_large
from cofactor.reading.layouts import recognised, without_headers
from cofactor.reading.notes import cut_ids, odd_labels, same_address, structure, unread, unshared
from cofactor.reading.records import GOLD, TIME, unfold
from cofactor.reading.tables import TAKEN, Coded, cleaned, read_frame

Path: TypeAlias = "str | PathLike[str]"
MANY = ("tasks", "workers", "classes")
SKIP = "fill them, or set skip_bad (--skip-bad) to leave these rows out"
PLUS, MINUS = "+", "-"
EPOCH = re.compile(r"\d{9,10}(\.\d+)?|\d{12,13}")  # seconds or milliseconds since 1970, as of the years 1973 to 2286
HALVES = ("%Y-%m-%d %I:%M %p", "%Y-%m-%d %I:%M:%S %p")  # times of day with AM and PM


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Labels as three coded columns.

    Attributes
    ----------
    task, worker, label : Coded
    rows : Index
        Numbers of the rows, for messages; its name says what is counted, as in `read_frame`.
    time : Coded, optional
        When each label was given (column `TIME`).
    gold : dict
        Known classes by task, as text, where the source itself contains some.
    """

    task: Coded
    worker: Coded
    label: Coded
    rows: pd.Index[Any]
    time: Coded | None = None
    gold: Mapping[str, str] = field(default_factory=dict)

    def take(self, rows: NDArray[Any]) -> LabelTable:
        """Select rows by a mask or by position."""
        time = None if self.time is None else self.time.take(rows)
        return replace(self.of_columns(one.take(rows) for one in _columns(self)), rows=self.rows[rows], time=time)

    def of_columns(self, columns: Iterable[Coded]) -> LabelTable:
        """Return a copy with other columns of tasks, workers and labels."""
        task, worker, label = columns
        return replace(self, task=task, worker=worker, label=label)


def read_labels(
    path: Path | Sequence[Path],
    columns: tuple[str, str, str] = COLUMNS,
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    **how: Any,
) -> CrowdLabels:
    """Read one or several files of labels (see `CrowdLabels.from_file`); `how` is passed to `labels_of`."""
    several = not isinstance(path, str | PathLike)
    paths = [path] if isinstance(path, str | PathLike) else list(path)
    if not paths:
        raise CofactorError("no file of labels was given")
    check_different(columns)
    tables = [_read_one(one, columns, encoding, sep, several) for one in paths]
    return labels_of(tables[0] if not several else _joined(tables, paths), columns, text=True, **how)


def read_database(address: str, query: str = "", columns: tuple[str, str, str] = COLUMNS, **how: Any) -> CrowdLabels:
    """Read labels from a database (see `CrowdLabels.from_database`); `how` is passed to `labels_of`."""
    check_different(columns)
    query = query or f"SELECT {', '.join(columns)} FROM labels"
    return labels_of(_of_coded(*coded_query(address, query, columns, (TIME,)), columns), columns, text=True, **how)


def of_frame(
    frame: pd.DataFrame, columns: tuple[str, str, str] = COLUMNS, text: bool = False, **how: Any
) -> CrowdLabels:
    """Return the labels of a long table (see `CrowdLabels.from_frame`); `how` is passed to `labels_of`."""
    check_different(columns)
    check_columns(frame, columns)
    if (several := nested_cells(frame[columns[2]])).any():
        raise CofactorError(
            f"several classes at once in {located(frame, several)}: make a table for each class, with the labels yes "
            "and no"
        )
    task, worker, label = (Coded.of_ids([frame[name]], name) for name in columns)
    time = Coded.of(frame[TIME].astype("string")) if TIME in frame else None
    return labels_of(LabelTable(task, worker, label, frame.index, time), columns, text, **how)


def of_table(frame: pd.DataFrame, columns: tuple[str, str, str] = COLUMNS, **how: Any) -> CrowdLabels:
    """Return the labels of a table in any layout that is recognised in files; an index may name columns."""
    if set(frame.index.names) & {*columns} - {*frame.columns}:
        frame = frame.reset_index()
    if set(columns) <= set(frame.columns):
        return of_frame(frame, columns, **how)
    texts = frame.rename(columns=str)
    if frame.index.name is not None and frame.index.name not in (*INDEX_NAMES, *frame.columns):
        texts = texts.reset_index()  # a table of `pivot` has its tasks there
    for name in texts.select_dtypes("float"):
        if (texts[name].dropna() % 1 == 0).all():  # whole numbers with gaps
            texts[name] = texts[name].astype("Int64")
    long = recognised(texts.astype("string").astype(object).where(texts.notna()), columns)
    if not set(columns) <= set(long.columns):
        return of_frame(frame, columns, **how)  # which says what is missing
    found = of_frame(long, columns, text=True, **how)
    if found.classes == ["False", "True"] and any(map(pd.api.types.is_bool_dtype, texts.dtypes)):
        found.classes = [False, True]
    return found


def labels_of(
    table: LabelTable,
    columns: tuple[str, str, str] = COLUMNS,
    text: bool = True,
    classes: Sequence[Any] | None = None,
    conflicts: Conflicts = "error",
    ignore: Sequence[Any] = (),
    spelling: Spelling = "classes",
    skip_bad: bool = False,
) -> CrowdLabels:
    """Convert coded columns, whatever their source, to `CrowdLabels`.

    Parameters
    ----------
    table : LabelTable
    columns : names of its columns, for messages
    text : bool
        Whether values are cells of a file: words such as NA are then missing labels, as empty texts always are, and
        plain whole numbers become integers.
    classes, conflicts, ignore, spelling : as in `CrowdLabels.from_frame`
    skip_bad : bool
        Leave out rows that lack a task, worker or label, or whose label is not one of `classes`; a note lists them.

    Raises a CofactorError as `CrowdLabels.from_frame` does. Cost: O(labels), and the rules for each distinct value.
    """
    check_spelling(spelling)
    table = table.of_columns(one.map(_without_blanks) for one in _columns(table))
    if text:
        words = table.label.map(lambda values: [None if one in NO_VALUE else one for one in values])
        table = replace(table, label=words)
        require_crowd(*(len(column.values) for column in _columns(table)))
        for message in odd_names([one.values for one in _columns(table)], int((~table.label.missing).sum())):
            _note(message)
    table = _without_ignored(table, ignore)
    classes = named_classes(classes, table.label.values) if isinstance(classes, str) else classes
    known: list[Mapping[str, str]] = []
    spelled = []
    for column, what in zip(_columns(table), MANY, strict=True):
        merge = spelling == "all" or (spelling == "classes" and what == "classes")
        column, same = one_spelling(column, what, merge, text, classes or ())
        spelled.append(column)
        known.append(same)
    table = table.of_columns(spelled)
    for column, name in zip(_columns(table), columns, strict=True):
        if not skip_bad and (bad := located(table.rows, column.missing)):
            raise CofactorError(f"missing {name} in {bad}: {SKIP}")
    if skip_bad:
        table = _without_bad(
            table, np.any([column.missing for column in _columns(table)], axis=0), "with an empty cell"
        )
    _note_no_answers(table.label)
    if classes is not None:
        classes, table = _declared(table, list(classes), text, skip_bad)
    table = _without_bad(
        table, unshared(*_columns(table)), "whose task, worker and class occur in no other row, as in a row of totals"
    )
    table = table.of_columns(column.sorted() for column in _columns(table))
    by = "the order of the file" if text else "the order of the rows"
    if conflicts in ("first", "last") and text:
        table = _in_order(table)
    if conflicts in ("first", "last") and table.time is not None:
        table, by = _in_time(table), f"column {TIME}"
    for message in structure(table.task, table.worker, table.label):
        _note(message)
    label, ids = table.label.codes, table.label.values
    if classes is not None:
        label, ids = np.array([classes.index(one) for one in ids])[label], classes
    codes = [table.task.codes, table.worker.codes, label]
    found = CrowdLabels._assemble(codes, [table.task.values, table.worker.values, ids], conflicts, by)
    if not table.gold:
        return found
    tasks, named = ({str(name): name for name in names} for names in (found.tasks, found.classes))
    gold = {known[0].get(n, n): known[2].get(k, k) for n, k in table.gold.items()}
    found.gold = {tasks[n]: named[k] for n, k in gold.items() if n in tasks and k in named}
    return found


def check_different(columns: tuple[str, str, str]) -> None:
    """Raise a CofactorError if one column is named for two of task, worker and label."""
    roles = ", ".join(f"{role}={name!r}" for role, name in zip(COLUMNS, columns, strict=True))
    if len(set(columns)) < len(columns):
        raise CofactorError(f"{roles}: the same column is named twice; choose a different column for each")


def _note(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=5)


# ---- files ----


def _read_one(path: Path, columns: tuple[str, str, str], encoding: str, sep: str | None, several: bool) -> LabelTable:
    """Read one file; one of several files without a column of workers belongs to the worker in its name."""
    if is_large(path) and (found := coded_file(path, columns, (TIME,), encoding, sep)):
        return _of_coded(*found, columns)
    whose = PurePath(path).name.split(".")[0] if several else None
    unfolded, recognise = partial(unfold, columns=columns), partial(recognised, whose=whose)
    frame = read_frame(path, columns, encoding, sep, "label", unfolded, (TIME,), None, recognise, coded=True)
    gold, taken = frame.attrs.get(GOLD, {}), frame.attrs.get(TAKEN, ())
    used = {*columns, *taken}
    for message in unread([name for name in frame.attrs.get("found", ()) if name not in used], columns):
        _note(message)
    return _of_columns(frame, columns, taken, gold)


def _of_coded(coded: Mapping[str, Coded], rows: pd.Index[Any], columns: tuple[str, str, str]) -> LabelTable:
    """Return labels that were read as codes, in any order of the rows."""
    found = {name: column.map(cleaned) for name, column in coded.items()}
    return _of_columns(pd.DataFrame({name: one.series(rows, coded=True) for name, one in found.items()}), columns)


def _of_columns(
    frame: pd.DataFrame,
    columns: tuple[str, str, str],
    taken: Sequence[str] = (),
    gold: Mapping[str, str] | None = None,
) -> LabelTable:
    frame = without_headers(frame, columns, taken)
    time = Coded.of(frame[TIME]) if TIME in frame else None
    task, worker, label = (Coded.of(frame[name]) for name in columns)
    return LabelTable(task, worker, label, frame.index, time, gold or {})


def _joined(tables: Sequence[LabelTable], paths: Sequence[Path]) -> LabelTable:
    """Join the labels of several files, each in its order; times are kept if all files have them."""
    tables = list(map(_in_order, tables))
    task, worker, label = (Coded.joined(parts) for parts in zip(*map(_columns, tables), strict=True))
    times = [table.time for table in tables if table.time is not None]
    gold = {task: label for table in tables for task, label in table.gold.items()}
    rows = _rows_of_files([table.rows for table in tables], list(map(str, paths)))
    return LabelTable(task, worker, label, rows, Coded.joined(times) if len(times) == len(tables) else None, gold)


def _rows_of_files(rows: Sequence[pd.Index[Any]], paths: Sequence[str]) -> pd.Index[Any]:
    """Return row numbers with their files; positions among all rows if the files count different things."""
    words = {str(one.name) for one in rows}
    if len(words) > 1:
        return pd.RangeIndex(sum(map(len, rows)))
    files = list(dict.fromkeys(paths))
    file, number = np.repeat(list(map(files.index, paths)), list(map(len, rows))), np.concatenate(rows)
    levels: list[Any] = [files, pd.RangeIndex(number.max(initial=0) + 1)]  # a number is its own code
    codes: list[Any] = [file, number]
    return pd.MultiIndex(levels, codes, names=["file", *words])


# ---- rules for distinct values ----


def _columns(table: LabelTable) -> tuple[Coded, Coded, Coded]:
    return table.task, table.worker, table.label


def _without_blanks(values: list[Any]) -> list[Any]:
    blank = list(map(is_blank, values))
    return [None if none else one for none, one in zip(blank, values, strict=True)] if any(blank) else values


def odd_names(different: Sequence[Sequence[str]], n_labels: int) -> Iterator[str]:
    """Yield notes on odd names among the distinct tasks, workers and classes of `n_labels` labels."""
    tasks, workers, classes = different
    yield from (*cut_ids(tasks, "tasks"), *cut_ids(workers, "workers"), *odd_labels(classes, n_labels))


def one_spelling(
    column: Coded, what: str, merge: bool, text: bool = True, preferred: Iterable[object] = ()
) -> tuple[Coded, Mapping[str, str]]:
    """Merge names that differ only in capitals and the like if `merge`, and note those that still look alike.

    With `text`, plain whole numbers become integers. Also returns which names were replaced by which.
    """
    whole = plain_numbers(column.values) if text else column.values
    if whole is not column.values:  # whole numbers, each written in one way
        return Coded(column.codes, whole), {}
    known: Mapping[str, str] = {}
    if merge:
        counts = zip(column.values, column.counts.tolist(), strict=True)
        known = merged_names({one: n for one, n in counts if isinstance(one, str)}, preferred)
        if known:
            _note(merged_note(known, what))
            column = column.map(lambda values: [known.get(one, one) if isinstance(one, str) else one for one in values])
            column = Coded(column.codes, plain_numbers(column.values)) if text else column
    names = column.values if text and not known else [one for one in column.values if isinstance(one, str)]
    if message := alike_names(names, what):
        _note(message)
    return column, known


def alike_names(names: Iterable[str], what: str) -> str:
    """Return a note on names of tasks, workers or classes that look alike; "" if there are none."""
    names = list(names)
    return alike_note(look_alikes(names, what == "classes") + ([] if what == "classes" else same_address(names)), what)


def _without_ignored(table: LabelTable, ignore: Sequence[Any]) -> LabelTable:
    """Leave out labels among `ignore`, regardless of case and blanks."""
    ignore = [ignore] if isinstance(ignore, str) else list(ignore)
    said, words = [one_way(word) for word in table.label.values], {one_way(one): one for one in ignore}
    out = table.label.where([word in words for word in said])
    if out.all():
        raise CofactorError(f"no labels are left, since all of them are ignored ({listing(map(repr, ignore))})")
    if unknown := [one for word, one in words.items() if word not in said]:
        found = listing(map(repr, table.label.sorted().values))
        _note(f"ignored labels that do not occur: {listing(map(repr, unknown))}; the labels are {found}")
    left = _without(table, out) if out.any() else table
    return replace(left, label=left.label.sorted())


def _note_no_answers(label: Coded) -> None:
    """Warn of labels that look like non-answers."""
    counts = {str(word): n for word, n in zip(label.values, label.counts.tolist(), strict=True) if n}
    plus = {PLUS: 1} if PLUS in map(one_way, label.values) else {}
    if message := unsure({word: n for word, n in counts.items() if says_nothing(word)} | plus):
        _note(message)


def unsure(counts: Mapping[str, int]) -> str:
    """Describe the classes that look like non-answers (e.g. "skip"), with their label counts; "" if there are none.

    If there is a class "+", "-" is an answer. "none" is never a non-answer: it is a class of many questions, such as
    which symptom is present, or how hostile a text is (none, mild, severe).
    """
    sign = MINUS if PLUS in counts else None
    alike = sorted(name for name in counts if says_nothing(name) and skeleton(name) != sign)
    if not alike:
        return ""
    found = listing(f"{name!r} ({counts[name]})" for name in alike)
    return (
        f"labels that look like non-answers count as classes: {found}; "
        f"to leave them out, use ignore (--ignore {alike[0]!r})"
    )


def _without_bad(table: LabelTable, bad: NDArray[np.bool_], what: str) -> LabelTable:
    """Leave out bad rows, and list them in a note."""
    if not bad.any():
        return table
    _note(f"left out {amount(bad.sum(), 'label')} {what}: {located(table.rows, bad)}")
    if bad.all():
        raise CofactorError(f"no labels are left after leaving out {amount(bad.sum(), 'label')} {what}")
    left = _without(table, bad)
    return left.of_columns(column.sorted() for column in _columns(left))


def _without(table: LabelTable, out: NDArray[np.bool_]) -> LabelTable:
    """Leave out rows, and list the tasks that have no others in a note."""
    left = table.take(~out)
    lost = np.setdiff1d(table.task.codes[out], [-1, *np.unique(left.task.codes)])
    if lost.size:
        _note(f"left out {amount(lost.size, 'task')} without labels: {listing(table.task.values[n] for n in lost)}")
    return left


def _declared(
    table: LabelTable, classes: list[Any], text: bool, skip_bad: bool = False
) -> tuple[list[Any], LabelTable]:
    """Return the declared classes, spelled as in the labels; refuse or leave out labels outside of them."""
    if text and all(isinstance(one, int) for one in table.label.values):
        classes = plain_numbers([str(known) for known in classes])
    if len(set(classes)) < len(classes):
        raise CofactorError(f"classes contain a duplicate ({listing(classes)}): name each class once")
    other = table.label.where([value not in set(classes) for value in table.label.values])
    named = listing(map(repr, classes))
    if skip_bad:
        return classes, _without_bad(table, other, f"outside the classes {named}")
    if other.any():
        cells = [table.label.values[code] for code in table.label.codes[other].tolist()]
        found = located(table.rows, other, cells)
        names = dict.fromkeys(map(str, [*classes, *cells]))
        alike = listing(" and ".join(map(repr, pair)) for pair in look_alikes(names))
        mend = f"{alike} look alike: write the classes as the labels do"
        mend = mend if alike else "set skip_bad (--skip-bad) to leave them out"
        raise CofactorError(f"labels outside the classes {named}: {found}; {mend}")
    return classes, table


# ---- order and time ----


def _in_order(table: LabelTable) -> LabelTable:
    """Sort rows by their numbers: a large file is read task by task, and tasks may since have become one."""
    if table.rows.name not in INDEX_NAMES or table.rows.is_monotonic_increasing:
        return table
    return table.take(table.rows.to_numpy().argsort(kind="stable"))


def _in_time(table: LabelTable) -> LabelTable:
    """Sort rows by time; rows of equal time keep their order.

    Refuses a time that cannot be read, where a worker gave a task several labels.
    """
    assert table.time is not None
    pair = table.task.codes.astype(np.int64) * len(table.worker.values) + table.worker.codes
    _, place, times = np.unique(pair, return_inverse=True, return_counts=True)
    several = times[place] > 1
    if not several.any():
        return table
    when = _moments(table.time.values)
    when = np.append(when, np.nan)[table.time.codes]
    unreadable = several & np.isnan(when)
    if unreadable.any():
        cells = [table.time.values[code] if code >= 0 else "" for code in table.time.codes[unreadable].tolist()]
        raise CofactorError(
            f"{TIME} decides which of a worker's labels counts, but cannot be read in "
            f"{located(table.rows, unreadable, cells)}: "
            "write times as 2026-01-31 13:45:00, or remove the column to use the order of the file"
        )
    return table.take(np.argsort(when, kind="stable"))


def _moments(values: Sequence[Any]) -> NDArray[np.float64]:
    """Convert ISO 8601 times, times with AM or PM, and epoch seconds or milliseconds to epoch seconds, else NaN."""
    texts = pd.Series([str(one).strip() for one in values], dtype=object)
    if len(texts) and texts.map(lambda one: not one or EPOCH.fullmatch(one) is not None).all():
        numbers = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64)
        return np.asarray(np.where(numbers >= 1e11, numbers / 1000, numbers), dtype=np.float64)
    found = pd.to_datetime(texts, utc=True, errors="coerce", format="ISO8601")
    for form in HALVES:
        found = found.fillna(pd.to_datetime(texts, utc=True, errors="coerce", format=form))
    seconds = (found - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
    return np.asarray(seconds, dtype=np.float64)

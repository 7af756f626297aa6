"""Files of crowd labels, as tables."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from os import PathLike
from os.path import getsize, isfile
from pathlib import PurePath
from typing import Any, TypeAlias

from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.frames import (
    PACKED,
    TAKEN,
    check_columns,
    check_present,
    plain_numbers,
    read_frame,
    refuse_twice,
    renamed_columns,
    stripped,
    text_pieces,
)
from cofactor.core.lazy import pd
from cofactor.core.look_alikes import look_alikes, merged_names, told
from cofactor.core.memory import require_bytes
from cofactor.core.spelling import NO_VALUE, by_value
from cofactor.core.text_tables import TWICE
from cofactor.crowd.exports import TIME, unfold
from cofactor.crowd.kinds import cut_ids, odd_labels, unread
from cofactor.crowd.layouts import recognised, without_headers
from cofactor.crowd.usual_names import GOLD

Path: TypeAlias = "str | PathLike[str]"
COLUMNS = ("task", "worker", "label")
NO_LABEL = NO_VALUE
LARGE, FIRST_ROWS = 1 << 22, 1 << 17  # bytes of a text whose first rows are counted before all of it is read


def read_labels(
    path: Path | Sequence[Path],
    columns: tuple[str, str, str] = COLUMNS,
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    merge_look_alikes: bool = False,
) -> pd.DataFrame:
    """Read the columns task, worker and label of a file, or of several, see `CrowdLabels.from_file`.

    Missing cells are NaN. Rows come in the order of a column `updated_at`, where there is one, else as in the file.
    """
    several = not isinstance(path, str | PathLike)
    paths = [path] if isinstance(path, str | PathLike) else list(path)
    if not paths:
        raise CofactorError("no file of labels is named")
    check_different(columns)
    frames = [_read_one(one, columns, encoding, sep, several) for one in paths]
    known = {task: label for frame in frames for task, label in frame.attrs.get(GOLD, {}).items()}
    frame = frames[0] if not several else pd.concat([one.reset_index(drop=True) for one in frames], ignore_index=True)
    label = columns[-1]
    frame[label] = frame[label].mask(frame[label].isin(NO_LABEL))
    _warn_of_kinds(frame, columns)
    for name, what in zip(columns, ("tasks", "workers", "classes"), strict=True):
        present = by_value(frame[name], lambda names: names.mask(names == ""))
        frame[name] = _one_way(present, what, merge_look_alikes)
    frame.attrs[GOLD] = known
    return frame


def check_different(columns: tuple[str, str, str]) -> None:
    """Refuse one column that is named for two of task, worker and label."""
    roles = ", ".join(f"{role}={name!r}" for role, name in zip(COLUMNS, columns, strict=True))
    if len(set(columns)) < len(columns):
        raise CofactorError(f"{roles}: one column is named twice; name a column of its own for each")


def require_crowd(n_tasks: int, n_workers: int, n_classes: int, *, where: str = "") -> None:
    """Refuse a crowd whose posterior and confusion matrices would not fit into memory; `where` it was counted."""
    needed = 40.0 * n_classes * (n_tasks + n_workers * n_classes)
    what = f"votes and confusion matrices of {n_tasks} tasks, {n_workers} workers, {n_classes} classes{where}"
    require_bytes(needed, what, "look whether the labels are classes, or ask for less")


def _warn_of_kinds(frame: pd.DataFrame, columns: tuple[str, str, str]) -> None:
    """Refuse too many classes; say where labels are hardly classes, and where a spreadsheet has cut ids."""
    different = [[name for name in frame[column].unique() if isinstance(name, str)] for column in columns]
    require_crowd(*map(len, different))
    for message in odd_names(different, int(frame[columns[2]].count())):
        warnings.warn(message, DataWarning, stacklevel=4)


def odd_names(different: Sequence[Sequence[str]], n_labels: int) -> list[str]:
    """Say what is odd of the different tasks, workers and classes, as they are written, of so many labels."""
    tasks, workers, classes = different
    return [*cut_ids(tasks, "tasks"), *cut_ids(workers, "workers"), *odd_labels(classes, n_labels)]


def alike_names(names: Iterable[str], what: str) -> str:
    """Say which names of tasks, workers or classes look alike; "" for none, and where all are plain whole numbers."""
    return told(look_alikes(names, what == "classes"), what)


def label_pieces(
    path: Path, columns: Sequence[str] = COLUMNS, sep: str | None = None, size: int = 1 << 19
) -> Iterator[pd.DataFrame]:
    """Yield the columns of a text file in pieces, each read as `read_labels` reads a whole one; no id is missing.

    What is told from all of a column is left to the caller: whether ids are whole numbers, and look alike.
    """
    empty, label = True, columns[2]
    for piece in text_pieces(path, columns, sep, size):
        if piece.empty:
            continue
        frame = renamed_columns(piece, columns)
        check_columns(frame, columns)
        refuse_twice([name for name in columns if name in piece.attrs[TWICE]])
        frame = frame[list(columns)].apply(lambda column: by_value(column, stripped))
        frame = without_headers(frame, columns)
        frame[label] = frame[label].mask(frame[label].isin(NO_LABEL))
        for name in columns:
            check_present(frame[name], name, text=True)
        empty = empty and frame.empty
        yield frame.set_axis(list(COLUMNS), axis=1)
    if empty:
        raise CofactorError("no labels: the table has a header but no rows")


def _read_one(path: Path, columns: tuple[str, str, str], encoding: str, sep: str | None, several: bool) -> pd.DataFrame:
    """Read one file; of several, one without a worker's column is that of the worker in its name."""
    whose = PurePath(path).name.split(".")[0] if several else None
    unfolded, recognise = partial(unfold, columns=columns), partial(recognised, whose=whose)
    _refuse_soon(path, columns, encoding, sep)
    frame = read_frame(path, columns, encoding, sep, unfold=unfolded, optional=(TIME,), recognise=recognise)
    known = frame.attrs.get(GOLD, {})
    used = {*columns, *frame.attrs.get(TAKEN, ())}
    for message in unread([name for name in frame.attrs.get("found", ()) if name not in used], columns):
        warnings.warn(message, DataWarning, stacklevel=4)
    frame = _by_time(without_headers(frame, columns, frame.attrs.get(TAKEN, ())))
    frame.attrs[GOLD] = known
    return frame


def _refuse_soon(path: Path, columns: tuple[str, str, str], encoding: str, sep: str | None) -> None:
    """Refuse a large text whose first rows alone have too many classes; whatever else is wrong, the reading tells."""
    if not isfile(path) or getsize(path) < LARGE or str(path).lower().endswith(PACKED):
        return
    counts = [0, 0, 0]
    with suppress(CofactorError):
        piece = renamed_columns(next(text_pieces(path, columns, sep, FIRST_ROWS, encoding)), columns)
        if set(columns) <= set(piece):
            counts = [piece[name].str.strip().nunique() for name in columns]
    require_crowd(*counts, where=f" in its first {FIRST_ROWS} rows")


def _by_time(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by their time, if all have one; rows of one time stay in order."""
    if TIME not in frame:
        return frame
    time = pd.to_datetime(frame[TIME], utc=True, errors="coerce", format="ISO8601")
    rows = frame.drop(columns=TIME)
    return rows if time.isna().any() else rows.iloc[time.argsort(kind="stable").to_numpy()]


def _one_way(column: pd.Series[Any], what: str, merge: bool) -> pd.Series[Any]:
    """Return whole numbers as such; merge names that look alike into the one that is used most, or name them."""
    whole = plain_numbers(column)
    if whole.dtype != column.dtype or column.isna().all():  # whole numbers, each written in one way
        return whole
    truth_values = what == "classes"
    if merge:
        counts = column.value_counts(sort=False)
        known = merged_names({str(name): count for name, count in counts.items()}, truth_values)
        return plain_numbers(column.map(lambda name: known.get(name, name))) if known else column
    if message := alike_names([name for name in column.unique() if isinstance(name, str)], what):
        warnings.warn(message, DataWarning, stacklevel=4)
    return column

"""Tables of labels with several answers a row: one column a worker, or one column a class."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.lazy import pd
from cofactor.core.spelling import NO_VALUE
from cofactor.crowd.usual_names import AGREED, GOLD, IDS, KNOWN, USUAL

YES, NO = ("true", "1", "1.0", "yes"), ("false", "0", "0.0", "no")
MOST_CLASSES = 20  # distinct answers of a wide table; more are no classes
OPPOSED = 0.1  # mean correlation of columns, below minus which they are counts of classes and not workers' grades
MOSTLY = 0.8  # rows with a yes in columns of yes and no that are the answers to one question


def of_wide(frame: pd.DataFrame, task: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return one row a label, of a table with a row a task and a column a worker, or a column a class with counts.

    Raises a CofactorError where cells hold lists or objects, which are no labels.
    """
    _refuse_nested(frame.drop(columns=task))
    others, known, left_out = _columns_of_workers(frame, task)
    cells = frame[others].apply(lambda column: column.str.strip()).mask(frame[others].isin(NO_VALUE))
    values = pd.unique(cells.to_numpy(dtype=object).ravel())
    values = [value for value in values if isinstance(value, str)]
    if len(others) < 2 or not 1 < len(values) <= MOST_CLASSES or frame[task].duplicated().any():
        return frame
    row, column = np.nonzero(cells.notna().to_numpy())
    if _are_counts(cells):
        return _of_counts(frame, task, cells, columns)
    if len(_classes_of_two(cells)) < len(values) / 2:
        return frame  # columns of different things
    found = pd.DataFrame(
        {
            columns[0]: frame[task].to_numpy(dtype=object)[row],
            columns[1]: np.array(others, dtype=object)[column],
            columns[2]: cells.to_numpy(dtype=object)[row, column],
        },
        index=frame.index[row],
    )
    found.attrs[GOLD] = known
    message = f"one column a worker: {listing(others)}; task from {task}; cells are labels"
    message += f"; {len(known)} tasks of known class are gold" if known else ""
    message += f"; columns not read: {listing(left_out)}" if left_out else ""
    warnings.warn(message, DataWarning, stacklevel=6)
    return found


def _refuse_nested(cells: pd.DataFrame) -> None:
    nested = cells.map(lambda cell: isinstance(cell, list | dict))
    if nested.to_numpy().any():
        names, rows = listing(cells.columns[nested.any()]), listing(cells.index[nested.any(axis=1)])
        problem = f"lists or objects in {names}, {cells.index.name or 'row'}s {rows}: what is a worker and what a label"
        raise CofactorError(f"{problem} is not known from them; write a record for each label: task, worker, label")


def _columns_of_workers(frame: pd.DataFrame, task: str) -> tuple[list[str], dict[Any, Any], list[str]]:
    """Return the columns that may be workers', the class by task of a column of truth, and columns that are neither."""
    names = {str(name): str(name).strip().casefold() for name in frame if name != task}
    cells = frame[list(names)].mask(frame[list(names)].isin(NO_VALUE))
    truth = [name for name, plain in names.items() if plain in KNOWN]
    known = {} if len(truth) != 1 else {one: cell for one, cell in zip(frame[task], cells[truth[0]], strict=True)
                                        if isinstance(cell, str)}  # fmt: skip
    numbered = [name for name, plain in names.items() if _is_numbered_worker(plain)]
    usual = numbered if len(numbered) > 1 else [
        name for name, plain in names.items()
        if plain not in (*KNOWN, *AGREED, *IDS, "total", "comment", "comments", "notes")
        and 0 < cells[name].nunique() <= MOST_CLASSES
    ]  # fmt: skip
    return usual, known, [name for name in names if name not in (*usual, *truth)]


def _is_numbered_worker(name: str) -> bool:
    stem = name.rstrip("0123456789")
    return stem != name and stem.rstrip(" _-.#") in USUAL["worker"]


def _classes_of_two(cells: pd.DataFrame) -> list[str]:
    """Return the answers that occur in two columns or more, as classes do."""
    where = pd.Series([value for name in cells for value in cells[name].dropna().unique()]).value_counts()
    return [str(value) for value in where[where > 1].index]


def _are_counts(cells: pd.DataFrame) -> bool:
    """Whether cells count answers: whole numbers with the same sum, two or more, in every row.

    Where the sums differ: a class that got more answers left fewer to the others, so that columns of counts fall as
    others rise; columns of workers who grade the same tasks rise together.
    """
    if any(map(_is_numbered_worker, map(str.casefold, map(str, cells)))):
        return False
    if not cells.notna().to_numpy().all() or not cells.map(str.isdigit).to_numpy().all():
        return False
    counts = cells.astype(int).to_numpy()
    total = counts.sum(axis=1)
    if counts.max() < 2 or (total < 2).any():
        return False
    if (total == total[0]).all():
        return True
    shares = pd.DataFrame(counts).corr().to_numpy()[np.triu_indices(counts.shape[1], 1)]
    return bool(counts.min() == 0 and np.nanmean(shares) < -OPPOSED) if np.isfinite(shares).any() else False


def _of_counts(frame: pd.DataFrame, task: str, cells: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    counts = cells.astype(int).to_numpy()
    row, column = np.divmod(np.repeat(np.arange(counts.size), counts.ravel()), counts.shape[1])
    found = pd.DataFrame(
        {
            columns[0]: frame[task].to_numpy(dtype=object)[row],
            columns[1]: [f"answer {n}" for n in range(1, len(row) + 1)],
            columns[2]: np.array(list(cells), dtype=object)[column],
        },
        index=frame.index[row],
    )
    message = (
        f"one column a class ({listing(cells)}), cells count answers; task from {task}; "
        "nobody is named, so that the result is the vote"
    )
    warnings.warn(message, DataWarning, stacklevel=7)
    return found


def marks(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the columns, of those, that mark classes: one question's (potato: `question:::class`), else of 0 and 1."""
    asked = [name for name in names if ":::" in name]
    if asked:
        return asked if len({name.split(":::")[0] for name in asked}) == 1 else []
    return [name for name in names if set(frame[name].dropna().str.strip()) <= {"0", "1", "0.0", "1.0"}]


def of_marks(frame: pd.DataFrame, names: Sequence[str]) -> pd.Series[Any] | None:
    """Return the class whose column says yes, of columns of yes and no; None if the columns are others.

    Few rows with a yes are not the answers to one question, but to several.

    Raises
    ------
    CofactorError
        Rows say yes in several columns.
    """
    cells = frame[list(names)].apply(lambda column: column.str.strip().str.lower())
    marked, empty = cells.isin(YES), cells.isna() | cells.isin(NO_VALUE)
    if len(names) < 2 or not (marked | empty | cells.isin(NO)).to_numpy().all() or not marked.to_numpy().any():
        return None
    several = marked.sum(axis=1) > 1
    if several.any():
        rows = f"more than one is marked in {listing(frame.index[several])} ({several.sum()} rows)"
        question = f"read one class at a time, as a question of its own, such as label='{names[0]}'"
        raise CofactorError(f"one column a class ({listing(names)}), and {rows}: {question}")
    if marked.any(axis=1).mean() < MOSTLY:
        return None
    short = np.array([name.replace(":::", ".").rpartition(".")[2] for name in names], dtype=object)
    found = np.where(marked.any(axis=1), short[marked.to_numpy().argmax(axis=1)], None)
    return pd.Series(found, index=frame.index, dtype=object)

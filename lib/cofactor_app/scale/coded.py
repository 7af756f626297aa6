"""Labels of a table in a database, coded once, where they are: a row a label of task and cell.

    symbol   meaning                                                                     shape
    cell     w K + l: worker w said label l; -1: a row that every task has of its own    V = M K of them, and one more

The row of its own carries what a task has without labels: its prior goes in there, and its sums come out there. So a
round is one query, whose result has a row a cell. What the cells mean is decided here, from the different ids alone,
by the rules of all readers.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

import numpy as np

from cofactor.core.cells import NO_VALUE as NO_LABEL
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.lazy import pd
from cofactor.core.types import Ints
from cofactor.crowd.labels import COLUMNS, Conflicts
from cofactor.reading.labels import alike_names, odd_names, unsure
from cofactor.reading.layouts import names_of_columns
from cofactor.reading.records import TIME
from cofactor.reading.tables import as_name, places_of
from cofactor_app.scale.coding import MOST_COMPARED, PLAIN, trimmed
from cofactor_app.scale.doors import OWN, Door
from cofactor_app.scale.queries import BLANKS, name_in, quoted

CODED = f"{OWN}coded_{uuid4().hex[:12]}"  # of this process: Spark keeps it where others see it
WORKERS, CLASSES = f"{OWN}workers", f"{OWN}classes"
CHANGED = "the table of coded labels was changed meanwhile: run again"
ROWS = f"""
  SELECT {{task}} AS task, w.code AS worker, l.code AS label{{time}} FROM {{table}} AS given
  LEFT JOIN {WORKERS} AS w ON w.given = {{worker}} LEFT JOIN {CLASSES} AS l ON l.given = {{label}}"""
ABSENT = "task IS NULL OR worker IS NULL OR worker < 0 OR label IS NULL OR label < 0"
ONE = "SELECT task, worker, MIN(label) AS label, MAX(label) - MIN(label) AS clash FROM given GROUP BY task, worker"
FIRST = """
  SELECT task, worker, MIN(label) AS label, MAX(label) - MIN(label) AS clash FROM (
    SELECT task, worker, label, RANK() OVER (PARTITION BY task, worker ORDER BY time {way}) AS nth FROM given
  ) AS ranked WHERE nth = 1 GROUP BY task, worker"""


@dataclass(frozen=True)
class CodedLabels:
    """The labels behind a door, coded as the table `CODED`.

    Attributes
    ----------
    door : Door
    workers, classes : lists
        Ids, in the order of the codes.
    n_tasks, n_labels : int
    given : (M,) array
        Labels of every worker.
    owner : (M,) array, optional
        Whom every worker belongs to, where copies were merged (`cofactor_app.scale.copies`).
    """

    door: Door
    workers: list[str] | list[int]
    classes: list[str] | list[int]
    n_tasks: int
    n_labels: int
    given: Ints
    owner: Ints | None = None

    @classmethod
    def of(
        cls, door: Door, table: str, columns: Sequence[str] = COLUMNS, conflicts: Conflicts = "error"
    ) -> CodedLabels:
        """Code the labels of a table, a row a label, in these columns of task, worker and label.

        Ids of workers and classes are taken as `CrowdLabels.from_file` takes them; tasks keep their type, and lose the
        blanks around them where they are text. The same label given twice counts once. With `conflicts` "first" or
        "last", the column updated_at tells which label came first.

        Raises a CofactorError where rows have no task, worker or label, a worker gave a task two labels (they are
        counted first), there are fewer than two classes, or the database refuses.
        Cost: O(labels), in four queries, and one of the tasks where they are not many.
        """
        names = _names(door, name_in(door.dialect, table, whole=True), columns)
        if conflicts != "error":
            names["time"] = f", given.{TIME} AS time"
            _check_time(door, names["table"], conflicts)
        ids = {role: _ids(door, names, role) for role in ("worker", "label")}
        names["task"] = _task(door, names)
        rows = ROWS.format(**names)
        n_rows = _checked_rows(door, rows)
        workers, classes = ids["worker"], ids["label"]
        if len(classes) < 2:
            raise CofactorError(f"only one class ({listing(classes)}): there is nothing to tell apart")
        n_tasks, given = _code(door, rows, conflicts, workers, len(classes))
        n_labels = int(given.sum())
        tasks = _tasks(door) if n_tasks <= MOST_COMPARED else []
        _tell_of(tasks, workers, classes, n_labels)
        _tell_of_headers(door, columns, workers, classes)
        _tell_of_no_answers(door, names, classes)
        if n_labels < n_rows:
            again = (
                f"{n_rows - n_labels} labels were given again by the same worker on the same task: one each was kept"
            )
            warnings.warn(again, DataWarning, stacklevel=2)
        return cls(door, workers, classes, n_tasks, n_labels, given)


def _names(door: Door, table: str, columns: Sequence[str]) -> dict[str, str]:
    """Return how the table and its columns are written in queries; a column may be named as the table has it."""
    try:
        found = list(door.ask(f"SELECT * FROM {table} AS given LIMIT 0"))
    except CofactorError as error:
        raise CofactorError(f"{error}: name the table of the labels by --table") from None
    written = [quoted(name) if name in found else name_in(door.dialect, name) for name in columns]
    names = dict(zip(COLUMNS, (f"given.{name}" for name in written), strict=True)) | {"table": table, "time": ""}
    try:
        door.ask("SELECT {task}, {worker}, {label} FROM {table} AS given LIMIT 0".format(**names))
    except CofactorError:
        problem = f"the table {table} has the columns {listing(found)}"
        raise CofactorError(f"{problem}: name those of the labels by --task, --worker and --label") from None
    return names


def _check_time(door: Door, table: str, conflicts: str) -> None:
    try:
        door.ask(f"SELECT given.{TIME} FROM {table} AS given LIMIT 1")
    except CofactorError as error:
        need = f"--conflicts {conflicts} needs a column {TIME}, since a table has no order"
        raise CofactorError(f"{need} ({error})") from None


def _ids(door: Door, names: dict[str, str], role: str) -> list[str] | list[int]:
    """Put the table from given ids to codes into the database; return the ids in their order."""
    query = "SELECT DISTINCT {id} AS given FROM {table} AS given WHERE {id} IS NOT NULL"
    found = door.ask(query.format(id=names[role], table=names["table"]))["given"]
    if len(found) and found.dtype.kind not in "iu":  # text may be of a type of its own, which is compared with no other
        names[role] = f"CAST({names[role]} AS TEXT)"
        found = door.ask(query.format(id=names[role], table=names["table"]))["given"]
    text = [trimmed(str(known)) for known in found]
    absent = {""} if role == "worker" else {"", *NO_LABEL}
    present = list(dict.fromkeys(name for name in text if name not in absent))
    whole = all(map(PLAIN.fullmatch, present))
    ids = sorted(map(int, present)) if whole else sorted(present)
    place = {str(known): code for code, known in enumerate(ids)}
    codes = pd.DataFrame({"given": found, "code": np.array([place.get(name, -1) for name in text], dtype=np.int64)})
    door.put(WORKERS if role == "worker" else CLASSES, codes)
    return ids


def _tasks(door: Door) -> list[object]:
    """Return the tasks."""
    return list(door.ask(f"SELECT DISTINCT task FROM {CODED}")["task"])


def _tell_of(tasks: Sequence[object], workers: Sequence[object], classes: Sequence[object], n_labels: int) -> None:
    """Note what is noted of names in memory; of tasks, where they are not many."""
    names = [[name for name in ids if isinstance(name, str)] for ids in (tasks, workers, classes)]
    found = odd_names((names[0], names[1], names[2]), n_labels)
    found += [alike_names(*pair) for pair in zip(names, ("tasks", "workers", "classes"), strict=True)]
    for message in filter(None, found):
        warnings.warn(message, DataWarning, stacklevel=3)


def _tell_of_headers(door: Door, columns: Sequence[str], workers: Sequence[object], classes: Sequence[object]) -> None:
    """Note rows that name the columns, as the header of a second file does that was loaded with its rows."""
    known = places_of(names_of_columns(columns))
    places = [[n for n, name in enumerate(ids) if as_name(str(name)) in known] for ids in (workers, classes)]
    cells = [m * len(classes) + k for m in places[0] for k in places[1]]
    if not cells:
        return
    rows = door.ask(f"SELECT task, cell FROM {CODED} WHERE cell IN ({', '.join(map(str, cells))})")
    named = [(str(task), int(cell)) for task, cell in zip(rows["task"], rows["cell"], strict=True)]
    found = [(task, str(workers[cell // len(classes)]), str(classes[cell % len(classes)])) for task, cell in named]
    found = [row for row in found if len({known.get(as_name(name)) for name in row} - {None}) == len(row)]
    if found:
        what = f"{len(found)} rows of the table name its columns, as a header does ({listing(found[0])})"
        warnings.warn(f"{what}, and count as labels: leave them out", DataWarning, stacklevel=3)


def _tell_of_no_answers(door: Door, names: dict[str, str], classes: Sequence[object]) -> None:
    """Note classes that look as if nothing was answered; their labels are counted only where there are some."""
    if not unsure({str(name): 0 for name in classes}):
        return
    query = "SELECT {label} AS given, COUNT(*) AS n FROM {table} AS given WHERE {label} IS NOT NULL GROUP BY {label}"
    found, counts = door.ask(query.format(**names)), Counter[str]()
    for name, n in zip(found["given"], found["n"], strict=True):
        counts[trimmed(str(name))] += int(n)
    warnings.warn(unsure(counts), DataWarning, stacklevel=3)


def _task(door: Door, names: dict[str, str]) -> str:
    """Return the expression of a task: text without the blanks around it, and none where nothing is left."""
    first = door.ask(f"SELECT {names['task']} AS task FROM {names['table']} AS given LIMIT 1")["task"]
    if not len(first):
        raise CofactorError("no labels: the table has no rows")
    if first.dtype.kind in "iu":
        return names["task"]
    return f"NULLIF(TRIM(TRIM(CAST({names['task']} AS TEXT), '{BLANKS}')), '')"


def _checked_rows(door: Door, rows: str) -> int:
    """Return the number of rows; refuse some without a task, a worker or a label."""
    counted = f"SELECT COUNT(*) AS n, SUM(CASE WHEN {ABSENT} THEN 1 ELSE 0 END) AS absent FROM ({rows}) AS given"
    n, absent = (int(number) for number in door.ask(counted).iloc[0])
    if absent:
        raise CofactorError(f"{absent} of {n} rows of the table have no task, no worker or no label: fill or drop them")
    return n


def _code(door: Door, rows: str, conflicts: str, workers: Sequence[object], n_classes: int) -> tuple[int, Ints]:
    """Make the table `CODED`; return the number of tasks, and of each worker's labels; refuse labels in conflict."""
    kept = ONE if conflicts == "error" else FIRST.format(way="DESC" if conflicts == "last" else "ASC")
    one = f"WITH given AS ({rows}), one AS ({kept})"
    cell = f"CAST(worker * {n_classes} + label AS INTEGER) AS cell, CAST(clash AS INTEGER) AS clash"
    door.keep(CODED, f"{one} SELECT task, {cell} FROM one UNION ALL SELECT DISTINCT task, -1, 0 FROM one")
    clash = door.ask(
        f"SELECT cell, COUNT(*) AS n, SUM(CASE WHEN clash > 0 THEN 1 ELSE 0 END) AS clash FROM {CODED} GROUP BY cell"
    ).astype("int64")
    bad = clash[clash["clash"] > 0]
    _check_conflicts(bad["cell"] // n_classes, bad["clash"], workers, conflicts)
    own = clash["cell"] < 0
    worker, n = (clash.loc[~own, "cell"] // n_classes).to_numpy(), clash.loc[~own, "n"].to_numpy()
    return int(clash.loc[own, "n"].sum()), np.bincount(worker, n, len(workers)).astype(np.int64)


def _check_conflicts(worker: pd.Series, n: pd.Series, workers: Sequence[object], conflicts: str) -> None:
    if not len(n):
        return
    found = listing(f"worker {workers[int(str(w))]!r} on {count} tasks" for w, count in n.groupby(worker).sum().items())
    if conflicts != "error":
        raise CofactorError(f"conflicting labels with the same {TIME}: {found}; mend the data")
    raise CofactorError(f"conflicting labels: {found}; mend the data, or keep the first or last (--conflicts)")

"""Recognise the task, worker and label columns of tables exported by platforms or made by hand.

A note says which columns were used. If several columns could be meant, an error lists them.

    layout                 task                  worker                  label                    left out
    Mechanical Turk        HITId                 WorkerId                Answer.*                 rejected
    Figure Eight           _unit_id              _worker_id              X with X_gold, or varies tainted, golden
    Toloka                 ASSIGNMENT:task_id    ASSIGNMENT:worker_id    OUTPUT:*                 rejected, golden
                           or the INPUT:*
    Zooniverse             subject_ids           user_name               annotations
    Kili                   externalId            author                  label
    PYBOSSA                task_id               user_id, else user_ip   info
    Label Studio (CSV)     id                    annotator               varies within a task
    one column per worker  the first column      column names            cells
    one column per class   usual name            usual name              column with 1 or true
    counts                 the first column      none                    column names
    one row per class      usual name            none                    usual name, repeated by a column of counts
    usual names            item, unit, ...       annotator, rater, ...   answer, response, ...
    no worker              usual name            none                    usual name

Golden rows are used as gold. If no column names the workers, each label counts as a different worker's, so that the
result is the majority vote.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cofactor.core.cells import NO_VALUE, located, nested_cells
from cofactor.core.errors import CofactorError, DataWarning, amount, listing
from cofactor.core.lazy import pd
from cofactor.reading import tables
from cofactor.reading.records import AGREED, COUNTED, GOLD, IDS, KNOWN, RARER, TIME, USUAL, leaf
from cofactor.reading.tables import TAKEN, Coded


@dataclass(frozen=True)
class Layout:
    """How one platform names its columns.

    Attributes
    ----------
    name : str
    task, worker : str
    answers : function
        Takes the frame, and returns the columns that may hold the label.
    rejected : (column, lower-case value, noun for such rows) or None
    golden : function, optional
        Takes the frame and the column of the label, and returns the known class of each row, or missing.
    """

    name: str
    task: str
    worker: str
    answers: Callable[[pd.DataFrame], list[str]]
    rejected: tuple[str, str, str] | None = None
    golden: Callable[[pd.DataFrame, str], pd.Series[Any]] | None = None


def _beginning(prefix: str) -> Callable[[pd.DataFrame], list[str]]:
    return lambda frame: [str(name) for name in frame if str(name).startswith(prefix)]


def _beside_gold(frame: pd.DataFrame) -> list[str]:
    """Return the columns X with a column X_gold; if there are none, those that vary within a task."""
    found = [str(name) for name in frame if f"{name}_gold" in frame]
    return found or [name for name in _varying(frame, "_unit_id") if not name.startswith("_")]


def _varying(frame: pd.DataFrame, task: str = "id") -> list[str]:
    """Return the columns that vary within a task; if there are none, those that are not the tool's own."""
    own = (task, "annotator", "annotation_id", "created_at", "updated_at", "lead_time")
    free = [str(name) for name in frame if name not in own]
    several = frame.groupby(task)[free].nunique() if free else pd.DataFrame()
    return [name for name in free if (several[name] > 1).any()] or free


def _gold_of_figure_eight(frame: pd.DataFrame, label: str) -> pd.Series[Any]:
    known = frame[f"{label}_gold"] if f"{label}_gold" in frame else pd.Series(None, frame.index, dtype=object)
    return known.where(frame["_golden"].str.lower() == "true") if "_golden" in frame else known


def _gold_of_toloka(frame: pd.DataFrame, label: str) -> pd.Series[Any]:
    name = label.replace("OUTPUT:", "GOLDEN:")
    return frame[name] if name in frame else pd.Series(None, frame.index, dtype=object)


PYBOSSA_USER = "user_id or user_ip"  # the address of who was not logged in
FEW_CLASSES = 1000  # beyond these, a file has more classes than workers, most likely
LAYOUTS = (
    Layout(
        *("Mechanical Turk", "HITId", "WorkerId", _beginning("Answer.")),
        ("AssignmentStatus", "rejected", "rejected assignments"),
    ),
    Layout(
        *("Figure Eight", "_unit_id", "_worker_id", _beside_gold),
        ("_tainted", "true", "tainted judgements"),
        _gold_of_figure_eight,
    ),
    Layout(
        *("Toloka", "ASSIGNMENT:task_id", "ASSIGNMENT:worker_id", _beginning("OUTPUT:")),
        ("ASSIGNMENT:status", "rejected", "rejected assignments"),
        _gold_of_toloka,
    ),
    Layout("Label Studio", "id", "annotator", _varying),
    Layout("Zooniverse", "subject_ids", "user_name", _beginning("annotations")),
    Layout("Kili", "externalId", "author", _beginning("label")),
    Layout("PYBOSSA", "task_id", PYBOSSA_USER, _beginning("info")),
)


def recognised(frame: pd.DataFrame, columns: Sequence[str], whose: str | None = None) -> pd.DataFrame:
    """Return the task, worker and label columns of a table under the wanted names, whatever it calls them.

    Parameters
    ----------
    frame : DataFrame of text
    columns : (task, worker, label)
        Wanted names. Those that the table has are used as they are; only the others are looked for.
    whose : str, optional
        The worker if no column names one, as when each of several files is one worker's.

    Returns
    -------
    DataFrame
        Unchanged if nothing was recognised; the reader then reports what is missing. `attrs["gold"]` maps tasks to
        classes that the platform knows.

    Raises
    ------
    CofactorError
        Several columns may hold the label.

    Warns
    -----
    DataWarning
        Which columns were used, and what was left out.
    """
    if all(name in frame for name in columns):
        return frame
    frame = _with_user_of_pybossa(_with_task_of_toloka(frame))
    if {"externalId", "createdAt"} <= set(frame) and TIME not in frame:  # of Kili
        frame = frame.assign(**{TIME: frame["createdAt"]})
    for layout in LAYOUTS:
        if {layout.task, layout.worker} <= set(frame) and (layout.name != "Label Studio" or "annotation_id" in frame):
            return _of_platform(frame.astype(object), layout, columns)
    return _of_people(frame, columns, whose)


def _of_platform(frame: pd.DataFrame, layout: Layout, columns: Sequence[str]) -> pd.DataFrame:
    task, worker = (
        wanted if wanted in frame else usual
        for wanted, usual in zip(columns, (layout.task, layout.worker), strict=False)
    )
    frame, label = _label_of(frame, layout, columns[2])
    left_out = []
    golden = layout.golden(frame, label).replace(list(NO_VALUE), None) if layout.golden else None
    known = dict(zip(frame[task], golden, strict=True)) if golden is not None else {}
    if layout.rejected and layout.rejected[0] in frame:
        column, value, what = layout.rejected
        bad = frame[column].str.strip().str.lower() == value
        left_out += [f"left out {bad.sum()} {what}"] if bad.any() else []
        frame = frame[~bad]
    known = {name: cell for name, cell in known.items() if isinstance(cell, str)}
    if known:
        left_out.append(f"{len(known)} tasks of known class are used as gold")
    return _taken(frame, {columns[0]: task, columns[1]: worker, columns[2]: label}, layout.name, left_out, known)


def _with_task_of_toloka(frame: pd.DataFrame) -> pd.DataFrame:
    """Add task ids to older tables of Toloka, which identify a task only by its inputs."""
    task, worker = "ASSIGNMENT:task_id", "ASSIGNMENT:worker_id"
    shown = _beginning("INPUT:")(frame)
    if worker not in frame or task in frame or not shown:
        return frame
    return frame.assign(**{task: frame[shown].astype(object).fillna("").agg(" | ".join, axis=1)})


def _with_user_of_pybossa(frame: pd.DataFrame) -> pd.DataFrame:
    """Add a column of workers to tables of PYBOSSA: the user number, or the address if not logged in."""
    if not {"task_id", "user_id", "user_ip", "info"} <= set(frame):
        return frame
    user, address = (frame[name].astype(object) for name in ("user_id", "user_ip"))
    user = user.where(user.notna() & ~user.isin(NO_VALUE), address)
    return frame.assign(**{PYBOSSA_USER: user.map(leaf)})


def _label_of(frame: pd.DataFrame, layout: Layout, wanted: str) -> tuple[pd.DataFrame, str]:
    """Return the column of the label, after adding one if there is one true/false column per class."""
    if wanted in frame:
        return frame, wanted
    names = layout.answers(frame)
    stems = {name.rpartition(".")[0] for name in names}
    if len(names) > 1 and len(stems) == 1 and (found := of_marks(frame, names)) is not None:
        stem = stems.pop()
        return frame.assign(**{stem: found}), stem
    return frame, _one_of(names, layout.name, frame)


def _one_of(names: Sequence[str], layout: str, frame: pd.DataFrame) -> str:
    filled = [name for name in names if not frame[name].isin(NO_VALUE).all()]
    if len(filled) == 1:
        return filled[0]
    if not filled:
        raise CofactorError(f"no column of this {layout} table holds the labels: set label='COLUMN'")
    raise CofactorError(
        f"this {layout} table has several columns of answers ({listing(filled)}): choose one, such as "
        f"label='{filled[0]}'"
    )


def _taken(
    frame: pd.DataFrame,
    chosen: dict[str, str],
    layout: str,
    more: Sequence[str] = (),
    known: dict[Any, Any] | None = None,
    made: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the chosen columns under the wanted names, with a note that lists them, except those made here."""
    said = [f"{role} from {name}" for role, name in zip(USUAL, chosen.values(), strict=True) if name not in made]
    message = f"{layout}: {', '.join([*said, *more])}; to use other columns, set task, worker or label"
    warnings.warn(message, DataWarning, stacklevel=6)
    found = pd.DataFrame({wanted: frame[name] for wanted, name in chosen.items()}, index=frame.index)
    label = list(chosen)[-1]
    if not nested_cells(found[label]).any():
        found[label] = Coded.of(found[label]).map(lambda cells: list(map(leaf, cells))).series(found.index, coded=True)
    if TIME in frame:
        found[TIME] = frame[TIME]
    found.attrs |= {GOLD: known or {}, TAKEN: list(chosen.values())}
    return found


# ---- tables that people make ----


def _of_people(frame: pd.DataFrame, columns: Sequence[str], whose: str | None) -> pd.DataFrame:
    found = dict(zip(columns, (_usual(frame, *pair) for pair in zip(USUAL, columns, strict=True)), strict=True))
    if sum(map(bool, found.values())) == 2:  # a long table, whose third column may be one of several
        role, wanted = next(pair for pair in zip(USUAL, columns, strict=True) if not found[pair[1]])
        several = _called(frame, USUAL[role])
        if role == wanted and len(set(map(str.casefold, several))) > 1:
            raise CofactorError(
                f"columns {listing(several)} may name the {role}: choose one, as in {role}={several[0]!r}"
            )
    pairs = zip(USUAL, columns, strict=True)
    rarer = [known or _usual(frame, *pair, RARER) for known, pair in zip(found.values(), pairs, strict=True)]
    if all(rarer) and len(set(rarer)) == len(rarer):
        return _taken(frame, dict(zip(columns, map(str, rarer), strict=True)), "columns")
    frame = frame.astype(object)
    task, worker, label = found.values()
    free = [str(name) for name in frame if name not in found.values()]
    task = task or (free[0] if free and free[0].strip().casefold() in (*IDS, "") else None)
    if not any(found.values()) and free[:1] == ["Unnamed: 0"]:  # as pandas writes an index, here of a wide table
        task = free[0]
    if task and worker and not label:
        names = [name for name in free if name not in (task, worker)]
        return _of_classes(frame, task, worker, marks(frame, names), columns)
    if task and not worker and not label:
        return of_wide(frame, task, columns)
    if task and label and not worker and (counted := _counted(frame, task, label)):
        return _of_counted(frame, task, label, counted, columns)
    others = [name for name in free if name != task]
    if task and label and columns[1] == "worker" and not worker and not _may_be_workers(frame, others, task):
        chosen = dict(zip(columns, (task, columns[1], label), strict=True))
        if whose is not None:
            return _taken(frame.assign(**{columns[1]: whose}), chosen, f"labels of {whose}", made=columns[1:2])
        alone = frame.assign(**{columns[1]: [f"answer {n}" for n in range(1, len(frame) + 1)]})
        why = "no column names the workers, so each label counts as a different worker's, as in a vote"
        return _taken(alone, chosen, why, made=columns[1:2])
    _refuse_no_header(frame)
    return frame


def _refuse_no_header(frame: pd.DataFrame) -> None:
    """Refuse a text file whose first line has values that also occur in the columns below."""
    names = [str(name) for name in frame]
    again = [name for n, name in enumerate(names) if (frame.iloc[:, n] == name).any()]
    if frame.index.name == "row" and len(names) >= 3 and len(again) >= 2:
        said = f"the first line ({listing(names)}) is not a header, since its values also occur below it"
        raise CofactorError(f"{said}: add a header above it, such as task,worker,label")


def _of_classes(
    frame: pd.DataFrame, task: str, worker: str, names: Sequence[str], columns: Sequence[str]
) -> pd.DataFrame:
    """Return one label per row of a table with one column per class."""
    marks = frame[list(names)]
    if any(":::" in name for name in names):  # potato writes the class itself, or leaves the cell empty
        marks = marks.mask(marks.notna() & ~marks.isin((*NO_VALUE, "0")), "1")
    found = of_marks(marks, names)
    if found is None:
        return frame
    label = f"the columns {listing(names)}"
    chosen = dict(zip(columns, (task, worker, label), strict=True))
    return _taken(frame.assign(**{label: found}), chosen, "one column per class")


def _counted(frame: pd.DataFrame, task: str, label: str) -> str | None:
    """Return the column that counts how often a task got a label, if each pair occurs once."""
    names = [str(name) for name in frame if str(name).strip().casefold() in COUNTED]
    if len(names) != 1 or frame.duplicated([task, label]).any() or not frame[task].duplicated().any():
        return None
    return names[0] if frame[names[0]].fillna("").str.strip().str.isdigit().all() else None


def _of_counted(frame: pd.DataFrame, task: str, label: str, counted: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return one row per answer of a table with one row per task and class and a column of counts."""
    rows = frame.loc[:, [task, label]].iloc[np.repeat(np.arange(len(frame)), frame[counted].astype(int))]
    rows = rows.assign(**{columns[1]: [f"answer {n}" for n in range(1, len(rows) + 1)]})
    chosen = dict(zip(columns, (task, columns[1], label), strict=True))
    why = f"column {counted} counts answers of unnamed workers, so the result is the majority vote"
    return _taken(rows, chosen, why, made=columns[1:2])


def _usual(frame: pd.DataFrame, role: str, wanted: str, names: Mapping[str, Sequence[str]] = USUAL) -> str | None:
    """Return the column of a role: the wanted one, otherwise the only one with a usual name."""
    if wanted in frame:
        return wanted
    if wanted != role:  # the user named another one, which is not there
        return None
    there = _called(frame, names[role])
    return there[0] if len(there) == 1 else None


def _called(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the columns with one of these names, however its words are joined."""
    return [str(name) for name in frame if re.sub(r"[\s_-]+", "_", str(name).strip().casefold()) in names]


def _may_be_workers(frame: pd.DataFrame, names: Sequence[str], task: str) -> bool:
    """Whether a column could name the workers: its values repeat, and are not determined by the task."""
    several = frame[task].duplicated().any()
    for name in names:
        repeats = 1 < frame[name].astype(str).nunique() < len(frame)
        if repeats and not (several and (frame[name].astype(str).groupby(frame[task]).nunique() == 1).all()):
            return True
    return False


def without_headers(frame: pd.DataFrame, columns: Sequence[str], taken: Sequence[str] = ()) -> pd.DataFrame:
    """Drop rows that repeat the header, with a warning; `taken` are the columns' names in the file, if different."""
    few = frame[columns[2]].nunique() <= FEW_CLASSES  # else workers are likely to be fewer
    written = names_of_columns(columns, taken)
    return tables.without_headers(frame, {columns[n]: written[columns[n]] for n in ((2, 1, 0) if few else (1, 2, 0))})


def names_of_columns(columns: Sequence[str], taken: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """Return the names that a header may use for task, worker and label: first those of this file, then usual ones."""
    return {
        name: (name, *taken[n : n + 1], *USUAL[role], *RARER[role])
        for n, (name, role) in enumerate(zip(columns, USUAL, strict=True))
    }


YES, NO = ("true", "1", "1.0", "yes"), ("false", "0", "0.0", "no")
MOST_AGAIN = 0.1  # of the rows of a wide table name a task again; with more, it is no such table
MOST_CLASSES = 20  # distinct answers of a wide table; more are no classes
OPPOSED = 0.1  # mean correlation of columns, below minus which they are counts of classes and not workers' grades
SURELY = 10  # cells above a last row or left of a last column, from which on it may sum them up
ROUNDED = 0.0051  # means and shares have two decimals or more
MOSTLY = 0.8  # rows with a yes in columns of yes and no that are the answers to one question


def of_wide(frame: pd.DataFrame, task: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return one row per label of a table with one row per task and one column per worker, or per class with counts.

    Raises a CofactorError if cells hold lists or objects, which are not labels.
    """
    _refuse_nested(frame.drop(columns=task))
    others, known, left_out = _columns_of_workers(frame, task)
    cells = frame[others].apply(lambda column: column.str.strip()).mask(frame[others].isin(NO_VALUE))
    given = frame
    frame, cells, summaries = _without_summaries(frame, task, cells)
    again = frame[task].duplicated().to_numpy()
    counts, shared = _are_counts(cells), _classes_of_two(cells)
    own = [] if counts else [str(name) for name in cells if not cells[name].isin(shared).any()]
    if len(cells.columns) - len(own) > 1:  # columns of other things, since no worker uses words of his own alone
        cells = cells.drop(columns=own)
        left_out += [f"{name} (its values occur in no other column)" for name in own]
    values = [value for value in pd.unique(cells.to_numpy(dtype=object).ravel()) if isinstance(value, str)]
    workers = [str(name) for name in cells]
    if len(workers) < 2 or not 1 < len(values) <= MOST_CLASSES or again.mean() > MOST_AGAIN:
        return given
    if not counts and (len(shared) < len(values) / 2 or len(own) > len(workers)):
        return given  # columns of different things
    if summaries:
        warnings.warn(f"left out {' and '.join(summaries)}", DataWarning, stacklevel=6)
    if again.any():
        where = located(frame, again, frame[task][again].tolist())
        raise CofactorError(f"tasks of column {task} are repeated in {where}: keep one row per task")
    none = cells.isna().all(axis=1).to_numpy() if not counts else (cells == "0").all(axis=1).to_numpy()
    if none.any():
        told = f"left out {amount(none.sum(), 'task')} without labels"
        warnings.warn(f"{told}: {located(frame, none, frame[task][none].tolist())}", DataWarning, stacklevel=6)
    if counts:
        return _of_counts(frame, task, cells, columns)
    row, column = np.nonzero(cells.notna().to_numpy())
    found = pd.DataFrame(
        {
            columns[0]: frame[task].to_numpy(dtype=object)[row],
            columns[1]: np.array(workers, dtype=object)[column],
            columns[2]: cells.to_numpy(dtype=object)[row, column],
        },
        index=frame.index[row],
    )
    found.attrs[GOLD] = known
    message = f"one column per worker: {listing(workers)}; task from {task}; cells are labels"
    message += f"; {len(known)} tasks of known class are used as gold" if known else ""
    message += f"; columns not read: {listing(left_out)}" if left_out else ""
    warnings.warn(message, DataWarning, stacklevel=6)
    return found


def _without_summaries(
    frame: pd.DataFrame, task: str, cells: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Leave out a last row, and a last column, that sums up the others; also return what was left out, and why."""
    left_out = list[str]()
    while what := _summary(cells) or _unlike(cells):
        last = np.arange(len(frame)) == len(frame) - 1
        left_out.append(f"the {what} in {located(frame, last, [frame[task].iloc[-1]])}")
        frame, cells = frame[~last], cells[~last]
    while what := _summary(cells.T):
        left_out.append(f"the {what.replace('rows above', 'other columns')} in column {cells.columns[-1]}")
        cells = cells.iloc[:, :-1]
    return frame, cells, left_out


def _summary(cells: pd.DataFrame) -> str:
    """Return what the numbers of the last row are of the rows above: sums, means, counts or shares; "" for others.

    If all of them are also answers above, they are only if they count words.
    """
    if len(cells) < 3:
        return ""
    written = cells.iloc[-1].dropna()
    above = cells.iloc[:-1][written.index].to_numpy(dtype=object)
    last = pd.to_numeric(written, errors="coerce").to_numpy(dtype=np.float64)
    if len(last) < 2 or above.size < SURELY or np.isnan(last).any():
        return ""
    codes, answers = pd.factorize(above.ravel())
    number = np.append(
        pd.to_numeric(pd.Series(answers, dtype=object), errors="coerce").to_numpy(dtype=np.float64), np.nan
    )
    codes, numbers = codes.reshape(above.shape), number[codes].reshape(above.shape)
    cases, counted = {}, np.flatnonzero(np.isnan(number[:-1]))  # words
    if not written.isin(answers).all():
        total, n_known = np.nansum(numbers, axis=0), np.fmax((~np.isnan(numbers)).sum(axis=0), 1)
        cases = {"sums": total, "means": total / n_known, "numbers of answers": (codes >= 0).sum(axis=0)}
        counted = np.arange(len(answers))
    for code in counted[:MOST_CLASSES]:
        said = codes == code
        cases |= {f"counts of {answers[code]!r}": said.sum(axis=0), f"shares of {answers[code]!r}": said.mean(axis=0)}
    found = next((what for what, one in cases.items() if (np.abs(last - one) <= ROUNDED).all()), "")
    return f"{found} of the rows above" if found else ""


def _unlike(cells: pd.DataFrame) -> str:
    """Return "numbers" if the last row holds numbers and those above mostly words, or fractions and they whole numbers.

    None of the numbers occurs above.
    """
    last, above = (pd.Series(part.to_numpy(dtype=object).ravel()).dropna() for part in (cells[-1:], cells[:-1]))
    if len(last) < 2 or len(above) < SURELY or last.isin(above).any():
        return ""
    numbers, before = pd.to_numeric(last.str.rstrip("% "), errors="coerce"), pd.to_numeric(above, errors="coerce")
    fractions = bool((before % 1 == 0).all() and (numbers % 1 > 0).all())
    return "numbers" if numbers.notna().all() and (before.isna().mean() > 0.5 or fractions) else ""


def _refuse_nested(cells: pd.DataFrame) -> None:
    nested = cells.map(lambda cell: isinstance(cell, list | dict))
    if nested.to_numpy().any():
        names, rows = listing(cells.columns[nested.any()]), located(cells, nested.any(axis=1))
        raise CofactorError(
            f"cells of {names} hold lists or objects in {rows}, which do not show who gave which label: "
            "write one record per label, with task, worker and label"
        )


def _columns_of_workers(frame: pd.DataFrame, task: str) -> tuple[list[str], dict[Any, Any], list[str]]:
    """Return columns that may be workers, the true class of each task, and columns that are neither."""
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
    """Return the answers that occur in at least two columns, as classes do."""
    where = pd.Series([value for name in cells for value in cells[name].dropna().unique()]).value_counts()
    return [str(value) for value in where[where > 1].index]


def _are_counts(cells: pd.DataFrame) -> bool:
    """Whether cells count answers: whole numbers with the same sum of at least two in every row.

    Where the sums differ: a class that got more answers left fewer to the others, so that columns of counts fall as
    others rise; columns of workers who grade the same tasks rise together.
    """
    if any(map(_is_numbered_worker, map(str.casefold, map(str, cells)))):
        return False
    if not cells.notna().to_numpy().all() or not cells.map(str.isdigit).to_numpy().all():
        return False
    counts = cells.astype(int).to_numpy()
    total = counts.sum(axis=1)
    if counts.max(initial=0) < 2 or np.median(total) < 2:
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
        f"one column per class ({listing(cells)}); cells count answers; task from {task}; "
        "workers are not named, so the result is the majority vote"
    )
    warnings.warn(message, DataWarning, stacklevel=7)
    return found


def marks(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return those of the columns that mark classes: `question:::class` of one question (potato), or with 0 and 1."""
    asked = [name for name in names if ":::" in name]
    if asked:
        return asked if len({name.split(":::")[0] for name in asked}) == 1 else []
    return [name for name in names if set(frame[name].dropna().str.strip()) <= {"0", "1", "0.0", "1.0"}]


def of_marks(frame: pd.DataFrame, names: Sequence[str]) -> pd.Series[Any] | None:
    """Return the class of each row of yes/no columns, the one whose column says yes; None for other columns.

    Also None if few rows say yes: such columns are the answers to several questions.

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
        raise CofactorError(
            f"columns {listing(names)} seem to be one column per class, but several are marked in "
            f"{located(frame, several)}: read each as a question of its own, for example label='{names[0]}'"
        )
    if marked.any(axis=1).mean() < MOSTLY:
        return None
    short = np.array([name.replace(":::", ".").rpartition(".")[2] for name in names], dtype=object)
    found = np.where(marked.any(axis=1), short[marked.to_numpy().argmax(axis=1)], None)
    return pd.Series(found, index=frame.index, dtype=object)

"""Tables of labels as platforms and people write them: which column is the task, which the worker, which the label.

What was taken for what is said in one note. A table in which more than one column can be meant is refused, and the
message names them.

    layout                task                  worker                  label                    left out
    Mechanical Turk       HITId                 WorkerId                Answer.*                 rejected
    Figure Eight          _unit_id              _worker_id              X of X_gold, what varies tainted, golden
    Toloka                ASSIGNMENT:task_id    ASSIGNMENT:worker_id    OUTPUT:*                 rejected, golden
                          or the INPUT:*
    Zooniverse            subject_ids           user_name               annotations
    Label Studio (CSV)    id                    annotator               what varies in a task
    one column a worker   the first column      names of the columns    cells
    one column a class    as usual              as usual                where 1 or true is
    counts                the first column      nobody                  names of the columns
    a row a class         as usual              nobody                  as usual, times a column of counts
    usual names           item, unit, ...       annotator, rater, ...   answer, response, ...
    no worker             as usual              nobody                  as usual

Golden rows become gold. Where nobody is named, each label is another worker's, so that the result is the vote.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cofactor.core import text_tables
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.files import from_json
from cofactor.core.frames import TAKEN
from cofactor.core.lazy import pd
from cofactor.core.spelling import NO_VALUE
from cofactor.crowd.usual_names import COUNTED, GOLD, IDS, RARER, USUAL
from cofactor.crowd.wide import marks, of_marks, of_wide


@dataclass(frozen=True)
class Layout:
    """How one platform names its columns.

    Attributes
    ----------
    name : str
    task, worker : str
    answers : function
        Of the frame; the columns that may hold the label.
    rejected : (column, value in lower case, what such rows are) or None
    golden : function, optional
        Of the frame and the column of the label: for each row the class that the platform knows, else missing.
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
    """Columns X with a column X_gold; where there is none, those that vary within a task."""
    found = [str(name) for name in frame if f"{name}_gold" in frame]
    return found or [name for name in _varying(frame, "_unit_id") if not name.startswith("_")]


def _varying(frame: pd.DataFrame, task: str = "id") -> list[str]:
    """Columns with different cells within a task; where there is none, those that are not of the tool's own."""
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
)


def recognised(frame: pd.DataFrame, columns: Sequence[str], whose: str | None = None) -> pd.DataFrame:
    """Return a table with the columns task, worker and label under the wanted names, whatever it calls them.

    Parameters
    ----------
    frame : DataFrame of text
    columns : (task, worker, label)
        Wanted names. One that the table has is taken; only those that it lacks are looked for.
    whose : str, optional
        The worker, where no column names one: one of several files.

    Returns
    -------
    DataFrame
        As given, where nothing was recognised; the reader then says what is missing. `attrs["gold"]` has the class by
        task of what the platform knows.

    Raises
    ------
    CofactorError
        Several columns can hold the label.

    Warns
    -----
    DataWarning
        What was taken for what, and what was left out.
    """
    if all(name in frame for name in columns):
        return frame
    frame = _with_task_of_toloka(frame)
    for layout in LAYOUTS:
        if {layout.task, layout.worker} <= set(frame) and (layout.name != "Label Studio" or "annotation_id" in frame):
            return _of_platform(frame, layout, columns)
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
        left_out += [f"{bad.sum()} {what} left out"] if bad.any() else []
        frame = frame[~bad]
    known = {name: cell for name, cell in known.items() if isinstance(cell, str)}
    if known:
        left_out.append(f"{len(known)} tasks of known class are gold")
    return _taken(frame, {columns[0]: task, columns[1]: worker, columns[2]: label}, layout.name, left_out, known)


def _with_task_of_toloka(frame: pd.DataFrame) -> pd.DataFrame:
    """Older tables of Toloka do not number the tasks: what was shown tells them apart."""
    task, worker = "ASSIGNMENT:task_id", "ASSIGNMENT:worker_id"
    shown = _beginning("INPUT:")(frame)
    if worker not in frame or task in frame or not shown:
        return frame
    return frame.assign(**{task: frame[shown].fillna("").agg(" | ".join, axis=1)})


def _label_of(frame: pd.DataFrame, layout: Layout, wanted: str) -> tuple[pd.DataFrame, str]:
    """Return the column of the label; one made of columns of true and false, a column a class, is added."""
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
        raise CofactorError(f"a table of {layout}, but no column holds the label: name it with label='COLUMN'")
    raise CofactorError(f"a table of {layout} with several answers: choose one, such as label='{filled[0]}' "
                        f"({listing(filled)})")  # fmt: skip


def _taken(
    frame: pd.DataFrame,
    chosen: dict[str, str],
    layout: str,
    more: Sequence[str] = (),
    known: dict[Any, Any] | None = None,
    made: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the chosen columns under the wanted names, and say so in one note, but for those made here."""
    said = [f"{role} from {name}" for role, name in zip(USUAL, chosen.values(), strict=True) if name not in made]
    message = f"{layout}: {', '.join([*said, *more])}; task=, worker= and label= choose other columns"
    warnings.warn(message, DataWarning, stacklevel=6)
    found = pd.DataFrame({wanted: frame[name] for wanted, name in chosen.items()}, index=frame.index)
    found[list(chosen)[-1]] = [leaf(cell) for cell in found[list(chosen)[-1]]]
    found.attrs |= {GOLD: known or {}, TAKEN: list(chosen.values())}
    return found


# ---- tables that people make ----


def _of_people(frame: pd.DataFrame, columns: Sequence[str], whose: str | None) -> pd.DataFrame:
    found = dict(zip(columns, (_usual(frame, *pair) for pair in zip(USUAL, columns, strict=True)), strict=True))
    pairs = zip(USUAL, columns, strict=True)
    rarer = [known or _usual(frame, *pair, RARER) for known, pair in zip(found.values(), pairs, strict=True)]
    if all(rarer) and len(set(rarer)) == len(rarer):
        return _taken(frame, dict(zip(columns, map(str, rarer), strict=True)), "columns")
    task, worker, label = found.values()
    free = [str(name) for name in frame if name not in found.values()]
    task = task or (free[0] if _is_id(free, frame) else None)
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
        why = "no column says who gave which label, so each is another worker's, as in a vote"
        return _taken(alone, chosen, why, made=columns[1:2])
    _refuse_no_header(frame)
    return frame


def _refuse_no_header(frame: pd.DataFrame) -> None:
    """Refuse a text file whose first line holds values that stand in their columns below, too."""
    names = [str(name) for name in frame]
    again = [name for n, name in enumerate(names) if (frame.iloc[:, n] == name).any()]
    if frame.index.name == "row" and len(names) >= 3 and len(again) >= 2:
        said = f"the first line ({listing(names)}) holds values that stand below it, too, and is no header"
        raise CofactorError(f"{said}: put a line of names above it, such as task,worker,label")


def _of_classes(
    frame: pd.DataFrame, task: str, worker: str, names: Sequence[str], columns: Sequence[str]
) -> pd.DataFrame:
    """Return one label a row, of a table with a column a class."""
    marks = frame[list(names)]
    if any(":::" in name for name in names):  # potato writes the class itself, or nothing
        marks = marks.mask(marks.notna() & ~marks.isin((*NO_VALUE, "0")), "1")
    found = of_marks(marks, names)
    if found is None:
        return frame
    label = f"the columns {listing(names)}"
    chosen = dict(zip(columns, (task, worker, label), strict=True))
    return _taken(frame.assign(**{label: found}), chosen, "one column a class")


def _counted(frame: pd.DataFrame, task: str, label: str) -> str | None:
    """Return the column that says how often a label was given to a task, if each pair is there once."""
    names = [str(name) for name in frame if str(name).strip().casefold() in COUNTED]
    if len(names) != 1 or frame.duplicated([task, label]).any() or not frame[task].duplicated().any():
        return None
    return names[0] if frame[names[0]].fillna("").str.strip().str.isdigit().all() else None


def _of_counted(frame: pd.DataFrame, task: str, label: str, counted: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return one row an answer, of a table with a row a task and class and a column of counts."""
    rows = frame.loc[:, [task, label]].iloc[np.repeat(np.arange(len(frame)), frame[counted].astype(int))]
    rows = rows.assign(**{columns[1]: [f"answer {n}" for n in range(1, len(rows) + 1)]})
    chosen = dict(zip(columns, (task, columns[1], label), strict=True))
    why = f"column {counted} counts answers and nobody is named, so that the result is the vote"
    return _taken(rows, chosen, why, made=columns[1:2])


def _usual(frame: pd.DataFrame, role: str, wanted: str, names: Mapping[str, Sequence[str]] = USUAL) -> str | None:
    """Return the one column of a role: the wanted one, else, of the usual names, the only one that is there."""
    if wanted in frame:
        return wanted
    if wanted != role:  # the user named another one, which is not there
        return None
    plain = {str(name): re.sub(r"[\s-]+", "_", str(name).strip().casefold()) for name in frame}
    there = [name for name, one in plain.items() if one in names[role]]
    return there[0] if len(there) == 1 else None


def _may_be_workers(frame: pd.DataFrame, names: Sequence[str], task: str) -> bool:
    """Whether a column could name the workers: values repeat, and a task does not decide them."""
    several = frame[task].duplicated().any()
    for name in names:
        repeats = 1 < frame[name].astype(str).nunique() < len(frame)
        if repeats and not (several and (frame[name].astype(str).groupby(frame[task]).nunique() == 1).all()):
            return True
    return False


def _is_id(names: Sequence[str], frame: pd.DataFrame) -> bool:
    return bool(names) and str(names[0]).strip().casefold() in (*IDS, "")


# ---- cells ----


def leaf(cell: Any) -> Any:
    """Return the one answer of a cell that holds JSON; any other cell as it is.

    >>> leaf('[{"sentiment": {"label": "neg"}}]'), leaf('{"yes": true, "no": false}'), leaf("pos")
    ('neg', 'yes', 'pos')
    """
    if not isinstance(cell, str) or cell[:1] not in ("[", "{"):
        return cell
    try:
        thing = from_json(cell)
        if isinstance(thing, list) and all(isinstance(one, dict) and {"task", "value"} <= set(one) for one in thing):
            thing = [one["value"] for one in thing]  # Zooniverse
        found = list(_leaves(thing))
    except (ValueError, RecursionError):
        return cell
    return found[0] if len(found) == 1 else cell


def _leaves(thing: Any, name: str = "") -> Iterator[str]:
    if isinstance(thing, dict):
        for key, value in thing.items():
            yield from _leaves(value, key)
    elif isinstance(thing, list):
        for value in thing:
            yield from _leaves(value, name)
    elif isinstance(thing, bool):
        yield from [name] if thing else []
    elif thing is not None and thing != "":
        yield str(thing)


def without_headers(frame: pd.DataFrame, columns: Sequence[str], taken: Sequence[str] = ()) -> pd.DataFrame:
    """Leave out rows that repeat the header, and say so; `taken` are names of columns in the file, if others."""
    few = frame[columns[2]].nunique() <= FEW_CLASSES  # else workers are likely to be fewer
    written = names_of_columns(columns, taken)
    return text_tables.without_headers(
        frame, {columns[n]: written[columns[n]] for n in ((2, 1, 0) if few else (1, 2, 0))}
    )


def names_of_columns(columns: Sequence[str], taken: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """Return the names that a header may have for task, worker and label: those of this file, then the usual ones."""
    return {
        name: (name, *taken[n : n + 1], *USUAL[role], *RARER[role])
        for n, (name, role) in enumerate(zip(columns, USUAL, strict=True))
    }

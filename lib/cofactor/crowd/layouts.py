"""Tables of labels as platforms and people write them: which column is the task, which the worker, which the label.

What was taken for what is said in one note. A table in which more than one column can be meant is refused, and the
message names them.

    layout                task                  worker                  label                    left out
    Mechanical Turk       HITId                 WorkerId                Answer.*                 rejected
    Figure Eight          _unit_id              _worker_id              X, if X_gold is there    tainted, golden
    Toloka                ASSIGNMENT:task_id    ASSIGNMENT:worker_id    OUTPUT:*                 rejected, golden
    Label Studio (CSV)    id                    annotator               what varies in a task
    one column a worker   the first column      names of the columns    cells
    counts                the first column      nobody                  names of the columns
    usual names           item, unit, ...       annotator, rater, ...   answer, response, ...
    no worker             as usual              nobody                  as usual

Golden rows become gold. Where nobody is named, each label is another worker's, so that the result is the vote.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.frames import NO_VALUE
from cofactor.core.lazy import pd

USUAL = {
    "task": (
        *("task", "task_id", "taskid", "item", "item_id", "unit", "unit_id", "question", "question_id"),
        *("example", "example_id", "document_id", "sentence_id"),
    ),
    "worker": (
        *("worker", "worker_id", "workerid", "annotator", "annotator_id", "rater", "rater_id", "coder", "judge"),
        *("user", "user_id", "labeler", "labeller", "participant", "participant_id"),
    ),
    "label": (
        *("label", "answer", "response", "annotation", "judgment", "judgement", "rating", "category", "class"),
        *("vote", "choice"),
    ),
}
IDS = ("id", "_id", "index", "doc", "doc_id", "document", "image", "text", "sentence", "url", "file", "filename")
MOST_CLASSES = 20  # distinct answers of a wide table; more are no classes
GOLD = "gold"  # attribute of a frame: class by task, where the file knows it


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
    return [str(name) for name in frame if f"{name}_gold" in frame]


def _varying(frame: pd.DataFrame) -> list[str]:
    """Columns with different cells within a task; where there is none, those that are not of the tool's own."""
    own = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time")
    free = [str(name) for name in frame if name not in own]
    several = frame.groupby("id")[free].nunique() if free else pd.DataFrame()
    return [name for name in free if (several[name] > 1).any()] or free


def _gold_of_figure_eight(frame: pd.DataFrame, label: str) -> pd.Series[Any]:
    known = frame[f"{label}_gold"] if f"{label}_gold" in frame else pd.Series(None, frame.index, dtype=object)
    return known.where(frame["_golden"].str.lower() == "true") if "_golden" in frame else known


def _gold_of_toloka(frame: pd.DataFrame, label: str) -> pd.Series[Any]:
    name = label.replace("OUTPUT:", "GOLDEN:")
    return frame[name] if name in frame else pd.Series(None, frame.index, dtype=object)


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
    for layout in LAYOUTS:
        if {layout.task, layout.worker} <= set(frame) and (layout.name != "Label Studio" or "annotation_id" in frame):
            return _of_platform(frame, layout, columns)
    return _of_people(frame, columns, whose)


def _of_platform(frame: pd.DataFrame, layout: Layout, columns: Sequence[str]) -> pd.DataFrame:
    task, worker = (
        wanted if wanted in frame else usual
        for wanted, usual in zip(columns, (layout.task, layout.worker), strict=False)
    )
    label = columns[2] if columns[2] in frame else _one_of(layout.answers(frame), layout.name, frame)
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
    found.attrs[GOLD] = known or {}
    return found


# ---- tables that people make ----


def _of_people(frame: pd.DataFrame, columns: Sequence[str], whose: str | None) -> pd.DataFrame:
    found = dict(zip(columns, (_usual(frame, *pair) for pair in zip(USUAL, columns, strict=True)), strict=True))
    task, worker, label = found.values()
    free = [str(name) for name in frame if name not in found.values()]
    task = task or (free[0] if _is_id(free, frame) else None)
    if task and not worker and not label:
        return _of_wide(frame, task, columns)
    if task and worker and label:
        return _taken(frame, dict(zip(columns, (task, worker, label), strict=True)), "columns")
    others = [name for name in free if name != task]
    if task and label and columns[1] == "worker" and not worker and not _may_be_workers(frame, others, task):
        chosen = dict(zip(columns, (task, columns[1], label), strict=True))
        if whose is not None:
            return _taken(frame.assign(**{columns[1]: whose}), chosen, f"labels of {whose}", made=columns[1:2])
        alone = frame.assign(**{columns[1]: [f"answer {n}" for n in range(1, len(frame) + 1)]})
        why = "no column says who gave which label, so each is another worker's, as in a vote"
        return _taken(alone, chosen, why, made=columns[1:2])
    return frame


def _usual(frame: pd.DataFrame, role: str, wanted: str) -> str | None:
    """Return the one column of a role: the wanted one, else, of the usual names, the only one that is there."""
    if wanted in frame:
        return wanted
    if wanted != role:  # the user named another one, which is not there
        return None
    there = [str(name) for name in frame if str(name).strip().casefold().replace(" ", "_") in USUAL[role]]
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


def _of_wide(frame: pd.DataFrame, task: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return one row a label, of a table with a row a task and a column a worker, or a column a class with counts."""
    others = [str(name) for name in frame if name != task]
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
    message = f"one column a worker: {listing(others)}; task from {task}; cells are labels"
    warnings.warn(message, DataWarning, stacklevel=6)
    return found


def _classes_of_two(cells: pd.DataFrame) -> list[str]:
    """Return the answers that occur in two columns or more, as classes do."""
    where = pd.Series([value for name in cells for value in cells[name].dropna().unique()]).value_counts()
    return [str(value) for value in where[where > 1].index]


def _are_counts(cells: pd.DataFrame) -> bool:
    """Whether cells count answers: whole numbers with the same sum, two or more, in every row."""
    if not cells.notna().to_numpy().all() or not cells.map(str.isdigit).to_numpy().all():
        return False
    counts = cells.astype(int).to_numpy()
    total = counts.sum(axis=1)
    return bool((total == total[0]).all() and total[0] > 1 and counts.max() > 1)


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


# ---- cells ----


def leaf(cell: Any) -> Any:
    """Return the one answer of a cell that holds JSON; any other cell as it is.

    >>> leaf('[{"sentiment": {"label": "neg"}}]'), leaf('{"yes": true, "no": false}'), leaf("pos")
    ('neg', 'yes', 'pos')
    """
    if not isinstance(cell, str) or cell[:1] not in ("[", "{"):
        return cell
    try:
        found = list(_leaves(json.loads(cell)))
    except ValueError:
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


def without_headers(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Leave out rows that repeat the header, as in two files one after the other, and say so."""
    again = (frame[list(columns)] == list(columns)).all(axis=1)
    if again.any():
        message = f"{again.sum()} rows repeat the header and are left out: two files one after the other?"
        warnings.warn(message, DataWarning, stacklevel=4)
    return frame[~again]

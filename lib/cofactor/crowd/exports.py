"""Exports of annotation tools: from tasks that hold annotations to one row per label.

Label Studio ("JSON"): a list of tasks, each with ``data`` and ``annotations``; an annotation has ``completed_by`` and
``result``, a list of which the answer to a question of choices is ``{"type": "choices", "from_name": question,
"value": {"choices": [class]}}``.

Prodigy (``db-out``): a line per answer, with ``_input_hash`` (of what was shown), ``_task_hash`` (of what was asked),
``_annotator_id`` or ``_session_id``, ``answer`` (accept, reject or ignore), and ``accept`` where one of several options
was chosen.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.frames import SCOPE, Record
from cofactor.core.lazy import pd

Answer = tuple[object, Any, Any, Any]  # number or id of the answer, task, worker, label
TIME = "updated_at"  # an annotation that was changed is as old as its last change
SHAPES = ("spans", "relations", "audio_spans")
FREE = ("relations", "text_input", "dep", "spans")  # views of Prodigy without one class per task, besides *_manual


def unfold(records: Sequence[Record], columns: Sequence[str]) -> pd.DataFrame | None:
    """Return task, worker and label of an export, one row per label; None if the records are no export.

    Parameters
    ----------
    records : list of dict
        As JSON holds them.
    columns : (task, worker, label)
        Names of the columns wanted. Names other than "task", "worker" and "label" choose other fields. Label Studio:
        a field of a task's ``data``, one of the annotation, the question (``from_name``) where there are several.
        Prodigy: fields of the line.

    Raises
    ------
    CofactorError
        The answers are no single classes, several questions were asked, or the structure is another one.

    Warns
    -----
    DataWarning
        Answers that were skipped, cancelled or ignored are passed over.
    """
    first = records[0]
    if isinstance(first.get("annotations", first.get("completions")), list):
        name, read = "Label Studio", _label_studio
    elif "answer" in first and ("_task_hash" in first or "_input_hash" in first):
        name, read = "Prodigy", _prodigy
    else:
        return None
    try:
        answers, passed = read(records, *columns)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise CofactorError(f"an export of {name}, but of no known structure: {error!r}") from None
    if passed:
        found = listing(f"{count} {what}" for what, count in passed.items())
        warnings.warn(f"export of {name}: {found} passed over", DataWarning, stacklevel=2)
    if not answers:
        raise CofactorError(f"export of {name}: no answer is left that names one class; {SCOPE}")
    numbers, *cells = zip(*answers, strict=True)
    index = pd.Index(numbers, dtype=object, name="line" if name == "Prodigy" else "annotation")
    texts = {
        column: [cell if cell is None or isinstance(cell, list | dict) else str(cell) for cell in values]
        for column, values in zip(columns, cells, strict=True)
    }
    return pd.DataFrame(texts, index=index, dtype=object)


def _label_studio(records: Sequence[Record], task: str, worker: str, label: str) -> tuple[list[Answer], Counter[str]]:
    answers: list[Answer] = []
    passed: Counter[str] = Counter()
    questions: dict[str, None] = {}
    for record in records:
        name = record["id"] if task == "task" else record["data"][task]
        given_first = record["annotations" if "annotations" in record else "completions"]
        for annotation in sorted(given_first, key=lambda one: str(one.get(TIME) or "")):
            if annotation.get("was_cancelled"):
                passed["cancelled annotations"] += 1
                continue
            given = [r for r in annotation["result"] if r["type"] == "choices" and label in ("label", r["from_name"])]
            passed.update(f"results of type {r['type']}" for r in annotation["result"] if r["type"] != "choices")
            questions.update(dict.fromkeys(r["from_name"] for r in given))
            _refuse_several_questions(questions)
            chosen = [choice for r in given for choice in r["value"]["choices"]]
            if len(chosen) == 1:
                answers.append((annotation.get("id"), name, _annotator(annotation, worker), chosen[0]))
            elif chosen:
                raise CofactorError(f"task {name} has {len(chosen)} choices in one annotation: {SCOPE}")
            else:
                passed["annotations without a choice"] += 1
    return answers, passed


def _refuse_several_questions(questions: dict[str, None]) -> None:
    if len(questions) > 1:
        example = next(iter(questions))
        raise CofactorError(f"several questions were asked ({listing(questions)}): name one, such as label='{example}'")


def _annotator(annotation: Record, worker: str) -> Any:
    found = annotation.get("completed_by" if worker == "worker" else worker)
    return found.get("email") or found.get("id") if isinstance(found, dict) else found


def _prodigy(records: Sequence[Record], task: str, worker: str, label: str) -> tuple[list[Answer], Counter[str]]:
    answers: list[Answer] = []
    passed: Counter[str] = Counter()
    for number, record in enumerate(records, 1):
        if _is_free(record):
            raise CofactorError(f"line {number} is a {record.get('_view_id', 'span')} answer of Prodigy: {SCOPE}")
        options = "accept" in record or "options" in record
        if record["answer"] == "ignore" or (options and record["answer"] == "reject"):
            passed[f"answers '{record['answer']}'"] += 1
            continue
        chosen = record.get("accept", []) if options else [record["answer"]]
        if label != "label":
            chosen = [record[label]]
        if len(chosen) > 1:
            raise CofactorError(f"line {number} accepts {len(chosen)} options: {SCOPE}")
        if not chosen:
            passed["answers without an option"] += 1
            continue
        usual = record.get("_input_hash" if options else "_task_hash", record.get("_input_hash"))
        who = record.get("_annotator_id") or record.get("_session_id")
        name, who = usual if task == "task" else record[task], who if worker == "worker" else record[worker]
        answers.append((number, name, who, chosen[0]))
    return answers, passed


def _is_free(record: Record) -> bool:
    """Whether an answer marks regions or is free text, instead of choosing a class."""
    if "accept" in record or "options" in record:
        return False
    view = str(record.get("_view_id", ""))
    marked = not view and "label" not in record and any(record.get(shape) for shape in SHAPES)
    return view.endswith("_manual") or view in FREE or marked

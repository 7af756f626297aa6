"""Exports of annotation tools: from tasks that hold annotations to one row per label.

Label Studio ("JSON"): a list of tasks, each with ``data`` and ``annotations``; an annotation has ``completed_by`` and
``result``, a list of which the answer to a question of choices is ``{"type": "choices", "from_name": question,
"value": {"choices": [class]}}``.

Prodigy (``db-out``): a line per answer, with ``_input_hash`` (of what was shown), ``_task_hash`` (of what was asked),
``_annotator_id`` or ``_session_id``, ``answer`` (accept, reject or ignore), and ``accept`` where one of several options
was chosen.

Argilla: records with ``responses``, a list of answers with ``user_id``, ``values`` and ``status``, or an object of such
lists by question; only submitted ones count. Suggestions are passed over.

Labelling jobs (the input of a consolidation): objects with ``datasetObjectId`` and ``annotations``, each with
``workerId`` and ``annotationData``, whose content is JSON with one answer.

Lists: records with two lists of one length, one of workers and one of their labels.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.frames import SCOPE
from cofactor.core.json_tables import Record
from cofactor.core.lazy import pd
from cofactor.crowd.layouts import leaf
from cofactor.crowd.usual_names import GOLD, USUAL

Answer = tuple[object, Any, Any, Any]  # number or id of the answer, task, worker, label
TIME = "updated_at"  # an annotation that was changed is as old as its last change
ONE = ("choices", "rating", "number")  # types of results that are one answer
TRUTH = object()  # the worker of an annotation that is ground truth
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
        Answers that were skipped, cancelled or ignored are passed over. Of Label Studio, annotations that are ground
        truth are no labels: `attrs["gold"]` has the class by task.
    """
    first = records[0]
    if "datasetObjectId" in first and isinstance(first.get("annotations"), list):
        name, read = "a labelling job", _labelling_job
    elif isinstance(first.get("responses"), list | dict):
        name, read = "Argilla", _argilla
    elif _lists(first):
        name, read = "lists of labels", _of_lists
    elif _nested(first):
        name, read = "objects with a list of answers", _of_nested
    elif len(records) == 1 and _is_by_task(first):
        name, read = "labels by task and worker", _by_task
    elif isinstance(first.get("annotations", first.get("completions")), list):
        name, read = "Label Studio", _label_studio
    elif "answer" in first and ("_task_hash" in first or "_input_hash" in first):
        name, read = "Prodigy", _prodigy
    else:
        _unwrap(records, columns[2])
        return None
    try:
        answers, passed = read(records, *columns)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise CofactorError(f"an export of {name}, but of no known structure: {error!r}") from None
    known = {str(task): str(label) for _, task, worker, label in answers if worker is TRUTH}
    answers = [answer for answer in answers if answer[2] is not TRUTH]
    if known:
        message = f"export of {name}: annotations of {len(known)} tasks are ground truth, and taken for gold"
        warnings.warn(message, DataWarning, stacklevel=2)
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
    frame = pd.DataFrame(texts, index=index, dtype=object)
    frame.attrs[GOLD] = known
    return frame


def _unwrap(records: Sequence[Record], label: str) -> None:
    """Take the one answer out of lists of one, as doccano writes them; longer ones are refused later."""
    if all(isinstance(record.get(label), list) and len(record[label]) <= 1 for record in records):
        for record in records:
            record[label] = record[label][0] if record[label] else None


def _label_studio(records: Sequence[Record], task: str, worker: str, label: str) -> tuple[list[Answer], Counter[str]]:
    answers: list[Answer] = []
    passed: Counter[str] = Counter()
    questions: dict[str, None] = {}
    for record in records:
        if task == "task" and "id" not in record:
            fields = listing(record.get("data", {}))
            raise CofactorError(f"tasks without an id: export with ids, or name a field of data as task= ({fields})")
        name = record["id"] if task == "task" else record["data"][task]
        given_first = record["annotations" if "annotations" in record else "completions"]
        for annotation in sorted(given_first, key=lambda one: str(one.get(TIME) or "")):
            if annotation.get("was_cancelled"):
                passed["cancelled annotations"] += 1
                continue
            given = [r for r in annotation["result"] if r["type"] in ONE and label in ("label", r["from_name"])]
            passed.update(f"results of type {r['type']}" for r in annotation["result"] if r["type"] not in ONE)
            questions.update(dict.fromkeys(r["from_name"] for r in given))
            _refuse_several_questions(questions)
            chosen = [choice for r in given for choice in _chosen(r)]
            if len(chosen) == 1:
                who = TRUTH if annotation.get("ground_truth") else _annotator(annotation, worker)
                answers.append((annotation.get("id"), name, who, chosen[0]))
            elif chosen:
                raise CofactorError(f"task {name} has {len(chosen)} choices in one annotation: {SCOPE}")
            else:
                passed["annotations without a choice"] += 1
    return answers, passed


def _chosen(result: Record) -> list[Any]:
    value = result["value"]
    return value["choices"] if result["type"] == "choices" else [value[result["type"]]]


def _refuse_several_questions(questions: dict[str, None]) -> None:
    if len(questions) > 1:
        example = next(iter(questions))
        raise CofactorError(f"several questions were asked ({listing(questions)}): name one, such as label='{example}'")


def _annotator(annotation: Record, worker: str) -> Any:
    found = annotation.get("completed_by" if worker == "worker" else worker)
    return found.get("email") or found.get("id") if isinstance(found, dict) else found


def _argilla(records: Sequence[Record], task: str, worker: str, label: str) -> tuple[list[Answer], Counter[str]]:
    answers: list[Answer] = []
    passed: Counter[str] = Counter()
    questions: dict[str, None] = {}
    for number, record in enumerate(records, 1):
        name = record[task] if task in record else record.get("id", number)
        for question, who, value, status in _responses(record["responses"], worker):
            if label not in ("label", question):
                continue
            questions[question] = None
            if status not in (None, "submitted"):
                passed[f"responses '{status}'"] += 1
            elif isinstance(value, list):
                raise CofactorError(f"record {name} has several answers in one response: {SCOPE}")
            else:
                answers.append((number, name, who, value))
    _refuse_several_questions(questions)
    return answers, passed


def _responses(responses: Any, worker: str) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield question, worker, answer and status of every response, in the older form and in the newer one."""
    who = "user_id" if worker == "worker" else worker
    if isinstance(responses, dict):
        for question, given in responses.items():
            yield from ((question, one.get(who), one.get("value"), one.get("status")) for one in given)
        return
    for one in responses:
        for question, answer in (one.get("values") or {}).items():
            yield question, one.get(who), answer["value"], one.get("status")


def _labelling_job(records: Sequence[Record], task: str, worker: str, label: str) -> tuple[list[Answer], Counter[str]]:
    answers: list[Answer] = []
    for record in records:
        for annotation in record["annotations"]:
            said = leaf(annotation["annotationData"]["content"])
            if isinstance(said, str) and said[:1] in ("{", "["):
                raise CofactorError(f"object {record['datasetObjectId']} has several answers by one worker: {SCOPE}")
            answers.append((record["datasetObjectId"], record["datasetObjectId"], annotation["workerId"], said))
    return answers, Counter()


def _lists(record: Record) -> tuple[str, str] | None:
    """Return the names of two lists of one length, of workers and of labels."""
    lists = {key: len(value) for key, value in record.items() if isinstance(value, list) and value}
    whose = [key for key in lists if key.casefold().rstrip("s") in USUAL["worker"]]
    what = [key for key in lists if key.casefold().rstrip("s") in USUAL["label"]]
    return (whose[0], what[0]) if len(whose) == len(what) == 1 and lists[whose[0]] == lists[what[0]] else None


def _of_lists(records: Sequence[Record], task: str, worker: str, label: str) -> tuple[list[Answer], Counter[str]]:
    answers: list[Answer] = []
    names = _lists(records[0])
    assert names is not None
    message = f"lists of one length: worker from {names[0]}, label from {names[1]}, task from {task}, or else id"
    warnings.warn(message, DataWarning, stacklevel=3)
    for number, record in enumerate(records, 1):
        workers, labels = record[names[0]], record[names[1]]
        if len(workers) != len(labels):
            raise CofactorError(f"record {number} has {len(workers)} {names[0]} and {len(labels)} {names[1]}")
        name = record[task] if task in record else record.get("id", number)
        answers += [(number, name, *pair) for pair in zip(workers, labels, strict=True)]
    return answers, Counter()


def _nested(record: Record) -> tuple[str, str, str] | None:
    """Return the names of a list of flat objects, and in these of the worker and of the label."""
    lists = {key: value[0] for key, value in record.items() if isinstance(value, list) and value}
    lists = {key: one for key, one in lists.items() if isinstance(one, dict)}
    for key, one in lists.items():
        scalars = [name for name, value in one.items() if not isinstance(value, list | dict)]
        worker = [name for name in scalars if name.casefold() in USUAL["worker"]]
        label = [name for name in scalars if name.casefold() in USUAL["label"]]
        if len(worker) == len(label) == 1:
            return key, worker[0], label[0]
    return None


def _of_nested(records: Sequence[Record], task: str, worker: str, label: str) -> tuple[list[Answer], Counter[str]]:
    answers: list[Answer] = []
    names = _nested(records[0])
    assert names is not None
    whose, what = (names[1] if worker == "worker" else worker), (names[2] if label == "label" else label)
    message = f"answers in the list {names[0]}: worker from {whose}, label from {what}, task from {task}, or else id"
    warnings.warn(message, DataWarning, stacklevel=3)
    for number, record in enumerate(records, 1):
        name = record[task] if task in record else record.get("id", number)
        answers += [(number, name, one[whose], one[what]) for one in record.get(names[0]) or []]
    return answers, Counter()


def _is_by_task(record: Record) -> bool:
    """Whether an object has, by task, objects that have a label by worker."""
    inner = list(record.values())
    flat = all(isinstance(one, dict) and one for one in inner)
    return len(inner) > 1 and flat and not any(isinstance(x, list | dict) for one in inner for x in one.values())


def _by_task(records: Sequence[Record], task: str, worker: str, label: str) -> tuple[list[Answer], Counter[str]]:
    warnings.warn("an object by task, of labels by worker", DataWarning, stacklevel=3)
    each = enumerate(records[0].items(), 1)
    return [(number, name, who, said) for number, (name, one) in each for who, said in one.items()], Counter()


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

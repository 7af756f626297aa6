"""Read JSON: tables of objects, and exports of annotation tools as one row per label.

A table is an array of objects, one object per line, or one object that contains all rows or all columns.

Label Studio ("JSON"): a list of tasks, each with ``data`` and ``annotations``; an annotation has ``completed_by`` and
``result``, a list in which the answer to a multiple-choice question is ``{"type": "choices", "from_name": question,
"value": {"choices": [class]}}``.

Prodigy (``db-out``): one line per answer, with ``_input_hash`` (of what was shown), ``_task_hash`` (of what was asked),
``_annotator_id`` or ``_session_id``, ``answer`` (accept, reject or ignore), and ``accept`` if one of several options
was chosen.

Argilla: records with ``responses``, a list of answers with ``user_id``, ``values`` and ``status``, or an object that
maps each question to such a list; only submitted answers count, and suggestions are ignored.

Labelling jobs of SageMaker (input of a consolidation): objects with ``datasetObjectId`` and ``annotations``, each with
``workerId`` and ``annotationData``, whose content is JSON with one answer.

Lists: records with two lists of equal length, one of workers and one of their labels.
"""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from cofactor.core.cells import numbered_rows, plain_name
from cofactor.core.errors import CofactorError, DataWarning, amount, listing
from cofactor.core.files import from_json
from cofactor.core.lazy import pd

SCOPE = "each answer must be a single class, not several classes, free text or marked regions"
Record = dict[str, Any]
Unfold = Callable[[list[Record]], "pd.DataFrame | None"]  # from objects within objects to a table
Answer = tuple[object, Any, Any, Any]  # number or id of the answer, task, worker, label
TIME = "updated_at"  # an annotation that was changed is as old as its last change
ONE = ("choices", "rating", "number", "pairwise")  # types of results that are one answer
TRUTH = object()  # the worker of an annotation that is ground truth
SHAPES = ("spans", "relations", "audio_spans")
FREE = ("relations", "text_input", "dep", "spans")  # views of Prodigy without one class per task, besides *_manual

# names that people and tools give to the columns of a table of labels
USUAL = {
    "task": (
        *("task", "task_id", "taskid", "item", "item_id", "unit", "unit_id", "question", "question_id"),
        *("example", "example_id", "document_id", "sentence_id", "instance_id", "subject_id", "uid", "pair_id"),
    ),
    "worker": (
        *("worker", "worker_id", "workerid", "annotator", "annotator_id", "rater", "rater_id", "coder", "judge"),
        *("user", "user_id", "labeler", "labeller", "participant", "participant_id", "performer", "performer_id"),
    ),
    "label": (
        *("label", "answer", "response", "annotation", "judgment", "judgement", "rating", "category", "class"),
        *("vote", "choice"),
    ),
}
RARER = {  # looked for where all three are found so, beside those above
    "task": (
        *("image_url", "image", "image_id", "sample", "sample_id", "document", "doc", "doc_id", "text_id", "url", "id"),
        *("conversation_id", "prompt_id", "row_id", "record_id", "post_id", "tweet_id", "case", "case_id", "object_id"),
        *("clip", "clip_id", "video", "video_id", "audio_id", "passage_id", "statement", "statement_id", "text"),
    ),
    "worker": (
        *(
            "llm",
            "model",
            "grader",
            "grader_id",
            "expert",
            "expert_id",
            "reviewer",
            "reviewer_id",
            "evaluator",
            "reader",
        ),
        *("evaluator_id", "judge_id", "coder_id", "labeler_id", "contributor", "contributor_id", "turker", "turker_id"),
        *("crowdworker", "respondent", "respondent_id", "radiologist", "physician", "person"),
    ),
    "label": (
        *(
            "verdict",
            "score",
            "code",
            "grade",
            "decision",
            "value",
            "selected",
            "selection",
            "tag",
            "diagnosis",
            "output",
        ),
        *("prediction", "annotated_label", "label_name", "class_name", "stance", "sentiment"),
    ),
}
KNOWN = ("gold", "gold_label", "truth", "true_label", "ground_truth")  # in a wide table, columns of what is right
AGREED = ("majority", "majority_label", "consensus", "final", "adjudicated", "aggregated")  # no worker's answers
COUNTED = ("count", "counts", "n", "votes", "n_votes", "frequency", "freq")
IDS = ("id", "_id", "index", "doc", "doc_id", "document", "image", "text", "sentence", "url", "file", "filename")
EXAMPLES = {  # of records whose columns may have any name, by what a row is
    "document": '{"id": 1, "text": "two words"}, or a text',
    "case": '{"sex": "f", "vote": "yes"}',
    "band": '{"a": 1, "b": 2}, or [1, 2]',
}
GOLD = "gold"  # attribute of a frame: class by task, where the file knows it


def read_json(
    text: str,
    columns: Sequence[str],
    unfold: Unfold | None,
    pairs: tuple[str, str] | None = None,
    row: str = "label",
) -> pd.DataFrame:
    """Parse JSON text as a table, keeping numbers as they are written.

    Parameters
    ----------
    text : str
    columns : wanted names, by which an object that contains the whole table is recognised
    unfold, pairs, row
        As in `cofactor.reading.tables.read_frame`. Documents may be texts, and rows of numbers lists.

    Raises a ValueError if the text is not JSON, an object has a duplicate key, or records are not objects.
    """
    word = "line" if text.lstrip().startswith("{") else "record"
    numbered = _lines(text) if word == "line" else list(enumerate(_parsed(text), 1))
    if len(numbered) == 1 and isinstance(numbered[0][1], dict):
        whole = _table_within(numbered[0][1], {plain_name(name) for name in columns}, row in EXAMPLES)
        if whole is not None:
            numbered, word = list(enumerate(whole, 1)), "record"
    if pairs and all(isinstance(record, list) and len(record) == len(pairs) for _, record in numbered):
        numbered = [(number, dict(zip(pairs, record, strict=True))) for number, record in numbered]
    if row == "document" and all(isinstance(record, str | None) for _, record in numbered):
        numbered = [(number, {"text": record}) for number, record in numbered]
    if row == "band" and numbered and all(isinstance(record, list) for _, record in numbered):
        numbered = _of_lists_of_numbers(numbered)
    _check_objects(numbered, word, pairs, row)
    records = [record for _, record in numbered]
    unfolded = unfold(records) if unfold else None
    if unfolded is not None:
        return unfolded
    frame = pd.DataFrame(records, index=pd.Index([number for number, _ in numbered], name=word), dtype=object)
    return frame.map(lambda cell: str(cell) if isinstance(cell, bool) else cell)


def _of_lists_of_numbers(numbered: Sequence[tuple[int, Any]]) -> list[tuple[int, Any]]:
    width = len(numbered[0][1])
    if bad := [f"{number} ({len(cells)})" for number, cells in numbered if len(cells) != width]:
        raise ValueError(
            f"lists of {width} numbers are expected, as in the first one; see {numbered_rows(bad, 'record')}"
        )
    return [(number, {str(n): cell for n, cell in enumerate(cells)}) for number, cells in numbered]


def _check_objects(numbered: Sequence[tuple[int, Any]], word: str, pairs: tuple[str, str] | None, row: str) -> None:
    bad = [number for number, record in numbered if not isinstance(record, dict)]
    if bad or not numbered:
        found = f"see {numbered_rows(bad, word)}" if bad else "there is none"
        example = EXAMPLES.get(row, '{"task": 1, "worker": "w", "label": "x"}')
        if pairs:
            example = f'{{"{pairs[0]}": "x", "{pairs[1]}": "y"}}, or ["x", "y"]'
        raise ValueError(f"every {word} must be an object, for example {example}; {found}")


def _lines(text: str) -> list[tuple[int, Any]]:
    """Parse one object per line, or one object over several lines."""
    found: list[tuple[int, Any]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                found.append((number, _parsed(line)))
            except json.JSONDecodeError as error:
                if not found:
                    with suppress(ValueError):
                        return [(1, _parsed(text))]
                raise ValueError(f"line {number}: {error.msg} (column {error.colno})") from None
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
    return found


def _parsed(text: str) -> Any:
    """Parse JSON with numbers as written, so that 1.0 and 10^30 are unchanged; NaN is missing."""
    found = from_json(
        text, parse_int=str, parse_float=str, parse_constant=lambda _: None, object_pairs_hook=_each_key_once
    )
    if "\\ud" in text.lower():  # halves of characters that were written as two escapes; alone they are no text
        half = re.search("[\ud800-\udfff]", json.dumps(found, ensure_ascii=False))
        if half:
            raise ValueError(f"the text contains half of a surrogate pair, {ascii(half[0])[1:-1]}: remove it")
    if re.search(r"(?<!\\)(\\\\)*\\u0000", text):
        raise ValueError("the text contains a zero character, \\u0000: remove it")
    return found


def _each_key_once(pairs: list[tuple[str, Any]]) -> Record:
    """Refuse an object with a duplicate key, since it is unclear which of the two is meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = [repr(name) for name in found if names.count(name) > 1]
        raise ValueError(f"an object has duplicate keys ({listing(twice)}): keep one of each")
    return found


def _table_within(record: Record, wanted: set[str], any_columns: bool) -> list[Any] | None:
    """Return the rows of an object that contains all of them; None if it does not.

    If no columns are wanted and there may be any, they are lists of the same length, or objects with the same numbers.

    Forms: rows in a list under one key; rows by their number or name; lists, or objects, of cells by column; a list of
    the columns' names and one of the rows' cells.
    """
    if not wanted:
        if not any_columns or not all(isinstance(one, list | dict) for one in record.values()):
            return None
        rows = {tuple(map(str, range(len(one)))) if isinstance(one, list) else (*one,) for one in record.values()}
        return _of_columns(record) if len(rows) == 1 and rows == {tuple(map(str, range(len(*rows))))} else None

    def is_row(thing: Any) -> bool:
        return isinstance(thing, dict) and wanted <= set(map(plain_name, thing))

    lists = [value for value in record.values() if isinstance(value, list) and value and all(map(is_row, value))]
    if len(lists) == 1 and not wanted & set(map(plain_name, record)):
        return lists[0]
    if record and all(map(is_row, record.values())):
        return list(record.values())
    if is_row(record):
        return _of_columns(record)
    names, data = record.get("columns"), record.get("data")
    if isinstance(names, list) and isinstance(data, list) and wanted <= set(map(plain_name, names)):
        return [_of_cells(names, row, number) if isinstance(row, list) else row for number, row in enumerate(data, 1)]
    return None


def _of_cells(names: list[Any], cells: list[Any], number: int) -> Record:
    if len(cells) != len(names):
        raise ValueError(f"record {number} has {len(cells)} cells for {len(names)} columns: correct it")
    return _each_key_once(list(zip(map(str, names), cells, strict=True)))


def _of_columns(record: Record) -> list[Record] | None:
    cells = list(record.values())
    if not (all(isinstance(one, dict) for one in cells) or all(isinstance(one, list) for one in cells)):
        return None
    numbers = [list(one) if isinstance(one, dict) else list(range(len(one))) for one in cells]
    if any(one != numbers[0] for one in numbers):
        raise ValueError(f"columns {listing(record)} have different rows: give all of them the same rows")
    if not numbers[0]:
        return None
    return [{name: record[name][number] for name in record} for number in numbers[0]]


# ---- exports of annotation tools ----


def unfold(records: Sequence[Record], columns: Sequence[str]) -> pd.DataFrame | None:
    """Return the tasks, workers and labels of an export, one row per label; None if the records are not an export.

    Parameters
    ----------
    records : list of dict
        As parsed from JSON.
    columns : (task, worker, label)
        Names of the wanted columns. Names other than "task", "worker" and "label" select other fields. Label Studio:
        a field of a task's ``data``, a field of the annotation, and the question (``from_name``) if there are several.
        Prodigy: fields of the line.

    Raises
    ------
    CofactorError
        Answers are not single classes, several questions were asked, or the structure is unknown.

    Warns
    -----
    DataWarning
        Skipped, cancelled and ignored answers are left out. Ground-truth annotations of Label Studio are not labels:
        `attrs["gold"]` maps their tasks to classes.
    """
    first = records[0]
    if "datasetObjectId" in first and isinstance(first.get("annotations"), list):
        name, read = "labelling job", _labelling_job
    elif isinstance(first.get("responses"), list | dict):
        name, read = "Argilla export", _argilla
    elif _lists(first):
        name, read = "lists of labels", _of_lists
    elif _nested(first):
        name, read = "lists of answers", _of_nested
    elif len(records) == 1 and _is_by_task(first):
        name, read = "labels by task and worker", _by_task
    elif isinstance(first.get("annotations", first.get("completions")), list):
        name, read = "Label Studio export", _label_studio
    elif "answer" in first and ("_task_hash" in first or "_input_hash" in first):
        name, read = "Prodigy export", _prodigy
    else:
        _unwrap(records, columns[2])
        return None
    try:
        answers, passed = read(records, *columns)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise CofactorError(f"{name}: unknown structure ({error!r})") from None
    known = {str(task): str(label) for _, task, worker, label in answers if worker is TRUTH}
    answers = [answer for answer in answers if answer[2] is not TRUTH]
    if known:
        message = f"{name}: ground-truth annotations of {amount(len(known), 'task')} are used as gold"
        warnings.warn(message, DataWarning, stacklevel=2)
    if passed:
        found = listing(what if what.startswith("task ") else f"{what} ({n})" for what, n in passed.items())
        warnings.warn(f"{name}: left out {found}", DataWarning, stacklevel=2)
    if not answers:
        raise CofactorError(f"{name}: no answer can be used; {SCOPE}")
    numbers, *cells = zip(*answers, strict=True)
    index = pd.Index(numbers, dtype=object, name="line" if read is _prodigy else "annotation")
    texts = {
        column: [cell if cell is None or isinstance(cell, list | dict) else str(cell) for cell in values]
        for column, values in zip(columns, cells, strict=True)
    }
    frame = pd.DataFrame(texts, index=index, dtype=object)
    frame.attrs[GOLD] = known
    return frame


def _unwrap(records: Sequence[Record], label: str) -> None:
    """Unwrap lists of one answer, as doccano writes them; longer lists are refused later."""
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
            raise CofactorError(
                f"tasks have no id: export them with ids, or set task to one of the data fields ({fields})"
            )
        name = record["id"] if task == "task" else record["data"][task]
        given_first = record["annotations" if "annotations" in record else "completions"]
        passed.update([] if given_first else [f"task {name} without annotations"])
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
                raise CofactorError(f"task {name} has {len(chosen)} choices in one annotation; {SCOPE}")
            else:
                passed["annotations without a choice"] += 1
    return answers, passed


def _chosen(result: Record) -> list[Any]:
    value = result["value"]
    if result["type"] == "choices":
        return list(value["choices"])
    return [value["selected" if result["type"] == "pairwise" else result["type"]]]


def _refuse_several_questions(questions: dict[str, None]) -> None:
    if len(questions) > 1:
        example = next(iter(questions))
        raise CofactorError(
            f"several questions ({listing(questions)}) were asked: choose one, such as label='{example}'"
        )


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
                raise CofactorError(f"record {name} has several answers in one response; {SCOPE}")
            else:
                answers.append((number, name, who, value))
    _refuse_several_questions(questions)
    return answers, passed


def _responses(responses: Any, worker: str) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield question, worker, answer and status of every response, in the older or the newer form."""
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
        name = record["datasetObjectId"]
        for annotation in record["annotations"]:
            answer = leaf(annotation["annotationData"]["content"])
            if isinstance(answer, str) and answer[:1] in ("{", "["):
                raise CofactorError(f"object {name} has several answers by one worker; {SCOPE}")
            answers.append((name, name, annotation["workerId"], answer))
    return answers, Counter()


def _lists(record: Record) -> tuple[str, str] | None:
    """Return the names of two lists of equal length, of workers and of labels."""
    lists = {key: len(value) for key, value in record.items() if isinstance(value, list) and value}
    whose = [key for key in lists if key.casefold().rstrip("s") in USUAL["worker"]]
    what = [key for key in lists if key.casefold().rstrip("s") in USUAL["label"]]
    return (whose[0], what[0]) if len(whose) == len(what) == 1 and lists[whose[0]] == lists[what[0]] else None


def _of_lists(records: Sequence[Record], task: str, worker: str, label: str) -> tuple[list[Answer], Counter[str]]:
    answers: list[Answer] = []
    passed: Counter[str] = Counter()
    names = _lists(records[0])
    assert names is not None
    message = f"lists of equal length: worker from {names[0]}, label from {names[1]}, task from {task}, otherwise id"
    warnings.warn(message, DataWarning, stacklevel=3)
    for number, record in enumerate(records, 1):
        workers, labels = record[names[0]] or [], record[names[1]] or []
        if len(workers) != len(labels):
            found = f"{len(workers)} {names[0]} but {len(labels)} {names[1]}"
            raise CofactorError(f"record {number} has {found}: give both lists the same length")
        name = record[task] if task in record else record.get("id", number)
        passed.update([] if labels else [f"task {name} without labels"])
        answers += [(number, name, *pair) for pair in zip(workers, labels, strict=True)]
    return answers, passed


def _nested(record: Record) -> tuple[str, str, str] | None:
    """Return the name of a list of flat objects, and their fields for worker and label."""
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
    passed: Counter[str] = Counter()
    names = _nested(records[0])
    assert names is not None
    whose, what = (names[1] if worker == "worker" else worker), (names[2] if label == "label" else label)
    message = f"answers in the list {names[0]}: worker from {whose}, label from {what}, task from {task}, otherwise id"
    warnings.warn(message, DataWarning, stacklevel=3)
    for number, record in enumerate(records, 1):
        name = record[task] if task in record else record.get("id", number)
        given = record.get(names[0]) or []
        passed.update([] if given else [f"task {name} without labels"])
        answers += [(number, name, one[whose], one[what]) for one in given]
    return answers, passed


def _is_by_task(record: Record) -> bool:
    """Whether an object maps tasks to objects that map workers to labels."""
    inner = list(record.values())
    flat = all(isinstance(one, dict) and one for one in inner)
    return len(inner) > 1 and flat and not any(isinstance(x, list | dict) for one in inner for x in one.values())


def _by_task(records: Sequence[Record], task: str, worker: str, label: str) -> tuple[list[Answer], Counter[str]]:
    warnings.warn("read as one object per task, with a label for each worker", DataWarning, stacklevel=3)
    each = enumerate(records[0].items(), 1)
    return [(number, name, who, said) for number, (name, one) in each for who, said in one.items()], Counter()


def _prodigy(records: Sequence[Record], task: str, worker: str, label: str) -> tuple[list[Answer], Counter[str]]:
    answers: list[Answer] = []
    passed: Counter[str] = Counter()
    for number, record in enumerate(records, 1):
        if _is_free(record):
            raise CofactorError(f"line {number} is a Prodigy answer of type {record.get('_view_id', 'span')}; {SCOPE}")
        options = "accept" in record or "options" in record
        if record["answer"] == "ignore" or (options and record["answer"] == "reject"):
            passed[f"answers '{record['answer']}'"] += 1
            continue
        chosen = record.get("accept", []) if options else [record["answer"]]
        if label != "label":
            chosen = [record[label]]
        if len(chosen) > 1:
            raise CofactorError(f"line {number} accepts {len(chosen)} options; {SCOPE}")
        if not chosen:
            passed["answers without an option"] += 1
            continue
        usual = record.get("_input_hash" if options else "_task_hash", record.get("_input_hash"))
        who = record.get("_annotator_id") or record.get("_session_id")
        name, who = usual if task == "task" else record[task], who if worker == "worker" else record[worker]
        answers.append((number, name, who, chosen[0]))
    return answers, passed


def _is_free(record: Record) -> bool:
    """Whether an answer marks regions or is free text instead of a class."""
    if "accept" in record or "options" in record:
        return False
    view = str(record.get("_view_id", ""))
    marked = not view and "label" not in record and any(record.get(shape) for shape in SHAPES)
    return view.endswith("_manual") or view in FREE or marked


# ---- cells ----


def leaf(cell: Any) -> Any:
    """Return the single answer in a cell of JSON; any other cell is returned unchanged.

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

"""Tables in JSON: an array of objects, one object a line, or one object that holds all rows or all columns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from cofactor.core.errors import listing
from cofactor.core.files import from_json
from cofactor.core.lazy import pd
from cofactor.core.look_alikes import plain_name

Record = dict[str, Any]
Unfold = Callable[[list[Record]], "pd.DataFrame | None"]  # from objects within objects to a table


def read_json(
    text: str, columns: Sequence[str], unfold: Unfold | None, pairs: tuple[str, str] | None = None
) -> pd.DataFrame:
    """Return the table of a text that is JSON, its numbers as they are written.

    Parameters
    ----------
    text : str
    columns : names wanted, by which an object that holds the whole table is told
    unfold, pairs
        As in `cofactor.core.frames.read_frame`.

    Raises a ValueError with the reason for what is no JSON, has a key twice in an object, or no objects.
    """
    word = "line" if text.lstrip().startswith("{") else "record"
    numbered = _lines(text) if word == "line" else list(enumerate(_parsed(text), 1))
    if len(numbered) == 1 and isinstance(numbered[0][1], dict):
        whole = _table_within(numbered[0][1], {plain_name(name) for name in columns})
        if whole is not None:
            numbered, word = list(enumerate(whole, 1)), "record"
    if pairs and all(isinstance(record, list) and len(record) == len(pairs) for _, record in numbered):
        numbered = [(number, dict(zip(pairs, record, strict=True))) for number, record in numbered]
    _check_objects(numbered, word, pairs)
    records = [record for _, record in numbered]
    unfolded = unfold(records) if unfold else None
    if unfolded is not None:
        return unfolded
    frame = pd.DataFrame(records, index=pd.Index([number for number, _ in numbered], name=word), dtype=object)
    return frame.map(lambda cell: str(cell) if isinstance(cell, bool) else cell)


def _check_objects(numbered: Sequence[tuple[int, Any]], word: str, pairs: tuple[str, str] | None) -> None:
    bad = [number for number, record in numbered if not isinstance(record, dict)]
    if bad or not numbered:
        found = f"{word}s {listing(bad)} hold none" if bad else "there is none"
        example = '{"task": 1, "worker": "w", "label": "x"}'
        if pairs:
            example = f'{{"{pairs[0]}": "x", "{pairs[1]}": "y"}}, or ["x", "y"]'
        raise ValueError(f"every {word} must be an object such as {example}, but {found}")


def _lines(text: str) -> list[tuple[int, Any]]:
    """Parse one object a line, or one object over several lines."""
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
    """Parse JSON with numbers as written, so that 1.0 and 10^30 stay what they are; NaN is missing."""
    found = from_json(
        text, parse_int=str, parse_float=str, parse_constant=lambda _: None, object_pairs_hook=_each_key_once
    )
    if "\\ud" in text.lower():  # halves of characters that were written as two escapes; alone they are no text
        _refuse_halves(json.dumps(found, ensure_ascii=False))
    if re.search(r"(?<!\\)(\\\\)*\\u0000", text):
        raise ValueError("it holds a zero character, \\u0000, which no text holds: leave it out")
    return found


def _refuse_halves(text: str) -> None:
    half = re.search("[\ud800-\udfff]", text)
    if half:
        raise ValueError(f"it holds half a character, {ascii(half[0])[1:-1]}, which is no text: leave it out")


def _each_key_once(pairs: list[tuple[str, Any]]) -> Record:
    """Refuse an object with one key twice: which of the two is meant, is not said."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = [repr(name) for name in found if names.count(name) > 1]
        raise ValueError(f"an object has {listing(twice)} twice: keep one of them")
    return found


def _table_within(record: Record, wanted: set[str]) -> list[Any] | None:
    """Return the rows of an object that holds all of them; None where it does not.

    Forms: rows in a list under one key; rows by their number or name; lists, or objects, of cells by column; a list of
    the columns' names and one of the rows' cells.
    """
    if not wanted:
        return None

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
        raise ValueError(f"record {number} has {len(cells)} cells for {len(names)} columns: mend it")
    return _each_key_once(list(zip(map(str, names), cells, strict=True)))


def _of_columns(record: Record) -> list[Record] | None:
    cells = list(record.values())
    if not (all(isinstance(one, dict) for one in cells) or all(isinstance(one, list) for one in cells)):
        return None
    numbers = [list(one) if isinstance(one, dict) else list(range(len(one))) for one in cells]
    if any(one != numbers[0] for one in numbers):
        raise ValueError(f"columns {listing(record)} do not have the same rows: give each as many cells")
    if not numbers[0]:
        return None
    return [{name: record[name][number] for name in record} for number in numbers[0]]

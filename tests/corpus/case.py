"""What a file of the corpus is: bytes, and the labels or the sentence that should come out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

HEAD = "task,worker,label\n"
Row = tuple[str, str, str]


@dataclass
class Case:
    """One file.

    Attributes
    ----------
    name : str
        Folder, the family of what is hostile, and file.
    content : bytes
    labels : rows of task, worker, label that should come out, as text; None where the file should be refused
    error : words that the sentence of a refusal holds
    notes : words, one of which each note holds; each occurs in a note
    options : of the reader: task, worker, label, sep, encoding, conflicts, ignore, classes, merge_look_alikes
    needs : what a reader must know beyond text with named columns, see `README.md`
    """

    name: str
    content: bytes
    labels: list[Row] | None = None
    error: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


def rows(a: str = "a", w: str = "w1", yes: str = "yes", no: str = "no") -> list[Row]:
    """Four labels of two tasks by two workers; a, w and yes are what a case varies."""
    return [(a, w, yes), (a, "w2", no), ("b", w, no), ("b", "w2", no)]


DATA = rows()


def text(cells: Iterable[Sequence[str]] = DATA, sep: str = ",", end: str = "\n", head: str = HEAD) -> str:
    """Join cells as they are, under a header with the same separator and ends of lines."""
    lines = [head.strip("\n").replace(",", sep)] * bool(head) + [sep.join(row) for row in cells]
    return "".join(line + end for line in lines)


def good(
    name: str,
    content: str | bytes,
    labels: Sequence[Row] = DATA,
    *notes: str,
    needs: tuple[str, ...] = (),
    **options: Any,
) -> Case:
    """A file that can be read."""
    return Case(name, _bytes(content), list(labels), (), notes, options, needs)


def bad(
    name: str,
    content: str | bytes,
    *error: str,
    notes: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    **options: Any,
) -> Case:
    """A file that should be refused, by a sentence with these words."""
    return Case(name, _bytes(content), None, error, notes, options, needs)


def _bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode("utf8")

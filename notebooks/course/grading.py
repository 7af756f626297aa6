"""How an answer is judged: right, a known mistake, or wrong in a way that can at least be measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.types import Floats

Given = dict[str, Any]

TOLERANCE = 6e-4  # an answer rounded to three decimals is right


@dataclass(frozen=True)
class Mistake:
    """A typical wrong answer, computed from what was given, and what to say about it."""

    value: Callable[[Given], ArrayLike]
    says: str


@dataclass(frozen=True)
class Part:
    """One array of an answer: its name, how the library computes it, the mistakes that are recognised."""

    name: str
    answer: Callable[[Given], ArrayLike]
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True)
class Exercise:
    """What is given (the same every time), the parts of the answer, hints in order, and what the right answer shows."""

    given: Callable[[], Given]
    parts: tuple[Part, ...]
    hints: tuple[str, ...]
    praise: str


def grade(exercise: Exercise, answer: object) -> str:
    """Judge an answer in one line; whatever is handed in, nothing is raised."""
    if answer is None or answer is Ellipsis:
        return "not answered yet: replace the placeholder by your answer"
    answers, trouble = _split(exercise.parts, answer)
    if trouble:
        return trouble
    given = exercise.given()
    for part, value in zip(exercise.parts, answers, strict=True):
        trouble = _judge(part, value, given)
        if trouble:
            return trouble if len(exercise.parts) == 1 else f"{part.name}: {trouble}"
    return f"correct: {exercise.praise}"


def _split(parts: tuple[Part, ...], answer: object) -> tuple[Sequence[object], str]:
    """The parts of an answer, or what is wrong with their number."""
    if len(parts) == 1:
        return [answer], ""
    if isinstance(answer, tuple | list) and len(answer) == len(parts):
        return answer, ""
    names = ", ".join(part.name for part in parts)
    return [], f"not yet: give {len(parts)} arrays in this order, as a tuple: ({names})"


def _judge(part: Part, value: object, given: Given) -> str:
    """Say what is wrong with one array; nothing if it is right."""
    expected = np.asarray(part.answer(given), dtype=np.float64)
    found = _numbers(value)
    if found is None:
        return f"not yet: this is no array of numbers; expected {_shape(expected)}"
    if found.squeeze().shape != expected.shape:
        return f"not yet: expected {_shape(expected)}, got {_shape(found)}"
    found = found.reshape(expected.shape)
    if not np.isfinite(found).all():
        return "not yet: there are NaN or infinite entries; is something divided by zero, or the log of zero taken?"
    if _same(found, expected):
        return ""
    for mistake in (*part.mistakes, *_common(expected)):
        if _same(found, np.asarray(mistake.value(given), dtype=np.float64)):
            return f"not yet: {mistake.says}"
    return f"not yet: an entry is off by {np.abs(found - expected).max():.3g}; try hint(...) for a next step"


def _numbers(value: Any) -> Floats | None:
    try:
        if np.iscomplexobj(value):
            return None
        return np.asarray(value, dtype=np.float64)
    except Exception:  # a stranger's object may raise anything when asked for numbers, and a learner needs a sentence
        return None


def _shape(array: Floats) -> str:
    return "a single number" if array.ndim == 0 else f"an array of shape {array.shape}"


def _same(found: Floats, value: Floats) -> bool:
    return found.shape == value.shape and bool(np.abs(found - value).max(initial=0.0) <= TOLERANCE)


def _common(expected: Floats) -> tuple[Mistake, ...]:
    """Mistakes that any answer can have."""
    with np.errstate(divide="ignore"):
        log = np.log(np.maximum(expected, 0.0))
    return (
        Mistake(lambda _: 100 * expected, "this is in per cent; give shares between 0 and 1"),
        Mistake(lambda _: log, "these are logarithms of the answer; take exp"),
        Mistake(lambda _: expected.T, "this is transposed: rows and columns are swapped"),
    )

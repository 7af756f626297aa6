"""How an answer is judged: right, a known mistake, or wrong in a way that can at least be measured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.types import Floats

Given = dict[str, Any]

TOLERANCE = 6e-4  # an answer rounded to three decimals is right


class Part(NamedTuple):
    """One array of an answer: its name, its value, and typical wrong values by what is said of them."""

    name: str
    answer: ArrayLike
    mistakes: Mapping[str, ArrayLike]


class Exercise(ABC):
    """What is given (the same every time), how it is solved, hints in order, and what the right answer shows."""

    hints: tuple[str, ...]
    praise: str

    @abstractmethod
    def given(self) -> Given:
        """Return the data, by their names."""

    @abstractmethod
    def solve(self, *args: Any, **given: Any) -> list[Part]:
        """Return the parts of the answer; what was given comes by its names."""

    @property
    def parts(self) -> list[Part]:
        """The exercise solved."""
        return self.solve(**self.given())


def grade(exercise: Exercise, answer: object) -> str:
    """Judge an answer in one line; whatever is handed in, nothing is raised."""
    if answer is None or answer is Ellipsis:
        return "not answered yet: replace the placeholder by your answer"
    parts = exercise.parts
    answers, trouble = _split(parts, answer)
    for part, value in zip(parts, answers, strict=False):
        wrong = _judge(part, value)
        if wrong:
            return wrong if len(parts) == 1 else f"{part.name}: {wrong}"
    return trouble or f"correct: {exercise.praise}"


def _split(parts: Sequence[Part], answer: object) -> tuple[Sequence[object], str]:
    """The parts of an answer, or what is wrong with their number."""
    if len(parts) == 1:
        return [answer], ""
    if isinstance(answer, tuple | list) and len(answer) == len(parts):
        return answer, ""
    names = ", ".join(part.name for part in parts)
    return [], f"not yet: give {len(parts)} arrays in this order, as a tuple: ({names})"


def _judge(part: Part, value: object) -> str:
    """Say what is wrong with one array; nothing if it is right."""
    expected = np.asarray(part.answer, dtype=np.float64)
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
    for says, wrong in (*part.mistakes.items(), *_common(expected).items()):
        if _same(found, np.asarray(wrong, dtype=np.float64)):
            return f"not yet: {says}"
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


def _common(expected: Floats) -> dict[str, Floats]:
    """Mistakes that any answer can have."""
    with np.errstate(divide="ignore"):
        log = np.log(np.maximum(expected, 0.0))
    return {
        "this is in per cent; give shares between 0 and 1": 100 * expected,
        "these are logarithms of the answer; take exp": log,
        "this is transposed: rows and columns are swapped": expected.T,
    }

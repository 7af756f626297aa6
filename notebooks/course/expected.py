"""What the right answer to an exercise looks like: its shape, its unit and its order of magnitude, not its digits."""

from __future__ import annotations

import numpy as np

from cofactor.core.types import Floats
from course.desk import find, tell
from course.grading import FunctionExercise, Part, order_of_magnitude

Shape = tuple[int, ...]


def expects(name: str) -> None:
    """Say in a sentence what the right answer to an exercise has to be, named as for `check`.

    Of a function it also says what it takes, in the example given.

    Raises
    ------
    CofactorError
        There is no such exercise.
    """
    exercise = find(name)
    parts = "; ".join(f"{part.name} ({_size(np.shape(part.answer))}){_kind(part)}" for part in exercise.parts)
    if isinstance(exercise, FunctionExercise):
        takes = ", ".join(f"{argument} ({_size(np.shape(value))})" for argument, value in exercise.given().items())
        tell(f"your function takes {takes}\nand returns {parts}")
    else:
        tell(f"your answer: {parts}")


def _kind(part: Part) -> str:
    """Unit and order of magnitude of an answer; of whole numbers, which count or name something, the unit alone."""
    unit = f", {part.unit}" if part.unit else ""
    if np.asarray(part.answer).dtype.kind in "biu":
        return unit or ", whole numbers"
    return f"{unit} of the order of {_power(np.asarray(part.answer, dtype=np.float64))}"


def _size(shape: Shape) -> str:
    return "one number" if not shape else f"{shape[0]} numbers" if len(shape) == 1 else " × ".join(map(str, shape))


def _power(answer: Floats) -> str:
    """The order of magnitude of the largest entry, as people write it."""
    power = order_of_magnitude(answer)
    return f"{10.0**power:g}" if -3 <= power <= 4 else f"10^{power}"

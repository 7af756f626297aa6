"""What the right answer to an exercise looks like: its shape, its unit and its order of magnitude, not its digits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cofactor.core.types import Floats
from cofactor_app.plots.style import FAINT, PAPER, WIDTH, new_picture, say, styled
from course.desk import find
from course.grading import FunctionExercise, Part, order_of_magnitude

MOST_CELLS = 8  # of a row or column that are drawn
CELL = 0.22  # inches
TITLE = 0.3  # inches
WORDS = 2.4  # room for the words above the cells, in cells
LETTER, GAP = 0.29, 2  # width of a letter and the room between arrays, in cells

Shape = tuple[int, ...]


@styled
def draw_expected(name: str) -> Figure:
    """Draw the form of the right answer to an exercise, named as for `check`: empty cells, with what belongs there.

    Of a function, what it takes stands before what it returns, for the example given.

    Raises
    ------
    CofactorError
        There is no such exercise.
    """
    exercise = find(name)
    boxes = [(f"{part.name}\n{_kind(part)}", np.shape(part.answer)) for part in exercise.parts]
    begins = "Your answer should have this form"
    if isinstance(exercise, FunctionExercise):
        takes = {argument: np.shape(value) for argument, value in exercise.given().items()}
        boxes = [(f"{argument}\n{_size(shape)}", shape) for argument, shape in takes.items()] + boxes
        begins = "Your function should take and return this"
    fig = _cells(boxes, arrow=len(boxes) - len(exercise.parts))
    say(fig, begins)
    return fig


def _cells(boxes: Sequence[tuple[str, Shape]], arrow: int) -> Figure:
    """Draw arrays as empty cells in a row, and an arrow before the one at place `arrow`, if it is not the first."""
    tallest = max(_drawn(shape)[0] for _, shape in boxes)
    widths = [max(_drawn(shape)[1], LETTER * max(map(len, words.split("\n")))) + GAP for words, shape in boxes]
    fig = new_picture(WIDTH, TITLE + CELL * (WORDS + tallest + 0.5), laid_out=False)
    ax = fig.add_axes((0.01, 0, 0.98, 1 - TITLE / fig.get_figheight()))
    across = max(sum(widths), WIDTH / CELL)
    ax.set(xlim=(0, across), ylim=(tallest + 0.4, -WORDS), aspect="equal", anchor="NW")
    ax.set_axis_off()
    left = 0.1
    for place, ((words, shape), width) in enumerate(zip(boxes, widths, strict=True)):
        for row, column in np.ndindex(_drawn(shape)):
            ax.add_patch(Rectangle((left + column, row), 1, 1, fc=PAPER, ec=FAINT, lw=0.6))
        ax.text(left, -0.3, words, fontsize=8, va="bottom")
        if place == arrow > 0:
            ax.text(left - GAP / 2, tallest / 2, "→", fontsize=14, ha="center", va="center")
        left += width
    return fig


def _drawn(shape: Shape) -> tuple[int, int]:
    """Rows and columns of cells that stand for an array: a vector is a column, a number one cell."""
    rows, columns = (*(shape[-2:] if len(shape) > 1 else shape), 1, 1)[:2]
    return min(rows, MOST_CELLS), min(columns, MOST_CELLS)


def _kind(part: Part) -> str:
    """Shape, unit and order of magnitude of an answer."""
    answer = np.asarray(part.answer, dtype=np.float64)
    size = "one number" if answer.ndim == 0 else _size(answer.shape)
    return f"{size}{f', {part.unit}' if part.unit else ''}\nof the order of {_power(answer)}"


def _size(shape: Shape) -> str:
    return "" if not shape else f"{shape[0]} numbers" if len(shape) == 1 else " × ".join(map(str, shape))


def _power(answer: Floats) -> str:
    """The order of magnitude of the largest entry, as people write it."""
    power = order_of_magnitude(answer)
    return f"{10.0**power:g}" if -3 <= power <= 4 else f"10^{power}"

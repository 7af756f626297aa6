"""What the right answer to an exercise looks like: its shape, its pattern and its size, not its digits."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from cofactor.core.types import Floats
from cofactor.plots.style import BLUE, DIVERGING, FAINT, SEQUENTIAL, WIDTH, heat, new_picture, number, say, styled
from course.desk import find

MOST_TICKS = 8
HEIGHTS = (1.3, 2.1, 2.6)  # inches that a number, a vector and a matrix need
SQUARE = 3.8  # inches that a matrix is wide where there is room


@styled
def draw_expected(name: str) -> Figure:
    """Draw the right answer to an exercise, named as for `check`: a heat map of a matrix, bars of a vector or a number.

    Raises
    ------
    CofactorError
        There is no such exercise.
    """
    answers = [(part.name, np.asarray(part.answer, dtype=np.float64)) for part in find(name).parts]
    width = min(WIDTH, sum(SQUARE if answer.ndim == 2 else WIDTH for _, answer in answers))
    fig = new_picture(width, max(HEIGHTS[answer.ndim] for _, answer in answers))
    for ax, (label, answer) in zip(fig.subplots(1, len(answers), squeeze=False)[0], answers, strict=True):
        _fill(fig, ax, label, answer)
    say(fig, "Your answer should look like this: " + "; ".join(_told(*part) for part in answers))
    return fig


def _fill(fig: Figure, ax: Axes, label: str, answer: Floats) -> None:
    if answer.ndim == 2:
        _fill_matrix(fig, ax, label, answer)
    elif answer.ndim == 1:
        ax.bar(np.arange(len(answer)), answer, color=BLUE, width=0.6)
        ax.axhline(0, color=FAINT, lw=0.8)
        ax.set(xlabel="entry", ylabel=label, xticks=np.arange(len(answer)))
    else:
        ax.barh([0], [answer], color=BLUE, height=0.5)
        ax.axvline(0, color=FAINT, lw=0.8)
        ax.set(xlabel=label, yticks=[], ylim=(-0.6, 0.6))
        ax.margins(x=0.25)
        ax.xaxis.set_major_locator(MaxNLocator(5))
        ax.spines["left"].set_visible(False)


def _fill_matrix(fig: Figure, ax: Axes, label: str, answer: Floats) -> None:
    signed = bool((answer < 0).any())
    largest = float(np.abs(answer).max())
    image = heat(ax, answer, (-largest if signed else 0.0, largest), DIVERGING if signed else SEQUENTIAL)
    rows, columns = answer.shape
    ax.set(xlabel="column", ylabel="row")
    ax.set(xticks=range(min(columns, MOST_TICKS)), yticks=range(min(rows, MOST_TICKS)))
    fig.colorbar(image, ax=ax, label=label)


def _told(label: str, answer: Floats) -> str:
    """Name an answer and its shape."""
    if answer.ndim == 0:
        return f"{label}, 1 number"
    shape = f"{len(answer)} numbers" if answer.ndim == 1 else "{} × {}".format(*answer.shape)
    return f"{label}, {shape} from {number(float(answer.min().round(2)))} to {number(float(answer.max().round(2)))}"

"""The form of an answer is shown, and nothing from which its digits can be read."""

import re

import numpy as np
import pytest

from cofactor.core.errors import CofactorError
from cofactor_app.plots.style import alt_text, to_png
from course import draw_expected
from course.desk import exercises
from course.grading import FunctionExercise

EXERCISES = exercises()


def words(fig):
    (ax,) = fig.axes
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_shows_every_part_with_its_shape(name):
    said = words(draw_expected(name))
    for part in EXERCISES[name].parts:
        shape = np.shape(part.answer)
        (label,) = [text for text in said if text.startswith(f"{part.name}\n") and "of the order of" in text]
        sizes = [int(size) for size in re.findall(r"\d+", label.split("\n")[1].split(",")[0])]
        assert sizes == list(shape) or (not shape and "one number" in label)
        assert part.unit in label


@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_no_digit_of_the_answer_can_be_read(name, monkeypatch):
    """Another answer of the same shape and order of magnitude is drawn with the same bytes."""
    shown = draw_expected(name)
    exercise, rng = EXERCISES[name], np.random.default_rng(0)

    def other(part):
        answer = np.asarray(part.answer, dtype=float)
        top = 10.0 ** np.floor(np.log10(np.abs(answer).max()))
        drawn = np.asarray(rng.uniform(-1, 1, size=answer.shape) * top)
        drawn.flat[rng.integers(drawn.size)] = rng.uniform(1.01, 9.99) * top
        return part._replace(answer=drawn)

    parts = [other(part) for part in exercise.parts]
    monkeypatch.setattr(type(exercise), "parts", property(lambda _: parts))
    assert to_png(draw_expected(name)) == to_png(shown)
    assert alt_text(draw_expected(name)) == alt_text(shown)


@pytest.mark.parametrize("name", [name for name, one in EXERCISES.items() if isinstance(one, FunctionExercise)])
def test_of_a_function_the_arguments_stand_before_the_results(name):
    said = words(draw_expected(name))
    takes = [f"{argument}\n" for argument in EXERCISES[name].given()]
    assert [text.startswith(start) for text, start in zip(said, takes, strict=False)] == [True] * len(takes)
    assert said[len(takes) + 1] == "→" or said[len(takes)] == "→"


@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_all_cells_lie_within_the_picture(name):
    fig = draw_expected(name)
    (ax,) = fig.axes
    frame = fig.bbox
    for artist in (*ax.patches, *ax.texts):
        box = artist.get_window_extent()
        assert box.x0 >= frame.x0 and box.x1 <= frame.x1 and box.y0 >= frame.y0 and box.y1 <= frame.y1


def test_unknown_exercises_are_answered_with_the_known_ones():
    with pytest.raises(CofactorError, match="no exercise 'posteriour'; there are vote"):
        draw_expected("posteriour")

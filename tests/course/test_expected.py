"""The form of an answer is told, and nothing from which its digits can be read."""

import numpy as np
import pytest

from cofactor.core.errors import CofactorError
from course import expects
from course.desk import exercises
from course.grading import FunctionExercise
from tests.each import each

EXERCISES = exercises()


@pytest.fixture
def told(capsys):
    def said(name):
        expects(name)
        return " ".join(capsys.readouterr().out.split())

    return said


def test_every_part_is_told_with_its_shape_and_unit(told):
    for name, exercise in EXERCISES.items():
        said = told(name)
        for part in exercise.parts:
            shape = np.shape(part.answer)
            size = " × ".join(map(str, shape)) if len(shape) > 1 else f"{shape[0]} numbers" if shape else "one number"
            assert f"{part.name} ({size})" in said and part.unit in said, name
        if isinstance(exercise, FunctionExercise):
            assert all(f"{argument} (" in said.split(" and returns ")[0] for argument in exercise.given()), name


def test_no_digit_of_the_answer_is_told(told, monkeypatch):
    """Another answer of the same shape and order of magnitude is told in the same words."""
    rng = np.random.default_rng(0)

    def other(part):
        answer = np.asarray(part.answer)
        if answer.dtype.kind in "biu":
            return part._replace(answer=rng.integers(2, 10**6, size=answer.shape))
        top = 10.0 ** np.floor(np.log10(np.abs(answer).max()))
        drawn = np.asarray(rng.uniform(-1, 1, size=answer.shape) * top)
        drawn.flat[rng.integers(drawn.size)] = rng.uniform(1.01, 9.99) * top
        return part._replace(answer=drawn)

    for name, exercise in EXERCISES.items():
        said, parts = told(name), [other(part) for part in exercise.parts]
        with monkeypatch.context() as patched:
            patched.setattr(type(exercise), "parts", property(lambda _, parts=parts: parts))
            assert told(name) == said, name


@each("power, text", [(0.02, "0.01"), (3e-9, "10^-9"), (-250.0, "100"), (7e5, "10^5")])
def test_magnitudes_are_written_as_people_do(power, text, told, monkeypatch):
    exercise = EXERCISES["read_off"]
    parts = [exercise.parts[0]._replace(answer=np.full((2, 2), power))]
    with monkeypatch.context() as patched:
        patched.setattr(type(exercise), "parts", property(lambda _: parts))
        assert told("read_off").endswith(f"(2 × 2), probabilities of the order of {text}")


def test_unknown_exercises_are_answered_with_the_known_ones():
    with pytest.raises(CofactorError, match=r"no exercise 'posteriour'; there are .*vote"):
        expects("posteriour")

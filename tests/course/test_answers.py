"""Answers as learners give them, right ones written otherwise and wrong ones: each gets the reply that it should."""

from importlib import import_module
from pathlib import Path

import pytest

from course.desk import LETTERS, NOTEBOOKS, check, exercises_of, given
from tests.each import each

FOLDER = Path(__file__).parent / "answers"
FEWEST = 25  # of a notebook; together more than three hundred
ANSWERS = {
    path.stem: import_module(f"tests.course.answers.{path.stem}").ANSWERS for path in sorted(FOLDER.glob("nb*.py"))
}
TRIED = [
    (f"{notebook}, number {number}", *answer)
    for notebook, answers in ANSWERS.items()
    for number, answer in enumerate(answers)
]


@pytest.mark.slow
@each("place, name, reply, answer", TRIED)
def test_answer_gets_the_reply_that_it_should(place, name, reply, answer, capsys):
    check(name, answer(given(name)))
    printed = capsys.readouterr().out
    said = " ".join(printed.split())
    assert all(len(line) <= LETTERS for line in printed.splitlines())
    if reply == "correct":
        assert said.startswith("correct: ")
    else:
        assert "correct: " not in said and reply in said, said


@each("notebook", NOTEBOOKS)
def test_every_exercise_is_tried_with_right_and_wrong_answers(notebook):
    found = ANSWERS[notebook]
    assert len(found) >= FEWEST
    names = exercises_of(notebook).keys()
    assert {name for name, reply, _ in found if reply == "correct"} == names
    assert {name for name, reply, _ in found if reply != "correct"} == names


def test_three_hundred_answers_are_tried():
    assert len(TRIED) >= 300

"""A learner's seed draws what functions are tried on; without one, all is as stored."""

import json

import numpy as np
import pytest

from cofactor.core.errors import CofactorError
from course import check, checkpoint, desk, seeds
from course.checkpoints import progress
from course.desk import exercises, find
from course.grading import FunctionExercise
from course.record import HANDED_OUT, PROGRESS
from tests.each import each

FUNCTIONS = {name: one for name, one in exercises().items() if isinstance(one, FunctionExercise)}
FIXED = {"split", "model_error", "coherent"}  # of labs: everybody gets the same
DRAWN = sorted(exercises().keys() - FUNCTIONS - FIXED)  # no functions: what is given comes from the seed
LEARNERS = [f"learner {number}" for number in range(3)]


@pytest.fixture
def session(monkeypatch, tmp_path):
    """A new session in a learner's folder."""
    monkeypatch.setattr(seeds, "_chosen", {})
    monkeypatch.setattr(desk, "handed_in", {})
    monkeypatch.chdir(tmp_path)
    (tmp_path / HANDED_OUT).write_text("{}")
    return tmp_path


def tried_on(name):
    return [value for case in FUNCTIONS[name].cases() for value in case.values()]


@pytest.mark.slow
@each("name", FUNCTIONS)
def test_every_function_is_tried_on_data_of_the_seed(name, session):
    seeds._chosen.clear()
    (session / PROGRESS).unlink(missing_ok=True)  # the cases share a session
    stored, example = tried_on(name), FUNCTIONS[name].given()
    desk.seed("your name")
    assert all(map(np.array_equal, stored, tried_on(name)))
    desk.seed("Ada")
    ada = tried_on(name)
    assert [np.shape(value) for value in ada] == [np.shape(value) for value in stored]
    assert not all(map(np.array_equal, stored, ada))
    assert name == "choose" or all(
        np.array_equal(example[key], value) for key, value in FUNCTIONS[name].given().items()
    )
    desk.seed(" ADA")
    assert all(map(np.array_equal, ada, tried_on(name)))


@pytest.mark.slow
@each("seed", LEARNERS)
def test_answers_about_data_of_the_seed_get_the_same_replies_for_every_seed(seed, session):
    stored = {name: find(name).given() for name in DRAWN}
    desk.seed(seed)
    for name in DRAWN:
        exercise, given = find(name), find(name).given()
        assert not all(map(np.array_equal, stored[name].values(), given.values())), name
        right = [part.answer for part in exercise.parts]
        assert exercise.judge(right).right
        for place, part in enumerate(exercise.parts):
            for says, wrong in part.mistakes.items():
                answer = [wrong if k == place else other for k, other in enumerate(right)]
                label = f"{part.name}: " if len(right) > 1 else ""
                assert exercise.judge(answer).words == f"{label}not yet: {says}"


@pytest.mark.slow
@each("seed", LEARNERS)
def test_verdicts_are_the_same_for_every_seed(seed, session):
    """Right functions are right, and typical mistakes are told by their words."""
    desk.seed(seed)
    for name, exercise in FUNCTIONS.items():
        assert exercise.judge(exercise.right()).right, name
        for says, wrong in exercise.wrong.items():
            assert exercise.judge(wrong).words == f"not yet: {says}", name


def test_the_seed_is_kept_beside_the_copies_for_all_notebooks(session, monkeypatch, capsys):
    assert desk.seed("your name") == "your name" and not (session / PROGRESS).exists()
    assert desk.seed("  Zoë ") == "Zoë"
    check("accuracy", 0.5)
    checkpoint("nb00")
    assert json.loads((session / PROGRESS).read_text()) == {"seed": "Zoë", "nb00": [0, 3]}
    assert progress(session) == {"nb00": (0, 3)}
    monkeypatch.setattr(seeds, "_chosen", {})  # another notebook of the same learner
    assert seeds.current() == "Zoë" == desk.seed("your name") and seeds.own(3) != 3
    (session / HANDED_OUT).unlink()  # no learner's folder
    assert seeds.current() == "your name" and seeds.own(3) == 3
    assert desk.seed("Bo") == "Bo" and json.loads((session / PROGRESS).read_text())["seed"] == "Zoë"


@each("broken", ["{", "[1]", '{"seed": 3}', '{"seed": ""}', '{"seed": null, "nb00": [1, 3]}', "\x00"])
def test_a_broken_record_has_no_seed(broken, session):
    (session / PROGRESS).write_text(broken)
    assert seeds.current() == "your name"


@each("seed", ["", "  ", None, 7, ["Ada"]])
def test_a_seed_that_is_no_name_is_refused(seed, session):
    with pytest.raises(CofactorError, match="must be a name in quotes"):
        desk.seed(seed)
    assert seeds.current() == "your name"

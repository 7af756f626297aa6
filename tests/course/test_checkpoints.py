"""The checkpoint is the learner's own; numbers told are held beside numbers found, for the author."""

import json
from importlib import import_module

import nbformat
import pytest

from cofactor.core.errors import CofactorError
from course import check, checkpoint, desk, hint
from course.checkpoints import HANDED_OUT, PROGRESS, progress
from tests.course.test_exercises import right, solved
from tests.notebook_parts import objectives
from tests.notebook_rules import NOTEBOOKS

# ---- what the learner has solved ----


@pytest.fixture
def learner(tmp_path, monkeypatch):
    """A new session in a folder of copies."""
    monkeypatch.setattr(desk, "handed_in", {})
    monkeypatch.setattr(desk, "hints_read", {})
    monkeypatch.setattr(desk, "shown", set())
    monkeypatch.chdir(tmp_path)
    (tmp_path / HANDED_OUT).write_text("{}")
    return tmp_path


def said(capsys, notebook="nb00"):
    capsys.readouterr()
    checkpoint(notebook)
    return capsys.readouterr().out.splitlines()


def test_only_what_the_learner_handed_in_counts(learner, capsys):
    desk.reveal("accuracy", right("accuracy"))  # a solution that was opened
    check("vote", lambda labels: labels)
    first, *rows = said(capsys)
    assert first == '0 of 3 exercises solved; begin with "vote"'
    assert [row.split()[-1] for row in rows] == ["yet"] * 3 and rows[0].startswith("objective 1: vote ")
    check("accuracy", right("accuracy"))
    hint("expected_wrong")
    hint("expected_wrong", 2)
    check("expected_wrong", right("expected_wrong"))
    first, *rows = said(capsys)
    assert first == '2 of 3 exercises solved; next is "vote"'
    assert rows[1].endswith("solved without a hint") and rows[2].endswith("solved with 2 hints")
    check("vote", solved("vote"))
    assert said(capsys)[0] == "3 of 3 exercises solved"
    check("vote", None)  # the best that was reached is kept
    assert said(capsys)[0].startswith("2 of 3") and progress(learner) == {"nb00": (3, 3)}


def test_a_lab_has_a_checkpoint_of_its_own(learner, capsys):
    check("faults", right("faults"))
    check("vote", solved("vote"))
    first, *rows = said(capsys, "lab00")
    assert first == '1 of 2 exercises solved; next is "own_file"'
    assert [row.split()[0] for row in rows] == ["faults", "own_file"]  # a lab has no objectives
    said(capsys)
    assert progress(learner) == {"lab00": (1, 2), "nb00": (1, 3)}


def test_whoever_was_shown_the_solution_has_not_solved_it(learner, capsys):
    for number in (1, 2, 3, 4):
        hint("accuracy", number)
    check("accuracy", right("accuracy"))
    first, *rows = said(capsys)
    assert first.startswith("0 of 3") and rows[1].endswith("does not count: its solution was shown")


def test_progress_is_kept_beside_copies_only_and_a_broken_file_is_none(learner, capsys):
    (learner / PROGRESS).write_text("{")
    said(capsys)
    assert json.loads((learner / PROGRESS).read_text()) == {"nb00": [0, 3]}
    for name in (HANDED_OUT, PROGRESS):
        (learner / name).unlink()
    said(capsys)
    assert not (learner / PROGRESS).exists()
    for name in ("nb99", "lab99", "lab11", "00"):
        with pytest.raises(CofactorError, match=f"unknown notebook '{name}'"):
            checkpoint(name)


def test_every_exercise_belongs_to_one_objective_or_to_the_lab():
    for path, name in zip(NOTEBOOKS, desk.NOTEBOOKS, strict=True):
        own = import_module(f"course.{name}.exercises")
        names = [*(one for names in own.OBJECTIVES for one in names), *own.LAB]
        assert sorted(names) == sorted(desk.exercises_of(name)), name
        assert len(own.OBJECTIVES) == len(objectives(nbformat.read(path, as_version=4))) == 3, name


@pytest.mark.parametrize("name", ["robust_sweep", "symnmf_step", "thin_step", "wawa_round", "pair_step", "projection"])
def test_what_follows_uses_a_right_function_whatever_the_learner_wrote(name, capsys, monkeypatch):
    own = solved(name)
    monkeypatch.setattr(desk, "handed_in", {name: own})
    assert desk.usable(name) is own and not capsys.readouterr().out
    for answer in (lambda *given: None, 3, None):
        desk.handed_in[name] = answer
        function = desk.usable(name)
        assert f'Until you solve the exercise "{name}"' in capsys.readouterr().out
        assert desk.find(name).judge(function).right
    with pytest.raises(CofactorError, match="not a function"):
        desk.usable("accuracy")

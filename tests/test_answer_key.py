"""A teacher's key has a row for each seed, with what `check` calls right there."""

import csv
import json

import nbformat
import numpy as np
import pytest

from course import seeds
from course.nb11.exercises import EXERCISES
from course.record import PROGRESS
from tools import classroom, learner
from tools.answer_key import KEY, right


def rows(folder):
    with (folder / KEY).open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_a_row_for_each_line_with_what_check_calls_right(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(seeds, "_chosen", {})
    (tmp_path / "names.txt").write_text("Ada\n\n  Zoë, B. \n", encoding="utf8")
    assert classroom.main(["--seeds", str(tmp_path / "names.txt")]) == 0
    assert "holds what is right for each seed" in capsys.readouterr().out
    found = rows(tmp_path)
    assert [(row["from"], row["seed"]) for row in found] == [("line 1", "Ada"), ("line 3", "Zoë, B.")]
    for row in found:
        seeds.choose(row["seed"])
        for name in ("copies", "constants"):
            who = np.isin(np.arange(12), [int(m) for m in row[name].split()])
            assert EXERCISES[name].judge(who).right
        assert int(row["reading"][0]) == EXERCISES["reading"].parts[1].answer
        assert float(row[row["reading"][3:-1]]) == max(float(row[name]) for name in ("vote", "model", "merged"))
    assert right("Ada")["copies"] != right("Bo")["copies"] and right("=1+1")["seed"] == "'=1+1"


@pytest.mark.slow
def test_seeds_are_found_in_what_learners_handed_in(tmp_path):
    source = nbformat.read(learner.NOTEBOOKS / "11_capstone.ipynb", as_version=4)
    for who, name in (("ann", "Ann O'Hara"), ("ben", "Ben"), ("none", None)):
        copy = learner.learner_copy(source)
        for cell in copy.cells:
            cell.source = cell.source.replace('desk.seed("your name")', f'desk.seed( "{name}" )' if name else "seed")
        (tmp_path / "submitted" / who).mkdir(parents=True)
        nbformat.write(copy, tmp_path / "submitted" / who / "11_capstone.ipynb")
    (tmp_path / "submitted" / "none" / PROGRESS).write_text(json.dumps({"seed": "Nora"}))
    (tmp_path / "submitted" / "broken.ipynb").write_text("{}")
    assert classroom.main(["--seeds", str(tmp_path / "submitted")]) == 0
    assert {row["from"].split("/")[0]: row["seed"] for row in rows(tmp_path)} == {
        "ann": "Ann O'Hara", "ben": "Ben", "none": "Nora",
    }  # fmt: skip


@pytest.mark.parametrize("content", [None, b"\xff\xfe\xfa"])
def test_what_cannot_be_read_is_said(tmp_path, content):
    if content:
        (tmp_path / "names.txt").write_bytes(content)
    assert "No seeds can be read from" in classroom.main(["--seeds", str(tmp_path / "names.txt")])
    assert not (tmp_path / KEY).exists()


def test_the_lab_tells_the_seed(tmp_path):
    assert learner.seeded(tmp_path) == []
    (tmp_path / learner.RECORD).write_text("{}")
    (tmp_path / PROGRESS).write_text(json.dumps({"seed": "Ada"}), encoding="utf8")
    assert learner.seeded(tmp_path) == ['Data of your own are drawn from the seed "Ada".']

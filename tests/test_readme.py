"""README and docs say what the kit does today: the picture is the one drawn, tables are those kept, Python runs."""

import io
import os
import re
from pathlib import Path

import matplotlib.image
import nbformat
import numpy as np
import pytest

import cofactor as cf
from evaluation.released import RELEASED
from evaluation.released.pmf import CLASSIFIERS
from tools.draw_overview import PICTURE, picture

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.S)


@pytest.mark.skipif("COFACTOR_VERSIONS" in os.environ, reason="other versions of matplotlib draw a little differently")
def test_picture_is_current():
    drawn = matplotlib.image.imread(io.BytesIO(picture()))
    stored = matplotlib.image.imread(PICTURE)
    assert drawn.shape == stored.shape
    assert np.abs(drawn - stored).mean() < 1e-3, "python tools/draw_overview.py"


def test_methods_are_where_it_says():
    text = " ".join((ROOT / "docs" / "commands.md").read_text(encoding="utf8").split())
    named = re.search(r"for crowds among them (.*?), and with the extra `deep` (.*?) and (.*?)\. Forms", text)
    assert {name for part in named.groups() for name in part.split(", ")} <= set(cf.crowd.METHODS)
    assert "the choices of the released code, PG-TAC and CRIAV as reconstructed" in text
    assert {"PG-TAC", "CRIAV"} <= set(RELEASED["crowd"]) - set(cf.crowd.METHODS)
    assert all(hasattr(cf.pmf.RECOMMENDERS[name], "fit") for name in ("GlobalAverage", "UserAverage", "BMF"))
    assert all(name in CLASSIFIERS for name in ("SVM", "LogReg", "NaiveBayes"))


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python_runs_as_written(code, tmp_path, monkeypatch):
    cf.load("bluebird").labels.to_frame().to_csv(tmp_path / "labels.csv", index=False)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {"cf": cf})


def test_first_screen_has_picture_commands_and_notebooks():
    assert len(README.encode()) <= 9_000
    in_order = [
        "overview.png",
        "kit.py lab",
        "kit.py test",
        *(path.name for path in sorted((ROOT / "notebooks").glob("*.ipynb"))),
    ]
    places = [README.find(word) for word in in_order]
    assert places == sorted(places) and min(places) >= 0 and places[-1] < 3_700
    for path in re.findall(r"\]\(([\w./]+\.\w+)\)", README):
        assert (ROOT / path).exists(), path


def minutes_told(text):
    """Minutes that a table tells, by the name of the notebook."""
    return {name: int(minutes) for name, minutes in re.findall(r"notebooks/(\S+\.ipynb)\) \| (\d+) \|", text)}


def test_minutes_of_the_notebooks_are_those_on_their_first_page():
    stored = sorted((ROOT / "notebooks").glob("*.ipynb"))
    first = [nbformat.read(path, as_version=4).cells[0].source for path in stored]
    own = [int(re.search(r"^\*\*(\d+) minutes", text, re.MULTILINE)[1]) for text in first]
    course = (ROOT / "docs" / "classroom.md").read_text(encoding="utf8")
    assert minutes_told(README) == minutes_told(course) == {path.name: n for path, n in zip(stored, own, strict=True)}
    assert f"Notebooks 00 to 10 take {sum(own[:-1])} minutes" in README
    assert f"Notebooks 00 to 10 take {sum(own[:-1])} minutes" in course

"""The README says what the kit does today: its picture is the one drawn, its Python runs."""

import io
import os
import re
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

import cofactor as cf
from evaluation.released import RELEASED
from evaluation.released.pmf import CLASSIFIERS
from tools import readme_tables
from tools.draw_overview import PICTURE, picture

PYTHON = re.findall(r"```python\n(.*?)```", (Path(__file__).parents[1] / "README.md").read_text(encoding="utf8"), re.S)


@pytest.mark.skipif("COFACTOR_VERSIONS" in os.environ, reason="other versions of matplotlib draw a little differently")
def test_picture_is_current():
    drawn = matplotlib.image.imread(io.BytesIO(picture()))
    stored = matplotlib.image.imread(PICTURE)
    assert drawn.shape == stored.shape
    assert np.abs(drawn - stored).mean() < 1e-3, "python tools/draw_overview.py"


def test_tables_are_those_of_the_kept_results():
    text = readme_tables.README.read_text(encoding="utf8")
    assert text == readme_tables.written(text), "python tools/readme_tables.py"


def test_methods_are_where_it_says():
    text = " ".join(readme_tables.README.read_text(encoding="utf8").split())
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

"""The README says what the kit does today: its picture is the one drawn, its Python runs."""

import io
import os
import re
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

import cofactor as cf
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


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python_runs_as_written(code, tmp_path, monkeypatch):
    cf.load("bluebird").labels.to_frame().to_csv(tmp_path / "labels.csv", index=False)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {"cf": cf})

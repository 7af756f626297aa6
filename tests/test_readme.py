"""README: every block runs as printed in a clean folder, links and numbers are those of the documents."""

import io
import os
import re
import subprocess
import sys

import matplotlib.image
import numpy as np
import pytest

from tests.test_repo import ROOT, text_of
from tools.draw_overview import PICTURE, picture

README = text_of("README.md")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.S)
PYTHON = [code for language, code in BLOCKS if language == "python"]
SHELL = [code for language, code in BLOCKS if not language and "kit.py" not in code]
NUMBERS = {  # of the section "How good it is": what it says, and where that stands
    "81.9 % right, majority vote 79.3 %, Dawid-Skene 81.3 %": [
        ("docs/real_data.md", r"WorkerTypes \(default\) \| 81\.8[5-9]"),
        ("docs/real_data.md", r"MajorityVote \| 79\.3"),
        ("docs/real_data.md", r"MV-EM \| 81\.2[5-9]"),
    ],
    "18.8 % wrong, most frequent value 43.0 %": [("docs/joint.md", "18.8 % wrong, most frequent value 43.0 %")],
    "log-loss .924, always even .964": [("docs/rank.md", r"log-loss \.924, always even \.964")],
    "0.7 degrees off, k-means 9.6": [("docs/topics.md", r"30 dB \| 9\.6 \| .* \| 0\.7 \|")],
    "356 printed numbers | 175 the same, 6 better, 15 worse": [
        ("docs/results.md", r"all \| the paper's own \| 175 \| 6 \| 15 \| .* \| 356")
    ],
}


@pytest.mark.slow
@pytest.mark.skipif("COFACTOR_VERSIONS" in os.environ, reason="other versions of matplotlib draw a little differently")
def test_picture_is_current():
    drawn = matplotlib.image.imread(io.BytesIO(picture()))
    stored = matplotlib.image.imread(PICTURE)
    assert drawn.shape == stored.shape
    assert np.abs(drawn - stored).mean() < 1e-3, "python tools/draw_overview.py"


def test_it_is_one_screen_and_a_half_with_picture_commands_and_notebooks_in_order():
    assert len(README.splitlines()) <= 90
    notebooks = [path.name for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    places = [
        README.find(word) for word in ("overview.png", "kit.py lab", "kit.py test", "import cofactor", *notebooks)
    ]
    assert places == sorted(places) and min(places) >= 0
    assert len(PYTHON) == 1 and len(PYTHON[0].splitlines()) <= 5 and len(SHELL) == 1
    for path in re.findall(r"\]\(([\w./]+\.\w+)\)", README):
        assert (ROOT / path).exists(), path


def run(command, folder):
    found = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "lib"), os.environ.get("PYTHONPATH", "")])}
    return subprocess.run([sys.executable, *command], cwd=folder, env=found, capture_output=True, text=True)


@pytest.mark.slow
def test_python_runs_as_printed(tmp_path):
    done = run(["-W", "error", "-c", PYTHON[0]], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "probability" in done.stdout and "accuracy" in done.stdout and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_commands_run_as_printed(tmp_path):
    lines = [line.partition("#")[0].split() for line in SHELL[0].splitlines()]
    assert len(lines) == 5 and {line[0] for line in lines} == {"cofactor"}
    for line in lines:
        done = run(["-m", *line], tmp_path)
        assert done.returncode == 0 and done.stdout, (line, done.stderr)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["filled.csv", "labels.csv"]


def test_numbers_are_those_of_the_documents():
    table = README.partition("## How good it is")[2].partition("\n## ")[0]
    assert table.count("](docs/") == len(NUMBERS)
    for said, places in NUMBERS.items():
        assert said in table, said
        for page, pattern in places:
            assert re.search(pattern, text_of(page)), (page, pattern)

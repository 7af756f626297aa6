"""Undo each named deviation from a paper or released code in a copy, and see whether the test that holds it fails.

usage: python tools/undo_deviations.py [WORD ...]

A deviation is a row of evaluation/deviations.csv: what it is, the file and the text that make it, by what that text is
replaced (the first time it stands there), and the test. WORDs choose the rows that hold one of them. A test that still
passes says nothing of the deviation: its row is printed, and the exit code is 1. All take some three minutes.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cofactor.core.errors import CofactorError
from evaluation.fidelity import deviations

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("lib", "evaluation", "tests", "notebooks")
PASSED, FAILED = 0, 1  # exit codes of pytest


def copied(place: Path) -> Path:
    """Copy what tests import into a folder, with the data sets where they are looked for; returns the folder."""
    for part in PARTS:
        shutil.copytree(ROOT / part, place / part, ignore=shutil.ignore_patterns("*.ipynb"))
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, place)
    (place / "datasets").symlink_to(ROOT / "datasets")
    return place


def outcome(tests: Iterable[str], place: Path) -> int:
    """Run tests on the copy; returns the exit code of pytest."""
    paths = {"PYTHONPATH": os.pathsep.join([str(place / "lib"), str(place)]), "PYTHONDONTWRITEBYTECODE": "1"}
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    quiet = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", f"--rootdir={place}"]
    command = [sys.executable, "-m", "pytest", *quiet, *tests]
    return subprocess.run(command, cwd=place, env=os.environ | one | paths, capture_output=True).returncode


def noticed(row: Mapping[str, str], place: Path) -> bool:
    """Whether the test of a deviation fails where that is undone."""
    path = place / row["file"]
    source = path.read_text(encoding="utf8")
    path.write_text(source.replace(row["here"], row["undone"], 1), encoding="utf8")
    found = outcome([row["test"]], place)
    path.write_text(source, encoding="utf8")
    return found == FAILED


def survivors(rows: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Undo one deviation after the other, say what came of each, and return those that no test noticed."""
    survived = []
    with tempfile.TemporaryDirectory() as folder:
        place = copied(Path(folder).resolve())
        if outcome({row["test"] for row in rows}, place) != PASSED:
            raise CofactorError("a test fails before anything is undone: see tests/evaluation/test_deviations.py")
        for row in rows:
            found = noticed(row, place)
            survived += [] if found else [row]
            print("noticed    " if found else "NOT NOTICED", row["deviation"], flush=True)
    return survived


if __name__ == "__main__":
    words = sys.argv[1:]
    chosen = [row for row in deviations().to_dict("records") if not words or any(w in str(row) for w in words)]
    left = survivors(chosen)
    print(f"{len(chosen) - len(left)} of {len(chosen)} noticed")
    sys.exit(bool(left) or not chosen)

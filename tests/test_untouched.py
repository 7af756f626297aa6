"""A copy in which nothing was solved shows the numbers of its notebook: no exercise spoils what follows."""

import json
import os
import re

import nbformat
import pytest

from tools import learner, refresh_notebooks
from tools.kernels import moved

OTHER_VERSIONS = "COFACTOR_VERSIONS" in os.environ  # of packages: what is stored is of the pinned ones
OWN = re.compile(r"\b(check|checkpoint|usable)\(")  # cells that speak of the learner
NAME = "03_imputation_error_vs_samples"  # cells call a function that the learner writes; for all others: test_learner


def said(cell):
    """What a cell printed or returned as text."""
    kinds = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return ["".join(kind) for kind in kinds]


def exempt(cell):
    """Whether nbval compares nothing of a cell: timings, memory, pictures."""
    return "nbval-ignore-output" in cell.metadata.get("tags", []) or "Figure" in "".join(said(cell))


@pytest.mark.slow
def test_what_follows_an_unsolved_function_is_right(tmp_path):
    source = nbformat.read(next(path for path in learner.sources() if path.stem == NAME), as_version=4)
    copy = learner.learner_copy(source)
    (tmp_path / ".handed_out.json").write_text("{}")
    refresh_notebooks.execute(copy, tmp_path)
    refresh_notebooks.make_canonical(copy)
    stored = {cell.source: cell for cell in source.cells if cell.cell_type == "code"}
    cells = [cell for cell in copy.cells if cell.cell_type == "code"]
    compared = [cell for cell in cells if not OWN.search(cell.source) and not exempt(cell)]
    assert len(compared) >= 8
    assert OTHER_VERSIONS or not {one.source: lines for one in compared if (lines := moved(stored[one.source], one))}
    told = "".join(line for cell in cells for line in said(cell))
    assert told.count("Until you solve the exercise") == 1 and "0 of " in told
    solved, of = json.loads((tmp_path / "progress.json").read_text())["nb03"]
    assert solved == 0 < of

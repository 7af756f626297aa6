"""The core path of a notebook runs without what is further, with the same results; and its minutes are counted."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.notebook_rules import NOTEBOOKS, ROOT
from tests.test_untouched import OTHER_VERSIONS, exempt
from tools import minutes, refresh_notebooks
from tools.kernels import moved

BESIDE = {minutes.FURTHER, "told"}  # numbers told in the text are of the whole notebook
DATA = ("07", "09")  # notebooks whose texts are about data that are fetched


def cases():
    """Notebooks that have something further, those on fetched data where these are there."""
    for path in NOTEBOOKS:
        if any(minutes.FURTHER in tags(cell) for cell in nbformat.read(path, as_version=4).cells):
            yield pytest.param(path, id=path.stem, marks=[pytest.mark.needs_mirror] * (path.name[:2] in DATA))


def tags(cell):
    return set(cell.metadata.get("tags", []))


@pytest.mark.slow
@pytest.mark.parametrize("path", list(cases()))
def test_the_core_path_runs_by_itself_with_the_same_results(path):
    source = nbformat.read(path, as_version=4)
    stored = [cell for cell in source.cells if not BESIDE & tags(cell)]
    core = nbformat.from_dict({**source, "cells": [nbformat.from_dict(dict(cell)) for cell in stored]})
    for cell in core.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    refresh_notebooks.execute(core, path.parent)
    refresh_notebooks.make_canonical(core)
    pairs = [pair for pair in zip(stored, core.cells, strict=True) if pair[0].cell_type == "code"]
    compared = [(old, new) for old, new in pairs if not exempt(old)]
    assert len(compared) > 12
    assert OTHER_VERSIONS or not {old.source: lines for old, new in compared if (lines := moved(old, new))}


def test_minutes_are_those_of_the_table():
    cells = {
        1: new_markdown_cell("word " * 130),
        1 + 1.5: new_markdown_cell("**Predict.** " + "word " * 129),
        12 + 1: new_markdown_cell("**Open question.** " + "word " * 128),
        2: new_code_cell("1\n" * 30 + "\n\n"),
        4 + 1 / 15: new_code_cell("nb03.sample_panel()"),
        6 + 1 / 15: new_code_cell('check("weights", 1)'),
        15 + 1 / 15: new_code_cell('check("robust_sweep", 1)'),
    }
    for expected, cell in cells.items():
        assert minutes.counted(new_notebook(cells=[cell])) == pytest.approx(expected), cell.source
    whole = new_notebook(cells=list(cells.values()))
    assert minutes.counted(whole) == pytest.approx(sum(cells)) == minutes.counted(whole, core=True)


def test_teachers_read_the_rates_that_are_counted_by():
    page = (ROOT / "docs" / "classroom.md").read_text(encoding="utf8").replace("\n", " ")
    rate = minutes.RATES
    assert f"{1 / rate['word']:.0f} words a minute, {60 * rate['line of code']:.0f} seconds a line of code, " in page
    assert f"{rate['prediction']} minutes for a prediction, {rate['panel']} for a panel, " in page
    assert f"{rate['exercise']} for an exercise, {rate['function exercise']} for one that asks for a function, " in page
    assert f"{rate['open question']} for an open question." in page


def test_what_is_beside_the_core_path_is_not_counted_there():
    derivation = new_markdown_cell("a <details><summary>Derivation: why</summary> " + "word " * 130 + "</details> b")
    further = new_markdown_cell("word " * 130, metadata={"tags": ["further"]})
    solution = new_code_cell("1\n" * 30, metadata={"tags": ["solution"]})
    notebook = new_notebook(cells=[derivation, further, solution])
    assert minutes.counted(notebook, core=True) == pytest.approx(2 / 130)
    assert minutes.counted(notebook) == pytest.approx((130 + 130 + 5) / 130)


def test_minutes_told_are_read_in_both_forms():
    for text, told in {
        "# T\n\n**55 minutes on the core path, 75 in all** · x": (55, 75),
        "# T\n\n**90 minutes** · x": (90, 90),
        "# T\n\nan hour": (0, 0),
    }.items():
        assert minutes.claimed(new_notebook(cells=[new_markdown_cell(text)])) == told


def test_the_table_tells_every_notebook(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["minutes", *map(str, NOTEBOOKS[:2])])
    minutes.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["notebook", *(path.stem for path in NOTEBOOKS[:2])]
    core, counted, whole, all_counted = map(int, lines[1].split()[1:])
    assert (core, whole) == minutes.claimed(nbformat.read(NOTEBOOKS[0], as_version=4))
    assert abs(core - counted) <= 3 and abs(whole - all_counted) <= 3

"""Every notebook keeps the rules of `notebook_rules`."""

import json
import re
from itertools import product

import nbformat
import pytest

from tests.each import each
from tests.notebook_rules import EXEMPT, LAB_RULES, LABS, LINE, NOTEBOOKS, RULES, complaints

BYTES, BYTES_IN_ALL = 600_000, 4_000_000  # of a notebook, of the main road


@pytest.fixture(scope="module")
def stored():
    return {path: nbformat.read(path, as_version=4) for path in [*NOTEBOOKS, *LABS]}


@pytest.mark.slow
@each("path, rule", [*product(NOTEBOOKS, RULES), *product(LABS, LAB_RULES)])
def test_notebook_keeps_the_rule(stored, path, rule):
    found = complaints(stored[path], path.name, [rule])
    assert not found, "\n".join([RULES[rule].__doc__, *found])


def test_notebooks_have_places_in_the_order_a_lab_names_of_their_own_and_are_small():
    for path in [*NOTEBOOKS, *LABS]:
        assert re.fullmatch(r"\d\d_[a-z0-9_]+\.ipynb", path.name)
        assert path.stat().st_size < BYTES, path
        names = [
            cell["id"] for cell in json.loads(path.read_text(encoding="utf8"))["cells"]
        ]  # nbformat would mend them
        assert len(set(names)) == len(names), path
    assert sum(path.stat().st_size for path in NOTEBOOKS) < BYTES_IN_ALL
    assert {path.name[:2] for path in LABS} <= {path.name[:2] for path in NOTEBOOKS} and len(LABS) >= 6


def test_exemptions_are_of_rules_and_notebooks_that_there_are():
    assert all(rule in RULES and name in [path.name for path in NOTEBOOKS] for rule, name in EXEMPT)


def test_an_exemption_spares_its_notebook_only():
    (rule, name), broken = next(iter(EXEMPT)), nbformat.read(NOTEBOOKS[1], as_version=4)
    broken.cells = [cell for cell in broken.cells if "**Prerequisites:**" not in cell.source]
    assert complaints(broken, NOTEBOOKS[1].name, [rule]) and not complaints(broken, name, [rule])
    assert LINE.search(broken.cells[0].source)

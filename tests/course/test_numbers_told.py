"""Numbers in the answers of the main road are those that a cell above them prints, or that are computed here."""

import re

import nbformat
import numpy as np

from cofactor.separable import merit
from course import nb05, nb07, nb09
from tests.notebook_rules import NOTEBOOKS, ROOT

ANSWER = "Answer</summary>"
NO_PROSE = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)|\[[^\]]*\]|^#.*", flags=re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.])(\d+(?:[ ,]\d{3})*(?:\.\d+)?|\.\d+)(?:e([-+]?\d+))?")
SMALL = 13  # whole numbers below count things: steps, people, classes
COUNTED = {  # numbers of a text's own, which nothing prints
    "04": {34},  # a power
    "05": {0.93, 0.22, 0.87},  # below
    "06": {21},  # recipes that each person sorted
    "07": {90, 62, 34},  # free numbers of a person; a prior, below
    "09": {0.84, 0.21, 81},  # below
    "10": {30},  # labels, read off a figure
    "11": {15},  # per cent in other crowds
}


def numbers(text):
    """Every number with its decimals."""
    for found in NUMBER.finditer(text):
        digits = re.sub(r"[ ,]", "", found[1])
        yield float(digits) * 10.0 ** int(found[2] or 0), len(digits.partition(".")[2])


def shown(cell):
    """Numbers that a cell of code has or gave."""
    texts = ["".join(part.get("text", "")) + str(part.get("data", {}).get("text/plain", "")) for part in cell.outputs]
    return [value for text in [cell.source, *texts] for value, _ in numbers(text)]


def told(cell):
    """Numbers of the answer that a cell of words holds."""
    if ANSWER in cell.source:
        words = NO_PROSE.sub("", cell.source.partition(ANSWER)[2].replace("\u202f", " "))
        yield from ((v, d) for v, d in numbers(words) if d or v >= SMALL)


def test_numbers_of_answers_are_those_that_the_notebook_shows():
    for path in NOTEBOOKS:
        if path.parent != ROOT / "notebooks":
            continue
        cells = nbformat.read(path, as_version=4).cells
        given = np.array([value for cell in cells if cell.cell_type == "code" for value in shown(cell)])
        ways = np.concatenate([given, 100 * given, 100 - 100 * given])  # as a share, and as what is left of it
        for value, decimals in (one for cell in cells if cell.cell_type == "markdown" for one in told(cell)):
            near = np.abs(ways - value).min() <= 0.5001 * 10.0**-decimals
            assert near or value in COUNTED.get(path.name[:2], ()), (path.name, value)


def test_numbers_that_figures_show_without_saying_them():
    live = nb09.community_live()
    at = [live.at(**{**live.params, "mixing": mixing, "shown": True}).text for mixing in (0.5, 1.0)]
    assert "rank correlation 0.84" in at[0] and "81\xa0%" in at[1] and "rank correlation 0.21" in at[1]
    live = nb07.belief_live()
    for right, said in ((1, "62\xa0%"), (10, "40\xa0%"), (100, "34\xa0%")):
        assert said in live.at(**{**live.params, "right": right, "wrong": 2 * right, "shown": True}).text
    noisy = nb05.triangle(60, noise=0.05, seed=0)
    apart = np.isin(np.arange(60), noisy.anchors)
    free, paid = (merit(noisy.X, 3, lam=lam, n_iter=50).scores for lam in (0, 0.02))
    assert np.round([free[~apart].max(), paid[~apart].max(), paid[apart].min()], 2).tolist() == [0.93, 0.22, 0.87]

"""What helps a learner who reads alone: three questions on top, how hard an exercise is, references that lead there.

And what labs say of panels is what the panels say.
"""

import re
from functools import cache

import nbformat
import pytest

from tests.course.test_panels import PANELS
from tests.each import each
from tests.notebook_parts import parts
from tests.notebook_rules import NOTEBOOKS, ROOT

READY, LEVELS = "**Ready?**", ("easy", "medium", "hard")
NUMBER = r"\d+(?:\.\d+)?"
SECTION = re.compile(
    rf"(?:\]\((?P<file>\w+\.ipynb)\),? )?\bsections? (?P<numbers>{NUMBER}(?:(?:, | and | to ){NUMBER})*)"
)


@cache
def read(path):
    return nbformat.read(path, as_version=4)


def words(path):
    """All that a page or a notebook says in Markdown."""
    if path.suffix != ".ipynb":
        return path.read_text(encoding="utf8")
    return "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


@cache
def numbers_of(name):
    """The numbers of a notebook's sections."""
    titles = [value[1] for kind, value in parts(read(ROOT / "notebooks" / name)) if kind == "heading"]
    return {found[0] for title in titles if (found := re.match(NUMBER, title))}


@each("path", [*NOTEBOOKS, ROOT / "docs" / "classroom.md"])
def test_sections_that_are_named_are_there(path):
    for found in SECTION.finditer(words(path)):
        name = found["file"] or path.name
        if name.endswith(".ipynb"):
            assert set(re.findall(NUMBER, found["numbers"])) <= numbers_of(name), found[0]


TOLD = [  # the lab where it is told, in which words; the panel, its values, and what the panel says
    ("00", "the model is wrong on 13 % and the vote on 27 %", "thinning", {"per_task": 10}, "26.9 %.*13.0 %"),
    ("00", "with 5 on 25 and 27 %", "thinning", {"per_task": 5}, "26.9 %.* 25.0 %"),
    ("00", "with 3 on 30 and 28 %", "thinning", {"per_task": 3}, "27.8 %.* 29.6 %"),
    ("00", "with 2 on 31 and 30 %", "thinning", {"per_task": 2}, "29.6 %.* 31.5 %"),
    ("00", "with two labels: 15 % against 23 %", "thinning", {"per_task": 2, "crowd": "digits"}, "22.8 %.* 15.2 %"),
    ("04", "the error is still 0.31", "race", {"density": 0.9, "psi": 0.8}, "no shift: 0.305.*clamp.*: 0.00561"),
    ("04", "with 0.95 it is still too large at the end (0.11)", "race", {"density": 0.9, "psi": 0.95}, ": 0.1126"),
    ("05", "at $\\mu = 1$ only 22 are", "selection", {"mu": 1.0}, "22 of 40"),
    ("05", "at 8 dB the margin is 25 %, and at 6 dB it says 38", "selection", {"snr_db": 6.0}, "after 38"),
    ("05", "33 of 40, and the drop says 1", "selection", {"lam": 5.0}, "33 of 40.*after 1 "),
]  # fmt: skip


@cache
def panel_of(name):
    return PANELS[f"{name}_panel"]()


@pytest.mark.slow
@each("where, words_told, panel, values, said", TOLD)
def test_what_labs_say_of_panels_is_what_panels_say(where, words_told, panel, values, said):
    page = ROOT / "notebooks" / "labs" / f"{where}_lab.ipynb"
    assert words_told in " ".join(words(page).split()), words_told
    shown = panel_of(panel)
    sentence = shown.describe(shown.compute(**{**shown.params, **values})).replace("\xa0", " ")
    assert re.search(said, sentence), sentence

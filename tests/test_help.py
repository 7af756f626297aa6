"""Sections that notebooks and the classroom page name are there."""

import re
from functools import cache

import nbformat

from tests.each import each
from tests.notebook_parts import parts
from tests.notebook_rules import NOTEBOOKS, ROOT

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

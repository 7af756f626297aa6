"""Documents: how long they are, what they link, and which blocks of Python they show."""

import ast
import re
from pydoc import locate

import pytest

import cofactor as cf
from tests.test_repo import ROOT, text_of

PAGES = sorted([*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")])
LONGER = {"results.md", "errata.md", "real_data.md"}
MOST, TARGET = 1200, re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
MADE = {"docs/fidelity.md", "datasets/index"}  # by docs/build.py


def words(text):
    """Return how many words a page has; a list of files grows with the library."""
    return len(re.findall(r"\S*\w\S*", text.partition("## Every file of lib")[0]))


def anchors(text):
    """Return the names by which a page's headings are linked."""
    titles = [
        re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()).replace(" ", "-") for title in HEADING.findall(text)
    ]
    return {*titles, *re.findall(r'(?:id|name)="([\w-]+)"', text), *re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE)}


def test_no_page_is_too_long_and_each_begins_with_a_title():
    assert not {
        path.name: words(path.read_text("utf8"))
        for path in PAGES
        if path.name not in LONGER and words(path.read_text("utf8")) > MOST
    }
    assert all(path.read_text("utf8").startswith("# ") for path in PAGES)
    assert len(text_of("CONTRIBUTING.md").encode()) <= 5_000 and len(text_of("CHANGELOG.md").splitlines()) <= 45


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_to_pages_and_headings(path):
    for link in TARGET.findall(path.read_text("utf8")):
        page, _, anchor = link.partition("#")
        if re.match(r"\w+:", link) or (
            page.startswith("docs/") and path.name == "index.md" and not page.endswith(".md")
        ):
            continue
        base = ROOT if path.name == "index.md" else path.parent  # the index is the first page of the book
        there = (base / page).resolve() if page else path
        name = there.relative_to(ROOT).as_posix() if there.is_relative_to(ROOT) else page
        assert there.exists() or name in MADE, link
        if anchor and there.suffix == ".md" and there.exists():
            assert anchor in anchors(there.read_text("utf8")), link


def test_python_of_the_documents_parses():
    for path in PAGES:
        for code in re.findall(r"```python\n(.*?)```", path.read_text("utf8"), re.S):
            ast.parse(code)


def test_names_in_the_docstring_of_the_package_are_there():
    verbs = [
        name for line in re.findall(r"^    (\w+(?:, \w+)*)  ", cf.__doc__, re.MULTILINE) for name in line.split(", ")
    ]
    assert set(verbs) < set(cf.__all__)
    places = ("", "cofactor.", "cofactor.crowd.", "cofactor.verbs.result.Result.")
    for name in re.findall(r"`([\w.]+)`", cf.__doc__):
        assert any(locate(place + name) is not None for place in places), name

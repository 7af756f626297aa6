"""The article: one text, `article.md`, as a page of the book and as PDF, with numbers and pictures of the kept results.

The text is plain Markdown with formulas; {{expressions}} are numbers, see `quoted`. A picture stands in a paragraph of
its own, and its alternative text is its caption.
"""

import re
from functools import cache
from pathlib import Path

import yaml

from docs.article import figures, quoted

HERE = Path(__file__).parent
CITATION = HERE.parents[1] / "CITATION.cff"
PICTURE = re.compile(r"^!\[((?:[^\[\]]|\[[^\]]*\]\([^)]*\))*)\]\((\w+\.svg)\)$", re.M)
FIGURE = """```{{figure}} {file}
:width: 100%
:alt: {alt}

{caption}
```"""
PDF = "article.pdf"
FORMAT = "markdown-smart-citations+pipe_tables-auto_identifiers-implicit_header_references"


def write(folder):
    """Write pictures and PDF beside the page into a folder of the book's sources."""
    folder.mkdir(parents=True, exist_ok=True)
    figures.write(folder)
    (folder / PDF).write_bytes(compiled(folder))


def page():
    """Return the article as a page of the book, with a link to the PDF."""
    title, rest = text().split("\n", 1)
    there = f"{title}\n\nBy {', '.join(authors())}. [The same article as PDF]({PDF}).\n{rest}"
    return PICTURE.sub(figure, there)


def figure(found):
    """Return a picture with its caption, as the book has it."""
    return FIGURE.format(alt=found[1].replace("*", ""), caption=found[1], file=found[2])


def typst_source():
    """Return the article in the language of typst."""
    import pypandoc

    extra = [f"--template={HERE / 'article.typ'}", "--shift-heading-level-by=-1", "--wrap=none"]
    extra += [f"--metadata=author:{name}" for name in authors()]
    return pypandoc.convert_text(text(), "typst", format=FORMAT, extra_args=extra)


def compiled(folder):
    """Return the PDF; the pictures lie in the folder. Letters are those that typst brings along."""
    import typst

    return with_source(folder, lambda path: typst.compile(path, ignore_system_fonts=True))


def pages(folder):
    """Return how many pages the PDF has."""
    import typst

    return with_source(folder, lambda path: int(typst.query(path, "<pages>", field="value", one=True)))


def with_source(folder, use):
    """Put the article's source where its pictures are, for as long as it is used."""
    path = folder / "article.typ"
    path.write_text(typst_source(), encoding="utf8")
    try:
        return use(str(path))
    finally:
        path.unlink()


@cache
def text():
    """Return the text with its numbers and the references to the papers."""
    written = (HERE / "article.md").read_text(encoding="utf8")
    numbered = re.sub(r"\s%", "\N{NO-BREAK SPACE}%", quoted.filled(written))
    return numbered + "\n" + "\n\n".join(map(reference, citation()["references"])) + "\n"


def authors():
    """Return who wrote this, as CITATION.cff has it."""
    return [one.get("name") or f"{one['given-names']} {one['family-names']}" for one in citation()["authors"]]


def citation():
    """Read CITATION.cff."""
    return yaml.safe_load(CITATION.read_text(encoding="utf8"))


def reference(entry):
    """Return the line of one paper."""
    who = " and ".join(f"{one['given-names']} {one['family-names']}" for one in entry["authors"])
    where = entry.get("journal") or entry["collection-title"]
    link = entry.get("url") or f"https://doi.org/{entry['doi']}"
    return f"{who}. [{entry['title']}]({link}). *{where}*, {entry['year']}."

"""Slides of a notebook: one column per heading; reveal.js and MathJax from packages, beside the slides.

Every text opens a slide, every picture has one to itself, and other outputs stay below their text. Solutions and
answers to predictions, folded in the notebook, are left out: the class finds them.
"""

import importlib.util
import re
import shutil
from pathlib import Path

import nbformat
from nbconvert import SlidesExporter
from traitlets.config import Config

from docs.notebooks import opened

TALKS = {"01_theory_recap.ipynb": "theory"}
ANSWER = re.compile(r"<details>.*?</details>", re.DOTALL)
LINK = re.compile(r"\]\((\w+)\.ipynb\)")
PAGE = re.compile(r"\]\(\.\./docs/(\w+)\.md\)")
CUT = re.compile(r"^(?=## |\*\*Next:|\*\*Further reading)", re.MULTILINE)


def write_slides(notebooks, folder):
    """Write the slides of all talks with what they load."""
    folder.mkdir(parents=True)
    shutil.copytree(package("sphinx_revealjs") / "_static" / "revealjs", folder / "reveal")
    for name, talk in TALKS.items():
        notebook = nbformat.read(notebooks / name, as_version=4)
        page, _ = exporter().from_notebook_node(talk_of(notebook))
        (folder / f"{talk}.html").write_text(page, encoding="utf8")


def package(name):
    """Return the folder of an installed package."""
    return Path(importlib.util.find_spec(name).origin).parent


def exporter():
    """Return the exporter to slides that load nothing from elsewhere."""
    settings = {"reveal_url_prefix": "reveal", "reveal_theme": "white", "reveal_scroll": True}
    settings |= {"template_name": "offline", "extra_template_basedirs": [str(Path(__file__).parent / "_templates")]}
    return SlidesExporter(config=Config({"SlidesExporter": settings}))


def talk_of(notebook):
    """Return the notebook with its cells cut and marked as slides."""
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cells += text_slides(cell.source)
        elif cell.outputs and not cell.metadata.get("jupyter", {}).get("source_hidden"):
            cells.append(marked(cell, "subslide" if has_picture(cell) else "-"))
    notebook.cells = cells
    return notebook


def text_slides(text):
    """Cut a text at its headings, and before what to read next."""
    text = LINK.sub(r"](../notebooks/\1.html)", ANSWER.sub("", opened(text)))
    text = PAGE.sub(r"](../docs/\1.html)", text)
    parts = [part for part in CUT.split(text) if part.strip()]
    kinds = ["slide" if part.startswith("#") else "subslide" for part in parts]
    return [marked(nbformat.v4.new_markdown_cell(part), kind) for part, kind in zip(parts, kinds, strict=True)]


def has_picture(cell):
    """Tell whether a cell shows a picture or a table."""
    return any({"image/png", "text/html"} & set(output.get("data", {})) for output in cell.outputs)


def marked(cell, kind):
    """Mark a cell as a slide, a step below one, or (-) more of the same."""
    cell.metadata["slideshow"] = {"slide_type": kind}
    return cell

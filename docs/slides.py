"""Slides of a notebook: one column per heading; reveal.js and MathJax from packages, beside the slides.

Every text opens a slide, every picture has one to itself, and other outputs stay below their text. Solutions and
answers to predictions, folded in the notebook, are left out: the class finds them.
"""

import importlib.util
import math
import re
import shutil
from pathlib import Path

import nbformat
from nbconvert import SlidesExporter
from traitlets.config import Config

from docs.notebooks import opened

TALKS = {
    "01_theory_recap.ipynb": "theory",
    "06_comparison_mf_recovery.ipynb": "comparisons",
    "08_joint_pmf.ipynb": "joint_pmf",
    "09_topics_and_communities.ipynb": "separable",
}
ANSWER = re.compile(r"<details>.*?</details>", re.DOTALL)
LINK = re.compile(r"\]\((\w+)\.ipynb\)")
PAGE = re.compile(r"\]\(\.\./docs/(\w+)\.md(#[\w-]+)?\)")
CUT = re.compile(r"^(?=## |\*\*Next:|\*\*Further reading|\*\*Only ten minutes|\*\*Theorem )", re.MULTILINE)
HIGHEST = 740  # pixels of the 800 that a slide has
PICTURE = 470  # as high as the style lets a picture be
LETTERS = 100  # in a line of text


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
    cells, filled = [], 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cells += text_slides(cell.source)
            filled = text_height(cells[-1].source) if cells else 0
        elif cell.outputs and not cell.metadata.get("jupyter", {}).get("source_hidden"):
            own = has_picture(cell) or filled + code_height(cell) > HIGHEST
            cells.append(marked(cell, "subslide" if own else "-"))
            filled = code_height(cell) + PICTURE * has_picture(cell) + (0 if own else filled)
    notebook.cells = cells
    return notebook


def text_slides(text):
    """Cut a text at its headings, before what to read next, and where a slide is full."""
    text = LINK.sub(r"](../notebooks/\1.html)", ANSWER.sub("", opened(text)))
    text = PAGE.sub(r"](../docs/\1.html\2)", text)
    parts = [piece for part in CUT.split(text) if part.strip() for piece in fitting(part)]
    kinds = ["slide" if part.startswith("#") else "subslide" for part in parts]
    return [marked(nbformat.v4.new_markdown_cell(part), kind) for part, kind in zip(parts, kinds, strict=True)]


def fitting(text):
    """Cut a text between paragraphs so that each piece fits on a slide."""
    pieces = [""]
    for paragraph in re.split(r"\n{2,}", text.strip()):
        longer = f"{pieces[-1]}\n\n{paragraph}".strip()
        if pieces[-1] and text_height(longer) > HIGHEST:
            pieces.append(paragraph)
        else:
            pieces[-1] = longer
    return pieces


def text_height(text):
    """Estimate how many pixels a text takes."""
    lines = text.splitlines()
    formulas = sum(80 for line in lines if line.startswith("$$"))
    tables = sum(42 for line in lines if line.startswith("|"))
    others = [line for line in lines if line and not line.startswith(("$$", "|"))]
    return formulas + tables + sum(33 * math.ceil(len(line) / LETTERS) + 12 for line in others)


def code_height(cell):
    """Estimate how many pixels code takes, with what it printed; pictures are as high as there is room."""
    shown = [output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return 27 * len(cell.source.splitlines()) + sum(34 * len(text.splitlines()) for text in shown) + 50


def has_picture(cell):
    """Tell whether a cell shows a picture or a table."""
    return any({"image/png", "text/html"} & set(output.get("data", {})) for output in cell.outputs)


def marked(cell, kind):
    """Mark a cell as a slide, a step below one, or (-) more of the same."""
    cell.metadata["slideshow"] = {"slide_type": kind}
    return cell

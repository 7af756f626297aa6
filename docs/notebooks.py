"""Notebooks as the book shows them: outputs as stored, every picture with its words, answers folded until clicked.

Folded are solutions, rubrics, and what the cells between a prediction and its answer gave.

The stored notebooks keep for every picture a sentence as text/plain: what a figure finds, or what a panel shows. In the
book, the first is what a screen reader says, and the second the caption of the picture that stands for the panel. Where
panels move (docs/panels.py), their controls follow the cell.
"""

import re

import nbformat

from docs import panels
from tools.learner import PREDICT

ANSWER = "<summary>Answer</summary>"
RESULT = {"code_prompt_show": "Show the result", "code_prompt_hide": "Hide the result"}
PANEL = "[interactive panel] "
STILL = "Interactive in JupyterLab; here it stands still. "
FIGURE = "Figure: "
OBJECTIVES = "**Objectives.**"
COPY = "Notebook to write in"
WHERE = ", without results and solutions, for the folder `learner` of a clone; `python3 kit.py lab` has them all."
ABOUT = re.compile(r"# (?P<title>.*)\n\n\*\*(?P<minutes>\d+ minutes[^*]*)\*\* · \*\*Level:\*\* (?P<level>.*?) · ")
LIST = re.compile(r"(?<=\n)1\. .*?(?=\n\n)", re.DOTALL)
BESIDE = re.compile(r"\]\((?=\w+\.ipynb)")
SPECIAL = re.compile(r"([\\`*_\[\]<>|$#{}])")
SUMMARY = re.compile(r"</summary>[ \t]*(?=\S)")
CLOSING = re.compile(r"(?<=\S)\s*</details>")


def staged(path, live=()):
    """Return the text of a notebook for the book; `live` has the folders of the panels that move, by their names.

    Labs have their number in the title, and no copy to write in.
    """
    notebook = nbformat.read(path, as_version=4)
    if path.parent.name != "labs":
        notebook.cells[0].source = numbered(notebook.cells[0].source, path.name[:2])
        for cell in notebook.cells:
            cell.source = offered(cell.source, path.name)
    fold(notebook.cells)
    if live:
        notebook.cells = [one for cell in notebook.cells for one in (cell, *moving(cell, path.name[:2], live))]
    return nbformat.writes(notebook)


def fold(cells):
    """Fold answers, and give pictures their words."""
    asked = False
    for cell in cells:
        if cell.cell_type == "markdown":
            asked = is_asked(cell.source, asked)
            cell.source = opened(cell.source)
        else:
            drop_fingerprints(cell)
            fold_solution(cell)
            add_words(cell)
            if asked:
                fold_result(cell)


def drop_fingerprints(cell):
    """Leave out what only tests compare."""
    for output in cell.outputs:
        output.get("data", {}).pop("text/x-fingerprint", None)


def numbered(text, number):
    """Put the number by which other notebooks speak of this one before its title."""
    return re.sub(r"^# ", f"# {number} · ", text, count=1)


def offered(text, name):
    """Offer the learner's copy, which `docs/build.py` puts into `learner`, above the objectives."""
    return text.replace(OBJECTIVES, f"{{download}}`{COPY} <../learner/{name}>`{WHERE}\n\n{OBJECTIVES}", 1)


def opened(text):
    """Part the HTML of folded answers from their text by empty lines: inside HTML nothing is Markdown."""
    return CLOSING.sub("\n\n</details>\n\n", SUMMARY.sub("</summary>\n\n", text))


def fold_solution(cell):
    """Fold in the book what is folded in JupyterLab."""
    if cell.metadata.get("jupyter", {}).get("source_hidden"):
        cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-input"]


def is_asked(text, asked):
    """Tell whether a prediction is still open after a text, given whether one was before it."""
    last = max(text.rfind(PREDICT), text.rfind(ANSWER))
    return asked if last < 0 else text.startswith(PREDICT, last)


def fold_result(cell):
    """Fold what a cell gave, so that readers can guess first."""
    if cell.outputs:
        cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-output"]
        cell.metadata.setdefault("mystnb", {}).update(RESULT)


def add_words(cell):
    """Give the picture of a cell its words: as a caption where it stands for a panel, else for those who do not see."""
    for output in cell.outputs:
        words = output.get("data", {}).get("text/plain", "")
        if "image/png" not in output.get("data", {}):
            continue
        options = cell.metadata.setdefault("mystnb", {})
        if words.startswith(PANEL):
            sentence = words.removeprefix(PANEL)
            options["image"] = {"alt": output.get("metadata", {}).get("image/png", {}).get("alt", sentence)}
            options["figure"] = {"caption": SPECIAL.sub(r"\\\1", STILL + sentence), "classes": "panel"}
        elif words.startswith(FIGURE):
            options["image"] = {"alt": words.removeprefix(FIGURE)}


def moving(cell, number, live):
    """Return the cell with the controls of the panel that a cell shows; give its figure a name for the script."""
    for output in cell.get("outputs", []):
        words = output.get("data", {}).get("text/plain", "")
        if words.startswith(PANEL):
            name = panels.called(cell.source)
            figure = f"panel-{number}-{name.partition('.')[2].replace('_', '-')}"
            cell.metadata["mystnb"]["figure"]["name"] = figure
            sentence = words.removeprefix(PANEL).rpartition(" Shown for: ")[0]
            yield nbformat.v4.new_markdown_cell(panels.box(name, live[name], figure, sentence), id=figure)


def cards(paths):
    """Return a card for each notebook, for the front page: title, minutes, level, objectives."""
    return "\n\n".join(["::::{container} cards", *map(card, paths), "::::"])


def card(path):
    """Return the card of a notebook, made from its first cells."""
    text = "\n\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells[:4])
    about, objectives = ABOUT.match(text), LIST.search(text)[0]
    parts = [
        ":::{container} notebook",
        f"**[{path.name[:2]} · {about['title']}]({path.name})**",
        f"{about['minutes']} · {about['level']}",
        f"<details><summary>At the end you can</summary>\n\n{objectives}\n\n</details>",
        ":::",
    ]
    return BESIDE.sub("](notebooks/", "\n\n".join(parts))

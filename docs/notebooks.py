"""Notebooks as the book shows them: outputs as stored, every picture with its words, answers folded until clicked.

Folded are solutions, rubrics, and what the cells between a prediction and its answer gave.

The stored notebooks keep for every picture a sentence as text/plain: what a figure finds, or what a panel shows. In the
book, the first is what a screen reader says, and the second the caption of the picture that stands for the panel.
"""

import re

import nbformat

from tools.learner import PREDICT

ANSWER = "<summary>Answer</summary>"
RESULT = {"code_prompt_show": "Show the result", "code_prompt_hide": "Hide the result"}
PANEL = "[interactive panel] "
STILL = "Interactive in JupyterLab; here it stands still. "
FIGURE = "Figure: "
SPECIAL = re.compile(r"([\\`*_\[\]<>|$#{}])")
SUMMARY = re.compile(r"</summary>[ \t]*(?=\S)")
CLOSING = re.compile(r"(?<=\S)\s*</details>")


def staged(path):
    """Return the text of a notebook for the book."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source = numbered(notebook.cells[0].source, path.name[:2])
    asked = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            asked = is_asked(cell.source, asked)
            cell.source = opened(cell.source)
        else:
            fold_solution(cell)
            add_words(cell)
            if asked:
                fold_result(cell)
    return nbformat.writes(notebook)


def numbered(text, number):
    """Put the number by which other notebooks speak of this one before its title."""
    return re.sub(r"^# ", f"# {number} · ", text, count=1)


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

"""A notebook as rules look at it: its parts in order, its sections, objectives, exercises and stored words."""

import re

COMMON = """
    about after also and are before does each from have how into itself more most much nor not off only other over
    same say says tell than that the their them then there these they this those what when where which who whom with
    without you your
"""
STEM = 4  # letters that an objective and its point of the recap have to share

LINE = re.compile(r"^\*\*(\d+) minutes\*\* · \*\*Level:\*\* .+? · \*\*Paper:\*\* (.+)$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
NUMBERED = re.compile(r"^(\d+)\. +(.+)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
PREDICT, ANSWER, EXERCISE = "**Predict.**", "<summary>Answer</summary>", "**Exercise.**"


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def parts(notebook):
    """The notebook as a flat list: ("heading", (level, title)), ("text", text) and ("code", cell)."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield "code", cell
            continue
        text, last = FENCE.sub("", cell.source), 0
        for match in HEADING.finditer(text):
            yield "text", text[last : match.start()]
            yield "heading", (len(match[1]), match[2].strip())
            last = match.end()
        yield "text", text[last:]


def section(notebook, title):
    """Text and code cells under the first heading of level two that ends with a title; None where there is none."""
    inside, text, cells = False, [], []
    for kind, value in parts(notebook):
        if kind == "heading" and value[0] <= 2:
            if inside:
                break
            inside = re.sub(r"^\d+\. ", "", value[1]) == title
        elif inside and kind == "code":
            cells.append(value)
        elif inside and kind == "text":
            text.append(value)
    return ("\n".join(text), cells) if inside else None


def opening(notebook):
    first = notebook.cells[0]
    return first.source if first.cell_type == "markdown" else ""


def objectives(notebook):
    """The numbered objectives."""
    text = "\n".join(cell.source for cell in notebook.cells).partition("**Objectives.**")[2]
    return [line for _, line in NUMBERED.findall(text.partition("**Prerequisites")[0])]


def tags(cell):
    return set(cell.metadata.get("tags", []))


def bundles(cell):
    return [output.data for output in cell.get("outputs", []) if "data" in output]


def words_of(cell):
    """What a cell printed and showed, as text."""
    shown = [output.get("text", "") for output in cell.get("outputs", [])]
    return "".join([*shown, *(data.get("text/plain", "") for data in bundles(cell))])


def has_picture(cell):
    return any("image/png" in data for data in bundles(cell))


def stems(text):
    words = re.findall(r"[a-z]+", text.lower().replace("-", ""))
    return {word[:STEM] for word in words if len(word) >= STEM and word not in COMMON.split()}


def exercises(notebook):
    """Code cells of each exercise, from its marker to its solution."""
    found, current = [], None
    for kind, value in parts(notebook):
        if kind == "text" and EXERCISE in value:
            current = []
            found.append(current)
        elif kind == "code" and current is not None:
            current.append(value)
            if "solution" in tags(value):
                current = None
    return found

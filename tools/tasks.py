"""What of a notebook is marked: exercises with their stubs and solutions, open questions with their rubrics."""

import itertools
import re
from typing import NamedTuple

import nbformat

from tools.learner import ELSEWHERE, NOTEBOOKS, OPEN, TARGET, bare, relinked, tags

CHECK, REVEAL = (re.compile(rf'\b{name}\(\s*"([\w-]+)"') for name in ("check", "reveal"))
POINTS = re.compile(r"\((\d+) points?\b")
ITEM = re.compile(r"^ *(?:[-*]|\d+\.) +", re.MULTILINE)


class Task(NamedTuple):
    """An exercise, or an open question: what the learner sees, what the teacher has, and its points."""

    name: str
    cell: nbformat.NotebookNode  # the stub, or the text of the question
    solution: nbformat.NotebookNode  # the solution, or the rubric
    points: int

    @property
    def is_open(self):
        """Whether a person has to mark it."""
        return self.cell.cell_type == "markdown"


def pieces(notebook, lead):
    """Return the cells of a notebook in order, with one `Task` in place of the cells of each; `lead` turns links."""
    cells = [relinked(cell, lead) for cell in bare(notebook).cells if "told" not in tags(cell)]
    tasks = {**exercises(cells), **open_questions(cells)}
    taken = {id(task.solution) for task in tasks.values()}
    return [tasks.get(id(cell), cell) for cell in cells if id(cell) not in taken]


def exercises(cells):
    """Return the exercises by the identity of their stubs."""
    found = {}
    for at, cell in enumerate(cells):
        if "solution" in tags(cell):
            name = REVEAL.search(cell.source)[1]
            cell.source = cell.source.replace("reveal(", "check(")  # there it is the teacher's answer, and is marked
            stub = [one for one in cells[:at] if name in checked(one) and "solution" not in tags(one)][-1]
            found[id(stub)] = Task(name, stub, cell, points=1)
    return found


def checked(cell):
    """Return the names of the exercises that a cell hands in."""
    return CHECK.findall(cell.source) if cell.cell_type == "code" else []


def open_questions(cells):
    """Return the open questions by the identity of their texts."""
    found = {}
    for cell, after in itertools.pairwise(cells):
        if cell.cell_type == "markdown" and OPEN in cell.source and "rubric" in tags(after):
            found[id(cell)] = Task(f"open-question-{len(found) + 1}", cell, after, points_of(after.source))
    return found


def points_of(rubric):
    """Return the points that a rubric gives: those it names, else one for each of its items."""
    return sum(map(int, POINTS.findall(rubric))) or len(ITEM.findall(rubric)) or 1


# ---- what goes with a notebook ----


def beside(path):
    """Return a link to what is copied beside the notebook: pictures and pages."""
    name, mark, anchor = path.partition("#")
    return name.rpartition("/")[2] + mark + anchor


def is_notebook(path):
    """Tell whether a link leads to a notebook."""
    return path.partition("#")[0].endswith(".ipynb")


def files_of(notebook):
    """Return the pictures and pages that a notebook shows or links, which go with it."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    links = [found["path"] for text in texts for found in TARGET.finditer(text)]
    local = {path.partition("#")[0] for path in links if not ELSEWHERE.match(path) and not is_notebook(path)}
    return sorted((NOTEBOOKS / path).resolve() for path in local)

"""What of a notebook is marked: exercises with their stubs and solutions, open questions with their rubrics."""

import itertools
import re
from importlib import import_module
from typing import NamedTuple

import nbformat

from course import desk
from tools.learner import ELSEWHERE, NOTEBOOKS, OPEN, TARGET, bare, flat, relinked, tags

CHECK, REVEAL = (re.compile(rf'\b{name}\(\s*"([\w-]+)"') for name in ("check", "reveal"))
LEVEL = re.compile(r"\*\*Exercise\.\*\* \*\((easy|medium|hard)\b")
POINTS = {"easy": 1, "medium": 2, "hard": 3}
MINUTES = {"easy": 4, "medium": 6, "hard": 15}


class Task(NamedTuple):
    """An exercise, or an open question: what the learner sees, what the teacher has, and its points."""

    name: str
    cell: nbformat.NotebookNode  # the stub, or the text of the question
    solution: nbformat.NotebookNode  # the solution, or the rubric
    points: int
    level: str = ""  # easy, medium or hard; of an open question nothing

    @property
    def is_open(self):
        """Whether a person has to mark it."""
        return self.cell.cell_type == "markdown"


def pieces(notebook, lead):
    """Return the cells of a notebook in order, with one `Task` in place of the cells of each; `lead` turns links."""
    cells = [relinked(cell, lead) for cell in bare(notebook).cells]
    tasks = exercises(cells)
    tasks |= open_questions(cells, most=max(1, sum(task.points for task in tasks.values()) // 2))
    taken = {id(task.solution) for task in tasks.values()}
    return [tasks.get(id(cell), cell) for cell in cells if id(cell) not in taken]


def exercises(cells):
    """Return the exercises by the identity of their stubs."""
    found = {}
    for at, cell in enumerate(cells):
        if "solution" in tags(cell):
            name = REVEAL.search(cell.source)[1]
            cell.source = cell.source.replace("reveal(", "check(")  # there it is the teacher's answer, and is marked
            before = [one for one in cells[:at] if "solution" not in tags(one)]
            stub = [one for one in before if name in checked(one)][-1]
            level = [level for one in before for level in LEVEL.findall(one.source)][-1]
            found[id(stub)] = Task(name, stub, cell, POINTS[level], level)
    return found


def checked(cell):
    """Return the names of the exercises that a cell hands in."""
    return CHECK.findall(cell.source) if cell.cell_type == "code" else []


def open_questions(cells, most):
    """Return the open questions by the identity of their texts, each of so many points: a third of a notebook's."""
    found = {}
    for cell, after in itertools.pairwise(cells):
        if cell.cell_type == "markdown" and OPEN in cell.source and "rubric" in tags(after):
            found[id(cell)] = Task(f"open-question-{len(found) + 1}", cell, after, most)
    return found


# ---- what goes with a notebook ----


def beside(path):
    """Return a link to what is copied beside the notebook: pictures and pages."""
    name, mark, anchor = path.partition("#")
    return name.rpartition("/")[2] + mark + anchor


def objective_of(name):
    """Return the number of the objective that an exercise is of; "lab" where it is of a lab."""
    own = [import_module(f"course.{notebook}.exercises").OBJECTIVES for notebook in desk.NOTEBOOKS]
    return next((number for all_of in own for number, some in enumerate(all_of, 1) if name in some), "lab")


def is_notebook(path):
    """Tell whether a link leads to a notebook."""
    return path.partition("#")[0].endswith(".ipynb")


def files_of(notebook):
    """Return the pictures and pages that a notebook shows or links, which go with it."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    links = [found["path"] for text in texts for found in TARGET.finditer(text)]
    local = {path.partition("#")[0] for path in links if not ELSEWHERE.match(path) and not is_notebook(path)}
    return sorted((NOTEBOOKS / flat(path)).resolve() for path in local)

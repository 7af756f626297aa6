"""The notebooks as a course of nbgrader: an assignment each, marked by the same checks that learners see."""

import collections
import os
import sys
from pathlib import Path

import nbformat
import pandas as pd
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from course.desk import find
from tools.learner import places, write, written
from tools.tasks import Task, beside, is_notebook, pieces

CONFIG = r"""c = get_config()
c.CourseDirectory.course_id = "cofactor"
c.ClearSolutions.code_stub = {"python": ""}  # the stub stands above the solution
c.ClearSolutions.text_stub = ""
c.Execute.timeout = 600  # seconds that a cell may take
# files come back as LEARNER-NOTEBOOK.ipynb
c.FileNameCollectorPlugin.named_regexp = r".*[\\/](?P<student_id>[^\\/]+)-(?P<file_id>\d\d_\w+)\.ipynb"
"""
TEST = """\
# Marks the answer that was last handed to check("{name}").
from course.desk import find, handed_in, passed, shown

assert "{name}" not in shown, "its solution was shown: the exercise does not count"
assert passed("{name}"), find("{name}").judge(handed_in.get("{name}")).words"""
SOLUTION = "{stub}\n### BEGIN SOLUTION\n{solution}\n### END SOLUTION"
COLUMNS = ["learner", "notebook", "exercises", "open questions", "points", "of", "open questions left to mark"]
ANSWER = "**Your answer:** *double-click here and write it below this line.*"


def write_course(notebooks, folder, copy_files):
    """Write the course: settings, sources, what learners get, and the gradebook that knows all of it.

    `notebooks` are by name, such as "00_start_here"; `copy_files(notebook, folder)` brings what goes with one.
    """
    folder.mkdir()
    write(folder / "nbgrader_config.py", CONFIG)
    for name, notebook in notebooks.items():
        source = folder / "source" / name
        source.mkdir(parents=True)
        copy_files(notebook, source)
        write(source / f"{name}.ipynb", written(source_notebook(notebook)))
    release(folder, notebooks)


def source_notebook(notebook):
    """Return the instructor's notebook with its cells marked for nbgrader."""
    made = nbformat.v4.new_notebook(metadata=notebook.metadata)
    made.cells = [cell for piece in pieces(notebook, lead) for cell in cells_of(piece)]
    return made


def lead(path):
    """Return a link as it leads from one assignment: others lie beside its folder, all else within."""
    name, mark, anchor = path.partition("#")
    return f"../{name.removesuffix('.ipynb')}/{name}{mark}{anchor}" if is_notebook(path) else beside(path)


def cells_of(piece):
    """Return the cells of nbgrader for one piece of a notebook."""
    if not isinstance(piece, Task):
        return [piece, *places(piece)]
    return answered(piece) if piece.is_open else [attempt(piece), test(piece)]


def attempt(task):
    """Return the cell that the learner changes."""
    source = SOLUTION.format(stub=task.cell.source, solution=task.solution.source)
    cell = nbformat.v4.new_code_cell(source, id=task.cell.id)
    return marked(cell, task.name, solution=True)


def test(task):
    """Return the cell that gives the points; nbgrader puts it back as it was before it marks."""
    cell = nbformat.v4.new_code_cell(TEST.format(name=task.name), id=f"{task.cell.id[:50]}-points")
    return marked(cell, f"{task.name}-points", grade=True, locked=True, points=task.points)


def answered(task):
    """Return an open question and the place for its answer, with the rubric for the teacher alone."""
    source = SOLUTION.format(stub=ANSWER, solution=task.solution.source)
    cell = nbformat.v4.new_markdown_cell(source, id=task.solution.id)
    return [task.cell, marked(cell, task.name, grade=True, solution=True, points=task.points)]


def marked(cell, name, grade=False, solution=False, locked=False, **points):
    """Write into a cell what nbgrader does with it."""
    roles = {"grade": grade, "solution": solution, "locked": locked, "task": False}
    cell.metadata["nbgrader"] = {"grade_id": name, "schema_version": 3, **roles, **points}
    return cell


def release(folder, names):
    """Let nbgrader make the learners' versions."""
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # it runs `alembic`
    config = Config()
    exec(CONFIG, {"get_config": lambda: config})
    config.CourseDirectory.root = str(folder.resolve())
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    for name in names:
        result = api.generate_assignment(name)
        if not result["success"]:
            raise RuntimeError(f"nbgrader could not make {name}:\n{result['log']}")


def marks(folder):
    """Return a row for each learner and notebook: points of exercises and open questions, their sum, what is left."""
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        rows = [marks_of(one) for assignment in book.assignments for one in assignment.submissions]
    return pd.DataFrame(rows, columns=COLUMNS).sort_values(["learner", "notebook"])


def mistakes(folder):
    """Return a row for each exercise and mistake: how many learners made it last, of how many; most frequent first."""
    made, handed = collections.Counter(), collections.Counter()
    for path in sorted((folder / "autograded").glob("*/*/*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            own = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "code" and own.get("grade") and own.get("locked"):
                name = own["grade_id"].removesuffix("-points")
                handed[path.stem, name] += 1
                errors = [each.evalue for each in cell.outputs if each.output_type == "error"]
                made.update((path.stem, name, known(name, words)) for words in errors)
    rows = [(*one, learners, handed[one[:2]]) for one, learners in made.most_common()]
    return pd.DataFrame(rows, columns=["notebook", "exercise", "mistake", "learners", "of"])


def known(name, words):
    """Return the mistake that `check` knows in what it said, without the digits of one learner's answer."""
    exercise = find(name)
    typical = [*getattr(exercise, "wrong", ()), *(says for part in exercise.parts for says in part.mistakes)]
    return next((says for says in typical if says in words), words if "not answered" in words else "another mistake")


def marks_of(submission):
    """Return one row."""
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    by_hand = [grade for grade in grades if grade.cell.cell_type == "markdown"]
    left = sum(grade.needs_manual_grade for grade in by_hand)
    points = [sum(grade.score for grade in some) for some in (grades, by_hand)]
    most = sum(grade.max_score for grade in grades)
    return [submission.student.id, submission.assignment.name, points[0] - points[1], *points[::-1], most, left]

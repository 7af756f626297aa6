"""The notebooks as assignments of otter: one folder each, marked by the same checks that learners see."""

import nbformat
import yaml
from otter.assign import main as assign

from tools.learner import places, write, written
from tools.tasks import Task, beside, is_notebook, pieces

SETTINGS = {  # learners need no otter: `check` tells them how they do, and they hand in the notebook itself
    "init_cell": False,
    "export_cell": False,
    "tests": {"ok_format": False},
    "generate": {"pdf": False, "show_stdout": True},
}
TEST = """\
def {function}():
    from course.desk import find, handed_in, passed

    assert passed("{name}"), find("{name}").judge(handed_in.get("{name}")).words"""
SOLUTION = "{stub}\n# BEGIN SOLUTION NO PROMPT\n{solution}\n# END SOLUTION"


def write_assignments(notebooks, folder, copy_files):
    """Write an assignment for each notebook: `master`, `student` for learners, `autograder` for the teacher."""
    for name, notebook in notebooks.items():
        master = folder / name / "master"
        master.mkdir(parents=True)
        files = copy_files(notebook, master)
        write(master / f"{name}.ipynb", written(master_notebook(notebook, files)))
        assign(str(master / f"{name}.ipynb"), str(folder / name), no_pdfs=True, no_run_tests=True)
        (archive,) = (folder / name / "autograder").glob("*.zip")
        archive.rename(archive.with_name("autograder.zip"))


def master_notebook(notebook, files):
    """Return the notebook that `otter assign` reads."""
    made = nbformat.v4.new_notebook(metadata=notebook.metadata)
    settings = raw("ASSIGNMENT CONFIG", **SETTINGS, files=files)
    made.cells = [settings, *(cell for piece in pieces(notebook, lead) for cell in cells_of(piece))]
    return made


def lead(path):
    """Return a link as it leads from one assignment's folder for learners to another's; all else lies within."""
    name, mark, anchor = path.partition("#")
    return f"../../{name.removesuffix('.ipynb')}/student/{name}{mark}{anchor}" if is_notebook(path) else beside(path)


def cells_of(piece):
    """Return the cells of otter for one piece of a notebook."""
    if not isinstance(piece, Task):
        return [piece, *places(piece)]
    settings = {"name": piece.name, "points": piece.points, "check_cell": False}
    inside = answered(piece) if piece.is_open else [*solved(piece), *tested(piece)]
    return [raw("BEGIN QUESTION", **settings, manual=piece.is_open), *inside, raw("END QUESTION")]


def solved(task):
    """Return the cell that the learner changes, as a block."""
    source = SOLUTION.format(stub=task.cell.source, solution=task.solution.source)
    return block("SOLUTION", nbformat.v4.new_code_cell(source))


def tested(task):
    """Return the test that gives the points, as a block."""
    source = TEST.format(function=f"test_{task.name}".replace("-", "_"), name=task.name)
    return block("TESTS", nbformat.v4.new_code_cell(source))


def answered(task):
    """Return an open question with its rubric, in whose place the learner finds room for an answer."""
    return [task.cell, *block("SOLUTION", task.solution)]


def block(name, cell):
    """Fence a cell as otter wants it."""
    return [raw(f"BEGIN {name}"), cell, raw(f"END {name}")]


def raw(title, **settings):
    """Return a raw cell with a command to otter."""
    return nbformat.v4.new_raw_cell(f"# {title}\n{yaml.safe_dump(settings) if settings else ''}".rstrip())

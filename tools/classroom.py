"""Write what a teacher hands out and collects: learners' copies, and a course of nbgrader.

usage: python3 kit.py classroom [-o FOLDER] [--replace] | --marks | --seeds NAMES
"""

import argparse
import csv
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat

from cofactor.core.files import whole_file
from tools import answer_key
from tools.answer_key import write_key
from tools.learner import ROOT, learner_copy, sources, write, written
from tools.tasks import MINUTES, Task, beside, files_of, is_notebook, objective_of, pieces

FOLDER = ROOT / "classroom"
READY = """\
{folder} holds
  learner/   the notebooks and labs without results and solutions, to hand out as they are
  exercises.csv  all exercises with difficulty, points, minutes, objective; key.html: their solutions, to print
  nbgrader/  a course: `nbgrader autograde NAME` in this folder marks what `nbgrader zip_collect NAME` has sorted
More: docs/classroom.md"""


def main(arguments=None):
    """Write the folder, or say why not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="kit.py classroom")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, metavar="FOLDER", help="default: classroom")
    parser.add_argument("--replace", action="store_true", help="delete the folder first, with all that lies in it")
    seeds = "write only seeds.csv beside NAMES: what is right in the capstone for each seed in this file or folder"
    parser.add_argument("--seeds", type=Path, metavar="NAMES", help=seeds)
    marks = "write only marks.csv into the folder: of each learner and notebook the points, and what is left to mark"
    parser.add_argument("--marks", action="store_true", help=marks)
    options = parser.parse_args(arguments)
    if options.seeds:
        return write_seeds(options.seeds)
    folder = options.output.resolve()
    if options.marks:
        return write_marks(folder)
    if refusal := refused(folder, options.replace):
        return refusal
    export(read(sources()), folder)
    print(READY.format(folder=folder))
    return 0


def write_seeds(source):
    """Write the key of the capstone, or say why not."""
    try:
        path = write_key(source)
    except (OSError, ValueError) as error:
        return f"No seeds can be read from {source}: {error}"
    print(f"{path} holds what is right for each seed")
    return 0


def write_marks(folder):
    """Write the points of all learners, or say why not."""
    if not (folder / "nbgrader" / "gradebook.db").is_file():
        return f"{folder} has no nbgrader/gradebook.db: make the course, and mark with `nbgrader autograde` first."
    from tools import nbgrader_course  # it loads packages that only this needs

    for name in ("marks", "mistakes"):
        with whole_file(folder / f"{name}.csv") as part:
            getattr(nbgrader_course, name)(folder / "nbgrader").to_csv(part, index=False)
    print(f"{folder / 'marks.csv'} holds the points of all learners, mistakes.csv what they got wrong")
    return 0


def refused(folder, replace):
    """Say why a folder is not written, or nothing: what is there may hold the work of learners."""
    if not folder.exists():
        return ""
    if not (folder / "nbgrader" / "nbgrader_config.py").is_file():
        return f"{folder} exists and was not made by this command: name another folder with -o."
    if not replace:
        return (
            f"{folder} exists, and may hold the work of learners: name another folder with -o, "
            "or add --replace to delete it with all that lies in it."
        )
    return ""


def read(paths):
    """Return notebooks by their names."""
    return {path.stem: nbformat.read(path, as_version=4) for path in paths}


def export(notebooks, folder):
    """Write all beside the folder, then put it in place: it is there whole or not at all."""
    from tools import nbgrader_course  # it loads packages that only this needs

    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as beside_it:
        fresh = Path(beside_it) / "fresh"
        write_copies(notebooks, fresh / "learner")
        write_table(notebooks, fresh / "exercises.csv")
        write(fresh / "key.html", answer_key.page(notebooks))
        nbgrader_course.write_course(notebooks, fresh / "nbgrader", copy_files)
        if folder.exists():
            folder.rename(Path(beside_it) / "old")
        fresh.rename(folder)


def write_table(notebooks, path):
    """Write all exercises with difficulty, points, minutes and objective."""
    with path.open("w", encoding="utf8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["notebook", "exercise", "difficulty", "points", "minutes", "objective"])
        for name, notebook in notebooks.items():
            for task in (piece for piece in pieces(notebook, str) if isinstance(piece, Task)):
                own = (task.level, task.points, MINUTES[task.level], objective_of(task.name)) if task.level else ()
                table.writerow([name, task.name, *(own or ("open", task.points, 12, ""))])


def write_copies(notebooks, folder):
    """Write the learners' copies with what they show and link."""
    folder.mkdir(parents=True)
    for name, notebook in notebooks.items():
        copy = learner_copy(notebook, note="", lead=lambda path: path if is_notebook(path) else beside(path))
        copy_files(notebook, folder)
        write(folder / f"{name}.ipynb", written(copy))


def copy_files(notebook, folder):
    """Copy the pictures and pages that a notebook needs; return their names."""
    files = files_of(notebook)
    for path in files:
        shutil.copyfile(path, folder / path.name)
    return [path.name for path in files]


if __name__ == "__main__":
    sys.exit(main())

"""Count the minutes that notebooks take: whole, and on their core path.

usage: python -m tools.minutes [notebook ...]

The core path is all cells without the tag `further`, and without folded derivations. The rates are those of a class
that reads a foreign language; they are one table, RATES, so that all notebooks are counted alike.
"""

import re
import sys
from pathlib import Path

import nbformat

from course.desk import exercises
from course.grading import FunctionExercise

ROOT = Path(__file__).resolve().parents[1]
RATES = {  # minutes for one
    "word": 1 / 130,  # what stands between spaces; formulas and tables too
    "line of code": 4 / 60,
    "exercise": 6,
    "function exercise": 15,
    "prediction": 1.5,
    "panel": 4,
    "open question": 12,
}
FURTHER = "further"  # tag of what lies beside the core path
NOT_READ = {"solution", "rubric", "told"}  # tags of what a learner does not read
CHECKED = re.compile(r"\bcheck\(\s*\"([\w-]+)\"")
PANEL = re.compile(r"\bnb\d\d\.\w+_panel\(")
DERIVATION = re.compile(r"<details><summary>Derivation.*?</details>", re.DOTALL)
CLAIM = re.compile(r"^\*\*(\d+) minutes(?: on the core path, (\d+) in all)?\*\*", re.MULTILINE)


def main():
    """Print a table: claimed and counted minutes of the notebooks named on the command line, or of all."""
    paths = [Path(name) for name in sys.argv[1:]] or sorted((ROOT / "notebooks").glob("*.ipynb"))
    print(f"{'notebook':<34}{'core: told':>11}{'counted':>9}{'all: told':>11}{'counted':>9}")
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        core, whole = claimed(notebook)
        print(f"{path.stem:<34}{core:>11}{counted(notebook, core=True):>9.0f}{whole:>11}{counted(notebook):>9.0f}")


def claimed(notebook):
    """Return the minutes that the first cell tells, on the core path and in all; zeros where it tells none."""
    found = CLAIM.search(notebook.cells[0].source)
    return (int(found[1]), int(found[2] or found[1])) if found else (0, 0)


def counted(notebook, core=False):
    """Return the minutes of a notebook by RATES, in all or on its core path."""
    return sum(RATES[what] * number for cell in notebook.cells for what, number in amounts(cell, core))


def amounts(cell, core=False):
    """Yield what there is to do in a cell, by the names of RATES, and how much of it."""
    tags = set(cell.metadata.get("tags", []))
    if tags & NOT_READ or (core and FURTHER in tags):
        return
    if cell.cell_type == "markdown":
        yield "word", len((DERIVATION.sub("", cell.source) if core else cell.source).split())
        yield "prediction", cell.source.count("**Predict.**")
        yield "open question", cell.source.count("**Open question.**")
    else:
        yield "line of code", sum(bool(line.strip()) for line in cell.source.splitlines())
        yield "panel", len(PANEL.findall(cell.source))
        for name in CHECKED.findall(cell.source):
            yield "function exercise" if isinstance(exercises()[name], FunctionExercise) else "exercise", 1


if __name__ == "__main__":
    main()

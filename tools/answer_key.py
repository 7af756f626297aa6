"""Write the key: solutions of all exercises as a page, and what is right in the capstone for each seed.

Seeds are the lines of a file, or stand in the notebooks and records of a folder that learners handed in.
"""

import csv
import html
import json
import re

import numpy as np

from cofactor_app.cli.output import RUN
from course.desk import find
from course.nb11.crowd import CONSTANT, COPIES, drawn
from course.record import PROGRESS, kept, seed_of
from course.seeds import number_of
from tools.tasks import Task, pieces

COLUMNS = ("from", "seed", "number", "copies", "constants", "reading", "vote", "model", "merged")
KEY = "seeds.csv"
STYLE = "<style>body{font:11pt sans-serif;max-width:46em}pre,div{white-space:pre-wrap}h2{break-before:page}</style>"
KINDS = {"copies": COPIES, "constants": CONSTANT}
CALL = re.compile(r"""\bdesk\.seed\(\s*(?P<quote>["'])(?P<seed>.+?)(?P=quote)""")


def write_key(source):
    """Write `seeds.csv` beside a file of names, or beside a folder that learners handed in; return its path."""
    found = handed_in(source) if source.is_dir() else listed(source)
    path = source.parent / KEY
    with path.open("w", encoding="utf8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows({"from": place, **right(seed)} for place, seed in found)
    return path


def page(notebooks):
    """Return the key as a page to print: of every exercise its text and a solution, of open questions their rubric."""
    parts = [f"<h1>Key</h1>{STYLE}"]
    for name, notebook in notebooks.items():
        parts.append(f"<h2>{html.escape(name)}</h2>")
        for task in (piece for piece in pieces(notebook, str) if isinstance(piece, Task)):
            head = f"{task.name} ({task.level or 'open'}, {task.points} point{'s' * (task.points != 1)})"
            parts.append(f"<h3>{html.escape(head)}</h3>")
            tag = "div" if task.is_open else "pre"
            text = re.sub(r"</?(?:details|summary)>", "", task.solution.source)
            parts.append(f"<{tag}>{html.escape(text)}</{tag}>")
            if not task.is_open:
                parts.append(f"<p>Hints: {html.escape('; '.join(find(task.name).hints))}</p>")
    return "<!doctype html><meta charset='utf-8'><title>Key</title>" + "\n".join(parts) + "\n"


def listed(path):
    """Return the seeds of a file, one a line, each with its line; blank lines are left out."""
    lines = path.read_text(encoding="utf8").splitlines()
    return [(f"line {number}", line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]


def handed_in(folder):
    """Return the seeds in notebooks and records below a folder, each with its place; the placeholder is one, too."""
    found = [
        (path.relative_to(folder).as_posix(), call["seed"])
        for path in sorted(folder.rglob("*.ipynb"))
        if ".ipynb_checkpoints" not in path.parts and (call := CALL.search(code_of(path)))
    ]
    records = [(path.relative_to(folder).as_posix(), seed_of(kept(path.parent))) for path in folder.rglob(PROGRESS)]
    return found + [(place, seed) for place, seed in sorted(records) if seed]


def code_of(path):
    """Return the code of a notebook; nothing of a file that is none."""
    try:
        cells = json.loads(path.read_text(encoding="utf8"))["cells"]
        return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    except (OSError, ValueError, TypeError, KeyError):
        return ""


def right(seed):
    """Return what is right for a seed: workers by their numbers, the reading to take, and how good each reading is."""
    made = drawn(seed)
    shares = (made.said == made.crowd.truth).mean(axis=1)
    workers = {name: " ".join(map(str, np.flatnonzero(made.are(kind)))) for name, kind in KINDS.items()}
    reading = f"{shares.argmax()} ({made.found.names[shares.argmax()]})"
    accuracy = {name: f"{share:.3f}" for name, share in zip(made.found.names, shares, strict=True)}
    shown = f"'{seed}" if RUN.match(seed) else seed  # a spreadsheet would run it as a formula
    return {"seed": shown, "number": number_of(seed), **workers, "reading": reading, **accuracy}

"""Make the notebooks that learners write in: nothing is run yet, no solutions, a place for every guess and answer.

usage: python3 kit.py lab

The notebooks of `notebooks/` are the only source. Their copies go to `learner/`, one file each. A copy that its
learner changed is never written to again: when the notebook changes, the new one is put beside it as `NAME.v2.ipynb`,
then `NAME.v3.ipynb`. A copy that was deleted or renamed is made anew.
"""

import copy
import hashlib
import json
import re
import sys
from pathlib import Path

import nbformat

from cofactor.core.files import whole_file
from course.checkpoints import progress
from course.record import seed_in

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS, FOLDER = ROOT / "notebooks", ROOT / "learner"
RECORD = ".handed_out.json"  # by file name: SHA-256 of each text that was ever put there

PREDICT, OPEN = "**Predict.**", "**Open question.**"
KEPT_BACK = {"solution", "rubric"}  # tags of cells that learners do not get
YOURS = (
    "\n\n**This copy is yours.** Write into it and run it; nothing overwrites what you wrote. "
    "The notebook with its outputs and solutions opens with `python3 kit.py lab --instructor`."
)
PLACES = {  # what stands in a text, and the cell that is put below it
    PREDICT: ("guess", "**Your guess:** *double-click here and write it down, with your reason, before you run on.*"),
    OPEN: ("answer", "**Your answer:** *double-click here and write it in a few sentences.*"),
}
TARGET = re.compile(r'(?P<before>\]\(|\b(?:src|href)=")(?P<path>[^)"\s]+)')
VERSION = re.compile(r"(.*?)(?:\.v(\d+))?\.ipynb")
ELSEWHERE = re.compile(r"[a-z]+:|#")  # of the web, attached to the cell, or in the same notebook


def main():
    """Bring the copies up to date and say what could not be replaced."""
    try:
        for line in (*hand_out(copies(), FOLDER), *told(progress(FOLDER)), *seeded(FOLDER)):
            print(line)
    except OSError as error:
        return f"The learner's copies cannot be written: {error}"
    return 0


def told(solved):
    """Return the lines that tell a learner's progress: solved and all exercises, by notebook."""
    names = {("lab" if path.parent.name == "labs" else "nb") + path.name[:2]: path.name for path in sources()}
    lines = [f"  {names.get(own, own):<40} {done} of {of}" for own, (done, of) in solved.items()]
    return ["Exercises solved, by the checkpoint of each notebook:", *lines] if lines else []


def seeded(folder):
    """Return the line that tells the seed of a learner's data, where one was chosen."""
    seed = seed_in(folder)
    return [f'Data of your own are drawn from the seed "{seed}".'] if seed else []


# ---- from a notebook to a learner's copy ----


def copies():
    """Return the text of every learner's copy, by its file name."""
    return {path.name: written(learner_copy(nbformat.read(path, as_version=4))) for path in sources()}


def sources():
    """Return the notebooks in their order, and their labs; all copies lie in one folder."""
    return [*sorted(NOTEBOOKS.glob("*.ipynb")), *sorted((NOTEBOOKS / "labs").glob("*.ipynb"))]


def written(notebook):
    """Return a notebook as the text of its file."""
    return nbformat.writes(notebook, version=4) + "\n"


def learner_copy(notebook, note=YOURS, lead=None):
    """Return a new notebook without outputs, solutions and rubrics, with places to write.

    `note` is added to the first cell; `lead` turns a link of the original into that of the copy.
    """
    made = bare(notebook)
    cells = [cell for cell in made.cells if not KEPT_BACK & tags(cell)]
    made.cells = [one for cell in cells for one in (relinked(cell, lead or from_learner), *places(cell))]
    made.cells[0].source += note
    return made


def bare(notebook):
    """Return a copy of a notebook as it is before anything is run."""
    made = copy.deepcopy(notebook)
    for cell in made.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return made


def tags(cell):
    """Return the tags of a cell."""
    return set(cell.metadata.get("tags", []))


def relinked(cell, lead):
    """Let links to files of the project lead there from where the copy will be."""
    if cell.cell_type == "markdown":
        cell.source = TARGET.sub(lambda found: found["before"] + led(found["path"], lead), cell.source)
    return cell


def led(path, lead):
    """Return the target of a link as the copy needs it."""
    return path if ELSEWHERE.match(path) else lead(flat(path))


def flat(path):
    """Return a link of a notebook or of a lab as if both lay in one folder.

    >>> flat("labs/06_lab.ipynb"), flat("../06_comparison_mf_recovery.ipynb"), flat("../../docs/glossary.md")
    ('06_lab.ipynb', '06_comparison_mf_recovery.ipynb', '../docs/glossary.md')
    """
    if path.partition("#")[0].endswith(".ipynb"):
        return path.rpartition("/")[2]
    return path.removeprefix("../") if path.startswith("../../") else path


def from_learner(path):
    """Return a link from `learner/`: other notebooks are beside the copy, pictures beside the original."""
    beside = path.startswith("../") or path.partition("#")[0].endswith(".ipynb")
    return path if beside else f"../notebooks/{path}"


def places(cell):
    """Return the cells to write in that follow a text."""
    if cell.cell_type != "markdown":
        return []
    return [place(cell, *what) for marker, what in PLACES.items() if marker in cell.source]


def place(cell, kind, text):
    """Return an empty place for a guess or an answer."""
    made = nbformat.v4.new_markdown_cell(text, id=f"{cell.id[:50]}-{kind}")
    made.metadata["tags"] = [kind]
    return made


# ---- from the copies to the learner's folder ----


def hand_out(texts, folder):
    """Put the copies into a folder; return one line for each that is newer than what a learner has changed."""
    folder.mkdir(parents=True, exist_ok=True)
    record = recorded(folder)
    lines = [offer(folder, name, text, record) for name, text in texts.items()]
    return [line for line in lines if line]


def offer(folder, name, text, record):
    """Put one copy where it overwrites nothing of the learner's; return the line to print, or nothing."""
    digest, newest = digest_of(text.encode()), newest_copy(folder, name)
    if newest is None:
        return put(folder, name, text, record)
    there = digest_of((folder / newest).read_bytes())
    if there == digest or there in record.get(newest, []):
        remember(folder, record, newest, digest)  # first: whichever text a kill leaves there was handed out
        return "" if there == digest else put(folder, newest, text, record)
    if digest == last_handed_out(name, record):
        return ""
    beside = f"{name.removesuffix('.ipynb')}.v{number_of(newest) + 1}.ipynb"
    put(folder, beside, text, record)
    return f"{name} has changed since you began it: yours stays as it is, and the new one is {folder.name}/{beside}"


def put(folder, name, text, record):
    """Write a copy, and remember that it was handed out."""
    write(folder / name, text)
    remember(folder, record, name, digest_of(text.encode()))
    return ""


def remember(folder, record, name, digest):
    """Add a text to the record of all that were handed out."""
    if record.get(name, [])[-1:] != [digest]:
        record[name] = [*record.get(name, []), digest]
        write(folder / RECORD, json.dumps(record, indent=1) + "\n")


def recorded(folder):
    """Return the record; nothing where there is none that can be read, and then every copy counts as changed."""
    try:
        return dict(json.loads((folder / RECORD).read_text(encoding="utf8")))
    except (OSError, ValueError, TypeError):
        return {}


def newest_copy(folder, name):
    """Return the file name of the newest copy that is there, or None."""
    there = [path.name for path in folder.glob("*.ipynb")]
    return max((one for one in there if number_of(one, name)), key=number_of, default=None)


def last_handed_out(name, record):
    """Return the digest of the newest text of a notebook that was handed out, or None."""
    known = [one for one in record if number_of(one, name) and record[one]]
    return record[max(known, key=number_of)][-1] if known else None


def number_of(version, name=None):
    """Return 2 for "NAME.v2.ipynb" and 1 for "NAME.ipynb"; 0 for what is no version of `name`."""
    found = VERSION.fullmatch(version)
    return int(found[2] or 1) if found and name in (None, f"{found[1]}.ipynb") else 0


def digest_of(data):
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def write(path, text):
    """Write a file whole or not at all."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf8", newline="\n")


if __name__ == "__main__":
    sys.exit(main())

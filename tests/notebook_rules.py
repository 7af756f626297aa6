"""What every notebook has: rules that look at its structure, and say in words for its author what is missing.

A rule takes a notebook and yields complaints. The form of the main road, from top to bottom:

    # Title                                   cells before the objectives: at most three, 120 words, a picture
    **45 minutes** · **Level:** · **Paper:**  ..., year, span
    **Try it.** ...                           one thing to do
    **Objectives.** At the end you can        three; then **Prerequisites:**, and symbols folded
    ## Where we are going, ## 1. ... ## 2.    short cells; **Predict.**, code, <details><summary>Answer</summary>
    **Exercise.** *(easy, 1 point)* ...       text, stub with its check, folded solution; three of them
    ## n. Where it fails, and why
    ## Checkpoint                             checkpoint("nbNN")
    ## Recap                                  a point for each objective, in its words
    **Further reading.**                      a list with years and links

Labs, the optional second helpings, are held to fewer rules: LAB_RULES.
"""

import itertools
import re
import statistics
from pathlib import Path

import nbformat

from course.desk import exercises as exercises_known
from course.grading import FunctionExercise
from tests.notebook_parts import (
    ANSWER,
    EXERCISE,
    LINE,
    LINK,
    NUMBERED,
    PREDICT,
    bundles,
    code_cells,
    exercises,
    has_picture,
    objectives,
    opening,
    parts,
    section,
    stems,
    tags,
    words_of,
)

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LABS = sorted((ROOT / "notebooks" / "labs").glob("*.ipynb"))
FIRST, CAPSTONE = "00_start_here.ipynb", "11_capstone.ipynb"
CAPSTONE_TASKS = "it has its own tasks, in 105 minutes"
EXEMPT = {
    ("prerequisites", FIRST): "nothing comes before it",
    ("three_exercises", CAPSTONE): CAPSTONE_TASKS,
    ("three_objectives", CAPSTONE): CAPSTONE_TASKS,
    ("short", CAPSTONE): CAPSTONE_TASKS,
}

FIRST_WORDS, FIRST_CELLS = 120, 3
MOST_CELLS, MOST_WORDS, MOST_MINUTES = 70, 2000, 45
MEDIAN_LINES, MOST_LINES = 5, 15  # of code cells
MOST_IN_A_ROW = 4  # code cells without a word between them
DIFFICULTIES = {"easy": 1, "medium": 2, "hard": 3}  # points
SOLUTION = "# Solution: click to open"
FOLDED = r"<summary>(Answers?|Derivation\b.*|Rubric\b.*|Symbols, and \"Ready\?\"|What to see)</summary>"
TRY, LIVE = "**Try it.**", re.compile(r"\bnb\d\d\.\w+_live\(")
MACHINERY = re.compile(r"\b(expects|as_told)\(|as (the library|on the page)")

YEAR = re.compile(r"\b(?:19|20)\d\d\b")
SPAN = re.compile(r"\b(?:Eqs?\.|Tables?|Figures?|Theorems?|Sections?|Algorithms?|Definition)\s+\S*\d")
PICTURE = re.compile(r"!\[([^\]]*)\]\(|<img\b[^>]*>")
TABLE = re.compile(r"^\| symbol \| meaning \| shape \|\n\|[-| ]+\|\n((?:\|.*\|(?:\n|$))+)", re.MULTILINE)
BULLET = re.compile(r"^- +(.+)$", re.MULTILINE)
POINTS = re.compile(r"\*\*Exercise\.\*\* \*\((\w+), (\d) points?\)\*")
DERIVATION = re.compile(r"<details><summary>Derivation.*?</details>", re.DOTALL)
FAILS, CHECKPOINT, RECAP, READING = "Where it fails, and why", "Checkpoint", "Recap", "**Further reading.**"

RULES, LAB_RULES = {}, {}


def rule(function):
    """Register a rule of the main road under its name."""
    RULES[function.__name__] = function
    return function


def rule_of_all(function):
    """Register a rule of the main road and of labs."""
    LAB_RULES[function.__name__] = function
    return rule(function)


def complaints(notebook, name="", rules=None):
    """All that rules say of a notebook, each with the rule's name."""
    chosen = [key for key in rules or RULES if (key, name) not in EXEMPT]
    return [f"{key}: {text}" for key in chosen for text in RULES[key](notebook)]


def texts(notebook):
    """Texts that a learner reads."""
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown" and "rubric" not in tags(cell)]


def n_words(text):
    """Words of a text, without derivations and tables."""
    text = DERIVATION.sub("", text)
    return sum(len(line.split()) for line in text.splitlines() if not line.startswith("|"))


# ---- the beginning ----


@rule
def title_minutes_level_paper(notebook):
    """Say what it is, how long it takes, who can read it, and which part of which paper it is about."""
    text = opening(notebook)
    if not text.startswith("# "):
        yield "the first cell is no Markdown that starts with '# Title'"
    found = LINE.search(text)
    if not found:
        yield "needed on top: '**N minutes** · **Level:** ... · **Paper:** ..., year, span'"
        return
    if not YEAR.search(found[2]):
        yield f"the paper has no year: {found[2]}"
    if not SPAN.search(found[2]):
        yield f"which equations, tables or sections? {found[2]}"


@rule
def first_screen(notebook):
    """The question, a picture and one thing to do, at once."""
    at = next((i for i, cell in enumerate(notebook.cells) if "**Objectives.**" in cell.source), None)
    if at is None or at > FIRST_CELLS:
        yield f"'**Objectives.**' must stand after at most {FIRST_CELLS} cells; found after {at}"
        return
    cells = notebook.cells[:at]
    read = sum(n_words(cell.source) for cell in cells if cell.cell_type == "markdown")
    if read > FIRST_WORDS:
        yield f"{read} words stand before the objectives, more than {FIRST_WORDS}"
    if not any(has_picture(cell) for cell in cells if cell.cell_type == "code"):
        yield "there is no picture before the objectives"
    if sum(cell.source.count(TRY) for cell in cells) != 1:
        yield f"one thing to do: '{TRY}' once before the objectives"


@rule
def three_objectives(notebook):
    """Three promises, and three points of the recap that keep them."""
    found = objectives(notebook)
    if len(found) != 3:
        yield f"'**Objectives.** At the end you can' needs three numbered points; found {len(found)}"


@rule
def prerequisites(notebook):
    """Say what was read before, with links."""
    line = re.search(r"^\*\*Prerequisites:\*\* (.+)$", "\n".join(texts(notebook)), re.MULTILINE)
    if not line or not any(target.partition("#")[0].endswith(".ipynb") for target in LINK.findall(line[1])):
        yield "needed: a line '**Prerequisites:** ...' with a link to a notebook"


@rule
def symbols_are_folded(notebook):
    """The symbols used, in a folded table, with glossary and symbols of all notebooks."""
    text = "\n".join(texts(notebook))
    for page in ("../docs/glossary.md", "../docs/symbols.md"):
        if page not in LINK.findall(text):
            yield f"{page} is not linked"
    table = TABLE.search(text)
    if not table or len(table[1].strip().splitlines()) < 3:
        yield "needed: a table '| symbol | meaning | shape |' with three rows or more"


@rule
def short(notebook):
    """At most 70 cells, 2,000 words, 45 minutes."""
    read = sum(map(n_words, texts(notebook)))
    minutes = LINE.search(opening(notebook))
    for what, found, most in (
        ("cells", len(notebook.cells), MOST_CELLS),
        ("words", read, MOST_WORDS),
        ("minutes", int(minutes[1]) if minutes else 0, MOST_MINUTES),
    ):
        if found > most:
            yield f"{found} {what}, more than {most}"


# ---- the way ----


@rule_of_all
def headings(notebook):
    """One title, no level left out, sections numbered in order."""
    found = [value for kind, value in parts(notebook) if kind == "heading"]
    if [level for level, _ in found].count(1) != 1:
        yield "there must be one heading of level one, the title"
    for (before, _), (after, title) in itertools.pairwise(found):
        if after > before + 1:
            yield f"'{title}' jumps from level {before} to {after}"
    numbers = [int(n) for level, title in found if level == 2 for n in re.findall(r"^(\d+)\. ", title)]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"sections are numbered {numbers}"


@rule_of_all
def links_lead_somewhere(notebook, folders=("notebooks", "notebooks/labs")):
    """Every link to a file of the project finds it."""
    lab = opening(notebook).startswith("# Lab ")
    for cell in notebook.cells:
        for target in LINK.findall(cell.source) if cell.cell_type == "markdown" else ():
            if not re.match(r"https?:|#", target) and not (ROOT / folders[lab] / target.partition("#")[0]).is_file():
                yield f"link to {target}: no such file"


@rule_of_all
def only_answers_and_derivations_are_folded(notebook):
    """What is to be read stands open."""
    for text in texts(notebook):
        for summary in re.findall(r"<summary>.*?</summary>", text):
            if not re.fullmatch(FOLDED, summary):
                yield f"{summary} is folded; only answers, derivations, rubrics and symbols are"


@rule_of_all
def predictions_before_experiments(notebook):
    """Ask before running; answer below, folded."""
    text = [value if kind == "text" else "<code>" for kind, value in parts(notebook) if kind != "heading"]
    text = "\n".join(text)
    if re.search(r"\*\*(Predict|Exercise)(?!\.\*\*)", text):
        yield f"write '{PREDICT}' and '{EXERCISE}', so that readers find them"
    for number, after in enumerate(text.split(PREDICT)[1:], start=1):
        question, _, answer = after.partition(ANSWER)
        start = " ".join(after[:70].split())
        if not answer:
            yield f"prediction {number} ({start} ...) has no '<details>{ANSWER}' before the next"
        elif "<code>" not in question:
            yield f"prediction {number} ({start} ...) is answered before any cell is run"


@rule
def live_figure(notebook):
    """A figure that follows the mouse, and one prediction at least."""
    if not any(LIVE.search(cell.source) for cell in code_cells(notebook)):
        yield "there is no live figure: end a cell with one of the notebook's package, such as nb04.turn_live()"
    if not any(PREDICT in text for text in texts(notebook)):
        yield f"nothing is predicted: '{PREDICT}'"


@rule_of_all
def figures_survive(notebook):
    """Live figures and panels are stored with a picture and a sentence."""
    for cell in code_cells(notebook):
        if re.search(r"\bnb\d\d\.\w+_(panel|live)\(", cell.source):
            still = [data for data in bundles(cell) if data.get("text/plain", "").startswith("[interactive panel] ")]
            if not any("image/png" in data for data in still):
                yield f"{cell.source.strip()[-60:]!r} is stored without picture and sentence: python3 kit.py notebooks"


@rule_of_all
def no_machinery(notebook):
    """What tests hold does not stand in the way of readers."""
    for cell in code_cells(notebook):
        if found := MACHINERY.search(cell.source):
            yield f"{found[0]!r} belongs into a test: {cell.source.splitlines()[0]}"
    for cell in notebook.cells:
        if tags(cell) & {"further", "told"}:
            yield f"a tag that nothing reads: {sorted(tags(cell))}"


# ---- exercises ----


@rule
def three_exercises(notebook):
    """Three, and at most one of them hard."""
    found = len(exercises(notebook))
    if found != 3:
        yield f"'{EXERCISE}' stands before {found} exercises, not three"


@rule_of_all
def exercises_are_complete(notebook):
    """A text with difficulty, points and the form of the answer, a stub, and a folded solution that was run."""
    for text in texts(notebook):
        for mark in re.findall(r"\*\*Exercise\.\*\*.{0,40}", text):
            found = POINTS.match(mark)
            if not found or DIFFICULTIES.get(found[1]) != int(found[2]):
                yield f"needed: '**Exercise.** *(easy, 1 point)*', medium 2, hard 3: {mark}"
    for number, cells in enumerate(exercises(notebook), start=1):
        names = {name for cell in cells for name in re.findall(r"\b(?:check|reveal)\(\s*\"([\w-]+)\"", cell.source)}
        if len(names) != 1 or len(cells) != 2:
            yield f"exercise {number} has {len(cells)} cells with {sorted(names)}: a stub and a solution, of one name"
            continue
        (name,) = names
        yield from (f"exercise {number} ({name}): {text}" for text in _incomplete(name, *cells))


def _incomplete(name, stub, solution):
    known = exercises_known()
    if name not in known:
        yield "no such exercise in any course/nbNN/exercises.py"
    elif _mistakes_known(known[name]) < 2:
        yield "check() must recognise two typical wrong answers or more"
    if not re.search(r"not yet: |not answered yet: ", words_of(stub)):
        yield f"the stub is told {words_of(stub).strip()!r}, not that it is wrong"
    if "Stuck?" in words_of(stub) and not isinstance(known.get(name), FunctionExercise):
        yield "the mistake of the stub is none that check() recognises: take a typical one"
    if "check(" in solution.source:
        yield "the solution calls check(), which counts as the learner's answer: call reveal()"
    if not solution.metadata.get("jupyter", {}).get("source_hidden"):
        yield "the solution is not folded: metadata jupyter.source_hidden"
    if solution.source.splitlines()[0] != SOLUTION:
        yield f"the first line of the solution, which JupyterLab shows, is not '{SOLUTION}'"
    if not words_of(solution).startswith("correct: "):
        yield "the solution was not run, or is not right"


def _mistakes_known(exercise):
    """Typical wrong answers that are recognised; of an answer in parts, the fewest of a part."""
    if isinstance(exercise, FunctionExercise):
        return len(exercise.wrong)
    return min(len(part.mistakes) for part in exercise.parts)


@rule_of_all
def stubs_bind_nothing_that_is_used(notebook):
    """A stub that does not compile harms no later cell: what follows takes an answer by desk.usable(name)."""
    for cell in code_cells(notebook):
        if re.search(r"\busable\(\s*\"\w+\"\s*,", cell.source):
            yield f"usable() takes the name alone: {cell.source.splitlines()[0]}"


@rule
def hints_are_named(notebook):
    """Say once how to get a hint; the call works as printed, since the notebook has imported it."""
    if not any('hint("' in text for text in texts(notebook)):
        yield 'say how to get help, such as `hint("name")`, and `hint("name", 2)` for more'
    if not any(re.search(r"from course import .*\bhint\b", cell.source) for cell in code_cells(notebook)):
        yield "the first cell of imports does not import hint from course"


# ---- the end ----


@rule
def failures(notebook):
    """A section where the method fails and why, with something that is run."""
    found = section(notebook, FAILS)
    if not found:
        yield f"there is no section '## n. {FAILS}'"
    elif not found[1]:
        yield f"'{FAILS}' runs nothing: show it"


@rule
def checkpoint(notebook):
    """What the learner has solved, nothing in an untouched notebook."""
    found = section(notebook, CHECKPOINT)
    own = [cell for cell in found[1] if re.search(r"^checkpoint\(", cell.source, re.MULTILINE)] if found else []
    if [bool(re.match(r"0 of \d+ exercises solved; begin with", words_of(cell))) for cell in own] != [True]:
        yield f"'## {CHECKPOINT}' calls no course.checkpoint(\"nbNN\") that says of an untouched notebook: 0 of n"


@rule
def recap_mirrors_objectives(notebook):
    """As many points as objectives, each taking up a word of its own."""
    found, wanted = section(notebook, RECAP), objectives(notebook)
    if not found:
        yield f"there is no section '## {RECAP}'"
        return
    points = [line for _, line in NUMBERED.findall(found[0].partition(READING)[0])]
    if len(points) != len(wanted):
        yield f"the recap has {len(points)} numbered points, and there are {len(wanted)} objectives"
    for number, (point, objective) in enumerate(zip(points, wanted, strict=False), start=1):
        if not stems(point) & stems(objective):
            yield f"point {number} of the recap does not take up objective {number}: {objective}"


@rule
def further_reading(notebook):
    """The notebook ends with references, with years and links."""
    text = notebook.cells[-1].source
    items = BULLET.findall(text.partition(READING)[2])
    if READING not in text or len(items) < 2:
        yield f"the last cell must end with '{READING}' and a list ('- ...') of two references or more"
    for item in items:
        if not YEAR.search(item):
            yield f"a reference without a year: {item}"
    if sum(bool(re.search(r"\]\(https://", item)) for item in items) < min(2, len(items)):
        yield "two references at least need a link, such as a DOI"


# ---- cells ----


@rule_of_all
def code_is_short(notebook):
    """Median and longest cell."""
    lengths = [len(cell.source.strip().splitlines()) for cell in code_cells(notebook)]
    is_lab = opening(notebook).startswith("# Lab ")
    if lengths and not is_lab and statistics.median(lengths) > MEDIAN_LINES:
        yield f"the median code cell has {statistics.median(lengths):g} lines, more than {MEDIAN_LINES}"
    for cell, length in zip(code_cells(notebook), lengths, strict=True):
        if length > MOST_LINES:
            yield f"a code cell has {length} lines, more than {MOST_LINES}: {cell.source.splitlines()[0]}"


@rule
def words_between_code(notebook):
    """Steps are told: no long runs of code cells, solutions not counted."""
    for is_code, run in itertools.groupby(notebook.cells, key=lambda cell: cell.cell_type == "code"):
        cells = [cell for cell in run if is_code and "solution" not in tags(cell)]
        if len(cells) > MOST_IN_A_ROW:
            yield f"{len(cells)} code cells in a row from {cells[0].source.splitlines()[0]!r}: say what each is for"


@rule_of_all
def pictures_have_words(notebook):
    """Every picture says what it shows, for those who do not see it."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" not in output.get("data", {}):
                continue
            last, said = cell.source.strip().splitlines()[-1], output.data.get("text/plain", "")
            if not re.match(r"(Figure: |\[interactive panel\] ).{12}", said):
                yield f"the picture of {last!r} has no sentence as text/plain: {said!r}"
            if not output.metadata.get("image/png", {}).get("alt"):
                yield f"the picture of {last!r} has no alternative text in its metadata: python3 kit.py notebooks"
        for match in PICTURE.finditer(cell.source) if cell.cell_type == "markdown" else ():
            if not (match[1] or re.search(r"\balt=\"[^\"]+\"", match[0])):
                yield f"a picture without alternative text: {match[0]}"


@rule_of_all
def was_run_from_top_to_bottom(notebook):
    """Stored outputs are of one run; a measurement that is not compared is not stored."""
    counts = [cell.execution_count for cell in code_cells(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        yield "not run from top to bottom: python3 kit.py notebooks"
    for cell in code_cells(notebook):
        if "nbval-ignore-output" in tags(cell) and cell.outputs:
            yield f"an output is stored that no test compares: {cell.source.splitlines()[0]}"


@rule_of_all
def warnings_and_errors(notebook):
    """No warning is hidden, none is stored, and no error that is not meant."""
    for cell in code_cells(notebook):
        first = cell.source.splitlines()[0]
        if re.search(r"(filterwarnings|simplefilter)\(\s*[\"']ignore", cell.source):
            yield f"a cell hides warnings: {first}"
        if any(output.get("name") == "stderr" for output in cell.outputs):
            yield f"a cell stores what went to stderr: {first}"
        if "raises-exception" not in tags(cell) and any(output.output_type == "error" for output in cell.outputs):
            yield f"a cell stores an error: {first}"


@rule_of_all
def valid_and_canonical(notebook):
    """The file is a notebook as `kit.py notebooks` writes it."""
    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        yield f"not a valid notebook: {error.message}"
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3" or "widgets" in notebook.metadata:
        yield "not canonical: python3 kit.py notebooks"
    names = [cell.get("id") for cell in notebook.cells]
    if len(set(names)) != len(names):
        yield "cells share an id: python3 kit.py notebooks"

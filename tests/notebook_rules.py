"""What every notebook has: rules that look at its structure, and say in words for its author what is missing.

A rule takes a notebook and yields complaints. The conventions, from top to bottom:

    # Title                                   first cell: **N minutes on the core path, M in all** · **Level:** ...
                                              · **Paper:** ..., year, span
    **Objectives.** At the end you can        numbered; each starts with a verb of VERBS
    **Prerequisites:** ...                    links to notebooks
    **Only ten minutes?** ...                 what to read, what to run, which exercise
    **Core path.** ...                        which objectives are met in what is further
    | symbol | meaning | shape |              notation, and links to glossary and symbols
    ## Where we are going                     with a picture of the end result
    ## 3. ... (further)                       beside the core path: all its cells have the tag `further`
    ## 1. ... ## 2. ...                       short cells; **Predict.**, code, <details><summary>Answer</summary>
    **Exercise.** ...                         given, expects(name), a stub, a folded solution that was run
    **Open question.** ...                    with a rubric for the teacher in a cell of its own, tagged `rubric`
    ## n. Where it fails, and why
    ## Checkpoint                             checkpoint("nbNN"); as_told({"name": (found, told, within)})
    ## Recap                                  as many points as objectives, in their order and words
    **Further reading.**                      a list with years and links
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
from tests.notebook_path import PATH_RULES
from tools.minutes import claimed

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FIRST = "00_start_here.ipynb"
EXEMPT = {
    ("prerequisites", FIRST): "nothing comes before it",
    ("algorithms_are_built", FIRST): "it shows what the library does; 01 builds it",
    ("algorithms_are_built", "07_crowd_on_real_data.ipynb"): "it compares methods; 01 to 04 build them",
    ("algorithms_are_built", "10_your_own_data.ipynb"): "it is about using the library on one's own data",
    ("algorithms_are_built", "11_capstone.ipynb"): "it is about judging what methods say",
    ("core_takes_an_hour", "11_capstone.ipynb"): "it closes the course, and is done whole, in 105 minutes",
}

VERBS = """
    aggregate bound build certify check choose classify collect compare compute count decide diagnose draw estimate
    explain expose fill find fit impute judge list load locate measure name plan plot predict quote rank read recognise
    recommend refuse report rerun run say separate show solve sort state take tell test trace turn write
"""
MEDIAN_LINES, MOST_LINES = 5, 15  # of code cells
MOST_IN_A_ROW = 4  # code cells without a word between them
FEWEST_PREDICTIONS = FEWEST_MARKS = 3
MINUTES_PER_EXERCISE = 15
SHORT, OPEN_QUESTION, SOLUTION = "**Only ten minutes?**", "**Open question.**", "# Solution: click to open"
STEP = "step"  # tag of a cell that shows a step of an algorithm
NOT_A_STEP = re.compile(r"\b(as_told|check|checkpoint|expects|given|reveal|usable)\(|\bnb\d\d\.(draw_\w+|\w+_panel)\(")

YEAR = re.compile(r"\b(?:19|20)\d\d\b")
SPAN = re.compile(r"\b(?:Eqs?\.|Tables?|Figures?|Theorems?|Sections?|Algorithms?|Definition)\s+\S*\d")
PICTURE = re.compile(r"!\[([^\]]*)\]\(|<img\b[^>]*>")
TABLE = re.compile(r"^\| symbol \| meaning \| shape \|\n\|[-| ]+\|\n((?:\|.*\|(?:\n|$))+)", re.MULTILINE)
BULLET = re.compile(r"^- +(.+)$", re.MULTILINE)
FAILS, CHECKPOINT, RECAP, READING = "Where it fails, and why", "Checkpoint", "Recap", "**Further reading.**"
GOING = "Where we are going"

RULES = {function.__name__: function for function in PATH_RULES}


def rule(function):
    """Register a rule under its name."""
    RULES[function.__name__] = function
    return function


def complaints(notebook, name="", rules=None):
    """All that rules say of a notebook, each with the rule's name."""
    chosen = [key for key in rules or RULES if (key, name) not in EXEMPT]
    return [f"{key}: {text}" for key in chosen for text in RULES[key](notebook)]


# ---- the first cell ----


@rule
def title_minutes_level_paper(notebook):
    """Say what it is, how long it takes, who can read it, and which part of which paper it is about."""
    text = opening(notebook)
    if not text.startswith("# "):
        yield "the first cell is no Markdown that starts with '# Title'"
    found = LINE.search(text)
    if not found:
        yield "needed on top: '**N minutes on the core path, M in all** · **Level:** ... · **Paper:** ..., year, span'"
        return
    if not YEAR.search(found[2]):
        yield f"the paper has no year: {found[2]}"
    if not SPAN.search(found[2]):
        yield f"which equations, tables or sections? {found[2]}"


@rule
def objectives_can_be_checked(notebook):
    """Three to seven objectives, each with a verb whose success can be seen."""
    found = objectives(notebook)
    if not 3 <= len(found) <= 7:
        yield f"'**Objectives.** At the end you can' needs a numbered list of three to seven points; found {len(found)}"
    for number, line in enumerate(found, start=1):
        verb = re.match(r"\w*", line)[0]
        if verb not in VERBS.split():
            yield f"objective {number} starts with '{verb}': can that be checked? Compute, draw, predict, choose ..."


@rule
def prerequisites(notebook):
    """Say what to read before, with links."""
    line = re.search(r"^\*\*Prerequisites:\*\* (.+)$", opening(notebook), re.MULTILINE)
    if not line or not any(target.partition("#")[0].endswith(".ipynb") for target in LINK.findall(line[1])):
        yield "the first cell needs a line '**Prerequisites:** ...' with a link to a notebook"


@rule
def ten_minutes(notebook):
    """A short way for those in a hurry."""
    if SHORT not in opening(notebook):
        yield f"the first cell needs a line '{SHORT} ...': what to read, what to run, which exercise to do"


@rule
def glossary_and_symbols(notebook):
    """Link the words and the symbols of all notebooks."""
    targets = LINK.findall(opening(notebook))
    for page in ("../docs/glossary.md", "../docs/symbols.md"):
        if page not in targets:
            yield f"the first cell does not link {page}"


@rule
def notation_table(notebook):
    """The symbols used, in a table."""
    table = TABLE.search(opening(notebook))
    if not table or len(table[1].strip().splitlines()) < 3:
        yield "the first cell needs a table '| symbol | meaning | shape |' with three rows or more"


@rule
def end_result_first(notebook):
    """A picture of where this leads, before any step."""
    found = [value for kind, value in parts(notebook) if kind == "heading"]
    titles = [title for level, title in found if level == 2]
    if titles[:1] != [GOING]:
        yield f"the first heading of level two must be '## {GOING}'; found {titles[:1]}"
    elif not any(map(has_picture, section(notebook, GOING)[1])):
        yield f"'## {GOING}' shows no picture of the end result"


# ---- the way ----


@rule
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


@rule
def links_lead_somewhere(notebook):
    """Every link to a file of the project finds it."""
    for cell in notebook.cells:
        for target in LINK.findall(cell.source) if cell.cell_type == "markdown" else ():
            if not re.match(r"https?:|#", target) and not (ROOT / "notebooks" / target.partition("#")[0]).is_file():
                yield f"link to {target}: no such file"


@rule
def predictions_before_experiments(notebook):
    """Ask before running; answer below, folded."""
    text = [value if kind == "text" else "<code>" for kind, value in parts(notebook) if kind != "heading"]
    text = "\n".join(text)
    if re.search(r"\*\*(Predict|Exercise)(?!\.\*\*)", text):
        yield f"write '{PREDICT}' and '{EXERCISE}', so that readers find them"
    asked = text.split(PREDICT)[1:]
    if len(asked) < FEWEST_PREDICTIONS:
        yield f"'{PREDICT}' stands {len(asked)} times: ask before each experiment, {FEWEST_PREDICTIONS} times or more"
    for number, after in enumerate(asked, start=1):
        question, _, answer = after.partition(ANSWER)
        start = " ".join(after[:70].split())
        if not answer:
            yield f"prediction {number} ({start} ...) has no '<details>{ANSWER}' before the next"
        elif "<code>" not in question:
            yield f"prediction {number} ({start} ...) is answered before any cell is run"


@rule
def a_panel_that_survives(notebook):
    """A panel of controls, stored with a picture and a sentence for readers without a kernel."""
    panels = [cell for cell in code_cells(notebook) if re.search(r"\bnb\d\d\.\w+_panel\(", cell.source)]
    if not panels:
        yield "there is no panel: end a cell with one of the notebook's package, such as nb04.race_panel()"
    for cell in panels:
        still = [data for data in bundles(cell) if data.get("text/plain", "").startswith("[interactive panel] ")]
        if not any("image/png" in data for data in still):
            yield f"the panel {cell.source.strip()!r} is stored without picture and sentence: python3 kit.py notebooks"


# ---- exercises ----


@rule
def number_of_exercises(notebook):
    """Two or three; more only in a long notebook."""
    whole = claimed(notebook)[1]
    found, most = len(exercises(notebook)), max(3, whole // MINUTES_PER_EXERCISE)
    if not 2 <= found <= most:
        yield f"'{EXERCISE}' stands before {found} exercises; two to {most} suit {whole} minutes"


@rule
def exercises_are_complete(notebook):
    """What the answer has to be, a stub that runs and is told what is wrong, a folded solution that was run."""
    for number, cells in enumerate(exercises(notebook), start=1):
        names = {name for cell in cells for name in re.findall(r"\b(?:check|reveal)\(\s*\"([\w-]+)\"", cell.source)}
        if len(names) != 1:
            yield f"exercise {number} checks {sorted(names) or 'nothing'}: one name for stub and solution"
            continue
        (name,) = names
        yield from (f"exercise {number} ({name}): {text}" for text in _incomplete(name, cells))


def _incomplete(name, cells):
    checked = [cell for cell in cells if f'"{name}"' in cell.source and re.search(r"\b(check|reveal)\(", cell.source)]
    stubs = [cell for cell in checked if "solution" not in tags(cell)]
    solutions = [cell for cell in checked if "solution" in tags(cell)]
    known = exercises_known()
    if name not in known:
        yield "no such exercise in any course/nbNN/exercises.py"
    elif _mistakes_known(known[name]) < 2:
        yield "check() must recognise two typical wrong answers or more"
    if not any(f'expects("{name}")' in cell.source for cell in cells):
        yield f'show what is expected: expects("{name}")'
    if not stubs:
        yield "no stub: a cell that runs, hands a wrong answer to check() and is told what is wrong"
    for cell in stubs:
        if not re.search(r"not yet: |not answered yet: ", words_of(cell)):
            yield f"the stub is told {words_of(cell).strip()!r}, not that it is wrong"
        if "Stuck?" in words_of(cell) and not isinstance(known.get(name), FunctionExercise):
            yield "the mistake of the stub is none that check() recognises: take a typical one"
    if not solutions:
        yield "no solution: a cell with the tag 'solution' that calls reveal()"
    for cell in solutions:
        if "check(" in cell.source:
            yield "the solution calls check(), which counts as the learner's answer: call reveal()"
        if not cell.metadata.get("jupyter", {}).get("source_hidden"):
            yield "the solution is not folded: metadata jupyter.source_hidden"
        if cell.source.splitlines()[0] != SOLUTION:
            yield f"the first line of the solution, which JupyterLab shows, is not '{SOLUTION}'"
        if not words_of(cell).startswith("correct: "):
            yield "the solution was not run, or is not right"


def _mistakes_known(exercise):
    """Typical wrong answers that are recognised; of an answer in parts, the fewest of a part."""
    if isinstance(exercise, FunctionExercise):
        return len(exercise.wrong)
    return min(len(part.mistakes) for part in exercise.parts)


@rule
def a_function_to_write(notebook):
    """The learner writes an algorithm, not only a number."""
    known = exercises_known()
    checked = {name for cell in code_cells(notebook) for name in re.findall(r"\bcheck\(\s*\"([\w-]+)\"", cell.source)}
    if not any(isinstance(known.get(name), FunctionExercise) for name in checked):
        yield "no exercise asks for a function: a FunctionExercise in course/nbNN/exercises.py"


@rule
def open_question(notebook):
    """One question without a checked answer, and what a good one says, for the teacher."""
    asked = [i for i, cell in enumerate(notebook.cells) if cell.source.startswith(OPEN_QUESTION)]
    if not asked:
        yield f"no cell begins with '{OPEN_QUESTION}'"
    for i in asked:
        rubric = notebook.cells[i + 1] if i + 1 < len(notebook.cells) else None
        if rubric is None or "rubric" not in tags(rubric) or "<details>" not in rubric.source:
            yield "the cell after the open question is no folded rubric with the tag 'rubric'"
        elif len(re.findall(r"^ *(?:[-*]|\d+\.) ", rubric.source, re.MULTILINE)) < 3:
            yield "the rubric lists fewer than three points"


@rule
def algorithms_are_built(notebook):
    """At least half of the cells that could show a step of an algorithm do, without a helper that hides it."""
    compared = section(notebook, CHECKPOINT) or ("", [])
    cells = [cell for cell in code_cells(notebook) if cell not in compared[1] and not _beside(cell)]
    steps = [cell for cell in cells if STEP in tags(cell)]
    if 2 * len(steps) < len(cells):
        others = [cell.source.splitlines()[0] for cell in cells if STEP not in tags(cell)]
        yield f"{len(steps)} of {len(cells)} cells have the tag '{STEP}', fewer than half; the others begin {others}"
    for cell in code_cells(notebook):
        if STEP in tags(cell) and re.search(r"\bnb\d\d\.", cell.source):
            yield f"a step calls a helper of the notebook: {cell.source.splitlines()[0]}"


def _beside(cell):
    """Whether a cell imports, draws, belongs to an exercise, or compares numbers: there no algorithm is expected."""
    lines = cell.source.strip().splitlines()
    return bool("solution" in tags(cell) or lines[0].startswith(("import ", "from ")) or NOT_A_STEP.search(cell.source))


@rule
def hints_are_named(notebook):
    """Say once how to get a hint; the call works as printed, since the notebook has imported it."""
    if not any('hint("' in cell.source for cell in notebook.cells if cell.cell_type == "markdown"):
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
    """What the learner has solved, nothing in an untouched notebook; and the numbers of the text, all met."""
    found = section(notebook, CHECKPOINT)
    if not found:
        yield f"there is no section '## {CHECKPOINT}'"
        return
    own = [cell for cell in found[1] if re.search(r"^checkpoint\(", cell.source, re.MULTILINE)]
    if [bool(re.match(r"0 of \d+ exercises solved; begin with", words_of(cell))) for cell in own] != [True]:
        yield 'the checkpoint calls no course.checkpoint("nbNN") that says of an untouched notebook: 0 of n'
    calls = [cell for cell in found[1] if re.search(r"\bas_told\(", cell.source)]
    if not calls:
        yield 'the checkpoint calls no course.as_told({"name": (found, told, within)})'
    for cell in calls:
        if "told" not in tags(cell):
            yield "numbers told in the text are for its author: the tag 'told' keeps them from learners"
        said = words_of(cell)
        total = re.search(r"^(\d+) of (\d+) as told$", said, re.MULTILINE)
        if not total or total[1] != total[2]:
            yield f"not all numbers are as told: {said.strip()[-200:]}"
        elif int(total[2]) < FEWEST_MARKS:
            yield f"the checkpoint holds {total[2]} numbers; take {FEWEST_MARKS} or more"


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


@rule
def order_of_sections(notebook):
    """Failures, then the checkpoint, then the recap, which is last."""
    found = [value for kind, value in parts(notebook) if kind == "heading"]
    titles = [re.sub(r"^\d+\. ", "", title) for level, title in found if level == 2]
    at = [titles.index(title) for title in (FAILS, CHECKPOINT, RECAP) if title in titles]
    if at != sorted(at) or (RECAP in titles and titles[-1] != RECAP):
        yield f"the order must be '{FAILS}', '{CHECKPOINT}', '{RECAP}', and nothing after: found {titles}"


# ---- cells ----


@rule
def code_is_short(notebook):
    """Median and longest cell."""
    lengths = [len(cell.source.strip().splitlines()) for cell in code_cells(notebook)]
    if lengths and statistics.median(lengths) > MEDIAN_LINES:
        yield f"the median code cell has {statistics.median(lengths):g} lines, more than {MEDIAN_LINES}"
    for cell, length in zip(code_cells(notebook), lengths, strict=True):
        if length > MOST_LINES:
            yield f"a code cell has {length} lines, more than {MOST_LINES}: {cell.source.splitlines()[0]}"


@rule
def words_between_code(notebook):
    """Steps are told: no long runs of code cells, solutions not counted."""
    for is_code, run in itertools.groupby(notebook.cells, key=lambda cell: cell.cell_type == "code"):
        cells = [cell for cell in run if is_code and not {"solution", "told"} & tags(cell)]
        if len(cells) > MOST_IN_A_ROW:
            yield f"{len(cells)} code cells in a row from {cells[0].source.splitlines()[0]!r}: say what each is for"


@rule
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


@rule
def was_run_from_top_to_bottom(notebook):
    """Stored outputs are of one run."""
    counts = [cell.execution_count for cell in code_cells(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        yield "not run from top to bottom: python3 kit.py notebooks"


@rule
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


@rule
def mostly_compared(notebook):
    """At most half of the cells are exempt from comparison."""
    cells = code_cells(notebook)
    exempt = sum(bool(tags(cell) & {"nbval-ignore-output", "nbval-skip"}) for cell in cells)
    if exempt > len(cells) / 2:
        yield f"{exempt} of {len(cells)} cells are not compared with what is stored"


@rule
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

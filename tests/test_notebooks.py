"""Every notebook keeps the rules of `notebook_rules`, and every rule finds what it is for."""

import copy
import json
import re
from itertools import product

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tests.each import each
from tests.notebook_parts import PREDICT, code_cells, has_picture, tags
from tests.notebook_rules import EXEMPT, LAB_RULES, LABS, LINE, LIVE, NOTEBOOKS, READING, RULES, TRY, complaints

BYTES, BYTES_IN_ALL = 600_000, 4_000_000  # of a notebook, of the main road
GOOD = NOTEBOOKS[1]  # any that keeps all rules


@pytest.fixture(scope="module")
def stored():
    return {path: nbformat.read(path, as_version=4) for path in [*NOTEBOOKS, *LABS]}


@pytest.mark.slow
@each("path, rule", [*product(NOTEBOOKS, RULES), *product(LABS, LAB_RULES)])
def test_notebook_keeps_the_rule(stored, path, rule):
    found = complaints(stored[path], path.name, [rule])
    assert not found, "\n".join([RULES[rule].__doc__, *found])


def test_notebooks_have_places_in_the_order_a_lab_names_of_their_own_and_are_small():
    for path in [*NOTEBOOKS, *LABS]:
        assert re.fullmatch(r"\d\d_[a-z0-9_]+\.ipynb", path.name)
        assert path.stat().st_size < BYTES, path
        names = [
            cell["id"] for cell in json.loads(path.read_text(encoding="utf8"))["cells"]
        ]  # nbformat would mend them
        assert len(set(names)) == len(names), path
    assert sum(path.stat().st_size for path in NOTEBOOKS) < BYTES_IN_ALL
    assert {path.name[:2] for path in LABS} <= {path.name[:2] for path in NOTEBOOKS} and len(LABS) >= 6


def test_exemptions_are_of_rules_and_notebooks_that_there_are():
    assert all(rule in RULES and name in [path.name for path in NOTEBOOKS] for rule, name in EXEMPT)


# ---- every rule finds what it is for: a good notebook, broken in one way ----


def replaced(old, new):
    """Replace in the texts; it must be there."""

    def change(notebook):
        holding = [
            cell
            for cell in notebook.cells
            if cell.cell_type == "markdown" and re.search(old, cell.source, re.MULTILINE)
        ]
        assert holding
        for cell in holding:
            cell.source = re.sub(old, new, cell.source, flags=re.MULTILINE)

    return change


def on(pick, act):
    """Act on the first code cell that is picked."""

    def change(notebook):
        act(next(cell for cell in code_cells(notebook) if pick(cell)))

    return change


def solution(cell):
    return "solution" in tags(cell)


def stub(cell):
    return "check(" in cell.source and not solution(cell)


def live(cell):
    return LIVE.search(cell.source)


def says(text):
    return lambda cell: cell.update(outputs=[new_output("stream", name="stdout", text=text)])


def code(pick, old, new):
    return on(pick, lambda cell: cell.update(source=re.sub(old, new, cell.source)))


def without(pick):
    def change(notebook):
        before = len(notebook.cells)
        notebook.cells = [cell for cell in notebook.cells if cell.cell_type != "code" or not pick(cell)]
        assert len(notebook.cells) < before

    return change


def appended(*cells):
    return lambda notebook: notebook.cells.extend(cells)


def text(words):
    return new_markdown_cell(words)


def stored_although_ignored(cell):
    cell.metadata["tags"] = ["nbval-ignore-output"]


def answered_at_once(notebook):
    cell = next(cell for cell in notebook.cells if PREDICT in cell.source)
    cell.source += "\n<details><summary>Answer</summary> Five. </details>"


def unspoken(part):
    """Take a picture's words away: its sentence, or its alternative text."""

    def act(cell):
        for output in cell.outputs:
            output.get("data", {}).pop("text/plain", None) if part == "text" else output.update(metadata={})

    return on(has_picture, act)


BROKEN = {
    "title_minutes_level_paper": [
        lambda notebook: notebook.cells.insert(0, new_code_cell("1")),
        replaced(r"\*\*\d+ minutes[^*]*\*\*", "A while"),
        replaced(r"(\*\*Paper:\*\*.*)2021", r"\1"),
        replaced(r"ICML 2021.*$", "ICML 2021"),
    ],
    "first_screen": [
        lambda notebook: notebook.cells.insert(0, text("word " * 121)),
        lambda notebook: notebook.cells[:0].extend([]) or notebook.cells.__setitem__(slice(0, 0), [text("a")] * 3),
        on(has_picture, lambda cell: cell.update(outputs=[])),
        replaced(re.escape(TRY), "So:"),
        replaced(r"\*\*Objectives\.\*\*", "Aims."),
    ],
    "three_objectives": [replaced(r"^3\. (?=[a-z])", "")],
    "prerequisites": [replaced(r"^\*\*Prerequisites:\*\*.*$", "**Prerequisites:** some")],
    "symbols_are_folded": [replaced(r"docs/glossary", "docs/other"), replaced(r"\| symbol \|", "| thing |")],
    "short": [
        appended(*[text("a")] * 71),
        appended(text("word " * 2001)),
        replaced(r"\*\*45 minutes", "**46 minutes"),
    ],
    "headings": [appended(text("#### deep")), appended(text("# Again")), replaced(r"^## 2\. ", "## 7. ")],
    "links_lead_somewhere": [appended(text("[here](no_such.ipynb)"))],
    "only_answers_and_derivations_are_folded": [appended(text("<details><summary>More</summary> a </details>"))],
    "predictions_before_experiments": [
        replaced(r"\*\*Predict\.\*\*", "**Predict:**"),
        replaced(r"<details><summary>Answer", "<details><summary>So"),
        answered_at_once,
    ],
    "live_figure": [without(live), replaced(re.escape(PREDICT), "So:")],
    "figures_survive": [on(live, lambda cell: cell.update(outputs=[]))],
    "no_machinery": [
        appended(new_code_cell('expects("vote")')),
        appended(new_code_cell('print("as the library:", True)')),
        on(bool, lambda cell: cell.metadata.update(tags=["further"])),
    ],
    "three_exercises": [appended(text("**Exercise.** *(easy, 1 point)* And?"))],
    "exercises_are_complete": [
        without(stub),
        without(solution),
        replaced(r"\(easy, 1 point\)", "(easy)"),
        replaced(r"\(easy, 1 point\)", "(easy, 3 points)"),
        on(solution, lambda cell: cell.metadata.pop("jupyter")),
        on(solution, says("not yet: no\n")),
        on(stub, says("correct: well done\n")),
        on(stub, says('not yet: no. Stuck? hint("rate")\n')),
        on(solution, lambda cell: cell.update(source=cell.source.partition("\n")[2])),
        code(stub, r'check\("', 'check("un'),
        code(solution, r"reveal\(", "check("),
    ],
    "stubs_bind_nothing_that_is_used": [appended(new_code_cell('f = desk.usable("vote", f)'))],
    "hints_are_named": [
        replaced(r'hint\("', "help("),
        code(lambda cell: "from course" in cell.source, r", hint\b", ""),
    ],
    "failures": [
        replaced(r"Where it fails, and why", "Bad news"),
        lambda notebook: _texts_only_after(notebook, "Where it fails"),
    ],
    "checkpoint": [without(lambda cell: "checkpoint(" in cell.source and "import" not in cell.source)],
    "recap_mirrors_objectives": [replaced(r"^## Recap", "## The end"), replaced(r"^1\. The .*$", "1. Hello.")],
    "further_reading": [
        replaced(re.escape(READING), "More."),
        appended(text(f"{READING}\n\n- [a](https://b)\n- [c](https://d), 2001")),
        replaced(r"\]\(https://[^)]*\)", "]"),
    ],
    "code_is_short": [
        on(bool, lambda cell: cell.update(source=cell.source + "\nx = 1" * 15)),
        lambda notebook: [cell.update(source=cell.source + "\nx = 1" * 5) for cell in code_cells(notebook)],
    ],
    "words_between_code": [appended(*[new_code_cell("1") for _ in range(5)])],
    "pictures_have_words": [unspoken("text"), unspoken("alternative"), appended(text("![](overview.png)"))],
    "was_run_from_top_to_bottom": [
        on(bool, lambda cell: cell.update(execution_count=None)),
        on(lambda cell: cell.outputs, stored_although_ignored),
    ],
    "warnings_and_errors": [
        on(bool, lambda cell: cell.update(source="import warnings\nwarnings.filterwarnings('ignore')")),
        on(bool, lambda cell: cell.outputs.append(new_output("stream", name="stderr", text="careful"))),
        on(bool, lambda cell: cell.outputs.append(new_output("error", ename="E", evalue="", traceback=[]))),
    ],
    "valid_and_canonical": [
        lambda notebook: notebook.metadata.kernelspec.update(name="other"),
        on(bool, lambda cell: cell.pop("metadata")),
    ],
}


def _texts_only_after(notebook, word):
    """Let no code follow a word."""
    at = next(i for i, cell in enumerate(notebook.cells) if word in cell.source and "\n## " in f"\n{cell.source}")
    notebook.cells[at:] = [cell for cell in notebook.cells[at:] if cell.cell_type == "markdown"]


def test_every_rule_is_broken_once():
    assert set(BROKEN) == set(RULES)


@each("rule", BROKEN)
def test_rule_finds_what_it_is_for(rule):
    good = nbformat.read(GOOD, as_version=4)
    assert not complaints(good, GOOD.name, [rule])
    for number, change in enumerate(BROKEN[rule]):
        broken = copy.deepcopy(good)
        change(broken)
        assert complaints(broken, GOOD.name, [rule]), f"way {number}"


def test_an_exemption_spares_its_notebook_only():
    (rule, name), broken = next(iter(EXEMPT)), nbformat.read(GOOD, as_version=4)
    broken.cells = [cell for cell in broken.cells if "**Prerequisites:**" not in cell.source]
    assert complaints(broken, GOOD.name, [rule]) and not complaints(broken, name, [rule])
    assert LINE.search(broken.cells[0].source)

"""Every notebook keeps the rules of `notebook_rules`, and every rule finds what it is for."""

import copy
import json
import re
from itertools import product

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from course.desk import exercises
from course.grading import FunctionExercise
from tests.each import each
from tests.notebook_parts import ANSWER, PREDICT, code_cells, has_picture, opening, tags
from tests.notebook_rules import EXEMPT, FAILS, FIRST, NOTEBOOKS, READING, RECAP, RULES, complaints

GOOD = NOTEBOOKS[3]  # any that keeps all rules


@pytest.fixture(scope="module")
def stored():
    return {path: nbformat.read(path, as_version=4) for path in NOTEBOOKS}


@each("path, rule", product(NOTEBOOKS, RULES))
def test_notebook_keeps_the_rule(stored, path, rule):
    found = complaints(stored[path], path.name, [rule])
    assert not found, "\n".join([RULES[rule].__doc__, *found])


@each("path", NOTEBOOKS)
def test_notebook_file_has_a_place_in_the_order_and_is_small(path):
    assert re.fullmatch(r"\d\d_[a-z0-9_]+\.ipynb", path.name)
    assert path.stat().st_size < 2_000_000


@each("path", NOTEBOOKS)
def test_notebook_cells_have_names_of_their_own(path):
    names = [cell["id"] for cell in json.loads(path.read_text(encoding="utf8"))["cells"]]  # nbformat would mend them
    assert len(set(names)) == len(names)


def test_exemptions_are_of_rules_and_notebooks_that_there_are():
    assert all(rule in RULES and name in [path.name for path in NOTEBOOKS] for rule, name in EXEMPT)


# ---- every rule finds what it is for: a good notebook, broken in one way ----


@pytest.fixture(scope="module")
def good():
    return nbformat.read(GOOD, as_version=4)


def texts(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def replaced(old, new, first_only=True):
    """Replace in the texts, in the first that has it or in all; it must be there."""

    def change(notebook):
        holding = [cell for cell in texts(notebook) if re.search(old, cell.source, re.MULTILINE)]
        assert holding
        for cell in holding[:1] if first_only else holding:
            cell.source = re.sub(old, new, cell.source, count=first_only, flags=re.MULTILINE)

    return change


def on(pick, act):
    """Act on the first code cell that is picked."""

    def change(notebook):
        act(next(cell for cell in code_cells(notebook) if pick(cell)))

    return change


def solution(cell):
    return "solution" in tags(cell)


def stub(cell):
    return re.search(r"\bcheck\(", cell.source) and not solution(cell)


def number_stub(cell):
    """A stub of an exercise that asks for numbers."""
    return stub(cell) and "def " not in cell.source


def panel(cell):
    return re.search(r"\bnb\d\d\.\w+_panel\(", cell.source)


def says(text):
    return lambda cell: cell.update(outputs=[new_output("stream", name="stdout", text=text)])


def untagged(cell):
    cell.metadata["tags"] = []


def longer(cell):
    cell.source += "\nx = 1" * 15


def all_longer(notebook):
    for cell in code_cells(notebook):
        cell.source += "\nx = 1" * max(0, 6 - len(cell.source.splitlines()))


def without(pick):
    def change(notebook):
        before = len(notebook.cells)
        notebook.cells = [cell for cell in notebook.cells if cell.cell_type != "code" or not pick(cell)]
        assert len(notebook.cells) < before

    return change


def last_point_dropped(notebook):
    (recap,) = [cell for cell in texts(notebook) if f"## {RECAP}" in cell.source]
    points = re.findall(r"^\d+\. .*\n", recap.source, re.MULTILINE)
    recap.source = recap.source.replace(points[-1], "")


def early_picture_dropped(notebook):
    shown = next(cell for cell in code_cells(notebook) if has_picture(cell))
    shown.outputs = []


def fails_runs_nothing(notebook):
    at = next(i for i, cell in enumerate(notebook.cells) if FAILS in cell.source)
    notebook.cells[at:] = [cell for cell in notebook.cells[at:] if cell.cell_type == "markdown"]


def exercises_three_times(notebook):
    notebook.cells += 2 * copy.deepcopy(notebook.cells)


def five_in_a_row(notebook):
    notebook.cells[1:1] = [new_code_cell("1") for _ in range(5)]


def without_words(cell):
    for output in cell.outputs:
        output.get("data", {}).pop("text/plain", None)


def without_alternative_text(cell):
    for output in cell.outputs:
        output["metadata"] = {}


def an_error(cell):
    cell.outputs.append(new_output("error", ename="ValueError", evalue="", traceback=[]))


def a_warning(cell):
    cell.outputs.append(new_output("stream", name="stderr", text="careful"))


def hidden_warning(cell):
    cell.source = "import warnings\nwarnings.filterwarnings('ignore')"


def uncompared(notebook):
    for cell in code_cells(notebook):
        cell.metadata["tags"] = ["nbval-skip"]


def unfold(cell):
    cell.metadata.pop("jupyter")


def without_comment(cell):
    cell.source = cell.source.partition("\n")[2]


def no_function(notebook):
    """Drop the exercises that ask for a function."""
    known = exercises()
    asked = [name for name, exercise in known.items() if isinstance(exercise, FunctionExercise)]
    notebook.cells = [cell for cell in notebook.cells if not any(f'"{name}"' in cell.source for name in asked)]


def without_rubric(notebook):
    notebook.cells = [cell for cell in notebook.cells if "rubric" not in tags(cell)]


def without_steps(notebook):
    for cell in code_cells(notebook):
        cell.metadata["tags"] = [tag for tag in tags(cell) if tag != "step"]


def step_that_hides(cell):
    cell.source += "\nnb03.hidden()"


def import_without_hint(cell):
    cell.source = re.sub(r", hint\b", "", cell.source)


def first_is_code(notebook):
    notebook.cells.insert(0, new_code_cell("1"))


def appended(text):
    return lambda notebook: notebook.cells.append(new_markdown_cell(text))


def all_further(notebook):
    """Let nothing be on the core path but the first cell."""
    for cell in notebook.cells[1:]:
        cell.metadata["tags"] = [*tags(cell), "further"]


def all_core(notebook):
    for cell in notebook.cells:
        cell.metadata["tags"] = [tag for tag in tags(cell) if tag != "further"]


def further_without_heading(notebook):
    """Drop the first heading that says further."""
    at = next(i for i, cell in enumerate(notebook.cells) if cell.source.endswith("(further)"))
    del notebook.cells[at]


def core_without_heading(notebook):
    """Let the core path go on with the second cell of what is further."""
    at = next(i for i, cell in enumerate(notebook.cells) if "further" in tags(cell))
    untagged(notebook.cells[at + 1])


def exercises_further(notebook):
    """Let no exercise be on the core path."""
    for cell in notebook.cells:
        if "check(" in cell.source:
            cell.metadata["tags"] = [*tags(cell), "further"]


def predictions_run_nothing(notebook):
    cell = next(cell for cell in texts(notebook) if PREDICT in cell.source)
    cell.source += f"\n<details>{ANSWER} Five. </details>"


BROKEN = {
    "no opening text": ("title_minutes_level_paper", first_is_code),
    "no minutes": ("title_minutes_level_paper", replaced(r"\*\*\d+ minutes[^*]*\*\*", "A while")),
    "fewer minutes on the core path": ("minutes_are_counted", replaced(r"\*\*\d+ minutes on", "**40 minutes on")),
    "fewer minutes in all": ("minutes_are_counted", replaced(r"\d+ in all", "90 in all")),
    "a core path of two hours": ("core_takes_an_hour", all_core),
    "no core path": ("core_takes_an_hour", all_further),
    "further in words alone": ("further_is_marked", all_core),
    "further by a tag alone": ("further_is_marked", replaced(r" \(further\)$", "")),
    "further without a heading": ("further_is_marked", further_without_heading),
    "a core path without a heading": ("further_is_marked", core_without_heading),
    "no line on the core path": ("core_has_exercises", replaced(r"^\*\*Core path\.\*\*", "Or:")),
    "exercises further on": ("core_has_exercises", exercises_further),
    "no level": ("title_minutes_level_paper", replaced(r"\*\*Level:\*\*", "Level:")),
    "no paper": ("title_minutes_level_paper", replaced(r" · \*\*Paper:\*\*.*$", "")),
    "paper without year": ("title_minutes_level_paper", replaced(r"(\*\*Paper:\*\*.*)2021", r"\1")),
    "paper without span": ("title_minutes_level_paper", replaced(r"ICML 2021.*$", "ICML 2021")),
    "no objectives": ("objectives_can_be_checked", replaced(r"\*\*Objectives\.\*\*", "Aims.")),
    "an objective to understand": ("objectives_can_be_checked", replaced(r"^1\. \w+", "1. understand")),
    "no prerequisites": ("prerequisites", replaced(r"^\*\*Prerequisites:\*\*.*$", "")),
    "prerequisites without link": ("prerequisites", replaced(r"^\*\*Prerequisites:\*\*.*$", "**Prerequisites:** some")),
    "no short way": ("ten_minutes", replaced(r"\*\*Only ten minutes\?\*\*", "In a hurry?")),
    "no glossary": ("glossary_and_symbols", replaced(r"docs/glossary", "docs/other")),
    "no notation": ("notation_table", replaced(r"^\| symbol \|", "| thing |")),
    "no picture first": ("end_result_first", early_picture_dropped),
    "no goal": ("end_result_first", replaced(r"^## Where we are going", "## Elsewhere")),
    "a jump of headings": ("headings", appended("#### deep")),
    "two titles": ("headings", appended("# Again")),
    "sections out of order": ("headings", replaced(r"^## 2\. ", "## 7. ")),
    "a dead link": ("links_lead_somewhere", appended("[here](no_such.ipynb)")),
    "no predictions": ("predictions_before_experiments", replaced(r"\*\*Predict\.\*\*", "So:", first_only=False)),
    "a prediction by another name": ("predictions_before_experiments", replaced(r"\*\*Predict\.\*\*", "**Predict:**")),
    "no answer": ("predictions_before_experiments", replaced(f"<details>{ANSWER}", "", first_only=False)),
    "an answer too early": ("predictions_before_experiments", predictions_run_nothing),
    "no panel": ("a_panel_that_survives", without(panel)),
    "a panel without picture": ("a_panel_that_survives", on(panel, lambda cell: cell.update(outputs=[]))),
    "no exercises": ("number_of_exercises", replaced(r"\*\*Exercise\.\*\*", "Now:", first_only=False)),
    "too many exercises": ("number_of_exercises", exercises_three_times),
    "no stub": ("exercises_are_complete", without(stub)),
    "no solution": ("exercises_are_complete", without(solution)),
    "a solution in the open": ("exercises_are_complete", on(solution, unfold)),
    "a wrong solution": ("exercises_are_complete", on(solution, says("not yet: no\n"))),
    "a stub that is right": ("exercises_are_complete", on(stub, says("correct: well done\n"))),
    "a stub with an odd mistake": (
        "exercises_are_complete",
        on(number_stub, says('not yet: no. Stuck? hint("rate")\n')),
    ),
    "a solution that shows itself": ("exercises_are_complete", on(solution, without_comment)),
    "no function to write": ("a_function_to_write", no_function),
    "no open question": ("open_question", replaced(r"\*\*Open question\.\*\*", "Well:")),
    "an open question without rubric": ("open_question", without_rubric),
    "a rubric of one line": ("open_question", replaced(r"(?s)^(<details><summary>Rubric.*?\n).*", r"\1- <details>")),
    "hidden algorithms": ("algorithms_are_built", without_steps),
    "a step in a helper": ("algorithms_are_built", on(lambda cell: "step" in tags(cell), step_that_hides)),
    "an exercise unknown": (
        "exercises_are_complete",
        on(stub, lambda cell: cell.update(source=cell.source.replace('check("', 'check("un'))),
    ),
    "nothing expected": ("exercises_are_complete", without(lambda cell: "expects" in cell.source)),
    "no hints": ("hints_are_named", replaced(r"hint\(\"", "help(", first_only=False)),
    "a hint that is not imported": (
        "hints_are_named",
        on(lambda cell: "from course" in cell.source, import_without_hint),
    ),
    "no failures": ("failures", replaced(rf"^(## \d+\.) {FAILS}", r"\1 Bad news")),
    "failures only told": ("failures", fails_runs_nothing),
    "no checkpoint": ("checkpoint", replaced(r"^## Checkpoint", "## Numbers")),
    "a checkpoint without the learner": ("checkpoint", without(lambda cell: "checkpoint(" in cell.source)),
    "a checkpoint without numbers": ("checkpoint", without(lambda cell: "as_told(" in cell.source)),
    "numbers that learners get": ("checkpoint", on(lambda cell: "as_told(" in cell.source, untagged)),
    "a solution that counts": (
        "exercises_are_complete",
        on(solution, lambda cell: cell.update(source=cell.source.replace("reveal(", "check("))),
    ),
    "a number that differs": (
        "checkpoint",
        on(lambda cell: "as_told(" in cell.source, says("rate 0.5  0.4 ± 0.01  LOOK AGAIN\n6 of 7 as told: what\n")),
    ),
    "no recap": ("recap_mirrors_objectives", replaced(rf"^## {RECAP}", "## The end")),
    "a short recap": ("recap_mirrors_objectives", last_point_dropped),
    "a recap of other things": ("recap_mirrors_objectives", replaced(r"(## Recap\n\n)1\. .*", r"\g<1>1. Hello.")),
    "no further reading": ("further_reading", replaced(re.escape(READING), "More.")),
    "a reference without year": ("further_reading", appended(f"{READING}\n\n- [a](https://b)\n- [c](https://d), 2001")),
    "references without links": ("further_reading", replaced(r"\]\(https://[^)]*\)", "]", first_only=False)),
    "more after the recap": ("order_of_sections", appended("## And then")),
    "a long cell": ("code_is_short", on(bool, longer)),
    "long cells": ("code_is_short", all_longer),
    "code without words": ("words_between_code", five_in_a_row),
    "a picture without words": ("pictures_have_words", on(has_picture, without_words)),
    "a picture without alternative text": ("pictures_have_words", on(has_picture, without_alternative_text)),
    "an image without alternative text": ("pictures_have_words", appended("![](overview.png)")),
    "not run": ("was_run_from_top_to_bottom", on(bool, lambda cell: cell.update(execution_count=None))),
    "a hidden warning": ("warnings_and_errors", on(bool, hidden_warning)),
    "a stored warning": ("warnings_and_errors", on(bool, a_warning)),
    "a stored error": ("warnings_and_errors", on(bool, an_error)),
    "nothing compared": ("mostly_compared", uncompared),
    "another kernel": ("valid_and_canonical", lambda notebook: notebook.metadata.kernelspec.update(name="other")),
    "invalid": ("valid_and_canonical", on(bool, lambda cell: cell.pop("metadata"))),
}


def test_every_rule_is_broken_once():
    assert {rule for rule, _ in BROKEN.values()} == set(RULES)


@each("how", BROKEN)
def test_rule_finds_what_it_is_for(good, how):
    rule, change = BROKEN[how]
    broken = copy.deepcopy(good)
    assert not complaints(broken, GOOD.name, [rule])
    change(broken)
    assert complaints(broken, GOOD.name, [rule])


def test_an_exemption_spares_its_notebook_only(good):
    rule, name = "prerequisites", FIRST
    assert (rule, name) in EXEMPT
    broken = copy.deepcopy(good)
    broken.cells[0].source = re.sub(r"\*\*Prerequisites:.*", "", opening(good))
    assert complaints(broken, GOOD.name, [rule]) and not complaints(broken, name, [rule])

"""What learners get: no results, no solutions, room for guesses; and nothing that they wrote is ever overwritten."""

import ast
import json
import os
import re
import subprocess
import symtable
import sys
from itertools import product

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.each import each
from tools import learner

NAME = "05_small.ipynb"
READ = "Lab 05, theorems: what nine theorems guarantee"  # it has no exercises
FENCE = re.compile(r"`[^`]*`|\$[^$]*\$")


@pytest.fixture(scope="module")
def pairs():
    """Return every notebook with its learner's copy."""
    sources = {path.stem: nbformat.read(path, as_version=4) for path in learner.sources()}
    copies = {name: nbformat.reads(learner.written(learner.learner_copy(one)), 4) for name, one in sources.items()}
    return {name: (source, copies[name]) for name, source in sources.items()}


NAMES = [path.stem for path in learner.sources()]


def texts(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def title(notebook):
    return notebook.cells[0].source.partition("\n")[0].removeprefix("# ")


def exercises(notebook):
    return {name for cell in notebook.cells for name in re.findall(r'\bcheck\(\s*"(\w+)"', cell.source)}


# ---- every notebook ----


@each("name", NAMES)
def test_copy_holds_nothing_that_was_run_and_no_solution(pairs, name):
    source, copy = pairs[name]
    code = [cell for cell in copy.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert not any({"solution", "rubric"} & learner.tags(cell) for cell in copy.cells)
    assert not any(cell.metadata.get("jupyter", {}).get("source_hidden") for cell in copy.cells)
    assert any(cell.get("outputs") for cell in source.cells)  # the source stays as it is


@each("name", NAMES)
def test_copy_keeps_every_exercise_and_all_else_in_order(pairs, name):
    source, copy = pairs[name]
    assert exercises(copy) == exercises(source) and (exercises(copy) or title(source) == READ)
    made = {"guess", "answer"}
    kept = [cell.source for cell in source.cells if not learner.KEPT_BACK & learner.tags(cell)]
    found = [cell.source for cell in copy.cells if not made & learner.tags(cell)]
    kept[0] += learner.YOURS
    assert [learner.TARGET.sub("", text) for text in found] == [learner.TARGET.sub("", text) for text in kept]


@each("name", NAMES)
def test_no_text_of_a_copy_speaks_of_a_solution_that_is_not_there(pairs, name):
    found = re.compile(r"[Ss]olution\b[^.]*\b(below|collapsed|folded|next cell)")
    assert not [text for text in texts(pairs[name][1]) if found.search(text)]


@each("name", NAMES)
def test_every_prediction_and_open_question_has_a_place_right_below(pairs, name):
    source, copy = pairs[name]
    asked = 0
    for cell, after in zip(copy.cells, [*copy.cells[1:], None], strict=True):
        if cell.cell_type == "markdown" and learner.PREDICT in cell.source:
            asked += 1
            assert learner.tags(after) == {"guess"} and after.source.startswith("**Your guess:**")
        if cell.cell_type == "markdown" and cell.source.startswith(learner.OPEN):
            assert learner.tags(after) == {"answer"} and after.source.startswith("**Your answer:**")
    assert asked >= 3 or title(source).startswith("Lab ")


def as_generators(source):
    """Write comprehensions as generators: from Python 3.12 on, only the variables of these are not the cell's."""

    class Rewrite(ast.NodeTransformer):
        def visit_ListComp(self, node):
            return ast.GeneratorExp(self.visit(node.elt), [self.visit(one) for one in node.generators])

        visit_SetComp = visit_ListComp

        def visit_DictComp(self, node):
            both = ast.Tuple([self.visit(node.key), self.visit(node.value)], ast.Load())
            return ast.GeneratorExp(both, [self.visit(one) for one in node.generators])

    return ast.unparse(ast.fix_missing_locations(Rewrite().visit(ast.parse(source))))


def names(cells, how):
    """Return the names of the notebook that code binds ("assigned") or uses ("referenced")."""
    tables = [
        symtable.symtable(as_generators(cell.source), "cell", "exec") for cell in cells if cell.cell_type == "code"
    ]
    found = {one.get_name() for table in tables for one in table.get_symbols() if getattr(one, f"is_{how}")()}
    while how == "referenced" and (tables := [child for table in tables for child in table.get_children()]):
        found |= {one.get_name() for table in tables for one in table.get_symbols() if one.is_global()}
    return found


@each("name", NAMES)
def test_no_cell_needs_what_a_solution_makes(pairs, name):
    """In the stored run nothing was handed in: with this, it is the run of a copy in which nothing was solved."""
    made, there = set(), set()
    for cell in (cell for cell in pairs[name][0].cells if cell.cell_type == "code"):
        statements = {ast.unparse(one) for one in ast.parse(cell.source).body}
        if "solution" in learner.tags(cell):
            made |= names([new_code_cell(one) for one in statements - there], "assigned")
        else:
            own = names([cell], "assigned")
            assert not made & (names([cell], "referenced") - own), cell.source
            made, there = made - own, there | statements


@pytest.mark.parametrize(
    ("code", "assigned", "referenced"),
    [
        ("def f(x, y=z):\n    v = x + w\n    return v", {"f"}, {"z", "w"}),
        ("a = [b for b in c]\na", {"a"}, {"a", "c"}),
    ],
)
def test_names_are_those_of_the_notebook(code, assigned, referenced):
    cells = [new_code_cell(code)]
    assert names(cells, "assigned") == assigned and names(cells, "referenced") == referenced


@each("name", NAMES)
def test_copy_is_a_valid_notebook(pairs, name):
    nbformat.validate(pairs[name][1])
    ids = [cell.id for cell in pairs[name][1].cells]
    assert len(set(ids)) == len(ids)


@each("name", NAMES)
def test_links_and_pictures_of_a_copy_lead_somewhere(pairs, name):
    there = {path.name for path in learner.sources()}
    for text in texts(pairs[name][1]):
        for found in learner.TARGET.finditer(FENCE.sub("", text)):
            target = found["path"].partition("#")[0]
            if not learner.ELSEWHERE.match(found["path"]):
                assert target in there or (learner.FOLDER / target).resolve().is_file(), target


# ---- one notebook that has everything ----


def everything():
    cells = [
        new_markdown_cell('# Small\n\n![map](map.png) <img src="map.png" alt="m"> [g](../docs/glossary.md) [h](#here)'),
        new_markdown_cell("**Predict.** How many? [next](06_next.ipynb)"),
        new_code_cell("6 * 7", outputs=[new_output("execute_result", {"text/plain": "42"})], execution_count=1),
        new_markdown_cell("<details><summary>Answer</summary> 42. </details>"),
        new_code_cell('answer = ...\ncheck("small", answer)'),
        new_code_cell('# Solution: click to open\nreveal("small", 42)', metadata={"tags": ["solution"]}),
        new_markdown_cell("**Open question.** Why?"),
        new_markdown_cell(
            "<details><summary>Rubric for the teacher</summary></details>", metadata={"tags": ["rubric"]}
        ),
    ]
    return new_notebook(cells=cells)


def test_what_a_copy_is_made_of():
    copy = learner.learner_copy(everything(), note=" Note.")
    kinds = [next(iter(learner.tags(cell)), cell.source.split()[0]) for cell in copy.cells]
    assert kinds == [
        "#",
        "**Predict.**",
        "guess",
        "6",
        "<details><summary>Answer</summary>",
        "answer",
        "**Open",
        "answer",
    ]
    assert copy.cells[0].source == (
        '# Small\n\n![map](../notebooks/map.png) <img src="../notebooks/map.png" alt="m"> '
        "[g](../docs/glossary.md) [h](#here) Note."
    )


@pytest.mark.slow
def test_a_copy_imports_the_course_from_its_folder(tmp_path):
    command = [sys.executable, "-c", "import course; course.given('accuracy')"]
    assert subprocess.run(command, cwd=tmp_path).returncode == 0


# ---- a later run ----


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "learner"


def there(folder):
    return {path.name: path.read_text(encoding="utf8") for path in folder.glob("*.ipynb")}


def test_what_is_untouched_is_replaced_without_a_word(folder):
    assert learner.hand_out({NAME: "one"}, folder) == [] == learner.hand_out({NAME: "two"}, folder)
    assert there(folder) == {NAME: "two"}


def test_what_was_written_stays_and_the_new_one_is_offered_beside_it_once(folder):
    learner.hand_out({NAME: "one"}, folder)
    (folder / NAME).write_text("mine", encoding="utf8")
    assert learner.hand_out({NAME: "one"}, folder) == []  # nothing new
    (line,) = learner.hand_out({NAME: "two"}, folder)
    assert NAME in line and "learner/05_small.v2.ipynb" in line and "\n" not in line
    assert learner.hand_out({NAME: "two"}, folder) == []
    assert there(folder) == {NAME: "mine", "05_small.v2.ipynb": "two"}


def test_of_new_ones_too_only_the_untouched_is_replaced(folder):
    learner.hand_out({NAME: "one"}, folder)
    (folder / NAME).write_text("mine", encoding="utf8")
    learner.hand_out({NAME: "two"}, folder)
    assert learner.hand_out({NAME: "three"}, folder) == []
    assert there(folder) == {NAME: "mine", "05_small.v2.ipynb": "three"}
    (folder / "05_small.v2.ipynb").write_text("mine too", encoding="utf8")
    assert len(learner.hand_out({NAME: "four"}, folder)) == 1
    assert there(folder) == {NAME: "mine", "05_small.v2.ipynb": "mine too", "05_small.v3.ipynb": "four"}
    (folder / "05_small.v3.ipynb").unlink()  # the learner has seen it
    assert learner.hand_out({NAME: "four"}, folder) == [] and len(there(folder)) == 2


def test_a_copy_put_out_of_the_way_is_made_anew(folder):
    learner.hand_out({NAME: "one"}, folder)
    (folder / NAME).rename(folder / "mine.ipynb")
    assert learner.hand_out({NAME: "one"}, folder) == []
    assert there(folder) == {NAME: "one", "mine.ipynb": "one"}


@pytest.mark.parametrize("record", ["", "{", "[1]", None])
def test_without_its_record_nothing_is_overwritten(folder, record):
    learner.hand_out({NAME: "one"}, folder)
    (folder / learner.RECORD).unlink()
    if record is not None:
        (folder / learner.RECORD).write_text(record, encoding="utf8")
    assert learner.hand_out({NAME: "one"}, folder) == []  # the same text is known again
    assert learner.hand_out({NAME: "two"}, folder) == [] and there(folder) == {NAME: "two"}
    (folder / learner.RECORD).unlink()
    assert len(learner.hand_out({NAME: "three"}, folder)) == 1 and there(folder)[NAME] == "two"


class Killed(BaseException):
    """The process ends here."""


def steps_until(monkeypatch, number):
    """Let the run end before the given step of writing."""
    done = []

    def before(real):
        def act(*arguments, **named):
            done.append(real)
            if len(done) > number:
                raise Killed
            return real(*arguments, **named)

        return act

    monkeypatch.setattr(os, "replace", before(os.replace))
    monkeypatch.setattr(learner.Path, "write_text", before(learner.Path.write_text))


@each("touched, number", product([False, True], range(5)))
def test_a_kill_leaves_whole_files_and_the_next_run_goes_on(tmp_path_factory, monkeypatch, touched, number):
    folder = tmp_path_factory.mktemp("learner")
    learner.hand_out({NAME: "one"}, folder)
    if touched:
        (folder / NAME).write_text("mine", encoding="utf8")
    with monkeypatch.context() as patch:
        steps_until(patch, number)
        try:
            learner.hand_out({NAME: "two"}, folder)
        except Killed:
            assert number < 4
    assert set(there(folder).values()) <= {"one", "two", "mine"} and (not touched or there(folder)[NAME] == "mine")
    assert isinstance(json.loads((folder / learner.RECORD).read_text(encoding="utf8")), dict)
    learner.hand_out({NAME: "two"}, folder)
    assert there(folder) == ({NAME: "mine", "05_small.v2.ipynb": "two"} if touched else {NAME: "two"})


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(learner, "FOLDER", tmp_path / "file")
    assert learner.main().startswith("The learner's copies cannot be written: ")

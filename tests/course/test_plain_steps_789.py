"""Notebooks 07, 08 and 09 build the plain functions: which they call, and that what they define is the page's."""

import ast
import re
from functools import cache
from pathlib import Path

import nbformat

from tests.each import each
from tests.notebook_parts import code_cells, tags

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.stem: path for path in (ROOT / "lib" / "cofactor" / "plain").glob("[a-z]*.py")}
CALLED = {  # by notebook: names that come from cofactor.plain, and are used in a step
    "07": {"blocks", "em", "of_type", "one_hot", "worker_types"},
    "08": {"blocks", "cnmf_opt", "cnmf_spa", "em", "mixtures", "one_hot"},
    "09": {"merit", "mixtures", "spa"},
}
BUILT = {  # by notebook: functions that a step defines as their page does
    "07": {"em", "errors_of_crowd", "log_of_sequence", "normalised", "posterior", "refit"},
    "08": {"pair_frequencies", "posterior", "refit", "spa"},
    "09": set(),
}


@cache
def steps(number):
    """The code of all steps of a notebook, parsed."""
    (path,) = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
    cells = [cell for cell in code_cells(nbformat.read(path, as_version=4)) if "step" in tags(cell)]
    return ast.parse("\n".join(cell.source for cell in cells))


@cache
def pages():
    """Every function of cofactor.plain, by its name."""
    trees = [ast.parse(path.read_text(encoding="utf8")) for path in PAGES.values()]
    return {one.name: one for tree in trees for one in tree.body if isinstance(one, ast.FunctionDef)}


def body(function):
    """What a function does, without its docstring and the types of its variables."""
    inside = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return re.sub(r"^(\w+): [\w\[\], ]+ = ", r"\1 = ", ast.unparse(inside), flags=re.MULTILINE)


def defined(tree):
    return {one.name: one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}


@each("number", CALLED)
def test_steps_call_the_plain_functions(number):
    tree = steps(number)
    attributes = [one for one in ast.walk(tree) if isinstance(one, ast.Attribute)]
    dotted = {one.attr for one in attributes if ast.unparse(one.value).startswith("cf.plain")}
    names = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)} - defined(tree).keys()
    assert (dotted | (names & imported(number))) == CALLED[number]


@cache
def imported(number):
    """Names that a notebook imports from cofactor.plain or a page of it."""
    (path,) = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
    code = "\n".join(cell.source for cell in code_cells(nbformat.read(path, as_version=4)))
    found = re.findall(r"^from cofactor\.plain(?:\.\w+)? import (.+)$", code, re.MULTILINE)
    return {name for line in found for name in line.split(", ")}


@each("number", BUILT)
def test_what_a_step_defines_by_the_name_of_a_plain_function_is_that_function(number):
    own = {name: one for name, one in defined(steps(number)).items() if name in pages()}
    assert own.keys() == BUILT[number]
    for name, one in own.items():
        page = pages()[name]
        assert [arg.arg for arg in one.args.args] == [arg.arg for arg in page.args.args], name
        assert body(one) == body(page), name

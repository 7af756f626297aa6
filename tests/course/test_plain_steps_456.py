"""Notebooks 04 to 06 build the functions of `cofactor.plain`, line by line, and compare with them."""

import ast
import re
from pathlib import Path

import nbformat

from cofactor import plain
from tests.each import each

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(Path(plain.__file__).parent.glob("*.py"))
CALLED = {
    "04": {"square_root", "symnmf"},
    "05": {"merit", "row_softmax", "least_of_gradient", "spa", "mixtures"},
    "06": {"objective", "comparison_features"},
}
BUILT = {"04": {"square_root", "symnmf"}, "05": {"row_softmax", "least_of_gradient"}, "06": {"objective"}}


def code_of(notebook):
    (path,) = (ROOT / "notebooks").glob(f"{notebook}_*.ipynb")
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def functions(source):
    """Arguments and statements, without docstrings, of the functions that a text defines at its top, by their names."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            body = node.body[ast.get_docstring(node) is not None :]
            found[node.name] = [arg.arg for arg in node.args.args], [ast.dump(line) for line in body]
    return found


ON_PAGES = {name: one for page in PAGES for name, one in functions(page.read_text(encoding="utf8")).items()}


@each("notebook", CALLED)
def test_the_notebook_calls_the_plain_functions(notebook):
    calls = re.findall(r"cf\.plain\.(?:\w+\.)?(\w+)\(", "\n".join(code_of(notebook)))
    assert set(calls) == CALLED[notebook]


@each("notebook", BUILT)
def test_a_function_of_the_same_name_is_that_of_the_page(notebook):
    defined = [item for source in code_of(notebook) for item in functions(source).items() if item[0] in ON_PAGES]
    assert {name for name, _ in defined} == BUILT[notebook]
    assert all(one == ON_PAGES[name] for name, one in defined)

"""The steps of notebooks 01 to 03 are those of the pages in `cofactor.plain`, and are compared with these."""

import ast
import inspect
import re
from pathlib import Path

import nbformat

from cofactor import plain
from tests.each import each

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
BUILT = {  # functions that cells define, line by line as on the page
    "01_theory_recap": {"posterior", "refit", "square_root", "symnmf"},
    "02_synthetic_identifiability": {"square_root", "symnmf"},
    "03_imputation_error_vs_samples": {"one_hot", "pair_counts"},
}
COMPARED = {  # functions of the pages that cells call
    "01_theory_recap": {
        "blocks", "designated_imputation", "em", "model_of_factor", "one_hot", "refit", "robust_imputation",
        "square_root", "symnmf",
    },
    "02_synthetic_identifiability": {
        "is_scattered", "model_of_factor", "posterior", "refit", "square_root", "symnmf", "vertices",
    },
    "03_imputation_error_vs_samples": {
        "designated_imputation", "one_hot", "pair_counts", "pair_frequencies", "refit", "robust_imputation",
    },
}  # fmt: skip


def cells_of(name):
    """The code of a notebook, cell by cell, without what IPython alone reads."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    return [cell.source for cell in notebook.cells if cell.cell_type == "code" and not cell.source.startswith("%")]


def functions(source):
    """Functions by their names: arguments with defaults, and the body, as text without types and docstring."""
    return {node.name: _told(node) for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def _told(node):
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    plainly = [ast.Assign([one.target], one.value, lineno=0) if isinstance(one, ast.AnnAssign) else one for one in body]
    arguments = [argument.arg for argument in node.args.args], [ast.unparse(value) for value in node.args.defaults]
    return arguments, [ast.unparse(one) for one in plainly]


@each("name", BUILT)
def test_a_function_of_a_page_is_built_line_by_line_as_on_the_page(name):
    built = {}
    for source in cells_of(name):
        built |= {key: told for key, told in functions(source).items() if key in plain.__all__}
    assert built.keys() == BUILT[name]
    for key, told in built.items():
        assert told == functions(inspect.getsource(getattr(plain, key)))[key], key


@each("name", COMPARED)
def test_pages_are_called_on_the_same_data(name):
    called = {key for source in cells_of(name) for key in re.findall(r"\bcf\.plain\.(\w+)", source)}
    assert called == COMPARED[name]
    assert BUILT[name] <= called | ({"posterior"} if "em" in called else set())  # em calls posterior


def test_types_and_docstrings_do_not_count_and_everything_else_does():
    page = functions('def f(a: int, b: float = 1.0) -> int:\n    "Add."\n    c: int = a + b\n    return c')
    assert functions("def f(a, b=1.0):\n    c = a + b\n    return c") == page
    for other in ("def f(a, b=2.0):\n    c = a + b\n    return c", "def f(a, b=1.0):\n    c = a - b\n    return c"):
        assert functions(other) != page

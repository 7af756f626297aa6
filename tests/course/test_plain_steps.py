"""The steps of the notebooks are those of the pages in `cofactor.plain`, and are compared with these."""

import ast
import re
from pathlib import Path

import nbformat

from cofactor import plain
from tests.each import each

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
BUILT = {  # functions that cells of a notebook and its labs define, line by line as on the page
    "01": {"posterior", "refit", "square_root", "symnmf"},
    "02": {"square_root"},
    "03": {"one_hot", "pair_counts"},
    "04": {"symnmf"},
    "05": {"row_softmax", "least_of_gradient"},
    "06": {"objective"},
    "07": {"em", "errors_of_crowd", "posterior", "refit"},
    "08": {"pair_frequencies", "posterior", "refit", "spa"},
    "09": set(),
}
CALLED = {  # functions of the pages that cells call
    "01": {"blocks", "one_hot", "refit"},
    "02": {"posterior", "refit"},
    "03": {"refit"},
    "05": {"row_softmax", "least_of_gradient", "spa", "mixtures"},
    "06": {"comparison_features"},
    "07": {"blocks", "of_type", "one_hot", "worker_types"},
    "08": {"blocks", "cnmf_spa", "mixtures", "one_hot", "spa"},
    "09": {"merit", "mixtures", "spa"},
}


def cells_of(number):
    """The code of a notebook and its labs, cell by cell, without what IPython alone reads."""
    paths = sorted(NOTEBOOKS.rglob(f"{number}_*.ipynb"))
    cells = [cell for path in paths for cell in nbformat.read(path, as_version=4).cells]
    return [cell.source for cell in cells if cell.cell_type == "code" and not cell.source.startswith("%")]


def functions(source):
    """Functions by their names: arguments with defaults, and the body, as text without types and docstring."""
    return {node.name: _told(node) for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def _told(node):
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    plainly = [ast.Assign([one.target], one.value, lineno=0) if isinstance(one, ast.AnnAssign) else one for one in body]
    arguments = [argument.arg for argument in node.args.args], [ast.unparse(value) for value in node.args.defaults]
    return arguments, [ast.unparse(one) for one in plainly]


FILES = sorted(Path(plain.__file__).parent.glob("*.py"))
PAGES = {name: told for page in FILES for name, told in functions(page.read_text(encoding="utf8")).items()}


def test_a_function_of_a_page_is_built_line_by_line_as_on_the_page():
    for number, names in BUILT.items():
        built = {name: told for source in cells_of(number) for name, told in functions(source).items() if name in PAGES}
        assert built.keys() == names, number
        for name, told in built.items():
            assert told == PAGES[name], (number, name)


@each("number", CALLED)
def test_pages_are_called_on_the_same_data(number):
    source = "\n".join(cells_of(number))
    imported = re.findall(r"^from cofactor\.plain(?:\.\w+)? import (.+)$", source, re.MULTILINE)
    called = {name for line in imported for name in line.split(", ")}
    called |= set(re.findall(r"\bcf\.plain\.(?:[a-z]+\.)?(\w+)", source))
    assert called & PAGES.keys() == CALLED[number]


def test_types_and_docstrings_do_not_count_and_everything_else_does():
    page = functions('def f(a: int, b: float = 1.0) -> int:\n    "Add."\n    c: int = a + b\n    return c')
    assert functions("def f(a, b=1.0):\n    c = a + b\n    return c") == page
    for other in ("def f(a, b=2.0):\n    c = a + b\n    return c", "def f(a, b=1.0):\n    c = a - b\n    return c"):
        assert functions(other) != page

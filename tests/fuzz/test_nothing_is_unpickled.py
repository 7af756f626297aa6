"""No line of the packages opens a pickle or runs text as code: read off its syntax trees."""

import ast
from pathlib import Path

import pytest

import cofactor
from tests.each import each

PACKAGE = Path(cofactor.__file__).parents[1]  # and the commands beside it
SOURCES = sorted(path for name in ("cofactor", "cofactor_app") for path in (PACKAGE / name).rglob("*.py"))
MODULES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "shelve", "marshal"}
CALLS = {"eval", "exec", "compile", "__import__", "read_pickle", "jsonpickle", "unsafe_load", "full_load"}
SENT = {
    "cofactor_app/bench/checks.py": ["import pickle"],  # of a method that is here, and back at once: no file is read
    "cofactor/reading/spark.py": ["import pickle"],  # of parts that processes of this run have made: no file is read
}
CAREFUL = {"allow_pickle": False, "weights_only": True}  # arguments, and the only value that each may have


def dangers(source):
    """What a source file does that could run what a file says."""
    tree = ast.parse(source)
    return [found for node in ast.walk(tree) if (found := _imported(node) or _called(node))]


def _imported(node):
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return ", ".join(f"import {name}" for name in names if name.split(".")[0] in MODULES)


def _called(node):
    if not isinstance(node, ast.Call):
        return ""
    name = ast.unparse(node.func)
    given = {argument.arg: getattr(argument.value, "value", None) for argument in node.keywords}
    careless = any(given.get(argument, safe) != safe for argument, safe in CAREFUL.items())
    missing = {"np.load": "allow_pickle", "numpy.load": "allow_pickle", "torch.load": "weights_only"}.get(name)
    forbidden = name in CALLS or name.split(".")[-1] in CALLS - {"compile", "eval"} or name == "joblib.load"
    return name if careless or forbidden or (missing and missing not in given) else ""


@pytest.mark.slow
def test_nothing_is_unpickled():
    found = {path.relative_to(PACKAGE).as_posix(): dangers(path.read_text(encoding="utf8")) for path in SOURCES}
    assert len(found) > 100 and {path: lines for path, lines in found.items() if lines} == SENT


@each(
    "line",
    [
        *("import pickle", "from pickle import loads", "np.load(path)", "np.load(path, allow_pickle=True)"),
        *("pd.read_pickle(path)", "joblib.load(path)", "torch.load(path)", "torch.load(path, weights_only=False)"),
        *("eval(text)", "exec(text)", "np.load(path, allow_pickle=flag)"),
    ],
)
def test_what_would_unpickle_is_found(line):
    assert dangers(line)


def test_only_one_place_reads_matlab_files():
    """It looks at type codes first: SciPy's compiled reader follows any."""
    users = [path.name for path in SOURCES if "loadmat" in path.read_text(encoding="utf8")]
    assert users == ["matlab.py"]

"""Where a number comes from: the code, data and versions of the process that computes it."""

from __future__ import annotations

import ast
import hashlib
import json
import platform
from functools import cache
from pathlib import Path

import cofactor
import cofactor_app
from cofactor.data.registry import entries
from evaluation import machine
from evaluation.declaration import experiment
from evaluation.experiment import Experiment

LIBRARY, COMMANDS, EVALUATION = (Path(str(p)).parent for p in (cofactor.__file__, cofactor_app.__file__, __file__))
ROOMS = ("core", "simulate", "data")  # of the library, that every line needs
BORROWED = {"crowd": ["pmf/cnmf_opt.py"], "comparisons": ["pmf/biased_factors.py"]}  # from another line, by rivals
HARNESS = [EVALUATION / name for name in ("experiment.py", "declaration.py", "released", "peers")]
OF_CROWDS = ("verbs/next_tasks.py", "reading/truth.py")  # outside the line, what experiments on crowds run
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")  # whose version may change a digit


@cache
def origin(line: str) -> dict[str, str]:
    """Return what decides the numbers of a line in this process: hashes of code and data sets, versions."""
    return {
        "code": code_of_line(line)[:16],
        "data sets": data_sets(),
        "python": platform.python_version(),
        **{name: machine.version(name) for name in PACKAGES},
    }


def code_of(experiment: Experiment, setting: str) -> str:
    """Hash what decides the numbers of a setting: the code of its line, its own file, and what the setting gives."""
    numbers = json.dumps(experiment.given.get(setting, {}), sort_keys=True)
    own = bare(Path(experiment.file).read_text(encoding="utf8")) if experiment.file else ""
    return hashlib.sha256(f"{code_of_line(experiment.line)} {numbers}{own}".encode()).hexdigest()[:16]


@cache
def code_of_line(line: str) -> str:
    """Hash the code of library and evaluation that a line runs, without docstrings and comments."""
    digest = hashlib.sha256()
    for path in _sources(line):
        home = next(home for home in (LIBRARY, COMMANDS, EVALUATION) if path.is_relative_to(home))
        name = path.relative_to(home.parent).as_posix()
        digest.update(f"{name}\0{bare(path.read_text(encoding='utf8'))}\0".encode())
    return digest.hexdigest()


def _sources(line: str) -> list[Path]:
    rivals = LIBRARY / "baselines"
    homes = [*(LIBRARY / room for room in (*ROOMS, line)), *rivals.glob("*.py"), rivals / line]
    homes += [LIBRARY / module for module in BORROWED.get(line, ())]
    homes += [LIBRARY / "registry.py", EVALUATION / line, *HARNESS]
    homes += [LIBRARY / name for name in OF_CROWDS if line == "crowd"]
    if not (LIBRARY / line).is_dir():  # an experiment of one's own may use all of them
        homes = [LIBRARY, *HARNESS]
    return sorted({path for home in homes for path in ([home] if home.is_file() else home.rglob("*.py"))})


def bare(source: str) -> str:
    """Return the syntax tree of a source as text: no comments, docstrings, line numbers.

    Of a declared experiment only its name stays: of the rest, what decides numbers is `given`, and `code_of` adds that.
    """
    tree = ast.parse(source)
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == experiment.__name__:
            node.keywords = []
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree)


def data_sets() -> str:
    """Hash the registered checksums of all data sets; what is loaded has them."""
    known = {name: [(file.name, file.sha256) for file in entry.files] for name, entry in sorted(entries().items())}
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:16]

"""Change one place of the library at a time, and see whether a test notices.

usage: python3 kit.py mutants [ROOM ...] [-n COUNT] [--seed SEED] [--jobs JOBS] [--most SECONDS]

A room is a folder of lib/cofactor; without one, all are taken. Of each room, COUNT places are drawn; at each, one
operator, constant, comparison or guard is changed in a copy of the library. The tests that run through the changed line
are run until one fails: the mutant is killed. Those that no test kills are printed with the line before and after.
Mutants that change nothing a caller can see are named, each with its reason, in tests/equivalent_mutants.toml.
Which tests these are is known from a run with coverage; a compiled line, which it cannot see, gets all of the room.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "lib"
EQUIVALENT = ROOT / "tests" / "equivalent_mutants.toml"
ROOMS = ("core", "crowd", "pmf", "separable", "comparisons", "data", "simulate", "cli")
ELSEWHERE = {"simulate": ["tests/test_simulate.py", "tests/test_simulate_mixtures.py"]}  # tests that lie in no folder
ALSO = ["tests/test_protocol.py"]  # every method goes through these
MOST_TESTS = 60  # through one line; they are tried in the order of the room
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult},
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}
NAMES |= {"argmin": "argmax", "argmax": "argmin", "floor": "ceil", "ceil": "floor"}


@dataclass(frozen=True)
class Mutant:
    """One changed place: its file, line, the statement before and after, and the whole changed source."""

    path: Path
    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(LIBRARY)}:{self.line}\n    - {self.before}\n    + {self.after}"


# ---- places to change ----


def changes(node: ast.AST) -> Iterator[tuple[str, object]]:
    """Yield the field of a node and its other value, for each change that can be made there."""
    if isinstance(node, ast.Compare):
        yield "ops", [SWAPS[type(node.ops[0])](), *node.ops[1:]]
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in SWAPS:
        yield "op", SWAPS[type(node.op)]()
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "value", not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield "value", node.value + 1 if isinstance(node.value, int) else node.value * 1.5 + (node.value == 0)
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "test", ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Name) and node.id in NAMES:
        yield "id", NAMES[node.id]
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield "attr", NAMES[node.attr]


def places(tree: ast.Module) -> list[tuple[ast.stmt, ast.AST, str, object]]:
    """Return statement, node, field and other value of every change that can be made in functions of a module."""
    found = []
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    for function in functions:
        for statement in _statements(function.body):
            if not isinstance(statement, ast.Raise | ast.Assert):  # the words of a message are not its meaning
                found += [(statement, node, *change) for node in _parts(statement) for change in changes(node)]
    return found


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            continue  # found by itself
        yield statement
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, []))


def _parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """Walk a statement without the statements inside it, annotations and formatted strings."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        skipped = getattr(node, "annotation", None)
        children = ast.iter_child_nodes(node)
        stack += [n for n in children if not isinstance(n, ast.stmt | ast.JoinedStr) and n is not skipped]


def mutants_of(path: Path) -> list[Mutant]:
    """Return all mutants of a file."""
    text = path.read_text(encoding="utf8")
    tree = ast.parse(text)
    found = []
    for statement, node, field, value in places(tree):
        before, old = _head(statement), getattr(node, field)
        setattr(node, field, value)
        after = _head(statement)
        changed = ast.unparse(ast.fix_missing_locations(tree))
        setattr(node, field, old)
        found.append(Mutant(path, getattr(node, "lineno", statement.lineno), before, after, changed))
    return found


def _head(statement: ast.stmt) -> str:
    """Return a statement as one line, of a compound one only its first."""
    return " ".join(ast.unparse(statement).split("\n")[0].split())


def drawn(room: str, count: int, seed: int) -> list[Mutant]:
    """Draw mutants of a room; places that no caller can tell from the original are left out by name."""
    everything = [m for path in sorted((LIBRARY / "cofactor" / room).rglob("*.py")) for m in mutants_of(path)]
    return random.Random(seed).sample(everything, min(count, len(everything)))


# ---- tests that run through a line ----


def tests_of(room: str) -> list[str]:
    """Return the files and folders of a room's tests."""
    return [name for name in (ELSEWHERE.get(room) or [f"tests/{room}"]) + ALSO if (ROOT / name).exists()]


def coverage_of(room: str, library: Path) -> Path:
    """Run the tests of a room once on a copy, and return the database of the tests that run through each line."""
    data, settings = library / "coverage", library / "coverage.toml"
    settings.write_text(f'[tool.coverage.run]\ndata_file = "{data}"\nsource = ["{library / "cofactor" / room}"]\n')
    how = [f"--cov-config={settings}", "--cov", "--cov-context=test", "--cov-report="]
    code = pytest([*tests_of(room), *how], library, most=3600)
    if code != 0:
        sys.exit(f"the tests of {room} do not pass as they are: mend these first")
    return data


def tests_through(data: Path, mutant: Mutant) -> list[str]:
    """Return the tests that run through the line of a mutant; none where it is compiled or never run."""
    from coverage.numbits import numbits_to_nums

    query = """SELECT context.context, line_bits.numbits FROM line_bits
               JOIN context ON context.id = line_bits.context_id JOIN file ON file.id = line_bits.file_id
               WHERE file.path = ?"""
    with sqlite3.connect(data) as database:
        rows = database.execute(query, [str(data.parent / mutant.path.relative_to(LIBRARY))]).fetchall()
    names = [name for name, lines in rows if name and mutant.line in numbits_to_nums(lines)]
    return list(dict.fromkeys(name.removesuffix("|run") for name in names if name.endswith("|run")))[:MOST_TESTS]


# ---- trying ----


def pytest(arguments: list[str], library: Path, most: float) -> int:
    """Run tests against a copy of the library; returns the exit code, 1 where they take too long."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    settings = os.environ | one | {"PYTHONPATH": str(library), "PYTHONHASHSEED": "0"}
    quiet = ["-q", "-x", "-p", "no:cacheprovider", "--no-header", "-n", "0"]
    command = [sys.executable, "-m", "pytest", *quiet, *arguments]
    try:
        return subprocess.run(command, cwd=ROOT, env=settings, timeout=most, capture_output=True).returncode
    except subprocess.TimeoutExpired:
        return 1


def killed(mutant: Mutant, tests: list[str], library: Path, most: float) -> bool:
    """Put a mutant into a copy of the library and see whether a test fails."""
    place = library / mutant.path.relative_to(LIBRARY)
    original = place.read_bytes()
    place.write_text(mutant.source, encoding="utf8")
    try:
        return pytest(tests, library, most) != 0
    finally:
        place.write_bytes(original)


def is_equivalent(mutant: Mutant) -> bool:
    """Whether the file of equivalent mutants names this one."""
    known = tomllib.loads(EQUIVALENT.read_text(encoding="utf8")).get("mutant", [])
    return any(
        mutant.path.as_posix().endswith(one["file"]) and (mutant.before, mutant.after) == (one["before"], one["after"])
        for one in known
    )


def copied(place: Path) -> Path:
    """Copy the library to a place of its own, with the data sets where it looks for them."""
    shutil.copytree(LIBRARY, place / "lib", ignore=shutil.ignore_patterns("__pycache__"))
    (place / "datasets").symlink_to(ROOT / "datasets")
    return place / "lib"


def try_room(room: str, arguments: argparse.Namespace, folder: Path) -> tuple[int, int, list[Mutant]]:
    """Try the mutants of a room; returns how many were killed, how many are equivalent, and those that survived."""
    copies = [copied(folder / str(number)) for number in range(arguments.jobs)]
    data = coverage_of(room, copies[0])
    libraries: Queue[Path] = Queue()
    for copy in copies:
        libraries.put(copy)

    def attempt(mutant: Mutant) -> bool:
        library = libraries.get()
        tests = tests_through(data, mutant) or tests_of(room)
        try:
            return killed(mutant, tests, library, arguments.most)
        finally:
            libraries.put(library)

    mutants = drawn(room, arguments.n, arguments.seed)
    unseen = [mutant for mutant in mutants if not is_equivalent(mutant)]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        fates = list(pool.map(attempt, unseen))
    survivors = [mutant for mutant, dead in zip(unseen, fates, strict=True) if not dead]
    return sum(fates), len(mutants) - len(unseen), survivors


def main() -> None:
    """Try the rooms asked for, and print what survived."""
    parser = argparse.ArgumentParser(prog="kit.py mutants", description=__doc__.split("\n")[0])
    parser.add_argument("rooms", nargs="*", choices=ROOMS, default=ROOMS, metavar="ROOM", help=", ".join(ROOMS))
    parser.add_argument("-n", type=int, default=40, help="mutants of each room (default: 40)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    parser.add_argument("--most", type=float, default=300, help="seconds; who takes longer is killed (default: 300)")
    arguments = parser.parse_args()
    survived = 0
    for room in arguments.rooms:
        with tempfile.TemporaryDirectory() as folder:
            dead, equivalent, survivors = try_room(room, arguments, Path(folder))
        share = dead / max(1, dead + len(survivors))
        print(f"{room}: {dead} killed, {len(survivors)} survived, {equivalent} equivalent: {share:.0%}", flush=True)
        for mutant in survivors:
            print(mutant, flush=True)
        survived += len(survivors)
    sys.exit(survived > 0)


if __name__ == "__main__":
    main()

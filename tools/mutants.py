"""Change one place of the library at a time, and see whether a test notices.

usage: python3 kit.py mutants [ROOM ...] [-n COUNT] [--seed SEED] [--jobs JOBS] [--seconds SECONDS]

A room is a folder of lib/cofactor or lib/cofactor_app; without one, all are taken. Of each room, COUNT places are
drawn; at each, one operator, constant, comparison or guard is changed in a copy of the library. The examples in the
docstrings of that file and the room's tests that run through the changed line are run until one fails: the mutant is
killed. Those of the small suite are tried first, and it is said how many mutants they kill. Mutants that survive are
printed with the line before and after. Those that change nothing a caller can see are named, each with its reason, in
tests/equivalent_mutants.toml.

Which tests these are, and how long each takes, is known from a run with coverage. It sees no compiled line: such a line
gets the tests that run through the lines that call its function. Of many tests, the fastest are taken, as many as take
SECONDS together. Who takes five times as long, and a minute, hangs, and is killed.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from tests import suites

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "lib"
EQUIVALENT = ROOT / "tests" / "equivalent_mutants.toml"
ROOMS = (
    *("plain", "core", "crowd", "pmf", "separable", "comparisons", "baselines", "rivals", "data", "simulate"),
    *("verbs", "reading", "bench", "cli"),
)
ELSEWHERE = {  # where not all tests lie in the folder of the room's name
    "plain": ["tests/plain", "tests/crowd/test_worker_types.py"],
    "rivals": ["tests/pmf"],
    "baselines": [f"tests/{line}" for line in ("crowd", "pmf", "separable", "comparisons")],
    "reading": ["tests/reading", "tests/corpus", "tests/data"],
    "core": ["tests/core", "tests/cli/test_messy.py"],
    "simulate": ["tests/test_simulate.py", "tests/test_simulate_mixtures.py", "tests/comparisons/test_metrics.py"],
}
ALSO = ["tests/test_protocol.py"]  # every method goes through these
PASSED, NOT_RUN, NONE_FOUND = 0, 4, 5  # exit codes of pytest
DURATION = re.compile(r"^ *([\d.]+)s (?:setup|call|teardown) +(\S.*?)$", re.MULTILINE)
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult},
}
OPPOSITES = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)  # changed, they are the guard's negation
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}
NAMES |= {"argmin": "argmax", "argmax": "argmin", "floor": "ceil", "ceil": "floor"}


@dataclass(frozen=True)
class Mutant:
    """One changed place: its file, line, number among all places of the file, and the statement before and after."""

    path: Path
    line: int
    number: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(LIBRARY)}:{self.line}\n    - {self.before}\n    + {self.after}"

    def source(self) -> str:
        """Return the whole changed file."""
        tree = ast.parse(self.path.read_text(encoding="utf8"))
        _, node, field, value = places(tree)[self.number]
        setattr(node, field, value)
        return ast.unparse(ast.fix_missing_locations(tree))


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
    elif isinstance(node, ast.If | ast.IfExp | ast.While) and not (
        isinstance(node.test, ast.Compare) and isinstance(node.test.ops[0], OPPOSITES)
    ):
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
        inner = [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
        for block in (statement, *inner):
            for name in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(block, name, []))


def _parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """Walk a statement without the statements inside it, annotations, formatted strings, and `strict` of zip."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        skipped = getattr(node, "annotation", None)
        children = (n for n in ast.iter_child_nodes(node) if getattr(n, "arg", None) != "strict")
        stack += [n for n in children if not isinstance(n, ast.stmt | ast.JoinedStr) and n is not skipped]


def mutants_of(path: Path) -> list[Mutant]:
    """Return all mutants of a file."""
    found = []
    for number, (statement, node, field, value) in enumerate(places(ast.parse(path.read_text(encoding="utf8")))):
        before, old = _head(statement), getattr(node, field)
        setattr(node, field, value)
        found.append(Mutant(path, getattr(node, "lineno", statement.lineno), number, before, _head(statement)))
        setattr(node, field, old)
    return found


def _head(statement: ast.stmt) -> str:
    """Return a statement as one line, of a compound one only its first."""
    return " ".join(ast.unparse(statement).split("\n")[0].split())


def folder_of(room: str, library: Path) -> Path:
    """Return the folder of a room, in whichever of the packages it is."""
    return next(library.glob(f"*/{room}"))


def drawn(room: str, count: int, seed: int) -> list[Mutant]:
    """Draw mutants of a room."""
    everything = [m for path in sorted(folder_of(room, LIBRARY).rglob("*.py")) for m in mutants_of(path)]
    return random.Random(seed).sample(everything, min(count, len(everything)))


# ---- tests that run through a line ----


@dataclass(frozen=True)
class Tests:
    """The tests of a room: how long each takes, and (in a database of coverage) which run through which line."""

    seconds: dict[str, float]
    data: Path

    def through(self, mutant: Mutant, most: float) -> list[str]:
        """Return the tests of a mutant that take `most` seconds together, the fastest file first."""
        found = self._reaching(mutant) or set(self.seconds)
        chosen, total = dict[str, list[str]](), 0.0
        for test in sorted(found, key=lambda test: (self.seconds.get(test, 0.0), test)):
            total += self.seconds.get(test, 0.0)
            if total <= most or not chosen:
                chosen.setdefault(test.split("::")[0], []).append(test)
        files = sorted(chosen.values(), key=self.took)
        return [test for file in files for test in file]

    def took(self, tests: list[str]) -> float:
        """Seconds of these tests together."""
        return sum(self.seconds.get(test, 0.0) for test in tests)

    def _reaching(self, mutant: Mutant) -> set[str]:
        """Return the tests that run through the line, else through those that call its function, and so on upwards."""
        lines, asked = {(mutant.path, mutant.line)}, set[str]()
        while lines and not (found := self._at(lines)):
            functions = {name for path, line in lines if (name := function_at(path, line))} - asked
            asked |= functions
            lines = {place for name in functions for place in lines_with(name, LIBRARY)}
        return found if lines else set()

    def _at(self, lines: set[tuple[Path, int]]) -> set[str]:
        from coverage.numbits import numbits_to_nums

        query = """SELECT context.context, line_bits.numbits FROM line_bits
                   JOIN context ON context.id = line_bits.context_id JOIN file ON file.id = line_bits.file_id
                   WHERE file.path = ?"""
        found = set()
        with closing(sqlite3.connect(self.data)) as database:
            for path in {path for path, _ in lines}:
                wanted = {line for other, line in lines if other == path}
                rows = database.execute(query, [str(self.data.parent / path.relative_to(LIBRARY))]).fetchall()
                found |= {name for name, bits in rows if name and not wanted.isdisjoint(numbits_to_nums(bits))}
        return {name.rpartition("|")[0] for name in found}  # what follows is the phase: setup, run or teardown


def function_at(path: Path, line: int) -> str:
    """Return the name of the innermost function around a line, or nothing."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf8")))
    around = [n for n in nodes if isinstance(n, ast.FunctionDef) and n.lineno <= line <= (n.end_lineno or n.lineno)]
    return max(around, key=lambda node: node.lineno).name if around else ""


def lines_with(name: str, folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the lines that name a function, but for its definition."""
    for path in sorted(folder.rglob("*.py")):
        for number, text in enumerate(path.read_text(encoding="utf8").splitlines(), 1):
            if re.search(rf"\b{name}\b", text) and not re.search(rf"\bdef {name}\b", text):
                yield path, number


def tests_of(room: str) -> list[str]:
    """Return the files and folders of a room's tests."""
    return [name for name in (ELSEWHERE.get(room) or [f"tests/{room}"]) + ALSO if (ROOT / name).exists()]


def observed(room: str, library: Path) -> Tests:
    """Run the tests of a room once, with coverage and a watch."""
    data, settings = library / "coverage", library / "coverage.toml"
    settings.write_text(f'[tool.coverage.run]\ndata_file = "{data}"\nsource = ["{folder_of(room, library)}"]\n')
    how = [f"--cov-config={settings}", "--cov", "--cov-context=test", "--cov-report="]
    code, told = pytest([*tests_of(room), *how, "--durations=0", "--durations-min=0"], library, most=3600)
    if code != PASSED:
        sys.exit(f"the tests of {room} do not pass as they are: mend these first\n{told[-2000:]}")
    seconds = dict[str, float]()
    for time, test in DURATION.findall(told):
        seconds[test] = seconds.get(test, 0.0) + float(time)
    return Tests(seconds, data)


# ---- trying ----


def pytest(arguments: list[str], library: Path, most: float, **variables: str) -> tuple[int, str]:
    """Run tests against a copy of the library; returns exit code and output, 1 where they take too long."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    paths = os.pathsep.join([str(library), str(ROOT)])  # tests that begin a process need the experiments, too
    settings = os.environ | one | {"PYTHONPATH": paths, "PYTHONHASHSEED": "0"} | variables
    quiet = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:nbval", "--no-header", "-n", "0", f"--rootdir={ROOT}"]
    command = [sys.executable, "-m", "pytest", *quiet, *arguments]
    try:
        done = subprocess.run(command, cwd=ROOT, env=settings, timeout=most, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        return 1, f"more than {most:.0f} seconds"
    return done.returncode, done.stdout


def killed(mutant: Mutant, tests: list[str], library: Path, most: float) -> bool:
    """Put a mutant into a copy of the library and see whether a test fails.

    What numba keeps of a function is not thrown away when a function of another file that it calls is changed, so that
    mutants of compiled files keep theirs apart.
    """
    place, source = library / mutant.path.relative_to(LIBRARY), mutant.source()
    original, times = place.read_bytes(), place.stat()
    arguments = ["--doctest-modules", str(place), *tests]
    place.write_text(source, encoding="utf8")
    later = times.st_mtime_ns + (1 + mutant.number) * 10**9  # byte code of another mutant, as long, is not taken for it
    os.utime(place, ns=(times.st_atime_ns, later))
    with tempfile.TemporaryDirectory() as compiled:
        apart = {"NUMBA_CACHE_DIR": compiled} if "numba" in source else {}
        try:
            code, told = pytest(arguments, library, most, **apart)
        finally:
            place.write_bytes(original)
            os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))  # else all that is compiled would be so anew
    if code == NOT_RUN and pytest([*arguments, "--collect-only"], library, most)[0] == NOT_RUN:
        sys.exit(f"tests cannot be run by their names\n{told[-2000:]}")
    return code not in (PASSED, NONE_FOUND)


def is_equivalent(mutant: Mutant) -> bool:
    """Whether the file of equivalent mutants names this one."""
    known = tomllib.loads(EQUIVALENT.read_text(encoding="utf8")).get("mutant", [])
    return any(
        mutant.path.as_posix().endswith(one["file"]) and (mutant.before, mutant.after) == (one["before"], one["after"])
        for one in known
    )


def copied(library: Path, place: Path) -> Path:
    """Copy a library, and what is compiled of it, to a place of its own, with the data sets where it looks for them."""
    shutil.copytree(library, place / "lib")
    (place / "datasets").symlink_to(ROOT / "datasets")
    return place / "lib"


def suite_that_kills(mutant: Mutant, chosen: list[str], tests: Tests, library: Path) -> str:
    """Try the small suite, then what it leaves out; returns "small", "all", or nothing where the mutant survives."""
    small = suites.chosen(tests.seconds, suites.read())
    first, rest = ([test for test in chosen if (test in small) == quick] for quick in (True, False))
    if killed(mutant, first, library, 60 + 5 * tests.took(first)):
        return "small"
    return "all" if rest and killed(mutant, rest, library, 60 + 5 * tests.took(rest)) else ""


def try_room(room: str, arguments: argparse.Namespace, folder: Path) -> tuple[list[str], int, list[Mutant]]:
    """Try the mutants of a room; returns which suite killed each, how many are equivalent, and those that survived."""
    first = copied(LIBRARY, folder / "0")
    tests = observed(room, first)
    libraries: Queue[Path] = Queue()
    for library in [first, *(copied(first, folder / str(number)) for number in range(1, arguments.jobs))]:
        libraries.put(library)

    def attempt(mutant: Mutant) -> str:
        library, chosen = libraries.get(), tests.through(mutant, arguments.seconds)
        try:
            return suite_that_kills(mutant, chosen, tests, library)
        finally:
            libraries.put(library)

    mutants = drawn(room, arguments.n, arguments.seed)
    unseen = [mutant for mutant in mutants if not is_equivalent(mutant)]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        fates = list(pool.map(attempt, unseen))
    survivors = [mutant for mutant, dead in zip(unseen, fates, strict=True) if not dead]
    return [fate for fate in fates if fate], len(mutants) - len(unseen), survivors


def main() -> None:
    """Try the rooms asked for, and print what survived."""
    parser = argparse.ArgumentParser(prog="kit.py mutants", description=__doc__.split("\n")[0])
    parser.add_argument("rooms", nargs="*", choices=ROOMS, default=ROOMS, metavar="ROOM", help=", ".join(ROOMS))
    parser.add_argument("-n", type=int, default=40, help="mutants of each room (default: 40)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    parser.add_argument("--seconds", type=float, default=120, help="of tests for each mutant (default: 120)")
    arguments = parser.parse_args()
    survived = 0
    for room in arguments.rooms:
        with tempfile.TemporaryDirectory() as folder:
            fates, equivalent, survivors = try_room(room, arguments, Path(folder))
        dead, small = len(fates), fates.count("small")
        share = dead / max(1, dead + len(survivors))
        print(f"{room}: {dead} killed, {len(survivors)} survived, {equivalent} equivalent: {share:.0%}", flush=True)
        print(f"the small suite kills {small} of {dead}", flush=True)
        for mutant in survivors:
            print(mutant, flush=True)
        survived += len(survivors)
    sys.exit(survived > 0)


if __name__ == "__main__":
    main()

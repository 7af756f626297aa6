"""The problems beside crowds: what a method is given, what it is asked, and what of its answer is right.

Each comes down to units that are right or not: hidden cells of a table, hidden comparisons, anchors.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from cofactor import simulate
from cofactor.comparisons.data import Comparisons
from cofactor.core.errors import CofactorError
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.data import load
from cofactor.data.registry import entries
from cofactor.data.storage import offline
from cofactor.registry import is_outside, listed, parts_of
from cofactor_app.bench.answers import FIRST, Problem
from cofactor_app.bench.crowds import Crowd

ANSWERS = MappingProxyType(  # by line, the trivial answer and the default of cofactor
    {
        "crowd": ("MajorityVote", "WorkerTypes"),
        "pmf": ("Independence", "CNMF-EM"),
        "separable": ("SPA", "MERIT"),
        "comparisons": ("WinRate", "ComparisonMF"),
    }
)
SAMPLE = 3000  # rows of a table that are used, drawn by seed 0
TABLES = ("car", "votes", "credit", "credit_approval", "nursery", "mushroom", "adult", "connect4")
CHOICES = ("food", "cars1", "cars2", "colors")
Read = Callable[[], tuple["Problem", Ints]]
FEW = 60  # rows, columns or comparisons on which a method runs first, so that nothing is compiled while it is timed


def line_of(method: str) -> str:
    """Return the problem of a method by the name of its first argument, read from its file; else crowd."""
    if not is_outside(method):
        return next((line for line in ANSWERS if method in listed(line)), "crowd")
    home, name, _ = parts_of(method)
    path = Path(home).expanduser()
    if path.suffix != ".py" or not path.is_file():
        return "crowd"
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return "crowd"  # the run says what is wrong with the file
    things = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    return FIRST.get(_first_argument(things.get(name), things), "crowd")


def _first_argument(thing: ast.stmt | None, things: Mapping[str, ast.stmt]) -> str:
    """Return the name of the first argument of a function, or of the `fit` of a class or of what it is made from."""
    if isinstance(thing, ast.ClassDef):
        fits = [node for node in thing.body if isinstance(node, ast.FunctionDef) and node.name == "fit"]
        above = [things.get(base.id) for base in thing.bases if isinstance(base, ast.Name) and base.id != thing.name]
        return next(filter(None, (_first_argument(one, things) for one in (*fits, *above))), "")
    names = [one.arg for one in thing.args.args if one.arg != "self"] if isinstance(thing, ast.FunctionDef) else []
    return names[0] if names else ""


def small(problem: Problem) -> Problem:
    """Return the first rows or columns of a problem, on which a method is tried before the whole."""
    given, asked = problem.given, problem.asked
    if problem.line == "pmf":
        rows = np.arange(min(len(given.codes), FEW))
        return replace(problem, given=given.take_rows(rows), asked=asked[asked[:, 0] < len(rows)])
    if problem.line == "separable":
        return replace(problem, given=given[:, :FEW], asked=min(asked, 3))
    return replace(problem, given=given.take(np.arange(min(len(given), FEW))), asked=asked[:FEW])


def scores_of(line: str, answer: Any, truth: Ints) -> tuple[Floats, Ints]:
    """Return an answer as (n, classes) scores of its units, and the (n,) true classes."""
    if line == "comparisons":
        return np.column_stack([1 - answer, answer]), truth
    right = np.isin(truth, answer) if line == "separable" else answer == truth
    return np.eye(2)[right.astype(int)], np.ones(len(truth), dtype=np.int64)


# ---- problems, drawn by seed 0 ----


def problems(line: str, names: Sequence[str] = (), own: Sequence[Crowd] = (), simulated: bool = False) -> list[Crowd]:
    """Return data of a problem: of these names; or own and simulated ones as asked for, else all that are here."""
    known = {name: Crowd(name, "simulated", read) for name, read in SIMULATED[line].items()}
    known |= {name: Crowd(name, name, read) for name, read in PUBLIC.get(line, {}).items()}
    mine = {one.name: one for one in own}
    if strange := [name for name in names if name not in known | mine]:
        raise CofactorError(f"no set of {line} is named {', '.join(strange)}; there are {', '.join(known | mine)}")
    if names:
        return [(mine | known)[name] for name in names]
    gone = [] if own or simulated else away(line)
    here = [] if own or simulated else [name for name in PUBLIC.get(line, {}) if name not in gone]
    drawn = SIMULATED[line] if simulated or not own else ()
    return [*own, *(known[name] for name in (*drawn, *here))]


def away(line: str) -> list[str]:
    """Return the registered sets of a problem that are not on this machine."""
    registry = entries()
    return [name for name in PUBLIC.get(line, {}) if not offline(registry[name])]


def _hidden(codes: Ints, sizes: Sequence[int], rng: np.random.Generator) -> tuple[Problem, Ints]:
    """Hide a fifth of the known cells."""
    cells = np.argwhere(codes >= 0)
    hidden = cells[rng.permutation(len(cells))[: len(cells) // 5]]
    truth = codes[tuple(hidden.T)].astype(np.int64)
    codes[tuple(hidden.T)] = -1
    return Problem("pmf", CategoricalTable(codes, sizes=list(sizes)), hidden), truth


def cells_of(table: CategoricalTable, rng: np.random.Generator) -> tuple[Problem, Ints]:
    """A fifth of the known cells hidden, in at most SAMPLE rows."""
    rows = np.sort(rng.permutation(table.n_rows)[:SAMPLE])
    return _hidden(np.array(table.codes[rows]), table.sizes.tolist(), rng)


def choices_of(found: Comparisons, rng: np.random.Generator) -> tuple[Problem, Ints]:
    """A fifth of every user's comparisons held out, of at most SAMPLE; ties are not asked."""
    given, held_out = found.take(rng.permutation(len(found))[:SAMPLE]).hold_out(0.2, random_state=rng)
    return _questions(given, held_out.take(held_out.outcome != 0.5))


def _public_table(name: str) -> tuple[Problem, Ints]:
    return cells_of(load(name).table, np.random.default_rng(0))


def _public_choices(name: str) -> tuple[Problem, Ints]:
    return choices_of(load(name).comparisons, np.random.default_rng(0))


def _questions(given: Comparisons, asked: Comparisons) -> tuple[Problem, Ints]:
    """Ask for the winners of comparisons; users and items are numbers, so that no name tells anything."""
    sides = (given.user, given.left, given.right, given.outcome)
    bare = Comparisons(*sides, given.n_users, given.n_items, prompt=given.prompt)
    questions = np.column_stack([asked.user, asked.left, asked.right])
    return Problem("comparisons", bare, questions), np.asarray(asked.outcome > 0.5, dtype=np.int64)


def _table(rank: int, observed: float) -> tuple[Problem, Ints]:
    """1,000 rows of 8 variables with 4 values; a fifth of the known cells is hidden."""
    rng = np.random.default_rng(0)
    model = simulate.joint_model(8, 4, rank, random_state=rng)
    codes = np.array(simulate.joint_table(model, 1000, observed, random_state=rng).codes)
    return _hidden(codes, [4] * 8, rng)


def _points(kind: str, snr: float) -> tuple[Problem, Ints]:
    """Twenty (or ten) anchors among mixtures of them, in random order."""
    rng = np.random.default_rng(0)
    if kind == "dirichlet":
        found = simulate.dirichlet_mixtures(n_anchors=20, snr_db=snr, random_state=rng)
    else:
        found = simulate.midpoint_mixtures(snr_db=snr, random_state=rng)
    order = rng.permutation(found.X.shape[1])
    anchors = np.argsort(order)[found.anchors].astype(np.int64)
    return Problem("separable", np.ascontiguousarray(found.X[:, order]), len(anchors)), anchors


def _choices(rank: int, n: int) -> tuple[Problem, Ints]:
    """Of 50 users and 30 items, n comparisons are given and 2,000 are asked."""
    rng = np.random.default_rng(0)
    U, V = simulate.comparison_factors(50, 30, rank, scale=2.0, random_state=rng)
    b = rng.normal(size=30)
    draw = partial(simulate.draw_comparisons, U, V, b=b, random_state=rng)
    return _questions(draw(n), draw(2000))


def _two_way() -> tuple[Problem, Ints]:
    """Votes of 40 users about 8 items share one of 20 prompts; a fifth is asked, without the prompt."""
    found = simulate.two_way_comparisons(n_comparisons=3000, random_state=0)[0]
    return _questions(*found.hold_out(0.2, random_state=0))


def _drifting() -> tuple[Problem, Ints]:
    """Matches of a season are given, those of the next one are asked; skills drift, and a user is a week."""
    field, size, n_weeks = 16, 96, 44
    seasons = simulate.tennis_seasons(size, 2, n_weeks=n_weeks, field=field, drift=0.1, random_state=0)[0]
    week = np.arange(len(seasons[0])) // (2 * (field - 1))  # of two tournaments
    given, asked = (
        Comparisons(week + place * n_weeks, one.left, one.right, one.outcome, 2 * n_weeks, size)
        for place, one in enumerate(seasons)
    )
    return _questions(given, asked)


SIMULATED: Mapping[str, dict[str, Read]] = MappingProxyType(
    {
        "pmf": {
            "sim_joint": partial(_table, 4, 1.0),
            "sim_joint_sparse": partial(_table, 4, 0.4),
            "sim_joint_independent": partial(_table, 1, 1.0),
        },
        "separable": {
            "sim_dirichlet": partial(_points, "dirichlet", 20.0),
            "sim_dirichlet_noisy": partial(_points, "dirichlet", 10.0),
            "sim_midpoints": partial(_points, "midpoints", 10.0),
        },
        "comparisons": {
            "sim_tastes": partial(_choices, 3, 3000),
            "sim_tastes_few": partial(_choices, 3, 800),
            "sim_one_taste": partial(_choices, 1, 3000),
            "sim_two_way": _two_way,
            "sim_drifting_skill": _drifting,
        },
    }
)
PUBLIC: Mapping[str, dict[str, Read]] = MappingProxyType(
    {
        "pmf": {name: partial(_public_table, name) for name in TABLES},
        "comparisons": {name: partial(_public_choices, name) for name in CHOICES},
    }
)

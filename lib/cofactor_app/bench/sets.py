"""Data sets with known truth by problem: registered sets, simulated sets, and those in a folder.

Sets of one family, such as three parts of one collection, are not independent, so tables average over families.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from cofactor import simulate
from cofactor.comparisons.data import Comparisons
from cofactor.core.errors import CofactorError, listing
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Ints
from cofactor.crowd.labels import CrowdLabels
from cofactor.data import load
from cofactor.data.registry import entries
from cofactor.data.storage import offline
from cofactor_app.bench.answers import Question

FAMILIES = MappingProxyType(
    {
        "adult": ("adult_content",),
        "bluebird": ("bluebird",),
        "film reviews": ("sentiment_polarity", "sentiment_polarity_amt"),
        "trec": ("trec",),
        "weather": ("weather_cf", "weather_amt"),
        "web": ("web",),
        "zencrowd": ("zencrowd_all", "zencrowd_in", "zencrowd_us"),
        "dog": ("dog",),
        "faces": ("face_sentiment",),
        "music": ("music_genre",),
        "products": ("product",),
        "rte": ("rte",),
        "tweets": ("sentiment_1k",),
    }
)
FAMILY = MappingProxyType({name: family for family, names in FAMILIES.items() for name in names})
SAMPLE = 3000  # rows of a table that are used, drawn by seed 0
TABLES = ("car", "votes", "credit", "credit_approval", "nursery", "mushroom", "adult", "connect4")
COMPARISONS = ("food", "cars1", "cars2", "colors")
Read = Callable[[], tuple[Any, Ints]]


@dataclass(frozen=True)
class KnownSet:
    """A set not yet read: its name, its family, and a function for its data and (N,) truth, -1 where unknown."""

    name: str
    family: str
    read: Read


def known_sets(
    problem: str, names: Sequence[str] = (), own: Sequence[KnownSet] = (), simulated: bool = False
) -> list[KnownSet]:
    """Return the sets of a problem with these names; without names, all those requested.

    Parameters
    ----------
    problem : crowd, pmf, separable or comparisons
    names : sequence of str
        Names of your own, registered or simulated sets; your own set is preferred to another of its name.
    own : sequence of KnownSet
        Your own sets, see `cofactor_app.bench.folder`; without names, they replace the others.
    simulated : bool
        Also return sets simulated from models, see `SIMULATED`. For problems other than crowds, this is the default,
        because few of their sets are registered.

    Raises
    ------
    CofactorError
        If a name is not that of a set, or a crowd is not on this machine; nothing is downloaded.
    """
    registered, crowd = PUBLIC.get(problem, {}), problem == "crowd"
    known = {name: KnownSet(name, name if crowd else "simulated", read) for name, read in SIMULATED[problem].items()}
    known = {name: KnownSet(name, FAMILY.get(name, name), read) for name, read in registered.items()} | known
    mine = {one.name: one for one in own}
    if strange := [name for name in names if name not in known | mine]:
        there = ", ".join(known | mine)
        others = [name for name in strange if name in entries()]
        but = (
            f" (data sets that the bench does not include: {listing(others)}; give their files with --data)"
            if others
            else ""
        )
        raise CofactorError(f"no {problem} set is named {listing(map(repr, strange))}{but}: choose from {there}")
    if names:
        return [(known | mine)[name] for name in names]  # the user's own before a registered one
    simulations = SIMULATED[problem] if simulated or not (own or crowd) else ()
    gone = registered if own or simulated else missing(problem)
    return [*own, *(known[name] for name in (*simulations, *(name for name in registered if name not in gone)))]


def missing(problem: str) -> list[str]:
    """Return the registered sets of a problem that are not on this machine."""
    registry = entries()
    return [name for name in PUBLIC.get(problem, {}) if not offline(registry[name])]


# ---- registered sets ----


def _public_crowd(name: str) -> tuple[CrowdLabels, Ints]:
    if not offline(entries()[name]):
        raise CofactorError(f"{name} is not on this machine: `cofactor datasets fetch {name}` downloads it")
    found = load(name, "crowd")
    return found.labels, found.truth


def _public_table(name: str) -> tuple[Question, Ints]:
    return hidden_cells_of(load(name).table, np.random.default_rng(0))


def _public_comparisons(name: str) -> tuple[Question, Ints]:
    return comparisons_of(load(name).comparisons, np.random.default_rng(0))


def hidden_cells_of(table: CategoricalTable, rng: np.random.Generator) -> tuple[Question, Ints]:
    """Return a table with a fifth of the known cells hidden, in at most SAMPLE rows, and the hidden codes."""
    rows = np.sort(rng.permutation(table.n_rows)[:SAMPLE])
    return _hidden(np.array(table.codes[rows]), table.sizes.tolist(), rng)


def comparisons_of(found: Comparisons, rng: np.random.Generator) -> tuple[Question, Ints]:
    """Return at most SAMPLE comparisons with a fifth of every user's held out, and the outcomes of these but ties."""
    given, held_out = found.take(rng.permutation(len(found))[:SAMPLE]).hold_out(0.2, random_state=rng)
    return _questions(given, held_out.take(held_out.outcome != 0.5))


def _hidden(codes: Ints, sizes: Sequence[int], rng: np.random.Generator) -> tuple[Question, Ints]:
    """Hide a fifth of the known cells."""
    cells = np.argwhere(codes >= 0)
    hidden = cells[rng.permutation(len(cells))[: len(cells) // 5]]
    truth = codes[tuple(hidden.T)].astype(np.int64)
    codes[tuple(hidden.T)] = -1
    return Question("pmf", CategoricalTable(codes, sizes=list(sizes)), hidden), truth


def _questions(given: Comparisons, asked: Comparisons) -> tuple[Question, Ints]:
    """Ask for the winners of comparisons; users and items are numbers, so that no name tells anything."""
    sides = (given.user, given.left, given.right, given.outcome)
    bare = Comparisons(*sides, given.n_users, given.n_items, prompt=given.prompt)
    questions = np.column_stack([asked.user, asked.left, asked.right])
    return Question("comparisons", bare, questions), np.asarray(asked.outcome > 0.5, dtype=np.int64)


# ---- simulated crowds: 400 tasks, seed 0; 25 workers, or as many as are named ----


def drawn_crowd(name: str, seed: int = 0) -> tuple[CrowdLabels, Ints]:
    """Draw a simulated crowd: labels, and the (400,) true classes."""
    rng = np.random.default_rng(seed)
    return DRAWN_CROWDS[name](rng)


def _labels(codes: Ints, truth: Ints, K: int) -> tuple[CrowdLabels, Ints]:
    task, worker = np.nonzero(codes >= 0)
    N, M = codes.shape
    return CrowdLabels.from_arrays(task, worker, codes[task, worker], K, N, M, unlabelled="keep"), truth


def _answers(rng: np.random.Generator, truth: Ints, right: np.ndarray, K: int = 2) -> Ints:
    """Labels (N, M) of workers who are right with the probabilities (M,), or by class (K, M); else another class."""
    chance = right[truth] if right.ndim > 1 else np.broadcast_to(right, (len(truth), len(right)))
    wrong = (truth[:, None] + rng.integers(1, K, chance.shape)) % K
    return np.where(rng.random(chance.shape) < chance, truth[:, None], wrong)


def _some(rng: np.random.Generator, codes: Ints, each: int) -> Ints:
    """Keep `each` labels a task."""
    place = rng.random(codes.shape).argsort(axis=1).argsort(axis=1)
    return np.where(place < each, codes, -1)


def _one_accuracy(rng: np.random.Generator) -> tuple[CrowdLabels, Ints]:
    truth = rng.integers(2, size=400)
    return _labels(_some(rng, _answers(rng, truth, rng.uniform(0.6, 0.9, 25)), 5), truth, 2)


def _specialists(rng: np.random.Generator) -> tuple[CrowdLabels, Ints]:
    """Each is good at one of three classes, and guesses otherwise."""
    truth, right = rng.integers(3, size=400), np.full((3, 25), 0.4)
    right[rng.integers(3, size=25), np.arange(25)] = 0.95
    return _labels(_some(rng, _answers(rng, truth, right, 3), 7), truth, 3)


def _spammers(rng: np.random.Generator) -> tuple[CrowdLabels, Ints]:
    """Eleven of 25 always give one class."""
    truth = rng.integers(2, size=400)
    codes = _answers(rng, truth, np.full(25, 0.8))
    codes[:, :11] = rng.integers(2, size=11)
    return _labels(_some(rng, codes, 7), truth, 2)


def _copies(rng: np.random.Generator) -> tuple[CrowdLabels, Ints]:
    """One worker of 70 %, four times, and three of 85 %."""
    truth = rng.integers(2, size=400)
    codes = _answers(rng, truth, np.array([0.7, 0.85, 0.85, 0.85]))
    return _labels(codes[:, [0, 0, 0, 0, 1, 2, 3]], truth, 2)


def _one_label(rng: np.random.Generator) -> tuple[CrowdLabels, Ints]:
    truth = rng.integers(4, size=400)
    return _labels(_some(rng, _answers(rng, truth, rng.uniform(0.5, 0.9, 25), 4), 1), truth, 4)


def _shared_errors(rng: np.random.Generator) -> tuple[CrowdLabels, Ints]:
    """Seven judges; each of three takes 85 % of the labels from one more, who is hidden, and so they err together."""
    truth = rng.integers(2, size=400)
    codes = _answers(rng, truth, np.full(8, 0.75))
    same = rng.random((400, 3)) < 0.85
    codes[:, :3] = np.where(same, codes[:, [7]], codes[:, :3])
    return _labels(codes[:, :7], truth, 2)


def _grades(rng: np.random.Generator) -> tuple[CrowdLabels, Ints]:
    """Five grades; workers round what they see, each with an offset and an error of 0.7 grades."""
    truth = rng.integers(5, size=400)
    seen = truth[:, None] + rng.normal(0, 0.5, 25) + rng.normal(0, 0.7, (400, 25))
    return _labels(_some(rng, np.clip(np.rint(seen), 0, 4).astype(np.int64), 6), truth, 5)


def _drifting_workers(rng: np.random.Generator) -> tuple[CrowdLabels, Ints]:
    """Workers learn or tire over their tasks."""
    found = simulate.drifting_crowd(drift=3.0, random_state=rng)
    return found.labels, found.truth


def _misleading(rng: np.random.Generator) -> tuple[CrowdLabels, Ints]:
    """Fifteen per cent of the tasks mislead everybody."""
    truth = rng.integers(2, size=400)
    codes = _answers(rng, np.where(rng.random(400) < 0.15, 1 - truth, truth), rng.uniform(0.7, 0.95, 25))
    return _labels(_some(rng, codes, 7), truth, 2)


def _dawid_skene(rng: np.random.Generator) -> tuple[CrowdLabels, Ints]:
    model = simulate.dawid_skene_model(25, 4, skill=0.5, random_state=rng)
    found = simulate.crowd(model, 400, 0.3, random_state=rng)
    return found.labels, found.truth


# ---- other simulated sets, of seed 0 ----


def _drawn_table(rank: int, observed: float) -> tuple[Question, Ints]:
    """1,000 rows of 8 variables with 4 values; a fifth of the known cells is hidden."""
    rng = np.random.default_rng(0)
    model = simulate.joint_model(8, 4, rank, random_state=rng)
    codes = np.array(simulate.joint_table(model, 1000, observed, random_state=rng).codes)
    return _hidden(codes, [4] * 8, rng)


def _drawn_points(kind: str, snr: float) -> tuple[Question, Ints]:
    """Twenty (or ten) anchors among mixtures of them, in random order."""
    rng = np.random.default_rng(0)
    if kind == "dirichlet":
        found = simulate.dirichlet_mixtures(n_anchors=20, snr_db=snr, random_state=rng)
    else:
        found = simulate.midpoint_mixtures(snr_db=snr, random_state=rng)
    order = rng.permutation(found.X.shape[1])
    anchors = np.argsort(order)[found.anchors].astype(np.int64)
    return Question("separable", np.ascontiguousarray(found.X[:, order]), len(anchors)), anchors


def _drawn_comparisons(rank: int, n: int) -> tuple[Question, Ints]:
    """Of 50 users and 30 items, n comparisons are given and 2,000 are asked."""
    rng = np.random.default_rng(0)
    U, V = simulate.comparison_factors(50, 30, rank, scale=2.0, random_state=rng)
    b = rng.normal(size=30)
    draw = partial(simulate.draw_comparisons, U, V, b=b, random_state=rng)
    return _questions(draw(n), draw(2000))


def _two_way() -> tuple[Question, Ints]:
    """Votes of 40 users about 8 items share one of 20 prompts; a fifth is asked, without the prompt."""
    found = simulate.two_way_comparisons(n_comparisons=3000, random_state=0)[0]
    return _questions(*found.hold_out(0.2, random_state=0))


def _drifting_skill() -> tuple[Question, Ints]:
    """Matches of a season are given, those of the next one are asked; skills drift, and a user is a week."""
    field, size, n_weeks = 16, 96, 44
    seasons = simulate.tennis_seasons(size, 2, n_weeks=n_weeks, field=field, drift=0.1, random_state=0)[0]
    week = np.arange(len(seasons[0])) // (2 * (field - 1))  # of two tournaments
    given, asked = (
        Comparisons(week + place * n_weeks, one.left, one.right, one.outcome, 2 * n_weeks, size)
        for place, one in enumerate(seasons)
    )
    return _questions(given, asked)


DRAWN_CROWDS: Mapping[str, Callable[[np.random.Generator], tuple[CrowdLabels, Ints]]] = MappingProxyType(
    {
        "sim_one_accuracy": _one_accuracy,
        "sim_specialists": _specialists,
        "sim_spammers": _spammers,
        "sim_copies": _copies,
        "sim_one_label": _one_label,
        "sim_shared_errors": _shared_errors,
        "sim_grades": _grades,
        "sim_misleading": _misleading,
        "sim_dawid_skene": _dawid_skene,
        "sim_drifting": _drifting_workers,
    }
)
SIMULATED: Mapping[str, dict[str, Read]] = MappingProxyType(
    {
        "crowd": {name: partial(drawn_crowd, name) for name in DRAWN_CROWDS},
        "pmf": {
            "sim_joint": partial(_drawn_table, 4, 1.0),
            "sim_joint_sparse": partial(_drawn_table, 4, 0.4),
            "sim_joint_independent": partial(_drawn_table, 1, 1.0),
        },
        "separable": {
            "sim_dirichlet": partial(_drawn_points, "dirichlet", 20.0),
            "sim_dirichlet_noisy": partial(_drawn_points, "dirichlet", 10.0),
            "sim_midpoints": partial(_drawn_points, "midpoints", 10.0),
        },
        "comparisons": {
            "sim_tastes": partial(_drawn_comparisons, 3, 3000),
            "sim_tastes_few": partial(_drawn_comparisons, 3, 800),
            "sim_one_taste": partial(_drawn_comparisons, 1, 3000),
            "sim_two_way": _two_way,
            "sim_drifting_skill": _drifting_skill,
        },
    }
)
PUBLIC: Mapping[str, dict[str, Read]] = MappingProxyType(
    {
        "crowd": {name: partial(_public_crowd, name) for name in FAMILY},
        "pmf": {name: partial(_public_table, name) for name in TABLES},
        "comparisons": {name: partial(_public_comparisons, name) for name in COMPARISONS},
    }
)

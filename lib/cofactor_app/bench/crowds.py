"""Crowds of known truth by family of tasks: registered ones, simulated ones, and those of a folder.

Sets of one family, such as three parts of one collection, are not independent: tables count families.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from cofactor import simulate
from cofactor.core.errors import CofactorError, listing
from cofactor.core.types import Ints
from cofactor.crowd.labels import CrowdLabels
from cofactor.data import load
from cofactor.data.registry import entries
from cofactor.data.storage import offline

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


@dataclass(frozen=True)
class Crowd:
    """A set, not read yet: its name and family, and what returns its data and (N,) true classes, -1 where unknown."""

    name: str
    family: str
    read: Callable[[], tuple[Any, Ints]]


def crowds(names: Sequence[str] = (), own: Sequence[Crowd] = (), simulated: bool = False) -> list[Crowd]:
    """Return the sets of these names; without names, own and simulated ones as asked for, or all registered ones.

    Parameters
    ----------
    names : sequence of str
        Registered sets, own or simulated ones.
    own : sequence of Crowd
        Those of a folder, see `cofactor_app.bench.folder`.
    simulated : bool
        Crowds drawn from models whose truth is known: see `SIMULATED`.

    Raises
    ------
    CofactorError
        Names that are no set, or a set that is not on this machine; nothing is downloaded.
    """
    known = {name: Crowd(name, FAMILY[name], partial(_registered, name)) for name in FAMILY}
    known |= {name: Crowd(name, name, partial(drawn, name)) for name in SIMULATED}
    mine = {one.name: one for one in own}
    if strange := [name for name in names if name not in known | mine]:
        raise CofactorError(f"no crowds named {listing(map(repr, strange))}; there are {', '.join(known | mine)}")
    if names:
        return [(mine | known)[name] for name in names]
    away = [] if own or simulated else missing()
    here = [] if own or simulated else [name for name in FAMILY if name not in away]
    return [*own, *(known[name] for name in (*here, *(SIMULATED if simulated else ())))]


def missing() -> list[str]:
    """Return the registered crowds that are not on this machine."""
    registry = entries()
    return [name for name in FAMILY if not offline(registry[name])]


def _registered(name: str) -> tuple[CrowdLabels, Ints]:
    if not offline(entries()[name]):
        raise CofactorError(f"{name} is not on this machine: `cofactor datasets fetch {name}` brings it")
    found = load(name, "crowd")
    return found.labels, found.truth


# ---- simulated crowds: 400 tasks, 25 workers, seed 0; accuracies are drawn evenly from the named range ----


def drawn(name: str, seed: int = 0) -> tuple[CrowdLabels, Ints]:
    """Draw a simulated crowd: labels, and the (400,) true classes."""
    rng = np.random.default_rng(seed)
    return SIMULATED[name](rng)


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
    """Three of seven judges err together: in 85 % of their errors they say the same."""
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


def _drifting(rng: np.random.Generator) -> tuple[CrowdLabels, Ints]:
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


SIMULATED = MappingProxyType(
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
        "sim_drifting": _drifting,
    }
)

"""What two exercises of the lab of notebook 10 draw by a seed: a messy file, and intervals that hold.

symbol   meaning                                                        shape
held     whether the interval of a worker holds the truth               (C, M)
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from cofactor.core.types import Ints
from course.nb10.files import ANSWERS

Rows = list[tuple[str, str, str]]  # message, rater, answer, in the order of the file

GAPS = "", "n/a"  # what stands where there is no label
MESSAGES, RATERS = 12, 5
CROWDS, WORKERS, PROMISED = 20, 15, 0.9


# ---- a messy file ----


@lru_cache(maxsize=64)
def messy(seed: int) -> Any:
    """Draw the rows of a file: (R, 3) texts, a message, a rater and an answer each.

    Some answers are missing, some have a capital, some are given again, and some are corrected later. A file is drawn
    again where mending it otherwise gives the same counts.
    """
    rng = np.random.default_rng(seed)
    while True:
        rows = _rows(rng)
        counts = [count_labels(rows, **way) for way in ({}, {"keep": "first"}, {"keep": "none"}, {"keep": "all"})]
        pairs = [contradictions(rows, **way) for way in ({}, {"capitals": True}, {"gaps": True}, {"again": True})]
        if len({*map(tuple, counts)}) == len(counts) and len({*pairs, 2 * pairs[0]}) == len(pairs) + 1:
            return np.array(rows)


def _rows(rng: np.random.Generator) -> Rows:
    cells = [(f"m-{n:02d}", f"rater {m + 1}") for n in range(MESSAGES) for m in range(RATERS) if rng.random() < 0.8]
    said = [str(answer) for answer in rng.choice(ANSWERS, len(cells))]
    rows, later = [], []
    changes = rng.permutation(["other"] * rng.integers(3, 7) + ["capital"] * 2 + ["same"] * 3 + ["gap"])
    changes = np.append(changes, ["none"] * (len(cells) - len(changes)))[rng.permutation(len(cells))]
    for cell, answer, change in zip(cells, said, changes, strict=True):
        rows.append((*cell, GAPS[rng.integers(2)] if change == "gap" else answer))
        if change != "none":
            other = str(rng.choice([one for one in ANSWERS if one != answer]))
            later.append((*cell, {"other": other, "capital": answer.capitalize()}.get(str(change), answer)))
    return [*(rows[e] for e in rng.permutation(len(rows))), *(later[e] for e in rng.permutation(len(later)))]


def answers_by_cell(rows: Any, capitals: bool = False, gaps: bool = False) -> dict[tuple[str, str], list[str]]:
    """Collect the answers of every rater to every message, in order; capitals, and gaps, can be taken for answers."""
    found: dict[tuple[str, str], list[str]] = {}
    for message, rater, answer in rows:
        if gaps or answer not in GAPS:
            found.setdefault((message, rater), []).append(answer if capitals else answer.lower())
    return found


def contradictions(rows: Any, again: bool = False, **taken: bool) -> int:
    """Count pairs of a message and a rater with different answers; with `again`, with more than one answer."""
    return sum(len(own if again else {*own}) > 1 for own in answers_by_cell(rows, **taken).values())


def count_labels(rows: Any, keep: str = "last") -> list[int]:
    """Count the labels of each class, where of several answers to one message this one is kept."""
    kept: list[str] = []
    for own in answers_by_cell(rows).values():
        some = {"last": own[-1:], "first": own[:1], "all": own, "none": own[-1:] if len({*own}) == 1 else []}
        kept += some[keep]
    return [kept.count(answer) for answer in ANSWERS]


# ---- intervals that hold ----


@lru_cache(maxsize=64)
def intervals_that_hold(seed: int) -> Ints:
    """Draw whether the intervals of 15 workers in each of 20 simulated crowds hold the truth: (20, 15) ones and zeros.

    Workers of one crowd are overrated together, in some crowds more than in others. Taken for independent, the 300
    intervals refute 90 % in every table; the crowds do so in half of the tables.
    """
    rng = np.random.default_rng(seed)
    refuted = bool(rng.integers(2))
    while True:
        share = rng.beta(*((6, 1.4) if refuted else (3, 0.6)), CROWDS)
        held = (rng.random((CROWDS, WORKERS)) < share[:, None]).astype(np.intp)
        mean, error, naive = coverage(held)
        away = (PROMISED - mean) / np.array([error, naive])
        if away[1] > 2.3 and (away[0] > 2.3 if refuted else 0 < away[0] < 1.7):
            return held


def coverage(held: Ints) -> tuple[float, float, float]:
    """Return the share that holds, its standard error from the crowds, and that of independent intervals."""
    by_crowd = held.mean(axis=1)
    mean = float(by_crowd.mean())
    return mean, float(by_crowd.std(ddof=1) / len(held) ** 0.5), float((mean * (1 - mean) / held.size) ** 0.5)

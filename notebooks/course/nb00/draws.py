"""Draw the data of two exercises of notebook 00: four crowds with one fault each, and a file with corrections.

kind  what is wrong with a crowd
1     two groups of people never label the same photograph
2     three people are copies: they give the same labels to all photographs that they share
3     some photographs have no label
4     one person gives the same class to every photograph
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

from cofactor.core.errors import DataWarning
from cofactor.core.types import Floats, Ints
from cofactor.crowd import METHODS
from cofactor.crowd.copies import candidates
from cofactor.crowd.labels import CrowdLabels

N_TASKS, N_PEOPLE, SEEN = 60, 9, 0.6  # of a crowd with a fault, and the fraction of photographs that a person labels
SKILLS = 0.82, 0.94  # fractions right
COPIES, COPIED, UNLABELLED = 3, 0.7, 12  # copies, the fraction they have right; photographs without a label
BIRDS = "garganey", "teal"
N_PHOTOGRAPHS, N_MEMBERS, CORRECTED = 60, 7, 0.25  # of the file, and the fraction of labels that are corrected later
MIXED = 0.55, 0.95  # fractions that the members have right
SURE = 0.01  # every probability in the file is at least this far from 0.5
TO_TEAL = 0.8  # fraction of the corrections that go from garganey to teal


def _answers(n_tasks: int, skills: Floats, rng: np.random.Generator) -> Ints:
    """Draw (N, M) labels of two classes by people with these accuracies."""
    truth = rng.integers(2, size=n_tasks)
    right = rng.random((n_tasks, len(skills))) < skills
    return np.where(right, truth[:, None], 1 - truth[:, None])


def crowd(kind: int, rng: np.random.Generator) -> Ints:
    """Return (60, 9) codes with a fault of this kind and no other; -1 where there is no label."""
    while True:
        skills = rng.uniform(*SKILLS, N_PEOPLE)
        if kind == 2:
            skills[0] = COPIED
        codes, seen = _answers(N_TASKS, skills, rng), rng.random((N_TASKS, N_PEOPLE)) < SEEN
        if kind == 1:
            seen = (rng.random(seen.shape) < 0.9) & (np.arange(N_TASKS)[:, None] % 2 == np.arange(N_PEOPLE) % 2)
        elif kind == 2:
            codes[:, :COPIES], seen[:, :COPIES] = codes[:, [0]], rng.random((N_TASKS, COPIES)) < 0.95
        elif kind == 3:
            seen[:UNLABELLED] = False
        else:
            codes[:, 0] = rng.integers(2)
        codes = np.where(seen, codes, -1)[rng.permutation(N_TASKS)][:, rng.permutation(N_PEOPLE)]
        if faults(codes) == [kind]:
            return codes


def faults(codes: Ints) -> list[int]:
    """List the kinds of fault in (N, M) labels."""
    gave, table = (codes >= 0).astype(int), labels_of(codes).table
    found = {
        1: connected_components(gave.T @ gave)[0] > 1,
        2: len(np.unique(candidates(table))) < table.n_variables,
        3: not gave.any(axis=1).all(),
        4: any(len(np.unique(own[own >= 0])) == 1 for own in codes.T),
    }
    return [kind for kind, is_so in found.items() if is_so]


def crowds(seed: int) -> Ints:
    """Draw four crowds, each with a different fault, in random order: (4, 60, 9) codes."""
    rng = np.random.default_rng(seed)
    return np.stack([crowd(kind, rng) for kind in rng.permutation([1, 2, 3, 4])])


def labels_of(codes: Ints) -> CrowdLabels:
    """Return (N, M) codes as `CrowdLabels`; photographs without a label are kept."""
    task, person = np.nonzero(codes >= 0)
    return CrowdLabels.from_arrays(task, person, codes[task, person], 2, len(codes), codes.shape[1], unlabelled="keep")


@lru_cache(maxsize=32)
def file_text(seed: int) -> str:
    """Draw the text of a CSV file (photograph, member, bird) in which later rows correct some labels.

    A file is redrawn if two ways of counting (first answers, last answers, the vote) find the same number of teals, or
    if a probability is close to 0.5: the count would then not tell which way was used.
    """
    rng = np.random.default_rng(seed)
    while True:
        text = _rows(rng).to_csv(index=False)
        found = teals(text)
        counts = [count for count, _ in found.values()]
        told_apart = len({*counts, *(N_PHOTOGRAPHS - count for count in counts)}) == 2 * len(counts)
        if told_apart and found["last"][1] > SURE:
            return text


def _rows(rng: np.random.Generator) -> pd.DataFrame:
    """All labels in the order in which they were given; corrections come after what they correct."""
    codes = _answers(N_PHOTOGRAPHS, rng.uniform(*MIXED, N_MEMBERS), rng)
    seen = rng.random(codes.shape) < SEEN
    seen[np.arange(N_PHOTOGRAPHS), rng.integers(N_MEMBERS, size=N_PHOTOGRAPHS)] = True
    photo, member = np.nonzero(seen)
    last = codes[photo, member]
    again = rng.random(len(last)) < CORRECTED * 2 * np.where(last == 1, TO_TEAL, 1 - TO_TEAL)
    first = np.where(again, 1 - last, last)
    order, later = rng.permutation(len(last)), rng.permutation(np.flatnonzero(again))
    rows = np.append(order, later)
    birds = np.array(BIRDS, dtype=object)[np.append(first[order], last[later])]
    names = [f"p{n:02d}" for n in photo[rows]], [f"member {m + 1}" for m in member[rows]]
    return pd.DataFrame({"photo": names[0], "member": names[1], "bird": birds})


@lru_cache(maxsize=256)
def teals(text: str) -> dict[str, tuple[int, float]]:
    """Count the photographs labelled teal, by way of counting, with the least distance of a probability from 0.5."""
    found = {}
    for done, name in {"last": "WorkerTypes", "first": "WorkerTypes", "vote": "MajorityVote"}.items():
        labels = read(text, "first" if done == "first" else "last")
        method = METHODS[name]().fit(labels)
        even = float(np.abs(method.predict_proba(labels)[:, 0] - 0.5).min())
        found[done] = int((method.predict(labels) == BIRDS.index("teal")).sum()), even
    return found


def read(text: str, conflicts: Any) -> CrowdLabels:
    """Read the text of a file; `conflicts` is that of `CrowdLabels.from_frame`."""
    rows = [line.split(",") for line in text.splitlines()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # it tells of labels that were given again
        frame = pd.DataFrame(rows[1:], columns=rows[0])
        return CrowdLabels.from_frame(frame, "photo", "member", "bird", classes=BIRDS, conflicts=conflicts)

"""The file of notebook 10, as people bring it, with its mistakes; it is drawn from a model, so the truth is known."""

from __future__ import annotations

import warnings
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from cofactor.core.errors import DataWarning
from cofactor.core.latent_class import LatentClassModel
from cofactor.crowd.labels import CrowdLabels

# labels: messages to a shop, sorted by two shifts that never see the same message
ANSWERS = ("complaint", "praise", "question")
SHARES = (0.45, 0.2, 0.35)
SHIFTS = {
    "early": (0.93, 0.9, 0.86, 0.82, 0.78, 0.72, 0.64, 0.36),
    "late": (0.92, 0.88, 0.85, 0.8, 0.76, 0.7, 0.62, 0.5),
}
MESSAGES, PER_MESSAGE = 360, 4
BRIDGE, PER_BRIDGE = 30, 2  # messages of each shift that the other labels too, and by how many of it
KNOWN = 60  # messages of which somebody looked the answer up


def example_file(folder: str | PathLike[str], seed: int = 0) -> Path:
    """Write a messy file of labels into a folder, with what was collected later; return its path.

    `labels.csv` has other column names than cofactor expects, rows without an answer, two capitals, answers that
    contradict each other, a person with a single label, and two shifts that share no message; `more_labels.csv` beside
    it links them, and `known_answers.csv` says what is true of some messages.
    """
    path = Path(folder) / "labels.csv"
    _write_labels(path, np.random.default_rng([seed, 0]))
    return path


def clean_labels(path: str | PathLike[str]) -> CrowdLabels:
    """Read a file of labels and mend it as notebook 10 does by hand.

    Task, worker and label are its first three columns; rows with a gap are dropped, capitals do not count, of labels
    that contradict each other the last one stays, and `more_labels.csv` beside the file is added where it is there.
    """
    path = Path(path)
    beside = path.with_name("more_labels.csv")
    frame = pd.concat([pd.read_csv(one, dtype=str) for one in (path, beside) if one.exists()])
    task, worker, label = frame.columns[:3]
    frame = frame[[task, worker, label]].dropna()
    frame[label] = frame[label].str.lower()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the notebook comes to it
        return CrowdLabels.from_frame(frame, task, worker, label, conflicts="last")


def sorting_crowd(skills: list[float]) -> LatentClassModel:
    """The crowd whose workers are right so often, on every class alike, and mistaken for either other one."""
    K = len(ANSWERS)
    return LatentClassModel(SHARES, [p * np.eye(K) + (1 - p) * (1 - np.eye(K)) / (K - 1) for p in skills])


def _write_labels(path: Path, rng: np.random.Generator) -> None:
    raters = [f"{shift}-{number + 1}" for shift, skills in SHIFTS.items() for number in range(len(skills))]
    model = sorting_crowd([skill for skills in SHIFTS.values() for skill in skills])
    team, size = np.arange(MESSAGES) % 2, len(raters) // 2
    own = [(n, size * team[n] + m) for n in range(MESSAGES) for m in rng.permutation(size)[:PER_MESSAGE]]
    lent = [(n, size * (1 - team[n]) + m) for n in range(2 * BRIDGE) for m in rng.permutation(size)[:PER_BRIDGE]]
    row, rater = np.array(own + lent).T
    drawn, truth = model.sample(MESSAGES, (row, rater), rng)
    said = drawn.codes[row, rater]
    cells = [(f"m-{n:03d}", raters[m], ANSWERS[k]) for n, m, k in zip(row, rater, said, strict=True)]
    table = pd.DataFrame(cells, columns=["message", "rater", "answer"])
    _spoilt(table[: len(own)], rng).to_csv(path, index=False)
    table[len(own) :].to_csv(path.with_name("more_labels.csv"), index=False)
    known = np.sort(rng.choice(MESSAGES, KNOWN, replace=False))
    answers = pd.DataFrame({"task": [f"m-{n:03d}" for n in known], "truth": [ANSWERS[k] for k in truth[known]]})
    answers.to_csv(path.with_name("known_answers.csv"), index=False)


def _spoilt(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Leave answers out, write some with a capital, contradict some, and let one person answer once."""
    table = table.copy()
    chosen = rng.choice(len(table), 9, replace=False)
    table.iloc[chosen[:4], 2] = ""
    table.iloc[chosen[4:6], 2] = table.iloc[chosen[4:6], 2].str.capitalize()
    again = table.iloc[chosen[6:]].copy()
    again["answer"] = [ANSWERS[(ANSWERS.index(said) + 1) % len(ANSWERS)] for said in again["answer"]]
    once = pd.DataFrame([{"message": "m-007", "rater": "trainee", "answer": "praise"}])
    return pd.concat([table, again, once], ignore_index=True)

"""The files of notebook 10, as people bring them, with their mistakes.

Every file comes from a model of its line, so that what is found can be held against the truth.
"""

from __future__ import annotations

import warnings
from collections import namedtuple
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from cofactor.core.errors import DataWarning
from cofactor.core.latent_class import LatentClassModel
from cofactor.crowd.labels import CrowdLabels
from cofactor.simulate.comparisons import comparison_factors, draw_comparisons
from course.library import library

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

# samples: how people come to work
SURVEY = {
    "transport": ("bike", "car", "train"),
    "distance": ("near", "middle", "far"),
    "parking": ("no", "yes"),
    "shift": ("day", "late"),
    "arrives": ("early", "on time", "late"),
}
HABITS = (  # a row per kind of people, a distribution for every question
    ((0.8, 0.05, 0.15), (0.7, 0.25, 0.05), (0.9, 0.1), (0.8, 0.2), (0.2, 0.6, 0.2)),
    ((0.05, 0.9, 0.05), (0.2, 0.4, 0.4), (0.15, 0.85), (0.4, 0.6), (0.5, 0.4, 0.1)),
    ((0.1, 0.1, 0.8), (0.05, 0.35, 0.6), (0.85, 0.15), (0.9, 0.1), (0.1, 0.4, 0.5)),
)
KINDS = (0.35, 0.4, 0.25)
PEOPLE, LEFT_OUT = 600, 0.12

# comparisons: who prefers which dish
DISHES = (
    "curry", "dal", "falafel", "gnocchi", "laksa", "lasagne", "paella", "pho", "pizza", "ramen", "risotto", "tacos",
)  # fmt: skip
GUESTS, ASKED, TASTE = 50, 3000, 1.6

Examples = namedtuple("Examples", "labels samples texts comparisons")  # paths


def example_files(folder: str | PathLike[str], seed: int = 0) -> Examples:
    """Write a messy file for each of the four problems into a folder.

    `labels.csv` has other column names than the kit expects, rows without an answer, two capitals, answers that
    contradict each other, somebody with a single label, and two shifts that share no message; `more_labels.csv` beside
    it links them, and `known_answers.csv` says what is true of some messages. `samples.csv` has an id, two signs for
    missing and a column twice; `texts.csv` holds raw texts; `comparisons.csv` says -1 and 1, and has rows of no use.
    """
    found = Examples(*(Path(folder) / f"{name}.csv" for name in Examples._fields))
    rng = [np.random.default_rng([seed, number]) for number in range(len(found))]
    _write_labels(found.labels, rng[0])
    for path, make, draw in zip(found[1:], (_samples, _texts, _comparisons), rng[1:], strict=True):
        make(draw).to_csv(path, index=False)
    return found


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
    """Leave answers out, write some with a capital, contradict some, and let somebody answer once."""
    table = table.copy()
    chosen = rng.choice(len(table), 9, replace=False)
    table.iloc[chosen[:4], 2] = ""
    table.iloc[chosen[4:6], 2] = table.iloc[chosen[4:6], 2].str.capitalize()
    again = table.iloc[chosen[6:]].copy()
    again["answer"] = [ANSWERS[(ANSWERS.index(said) + 1) % len(ANSWERS)] for said in again["answer"]]
    once = pd.DataFrame([{"message": "m-007", "rater": "trainee", "answer": "praise"}])
    return pd.concat([table, again, once], ignore_index=True)


def _samples(rng: np.random.Generator) -> pd.DataFrame:
    conditionals = [np.array([habit[n] for habit in HABITS]).T for n in range(len(SURVEY))]
    codes = LatentClassModel(KINDS, conditionals).sample(PEOPLE, None, rng)[0].codes
    cells = {name: np.array(SURVEY[name], dtype=object)[codes[:, n]] for n, name in enumerate(SURVEY)}
    frame = pd.DataFrame({"person": [f"p{n:04d}" for n in range(PEOPLE)], **cells})
    frame["lot"] = frame["parking"].map({"no": "none", "yes": "P1"})  # the same question once more
    for name in SURVEY:
        gone = rng.random(PEOPLE) < LEFT_OUT
        frame.loc[gone, name] = np.where(rng.random(gone.sum()) < 0.5, "", "?")
    return frame


def _texts(rng: np.random.Generator) -> pd.DataFrame:
    books = library(seed=int(rng.integers(2**31)))
    words = [np.repeat(books.words, row).tolist() for row in books.counts.toarray().astype(int)]
    return pd.DataFrame({"text": [" ".join(rng.permutation(some).tolist()).capitalize() + "." for some in words]})


def _comparisons(rng: np.random.Generator) -> pd.DataFrame:
    U, V = comparison_factors(GUESTS, len(DISHES), 2, random_state=rng)
    U = TASTE * U / np.std(U @ V.T)
    data = draw_comparisons(U, V, ASKED, random_state=rng)
    names = np.array(DISHES, dtype=object)
    columns = {"guest": [f"guest {u:02d}" for u in data.user], "this": names[data.left], "that": names[data.right]}
    frame = pd.DataFrame({**columns, "preferred": np.where(data.outcome > 0.5, 1, -1)})
    frame.loc[rng.choice(len(frame), 3, replace=False), "that"] = frame["this"]
    return frame.sample(frac=1, random_state=int(rng.integers(2**31))).reset_index(drop=True)

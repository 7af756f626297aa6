"""The exercise of notebook 00 on probabilities: how many labels a model itself expects to be wrong."""

from __future__ import annotations

import numpy as np

from cofactor.core.types import Floats
from course.exercises.old import Exercise, Given, Mistake, Part


def _given() -> Given:
    rows = [[0.98, 0.02], [0.05, 0.95], [0.7, 0.3], [0.51, 0.49], [0.01, 0.99], [0.2, 0.8]]
    return {"posterior": np.array(rows)}


def _winning(g: Given) -> Floats:
    return np.asarray(g["posterior"].max(axis=1))


EXPECTED_WRONG = Exercise(
    _given,
    (
        Part(
            "labels expected to be wrong",
            lambda g: (1 - _winning(g)).sum(),
            (
                Mistake(
                    lambda g: _winning(g).sum(),
                    "this is how many labels are expected to be right; take one minus each probability",
                ),
                Mistake(
                    lambda g: (1 - _winning(g)).mean(), "this is the share of labels; the question is how many: sum up"
                ),
                Mistake(
                    lambda g: np.sum(_winning(g) < 0.9),
                    "this counts doubtful tasks; each is wrong with a probability of its own, also the sure ones",
                ),
                Mistake(
                    lambda g: g["posterior"][:, 1].sum(),
                    "this expects how many tasks are of class 1; a label is wrong where the class that won is not true",
                ),
            ),
        ),
    ),
    (
        "the class with the largest posterior wins; its posterior is the chance that the label is right",
        "so a label is wrong with a chance of one minus that",
        "expected numbers add up: (1 - posterior.max(axis=1)).sum()",
    ),
    "a number to hold against the truth, where there is one: the model may be too sure of itself",
)


EXERCISES = {"expected_wrong": EXPECTED_WRONG}

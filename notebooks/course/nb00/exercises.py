"""The exercises of notebook 00: how good a worker is, and how many labels a model itself expects to be wrong."""

from __future__ import annotations

import numpy as np

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.types import Floats
from cofactor.crowd.base import worker_accuracy
from course.crowds import round_crowd
from course.grading import Exercise, Given, Part


class Accuracy(Exercise):
    """How often a worker is right, from the class prior and the worker's confusion matrix."""

    hints = (
        "A[c, c] is the accuracy on tasks of class c alone",
        "on how many tasks of all is the class c? That is prior[c]",
        "sum over c of prior[c] * A[c, c]",
    )
    praise = "each class counts as often as it occurs, so a worker is judged by the tasks there are"

    def given(self) -> Given:
        model = round_crowd(1, seed=5)
        return {"prior": model.prior, "A": model.conditionals[0]}

    def solve(self, prior: Floats, A: Floats) -> list[Part]:
        right = worker_accuracy(LatentClassModel(prior, [A]))[0]
        own = A.diagonal()
        mistakes = {
            "this is the plain mean of the diagonal; weigh each class with how often it occurs (prior)": own.mean(),
            "this is the sum of the diagonal; weigh each entry with the prior": own.sum(),
            "the weights are how often each label is given (rows); take how often each class occurs (columns)": (
                (A @ prior) @ own
            ),
            "rows were scaled to sum to one, as if A were transposed; columns of A already sum to one": (
                prior @ (own / A.sum(axis=1))
            ),
            "this is the share of wrong labels; the accuracy is one minus it": 1 - right,
        }
        return [Part("accuracy", right, mistakes)]


class ExpectedWrong(Exercise):
    """How many labels are wrong, as the posterior itself has it."""

    hints = (
        "the class with the largest posterior wins; its posterior is the chance that the label is right",
        "so a label is wrong with a chance of one minus that",
        "expected numbers add up: (1 - posterior.max(axis=1)).sum()",
    )
    praise = "a number to hold against the truth, where there is one: the model may be too sure of itself"

    def given(self) -> Given:
        rows = [[0.98, 0.02], [0.05, 0.95], [0.7, 0.3], [0.51, 0.49], [0.01, 0.99], [0.2, 0.8]]
        return {"posterior": np.array(rows)}

    def solve(self, posterior: Floats) -> list[Part]:
        right = posterior.max(axis=1)
        mistakes = {
            "this is how many labels are expected to be right; take one minus each probability": right.sum(),
            "this is the share of labels; the question is how many: sum up": (1 - right).mean(),
            "this counts doubtful tasks; each is wrong with a probability of its own, also the sure ones": (
                np.sum(right < 0.9)
            ),
            "this expects how many tasks are of class 1; a label is wrong where the class that won is not true": (
                posterior[:, 1].sum()
            ),
        }
        return [Part("labels expected to be wrong", (1 - right).sum(), mistakes)]


EXERCISES = {"accuracy": Accuracy(), "expected_wrong": ExpectedWrong()}

"""The exercises of notebook 00: faults of crowds, a vote, good workers, expected errors, a file with corrections."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cofactor.core.types import Floats, Ints
from course.crowds import round_crowd
from course.grading import NONNEGATIVE, ROWS_SUM_TO_ONE, Exercise, FunctionExercise, Given, Part
from course.nb00.draws import N_PHOTOGRAPHS, crowds, faults, file_text, read, teals
from course.seeds import own


def counts(labels: Ints, n_classes: int) -> Ints:
    """Count the (N, K) votes of every task; -1 is no label."""
    return np.array([[sum(label == k for label in row) for k in range(n_classes)] for row in labels])


def split(votes: Ints) -> Floats:
    """Share each task among the classes with most votes."""
    most = votes == votes.max(axis=1, keepdims=True)
    return most / most.sum(axis=1, keepdims=True)


class Vote(FunctionExercise):
    """The majority vote, ties split."""

    hints = (
        "count for each class k how many labels of a task are k: (labels == k).sum(axis=1)",
        "the classes with most votes are those where the count is the largest of its row",
        "divide the row of winners (True or False) by its sum",
    )
    praise = "two tied classes get half a point each, which is fair and needs no coin toss"
    wrong: ClassVar = {
        "a tie went to the first class; share it among all classes with most votes": (
            lambda labels, K: np.eye(K)[counts(labels, K).argmax(axis=1)]
        ),
        "these are shares of the votes; the classes with most votes take everything": (
            lambda labels, K: (c := counts(labels, K) + 1e-9) / c.sum(axis=1, keepdims=True)
        ),
        "-1 means no label, and was counted as the last class": (
            lambda labels, K: split(counts(np.where(labels < 0, K - 1, labels), K))
        ),
        "each of two tied classes got 1; together they get 1": (
            lambda labels, K: (c := counts(labels, K)) == c.max(axis=1, keepdims=True)
        ),
        "a tie was shared among all classes; share it among those with most votes": (
            lambda labels, K: np.where((s := split(counts(labels, K))).max(axis=1, keepdims=True) == 1, s, 1 / K)
        ),
    }

    def given(self) -> Given:
        rows = [[0, 0, 2, 1], [1, 2, 2, 1], [2, -1, -1, 2], [0, 1, 2, -1], [1, 0, 0, -1]]
        return {"labels": np.array(rows), "n_classes": 3}

    def cases(self) -> list[Given]:
        rng = np.random.default_rng(own(0))
        some = rng.integers(-1, 2, (30, 6))
        some[4] = -1  # a task without labels
        return [{"labels": some, "n_classes": 2}, {"labels": rng.integers(-1, 5, (40, 5)), "n_classes": 6}]

    def solve(self, labels: Ints, n_classes: int) -> list[Part]:
        laws = (NONNEGATIVE, ROWS_SUM_TO_ONE)
        return [Part("shares", split(counts(labels, n_classes)), {}, "shares of a task", laws)]


class Accuracy(Exercise):
    """How often a worker is right, from the class prior and the worker's confusion matrix."""

    hints = (
        "A[c, c] is the accuracy on tasks of class c alone",
        "on how many tasks of all is the class c? That is prior[c]",
        "sum over c of prior[c] * A[c, c]",
    )
    praise = "each class counts as often as it occurs, so a worker is judged on the actual mix of tasks"

    def given(self) -> Given:
        return self.own(1, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        model = round_crowd(1, int(rng.integers(2**31)))
        return {"prior": model.prior, "A": model.conditionals[0]}

    def solve(self, prior: Floats, A: Floats) -> list[Part]:
        own = A.diagonal()
        mistakes = {
            "this is the plain mean of the diagonal; weight each class by how often it occurs (prior)": own.mean(),
            "this is the sum of the diagonal; weight each entry by the prior": own.sum(),
            "the weights are how often each label is given; take how often each class occurs": (A @ prior) @ own,
            "rows were scaled to sum to one, as if A were transposed; its columns do": prior @ (own / A.sum(axis=1)),
            "this is the share of wrong labels; the accuracy is one minus it": 1 - prior @ own,
            "this is the accuracy on the most frequent class alone; add the others": own[prior.argmax()],
            "this is the accuracy on the class that the worker knows best; weight all classes": own.max(),
            "divided by the number of classes once too often: the prior is a weight already": prior @ own / len(prior),
        }
        return [Part("accuracy", prior @ own, mistakes, "a share of tasks")]


class ExpectedWrong(Exercise):
    """How many labels are wrong, as the posterior itself has it."""

    hints = (
        "the class with the largest posterior wins; its posterior is the chance that the label is right",
        "so a label is wrong with a chance of one minus that",
        "expected numbers add up: (1 - posterior.max(axis=1)).sum()",
    )
    praise = "compare this number with the truth if you know it: the model may be overconfident"

    def given(self) -> Given:
        return self.own(2, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        sure = rng.permutation([*rng.uniform(0.95, 0.99, 3), *rng.uniform(0.7, 0.85, 2), rng.uniform(0.51, 0.6)])
        zero = np.where(rng.random(6) < 0.5, sure, 1 - sure).round(2)
        return {"posterior": np.column_stack([zero, 1 - zero]).round(2)}

    def solve(self, posterior: Floats) -> list[Part]:
        right = posterior.max(axis=1)
        mistakes = {
            "this is how many labels are expected to be right; take one minus each probability": right.sum(),
            "this is the share of labels; the question is how many: sum up": (1 - right).mean(),
            "this is the share of right labels; the question is how many are wrong": right.mean(),
            "this counts uncertain tasks; each has its own chance to be wrong, also the sure ones": np.sum(right < 0.9),
            "this is how many tasks are of class 1; how often does the class that won not hold?": posterior[:, 1].sum(),
            "this is how many tasks are of class 0; how often does the class that won not hold?": posterior[:, 0].sum(),
            "this is the chance that at least one label is wrong; expected numbers add up": 1 - right.prod(),
        }
        return [Part("labels expected to be wrong", (1 - right).sum(), mistakes, "labels")]


class Faults(Exercise):
    """What is wrong with each of four crowds."""

    hints = (
        "cf.crowd.diagnose(nb00.labels_of(four[0])) checks the first crowd; which line says FAIL or WARN?",
        'the lines are "co-labelling graph", "copies", "labels per task" and "no information beside the others"',
        'of a report: {line.name for line in report.checks if line.status != "pass"}',
    )
    praise = "this takes a minute before the fit; the default would have fitted each of these four without an error"
    says: ClassVar = {
        1: 'the line "co-labelling graph" is ok here: any two people are linked, if only through others',
        2: 'there is no line "copies" here: people who are mostly right agree often, and differ now and then',
        3: 'the line "labels per task" is ok here: every photograph has a label; ties are another matter',
        4: 'there is no line "no information beside the others" here: each of these people uses both classes',
    }

    def given(self) -> Given:
        return {"crowds": crowds(own(43))}

    def solve(self, crowds: Ints) -> list[Part]:
        found = [faults(codes)[0] for codes in crowds]
        return [
            Part(letter, kind, {text: other for other, text in self.says.items() if other != kind}, "1, 2, 3 or 4")
            for letter, kind in zip("ABCD", found, strict=True)
        ]


class OwnFile(Exercise):
    """How many labels of a file with corrections count, and how many photographs are then called teal."""

    hints = (
        'the columns have other names: cf.CrowdLabels.from_csv(path, "photo", "member", "bird") says what is wrong now',
        'whoever wrote two rows about a photograph corrected the first: conflicts="last"',
        'ducks.n_labels; then cf.crowd.METHODS["WorkerTypes"]().fit_predict(ducks) == ducks.classes.index("teal")',
    )
    praise = "which of two answers counts depends on how people worked; no program can decide that for you"

    def given(self) -> Given:
        return {"text": file_text(own(42))}

    def solve(self, text: str) -> list[Part]:
        rows, n_labels = len(text.splitlines()) - 1, read(text, "last").n_labels
        by_fit = {done: count for done, (count, _) in teals(text).items()}
        labels = {
            "these are all rows; a correction takes the place of the row that it corrects": rows,
            "who corrected an answer has still given one: keep the last, and drop the first alone": 2 * n_labels - rows,
            "these are the rows that were corrected; the exercise asks how many labels are left": rows - n_labels,
            "this is the number of photographs": N_PHOTOGRAPHS,
        }
        birds = {
            'this keeps the first answers, which were corrected later: conflicts="last"': by_fit["first"],
            "this is what the vote calls teal; the exercise asks for the default, WorkerTypes": by_fit["vote"],
            "these are the photographs that are called garganey": N_PHOTOGRAPHS - by_fit["last"],
            "this is the share; the exercise asks for the number": by_fit["last"] / N_PHOTOGRAPHS,
        }
        return [Part("labels", n_labels, labels, "labels"), Part("teal", by_fit["last"], birds, "photographs")]


EXERCISES = {
    "faults": Faults(),
    "vote": Vote(),
    "accuracy": Accuracy(),
    "expected_wrong": ExpectedWrong(),
    "own_file": OwnFile(),
}

OBJECTIVES = (("vote",), ("accuracy",), ("expected_wrong",))  # the exercises of each, in their order
LAB = ("faults", "own_file")

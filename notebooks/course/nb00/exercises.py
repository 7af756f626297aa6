"""The exercises of notebook 00: faults in crowds, a vote, accuracies, expected errors, a file with corrections."""

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
        "for each class k, count how many labels of a task are k: (labels == k).sum(axis=1)",
        "the winners of a task are the classes whose count equals the largest count in the row",
        "divide each row of winners (True or False) by its sum",
    )
    praise = "two tied classes get half a point each, which is fair and needs no coin toss"
    wrong: ClassVar = {
        "a tie went to the first class; split the task equally among the classes with the most votes": (
            lambda labels, K: np.eye(K)[counts(labels, K).argmax(axis=1)]
        ),
        "these are the fractions of votes; give the whole task to the class with the most votes": (
            lambda labels, K: (c := counts(labels, K) + 1e-9) / c.sum(axis=1, keepdims=True)
        ),
        "-1 means no label, but it was counted as a vote for the last class; ignore it": (
            lambda labels, K: split(counts(np.where(labels < 0, K - 1, labels), K))
        ),
        "each of the tied classes got 1; divide each row by its sum": (
            lambda labels, K: (c := counts(labels, K)) == c.max(axis=1, keepdims=True)
        ),
        "a tie was split among all classes; split it only among those with the most votes": (
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
        return [Part("votes", split(counts(labels, n_classes)), {}, "fractions of a task", laws)]


class Accuracy(Exercise):
    """How often a worker is right, from the class prior and the worker's confusion matrix."""

    hints = (
        "A[c, c] is the accuracy on tasks of class c alone",
        "prior[c] is the fraction of tasks whose true class is c",
        "add up prior[c] * A[c, c] over all classes c",
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
            "this is the unweighted mean of the diagonal; weight each class by how often it occurs (prior)": own.mean(),
            "this is the sum of the diagonal; weight each entry by the prior": own.sum(),
            "you weighted by how often each label is given; weight by how often each class occurs (prior)": (
                (A @ prior) @ own
            ),
            "you scaled the rows of A to sum to one; its columns already do, so use A as it is": (
                prior @ (own / A.sum(axis=1))
            ),
            "this is the fraction of wrong labels; the accuracy is one minus that": 1 - prior @ own,
            "this is the accuracy on the most frequent class only; include the other classes": own[prior.argmax()],
            "this is the accuracy on the worker's best class; average over all classes, weighted by prior": own.max(),
            "do not divide by the number of classes: the prior already sums to one": prior @ own / len(prior),
        }
        return [Part("accuracy", prior @ own, mistakes, "a fraction of tasks")]


class ExpectedWrong(Exercise):
    """How many labels are wrong, according to the posterior itself."""

    hints = (
        "a task gets the class with the largest posterior; that posterior is the probability that the label is right",
        "so a label is wrong with a probability of one minus that",
        "expected counts add up: (1 - posterior.max(axis=1)).sum()",
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
            "this is the expected number of right labels; add up one minus each probability": right.sum(),
            "this is the fraction of labels expected to be wrong; give their number, the sum": (1 - right).mean(),
            "this is the fraction of labels expected to be right; give the number expected to be wrong": right.mean(),
            "this is the number of uncertain tasks; every task, even a certain one, adds its probability of error": (
                np.sum(right < 0.9)
            ),
            "this is the expected number of tasks of class 1; add up the probabilities that a label is wrong": (
                posterior[:, 1].sum()
            ),
            "this is the expected number of tasks of class 0; add up the probabilities that a label is wrong": (
                posterior[:, 0].sum()
            ),
            "this is the probability that at least one label is wrong; add up the probabilities of error": (
                1 - right.prod()
            ),
        }
        return [Part("labels expected to be wrong", (1 - right).sum(), mistakes, "labels")]


class Faults(Exercise):
    """What is wrong with each of four crowds."""

    hints = (
        "cf.crowd.diagnose(nb00.labels_of(four[0])) checks the first crowd; which line says FAIL or WARN?",
        'look for the lines "co-labelling graph", "copies", "labels per task" and "no information beside the others"',
        'to list what a report complains about: {line.name for line in report.checks if line.status != "pass"}',
    )
    praise = "this takes a minute before the fit; the default would have fitted each of these four without an error"
    says: ClassVar = {
        1: 'this crowd passes the check "co-labelling graph": any two people are linked, directly or through others',
        2: 'this crowd has no line "copies": people who are mostly right agree often, but not always',
        3: 'this crowd passes the check "labels per task": every photograph has a label, even if some votes are tied',
        4: 'this crowd has no line "no information beside the others": everyone uses both classes',
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
        'pass the column names: cf.CrowdLabels.from_csv(path, "photo", "member", "bird"), then read the error message',
        'if a member labelled a photograph twice, the second row corrects the first: pass conflicts="last"',
        'ducks.n_labels; then cf.crowd.METHODS["WorkerTypes"]().fit_predict(ducks) == ducks.classes.index("teal")',
    )
    praise = "which of two answers counts depends on how people worked; no program can decide that for you"

    def given(self) -> Given:
        return {"text": file_text(own(42))}

    def solve(self, text: str) -> list[Part]:
        rows, n_labels = len(text.splitlines()) - 1, read(text, "last").n_labels
        by_fit = {done: count for done, (count, _) in teals(text).items()}
        labels = {
            "this counts all rows; a correction replaces the row that it corrects, so count only one of the two": rows,
            "you dropped both rows of a corrected answer; drop the first and keep the second": 2 * n_labels - rows,
            "this is the number of corrected rows; give the number of labels that remain": rows - n_labels,
            "this is the number of photographs; give the number of labels, ducks.n_labels": N_PHOTOGRAPHS,
        }
        birds = {
            'this uses the first answers, which were corrected later; pass conflicts="last"': by_fit["first"],
            "this is the count from the majority vote; use the default method, WorkerTypes": by_fit["vote"],
            "this is the number of photographs labelled garganey; count those labelled teal": N_PHOTOGRAPHS
            - by_fit["last"],
            "this is a fraction; give the number of photographs": by_fit["last"] / N_PHOTOGRAPHS,
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

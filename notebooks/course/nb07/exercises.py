"""The exercises of notebook 07: what a label weighs, likelihoods, paired differences, priors, weighted votes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cofactor.core.types import Floats, Ints
from course.grading import (
    COLUMNS_SUM_TO_ONE,
    NONNEGATIVE,
    ROWS_SUM_TO_ONE,
    Exercise,
    FunctionExercise,
    Given,
    Part,
    told_apart,
)
from course.nb07.doubts import DOUBTS
from course.seeds import drawn, own


class Backwards(Exercise):
    """What the label of a worker weighs, for every accuracy."""

    hints = (
        "how many times more probable is the label 1 if the class is 1 than if it is 0?",
        "p / (1 - p) times, with p the accuracy; independent labels multiply, so take the logarithm",
        "np.log(p / (1 - p))",
    )
    praise = "a person who is right on 12 % is as informative as one who is right on 88 %, with the sign reversed"

    def given(self) -> Given:
        def make(rng: np.random.Generator) -> Given:
            return {"accuracy": np.array([0.93, 0.71, 0.52, 0.35, 0.12]) + rng.integers(-4, 5, 5) / 100}

        return drawn(72, make, lambda made: told_apart(self.solve(**made)))

    def solve(self, accuracy: Floats) -> list[Part]:
        p, weight = accuracy, np.log(accuracy / (1 - accuracy))
        mistakes = {
            "these are the accuracies; the exercise asks for the log of the odds p / (1 - p)": p,
            "divide by the probability of the other label, 1 - p, as well": np.log(p),
            "do not cut at zero: a worker who is mostly wrong is informative, with a negative sign": weight.clip(0),
            "keep the sign: the labels of a worker below one half count the other way": np.abs(weight),
            "the exercise asks for nats: use np.log, to the base e": np.log2(p / (1 - p)),
            "right sign, wrong size: close to 0 and 1 the odds grow fast": p - 0.5,
            "this is inverted: the odds are p / (1 - p)": -weight,
            "these are the odds; the exercise asks for their logarithm": p / (1 - p),
        }
        return [Part("weight", weight, mistakes, "nats")]


class Starts(Exercise):
    """The log-likelihood of two starts."""

    hints = (
        "for one task: Pr(labels) = sum over c of prior[c] times the product over m of A[m][label_m, c]",
        "A[s][np.arange(3), labels] has shape (tasks, annotators, classes); take the product over annotators",
        "np.log((A[s][np.arange(3), labels].prod(axis=1) * priors[s]).sum(axis=1)).sum(), for each s",
    )
    praise = "the first start explains the labels better, and no true class was needed to show this"

    def given(self) -> Given:
        good = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.8, 0.3], [0.2, 0.7]], [[0.7, 0.1], [0.3, 0.9]]])
        bad = np.array([[[0.6, 0.5], [0.4, 0.5]], [[0.4, 0.8], [0.6, 0.2]], [[0.5, 0.3], [0.5, 0.7]]])

        def make(rng: np.random.Generator) -> Given:
            priors = np.array([[0.6, 0.4], [0.5, 0.5]])
            return {"labels": rng.integers(0, 2, (4, 3)), "priors": priors, "A": np.stack([good, bad])}

        def clear(made: Given) -> bool:
            L = np.asarray(self.solve(**made)[0].answer)
            return bool(L[0] > L[1] + 0.5) and told_apart(self.solve(**made))

        return drawn(76, make, clear)

    def solve(self, labels: Ints, priors: Floats, A: Floats) -> list[Part]:
        given = A[:, np.arange(3), labels].prod(axis=2)  # (starts, tasks, classes) Pr(labels of a task | its class)
        joint = priors[:, None] * given
        total = joint.sum(axis=2)
        larger = np.log(joint.max(axis=2)).sum(axis=1)
        unweighted, equal = np.log(given.sum(axis=2)).sum(axis=1), np.log(given.mean(axis=2)).sum(axis=1)
        mistakes = {
            "the classes are unknown: sum the probabilities over them, instead of taking the larger": larger,
            "the log comes after the sum over classes, not before": np.log(joint).sum(axis=(1, 2)),
            "the class prior is missing: weight each class by it before summing": unweighted,
            "the class prior is missing: the classes are not equally frequent here": equal,
            "this is the mean over tasks; sum over them": np.log(total).mean(axis=1),
            "the order is reversed: give the first start first": np.log(total).sum(axis=1)[::-1],
            "this is the likelihood itself; take its log": total.prod(axis=1),
            "this is the negative log-likelihood; change its sign": -np.log(total).sum(axis=1),
            "the exercise asks for nats: use np.log, to the base e": np.log10(total).sum(axis=1),
        }
        return [Part("L", np.log(total).sum(axis=1), mistakes, "nats")]


class Paired(Exercise):
    """The difference of two methods' errors on the same tasks, and its standard error."""

    hints = (
        "make two columns of 0 and 1: is the first wrong on this task, is the second",
        "d = second_wrong - first_wrong is -1, 0 or 1 on every task; its mean is the difference",
        "the standard error is d.std() / np.sqrt(len(d))",
    )
    praise = (
        "it is two standard errors; compared with the error of either method alone, it would have looked like noise"
    )

    def given(self) -> Given:
        def make(rng: np.random.Generator) -> Given:
            truth = rng.integers(0, 2, 200)
            hard = rng.random(200) < 0.15
            first, second = (np.where(hard | (rng.random(200) < slips), 1 - truth, truth) for slips in (0.02, 0.06))
            return {"truth": truth, "first": first, "second": second}

        return drawn(74, make, lambda made: told_apart(self.solve(**made)) and self._is_a_lesson(**made))

    def _is_a_lesson(self, truth: Ints, first: Ints, second: Ints) -> bool:
        """Whether the difference is more than two standard errors, and looks like noise against those of either."""
        difference, error = (float(part.answer) for part in self.solve(truth, first, second))
        alone = float(np.sqrt(((first != truth).var() + (second != truth).var()) / len(truth)))
        return 2 * error < difference < 2 * alone

    def solve(self, truth: Ints, first: Ints, second: Ints) -> list[Part]:
        one, two, n = first != truth, second != truth, len(truth)
        d = two.astype(float) - one
        unpaired = np.sqrt((one.var() + two.var()) / n)
        differences = {
            "the sign is reversed: subtract the error of the first from that of the second": -d.mean(),
            "this is a number of tasks; divide it by the number of all tasks": d.sum(),
            "this is how often the two differ; the exercise asks for the difference of their errors": np.mean(
                first != second
            ),
        }
        errors = {
            "this treats the methods as independent; both fail on the same hard tasks, so use the standard deviation "
            "of the differences task by task": unpaired,
            "this is the standard deviation on one task; for a mean over n tasks, divide it by sqrt(n)": d.std(),
            "divide by the square root of the number of tasks": d.std() / n,
            "this is 1.96 standard errors, half of an interval; give one standard error": 1.96 * d.std() / np.sqrt(n),
            "this is a variance; take its square root": d.var() / n,
        }
        return [
            Part("difference", d.mean(), differences, "share of tasks"),
            Part("standard error", d.std() / np.sqrt(n), errors, "share of tasks", tolerance=0.01),  # by n or n - 1
        ]


class Imagined(Exercise):
    """A confusion matrix after some labels, others imagined before."""

    hints = (
        "prior counts: 4 where the label is the class (the diagonal), 1 everywhere else",
        "a = np.where(np.eye(3, dtype=bool), 4, 1); the posterior counts are counts + a",
        "P = counts + a; P / P.sum(axis=0)",
    )
    praise = "a column with two or three labels stays close to the prior of four correct labels"

    def given(self) -> Given:
        def make(rng: np.random.Generator) -> Given:
            counts = rng.poisson([[6, 1, 0.5], [2, 1, 0.5], [0.5, 1, 1]]).astype(float)
            return {"counts": counts, "right": 4.0, "wrong": 1.0}

        return drawn(75, make, lambda made: made["counts"].sum(axis=0).min() > 0 and told_apart(self.solve(**made)))

    def solve(self, counts: Floats, right: float, wrong: float) -> list[Part]:
        imagined = np.where(np.eye(len(counts), dtype=bool), right, wrong)
        P = counts + imagined
        diagonal = _columns(counts + right * np.eye(len(counts)))
        halves = (_columns(counts) + _columns(imagined)) / 2
        mistakes = {
            "this is maximum likelihood: add the imagined labels to the counts before you divide": _columns(counts),
            "every cell got the same count; on the diagonal, where labels are right, add 4": _columns(counts + wrong),
            "the imagined labels were added twice": _columns(counts + 2 * imagined),
            "off the diagonal, add one imagined label to every cell as well": diagonal,
            "here the rows sum to one; columns are the true classes, and each column must sum to one": (
                P / P.sum(axis=1, keepdims=True)
            ),
            "these are still counts: divide every column by its sum": P,
            "prior and labels have equal weight here; add counts, so that many labels outweigh the prior": halves,
            "4 on the diagonal and 1 elsewhere, not the other way round": _columns(counts + right + wrong - imagined),
        }
        return [Part("confusion matrix", _columns(P), mistakes, "probabilities", (NONNEGATIVE, COLUMNS_SUM_TO_ONE))]


def _columns(C: Floats) -> Floats:
    return np.asarray(C / C.sum(axis=0))


class WawaRound(FunctionExercise):
    """A round of weighted votes: people weigh as much as they agree with the winners."""

    hints = (
        "winners first: won = shares == shares.max(axis=1, keepdims=True), divided by its sum in every row",
        "given = labels[:, :, None] == np.arange(K) is 1 where a person gave a class; a -1 gives nothing",
        "weights = (given * won[:, None]).sum(axis=(0, 2)) / given.sum(axis=(0, 2)); votes = weights @ given, scaled",
    )
    praise = (
        "this needs one number per person instead of a matrix; repeated until the winners no longer change, it is Wawa"
    )

    def given(self) -> Given:
        return _voted([[0, 0, 1, -1], [1, 1, 0, 1], [0, -1, 0, 1], [2, 0, 2, 0], [2, 2, 1, 2]], 3)

    def cases(self) -> list[Given]:
        rng = np.random.default_rng(own(7))
        thin = np.where(rng.random((30, 8)) < 0.4, rng.integers(0, 4, (30, 8)), -1)
        thin[3], thin[:, 5] = -1, -1  # a task without labels, a person without labels
        return [_voted(thin, 4), _voted([[0, 1], [1, 0], [0, 0]], 2), _voted(rng.integers(0, 2, (20, 5)), 2)]

    def solve(self, labels: Ints, shares: Floats) -> list[Part]:
        weights, votes = _round(labels, shares)
        return [
            Part("weights", weights, {}, "shares of labels", (NONNEGATIVE,)),
            Part("shares", votes, {}, "shares of votes", (NONNEGATIVE, ROWS_SUM_TO_ONE)),
        ]

    wrong: ClassVar = {
        "these are the numbers of labels that won; divide by how many labels the person gave": (
            lambda labels, shares: _round(labels, shares, out_of=np.ones(labels.shape[1]))
        ),
        "divide by how many labels the person gave, not by the number of tasks": (
            lambda labels, shares: _round(labels, shares, out_of=np.full(labels.shape[1], len(labels)))
        ),
        "if classes tie, each of them wins a part; here the first wins alone": (
            lambda labels, shares: _round(labels, shares, won=np.eye(shares.shape[1])[shares.argmax(axis=1)])
        ),
        "this adds up the vote fractions of the labels; count whether each label won": (
            lambda labels, shares: _round(labels, shares, won=shares)
        ),
        "a missing label, -1, was treated as the last class": (
            lambda labels, shares: _round(np.where(labels < 0, shares.shape[1] - 1, labels), shares)
        ),
        "the new vote fractions must use the weights": lambda labels, shares: (_round(labels, shares)[0], shares),
    }


def _voted(labels: object, K: int) -> Given:
    """Labels and their vote shares; the same for every class where there is none."""
    table = np.array(labels)
    votes = (table[:, :, None] == np.arange(K)).sum(axis=1) + 0.0
    return {"labels": table, "shares": _shares(votes)}


def _shares(votes: Floats) -> Floats:
    total, K = votes.sum(axis=1, keepdims=True), votes.shape[1]
    return np.where(total > 0, votes / np.where(total > 0, total, 1), 1 / K)


def _round(
    labels: Ints, shares: Floats, won: Floats | None = None, out_of: Floats | None = None
) -> tuple[Floats, Floats]:
    gave = labels[:, :, None] == np.arange(shares.shape[1])
    best = np.isclose(shares, shares.max(axis=1, keepdims=True))
    won = best / best.sum(axis=1, keepdims=True) if won is None else won
    agreed = np.einsum("nmk,nk->m", gave, won)
    weights = agreed / (np.maximum(gave.sum(axis=(0, 2)), 1) if out_of is None else out_of)
    return weights, _shares(np.einsum("nmk,m->nk", gave, weights))


EXERCISES = {
    "backwards": Backwards(),
    "starts": Starts(),
    "paired": Paired(),
    "imagined": Imagined(),
    "wawa_round": WawaRound(),
    **DOUBTS,
}

OBJECTIVES = (("paired",), ("backwards",), ("imagined",))  # of the notebook, in its order: the exercises of each
LAB = ("holes", "wawa_round", "printed", "starts")  # exercises of the lab

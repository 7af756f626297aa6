"""The exercises of notebook 07: reading bad workers, the likelihood of a start, whether a difference is one."""

from __future__ import annotations

import numpy as np

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from course.grading import Exercise, Given, Part
from course.nb07.pictures import disagreement


class Backwards(Exercise):
    """What the label of a worker weighs, for every accuracy."""

    hints = (
        "how many times more probable is the label 1 if the class is 1 than if it is 0?",
        "p / (1 - p) times, with p the accuracy; independent labels multiply, so take the logarithm",
        "np.log(p / (1 - p))",
    )
    praise = "whoever is right on 12 % says almost as much as one who is right on 88 %, with the sign reversed"

    def given(self) -> Given:
        return {"accuracy": np.array([0.93, 0.71, 0.52, 0.35, 0.12])}

    def solve(self, accuracy: Floats) -> list[Part]:
        p, weight = accuracy, np.log(accuracy / (1 - accuracy))
        mistakes = {
            "these are the accuracies; asked is the log of the odds p / (1 - p)": p,
            "divide by the probability of the other label, 1 - p, as well": np.log(p),
            "do not cut at zero: a worker who is mostly wrong tells a lot, with a negative sign": weight.clip(0),
            "keep the sign: the labels of a worker below one half count the other way": np.abs(weight),
            "in nats: take np.log, to the base e": np.log2(p / (1 - p)),
            "right sign, wrong size: close to 0 and 1 the odds grow fast": p - 0.5,
            "upside down: the odds are p / (1 - p)": -weight,
        }
        return [Part("weight", weight, mistakes)]


class Starts(Exercise):
    """The log-likelihood of two starts."""

    hints = (
        "for one task: Pr(labels) = sum over c of prior[c] times the product over m of A[m][label_m, c]",
        "A[s][np.arange(3), labels] has shape (tasks, annotators, classes); take the product over annotators",
        "np.log((A[s][np.arange(3), labels].prod(axis=1) * priors[s]).sum(axis=1)).sum(), for each s",
    )
    praise = "the first start explains the labels better, and no true class was needed to say so"

    def given(self) -> Given:
        labels = np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 0, 1]])
        good = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.8, 0.3], [0.2, 0.7]], [[0.7, 0.1], [0.3, 0.9]]])
        bad = np.array([[[0.6, 0.5], [0.4, 0.5]], [[0.4, 0.8], [0.6, 0.2]], [[0.5, 0.3], [0.5, 0.7]]])
        return {"labels": labels, "priors": np.array([[0.6, 0.4], [0.5, 0.5]]), "A": np.stack([good, bad])}

    def solve(self, labels: Ints, priors: Floats, A: Floats) -> list[Part]:
        table = CategoricalTable(labels)
        L = [LatentClassModel(prior, list(one)).log_likelihood(table) for prior, one in zip(priors, A, strict=True)]
        given = A[:, np.arange(3), labels].prod(axis=2)  # (starts, tasks, classes) Pr(labels of a task | its class)
        joint = priors[:, None] * given
        total = joint.sum(axis=2)
        larger = np.log(joint.max(axis=2)).sum(axis=1)
        unweighted, equal = np.log(given.sum(axis=2)).sum(axis=1), np.log(given.mean(axis=2)).sum(axis=1)
        mistakes = {
            "the classes are unknown: sum the probabilities over them, instead of taking the larger": larger,
            "the log comes after the sum over classes, not before": np.log(joint).sum(axis=(1, 2)),
            "the class prior is missing: weigh each class with it before summing": unweighted,
            "the class prior is missing: the classes are not equally frequent here": equal,
            "this is the mean over tasks; sum over them": np.log(total).mean(axis=1),
            "this is the likelihood itself; take its log": total.prod(axis=1),
            "in nats: take np.log, to the base e": np.log10(total).sum(axis=1),
        }
        return [Part("L", L, mistakes)]


class Paired(Exercise):
    """The difference of two methods' errors on the same tasks, and its standard error."""

    hints = (
        "make two columns of 0 and 1: is the first wrong on this task, is the second",
        "d = second_wrong - first_wrong is -1, 0 or 1 on every task; its mean is the difference",
        "the standard error is d.std() / np.sqrt(len(d))",
    )
    praise = "two standard errors; held against the error of either method alone, it would have looked like noise"

    def given(self) -> Given:
        rng = np.random.default_rng(5)
        truth = rng.integers(0, 2, 200)
        hard = rng.random(200) < 0.15
        first, second = (np.where(hard | (rng.random(200) < slips), 1 - truth, truth) for slips in (0.02, 0.06))
        return {"truth": truth, "first": first, "second": second}

    def solve(self, truth: Ints, first: Ints, second: Ints) -> list[Part]:
        n, both = len(truth), disagreement(np.eye(2)[first], np.eye(2)[second], truth)
        one, two = first != truth, second != truth
        unpaired = np.sqrt((one.var() + two.var()) / n)
        spread = np.std(two.astype(float) - one)
        differences = {
            "the other way round: the error of the second minus the first": -both.difference,
            "this is a number of tasks; give the share": both.difference * n,
            "this is how often the two differ; asked is the difference of their errors": np.mean(first != second),
        }
        errors = {
            "this treats the two as independent; both fail on the same hard tasks, so take the spread of the "
            "difference, task by task": unpaired,
            "this is the spread on one task; of a mean over n tasks it is that over sqrt(n)": spread,
            "divide by the square root of the number of tasks": spread / n,
        }
        return [
            Part("difference", both.difference, differences),
            Part("standard error", both.standard_error, errors),
        ]


class Imagined(Exercise):
    """A confusion matrix after some labels, others imagined before."""

    hints = (
        "prior counts: 4 where the label is the class (the diagonal), 1 everywhere else",
        "a = np.where(np.eye(3, dtype=bool), 4, 1); the posterior counts are counts + a",
        "P = counts + a; P / P.sum(axis=0)",
    )
    praise = (
        "tasks of class 1 got two labels, both wrong, and still count as right in half of all cases: two labels are "
        "little"
    )

    def given(self) -> Given:
        return {"counts": np.array([[6.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 1.0]]), "right": 4.0, "wrong": 1.0}

    def solve(self, counts: Floats, right: float, wrong: float) -> list[Part]:
        imagined = np.where(np.eye(len(counts), dtype=bool), right, wrong)
        P = counts + imagined
        diagonal = _columns(counts + right * np.eye(len(counts)))
        halves = (_columns(counts) + _columns(imagined)) / 2
        mistakes = {
            "this is maximum likelihood: add the imagined labels to the counts before you divide": _columns(counts),
            "the same for every cell: of right labels, on the diagonal, 4 are imagined": _columns(counts + wrong),
            "off the diagonal there is one imagined label in every cell, too": diagonal,
            "columns are true classes, and each of them sums to one; these are rows": P / P.sum(axis=1, keepdims=True),
            "these are counts still: divide every column by its sum": P,
            "half and half, however many labels there are: add counts, then the many outweigh the few": halves,
        }
        return [Part("confusion matrix", _columns(P), mistakes)]


def _columns(C: Floats) -> Floats:
    return np.asarray(C / C.sum(axis=0))


EXERCISES = {"backwards": Backwards(), "starts": Starts(), "paired": Paired(), "imagined": Imagined()}

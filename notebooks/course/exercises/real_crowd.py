"""The exercises of notebook 07: reading bad workers, the likelihood of a start, whether a difference is one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats
from course.demos.real_crowd import disagreement
from course.exercises.old import Exercise, Given, Mistake, Part


def _backwards_given() -> Given:
    return {"accuracy": np.array([0.93, 0.71, 0.52, 0.35, 0.12])}


def _say(g: Given) -> Floats:
    return np.asarray(np.log(g["accuracy"] / (1 - g["accuracy"])))


BACKWARDS = Exercise(
    _backwards_given,
    (
        Part(
            "weight",
            _say,
            (
                Mistake(lambda g: g["accuracy"], "these are the accuracies; asked is the log of the odds p / (1 - p)"),
                Mistake(
                    lambda g: np.log(g["accuracy"]), "divide by the probability of the other label, 1 - p, as well"
                ),
                Mistake(
                    lambda g: np.maximum(_say(g), 0),
                    "do not cut at zero: a worker who is mostly wrong tells a lot, with a negative sign",
                ),
                Mistake(
                    lambda g: np.abs(_say(g)),
                    "keep the sign: the labels of a worker below one half count the other way",
                ),
                Mistake(lambda g: np.log2(g["accuracy"] / (1 - g["accuracy"])), "in nats: take np.log, to the base e"),
                Mistake(lambda g: g["accuracy"] - 0.5, "right sign, wrong size: close to 0 and 1 the odds grow fast"),
                Mistake(lambda g: -_say(g), "upside down: the odds are p / (1 - p)"),
            ),
        ),
    ),
    (
        "how many times more probable is the label 1 if the class is 1 than if it is 0?",
        "p / (1 - p) times, with p the accuracy; independent labels multiply, so take the logarithm",
        "np.log(p / (1 - p))",
    ),
    "whoever is right on 12 % says almost as much as one who is right on 88 %, with the sign reversed",
)


def _starts_given() -> Given:
    labels = np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 0, 1]])
    good = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.8, 0.3], [0.2, 0.7]], [[0.7, 0.1], [0.3, 0.9]]])
    bad = np.array([[[0.6, 0.5], [0.4, 0.5]], [[0.4, 0.8], [0.6, 0.2]], [[0.5, 0.3], [0.5, 0.7]]])
    return {"labels": labels, "priors": np.array([[0.6, 0.4], [0.5, 0.5]]), "A": np.stack([good, bad])}


def _joint(g: Given) -> Floats:
    """(starts, tasks, classes) Pr(the labels of a task, its class)."""
    likelihoods = g["A"][:, np.arange(3), g["labels"]].prod(axis=2)
    return np.asarray(g["priors"][:, None] * likelihoods)


def _log_likelihood(g: Given) -> Floats:
    table = CategoricalTable(g["labels"])
    return np.array(
        [LatentClassModel(p, list(A)).log_likelihood(table) for p, A in zip(g["priors"], g["A"], strict=True)]
    )


STARTS = Exercise(
    _starts_given,
    (
        Part(
            "L",
            _log_likelihood,
            (
                Mistake(
                    lambda g: np.log(_joint(g).max(axis=2)).sum(axis=1),
                    "the classes are unknown: sum the probabilities over them, instead of taking the larger",
                ),
                Mistake(
                    lambda g: np.log(_joint(g)).sum(axis=(1, 2)),
                    "the log comes after the sum over classes, not before",
                ),
                Mistake(
                    lambda g: np.log((_joint(g) / g["priors"][:, None]).sum(axis=2)).sum(axis=1),
                    "the class prior is missing: weigh each class with it before summing",
                ),
                Mistake(
                    lambda g: np.log((_joint(g) / g["priors"][:, None]).mean(axis=2)).sum(axis=1),
                    "the class prior is missing: the classes are not equally frequent here",
                ),
                Mistake(
                    lambda g: np.log(_joint(g).sum(axis=2)).mean(axis=1), "this is the mean over tasks; sum over them"
                ),
                Mistake(lambda g: _joint(g).sum(axis=2).prod(axis=1), "this is the likelihood itself; take its log"),
                Mistake(lambda g: np.log10(_joint(g).sum(axis=2)).sum(axis=1), "in nats: take np.log, to the base e"),
            ),
        ),
    ),
    (
        "for one task: Pr(labels) = sum over c of prior[c] times the product over m of A[m][label_m, c]",
        "A[s][np.arange(3), labels] has shape (tasks, annotators, classes); take the product over annotators",
        "np.log((A[s][np.arange(3), labels].prod(axis=1) * priors[s]).sum(axis=1)).sum(), for each s",
    ),
    "the first start explains the labels better, and no true class was needed to say so",
)


def _paired_given() -> Given:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 200)
    hard = rng.random(200) < 0.15
    first = np.where(hard | (rng.random(200) < 0.02), 1 - truth, truth)
    second = np.where(hard | (rng.random(200) < 0.06), 1 - truth, truth)
    return {"truth": truth, "first": first, "second": second}


def _wrong(g: Given) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    return g["first"] != g["truth"], g["second"] != g["truth"]


def _paired(g: Given) -> tuple[float, float]:
    both = disagreement(np.eye(2)[g["first"]], np.eye(2)[g["second"]], g["truth"])
    return both.difference, both.standard_error


def _unpaired(g: Given) -> float:
    one, two = (wrong.mean() for wrong in _wrong(g))
    return float(np.sqrt((one * (1 - one) + two * (1 - two)) / len(g["truth"])))


def _spread(g: Given) -> float:
    one, two = _wrong(g)
    return float(np.std(two.astype(float) - one))


PAIRED = Exercise(
    _paired_given,
    (
        Part(
            "difference",
            lambda g: _paired(g)[0],
            (
                Mistake(lambda g: -_paired(g)[0], "the other way round: the error of the second minus the first"),
                Mistake(lambda g: _paired(g)[0] * len(g["truth"]), "this is a number of tasks; give the share"),
                Mistake(
                    lambda g: np.mean(g["first"] != g["second"]),
                    "this is how often the two differ; asked is the difference of their errors",
                ),
            ),
        ),
        Part(
            "standard error",
            lambda g: _paired(g)[1],
            (
                Mistake(
                    _unpaired,
                    "this treats the two as independent; both fail on the same hard tasks, so take the spread of "
                    "the difference, task by task",
                ),
                Mistake(_spread, "this is the spread on one task; of a mean over n tasks it is that over sqrt(n)"),
                Mistake(lambda g: _spread(g) / len(g["truth"]), "divide by the square root of the number of tasks"),
            ),
        ),
    ),
    (
        "make two columns of 0 and 1: is the first wrong on this task, is the second",
        "d = second_wrong - first_wrong is -1, 0 or 1 on every task; its mean is the difference",
        "the standard error is d.std() / np.sqrt(len(d))",
    ),
    "two standard errors; held against the error of either method alone, it would have looked like noise",
)


def _imagined_given() -> Given:
    counts = np.array([[6.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    return {"counts": counts, "right": 4.0, "wrong": 1.0}


def _pseudo(g: Given) -> Floats:
    return np.asarray(np.where(np.eye(len(g["counts"]), dtype=bool), g["right"], g["wrong"]), dtype=np.float64)


def _columns(C: Floats) -> Floats:
    return np.asarray(C / C.sum(axis=0))


IMAGINED = Exercise(
    _imagined_given,
    (
        Part(
            "confusion matrix",
            lambda g: _columns(g["counts"] + _pseudo(g)),
            (
                Mistake(
                    lambda g: _columns(g["counts"]),
                    "this is maximum likelihood: add the imagined labels to the counts before you divide",
                ),
                Mistake(
                    lambda g: _columns(g["counts"] + g["wrong"]),
                    "the same for every cell: of right labels, on the diagonal, 4 are imagined",
                ),
                Mistake(
                    lambda g: _columns(g["counts"] + g["right"] * np.eye(len(g["counts"]))),
                    "off the diagonal there is one imagined label in every cell, too",
                ),
                Mistake(
                    lambda g: (g["counts"] + _pseudo(g)) / (g["counts"] + _pseudo(g)).sum(axis=1, keepdims=True),
                    "columns are true classes, and each of them sums to one; these are rows",
                ),
                Mistake(lambda g: g["counts"] + _pseudo(g), "these are counts still: divide every column by its sum"),
                Mistake(
                    lambda g: _columns(g["counts"]) / 2 + _columns(_pseudo(g)) / 2,
                    "half and half, however many labels there are: add counts, then the many outweigh the few",
                ),
            ),
        ),
    ),
    (
        "prior counts: 4 where the label is the class (the diagonal), 1 everywhere else",
        "a = np.where(np.eye(3, dtype=bool), 4, 1); the posterior counts are counts + a",
        "P = counts + a; P / P.sum(axis=0)",
    ),
    "tasks of class 1 got two labels, both wrong, and still count as right in half of all cases: two labels are little",
)


EXERCISES = {"backwards": BACKWARDS, "starts": STARTS, "paired": PAIRED, "imagined": IMAGINED}

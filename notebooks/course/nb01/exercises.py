"""The exercises of notebook 01, on crowd labels: data from fixed seeds, answers from the library or from slow loops.

symbol   meaning                                                  shape
prior    lambda, how often each class occurs                      (K,)
A        A[i, c] = Pr(label i | class c), columns sum to one      (K, K)
q        q[n, c] = Pr(class c | labels of task n)                 (N, K)
R_mj     joint frequencies of the labels of annotators m and j    (K, K)
H        [A_1; ...; A_M] D^1/2                                    (M K, K)
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.imputation import factors_of_model
from cofactor.crowd.symnmf import model_of_factor
from course.crowds import round_crowd
from course.grading import NONNEGATIVE, ROWS_SUM_TO_ONE, SUMS_TO_ONE, Exercise, FunctionExercise, Given, Law, Part
from course.nb01.conditions import Graph, kinds, pictures
from course.nb01.pictures import LETTERS
from course.seeds import own

K = 3
MISSING = "-1 means no label, but as an index it selects the last class"
COLUMNS = Law(
    "the columns do not sum to one: divide each by its sum", lambda A: bool(np.allclose(A.sum(axis=-2), 1, atol=1e-3))
)


class Posterior(Exercise):
    """The true class of one task, from the labels of some annotators."""

    hints = (
        "Pr(class c and all labels) = prior[c] times the product of A[m][label, c] over the annotators m",
        "add logarithms, skipping annotators whose label is -1; then subtract the maximum and take exp",
        "log_joint = log(prior) + sum of log(A[m][labels[m]]); posterior = exp(log_joint) / exp(log_joint).sum()",
    )
    praise = "each label adds its evidence to the prior, and in logs even hundreds of them do not underflow"

    def given(self) -> Given:
        return self.own(11, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        model = round_crowd(4, int(rng.integers(2**31)))
        labels = rng.permutation([*rng.integers(K, size=3), -1])
        return {"prior": model.prior, "A": np.stack(model.conditionals), "labels": labels}

    def solve(self, prior: Floats, A: Floats, labels: Ints) -> list[Part]:
        model = LatentClassModel(prior, list(A))
        joint = np.exp(model.log_joint(CategoricalTable([labels], [K] * len(labels)))[0])
        seen = [(A_m, label) for A_m, label in zip(A, labels, strict=True) if label >= 0]
        columns = prior * np.prod([A_m[:, label] for A_m, label in seen], axis=0)
        last = prior * np.prod([A_m[label] for A_m, label in zip(A, labels, strict=True)], axis=0)
        added = sum(A_m[label] for A_m, label in seen) + prior
        again = joint * prior ** (len(seen) - 1)
        mistakes = {
            "the prior is missing: multiply by it, or add log(prior) to the log-likelihoods": (
                (joint / prior) / (joint / prior).sum()
            ),
            "you multiplied by the prior once for every label; do so only once": again / again.sum(),
            "these are joint probabilities; divide them by their sum, so that the posterior sums to one": joint,
            "you subtracted the maximum and took exp; now divide by the sum": joint / joint.max(),
            "these are log joint probabilities; take exp, then divide by the sum": np.log(joint),
            "only the first annotator's label was used; multiply by one factor for each label": A[0][labels[0]] * prior,
            "you multiplied columns of A[m]; the label selects a row, A[m][label, :]": columns / columns.sum(),
            f"{MISSING}; leave out annotators who gave no label": last / last.sum(),
            "you added the probabilities of the labels; the labels are independent, so multiply": added / added.sum(),
        }
        return [Part("posterior", joint / joint.sum(), mistakes, "probabilities", (NONNEGATIVE, SUMS_TO_ONE))]


def em_round(
    labels: Ints, q: Floats, prior: ArrayLike | None = None, axis: int = 1, by_all: bool = False, scaled: bool = True
) -> tuple[Floats, Floats, Floats]:
    """Do one round of EM; the arguments after q introduce typical mistakes."""
    lam = q.mean(axis=0)
    A = np.array([[q[given == i].sum(axis=0) for i in range(q.shape[1])] for given in labels.T])
    A /= q.sum(axis=0) if by_all else A.sum(axis=axis, keepdims=True)
    terms = [np.where(given[:, None] < 0, 1, A_m[given]) for A_m, given in zip(A, labels.T, strict=True)]
    joint = np.asarray(lam if prior is None else prior) * np.prod(terms, axis=0)
    return lam, A, joint / joint.sum(axis=1, keepdims=True) if scaled else joint


class EMRound(FunctionExercise):
    """One round of EM on labels with gaps: the M-step, then the E-step."""

    hints = (
        "the prior is the mean of q over the tasks; row i of A_m is the sum of q over the tasks that m labelled i",
        "then divide each column of A_m by its sum, so that only the tasks that m labelled count",
        "E-step: multiply the prior by A[m][label] for every label given (-1 is none), then divide each row by its sum",
    )
    praise = "a missing label adds nothing to a count or to a posterior, so EM needs no special case for it"
    wrong: ClassVar = {
        f"{MISSING}; count only the tasks that the annotator labelled": (
            lambda labels, q: em_round(np.where(labels < 0, q.shape[1] - 1, labels), q)
        ),
        "A_m was divided by the sum of q over all tasks; sum only over the tasks that m labelled": partial(
            em_round, by_all=True
        ),
        "the rows of A_m were scaled to sum to one; scale its columns, one for each true class": partial(
            em_round, axis=2
        ),
        "q was rounded to hard classes; count each task for every class, with weight q": (
            lambda labels, q: em_round(labels, np.eye(q.shape[1])[q.argmax(axis=1)])
        ),
        "the prior is missing from the E-step; multiply by it": partial(em_round, prior=1.0),
        "the E-step multiplied by the old q; multiply by the prior instead": (
            lambda labels, q: em_round(labels, q, prior=q)
        ),
        "the new q is not normalised; divide each row by its sum": partial(em_round, scaled=False),
        "the new q was divided by the maximum of each row; divide each row by its sum": (
            lambda labels, q: (*(r := em_round(labels, q))[:2], r[2] / r[2].max(axis=1, keepdims=True))
        ),
        "your prior is the sum of q over the tasks; take the mean, so divide by the number of tasks": (
            lambda labels, q: (q.sum(axis=0), *em_round(labels, q)[1:])
        ),
        "your prior is the mean of the new q; the M-step comes first and uses the old q": (
            lambda labels, q: ((r := em_round(labels, q))[2].mean(axis=0), *r[1:])
        ),
        "your A_m is transposed; its rows are labels and its columns true classes": (
            lambda labels, q: ((r := em_round(labels, q))[0], r[1].swapaxes(1, 2), r[2])
        ),
        "you returned the old q; do the E-step, with the new prior and the new A": (
            lambda labels, q: (*em_round(labels, q)[:2], q)
        ),
    }

    def given(self) -> Given:
        return self._crowd(8, 3, 3, seed=4)

    def cases(self) -> list[Given]:
        return [
            self._crowd(40, 5, 3, seed=own(1)),
            self._crowd(30, 4, 2, seed=own(2)),
            self._crowd(60, 3, 4, seed=own(3), gaps=0),
        ]

    def _crowd(self, n_tasks: int, n_workers: int, K: int, seed: int, gaps: float = 0.25) -> Given:
        rng, shape = np.random.default_rng(seed), (n_tasks, n_workers)
        labels = np.where(rng.random(shape) < 0.6, rng.integers(K, size=(n_tasks, 1)), rng.integers(K, size=shape))
        labels[:K] = np.arange(K)[:, None]  # everybody gave every label once
        labels[K:][rng.random(labels[K:].shape) < gaps] = -1
        labels[(labels < 0).all(axis=1), 0] = 0  # every task has a label
        return {"labels": labels, "q": (1 + rng.multinomial(20 - K, np.full(K, 1 / K), n_tasks)) / 20}

    def solve(self, labels: Ints, q: Floats) -> list[Part]:
        prior, A, new = em_round(labels, q)
        return [
            Part("prior", prior, {}, "probabilities", (SUMS_TO_ONE,)),
            Part("A", A, {}, "probabilities", (COLUMNS,)),
            Part("new q", new, {}, "probabilities", (ROWS_SUM_TO_ONE,)),
        ]


class CoOccurrence(Exercise):
    """How often one annotator gives label i and another label k."""

    hints = (
        "keep only the tasks that both labelled: labels_m >= 0 and labels_j >= 0",
        "in cell [i, k], count the tasks that m labelled i and j labelled k",
        "divide the counts by the number of tasks kept, so that all cells together sum to one",
    )
    praise = "this is one block of the co-occurrence matrix, estimated without any true class"

    def given(self) -> Given:
        return self.own(12, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        table, _ = round_crowd(2, int(rng.integers(2**31))).sample(24, random_state=int(rng.integers(2**31)))
        labels, gaps = np.array(table.codes), rng.permutation(24)
        labels[gaps[:3], 0] = labels[gaps[2:4], 1] = -1
        return {"labels_m": labels[:, 0], "labels_j": labels[:, 1], "n_classes": K}

    def solve(self, labels_m: Ints, labels_j: Ints, n_classes: int) -> list[Part]:
        every, seen, first = np.zeros((3, n_classes, n_classes))
        both = (labels_m >= 0) & (labels_j >= 0)
        np.add.at(every, (labels_m, labels_j), 1)
        np.add.at(seen, (labels_m[both], labels_j[both]), 1)
        np.add.at(first, (labels_m.clip(0), labels_j.clip(0)), 1)
        right, once = seen / seen.sum(), (seen > 0).astype(float)
        repeats = "C[a, b] += 1 adds 1 to a cell only once, even if it occurs twice; use np.add.at or a loop"
        mistakes = {
            "these are counts; divide by the number of tasks that both labelled": seen,
            "this is transposed; rows are the labels of m, columns those of j": right.T,
            "you divided by the number of all tasks; divide by the number that both annotators labelled": (
                right * both.mean()
            ),
            f"{MISSING}; use only tasks that both labelled": every / every.sum(),
            "missing labels were counted as class 0; use only tasks that both labelled": first / first.sum(),
            "this is the product of the two margins; the labels are not independent, so count the pairs": np.outer(
                right.sum(axis=1), right.sum(axis=0)
            ),
            "each row was scaled to sum to one; all cells together sum to one": seen / seen.sum(axis=1, keepdims=True),
            "each column was scaled to sum to one; all cells together sum to one": seen / seen.sum(axis=0),
            repeats: once / once.sum(),
            f"{repeats}, and divide by the number of tasks that both labelled": once,
            f"{repeats}; dividing by the number of tasks is right": once / both.sum(),
        }
        return [Part("R_mj", right, mistakes, "fractions of tasks", (NONNEGATIVE, SUMS_TO_ONE))]


class Imputation(Exercise):
    """The block of annotators m and n, who are linked only by the chain m - r - l - n."""

    hints = (
        "write each block as A D A': R_mr = A_m D A_r', R_lr = A_l D A_r', R_ln = A_l D A_n'",
        "which product of the three equals A_m D A_n'? The inverse of R_lr is A_r'^-1 D^-1 A_l^-1",
        "R_mn = R_mr R_lr^-1 R_ln",
    )
    praise = "you linked two annotators who share no task through two others, without fitting a model"

    def given(self) -> Given:
        return self.own(13, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        R = round_crowd(4, int(rng.integers(2**31))).pairwise
        return {"R_mr": R(0, 1), "R_lr": R(2, 1), "R_ln": R(2, 3)}

    def solve(self, R_mr: Floats, R_lr: Floats, R_ln: Floats) -> list[Part]:
        inverse = np.linalg.inv(R_lr)
        right = R_mr @ inverse @ R_ln
        mistakes = {
            "you multiplied by R_lr; multiply by its inverse": R_mr @ R_lr @ R_ln,
            "this is only the inverse of R_lr; multiply it by R_mr from the left and by R_ln from the right": inverse,
            "the inverse of R_lr is missing; put it between R_mr and R_ln": R_mr @ R_ln,
            "you inverted the transpose, R_rl; invert R_lr": R_mr @ inverse.T @ R_ln,
            "you inverted each entry; use np.linalg.inv or np.linalg.solve for the inverse of a matrix": (
                R_mr @ (1 / R_lr) @ R_ln
            ),
            "you multiplied entry by entry; write @ between matrices": R_mr * inverse * R_ln,
            "this is the transposed block, R_nm; the rows are the labels of m": right.T,
            "the inverse is in front; put it between R_mr and R_ln": inverse @ R_mr @ R_ln,
            "the inverse is at the end; put it between R_mr and R_ln": R_mr @ R_ln @ inverse,
            "the first and the last block are swapped; R_mr comes first and R_ln last": R_ln @ inverse @ R_mr,
        }
        return [Part("R_mn", right, mistakes, "joint probabilities", (NONNEGATIVE, SUMS_TO_ONE))]


class ReadOff(Exercise):
    """One annotator's confusion matrix and the prior, from the factor."""

    hints = (
        "the block H[m * K : (m + 1) * K] is A_m D^1/2: column c of A_m times the square root of lambda_c",
        "the columns of A_m sum to one, so what do the columns of the block sum to?",
        "s = block.sum(axis=0); A_m = block / s; lambda = s**2",
    )
    praise = "the factor contains everything: its columns give the confusion matrices, and their sums the class prior"

    def given(self) -> Given:
        return self.own(14, self._drawn)

    @staticmethod
    def _drawn(rng: np.random.Generator) -> Given:
        H = factors_of_model(round_crowd(5, int(rng.integers(2**31)))).reshape(-1, K)
        return {"H": H, "n_classes": K, "m": 2}

    def solve(self, H: Floats, n_classes: int, m: int) -> list[Part]:
        model, block = model_of_factor(H), H.reshape(-1, n_classes, n_classes)[m]
        sums, every = block.sum(axis=0), H[m :: len(H) // n_classes]
        of_matrix = {
            "the rows were scaled to sum to one; scale the columns": block / block.sum(axis=1, keepdims=True),
            "this is the block of H itself; scale its columns to sum to one": block,
            "the whole block was divided by one number; divide each column by its own sum": block / block.sum(),
            "the columns were divided by their squared sums; divide by the sums": block / sums**2,
            "these are the squared entries of the block; divide each column by its sum instead": block**2,
            "these are rows m, m + M, ...; take the K consecutive rows of annotator m": every / every.sum(axis=0),
        }
        of_prior = {
            "these are the column sums of the block, the square roots of lambda; square them": sums,
            "you scaled the column sums to sum to one; they are the square roots of lambda, so square them": (
                sums / sums.sum()
            ),
            "you took the square roots of the column sums; square the sums": np.sqrt(sums),
            "you squared the entries before summing; sum each column first, then square": (block**2).sum(axis=0),
            "you summed the columns over all annotators; take the column sums of one block, then square": (
                H.sum(axis=0) ** 2
            ),
        }
        return [
            Part("A_m", model.conditionals[m], of_matrix, "probabilities", (NONNEGATIVE, COLUMNS)),
            Part("lambda", model.prior, of_prior, "probabilities", (SUMS_TO_ONE,)),
        ]


class Conditions(Exercise):
    """What holds in each of eight pictures: four co-labelling graphs, then four clouds of rows."""

    hints = (
        "graphs: start at one annotator and follow the lines; anyone you cannot reach belongs to another group",
        "graphs: colour linked annotators alternately; a line between two of the same colour closes an odd cycle",
        "clouds: a rubber band around the dots is their hull; does it enclose the disc? Does each corner have a dot?",
    )
    praise = (
        "both can be checked before a fit: the graph shows whether any method can work, the hull whether pairs suffice"
    )
    of_graphs: ClassVar = {
        1: {
            2: "this graph has several groups: follow the lines from one annotator, and some are never reached",
            3: "this graph has several groups, and an odd cycle helps only its own: some annotators are never reached",
        },
        2: {
            1: "this graph is one group: any two annotators are linked, directly or through others",
            3: "this graph has no odd cycle: with two alternating colours, no line joins two of the same colour",
        },
        3: {
            1: "this graph is one group: any two annotators are linked, directly or through others",
            2: "this graph has an odd cycle, of three or five links, so two alternating colours do not work",
        },
    }
    of_clouds: ClassVar = {
        1: {
            2: "part of the disc lies outside the hull: imagine a rubber band around the dots",
            3: "not every corner has a dot, and near one of them part of the disc lies outside the hull",
        },
        2: {
            1: "the hull covers the whole disc, which needs no dot in a corner: imagine a rubber band around the dots",
            3: "no corner has a dot: the nearest dots lie on the sides, but the hull still covers the disc",
        },
        3: {
            1: "each of the three corners has a dot, so the hull is the whole triangle and covers the disc",
            2: "the hull covers the disc, but this is not all: each of the three corners has a dot",
        },
    }

    def given(self) -> Given:
        return pictures(own(15))

    def solve(self, graphs: Graph, clouds: Floats) -> list[Part]:
        says = [self.of_graphs] * len(graphs) + [self.of_clouds] * len(clouds)
        return [
            Part(letter, kind, {text: other for other, text in about[int(kind)].items()}, "1, 2 or 3")
            for letter, kind, about in zip(LETTERS, kinds(graphs, clouds), says, strict=True)
        ]


EXERCISES = {
    "posterior": Posterior(),
    "em_round": EMRound(),
    "co-occurrence": CoOccurrence(),
    "imputation": Imputation(),
    "read_off": ReadOff(),
    "conditions": Conditions(),
}

OBJECTIVES = (("posterior",), ("imputation",), ("read_off",))  # the exercises of each, in their order
LAB = ("em_round", "co-occurrence", "conditions")

"""The exercises of notebook 01, on crowd labels: data from fixed seeds, answers by the library.

symbol   meaning                                                  shape
prior    lambda, how often each class occurs                      (K,)
A        A[i, c] = Pr(label i | class c), columns sum to one      (K, K)
R_mj     joint frequencies of the labels of annotators m and j    (K, K)
H        [A_1; ...; A_M] D^1/2                                    (M K, K)
"""

from __future__ import annotations

import numpy as np

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import designated_imputation, factors_of_model
from cofactor.crowd.symnmf import model_of_factor
from course.crowds import round_crowd
from course.grading import Exercise, Given, Part

K = 3
MISSING = "-1 means no label, and index -1 is the last class"


class Posterior(Exercise):
    """The true class of one task, from the labels of some annotators."""

    hints = (
        "Pr(class c and all labels) = prior[c] times the product over annotators of A[m][label, c]",
        "add logarithms, leave out annotators with label -1; then subtract the maximum and take exp",
        "log_joint = log(prior) + sum of log(A[m][labels[m]]); posterior = exp(log_joint) / sum of it",
    )
    praise = "each label adds its evidence to the prior; in logs, hundreds of them would not underflow"

    def given(self) -> Given:
        model = round_crowd(4, seed=8)
        return {"prior": model.prior, "A": np.stack(model.conditionals), "labels": np.array([0, 1, -1, 1])}

    def solve(self, prior: Floats, A: Floats, labels: Ints) -> list[Part]:
        table = CategoricalTable([labels], [K] * len(labels))
        model, flat = LatentClassModel(prior, list(A)), LatentClassModel(np.full(K, 1 / K), list(A))
        log_joint = model.log_joint(table)[0]
        columns = prior * np.prod([A_m[:, label] for A_m, label in zip(A, labels, strict=True) if label >= 0], axis=0)
        last = prior * np.prod([A_m[label] for A_m, label in zip(A, labels, strict=True)], axis=0)
        mistakes = {
            "the prior is forgotten: add log prior": flat.posterior(table)[0],
            "not normalised: divide by the sum, so that the classes sum to one": np.exp(log_joint),
            "these are log joint probabilities: take exp, then divide by their sum": log_joint,
            "only the first annotator's label is used: multiply with an entry of everybody who gave one, then "
            "divide by the sum": A[0][labels[0]] * prior,
            "the wrong columns were multiplied: A[m][:, label] fixes the class; the label picks the row, "
            "A[m][label, :]": columns / columns.sum(),
            f"{MISSING}: leave out annotators who gave no label": last / last.sum(),
        }
        return [Part("posterior", model.posterior(table)[0], mistakes)]


class CoOccurrence(Exercise):
    """How often one annotator says i and another k."""

    hints = (
        "keep the tasks with labels_m >= 0 and labels_j >= 0",
        "count how often m said i while j said k, in cell [i, k]",
        "divide the counts by the number of tasks kept: all cells together sum to one",
    )
    praise = "one block of the co-occurrence matrix, estimated without any true class"

    def given(self) -> Given:
        table, _ = round_crowd(2, seed=2).sample(24, random_state=2)
        labels = np.array(table.codes)
        labels[[3, 11, 17], 0] = -1
        labels[[5, 11], 1] = -1
        return {"labels_m": labels[:, 0], "labels_j": labels[:, 1], "n_classes": K}

    def solve(self, labels_m: Ints, labels_j: Ints, n_classes: int) -> list[Part]:
        table = CategoricalTable(np.stack([labels_m, labels_j], axis=1), [n_classes] * 2)
        right = pairwise_moments(table).joint(0, 1)
        both = (labels_m >= 0) & (labels_j >= 0)
        every = np.zeros((n_classes,) * 2)
        np.add.at(every, (labels_m, labels_j), 1)
        mistakes = {
            "these are counts: divide by the tasks both labelled": right * both.sum(),
            "this is transposed: rows are the labels of m, columns those of j": right.T,
            "divided by all tasks; only those that both annotators labelled count": right * both.mean(),
            f"{MISSING}: use only tasks that both labelled": every / every.sum(),
            "this is the product of the two margins, as if the two labels had nothing in common": (
                np.outer(right.sum(axis=1), right.sum(axis=0))
            ),
        }
        return [Part("R_mj", right, mistakes)]


class Imputation(Exercise):
    """The block of annotators m and n = 0, 3, who are linked by m - r - l - n with r, l = 1, 2 alone."""

    hints = (
        "write each block as A D A': R_mr = A_m D A_r', R_lr = A_l D A_r', R_ln = A_l D A_n'",
        "which product of the three leaves A_m D A_n'? The inverse of R_lr is A_r'^-1 D^-1 A_l^-1",
        "R_mn = R_mr R_lr^-1 R_ln",
    )
    praise = "annotators who never met, linked through two others; no model was fitted"

    def given(self) -> Given:
        R = round_crowd(4, seed=13).pairwise
        return {"R_mr": R(0, 1), "R_lr": R(2, 1), "R_ln": R(2, 3)}

    def solve(self, R_mr: Floats, R_lr: Floats, R_ln: Floats) -> list[Part]:
        chain = np.array([R_mr, R_mr.T, R_lr.T, R_lr, R_ln, R_ln.T])  # pairs 01, 10, 12, 21, 23, 32
        cooc = Cooccurrences(np.array([0, 1, 3, 5, 6]), np.array([1, 0, 2, 1, 3, 2]), chain, np.ones(6))
        right = designated_imputation(cooc).X[:K, 3 * K :]
        mistakes = {
            "R_lr was used itself; take its inverse": R_mr @ R_lr @ R_ln,
            "the middle is missing: the inverse of R_lr": R_mr @ R_ln,
            "the block in the middle is transposed: it must undo R_lr, not R_rl": R_mr @ np.linalg.inv(R_lr.T) @ R_ln,
            "one over each entry is not the inverse of a matrix: use np.linalg.inv or solve": R_mr @ (1 / R_lr) @ R_ln,
            "this is R_nm, the transposed block: m goes with the rows": right.T,
        }
        return [Part("R_mn", right, mistakes)]


class ReadOff(Exercise):
    """One annotator's confusion matrix and the prior, from the factor."""

    hints = (
        "rows m K to (m + 1) K of H hold A_m D^1/2: column c of A_m times the square root of lambda_c",
        "columns of A_m sum to one, so what do the columns of the block sum to?",
        "s = block.sum(axis=0); A_m = block / s; lambda = s**2",
    )
    praise = "the factor holds everything: confusion matrices in its shape, the class prior in its size"

    def given(self) -> Given:
        return {"H": factors_of_model(round_crowd(5, seed=21)).reshape(-1, K), "n_classes": K, "m": 2}

    def solve(self, H: Floats, n_classes: int, m: int) -> list[Part]:
        model, block = model_of_factor(H), H.reshape(-1, n_classes, n_classes)[m]
        sums, every = block.sum(axis=0), H[m :: len(H) // n_classes]
        of_matrix = {
            "the rows were scaled to sum to one; it is the columns, one for each true class": (
                block / block.sum(axis=1, keepdims=True)
            ),
            "this is the block of H itself; scale its columns to sum to one": block,
            "these are rows m, m + M, ...; the rows of annotator m are next to each other": every / every.sum(axis=0),
        }
        of_prior = {
            "the column sums are the square roots of lambda; square them": sums,
            "the column sums are the square roots of lambda; square them instead of scaling them": sums / sums.sum(),
            "these are column sums over all annotators; take one block, or the mean over blocks, then square": (
                H.sum(axis=0) ** 2
            ),
        }
        return [Part("A_m", model.conditionals[m], of_matrix), Part("lambda", model.prior, of_prior)]


EXERCISES = {
    "posterior": Posterior(),
    "co-occurrence": CoOccurrence(),
    "imputation": Imputation(),
    "read_off": ReadOff(),
}

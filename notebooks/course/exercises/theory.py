"""The exercises of notebook 01, and the first of 00, on crowd labels: data from fixed seeds, answers by the library.

symbol   meaning                                                  shape
prior    lambda, how often each class occurs                      (K,)
A        A[i, c] = Pr(label i | class c), columns sum to one      (K, K)
R_mj     joint frequencies of the labels of annotators m and j    (K, K)
H        [A_1; ...; A_M] D^1/2                                    (M K, K)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats
from cofactor.crowd.base import worker_accuracy
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import designated_imputation, factors_of_model
from cofactor.crowd.symnmf import model_of_factor
from course.exercises.old import Exercise, Given, Mistake, Part

K = 3
CHAIN = ((0, 1), (2, 1), (2, 3))  # the observed pairs (m, r), (l, r), (l, n) of annotators m, r, l, n = 0, 1, 2, 3


def _annotators(n_annotators: int, seed: int) -> LatentClassModel:
    """Draw annotators and a prior in steps of 0.05, so that they read well in a notebook."""
    rng = np.random.default_rng(seed)
    chances = 0.55 * np.eye(K) + 0.45 * rng.dirichlet(np.ones(K), (n_annotators, K))
    counts = 1 + rng.multinomial(17, chances, (n_annotators, K)).transpose(0, 2, 1)
    return LatentClassModel([0.5, 0.35, 0.15], list(counts / counts.sum(axis=1, keepdims=True)))


def _accuracy_given() -> Given:
    model = _annotators(1, seed=5)
    return {"prior": model.prior, "A": model.conditionals[0]}


ACCURACY = Exercise(
    _accuracy_given,
    (
        Part(
            "accuracy",
            lambda g: worker_accuracy(LatentClassModel(g["prior"], [g["A"]]))[0],
            (
                Mistake(
                    lambda g: np.diag(g["A"]).mean(),
                    "this is the plain mean of the diagonal; weigh each class with how often it occurs (prior)",
                ),
                Mistake(lambda g: np.trace(g["A"]), "this is the sum of the diagonal; weigh each entry with the prior"),
                Mistake(
                    lambda g: (g["A"] @ g["prior"]) @ np.diag(g["A"]),
                    "the weights are how often each label is given (rows); take how often each class occurs (columns)",
                ),
                Mistake(
                    lambda g: g["prior"] @ (np.diag(g["A"]) / g["A"].sum(axis=1)),
                    "rows were scaled to sum to one, as if A were transposed; columns of A already sum to one",
                ),
                Mistake(
                    lambda g: 1 - worker_accuracy(LatentClassModel(g["prior"], [g["A"]]))[0],
                    "this is the share of wrong labels; the accuracy is one minus it",
                ),
            ),
        ),
    ),
    (
        "A[c, c] is the accuracy on tasks of class c alone",
        "on how many tasks of all is the class c? That is prior[c]",
        "sum over c of prior[c] * A[c, c]",
    ),
    "each class counts as often as it occurs, so a worker is judged by the tasks there are",
)


def _posterior_given() -> Given:
    model = _annotators(4, seed=8)
    return {"prior": model.prior, "A": np.stack(model.conditionals), "labels": np.array([0, 1, -1, 1])}


def _explained(g: Given, prior: Floats | None = None) -> tuple[LatentClassModel, CategoricalTable]:
    model = LatentClassModel(g["prior"] if prior is None else prior, list(g["A"]))
    return model, CategoricalTable([g["labels"]], [K] * len(g["labels"]))


def _posterior(g: Given, prior: Floats | None = None) -> Floats:
    model, table = _explained(g, prior)
    return model.posterior(table)[0]


def _log_joint(g: Given) -> Floats:
    model, table = _explained(g)
    return np.asarray(model.log_joint(table))[0]


def _by_columns(g: Given) -> Floats:
    seen = [A[:, label] for A, label in zip(g["A"], g["labels"], strict=True) if label >= 0]
    joint = g["prior"] * np.prod(seen, axis=0)
    return np.asarray(joint / joint.sum())


def _missing_as_last(g: Given) -> Floats:
    joint = g["prior"] * np.prod([A[label] for A, label in zip(g["A"], g["labels"], strict=True)], axis=0)
    return np.asarray(joint / joint.sum())


POSTERIOR = Exercise(
    _posterior_given,
    (
        Part(
            "posterior",
            _posterior,
            (
                Mistake(lambda g: _posterior(g, np.full(K, 1 / K)), "the prior is forgotten: add log prior"),
                Mistake(
                    lambda g: np.exp(_log_joint(g)), "not normalised: divide by the sum, so that the classes sum to one"
                ),
                Mistake(_log_joint, "these are log joint probabilities: take exp, then divide by their sum"),
                Mistake(
                    lambda g: g["A"][0][g["labels"][0]] * g["prior"],
                    "only the first annotator's label is used: multiply with an entry of everybody who gave one, then "
                    "divide by the sum",
                ),
                Mistake(
                    _by_columns,
                    "the wrong columns were multiplied: A[m][:, label] fixes the class; the label picks the row, "
                    "A[m][label, :]",
                ),
                Mistake(
                    _missing_as_last,
                    "-1 means no label, and index -1 is the last class: leave out annotators who gave no label",
                ),
            ),
        ),
    ),
    (
        "Pr(class c and all labels) = prior[c] times the product over annotators of A[m][label, c]",
        "add logarithms, leave out annotators with label -1; then subtract the maximum and take exp",
        "log_joint = log(prior) + sum of log(A[m][labels[m]]); posterior = exp(log_joint) / sum of it",
    ),
    "each label adds its evidence to the prior; in logs, hundreds of them would not underflow",
)


def _cooccurrence_given() -> Given:
    table, _ = _annotators(2, seed=2).sample(24, random_state=2)
    labels = np.array(table.codes)
    labels[[3, 11, 17], 0] = -1
    labels[[5, 11], 1] = -1
    return {"labels_m": labels[:, 0], "labels_j": labels[:, 1], "n_classes": K}


def _joint(g: Given) -> Floats:
    table = CategoricalTable(np.stack([g["labels_m"], g["labels_j"]], axis=1), [K, K])
    return pairwise_moments(table).joint(0, 1)


def _both(g: Given) -> NDArray[np.bool_]:
    return np.asarray((g["labels_m"] >= 0) & (g["labels_j"] >= 0))


def _counts_with_missing(g: Given) -> Floats:
    counts = np.zeros((K, K))
    np.add.at(counts, (g["labels_m"], g["labels_j"]), 1)
    return counts / counts.sum()


def _independent(g: Given) -> Floats:
    R = _joint(g)
    return np.outer(R.sum(axis=1), R.sum(axis=0))


CO_OCCURRENCE = Exercise(
    _cooccurrence_given,
    (
        Part(
            "R_mj",
            _joint,
            (
                Mistake(lambda g: _joint(g) * _both(g).sum(), "these are counts: divide by the tasks both labelled"),
                Mistake(lambda g: _joint(g).T, "this is transposed: rows are the labels of m, columns those of j"),
                Mistake(
                    lambda g: _joint(g) * _both(g).mean(),
                    "divided by all tasks; only those that both annotators labelled count",
                ),
                Mistake(
                    _counts_with_missing,
                    "-1 means no label, and index -1 is the last class: use only tasks that both labelled",
                ),
                Mistake(
                    _independent, "this is the product of the two margins, as if the two labels had nothing in common"
                ),
            ),
        ),
    ),
    (
        "keep the tasks with labels_m >= 0 and labels_j >= 0",
        "count how often m said i while j said k, in cell [i, k]",
        "divide the counts by the number of tasks kept: all cells together sum to one",
    ),
    "one block of the co-occurrence matrix, estimated without any true class",
)


def _imputation_given() -> Given:
    model = _annotators(4, seed=13)
    return {name: model.pairwise(*pair) for name, pair in zip(("R_mr", "R_lr", "R_ln"), CHAIN, strict=True)}


def _imputed(g: Given) -> Floats:
    """Impute the block (m, n) of four annotators of whom only the chain m - r - l - n is observed."""
    blocks = {pair: g[name] for name, pair in zip(("R_mr", "R_lr", "R_ln"), CHAIN, strict=True)}
    blocks |= {(j, m): R.T for (m, j), R in blocks.items()}
    pairs = sorted(blocks)
    indptr = np.searchsorted([m for m, _ in pairs], np.arange(5))
    cooc = Cooccurrences(indptr, np.array([j for _, j in pairs]), np.stack([blocks[p] for p in pairs]), np.ones(6))
    return designated_imputation(cooc).X[:K, 3 * K :]


IMPUTATION = Exercise(
    _imputation_given,
    (
        Part(
            "R_mn",
            _imputed,
            (
                Mistake(lambda g: g["R_mr"] @ g["R_lr"] @ g["R_ln"], "R_lr was used itself; take its inverse"),
                Mistake(lambda g: g["R_mr"] @ g["R_ln"], "the middle is missing: the inverse of R_lr"),
                Mistake(
                    lambda g: g["R_mr"] @ np.linalg.inv(g["R_lr"].T) @ g["R_ln"],
                    "the block in the middle is transposed: it must undo R_lr, not R_rl",
                ),
                Mistake(
                    lambda g: g["R_mr"] @ (1 / g["R_lr"]) @ g["R_ln"],
                    "one over each entry is not the inverse of a matrix: use np.linalg.inv or solve",
                ),
                Mistake(lambda g: _imputed(g).T, "this is R_nm, the transposed block: m goes with the rows"),
            ),
        ),
    ),
    (
        "write each block as A D A': R_mr = A_m D A_r', R_lr = A_l D A_r', R_ln = A_l D A_n'",
        "which product of the three leaves A_m D A_n'? The inverse of R_lr is A_r'^-1 D^-1 A_l^-1",
        "R_mn = R_mr R_lr^-1 R_ln",
    ),
    "annotators who never met, linked through two others; no model was fitted",
)


def _read_off_given() -> Given:
    H = factors_of_model(_annotators(5, seed=21)).reshape(-1, K)
    return {"H": H, "n_classes": K, "m": 2}


def _block(g: Given) -> Floats:
    return np.asarray(g["H"].reshape(-1, K, K)[g["m"]])


def _column_sums(g: Given) -> Floats:
    return np.asarray(_block(g).sum(axis=0))


def _every_mth_row(g: Given) -> Floats:
    rows = g["H"][g["m"] :: len(g["H"]) // K]
    return np.asarray(rows / rows.sum(axis=0))


READ_OFF = Exercise(
    _read_off_given,
    (
        Part(
            "A_m",
            lambda g: model_of_factor(g["H"]).conditionals[g["m"]],
            (
                Mistake(
                    lambda g: _block(g) / _block(g).sum(axis=1, keepdims=True),
                    "the rows were scaled to sum to one; it is the columns, one for each true class",
                ),
                Mistake(_block, "this is the block of H itself; scale its columns to sum to one"),
                Mistake(_every_mth_row, "these are rows m, m + M, ...; the rows of annotator m are next to each other"),
            ),
        ),
        Part(
            "lambda",
            lambda g: model_of_factor(g["H"]).prior,
            (
                Mistake(_column_sums, "the column sums are the square roots of lambda; square them"),
                Mistake(
                    lambda g: _column_sums(g) / _column_sums(g).sum(),
                    "the column sums are the square roots of lambda; square them instead of scaling them",
                ),
                Mistake(
                    lambda g: g["H"].sum(axis=0) ** 2,
                    "these are column sums over all annotators; take one block, or the mean over blocks, then square",
                ),
            ),
        ),
    ),
    (
        "rows m K to (m + 1) K of H hold A_m D^1/2: column c of A_m times the square root of lambda_c",
        "columns of A_m sum to one, so what do the columns of the block sum to?",
        "s = block.sum(axis=0); A_m = block / s; lambda = s**2",
    ),
    "the factor holds everything: confusion matrices in its shape, the class prior in its size",
)


EXERCISES = {
    "accuracy": ACCURACY,
    "posterior": POSTERIOR,
    "co-occurrence": CO_OCCURRENCE,
    "imputation": IMPUTATION,
    "read_off": READ_OFF,
}

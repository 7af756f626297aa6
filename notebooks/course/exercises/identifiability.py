"""The exercises of notebook 02, on uniqueness and on measuring the error of a model whose classes have no names.

symbol   meaning                                                  shape
H        nonnegative factor, rows h_i                             (I, K)
T        {x : H x >= 0, 1'x = 1}
r        the largest norm in T
prior    lambda, how often each class occurs                      (K,)
A        confusion matrices, columns sum to one                   (M, K, K)
"""

from __future__ import annotations

import numpy as np

from cofactor.core.alignment import mse
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.scattering import scattering_certificate
from cofactor.core.types import Floats
from course.exercises.old import Exercise, Given, Mistake, Part

K = 3


def _specialists_given() -> Given:
    rng = np.random.default_rng(11)
    H = rng.integers(1, 30, size=(7, K)) / 40
    H[[1, 3, 6]] += np.diag([1.2, 0.5, 2.1]) * np.array([[1.0], [0.8], [1.4]])
    return {"H": H.round(3)}


def _nearest(rows: Floats, order: float = 2) -> Floats:
    return np.asarray(np.linalg.norm(rows[:, None] - np.eye(K), ord=order, axis=2).min(axis=0))


def _rows_scaled(g: Given) -> Floats:
    return np.asarray(g["H"] / g["H"].sum(axis=1, keepdims=True))


SPECIALISTS = Exercise(
    _specialists_given,
    (
        Part(
            "distances",
            lambda g: scattering_certificate(g["H"]).distances,
            (
                Mistake(
                    lambda g: _nearest(g["H"]),
                    "the rows have different sizes: scale each to sum to one first, only its direction counts",
                ),
                Mistake(
                    lambda g: _nearest(g["H"] / g["H"].sum(axis=0)),
                    "the columns were scaled; it is each row that is scaled to sum to one",
                ),
                Mistake(
                    lambda g: _nearest(g["H"] / np.linalg.norm(g["H"], axis=1, keepdims=True)),
                    "the rows were scaled to length one; scale them to sum to one, into the plane of the triangle",
                ),
                Mistake(lambda g: _nearest(_rows_scaled(g)) ** 2, "these are squared distances: take the square root"),
                Mistake(lambda g: _nearest(_rows_scaled(g), order=1), "these are sums of absolute differences"),
                Mistake(
                    lambda g: 1 - _rows_scaled(g).max(axis=0),
                    "this is one minus the largest entry; take the distance of the whole row to e_k",
                ),
            ),
        ),
    ),
    (
        "scale each row of H to sum to one: these are the dots in the triangle",
        "for class k, subtract the k-th unit vector from every row and take norms",
        "rows = H / H.sum(axis=1, keepdims=True); np.linalg.norm(rows[:, None] - np.eye(3), axis=2).min(axis=0)",
    ),
    "a class without a near row has no specialist, and the hull has a hole there",
)


def _corner_given() -> Given:
    return {"H": np.array([[0.6, 0.1, 0.06], [0.2, 0.4, 0.05], [0.02, 0.1, 0.8]])}


def _scaled_columns(g: Given) -> Floats:
    inverse = np.linalg.inv(g["H"])
    return np.asarray(inverse / inverse.sum(axis=0))


def _norms(columns: Floats) -> Floats:
    return np.asarray(np.linalg.norm(columns, axis=0))


LONGEST_CORNER = Exercise(
    _corner_given,
    (
        Part(
            "r",
            lambda g: scattering_certificate(g["H"]).radius,
            (
                Mistake(
                    lambda g: _norms(np.linalg.inv(g["H"])).max(),
                    "the columns of the inverse lie on the rays of the cone; scale each to sum to one, into the plane",
                ),
                Mistake(
                    lambda g: _norms(np.linalg.inv(g["H"]).T / np.linalg.inv(g["H"]).sum(axis=1)).max(),
                    "these are the rows of the inverse; H x = e_i is solved by its columns",
                ),
                Mistake(lambda g: _norms(_scaled_columns(g)).min(), "this is the shortest corner; r is the longest"),
                Mistake(lambda g: _norms(_scaled_columns(g)).max() ** 2, "this is the squared norm"),
                Mistake(lambda g: 1 - _norms(_scaled_columns(g)).max(), "this is the margin 1 - r; give r itself"),
                Mistake(
                    lambda g: _norms(_rows_scaled(g).T).max(),
                    "these are norms of the rows of H; r is about the corners of T = {x : H x >= 0, 1'x = 1}",
                ),
            ),
        ),
    ),
    (
        "with three rows, a corner of T has two of the three entries of H x at zero: H x is a multiple of e_i",
        "so the corners are the columns of inv(H), each scaled to sum to one",
        "X = np.linalg.inv(H); r = np.linalg.norm(X / X.sum(axis=0), axis=0).max()",
    ),
    "above one: three rows alone, none of them a specialist's, do not make the factor unique",
)


def _mse_given() -> Given:
    rng = np.random.default_rng(4)
    A = (0.7 * np.eye(K) + 0.3 * rng.dirichlet(np.ones(K), (4, K))).transpose(0, 2, 1).round(2)
    A[3] = A[3][:, [1, 0, 2]]  # one annotator takes two classes for each other
    A /= A.sum(axis=1, keepdims=True)
    A_hat = np.abs(A + rng.normal(0, 0.13, A.shape))
    A_hat /= A_hat.sum(axis=1, keepdims=True)
    names = [2, 0, 1]
    prior = np.array([0.55, 0.3, 0.15])
    return {"prior": prior, "A": A, "prior_hat": np.array([0.5, 0.32, 0.18])[names], "A_hat": A_hat[:, :, names]}


def _error(g: Given) -> float:
    return mse(LatentClassModel(g["prior"], g["A"]), LatentClassModel(g["prior_hat"], g["A_hat"]))


def _sum_of_squares(g: Given, order: list[int], prior_order: list[int] | None = None) -> float:
    prior = g["prior_hat"][order if prior_order is None else prior_order]
    return float(np.sum((prior - g["prior"]) ** 2) + np.sum((g["A_hat"][:, :, order] - g["A"]) ** 2))


BEST, SAME_NAMES, WRONG_WAY = [1, 2, 0], [0, 1, 2], [2, 0, 1]
TERMS = 4 * K + 1


def _each_its_own(g: Given) -> float:
    """Every annotator's columns moved so that the largest entry of row k is in column k, as in the released code."""
    moved = [A_m[:, A_m.argmax(axis=1)] for A_m in g["A_hat"]]
    return float((np.sum((g["prior_hat"] - g["prior"]) ** 2) + np.sum((np.stack(moved) - g["A"]) ** 2)) / TERMS)


MODEL_ERROR = Exercise(
    _mse_given,
    (
        Part(
            "MSE",
            _error,
            (
                Mistake(
                    lambda g: _sum_of_squares(g, SAME_NAMES) / TERMS,
                    "hidden classes have no names: try all orders of the classes of the estimate, keep the smallest",
                ),
                Mistake(
                    lambda g: _sum_of_squares(g, BEST, SAME_NAMES) / TERMS,
                    "the prior has the same classes: put it in the same order as the columns",
                ),
                Mistake(
                    lambda g: _sum_of_squares(g, WRONG_WAY) / TERMS,
                    "this is the order the wrong way round, its inverse",
                ),
                Mistake(
                    _each_its_own,
                    "every annotator got an order of their own; there is one for all, or bad annotators look good",
                ),
                Mistake(
                    lambda g: _error(g) * TERMS / (4 * K * K + K), "this is the mean over all entries; divide by MK + 1"
                ),
                Mistake(lambda g: _error(g) * TERMS, "this is the sum of squares: divide by MK + 1"),
                Mistake(lambda g: np.sqrt(_error(g)), "this is the square root of it"),
            ),
        ),
    ),
    (
        "for K = 3 there are six orders of the classes: itertools.permutations(range(3))",
        "for each order p: sum of squares of prior - prior_hat[p] and of A - A_hat[:, :, p]",
        "the smallest of these sums, divided by M K + 1 = 13",
    ),
    "one common order of the classes: a renaming is no error, a confused annotator is",
)


EXERCISES = {
    "specialists": SPECIALISTS,
    "longest_corner": LONGEST_CORNER,
    "model_error": MODEL_ERROR,
}

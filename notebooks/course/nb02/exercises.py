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

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.scattering import scattering_certificate
from cofactor.core.types import Floats
from course.grading import Exercise, Given, Part

K = 3


class Specialists(Exercise):
    """How far the nearest row is from each corner."""

    hints = (
        "scale each row of H to sum to one: these are the dots in the triangle",
        "for class k, subtract the k-th unit vector from every row and take norms",
        "rows = H / H.sum(axis=1, keepdims=True); np.linalg.norm(rows[:, None] - np.eye(3), axis=2).min(axis=0)",
    )
    praise = "a class without a near row has no specialist, and the hull has a hole there"

    def given(self) -> Given:
        rng = np.random.default_rng(11)
        H = rng.integers(1, 30, size=(7, K)) / 40
        H[[1, 3, 6]] += np.diag([1.2, 0.5, 2.1]) * np.array([[1.0], [0.8], [1.4]])
        return {"H": H.round(3)}

    def solve(self, H: Floats) -> list[Part]:
        rows = H / H.sum(axis=1, keepdims=True)
        mistakes = {
            "the rows have different sizes: scale each to sum to one first, only its direction counts": nearest(H),
            "the columns were scaled; it is each row that is scaled to sum to one": nearest(H / H.sum(axis=0)),
            "the rows were scaled to length one; scale them to sum to one, into the plane of the triangle": (
                nearest(H / np.linalg.norm(H, axis=1, keepdims=True))
            ),
            "these are squared distances: take the square root": nearest(rows) ** 2,
            "these are sums of absolute differences": nearest(rows, order=1),
            "this is one minus the largest entry; take the distance of the whole row to e_k": 1 - rows.max(axis=0),
        }
        return [Part("distances", scattering_certificate(H).distances, mistakes)]


def nearest(rows: Floats, order: float = 2) -> Floats:
    """Distance of the nearest row to each unit vector, (K,)."""
    return np.asarray(np.linalg.norm(rows[:, None] - np.eye(K), ord=order, axis=2).min(axis=0))


class LongestCorner(Exercise):
    """The largest norm in T, for a factor of three rows."""

    hints = (
        "with three rows, a corner of T has two of the three entries of H x at zero: H x is a multiple of e_i",
        "so the corners are the columns of inv(H), each scaled to sum to one",
        "X = np.linalg.inv(H); r = np.linalg.norm(X / X.sum(axis=0), axis=0).max()",
    )
    praise = "above one: three rows alone, none of them a specialist's, do not make the factor unique"

    def given(self) -> Given:
        return {"H": np.array([[0.6, 0.1, 0.06], [0.2, 0.4, 0.05], [0.02, 0.1, 0.8]])}

    def solve(self, H: Floats) -> list[Part]:
        inverse = np.linalg.inv(H)
        corners = np.linalg.norm(inverse / inverse.sum(axis=0), axis=0)
        mistakes = {
            "the columns of the inverse lie on the rays of the cone; scale each to sum to one, into the plane": (
                np.linalg.norm(inverse, axis=0).max()
            ),
            "these are the rows of the inverse; H x = e_i is solved by its columns": (
                np.linalg.norm(inverse.T / inverse.sum(axis=1), axis=0).max()
            ),
            "this is the shortest corner; r is the longest": corners.min(),
            "this is the squared norm": corners.max() ** 2,
            "this is the margin 1 - r; give r itself": 1 - corners.max(),
            "these are norms of the rows of H; r is about the corners of T = {x : H x >= 0, 1'x = 1}": (
                np.linalg.norm(H.T / H.sum(axis=1), axis=0).max()
            ),
        }
        return [Part("r", scattering_certificate(H).radius, mistakes)]


class ModelError(Exercise):
    """The mean squared error of an estimate whose classes stand in another order."""

    hints = (
        "for K = 3 there are six orders of the classes: itertools.permutations(range(3))",
        "for each order p: sum of squares of prior - prior_hat[p] and of A - A_hat[:, :, p]",
        "the smallest of these sums, divided by M K + 1 = 13",
    )
    praise = "one common order of the classes: a renaming is no error, a confused annotator is"

    def given(self) -> Given:
        rng = np.random.default_rng(4)
        A = (0.7 * np.eye(K) + 0.3 * rng.dirichlet(np.ones(K), (4, K))).transpose(0, 2, 1).round(2)
        A[3] = A[3][:, [1, 0, 2]]  # one annotator takes two classes for each other
        A /= A.sum(axis=1, keepdims=True)
        A_hat = np.abs(A + rng.normal(0, 0.13, A.shape))
        A_hat /= A_hat.sum(axis=1, keepdims=True)
        names = [2, 0, 1]
        prior = np.array([0.55, 0.3, 0.15])
        return {"prior": prior, "A": A, "prior_hat": np.array([0.5, 0.32, 0.18])[names], "A_hat": A_hat[:, :, names]}

    def solve(self, prior: Floats, A: Floats, prior_hat: Floats, A_hat: Floats) -> list[Part]:
        def squares(prior_found: Floats, A_found: Floats) -> float:
            return float(np.sum((prior_found - prior) ** 2) + np.sum((A_found - A) ** 2))

        right = LatentClassModel(prior, list(A)).mse(LatentClassModel(prior_hat, list(A_hat)))
        terms = len(A) * K + 1
        best, wrong_way = [1, 2, 0], [2, 0, 1]
        # every annotator's columns moved so that the largest entry of row k is in column k, as in the released code
        own_order = np.stack([A_m[:, A_m.argmax(axis=1)] for A_m in A_hat])
        mistakes = {
            "hidden classes have no names: try all orders of the classes of the estimate, keep the smallest": (
                squares(prior_hat, A_hat) / terms
            ),
            "the prior has the same classes: put it in the same order as the columns": (
                squares(prior_hat, A_hat[:, :, best]) / terms
            ),
            "this is the order the wrong way round, its inverse": (
                squares(prior_hat[wrong_way], A_hat[:, :, wrong_way]) / terms
            ),
            "every annotator got an order of their own; there is one for all, or bad annotators look good": (
                squares(prior_hat, own_order) / terms
            ),
            "this is the mean over all entries; divide by MK + 1": right * terms / (A.size + K),
            "this is the sum of squares: divide by MK + 1": right * terms,
            "this is the square root of it": np.sqrt(right),
        }
        return [Part("MSE", right, mistakes)]


EXERCISES = {"specialists": Specialists(), "longest_corner": LongestCorner(), "model_error": ModelError()}

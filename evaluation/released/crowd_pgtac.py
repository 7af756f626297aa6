"""PG-TAC: complete the missing labels, then take a vote of all labels.

    symbol   meaning                                                              shape
    Y        labels less 1/K, one-hot fibres; the last slice is the truth         (N, P, K), P = M + 1
    Omega    fibres that are known
    T        completed labels, less 1/K                                           (N, P, K)
    g        class scores of the tasks, the truth slice                           (N, K)
    w        weights of the annotators, not negative                              (M,)

With 1/K taken off, "unknown" is zero and says nothing for any class. Fibres then sum to zero, and singular value
thresholding of any unfolding keeps that: they are held as K - 1 coordinates in an orthonormal basis of the fibres that
sum to zero, which changes no singular value and halves the work for two classes.

Source: Zhou and He, "Crowdsourcing via tensor augmentation and completion", IJCAI 2016, with which the ICML 2021 paper
compares. A reconstruction: the original could not be had, so levels of error can be compared, not details.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, helmert

from cofactor.core.errors import CofactorError
from cofactor.core.estimator import History, Result
from cofactor.core.simplex import project_to_simplex
from cofactor.core.types import Floats
from cofactor.crowd.base import TaskScorer
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.model import PRIOR, PseudoCounts
from evaluation.released.crowd_soft_impute import Mask, Singles, gram, held_out, norm

SHARES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02)  # penalties tried, as shares of the largest singular value
SAMPLE = 2000  # tasks on which the choice among them is made
STEPS, SETTLED = 60, 1e-3  # a completion ends when a step changes this share of it
BETWEEN, TRUTH_SETTLED = 10, 1e-2  # most steps between two truth slices, and their change at which it ends
DUST = 1e-12  # below the rounding of any score
MOST_CELLS = 100_000_000


@dataclass(eq=False, repr=False)
class PGTAC(TaskScorer):
    """PG-TAC: complete annotator x task x class labels together with a slice for the truth.

        min over T  1/2 ||P_Omega(T - Y)||^2 + mean over the unfoldings i of lambda_i ||T_(i)||_*

    1. Y: the labels, and as truth slice the vote shares.
    2. lambda_i is one share of the largest singular value of the unfolding of Y, the same for all i. It is chosen on
       10 % of the labels of at most 2,000 tasks, from strong to weak, up to the first that predicts them worse.
    3. T by accelerated proximal gradient: a step on the known fibres, singular value thresholding of the three
       unfoldings, their average, fibres projected onto the simplex, until a step changes 0.1 % of T.
    4. After at most ten steps the truth slice becomes the weighted mean of the annotator slices, labels as given. The
       weights are w_m, the share of m's labels that agree with the slice above chance, and how much of a label a fibre
       is. Again from 3 until the slice changes by 1 % at most.

    Parameters
    ----------
    em : bool
        Refine by expectation-maximisation.
    pseudo_counts : (float, float)
        Prior of EM, see `Aggregator`.
    random_state : int, optional
        Draws the held-out labels; None is 0.
    verbose : bool

    Raises (in `fit`)
    -----------------
    CofactorError
        No task has a label, or the completed tensor would pass 100 million cells.

    Cost: O(N M K (M K + N M / max(N, M))) time per step; O(N M K) memory in single precision.
    Source: Zhou and He, IJCAI 2016, reconstructed (see the module).
    """

    em: bool = False
    pseudo_counts: PseudoCounts = PRIOR
    random_state: int | None = None
    verbose: bool = False

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        Y, known = augmented_tensor(labels, np.ones(labels.n_labels, dtype=bool))  # step 1
        share = self._choose(labels)  # step 2
        T = np.zeros_like(Y)
        history = History("PG-TAC", max_iter=50, tol=TRUTH_SETTLED, verbose=self.verbose)
        for _ in history:
            T = complete_tensor(Y, known, share, start=T, steps=BETWEEN)  # step 3
            filled = np.where(known[:, :-1, None], Y[:, :-1], T[:, :-1])
            # step 4
            g = _weighted_shares(filled, reliability(Y[:, :-1], known[:, :-1], Y[:, -1])) * known[:, -1:]
            change = float(np.linalg.norm(g - Y[:, -1])) / max(float(np.linalg.norm(Y[:, -1])), 1e-12)
            Y[:, -1] = g
            history.record(float(((T - Y)[known] ** 2).sum()) / 2, change=change)
        scores = project_to_simplex((Y[:, -1] @ _basis(labels.n_classes)).T.astype(np.float64) + 1 / labels.n_classes)
        return scores.T, history.result()

    def _choose(self, labels: CrowdLabels) -> float:
        """Return the share in SHARES whose completion comes nearest to labels it was not shown."""
        labels = _sample(labels, self.random_state)
        hidden = held_out(labels.n_labels, self.random_state)
        if not hidden.any():
            return SHARES[0]
        Y, known = augmented_tensor(labels, ~hidden)
        table, T, errors = labels.table, np.zeros_like(Y), [np.inf]
        given = _basis(labels.n_classes).T[table.values[hidden]]
        for share in SHARES:
            T = complete_tensor(Y, known, share, start=T)
            errors.append(float(((T[table.rows[hidden], table.variables[hidden]] - given) ** 2).sum()))
            if errors[-1] > errors[-2]:
                break
        return SHARES[int(np.argmin(errors)) - 1]


def _sample(labels: CrowdLabels, random_state: int | None) -> CrowdLabels:
    """At most SAMPLE tasks, in their order."""
    if labels.n_tasks <= SAMPLE:
        return labels
    rng = np.random.default_rng(0 if random_state is None else random_state)
    return labels.take_tasks(np.sort(rng.permutation(labels.n_tasks)[:SAMPLE]))


def _basis(K: int) -> Singles:
    """Orthonormal rows (K - 1, K) that sum to zero; column k holds the coordinates of a label k less 1/K."""
    return np.asarray(helmert(K), dtype=np.float32)


def augmented_tensor(labels: CrowdLabels, shown: Mask) -> tuple[Singles, Mask]:
    """Return Y (N, M + 1, K - 1) in the coordinates of `_basis`, truth slice last, and the (N, M + 1) mask.

    Of the labels, the shown ones. Raises `CofactorError` if there are none, or more than 100 million cells.
    """
    if not labels.n_labels:
        raise CofactorError("no task has a label")
    table, (N, M, K) = labels.table, (labels.n_tasks, labels.n_workers, labels.n_classes)
    if float(N) * M * K > MOST_CELLS:
        raise CofactorError(
            f"{N} tasks by {M} workers by {K} classes are too many to complete: "
            "take fewer workers (labels.busiest_workers), or use MV-EM or RobSymNMF"
        )
    Y, known = np.zeros((N, M + 1, K - 1), dtype=np.float32), np.zeros((N, M + 1), dtype=bool)
    known[table.rows[shown], table.variables[shown]] = True
    Y[table.rows[shown], table.variables[shown]] = _basis(K).T[table.values[shown]]
    given = known.sum(axis=1)
    known[:, -1] = given > 0
    Y[:, -1] = Y.sum(axis=1) / np.maximum(given, 1)[:, None]
    return Y, known


def complete_tensor(Y: Singles, known: Mask, share: float, start: Singles, steps: int = STEPS) -> Singles:
    """Solve the problem of `PGTAC` from a start, lambda_i = share times the largest s_i, Y in coordinates."""
    penalties = [share * norm(unfolded) for unfolded in _unfoldings(Y)]
    T, S, t = start, start.copy(), 1.0
    where = np.nonzero(known)
    for _ in range(steps):
        S[where] = Y[where]
        new = _to_simplex(_thresholded(S, penalties))
        moved = new - T
        t, last = (1 + np.sqrt(1 + 4 * t**2)) / 2, t
        S, T = new + np.float32((last - 1) / t) * moved, new
        if np.linalg.norm(moved) <= SETTLED * np.linalg.norm(new):
            break
    return T


def _unfoldings(T: Singles) -> tuple[Singles, Singles, Singles]:
    """Tasks by the rest, annotators by the rest, the rest by classes; only the second copies."""
    N, P, D = T.shape
    return T.reshape(N, P * D), T.transpose(1, 0, 2).reshape(P, N * D), T.reshape(N * P, D)


def _thresholded(T: Singles, penalties: list[float]) -> Singles:
    """The mean of the three unfoldings, their singular values lowered."""
    N, P, D = T.shape
    tasks, workers, classes = _unfoldings(T)
    total = shrink(tasks, penalties[0]).reshape(N, P, D)
    # for two classes, tasks and workers are each other's transposes, with the same penalty
    total = total + (total if D == 1 else shrink(workers, penalties[1]).reshape(P, N, D).transpose(1, 0, 2))
    return _without_dust((total + shrink(classes, penalties[2]).reshape(N, P, D)) / np.float32(3))


def _without_dust(X: Singles) -> Singles:
    """Zero for numbers whose products underflow, with which processors compute thirty times more slowly."""
    X[np.abs(X) < DUST] = 0
    return X


def shrink(X: Singles, penalty: float) -> Singles:
    """Lower every singular value of X by `penalty`, none below zero: the proximal operator of the nuclear norm.

    Through the Gram matrix of the shorter side; O(a b min(a, b)). Singular values below about 1e-3 of the largest are
    rounding in single precision, and penalties are well above.

    >>> shrink(np.diag([3.0, 1.0]).astype(np.float32), 2.0).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    wide = X.shape[0] <= X.shape[1]
    squares, V = eigh(gram(X), subset_by_value=(penalty**2, np.inf))
    V, s = _without_dust(V.astype(np.float32)), np.sqrt(squares)
    scaled = V * ((s - penalty) / s).astype(np.float32)
    return scaled @ (V.T @ X) if wide else (X @ V) @ scaled.T


def _to_simplex(T: Singles) -> Singles:
    """Project the fibres that are no distribution once they are read in the basis and 1/K is added back."""
    basis = _basis(T.shape[2] + 1)
    K = basis.shape[1]
    far = np.nonzero(np.einsum("npd,npd->np", T, T) > 1 / (K * (K - 1)))  # others lie inside the inscribed ball
    if far[0].size:
        T[far] = ((project_to_simplex((T[far] @ basis).T + 1 / K) - 1 / K).T @ basis.T).astype(np.float32)
    return T


def reliability(Y: Singles, known: Mask, g: Singles) -> Singles:
    """Return (M,) weights summing to one: mean over m's labels of the score g less chance, clipped at zero."""
    above = np.einsum("nmk,nk->m", Y, g) / np.maximum(known.sum(axis=0), 1)
    w = np.maximum(above, 0.0)
    return np.asarray(w / w.sum() if w.sum() > 0 else np.full(len(w), 1 / len(w)), dtype=np.float32)


def _weighted_shares(Z: Singles, w: Singles) -> Singles:
    """Weighted mean of the fibres of each task, each counted as that part of a label that it is: vote shares less 1/K.

    Without the last, tasks with few labels would have a truth near zero, and the next completion would ignore it.
    """
    basis = _basis(Z.shape[2] + 1)
    K = basis.shape[1]
    parts = np.abs(Z @ basis).sum(axis=2) * np.float32(K / (2 * (K - 1)))  # one for a label given, zero for "unknown"
    return np.asarray(np.tensordot(w, Z, (0, 1)) / np.maximum(parts @ w, 1e-12)[:, None], dtype=np.float32)

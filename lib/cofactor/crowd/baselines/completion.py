"""PG-TAC and CRIAV: complete the labels that nobody gave, then let all of them vote.

    symbol   meaning                                                              shape
    Y        labels less 1/K, one-hot fibres; zero where there is no label        (N, P, K)
    Omega    fibres that are known                                                (N, P)
    T        completed labels, less 1/K                                           (N, P, K)
    g        class scores of the tasks: the extra, last slice of Y in PG-TAC      (N, K)
    w        reliability of the annotators, not negative                          (M,)

P = M annotators, in PG-TAC one more. With 1/K taken off, "unknown" is zero and says nothing for any class; fibres then
sum to zero, and singular value thresholding of any unfolding keeps that.

Source: Zhou and He, "Crowdsourcing via tensor augmentation and completion", IJCAI 2016, for PG-TAC, and Li and Jiang,
2018, for CRIAV, as the ICML 2021 paper compares with them. Both are reconstructions from the ideas: the originals could
not be had, so that levels of error can be compared but not details.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import CofactorError
from cofactor.core.result import History, Result
from cofactor.core.simplex import project_to_simplex
from cofactor.crowd.base import Floats, TaskScorer, vote_shares
from cofactor.crowd.labels import CrowdLabels

Singles = NDArray[np.float32]  # labels are 0 or 1 and scores are compared: seven digits do, at half the memory
Mask = NDArray[np.bool_]

SHARES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02)  # penalties tried, as shares of the largest singular value
HELD_OUT = 0.1  # of the labels, to choose among them
SAMPLE = 2000  # tasks on which the choice is made
MOST_CELLS = 100_000_000


class _Completion(TaskScorer):
    """What both methods share: the penalty is chosen on held-out labels, then all labels are completed."""

    def __init__(self, em: bool = False, random_state: int | None = None, verbose: bool = False) -> None:
        super().__init__(em=em, random_state=random_state, verbose=verbose)

    def _choose(self, Y: Singles, known: Mask, complete: Callable[[Singles, Mask, float], Singles]) -> float:
        """Return the share in SHARES whose completion comes nearest to labels it was not shown."""
        rng = np.random.default_rng(0 if self.random_state is None else self.random_state)
        rows = np.sort(rng.permutation(len(Y))[:SAMPLE])
        Y, known = Y[rows], known[rows]
        hidden = known & (rng.random(known.shape) < HELD_OUT)
        shown = known & ~hidden
        if not hidden.any() or not shown.any():
            return SHARES[0]
        masked = Y * shown[:, :, None]
        errors = [float(((complete(masked, shown, share) - Y)[hidden] ** 2).sum()) for share in SHARES]
        return SHARES[int(np.argmin(errors))]


class PGTAC(_Completion):
    """PG-TAC: complete annotator x task x class labels together with a slice for the truth.

        min over T  1/2 ||P_Omega(T - Y)||^2 + mean over the unfoldings i of lambda_i ||T_(i)||_*

    by accelerated proximal gradient: a step on the known fibres, singular value thresholding of the task, annotator
    and class unfoldings, their average, fibres projected onto the simplex. The truth slice starts at the vote shares;
    after each completion it becomes the mean of the annotator slices, given labels as given, weighted with w_m, the
    share of m's labels that agree with the slice above chance, and with how much of a label a fibre is.

    Parameters
    ----------
    em : bool
        Refine by expectation-maximisation.
    random_state : int, optional
        Draws the held-out labels; None is 0.
    verbose : bool

    Raises (in `fit`)
    -----------------
    CofactorError
        No task has a label, or the completed tensor would pass 100 million cells.

    Cost: O(N M K (M + min(N, M K))) time per step, three Gram matrices; O(N M K) memory in single precision.

    Source: Zhou and He, IJCAI 2016, reconstructed (see the module). lambda_i is a share of the largest singular value
    of the unfolding of Y; one share for all three is chosen on 10 % held-out labels of at most 2,000 tasks.
    """

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        Y, known = observed_tensor(labels)
        start = np.asarray(vote_shares(labels) - 1 / labels.n_classes, dtype=np.float32)
        Y, known = np.concatenate([Y, start[:, None]], axis=1), np.column_stack([known, known.any(axis=1)])
        share = self._choose(Y, known, lambda Y, shown, share: complete_tensor(Y, shown, share, steps=10))
        T = np.zeros_like(Y)
        history = History("PG-TAC", max_iter=20, tol=1e-3, verbose=self.verbose)
        for _ in history:
            T = complete_tensor(Y, known, share, steps=5, start=T)
            filled = np.where(known[:, :-1, None], Y[:, :-1], T[:, :-1])
            g = _weighted_shares(filled, reliability(Y[:, :-1], known[:, :-1], Y[:, -1]))
            change = float(np.linalg.norm(g - Y[:, -1])) / max(float(np.linalg.norm(Y[:, -1])), 1e-12)
            Y[:, -1] = g * known[:, -1:]
            history.record(float(((T - Y)[known] ** 2).sum()) / 2, change=change)
        return _probabilities(Y[:, -1]), history.result()


class CRIAV(_Completion):
    """CRIAV: complete the 0/1 matrix of each class by itself, then weighted votes of all completed labels.

        Z_c = argmin 1/2 ||P_Omega(Z - Y_c)||^2 + lambda_c ||Z||_*          (soft-impute, warm starts)
        g = sum_m w_m Z_m,  w_m = share of m's labels that agree with argmax g, above chance, until g settles

    Labels that were given vote as given.

    Parameters and errors as for `PGTAC`. Cost: O(N M min(N, M)) time per step and class, O(N M K) memory.

    Source: Li and Jiang, 2018, reconstructed (see the module). lambda_c is a share of the largest singular value of
    Y_c, one share for all classes, chosen on 10 % held-out labels of at most 2,000 tasks.
    """

    def _score(self, labels: CrowdLabels) -> tuple[Floats, Result]:
        Y, known = observed_tensor(labels)
        share = self._choose(Y, known, complete_classes)
        Z = np.where(known[:, :, None], Y, complete_classes(Y, known, share))
        g = np.asarray(vote_shares(labels) - 1 / labels.n_classes, dtype=np.float32)
        history = History("CRIAV", max_iter=100, tol=0.0, verbose=self.verbose)
        for _ in history:
            sure = _decided(g) - np.float32(1 / labels.n_classes)
            new = reliability(Y, known, sure) @ Z
            moved = float(np.mean(np.argmax(new, axis=1) != np.argmax(g, axis=1)))
            history.record(moved, change=moved)
            g = new
        return _probabilities(g), history.result()


def observed_tensor(labels: CrowdLabels) -> tuple[Singles, Mask]:
    """Return Y (N, M, K) in single precision and the (N, M) mask of labels given.

    Raises `CofactorError` if there are none, or more than 100 million cells.
    """
    if not labels.n_labels:
        raise CofactorError("no task has a label")
    table, shape = labels.table, (labels.n_tasks, labels.n_workers, labels.n_classes)
    if np.prod(shape, dtype=np.float64) > MOST_CELLS:
        raise CofactorError(
            f"{shape[0]} tasks by {shape[1]} workers by {shape[2]} classes are too many to complete: "
            "take fewer workers (labels.busiest_workers), or use MV-EM or RobSymNMF"
        )
    Y, known = np.zeros(shape, dtype=np.float32), np.zeros(shape[:2], dtype=bool)
    known[table.rows, table.variables] = True
    Y[known] = -1 / shape[2]
    Y[table.rows, table.variables, table.values] += 1
    return Y, known


def complete_tensor(Y: Singles, known: Mask, share: float, steps: int, start: Singles | None = None) -> Singles:
    """Take accelerated proximal gradient steps on the problem of `PGTAC`, lambda_i = share times the largest s_i."""
    penalties = [share * _norm(unfolded) for unfolded in _unfoldings(Y)]
    T = S = np.zeros_like(Y) if start is None else start
    t = 1.0
    for _ in range(steps):
        S = np.where(known[:, :, None], Y, S)
        new = _refold([shrink(X, lam) for X, lam in zip(_unfoldings(S), penalties, strict=True)], Y.shape)
        new = _to_simplex(new)
        t, last = (1 + np.sqrt(1 + 4 * t**2)) / 2, t
        S, T = new + np.float32((last - 1) / t) * (new - T), new
    return T


def _unfoldings(T: Singles) -> tuple[Singles, Singles, Singles]:
    """Tasks by the rest, annotators by the rest, the rest by classes; only the second copies."""
    N, P, K = T.shape
    return T.reshape(N, P * K), T.transpose(1, 0, 2).reshape(P, N * K), T.reshape(N * P, K)


def _refold(parts: list[Singles], shape: tuple[int, ...]) -> Singles:
    """The mean of three unfoldings as a tensor."""
    N, P, K = shape
    mean = parts[0].reshape(N, P, K) + parts[1].reshape(P, N, K).transpose(1, 0, 2) + parts[2].reshape(N, P, K)
    return mean / np.float32(3)


def complete_classes(Y: Singles, known: Mask, share: float, steps: int = 10) -> Singles:
    """Soft-impute the (N, M) matrix of each class down the path of penalties to `share`; (N, M, K)."""
    completed = np.zeros_like(Y)
    path = [value for value in SHARES if value >= share]
    for c in range(Y.shape[2]):
        Z, top = np.zeros(known.shape, dtype=np.float32), _norm(Y[:, :, c])
        for value in path:
            for _ in range(steps):
                Z = shrink(np.where(known, Y[:, :, c], Z), value * top)
        completed[:, :, c] = Z
    return _to_simplex(completed - completed.mean(axis=2, keepdims=True))


def shrink(X: Singles, penalty: float) -> Singles:
    """Lower every singular value of X by `penalty`, none below zero: the proximal operator of the nuclear norm.

    Through the Gram matrix of the shorter side; O(a b min(a, b)). Singular values below about 1e-3 of the largest are
    rounding in single precision, and penalties are well above.

    >>> shrink(np.diag([3.0, 1.0]).astype(np.float32), 2.0).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    wide = X.shape[0] <= X.shape[1]
    squares, V = np.linalg.eigh(_gram(X))
    kept = squares > penalty**2
    V, s = V[:, kept].astype(np.float32), np.sqrt(squares[kept])
    scaled = V * ((s - penalty) / s).astype(np.float32)
    return scaled @ (V.T @ X) if wide else (X @ V) @ scaled.T


def _gram(X: Singles) -> Floats:
    return np.asarray(X @ X.T if X.shape[0] <= X.shape[1] else X.T @ X, dtype=np.float64)


def _norm(X: Singles) -> float:
    """The largest singular value."""
    return float(np.sqrt(max(np.linalg.eigvalsh(_gram(X))[-1], 0.0)))


def _to_simplex(T: Singles) -> Singles:
    """Project the fibres that are no distribution once 1/K is added back."""
    K = T.shape[2]
    bad = T.min(axis=2) < -1 / K
    if bad.any():
        T[bad] = (project_to_simplex(T[bad].T.astype(np.float64) + 1 / K) - 1 / K).T.astype(np.float32)
    return T


def reliability(Y: Singles, known: Mask, g: Singles) -> Singles:
    """Return (M,) weights summing to one: mean over m's labels of the score g less chance, clipped at zero."""
    agreement = np.einsum("nmk,nk->m", Y, g) / np.maximum(known.sum(axis=0), 1)
    w = np.maximum(agreement, 0.0)
    return np.asarray(w / w.sum() if w.sum() > 0 else np.full(len(w), 1 / len(w)), dtype=np.float32)


def _weighted_shares(Z: Singles, w: Singles) -> Singles:
    """Weighted mean of the fibres of each task, each counted as that part of a label that it is: vote shares less 1/K.

    Without the last, tasks with few labels would have a truth near zero, and the next completion would ignore it.
    """
    K = Z.shape[2]
    parts = np.abs(Z).sum(axis=2) * np.float32(K / (2 * (K - 1)))  # one for a label given, zero for "unknown"
    total = parts @ w
    return np.asarray((w @ Z) / np.maximum(total, 1e-12)[:, None], dtype=np.float32)


def _decided(g: Singles) -> Singles:
    """One for the class with the largest score, ties shared."""
    top = g >= g.max(axis=1, keepdims=True) - 1e-6
    return np.asarray(top / top.sum(axis=1, keepdims=True), dtype=np.float32)


def _probabilities(g: Singles) -> Floats:
    """Scores that are zero for "unknown", as class probabilities."""
    return project_to_simplex(g.T.astype(np.float64) + 1 / g.shape[1]).T

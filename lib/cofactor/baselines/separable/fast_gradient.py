"""FastGradient: the self-dictionary in full, N x N coefficients by accelerated projected gradient.

Model: X ~ X C, and column j of X is an anchor as far as C_jj is large: no entry of row j of C is larger, up to the
size of columns. Here to show what the full problem costs; `merit` finds anchors in linear memory.

    symbol   meaning                                                  shape
    C        coefficients                                             (N, N)
    Y        extrapolated coefficients                                (N, N)
    w        l1 norms of the columns of X                             (N,)
    p        weights of the diagonal, 1 but for a small random part   (N,)
    nu       weight of p'diag(C)
    L        Lipschitz constant ||X||_2^2
    a, b     acceleration: momentum, and how far Y runs ahead

Source: Gillis and Luce, "A fast gradient method for nonnegative sparse regression with self-dictionary", IEEE TIP
2018, Algorithms 1 and 2, with the defaults of their released code.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.checks import check_positive, check_whole, rng_of
from cofactor.core.lazy import njit
from cofactor.core.result import Result, progress
from cofactor.core.spa import require_anchors, spa
from cofactor.core.types import Floats, Indices, Seed
from cofactor.separable.base import AnchorFit, Matrix, dense_points
from cofactor.separable.columns import columns_used
from cofactor.separable.least_squares import nonnegative_least_squares
from cofactor.separable.memory import require_memory
from cofactor.separable.methods import AnchorMethod
from cofactor.separable.selection import top_rows

MOMENTUM = 0.05  # a at the start and after every restart
P_SPREAD = 0.01  # p is uniform on 1 -+ half of this, so that equal columns do not share their diagonal
RESIDUAL_FLOOR = 1e-3  # added to the squared residual that sets nu
CACHED = 2**17  # numbers of a block of rows: two blocks, of C and B, stay in the processor's cache
CHANGE = 0.1  # how much nu changes at a restart, halved at each change of direction


def fast_gradient(
    X: Matrix,
    n_anchors: int,
    nu: float | None = None,
    max_iter: int = 150,
    random_state: Seed = None,
    verbose: bool = False,
) -> AnchorFit:
    """Find anchors from the diagonal of dense self-dictionary coefficients.

        min over C of 1/2 ||X - X C||_F^2 + nu p'diag(C),   0 <= w_j C_ji <= w_i C_jj,  C_jj <= 1

    by accelerated gradient steps of length 1 / L from C = 0, each projected row by row; the momentum starts over when
    the objective has risen, and nu is then moved so that the trace of C approaches K / 2 + 1.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column, finite.
    n_anchors : int in [1, N]
    nu : float > 0, optional
        Default: (||X - X_K H||_F^2 + 0.001) / sum of p over K, K the anchors of SPA, H nonnegative least squares.
    max_iter : int
        Steps.
    random_state : int, Generator or None
        Draws p.
    verbose : bool
        Show a progress bar on a terminal.

    The scores are the diagonal of C. Raises `CofactorError` where the memory it would take is not there (the bytes are
    named), X holds NaN or infinity or is zero everywhere, or n_anchors or max_iter is out of range. Cost: 4 M N^2 flops
    per step, 2 N x N matrices of doubles and the coefficients that are not zero, see `predicted_bytes`.

    Source: Gillis and Luce 2018, as released. Deviations: the projection of a row is exact, by Newton's method on its
    one breakpoint, where the released code sorts and tolerates violations of 1e-8; H is exact instead of 500 sweeps;
    X'X is never formed; columns of zeros are left out. `tests/oracles` holds the projection as a quadratic programme.

    Examples
    --------
    >>> fit = fast_gradient([[1.0, 0.0, 0.0, 0.5, 0.4], [0.0, 1.0, 0.0, 0.5, 0.3], [0.0, 0.0, 1.0, 0.0, 0.3]], 3)
    >>> sorted(fit.anchors.tolist())
    [0, 1, 2]
    """
    whole = dense_points(X)
    require_anchors(n_anchors, whole.shape[1])
    check_whole(1, max_iter=max_iter)
    if nu is not None:
        check_positive(zero=True, nu=nu)
    require_memory("FastGradient", whole.shape[0], whole.shape[1], n_anchors, max_iter)
    columns = columns_used(whole)
    points = np.ascontiguousarray(columns.points)
    p = 1 + P_SPREAD * (rng_of(random_state).random(columns.used.size) - 0.5)
    found = spa(points, min(n_anchors, columns.used.size))
    square = 4.0**columns.exponent
    weight = _first_weight(points, found, p, RESIDUAL_FLOOR / square) if nu is None else nu / square
    C, objective = _descend(points, p, weight, min(n_anchors / 2 + 1, len(found)), max_iter, verbose)
    scores = np.diagonal(C).copy()
    result = Result(square * objective, max_iter, True, f"made the {max_iter} steps asked for")
    anchors = columns.used[top_rows(scores, n_anchors)]
    return AnchorFit(anchors, columns.expand_scores(scores), columns.expand(_sparse(C)), result)


def _first_weight(X: Floats, anchors: Indices, p: Floats, floor: float) -> float:
    W = X[:, anchors]
    rest = np.linalg.norm(X - W @ nonnegative_least_squares(W, X)) ** 2
    return float((rest + floor) / p[anchors].sum())


def _descend(
    X: Floats, p: Floats, nu: float, trace: float, max_iter: int, verbose: bool = False
) -> tuple[Floats, Floats]:
    """Make max_iter accelerated steps; C, and the objective after each. Y is C + b (C - B), B the C of before."""
    N = X.shape[1]
    C, B = np.zeros((N, N)), np.zeros((N, N))
    XC = XY = np.zeros_like(X)
    w, L = np.abs(X).sum(axis=0), float(np.linalg.norm(X, 2)) ** 2
    a, b, change, restarted = MOMENTUM, 0.0, CHANGE, False
    fall: bool | None = None
    objective: list[float] = []
    last = np.inf
    for _ in progress(range(max_iter), "FastGradient", verbose):
        XB, XC = XC, _step(X, XY - X, C, B, b, (p, w, nu, L))
        B, C = C, B
        fit, diagonal = float(np.sum((X - XC) ** 2)) / 2, float(p @ np.diagonal(C))
        objective.append(fit + nu * diagonal)
        restarted = objective[-1] > last and not restarted
        if restarted:
            a, b = MOMENTUM, 0.0
            small = bool(np.trace(C) < trace)
            change = change / 2 if fall is not None and small != fall else change
            nu, fall = nu * (1 - change if small else 1 + change), small
        else:
            a, b = _momentum(a)
        XY = XC + b * (XC - XB)
        last = fit + nu * diagonal
    return C, np.array(objective)


def _step(X: Floats, R: Floats, C: Floats, B: Floats, b: float, weights: tuple[Floats, Floats, float, float]) -> Floats:
    """Write the projection of Y - (X'R + nu diag(p)) / L over B, Y = C + b (C - B); X times it.

    It goes by as many rows as the processor's cache holds, so that C and B pass through memory once.
    """
    N, product = X.shape[1], np.zeros_like(X)
    rows = max(1, CACHED // N)
    for start in range(0, N, rows):
        some = X[:, start : start + rows]
        _projected_rows(some.T @ R, C[start:], B[start:], b, start, *weights)
        product += some @ B[start : start + rows]
    return product


def _momentum(a: float) -> tuple[float, float]:
    after = (np.sqrt(a**4 + 4 * a**2) - a**2) / 2
    return after, a * (1 - a) / (a**2 + after)


def _sparse(C: Floats) -> sparse.csc_array:
    """Return C without its zeros; scipy's own way holds five times as much in between."""
    indptr = np.append(0, np.cumsum(np.count_nonzero(C, axis=0)))
    index = np.int32 if indptr[-1] <= np.iinfo(np.int32).max else np.int64
    data, rows = np.empty(indptr[-1]), np.empty(indptr[-1], index)
    _fill(C, indptr[:-1].copy(), data, rows)
    indptr = indptr.astype(index)  # the same as of rows, or scipy copies these
    return sparse.csc_array((data, rows, indptr), shape=C.shape)


@njit(cache=True, nogil=True)
def _fill(C: Floats, place: Indices, data: Floats, rows: NDArray[np.integer]) -> None:
    """Write the entries of C by columns; `place` is where the next one of each column goes."""
    for n in range(len(C)):
        for l in range(len(C)):
            if C[n, l] != 0:
                data[place[l]], rows[place[l]] = C[n, l], n
                place[l] += 1


@njit(cache=True, nogil=True)
def _projected_rows(
    G: Floats, C: Floats, B: Floats, b: float, start: int, p: Floats, w: Floats, nu: float, L: float
) -> None:
    """Overwrite the first rows of B, from row `start` of the whole on, by their projected step; G is X'R of them."""
    for k in range(len(G)):
        row, gradient, present, j = B[k], G[k], C[k], start + k
        for i in range(len(row)):
            row[i] = (present[i] - row[i]) * b + present[i] - gradient[i] / L
        row[j] -= nu * p[j] / L
        project_row(row, j, w)


@njit(cache=True, nogil=True, fastmath={"reassoc"})  # sums in any order: the processor adds several at once
def project_row(y: Floats, j: int, w: Floats) -> None:
    """Project row j, in place, on 0 <= y_i <= w_i t for i != j and y_j = w_j t with 0 <= t <= 1 / w_j.

    The derivative in t, w_j (w_j t - y_j) + sum over y_i > w_i t of w_i (w_i t - y_i), rises and is concave: Newton's
    method from the left ends after as many passes as breakpoints are crossed at once, a few.
    """
    own, y[j] = y[j], 0.0  # which is above no w_j t
    t, rising = max(own / w[j], 0.0), True
    while rising:
        top, bottom = w[j] * own, w[j] * w[j]
        for i in range(len(y)):
            above = w[i] if y[i] > w[i] * t else 0.0
            top += above * y[i]
            bottom += above * w[i]
        rising = top / bottom > t
        t = max(t, top / bottom)
    t = min(t, 1.0 / w[j])
    for i in range(len(y)):
        y[i] = min(max(y[i], 0.0), w[i] * t)
    y[j] = w[j] * t


@dataclass(eq=False, repr=False, kw_only=True)
class FastGradient(AnchorMethod):
    """The N x N self-dictionary of columns, by projected gradient. Parameters, cost, source: see `fast_gradient`."""

    nu: float | None = None
    max_iter: int = 150

    def _find(self, X: Floats) -> AnchorFit:
        taking_part, K = self._chosen(X)
        found = fast_gradient(X[:, taking_part], K, self.nu, self.max_iter, self.random_state, self.verbose)
        return found.expanded(taking_part, X.shape[1])

"""The linear step of MERIT: for every column the cheapest row of its gradient, without ever storing a gradient.

The gradient of column l is g_n = x_n'r_l + y_nl. A BLAS product per tile of columns gives rough scores (X carries the
base penalties p as one more row, the residuals a one), their minimum over lanes is compiled. Rough scores err by at
most

    e_l = eps (M + 8) (max_n ||x_n|| ||r_l|| + max_n y_nl),

so that the least one lies within 2 e_l of the rough minimum: these few are scored again in double precision, one term
after the other, and the lowest index wins a tie. The choice hence depends neither on the precision of the rough
scores, nor on BLAS, nor on the number of threads.

    symbol   meaning                                                shape
    x_n      points, one per row                                    (N, M)
    r_l      residual X c_l - x_l                                   (N, M)
    C        coefficients: scale * weights at rows, by column       N lists
    m_n      peak of row n of C
    S_n      sum over l of exp((C_nl - m_n) / mu)
    y_nl     penalty lam exp((C_nl - m_n) / mu) / S_n; p_n where C_nl = 0
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numba import njit
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Ints32 = NDArray[np.int32]

LANES = 256  # rough minima kept per column; a lane holds every 256th row
TILE_BYTES = 8_000_000  # rough scores held at a time, per thread
VANISHED = -700.0  # exp of less than this counts as zero
FITTED = 1e-24  # a squared residual of this share of the squared length is rounding


@dataclass
class Coefficients:
    """C by columns: C[rows[l, e], l] = scale * weights[l, e] for e < count[l], in arrays that grow when full."""

    rows: Ints32
    weights: Floats
    count: Ints32
    scale: float = 1.0

    @classmethod
    def empty(cls, n_points: int, capacity: int) -> Coefficients:
        """Return C = 0 with room for `capacity` entries per column."""
        shape = n_points, capacity
        return cls(np.empty(shape, np.int32), np.empty(shape), np.zeros(n_points, np.int32))

    def peaks(self) -> Floats:
        """Return the largest entry of every row."""
        peak = np.zeros(len(self.count))
        _row_peaks(self.rows, self.weights, self.count, self.scale, peak, np.zeros(len(peak), np.int64))
        return peak

    def to_sparse(self) -> sparse.csc_array:
        """Return C as a sparse matrix, rows rising in every column."""
        stored = np.arange(self.rows.shape[1]) < self.count[:, None]
        indptr = np.append(0, np.cumsum(self.count, dtype=np.int64))
        shape = len(self.count), len(self.count)
        C = sparse.csc_array((self.scale * self.weights[stored], self.rows[stored], indptr), shape=shape)
        C.sort_indices()
        return C

    def make_room(self) -> None:
        """Double the capacity when a column is full."""
        used, capacity = int(self.count.max()), self.rows.shape[1]
        if used == capacity:
            more = min(2 * capacity, len(self.count))
            rows, weights = np.empty((len(self.count), more), np.int32), np.empty((len(self.count), more))
            rows[:, :used] = self.rows
            self.rows = rows
            weights[:, :used] = self.weights
            self.weights = weights


@dataclass(frozen=True)
class RowPenalty:
    """The penalty of every row of C: peak m, sum S, base p, and mu; lam of the objective with half the square."""

    peak: Floats
    total: Floats
    base: Floats
    lam: float
    mu: float

    @property
    def value(self) -> float:
        """Phi_mu(C) = sum_n mu log(mean_l exp(C_nl / mu))."""
        return float(np.sum(self.peak + self.mu * np.log(self.total / len(self.total))))


def row_penalty(C: Coefficients, lam: float, mu: float) -> RowPenalty:
    """Sum up the rows of C, the zeros included, shifted by the row maximum so that nothing overflows."""
    N = len(C.count)
    peak, total, stored = np.zeros(N), np.zeros(N), np.zeros(N, np.int64)
    _row_peaks(C.rows, C.weights, C.count, C.scale, peak, stored)
    _row_sums(C.rows, C.weights, C.count, C.scale, mu, peak, total)
    zeros = np.exp(np.maximum(-peak / mu, 2 * VANISHED))
    total += (N - stored) * zeros
    return RowPenalty(peak, total, lam * zeros / total, lam, mu)


@njit(cache=True, nogil=True)
def _row_peaks(
    rows: Ints32, weights: Floats, count: Ints32, scale: float, peak: Floats, stored: NDArray[np.int64]
) -> None:
    for l in range(len(count)):
        for e in range(count[l]):
            n = rows[l, e]
            stored[n] += 1
            peak[n] = max(peak[n], scale * weights[l, e])


@njit(cache=True, nogil=True)
def _row_sums(
    rows: Ints32, weights: Floats, count: Ints32, scale: float, mu: float, peak: Floats, total: Floats
) -> None:
    for l in range(len(count)):
        for e in range(count[l]):
            exponent = (scale * weights[l, e] - peak[rows[l, e]]) / mu
            if exponent > VANISHED:
                total[rows[l, e]] += np.exp(exponent)


class Scorer:
    """Finds the cheapest row of every column's gradient, tile by tile, on `n_threads` threads.

    Keeps the points as rows in double precision and as columns, with a row for p, in the precision of rough scores.
    A column without residual is scored by its penalties alone; with `stay` it keeps to its own rows where they tie.
    """

    def __init__(self, points: Floats, dtype: DTypeLike, n_threads: int, stay: bool) -> None:
        N, M = points.shape
        self.points, self.dtype, self.n_threads, self.stay = points, np.dtype(dtype), n_threads, stay
        self.augmented = np.empty((M + 1, N), dtype)
        self.augmented[:M] = points.T
        self.squares = np.einsum("nm,nm->n", points, points)
        self.error = (M + 8) * float(np.finfo(self.dtype).eps) / 2
        self.longest = float(np.sqrt(self.squares.max()))
        self.tile = max(min(TILE_BYTES // (N * self.dtype.itemsize) // 8 * 8, 256, N), 1)

    def pick(self, residuals: Floats, C: Coefficients, penalty: RowPenalty) -> tuple[NDArray[np.int64], Floats]:
        """Return for every column the row to move to, and the gap r'(r + x) + sum_n C_n y_n - min_n g_n."""
        N = len(residuals)
        self.augmented[-1] = penalty.base
        picks, gaps = np.empty(N, np.int64), np.empty(N)
        cuts = np.linspace(0, N, self.n_threads + 1).astype(int)
        spans = list(pairwise(cuts))
        if self.n_threads == 1:
            self._pick_span(residuals, C, penalty, picks, gaps, spans[0])
        else:
            with ThreadPoolExecutor(self.n_threads) as pool:
                list(pool.map(lambda span: self._pick_span(residuals, C, penalty, picks, gaps, span), spans))
        return picks, gaps

    def _pick_span(
        self,
        residuals: Floats,
        C: Coefficients,
        penalty: RowPenalty,
        picks: NDArray[np.int64],
        gaps: Floats,
        span: tuple[int, int],
    ) -> None:
        M = residuals.shape[1]
        left = np.ones((self.tile, M + 1), self.dtype)
        rough = np.empty((self.tile, len(residuals)), self.dtype)
        for start in range(*span, self.tile):
            stop = min(start + self.tile, span[1])
            left[: stop - start, :M] = residuals[start:stop]
            np.matmul(left[: stop - start], self.augmented, out=rough[: stop - start])
            bounds = (self.error, self.longest, float(penalty.base.max()))
            rows = (penalty.base, penalty.peak, penalty.total, penalty.lam, penalty.mu)
            lists = (C.rows, C.weights, C.count, C.scale, self.stay)
            _resolve(
                rough[: stop - start], start, self.points, self.squares, residuals, bounds, rows, lists, picks, gaps
            )


@njit(cache=True, nogil=True)
def _resolve(rough, start, points, squares, residuals, bounds, rows, lists, picks, gaps):  # type: ignore[no-untyped-def]
    """Turn a tile of rough scores into picks and gaps; the tile is overwritten."""
    error, longest, base_max = bounds
    base = rows[0]
    entries, weights, count, scale, stay = lists
    lanes, y = np.empty(min(LANES, rough.shape[1]), rough.dtype), np.empty(entries.shape[1])
    for i in range(len(rough)):
        l = start + i
        r, x, support = residuals[l], points[l], entries[l, : count[l]]
        fit, cross = _dot(r, r), _dot(r, x)
        y_max, paid = base_max, 0.0
        for e in range(len(support)):
            n = support[e]
            y[e] = _entry_penalty(scale * weights[l, e], n, rows)
            rough[i, n] += y[e] - base[n]
            y_max, paid = max(y_max, y[e]), paid + scale * weights[l, e] * y[e]
        if fit <= FITTED * squares[l]:
            picks[l], score = _cheapest_row(base, support, y, stay)
        else:
            margin = 2 * error * (longest * np.sqrt(fit) + y_max) + 1e-37
            picks[l], score = _least(rough[i], lanes, margin, points, r, base, support, y)
        gaps[l] = fit + cross + paid - score


@njit(cache=True, nogil=True)
def _entry_penalty(c, n, rows):  # type: ignore[no-untyped-def]
    _, peak, total, lam, mu = rows
    exponent = (c - peak[n]) / mu
    return lam * np.exp(exponent) / total[n] if exponent > VANISHED else 0.0


@njit(cache=True, nogil=True)
def _cheapest_row(base, support, y, stay):  # type: ignore[no-untyped-def]
    """Row of least penalty; the lowest index on ties, or with `stay` one of the column's own."""
    best, least = -1, np.inf
    for e in range(len(support)):
        if y[e] < least or (y[e] == least and support[e] < best):
            best, least = support[e], y[e]
    for n in range(len(base)):
        if (base[n] < least or (base[n] == least and n < best and not stay)) and not (support == n).any():
            best, least = n, base[n]
    return best, least


@njit(cache=True, nogil=True)
def _least(rough, lanes, margin, points, r, base, support, y):  # type: ignore[no-untyped-def]
    """Score in double precision whatever is within the margin of the rough minimum; lowest index on ties."""
    _lane_minima(rough, lanes)
    limit = lanes.min() + margin
    best, least = -1, np.inf
    for lane in range(len(lanes)):
        if lanes[lane] <= limit:
            for n in range(lane, len(rough), len(lanes)):
                if rough[n] <= limit:
                    score = _dot(points[n], r) + base[n]
                    for e in range(len(support)):
                        if support[e] == n:
                            score += y[e] - base[n]
                    if score < least or (score == least and n < best):
                        best, least = n, score
    return best, least


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _lane_minima(rough, lanes):  # type: ignore[no-untyped-def]
    """lanes[i] = min over k of rough[i + k len(lanes)], four rows of lanes at a time."""
    width = len(lanes)
    whole = len(rough) // width
    lanes[:] = rough[:width]
    k = 1
    while k + 4 <= whole:
        a, b = rough[k * width : (k + 1) * width], rough[(k + 1) * width : (k + 2) * width]
        c, d = rough[(k + 2) * width : (k + 3) * width], rough[(k + 3) * width : (k + 4) * width]
        for i in range(width):
            lanes[i] = min(lanes[i], min(min(a[i], b[i]), min(c[i], d[i])))
        k += 4
    rest = rough[k * width :]
    for i in range(len(rest)):
        lanes[i % width] = min(lanes[i % width], rest[i])


@njit(cache=True, nogil=True)
def _dot(a, b):  # type: ignore[no-untyped-def]
    """a'b, one term after the other: the same to the last bit whoever asks."""
    total = 0.0
    for m in range(len(a)):
        total += a[m] * b[m]
    return total


@njit(cache=True, nogil=True)
def take_step(points, residuals, rows, weights, count, picks, alpha, scale):  # type: ignore[no-untyped-def]
    """Move every column by alpha towards its pick; `scale` is the one after the step. Returns sum ||r||^2."""
    fit = 0.0
    for l in range(len(picks)):
        j, x, r = picks[l], points[l], residuals[l]
        if alpha == 1:
            count[l] = 0
        e = 0
        while e < count[l] and rows[l, e] != j:
            e += 1
        if e == count[l]:
            rows[l, e], weights[l, e] = j, 0.0
            count[l] += 1
        weights[l, e] += alpha / scale
        for m in range(len(r)):
            r[m] = (1 - alpha) * r[m] + alpha * (points[j, m] - x[m])
            fit += r[m] * r[m]
    return fit

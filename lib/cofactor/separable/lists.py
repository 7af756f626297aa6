"""Coefficients as a list of entries per column, the penalty of their rows, and a step of Frank-Wolfe on them.

symbol   meaning                                                shape
C        coefficients: scale * weights at rows, by column       N lists
m_n      peak of row n of C                                     (N,)
S_n      sum over l of exp((C_nl - m_n) / mu), zeros included   (N,)
y_nl     penalty lam exp((C_nl - m_n) / mu) / S_n
p_n      the same where C_nl = 0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.lazy import njit
from cofactor.core.types import Floats

Ints32 = NDArray[np.int32]

CAPACITY = 16  # entries per column that lists start with
LEAST_EXPONENT = -700.0  # exp of less than this counts as zero


class Entries(NamedTuple):
    """C for compiled loops: C[rows[l, e], l] = scale * weights[l, e] for e < count[l]."""

    rows: Ints32
    weights: Floats
    count: Ints32  # type: ignore[assignment]  # tuple.count is not missed
    scale: float


class RowPenalty(NamedTuple):
    """The penalty of the rows of C, of lam Phi_mu(C) = lam sum_n mu log(mean_l exp(C_nl / mu))."""

    base: Floats  # p
    peak: Floats  # m
    total: Floats  # S
    lam: float
    mu: float


@dataclass
class Coefficients:
    """C as `entries`, in arrays that grow when a column is full."""

    entries: Entries

    @classmethod
    def empty(cls, n_points: int, capacity: int) -> Coefficients:
        """Return C = 0 with room for `capacity` entries per column."""
        shape = n_points, capacity
        return cls(Entries(np.empty(shape, np.int32), np.empty(shape), np.zeros(n_points, np.int32), 1.0))

    @classmethod
    def from_sparse(cls, C: sparse.csc_array, room: int) -> Coefficients:
        """Return the entries of C, with room for more in every column."""
        count = np.diff(C.indptr)
        lists = cls.empty(len(count), int(count.max()) + room)
        rows, weights, counts, _ = lists.entries
        column, place = np.repeat(np.arange(len(count)), count), np.arange(C.nnz) - np.repeat(C.indptr[:-1], count)
        rows[column, place], weights[column, place] = C.indices, C.data
        counts[:] = count
        return lists

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return int(self.entries.count.sum())

    def peaks(self) -> Floats:
        """Return the largest entry of every row."""
        return _row_peaks(self.entries)[0]

    def to_sparse(self) -> sparse.csc_array:
        """Return C as a sparse matrix, rows rising in every column."""
        rows, weights, count, scale = self.entries
        stored = np.arange(rows.shape[1]) < count[:, None]
        indptr = np.append(0, np.cumsum(count, dtype=np.int64))
        C = sparse.csc_array((scale * weights[stored], rows[stored], indptr), shape=(len(count), len(count)))
        C.sort_indices()
        return C

    def step(self, points: Floats, residuals: Floats, picks: NDArray[np.int64], alpha: float) -> float:
        """Move every column, and its residual, by alpha towards its pick; return the sum of squared residuals."""
        self._make_room()
        scale = self.entries.scale * (1 - alpha) if alpha < 1 else 1.0
        self.entries = self.entries._replace(scale=scale)
        return float(_take_step(self.entries, points, residuals, picks, alpha))

    def _make_room(self) -> None:
        """Double the capacity when a column is full."""
        rows, weights, count, scale = self.entries
        used, capacity = int(count.max()), rows.shape[1]
        if used == capacity:
            more = np.zeros((len(count), min(capacity, len(count) - capacity + 1)), np.int32)
            self.entries = Entries(np.hstack([rows, more]), np.hstack([weights, more]), count, scale)


def row_penalty(C: Coefficients, lam: float, mu: float) -> tuple[RowPenalty, float]:
    """Sum up the rows of C, shifted by their peaks so that nothing overflows; their penalty, and Phi_mu(C)."""
    peak, stored = _row_peaks(C.entries)
    zeros: Floats = np.exp(np.maximum(-peak / mu, 2 * LEAST_EXPONENT))
    total = (len(peak) - stored) * zeros
    _add_row_sums(C.entries, mu, peak, total)
    value = float(np.sum(peak + mu * np.log(total / len(peak))))
    return RowPenalty(lam * zeros / total, peak, total, lam, mu), value


@njit(cache=True, nogil=True)
def _row_peaks(C: Entries) -> tuple[Floats, NDArray[np.int64]]:
    """Return the largest entry of every row, and how many entries it has."""
    peak, stored = np.zeros(len(C.count)), np.zeros(len(C.count), np.int64)
    for l in range(len(C.count)):
        for e in range(C.count[l]):
            n = C.rows[l, e]
            stored[n] += 1
            peak[n] = max(peak[n], C.scale * C.weights[l, e])
    return peak, stored


@njit(cache=True, nogil=True)
def _add_row_sums(C: Entries, mu: float, peak: Floats, total: Floats) -> None:
    for l in range(len(C.count)):
        for e in range(C.count[l]):
            exponent = (C.scale * C.weights[l, e] - peak[C.rows[l, e]]) / mu
            if exponent > LEAST_EXPONENT:
                total[C.rows[l, e]] += np.exp(exponent)


@njit(cache=True, nogil=True)
def entry_penalty(C: Entries, penalty: RowPenalty, l: int, e: int) -> float:
    """Return y of entry e of column l."""
    n = C.rows[l, e]
    exponent = (C.scale * C.weights[l, e] - penalty.peak[n]) / penalty.mu
    return penalty.lam * np.exp(exponent) / penalty.total[n] if exponent > LEAST_EXPONENT else 0.0


@njit(cache=True, nogil=True)
def _take_step(C: Entries, points: Floats, residuals: Floats, picks: NDArray[np.int64], alpha: float) -> float:
    fit = 0.0
    for l in range(len(picks)):
        j, x, r = picks[l], points[l], residuals[l]
        if alpha == 1:
            C.count[l] = 0
        e = 0
        while e < C.count[l] and C.rows[l, e] != j:
            e += 1
        if e == C.count[l]:
            C.rows[l, e], C.weights[l, e] = j, 0.0
            C.count[l] += 1
        C.weights[l, e] += alpha / C.scale
        for m in range(len(r)):
            r[m] = (1 - alpha) * r[m] + alpha * (points[j, m] - x[m])
            fit += r[m] * r[m]
    return fit

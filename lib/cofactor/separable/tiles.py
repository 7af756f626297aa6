"""The linear step of MERIT: for every column the least entry of its gradient, without ever storing a gradient.

The fast version of `least_of_gradient` in `cofactor.plain.merit`, which forms the gradient 500 columns at a time.

The gradient of column l (half of the plain one) is g_n = x_n'r_l + y_nl. A BLAS product per tile of columns and block
of rows gives rough scores (X carries the base penalties p as one more row, the residuals a one); compiled code folds a
block, while it is in the cache, into the least score of every column and forgets it. Rough scores err by at most

    e_l = eps (M + 8) (max_n ||x_n|| ||r_l|| + max_n y_nl),

so that the least one lies within 2 e_l of the rough minimum: whatever does is scored again in double precision, one
term after the other, and the lowest index wins a tie. The choice hence depends neither on the precision of the rough
scores, nor on BLAS, nor on the number of threads.

x_n and r_l = X c_l - x_l are rows of (N, M) arrays; C, m_n, S_n, y_nl and p_n are those of `lists`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cofactor.core.lazy import njit
from cofactor.core.types import Floats
from cofactor.separable.lists import Coefficients, Entries, RowPenalty, entry_penalty

Rough = NDArray[np.float32] | Floats
Picks = NDArray[np.int64]

LANES = 64  # rough minima kept per column of a block; a lane holds every 64th row
# columns and rows scored at a time: 1.5 MB of rough scores, which stay in the cache
TILE_COLUMNS = 384
BLOCK_ROWS = 1024
# the same where X has fewer rows than this, and the product costs little
THIN_ROWS = 16
THIN_TILE = 32
THIN_BLOCK = 2048
CACHE_LINE = 64  # bytes
FITTED = 1e-24  # a squared residual of this share of the squared length is rounding
UNDERFLOW = 1e-35  # what products that fall below the range of single precision may add up to


class Scan(NamedTuple):
    """What compiled loops read in one step."""

    points: Floats
    residuals: Floats
    squares: Floats  # squared lengths of points
    blocks: Rough  # points as columns, with a row for p: (blocks, M + 1, points of a block)
    C: Entries
    penalty: RowPenalty
    error: float  # of a rough score, as a share of max ||x|| ||r|| + max y
    longest: float  # max ||x||
    base_max: float  # max p
    tile: int
    prefer_stored: bool


class GradientTiles:
    """Finds the least entry of every column of the gradient, tile by tile, on `n_threads` threads.

    Keeps the points as rows in double precision and, in blocks, as columns in the precision of rough scores. A column
    without residual is scored by its penalties alone; with `prefer_stored`, a row that C stores there wins a tie.
    """

    def __init__(self, points: Floats, dtype: DTypeLike, n_threads: int, prefer_stored: bool) -> None:
        N, M = points.shape
        self.points, self.n_threads, self.prefer_stored = points, n_threads, prefer_stored
        self.tile, block = (TILE_COLUMNS, BLOCK_ROWS) if M >= THIN_ROWS else (THIN_TILE, THIN_BLOCK)
        self.ends = range(block, N, block)
        self.blocks = np.zeros((len(self.ends) + 1, M + 1, min(block, N)), dtype)
        for rows, columns in zip(np.split(points, self.ends), self.blocks, strict=True):
            columns[:M, : len(rows)] = rows.T
        self.squares = np.einsum("nm,nm->n", points, points)
        self.error = (M + 8) * float(np.finfo(self.blocks.dtype).eps) / 2

    def least_of_gradient(self, residuals: Floats, C: Coefficients, penalty: RowPenalty) -> tuple[Picks, Floats]:
        """Return for every column the row to move to, and the gap r'(r + x) + sum_n C_n y_n - min_n g_n."""
        N = len(residuals)
        for base, columns in zip(np.split(penalty.base, self.ends), self.blocks, strict=True):
            columns[-1, : len(base)] = base
        longest, base_max = float(np.sqrt(self.squares.max())), float(penalty.base.max())
        arrays = self.points, residuals, self.squares, self.blocks, C.entries, penalty
        scan = Scan(*arrays, self.error, longest, base_max, self.tile, self.prefer_stored)
        picks, gaps = np.zeros(N, np.int64), np.empty(N)
        first, *others = pairwise(np.linspace(0, N, self.n_threads + 1).astype(int).tolist())
        with ThreadPoolExecutor(self.n_threads) as pool:
            futures = [pool.submit(_pick_span, scan, span, picks, gaps) for span in others]
            _pick_span(scan, first, picks, gaps)
            for future in futures:
                future.result()
        return picks, gaps


@njit(cache=True, nogil=True)
def _pick_span(scan: Scan, span: tuple[int, int], picks: Picks, gaps: Floats) -> None:
    """Pick for the columns of a span; compiled as a whole, since a step of thin X makes hundreds of small products."""
    residuals, blocks, tile = scan.residuals, scan.blocks, scan.tile
    M, width = residuals.shape[1], blocks.shape[2]
    left = np.ones((tile, M + 1), blocks.dtype)
    memory = _from_a_cache_line(np.empty(tile * width + CACHE_LINE, blocks.dtype), tile * width).reshape(tile, width)
    for start in range(span[0], span[1], tile):
        count = min(tile, span[1] - start)
        left[:count, :M] = residuals[start : start + count]
        rough, margin = memory[:count], np.empty(count)
        low, least = np.full(count, np.inf, blocks.dtype), np.full(count, np.inf)
        _open_tile(scan, start, margin, gaps)
        for b in range(len(blocks)):
            np.dot(left[:count], blocks[b], rough)
            _fold(scan, rough, b * width, start, margin, low, least, picks)
        _close_tile(scan, start, margin, least, picks, gaps)


@njit(cache=True, nogil=True)
def _from_a_cache_line(spare: Rough, size: int) -> Rough:
    """The first part of an array that starts at a cache line: BLAS writes a fifth faster there."""
    first = -spare.ctypes.data % CACHE_LINE // spare.itemsize
    return spare[first : first + size]


@njit(cache=True, nogil=True)
def _open_tile(scan: Scan, start: int, margin: Floats, gaps: Floats) -> None:
    """Set the margins of scores, 2 e_l (-1 for columns without residual), and gaps but for min g."""
    C, penalty = scan.C, scan.penalty
    for i in range(len(margin)):
        l = start + i
        r = scan.residuals[l]
        fit, paid, largest = _dot(r, r), 0.0, scan.base_max
        for e in range(C.count[l]):
            y = entry_penalty(C, penalty, l, e)
            paid += C.scale * C.weights[l, e] * y
            largest = max(largest, y)
        size = scan.longest * np.sqrt(fit) + largest + UNDERFLOW / np.finfo(np.float32).eps
        margin[i] = -1.0 if fit <= FITTED * scan.squares[l] else 2 * scan.error * size
        gaps[l] = fit + _dot(r, scan.points[l]) + paid


@njit(cache=True, nogil=True)
def _fold(
    scan: Scan,
    rough: Rough,
    first: int,
    start: int,
    margin: Floats,
    low: Rough,
    least: Floats,
    picks: Picks,
) -> None:
    """Take a block of rough scores, rows `first` on, into the least rough and the least exact score of columns."""
    points, residuals, C, penalty = scan.points, scan.residuals, scan.C, scan.penalty
    lanes, n_rows = np.empty(LANES, rough.dtype), min(rough.shape[1], len(points) - first)
    for i in range(len(rough)):
        l, scores = start + i, rough[i, :n_rows]
        if margin[i] < 0:
            continue
        for e in range(C.count[l]):
            n = C.rows[l, e]
            if first <= n < first + len(scores):
                scores[n - first] += entry_penalty(C, penalty, l, e) - penalty.base[n]
        lowest = _lane_minima(scores, lanes)
        low[i] = min(low[i], lowest)
        limit = low[i] + margin[i]
        if lowest > limit:
            continue
        for lane in range(min(LANES, len(scores))):
            if lanes[lane] <= limit:
                for k in range(lane, len(scores), LANES):
                    if scores[k] <= limit:
                        n = first + k
                        score = _dot(points[n], residuals[l]) + _penalty_at(C, penalty, l, n)
                        if score < least[i] or (score == least[i] and n < picks[l]):
                            least[i], picks[l] = score, n


@njit(cache=True, nogil=True)
def _close_tile(scan: Scan, start: int, margin: Floats, least: Floats, picks: Picks, gaps: Floats) -> None:
    """Pick for the columns without residual, and take the least scores off the gaps."""
    for i in range(len(margin)):
        l = start + i
        if margin[i] < 0:
            picks[l], least[i] = _cheapest_row(scan.C, scan.penalty, l, scan.prefer_stored)
        gaps[l] -= least[i]


@njit(cache=True, nogil=True)
def _cheapest_row(C: Entries, penalty: RowPenalty, l: int, prefer_stored: bool) -> tuple[int, float]:
    """Row of least penalty; on ties the lowest index, or with `prefer_stored` a row that C stores in this column."""
    support, base = C.rows[l, : C.count[l]], penalty.base
    best, least = -1, np.inf
    for e in range(len(support)):
        y = entry_penalty(C, penalty, l, e)
        if y < least or (y == least and support[e] < best):
            best, least = support[e], y
    for n in range(len(base)):
        if (base[n] < least or (base[n] == least and n < best and not prefer_stored)) and not (support == n).any():
            best, least = n, base[n]
    return best, least


@njit(cache=True, nogil=True)
def _penalty_at(C: Entries, penalty: RowPenalty, l: int, n: int) -> float:
    for e in range(C.count[l]):
        if C.rows[l, e] == n:
            return entry_penalty(C, penalty, l, e)
    return penalty.base[n]


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _lane_minima(scores: Rough, lanes: Rough) -> float:
    """Fill lanes[i] = min over k of scores[i + k LANES], eight rows of lanes at a time; return the least."""
    W = LANES
    lanes[:] = np.inf
    whole = len(scores) // (8 * W) * (8 * W)
    for start in range(0, whole, 8 * W):
        s = scores[start : start + 8 * W]
        for i in range(W):
            a, b = min(s[i], s[i + W]), min(s[i + 2 * W], s[i + 3 * W])
            c, d = min(s[i + 4 * W], s[i + 5 * W]), min(s[i + 6 * W], s[i + 7 * W])
            lanes[i] = min(lanes[i], min(min(a, b), min(c, d)))
    for i in range(whole, len(scores)):
        lanes[i % W] = min(lanes[i % W], scores[i])
    lowest = lanes[0]
    for i in range(W):
        lowest = min(lowest, lanes[i])
    return lowest


@njit(cache=True, nogil=True)
def _dot(a: Floats, b: Floats) -> float:
    """a'b, one term after the other: the same to the last bit whoever asks."""
    total = 0.0
    for m in range(len(a)):
        total += a[m] * b[m]
    return total

"""Predict the memory of the finders of anchors, in bytes, and refuse a run that would not fit."""

from __future__ import annotations

from cofactor.core.checks import check_whole, require_bytes
from cofactor.core.errors import CofactorError
from cofactor.separable.lists import CAPACITY
from cofactor.separable.tiles import BLOCK_ROWS, THIN_BLOCK, THIN_ROWS, THIN_TILE, TILE_COLUMNS

DOUBLE_BYTES, SINGLE_BYTES, INDEX_BYTES, EDGE_BYTES = 8, 4, 4, 90
VECTORS = 16  # arrays of N doubles that MERIT holds besides: penalties, picks, gaps, squares, what they are made of


def predicted_bytes(method: str, n_rows: int, n_points: int, n_anchors: int, max_iter: int = 50) -> int:
    """Predict how much a method adds to the memory of the process, the dense X included.

    Parameters
    ----------
    method : name in `METHODS`
        But LDA, whose memory hangs on the number of words in all documents.
    n_rows, n_points, n_anchors, max_iter : int, at least 1
        M, N, K and T. Of a graph (SPOC, GeoNMF), M is the mean number of neighbours.

    Returns bytes at the peak, in one thread. MERIT: X, its transpose, residuals and X in single precision, 28 M N; up
    to T entries per column, 12 N T (rounded up to the next doubling); a fixed tile of scores. FastGradient: 20 N^2, as
    if no coefficient were zero, which is so after few steps; else down to 16. ProjectedSPA: X, a copy, Gram
    matrices and K N. XRAY: six times X; FastAnchor: four
    times. Graphs: 90 bytes per entry, measured with SciPy 1.15 (70 with 1.18), with the copy of an untidy matrix.

    Raises a CofactorError where nothing is known of the method, or a size is no whole number of at least one.

    >>> round(predicted_bytes("MERIT", 50, 100_000, 20, max_iter=20) / 1e6)
    193
    >>> round(predicted_bytes("FastGradient", 50, 100_000, 20) / 1e9)
    200
    """
    check_whole(1, n_rows=n_rows, n_points=n_points, n_anchors=n_anchors, max_iter=max_iter)
    M, N, K = int(n_rows), int(n_points), int(n_anchors)  # NumPy's integers would wrap around
    points = DOUBLE_BYTES * M * N
    if method == "SPA":
        return 2 * points + DOUBLE_BYTES * (min(K, M) * M + 3 * N)
    if method == "ProjectedSPA":
        return 2 * points + DOUBLE_BYTES * (4 * min(M, N) ** 2 + (2 * K + 3) * N)
    if method == "FastGradient":
        return (2 * DOUBLE_BYTES + INDEX_BYTES) * N * N + 6 * points
    if method == "XRAY":
        return 6 * points
    if method == "FastAnchor":
        return 4 * DOUBLE_BYTES * min(M, 1000) * N + (points if M > 1000 else 0)
    if method in ("SPOC", "GeoNMF"):
        return EDGE_BYTES * M * N + DOUBLE_BYTES * (3 * K + 64) * N * (method == "GeoNMF")
    if method in ("MERIT", "MERIT(0)"):
        capacity = CAPACITY
        while capacity < min(max_iter, N):
            capacity *= 2
        tile = TILE_COLUMNS * BLOCK_ROWS if M >= THIN_ROWS else THIN_TILE * THIN_BLOCK
        scores = SINGLE_BYTES * ((M + 1) * N + tile)
        return 3 * points + scores + (DOUBLE_BYTES + INDEX_BYTES) * capacity * N + VECTORS * DOUBLE_BYTES * N
    raise CofactorError(f"method={method!r}: memory is predicted for the methods of points and graphs in METHODS")


def require_memory(method: str, n_rows: int, n_points: int, n_anchors: int, max_iter: int) -> None:
    """Raise a CofactorError where the predicted bytes exceed the free memory; it says how many, and what to do."""
    needed = predicted_bytes(method, n_rows, n_points, n_anchors, max_iter)
    advice = "use merit, whose memory is linear in the points, or fewer points"
    require_bytes(needed, f"{method} on {n_points} points", advice)

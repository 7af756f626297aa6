"""Estimators that find anchors, and predictions of the memory that they need.

They take points, one per column; SPOC and GeoNMF (`graphs`) take the adjacency matrix of a graph, and LDA takes word
counts of documents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cofactor.core.checks import check_kind, check_whole, require_bytes, rng_of
from cofactor.core.errors import CofactorError, listing
from cofactor.core.estimator import Estimator, clone
from cofactor.core.types import Floats, Indices, Seed
from cofactor.registry import Methods, names
from cofactor.separable.columns import (
    AnchorFit,
    Matrix,
    dense_points,
    lone_columns_with_warning,
    settled_number,
    spa_fit,
    suggest_n_anchors,
)
from cofactor.separable.least_squares import simplex_least_squares
from cofactor.separable.merit import (
    BLOCK_ROWS,
    CAPACITY,
    THIN_BLOCK,
    THIN_ROWS,
    THIN_TILE,
    TILE_COLUMNS,
    Objective,
    Select,
    Start,
    Weight,
    merit,
)
from cofactor.separable.projected import projected_spa

METHODS = Methods("separable")
OF_POINTS = names("separable", takes="points")
Finder = Callable[[Floats, int], AnchorFit]

DOUBLE_BYTES, SINGLE_BYTES, INDEX_BYTES, EDGE_BYTES = 8, 4, 4, 90
VECTORS = 16  # arrays of N doubles that MERIT holds besides: penalties, picks, gaps, squares, what they are made of


@dataclass(eq=False, repr=False)
class AnchorMethod(Estimator):
    """Base class of anchor finders; as in the papers, the points are the columns of X, not its rows.

    `fit` finds anchors, and `transform` returns the weights of the anchors in any columns. Do not use scikit-learn's
    searches or splits with these methods: they treat rows as points and would cut the points into pieces.

    Parameters
    ----------
    n_anchors : int, optional
        K. Default: the number from `suggest_n_anchors`, with a warning if it is uncertain; `lone_columns` are then left
        out. If a number is given, all columns are used, whereas `cofactor anchors` leaves out lone columns in any case.
    random_state : int, Generator or None
        Has no effect on deterministic methods.
    verbose : bool
        Show a progress bar on a terminal, for iterative methods.

    Attributes
    ----------
    anchors_ : (K,) ints, columns of X by decreasing score
    scores_ : (N,) array
    coefficients_ : (N, N) scipy.sparse csc_array, or None if the method has no coefficients
    W_ : (M, K) array, the columns of X that are anchors
    model_ : AnchorFit, the complete result of the method
    result_ : Result
    """

    n_anchors: int | None = None
    random_state: Seed = field(default=None, kw_only=True)
    verbose: bool = field(default=False, kw_only=True)

    def fit(self, X: Matrix, y: object = None) -> AnchorMethod:
        """Find anchors among the columns of X, an (M, N) dense or sparse matrix; y is ignored."""
        rng_of(self.random_state)  # refuses invalid seeds, even if nothing is drawn
        points = dense_points(X)
        return self._keep(self._find(points), points)

    def transform(self, X: Matrix) -> Floats:
        """Return the (K, n) weights of the anchors in columns, H in X ~ W H, by least squares on the simplex."""
        self._check_fitted()
        return simplex_least_squares(self.W_, self._points(X))

    def fit_transform(self, X: Matrix, y: object = None) -> Floats:
        """Find anchors and return their (K, N) weights in all columns; y is ignored."""
        return self.fit(X).transform(X)

    def _find(self, X: Floats) -> AnchorFit:
        raise NotImplementedError

    def _chosen(self, X: Floats) -> tuple[Indices, int]:
        """Return the candidate columns and the number of anchors, as given or as suggested by the data."""
        if self.n_anchors is not None:
            return np.arange(X.shape[1]), self.n_anchors
        taking_part = np.delete(np.arange(X.shape[1]), lone_columns_with_warning(X))
        return taking_part, settled_number(None, *suggest_n_anchors(X[:, taking_part]))

    def _points(self, X: Matrix) -> Floats:
        points = dense_points(X)
        if len(points) != len(self.W_):
            raise CofactorError(f"X has {len(points)} rows, but the matrix of the fit has {len(self.W_)}")
        return points

    def _keep(self, found: AnchorFit, points: Floats) -> AnchorMethod:
        self.model_, self.result_ = found, found.result
        self.anchors_, self.scores_, self.coefficients_ = found.anchors, found.scores, found.coefficients
        self.W_ = points[:, found.anchors]
        return self


@dataclass(eq=False, repr=False)
class SPA(AnchorMethod):
    """SPA: successive projection, which repeatedly takes the longest residual column. Cost and source: see `spa`."""

    def _find(self, X: Floats) -> AnchorFit:
        taking_part, K = self._chosen(X)
        return spa_fit(X[:, taking_part], K).expanded(taking_part, X.shape[1])


@dataclass(eq=False, repr=False)
class ProjectedSPA(AnchorMethod):
    """Successive projection in the K leading directions, which reduces noise. Cost and source: see `projected_spa`.

    W_ contains the columns of the anchors projected onto these directions, not the columns themselves.
    """

    def _find(self, X: Floats) -> AnchorFit:
        taking_part, K = self._chosen(X)
        found, self._projected = projected_spa(X[:, taking_part], K)
        return found.expanded(taking_part, X.shape[1])

    def _keep(self, found: AnchorFit, points: Floats) -> AnchorMethod:
        super()._keep(found, points)
        self.W_ = self._projected
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class MERIT(AnchorMethod):
    """MERIT: convex self-dictionary by Frank-Wolfe; points are columns. Parameters, cost and source: see `merit`.

    `model_` is a `MeritFit`. `max_iter` is the number of steps, called `n_iter` in `merit`.
    """

    lam: Weight = "msr"
    mu: float = 1e-5
    max_iter: int = 50
    objective: Objective = "full"
    init: Start = None
    t_init: int | None = None
    tol: float | None = None
    gap_abs: float | None = None
    merge_duplicates: bool = True
    select: Select = "auto"
    n_jobs: int | None = None

    def _find(self, X: Floats) -> AnchorFit:
        settings = self.get_params(deep=False)
        settings.pop("random_state")
        return merit(X, n_iter=settings.pop("max_iter"), **settings)


@dataclass(eq=False, repr=False, kw_only=True)
class MERIT0(MERIT):
    """MERIT(0) of the paper, without a penalty; points are columns. Parameters, cost and source: see `merit`."""

    lam: Weight = 0.0


def find_anchors(
    method: str | AnchorMethod | Finder, X: Floats, n_anchors: int, random_state: Seed = None, others: str = ""
) -> AnchorFit:
    """Find anchors among columns that summed to one before their dimension was reduced.

    `method` is a name, an estimator, or a function of X and n_anchors; `others` are further names for error messages.
    """
    if callable(method):
        return method(X, n_anchors)
    if isinstance(method, str) and method not in OF_POINTS:
        raise CofactorError(f"unknown method {method!r}: choose one of {listing(OF_POINTS)}, {others}")
    check_kind((str, AnchorMethod), method=method)
    found = METHODS[method](random_state=random_state) if isinstance(method, str) else clone(method)
    if "sums" in found.get_params() and found.sums is None:  # XRAY
        found.set_params(sums=1.0)
    fit: AnchorFit = found.set_params(n_anchors=n_anchors).fit(X).model_
    return fit


def predicted_bytes(method: str, n_rows: int, n_points: int, n_anchors: int, max_iter: int = 50) -> int:
    """Estimate how much memory a method adds to the process, including the dense X.

    Parameters
    ----------
    method : name in `METHODS`
        Except LDA, whose memory depends on the number of words in all documents.
    n_rows, n_points, n_anchors, max_iter : int, at least 1
        M, N, K and T. For a graph (SPOC, GeoNMF), M is the mean number of neighbours.

    Returns the peak memory in bytes, with one thread. MERIT: X, its transpose, residuals and X in single precision,
    28 M N; up to T entries per column, 12 N T (rounded up to the next doubling); a fixed tile of scores. FastGradient:
    20 N^2 if no coefficient is zero, as after few steps, and at least 16 N^2. ProjectedSPA: X, a copy, Gram matrices
    and K N. XRAY: six times X. FastAnchor: four times X. Graphs: 90 bytes per entry, including the copy of an unsorted
    matrix, measured with SciPy 1.15 (70 with 1.18).

    Raises a CofactorError if the method is not known, or a size is not a positive integer.

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
    raise CofactorError(
        f"method={method!r}: memory can be predicted only for the methods for points and graphs in METHODS"
    )


def require_memory(method: str, n_rows: int, n_points: int, n_anchors: int, max_iter: int) -> None:
    """Raise a CofactorError if the predicted memory exceeds the free memory; it states the bytes and a remedy."""
    needed = predicted_bytes(method, n_rows, n_points, n_anchors, max_iter)
    advice = "use merit, whose memory is linear in the number of points, or fewer points"
    require_bytes(needed, f"{method} on {n_points} points", advice)

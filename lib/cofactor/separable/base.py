"""What every method of the separable line returns, and what it asks of its input.

Model: X ~ X[:, anchors] H, columns of H on the simplex (separable NMF); equivalently X ~ X C where only the rows of C
that belong to anchors are filled (self-dictionary).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.checks import numbers, refuse_columns, sound_places
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.result import Result
from cofactor.core.spa import SQUARES, require_anchors, spa
from cofactor.core.types import Floats, Indices

Matrix: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix

ZERO = 1e-12  # a column whose largest entry is this share of the largest of all, or less, is zero


@dataclass(frozen=True)
class AnchorFit:
    """Result of a finder of anchors: which columns of X are anchors, their scores, and how the iteration went.

    Attributes
    ----------
    anchors : (K,) ints
        Indices of columns of X, by falling score.
    scores : (N,) array
        Largest entry of every row of the coefficients; for greedy methods the squared length of the residual at which
        a column was chosen, zero for the others.
    coefficients : (N, N) scipy.sparse csc_array, or None
        C in X ~ X C, columns nonnegative; only what is not zero is stored. None where a method has none.
    result : Result
    """

    anchors: Indices
    scores: Floats
    coefficients: sparse.csc_array | None
    result: Result

    def expanded(self, kept: Indices, n_points: int) -> AnchorFit:
        """Return the same for all columns of X, of which `kept` took part; coefficients of the others stay empty."""
        if kept.size == n_points:
            return self
        scores, C = np.zeros(n_points), self.coefficients
        scores[kept] = self.scores
        if C is not None:
            indptr = np.zeros(n_points + 1, dtype=C.indptr.dtype)
            indptr[kept + 1] = np.diff(C.indptr)
            C = sparse.csc_array((C.data, kept[C.indices], np.cumsum(indptr)), shape=(n_points, n_points))
        return replace(self, anchors=kept[self.anchors], scores=scores, coefficients=C)


def points_of(X: Matrix) -> Floats:
    """Return X as a dense matrix of numbers, not all of them finite perhaps."""
    points = numbers(sound_places(X, "X").toarray() if sparse.issparse(X) else X, "X")
    if points.ndim != 2 or not points.size:
        raise CofactorError(f"X must be a non-empty matrix with one point per column, got shape {points.shape}")
    return points


def dense_points(X: Matrix) -> Floats:
    """Return X as a dense matrix of finite numbers; raise a `CofactorError` that names what is wrong."""
    points = points_of(X)
    refuse_columns(np.flatnonzero(~np.isfinite(points).all(axis=0)), "X")
    return points


def columns_with_size(X: Floats) -> Indices:
    """Return the columns that are not zero."""
    largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    return np.flatnonzero(largest > ZERO * largest.max())


def columns_kept(X: Floats) -> Indices:
    """Return the columns that are not zero, warning of those that are; refuse X without any, or without squares."""
    largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    exponent = int(np.frexp(largest.max())[1])
    if abs(exponent) > SQUARES:
        raise CofactorError(
            f"the largest entry of X is {largest.max():.3g}: scores are squares, which no number holds then; divide X "
            f"by 2.0**{exponent - 1}, which changes no anchor"
        )
    kept = columns_with_size(X)
    if not kept.size:
        raise CofactorError("X is zero everywhere: there is nothing to choose anchors from")
    if kept.size < X.shape[1]:
        dropped = np.setdiff1d(np.arange(X.shape[1]), kept)
        warnings.warn(
            f"{dropped.size} columns of X are zero ({listing(dropped)}): left out, their coefficients stay empty",
            DataWarning,
            stacklevel=3,
        )
    return kept


def spa_fit(X: Matrix, n_anchors: int) -> AnchorFit:
    """Find anchors by successive projection, as an `AnchorFit`; see `spa`.

    Starts over where X has no further direction, so that more anchors than rows can be asked for; such columns score
    zero.

    >>> spa_fit([[1.0, 0.0, 0.5], [0.0, 2.0, 1.0]], 2).scores
    array([1., 4., 0.])
    """
    points = dense_points(X)
    require_anchors(n_anchors, points.shape[1])
    columns_kept(points)
    anchors = spa(X, n_anchors, restart=True)
    lengths = np.diagonal(np.linalg.qr(points[:, anchors], mode="r")) ** 2
    return anchors_by_scores(anchors[: lengths.size], lengths, points.shape[1], anchors)


def anchors_by_scores(
    scored: ArrayLike, values: ArrayLike, n_points: int, anchors: ArrayLike | None = None
) -> AnchorFit:
    """Return what a method without coefficients found, one anchor at a time."""
    found = np.array(scored if anchors is None else anchors, dtype=np.intp)
    scores = np.zeros(n_points)
    scores[np.array(scored, dtype=np.intp)] = values
    result = Result(scores[found], len(found), True, f"{len(found)} anchors found")
    return AnchorFit(found, scores, None, result)

"""Greedy anchor finders beside SPA: XRAY and FastAnchor, one anchor at a time.

Sources: Kumar, Sindhwani and Kambadur, "Fast conical hull algorithms for near-separable non-negative matrix
factorization", ICML 2013 (XRAY); Arora et al., "A practical algorithm for topic modeling with provable guarantees",
ICML 2013, Algorithm 4 (FastAnchor).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import numbers
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.spa import require_anchors, spa
from cofactor.core.types import Floats, Indices, Seed
from cofactor.separable.base import AnchorFit, Matrix, anchors_by_scores, columns_kept, dense_points
from cofactor.separable.columns import random_projection
from cofactor.separable.least_squares import nonnegative_least_squares
from cofactor.separable.methods import AnchorMethod

SHIFT = 1e-6  # share of the mean of p'x added to it, so that no column is divided by zero
ROUNDING_RESIDUAL = 1e-12  # squared residuals below this share of the largest squared length are rounding


def xray(X: Matrix, n_anchors: int, sums: ArrayLike | None = None) -> AnchorFit:
    """Find anchors as extreme rays of the cone that the columns of X span, by XRAY with the rule "max".

    Repeats n_anchors times

        i = argmax_n ||r_n||^2,   j = argmax over n not in S of r_i'x_n / p'x_n,   S = S + {j},
        H = argmin over H >= 0 of ||X - X_S H||_F^2,   R = X - X_S H

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column, finite.
    n_anchors : int in [1, N]
    sums : number or (N,) array, positive
        p'x_n, by default the sums of the columns. Of points whose dimension was reduced, give the sums that the
        columns had before: 1 for topics.

    Anchors come in the order found; their scores are ||r_i||^2 at their turn, which fall. There are fewer than
    n_anchors, with a `DataWarning`, where the cone of fewer holds all columns. Raises `CofactorError` where X is no
    matrix of finite numbers or zero everywhere, `n_anchors` is out of range, or sums are not positive (columns are
    named). Cost: O(M N K + N K^3) time, O(M N) memory.

    Deviations: Weights are exact (active set); the released code makes up to 500 sweeps of coordinate descent. On
    topics both give the same anchors. It adds 1e-6 to p'x whatever the size of X; here that is a share of the mean.

    Examples
    --------
    >>> xray([[1.0, 0.0, 0.5, 0.2], [0.0, 2.0, 1.0, 0.1]], 2).anchors
    array([1, 0])
    """
    points = dense_points(X)
    require_anchors(n_anchors, points.shape[1])
    columns_kept(points)
    totals = _positive(points.sum(axis=0) if sums is None else sums, points.shape[1])
    anchors: list[int] = []
    scores: list[float] = []
    R = points
    floor = ROUNDING_RESIDUAL * np.einsum("mn,mn->n", points, points).max()
    for _ in range(n_anchors):
        lengths = np.einsum("mn,mn->n", R, R)
        i = int(np.argmax(lengths))
        if lengths[i] <= floor:
            break
        steepness = (R[:, i] @ points) / (totals + SHIFT * totals.mean())
        steepness[anchors] = -np.inf
        anchors.append(int(np.argmax(steepness)))
        scores.append(float(lengths[i]))
        R = points - points[:, anchors] @ nonnegative_least_squares(points[:, anchors], points)
    return greedy_fit(anchors, scores, points.shape[1], n_anchors)


def fast_anchor(X: Matrix, n_anchors: int, random_state: Seed = None, refine: bool = True) -> AnchorFit:
    """Find anchors as the points farthest from the affine hull of those found before, by FastAnchor.

    The first is farthest from the origin; the next, n_anchors - 1 times, farthest from the affine hull of the others.
    At the end every anchor in turn is replaced by the point farthest from the affine hull of all others.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column, finite; more than 1000 rows are projected to 1000 at random.
    n_anchors : int in [1, N]
    random_state : int, Generator or None
        Of the projection.
    refine : bool
        Whether to make the pass at the end.

    Anchors come in the order found; their scores are the squared distances at which they were taken. Raises
    `CofactorError` as `xray` does. Cost: O(min(M, 1000) N K) time, of the refinement K times that; O(min(M, 1000) N)
    memory.

    Deviations: Distances are computed as by `spa`, so ties go to the longer column, then to the lower index. Arora et
    al. take only words that stand in enough documents as candidates, with a threshold that Nguyen et al. do not state:
    leave out rare words beforehand.

    Examples
    --------
    >>> fast_anchor([[0.1, 1.0, 0.0, 0.5], [0.0, 0.0, 2.0, 1.0]], 3).anchors
    array([2, 1, 0])
    """
    points = dense_points(X)
    n_points = points.shape[1]
    require_anchors(n_anchors, n_points)
    taking_part = columns_kept(points)  # the origin would be a corner of the affine hull
    wanted = min(n_anchors, taking_part.size)
    points = random_projection(points.shape[0], random_state) @ points[:, taking_part]
    first = spa(points, 1)
    rest = spa(points - points[:, first], wanted - 1) if wanted > 1 else np.array([], dtype=np.intp)
    anchors = np.concatenate([first, rest])
    for k in range(len(anchors) if refine and len(anchors) > 1 else 0):
        anchors[k] = np.argmax(_squared_distances(points, np.delete(anchors, k)))
    scores = [_squared_distances(points, anchors[:k])[anchors[k]] for k in range(len(anchors))]
    return greedy_fit(taking_part[anchors].tolist(), scores, n_points, n_anchors)


def _squared_distances(X: Floats, hull: Indices) -> Floats:
    """Squared distance of every column from the affine hull of some (of none: from the origin)."""
    if hull.size:
        X = X - X[:, hull[:1]]
    Q = np.linalg.qr(X[:, hull[1:]])[0]
    return np.maximum(np.einsum("mn,mn->n", X, X) - np.einsum("kn,kn->n", Q.T @ X, Q.T @ X), 0.0)


def _positive(sums: ArrayLike, n_points: int) -> Floats:
    totals = numbers(sums, "sums")
    if totals.shape not in ((), (n_points,)):
        raise CofactorError(f"sums of shape {totals.shape}: give one number, or one for each of {n_points} columns")
    totals = np.broadcast_to(totals, n_points)
    bad = np.flatnonzero(~((totals >= 0) & (totals < np.inf)))
    if bad.size or not totals.any():
        raise CofactorError(f"sums of columns {listing(bad)} are not positive: give `sums`, or shift X")
    return totals


def greedy_fit(anchors: list[int], scores: list[float], n_points: int, wanted: int) -> AnchorFit:
    """Return what was found one anchor at a time, with a warning where it is less than wanted."""
    if len(anchors) < wanted:
        warnings.warn(f"{len(anchors)} anchors explain all columns: {wanted} asked for", DataWarning, stacklevel=3)
    return anchors_by_scores(anchors, scores, n_points)


@dataclass(eq=False, repr=False, kw_only=True)
class XRAY(AnchorMethod):
    """Extreme rays of the cone of all columns, one at a time. Parameters, cost and source: see `xray`."""

    sums: ArrayLike | None = None

    def _find(self, X: Floats) -> AnchorFit:
        taking_part, K = self._chosen(X)
        sums = self.sums if self.sums is None or np.ndim(self.sums) == 0 else np.asarray(self.sums)[taking_part]
        return xray(X[:, taking_part], K, sums).expanded(taking_part, X.shape[1])


@dataclass(eq=False, repr=False, kw_only=True)
class FastAnchor(AnchorMethod):
    """Columns farthest from the affine hull of those before. Parameters, cost and source: see `fast_anchor`."""

    refine: bool = True

    def _find(self, X: Floats) -> AnchorFit:
        taking_part, K = self._chosen(X)
        return fast_anchor(X[:, taking_part], K, self.random_state, self.refine).expanded(taking_part, X.shape[1])

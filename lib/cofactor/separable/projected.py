"""Successive projection in the K leading directions, and k-means by angle as a baseline.

    symbol   meaning                                              shape
    X        data, one point per column                           (M, N)
    U        leading left singular vectors of X, orthonormal      (M, K)
    Y        U' X, the points in K dimensions                     (K, N)
    W        U U' X of the anchors: their denoised spectra        (M, K)
    C        centres of k-means, of length one                    (M, K)

Sources: Gillis and Vavasis, IEEE TPAMI 2014 (successive projection); its use after dimension reduction is common for
spectra, as in Nascimento and Bioucas-Dias, IEEE TGRS 2005. Dhillon and Modha, Machine Learning 2001 (k-means
by angle).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cofactor.core.simplex import require_anchors, spa, with_squares
from cofactor.core.types import Floats
from cofactor.separable.columns import AnchorFit, Matrix, anchors_by_scores, columns_kept, dense_points
from cofactor.separable.least_squares import simplex_least_squares

STARTS, ROUNDS = 5, 50  # of k-means: draws of centres, and rounds at most
SMALLEST = 1e-3  # degrees that count as an angle
HELD_OUT = 4000  # points at most of which half are held out


def leading_directions(X: Floats, n_directions: int) -> Floats:
    """Return U, (M, min(K, M, N)): the leading left singular vectors, computed from the smaller Gram matrix.

    Cost: O(min(M, N)^2 max(M, N)). Singular values below 1e-8 of the largest are rounding errors.
    """
    M, N = X.shape
    if M <= N:
        return np.asarray(np.linalg.eigh(X @ X.T)[1][:, ::-1][:, :n_directions])
    V = np.linalg.eigh(X.T @ X)[1][:, ::-1][:, :n_directions]
    return np.asarray(np.linalg.qr(X @ V)[0])


def projected_spa(X: Matrix, n_anchors: int) -> tuple[AnchorFit, Floats]:
    """Find anchors by successive projection of Y = U'X, and return them with W = U Y of the anchors.

    Noise outside the K leading directions neither affects the choice of columns nor remains in the spectra of the
    anchors. Errors are those of `spa`. Cost: that of `leading_directions`, and of SPA on K rows.

    >>> found, W = projected_spa([[1.0, 0.0, 0.5], [0.0, 2.0, 1.0], [0.0, 0.0, 0.01]], 2)
    >>> found.anchors.tolist(), W.shape
    ([1, 0], (3, 2))
    """
    given = dense_points(X)
    points = with_squares(given)
    require_anchors(n_anchors, points.shape[1])
    columns_kept(points)
    U = leading_directions(points, n_anchors)
    Y = U.T @ points
    anchors = spa(Y, n_anchors, restart=True)
    lengths = np.diagonal(np.linalg.qr(Y[:, anchors], mode="r")) ** 2
    fit = anchors_by_scores(anchors[: lengths.size], lengths, points.shape[1], anchors)
    return fit, U @ (U.T @ given[:, anchors])


def angular_means(X: Floats, n_centres: int) -> Floats:
    """Return C, (M, K), by k-means with the angle as distance: the best of five k-means++ starts.

    Each column is assigned to the centre with the smallest angle; a centre is the sum of its columns, scaled to length
    one. X must not have zero columns. Cost: O(M N K) per iteration, with at most 50 iterations.

    >>> C = angular_means(np.array([[1.0, 2.0, 0.0], [0.1, 0.0, 3.0]]), 2)
    >>> sorted(C.argmax(axis=0).tolist())
    [0, 1]
    """
    rng, unit = np.random.default_rng(0), X / np.linalg.norm(X, axis=0)
    best, most = unit[:, :n_centres], -np.inf
    for _ in range(STARTS):
        chosen = [int(rng.integers(unit.shape[1]))]
        while len(chosen) < n_centres:  # far from those there are, as k-means++ draws
            away = np.maximum(1 - (unit[:, chosen].T @ unit).max(axis=0), 0.0) + np.finfo(float).tiny
            chosen.append(int(rng.choice(unit.shape[1], p=away / away.sum())))
        C, own = unit[:, chosen], np.full(unit.shape[1], -1)
        for _ in range(ROUNDS):
            nearest = (C.T @ unit).argmax(axis=0)
            if (nearest == own).all():
                break
            own = nearest
            sums = np.stack([unit[:, own == k].sum(axis=1) for k in range(n_centres)], axis=1)
            C = np.where((lengths := np.linalg.norm(sums, axis=0)) > 0, sums / np.where(lengths > 0, lengths, 1), C)
        if (total := (C.T @ unit).max(axis=0).sum()) > most:
            best, most = C, total
    return best


def angles(A: Floats, B: Floats) -> Floats:
    """Return the angles between corresponding columns of A and B, in degrees."""
    lengths = np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=0)
    cosine = np.einsum("mn,mn->n", A, B) / np.where(lengths > 0, lengths, 1.0)
    return np.asarray(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


@dataclass(frozen=True)
class HeldOut:
    """Angles of held-out columns, in degrees.

    Attributes
    ----------
    mixtures : float
        Mean angle to the best mixture of anchors.
    centres : float
        Mean angle to the nearest centre of k-means by angle.
    ratio : float
        Median angle to the nearest anchor over the median angle to the nearest centre.
    """

    mixtures: float
    centres: float
    ratio: float


def held_out_angles(X: Floats, find: Callable[[Floats], Floats], n_anchors: int) -> HeldOut | None:
    """Compare mixtures of anchors with the centres of k-means by angle on held-out columns.

    Both are fitted to one half of the columns (`find` returns W) and evaluated on the other half; at most 4000 columns
    are used, drawn with a fixed seed. Returns None if there are fewer than two columns per anchor to fit.
    """
    rng = np.random.default_rng(0)
    order = rng.permutation(X.shape[1])[:HELD_OUT]
    fitted, held = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    if fitted.size < 2 * n_anchors:
        return None
    W, Y = find(X[:, fitted]), X[:, held]
    C = angular_means(X[:, fitted], n_anchors)
    unit = W / np.maximum(np.linalg.norm(W, axis=0), np.finfo(float).tiny)
    to_centre, to_anchor = (angles(D[:, (D.T @ Y).argmax(axis=0)], Y) for D in (C, unit))
    mixed = angles(W @ simplex_least_squares(W, Y), Y)
    ratio = np.median(to_anchor) / max(np.median(to_centre), SMALLEST)
    return HeldOut(float(mixed.mean()), float(to_centre.mean()), float(ratio))

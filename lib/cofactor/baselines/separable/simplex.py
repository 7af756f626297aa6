"""Corners of the simplex that pixels of an image fill, as hyperspectral unmixing looks for them: VCA.

Source: Nascimento and Bioucas-Dias, "Vertex component analysis: a fast algorithm to unmix hyperspectral data", IEEE
TGRS 2005.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofactor.baselines.separable.greedy import greedy_fit
from cofactor.core.checks import rng_of
from cofactor.core.spa import require_anchors, spa
from cofactor.core.types import Floats, Indices, Seed
from cofactor.separable.base import AnchorFit, Matrix, columns_kept, dense_points
from cofactor.separable.methods import AnchorMethod

CLEAN = 10**1.5  # 15 dB: where signal over noise is K times this, columns are scaled, else shifted
FLAT = 1e-9  # cosines, lengths and shares of the signal below this are rounding


def vca(X: Matrix, n_anchors: int, random_state: Seed = None) -> AnchorFit:
    """Find anchors as the columns farthest along random directions, by vertex component analysis (VCA).

    With Y the columns in K dimensions, E = [e_K] at first, and w standard normal, repeats n_anchors times

        f = (I - E E^+) w,   j = argmax_n |f'y_n|,   E = [columns of Y chosen so far]

    Y depends on the signal-to-noise ratio, (P - K/M p) / (p - P), where p is the sum of squares of X and P that of its
    projection onto the mean and the K leading directions around it. Above 15 + 10 log10(K) dB: the K leading directions
    U'X, every column divided by its product with the mean column, which takes differences of brightness out. Below: the
    K - 1 leading directions around the mean, and a constant, as large as the longest of them.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column, finite.
    n_anchors : int in [1, N]
    random_state : int, Generator or None
        Of the directions.

    Anchors come in the order found; their scores are squared lengths beyond what those before them span. There are
    fewer than n_anchors, with a `DataWarning`, where no direction is left. Raises a `CofactorError` where X is no
    matrix of finite numbers or zero everywhere, or `n_anchors` is out of range.

    Cost: O(min(M, N) M N) time, O(M N) memory.

    Deviations: The paper does not say what one anchor is: here the longest column. Where a column has no positive
    product with the mean, columns are shifted at any noise. Directions are drawn among all rows and projected, so that
    no sign of an eigenvector matters; a tie goes to the lowest index.

    Measured on 100 draws of 1000 mixtures of 5 pure columns in 50 rows (standard errors below 0.03): angles to the pure
    columns are those of SPA at 40, 30 and 20 dB (0.5, 1.6 and 5.2 degrees), and 78 % of them are found at 10 dB, where
    SPA finds 71 %. With columns brighter and darker by 20 %, VCA finds 100, 100, 38 and 27 %, SPA 34, 34, 28 and 11 %;
    SPA after dividing columns by their sums, 100, 100, 100 and 68 %.

    Examples
    --------
    >>> vca([[1.0, 0.0, 0.5, 0.2], [0.0, 2.0, 1.0, 0.1], [0.0, 0.0, 0.1, 0.5]], 3, random_state=0).anchors.tolist()
    [1, 3, 0]
    """
    points = dense_points(X)
    require_anchors(n_anchors, points.shape[1])
    kept = columns_kept(points)
    exponent = int(np.frexp(max(points.max(), -points.min()))[1])
    used = np.ldexp(points[:, kept], -exponent)  # exact, so that anchors do not depend on the scale
    wanted = min(n_anchors, kept.size)
    found = spa(used, 1) if wanted == 1 else _farthest(*_reduced(used, wanted), wanted, rng_of(random_state))
    anchors = kept[found]
    lengths = np.diagonal(np.linalg.qr(points[:, anchors], mode="r")) ** 2
    scores = np.append(lengths, np.zeros(len(anchors) - lengths.size))  # of more anchors than rows
    return greedy_fit(anchors.tolist(), scores.tolist(), points.shape[1], n_anchors)


def _reduced(X: Floats, K: int) -> tuple[Floats, Floats]:
    """Return the columns in K dimensions, and the directions of all but perhaps the last, which is constant then."""
    mean = X.mean(axis=1, keepdims=True)
    around = leading_directions(X - mean, K)
    if _is_clean(X, mean, around, K):
        U = leading_directions(X, K)
        Y = U.T @ X
        along = Y.mean(axis=1) @ Y
        if (along > FLAT * np.linalg.norm(Y.mean(axis=1)) * np.linalg.norm(Y, axis=0)).all():
            return Y / along, U
    U = around[:, : K - 1]
    Y = U.T @ (X - mean)
    longest = np.sqrt(np.einsum("kn,kn->n", Y, Y).max(initial=0)) or 1.0
    return np.vstack([Y, np.full(X.shape[1], longest)]), U


def _farthest(Y: Floats, U: Floats, n_anchors: int, rng: np.random.Generator) -> Indices:
    """Return columns of Y, each the farthest along a random direction at right angles to those before."""
    anchors: list[int] = []
    largest = np.sqrt(np.einsum("kn,kn->n", Y, Y).max())
    spanned = np.eye(len(Y))[:, -1:]
    for _ in range(n_anchors):
        w = np.append(U.T @ rng.standard_normal(len(U)), rng.standard_normal(len(Y) - U.shape[1]))
        Q = np.linalg.qr(spanned)[0]
        along = np.abs((w - Q @ (Q.T @ w)) @ Y)
        if along.max() <= FLAT * np.linalg.norm(w) * largest:
            break
        anchors.append(int(np.argmax(along >= (1 - FLAT) * along.max())))
        spanned = Y[:, anchors]
    return np.array(anchors, dtype=np.intp)


def _is_clean(X: Floats, mean: Floats, around: Floats, K: int) -> bool:
    """Whether the signal-to-noise ratio is above the threshold of the paper."""
    Y = around.T @ (X - mean)
    whole = float(np.einsum("mn,mn->", X, X))
    kept = float(np.einsum("kn,kn->", Y, Y)) + X.shape[1] * float(np.sum(mean**2))
    signal = kept - K / len(X) * whole
    return signal > max(FLAT * whole, CLEAN * K * (whole - kept))


def leading_directions(X: Floats, n_directions: int) -> Floats:
    """Return the leading left singular vectors of X, at most as many as it has rows or columns."""
    if X.shape[0] <= X.shape[1]:
        return np.asarray(np.linalg.eigh(X @ X.T)[1][:, ::-1][:, :n_directions])
    return np.asarray(np.linalg.svd(X, full_matrices=False)[0][:, :n_directions])


@dataclass(eq=False, repr=False)
class VCA(AnchorMethod):
    """Columns farthest along random directions. Parameters, cost and source: see `vca`."""

    def _find(self, X: Floats) -> AnchorFit:
        kept, K = self._chosen(X)
        return vca(X[:, kept], K, self.random_state).expanded(kept, X.shape[1])

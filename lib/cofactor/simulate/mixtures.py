"""Simulate columns that are mixtures of a few pure ones: the synthetic problems of separable NMF."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cofactor.core.checks import check_between, check_whole, rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats, Seed


@dataclass(frozen=True)
class Mixture:
    """A separable matrix with its true factors.

    Attributes
    ----------
    X : (M, N) array
        W H plus noise.
    W : (M, K) array
        The pure columns, without noise.
    H : (K, N) array
        The weights, with columns on the simplex.
    anchors : (K,) ints
        Positions of the pure columns: H[:, anchors] is the identity.
    """

    X: Floats
    W: Floats
    H: Floats
    anchors: NDArray[np.intp]


def dirichlet_mixtures(
    n_rows: int = 50, n_points: int = 200, n_anchors: int = 40, snr_db: float | None = 10.0, random_state: Seed = None
) -> Mixture:
    """Draw mixtures with uniform weights on the simplex, and Gaussian noise on all columns.

    W uniform on (0, 1); H = [I, Dirichlet(1)], columns in random order; noise of variance
    ||W H||_F^2 / (M N 10^(SNR/10)).

    Parameters
    ----------
    n_rows, n_points, n_anchors : int
        M, N >= K and K.
    snr_db : float, optional
        None: no noise.
    random_state : int, Generator or None

    Raises
    ------
    CofactorError
        Fewer points than anchors.

    Cost
    ----
    O((M + K) N).

    Source
    ------
    IEEE TSP 2022, Sec. V-A, Figures 4 and 5, Table I.

    Examples
    --------
    >>> problem = dirichlet_mixtures(50, 200, 40, random_state=0)
    >>> problem.X.shape, problem.anchors.size
    ((50, 200), 40)
    """
    _check_size(snr_db, n_rows=n_rows, n_points=n_points, n_anchors=n_anchors)
    if not 1 <= n_anchors <= n_points:
        raise CofactorError(f"{n_points} points cannot contain {n_anchors} anchors: choose 1 <= n_anchors <= n_points")
    rng = rng_of(random_state)
    W = rng.random((n_rows, n_anchors))
    H = np.hstack([np.eye(n_anchors), rng.dirichlet(np.ones(n_anchors), n_points - n_anchors).T])
    return _shuffled(W, H, _gaussian(W @ H, snr_db, rng), rng)


def midpoint_mixtures(
    n_rows: int = 50,
    n_anchors: int = 10,
    snr_db: float | None = 10.0,
    noise: Literal["released", "gaussian"] = "released",
    random_state: Seed = None,
) -> Mixture:
    """Place one point halfway between each two pure ones, K + K (K - 1) / 2 points in all.

    W uniform on (0, 1), columns scaled to sum to one; H = [I, pairwise halves], columns in random order.

    Parameters
    ----------
    n_rows, n_anchors : int
        M and K.
    snr_db : float, optional
        10 log10(||W H||_F^2 / ||V||_F^2) of the noise V over the whole matrix. None: no noise.
    noise : "released" or "gaussian"
        The noise of the released code, or of the paper's text. "released" pushes every midpoint away from the mean of
        the pure columns, outwards, and leaves the pure ones exact: V = c (w_i / 2 + w_j / 2 - mean_k w_k) on
        midpoints. "gaussian" is zero-mean noise on all columns.
    random_state : int, Generator or None

    Raises
    ------
    CofactorError
        Fewer than two pure columns, or an unknown kind of noise.

    Cost
    ----
    O(M K^2).

    Source
    ------
    IEEE TSP 2022, Sec. V-A, Figures 2 and 3, after Gillis and Luce 2018, Sec. 4.1. The best method depends on which
    noise is used.

    Examples
    --------
    >>> midpoint_mixtures(random_state=0).X.shape
    (50, 55)
    """
    _check_size(snr_db, n_rows=n_rows, n_anchors=n_anchors)
    if n_anchors < 2 or noise not in ("released", "gaussian"):
        raise CofactorError(
            f'n_anchors={n_anchors}, noise={noise!r}: choose 2 or more anchors, and "released" or "gaussian" noise'
        )
    rng = rng_of(random_state)
    W = rng.random((n_rows, n_anchors))
    W /= W.sum(axis=0)
    pairs = np.array(list(combinations(range(n_anchors), 2))).T
    halves = np.zeros((n_anchors, pairs.shape[1]))
    halves[pairs, np.arange(pairs.shape[1])] = 0.5
    H = np.hstack([np.eye(n_anchors), halves])
    V = _gaussian(W @ H, snr_db, rng) if noise == "gaussian" else _outwards(W, H, snr_db)
    return _shuffled(W, H, V, rng)


def _check_size(snr_db: float | None, **sizes: int) -> None:
    check_whole(1, **sizes)
    if snr_db is not None:
        check_between(-300, 300, snr_db=snr_db)


def _gaussian(Y: Floats, snr_db: float | None, rng: np.random.Generator) -> Floats:
    if snr_db is None:
        return np.zeros_like(Y)
    return rng.normal(0.0, np.sqrt(np.mean(Y**2) * 10 ** (-snr_db / 10)), Y.shape)


def _outwards(W: Floats, H: Floats, snr_db: float | None) -> Floats:
    Y = W @ H
    V = np.where(H.max(axis=0) < 1, Y - W.mean(axis=1, keepdims=True), 0.0)
    ratio = 0.0 if snr_db is None else 10 ** (-snr_db / 20)
    length = np.linalg.norm(V) or 1.0  # of points in one row, all of which are alike
    return ratio * np.linalg.norm(Y) / length * V


def _shuffled(W: Floats, H: Floats, V: Floats, rng: np.random.Generator) -> Mixture:
    order = rng.permutation(H.shape[1])
    position = np.argsort(order)
    return Mixture((W @ H + V)[:, order], W, H[:, order], position[: W.shape[1]])

"""How well drawn mixtures are recovered: the angle of the pure columns, and the share of the data explained."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cofactor.core.checks import finite_matrix
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import optimize
from cofactor.core.types import Floats


def mrsa(W: ArrayLike, found: ArrayLike) -> float:
    """Return the mean-removed spectral angle between true and found pure columns, matched, from 0 to 100.

        MRSA = min over permutations of 1/K sum_k 100/pi arccos( <w_k - w, v_k - v> / (|w_k - w| |v_k - v|) ),

    where w and v are the mean columns of W and of what was found.

    `W` and `found` are (M, K); `CofactorError` where they are not. Cost: O(M K^2 + K^3). Source: Gillis and Luce 2018.
    As in the released code of Nguyen, Fu and Wu, the mean column is taken off, where Gillis and Luce take off the mean
    of each column. A column equal to the mean has no direction: its angle is a right one.

    Examples
    --------
    >>> W = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> round(mrsa(W, W[:, ::-1]), 6)
    0.0
    """
    true, other = finite_matrix(W, "W"), finite_matrix(found, "found")
    if true.shape != other.shape:
        raise CofactorError(
            f"pure columns of shapes {true.shape} and {other.shape} cannot be compared: give two (M, K)"
        )
    cosine = np.clip(_directions(true).T @ _directions(other), -1, 1)
    angle = np.arccos(cosine)
    return float(100 / np.pi * angle[optimize.linear_sum_assignment(angle)].mean())


def _directions(W: Floats) -> Floats:
    W = W / (np.abs(W).max() or 1.0)  # no direction depends on it, and no square leaves the range of numbers
    centred = W - W.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=0)
    return np.asarray(centred / np.where(lengths > 0, lengths, 1.0))


def rae(X: ArrayLike, W: ArrayLike, H: ArrayLike) -> float:
    """Return the relative approximation error, 1 - ||X - W H||_F / ||X||_F: one where W H is X.

    `CofactorError` where shapes do not fit, X is zero, or W H is too large beside X for any number to say.

    Source: Gillis and Luce 2018, who call it an error although more of it is better.

    >>> rae([[2.0, 0.0]], [[1.0]], [[2.0, 0.0]])
    1.0
    """
    X, W, H = (finite_matrix(matrix, name) for matrix, name in ((X, "X"), (W, "W"), (H, "H")))
    if X.shape != (W.shape[0], H.shape[1]) or W.shape[1] != H.shape[0]:
        raise CofactorError(f"X {X.shape} is not of the shape of W {W.shape} times H {H.shape}")
    if not X.any():
        raise CofactorError("X is zero: no error is small beside it")
    largest = np.abs(X).max()  # divided out, lest squares vanish or overflow
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.linalg.norm((X - W @ H) / largest) / np.linalg.norm(X / largest)
    if not np.isfinite(error):
        raise CofactorError("W H is too large beside X to be compared with it: scale W and H")
    return float(1 - error)

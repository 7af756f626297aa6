"""The two projections of Algorithm 1: onto incoherent matrices, and onto centred items.

Source: Sankagiri, Etesami and Grossglauser, ICML 2025, Eq. (10), (19), (20) and Algorithm 1.
"""

from __future__ import annotations

import numpy as np

from cofactor.comparisons.kernels import Arrays
from cofactor.core.types import Floats


def project_to_centred(V: Floats) -> Floats:
    """Take the mean over items off every feature: P_H, the J V of Eq. (19).

    >>> project_to_centred(np.array([[1.0], [3.0]])).ravel().tolist()
    [-1.0, 1.0]
    """
    return np.asarray(V - V.mean(axis=0))


def project_to_incoherent(Z: Floats, radius: float) -> Floats:
    """Shorten rows longer than `radius` to that length: P_C of Eq. (20).

    >>> project_to_incoherent(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0).round(1).tolist()
    [[0.6, 0.8], [0.3, 0.4]]
    """
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.asarray(Z * np.where(length > radius, radius / np.maximum(length, np.finfo(float).tiny), 1.0))


def incoherence(U: Floats, V: Floats) -> float:
    """Return mu = n max_j ||Z_j||^2 / ||Z||_F^2 of Z = [U; V], n its number of rows; Eq. (10).

    Never below n / (2 min(n1, n2)) for balanced factors, 1.25 for 200 users and 300 items; the paper says 1.01 there.
    """
    squares = np.concatenate([np.sum(U**2, axis=1), np.sum(V**2, axis=1)])
    return float(len(squares) * squares.max() / squares.sum())


def incoherence_radius(U: Floats, V: Floats, mu: float) -> float:
    """Return beta = (4/3) sqrt(mu / n) ||Z||_F, the longest row allowed; Eq. (20), with Z the start."""
    return float(4 / 3 * np.sqrt(mu / (len(U) + len(V)) * (np.sum(U**2) + np.sum(V**2))))


def project(factors: Arrays, radius: float | None) -> Arrays:
    """P_H(P_C(Z)), as every step of Algorithm 1; without a radius P_H alone. Biases are centred, too."""
    U, V, b = factors
    if radius is not None:
        U, V = project_to_incoherent(U, radius), project_to_incoherent(V, radius)
    return U, project_to_centred(V), b - b.mean() if b.size else b

"""Passes over all comparisons, compiled: differences of utilities, their slopes, and the gradient they add up to.

Comparisons are gathered in blocks that stay in the nearest cache: first all z of a block, then the link, then the
gradient. So no exponential waits for a sum of another comparison. `marker` is a tuple of r zeros: its length is known
to the compiler, which unrolls every loop over the rank. Codes are unsigned, which saves a test for negative ones.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.uint32]
Arrays = tuple[Floats, Floats, Floats]  # of users, of items, of biases of items (empty where there are none)
Triples = tuple[Codes, Codes, Codes]  # user, left, right
Marker = tuple[int, ...]

BLOCK = 2048  # comparisons per block
SERIES = 0.02  # distance to the best z below which loss and slope are summed as series
MANY = 1e200  # products of terms in [1, 2] are logged before they pass this


@njit(cache=True, nogil=True)
def _gather(triples: Triples, factors: Arrays, marker: Marker, start: int, z: Floats, D: Floats) -> None:
    """z[k] = <U_u, V_i - V_j> + b_i - b_j for one block, and D[k] = V_i - V_j, which the gradient needs again."""
    (user, left, right), (U, V, b) = triples, factors
    for k in range(len(z)):
        u, i, j = user[start + k], left[start + k], right[start + k]
        total = 0.0
        for a in range(len(marker)):
            D[k, a] = V[i, a] - V[j, a]
            total += U[u, a] * D[k, a]
        z[k] = total
    if len(b):
        for k in range(len(z)):
            z[k] += b[left[start + k]] - b[right[start + k]]


@njit(cache=True, nogil=True)
def _scatter(triples: Triples, U: Floats, marker: Marker, start: int, h: Floats, D: Floats, G: Arrays) -> None:
    """Add h_k times the gradient of z_k to G for one block."""
    (user, left, right), (GU, GV, Gb) = triples, G
    for k in range(len(h)):
        u, i, j = user[start + k], left[start + k], right[start + k]
        for a in range(len(marker)):
            step = h[k] * U[u, a]
            GU[u, a] += h[k] * D[k, a]
            GV[i, a] += step
            GV[j, a] -= step
    if len(Gb):
        for k in range(len(h)):
            Gb[left[start + k]] += h[k]
            Gb[right[start + k]] -= h[k]


@njit(cache=True, nogil=True)
def _logistic_choices(z: Floats, w: Floats) -> float:
    """Turn z into slopes in place; return the sum of losses. One logarithm serves hundreds of comparisons."""
    total, product = 0.0, 1.0
    for k in range(len(z)):
        e = np.exp(-abs(z[k]))
        product *= 1.0 + e
        if product > MANY:
            total += np.log(product)
            product = 1.0
        total += max(z[k], 0.0) - w[k] * z[k]
        z[k] = (1.0 if z[k] >= 0 else e) / (1.0 + e) - w[k]
    return total + np.log(product)


@njit(cache=True, nogil=True)
def _logistic_chances(z: Floats, w: Floats, target: Floats, entropy: Floats) -> float:
    """The same, less the smallest possible loss; near the target z* as a series, which neither cancels nor is slow.

    With d = z - z* and q = w(1 - w) the excess is the cumulant generating function of w less its mean,
    q d^2/2 + q(1 - 2w) d^3/6 + q(1 - 6q) d^4/24 + ...
    """
    total, product = 0.0, 1.0
    for k in range(len(z)):
        d = z[k] - target[k]
        if abs(d) < SERIES:
            q, s = w[k] * (1 - w[k]), 1 - 2 * w[k]
            c4, c5, c6 = 1 - 6 * q, s * (1 - 12 * q), 1 - 30 * q + 120 * q * q
            total += q * d * d * (0.5 + d * (s / 6 + d * (c4 / 24 + d * (c5 / 120 + d * c6 / 720))))
            z[k] = q * d * (1 + d * (s / 2 + d * (c4 / 6 + d * (c5 / 24 + d * c6 / 120))))
        else:
            e = np.exp(-abs(z[k]))
            product *= 1.0 + e
            if product > MANY:
                total += np.log(product)
                product = 1.0
            total += max(z[k], 0.0) - w[k] * z[k] - entropy[k]
            z[k] = (1.0 if z[k] >= 0 else e) / (1.0 + e) - w[k]
    return total + np.log(product)


@njit(cache=True, nogil=True)
def _logistic_counted(z: Floats, w: Floats, weight: Floats) -> float:
    """Slopes in place and the sum of losses, every comparison weighted."""
    total = 0.0
    for k in range(len(z)):
        e = np.exp(-abs(z[k]))
        total += weight[k] * (np.log1p(e) + max(z[k], 0.0) - w[k] * z[k])
        z[k] = weight[k] * ((1.0 if z[k] >= 0 else e) / (1.0 + e) - w[k])
    return total


@njit(cache=True, nogil=True)
def logistic_pass(
    triples: Triples,
    answers: tuple[Floats, Floats, Floats, Floats],
    factors: Arrays,
    marker: Marker,
    G: Arrays,
) -> float:
    """Return the sum of logistic losses, and add its gradient to G.

    `answers` are outcomes, weights, targets z* and entropies; weights are empty where all are one, targets and
    entropies for choices, whose plain loss is summed.
    """
    (w, weight, target, entropy), total = answers, 0.0
    block, D = np.empty(BLOCK), np.empty((BLOCK, len(marker)))
    for start in range(0, len(w), BLOCK):
        z = block[: min(BLOCK, len(w) - start)]
        end = start + len(z)
        _gather(triples, factors, marker, start, z, D)
        if len(weight):
            total += _logistic_counted(z, w[start:end], weight[start:end])
        elif len(target):
            total += _logistic_chances(z, w[start:end], target[start:end], entropy[start:end])
        else:
            total += _logistic_choices(z, w[start:end])
        _scatter(triples, factors[0], marker, start, z, D, G)
    return total


@njit(cache=True, nogil=True)
def differences(triples: Triples, factors: Arrays, marker: Marker, z: Floats) -> None:
    """Fill in z for every comparison."""
    D = np.empty((BLOCK, len(marker)))
    for start in range(0, len(z), BLOCK):
        _gather(triples, factors, marker, start, z[start : start + BLOCK], D)


@njit(cache=True, nogil=True)
def add_gradient(triples: Triples, factors: Arrays, marker: Marker, h: Floats, G: Arrays) -> None:
    """Add the sum over comparisons of h_k times the gradient of z_k to G."""
    block, D = np.empty(BLOCK), np.empty((BLOCK, len(marker)))
    for start in range(0, len(h), BLOCK):
        own = h[start : start + BLOCK]
        _gather(triples, factors, marker, start, block[: len(own)], D)
        _scatter(triples, factors[0], marker, start, own, D, G)

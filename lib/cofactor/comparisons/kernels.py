"""Passes over all comparisons, compiled: differences of utilities, their slopes, and the gradient they add up to.

Comparisons are gathered in blocks that stay in the nearest cache: first all z of a block, then the link, then the
gradient. So no exponential waits for a sum of another comparison. `marker` is a tuple of r zeros: its length is known
to the compiler, which unrolls every loop over the rank. Codes are unsigned, which saves a test for negative ones. The
link works on several comparisons at once (SIMD): exponentials are polynomials, since those of the C library are not
vectorised, branches are selections, and division does not look for zeros (`error_model`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cofactor.core.lazy import njit
from cofactor.core.types import Floats

Codes = NDArray[np.uint32]
Arrays = tuple[Floats, Floats, Floats]  # of users, of items, of biases of items (empty where there are none)
Triples = tuple[Codes, Codes, Codes]  # user, left, right
Marker = tuple[int, ...]

COMPARISONS_PER_BLOCK = 1000  # comparisons per block; a product of as many terms in [1, 2] is below the largest number
SERIES = 0.02  # distance to the best z below which loss and slope are summed as series
LOG2 = 6.93145751953125e-1, 1.42860682030941723212e-6  # in two parts, the first of few digits (Cody and Waite)
PER_LOG2 = 1 / math.log(2)
LOWEST = -708.0  # exponents below give denormal numbers
FACTORIALS = tuple(1 / math.factorial(n) for n in range(13, -1, -1))
FUSED = {"contract"}  # a product and a sum are rounded once
REORDERED = FUSED | {"reassoc", "arcp"}  # sums in any order, no division by constants


@njit(cache=True, nogil=True, fastmath=FUSED)
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


@njit(cache=True, nogil=True, fastmath=FUSED)
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FUSED)
def _exponentials(z: Floats, e: Floats, power: NDArray[np.int64]) -> None:
    """e[k] = exp(-|z[k]|) to one unit in the last place: 2^n times a Taylor series for the rest, below log(2) / 2."""
    for k in range(len(z)):
        x = max(-abs(z[k]), LOWEST)
        n = np.floor(x * PER_LOG2 + 0.5)
        rest = (x - n * LOG2[0]) - n * LOG2[1]
        e[k] = 0.0
        for m in range(len(FACTORIALS)):
            e[k] = e[k] * rest + FACTORIALS[m]
        power[k] = (np.int64(n) + 1023) << 52  # the bits of 2^n
    scale = power.view(np.float64)
    for k in range(len(z)):
        e[k] *= scale[k]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _logistic_choices(z: Floats, w: Floats, e: Floats) -> float:
    """Turn z into slopes in place; return the sum of losses. One logarithm serves a block."""
    total, product = 0.0, 1.0
    for k in range(len(z)):
        product *= 1.0 + e[k]
        total += max(z[k], 0.0) - w[k] * z[k]
        z[k] = (1.0 if z[k] >= 0 else e[k]) / (1.0 + e[k]) - w[k]
    return total + np.log(product)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _logistic_chances(z: Floats, w: Floats, e: Floats, target: Floats, entropy: Floats, excess: Floats) -> float:
    """The same, less the smallest possible loss; near the target z* as a series, which does not cancel.

    With d = z - z* and q = w(1 - w) the excess is the cumulant generating function of w less its mean,
    q d^2/2 + q(1 - 2w) d^3/6 + q(1 - 6q) d^4/24 + ...
    """
    for k in range(len(z)):
        d = z[k] - target[k]
        q, s = w[k] * (1 - w[k]), 1 - 2 * w[k]
        c4, c5, c6 = 1 - 6 * q, s * (1 - 12 * q), 1 - 30 * q + 120 * q * q
        series = q * d * d * (0.5 + d * (s / 6 + d * (c4 / 24 + d * (c5 / 120 + d * c6 / 720))))
        series_slope = q * d * (1 + d * (s / 2 + d * (c4 / 6 + d * (c5 / 24 + d * c6 / 120))))
        plain = max(z[k], 0.0) - w[k] * z[k] - entropy[k]  # log(1 + e) is still to come
        plain_slope = (1.0 if z[k] >= 0 else e[k]) / (1.0 + e[k]) - w[k]
        near = abs(d) < SERIES
        excess[k] = series if near else plain
        z[k] = series_slope if near else plain_slope
        e[k] = 0.0 if near else e[k]
    total, product = 0.0, 1.0
    for k in range(len(z)):
        total += excess[k]
        product *= 1.0 + e[k]
    return total + np.log(product)


@njit(cache=True, nogil=True, error_model="numpy")
def _logistic_counted(z: Floats, w: Floats, e: Floats, weight: Floats) -> float:
    """Slopes in place and the sum of losses, every comparison weighted."""
    total = 0.0
    for k in range(len(z)):
        total += weight[k] * (np.log1p(e[k]) + max(z[k], 0.0) - w[k] * z[k])
        z[k] = weight[k] * ((1.0 if z[k] >= 0 else e[k]) / (1.0 + e[k]) - w[k])
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
    block, D, power = (
        np.empty((3, COMPARISONS_PER_BLOCK)),
        np.empty((COMPARISONS_PER_BLOCK, len(marker))),
        np.empty(COMPARISONS_PER_BLOCK, dtype=np.int64),
    )
    for start in range(0, len(w), COMPARISONS_PER_BLOCK):
        end = min(start + COMPARISONS_PER_BLOCK, len(w))
        z, e = block[0, : end - start], block[1, : end - start]
        _gather(triples, factors, marker, start, z, D)
        _exponentials(z, e, power)
        if len(weight):
            total += _logistic_counted(z, w[start:end], e, weight[start:end])
        elif len(target):
            total += _logistic_chances(z, w[start:end], e, target[start:end], entropy[start:end], block[2])
        else:
            total += _logistic_choices(z, w[start:end], e)
        _scatter(triples, factors[0], marker, start, z, D, G)
    return total


@njit(cache=True, nogil=True)
def fill_differences(triples: Triples, factors: Arrays, marker: Marker, z: Floats) -> None:
    """Write the (m,) differences of utilities into z, in place."""
    D = np.empty((COMPARISONS_PER_BLOCK, len(marker)))
    for start in range(0, len(z), COMPARISONS_PER_BLOCK):
        _gather(triples, factors, marker, start, z[start : start + COMPARISONS_PER_BLOCK], D)


@njit(cache=True, nogil=True)
def add_gradient(triples: Triples, factors: Arrays, marker: Marker, h: Floats, G: Arrays) -> None:
    """Add the sum over comparisons of h_k times the gradient of z_k to G."""
    block, D = np.empty(COMPARISONS_PER_BLOCK), np.empty((COMPARISONS_PER_BLOCK, len(marker)))
    for start in range(0, len(h), COMPARISONS_PER_BLOCK):
        of_block = h[start : start + COMPARISONS_PER_BLOCK]
        _gather(triples, factors, marker, start, block[: len(of_block)], D)
        _scatter(triples, factors[0], marker, start, of_block, D, G)

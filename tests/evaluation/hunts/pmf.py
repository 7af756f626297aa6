"""Hunts for counterexamples to the theorems of the joint-PMF paper."""

from fractions import Fraction
from itertools import permutations
from math import prod

import numpy as np
from scipy.optimize import minimize

from cofactor.core.scattering import scattering_certificate
from cofactor.plain.spa import spa
from tests.evaluation.hunts import conditionals, counted, full_rank

DELTA = 0.01  # the chance of failure that the theorems allow
ANOTHER = 0.05  # models so far apart are two
EXACT = 1e-10  # squares of negative entries below this are none


def naive_bayes(rng):
    """Theorem 1: the construction, in rational numbers, for tables of two to four variables with cells of zero."""
    shape = rng.integers(2, 4, rng.integers(2, 5))
    counts = rng.integers(1, 9, shape) * (rng.random(shape) < rng.uniform(0.2, 1))
    if not counts.any():
        return None
    rows = np.moveaxis(counts, shape.argmax(), -1).reshape(-1, shape.max()).tolist()  # a class for each outcome
    total = sum(map(sum, rows))
    prior = [Fraction(sum(row), total) for row in rows]
    last = [[Fraction(c, sum(row) or 1) if any(row) else Fraction(1, len(row)) for c in row] for row in rows]
    assert sum(prior) == 1 and all(sum(column) == 1 for column in last)
    for p, A, row in zip(prior, last, rows, strict=True):
        assert [p * a * total for a in A] == row
    return len(rows) / min(prod(shape.tolist()) // n for n in shape.tolist())


def second_model(rng, first, second):
    """Look for G with first G and second G^-T not negative, from a random start; return its distance or None.

    The distance is that of G, in columns of length one, from the nearest permutation.
    """
    K = first.shape[1]

    def negatives(G):
        if abs(np.linalg.det(G.reshape(K, K))) < 1e-9:
            return 1e9
        G = G.reshape(K, K)
        both = first @ G, second @ np.linalg.inv(G).T
        return sum(np.sum((np.minimum(B, 0) / np.linalg.norm(B, axis=0)) ** 2) for B in both)

    found = minimize(negatives, rng.standard_normal(K * K), method="BFGS", options={"gtol": 1e-9, "maxiter": 150})
    G = found.x.reshape(K, K) / np.linalg.norm(found.x.reshape(K, K), axis=0)
    return np.sort(np.abs(G), axis=0)[:-1].max() if found.fun < EXACT else None


def scattered_group(rng, K=3, least=0.01):
    """Draw conditionals, with zeros, that the certificate proves to be scattered with a margin; or None."""
    A = rng.random((9, K)) * (rng.random((9, K)) < rng.uniform(0.4, 0.8))
    if not full_rank(A):
        return None
    A /= A.sum(axis=0)
    return A if scattering_certificate(A).margin >= least else None


def with_a_margin(rng):
    """Theorem 2, second right form: two groups, each with a margin, and any prior."""
    prior, groups = rng.dirichlet(np.full(3, 0.7)) + 1e-3, [scattered_group(rng), scattered_group(rng)]
    if any(A is None for A in groups):
        return None
    found = second_model(rng, groups[0], groups[1] * prior)
    return None if found is None else found / ANOTHER


def with_the_prior(rng):
    """Theorem 2, first right form: two groups of which A D(prior)^1/2 is scattered."""
    prior, groups = rng.dirichlet(np.full(3, 2.0)) + 1e-3, [scattered_group(rng), scattered_group(rng)]
    if any(A is None or scattering_certificate(A * np.sqrt(prior)).margin < 1e-3 for A in groups):
        return None
    found = second_model(rng, *(A * np.sqrt(prior) for A in groups))
    return None if found is None else found / ANOTHER


def nearly_separable(rng, n_values, n_classes, epsilon):
    """Draw rows on the simplex, the first ones at the distance epsilon from the unit vectors."""
    rows = rng.dirichlet(np.ones(n_classes), n_values)
    off = rows[:n_classes] - np.eye(n_classes)
    step = np.minimum(epsilon / np.linalg.norm(off, axis=1), 1)
    rows[:n_classes] = np.eye(n_classes) + step[:, None] * off
    return rows


def cnmf_spa(rng, constant=1.0):
    """Theorem 3: CNMF-SPA on counts, at the edges of epsilon and S, constants of one, rows made epsilon-separable."""
    F, M = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    n_values = int(rng.integers(F, 8))
    A = [conditionals(rng, n_values, F) for _ in range(M)]
    sizes = np.linalg.svd(np.vstack(A), compute_uv=False)
    kappa = sizes[0] / max(sizes[-1], 1e-9)
    epsilon = M * min(1 / (2 * np.sqrt(F - 1)), 1 / 4) / (2 * kappa * (1 + 80 * kappa**2))
    other = rng.dirichlet(np.ones(n_values))[:, None] * nearly_separable(rng, n_values, F, epsilon)
    blocks = [one @ other.T for one in A]  # `other` holds the chances of a value with a class
    eta = min(block.sum(axis=0).min() for block in blocks)
    S = M**2 * n_values * np.log(1 / DELTA) / (sizes[0] * eta * epsilon) ** 2
    if not S < 1e17:
        return None
    X = [counted(rng, block, int(S) + 1) for block in blocks]
    picked = spa(np.vstack(X) / np.vstack(X).sum(axis=0), F)
    found = [block[:, picked] / block[:, picked].sum(axis=0) for block in X]
    orders = map(list, permutations(range(F)))
    error = min(max(np.linalg.norm(B[:, p] - one, 2) for B, one in zip(found, A, strict=True)) for p in orders)
    zeta = max(sizes[0] * epsilon, M * np.sqrt(n_values * np.log(1 / DELTA)) / (eta * np.sqrt(S)))
    return error / (constant * kappa**2 * np.sqrt(F) * zeta)

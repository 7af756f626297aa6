"""Hunts for counterexamples to theorems: what all of them share.

A trial draws an instance. It returns None where the draw misses a condition of the theorem. Else it returns what was
found as a share of what the theorem promises: above one it is a counterexample.
"""

from itertools import permutations

import numpy as np

TRIES = 60  # for every draw that must meet the conditions


def worst(trial, draws, **options):
    """Return the largest share among so many draws that meet the conditions, and say what was tried."""
    shares, tried = [], 0
    while len(shares) < draws and tried < draws * TRIES:
        share = trial(np.random.default_rng([tried, draws]), **options)
        shares += [] if share is None else [float(share)]
        tried += 1
    assert len(shares) == draws, f"only {len(shares)} of {tried} draws meet the conditions"
    print(f"{trial.__doc__} {draws:,} draws of {tried:,} meet the conditions; nearest: {max(shares):.3g} of the bound.")
    return max(shares)


def conditionals(rng, n_values, n_classes):
    """Draw a matrix with columns that sum to one: even, skewed, or with columns that are nearly alike."""
    A = rng.random((n_values, n_classes)) ** rng.choice([0.5, 1, 4])
    A += rng.choice([0, 1]) * rng.random((n_values, 1)) * 10 ** rng.uniform(-1, 1)
    return A / A.sum(axis=0)


def counted(rng, table, n):
    """Count n draws from a table of chances, and divide by n."""
    return rng.multinomial(n, table.ravel() / table.sum()).reshape(table.shape) / n


def orthogonal(rng, K):
    """Draw an orthogonal matrix."""
    Q, R = np.linalg.qr(rng.standard_normal((K, K)))
    return Q * np.sign(np.diag(R))


def full_rank(H):
    """Say whether the columns are independent."""
    return np.linalg.matrix_rank(H) == H.shape[1]


def distance(found, truth):
    """Return the distance in the spectral norm, with the best order of the columns."""
    orders = permutations(range(truth.shape[1]))
    return min(np.linalg.norm(found[:, list(order)] - truth, 2) for order in orders)

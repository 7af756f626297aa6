"""Biased matrix factorisation, where its optimum is known: with biases alone it is a least squares problem."""

import numpy as np
import pytest

from cofactor.pmf.ratings import biased_factors


def test_biases_alone_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    row, column = np.nonzero(rng.random((7, 5)) < 0.7)
    rating, pulls = rng.normal(3.0, 1.0, len(row)), (rng.uniform(0.5, 2, 7), rng.uniform(0.5, 2, 5))
    design = np.column_stack([np.ones(len(row)), row[:, None] == np.arange(7), column[:, None] == np.arange(5)])
    pull = np.diag(np.sqrt(np.concatenate([[0.0], *pulls])))
    best = np.linalg.lstsq(np.vstack([design, pull]), np.append(rating, np.zeros(13)), rcond=None)[0]
    found = biased_factors(row, column, rating, 0, 1.0, pulls, max_iter=5000, tol=1e-15)
    assert np.concatenate([[found.level], found.a, found.b]) == pytest.approx(best, abs=1e-6)

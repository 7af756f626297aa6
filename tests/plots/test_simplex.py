"""The triangle and its disc, exactly."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cofactor_app.plots.simplex import CENTRE, RADIUS, to_plane


@given(seed=st.integers(0, 10_000))
def test_the_plane_keeps_distances(seed):
    x = np.random.default_rng(seed).dirichlet(np.ones(3), 4)
    there = np.linalg.norm(x[:, None] - x, axis=2)
    assert np.allclose(np.linalg.norm(to_plane(x)[:, None] - to_plane(x), axis=2), there)


def test_the_disc_is_the_cone():
    """On the simplex, 1'x >= sqrt(K-1) ||x|| reads ||x||^2 <= 1/2."""
    x = np.random.default_rng(0).dirichlet(np.ones(3), 500)
    inside = np.linalg.norm(to_plane(x) - CENTRE, axis=1) <= RADIUS
    assert np.array_equal(inside, x.sum(axis=1) >= np.sqrt(2) * np.linalg.norm(x, axis=1))
    assert 0 < inside.sum() < 500

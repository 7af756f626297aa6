"""The disc and the hull, exactly."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cofactor_app.plots.simplex import CENTRE, RADIUS, to_plane
from course.simplex import TOUCH, draw_simplex, hull_margin

HEXAGON = np.array([[2, 1, 0], [1, 2, 0], [0, 2, 1], [0, 1, 2], [1, 0, 2], [2, 0, 1]])


def test_margin_of_triangles_is_known():
    middles = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    assert abs(hull_margin(np.eye(3))) < TOUCH
    assert np.isclose(hull_margin(middles), -RADIUS / 2)  # half the size
    for touching in (np.vstack([middles, 7 * np.eye(3)]), HEXAGON):  # thirds of the edges cut at the radius
        assert abs(hull_margin(touching)) < TOUCH


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30)
def test_margin_equals_the_slow_version(seed):
    """The hull's distance to its centre is its smallest support over all directions."""
    rng = np.random.default_rng(seed)
    x = rng.dirichlet(np.ones(3), 12)
    angle = np.linspace(0, 2 * np.pi, 20_000)
    support = np.max((to_plane(x) - CENTRE) @ np.stack([np.cos(angle), np.sin(angle)]), axis=0)
    if support.min() > 0:
        assert np.isclose(hull_margin(x), support.min() - RADIUS, atol=3e-4)  # one step of the angle
    else:
        assert hull_margin(x) <= support.min() - RADIUS + 3e-4


@given(seed=st.integers(0, 10_000))
@example(seed=7181)
def test_more_rows_never_hurt_and_scale_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    x = rng.dirichlet(np.ones(3), 9)
    few = hull_margin(x[:6])
    assert hull_margin(x) >= few - 1e-12 or few < -RADIUS  # of a hull without the centre, a line's distance may shrink
    assert np.isclose(hull_margin(x * rng.uniform(0.1, 5, (9, 1))), hull_margin(x))
    assert hull_margin(x) <= 1e-12


@pytest.mark.parametrize("flat", [np.ones((4, 3)), np.eye(3)[:2], [[1, 0, 0], [1, 1, 0], [0, 1, 0], [3, 1, 0]]])
def test_a_hull_without_area_covers_nothing(flat):
    assert np.isclose(hull_margin(flat), -RADIUS)
    draw_simplex(flat)

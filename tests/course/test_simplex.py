"""The disc and the hull, exactly; SymNMF before and after; objectives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.patches import Circle

from cofactor.core.errors import CofactorError
from cofactor.crowd.symnmf import principal_root
from cofactor_app.plots.simplex import CENTRE, RADIUS, to_plane
from course.nb01.panels import scattering
from course.simplex import TOUCH, draw_rotation, draw_simplex, hull_margin, outside

HEXAGON = np.array([[2, 1, 0], [1, 2, 0], [0, 2, 1], [0, 1, 2], [1, 0, 2], [2, 0, 1]])


def title(fig):
    return fig.get_suptitle().replace("\n", " ")


def test_margin_of_triangles_is_known():
    middles = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    assert abs(hull_margin(np.eye(3))) < TOUCH
    assert np.isclose(hull_margin(middles), -RADIUS / 2)  # half the size
    assert abs(hull_margin(np.vstack([middles, 7 * np.eye(3)]))) < TOUCH


def test_margin_of_a_shrunken_triangle_is_known():
    """Shrinking the triangle by s about its centre moves its edges from r to s r."""
    shrunken = 0.6 * np.eye(3) + 0.4 / 3
    assert np.isclose(hull_margin(shrunken), -0.4 * RADIUS)


def test_margin_of_the_hexagon_is_known():
    """Edges of the triangle cut in thirds: the cuts pass at 1/sqrt(6) from the centre, just the radius."""
    cut = to_plane([[2, 1, 0], [2, 0, 1]]).mean(axis=0)
    assert np.isclose(np.linalg.norm(cut - CENTRE), 1 / np.sqrt(6))
    assert abs(hull_margin(HEXAGON)) < TOUCH


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
def test_more_rows_never_hurt_and_scale_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    x = rng.dirichlet(np.ones(3), 9)
    assert hull_margin(x) >= hull_margin(x[:6]) - 1e-12
    assert np.isclose(hull_margin(x * rng.uniform(0.1, 5, (9, 1))), hull_margin(x))
    assert hull_margin(x) <= 1e-12


@pytest.mark.parametrize("flat", [np.ones((4, 3)), np.eye(3)[:2], [[1, 0, 0], [1, 1, 0], [0, 1, 0], [3, 1, 0]]])
def test_a_hull_without_area_covers_nothing(flat):
    assert np.isclose(hull_margin(flat), -RADIUS)
    draw_simplex(flat)


@pytest.mark.parametrize("bad", [np.ones((4, 2)), np.ones(3), -np.eye(3), [[np.nan, 1, 1]]])
def test_what_is_not_in_the_triangle_is_refused(bad):
    with pytest.raises(CofactorError, match="triangle"):
        draw_simplex(bad)


def test_rows_are_drawn_where_they_lie():
    H = np.vstack([np.eye(3), [[1, 1, 1], [0, 0, 0], [4, 1, 1]]])
    ax = draw_simplex(H).axes[0]
    drawn = np.vstack([np.column_stack(line.get_data()) for line in ax.lines if len(line.get_xdata())])
    assert sorted(map(tuple, drawn.round(9))) == sorted(map(tuple, to_plane(H).round(9)))
    circles = [patch for patch in ax.patches if isinstance(patch, Circle)]
    assert all(np.allclose(circle.center, CENTRE) and np.isclose(circle.radius, RADIUS) for circle in circles)


def test_the_title_tells_whether_the_disc_is_covered():
    assert "covers the disc" in title(draw_simplex(np.eye(3)))
    short = 0.6 * np.eye(3) + 0.4 / 3
    assert title(draw_simplex(short)) == f"Not sufficiently scattered: the hull is {0.4 * RADIUS:.3f} short of the disc"


def test_small_entries_of_an_estimate_count_as_zero():
    noisy = np.eye(3) + 0.01
    assert "short of the disc" in title(draw_simplex(noisy))
    assert "covers the disc: first" in title(draw_simplex(noisy, floor=0.05))


def test_rotation_shows_rows_before_and_after():
    H = scattering(0.0, 8, seed=2).H
    U = principal_root(H)
    Q = np.linalg.lstsq(U, H, rcond=None)[0]
    fig = draw_rotation(U, Q, pair=(0, 2))
    for ax, rows in zip(fig.axes, (U, U @ Q), strict=True):
        drawn = np.column_stack([np.hstack([line.get_data()[i] for line in ax.lines[2:]]) for i in (0, 1)])
        assert np.allclose(np.sort(drawn, axis=0), np.sort(rows[:, [0, 2]], axis=0))
        share = np.mean((rows[:, [0, 2]] < -1e-6).any(axis=1))
        assert f"{100 * share:.0f}\xa0% outside" in ax.get_title()
    assert outside(U[:, [0, 2]]) > 0.2 and "0\xa0% after" in title(fig)


@pytest.mark.parametrize("pair", [(0, 0), (0, 3), (-1, 1)])
def test_rotation_needs_two_columns(pair):
    with pytest.raises(CofactorError, match="columns"):
        draw_rotation(np.ones((6, 3)), np.eye(3), pair)


def test_rotation_needs_matching_matrices():
    with pytest.raises(CofactorError, match="do not belong together"):
        draw_rotation(np.ones((6, 3)), np.eye(2))

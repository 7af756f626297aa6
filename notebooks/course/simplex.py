"""Pictures of a factor: its rows on the simplex, and how SymNMF turns them.

Symbols and geometry are those of `cofactor_app.plots.simplex`.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats
from cofactor_app.plots.simplex import CENTRE, RADIUS, draw_triangle, hull_of, nonnegative_rows, to_plane
from cofactor_app.plots.style import BLUE, FAINT, GREEN, RED, new_picture, percent, say, styled

TOUCH = 1e-6  # a hull this close to the disc covers it, up to rounding
OUTSIDE = 1e-6  # entries above minus this fraction of the largest count as nonnegative


def hull_margin(points: ArrayLike) -> float:
    """Return the smallest distance of an edge of the rows' hull from the centre, minus the radius of the disc.

    Zero (the maximum, since the triangle itself touches the disc) means that the hull covers the disc. The distance is
    negative if the hull does not contain the centre; a hull without area has distance zero.

    Parameters
    ----------
    points : (I, 3) array
        Rows of H, nonnegative; they are scaled here.

    Examples
    --------
    >>> round(hull_margin([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), 9) + 0.0
    0.0
    >>> round(hull_margin([[4, 1, 1], [1, 4, 1], [1, 1, 4]]), 3)
    -0.204
    """
    places = to_plane(points)
    hull = hull_of(places)
    if hull is None:
        return float(-RADIUS)
    distances = -(hull.equations[:, :2] @ CENTRE + hull.equations[:, 2])
    return float(distances.min() - RADIUS)


@styled
def draw_simplex(H: ArrayLike, floor: float = 0.0) -> Figure:
    """Draw the rows of H in the triangle, their convex hull, and the disc that it must cover.

    Parameters
    ----------
    H : (M K, 3) array, nonnegative
    floor : float
        Entries below this fraction of their row's sum count as zero, since no zero of an estimate is exact.

    Raises
    ------
    CofactorError
        H does not have three columns, or has negative entries.
    """
    H = nonnegative_rows(H)
    H = np.where(floor * H.sum(axis=1, keepdims=True) <= H, H, 0.0)
    fig = new_picture(6.5, 3.9)
    ax = fig.subplots()
    draw_triangle(to_plane(H), ax=ax)
    say(fig, _scattered(hull_margin(H), floor))
    return fig


def _scattered(margin: float, floor: float) -> str:
    level = f" (entries below {percent(floor)} set to zero)" if floor else ""
    if margin >= -TOUCH:
        return f"The hull covers the disc: first condition of sufficient scattering{level}"
    return f"Not sufficiently scattered: the hull falls short of the disc by {-margin:.3f}{level}"


@styled
def draw_rotation(U: ArrayLike, Q: ArrayLike, pair: tuple[int, int] = (0, 1)) -> Figure:
    """Draw two coordinates of the rows of U and of U Q: SymNMF turns the cloud into the nonnegative quadrant.

    Parameters
    ----------
    U : (M K, K) array
        Square root of the co-occurrences.
    Q : (K, K) orthogonal array
        Found by `symnmf`.
    pair : two different columns
        Which coordinates; with K = 2 there is no choice.
    """
    U, Q = np.asarray(U, dtype=np.float64), np.asarray(Q, dtype=np.float64)
    if U.ndim != 2 or Q.shape != (U.shape[1],) * 2 or not 0 <= min(pair) < max(pair) < U.shape[1]:
        raise CofactorError(f"U {U.shape}, Q {Q.shape} and columns {pair} do not match: U must be (M K, K), Q (K, K)")
    before, after = U[:, list(pair)], (U @ Q)[:, list(pair)]
    reach = 1.08 * float(max(np.abs(before).max(), np.abs(after).max()))
    fig = new_picture(6.5, 3.6)
    for ax, rows, name in zip(fig.subplots(1, 2, sharey=True), (before, after), ("U", "U Q"), strict=True):
        _fill_quadrant(ax, rows, reach)
        ax.set(title=f"rows of {name}: {percent(outside(rows))} outside", xlabel=f"column {pair[0] + 1}")
    fig.axes[0].set_ylabel(f"column {pair[1] + 1}")
    say(
        fig,
        f"SymNMF turns the cloud into the positive quadrant: {percent(outside(before))} of the rows are outside "
        f"before, {percent(outside(after))} after",
    )
    return fig


def outside(rows: Floats) -> float:
    """Return the fraction of rows with a negative entry, beyond rounding."""
    return float(np.mean((rows < -OUTSIDE * np.abs(rows).max()).any(axis=1)))


def fill_corner(ax: Axes, reach: float) -> None:
    """Draw the positive corner into square axes about the origin."""
    ax.add_patch(Rectangle((0, 0), reach, reach, fc=GREEN, alpha=0.12, lw=0))
    ax.axhline(0, color=FAINT, lw=0.8)
    ax.axvline(0, color=FAINT, lw=0.8)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")


def _fill_quadrant(ax: Axes, rows: Floats, reach: float) -> None:
    fill_corner(ax, reach)
    bad = (rows < -OUTSIDE * np.abs(rows).max()).any(axis=1)
    ax.plot(*rows[~bad].T, "o", ms=4, color=BLUE, alpha=0.7, mec="white", mew=0.4)
    ax.plot(*rows[bad].T, "X", ms=5.5, color=RED, mec="white", mew=0.4)
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))

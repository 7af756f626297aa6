"""The rows of a factor on the simplex, and the disc that they must cover for the factor to be unique.

For K = 3, rows of H scaled to sum to one lie in a triangle whose corners are the unit vectors. The second-order cone
C = {x : 1'x >= sqrt(K-1) ||x||} cuts it in the inscribed disc. H is sufficiently scattered (first condition) if the
convex hull of its rows covers that disc; falling short of it refutes the condition.

    symbol   meaning                                                    shape
    H        [A_1; ...; A_M] D^1/2, nonnegative                         (M K, K)
    x        a row of H, scaled to sum to one                           (K,)
    c        centre of the simplex, (1, 1, 1) / 3
    r        radius of the disc, sqrt(1/2 - 1/3) = 0.408

Source: Ibrahim and Fu, ICML 2021, Definition 1 and Figure 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Polygon
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats
from cofactor_app.plots.style import BLUE, INK, ORANGE, RED, axes_of, styled

CORNERS = np.array([[0.0, 0.0], [np.sqrt(2), 0.0], [np.sqrt(0.5), np.sqrt(1.5)]])  # e_1, e_2, e_3 at true distances
CENTRE = CORNERS.mean(axis=0)
RADIUS = float(np.sqrt(1 / 2 - 1 / 3))
SPECIALISTS = ("specialist\nfor class 1", "specialist\nfor class 2", "specialist for class 3")


def to_plane(H: ArrayLike) -> Floats:
    """Scale the nonzero rows of a nonnegative (I, 3) array to sum to one; return their (I', 2) positions in the plane.

    Distances in the plane equal those in space.
    """
    H = nonnegative_rows(H)
    total = H.sum(axis=1)
    return (H[total > 0] / total[total > 0, None]) @ CORNERS


def nonnegative_rows(H: ArrayLike) -> Floats:
    """Return H as an array; raise a CofactorError unless it has three columns and is finite and nonnegative."""
    H = np.asarray(H, dtype=np.float64)
    if H.ndim != 2 or H.shape[1] != 3:
        raise CofactorError(f"the triangle shows three classes, so H must have shape (rows, 3), got {H.shape}")
    if not np.isfinite(H).all() or (H < 0).any():
        raise CofactorError("H must be finite and nonnegative to lie in the triangle: clip it, or use the H of symnmf")
    return H


def hull_of(places: Floats) -> ConvexHull | None:
    """Return the convex hull, or None if the points have no area."""
    try:
        return ConvexHull(places)
    except (QhullError, ValueError):
        return None


@styled
def draw_triangle(places: Floats, corners: Sequence[str] = SPECIALISTS, *, ax: Axes | None = None) -> Axes:
    """Draw the triangle with named corners, the disc, the hull and the points; disc outside the hull is red."""
    ax = axes_of(ax, "Rows of the factor, their hull, and the disc that it must cover", height=3.9)
    hull = hull_of(places)
    corner = np.zeros(len(places), dtype=bool)
    centre = (float(CENTRE[0]), float(CENTRE[1]))
    ax.add_patch(Circle(centre, RADIUS, fc=RED, alpha=0.75, lw=0))
    if hull is not None:
        corner[hull.vertices] = True
        outline = places[hull.vertices]
        ax.add_patch(Polygon(outline, closed=True, fc="white", lw=0))
        ax.add_patch(Polygon(outline, closed=True, fc=(*BLUE, 0.16), ec=BLUE, lw=1.4, label="hull of the rows"))
    ax.add_patch(Polygon(CORNERS, closed=True, fill=False, ec=INK, lw=1))
    ax.add_patch(Circle(centre, RADIUS, fill=False, ec=ORANGE, lw=2, ls="--"))
    ax.plot([], [], "--", color=ORANGE, lw=2, label=f"cone C: disc, radius {RADIUS:.3f}")
    ax.plot(*places[~corner].T, "o", ms=4, color=BLUE, alpha=0.5, mec="white", mew=0.4, label="row of H")
    ax.plot(*places[corner].T, "D", ms=5.5, color=BLUE, mec="white", mew=0.6, label="corner of the hull")
    beside = [((-8, 0), "right", "center"), ((8, 0), "left", "center"), ((0, 7), "center", "bottom")]
    for name, place, (shift, ha, va) in zip(corners, CORNERS, beside, strict=True):
        ax.annotate(name, place, shift, textcoords="offset points", ha=ha, va=va, color=INK)
    ax.legend(loc="upper right", handlelength=1.6)
    ax.set(xlim=(-0.55, np.sqrt(2) + 0.75), ylim=(-0.2, np.sqrt(1.5) + 0.12), aspect="equal")
    ax.set_axis_off()
    return ax

"""Views of the factor: its rows on the simplex, SymNMF turning them, an objective falling.

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
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon, Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from cofactor.core.errors import CofactorError
from cofactor.core.result import Result
from cofactor.core.types import Floats
from cofactor.plots.style import BLUE, FAINT, GREEN, INK, ORANGE, RED, new_picture, number, percent, say, styled

CORNERS = np.array([[0.0, 0.0], [np.sqrt(2), 0.0], [np.sqrt(0.5), np.sqrt(1.5)]])  # e_1, e_2, e_3 at true distances
CENTRE = CORNERS.mean(axis=0)
RADIUS = float(np.sqrt(1 / 2 - 1 / 3))
TOUCH = 1e-6  # a hull this close to the disc covers it: rounding moves a corner by more than nothing
SPECIALISTS = ("specialist\nfor class 1", "specialist\nfor class 2", "specialist for class 3")
OUTSIDE = 1e-6  # entries above minus this share of the largest count as nonnegative


def to_plane(H: ArrayLike) -> Floats:
    """Scale the nonzero rows of a nonnegative (I, 3) array to sum to one; return their places in the plane, (I', 2).

    Distances in the plane are those in space.
    """
    H = _nonnegative(H)
    total = H.sum(axis=1)
    return (H[total > 0] / total[total > 0, None]) @ CORNERS


def _nonnegative(H: ArrayLike) -> Floats:
    """Check that rows can lie in the triangle."""
    H = np.asarray(H, dtype=np.float64)
    if H.ndim != 2 or H.shape[1] != 3:
        raise CofactorError(f"the triangle shows three classes: H must have shape (rows, 3), got {H.shape}")
    if not np.isfinite(H).all() or (H < 0).any():
        raise CofactorError("H must be finite and nonnegative to lie in the triangle: clip it, or use symnmf's H")
    return H


def hull_margin(points: ArrayLike) -> float:
    """Return how far the hull of the rows lies outside the disc: smallest distance of an edge to the centre, minus r.

    Zero (never more: the triangle itself touches the disc) means that the hull covers the disc. A hull that does not
    hold the centre has a negative distance; one without an area has distance zero at best.

    Parameters
    ----------
    points : (I, 3) array
        Rows of H, nonnegative; scaled here.

    Examples
    --------
    >>> round(hull_margin([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), 9) + 0.0
    0.0
    >>> round(hull_margin([[4, 1, 1], [1, 4, 1], [1, 1, 4]]), 3)
    -0.204
    """
    places = to_plane(points)
    hull = _hull(places)
    if hull is None:
        return float(-RADIUS)
    distances = -(hull.equations[:, :2] @ CENTRE + hull.equations[:, 2])
    return float(distances.min() - RADIUS)


def _hull(places: Floats) -> ConvexHull | None:
    """Convex hull, or None where the points have no area."""
    try:
        return ConvexHull(places)
    except (QhullError, ValueError):
        return None


@styled
def draw_simplex(H: ArrayLike, floor: float = 0.0) -> Figure:
    """Draw the rows of H in the triangle, their convex hull, and the disc it must cover.

    Parameters
    ----------
    H : (M K, 3) array, nonnegative
    floor : float
        Entries below this share of their row's sum count as zero first: in an estimate, no zero is exact.

    Raises
    ------
    CofactorError
        H has not three columns, or negative entries.
    """
    H = _floored(H, floor)
    fig = new_picture(6.5, 3.9)
    ax = fig.subplots()
    fill_simplex(ax, to_plane(H))
    say(fig, _scattered(hull_margin(H), floor))
    return fig


def _floored(H: ArrayLike, floor: float) -> Floats:
    H = _nonnegative(H)
    return np.where(floor * H.sum(axis=1, keepdims=True) <= H, H, 0.0)


def fill_simplex(ax: Axes, places: Floats, corners: Sequence[str] = SPECIALISTS) -> None:
    """Draw triangle, disc, hull and points into axes, its corners named; what the hull leaves of the disc is red."""
    hull = _hull(places)
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
    _name_corners(ax, corners)
    ax.legend(loc="upper right", handlelength=1.6)
    ax.set(xlim=(-0.55, np.sqrt(2) + 0.75), ylim=(-0.2, np.sqrt(1.5) + 0.12), aspect="equal")
    ax.set_axis_off()


def _name_corners(ax: Axes, names: Sequence[str]) -> None:
    beside = [((-8, 0), "right", "center"), ((8, 0), "left", "center"), ((0, 7), "center", "bottom")]
    for name, corner, (shift, ha, va) in zip(names, CORNERS, beside, strict=True):
        ax.annotate(name, corner, shift, textcoords="offset points", ha=ha, va=va, color=INK)


def _scattered(margin: float, floor: float) -> str:
    level = f" (entries below {percent(floor)} set to zero)" if floor else ""
    if margin >= -TOUCH:
        return f"The hull covers the disc: first condition of sufficient scattering{level}"
    return f"Not sufficiently scattered: the hull is {-margin:.3f} short of the disc{level}"


@styled
def draw_rotation(U: ArrayLike, Q: ArrayLike, pair: tuple[int, int] = (0, 1)) -> Figure:
    """Draw two coordinates of the rows of U, and of U Q: SymNMF turns the cloud into the nonnegative quadrant.

    Parameters
    ----------
    U : (M K, K) array
        Square root of the co-occurrences.
    Q : (K, K) orthogonal array
        What `symnmf` found.
    pair : two different columns
        Which coordinates; with K = 2 there is no choice.
    """
    U, Q = np.asarray(U, dtype=np.float64), np.asarray(Q, dtype=np.float64)
    if U.ndim != 2 or Q.shape != (U.shape[1],) * 2 or not 0 <= min(pair) < max(pair) < U.shape[1]:
        raise CofactorError(f"U {U.shape}, Q {Q.shape} and columns {pair} do not belong together: Q must be (K, K)")
    before, after = U[:, list(pair)], (U @ Q)[:, list(pair)]
    reach = 1.08 * float(max(np.abs(before).max(), np.abs(after).max()))
    fig = new_picture(6.5, 3.6)
    for ax, rows, name in zip(fig.subplots(1, 2, sharey=True), (before, after), ("U", "U Q"), strict=True):
        _fill_quadrant(ax, rows, reach)
        ax.set(title=f"rows of {name}: {percent(outside(rows))} outside", xlabel=f"column {pair[0] + 1}")
    fig.axes[0].set_ylabel(f"column {pair[1] + 1}")
    say(
        fig,
        f"SymNMF turns the cloud into the positive quadrant: {percent(outside(before))} of the rows outside "
        f"before, {percent(outside(after))} after",
    )
    return fig


def outside(rows: Floats) -> float:
    """Return the share of rows with an entry below zero (beyond rounding)."""
    return float(np.mean((rows < -OUTSIDE * np.abs(rows).max()).any(axis=1)))


def _fill_quadrant(ax: Axes, rows: Floats, reach: float) -> None:
    ax.add_patch(Rectangle((0, 0), reach, reach, fc=GREEN, alpha=0.12, lw=0))
    ax.axhline(0, color=FAINT, lw=0.8)
    ax.axvline(0, color=FAINT, lw=0.8)
    bad = (rows < -OUTSIDE * np.abs(rows).max()).any(axis=1)
    ax.plot(*rows[~bad].T, "o", ms=4, color=BLUE, alpha=0.7, mec="white", mew=0.4)
    ax.plot(*rows[bad].T, "X", ms=5.5, color=RED, mec="white", mew=0.4)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))


@styled
def draw_convergence(result: Result, name: str = "objective") -> Figure:
    """Draw the objective after each iteration, on a log scale.

    A rising objective, such as a log-likelihood, is drawn as its distance below the last value.
    """
    if not len(result.objective):
        raise CofactorError(f"nothing to draw: the method kept no objective ({result.reason})")
    objective = np.asarray(result.objective)
    rising = objective[-1] > objective[0]
    values = objective[-1] - objective if rising else objective
    shown = values > 0
    fig = new_picture()
    ax = fig.subplots()
    iteration = np.arange(1, len(values) + 1)
    marker = "o" if len(values) <= 60 else ""
    ax.semilogy(iteration[shown], values[shown], color=BLUE, marker=marker, ms=3)
    ax.set(xlabel="iteration", ylabel=f"{name} below its last value" if rising else name)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ending = "Converged" if result.converged else "Not converged"
    first, last = number(objective[0]), number(objective[-1])
    say(fig, f"{ending} after {result.n_iter} iterations: {name} from {first} to {last}")
    return fig

"""Pictures of uniqueness: the disc and its dual, error against margin, two runs of EM.

The plane 1'x = 1 is drawn at true distances, as in `cofactor_app.plots.simplex`. The points of norm one form the circle
through the corners of the triangle: the dual cone C* in this plane, as the inscribed disc is C. The hull of the rows of
H (I, 3) must cover the disc; in the dual, the slice T = {x : H x >= 0, 1'x = 1} must stay inside the circle.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, HalfspaceIntersection

from cofactor.core.scattering import Certificate, scattering_certificate
from cofactor.core.types import Floats
from cofactor_app.plots.simplex import CENTRE, CORNERS, draw_triangle, to_plane
from cofactor_app.plots.style import BLUE, FAINT, GREEN, HALO, INK, ORANGE, RED, WIDTH, new_picture, number, say, styled

OUTER = float(np.sqrt(2 / 3))  # radius of the circle through the corners
FRAME = 1.12  # half-width of the picture of T, which may be unbounded
LEAST = 1e-16  # smaller errors are rounding, and drawn here
TITLES = "rows of H: does the hull cover the disc?", "T = {x : Hx ≥ 0, 1'x = 1}: inside the circle?"


@styled
def draw_dual(H: ArrayLike) -> Figure:
    """Draw the rows of H, their hull and the disc; beside it the slice T and the circle it must not leave.

    Raises a CofactorError if H does not have three columns, or has negative entries.
    """
    places, certificate = to_plane(H), scattering_certificate(H)
    fig = new_picture(7.6, 3.9)
    left, right = fig.subplots(1, 2)
    draw_triangle(places, ax=left)
    left.get_legend().remove()
    frame_about_centre(left)
    left.set_title(TITLES[0])
    _fill_slice(right, places)
    right.set_title(TITLES[1])
    say(fig, verdict(certificate))
    return fig


def verdict(certificate: Certificate) -> str:
    """Say in a sentence what the certificate found."""
    if np.isinf(certificate.radius):
        return "Condition 1 fails: the slice T is unbounded"
    if certificate.condition1 == "fails":
        return f"Condition 1 fails: the longest corner of T has norm {certificate.radius:.3f}, outside the circle"
    if certificate.condition2 == "fails":
        return "Condition 1 holds, condition 2 fails: T has other corners on the circle that are orthogonal"
    return f"Sufficiently scattered: T stays inside the circle, by a margin of {certificate.margin:.3f}"


def _fill_slice(ax: Axes, places: Floats) -> None:
    """Draw the part of T within the frame; what lies outside the circle is red."""
    corners = slice_in_frame(places)
    circle = Circle((float(CENTRE[0]), float(CENTRE[1])), OUTER, fill=False, ec=ORANGE, lw=2, ls="--")
    ax.add_patch(Polygon(corners, closed=True, fc=RED, alpha=0.75, lw=0))
    ax.add_patch(circle)
    for colour, alpha in (("white", 1.0), (BLUE, 0.16)):
        inside = Polygon(corners, closed=True, fc=colour, alpha=alpha, lw=0)
        ax.add_patch(inside)
        inside.set_clip_path(circle)
    ax.add_patch(Polygon(corners, closed=True, fill=False, ec=BLUE, lw=1.4))
    ax.add_patch(Polygon(CORNERS, closed=True, fill=False, ec=INK, lw=1))
    ax.plot(*corners.T, "D", ms=5.5, color=BLUE, mec="white", mew=0.6)
    for k, corner in enumerate(CORNERS, start=1):
        away = CENTRE + 1.17 * (corner - CENTRE)
        ax.text(float(away[0]), float(away[1]), f"$e_{k}$", ha="center", va="center", color=INK, path_effects=HALO)
    ax.text(CENTRE[0], CENTRE[1] - OUTER - 0.14, "norm 1", ha="center", va="center", color=ORANGE)
    frame_about_centre(ax)
    ax.set_axis_off()


def frame_about_centre(ax: Axes) -> None:
    """Show both pictures at the same scale, centred."""
    ax.set(xlim=CENTRE[0] + FRAME * np.array([-1, 1]), ylim=CENTRE[1] + FRAME * np.array([-1, 1]), aspect="equal")


def slice_in_frame(places: Floats) -> Floats:
    """Corners of T inside a square frame about the centre, in order around it, (V, 2)."""
    g = places - CENTRE
    walls = np.vstack([-g, np.eye(2), -np.eye(2)])
    offsets = np.concatenate([np.full(len(g), -1 / 3), np.full(4, -0.97 * FRAME)])
    cut = HalfspaceIntersection(np.column_stack([walls, offsets]), np.zeros(2)).intersections
    return np.asarray(CENTRE + cut[ConvexHull(cut).vertices])


@styled
def draw_margins(margins: ArrayLike, errors: ArrayLike, misfits: ArrayLike) -> Figure:
    """Draw the error of a fitted model and its misfit ||H - U Q||^2 against the margin of its certificate."""
    margin, error, misfit = (np.asarray(values, dtype=np.float64) for values in (margins, errors, misfits))
    fig = new_picture(WIDTH, 3.6)
    ax = fig.subplots()
    ax.axvline(0, color=FAINT, lw=1)
    ax.semilogy(margin, np.maximum(misfit, LEAST), "x", color=FAINT, ms=4.5, label="misfit ‖H − UQ‖²")
    for chosen, colour, marker, label in (
        (margin < 0, RED, "o", "error of the model if condition 1 fails"),
        (margin >= 0, GREEN, "D", "error of the model if certified"),
    ):
        ax.semilogy(
            margin[chosen], np.maximum(error[chosen], LEAST), marker, color=colour, ms=5, mec="white", label=label
        )
    ax.set(xlabel="margin of the certificate", ylabel="squared error (floor 1e−16)", ylim=(LEAST / 4, 3))
    ax.legend(loc="center left")
    groups = {"if certified ": error[margin >= 0], "otherwise ": error[margin < 0]}
    largest = ", ".join(name + number(values.max()) for name, values in groups.items() if values.size)
    say(fig, f"Largest misfit of {margin.size} crowds: {number(misfit.max())}; largest error: {largest}")
    return fig


@styled
def draw_climbs(climbs: Mapping[str, ArrayLike], errors: Mapping[str, float]) -> Figure:
    """Draw the log-likelihood of each round of EM by the name of its start, with the error of the model at its end."""
    fig = new_picture(WIDTH, 3.4)
    ax = fig.subplots()
    for (name, climb), colour, line in zip(climbs.items(), (RED, BLUE, FAINT), ("-", "-", "--"), strict=False):
        path = np.asarray(climb, dtype=np.float64)
        label = f"{name}: ends with an error of {number(errors[name])}"
        ax.plot(np.arange(1, len(path) + 1), path, line, color=colour, label=label)
    ax.set(xlabel="round of EM", ylabel="log-likelihood of the labels")
    ax.legend(loc="lower right")
    (first, low), (second, high) = [(name, float(np.asarray(climb)[-1])) for name, climb in climbs.items()][:2]
    say(fig, f"From {second}, EM ends {high - low:.0f} higher than from {first}")
    return fig

"""A picture of notebook 01: graphs and clouds from which conditions are read off."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon

from cofactor.core.types import Floats
from cofactor_app.plots.simplex import CENTRE, CORNERS, RADIUS, to_plane
from cofactor_app.plots.style import BLUE, INK, ORANGE, new_picture, say, styled
from course.nb01.conditions import Graph
from course.schematics import fill_graph

LETTERS = "abcdefgh"


@styled
def draw_conditions(graphs: Graph, clouds: Floats) -> Figure:
    """Draw co-labelling graphs, and below them clouds of rows with the disc; the reader finds what holds in each.

    Parameters
    ----------
    graphs : (P, M, M) array of bool
    clouds : (P, I, 3) array, nonnegative
    """
    fig = new_picture(8, 4.9)
    axes = fig.subplots(2, len(graphs))
    for ax, links in zip(axes[0], graphs, strict=True):
        fill_graph(ax, links)
    for ax, rows in zip(axes[1], clouds, strict=True):
        _fill_cloud(ax, rows)
    for ax, letter in zip(axes.flat, LETTERS, strict=False):
        ax.set_title(letter)
        ax.set_aspect("equal")
        ax.set_axis_off()
    say(fig, "Who shares tasks with whom (above), and rows of H with the disc (below)")
    return fig


def _fill_cloud(ax: Axes, rows: Floats) -> None:
    """The triangle, the disc and the dots; no hull."""
    ax.add_patch(Circle((float(CENTRE[0]), float(CENTRE[1])), RADIUS, fc=(*ORANGE, 0.12), ec=ORANGE, lw=1.6, ls="--"))
    ax.add_patch(Polygon(CORNERS, closed=True, fill=False, ec=INK, lw=1))
    ax.plot(*to_plane(rows).T, "o", ms=6, color=BLUE, mec="white", mew=0.5, clip_on=False)
    ax.set(xlim=(-0.1, np.sqrt(2) + 0.1), ylim=(-0.1, np.sqrt(1.5) + 0.1))

"""Schematic drawings: the latent-class model, and the one idea behind all four problems."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Polygon, Rectangle
from numpy.typing import NDArray

from cofactor.core.types import Floats
from cofactor_app.plots.style import BLUE, FAINT, GREEN, INK, ORANGE, PAPER, PURPLE, new_picture, say, styled

Point = tuple[float, float]

# an expert, a guesser, and one who gives nearly everything the first label
SKILLS = (((0.95, 0.05), (0.05, 0.95)), ((0.5, 0.5), (0.5, 0.5)), ((0.95, 0.75), (0.05, 0.25)))


def _canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """Make axes in inches, without a frame."""
    fig = new_picture(width, height)
    ax = fig.subplots()
    ax.set(xlim=(0, width), ylim=(0, height - 0.35), aspect="equal")
    ax.set_axis_off()
    return fig, ax


def _box(ax: Axes, centre: Point, text: str, size: Point, fc: str = "white", ec: object = INK) -> None:
    x, y = centre[0] - size[0] / 2, centre[1] - size[1] / 2
    ax.add_patch(FancyBboxPatch((x, y), *size, boxstyle="round,pad=0,rounding_size=0.08", fc=fc, ec=ec, lw=1.3))
    ax.text(*centre, text, ha="center", va="center", fontsize=9.5)


def _arrow(ax: Axes, start: Point, end: Point) -> None:
    ax.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, color=FAINT, lw=1.4, zorder=1))


def _grid(
    ax: Axes, centre: Point, values: Floats, cell: float, colour: tuple[float, ...], holes: Floats | None = None
) -> None:
    """Draw a small matrix: larger entries have a stronger colour, and holes are hatched."""
    rows, columns = values.shape
    left, top = centre[0] - columns * cell / 2, centre[1] + rows * cell / 2
    for (i, j), value in np.ndenumerate(values):
        hole = holes is not None and bool(holes[i, j])
        face = PAPER if hole else tuple(1 - value * (1 - c) for c in colour)
        patch = FancyBboxPatch((left + j * cell, top - (i + 1) * cell), cell, cell, boxstyle="square,pad=0", fc=face)
        patch.set(ec=FAINT if hole else "white", lw=0.6, hatch="////" if hole else None, zorder=2)
        ax.add_patch(patch)


@styled
def draw_latent_class() -> Figure:
    """Draw the model of a crowd: one true class, and labels that depend only on it, each through its own matrix."""
    fig, ax = _canvas(6.5, 3.5)
    top = (3.25, 2.6)
    ax.add_patch(Circle(top, 0.42, fc="white", ec=ORANGE, lw=2, ls="--", zorder=3))
    ax.text(*top, "true class\n$y_n$", ha="center", va="center", fontsize=9, zorder=4)
    ax.text(top[0] + 0.55, top[1] + 0.2, "hidden, drawn from\nthe class prior $\\lambda$", va="center", fontsize=9.5)
    ax.text(0.1, top[1] + 0.2, "$A_m[i, c]$ = Pr(label $i$ | class $c$)", va="center", fontsize=9.5)
    for x, name, A in zip((0.85, 2.75, 5.65), ("1", "2", "M"), SKILLS, strict=True):
        _annotator(ax, top, (x, 0.4), name, np.array(A))
    ax.text(4.2, 0.4, "…", ha="center", va="center", fontsize=18)
    say(fig, "Given the true class, annotators err independently, each according to one matrix")
    return fig


def _annotator(ax: Axes, top: Point, place: Point, name: str, A: Floats) -> None:
    end = (place[0], place[1] + 0.3)
    direction = np.subtract(end, top) / np.hypot(*np.subtract(end, top))
    start = np.add(top, 0.42 * direction)
    _arrow(ax, (float(start[0]), float(start[1])), end)
    middle = (start + np.asarray(end)) / 2
    _grid(ax, (float(middle[0]), float(middle[1])), A, 0.24, BLUE)
    ax.text(middle[0] + 0.34, middle[1], f"$A_{name}$", va="center", fontsize=10)
    _box(ax, place, f"label of\nannotator {name}", (1.3, 0.58))


@styled
def draw_kit() -> Figure:
    """Draw the one idea behind the four problems: from pairwise evidence, through a factorisation, to structure."""
    fig, ax = _canvas(8.0, 5.6)
    for x, text in zip(COLUMNS, ("pairwise evidence", "factorisation", "structure"), strict=True):
        ax.text(x, 5.0, text, ha="center", va="center", fontsize=11, fontweight="bold")
    rows = (("crowd", _crowd_row), ("pmf", _pmf_row), ("separable", _separable_row), ("comparisons", _comparisons_row))
    for k, (name, draw) in enumerate(rows):
        y = 4.25 - 1.2 * k
        ax.text(0.05, y + 0.05, name, va="center", fontsize=11, fontweight="bold", color=ACCENTS[k])
        for left, right in pairwise(COLUMNS):
            _arrow(ax, (left + 0.85, y + 0.1), (right - 0.85, y + 0.1))
        for x, text in zip(COLUMNS, CAPTIONS[k], strict=True):
            ax.text(x, y - 0.5, text, ha="center", va="center", fontsize=9)
        draw(ax, y + 0.1, ACCENTS[k])
    say(fig, "One idea, four problems: pairs are enough to recover the structure behind all the data")
    return fig


COLUMNS = (2.15, 4.55, 6.95)
ACCENTS = (BLUE, ORANGE, GREEN, PURPLE)
CAPTIONS = (
    ("label pairs, some missing", "imputation, then $X = H H^{T}$", "confusion matrices, true labels"),
    ("tables of two variables", "coupled: $X_{mn} = A_m D A_n^{T}$", "joint distribution of all"),
    ("columns that mix a few others", "$X = X_{anchors} C$", "anchors: topics, pure nodes"),
    ("user chooses $i$ over $j$", "low rank: $u^{T}(v_i - v_j)$", "features of users and items"),
)
Colour = tuple[float, ...]


def _pattern(rows: int, columns: int, seed: int) -> Floats:
    return np.random.default_rng(seed).beta(0.9, 1.3, (rows, columns))


def _product(ax: Axes, y: float, colour: Colour, left: tuple[int, int], right: tuple[int, int]) -> None:
    """Draw a tall matrix times a wide one."""
    cell, x = 0.1, COLUMNS[1]
    _grid(ax, (x - 0.36, y), _pattern(*left, 1), cell, colour)
    ax.text(x - 0.08, y, "×", ha="center", va="center", fontsize=11)
    _grid(ax, (x + 0.42, y), _pattern(*right, 2), cell, colour)


def _crowd_row(ax: Axes, y: float, colour: Colour) -> None:
    H = _pattern(8, 2, 3)
    holes = np.kron(np.eye(4) + np.diag([1, 0, 0, 1])[::-1], np.ones((2, 2))).astype(np.float64)
    _grid(ax, (COLUMNS[0], y), H @ H.T / (H @ H.T).max(), 0.1, colour, holes)
    _product(ax, y, colour, (8, 2), (2, 8))
    for k, A in enumerate(SKILLS):
        _grid(ax, (COLUMNS[2] - 0.5 + 0.5 * k, y), np.array(A), 0.2, colour)


def _pmf_row(ax: Axes, y: float, colour: Colour) -> None:
    for k in range(3):
        _grid(ax, (COLUMNS[0] - 0.55 + 0.55 * k, y), _pattern(3, 3, k), 0.15, colour)
    _product(ax, y, colour, (6, 2), (2, 6))
    for k in range(3):  # slices of a tensor, the last in front
        centre = (COLUMNS[2] + 0.16 * (1 - k), y + 0.12 * (1 - k))
        _grid(ax, centre, _pattern(4, 4, 5 + k), 0.13, colour)
        ax.add_patch(Rectangle((centre[0] - 0.26, centre[1] - 0.26), 0.52, 0.52, fill=False, ec=INK, lw=0.8, zorder=2))


def _separable_row(ax: Axes, y: float, colour: Colour) -> None:
    W = _pattern(6, 3, 8)
    C = np.random.default_rng(4).dirichlet(np.ones(3), 10).T
    C[:, [1, 4, 8]] = np.eye(3)
    X = W @ C
    _grid(ax, (COLUMNS[0], y), X / X.max(), 0.11, colour)
    for column in (1, 4, 8):
        corner = (COLUMNS[0] + (column - 5) * 0.11, y - 0.33)
        ax.add_patch(Rectangle(corner, 0.11, 0.66, fill=False, ec=INK, lw=1.4, zorder=3))
    _product(ax, y, colour, (6, 3), (3, 8))
    corners = np.add([[-0.5, -0.33], [0.5, -0.33], [0.0, 0.37]], [COLUMNS[2], y])
    ax.add_patch(Polygon(corners, closed=True, fc=(*colour, 0.12), ec=colour, lw=1.2))
    ax.plot(*(C.T @ corners).T, "o", ms=3.5, color=colour)
    ax.plot(*corners.T, "D", ms=6, color=INK)


def _comparisons_row(ax: Axes, y: float, colour: Colour) -> None:
    for k, (first, second) in enumerate(((1, 0), (0, 1), (1, 0))):
        for x, chosen, letter in ((-0.3, first, "i"), (0.3, second, "j")):
            place = (COLUMNS[0] + x, y + 0.26 - 0.26 * k)
            ax.add_patch(Circle(place, 0.105, fc=colour if chosen else "white", ec=colour, lw=1.2))
            ax.text(*place, f"${letter}$", ha="center", va="center", fontsize=8, color="white" if chosen else INK)
        ax.text(COLUMNS[0], y + 0.26 - 0.26 * k, ">" if first else "<", ha="center", va="center", fontsize=10)
    _product(ax, y, colour, (7, 2), (2, 8))
    items = np.random.default_rng(11).uniform(-0.36, 0.36, (9, 2)) * [1.5, 0.9] + [COLUMNS[2], y]
    ax.plot(*items.T, "s", ms=4.5, color=colour)
    _arrow(ax, (COLUMNS[2] - 0.45, y - 0.25), (COLUMNS[2] + 0.4, y + 0.25))
    ax.text(COLUMNS[2] + 0.46, y + 0.28, "$u$", va="center", fontsize=10)


def fill_graph(ax: Axes, links: NDArray[np.bool_]) -> None:
    """Draw annotators on a circle, with a line between any two that are linked; `links` is (M, M) and symmetric."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(links)) / len(links)
    places = np.column_stack([np.cos(angle), np.sin(angle)])
    for a, b in np.argwhere(np.triu(links)):
        ax.plot(*places[[a, b]].T, color=FAINT, lw=1.8, zorder=1)
    ax.plot(*places.T, "o", ms=15, color=BLUE, mec="white", zorder=2)
    for number, (x, y) in enumerate(places):
        ax.text(float(x), float(y), str(number), color="white", ha="center", va="center", fontsize=9, zorder=3)
    ax.set(xlim=(-1.35, 1.35), ylim=(-1.35, 1.35))

"""Small changes of a figure, as a mistake in its data or its drawing makes them.

Each takes a figure and changes it, or returns False where the figure has nothing of the kind.
"""

from itertools import pairwise

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.patches import Rectangle

LEAST = 0.02  # of the height of the axes: values that differ by more can be told apart


def _lines(fig):
    """Curves of more than two different values, with their axes."""
    return [(ax, line) for ax in fig.axes for line in ax.lines if line.get_visible() and _varies(ax, line)]


def _varies(ax, line):
    heights = _heights(ax, line)
    return len(heights) > 2 and np.isfinite(heights).all() and np.ptp(heights) > LEAST


def _heights(ax, line):
    return (line.get_transform() + ax.transAxes.inverted()).transform(np.asarray(line.get_xydata(), dtype=float))[:, 1]


def _move(ax, points, dx, dy, move):
    """Points moved by fractions of the axes."""
    there = (
        move.transform(np.asarray(points, dtype=float))
        + ax.transAxes.transform([dx, dy])
        - ax.transAxes.transform([0, 0])
    )
    return move.inverted().transform(there)


def of_line(change):
    """Change the first line that varies."""

    def changed(fig):
        found = _lines(fig)
        return change(*found[0]) if found else False

    return changed


def of_all(kind, change):
    """Change the first artist of a kind in any axes."""

    def changed(fig):
        found = [
            part for ax in fig.axes for part in ax.get_children() if isinstance(part, kind) and part is not ax.patch
        ]
        return change(found[0]) if found else False

    return changed


def shifted(dx, dy):
    return lambda ax, line: line.set_data(*_move(ax, line.get_xydata(), dx, dy, line.get_transform()).T)


def one_point_moved(ax, line):
    points = np.array(line.get_xydata(), dtype=float)
    middle = len(points) // 2
    points[middle] = _move(ax, points[middle : middle + 1], 0, 0.03, line.get_transform())[0]
    line.set_data(*points.T)


def two_points_swapped(ax, line):
    points = np.array(line.get_xydata(), dtype=float)
    heights = _heights(ax, line)
    low, high = heights.argmin(), heights.argmax()
    points[[low, high], 1] = points[[high, low], 1]
    line.set_data(*points.T)


def two_lines_swapped(fig):
    for ax in fig.axes:
        lines = [line for of, line in _lines(fig) if of is ax]
        if len(lines) > 1 and not np.array_equal(lines[0].get_xydata(), lines[1].get_xydata()):
            first, second = (np.array(line.get_xydata()) for line in lines[:2])
            lines[0].set_data(*second.T)
            lines[1].set_data(*first.T)
            return True
    return False


def without_point(where):
    return lambda ax, line: line.set_data(*np.delete(np.array(line.get_xydata(), dtype=float), where, axis=0).T)


def of_axes(change, wanted=lambda ax: ax.axison):
    def changed(fig):
        found = [ax for ax in fig.axes if wanted(ax)]
        return change(found[-1]) if found else False

    return changed


def wider(name):
    def change(ax):
        low, high = getattr(ax, f"get_{name}lim")()
        if getattr(ax, f"get_{name}scale")() != "linear" or not getattr(ax, f"{name}axis").get_ticklabels():
            return False
        return getattr(ax, f"set_{name}lim")(low, high + 0.02 * (high - low))

    return change


def legend_of(fig):
    found = [*fig.legends, *(ax.get_legend() for ax in fig.axes if ax.get_legend())]
    return found[0] if found else None


def of_legend(change):
    def changed(fig):
        legend = legend_of(fig)
        return change(legend) if legend and len(legend.get_texts()) > 1 else False

    return changed


def entries_swapped(legend):
    first, second = legend.get_texts()[:2]
    words = first.get_text(), second.get_text()
    first.set_text(words[1])
    second.set_text(words[0])


def of_image(change, wanted=lambda values: True):
    def changed(fig):
        images = [image for ax in fig.axes for image in ax.images if np.ptp(image.get_array()) > 0]
        images = [image for image in images if wanted(np.ma.filled(image.get_array(), 0))]
        return change(images[-1]) if images else False

    return changed


def not_symmetric(values):
    return values.ndim == 2 and (values.shape[0] != values.shape[1] or np.abs(values - values.T).max() > LEAST)


def not_mirrored(values):
    return np.abs(values - values[::-1]).max() > LEAST


def one_segment_less(part):
    return part.set_segments(part.get_segments()[:-1]) if len(part.get_segments()) > 1 else False


def linear_lines(ax):
    return ax.axison and ax.get_yscale() == "linear" and ax.lines


def has_floor(ax):
    return ax.axison and "bottom" in ax.spines and ax.spines["bottom"].get_visible()


def without_error_bars(fig):
    bars = [box for ax in fig.axes for box in ax.containers if isinstance(box, ErrorbarContainer) and box[2]]
    return bars[0][2][0].remove() if bars else False


def of_text(change):
    def changed(fig):
        texts = [text for ax in fig.axes for text in ax.texts if text.get_text() and text.get_visible()]
        return change(texts[-1]) if texts else False

    return changed


def bars_swapped(fig):
    for ax in fig.axes:
        bars = [patch for patch in ax.patches if type(patch) is Rectangle]
        for first, second in pairwise(bars):
            if first.get_facecolor() != second.get_facecolor():
                colours = first.get_facecolor(), second.get_facecolor()
                first.set_facecolor(colours[1])
                return second.set_facecolor(colours[0])
    return False


def panels_swapped(fig):
    if len(fig.axes) < 2 or fig.axes[0].get_position().bounds == fig.axes[1].get_position().bounds:
        return False
    first, second = (ax.get_position() for ax in fig.axes[:2])
    fig.axes[0].set_position(second)
    return fig.axes[1].set_position(first)


def retitled(ax):
    return ax.set_title(ax.get_title() + "s") if ax.get_title() else False


def relabelled(name):
    def change(ax):
        label = getattr(ax, f"get_{name}label")()
        return getattr(ax, f"set_{name}label")(label[:-1]) if label else False

    return change


CHANGES = {
    "data up by 1 %": of_line(shifted(0, 0.01)),
    "data down by 1 %": of_line(shifted(0, -0.01)),
    "data to the right by 1 %": of_line(shifted(0.01, 0)),
    "one point moved": of_line(one_point_moved),
    "two points swapped": of_line(two_points_swapped),
    "two lines swapped": two_lines_swapped,
    "first point dropped": of_line(without_point(0)),
    "last point dropped": of_line(without_point(-1)),
    "a point within dropped": of_line(without_point(1)),
    "a line dropped": of_line(lambda ax, line: line.remove()),
    "a line hidden": of_line(lambda ax, line: line.set_visible(False)),
    "another colour": of_line(lambda ax, line: line.set_color("#123456")),
    "another marker": of_line(lambda ax, line: line.set_marker("2")),
    "another size of marker": of_line(lambda ax, line: line.set_markersize(line.get_markersize() + 2)),
    "another style": of_line(lambda ax, line: line.set_linestyle((0, (3, 7)))),
    "another width": of_line(lambda ax, line: line.set_linewidth(line.get_linewidth() + 0.5)),
    "fainter": of_line(lambda ax, line: line.set_alpha(0.42)),
    "stepped": of_line(lambda ax, line: line.set_drawstyle("steps-mid")),
    "another name": of_line(lambda ax, line: line.set_label("another")),
    "another finding": lambda fig: fig.suptitle(fig.get_suptitle() + "9"),
    "another title": of_axes(retitled, lambda ax: ax.get_title()),
    "label of x cut": of_axes(relabelled("x"), lambda ax: ax.get_xlabel()),
    "label of y cut": of_axes(relabelled("y"), lambda ax: ax.get_ylabel()),
    "wider": of_axes(wider("x")),
    "higher": of_axes(wider("y")),
    "turned around": of_axes(lambda ax: ax.invert_yaxis()),
    "another scale": of_axes(lambda ax: ax.set_yscale("symlog", linthresh=1e-3), linear_lines),
    "a grid": of_axes(lambda ax: ax.grid(True)),
    "no ticks": of_axes(lambda ax: ax.set_xticks([]), lambda ax: ax.axison and len(ax.get_xticks())),
    "a line less around": of_axes(lambda ax: ax.spines["bottom"].set_visible(False), has_floor),
    "axes off": of_axes(lambda ax: ax.set_axis_off()),
    "a panel less": lambda fig: fig.axes[-1].remove() if len(fig.axes) > 1 else False,
    "panels swapped": panels_swapped,
    "legend's names swapped": of_legend(entries_swapped),
    "legend elsewhere": of_legend(lambda legend: legend.set_loc("lower left") if legend._loc != 3 else False),
    "no legend": of_legend(lambda legend: legend.remove()),
    "legend renamed": of_legend(lambda legend: legend.get_texts()[-1].set_text("else")),
    "image transposed": of_image(lambda image: image.set_data(image.get_array().T), not_symmetric),
    "image upside down": of_image(lambda image: image.set_data(image.get_array()[::-1]), not_mirrored),
    "image brighter": of_image(lambda image: image.set_data(image.get_array() * 1.01), lambda v: v.ndim == 2),
    "image's limits": of_image(lambda image: image.set_clim(None, image.get_clim()[1] * 1.02)),
    "image's colours": of_image(lambda image: image.set_cmap("viridis")),
    "no error bars": without_error_bars,
    "one segment less": of_all(LineCollection, one_segment_less),
    "thicker segments": of_all(LineCollection, lambda part: part.set_linewidth(3.3)),
    "no area": of_all(PolyCollection, lambda part: part.remove()),
    "a bar longer": of_all(Rectangle, lambda bar: bar.set_width(bar.get_width() * 1.05) if bar.get_width() else False),
    "a bar less": of_all(Rectangle, lambda bar: bar.remove()),
    "a bar without hatch": of_all(Rectangle, lambda bar: bar.set_hatch("" if bar.get_hatch() else "++")),
    "bars' colours swapped": bars_swapped,
    "words changed": of_text(lambda text: text.set_text(text.get_text() + "1")),
    "words elsewhere": of_text(lambda text: text.set_x(text.get_position()[0] * 1.3 + 0.05)),
    "words gone": of_text(lambda text: text.remove()),
    "words in red": of_text(lambda text: text.set_color("red")),
    "words smaller": of_text(lambda text: text.set_fontsize(text.get_fontsize() - 1)),
}  # fmt: skip

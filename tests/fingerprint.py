"""What a figure shows, as text: two figures with equal texts look alike.

A line stands for all artists of one look in one place: first the look and the words, then the numbers.
Positions are fractions of the axes, so a difference below 0.0015 is less than a pixel whatever the units. A row of
more than FEW numbers is told by its first, last, least, greatest, sum, and a sum with weights that change with the
place, so that order matters. All these have four decimals; `tests.nbval_tolerance` goes by that.
"""

import numpy as np
from IPython.core.formatters import BaseFormatter
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection
from matplotlib.colors import to_rgba
from matplotlib.figure import SubFigure
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.spines import Spine
from matplotlib.text import Annotation, Text

MIME = "text/x-fingerprint"
HEAD = "fingerprint of a figure"
GOLDEN = (5**0.5 - 1) / 2
FEW = 6
BEYOND = 1.0  # what lies further outside of the axes than they are wide counts as lying there


def fingerprint(fig):
    """Tell what a figure shows, a line an artist."""
    width, height = fig.get_size_inches()
    return "\n".join([f"{HEAD} of {width:g} x {height:g} inches", *_inside(fig, fig.transFigure)])


def _inside(container, frame):
    """Lines of all that is drawn in a figure or in axes; `frame` turns fractions of it into pixels."""
    drawn = [part for part in container.get_children() if part.get_visible() and part is not container.patch]
    parts = [part for part in drawn if isinstance(part, Axes | SubFigure)]
    own = [part for part in drawn if not isinstance(part, Spine | Axis | Axes | SubFigure) and not _is_empty(part)]
    alike = {}
    for part in own:
        alike.setdefault(_look(part), []).append(part)
    yield from (_run(look, run, frame) for look, run in alike.items())
    for part in parts:
        yield from _axes(part) if isinstance(part, Axes) else _inside(part, part.transSubfigure)


def _axes(ax):
    """Lines of axes: place, both axes, then what is in them."""
    spines = [name for name, spine in ax.spines.items() if spine.get_visible()] if ax.axison else "off"
    yield f"axes at {_numbers(ax.get_position().extents)} {_colour(ax.get_facecolor())} lines {spines}"
    if ax.axison:
        yield from (f"  {'xy'[k]} {_axis(axis, ax, k)}" for k, axis in enumerate((ax.xaxis, ax.yaxis)))
    yield from (f"  {line}" for line in _inside(ax, ax.transAxes))


def _axis(axis, ax, k):
    """Name, scale, and the ticks as they are read, with their places."""
    axis.get_ticklabels()  # brings the ticks up to date
    ticks = axis.get_major_ticks()
    places = np.zeros((len(ticks), 2))
    places[:, k] = [tick.get_loc() for tick in ticks]
    along = _fractions(places, ax.transData, ax.transAxes)[:, k]
    seen = [(tick.label1.get_text(), at) for tick, at in zip(ticks, along, strict=True) if -1e-3 < at < 1.001]
    words = " | ".join(text for text, _ in seen)
    grid = " grid" if any(line.get_visible() for line in axis.get_gridlines()) else ""
    return f"{axis.get_scale()}{grid} {axis.label.get_text()!r} ticks {words!r} {_row([at for _, at in seen])}"


def _is_empty(artist):
    return isinstance(artist, Text) and not artist.get_text() and not getattr(artist, "arrow_patch", None)


def _look(artist):
    """Kind, name and style, as words."""
    label = str(artist.get_label())
    named = f" {label!r}" if label and not label.startswith("_") else ""
    faint = "" if artist.get_alpha() is None else f" alpha {artist.get_alpha()}"
    return f"{type(artist).__name__}{named} z{artist.get_zorder():g}{faint} {_style(artist)}".strip()


def _style(artist):
    if isinstance(artist, Line2D):
        line = f"{_colour(artist.get_color())} {artist.get_linewidth():.3g} {artist.get_linestyle()}"
        dashes = getattr(artist, "_unscaled_dash_pattern", "")  # a pattern of one's own is called "--" too
        marker = f"{artist.get_marker()} {artist.get_markersize():.3g} {_colour(artist.get_markerfacecolor())}"
        return f"{line} {dashes} {artist.get_drawstyle()} marker {marker} {_colour(artist.get_markeredgecolor())}"
    if isinstance(artist, Patch):
        border = f"{_colour(artist.get_edgecolor())} {artist.get_linewidth():.3g} {artist.get_linestyle()}"
        return f"border {border} hatch {artist.get_hatch() or 'none'}"
    if isinstance(artist, Text):
        lie = f"{artist.get_horizontalalignment()} {artist.get_verticalalignment()} {artist.get_rotation():.4g}"
        extras = [artist.get_bbox_patch(), getattr(artist, "arrow_patch", None)]  # a box around it, an arrow from it
        more = " ".join(f"{type(extra).__name__} {_style(extra)} {_filling(extra)}" for extra in extras if extra)
        return f"{_colour(artist.get_color())} {artist.get_fontsize():.3g} {artist.get_fontweight()} {lie} {more}"
    if isinstance(artist, AxesImage):
        return f"{artist.get_interpolation()} {artist.origin} {_scale(artist)}"
    if isinstance(artist, Collection):
        dashes = [dash for _, dash in artist.get_linestyle()]
        scale = "" if artist.get_array() is None else _scale(artist)
        return f"dashes {dashes} hatch {artist.get_hatch() or 'none'} {scale}"
    return ""


def _filling(*alike):
    """Colours of areas: of several apart from their look, since colours may be what a picture tells."""
    inside = [one.get_facecolor() for one in alike if isinstance(one, Patch | Collection)]
    border = f" edge {_paint(alike[0].get_edgecolor())}" if isinstance(alike[0], Collection) else ""
    return f"colour {_paint(np.concatenate([np.atleast_2d(colour) for colour in inside]))}{border}" if inside else ""


def _scale(mapped):
    """What numbers the colours stand for: ends and middle of the colours, and both limits."""
    low, high = ("none" if end is None else f"{float(end):.9g}" for end in mapped.get_clim())
    return " ".join(["scale", *(_colour(mapped.get_cmap()(share)) for share in (0.0, 0.5, 1.0)), low, "to", high])


def _run(look, run, frame):
    """One line: a look, and the numbers of all that has it."""
    first = run[0]
    if isinstance(first, Legend):
        return f"{look} {_legend(first, frame)}"
    if isinstance(first, Collection):
        return "\n  ".join(f"{look} {_collection(one, frame)}" for one in run)
    if isinstance(first, AxesImage):
        return "\n  ".join(f"{look} {_image(one, frame)}" for one in run)
    where = _row(np.concatenate([_points(one, frame) for one in run]))
    what = repr(" | ".join(one.get_text() for one in run)) if isinstance(first, Text) else _filling(*run)
    return f"{look} {what} {len(run)} at {where}"


def _points(artist, frame):
    if isinstance(artist, Annotation):
        ends = (artist.xy, artist.xycoords), (artist.get_position(), artist.anncoords)
        return _fractions([artist._get_xy(None, place, units) for place, units in ends], None, frame)
    if isinstance(artist, Text):
        return _fractions([artist.get_position()], artist.get_transform(), frame)
    if isinstance(artist, Line2D):
        return _fractions(artist.get_xydata(), artist.get_transform(), frame)
    if isinstance(artist, Patch):
        return _fractions(artist.get_path().vertices, artist.get_transform(), frame)
    return _fractions(artist.get_window_extent().get_points(), None, frame)


def _collection(artist, frame):
    """Places, forms, sizes and colours of points, lines or areas."""
    outlines = [path.vertices for path in artist.get_paths()] or [np.zeros((0, 2))]
    if np.any(artist.get_offsets()):
        places = _fractions(artist.get_offsets(), artist.get_offset_transform(), frame)
        form = f"form {_row(outlines[0])} size {_row(getattr(artist, 'get_sizes', list)())}"
    else:
        places, form = _fractions(np.concatenate(outlines), artist.get_transform(), frame), ""
    mapped = artist.get_array() is not None
    paint = f"values {_values(artist)}" if mapped else _filling(artist)
    return f"{len(outlines)} at {_row(places)} {form} width {_row(artist.get_linewidth())} {paint}"


def _image(artist, frame):
    rows, columns = artist.get_size()
    left, right, bottom, top = artist.get_extent()
    corners = _fractions([(left, bottom), (right, top)], artist.get_transform(), frame)
    return f"{rows} x {columns} of {_values(artist)} at {_row(corners)}"


def _values(mapped):
    """Numbers that colours stand for, as fractions of the scale of colours."""
    array = np.ma.asarray(mapped.get_array())
    shares = mapped.norm(array) if array.ndim < 3 else array / (255 if array.dtype.kind == "u" else 1)
    return _row(np.ma.ravel(shares))


def _legend(legend, frame):
    x, y = legend.get_bbox_to_anchor().get_points().T
    entries = [
        f"{words.get_text()!r}: {type(handle).__name__} {_style(handle)} {_filling(handle)}"
        for handle, words in zip(legend.legend_handles, legend.get_texts(), strict=True)
    ]
    anchor = _row(_fractions(np.column_stack([x, y]), None, frame))
    head = f"{legend.get_title().get_text()!r} {legend._loc} {legend._ncols} columns at {anchor}"
    return "\n    ".join([head, *entries])


def _fractions(points, transform, frame):
    """Bring points to fractions of the frame."""
    points = np.ma.filled(np.ma.asarray(points, dtype=float).reshape(-1, 2), np.nan)
    pixels = points if transform is None else transform.transform(points)
    return np.clip(frame.inverted().transform(pixels), -BEYOND, 1 + BEYOND)


def _paint(colours):
    """One colour by name; many as a row of numbers."""
    found = np.atleast_2d(colours)
    if found.size == 0:
        return "none"
    return _colour(found[0]) if np.all(found == found[0]) else _row(found)


def _colour(colour):
    if isinstance(colour, str) and colour == "none":
        return "none"
    *rgb, alpha = np.rint(255 * np.array(to_rgba(colour))).astype(int)
    return f"rgb({','.join(map(str, rgb))})" + (f"/{alpha}" if alpha < 255 else "")


def _row(values):
    """Numbers in their order, or where there are many, how many and their statistics; points by x and by y."""
    values = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)
    columns = values.T if values.ndim == 2 else [values]
    return " ".join(f"({_numbers(column)})" if len(column) <= FEW else _statistics(column) for column in columns)


def _statistics(column):
    found = column[np.isfinite(column)]
    weights = np.modf(GOLDEN * np.arange(1, found.size + 1))[0]
    ends = [found[0], found[-1], found.min(), found.max()] if found.size else []
    return f"({found.size} of {column.size}: {_numbers([*ends, found.sum(), found @ weights])})"


def _numbers(values):
    return " ".join(f"{round(float(value), 4) + 0.0:.4f}" for value in values)


def of_panel(panel):
    """Tell what a panel of the course shows with its present values."""
    return f"{HEAD}: none" if panel.outcome is None else fingerprint(panel.draw(panel.outcome))


def store_in(shell):
    """Let an IPython kernel give every figure and panel that it shows its fingerprint, as another kind of text."""
    kind = BaseFormatter(parent=shell.display_formatter)
    kind.format_type, kind.print_method = MIME, "_no_method_gives_it_"
    kind.for_type_by_name("matplotlib.figure", "Figure", fingerprint)
    kind.for_type_by_name("cofactor_app.plots.style", "Shown", lambda ax: fingerprint(ax.figure))
    kind.for_type_by_name("course.panel", "Panel", of_panel)
    shell.display_formatter.formatters[MIME] = kind

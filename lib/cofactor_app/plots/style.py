"""The style of all figures: one palette, a title that states the finding, and no change of global settings."""

from __future__ import annotations

import base64
import io
import logging
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import get_font_names
from matplotlib.image import AxesImage
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike
from PIL import Image

Draw = TypeVar("Draw", bound=Callable[..., Any])

# seaborn's palette for the colour-blind
BLUE, ORANGE, GREEN, RED, PURPLE = map(to_rgb, ("#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc"))
BROWN, PINK, GREY, YELLOW, SKY = map(to_rgb, ("#ca9161", "#fbafe4", "#949494", "#ece133", "#56b4e9"))
CLASS_COLOURS = (BLUE, ORANGE, GREEN, PINK, YELLOW, PURPLE, SKY, BROWN)
CLASS_HATCHES = ("", "///", "...", "xxx", "\\\\\\", "ooo", "+++", "---")  # so that classes differ without colour
INK, FAINT, PAPER = "#262626", "#8a8a8a", "#f2f2f2"

WIDTH, HEIGHT, DPI = 6.5, 3.5, 100  # inches, inches, dots per inch: what fits a notebook cell
COLOURS = 256  # of a stored picture
APART = 0.08  # inches between parts of a figure, one above another
LETTERS_PER_INCH = 11  # of a title
MOST_NAMES = 12  # of things along an axis that an alternative text repeats
IN_TITLE = 40  # letters of an id in a title
MOST_NUMBERS = 8  # a heat map with more rows or columns shows colours only
SEQUENTIAL, DIVERGING = "Blues", "PuOr"
ROUNDING = 1e-12  # smaller numbers differ from machine to machine: only their size is shown
TYPESETTING = {"\n": " ", "\\|": "‖", "||": "‖", "\\Pi": "Π", "$": "", "{": "", "}": "", "\\": ""}  # and how to say it
HALO = [withStroke(linewidth=2.5, foreground="white")]  # around a name, so that lines do not cross it out
LUMINANCE = np.array([0.299, 0.587, 0.114])  # of red, green, blue
LOOKS = (  # of curves: colour, marker and line, so that they differ without colour
    (BLUE, "o", "-"), (ORANGE, "s", "--"), (GREEN, "^", "-."), (PURPLE, "D", ":"), (INK, "X", (0, (5, 1))),
    (SKY, "v", (0, (1, 1))),
)  # fmt: skip
LOOKS_BESIDE_VOTE = (  # the first is that of the majority vote
    (INK, "X", ":"), *LOOKS[:3], (PURPLE, "P", (0, (5, 1))), (SKY, "D", (0, (1, 1))),
)  # fmt: skip

OTHER_LETTERS = (  # fonts of the systems for letters that DejaVu Sans lacks, taken where they are installed
    "Noto Sans CJK JP", "Noto Sans CJK SC", "WenQuanYi Micro Hei", "Hiragino Sans", "PingFang SC", "Yu Gothic",
    "Microsoft YaHei", "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans Devanagari", "Noto Sans Bengali",
    "Noto Sans Tamil", "Noto Sans Thai", "Nirmala UI", "Leelawadee UI", "Arial Unicode MS",
)  # fmt: skip

TEXT, SMALL = 0.96 * 10.8, 0.88 * 10.8  # points

STYLE: dict[str, Any] = {  # near to seaborn's "ticks" on "paper": what differs from matplotlib's own
    **dict.fromkeys(("font.size", "axes.labelsize", "legend.title_fontsize"), TEXT),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), SMALL),
    **dict.fromkeys(("xtick.major.width", "ytick.major.width"), 1.0),
    **dict.fromkeys(("xtick.minor.width", "ytick.minor.width"), 0.8),
    **dict.fromkeys(("xtick.minor.size", "ytick.minor.size"), 3.2),
    **{"lines.linewidth": 1.2, "lines.markersize": 4.8, "lines.solid_capstyle": "round", "patch.linewidth": 0.8},
    **{"patch.edgecolor": "w", "patch.force_edgecolor": True, "grid.color": ".8", "axes.axisbelow": True},
    **{"axes.labelcolor": ".15", "text.color": ".15"},
    # the first ships with matplotlib: the same letters everywhere; a list, since sans-serif would mean only one of them
    "font.family": ["DejaVu Sans", *sorted(set(OTHER_LETTERS) & set(get_font_names()), key=OTHER_LETTERS.index)],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.titlesize": 9.5,
    "axes.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 3.5,
    "ytick.major.size": 3.5,
    "hatch.linewidth": 0.6,
    "legend.edgecolor": "none",  # lines behind a legend shine through, but not through its words
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}


class Picture(Figure):
    """A figure that a notebook shows without pyplot, with the same bytes every time."""

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, Any]]:
        return {"image/png": base64.b64encode(to_png(self)).decode(), "text/plain": alt_text(self)}, spoken(self)


class Shown(Axes):
    """Axes that a notebook shows as their whole picture."""

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, Any]]:
        return cast(Picture, self.figure)._repr_mimebundle_()


@contextmanager
def _no_word_of_weights() -> Iterator[None]:
    """Keep matplotlib from warning that a font of other letters has no bold ones: it takes the plain ones."""
    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def styled(draw: Draw) -> Draw:
    """Run a drawing function in the common style, whatever the settings of the session, and restore these.

    A new figure is laid out only once, here, because every further pass would move parts slightly. A given one (`ax`,
    `fig`) keeps its layout.
    """

    @wraps(draw)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with matplotlib.style.context(["default", STYLE]), _no_word_of_weights():
            drawn = draw(*args, **kwargs)
            fig = drawn.figure if isinstance(drawn, Axes | Figure) and not {"ax", "fig"} & set(kwargs) else None
            if isinstance(fig, Figure) and fig.get_layout_engine() is not None:
                fig.draw_without_rendering()
                fig.set_layout_engine("none")
            return drawn

    return cast(Draw, wrapper)


def new_picture(width: float = WIDTH, height: float = HEIGHT, laid_out: bool = True) -> Picture:
    """Return an empty figure of this size in inches; `laid_out=False` if its axes are placed by hand."""
    return Picture(figsize=(width, height), dpi=DPI, layout=ConstrainedLayoutEngine(h_pad=APART) if laid_out else None)


def axes_of(ax: Axes | None, finding: str, width: float = WIDTH, height: float = HEIGHT) -> Axes:
    """Return the given axes, or those of a new picture with this title."""
    if ax is not None:
        return ax
    fig = new_picture(width, height)
    say(fig, finding)
    return fig.add_subplot(axes_class=Shown)


@styled
def to_png(fig: Figure, dpi: int = DPI) -> bytes:
    """Return a figure as a PNG with 256 colours; equal figures give equal bytes."""
    drawn, small = io.BytesIO(), io.BytesIO()
    fig.savefig(drawn, format="png", dpi=dpi)
    picture = Image.open(drawn).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(small, format="png", optimize=True)  # a third of the bytes; no dates, no version
    return small.getvalue()


def say(fig: Figure, finding: str) -> None:
    """Set the title, which states the finding, wrapped to the width of the figure."""
    width = int(fig.get_figwidth() * LETTERS_PER_INCH)
    text = textwrap.fill(finding, width, break_on_hyphens=False)
    fig.suptitle(text, x=0.012, ha="left", fontsize=10.5, fontweight="bold", color=INK)


def alt_text(fig: Figure) -> str:
    """Return the alternative text of a figure: its finding, then what each part shows."""
    seen = [_seen(ax) for ax in fig.axes if ax.get_label() != "<colorbar>"]
    parts = "; ".join(dict.fromkeys(part for part in seen if part))
    finding = fig.get_suptitle().replace("\n", " ")
    return f"Figure: {finding}" + (f" ({parts})" if parts else "")


def spoken(fig: Figure) -> dict[str, Any]:
    """Return the metadata from which exports of a notebook take the alternative text of a picture."""
    return {"image/png": {"alt": alt_text(fig).removeprefix("Figure: ")}}


def _seen(ax: Axes) -> str:
    """What axes show: kind and size, names of axes, names of series; of a drawing without axes its words."""
    series = [str(label) for label in ax.get_legend_handles_labels()[1]]
    if not ax.axison:
        words = [text.get_text() for text in ax.texts if not text.get_text().startswith("$")]
        return _spoken(", ".join([*words, *series]))
    if ax.images:
        rows, columns = ax.images[0].get_size()
        kind = f"heat map of {rows} × {columns}"
    else:
        kind = "bars" if ax.containers and not series else ""
    what = f"{ax.get_ylabel()} against {ax.get_xlabel()}".removeprefix(" against ").removesuffix(" against ")
    named = f": {', '.join(series)}" if series else _named_ticks(ax)
    return _spoken(", ".join(word for word in (ax.get_title(), kind, what) if word) + named)


def _named_ticks(ax: Axes) -> str:
    """Names of what stands along an axis, where they are words and few."""
    for axis in (ax.yaxis, ax.xaxis):
        names = [label.get_text() for label in axis.get_ticklabels()]
        words = [name for name in names if any(character.isalpha() for character in name)]
        if 0 < len(words) == len(names) <= MOST_NAMES and "mathdefault" not in "".join(words):
            return f": {', '.join(words)}"
    return ""


def _spoken(text: str) -> str:
    """Leave out what only typesetting needs."""
    for sign, word in TYPESETTING.items():
        text = text.replace(sign, word)
    return text


def percent(share: float, digits: int = 0) -> str:
    r"""Format a fraction as a percentage, with a no-break space.

    >>> percent(0.1019, 1)
    '10.2\xa0%'
    """
    return f"{100 * share:.{digits}f}\N{NO-BREAK SPACE}%"


def number(value: float) -> str:
    r"""Format a number for a title: few digits, a proper minus sign, and powers of ten for very small or large values.

    >>> number(0.54747), number(-8294.3), number(3e-19)
    ('0.5475', '−8294', 'below 1e−12')
    """
    if 0 < abs(value) < ROUNDING:
        return f"below {ROUNDING:.0e}".replace("-", "−")
    small = value != 0 and not 1e-3 <= abs(value) < 1e5
    return (f"{value:.0e}" if small else f"{value:.4g}").replace("-", "−")


def names_of(codes: Iterable[int], names: Sequence[object] | None, kind: str) -> list[str]:
    """Return the ids of things as text; the kind is put before numbers and codes."""
    ids = [code if names is None else names[code] for code in codes]
    return [f"{kind} {name}" if str(name).isdigit() else literal(name) for name in ids]


def literal(name: object) -> str:
    r"""Return an id as text without control characters, and with `$` escaped for matplotlib.

    >>> literal("from $5 to $6"), literal("a\tb")
    ('from \\$5 to \\$6', 'a b')
    """
    text = "".join(letter if letter.isprintable() else " " for letter in str(name))
    return re.sub(r"(?<!\\)\$", r"\\$", text)


def short(name: object, length: int = 14) -> str:
    """Shorten a long id, so that it fits the figure."""
    text = literal(name)
    return text if len(text) <= length else text[: length - 1] + "…"


def heat(
    ax: Axes,
    matrix: ArrayLike,
    limits: tuple[float, float] = (0.0, 1.0),
    cmap: str = SEQUENTIAL,
    number: Callable[[float], str] | None = None,
) -> AxesImage:
    """Draw a matrix as a heat map; `number` formats the values written into its cells, if there is space."""
    values = np.asarray(matrix, dtype=np.float64)
    image = ax.imshow(values, cmap=cmap, vmin=limits[0], vmax=limits[1], aspect="equal", interpolation="nearest")
    if number is not None and max(values.shape) <= MOST_NUMBERS:
        dark = np.asarray(image.to_rgba(values))[..., :3] @ LUMINANCE < 0.55
        for (row, column), value in np.ndenumerate(values):
            colour = "white" if dark[row, column] else INK
            ax.text(column, row, number(value), ha="center", va="center", color=colour, fontsize=8.5)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return image


def bare(ax: Axes) -> None:
    """Remove the ticks of a heat map."""
    ax.set(xticks=[], yticks=[])

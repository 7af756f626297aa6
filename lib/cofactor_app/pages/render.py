"""Templates are filled and become pages."""

from __future__ import annotations

import base64
import datetime
from collections.abc import Iterable
from typing import Any, TypeAlias, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

import cofactor
from cofactor_app.plots.style import alt_text, to_png
from cofactor_app.running import CURRENT, digest, machine, versions

Picture: TypeAlias = Axes | Figure | SubFigure  # what a plotting function returns
SHARP = 144  # dots per inch of pictures on a page


def render(template: str, **context: Any) -> str:
    """Fill the template of this name; values are escaped, and a missing name is an error."""
    loader = PackageLoader("cofactor_app.pages", ".")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, finalize=_legible
    )
    return environment.get_template(f"{template}.html.j2").render(**context)


def _legible(value: Any) -> Any:
    """Show invisible characters, and those that reverse the text direction, as escapes."""
    if not isinstance(value, str) or hasattr(value, "__html__") or value.isprintable():
        return value
    return "".join(
        letter if letter.isprintable() or letter.isspace() else letter.encode("unicode_escape").decode()
        for letter in value
    )


def report(template: str, pictures: Iterable[tuple[str, Picture]], **context: Any) -> str:
    """Fill the template of a report with these pictures, their alternative texts, the date and the versions."""
    figures = ((title, cast(Figure, picture.figure)) for title, picture in pictures)
    return render(
        template,
        version=cofactor.__version__,
        written=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        pictures={title: (as_source(whole), alt_text(whole)) for title, whole in figures},
        run=CURRENT.get(),
        digest=digest,
        versions=versions,
        machine=machine,
        **context,
    )


def as_source(figure: Figure) -> str:
    """Return a figure as the source of an <img> element, so that the page is self-contained."""
    return "data:image/png;base64," + base64.b64encode(to_png(figure, SHARP)).decode()

"""From a template and a context to a page."""

from __future__ import annotations

import base64
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

from cofactor.plots.style import to_png

SHARP = 144  # dots per inch of pictures on a page


def render(template: str, **context: Any) -> str:
    """Fill the template of this name; what comes from outside is escaped, and a missing name is an error."""
    loader = PackageLoader("cofactor.pages", ".")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template(f"{template}.html.j2").render(**context)


def as_source(figure: Figure) -> str:
    """Return a figure as the source of an <img>, so that the page needs no other file."""
    return "data:image/png;base64," + base64.b64encode(to_png(figure, SHARP)).decode()

"""Docstrings of this project as reStructuredText.

Docstrings follow numpydoc, which napoleon reads, but are written for a terminal: indented formulas and tables of
symbols, and mathematics such as `x_n` or `|Omega|` in plain text. Before napoleon, formulas become literal blocks,
signs that would start a link are escaped, and sections that napoleon does not know become rubrics.
"""

import itertools
import re

FIELDS = {"Parameters", "Attributes", "Returns", "Raises", "Yields", "Warns"}
UNDERLINE = re.compile(r"-{3,}\s*")
CODE = re.compile(r"(``.+?``|`[^`]+`)")
SPECIAL = re.compile(r"(\*|\||(?<=\w)_(?!\w))")
LEFT_OUT = re.compile(r"set_\w+_request")  # scikit-learn gives these to every estimator


def to_rst(app, what, name, obj, options, lines):
    """Rewrite the lines of one docstring in place (event autodoc-process-docstring)."""
    lines[:] = converted(lines)


def skip_member(app, what, name, obj, skip, options):
    """Leave out members that Python or scikit-learn wrote (event autodoc-skip-member)."""
    made = (getattr(obj, "__doc__", None) or "").startswith("Alias for field number")
    return True if made or LEFT_OUT.fullmatch(name) else None


def converted(lines):
    """Return the lines as reStructuredText, with the sections of fields as napoleon reads them."""
    new = []
    for title, body in sections(lines):
        kind = title.partition(" ")[0]
        if kind in FIELDS and any(line.startswith("    ") for line in body):
            new += [kind, "-" * len(kind), *(escaped(line) if line.startswith("    ") else line for line in body)]
        else:
            new += [f".. rubric:: {title.replace('`', '')}", ""] if title else []
            new += text(body)
        new.append("")
    return new


def sections(lines):
    """Split into pairs of a title (first: none) and its lines."""
    starts = [k for k in range(len(lines) - 1) if UNDERLINE.fullmatch(lines[k + 1]) and lines[k].strip()]
    yield "", lines[: starts[0]] if starts else lines
    for start, end in itertools.pairwise([*starts, len(lines)]):
        yield lines[start].strip(), lines[start + 2 : end]


def text(lines):
    """Return prose: examples untouched, formulas literal, the rest with its signs escaped."""
    new, example = [], False
    for is_formula, group in itertools.groupby(lines, key=lambda line: line.startswith("    ")):
        group = list(group)
        example = any(line.startswith(">>>") for line in group) or (example and is_formula)
        if example:
            new += group
        elif is_formula:
            new += ["", "::", "", *group, ""]
        else:
            new += map(escaped, group)
    return new


def escaped(line):
    """Escape what reStructuredText would take for markup, outside of code."""
    parts = CODE.split(line)
    return "".join(part if k % 2 else SPECIAL.sub(r"\\\1", part) for k, part in enumerate(parts))

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
        kind, (named, rest) = title.partition(" ")[0], fields(body)
        if kind in FIELDS and named:
            new += [kind, "-" * len(kind), *named, "", ""]  # two empty lines end a section for napoleon
        elif title:
            new += [f".. rubric:: {title.replace('`', '')}", ""]
        new += [*(text(rest) if kind in FIELDS and named else text(body)), ""]
    return new


def fields(lines):
    """Split into fields, a name with an indented description each, and what follows them; escaped."""
    groups = [
        list(group) for is_gap, group in itertools.groupby(lines, key=lambda line: not line.strip()) if not is_gap
    ]
    ends = next(
        (k for k, group in enumerate(groups) if not any(line.startswith("    ") for line in group)), len(groups)
    )
    named = [term(line) for group in groups[:ends] for line in group]
    return named, [line for group in groups[ends:] for line in (*group, "")]


def term(line):
    """Return a line of a field, with signs escaped in its type or description; napoleon escapes a single name."""
    if line.startswith("    "):
        return escaped(line)
    name, colon, kind = line.partition(" : ")
    return name.replace("_,", r"\_,") + colon + escaped(kind)


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

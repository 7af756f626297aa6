"""Pages made from tables of the project: what follows which equation, and what data there are."""

from contextlib import suppress
from pkgutil import resolve_name

from cofactor.data.registry import DATASETS_DIR, entries
from docs import api
from evaluation.fidelity import fidelity

LINES = {
    "crowd": "Crowd: labels to truth",
    "pmf": "Joint PMFs",
    "separable": "Separable matrices",
    "comparisons": "Comparisons",
}
ARRIVES = {
    "bundled": "bundled",
    "made": "made on first use",
    "url": "downloaded",
}
FIDELITY = """# Fidelity: equations and functions

This page lists every equation and algorithm of the papers that cofactor implements, with the function, the deviations
from the paper and their reasons, and the tests that check both.
"""
DATA = """# Data sets

`cf.load("bluebird")` loads a data set by name; `cf.datasets()` and `cofactor datasets` list them. A set whose licence
does not permit redistribution is downloaded on first use and checked against the hash in the registry. Each set has a
card: what is in it, how it is coded, what to know before use. Two networks, [MAG1 and MAG2](cards/mag.md), have only a
card, because they are public and not downloaded here.
"""


def fidelity_page():
    """Return the fidelity table, one section per problem."""
    table, homes = fidelity(), api.homes_of_things()
    known = {**LINES, **{line: line for line in table["line"] if line not in LINES}}
    sections = [section(title, table[table["line"] == line], homes) for line, title in known.items()]
    return "\n".join([FIDELITY, *filter(None, sections)])


def section(title, rows, homes):
    """Return one section of the fidelity table."""
    if rows.empty:
        return ""
    where = (f"{function(row.function, homes)}<br>tested by {tests(row.test)}" for row in rows.itertuples())
    body = [
        f"| {cell(r.equation)} | {w} | {cell(r.deviation)} |" for r, w in zip(rows.itertuples(), where, strict=True)
    ]
    head = ["| equation | function | deviation and reason |", "|---|---|---|"]
    return "\n".join([f"## {title}", "", "::::{container} fidelity", "", *head, *body, "", "::::", ""])


def function(name, homes):
    """Link a function to where the API reference describes it, where it does."""
    with suppress(AttributeError, ImportError, TypeError):
        return f"{{py:obj}}`{name} <{homes.get(resolve_name(name), name)}>`"
    return f"`{name}`"


def tests(names):
    """Write the file and the name of every test of a row."""
    return ", ".join("`{}` `{}`".format(*name.split("::")) for name in names.split("; "))


def data_page():
    """Return the list of data sets, and the cards that belong to it."""
    known = entries()
    rows = [data_row(name, entry) for name, entry in known.items()]
    head = ["| name | what | kind | size | licence | how it arrives |", "|---|---|---|---|---|---|"]
    cited = [f"**{name}.** {cell(entry.citation)} Source: {cell(entry.source)}." for name, entry in known.items()]
    toctree = ["```{toctree}", ":hidden:", *(f"cards/{card.stem}" for card in cards()), "```"]
    citations = ["## What to cite", "", *("\n".join([text, ""]) for text in cited)]
    return "\n".join([DATA, "::::{container} data", "", *head, *rows, "", "::::", "", *citations, "", *toctree, ""])


def data_row(name, entry):
    """Return the line of one data set."""
    link = f"[{name}](cards/{name}.md)" if name in {card.stem for card in cards()} else f"`{name}`"
    size = f"{sum(entry.copies(role)[0].bytes for role in entry.roles) / 1e6:.2g} MB"
    return f"| {link} | {cell(entry.title)} | {entry.kind} | {size} | {cell(entry.licence)} | {arrival(entry)} |"


def arrival(entry):
    """Say where the preferred files come from."""
    files = [entry.copies(role)[0] for role in entry.roles]
    ways = ["url" if file.url else "bundled" if file.sha256 else "made" for file in files]
    return ", ".join(ARRIVES[way] for way in dict.fromkeys(ways))


def cards():
    """Return the files of all data cards."""
    return sorted((DATASETS_DIR / "cards").glob("*.md"))


def cell(text):
    """Return a text fit for a cell of a Markdown table: plain, on one line."""
    marks = "\\\\`*_[]<>|$#{}"
    return "".join(f"\\{sign}" if sign in marks else sign for sign in " ".join(str(text).split()))

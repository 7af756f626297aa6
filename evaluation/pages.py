"""Pages made from stored results: the tables of docs/results.md and docs/real_data.md, each between two comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from evaluation import EXPERIMENTS, benchmarks
from evaluation.claims import claims
from evaluation.experiment import PAPER_PROTOCOL
from evaluation.real_data import SECTIONS as REAL_DATA
from evaluation.summary import markdown, number, summarise
from evaluation.trials import HERE, facts_of, raw_trials
from evaluation.verdicts import distinct

DOCS = HERE.parent / "docs"
LINES = {"crowd": "Crowd", "pmf": "Joint PMF", "separable": "Separable", "comparisons": "Comparisons"}
PROPOSED = ("SymNMF", "RobSymNMF", "DesSymNMF", "CNMF-SPA", "CNMF-OPT", "MERIT")  # begin the papers' own methods
SIGNS = {"same": "≈", "open": "?", "not comparable": "∥"}
LONGEST = 30  # words of a reason on the page
ABSENT = r"^public, not downloaded here: .*$", "public, not downloaded here, see [their card](../datasets/cards/mag.md)"
DIRECTIONS = {"better": "▲", "worse": "▼", "": "≠"}  # of what differs


@cache
def kept_tables() -> dict[str, pd.DataFrame]:
    """Return summaries of all experiments with printed numbers; each printed cell is in one of them."""
    shown = {name: e for name, e in EXPERIMENTS.items() if e.published and not e.beside}
    return {name: summarise(e, raw_trials(name)) for name, e in shown.items() if not e.source.startswith("Beyond ")}


@cache
def printed_cells() -> pd.DataFrame:
    """Every printed cell once, as the row that counts has it; with its line, and whether the method is the paper's."""
    tables = kept_tables()
    cells = distinct(tables, {name: EXPERIMENTS[name].published for name in tables}, PAPER_PROTOCOL)
    line = cells["table"].map(lambda name: EXPERIMENTS[name].line)
    return cells.assign(line=line, proposed=cells["method"].str.startswith(PROPOSED))


def counts() -> list[str]:
    """Count printed cells by verdict and problem, separately for the papers' own methods and for baselines."""
    cells, rows = printed_cells(), []
    cells = cells.assign(told=cells["verdict"] + (" " + cells["direction"]).where(cells["direction"] != "", ""))
    columns = ["same", "differs better", "differs worse", "differs", "open", "not comparable", "no value"]
    parts = [(line, own) for line in LINES for own in (True, False)]
    for line, own in [*parts, ("", True), ("", False)]:
        mine = cells[(cells["proposed"] == own) & (cells["line"].eq(line) if line else True)]
        found = mine["told"].value_counts()
        row = {"paper": LINES.get(line, "all"), "methods": "the paper's own" if own else "baselines, data"}
        if len(mine):
            rows.append(row | {name: str(found.get(name, 0)) for name in columns} | {"cells": str(len(mine))})
    return markdown(rows)


def claim_tables() -> list[str]:
    """Return the claims of each paper, with the criterion, the verdict and the cases behind it."""
    lines, table = [], claims()
    for paper, mine in table.groupby("paper", sort=False):
        rows = mine.assign(claim=mine["says"] + " (" + mine["place"] + ")")
        rows["criterion"] = (mine["criterion"] + " " + mine["note"]).str.strip()
        shown = rows[["claim", "criterion", "verdict", "hold", "fail", "open", "range"]].to_dict("records")
        lines += ["", f"*{paper}*", "", *markdown(shown)]
    return lines


def tables_of(line: str) -> list[str]:
    """One table for every printed table and metric, of all experiments that have the same columns; then reasons.

    Where a printed table has one column, its metrics are the columns of one table.
    """
    cells, lines = printed_cells(), []
    cells, before = cells[cells["line"] == line], dict[str, str]()
    columns = {name: (EXPERIMENTS[name].published, *EXPERIMENTS[name].settings) for name in cells["table"].unique()}
    for _, mine in cells.groupby(cells["table"].map(columns), sort=False):
        names = mine["table"].unique()
        first = EXPERIMENTS[names[0]]
        lines += ["", f"#### {first.title}", "", ", ".join(f"`{name}`" for name in names)]
        unit = mine["unit"].map(lambda unit: "" if unit == "1" else f" ({unit})")
        mine = mine.assign(title=mine["metric"] + unit)
        if one_column := len(set(mine["setting"])) == 1:
            lines += ["", *_grid(mine, first.settings[mine["setting"].iloc[0]], "title", list(mine["title"].unique()))]
        for title, rows in mine.groupby("title", sort=False) if not one_column else ():
            there = [setting for setting in first.settings if setting in set(rows["setting"])]
            common = {setting.rpartition(",")[0] for setting in there}
            short = {setting: setting.rpartition(",")[2] if len(common) == 1 else setting for setting in there}
            head = short if len(there) > 1 else {setting: first.settings[setting] for setting in there}
            lines += ["", *_grid(rows.assign(head=rows["setting"].map(head)), str(title), "head", list(head.values()))]
        told = _reasons(mine, names[0], before)
        lines += ["", *told] if told else []
    return lines


def _grid(cells: pd.DataFrame, corner: str, column: str, heads: Sequence[str]) -> list[str]:
    """Return a table with a row for each method and a column for each head, the values of a column of the cells."""
    body = []
    for method, row in cells.groupby("method", sort=False):
        found = dict(zip(row[column], map(_cell, row.to_dict("records")), strict=True))
        star = "" if row["by_protocol"].any() else "°"
        body.append({corner: f"{method}{star}"} | {head: found.get(head, "") for head in heads})
    return markdown(body)


def _cell(row: Mapping[Any, Any]) -> str:
    """Write ours, the sign of the verdict and the printed number; that alone where there is none of ours."""
    printed = number(row["published"], digits=int(row["digits"]))
    if row["verdict"] == "no value":
        return f"({printed})"
    digits = max(int(row["digits"]), 0)
    ours = number(row["ours"], digits=digits) if abs(row["ours"]) < 1e4 else f"{row['ours']:.0f}"
    return f"{ours}{SIGNS.get(str(row['verdict'])) or DIRECTIONS[str(row['direction'])]}{printed}"


def _reasons(cells: pd.DataFrame, name: str, before: dict[str, str]) -> list[str]:
    """List every reason with its methods; with their columns, too, where a method has several reasons.

    What was said of an earlier table is named by that: `before` has reasons and names of experiments.
    """
    found, methods = dict[str, list[str]](), cells["method"].nunique()
    cells = cells[cells["verdict"].isin(["differs", "no value", "not comparable"])]
    cells = cells.assign(note=cells["note"].str.replace(*ABSENT, regex=True).map(_first))
    several = cells.drop_duplicates(["method", "note"])["method"].value_counts() > 1
    for (note, method), rows in cells.groupby(["note", "method"], sort=False):
        at = f" ({', '.join(rows['setting'].unique())})" if several[method] else ""
        found.setdefault(str(note), []).append(f"{method}{at}")
    about = {note: ", ".join(named) for note, named in found.items()}
    if len(found) == 1 and 2 < methods == cells["method"].nunique():
        about = dict.fromkeys(found, "all")
    said = {note: f"see `{before[note]}`" if note in before else note for note in found}
    before |= {note: name for note in found if note not in before}
    return [f"- {about[note]}: {said[note]}." for note in found]


def _first(note: str) -> str:
    """Return the first sentences of a reason, up to `LONGEST` words; the report has all of it."""
    kept, *rest = re.split(r"(?<=[.;]) ", note)
    for part in rest:
        if len(f"{kept} {part}".split()) > LONGEST:
            break
        kept = f"{kept} {part}"
    return kept.rstrip(".;")


def made() -> list[str]:
    """Return commits and versions of the stored results."""
    facts = pd.DataFrame([facts_of(name) for name in EXPERIMENTS])
    rows = facts.groupby(["commit", "code", "python", "numpy", "scipy", "blas"], sort=False).size()
    return markdown(rows.rename("experiments").reset_index().astype(str).to_dict("records"))


RESULTS: Mapping[str, Callable[[], Sequence[str]]] = {"counts": counts, "claims": claim_tables, "made": made} | {
    f"tables of {line}": partial(tables_of, line) for line in LINES
}


def written(text: str, sections: Mapping[str, Callable[[], Sequence[str]]]) -> str:
    """Return a page with all its tables filled in."""
    for name, make in sections.items():
        begin, end = f"<!-- {name} begin -->", f"<!-- {name} end -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{chr(10).join(make()).strip()}\n\n{end}{rest.split(end)[1]}"
    return text


PAGES = {
    "results.md": RESULTS,
    "real_data.md": REAL_DATA,
    "benchmarks.md": {"benchmarks": lambda: markdown(benchmarks.shown(benchmarks.kept()))},
}


def write_page(name: str, docs: Path = DOCS) -> None:
    """Write the tables of a page."""
    path = docs / name
    path.write_text(written(path.read_text(encoding="utf8"), PAGES[name]), encoding="utf8")

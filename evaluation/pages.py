"""The pages made from kept results: tables of docs/results.md and docs/real_data.md, each between two comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from evaluation import EXPERIMENTS
from evaluation.claims import claims
from evaluation.experiment import PAPER_PROTOCOL
from evaluation.real_data import SECTIONS as REAL_DATA
from evaluation.summary import noted, number, summarise
from evaluation.trials import HERE, facts_of, raw_trials
from evaluation.verdicts import distinct

DOCS = HERE.parent / "docs"
LINES = {"crowd": "Crowd", "pmf": "Joint PMF", "separable": "Separable", "comparisons": "Comparisons"}
PROPOSED = ("SymNMF", "RobSymNMF", "DesSymNMF", "CNMF-SPA", "CNMF-OPT", "MERIT")  # begin the papers' own methods
SIGNS = {"same": "=", "open": "?", "not comparable": "n/c", "no value": ""}
LONGEST = 40  # words of a reason on the page
DIRECTIONS = {"better": "▲", "worse": "▼", "": "≠"}  # of what differs


@cache
def kept_tables() -> dict[str, pd.DataFrame]:
    """Summaries of all experiments that a paper prints numbers of, each cell in one of them."""
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
    """How many printed cells got which verdict, by line, the papers' own methods and what they compare with apart."""
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
    """The claims of each paper, with what was measured, the verdict and the cases behind it."""
    lines, table = [], claims()
    for paper, mine in table.groupby("paper", sort=False):
        rows = mine.assign(claim=mine["says"] + " (" + mine["place"] + ")", cases=mine["cases"])
        rows["measured"] = (mine["measured"] + " " + mine["note"]).str.strip()
        lines += ["", f"*{paper}*", "", *markdown(rows[["claim", "measured", "verdict", "cases"]].to_dict("records"))]
    return lines


def tables_of(line: str) -> list[str]:
    """One table for every printed table and metric: ours / printed, with the sign of the verdict; then reasons."""
    cells, lines = printed_cells(), []
    for name, mine in cells[cells["line"] == line].groupby("table", sort=False):
        experiment = EXPERIMENTS[str(name)]
        lines += ["", f"#### {experiment.title}", "", f"{experiment.source}; `{name}`."]
        for (metric, unit), rows in mine.groupby(["metric", "unit"], sort=False):
            short = len(rows["setting"].unique()) > 1
            head = {setting: setting if short else experiment.settings[setting] for setting in rows["setting"].unique()}
            body = []
            for method, row in rows.groupby("method", sort=False):
                found = dict(zip(row["setting"], map(_cell, row.to_dict("records")), strict=True))
                star = "" if row["by_protocol"].any() else " °"
                body.append(
                    {f"{metric} ({unit})" if unit != "1" else str(metric): f"{method}{star}"}
                    | {heading: found.get(setting, "") for setting, heading in head.items()}
                )
            lines += ["", *markdown(body)]
        told = noted(mine[mine["verdict"].isin(["differs", "no value", "not comparable"])])
        lines += ["", *(f"- {about}: {_first(note)}." for note, about in told.items())] if told else []
    return lines


def _cell(row: Mapping[Any, Any]) -> str:
    """Write ours / printed and the sign of the verdict; the printed number alone where there is none of ours."""
    printed = number(row["published"], digits=int(row["digits"]))
    if row["verdict"] == "no value":
        return f"–/{printed}"
    digits = max(int(row["digits"]), 0)
    ours = number(row["ours"], digits=digits) if abs(row["ours"]) < 1e4 else f"{row['ours']:.3g}"
    sign = SIGNS.get(str(row["verdict"]), DIRECTIONS.get(str(row["direction"]), ""))
    return f"{ours}/{printed} {sign}"


def _first(note: str) -> str:
    """Return the first sentences of a reason, up to some forty words; the report has all of it."""
    kept, *rest = re.split(r"(?<=[.;]) ", note)
    for part in rest:
        if len(f"{kept} {part}".split()) > LONGEST:
            break
        kept = f"{kept} {part}"
    return kept.rstrip(".;")


def made() -> list[str]:
    """Commits and versions of the kept results."""
    facts = pd.DataFrame([facts_of(name) for name in EXPERIMENTS])
    rows = facts.groupby(["commit", "code", "python", "numpy", "scipy", "blas"], sort=False).size()
    return markdown(rows.rename("experiments").reset_index().astype(str).to_dict("records"))


def markdown(rows: Sequence[Mapping[Any, Any]]) -> list[str]:
    """Return a table's lines: names begin in one place, numbers end in one."""
    escaped = [[str(text).replace("|", "\\|") for text in row.values()] for row in rows]
    head = [f"| {' | '.join(map(str, rows[0]))} |", "|---|" + "--:|" * (len(rows[0]) - 1)]
    return [*head, *(f"| {' | '.join(row)} |" for row in escaped)]


RESULTS: Mapping[str, Callable[[], Sequence[str]]] = {"counts": counts, "claims": claim_tables, "made": made} | {
    f"tables of {line}": partial(tables_of, line) for line in LINES
}


def written(text: str, sections: Mapping[str, Callable[[], Sequence[str]]]) -> str:
    """Return a page with all its tables put where they belong."""
    for name, make in sections.items():
        begin, end = f"<!-- {name} begin -->", f"<!-- {name} end -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{chr(10).join(make()).strip()}\n\n{end}{rest.split(end)[1]}"
    return text


def write_pages(docs: Path = DOCS) -> None:
    """Write the tables of both pages anew."""
    for name, sections in {"results.md": RESULTS, "real_data.md": REAL_DATA}.items():
        path = docs / name
        path.write_text(written(path.read_text(encoding="utf8"), sections), encoding="utf8")

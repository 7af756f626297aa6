"""Write the tables of the benchmark of crowds into the README: python tools/readme_benchmark.py.

They are made from the kept results in benchmarks/reproduced and stand between two comments of the README.
"""

from pathlib import Path

import pandas as pd

from cofactor.experiments.crowd.benchmark import OVERVIEW_HEADING, SETS_HEADING, digest

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "benchmarks" / "reproduced" / "crowd-benchmark.csv"
README = ROOT / "README.md"
BEGIN, END = "<!-- tables of the benchmark begin -->", "<!-- tables of the benchmark end -->"
METHODS = {
    "method": "method",
    "sets": "sets",
    "accuracy %": "accuracy, %",
    "published": "published",
    "more than the vote": "more than the vote",
    "below the vote / significantly": "sets below the vote / significantly",
    "log-loss": "log-loss",
    "ECE": "ECE",
    "wrong of p >= .99, %": "wrong of p ≥ .99, %",
    "CPU s": "CPU s",
}


def markdown(rows):
    """Return a table's lines: names begin in one place, numbers end in one."""
    head = [f"| {' | '.join(rows[0])} |", "|---|" + "--:|" * (len(rows[0]) - 1)]
    return [*head, *(f"| {' | '.join(row.values())} |" for row in rows)]


def tables():
    """Return the text between the comments: methods over all sets, then set by set."""
    told = digest(pd.read_csv(KEPT))
    methods = [{heading: row[name] for name, heading in METHODS.items()} for row in told[OVERVIEW_HEADING]]
    parts = [f"{OVERVIEW_HEADING}:", "", *markdown(methods), "", f"{SETS_HEADING}:", "", *markdown(told[SETS_HEADING])]
    return "\n".join(["", *parts, ""])


def main():
    """Put the tables where they belong."""
    text = README.read_text(encoding="utf8")
    before, rest = text.split(BEGIN)
    README.write_text(before + BEGIN + "\n" + tables() + "\n" + END + rest.split(END)[1], encoding="utf8")


if __name__ == "__main__":
    main()

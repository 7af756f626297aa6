"""Write the tables of kept results into docs/real_data.md: python tools/real_data_tables.py.

They are made from the results in evaluation/reproduced, and each stands between two comments of that page.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from evaluation import EXPERIMENTS
from evaluation.crowd.tables import FAMILIES_HEADING, OVERVIEW_HEADING, SETS_HEADING, digest
from evaluation.trials import KEPT

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "real_data.md"
METHODS = {
    "method": "method",
    "sets": "sets",
    "accuracy %": "accuracy, %",
    "more than the vote": "more than the vote",
    "below the vote / significantly": "sets below the vote / significantly",
    "log-loss": "log-loss",
    "ECE": "ECE",
    "wrong of p >= .99, %": "wrong of p ≥ .99, %",
    "CPU s": "CPU s",
}


def markdown(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Return a table's lines: names begin in one place, numbers end in one."""
    head = [f"| {' | '.join(rows[0])} |", "|---|" + "--:|" * (len(rows[0]) - 1)]
    return [*head, *(f"| {' | '.join(row.values())} |" for row in rows)]


def crowds() -> list[str]:
    """Families, then methods over all of them, then crowd by crowd."""
    told = digest(EXPERIMENTS["crowd-benchmark"], pd.read_csv(KEPT / "crowd-benchmark.csv"))
    methods = [{heading: row[name] for name, heading in METHODS.items()} for row in told[OVERVIEW_HEADING]]
    shown = {FAMILIES_HEADING: told[FAMILIES_HEADING], OVERVIEW_HEADING: methods, SETS_HEADING: told[SETS_HEADING]}
    return [line for heading, rows in shown.items() for line in ("", f"{heading}:", "", *markdown(rows))][1:]


def means(line: str, metric: str, amounts: Mapping[str, str], default: str, digits: int = 1) -> list[str]:
    """Means over the sets of an experiment, by amount of data: one row a method, in the order of the experiment."""
    kept = pd.read_csv(KEPT / f"practice-{line}.csv").query("metric == @metric").dropna(subset="ours")
    rows = []
    for method, mine in kept.groupby("method", sort=False):
        row = {"method": f"{method} (default)" if method == default else str(method)}
        for ending, heading in amounts.items():
            row[heading] = f"{mine.loc[mine['setting'].str.endswith(ending), 'ours'].mean():.{digits}f}"
        rows.append(row)
    return markdown(rows)


def joint() -> list[str]:
    """Log-likelihood of rows that were held out, and hidden cells filled rightly."""
    amounts = {",n=100": "100 rows", ",n=300": "300 rows", ",n=1000": "1,000 rows"}
    likelihood = means("pmf", "log-likelihood", amounts, "CNMF-EM")
    filled = means("pmf", "accuracy", amounts, "CNMF-EM")
    return [
        "Log-likelihood of a held-out row (nats):",
        "",
        *likelihood,
        "",
        "Hidden cells filled rightly (%):",
        "",
        *filled,
    ]


def comparisons() -> list[str]:
    """Log-loss of answers that were held out."""
    amounts = {",n=5": "5 answers", ",n=10": "10 answers", ",n=20": "20 answers", ",n=all": "all"}
    return means("comparisons", "log-loss", amounts, "ComparisonMF", digits=3)


def topics() -> list[str]:
    """Documents put with their topic."""
    amounts = {f"{name},K={K}": f"{title}, {K} topics" for name, title in TOPICS.items() for K in (3, 5)}
    return means("separable", "accuracy", amounts, "MERIT")


TOPICS = {"tdt2": "TDT2", "reuters": "Reuters"}
SECTIONS: dict[str, Callable[[], list[str]]] = {
    "the benchmark": crowds,
    "joint distributions": joint,
    "comparisons": comparisons,
    "topics": topics,
}


def ends(name: str) -> tuple[str, str]:
    """The comments around the tables of a section."""
    return f"<!-- tables of {name} begin -->", f"<!-- tables of {name} end -->"


def written(text: str) -> str:
    """Return the page with all tables put where they belong."""
    for name, make in SECTIONS.items():
        begin, end = ends(name)
        before, rest = text.split(begin)
        text = before + begin + "\n\n" + "\n".join(make()) + "\n\n" + end + rest.split(end)[1]
    return text


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf8")), encoding="utf8")

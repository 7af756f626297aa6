"""Figures for readers: the table printed at the end of a run, and the same as a section of README.md."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
README, RESULTS = HERE / "README.md", HERE / "results"
UNITS = {"seconds_median": "{:.3g} s", "per_label_ns": "{:.3g} ns/label", "peak_mb": "{:.0f} MB"}
FACTS = ["date", "commit", "cpu", "cores", "os", "python", "numpy", "scipy", "numba", "crowd-kit", "blas"]


def table_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Turn rows of results into short texts, one column per question; empty where there is no figure."""
    rows = [row for _, row in frame.iterrows()]
    return pd.DataFrame(
        {
            "data": frame["data"],
            "stage": frame["stage"],
            "median": [seconds(row["seconds_median"]) for row in rows],
            "min to max": [f"{seconds(row['seconds_min'])} to {seconds(row['seconds_max'])}" for row in rows],
            "ns per label": figures(frame["per_label_ns"], "{:.3g}"),
            "peak MB": figures(frame["peak_mb"], "{:.0f}"),
            "error %": figures(frame["error_percent"], "{:.2f}"),
            "compared with": [comparison(row) for row in rows],
            "asked for": [verdict(row) for row in rows],
        }
    )


def seconds(value: float) -> str:
    """Write a time with a unit that suits it."""
    scale, unit = next((s, u) for s, u in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")) if value >= s or u == "µs")
    return f"{value / scale:.3g} {unit}"


def figures(column: pd.Series[float], form: str) -> list[str]:
    """Format what is there."""
    return ["" if np.isnan(value) else form.format(value) for value in column]


def comparison(row: pd.Series[object]) -> str:
    """Say how many times faster than the reference, or how many times its time where slower, and whose that is."""
    source, ratio = row["reference_source"], row["ratio"]
    said = f"{ratio:.3g} x faster than" if ratio >= 1 else f"{1 / ratio:.3g} x the time of"
    return f"{said} {source} ({seconds(row['reference'])})" if source else ""


def verdict(row: pd.Series[object]) -> str:
    """Say what was asked for and whether it was met."""
    column = row["limit_on"]
    if not column:
        return ""
    met = "met" if row[column] <= row["limit"] else "NOT met"
    return f"at most {UNITS[column].format(row['limit'])}: {met}"


def update_readme(subject: str) -> None:
    """Replace the section of this subject in README.md by one made from the stored results."""
    begin, end = marks(subject)
    text = README.read_text(encoding="utf8")
    pattern = f"{re.escape(begin)}.*?{re.escape(end)}"
    renewed, found = re.subn(pattern, lambda _: section(subject), text, flags=re.DOTALL)
    if found != 1:
        raise ValueError(f"README.md needs the marks {begin} and {end} exactly once")
    README.write_text(renewed, encoding="utf8")


def section(subject: str) -> str:
    """Return what README.md holds about a subject, marks included."""
    begin, end = marks(subject)
    frame = read(RESULTS / f"{subject}.csv")
    return "\n\n".join([begin, machine_line(frame), markdown(table_of(frame)), end])


def marks(subject: str) -> tuple[str, str]:
    """Return the comments around the section of a subject."""
    return f"<!-- begin {subject} -->", f"<!-- end {subject} -->"


def read(path: Path) -> pd.DataFrame:
    """Read stored results; facts and names stay text."""
    texts = dict.fromkeys([*FACTS, "reference_source", "limit_on"], str)
    return pd.read_csv(path, dtype=texts).fillna(dict.fromkeys(texts, ""))


def machine_line(frame: pd.DataFrame) -> str:
    """One line of facts about the machine and how busy it was."""
    first = frame.iloc[0]
    listed = ", ".join(f"{name} {first[name]}" for name in FACTS)
    return f"Measured on: {listed}; load {frame['load'].min():g} to {frame['load'].max():g}."


def markdown(table: pd.DataFrame) -> str:
    """Write a table of texts in Markdown."""
    lines = [table.columns, ["---"] * table.shape[1], *table.to_numpy().tolist()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)

"""The page of all methods on all sets: how each compares with the trivial answer and the default, family by family."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student

from cofactor_app.bench.crowds import SIMULATED as CROWDS
from cofactor_app.bench.lines import ANSWERS, PUBLIC, SIMULATED
from docs.tables import LINES, cell
from evaluation.crowd.families import FAMILY, FROM_A_FOLDER

KEPT = Path(__file__).resolve().parents[1] / "evaluation" / "leaderboard"
CONFIDENCE = 0.95
UNITS = {
    "crowd": "tasks with the right class",
    "pmf": "hidden cells that are filled rightly",
    "separable": "anchors that are found",
    "comparisons": "held-out comparisons whose winner is named",
}
TEXT = """# All methods on all sets

Every method of the kit, and others, on every set that `cofactor bench` knows: simulated ones, whose truth is known, and
registered ones. Each runs with its defaults and one seed, is given no truth, and is scored by the share of {units}.
Sets of one family share tasks or workers, so families count alike. The simulated sets of the three later lines are one
family. {n_folder} crowds are not distributed with the kit, {folder}: where a folder has them, as NAME.csv.gz beside
NAME_truth.csv.gz, `cofactor bench METHOD --data FOLDER` runs them.

Differences are means over the families that a method answers, against the trivial answer and the default on the same
sets, with an interval of 95 % over these families: few families, wide intervals. Methods are sorted by the difference
from the default; a click on a heading sorts by it. CPU seconds are those of one machine, all sets together. What the
default was chosen on is told in [how good it is on real data](real_data.md): among these methods it is not an outsider.

**To have a method listed**, send one pull request with two files: `evaluation/peers/NAME.py` with the method, as in
[a method of your own](commands.md#a-method-of-your-own), and `evaluation/leaderboard/NAME.csv`, which
`cofactor bench evaluation/peers/NAME.py:METHOD SETS -o evaluation/leaderboard/NAME.csv` makes; SETS are those of the
tables below, or the part of them that the method is for.

Each file names the version of the kit, or a hash of the peer's file, in its column `source`, but no commit and no
versions of packages: `git log evaluation/leaderboard/NAME.csv` tells the commits that brought its numbers, and
`constraints.txt` of such a commit the versions that are pinned there. The tests run one set of every file again, so
that numbers which the code of today does not give are noticed there.
"""


def page():
    """Return the page."""
    trials = kept()
    units = ", of ".join(UNITS.values())
    sections = [section(line, trials[trials["line"] == line]) for line in ANSWERS]
    return "\n".join(
        [TEXT.format(units=units, n_folder=len(FROM_A_FOLDER), folder=", ".join(FROM_A_FOLDER)), *sections]
    )


def kept(folder=KEPT):
    """Return all trials: a row a set and method, each once, with its line, and its method without a file."""
    files = sorted(folder.glob("*.csv"), key=lambda path: (path.stem not in ANSWERS, path.stem))
    found = pd.concat([pd.read_csv(path, keep_default_na=False, na_values=[""]) for path in files], ignore_index=True)
    home = found["method"].str.extract(r"(?:.*/)?([\w-]+)\.py:", expand=False)
    named = found["method"].str.replace(r"^.*?\.py:", "", regex=True)
    found["method"] = named.where(home.isna(), named + " (" + home.fillna("") + ")")
    found["family"] = found["set"].map(FAMILY).fillna(found["family"])  # the bench knows none of a plain folder
    found["line"] = found["set"].map(line_of)
    return found.drop_duplicates(["line", "set", "method"])


def line_of(name):
    """Return the line that a set belongs to."""
    others = (line for line in SIMULATED if name in SIMULATED[line] or name in PUBLIC.get(line, {}))
    return "crowd" if name in FAMILY or name in CROWDS else next(others)


def section(line, trials):
    """Return the tables of one line."""
    trivial, default = ANSWERS[line]
    rows = [summary(name, mine, name == default) for name, mine in trials.groupby("method", sort=False)]
    rows = sorted(rows, key=order)
    head = ["method", "%", "families", f"above {trivial}", f"above {default}",
            f"sets below {trivial}, significantly", "calibration error", "CPU s"]  # fmt: skip
    body = [[r["method"], number(r["accuracy"]), str(r["families"]), r["more"], r["above"], r["below"],
             number(r["ece"], 3), number(r["seconds"], 1)] for r in rows if r["families"]]  # fmt: skip
    failed = trials[trials["error"].notna()]
    reasons = failed.groupby(["method", "error"], sort=False)["set"].agg(list)
    told = [f"- {name} on {', '.join(sets)}: {cell(str(why))}" for (name, why), sets in reasons.items()]
    return "\n".join([
        f"## {LINES[line]}", "", *sortable(head, body), "### By family, in %", "",
        *sortable(*by_family(trials, [r["method"] for r in rows if r["families"]])),
        *(["What could not run, and why:", "", *told, ""] if told else []),
    ])  # fmt: skip


def summary(name, mine, is_default):
    """Return the numbers of one method: means over its families."""
    answered = mine[mine["accuracy"].notna()]
    families = answered.groupby("family", sort=False)[["accuracy", "more", "above_default", "ece"]].mean()
    means = families.mean()
    below = answered[answered["more"] < -1e-6]
    return {
        "method": name,
        "families": len(families),
        "accuracy": means["accuracy"],
        "more": interval(families["more"]),
        "above": "-" if is_default else interval(families["above_default"]),
        "sort": 0.0 if is_default else means["above_default"],
        "below": f"{len(below)}, {int((below['high'] < 0).sum())} of {len(answered)}",
        "ece": means["ece"],
        "seconds": answered["seconds"].sum(),
    }


def order(row):
    """Return what rows are sorted by: the difference from the default, those without numbers last."""
    return (-row["sort"] if np.isfinite(row["sort"]) else np.inf, row["method"])


def interval(values):
    """Write a mean over families with its interval, where there are several."""
    values = values.dropna()
    if not len(values):
        return "-"
    if len(values) < 2:
        return f"{values.mean():+.2f}"
    half = student.ppf((1 + CONFIDENCE) / 2, len(values) - 1) * values.sem()
    return f"{values.mean():+.2f} ({values.mean() - half:+.1f} to {values.mean() + half:+.1f})"


def by_family(trials, methods):
    """Return heading and rows of accuracies, methods by families; a dash where not all sets of it are answered."""
    sets = trials.groupby("family", sort=False)["set"].nunique()
    found = trials.pivot_table(index="method", columns="family", values="accuracy", sort=False)
    count = trials[trials["accuracy"].notna()].groupby(["method", "family"])["set"].nunique()
    body = [
        [name, *(number(found.loc[name, f]) if count.get((name, f), 0) == sets[f] else "-" for f in sets.index)]
        for name in methods
    ]
    return ["method", *sets.index], body


def number(value, digits=2):
    """Write a number, or a dash where there is none."""
    return "-" if not np.isfinite(value) else f"{value:.{digits}f}"


def sortable(head, body):
    """Return the lines of a table that a reader can sort."""
    lines = [f"| {' | '.join(map(cell, head))} |", f"|---|{'--:|' * (len(head) - 1)}"]
    lines += [f"| {' | '.join(map(cell, row))} |" for row in body]
    return ["::::{container} sortable", "", *lines, "", "::::", ""]

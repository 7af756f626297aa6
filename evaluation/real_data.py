"""Tables of docs/real_data.md: all methods on real data, from what `cofactor bench` left in evaluation/leaderboard.

Each line has a row a method: means over families of sets, which share tasks or workers and so count alike. What draws
at random is shown as the mean of five seeds, with their standard deviation; `seeds.csv` has them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from cofactor.core.files import whole_file
from cofactor_app.bench import FAMILIES as REGISTERED
from cofactor_app.bench import KnownSet, bench, known_sets
from cofactor_app.bench.answers import ANSWERS
from cofactor_app.bench.folder import sets_of
from cofactor_app.bench.sets import PUBLIC, SIMULATED
from evaluation.summary import markdown
from evaluation.trials import HERE
from evaluation.verdicts import CONFIDENCE

KEPT = HERE / "leaderboard"
SEEDS = "seeds"  # the file of what draws at random
FOLDER = {  # families of crowds that are not distributed with cofactor
    "affect": tuple(f"snow_{name}" for name in ("anger", "disgust", "fear", "joy", "sadness", "surprise", "valence")),
    "fact": ("fact",),
    "search spam": ("hitspam_cf",),
    "judges": ("judgebench",),
    "videos": ("ws_video",),
    "word senses": ("snow_wsd",),
}
FAMILY = {name: family for family, names in {**REGISTERED, **FOLDER}.items() for name in names}
FROM_A_FOLDER = tuple(name for names in FOLDER.values() for name in names)
SCORED_ONCE = ("dog", "faces", "music", "products", "rte", "tweets")  # when the default had been chosen on the others
UNSEEN, MIRROR = "COFACTOR_UNSEEN", "COFACTOR_MIRROR"


def kept(folder: Path = KEPT) -> pd.DataFrame:
    """Return all trials: a row a set and method, each once, with its problem; methods without a file of their name."""
    files = sorted(folder.glob("*.csv"), key=lambda path: (path.stem not in ANSWERS, path.stem))
    tables = [pd.read_csv(path, keep_default_na=False, na_values=[""]) for path in files if path.stem != SEEDS]
    found = pd.concat(tables, ignore_index=True)
    home = found["method"].str.extract(r"(?:.*/)?([\w-]+)\.py:", expand=False)
    named = found["method"].str.replace(r"^.*?\.py:", "", regex=True)
    short = named.str.replace(r"^\w+\(\w+='(\w+)'\)$", r"\1", regex=True)  # CrowdKit(name='MACE') is MACE (crowd_kit)
    told = home.isna() | (home.str.replace("_", "") == named.str.lower())  # GLAD of glad.py
    found["method"] = named.where(told, short + " (" + home.fillna("") + ")")
    found["family"] = found["set"].map(FAMILY).fillna(found["family"])  # the bench knows none of a plain folder
    found["problem"] = found["set"].map(problem_of)
    return found.drop_duplicates(["problem", "set", "method"])


def problem_of(name: str) -> str:
    """Return the problem that a set belongs to."""
    others = (one for one in SIMULATED if name in SIMULATED[one] or name in PUBLIC.get(one, {}))
    return "crowd" if name in FAMILY else next(others)


def seeds(folder: Path = KEPT) -> pd.DataFrame:
    """Return the mean accuracy of random methods and its standard deviation over seeds, by set and method."""
    path = folder / f"{SEEDS}.csv"
    found = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["set", "method", "seed", "accuracy"])
    return found.groupby(["set", "method"])["accuracy"].agg(["mean", "std"]).reset_index()


def methods(problem: str, trials: pd.DataFrame, drawn: pd.DataFrame) -> list[dict[str, str]]:
    """Return one row per method: means over its families, compared with the trivial answer and the default."""
    trivial, default = ANSWERS[problem]
    trials = trials[trials["problem"] == problem].merge(drawn, on=["set", "method"], how="left")
    trials["accuracy"] = trials["mean"].fillna(trials["accuracy"])
    level, order = trials.pivot_table(index="set", columns="method", values="accuracy"), []
    rows: list[dict[str, str]] = []
    found: Any = trials[trials["accuracy"].notna()].groupby("method", sort=False)
    for name, mine in found:
        own = mine.set_index("set")
        shown = own.assign(default=own["accuracy"] - level[default])
        means = shown.groupby("family", sort=False)[["accuracy", "default", "ece"]].mean()
        below, spread = own[own["more"] < -1e-6], own["std"].groupby(own["family"]).mean().mean()
        rows.append(
            {
                "method": f"{name} (default)" if name == default else str(name),
                "accuracy, %": number(means["accuracy"].mean()) + (f" ± {spread:.2f}" if spread == spread else ""),
                "families": str(len(means)),
                "above the default": "-" if name == default else with_interval(means["default"]),
                "sets": str(len(own)),
                f"below {trivial}": str(len(below)),
                "significantly": str(int((below["high"] < 0).sum())),
                "calibration error": number(means["ece"].mean(), 3),
                "CPU s": number(own["seconds"].sum(), 1),
            }
        )
        order.append(-means["default"].mean())
    told = [name for name in rows[0] if {row[name] for row in rows} not in ({"-"}, {"1"})]
    return [{name: rows[at][name] for name in told} for at in np.argsort(order, kind="stable")]


def sets(trials: pd.DataFrame) -> list[dict[str, str]]:
    """Return one row per crowd: the vote, the default, their difference with its interval, the best other method."""
    trivial, default = ANSWERS["crowd"]
    rows = []
    for name, mine in trials[trials["problem"] == "crowd"].groupby("set", sort=False):
        row = mine.set_index("method")
        others = row["accuracy"].drop([default, trivial]).dropna()
        one: Any = row.loc[default]
        rows.append(
            {
                "set": f"{name}{' °' if one['family'] in SCORED_ONCE else ''}",
                "tasks": str(one["tasks"]),
                "vote": number(float(row["accuracy"][trivial])),
                "default": number(float(one["accuracy"])),
                "more": f"{one['more']:+.2f} ({one['low']:+.2f}, {one['high']:+.2f})",
                "best other": f"{others.max():.2f} {others.idxmax()}",
            }
        )
    return rows


def number(value: float, digits: int = 2) -> str:
    """Format a number, or a dash if there is none."""
    return "-" if not np.isfinite(value) else f"{value:.{digits}f}"


def with_interval(values: pd.Series[float]) -> str:
    """Format a mean over families, with its interval if there are several."""
    values = values.dropna()
    if len(values) < 2:
        return f"{values.mean():+.2f}" if len(values) else "-"
    half = student.ppf((1 + CONFIDENCE) / 2, len(values) - 1) * values.sem()
    return f"{values.mean():+.2f} ({values.mean() - half:+.1f}, {values.mean() + half:+.1f})"


def _table(problem: str) -> list[str]:
    trials = kept()
    drawn = trials["set"].str.startswith("sim_")
    return markdown(methods(problem, trials[drawn if problem == "separable" else ~drawn], seeds()))


def _sets() -> list[str]:
    trials = kept()
    return markdown(sets(trials[~trials["set"].str.startswith("sim_")]))


SECTIONS: dict[str, Callable[[], Sequence[str]]] = {
    "crowds": lambda: _table("crowd"),
    "crowd by crowd": _sets,
    "joint distributions": lambda: _table("pmf"),
    "comparisons": lambda: _table("comparisons"),
    "anchors": lambda: _table("separable"),
}


# ---- a method run again ----


def bench_again(method: str, folder: Path = KEPT) -> int:
    """Run one method again on all crowds of the leaderboard; return in how many rows its accuracy moved."""
    moved = 0
    for path in sorted(folder.glob("*.csv")):
        table = pd.read_csv(path)
        if path.stem == SEEDS or not (mine := table["method"] == method).any():
            continue
        names = [name for name in table.loc[mine, "set"] if problem_of(name) == "crowd"]
        own = [one for one in _unseen() if one.name in names] if set(names) & set(FROM_A_FOLDER) else []
        registered = [name for name in names if name not in FROM_A_FOLDER]
        some = [*(known_sets("crowd", registered) if registered else []), *own]
        for trial in bench([method], some):
            here = mine & (table["set"] == trial.set)
            if trial.method == method and here.any():
                now = np.nan if trial.accuracy is None else trial.accuracy
                moved += not np.isclose(table.loc[here, "accuracy"].iloc[0], now, atol=1e-4, equal_nan=True)
                for column in set(table.columns) & set(vars(trial)) - {"set", "family", "method", "source"}:
                    table.loc[here, column] = getattr(trial, column)
        with whole_file(path) as part:
            table.to_csv(part, index=False, float_format="%.6g", lineterminator="\n")
    return moved


def _unseen() -> list[KnownSet]:
    """Crowds of the folder that `COFACTOR_UNSEEN` names, or of `unseen` beside the mirror."""
    named, mirror = os.environ.get(UNSEEN), os.environ.get(MIRROR)
    home = Path(named) if named else Path(mirror).parent / "unseen" if mirror else None
    return list(sets_of(home, "crowd")) if home and home.is_dir() else []

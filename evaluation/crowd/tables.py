"""What comes out of the benchmark of crowds: by family, by method, by set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evaluation.crowd.families import DEVELOPED, FAMILIES, FAMILY, READ_ONCE, chosen_elsewhere, family_means
from evaluation.experiment import Experiment

DEFAULT, VOTE = "WorkerTypes", "MajorityVote"
TIE = 1e-6  # points of accuracy that are rounding
SHOWN = (VOTE, DEFAULT, "MV-EM", "IBCC", "EBCC", "Wawa", "OneCoin", "MACE")  # in the first table
CANDIDATES = (DEFAULT, "MV-EM", "IBCC", "OneCoin", "Wawa", VOTE)  # among which one is chosen on the other families
FAMILIES_HEADING = "By family of tasks, accuracy in %; families count alike, whatever the number of their sets"
OVERVIEW_HEADING = "Every method: means over the families; CPU seconds and tasks with p >= .99 are those of all sets"
SETS_HEADING = "Set by set, accuracy in %; the best other method is known only because the truth is"


def digest(experiment: Experiment, summary: pd.DataFrame) -> dict[str, list[dict[str, str]]]:
    """Return the three tables as texts: by their headings, lists of rows."""
    if not {DEFAULT, VOTE} <= set(summary.loc[summary["ours"].notna(), "method"]):
        return {}
    return {
        FAMILIES_HEADING: by_family(summary),
        OVERVIEW_HEADING: [_overview_row(row) for row in overview(experiment, summary).to_dict("records")],
        SETS_HEADING: [_set_row(str(name), row) for name, row in by_set(experiment, summary).to_dict("index").items()],
    }


# ---- by family ----


def by_family(summary: pd.DataFrame) -> list[dict[str, str]]:
    """Return a row per family, their means, and how often a method is significantly below the vote.

    Beside the methods stands the one that is best on the other families, and where the default is below the vote.
    """
    accuracy = _grid(summary[summary["metric"] == "accuracy"], "method")
    means = pd.DataFrame({name: family_means(accuracy[name]) for name in SHOWN if name in accuracy})
    means = means.reindex([family for family in FAMILIES if family in means.index])
    elsewhere = chosen_elsewhere(means[[name for name in CANDIDATES if name in means]])
    chosen, lost = elsewhere.to_dict("index"), losses(summary)
    rows = [
        {
            "family": _family(family, accuracy),
            **{_title(name): _text(value, 2) for name, value in values.items()},
            ELSEWHERE: f"{_text(chosen[family]['value'], 2)} {chosen[family]['method']}",
            LOSSES: "; ".join(_loss(row) for row in lost[lost["family"] == family].to_dict("records")) or "-",
        }
        for family, values in means.to_dict("index").items()
    ]
    return [*rows, *_last_rows(summary, means, elsewhere)]


ELSEWHERE, LOSSES = "best on the other families", "sets on which the default is below the vote"


def _last_rows(summary: pd.DataFrame, means: pd.DataFrame, elsewhere: pd.DataFrame) -> list[dict[str, str]]:
    """Means over the families, those used to choose apart, and how often methods are significantly below the vote."""
    highest = _grid(summary[summary["metric"] == "more, at most"], "method")
    counts = {_title(name): str(int((highest[name] < 0).sum())) for name in means}
    title = f"significantly below the vote, of {int(highest[DEFAULT].notna().sum())} sets"
    parts = {"used to choose the default": DEVELOPED, "scored once": READ_ONCE, "": FAMILIES}
    rows = []
    for words, part in parts.items():
        there = means.index.isin(list(part))
        if there.any():
            found = means[there]
            values = found.mean().where(found.notna().all()).to_dict()  # of gaps, means would not compare
            rows.append(
                {
                    "family": f"mean of {len(found)} families {words}".rstrip(),
                    **{_title(name): _text(value, 2) for name, value in values.items()},
                    ELSEWHERE: _text(elsewhere.loc[there, "value"].mean(), 2),
                    LOSSES: "",
                }
            )
    return [*rows, {"family": title, **counts, ELSEWHERE: "", LOSSES: ""}]


def losses(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the sets on which the default is below the vote, with interval and exact sign test, family by family."""
    found = _grid(summary[summary["method"] == DEFAULT], "metric")
    found = found.reindex(columns=["more than the vote", "more, at least", "more, at most", "sign test"])
    found = found.set_axis(["more", "at least", "at most", "p"], axis="columns").rename_axis("set").reset_index()
    found = found.assign(family=found["set"].map(FAMILY.get))
    return found[found["more"] < -TIE].reset_index(drop=True)


def _family(family: Any, accuracy: pd.DataFrame) -> str:
    count = sum(name in accuracy.index for name in FAMILIES[family])
    return family if count == 1 else f"{family} ({count} sets)"


def _title(method: Any) -> str:
    return f"{method} (default)" if method == DEFAULT else str(method)


def _loss(row: Mapping[Any, Any]) -> str:
    interval = f"{_text(row['at least'], 1, sign=True)} to {_text(row['at most'], 1, sign=True)}"
    chance = "" if np.isnan(row["p"]) else f", p = {row['p']:.1g}"
    return f"{row['set']} {_text(row['more'], 1, sign=True)} ({interval}{chance})"


# ---- by method ----


def overview(experiment: Experiment, summary: pd.DataFrame) -> pd.DataFrame:
    """Return a row per method: means over the families, and on how many sets it is below the vote.

    Methods with a value on every set come first, by accuracy. Of the others, which are those for two classes and those
    that take too long or refuse somewhere, accuracies would not compare and are left out: the difference from the vote
    on the same sets does.
    """
    metrics = list(experiment.metrics)
    rows = [_over_sets(str(name), rows, metrics) for name, rows in summary.groupby("method", sort=False)]
    table = pd.DataFrame([row for row in rows if row["sets"]])
    whole = table["sets"] == table["sets"].max()
    table = table.assign(accuracy=table["accuracy"].where(whole))
    order = ["sets", "accuracy", "more than the vote"]
    return table.sort_values(order, ascending=False, kind="stable").reset_index(drop=True)


def _over_sets(name: str, rows: pd.DataFrame, metrics: list[str]) -> dict[str, Any]:
    values = _grid(rows, "metric").reindex(columns=metrics)
    values = values[values["accuracy"].notna()]
    sure, wrong = values["sure"].sum(), (values["sure"] * values["sure and wrong"].fillna(0.0)).sum()
    return {
        "method": name,
        "sets": len(values),
        "accuracy": family_means(values["accuracy"]).mean(),
        "more than the vote": family_means(values["more than the vote"]).mean(),
        "below": int((values["more than the vote"] < -TIE).sum()),
        "significantly": int((values["more, at most"] < 0).sum()),
        **{metric: family_means(values[metric]).mean() for metric in ("log-loss", "Brier", "ECE")},
        "sure and wrong": wrong / sure if sure else np.nan,
        "CPU": values["CPU"].sum(),
    }


def _grid(rows: pd.DataFrame, columns: str, values: str = "ours") -> pd.DataFrame:
    """Return values by setting and metric or method; what has none at all is left out."""
    return rows.pivot_table(index="setting", columns=columns, values=values, aggfunc="first", sort=False)


# ---- by set ----


def by_set(experiment: Experiment, summary: pd.DataFrame) -> pd.DataFrame:
    """Return a row per set: the vote, the default with its difference and interval, the best of the other methods."""
    accuracies = summary[summary["metric"] == "accuracy"]
    accuracy, printed = _grid(accuracies, "method"), _grid(accuracies, "method", "published")
    default = _grid(summary[summary["method"] == DEFAULT], "metric")
    others = accuracy.drop(columns=[DEFAULT])
    found = pd.DataFrame(
        {
            "tasks": pd.Series(experiment.granularity),
            "vote": accuracy[VOTE],
            "default": accuracy[DEFAULT],
            "more": default["more than the vote"],
            "at least": default["more, at least"],
            "at most": default["more, at most"],
            "best": others.max(axis=1),
            "method": others.idxmax(axis=1),
            "EBCC": printed.get("EBCC", np.nan),
        }
    )
    return found.reindex([setting for setting in experiment.settings if setting in default.index])


def _overview_row(row: Mapping[Any, Any]) -> dict[str, str]:
    return {
        "method": _title(row["method"]),
        "sets": str(row["sets"]),
        "accuracy %": _text(row["accuracy"], 2),
        "more than the vote": _text(row["more than the vote"], 2, sign=True),
        "below the vote / significantly": f"{row['below']} / {row['significantly']}",
        "log-loss": _text(row["log-loss"], 3),
        "Brier": _text(row["Brier"], 3),
        "ECE": _text(row["ECE"], 3),
        "wrong of p >= .99, %": _text(row["sure and wrong"], 1),
        "CPU s": _text(row["CPU"], 1 if row["CPU"] >= 0.095 else 2),
    }


def _set_row(name: str, row: Mapping[Any, Any]) -> dict[str, str]:
    interval = f"{_text(row['at least'], 2, sign=True)} to {_text(row['at most'], 2, sign=True)}"
    return {
        "set": name,
        "tasks with truth": str(row["tasks"]),
        "vote": _text(row["vote"], 2),
        f"{DEFAULT} (default)": _text(row["default"], 2),
        "more than the vote": f"{_text(row['more'], 2, sign=True)} ({interval})",
        "best other": f"{_text(row['best'], 2)} {row['method']}",
        "EBCC, published": _text(row["EBCC"], 2),
    }


def _text(value: float, digits: int, sign: bool = False) -> str:
    return "-" if np.isnan(value) else f"{value:{'+' if sign else ''}.{digits}f}"

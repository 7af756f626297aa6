"""From the results of single trials to the table: ours beside published, with spread and a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from cofactor.experiments.experiment import Experiment
from cofactor.experiments.published import published
from cofactor.experiments.runner import Outcome

Verdict = Literal["better", "within spread", "worse", "no value", ""]
Key = tuple[str, str, str]


def measurements(outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """One row per measurement: setting, trial, method, metric, value, seconds, error, note."""
    rows = [
        {
            "setting": outcome.task.setting,
            "trial": outcome.task.trial,
            "method": found.method,
            "metric": found.metric,
            "value": np.nan if found.value is None else found.value,
            "seconds": found.seconds,
            "error": found.error,
            "note": found.note,
        }
        for outcome in outcomes
        for found in outcome.measurements
    ]
    columns = ["setting", "trial", "method", "metric", "value", "seconds", "error", "note"]
    return pd.DataFrame(rows, columns=columns)


def summarise(experiment: Experiment, outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """Summarise trials: one row per setting, method and metric shown, published rows without a value of ours included.

    Returns
    -------
    DataFrame with the columns
        setting, method, metric, unit : str
        ours, spread : float
            Mean and standard deviation over trials (0 for a single one), or median and half the interquartile range.
        trials, failed : int
        published, published_spread, difference, tolerance : float
            `difference` is ours - published; `tolerance` the largest of both spreads and, on one fixed data set, of
            the weight of one task.
        verdict : str
            "better", "within spread" or "worse" (less is better), "no value", or "" where nothing was published, or the
        row emulates a defect.
        seconds, published_seconds : float
            Median wall time of the method.
        note : str
            Why the published number is not met, or why there is none of ours.
    """
    found = measurements(outcomes)
    facts = published(experiment.published)
    rows = [_row(experiment, key, found, facts) for key in _keys(experiment, found, facts)]
    return pd.DataFrame(rows)


def _keys(experiment: Experiment, found: pd.DataFrame, facts: pd.DataFrame) -> list[Key]:
    """Every (setting, method, metric) to show: settings in their order, methods as measured, then only published."""
    seen = list(dict.fromkeys(found["method"])) if len(found) else []
    printed = facts[facts["metric"].isin(list(experiment.metrics))]
    methods = list(dict.fromkeys([*seen, *printed["method"]]))
    measured = set(zip(found["setting"], found["method"], strict=True))
    measured |= set(zip(printed["setting"], printed["method"], strict=True))
    return [
        (setting, method, metric)
        for setting in experiment.settings
        for metric in experiment.metrics
        for method in methods
        if (setting, method) in measured
    ]


def _row(experiment: Experiment, key: Key, found: pd.DataFrame, facts: pd.DataFrame) -> dict[str, object]:
    setting, method, metric = key
    mine = found[(found["setting"] == setting) & (found["method"] == method)]
    values = mine.loc[mine["metric"] == metric, "value"].to_numpy()
    refused = [text for text in dict.fromkeys(mine["error"]) if text]
    ours, spread = _centre_and_spread(values, experiment.centre)
    printed, printed_spread = _fact(facts, setting, method, metric)
    tolerance = float(np.nanmax([spread, printed_spread, _one_task(experiment, setting), 0.0]))
    return {
        "setting": setting,
        "method": method,
        "metric": metric,
        "unit": experiment.metrics[metric],
        "ours": ours,
        "spread": spread,
        "trials": len(values),
        "failed": int(mine.loc[mine["error"] != "", "trial"].nunique()),
        "published": printed,
        "published_spread": printed_spread,
        "difference": ours - printed,
        "tolerance": tolerance,
        "verdict": "" if method.endswith("bug)") else verdict(ours, printed, tolerance),
        "seconds": float(mine["seconds"].median()) if len(mine) else np.nan,
        "published_seconds": _fact(facts, setting, method, "seconds")[0],
        "note": refused[0] if refused and not len(values) else experiment.note(setting, method),
    }


def _centre_and_spread(values: np.ndarray, centre: str) -> tuple[float, float]:
    if not len(values):
        return np.nan, np.nan
    if centre == "median":
        low, middle, high = np.percentile(values, [25, 50, 75])
        return float(middle), float(high - low) / 2
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def _fact(facts: pd.DataFrame, setting: str, method: str, metric: str) -> tuple[float, float]:
    """The published value and spread; times may be printed once for all settings."""
    name = method.split(" (")[0]  # variants such as "MV-EM (paper protocol)" compare with the printed method
    for column in (setting, "all"):
        rows = facts[(facts["setting"] == column) & (facts["method"] == name) & (facts["metric"] == metric)]
        if len(rows):
            return float(rows["value"].iloc[0]), float(rows["spread"].iloc[0])
    return np.nan, np.nan


def _one_task(experiment: Experiment, setting: str) -> float:
    """Per cent of the error rate that one task weighs on one fixed data set, a rounding of the last digit included."""
    tasks = experiment.granularity.get(setting)
    return 100.0 / tasks + 0.005 if tasks else 0.0


def verdict(ours: float, printed: float, tolerance: float) -> Verdict:
    """Compare, less being better."""
    if np.isnan(printed):
        return ""
    if np.isnan(ours):
        return "no value"
    if abs(ours - printed) <= tolerance:
        return "within spread"
    return "better" if ours < printed else "worse"


# ---- the table as text ----


def as_text(experiment: Experiment, summary: pd.DataFrame) -> str:
    """Write the table as it is printed: one block per setting, one line per method, then the reasons."""
    blocks = [_block(experiment, str(setting), rows) for setting, rows in summary.groupby("setting", sort=False)]
    noted = summary[summary["note"] != ""]
    columns = (noted["setting"], noted["method"], noted["note"])
    reasons = [f"  {setting}, {method}: {note}" for setting, method, note in zip(*columns, strict=True)]
    why = ["why:", *dict.fromkeys(reasons)] if reasons else []
    return "\n".join([f"{experiment.title} ({experiment.source})", *blocks, *why])


def _block(experiment: Experiment, setting: str, rows: pd.DataFrame) -> str:
    table = pd.DataFrame(
        {
            "method": rows["method"],
            "ours": [number(*cells) for cells in zip(rows["ours"], rows["spread"], rows["trials"], strict=True)],
            "published": [number(*cells) for cells in zip(rows["published"], rows["published_spread"], strict=True)],
            "difference": [difference(value) for value in rows["difference"]],
            "verdict": rows["verdict"],
            "trials": rows["trials"],
            "time": [seconds(value) for value in rows["seconds"]],
            "published time": [seconds(value) for value in rows["published_seconds"]],
        }
    )
    if len(experiment.metrics) > 1:
        table.insert(1, "metric", rows["metric"])
    heading = experiment.settings[setting]
    return f"\n{heading}: {', '.join(f'{m} in {u}' if u != '1' else m for m, u in experiment.metrics.items())}\n" + (
        table.to_string(index=False)
    )


def number(value: float, spread: float = np.nan, trials: int = 2) -> str:
    """Write a value with its spread, to the digits that matter; a dash where there is none."""
    if np.isnan(value):
        return "-"
    form = ".2f" if abs(value) >= 1 or value == 0 else ".2g"
    return f"{value:{form}}" + (f" ± {spread:.2g}" if trials > 1 and not np.isnan(spread) else "")


def difference(value: float) -> str:
    """Write ours - published with its sign; nothing where one of them is missing."""
    return "" if np.isnan(value) else f"{value:+.2f}" if abs(value) >= 0.005 else f"{value:+.1g}"


def seconds(value: float) -> str:
    """Write a time with a unit that suits it; nothing where there is none."""
    if np.isnan(value):
        return ""
    return f"{value:.3g} s" if value >= 1 else f"{1000 * value:.3g} ms"

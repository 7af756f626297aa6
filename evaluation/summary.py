"""From trials to the table: ours beside published, with an interval of the difference and a verdict."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from cofactor.data.published import published
from evaluation.experiment import PAPER_PROTOCOL, Experiment
from evaluation.trials import raw_trials
from evaluation.verdicts import (
    CONFIDENCE,
    PROPORTIONS,
    ROUNDING,
    VERDICTS,
    Sample,
    controlled,
    interval,
    proportion,
    sample,
    verdict,
)

WIDTH = 120  # of the text
EMULATIONS = ("bug)", "where unlabelled)")  # end the names of rows that only show where a printed number comes from
SEE_PROTOCOL = "a default of cofactor; the paper's own choices give the printed number, see the row of its protocol"
UNKNOWN = "cause unknown"
UNLIKE = (
    "the {} of {} draws that were run say nothing of the others: the answer is that of {} on most of them, or the mean "
    "of that over all draws is outside its values on these"
)
FEWER = "{} of the {} trials that are kept, which decide"
TOO_WIDE = "{} of {} trials leave too wide an interval"
WIDE = "the interval reaches beyond the tolerance"
Key = tuple[str, str, str]
Facts = dict[Key, tuple[float, float, float]]
Row = dict[str, Any]


def summarise(
    experiment: Experiment, trials: pd.DataFrame, needed: Mapping[tuple[str, str], int] | None = None
) -> pd.DataFrame:
    """Summarise trials: one row per setting, method and metric shown, published rows without a value of ours included.

    Parameters
    ----------
    experiment : Experiment
    trials : DataFrame
        As of `raw_trials`.
    needed : mapping of (setting, method) to int, optional
        How many trials a verdict needs, see `trials_kept`; a row with fewer is open.

    Returns
    -------
    DataFrame with the columns
        setting, method, metric, unit : str
        ours, spread, se : float
            Mean over trials (or median, or share), how a single trial scatters around it, and its standard error: zero
            where the trials are all of the paper's own draws. With `Experiment.control`: the mean over all draws as the
            control tells it, how the difference from the control scatters, and what that leaves open of the draws that
            were not run.
        trials, failed : int
        published, published_spread, difference, low, high : float
            `difference` is ours - published, `low` and `high` the ends of its 95 % interval, see `verdicts`.
        digits : int
            Decimals of the published number.
        verdict : str
            "same", "differs", "open", "no value", "not comparable" (`Experiment.apart`), or "" where nothing was
            published, the number is a time, or the row emulates a defect.
        direction : str
            Of what differs: "better" or "worse"; empty of what describes the data.
        calibrated : str
            What was fitted to the printed numbers before they were compared; empty where nothing was.
        seconds, published_seconds : float
            Median wall time of the method.
        note : str
            Why the published number is not met, or why there is none of ours; empty where it is met.
    """
    mine: dict[Hashable, pd.DataFrame] = dict(iter(trials.groupby(["setting", "method"])))
    facts, nothing = published(experiment.published), trials.iloc[:0]
    printed, control, rows = _by_key(facts), _control(experiment), []
    for key in _keys(experiment, trials, facts):
        fewer = (needed or {}).get(key[:2], 0)
        rows.append(_row(experiment, key, mine.get(key[:2], nothing), printed, control, fewer))
    met = {(row["setting"], row["method"], row["metric"]) for row in rows if row["verdict"] == "same"}
    for row in rows:
        why = row.pop("why")
        row["note"] = _with_failures(row, _reason(experiment, row, met, why))
    return pd.DataFrame(rows)


def trials_kept(kept: pd.DataFrame) -> dict[tuple[str, str], int]:
    """How many trials of every setting and method are kept: what draws nothing has one."""
    counts: Any = kept.groupby(["setting", "method"])["trial"].nunique()
    return dict(counts.items())


def _keys(experiment: Experiment, trials: pd.DataFrame, facts: pd.DataFrame) -> list[Key]:
    """Every (setting, method, metric) to show: settings in their order, methods as measured, then only published.

    What was measured by the paper's protocol alone has its published number there.
    """
    seen = list(dict.fromkeys(trials["method"]))
    printed = facts[facts["metric"].isin([experiment.printed_as.get(m, m) for m in experiment.metrics])]
    names = [m if m in seen or m + PAPER_PROTOCOL not in seen else m + PAPER_PROTOCOL for m in printed["method"]]
    methods = list(filter(experiment.is_about, dict.fromkeys([*seen, *names])))
    measured = set(zip(trials["setting"], trials["method"], strict=True))
    measured |= set(zip(printed["setting"], names, strict=True))
    return [
        (setting, method, metric)
        for setting in experiment.settings
        for metric in experiment.metrics
        for method in methods
        if (setting, method) in measured
    ]


def _by_key(facts: pd.DataFrame) -> Facts:
    keys = zip(facts["setting"], facts["method"], facts["metric"], strict=True)
    return dict(zip(keys, zip(facts["value"], facts["spread"], facts["rounding"], strict=True), strict=True))


def _control(experiment: Experiment) -> Mapping[Hashable, pd.Series]:
    """Return, by setting, method and metric, the values of what was run on all draws; of most tables none."""
    if not experiment.control:
        return {}
    known = raw_trials(experiment.control["experiment"]).set_index("trial")
    return dict(iter(known.groupby(["setting", "method", "metric"])["value"]))


def _row(experiment: Experiment, key: Key, mine: pd.DataFrame, facts: Facts, control: Any, fewer: int) -> Row:
    setting, method, metric = key
    here = mine[mine["metric"] == metric]
    refused = [text for text in dict.fromkeys(mine["error"]) if text]
    ours = sample(here["value"].to_numpy(), metric, experiment.centre)
    fast = control.get(key, control.get((setting, experiment.control.get("method"), metric)))
    if fast is not None and 0 < ours.trials <= len(fast) == experiment.trials:
        own, follows = key in control, method.split(" (")[0] in experiment.control["followed by"].split(", ")
        moves = experiment.repeated.get(experiment.control["method"], {}).get(metric, 0.0)
        ours = controlled(here.set_index("trial")["value"], fast, own or follows, moves, own)
    again = experiment.repeated.get(method, {}).get(metric, ours.deviation)
    counted = ours._replace(deviation=again if ours.trials == experiment.trials else ours.deviation)
    printed, scatter, rounding = _fact(facts, setting, method, experiment.printed_as.get(metric, metric))
    row = {
        "setting": setting,
        "method": method,
        "metric": metric,
        "unit": experiment.metrics[metric],
        "ours": ours.centre,
        "spread": ours.deviation,
        "se": counted.error,
        "trials": ours.trials,
        "failed": int(mine.loc[mine["error"] != "", "trial"].nunique()),
        "published": printed,
        "published_spread": scatter,
        "difference": ours.centre - printed,
        "digits": round(-np.log10(2 * rounding)) if 0 < rounding < 1 else 0,
        "calibrated": experiment.calibrated.get(metric, "") if np.isfinite(printed) else "",
        "seconds": float(mine["seconds"].median()) if len(mine) else np.nan,
        "published_seconds": _fact(facts, setting, method, "seconds")[0],
        "note": refused[0] if refused else "",
    }
    row |= _judged(experiment, key, counted, (printed, scatter, rounding))
    row["why"] = _too_wide(experiment, row, ours, fewer)
    if ours.trials < fewer and row["verdict"] in ("same", "differs"):
        row |= {"verdict": "open", "direction": ""}
    return row


def _judged(experiment: Experiment, key: Key, ours: Sample, fact: tuple[float, float, float]) -> Row:
    """Interval and verdict of one number beside the printed one: its value, spread and rounding."""
    setting, method, metric = key
    printed, scatter, rounding = fact
    tasks = experiment.granularity.get(setting)
    exact = rounding + (100.0 / tasks if tasks else 0.0)
    low = high = np.nan
    if ours.trials and not np.isnan(printed):
        borrowed = 0.0 if ours.of_the_papers_draws else min(ours.deviation, abs(printed))
        deviation = borrowed if np.isnan(scatter) else scatter
        theirs = Sample(printed, deviation, experiment.trials, own_spread=not np.isnan(scatter))
        if metric in PROPORTIONS:
            theirs = proportion(printed, experiment.trials)
        low, high = interval(ours, theirs, exact, setting in experiment.granularity or experiment.trials == 1)
        low, high = (end - rounding * experiment.cut_off for end in (low, high))
    found, direction = verdict(metric, experiment.metrics[metric], printed, low, high, exact)
    if method.endswith(EMULATIONS):
        found, direction = "", ""
    elif found and experiment.incomparable(setting, method, metric):
        found, direction = "not comparable", ""
    return {"low": low, "high": high, "verdict": found, "direction": direction}


def _fact(facts: Facts, setting: str, method: str, metric: str) -> tuple[float, float, float]:
    """The published value, spread and rounding; times may be printed once for all settings."""
    name = method.split(" (")[0]  # variants such as "MV-EM (paper protocol)" compare with the printed method
    nothing = np.nan, np.nan, 0.0
    return facts.get((setting, name, metric), facts.get(("all", name, metric), nothing))


# ---- why a number is not met ----


def _reason(experiment: Experiment, row: Row, met: Collection[Key], why: str) -> str:
    """Why the published number is not met: what is known of it, the paper's own choices, or too few trials."""
    setting, method, metric = row["setting"], row["method"], row["metric"]
    if row["verdict"] in ("same", ""):
        return ""
    if row["verdict"] == "not comparable":
        return experiment.incomparable(setting, method, metric)
    if note := experiment.note(setting, method):
        return note
    if (setting, method + PAPER_PROTOCOL, metric) in met:
        return SEE_PROTOCOL
    return experiment.note(setting, "") or why or UNKNOWN


def _too_wide(experiment: Experiment, row: Row, ours: Sample, fewer: int) -> str:
    """Why nothing can be told: how many trials there are, or how much they scatter; "" where something can."""
    if ours.trials < fewer:
        return FEWER.format(ours.trials, fewer)
    if row["verdict"] != "open":
        return ""
    if not ours.telling:
        return UNLIKE.format(ours.trials, experiment.trials, experiment.control["method"])
    return TOO_WIDE.format(ours.trials, experiment.trials) if ours.trials < experiment.trials else WIDE


def _with_failures(row: Row, why: str) -> str:
    """Put before a reason in how many trials a method gave nothing, and what it said in the first of them."""
    refused = row["note"]
    if not row["failed"] or not row["trials"]:
        return refused or why
    gave = f"no value in {row['failed']} of {row['failed'] + row['trials']} trials: {refused}"
    return f"{why}; {gave}" if why else gave


def noted(summary: pd.DataFrame) -> dict[str, str]:
    """Return every reason once, with what it is about: "SymNMF; KOS, CNMF (small)", of SymNMF in all settings."""
    found: dict[str, dict[str, list[str]]] = {}
    everywhere = ", ".join(summary["setting"].unique())
    for (note, method), rows in summary[summary["note"] != ""].groupby(["note", "method"], sort=False):
        settings = ", ".join(rows["setting"].unique())
        at = "" if settings == everywhere else f" ({settings})"
        found.setdefault(str(note), {}).setdefault(at, []).append(str(method))
    return {note: "; ".join(f"{', '.join(names)}{at}" for at, names in about.items()) for note, about in found.items()}


# ---- methods against one another ----


def paired(experiment: Experiment, trials: pd.DataFrame) -> pd.DataFrame:
    """Compare the first method with each other one on the same data, by the first metric, so that luck cancels.

    Returns
    -------
    DataFrame with a row per setting and other method that share two trials or more
        setting, own, method, metric, trials
        difference, low, high : mean of own - other over shared trials, and the ends of its 95 % interval (Student's)
    """
    metric, rows = next(iter(experiment.metrics)), []
    found = trials[(trials["metric"] == metric) & trials["value"].notna()]
    values = found.pivot_table(index=["setting", "trial"], columns="method", values="value", sort=False)
    own, *others = [name for name in values if not str(name).endswith(EMULATIONS)] or [""]
    for setting in experiment.settings:
        here = values[values.index.get_level_values("setting") == setting]
        for other in others:
            apart = (here[own] - here[other]).dropna()
            if (n := len(apart)) > 1:
                mean, half = apart.mean(), student.ppf((1 + CONFIDENCE) / 2, n - 1) * apart.std() / np.sqrt(n)
                rows.append((setting, own, other, metric, mean, mean - half, mean + half, n))
    columns = ["setting", "own", "method", "metric", "difference", "low", "high", "trials"]
    return pd.DataFrame(rows, columns=columns)


# ---- the table as text ----


def as_text(experiment: Experiment, summary: pd.DataFrame) -> str:
    """Write the table as it is printed: one block per setting, one line per number, then the reasons and the count."""
    lines = [f"{experiment.title} ({experiment.source})"]
    for setting, rows in summary[summary["trials"].gt(0) | summary["published"].notna()].groupby("setting", sort=False):
        shown = shown_rows(rows)
        table = shown[[column for column in shown if not shown[column].isin(["", "-"]).all()]]
        width = table["method"].str.len().max()
        table = table.assign(method=table["method"].str.ljust(width)).rename(columns={"method": "method".ljust(width)})
        lines += ["", str(experiment.settings[str(setting)]), table.to_string(index=False)]
    texts = [f"{about}: {note}" for note, about in noted(summary).items()]
    if texts:
        lines += ["", "why:", *(fill(text, WIDTH, initial_indent="  ", subsequent_indent="      ") for text in texts)]
    found = summary["verdict"].value_counts()
    if counts := [f"{found[verdict]} {verdict}" for verdict in VERDICTS if verdict in found]:
        lines += ["", f"ours beside published: {', '.join(counts)}"]
    return "\n".join(lines)


def shown_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of a table that a person reads, as texts."""
    units = [f"{metric} ({unit})" if unit != "1" else metric for metric, unit in rows[["metric", "unit"]].to_numpy()]
    said = [f"{a} ({b})" if b else a for a, b in rows[["verdict", "direction"]].to_numpy()]
    return pd.DataFrame(
        {
            "method": rows["method"],
            "metric": units,
            "ours": [number(*row) for row in rows[["ours", "se", "digits", "trials"]].to_numpy(object)],
            "published": [number(*row) for row in rows[["published", "published_spread", "digits"]].to_numpy(object)],
            "difference": [bounded(*row) for row in rows[["difference", "low", "high"]].to_numpy(object)],
            "verdict": [text + (" *" if star else "") for text, star in zip(said, rows["calibrated"], strict=True)],
            "trials": rows["trials"].astype(str),
            "time": [seconds(value) for value in rows["seconds"]],
            "published time": [seconds(value) for value in rows["published_seconds"]],
        }
    )


def number(value: float, spread: float = np.nan, digits: int = 0, trials: int = 2) -> str:
    """Write a value with its spread, to the digits that matter and those printed; a dash where there is none."""
    if np.isnan(value):
        return "-"
    if value == round(value) and not digits and (trials <= 1 or np.isnan(spread)):
        return f"{value:.0f}"
    text = f"{value:{'.2f' if abs(value) >= 1 or value == 0 else '#.3g'}}"
    if digits > len(text.partition(".")[2]) and "e" not in text:
        text = f"{value:.{digits}f}"
    spread = 0.0 if spread <= ROUNDING * abs(value) else spread
    return text + (f" ± {spread:{'.0f' if spread >= 10 else '.2g'}}" if trials > 1 and not np.isnan(spread) else "")


def bounded(value: float, low: float, high: float) -> str:
    """Write a difference and its interval, where that has ends and they differ; nothing where there is none."""

    def signed(value: float) -> str:
        return "0" if abs(value) < ROUNDING else f"{value:+.2f}" if abs(value) >= 0.005 else f"{value:+.1g}"

    if np.isnan(value):
        return ""
    if not np.isfinite([low, high]).all() or high - low <= ROUNDING * max(abs(low), abs(high)):
        return signed(value)
    return f"{signed(value)} ({signed(low)} to {signed(high)})"


def seconds(value: float) -> str:
    """Write a time with a unit that suits it; nothing where there is none."""
    if np.isnan(value):
        return ""
    return f"{value:.3g} s" if value >= 1 else f"{1000 * value:.3g} ms"


def markdown(rows: Sequence[Mapping[Any, Any]]) -> list[str]:
    """Return a table's lines: names begin in one place, numbers end in one."""
    escaped = [[str(text).replace("|", "\\|") for text in row.values()] for row in rows]
    head = [f"| {' | '.join(map(str, rows[0]))} |", f"|---{'|--:' * (len(rows[0]) - 1)}|"]
    return [*head, *(f"| {' | '.join(row)} |" for row in escaped)]

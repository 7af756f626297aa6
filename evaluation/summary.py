"""From the results of single trials to the table: ours beside published, with spread and a verdict."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from cofactor.data.published import listed, published
from evaluation.experiment import PAPER_PROTOCOL, Experiment
from evaluation.runner import Outcome
from evaluation.trials import measurements, raw_trials
from evaluation.verdicts import (
    CONFIDENCE,
    PROPORTIONS,
    ROUNDING,
    VERDICTS,
    Sample,
    Verdict,
    controlled,
    interval,
    proportion,
    sample,
    verdict,
)

MET: tuple[Verdict, ...] = ("reproduced", "")  # nothing to explain
WIDTH = 120  # of the text
SURE = 0.999  # of an interval that does not hold zero, before a difference counts as more than chance
EMULATIONS = ("bug)", "where unlabelled)")  # end the names of rows that only show where a printed number comes from
SEE_PROTOCOL = "a default of this kit; the paper's own choices give the printed number, see the row of its protocol"
UNKNOWN = "cause unknown"
UNLIKE = (
    "the {} of {} draws that were run say nothing of the others: the answer is that of {} on most of them, or the mean "
    "of that over all draws is outside its values on these"
)
CHANCE = "may be chance: an interval of 99.9 % holds zero, and there are hundreds of cells"
BOUNDS = ("difference", "low", "high")
OURS, PRINTED = ("ours", "se", "digits", "trials"), ("published", "published_spread", "digits")  # of a number
COLUMNS = [
    "setting",
    "method",
    "metric",
    "unit",
    "ours",
    "spread",
    "se",
    "trials",
    "failed",
    "published",
    "published_spread",
    "difference",
    "low",
    "high",
    "digits",
    "verdict",
    "calibrated",
    "seconds",
    "published_seconds",
    "note",
]
Key = tuple[str, str, str]
Facts = dict[Key, tuple[float, float, float]]
Control = Mapping[Hashable, "pd.Series[float]"]
Row = dict[str, Any]  # of the table, and two things that only its note needs: "sure" and "telling"


def summarise(experiment: Experiment, outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """Summarise trials: one row per setting, method and metric shown, published rows without a value of ours included.

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
            "reproduced" (the interval holds zero and is narrow), "better" or "worse" (it does not hold zero),
            "cannot tell" (it holds zero and is wide), "no value", "not comparable" (`Experiment.apart`), or "" where
            nothing was published, the number is a time, or the row emulates a defect.
        calibrated : str
            What was fitted to the printed numbers before they were compared; empty where nothing was.
        seconds, published_seconds : float
            Median wall time of the method.
        note : str
            Why the published number is not met, or why there is none of ours; empty where it is met.
    """
    found = measurements(outcomes)
    facts = listed(experiment.printed) if experiment.printed else published(experiment.published)
    mine: dict[Hashable, pd.DataFrame] = dict(iter(found.groupby(["setting", "method"])))
    printed, nothing = _by_key(facts), found.iloc[:0]
    control, keys = _control(experiment), _keys(experiment, found, facts)
    rows = [_row(experiment, key, mine.get(key[:2], nothing), printed, control) for key in keys]
    met = {(row["setting"], row["method"], row["metric"]) for row in rows if row["verdict"] == "reproduced"}
    for row in rows:
        row["note"] = _with_failures(row, _reason(experiment, row, met))
    return pd.DataFrame(rows, columns=COLUMNS)  # no rows where every task failed and nothing was published


def _reason(experiment: Experiment, row: Row, met: Collection[Key]) -> str:
    """Why the published number is not met: what is known of it, the paper's own choices, or chance."""
    if row["verdict"] in MET:
        return ""
    if row["verdict"] == "not comparable":
        return experiment.incomparable(row["setting"], row["method"], row["metric"])
    if note := experiment.note(row["setting"], row["method"]):
        return note
    if (row["setting"], row["method"] + PAPER_PROTOCOL, row["metric"]) in met:
        return SEE_PROTOCOL
    if note := experiment.note(row["setting"], ""):
        return note
    if row["verdict"] == "cannot tell":
        return _too_wide(row, experiment)
    return UNKNOWN if row["sure"] else CHANCE


def _too_wide(row: Row, experiment: Experiment) -> str:
    """Why nothing can be told: how many trials there are, or how much they scatter."""
    if not row["telling"]:
        return UNLIKE.format(row["trials"], experiment.trials, experiment.control["method"])
    if row["trials"] < experiment.trials:
        return f"{row['trials']} of {experiment.trials} trials leave too wide an interval"
    return "trials scatter so much that all of the paper's leave too wide an interval"


def _with_failures(row: Row, why: str) -> str:
    """Put before a reason in how many trials a method gave nothing, and what it said in the first of them."""
    refused = row["note"]
    if not row["failed"] or not row["trials"]:
        return refused or why
    gave = f"no value in {row['failed']} of {row['failed'] + row['trials']} trials: {refused}"
    return f"{why}; {gave}" if why else gave


def _keys(experiment: Experiment, found: pd.DataFrame, facts: pd.DataFrame) -> list[Key]:
    """Every (setting, method, metric) to show: settings in their order, methods as measured, then only published.

    What was measured by the paper's protocol alone has its published number there.
    """
    seen = list(dict.fromkeys(found["method"])) if len(found) else []
    printed = facts[facts["metric"].isin([experiment.printed_as.get(m, m) for m in experiment.metrics])]
    names = [m if m in seen or m + PAPER_PROTOCOL not in seen else m + PAPER_PROTOCOL for m in printed["method"]]
    methods = list(filter(experiment.is_about, dict.fromkeys([*seen, *names])))
    measured = set(zip(found["setting"], found["method"], strict=True))
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


def _row(experiment: Experiment, key: Key, mine: pd.DataFrame, facts: Facts, control: Control) -> Row:
    setting, method, metric = key
    values = mine.loc[mine["metric"] == metric, "value"].to_numpy()
    refused = [text for text in dict.fromkeys(mine["error"]) if text]
    ours = sample(values, metric, experiment.centre)
    fast = control.get(key, control.get((setting, experiment.control.get("method"), metric)))
    if fast is not None and 0 < ours.trials <= len(fast) == experiment.trials:
        by_draw = mine[mine["metric"] == metric].set_index("trial")["value"]
        own, follows = key in control, method.split(" (")[0] in experiment.control["followed by"].split(", ")
        moves = experiment.repeated.get(experiment.control["method"], {}).get(metric, 0.0)
        ours = controlled(by_draw, fast, own or follows, moves, own)
    counted = ours._replace(deviation=experiment.scatter(method, metric, ours.trials, ours.deviation))
    printed, scatter, rounding = _fact(facts, setting, method, experiment.printed_as.get(metric, metric))
    return {
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
        **judged(experiment, key, counted, (printed, scatter, rounding)),
        "digits": round(-np.log10(2 * rounding)) if 0 < rounding < 1 else 0,
        "calibrated": experiment.calibrated.get(metric, "") if np.isfinite(printed) else "",
        "seconds": float(mine["seconds"].median()) if len(mine) else np.nan,
        "published_seconds": _fact(facts, setting, method, "seconds")[0],
        "note": refused[0] if refused else "",
        "telling": ours.telling,
    }


def _control(experiment: Experiment) -> Control:
    """Return, by setting, method and metric, the values of what was run on all draws; of most tables none.

    A method that is among them is its own control.
    """
    if not experiment.control:
        return {}
    known = raw_trials(experiment.control["experiment"]).set_index("trial")
    return dict(iter(known.groupby(["setting", "method", "metric"])["value"]))


def judged(experiment: Experiment, key: Key, ours: Sample, fact: tuple[float, float, float]) -> Row:
    """Interval and verdict of one number beside the printed one: its value, spread and rounding.

    "sure" says that a longer interval, of 99.9 %, does not hold zero either.
    """
    setting, method, metric = key
    printed, scatter, rounding = fact
    exact = rounding + _one_task(experiment, setting)
    sure = False
    if not ours.trials or np.isnan(printed):
        low = high = np.nan
    else:
        borrowed = 0.0 if ours.of_the_papers_draws else min(ours.deviation, abs(printed))
        deviation = borrowed if np.isnan(scatter) else scatter
        theirs = Sample(printed, deviation, experiment.trials, own_spread=not np.isnan(scatter))
        if metric in PROPORTIONS:
            theirs = proportion(printed, experiment.trials)
        fixed = setting in experiment.granularity or experiment.trials == 1
        low, high = interval(ours, theirs, exact, fixed)
        longer = interval(ours, theirs, exact, fixed, SURE)
        sure = longer[0] > 0 or longer[1] < 0
    found = verdict(metric, experiment.metrics[metric], printed, low, high, exact)
    if found and experiment.incomparable(setting, method, metric):
        found = "not comparable"
    return {"low": low, "high": high, "sure": sure, "verdict": "" if method.endswith(EMULATIONS) else found}


def _fact(facts: Facts, setting: str, method: str, metric: str) -> tuple[float, float, float]:
    """The published value, spread and rounding; times may be printed once for all settings."""
    name = method.split(" (")[0]  # variants such as "MV-EM (paper protocol)" compare with the printed method
    nothing = np.nan, np.nan, 0.0
    return facts.get((setting, name, metric), facts.get(("all", name, metric), nothing))


def _one_task(experiment: Experiment, setting: str) -> float:
    """Per cent of the error rate that one task weighs on one fixed data set."""
    tasks = experiment.granularity.get(setting)
    return 100.0 / tasks if tasks else 0.0


# ---- the table as text ----


def as_text(experiment: Experiment, summary: pd.DataFrame) -> str:
    """Write the table as it is printed: one block per setting, one line per method, then the reasons and the count."""
    blocks = [_block(experiment, str(setting), rows) for setting, rows in summary.groupby("setting", sort=False)]
    told = [
        f"\n{heading}\n{_left_aligned(pd.DataFrame(rows))}" for heading, rows in digest(experiment, summary).items()
    ]
    return "\n".join(
        [f"{experiment.title} ({experiment.source})", *blocks, *_reasons(summary), *_count(summary), *told]
    )


def digest(experiment: Experiment, summary: pd.DataFrame) -> Mapping[str, list[dict[str, str]]]:
    """Return the tables that a reader wants first; none of most experiments."""
    return experiment.digest(experiment, summary) if experiment.digest and len(summary) else {}


def _reasons(summary: pd.DataFrame) -> list[str]:
    """Every reason once, after the methods and settings it is about."""
    texts = [f"{about}: {note}" for note, about in noted(summary).items()]
    lines = [fill(text, WIDTH, initial_indent="  ", subsequent_indent="      ") for text in texts]
    return ["", "why:", *lines] if lines else []


def noted(summary: pd.DataFrame) -> dict[str, str]:
    """Return every reason once, with what it is about: "SymNMF; KOS, CNMF (small)", of SymNMF in all settings."""
    found: dict[str, dict[str, list[str]]] = {}
    everywhere = ", ".join(summary["setting"].unique())
    for (note, method), rows in summary[summary["note"] != ""].groupby(["note", "method"], sort=False):
        settings = ", ".join(rows["setting"].unique())
        at = "" if settings == everywhere else f" ({settings})"
        found.setdefault(str(note), {}).setdefault(at, []).append(str(method))
    return {note: "; ".join(f"{', '.join(names)}{at}" for at, names in about.items()) for note, about in found.items()}


def _count(summary: pd.DataFrame) -> list[str]:
    """How many published numbers got which verdict."""
    found = summary["verdict"].value_counts()
    counts = [f"{found[verdict]} {verdict}" for verdict in VERDICTS if verdict in found]
    return [f"\nours beside published: {', '.join(counts)}"] if counts else []


def _block(experiment: Experiment, setting: str, rows: pd.DataFrame) -> str:
    """Write one setting: a line per number that was published; of several others, a line per method for all."""
    printed = rows.groupby("metric")["published"].transform("count") > 0
    several = len(set(rows.loc[~printed & (rows["trials"] > 0), "metric"])) > 1
    parts = [(_tall, rows[printed]), (_wide, rows[~printed])] if several else [(_tall, rows)]
    heading = experiment.settings[setting]
    return "\n".join(
        f"\n{heading}: {_units(experiment, part)}\n{written(part)}" for written, part in parts if len(part)
    )


def _units(experiment: Experiment, rows: pd.DataFrame) -> str:
    units = {metric: experiment.metrics[metric] for metric in rows["metric"].unique()}
    return ", ".join(f"{m} in {u}" if u != "1" else m for m, u in units.items())


def _tall(rows: pd.DataFrame) -> str:
    table = pd.DataFrame(
        {
            "method": rows["method"],
            "metric": rows["metric"],
            "ours": [number(*cells) for cells in zip(*(rows[name] for name in OURS), strict=True)],
            "published": [number(*cells) for cells in zip(*(rows[name] for name in PRINTED), strict=True)],
            "difference": [bounded(*ends) for ends in zip(*(rows[name] for name in BOUNDS), strict=True)],
            "verdict": rows["verdict"],
            "trials": rows["trials"],
            "time": [seconds(value) for value in rows["seconds"]],
            "published time": [seconds(value) for value in rows["published_seconds"]],
        }
    )
    if len(set(rows["metric"])) == 1:
        table = table.drop(columns="metric")
    said = [column for column in table if not table[column].isin(["", "-"]).all()]
    return _left_aligned(table[said])


def _wide(rows: pd.DataFrame) -> str:
    """Write a line per method and a column per metric; methods without any value are left to the reasons."""
    rows = rows[rows["trials"] > 0]
    texts = [number(*cells) for cells in zip(*(rows[name] for name in OURS), strict=True)]
    table = rows.assign(text=texts).pivot_table(index="method", columns="metric", values="text", aggfunc="first")
    table = table.reindex(index=rows["method"].unique(), columns=rows["metric"].unique()).fillna("-")
    times = rows.drop_duplicates("method").set_index("method")
    table = table.assign(trials=times["trials"], time=times["seconds"].map(seconds))
    return _left_aligned(table.rename_axis(columns=None).reset_index())


def _left_aligned(table: pd.DataFrame) -> str:
    """Write a table whose first column begins, and whose others end, in one place."""
    name = table.columns[0]
    width = max(map(len, [name, *table[name]]))
    texts = table.assign(**{name: table[name].str.ljust(width)}).rename(columns={name: name.ljust(width)})
    return texts.to_string(index=False)


def number(value: float, spread: float = np.nan, digits: int = 0, trials: int = 2) -> str:
    """Write a value with its spread, to the digits that matter and those printed; a dash where there is none."""
    if np.isnan(value):
        return "-"
    if value == round(value) and not digits and (trials <= 1 or np.isnan(spread)):
        return f"{value:.0f}"
    form = ".2f" if abs(value) >= 1 or value == 0 else "#.3g"
    text = f"{value:{form}}"
    if digits > len(text.partition(".")[2]) and "e" not in text:
        text = f"{value:.{digits}f}"
    spread = 0.0 if spread <= ROUNDING * abs(value) else spread
    return text + (f" ± {spread:{'.0f' if spread >= 10 else '.2g'}}" if trials > 1 and not np.isnan(spread) else "")


def with_interval(mean: float, spread: float, count: int, digits: int) -> str:
    """Write a mean of differences, with Student's interval where there are several."""
    if count < 2:
        return f"{mean:+.{digits}f}"
    half = student.ppf((1 + CONFIDENCE) / 2, count - 1) * spread / np.sqrt(count)
    return f"{mean:+.{digits}f} ({mean - half:+.{digits}f} to {mean + half:+.{digits}f})"


def difference(value: float) -> str:
    """Write ours - published with its sign; nothing where one of them is missing."""
    if np.isnan(value):
        return ""
    return "0" if abs(value) < ROUNDING else f"{value:+.2f}" if abs(value) >= 0.005 else f"{value:+.1g}"


def bounded(value: float, low: float, high: float) -> str:
    """Write a difference and its interval, where that has ends and they differ."""
    text = difference(value)
    if not text or not np.isfinite([low, high]).all() or high - low <= ROUNDING * max(abs(low), abs(high)):
        return text
    return f"{text} ({difference(low)} to {difference(high)})"


def seconds(value: float) -> str:
    """Write a time with a unit that suits it; nothing where there is none."""
    if np.isnan(value):
        return ""
    return f"{value:.3g} s" if value >= 1 else f"{1000 * value:.3g} ms"

"""What is kept beside results: the table as CSV, and a record of every run."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cofactor.core.errors import CofactorError
from cofactor.core.files import from_json, whole_file
from evaluation import machine
from evaluation.experiment import Experiment
from evaluation.runner import Outcome
from evaluation.summary import seconds

FACTS = ("cpu", "cores", "os", "python", "numpy", "scipy", "scikit-learn", "numba", "blas", "commit", "data sets")


def write_table(folder: Path, experiment: Experiment, summary: pd.DataFrame) -> Path:
    """Write the summary as table.csv; it can be made again from the results beside it at any time."""
    path = folder / experiment.name / "table.csv"
    with whole_file(path) as part:
        summary.to_csv(part, index=False)
    return path


def write_record(folder: Path, experiment: Experiment, outcomes: Sequence[Outcome], began: float, jobs: int) -> Path:
    """Add this run to run.json: versions, BLAS, machine, seeds, wall time; records of earlier runs stay.

    `began` is of `time.monotonic`: somebody may set the clock while it runs.
    """
    path, lasted = folder / experiment.name / "run.json", time.monotonic() - began
    begin = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=lasted)
    runs = read_records(path)
    runs.append(
        {
            "began": begin.strftime("%Y-%m-%d %H:%M UTC"),
            "seconds": round(lasted, 3),
            "seconds_of_all_tasks": round(sum(outcome.seconds for outcome in outcomes), 3),
            "jobs": jobs,
            "load": machine.load(),
            "code": sorted({outcome.code for outcome in outcomes}),
            "machine": machine.facts(),
            "seeds": {f"{o.task.setting}/{o.task.trial}": o.task.seed for o in outcomes},
            "failed": [f"{o.task.setting}/{o.task.trial}" for o in outcomes if o.error],
            **({"file": experiment.file} if experiment.file else {}),
        }
    )
    with whole_file(path) as part:
        part.write_text(json.dumps({"experiment": experiment.name, "runs": runs}, indent=1), encoding="utf8")
    return path


def read_records(path: Path) -> list[dict[str, Any]]:
    """Read the records of earlier runs, in order; none where there is no file, an error where it is damaged."""
    if not path.exists():
        return []
    try:
        runs = from_json(path.read_text(encoding="utf8"))["runs"]
        if isinstance(runs, list) and all(isinstance(run, dict) for run in runs):
            return runs
        reason = "no list of runs"
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"{type(error).__name__}: {error}"
    raise CofactorError(f"{path} is no record of runs ({reason}): move it away")


# ---- how results were made ----


def making(outcomes: Sequence[Outcome], runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Say how results were made: when, on what, of which commits, in what time; what is not known is left out.

    Results tell it themselves. For those of before, which do not, the records of the runs that made some of them do.
    """
    makers = [run for run in _makers(runs) if {o.code for o in outcomes if not o.made} & set(run["code"])]
    stamps = [*({**run["machine"], "date": run["began"]} for run in makers), *(o.made for o in outcomes if o.made)]
    dates = sorted({stamp["date"] for stamp in stamps})
    found: dict[str, Any] = {"began": dates[0], "last": dates[-1]} if dates else {}
    found |= {"trials": _trials(outcomes), "seconds": round(sum(o.seconds for o in outcomes), 1)}
    last = runs[-1] if runs else {}
    found |= {name: last[name] for name in ("jobs", "load") if name in last}
    for name in FACTS:
        told = dict.fromkeys(stamp[name] for stamp in stamps if name in stamp)
        found |= {name: ", ".join(told)} if told else {}
    return found


def _trials(outcomes: Sequence[Outcome]) -> int:
    """Return how many trials were run; those of which an experiment takes nothing are none."""
    return 1 + max((o.task.trial for o in outcomes if o.measurements or o.error), default=0)


def _makers(runs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the runs that computed something: a task, or with a code, that none had before."""
    found, known = [], set[tuple[str, str]]()
    for run in runs:
        made = {(task, code) for task in run["seeds"] for code in run["code"]}
        found += [run] if made - known else []
        known |= made
    return found


def in_words(found: Mapping[str, Any]) -> str:
    """Write how results were made as a sentence; nothing where it is not known."""
    if "began" not in found:
        return ""
    until = f", the last trials from {found['last']} on," if found.get("last", found["began"]) != found["began"] else ""
    time = f", {seconds(found['seconds'])} of computing" if "seconds" in found else ""
    if "seconds of methods" in found:  # of results of before: the sum over raw trials, without making the data
        time = f", {seconds(found['seconds of methods'])} in the methods"
    jobs = f", {found['jobs']} at a time" if found.get("jobs", 1) != 1 else ""
    commit = f"commit{'s' * (',' in found['commit'])} {found['commit']}"
    times = f" Times are of an earlier run ({found['times']}) on an idler machine." if "times" in found else ""
    return f"Run {found['began']}{until} on {found['cpu']}, {commit}{time}{jobs}.{times}"

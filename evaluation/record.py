"""What is kept beside the results: the table as CSV, and a record of every run."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cofactor.core.errors import CofactorError
from cofactor.core.files import whole_file
from evaluation import machine
from evaluation.experiment import Experiment
from evaluation.runner import Outcome


def write_table(folder: Path, experiment: Experiment, summary: pd.DataFrame) -> Path:
    """Write the summary as table.csv; it can be made again from the results beside it at any time."""
    path = folder / experiment.name / "table.csv"
    with whole_file(path) as part:
        summary.to_csv(part, index=False)
    return path


def write_record(
    folder: Path, experiment: Experiment, outcomes: Sequence[Outcome], began: float, jobs: int, scheduler: str | None
) -> Path:
    """Add this run to run.json: versions, BLAS, machine, seeds, wall time; records of earlier runs stay."""
    path = folder / experiment.name / "run.json"
    runs = read_records(path)
    runs.append(
        {
            "began": datetime.datetime.fromtimestamp(began, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "seconds": round(time.time() - began, 3),
            "seconds_of_all_tasks": round(sum(outcome.seconds for outcome in outcomes), 3),
            "jobs": jobs,
            "scheduler": scheduler is not None,
            "code": sorted({outcome.code for outcome in outcomes}),
            "machine": machine.facts(),
            "seeds": {f"{o.task.setting}/{o.task.trial}": o.task.seed for o in outcomes},
            "failed": [f"{o.task.setting}/{o.task.trial}" for o in outcomes if o.error],
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
        runs = json.loads(path.read_text(encoding="utf8"))["runs"]
        if isinstance(runs, list) and all(isinstance(run, dict) for run in runs):
            return runs
        reason = "no list of runs"
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
    raise CofactorError(f"{path} is no record of runs ({reason}): move it away")

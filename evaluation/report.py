"""One self-contained HTML page of all results found: tables beside published numbers, and pictures."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from cofactor.core.errors import CofactorError
from cofactor.core.files import whole_file
from cofactor_app.pages.render import as_source, render
from evaluation.experiment import Experiment
from evaluation.plots import LEVELS, draw
from evaluation.summary import bounded, noted, paired, shown_rows, summarise, trials_kept
from evaluation.trials import KEPT, made_by, raw_trials, read
from evaluation.verdicts import VERDICTS


def write_report(path: Path, folder: Path, experiments: Mapping[str, Experiment]) -> list[str]:
    """Write the page for every experiment with results in `folder`; returns their names.

    Raises a CofactorError where there are no results yet; the message says how to get some.
    """
    found = {name: folder / f"{name}.jsonl" for name in experiments}
    sections = [_section(experiments[name], read(file)) for name, file in found.items() if file.exists()]
    if not sections:
        raise CofactorError(f"no results in {folder} yet: run 'cofactor reproduce crowd-table4' first")
    written = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    page = render("results", sections=sections, verdicts=VERDICTS, facts=made_by(), written=written, bounded=bounded)
    with whole_file(path) as part:
        part.write_text(page, encoding="utf8")
    return [section["experiment"].name for section in sections]


def needed(name: str) -> dict[tuple[str, str], int]:
    """How many trials a verdict on each row of an experiment needs: those that are kept."""
    return trials_kept(raw_trials(name)) if (KEPT / f"{name}.npz").exists() else {}


def _section(experiment: Experiment, trials: pd.DataFrame) -> dict[str, Any]:
    """Return what the page says about one experiment."""
    summary = summarise(experiment, trials, needed(experiment.name))
    found = summary["verdict"].value_counts()
    shown = summary[summary["trials"].gt(0) | summary["published"].notna()]
    return {
        "experiment": experiment,
        "tables": [(setting, shown_rows(rows)) for setting, rows in shown.groupby("setting", sort=False)],
        "notes": noted(summary),
        "paired": paired(experiment, trials) if experiment.plot in LEVELS else [],
        "picture": as_source(draw(experiment, trials, summary)),
        "trials": trials["trial"].nunique(),
        "counts": {verdict: int(found.get(verdict, 0)) for verdict in VERDICTS},
    }

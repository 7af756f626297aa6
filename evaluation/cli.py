"""What ``cofactor reproduce`` and ``cofactor report`` do: the papers' tables and figures, run and shown."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cofactor.core.errors import CofactorError
from cofactor.core.files import whole_file
from cofactor_app.cli.output import reserved
from cofactor_app.pages.render import as_source, render
from evaluation import EXPERIMENTS, find_experiment
from evaluation.experiment import Experiment
from evaluation.plots import LEVELS, draw
from evaluation.summary import as_text, bounded, noted, paired, shown_rows, summarise, trials_kept
from evaluation.trials import KEPT, cheapest, compared, kept_kernel, made_by, raw_trials, read, run, unlike
from evaluation.verdicts import VERDICTS

PRINTED = "printed"  # stands for the experiments that have the numbers of a paper


def listed() -> str:
    """List the experiments with their numbers of trials."""
    width = max(map(len, EXPERIMENTS))
    lines = [f"  {name:<{width}}  {e.title} ({e.trials} trials)" for name, e in EXPERIMENTS.items()]
    return "\n".join(["experiments:", *lines, f"{PRINTED}: those whose numbers a paper prints; all: all of them"])


def reproduce(arguments: argparse.Namespace) -> None:
    """Run the experiments named, or compare a kept trial of each; without names, list all."""
    if not arguments.names:
        print(listed())
    elif arguments.check:
        check(_chosen(arguments.names))
    else:
        for experiment in _chosen(arguments.names):
            trials = run(experiment, arguments.results, arguments.trials, arguments.jobs, verbose=True)
            print(as_text(experiment, summarise(experiment, trials, needed(experiment.name))))
            print(f"\nwrote {arguments.results / experiment.name}.jsonl\n", flush=True)


def _chosen(names: Sequence[str]) -> list[Experiment]:
    if "all" in names:
        return list(EXPERIMENTS.values())
    return [one for name in names for one in (printed() if name == PRINTED else [find_experiment(name)])]


def printed() -> list[Experiment]:
    """Return the experiments of all printed tables, and of the numbers in the text of the papers."""
    mine = [one for one in EXPERIMENTS.values() if one.published and not one.beside]
    return [one for one in mine if not one.source.startswith("Beyond ")]


def check(experiments: Sequence[Experiment]) -> None:
    """Repeat the cheapest stored trials that cover every number of every method, and compare the numbers.

    Raises a CofactorError where a number is another one; they are listed before.
    """
    count = others = 0
    with kept_kernel() as call:
        for experiment in experiments:
            both, differing = call(_compared, experiment.name)
            print(f"{experiment.name}: {len(both) - len(differing)} of {len(both)} numbers as kept", flush=True)
            if len(differing):
                print(differing.drop(columns="absent").to_string(index=False))
            count, others = count + len(both), others + len(differing)
    print(f"{count - others} of {count} numbers as kept")
    if others:
        raise CofactorError(f"{others} of {count} numbers differ from the stored ones")


def _compared(name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    experiment, kept = EXPERIMENTS[name], raw_trials(name)
    both = compared(experiment, kept, cheapest(kept))
    return both, unlike(experiment, both)


def report(arguments: argparse.Namespace) -> None:
    """Write the page of all results."""
    with reserved([arguments.output], arguments.force, ()):
        names = write_report(arguments.output, arguments.results, EXPERIMENTS)
    print(f"wrote {arguments.output}: {', '.join(names)}", file=sys.stdout)


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
    """Return how many trials a verdict on each row of an experiment needs: the number that is stored."""
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

"""What ``cofactor reproduce`` and ``cofactor report`` do: the papers' tables and figures, run here."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cofactor.core.errors import CofactorError
from cofactor.core.files import make_folder
from cofactor.core.locks import locked
from cofactor_app.cli.output import reserved
from evaluation import EXPERIMENTS, find_experiment
from evaluation.experiment import Experiment, Task, tasks_of
from evaluation.origin import code_of_line
from evaluation.own import experiments_in, is_own, kept_in, refuse_other_file
from evaluation.record import write_record, write_table
from evaluation.report import write_report
from evaluation.runner import failures, finished, run
from evaluation.summary import as_text, summarise

PRINTED = "printed"  # stands for the experiments that have the numbers of a paper


def listed() -> str:
    """Name the experiments with their trials."""
    width = max(map(len, EXPERIMENTS))
    lines = [f"  {name:<{width}}  {e.title} ({e.quick} of {e.trials} trials)" for name, e in EXPERIMENTS.items()]
    head = "experiments (trials of the quick profile, and of the paper):"
    return "\n".join([head, *lines, f"{PRINTED}: those whose numbers a paper prints; all: all of them"])


def reproduce(arguments: argparse.Namespace) -> None:
    """Run the experiments named, or list all."""
    if not arguments.names:
        print(listed())
        return
    chosen = _chosen(arguments.names)
    for line in {experiment.line for experiment in chosen}:
        code_of_line(line)  # now, before somebody changes the code while this runs
    for experiment in chosen:
        _reproduce_one(experiment, arguments)


def _chosen(names: Sequence[str]) -> list[Experiment]:
    return list(EXPERIMENTS.values()) if "all" in names else [one for name in names for one in _named(name)]


def _named(name: str) -> Sequence[Experiment]:
    if name == PRINTED:
        return printed()
    return experiments_in(name, EXPERIMENTS) if is_own(name) else [find_experiment(name)]


def printed() -> list[Experiment]:
    """Return the experiments of all tables that the papers print, and of the numbers that stand in their text."""
    mine = [one for one in EXPERIMENTS.values() if one.published and not one.beside]
    return [one for one in mine if not one.source.startswith("Beyond ")]


def _reproduce_one(experiment: Experiment, arguments: argparse.Namespace) -> None:
    full, folder = arguments.full, arguments.results
    profile = experiment.trials if full else experiment.quick
    trials = profile if arguments.trials is None else arguments.trials
    _announce(experiment, trials, tasks_of(experiment, trials, full), folder)
    began = time.monotonic()
    make_folder(folder)
    if experiment.file:
        refuse_other_file(experiment, folder)
    with locked(folder / experiment.name):
        tidy(folder / experiment.name)
        outcomes = run(experiment, folder, trials, arguments.jobs, verbose=True, full=full)
        summary = summarise(experiment, outcomes)
        print(as_text(experiment, summary))
        table = write_table(folder, experiment, summary)
        record = write_record(folder, experiment, outcomes, began, arguments.jobs)
    print(f"\nwrote {table} and {record}\n")
    if failed := failures(outcomes):
        raise CofactorError(failed)


def tidy(folder: Path) -> None:
    """Remove what killed runs left within a folder: unfinished files and locks that nobody holds any more."""
    for lock in folder.rglob(".*.lock"):
        path = lock.with_name(lock.name[1:].removesuffix(".lock"))
        with suppress(CofactorError), locked(path):
            path.with_name(f".{path.name}.part").unlink(missing_ok=True)


def _announce(experiment: Experiment, trials: int, tasks: Sequence[Task], folder: Path) -> None:
    """Say how much is asked for and how much of it is there already, before it takes its time."""
    if 0 < trials < experiment.trials:
        print(f"{experiment.name}: {experiment.counted(trials)} (--full runs them all)")
    asked_for = {task.setting for task in tasks}
    if asked_for and (left_out := [setting for setting in experiment.settings if setting not in asked_for]):
        print(f"{experiment.name}: without {'; '.join(left_out)} (--full runs them as well)")
    if done := len(finished(experiment, folder, tasks)):
        print(f"{experiment.name}: {done} of {len(tasks)} tasks were finished before")
    sys.stdout.flush()


def report(arguments: argparse.Namespace) -> None:
    """Write the page of all results found."""
    own, gone = kept_in(arguments.results)
    if gone:
        print(f"left out, since their files are gone or have changed: {', '.join(gone)}", file=sys.stderr)
    with reserved([arguments.output], arguments.force, ()):
        names = write_report(arguments.output, arguments.results, EXPERIMENTS | {one.name: one for one in own})
    print(f"wrote {arguments.output}: {', '.join(names)}")

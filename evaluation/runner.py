"""Running an experiment: task by task, on any number of processes, to be interrupted at any time.

One task is one (experiment, setting, trial). Its result is one JSON file, written the moment it is finished, whole or
not at all. A killed run therefore loses only the tasks under way, and the next run does only what is missing.

Random numbers of a task depend on the task alone, and linear algebra runs on one thread inside it, so that the numbers
are the same on one process and on several.
"""

from __future__ import annotations

import json
import os
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor

from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import from_json, make_folder, whole_file
from cofactor.core.result import progress
from evaluation import machine
from evaluation.experiment import Experiment, Measurement, Task, one_trial, tasks_of
from evaluation.origin import code_of, origin

CAUSE = 200  # characters of an error that is not the first
WATCH = 2.0  # seconds between two looks at whether the parent process is alive


@dataclass(frozen=True)
class Outcome:
    """What a task gave: measurements, or the error it ended with.

    `code` is what decides the numbers, and `made` says when, where and of what they were made, both as found by the
    process that computed them. Results of before have no `made`.
    """

    task: Task
    code: str
    seconds: float
    measurements: tuple[Measurement, ...]
    error: str = ""
    made: Mapping[str, str] = field(default_factory=dict, compare=False, hash=False)

    @property
    def finished(self) -> bool:
        """Whether the task ran to its end; one that failed is tried again in the next run."""
        return not self.error


def run(
    experiment: Experiment,
    folder: Path,
    trials: int | None = None,
    jobs: int = 1,
    verbose: bool = False,
    full: bool = False,
) -> list[Outcome]:
    """Run what is missing of an experiment, keep every result, return all of them in the order of the tasks.

    Parameters
    ----------
    experiment : Experiment
    folder : Path
        Results go to `folder / experiment.name / setting / trial-NNN.json`.
    trials : int, optional
        Default: those of the quick profile or, of a full run, those of the paper.
    jobs : int
        Processes on this machine; -1 for one per core.
    verbose : bool
        Show a progress bar on a terminal.
    full : bool
        Run the settings that take long as well.

    Returns
    -------
    list of Outcome
        Failed tasks are among them, with their error.

    Raises
    ------
    CofactorError
        No trials asked for, the folder cannot be written, or a result is damaged.

    Notes
    -----
    A result is computed again where the code of the experiment's line or a number of its setting has changed since;
    comments, docstrings, titles and notes are no part of that.
    """
    if trials is None:
        trials = experiment.trials if full else experiment.quick
    if trials < 1 or jobs == 0:
        raise CofactorError(f"trials={trials}, jobs={jobs}: ask for at least one of each (jobs=-1: one per core)")
    tasks = tasks_of(experiment, trials, full)
    kept = finished(experiment, folder, tasks)
    missing = [task for task in tasks if task not in kept]
    for outcome in _execute_all(experiment, missing, folder, jobs, verbose):
        kept[outcome.task] = outcome
    return [kept[task] for task in tasks if task in kept]


def finished(experiment: Experiment, folder: Path, tasks: Sequence[Task]) -> dict[Task, Outcome]:
    """Return the kept results that stand: of a task that ran to its end, made by the present code."""
    found = {task: load(folder, task) for task in tasks}
    return {
        task: outcome
        for task, outcome in found.items()
        if outcome and outcome.finished and outcome.code == code_of(experiment, task.setting)
    }


def _execute_all(
    experiment: Experiment, tasks: Sequence[Task], folder: Path, jobs: int, verbose: bool
) -> Iterator[Outcome]:
    if not tasks:
        return
    yield from progress(_here(experiment, tasks, folder, jobs), experiment.name, verbose, len(tasks))


def _here(experiment: Experiment, tasks: Sequence[Task], folder: Path, jobs: int) -> Iterator[Outcome]:
    """Run tasks in processes of this machine, which keep their results themselves."""
    with parallel_config(backend="loky", n_jobs=jobs, initializer=end_with, initargs=(os.getpid(),)):
        parallel = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
        try:
            yield from parallel(delayed(execute)(experiment, task, folder.resolve()) for task in tasks)
        except KeyboardInterrupt:
            if jobs != 1:  # else there are no workers
                get_reusable_executor().shutdown(wait=True, kill_workers=True)
            raise


def end_with(parent: int) -> None:
    """End this process soon after its parent did, even if that was killed and could not stop its workers."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def execute(experiment: Experiment, task: Task, folder: Path | None = None) -> Outcome:
    """Run one task; keep its result in `folder` at once, where there is one."""
    code, made = code_of(experiment, task.setting), machine.where() | origin(experiment.line)
    began = time.perf_counter()
    found: list[Measurement] = []
    error = ""
    try:
        found = one_trial(experiment.run, task)
    except CofactorError as refusal:
        error = str(refusal)
    except Exception:
        error = traceback.format_exc()
    outcome = Outcome(task, code, time.perf_counter() - began, tuple(found), error, made)
    if folder:
        save(folder, outcome)
    return outcome


# ---- results on disk ----


def path_of(folder: Path, task: Task) -> Path:
    """Where the result of a task lies."""
    return folder / task.experiment / _file_name(task.setting) / f"trial-{task.trial:03d}.json"


def _file_name(setting: str) -> str:
    return "".join(c if c.isalnum() or c in "-_.=" else "_" for c in setting)


def save(folder: Path, outcome: Outcome) -> None:
    """Write one result, whole or not at all."""
    path = path_of(folder, outcome.task)
    make_folder(path.parent)
    with whole_file(path) as part:
        part.write_text(json.dumps(asdict(outcome) | {"seed": outcome.task.seed}, indent=1), encoding="utf8")


def load(folder: Path, task: Task) -> Outcome | None:
    """Read one result, or None where there is none. A file that is not a result is an error that names it."""
    path = path_of(folder, task)
    if not path.exists():
        return None
    try:
        fields: dict[str, Any] = from_json(path.read_text(encoding="utf8"))
        fields.pop("seed")
        measurements = tuple(Measurement(**entry) for entry in fields.pop("measurements"))
        return Outcome(Task(**fields.pop("task")), measurements=measurements, **fields)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CofactorError(f"{path} is not a result of this program ({error}): move it away and run again") from None


def load_all(folder: Path, experiment: Experiment) -> list[Outcome]:
    """Read every result of an experiment's settings found in a folder, in the order of the tasks."""
    trials = [int(path.stem.split("-")[1]) for path in (folder / experiment.name).glob("*/trial-*.json")]
    found = [load(folder, task) for task in tasks_of(experiment, max(trials, default=-1) + 1, full=True)]
    return [outcome for outcome in found if outcome is not None]


def failures(outcomes: Sequence[Outcome]) -> str:
    """Name the failed tasks by what they failed of, the first cause in full; empty where all went well."""
    causes: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.error:
            causes.setdefault(_cause(outcome.error), []).append(f"{outcome.task.setting} trial {outcome.task.trial}")
    count = sum(map(len, causes.values()))
    told = [f"{listing(tasks)}: {cause}" for cause, tasks in causes.items()]
    told[1:] = [shorten(text, CAUSE) for text in told[1:]]
    return "\n".join([f"{count} of {len(outcomes)} tasks failed: {told[0]}", *told[1:]]) if told else ""


def _cause(error: str) -> str:
    """Return what an error says, without the calls that a traceback tells before."""
    lines = error.strip().splitlines()
    calls = [at for at, line in enumerate(lines) if line.startswith("  ")] if lines[0].startswith("Traceback") else []
    return "\n".join(lines[max(calls, default=-1) + 1 :])

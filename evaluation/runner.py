"""Running an experiment: task by task, on any number of processes, to be interrupted at any time.

One task is one (experiment, setting, trial). Its result is one JSON file, written the moment it is finished, whole or
not at all. A killed run therefore loses only the tasks under way, and the next run does only what is missing.

Random numbers of a task depend on the task alone, and linear algebra runs on one thread inside it, so that the numbers
are the same on one process, on several, and on a cluster.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits
from tqdm import tqdm

import cofactor
from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import whole_file
from evaluation.experiment import Experiment, Measurement, Run, Task, tasks_of

PATIENCE = "20s"  # for the scheduler of a cluster to answer
WATCH = 2.0  # seconds between two looks at whether the parent process is alive
LIBRARY, EVALUATION = Path(cofactor.__file__).parent, Path(__file__).parent
ROOMS = ("core", "simulate", "data")  # of the library, that every line needs
HARNESS = [EVALUATION / "experiment.py", EVALUATION / "runner.py", EVALUATION / "released"]


@dataclass(frozen=True)
class Outcome:
    """What a task gave: measurements, or the error it ended with."""

    task: Task
    code: str
    seconds: float
    measurements: tuple[Measurement, ...]
    error: str = ""

    @property
    def finished(self) -> bool:
        """Whether the task ran to its end; one that failed is tried again in the next run."""
        return not self.error


def run(
    experiment: Experiment,
    folder: Path,
    trials: int | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
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
    scheduler : str, optional
        Address of a Dask scheduler ("tcp://host:8786") whose workers have this package; `jobs` is then ignored.
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
        No trials asked for, the folder cannot be written, or the scheduler cannot be reached.

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
    for outcome in _execute_all(experiment, missing, folder, jobs, scheduler, verbose):
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
    experiment: Experiment, tasks: Sequence[Task], folder: Path, jobs: int, scheduler: str | None, verbose: bool
) -> Iterator[Outcome]:
    if not tasks:
        return
    here = folder.resolve()
    keep_there = None if scheduler else here  # workers of a cluster may not see this disk
    with _backend(jobs, scheduler):
        parallel = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
        outcomes = parallel(
            delayed(execute)(experiment.run, task, code_of(experiment, task.setting), keep_there) for task in tasks
        )
        hidden = None if verbose else True  # None: shown on a terminal, hidden in a pipe
        for outcome in tqdm(outcomes, total=len(tasks), desc=tasks[0].experiment, disable=hidden, leave=False):
            if scheduler:
                save(here, outcome)
            yield outcome


@contextmanager
def _backend(jobs: int, scheduler: str | None) -> Iterator[None]:
    if scheduler is None:
        with parallel_config(backend="loky", n_jobs=jobs, initializer=end_with, initargs=(os.getpid(),)):
            try:
                yield
            except KeyboardInterrupt:
                if jobs != 1:  # else there are no workers
                    get_reusable_executor().shutdown(wait=True, kill_workers=True)
                raise
        return
    try:
        distributed = import_module("distributed")  # by name: types of it are there only where it is installed
    except ImportError:
        raise CofactorError("a cluster needs Dask: pip install 'cofactor[scale]'") from None
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise CofactorError(f"no Dask scheduler at {scheduler}: {error}") from None
    with client, parallel_config(backend="dask"):
        yield


def end_with(parent: int) -> None:
    """End this process soon after its parent did, even if that was killed and could not stop its workers."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def execute(job: Run, task: Task, code: str, folder: Path | None) -> Outcome:
    """Run one task on one thread; keep its result in `folder` at once, where there is one."""
    began = time.perf_counter()
    found: list[Measurement] = []
    error = ""
    with threadpool_limits(limits=1):
        try:
            found = job(task.setting, task.trial, np.random.default_rng(task.seed))
        except CofactorError as refusal:
            error = str(refusal)
        except Exception:
            error = traceback.format_exc()
    outcome = Outcome(task, code, time.perf_counter() - began, tuple(found), error)
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
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as part:
        part.write_text(json.dumps(asdict(outcome) | {"seed": outcome.task.seed}, indent=1), encoding="utf8")


def load(folder: Path, task: Task) -> Outcome | None:
    """Read one result, or None where there is none. A file that is not a result is an error that names it."""
    path = path_of(folder, task)
    if not path.exists():
        return None
    try:
        fields: dict[str, Any] = json.loads(path.read_text(encoding="utf8"))
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


# ---- what decides the numbers ----


def code_of(experiment: Experiment, setting: str) -> str:
    """Hash what decides the numbers of a setting: the code of its line, and what the setting gives to it."""
    numbers = json.dumps(experiment.given.get(setting, {}), sort_keys=True)
    return hashlib.sha256(f"{code_of_line(experiment.line)} {numbers}".encode()).hexdigest()[:16]


@cache
def code_of_line(line: str) -> str:
    """Hash the code of library and evaluation that a line runs, without docstrings and comments."""
    homes = [*(LIBRARY / room for room in (*ROOMS, line)), EVALUATION / line, *HARNESS]
    sources = [path for home in homes for path in ([home] if home.is_file() else home.rglob("*.py"))]
    digest = hashlib.sha256()
    for path in sorted(set(sources)):
        home = LIBRARY if path.is_relative_to(LIBRARY) else EVALUATION
        name = path.relative_to(home.parent).as_posix()
        digest.update(f"{name}\0{bare(path.read_text(encoding='utf8'))}\0".encode())
    return digest.hexdigest()


def bare(source: str) -> str:
    """Return the syntax tree of a source as text: no comments, no docstrings, no line numbers."""
    tree = ast.parse(source)
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree)


def failures(outcomes: Sequence[Outcome]) -> str:
    """Name the failed tasks, with the last line of each error; empty where all went well."""
    failed = [
        f"{o.task.setting}, trial {o.task.trial}: {o.error.strip().splitlines()[-1]}" for o in outcomes if o.error
    ]
    return f"{len(failed)} of {len(outcomes)} tasks failed: {listing(failed)}" if failed else ""

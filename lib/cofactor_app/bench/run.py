"""Run methods on data sets, in processes without the truth: one for each of the user's, one for all built-in methods.

The processes cannot open files in data folders, as `cofactor.load` does. Ids of tasks and workers are replaced by
numbers, so that they do not reveal classes. A method that has memorised the truth of a public set is not detected; your
own sets and simulated ones serve for that.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from importlib.metadata import packages_distributions, version
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from os import PathLike, sep
from os.path import realpath
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from cofactor import __version__
from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import from_json, whole_file
from cofactor.core.types import Ints
from cofactor.crowd import METHODS
from cofactor.crowd.aggregators import Outside
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.scores import paired_difference, score, sign_test
from cofactor.data.registry import DATASETS_DIR, data_folder
from cofactor.data.storage import mirror_folder
from cofactor.registry import is_outside, listed, loaded, parts_of, source_of
from cofactor_app.bench.answers import ANSWERS, Question, answer_on, scores_of, small
from cofactor_app.bench.sets import KnownSet
from cofactor_app.peak import CLEAR_REFS, resident

_task, _worker = np.divmod(np.arange(60), 5)
FEW_LABELS = CrowdLabels.from_arrays(_task, _worker, (_task + (_worker == _task % 5)) % 2)
SOURCE, BYTE_CODE = ".py", "__pycache__"  # of the method, which may lie beside data


@dataclass(frozen=True)
class Trial:
    """The result of one method on one set; numbers are None if it failed.

    Attributes
    ----------
    set, family, method : str
    source : str
        Hash of the method's file, or the version of cofactor.
    tasks : int
        Number of tasks with known truth.
    accuracy : float
        In percent; a tie of t classes counts 1 / t.
    more, low, high, p : float
        Accuracy minus that of the trivial answer in percentage points, its paired 95 % interval, and the p-value of
        the exact sign test.
    above_default, above_low, above_high : float
        The same, compared with the default.
    ece : float
        Expected calibration error.
    seconds : float
        Processor time.
    memory : float
        Peak resident memory of the process during the run on the set, in MB, including Python, loaded libraries and
        the data (at least 70 MB), but not processes that the method starts. Built-in methods share a process, so memory
        that one leaves counts for the next. None if it is unknown (other systems than Linux).
    error : str
        Why there are no numbers.
    """

    set: str
    family: str
    method: str
    source: str
    tasks: int
    accuracy: float | None = None
    more: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    above_default: float | None = None
    above_low: float | None = None
    above_high: float | None = None
    ece: float | None = None
    seconds: float | None = None
    memory: float | None = None
    error: str = ""


def bench(
    methods: Sequence[str],
    sets: Iterable[KnownSet],
    kept: Path | None = None,
    folders: Sequence[Path] = (),
    problem: str = "crowd",
) -> Iterator[Trial]:
    """Score methods on sets, with the trivial answer and the default among them, and yield trials set by set.

    Parameters
    ----------
    methods : names of built-in methods, or `FILE.py:NAME` (see `cf.crowd.Outside`)
    sets : as `known_sets` returns them
    kept : Path, optional
        A file to which results are added. Results of the same method and file that it already has are not computed
        again.
    folders : sequence of Path
        Further folders in which methods cannot open files, beside those of cofactor.
    problem : crowd, pmf, separable or comparisons, the problem of all sets

    Raises `CofactorError` if a method cannot be found. A method that fails on a set, or returns an answer of the wrong
    shape, gives a trial with `error`.
    """
    names = list(dict.fromkeys([*ANSWERS[problem], *methods]))
    if strange := [name for name in names if not is_outside(name) and name not in listed(problem)]:
        offered = f"give FILE.py:NAME, or one of {', '.join(listed(problem))}"
        raise CofactorError(f"no {problem} method is named {listing(map(repr, strange))}: {offered}")
    sources = {name: source_of(name) if is_outside(name) else f"cofactor {__version__}" for name in names}
    earlier = {(t.set, t.method, t.source): t for t in trials_in(kept)} if kept else {}
    sealed = [str(path.resolve()) for path in (DATASETS_DIR, data_folder(), mirror_folder(), *folders) if path]
    with ExitStack() as processes:
        built_in = processes.enter_context(_Process(sealed))
        runs = {n: processes.enter_context(_Process(sealed, n)) if is_outside(n) else built_in for n in names}
        for one in sets:
            known = [earlier.get((one.name, name, sources[name])) for name in names]
            for trial in known if all(known) else _on_one_set(one, runs, sources):
                assert trial is not None
                if kept and (trial.set, trial.method, trial.source) not in earlier:
                    _keep(trial, kept)
                yield trial


def _on_one_set(known: KnownSet, runs: dict[str, _Process], sources: dict[str, str]) -> Iterator[Trial]:
    given, truth = known.read()
    problem = given.problem if isinstance(given, Question) else "crowd"
    if isinstance(given, CrowdLabels):
        given = CrowdLabels(given.table, list(range(given.n_tasks)), list(range(given.n_workers)), given.classes)
    found = {name: run(name, given) for name, run in runs.items()}
    trivial, default = (found[name].said for name in ANSWERS[problem])
    for name, answer in found.items():
        trial = Trial(known.name, known.family, name, sources[name], int(np.sum(truth >= 0)), error=answer.error)
        if answer.said is not None and trivial is not None:
            trial = replace(trial, seconds=answer.seconds, memory=answer.memory)
            trial = _scored(trial, problem, (answer.said, trivial, default), truth)
        yield trial


def _scored(trial: Trial, problem: str, answers: tuple[Any, Any, Any], truth: Ints) -> Trial:
    """Fill in the numbers of one answer, beside the trivial one and the default, which may be missing."""
    scored = [None if a is None else a if problem == "crowd" else scores_of(problem, a, truth)[0] for a in answers]
    right = truth if problem == "crowd" else scores_of(problem, answers[0], truth)[1]
    answer, trivial, default = scored
    assert answer is not None and trivial is not None
    more, found = paired_difference(answer, trivial, right), score(answer, right)
    above = None if default is None else paired_difference(answer, default, right)
    values: dict[str, Any] = {
        "accuracy": 100 * found.accuracy,
        "more": 100 * more.mean,
        "low": 100 * more.low,
        "high": 100 * more.high,
        "p": sign_test(answer, trivial, right),
        "ece": found.ece if problem in ("crowd", "comparisons") else None,  # the others give no probabilities
    }
    if above:
        values |= {"above_default": 100 * above.mean, "above_low": 100 * above.low, "above_high": 100 * above.high}
    return replace(trial, **values)


def packages_of(method: str) -> str:
    """Return the installed packages that a method's file imports, with their versions, such as "crowd-kit 1.4.2"."""
    path = Path(parts_of(method)[0]).expanduser()
    tree = ast.parse(path.read_bytes() if path.suffix == SOURCE else b"")
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    found = {home for name in names for home in _homes().get(name.partition(".")[0], []) if home != "cofactor"}
    return ", ".join(f"{home} {version(home)}" for home in sorted(found))


_homes = cache(packages_distributions)  # it reads a file of every package that is installed


# ---- the process without truth ----


OPENS = "opens data sets, which contain the truth: this is not allowed during scoring"


class _Sealed(BaseException):
    """A method opens a data set; no handler of ordinary errors must hide that."""


@dataclass(frozen=True)
class _Answer:
    """What a method said of a set, None where it failed, and what that took."""

    said: Any = None
    seconds: float = 0.0
    memory: float | None = None
    error: str = ""


class _Process:
    """A process without truth, for one method from outside or for those of cofactor; begun anew where it has ended."""

    def __init__(self, sealed: list[str], outside: str = "") -> None:
        self.outside, self.sealed = outside, sealed
        self.pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> _Process:
        """Look for the method, so that one that cannot be found ends all before any set is read."""
        if self.outside:
            self.pool = self._begun()
            self.pool.submit(_find, self.outside).result()
        return self

    def _begun(self) -> ProcessPoolExecutor:
        try:
            return ProcessPoolExecutor(1, get_context("spawn"), _seal, (self.sealed,))
        except OSError:  # of its semaphores
            advice = "free memory, or space for temporary files (/dev/shm), and run the command again"
            raise CofactorError(f"the process for the methods could not be started: {advice}") from None

    def __exit__(self, *_: object) -> None:
        if self.pool:
            self.pool.shutdown()

    def __call__(self, name: str, given: CrowdLabels | Question) -> _Answer:
        """Run a method on a set."""
        self.pool = self.pool or self._begun()
        try:
            return self.pool.submit(_answer, name, given).result()
        except BrokenProcessPool:
            self.pool = None
            return _Answer(
                error="the process ended unexpectedly, perhaps because memory is short or compiled code crashed"
            )


def _seal(folders: list[str]) -> None:
    """Refuse data sets to whatever runs in this process from now on; an audit hook cannot be taken out again."""

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | PathLike):
            path = realpath(arguments[0])
            if path.startswith(within) and not (path.endswith(SOURCE) or BYTE_CODE in path):
                raise _Sealed

    within = tuple(f"{folder}{sep}" for folder in folders)
    sys.addaudithook(watch)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process with the one that began it, which may be killed: nobody would ever ask it for anything again."""
    if parent := parent_process():
        wait([parent.sentinel])
        os._exit(1)


def _find(name: str) -> None:
    try:
        loaded(name)
    except _Sealed:
        raise CofactorError(f"{name} {OPENS}") from None


def _answer(name: str, given: CrowdLabels | Question) -> _Answer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run = _prepared(name, given)
            if CLEAR_REFS.exists():
                CLEAR_REFS.write_text("5")  # the highest size so far becomes the one of now
            began, said = time.process_time(), run()
            seconds = time.process_time() - began
            return _Answer(said, seconds, resident("VmHWM") if CLEAR_REFS.exists() else None)
        except CofactorError as error:
            return _Answer(error=str(error))
        except Exception as error:  # one that no user should meet: a row, not the end
            return _Answer(error=f"{type(error).__name__}: {error}")
        except _Sealed:
            return _Answer(error=f"the method {OPENS}")


def _prepared(name: str, given: CrowdLabels | Question) -> Callable[[], Any]:
    """Return what runs a method on a set; it has run on little, so that nothing is compiled in the time that counts."""
    if isinstance(given, Question):
        with suppress(CofactorError):  # it may need more: the real data tell
            answer_on(name, small(given))
        return partial(answer_on, name, given)
    method = Outside(name) if is_outside(name) else METHODS[name](random_state=0)
    with suppress(CofactorError):
        method.fit(FEW_LABELS)
    return lambda: method.fit(given).predict_proba(given)


# ---- what is kept ----


def trials_in(path: Path | None) -> list[Trial]:
    """Return the trials stored in a file, one per line; none if there is no file."""
    if path is None or not path.exists():
        return []
    if not path.is_file():
        raise CofactorError(f"{path} is not a regular file: name another one with --keep")
    try:
        return [Trial(**from_json(line)) for line in path.read_text(encoding="utf8").split("\n") if line]
    except (ValueError, TypeError):
        raise CofactorError(
            f"{path} does not contain results of `cofactor bench`: name another file with --keep"
        ) from None


def _keep(trial: Trial, path: Path) -> None:
    with whole_file(path) as part:  # no other run adds to it meanwhile; one may have kept this trial before
        text = path.read_text(encoding="utf8") if path.exists() else ""
        if (trial.set, trial.method, trial.source) not in {(t.set, t.method, t.source) for t in trials_in(path)}:
            text += f"{json.dumps(asdict(trial))}\n"
        part.write_text(text, encoding="utf8")

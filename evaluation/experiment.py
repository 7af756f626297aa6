"""What an experiment is: a function that runs one trial, and the declaration above it.

::

    @experiment(settings=["5 workers", "20 workers"], metrics={"error": "%"})
    def crowd_size(setting, trial, rng):
        return {"vote": {"error": 12.0}, "mine": lambda: {"error": 11.5}}
"""

from __future__ import annotations

import csv
import hashlib
import inspect
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, partial
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from cofactor.core.errors import CofactorError, listing

PAPER_PROTOCOL = " (paper protocol)"  # ends the name of a method run with the paper's own choices
NOTES = Path(__file__).with_name("notes.csv")  # why numbers are not met or cannot be compared, and protocols
DECLARATION = "__experiments__"  # attribute of a function that is one experiment, or several
Given = Mapping[str, Mapping[str, Any]]  # numbers of every setting
F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


@dataclass(frozen=True)
class Measurement:
    """One number of one method in one trial; `value` is None where there is none, and `error` then says why.

    `seconds` is the wall time of the method's whole run.
    """

    method: str
    metric: str
    value: float | None
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper, declared.

    Attributes
    ----------
    name, title, source : str
        Such as "crowd-table4"; what it shows; where it was published, or "Beyond" which paper it goes.
    line : str
        "crowd", "pmf", "separable" or "comparisons".
    settings : mapping of str to str
        Keys of the table's columns (as in `datasets/published`), each with its heading.
    run : function (setting, trial, rng) -> {method: {metric: number}} or list of Measurement
        One trial of all methods. In place of an inner dictionary there may be a function without arguments that
        returns it: that one is timed, and where it fails, the reason is kept and the others go on.
    metrics : mapping of str to str
        Metrics shown in the table, each with its unit: "%", "s", or "1" for none.
    trials : int
        Of the paper. `told` is False where the paper does not say it: then it is a choice of ours, and the printed
        numbers are taken to be of as many.
    given : mapping of setting to mapping
        Numbers of a setting that `run` reads; where there are some, all of them are its first argument.
    published : str
        File of published numbers, without .csv; empty where the paper only shows a picture.
    methods : sequence of str
        Of the published ones, those that this experiment is about; all where none are named.
    protocol : str
        What is done, and how it differs from the paper's text.
    notes : mapping of (setting, method) to str
        Why a published number is not met; "" stands for all settings, or for methods of which nothing more is known.
    apart : mapping of (setting, method, metric) to str
        Printed numbers that ours cannot be compared with, and why; "" stands for all settings, methods or metrics.
    centre : "mean" or "median"
        Over trials, as in the paper.
    plot, axis : str
        A name of `evaluation.plots.PLOTS`, and what its axis says.
    granularity : mapping of setting to int
        One fixed data set: its tasks with known truth, where an error rate is measured, else 0.
    printed_as : mapping of str to str
        Metrics that were published under another name, or ("") under a name that means something else.
    cut_off : bool
        The paper cuts its numbers off after the last digit, and does not round them.
    repeated : mapping of str to mapping of str to float
        By method and metric, the standard deviation of a trial that is done again on the same data. Given where the
        trials are the paper's own draws: with all of these, only this scatter is left.
    control : mapping of str to str
        Where the trials are the paper's own draws: the `experiment` and the `method` that has all of them, and by which
        methods, with commas, it is `followed by`, draw by draw, see `evaluation.verdicts.controlled`.
    calibrated : mapping of str to str
        By metric, what was fitted to the printed numbers before they were compared.
    beside : bool
        Its printed numbers are counted in another experiment.
    """

    name: str
    title: str
    source: str
    line: str
    settings: Mapping[str, str]
    run: Callable[[str, int, np.random.Generator], Any]
    metrics: Mapping[str, str]
    trials: int = 10
    told: bool = True
    given: Given = field(default_factory=dict)
    published: str = ""
    methods: Sequence[str] = ()
    protocol: str = ""
    notes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    apart: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    centre: Literal["mean", "median"] = "mean"
    plot: str = "levels"
    axis: str = ""
    granularity: Mapping[str, int] = field(default_factory=dict)
    printed_as: Mapping[str, str] = field(default_factory=dict)
    cut_off: bool = False
    repeated: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    control: Mapping[str, str] = field(default_factory=dict)
    calibrated: Mapping[str, str] = field(default_factory=dict)
    beside: bool = False

    def is_about(self, method: str) -> bool:
        """Return whether a method, or the method of which it is a variant, belongs here."""
        return not self.methods or method.split(" (")[0] in self.methods

    def note(self, setting: str, method: str) -> str:
        """Return why a method's number differs from the published one, if the cause is known."""
        return self.notes.get((setting, method), self.notes.get(("", method), ""))

    def incomparable(self, setting: str, method: str, metric: str) -> str:
        """Return why a printed number cannot be compared with ours; empty if it can."""
        keys = product((setting, ""), (method.split(" (")[0], ""), (metric, ""))
        return next((self.apart[key] for key in keys if key in self.apart), "")


# ---- one trial ----


_only: frozenset[str] | None = None  # methods that are run; all where it is None


def one_trial(
    experiment: Experiment, setting: str, trial: int, only: frozenset[str] | None = None
) -> list[Measurement]:
    """Run one trial on one thread, of all methods or of those named.

    Its random numbers depend on experiment, setting and trial alone: they are the same on any number of processes, and
    those of a method are the same whichever others run.
    """
    global _only
    seed = hashlib.sha256(f"{experiment.name}/{setting}/{trial}".encode()).digest()[:8]
    rng, _only = np.random.default_rng(int.from_bytes(seed, "big")), only
    try:
        with threadpool_limits(limits=1):
            found = experiment.run(setting, trial, rng)
    finally:
        _only = None
    if isinstance(found, list):
        return [row for row in found if only is None or row.method in only]
    return [
        row for method, values in found.items() if only is None or method in only for row in measure(method, values)
    ]


def measure(method: str, job: Mapping[str, float] | Callable[[], Mapping[str, float]]) -> list[Measurement]:
    """Run one method; `job` returns its metrics. A failure is recorded, and the other methods still run."""
    if _only is not None and method not in _only:
        return []
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what does not converge, the number tells
        try:
            values, error = dict(job() if callable(job) else job), ""
        except CofactorError as refusal:
            values, error = {}, str(refusal)
        except Exception as failure:
            values, error = {}, f"{type(failure).__name__}: {failure}"
    seconds = time.perf_counter() - began
    if error:
        return [Measurement(method, "", None, seconds, error)]
    return [Measurement(method, metric, float(value), seconds) for metric, value in values.items()]


def measure_each(methods: Mapping[str, T], score: Callable[[T], Mapping[str, float]]) -> list[Measurement]:
    """Run methods one by one; `score` takes a method and returns its metrics."""
    return [row for name, method in methods.items() for row in measure(name, partial(score, method))]


# ---- declarations ----


def experiment(name: str = "", *, like: str = "", **given_fields: Any) -> Callable[[F], F]:
    """Declare that a function of (setting, trial, rng) is an experiment; the function itself stays as it is.

    Several declarations above one function make several experiments of it.

    Parameters
    ----------
    name : str
        Default: the function's name.
    like : str
        Another experiment of the same file, whose fields hold where no other is given.
    given_fields
        Fields of `Experiment`. Settings may be a sequence; title and protocol are the function's docstring by default.
        What is only said, `notes`, `apart` and longer protocols, stands in `notes.csv`.

    What is wrong in a declaration is said where it is read: `experiments_of`.
    """

    def declare(run: F) -> F:
        declared = (name or run.__name__, like, run, given_fields)
        setattr(run, DECLARATION, (declared, *getattr(run, DECLARATION, ())))
        return run

    return declare


def experiments_of(module: ModuleType, line: str) -> list[Experiment]:
    """Return the experiments declared in a module, in the order of its functions.

    Raises a CofactorError where one has no setting, metric or trial, or a field that there is not.
    """
    mine = [thing for thing in vars(module).values() if getattr(thing, "__module__", "") == module.__name__]
    found = {declared[0]: declared for thing in mine for declared in getattr(thing, DECLARATION, ())}
    return [_experiment(name, found, line) for name in found]


def _experiment(name: str, found: Mapping[str, Any], line: str) -> Experiment:
    run = found[name][2]
    title, _, protocol = (inspect.getdoc(run) or run.__name__).partition("\n")
    own: dict[str, Any] = {"title": title, "source": "Beyond the papers", "given": {}}
    own |= {"protocol": " ".join(protocol.split())} | _inherited(name, found) | _said(name)
    if not isinstance(own["settings"], Mapping):
        own["settings"] = {setting: setting for setting in own["settings"]}
    if strange := set(own) - {one.name for one in fields(Experiment)}:
        raise CofactorError(f"experiment {name}: unknown arguments {listing(sorted(strange))}")
    if not own["settings"] or not own["metrics"] or own.get("trials", 1) < 1:
        raise CofactorError(f"experiment {name}: at least one setting, one metric and one trial are required")
    return Experiment(name, line=line, run=partial(run, own["given"]) if own["given"] else run, **own)


def _inherited(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of an experiment over those of the one that it is like."""
    _, like, _, own = found[name]
    return (_inherited(like, found) if like else {}) | own


def _said(name: str) -> dict[str, Any]:
    """Read what `notes.csv` says of an experiment; several names in a cell are parted by "; "."""
    found: dict[str, Any] = {}
    for row in _notes():
        if name not in row["experiment"].split("; "):
            continue
        keys = list(product(*(row[column].split("; ") for column in ("setting", "method", "metric"))))
        if row["kind"] == "protocol":
            found["protocol"] = row["text"]
        elif row["kind"] == "note":
            found.setdefault("notes", {}).update({key[:2]: row["text"] for key in keys})
        else:
            found.setdefault("apart", {}).update(dict.fromkeys(keys, row["text"]))
    return found


@cache
def _notes() -> list[dict[str, str]]:
    with NOTES.open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file))

"""What an experiment is, declared by `evaluation.declaration.experiment`, and what its trials measure."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from cofactor.core.errors import CofactorError, listing

PAPER_PROTOCOL = " (paper protocol)"  # ends the name of a method run with the paper's own choices
Centre = Literal["mean", "median"]
Plot = Literal["levels", "curves", "histogram", "simplex", "sweep", "intervals", "range"]


@dataclass(frozen=True)
class Measurement:
    """One number of one method in one trial.

    Attributes
    ----------
    method, metric : str
    value : float or None
        None where the method gave none; `error` then says why.
    seconds : float
        Wall time of the method's whole run.
    error, note : str
        Why there is no value; what the method warned of.
    """

    method: str
    metric: str
    value: float | None
    seconds: float = 0.0
    error: str = ""
    note: str = ""


Run = Callable[[str, int, np.random.Generator], list[Measurement]]
Given = Mapping[str, Mapping[str, Any]]  # numbers of every setting
Digest = Callable[["Experiment", pd.DataFrame], Mapping[str, list[dict[str, str]]]]
T = TypeVar("T")


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper, declared.

    Attributes
    ----------
    name, title, source : str
        Such as "crowd-table4"; what it shows; where it was published, or "Beyond" which paper it goes.
    line : str
        The room of library and evaluation whose code decides the numbers: "crowd", "pmf", ...
    settings : mapping of str to str
        Keys of the table's columns (as in `datasets/published`), each with its heading.
    run : function (setting, trial, rng) -> list of Measurement
        One trial of all methods, defined at the top of a module, so that it can be sent to another process.
    trials, quick : int
        Of the paper, and of the quick profile: the first ones, so that a full run goes on from a quick one.
    told : bool
        Whether the paper says how many trials its numbers are the mean of; else `trials` is a choice of this kit, and
        the printed numbers are taken to be of as many.
    metrics : mapping of str to str
        Metrics shown in the table, each with its unit.
    given : mapping of setting to mapping
        Numbers of a setting that `run` reads: sizes, rates, kinds of noise.
    published : str
        File of published numbers, without .csv; empty where the paper only shows a picture.
    protocol : str
        What is done, and how it differs from the paper's text.
    notes : mapping of (setting, method) to str
        Why a published number is not met; "" as setting stands for all settings, as method for those
        of which nothing more is known.
    centre : "mean" or "median"
        Over trials, as in the paper.
    plot : str
        "levels", "curves" (metrics named by numbers), "histogram", "simplex" (metrics "h0,0", "h0,1", ...), "sweep"
        (settings named "SNR=8", ...), "intervals" (the second metric, the third and fourth being its interval) or
        "range" (from the first metric to the second, the third between them).
    granularity : mapping of setting to int
        One fixed data set: its tasks with known truth, where an error rate is measured, else 0.
    methods : sequence of str
        Of the published ones, those that this experiment is about; all where none are named.
    printed_as : mapping of str to str
        Metrics that were published under another name, or ("") under a name that means something else.
    repeated : mapping of str to mapping of str to float
        By method and metric, the standard deviation of a trial that is done again on the same data; zero for what draws
        nothing itself. Given where the trials are the paper's own draws: with all of these, ours and the printed number
        are of the same data, and only this scatter is left.
    control : mapping of str to str
        Where the trials are the paper's own draws: the `experiment` and the `method` that has all of them, and by which
        methods, with commas, it is `followed by`, draw by draw, see `evaluation.verdicts.controlled`. Other methods of
        that experiment stand beside themselves.
    apart : mapping of (setting, method, metric) to str
        Printed numbers that ours cannot be compared with, and why; "" stands for all settings, methods or metrics.
    full_only : sequence of str
        Settings that take too long for the quick profile: left out but of a full run.
    axis : str
        What the curves of a "curves" plot show, or the bars of a "range".
    calibrated : mapping of str to str
        Metrics for which something was fitted to the printed numbers, and what.
    beside : bool
        Another variant of a table that a further experiment shows: its cells are not counted again.
    digest : function, optional
        Makes of the summary what a reader wants first: tables, by their headings, as lists of rows of texts.
    printed : mapping of (setting, method, metric) to number or text
        Published numbers of an experiment that has no file of them.
    file : str
        Of an experiment of one's own: where it is, see `evaluation.own`.
    """

    name: str
    title: str
    source: str
    line: str
    settings: Mapping[str, str]
    run: Run
    trials: int
    quick: int
    metrics: Mapping[str, str]
    given: Given = field(default_factory=dict)
    published: str = ""
    methods: Sequence[str] = ()
    protocol: str = ""
    notes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    centre: Centre = "mean"
    plot: Plot = "levels"
    granularity: Mapping[str, int] = field(default_factory=dict)
    printed_as: Mapping[str, str] = field(default_factory=dict)
    repeated: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    control: Mapping[str, str] = field(default_factory=dict)
    apart: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    full_only: Sequence[str] = ()
    axis: str = ""
    calibrated: Mapping[str, str] = field(default_factory=dict)
    beside: bool = False
    digest: Digest | None = None
    told: bool = True
    printed: Mapping[tuple[str, str, str], str | float] = field(default_factory=dict)
    file: str = ""

    def counted(self, trials: int) -> str:
        """Say how many of all trials these are; what is measured beyond a paper has no trials of the paper."""
        if self.trials == 1:
            return "one trial"
        if not self.told:
            return f"{trials} of {self.trials} trials (the paper does not tell how many it took)"
        whose = "" if self.source.startswith("Beyond ") else "the paper's "
        return f"{trials} of {whose}{self.trials} trials"

    def share(self, trials: int) -> str:
        """Say the same in a column of a table."""
        return f"{trials} of {self.trials}" + ("" if self.told else ", paper: not told")

    def averaged(self, trials: int) -> str:
        """Say the same, and what stands for them in the table."""
        return self.counted(trials) + (f", {self.centre} over trials" if trials > 1 else "")

    def is_about(self, method: str) -> bool:
        """Whether a method, or the one that it is a variant of, belongs here."""
        return not self.methods or method.split(" (")[0] in self.methods

    def scatter(self, method: str, metric: str, trials: int, spread: float) -> float:
        """Return what a trial scatters by beside the paper's: their spread, or less where all draws are the same."""
        return self.repeated.get(method, {}).get(metric, spread) if trials == self.trials else spread

    def note(self, setting: str, method: str) -> str:
        """Return why the published number of a method is not met, where that is known."""
        return self.notes.get((setting, method), self.notes.get(("", method), ""))

    def incomparable(self, setting: str, method: str, metric: str) -> str:
        """Return why a printed number cannot be compared with ours; empty where it can."""
        keys = product((setting, ""), (method.split(" (")[0], ""), (metric, ""))
        return next((self.apart[key] for key in keys if key in self.apart), "")


@dataclass(frozen=True)
class Task:
    """One unit of work: one trial of one setting."""

    experiment: str
    setting: str
    trial: int

    @property
    def seed(self) -> int:
        """A number that depends on the task alone: the same numbers on any number of processes, in any order."""
        text = f"{self.experiment}/{self.setting}/{self.trial}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def tasks_of(experiment: Experiment, trials: int, full: bool = False) -> list[Task]:
    """List the tasks of an experiment, first trials first; only a full run has the settings that take long."""
    left_out = () if full else experiment.full_only
    settings = [setting for setting in experiment.settings if setting not in left_out]
    return [Task(experiment.name, setting, t) for t in range(trials) for setting in settings]


def one_trial(run: Run, task: Task) -> list[Measurement]:
    """Run one trial on one thread, with the random numbers of its task."""
    with threadpool_limits(limits=1):
        return run(task.setting, task.trial, np.random.default_rng(task.seed))


def measure(method: str, job: Callable[[], Mapping[str, float]]) -> list[Measurement]:
    """Run one method; `job` returns its metrics. A method that fails is recorded as such, and the others go on."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            values, error = dict(job()), ""
        except CofactorError as refusal:
            values, error = {}, str(refusal)
        except Exception as failure:
            values, error = {}, f"{type(failure).__name__}: {failure}"
    seconds = time.perf_counter() - began
    note = listing(dict.fromkeys(str(warning.message) for warning in caught)) if caught else ""
    if error:
        return [Measurement(method, "", None, seconds, error, note)]
    return [Measurement(method, metric, float(value), seconds, "", note) for metric, value in values.items()]


def measure_each(methods: Mapping[str, T], score: Callable[[T], Mapping[str, float]]) -> list[Measurement]:
    """Run methods one by one; `score` takes a method and returns its metrics."""
    return [row for name, method in methods.items() for row in measure(name, partial(score, method))]


def beyond(rows: Sequence[Measurement], metric: str, other: str, name: str) -> list[Measurement]:
    """Return the differences of all methods from another one on the same data, as the metric `name`."""
    found = {row.method: (row.value, row.seconds) for row in rows if row.metric == metric and row.value is not None}
    if other not in found:
        return []
    level, _ = found.pop(other)
    return [Measurement(method, name, value - level, seconds) for method, (value, seconds) in found.items()]

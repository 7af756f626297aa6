"""Kept results are those of the code of today: of every method of every experiment a kept trial, computed again.

Few and cheap trials hold every number of every method once. In each, only methods that it is to hold are run. Their
random numbers do not depend on the others: the kept trials were run with all of them, and give the same.

Kernels of BLAS round otherwise. The sign of a singular vector, a near tie, or an optimum among many hangs on that, and
an accuracy may move by five points. So trials run in a process with the kernel of the kept results, where it runs here.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest
import scipy

from cofactor.data.registry import entries
from evaluation import EXPERIMENTS, machine
from evaluation.crowd.families import FROM_A_FOLDER
from evaluation.experiment import Measurement, Task, measure, one_trial
from evaluation.trials import KEPT, raw_trials
from tools.kernels import ASK

KERNEL = "Haswell"  # of the kept results, but few on which no kernel shows; processors with AVX2 can run it
CLOSE = 1e-3  # relative: what is left is compiled for the processor at hand, which may add in another order
OTHER_VERSIONS = 1e-2  # or another kernel: a start of many, or one item of hundreds, goes another way
RESOURCES = ("seconds", "CPU", "peak")  # of a machine, not of the code: only that they are there is compared
HUGE = 1e12  # a quotient by rounding, or infinite: no number to hold
SET_UP = 1.0  # seconds of data and of what is compiled that a further trial is taken to cost
SLOW = {("comparisons-movies", "NuclearNormMLE"): 175}  # its cheapest kept trial takes as long as half of all others
NOT_HELD = set(SLOW)
DOWNLOADED = {"crowd-table1", "crowd-table5", "crowd-table9", "pmf-table12", "pmf-table13", "pmf-table14"}
DOWNLOADED |= {"comparisons-movies", "separable-figure6", "separable-figure6-reuters", "separable-figure7"}
DOWNLOADED |= {
    name for name in EXPERIMENTS if name.startswith(("separable-table2", "separable-table3", "separable-table4"))
}
DOWNLOADED |= {"practice-separable"}  # of all others, settings that are bundled hold every method
REFRESH = "Where this is meant: cofactor reproduce {} --full, then python tools/keep_results.py results"
TRIAL = ["setting", "trial"]


def held_of(name):
    """Kept trials of an experiment, of the methods that are held; on bundled data, where that is enough."""
    raw, left_out = raw_trials(name), [method for experiment, method in NOT_HELD if experiment == name]
    away = {name for name, entry in entries().items() if any(entry.copies(role)[0].url for role in entry.roles)}
    away = set(FROM_A_FOLDER) | (away if name not in DOWNLOADED else set())
    given = EXPERIMENTS[name].given
    sets = [given.get(setting, {}).get("dataset", setting.split(",")[0]) for setting in raw["setting"]]
    return raw[~raw["method"].isin(left_out) & ~np.isin(sets, sorted(away))]


def with_values(raw):
    """Methods with a value; what always refuses has none to hold."""
    return set(raw.loc[raw["value"].notna(), "method"])


def chosen(raw):
    """Choose trials greedily, by seconds for a number that no other holds yet: which methods are run in which."""
    took = raw.drop_duplicates([*TRIAL, "method", "seconds"]).groupby([*TRIAL, "method"])["seconds"].sum().to_dict()
    finite = raw[raw["value"].abs() < HUGE]
    finite = finite.assign(metric=finite["metric"].where(~finite["metric"].isin(RESOURCES), ""))
    there = {key: set(zip(rows["method"], rows["metric"], strict=True)) for key, rows in finite.groupby(TRIAL)}
    left, plan = set().union(*there.values()), {}

    def price(key):
        methods = {method for method, _ in there[key]}
        return (SET_UP + sum(took[*key, method] for method in methods)) / len(there[key])

    while left:
        there = {key: new for key, numbers in there.items() if (new := numbers & left)}
        best = min(there, key=price)
        plan[best] = {method for method, _ in there[best]}
        left -= there[best]
    return plan


def run_again(name, setting, trial, methods):
    """Run these methods of a trial; return their measurements, and the names of all that it has."""
    names = set()

    def measured(method, job):
        names.add(method)
        return measure(method, job) if method in methods else []

    with pytest.MonkeyPatch.context() as patch:
        for module in [module for key, module in sys.modules.items() if key.startswith("evaluation.")]:
            if getattr(module, "measure", None) is measure:
                patch.setattr(module, "measure", measured)
        patch.setattr("evaluation.separable.memory.measure_peak", lambda *_, **__: {"peak_mb": np.nan, "base_mb": 0})
        rows = one_trial(EXPERIMENTS[name].run, Task(name, setting, int(trial)))
    return [row for row in rows if row.method in methods], names | {row.method for row in rows}


def numbers(rows):
    """Values by method and metric, none of resources; NaN where there is no value."""
    known = {(row.method, row.metric): np.nan if row.value is None else float(row.value) for row in rows}
    known = {key: value for key, value in known.items() if not abs(value) >= HUGE}
    return {(method, metric): 0.0 if metric in RESOURCES else value for (method, metric), value in known.items()}


def not_installed(rows):
    """Methods that did not run for want of a package."""
    return {row.method for row in rows if "pip install" in row.error}


def close_to(name):
    """How close values must be, by whether the results were made with NumPy, SciPy and BLAS of this process."""
    made = json.loads((KEPT / f"{name}.json").read_text(encoding="utf8"))
    here = (np.__version__, scipy.__version__, machine.blas().split(",")[0])
    return CLOSE if (made["numpy"], made["scipy"], made["blas"].split(",")[0]) == here else OTHER_VERSIONS


def unlike(kept, found, close):
    """Return what differs, kept and found; None where a number is not there."""

    def same(key):
        both = key in kept and key in found
        return both and np.isclose(kept[key], found[key], rtol=close, atol=1e-9, equal_nan=True)

    return {key: (kept.get(key), found.get(key)) for key in sorted(kept | found) if not same(key)}


def differing(name, raw, setting, trial, methods):
    """Run a trial again; return what differs from what was kept, and methods that are not installed."""
    here = raw[(raw["setting"] == setting) & (raw["trial"] == trial)]
    found, names = run_again(name, setting, trial, methods)
    there, names = set(here["method"]), names - {method for experiment, method in NOT_HELD if experiment == name}
    moved = {(method, "method"): (method in there, method in names) for method in there ^ names}
    absent = not_installed(found)
    kept = [Measurement(row.method, row.metric, row.value) for row in here.itertuples() if row.method in methods]
    kept, found = (numbers(row for row in rows if row.method not in absent) for rows in (kept, found))
    return moved | unlike(kept, found, close_to(name)), absent


@pytest.fixture(scope="module")
def process():
    """A process that runs the kernel of the kept results, where this processor can."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENBLAS_CORETYPE", KERNEL)
        if subprocess.run([sys.executable, "-c", ASK], capture_output=True).returncode:
            patch.delenv("OPENBLAS_CORETYPE")
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            yield pool


def with_environment(environment, *arguments):
    """In the other process: take the environment of the test, and see what differs."""
    os.environ.clear()
    os.environ.update(environment)
    return differing(*arguments)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.needs_mirror] * (name in DOWNLOADED)) for name in EXPERIMENTS]
)
@pytest.mark.filterwarnings("ignore")
def test_a_kept_trial_of_every_method_is_what_the_code_gives(name, process, monkeypatch):
    if name not in DOWNLOADED:
        monkeypatch.delenv("COFACTOR_MIRROR", raising=False)  # so that DOWNLOADED names all that need it
    raw, differs, absent = held_of(name), {}, set()
    plan = chosen(raw)
    assert plan, f"{name}: no kept trial is held"
    assert set().union(*plan.values()) == with_values(raw_trials(name)) - {
        one for where, one in NOT_HELD if where == name
    }
    for (setting, trial), methods in plan.items():
        arguments = dict(os.environ), name, raw, setting, trial, methods
        unlike_here, absent_here = process.submit(with_environment, *arguments).result()
        differs |= {(setting, int(trial), *key): values for key, values in unlike_here.items()}
        absent |= absent_here
    assert differs == {}, f"kept and found: {differs}. {REFRESH.format(name)}"
    if absent:
        pytest.skip(f"all others agree; not installed here: {', '.join(sorted(absent))}")


def test_every_kept_result_is_of_an_experiment_and_every_experiment_is_kept():
    assert {path.stem for path in KEPT.glob("*.npz")} == set(EXPERIMENTS)


def test_few_and_cheap_trials_hold_every_number_once():
    """Two refuses; three is had in the last trial alone, where one and its other metric need not run again."""
    rows = [("a", 0, "one", "mse", 1.0, 2), ("a", 1, "one", "mse", 2.0, 1), ("a", 1, "two", "", np.nan, 0)]
    rows += [("b", 0, "one", "mse", 1.0, 9), ("b", 0, "three", "mse", 1.0, 9), ("b", 0, "three", "mre", 1e15, 9)]
    raw = pd.DataFrame(rows, columns=["setting", "trial", "method", "metric", "value", "seconds"])
    assert chosen(raw) == {("a", 1): {"one"}, ("b", 0): {"three"}}


@pytest.mark.parametrize(("name", "method"), SLOW)
def test_what_is_left_out_takes_as_long_as_is_said(name, method):
    raw = raw_trials(name)
    cheapest = raw.loc[(raw["method"] == method) & raw["value"].notna(), "seconds"].min()
    assert SLOW[name, method] / 3 < cheapest < 3 * SLOW[name, method]


def changed(raw):
    """Kept trials with other numbers, without a method, with a method that there is no more, each with what is told."""
    one, mse = raw.iloc[0], raw["metric"] == "mse"
    yield raw.assign(value=raw["value"].where(~mse, 1.02 * raw["value"])), (one["method"], "mse")
    yield raw[raw["method"] != one["method"]], (one["method"], "method")
    yield raw.replace({"method": {one["method"]: "gone"}}), ("gone", "method")
    yield raw.replace({"metric": {"mse": "gone"}}), (one["method"], "gone")


def test_what_is_changed_is_told():
    raw = held_of("crowd-table6")
    ((setting, trial), methods), *_ = chosen(raw).items()
    for kept, key in changed(raw):
        assert key in differing("crowd-table6", kept, setting, trial, methods)[0]

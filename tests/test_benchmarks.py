"""Benchmarks run, write what they promise, and the tables for readers are those of the stored results."""

import importlib
import itertools
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cofactor_app.peak import CLEAR_REFS
from evaluation.benchmarks import summary

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted((ROOT / "evaluation" / "benchmarks").glob("bench_*.py"))
STORED = sorted((ROOT / "evaluation" / "benchmarks" / "results").glob("*.csv"))

TINY_DATA = {
    "crowd": {"bluebird", "skewed", "two labels a worker"},
    "comparisons": {"tiny"},
    "baselines": {"bluebird"},
    "separable": {"tiny"},
    "pmf": {"tiny"},
    "notebooks": {"tiny"},
    "rank": {"tiny"},
    "startup": {"numpy", "pandas", "cofactor"},
}

COLUMNS = [
    *("subject", "data", "n_labels", "stage", "seconds_median", "seconds_min", "seconds_max", "repeats"),
    *("peak_mb", "base_mb", "per_label_ns", "error_percent", "reference", "reference_source", "ratio"),
    *("limit_on", "limit", "load", "date", "commit", "cpu", "cores", "os", "python"),
    *("numpy", "scipy", "numba", "crowd-kit", "blas"),
]


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """Run a benchmark once in its tiny size; its results."""
    known = {}

    def run(subject):
        if subject not in known:
            folder = tmp_path_factory.mktemp(subject)
            script = ROOT / "evaluation" / "benchmarks" / f"bench_{subject}.py"
            subprocess.run([sys.executable, script, "--tiny", "--output", folder], check=True, cwd=folder)
            known[subject] = summary.read(folder / f"{subject}.csv")
        return known[subject]

    return run


def row_of(frame, data, stage):
    (row,) = frame[(frame["data"] == data) & (frame["stage"] == stage)].to_dict("records")
    return row


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_runs_and_writes_the_columns(script, tiny_run):
    subject = script.stem.removeprefix("bench_")
    frame = tiny_run(subject)
    assert list(frame.columns) == COLUMNS
    assert set(frame["subject"]) == {subject}
    assert set(frame["data"]) == TINY_DATA.get(subject, {"bluebird", "skewed"})
    assert (frame["cores"].astype(int) >= 1).all() and set(frame["numpy"]) == {np.__version__}


def test_times_every_stage_of_the_crowd_path(tiny_run):
    frame = tiny_run("crowd")
    stages = {"read", "moments", "co-occurrence blocks", "robust imputation", "SymNMF", "naming the classes, MAP"}
    methods = {"RobSymNMF whole", "DesSymNMF whole", "MultiStart-EM whole", "MajorityVote whole", "EM round"}
    few = frame[frame["data"] == "two labels a worker"]
    assert list(few["stage"]) == ["WorkerTypes, 20 rounds"] and (few["ratio"] > 0).all()
    for _, rows in frame.drop(index=few.index).groupby("data"):
        assert stages | methods <= set(rows["stage"])
    assert (frame.loc[frame["stage"].isin(methods), "error_percent"] < 50).all()


@pytest.mark.parametrize("data", ["bluebird", "skewed"])
def test_crowdkit_does_the_same_work(data, tiny_run):
    pytest.importorskip("crowdkit")
    frame = tiny_run("crowd")
    ours, theirs = row_of(frame, data, "EM round"), row_of(frame, data, "crowd-kit DawidSkene round")
    assert ours["error_percent"] == pytest.approx(theirs["error_percent"], abs=0.01)
    assert ours["reference"] == theirs["seconds_median"]
    assert ours["ratio"] == pytest.approx(ours["reference"] / ours["seconds_median"], rel=1e-4)


def test_every_baseline_is_measured_beside_the_published_time(tiny_run):
    frame = tiny_run("baselines")
    baselines = {"MultiSPA", "CNMF", "TensorADMM", "Spectral-D&S", "MV-EM", "MinimaxEntropy", "KOS", "GhoshSVD"}
    assert set(frame["stage"]) == baselines | {"EigenRatio", "PG-TAC", "CRIAV"}
    assert row_of(frame, "bluebird", "CNMF")["reference"] == 6.76  # Table 4
    assert row_of(frame, "bluebird", "MV-EM")["error_percent"] == pytest.approx(10.19, abs=0.01)


def test_joint_pmfs_are_timed_up_to_the_objective_of_mirror_descent(tiny_run):
    frame = tiny_run("pmf")
    counts = {"pair counts", "triple counts", "EM round"}
    fits = {"CNMF-SPA, one split", "CNMF-SPA, ten splits", "CNMF-OPT to the same objective", "CTD, all of it"}
    opt = {"CNMF-OPT by mirror descent", "CNMF-OPT, all of it"}
    assert set(frame["stage"]) == counts | fits | opt
    assert row_of(frame, "tiny", "CNMF-OPT to the same objective")["reference"] == 94.931


def test_rankings_of_others_are_at_our_optimum(tiny_run):
    frame = tiny_run("rank")
    theirs = frame[frame["stage"].str.contains("choix|evalica")]
    assert len(theirs) and (theirs["error_percent"] < 1e-4).all()


def test_commands_are_timed_beside_two_imports_of_the_same_run(tiny_run):
    frame = tiny_run("startup")
    imports = frame[frame["stage"] == "import"].set_index("data")["seconds_median"]
    ours = frame[frame["data"] == "cofactor"]
    assert set(ours["stage"]) == {"--version", "import, load bluebird", "aggregate bluebird", "diagnose bluebird"}
    for name in ("numpy", "pandas"):
        beside = ours[ours["reference_source"] == f"import {name}"]
        assert len(beside) == 4 and (beside["reference"] == imports[name]).all()
    assert (ours["seconds_median"] > 0).all()


def test_memory_of_a_notebook_is_that_of_its_kernel(tiny_run):
    row = row_of(tiny_run("notebooks"), "tiny", "all cells")  # its only cell makes 200 MB
    assert not CLEAR_REFS.exists() or 200 < row["peak_mb"] < 400


def test_names_no_machine_and_no_path(tiny_run):
    facts = tiny_run("sweep")[summary.FACTS].to_csv()
    assert platform.node() not in facts
    assert str(Path.home()) not in facts and str(ROOT) not in facts


# ---- times ----


@pytest.fixture
def runner(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "evaluation" / "benchmarks"))  # scripts find it there, beside themselves
    return importlib.import_module("runner")


@pytest.mark.parametrize(("tick", "n_calls"), [(1, 2), (2, 1)])
def test_the_first_call_does_not_count_unless_it_was_long(runner, tick, n_calls):
    hands, calls = itertools.count(step=tick), []
    bench = runner.Bench("none", ["--tiny"], clock=lambda: next(hands), patience=1)
    assert bench.time(lambda: calls.append("")) == (None, [tick])
    assert len(calls) == n_calls


# ---- tables ----


def limited(value):
    return pd.Series({"limit_on": "per_label_ns", "per_label_ns": value, "limit": 25.0})


def test_verdict_says_whether_a_limit_is_met():
    assert summary.verdict(limited(25.0)) == "at most 25 ns/label: met"
    assert summary.verdict(limited(25.1)) == "at most 25 ns/label: NOT met"


@pytest.mark.parametrize(("value", "text"), [(64.99, "65 s"), (0.0123, "12.3 ms"), (4.56e-5, "45.6 µs"), (1.0, "1 s")])
def test_times_get_a_unit_that_suits_them(value, text):
    assert summary.seconds(value) == text


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_stored_results_are_whole_and_the_summary_is_made_from_them(path):
    assert list(pd.read_csv(path, nrows=0).columns) == COLUMNS
    assert summary.section(path.stem) in summary.README.read_text(encoding="utf8")


def test_every_benchmark_has_stored_results():
    assert [path.stem for path in STORED] == [path.stem.removeprefix("bench_") for path in SCRIPTS]

"""What is kept beside the results says everything a time or a number depends on, and nothing of where it was made."""

import json
import platform
import re
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info

from cofactor.core.errors import CofactorError
from evaluation import EXPERIMENTS, raw_trials, runner
from evaluation.experiment import Measurement, Task
from evaluation.origin import code_of
from evaluation.record import in_words, making, read_records, write_record, write_table
from evaluation.summary import summarise
from evaluation.trials import KEPT, kept_outcomes, measurements, write_trials
from tests.evaluation.toy import toy
from tools import keep_results


@pytest.fixture
def outcomes(tmp_path):
    return runner.run(toy(settings=("broken", "small")), tmp_path, trials=2)


def test_a_record_holds_times_seeds_failures_and_code(outcomes, tmp_path):
    path = write_record(tmp_path, toy(), outcomes, began=time.monotonic() - 7200, jobs=3)
    (run,) = json.loads(path.read_text())["runs"]
    began = datetime.strptime(run["began"], "%Y-%m-%d %H:%M %Z").replace(tzinfo=UTC)
    assert 7200 <= run["seconds"] < 7300 and timedelta(hours=2) <= datetime.now(UTC) - began < timedelta(hours=2.1)
    assert run["seeds"] == {f"{o.task.setting}/{o.task.trial}": o.task.seed for o in outcomes}
    assert (run["jobs"], run["failed"]) == (3, ["broken/1"])
    assert run["code"] == [code_of(toy(), "small")]
    assert run["load"] >= 0 or np.isnan(run["load"])
    assert run["seconds_of_all_tasks"] == pytest.approx(sum(o.seconds for o in outcomes), abs=1e-3)
    assert {"numpy", "scipy", "blas", "cpu", "cores", "os", "python", "commit", "date"} <= run["machine"].keys()
    kernels = {pool["architecture"] for pool in threadpool_info() if "architecture" in pool}
    assert all(kernel in run["machine"]["blas"] for kernel in kernels)


def test_a_clock_that_is_set_back_makes_no_time_negative(outcomes, tmp_path, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 0.0)
    path = write_record(tmp_path, toy(), outcomes, began=time.monotonic(), jobs=1)
    assert 0 <= json.loads(path.read_text())["runs"][0]["seconds"] < 60


def test_earlier_records_stay(outcomes, tmp_path):
    for jobs in (1, 2):
        path = write_record(tmp_path, toy(), outcomes, 0.0, jobs)
    assert [run["jobs"] for run in json.loads(path.read_text())["runs"]] == [1, 2]


def test_neither_machine_nor_path_is_told(outcomes, tmp_path):
    text = write_record(tmp_path, toy(), outcomes, 0.0, 1).read_text()
    assert str(tmp_path) not in text and str(Path.home()) not in text
    assert f'"{platform.node()}"' not in text


def test_the_table_is_read_back_as_it_was(outcomes, tmp_path):
    table = summarise(toy(settings=("broken", "small")), outcomes)
    found = pd.read_csv(write_table(tmp_path, toy(), table))
    assert list(found.columns) == list(table.columns)
    assert found["ours"].tolist() == pytest.approx(table["ours"].tolist(), rel=0, abs=0, nan_ok=True)
    assert list(tmp_path.rglob("*.part")) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 5000, '{"runs": 3}', '{"runs": [1]}', "\ufeff{}"])
def test_a_damaged_record_is_named(tmp_path, text):
    path = tmp_path / "run.json"
    path.write_text(text, encoding="utf8")
    with pytest.raises(CofactorError, match=r"run\.json is no record of runs"):
        read_records(path)


# ---- how results were made ----

BEFORE = {"cpu": "old", "cores": "2", "commit": "aaa", "numpy": "1"}


def earlier(began, trials, code="c", commit="aaa", **fields):
    """A record of a run, of the time when results did not tell themselves how they were made."""
    seeds = {f"small/{trial}": 1 for trial in trials}
    return {"began": began, "seeds": seeds, "code": [code], "machine": BEFORE | {"commit": commit}, **fields}


def plain(trial, code="c", **made):
    return runner.Outcome(Task("toy", "small", trial), code, 1.5, (Measurement("m", "mse", 1.0),), made=made)


def test_results_tell_how_they_were_made_each_commit_once():
    stamp = {"cpu": "new", "numpy": "2"}
    dated = [plain(t, date=f"2026-01-0{t + 1}", commit=commit, **stamp) for t, commit in enumerate(["b", "a", "b"])]
    found = making(dated, [earlier("2020", [0, 1, 2], jobs=2, load=0.5)])
    assert (found["began"], found["last"], found["trials"], found["seconds"]) == ("2026-01-01", "2026-01-03", 3, 4.5)
    assert (found["commit"], found["cpu"], found["numpy"]) == ("b, a", "new", "2")
    assert (found["jobs"], found["load"]) == (2, 0.5) and "cores" not in found


def test_trials_of_which_an_experiment_takes_nothing_are_not_counted():
    task = Task("toy", "small", 7)
    for error, trials in (("", 2), ("failed", 8)):
        assert making([plain(0), plain(1), runner.Outcome(task, "c", 0.0, (), error)], [])["trials"] == trials


def test_records_tell_it_of_results_of_before_where_they_computed_some():
    runs = [earlier("2020", [0], "gone", "xxx"), earlier("2021", [0, 1]), earlier("2022", [0, 1], commit="nothing new")]
    runs += [earlier("2023", [0, 1, 2], commit="bbb")]
    found = making([plain(0), plain(1), plain(2)], runs)
    assert (found["began"], found["last"], found["commit"], found["cpu"]) == ("2021", "2023", "aaa, bbb", "old")
    both = making([plain(0), plain(1, date="2024", commit="ccc", cpu="new")], runs)
    assert (both["last"], both["commit"], both["cpu"]) == ("2024", "aaa, bbb, ccc", "old, new")


def test_a_sentence_says_how_results_were_made():
    found = making([plain(0), plain(1)], [earlier("2021", [0]), earlier("2022", [1], commit="bbb", jobs=2)])
    assert (
        in_words(found)
        == "Run 2021, the last trials from 2022 on, on old, commits aaa, bbb, 3 s of computing, 2 at a time."
    )
    before = {"began": "2021", "cpu": "old", "commit": "aaa"}
    assert in_words(before) == "Run 2021 on old, commit aaa."  # kept before
    times = " Times are of an earlier run (2020, commit bbb) on an idler machine."
    assert in_words(before | {"times": "2020, commit bbb"}) == f"Run 2021 on old, commit aaa.{times}"
    assert making([plain(0)], []) == {"trials": 1, "seconds": 1.5} and in_words(making([plain(0)], [])) == ""


def test_a_busy_machine_keeps_the_times_of_before_where_values_are_the_same(outcomes):
    def slower(factor):
        def moved(one):
            return replace(one, value=one.value and one.value * factor, seconds=9.0)

        return [replace(o, measurements=tuple(map(moved, o.measurements))) for o in outcomes]

    kept = keep_results.with_times_of(outcomes, slower(1 + 1e-12))
    assert [m.seconds for o in kept for m in o.measurements] == [m.seconds for o in outcomes for m in o.measurements]
    assert keep_results.with_times_of(outcomes, slower(1.001)) is None
    assert keep_results.with_times_of(outcomes[:1], outcomes) is None
    first = keep_results.times_of({"began": "2020", "commit": "aaa", "seconds": 3})
    assert first == {"times": "2020, commit aaa", "seconds": 3}
    assert keep_results.times_of(first | {"began": "2021", "commit": "bbb"}) == first


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_kept_results_say_when_where_and_of_which_commit(path):
    said = in_words(json.loads(path.read_text(encoding="utf8")))
    assert re.match(r"Run 20\d\d-.* on .+, commits? [0-9a-f]{7}.*, .+ (of computing|in the methods)", said)


# ---- raw trials ----


def test_raw_trials_are_read_back_to_the_last_digit(outcomes, tmp_path):
    write_trials(tmp_path / "toy.npz", outcomes)
    found, measured = raw_trials("toy", tmp_path), measurements(outcomes)
    texts = ["setting", "trial", "method", "metric", "error"]
    assert found[texts].to_numpy().tolist() == measured[texts].to_numpy().tolist()
    assert np.array_equal(found["value"], measured["value"], equal_nan=True) and found["value"].isna().sum() > 0
    assert np.allclose(found["seconds"], measured["seconds"])


def test_trials_that_were_not_kept_are_named_with_those_that_were(outcomes, tmp_path):
    write_trials(tmp_path / "toy.npz", outcomes)
    with pytest.raises(CofactorError, match=r"no trials of 'tyo' were kept; there are those of: toy"):
        raw_trials("tyo", tmp_path)


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.npz")), ids=lambda path: path.stem)
def test_kept_tables_say_of_the_kept_trials_what_settings_and_verdicts_say_today(path):
    experiment, kept = EXPERIMENTS[path.stem], pd.read_csv(path.with_suffix(".csv"))
    if experiment.plot == "curves":
        return  # whose tables are too long to be kept
    again = pd.read_csv(StringIO(summarise(experiment, kept_outcomes(path.stem)).to_csv(index=False)))
    pd.testing.assert_frame_equal(kept, again, rtol=1e-4, check_dtype=False)


def test_what_is_kept_stays_small():
    assert sum(path.stat().st_size for path in KEPT.iterdir()) < 6e6

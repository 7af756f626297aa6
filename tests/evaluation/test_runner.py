import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from cofactor import CofactorError
from evaluation import origin, runner
from evaluation.experiment import Task
from evaluation.summary import summarise
from tests.evaluation.toy import LOG, PAUSE, toy, trial

ROOT = Path(__file__).parents[2]


def values(outcomes):
    return [(o.task, [(m.method, m.metric, m.value, m.error) for m in o.measurements]) for o in outcomes]


def undisturbed(trials=5):
    """What the trials give when simply called."""
    found = []
    for number in range(trials):
        for setting in ("small", "large"):
            task = Task("toy", setting, number)
            found.append((task, trial(setting, number, np.random.default_rng(task.seed))))
    return [(task, [(m.method, m.metric, m.value, m.error) for m in found]) for task, found in found]


@pytest.mark.parametrize("jobs", [1, 2])
def test_any_number_of_jobs_gives_what_plain_calls_give(jobs, tmp_path):
    outcomes = runner.run(toy(), tmp_path, trials=5, jobs=jobs)
    assert values(outcomes) == undisturbed()


def test_quick_profile_is_the_start_of_the_full_one(tmp_path):
    quick = runner.run(toy(), tmp_path)
    assert len(quick) == 4
    assert values(quick) == undisturbed()[:4]


@pytest.mark.parametrize("trials", [1, 3])  # of the paper; the quick profile has no fewer of one
def test_settings_that_take_long_belong_to_a_full_run(trials, tmp_path):
    experiment = toy(trials=trials, quick=1, full_only=("large",))
    assert [o.task.setting for o in runner.run(experiment, tmp_path)] == ["small"]
    full = runner.run(experiment, tmp_path, full=True)
    assert [(o.task.trial, o.task.setting) for o in full] == [(t, s) for t in range(trials) for s in ("small", "large")]
    assert runner.load_all(tmp_path, experiment) == full


def test_a_second_run_computes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv(LOG, str(tmp_path / "log"))
    first = runner.run(toy(), tmp_path / "out")
    second = runner.run(toy(), tmp_path / "out")
    assert first == second
    assert Counter((tmp_path / "log").read_text().split()).most_common(1)[0][1] == 1


def test_more_trials_go_on_from_those_there_are(tmp_path, monkeypatch):
    monkeypatch.setenv(LOG, str(tmp_path / "log"))
    runner.run(toy(), tmp_path / "out", trials=2)
    runner.run(toy(), tmp_path / "out", trials=3)
    assert len((tmp_path / "log").read_text().split()) == 6


def test_results_of_other_code_are_computed_again(tmp_path, monkeypatch):
    monkeypatch.setenv(LOG, str(tmp_path / "log"))
    runner.run(toy(), tmp_path / "out", trials=1)
    monkeypatch.setattr(runner, "code_of", lambda experiment, setting: "other code")
    outcomes = runner.run(toy(), tmp_path / "out", trials=1)
    assert {outcome.code for outcome in outcomes} == {"other code"}
    assert len((tmp_path / "log").read_text().split()) == 4


CODE = '''"""A method."""


def steps(x):
    """Count, then stop."""
    return 3 * x  # steps
'''
PROSE = {
    "docstring of a function": ("Count, then", "Count and then"),
    "docstring of a module": ('"""A method."""', '"""One method, of two."""'),
    "no docstring": ('    """Count, then stop."""\n', ""),
    "comment": ("  # steps", ""),
    "layout": ("3 * x", "(\n        3 * x\n    )"),
}
NUMBERS = {
    "number": ("3 * x", "4 * x"),
    "name": ("steps(x)", "stops(x)"),
    "text that is no docstring": ("3 *", "'3' *"),
}


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A library of one room, whose code decides what the toy gives."""
    source = tmp_path / "library" / "toy" / "method.py"
    source.parent.mkdir(parents=True)
    source.write_text(CODE)
    monkeypatch.setattr(origin, "LIBRARY", tmp_path / "library")
    monkeypatch.setenv(LOG, str(tmp_path / "log"))
    origin.code_of_line.cache_clear()
    yield source
    origin.code_of_line.cache_clear()


def runs_after(room, change, **fields):
    """How many tasks a second run computes, after a change of the code or of the experiment."""
    folder = room.parents[2]
    runner.run(toy(), folder / "out", trials=1)
    room.write_text(CODE.replace(*change))
    origin.code_of_line.cache_clear()
    runner.run(toy(**fields), folder / "out", trials=1)
    return len((folder / "log").read_text().split()) - 2


@pytest.mark.parametrize("change", PROSE.values(), ids=PROSE)
def test_prose_loses_no_finished_trial(room, change):
    assert change[0] in CODE and runs_after(room, change) == 0


@pytest.mark.parametrize("change", NUMBERS.values(), ids=NUMBERS)
def test_code_that_decides_numbers_computes_trials_again(room, change):
    assert change[0] in CODE and runs_after(room, change) == 2


def test_numbers_of_a_setting_count_and_words_do_not(room):
    words = {"title": "Another", "protocol": "Otherwise.", "notes": {("", "Sum"): "why"}, "metrics": {"error": "1"}}
    assert runs_after(room, ("", ""), **words) == 0
    assert runs_after(room, ("", ""), given={"small": {"n_tasks": 5}}) == 1


def test_the_code_of_a_line_is_that_of_its_rooms(room):
    before = origin.code_of_line("toy")
    other = room.parents[1] / "elsewhere" / "method.py"
    for path, counts in ((other, False), (room.parents[1] / "core" / "sum.py", True)):
        path.parent.mkdir()
        path.write_text(CODE)
        origin.code_of_line.cache_clear()
        assert (origin.code_of_line("toy") != before) == counts, path


def test_a_failing_task_is_recorded_and_the_others_go_on(tmp_path):
    outcomes = runner.run(toy(settings=("broken", "small")), tmp_path, trials=3)
    assert [o.task for o in outcomes if o.error] == [Task("toy", "broken", 1)]
    assert "this trial breaks" in runner.failures(outcomes)
    assert "1 of 6 tasks failed" in runner.failures(outcomes)
    kept = json.loads(runner.path_of(tmp_path, Task("toy", "broken", 1)).read_text())
    assert "RuntimeError: this trial breaks" in kept["error"]


def test_failures_are_told_by_their_cause():
    lines = "set 'x' is not to be had:\n- x.txt from here: no such file\nWhat to do: load another."

    def outcome(trial, error):
        return runner.Outcome(Task("toy", "small", trial), "", 0.0, (), error)

    traceback = 'Traceback (most recent call last):\n  File "a.py", line 1\n    a\nValueError: one\ntwo\n'
    told = runner.failures(
        [outcome(0, lines), outcome(1, traceback), outcome(2, lines), outcome(3, ""), outcome(4, "b" * 999)]
    )
    first, *others = told.split("\nsmall trial ")
    assert first == f"4 of 5 tasks failed: small trial 0, small trial 2: {lines}"
    assert others[0] == "1: ValueError: one two" and len(others) == 2 and len(others[1]) <= runner.CAUSE
    assert runner.failures([outcome(3, "")]) == ""


def test_a_result_tells_when_and_of_what_it_was_made_and_one_of_before_is_still_read(tmp_path):
    (first, *_) = runner.run(toy(), tmp_path)
    assert first.made == origin.origin("toy") | first.made
    assert {"date", "commit", "cpu", "cores", "os", "blas"} <= first.made.keys()
    path = runner.path_of(tmp_path, first.task)
    kept = json.loads(path.read_text())
    assert kept.pop("made") == first.made
    path.write_text(json.dumps(kept))
    assert runner.load(tmp_path, first.task) == first and runner.load(tmp_path, first.task).made == {}


def test_a_failed_task_is_tried_again(tmp_path, monkeypatch):
    experiment = toy(settings=("broken",))
    runner.run(experiment, tmp_path, trials=2)
    monkeypatch.setattr(
        "tests.evaluation.toy.trial.__code__",
        trial.__code__.replace(co_consts=tuple("mended" if c == "broken" else c for c in trial.__code__.co_consts)),
    )
    assert not runner.failures(runner.run(experiment, tmp_path, trials=2))


def test_a_refusing_method_is_recorded_with_its_reason(tmp_path):
    summary = summarise(toy(), runner.run(toy(), tmp_path)).set_index(["setting", "method"])
    assert summary.loc[("small", "Never"), "note"] == "not for this data"
    assert summary.loc[("small", "Never"), "failed"] == 2
    assert summary.loc[("small", "Sum"), "failed"] == 0


def test_a_file_that_is_no_result_is_named(tmp_path):
    path = runner.path_of(tmp_path, Task("toy", "small", 0))
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    with pytest.raises(CofactorError, match=r"trial-000.json is not a result"):
        runner.run(toy(), tmp_path)


@pytest.mark.parametrize("wrong", [{"trials": 0}, {"jobs": 0}])
def test_nothing_to_run_is_an_error(wrong, tmp_path):
    with pytest.raises(CofactorError, match="at least one"):
        runner.run(toy(), tmp_path, **wrong)


def test_half_written_results_are_never_seen(tmp_path, monkeypatch):
    def full_disk(*_, **__):
        raise OSError("no space left")

    outcome = runner.execute(toy(), Task("toy", "small", 0))
    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(OSError, match="no space"):
        runner.save(tmp_path, outcome)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_seeds_depend_on_every_part_of_the_task():
    tasks = [Task(e, s, t) for e in "ab" for s in "cd" for t in range(3)]
    assert len({task.seed for task in tasks}) == len(tasks)


SCRIPT = """
import sys
from pathlib import Path
from evaluation import runner
from tests.evaluation.toy import toy
runner.run(toy(trials=12), Path(sys.argv[1]), trials=12, jobs=2)
"""


def start(folder, log):
    environment = os.environ | {LOG: str(log), PAUSE: "0.1"}
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)], cwd=ROOT, env=environment)


@pytest.mark.slow
def test_killed_ten_times_the_table_is_that_of_an_undisturbed_run(tmp_path):
    folder, log = tmp_path / "out", tmp_path / "log"
    moments = random.Random(1)
    done_before: dict[Path, int] = {}
    for _ in range(10):
        process = start(folder, log)
        wait_for_results(folder, len(done_before) + moments.randint(0, 2), process)
        time.sleep(moments.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = {path: path.stat().st_mtime_ns for path in folder.glob("toy/*/trial-*.json")}
        assert done_before.items() <= now.items(), "a finished task was run again"
        done_before = now
    assert start(folder, log).wait() == 0
    after = {path: path.stat().st_mtime_ns for path in folder.glob("toy/*/trial-*.json")}
    assert done_before.items() <= after.items()
    assert values(runner.run(toy(trials=12), folder, trials=12)) == undisturbed(12)


def children(process):
    """Processes that a process started: those that run the tasks, and what joblib puts beside them."""
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [Path("/proc") / pid for pid in listed.split()]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_no_worker_outlives_a_killed_run_by_more_than_ten_seconds(tmp_path):
    process = start(tmp_path / "out", tmp_path / "log")
    wait_for_results(tmp_path / "out", 2, process)
    workers = [child for child in children(process) if b"loky" in (child / "cmdline").read_bytes()]
    assert len(workers) >= 2
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 10
    while any(alive(worker) for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(alive(worker) for worker in workers)


def alive(process):
    """Whether a process runs; one that has ended and waits to be asked how does not."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for_results(folder, wanted, process):
    while len(list(folder.glob("toy/*/trial-*.json"))) < wanted and process.poll() is None:
        time.sleep(0.01)


def test_what_goes_beyond_a_paper_has_no_trials_of_the_paper():
    assert toy().counted(2) == "2 of the paper's 5 trials"
    assert toy(source="Beyond somebody, Table 1").counted(2) == "2 of 5 trials"
    assert toy(trials=1).averaged(1) == "one trial" and toy().averaged(1) == "1 of the paper's 5 trials"
    untold = toy(told=False)
    assert untold.counted(2) == "2 of 5 trials (the paper does not tell how many it took)"
    assert (toy().share(2), untold.share(2)) == ("2 of 5", "2 of 5, paper: not told")
    assert toy(centre="median").averaged(2) == "2 of the paper's 5 trials, median over trials"

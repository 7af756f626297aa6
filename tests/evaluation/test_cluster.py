"""The harness on a real Dask scheduler and worker processes over loopback TCP."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cofactor import CofactorError
from cofactor_app.scale import crew
from evaluation import EXPERIMENTS, runner
from tests.evaluation.test_runner import undisturbed, values
from tests.evaluation.toy import LOG, PAUSE, toy

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
START = 300  # seconds a cluster may take to come up on a busy machine
NEEDED = ("lib", "evaluation", "tests/evaluation/__init__.py", "tests/evaluation/toy.py", "tests/__init__.py")
NEEDED += ("datasets/registry.toml",)  # by a worker that runs the toy


class Cluster:
    """A scheduler that has none of this code, and workers, each with the code and the packages that it is given."""

    def __init__(self, folder, **environment):
        self.folder, self.environment, self.processes = folder, environment, []
        self.file = folder / "scheduler.json"

    def open(self, n_workers):
        (self.folder / "evaluation.py").write_text("raise ImportError")
        arguments = ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(self.file)]
        self._start("scheduler", arguments, self.folder, PYTHONPATH=str(self.folder))
        self.wait_for(self.file.exists)
        self.client = distributed.Client(scheduler_file=str(self.file), set_as_default=False)
        self.address = self.client.scheduler.address
        if [self.add_worker() for _ in range(n_workers)]:
            self.workers(n_workers)

    def add_worker(self, root=ROOT, ahead=()):
        """Start a worker on the code below `root`, with folders of packages ahead of all others."""
        local = self.folder / str(len(self.processes))
        arguments = ["--scheduler-file", str(self.file), "--no-nanny", "--nthreads", "1", "--name", local.name]
        arguments += ["--local-directory", str(local)]
        paths = os.pathsep.join(map(str, [*ahead, root / "lib", root]))
        self._start("worker", arguments, root, PYTHONPATH=paths)
        return local.name

    def workers(self, number):
        """Wait for so many workers; returns their addresses by name."""
        self.client.wait_for_workers(number, timeout=START)
        return {str(facts["name"]): address for address, facts in self.client.scheduler_info(-1)["workers"].items()}

    def _start(self, role, arguments, root=ROOT, **environment):
        command = [sys.executable, "-m", f"distributed.cli.dask_{role}", "--no-dashboard", *arguments]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        environment = os.environ | self.environment | environment
        self.processes.append(subprocess.Popen(command, env=environment, cwd=root, **quiet))

    @staticmethod
    def wait_for(condition):
        end = time.monotonic() + START
        while not condition():
            assert time.monotonic() < end, "the cluster did not come up"
            time.sleep(0.05)

    def kill(self, number):
        self.processes[number].send_signal(signal.SIGKILL)
        self.processes[number].wait()

    def close(self):
        """End all processes, also of a cluster that never came up."""
        if hasattr(self, "client"):
            self.client.close(timeout=1)
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def started(tmp_path):
    """Clusters that end with the test."""
    running = []

    def start(n_workers=0, **environment):
        folder = tmp_path / f"cluster{len(running)}"
        folder.mkdir()
        running.append(Cluster(folder, **environment))
        running[-1].open(n_workers)
        return running[-1]

    yield start
    for each in running:
        each.close()


def after(number, action):
    """A `save` that does something once, when so many results were kept; and the tasks that it kept."""
    seen, original = [], runner.save

    def save(folder, outcome):
        original(folder, outcome)
        seen.append(outcome.task)
        if len(seen) == number:
            action()

    return save, seen


def test_a_cluster_gives_what_one_process_gives_though_a_worker_dies(started, tmp_path, monkeypatch):
    two, kept = started(2, **{PAUSE: "0.2"}), tmp_path / "out"
    save, seen = after(3, lambda: two.kill(1))
    monkeypatch.setattr(runner, "save", save)
    outcomes = runner.run(toy(trials=8), kept, trials=8, scheduler=two.address)
    assert len(two.client.scheduler_info()["workers"]) == 1, "no worker was killed"
    assert values(outcomes) == undisturbed(8)
    assert len(seen) == len(set(seen)) == 16
    assert len(list(kept.glob("toy/*/trial-*.json"))) == 16


REAL = {
    "crowd-table6": "missing=70%",
    "pmf-table3": "p=.005",
    "separable-figure2-gaussian": "SNR=16",
    "comparisons-starts": "unit,m/dof=5",
}


def test_two_workers_give_the_digits_of_one_process_on_every_line(started, tmp_path):
    two = started(2)
    for name, setting in REAL.items():
        experiment = replace(EXPERIMENTS[name], settings={setting: ""})
        one = runner.run(experiment, tmp_path / "one", trials=2)
        there = runner.run(experiment, tmp_path / "two", trials=2, scheduler=two.address)
        assert not runner.failures(one) and values(there) == values(one), name
        assert all(m.value is not None or m.error for o in one for m in o.measurements)


def copied(folder, *changes):
    """A copy of the code that a worker needs, with texts of files changed."""
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "reproduced"))
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    for name, old, new in changes:
        text = (folder / name).read_text(encoding="utf8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf8")
    return folder


def with_version(folder, package):
    """A folder of packages in which one claims to be of another version."""
    about = folder / f"{package}-0.1.dist-info" / "METADATA"
    about.parent.mkdir(parents=True)
    about.write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1")
    return folder


def test_workers_that_would_give_other_numbers_are_refused_before_they_compute(started, tmp_path):
    mixed = started(0, **{LOG: str(tmp_path / "log")})
    method = "lib/cofactor/core/simplex.py"
    same = mixed.add_worker(copied(tmp_path / "same", (method, '"""', '"""In other words: ')))
    code = mixed.add_worker(copied(tmp_path / "code", (method, "import numpy", "import numpy.ma, numpy")))
    data = copied(tmp_path / "data", ("datasets/registry.toml", 'sha256 = "', 'sha256 = "0'))
    versions = mixed.add_worker(data, [with_version(tmp_path / "packages", "numba")])
    (copied(tmp_path / "older") / "evaluation/origin.py").unlink()
    older = mixed.add_worker(tmp_path / "older")
    addresses = mixed.workers(4)
    with pytest.raises(CofactorError, match="do not give the numbers of this machine") as refused:
        runner.run(toy(), tmp_path / "out", scheduler=mixed.address)
    told = {name: str(refused.value).partition(f"{addresses[name]} (")[2].partition("tcp://")[0] for name in addresses}
    assert told[same] == "" and told[code].startswith("code ") and told[code].count("(here ") == 1
    assert told[versions].startswith("data sets ") and "numba 0.1 (here " in told[versions]
    assert told[versions].count("(here ") == 2 and "No module named 'evaluation.origin'" in told[older]
    assert not (tmp_path / "log").exists() and not (tmp_path / "out").exists()


def test_a_worker_that_joins_later_is_refused_too(started, tmp_path, monkeypatch):
    growing, kept = started(1, **{PAUSE: "0.2"}), tmp_path / "out"
    other = copied(tmp_path / "other", ("lib/cofactor/core/simplex.py", "import numpy", "import numpy.ma, numpy"))

    def join():
        growing.add_worker(other)
        growing.workers(2)

    save, seen = after(2, join)
    monkeypatch.setattr(runner, "save", save)
    with pytest.raises(CofactorError, match=r"numbers of this machine: tcp://\S+ \(code \w+ \(here") as told:
        runner.run(toy(trials=100), kept, trials=100, scheduler=growing.address)
    assert growing.workers(2)["2"] in str(told.value)
    finished = runner.finished(toy(trials=100), kept, seen).values()
    assert {str(v) for v in values(finished)} == {str(v) for v in undisturbed(100) if v[0] in seen}


def test_one_single_worker_is_used_and_the_death_of_its_scheduler_is_one_sentence(
    started, tmp_path, monkeypatch, capfd
):
    single, kept = started(1, **{PAUSE: "0.2", LOG: str(tmp_path / "log")}), tmp_path / "out"
    save, seen = after(3, lambda: single.kill(0))
    monkeypatch.setattr(runner, "save", save)
    with pytest.raises(CofactorError, match=r"^the Dask cluster at tcp://\S+ is lost: results so far are kept"):
        runner.run(toy(trials=50), kept, trials=50, scheduler=single.address)
    assert capfd.readouterr().err == ""
    there = (tmp_path / "log").read_text().split()
    assert len(seen) == len(list(kept.glob("toy/*/trial-*.json"))) and 3 <= len(seen) <= len(there) < 100


SCRIPT = """
import sys
from pathlib import Path
from evaluation import runner
from tests.evaluation.toy import toy
runner.run(toy(trials=500), Path(sys.argv[1]), trials=500, scheduler=sys.argv[2])
"""


def test_workers_stop_within_ten_seconds_after_a_run_was_killed(started, tmp_path):
    log = tmp_path / "log"
    two = started(2, **{PAUSE: "0.2", LOG: str(log)})
    run = subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path / "out"), two.address], cwd=ROOT)
    try:
        two.wait_for(lambda: log.exists() and len(log.read_text().split()) > 2)
    finally:
        run.kill()
        run.wait()
    deadline = time.monotonic() + 10
    while any(two.client.processing().values()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(two.client.processing().values())
    done, since = log.read_text(), time.monotonic()
    while time.monotonic() < since + 2:  # a trial takes a tenth of this
        time.sleep(0.1)
        if (now := log.read_text()) != done:
            done, since = now, time.monotonic()
            assert since < deadline, "workers go on"
    assert len(done.split()) < 1000


def test_no_scheduler_is_an_error_that_names_the_address(tmp_path, monkeypatch):
    monkeypatch.setattr(crew, "PATIENCE", 1)
    with pytest.raises(CofactorError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:1"):
        runner.run(toy(), tmp_path, scheduler="tcp://127.0.0.1:1")


def test_a_scheduler_without_workers_is_an_error(started, tmp_path, monkeypatch):
    monkeypatch.setattr(crew, "PATIENCE", 1)
    with pytest.raises(CofactorError, match=r"at tcp://\S+ has no workers: start some"):
        runner.run(toy(), tmp_path, scheduler=started().address)


def test_a_scheduler_that_answers_too_late_is_left_alone(monkeypatch):
    go_on, closed = threading.Event(), threading.Event()

    class Slow:
        """A client whose scheduler answers when told to."""

        def __init__(self, *_, **__):
            go_on.wait()

        def close(self):
            closed.set()

    monkeypatch.setattr(crew, "PATIENCE", 0.01)
    monkeypatch.setattr(distributed, "Client", Slow)
    with pytest.raises(CofactorError, match="no Dask scheduler at tcp://late:1: no answer"):
        crew.connected("tcp://late:1")
    assert not closed.is_set()
    go_on.set()
    assert closed.wait(10)

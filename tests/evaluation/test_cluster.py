"""The harness on a real Dask scheduler and worker processes over loopback TCP."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cofactor import CofactorError
from evaluation import runner
from tests.evaluation.test_runner import undisturbed, values
from tests.evaluation.toy import PAUSE, toy

distributed = pytest.importorskip("distributed")

ROOT = Path(__file__).parents[2]
START = 60  # seconds a cluster may take to come up on a busy machine


class Cluster:
    """A scheduler and worker processes, each with a log of its own."""

    def __init__(self, folder, n_workers=2, **environment):
        self.environment = os.environ | {"PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "warning"}
        self.environment |= environment
        self.processes = []
        address = folder / "scheduler.json"
        arguments = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(address)]
        self._start("scheduler", arguments)
        self.wait_for(address.exists)
        for number in range(n_workers):
            self._start(
                "worker",
                [
                    "--scheduler-file",
                    str(address),
                    "--no-nanny",
                    "--nthreads",
                    "1",
                    "--no-dashboard",
                    "--local-directory",
                    str(folder / str(number)),
                ],
            )
        self.client = distributed.Client(scheduler_file=str(address), set_as_default=False)
        self.client.wait_for_workers(n_workers, timeout=START)
        self.address = self.client.scheduler.address

    def _start(self, role, arguments):
        command = [sys.executable, "-m", "distributed.cli.dask_" + role, *arguments]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.processes.append(subprocess.Popen(command, env=self.environment, cwd=ROOT, **quiet))

    @staticmethod
    def wait_for(condition):
        end = time.monotonic() + START
        while not condition():
            assert time.monotonic() < end, "the cluster did not come up"
            time.sleep(0.05)

    def kill_a_worker(self):
        self.processes[1].send_signal(signal.SIGKILL)

    def close(self):
        self.client.close()
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    running = Cluster(tmp_path, **{PAUSE: "0.2"})
    yield running
    running.close()


@pytest.mark.slow
def test_a_cluster_gives_what_one_process_gives_though_a_worker_dies(cluster, tmp_path):
    kept = tmp_path / "out"
    seen = []
    original = runner.save

    def save_and_kill(folder, outcome):
        original(folder, outcome)
        seen.append(outcome.task)
        if len(seen) == 3:
            cluster.kill_a_worker()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "save", save_and_kill)
        outcomes = runner.run(toy(trials=8), kept, trials=8, scheduler=cluster.address)
    assert len(cluster.client.scheduler_info()["workers"]) == 1, "no worker was killed"
    assert values(outcomes) == undisturbed(8)
    assert len(seen) == len(set(seen)) == 16
    assert len(list(kept.glob("toy/*/trial-*.json"))) == 16


def test_no_scheduler_is_an_error_that_names_the_address(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "PATIENCE", "1s")
    with pytest.raises(CofactorError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:1"):
        runner.run(toy(), tmp_path, scheduler="tcp://127.0.0.1:1")

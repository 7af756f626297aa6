"""What the bench leaves when it is killed, when two run at once, and when no process can be begun."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

from cofactor.core.errors import CofactorError
from cofactor_app.bench import Trial, run

BEGIN = """
import os, signal
from cofactor_app.bench.run import _Process
if __name__ == "__main__":
    print(_Process([])._begun().submit(os.getpid).result(), flush=True)
    signal.pause()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are ended in another way here")
def test_the_process_without_truth_ends_with_a_bench_that_is_killed(tmp_path):
    (tmp_path / "begin.py").write_text(BEGIN)
    with subprocess.Popen([sys.executable, tmp_path / "begin.py"], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        os.kill(child, 0)
        parent.kill()
        for _ in range(600):
            time.sleep(0.1)
            if not alive(child):
                return
    os.kill(child, signal.SIGKILL)
    pytest.fail("it waits for ever")


def alive(process):
    """Whether a process runs; one that has ended may wait in the table of processes for its parent."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        if Path("/proc").exists():
            return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_two_at_once_keep_all_trials_once(tmp_path):
    kept = tmp_path / "kept.jsonl"
    trials = [Trial(f"set {number}", "own", "Mine", "hash", 1) for number in range(12)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(partial(run._keep, path=kept), [*trials, *trials]))
    assert sorted(json.loads(line)["set"] for line in kept.read_text().splitlines()) == sorted(t.set for t in trials)


def test_where_no_process_can_be_begun_it_says_what_to_free():
    full = mock.Mock(side_effect=OSError(0, "Error"))  # what a full /dev/shm gives
    with (
        mock.patch.object(run, "ProcessPoolExecutor", full),
        pytest.raises(CofactorError, match="free memory"),
    ):
        run._Process([])._begun()

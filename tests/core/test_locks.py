"""One run at a time writes to an output; a lock ends with its process."""

import os
import platform
import re
import signal
import subprocess
import sys
import threading

import pytest

from cofactor.core import files
from cofactor.core.errors import CofactorError
from cofactor.core.files import locked, whole_file

HOLD = """
import os, signal, sys
from pathlib import Path
from cofactor.core.files import whole_file
with whole_file(Path(sys.argv[1])) as part:
    part.write_text("half")
    print("ready", flush=True)
    signal.pause()
"""


@pytest.fixture
def held(tmp_path):
    """Yield a function that holds a lock in another thread until the test ends."""
    done, threads = threading.Event(), []

    def hold(path):
        ready = threading.Event()

        def work():
            with locked(path):
                ready.set()
                done.wait(60)

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        assert ready.wait(60)

    yield hold
    done.set()
    for thread in threads:
        thread.join()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_who_holds_an_output_is_named(held, tmp_path):
    held(tmp_path / "out.csv")
    holder = rf"process {os.getpid()} on {re.escape(platform.node())}, since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC"
    with (
        pytest.raises(CofactorError, match=rf"out\.csv is being written by {holder}: wait until"),
        locked(tmp_path / "out.csv"),
    ):
        pass


@pytest.mark.parametrize("text", [b"", b"\x1b[31mroot", b"\xff", b"x" * 301, "process 1\u202e on".encode()])
def test_a_holder_that_is_no_plain_line_is_not_shown(held, tmp_path, text):
    held(tmp_path / "out.csv")
    (tmp_path / ".out.csv.lock").write_bytes(text)
    with pytest.raises(CofactorError, match="is being written by another process: "), locked(tmp_path / "out.csv"):
        pass


def test_other_outputs_are_free_and_nothing_is_left(held, tmp_path):
    held(tmp_path / "out.csv")
    with locked(tmp_path / "other.csv"), locked(tmp_path / "other.csv"), whole_file(tmp_path / "other.csv") as part:
        part.write_text("new")
    assert names(tmp_path) == [".out.csv.lock", "other.csv"]


def test_one_file_under_two_names_has_one_lock(held, tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "out.csv")
    held(tmp_path / "link.csv")
    with pytest.raises(CofactorError, match=r"out\.csv is being written"), locked(tmp_path / "out.csv"):
        pass


def test_a_folder_that_is_missing_is_named_and_not_made(tmp_path):
    with pytest.raises(CofactorError, match=r"there is no folder .*nowhere"), locked(tmp_path / "nowhere" / "out.csv"):
        pass
    assert names(tmp_path) == []


def test_a_second_writer_waits_and_then_gives_up(held, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "WAIT_SECONDS", 0.1)
    held(tmp_path / "out")
    with pytest.raises(CofactorError, match="is being written by process"), whole_file(tmp_path / "out"):
        pass
    assert names(tmp_path) == [".out.lock"]


def test_a_killed_writer_holds_nothing_and_the_next_one_cleans(tmp_path, monkeypatch):
    out = tmp_path / "out"
    words = [sys.executable, "-c", HOLD, str(out)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        monkeypatch.setattr(files, "WAIT_SECONDS", 0.0)
        with pytest.raises(CofactorError, match=f"is being written by process {child.pid} on"), whole_file(out):
            pass
        child.send_signal(signal.SIGKILL)
    assert names(tmp_path) == [".out.lock", ".out.part"]
    with whole_file(out) as part:
        part.write_text("whole")
    assert names(tmp_path) == ["out"] and out.read_text() == "whole"

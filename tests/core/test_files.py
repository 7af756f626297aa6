"""Files that were made to do harm, or came to harm, are refused before anything is done with them."""

import bz2
import errno
import gzip
import lzma
import os
import platform
import re
import signal
import stat
import subprocess
import sys
import threading
import zipfile
from contextlib import suppress
from functools import partial
from pathlib import Path

import filelock
import numpy as np
import pyarrow as arrow
import pytest
from pyarrow import parquet

import cofactor
from cofactor.core import files
from cofactor.core.errors import CofactorError
from cofactor.core.files import (
    locked,
    read_parquet,
    save_arrays,
    unpacked,
    whole_file,
)
from cofactor.reading.tables import read_frame

PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"labels.csv.{suffix}"
    path.write_bytes(PACKERS[suffix](b"0,0,0\n" * 100_000))
    assert len(unpacked(path)) == 600_000  # small enough all the same
    monkeypatch.setattr(files, "LARGE", 1000)
    with pytest.raises(CofactorError, match=r"labels\.csv\.\w+ unpacks to more than \d+ bytes"):
        unpacked(path)


def test_an_archive_of_two_files_names_them(tmp_path):
    path = tmp_path / "labels.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "task")
        archive.writestr("b.csv", "task")
    with pytest.raises(CofactorError, match=r"holds 2 files \(a\.csv, b\.csv\)"):
        unpacked(path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize("write", [lambda part: part.write_bytes(bytes(5000)), partial(save_arrays, a=np.zeros(999))])
def test_a_full_disk_is_told_with_the_output_and_what_to_do(tmp_path, write):
    """A limit on the size of files stands for the end of a disk."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    said = r"out\.npz cannot be written \(File too large\): free some space, or name an output on another disk"
    (tmp_path / "out.npz").write_text("old")
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
        with pytest.raises(CofactorError, match=said), whole_file(tmp_path / "out.npz") as part:
            write(part)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("cells", [np.zeros(400_000, dtype=np.int64), ["x" * 1000] * 4000])
def test_a_small_parquet_file_that_unpacks_to_a_large_one_is_refused(tmp_path, cells, monkeypatch):
    path = tmp_path / "labels.parquet"
    parquet.write_table(arrow.table({"task": cells}), path)
    assert path.stat().st_size < 10_000
    assert read_parquet(path, ["task"], path).num_rows == len(cells)
    monkeypatch.setattr(files, "LARGE", 1000)
    with pytest.raises(CofactorError, match=r"labels\.parquet unpacks to more than \d+ bytes"):
        read_frame(path, ["task"])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
@pytest.mark.parametrize(("before", "after"), [(None, 0o640), (0o600, 0o600), (0o664, 0o664)])
def test_a_file_that_is_replaced_keeps_its_mode_and_a_new_one_gets_the_usual(tmp_path, before, after):
    path = tmp_path / "out.csv"
    if before:
        path.touch(before)
        path.chmod(before)
    umask = os.umask(0o027)
    try:
        with whole_file(path) as part:
            part.write_text("new")
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == after and path.read_text() == "new"


@pytest.mark.parametrize("there", [True, False])
def test_a_link_as_output_is_followed(tmp_path, there):
    (tmp_path / "far").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "far" / "target")
    if there:
        (tmp_path / "far" / "target").write_text("old")
    with whole_file(tmp_path / "out") as part:
        part.write_text("new")
    assert (tmp_path / "out").is_symlink() and (tmp_path / "far" / "target").read_text() == "new"


@pytest.mark.parametrize("planted", [".out.csv.part", ".out.csv.lock"])
def test_a_link_that_somebody_planted_is_not_written_through(tmp_path, planted):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / planted).symlink_to(tmp_path / "victim")
    with suppress(OSError), whole_file(tmp_path / "out.csv") as part:
        part.write_text("new")
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_link_planted_after_the_old_part_was_removed_is_not_opened(tmp_path, monkeypatch):
    def unlink_and_plant(path, **more):
        if path.name == ".out.csv.part":
            path.symlink_to(tmp_path / "victim")

    monkeypatch.setattr(files.Path, "unlink", unlink_and_plant)
    with pytest.raises(FileExistsError), whole_file(tmp_path / "out.csv"):
        pass
    assert not (tmp_path / "victim").exists()


def test_what_goes_wrong_leaves_the_old_and_nothing_else(tmp_path):
    out = tmp_path / "out"
    for content in ("old", "new"):
        with suppress(KeyboardInterrupt), whole_file(out) as part:
            part.write_text(content)
            if content == "new":
                raise KeyboardInterrupt
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_where_nothing_can_be_written_compiled_code_has_a_folder_of_its_own(monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "named by the user")
    monkeypatch.setattr("cofactor.os.access", lambda *_: False)
    cofactor._let_compiled_code_be_kept()
    assert os.environ["NUMBA_CACHE_DIR"] == "named by the user"
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    cofactor._let_compiled_code_be_kept()
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    assert folder.is_dir() and stat.S_IMODE(folder.stat().st_mode) == 0o700  # nobody else puts code there
    folder.rmdir()
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr("cofactor.os.access", lambda *_: True)
    cofactor._let_compiled_code_be_kept()
    assert "NUMBA_CACHE_DIR" not in os.environ


# ---- one run at a time writes to an output ----


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


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder without files of one's own")
def test_a_folder_in_which_no_file_can_be_created_is_not_taken_for_a_lock():
    where = r"/proc/x\.csv: no file can be created in /proc \(.*\): name an output in another folder"
    with pytest.raises(CofactorError, match=where), locked(Path("/proc/x.csv")):
        pass


def test_a_folder_that_may_not_be_written_to_is_told(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", ".out.csv.lock")

    monkeypatch.setattr(filelock.FileLock, "acquire", refuse)
    where = r"out\.csv: no file can be created in .* \(Permission denied\): name an output in another folder"
    with pytest.raises(CofactorError, match=where), locked(tmp_path / "out.csv"):
        pass


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

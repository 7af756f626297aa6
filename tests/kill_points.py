"""Stop `cofactor aggregate` at ten of its file operations, or run it twice at once, and look at what is left.

Run as a program of its own, since a process that is to be copied (`os.fork`) must not have threads:

    python -m tests.kill_points FOLDER

It prints what was wrong, as a list in JSON. The command, which replaces four outputs, runs once undisturbed; then once
for each of ten operations, in a copy of the process that dies before that operation; then twice at once. What stands
under the final names must be what was there before or what the undisturbed run leaves. After a kill the command runs
again: it must leave what the undisturbed run leaves, and nothing else.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import sys
import traceback
from pathlib import Path
from unittest import mock

import pandas as pd
import pyarrow.parquet  # noqa: F401  (imported before the process is copied)

import cofactor as cf
from cofactor_app.cli import main

LABELS = pd.DataFrame({"task": [f"t{i // 3}" for i in range(36)], "worker": [i % 3 for i in range(36)]})
LABELS["label"] = [(i // 3 + (i % 7 == 0)) % 2 for i in range(36)]
OUTPUTS = ["-o", "consensus.csv", "--workers", "workers.csv.gz", "--confusion", "confusion.parquet"]
BEFORE = ["aggregate", "labels.csv", "--method", "MV-EM", *OUTPUTS, "--report", "report.html"]
COMMAND = [*BEFORE[:3], "MajorityVote", *BEFORE[4:], "--force"]
CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate", "os.link", "os.symlink")
KILLS, FEWEST = 10, 30  # operations that the command has at least, else they are not seen
WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
OPENED = "open to write "
REFUSED = "is being written by "


def run(folder: Path, words: list[str], trap=None, said: Path | None = None) -> int:
    """Begin a command in a copy of this process; returns the number of that process."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.chdir(folder)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as printed:
            if trap:
                trap.set()
            code = main(words)
            if trap:
                trap.end()
        if said:
            said.write_text(printed.getvalue())
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def ended(child: int) -> int:
    """Wait for a process; returns its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Trap:
    """Ends this process before the operation of this number; notes all that were done."""

    def __init__(self, folder: Path, number: int, notes: Path) -> None:
        self.folder, self.number, self.notes = str(folder), number, notes
        self.done: list[str] = []

    def set(self) -> None:
        fsync = os.fsync

        def waited(handle: int) -> None:
            self.step("fsync")
            fsync(handle)

        os.fsync = waited
        sys.addaudithook(self.heard)

    def heard(self, event: str, arguments: tuple) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes) and (arguments[2] or 0) & WRITE:
            self.step(OPENED.strip(), arguments[0])
        elif event in CHANGES:
            self.step(event, arguments[0])

    def step(self, kind: str, path: object = "") -> None:
        name = "" if isinstance(path, int) else os.fsdecode(path)
        if os.path.isabs(name) and not name.startswith(self.folder):
            return
        if len(self.done) == self.number:
            os.kill(os.getpid(), signal.SIGKILL)
        self.done.append(f"{kind} {Path(name).name}")

    def end(self) -> None:
        self.number = -1
        self.notes.write_text(json.dumps(self.done))


def state(folder: Path, hidden: bool = False) -> dict[str, bytes]:
    """What stands under final names for those who read it."""
    files = [path for path in folder.rglob("*") if path.is_file() and (hidden or not path.name.startswith("."))]
    return {path.name: path.read_bytes() for path in files}


def renew(start: Path, work: Path) -> None:
    """Make the folder to work in anew."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(start, work)


def problems(home: Path) -> list[str]:
    """Run the command undisturbed, killed at ten operations, and twice at once; say what was wrong."""
    start, work, notes = home / "start", home / "work", home / "notes.json"
    start.mkdir()
    LABELS.to_csv(start / "labels.csv", index=False)
    assert ended(run(start, BEFORE)) == 0
    old = state(start)
    renew(start, work)
    assert ended(run(work, COMMAND, Trap(work, -1, notes))) == 0
    kinds, new, found = json.loads(notes.read_text()), state(work), []
    whole = state(work, hidden=True)
    assert len(kinds) >= FEWEST and all(old[name] != new[name] for name in new if name != "labels.csv")
    found += [f"not by a hidden file: {kind}" for kind in kinds if kind.startswith(OPENED) and kind[len(OPENED)] != "."]
    for number in sorted({round(share * (len(kinds) - 1) / (KILLS - 1)) for share in range(KILLS)}):
        renew(start, work)
        code = ended(run(work, COMMAND, Trap(work, number, notes)))
        left = state(work)
        where = f"before operation {number}, {kinds[number]}"
        found += [f"{where}: ended with {code}"] * (code != -signal.SIGKILL)
        found += [f"{where}: broken: {n}" for n in {*left, *old} if left.get(n) not in (old.get(n), new.get(n))]
        if ended(run(work, COMMAND)) or state(work, hidden=True) != whole:
            found.append(f"{where}: run again: left {sorted(state(work, hidden=True))}")
    renew(start, work)
    said = [home / "one.txt", home / "other.txt"]
    children = [run(work, COMMAND, said=path) for path in said]
    ends = [(ended(child), path.read_text()) for child, path in zip(children, said, strict=True)]
    found += [f"two at once: {code} {text}" for code, text in ends if code and not (code == 1 and REFUSED in text)]
    found += ["two at once: neither ended well"] * all(code for code, _ in ends)
    return found + ["two at once: broken"] * (state(work, hidden=True) != whole)


if __name__ == "__main__":
    sys.modules["cofactor_app.pages.reports"] = mock.Mock(  # takes long, and touches no file
        page_of=lambda result, *_, **__: f"<html>{type(result.method).__name__}</html>"
    )
    cf.crowd.METHODS["MV-EM"]().fit(cf.CrowdLabels.from_frame(LABELS))  # compiled code is loaded once for all copies
    print(json.dumps(problems(Path(sys.argv[1]))))

"""Kill commands that begin processes of their own, at random times: nothing half, nothing lost, nobody left behind.

A program of its own, as `tests.kill_points`: python -m tests.kill_parents FOLDER TIMES [CASE ...]

The process that is killed is the command's own; those that it began must find out. The command is then run again at
once, while they may still live: it must end well, keep what was finished before, and leave what it leaves undisturbed.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from cofactor_app.cli import bench, main  # noqa: F401  (the copies of this process have it then)
from tests.kill_points import LABELS, OWN, renew

MINE = """
import time

import numpy as np

class Votes:
    def fit(self, labels):
        time.sleep(0.1)
        return self

    def predict_proba(self, labels):
        votes = np.zeros((labels.n_tasks, labels.n_classes))
        np.add.at(votes, (labels.table.rows, labels.table.values), 1.0)
        return votes / votes.sum(1, keepdims=True)

"""
BENCH = ["--data", "own", "--line", "crowd", "--keep", "kept.jsonl", "-o", "trials.csv", "--force"]
CASES = {  # the command before, the command
    "bench": (["bench", "MajorityVote", *BENCH], ["bench", "mine.py:Votes", *BENCH]),
}
MEASURED = {"seconds", "memory", "date", "published_seconds"}
PATIENCE = 60.0  # seconds until a process that was left is a fault; on a busy machine it needs some to begin
SETS = 3


def write_inputs(folder: Path) -> None:
    """Make a folder with a method and sets of labels."""
    (folder / "own").mkdir(parents=True)
    (folder / "mine.py").write_text(MINE, encoding="utf8")
    for number in range(SETS):
        LABELS.to_csv(folder / "own" / f"set{number}.csv", index=False)
        OWN.to_csv(folder / "own" / f"set{number}_truth.csv", index=False)


def begun(folder: Path, words: list[str]) -> int:
    """Begin a command in a copy of this process, which leads a session of its own; returns its number."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.setsid()
        os.chdir(folder)
        sys.modules["__main__"].__spec__ = find_spec("cofactor.__main__")  # as if begun so: its processes look at it
        with (folder.parent / "said").open("w") as said:
            for stream in (1, 2):
                os.dup2(said.fileno(), stream)
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = main(words)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def ended(child: int) -> int:
    """Wait for a process; returns its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def left_of(session: int) -> list[str]:
    """Names of the processes of a session that live."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, its = path.read_text().rpartition(")")[2].split()[:4]
            if int(its) == session and state != "Z":
                found.append((path.parent / "cmdline").read_text().replace("\0", " "))
    return found


def waited(session: int) -> float:
    """Seconds until all processes of a session are gone; those that stay are ended, and are infinitely long."""
    begin = time.monotonic()
    while left_of(session):
        if time.monotonic() - begin > PATIENCE:
            os.killpg(session, signal.SIGKILL)
            return float("inf")
        time.sleep(0.02)
    return time.monotonic() - begin


def state(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """What stands under each name, or in each line of kept trials, without what was measured; and with it.

    A file that cannot be read, as one that is half, is an error.
    """
    plain, full = {}, {}
    for path in (path for path in sorted(folder.rglob("*")) if path.is_file()):
        if {"own", "__pycache__"} & set(path.parts):
            continue
        name, text = path.relative_to(folder).as_posix(), path.read_text(encoding="utf8")
        if path.name.startswith(".") or path.suffix == ".py":
            continue
        if path.name == "run.json":
            plain[name] = repr([sorted(run["seeds"]) for run in json.loads(text)["runs"]][-1:])
        elif path.suffix == ".csv":
            plain[name] = repr(without_columns(text))
        else:  # a trial, or a line for each
            for line in text.splitlines() if path.suffix == ".jsonl" else [text]:
                found = json.loads(line)
                key = f"{name} {found.get('set', '')} {found.get('method', '')}"
                plain[key], full[key] = repr(without_fields(found)), line
    return plain, full


def without_fields(found: object) -> object:
    """JSON without what was measured."""
    if isinstance(found, list):
        return [without_fields(one) for one in found]
    if isinstance(found, dict):
        return {name: without_fields(value) for name, value in found.items() if name not in MEASURED}
    return found


def without_columns(text: str) -> list[list[str]]:
    """Rows of a table without the columns that were measured; a last row without its end is no row."""
    names, *rows = [line.split(",") for line in text.split("\n")]
    kept = [place for place, name in enumerate(names) if name not in MEASURED]
    assert rows[-1] == [""], "the table ends within a row"
    return [[row[place] for place in kept] for row in [names, *rows[:-1]]]


def hidden(folder: Path) -> list[str]:
    """Locks and unfinished parts."""
    return [str(path.relative_to(folder)) for path in folder.rglob(".*")]


def try_case(case: str, home: Path, times: int) -> dict[str, object]:
    """Say how often it was killed, what that left, how long processes stayed (s), and what was wrong.

    Every second time is drawn from the length of the whole run, the others from that after its first output.
    """
    before, words = CASES[case]
    start, work = home / "start", home / "work"
    write_inputs(work)
    assert ended(begun(work, before)) == 0, (home / "said").read_text()
    shutil.copytree(work, start)
    child, begin = begun(work, words), time.monotonic()
    first = until_changed(work, child) - begin
    assert ended(child) == 0, (home / "said").read_text()
    seconds, old, new = time.monotonic() - begin, state(start)[0], state(work)[0]
    ends, left, problems, stayed, draw = Counter(), Counter(), [], [], random.Random(str(home))
    for number in range(times):
        renew(start, work)
        child, late = begun(work, words), number % 2
        at = draw.random() * (seconds - first if late else seconds)
        if late:  # most of a small run is its beginning, which writes nothing
            until_changed(work, child)
        time.sleep(at)
        os.kill(child, signal.SIGKILL)
        ends[ended(child)] += 1
        found = state(work)
        broken = [name for name in {*old, *found[0], *new} if found[0].get(name) not in (old.get(name), new.get(name))]
        left["half" if broken else "old" if found[0] == old else "new" if found[0] == new else "some new"] += 1
        wrong = [f"half: {name}" for name in broken] + again(work, words, child, stayed)
        after = state(work)
        wrong += [f"other: {name}" for name in {*new, *after[0]} if after[0].get(name) != new.get(name)]
        wrong += [f"computed again: {name}" for name, text in found[1].items() if after[1].get(name) != text]
        since = "the first output" if late else "the begin"
        problems += [f"killed {at:.3f} s after {since}: {one}" for one in wrong]
    took = {"first output": round(first, 1), "all": round(seconds, 1), "stayed": max(stayed)}
    return {"case": case, "seconds": took, "ends": ends, "left": left, "wrong": problems}


def until_changed(work: Path, child: int) -> float:
    """Wait for a change of the files in a folder, or the end of a process; returns the time then."""
    before = sizes(work)
    while sizes(work) == before and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        time.sleep(0.005)
    return time.monotonic()


def sizes(work: Path) -> dict[str, int]:
    """Sizes of the files that have their final names."""
    found = {}
    for path in work.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            if not path.name.startswith(".") and path.is_file():
                found[str(path)] = path.stat().st_size
    return found


def again(work: Path, words: list[str], killed: int, stayed: list[float]) -> list[str]:
    """Run the command once more, and say what was wrong; adds how long processes of the killed one stayed."""
    child = begun(work, words)
    wrong = [] if ended(child) == 0 else [f"run again: {(work.parent / 'said').read_text()}"]
    stayed.append(max(waited(killed), waited(child)))
    wrong += ["a process was left"] if stayed[-1] > PATIENCE else []
    return wrong + [f"hidden: {name}" for name in hidden(work)]


if __name__ == "__main__":
    home, times, *chosen = sys.argv[1:]
    for name in chosen or CASES:
        print(json.dumps(try_case(name, Path(home, name), int(times))), flush=True)

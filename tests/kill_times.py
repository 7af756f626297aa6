"""Kill commands at random times, end their files early, remove their folder: outputs are the old, the new, or absent.

A program of its own, as `tests.kill_points`: python -m tests.kill_times FOLDER TIMES [CASE or FAULT ...]
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.kill_points import CASES, LINES, again, load, prepare, renew, run, state, write_inputs, wrong

CHOSEN = ("aggregate again", "rank", "joint", "reproduce again", "bench")
FAULTS = ("killed", "no folder", "files end")


class Fault:
    """What goes wrong in a copy of this process, at a time or at a size that is drawn."""

    def __init__(self, kind: str, work: Path, seconds: float, draw: random.Random) -> None:
        self.kind, self.work, self.at = kind, work, draw.random() * seconds
        self.size = draw.choice([0, 1, 50, 200, 1000])

    def set(self) -> None:
        if self.kind == "files end":
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, -1))
        else:  # the system itself ends the process, wherever it is
            signal.signal(signal.SIGALRM, signal.SIG_DFL if self.kind == "killed" else self.strike)
            signal.setitimer(signal.ITIMER_REAL, max(self.at, 1e-4))

    def strike(self, *_: object) -> None:
        shutil.rmtree(self.work, ignore_errors=True)

    def end(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)


def try_case(case: str, home: Path, times: int, faults: Sequence[str]) -> dict[str, object]:
    """Say how runs with a fault ended, and what was wrong."""
    before, words = CASES[case]
    start, work = home / "start", home / "work"
    write_inputs(start)
    for command in before:
        assert run(start, command) == 0, command
    old = state(start)
    renew(start, work)
    begin = time.monotonic()
    assert run(work, words) == 0
    seconds, new = time.monotonic() - begin, state(work)
    assert old != new, f"{case}: the command changes nothing"
    ends, left, problems, draw = Counter(), Counter(), [], random.Random(case)
    for number in range(times * len(faults)):
        kind = faults[number % len(faults)]
        renew(start, work)
        fault = Fault(kind, work, seconds, draw)
        code = run(work, words, fault)
        where = f"{kind} at {fault.at:.4f} of {seconds:.4f} s, size {fault.size}"
        ends[f"{kind}: {code}"] += 1
        if code not in ((0, -signal.SIGALRM) if kind == "killed" else (0, 1)):
            problems.append(f"{where}: ended with {code}")
        if kind == "no folder":
            continue
        found = state(work)
        left[f"{kind}: {what(found, old, new)}"] += 1
        problems += [f"{where}: broken: {name}" for name in wrong(found, old, new)]
        problems += again(work, words, where, new)
    return {"case": case, "seconds": round(seconds, 3), "ends": ends, "left": left, "wrong": problems}


def what(found: dict[str, bytes], old: dict[str, bytes], new: dict[str, bytes]) -> str:
    """Say whether all outputs are the old ones, all the new ones, some of each, or one neither."""
    if wrong(found, old, new):
        return "half"
    return "old" if found == old else "new" if found == new else "some new"


if __name__ == "__main__":
    prepare()
    home, times, *chosen = sys.argv[1:]
    faults = [word for word in chosen if word in FAULTS] or FAULTS
    chosen = [word for word in chosen if word not in FAULTS] or list(CHOSEN)
    load(set(LINES) & set(chosen))
    for name in chosen:
        print(json.dumps(try_case(name, Path(home, name), int(times), faults)), flush=True)

"""Run two of every command at once, on one output and on two.

A program of its own, as `tests.kill_points`: python -m tests.two_at_once FOLDER TIMES [CASE ...]
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import traceback
from collections import Counter
from itertools import pairwise
from pathlib import Path

from cofactor_app.cli import main
from tests.kill_points import CASES, LINES, load, prepare, renew, run, state, write_inputs

REFUSED = ("is being written by ", "exists: name another output")


def both(folder: Path, commands: list[list[str]]) -> list[tuple[int, str]]:
    """Exit codes and messages of two commands that begin at the same time."""
    begin, go = os.pipe()
    children = [_child(folder, words, begin, go, folder.parent / f"said{i}") for i, words in enumerate(commands)]
    os.close(begin)
    os.close(go)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    return [(code, (folder.parent / f"said{i}").read_text()) for i, code in enumerate(codes)]


def _child(folder: Path, words: list[str], begin: int, go: int, said: Path) -> int:
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.close(go)
        os.chdir(folder)
        os.read(begin, 1)  # until all have closed the other end
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as printed:
            code = main(words)
        said.write_text(printed.getvalue())
    except BaseException:
        said.write_text(traceback.format_exc())
    finally:
        os._exit(code)


def try_case(case: str, home: Path, times: int) -> dict[str, object]:
    """Say how often which exit codes came, and what was wrong."""
    before, words = CASES[case]
    start, work = home / "start", home / "work"
    write_inputs(start)
    for command in before:
        assert run(start, command) == 0, command
    renew(start, work)
    assert run(work, words) == 0
    new, ends, problems = state(work, hidden=True), Counter(), []
    other = [f"other-{word}" if word in outputs(words) else word for word in words]
    if words[0] in ("reproduce", "report"):
        other = [*words, "--results", "other"] if words[0] == "reproduce" else [*words, "-o", "other.html"]
    for second in [words, other] * times:
        renew(start, work)
        for code, said in both(work, [words, second]):
            how = "same" if second is words else "other"
            ends[f"{how} {code}"] += 1
            if code and not (how == "same" and code == 1 and any(text in said for text in REFUSED)):
                problems.append(f"{how}: {code} {said}")
        left = state(work, hidden=True)
        if {n: c for n, c in left.items() if "other" not in n} != new:
            problems.append(f"{how}: left {sorted(left)}")
        if how == "other" and not any("other" in name for name in left):
            problems.append("other: not written")
    return {"case": case, "ends": ends, "wrong": problems}


def outputs(words: list[str]) -> list[str]:
    """What stands behind options that name outputs."""
    named = ("-o", "--workers", "--confusion", "--report", "--weights")
    return [value for option, value in pairwise(words) if option in named]


if __name__ == "__main__":
    prepare()
    load(LINES)
    home, times, *chosen = sys.argv[1:]
    for name in chosen or CASES:
        print(json.dumps(try_case(name, Path(home, name), int(times))), flush=True)

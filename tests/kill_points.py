"""Stop a command at ten of its file operations, spread over all of them, and look at what is left.

Run as a program of its own, since a process that is to be copied (`os.fork`) must not have threads:

    python -m tests.kill_points FOLDER CASE ...

It prints, as a line of JSON each, how many operations there were and what was wrong after which. Every case is run once
undisturbed; then once for each of the ten, in a copy of the process that dies before that operation. What stands under
the final names must be what was there before or what the undisturbed run leaves. Then the command is run again: it must
leave what the undisturbed run leaves, and nothing else.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from unittest import mock

import pandas as pd
import pyarrow.parquet  # noqa: F401  (imported before the process is copied)

import cofactor as cf
from cofactor_app.cli import main
from evaluation import cli as experiments
from evaluation import trials
from tests.evaluation.toy import toy

LABELS = pd.DataFrame({"task": [f"t{i // 3}" for i in range(36)], "worker": [i % 3 for i in range(36)]})
LABELS["label"] = [(i // 3 + (i % 7 == 0)) % 2 for i in range(36)]
TABLES = ["-o", "consensus.csv", "--workers", "workers.csv.gz", "--confusion", "confusion.parquet"]
AGGREGATE = ["aggregate", "labels.csv", "--method", "MajorityVote", *TABLES, "--report", "report.html"]
REPRODUCE = ["reproduce", "toy", "--jobs", "1"]
VOTES = pd.DataFrame({"winner": list("abcabcab"), "loser": list("bcacabca"), "user": list("xxxxyyyy")})
GAPS = LABELS.assign(label=LABELS["label"].where(LABELS.index % 5 > 0))
POINTS = pd.DataFrame([[1, 0, 0, 0.5, 0.2], [0, 1, 0, 0.5, 0.3], [0, 0, 1, 0, 0.5]], columns=list("abcde"))
COUNTS = pd.DataFrame({"document": [i // 2 for i in range(12)], "word": list("cdsrcpsydpry"), "count": range(1, 13)})
NEXT = ["next", "labels.csv", "-o", "next.csv"]
RANK = ["rank", "votes.csv", "-o", "ranking.csv"]
JOINT = ["joint", "gaps.csv", "--method", "Independence", "-o", "full.csv"]
ANCHORS = ["anchors", "points.csv", "--method", "SPA", "--weights", "weights.npz"]
TOPICS = ["topics", "counts.csv", "--method", "SPA", "-o", "topics.csv"]
OWN = pd.DataFrame({"task": LABELS["task"].unique()}).assign(truth=[i % 2 for i in range(12)])
BENCH = ["--data", "own", "--line", "crowd", "--keep", "kept.jsonl", "-o", "trials.csv"]
CASES = {  # name: commands before, the command, whether its outputs come and go together
    "aggregate": ([], AGGREGATE),
    "aggregate again": ([[*AGGREGATE[:3], "MV-EM", *AGGREGATE[4:]]], [*AGGREGATE, "--force"]),
    "reproduce": ([], REPRODUCE),
    "reproduce again": ([[*REPRODUCE, "--trials", "1"]], REPRODUCE),
    "report": ([REPRODUCE], ["report"]),
    "report again": ([[*REPRODUCE, "--trials", "1"], ["report"], REPRODUCE], ["report", "--force"]),
    "next": ([[*NEXT, "--budget", "2"]], [*NEXT, "--force"]),
    "rank": ([[*RANK, "--method", "BradleyTerry"]], [*RANK, "--report", "ranking.html", "--force"]),
    "joint": ([["joint", "labels.csv", *JOINT[2:]]], [*JOINT, "--force"]),
    "anchors": ([[*ANCHORS, "--anchors", "2"]], [*ANCHORS, "--anchors", "3", "--force"]),
    "topics": ([[*TOPICS, "--anchors", "1"]], [*TOPICS, "--anchors", "2", "--force"]),
    "bench": ([["bench", "MajorityVote", *BENCH]], ["bench", "MV-EM", *BENCH, "--force"]),
}
LINES = ("next", "rank", "joint", "anchors", "topics")
CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate", "os.link", "os.symlink")
MEASURED = re.compile("toy|kept|trials")  # files with times in them
KILLS = 10
WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def prepare() -> None:
    """Leave out what takes long and touches no file."""
    trials.code_hash = lambda: "code"  # the sources may change meanwhile
    experiments.made_by = dict
    sys.modules["cofactor_app.pages.crowd"] = mock.Mock(page=lambda *_: "<html>crowd</html>")
    experiments._section = lambda experiment, found: {"experiment": experiment, "trials": len(found)}
    sys.modules["cofactor_app.pages.rank"] = mock.Mock(page=lambda *_: "<html>rank</html>")
    experiments.render = lambda *_, sections, **__: f"toy: {sections[0]['trials']} rows"
    experiment = toy(settings=("small",), trials=3)
    experiments.EXPERIMENTS = {"toy": experiment}
    experiments.find_experiment = experiments.EXPERIMENTS.__getitem__
    cf.crowd.METHODS["MV-EM"]().fit(cf.CrowdLabels.from_frame(LABELS))  # compiled code is loaded once for all copies


def load(cases: Iterable[str]) -> None:
    """Run the commands of these cases here, so that copies of this process have their modules and compiled code."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        write_inputs(Path(folder, "inputs"))
        with contextlib.chdir(Path(folder, "inputs")):
            assert {main(CASES[case][1]) for case in cases} <= {0}


def write_inputs(folder: Path) -> None:
    """Make a folder with the files that commands read."""
    folder.mkdir(parents=True)
    LABELS.to_csv(folder / "labels.csv", index=False)
    for name, frame in {"votes": VOTES, "gaps": GAPS, "points": POINTS, "counts": COUNTS}.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    (folder / "own").mkdir()
    LABELS.to_csv(folder / "own" / "labels.csv", index=False)
    OWN.to_csv(folder / "own" / "labels_truth.csv", index=False)


def run(folder: Path, words: list[str], trap=None) -> int:
    """Run a command in a copy of this process; returns its exit code, or minus the signal that ended it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 70
    try:
        os.chdir(folder)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
            if trap:
                trap.set()
            code = main(words)
            if trap:
                trap.end()
        if code:
            print(words, said.getvalue(), file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


class Trap:
    """Ends this process before the operation of this number; notes the kinds of all that were done."""

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
            self.step("open to write", arguments[0])
        elif event in CHANGES:
            self.step(event, arguments[0])

    def step(self, kind: str, path: object = "") -> None:
        name = "" if isinstance(path, int) else os.fsdecode(path)
        if os.path.isabs(name) and not name.startswith(self.folder):
            return
        if len(self.done) == self.number:
            os.kill(os.getpid(), signal.SIGKILL)
        self.done.append(kind)

    def end(self) -> None:
        self.number = -1
        self.notes.write_text(json.dumps(self.done))


def state(folder: Path, hidden: bool = False) -> dict[str, bytes]:
    """What stands under final names for those who read it; times and durations do not count."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and (hidden or not any(part.startswith(".") for part in name.split("/"))):
            content = path.read_bytes()
            if path.name == "run.json":
                content = json.dumps(list(json.loads(content))).encode()  # one more run each time
            found[name] = re.sub(rb"\d[-+.\de]*", b"#", content) if MEASURED.search(name) else content
    return found


def wrong(found: dict[str, bytes], old: dict[str, bytes], new: dict[str, bytes]) -> list[str]:
    """Names under which neither the old nor the new stands."""
    return [name for name in {*found, *old, *new} if found.get(name) not in (old.get(name), new.get(name))]


def try_all(case: str, home: Path) -> dict[str, object]:
    """Run a case undisturbed, then killed at ten operations; say what was wrong."""
    before, words = CASES[case]
    start, work, notes = home / "start", home / "work", home / "notes.json"
    write_inputs(start)
    for command in before:
        assert run(start, command) == 0, command
    old, problems = state(start), []
    renew(start, work)
    assert run(work, words, Trap(work, -1, notes)) == 0
    kinds, new = json.loads(notes.read_text()), state(work)
    assert old != new, f"{case}: the command changes nothing"
    for number in sorted({round(share * (len(kinds) - 1) / (KILLS - 1)) for share in range(KILLS)}):
        renew(start, work)
        code = run(work, words, Trap(work, number, notes))
        where = f"before operation {number}, {kinds[number]}"
        if code != -signal.SIGKILL:
            problems.append(f"{where}: ended with {code}")
        problems += [f"{where}: broken: {name}" for name in wrong(state(work), old, new)]
        problems += again(work, words, where, new)
    return {"operations": len(kinds), "kinds": Counter(kinds), "wrong": problems}


def renew(start: Path, work: Path) -> None:
    """Make the folder to work in anew."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(start, work)


def again(work: Path, words: list[str], where: str, new: dict[str, bytes]) -> list[str]:
    """Run the command once more: it ends well, and leaves what an undisturbed run does."""
    force = [] if "--force" in words or words[0] == "reproduce" else ["--force"]
    code = run(work, [*words, *force])
    if code or state(work, hidden=True) != new:
        return [f"{where}: run again: exit code {code}, left {sorted(state(work, hidden=True))}"]
    return []


if __name__ == "__main__":
    prepare()
    home, *chosen = sys.argv[1:]
    load(set(LINES) & set(chosen))
    for case in chosen:
        print(json.dumps({"case": case, **try_all(case, Path(home, case))}), flush=True)

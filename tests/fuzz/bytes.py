"""Read many damaged files with every reader: nothing but a `CofactorError` may come of it, in bounded time and memory.

    python -m tests.fuzz.bytes                                     1000 files for each reader
    python -m tests.fuzz.bytes --number 100000 --reader ratings    more, for one reader
    python -m tests.fuzz.bytes --reader ratings --show 4711        one file, and what is raised on reading it

A reader works in a process of its own, so that a crash or a hang in compiled code is found as well.
"""

import argparse
import os
import resource
import time
import traceback
import warnings
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import cofactor as cf
from tests.fuzz.mutations import UNPICKLED
from tests.fuzz.readers import READERS, case, opened

MEMORY = 1 << 30  # bytes that a reader may take beyond what the packages took when they were imported
SECONDS = 20  # of the processor, for one file
BATCH = 2000  # files for one process: over many more, what threads of libraries reserve adds up
PROCESSES = get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.fuzz.readers"])


@dataclass
class Report:
    """What came of files: how many were read or refused, and the numbers of those on which a reader failed."""

    read: int = 0
    refused: int = 0
    seconds: float = 0.0  # of the processor
    megabytes: int = 0  # at the peak, beyond the packages
    failures: dict[str, list[int]] = field(default_factory=dict)

    def fail(self, number, reason):
        self.failures.setdefault(reason, []).append(number)

    def add(self, read, refused, milliseconds, megabytes):
        self.read, self.refused = self.read + read, self.refused + refused
        self.seconds, self.megabytes = self.seconds + milliseconds / 1000, max(self.megabytes, megabytes)


def fuzz(name, numbers):
    """Let a reader read these files; one on which its process dies or hangs is noted, and a new process goes on."""
    report, start = Report(), numbers.start
    while start < numbers.stop:
        state, failures = PROCESSES.Array("q", [start, 0, 0, 0, 0]), PROCESSES.SimpleQueue()
        batch = range(start, min(start + BATCH, numbers.stop))
        process = PROCESSES.Process(target=_work, args=(name, batch, state, failures))
        process.start()
        hangs = _watch(process, state, failures, report)
        number, *counts = state[:]
        report.add(*counts)
        start = batch.stop
        if hangs or process.exitcode:
            report.fail(number, f"takes over {SECONDS} s" if hangs else f"process ended by {process.exitcode}")
            start = number + 1
    return report


def _watch(process, state, failures, report):
    """Collect failures until a process ends; kill it if it stays with one file for too long."""
    seen, until = -1, 0.0
    while process.is_alive() or not failures.empty():
        process.join(0.1)
        while not failures.empty():
            report.fail(*failures.get())
        if state[0] != seen:
            seen, until = state[0], _processor_time(process) + SECONDS
        elif _processor_time(process) > until:
            process.kill()
            process.join()
            return True
    return False


def _processor_time(process):
    """Seconds of the processor that a process took so far; on a busy machine a clock would tell of the others."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        return 0.0


def _work(name, numbers, state, failures):
    """Read files; `state` holds the number of the file, files read, files refused, CPU milliseconds, peak megabytes."""
    before = _peak()
    _limit_memory()
    with opened(name) as read:
        for number in numbers:
            state[0] = number
            failure = _failure(read, number, state)
            if failure:
                failures.put((number, failure))
            state[3], state[4] = round(1000 * time.process_time()), (_peak() - before) >> 10


def _failure(read, number, state):
    """Why reading a file failed; empty where it was read, or refused as it should be."""
    try:
        with warnings.catch_warnings():
            strict_warnings()
            read(number)
        state[1] += 1
    except cf.CofactorError:
        state[2] += 1
    except Exception as error:
        return place(error)
    opened_one = bool(UNPICKLED)
    UNPICKLED.clear()
    return "a pickle was opened" if opened_one else ""


def strict_warnings():
    """Make errors of all warnings but those that the package means."""
    warnings.simplefilter("error")
    for kind in (cf.DataWarning, cf.ConvergenceWarning):
        warnings.simplefilter("ignore", kind)


def place(error):
    """Where an error came from: the last line of the package that it went through, the same for equal causes."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/cofactor/" in frame.filename]
    where = f"{'/'.join(Path(frames[-1].filename).parts[-2:])}:{frames[-1].lineno}" if frames else "outside"
    return f"{where} {type(error).__name__}: {str(error)[:100]!r}"[:120]


def _limit_memory():
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kB


def _show(name, number):
    file, raw = case(name, number)
    print(f"{file}: {len(raw)} bytes\n{raw[:2000]!r}")
    with opened(name) as read, warnings.catch_warnings():
        strict_warnings()
        print(read(number))


def main():
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reader", nargs="+", choices=list(READERS), default=list(READERS))
    parser.add_argument("--number", type=int, default=1000, help="files for each (default: 1000)")
    parser.add_argument("--start", type=int, default=0, help="number of the first file (default: 0)")
    parser.add_argument("--show", type=int, metavar="FILE", help="read this file alone, and say what happens")
    arguments = parser.parse_args()
    for name in arguments.reader:
        if arguments.show is not None:
            return _show(name, arguments.show)
        report = fuzz(name, range(arguments.start, arguments.start + arguments.number))
        failed = sum(map(len, report.failures.values()))
        counts = f"{report.read} read, {report.refused} refused, {failed} failed"
        print(f"{name}: {counts}; {report.seconds:.0f} CPU s, {report.megabytes} MB", flush=True)
        for reason, numbers in report.failures.items():
            print(f"    {reason}: {len(numbers)} files, such as {numbers[:5]}", flush=True)


if __name__ == "__main__":
    main()

"""Time calls, keep the figures with the facts about the machine, and show them: what every bench_*.py shares."""

from __future__ import annotations

import argparse
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

import machine
import numpy as np
import pandas as pd
from summary import FACTS, HERE, RESULTS, table_of, update_readme

T = TypeVar("T")
NAN = float("nan")
REPEATS = 5


@dataclass(frozen=True)
class Reference:
    """A time to compare with: seconds, and whose they are."""

    seconds: float
    source: str


@dataclass(frozen=True)
class Row:
    """One line of the results; `ratio` is reference over median, above one where we are faster."""

    subject: str
    data: str
    n_labels: int
    stage: str
    seconds_median: float
    seconds_min: float
    seconds_max: float
    repeats: int
    peak_mb: float = NAN
    base_mb: float = NAN
    per_label_ns: float = NAN
    error_percent: float = NAN
    reference: float = NAN
    reference_source: str = ""
    ratio: float = NAN
    limit_on: str = ""
    limit: float = NAN
    load: float = NAN


class Bench:
    """One subject: measures, collects rows, and at the end prints them and writes them down.

    Parameters
    ----------
    subject : str
        Names the file of results and the section of the summary.
    arguments : sequence of str, optional
        Default: those of the command line, see `--help`.
    clock : function
        What tells the time, in seconds.
    patience : float
        A call that takes more seconds than this is not repeated: the first one counts.
    """

    def __init__(
        self,
        subject: str,
        arguments: Sequence[str] | None = None,
        clock: Callable[[], float] = time.perf_counter,
        patience: float = float("inf"),
    ) -> None:
        options = _parse(subject, arguments)
        self.clock, self.patience = clock, patience
        self.subject, self.tiny, self.output = subject, options.tiny, options.output
        self.repeats = 1 if options.tiny else REPEATS
        self.rows: list[Row] = []
        asked_for = tomllib.loads((HERE / "limits.toml").read_text(encoding="utf8"))
        self.limits = {} if options.tiny else asked_for.get(subject, {})

    def time(self, call: Callable[[], T]) -> tuple[T, list[float]]:
        """Call once to warm up (compiled code, caches), then `repeats` times; the last result and the seconds."""
        start = self.clock()
        result = call()
        seconds = [self.clock() - start]
        if seconds[0] > self.patience:
            return result, seconds
        for _ in range(self.repeats):
            start = self.clock()
            result = call()
            seconds.append(self.clock() - start)
        return result, seconds[1:]

    def time_difference(self, short: Callable[[], T], long: Callable[[], T]) -> tuple[T, list[float]]:
        """Time how much longer `long` takes, one right after the other so that both see the same load."""
        result, seconds = long(), []
        for _ in range(self.repeats):
            start = time.perf_counter()
            short()
            middle = time.perf_counter()
            result = long()
            seconds.append(time.perf_counter() - 2 * middle + start)
        return result, seconds

    def add(
        self,
        data: tuple[str, int],
        stage: str,
        seconds: Sequence[float],
        error: float = NAN,
        memory: tuple[float, float] = (NAN, NAN),
        reference: Reference | None = None,
    ) -> None:
        """Add a row; `data` is a name and a number of labels, `memory` peak and base in MB."""
        median = float(np.median(seconds))
        limit = self.limits.get(f"{data[0]}: {stage}", self.limits.get(stage, {}))
        column, most = next(iter(limit.items()), ("", NAN))
        row = Row(
            self.subject,
            *data,
            stage,
            *(median, min(seconds), max(seconds), len(seconds)),
            *memory,
            per_label_ns=1e9 * median / data[1],
            error_percent=100 * error,
            reference=reference.seconds if reference else NAN,
            reference_source=reference.source if reference else "",
            ratio=reference.seconds / median if reference else NAN,
            limit_on=column,
            limit=most,
            load=machine.load(),
        )
        self.rows.append(row)
        print(f"{row.data}: {stage}: {median:.4g} s", flush=True)

    def measure(
        self,
        data: tuple[str, int],
        stage: str,
        call: Callable[[], T],
        error: Callable[[T], float] | None = None,
        reference: Reference | None = None,
    ) -> T:
        """Time a call, add its row, and return what it returned; `error` judges that."""
        result, seconds = self.time(call)
        self.add(data, stage, seconds, error(result) if error else NAN, reference=reference)
        return result

    def last(self, source: str) -> Reference:
        """Return the median of the last row, as a time to compare with."""
        return Reference(self.rows[-1].seconds_median, source)

    def finish(self) -> None:
        """Print the table and write the CSV; a full run also renews the section in README.md."""
        facts = machine.facts()
        frame = pd.DataFrame([asdict(row) for row in self.rows]).assign(**{name: facts[name] for name in FACTS})
        print(table_of(frame).to_string(index=False))
        if self.output is None:
            return
        self.output.mkdir(parents=True, exist_ok=True)
        path = self.output / f"{self.subject}.csv"
        frame.to_csv(path, index=False, float_format="%.6g")
        if self.output == RESULTS:
            update_readme(self.subject)


def _parse(subject: str, arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"Benchmark: {subject}.")
    parser.add_argument("--tiny", action="store_true", help="seconds instead of minutes, only to see that it runs")
    parser.add_argument("--output", type=Path, help="folder for the CSV (default: benchmarks/results; --tiny: none)")
    options = parser.parse_args(arguments)
    if options.output is None and not options.tiny:
        options.output = RESULTS
    return options

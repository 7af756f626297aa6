"""Where ``cofactor aggregate`` fits labels: in memory, or from shards on disk where they are too many for that."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from cofactor.core.errors import CofactorError
from cofactor.core.files import reading_parquet

ENGINES = ("auto", "memory", "shards")
PER_LABEL = 300  # bytes of memory at the peak of a fit, of 10^7 labels
SHARE = 0.25  # of the machine's memory that labels may take before they are sorted on disk
LOOK = 1_000_000  # bytes of a text file, by which its rows are estimated
SEPARATORS = {".csv": ",", ".tsv": "\t"}
VOCABULARY = "vocabulary.json"  # of a folder of shards
WHOLE = ("truth", "gold", "report", "posterior", "overruled", "model", "wide", "sort")  # need all labels at once
READ_WHOLE = ("ignore", "classes", "merge_look_alikes", "order")  # read in memory only


def from_shards(arguments: argparse.Namespace) -> bool:
    """Whether to fit from shards: labels that are some, and, as asked or by their number, those of large files.

    Raises a CofactorError where shards are asked for and cannot be: other files, or options that need all labels.
    """
    if arguments.moments or is_folder(arguments.labels):
        return True
    if arguments.engine == "memory":
        return False
    reason = _in_memory_only(arguments)
    if arguments.engine == "shards":
        if reason:
            raise CofactorError(f"--engine shards: {reason}; leave --engine out")
        return True
    if reason:
        return False
    n_labels, memory = sum(map(_rows, arguments.labels)), _memory()
    needed = PER_LABEL * n_labels
    if needed <= SHARE * memory or find_spec("duckdb") is None:
        return False
    amount = f"some {n_labels:,} labels would take {needed / 1e9:.1f} of {memory / 1e9:.1f} GB in memory"
    print(f"{amount}: they are sorted on disk and fitted piece by piece (--engine memory: here)")
    return True


def is_folder(labels: Sequence[str]) -> bool:
    """Whether labels are a folder of shards, or files of one."""
    paths = map(Path, labels)
    return all((path if path.is_dir() else path.parent).joinpath(VOCABULARY).is_file() for path in paths)


def _in_memory_only(arguments: argparse.Namespace) -> str:
    """Return why labels cannot be sorted into shards; empty where they can."""
    if asked := [f"--{name.replace('_', '-')}" for name in (*WHOLE, *READ_WHOLE) if getattr(arguments, name)]:
        return f"{', '.join(asked)} needs all labels in memory"
    if arguments.conflicts not in ("error", "first", "last"):
        return f"--conflicts {arguments.conflicts} needs all labels in memory"
    endings = {Path(name).suffix for name in arguments.labels}
    if not (endings <= set(SEPARATORS) or endings == {".parquet"}) or not all(
        Path(n).is_file() for n in arguments.labels
    ):
        return "labels are sorted on disk from CSV or TSV files, or from parquet files"
    return ""


def _rows(name: str) -> int:
    """Return how many rows a file has: parquet says so, of text it is estimated from the beginning."""
    path = Path(name)
    if path.suffix == ".parquet":
        with reading_parquet(path):
            from pyarrow import parquet

            return int(parquet.read_metadata(path).num_rows)
    with path.open("rb") as file:
        seen = file.read(LOOK)
    return round(path.stat().st_size * seen.count(b"\n") / max(len(seen), 1))


def _memory() -> float:
    """Return the bytes of memory of this machine; without end where it does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")

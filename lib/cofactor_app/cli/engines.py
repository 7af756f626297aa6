"""Where ``cofactor aggregate`` fits labels: in memory, or from shards on disk where that is faster or all that fits."""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import reading_parquet
from cofactor.core.frames import TAKEN, check_columns, refuse_twice, renamed_columns, text_pieces
from cofactor.core.lazy import pd
from cofactor.core.text_tables import SEPARATOR
from cofactor.crowd.files import check_different
from cofactor.crowd.layouts import recognised
from cofactor_app.cli.methods import DEFAULT

PER_LABEL = 300  # bytes of memory at the peak of a fit, of 10^7 labels
SHARE = 0.25  # of the machine's memory that labels may take before they are sorted on disk
MANY = 1_000_000  # labels, from which on it is said where they are fitted
FASTER = 5_000_000  # labels, from which on shards save more than half a minute of a processor, see docs/commands.md
SAY_MORE = {  # options that get more in memory, and stay there as long as it is large enough
    "gold": "gold tasks choose among more readings",
    "workers": "workers have intervals and verdicts",
    "report": "the page has intervals and all tasks",
}
FIRST = 1000  # rows by which columns are told
LOOK = 1_000_000  # bytes of a text file, by which its rows are estimated
TEXT = (".csv", ".tsv")
VOCABULARY = "vocabulary.json"  # of a folder of shards
KNOWN = ("truth", "gold")  # tasks of known class
WHOLE = {  # options that need all labels at once
    "plan": "--plan simulates crowds as large as this one in memory (`cofactor plan` takes a file of some tasks)",
}
SUMS = ("WorkerTypes", "MV-EM", "IBCC", "EBCC")  # methods that read labels as sums over tasks
UTF_8 = ("utf-8-sig", "utf-8", "utf8", "ascii")
LOST = "readings are not compared there, and copies are looked for on a sample of two million labels at most"
NOT_TOLD = "what the columns are is told from all labels: name them by --task, --worker and --label"
READ_WHOLE = ("ignore", "classes", "merge_look_alikes", "order")  # read in memory only
NOT_ASKED = {**dict.fromkeys((*WHOLE, *READ_WHOLE, "gold")), "method": DEFAULT}  # by a command without them


def from_shards(arguments: argparse.Namespace) -> bool:
    """Whether to fit from shards: labels that are some, and, as asked or by their number, those of large files.

    Raises a CofactorError where shards are asked for and cannot be: other files, or options that need all labels.
    """
    if arguments.moments or is_folder(arguments.labels):
        return True
    if arguments.engine == "memory":
        return False
    asked = arguments.engine == "shards"
    amount = "" if asked or _not_files(arguments.labels) else _told_of_many(arguments)
    if not (asked or amount):
        return False
    reason = _in_memory_only(arguments)
    if asked and reason:
        raise CofactorError(f"--engine shards: {reason}; leave --engine out")
    if amount and not reason:
        lost = f"; {LOST}" if arguments.method == DEFAULT else ""
        print(f"{amount}: they are sorted on disk and fitted piece by piece{lost} (--engine memory: here)")
    elif amount:
        print(f"{amount}, and are fitted there all the same, since {reason}")
    return not reason


def sampled_instead(arguments: argparse.Namespace) -> str:
    """Return why a command that reads labels takes a sample of the tasks; empty where all are read.

    Raises a CofactorError where labels are too many for memory, and its options need all of them.
    """
    names = [arguments.labels]
    if is_folder(names):
        return f"{arguments.labels} is a folder of shards"
    if _not_files(names) or find_spec("duckdb") is None:
        return ""
    amount, n_labels = _amount(names)
    if not _is_much(n_labels):
        return ""
    asked = argparse.Namespace(**{**NOT_ASKED, **vars(arguments), "labels": names})
    if reason := _in_memory_only(asked):
        raise CofactorError(f"{amount}, which is too much; a sample of them cannot be read, since {reason}")
    return amount


def _amount(labels: Sequence[str]) -> tuple[str, int]:
    n_labels = sum(map(_rows, labels))
    needed, memory = PER_LABEL * n_labels / 1e9, machine_memory() / 1e9
    return f"some {n_labels:,} labels would take {needed:.1f} of {memory:.1f} GB in memory", n_labels


def _is_much(n_labels: int) -> bool:
    return PER_LABEL * n_labels > SHARE * machine_memory()


def _told_of_many(arguments: argparse.Namespace) -> str:
    """Return what labels would take in memory, where shards are the better way and there is one; say it, where not."""
    amount, n_labels = _amount(arguments.labels)
    more = "; ".join(why for name, why in SAY_MORE.items() if getattr(arguments, name))
    if not _is_much(n_labels) and (more or n_labels < FASTER):
        if n_labels >= MANY:
            where = f"{amount}: they are fitted there{', where ' * bool(more)}{more}"
            print(f"{where} (--engine shards: on disk, piece by piece, which is faster)")
        return ""
    if find_spec("duckdb") is None:
        print(f"{amount}, and are fitted there all the same, since DuckDB is missing: pip install 'cofactor[scale]'")
        return ""
    return amount


def is_folder(labels: Sequence[str]) -> bool:
    """Whether labels are a folder of shards, or files of one."""
    paths = map(Path, labels)
    return all((path if path.is_dir() else path.parent).joinpath(VOCABULARY).is_file() for path in paths)


def _in_memory_only(arguments: argparse.Namespace) -> str:
    """Return why labels cannot be sorted into shards; empty where they can."""
    if whole := at_once(arguments):
        return whole
    if asked := [f"--{name.replace('_', '-')}" for name in READ_WHOLE if getattr(arguments, name)]:
        return f"{', '.join(asked)} needs all labels in memory"
    if arguments.method not in SUMS:
        return f"{arguments.method} needs all labels at once, or counts of their pairs; {', '.join(SUMS)} do not"
    if arguments.encoding.casefold() not in UTF_8:
        return f"--encoding {arguments.encoding} needs all labels in memory: files that are sorted on disk are UTF-8"
    if arguments.conflicts not in ("error", "first", "last"):
        return f"--conflicts {arguments.conflicts} needs all labels in memory"
    if files := _not_files(arguments.labels):
        return files
    with warnings.catch_warnings(action="ignore"):  # who reads the labels says what was taken for what
        alike = as_read(arguments)
    return "" if alike else NOT_TOLD


def at_once(arguments: argparse.Namespace) -> str:
    """Return what the options need all labels at once for; empty where they do not."""
    return "; ".join(why for name, why in WHOLE.items() if getattr(arguments, name) is not None)


def _not_files(labels: Sequence[str]) -> str:
    """Return why these cannot be sorted on disk; empty where they are files of one kind that can."""
    endings = {Path(name).suffix for name in labels}
    one_kind = endings <= set(TEXT) or endings == {".parquet"}
    if not one_kind or not all(Path(name).is_file() for name in labels):
        return "labels are sorted on disk from CSV or TSV files, or from parquet files"
    return ""


def as_read(arguments: argparse.Namespace) -> tuple[tuple[str, str, str], str] | None:
    """Return what a file calls task, worker and label, and its separator, as told from its first rows.

    None where a row is not one label, or not all files are alike.
    """
    found = {_of_first_rows(name, arguments) for name in arguments.labels}
    return found.pop() if len(found) == 1 else None


def named(arguments: argparse.Namespace) -> tuple[tuple[str, str, str], str]:
    """Return what `as_read` returns, or raise a CofactorError where files are absent or that is None."""
    absent = [name for name in arguments.labels if not Path(name).is_file()]
    if absent:
        raise CofactorError(f"no such file: {listing(absent)}")
    check_different((arguments.task, arguments.worker, arguments.label))
    found = as_read(arguments)
    if found is None:
        raise CofactorError(f"{NOT_TOLD}, or aggregate in memory")
    return found


def _of_first_rows(name: str, arguments: argparse.Namespace) -> tuple[tuple[str, str, str], str] | None:
    wanted = (arguments.task, arguments.worker, arguments.label)
    frame, sep = _first_rows(Path(name), wanted, arguments.sep)
    same = renamed_columns(frame, wanted)
    names = dict(zip(map(str, same.columns), (str(column).strip() for column in frame.columns), strict=True))
    if all(column in names for column in wanted):
        return (names[wanted[0]], names[wanted[1]], names[wanted[2]]), sep
    found = recognised(same, wanted)
    check_columns(found, wanted)
    task, worker, label = (*found.attrs.get(TAKEN, ()), "", "", "")[:3]
    if not {task, worker, label} <= set(names) or not found[list(wanted)].equals(
        same[[task, worker, label]].set_axis(list(wanted), axis=1)
    ):
        return None
    return (names[task], names[worker], names[label]), sep


def _first_rows(path: Path, columns: Sequence[str], sep: str | None) -> tuple[pd.DataFrame, str]:
    """Return the first rows of a file as text, and its separator."""
    if path.suffix == ".parquet":
        with reading_parquet(path):
            from pyarrow import parquet

            file = parquet.ParquetFile(path)
            names = file.schema_arrow.names
            refuse_twice([name for name in dict.fromkeys(names) if names.count(name) > 1])
            rows = next(file.iter_batches(FIRST), None)
            empty = pd.DataFrame(columns=names, dtype=object)
            return (empty if rows is None else rows.to_pandas(ignore_metadata=True).astype(str).astype(object)), ","
    first = next(text_pieces(path, columns, sep, FIRST), pd.DataFrame())
    return first, first.attrs.get(SEPARATOR, ",")


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


def machine_memory() -> float:
    """Return the bytes of memory of this machine; without end where it does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")

"""``cofactor shard`` and ``cofactor moments``, and ``aggregate --moments``: labels that do not fit into memory."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

import cofactor as cf
from cofactor.cli.output import check_output
from cofactor.core.files import whole_file
from cofactor.crowd.moments import CrowdMoments
from cofactor.crowd.sharding import shard_labels
from cofactor.crowd.shards import VOCABULARY, LabelShards, forget_counts

DEFAULT_METHOD = "RobSymNMF-EM"


def add(commands: Any) -> None:
    """Add the commands."""
    _add_shard(commands)
    _add_moments(commands)


def _add_shard(commands: Any) -> None:
    about = "Group a file of labels by task into parquet shards, in bounded memory."
    command = commands.add_parser("shard", help=about, description=about)
    command.add_argument("labels", nargs="+", help="CSV (UTF-8) or parquet files with columns task, worker, label")
    command.add_argument("-o", "--output", type=Path, required=True, help="folder for the shards")
    command.add_argument("--force", action="store_true", help="replace the folder if it holds shards")
    command.add_argument("--shards", type=int, help="how many (default: one per million labels)")
    for column in ("task", "worker", "label"):
        command.add_argument(f"--{column}", default=column, metavar="COLUMN", help=f"the {column} column's name")
    conflicts = ("error", "first", "last")
    command.add_argument("--conflicts", choices=conflicts, default="error", help="if a worker labelled a task twice")
    command.add_argument("--sep", default=",", help="between the columns of a CSV (default: a comma)")
    command.add_argument("--memory", default="1GB", help="for sorting (default: 1GB)")
    command.set_defaults(run=_shard)


def _add_moments(commands: Any) -> None:
    about = "Count the label pairs of shards; a run that was stopped goes on where it was."
    command = commands.add_parser("moments", help=about, description=about)
    command.add_argument("labels", nargs="+", help="shards, or their folder")
    command.add_argument("-o", "--output", type=Path, required=True, help=".npz file to write")
    command.add_argument("--force", action="store_true", help="overwrite the output if it exists")
    command.add_argument("--jobs", type=int, default=1, help="processes that count at the same time (default: 1)")
    command.set_defaults(run=_moments)


def _shard(arguments: argparse.Namespace) -> None:
    folder = arguments.output
    _check_folder(folder, arguments.force, arguments.labels)
    columns = (arguments.task, arguments.worker, arguments.label)
    new = folder.with_name(f".{folder.name}.new")
    if new.exists():  # of a run that was stopped
        shutil.rmtree(new)
    options = {"conflicts": arguments.conflicts, "sep": arguments.sep, "memory": arguments.memory}
    shards = shard_labels(arguments.labels, new, arguments.shards, columns, **options)
    if folder.exists():
        shutil.rmtree(folder)
    new.rename(folder)
    print(f"wrote {folder}: {len(shards.paths)} shards, {len(shards.workers)} workers, {len(shards.classes)} classes")


def _check_folder(folder: Path, force: bool, inputs: Sequence[str]) -> None:
    """Refuse to replace anything but a folder of shards, and that only by force."""
    if not folder.parent.is_dir():
        raise cf.CofactorError(f"{folder}: there is no folder {folder.parent}")
    if not folder.exists():
        return
    ours = folder.is_dir() and all(path.name == VOCABULARY or path.suffix == ".parquet" for path in folder.iterdir())
    if not ours:
        raise cf.CofactorError(f"{folder} holds other things than shards: name another output")
    if any(folder.resolve() in Path(name).resolve().parents for name in inputs):
        raise cf.CofactorError(f"{folder} is the folder of one of the inputs: name another output")
    if not force:
        raise cf.CofactorError(f"{folder} exists: name another output, or replace it with --force")


def _moments(arguments: argparse.Namespace) -> None:
    check_output(arguments.output, arguments.force, tuple(arguments.labels))
    shards = LabelShards.open(*arguments.labels)
    kept = arguments.output.with_name(f".{arguments.output.name}.parts")
    moments = shards.count(kept, arguments.jobs, verbose=True)
    with whole_file(arguments.output) as part:
        moments.save(part)
    forget_counts(kept)
    print(f"wrote {arguments.output}: {moments.n_labels} labels of {moments.n_tasks} tasks, {len(shards.paths)} shards")


def aggregate(arguments: argparse.Namespace) -> None:
    """Fit a method to moments, and label the shards one by one."""
    if arguments.truth:
        raise cf.CofactorError("--truth does not go with --moments: compare the consensus with the truth afterwards")
    shards, name = LabelShards.open(*arguments.labels), arguments.method or DEFAULT_METHOD
    moments = CrowdMoments.load(arguments.moments)
    method = cf.crowd.METHODS[name](random_state=0, verbose=True)
    model, result = shards.fit(method, moments, arguments.rounds, verbose=True)
    print(f"{moments.n_tasks} tasks, {len(moments.workers)} workers, {len(moments.classes)} classes")
    print(f"{name}: {'converged' if result.converged else 'NOT CONVERGED'}, {result.reason}")
    if arguments.output:
        with whole_file(arguments.output) as part:
            write = write_parquet if arguments.output.suffix == ".parquet" else write_csv
            write(part, shards.consensus(model))
        print(f"wrote {arguments.output}: {moments.n_tasks} tasks")


def write_csv(path: Path, frames: Iterable[pd.DataFrame]) -> None:
    """Write frames one below another."""
    for number, frame in enumerate(frames):
        frame.to_csv(path, index=False, header=number == 0, mode="a" if number else "w")


def write_parquet(path: Path, frames: Iterable[pd.DataFrame]) -> None:
    """Write frames one below another."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for frame in frames:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer:
        writer.close()

"""``cofactor shard`` and ``cofactor moments``, and ``aggregate --moments``: labels that do not fit into memory."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import cofactor as cf
from cofactor.cli.output import Writer, check_output
from cofactor.core.files import restore, whole_file
from cofactor.crowd.moments import CrowdMoments
from cofactor.crowd.sharding import shard_labels
from cofactor.crowd.shards import VOCABULARY, LabelShards, forget_counts
from cofactor.crowd.tables import workers_frame


def shard(arguments: argparse.Namespace) -> None:
    """Make shards."""
    folder = arguments.output
    _check_folder(folder, arguments.force, arguments.labels)
    columns = (arguments.task, arguments.worker, arguments.label)
    options = {"conflicts": arguments.conflicts, "sep": arguments.sep, "memory": arguments.memory}
    shards = shard_labels(arguments.labels, folder, arguments.shards, columns, replace=arguments.force, **options)
    print(f"wrote {folder}: {len(shards.paths)} shards, {len(shards.workers)} workers, {len(shards.classes)} classes")


def _check_folder(folder: Path, force: bool, inputs: Sequence[str]) -> None:
    """Refuse to replace anything but a folder of shards, and that only by force."""
    if not folder.parent.is_dir():
        raise cf.CofactorError(f"{folder}: there is no folder {folder.parent}")
    restore(folder)
    if not folder.exists():
        return
    ours = folder.is_dir() and all(path.name == VOCABULARY or path.suffix == ".parquet" for path in folder.iterdir())
    if not ours:
        raise cf.CofactorError(f"{folder} holds other things than shards: name another output")
    if any(folder.resolve() in Path(name).resolve().parents for name in inputs):
        raise cf.CofactorError(f"{folder} is the folder of one of the inputs: name another output")
    if not force:
        raise cf.CofactorError(f"{folder} exists: name another output, or replace it with --force")


def moments(arguments: argparse.Namespace) -> None:
    """Count the label pairs of shards."""
    check_output(arguments.output, arguments.force, tuple(arguments.labels))
    shards = LabelShards.open(*arguments.labels)
    kept = arguments.output.with_name(f".{arguments.output.name}.parts")
    counted = shards.count(kept, arguments.jobs, verbose=True)
    with whole_file(arguments.output) as part:
        counted.save(part)
    forget_counts(kept)
    print(f"wrote {arguments.output}: {counted.n_labels} labels of {counted.n_tasks} tasks, {len(shards.paths)} shards")


def aggregate(arguments: argparse.Namespace, writer: Writer) -> None:
    """Fit a method to moments, and label the shards one by one."""
    whole = ("truth", "gold", "report", "posterior", "overruled")
    asked = [f"--{name}" for name in whole if getattr(arguments, name)]
    if asked:
        raise cf.CofactorError(f"{', '.join(asked)}: needs all labels in memory, and does not go with --moments")
    shards, name = LabelShards.open(*arguments.labels), arguments.method
    moments = CrowdMoments.load(arguments.moments)
    method = cf.crowd.METHODS[name](random_state=0, verbose=True)
    result = shards.fit(method, moments, arguments.rounds, verbose=True).result_
    print(f"{moments.n_tasks} tasks, {len(moments.workers)} workers, {len(moments.classes)} classes")
    print(f"{name}: {'converged' if result.converged else 'NOT CONVERGED'}, {result.reason}")
    if arguments.output:
        writer.write(arguments.output, shards.consensus(method), f"{moments.n_tasks} tasks")
    if arguments.workers:
        writer.write(arguments.workers, [workers_frame(method)], f"{len(moments.workers)} workers")

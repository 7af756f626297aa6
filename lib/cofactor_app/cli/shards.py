"""``cofactor shard`` and ``cofactor moments``, and ``aggregate --moments``: labels that do not fit into memory."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import cofactor as cf
from cofactor.core.em import SoftCounts
from cofactor.core.files import restore, whole_file
from cofactor.core.lazy import pd
from cofactor.core.locks import beside
from cofactor.core.types import Floats
from cofactor.crowd.base import Aggregator
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.moments import CrowdMoments
from cofactor.crowd.tables import (
    confusion_frame,
    consensus_frame,
    overruled_frame,
    posterior_frame,
    surest_first,
    widened,
    workers_frame,
)
from cofactor_app.cli import facts, sampled, tell
from cofactor_app.cli.engines import at_once, is_folder, named
from cofactor_app.cli.known import judge, of_shards, owner_of
from cofactor_app.cli.output import STDOUT, Writer, reserved, write_page
from cofactor_app.scale.known import sample_of
from cofactor_app.scale.ordering import rising
from cofactor_app.scale.passes import Passes, bytes_of
from cofactor_app.scale.sharding import shard_labels
from cofactor_app.scale.shards import VOCABULARY, LabelShards
from cofactor_app.scale.threads import Threads

SORTING = "1GB"  # of memory, for labels that are sorted on the way


def shard(arguments: argparse.Namespace) -> None:
    """Make shards."""
    folder = arguments.output
    _check_folder(folder, arguments.force, arguments.labels)
    columns, sep = named(arguments)
    options = {"conflicts": arguments.conflicts, "sep": sep, "memory": arguments.memory}
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
    output = arguments.output.absolute()
    kept = beside(output, "parts")
    with reserved([arguments.output], arguments.force, tuple(arguments.labels)):
        shards = LabelShards.open(*arguments.labels)
        counted = shards.count(kept, arguments.jobs, verbose=True)
        with whole_file(output) as part:
            counted.save(part)
        shutil.rmtree(kept, ignore_errors=True)
    amounts = f"{counted.n_labels} labels of {counted.n_tasks} tasks"
    print(f"wrote {arguments.output}: {amounts}, {len(shards.paths)} shards")


def aggregate(arguments: argparse.Namespace, writer: Writer) -> None:
    """Fit a method to sums over tasks, and label the shards."""
    _check(arguments)
    memory, source = bytes_of(arguments.memory), " ".join(arguments.labels)
    with _sorted(arguments):
        shards = LabelShards.open(*arguments.labels)
        passes = Passes(shards, Threads(arguments.jobs), memory, _kept(arguments))
        passes = passes.merged(owner_of(arguments.method, passes))
        method, n_tasks = _fitted(arguments, passes)
        print(f"{n_tasks} tasks, {len(shards.workers)} workers, {len(shards.classes)} classes")
        result = method.result_
        end = f"{arguments.method}: {'converged' if result.converged else 'NOT CONVERGED'}, {result.reason}"
        tell([end, *facts.copies(method)])
        if arguments.truth:
            judge(arguments, passes, method)
        _write_tasks(arguments, writer, passes, method, f"{n_tasks} tasks")
        if arguments.workers:
            writer.write(arguments.workers, [workers_frame(method)], f"{len(shards.workers)} workers")
        if arguments.confusion:
            writer.write(arguments.confusion, [confusion_frame(method)], f"{len(shards.workers)} confusion matrices")
        if arguments.report:
            sample = sample_of(passes, sampled.MOST_SHOWN)
            write_page(arguments.report, sampled.page_of_sample(source, arguments.method, method, *sample))
        passes.forget()


def _write_tasks(arguments: argparse.Namespace, writer: Writer, passes: Passes, method: Aggregator, all_: str) -> None:
    """Write the tables with a row a task, shard by shard; overruled tasks, which are few, come into memory."""
    tables = partial(passes.shards.tables, method=method, passes=passes)
    if arguments.output:
        frames = tables(partial(_consensus, method=method, wide=arguments.wide))
        with _room(arguments, "order") as work:
            frames = rising(frames, "probability", work, SORTING) if arguments.sort else frames
            writer.write(arguments.output, frames, all_)
    if arguments.posterior:
        writer.write(arguments.posterior, tables(lambda labels, posterior: posterior_frame(posterior, labels)), all_)
    if arguments.overruled:
        parts = tables(lambda labels, posterior: overruled_frame(method, posterior, labels))
        overruled = surest_first(list(parts))
        writer.write(arguments.overruled, [overruled], f"{len(overruled)} tasks")


def _consensus(labels: CrowdLabels, posterior: Floats, method: Aggregator, wide: bool) -> pd.DataFrame:
    found = consensus_frame(labels, posterior, method)
    return widened(found, posterior, labels) if wide else found


def _check(arguments: argparse.Namespace) -> None:
    if whole := at_once(arguments):
        raise cf.CofactorError(f"{whole}: with shards, leave it out")
    if arguments.method not in cf.crowd.METHODS:
        raise cf.CofactorError(f"--method {arguments.method}: one of your own needs all labels in memory")


def _fitted(arguments: argparse.Namespace, passes: Passes) -> tuple[Aggregator, int]:
    """Return the method, fitted, and the number of tasks."""
    moments = CrowdMoments.load(arguments.moments) if arguments.moments else None
    method = cf.crowd.METHODS[arguments.method](random_state=0, verbose=True)
    if arguments.gold:
        return of_shards(arguments, method, passes, moments)
    sums = moments or passes.shards.votes(passes)
    fitted = passes.shards.fit(method, sums, arguments.rounds, verbose=True, passes=passes)
    return fitted, (sums if isinstance(sums, SoftCounts) else sums.votes).n_rows


@contextmanager
def _sorted(arguments: argparse.Namespace) -> Iterator[None]:
    """Sort labels that are no shards yet into some, beside the first output or in a temporary folder, for a while."""
    if arguments.moments or is_folder(arguments.labels):
        yield
        return
    columns, sep = named(arguments)
    with _room(arguments, "shards") as folder:
        options = {"conflicts": arguments.conflicts, "sep": sep, "memory": SORTING}
        try:
            shard_labels(arguments.labels, folder, None, columns, replace=True, **options)
            arguments.labels, arguments.jobs = [str(folder)], max(arguments.jobs, os.cpu_count() or 1)
            yield
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _room(arguments: argparse.Namespace, ending: str) -> Iterator[Path]:
    """Name a folder for a while, not made yet: beside the first output that is a file, or a temporary one."""
    first = _first_output(arguments)
    with TemporaryDirectory() if first is None else nullcontext("") as elsewhere:
        yield beside(first.absolute(), ending) if first else Path(elsewhere, ending)


def _kept(arguments: argparse.Namespace) -> Path | None:
    """Where rounds are kept for a run that goes on: beside the first output that is a file."""
    first = _first_output(arguments)
    return beside(first.absolute(), "rounds") if first else None


def _first_output(arguments: argparse.Namespace) -> Path | None:
    outputs = arguments.output, arguments.workers, arguments.posterior, arguments.overruled
    return next((path for path in outputs if path and path != STDOUT), None)

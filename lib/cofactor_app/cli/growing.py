"""``cofactor update``: labels that come in after a fit, which was kept in a file."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cofactor.core.errors import CofactorError
from cofactor.core.files import restore, whole_file
from cofactor.core.locks import locked
from cofactor.core.result import Result
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.tables import consensus_frame
from cofactor.reading.labels import read_labels
from cofactor_app.cli import engines, tell
from cofactor_app.cli.output import outputs, reserved
from cofactor_app.growing import CrowdFit, labels_of_classes

if TYPE_CHECKING:
    from cofactor_app.scale.grown import ShardsFit
    from cofactor_app.scale.shards import LabelShards

ADDRESS = re.compile("[a-z0-9+]{2,}:/")  # of a database; a path has one slash only
IN_DATABASE = (
    "labels in a database need none: insert new ones into their table, and run `cofactor aggregate --database` again"
)
HELD = "1GB"  # of labels from shards that stay in memory between rounds
MANY_NEW = 2  # times the labels that chose types, copies and design effect: then they should be chosen anew


def keep(fit: CrowdFit, path: Path) -> None:
    """Write a fit to a file, and say so."""
    with whole_file(path) as part:
        fit.save(part)
    print(f"wrote {path}: the fit and its {fit.labels.n_labels} labels, for `cofactor update`")


def keep_folder(method: Any, shards: LabelShards, n_tasks: int, folder: Path) -> None:
    """Keep a fit of WorkerTypes with its shards in a folder, and say so."""
    from cofactor_app.scale.grown import ShardsFit

    _told_of(ShardsFit.keep(method, shards, n_tasks, folder), folder)


def _told_of(fit: ShardsFit, folder: Path) -> None:
    print(f"wrote {folder}: the fit and its {fit.n_labels} labels, in shards, for `cofactor update`")


def folder_of(arguments: argparse.Namespace, inputs: Sequence[str | Path | None]) -> Path | None:
    """Return the folder that a kept fit is to take the place of; None where there is none.

    Raises a CofactorError for one that is no kept fit or an input, or without force.
    """
    if not arguments.model:
        return None
    restore(arguments.model)
    if not arguments.model.is_dir():
        return None
    _check_folder(arguments.model, arguments.force, inputs)
    return Path(arguments.model)


def _check_folder(folder: Path, force: bool, inputs: Sequence[str | Path | None]) -> None:
    from cofactor_app.scale.grown import FIT

    if not (folder / FIT).is_file():
        raise CofactorError(f"{folder} is a folder with other things than a kept fit: name another output")
    read = [Path(name) for name in inputs if name and Path(name).exists()]
    if any(folder.samefile(path) or folder.resolve() in path.resolve().parents for path in read):
        raise CofactorError(f"{folder} is one of the inputs: name another output")
    if not force:
        raise CofactorError(f"{folder} exists: name another output, or overwrite it with --force")


def update(arguments: argparse.Namespace) -> None:
    """Add labels to a fit that was kept; the new one takes its place, then the table is written.

    A run that is killed between the two can be repeated: labels that are there already count once.
    """
    if ADDRESS.match(str(arguments.model)) and not arguments.model.exists():
        raise CofactorError(f"{arguments.model}: {IN_DATABASE}")
    restore(arguments.model)
    (_update_folder if arguments.model.is_dir() else _update_file)(arguments)


def _update_folder(arguments: argparse.Namespace) -> None:
    from cofactor_app.scale.grown import ShardsFit
    from cofactor_app.scale.passes import Passes, bytes_of
    from cofactor_app.scale.threads import Threads

    read = [arguments.labels, arguments.model]
    with locked(arguments.model), outputs(arguments, [arguments.output], read) as writer:
        engines.refuse_much(arguments.labels)
        before = ShardsFit.load(arguments.model)
        new = _new_labels(arguments, before.shards.classes)
        fit = before.updated(new, arguments.model, arguments.conflicts, Threads(-1), bytes_of(HELD))
        tell(_facts_of_shards(arguments.labels, before, fit))
        if fit.shards is not before.shards:
            _told_of(fit, arguments.model)
        if arguments.output:
            passes = Passes(fit.shards, Threads(-1))
            writer.write(arguments.output, fit.shards.consensus(fit.method, passes), f"{fit.n_tasks} tasks")


def _new_labels(arguments: argparse.Namespace, classes: list[object]) -> CrowdLabels:
    columns = (arguments.task, arguments.worker, arguments.label)
    frame = read_labels(arguments.labels, columns, arguments.encoding, arguments.sep)
    return labels_of_classes(frame, columns, classes, arguments.conflicts)


def _facts_of_shards(source: str, before: ShardsFit, fit: ShardsFit) -> list[str]:
    workers, classes = fit.shards.workers, fit.shards.classes
    came = [fit.n_labels - before.n_labels, fit.n_tasks - before.n_tasks, len(workers) - len(before.shards.workers)]
    now = [fit.n_tasks, len(workers), len(classes), fit.n_labels]
    return _lines(source, came, now, fit.method.result_, fit.n_chosen, (fit.n_moved, before.n_tasks))


def _lines(
    source: str, came: Sequence[int], now: Sequence[int], result: Result, n_chosen: int, moved: tuple[int, int]
) -> list[str]:
    """Return lines about what came, what there is now, how the rounds went, and which old tasks have other labels."""
    lines = [
        "{}: {} new labels, {} new tasks, {} new workers".format(source, *came),
        "all: {} tasks, {} workers, {} classes, {} labels".format(*now),
        f"WorkerTypes: {'converged' if result.converged else 'NOT CONVERGED'}, {result.reason}",
        "{} of {} old tasks have another label now".format(*moved),
    ]
    if now[-1] >= MANY_NEW * n_chosen:
        lines.append(
            f"types of workers, copies and design effect were chosen from the first {n_chosen} labels: "
            "run `cofactor aggregate --model` on all labels to choose them anew"
        )
    return lines


def _update_file(arguments: argparse.Namespace) -> None:
    with (
        reserved([arguments.model], force=True, inputs=(arguments.labels,)),
        outputs(arguments, [arguments.output], (arguments.labels, arguments.model)) as writer,
    ):
        before = CrowdFit.load(arguments.model)
        fit = before.updated(_new_labels(arguments, before.labels.classes), arguments.conflicts)
        posterior = fit.method.predict_proba(fit.labels)
        tell(_facts(arguments.labels, before, fit))
        keep(fit, arguments.model)
        if arguments.output:
            found = consensus_frame(fit.labels, posterior, fit.method)
            writer.write(arguments.output, [found], f"{len(posterior)} tasks")


def _facts(source: str, before: CrowdFit, fit: CrowdFit) -> list[str]:
    old, now = before.labels, fit.labels
    changed = before.method.predict(old) != fit.method.predict(now)[: old.n_tasks]
    came = [now.n_labels - old.n_labels, now.n_tasks - old.n_tasks, now.n_workers - old.n_workers]
    there = [now.n_tasks, now.n_workers, now.n_classes, now.n_labels]
    return _lines(source, came, there, fit.method.result_, fit.n_chosen, (int(changed.sum()), old.n_tasks))

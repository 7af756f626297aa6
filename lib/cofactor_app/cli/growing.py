"""``cofactor update``: labels that come in after a fit, which was kept in a file."""

from __future__ import annotations

import argparse
from pathlib import Path

from cofactor.core.files import whole_file
from cofactor.crowd.tables import consensus_frame
from cofactor_app.cli import tell
from cofactor_app.cli.output import outputs, reserved
from cofactor_app.growing import CrowdFit

MANY_NEW = 2  # times the labels that chose types, copies and design effect: then they should be chosen anew


def keep(fit: CrowdFit, path: Path) -> None:
    """Write a fit to a file, and say so."""
    with whole_file(path) as part:
        fit.save(part)
    print(f"wrote {path}: the fit and its {fit.labels.n_labels} labels, for `cofactor update`")


def update(arguments: argparse.Namespace) -> None:
    """Add labels to a fit that was kept; the new one takes its place, then the table is written.

    A run that is killed between the two can be repeated: labels that are there already count once.
    """
    with (
        reserved([arguments.model], force=True, inputs=(arguments.labels,)),
        outputs(arguments, [arguments.output], (arguments.labels, arguments.model)) as writer,
    ):
        before = CrowdFit.load(arguments.model)
        columns = (arguments.task, arguments.worker, arguments.label)
        conflicts = arguments.conflicts
        new = before.read(arguments.labels, columns, conflicts, arguments.encoding, arguments.sep)
        fit = before.updated(new, conflicts)
        posterior = fit.method.predict_proba(fit.labels)
        tell(_facts(arguments.labels, before, fit))
        keep(fit, arguments.model)
        if arguments.output:
            found = consensus_frame(fit.labels, posterior, fit.method)
            writer.write(arguments.output, [found], f"{len(posterior)} tasks")


def _facts(source: str, before: CrowdFit, fit: CrowdFit) -> list[str]:
    """Return lines about what came, how the rounds went, and which labels of old tasks are others now."""
    old, now, result = before.labels, fit.labels, fit.method.result_
    changed = before.method.predict(old) != fit.method.predict(now)[: old.n_tasks]
    lines = [
        f"{source}: {now.n_labels - old.n_labels} new labels, {now.n_tasks - old.n_tasks} new tasks, "
        f"{now.n_workers - old.n_workers} new workers",
        f"all: {now.n_tasks} tasks, {now.n_workers} workers, {now.n_classes} classes, {now.n_labels} labels",
        f"WorkerTypes: {'converged' if result.converged else 'NOT CONVERGED'}, {result.reason}",
        f"{changed.sum()} of {old.n_tasks} old tasks have another label now",
    ]
    if now.n_labels >= MANY_NEW * fit.n_chosen:
        lines.append(
            f"types of workers, copies and design effect were chosen from the first {fit.n_chosen} labels: "
            "run `cofactor aggregate --model` on all labels to choose them anew"
        )
    return lines

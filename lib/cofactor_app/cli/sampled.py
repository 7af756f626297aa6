"""What is shown of labels that do not fit into memory: a sample of the tasks, which is said."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import cofactor as cf
from cofactor.crowd.base import Aggregator
from cofactor.crowd.labels import CrowdLabels
from cofactor_app.cli import engines, facts
from cofactor_app.planning.asking import NextTasks
from cofactor_app.scale.known import sample_of
from cofactor_app.scale.passes import Passes
from cofactor_app.scale.sharding import shard_labels
from cofactor_app.scale.shards import LabelShards

MOST_READ = 5_000_000  # labels of a sample in place of more than memory holds
MOST_SHOWN = 500_000  # labels of the sample behind a page


def page_of_sample(source: str, name: str, method: Aggregator, labels: CrowdLabels, step: int) -> str:
    """Return the report of a method that was fitted to all labels, on those of one task in `step`, which is said.

    Without intervals.
    """
    from cofactor_app.pages.crowd import crowd_page

    print(f"the page shows {_of(step)}")
    source += f" (one task in {step})" * (step > 1)
    posterior = method.predict_proba(labels)
    lines = facts.summary(source, name, method, posterior, labels, None)
    about = facts.warnings_of(name, posterior, labels, None)
    said = f"This page shows {_of(step)}; the model was fitted to all labels, and no number has an interval"
    return crowd_page(source, name, method, labels, lines, cf.crowd.diagnose(labels), warnings=[said, *about])


def _of(step: int) -> str:
    return "all tasks" if step == 1 else f"one task in {step}, and its numbers of tasks and labels are those of these"


def labels_or_sample(arguments: argparse.Namespace) -> tuple[CrowdLabels | None, int]:
    """Return a sample of labels that are too many for memory, or in shards, and how many tasks stand behind each.

    It is said; no labels where all can be read. Files are sorted on disk on the way.
    """
    why = engines.sampled_instead(arguments)
    if not why:
        return None, 1
    with ExitStack() as ends:
        if engines.is_folder([arguments.labels]):
            shards = LabelShards.open(arguments.labels)
        else:
            columns, sep = engines.named(argparse.Namespace(**{**vars(arguments), "labels": [arguments.labels]}))
            folder = Path(ends.enter_context(TemporaryDirectory()), "shards")
            shards = shard_labels([arguments.labels], folder, None, columns, arguments.conflicts, sep)
        labels, step = sample_of(Passes(shards), MOST_READ)
    tasks = "all tasks" if step == 1 else f"one task in {step}; numbers of tasks and labels are those of these"
    print(f"{why}: what follows is about {tasks}")
    return labels, step


def of_all(found: NextTasks, step: int) -> NextTasks:
    """Return what was found on a sample of one task in `step`, with errors and needed labels of all tasks."""
    fall, needed = (found.error - found.expected_error) / step, found.needed
    return replace(found, expected_error=found.error - fall, needed=None if needed is None else needed * step)

"""The command line: ``cofactor aggregate``, ``cofactor diagnose``, ``cofactor datasets``."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import cofactor as cf
from cofactor.core.errors import listing
from cofactor.core.tables import Ints
from cofactor.crowd.base import Aggregator
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.diagnose import FEW_PER_WORKER
from cofactor.crowd.labels import read_truth
from cofactor.data.registry import find

DEFAULT_METHOD = "MultiStart-EM"
SHOWN = 3  # workers listed at each end of the reliability ranking


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (1: the input cannot be used, 2: wrong usage, 130: interrupted)."""
    arguments = _parser().parse_args(argv)
    try:
        with _notes():
            arguments.run(arguments)
        return 0
    except cf.CofactorError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of a pipe has gone: not our failure
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="cofactor", description="Hidden structure from pairwise evidence.")
    parser.add_argument("--version", action="version", version=f"cofactor {cf.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    _add_aggregate(commands)
    _add_diagnose(commands)
    _add_datasets(commands)
    return parser


def _add_aggregate(commands: Any) -> None:
    about = "Turn crowd labels into one label per task, with its probability."
    command = commands.add_parser("aggregate", help=about, description=about)
    _add_labels(command)
    command.add_argument("-o", "--output", type=Path, help="CSV to write: task, label, probability, n_labels")
    command.add_argument("--force", action="store_true", help="overwrite the output if it exists")
    method = {"choices": list(cf.crowd.METHODS), "default": DEFAULT_METHOD, "metavar": "METHOD"}
    command.add_argument("--method", **method, help=f"{', '.join(cf.crowd.METHODS)} (default: {DEFAULT_METHOD})")
    command.add_argument("--truth", help="CSV with columns task and truth, to report the error")
    command.set_defaults(run=_aggregate)


def _add_diagnose(commands: Any) -> None:
    about = "Check crowd labels before aggregation: what can be told apart, and by which methods."
    command = commands.add_parser("diagnose", help=about, description=about)
    _add_labels(command)
    command.set_defaults(run=lambda arguments: print(cf.crowd.diagnose(_read(arguments)[0])))


def _add_datasets(commands: Any) -> None:
    about = "List, fetch or verify data sets."
    command = commands.add_parser("datasets", help=about, description=about)
    command.add_argument("action", nargs="?", choices=list(DATASET_ACTIONS), default="list")
    command.add_argument("names", nargs="*", help="data sets (default: all)")
    command.set_defaults(run=lambda arguments: DATASET_ACTIONS[arguments.action](arguments.names))


def _add_labels(command: argparse.ArgumentParser) -> None:
    command.add_argument("labels", help="a CSV with columns task, worker, label; or a data set such as bluebird")
    for column in ("task", "worker", "label"):
        command.add_argument(f"--{column}", default=column, metavar="COLUMN", help=f"the {column} column's name")
    conflicts = ("error", "first", "last")
    command.add_argument("--conflicts", choices=conflicts, default="error", help="if a worker labelled a task twice")
    command.add_argument("--encoding", default="utf-8-sig", help="of the CSV (default: UTF-8)")
    command.add_argument("--sep", default=",", help="between the columns of the CSV (default: a comma)")


def _read(arguments: argparse.Namespace) -> tuple[cf.CrowdLabels, Ints | None]:
    """Labels and, where known, truth of a CSV file or of a data set."""
    source = arguments.labels
    if source.isidentifier() and not Path(source).exists():
        dataset = cf.load(source)
        return dataset.labels, dataset.truth
    labels = cf.CrowdLabels.from_csv(
        source,
        arguments.task,
        arguments.worker,
        arguments.label,
        conflicts=arguments.conflicts,
        encoding=arguments.encoding,
        sep=arguments.sep,
    )
    return labels, None


def _aggregate(arguments: argparse.Namespace) -> None:
    if arguments.output:
        _check_output(arguments.output, arguments.force, (arguments.labels, arguments.truth))
    labels, truth = _read(arguments)
    if arguments.truth:
        truth = read_truth(arguments.truth, labels, arguments.encoding)
    method = cf.crowd.METHODS[arguments.method](random_state=0, verbose=True).fit(labels)
    print(_summary(arguments.labels, arguments.method, method, labels))
    if truth is not None:
        print(_errors(arguments.method, method, labels, truth))
    if arguments.output:
        write_consensus(arguments.output, method, labels)
        print(f"wrote {arguments.output}: {labels.n_tasks} tasks")


def _summary(source: str, name: str, method: Aggregator, labels: cf.CrowdLabels) -> str:
    cooc = Cooccurrences.from_moments(cf.pairwise_moments(labels.table))
    result = method.result_
    start = f", best start {method.best_start_}" if isinstance(method, cf.crowd.MultiStartEM) else ""
    lines = [
        f"{source}: {labels.n_tasks} tasks, {labels.n_workers} workers, {labels.n_classes} classes, "
        f"{labels.n_labels} labels",
        f"classes: {listing(labels.classes)}",
        f"missing co-occurrences: {cooc.missing_share:.1%} of worker pairs",
        f"{name}{start}: {'converged' if result.converged else 'NOT CONVERGED'}, {result.reason}",
        *_reliability(method, labels),
    ]
    return "\n".join(lines)


def _reliability(method: Aggregator, labels: cf.CrowdLabels) -> Iterator[str]:
    """Yield lines for the most and least reliable workers by estimated accuracy."""
    accuracy = cf.crowd.worker_accuracy(method.model_)
    given = labels.table.entries_per_variable
    judged = np.flatnonzero(given >= FEW_PER_WORKER)
    ranking = judged[np.argsort(-accuracy[judged], kind="stable")]
    shown = min(SHOWN, (len(ranking) + 1) // 2)
    for title, chosen in (("most", ranking[:shown]), ("least", ranking[::-1][:shown])):
        workers = ", ".join(f"{labels.workers[m]} {accuracy[m]:.0%} ({given[m]} labels)" for m in chosen)
        yield f"{title} reliable workers, estimated accuracy: {workers or f'none gave {FEW_PER_WORKER} labels'}"


def _errors(name: str, method: Aggregator, labels: cf.CrowdLabels, truth: Ints) -> str:
    votes = cf.crowd.error_rate(cf.crowd.vote_shares(labels), truth)
    ours = cf.crowd.error_rate(method.predict_proba(labels), truth)
    known = int(np.sum(truth >= 0))
    return f"error on the {known} tasks with known truth: majority vote {votes:.2%}, {name} {ours:.2%}"


def write_consensus(path: Path, method: Aggregator, labels: cf.CrowdLabels) -> None:
    """Write task, label, posterior probability of the label, and number of labels; whole or not at all."""
    posterior = method.predict_proba(labels)
    predicted = method.predict(labels)
    columns = {
        "task": labels.tasks,
        "label": [labels.classes[k] for k in predicted],
        "probability": posterior[np.arange(labels.n_tasks), predicted].round(6),
        "n_labels": labels.table.entries_per_row,
    }
    part = path.with_name(f".{path.name}.part")
    try:
        pd.DataFrame(columns).to_csv(part, index=False)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _check_output(path: Path, force: bool, inputs: tuple[str | None, ...]) -> None:
    if path.exists() and (not path.is_file() or any(name and path.samefile(name) for name in inputs)):
        raise cf.CofactorError(f"{path} is no ordinary file, or one of the inputs: name another output")
    if path.exists() and not force:
        raise cf.CofactorError(f"{path} exists: name another output, or overwrite it with --force")
    if not path.parent.is_dir():
        raise cf.CofactorError(f"{path}: there is no folder {path.parent}")


def _list_datasets(names: Sequence[str]) -> None:
    frame = cf.datasets()
    known = [find(name).name for name in names]
    chosen = frame[frame["name"].isin(known)] if names else frame
    print(chosen.drop(columns=["title", "licence"]).assign(title=chosen["title"]).to_string(index=False))


def _fetch_datasets(names: Sequence[str]) -> None:
    for name in names or cf.datasets()["name"]:
        cf.data.fetch(name)
        print(f"{name}: available offline")


def _verify_datasets(names: Sequence[str]) -> None:
    for name in names or cf.datasets()["name"]:
        for file, status in cf.data.verify(name).items():
            print(f"{name}: {file}: {status}")


DATASET_ACTIONS: dict[str, Callable[[Sequence[str]], None]] = {
    "list": _list_datasets,
    "fetch": _fetch_datasets,
    "verify": _verify_datasets,
}


@contextmanager
def _notes() -> Iterator[None]:
    """Show warnings as one-line notes, each once."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            print(f"note: {message}", file=sys.stderr)

    shown: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield

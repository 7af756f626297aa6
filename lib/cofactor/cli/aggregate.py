"""``cofactor aggregate``, ``diagnose`` and ``plan``: crowd labels in, consensus, verdicts or labels needed out."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import cofactor as cf
from cofactor.cli import shards
from cofactor.cli.output import check_output
from cofactor.core.errors import listing
from cofactor.core.files import whole_file
from cofactor.core.tables import Ints
from cofactor.crowd import NEED_FEATURES
from cofactor.crowd.base import Aggregator
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.diagnose import FEW_PER_WORKER
from cofactor.crowd.labels import read_truth
from cofactor.crowd.shards import consensus_frame
from cofactor.pages.crowd import crowd_page
from cofactor.teaching.figures.planning import draw_plan
from cofactor.teaching.style import to_png

DEFAULT_METHOD = "MultiStart-EM"
DRAWS = 200  # refits behind an interval of the report
PLANNED = ("MajorityVote", "MV-EM")  # fits of the slower methods, hundreds of times, would take minutes
AMOUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)  # labels per task
LEAST_PLANNED = 15  # planned for at least; where there are many labels now, up to twice as many
SHOWN = 3  # workers listed at each end of the reliability ranking


def add(commands: Any) -> None:
    """Add the commands."""
    _add_aggregate(commands)
    _add_diagnose(commands)
    _add_plan(commands)


def _add_aggregate(commands: Any) -> None:
    about = "Turn crowd labels into one label per task, with its probability."
    command = commands.add_parser("aggregate", help=about, description=about)
    _add_labels(command, nargs="+")
    command.add_argument(
        "-o",
        "--output",
        type=Path,
        help="CSV (with --moments, also .parquet) to write: task, label, probability, n_labels",
    )
    command.add_argument("--report", type=Path, help="HTML page to write: doubtful tasks, workers, checks")
    command.add_argument(
        "--draws", type=int, default=DRAWS, help=f"with --report: refits for its intervals (default: {DRAWS}; 0: none)"
    )
    command.add_argument(
        "--plan", type=float, metavar="ERROR", help="with --report: also how many labels per task this error takes"
    )
    command.add_argument("--jobs", type=int, default=1, help="with --report: processes (default: 1)")
    command.add_argument("--force", action="store_true", help="overwrite outputs if they exist")
    command.add_argument(
        "--moments", type=Path, help="from `cofactor moments`; LABELS are then the shards counted there"
    )
    command.add_argument("--rounds", type=int, default=500, help="with --moments: most rounds of EM (default: 500)")
    offered = [name for name in cf.crowd.METHODS if name not in NEED_FEATURES]
    method = {"choices": offered, "metavar": "METHOD"}
    default = f"default: {DEFAULT_METHOD}, with --moments {shards.DEFAULT_METHOD}"
    command.add_argument("--method", **method, help=f"{', '.join(cf.crowd.METHODS)} ({default})")
    command.add_argument("--truth", help="CSV with columns task and truth, to report the error")
    command.set_defaults(run=_aggregate)


def _add_diagnose(commands: Any) -> None:
    about = "Check crowd labels before aggregation: what can be told apart, and by which methods."
    command = commands.add_parser("diagnose", help=about, description=about)
    _add_labels(command)
    command.set_defaults(run=lambda arguments: print(cf.crowd.diagnose(_read(arguments.labels, arguments)[0])))


def _add_plan(commands: Any) -> None:
    about = "Simulate how many labels per task a wanted error takes, for a crowd like this one."
    command = commands.add_parser("plan", help=about, description=about)
    _add_labels(command)
    command.add_argument("--error", type=float, default=0.05, help="share of tasks labelled wrongly (default: 0.05)")
    command.add_argument(
        "--methods", nargs="+", default=PLANNED, metavar="METHOD", help=f"default: {' '.join(PLANNED)}"
    )
    command.add_argument("--most", type=int, default=15, help="labels per task to try, from 1 on (default: 15)")
    command.add_argument("--truth", help="CSV with columns task and truth: how hard tasks are, from 20 truths on")
    command.add_argument("--trials", type=int, default=30, help="simulated crowds (default: 30)")
    command.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    command.add_argument("--figure", type=Path, help="PNG to write: error against labels per task")
    command.add_argument("--force", action="store_true", help="overwrite the figure if it exists")
    command.set_defaults(run=_plan)


def _plan(arguments: argparse.Namespace) -> None:
    if arguments.figure:
        check_output(arguments.figure, arguments.force, (arguments.labels, arguments.truth))
    labels, truth = _read(arguments.labels, arguments)
    if arguments.truth:
        truth = read_truth(arguments.truth, labels, arguments.encoding)
    amounts = range(1, arguments.most + 1)
    found = cf.crowd.plan(
        *(labels, arguments.error, arguments.methods, amounts, truth),
        n_trials=arguments.trials,
        random_state=0,
        n_jobs=arguments.jobs,
        verbose=True,
    )
    print(found)
    if arguments.figure:
        with whole_file(arguments.figure) as part:
            part.write_bytes(to_png(draw_plan(found)))
        print(f"wrote {arguments.figure}")


def _add_labels(command: argparse.ArgumentParser, **many: Any) -> None:
    command.add_argument(
        "labels", **many, help="a CSV with columns task, worker, label; or a data set such as bluebird"
    )
    for column in ("task", "worker", "label"):
        command.add_argument(f"--{column}", default=column, metavar="COLUMN", help=f"the {column} column's name")
    conflicts = ("error", "first", "last")
    command.add_argument("--conflicts", choices=conflicts, default="error", help="if a worker labelled a task twice")
    command.add_argument("--encoding", default="utf-8-sig", help="of the CSV (default: UTF-8)")
    command.add_argument("--sep", default=",", help="between the columns of the CSV (default: a comma)")


def _read(source: str, arguments: argparse.Namespace) -> tuple[cf.CrowdLabels, Ints | None]:
    """Labels and, where known, truth of a CSV file or of a data set."""
    if source.isidentifier() and not Path(source).exists():
        dataset = cf.data.load_crowd(source)
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
    for output in filter(None, (arguments.output, arguments.report)):
        check_output(output, arguments.force, (*arguments.labels, arguments.truth, arguments.moments))
    if arguments.moments:
        if arguments.report:
            raise cf.CofactorError("--report needs the labels in memory: leave out --moments, or the report")
        shards.aggregate(arguments)
        return
    if arguments.plan is not None and not arguments.report:
        raise cf.CofactorError("--plan is shown on the page of --report: name one, or run `cofactor plan`")
    if len(arguments.labels) > 1:
        raise cf.CofactorError("one file of labels at a time; many shards need --moments")
    (source,), name = arguments.labels, arguments.method or DEFAULT_METHOD
    labels, truth = _read(source, arguments)
    if arguments.truth:
        truth = read_truth(arguments.truth, labels, arguments.encoding)
    method = cf.crowd.METHODS[name](random_state=0, verbose=True).fit(labels)
    facts = _summary(source, name, method, labels)
    if truth is not None:
        facts.append(_errors(name, method, labels, truth))
    print("\n".join(facts))
    if arguments.output:
        write_consensus(arguments.output, method, labels)
        print(f"wrote {arguments.output}: {labels.n_tasks} tasks")
    if arguments.report:
        page = _page(arguments, name, method, labels, facts, truth)
        with whole_file(arguments.report) as part:
            part.write_text(page, encoding="utf8")
        print(f"wrote {arguments.report}")


def _page(
    arguments: argparse.Namespace,
    name: str,
    method: Aggregator,
    labels: cf.CrowdLabels,
    facts: list[str],
    truth: Ints | None,
) -> str:
    """The report, with the intervals and the plan that were asked for."""
    work: dict[str, Any] = {"random_state": 0, "n_jobs": arguments.jobs, "verbose": True}
    found = cf.crowd.bootstrap(method, labels, arguments.draws, **work) if arguments.draws else None
    planned = None
    if arguments.plan is not None:
        amounts = [d for d in AMOUNTS if d <= max(LEAST_PLANNED, 2 * labels.n_labels / labels.n_tasks)]
        planned = cf.crowd.plan(labels, arguments.plan, PLANNED, amounts, truth, **work)
    return crowd_page(arguments.labels[0], name, method, labels, facts, cf.crowd.diagnose(labels), found, planned)


def _summary(source: str, name: str, method: Aggregator, labels: cf.CrowdLabels) -> list[str]:
    cooc = Cooccurrences.from_moments(cf.pairwise_moments(labels.table))
    result = method.result_
    start = f", best start {method.best_start_}" if isinstance(method, cf.crowd.MultiStartEM) else ""
    return [
        f"{source}: {labels.n_tasks} tasks, {labels.n_workers} workers, {labels.n_classes} classes, "
        f"{labels.n_labels} labels",
        f"classes: {listing(labels.classes)}",
        f"missing co-occurrences: {cooc.missing_share:.1%} of worker pairs",
        f"{name}{start}: {'converged' if result.converged else 'NOT CONVERGED'}, {result.reason}",
        *_reliability(method, labels),
    ]


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
    frame = consensus_frame(labels, method.predict_proba(labels), method.model_)
    with whole_file(path) as part:
        frame.to_csv(part, index=False)

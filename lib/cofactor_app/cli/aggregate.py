"""``cofactor aggregate``, ``diagnose`` and ``plan``: crowd labels in, consensus, verdicts or labels needed out."""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import cofactor as cf
from cofactor.core.checks import check_whole
from cofactor.core.errors import listing
from cofactor.core.files import whole_file
from cofactor.core.lazy import pd
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import Aggregator
from cofactor.crowd.bootstrap import CrowdBootstrap
from cofactor.crowd.evidence import gold_codes
from cofactor.crowd.readings import Readings, View, believed, readings
from cofactor.crowd.tables import (
    confusion_frame,
    consensus_frame,
    graded_frame,
    overruled_frame,
    posterior_frame,
    widened,
)
from cofactor.crowd.worker_types import WorkerTypes
from cofactor.crowd.workers import workers_table
from cofactor.reading.labels import read_database
from cofactor.reading.records import GOLD
from cofactor.reading.truth import codes_of, read_task_and_truth, read_truth
from cofactor_app import planning
from cofactor_app.cli import facts, grades, tell, visible
from cofactor_app.cli.methods import DEFAULT
from cofactor_app.cli.output import Writer, outputs, reserved, write_page
from cofactor_app.cli.parser import PLANNED
from cofactor_app.cli.parts import noted

AMOUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)  # labels per task
READING = ("task", "worker", "label", "conflicts", "classes", "ignore", "spelling", "encoding", "sep")
SHOWN = 4  # files that are named one by one
PREVIEWED = 5  # rows
LEAST_PLANNED = 15  # planned for at least; where there are many labels now, up to twice as many


def preview(arguments: argparse.Namespace) -> bool:
    """Print the first rows as they are understood, where asked for; whether that was asked for."""
    if not arguments.preview:
        return False
    sources = [arguments.labels] if isinstance(arguments.labels, str) else arguments.labels
    roles = ["task", "worker", "label"]
    if len(sources) == 1 and _is_data_set(sources[0]):
        frame = cf.data.load(sources[0], "crowd").labels.to_frame()
    else:
        source = sources[0] if len(sources) == 1 else sources
        frame = _read(source, arguments)[0].to_frame()
    found = [
        f"{frame[role].nunique()} {many}" for role, many in zip(roles, ("tasks", "workers", "classes"), strict=True)
    ]
    first = frame[roles].head(PREVIEWED).astype(object).map(lambda cell: "(none)" if pd.isna(cell) else str(cell))
    known = f", {len(frame.attrs[GOLD])} gold tasks" if frame.attrs.get(GOLD) else ""
    tell([f"{' '.join(sources)}: {len(frame)} labels, {', '.join(found)}{known}", first.to_string(index=False)])
    return True


def diagnose(arguments: argparse.Namespace) -> None:
    """Print the checks before the fit."""
    if preview(arguments):
        return
    print(visible(str(cf.crowd.diagnose(_read(arguments.labels, arguments)[0]))))


def plan(arguments: argparse.Namespace) -> None:
    """Print, and draw where asked for, how many labels per task are needed."""
    if preview(arguments):
        return
    figures = [arguments.figure] if arguments.figure else []
    with reserved(figures, arguments.force, (arguments.labels, arguments.truth)):
        _plan(arguments)


def _plan(arguments: argparse.Namespace) -> None:
    check_whole(1, amounts=arguments.most)
    labels, truth = _read(arguments.labels, arguments)
    labels = labels.whole
    wanted = arguments.error, arguments.methods, range(1, arguments.most + 1)
    found = planning.crowd.plan(labels, *wanted, truth, n_trials=arguments.trials, **_work(arguments))
    print(found)
    if arguments.figure:
        from cofactor_app.plots.planning import draw_plan  # pictures take a second to import
        from cofactor_app.plots.style import to_png

        with whole_file(arguments.figure) as part:
            part.write_bytes(to_png(draw_plan(found)))
        print(f"wrote {arguments.figure}")


def next_tasks(arguments: argparse.Namespace) -> None:
    """Print how sure the labels are, and write which tasks to label next."""
    if preview(arguments):
        return
    with outputs(arguments, [arguments.output], [arguments.labels]) as writer:
        labels = _read(arguments.labels, arguments)[0].whole
        if arguments.checks is not None:
            found, table = _checks(labels, arguments.checks)
        else:
            asked = planning.next_tasks(labels, arguments.budget, arguments.error)
            found, table = str(asked), asked.table
        print(found)
        if arguments.output:
            writer.write(arguments.output, [table], f"{len(table)} tasks")


def _checks(labels: cf.CrowdLabels, n_tasks: int) -> tuple[str, pd.DataFrame]:
    """Tasks to look up, and what that is good for."""
    found = readings(labels)
    table = found.checks(n_tasks)
    how = "look up the truth of these tasks, and give it with `cofactor aggregate --gold` (columns task, truth)"
    return f"readings: {found}\n{how}: {listing(table['task'])}", table


def aggregate(arguments: argparse.Namespace) -> None:
    """Fit a method; print what was found, and write what was asked for."""
    if preview(arguments):
        return
    if (arguments.wide or arguments.sort) and not arguments.output:
        raise cf.CofactorError("--wide and --sort say how -o is written: name the file by -o")
    if bool(arguments.labels) == bool(arguments.database):
        raise cf.CofactorError("say where the labels are: name files or a data set, or a --database with its --query")
    if arguments.query and not arguments.database:
        raise cf.CofactorError("--query asks a database: name it with --database")
    if arguments.spark:
        return _on_cluster(arguments)
    inputs = (*arguments.labels, arguments.truth, arguments.gold)
    grades.check(arguments)
    tables = [getattr(arguments, name) for name in ("output", "workers", "confusion", "posterior", "overruled")]
    with outputs(arguments, tables, inputs, [arguments.report]) as writer:
        _aggregate(arguments, writer)


def _aggregate(arguments: argparse.Namespace, writer: Writer) -> None:
    if arguments.plan is not None and not arguments.report:
        raise cf.CofactorError("--plan is shown on the page of --report: name one, or run `cofactor plan`")
    name = arguments.method if arguments.order is None else grades.METHOD
    source = " ".join(arguments.labels) if len(arguments.labels) < SHOWN else f"{len(arguments.labels)} files"
    source = source or "labels of the database"
    labels, truth = _read(arguments.labels, arguments)
    gold = _gold(arguments, labels)
    more = grades.settings(arguments, labels)
    method, right = _fitted(name, labels, gold, more)
    name = "MajorityVote" if right and isinstance(method, cf.crowd.MajorityVote) else name
    posterior, seen = method.predict_proba(labels), _readings(method, labels)
    answered, judged = grades.answered(method, posterior), judged_by(truth, gold)
    found = facts.warnings_of(name, answered, labels, judged, seen)
    lines = facts.summary(source, name, method, posterior, labels, judged, seen)
    lines += facts.choice(method, right)
    tell(lines, found)
    boot = _bootstrap(arguments, method, labels)
    _write_tables(arguments, writer, method, posterior, labels, boot, seen)
    if arguments.report:
        page = _page(arguments, name, method, labels, found, lines, truth, boot, seen)
        write_page(arguments.report, page)


def _on_cluster(arguments: argparse.Namespace) -> None:
    """Fit the default on a Spark cluster; what needs single rows or pairs of workers is told of a sample."""
    from cofactor.reading.spark import SparkLabels, read_spark

    tables = arguments.workers, arguments.confusion
    if len(arguments.labels) != 1 or arguments.method != DEFAULT or arguments.order or arguments.conflicts != "error":
        raise cf.CofactorError(
            f"--spark fits {DEFAULT} to one file or folder of labels, without --order or --conflicts"
        )
    if arguments.output and (arguments.output.suffix != ".parquet" or arguments.wide):
        raise cf.CofactorError(
            "--spark writes one table, a folder of parquet: name it by -o NAME.parquet, without --wide"
        )
    if arguments.output and arguments.output.exists() and not arguments.force:
        raise cf.CofactorError(f"{arguments.output} exists: name another output, or overwrite it with --force")

    def codes(path: str, labels: SparkLabels) -> tuple[cf.CrowdLabels, Ints]:
        frame = read_task_and_truth(path, arguments.encoding)
        tasks = set(frame["task"])
        known = labels.of_tasks({*tasks, *(int(task) for task in tasks if task.isdigit())})
        return known, without_strange(codes_of(frame, known, path), known, path)

    with outputs(arguments, tables, (arguments.truth, arguments.gold), [arguments.report]) as writer:
        columns = arguments.task, arguments.worker, arguments.label
        labels = read_spark(arguments.spark, arguments.labels[0], columns)
        gold = {}
        if arguments.gold:
            known, told = codes(arguments.gold, labels)
            gold = {task: code for task, code in zip(known.tasks, told.tolist(), strict=True) if code >= 0}
        method, some = labels.fit(gold, verbose=True), labels.sample
        print(f"{arguments.labels[0]}: {labels.n_tasks} tasks, {labels.n_labels} labels on {arguments.spark}")
        if some.n_tasks < labels.n_tasks:
            print(f"what follows is of a sample of {some.n_tasks} tasks; the fit is of all")
        posterior = method.predict_proba(some)
        lines = facts.summary(arguments.labels[0], DEFAULT, method, posterior, some, None)
        if arguments.truth:
            known, truth = codes(arguments.truth, labels)
            told = np.array([gold.get(task, -1) for task in known.tasks])
            if (left := judged_by(truth, told)) is not None:
                lines.append(facts.errors(DEFAULT, method.predict_proba(known), known, left))
        tell(lines)
        if arguments.output:
            labels.write(partial(_consensus, method=method), arguments.output, arguments.force)
            print(f"wrote {arguments.output}: {labels.n_tasks} tasks")
        arguments.output = None
        _write_tables(arguments, writer, method, posterior, some, None, None)
        if arguments.report:
            write_page(arguments.report, _page(arguments, DEFAULT, method, some, [], lines, None, None, None))


def _consensus(labels: cf.CrowdLabels, method: WorkerTypes) -> pd.DataFrame:
    return consensus_frame(labels, method.predict_proba(labels), method)


def _fitted(
    name: str, labels: cf.CrowdLabels, gold: Ints | None, more: dict[str, Any]
) -> tuple[Any, dict[View, float]]:
    """The method, fitted; of the default, the reading that gold tasks choose."""
    if gold is not None and name == DEFAULT and not more:
        return believed(labels, gold, verbose=True)
    make = partial(cf.crowd.Outside, name) if ":" in name else cf.crowd.METHODS[name]
    return make(random_state=0, verbose=True, **more).fit(labels, gold=gold), {}


def _readings(method: Aggregator, labels: cf.CrowdLabels) -> Readings | None:
    """How else the labels can be read, where nothing tells which reading is right; of the default method."""
    if not isinstance(method, WorkerTypes) or method.gold_ or method.order is not None or not method.types_:
        return None
    return readings(labels.whole, method)


def _bootstrap(arguments: argparse.Namespace, method: Aggregator, labels: cf.CrowdLabels) -> CrowdBootstrap | None:
    """Refits for the intervals of the page and of the workers' table; none where nobody asked for them."""
    if not arguments.draws or not (arguments.report or arguments.workers):
        return None
    if grading := grades.grading_of(method):
        method.set_params(reading=grading.reading)  # refits need not choose again
    return cf.crowd.bootstrap(method, labels, arguments.draws, **_work(arguments))


def _work(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"random_state": 0, "n_jobs": arguments.jobs, "verbose": True}


def _write_tables(
    arguments: argparse.Namespace,
    writer: Writer,
    method: Aggregator,
    posterior: Floats,
    labels: cf.CrowdLabels,
    boot: CrowdBootstrap | None,
    seen: Readings | None,
) -> None:
    tasks = f"{labels.n_tasks} tasks"
    if arguments.output:
        if isinstance(method, WorkerTypes) and method.grading_:
            found = graded_frame(labels, posterior, method)
        else:
            found = consensus_frame(labels, posterior, method)
        found = widened(found, posterior, labels) if arguments.wide else found
        found = found.sort_values("probability", kind="stable") if arguments.sort else found
        writer.write(arguments.output, [found], tasks)
    if arguments.confusion:
        entries = confusion_frame(method)
        writer.write(arguments.confusion, [entries], f"{labels.n_workers} confusion matrices")
    if arguments.workers:
        found = workers_table(method, labels, boot, readings=seen).round(6)
        writer.write(arguments.workers, [found], f"{labels.n_workers} workers")
    if arguments.posterior:
        writer.write(arguments.posterior, [posterior_frame(posterior, labels)], tasks)
    if arguments.overruled:
        overruled = overruled_frame(method, posterior, labels)
        writer.write(arguments.overruled, [overruled], f"{len(overruled)} tasks")


def _page(
    arguments: argparse.Namespace,
    name: str,
    method: Aggregator,
    labels: cf.CrowdLabels,
    found: list[str],
    lines: list[str],
    truth: Ints | None,
    boot: CrowdBootstrap | None,
    seen: Readings | None,
) -> str:
    """The report, with the intervals and the plan that were asked for."""
    from cofactor_app.pages.crowd import crowd_page

    planned = None
    if arguments.plan is not None:
        amounts = [d for d in AMOUNTS if d <= max(LEAST_PLANNED, 2 * labels.n_labels / labels.n_tasks)]
        planned = planning.crowd.plan(labels.whole, arguments.plan, PLANNED, amounts, truth, **_work(arguments))
    source, diagnosis = " ".join(arguments.labels), cf.crowd.diagnose(labels)
    return crowd_page(source, name, method, labels, lines, diagnosis, boot, planned, found, seen)


# ---- input ----


def _read(sources: str | list[str], arguments: argparse.Namespace) -> tuple[cf.CrowdLabels, Ints | None]:
    """Labels of files or of a data set; and truth, of its own file or of the data set, where known."""
    source = sources if isinstance(sources, str) else sources[0] if len(sources) == 1 else sources
    truth: Ints | None
    if getattr(arguments, "database", None):
        options = {name: getattr(arguments, name) for name in READING[3:7]}
        columns = arguments.task, arguments.worker, arguments.label
        labels, truth = read_database(arguments.database, arguments.query, columns, **options), None
    elif isinstance(source, str) and _is_data_set(source):
        dataset = cf.data.load(source, "crowd")
        labels, truth = dataset.labels, dataset.truth
    else:
        options = {name: getattr(arguments, name) for name in READING}
        with noted(arguments.strict):
            labels, truth = cf.CrowdLabels.from_file(source, **options), None
    order = getattr(arguments, "order", None)
    if order is not None:
        labels, truth = grades.in_declared_order(order, labels, truth)
    own = getattr(arguments, "truth", None)  # `diagnose` has no such option
    return labels, read_truth(own, labels, arguments.encoding) if own else truth


def _is_data_set(source: str) -> bool:
    return source.isidentifier() and not Path(source).exists()


def _gold(arguments: argparse.Namespace, labels: cf.CrowdLabels) -> Ints | None:
    """Codes of the gold tasks, of --gold or else of what the file of labels knows itself; None where there are none."""
    if arguments.gold and not (labels.gold and arguments.gold in arguments.labels):
        return _read_gold(arguments, labels)
    return gold_codes(labels.gold, labels) if labels.gold else None


def _read_gold(arguments: argparse.Namespace, labels: cf.CrowdLabels) -> Ints:
    return without_strange(read_truth(arguments.gold, labels, arguments.encoding), labels, arguments.gold)


def without_strange(gold: Ints, labels: cf.CrowdLabels, path: str) -> Ints:
    """Codes of the gold tasks; a class that nobody chose is in no confusion matrix, so its tasks are none."""
    strange = gold >= labels.n_classes
    if strange.any():
        message = f"{path}: {strange.sum()} gold tasks of classes that nobody chose are passed over"
        warnings.warn(message, cf.DataWarning, stacklevel=2)
    return np.where(strange, -1, gold)


def judged_by(truth: Ints | None, gold: Ints | None) -> Ints | None:
    """Truth of the tasks to be judged by: not of gold ones, whose class the fit was told."""
    if truth is None or gold is None:
        return truth
    left = np.where(gold >= 0, -1, truth)
    return left if (left >= 0).any() else None

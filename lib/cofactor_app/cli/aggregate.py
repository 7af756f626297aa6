"""``cofactor aggregate``, ``diagnose``, ``plan`` and ``next``: the verbs on crowds, on the command line."""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from typing import Any

from cofactor.core.checks import check_whole
from cofactor.core.errors import CofactorError, DataWarning, amount, listing
from cofactor.crowd.diagnose import diagnose as checks
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.readings import readings
from cofactor.verbs.aggregate import aggregate as verb
from cofactor.verbs.aggregate import read_crowd
from cofactor.verbs.next_tasks import next_tasks as next_of
from cofactor.verbs.plan import plan as plan_of
from cofactor_app.cli import tell, visible
from cofactor_app.cli.output import answered, noted, one_or_all, outputs, say_later, tell_result, write_report

COLUMNS = ("task", "worker", "label")
READING = ("classes", "ignore", "conflicts", "spelling", "skip_bad")
OPTIONS = ("method", "gold", "truth", "order", "group", "database", "query", "spark", "encoding", "sep")


def aggregate(arguments: argparse.Namespace) -> None:
    """Aggregate, write the requested files, and print the result."""
    if arguments.wide and not arguments.output:
        raise CofactorError("--wide changes the table that -o writes: name its file with -o")
    options = {name: getattr(arguments, name) for name in (*COLUMNS, *READING, *OPTIONS)}
    source = one_or_all(arguments.labels) or None  # none where a database is the source
    inputs = [*arguments.labels, arguments.gold, arguments.truth, arguments.group]
    tables = [arguments.workers, arguments.confusion]
    if arguments.spark:
        _check_spark_output(arguments)
    else:
        tables.append(arguments.output)
    with outputs(arguments, tables, inputs, [arguments.report]) as writer:
        wrote = say_later(writer)
        found = answered(arguments, partial(verb, source, verbose=not arguments.quiet, **options))
        if arguments.spark and arguments.output:
            found.write(arguments.output, arguments.force)  # type: ignore[attr-defined]
            writer.said(arguments.output, amount(found.on_spark.n_tasks, "task"))  # type: ignore[attr-defined]
        elif arguments.output:
            labels = found.wide if arguments.wide else found.labels
            writer.write(arguments.output, [labels], amount(len(labels), "task"))
        if arguments.workers:
            writer.write(arguments.workers, [found.workers.round(6)], amount(len(found.workers), "worker"))
        if arguments.confusion:
            matrices = f"{len(found.crowd.workers):,} confusion matrices"
            writer.write(arguments.confusion, [found.confusion], matrices)
        write_report(arguments, found, writer)
        tell_result(arguments, found, [], [])
        if wrote and not arguments.quiet:
            print(visible("\n".join(wrote)))


def _check_spark_output(arguments: argparse.Namespace) -> None:
    """Refuse an output that Spark cannot write."""
    if arguments.output and (arguments.output.suffix != ".parquet" or arguments.wide):
        message = "--spark writes one table, as a folder of Parquet files: use -o NAME.parquet without --wide"
        raise CofactorError(message)
    if arguments.output and arguments.output.exists() and not arguments.force:
        raise CofactorError(f"{arguments.output} already exists: name another output, or overwrite it with --force")


def diagnose(arguments: argparse.Namespace) -> None:
    """Print checks of the labels."""
    labels, _ = _read(arguments)
    print(visible(str(checks(labels))))


def plan(arguments: argparse.Namespace) -> None:
    """Print how many labels per task are needed."""
    if arguments.most is not None:
        check_whole(1, amounts=arguments.most)
    labels, truth = _read(arguments)
    most = None if arguments.most is None else range(1, arguments.most + 1)
    found = plan_of(labels, arguments.error, amounts=most, truth=truth, random_state=0, verbose=True)
    print("\n".join(found.summary))
    sys.stdout.flush()
    for note in found.notes:
        warnings.warn(note, DataWarning, stacklevel=2)


def next_tasks(arguments: argparse.Namespace) -> None:
    """Print the expected error, and write the tasks to label next."""
    with outputs(arguments, [arguments.output], [arguments.labels]) as writer:
        labels = _read(arguments)[0].whole
        if arguments.checks is not None:
            seen = readings(labels)
            table = seen.checks(arguments.checks)
            table.insert(1, "truth", "")  # to be filled in
            how = "check these tasks by hand, write their classes into a column truth, and pass the file as --gold"
            found = f"readings: {seen}\n{how}: {listing(table['task'])}"
        else:
            asked = next_of(labels, arguments.budget, arguments.error)
            found, table = str(asked), asked.table
        tell([found])
        if arguments.output:
            writer.write(arguments.output, [table], amount(len(table), "task"))


def _read(arguments: argparse.Namespace) -> tuple[CrowdLabels, Any]:
    """Return labels of a file or a data set, and the truth of a data set."""
    how = {name: getattr(arguments, name) for name in READING}
    columns = {name: getattr(arguments, name) for name in COLUMNS}
    with noted(arguments.strict):
        return read_crowd(arguments.labels, columns, how, arguments.encoding, arguments.sep)

"""``cofactor sql`` and ``cofactor fit``: labels that stay in a database, which counts and scores them by queries."""

from __future__ import annotations

import argparse
from pathlib import Path

import cofactor as cf
from cofactor.core.errors import CofactorError
from cofactor.core.files import whole_file
from cofactor.core.frames import read_frame
from cofactor_app.cli.output import STDOUT, outputs, reserved
from cofactor_app.scale.queries import Queries
from cofactor_app.scale.warehouse import REFINED, WarehouseFit, read_counts

SETTLED = 1e-6  # relative gain of the objective below which further rounds change nothing


def sql(arguments: argparse.Namespace) -> None:
    """Write one of the queries."""
    with reserved([arguments.output], arguments.force, ()):
        columns = (arguments.task, arguments.worker, arguments.label)
        queries = Queries(arguments.table, columns, arguments.conflicts, arguments.order, arguments.dialect)
        text = queries.counts() if arguments.query == "counts" else getattr(queries, arguments.query)(arguments.model)
        if arguments.output == STDOUT:
            print(text, end="")
            return
        with whole_file(arguments.output) as part:
            part.write_text(text, encoding="utf8")
        print(f"wrote {arguments.output}: the query {arguments.query} for {arguments.dialect}")


def fit(arguments: argparse.Namespace) -> None:
    """Make a model of counts, or do a round of EM with the sums of a refinement."""
    if arguments.model and arguments.method:
        raise CofactorError("--model goes on with the method of that model: leave --method out")
    with (
        reserved([arguments.output], arguments.force, [arguments.counts]),  # may take the place of the last model
        outputs(arguments, [arguments.sql_tables], [arguments.counts, arguments.model]) as writer,
    ):
        fitted = _refined(arguments) if arguments.model else _started(arguments.counts, arguments.method or "MV-EM")
        with whole_file(arguments.output) as part:
            fitted.save(part)
        print(f"wrote {arguments.output}: {len(fitted.workers)} workers, {len(fitted.classes)} classes")
        if arguments.sql_tables:
            table = fitted.model_table()
            told = f"{len(table)} log-probabilities, for the queries score and refine"
            writer.write(arguments.sql_tables, [table], told)


def _started(counts: Path, name: str) -> WarehouseFit:
    moments = read_counts(counts)
    print(f"{moments.n_labels} labels of {moments.n_tasks} tasks were counted")
    return WarehouseFit.start(cf.crowd.METHODS[name](random_state=0), moments)


def _refined(arguments: argparse.Namespace) -> WarehouseFit:
    before = WarehouseFit.load(arguments.model)
    after = before.refined(read_frame(arguments.counts, REFINED, row="sum"), str(arguments.counts))
    gain = after.objective - before.objective
    print(f"round {after.rounds}: objective {after.objective:.6f}", "" if gain != gain else f"(gained {gain:.6f})")
    if abs(gain) <= SETTLED * abs(after.objective):
        print("the model has settled: score the tasks")
    return after

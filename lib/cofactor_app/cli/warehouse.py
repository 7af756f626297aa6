"""``aggregate --database``, ``cofactor sql`` and ``cofactor fit``: labels that stay in a database."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import cast

import cofactor as cf
from cofactor.core.errors import CofactorError, listing
from cofactor.core.files import whole_file
from cofactor.core.frames import read_frame
from cofactor.core.lazy import pd
from cofactor.core.types import Ints
from cofactor.crowd.base import Aggregator
from cofactor.crowd.labels import Conflicts, CrowdLabels
from cofactor.crowd.tables import confusion_frame, workers_frame
from cofactor_app.cli import facts, known, sampled
from cofactor_app.cli.engines import READ_WHOLE, SHARE, machine_memory
from cofactor_app.cli.methods import DEFAULT
from cofactor_app.cli.output import LINES, SEPARATORS, STDOUT, Writer, outputs, reserved, write_page
from cofactor_app.cli.parser import DRAWS
from cofactor_app.running import without_secrets
from cofactor_app.scale.coded import CodedLabels
from cofactor_app.scale.copies import merged_there
from cofactor_app.scale.doors import Door, opened
from cofactor_app.scale.held import HeldLabels
from cofactor_app.scale.known import labels_there, sample_there
from cofactor_app.scale.queries import Queries, name_in
from cofactor_app.scale.rounds import evidence_of
from cofactor_app.scale.rounds import fit as fitted_there
from cofactor_app.scale.verdicts import consensus
from cofactor_app.scale.warehouse import REFINED, WarehouseFit, read_counts

FILES = (*SEPARATORS, LINES, ".parquet", ".gz")  # endings of files; other names are those of tables
TABLE = "labels"  # of the labels in a database
ELSEWHERE = (
    "posterior",
    "overruled",
    "wide",
    "sort",
    "labels",
    "moments",
    "preview",
    "sep",
)  # options on files here
PRESET = {
    "draws": DRAWS,
    "jobs": 1,
    "encoding": "utf-8-sig",
    "reading": "auto",
    "loss": "steps",
    "plan": None,
}  # unused
CONSENSUS = {"task", "label", "probability", "n_labels"}  # columns of a table that --force replaces, perhaps disputed
SETTLED = 1e-6  # relative gain of the objective below which further rounds change nothing


def aggregate(arguments: argparse.Namespace) -> None:
    """Fit labels in a database by rounds there; the consensus is a table there, or a file here."""
    asked = [name for name in (*READ_WHOLE, *ELSEWHERE) if getattr(arguments, name)]
    asked += [name for name, preset in PRESET.items() if getattr(arguments, name) != preset]
    if asked := [f"--{name.replace('_', '-')}" for name in asked]:
        raise CofactorError(f"{', '.join(asked)}: does not go with labels in a database (--database)")
    if arguments.engine != "auto":
        raise CofactorError("--engine: the labels are in a database (--database), which runs the rounds; leave it out")
    if arguments.method not in ("WorkerTypes", "MV-EM"):
        raise CofactorError(f"--method {arguments.method}: in a database work WorkerTypes and MV-EM")
    there, table = arguments.output if is_table(arguments.output) else None, arguments.table or TABLE
    files, inputs = [None if there else arguments.output, arguments.workers, arguments.confusion], _inputs(arguments)
    with (
        outputs(arguments, files, inputs, [arguments.report]) as writer,
        opened(arguments.database, to_write=there is not None) as door,
    ):
        if there:
            _check_place(door, str(there), arguments.force)
        columns = (arguments.task, arguments.worker, arguments.label)
        labels = CodedLabels.of(door, table, columns, cast(Conflicts, arguments.conflicts))
        amounts = f"{labels.n_tasks} tasks, {len(labels.workers)} workers, {len(labels.classes)} classes"
        twice = "no worker gave a task two" if arguments.conflicts == "error" else f"the {arguments.conflicts} of two"
        print(f"{amounts}, {labels.n_labels} labels; no row is empty; {twice}")
        _fit_there(arguments, labels, writer)


def _inputs(arguments: argparse.Namespace) -> list[str | None]:
    """Return files of known tasks, after a look whether gold tasks can be used."""
    if arguments.gold and arguments.method != DEFAULT:
        raise CofactorError(f"--gold: in a database, it goes with {DEFAULT} alone")
    return [arguments.gold, arguments.truth]


def is_table(output: Path | None) -> bool:
    """Whether an output of labels in a database is a table there: it has no ending of a file."""
    return output is not None and output != STDOUT and output.suffix.lower() not in FILES


def _check_place(door: Door, name: str, force: bool) -> None:
    """Refuse to make a table where one is, unless by force that of another run, and where none can be made."""
    table = name_in(door.dialect, name, whole=True)
    try:
        found = list(door.ask(f"SELECT * FROM {table} LIMIT 0"))
    except CofactorError:
        _check_makeable(door, table, name)
        return
    if not force:
        raise CofactorError(f"the database has a table {name}: name another output, or overwrite it with --force")
    if set(found) - {"disputed"} != CONSENSUS:
        problem = f"the table {name} is no consensus (its columns are {listing(found)})"
        raise CofactorError(f"{problem}, so --force does not replace it: name another output")


def _check_makeable(door: Door, table: str, name: str) -> None:
    try:
        door.check_place(table)
    except CofactorError as error:
        forms = f"files are told by their endings, {', '.join(FILES)}"
        raise CofactorError(f"-o {name}: the table cannot be made ({error}); {forms}") from None


def _fit_there(arguments: argparse.Namespace, labels: CodedLabels, writer: Writer) -> None:
    here, truth = _held(labels), _truth(arguments, labels)
    sample = sample_there(labels, sampled.MOST_SHOWN) if arguments.report else None  # gold tasks are still there
    owner = known.owner_of(arguments.method, labels)
    method, apart, rest = (known.of_database if arguments.gold else _fitted)(arguments, labels, here, owner)
    result = method.result_
    print(
        f"{arguments.method}: {'converged' if result.converged else 'NOT CONVERGED'}, {result.reason}",
        *facts.copies(method),
        sep="\n",
    )
    if truth:
        known.judged(arguments, *truth, method)
    if arguments.output:
        _write_consensus(arguments.output, consensus(method, rest, apart), labels, writer, arguments.force)
    if arguments.workers:
        writer.write(arguments.workers, [workers_frame(method)], f"{len(labels.workers)} workers")
    if arguments.confusion:
        writer.write(arguments.confusion, [confusion_frame(method)], f"{len(labels.workers)} confusion matrices")
    if sample:
        source = f"{arguments.table or TABLE} of {without_secrets(arguments.database)}"
        write_page(arguments.report, sampled.page_of_sample(source, arguments.method, method, *sample))


def _fitted(
    arguments: argparse.Namespace, labels: CodedLabels, here: bool, owner: Ints
) -> tuple[Aggregator, CrowdLabels | None, CodedLabels]:
    method = cf.crowd.METHODS[arguments.method](random_state=0, verbose=True)
    method.max_iter = min(method.max_iter, arguments.rounds)
    merged = merged_there(labels, owner)
    return fitted_there(method, merged, evidence_of(merged, here)), None, merged


def _truth(arguments: argparse.Namespace, labels: CodedLabels) -> tuple[pd.DataFrame, CrowdLabels] | None:
    """Return tasks of known truth, and their labels, before gold tasks are taken out."""
    if not arguments.truth:
        return None
    frame = known.sample(known.of_file_or_table(arguments.truth, labels.door, arguments.encoding))
    return frame, labels_there(labels, frame["task"])


def _held(labels: CodedLabels) -> bool:
    """Whether coded labels are held here for the rounds; it is said why."""
    needed, memory = HeldLabels.size(labels), machine_memory()
    held = labels.door.here and needed <= SHARE * memory
    if held:
        print(f"the database runs in this process: coded labels are held here for the rounds, {needed / 1e9:.2f} GB")
    elif labels.door.here:
        print(f"rounds are queries: coded labels would take {needed / 1e9:.1f} of {memory / 1e9:.1f} GB of memory here")
    else:
        print("rounds are queries: labels stay in the database")
    return held


def _write_consensus(output: Path, query: str, labels: CodedLabels, writer: Writer, force: bool) -> None:
    if not is_table(output):
        found = labels.door.ask(f"{query} ORDER BY task")
        found["probability"] = found["probability"].astype(float).round(6)
        writer.write(output, [found], f"{len(found)} tasks")
        return
    table = name_in(labels.door.dialect, str(output), whole=True)
    labels.door.write(table, query, replace=force)
    print(f"wrote the table {output} of the database: {labels.n_tasks} tasks")


def sql(arguments: argparse.Namespace) -> None:
    """Write one of the queries."""
    with reserved([arguments.output] if arguments.output != STDOUT else [], arguments.force, ()):
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

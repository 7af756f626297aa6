"""Commands and their options; what they do is imported only when one of them runs."""

from __future__ import annotations

import argparse
import os
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cofactor import __version__
from cofactor.cli.methods import DEFAULT, GROUPS, OFFERED

DRAWS = 50  # refits behind an interval of the report
PLANNED = ("MajorityVote", "BayesDS")  # fits of the slower methods, hundreds of times, would take minutes
RESULTS = Path("results")
CONFLICTS = ("error", "first", "last")

FIRST = """\
first look at the labels, then aggregate them:
  cofactor diagnose labels.csv
  cofactor aggregate labels.csv -o consensus.csv --workers workers.csv --report report.html
before labels are collected, plan says how many per task are enough; labels that do not fit into memory take
shard, moments, and aggregate --moments. Each command has a --help of its own.
"""
EXAMPLES = """\
examples:
  cofactor aggregate labels.csv -o consensus.csv --report report.html
  cofactor aggregate export.json --gold known.csv --workers workers.csv -o consensus.parquet
  cat labels.tsv | cofactor aggregate - -o - > consensus.csv
"""
FORMS = "CSV, TSV, parquet, JSON lines, an export of Label Studio or Prodigy, - for standard input"
WRITTEN = ".csv, .tsv, either with .gz, .parquet, or - for standard output"


class _Format(argparse.RawDescriptionHelpFormatter):
    """Help with room for the names of commands and options."""

    def __init__(self, prog: str, **more: Any) -> None:
        super().__init__(prog, **{"max_help_position": 26, "width": 110, **more})


class LateParser(argparse.ArgumentParser):
    """A parser whose `late_epilog` is made only where help is asked for."""

    late_epilog: Callable[[], str] | None = None

    def format_help(self) -> str:
        """Return the help with its epilog."""
        if self.late_epilog:
            self.epilog = self.late_epilog()
        return super().format_help()


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; each sets `run` to the module and function that do it."""
    about = "Hidden structure from pairwise evidence."
    top = LateParser(prog="cofactor", description=about, epilog=FIRST)
    top.formatter_class = _Format
    top.add_argument("--version", action="version", version=f"cofactor {__version__}")
    commands = top.add_subparsers(required=True, metavar="command", title="commands")
    for add in (_add_aggregate, _add_diagnose, _add_plan, _add_shard, _add_moments, _add_reproduce, _add_report):
        add(commands)
    _add_datasets(commands)
    _add_check(commands)
    return top


def _command(commands: Any, name: str, about: str, run: str) -> LateParser:
    command: LateParser = commands.add_parser(name, help=about, description=about)
    command.formatter_class = _Format
    command.set_defaults(run=run)
    return command


def _add_aggregate(commands: Any) -> None:
    about = "Turn crowd labels into one label per task, with its probability."
    command = _command(commands, "aggregate", about, "aggregate.aggregate")
    _add_labels(command, nargs="+")
    method = f"see below (default: {DEFAULT})"
    command.add_argument("--method", choices=OFFERED, metavar="METHOD", default=DEFAULT, help=method)
    command.add_argument("--gold", metavar="FILE", help="tasks of known class (columns task, truth), used in the fit")
    truth = "columns task and truth, to report the error; not used in the fit"
    command.add_argument("--truth", metavar="FILE", help=truth)
    _add_outputs(command)
    command.add_argument("--report", type=Path, metavar="FILE", help="HTML page: doubtful tasks, workers, checks")
    draws = f"with --report or --workers: refits for intervals (default: {DRAWS}; 0: none)"
    command.add_argument("--draws", type=int, default=DRAWS, help=draws)
    plan = "with --report: also how many labels per task this error takes"
    command.add_argument("--plan", type=float, metavar="ERROR", help=plan)
    command.add_argument("--jobs", type=int, default=1, help="with --report: processes (default: 1)")
    moments = "from `cofactor moments`; LABELS are then the shards counted there"
    command.add_argument("--moments", type=Path, metavar="FILE", help=moments)
    command.add_argument("--rounds", type=int, default=500, help="with --moments: most rounds (default: 500)")
    command.epilog = f"{_methods()}\n\n{EXAMPLES}"


def _methods() -> str:
    lines = ["methods:"]
    for title, names in GROUPS.items():
        wrapped = textwrap.wrap(", ".join(names), 90, break_on_hyphens=False)
        lines += [f"  {title}", *(f"    {line}" for line in wrapped)]
    return "\n".join(lines)


def _add_outputs(command: argparse.ArgumentParser) -> None:
    files = command.add_argument_group("tables to write", WRITTEN)
    one: dict[str, Any] = {"type": Path, "metavar": "FILE"}
    files.add_argument("-o", "--output", **one, help="task, label, probability, n_labels")
    workers = "labels, estimated accuracy with interval, agreement, verdict of every worker"
    files.add_argument("--workers", **one, help=workers)
    files.add_argument("--posterior", **one, help="task, and the probability of every class")
    files.add_argument("--overruled", **one, help="tasks whose label is not the one of most workers")
    files.add_argument("--force", action="store_true", help="overwrite files if they exist")
    raw = "leave cells as they are that a spreadsheet would run as a formula (else they get an apostrophe in front)"
    files.add_argument("--raw-cells", action="store_true", help=raw)


def _add_diagnose(commands: Any) -> None:
    about = "Check crowd labels before aggregation: what can be told apart, and by which methods."
    _add_labels(_command(commands, "diagnose", about, "aggregate.diagnose"))


def _add_plan(commands: Any) -> None:
    about = "Simulate how many labels per task a wanted error takes, for a crowd like this one."
    command = _command(commands, "plan", about, "aggregate.plan")
    _add_labels(command)
    command.add_argument("--error", type=float, default=0.05, help="share of tasks labelled wrongly (default: 0.05)")
    methods = f"default: {' '.join(PLANNED)}"
    command.add_argument("--methods", nargs="+", default=PLANNED, metavar="METHOD", help=methods)
    command.add_argument("--most", type=int, default=15, help="labels per task to try, from 1 on (default: 15)")
    truth = "columns task and truth: how hard tasks are, from 20 truths on"
    command.add_argument("--truth", metavar="FILE", help=truth)
    command.add_argument("--trials", type=int, default=30, help="simulated crowds (default: 30)")
    command.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    command.add_argument("--figure", type=Path, metavar="FILE", help="PNG to write: error against labels per task")
    command.add_argument("--force", action="store_true", help="overwrite the figure if it exists")


def _add_labels(command: argparse.ArgumentParser, **many: Any) -> None:
    about = f"columns task, worker, label: {FORMS}; or a data set such as bluebird"
    command.add_argument("labels", **many, metavar="LABELS", help=about)
    _add_columns(command)
    command.add_argument("--encoding", default="utf-8-sig", help="of text (default: UTF-8)")
    sep = "between columns of text, such as ';' or '\\t' (default: whichever of , tab ; | fits)"
    command.add_argument("--sep", type=separator, help=sep)


def _add_columns(command: argparse.ArgumentParser) -> None:
    for column in ("task", "worker", "label"):
        command.add_argument(f"--{column}", default=column, metavar="COLUMN", help=f"the {column} column's name")
    command.add_argument("--conflicts", choices=CONFLICTS, default="error", help="if a worker labelled a task twice")


def separator(text: str) -> str:
    r"""Return the character that separates columns; a tab can be written \t, as shells do not make one of it."""
    return "\t" if text == "\\t" else text


def _add_shard(commands: Any) -> None:
    about = "Group a file of labels by task into parquet shards, in bounded memory."
    command = _command(commands, "shard", about, "shards.shard")
    command.add_argument("labels", nargs="+", help="CSV (UTF-8) or parquet files with columns task, worker, label")
    command.add_argument("-o", "--output", type=Path, required=True, help="folder for the shards")
    command.add_argument("--force", action="store_true", help="replace the folder if it holds shards")
    command.add_argument("--shards", type=int, help="how many (default: one per million labels)")
    _add_columns(command)
    command.add_argument("--sep", type=separator, default=",", help="between the columns of a CSV (default: a comma)")
    command.add_argument("--memory", default="1GB", help="for sorting (default: 1GB)")


def _add_moments(commands: Any) -> None:
    about = "Count the label pairs of shards; a run that was stopped goes on where it was."
    command = _command(commands, "moments", about, "shards.moments")
    command.add_argument("labels", nargs="+", help="shards, or their folder")
    command.add_argument("-o", "--output", type=Path, required=True, help=".npz file to write")
    command.add_argument("--force", action="store_true", help="overwrite the output if it exists")
    command.add_argument("--jobs", type=int, default=1, help="processes that count at the same time (default: 1)")


def _add_reproduce(commands: Any) -> None:
    def listed() -> str:
        from cofactor.cli.experiments import listed

        return listed()

    about = "Run tables and figures of the papers and print ours beside published."
    command = _command(commands, "reproduce", about, "experiments.reproduce")
    command.late_epilog = listed
    command.add_argument("names", nargs="*", metavar="NAME", help="experiments, or all (default: list them)")
    command.add_argument("--full", action="store_true", help="the paper's trials and settings (default: few)")
    command.add_argument("--trials", type=int, help="this many trials instead")
    command.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    command.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask scheduler, such as tcp://host:8786")
    _add_results(command)


def _add_report(commands: Any) -> None:
    command = _command(commands, "report", "Write one HTML page of all results found.", "experiments.report")
    command.add_argument("-o", "--output", type=Path, default=Path("report.html"), help="(default: report.html)")
    command.add_argument("--force", action="store_true", help="overwrite the page if it exists")
    _add_results(command)


def _add_results(command: argparse.ArgumentParser) -> None:
    command.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER", help=f"(default: {RESULTS})")


def _add_datasets(commands: Any) -> None:
    command = _command(commands, "datasets", "List, fetch or verify data sets.", "datasets.datasets")
    command.add_argument("action", nargs="?", choices=("list", "fetch", "verify"), default="list")
    command.add_argument("names", nargs="*", help="data sets (default: all)")


def _add_check(commands: Any) -> None:
    about = "Look whether Python, packages, disk and data sets are ready; nothing is changed."
    command = _command(commands, "check", about, "environment.check")
    shards = "folders of shards: read them whole instead"
    command.add_argument("shards", nargs="*", type=Path, metavar="FOLDER", help=shards)

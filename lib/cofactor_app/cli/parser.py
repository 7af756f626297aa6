"""Commands and their options; what they do is imported only when one of them runs."""

from __future__ import annotations

import argparse
import os
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any

from cofactor import __version__
from cofactor_app.cli.methods import BY_GROUP, DEFAULT, OFFERED, Choices
from cofactor_app.cli.parser_lines import add_lines
from cofactor_app.cli.parts import (
    WRITTEN,
    Format,
    LateParser,
    add_overwriting,
    add_reading,
    add_spelling,
    file_name,
    new_command,
)

DRAWS = 50  # refits behind an interval of the report
PLANNED = ("MajorityVote", "WorkerTypes")  # fits of the slower methods, hundreds of times, would take minutes
RESULTS = Path("results")
CONFLICTS = ("error", "first", "last")

FIRST = """\
first look at the labels, then aggregate them:
  cofactor diagnose labels.csv
  cofactor aggregate labels.csv -o consensus.csv --workers workers.csv --report report.html
before labels are collected, plan says how many per task are enough. Other data: rank takes votes (who won against
whom), joint a table with gaps, anchors a matrix such as spectra, topics counts of words. Each command has a --help of
its own.
"""
EXAMPLES = """\
examples:
  cofactor aggregate labels.csv -o consensus.csv --report report.html
  cofactor aggregate export.json --gold known.csv --workers workers.csv -o consensus.parquet
  cofactor aggregate old.csv new.csv -o consensus.csv      labels that came later, with those there were
  cat labels.tsv | cofactor aggregate - -o - > consensus.csv
"""
NEXT = """\
use it where labels cost money and can be asked for task by task; plan says before how many are enough for all.
examples, the first one as often as new labels have come in:
  cofactor next labels.csv --budget 100 -o tasks.csv --force
  cofactor next labels.csv --error 0.05          says that it is time to stop, once the estimated error is 5 %
  cofactor next labels.csv --checks 10 -o ten.csv      tasks to look up where the labels can be read in several ways
"""
BENCH = """\
a method is a function of labels that returns (tasks, classes) probabilities, or a class with fit and predict_proba:
  cofactor bench my.py:weighted_vote
  cofactor bench "my.py:Mine(alpha=2)" bluebird rte --beside MV-EM IBCC -o trials.csv
  cofactor bench my.py:Mine --simulated              crowds drawn here: copies, constant workers, one label a task ...
  cofactor bench "my.py:Mine(alpha=1)" --beside "my.py:Mine(alpha=2)" --leave-family-out
                                                     alpha is chosen by the other families of sets
  cofactor bench my.py:Mine --data folder            NAME.csv (task, worker, label) beside NAME_truth.csv (task, truth),
                                                     or NAME.toml: name, line, family, licence, source, [files]
  cofactor bench --check-data folder                 what is wrong with each of these sets
other lines are told by what the first argument is called: table, X, comparisons (or by --line):
  cofactor bench my.py:complete --line pmf           table: completed codes, or a model with predict_map
  cofactor bench my.py:find --line separable         X and the number of anchors: columns of X
  cofactor bench my.py:Choices --line comparisons    scores of the items in log-odds, or a class with fit(comparisons)
                                                     and predict_proba(user, left, right)
it runs in a process that has no truth and cannot open data sets. All else then takes it, too:
  cofactor aggregate labels.csv --method my.py:Mine --report page.html
"""
SHELLS = ("bash", "zsh", "fish")
COMPLETION = """\
bash, in ~/.bashrc:  source <(cofactor completion bash)
zsh, once:           cofactor completion zsh > "${fpath[1]}/_cofactor"
fish, once:          cofactor completion fish > ~/.config/fish/completions/cofactor.fish
"""
FORMS = "CSV, TSV, parquet, JSON, results of crowd platforms, exports of labelling tools, - for standard input"


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; each sets `run` to the module and function that do it."""
    about = "Hidden structure from pairwise evidence."
    top = LateParser(prog="cofactor", description=about, epilog=FIRST)
    top.formatter_class = Format
    top.add_argument("--version", action="version", version=f"cofactor {__version__}")
    commands = top.add_subparsers(required=True, metavar="command", title="commands")
    labels = _add_aggregate, _add_diagnose, _add_plan, _add_next
    others = _add_bench, _add_datasets, _add_completion
    for add in (*labels, _add_reproduce, _add_report, add_lines, *others):
        add(commands)
    return top


def _add_aggregate(commands: Any) -> None:
    about = "Turn crowd labels into one label per task, with its probability."
    command = new_command(commands, "aggregate", about, "aggregate.aggregate")
    _add_labels(command, nargs="*")
    _add_sources(command)
    method = f"see below, or your own as my.py:NAME (default: {DEFAULT})"
    command.add_argument("--method", choices=Choices(OFFERED), metavar="METHOD", default=DEFAULT, help=method)
    command.add_argument(
        "--gold", type=file_name, metavar="FILE", help="tasks of known class (columns task, truth), used in the fit"
    )
    truth = "columns task and truth, to report the error; not used in the fit"
    command.add_argument("--truth", type=file_name, metavar="FILE", help=truth)
    _add_grades(command)
    _add_outputs(command)
    command.add_argument("--report", type=Path, metavar="FILE", help="HTML page: doubtful tasks, workers, checks")
    draws = f"with --report or --workers: refits for intervals (default: {DRAWS}; 0: none)"
    command.add_argument("--draws", type=int, default=DRAWS, help=draws)
    plan = "with --report: also how many labels per task this error takes"
    command.add_argument("--plan", type=float, metavar="ERROR", help=plan)
    jobs = "with --report or --workers: processes (default: 1)"
    command.add_argument("--jobs", type=int, default=1, help=jobs)
    command.epilog = f"{_methods()}\n\n{EXAMPLES}"


def _add_sources(command: argparse.ArgumentParser) -> None:
    elsewhere = command.add_argument_group("labels that are in no file, or on a cluster")
    address = "in place of LABELS: duckdb:///FILE, sqlite:///FILE, or another that SQLAlchemy connects to"
    elsewhere.add_argument("--database", metavar="URL", help=address)
    query = "of the database (default: SELECT task, worker, label FROM labels)"
    elsewhere.add_argument("--query", metavar="SQL", default="", help=query)
    master = "read LABELS and fit them there: local[2], spark://host:7077, ...; -o is a folder of parquet"
    elsewhere.add_argument("--spark", metavar="MASTER", help=master)


def _add_grades(command: argparse.ArgumentParser) -> None:
    graded = command.add_argument_group("classes that are grades")
    order = "all classes, the lowest first, such as '1,2,3' or 'low,medium,high'; then workers can err by steps"
    graded.add_argument("--order", metavar="GRADES", help=order)


def _methods() -> str:
    lines = ["methods:"]
    for title, names in BY_GROUP.items():
        if not names:
            continue
        wrapped = textwrap.wrap(", ".join(names), 90, break_on_hyphens=False)
        lines += [f"  {title}", *(f"    {line}" for line in wrapped)]
    return "\n".join(lines)


def _add_outputs(command: argparse.ArgumentParser) -> None:
    files = command.add_argument_group("tables to write", WRITTEN)
    one: dict[str, Any] = {"type": Path, "metavar": "FILE"}
    files.add_argument("-o", "--output", **one, help="task, label, probability, n_labels")
    files.add_argument("--wide", action="store_true", help="in -o also the probability of every class")
    files.add_argument("--sort", action="store_true", help="the most doubtful tasks of -o first")
    workers = "labels, estimated accuracy with interval, agreement, verdict of every worker"
    files.add_argument("--workers", **one, help=workers)
    confusion = "confusion matrices as a long table: worker, true, said, probability"
    files.add_argument("--confusion", **one, help=confusion)
    files.add_argument("--posterior", **one, help="task, and the probability of every class")
    files.add_argument("--overruled", **one, help="tasks whose label is not the one of most workers")
    add_overwriting(files)


def _add_diagnose(commands: Any) -> None:
    about = "Check crowd labels before aggregation: what can be told apart, and by which methods."
    _add_labels(new_command(commands, "diagnose", about, "aggregate.diagnose"))


def _add_plan(commands: Any) -> None:
    about = "Simulate how many labels per task a wanted error takes, for a crowd like this one."
    command = new_command(commands, "plan", about, "aggregate.plan")
    _add_labels(command)
    command.add_argument("--error", type=float, default=0.05, help="share of tasks labelled wrongly (default: 0.05)")
    methods = f"default: {' '.join(PLANNED)}"
    command.add_argument("--methods", nargs="+", default=PLANNED, metavar="METHOD", help=methods)
    command.add_argument("--most", type=int, default=15, help="labels per task to try, from 1 on (default: 15)")
    truth = "columns task and truth: how hard tasks are, from 20 truths on"
    command.add_argument("--truth", type=file_name, metavar="FILE", help=truth)
    command.add_argument("--trials", type=int, default=30, help="simulated crowds (default: 30)")
    command.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    command.add_argument("--figure", type=Path, metavar="FILE", help="PNG to write: error against labels per task")
    command.add_argument("--force", action="store_true", help="overwrite the figure if it exists")


def _add_next(commands: Any) -> None:
    about = "Say which tasks to label next, where a label lowers the expected error most, and when to stop."
    command = new_command(commands, "next", about, "aggregate.next_tasks")
    _add_labels(command)
    budget = "labels to ask for (default: 100); ask for few, and again when they are there"
    command.add_argument("--budget", type=int, default=100, help=budget)
    error = "share of tasks labelled wrongly that is good enough: stop there"
    command.add_argument("--error", type=float, help=error)
    checks = "instead of labels: N tasks to look up, whose truth tells which reading of the labels is right"
    command.add_argument("--checks", type=int, metavar="N", help=checks)
    asked = f"task, ask (labels to ask for), who (has not seen it), n_labels, label, probability, gain: {WRITTEN}"
    command.add_argument("-o", "--output", type=Path, metavar="FILE", help=asked)
    add_overwriting(command)
    command.epilog = NEXT


def _add_labels(command: argparse.ArgumentParser, **many: Any) -> None:
    about = f"columns task, worker, label: {FORMS}; or a data set such as bluebird"
    command.add_argument("labels", **many, metavar="LABELS", help=about)
    _add_columns(command, (*CONFLICTS, "all"))
    classes = "all classes, if some were never used, such as yes,no"
    command.add_argument("--classes", type=_words, metavar="CLASS,...", help=classes)
    ignored = "answers that are none, such as unsure,skip"
    command.add_argument("--ignore", type=_words, default=(), metavar="ANSWER,...", help=ignored)
    add_spelling(command)
    preview = "print the first rows as they are understood, and do nothing else"
    command.add_argument("--preview", action="store_true", help=preview)
    add_reading(command)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _add_columns(command: argparse.ArgumentParser, conflicts: tuple[str, ...] = CONFLICTS) -> None:
    for column in ("task", "worker", "label"):
        command.add_argument(f"--{column}", default=column, metavar="COLUMN", help=f"the {column} column's name")
    twice = "if a worker labelled a task twice: refuse, or keep one (by updated_at, else by order)"
    twice += "; all: each of m answers counts 1/m" if "all" in conflicts else ""
    command.add_argument("--conflicts", choices=conflicts, default="error", help=twice)


def _add_reproduce(commands: Any) -> None:
    about = "Run tables and figures of the papers and print ours beside published."
    command = new_command(commands, "reproduce", about, "experiments.reproduce")
    command.late_epilog = lambda: str(import_module("cofactor_app.cli.experiments").listed())
    which = "experiments, printed, or all (default: list them)"
    command.add_argument("names", nargs="*", metavar="NAME", help=which)
    command.add_argument("--check", action="store_true", help="run the cheapest kept trials, compare every number")
    command.add_argument("--trials", type=int, help="this many trials of each setting (default: the paper's)")
    command.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    _add_results(command)


def _add_report(commands: Any) -> None:
    command = new_command(commands, "report", "Write one HTML page of all results found.", "experiments.report")
    command.add_argument("-o", "--output", type=Path, default=Path("report.html"), help="(default: report.html)")
    command.add_argument("--force", action="store_true", help="overwrite the page if it exists")
    _add_results(command)


def _add_results(command: argparse.ArgumentParser) -> None:
    command.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER", help=f"(default: {RESULTS})")


def _add_bench(commands: Any) -> None:
    about = "Try a method of your own beside the vote and the default, on data of known truth."
    command = new_command(commands, "bench", about, "bench.bench")
    own = "FILE.py:NAME, PACKAGE.MODULE:NAME, or one of this kit"
    command.add_argument("method", nargs="?", metavar="METHOD", help=own)
    command.add_argument("sets", nargs="*", metavar="SET", help="(default: all registered ones that are here)")
    command.add_argument("--beside", nargs="+", default=[], metavar="METHOD", help="other methods to run as well")
    command.add_argument("--data", type=Path, metavar="FOLDER", help="of own sets, see below")
    check = "only look at a folder for --data, and tell what is wrong with each set"
    command.add_argument("--check-data", type=Path, metavar="FOLDER", help=check)
    command.add_argument("--simulated", action="store_true", help="sets drawn from models whose truth is known")
    leave = "choose among METHOD and its variants in --beside by all families of sets but one, and score on that one"
    command.add_argument("--leave-family-out", action="store_true", help=leave)
    lines = "of the method (default: told by its first argument: labels, table, X, comparisons)"
    command.add_argument("--line", choices=("crowd", "pmf", "separable", "comparisons"), help=lines)
    kept = "each result is added, and not run again (default: bench.jsonl)"
    command.add_argument("--keep", type=Path, default=Path("bench.jsonl"), metavar="FILE", help=kept)
    command.add_argument("-o", "--output", type=Path, metavar="FILE", help=f"one row a set and method: {WRITTEN}")
    command.add_argument("--report", type=Path, metavar="FILE", help="HTML page: families, choice, set by set")
    add_overwriting(command)
    command.epilog = BENCH


def _add_datasets(commands: Any) -> None:
    command = new_command(commands, "datasets", "List, fetch or verify data sets.", "datasets.datasets")
    command.add_argument("action", nargs="?", choices=("list", "fetch", "verify"), default="list")
    command.add_argument("names", nargs="*", help="data sets (default: all)")


def _add_completion(commands: Any) -> None:
    about = "Print a script by which a shell completes commands, options and files when TAB is pressed."
    command = new_command(commands, "completion", about, "completion.completion")
    command.add_argument("shell", choices=SHELLS, help=f"one of {', '.join(SHELLS)}")
    command.epilog = COMPLETION

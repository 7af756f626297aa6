"""Commands and their options; what they do is imported only when one of them runs."""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from cofactor import __version__
from cofactor_app.cli.parser_lines import add_lines
from cofactor_app.cli.parts import (
    WRITTEN,
    Format,
    LateParser,
    add_common,
    add_text,
    add_writing,
    file_name,
    new_command,
    output_file,
)

DEFAULT = "WorkerTypes"
RESULTS = Path("results")
CONFLICTS = ("error", "first", "last", "all")

FIRST = """\
first look at the labels, then aggregate them:
  cofactor diagnose labels.csv
  cofactor aggregate labels.csv -o consensus.csv --workers workers.csv --report report.html
before labels are collected, plan says how many per task are enough. Other data: rank takes votes (who won against
whom), joint a table with gaps, anchors a matrix such as spectra, topics counts of words. Each command has a --help of
its own.
"""
EXAMPLES = """\
  cofactor aggregate labels.csv -o labels_out.csv --report report.html
  cofactor aggregate old.csv new.csv --gold known.csv --workers workers.csv -o labels.parquet
"""
NEXT = """\
  cofactor next labels.csv --budget 100 -o tasks.csv --force     as often as new labels have come in
  cofactor next labels.csv --checks 10 -o ten.csv
"""
BENCH = """\
a method is a function of labels (CrowdLabels: votes, to_frame()) that returns (tasks, classes) probabilities, or a
class with fit and predict_proba; a first parameter called data, df or frame gets a DataFrame: task, worker, label:
  cofactor bench my.py:weighted_vote
  cofactor bench crowdkit.aggregation:DawidSkene
  cofactor bench "my.py:Mine(alpha=2)" bluebird rte --beside MV-EM KOS -o trials.csv
  cofactor bench my.py:Mine --simulated              crowds drawn here: copies, constant workers, one label a task ...
  cofactor bench "my.py:Mine(alpha=1)" --beside "my.py:Mine(alpha=2)" --leave-family-out
                                                     alpha is chosen by the other families of sets
  cofactor bench my.py:Mine --data folder            NAME.csv (task, worker, label) beside NAME_truth.csv (task, truth),
                                                     or NAME.toml: name, line, family, licence, source, [files]
  cofactor bench --check-data folder                 what is wrong with each of these sets
other problems are recognised by the name of the first argument: table, X, comparisons (or by --line):
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
FORMS = "CSV, TSV, parquet, JSON, exports of labelling tools, - for stdin, a data set"


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; each sets `run` to the module and function that do it."""
    about = "Hidden structure from pairwise evidence."
    top = LateParser(prog="cofactor", description=about, epilog=FIRST)
    top.formatter_class = Format
    top.add_argument("--version", action="version", version=f"cofactor {__version__}")
    commands = top.add_subparsers(required=True, metavar="command", title="commands")
    labels = _add_aggregate, _add_diagnose, _add_plan, _add_next
    others = _add_bench, _add_datasets, _add_completion
    for add in (*labels, add_lines, _add_reproduce, _add_report, *others):
        add(commands)
    return top


def _add_aggregate(commands: Any) -> None:
    about = "Turn crowd labels into one label per task, with its probability."
    command = new_command(commands, "aggregate", about, "aggregate.aggregate")
    command.usage = "%(prog)s [LABELS ...] [options]"
    reading = _add_labels(command, nargs="*")
    address = "in place of LABELS: duckdb:///FILE, sqlite:///FILE, or another of SQLAlchemy"
    reading.add_argument("--database", metavar="URL", help=address)
    query = "of the database (default: SELECT task, worker, label FROM labels)"
    reading.add_argument("--query", metavar="SQL", default="", help=query)
    master = "read and fit on a cluster: local[2], spark://host:7077; -o is a folder of parquet"
    reading.add_argument("--spark", metavar="MASTER", help=master)
    fit = command.add_argument_group("method, and what is known")
    one: dict[str, Any] = {"type": file_name, "metavar": "FILE"}
    method = f"one of docs/aggregate.md, or your own as my.py:NAME (default: {DEFAULT})"
    fit.add_argument("--method", metavar="METHOD", default=DEFAULT, help=method)
    fit.add_argument("--gold", **one, help="task, truth: tasks of known class, used in the fit")
    fit.add_argument("--truth", **one, help="task, truth: measures the error; not used in the fit")
    order = "classes are grades, the lowest first: '1,2,3' or 'low,medium,high'"
    fit.add_argument("--order", metavar="GRADES", help=order)
    fit.add_argument("--group", **one, help="worker, group: which family or source a worker belongs to")
    fit.add_argument("--wide", action="store_true", help="in -o also the probability of every class")
    tables = {
        "workers": "worker, n_labels, accuracy with its interval, verdict",
        "confusion": "confusion matrices: worker, true, said, probability",
    }
    columns = "task, label, probability, n_labels, disputed, overruled"
    add_common(command, columns, "classes, uncertain tasks, workers, checks", **tables)
    command.epilog = EXAMPLES


def _add_diagnose(commands: Any) -> None:
    about = "Check crowd labels before aggregation: what can be told apart, and by which methods."
    command = new_command(commands, "diagnose", about, "aggregate.diagnose")
    command.usage = "%(prog)s LABELS [options]"
    _add_labels(command)
    add_text(command.add_argument_group("text"))


def _add_plan(commands: Any) -> None:
    about = "Simulate how many labels per task a wanted error takes, for a crowd like this one."
    command = new_command(commands, "plan", about, "aggregate.plan")
    command.usage = "%(prog)s LABELS [options]"
    _add_labels(command)
    plan = command.add_argument_group("plan")
    plan.add_argument("--error", type=float, default=0.05, help="share of tasks labelled wrongly (default: 0.05)")
    most = "labels per task to try, from 1 on (default: 15, or as many as there are now)"
    plan.add_argument("--most", type=int, help=most)
    add_text(command.add_argument_group("text"))


def _add_next(commands: Any) -> None:
    about = "Say which tasks to label next, where a label lowers the expected error most, and when to stop."
    command = new_command(commands, "next", about, "aggregate.next_tasks")
    command.usage = "%(prog)s LABELS [options]"
    _add_labels(command)
    asked = command.add_argument_group("what to ask for")
    budget = "labels to ask for (default: 100); ask for few, and again when they are there"
    asked.add_argument("--budget", type=int, default=100, help=budget)
    error = "share of tasks labelled wrongly that is good enough: stop there"
    asked.add_argument("--error", type=float, help=error)
    checks = "instead: N tasks to look up, whose truth tells which reading of the labels is right"
    asked.add_argument("--checks", type=int, metavar="N", help=checks)
    group = command.add_argument_group(f"reading and writing (tables: {WRITTEN})")
    columns = "task, ask (how many), who (has not seen it), n_labels, label, probability, gain"
    group.add_argument("-o", "--output", type=output_file, metavar="FILE", help=columns)
    add_writing(group)
    add_text(group)
    command.epilog = NEXT


def _add_labels(command: argparse.ArgumentParser, **many: Any) -> Any:
    """Add the source of the labels and what its columns and cells mean; returns the group of these options."""
    group = command.add_argument_group("labels")
    group.add_argument("labels", **many, metavar="LABELS", help=FORMS)
    for column in ("task", "worker", "label"):
        group.add_argument(f"--{column}", metavar="COLUMN", help=f"the {column} column's name")
    classes = "all classes, if some were never used, such as yes,no"
    group.add_argument("--classes", type=_words, metavar="CLASS,...", help=classes)
    ignored = "answers that are none, such as unsure,skip"
    group.add_argument("--ignore", type=_words, default=(), metavar="ANSWER,...", help=ignored)
    twice = "two labels by a worker for a task: error (default), first, last (by updated_at), all"
    group.add_argument("--conflicts", choices=CONFLICTS, metavar="WHICH", default="error", help=twice)
    return group


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


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
    own = "FILE.py:NAME, PACKAGE.MODULE:NAME, or a built-in one"
    command.add_argument("method", nargs="?", metavar="METHOD", help=own)
    command.add_argument("sets", nargs="*", metavar="SET", help="(default: all registered ones that are here)")
    command.add_argument("--beside", nargs="+", default=[], metavar="METHOD", help="other methods to run as well")
    command.add_argument("--data", type=Path, metavar="FOLDER", help="of own sets, see below")
    check = "only look at a folder for --data, and tell what is wrong with each set"
    command.add_argument("--check-data", type=Path, metavar="FOLDER", help=check)
    command.add_argument("--simulated", action="store_true", help="sets drawn from models whose truth is known")
    leave = "choose among METHOD and its variants in --beside by all families of sets but one, and score on that one"
    command.add_argument("--leave-family-out", action="store_true", help=leave)
    lines = "of the method (default: by the name of its first argument: labels, table, X, comparisons)"
    command.add_argument("--line", choices=("crowd", "pmf", "separable", "comparisons"), help=lines)
    kept = "each result is added, and not run again (default: bench.jsonl)"
    command.add_argument("--keep", type=Path, default=Path("bench.jsonl"), metavar="FILE", help=kept)
    command.add_argument("-o", "--output", type=Path, metavar="FILE", help=f"one row a set and method: {WRITTEN}")
    command.add_argument("--report", type=Path, metavar="FILE", help="HTML page: families, choice, set by set")
    add_writing(command)
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

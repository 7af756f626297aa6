"""Commands and their options; what they do is imported only when one of them runs."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from cofactor import __version__

TABLES = "CSV, TSV, Parquet or JSON Lines file, - for stdin, or data set name"
WRITTEN = ".csv, .tsv, .jsonl (each also .gz), .parquet, or - for standard output"

STDOUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")

DEFAULT = "WorkerTypes"
RESULTS = Path("results")
CONFLICTS = ("error", "first", "last", "all")

FIRST = """\
check the labels first, then aggregate them:
  cofactor diagnose labels.csv
  cofactor aggregate labels.csv -o consensus.csv --workers workers.csv --report report.html
plan estimates from a few labels how many per task are enough. For other data, rank takes comparisons (which item won
against which), joint a table with gaps, anchors a matrix such as spectra, and topics texts or word counts. Each command
has its own --help.
"""
EXAMPLES = """\
  cofactor aggregate labels.csv -o labels_out.csv --report report.html
  cofactor aggregate old.csv new.csv --gold known.csv --workers workers.csv -o labels.parquet
"""
NEXT = """\
  cofactor next labels.csv --budget 100 -o tasks.csv --force     run again when new labels have arrived
  cofactor next labels.csv --checks 10 -o ten.csv
"""
BENCH = """\
a method is a function that takes labels (CrowdLabels: votes, to_frame()) and returns (tasks, classes) probabilities,
or a class with fit and predict_proba; if its first parameter is called data, df or frame, it gets a DataFrame with the
columns task, worker and label:
  cofactor bench my.py:weighted_vote
  cofactor bench crowdkit.aggregation:DawidSkene
  cofactor bench "my.py:Mine(alpha=2)" bluebird rte --beside MV-EM KOS -o trials.csv
  cofactor bench my.py:Mine --simulated              simulated crowds: copies, constant workers, one label per task
  cofactor bench "my.py:Mine(alpha=1)" --beside "my.py:Mine(alpha=2)" --leave-family-out
                                                     alpha is chosen using the other families of sets
  cofactor bench my.py:Mine --data folder            NAME.csv (task, worker, label) and NAME_truth.csv (task, truth),
                                                     or NAME.toml: name, problem, family, licence, source, [files]
  cofactor bench --check-data folder                 report what is wrong with each of these sets
other problems are recognised by the name of the first argument (table, X or comparisons), or set with --problem:
  cofactor bench my.py:complete --problem pmf        takes table; returns completed codes, or a model with predict_map
  cofactor bench my.py:find --problem separable      takes X and the number of anchors; returns column indices
  cofactor bench my.py:Choices --problem comparisons returns scores of the items in log-odds, or is a class with
                                                     fit(comparisons) and predict_proba(user, left, right)
the method runs in a process that has no truth and cannot open data sets. Other commands take it, too:
  cofactor aggregate labels.csv --method my.py:Mine --report page.html
"""
SHELLS = ("bash", "zsh", "fish")
COMPLETION = """\
bash, in ~/.bashrc:  source <(cofactor completion bash)
zsh, once:           cofactor completion zsh > "${fpath[1]}/_cofactor"
fish, once:          cofactor completion fish > ~/.config/fish/completions/cofactor.fish
"""
FORMS = "CSV, TSV, Parquet or JSON file, labelling-tool export, - for stdin, or data set name"
RANK = """\
  cofactor rank votes.csv -o ranking.csv --report ranking.html
  cofactor rank arena.jsonl --winner model_a --loser model_b --outcome winner --user judge --user prompt
  cofactor rank season.csv --home --elo Arsenal=1500
"""
JOINT = """\
  cofactor joint survey.csv --gaps "refused, -9, NA" -o complete.csv --classes classes.csv --report joint.html
  cofactor joint survey.csv --draws 20 -o completed.csv --pooled shares.csv
"""
ANCHORS = """\
  cofactor anchors mixture -o anchors.csv --weights weights.csv --report anchors.html
  cofactor anchors scene.mat:Y --scale --anchors 6 --weights maps.npz
"""
TOPICS = """\
  cofactor topics notes --anchors 6 -o topics.csv --weights documents.csv --report topics.html
  cofactor topics counts.mtx --vocabulary words.txt --anchors 20 --method SPA
"""
JOINT_METHODS = ("CNMF-EM", "RAND-EM", "CNMF-SPA-EM", "Independence")  # the default first
ANCHOR_METHODS = ("ProjectedSPA", "SPA", "MERIT", "FastAnchor")
TOPIC_METHODS = ("NMF", "SPA", "MERIT", "FastAnchor", "LDA")


def parser(name: str = "") -> argparse.ArgumentParser:
    """Return the parser of the command of this name, or of all; each sets `run` to the module and function to call."""
    top = LateParser(
        prog="cofactor",
        description="Infer true labels, rankings, joint distributions and topics from pairwise counts.",
        epilog=FIRST,
    )
    top.formatter_class = Format
    top.add_argument("--version", action="version", version=f"cofactor {__version__}")
    commands = top.add_subparsers(required=True, metavar="command", title="commands")
    adders = {
        "aggregate": _add_aggregate,
        "diagnose": _add_diagnose,
        "plan": _add_plan,
        "next": _add_next,
        "rank": _add_rank,
        "joint": _add_joint,
        "anchors": _add_anchors,
        "topics": _add_topics,
        "reproduce": _add_reproduce,
        "report": _add_report,
        "bench": _add_bench,
        "datasets": _add_datasets,
        "completion": _add_completion,
    }
    for add in [adders[name]] if name in adders else adders.values():
        add(commands)
    return top


def _add_aggregate(commands: Any) -> None:
    about = "Turn crowd labels into one label per task, with its probability."
    command = new_command(commands, "aggregate", about, "aggregate.aggregate")
    command.usage = "%(prog)s [LABELS ...] [options]"
    reading = _add_labels(command, nargs="*")
    address = "instead of LABELS: duckdb:///FILE, sqlite:///FILE, or another SQLAlchemy URL"
    reading.add_argument("--database", metavar="URL", help=address)
    query = "query to run (default: SELECT task, worker, label FROM labels)"
    reading.add_argument("--query", metavar="SQL", default="", help=query)
    master = "fit on a cluster: local[2], spark://host:7077; -o writes a folder of Parquet files"
    reading.add_argument("--spark", metavar="MASTER", help=master)
    fit = command.add_argument_group("method and known classes")
    one: dict[str, Any] = {"type": file_name, "metavar": "FILE"}
    method = f"a name from docs/aggregate.md, or your own as my.py:NAME (default: {DEFAULT})"
    fit.add_argument("--method", metavar="METHOD", default=DEFAULT, help=method)
    fit.add_argument("--gold", **one, help="tasks of known class, used in the fit (columns task, truth)")
    fit.add_argument(
        "--truth", **one, help="known classes to measure the error, not used in the fit (columns task, truth)"
    )
    order = "treat classes as grades, lowest first: '1,2,3' or 'low,medium,high'"
    fit.add_argument("--order", metavar="GRADES", help=order)
    fit.add_argument("--group", **one, help="family or source of each worker (columns worker, group)")
    fit.add_argument("--wide", action="store_true", help="add the probability of every class to -o")
    tables = {
        "workers": "worker, n_labels, accuracy (mean probability of own labels), interval, verdict",
        "confusion": "confusion matrices: worker, true, said, probability",
    }
    columns = "task, label, probability, n_labels, disputed, overruled"
    add_common(command, columns, "classes, uncertain tasks, workers, checks", **tables)
    command.epilog = EXAMPLES


def _add_diagnose(commands: Any) -> None:
    about = "Check crowd labels before aggregation: which classes can be distinguished, and which methods suit."
    command = new_command(commands, "diagnose", about, "aggregate.diagnose")
    command.usage = "%(prog)s LABELS [options]"
    _add_labels(command)
    add_text(command.add_argument_group("text"))


def _add_plan(commands: Any) -> None:
    about = "Simulate how many labels per task are needed to reach a given error, with a crowd like this one."
    command = new_command(commands, "plan", about, "aggregate.plan")
    command.usage = "%(prog)s LABELS [options]"
    _add_labels(command)
    plan = command.add_argument_group("plan")
    error = "fraction of tasks labelled wrongly to reach (default: 0.05)"
    plan.add_argument("--error", type=float, default=0.05, help=error)
    most = "try 1 to this many labels per task (default: 15, or the present number if larger)"
    plan.add_argument("--most", type=int, help=most)
    add_text(command.add_argument_group("text"))


def _add_next(commands: Any) -> None:
    about = "Choose the tasks to label next, where a label reduces the expected error most, and say when to stop."
    command = new_command(commands, "next", about, "aggregate.next_tasks")
    command.usage = "%(prog)s LABELS [options]"
    _add_labels(command)
    asked = command.add_argument_group("labels to request")
    budget = "labels to request (default: 100); request few, and run again when they have arrived"
    asked.add_argument("--budget", type=int, default=100, help=budget)
    error = "stop when the expected fraction of tasks labelled wrongly is this low"
    asked.add_argument("--error", type=float, help=error)
    checks = "list N tasks to check by hand instead, to find out which reading of the labels is right"
    asked.add_argument("--checks", type=int, metavar="N", help=checks)
    group = command.add_argument_group(f"reading and writing (tables: {WRITTEN})")
    columns = "task, ask (how many), who (can label it), n_labels, label, probability, gain"
    group.add_argument("-o", "--output", type=output_file, metavar="FILE", help=columns)
    add_writing(group)
    add_text(group)
    command.epilog = NEXT


def _add_labels(command: argparse.ArgumentParser, **many: Any) -> Any:
    """Add the source of the labels and what its columns and cells mean; returns the group of these options."""
    group = command.add_argument_group("labels")
    group.add_argument("labels", **many, metavar="LABELS", help=FORMS)
    for column in ("task", "worker", "label"):
        group.add_argument(f"--{column}", metavar="COLUMN", help=f"name of the {column} column")
    classes = "all classes, such as yes,no, if some never occur"
    group.add_argument("--classes", type=_words, metavar="CLASS,...", help=classes)
    ignored = "answers to leave out, such as unsure,skip"
    group.add_argument("--ignore", type=_words, default=(), metavar="ANSWER,...", help=ignored)
    twice = "if a worker labels a task twice: error (default), first, last (by updated_at), all"
    group.add_argument("--conflicts", choices=CONFLICTS, metavar="WHICH", default="error", help=twice)
    return group


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _add_rank(commands: Any) -> None:
    about = "Rank items from pairwise comparisons: utilities with intervals, and the range of possible ranks."
    command = new_command(commands, "rank", about, "rank.rank")
    command.usage = "%(prog)s COMPARISONS [options]"
    columns = command.add_argument_group("comparisons (name the columns that are not recognised)")
    what = f"one per row, or a table of wins: {TABLES}"
    columns.add_argument("comparisons", metavar="COMPARISONS", help=what)
    for column, side in (
        ("winner", "that won, or with --outcome the first item"),
        ("loser", "that lost, or with --outcome the second item"),
    ):
        columns.add_argument(f"--{column}", metavar="COLUMN", help=f"the item {side}")
    columns.add_argument("--tie", metavar="COLUMN", help="yes where neither item won, no elsewhere")
    columns.add_argument(
        "--outcome",
        metavar="COLUMN",
        help="who won: 1, 0 or tie; an item's name; A or B; H, D or A; or a score such as 2-1",
    )
    words = "values of the outcome column for a win of the first and of the second item"
    columns.add_argument("--words", nargs=2, metavar=("FIRST", "SECOND"), help=words)
    columns.add_argument("--weight", metavar="COLUMN", help="how often each comparison was made")
    user = "who chose, for valid intervals; repeat it for another grouping, such as the prompt"
    columns.add_argument("--user", metavar="COLUMN", action="append", help=user)
    numbers = 'numeric columns that favour the first item; "a - b" is a difference of columns'
    columns.add_argument("--covariates", nargs="+", default=(), metavar="NAME", help=numbers)
    columns.add_argument(
        "--home", action="store_true", help="estimate the advantage of the first side, such as that of playing at home"
    )
    model = command.add_argument_group("ranking")
    model.add_argument("--method", metavar="METHOD", default="Davidson", help="Davidson (default), BradleyTerry")
    elo = "use the Elo scale, with this rating for the item, or for the mean of all items"
    model.add_argument("--elo", metavar="[ITEM=]NUMBER", help=elo)
    model.add_argument(
        "--chance", nargs=2, metavar=("ITEM", "AGAINST"), help="print the probability that ITEM beats AGAINST"
    )
    model.add_argument(
        "--next", type=int, metavar="N", help="print the N most informative comparisons to make next; pairs may repeat"
    )
    tables = {
        "probabilities": "for every pair, the probability that the first item wins",
        "coefficients": "coefficients of covariates and ties, with intervals",
    }
    table = "item, utility, low, high, rank, rank_low, rank_high, wins, losses, comparisons"
    add_common(command, table, "picture, ranking, checks", **tables)
    command.epilog = RANK


def _add_joint(commands: Any) -> None:
    about = "Learn the joint distribution of a table: fill its gaps, describe latent classes, and draw rows."
    command = new_command(commands, "joint", about, "joint.joint")
    command.usage = "%(prog)s TABLE [options]"
    table = command.add_argument_group("table")
    table.add_argument("table", metavar="TABLE", help=f"one case per row: {TABLES}")
    columns = "columns to use (default: all except ids and free text, which are listed)"
    table.add_argument("--columns", nargs="+", metavar="COLUMN", help=columns)
    table.add_argument("--bins", type=int, default=8, help="number of intervals for columns of numbers (default: 8)")
    gaps = "comma-separated words that mark gaps; '' for none (default: NA, n/a, ?, . ...)"
    table.add_argument("--gaps", metavar="WORDS", help=gaps)
    model = command.add_argument_group("model")
    rank = "number of latent classes (default: chosen by predicting hidden cells)"
    model.add_argument("--rank", type=int, metavar="F", help=rank)
    own = f"{JOINT_METHODS[0]} (default), {', '.join(JOINT_METHODS[1:])}, or your own as my.py:NAME"
    model.add_argument("--method", metavar="METHOD", default=JOINT_METHODS[0], help=own)
    draws = "draw D completed tables, such as 20, instead of the most probable one; -o has all"
    model.add_argument("--draws", type=int, metavar="D", help=draws)
    sample = "write N rows drawn from the joint distribution"
    model.add_argument("--sample", nargs=2, metavar=("N", "FILE"), help=sample)
    tables = {
        "classes": "the profile of each latent class",
        "memberships": "the probability of each class for every row",
        "filled": "row, column, value and probability of every filled cell",
        "pooled": "with --draws: means and fractions with intervals by Rubin's rules",
    }
    report = "prediction of each column, latent classes, dependence between columns"
    add_common(command, "the table with its gaps filled, rows in their order", report, **tables)
    command.epilog = JOINT


def _add_anchors(commands: Any) -> None:
    about = "Find the pure columns (endmembers, anchors) of a mixture matrix, and the weights of the mixtures."
    command = new_command(commands, "anchors", about, "anchors.anchors")
    command.usage = "%(prog)s MATRIX ... [options]"
    data = command.add_argument_group("data")
    what = "one point per column, or an image: .npz, .npy, .mat, .mtx, a table, or a data set"
    data.add_argument("matrix", metavar="MATRIX", nargs="+", help=what)
    data.add_argument("--rows", action="store_true", help="points are rows, not columns")
    data.add_argument("--scale", action="store_true", help="divide every point by its sum first")
    none = "leave out points that have this value in every band"
    data.add_argument("--no-data", type=float, metavar="NUMBER", help=none)
    model = command.add_argument_group("model")
    number = "number of anchors (default: where the residual of successive projection drops most)"
    model.add_argument("--anchors", type=int, metavar="K", help=number)
    named = f"{ANCHOR_METHODS[0]} (default), {', '.join(ANCHOR_METHODS[1:])}, or your own as my.py:NAME"
    names = Choices(ANCHOR_METHODS)
    model.add_argument("--method", choices=names, metavar="METHOD", default=names[0], help=named)
    weights = "weights of every point on the anchors; also .npz, with maps for an image"
    columns = "one row per anchor: anchor, point, mean_weight, leads, score, spectrum"
    add_common(command, columns, "spectra, pictures, checks", weights=weights)
    command.epilog = ANCHORS


def _add_topics(commands: Any) -> None:
    about = "Find topics in texts or word counts, and the topic probabilities of each document."
    command = new_command(commands, "topics", about, "topics.topics")
    command.usage = "%(prog)s TEXTS ... --anchors K [options]"
    data = command.add_argument_group("data")
    what = "a table of texts, or of document, word, count; counts in .npz or .mtx; or a data set"
    data.add_argument("texts", metavar="TEXTS", nargs="+", help=what)
    for column in ("document", "word", "count"):
        data.add_argument(f"--{column}", metavar="COLUMN", help=f"name of the {column} column")
    data.add_argument("--vocabulary", type=Path, metavar="FILE", help="words of a count matrix, one per line")
    data.add_argument("--stop-words", metavar="WORDS", help="words to leave out of texts: english, or a file")
    grams = "count sequences of up to N words in texts (default: 1)"
    data.add_argument("--ngrams", type=int, default=1, metavar="N", help=grams)
    least = "leave out words that occur in fewer documents (default: 2)"
    data.add_argument("--min-documents", type=int, default=2, metavar="N", help=least)
    model = command.add_argument_group("model")
    model.add_argument("--anchors", type=int, metavar="K", required=True, help="number of topics")
    method = f"{TOPIC_METHODS[0]} (default), {', '.join(TOPIC_METHODS[1:])} (pip install 'cofactor[topics]')"
    model.add_argument("--method", choices=TOPIC_METHODS, metavar="METHOD", default=TOPIC_METHODS[0], help=method)
    model.add_argument("--words", type=int, default=10, metavar="N", help="words shown per topic (default: 10)")
    weights = "topic probabilities and raw weights of every document; also .npz"
    add_common(command, "topic, share, coherence, place, word, probability", "topics, pictures", weights=weights)
    command.epilog = TOPICS


def _add_reproduce(commands: Any) -> None:
    about = "Rerun tables and figures of the papers, and print our numbers beside the published ones."
    command = new_command(commands, "reproduce", about, "experiments.reproduce")
    command.late_epilog = lambda: str(import_module("cofactor_app.cli.experiments").listed())
    which = "names of experiments, or printed, or all (default: list them)"
    command.add_argument("names", nargs="*", metavar="NAME", help=which)
    command.add_argument(
        "--check", action="store_true", help="rerun the cheapest stored trials, and compare every number"
    )
    command.add_argument("--trials", type=int, help="trials per setting (default: as in the paper)")
    command.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    _add_results(command)


def _add_report(commands: Any) -> None:
    command = new_command(commands, "report", "Write all results to one HTML page.", "experiments.report")
    command.add_argument(
        "-o",
        "--output",
        type=output_file,
        metavar="FILE",
        default=Path("report.html"),
        help="page to write (default: report.html)",
    )
    command.add_argument("--force", action="store_true", help="overwrite an existing page")
    _add_results(command)


def _add_results(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--results", type=Path, default=RESULTS, metavar="FOLDER", help=f"folder of results (default: {RESULTS})"
    )


def _add_bench(commands: Any) -> None:
    about = "Compare your own method with the majority vote and the default on data with known truth."
    command = new_command(commands, "bench", about, "bench.bench")
    own = "FILE.py:NAME, PACKAGE.MODULE:NAME, or a built-in method"
    command.add_argument("method", nargs="?", metavar="METHOD", help=own)
    command.add_argument(
        "sets", nargs="*", metavar="SET", help="data sets (default: those of the bench that are on this machine)"
    )
    command.add_argument("--beside", nargs="+", default=[], metavar="METHOD", help="other methods to run as well")
    command.add_argument("--data", type=Path, metavar="FOLDER", help="your own sets, see below")
    check = "only check a folder for --data, and report what is wrong with each set"
    command.add_argument("--check-data", type=Path, metavar="FOLDER", help=check)
    command.add_argument("--simulated", action="store_true", help="data sets simulated from models with known truth")
    leave = "choose between METHOD and its variants in --beside on all families of sets but one, and score on that one"
    command.add_argument("--leave-family-out", action="store_true", help=leave)
    problems = "problem that the method solves (default: by its first argument: labels, table, X, comparisons)"
    command.add_argument("--problem", choices=("crowd", "pmf", "separable", "comparisons"), help=problems)
    kept = "file of results, which are not run again (default: bench.jsonl)"
    command.add_argument("--keep", type=output_file, default=Path("bench.jsonl"), metavar="FILE", help=kept)
    command.add_argument(
        "-o", "--output", type=output_file, metavar="FILE", help=f"one row per set and method: {WRITTEN}"
    )
    command.add_argument("--report", type=output_file, metavar="FILE", help="HTML page: families, choice, set by set")
    add_writing(command)
    command.epilog = BENCH


def _add_datasets(commands: Any) -> None:
    command = new_command(commands, "datasets", "List, fetch or verify data sets.", "datasets.datasets")
    command.add_argument("action", nargs="?", choices=("list", "fetch", "verify"), default="list")
    command.add_argument("names", nargs="*", help="data sets (default: all)")


def _add_completion(commands: Any) -> None:
    about = "Print a shell script that completes commands, options and file names."
    command = new_command(commands, "completion", about, "completion.completion")
    command.add_argument("shell", choices=SHELLS, help=f"one of {', '.join(SHELLS)}")
    command.epilog = COMPLETION


# ---- options that several commands have, and how help looks ----


def new_command(commands: Any, name: str, about: str, run: str) -> LateParser:
    """Return the parser of a new command; `run` names the module and the function that run it."""
    command: LateParser = commands.add_parser(name, help=about, description=about, add_help=False)
    command.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    command.formatter_class = Format
    command.set_defaults(run=run)
    return command


def add_text(group: Any) -> None:
    """Add the options for reading text to a group of options."""
    group.add_argument("--encoding", type=file_name, default="utf-8-sig", help="text encoding (default: UTF-8)")
    group.add_argument("--sep", type=separator, help="column separator (default: whichever of , tab ; | fits)")
    names = "merge names differing only in case or blanks: classes (default), all, keep (none)"
    group.add_argument("--spelling", choices=("classes", "keep", "all"), metavar="WHICH", default="classes", help=names)
    group.add_argument("--skip-bad", action="store_true", help="leave out invalid entries, and list them")
    group.add_argument("--strict", action="store_true", help="treat notes about the data as errors")


def add_writing(group: Any) -> None:
    """Add the options for writing tables to a group of options."""
    group.add_argument("--force", action="store_true", help="overwrite existing files")
    raw = "write no apostrophe before cells that a spreadsheet would run as formulas"
    group.add_argument("--raw-cells", action="store_true", help=raw)


def add_common(command: argparse.ArgumentParser, output: str, report: str, **tables: str) -> None:
    """Add the options that all verbs share; `output`, `report` and `tables` describe these files."""
    group = command.add_argument_group(f"reading and writing (tables: {WRITTEN})")
    group.add_argument("-o", "--output", type=output_file, metavar="FILE", help=output)
    for name, what in {**tables, "report": f"HTML page: {report}"}.items():
        group.add_argument(f"--{name}", type=output_file, metavar="FILE", help=what)
    add_writing(group)
    group.add_argument("-q", "--quiet", action="store_true", help="print only warnings and errors")
    group.add_argument("-v", "--verbose", action="store_true", help="print details of the fit")
    add_text(group)


def output_file(name: str) -> Path:
    """Return the path of an output, `-` for the system's names of standard output; a bare number is an error."""
    try:
        float(file_name(name))
    except ValueError:
        return Path("-" if name in STDOUT else name)
    raise argparse.ArgumentTypeError(f"{name} is a number, not a file name; to name a file like that, write ./{name}")


def file_name(text: str) -> str:
    """Return the name of a file; an empty one, as from an unset variable of the shell, is an error."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the file name is empty: name a file, or leave the option out")
    return text


def separator(text: str) -> str:
    r"""Return the character that separates columns; a tab can be written as \t, which shells do not expand."""
    return "\t" if text == "\\t" else text


class Format(argparse.RawDescriptionHelpFormatter):
    """Help with space for the names of commands and options."""

    def __init__(self, prog: str, **more: Any) -> None:
        super().__init__(prog, **{"max_help_position": 26, "width": 110, **more})

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        """Show several values as `COLUMN ...`."""
        if action.nargs == "+" and action.option_strings:
            return f"{action.metavar or default_metavar} ..."
        return super()._format_args(action, default_metavar)


class LateParser(argparse.ArgumentParser):
    """A parser that makes its `late_epilog` only when help is printed."""

    late_epilog: Callable[[], str] | None = None

    def format_help(self) -> str:
        """Return the help with its epilog, without a blank line between usage and description."""
        if self.late_epilog:
            self.epilog = self.late_epilog()
        return super().format_help().replace("\n\n", "\n", 1)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Refuse what a command does not know in its own name; argparse would leave it to the parser above."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            import difflib

            near = difflib.get_close_matches(unknown[0].partition("=")[0], self._option_string_actions, 1)
            advice = f"did you mean {near[0]}? See" if near else "see"
            self.exit(2, f"error: unrecognized arguments: {' '.join(unknown)}; {advice} {self.prog} --help\n")
        return found, unknown

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Refuse `--option=--`: argparse takes the value away, and an empty list would stand in its place."""
        if action.option_strings and arg_strings == ["--"]:
            raise argparse.ArgumentError(action, "'--' is not a value")
        return super()._get_values(action, arg_strings)


class Choices(tuple[str, ...]):
    """Names to choose from; `FILE.py:NAME` is accepted as well."""

    def __contains__(self, name: object) -> bool:
        """Return whether this is one of the names, or says where a method is."""
        return super().__contains__(name) or ":" in str(name)

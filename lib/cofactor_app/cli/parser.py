"""Commands and their options; what they do is imported only when one of them runs."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from cofactor import __version__

TABLES = "CSV, TSV, parquet, JSON lines, - for stdin, data set"
WRITTEN = ".csv, .tsv, .jsonl, each also .gz, .parquet, or - for standard output"

STDOUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")

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
                                                     or NAME.toml: name, problem, family, licence, source, [files]
  cofactor bench --check-data folder                 what is wrong with each of these sets
other problems are recognised by the name of the first argument: table, X, comparisons (or by --problem):
  cofactor bench my.py:complete --problem pmf        table: completed codes, or a model with predict_map
  cofactor bench my.py:find --problem separable      X and the number of anchors: columns of X
  cofactor bench my.py:Choices --problem comparisons scores of the items in log-odds, or a class with fit(comparisons)
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
FORMS = "a CSV, TSV, parquet or JSON file, an export of a tool, - (stdin) or a data set"
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
    top = LateParser(prog="cofactor", description="Hidden structure from pairwise evidence.", epilog=FIRST)
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
        "workers": "worker, n_labels, accuracy (mean probability of own labels) with interval, verdict",
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


def _add_rank(commands: Any) -> None:
    about = "Rank items by comparisons: utilities with intervals, and the ranks that the comparisons allow."
    command = new_command(commands, "rank", about, "rank.rank")
    command.usage = "%(prog)s COMPARISONS [options]"
    columns = command.add_argument_group("comparisons, and columns that are not recognised")
    what = f"one a row, or a table of wins: {TABLES}"
    columns.add_argument("comparisons", metavar="COMPARISONS", help=what)
    for column, side in (
        ("winner", "that won; with --outcome, the first one"),
        ("loser", "that lost; or the second one"),
    ):
        columns.add_argument(f"--{column}", metavar="COLUMN", help=f"the item {side}")
    columns.add_argument("--tie", metavar="COLUMN", help="yes or no: neither won")
    columns.add_argument("--outcome", metavar="COLUMN", help="who won: 1, 0, tie; a name; A, B; H, D, A; a score 2-1")
    words = "what the outcome column says of the first and of the second side"
    columns.add_argument("--words", nargs=2, metavar=("FIRST", "SECOND"), help=words)
    columns.add_argument("--weight", metavar="COLUMN", help="how often this comparison was made")
    user = "who chose, for honest intervals; give it twice for votes that share a prompt, too"
    columns.add_argument("--user", metavar="COLUMN", action="append", help=user)
    numbers = 'columns of numbers that favour the winner; "a - b" is a difference of columns'
    columns.add_argument("--covariates", nargs="+", default=(), metavar="NAME", help=numbers)
    columns.add_argument("--home", action="store_true", help="how much better the first side does by being the first")
    model = command.add_argument_group("ranking")
    model.add_argument("--method", metavar="METHOD", default="Davidson", help="Davidson (default), BradleyTerry")
    elo = "on the scale of Elo, on which this item, or the mean, has this number"
    model.add_argument("--elo", metavar="[ITEM=]NUMBER", help=elo)
    model.add_argument("--chance", nargs=2, metavar=("ITEM", "AGAINST"), help="the chance that the one beats the other")
    model.add_argument("--next", type=int, metavar="N", help="the N comparisons that tell most; pairs may repeat")
    tables = {
        "probabilities": "of every pair, the chance that the one wins",
        "coefficients": "those of covariates and of ties, with intervals",
    }
    table = "item, utility, low, high, rank, rank_low, rank_high, wins, losses, comparisons"
    add_common(command, table, "picture, ranking, checks", **tables)
    command.epilog = RANK


def _add_joint(commands: Any) -> None:
    about = "Learn the joint distribution of a table: fill its gaps, describe latent classes of its rows, draw rows."
    command = new_command(commands, "joint", about, "joint.joint")
    command.usage = "%(prog)s TABLE [options]"
    table = command.add_argument_group("table")
    table.add_argument("table", metavar="TABLE", help=f"one case a row: {TABLES}")
    columns = "to use (default: all but ids and free text, which are named)"
    table.add_argument("--columns", nargs="+", metavar="COLUMN", help=columns)
    table.add_argument("--bins", type=int, default=8, help="numbers are cut into so many intervals (default: 8)")
    gaps = "words that are gaps, with commas between; '' for none (default: NA, n/a, ?, . ...)"
    table.add_argument("--gaps", metavar="WORDS", help=gaps)
    model = command.add_argument_group("model")
    rank = "number of latent classes (default: chosen on hidden cells)"
    model.add_argument("--rank", type=int, metavar="F", help=rank)
    own = f"{JOINT_METHODS[0]} (default), {', '.join(JOINT_METHODS[1:])}, or your own as my.py:NAME"
    model.add_argument("--method", metavar="METHOD", default=JOINT_METHODS[0], help=own)
    draws = "draw so many completed tables (20) in place of the most probable one; -o has all"
    model.add_argument("--draws", type=int, metavar="D", help=draws)
    sample = "write N rows drawn from the joint distribution"
    model.add_argument("--sample", nargs=2, metavar=("N", "FILE"), help=sample)
    tables = {
        "classes": "the profile of each latent class",
        "memberships": "the probability of each class in every row",
        "filled": "row, column, value, probability of every cell that was filled",
        "pooled": "of --draws: means and shares with intervals by Rubin's rules",
    }
    report = "how well each column is predicted, latent classes, what depends on what"
    add_common(command, "the table with its gaps filled, in its order", report, **tables)
    command.epilog = JOINT


def _add_anchors(commands: Any) -> None:
    about = "Find the pure columns (endmembers, anchors) of a mixture matrix, and the weights of the mixtures."
    command = new_command(commands, "anchors", about, "anchors.anchors")
    command.usage = "%(prog)s MATRIX ... [options]"
    data = command.add_argument_group("data")
    what = "a point a column, or an image: .npz, .npy, .mat, .mtx, a table, a data set"
    data.add_argument("matrix", metavar="MATRIX", nargs="+", help=what)
    data.add_argument("--rows", action="store_true", help="points are the rows instead")
    data.add_argument("--scale", action="store_true", help="divide every point by its sum first")
    none = "points that hold it in all rows are left out"
    data.add_argument("--no-data", type=float, metavar="NUMBER", help=none)
    model = command.add_argument_group("model")
    number = "how many (default: where the residual of successive projection drops most)"
    model.add_argument("--anchors", type=int, metavar="K", help=number)
    named = f"{ANCHOR_METHODS[0]} (default), {', '.join(ANCHOR_METHODS[1:])}, or your own as my.py:NAME"
    names = Choices(ANCHOR_METHODS)
    model.add_argument("--method", choices=names, metavar="METHOD", default=names[0], help=named)
    weights = "of every point on the anchors; also .npz, of an image with maps"
    columns = "a row an anchor: anchor, point, mean_weight, leads, score, spectrum"
    add_common(command, columns, "spectra, pictures, checks", weights=weights)
    command.epilog = ANCHORS


def _add_topics(commands: Any) -> None:
    about = "Find topics in texts or in counts of words, and how much of each a document holds."
    command = new_command(commands, "topics", about, "topics.topics")
    command.usage = "%(prog)s TEXTS ... --anchors K [options]"
    data = command.add_argument_group("data")
    what = "a table of texts, or of document, word, count; .npz, .mtx: counts; a data set"
    data.add_argument("texts", metavar="TEXTS", nargs="+", help=what)
    for column in ("document", "word", "count"):
        data.add_argument(f"--{column}", metavar="COLUMN", help=f"the {column} column's name")
    data.add_argument("--vocabulary", type=Path, metavar="FILE", help="of a matrix: one word a line")
    data.add_argument("--stop-words", metavar="WORDS", help="of texts: words to leave out, english or a file")
    grams = "of texts: count sequences of up to so many words (default: 1)"
    data.add_argument("--ngrams", type=int, default=1, metavar="N", help=grams)
    least = "leave out words that stand in fewer (default: 2)"
    data.add_argument("--min-documents", type=int, default=2, metavar="N", help=least)
    model = command.add_argument_group("model")
    model.add_argument("--anchors", type=int, metavar="K", required=True, help="number of topics")
    method = f"{TOPIC_METHODS[0]} (default), {', '.join(TOPIC_METHODS[1:])} (pip install 'cofactor[topics]')"
    model.add_argument("--method", choices=TOPIC_METHODS, metavar="METHOD", default=TOPIC_METHODS[0], help=method)
    model.add_argument("--words", type=int, default=10, metavar="N", help="shown of a topic (default: 10)")
    weights = "of every document: probabilities of the topics, and raw weights; also .npz"
    add_common(command, "topic, share, coherence, place, word, probability", "topics, pictures", weights=weights)
    command.epilog = TOPICS


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
    command.add_argument(
        "-o", "--output", type=output_file, metavar="FILE", default=Path("report.html"), help="(default: report.html)"
    )
    command.add_argument("--force", action="store_true", help="overwrite the page if it exists")
    _add_results(command)


def _add_results(command: argparse.ArgumentParser) -> None:
    command.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER", help=f"(default: {RESULTS})")


def _add_bench(commands: Any) -> None:
    about = "Try a method of your own beside the vote and the default, on data of known truth."
    command = new_command(commands, "bench", about, "bench.bench")
    own = "FILE.py:NAME, PACKAGE.MODULE:NAME, or a built-in one"
    command.add_argument("method", nargs="?", metavar="METHOD", help=own)
    command.add_argument(
        "sets", nargs="*", metavar="SET", help="(default: the registered ones of the bench that are here)"
    )
    command.add_argument("--beside", nargs="+", default=[], metavar="METHOD", help="other methods to run as well")
    command.add_argument("--data", type=Path, metavar="FOLDER", help="of own sets, see below")
    check = "only look at a folder for --data, and tell what is wrong with each set"
    command.add_argument("--check-data", type=Path, metavar="FOLDER", help=check)
    command.add_argument(
        "--simulated", action="store_true", help="data sets simulated from models, whose truth is known"
    )
    leave = "choose among METHOD and its variants in --beside by all families of sets but one, and score on that one"
    command.add_argument("--leave-family-out", action="store_true", help=leave)
    problems = "of the method (default: by the name of its first argument: labels, table, X, comparisons)"
    command.add_argument("--problem", choices=("crowd", "pmf", "separable", "comparisons"), help=problems)
    kept = "each result is added, and not run again (default: bench.jsonl)"
    command.add_argument("--keep", type=output_file, default=Path("bench.jsonl"), metavar="FILE", help=kept)
    command.add_argument(
        "-o", "--output", type=output_file, metavar="FILE", help=f"a row per set and method: {WRITTEN}"
    )
    command.add_argument("--report", type=output_file, metavar="FILE", help="HTML page: families, choice, set by set")
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


# ---- options that several commands have, and how help looks ----


def new_command(commands: Any, name: str, about: str, run: str) -> LateParser:
    """Return the parser of a new command; `run` names the module and the function that do it."""
    command: LateParser = commands.add_parser(name, help=about, description=about, add_help=False)
    command.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    command.formatter_class = Format
    command.set_defaults(run=run)
    return command


def add_text(group: Any) -> None:
    """Add the options of how text is read, to a group of options."""
    group.add_argument("--encoding", type=file_name, default="utf-8-sig", help="of text (default: UTF-8)")
    group.add_argument("--sep", type=separator, help="between columns of text (default: whichever of , tab ; | fits)")
    names = "which names are one if only capitals or blanks differ: classes (default), keep, all"
    group.add_argument("--spelling", choices=("classes", "keep", "all"), metavar="WHICH", default="classes", help=names)
    group.add_argument("--skip-bad", action="store_true", help="leave out what cannot be read, by name")
    group.add_argument("--strict", action="store_true", help="notes about the data are an error")


def add_writing(group: Any) -> None:
    """Add the options of how tables are written, to a group of options."""
    group.add_argument("--force", action="store_true", help="overwrite files that exist")
    raw = "no apostrophe before cells that a spreadsheet would run as a formula"
    group.add_argument("--raw-cells", action="store_true", help=raw)


def add_common(command: argparse.ArgumentParser, output: str, report: str, **tables: str) -> None:
    """Add the eleven options that all verbs have; `output`, `report` and `tables` say what is in these files."""
    group = command.add_argument_group(f"reading and writing (tables: {WRITTEN})")
    group.add_argument("-o", "--output", type=output_file, metavar="FILE", help=output)
    for name, what in {**tables, "report": f"HTML page: {report}"}.items():
        group.add_argument(f"--{name}", type=output_file, metavar="FILE", help=what)
    add_writing(group)
    group.add_argument("-q", "--quiet", action="store_true", help="print warnings and errors only")
    group.add_argument("-v", "--verbose", action="store_true", help="print all about the fit")
    add_text(group)


def output_file(name: str) -> Path:
    """Return the path of an output, `-` for the system's names of standard output; a bare number is an error."""
    try:
        float(file_name(name))
    except ValueError:
        return Path("-" if name in STDOUT else name)
    raise argparse.ArgumentTypeError(f"{name} is a number, not a file name; to name a file like that, write ./{name}")


def file_name(text: str) -> str:
    """Return the name of a file, which is not empty, as where a variable of the shell was not set."""
    if not text.strip():
        raise argparse.ArgumentTypeError("no file is named: leave the option out, or name one")
    return text


def separator(text: str) -> str:
    r"""Return the character that separates columns; a tab can be written \t, as shells do not make one of it."""
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
    """A parser whose `late_epilog` is made only where help is asked for."""

    late_epilog: Callable[[], str] | None = None

    def format_help(self) -> str:
        """Return the help with its epilog; usage and description stand together."""
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
            raise argparse.ArgumentError(action, "'--' is no value")
        return super()._get_values(action, arg_strings)


class Choices(tuple[str, ...]):
    """Names to choose from, or where another method is: FILE.py:NAME."""

    def __contains__(self, name: object) -> bool:
        """Return whether this is one of the names, or says where a method is."""
        return super().__contains__(name) or ":" in str(name)

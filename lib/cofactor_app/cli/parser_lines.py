"""Commands of the other three problems: comparisons, joint distributions, separable matrices; options only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cofactor_app.cli.methods import Choices
from cofactor_app.cli.parts import TABLES, add_common, new_command

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


def add_lines(commands: Any) -> None:
    """Add the commands of this module."""
    for add in (_add_rank, _add_joint, _add_anchors, _add_topics):
        add(commands)


def _add_rank(commands: Any) -> None:
    about = "Rank items by comparisons: utilities with intervals, and the ranks that the comparisons allow."
    command = new_command(commands, "rank", about, "rank.rank")
    command.usage = "%(prog)s COMPARISONS [options]"
    columns = command.add_argument_group("comparisons, and columns that are not recognised")
    what = f"one a row, or a table of wins: {TABLES}"
    columns.add_argument("comparisons", metavar="COMPARISONS", help=what)
    for column, side in (("winner", "that won, or the first side"), ("loser", "that lost, or the second side")):
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
    model.add_argument("--next", type=int, default=0, metavar="N", help="the N pairs whose comparison tells most")
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

"""Commands of the other three lines: comparisons, joint distributions, separable matrices; options only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cofactor.registry import names
from cofactor_app.cli.methods import Choices
from cofactor_app.cli.parts import TABLES, WRITTEN, add_common, add_overwriting, add_reading, add_spelling, new_command

RANK = """\
use it where all users are to share one ranking: votes between language models, matches between players.
Where users differ in taste, learn their own utilities: cofactor.comparisons.ComparisonMF.
Where users gave several votes each, name their column (--user): intervals without it are too short.
With an outcome, --winner and --loser name the columns of the first and of the second item. Columns with usual names
(model_a, model_b, winner; home, away and goals; winner_model_a, winner_model_b, winner_tie) are found, and named.

examples:
  cofactor rank votes.csv -o ranking.csv --report ranking.html
  cofactor rank votes.csv --covariates length_difference position --coefficients coefficients.csv
  cofactor rank arena.jsonl --winner model_a --loser model_b --outcome winner --user judge
  cofactor rank season.csv --home --min-comparisons 5 --elo Arsenal=1500
  cofactor rank ballots.csv --places 1st 2nd 3rd
  cofactor rank votes.csv --method my.py:Mine     a function of comparisons gives scores in log-odds, or a class with
                                                  fit(comparisons) and predict_proba(user, left, right)
"""
JOINT = """\
the table may have gaps: empty cells, NA, n/a, null, ?, . and the like ("None" among numbers only), or the words of
--gaps. Numbers of many values are cut at quantiles, ids are left out.
which method:
  CNMF-EM       the default: best on hidden cells of most tables, seconds to a minute
  RAND-EM       about ten times faster, hardly worse: first looks, many columns
  CNMF-SPA-EM   only where some values belong to one hidden class alone
  Independence  every column by itself: what the others have to beat
  my.py:fit     your own: a function of the table, or a class with fit, that gives a cofactor.LatentClassModel

examples:
  cofactor joint survey.csv -o complete.csv --filled cells.csv --report joint.html
  cofactor joint survey.csv --gaps "refused, -9, NA" -o complete.csv
  cofactor joint survey.csv --draws 20 -o completed.csv --pooled shares.csv --not-asked "job of spouse if married=no"
  cofactor joint survey.csv --keep-model model.npz
  cofactor joint new.csv --model model.npz -o complete.csv
  cofactor joint survey.csv --weight weight --forbid "pregnant=yes & sex=male" --sample 1000 drawn.csv
  cofactor joint survey.csv --target income --columns age region job
  cofactor joint survey.csv --rank 5 --sample 1000 drawn.csv
"""
JOINT_METHODS = ("CNMF-EM", "RAND-EM", "CNMF-SPA-EM", "Independence")
ANCHORS = """\
methods: ProjectedSPA (default), SPA, MERIT (slow), FastAnchor, or your own as my.py:NAME; see docs/topics.md

  cofactor anchors mixture -o anchors.csv --weights weights.csv --report anchors.html
  cofactor anchors scene.mat:Y --scale --anchors 6 --weights maps.npz
"""
TOPICS = """\
methods: NMF (default), SPA, MERIT, FastAnchor, LDA (pip install 'cofactor[topics]'); see docs/topics.md

  cofactor topics notes --anchors 6 -o topics.csv --weights documents.csv --report topics.html
  cofactor topics counts.mtx --vocabulary words.txt --anchors 20 --method SPA
"""
RANK_METHODS = names("comparisons")
ANCHOR_METHODS = ("ProjectedSPA", "SPA", "MERIT", "FastAnchor")
TOPIC_METHODS = ("NMF", "SPA", "MERIT", "FastAnchor", "LDA")


def add_lines(commands: Any) -> None:
    """Add the commands of this module."""
    for add in (_add_rank, _add_joint, _add_anchors, _add_topics):
        add(commands)


def _add_rank(commands: Any) -> None:
    about = "Rank items by comparisons: utilities with intervals, and which places cannot be told apart."
    command = new_command(commands, "rank", about, "rank.rank")
    command.add_argument("comparisons", metavar="COMPARISONS", help=f"columns winner, loser: {TABLES}")
    for column in ("winner", "loser"):
        sides = "default: winner and loser, or two columns such as model_a and model_b, home and away"
        command.add_argument(f"--{column}", metavar="COLUMN", help=f"the {column} column's name ({sides})")
    optional = {
        "user": "who chose; intervals then allow for users who are alike in all their votes. Give it twice for votes "
        "that share a prompt, too",
        "tie": "yes or no (1 or 0): neither won",
        "outcome": "who won: 1, 0 or tie; the item's or its column's name; A and B, left and right, H, D and A",
        "weight": "how often this comparison was made with this outcome",
    }
    for column, what in optional.items():
        about = f"{what} (used if there is a column {column})"
        action = "append" if column == "user" else "store"
        command.add_argument(f"--{column}", metavar="COLUMN", help=about, action=action)
    orders = {
        "places": "instead of pairs: columns of the items at the 1st, 2nd, ... place; the first one alone is a choice",
        "others": "with --places: columns of items that came after these, in no order; several in a cell by ;",
    }
    for name, about in orders.items():
        command.add_argument(f"--{name}", nargs="+", default=(), metavar="COLUMN", help=about)
    races = "instead of pairs: one result a row; columns of the race, of the item, and of its place in it"
    command.add_argument("--races", nargs=3, default=(), metavar=("RACE", "ITEM", "PLACE"), help=races)
    words = "the words of the outcome column for the first and for the second item, where it has others"
    command.add_argument("--words", nargs=2, metavar=("FIRST", "SECOND"), help=words)
    numbers = (
        'columns of numbers that favour the winner: positive where the winner had more of it; "a - b" is a difference'
    )
    command.add_argument("--covariates", nargs="+", default=(), metavar="COLUMN", help=numbers)
    home = "a covariate of ones: how much better the first side does by being the first"
    command.add_argument("--home", action="store_true", help=home)
    by = "also a ranking within each value of this column; -o then has all of them, by a column board"
    command.add_argument("--by", metavar="COLUMN", help=by)
    least = "leave out items with fewer comparisons (default: 1)"
    command.add_argument("--min-comparisons", type=int, default=1, metavar="N", help=least)
    parts = "refuse items in parts that no comparison links; by default the largest part is ranked, the rest named"
    command.add_argument("--all-parts", action="store_true", help=parts)
    own = f"{', '.join(RANK_METHODS[:2])}, ... of this kit or your own as my.py:NAME (default: a model with ties)"
    command.add_argument("--method", choices=Choices(RANK_METHODS), metavar="METHOD", help=own)
    elo = "utilities on the scale of Elo, at which this item, or the mean of all, has this number"
    command.add_argument("--elo", metavar="[ITEM=]NUMBER", help=elo)
    command.add_argument("--level", type=float, default=0.9, help="of all intervals (default: 0.9)")
    match = "the chance that the one beats the other, where covariates are zero but for those of --given"
    command.add_argument("--chance", nargs=2, metavar=("ITEM", "AGAINST"), help=match)
    given = "covariates of the match of --chance, such as home=1"
    command.add_argument("--given", nargs="+", default=(), metavar="COVARIATE=NUMBER", help=given)
    more = "name the N pairs whose comparison is expected to tell most"
    command.add_argument("--next", type=int, default=0, metavar="N", help=more)
    beside = "log-loss of Elo, average win rate and PageRank beside; their scores become columns of -o"
    command.add_argument("--baselines", action="store_true", help=beside)
    add_spelling(command)
    add_reading(command)
    files = command.add_argument_group("files to write", WRITTEN)
    one: dict[str, Any] = {"type": Path, "metavar": "FILE"}
    places = "item, utility, low, high, rank, rank_low, rank_high, wins, losses, comparisons"
    files.add_argument("-o", "--output", **one, help=places)
    files.add_argument("--probabilities", **one, help="of every pair, the chance that the one is chosen")
    files.add_argument("--coefficients", **one, help="of covariates, and of ties, with intervals")
    files.add_argument("--users", **one, help="utilities of every user who made enough comparisons")
    files.add_argument("--report", **one, help="HTML page: picture, ranking, checks")
    add_overwriting(files)
    command.epilog = RANK


def _add_joint(commands: Any) -> None:
    about = "Learn the joint distribution of the columns of a table: fill gaps, predict one column, draw rows."
    command = new_command(commands, "joint", about, "joint.joint")
    command.add_argument("table", metavar="TABLE", help=f"a header, and one row per case: {TABLES}")
    columns = "to use (default: all but ids and free text, which are named)"
    command.add_argument("--columns", nargs="+", metavar="COLUMN", help=columns)
    command.add_argument("--bins", type=int, default=8, help="intervals that many numbers are cut into (default: 8)")
    gaps = "words that are gaps beside empty cells, with commas between them; '' for none (default: see below)"
    command.add_argument("--gaps", metavar="WORDS", help=gaps)
    asked = "cells that are no gaps, and stay empty; may be given several times"
    command.add_argument("--not-asked", action="append", default=[], metavar='"A if B=VALUE"', help=asked)
    pair = "two values that cannot stand in one row; may be given several times"
    command.add_argument("--forbid", action="append", default=[], metavar='"A=VALUE & B=VALUE"', help=pair)
    weight = "weights of the rows, such as those of a survey; the column is no part of the model"
    command.add_argument("--weight", metavar="COLUMN", help=weight)
    rank = "number of hidden classes (default: chosen by hidden cells)"
    command.add_argument("--rank", type=int, metavar="F", help=rank)
    _add_own_method(command, JOINT_METHODS)
    model = "a fit that --keep-model wrote: fills the gaps of this table, and nothing is fitted"
    command.add_argument("--model", type=Path, metavar="FILE.npz", help=model)
    target = "predict this column: error beside logistic regression, naive Bayes and the majority, by cross-validation"
    command.add_argument("--target", metavar="COLUMN", help=target)
    draws = "draw so many completed tables (20), whose values are as frequent as they are probable, and pool estimates"
    command.add_argument("--draws", type=int, metavar="D", help=draws)
    command.add_argument("--jobs", type=int, default=1, help="with --draws: processes (default: 1)")
    add_spelling(command)
    add_reading(command)
    files = command.add_argument_group("files to write", WRITTEN)
    one: dict[str, Any] = {"type": Path, "metavar": "FILE"}
    output = "the table with its gaps filled; with --draws all tables, one below another, and a column draw"
    files.add_argument("-o", "--output", **one, help=output)
    files.add_argument("--filled", **one, help="row, column, value, probability of every cell that was filled")
    pooled = "with --draws, means and shares by Rubin's rules: column, value, estimate, low, high, missing"
    files.add_argument("--pooled", **one, help=pooled)
    files.add_argument("--sample", nargs=2, metavar=("N", "FILE"), help="draw N rows from the joint distribution")
    files.add_argument("--report", **one, help="HTML page: how well each column is predicted, what depends on what")
    kept = "the fit and the coding of the columns, for --model"
    files.add_argument("--keep-model", type=Path, metavar="FILE.npz", help=kept)
    add_overwriting(files)
    command.epilog = JOINT


def _add_anchors(commands: Any) -> None:
    about = "Find the pure columns (endmembers, anchors) of a mixture matrix, and the weights of the mixtures."
    command = new_command(commands, "anchors", about, "anchors.anchors")
    what = (
        f"name of a data set, .npz, .npy, .mat, .mtx, or {TABLES}; a point a column, or an image rows x columns x bands"
    )
    command.add_argument("matrix", metavar="MATRIX", nargs="+", help=what)
    data = command.add_argument_group("data")
    data.add_argument("--rows", action="store_true", help="points are the rows instead")
    data.add_argument("--scale", action="store_true", help="divide every point by its sum first")
    none = "points that hold it in all rows are left out"
    data.add_argument("--no-data", type=float, metavar="NUMBER", help=none)
    model = command.add_argument_group("model")
    number = "how many (default: where the residual of successive projection drops most)"
    model.add_argument("--anchors", type=int, metavar="K", help=number)
    _add_own_method(model, ANCHOR_METHODS)
    _add_weights(command, "of every point on the anchors; also .npz, of an image with maps")
    add_common(
        command, "a row an anchor: anchor, point, mean_weight, leads, score, spectrum", "spectra, pictures, checks"
    )
    command.epilog = ANCHORS


def _add_topics(commands: Any) -> None:
    about = "Find topics in texts or in counts of words, and how much of each a document holds."
    command = new_command(commands, "topics", about, "topics.topics")
    what = f"name of a data set, {TABLES}, with a column of texts, or document, word and count; .npz, .mtx: counts"
    command.add_argument("texts", metavar="TEXTS", nargs="+", help=what)
    data = command.add_argument_group("data")
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
    method = f"see below (default: {TOPIC_METHODS[0]})"
    model.add_argument("--method", choices=TOPIC_METHODS, metavar="METHOD", default=TOPIC_METHODS[0], help=method)
    model.add_argument("--words", type=int, default=10, metavar="N", help="shown of a topic (default: 10)")
    _add_weights(command, "of every document: probabilities of the topics, and raw weights; also .npz")
    add_common(command, "topic, share, coherence, place, word, probability", "topics, pictures")
    command.epilog = TOPICS


def _add_weights(command: Any, what: str) -> None:
    files = command.add_argument_group("files to write")
    files.add_argument("--weights", type=Path, metavar="FILE", help=what)


def _add_own_method(command: Any, names: tuple[str, ...]) -> None:
    """Offer these methods, or one of the user's."""
    about = f"see below, or your own as my.py:NAME (default: {names[0]})"
    command.add_argument("--method", choices=Choices(names), metavar="METHOD", default=names[0], help=about)

"""Read votes (who won against whom) as `Comparisons` and covariates."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from cofactor.comparisons.data import CHOICES, COLUMNS, LARGEST_COUNT, Codes, Comparisons, Names, SameItem
from cofactor.core.cells import (
    TRUTH_VALUES,
    Refuse,
    Spelling,
    alike_note,
    check_columns,
    check_present,
    check_spelling,
    is_blank,
    located,
    look_alikes,
    merged_names,
    merged_note,
    numeric,
    plain,
    plain_name,
    plain_numbers,
    refused,
    says_nothing,
)
from cofactor.core.checks import check_kind
from cofactor.core.errors import CofactorError, DataWarning, amount, listing
from cofactor.core.lazy import pd
from cofactor.core.types import Floats
from cofactor.reading.notes import equal_as_text
from cofactor.reading.records import COUNTED
from cofactor.reading.tables import STDIN, Coded, read_frame, refuse_twice, renamed_columns
from cofactor.reading.text import TWICE

WON = (  # names of the columns of the item that won, and of the other one
    *(("winner", "loser"), ("winner_name", "loser_name"), ("winner_id", "loser_id"), ("chosen", "rejected")),
    *(("preferred", "rejected"), ("selected", "rejected"), ("better", "worse")),
    *(("winning_team", "losing_team"), ("winner_model", "loser_model"), ("winner_team", "loser_team")),
)
SIDES = (  # names of the two sides of a comparison
    *(("model_a", "model_b"), ("player_a", "player_b"), ("item_a", "item_b"), ("option_a", "option_b"), ("a", "b")),
    *(("home", "away"), ("home_team", "away_team"), ("hometeam", "awayteam"), ("team_a", "team_b"), ("left", "right")),
    *(("player1", "player2"), ("player_1", "player_2"), ("item1", "item2"), ("item_1", "item_2"), ("x", "y")),
    *(("team1", "team2"), ("team_1", "team_2"), ("model1", "model2"), ("model_1", "model_2"), ("first", "second")),
    *(("white", "black"), ("i", "j"), ("response_a", "response_b"), ("response1", "response2")),
    *(("response_1", "response_2"), ("option1", "option2"), ("option_1", "option_2"), ("answer_a", "answer_b")),
    *(("answer_1", "answer_2"), ("image_a", "image_b"), ("image_1", "image_2"), ("candidate_a", "candidate_b")),
)
OUTCOMES = (
    *("winner", "outcome", "result", "res", "ftr", "preference", "preferred", "chosen", "choice", "label", "vote"),
    *("better", "picked", "selected", "verdict", "judgment", "judgement", "score", "final_score", "full_time_score"),
    *("ft", "ft_score", "scoreline", "full_time", "goals", "sets", "games"),
)
SCORES = (
    *(("score_a", "score_b"), ("score1", "score2"), ("score_1", "score_2"), ("score_left", "score_right")),
    *(("home_score", "away_score"), ("score_home", "score_away"), ("home_goals", "away_goals"), ("hg", "ag")),
    ("winner_score", "loser_score"),
    *(("fthg", "ftag"), ("goals_a", "goals_b"), ("goals_home", "goals_away"), ("points_a", "points_b")),
)
WINS = ("winner_{}", "{}_wins", "{}_won", "{}_win", "win_{}", "wins_{}")  # columns of zeros and ones
TIED = ("tie", "draw", "tied", "is_tie", "is_draw")
NUMBERS = ("0", "1", "0.5", ".5", "0.0", "1.0")
PICKED = ("chosen", "preferred", "choice", "picked", "selected", "preference", "better")  # 0 may be the first there
SCORE = re.compile(r"(\d+)\s*[-\u2013:]\s*(\d+)(?:\s?\(\d+\))?")  # both scores in one cell; of a set with its tie-break
UNPLAYED = {*("", "-", "--", "\u2013", "-:-", "v", "vs", "vs.", "na", "n/a", "nan", "null", "?", "tbd", "tba", "bye")}
UNPLAYED |= {"canc", "canc.", "susp", "susp.", "postp", "postp.", "void", "n/p", "np"}
UNPLAYED |= {"postponed", "ppd", "p-p", "pp", "cancelled", "canceled", "abandoned", "not played", "unplayed"}
NUMERIC = re.compile(r"-?\d+(\.\d+)?")  # words that are the same however the number is written
TIES = re.compile(  # how a cell that says tie begins: a whole word, though no blank need follow both
    r"(tie[ds]?|draws?|drawn|both(bad|good|equal|same)?|neither|equal(s|ly|ity)?)(?![^\W_])|same$|=$|0\.5$|½|1/2"
)
WORDS = (  # of the first and of the second item, and perhaps of a tie; tried in turn, the first two for home and away
    *(("h", "a", "d"), ("home", "away", "d"), ("a", "b", ""), ("left", "right", ""), ("l", "r", ""), ("x", "y", "")),
    *(("first", "second", ""), ("1-0", "0-1", ""), ("1", "2", "x"), ("white", "black", ""), ("win", "loss", "")),
    *(("w", "l", "d"), ("true", "false", ""), ("yes", "no", ""), ("model_a", "model_b", ""), ("won", "lost", "")),
    *(("player1", "player2", ""), ("team1", "team2", ""), ("1", "-1", "0"), ("a>b", "b>a", "a=b")),
)
YES_WORDS, NO_WORDS = ("1", "1.0", "true", "t", "yes", "y", "x"), ("", "0", "0.0", "false", "f", "no", "n")
OPTIONAL = ("user", "tie", "outcome", "weight")
REPEATING = (  # names of columns that votes often share
    *("prompt", "prompt_id", "question", "question_id", "task", "task_id", "instruction", "query", "document", "image"),
    *("user_id", "voter", "voter_id", "judge", "judge_id", "annotator", "annotator_id", "rater", "rater_id", "worker"),
)
PLACE = re.compile(r"(rank|place|position|pos|choice|pick|preference|top)[ _]?\d+|\d+(st|nd|rd|th)( choice| place)?")
HOW_OFTEN = (*COUNTED, "times", "n_times")  # names of columns that may say how often a comparison was made
FEW_PROMPTS = 5  # prompts: fewer cannot tell how they differ
Kind = TypeVar("Kind", bound=Comparisons)
Named = Mapping[str, str | Sequence[str] | None]
HOME = "home"  # name of the covariate that is one in every comparison


@dataclass(frozen=True)
class Reading:
    """The result of reading votes: comparisons, covariates in the same order, and notes."""

    comparisons: Comparisons
    covariates: pd.DataFrame
    notes: list[str] = field(default_factory=list)


def read_votes(
    source: str | PathLike[str] | pd.DataFrame,
    winner: str | None = None,
    loser: str | None = None,
    user: str | Sequence[str] | None = None,
    tie: str | None = None,
    outcome: str | None = None,
    weight: str | None = None,
    covariates: Sequence[str] = (),
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    words: tuple[str, str] | None = None,
    home: bool = False,
    spelling: Spelling = "classes",
    skip_bad: bool = False,
) -> tuple[Comparisons, pd.DataFrame]:
    """Read one comparison per row from a file or a frame; columns that are not given are recognised by their names.

    In a square table, whose first column has the same items as its header, a cell is how often the row's item won
    against the column's. Rows without a result are left out.

    Parameters
    ----------
    source : path, "-" for standard input, or DataFrame
        Files as for `Comparisons.from_csv`; JSON may also contain pairs [winner, loser].
    winner, loser : names of the columns of items; with `outcome`, only of the first and of the second item
        Default: winner and loser, or two columns whose names are those of sides (model_a and model_b, home and away).
    user : column of who chose; or two columns, the second of the prompt, picture or day that votes share
    tie : column of yes or no, or of 1 or 0; empty means no
    outcome : column of who won
        1 (the item in `winner`), 0 (the other one) or 0.5; the name of the item or of its column; or words such as A
        and B, left and right, or H, D and A; words for ties begin with tie, draw, both or neither. Default, with two
        sides: a column named winner or outcome, otherwise a column of 0 and 1 for each side (winner_model_a), or two
        scores. Only one of `tie` and `outcome` can be used.
    weight : column of how often this comparison was made, with this outcome; rows with 0 are left out
        Used by default if it is named weight and holds whole numbers.
    covariates : columns of finite numbers, of `winner` minus `loser`; "a - b" is the difference of two columns
        For example the length of an answer, or 1 and -1 for which item was shown first; TRUE is 1, FALSE 0.
    encoding, sep : as for `Comparisons.from_csv`
    words : the two words of `outcome` for the first and the second item, if they are other than those above
    home : bool
        Add a covariate that is 1 in every comparison: the advantage of being the first side.
    spelling : {"classes", "keep", "all"}
        "all" merges items, and users, whose names differ only in capitals, surrounding blanks or invisible characters,
        under the most frequent name. Other names that look alike are noted and count as different.
    skip_bad : bool
        Leave out comparisons that cannot be read instead of raising an error.

    With "" for `user`, `tie`, `outcome` or `weight`, no such column is used.

    Returns the comparisons, and a DataFrame of the covariates in the same order, for `rank`.

    Raises a CofactorError that lists the rows if items are missing or equal, or a cell cannot be read; also if no item
    occurs in both columns.

    Cost: O(m), half a microsecond per cell.

    >>> data, _ = read_votes(pd.DataFrame({"winner": ["tea", "gin"], "loser": ["milk", "tea"], "tie": ["", "yes"]}))
    >>> data.items, data.outcome.tolist()
    (('gin', 'milk', 'tea'), [1.0, 0.5])
    """
    named: Named = {"winner": winner, "loser": loser, "user": user, "tie": tie, "outcome": outcome, "weight": weight}
    found = reading(source, named, covariates, encoding, sep, words, home, spelling, skip_bad)
    return found.comparisons, found.covariates


def reading(
    source: str | PathLike[str] | pd.DataFrame,
    named: Named,
    covariates: Sequence[str] = (),
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    words: Sequence[str] | None = None,
    home: bool = False,
    spelling: Spelling = "classes",
    skip_bad: bool = False,
) -> Reading:
    """Read votes as `read_votes` does; `named` holds its arguments that name columns, None if not given."""
    check_kind((str, PathLike, pd.DataFrame), source=source)
    check_kind((list, tuple), covariates=covariates)
    named, notes = _with_prompt(named), list[str]()
    needed = list(dict.fromkeys(filter(None, named.values())))
    parts = [part.strip() for name in covariates for part in (name, *name.split(" - "))]
    text = not isinstance(source, pd.DataFrame)
    optional = [*candidates(), *parts, *OPTIONAL, *REPEATING, *HOW_OFTEN, "winner", "loser"]
    if isinstance(source, pd.DataFrame):
        check_columns(source, needed, "comparisons")
        frame = renamed_columns(source, ["winner", "loser", *candidates(), *OPTIONAL, *HOW_OFTEN])
    elif needed or covariates or Path(source).is_file():
        frame = read_frame(source, needed, encoding, sep, "comparison", optional=optional, pairs=("winner", "loser"))
    else:  # a pipe, which can be read once
        source = read_frame(source, None, encoding, sep, "comparison", pairs=("winner", "loser"))
        frame = renamed_columns(source, optional)
        frame.attrs = source.attrs
    square = None if needed or covariates else square_of(source, frame, encoding, sep, notes)
    if square is not None:
        frame, text = square, False
        named |= {"winner": "winner", "loser": "loser", "weight": "weight"}
    first, second = sides_of(list(frame.columns), named["winner"], named["loser"])
    if not {first, second} <= set(frame.columns) and (places := _places(frame.attrs.get("found", frame.columns))):
        what = f"columns {listing(places)} seem to hold orderings of several items, but rank needs winners and losers"
        raise CofactorError(f"{what}: the package choix can rank from orderings")
    if not {first, second} <= set(frame.columns):
        check_columns(pd.DataFrame(columns=frame.attrs.get("found", frame.columns), index=[0]), [first, second])
    layout = layout_of(list(frame.columns), first, second, named["outcome"], named["tie"])
    if layout.outcome and layout.tie:
        raise CofactorError("columns tie and outcome both say who won: use only one of them, for example with tie=''")
    if not (layout.sided or named["winner"] or named["loser"] or (first, second) in WON):
        advice = "pass the column that says who won as outcome, or the winner and loser columns"
        raise CofactorError(f"columns {first} and {second} hold items, but no column says who won: {advice}")
    if home and not layout.sided:
        raise CofactorError("home needs two sides and an outcome: winners and losers do not show who was first")
    votes = _Votes(frame, layout, named, text, skip_bad)
    votes.notes[:0] = notes
    used = [first, second, layout.outcome, layout.tie, *layout.each, *layout.scores, votes.user, votes.weight, *parts]
    refuse_twice([name for name in dict.fromkeys(used) if name and name in frame.attrs.get(TWICE, ())])
    check_spelling(spelling)
    votes.write_one_way(spelling == "all")
    return votes.read(list(covariates), words, home)


def square_of(
    source: str | PathLike[str] | pd.DataFrame, frame: pd.DataFrame, encoding: str, sep: str | None, notes: list[str]
) -> pd.DataFrame | None:
    """Return winner, loser and weight from a square table of wins, and add to `notes`; None for any other table.

    Its rows, named in the first column or in the index, are the same items as its columns. The diagonal is ignored, and
    a last row and column that hold the sums of the others are left out.
    """
    found = frame.attrs.get("found", frame.columns)
    if any(set(pair) <= set(frame.columns) for pair in WON):
        return None
    if isinstance(source, pd.DataFrame):
        whole, names = source, [str(one) for one in source.index]
        if sorted(names) != sorted(map(str, source.columns)) and len(source.columns) == len(source) + 1:
            whole, names = source.iloc[:, 1:], [str(one) for one in source.iloc[:, 0]]
    elif len(found) != len(frame) + 1 or len(found) < 3:
        return None
    else:
        try:
            whole = read_frame(source, None, encoding, sep, "comparison")
        except CofactorError:  # cells of columns that no reader of votes looks at
            return None
        whole, names = whole.iloc[:, 1:], whole.iloc[:, 0].astype(str).tolist()
    items = list(map(str, whole.columns))
    if len(items) < 2 or sorted(names) != sorted(items) or len(set(items)) < len(items):
        return None
    cells = whole.set_axis(items, axis=1).astype(object)
    cells = cells.mask(cells.isin(["", "-", "\u2013"]) | cells.isna(), "0")
    notes.append("read as a square table: a cell is how often the row's item won against the column's")
    if names[-1] == items[-1] and _ends_in_sums(cells.iloc[[*map(names.index, items)]]):
        notes.append(f"left out row and column {items[-1]}, since they hold the sums of the others")
        cells, names, items = cells.iloc[:-1, :-1], names[:-1], items[:-1]
    parts = [
        pd.DataFrame({"winner": names, "loser": one, "weight": cells[one].to_numpy()}, cells.index) for one in items
    ]
    long = pd.concat([part[part["winner"] != part["loser"]] for part in parts])
    long.index.name = whole.index.name
    return long


def _ends_in_sums(wins: pd.DataFrame) -> bool:
    """Return whether the last row and column are the sums of the others, with or without the diagonal.

    Of three rows, the last cell must be the sum of all: else the third of three equal items would be such a row.
    """
    cells = _as_numbers(pd.Series(wins.to_numpy().ravel(), dtype=object)).to_numpy(dtype=np.float64).reshape(wins.shape)
    inner, right, below = cells[:-1, :-1], cells[:-1, -1], cells[-1, :-1]
    sums = [
        np.allclose(counted.sum(axis=1), right)
        and np.allclose(counted.sum(axis=0), below)
        and (len(inner) > 2 or np.isclose(counted.sum(), cells[-1, -1]))
        for counted in (inner, inner * (1 - np.eye(len(inner))))
    ]
    return any(sums)


def _places(columns: Sequence[str]) -> list[str]:
    """Return the columns named like positions in an ordering, if there are at least three."""
    found = [str(name) for name in columns if PLACE.fullmatch(str(name).strip().casefold())]
    return found if len(found) > 2 else []


def _with_prompt(named: Named) -> dict[str, Any]:
    """Rename the second of two user columns to "prompt"."""
    user = named["user"]
    users = list(user) if isinstance(user, list | tuple) else [user]
    if not 1 <= len(users) <= 2:
        raise CofactorError(f"{len(users)} user columns ({listing(users)}): give one or two")
    return {**named, "user": users[0], "prompt": users[1] if len(users) > 1 else None}


class _Votes:
    """A table of votes whose columns are known."""

    def __init__(
        self, frame: pd.DataFrame, layout: Layout, named: dict[str, str | None], text: bool, skip_bad: bool
    ) -> None:
        self.frame, self.layout, self.text, self.skip_bad = frame, layout, text, skip_bad
        self.user = self._used(named, "user")
        self.weight = self._used(named, "weight")
        self.prompt = named["prompt"] or None
        self.notes = self._repeating()
        if named["weight"] is None and self.weight and (why := _no_counts(frame["weight"])):
            self.notes.append(f"column weight was not used, since {why}: to use it, set weight='weight'")
            self.weight = None
        unasked = [layout.first, layout.second, layout.outcome, layout.tie, *layout.each, *layout.scores, self.user]
        asked = {*named.values(), *({"winner", "loser"} & {layout.first, layout.second})}
        taken = [name for name in (*unasked, self.weight) if name and name not in asked]
        if taken:
            self.notes.insert(0, f"columns used by default: {listing(taken)}")
        self.notes += self._unused([*unasked, self.weight, *named.values()])

    def _used(self, named: dict[str, str | None], what: str) -> str | None:
        return (what if what in self.frame else None) if named[what] is None else named[what] or None

    def _unused(self, used: Sequence[str | None]) -> list[str]:
        """Return notes on columns that may say how often a comparison was made, or that it was a tie."""
        left, notes = [str(name) for name in self.frame if name not in used], list[str]()
        if not self.weight:
            for name in (one for one in left if one in HOW_OFTEN and not _no_counts(self.frame[one])):
                told = f"column {name} is not used: if it says how often each comparison was made"
                notes.append(f"{told}, set weight={name!r}")
        if self.layout.sided or self.layout.tie:
            return notes
        for name in (one for one in OUTCOMES if one in left and _says_tie(self.frame[one])):
            notes.append(f"column {name} says that some comparisons are ties: to use it, set outcome={name!r}")
        for one, other in (pair for pair in SCORES if {*pair} <= {*left}):
            if (_as_numbers(self.frame[one]) == _as_numbers(self.frame[other])).any():
                notes.append(
                    f"{one} and {other} are equal in some rows, which count as wins: add a column tie for ties"
                )
        return notes

    def _repeating(self) -> list[str]:
        """Return notes on columns named like prompts or users whose values repeat but which are not used."""
        used, m, notes = {self.user, self.prompt, self.layout.first, self.layout.second}, len(self.frame), []
        for name in REPEATING:
            different = self.frame[name].nunique() if name in self.frame and name not in used else 0
            if FEW_PROMPTS <= different <= m / 2:
                told = f"column {name} has {different} values in {m} votes: if votes with the same value are correlated"
                also = f" in addition to user={self.user!r}" if self.user else ""
                notes.append(f"{told}, the intervals are too narrow; to allow for that, set user={name!r}{also}")
        return notes

    def write_one_way(self, merge: bool) -> None:
        """Merge items, and users, whose names differ only in capitals and the like if `merge`; note look-alikes."""
        columns = {"items": [self.layout.first, self.layout.second], "users": [self.user] if self.user else []}
        for what, names in columns.items():
            used = (
                Coded.joined([Coded.of(self.frame[name]) for name in names]) if names else Coded(np.zeros(0, int), [])
            )
            self.notes.extend(equal_as_text(used.values, what))
            counts = {str(name): n for name, n in zip(used.values, used.counts.tolist(), strict=True)}
            if what == "items" and (message := no_answer_note(counts)):
                self.notes.append(message)
            if merge and (known := merged_names(counts)):
                told_by = [*names, *([self.layout.outcome] if self.layout.outcome else [])]
                self.frame = self.frame.assign(**{name: renamed(self.frame[name], known) for name in told_by})
                self.notes.append(merged_note(known, what))
                counts = {name: n for name, n in counts.items() if known.get(name, name) == name}
            self.notes.extend(filter(None, [alike_note(look_alikes(counts, spaced=False), what)]))

    def read(self, covariates: list[str], words: Sequence[str] | None, home: bool) -> Reading:
        """Return the votes; raise an error for those that cannot be read, or leave them out."""
        self._without_result()
        pair = (str(words[0]), str(words[1])) if words else None
        if self.skip_bad:
            self._without_bad(covariates, pair)
        counts, first, second = self._counts(), self.layout.first, self.layout.second
        frame = self.frame
        self._check_cells(refused)
        code, items = encoded([frame[first], frame[second]], "items", self.text)
        left, right = np.split(code, 2)
        self._check_sides(left, right, items)
        who, users = np.zeros(len(frame), dtype=np.int32), [0]
        if self.user:
            who, users = encoded([frame[self.user]], "users", self.text)
        prompt = encoded([frame[self.prompt]], "prompts", self.text)[0] if self.prompt else None
        won = outcomes(frame, self.layout, pair, self.notes)
        found = Comparisons(who, left, right, won, len(users), len(items), counts, prompt=prompt)
        columns = {name: self._covariate(name) for name in covariates} | ({HOME: np.ones(len(frame))} if home else {})
        X = pd.DataFrame(columns, index=range(len(frame)))
        X = X.iloc[np.argsort(who, kind="stable")].reset_index(drop=True)
        return Reading(found.with_ids(users, items), X, self.notes)

    def _without_result(self) -> None:
        """Leave out rows without a result, such as matches that were not played."""
        told_by = [name for name in (self.layout.outcome, *self.layout.each[:2], *self.layout.scores) if name]
        if not told_by:
            return
        none = np.all([_says_none(self.frame[name]) for name in told_by], axis=0)
        if self.layout.scores:
            none = np.any([_says_none(self.frame[name]) for name in told_by], axis=0)
        if self.layout.outcome:  # an item may be called so, too
            won, *sides = (
                self.frame[name].astype(str) for name in (self.layout.outcome, self.layout.first, self.layout.second)
            )
            none &= ~np.logical_or(*(np.asarray((won == side) & (won != "")) for side in sides))
        if none.any() and not none.all():
            what = f"left out {amount(none.sum(), 'comparison')} without a result"
            self.notes.append(f"{what}: {located(self.frame, none)}")
            self.frame = self.frame[~none]

    def _without_bad(self, covariates: list[str], words: tuple[str, str] | None) -> None:
        """Leave out rows that cannot be read, and note which and why."""
        bad, whys = np.zeros(len(self.frame), dtype=bool), list[str]()

        def left_out(rows: NDArray[np.bool_], what: str, _: str) -> None:
            bad[rows] = True
            whys.append(what)

        self._check_cells(left_out)
        with warnings.catch_warnings(action="ignore", category=DataWarning):  # the second look says it again
            self._counts(left_out)
            outcomes(self.frame, self.layout, words, [], left_out)
            for name in covariates:
                self._covariate(name, left_out)
        if bad.all():
            raise CofactorError(f"no comparison can be read: {whys[0]}")
        if bad.any():
            self.notes += [f"comparisons left out: {why}" for why in whys]
            self.frame = self.frame[~bad]

    def _check_cells(self, refuse: Refuse) -> None:
        """Refuse rows without an item or a user, and comparisons of an item with itself."""
        first, second = self.layout.first, self.layout.second
        for name in filter(None, (first, second, self.user, self.prompt)):
            column = self.frame[name]
            none = np.asarray(column.isna() | column.astype(object).map(is_blank), dtype=bool)
            if none.any():
                refuse(none, f"missing {name} in {located(self.frame, none)}", ": fill or drop them")
        one, two = (self.frame[name].astype(object) for name in (first, second))
        same = np.asarray((one == two) & one.notna() & (one != ""), dtype=bool)
        if same.any():
            what = f"an item is compared with itself in {located(self.frame, same, one[same].tolist())}"
            refuse(same, what, ": drop these rows")

    def _counts(self, refuse: Refuse | None = None) -> Floats | None:
        """Return the weights, and leave out rows of weight zero."""
        if not self.weight:
            return None
        meaning = f"{self.weight} (how often this comparison was made)"
        rule = f"{meaning} must hold 0, or numbers from {1 / LARGEST_COUNT:g} to {LARGEST_COUNT:g}"
        counts = numeric(
            self.frame,
            self.weight,
            rule,
            lambda n: (n == 0) | ((n >= 1 / LARGEST_COUNT) & (n <= LARGEST_COUNT)),
            refuse or refused,
        )
        if refuse:
            return None
        self.frame = self.frame[counts > 0]
        if self.frame.empty:
            raise CofactorError(f"no comparison is left: every {self.weight} is 0")
        return counts[counts > 0]

    def _check_sides(self, left: np.ndarray, right: np.ndarray, items: list[object]) -> None:
        one, two = self.layout.first, self.layout.second
        if len(items) > 2 and not np.intersect1d(left, right).size:
            advice = "pass two columns of items as winner and loser, and the column that says who won as outcome"
            why = "perhaps one of them holds no items, or every item always won or always lost, so none can be ranked"
            raise CofactorError(f"no item occurs in both columns {one} and {two}: {why}; {advice}")

    def _covariate(self, name: str, refuse: Refuse = refused) -> Floats:
        one, _, other = name.partition(" - ")
        if name in self.frame or not other:
            return self._numbers(name, refuse)
        values = [self._numbers(part.strip(), refuse) for part in (one, other)]
        return np.asarray(values[0] - values[1])

    def _numbers(self, name: str, refuse: Refuse) -> Floats:
        check_columns(self.frame, [name], "comparisons")
        frame = self.frame[[name]]
        if {str(cell).strip().casefold() for cell in frame[name].dropna().unique()} <= {"", *TRUTH_VALUES}:
            frame = frame.assign(**{name: [TRUTH_VALUES.get(str(x).strip().casefold(), x) for x in frame[name]]})
        return numeric(frame, name, f"{name} (a covariate) must hold numbers", refuse=refuse)


def _no_counts(cells: pd.Series[Any]) -> str:
    """Return why the numbers of a column cannot be counts; "" if they can."""
    numbers = _as_numbers(cells).dropna()
    if numbers.empty:
        return "it holds no numbers"
    return "" if (numbers % 1 == 0).all() else "its numbers are not whole and so are not counts"


def _as_numbers(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Return cells as numbers, or NaN, without the warnings of a form, which the reader of counts gives."""
    with warnings.catch_warnings(action="ignore", category=DataWarning):
        return pd.to_numeric(plain(cells)[0], errors="coerce")


def _says_none(cells: pd.Series[Any]) -> NDArray[np.bool_]:
    """Return a mask of the cells without a result."""
    column = Coded.of(cells)
    return column.missing | column.where([str(one).strip().casefold() in UNPLAYED for one in column.values])


def _says_tie(cells: pd.Series[Any]) -> bool:
    """Return whether some cells are words for a tie, or scores that are equal."""
    words = [text.casefold() for text in _words(Coded.of(cells).values) if text]
    return any(_is_tie(text, ()) for text in words) or 0.5 in _scores(words).values()


def no_answer_note(counts: Mapping[str, int]) -> str:
    """Return a note on items that look like non-answers, with their numbers of comparisons; "" if there are none."""
    found = listing(f"{name!r} ({counts[name]})" for name in sorted(counts) if says_nothing(name))
    return (
        f"items that look like non-answers count as items: {found}; if they are not, drop their rows" if found else ""
    )


def renamed(cells: pd.Series[Any], known: Mapping[str, str]) -> pd.Series[Any]:
    """Replace names by those with which they were merged."""
    return cells.map(lambda cell: known.get(str(cell), cell))


def _ties(frame: pd.DataFrame, name: str, refuse: Refuse) -> Floats:
    """Return outcomes from a column that says whether a row is a tie."""
    code, cells = pd.factorize(frame[name].to_numpy(dtype=object), use_na_sentinel=False)
    words = pd.Series(["" if pd.isna(cell) else str(cell).strip().casefold() for cell in cells], dtype=object)
    values = np.asarray(words.map(dict.fromkeys(YES_WORDS, 0.5) | dict.fromkeys(NO_WORDS, 1.0)), dtype=np.float64)[code]
    bad = np.isnan(values)
    if bad.any():
        found = located(frame, bad, frame[name][bad].tolist())
        refuse(bad, f"{name} must hold yes or no; see {found}", ": correct or drop these rows")
    return values


# ---- columns: which hold the two items, and which say who won ----


@dataclass(frozen=True)
class Layout:
    """Columns of a table of votes; `first` and `second` are winner and loser unless another column says who won."""

    first: str
    second: str
    outcome: str | None = None
    tie: str | None = None
    each: tuple[str, ...] = ()  # columns of zeros and ones: the first won, the second, perhaps a tie
    scores: tuple[str, ...] = ()

    @property
    def sided(self) -> bool:
        """Whether another column says which side won."""
        return bool(self.outcome or self.each or self.scores)


def candidates() -> list[str]:
    """Return all column names that are looked for."""
    pairs = [name for pair in (*WON, *SIDES, *SCORES) for name in pair]
    sides = [short for pair in SIDES for name in pair for short in (name, _short(name))]
    each = [form.format(name) for form in WINS for name in (*sides, *TIED)]
    return [*dict.fromkeys([*pairs, *OUTCOMES, *each, *TIED])]


def sides_of(columns: Sequence[str], winner: str | None, loser: str | None) -> tuple[str, str]:
    """Return the two columns of items: as given, winner and loser, or a pair whose names are those of sides."""
    if winner or loser:
        return winner or "winner", loser or "loser"
    return next((pair for pair in (*WON, *SIDES) if set(pair) <= set(columns)), WON[0])


def layout_of(columns: Sequence[str], first: str, second: str, outcome: str | None, tie: str | None) -> Layout:
    """Find the columns that say who won; "" for `outcome` or `tie` excludes such a column."""
    items = {first, second}
    each = _each(columns, first, second)
    if not outcome and (first, second) not in WON:
        found = [name for name in OUTCOMES if name in columns and name not in items]
        alone = next((name for name in (*_wins(first), *_wins(second)) if name in columns), None)
        outcome = (found[0] if found else alone) if outcome is None and not each else None
        if not outcome and not tie:
            scores = next((pair for pair in SCORES if set(pair) <= set(columns) and not items & set(pair)), ())
            if each or scores:
                return Layout(first, second, each=each, scores=() if each else scores)
    elif outcome is None and "outcome" in columns:
        outcome = "outcome"
    elif outcome in each[:2]:
        return Layout(first, second, each=each)
    if tie is None:  # where another column says who won, only "tie" says that one has to choose
        names = ("tie",) if outcome else TIED
        tie = next((name for name in names if name in columns and name not in items), None)
    return Layout(first, second, outcome or None, tie or None)


def _each(columns: Sequence[str], first: str, second: str) -> tuple[str, ...]:
    for one, other in ((first, second), (_short(first), _short(second))):
        for form in WINS:
            pair = form.format(one), form.format(other)
            if set(pair) <= set(columns):
                tied = [form.format(word) for word in TIED if form.format(word) in columns]
                return (*pair, *tied[:1])
    return ()


def _wins(side: str) -> list[str]:
    """Return names of columns that hold 1 where this side won."""
    return [form.format(name) for form in WINS for name in (side, _short(side))]


def _short(side: str) -> str:
    """Return the part of a name that distinguishes the sides: "a" of "model_a"."""
    return side.rpartition("_")[2]


# ---- who won ----


def outcomes(
    frame: pd.DataFrame,
    layout: Layout,
    words: tuple[str, str] | None,
    notes: list[str],
    refuse: Refuse = refused,
) -> Floats:
    """Return 1 if the first item of a row won, 0 if the second did, 0.5 for a tie; may add to `notes`.

    `refuse` is called for cells that cannot be read.
    """
    if layout.each:
        return _of_each(frame, layout, refuse)
    if layout.scores:
        said = "{} (a score) must hold numbers"
        one, two = (numeric(frame, name, said.format(name), refuse=refuse) for name in layout.scores)
        return np.asarray((1 + np.sign(one - two)) / 2)
    if layout.outcome in _wins(layout.second) and layout.outcome not in _wins(layout.first) and not words:
        turned = replace(layout, first=layout.second, second=layout.first)
        return 1 - _of_words(frame, layout.outcome, turned, words, notes, refuse, ("1", "0"))
    if layout.outcome:
        return _of_words(frame, layout.outcome, layout, words, notes, refuse)
    return np.ones(len(frame)) if layout.tie is None else _ties(frame, layout.tie, refuse)


def _of_each(frame: pd.DataFrame, layout: Layout, refuse: Refuse) -> Floats:
    rule = "{} must hold 1 where this side won and 0 elsewhere"
    plain = pd.DataFrame({c: [TRUTH_VALUES.get(str(x).strip().casefold(), x) for x in frame[c]] for c in layout.each})
    plain.index = frame.index
    values = [numeric(plain, name, rule.format(name), lambda n: np.isin(n, (0, 1)), refuse) for name in layout.each]
    won, lost = values[:2]
    tied = values[2] if len(values) > 2 else 1 - won - lost
    bad = (won + lost + tied != 1) | (tied < 0)
    if bad.any():
        number = "exactly" if len(values) > 2 else "at most"  # with two columns, none is a tie
        what = f"{number} one of {listing(layout.each)} must be 1; see {located(frame, bad)}"
        refuse(bad, what, ": correct or drop these rows")
    return np.asarray(won + tied / 2)


def _of_words(
    frame: pd.DataFrame,
    name: str,
    layout: Layout,
    words: tuple[str, str] | None,
    notes: list[str],
    refuse: Refuse,
    other: tuple[str, str] = ("0", "1"),
) -> Floats:
    """Read a column that says who won, by names of the items if all words are such names, else by words for sides.

    `other` are the words that read a column of 1 and 0 the other way round.

    A name is matched without case only where it does not match exactly, and a word for a tie that names an item of its
    row is that name. Raises a CofactorError for words that name an item but may also mean a side.
    """
    columns = [Coded.of(frame[column]).map(_words) for column in (name, layout.first, layout.second)]
    word, named = columns[0], _named(columns)
    without_case = [column.map(lambda cells: [cell.casefold() for cell in cells]) for column in columns]
    folded = [text.casefold() for text in word.values]
    known = {*without_case[1].values, *without_case[2].values}
    ties = {text: 0.5 for text in folded if _is_tie(text, known)}
    meaning = _meaning(folded, layout, words, word.counts.tolist(), refuse is not refused, ties)
    values = np.array([*(meaning.get(text, np.nan) for text in folded), np.nan])[word.codes]
    tie = word.where([text in ties for text in folded])
    numbers = bool(folded) and all(text in NUMBERS for text in folded)
    if not words:
        left, right = np.split(Coded.joined(without_case[1:]).codes, 2)  # equal ones cannot be told apart without case
        any_case = np.where(np.isnan(named) & (left != right), _named(without_case), named)
        by_name = np.where(np.isnan(any_case) & tie, 0.5, np.where(tie, any_case, named))
        all_names = not np.isnan(by_name).any()
        items = {*columns[1].values, *columns[2].values}
        h_d_a = "h" in folded and not any(text.casefold() == "h" for text in items)  # then A is away
        sided = meaning.keys() - ties.keys()
        both = [text for text in word.values if text in items and text.casefold() in sided]
        both = [] if h_d_a else both
        sides = f"{both[0]!r} of column {name}" if both else ""
        if both and ((numbers and all_names and (by_name != values).any()) or not (numbers or all_names)):
            raise CofactorError(
                f"{sides} is an item, but may also say which side won: give the words for the first and the second "
                f"side with words (--words {both[0]} OTHER), or rename the items"
            )
        if numbers and not all_names:
            if plain_name(name) in PICKED:
                raise CofactorError(
                    f"{name} holds 0 and 1, and it is not known which means {layout.first} and which {layout.second}: "
                    "give the words for the first and the second with words (--words 1 0, or --words 0 1)"
                )
            notes.append(
                f"{name}: 1 means {layout.first} and 0 means {layout.second}; to swap them, set words={other} "
                f"(--words {' '.join(other)})"
            )
        elif "-1" in folded and not all_names and all(text in ("1", "-1", "0") for text in folded):
            swap = "to swap them, set words=('-1', '1') (--words -1 1)"
            notes.append(f"{name}: 1 means {layout.first} and -1 means {layout.second}; {swap}")
        values = np.where(np.isnan(values) | (tie & ~np.isnan(any_case)), any_case, values)
        values = by_name if all_names and not h_d_a else values
    bad = np.isnan(values)
    if bad.any():
        found = located(frame, bad, frame[name][bad].tolist())
        given = f"{words[0]}, {words[1]}" if words else f"1, 0, tie, {layout.first} or {layout.second}"
        advice = "write ties as tie" if words else "pass the two words of your file as words"
        advice = f": {advice}, or correct or drop these rows"
        refuse(bad, f"{name} must hold {given}, or the winner's name; see {found}", advice)
    return values


def _named(columns: Sequence[Coded]) -> Floats:
    """Return 1 if the word of a row is its first item, 0 if it is its second, and NaN otherwise."""
    word, left, right = np.split(Coded.joined(columns).codes, 3)
    return np.where(word < 0, np.nan, np.where(word == left, 1.0, np.where(word == right, 0.0, np.nan)))


def _is_tie(text: str, items: Collection[str]) -> bool:
    """Return whether a word, without case, says tie; a longer text is none if it names an item ("Tie Fighter")."""
    found = TIES.match(text)
    return found is not None and (found[0] == text or text not in items)


def _words(cells: list[Any]) -> list[str | None]:
    """Convert cells to stripped text; empty cells become None."""
    return [str(cell).strip() or None for cell in cells]


def _meaning(
    text: list[str],
    layout: Layout,
    words: tuple[str, str] | None,
    often: Sequence[int],
    some: bool,
    ties: Mapping[str, float],
) -> dict[str, float]:
    """Return the outcome that each word means; words in no list are left out, and those for `ties` are known.

    With `some`, not all words need be in one list: it is the list that explains most of the cells; without, scores are
    such a list, so that what is none of them is named.
    """
    if words:
        said = {words[0].strip().casefold(): 1.0, words[1].strip().casefold(): 0.0}
        as_number = {float(word): won for word, won in said.items() if NUMERIC.fullmatch(word)}
        return {**ties, **{word: as_number[float(word)] for word in text if NUMERIC.fullmatch(word)
                           and float(word) in as_number}, **said}  # fmt: skip
    number = pd.to_numeric(pd.Series(text, dtype=object), errors="coerce").to_numpy()
    plain = {word: float(n) for word, n in zip(text, number, strict=True) if n in CHOICES}
    sides = {plain_name(layout.first): 1.0, plain_name(layout.second): 0.0}
    plain |= {word: sides[plain_name(word)] for word in text if plain_name(word) in sides} | dict(ties)
    if all(word in plain for word in text):
        return plain
    scores = _scores(text)
    if all(word in ties or word in scores for word in text):
        return {**ties, **scores}
    known = [plain, {**ties, **scores}]
    lists = known.copy()
    at_home = "home" in layout.first.casefold() or "h" in text  # where "a" is away
    for first, second, tie in WORDS if at_home else WORDS[2:]:
        found = {**ties, first: 1.0, second: 0.0, **({tie: 0.5} if tie else {})}
        if all(word in found for word in text):
            return found
        lists.append(found)
    return max(
        lists if some else known, key=lambda one: sum(n for word, n in zip(text, often, strict=True) if word in one)
    )


def _scores(text: list[str]) -> dict[str, float]:
    """Return the outcomes of scores such as 2-1, 0:3 or 6-4 3-6 7-6(5); with several sets, by sets won."""
    found = {}
    for word in text:
        sets = [SCORE.fullmatch(part) for part in re.split(r"\s*[,;]\s*|(?<=[\d)])\s+(?=\d+[-\u2013:])", word)]
        if all(sets):
            ahead = [int(np.sign(int(one[1]) - int(one[2]))) for one in sets if one]
            found[word] = float((1 + np.sign(sum(ahead))) / 2)
    return found


# ---- comparisons of named columns ----


def read_comparisons(
    cls: type[Kind],
    path: str | PathLike[str],
    names: Names,
    same_item: SameItem,
    encoding: str,
    sep: str | None,
) -> Kind:
    """Read a file with one row per comparison (see `Comparisons.from_csv`)."""
    try:
        frame = read_frame(path, list(filter(None, names)), encoding, sep, "comparison", coded=True)
    except CofactorError:
        if names != COLUMNS or path == STDIN:
            raise
        return cast("Kind", read_votes(path, encoding=encoding, sep=sep)[0])
    return comparisons_of(cls, frame, names, same_item, text=True)


def comparisons_of(cls: type[Kind], frame: pd.DataFrame, names: Names, same_item: SameItem, text: bool) -> Kind:
    """Use the columns user, left, right, outcome and, if given, counts (see `Comparisons.from_frame`)."""
    check_columns(frame, list(filter(None, names)), "comparisons")
    user, left, right, outcome, counts = names
    for name in (user, left, right):
        check_present(frame[name], name, text)
    who, users = encoded([frame[user]], user, text)
    what, items = encoded([frame[left], frame[right]], "items", text)
    first, second = np.split(what, 2)
    won = numeric(frame, outcome, f"{outcome} must hold numbers")
    often = numeric(frame, counts, f"{counts} must hold numbers") if counts else None
    return cls(who, first, second, won, len(users), len(items), often, same_item).with_ids(users, items)


def encoded(columns: Sequence[pd.Series[Any]], name: str, text: bool = False) -> tuple[Codes, list[Any]]:
    """Return the codes of concatenated columns, and their ids, sorted if they can be compared.

    With `text`, plain whole numbers become integers.
    """
    column = Coded.of_ids(columns, name)
    column = (column.map(plain_numbers) if text else column).sorted()
    return column.codes.astype(np.int32), column.values

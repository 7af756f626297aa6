"""Votes as files hold them, who won against whom, as `Comparisons` and covariates; `vote_layouts` finds columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from cofactor.comparisons.data import CHOICES, LARGEST_COUNT, Codes, Comparisons, Names, SameItem
from cofactor.core.cells import (
    Spelling,
    check_columns,
    check_present,
    check_spelling,
    located,
    look_alikes,
    merged_names,
    numeric,
    plain_name,
    plain_numbers,
    says_nothing,
    told,
    told_merged,
)
from cofactor.core.checks import check_kind
from cofactor.core.errors import CofactorError, listing
from cofactor.core.lazy import pd
from cofactor.core.types import Floats
from cofactor.reading.tables import Coded, read_frame, refuse_twice
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
    *("better", "picked", "selected", "verdict", "judgment", "judgement", "score"),
)
SCORES = (
    *(("score_a", "score_b"), ("score1", "score2"), ("score_1", "score_2"), ("score_left", "score_right")),
    *(("home_score", "away_score"), ("score_home", "score_away"), ("home_goals", "away_goals"), ("hg", "ag")),
    *(("fthg", "ftag"), ("goals_a", "goals_b"), ("goals_home", "goals_away"), ("points_a", "points_b")),
)
WINS = ("winner_{}", "{}_wins", "{}_won", "{}_win", "win_{}", "wins_{}")  # columns of zeros and ones
TIED = ("tie", "draw", "tied")
NUMBERS = ("0", "1", "0.5", ".5", "0.0", "1.0")
PICKED = ("chosen", "preferred", "choice", "picked", "selected", "preference", "better")  # 0 may be the first there
SCORE = re.compile(r"(\d+)\s*[-\u2013:]\s*(\d+)")  # both scores in one cell
TIES = re.compile(r"tie|draw|both|neither|equal|same$|=$|0\.5$|½|1/2")  # how the word for a tie begins
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
FEW_PROMPTS = 5  # prompts: fewer cannot tell how they differ
Kind = TypeVar("Kind", bound=Comparisons)
Named = Mapping[str, str | Sequence[str] | None]
HOME = "home"  # name of the covariate that is one in every comparison


@dataclass(frozen=True)
class Reading:
    """Votes that were read: comparisons, covariates and categories in their order, and what was noticed unasked."""

    comparisons: Comparisons
    covariates: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    by: pd.Series[Any] | None = None


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
) -> tuple[Comparisons, pd.DataFrame]:
    """Read one row per comparison, of a file or a frame; what is not named is used where a column is called so.

    Parameters
    ----------
    source : path, "-" for standard input, or DataFrame
        Files as of `Comparisons.from_csv`; JSON may also hold pairs [winner, loser].
    winner, loser : names of the columns of items; with `outcome` just of the first and of the second item
        Default: winner and loser, or two columns that are called like sides (model_a and model_b, home and away, ...).
    user : column of who chose; or two, also of the prompt, picture or day that votes share
    tie : column of yes or no, 1 or 0; empty is no
    outcome : column of who won
        1 (the item in `winner`), 0 (the other one) and 0.5; the names of the columns of items, or of the item; A and B,
        left and right, H, D and A and the like; ties begin with tie, draw, both or neither. Default, with two sides:
        a column called winner or outcome; else a column of 0 and 1 for each side (winner_model_a), or two scores.
        At most one of `tie` and `outcome` can be used.
    weight : column of how often this comparison was made, with this outcome; rows of 0 are left out
        Used unasked where it holds whole numbers.
    covariates : columns of finite numbers, of `winner` less `loser`; "a - b" is the difference of two columns
        A length of answers, or 1 and -1 for which one was shown first.
    encoding, sep : as of `Comparisons.from_csv`
    words : the two words of `outcome` for the first and the second item, where it has others
    home : bool
        Add a covariate that is one in every comparison: how much better the first side does by being the first.
    spelling : {"classes", "keep", "all"}
        "all" makes one of items, and of users, that differ in capitals, surrounding blanks or invisible characters
        alone, the one that is used most. Others that look alike are named and count as different.

    "" for `user`, `tie`, `outcome` or `weight`: such a column is not used.

    Returns the comparisons, and a DataFrame of the covariates in the same order, for `rank`.

    Raises a CofactorError that names rows with missing or equal items, or where a cell cannot be read; and where no
    item stands in both columns.

    Cost: O(m), half a microsecond a cell.

    >>> data, _ = read_votes(pd.DataFrame({"winner": ["tea", "gin"], "loser": ["milk", "tea"], "tie": ["", "yes"]}))
    >>> data.items, data.outcome.tolist()
    (('gin', 'milk', 'tea'), [1.0, 0.5])
    """
    named: Named = {"winner": winner, "loser": loser, "user": user, "tie": tie, "outcome": outcome, "weight": weight}
    found = reading(source, named, covariates, encoding, sep, words, home, spelling)
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
    by: str | None = None,
) -> Reading:
    """Read votes as `read_votes` does; `named` holds its arguments that name columns, None where nothing is said.

    `by` is the column of a category of votes.
    """
    check_kind((str, PathLike, pd.DataFrame), source=source)
    check_kind((list, tuple), covariates=covariates)
    named = _with_prompt(named)
    needed = list(dict.fromkeys(filter(None, [*named.values(), by])))
    parts = [part.strip() for name in covariates for part in (name, *name.split(" - "))]
    if isinstance(source, pd.DataFrame):
        check_columns(source, needed, "comparisons")
        frame = source
    else:
        optional = [*candidates(), *parts, *OPTIONAL, *REPEATING, "winner", "loser"]
        frame = read_frame(source, needed, encoding, sep, "comparison", optional=optional, pairs=("winner", "loser"))
    first, second = sides_of(list(frame.columns), named["winner"], named["loser"])
    if not {first, second} <= set(frame.columns) and (places := _places(frame.attrs.get("found", frame.columns))):
        names = " ".join(places)
        raise CofactorError(f"columns {listing(places)} seem to hold orders: read them by `rank --places {names}`, or "
                            "in Python by read_orders")  # fmt: skip
    if not {first, second} <= set(frame.columns):
        check_columns(pd.DataFrame(columns=frame.attrs.get("found", frame.columns), index=[0]), [first, second])
    layout = layout_of(list(frame.columns), first, second, named["outcome"], named["tie"])
    if layout.outcome and layout.tie:
        raise CofactorError("columns tie and outcome both say whether somebody won: leave one out, say tie='' for it")
    if not (layout.sided or named["winner"] or named["loser"] or (first, second) in WON):
        advice = "name the column that does as outcome, or the columns of winner and loser"
        raise CofactorError(f"columns {first} and {second} hold items, but nothing says who won: {advice}")
    if home and not layout.sided:
        raise CofactorError("home needs two sides and an outcome: of winners and losers nobody knows who was first")
    votes = _Votes(frame, layout, named, frame is not source)
    used = [first, second, layout.outcome, layout.tie, *layout.each, *layout.scores, votes.user, votes.weight, *parts]
    refuse_twice([name for name in dict.fromkeys(used) if name and name in frame.attrs.get(TWICE, ())])
    check_spelling(spelling)
    votes.write_one_way(spelling == "all")
    return votes.read(list(covariates), words, home, by)


def _places(columns: Sequence[str]) -> list[str]:
    """Return the columns that are called like places of an order, where there are three or more."""
    found = [str(name) for name in columns if PLACE.fullmatch(str(name).strip().casefold())]
    return found if len(found) > 2 else []


def _with_prompt(named: Named) -> dict[str, Any]:
    """Name the second of two columns of users "prompt"."""
    user = named["user"]
    users = list(user) if isinstance(user, list | tuple) else [user]
    if not 1 <= len(users) <= 2:
        raise CofactorError(f"{len(users)} columns of users ({listing(users)}): give one or two")
    return {**named, "user": users[0], "prompt": users[1] if len(users) > 1 else None}


class _Votes:
    """A table of votes whose columns are known."""

    def __init__(self, frame: pd.DataFrame, layout: Layout, named: dict[str, str | None], text: bool) -> None:
        self.frame, self.layout, self.text = frame, layout, text
        self.user = self._used(named, "user")
        self.weight = self._used(named, "weight")
        self.prompt = named["prompt"] or None
        self.notes = self._repeating()
        whole = pd.to_numeric(frame["weight"], errors="coerce") % 1 == 0 if self.weight == "weight" else None
        if named["weight"] is None and whole is not None and not whole.all():
            why = "column weight holds numbers that are not whole, which are no counts"
            self.notes.append(f"{why}: it was not used; weight='weight' uses it")
            self.weight = None
        unasked = [layout.first, layout.second, layout.outcome, layout.tie, *layout.each, *layout.scores, self.user]
        asked = {*named.values(), *({"winner", "loser"} & {layout.first, layout.second})}
        taken = [name for name in (*unasked, self.weight) if name and name not in asked]
        if taken:
            self.notes.insert(0, f"columns taken unasked: {listing(taken)}")

    def _used(self, named: dict[str, str | None], what: str) -> str | None:
        return (what if what in self.frame else None) if named[what] is None else named[what] or None

    def _repeating(self) -> list[str]:
        """Note columns that are called like prompts or users, repeat, and are not used."""
        used, m, notes = {self.user, self.prompt, self.layout.first, self.layout.second}, len(self.frame), []
        for name in REPEATING:
            different = self.frame[name].nunique() if name in self.frame and name not in used else 0
            if FEW_PROMPTS <= different <= m / 2:
                told = f"column {name} has {different} values in {m} votes: if votes that share one are alike"
                also = f" beside user={self.user!r}" if self.user else ""
                notes.append(f"{told}, intervals are too short without it; user={name!r}{also} allows for that")
        return notes

    def write_one_way(self, merge: bool) -> None:
        """Make one of items, and of users, that differ in capitals and the like where asked to; note look-alikes."""
        columns = {"items": [self.layout.first, self.layout.second], "users": [self.user] if self.user else []}
        for what, names in columns.items():
            used = (
                Coded.joined([Coded.of(self.frame[name]) for name in names]) if names else Coded(np.zeros(0, int), [])
            )
            counts = {str(name): n for name, n in zip(used.values, used.counts.tolist(), strict=True)}
            if what == "items" and (message := told_of_nothing(counts)):
                self.notes.append(message)
            if merge and (known := merged_names(counts)):
                told_by = [*names, *([self.layout.outcome] if self.layout.outcome else [])]
                self.frame = self.frame.assign(**{name: renamed(self.frame[name], known) for name in told_by})
                self.notes.append(told_merged(known, what))
                counts = {name: n for name, n in counts.items() if known.get(name, name) == name}
            self.notes.extend(filter(None, [told(look_alikes(counts, spaced=False), what)]))

    def read(self, covariates: list[str], words: Sequence[str] | None, home: bool, by: str | None) -> Reading:
        """Return the votes; refuse what cannot be read."""
        counts, first, second = self._counts(), self.layout.first, self.layout.second
        frame = self.frame
        for name in filter(None, (first, second, self.user, self.prompt)):
            check_present(frame[name], name, self.text)
        code, items = encoded([frame[first], frame[second]], "items", self.text)
        left, right = np.split(code, 2)
        self._check_items(left, right, items)
        who, users = np.zeros(len(frame), dtype=np.int32), [0]
        if self.user:
            who, users = encoded([frame[self.user]], "users", self.text)
        prompt = encoded([frame[self.prompt]], "prompts", self.text)[0] if self.prompt else None
        pair = (str(words[0]), str(words[1])) if words else None
        won = outcomes(frame, self.layout, pair, self.notes)
        found = Comparisons(who, left, right, won, len(users), len(items), counts, prompt=prompt)
        columns = {name: self._covariate(name) for name in covariates} | ({HOME: np.ones(len(frame))} if home else {})
        X = pd.DataFrame(columns, index=range(len(frame)))
        order = np.argsort(who, kind="stable")
        X = X.iloc[order].reset_index(drop=True)
        category = frame[by].replace("", None).iloc[order].reset_index(drop=True) if by else None
        return Reading(found.with_ids(users, items), X, self.notes, category)

    def _counts(self) -> Floats | None:
        """Return weights, and leave out rows of none."""
        if not self.weight:
            return None
        meaning = f"{self.weight} (how often this comparison was made)"
        rule = f"{meaning} must hold 0, or numbers from {1 / LARGEST_COUNT:g} to {LARGEST_COUNT:g}"
        counts = numeric(
            self.frame, self.weight, rule, lambda n: (n == 0) | ((n >= 1 / LARGEST_COUNT) & (n <= LARGEST_COUNT))
        )
        self.frame = self.frame[counts > 0]
        check_columns(self.frame, [], "comparisons of a weight above 0")
        return counts[counts > 0]

    def _check_items(self, left: np.ndarray, right: np.ndarray, items: list[object]) -> None:
        same = located(self.frame, left == right, [items[i] for i in left[left == right]])
        if same:
            raise CofactorError(f"an item is compared with itself in {same}: drop these rows")
        one, two = self.layout.first, self.layout.second
        if len(items) > 2 and not np.intersect1d(left, right).size:
            advice = "name two columns of items as winner and loser, and that of who won as outcome"
            why = "one of them holds no items, or every item won always or lost always, which tells no order"
            raise CofactorError(f"no item stands in both columns {one} and {two}: {why}; {advice}")

    def _covariate(self, name: str) -> Floats:
        one, _, other = name.partition(" - ")
        if name in self.frame or not other:
            check_columns(self.frame, [name], "comparisons")
            return numeric(self.frame, name, f"{name} (a covariate) must hold numbers")
        check_columns(self.frame, [one.strip(), other.strip()], "comparisons")
        values = [numeric(self.frame, part.strip(), f"{part} (a covariate) must hold numbers") for part in (one, other)]
        return np.asarray(values[0] - values[1])


def told_of_nothing(counts: Mapping[str, int]) -> str:
    """Say which items look as if there was none, and how often each was compared; "" for none."""
    found = listing(f"{name!r} ({counts[name]})" for name in sorted(counts) if says_nothing(name))
    return f"items that look like no answer count as items: {found}; drop their rows, if they are none" if found else ""


def renamed(cells: pd.Series[Any], known: Mapping[str, str]) -> pd.Series[Any]:
    """Return cells with the names that are known by another one replaced by that."""
    return cells.map(lambda cell: known.get(str(cell), cell))


def _ties(frame: pd.DataFrame, name: str) -> Floats:
    """Outcomes by a column that says whether a row is a tie."""
    code, cells = pd.factorize(frame[name].to_numpy(dtype=object), use_na_sentinel=False)
    words = pd.Series(["" if pd.isna(cell) else str(cell).strip().casefold() for cell in cells], dtype=object)
    values = np.asarray(words.map(dict.fromkeys(YES_WORDS, 0.5) | dict.fromkeys(NO_WORDS, 1.0)), dtype=np.float64)[code]
    if np.isnan(values).any():
        found = located(frame, np.isnan(values), frame[name][np.isnan(values)].tolist())
        raise CofactorError(f"{name} must hold yes or no; not so in {found}: mend or drop these rows")
    return values


# ---- columns: which hold the two items, and which say who won ----


@dataclass(frozen=True)
class Layout:
    """Names of the columns of a table of votes; `first` and `second` are winner and loser where nothing says more."""

    first: str
    second: str
    outcome: str | None = None
    tie: str | None = None
    each: tuple[str, ...] = ()  # columns of zeros and ones: the first won, the second, perhaps a tie
    scores: tuple[str, ...] = ()

    @property
    def sided(self) -> bool:
        """Whether the sides are told apart by more than who won."""
        return bool(self.outcome or self.each or self.scores)


def candidates() -> list[str]:
    """Return every name that is looked for."""
    pairs = [name for pair in (*WON, *SIDES, *SCORES) for name in pair]
    sides = [short for pair in SIDES for name in pair for short in (name, _short(name))]
    each = [form.format(name) for form in WINS for name in (*sides, *TIED)]
    return [*dict.fromkeys([*pairs, *OUTCOMES, *each, *TIED])]


def sides_of(columns: Sequence[str], winner: str | None, loser: str | None) -> tuple[str, str]:
    """Return the names of the two columns of items: as given, winner and loser, or a pair that is called like sides."""
    if winner or loser:
        return winner or "winner", loser or "loser"
    return next((pair for pair in (*WON, *SIDES) if set(pair) <= set(columns)), WON[0])


def layout_of(columns: Sequence[str], first: str, second: str, outcome: str | None, tie: str | None) -> Layout:
    """Return which columns tell who won; "" for `outcome` or `tie`: none of that kind."""
    items = {first, second}
    each = _each(columns, first, second)
    if not outcome and (first, second) not in WON:
        found = [name for name in OUTCOMES if name in columns and name not in items]
        alone = next((form.format(name) for form in WINS for name in (first, _short(first))
                      if form.format(name) in columns), None)  # fmt: skip
        outcome = (found[0] if found else alone) if outcome is None and not each else None
        if not outcome and not tie:
            scores = next((pair for pair in SCORES if set(pair) <= set(columns) and not items & set(pair)), ())
            if each or scores:
                return Layout(first, second, each=each, scores=() if each else scores)
    elif outcome is None and "outcome" in columns:
        outcome = "outcome"
    elif outcome in each[:2]:
        return Layout(first, second, each=each)
    if tie is None and "tie" in columns and "tie" not in items:
        tie = "tie"
    return Layout(first, second, outcome or None, tie or None)


def _each(columns: Sequence[str], first: str, second: str) -> tuple[str, ...]:
    for one, other in ((first, second), (_short(first), _short(second))):
        for form in WINS:
            pair = form.format(one), form.format(other)
            if set(pair) <= set(columns):
                tied = [form.format(word) for word in TIED if form.format(word) in columns]
                return (*pair, *tied[:1])
    return ()


def _short(side: str) -> str:
    """Return what tells a side from the other: "a" of "model_a"."""
    return side.rpartition("_")[2]


# ---- who won ----


def outcomes(frame: pd.DataFrame, layout: Layout, words: tuple[str, str] | None, notes: list[str]) -> Floats:
    """Return 1 where the first item of a row won, 0 where the second did, 0.5 for a tie; adds to `notes`."""
    if layout.each:
        return _of_each(frame, layout)
    if layout.scores:
        one, two = (numeric(frame, name, f"{name} (a score) must hold numbers") for name in layout.scores)
        return np.asarray((1 + np.sign(one - two)) / 2)
    if layout.outcome:
        return _of_words(frame, layout.outcome, layout, words, notes)
    return np.ones(len(frame)) if layout.tie is None else _ties(frame, layout.tie)


def _of_each(frame: pd.DataFrame, layout: Layout) -> Floats:
    rule = "{} must hold 1 where this side won and 0 elsewhere"
    true = {"true": "1", "false": "0"}
    plain = pd.DataFrame({c: [true.get(str(x).strip().casefold(), x) for x in frame[c]] for c in layout.each})
    plain.index = frame.index
    values = [numeric(plain, name, rule.format(name), lambda n: np.isin(n, (0, 1))) for name in layout.each]
    won, lost = values[:2]
    tied = values[2] if len(values) > 2 else 1 - won - lost
    bad = (won + lost + tied != 1) | (tied < 0)
    if bad.any():
        found = located(frame, bad)
        raise CofactorError(f"{listing(layout.each)}: not exactly one of them is 1 in {found}; mend or drop these rows")
    return np.asarray(won + tied / 2)


def _of_words(
    frame: pd.DataFrame, name: str, layout: Layout, words: tuple[str, str] | None, notes: list[str]
) -> Floats:
    """Read a column of who won: names of the items of a row where all words are, else words for the sides.

    Refuses words that are the name of an item, and may stand for a side, too.
    """
    columns = [Coded.of(frame[column]).map(_words) for column in (name, layout.first, layout.second)]
    word, named = columns[0], _named(columns)
    folded = [text.casefold() for text in word.values]
    meaning = _meaning(folded, layout, words)
    values = np.array([*(meaning.get(text, np.nan) for text in folded), np.nan])[word.codes]
    tie = word.where([TIES.match(text) is not None for text in folded])
    numbers = bool(folded) and all(text in NUMBERS for text in folded)
    if not words:
        by_name = np.where(np.isnan(named) & tie, 0.5, named)
        all_names = not np.isnan(by_name).any()
        items = {*columns[1].values, *columns[2].values}
        both = [text for text in word.values if text in items and text.casefold() in meaning and not TIES.match(text)]
        sides = f"{both[0]!r} of column {name}" if both else ""
        if both and ((numbers and all_names and (by_name != values).any()) or not (numbers or all_names)):
            raise CofactorError(
                f"{sides} is an item, and may also say which side won: name the words for the first and the second "
                f"side with words (--words {both[0]} OTHER), or rename the items"
            )
        if numbers and not all_names:
            if plain_name(name) in PICKED:
                raise CofactorError(
                    f"{name} holds 0 and 1, and does not say which of {layout.first} and {layout.second} is meant: "
                    "name the words for the first and the second with words (--words 1 0, or --words 0 1)"
                )
            notes.append(f"{name}: 1 is {layout.first}, 0 is {layout.second}; words (--words 0 1) turns it round")
        other = _named([column.map(_without_capitals) for column in columns])
        values = by_name if all_names else np.where(np.isnan(values), other, values)
    if np.isnan(values).any():
        found = located(frame, np.isnan(values), frame[name][np.isnan(values)].tolist())
        given = f"{words[0]}, {words[1]}" if words else f"1, 0, tie, {layout.first} or {layout.second}"
        advice = "give the two words of your file as words, or mend or drop these rows"
        raise CofactorError(f"{name} must hold {given}, or the winner's name; not so in {found}: {advice}")
    return values


def _named(columns: Sequence[Coded]) -> Floats:
    """Return 1 where the word of a row is its first item, 0 where it is its second, NaN elsewhere."""
    word, left, right = np.split(Coded.joined(columns).codes, 3)
    return np.where(word < 0, np.nan, np.where(word == left, 1.0, np.where(word == right, 0.0, np.nan)))


def _words(cells: list[Any]) -> list[str | None]:
    """Return cells as text without blanks around it; empty ones are none."""
    return [str(cell).strip() or None for cell in cells]


def _without_capitals(cells: list[str]) -> list[str]:
    return [cell.casefold() for cell in cells]


def _meaning(text: list[str], layout: Layout, words: tuple[str, str] | None) -> dict[str, float]:
    """Return what every word says; words that no list explains are left out."""
    ties = {word: 0.5 for word in text if TIES.match(word)}
    if words:
        return {**ties, words[0].strip().casefold(): 1.0, words[1].strip().casefold(): 0.0}
    number = pd.to_numeric(pd.Series(text, dtype=object), errors="coerce").to_numpy()
    plain = {word: float(n) for word, n in zip(text, number, strict=True) if n in CHOICES}
    plain |= {layout.first.casefold(): 1.0, layout.second.casefold(): 0.0, **ties}
    if all(word in plain for word in text):
        return plain
    scores = _scores(text)
    if all(word in ties or word in scores for word in text):
        return {**ties, **scores}
    at_home = "home" in layout.first.casefold() or "h" in text  # where "a" is away
    for first, second, tie in WORDS if at_home else WORDS[2:]:
        found = {**ties, first: 1.0, second: 0.0, **({tie: 0.5} if tie else {})}
        if all(word in found for word in text):
            return found
    return plain


def _scores(text: list[str]) -> dict[str, float]:
    """Return what words such as 2-1 or 0:3 say."""
    pairs = {word: found.groups() for word in text if (found := SCORE.fullmatch(word))}
    return {word: float((1 + np.sign(int(one) - int(other))) / 2) for word, (one, other) in pairs.items()}


# ---- comparisons of named columns ----


def read_comparisons(
    cls: type[Kind],
    path: str | PathLike[str],
    names: Names,
    same_item: SameItem,
    encoding: str,
    sep: str | None,
) -> Kind:
    """Read a file with one row per comparison, see `Comparisons.from_csv`."""
    frame = read_frame(path, list(filter(None, names)), encoding, sep, "comparison", coded=True)
    return comparisons_of(cls, frame, names, same_item, text=True)


def comparisons_of(cls: type[Kind], frame: pd.DataFrame, names: Names, same_item: SameItem, text: bool) -> Kind:
    """Take the columns user, left, right, outcome and perhaps counts, see `Comparisons.from_frame`."""
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
    """Return codes of columns one after the other, and their ids, sorted where they can be.

    Of text, plain whole numbers are numbers.
    """
    try:
        column = Coded.joined([Coded.of(one) for one in columns])
    except TypeError as error:
        raise CofactorError(f"{name} holds values that cannot serve as ids: {error}") from None
    column = (column.map(plain_numbers) if text else column).sorted()
    return column.codes.astype(np.int32), column.values

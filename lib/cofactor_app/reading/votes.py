"""Votes as files hold them, who won against whom, as `Comparisons` and covariates; `vote_layouts` finds columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from cofactor.comparisons.data import LARGEST_COUNT, Comparisons, encoded
from cofactor.core.checks import check_kind
from cofactor.core.errors import CofactorError, listing
from cofactor.core.frames import check_columns, check_present, located, numeric, read_frame, refuse_twice
from cofactor.core.lazy import pd
from cofactor.core.look_alikes import look_alikes, merged_names, told
from cofactor.core.spelling import says_nothing
from cofactor.core.text_tables import TWICE
from cofactor.core.types import Floats
from cofactor_app.reading import vote_layouts
from cofactor_app.reading.vote_layouts import Layout

YES_WORDS, NO_WORDS = ("1", "1.0", "true", "t", "yes", "y", "x"), ("", "0", "0.0", "false", "f", "no", "n")
OPTIONAL = ("user", "tie", "outcome", "weight")
REPEATING = (  # names of columns that votes often share
    *("prompt", "prompt_id", "question", "question_id", "task", "task_id", "instruction", "query", "document", "image"),
    *("user_id", "voter", "voter_id", "judge", "judge_id", "annotator", "annotator_id", "rater", "rater_id", "worker"),
)
PLACE = re.compile(r"(rank|place|position|pos|choice|pick|preference|top)[ _]?\d+|\d+(st|nd|rd|th)( choice| place)?")
FEW_PROMPTS = 5  # prompts: fewer cannot tell how they differ
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
    merge_look_alikes: bool = False,
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
    merge_look_alikes : bool
        Make one of items, and of users, that differ in capitals, blanks, invisible characters, scripts and forms of a
        number, the one that is used most. Else they are named and count as different.

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
    found = reading(source, named, covariates, encoding, sep, words, home, merge_look_alikes)
    return found.comparisons, found.covariates


def reading(
    source: str | PathLike[str] | pd.DataFrame,
    named: Named,
    covariates: Sequence[str] = (),
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    words: Sequence[str] | None = None,
    home: bool = False,
    merge_look_alikes: bool = False,
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
        optional = [*vote_layouts.candidates(), *parts, *OPTIONAL, *REPEATING, "winner", "loser"]
        frame = read_frame(source, needed, encoding, sep, "comparison", optional=optional, pairs=("winner", "loser"))
    first, second = vote_layouts.sides_of(list(frame.columns), named["winner"], named["loser"])
    if not {first, second} <= set(frame.columns) and (places := _places(frame.attrs.get("found", frame.columns))):
        names = " ".join(places)
        raise CofactorError(f"columns {listing(places)} seem to hold orders: read them by `rank --places {names}`, or "
                            "in Python by read_orders")  # fmt: skip
    if not {first, second} <= set(frame.columns):
        check_columns(pd.DataFrame(columns=frame.attrs.get("found", frame.columns), index=[0]), [first, second])
    layout = vote_layouts.layout_of(list(frame.columns), first, second, named["outcome"], named["tie"])
    if layout.outcome and layout.tie:
        raise CofactorError("columns tie and outcome both say whether somebody won: leave one out, say tie='' for it")
    if not (layout.sided or named["winner"] or named["loser"] or (first, second) in vote_layouts.WON):
        advice = "name the column that does as outcome, or the columns of winner and loser"
        raise CofactorError(f"columns {first} and {second} hold items, but nothing says who won: {advice}")
    if home and not layout.sided:
        raise CofactorError("home needs two sides and an outcome: of winners and losers nobody knows who was first")
    votes = _Votes(frame, layout, named, frame is not source)
    used = [first, second, layout.outcome, layout.tie, *layout.each, *layout.scores, votes.user, votes.weight, *parts]
    refuse_twice([name for name in dict.fromkeys(used) if name and name in frame.attrs.get(TWICE, ())])
    votes.write_one_way(merge_look_alikes)
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
        """Merge items, and users, that look alike, or note them."""
        columns = {"items": [self.layout.first, self.layout.second], "users": [self.user] if self.user else []}
        for what, names in columns.items():
            used = pd.concat([self.frame[name].dropna() for name in names]).value_counts(sort=False) if names else {}
            counts = {str(name): int(count) for name, count in used.items()}
            if what == "items" and (message := told_of_nothing(counts)):
                self.notes.append(message)
            if not merge:
                self.notes.extend(filter(None, [told(look_alikes(counts, spaced=False), what)]))
            elif known := merged_names(counts, spaced=False):
                told_by = [*names, *([self.layout.outcome] if self.layout.outcome else [])]
                self.frame = self.frame.assign(**{name: renamed(self.frame[name], known) for name in told_by})

    def read(self, covariates: list[str], words: Sequence[str] | None, home: bool, by: str | None) -> Reading:
        """Return the votes; refuse what cannot be read."""
        counts, first, second = self._counts(), self.layout.first, self.layout.second
        frame = self.frame
        for name in filter(None, (first, second, self.user, self.prompt)):
            check_present(frame[name], name, self.text)
        code, items = encoded(pd.concat([frame[first], frame[second]]), "items", self.text)
        left, right = np.split(code, 2)
        self._check_items(left, right, items)
        who, users = np.zeros(len(frame), dtype=np.int32), [0]
        if self.user:
            who, users = encoded(frame[self.user], "users", self.text)
        prompt = encoded(frame[self.prompt], "prompts", self.text)[0] if self.prompt else None
        pair = (str(words[0]), str(words[1])) if words else None
        won = vote_layouts.outcomes(frame, self.layout, pair, _ties)
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

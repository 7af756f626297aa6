"""Columns of votes as people have them: which hold the two items, and which say who won.

A table has either the columns winner and loser, or two columns of items and what tells which of them won: a column of
outcomes, a column of zeros and ones for each side, or two columns of scores. `layout_of` finds which, by names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cofactor.comparisons.data import CHOICES
from cofactor.core.errors import CofactorError, listing
from cofactor.core.frames import located, numeric
from cofactor.core.lazy import pd
from cofactor.core.types import Floats

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
SCORE = re.compile(r"(\d+)\s*[-\u2013:]\s*(\d+)")  # both scores in one cell
TIES = re.compile(r"tie|draw|both|neither|equal|same$|=$|0\.5$|½|1/2")  # how the word for a tie begins
WORDS = (  # of the first and of the second item, and perhaps of a tie; tried in turn, the first two for home and away
    *(("h", "a", "d"), ("home", "away", "d"), ("a", "b", ""), ("left", "right", ""), ("l", "r", ""), ("x", "y", "")),
    *(("first", "second", ""), ("1-0", "0-1", ""), ("1", "2", "x"), ("white", "black", ""), ("win", "loss", "")),
    *(("w", "l", "d"), ("true", "false", ""), ("yes", "no", ""), ("model_a", "model_b", ""), ("won", "lost", "")),
    *(("player1", "player2", ""), ("team1", "team2", ""), ("1", "-1", "0"), ("a>b", "b>a", "a=b")),
)


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


def outcomes(frame: pd.DataFrame, layout: Layout, words: tuple[str, str] | None, yes: Any) -> Floats:
    """Return 1 where the first item of a row won, 0 where the second did, 0.5 for a tie; `yes` reads a tie column."""
    if layout.each:
        return _of_each(frame, layout)
    if layout.scores:
        one, two = (numeric(frame, name, f"{name} (a score) must hold numbers") for name in layout.scores)
        return np.asarray((1 + np.sign(one - two)) / 2)
    if layout.outcome:
        return _of_words(frame, layout.outcome, layout, words)
    return np.ones(len(frame)) if layout.tie is None else np.asarray(yes(frame, layout.tie))


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


def _of_words(frame: pd.DataFrame, name: str, layout: Layout, words: tuple[str, str] | None) -> Floats:
    code, cells = pd.factorize(frame[name].to_numpy(dtype=object), use_na_sentinel=False)
    text = ["" if pd.isna(cell) else str(cell).strip().casefold() for cell in cells]
    meaning = _meaning([word for word in text if word], layout, words)
    values = np.array([meaning.get(word, np.nan) for word in text])[code]
    if np.isnan(values).any() and not words:
        values = _of_names(frame, layout, np.array(text, dtype=object)[code], values)
    if np.isnan(values).any():
        found = located(frame, np.isnan(values), frame[name][np.isnan(values)].tolist())
        given = f"{words[0]}, {words[1]}" if words else f"1, 0, tie, {layout.first} or {layout.second}"
        advice = "give the two words of your file as words, or mend or drop these rows"
        raise CofactorError(f"{name} must hold {given}, or the winner's name; not so in {found}: {advice}")
    return values


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


def _of_names(frame: pd.DataFrame, layout: Layout, words: Any, values: Floats) -> Floats:
    """Fill in rows whose word is the name of one of the two items."""
    one, two = (frame[name].astype(str).str.strip().str.casefold() for name in (layout.first, layout.second))
    open_rows = np.isnan(values)
    return np.where(open_rows & (words == one), 1.0, np.where(open_rows & (words == two), 0.0, values))

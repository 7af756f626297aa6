"""Votes as files hold them, who won against whom, as `Comparisons` and covariates."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

import numpy as np

from cofactor.comparisons.data import CHOICES, MOST, Comparisons, encoded
from cofactor.core.checks import check_kind
from cofactor.core.errors import CofactorError
from cofactor.core.frames import check_columns, check_present, located, numeric, read_frame
from cofactor.core.lazy import pd
from cofactor.core.types import Floats

TIES = ("tie", "draw")  # how the word for a tie begins
YES, NO = ("1", "1.0", "true", "t", "yes", "y", "x"), ("", "0", "0.0", "false", "f", "no", "n")
OPTIONAL = ("user", "tie", "outcome", "weight")


def read_votes(
    source: str | PathLike[str] | pd.DataFrame,
    winner: str = "winner",
    loser: str = "loser",
    user: str | None = None,
    tie: str | None = None,
    outcome: str | None = None,
    weight: str | None = None,
    covariates: Sequence[str] = (),
    encoding: str = "utf-8-sig",
    sep: str | None = None,
) -> tuple[Comparisons, pd.DataFrame]:
    """Read one row per comparison, of a file or a frame; what is not named is used where a column is called so.

    Parameters
    ----------
    source : path, "-" for standard input, or DataFrame
        Files as of `Comparisons.from_csv`.
    winner, loser : names of the columns of items; with `outcome` just of the first and of the second item
    user : column of who chose
    tie : column of yes or no, 1 or 0; empty is no
    outcome : column of 1 (the item in `winner` won), 0 (the other one) and 0.5, of words that begin with "tie" or
        "draw", or of the names of the columns of items. At most one of `tie` and `outcome` can be used.
    weight : column of how often this comparison was made, with this outcome; rows of 0 are left out
    covariates : columns of finite numbers, of `winner` less `loser`
        A length of answers, or 1 and -1 for which one was shown first.
    encoding, sep : as of `Comparisons.from_csv`

    "" for `user`, `tie`, `outcome` or `weight`: such a column is not used.

    Returns the comparisons, and a DataFrame of the covariates in the same order, for `rank`.

    Raises a CofactorError that names rows with missing or equal items, or where a cell cannot be read.

    Cost: O(m), half a microsecond a cell.

    >>> data, _ = read_votes(pd.DataFrame({"winner": ["tea", "gin"], "loser": ["milk", "tea"], "tie": ["", "yes"]}))
    >>> data.items, data.outcome.tolist()
    (('gin', 'milk', 'tea'), [1.0, 0.5])
    """
    check_kind((str, PathLike, pd.DataFrame), source=source)
    check_kind((list, tuple), covariates=covariates)
    named = dict(zip(OPTIONAL, (user, tie, outcome, weight), strict=True))
    needed = list(dict.fromkeys([winner, loser, *filter(None, named.values()), *covariates]))
    unasked = [name for name, column in named.items() if column is None]
    if isinstance(source, pd.DataFrame):
        frame = source
    else:
        frame = read_frame(source, needed, encoding, sep, "comparison", optional=unasked)
    check_columns(frame, needed, "comparisons")
    used = {name: column or name for name, column in named.items() if column or (name in unasked and name in frame)}
    if {"tie", "outcome"} <= set(used):
        raise CofactorError("columns tie and outcome both say whether somebody won: leave one out, say tie='' for it")
    return _votes(frame, winner, loser, used, list(covariates), frame is not source)


def _votes(
    frame: pd.DataFrame, winner: str, loser: str, used: dict[str, str], covariates: list[str], text: bool
) -> tuple[Comparisons, pd.DataFrame]:
    counts = None
    if "weight" in used:
        meaning = f"{used['weight']} (how often this comparison was made)"
        rule = f"{meaning} must hold 0, or numbers from {1 / MOST:g} to {MOST:g}"
        counts = numeric(frame, used["weight"], rule, lambda n: (n == 0) | ((n >= 1 / MOST) & (n <= MOST)))
        frame, counts = frame[counts > 0], counts[counts > 0]
        check_columns(frame, [], "comparisons of a weight above 0")
    for name in (winner, loser, *([used["user"]] if "user" in used else [])):
        check_present(frame[name], name, text)
    code, items = encoded(pd.concat([frame[winner], frame[loser]]), "items", text)
    left, right = np.split(code, 2)
    same = located(frame, left == right, [items[i] for i in left[left == right]])
    if same:
        raise CofactorError(f"an item is compared with itself in {same}: drop these rows")
    who, users = np.zeros(len(frame), dtype=np.int32), [0]
    if "user" in used:
        who, users = encoded(frame[used["user"]], "users", text)
    found = Comparisons(who, left, right, _outcomes(frame, winner, loser, used), len(users), len(items), counts)
    columns = {name: numeric(frame, name, f"{name} (a covariate) must hold numbers") for name in covariates}
    X = pd.DataFrame(columns, index=range(len(frame)))
    return found.with_ids(users, items), X.iloc[np.argsort(who, kind="stable")].reset_index(drop=True)


def _outcomes(frame: pd.DataFrame, winner: str, loser: str, used: dict[str, str]) -> Floats:
    """Outcomes of all rows: 1 where `winner` is the one who won."""
    if "tie" not in used and "outcome" not in used:
        return np.ones(len(frame))
    name = used.get("outcome", used.get("tie", ""))
    code, cells = pd.factorize(frame[name].to_numpy(dtype=object), use_na_sentinel=False)
    words = pd.Series(["" if pd.isna(cell) else str(cell).strip().casefold() for cell in cells], dtype=object)
    if "outcome" in used:
        number = pd.to_numeric(words, errors="coerce")
        read = words.map({winner.casefold(): 1.0, loser.casefold(): 0.0}).fillna(number.where(number.isin(CHOICES)))
        read[words.str.startswith(TIES)] = 0.5
    else:
        read = words.map(dict.fromkeys(YES, 0.5) | dict.fromkeys(NO, 1.0))
    values = np.asarray(read, dtype=np.float64)[code]
    if np.isnan(values).any():
        found = located(frame, np.isnan(values), frame[name][np.isnan(values)].tolist())
        rule = f"1, 0, tie, {winner} or {loser}" if "outcome" in used else "yes or no"
        raise CofactorError(f"{name} must hold {rule}; not so in {found}: mend or drop these rows")
    return values

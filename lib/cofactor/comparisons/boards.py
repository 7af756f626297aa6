"""Rankings of parts of the comparisons: of every user's own, and of every category.

How a part is ranked is a function of its rows, so that any method can do it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cofactor.comparisons import davidson
from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.places import Ranking
from cofactor.comparisons.ranking import UNSEEN, UNTOLD, checked, rank, ranking_of
from cofactor.core.bootstrap import LEVEL
from cofactor.core.checks import rng_of
from cofactor.core.errors import CofactorError, DataWarning, NotIdentifiableError
from cofactor.core.lazy import pd
from cofactor.core.types import Indices, Seed

ENOUGH_PER_ITEM = 10  # comparisons of one user for a ranking of his own
RANKING_COLUMNS = ("item", "utility", "low", "high", "rank", "rank_low", "rank_high", "wins", "losses", "comparisons")


def rank_users(
    comparisons: Comparisons, covariates: pd.DataFrame | ArrayLike | None = None, *, level: float = LEVEL
) -> pd.DataFrame:
    """Rank the items for every user who made enough comparisons: a row per user and item, best first.

    Enough are ten comparisons for each item that this user met, if everybody of these lost to everybody, directly or
    through others, so that all utilities are finite. The columns are user, and those of `Ranking.table`; utilities of
    a user have mean zero over the items met. Arguments, errors and source are those of `rank`.

    Cost: a ranking for each such user.

    >>> data = Comparisons([0] * 20 + [1], [0] * 21, [1] * 21, [1] * 15 + [0] * 6)
    >>> rank_users(data)[["user", "item", "rank", "wins"]].values.tolist()
    [[0, 0, 1, 15], [0, 1, 2, 5]]
    """
    data, names, X = checked(comparisons, covariates, level)

    def ranked(rows: Indices) -> Ranking:
        return ranking_of(data.take(rows), X[rows], names, level, np.random.default_rng(0), check=False)

    return of_users(data, ranked)


def of_users(data: Comparisons, ranked: Callable[[Indices], Ranking]) -> pd.DataFrame:
    """Return the table of `rank_users`; `ranked` makes the ranking of some rows."""
    busy = np.flatnonzero(data.per_user >= 2 * ENOUGH_PER_ITEM)
    tables = [_of_user(data, ranked, user) for user in busy.tolist()]
    none = pd.DataFrame(columns=["user", *RANKING_COLUMNS])
    return pd.concat([table for table in tables if table is not None] or [none], ignore_index=True)


def _of_user(data: Comparisons, ranked: Callable[[Indices], Ranking], user: int) -> pd.DataFrame | None:
    """Return the ranking of one user; None where too little is known."""
    rows = np.arange(*np.searchsorted(data.user, [user, user + 1]))
    of_user = data.take(rows)
    cells, met = davidson.rows_of(of_user, np.zeros((len(rows), 0))), of_user.per_item > 0
    if of_user.total < ENOUGH_PER_ITEM * met.sum() or len(np.unique(davidson.linked_both_ways(cells)[met])) > 1:
        return None
    with suppress(NotIdentifiableError), warnings.catch_warnings(action="ignore", category=DataWarning):
        table = ranked(rows).table()
        table.insert(0, "user", pd.Series([data.users[user]] * len(table), dtype=object))
        return table
    return None


def rank_boards(
    comparisons: Comparisons,
    by: ArrayLike,
    covariates: pd.DataFrame | ArrayLike | None = None,
    *,
    level: float = LEVEL,
    min_comparisons: int = 1,
    random_state: Seed = None,
) -> dict[Any, Ranking]:
    """Rank the items anew within every category of comparisons, such as a language or a kind of question.

    `by` holds the category of every comparison, in the order of `comparisons.left`; those without one (None or NaN)
    are in no board. Other arguments, errors and source are those of `rank`. Returns the rankings by category, in the
    order in which categories come first. A category whose comparisons cannot be ranked is named by a `DataWarning`;
    warnings about a board begin with its name.

    Each board has a prior of its own, so that one of few comparisons is drawn towards equal items, and its intervals
    say how little it tells. Differences between boards have intervals of their own, which are not computed here.

    Cost: a ranking for each category.

    >>> data = Comparisons([0] * 8, [0, 0, 0, 1, 0, 0, 1, 1], [1, 1, 1, 0, 1, 1, 0, 0], [1] * 8)
    >>> boards = rank_boards(data, ["easy"] * 4 + ["hard"] * 4)
    >>> {name: board.table()["wins"].tolist() for name, board in boards.items()}
    {'easy': [3, 1], 'hard': [2, 2]}
    """
    data, names, X = checked(comparisons, covariates, level)
    category = pd.Series(np.asarray(by, dtype=object))
    if len(category) != len(data):
        raise CofactorError(f"{len(category)} categories for {len(data)} comparisons: give one of each")
    rng_of(random_state)
    how: dict[str, Any] = {"level": level, "min_comparisons": min_comparisons, "random_state": random_state}

    def ranked(rows: Indices) -> Ranking:
        table = pd.DataFrame(X[rows], columns=names)
        return rank(data.take(rows), table.loc[:, table.any()], **how)

    return boards_of(category, ranked)


def boards_of(category: pd.Series, ranked: Callable[[Indices], Ranking]) -> dict[Any, Ranking]:
    """Return the rankings of `rank_boards`; `ranked` makes that of some rows."""
    boards, failed = {}, {}
    for name, rows in category.groupby(category, sort=False).indices.items():
        try:
            with warnings.catch_warnings(record=True, action="always", category=DataWarning) as noted:
                boards[name] = ranked(np.asarray(rows))
        except CofactorError as error:
            failed[name] = str(error)
            continue
        for text in {str(one.message): None for one in noted}:
            if not text.startswith((UNSEEN, UNTOLD)):  # items of other boards; and what a `Ranking` says itself
                warnings.warn(f"{name}: {text}", DataWarning, stacklevel=3)
    if failed:
        told = "; ".join(f"{name}: {why}" for name, why in list(failed.items())[:3])
        warnings.warn(f"{len(failed)} boards cannot be ranked: {told}", DataWarning, stacklevel=3)
    return boards

"""``rank``: from comparisons to one ranking with intervals."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.diagnose import diagnose
from cofactor.comparisons.ranking import Ranking
from cofactor.comparisons.ranking import rank as ranked
from cofactor.core.bootstrap import LEVEL
from cofactor.core.cells import Spelling
from cofactor.core.checks import is_number, unmasked
from cofactor.core.errors import CofactorError, DataWarning, amount, listing
from cofactor.core.estimator import Diagnosis
from cofactor.core.lazy import pd
from cofactor.core.types import Seed
from cofactor.reading.votes import reading
from cofactor.verbs.result import (
    SHOWN,
    Result,
    as_frame,
    data_set,
    frame_like,
    joined,
    named_source,
    noting,
    paths_of,
)

METHODS = ("Davidson", "BradleyTerry")  # ties are an outcome of their own; half a win for each side
ARRAY = ("winner", "loser")  # columns of an array of two columns
Scale = tuple[Any, float]


@dataclass(repr=False, eq=False)
class RankingResult(Result):
    """Result of `rank`: items, best first; probabilities of pairs, coefficients, notes, the fit, and a report.

    Attributes
    ----------
    items : DataFrame
        item, utility, low, high, rank, rank_low, rank_high, wins, losses, comparisons; with `elo` three more.
    method : Ranking
        Utilities and their covariance.
    comparisons : Comparisons
        The ranked comparisons.
    checks : Diagnosis
        Checks of the comparisons.
    """

    page: ClassVar[str] = "rank"
    source: str
    items: pd.DataFrame
    method: Ranking
    comparisons: Comparisons
    checks: Diagnosis
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def probabilities(self) -> pd.DataFrame:
        """One row per pair: item, against, chance (that item wins, ties aside), low, high, tie."""
        return self.method.probabilities()

    @property
    def coefficients(self) -> pd.DataFrame:
        """One row per covariate, and one for ties: name, coefficient, low, high."""
        return self.method.coefficients()

    def chance(self, item: Any, against: Any, **given: float) -> dict[str, float]:
        """Return the probability that one item beats another, its interval, and the probability of a tie.

        `given` has the values of covariates.
        """
        known = {str(one): one for one in self.method.items}
        return self.method.chance(known.get(str(item), item), known.get(str(against), against), given)

    def next_pairs(self, n_pairs: int = 5) -> pd.DataFrame:
        """Return the comparisons expected to be most informative, one per row; a pair can occur several times."""
        return self.method.next_pairs(n_pairs)

    @property
    def shown(self) -> pd.DataFrame:
        """The items."""
        return self.items

    @property
    def summary(self) -> list[str]:
        """The size of the data, and the log-loss on held-out comparisons."""
        data, found = self.comparisons, self.method
        weight = np.ones(len(data)) if data.counts is None else data.counts
        ties = float(weight[data.outcome == 0.5].sum()) / data.total
        parts = [
            amount(len(found.items), "item"),
            amount(data.total, "comparison") + f" ({100 * ties:.0f} % ties)" * (ties > 0),
        ]
        parts += [f"{data.n_users:,} users"] if data.n_users > 1 else []
        parts += [f"{len(np.unique(data.prompt)):,} prompts"] if data.prompt is not None else []
        sided = "the sides alone" if found.sided else "always even"
        losses = f"held-out log-loss {brief(found.log_loss)}, {sided} {brief(found.trivial_log_loss)}"
        return [", ".join(parts), losses]

    @property
    def details(self) -> list[str]:
        """The fit, its prior, the assumption behind the intervals, and the coefficients, one line each."""
        found = self.method
        counts = {"users": found.n_users, "prompts": found.n_prompts}
        used = " and ".join(name for name, count in counts.items() if count) or "comparisons"
        count = " and ".join(f"{count:.3g}" for count in counts.values() if count)
        worth = f" (they count as {count} equally active ones)" if count else ""
        return [
            f"fit: {'converged' if found.result.converged else 'NOT CONVERGED'}, {found.result.reason}",
            f"prior of utilities: normal, standard deviation {found.sd:.3g}, chosen by marginal likelihood",
            f"{100 * found.level:g} % intervals, assuming independent {used}{worth}",
            *(f"{row.name}: {row.coefficient:.4g} ({row.low:.4g} to {row.high:.4g})"
              for row in self.coefficients.itertuples(index=False)),
        ]  # fmt: skip

    def screen(self, more: str = "items has all") -> list[str]:
        """Return the summary and the first ten items as lines of text; `more` says where the other items are."""
        scale, digits = ("elo", 0) if "elo" in self.items else ("utility", 2)
        low, high = ("elo_low", "elo_high") if "elo" in self.items else ("low", "high")
        rows = self.items.head(SHOWN).to_dict("records")
        width = max(4, *(len(str(row["item"])) for row in rows))
        numbers = [[f"{row[name]:z.{digits}f}" for name in (scale, low, high)] for row in rows]
        wide = max(len(one) for one, _, _ in numbers)
        level = f"({100 * self.method.level:g} %)"
        lines = [*self.summary, f"rank  {level:<10}  {'item':<{width}}  {scale}"]
        for row, (one, least, most) in zip(rows, numbers, strict=True):
            allowed = f"{row['rank_low']} to {row['rank_high']}"
            lines.append(
                f"{row['rank']:>4}  {allowed:>10}  {row['item']!s:<{width}}  {one:>{wide}} ({least} to {most})"
            )
        left = len(self.items) - len(rows)
        return [*lines, f"... and {left:,} more: {more}"] if left else lines


def rank(
    source: Any,
    *,
    winner: str | None = None,
    loser: str | None = None,
    user: str | Sequence[str] | None = None,
    tie: str | None = None,
    outcome: str | None = None,
    words: Sequence[str] | None = None,
    weight: str | None = None,
    covariates: Sequence[str] | pd.DataFrame | ArrayLike = (),
    home: bool = False,
    method: str = "Davidson",
    elo: float | Scale | None = None,
    level: float = LEVEL,
    min_comparisons: int = 1,
    spelling: Spelling = "classes",
    skip_bad: bool = False,
    encoding: str = "utf-8-sig",
    sep: str | None = None,
    random_state: Seed = 0,
) -> RankingResult:
    """Rank items from pairwise comparisons, with intervals for utilities and simultaneous intervals for ranks.

    Parameters
    ----------
    source : path, several paths, name of a data set, DataFrame, (m, 2) array of winners and losers, or Comparisons
        Columns are recognised as in `cofactor rank`; see `read_votes`. A square table of wins is accepted, too.
    winner, loser, user, tie, outcome, weight : names of columns that are not recognised
    words : values of the outcome column for a win of the first and of the second item
    covariates : names of columns; for Comparisons, an (m, k) array
    home : bool
        Estimate the advantage of the first side.
    method : {"Davidson", "BradleyTerry"}
        Treat ties as an outcome of their own, or as half a win for each side.
    elo : float, or (item, float)
        Add columns on the Elo scale, with this rating for the mean of all items, or for the named item.
    level : float
        Coverage probability of the intervals.
    min_comparisons : int
        Leave out items with fewer comparisons.
    spelling : {"classes", "keep", "all"}
        "all": items and users that differ only in capitals, surrounding blanks or invisible characters are merged.
    skip_bad : bool
        Leave out rows that cannot be read, and name them, instead of raising an error.
    encoding, sep : encoding and column separator of text files
    random_state : seed

    Returns a `RankingResult`. Items without a rank are named in its notes.

    Raises a CofactorError that names the rows if comparisons cannot be read or ranked. Warns (`DataWarning`) like
    `cofactor.comparisons.rank`, and has the same cost.

    >>> votes = pd.DataFrame({"winner": ["tea", "tea", "gin"] * 9, "loser": ["gin", "rum", "rum"] * 9})
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     rank(votes).items["item"].tolist()
    ['tea', 'gin', 'rum']
    """
    if method not in METHODS:
        raise CofactorError(f"no method {method!r}: choose {' or '.join(METHODS)}")
    notes, warned = list[str](), list[str]()
    with noting(notes, []):
        named = {"winner": winner, "loser": loser, "user": user, "tie": tie, "outcome": outcome, "weight": weight}
        how = {"encoding": encoding, "sep": sep, "words": words, "home": home}
        data, X, read = _votes(source, named, covariates, {**how, "spelling": spelling, "skip_bad": skip_bad})
        for note in read:
            warnings.warn(note, DataWarning, stacklevel=2)
    with noting(notes, warned):
        if method == "BradleyTerry":
            data, X = half_wins(data, X)
        found = ranked(data, X, level=level, min_comparisons=min_comparisons, random_state=random_state)
    notes += found.doubts()
    scale: Scale | None = (None, float(elo)) if is_number(elo) else elo  # type: ignore[assignment]
    items = found.table(scale)
    return RankingResult(named_source(source), items, found, data, diagnose(data, rank=0), notes, warned)


def half_wins(data: Comparisons, X: pd.DataFrame | None) -> tuple[Comparisons, pd.DataFrame | None]:
    """Return the same comparisons with every tie replaced by half a win for each side."""
    rows = np.concatenate([np.arange(len(data)), np.flatnonzero(data.outcome == 0.5)])
    tied = data.outcome[rows] == 0.5
    won = np.where(tied, np.arange(len(rows)) < len(data), data.outcome[rows])
    counts = (np.ones(len(data)) if data.counts is None else data.counts)[rows] * np.where(tied, 0.5, 1.0)
    order = np.argsort(data.user[rows], kind="stable")
    rows, prompt = rows[order], None if data.prompt is None else data.prompt[rows[order]]
    sides = data.user[rows], data.left[rows], data.right[rows], won[order].astype(float)
    halved = Comparisons(*sides, data.n_users, data.n_items, counts[order], prompt=prompt)
    X = None if X is None else pd.DataFrame(X).iloc[rows].reset_index(drop=True)
    return halved.with_ids(data.users, data.items), X


def brief(number: float) -> str:
    """Format a number with three decimals, and without a leading zero."""
    return f"{number:.3f}".replace("0.", ".", 1) if 0 <= number < 1 else f"{number:.3f}"


def _votes(source: Any, named: dict[str, Any], covariates: Any, how: dict[str, Any]) -> tuple[Any, Any, list[str]]:
    """Return comparisons, their covariates, and what was noted."""
    paths = paths_of(source)
    if len(paths) == 1 and (known := data_set(paths[0], "comparisons")) is not None:
        source = known
    if isinstance(getattr(source, "comparisons", None), Comparisons):
        source = source.comparisons
    if isinstance(source, Comparisons):
        return (source, *_beside(source, named, covariates, how["home"]))
    if isinstance(covariates, str) or not all(isinstance(name, str) for name in covariates):
        raise CofactorError("covariates of a table must be names of its columns")
    if len(paths) > 1:
        source = joined(paths, "comparison", how["encoding"], how["sep"])
    elif paths:
        source = paths[0]
    elif frame_like(source):
        source = as_frame(source)
    else:
        array = unmasked(source, dtype=object)
        if array.ndim != 2 or array.shape[1] != len(ARRAY) or not len(array):
            given = f"{type(source).__name__} of shape {array.shape}"
            wanted = "give a path, a DataFrame, an array of two columns (winner, loser), or Comparisons"
            raise CofactorError(f"expected comparisons, got {given}: {wanted}")
        source = pd.DataFrame(array, columns=list(ARRAY))
    found = reading(source, named, list(covariates), **how)
    return found.comparisons, found.covariates, found.notes


def _beside(data: Comparisons, named: dict[str, Any], covariates: Any, home: bool) -> tuple[Any, list[str]]:
    """Return the covariates of Comparisons, whose columns need no names."""
    if given := [name for name, value in named.items() if value is not None]:
        raise CofactorError(f"cannot use {listing(given)}: Comparisons have no columns to name")
    empty = isinstance(covariates, list | tuple) and not len(covariates)
    X = pd.DataFrame(index=range(len(data))) if empty else pd.DataFrame(covariates).reset_index(drop=True)
    return X.assign(home=1.0) if home else X, []

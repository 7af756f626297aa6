"""Choose rank and smoothing of estimators of a joint PMF by the likelihood of hidden cells.

The rank is chosen first, at a fixed pseudo-count; then the pseudo-count, at the best rank. Few data cannot tell close
choices apart: all that are within one standard error of the best are kept, and their joint PMFs averaged, which is
again a joint PMF, of rank the sum of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cofactor.core.latent_class import FLOOR, LatentClassModel
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints

HIDDEN = 0.2  # share of the cells that is hidden
SCORED = 1000  # rows that are scored, in at most so many tables with cells hidden:
MOST_SPLITS = 5
Choice = tuple[int, float]  # rank, pseudo-count
Scores = dict[Choice, Floats]  # of every row scored: more is better


def choose_rank_and_smoothing(
    ranks: Sequence[int], counts: Sequence[float], first: float, validate: Callable[[list[Choice]], Scores]
) -> list[Choice]:
    """Return the choices (rank, pseudo-count) to average, the best first; none where every choice was refused.

    Ranks are compared with the pseudo-count `first`. `validate` gives the scores of choices on the same rows; it leaves
    out what a method refuses.

    >>> def validate(choices):  # rank 4 is best, and smoothing makes no difference
    ...     return {(F, alpha): np.array([-abs(F - 4.0), -abs(F - 4.0) - 0.1]) for F, alpha in choices}
    >>> choose_rank_and_smoothing((2, 4, 8), (0.1, 1.0), 0.1, validate)
    [(4, 0.1), (4, 1.0)]
    """
    scores = validate([(rank, first) for rank in ranks])
    if not scores:
        return []
    best = max(scores, key=lambda tried: float(scores[tried].mean()))[0]
    scores |= validate([(best, count) for count in counts if count != first])
    return near_best(scores)


def near_best(scores: Scores) -> list[Choice]:
    """List choices from the best mean score down, to one standard error of the difference from it."""
    order = sorted(scores, key=lambda choice: -float(scores[choice].mean()))
    behind = {choice: scores[order[0]] - scores[choice] for choice in order}
    return [choice for choice, d in behind.items() if d.mean() <= d.std() / np.sqrt(len(d))]


def lowest_rank(tried: Sequence[Mapping[str, Any]], table: CategoricalTable) -> int:
    """Return the lowest rank whose score is at most one standard error of the difference below the best.

    `tried` is the `validation_` of an estimator. Ranks with more parameters than the table has distinct rows do not
    count, unless it is one. Source: Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees", 1984,
    Section 3.4.3.
    """
    distinct, each = len(np.unique(table.codes, axis=0)), 1 + int((table.sizes - 1).sum())
    near = [one for one in tried if one["behind"] <= one["error"]]
    told = [one["rank"] for one in tried if one["rank"] == 1 or one["rank"] * each - 1 <= distinct]
    return min([*(one["rank"] for one in near), max(told, default=1)])


def mean_model(models: Sequence[LatentClassModel]) -> LatentClassModel:
    """Return the mean of joint PMFs of the same variables: itself one, of rank the sum of their ranks."""
    prior = np.concatenate([model.prior for model in models]) / len(models)
    return LatentClassModel.from_stacked(prior, np.hstack([model.stacked for model in models]), models[0].sizes)


@dataclass(frozen=True)
class HiddenCells:
    """A table with cells hidden, and these cells: (E,) rows, variables and codes."""

    seen: CategoricalTable
    row: Ints
    variable: Ints
    code: Ints

    def score(self, model: LatentClassModel) -> Floats:
        """Return, for every row with hidden cells, the sum of the logarithms of their probabilities given the rest.

        Sums are multiplied by the weights of the rows, where the table has some, over their mean.
        """
        Q = model.posterior(self.seen)
        value = self.seen.offsets[self.variable] + self.code
        given = np.einsum("ef,ef->e", Q[self.row], model.stacked[value])
        rows, place = np.unique(self.row, return_inverse=True)
        scores = np.bincount(place, np.log(np.maximum(given, FLOOR)), len(rows))
        weights = self.seen.row_weights[rows]
        return np.asarray(scores * weights / weights.mean(), dtype=np.float64)


def hide_cells(table: CategoricalTable, rng: np.random.Generator) -> list[HiddenCells]:
    """Hide a fifth of the cells, enough times to score about `SCORED` rows; none where there are too few cells."""
    E = table.n_entries
    n_hidden = round(HIDDEN * E)
    if not n_hidden:
        return []
    n_splits = min(-(-SCORED // table.n_rows), MOST_SPLITS)
    return [_hide(table, np.sort(rng.choice(E, n_hidden, replace=False))) for _ in range(n_splits)]


def _hide(table: CategoricalTable, chosen: Ints) -> HiddenCells:
    seen = np.ones(table.n_entries, dtype=bool)
    seen[chosen] = False
    row, variable, code = table.rows, table.variables, table.values
    left = CategoricalTable.from_entries(row[seen], variable[seen], code[seen], table.sizes, table.n_rows)
    left = left if table.weights is None else left.weighted(table.weights)
    return HiddenCells(left, row[chosen], variable[chosen], code[chosen])

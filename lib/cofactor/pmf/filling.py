"""What gaps of a table are filled with: the most probable value; of a number, the median of its distribution.

    symbol   meaning                                                              shape
    P        probabilities of a column's codes, given the rest of each row        (R, I)
    v        values that were observed of it, rising, code by code                (V,)
    m        how many of them belong to each code                                 (I,)

A code gives each of its values the same share of its probability. The least v at which these shares, added up, reach
one half is the median of the predictive distribution; no other guess has a smaller expected absolute error.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from cofactor.core.latent_class import LatentClassModel, map_class
from cofactor.core.lazy import pd
from cofactor.core.tables import MISSING
from cofactor.core.types import Floats, Ints
from cofactor.pmf.frames import CategoricalFrame
from cofactor.pmf.holdout import HeldOutCells

ENOUGH = 30  # hidden cells, before a gain is judged
MEDIAN_LEVEL = 0.5 - 1e-9  # rounding must not move a median


@dataclass(frozen=True, eq=False)
class Filling:
    """Gaps and what they are filled with: (E,) row, variable, value; probability of the value, or of its interval."""

    row: Ints
    variable: Ints
    value: list[str]
    probability: Floats
    code: Ints


def fill(model: LatentClassModel, data: CategoricalFrame, alone: Collection[int] = ()) -> Filling:
    """Return a value for every gap, row by row.

    Numbers get the median of their distribution given the rest of the row; see `predictive` for numbers of few values.
    Variables of numbers that stand in `alone` get the median of their column: the others tell nothing of use about
    them. All other columns get the most probable value. Cost: O(S F + gaps I_n F) time.
    """
    table = data.table
    Q = model.posterior(table)
    row, variable = np.nonzero(table.codes == MISSING)
    value, probability, codes = np.empty(len(row), dtype=object), np.zeros(len(row)), np.zeros_like(row)
    for n, A in enumerate(model.conditionals):
        own = variable == n
        counts, often = np.array([len(cells) for cells in data.observed[n]]), data.columns[n].often
        P = np.tile(often / often.sum(), (own.sum(), 1)) if n in alone else Q[row[own]] @ A.T
        code = map_class(P, model.marginal(n))
        at = (np.cumsum(counts) - counts)[code]
        if data.numbers[n] is not None:
            code, at = predictive(P, counts, data.is_cut(n) or n in alone)
        value[own] = np.concatenate([np.array(cells, dtype=object) for cells in data.observed[n]])[at]
        probability[own], codes[own] = P[np.arange(len(P)), code], code
    return Filling(row, variable, value.tolist(), probability, codes)


def predictive(P: Floats, counts: Ints, cut: bool) -> tuple[Ints, Ints]:
    """Return code and place among the observed values, (R,) each, of what a number is guessed to be.

    That is the predictive median. Numbers that are not `cut`, of few values, may stand for names, which have no middle:
    where the median is less than half as probable as the most probable value, it is that one.

    >>> P, counts = np.array([[0.5, 0.1, 0.4], [0.45, 0.15, 0.4]]), np.array([2, 3, 4])
    >>> predictive(P, counts, cut=True)
    (array([0, 1]), array([1, 2]))
    >>> predictive(P, counts, cut=False)[0]
    array([0, 0])
    """
    possible = P * (counts > 0)
    possible /= possible.sum(axis=1, keepdims=True)
    total = np.cumsum(possible, axis=1)
    code = np.asarray((total < MEDIAN_LEVEL).sum(axis=1))
    rows = np.arange(len(P))
    if not cut:
        best = possible.argmax(axis=1)
        code = np.where(2 * possible[rows, code] < possible[rows, best], best, code)
    share, before = possible[rows, code], total[rows, code] - possible[rows, code]
    inside = np.ceil((MEDIAN_LEVEL - before) / share * counts[code]).astype(np.int64) - 1
    return code, (np.cumsum(counts) - counts)[code] + np.clip(inside, 0, counts[code] - 1)


def number_errors(found: HeldOutCells, data: CategoricalFrame) -> pd.DataFrame:
    """Return, for every column of numbers, the mean absolute error on hidden cells over the column's sd.

    Columns `mae`, and `base_mae` of the median of the column's other cells; their difference `gain` with its standard
    `error`, and the number of `cells`; indexed by variable. What was hidden takes no part in any guess.
    """
    rows = {}
    Q = found.model.posterior(found.seen)
    seen_codes = found.seen.codes
    for n, numbers in enumerate(data.numbers):
        own = found.row[found.variable == n]
        if numbers is None or not len(own):
            continue
        codes = seen_codes[:, n]
        order = np.lexsort((numbers, codes))[(codes == MISSING).sum() :]
        counts = np.bincount(codes[order], minlength=found.seen.sizes[n])
        guess = numbers[order][predictive(Q[own] @ found.model.conditionals[n].T, counts, data.is_cut(n))[1]]
        scale = np.nanstd(numbers)
        off, base = (np.abs(one - numbers[own]) / scale for one in (guess, np.median(numbers[order])))
        gain = np.mean(base - off)
        error = np.sqrt(np.mean((base - off - gain) ** 2) / len(off))
        rows[n] = (np.mean(off), np.mean(base), gain, error, len(own))
    columns = ["mae", "base_mae", "gain", "error", "cells"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def no_better(errors: pd.DataFrame) -> list[int]:
    """Return the columns of numbers that are filled with their median, since the others tell nothing of use."""
    return errors.index[(errors["gain"] <= 0) & (errors["cells"] >= ENOUGH)].tolist()

"""Filling the gaps of a table: with the most probable value, with the predictive median of numbers, or by draws.

    symbol   meaning                                                              shape
    P        probabilities of a column's codes, given the rest of each row        (R, I)
    v        observed values of the column, ascending, code by code               (V,)
    m        number of these values that belong to each code                      (I,)

The probability of a code is divided equally among its values. The smallest v at which the cumulative probability
reaches one half is the median of the predictive distribution; no other guess has a smaller expected absolute error.

A table whose gaps are all filled with the most probable value contains frequent values too often and shows no
uncertainty. Therefore, completed tables can be drawn (`draw`) and estimates pooled over them. Each table has its own
model, fitted to rows drawn with replacement. For each row, a latent class is drawn given the observed values of the
row, and the missing values are drawn given the class. A mean or a proportion of one completed table has its usual
variance U; over D tables,

    estimate = mean of the D estimates,   variance = mean of U + (1 + 1/D) B,   B their variance.

Dependence that the model misses biases drawn values towards those of the rows without gaps, and no interval shows this.
Refits therefore have more latent classes than a model that is meant to be interpreted (perturbed copies of its own
classes), and a number within an interval is taken from rows for which the drawn class is probable.

Source: Rubin, "Multiple imputation for nonresponse in surveys", 1987; Barnard and Rubin, "Small-sample degrees of
freedom with multiple imputation", Biometrika 1999 (degrees of freedom for means); Vermunt, Van Ginkel, Van der Ark and
Sijtsma, "Multiple imputation of incomplete categorical data using latent class analysis", Sociological Methodology 2008
(too many classes are better than too few). The fit to redrawn rows replaces a draw of the parameters, and the values of
an interval are redrawn, too (Rubin and Schenker, JASA 1986).
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.bootstrap import LEVEL, START_FLOOR, Rows, checked_level, probability_intervals, resample, seen_rows
from cofactor.core.checks import check_whole, rng_of
from cofactor.core.em import em
from cofactor.core.errors import ConvergenceWarning
from cofactor.core.latent_class import LatentClassModel, map_class, normalize_blocks
from cofactor.core.lazy import pd, stats
from cofactor.core.tables import MISSING, CategoricalTable
from cofactor.core.types import Floats, Ints, Seed
from cofactor.pmf.base import JointPMFEstimator
from cofactor.pmf.bootstrap import refits
from cofactor.pmf.frames import CategoricalFrame
from cofactor.pmf.metrics import HeldOutCells

ENOUGH = 30  # hidden cells, before a gain is judged
MEDIAN_LEVEL = 0.5 - 1e-9  # rounding must not move a median
DONOR_SHARE = 1e-12  # share of a row in what it can donate that none is without
# latent classes of the refits, if there are so many rows for each: fewer leave dependence out
LEAST_CLASSES = 8
ROWS_PER_CLASS = 25
# of EM of a refit, times for the first: spare classes take very many to stand still
DRAW_ROUNDS = 60
FIRST_FIT_TIMES = 5
DRAW_TOL = 1e-6
DRAW_PSEUDO_COUNT = 0.03  # pseudo-count of the refits: more serves single guesses, and moves shares and means


@dataclass(frozen=True, eq=False)
class Filling:
    """The (E,) gaps with their rows, variables and filled values, and the probability of each value or its interval."""

    row: Ints
    variable: Ints
    value: list[str]
    probability: Floats
    code: Ints


def fill(model: LatentClassModel, data: CategoricalFrame, alone: Collection[int] = ()) -> Filling:
    """Return a value for every gap, row by row.

    Gaps of numeric columns are filled with the median of their distribution given the rest of the row; see `predictive`
    for columns with few distinct numbers. Numeric columns listed in `alone`, which other columns do not help to
    predict, are filled with the median of the column. All other columns are filled with the most probable value. Cost:
    O(S F + gaps I_n F) time.
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
    """Return the (R,) codes of predicted numbers and their (R,) positions among the observed values.

    The prediction is the predictive median. Columns that are not `cut`, with few distinct numbers, may encode
    categories, for which a median is meaningless: if the median is less than half as probable as the most probable
    value, the latter is predicted.

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
    """Return the mean absolute error on hidden cells of every numeric column, in standard deviations of the column.

    The columns are `mae` (of the model), `base_mae` (of the median of the column's other cells), `gain` (their
    difference), `error` (the standard error of the gain) and `cells` (the number of hidden cells); the index is the
    variable. No prediction uses the hidden values.
    """
    rows = {}
    Q = found.model.posterior(found.seen)
    seen_codes = found.seen.codes
    for n, numbers in enumerate(data.numbers):
        own = found.row[found.variable == n]
        if numbers is None or not len(own) or not (scale := _spread(numbers)):  # beyond 16 digits, floats may be equal
            continue
        codes = seen_codes[:, n]
        order = np.lexsort((numbers, codes))[(codes == MISSING).sum() :]
        counts = np.bincount(codes[order], minlength=found.seen.sizes[n])
        guess = numbers[order][predictive(Q[own] @ found.model.conditionals[n].T, counts, data.is_cut(n))[1]]
        off, base = (np.abs(one - numbers[own]) / scale for one in (guess, np.median(numbers[order])))
        gain = np.mean(base - off)
        error = np.sqrt(np.mean((base - off - gain) ** 2) / len(off))
        rows[n] = (np.mean(off), np.mean(base), gain, error, len(own))
    columns = ["mae", "base_mae", "gain", "error", "cells"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _spread(numbers: Floats) -> float:
    """Return the standard deviation, even of numbers whose squares underflow or overflow."""
    largest = np.nanmax(np.abs(numbers))
    with np.errstate(over="ignore"):
        spread = np.nanstd(numbers)
    return float(spread if 0 < spread < np.inf else largest * np.nanstd(numbers / largest))


def no_better(errors: pd.DataFrame) -> list[int]:
    """Return the numeric columns that the model predicts no better than their median."""
    return errors.index[(errors["gain"] <= 0) & (errors["cells"] >= ENOUGH)].tolist()


# ---- completed tables, drawn ----


@dataclass(frozen=True, eq=False)
class Draws:
    """Completed tables, see `draw`; every iteration yields the same tables, one by one."""

    data: CategoricalFrame
    models: tuple[LatentClassModel, ...]
    seeds: tuple[int, ...]

    def __len__(self) -> int:
        """The number of tables."""
        return len(self.models)

    def __iter__(self) -> Iterator[pd.DataFrame]:
        """Yield the tables, each with all columns of the input."""
        for model, seed in zip(self.models, self.seeds, strict=True):
            yield self.data.filled(*drawn_values(model, self.data, np.random.default_rng(seed)))


def draw(
    method: JointPMFEstimator,
    data: CategoricalFrame,
    n_draws: int = 20,
    random_state: Seed = None,
) -> Draws:
    """Draw completed tables of a frame, using a method that was fitted on its table.

    Raises a CofactorError if there are fewer than two draws. Cost: that of n_draws refits by EM, and O(S F) per table.
    """
    check_whole(2, n_draws=n_draws)
    rng, seen = rng_of(random_state), data.table.take_rows(seen_rows(data.table))
    if method.em and method.model_.n_classes > 1:  # some rounds of EM from a model of enough classes
        start = _wider(method.model_, seen, rng)
        models = resample(partial(_refit, table=seen, start=start), seen.n_rows, n_draws, rng)
    else:
        models = refits(method, seen, n_draws, rng)
    return Draws(data, tuple(models), tuple(rng.integers(2**32, size=len(models)).tolist()))


def _refit(rows: Rows, table: CategoricalTable, start: LatentClassModel) -> LatentClassModel:
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # the last digits move no value
        return em(table.take_rows(rows), start, DRAW_ROUNDS, DRAW_TOL, False, DRAW_PSEUDO_COUNT)[0]


def _wider(model: LatentClassModel, seen: CategoricalTable, rng: np.random.Generator) -> LatentClassModel:
    """Return the model without zeros; if it has too few classes, refit it from copies perturbed by up to a half."""
    times = -(-min(LEAST_CLASSES, seen.n_rows // ROWS_PER_CLASS) // model.n_classes)
    model = model.lift(START_FLOOR)
    if times <= 1:
        return model
    shaken = np.tile(model.stacked, times) * rng.uniform(0.5, 1.5, (len(model.stacked), times * model.n_classes))
    prior = np.tile(model.prior, times) / times
    start = LatentClassModel.from_stacked(prior, normalize_blocks(shaken, model.sizes), model.sizes)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return em(seen, start, FIRST_FIT_TIMES * DRAW_ROUNDS, DRAW_TOL, False, DRAW_PSEUDO_COUNT)[0].lift(START_FLOOR)


def drawn_values(
    model: LatentClassModel, data: CategoricalFrame, rng: np.random.Generator
) -> tuple[Ints, Ints, list[str]]:
    """Return the row, the variable and a drawn value of every gap; one latent class is drawn per row."""
    table, Q = data.table, model.posterior(data.table)
    row, variable = np.nonzero(table.codes == MISSING)
    kind = _drawn(Q, rng)[row]
    value = np.empty(len(row), dtype=object)
    for n, A in enumerate(model.conditionals):
        of_column = variable == n
        code = _drawn(A.T[kind[of_column]], rng)
        if data.is_cut(n):
            value[of_column] = _donated(data, n, Q, code, kind[of_column], rng)
        else:
            value[of_column] = np.array([cells[0] for cells in data.observed[n]], dtype=object)[code]
    return row, variable, value.tolist()


def _donated(
    data: CategoricalFrame, n: int, Q: Floats, code: Ints, kind: Ints, rng: np.random.Generator
) -> NDArray[Any]:
    """Return a value in the interval of each `code`, taken from a row for which the latent class `kind` is probable."""
    rows, codes = data.table.column(n)
    again = np.bincount(rng.integers(len(rows), size=len(rows)), minlength=len(rows))
    cells = data.frame[data.names[n]].to_numpy(dtype=object)[rows]
    value, u = np.empty(len(code), dtype=object), rng.random(len(code))
    for one in np.unique(code).tolist():
        donors = np.flatnonzero(codes == one)
        total = np.cumsum((again[donors, None] + DONOR_SHARE) * (Q[rows[donors]] + DONOR_SHARE), axis=0)
        for f in np.unique(kind[code == one]).tolist():
            of_column = (code == one) & (kind == f)
            value[of_column] = cells[donors[np.searchsorted(total[:-1, f], u[of_column] * total[-1, f], side="right")]]
    return value


def _drawn(shares: Floats, rng: np.random.Generator) -> Ints:
    """Draw one column index from every row of (R, K) probabilities."""
    total = np.cumsum(shares, axis=1)
    return np.minimum((total < rng.random((len(shares), 1)) * total[:, -1:]).sum(axis=1), shares.shape[1] - 1)


def pooled(tables: Iterable[pd.DataFrame], data: CategoricalFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return means of numeric columns and proportions of all other values, pooled over completed tables.

    The columns are column, value (empty for a mean), estimate, low, high and missing, the fraction of the variance that
    is due to gaps. Cells without a value are ignored.
    """
    checked_level(level)
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for table in tables:
        for n, name in enumerate(data.names):
            there = table[name].notna().to_numpy()
            for value, estimate, variance in _estimates(table[name][there], data, n):
                found.setdefault((name, value), []).append((estimate, variance))
    rows, n_rows = [], data.table.n_rows
    for (name, value), parts in found.items():
        estimates, variances = np.array(parts).T
        rows.append({"column": name, "value": value, **_pool(estimates, variances, not value, n_rows, level)})
    return pd.DataFrame(rows)


def _estimates(cells: pd.Series[str], data: CategoricalFrame, n: int) -> Iterable[tuple[str, float, float]]:
    """Yield (value, estimate, variance) for the mean of a numeric column, or for the proportion of every value."""
    if not len(cells):
        return
    if data.numbers[n] is not None:
        numbers = pd.to_numeric(cells).to_numpy(dtype=np.float64)
        yield "", float(numbers.mean()), float(numbers.var()) / max(len(cells) - 1, 1)
        return
    for code in range(len(data.observed[n])):
        share = float(cells.eq(data.shown(n, code)).mean())
        yield data.shown(n, code), share, share * (1 - share) / len(cells)


def _pool(estimates: Floats, variances: Floats, mean: bool, n_rows: float, level: float) -> dict[str, float]:
    """Return the estimate, its interval and the fraction of the variance due to gaps, by Rubin's rules."""
    D = len(estimates)
    between = (1 + 1 / D) * estimates.var(ddof=1)
    variance = float(variances.mean() + between)
    missing = between / variance if variance else 0.0
    estimate, spread = float(estimates.mean()), np.sqrt(variance)
    if mean:
        observed = n_rows / (n_rows + 2) * (n_rows - 1) * (1 - missing)  # degrees of freedom of Barnard and Rubin
        freedom = 1 / (missing**2 / (D - 1) + 1 / max(observed, 1.0))
        half = float(stats.t.ppf((1 + level) / 2, freedom)) * spread
        low, high = estimate - half, estimate + half
    else:
        low, high = (float(end) for end in probability_intervals(np.array(estimate), np.array(spread), n_rows, level))
    return {"estimate": estimate, "low": low, "high": high, "missing": float(missing)}

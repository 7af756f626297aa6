"""Rows and columns of a table that are no cases: totals, means, footnotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofactor.core.errors import listing
from cofactor.core.lazy import pd
from cofactor.core.types import Floats

SUMMANDS = 5  # at least: numbers of which another is the sum or the mean
ROUNDING = 1e-9  # relative error of a sum of floats
BY_CHANCE = 1e-3  # at most: expected number of cases that equal a sum, or a mean, by chance
AT_ONCE = 256  # rows that are compared first; twice as many where none is a sum
NEARLY_ALL = 0.8  # least share of filled cells in a table where a row with a single cell is odd
FOOTNOTE = 2  # times as long as any other cell of its column is a text that is no id


@np.errstate(all="ignore")  # sums of the largest floats
def added_up(frame: pd.DataFrame) -> dict[int, str]:
    """Return the rows (positions) of a table that are sums or means of other rows, with what they are.

    Such a row has a single text, which occurs nowhere else in its column, and numbers. Within rounding, all of these
    are the sums or means of the rows above (or below), or the sums of the rows since the last such row. Sums add up at
    least five positive numbers in some column and no negative ones; means are of five numbers or more. Cases rarely
    equal either by chance. Missing values of `frame` are gaps, and its numbers are plain. Cost: O(cells).

    >>> added_up(pd.DataFrame({"city": [*"abcabc", "all"], "n": ["13", "21", None, "35", "42", "61", "172"]}))
    {6: "'all' adds up the rows above"}
    """
    coded = [pd.factorize(frame.iloc[:, n]) for n in range(frame.shape[1])]
    numbers = np.full(frame.shape, np.nan)
    texts, label = np.zeros((2, len(frame)), dtype=np.int64)
    alone = np.zeros(len(frame), dtype=bool)
    for n, (codes, values) in enumerate(coded):
        known = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").to_numpy(dtype=np.float64)
        numbers[:, n] = np.append(np.where(np.isfinite(known), known, np.nan), np.nan)[codes]
        is_text = (codes >= 0) & np.isnan(numbers[:, n])
        texts += is_text
        label[is_text] = n
        alone[is_text] = np.bincount(codes[codes >= 0])[codes[is_text]] == 1
    rows = np.flatnonzero((texts == 1) & alone & np.isfinite(numbers).any(axis=1))
    if len(frame) <= SUMMANDS:
        return {}
    near, by_chance = np.zeros(frame.shape), np.ones((2, len(frame)))
    for n, own in ((n, rows[np.isfinite(numbers[rows, n])]) for n in range(frame.shape[1])):
        if own.size:
            codes, values = coded[n]
            half = np.array([0.5 / 10.0 ** len(str(cell).partition(".")[2]) for cell in values])  # of the last place
            near[own, n] = np.fmax(half[codes[own]], ROUNDING * np.abs(numbers[own, n]))
            by_chance[:, own] *= _chances(numbers[:, n], own, near[own, n])
    may_be = np.zeros_like(by_chance, dtype=bool)
    may_be[:, rows] = by_chance[:, rows] * len(rows) <= BY_CHANCE
    if not may_be.any():
        return {}
    used = near.any(axis=0)
    numbers, near = numbers[:, used], near[:, used]
    found: dict[int, str] = {}
    for word, order in (("above", slice(None)), ("below", slice(None, None, -1))):
        for row, what in list(_sums_and_means(numbers[order], near[order], *may_be[:, order])):
            place = row if word == "above" else len(frame) - 1 - row
            found[place] = f"{frame.iat[place, int(label[place])]!r} {what} {word}"
            numbers[place], may_be[:, place] = np.nan, False
    return dict(sorted(found.items()))


def nearly_added_up(frame: pd.DataFrame) -> dict[int, str]:
    """Return a last row that looks like a total (see `totals`) and is no case like others, as `added_up` does.

    It has a single text, which occurs nowhere else in its column, whose other values repeat.

    >>> nearly_added_up(pd.DataFrame({"city": [*"abcabc", "all"], "n": ["1", "2", None, "3", "4", "6", "18"]}))
    {6: "'all' is at least half of the sum of the rows above"}
    """
    last = frame.iloc[-1:].dropna(axis=1)
    texts = [name for name in last if pd.to_numeric(last[name], errors="coerce").isna().any()]
    if len(texts) != 1 or not totals(frame):
        return {}
    text, others = last[texts[0]].iat[0], frame[texts[0]].iloc[:-1].dropna()
    if (others == text).any() or 2 * others.nunique() > len(others):
        return {}
    return {len(frame) - 1: f"{text!r} is at least half of the sum of the rows above"}


def _chances(column: Floats, rows: NDArray[np.intp], near: Floats) -> Floats:
    """Return the (2, rows) chances that a case has a number as near to that of each row, if it is a sum, or a mean.

    Numbers of half to twice a sum are taken to be even there, and so are those of the middle half about a mean.
    """
    known, own = np.sort(column[np.isfinite(column)]), np.abs(column[rows])
    around = np.searchsorted(known, 2 * own, side="right") - np.searchsorted(known, own / 2) - 1  # without its own
    spread = np.subtract(*np.quantile(known, (0.75, 0.25)))
    return np.fmin([np.fmax(around, 1) / len(known) * near / own, near / spread], 1.0)


def _sums_and_means(
    numbers: Floats, near: Floats, may_sum: NDArray[np.bool_], may_be_mean: NDArray[np.bool_]
) -> Iterator[tuple[int, str]]:
    """Yield the rows whose numbers are, nearly, sums or means of the rows above."""
    whole, block = np.zeros((2, 4, 1, numbers.shape[1]))  # of all rows above, and of those since the last one found
    start, width = 0, AT_ONCE
    while start < len(numbers):
        places = slice(start, start + width)
        part, known = numbers[places], np.isfinite(numbers[places])
        own = np.array([np.where(known, part, 0.0), known, part > 0, part < 0])
        before = np.cumsum(own, axis=1) - own
        found = {}
        for what, counts in (("adds up the rows", whole + before), ("adds up the rows directly", block + before)):
            fit = ~known | ((np.abs(part - counts[0]) <= near[places]) & (counts[3] == 0))
            found[what] = may_sum[places] & fit.all(axis=1) & (known & (counts[2] >= SUMMANDS)).any(axis=1)
        total, count = (whole + before)[:2]
        fit = ~known | ((np.abs(part - total / np.fmax(count, 1)) <= near[places]) & (count >= SUMMANDS))
        found["averages the rows"] = may_be_mean[places] & fit.all(axis=1)
        hits = np.flatnonzero(np.any(list(found.values()), axis=0))
        stop = int(hits[0]) if hits.size else len(part)
        seen = own[:, :stop].sum(axis=1, keepdims=True)
        whole, block = whole + seen, (block + seen) * (not hits.size)
        if hits.size:
            yield start + stop, next(what for what, rows in found.items() if rows[stop])
        start, width = start + stop + bool(hits.size), AT_ONCE if hits.size else 2 * width


def totals(frame: pd.DataFrame) -> str:
    """Return a note if the last row of a table looks like a total; "" otherwise.

    It does if each of its numbers is at least half the sum of the rows above, which may have gaps but no negatives.

    >>> totals(pd.DataFrame({"city": [*"abcabc", "all"], "n": ["1", "2", None, "3", "4", "6", "16"]}))
    'row 6 looks like a total (n is 16, the rows above add up to 16): remove it, since it counts as a case'
    """
    numbers = frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    above, last = numbers[:-1], numbers[-1] if len(numbers) else np.zeros(0)
    counted = np.flatnonzero(np.isfinite(last) & (np.sum(above > 0, axis=0) >= SUMMANDS))
    sums = np.nansum(above[:, counted], axis=0)
    if not counted.size or np.nanmin(above[:, counted]) < 0 or (last[counted] < sums / 2).any():
        return ""
    pairs = zip(counted, sums, strict=True)
    found = listing(f"{frame.columns[int(n)]} is {last[n]:g}, the rows above add up to {total:g}" for n, total in pairs)
    row = f"{frame.index.name or 'row'} {frame.index[-1]}"
    return f"{row} looks like a total ({found}): remove it, since it counts as a case"


def sums(X: Floats, rows: Sequence[Any] | None, columns: Sequence[Any] | None) -> Iterator[str]:
    """Yield a note if the numbers of the last row, or of the last column, of a matrix are the sums of the others.

    >>> list(sums(np.array([[1, 2], [0, 1], [2, 2], [1, 1], [1, 2], [5, 8]]), [*"abcde", "all"], None))
    ["the last row ('all') holds the sums of the rows above it: remove it, since it counts as data"]
    """
    for what, others, names, M in (("row", "rows above", rows, X), ("column", "columns before", columns, X.T)):
        last, above = M[-1], M[:-1]
        larger = len(above) >= SUMMANDS and (last > np.fmax.reduce(above)).any()
        if larger and np.allclose(last, np.nansum(above, axis=0), 1e-6, 0):
            called = "" if names is None else f" ({names[-1]!r})"
            yield f"the last {what}{called} holds the sums of the {others} it: remove it, since it counts as data"


def footnotes(frame: pd.DataFrame) -> str:
    """Return a note if each of the last rows has a single cell that looks like a footnote; "" otherwise.

    It does if no other row has a single cell, most cells are filled, and the text occurs nowhere else in its column,
    which is not one of ids, or is longer than these.

    >>> footnotes(pd.DataFrame([*[("a", "x", "1"), ("b", "y", "2")] * 4, ("* preliminary", None, None)]))
    "a single cell, as in a footnote: row 8 ('* preliminary'): remove such a row, since it counts as a case"
    """
    filled = frame.notna().to_numpy()
    n_filled = filled.sum(axis=1)
    there = np.flatnonzero(n_filled)
    n_last = int((np.cumsum(n_filled[there[::-1]] != 1) == 0).sum())
    rest, last = there[: len(there) - n_last], there[len(there) - n_last :]
    full = frame.shape[1] > 2 and len(rest) >= SUMMANDS and filled[rest].mean() >= NEARLY_ALL
    if not n_last or not full or (n_filled[rest] == 1).any():
        return ""
    cells = []
    for row in last:
        column = frame.iloc[:, int(filled[row].argmax())]
        cell, others = str(column.iat[row]), column.iloc[rest].dropna()
        short = others.is_unique and len(cell) <= FOOTNOTE * others.str.len().max()
        if short or (others == cell).any() or np.isfinite(pd.to_numeric(cell, errors="coerce")):
            return ""
        cells.append(repr(cell))
    named = [f"{frame.index.name or 'row'} {row} ({cell})" for row, cell in zip(frame.index[last], cells, strict=True)]
    return f"a single cell, as in a footnote: {listing(named)}: remove such a row, since it counts as a case"

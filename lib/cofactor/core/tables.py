"""CategoricalTable: S rows of N discrete variables, of which most entries may be missing.

A crowd is such a table (rows are tasks, variables are annotators, codes are labels), and so is a sample of
discrete random variables. Only observed entries are stored, as a sparse one-hot matrix F: the row of F for
table row s has a one in column offset[n] + code for every observed variable n. Then F'F counts all pairs of
values at once, F log(A) sums log-likelihoods, and F'Q sums soft counts.

    symbol   meaning                                   shape
    S, N     rows, variables
    I_n      alphabet size of variable n               sizes[n]
    F        one-hot indicator of what was observed    (S, sum I_n), sparse
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from cofactor.core.checks import is_whole, positions, require_bytes, unmasked
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.types import Floats, Ints

MISSING = -1
AT_ONCE = 1 << 20  # entries of the rows that are looked at together
LARGEST_EXACT_CODE = 2.0**53  # code; above, floats leave whole numbers out


class CategoricalTable:
    """S rows of N categorical variables as integer codes, perhaps with missing entries.

    Parameters
    ----------
    codes : (S, N) integer array
        ``codes[s, n]`` in 0..I_n - 1, or -1 where variable n was not observed in row s.
    sizes : (N,) ints, optional
        Alphabet sizes I_n. Default: the largest code of each variable plus one (at least one).

    Raises a CofactorError if `codes` is not a matrix of integers, for codes outside their alphabet (the first ten are
    named), and for sizes that do not fit into memory. Masked entries are missing.
    Cost: O(observed entries) memory, 12 bytes each.

    >>> table = CategoricalTable([[0, 1], [1, -1]])
    >>> table.n_rows, table.n_variables, table.n_entries, table.sizes.tolist()
    (2, 2, 3, [2, 2])
    """

    indicator: sparse.csr_array
    sizes: Ints

    def __init__(self, codes: ArrayLike, sizes: ArrayLike | None = None) -> None:
        codes = _integer_codes(codes)
        row, variable = np.nonzero(codes != MISSING)
        if sizes is None:
            sizes = np.maximum(codes.max(axis=0, initial=MISSING) + 1, 1)
        if unmasked(sizes).shape != codes.shape[1:]:
            raise CofactorError(
                f"sizes must have one entry for each of the {codes.shape[1]} variables; got shape {np.shape(sizes)}"
            )
        self._store(row, variable, codes[row, variable], _integer_codes(sizes, ndim=1), len(codes))

    @classmethod
    def from_entries(
        cls,
        row: ArrayLike,
        variable: ArrayLike,
        code: ArrayLike,
        sizes: ArrayLike,
        n_rows: int,
        shares: Floats | None = None,
    ) -> CategoricalTable:
        """Create a table from its observed entries, in any order.

        Entry e means that `variable[e]` took the value `code[e]` in `row[e]`; `sizes` are the (N,) alphabet sizes. Rows
        may have no entry. Raises a CofactorError for an index or code out of range, or a variable observed twice in one
        row (the first ten are named). With (E,) `shares`, each positive, a variable may have several values in a row,
        each counted by its share; the shares of a variable in a row sum to one.

        >>> CategoricalTable.from_entries([0, 2], [1, 0], [1, 0], sizes=[2, 2], n_rows=3).codes.tolist()
        [[-1, 1], [-1, -1], [0, -1]]
        """
        if not is_whole(n_rows):
            raise CofactorError(f"n_rows={n_rows!r}: give a whole number")
        table = cls.__new__(cls)
        row, variable, code = (_integer_codes(array, ndim=1) for array in (row, variable, code))
        if not len(row) == len(variable) == len(code):
            raise CofactorError(f"row, variable and code differ in length: {len(row)}, {len(variable)} and {len(code)}")
        table._store(row, variable, code, _integer_codes(sizes, ndim=1), int(n_rows), shares)
        return table

    def _store(
        self, row: Ints, variable: Ints, code: Ints, sizes: Ints, n_rows: int, shares: Floats | None = None
    ) -> None:
        if n_rows < 0 or (sizes < 1).any():
            raise CofactorError(f"n_rows must be at least 0 and sizes at least 1, got {n_rows} and {listing(sizes)}")
        values = sizes.sum(dtype=np.float64)
        require_bytes(40 * (n_rows + values), f"{n_rows} rows of {len(sizes)} variables with {values:.0f} values")
        _check_range("row", row, n_rows)
        _check_range("variable", variable, len(sizes))
        if (bad := np.flatnonzero((code < 0) | (code >= sizes[variable]))).size:
            found = (f"row {row[e]}, variable {variable[e]}: {code[e]}" for e in bad)
            raise CofactorError(f"codes outside their alphabet (0..size-1, or -1 if missing): {listing(found)}")
        self.sizes = sizes
        shape = (n_rows, int(sizes.sum()))
        index = np.int32 if max(*shape, len(row)) < np.iinfo(np.int32).max else np.int64
        columns = (self.offsets[variable] + code).astype(index)
        data = np.ones(len(row)) if shares is None else shares
        coo = sparse.coo_array((data, (row.astype(index), columns)), shape=shape)
        self.indicator = coo.tocsr()  # sums duplicates, which then show as entries above one
        self.indicator.sort_indices()
        if shares is None:
            _check_unique(self)

    @classmethod
    def of_columns(cls, row: Ints, column: Ints, sizes: Ints, n_rows: int) -> CategoricalTable:
        """Create a table from valid entries (row, column of the indicator), perhaps several per variable.

        Four bytes per entry are stored, without a copy if `column` has four bytes, and the start of each row; sorted
        rows are not sorted again.
        """
        width = int(sizes.sum())
        index = np.int32 if max(n_rows, width, len(row)) < np.iinfo(np.int32).max else np.int64
        row, column = row.astype(index, copy=False), column.astype(index, copy=False)
        if (row[1:] >= row[:-1]).all():
            starts = np.append(np.searchsorted(row, np.arange(n_rows, dtype=index)), len(row)).astype(index)
            indicator = sparse.csr_array((np.ones(len(row), dtype=np.int8), column, starts), shape=(n_rows, width))
        else:
            indicator = sparse.coo_array((np.ones(len(row)), (row, column)), shape=(n_rows, width)).tocsr()
        indicator.sort_indices()
        if len(indicator.data) == len(row) and (indicator.data == 1).all():
            indicator.data = np.broadcast_to(1.0, len(row))
        return cls._with(indicator, sizes)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the observed entries; entries of one, which share one number, need no bytes."""
        F = self.indicator
        data = None if F.data.strides == (0,) else F.data
        return _unpickled, (F.indices, F.indptr, F.shape, data, self.sizes)

    @property
    def n_rows(self) -> int:
        """S, the number of rows."""
        return int(self.indicator.shape[0])

    @property
    def n_variables(self) -> int:
        """N, the number of variables."""
        return len(self.sizes)

    @property
    def n_entries(self) -> int:
        """The number of observed entries."""
        return int(self.indicator.nnz)

    @cached_property
    def shared(self) -> bool:
        """Whether some variable has several values in a row, with shares (the entries of `indicator`)."""
        return bool((self.indicator.data != 1).any())

    @cached_property
    def offsets(self) -> Ints:
        """(N,) first column of each variable in the indicator."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)

    @cached_property
    def rows(self) -> Ints:
        """(E,) row of each observed entry, sorted."""
        return np.repeat(np.arange(self.n_rows), self.entries_per_row)

    @cached_property
    def variables(self) -> Ints:
        """(E,) variable of each observed entry, in the order of `rows`."""
        owner = np.repeat(np.arange(self.n_variables), self.sizes)
        return owner[self.indicator.indices]

    @property
    def values(self) -> Ints:
        """(E,) code of each observed entry, in the order of `rows`."""
        return self.indicator.indices - self.offsets[self.variables]

    @property
    def entries_per_row(self) -> Ints:
        """(S,) number of observed variables in each row."""
        return np.diff(self.indicator.indptr).astype(np.int64)

    @property
    def entries_per_variable(self) -> Ints:
        """(N,) number of rows in which each variable was observed."""
        up_to = np.append(0, np.cumsum(self.frequencies))
        return np.diff(up_to[np.append(self.offsets, len(self.frequencies))])

    @cached_property
    def frequencies(self) -> Ints:
        """(sum I_n,) number of rows in which each value was observed."""
        return counted(self.indicator.indices, int(self.sizes.sum()))

    @property
    def codes(self) -> Ints:
        """(S, N) dense codes, -1 where missing. O(S N) memory."""
        dense = np.full((self.n_rows, self.n_variables), MISSING, dtype=np.int64)
        dense[self.rows, self.variables] = self.values
        return dense

    def parts(self) -> Iterator[tuple[slice, CategoricalTable]]:
        """Yield consecutive parts of about a million entries, with the slices of their rows."""
        places = np.arange(AT_ONCE, self.n_entries, AT_ONCE)
        ends = np.unique([*np.searchsorted(self.indicator.indptr, places), self.n_rows])
        for i, j in pairwise([0, *ends.tolist()]):
            yield slice(i, j), self.rows_between(i, j)

    def by_rows(self, f: Callable[[CategoricalTable], NDArray[Any]]) -> NDArray[Any]:
        """Return f(table), computed in parts to save memory; f must return one row for each row of the table."""
        found = None
        for rows, part in self.parts():
            made = f(part)
            found = np.empty_like(made, shape=(self.n_rows, *made.shape[1:])) if found is None else found
            found[rows] = made
        assert found is not None
        return found

    def column(self, variable: int) -> tuple[Ints, Ints]:
        """Return the sorted rows in which a variable was observed, and its codes there."""
        mine = np.flatnonzero(self.variables == variable)
        return self.rows[mine], self.values[mine]

    def with_sizes(self, sizes: ArrayLike) -> CategoricalTable:
        """Return the table with other alphabet sizes, such as those of a fitted model.

        Codes outside them become missing, with a `DataWarning` that counts and names them.
        """
        sizes = _integer_codes(sizes, ndim=1)
        outside = self.values >= sizes[self.variables]
        if outside.any():
            found = zip(self.rows[outside], self.variables[outside], self.values[outside], strict=True)
            message = (
                f"{outside.sum()} codes outside their alphabet count as missing: "
                f"{listing(f'row {s}, variable {n}: {code}' for s, n, code in found)}"
            )
            warnings.warn(message, DataWarning, stacklevel=4)
        inside = ~outside
        entries = self.rows[inside], self.variables[inside], self.values[inside]
        shares = self.indicator.data[inside] if self.shared else None
        return CategoricalTable.from_entries(*entries, sizes, self.n_rows, shares)

    def take_rows(self, rows: ArrayLike | slice) -> CategoricalTable:
        """Return the table of the given rows, in this order (indices, a mask or a slice)."""
        chosen = rows if isinstance(rows, slice) else positions(rows, self.n_rows, "rows")
        return self._with(self.indicator[chosen], self.sizes)

    def rows_between(self, first: int, end: int) -> CategoricalTable:
        """Return the rows from `first` to before `end`, sharing the memory of this table."""
        F = self.indicator
        a, b = int(F.indptr[first]), int(F.indptr[end])
        part = sparse.csr_array((F.data[a:b], F.indices[a:b], F.indptr[first : end + 1] - a), (end - first, F.shape[1]))
        part.has_sorted_indices = True
        table = self._with(part, self.sizes)
        table.shared = self.shared
        return table

    def take_variables(self, variables: ArrayLike) -> CategoricalTable:
        """Return the table of the given variables, in this order (indices or a mask)."""
        chosen = positions(variables, self.n_variables, "variables")
        spans = [np.arange(self.offsets[n], self.offsets[n] + self.sizes[n]) for n in chosen]
        columns = np.concatenate(spans) if spans else np.zeros(0, dtype=np.int64)
        return self._with(self.indicator[:, columns], self.sizes[chosen])

    def take_values(self, columns: Ints) -> CategoricalTable:
        """Return the table of the given values (sorted columns of `indicator`); some alphabets may become empty."""
        if len(columns) == self.sizes.sum():
            return self
        variable = np.repeat(np.arange(self.n_variables), self.sizes)[columns]
        F, place = self.indicator, np.full(int(self.sizes.sum()), -1, dtype=self.indicator.indices.dtype)
        place[columns] = np.arange(len(columns))
        indices = place[F.indices]
        if indices.min(initial=0) < 0:
            kept = F[:, columns]
        else:  # all entries stay: only their columns have new numbers
            kept = sparse.csr_array((F.data, indices, F.indptr), shape=(self.n_rows, len(columns)))
            kept.has_sorted_indices = True
        return self._with(kept, np.bincount(variable, minlength=self.n_variables))

    def __repr__(self) -> str:
        return f"CategoricalTable({self.n_rows} rows, {self.n_variables} variables, {self.n_entries} entries)"

    @classmethod
    def _with(cls, indicator: sparse.csr_array, sizes: Ints) -> CategoricalTable:
        table = cls.__new__(cls)
        table.indicator, table.sizes = indicator, sizes
        table.indicator.sort_indices()
        return table


def counted(codes: Ints, n: int) -> Ints:
    """Return the (n,) counts of codes, by `np.bincount` in parts, since it copies."""
    some = (codes[first : first + AT_ONCE] for first in range(0, len(codes), AT_ONCE))
    return sum((np.bincount(part, minlength=n) for part in some), np.zeros(n, dtype=np.int64))


def _unpickled(
    indices: Ints, starts: Ints, shape: tuple[int, int], data: Floats | None, sizes: Ints
) -> CategoricalTable:
    ones = np.broadcast_to(1.0, len(indices))
    indicator = sparse.csr_array((ones if data is None else data, indices, starts), shape=shape)
    indicator.has_sorted_indices = True
    return CategoricalTable._with(indicator, sizes)


def _integer_codes(values: ArrayLike, ndim: int = 2) -> Ints:
    try:
        array = unmasked(values, np.int64(MISSING))
    except ValueError:
        raise CofactorError("rows must have the same length: mark missing entries with -1") from None
    if array.ndim != ndim:
        raise CofactorError(f"expected {ndim} dimension(s), got an array of shape {array.shape}")
    fits = array.dtype.kind in "iu" and np.can_cast(array.dtype, np.int64)
    if array.size and not fits:
        if array.dtype.kind not in "uf":
            raise CofactorError(f"codes must be integers, or -1 if missing; got {array.dtype}")
        bad = np.argwhere(~(np.abs(array) <= LARGEST_EXACT_CODE) | (np.floor(array) != array))
        if len(bad):
            raise CofactorError(
                f"codes must be integers, or -1 if missing; found others at {listing(map(tuple, bad.tolist()))}"
            )
    return array.astype(np.int64)


def _check_range(name: str, index: Ints, limit: int) -> None:
    bad = np.unique(index[(index < 0) | (index >= limit)])
    if bad.size:
        raise CofactorError(f"{name} index out of range 0..{limit - 1}: {listing(bad.tolist())}")


def _check_unique(table: CategoricalTable) -> None:
    twice = (np.diff(table.rows) == 0) & (np.diff(table.variables) == 0)
    bad = np.flatnonzero(np.append(twice, False) | (table.indicator.data > 1))
    if bad.size:
        found = (f"row {table.rows[e]}, variable {table.variables[e]}" for e in bad)
        raise CofactorError(f"observed more than once (keep one value for each): {listing(found)}")

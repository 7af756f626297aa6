"""Third moments: counts of the joint values of three variables.

    symbol   meaning                                                     shape
    C        counts of value triples, values of variables j < k < l      (Z,) nonzero cells only
    n_jkl    rows in which j, k and l were all observed

Dense third moments of M annotators and K classes are (M K)^3 / 6 numbers. Only the cells that occurred are stored;
their number is at most that of triples of entries in the rows, sum_s d_s (d_s - 1) (d_s - 2) / 6 for rows with d_s
entries. Counts add up over rows, so the moments of parts of a table can be merged exactly.

Source: Traganitis, Pages-Zamora and Giannakis, "Blind multiclass ensemble classification", IEEE TSP 2018; Kargas,
Sidiropoulos and Fu, "Tensors, learning, and Kolmogorov extension for finite-alphabet random vectors", IEEE TSP 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from cofactor.core.errors import CofactorError
from cofactor.core.lazy import njit
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints

MOST_BYTES = 2_000_000_000  # largest working memory that is taken
BATCH = 5_000_000  # triples of entries counted at a time
PER_TRIPLE = 150  # bytes of a distinct value triple: 16 here, the rest where `coupled_tensor` lists it by variable
DENSE_CELLS = 30_000_000  # up to here a table of all cells is smaller and faster than sorting


@dataclass(frozen=True)
class TripleMoments:
    """Counts of all triples of values of all triples of variables; moments are merged by adding them.

    Attributes
    ----------
    keys : (Z,) int64, rising
        (a V + b) V + c for the stacked values a < b < c of three variables j < k < l, V = sum I_n.
    counts : (Z,) int64
        How often the three values occurred together.
    sizes : (N,) ints
        Alphabet sizes I_n.
    """

    keys: Ints
    counts: Ints
    sizes: Ints

    def __add__(self, other: TripleMoments) -> TripleMoments:
        """Merge the moments of two disjoint sets of rows of the same variables."""
        if not np.array_equal(self.sizes, other.sizes):
            raise CofactorError(
                "only moments of the same variables can be merged: "
                f"{len(self.sizes)} variables with {self.sizes.sum()} values and "
                f"{len(other.sizes)} with {other.sizes.sum()}, or different alphabet sizes"
            )
        both = np.concatenate([self.keys, other.keys]), np.concatenate([self.counts, other.counts])
        return TripleMoments(*_merge(*both), self.sizes)

    @cached_property
    def cells(self) -> Ints:
        """The (3, Z) stacked values a < b < c of every cell."""
        return np.stack(_digits(self.keys, int(self.sizes.sum())))

    @cached_property
    def triples(self) -> tuple[Ints, Ints, Floats]:
        """Observed triples: (3, T) variables j < k < l; (Z,) triple of every cell; (T,) n_jkl."""
        N, owner = len(self.sizes), np.repeat(np.arange(len(self.sizes)), self.sizes)
        j, k, l = owner[self.cells]
        found, index = np.unique((j * N + k) * N + l, return_inverse=True)
        n = np.asarray(np.bincount(index, weights=self.counts), dtype=np.float64)
        return np.stack(_digits(found, N)), index.astype(np.int64), n


def triple_moments(table: CategoricalTable, most_bytes: int = MOST_BYTES) -> TripleMoments:
    """Count all triples of values in a table, in batches of rows.

    Raises a CofactorError if the cells could need more than `most_bytes`; the message states the memory.

    Cost: O(P log P) time for P = sum_s d_s (d_s - 1) (d_s - 2) / 6 triples of entries in rows with d_s entries, or O(P)
    if a dense table of all cells is small; at most 150 bytes of memory, including a later fit, for each of the P
    triples or, if these are fewer, for each possible cell.

    >>> triple_moments(CategoricalTable([[0, 1, 0], [0, 1, 0], [1, -1, 0]], [2, 2, 1])).counts
    array([2])
    """
    V, sizes = int(table.sizes.sum()), table.sizes.astype(np.float64)
    if V > 2_000_000:
        raise CofactorError(
            f"the table has {V} values in total, but triples can be counted for at most 2,000,000: use pairwise moments"
        )
    d = table.entries_per_row.astype(np.float64)
    per_row = (d * (d - 1) * (d - 2) / 6).astype(np.int64)
    p1, p2, p3 = sizes.sum(), (sizes**2).sum(), (sizes**3).sum()
    cells = float(p1**3 - 3 * p1 * p2 + 2 * p3) / 6  # sum over j < k < l of I_j I_k I_l, by Newton's identities
    needed = PER_TRIPLE * min(float(per_row.sum()), cells)
    if needed > most_bytes:
        raise CofactorError(
            f"the third moments of {table.n_variables} variables would take {needed / 1e9:.1f} GB: "
            "use a method for pairwise moments, or fewer variables"
        )
    F = table.indicator
    if V**3 <= DENSE_CELLS:
        dense = np.zeros(V**3, dtype=np.int64)
        _add_triples(F.indptr, F.indices, V, dense)
        keys = np.flatnonzero(dense)
        return TripleMoments(keys, dense[keys], table.sizes)
    return TripleMoments(*_count_by_sorting(F.indptr, F.indices, V, per_row), table.sizes)


def _count_by_sorting(indptr: Ints, indices: Ints, V: int, per_row: Ints) -> tuple[Ints, Ints]:
    ends = np.cumsum(per_row)
    bounds = (
        np.unique([0, *np.searchsorted(ends, np.arange(BATCH, ends[-1], BATCH)), len(per_row)]) if len(ends) else [0]
    )
    keys, counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for low, high in pairwise(bounds):
        new = np.empty(per_row[low:high].sum(), dtype=np.int64)
        _list_triples(indptr, indices, V, low, high, new)
        found = np.unique(new, return_counts=True)
        keys, counts = _merge(np.concatenate([keys, found[0]]), np.concatenate([counts, found[1]]))
    return keys, counts


def _merge(keys: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return ascending keys, with the counts of equal keys added up."""
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[first], np.asarray(np.add.reduceat(counts, first) if len(first) else counts)


def _digits(number: Ints, base: int) -> tuple[Ints, Ints, Ints]:
    rest, last = np.divmod(number, base)
    return (*np.divmod(rest, base), last)


@njit(cache=True)
def _add_triples(indptr: Ints, indices: Ints, V: int, dense: Ints) -> None:
    for s in range(len(indptr) - 1):
        for x in range(indptr[s], indptr[s + 1]):
            for y in range(x + 1, indptr[s + 1]):
                pair = (np.int64(indices[x]) * V + indices[y]) * V
                for z in range(y + 1, indptr[s + 1]):
                    dense[pair + indices[z]] += 1


@njit(cache=True)
def _list_triples(indptr: Ints, indices: Ints, V: int, low: int, high: int, keys: Ints) -> None:
    place = 0
    for s in range(low, high):
        for x in range(indptr[s], indptr[s + 1]):
            for y in range(x + 1, indptr[s + 1]):
                pair = (np.int64(indices[x]) * V + indices[y]) * V
                for z in range(y + 1, indptr[s + 1]):
                    keys[place] = pair + indices[z]
                    place += 1

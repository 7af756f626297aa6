"""Pairwise moments: how often two variables took two values together.

    symbol   meaning                                              shape
    F        one-hot indicator of the table                       (S, sum I_n)
    C        F'F without its diagonal: counts of value pairs      (sum I_n, sum I_n), sparse
    n_mj     rows in which variables m and j were both observed
    R_mj     C_mj / n_mj, the estimated joint PMF of m and j      (I_m, I_j)

Counts add up over rows, so that moments of parts (shards, days, machines) merge exactly.

Source: Ibrahim and Fu, "Crowdsourcing via annotator co-occurrence imputation and provable symmetric
nonnegative matrix factorization", ICML 2021, Eq. (3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.errors import CofactorError
from cofactor.core.tables import CategoricalTable

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PairwiseMoments:
    """Counts of all pairs of values of all pairs of variables; add two of them to merge.

    Attributes
    ----------
    counts : sparse (sum I_n, sum I_n), int64
        Symmetric. Block (m, j) holds C_mj; diagonal blocks are empty, since one variable with itself is no evidence.
    singles : (sum I_n,) int64
        How often each variable took each value.
    sizes : (N,) ints
        Alphabet sizes I_n.
    n_rows : int
        Rows counted.
    """

    counts: sparse.csr_array
    singles: Ints
    sizes: Ints
    n_rows: int

    def __add__(self, other: PairwiseMoments) -> PairwiseMoments:
        """Merge the moments of two disjoint sets of rows of the same variables."""
        if not np.array_equal(self.sizes, other.sizes):
            raise CofactorError(
                "only moments of the same variables can be merged: "
                f"{len(self.sizes)} variables with {self.singles.size} values against "
                f"{len(other.sizes)} with {other.singles.size}, or other alphabet sizes"
            )
        return PairwiseMoments(
            self.counts + other.counts, self.singles + other.singles, self.sizes, self.n_rows + other.n_rows
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return plain arrays that hold the moments, as small as they go, for `np.savez`; `from_arrays` reads them."""
        upper = sparse.triu(self.counts, format="csr")
        whole = {"counts": upper.data, "columns": upper.indices, "starts": upper.indptr, "singles": self.singles}
        return {
            **{name: array.astype(np.min_scalar_type(array.max(initial=0))) for name, array in whole.items()},
            "sizes": self.sizes,
            "n_rows": np.array(self.n_rows),
        }

    @classmethod
    def from_arrays(cls, *parts: Mapping[str, NDArray[Any]]) -> PairwiseMoments:
        """Build moments from what `arrays` returned; of several parts, their sum (cheaper than adding moments)."""
        if any(not np.array_equal(part["sizes"], parts[0]["sizes"]) for part in parts):
            raise CofactorError("only moments of the same variables can be merged: alphabet sizes differ")
        upper = reduce(add, map(_upper, parts))
        singles = np.sum([part["singles"].astype(np.int64) for part in parts], axis=0)
        n_rows = sum(int(part["n_rows"]) for part in parts)
        return cls((upper + upper.T).tocsr(), singles, parts[0]["sizes"], n_rows)

    @cached_property
    def n_joint(self) -> sparse.csr_array:
        """Sparse (N, N): in how many rows each pair of variables was observed together."""
        owner = np.repeat(np.arange(len(self.sizes)), self.sizes)
        blocks = self.counts.tocoo()
        total = sparse.coo_array((blocks.data, (owner[blocks.row], owner[blocks.col])), shape=(len(self.sizes),) * 2)
        return total.tocsr()

    def joint(self, m: int, j: int) -> NDArray[np.float64]:
        """Return R_mj, the (I_m, I_j) joint PMF of variables m and j as estimated; Eq. (3).

        Raises `CofactorError` where the two were never observed together.
        """
        offsets = np.concatenate([[0], np.cumsum(self.sizes)])
        block = self.counts[offsets[m] : offsets[m + 1], offsets[j] : offsets[j + 1]].toarray()
        if block.sum() == 0:
            raise CofactorError(f"variables {m} and {j} were never observed together")
        return np.asarray(block / block.sum())


def _upper(part: Mapping[str, NDArray[Any]]) -> sparse.csr_array:
    size = len(part["singles"])
    index = np.int32 if size < np.iinfo(np.int32).max else np.int64
    columns, starts = part["columns"].astype(index), part["starts"].astype(np.int64)
    return sparse.csr_array((part["counts"].astype(np.int64), columns, starts), shape=(size, size))


def pairwise_moments(table: CategoricalTable) -> PairwiseMoments:
    """Count all pairs of values in a table.

    Parameters
    ----------
    table : CategoricalTable

    Returns
    -------
    PairwiseMoments

    Cost
    ----
    O(sum over rows of (entries in the row)^2) time; memory O(pairs of values that occurred).

    Examples
    --------
    >>> pairwise_moments(CategoricalTable([[0, 1], [1, 1], [0, -1]])).joint(0, 1)
    array([[0. , 0.5],
           [0. , 0.5]])
    """
    F = table.indicator
    counts = (F.T.tocsr() @ F).astype(np.int64)
    singles = counts.diagonal()
    # one row holds one value of a variable, so a diagonal block is nonzero on the very diagonal only
    counts = (counts - sparse.diags_array(singles, format="csr", dtype=np.int64)).tocsr()
    counts.eliminate_zeros()
    return PairwiseMoments(counts, singles, table.sizes, table.n_rows)


def stream_moments(tables: Iterable[CategoricalTable]) -> PairwiseMoments:
    """Add up the moments of tables that hold disjoint whole rows of the same variables, one at a time.

    Equal to the moments of all rows at once, exactly. Memory: one table and the counts.
    """
    parts = map(pairwise_moments, tables)
    first = next(parts, None)
    if first is None:
        raise CofactorError("no tables to count: the stream was empty")
    return reduce(add, parts, first)

"""Pairwise moments: counts of how often two variables took two values together.

    symbol   meaning                                              shape
    F        one-hot indicator of the table                       (S, sum I_n)
    C        F'F without its diagonal: counts of value pairs      (sum I_n, sum I_n), sparse
    n_mj     rows in which variables m and j were both observed
    R_mj     C_mj / n_mj, the estimated joint PMF of m and j      (I_m, I_j)

Counts are sums over rows, so moments of parts (files, days, machines) merge exactly.

Under a latent-class model, the dependence of two variables is

    A_m (diag(lambda) - lambda lambda') A_j',    of rank at most F - 1

The counts of all pairs, minus their expectation under independence and divided by its square root, form one symmetric
matrix, of which F - 1 eigenvalues exceed the noise. The noise level is estimated from tables in which the values of
every variable are shuffled over the rows where it was observed.

    symbol   meaning                                                              shape
    E        expected counts under independence, given each pair's margins       (sum I_n, sum I_n)
    Z        (C - E) / sqrt(E), zero where E is                                   (sum I_n, sum I_n)

Source: Ibrahim and Fu, "Crowdsourcing via annotator co-occurrence imputation and provable symmetric
nonnegative matrix factorization", ICML 2021, Eq. (3).
Horn, "A rationale and test for the number of factors in factor analysis", Psychometrika 1965 (parallel analysis);
its application to counts of pairs is a choice of this package.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cofactor.core.checks import check_kind, rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import WORTH_COMPILING, njit
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints

SHUFFLES = 10
DEVIATIONS = 3.0  # of the shuffled tables' largest eigenvalue, from which on one stands out
MOST_VALUES = 300  # sum of alphabets that are looked at: the variables observed most
MOST_ROWS = 20_000  # evenly spaced
SCAN = 64  # cells that may be looked at per pair: beyond, a sparse product is faster


@dataclass(frozen=True)
class PairwiseMoments:
    """Counts of all pairs of values of all pairs of variables; `+` merges two of them.

    Attributes
    ----------
    counts : sparse (sum I_n, sum I_n), int64
        Symmetric. Block (m, j) is C_mj; diagonal blocks are empty, since a variable paired with itself is no evidence.
        Floats, like `singles`, if tables of probabilities were given.
    singles : (sum I_n,) int64
        How often each variable took each value.
    sizes : (N,) ints
        Alphabet sizes I_n.
    n_rows : int
        Number of rows counted.
    """

    counts: sparse.csr_array
    singles: Ints
    sizes: Ints
    n_rows: int

    def __add__(self, other: PairwiseMoments) -> PairwiseMoments:
        """Merge the moments of two disjoint sets of rows of the same variables."""
        if not np.array_equal(self.sizes, other.sizes):
            raise CofactorError(
                "only moments of the same variables can be added: "
                f"{len(self.sizes)} variables with {self.singles.size} values against "
                f"{len(other.sizes)} with {other.singles.size}, or other alphabet sizes"
            )
        return PairwiseMoments(
            self.counts + other.counts, self.singles + other.singles, self.sizes, self.n_rows + other.n_rows
        )

    @cached_property
    def n_joint(self) -> sparse.csr_array:
        """Sparse (N, N) number of rows in which each pair of variables was observed together."""
        owner = np.repeat(np.arange(len(self.sizes)), self.sizes)
        blocks = self.counts.tocoo()
        total = sparse.coo_array((blocks.data, (owner[blocks.row], owner[blocks.col])), shape=(len(self.sizes),) * 2)
        return total.tocsr()

    def joint(self, m: int, j: int) -> NDArray[np.float64]:
        """Return R_mj, the estimated (I_m, I_j) joint PMF of m and j; raise if they were never observed together."""
        offsets = np.concatenate([[0], np.cumsum(self.sizes)])
        block = self.counts[offsets[m] : offsets[m + 1], offsets[j] : offsets[j + 1]].toarray()
        if block.sum() == 0:
            raise CofactorError(f"variables {m} and {j} were never observed together")
        return np.asarray(block / block.sum())


def _square(counts: Ints, columns: Ints, starts: Ints) -> sparse.csr_array:
    """Square sparse matrix; its indices as small as scipy takes them."""
    V = len(starts) - 1
    index = np.int32 if max(V, int(starts[-1])) <= np.iinfo(np.int32).max else np.int64
    return sparse.csr_array((counts, columns.astype(index, copy=False), starts.astype(index)), shape=(V, V))


def pairwise_moments(table: CategoricalTable) -> PairwiseMoments:
    """Count all pairs of values in a table.

    Cost: O(sum over rows of (entries in the row)^2) time, and at most SCAN times as many cells scanned; memory
    O(pairs of values that occur), or V^2 / 2 cells if there are as many pairs to count, V = sum I_n.

    >>> pairwise_moments(CategoricalTable([[0, 1], [1, 1], [0, -1]])).joint(0, 1)
    array([[0. , 0.5],
           [0. , 0.5]])
    """
    check_kind(CategoricalTable, table=table)
    F = table.indicator
    singles = np.bincount(F.indices, minlength=F.shape[1])
    d = np.diff(F.indptr).astype(np.int64)
    n_pairs, n_cells = int(d @ (d - 1)), F.shape[1] ** 2
    if n_pairs <= WORTH_COMPILING or n_pairs * SCAN < n_cells:
        counts = _by_product(F)
    else:
        counts = _by_table(F) if n_pairs >= n_cells else _by_value(F, d)
    return PairwiseMoments(counts, singles, table.sizes, F.shape[0])


def _by_table(F: sparse.csr_array) -> sparse.csr_array:
    """Count into a dense table, its upper triangle only: for more pairs than cells."""
    V = F.shape[1]
    dense: Ints = np.zeros((V, V), dtype=F.indices.dtype)  # an index type holds the number of rows, so any count
    _add_pairs(F.indptr, F.indices, dense)
    n_found = np.count_nonzero(dense)
    columns, counts = np.empty(n_found, dtype=dense.dtype), np.empty(n_found, dtype=np.int64)
    upper = _square(counts, columns, _compress(dense, columns, counts))
    return (upper + upper.T).tocsr()


def _by_value(F: sparse.csr_array, d: Ints) -> sparse.csr_array:
    """Count one value's partners at a time, in a row of V cells that stays in the processor's cache."""
    V, holders = F.shape[1], F.tocsc()
    n_partners = np.add.reduceat(np.append(d[holders.indices] - 1, 0), holders.indptr[:-1])
    most = int(np.minimum(np.where(np.diff(holders.indptr) > 0, n_partners, 0), V).sum())
    columns, counts = np.empty(most, dtype=F.indices.dtype), np.empty(most, dtype=np.int64)
    starts = _count_partners(holders.indptr, holders.indices, F.indptr, F.indices, columns, counts)
    return _square(counts[: starts[-1]].copy(), columns[: starts[-1]].copy(), starts)


def _by_product(F: sparse.csr_array) -> sparse.csr_array:
    """Count as F'F, a sparse product: for values most of which never met, and where there is little to count."""
    F = sparse.csr_array((np.ones(F.nnz, dtype=np.int64), F.indices, F.indptr), shape=F.shape)
    counts = F.T.tocsr() @ F
    # one row holds one value of a variable, so a diagonal block is nonzero on the very diagonal only
    counts = (counts - sparse.diags_array(counts.diagonal(), format="csr", dtype=np.int64)).tocsr()
    counts.eliminate_zeros()
    counts.sort_indices()
    return counts


@njit(cache=True, nogil=True)
def _add_pairs(indptr: Ints, indices: Ints, dense: Ints) -> None:
    for s in range(len(indptr) - 1):
        for x in range(indptr[s], indptr[s + 1]):
            for y in range(x + 1, indptr[s + 1]):
                dense[indices[x], indices[y]] += 1


@njit(cache=True, nogil=True)
def _compress(dense: Ints, columns: Ints, counts: Ints) -> Ints:
    """Fill columns and counts of the sparse form, row by row; where each row starts."""
    starts = np.zeros(len(dense) + 1, dtype=np.int64)
    for v in range(len(dense)):
        starts[v + 1] = _append_nonzero(dense[v], starts[v], columns, counts)
    return starts


@njit(cache=True, nogil=True)
def _count_partners(
    holders_indptr: Ints, holders: Ints, indptr: Ints, indices: Ints, columns: Ints, counts: Ints
) -> Ints:
    """As `_compress`, of the table that `_add_pairs` would make, both triangles."""
    V = len(holders_indptr) - 1
    starts, met = np.zeros(V + 1, dtype=np.int64), np.zeros(V, dtype=indices.dtype)
    for v in range(V):
        for s in holders[holders_indptr[v] : holders_indptr[v + 1]]:
            for c in range(indptr[s], indptr[s + 1]):
                met[indices[c]] += 1
        met[v] = 0
        starts[v + 1] = _append_nonzero(met, starts[v], columns, counts)
        met[:] = 0
    return starts


@njit(cache=True, nogil=True)
def _append_nonzero(row: Ints, place: int, columns: Ints, counts: Ints) -> int:
    for v in range(len(row)):
        if row[v]:
            columns[place], counts[place] = v, row[v]
            place += 1
    return place


# ---- how many classes pairs tell apart ----


def classes_told_apart(table: CategoricalTable, random_state: int = 0) -> tuple[int, Floats]:
    """Return the number of latent classes that pairwise counts can distinguish: one plus the eigenvalues above chance.

    Returns
    -------
    n_classes : int
        For large tables, a lower bound of F: directions weaker than the noise are missed. If rows differ in other ways
        than the latent class, such as their difficulty, it is larger.
    strength : array
        Eigenvalues of Z in descending order, relative to the chance level; those above one are counted. Empty unless
        there are two variables of up to 150 values.

    Cost: eleven times the pairwise moments of at most 20,000 rows, and eigenvalues of at most 300 values.

    >>> from cofactor import simulate
    >>> table = simulate.joint_table(simulate.joint_model(6, 4, 3, random_state=0), 2000, random_state=0)
    >>> classes_told_apart(table)[0]
    3
    """
    chosen = _most_observed(table)
    if chosen.n_variables < 2:
        return 1, np.zeros(0)
    found = eigenvalues(pairwise_moments(chosen))
    rng = rng_of(random_state)
    chance = [eigenvalues(pairwise_moments(_shuffled(chosen, rng)))[0] for _ in range(SHUFFLES)]
    strength = found / max(np.mean(chance) + DEVIATIONS * np.std(chance), np.finfo(float).tiny)
    return 1 + int((strength > 1).sum()), strength


def eigenvalues(moments: PairwiseMoments) -> Floats:
    """Return the eigenvalues of Z, largest first."""
    C = moments.counts.toarray().astype(np.float64)
    owner = np.repeat(np.arange(len(moments.sizes)), moments.sizes)
    starts = np.cumsum(moments.sizes) - moments.sizes
    margins = np.add.reduceat(C, starts, axis=1)[:, owner]  # of value v, over the rows it shares with w's variable
    n = np.add.reduceat(margins, starts, axis=0)[owner]
    E = margins * margins.T / np.maximum(n, 1)
    Z = np.where(E > 0, (C - E) / np.sqrt(np.where(E > 0, E, 1.0)), 0.0)
    return np.linalg.eigvalsh(Z)[::-1]


def _most_observed(table: CategoricalTable) -> CategoricalTable:
    """Keep the variables observed most, up to MOST_VALUES values, and MOST_ROWS rows."""
    small = np.flatnonzero(table.sizes <= MOST_VALUES // 2)
    order = small[np.argsort(-table.entries_per_variable[small], kind="stable")]
    within = np.cumsum(table.sizes[order]) <= MOST_VALUES
    in_order = table.take_variables(np.sort(order[within]))
    if in_order.n_rows <= MOST_ROWS:
        return in_order
    return in_order.take_rows(np.linspace(0, in_order.n_rows - 1, MOST_ROWS).astype(np.int64))


def _shuffled(table: CategoricalTable, rng: np.random.Generator) -> CategoricalTable:
    variables, values = table.variables, table.values
    shuffled: Ints = np.empty_like(values)
    shuffled[np.argsort(variables, kind="stable")] = values[np.lexsort((rng.random(len(values)), variables))]
    return CategoricalTable.of_columns(table.rows, table.offsets[variables] + shuffled, table.sizes, table.n_rows)

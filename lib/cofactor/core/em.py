"""Expectation-maximisation for the latent-class model.

    E   Q[s, f] = Pr(class f | what was observed in row s)
    M   lambda[f] proportional to alpha + sum_s Q[s, f]
        A_n[i, f] proportional to alpha + sum of Q[s, f] over rows s with x_n = i

    symbol   meaning                                          shape
    F        one-hot indicator of the table                   (S, sum I_n), sparse
    Q        posterior of the latent class                    (S, F)
    T        F'Q, expected counts of (value, latent class)    (sum I_n, F)
    alpha    pseudo-count of every cell; 0: maximum likelihood

The M-step needs only sums of Q over rows, so Q is never stored, and the rows may be in any number of pieces, in any
place.

Source: Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm", 1979; for joint
distributions, Yeredor and Haardt, "Maximum likelihood estimation of a low-rank probability mass tensor from partial
observations", IEEE SPL 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cofactor.core.errors import CofactorError
from cofactor.core.estimator import History, Result
from cofactor.core.latent_class import FLOOR, LatentClassModel, normalize_blocks
from cofactor.core.lazy import WORTH_COMPILING, njit
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints

SHORT = 20  # factors of at least FLOOR whose product is at least 1e-240
LEAST_PRODUCT = 1e-250  # what is below comes from a zero: then logarithms say whether every class has one
SAFE_FACTOR = 1e-50  # this times LEAST_PRODUCT does not underflow
LOG_FLOOR = np.log(FLOOR)


@dataclass(frozen=True)
class SoftCounts:
    """Sufficient statistics of an M-step; `+` merges those of disjoint sets of rows.

    Attributes
    ----------
    cells : (sum I_n, F) array
        F'Q: soft counts of how often each variable took each value in each class.
    classes : (F,) array
        Sum of Q over rows.
    n_rows : int
    sizes : (N,) ints
        Alphabet sizes I_n.
    log_likelihood : float
        Log-likelihood of the rows under the model that Q comes from (nats); zero if there is none.
    """

    cells: Floats
    classes: Floats
    n_rows: int
    sizes: Ints
    log_likelihood: float = 0.0

    def __add__(self, other: SoftCounts) -> SoftCounts:
        """Merge the counts of two disjoint sets of rows of the same variables."""
        if not np.array_equal(self.sizes, other.sizes) or self.cells.shape != other.cells.shape:
            raise CofactorError("only counts of the same variables and classes can be added")
        return SoftCounts(
            self.cells + other.cells,
            self.classes + other.classes,
            self.n_rows + other.n_rows,
            self.sizes,
            self.log_likelihood + other.log_likelihood,
        )

    def model(
        self, pseudo_count: float | Floats = 0.0, prior_count: float = 0.0, unseen: Floats | None = None
    ) -> LatentClassModel:
        """M-step: return the model of these counts plus `pseudo_count` (a number, or one per cell) and `prior_count`.

        `prior_count` is added to every class. A column without counts is not determined by the data: it becomes
        uniform, or the column of `unseen` (sum I_n, F), which is used only there.
        """
        if not self.n_rows:
            raise CofactorError("no row has an observed entry, so there is nothing to fit")
        cells, prior = self.cells + pseudo_count if np.any(pseudo_count) else self.cells, self.classes + prior_count
        if unseen is not None:
            starts = np.cumsum(self.sizes) - self.sizes
            empty = np.add.reduceat(cells, starts, axis=0) == 0
            cells = cells + unseen * np.repeat(empty, self.sizes, axis=0)
        stacked = normalize_blocks(cells, self.sizes)
        return LatentClassModel.from_stacked(prior / prior.sum(), stacked, self.sizes)


def soft_counts(table: CategoricalTable, Q: Floats, log_likelihood: float = 0.0) -> SoftCounts:
    """Return the sums of (S, F) soft classes Q over the rows of a table. O(entries F) time."""
    return SoftCounts(table.indicator.T @ Q, Q.sum(axis=0), len(Q), table.sizes, log_likelihood)


def expectation(table: CategoricalTable, model: LatentClassModel) -> SoftCounts:
    """E-step: return the soft counts of the posterior classes. All rows count, so leave out rows without entries.

    O(entries F) time, O(sum I_n F) memory: posteriors are added row by row. A conditional of zero excludes its class,
    as in the equations; only in a row that all classes exclude do zeros count as 1e-12. Positive conditionals below
    1e-12 always count as 1e-12.
    """
    if not np.array_equal(table.sizes, model.sizes):
        raise CofactorError(
            f"the table has {len(table.sizes)} variables with {table.sizes.sum()} values in total, "
            f"the model {len(model.sizes)} with {model.sizes.sum()}: start from a model of the same variables"
        )
    F, A = table.indicator, model.stacked
    if A.min(initial=1.0) < FLOOR:
        A = np.where(A > 0, np.maximum(A, FLOOR), 0.0)
    if F.nnz * A.shape[1] <= WORTH_COMPILING:
        Q, of_rows = _posteriors(F, _logarithms(A), model.prior)
        return soft_counts(table, Q, float(of_rows.sum()))
    shares, lengths = F.data if table.shared else np.zeros(0), np.diff(F.indptr)
    log_A = _logarithms(A) if table.shared or lengths[lengths > SHORT].sum() > len(A) else A[:0]
    T, totals = np.zeros_like(A), np.zeros(A.shape[1])
    log_likelihood = _add_posteriors(F.indptr, F.indices, shares, A, log_A, np.array(model.prior), T, totals)
    return SoftCounts(T, totals, len(lengths), table.sizes, log_likelihood)


def _logarithms(A: Floats) -> Floats:
    return np.log(A, where=A > 0, out=np.full_like(A, -np.inf))


def _posteriors(F: sparse.csr_array, log_A: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Return the (S, F) posteriors and (S,) log-likelihoods of few rows, by whole arrays; as `_add_posteriors`."""
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior)
    Q = np.ascontiguousarray((F @ log_A + log_prior).T)  # (F, S): NumPy is fast along the long axis only
    top = Q.max(axis=0)
    excluded = top == -np.inf
    if excluded.any():
        Q[:, excluded] = (F[excluded] @ np.maximum(log_A, LOG_FLOOR) + log_prior).T
        top = Q.max(axis=0)
    Q -= top
    np.exp(Q, out=Q)
    total = Q.sum(axis=0)
    Q /= total
    return Q.T, top + np.log(total)


@njit(cache=True, error_model="numpy", nogil=True)
def _add_posteriors(
    indptr: Ints, indices: Ints, shares: Floats, A: Floats, log_A: Floats, prior: Floats, T: Floats, totals: Floats
) -> float:
    """Add the posterior of every row to T and to `totals`; return the log-likelihood. No `shares`: all are one.

    Indices are unsigned: those that may be negative cost a test each, a tenth of the time.
    """
    K, log_likelihood, log_prior = len(prior), 0.0, np.log(prior)
    product = 1.0  # of likelihoods whose logarithm is still to be taken: one logarithm for many rows
    q = np.empty(K)
    for s in range(len(indptr) - 1):
        first, end = indptr[s], indptr[s + 1]
        total = 0.0
        if end - first <= SHORT and not len(shares):
            for f in range(K):
                q[f] = prior[f]
            for x in range(first, end):
                v = np.uint64(indices[x])
                for f in range(K):
                    q[f] *= A[v, f]
            for f in range(K):
                total += q[f]
        if total < LEAST_PRODUCT:
            log_likelihood += _in_logarithms(indices[first:end], shares[first:end], A, log_A, log_prior, q)
            total = q.sum()
        product *= total
        if not SAFE_FACTOR < product < 1 / SAFE_FACTOR:
            log_likelihood += np.log(product)
            product = 1.0
        scale = 1 / total
        for f in range(K):
            q[f] *= scale
            totals[f] += q[f]
        for x in range(first, end):
            v = np.uint64(indices[x])
            for f in range(K):
                T[v, f] += shares[x] * q[f] if len(shares) else q[f]
    return log_likelihood + np.log(product)


@njit(cache=True, error_model="numpy", nogil=True)
def _in_logarithms(values: Ints, shares: Floats, A: Floats, log_A: Floats, log_prior: Floats, q: Floats) -> float:
    """Set q to the posterior of a row times what keeps it from underflow; return the logarithm taken off.

    Logarithms of A are taken here, if `log_A` has none of them.
    """
    top = -np.inf
    for least in (-np.inf, LOG_FLOOR):  # the second where every class is excluded
        q[:] = log_prior
        for x in range(len(values)):
            share = shares[x] if len(shares) else 1.0
            v = np.uint64(values[x])
            for f in range(len(q)):
                log_a = log_A[v, f] if len(log_A) else np.log(A[v, f])
                q[f] += share * max(log_a, least)
        top = q.max()
        if top > -np.inf:
            break
    q[:] = np.exp(q - top)
    return top


def em(
    table: CategoricalTable,
    start: LatentClassModel,
    max_iter: int = 500,
    tol: float = 1e-6,
    verbose: bool = False,
    pseudo_count: float | Floats = 0.0,
) -> tuple[LatentClassModel, Result]:
    """Maximise the likelihood (or the posterior, with pseudo-counts) of a latent-class model, from a starting model.

        max  sum_s log Pr(row s) + sum_n,i,f alpha_nif log A_n[i, f] + alpha sum_f log lambda_f

    Parameters
    ----------
    table : CategoricalTable
        Rows without observed entries are ignored.
    start : LatentClassModel
        Must have the variables of `table`. Classes with prior zero stay empty.
    max_iter : int
        Maximum number of rounds.
    tol : float
        Stop when the objective changes by at most this, relative to its size.
    verbose : bool
        Show a progress bar on a terminal.
    pseudo_count : float, or array of shape (sum I_n, F)
        alpha, the exponent of the Dirichlet prior: observations added to the cells of every A_n. A number is added to
        every cell, and to lambda; an array leaves lambda unchanged. 0 is the papers' maximum likelihood; sparse data
        are fitted better with a positive value.

    Returns
    -------
    model : LatentClassModel
    result : Result
        `objective` is the value before each round (nats); it never falls. With alpha = 0 it is the log-likelihood.

    Raises
    ------
    CofactorError
        No entry was observed, model and table differ in their variables, or a pseudo-count is negative.

    Cost
    ----
    O(entries F) time per round, O(sum I_n F) memory beyond the table, however many rows it has.

    Source
    ------
    Dawid and Skene, 1979. The prior is estimated, and products that could underflow are computed in logarithms: the
    code released with the ICML 2021 paper does neither, and returns NaN as soon as one row is empty.
    """
    rows = table.entries_per_row > 0
    if not rows.any():
        raise CofactorError("no row has an observed entry, so there is nothing to fit")
    if not np.all(np.asarray(pseudo_count) >= 0):
        raise CofactorError(f"pseudo_count={pseudo_count}: give a number of at least 0")
    seen = table if rows.all() else table.take_rows(rows)
    return iterate_em(lambda model: expectation(seen, model), start, max_iter, tol, verbose, pseudo_count)


def iterate_em(
    e_step: Callable[[LatentClassModel], SoftCounts],
    start: LatentClassModel,
    max_iter: int = 500,
    tol: float = 1e-6,
    verbose: bool = False,
    pseudo_count: float | Floats = 0.0,
) -> tuple[LatentClassModel, Result]:
    """Run EM with a given `e_step`, a function from a model to the soft counts of all rows.

    For rows that do not fit into memory, `e_step` adds `expectation` over pieces. Arguments, result and source as in
    `em`; the results are equal up to rounding.
    """
    model, history = start, History("EM", max_iter, tol, verbose)
    for found in em_rounds(e_step, start, history, pseudo_count):
        model = found
    return model, history.result()


def em_rounds(
    e_step: Callable[[LatentClassModel], SoftCounts],
    start: LatentClassModel,
    history: History,
    pseudo_count: float | Floats = 0.0,
    unseen: Floats | None = None,
) -> Iterator[LatentClassModel]:
    """Yield the model after every round of `iterate_em`, until `history` ends; `unseen` as in `SoftCounts.model`."""
    prior_count = float(pseudo_count) if np.ndim(pseudo_count) == 0 else 0.0
    model = start
    for _ in history:
        counts = e_step(model)
        history.record(counts.log_likelihood + log_dirichlet(model, pseudo_count, prior_count))
        model = counts.model(pseudo_count, prior_count, unseen)
        yield model


def log_dirichlet(model: LatentClassModel, alpha: float | Floats, prior_count: float = 0.0) -> float:
    """Return the log-density of the prior: the sum over cells of pseudo-count times logarithm."""
    if not np.any(alpha):
        return 0.0
    cells = np.sum(alpha * np.log(np.maximum(model.stacked, FLOOR)))
    return float(cells + prior_count * np.log(np.maximum(model.prior, FLOOR)).sum())


def maximization(table: CategoricalTable, Q: Floats, pseudo_count: float = 0.0) -> LatentClassModel:
    """M-step: return the model with the largest expected likelihood under soft classes Q; see `SoftCounts.model`."""
    return soft_counts(table, Q).model(pseudo_count)

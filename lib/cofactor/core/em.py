"""Expectation-maximisation for the latent-class model.

    E   Q[s, f] = Pr(class f | what was observed in row s)
    M   lambda[f] proportional to alpha + sum_s Q[s, f]
        A_n[i, f] proportional to alpha + sum of Q[s, f] over rows s with x_n = i

    symbol   meaning                                          shape
    F        one-hot indicator of the table                   (S, sum I_n), sparse
    Q        posterior of the latent class                    (S, F)
    T        F'Q, expected counts of (value, latent class)    (sum I_n, F)
    alpha    pseudo-count of every cell; 0: maximum likelihood

What the M-step needs of Q are sums over rows, so that Q is never stored, and rows may stay where they are, in as many
pieces as one likes.

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
    """Sufficient statistics of an M-step; add two of them to merge disjoint sets of rows.

    Attributes
    ----------
    cells : (sum I_n, F) array
        F'Q: how often each variable took each value in each class, softly.
    classes : (F,) array
        Sum of Q over rows.
    n_rows : int
    sizes : (N,) ints
        Alphabet sizes I_n.
    log_likelihood : float
        Of the rows, under the model that gave Q (nats); zero where no model did.
    """

    cells: Floats
    classes: Floats
    n_rows: int
    sizes: Ints
    log_likelihood: float = 0.0

    def __add__(self, other: SoftCounts) -> SoftCounts:
        """Merge the counts of two disjoint sets of rows of the same variables."""
        if not np.array_equal(self.sizes, other.sizes) or self.cells.shape != other.cells.shape:
            raise CofactorError("only counts of the same variables and classes can be merged")
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
        """M-step; `pseudo_count` is added to the cells (one number, or one a cell), `prior_count` to every class.

        Every filling of a column without counts is as likely. It becomes uniform, or the column of `unseen`
        (sum I_n, F), which counts only there.
        """
        if not self.n_rows:
            raise CofactorError("nothing was observed in any row: there is nothing to fit")
        cells, prior = self.cells + pseudo_count if np.any(pseudo_count) else self.cells, self.classes + prior_count
        if unseen is not None:
            starts = np.cumsum(self.sizes) - self.sizes
            empty = np.add.reduceat(cells, starts, axis=0) == 0
            cells = cells + unseen * np.repeat(empty, self.sizes, axis=0)
        stacked = normalize_blocks(cells, self.sizes)
        return LatentClassModel.from_stacked(prior / prior.sum(), stacked, self.sizes)


def soft_counts(table: CategoricalTable, Q: Floats, log_likelihood: float = 0.0) -> SoftCounts:
    """Add up (S, F) soft classes Q over the rows of a table. O(entries F) time."""
    return SoftCounts(table.indicator.T @ Q, Q.sum(axis=0), len(Q), table.sizes, log_likelihood)


def expectation(table: CategoricalTable, model: LatentClassModel) -> SoftCounts:
    """E-step: the soft counts of the posterior classes. Every row counts, so leave out those without entries.

    O(entries F) time, O(sum I_n F) memory: posteriors are added up row by row. A conditional of zero excludes its
    class, as in the equations; only a row that every class excludes is scored with zeros taken for 1e-12, and so is
    any smaller conditional.
    """
    if not np.array_equal(table.sizes, model.sizes):
        raise CofactorError(
            f"the table has {len(table.sizes)} variables with {table.sizes.sum()} values in all, "
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
    """Maximise the likelihood, or the posterior, of a latent-class model from a starting model.

        max  sum_s log Pr(row s) + sum_n,i,f alpha_nif log A_n[i, f] + alpha sum_f log lambda_f

    Parameters
    ----------
    table : CategoricalTable
        Rows in which nothing was observed say nothing about the model and are passed over.
    start : LatentClassModel
        With the variables of `table`. Classes with prior zero stay empty.
    max_iter : int
        Most rounds.
    tol : float
        Stop when the objective changes by at most this, relative to its size.
    verbose : bool
        Show a progress bar on a terminal.
    pseudo_count : float, or array of shape (sum I_n, F)
        alpha, the Dirichlet prior's exponent: observations added to the cells of every A_n. One number counts for
        every cell, and for lambda; an array leaves lambda alone. 0 is the papers' maximum likelihood; thin data are
        fitted better with more.

    Returns
    -------
    model : LatentClassModel
    result : Result
        `objective` is that of the model before each round (nats); it never falls. With alpha = 0 it is the
        log-likelihood.

    Raises
    ------
    CofactorError
        Nothing was observed at all, model and table differ in their variables, or a negative pseudo-count.

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
        raise CofactorError("nothing was observed in any row: there is nothing to fit")
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
    """Run EM where the rows are behind `e_step`, a function from a model to the soft counts of all rows.

    For rows that do not fit into memory, `e_step` adds up `expectation` over pieces. Arguments, result and source as
    in `em`; equal to it up to rounding.
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
    """Return the log-density of the prior: the sum of the logarithms of all cells, each times its pseudo-count."""
    if not np.any(alpha):
        return 0.0
    cells = np.sum(alpha * np.log(np.maximum(model.stacked, FLOOR)))
    return float(cells + prior_count * np.log(np.maximum(model.prior, FLOOR)).sum())


def maximization(table: CategoricalTable, Q: Floats, pseudo_count: float = 0.0) -> LatentClassModel:
    """M-step: the model with the greatest expected likelihood under the soft classes Q; see `SoftCounts.model`."""
    return soft_counts(table, Q).model(pseudo_count)

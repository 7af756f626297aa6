"""Joint PMFs from the marginals of all triples of variables: CTD and MLE-AD, the baselines of IEEE TSP 2021.

CTD, coupled tensor decomposition, solves a least-squares problem (`coupled_tensor`). MLE-AD descends the
Kullback-Leibler divergence by alternating directions:

    min over A_1, ..., A_N, lambda of  -sum_{j<k<l} sum_{a,b,c} X_jkl[a, b, c] log M_jkl[a, b, c],
    M_jkl[a, b, c] = sum_f lambda_f A_j[a, f] A_k[b, f] A_l[c, f]

    symbol   meaning                                                           shape
    X        for one variable n: frequencies of its values, with each pair     (P, I_n)
             of values of two others
    D        lambda times the products of these others' rows of A              (P, F)
    B        survival function of A_n: B_0 = 1, B_i = sum of A_n from i on      (I_n + 1, F)
    G        gradient with respect to B                                        (I_n - 1, F)

Each block, an A_n or lambda, is descended in turn. In terms of survival functions, the simplex is an order constraint,
1 = B_0 > B_1 > ... > B_I = 0, which is satisfied by clipping each entry between its neighbours.

Source: Kargas, Sidiropoulos and Fu, "Tensors, learning, and Kolmogorov extension for finite-alphabet random vectors",
IEEE TSP 2018 (CTD). Yeredor and Haardt, "Estimation of a low-rank probability-tensor from sample sub-tensors via joint
factorization minimizing the Kullback-Leibler divergence", EUSIPCO 2019; "Maximum likelihood estimation of a low-rank
probability mass tensor from partial observations", IEEE SPL 2019 (MLE-AD).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cofactor.core.errors import CofactorError
from cofactor.core.estimator import History, Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import njit
from cofactor.core.moments import PairwiseMoments
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints, Seed
from cofactor.pmf.base import JointPMFEstimator, random_model
from cofactor.rivals.coupled_tensor import check_moments, coupled_tensor
from cofactor.rivals.triple_moments import TripleMoments, triple_moments

GRADIENT_STEP = 0.01  # on the gradient, as released
MOVE = 1e-7  # least difference of neighbours in B, and the largest move at which a block is done, as released
MOST_BYTES = 2_000_000_000


@dataclass(eq=False, repr=False, kw_only=True)
class CTD(JointPMFEstimator):
    """CTD: the model closest to the marginals of all triples of variables in least squares.

        min over A_1, ..., A_N, lambda of  1/2 sum_{j<k<l} ||X_jkl - [[lambda, A_j, A_k, A_l]]||_F^2

    Triples identify the model without conditions on its rows, but each triple is observed in a fraction p^3 of the
    rows, whereas a pair is observed in p^2. Pairs are better if S p^3 is smaller than the I^3 cells of a triple.

    Parameters
    ----------
    start : LatentClassModel, optional
        Default: uniform random conditionals and prior, as released.
    inner, max_iter, tol
        See `coupled_tensor`.
    rank, em, em_max_iter, pseudo_count, random_state, verbose
        See `JointPMFEstimator`.

    Raises (in `fit`) a NotIdentifiableError if no three variables were observed together, a CofactorError if the third
    moments would take more than 2 GB, and the errors of `JointPMFEstimator`. Cost: see `triple_moments` and
    `coupled_tensor`.

    Dependence on the order: starts and hidden cells are drawn in the order of rows, columns and values, so another
    order acts like another `random_state`. On a table of 80 rows and 5 columns with 34 gaps, another order changed one
    filled value.

    Source: IEEE TSP 2018. Deviations from the code released with IEEE TSP 2021: the ADMM penalty is tr(G) / F, as in
    Kargas' own code, instead of 10, which is about 400 times too large; columns are projected onto the simplex exactly;
    triples that were never observed are left out instead of fitted as zeros.

    >>> from cofactor import simulate
    >>> truth = simulate.joint_model(5, 4, 3, random_state=0)
    >>> CTD(rank=3, random_state=0).fit(simulate.joint_table(truth, 5000, random_state=0)).result_.converged
    True
    """

    start: LatentClassModel | None = None
    inner: int = 30
    max_iter: int = 500
    tol: float = 1e-6

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        return coupled_tensor(
            triple_moments(table),
            given_or_random(self.start, table.sizes, self.rank_, self.random_state),
            inner=self.inner,
            max_iter=self.max_iter,
            tol=self.tol,
            verbose=self.verbose,
        )


def mle_ad(
    triples: TripleMoments,
    start: LatentClassModel,
    max_iter: int = 20,
    tol: float = 1e-6,
    verbose: bool = False,
) -> tuple[LatentClassModel, Result]:
    """Fit a latent-class model to third moments by minimising the Kullback-Leibler divergence, one block at a time.

    Parameters
    ----------
    triples : TripleMoments
        Alphabets may differ. Triples that were never observed together have no effect.
    start : LatentClassModel
        A model of the variables of `triples`.
    max_iter : int
        Maximum number of sweeps over all A_n and lambda, with at most 1000 steps per block.
    tol : float
        Stop when the relative change of the objective is below this in two consecutive sweeps.
    verbose : bool

    Returns
    -------
    model : LatentClassModel
    result : Result
        `objective` is the mean of KL(X_jkl || M_jkl) over the observed triples after each sweep. It may increase,
        because the released step size is fixed and too large for some blocks.

    Raises a NotIdentifiableError if no three variables were observed together, and a CofactorError if start and moments
    have different variables, or the dense third moments would take more than 2 GB.

    Cost: at most O(steps V^3 F / 2) time per sweep for V = sum I_n values; 4 V^3 bytes of frequencies, and V^3 F / 6
    doubles of products during the solution for lambda.

    Source: see the module; step size, start of every block (uniform) and stopping rules are those of the released code.
    Deviations: the released code fits the data of each triple with the model of another; the objective of the stopping
    rule is not rescaled to the cells that occurred; one class, and variables with one value, are accepted.
    """
    return alternate(cells_of(triples, start), start, max_iter, tol, verbose=verbose)


def alternate(
    cells: TripleCells,
    start: LatentClassModel,
    max_iter: int,
    tol: float,
    inner: int = 1000,
    verbose: bool = False,
    measured: TripleCells | None = None,
) -> tuple[LatentClassModel, Result]:
    """Sweep over the blocks until the divergence of the cells (or of `measured`) converges; see `mle_ad`."""
    measured = measured or cells
    start = start.lift(MOVE)  # a zero would leave cells without a probability
    first = np.concatenate([[0], np.cumsum(start.sizes)])
    blocks = [_block(n, cells, first) for n in range(start.n_variables)]
    A, prior = start.stacked.copy(), start.prior.copy()
    history = History("alternating directions", max_iter, tol, verbose)
    cost, change = measured.mean_divergence(A, prior), np.inf
    for _ in history:
        for n, block in enumerate(blocks):
            if block.X.shape[0] and block.X.shape[1] > 1:
                D = A[block.others[0]] * A[block.others[1]] * prior
                A[first[n] : first[n + 1]] = _descend(block.X, D, inner, False)
        prior = _descend(cells.x, _products(cells.values, A), inner, True)[:, 0]
        before, last = cost, change
        cost = measured.mean_divergence(A, prior)
        change = abs(before - cost) / max(abs(before), np.finfo(float).tiny)
        history.record(cost, max(change, last))
    return LatentClassModel.from_stacked(prior, A, start.sizes), history.result()


@dataclass(eq=False, repr=False, kw_only=True)
class MLEAD(JointPMFEstimator):
    """MLE-AD: alternating directions on the divergence of all triples, see `mle_ad`; with `em`, MLE-AD-EM.

    Parameters
    ----------
    max_iter, tol
        See `mle_ad`.
    start : LatentClassModel, optional
        Default: uniform random conditionals and prior, as released.
    rank, em, em_max_iter, pseudo_count, random_state, verbose
        See `JointPMFEstimator`.

    Errors (in `fit`): see `JointPMFEstimator` and `mle_ad`. Issues a ConvergenceWarning if 20 sweeps do not suffice for
    convergence, as is usual. Cost and source: see `mle_ad`.

    >>> from cofactor import simulate
    >>> truth = simulate.joint_model(5, 4, 3, random_state=0)
    >>> table = simulate.joint_table(truth, 5000, random_state=0)
    >>> MLEAD(rank=3, max_iter=200, tol=1e-4, random_state=0).fit(table).result_.converged
    True
    """

    start: LatentClassModel | None = None
    max_iter: int = 20
    tol: float = 1e-6

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        start = given_or_random(self.start, table.sizes, self.rank_, self.random_state)
        return mle_ad(triple_moments(table), start, self.max_iter, self.tol, verbose=self.verbose)


@dataclass(eq=False, repr=False, kw_only=True)
class MLEADEM(MLEAD):
    """MLE-AD-EM: EM started at MLE-AD. Parameters, errors, cost and source: see `MLEAD` and `em`."""

    em: bool = True


def given_or_random(start: LatentClassModel | None, sizes: Ints, rank: int, random_state: Seed) -> LatentClassModel:
    """Return the given start, checked to have this rank, or a random one."""
    if start is None:
        return random_model(sizes, rank, random_state)
    if start.n_classes != rank:
        raise CofactorError(f"the start has {start.n_classes} classes, but rank={rank}: they must be equal")
    return start


class TripleCells(NamedTuple):
    """The cells of all triples that occurred."""

    x: Floats  # (Z, 1) frequencies: for lambda, the triples count as one variable of one value
    values: Ints  # (3, Z) stacked values the model takes them to be of
    sizes: Ints
    n_triples: int  # observed

    def mean_divergence(self, A: Floats, prior: Floats) -> float:
        """Return the mean of KL(X_jkl || M_jkl) over the observed triples."""
        x = self.x[:, 0]
        return float(x @ np.log(x / (_products(self.values, A) @ prior))) / self.n_triples


def cells_of(triples: TripleMoments, start: LatentClassModel) -> TripleCells:
    """Return the frequencies of the cells that occurred; raise an error if `mle_ad` cannot fit them from this start."""
    check_moments(triples, start)
    needed = 8 * float(triples.sizes.sum()) ** 3 / 6 * (3 + start.n_classes)
    if needed > MOST_BYTES:
        raise CofactorError(
            f"dense third moments and their products would take {needed / 1e9:.1f} GB: use CTD, which stores only the "
            "cells that occurred, or a method for pairwise marginals"
        )
    _, triple, n = triples.triples
    return TripleCells((triples.counts / n[triple])[:, None], triples.cells, triples.sizes, len(n))


class _Block(NamedTuple):
    """The cells that involve one variable; rows of X that are zero throughout are left out."""

    X: Floats  # (P, I_n)
    others: Ints  # (2, P) stacked values


def _block(n: int, cells: TripleCells, first: Ints) -> _Block:
    """Return the cells of variable n as a matrix, with a column per value and a row per pair of other values."""
    owner = np.repeat(np.arange(len(cells.sizes)), cells.sizes)[cells.values]
    cell, place = np.nonzero((owner == n).T)
    rest = cells.values.T[cell][np.arange(3) != place[:, None]].reshape(-1, 2)
    pairs, row = np.unique(rest[:, 0] * first[-1] + rest[:, 1], return_inverse=True)
    X = np.zeros((len(pairs), first[n + 1] - first[n]))
    X[row, cells.values[place, cell] - first[n]] = cells.x[cell, 0]
    return _Block(X, np.stack(np.divmod(pairs, first[-1])))


def _products(values: Ints, A: Floats) -> Floats:
    return A[values[0]] * A[values[1]] * A[values[2]]


@njit(cache=True)
def _descend(X: Floats, D: Floats, inner: int, by_row: bool) -> Floats:
    """Minimise -sum X log(D A') over A with columns on the simplex, from a uniform start; `by_row` has A' for A."""
    I, F = (D.shape[1], 1) if by_row else (X.shape[1], D.shape[1])
    B = np.empty((I + 1, F))
    for i in range(I + 1):
        B[i] = (I - i) / I
    for _ in range(inner):
        A = B[:-1] - B[1:]
        Q = np.dot(D.T, X / np.dot(D, A)) if by_row else np.dot((X / np.dot(D, A.T)).T, D)
        if _step(B, Q) < MOVE:
            break
    return B[:-1] - B[1:]


@njit(cache=True)
def _step(B: Floats, Q: Floats) -> float:
    """Move B by its gradient G[i] = Q[i] - Q[i + 1], largest first, between its neighbours; return the largest move."""
    largest_change = 0.0
    for f in range(B.shape[1]):
        G = GRADIENT_STEP * (Q[:-1, f] - Q[1:, f])
        for i in np.argsort(-G, kind="mergesort"):
            before = B[i + 1, f]
            B[i + 1, f] = max(min(before - G[i], B[i, f] - MOVE), B[i + 2, f] + MOVE)
            largest_change = max(largest_change, abs(B[i + 1, f] - before))
    return largest_change

"""Joint PMFs from the marginals of all triples of variables: CTD and MLE-AD, which IEEE TSP 2021 compares with.

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

One block, an A_n or lambda, is descended at a time. On survival functions the simplex is an order,
1 = B_0 > B_1 > ... > B_I = 0, which each entry is kept to by clipping it between its neighbours.

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
    """CTD: the model nearest to the marginals of all triples of variables in least squares.

        min over A_1, ..., A_N, lambda of  1/2 sum_{j<k<l} ||X_jkl - [[lambda, A_j, A_k, A_l]]||_F^2

    Triples identify the model without any condition on its rows, but each is seen in p^3 of the rows where a pair is
    seen in p^2: pairs win where S p^3 is below the I^3 cells of a triple.

    Parameters
    ----------
    start : LatentClassModel, optional
        Default: uniform random conditionals and prior, as released.
    inner, max_iter, tol
        See `coupled_tensor`.
    rank, em, em_max_iter, pseudo_count, random_state, verbose
        See `JointPMFEstimator`.

    Raises (in `fit`) NotIdentifiableError where no three variables were observed together; CofactorError where the
    third moments would take more than 2 GB, or see `JointPMFEstimator`. Cost: see `triple_moments` and
    `coupled_tensor`.

    Order: starts, and the cells that are hidden to choose the rank, are drawn in the order of rows, columns and values;
    another order is another draw, as another `random_state` is. In another order of 80 rows by 5, one of 34 gaps was
    filled otherwise.

    Source: IEEE TSP 2018. Deviations from the code with IEEE TSP 2021: the penalty of ADMM is tr(G) / F, as in Kargas'
    own code, instead of 10, some 400 times too stiff; columns are projected onto the simplex exactly; triples never
    observed are left out instead of fitted as zeros.

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
    """Fit a latent-class model to third moments in Kullback-Leibler divergence, one block at a time.

    Parameters
    ----------
    triples : TripleMoments
        Alphabets may differ. Triples never observed together have no cells, hence no say.
    start : LatentClassModel
        With the variables of `triples`.
    max_iter : int
        Most sweeps over all A_n and lambda; at most 1000 steps are taken on a block.
    tol : float
        Stop when the objective changes by less than this, relative to its size, in two sweeps running.
    verbose : bool

    Returns
    -------
    model : LatentClassModel
    result : Result
        `objective` is the mean of KL(X_jkl || M_jkl) over the observed triples after each sweep. It may rise: the
        released step is fixed, and too long for some blocks.

    Raises NotIdentifiableError where no three variables were observed together; CofactorError where start and moments
    differ in their variables, or the dense third moments would take more than 2 GB.

    Cost: O(steps V^3 F / 2) time per sweep for V = sum I_n values, at worst; 4 V^3 bytes of frequencies, and V^3 F / 6
    doubles of products while lambda is solved for.

    Source: see the module; step, start of every block (uniform) and stopping rules are those released. Deviations: the
    released code fits the data of each triple with the model of another; the objective of the stopping rule is not
    rescaled to the cells that occurred; one class, and variables of one value, are accepted.
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
    """Sweep over the blocks until the divergence of the cells, or of those `measured`, stands still; see `mle_ad`."""
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
    """MLE-AD: alternating directions on the divergence of all triples, see `mle_ad`. With `em`: MLE-AD-EM.

    Parameters
    ----------
    max_iter, tol
        See `mle_ad`.
    start : LatentClassModel, optional
        Default: uniform random conditionals and prior, as released.
    rank, em, em_max_iter, pseudo_count, random_state, verbose
        See `JointPMFEstimator`.

    Raises (in `fit`): see `JointPMFEstimator` and `mle_ad`. Warns with a ConvergenceWarning where the limit of 20
    sweeps comes before convergence, as it mostly does. Cost and source: see `mle_ad`.

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
    """MLE-AD-EM: MLE-AD, and EM from there. Parameters, errors, cost and source: see `MLEAD` and `em`."""

    em: bool = True


def given_or_random(start: LatentClassModel | None, sizes: Ints, rank: int, random_state: Seed) -> LatentClassModel:
    """Return a start of this rank: the one given, or else `random_model`."""
    if start is None:
        return random_model(sizes, rank, random_state)
    if start.n_classes != rank:
        raise CofactorError(f"the start has {start.n_classes} classes, rank={rank}: give them alike")
    return start


class TripleCells(NamedTuple):
    """The cells of all triples that occurred."""

    x: Floats  # (Z, 1) frequencies: for lambda, the triples count as one variable of one value
    values: Ints  # (3, Z) stacked values the model takes them to be of
    sizes: Ints
    n_triples: int  # observed

    def mean_divergence(self, A: Floats, prior: Floats) -> float:
        """Mean of KL(X_jkl || M_jkl) over the observed triples."""
        x = self.x[:, 0]
        return float(x @ np.log(x / (_products(self.values, A) @ prior))) / self.n_triples


def cells_of(triples: TripleMoments, start: LatentClassModel) -> TripleCells:
    """List the frequencies of the cells that occurred; refuse what `mle_ad` cannot fit from this start."""
    check_moments(triples, start)
    needed = 8 * float(triples.sizes.sum()) ** 3 / 6 * (3 + start.n_classes)
    if needed > MOST_BYTES:
        raise CofactorError(
            f"dense third moments and their products would take {needed / 1e9:.1f} GB: use CTD, which keeps the cells "
            "that occurred, or a method of pairwise marginals"
        )
    _, triple, n = triples.triples
    return TripleCells((triples.counts / n[triple])[:, None], triples.cells, triples.sizes, len(n))


class _Block(NamedTuple):
    """The cells that involve one variable; rows of X that are zero throughout are left out."""

    X: Floats  # (P, I_n)
    others: Ints  # (2, P) stacked values


def _block(n: int, cells: TripleCells, first: Ints) -> _Block:
    """Cells of variable n as a matrix: its values along columns, pairs of values of others along rows."""
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
    """Minimise -sum X log(D A') over the columns of A on the simplex, from uniform; `by_row`: A' for A, one column."""
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
    """Move B by its gradient G[i] = Q[i] - Q[i + 1], largest first, each between its neighbours; the largest move."""
    largest_change = 0.0
    for f in range(B.shape[1]):
        G = GRADIENT_STEP * (Q[:-1, f] - Q[1:, f])
        for i in np.argsort(-G, kind="mergesort"):
            before = B[i + 1, f]
            B[i + 1, f] = max(min(before - G[i], B[i, f] - MOVE), B[i + 2, f] + MOVE)
            largest_change = max(largest_change, abs(B[i + 1, f] - before))
    return largest_change

"""MLE-AD: a joint PMF from the marginals of all triples, by alternating directions on Kullback-Leibler divergence.

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

Source: Yeredor and Haardt, "Estimation of a low-rank probability-tensor from sample sub-tensors via joint factorization
minimizing the Kullback-Leibler divergence", EUSIPCO 2019; "Maximum likelihood estimation of a low-rank probability mass
tensor from partial observations", IEEE SPL 2019; a baseline of Ibrahim and Fu, IEEE TSP 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from cofactor.core.errors import CofactorError, NotIdentifiableError
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.moments import PairwiseMoments
from cofactor.core.result import History, Result
from cofactor.core.tables import CategoricalTable
from cofactor.core.triple_moments import TripleMoments, triple_moments
from cofactor.core.types import Floats, Ints
from cofactor.pmf.base import JointPMFEstimator, given_or_random

Order = Literal["correct", "published"]

STEP = 0.01  # on the gradient, as released
MOVE = 1e-7  # least difference of neighbours in B, and the largest move at which a block is done, as released
MOST_BYTES = 2_000_000_000


def mle_ad(
    triples: TripleMoments,
    start: LatentClassModel,
    order: Order = "correct",
    max_iter: int = 20,
    tol: float = 1e-6,
    inner: int = 1000,
    verbose: bool = False,
) -> tuple[LatentClassModel, Result]:
    """Fit a latent-class model to third moments in Kullback-Leibler divergence, one block at a time.

    Parameters
    ----------
    triples : TripleMoments
        Alphabets may differ. Triples never observed together have no cells, hence no say.
    start : LatentClassModel
        With the variables of `triples`.
    order : "correct" or "published"
        "published" fits the data of each triple with the model of another, as the code of IEEE TSP 2021 does: it lists
        the data in the order of MATLAB's `combnk`, the model in lexicographic order. Only to reproduce its tables.
    max_iter : int
        Most sweeps over all A_n and lambda.
    tol : float
        Stop when the objective changes by less than this, relative to its size, in two sweeps running.
    inner : int
        Most steps on a block.
    verbose : bool
        Show a progress bar on a terminal.

    Returns
    -------
    model : LatentClassModel
    result : Result
        `objective` is the mean of KL(X_jkl || M_jkl) over the observed triples, rightly matched, after each sweep. It
        may rise: the released step is fixed, and too long for some blocks.

    Raises
    ------
    NotIdentifiableError
        No three variables were observed together.
    CofactorError
        Start and moments differ in their variables, `order` is neither of the two, or the dense third moments would
        take more than 2 GB.

    Cost
    ----
    O(inner V^3 F / 2) time per sweep for V = sum I_n values, at worst; 4 V^3 bytes of frequencies, and V^3 F / 6
    doubles of products while lambda is solved for.

    Source
    ------
    See the module; step, start of every block (uniform) and stopping rules are those released. Deviations: the triples
    in the right order; the objective of the stopping rule is not rescaled to the cells that occurred; one class, and
    variables of one value, are accepted.
    """
    _check(triples, start, order)
    data = _data(triples, order)
    right = data if order == "correct" else _data(triples, "correct")
    start = start.lift(MOVE)  # a zero would leave cells without a probability
    A, prior = start.stacked.copy(), start.prior.copy()
    history = History("alternating directions", max_iter, tol, verbose)
    cost, change = _mean_divergence(right.cells, A, prior, right.n_triples), np.inf
    for _ in history:
        prior = _sweep(data, A, prior, inner)
        before, last = cost, change
        cost = _mean_divergence(right.cells, A, prior, right.n_triples)
        change = abs(before - cost) / max(abs(before), np.finfo(float).tiny)
        history.record(cost, max(change, last))
    return LatentClassModel.from_stacked(prior, A, triples.sizes), history.result()


@dataclass(eq=False, repr=False, kw_only=True)
class MLEAD(JointPMFEstimator):
    """MLE-AD: alternating directions on the divergence of all triples. With `em`: MLE-AD-EM.

    See `mle_ad` for the problem.

    Parameters
    ----------
    order, max_iter, tol
        See `mle_ad`; released: `tol` 1e-4 for Car and Nursery.
    start : LatentClassModel, optional
        Default: uniform random conditionals and prior, as released.
    rank, em, max_rounds, pseudo_count, random_state, verbose
        See `JointPMFEstimator`; released: ``em=True, max_rounds=30``.

    Raises (in `fit`): see `JointPMFEstimator` and `mle_ad`.

    Warns
    -----
    ConvergenceWarning
        The limit of 20 sweeps comes before convergence, as it mostly does.

    Cost and source: see `mle_ad`.

    Examples
    --------
    >>> from cofactor import simulate
    >>> truth = simulate.joint_model(5, 4, 3, random_state=0)
    >>> table = simulate.joint_table(truth, 5000, random_state=0)
    >>> MLEAD(rank=3, max_iter=200, tol=1e-4, random_state=0).fit(table).result_.converged
    True
    """

    order: Order = "correct"
    start: LatentClassModel | None = None
    max_iter: int = 20
    tol: float = 1e-6

    def _estimate(self, table: CategoricalTable, moments: PairwiseMoments) -> tuple[LatentClassModel, Result]:
        start = given_or_random(self.start, table.sizes, self.rank_, self.random_state)
        return mle_ad(triple_moments(table), start, self.order, self.max_iter, self.tol, verbose=self.verbose)


def _check(triples: TripleMoments, start: LatentClassModel, order: Order) -> None:
    if order not in ("correct", "published"):
        raise CofactorError(f"order={order!r}: choose 'correct' or 'published'")
    if not np.array_equal(triples.sizes, start.sizes):
        raise CofactorError(
            f"the third moments are of {len(triples.sizes)} variables with {triples.sizes.sum()} values in all, the "
            f"start has {start.n_variables} with {start.sizes.sum()}: use the same table"
        )
    if not len(triples.keys):
        raise NotIdentifiableError("no three variables were observed together: there are no third moments to fit")
    needed = 8 * float(triples.sizes.sum()) ** 3 / 6 * (3 + start.n_classes)
    if needed > MOST_BYTES:
        raise CofactorError(
            f"dense third moments and their products would take {needed / 1e9:.1f} GB: use CTD, which keeps the cells "
            "that occurred, or a method of pairwise marginals"
        )


class _Block(NamedTuple):
    """The cells that involve one variable; rows of X that are zero throughout are left out."""

    X: Floats  # (P, I_n)
    others: Ints  # (2, P) stacked values


class _Cells(NamedTuple):
    """All cells that occurred, for lambda: here the triples count as one variable of one value."""

    x: Floats  # (Z, 1)
    values: Ints  # (3, Z) stacked


class _Data(NamedTuple):
    blocks: list[_Block]
    cells: _Cells
    first: Ints  # (N + 1,)
    n_triples: int  # observed


def _data(triples: TripleMoments, order: Order) -> _Data:
    """List the frequencies under every variable, each triple in the place where the model will look for it."""
    sizes = triples.sizes
    first = np.concatenate([[0], np.cumsum(sizes)])
    x, values = _long(triples, order)
    owner = np.repeat(np.arange(len(sizes)), sizes)[values]
    blocks = [_block(n, x, values, owner, first) for n in range(len(sizes))]
    return _Data(blocks, _Cells(x[:, None], values), first, len(triples.triples[2]))


def _long(triples: TripleMoments, order: Order) -> tuple[Floats, Ints]:
    """(Z,) frequencies of the cells that occurred and (3, Z) stacked values the model takes them to be of."""
    _, triple, n = triples.triples
    x = triples.counts / n[triple]
    if order == "correct":
        return x, triples.cells
    places, V = _places(triples.sizes, list(combinations(range(len(triples.sizes)), 3))), int(triples.sizes.sum())
    found = _places(triples.sizes, combnk_triples(len(triples.sizes)))
    keys = (found[0] * V + found[1]) * V + found[2]
    by_key = np.argsort(keys)
    return x, places[:, by_key[np.searchsorted(keys, triples.keys, sorter=by_key)]]


def _places(sizes: Ints, which: list[tuple[int, ...]]) -> Ints:
    """(3, cells) stacked values along the vector of all triples in this order, in each the first value runs fastest."""
    first = np.cumsum(sizes) - sizes
    blocks = []
    for triple in which:
        c, b, a = np.indices(tuple(sizes[list(triple)][::-1].tolist())).reshape(3, -1)
        blocks.append(np.stack([a, b, c]) + first[list(triple)][:, None])
    return np.concatenate(blocks, axis=1)


def combnk_triples(N: int) -> list[tuple[int, ...]]:
    """Triples of N variables in the order of MATLAB's `combnk`: lexicographic, but for sublists that run backwards.

    >>> combnk_triples(5)[:4]
    [(2, 3, 4), (1, 3, 4), (1, 2, 4), (1, 2, 3)]
    >>> [sum(t != s for t, s in zip(combnk_triples(N), combinations(range(N), 3))) for N in (5, 7, 15)]
    [10, 16, 16]
    """
    return _combnk(tuple(range(N)), 3)


def _combnk(values: tuple[int, ...], k: int) -> list[tuple[int, ...]]:
    n = len(values)
    if k == 1 or n <= k + 1:
        return list(combinations(values, k))
    if n < 17 and (k > 3 or n - k < 4):
        return list(combinations(values, k))[::-1]
    return [(values[i], *rest) for i in range(n - k + 1) for rest in _combnk(values[i + 1 :], k - 1)]


def _block(n: int, x: Floats, values: Ints, owner: Ints, first: Ints) -> _Block:
    """Cells of variable n as a matrix: its values along columns, pairs of values of others along rows."""
    cell, place = np.nonzero((owner == n).T)
    rest = values.T[cell][np.arange(3) != place[:, None]].reshape(-1, 2)
    pairs, row = np.unique(rest[:, 0] * first[-1] + rest[:, 1], return_inverse=True)
    X = np.zeros((len(pairs), first[n + 1] - first[n]))
    X[row, values[place, cell] - first[n]] = x[cell]
    return _Block(X, np.stack(np.divmod(pairs, first[-1])))


def _sweep(data: _Data, A: Floats, prior: Floats, inner: int) -> Floats:
    """Solve for every A_n, in place, then return the new prior."""
    for n, block in enumerate(data.blocks):
        if block.X.shape[0] and block.X.shape[1] > 1:
            D = A[block.others[0]] * A[block.others[1]] * prior
            A[data.first[n] : data.first[n + 1]] = _descend(block.X, D, inner, False)
    return _descend(data.cells.x, _products(data.cells.values, A), inner, True)[:, 0]


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
    moved = 0.0
    for f in range(B.shape[1]):
        G = STEP * (Q[:-1, f] - Q[1:, f])
        for i in np.argsort(-G, kind="mergesort"):
            before = B[i + 1, f]
            B[i + 1, f] = max(min(before - G[i], B[i, f] - MOVE), B[i + 2, f] + MOVE)
            moved = max(moved, abs(B[i + 1, f] - before))
    return moved


def _mean_divergence(cells: _Cells, A: Floats, prior: Floats, n_triples: int) -> float:
    """Mean of KL(X_jkl || M_jkl) over the observed triples."""
    x = cells.x[:, 0]
    return float(x @ np.log(x / (_products(cells.values, A) @ prior))) / n_triples

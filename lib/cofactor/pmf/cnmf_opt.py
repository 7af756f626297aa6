"""CNMF-OPT, coupled nonnegative matrix factorisation: one latent-class model fitted to all pairwise moments at once.

    min over A_1, ..., A_N, lambda of  sum_{m<j in Omega} w_mj KL(R_mj || A_m diag(lambda) A_j')

with the columns of every A_m, and lambda, on the simplex.

    symbol   meaning                                                          shape
    Omega    pairs observed together, n_mj > 0; all others are masked
    R_mj     joint frequencies of variables m and j, sums to one              (I_m, I_j)
    w_mj     weight of a pair: n_mj ("count"), or one ("equal")
    A        all A_m stacked                                                  (sum I_n, F)
    Y        weighted frequencies, block (m, j) is w_mj R_mj                  (sum I_n, sum I_n)
    M        A diag(lambda) A'
    T        expected counts of (value, latent class)                         (sum I_n, F)

With w_mj = n_mj the objective is a composite log-likelihood, and KL looks only at cells where Y is not zero. Hence
the majorise-minimise step has a closed form, needs no step size, and costs O(nonzeros of Y x F).

The objective has many optima. `thorough` looks for a good one in two ways. It descends a second time, after passes over
the blocks, A_1, ..., A_N and lambda each nearly minimised with all else fixed; the lower end of both counts. And where
that one stands still, entries near zero that the next step would enlarge are lifted: a product grows slowly from
nothing.

Source: Ibrahim, Fu, Kargas and Huang, "Crowdsourcing via pairwise co-occurrences", NeurIPS 2019 (CNMF); Ibrahim and
Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP 2021, Algorithm 1
(CNMF-OPT). Acceleration: Varadhan and Roland, "Simple and globally convergent methods for accelerating the
convergence of any EM algorithm", Scandinavian Journal of Statistics 2008 (SQUAREM).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.checks import numbers
from cofactor.core.errors import CofactorError, ConvergenceWarning, NotIdentifiableError, listing
from cofactor.core.estimator import History, Result, warn_of_limit
from cofactor.core.latent_class import LatentClassModel, normalize_blocks
from cofactor.core.lazy import njit
from cofactor.core.moments import PairwiseMoments
from cofactor.core.types import Floats, Ints

State = tuple[Floats, Floats]  # stacked conditionals, prior
Step = Callable[[State], tuple[float, State]]  # a state's objective, and the state after it

NAME = "coupled NMF"  # in warnings
LEAST_LOGGED = 1e-300  # smallest number whose logarithm is taken
LONGEST_EXTRAPOLATION = 64.0  # of the extrapolation, in majorise-minimise steps
ZERO_SHARE = 1e-13  # of the total weight: an objective below that is zero
BLOCK_PASSES, BLOCK_STEPS = 3, 50  # over the blocks, of so many steps on each
LIFTED, GROWS = 1e-3, 1e-3  # an entry below the first that grows by the second, relatively, in a step is lifted to it
DENSE_SHARE = 0.2  # share of nonzero cells from which matrix products beat the walk over nonzeros


def cnmf_opt(
    moments: PairwiseMoments,
    start: LatentClassModel,
    weights: Literal["count", "equal"] | ArrayLike = "count",
    max_iter: int = 1000,
    tol: float = 1e-9,
    floor: float = 1e-3,
    thorough: bool = False,
    verbose: bool = False,
) -> tuple[LatentClassModel, Result]:
    """Fit one latent-class model to all observed pairwise moments by Kullback-Leibler divergence.

    Parameters
    ----------
    moments : PairwiseMoments
        Alphabets may differ. Pairs never observed together are masked, not fitted as zeros.
    start : LatentClassModel
        With the variables of `moments`. F, the number of its classes, is free and may exceed every alphabet.
    weights : "count", "equal" or (N, N) array
        w_mj. "count" is n_mj, the inverse of the sampling variance; "equal", one for every pair, is the papers'.
        Of an array, symmetric and nonnegative, entries of unobserved pairs do not matter, and zero masks a pair.
    max_iter : int
        Most iterations, of three steps each. With `thorough` as many for the first descent, and again for all others
        together.
    tol : float
        Stop when the objective changes by at most this, relatively. The papers use 1e-6.
    floor : float
        Smallest entry of the start: steps multiply, so that a zero would stay zero.
    thorough : bool
        Look for a lower optimum, see the module. Takes two to three times as long.
    verbose : bool

    Returns
    -------
    model : LatentClassModel
        A variable without any observed pair gets uniform conditionals.
    result : Result
        `objective` is the criterion above after each iteration; it never rises.

    Raises NotIdentifiableError where no pair is observed with positive weight; CofactorError where model and moments
    differ in their variables, or for unknown weights. Cost: O(Z F) time per step for Z nonzero cells, O(Z) memory.

    Source: see the module. Deviations: counts as weights by default (unweighted, thin pairs are trusted as much as
    thick ones); the start is lifted to 1e-3 (released: 1e-6); the papers descend by mirror steps, which take 10 to 100
    times as long to the same objective. `tests/oracles` holds the slow version.

    >>> from cofactor.core.moments import pairwise_moments
    >>> truth = LatentClassModel([0.6, 0.4], [[[0.9, 0.2], [0.1, 0.8]]] * 3)
    >>> table, _ = truth.sample(100_000, random_state=1)
    >>> start = LatentClassModel([0.5, 0.5], [[[0.7, 0.3], [0.3, 0.7]]] * 3)
    >>> cnmf_opt(pairwise_moments(table), start)[0].prior.round(1)
    array([0.6, 0.4])
    """
    pairs = weighted_pairs(moments, start, weights)
    lifted = start.lift(floor)
    state = lifted.stacked.copy(), lifted.prior.copy()
    descend = _descend_thoroughly if thorough else _majorise_minimise
    (stacked, prior), result = descend(_weighted_cells(moments, pairs), state, max_iter, tol, verbose)
    return fitted_model(stacked, prior, moments, pairs), result


def fitted_model(stacked: Floats, prior: Floats, moments: PairwiseMoments, pairs: sparse.csr_array) -> LatentClassModel:
    """Return the model at the end of a descent; a variable without any pair gets uniform conditionals."""
    alone = np.repeat(np.diff(pairs.indptr) == 0, moments.sizes)
    stacked[alone] = np.repeat(1 / moments.sizes, moments.sizes)[alone, None]
    return LatentClassModel.from_stacked(prior, stacked, moments.sizes)


def pair_divergence(
    moments: PairwiseMoments, model: LatentClassModel, weights: Literal["count", "equal"] | ArrayLike = "count"
) -> float:
    """Return sum_{m<j} w_mj KL(R_mj || A_m diag(lambda) A_j'), what `cnmf_opt` minimises, of any model.

    Zero where the model explains all observed pairs exactly. Arguments and errors as there.
    """
    cells = _weighted_cells(moments, weighted_pairs(moments, model, weights))
    return cells.step((model.stacked, model.prior))[0]


def weighted_pairs(moments: PairwiseMoments, start: LatentClassModel, weights: str | ArrayLike) -> sparse.csr_array:
    """Return Omega as a sparse (N, N) matrix of the w_mj > 0, both ways round; refuse a start of other variables."""
    if not np.array_equal(moments.sizes, start.sizes):
        raise CofactorError(
            f"the moments are of {len(moments.sizes)} variables with {moments.sizes.sum()} values in all, "
            f"the start of {start.n_variables} with {start.sizes.sum()}: start from a model of the same variables"
        )
    pairs = moments.n_joint.astype(np.float64)
    pairs.sort_indices()
    if isinstance(weights, str):
        if weights not in ("count", "equal"):
            raise CofactorError(f"weights={weights!r}: choose 'count', 'equal', or give an (N, N) array")
        if weights == "equal":
            pairs.data = (pairs.data > 0).astype(np.float64)
    else:
        w = _symmetric(weights, len(moments.sizes))
        pairs.data = w[np.repeat(np.arange(len(w)), np.diff(pairs.indptr)), pairs.indices] * (pairs.data > 0)
    pairs.eliminate_zeros()
    if not pairs.nnz:
        raise NotIdentifiableError("no two variables were observed together: there are no pairs to fit")
    return pairs


def _symmetric(weights: ArrayLike, N: int) -> Floats:
    w = numbers(weights, "weights")
    if w.shape != (N, N):
        raise CofactorError(f"weights of shape {w.shape}: give one per pair of {N} variables, an ({N}, {N}) array")
    bad = np.argwhere(~((w >= 0) & (w == w.T) & np.isfinite(w)))
    if len(bad):
        raise CofactorError(
            f"weights must be nonnegative, finite and symmetric; not so for pairs {listing(map(tuple, bad.tolist()))}"
        )
    return w


@dataclass(frozen=True)
class _WeightedCells:
    """Upper triangle of Y without its zeros, log R at the same cells, and Y as a whole where it is dense."""

    Y: sparse.csr_array
    log_R: Floats
    dense: Floats | None
    dense_log_R: Floats | None
    sizes: Ints

    @property
    def weight(self) -> float:
        """Sum of all w_mj."""
        return float(self.Y.data.sum())

    def step(self, state: State) -> tuple[float, State]:
        """Return the objective of a state, and the state that minimises its majoriser."""
        A, prior = state
        if self.dense is None:
            T = np.zeros_like(A)
            cost = _expected_counts(self.Y.indptr, self.Y.indices, self.Y.data, self.log_R, A, prior, T)
        else:
            weighted = A * prior
            M = np.maximum(weighted @ A.T, LEAST_LOGGED)
            T = A * ((self.dense / M) @ weighted)
            cost = 0.5 * float(np.vdot(self.dense, self.dense_log_R - np.log(M, out=M)))
        total = T.sum(axis=0)
        return cost, (normalize_blocks(T, self.sizes), total / total.sum())


@njit(cache=True)
def _expected_counts(
    indptr: Ints, indices: Ints, Y: Floats, log_R: Floats, A: Floats, prior: Floats, T: Floats
) -> float:
    """Add to T the share of every cell that each class is expected to have; return sum Y (log R - log M)."""
    F, cost = A.shape[1], 0.0
    of_class = np.empty(F)
    for k in range(len(indptr) - 1):
        for e in range(indptr[k], indptr[k + 1]):
            row, M = indices[e], LEAST_LOGGED
            for f in range(F):
                of_class[f] = A[k, f] * prior[f] * A[row, f]
                M += of_class[f]
            cost += Y[e] * (log_R[e] - np.log(M))
            for f in range(F):
                of_class[f] *= Y[e] / M
                T[k, f] += of_class[f]
                T[row, f] += of_class[f]
    return cost


def _weighted_cells(moments: PairwiseMoments, pairs: sparse.csr_array) -> _WeightedCells:
    """Multiply the joint frequencies of every pair by its weight; cells of masked pairs are left out."""
    upper = sparse.triu(moments.counts, 1, format="coo")
    N, owner = len(moments.sizes), np.repeat(np.arange(len(moments.sizes)), moments.sizes)
    cell = owner[upper.row] * N + owner[upper.col]
    w, n = _at(pairs, cell), _at(moments.n_joint, cell)
    in_fit = (w > 0) & (upper.data > 0)
    R = upper.data[in_fit] / n[in_fit]
    index = upper.row[in_fit], upper.col[in_fit]
    shape = upper.shape
    Y = sparse.coo_array((w[in_fit] * R, index), shape=shape).tocsr()
    log_R = sparse.coo_array((np.log(R), index), shape=shape).tocsr()
    if 2 * Y.nnz <= DENSE_SHARE * shape[0] ** 2:
        return _WeightedCells(Y, log_R.data, None, None, moments.sizes)
    full = [np.asarray(half.toarray()) for half in (Y, log_R)]
    return _WeightedCells(Y, log_R.data, full[0] + full[0].T, full[1] + full[1].T, moments.sizes)


def _at(matrix: sparse.csr_array, flat: Ints) -> Floats:
    """Entries of a sparse (N, N) matrix at row-major positions; zero where it stores none."""
    N = matrix.shape[1]
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    keys = rows * N + matrix.indices
    order = np.argsort(keys, kind="stable")
    place = np.minimum(np.searchsorted(keys, flat, sorter=order), len(keys) - 1)
    found = order[place]
    return np.where(keys[found] == flat, matrix.data[found], 0.0)


def _majorise_minimise(
    cells: _WeightedCells, state: State, max_iter: int, tol: float, verbose: bool
) -> tuple[State, Result]:
    """Two steps, an extrapolation along them, and a step from where that leads; SQUAREM, never uphill."""
    history = History(NAME, max_iter, tol, verbose)
    cost, first = cells.step(state)
    zero = ZERO_SHARE * cells.weight
    for _ in history:
        cost_first, second = cells.step(first)
        far = _extrapolate(state, first, second, cells.sizes)
        cost_far, landed = cells.step(far)
        state = landed if cost_far <= cost_first else second
        before = cost
        cost, first = cells.step(state)
        history.record(cost, (before - cost) / max(cost, zero))
    return state, history.result()


def _descend_thoroughly(
    cells: _WeightedCells, state: State, max_iter: int, tol: float, verbose: bool
) -> tuple[State, Result]:
    """Descend at once and after passes over the blocks; from the lower end, lift entries as long as that helps."""

    def descend(start: State, most: int = max_iter) -> tuple[State, Result]:
        return _majorise_minimise(cells, start, most, tol, verbose)

    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # of the best end, below
        ends = [descend(state), descend(_pass_over_blocks(cells, state))]
        best, result = min(ends, key=_lowest)
        while (left := max_iter - sum(end[1].n_iter for end in ends[1:])) > 0:
            lifted = _lift_growing(cells, best) if result.converged else None
            if lifted is None:
                break
            ends.append(descend(lifted, left))
            before = result.objective[-1]
            best, result = min(ends, key=_lowest)
            if result.objective[-1] >= (1 - tol) * before:
                break
    warn_of_limit(NAME, result)
    costs = np.minimum.accumulate(np.concatenate([end[1].objective for end in ends]))
    return best, Result(costs, len(costs), result.converged, result.reason)


def _lowest(end: tuple[State, Result]) -> float:
    return float(end[1].objective[-1])


def _pass_over_blocks(cells: _WeightedCells, state: State) -> State:
    Y = (cells.Y + cells.Y.T).tocsr()
    first = np.concatenate([[0], np.cumsum(cells.sizes)])
    A, prior = state[0].copy(), state[1].copy()
    for _ in range(BLOCK_PASSES):
        _minimise_blocks(Y.indptr, Y.indices, Y.data, first, A, prior, BLOCK_STEPS)
    return A, prior


@njit(cache=True)
def _minimise_blocks(indptr: Ints, indices: Ints, Y: Floats, first: Ints, A: Floats, prior: Floats, inner: int) -> None:
    """Take `inner` steps on every A_m in turn, then on lambda, in place; Y is the whole matrix."""
    T = np.empty_like(A)
    for m in range(len(first) - 1):
        k, end = first[m], first[m + 1]
        others = A * prior
        for _ in range(inner):
            _expect(indptr, indices, Y, k, end, A, others, T)
            for f in range(len(prior)):
                total = T[k:end, f].sum()
                for i in range(k, end):
                    A[i, f] = T[i, f] / total if total > 0 else 1 / (end - k)
    for _ in range(inner):
        _expect(indptr, indices, Y, 0, len(A), A * prior, A, T)
        prior[:] = T.sum(axis=0)
        prior /= prior.sum()


@njit(cache=True)
def _expect(
    indptr: Ints, indices: Ints, Y: Floats, begin: int, end: int, left: Floats, right: Floats, T: Floats
) -> None:
    """Rows `begin` to `end` of T: the expected counts where M = left right'."""
    F = left.shape[1]
    of_class = np.empty(F)
    for k in range(begin, end):
        T[k] = 0
        for e in range(indptr[k], indptr[k + 1]):
            b, M = indices[e], LEAST_LOGGED
            for f in range(F):
                of_class[f] = left[k, f] * right[b, f]
                M += of_class[f]
            for f in range(F):
                T[k, f] += of_class[f] * (Y[e] / M)


def _lift_growing(cells: _WeightedCells, state: State) -> State | None:
    """Lift entries below the floor that the next step would enlarge; None where there are none."""
    lost = [
        (now < LIFTED) & (after > (1 + GROWS) * now) for now, after in zip(state, cells.step(state)[1], strict=True)
    ]
    if not any(one.any() for one in lost):
        return None
    A, prior = (np.where(one, LIFTED, now) for one, now in zip(lost, state, strict=True))
    return normalize_blocks(A, cells.sizes), prior / prior.sum()


def _extrapolate(start: State, first: State, second: State, sizes: Ints) -> State:
    """Follow the curve through three logarithmic states as far as their curvature allows, back onto the simplex."""
    t0, t1, t2 = (
        np.log(np.maximum(np.vstack((state[1][None], state[0])), LEAST_LOGGED)) for state in (start, first, second)
    )
    r, v = t1 - t0, t2 - 2 * t1 + t0
    ratio = float(np.linalg.norm(r)) / max(float(np.linalg.norm(v)), LEAST_LOGGED)
    length = min(max(ratio, 1.0), LONGEST_EXTRAPOLATION)
    t = np.exp(np.clip(t0 + 2 * length * r + length**2 * v, -690.0, 100.0))
    return normalize_blocks(t[1:], sizes), t[0] / t[0].sum()

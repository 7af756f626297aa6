"""CNMF: a joint PMF from pairwise marginals, by optimisation (CNMF-OPT) or in closed form (CNMF-SPA).

**CNMF-OPT** fits one latent-class model to all pairwise moments at once (coupled nonnegative matrix factorisation):

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

With w_mj = n_mj the objective is a composite log-likelihood, and KL depends only on cells where Y is not zero. Hence
the majorise-minimise step has a closed form, needs no step size, and costs O(nonzeros of Y x F).

The objective has many local optima. `thorough` looks for a good one in two ways. First, it descends a second time,
after passes over the blocks A_1, ..., A_N and lambda, in which each is nearly minimised with all others fixed; the
lower of the two results is kept. Second, when that descent converges, entries near zero that the next step would
enlarge are lifted, because multiplicative steps enlarge tiny entries slowly.

**CNMF-SPA** finds the anchors of one virtual nonnegative matrix. Split the variables into S_1 and S_2 and place their
joint PMFs side by side. Since X_jk = A_j diag(lambda) A_k',

    X = [X_jk, j in S_1, k in S_2] = W H',   W = [A_j, j in S_1],   H = [A_k diag(lambda), k in S_2].

If a value of a variable in S_2 occurs in (nearly) only one latent class, its column of X is a multiple of a column of
W: an anchor. Successive projection finds the anchors.

    symbol   meaning                                                        shape
    X_jk     joint frequencies of variables j and k                         (I_j, I_k)
    X        the virtual matrix                                             (sum over S_1 of I_j, sum over S_2 of I_k)
    W        its anchor columns, block j proportional to A_j                (sum over S_1 of I_j, F)
    H        their weights, block k proportional to A_k by column           (sum over S_2 of I_k, F)

Sources: Ibrahim, Fu, Kargas and Huang, "Crowdsourcing via pairwise co-occurrences", NeurIPS 2019 (CNMF); Ibrahim and
Fu, "Recovering joint probability of discrete random variables from pairwise marginals", IEEE TSP 2021, Algorithm 1
(CNMF-OPT) and 2 (CNMF-SPA). Acceleration: Varadhan and Roland, "Simple and globally convergent methods for accelerating
the convergence of any EM algorithm", Scandinavian Journal of Statistics 2008 (SQUAREM).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.checks import check_between, check_kind, check_whole, is_whole, numbers, rng_of
from cofactor.core.errors import CofactorError, ConvergenceWarning, DataWarning, NotIdentifiableError, listing
from cofactor.core.estimator import History, Result, warn_of_limit
from cofactor.core.latent_class import LatentClassModel, normalize_blocks
from cofactor.core.lazy import njit, optimize
from cofactor.core.moments import PairwiseMoments
from cofactor.core.simplex import spa
from cofactor.core.types import Floats, Ints
from cofactor.pmf.base import START_FLOOR

State = tuple[Floats, Floats]  # stacked conditionals, prior
Step = Callable[[State], tuple[float, State]]  # a state's objective, and the state after it

NAME = "coupled NMF"  # in warnings
LEAST_LOGGED = 1e-300  # smallest number whose logarithm is taken
LONGEST_EXTRAPOLATION = 64.0  # of the extrapolation, in majorise-minimise steps
ZERO_SHARE = 1e-13  # of the total weight: an objective below that is zero
BLOCK_PASSES, BLOCK_STEPS = 3, 50  # over the blocks, of so many steps on each
LIFTED, GROWS = 1e-3, 1e-3  # an entry below the first that grows by the second, relatively, in a step is lifted to it
DENSE_SHARE = 0.2  # share of nonzero cells from which matrix products beat the walk over nonzeros
SPLITS = 10  # tried by default
TRIALS = 200  # random splits looked at for one in which all pairs were observed
JITTER = 0.05  # relative, of classes added beyond the rank of X
LEAST_EIGENVALUE = 1e-12  # smallest eigenvalue that counts, relative to the largest


# ---- CNMF-OPT ----


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
    """Fit a latent-class model to all observed pairwise moments by minimising a Kullback-Leibler divergence.

    Parameters
    ----------
    moments : PairwiseMoments
        Alphabets may differ. Pairs never observed together are masked, not fitted as zeros.
    start : LatentClassModel
        A model of the variables of `moments`. The number of its classes, F, may exceed the size of every alphabet.
    weights : "count", "equal" or (N, N) array
        w_mj. "count" is n_mj, the inverse of the sampling variance; "equal" is one for every pair, as in the papers.
        An array must be symmetric and nonnegative; a zero masks a pair, and entries of unobserved pairs are ignored.
    max_iter : int
        Maximum number of iterations, of three steps each. With `thorough`, this limit holds for the first descent, and
        again for all further descents together.
    tol : float
        Stop when the relative change of the objective is at most this. The papers use 1e-6.
    floor : float
        Smallest entry of the start; steps are multiplicative, so a zero would stay zero.
    thorough : bool
        Look for a lower optimum, as described in the module. Takes two to three times as long.
    verbose : bool

    Returns
    -------
    model : LatentClassModel
        A variable without any observed pair gets uniform conditionals.
    result : Result
        `objective` is the criterion above after each iteration; it never increases.

    Raises a NotIdentifiableError if no pair with positive weight was observed, and a CofactorError if model and moments
    have different variables or the weights are invalid. Cost: O(Z F) time per step for Z nonzero cells, O(Z) memory.

    Source: see the module. Deviations: pairs are weighted by their counts by default (with equal weights, pairs with
    few observations count as much as pairs with many); the start is lifted to 1e-3 (released: 1e-6); the papers use
    mirror descent, which takes 10 to 100 times as long to reach the same objective. `tests/oracles` has the slow
    version.

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
    """Return the fitted model; a variable without any observed pair gets uniform conditionals."""
    alone = np.repeat(np.diff(pairs.indptr) == 0, moments.sizes)
    stacked[alone] = np.repeat(1 / moments.sizes, moments.sizes)[alone, None]
    return LatentClassModel.from_stacked(prior, stacked, moments.sizes)


def pair_divergence(
    moments: PairwiseMoments, model: LatentClassModel, weights: Literal["count", "equal"] | ArrayLike = "count"
) -> float:
    """Return sum_{m<j} w_mj KL(R_mj || A_m diag(lambda) A_j'), the objective of `cnmf_opt`, for any model.

    It is zero if the model explains all observed pairs exactly. Arguments and errors are those of `cnmf_opt`.
    """
    cells = _weighted_cells(moments, weighted_pairs(moments, model, weights))
    return cells.step((model.stacked, model.prior))[0]


def weighted_pairs(moments: PairwiseMoments, start: LatentClassModel, weights: str | ArrayLike) -> sparse.csr_array:
    """Return Omega as a symmetric sparse (N, N) matrix of the w_mj > 0; refuse a start with other variables."""
    if not np.array_equal(moments.sizes, start.sizes):
        raise CofactorError(
            f"the moments have {len(moments.sizes)} variables with {moments.sizes.sum()} values in total, "
            f"the start has {start.n_variables} with {start.sizes.sum()}: start from a model of the same variables"
        )
    pairs = moments.n_joint.astype(np.float64)
    pairs.sort_indices()
    if isinstance(weights, str):
        if weights not in ("count", "equal"):
            raise CofactorError(f"weights={weights!r}: choose 'count' or 'equal', or pass an (N, N) array")
        if weights == "equal":
            pairs.data = (pairs.data > 0).astype(np.float64)
    else:
        w, N = numbers(weights, "weights"), len(moments.sizes)
        if w.shape != (N, N):
            raise CofactorError(f"weights have shape {w.shape}: pass an ({N}, {N}) array with one weight per pair")
        bad = np.argwhere(~((w >= 0) & (w == w.T) & np.isfinite(w))).tolist()
        if bad:
            named = listing(map(tuple, bad))
            raise CofactorError(f"weights must be nonnegative, finite and symmetric, but are not for pairs {named}")
        pairs.data = w[np.repeat(np.arange(len(w)), np.diff(pairs.indptr)), pairs.indices] * (pairs.data > 0)
    pairs.eliminate_zeros()
    if not pairs.nnz:
        raise NotIdentifiableError("no two variables were observed together: there are no pairs to fit")
    return pairs


@dataclass(frozen=True)
class _WeightedCells:
    """The nonzero upper triangle of Y, log R at the same cells, and both in full if Y is dense."""

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
    """Add the expected count of every class in every cell to T; return sum Y (log R - log M)."""
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
    """SQUAREM: take two steps, extrapolate along them, and take a step from there unless the objective would rise."""
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
    """Descend from the start and after passes over the blocks; lift entries of the better end while that helps."""

    def descend(start: State, most: int = max_iter) -> tuple[State, Result]:
        return _majorise_minimise(cells, start, most, tol, verbose)

    def lowest(end: tuple[State, Result]) -> float:
        return float(end[1].objective[-1])

    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # of the best end, below
        ends = [descend(state), descend(_pass_over_blocks(cells, state))]
        best, result = min(ends, key=lowest)
        while (left := max_iter - sum(end[1].n_iter for end in ends[1:])) > 0:
            lifted = _lift_growing(cells, best) if result.converged else None
            if lifted is None:
                break
            ends.append(descend(lifted, left))
            before = result.objective[-1]
            best, result = min(ends, key=lowest)
            if result.objective[-1] >= (1 - tol) * before:
                break
    warn_of_limit(NAME, result)
    costs = np.minimum.accumulate(np.concatenate([end[1].objective for end in ends]))
    return best, Result(costs, len(costs), result.converged, result.reason)


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
    """Write the expected counts for M = left right' into rows `begin` to `end` of T."""
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
    """Lift entries below the floor that the next step would enlarge; return None if there are none."""
    lost = [
        (now < LIFTED) & (after > (1 + GROWS) * now) for now, after in zip(state, cells.step(state)[1], strict=True)
    ]
    if not any(one.any() for one in lost):
        return None
    A, prior = (np.where(one, LIFTED, now) for one, now in zip(lost, state, strict=True))
    return normalize_blocks(A, cells.sizes), prior / prior.sum()


def _extrapolate(start: State, first: State, second: State, sizes: Ints) -> State:
    """Extrapolate three states along their logarithms as far as the curvature allows; return to the simplex."""
    t0, t1, t2 = (
        np.log(np.maximum(np.vstack((state[1][None], state[0])), LEAST_LOGGED)) for state in (start, first, second)
    )
    r, v = t1 - t0, t2 - 2 * t1 + t0
    ratio = float(np.linalg.norm(r)) / max(float(np.linalg.norm(v)), LEAST_LOGGED)
    length = min(max(ratio, 1.0), LONGEST_EXTRAPOLATION)
    t = np.exp(np.clip(t0 + 2 * length * r + length**2 * v, -690.0, 100.0))
    return normalize_blocks(t[1:], sizes), t[0] / t[0].sum()


# ---- CNMF-SPA ----


def cnmf_spa(
    moments: PairwiseMoments,
    rank: int,
    split: int | Sequence[int] | None = None,
    floor: float = START_FLOOR,
    pad: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> LatentClassModel:
    """Estimate a latent-class model from pairwise moments by successive projection.

        Lambda = SPA(columns of X scaled to sum one, F),   W = X[:, Lambda],   H = argmin_{H >= 0} ||X - W H'||_F
        A_n = blocks of W and H, columns scaled to sum one,   lambda = argmin_{l >= 0} ||X - W diag(l) H'||_F

    (W and H scaled, in the last problem).

    Parameters
    ----------
    moments : PairwiseMoments
        Alphabets may differ.
    rank : int
        F <= 1 + sum (I_n - 1) over S_1, and the same over S_2, because all row blocks of X have equal column sums.
    split : int, sequence of ints, or None
        The variables of S_1, or the number of leading variables in it (the papers: 3 or 5). Default: ten splits are
        tried, each in both directions because only values in S_2 can be anchors, and the model with the smallest
        `pair_divergence` is kept. The two sides are about equal, so that the rank cap of each is high, and contain as
        few unobserved pairs as possible.
    floor : float
        Smallest probability of the result. EM and majorise-minimise steps are multiplicative, so a zero would stay
        zero.
    pad : bool
        If X has fewer than F anchors, add copies of the classes with the largest prior, perturbed by 5 %, as a start
        for EM and CNMF-OPT. Default: raise an error.
    random_state : int, Generator or None
        Used to search for a split if some pairs were never observed, and by `pad`; otherwise nothing is random.

    Raises a CofactorError if the rank exceeds its cap or the number of anchors of X, or if a side of the split is
    empty. Issues a DataWarning if pairs in X were never observed; they are treated as independent.

    Cost: O(I J F^2) time per split, for J columns of I rows; O(I J) memory.

    Source: IEEE TSP 2021, Algorithm 2. Deviations: the least-squares problems of H and lambda are solved exactly
    (released: 300 to 1000 projected gradient steps from a random start, and a ratio of maxima); columns of zeros are
    left out (released: NaN); several splits are tried; unobserved pairs are not treated as zeros; entries are floored
    at 1e-3 (released: 1e-6).

    >>> from cofactor.core.moments import pairwise_moments
    >>> truth = LatentClassModel([0.6, 0.4], [[[0.9, 0.0], [0.1, 0.6], [0.0, 0.4]]] * 4)
    >>> table, _ = truth.sample(100_000, random_state=1)
    >>> cnmf_spa(pairwise_moments(table), rank=2).align_to(truth).prior.round(2)
    array([0.6, 0.4])
    """
    check_between(0, 1, floor=floor)
    check_kind(PairwiseMoments, moments=moments)
    check_whole(1, rank=rank)
    rng = rng_of(random_state)
    found, refused = [], []
    for S1, S2 in _splits(moments, split, rng):
        try:
            found.append((_on_split(moments, rank, S1, S2, floor, pad), S1, S2))
        except CofactorError as refusal:
            refused.append(refusal)
    if not found:
        raise refused[0]
    model, S1, S2 = found[0] if len(found) == 1 else min(found, key=lambda one: pair_divergence(moments, one[0]))
    unobserved = np.argwhere(moments.n_joint[S1][:, S2].toarray() == 0)
    if len(unobserved):
        pairs = [(int(S1[j]), int(S2[k])) for j, k in unobserved]
        message = f"CNMF-SPA treats pairs that were never observed as independent: {listing(pairs)}"
        warnings.warn(message, DataWarning, stacklevel=2)
    return _padded(model, rank, rng) if model.n_classes < rank else model


def _on_split(moments: PairwiseMoments, rank: int, S1: Ints, S2: Ints, floor: float, pad: bool) -> LatentClassModel:
    """Run Algorithm 2 on one split: anchors W, weights H by nonnegative least squares, then the prior."""
    cap = _cap(moments.sizes, S1, S2)
    if rank > cap and not pad:
        raise CofactorError(
            f"rank={rank}: with variables {listing(S1.tolist())} on one side of the split, successive projection can "
            f"find at most {cap} classes; lower the rank, choose another split, or use CNMF-OPT or EM"
        )
    X = virtual_matrix(moments, S1, S2)
    totals = X.sum(axis=0)
    columns = np.flatnonzero(totals > 0)  # columns of zeros are of values that never occurred
    anchors = columns[spa(X[:, columns] / totals[columns], min(rank, cap, len(columns)))]
    if len(anchors) < rank and not pad:
        raise CofactorError(
            f"rank={rank}: the pairwise frequencies contain only {len(anchors)} anchors; lower the rank to at most "
            f"{len(anchors)}, or use CNMF-OPT or EM"
        )
    W = X[:, anchors]
    H = np.stack([optimize.nnls(W, x)[0] for x in X.T])
    W, H = normalize_blocks(W, moments.sizes[S1]), normalize_blocks(H, moments.sizes[S2])
    stacked = np.empty((int(moments.sizes.sum()), W.shape[1]))
    stacked[_rows(moments.sizes, S1)], stacked[_rows(moments.sizes, S2)] = W, H
    return LatentClassModel.from_stacked(_prior(X, W, H), stacked, moments.sizes).lift(floor)


def rank_cap(moments: PairwiseMoments, split: int | Sequence[int] | None = None) -> int:
    """Return the largest rank that `cnmf_spa` can fit, the smaller of 1 + sum (I_n - 1) over the two sides."""
    return max(_cap(moments.sizes, *sides) for sides in _splits(moments, split, np.random.default_rng(0)))


def virtual_matrix(moments: PairwiseMoments, S1: Ints, S2: Ints) -> Floats:
    """Return X, the joint frequencies of all variables in S_1 (rows) with all variables in S_2 (columns).

    Pairs that were never observed are treated as independent.
    """
    sizes = moments.sizes
    X = moments.counts[_rows(sizes, S1)][:, _rows(sizes, S2)].toarray().astype(np.float64)
    n = np.asarray(moments.n_joint[S1][:, S2].toarray(), dtype=np.float64)
    every = np.repeat(np.repeat(n, sizes[S1], axis=0), sizes[S2], axis=1)
    X = np.divide(X, every, out=X, where=every > 0)
    if (n == 0).any():
        p = normalize_blocks(moments.singles[:, None], sizes)[:, 0]
        X = np.where(every > 0, X, np.outer(p[_rows(sizes, S1)], p[_rows(sizes, S2)]))
    return X


def _prior(X: Floats, W: Floats, H: Floats) -> Floats:
    """Minimise ||X - W diag(l) H'||_F over l >= 0 by its F x F normal equations; return l scaled to sum to one."""
    s, V = np.linalg.eigh((W.T @ W) * (H.T @ H))
    positive = s > LEAST_EIGENVALUE * s[-1]
    root, V = np.sqrt(s[positive]), V[:, positive]
    b = np.einsum("if,ij,jf->f", W, X, H, optimize=True)
    prior = optimize.nnls((V * root).T, V.T @ b / root)[0]
    return np.asarray(prior / prior.sum())


def _padded(model: LatentClassModel, rank: int, rng: np.random.Generator) -> LatentClassModel:
    """Add perturbed copies of the classes with the largest prior, which is divided among a class and its copies."""
    missing = rank - model.n_classes
    source = np.resize(np.argsort(-model.prior, kind="stable"), missing)
    order = np.concatenate([np.arange(model.n_classes), source])
    shaken = model.stacked[:, order]
    shaken[:, model.n_classes :] *= rng.uniform(1 - JITTER, 1 + JITTER, (len(shaken), missing))
    prior = (model.prior / np.bincount(order))[order]
    return LatentClassModel.from_stacked(prior, normalize_blocks(shaken, model.sizes), model.sizes)


def _splits(
    moments: PairwiseMoments, split: int | Sequence[int] | None, rng: np.random.Generator
) -> list[tuple[Ints, Ints]]:
    """Return the given split, or several splits with the fewest unobserved pairs, each in both directions."""
    N = len(moments.sizes)
    if N < 2:
        raise CofactorError("a single variable has no pairs: pass at least two variables")
    if split is None:
        halves = _halves(moments, rng)[: SPLITS // 2]
        return [sides for S1, S2 in halves for sides in ((S1, S2), (S2, S1))]
    asked = np.arange(min(split, N)) if is_whole(split) else np.unique(numbers(split, "split"))
    if not 0 < len(asked) < N or asked[0] < 0 or asked[-1] >= N or (np.floor(asked) != asked).any():
        raise CofactorError(f"split={split!r}: must be some, but not all, of the variables 0..{N - 1}, or their number")
    S1 = asked.astype(np.int64)
    return [(S1, np.setdiff1d(np.arange(N), S1))]


def _halves(moments: PairwiseMoments, rng: np.random.Generator) -> list[tuple[Ints, Ints]]:
    """Return divisions of the variables into two sides, dealt out in turn, those with the largest alphabets first.

    If every such division contains unobserved pairs, random orders are tried, too.
    """
    N = len(moments.sizes)
    mine = np.isin(np.arange(N) % 4, (0, 3))  # one, two to the other, two back, ...: as equal as falling sums get
    unobserved = moments.n_joint.toarray() == 0
    tried: dict[bytes, tuple[int, Ints, Ints]] = {}
    for trial in range(N + TRIALS):
        if trial >= N and not min(one[0] for one in tried.values()):
            break
        order = np.roll(np.arange(N), -trial) if trial < N else rng.permutation(N)
        order = order[np.argsort(-moments.sizes[order], kind="stable")]
        S1, S2 = np.sort(order[mine]), np.sort(order[~mine])
        tried[S1.tobytes()] = int(unobserved[np.ix_(S1, S2)].sum()), S1, S2
    fewest = min(one[0] for one in tried.values())
    return [(S1, S2) for missing, S1, S2 in tried.values() if missing == fewest]


def _cap(sizes: Ints, S1: Ints, S2: Ints) -> int:
    return 1 + min(int((sizes[S] - 1).sum()) for S in (S1, S2))


def _rows(sizes: Ints, variables: Ints) -> Ints:
    """Return the stacked rows of these variables, in this order."""
    first = np.cumsum(sizes) - sizes
    return np.concatenate([np.arange(first[n], first[n] + sizes[n]) for n in variables])

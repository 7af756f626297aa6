"""Mirror descent for coupled nonnegative matrix factorisation: the papers' own solver, block by block.

For m = 1, ..., N a few exponentiated-gradient steps on A_m with all else fixed, then some on lambda:

    A_m <- A_m exp(-s G), columns scaled to sum to one,   G = -sum_j w_mj (R_mj / M_mj) A_j diag(lambda)

with the step s found by backtracking (Armijo).

    symbol   meaning                                             shape
    R_mj     joint frequencies, lifted: see `Mirror.lift`        (I_m, I_j)
    M_mj     A_m diag(lambda) A_j', clipped and scaled likewise  (I_m, I_j)
    w_mj     weight of the pair
    A        all A_m stacked                                     (sum I_n, F)

Pairs are stored both ways round, as rows of a sparse pattern: `indptr`, `indices`, and for pair e the block
R[start[e]:], row by row.

Source: Ibrahim, Fu, Kargas and Huang, NeurIPS 2019, and Ibrahim and Fu, IEEE TSP 2021, Algorithm 1, with the settings
of their released code.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import njit
from cofactor.core.moments import PairwiseMoments
from cofactor.core.result import History, Result
from cofactor.core.types import Floats, Ints
from cofactor.pmf.cnmf_opt import fitted_model, weighted_pairs

# a division by zero gives what it gave the authors, so that no such step is taken
compiled = njit(cache=True, error_model="numpy")


class Mirror(NamedTuple):
    """Settings of `mirror_descent`. The defaults are those released for crowds; those for joint PMFs are below.

    Attributes
    ----------
    inner, inner_prior : int
        Most steps on each A_m, and on lambda, per outer iteration.
    step, shrink, sufficient, smallest : float
        Armijo's rule: try s = step, step shrink, step shrink^2, ... until the objective falls by `sufficient` times
        the predicted change; give up below `smallest`.
    clip, clip_prior : float
        In the steps on A_m and on lambda, entries of M_mj below this are lifted to it and M_mj is scaled to sum to one
        again. The objective is that of the model so clipped.
    lift : float
        Zeros of R_mj are lifted to this and R_mj is scaled to sum to one again; 0 leaves zero cells out.
    still : float
        The inner steps end after one that changes A_m, or lambda, by less than this share of its Frobenius norm.
    """

    inner: int = 3
    inner_prior: int = 1
    step: float = 0.1
    shrink: float = 0.9
    sufficient: float = 1e-3
    smallest: float = 1e-5
    clip: float = 1e-6
    clip_prior: float = 1e-6
    lift: float = 1e-6
    still: float = 1e-6


SYNTHETIC = Mirror(200, 50, 0.1, 0.3, 1e-4, 1e-5, 1e-6, 1e-7, 0.0)  # Tables 1 to 5 of IEEE TSP 2021
REAL = SYNTHETIC._replace(inner=50, inner_prior=5)  # Tables 8 to 14


class Blocks(NamedTuple):
    """All observed pairs, both ways round; see the module for the layout."""

    indptr: Ints
    indices: Ints
    w: Floats
    start: Ints
    R: Floats
    first: Ints  # (N + 1,) first stacked row of every variable


def mirror_descent(
    moments: PairwiseMoments,
    start: LatentClassModel,
    weights: Literal["count", "equal"] | ArrayLike = "count",
    max_iter: int = 1000,
    tol: float = 1e-9,
    floor: float = 1e-3,
    settings: Mirror | None = None,
    verbose: bool = False,
) -> tuple[LatentClassModel, Result]:
    """Minimise sum_{m<j} w_mj KL(R_mj || M_mj) by mirror descent; arguments and result are those of `cnmf_opt`.

    `objective` is that of the model clipped as for lambda, after each pass; where both clips are one it never rises,
    since a step that finds no descent is not taken. O(sum over pairs of I_m I_j F) time per pass and trial step,
    8 bytes per cell of every pair, both ways round.

    Source: see the module. For lambda, the line search looks at the mean over pairs and the step follows the gradient
    of their sum, as released. Empty pairs are left out.
    """
    settings = settings or Mirror()
    pairs = weighted_pairs(moments, start, weights)
    lifted = start.lift(floor)
    A, prior = lifted.stacked.copy(), lifted.prior.copy()
    blocks = _blocks(moments, pairs, settings.lift)
    history = History("coupled NMF by mirror descent", max_iter, tol, verbose)
    weight = float(pairs.data.sum()) / 2
    for _ in history:
        for m in np.flatnonzero(np.diff(blocks.indptr)):
            _fit_conditional(int(m), A, prior, blocks, settings)
        prior, cost = _fit_prior(A, prior, blocks, settings, weight)
        history.record(cost)
    return fitted_model(A, prior, moments, pairs), history.result()


def _blocks(moments: PairwiseMoments, pairs: sparse.csr_array, lift: float) -> Blocks:
    first = np.concatenate([[0], np.cumsum(moments.sizes)])
    indptr, indices = pairs.indptr.astype(np.int64), pairs.indices.astype(np.int64)
    cells = np.repeat(moments.sizes, np.diff(indptr)) * moments.sizes[indices]
    start = np.concatenate([[0], np.cumsum(cells)])
    R, C = np.zeros(start[-1]), moments.counts
    _spread(C.indptr, C.indices, C.data, first, indptr, indices, start, R)
    _lift(R, start, lift)
    return Blocks(indptr, indices, pairs.data, start, R, first)


@compiled
def _spread(
    counts_indptr: Ints,
    counts_indices: Ints,
    counts: Floats,
    first: Ints,
    indptr: Ints,
    indices: Ints,
    start: Ints,
    R: Floats,
) -> None:
    """Write the counts into the blocks of their pairs; counts of other pairs are left out."""
    N = len(indptr) - 1
    pair = np.full(N, -1)
    owner = np.empty(first[-1], dtype=np.int64)
    for n in range(N):
        owner[first[n] : first[n + 1]] = n
    for m in range(N):
        pair[:] = -1
        for e in range(indptr[m], indptr[m + 1]):
            pair[indices[e]] = e
        for row in range(first[m], first[m + 1]):
            for c in range(counts_indptr[row], counts_indptr[row + 1]):
                j = owner[counts_indices[c]]
                if pair[j] >= 0:
                    width = first[j + 1] - first[j]
                    R[start[pair[j]] + (row - first[m]) * width + counts_indices[c] - first[j]] = counts[c]


@compiled
def _lift(R: Floats, start: Ints, lift: float) -> None:
    """Scale every block to sum to one, its zeros lifted to `lift`."""
    for e in range(len(start) - 1):
        block = R[start[e] : start[e + 1]]
        block /= block.sum()
        for c in range(len(block)):
            if block[c] == 0:
                block[c] = lift
        block /= block.sum()


@compiled
def _model_block(Am: Floats, Aj: Floats, prior: Floats, clip: float, M: Floats) -> None:
    """Fill M, row by row, with A_m diag(lambda) A_j', clipped below and scaled to sum to one."""
    total, c = 0.0, 0
    for i in range(len(Am)):
        for k in range(len(Aj)):
            value = 0.0
            for f in range(len(prior)):
                value += Am[i, f] * prior[f] * Aj[k, f]
            M[c] = max(value, clip)
            total += M[c]
            c += 1
    for c in range(len(M)):
        M[c] /= total


@compiled
def _divergence(R: Floats, M: Floats) -> float:
    """KL(R || M) of a block and a positive one."""
    total = 0.0
    for c in range(len(R)):
        if R[c] > 0:
            total += R[c] * np.log(R[c] / M[c])
    return total


@compiled
def _cost(m: int, Am: Floats, A: Floats, prior: Floats, blocks: Blocks, clip: float, after: int) -> float:
    """sum_j w_mj KL(R_mj || M_mj) over the partners j > `after` of m, with A_m in place of m's rows of A."""
    total, first = 0.0, blocks.first
    for e in range(blocks.indptr[m], blocks.indptr[m + 1]):
        j = blocks.indices[e]
        if j > after:
            R = blocks.R[blocks.start[e] : blocks.start[e + 1]]
            M = np.empty(len(R))
            _model_block(Am, A[first[j] : first[j + 1]], prior, clip, M)
            total += blocks.w[e] * _divergence(R, M)
    return total


@compiled
def _objective(A: Floats, prior: Floats, blocks: Blocks, clip: float) -> float:
    """sum_{m<j} w_mj KL(R_mj || M_mj)."""
    total = 0.0
    for m in range(len(blocks.indptr) - 1):
        total += _cost(m, A[blocks.first[m] : blocks.first[m + 1]], A, prior, blocks, clip, m)
    return total


@compiled
def _gradient(m: int, A: Floats, prior: Floats, blocks: Blocks, clip: float) -> Floats:
    """G = -sum_j w_mj (R_mj / M_mj) A_j diag(lambda)."""
    first = blocks.first
    Am = A[first[m] : first[m + 1]]
    G = np.zeros(Am.shape)
    for e in range(blocks.indptr[m], blocks.indptr[m + 1]):
        j = blocks.indices[e]
        Aj, R = A[first[j] : first[j + 1]], blocks.R[blocks.start[e] : blocks.start[e + 1]]
        M = np.empty(len(R))
        _model_block(Am, Aj, prior, clip, M)
        for c in range(len(R)):
            i, k = c // len(Aj), c % len(Aj)
            for f in range(len(prior)):
                G[i, f] -= blocks.w[e] * R[c] / M[c] * Aj[k, f] * prior[f]
    return G


@compiled
def _exponentiated(X: Floats, G: Floats, s: float) -> Floats:
    """X exp(-s G), columns summing to one; NaN where it overflows, as released, so that the step is too long."""
    Y = X * np.exp(-s * G)
    for f in range(X.shape[1]):
        Y[:, f] /= Y[:, f].sum()
    return Y


@compiled
def _fit_conditional(m: int, A: Floats, prior: Floats, blocks: Blocks, settings: Mirror) -> None:
    """Take the inner steps on A_m, writing each into A, so that the next one starts from it."""
    rows = slice(blocks.first[m], blocks.first[m + 1])
    cost = _cost(m, A[rows], A, prior, blocks, settings.clip, -1)
    for _ in range(settings.inner):
        G, s, moved = _gradient(m, A, prior, blocks, settings.clip), settings.step, 0.0
        while s >= settings.smallest:
            trial = _exponentiated(A[rows], G, s)
            trial_cost = _cost(m, trial, A, prior, blocks, settings.clip, -1)
            if trial_cost <= cost + settings.sufficient * np.sum(G * (trial - A[rows])):  # not so for a NaN
                moved = float(np.linalg.norm(trial - A[rows]) / np.linalg.norm(A[rows]))
                A[rows], cost = trial, trial_cost
                break
            s *= settings.shrink
        if moved < settings.still:
            return


@compiled
def _prior_gradient(A: Floats, prior: Floats, blocks: Blocks, clip: float) -> Floats:
    """Of the objective: -sum_{m<j} w_mj sum_ik (R_mj / M_mj)_ik A_m[i, f] A_j[k, f] = sum_m <A_m, G_m> / (2 lambda)."""
    g = np.zeros(len(prior))
    for m in range(len(blocks.indptr) - 1):
        G = _gradient(m, A, prior, blocks, clip)
        for f in range(len(prior)):
            g[f] += np.sum(G[:, f] * A[blocks.first[m] : blocks.first[m + 1], f]) / (2 * prior[f])
    return g


@compiled
def _fit_prior(A: Floats, prior: Floats, blocks: Blocks, settings: Mirror, weight: float) -> tuple[Floats, float]:
    """Take the inner steps on lambda: gradient of the sum over pairs, search on their mean; return the sum, too."""
    scale, clip = len(blocks.w) // 2 / weight, settings.clip_prior
    cost = _objective(A, prior, blocks, clip) / weight
    for _ in range(settings.inner_prior):
        g, s, moved = _prior_gradient(A, prior, blocks, clip) * scale, settings.step, 0.0
        while s >= settings.smallest:
            trial = _exponentiated(np.expand_dims(prior, 1), np.expand_dims(g, 1), s)[:, 0].copy()
            trial_cost = _objective(A, trial, blocks, clip) / weight
            if trial_cost <= cost + settings.sufficient * np.sum(g * (trial - prior)):
                moved = float(np.linalg.norm(trial - prior) / np.linalg.norm(prior))
                prior, cost = trial, trial_cost
                break
            s *= settings.shrink
        if moved < settings.still:
            break
    return prior, cost * weight

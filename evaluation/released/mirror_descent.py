"""Mirror descent for coupled nonnegative matrix factorisation: the papers' own solver, block by block.

For m = 1, ..., N a few exponentiated-gradient steps on A_m with all else fixed, then some on lambda:

    A_m <- A_m exp(-s G), columns scaled to sum to one,   G = -sum_j w_mj (R_mj / M_mj) A_j diag(lambda)

with the step s found by backtracking (Armijo).

    symbol   meaning                                             shape
    R_mj     joint frequencies, lifted: see `Mirror.lift`        (I_m, I_j)
    M_mj     A_m diag(lambda) A_j', clipped and scaled likewise  (I_m, I_j)
    w_mj     weight of the pair
    A        all A_m stacked                                     (sum I_n, F)

Pairs are stored both ways round, as rows of a sparse pattern: `indptr`, `indices`. The blocks of variable m lie side by
side, in the order of its partners: one matrix, row by row, from R[start[m]]. So the inner loops are long. Pair e has
its columns from edge[e + m]; the last edge of m is its number of columns, W.

Source: Ibrahim, Fu, Kargas and Huang, NeurIPS 2019, and Ibrahim and Fu, IEEE TSP 2021, Algorithm 1, with the settings
of their released code.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.estimator import History, Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import njit
from cofactor.core.moments import PairwiseMoments
from cofactor.core.types import Floats, Ints
from cofactor.pmf.cnmf import fitted_model, weighted_pairs

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
    indices: Ints  # rising for every variable
    w: Floats
    edge: Ints
    start: Ints
    R: Floats
    first: Ints  # (N + 1,) first stacked row of every variable


class Side(NamedTuple):
    """Pairs of one variable with E partners, of W values together."""

    A: Floats  # (W, F) their conditionals
    A_T: Floats  # (F, W) the same, so that each loop runs along its memory
    R: Floats  # (I_m, W)
    edge: Ints  # (E + 1,) where the columns of each partner begin
    w: Floats  # (E,)


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
    edges = [np.cumsum([0, *moments.sizes[part]]) for part in np.split(indices, indptr[1:-1])]
    start = np.cumsum([0, *(moments.sizes * [edge[-1] for edge in edges])])
    R, C, edge = np.zeros(start[-1]), moments.counts, np.concatenate(edges)
    _spread(C.indptr, C.indices, C.data, first, indptr, indices, edge, start, R)
    _lift(R, first, indptr, edge, start, lift)
    return Blocks(indptr, indices, pairs.data, edge, start, R, first)


@compiled
def _spread(
    counts_indptr: Ints,
    counts_indices: Ints,
    counts: Floats,
    first: Ints,
    indptr: Ints,
    indices: Ints,
    edge: Ints,
    start: Ints,
    R: Floats,
) -> None:
    """Write the counts into the columns of their pairs; counts of other pairs are left out."""
    N = len(indptr) - 1
    column = np.full(first[-1], -1)
    for m in range(N):
        column[:] = -1
        for e in range(indptr[m], indptr[m + 1]):
            j = indices[e]
            column[first[j] : first[j + 1]] = np.arange(edge[m + e], edge[m + e + 1])
        for row in range(first[m], first[m + 1]):
            begin = start[m] + (row - first[m]) * edge[indptr[m + 1] + m]
            for c in range(counts_indptr[row], counts_indptr[row + 1]):
                if column[counts_indices[c]] >= 0:
                    R[begin + column[counts_indices[c]]] = counts[c]


@compiled
def _lift(R: Floats, first: Ints, indptr: Ints, edge: Ints, start: Ints, lift: float) -> None:
    """Scale every block to sum to one, its zeros lifted to `lift`."""
    for m in range(len(start) - 1):
        of_m = R[start[m] : start[m + 1]].reshape(first[m + 1] - first[m], edge[indptr[m + 1] + m])
        for e in range(indptr[m] + m, indptr[m + 1] + m):
            block = of_m[:, edge[e] : edge[e + 1]]
            block /= block.sum()
            block[:] = np.where(block == 0, lift, block)
            block /= block.sum()


@compiled
def _side(m: int, A: Floats, blocks: Blocks, after: int) -> Side:
    """Return the pairs of m with partners j > `after`."""
    end, first = blocks.indptr[m + 1], blocks.first
    e = end - np.sum(blocks.indices[blocks.indptr[m] : end] > after)
    edge = blocks.edge[e + m : end + m + 1]
    of_partners = np.empty((edge[-1] - edge[0], A.shape[1]))
    for x in range(len(edge) - 1):
        j = blocks.indices[e + x]
        of_partners[edge[x] - edge[0] : edge[x + 1] - edge[0]] = A[first[j] : first[j + 1]]
    R = blocks.R[blocks.start[m] : blocks.start[m + 1]].reshape(first[m + 1] - first[m], edge[-1])
    return Side(of_partners, of_partners.T.copy(), R[:, edge[0] :].copy(), edge - edge[0], blocks.w[e:end])


@compiled
def _model(Am: Floats, prior: Floats, side: Side, clip: float) -> Floats:
    """(I_m, W) blocks A_m diag(lambda) A_j', each clipped below and scaled to sum to one."""
    M, totals = np.zeros_like(side.R), np.zeros(len(side.w))
    for i in range(len(Am)):
        for f in range(len(prior)):
            weight = Am[i, f] * prior[f]
            for c in range(M.shape[1]):
                M[i, c] += weight * side.A_T[f, c]
        for c in range(M.shape[1]):
            M[i, c] = max(M[i, c], clip)
        for e in range(len(totals)):
            for c in range(side.edge[e], side.edge[e + 1]):
                totals[e] += M[i, c]
    return M / np.repeat(totals, np.diff(side.edge))


@compiled
def _cost(side: Side, M: Floats) -> float:
    """sum_j w_mj KL(R_mj || M_mj)."""
    of_pair = np.zeros(len(side.w))
    for i in range(len(M)):
        for e in range(len(of_pair)):
            for c in range(side.edge[e], side.edge[e + 1]):
                R = side.R[i, c]
                if R > 0:
                    of_pair[e] += R * np.log(R / M[i, c])
    return np.sum(side.w * of_pair)


@compiled
def _objective(A: Floats, prior: Floats, blocks: Blocks, clip: float) -> float:
    """sum_{m<j} w_mj KL(R_mj || M_mj)."""
    total = 0.0
    for m in range(len(blocks.indptr) - 1):
        side = _side(m, A, blocks, m)
        total += _cost(side, _model(A[blocks.first[m] : blocks.first[m + 1]], prior, side, clip))
    return total


@compiled
def _gradient(side: Side, M: Floats, prior: Floats) -> Floats:
    """G = -sum_j w_mj (R_mj / M_mj) A_j diag(lambda); cells with nothing in them are passed over."""
    G = np.zeros((len(M), len(prior)))
    for i in range(len(M)):
        for e in range(len(side.w)):
            for c in range(side.edge[e], side.edge[e + 1]):
                if side.R[i, c] > 0:
                    ratio = side.w[e] * side.R[i, c] / M[i, c]
                    for f in range(len(prior)):
                        G[i, f] -= ratio * side.A[c, f] * prior[f]
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
    side = _side(m, A, blocks, -1)
    M = _model(A[rows], prior, side, settings.clip)
    cost = _cost(side, M)
    for _ in range(settings.inner):
        G, s, moved = _gradient(side, M, prior), settings.step, 0.0
        while s >= settings.smallest:
            trial = _exponentiated(A[rows], G, s)
            M = _model(trial, prior, side, settings.clip)
            trial_cost = _cost(side, M)
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
        Am, side = A[blocks.first[m] : blocks.first[m + 1]], _side(m, A, blocks, -1)
        G = _gradient(side, _model(Am, prior, side, clip), prior)
        for f in range(len(prior)):
            g[f] += np.sum(G[:, f] * Am[:, f]) / (2 * prior[f])
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

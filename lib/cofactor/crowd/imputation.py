"""The two methods of the paper for imputing missing co-occurrences.

Designated annotators: R_mn = R_mr R_lr^-1 R_ln for any two annotators l, r who link m and n. Robust: fit low-rank
factors to all observed blocks at once, with smaller weights for outlying blocks.

    symbol   meaning                                                         shape
    R_mj     observed co-occurrence block                                    (K, K)
    n_mj     number of tasks it was counted on
    U_m      factor of annotator m: R_mj = U_m U_j', so U_m = A_m D^1/2 Theta  (K, K)
    w_mj     weight of a block
    P_rl     weighted inverse of R_lr                                        (K, K)

Source: Ibrahim and Fu, ICML 2021, Sections 3.1-3.2, Eq. (7)-(11) and (17)-(18).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cofactor.core.checks import check_kind, check_whole, is_number, numbers
from cofactor.core.errors import CofactorError
from cofactor.core.estimator import History, Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import njit
from cofactor.core.types import Floats, Ints
from cofactor.crowd.cooccurrence import Cooccurrences

RADIUS = 1.0  # ||A_m D^1/2||_F^2 = sum_c lambda_c ||A_m(:, c)||^2 <= 1, so the ball of radius one always holds U_m
SMOOTHING = 1e-6  # xi of Eq. (9): keeps the weight of a perfectly fitted block finite
ROUNDING_SHARE = 1e-12  # relative size below which a sum is rounding noise
CONDITION = 1e-8  # a block whose smallest singular value is below this share of the largest has no inverse
MOST_BYTES = 1_000_000_000  # largest completed matrix that is formed
MOST_FLOPS = 4e10  # work beyond which only the busiest annotators serve as references


@dataclass(frozen=True)
class Imputed:
    """A completed co-occurrence matrix: observed blocks unchanged, the others imputed, or zero if none could be."""

    X: Floats  # (M K, M K)
    reached: NDArray[np.bool_]  # (M, M) blocks that are observed or imputed

    @property
    def unreached_share(self) -> float:
        """Fraction of all M^2 blocks that stay zero."""
        return float(1 - self.reached.mean())


LARGEST_START_ENTRY = 1e100  # entry of a start; the squares of larger ones overflow


def designated_imputation(cooc: Cooccurrences, n_references: int | None = None) -> Imputed:
    """Impute all missing blocks, including the diagonal, from all pairs of linking annotators at once.

    For one pair (l, r), Eq. (7)-(8) reads R_mn = U_m U_l^-1 R_ln with [U_m; U_l] the left singular vectors of
    [R_mr; R_lr], and equals R_mr R_lr^-1 R_ln. The average over all pairs, weighted by their reliability, is

        Num_mn = sum_{r,l} (n_mr R_mr) P_rl (n_ln R_ln),   P_rl = n_lr s_lr^2 R_lr^-1,

    two products of block matrices. Num_mn is clipped at zero and scaled to sum to one.

    Only the `n_references` annotators with most co-labellers serve as l and r; by default as many as about 40 GFlop
    allow (all of them up to about 1,000 annotators with two classes). Raises `CofactorError` if the completed matrix
    would exceed 1 GB.

    Cost: O((M K)^2 B K) time for B references, O((M K)^2) memory. Source: ICML 2021, Eq. (7)-(8). Deviations: all
    linking pairs at once instead of two designated annotators (the released code draws one pair at random); each pair
    is weighted by s_lr, the smallest singular value of R_lr, since the error of an inverse grows as 1/s^2, so nearly
    singular blocks need no threshold; no SVD of stacked blocks is needed.
    """
    check_budget(cooc)
    references = _references(cooc, n_references)
    inverses, weights = _weighted_inverses(cooc, references)
    K, B, position = cooc.n_classes, len(references), _positions(cooc, references)
    e = np.flatnonzero(position[cooc.indices] >= 0)
    blocks = np.zeros((cooc.n_workers, K, B, K))  # n_ml R_ml, l a reference; zero where unobserved
    blocks[cooc.rows[e], :, position[cooc.indices[e]], :] = cooc.blocks[e] * cooc.n[e, None, None]
    links = blocks.reshape(-1, B * K)
    X = (links @ inverses) @ links.T
    reached = _linked(cooc, references, weights)
    noise = ROUNDING_SHARE * max(float(X.max()), 0.0)  # a block this small is rounding, not evidence
    _complete(X, reached, cooc.indptr, cooc.indices, cooc.blocks, noise)
    return Imputed(X, reached)


def _positions(cooc: Cooccurrences, references: Ints) -> Ints:
    """(M,) place of each annotator among the references, -1 for the others."""
    position = np.full(cooc.n_workers, -1)
    position[references] = np.arange(len(references))
    return position


def reachable_blocks(cooc: Cooccurrences, n_references: int | None = None) -> NDArray[np.bool_]:
    """Return the (M, M) mask of blocks that are observed or that `designated_imputation` could impute."""
    references = _references(cooc, n_references)
    reachable = _linked(cooc, references, _weighted_inverses(cooc, references)[1])
    reachable[cooc.rows, cooc.indices] = True
    return reachable


def _references(cooc: Cooccurrences, n_references: int | None) -> Ints:
    """Pick the annotators with most co-labellers; by default as many as the work allows."""
    if n_references is None:
        M, K = cooc.n_workers, cooc.n_classes
        n_references = int(MOST_FLOPS / (2 * (M * K) ** 2 * K)) + 1
    check_whole(1, n_references=n_references)
    degree = np.diff(cooc.indptr)
    return np.sort(np.argsort(-degree, kind="stable")[:n_references])


def _linked(cooc: Cooccurrences, references: Ints, weights: Floats) -> NDArray[np.bool_]:
    """Mark (m, n) where some pair (l, r) of references with usable R_lr links them."""
    links = (cooc.graph[:, references] > 0).toarray().astype(np.float64)
    return np.asarray((links @ (weights > 0)) @ links.T > 0)


def _weighted_inverses(cooc: Cooccurrences, references: Ints) -> tuple[Floats, Floats]:
    """P as a dense (B K, B K) matrix with block (r, l) = w_rl R_lr^-1, and the (B, B) weights w."""
    K, B, position = cooc.n_classes, len(references), _positions(cooc, references)
    inside = np.flatnonzero((position[cooc.rows] >= 0) & (position[cooc.indices] >= 0))
    U, s, Vt = np.linalg.svd(cooc.blocks[inside])
    usable = s[:, -1] > CONDITION * s[:, 0]
    inside, U, s, Vt = inside[usable], U[usable], s[usable], Vt[usable]
    weight = cooc.n[inside] * s[:, -1] ** 2
    inverse = np.einsum("eji,ej,ekj->eik", Vt, weight[:, None] / s, U)
    l, r = position[cooc.rows[inside]], position[cooc.indices[inside]]
    P, w = np.zeros((B, K, B, K)), np.zeros((B, B))
    P[r, :, l, :] = inverse
    w[r, l] = weight
    return P.reshape(B * K, B * K), w


@njit(cache=True)
def _complete(X: Floats, reached: NDArray[np.bool_], indptr: Ints, indices: Ints, blocks: Floats, noise: float) -> None:
    """Clip, make symmetric and scale the raw blocks, then put the observed ones in place; all without a second X."""
    M, K = len(indptr) - 1, blocks.shape[1]
    for m in range(M):
        for j in range(m, M):
            reached[m, j] = reached[j, m] = _scale_pair(X, m * K, j * K, K, noise if reached[m, j] else np.inf)
        for e in range(indptr[m], indptr[m + 1]):
            j = indices[e]
            X[m * K : m * K + K, j * K : j * K + K] = blocks[e]
            reached[m, j] = True


@njit(cache=True)
def _scale_pair(X: Floats, row: int, column: int, K: int, noise: float) -> bool:
    """Clip and average a block and its mirror image, scale both to sum to one; zero if they sum to `noise` or less."""
    total = 0.0
    for i in range(row, row + K):
        for k in range(column, column + K):
            mean = (max(X[i, k], 0.0) + max(X[k, i], 0.0)) / 2
            total += mean
            X[i, k] = X[k, i] = mean
    scale = 1 / total if total > noise else 0.0
    for i in range(row, row + K):
        for k in range(column, column + K):
            X[i, k] *= scale
            if row != column:
                X[k, i] *= scale
    return scale > 0


def too_large(cooc: Cooccurrences) -> bool:
    """Return whether the completed matrix of this many annotators would exceed 1 GB."""
    return 8 * (cooc.n_workers * cooc.n_classes) ** 2 > MOST_BYTES


def check_budget(cooc: Cooccurrences) -> None:
    """Raise a CofactorError, with an alternative, if there are too many annotators to complete the matrix."""
    check_kind(Cooccurrences, cooc=cooc)
    if too_large(cooc):
        size = cooc.n_workers * cooc.n_classes
        raise CofactorError(
            f"the completed matrix of {size} x {size} co-occurrences would take {8e-9 * size**2:.1f} GB: "
            "use RobSymNMF, which never forms it"
        )


def factors_of_model(model: LatentClassModel) -> Floats:
    """Return the (M, K, K) factors U_m = A_m D^1/2 of a model whose variables have the same alphabet."""
    return np.stack(model.conditionals) * np.sqrt(model.prior)


def robust_imputation(
    cooc: Cooccurrences,
    start: Floats,
    p: float = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    verbose: bool = False,
) -> tuple[Floats, Result]:
    """Fit factors U_m to all observed blocks at once, with smaller weights for outlying blocks.

        min over U_1, ..., U_M of  sum_{(m,j) in Omega} (n_mj (||R_mj - U_m U_j'||_F^2 + xi))^(p/2),  ||U_m||_F <= 1

    by block coordinate descent: for m = 1, ..., M update the weights w_mj of Eq. (11), then solve the weighted least
    squares problem for U_m on the ball exactly. Missing blocks are then U_m U_j', diagonal ones U_m U_m'.

    Parameters
    ----------
    cooc : Cooccurrences
    start : (M, K, K) array
        Starting factors, such as `factors_of_model` of the majority-vote model.
    p : float in (0, 2]
        1 is the robust criterion of Eq. (9); 2 is least squares, all w_mj = 1.
    max_iter, tol, verbose
        Maximum number of sweeps over the annotators; relative change of the objective at which they stop; whether to
        show a progress bar.

    Returns U (M, K, K), in which annotators without observed blocks keep their start, and a result whose `objective` is
    the criterion above after each sweep; it never rises.

    Raises `CofactorError` if p, `max_iter` or `tol` is out of range, or `start` has another shape or is not finite.

    Cost: O(|Omega| K^3) time per sweep, O(M K^2) memory beyond the blocks. Source: ICML 2021, Eq. (9)-(11), (17)-(18).
    Deviations: blocks are weighted by n_mj^(p/2), the inverse of their sampling deviation (the paper weights all
    equally); the ball has radius one, where the prose leaves D open; each U_m is the exact minimiser instead of
    projected gradient steps; the start is the majority vote instead of random, which also determines the order of the
    classes. `tests/oracles`
    holds the slow version.
    """
    check_kind(Cooccurrences, cooc=cooc)
    if not is_number(p) or not 0 < p <= 2:
        raise CofactorError(f"p={p!r}: must satisfy 0 < p <= 2 (1 is the robust criterion, 2 is least squares)")
    U, shape = numbers(start, "start"), (cooc.n_workers, cooc.n_classes, cooc.n_classes)
    if U.shape != shape or not 1 / LARGEST_START_ENTRY < np.abs(U).max(initial=0.0) < LARGEST_START_ENTRY:
        raise CofactorError(
            f"start must have shape {shape} (got {U.shape}) and finite entries up to {LARGEST_START_ENTRY:g}, not all 0"
        )
    U = np.array(U, order="C")
    history = History("robust imputation", max_iter, tol, verbose)
    for _ in history:
        _sweep(cooc.indptr, cooc.indices, cooc.blocks, cooc.n, U, p)
        history.record(_criterion(cooc.indptr, cooc.indices, cooc.blocks, cooc.n, U, p))
    return U, history.result()


@njit(cache=True)
def _squared_residual(R: Floats, Um: Floats, Uj: Floats) -> float:
    """||R - Um Uj'||_F^2."""
    K = len(R)
    total = 0.0
    for i in range(K):
        for k in range(K):
            fit = 0.0
            for a in range(K):
                fit += Um[i, a] * Uj[k, a]
            total += (R[i, k] - fit) ** 2
    return total


@njit(cache=True)
def _criterion(indptr: Ints, indices: Ints, blocks: Floats, n: Floats, U: Floats, p: float) -> float:
    """The objective of `robust_imputation`, each unordered pair once."""
    total = 0.0
    for m in range(len(indptr) - 1):
        for e in range(indptr[m], indptr[m + 1]):
            if indices[e] > m:
                residual = _squared_residual(blocks[e], U[m], U[indices[e]])
                total += (n[e] * (residual + SMOOTHING)) ** (p / 2)
    return total


@njit(cache=True)
def _sweep(indptr: Ints, indices: Ints, blocks: Floats, n: Floats, U: Floats, p: float) -> None:
    """Update every U_m in place: G = sum_j w_mj U_j'U_j, B = sum_j w_mj R_mj U_j, then the ball-constrained fit.

    With V = R_mj U_j and the kept Gram matrices S_j = U_j'U_j, ||R_mj - U_m U_j'||^2 is
    ||R_mj||^2 - 2 <V, U_m> + <S_m, S_j>, so that one product of K x K matrices per block serves residual and B.
    """
    K = U.shape[1]
    S, V = np.empty_like(U), np.empty((K, K))
    for m in range(len(U)):
        S[m] = U[m].T @ U[m]
    for m in range(len(indptr) - 1):
        G, B = np.zeros((K, K)), np.zeros((K, K))
        for e in range(indptr[m], indptr[m + 1]):
            j, residual = indices[e], 0.0
            for a in range(K):
                for b in range(K):
                    V[a, b] = 0.0
                    for k in range(K):
                        V[a, b] += blocks[e, a, k] * U[j, k, b]
                    residual += blocks[e, a, b] ** 2 - 2 * V[a, b] * U[m, a, b] + S[m, a, b] * S[j, a, b]
            w = _weight(n[e], max(residual, 0.0), p)
            for a in range(K):
                for b in range(K):
                    G[a, b] += w * S[j, a, b]
                    B[a, b] += w * V[a, b]
        if indptr[m + 1] > indptr[m]:
            U[m] = _fit_in_ball(G, B)
            S[m] = U[m].T @ U[m]


@njit(cache=True)
def _weight(n: float, residual: float, p: float) -> float:
    """n^(p/2) (residual + xi)^(p/2 - 1), without powers, which take long, for p = 1 and 2."""
    if p == 2:
        return n
    if p == 1:
        return np.sqrt(n / (residual + SMOOTHING))
    return n ** (p / 2) * (residual + SMOOTHING) ** (p / 2 - 1)


@njit(cache=True)
def _fit_in_ball(G: Floats, B: Floats) -> Floats:
    """Argmin tr(U G U') - 2 tr(U B') subject to ||U||_F <= RADIUS: U = B (G + mu I)^-1 with the smallest mu >= 0."""
    g, V = np.linalg.eigh(G)
    g = np.maximum(g, 1e-12 * g[-1])  # directions no neighbour spans: B has nothing there either
    BV = B @ V
    b = (BV**2).sum(axis=0)
    mu = 0.0
    for _ in range(100):  # Newton on 1/||U(mu)|| - 1/RADIUS, concave and rising: converges from the left
        norm2 = (b / (g + mu) ** 2).sum()
        if norm2 <= RADIUS**2 * (1 + 1e-12):
            break
        norm = np.sqrt(norm2)
        mu += (norm / RADIUS - 1) * norm2 / (b / (g + mu) ** 3).sum()
    return (BV / (g + mu)) @ V.T

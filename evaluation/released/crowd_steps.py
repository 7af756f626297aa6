"""The choices of the code released with the paper, where they differ from its text and from cofactor's defaults.

Every function is one step of the released code, named after what it does, with what it deviates from. Two defects of
that code (an annotator list that shifts against the labels, a division by zero for tasks without labels) stand at the
end as functions of their own, to measure what they did to printed numbers.

    symbol   meaning                                                      shape
    R_mj     observed co-occurrence block                                 (K, K)
    X        completed co-occurrences                                     (M K, M K)
    U, U_m   square root of X, and its block of annotator m               (M K, K), (K, K)
    H, Q     nonnegative factor and rotation, H = ReLU(U Q)               (M K, K), (K, K)
    A_m      confusion matrix, columns sum to one                         (K, K)

Source: Ibrahim and Fu, ICML 2021, and github.com/shahanaibrahimosu/crowdsourcing-via-co-occurrence-imputation, whose
files are named in the docstrings; nothing is copied from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import linalg, sparray

from cofactor.core.em import maximization
from cofactor.core.errors import CofactorError
from cofactor.core.estimator import History, Result
from cofactor.core.latent_class import LatentClassModel, normalize_blocks
from cofactor.core.lazy import njit
from cofactor.core.types import Floats, Ints
from cofactor.crowd.cooccurrence import Cooccurrences
from cofactor.crowd.imputation import SMOOTHING, Imputed, check_budget
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.symnmf import DENSE_SIZE
from evaluation.released.em import EPS, posterior

Which = Literal["real", "uci", "synthetic"]

RIDGE = 1e-6  # added to the Gram matrix of a least squares start
FILL = 1e-6  # what a zero entry of an observed block becomes (real data)
SWEEP_TOL = 1e-6
STEP_TOL = 1e-6
ROUNDS = 10  # of EM, whatever the likelihood does
BATCH = 65_536  # missing blocks imputed at a time


@dataclass(frozen=True)
class Protocol:
    """Numbers that the released code fixes differently for real and for synthetic data."""

    sweeps: int  # over the annotators, in robust imputation
    steps: int  # of projected gradient per annotator and sweep
    spectral: bool  # weight a block by the spectral instead of the Frobenius norm of its residual
    restart: bool  # start every annotator's steps at a ridge solution even for p < 2
    fill: float  # what zero entries of observed blocks become
    iterations: int  # of SymNMF
    stop: float  # on |tr H'(H - U Q)|
    shift: float  # entries of H are clamped up to this
    floor: float  # smallest entry of a confusion matrix
    align: bool  # order the columns of every annotator separately
    designated_prior: bool  # DesSymNMF keeps the prior read off H, instead of a uniform one
    robust_prior: bool  # so does RobSymNMF


REAL = Protocol(20, 15, False, False, FILL, 200, 1e-14, 0.0, 1e-3, True, False, True)
UCI = replace(REAL, robust_prior=False)
SYNTHETIC = Protocol(100, 5, True, True, 0.0, 100, 1e-20, 1e-6, 0.0, False, True, True)
PROTOCOLS: dict[Which, Protocol] = {"real": REAL, "uci": UCI, "synthetic": SYNTHETIC}


def protocol_of(which: Which) -> Protocol:
    """Return the numbers for crowds ("real"), for the tables of classifiers ("uci"), or for "synthetic" data.

    >>> protocol_of("real").iterations, protocol_of("synthetic").iterations
    (200, 100)
    """
    if which not in PROTOCOLS:
        raise CofactorError(f"protocol={which!r}: choose 'real', 'uci' or 'synthetic'")
    return PROTOCOLS[which]


# ---- designated annotators: one random pair ----


def random_pair_imputation(cooc: Cooccurrences, rng: np.random.Generator) -> Imputed:
    """Impute every missing block from one pair of linking annotators, drawn at random.

        X_mn = |U_m U_l^+ R_ln|, scaled to sum to one,  [U_m; U_l] the left singular vectors of [R_mr; R_lr]

    for one (l, r) uniformly among those with R_mr, R_lr and R_ln observed. X_mn stays zero if [R_mr; R_lr] has a zero
    row, R_nl a zero column, or X_mn itself not full rank.

    Raises `CofactorError` where the completed matrix would pass 1 GB. Cost: O(M^2 (deg + K^3)) time for annotators with
    deg co-labellers, O((M K)^2) memory.

    Source
    ------
    ICML 2021, Eq. (7)-(8) as in `alg_impute_blocks.m` (method 3) and `impute_block_mod.m`. Deviations from the paper:
    the pair is random instead of designated, and the absolute value, the scaling and the three gates are not in the
    text. From the code: all blocks are done in batches. Imputed blocks never serve to impute others, as there.
    """
    check_budget(cooc)
    M, K = cooc.n_workers, cooc.n_classes
    position = np.full((M, M), -1)
    position[cooc.rows, cooc.indices] = np.arange(len(cooc.indices))
    first, second = np.nonzero(np.triu(position < 0))
    l, r = _draw_pairs(position >= 0, cooc.indptr, cooc.indices, first, second, rng.random((len(first), 2)))
    X = np.zeros((M, K, M, K))
    X[cooc.rows, :, cooc.indices, :] = cooc.blocks
    linked = np.flatnonzero(l >= 0)
    for part in np.split(linked, range(BATCH, len(linked), BATCH)):
        m, n = first[part], second[part]
        C = np.concatenate([cooc.blocks[position[m, r[part]]], cooc.blocks[position[l[part], r[part]]]], axis=1)
        found = _linked_blocks(C, cooc.blocks[position[n, l[part]]])
        X[n, :, m, :] = np.swapaxes(found, 1, 2)
        X[m, :, n, :] = found  # last, so that a diagonal block stays as found
    return Imputed(X.reshape(M * K, M * K), X.sum(axis=(1, 3)) > 0)


@njit(cache=True)
def _draw_pairs(
    linked: NDArray[np.bool_], indptr: Ints, indices: Ints, first: Ints, second: Ints, uniform: Floats
) -> tuple[Ints, Ints]:
    """Draw (l, r) uniformly with m-r, l-r and l-n linked, for every (m, n); -1 where there is none."""
    M = len(linked)
    common = np.zeros((M, M), dtype=np.int64)  # number of l with l-r and l-n linked
    for l in range(M):
        neighbours = indices[indptr[l] : indptr[l + 1]]
        for r in neighbours:
            for n in neighbours:
                common[r, n] += 1
    chosen_l, chosen_r = np.full(len(first), -1), np.full(len(first), -1)
    for e in range(len(first)):
        m, n, total = first[e], second[e], 0
        for r in indices[indptr[m] : indptr[m + 1]]:
            total += common[r, n]
        left = int(uniform[e, 0] * total)
        for r in indices[indptr[m] : indptr[m + 1]]:
            if left < common[r, n]:
                chosen_r[e] = r
                chosen_l[e] = _nth_common(linked, indices[indptr[n] : indptr[n + 1]], r, left)
                break
            left -= common[r, n]
    return chosen_l, chosen_r


@njit(cache=True)
def _nth_common(linked: NDArray[np.bool_], candidates: Ints, r: int, count: int) -> int:
    for l in candidates:
        if linked[l, r]:
            if count == 0:
                return l
            count -= 1
    return -1


def _linked_blocks(C: Floats, R_nl: Floats) -> Floats:
    """|U_m U_l^+ R_nl'| of `random_pair_imputation`, for (B, 2K, K) stacks C and (B, K, K) blocks R_nl."""
    K = R_nl.shape[1]
    X = np.zeros_like(R_nl)
    usable = np.flatnonzero((C.sum(axis=2) > 0).all(axis=1) & (R_nl.sum(axis=1) > 0).all(axis=1))
    if not usable.size:
        return X
    U = np.linalg.svd(C[usable], full_matrices=False)[0]
    raw = np.abs(U[:, :K] @ np.linalg.pinv(U[:, K:], rcond=K * EPS) @ np.swapaxes(R_nl[usable], 1, 2))
    total = raw.sum(axis=(1, 2), keepdims=True)
    raw = np.where(total > 0, raw / np.where(total > 0, total, 1.0), 0.0)
    X[usable] = np.where((np.linalg.matrix_rank(raw) == K)[:, None, None], raw, 0.0)
    return X


def singular_root(X: Floats | sparray, n_classes: int) -> Floats:
    """Return U = (left singular vectors of X) (singular values)^(1/2), the K largest.

    X is symmetric, so these are the eigenvalues largest in size, and a negative one among them enters with the wrong
    sign. That happens where blocks are missing, as without imputation on RTE, and makes the published 48.75 % there;
    `square_root` takes the algebraically largest instead. Signs of singular vectors are arbitrary; here no column has a
    negative sum (on RTE without imputation, the other sign of the second column makes 11.5 %).

    Cost: as `square_root`. Source: `alg_SIngleEigDetMin_mod.m`; the paper asks for X = U U'.
    """
    size = X.shape[0]
    if size <= DENSE_SIZE or n_classes >= size - 1:
        vectors, values, _ = np.linalg.svd(X if isinstance(X, np.ndarray) else X.toarray())
    else:
        vectors, values, _ = linalg.svds(X, k=n_classes, v0=np.random.default_rng(0).standard_normal(size))
    largest = np.argsort(-values, kind="stable")[:n_classes]
    U = vectors[:, largest] * np.sqrt(values[largest])
    return np.asarray(U * np.where(U.sum(axis=0) < 0, -1.0, 1.0))


# ---- robust imputation: from a random start, by projected gradient ----


def projected_gradient_factors(
    cooc: Cooccurrences, rng: np.random.Generator, p: float = 1.0, protocol: Protocol = REAL, verbose: bool = False
) -> tuple[Floats, Result]:
    """Fit factors U_m to the observed blocks as the released code does, and stop when it does.

        min sum_{(m,j) observed} w_mj ||R_mj - U_m U_j'||_F^2,  w_mj = (p/2) (||R_mj - U_m U_j'||^2 + xi)^((p-2)/2)

    annotator by annotator; w is refreshed inside the sweep; at most 15 (synthetic: 5) gradient steps of length
    1/lambda_max, each scaled back into the unit ball. With p = 2, and on synthetic data always, steps start at the
    ridge solution B (G + 1e-6 I)^-1.

    `rng` draws the start, standard normal. Returns U (M, K, K), which goes to SymNMF directly (no diagonal blocks are
    completed and no square root is taken there), and a result whose `objective` is the mean over observed
    blocks of ||R_mj - U_m U_j'||_F. Cost: O(|observed| K^3) per sweep.

    Source
    ------
    ICML 2021, Eq. (9)-(11), (17)-(18), as in `coupled_fact_U_constrained_mod.m` (real data: zero entries of R become
    1e-6) and `coupled_fact_U_constrained.m` (synthetic: spectral norm in the weights).
    """
    K = cooc.n_classes
    U = rng.standard_normal((cooc.n_workers, K, K))
    filled = np.where(cooc.blocks == 0, protocol.fill, cooc.blocks)
    filled /= filled.sum(axis=(1, 2), keepdims=True)
    ridge = p == 2 or protocol.restart
    history = History("robust imputation (as released)", protocol.sweeps, SWEEP_TOL, verbose)
    for _ in history:
        _sweep(cooc.indptr, cooc.indices, filled, U, p, protocol.steps, ridge, protocol.spectral)
        residual = cooc.blocks - np.einsum("eia,eja->eij", U[cooc.rows], U[cooc.indices])
        history.record(float(np.sqrt((residual**2).sum(axis=(1, 2))).mean()))
    return U, history.result()


@njit(cache=True)
def _sweep(
    indptr: Ints, indices: Ints, blocks: Floats, U: Floats, p: float, steps: int, ridge: bool, spectral: bool
) -> None:
    K = U.shape[1]
    for m in range(len(indptr) - 1):
        if indptr[m + 1] == indptr[m]:
            continue
        G, B = np.zeros((K, K)), np.zeros((K, K))
        for e in range(indptr[m], indptr[m + 1]):
            U_j = U[indices[e]]
            w = _weight(blocks[e] - U[m] @ U_j.T, p, spectral)
            G += w * (U_j.T @ U_j)
            B += w * (blocks[e] @ U_j)
        if ridge:
            U[m] = B @ np.linalg.inv(G + RIDGE * np.eye(K))
        _descend(U[m], G, B, steps)


@njit(cache=True)
def _weight(residual: Floats, p: float, spectral: bool) -> float:
    if p == 2:
        return 1.0
    squared = np.linalg.norm(residual, 2) ** 2 if spectral else (residual**2).sum()
    return float(p / 2 * (squared + SMOOTHING) ** ((p - 2) / 2))


@njit(cache=True)
def _descend(U_m: Floats, G: Floats, B: Floats, steps: int) -> None:
    """Projected gradient steps on tr(U_m G U_m') / 2 - tr(U_m B') in the unit ball, in place."""
    length = 1 / np.linalg.eigvalsh(G)[-1]
    for _ in range(steps):
        new = U_m - length * (U_m @ G - B)
        new /= max(np.sqrt((new**2).sum()), 1.0)
        change, size = np.linalg.norm(new - U_m, 2), np.linalg.norm(new, 2)
        U_m[:] = new
        if change < STEP_TOL * size:
            break


# ---- SymNMF, the model, its naming of classes ----


def rotate(U: Floats, protocol: Protocol = REAL, verbose: bool = False) -> tuple[Floats, Result]:
    """Return H of SymNMF from Q = I, after at most 200 (synthetic: 100) iterations.

    Stops where |tr H'(H - U Q)| falls below 1e-14 (1e-20), with the Q that follows H, which mostly is not the case
    before the limit. `objective` is that number. Cost: O(M K^3) per iteration.

    Source: ICML 2021, Eq. (12)-(13), as in `alg_SymNMF_mod.m` (no shift) and `alg_SymNMF.m` (entries below 1e-6 become
    1e-6, where the displayed definition makes them zero). The paper states a relative change of 1e-6.
    """
    Q = np.eye(U.shape[1])
    history = History("SymNMF (as released)", protocol.iterations, protocol.stop, verbose)
    for _ in history:
        H = np.maximum(U @ Q, protocol.shift)
        W, _, Vt = np.linalg.svd(H.T @ U)
        Q = (W @ Vt).T
        gap = abs(float(np.sum(H * (H - U @ Q))))
        history.record(gap, change=gap)
    return H, history.result()


def read_model(
    H: Floats, informative: NDArray[np.bool_], protocol: Protocol = REAL, uniform_prior: bool = False
) -> LatentClassModel:
    """Read confusion matrices and prior off H as the released code does.

    A_m = the block of annotator m, columns scaled to sum to one; D^(1/2) = H' (A')^+ with A all A_m stacked; lambda_c =
    (D^(1/2))_cc^2. Then (real data) A_m is floored at 1e-3, scaled again, and its columns are ordered by `align_each`,
    but lambda is not. With `uniform_prior`, as for DesSymNMF, lambda_c = 1/K.

    Source: `alg_SIngleEigDetMin_mod.m`, `getPermutedMatrix.m`, `main_AMT.m`. Deviations from that code: lambda is
    scaled to sum to one (no MAP label depends on it); annotators whose A_m lacks full rank are kept in their place as
    uninformative instead of being dropped from the list, see `index_shift`.
    """
    K = H.shape[1]
    sizes = np.full(len(H) // K, K)
    stacked = normalize_blocks(np.maximum(np.where(np.repeat(informative, K)[:, None], H, 0.0), EPS), sizes)
    root = np.diag(H.T @ np.linalg.pinv(stacked.T))
    prior = np.full(K, 1 / K) if uniform_prior else np.maximum(root**2, EPS) / np.maximum(root**2, EPS).sum()
    if not protocol.align:
        return LatentClassModel.from_stacked(prior, stacked, sizes)
    stacked = normalize_blocks(np.maximum(stacked, protocol.floor), sizes)
    blocks = stacked.reshape(-1, K, K)
    blocks = np.where((np.linalg.matrix_rank(blocks) == K)[:, None, None], blocks, 1 / K)
    return LatentClassModel.from_stacked(prior, align_each(blocks).reshape(-1, K), sizes)


def align_each(blocks: Floats) -> Floats:
    """Order the columns of each of the (M, K, K) confusion matrices by itself: column i := the one largest in row i.

    A column may be taken twice and another be lost; an annotator worse than chance is turned into one better than
    chance. Source: `getPermutedMatrix.m`. The text has one common permutation, as cofactor's default does.

    >>> align_each(np.array([[[0.2, 0.9], [0.8, 0.1]]]))
    array([[[0.9, 0.2],
            [0.1, 0.8]]])
    """
    return np.take_along_axis(blocks, np.argmax(blocks, axis=2)[:, None, :], axis=2)


# ---- EM ----


def votes_em(labels: CrowdLabels, verbose: bool = False) -> tuple[LatentClassModel, Result]:
    """Run ten rounds of M- and E-step from vote shares, the prior held uniform ("MV-EM").

    `objective` is the log-likelihood after each round. Cost: O(labels K) per round.

    Source: `run_EM_MV.m`; the paper states a relative change of 1e-6. Deviation from that code: tasks without labels
    are passed over, see `nan_bug`.
    """
    labelled = labels.table.entries_per_row > 0
    if not labelled.any():
        raise CofactorError("no task has a label")
    seen, Q = labels.table.take_rows(labelled), vote_shares(labels)[labelled]
    uniform = np.full(labels.n_classes, 1 / labels.n_classes)
    history = History("MV-EM (as released)", ROUNDS, 0.0, verbose)
    for _ in history:
        model = LatentClassModel.from_stacked(uniform, maximization(seen, Q).stacked, seen.sizes)
        Q, log_likelihood = posterior(seen, model)
        history.record(log_likelihood)
    return model, history.result()


# ---- the two defects, to measure what they did to printed numbers ----


def index_shift(model: LatentClassModel) -> LatentClassModel:
    """Return the model as the released code applies it: annotators without full rank dropped, the rest moved up.

    The list of confusion matrices shrinks but the labels stay where they are, so that every annotator after a dropped
    one is judged by the matrix of another; the last annotators have no say.

    >>> sharp, flat = np.array([[0.9, 0.1], [0.1, 0.9]]), np.full((2, 2), 0.5)
    >>> [float(A[0, 0]) for A in index_shift(LatentClassModel([0.5, 0.5], [flat, sharp])).conditionals]
    [0.9, 0.5]
    """
    K = model.n_classes
    blocks = model.stacked.reshape(-1, K, K)
    kept = blocks[np.linalg.matrix_rank(blocks) == K]
    silent = np.full((len(blocks) - len(kept), K, K), 1 / K)
    return LatentClassModel.from_stacked(model.prior, np.concatenate([kept, silent]).reshape(-1, K), model.sizes)


def nan_bug(posterior: Floats, labels: CrowdLabels) -> Floats:
    """Return the (N, K) posterior that the released MV-EM would give: the first class for every task, if one is empty.

    A task without labels has vote shares 0/0; the NaN spreads to all confusion matrices in one M-step, and the largest
    of NaNs is the first.
    """
    if (labels.table.entries_per_row > 0).all():
        return posterior
    return np.eye(labels.n_classes)[np.zeros(labels.n_tasks, dtype=np.int64)]

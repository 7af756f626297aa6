"""Symmetric NMF with a shifted ReLU, and the Dawid-Skene model obtained from its factor.

X = H H' with H = [A_1; ...; A_M] D^1/2 >= 0. A square root X = U U' satisfies U = H Q' for some orthogonal Q, so we
look for the rotation that makes U Q nonnegative.

    symbol   meaning                                        shape
    X        completed co-occurrences                       (M K, M K)
    U        a square root of X, rank K                     (M K, K)
    H        the nonnegative factor                         (M K, K)
    Q        rotation                                       (K, K), orthogonal
    D        diag(lambda), the class prior                  (K, K)

Source: Ibrahim and Fu, ICML 2021, Section 3.3, Eq. (6), (12)-(13), Proposition 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, sparray

from cofactor.core.checks import check_between, check_whole, finite_matrix, is_number, sound_places
from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.estimator import History, Result
from cofactor.core.latent_class import LatentClassModel, match_columns, normalize_blocks
from cofactor.core.lazy import sparse_linalg
from cofactor.core.types import Floats

Shift = float | Callable[[int], float]
Operator = Literal["zero", "clamp"]

DENSE_SIZE = 400  # up to here all eigenpairs at once are as fast as Lanczos, and never fail to converge
RANK_OF_ROOT = 1e-6  # a square root whose smallest singular value is below this share of the largest has lower rank
TURN = 1e-9  # share with which an empty column of H counts, as positive: it settles a sign, and turns nothing else
LARGEST_ENTRY = 1e100  # entry of U; the squares of larger ones overflow


def square_root(X: Floats | sparray, n_classes: int) -> Floats:
    """Return U (M K, K) such that U U' is the best positive semidefinite approximation of X with rank K.

    Uses the K algebraically largest eigenvalues, never the largest by absolute value: a co-occurrence matrix with
    missing blocks is indefinite, and the square root of a negative eigenvalue is a wrong direction.

    Raises `CofactorError` if there are fewer than K positive eigenvalues, or if Lanczos cannot separate K: there are
    more classes than the rank of the matrix. A `DataWarning` is given if the K-th eigenvalue is not larger in size than
    the most negative one, so that its direction may be noise.

    Cost: O((M K)^3) up to a few hundred rows; above, O(nonzeros of X times K) for each of a few dozen Lanczos steps.
    """
    X = sound_places(X, "X") if issparse(X) else finite_matrix(X, "X")
    check_whole(1, n_classes=n_classes)
    if X.shape[0] != X.shape[1] or n_classes > X.shape[0]:
        raise CofactorError(
            f"X must be square, with at least {n_classes} rows for {n_classes} classes; got shape {X.shape}"
        )
    values, vectors, lowest = _top_eigenpairs(X, n_classes)
    positive = int(np.sum(values > max(RANK_OF_ROOT**2 * values[0], 0)))
    if positive < n_classes:
        _refuse_rank(positive, n_classes)
    if values[-1] <= -lowest:
        message = (
            f"the direction of eigenvalue {n_classes} ({values[-1]:.3g}; the lowest is {lowest:.3g}) is unreliable: "
            "too many co-occurrence blocks are missing or noisy; prefer a method that imputes"
        )
        warnings.warn(message, DataWarning, stacklevel=2)
    return _upright(vectors * np.sqrt(values))


def _top_eigenpairs(X: Floats | sparray, count: int) -> tuple[Floats, Floats, float]:
    """Return the `count` largest eigenvalues (falling), their eigenvectors, and the lowest eigenvalue."""
    size = X.shape[0]
    if size <= DENSE_SIZE:
        values, vectors = np.linalg.eigh(X if isinstance(X, np.ndarray) else X.toarray())
        return values[::-1][:count], vectors[:, ::-1][:, :count], float(values[0])
    start = np.random.default_rng(0).standard_normal(size)  # fixed: the same result in every run
    try:
        values, vectors = sparse_linalg.eigsh(X, k=count, which="LA", v0=start)
        # only its size matters: three digits take half the steps
        lowest = sparse_linalg.eigsh(X, k=1, which="SA", v0=start, tol=1e-3, return_eigenvectors=False)[0]
    except sparse_linalg.ArpackError as error:
        raise CofactorError(
            f"the {count} largest eigenvalues of the co-occurrences cannot be separated from the rest ({error}): "
            "the matrix has lower rank or is mostly noise; use RobSymNMF, MV-EM or MajorityVote"
        ) from None
    return values[::-1], vectors[:, ::-1], float(lowest)


def require_rank(U: Floats) -> None:
    """Raise a CofactorError if the columns of a (M K, K) square root span less than K dimensions."""
    s = np.linalg.svd(U, compute_uv=False)
    rank = int(np.sum(s > RANK_OF_ROOT * s[0]))
    if rank < U.shape[1]:
        _refuse_rank(rank, U.shape[1])


def _refuse_rank(rank: int, n_classes: int) -> None:
    raise CofactorError(
        f"more classes ({n_classes}) than the rank of the co-occurrences ({rank}): a class was never used, or two are "
        "always confused; merge or drop classes, or use MV-EM or MajorityVote"
    )


def principal_root(H: Floats) -> Floats:
    """Return the (M K, K) square root of H H' along its principal axes: a known factor, rotated as in `symnmf`.

    The same as `square_root` of H H', without forming that matrix; O(M K^3).
    """
    P, s, _ = np.linalg.svd(H, full_matrices=False)
    return _upright(P * s)


def _upright(U: Floats) -> Floats:
    """Choose the sign of each column so that its sum is not negative."""
    return U * np.where(U.sum(axis=0) < 0, -1.0, 1.0)


def symnmf(
    U: Floats,
    shift: Shift = 0.0,
    operator: Operator = "zero",
    max_iter: int = 10_000,
    tol: float = 1e-10,
    verbose: bool = False,
) -> tuple[Floats, Floats, Result]:
    """Rotate a square root until it is nonnegative: min ||H - U Q||_F^2 over H >= 0 and orthogonal Q; Eq. (12).

    Starting from Q = I, alternates

        H = ReLU_alpha(U Q)                     (13a)
        W S V' = svd(H' U),  Q = V W'           (13b)-(13c)

    Parameters
    ----------
    U : (M K, K) array
        Square root of the co-occurrences.
    shift : float or function of the iteration t = 0, 1, ...
        alpha_t, in the scale of the entries of H; zero is the ordinary ReLU.
    operator : {"zero", "clamp"}
        Entries below alpha become zero (the paper's displayed definition) or alpha (its text and released code).
    max_iter, tol, verbose
        Stop when Q changes by at most `tol` in Frobenius norm, or after `max_iter` iterations; whether to show a
        progress bar.

    Returns
    -------
    H, Q : (M K, K) nonnegative and (K, K) orthogonal arrays
    result : Result
        `objective` is ||H - U Q||_F^2 after each iteration, at the H and Q of (13a).

    Raises `CofactorError` if U has rank below K.

    Cost: O(M K^3) per iteration. Source: ICML 2021, Eq. (12)-(13). Deviations: iterates to a fixed point of Q, at most
    10,000 times, where the released code stops at 100 or 200, before convergence; the change of Q is the criterion,
    since the objective falls to zero without noise and to a plateau with it. If no entry of a column of U Q is
    positive, (13b) leaves the sign of that column of the next Q open: the positive one is chosen.
    """
    U = finite_matrix(U, "U")
    if np.abs(U).max() > LARGEST_ENTRY or not (callable(shift) or is_number(shift)):
        raise CofactorError(
            f"shift must be a number or function, and U at most {LARGEST_ENTRY:g}; got {shift!r}, {np.abs(U).max():.3g}"
        )
    require_rank(U)
    Q = np.eye(U.shape[1])
    history = History("SymNMF", max_iter, tol, verbose)
    steps = symnmf_steps(U, shift, operator)
    for _ in history:
        Z, H, turned = next(steps)
        history.record(float(np.sum((H - Z) ** 2)), change=float(np.linalg.norm(turned - Q)))
        Q = turned
    return shifted_relu(U @ Q, 0.0, "zero"), Q, history.result()


class Step(NamedTuple):
    """One iteration of `symnmf`: the rotated root Z = U Q, its nonnegative part H, and the next rotation Q."""

    Z: Floats  # (M K, K)
    H: Floats  # (M K, K)
    Q: Floats  # (K, K), orthogonal


def symnmf_steps(U: Floats, shift: Shift = 0.0, operator: Operator = "zero") -> Iterator[Step]:
    """Yield the iterations (13) of `symnmf` one by one, endlessly and without a stopping rule.

    To watch the iteration; `U`, `shift` and `operator` as in `symnmf`, which takes the same steps.

    Examples
    --------
    >>> import numpy as np
    >>> turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    >>> U = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]]) @ turn  # a nonnegative matrix, turned
    >>> [round(float(step.Z.min()), 2) for step in islice(symnmf_steps(U), 4)]
    [-0.6, -0.54, -0.48, -0.43]
    """
    Q, t = np.eye(U.shape[1]), 0
    while True:
        Z = U @ Q
        H = shifted_relu(Z, shift(t) if callable(shift) else shift, operator)
        empty = ~H.any(axis=0)
        W, _, Vt = np.linalg.svd((H + TURN * empty * np.abs(Z)).T @ U)
        Q, t = (W @ Vt).T, t + 1
        yield Step(Z, H, Q)


def convergence_curve(
    U: Floats, H: Floats, shift: Shift = 0.0, operator: Operator = "zero", n_iter: int = 60
) -> Floats:
    """Return the error of each iterate of `symnmf` relative to a known factor.

    e_t = min over permutations P of ||H P - H_t||_F^2 / K, with H_0 = U and H_t the factor of the t-th iteration.

    Parameters
    ----------
    U, H : (J, K) arrays
        Square root of H H' or of a noisy version; the true factor, nonnegative.
    shift, operator
        As in `symnmf`.
    n_iter : int
        Number of iterations; none is skipped.

    Returns the (n_iter + 1,) errors e_0, ..., e_{n_iter}. Raises `CofactorError` if U has rank below K, or another
    shape than H. Cost: O(J K^2) per iteration. Source: ICML 2021, supplement, Figures 2 and 3. H_t carries the shift of
    its iteration, as it does there.
    """
    if U.shape != H.shape:
        raise CofactorError(f"the square root {U.shape} and the factor {H.shape} must have the same shape")
    require_rank(U)
    factors = [U, *(step.H for step in islice(symnmf_steps(U, shift, operator), n_iter))]
    return np.array([np.sum((H - found[:, match_columns(H, found)]) ** 2) for found in factors]) / H.shape[1]


def shifted_relu(Z: Floats, alpha: float, operator: Operator) -> Floats:
    """Apply ReLU_alpha elementwise: entries below alpha become zero ("zero") or alpha ("clamp"); Eq. (13a)."""
    if operator == "clamp":
        return np.maximum(Z, alpha)
    return np.where(alpha <= Z, np.maximum(Z, 0.0), 0.0)


def model_of_factor(H: Floats, informative: NDArray[np.bool_] | None = None, floor: float = 0.0) -> LatentClassModel:
    """Return the Dawid-Skene model of a factor H = [A_1; ...; A_M] D^1/2; Proposition 1.

    Each block of K rows, scaled to columns summing to one, is A_m; the column sums themselves are sqrt(lambda).

    Parameters
    ----------
    H : (M K, K) array, nonnegative
    informative : (M,) mask, optional
        Annotators whose blocks of H are valid; the others get uniform confusion matrices and do not affect the prior.
    floor : float
        Smaller entries of the A_m are raised to this value: with finite data, a zero of H only means "rare".

    Returns the model of all annotators; an all-zero column of a block becomes uniform.
    """
    check_between(0, 1, floor=floor)
    H = finite_matrix(H, "H")
    K = H.shape[1]
    if len(H) % K or (H < 0).any():
        raise CofactorError(f"H must be nonnegative, with {K} rows for each annotator; got shape {H.shape}")
    blocks = np.ldexp(H, -np.frexp(H.max())[1]).reshape(-1, K, K)  # so that squares are numbers; no digit changes
    informative = np.ones(len(blocks), dtype=bool) if informative is None else informative
    prior = blocks[informative].sum(axis=1).mean(axis=0) ** 2 if informative.any() else np.zeros(K)
    if not prior.sum() > 0:
        raise CofactorError("H is zero for all informative annotators, so it contains no information about the classes")
    sizes = np.full(len(blocks), K)
    stacked = normalize_blocks(np.where(informative[:, None, None], blocks, 0.0).reshape(-1, K), sizes)
    stacked = normalize_blocks(np.maximum(stacked, floor), sizes)
    return LatentClassModel.from_stacked(prior / prior.sum(), stacked, sizes)

"""Nonnegative factors and their square roots: what SymNMF starts from."""

from __future__ import annotations

import numpy as np

from cofactor.core.checks import check_between, check_whole, is_number, rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.types import Floats, Seed
from cofactor.crowd.symnmf import principal_root, require_rank, square_root


def symnmf_problem(
    n_rows: int = 1000,
    n_classes: int = 3,
    density: float = 0.5,
    snr_db: float | None = None,
    random_state: Seed = None,
) -> tuple[Floats, Floats]:
    """Draw a sparse nonnegative factor H, and the square root U of X = H H' that SymNMF starts from.

    Parameters
    ----------
    n_rows, n_classes : int
        J and K.
    density : float in (0, 1]
        Each entry of H is zero with probability 1 - density, otherwise uniform on (0, 1). The paper's phi.
    snr_db : float, optional
        Add Gaussian noise of variance sigma^2 to X, with 10 log10(||X||_F^2 / (J^2 sigma^2)) equal to this.
        Default: no noise.

    Returns
    -------
    U : (J, K) array
        X = U U', or the nearest of rank K to the noisy X; principal axes, columns summing to zero or more.
    H : (J, K) array

    Raises a CofactorError where the density is out of range, or so low that H has rank below K; for fewer rows than
    classes. Cost: O(J K^2) without noise; with noise the J x J matrix is formed.

    Source: Ibrahim and Fu, ICML 2021, supplement, Figures 2 and 3 (J = 1000, K = 3, density 0.7, 0.5, 0.3, 30 dB).
    Deviation: a square root needs a symmetric matrix, which the paper's noise is not; (N + N') / 2 is added.

    >>> U, H = symnmf_problem(200, 3, density=0.4, random_state=0)
    >>> U.shape, bool(np.allclose(U @ U.T, H @ H.T))
    ((200, 3), True)
    """
    if not is_number(density) or not 0 < density <= 1:
        raise CofactorError(f"density={density}: ask for a share above 0 and up to 1")
    check_whole(1, n_rows=n_rows, n_classes=n_classes)
    check_between(-1000, 1000, snr_db=0 if snr_db is None else snr_db)
    if n_rows < n_classes:
        raise CofactorError(f"a factor of {n_rows} rows has no rank {n_classes}: ask for n_rows >= n_classes")
    rng = rng_of(random_state)
    shape = n_rows, n_classes
    H = np.where(rng.random(shape) < density, rng.random(shape), 0.0)
    U = principal_root(H)
    require_rank(U)
    if snr_db is None:
        return U, H
    X = H @ H.T
    sigma = np.linalg.norm(X) / n_rows * 10 ** (-snr_db / 20)
    noise = rng.normal(0.0, sigma, X.shape)
    return square_root(X + (noise + noise.T) / 2, n_classes), H

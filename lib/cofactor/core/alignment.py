"""Hidden classes have no names: matching the columns of an estimate with those of a reference.

Every error metric of a model goes through here, so that a mere renaming of classes never counts as an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

if TYPE_CHECKING:
    from cofactor.core.latent_class import LatentClassModel

Order = NDArray[np.intp]


def match_columns(reference: ArrayLike, estimate: ArrayLike) -> Order:
    """Find the order of the columns of `estimate` that is nearest to `reference`.

    Solves min over permutations of ||reference - estimate[:, order]||_F^2 exactly (Hungarian algorithm).

    Parameters
    ----------
    reference, estimate : (I, F) arrays

    Returns
    -------
    (F,) order, such that ``estimate[:, order]`` lines up with `reference`.

    Cost
    ----
    O(I F^2 + F^3) time.

    Examples
    --------
    >>> match_columns([[1, 0], [0, 1]], [[0, 1], [1, 0]]).tolist()
    [1, 0]
    """
    reference, estimate = np.asarray(reference, dtype=np.float64), np.asarray(estimate, dtype=np.float64)
    squares = (reference**2).sum(axis=0)[:, None] + (estimate**2).sum(axis=0)
    return np.asarray(linear_sum_assignment(squares - 2 * reference.T @ estimate)[1])


def match_classes(votes: ArrayLike, posterior: ArrayLike) -> Order:
    """Find the order of the columns of `posterior` that agrees most with `votes`, over all rows.

    Both are (S, F) class probabilities. No ground truth is needed: majority votes serve as the reference, which
    fixes the names of the classes as long as the crowd as a whole is better than chance.
    """
    agreement = np.asarray(votes).T @ np.asarray(posterior)
    return np.asarray(linear_sum_assignment(agreement, maximize=True)[1])


def mse(truth: LatentClassModel, estimate: LatentClassModel) -> float:
    """Mean squared error of prior and conditionals, the naming of hidden classes removed.

    MSE = min over permutations P of (||P'lambda - lambda^||^2 + sum_m ||A_m P - A^_m||_F^2) / (N F + 1),
    with N variables and F classes.

    Raises
    ------
    CofactorError
        The two models have different classes or variables.

    Source
    ------
    Ibrahim and Fu, ICML 2021, Eq. (19). The released code matches each annotator separately; this is the one
    common permutation of the equation.
    """
    aligned = estimate.align_to(truth)
    error = np.sum((aligned.prior - truth.prior) ** 2) + np.sum((aligned.stacked - truth.stacked) ** 2)
    return float(error / (truth.n_variables * truth.n_classes + 1))

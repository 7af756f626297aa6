"""Errors of an estimated joint PMF: of its parameters (MSE), and of the distribution itself (MRE)."""

from __future__ import annotations

from functools import reduce
from operator import mul

import numpy as np

from cofactor.core.checks import check_kind
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import LatentClassModel


def mse(truth: LatentClassModel, estimate: LatentClassModel) -> float:
    """Mean squared error of prior and conditionals, hidden classes matched.

        MSE = ||P'lambda^ - lambda||^2 + 1/N sum_n ||A^_n P - A_n||_F^2 / F

    P is the permutation under which priors and conditionals agree best in least squares. A low MSE does not imply a
    good joint PMF. Raises a CofactorError where the models differ in classes or alphabets.

    Source: IEEE TSP 2021, Sec. 5.2; the released code of Tables 1 to 3 compares with A_1 diag(lambda) in place of A_1.
    """
    check_kind(LatentClassModel, truth=truth, estimate=estimate)
    aligned = estimate.align_to(truth)
    error = float(np.sum((aligned.prior - truth.prior) ** 2))
    return error + float(np.sum((aligned.stacked - truth.stacked) ** 2)) / (truth.n_classes * truth.n_variables)


def mre(truth: LatentClassModel, estimate: LatentClassModel) -> float:
    """Relative error of the joint PMF, ||T - T^||_F / ||T||_F, without forming either tensor.

        <T, T^> = sum_{f, g} lambda_f lambda^_g prod_n (A_n'A^_n)[f, g]

    The models may differ in the number of classes. Above one, the estimate is worse than all zeros. Near zero it is
    exact to about 1e-7 only, a difference of nearly equal squares. Raises a CofactorError where alphabets differ.

    Cost: O(sum I_n F^2). Source: IEEE TSP 2021, Sec. 5.2; the released code divides by the norm of the estimate.

    >>> model = LatentClassModel([0.5, 0.5], [[[0.9, 0.2], [0.1, 0.8]]] * 3)
    >>> round(mre(model, LatentClassModel([1.0], [[[0.55], [0.45]]] * 3)), 3)
    0.642
    """
    check_kind(LatentClassModel, truth=truth, estimate=estimate)
    if not np.array_equal(truth.sizes, estimate.sizes):
        raise CofactorError(f"{truth!r} and {estimate!r} have different alphabets: no distance between them")
    norm2 = inner_product(truth, truth)
    gap = norm2 - 2 * inner_product(truth, estimate) + inner_product(estimate, estimate)
    return float(np.sqrt(max(gap, 0.0) / norm2))


def inner_product(one: LatentClassModel, other: LatentClassModel) -> float:
    """Sum over all cells of the product of two joint PMFs; O(sum I_n F^2)."""
    grams = (A.T @ B for A, B in zip(one.conditionals, other.conditionals, strict=True))
    return float(one.prior @ reduce(mul, grams) @ other.prior)

"""Accuracy of an estimated joint PMF: errors against the truth (MSE, MRE), and losses on held-out cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import mul

import numpy as np

from cofactor.core.checks import check_kind, rng_of
from cofactor.core.errors import CofactorError
from cofactor.core.estimator import clone
from cofactor.core.latent_class import FLOOR, LatentClassModel, map_class
from cofactor.core.lazy import pd, special
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints, Seed
from cofactor.pmf.base import HiddenCells, JointPMFEstimator, hide_cells, independence, is_connected

INDEPENDENCE_PSEUDO_COUNT = 0.5  # pseudo-count of the independence model that others are compared with


def mse(truth: LatentClassModel, estimate: LatentClassModel) -> float:
    """Return the mean squared error of prior and conditionals, after matching the latent classes.

        MSE = ||P'lambda^ - lambda||^2 + 1/N sum_n ||A^_n P - A_n||_F^2 / F

    P is the least-squares matching of the latent classes. A low MSE does not imply a good joint PMF. Raises a
    CofactorError if the models have different numbers of classes or different alphabets.

    Source: IEEE TSP 2021, Sec. 5.2; the released code of Tables 1 to 3 compares with A_1 diag(lambda) instead of A_1.
    """
    check_kind(LatentClassModel, truth=truth, estimate=estimate)
    aligned = estimate.align_to(truth)
    error = float(np.sum((aligned.prior - truth.prior) ** 2))
    return error + float(np.sum((aligned.stacked - truth.stacked) ** 2)) / (truth.n_classes * truth.n_variables)


def mre(truth: LatentClassModel, estimate: LatentClassModel) -> float:
    """Return the relative error of the joint PMF, ||T - T^||_F / ||T||_F, without forming either tensor.

        <T, T^> = sum_{f, g} lambda_f lambda^_g prod_n (A_n'A^_n)[f, g]

    The models may have different numbers of classes. If the error is above one, the estimate is worse than all zeros.
    Near zero, it is accurate only to about 1e-7, because it is computed as a difference of nearly equal squares. Raises
    a CofactorError if the alphabets differ.

    Cost: O(sum I_n F^2). Source: IEEE TSP 2021, Sec. 5.2; the released code divides by the norm of the estimate.

    >>> model = LatentClassModel([0.5, 0.5], [[[0.9, 0.2], [0.1, 0.8]]] * 3)
    >>> round(mre(model, LatentClassModel([1.0], [[[0.55], [0.45]]] * 3)), 3)
    0.642
    """
    check_kind(LatentClassModel, truth=truth, estimate=estimate)
    if not np.array_equal(truth.sizes, estimate.sizes):
        raise CofactorError(f"{truth!r} and {estimate!r} have different alphabets, so their distance is undefined")
    norm2 = inner_product(truth, truth)
    gap = norm2 - 2 * inner_product(truth, estimate) + inner_product(estimate, estimate)
    return float(np.sqrt(max(gap, 0.0) / norm2))


def inner_product(one: LatentClassModel, other: LatentClassModel) -> float:
    """Return the sum over all cells of the product of two joint PMFs; O(sum I_n F^2)."""
    grams = (A.T @ B for A, B in zip(one.conditionals, other.conditionals, strict=True))
    return float(one.prior @ reduce(mul, grams) @ other.prior)


# ---- hidden cells ----


@dataclass(frozen=True, eq=False)
class HeldOutCells:
    """Result of `held_out`: hidden cells, and the losses (nats) of their predictions from the rest of their rows.

    Attributes
    ----------
    row, variable : (E,) ints
    loss, base_loss : (E,) arrays
        Negative log-probability (nats) of the hidden value, by the model and by the frequencies of its column.
    right, base_right : (E,) arrays of bool
        Whether the most probable value, or the most frequent value of the column, equals the hidden one.
    seen : CategoricalTable
        The table without the hidden cells.
    model : LatentClassModel
        The model fitted to `seen`.
    """

    row: Ints
    variable: Ints
    loss: Floats
    base_loss: Floats
    right: Floats
    base_right: Floats
    seen: CategoricalTable
    model: LatentClassModel

    def gain(self) -> tuple[float, float]:
        """Return the mean of base_loss - loss and its standard error, clustered by row."""
        gains = self.base_loss - self.loss
        mean = float(gains.mean())
        sums = np.bincount(np.unique(self.row, return_inverse=True)[1], gains - mean)
        return mean, float(np.sqrt(np.sum(sums**2)) / len(gains))

    def by_variable(self) -> pd.DataFrame:
        """Return mean losses, error rates and the number of hidden cells for every variable, indexed by variable."""
        losses = pd.DataFrame({"loss": self.loss, "base_loss": self.base_loss})
        losses = losses.assign(wrong=1 - self.right, base_wrong=1 - self.base_right)
        by_variable = losses.groupby(self.variable)
        return by_variable.sum().div(by_variable.size(), axis=0).assign(cells=by_variable.size())


def held_out(estimator: JointPMFEstimator, table: CategoricalTable, random_state: Seed = None) -> HeldOutCells | None:
    """Fit a copy of the estimator to a table with a fifth of the cells hidden, and return the losses on these cells.

    Returns None if there are too few cells, or if the remaining cells do not link all variables. Cost: that of one fit.
    """
    hidden = next(iter(hide_cells(table, rng_of(random_state))), None)
    if hidden is None or not is_connected(hidden.seen):
        return None
    model = clone(estimator).fit(hidden.seen).model_
    base = independence(pairwise_moments(hidden.seen), INDEPENDENCE_PSEUDO_COUNT)
    (loss, right), (base_loss, base_right) = (_scored(one, hidden) for one in (model, base))
    return HeldOutCells(hidden.row, hidden.variable, loss, base_loss, right, base_right, hidden.seen, model)


def _scored(model: LatentClassModel, hidden: HiddenCells) -> tuple[Floats, Floats]:
    """Return the losses of hidden cells, and whether the most probable values are the hidden ones."""
    Q = model.posterior(hidden.seen)
    loss, right = np.zeros(len(hidden.row)), np.zeros(len(hidden.row))
    for n, A in enumerate(model.conditionals):
        of_variable = hidden.variable == n
        shares, code = Q[hidden.row[of_variable]] @ A.T, hidden.code[of_variable]
        loss[of_variable] = -np.log(np.maximum(shares[np.arange(len(shares)), code], FLOOR))
        right[of_variable] = map_class(shares, model.marginal(n)) == code
    return loss, right


def shared_information(model: LatentClassModel) -> Floats:
    """Return the (N, N) mutual information of all pairs of variables, relative to the smaller of their two entropies.

        I(X_m; X_n) / min(H(X_m), H(X_n)),   by the pairwise marginals of the model

    It is 0 for independent variables, 1 if one variable determines the other, and 1 on the diagonal. Cost: O(N^2 I^2
    F).
    """
    found = np.eye(model.n_variables)
    entropy = [special.entr(model.marginal(n)).sum() for n in range(model.n_variables)]
    for m, n in combinations(range(model.n_variables), 2):
        common, least = entropy[m] + entropy[n] - special.entr(model.pairwise(m, n)).sum(), min(entropy[m], entropy[n])
        found[m, n] = found[n, m] = np.clip(common / least, 0.0, 1.0) if least > FLOOR else 0.0
    return found

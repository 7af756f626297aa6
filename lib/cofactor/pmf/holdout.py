"""How good a fitted joint PMF is on cells that it has not seen, and which variables depend on one another."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cofactor.core.checks import rng_of
from cofactor.core.estimator import clone
from cofactor.core.latent_class import FLOOR, LatentClassModel, map_class
from cofactor.core.lazy import pd, special
from cofactor.core.moments import pairwise_moments
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints, Seed
from cofactor.pmf.base import JointPMFEstimator, independence, is_connected
from cofactor.pmf.selection import HiddenCells, hide_cells

INDEPENDENCE_PSEUDO_COUNT = 0.5  # pseudo-count of the independence model that others are compared with


@dataclass(frozen=True, eq=False)
class HeldOutCells:
    """Result of `held_out`: hidden cells, and losses of their predictions from the rest of their rows, in nats.

    Attributes
    ----------
    row, variable : (E,) ints
    loss, base_loss : (E,) arrays
        Minus the logarithm of the probability of what was hidden (nats): by the model; by its column alone.
    right, base_right : (E,) arrays of bool
        Whether the most probable value was it; whether the most frequent value of the column was.
    seen : CategoricalTable
        The table without these cells.
    model : LatentClassModel
        Fitted to it.

    Means over cells count each by the weight of its row, where the table has weights.
    """

    row: Ints
    variable: Ints
    loss: Floats
    base_loss: Floats
    right: Floats
    base_right: Floats
    seen: CategoricalTable
    model: LatentClassModel

    @property
    def weights(self) -> Floats:
        """(E,) weights of the rows of the hidden cells."""
        return self.seen.row_weights[self.row]

    def mean(self, values: Floats) -> float:
        """Return the mean of (E,) values over hidden cells."""
        return float(np.average(values, weights=self.weights))

    def gain(self) -> tuple[float, float]:
        """Return the mean of base_loss - loss, and its standard error; cells of one row count as one observation."""
        gains = self.base_loss - self.loss
        mean, weights = self.mean(gains), self.weights
        sums = np.bincount(np.unique(self.row, return_inverse=True)[1], weights * (gains - mean))
        return mean, float(np.sqrt(np.sum(sums**2)) / weights.sum())

    def by_variable(self) -> pd.DataFrame:
        """Return a row per variable: hidden cells, mean losses, shares of wrong values; indexed by variable."""
        losses = pd.DataFrame({"loss": self.loss, "base_loss": self.base_loss})
        losses = losses.assign(wrong=1 - self.right, base_wrong=1 - self.base_right)
        totals = losses.mul(self.weights, axis=0).groupby(self.variable).sum()
        cells = losses.groupby(self.variable).size()
        return totals.div(np.bincount(self.variable, self.weights)[totals.index], axis=0).assign(cells=cells)


def held_out(estimator: JointPMFEstimator, table: CategoricalTable, random_state: Seed = None) -> HeldOutCells | None:
    """Fit to a table with a fifth of the cells hidden, and return how well the hidden cells are predicted.

    The estimator is not changed. None where there are too few cells, or where without them some variables were never
    observed together. Cost: that of one fit.
    """
    hidden = next(iter(hide_cells(table, rng_of(random_state))), None)
    if hidden is None or not is_connected(hidden.seen):
        return None
    model = clone(estimator).fit(hidden.seen).model_
    base = independence(pairwise_moments(hidden.seen), INDEPENDENCE_PSEUDO_COUNT)
    (loss, right), (base_loss, base_right) = (_scored(one, hidden) for one in (model, base))
    return HeldOutCells(hidden.row, hidden.variable, loss, base_loss, right, base_right, hidden.seen, model)


def _scored(model: LatentClassModel, hidden: HiddenCells) -> tuple[Floats, Floats]:
    """Return the losses of hidden cells, and whether the most probable value is what was there."""
    Q = model.posterior(hidden.seen)
    loss, right = np.zeros(len(hidden.row)), np.zeros(len(hidden.row))
    for n, A in enumerate(model.conditionals):
        of_variable = hidden.variable == n
        shares, code = Q[hidden.row[of_variable]] @ A.T, hidden.code[of_variable]
        loss[of_variable] = -np.log(np.maximum(shares[np.arange(len(shares)), code], FLOOR))
        right[of_variable] = map_class(shares, model.marginal(n)) == code
    return loss, right


def shared_information(model: LatentClassModel) -> Floats:
    """Return (N, N) in [0, 1]: mutual information of every two variables over the smaller of their two entropies.

        I(X_m; X_n) / min(H(X_m), H(X_n)),   by the pairwise marginals of the model

    0 where they are independent, 1 where one tells the other; ones on the diagonal. Cost: O(N^2 I^2 F).
    """
    found = np.eye(model.n_variables)
    entropy = [special.entr(model.marginal(n)).sum() for n in range(model.n_variables)]
    for m, n in combinations(range(model.n_variables), 2):
        common, least = entropy[m] + entropy[n] - special.entr(model.pairwise(m, n)).sum(), min(entropy[m], entropy[n])
        found[m, n] = found[n, m] = np.clip(common / least, 0.0, 1.0) if least > FLOOR else 0.0
    return found

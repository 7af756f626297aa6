"""BPR: Bayesian personalised ranking by stochastic gradient descent."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cofactor.comparisons.base import PreferenceModel
from cofactor.comparisons.data import Codes, Comparisons
from cofactor.comparisons.kernels import Arrays
from cofactor.core.checks import check_positive, check_whole
from cofactor.core.errors import CofactorError
from cofactor.core.result import Result
from cofactor.core.types import Floats

SPREAD = 0.1  # standard deviation of the random start


class BPR(PreferenceModel):
    """Maximise sum over comparisons of log g(x_ui - x_uj) - reg (squares met on the way), one comparison at a time.

    Parameters
    ----------
    rank : int
    rate, reg : float
        Step size; weight decay of the features of every comparison visited.
    epochs : int
        Passes, comparisons in a new random order in each. No stopping rule, as published.
    item_bias : bool
    random_state : int, Generator or None

    Cost
    ----
    O(m r) per epoch.

    Source
    ------
    Rendle, Freudenthaler, Gantner and Schmidt-Thieme, UAI 2009. There pairs are drawn from implicit feedback; here they
    are the given comparisons, the winner first, ties left out, soft outcomes as both winners with their shares.

    Examples
    --------
    >>> data = Comparisons([0, 0, 1, 1], [0, 1, 2, 1], [1, 2, 1, 0], [1, 1, 1, 1])
    >>> (BPR(rank=1, random_state=0).fit(data).margin([0, 1], [0, 0], [2, 2]) > 0).tolist()
    [True, False]
    """

    def __init__(
        self,
        rank: int = 10,
        rate: float = 0.05,
        reg: float = 0.01,
        epochs: int = 100,
        item_bias: bool = False,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.rank = rank
        self.rate = rate
        self.reg = reg
        self.epochs = epochs
        self.item_bias = item_bias
        self.random_state = random_state

    def _estimate(self, comparisons: Comparisons) -> tuple[Arrays, Result]:
        check_whole(1, rank=self.rank, epochs=self.epochs)
        check_positive(rate=self.rate)
        check_positive(zero=True, reg=self.reg)
        data, rng = comparisons, np.random.default_rng(self.random_state)
        U = SPREAD * rng.standard_normal((data.n_users, self.rank))
        V = SPREAD * rng.standard_normal((data.n_items, self.rank))
        b = np.zeros(data.n_items)
        losses = []
        for _ in range(self.epochs):
            order = rng.permutation(len(data))
            total = _epoch(
                (data.user, data.left, data.right), data.outcome, order, (U, V, b), self.rate, self.reg, self.item_bias
            )
            losses.append(total / len(data))
            if not np.isfinite(total):
                raise CofactorError(f"features ran to infinity at rate={self.rate:g}: take a smaller one")
        return (U, V, b), Result(np.array(losses), self.epochs, True, f"{self.epochs} epochs, as asked for")


@njit(cache=True)
def _epoch(
    triples: tuple[Codes, Codes, Codes],
    w: Floats,
    order: NDArray[np.intp],
    factors: Arrays,
    rate: float,
    reg: float,
    item_bias: bool,
) -> float:
    """Move the features in place, comparison after comparison; return the sum of losses met on the way."""
    (user, left, right), (U, V, b), total = triples, factors, 0.0
    for k in order:
        u, i, j = user[k], left[k], right[k]
        if w[k] == 0.5:
            continue
        z = b[i] - b[j]
        for a in range(U.shape[1]):
            z += U[u, a] * (V[i, a] - V[j, a])
        e = np.exp(-abs(z))
        total += np.log1p(e) + max(z, 0.0) - w[k] * z
        h = (1.0 if z >= 0 else e) / (1 + e) - w[k]
        for a in range(U.shape[1]):
            d, own = V[i, a] - V[j, a], U[u, a]
            U[u, a] -= rate * (h * d + reg * own)
            V[i, a] -= rate * (h * own + reg * V[i, a])
            V[j, a] -= rate * (-h * own + reg * V[j, a])
        if item_bias:
            b[i] -= rate * (h + reg * b[i])
            b[j] -= rate * (-h + reg * b[j])
    return total

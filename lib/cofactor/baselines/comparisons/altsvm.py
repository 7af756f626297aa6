"""AltSVM: features by alternating support vector machines, the squared hinge in place of a likelihood.

    symbol   meaning                                                        shape
    s        sign of the outcome, 1 where left was chosen, else -1          (m,)
    C        weight of the hinge against the squares of features, 1 / ridge
    alpha    dual variables, one set for users, one for items               (m,)

Source: Park, Neeman, Zhang, Sanghavi and Dhillon, "Preference completion", ICML 2015, Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cofactor.comparisons.base import PreferenceModel
from cofactor.comparisons.data import Codes, Comparisons
from cofactor.core.checks import check_positive, check_whole, rng_of
from cofactor.core.lazy import njit
from cofactor.core.result import History, Result
from cofactor.core.types import Floats, Indices, Seed

Triples = tuple[Codes, Codes, Codes]


@dataclass(eq=False, repr=False)
class AltSVM(PreferenceModel):
    """Minimise (||U||^2 + ||V||^2) / 2 + (1/ridge) sum max(0, 1 - s <U_u, V_i - V_j>)^2, items and users in turn.

    Each half is a linear SVM, solved in its dual one comparison at a time:

        alpha_k += max(-alpha_k, (1 - s_k z_k - alpha_k / 2C) / (||a_k||^2 + 1/2C)),   a_k the feature of comparison k

    Orders items; gives no chances, since its scale has no meaning.

    Parameters
    ----------
    rank : int
    ridge : float > 0
    max_iter : int
        Most rounds of items, then users.
    n_passes : int
        Passes over the comparisons per half round.
    tol : float
        Relative change of the objective at which rounds end.
    random_state : int, Generator or None
    verbose : bool

    Cost: O(m r) time per pass, O(m + (n1 + n2) r) memory.

    Order: starts are drawn in the order of users and items, so that other numbers of these are another draw, as another
    `random_state` is. Of 360 comparisons of six items by twelve users, 10 renamings ordered no pair otherwise.

    Source: ICML 2015, Algorithm 1, squared hinge. Deviation: a start of both signs (the released code draws none below
    zero); ties are left out, soft outcomes count as their likelier winner; duals start at zero in each half, since the
    other half has changed the features.

    >>> data = Comparisons([0, 0, 1, 1], [0, 1, 2, 1], [1, 2, 1, 0], [1, 1, 1, 1])
    >>> (AltSVM(rank=1, ridge=1.0, random_state=0).fit(data).margin([0, 1], [0, 0], [2, 2]) > 0).tolist()
    [True, False]
    """

    link = ""

    rank: int = 10
    ridge: float = 100 / 3
    max_iter: int = 20
    n_passes: int = 5
    tol: float = 1e-3
    random_state: Seed = None
    verbose: bool = False

    def _estimate(self, comparisons: Comparisons) -> tuple[tuple[Floats, Floats, Floats], Result]:
        check_whole(1, rank=self.rank, max_iter=self.max_iter, n_passes=self.n_passes)
        check_positive(ridge=self.ridge)
        data, C, rng = comparisons, 1 / self.ridge, rng_of(self.random_state)
        decided = np.flatnonzero(data.outcome != 0.5)
        triples = data.user[decided], data.left[decided], data.right[decided]
        s = np.sign(data.outcome[decided] - 0.5)
        U = rng.standard_normal((data.n_users, self.rank)) / np.sqrt(self.rank)
        V = np.zeros((data.n_items, self.rank))
        history = History("AltSVM", self.max_iter, self.tol, self.verbose)
        for _ in history:
            V[:] = 0.0
            _items(triples, s, U, V, C, self.n_passes, rng.permutation(len(s)))
            U[:] = 0.0
            value = _users(triples, s, U, V, C, self.n_passes, rng.permutation(len(s)))
            history.record(value + float(np.sum(U**2) + np.sum(V**2)) / 2)
        return (U, V, np.empty(0)), history.result()


@njit(cache=True)
def _items(triples: Triples, s: Floats, U: Floats, V: Floats, C: float, passes: int, order: Indices) -> None:
    """SVM of the items, features of users held fixed; in place."""
    (user, left, right), alpha = triples, np.zeros(len(s))
    for _ in range(passes):
        for k in order:
            u, i, j = user[k], left[k], right[k]
            z, square = 0.0, 0.0
            for a in range(U.shape[1]):
                z += U[u, a] * (V[i, a] - V[j, a])
                square += 2 * U[u, a] ** 2
            step = max(-alpha[k], (1 - s[k] * z - alpha[k] / (2 * C)) / (square + 1 / (2 * C)))
            alpha[k] += step
            for a in range(U.shape[1]):
                V[i, a] += step * s[k] * U[u, a]
                V[j, a] -= step * s[k] * U[u, a]


@njit(cache=True)
def _users(triples: Triples, s: Floats, U: Floats, V: Floats, C: float, passes: int, order: Indices) -> float:
    """SVM of every user, features of items held fixed; in place. Returns C times the sum of squared hinges."""
    (user, left, right), alpha = triples, np.zeros(len(s))
    for _ in range(passes):
        for k in order:
            u, i, j = user[k], left[k], right[k]
            z, square = 0.0, 0.0
            for a in range(U.shape[1]):
                d = V[i, a] - V[j, a]
                z += U[u, a] * d
                square += d * d
            step = max(-alpha[k], (1 - s[k] * z - alpha[k] / (2 * C)) / (square + 1 / (2 * C)))
            alpha[k] += step
            for a in range(U.shape[1]):
                U[u, a] += step * s[k] * (V[i, a] - V[j, a])
    total = 0.0
    for k in range(len(s)):
        z = 0.0
        for a in range(U.shape[1]):
            z += U[user[k], a] * (V[left[k], a] - V[right[k], a])
        total += C * max(0.0, 1 - s[k] * z) ** 2
    return total

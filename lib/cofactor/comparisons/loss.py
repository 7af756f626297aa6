"""The objective: likelihood of comparisons, balance of the factors, priors; and its gradient.

    symbol       meaning                                                      shape          equation
    u, i, j      user of a comparison, its left and its right item            (m,) each
    w            outcome in [0, 1], 1 where left was chosen                   (m,)           (1)
    U, V         features of users and of items, Z = [U; V]                   (n1, r), (n2, r)
    b            biases of items, if the model has them                       (n2,)
    z            <U_u, V_i - V_j> + b_i - b_j                                 (m,)           (6)
    h            slope of the loss, dl/dz                                     (m,)           (9)
    B            U'U - V'V, zero where the factors are balanced               (r, r)         (13)
    gamma        2 / (n1 (n2 - 1)), mean square of z per unit ||X||_F^2                      Sec. 4

Source: Sankagiri, Etesami and Grossglauser, "Recommendations with sparse comparison data: provably fast convergence for
nonconvex matrix factorization", ICML 2025.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.kernels import Arrays, add_gradient, fill_differences, logistic_pass
from cofactor.comparisons.links import link_named
from cofactor.core.checks import check_positive, check_whole
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import numba, special
from cofactor.core.types import Floats

Columns = tuple[Any, ...]  # arrays of one length, as the kernels want them

BALANCE = 1 / 40  # lambda / gamma of the paper's simulations
COMPARISONS_OF_THREADS = 1_000_000  # comparisons from which threads pay


class Objective:
    """The function that is minimised, of one flat vector x = (U, V, b).

        f(U, V, b) = (1/m) sum_k l(z_k, w_k) + (balance/4) ||U'U - V'V||_F^2
                     + (ridge/2m) (||U||_F^2 + ||V||_F^2) + (bias_ridge/2m) ||b||^2

    with l the excess loss of the link (see `cofactor.comparisons.links`) and m the number of comparisons, counts
    included.

    Parameters
    ----------
    comparisons : Comparisons
    rank : int >= 0
        r; 0 with a bias is the model of Bradley and Terry.
    link : {"logistic", "probit"}
    ridge, bias_ridge : float >= 0
        Inverse variance of a Gaussian prior on every feature, and on every bias.
    balance : float, optional
        lambda of Eq. (14). Default: gamma/40, the paper's, without a ridge; 0 with one, which balances by itself.
    item_bias : bool
        Whether there is b.
    n_threads : int, optional
        Default: 1 below a million comparisons, where threads do not pay; above, as many as numba may use.

    Cost: O(m r) time per call, O(m + (n1 + n2) r) memory in all; T threads add T n2 r. No n1 x n2 array is ever formed.
    Source: ICML 2025, Eq. (8), (9), (13), (14). Deviations: the loss less its smallest value, the ridge, the bias.

    >>> data = Comparisons([0, 0], [0, 1], [1, 2], [1, 1])
    >>> value, gradient = Objective(data, rank=1)(np.ones(4))
    >>> round(value, 3), gradient.tolist()
    (0.718, [-0.05, -0.2, 0.05, 0.3])
    """

    def __init__(
        self,
        comparisons: Comparisons,
        rank: int,
        link: str = "logistic",
        ridge: float = 0.0,
        bias_ridge: float = 0.0,
        balance: float | None = None,
        item_bias: bool = False,
        n_threads: int | None = None,
    ) -> None:
        if not isinstance(comparisons, Comparisons):
            raise CofactorError(f"expected Comparisons, got {type(comparisons).__name__}")
        check_whole(0, rank=rank)
        check_positive(zero=True, ridge=ridge, bias_ridge=bias_ridge)
        if n_threads is not None:
            check_whole(1, n_threads=n_threads)
        self.data, self.rank, self.link, self.item_bias = comparisons, rank, link_named(link), item_bias
        self.rho, self.rho_bias = ridge / comparisons.total, bias_ridge / comparisons.total
        if balance is None:
            balance = 0.0 if ridge else BALANCE * gamma(comparisons.n_users, comparisons.n_items)
        self.balance = balance
        self.n_threads = (
            (1 if len(comparisons) < COMPARISONS_OF_THREADS else numba.get_num_threads())
            if n_threads is None
            else n_threads
        )
        self.n_passes = 0
        self.shape = comparisons.n_users, comparisons.n_items, rank  # kept here: a fit asks for them at every step
        self._prepare()

    def with_ridge(self, ridge: float) -> Objective:
        """Return the same objective with a ridge on features in the place of balance."""
        bias_ridge = self.rho_bias * self.data.total
        return Objective(self.data, self.rank, self.link.name, ridge, bias_ridge, None, self.item_bias, self.n_threads)

    def _prepare(self) -> None:
        """Keep the data as the kernels want them."""
        data, none = self.data, np.empty(0)
        self.triples: Columns = tuple(code.view(np.uint32) for code in (data.user, data.left, data.right))
        w, weight = data.outcome, none if data.counts is None else data.counts
        entropy = -special.xlogy(w, w) - special.xlogy(1 - w, 1 - w)
        self._floor = float(entropy.sum() if data.counts is None else entropy @ weight) if data.noisy else 0.0
        with np.errstate(divide="ignore"):
            self._answers: Columns = (w, weight, none, none) if data.noisy else (w, weight, special.logit(w), entropy)
        cuts = np.linspace(0, len(w), self.n_threads + 1).astype(np.intp)[1:-1]
        cuts = np.searchsorted(data.user, data.user[cuts])  # a user belongs to one thread
        self._parts = [slice(a, b) for a, b in zip([0, *cuts], [*cuts, len(w)], strict=True) if a < b]
        self._marker = (0,) * self.rank

    # ---- the vector ----

    @property
    def size(self) -> int:
        """Length of the flat vector x: all features and biases."""
        n1, n2, r = self.shape
        return (n1 + n2) * r + n2 * self.item_bias

    def split(self, x: Floats) -> Arrays:
        """Return U, V and b as views of x; b is empty in a model without biases."""
        n1, n2, r = self.shape
        if len(x) != self.size:
            raise CofactorError(f"a vector of {len(x)} numbers: this objective has {self.size}; `join` makes one")
        of_users, of_items = n1 * r, (n1 + n2) * r
        return x[:of_users].reshape(n1, r), x[of_users:of_items].reshape(n2, r), x[of_items:]

    def join(self, U: Floats, V: Floats, b: Floats | None = None) -> Floats:
        """Return x; biases that are not given start at zero."""
        b = np.zeros(self.shape[1] * self.item_bias) if b is None else b
        x = np.concatenate([U.ravel(), V.ravel(), b])
        if x.size != self.size:
            raise CofactorError(
                f"factors of {U.shape} and {V.shape} with {b.size} biases: expected {self.size} numbers"
            )
        return x

    # ---- values ----

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """Return f and its gradient."""
        self.n_passes += 1
        g = np.zeros(self.size)
        value = self._likelihood(x, g) / self.data.total
        g /= self.data.total
        return value + self._penalties(x, g), g

    def _likelihood(self, x: Floats, g: Floats) -> float:
        factors = self.split(x)
        if self.link.name == "logistic":
            return self._over_parts(lambda part, G: self._logistic(part, factors, G), g) - self._floor
        z, w = self.differences(x), self.data.outcome
        weight = 1.0 if self.data.counts is None else self.data.counts
        self._add_gradient(x, weight * self.link.slope(z, w), g)
        return float(np.sum(weight * self.link.loss(z, w)))

    def _logistic(self, part: slice, factors: Arrays, G: Arrays) -> float:
        triples: Any = tuple(code[part] for code in self.triples)
        answers: Any = tuple(column[part] for column in self._answers)
        return float(logistic_pass(triples, answers, factors, self._marker, G))

    def _add_gradient(self, x: Floats, h: Floats, g: Floats) -> None:
        """Add the sum of h_k times the gradient of z_k."""
        factors = self.split(x)

        def add(part: slice, G: Arrays) -> float:
            triples: Any = tuple(code[part] for code in self.triples)
            add_gradient(triples, factors, self._marker, h[part], G)
            return 0.0

        self._over_parts(add, g)

    def _over_parts(self, work: Callable[[slice, Arrays], float], g: Floats) -> float:
        """Add up the work on every thread's users; each has gradients of items of its own."""
        GU, GV, Gb = self.split(g)
        if len(self._parts) == 1:
            return work(self._parts[0], (GU, GV, Gb))
        of_part = [(GU, np.zeros_like(GV), np.zeros_like(Gb)) for _ in self._parts]
        with ThreadPoolExecutor(len(self._parts)) as pool:
            total = sum(pool.map(work, self._parts, of_part))
        for _, V, b in of_part:
            GV += V
            Gb += b
        return total

    def _penalties(self, x: Floats, g: Floats) -> float:
        """Return balance and priors, and add their gradients."""
        (U, V, b), (GU, GV, Gb) = self.split(x), self.split(g)
        value = 0.0
        if self.balance:
            B = U.T @ U - V.T @ V
            value += self.balance / 4 * float(np.sum(B**2))
            GU += self.balance * (U @ B)
            GV -= self.balance * (V @ B)
        if self.rho:
            value += self.rho / 2 * float(np.sum(U**2) + np.sum(V**2))
            GU += self.rho * U
            GV += self.rho * V
        Gb += self.rho_bias * b
        return value + self.rho_bias / 2 * float(b @ b)

    # ---- what solvers ask besides ----

    def differences(self, x: Floats) -> Floats:
        """Return the (m,) differences of utilities z."""
        z = np.empty(len(self.data))
        fill_differences(self.triples, self.split(x), self._marker, z)
        return z

    def curvature(self, x: Floats) -> Callable[[Floats], Floats]:
        """Return the product with the Gauss-Newton matrix of the likelihood at x, (1/m) sum g'(z_k) a_k a_k'."""
        weight = self.link.information(self.differences(x)) / self.data.total
        weight *= 1.0 if self.data.counts is None else self.data.counts

        def product(v: Floats) -> Floats:
            found = np.zeros(self.size)
            self._add_gradient(x, weight * self._slopes_along(x, v), found)
            return found

        return product

    def _slopes_along(self, x: Floats, v: Floats) -> Floats:
        """Derivative of every z in the direction v; z is bilinear in U and V, so two evaluations do."""
        (U, V, _), (dU, dV, db) = self.split(x), self.split(v)
        none = np.zeros_like(db)
        return self.differences(self.join(dU, V, none)) + self.differences(self.join(U, dV, db))


def gamma(n_users: int, n_items: int) -> float:
    """Return 2 / (n1 (n2 - 1))."""
    return 2 / (n_users * max(n_items - 1, 1))


def excess_loss(comparisons: Comparisons, z: Floats, link: str) -> float:
    """Return the mean excess loss of these differences of utilities."""
    losses = link_named(link).loss(z, comparisons.outcome)
    return float(np.average(losses, weights=comparisons.counts))

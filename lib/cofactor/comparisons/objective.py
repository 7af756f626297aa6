"""The objective of the preference models and its gradient: links, likelihood, balance of the factors and priors.

    symbol       meaning                                                      shape          equation
    u, i, j      user of a comparison, its left and its right item            (m,) each
    w            outcome in [0, 1], 1 where left was chosen                   (m,)           (1)
    U, V         features of users and of items, Z = [U; V]                   (n1, r), (n2, r)
    b            biases of items, if the model has them                       (n2,)
    z            <U_u, V_i - V_j> + b_i - b_j                                 (m,)           (6)
    g            link: the probability g(z) that the left item is chosen                     (1)
    l            loss -w log g(z) - (1 - w) log(1 - g(z)), excess             (m,)           (8)
    h            slope of the loss, dl/dz                                     (m,)           (9)
    B            U'U - V'V, zero where the factors are balanced               (r, r)         (13)
    gamma        2 / (n1 (n2 - 1)), mean square of z per unit ||X||_F^2                      Sec. 4

The smallest value of the loss over z is subtracted, which gives the divergence of g(z) from w and leaves enough digits
to compare two near-perfect fits. For w = 0 and 1 it is zero. Formula (9) for the slope is 0/0 if g saturates; instead,
every link has its own form, which is stable for any z.

Passes over all comparisons are compiled. Comparisons are processed in blocks that fit into the first-level cache: first
all z of a block, then the link, then the gradient, so that no exponential waits for the sum of another comparison.
`marker` is a tuple of r zeros, whose length is known to the compiler, so it unrolls every loop over the rank. Codes are
unsigned, which saves a test for negative ones. The link works on several comparisons at once (SIMD): exponentials are
polynomials, because those of the C library are not vectorised, branches are selections, and division does not check for
zeros (`error_model`).

Source: Sankagiri, Etesami and Grossglauser, "Recommendations with sparse comparison data: provably fast convergence for
nonconvex matrix factorization", ICML 2025.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from cofactor.comparisons.data import Comparisons
from cofactor.core.checks import check_positive, check_whole
from cofactor.core.errors import CofactorError
from cofactor.core.lazy import njit, numba
from cofactor.core.types import Floats

Pointwise = Callable[[Floats], Floats]
Codes = NDArray[np.uint32]
Arrays = tuple[Floats, Floats, Floats]  # of users, of items, of biases of items (empty where there are none)
Triples = tuple[Codes, Codes, Codes]  # user, left, right
Marker = tuple[int, ...]
Columns = tuple[Any, ...]  # arrays of one length, as the kernels want them

BALANCE = 1 / 40  # lambda / gamma of the paper's simulations
ENOUGH_PER_DEGREE = {True: 15, False: 3}  # comparisons per degree of freedom: choices (True) and exact chances
COMPARISONS_OF_THREADS = 1_000_000  # comparisons from which threads pay
COMPARISONS_PER_BLOCK = 1000  # comparisons per block; a product of as many terms in [1, 2] is below the largest number
SERIES = 0.02  # distance to the best z below which loss and slope are summed as series
LOG2 = 6.93145751953125e-1, 1.42860682030941723212e-6  # in two parts, the first of few digits (Cody and Waite)
PER_LOG2 = 1 / math.log(2)
LOWEST = -708.0  # exponents below give denormal numbers
FACTORIALS = tuple(1 / math.factorial(n) for n in range(13, -1, -1))
FUSED = {"contract"}  # a product and a sum are rounded once
REORDERED = FUSED | {"reassoc", "arcp"}  # sums in any order, no division by constants


# ---- links ----


@dataclass(frozen=True)
class Link:
    """A symmetric link function g, with g(-z) = 1 - g(z).

    Attributes
    ----------
    name : str
    probability, log_probability : functions of z
        g and log g; 1 - g(z) is g(-z).
    hazard : function of z
        g'(z) / g(z), the slope of log g.
    hazard_slope : function of z
        Negative derivative of the hazard, which is positive for a log-concave g.

    >>> LINKS["logistic"].slope([0.0, 800.0, -800.0], [1.0, 1.0, 1.0]).tolist()
    [-0.5, 0.0, -1.0]
    """

    name: str
    probability: Pointwise
    log_probability: Pointwise
    hazard: Pointwise
    hazard_slope: Pointwise

    def loss(self, z: ArrayLike, w: ArrayLike) -> Floats:
        """Return the excess loss, which is 0 if g(z) = w."""
        z, w = np.broadcast_arrays(np.asarray(z, dtype=np.float64), np.asarray(w, dtype=np.float64))
        gap = self.probability(z) - w
        near = np.abs(gap) < np.minimum(w, 1 - w) / 2
        plain = (
            -w * self.log_probability(z)
            - (1 - w) * self.log_probability(-z)
            + special.xlogy(w, w)
            + special.xlogy(1 - w, 1 - w)
        )
        gap, share = np.where(near, gap, 0.0), np.where(near, w, 0.5)
        divergence = -share * np.log1p(gap / share) - (1 - share) * np.log1p(-gap / (1 - share))
        return np.maximum(np.where(near, divergence, plain), 0.0)

    def slope(self, z: ArrayLike, w: ArrayLike) -> Floats:
        """Return h, the derivative of the loss with respect to z; Eq. (9)."""
        z, w = np.asarray(z, dtype=np.float64), np.asarray(w, dtype=np.float64)
        return np.asarray((1 - w) * self.hazard(-z) - w * self.hazard(z))

    def curvature(self, z: ArrayLike, w: ArrayLike) -> Floats:
        """Return the second derivative of the loss with respect to z."""
        z, w = np.asarray(z, dtype=np.float64), np.asarray(w, dtype=np.float64)
        return np.asarray(w * self.hazard_slope(z) + (1 - w) * self.hazard_slope(-z))

    def steepness(self, z: ArrayLike) -> Floats:
        """Return g'(z)."""
        z = np.asarray(z, dtype=np.float64)
        return np.asarray(self.hazard(z) * self.probability(z))

    def information(self, z: ArrayLike) -> Floats:
        """Return g'(z)^2 / (g(z) g(-z)), the Fisher information of a choice about z; g'(z) for the logistic link."""
        z = np.asarray(z, dtype=np.float64)
        return np.asarray(self.hazard(z) * self.hazard(-z))


def _mills(z: Floats) -> Floats:
    """Return phi(z) / Phi(z), which tends to 0 for large z and to -z for large negative z."""
    return np.asarray(np.sqrt(2 / np.pi) / special.erfcx(-z / np.sqrt(2)))


LINKS = {
    "logistic": Link(
        "logistic",
        special.expit,
        special.log_expit,
        lambda z: special.expit(-z),
        lambda z: special.expit(z) * special.expit(-z),
    ),
    "probit": Link("probit", special.ndtr, special.log_ndtr, _mills, lambda z: _mills(z) * (_mills(z) + z)),
}


def link_named(name: str) -> Link:
    """Return the link with this name; raise a CofactorError for unknown names."""
    if not isinstance(name, str) or name not in LINKS:
        raise CofactorError(f"link={name!r}: must be one of {', '.join(map(repr, LINKS))}")
    return LINKS[name]


# ---- the objective ----


class Objective:
    """The function to be minimised over a flat vector x = (U, V, b).

        f(U, V, b) = (1/m) sum_k l(z_k, w_k) + (balance/4) ||U'U - V'V||_F^2
                     + (ridge/2m) (||U||_F^2 + ||V||_F^2) + (bias_ridge/2m) ||b||^2

    with l the excess loss of the link (see `Link`) and m the number of comparisons, including counts.

    Parameters
    ----------
    comparisons : Comparisons
    rank : int >= 0
        r; 0 with a bias is the Bradley-Terry model.
    link : {"logistic", "probit"}
    ridge, bias_ridge : float >= 0
        Inverse variance of a Gaussian prior on every feature, and on every bias.
    balance : float, optional
        lambda of Eq. (14). Default: without a ridge, gamma/40, as in the paper; with a ridge, which balances the
        factors itself, 0.
    item_bias : bool
        Whether the model has item biases b.
    n_threads : int, optional
        Default: 1 below a million comparisons, where threads do not help; above, the number of threads of Numba.

    Cost: O(m r) time per call, O(m + (n1 + n2) r) memory in total; T threads add T n2 r. No n1 x n2 array is formed.
    Source: ICML 2025, Eq. (8), (9), (13), (14). Deviations: the smallest loss is subtracted; ridge and bias are added.

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
            raise CofactorError(
                f"expected Comparisons, got {type(comparisons).__name__}: pass Comparisons(user, left, right, outcome)"
            )
        check_whole(0, rank=rank)
        check_positive(zero=True, ridge=ridge, bias_ridge=bias_ridge)
        if n_threads is not None:
            check_whole(1, n_threads=n_threads)
        self.data, self.rank, self.link, self.item_bias = comparisons, rank, link_named(link), item_bias
        self.rho, self.rho_bias = ridge / comparisons.total, bias_ridge / comparisons.total
        if balance is None:
            balance = 0.0 if ridge else BALANCE * gamma(comparisons.n_users, comparisons.n_items)
        self.balance = balance
        if n_threads is None:
            n_threads = 1 if len(comparisons) < COMPARISONS_OF_THREADS else numba.get_num_threads()
        self.n_threads = n_threads
        self.n_passes = 0
        self.shape = comparisons.n_users, comparisons.n_items, rank  # kept here: a fit asks for them at every step
        data, none = comparisons, np.empty(0)  # from here on: the data as the kernels want them
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

    def with_ridge(self, ridge: float) -> Objective:
        """Return the same objective with a ridge on the features instead of the balance penalty."""
        bias_ridge = self.rho_bias * self.data.total
        return Objective(self.data, self.rank, self.link.name, ridge, bias_ridge, None, self.item_bias, self.n_threads)

    # ---- the vector ----

    @property
    def size(self) -> int:
        """Length of the flat vector x, the number of all features and biases."""
        n1, n2, r = self.shape
        return (n1 + n2) * r + n2 * self.item_bias

    def split(self, x: Floats) -> Arrays:
        """Return U, V and b as views of x; b is empty if there are no biases."""
        n1, n2, r = self.shape
        if len(x) != self.size:
            raise CofactorError(f"x has {len(x)} numbers, but this objective needs {self.size}: use `join`")
        of_users, of_items = n1 * r, (n1 + n2) * r
        return x[:of_users].reshape(n1, r), x[of_users:of_items].reshape(n2, r), x[of_items:]

    def join(self, U: Floats, V: Floats, b: Floats | None = None) -> Floats:
        """Return the flat vector x; biases default to zero."""
        b = np.zeros(self.shape[1] * self.item_bias) if b is None else b
        x = np.concatenate([U.ravel(), V.ravel(), b])
        if x.size != self.size:
            raise CofactorError(
                f"factors of shapes {U.shape} and {V.shape} with {b.size} biases: expected {self.size} numbers"
            )
        return x

    # ---- values ----

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """Return the value f and its gradient."""
        self.n_passes += 1
        g = np.zeros(self.size)
        value = self._likelihood(x, g) / self.data.total
        g /= self.data.total
        return value + self._penalties(x, g), g

    def _likelihood(self, x: Floats, g: Floats) -> float:
        factors = self.split(x)
        if self.link.name == "logistic":

            def logistic(part: slice, G: Arrays) -> float:
                triples: Any = tuple(code[part] for code in self.triples)
                answers: Any = tuple(column[part] for column in self._answers)
                return float(logistic_pass(triples, answers, factors, self._marker, G))

            return self._over_parts(logistic, g) - self._floor
        z, w = self.differences(x), self.data.outcome
        weight = 1.0 if self.data.counts is None else self.data.counts
        self._add_gradient(x, weight * self.link.slope(z, w), g)
        return float(np.sum(weight * self.link.loss(z, w)))

    def _add_gradient(self, x: Floats, h: Floats, g: Floats) -> None:
        """Add the sum of h_k times the gradient of z_k to g."""
        factors = self.split(x)

        def add(part: slice, G: Arrays) -> float:
            triples: Any = tuple(code[part] for code in self.triples)
            add_gradient(triples, factors, self._marker, h[part], G)
            return 0.0

        self._over_parts(add, g)

    def _over_parts(self, work: Callable[[slice, Arrays], float], g: Floats) -> float:
        """Sum the results of `work` over the users of every thread; each thread has its own gradients of items."""
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
        """Return the balance penalty and the priors, and add their gradients to g."""
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

    # ---- further quantities for solvers ----

    def differences(self, x: Floats) -> Floats:
        """Return the (m,) differences in utility z."""
        z = np.empty(len(self.data))
        fill_differences(self.triples, self.split(x), self._marker, z)
        return z

    def curvature(self, x: Floats) -> Callable[[Floats], Floats]:
        """Return the product with the Gauss-Newton matrix of the likelihood at x, (1/m) sum g'(z_k) a_k a_k'."""
        weight = self.link.information(self.differences(x)) / self.data.total
        weight *= 1.0 if self.data.counts is None else self.data.counts
        U, V, none = (*self.split(x)[:2], np.zeros(self.shape[1] * self.item_bias))

        def product(v: Floats) -> Floats:
            dU, dV, db = self.split(v)
            # z is bilinear in U and V, so that two evaluations give its derivative in the direction v
            along = self.differences(self.join(dU, V, none)) + self.differences(self.join(U, dV, db))
            found = np.zeros(self.size)
            self._add_gradient(x, weight * along, found)
            return found

        return product


def gamma(n_users: int, n_items: int) -> float:
    """Return 2 / (n1 (n2 - 1))."""
    return 2 / (n_users * max(n_items - 1, 1))


def excess_loss(comparisons: Comparisons, z: Floats, link: str) -> float:
    """Return the mean excess loss of the differences in utility z."""
    losses = link_named(link).loss(z, comparisons.outcome)
    return float(np.average(losses, weights=comparisons.counts))


def degrees_of_freedom(n_users: int, n_items: int, rank: int) -> int:
    """Return (n1 + n2 - 1) r - r^2, the degrees of freedom of U and V without shift and change of basis.

    >>> degrees_of_freedom(200, 300, 3)
    1488
    """
    check_whole(1, n_users=n_users, n_items=n_items, rank=rank)
    if not rank < min(n_users, n_items):
        raise CofactorError(f"rank={rank}: choose 1 to {min(n_users, n_items) - 1} features")
    return (n_users + n_items - 1) * rank - rank**2


# ---- passes over all comparisons, compiled ----


@njit(cache=True, nogil=True, fastmath=FUSED)
def _gather(triples: Triples, factors: Arrays, marker: Marker, start: int, z: Floats, D: Floats) -> None:
    """Compute z[k] = <U_u, V_i - V_j> + b_i - b_j for one block, and D[k] = V_i - V_j for the gradient."""
    (user, left, right), (U, V, b) = triples, factors
    for k in range(len(z)):
        u, i, j = user[start + k], left[start + k], right[start + k]
        total = 0.0
        for a in range(len(marker)):
            D[k, a] = V[i, a] - V[j, a]
            total += U[u, a] * D[k, a]
        z[k] = total
    if len(b):
        for k in range(len(z)):
            z[k] += b[left[start + k]] - b[right[start + k]]


@njit(cache=True, nogil=True, fastmath=FUSED)
def _scatter(triples: Triples, U: Floats, marker: Marker, start: int, h: Floats, D: Floats, G: Arrays) -> None:
    """Add h_k times the gradient of z_k to G for one block."""
    (user, left, right), (GU, GV, Gb) = triples, G
    for k in range(len(h)):
        u, i, j = user[start + k], left[start + k], right[start + k]
        for a in range(len(marker)):
            step = h[k] * U[u, a]
            GU[u, a] += h[k] * D[k, a]
            GV[i, a] += step
            GV[j, a] -= step
    if len(Gb):
        for k in range(len(h)):
            Gb[left[start + k]] += h[k]
            Gb[right[start + k]] -= h[k]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FUSED)
def _exponentials(z: Floats, e: Floats, power: NDArray[np.int64]) -> None:
    """Compute e[k] = exp(-|z[k]|) to one unit in the last place: 2^n times a Taylor series of the remainder."""
    for k in range(len(z)):
        x = max(-abs(z[k]), LOWEST)
        n = np.floor(x * PER_LOG2 + 0.5)
        rest = (x - n * LOG2[0]) - n * LOG2[1]
        e[k] = 0.0
        for m in range(len(FACTORIALS)):
            e[k] = e[k] * rest + FACTORIALS[m]
        power[k] = (np.int64(n) + 1023) << 52  # the bits of 2^n
    scale = power.view(np.float64)
    for k in range(len(z)):
        e[k] *= scale[k]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _logistic_choices(z: Floats, w: Floats, e: Floats) -> float:
    """Replace z by slopes in place and return the sum of losses, with a single logarithm per block."""
    total, product = 0.0, 1.0
    for k in range(len(z)):
        product *= 1.0 + e[k]
        total += max(z[k], 0.0) - w[k] * z[k]
        z[k] = (1.0 if z[k] >= 0 else e[k]) / (1.0 + e[k]) - w[k]
    return total + np.log(product)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)
def _logistic_chances(z: Floats, w: Floats, e: Floats, target: Floats, entropy: Floats, excess: Floats) -> float:
    """Like `_logistic_choices` for the excess loss; near the target z*, a series avoids cancellation.

    With d = z - z* and q = w(1 - w), the excess is the cumulant generating function of w minus its mean,
    q d^2/2 + q(1 - 2w) d^3/6 + q(1 - 6q) d^4/24 + ...
    """
    for k in range(len(z)):
        d = z[k] - target[k]
        q, s = w[k] * (1 - w[k]), 1 - 2 * w[k]
        c4, c5, c6 = 1 - 6 * q, s * (1 - 12 * q), 1 - 30 * q + 120 * q * q
        series = q * d * d * (0.5 + d * (s / 6 + d * (c4 / 24 + d * (c5 / 120 + d * c6 / 720))))
        series_slope = q * d * (1 + d * (s / 2 + d * (c4 / 6 + d * (c5 / 24 + d * c6 / 120))))
        plain = max(z[k], 0.0) - w[k] * z[k] - entropy[k]  # log(1 + e) is still to come
        plain_slope = (1.0 if z[k] >= 0 else e[k]) / (1.0 + e[k]) - w[k]
        near = abs(d) < SERIES
        excess[k] = series if near else plain
        z[k] = series_slope if near else plain_slope
        e[k] = 0.0 if near else e[k]
    total, product = 0.0, 1.0
    for k in range(len(z)):
        total += excess[k]
        product *= 1.0 + e[k]
    return total + np.log(product)


@njit(cache=True, nogil=True, error_model="numpy")
def _logistic_counted(z: Floats, w: Floats, e: Floats, weight: Floats) -> float:
    """Replace z by weighted slopes in place and return the weighted sum of losses."""
    total = 0.0
    for k in range(len(z)):
        total += weight[k] * (np.log1p(e[k]) + max(z[k], 0.0) - w[k] * z[k])
        z[k] = weight[k] * ((1.0 if z[k] >= 0 else e[k]) / (1.0 + e[k]) - w[k])
    return total


@njit(cache=True, nogil=True)
def logistic_pass(
    triples: Triples,
    answers: tuple[Floats, Floats, Floats, Floats],
    factors: Arrays,
    marker: Marker,
    G: Arrays,
) -> float:
    """Return the sum of logistic losses, and add its gradient to G.

    `answers` contains outcomes, weights, targets z* and entropies. Weights are empty if all are one; targets and
    entropies are empty for choices, whose plain loss is summed.
    """
    (w, weight, target, entropy), total = answers, 0.0
    block, D, power = (
        np.empty((3, COMPARISONS_PER_BLOCK)),
        np.empty((COMPARISONS_PER_BLOCK, len(marker))),
        np.empty(COMPARISONS_PER_BLOCK, dtype=np.int64),
    )
    for start in range(0, len(w), COMPARISONS_PER_BLOCK):
        end = min(start + COMPARISONS_PER_BLOCK, len(w))
        z, e = block[0, : end - start], block[1, : end - start]
        _gather(triples, factors, marker, start, z, D)
        _exponentials(z, e, power)
        if len(weight):
            total += _logistic_counted(z, w[start:end], e, weight[start:end])
        elif len(target):
            total += _logistic_chances(z, w[start:end], e, target[start:end], entropy[start:end], block[2])
        else:
            total += _logistic_choices(z, w[start:end], e)
        _scatter(triples, factors[0], marker, start, z, D, G)
    return total


@njit(cache=True, nogil=True)
def fill_differences(triples: Triples, factors: Arrays, marker: Marker, z: Floats) -> None:
    """Write the (m,) differences in utility into z."""
    D = np.empty((COMPARISONS_PER_BLOCK, len(marker)))
    for start in range(0, len(z), COMPARISONS_PER_BLOCK):
        _gather(triples, factors, marker, start, z[start : start + COMPARISONS_PER_BLOCK], D)


@njit(cache=True, nogil=True)
def add_gradient(triples: Triples, factors: Arrays, marker: Marker, h: Floats, G: Arrays) -> None:
    """Add the sum over comparisons of h_k times the gradient of z_k to G."""
    block, D = np.empty(COMPARISONS_PER_BLOCK), np.empty((COMPARISONS_PER_BLOCK, len(marker)))
    for start in range(0, len(h), COMPARISONS_PER_BLOCK):
        of_block = h[start : start + COMPARISONS_PER_BLOCK]
        _gather(triples, factors, marker, start, block[: len(of_block)], D)
        _scatter(triples, factors[0], marker, start, of_block, D, G)

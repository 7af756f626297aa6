"""The recipes of the comparisons' paper: Algorithm 1 with its projections, Adam; and ratings in place of comparisons.

    symbol   meaning                                              equation
    Z        [U; V], features of users and of items
    mu       incoherence of Z                                     (10)
    beta     longest row allowed                                  (20)
    M, S     running means of a gradient and of its square

Sources: Sankagiri, Etesami and Grossglauser, ICML 2025, Algorithm 1 and Appendix F; Kingma and Ba, ICLR 2015.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cofactor.comparisons import Comparisons, Objective, PreferenceModel, gradient_descent, spectral_start
from cofactor.comparisons.objective import Arrays, Codes
from cofactor.comparisons.solvers import Callback, checked_start, project_to_centred
from cofactor.core.checks import check_positive, check_whole
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.estimator import History, Result
from cofactor.core.lazy import njit
from cofactor.core.types import Floats, Ints, Seed
from cofactor.pmf.ratings import biased_factors

Singles = NDArray[np.float32]
Triples = tuple[Codes, Codes, Codes]

DECAY = 0.9, 0.999  # of the running means of Adam
TINY = 1e-8
PRINTED_BALANCE = 0.04  # c = 0.01 of the text, times four: some 120,000 gamma, and 1e5 times as stiff as the likelihood

# ---- projected gradient descent ----


def project_to_incoherent(Z: Floats, radius: float) -> Floats:
    """Shorten rows longer than `radius` to that length: P_C of Eq. (20).

    >>> project_to_incoherent(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0).round(1).tolist()
    [[0.6, 0.8], [0.3, 0.4]]
    """
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.asarray(Z * np.where(length > radius, radius / np.maximum(length, np.finfo(float).tiny), 1.0))


def incoherence(U: Floats, V: Floats) -> float:
    """Return mu = n max_j ||Z_j||^2 / ||Z||_F^2 of Z = [U; V], n its number of rows; Eq. (10).

    Never below n / (2 min(n1, n2)) for balanced factors, 1.25 for 200 users and 300 items; the paper says 1.01 there.
    """
    squares = np.concatenate([np.sum(U**2, axis=1), np.sum(V**2, axis=1)])
    return float(len(squares) * squares.max() / squares.sum())


def projected_gradient_descent(
    objective: Objective, start: Floats, *settings: Any, mu: float | None = None, **named: Any
) -> tuple[Floats, Result]:
    """Minimise as Algorithm 1: Z = P_H(P_C(Z - eta grad f(Z))); other parameters as of `gradient_descent`.

    P_H centres items, which changes nothing once they are. P_C is applied where mu is given, with
    beta = (4/3) sqrt(mu / n) ||Z||_F, Z the start; too small a mu biases the solution, and a DataWarning names the rows
    that end on the boundary.
    """
    radius = None
    if mu is not None:
        check_positive(mu=mu)
        U, V, _ = objective.split(checked_start(objective, start))
        radius = float(4 / 3 * np.sqrt(mu / (len(U) + len(V)) * (np.sum(U**2) + np.sum(V**2))))
    projection = partial(_project, objective, radius)
    descend: Callable[..., tuple[Floats, Result]] = partial(gradient_descent, projection=projection)
    x, result = descend(objective, start, *settings, **named)
    if radius is not None:
        _warn_of_boundary(objective, x, radius)
    return x, result


def _project(objective: Objective, radius: float | None, x: Floats) -> Floats:
    U, V, b = objective.split(x)
    if radius is not None:
        U, V = project_to_incoherent(U, radius), project_to_incoherent(V, radius)
    return objective.join(U, project_to_centred(V), b - b.mean() if b.size else b)


def _warn_of_boundary(objective: Objective, x: Floats, radius: float) -> None:
    U, V, _ = objective.split(x)
    clipped = np.flatnonzero(np.linalg.norm(np.vstack([U, V]), axis=1) >= 0.999 * radius)
    if clipped.size:
        message = (
            f"{clipped.size} rows of [U; V] lie on the boundary of the incoherent matrices, which biases the solution: "
            f"{listing(clipped.tolist())}; take a larger mu, or none"
        )
        warnings.warn(message, DataWarning, stacklevel=3)


@dataclass(eq=False, repr=False)
class ProjectedGradientDescent(PreferenceModel):
    """The paper's model, without ridge and biases, by Algorithm 1 from a spectral start.

    Cost: O(m r) per step. Source: ICML 2025, Algorithm 1; deviations: start and step.
    """

    rank: int = 3
    mu: float | None = None
    learning_rate: float | None = None
    max_iter: int = 2000
    tol: float = 1e-8
    random_state: Seed = None
    verbose: bool = False

    def _estimate(self, comparisons: Comparisons) -> tuple[Arrays, Result]:
        objective = Objective(comparisons, self.rank)
        start = objective.join(*spectral_start(comparisons, self.rank, random_state=self.random_state))
        settings = self.max_iter, self.tol, None, self.verbose, self.learning_rate
        x, result = projected_gradient_descent(objective, start, *settings, mu=self.mu)
        return objective.split(x), result


# ---- Adam ----


@dataclass(eq=False, repr=False)
class Adam(PreferenceModel):
    """The model of Figure 2 as released: Adam on mini-batches from Glorot's uniform start, without ridge and biases.

    Cost: O(m r + (m / batch)(n1 + n2) r^2) time per pass. Source: ICML 2025, Appendix F.
    """

    rank: int = 3
    balance: float = PRINTED_BALANCE
    learning_rate: float = 1e-3
    batch: int = 100
    max_iter: int = 300
    random_state: Seed = None
    verbose: bool = False

    def _estimate(self, comparisons: Comparisons) -> tuple[Arrays, Result]:
        objective = Objective(comparisons, self.rank, balance=self.balance)
        rng = np.random.default_rng(self.random_state)
        settings = self.max_iter, self.batch, self.learning_rate
        x, result = adam(objective, glorot_start(objective, rng), *settings, random_state=rng, verbose=self.verbose)
        return objective.split(x), result


def glorot_start(objective: Objective, rng: np.random.Generator) -> Floats:
    """Draw users' and items' features uniformly up to sqrt(6 / (rows + r))."""
    r, sizes = objective.rank, (objective.data.n_users, objective.data.n_items)
    U, V = (rng.uniform(-np.sqrt(6 / (n + r)), np.sqrt(6 / (n + r)), (n, r)) for n in sizes)
    return objective.join(U, V)


def adam(
    objective: Objective,
    start: Floats,
    max_iter: int = 300,
    batch: int = 100,
    learning_rate: float = 1e-3,
    callback: Callback | None = None,
    random_state: Seed = None,
    verbose: bool = False,
) -> tuple[Floats, Result]:
    """Minimise by Adam on mini-batches, every variable moved at every step, in 32 bits as released.

    Parameters
    ----------
    objective : Objective, logistic, without biases and counts
        Penalties count in full in every batch.
    start : flat array
    max_iter, batch : int
        Passes over the data, reshuffled for each; comparisons per step.
    learning_rate : float
        The error levels off at a floor in proportion to it.
    callback : function of x after every pass, optional
    random_state, verbose

    Returns
    -------
    x, result : `objective` holds the mean loss of every pass's batches; there is no stopping rule

    Raises
    ------
    CofactorError
        Another link, counted comparisons, biases, or settings that are not positive.

    Cost
    ----
    O(m r + (m / batch)(n1 + n2) r^2) time per pass.
    """
    if objective.link.name != "logistic" or objective.data.counts is not None or objective.item_bias:
        raise CofactorError("adam supports only the logistic link, without counts and biases: use lbfgs")
    check_whole(1, max_iter=max_iter, batch=batch)
    check_positive(learning_rate=learning_rate)
    rng, (U, V, _) = np.random.default_rng(random_state), objective.split(checked_start(objective, start))
    state = np.zeros((4, objective.rank, len(U) + len(V)), dtype=np.float32)  # variables, gradient, means M and S
    state[0] = np.vstack([U, V]).T
    penalties = np.array([objective.balance, objective.rho], dtype=np.float32)
    outcome, n_steps = objective.data.outcome.astype(np.float32), 0
    history = History("Adam", max_iter, -np.inf, verbose)
    for _ in history:
        order = rng.permutation(len(outcome))
        triples: Any = tuple(code[order] for code in objective.triples)
        total, n_steps = _epoch(triples, outcome[order], batch, learning_rate, n_steps, len(U), penalties, state)
        history.record(total / len(outcome), np.inf)
        if callback is not None:
            callback(state[0].T.ravel().astype(np.float64))
    result = Result(np.array(history.objective), max_iter, True, f"{max_iter} passes, as asked for")
    return state[0].T.ravel().astype(np.float64), result


@njit(cache=True, error_model="numpy")
def _epoch(
    triples: Triples,
    w: Singles,
    batch: int,
    rate: float,
    n_steps: int,
    n_users: int,
    penalties: Singles,
    state: Singles,
) -> tuple[float, int]:
    """Take one step per batch in place; return the sum of losses and the number of steps so far."""
    total = 0.0
    for start in range(0, len(w), batch):
        _penalty_gradient(penalties, n_users, state)
        total += _batch_gradient(triples, w, start, min(start + batch, len(w)), n_users, state)
        n_steps += 1
        _step(state, rate, n_steps)
    return total, n_steps


@njit(cache=True, error_model="numpy")
def _step(state: Singles, rate: float, n_steps: int) -> None:
    """Subtract rate (M / first) / (sqrt(S / second) + TINY) from x, with one root and one division each."""
    first, second = 1 - DECAY[0] ** n_steps, 1 - DECAY[1] ** n_steps
    step, tiny = np.float32(rate * np.sqrt(second) / first), np.float32(TINY * np.sqrt(second))
    keep_m, add_m = np.float32(DECAY[0]), np.float32(1 - DECAY[0])
    keep_s, add_s = np.float32(DECAY[1]), np.float32(1 - DECAY[1])
    for a in range(state.shape[1]):
        x, g, M, S = state[0, a], state[1, a], state[2, a], state[3, a]
        for k in range(len(x)):
            M[k] = keep_m * M[k] + add_m * g[k]
            S[k] = keep_s * S[k] + add_s * g[k] * g[k]
            x[k] -= step * M[k] / (np.sqrt(S[k]) + tiny)


@njit(cache=True)
def _penalty_gradient(penalties: Singles, n_users: int, state: Singles) -> None:
    """Set the gradient to that of the penalties."""
    Z, G, (balance, rho) = state[0], state[1], penalties
    rank = len(Z)
    pull = np.zeros((rank, rank), dtype=np.float32)
    for a in range(rank):
        for c in range(a + 1):
            gap = np.dot(Z[a][:n_users], Z[c][:n_users]) - np.dot(Z[a][n_users:], Z[c][n_users:])  # of U'U - V'V
            pull[a, c] = pull[c, a] = balance * gap
    for a in range(rank):
        g, x = G[a], Z[a]
        for k in range(len(g)):
            g[k] = rho * x[k]
        for c in range(rank):
            _add_scaled(G[a][:n_users], pull[a, c], Z[c][:n_users])
            _add_scaled(G[a][n_users:], -pull[a, c], Z[c][n_users:])


@njit(cache=True)
def _add_scaled(g: Singles, by: float, x: Singles) -> None:
    for k in range(len(g)):
        g[k] += by * x[k]


@njit(cache=True, error_model="numpy")
def _batch_gradient(triples: Triples, w: Singles, start: int, end: int, n_users: int, state: Singles) -> float:
    """Add the gradient of the batch's mean loss; return the sum of its losses."""
    (user, left, right), Z, G, total = triples, state[0], state[1], 0.0
    for k in range(start, end):
        u, i, j = user[k], n_users + left[k], n_users + right[k]
        z = np.float32(0.0)
        for a in range(len(Z)):
            z += Z[a, u] * (Z[a, i] - Z[a, j])
        e = np.exp(-abs(z))
        total += np.log1p(e) + max(z, 0.0) - w[k] * z
        h = ((np.float32(1.0) if z >= 0 else e) / (np.float32(1.0) + e) - w[k]) / np.float32(end - start)
        for a in range(len(Z)):
            own = Z[a, u]
            G[a, u] += h * (Z[a, i] - Z[a, j])
            G[a, i] += h * own
            G[a, j] -= h * own
    return total


# ---- ratings ----


@dataclass(frozen=True)
class Ratings:
    """Ratings of items by users, as (E,) codes from 0 and numbers; `sizes`: how many users and items there are."""

    user: Ints
    item: Ints
    rating: Floats
    sizes: tuple[int, int]


@dataclass(eq=False, repr=False)
class RatingMF(PreferenceModel):
    """Orders items by predicted ratings, level + a_u + b_i + <A_u, B_i>: what ratings tell beyond comparisons of them.

    `fit` takes `Ratings`. Orders only; no chances. Rank zero is the mean rating of an item, biases of users taken off.
    `ridge` is that of features, `bias_ridge` that of biases. Cost and source: `cofactor.pmf.ratings`.

    >>> data = Ratings(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2]), np.array([5.0, 3, 4, 1]), (2, 3))
    >>> RatingMF(rank=0, bias_ridge=1.0).fit(data).recommend(user=1, k=3)
    [0, 1, 2]
    """

    link = ""

    rank: int = 5
    ridge: float = 10.0
    bias_ridge: float = 5.0
    random_state: Seed = None
    verbose: bool = False

    def fit(self, comparisons: Any) -> Self:
        """Learn from ratings; returns self. A CofactorError where these are no `Ratings`."""
        data = comparisons
        if not isinstance(data, Ratings):
            raise CofactorError(f"expected Ratings, got {type(data).__name__}: Ratings(user, item, rating, sizes)")
        check_whole(0, rank=self.rank)
        check_positive(ridge=self.ridge, bias_ridge=self.bias_ridge)
        n_users, n_items = data.sizes
        pulls = np.full(n_users, self.bias_ridge), np.full(n_items, self.bias_ridge)
        settings: dict[str, Any] = {"random_state": self.random_state, "verbose": self.verbose}
        found = biased_factors(data.user, data.item, data.rating, self.rank, self.ridge, pulls, **settings)
        self.users_, self.items_ = range(n_users), range(n_items)
        seen = [np.bincount(code, minlength=n) > 0 for code, n in ((data.user, n_users), (data.item, n_items))]
        self.unseen_users_, self.unseen_items_ = (np.flatnonzero(~met).tolist() for met in seen)
        self.components_ = np.where(seen[1], 0, -1).astype(np.int32)
        self.user_factors_, self.item_factors_ = found.A * seen[0][:, None], found.B * seen[1][:, None]
        self.item_bias_, self.result_ = found.b, found.result
        return self


COMPARISONS: dict[str, type[PreferenceModel]] = {
    "ProjectedGradientDescent": ProjectedGradientDescent,
    "Adam": Adam,
    "RatingMF": RatingMF,
}

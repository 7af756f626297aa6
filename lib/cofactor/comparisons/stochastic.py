"""Solvers that look at a few comparisons at a time: Adam on mini-batches, and normalised stochastic gradient descent.

    symbol   meaning                                              equation
    x        the flat vector (U, V, b)
    g        gradient on one batch
    M, S     running means of g and of g^2
    p, w     chance of left under the model, and its outcome      (1)

Logistic link only. Sources: Kingma and Ba, ICLR 2015; Sankagiri, Etesami and Grossglauser, ICML 2025, Appendix F.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cofactor.comparisons.kernels import Codes, Marker
from cofactor.comparisons.loss import Objective
from cofactor.comparisons.solvers import Callback, checked_start
from cofactor.core.checks import check_positive, check_whole
from cofactor.core.errors import CofactorError, ConvergenceWarning
from cofactor.core.result import Result
from cofactor.core.types import Floats

Singles = NDArray[np.float32]
Triples = tuple[Codes, Codes, Codes]
Moments = tuple[Singles, Singles, Singles, Singles]  # variables, their gradient, its running means M and S

DECAY = 0.9, 0.999  # of the running means of Adam
TINY = 1e-8
DIVERGED = 0.2  # mean (p - w)^2 that only runaway features reach: chance gives at most 0.25
EXACT = 1e-26  # mean (p - w)^2 at which exact outcomes are reproduced
EPOCHS_FLAT = 10


def adam(
    objective: Objective,
    start: Floats,
    epochs: int = 300,
    batch: int = 100,
    rate: float = 1e-3,
    decay: Literal["constant", "cosine"] = "constant",
    callback: Callback | None = None,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Floats, Result]:
    """Minimise by Adam on mini-batches, every variable moved at every step.

    Parameters
    ----------
    objective : Objective, logistic
        Penalties count in full in every batch.
    start : flat array
    epochs, batch : int
        Passes over the data, reshuffled for each; comparisons per step.
    rate : float
        Step size. The error levels off at a floor in proportion to it.
    decay : {"constant", "cosine"}
        Cosine lets the rate fall to zero over the epochs, and with it the floor.
    callback : function of x after every epoch, optional
    random_state : int, Generator or None

    Returns
    -------
    x, result : `objective` holds the mean loss of every epoch's batches; there is no stopping rule

    Raises
    ------
    CofactorError
        Another link, counted comparisons, or settings that are not positive.

    Cost
    ----
    O(m r + (m / batch)(n1 + n2) r^2) time per epoch.

    Source
    ------
    ICML 2025, Appendix F: batch 100, rate 1e-3, 300 epochs and c = 0.01 in the released code, which is
    `Objective(balance=0.04)`, some 120,000 gamma, and 1e5 times as stiff as the likelihood. 32 bits, as there.

    Examples
    --------
    >>> from cofactor.comparisons.data import Comparisons
    >>> data = Objective(Comparisons([0, 0], [0, 1], [1, 2], [1, 1]), rank=0, item_bias=True)
    >>> x, _ = adam(data, np.zeros(3), epochs=50, batch=2, rate=0.1, random_state=0)
    >>> bool(x[0] > x[1] > x[2])
    True
    """
    _check(objective, epochs, batch, rate)
    if decay not in ("constant", "cosine"):
        raise CofactorError(f"decay={decay!r}: choose 'constant' or 'cosine'")
    rng, x, losses = np.random.default_rng(random_state), checked_start(objective, start), list[float]()
    state, n_steps = _State(objective, x), 0
    outcome = objective.data.outcome.astype(np.float32)
    for epoch in range(epochs):
        now = rate * (0.5 + 0.5 * np.cos(np.pi * epoch / epochs)) if decay == "cosine" else rate
        order = rng.permutation(len(outcome))
        triples: Any = tuple(code[order] for code in objective.triples)
        total, n_steps = _adam_epoch(triples, outcome[order], batch, now, n_steps, (0,) * objective.rank, *state.parts)
        losses.append(total / len(outcome))
        if callback is not None:
            callback(state.vector())
    return state.vector(), Result(np.array(losses), epochs, True, f"{epochs} epochs, as asked for")


class _State:
    """Variables of Adam in 32 bits, one row per feature, users first; and the two running means of each."""

    def __init__(self, objective: Objective, x: Floats) -> None:
        U, V, b = objective.split(x)
        self.Z, self.b = np.vstack([U, V]).T.astype(np.float32, order="C"), b.astype(np.float32)
        penalties = np.array([objective.balance, objective.rho, objective.rho_bias], dtype=np.float32)
        self.parts = len(U), penalties, _with_moments(self.Z), _with_moments(self.b)

    def vector(self) -> Floats:
        """Return x."""
        return np.concatenate([self.Z.T.ravel(), self.b]).astype(np.float64)


def _with_moments(x: Singles) -> Moments:
    return x, np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)


@njit(cache=True, error_model="numpy")
def _adam_epoch(
    triples: Triples,
    w: Singles,
    batch: int,
    rate: float,
    n_steps: int,
    marker: Marker,
    n_users: int,
    penalties: Singles,
    features: Moments,
    biases: Moments,
) -> tuple[float, int]:
    """Take one step per batch in place; return the sum of losses and the number of steps so far."""
    total = 0.0
    for start in range(0, len(w), batch):
        end = min(start + batch, len(w))
        _penalty_gradient(penalties, n_users, marker, features, biases)
        total += _batch_gradient(triples, w, start, end, n_users, marker, features, biases)
        n_steps += 1
        for a in range(len(marker)):
            _adam_step(features[0][a], features[1][a], features[2][a], features[3][a], rate, n_steps)
        _adam_step(*biases, rate, n_steps)
    return total, n_steps


@njit(cache=True, error_model="numpy")
def _adam_step(x: Singles, g: Singles, M: Singles, S: Singles, rate: float, n_steps: int) -> None:
    """Subtract rate (M / first) / (sqrt(S / second) + TINY) from x, with one root and one division each."""
    first, second = 1 - DECAY[0] ** n_steps, 1 - DECAY[1] ** n_steps
    step, tiny = np.float32(rate * np.sqrt(second) / first), np.float32(TINY * np.sqrt(second))
    keep_m, add_m = np.float32(DECAY[0]), np.float32(1 - DECAY[0])
    keep_s, add_s = np.float32(DECAY[1]), np.float32(1 - DECAY[1])
    for k in range(len(x)):
        M[k] = keep_m * M[k] + add_m * g[k]
        S[k] = keep_s * S[k] + add_s * g[k] * g[k]
        x[k] -= step * M[k] / (np.sqrt(S[k]) + tiny)


@njit(cache=True)
def _penalty_gradient(penalties: Singles, n_users: int, marker: Marker, features: Moments, biases: Moments) -> None:
    """Set the gradients to those of the penalties."""
    (Z, G), (b, Gb), (balance, rho, rho_bias) = features[:2], biases[:2], penalties
    pull = np.zeros((len(marker), len(marker)), dtype=np.float32)
    for a in range(len(marker)):
        for c in range(a + 1):
            gap = np.dot(Z[a][:n_users], Z[c][:n_users]) - np.dot(Z[a][n_users:], Z[c][n_users:])  # of U'U - V'V
            pull[a, c] = pull[c, a] = balance * gap
    for a in range(len(marker)):
        _set_scaled(G[a], rho, Z[a])
        for c in range(len(marker)):
            _add_scaled(G[a][:n_users], pull[a, c], Z[c][:n_users])
            _add_scaled(G[a][n_users:], -pull[a, c], Z[c][n_users:])
    _set_scaled(Gb, rho_bias, b)


@njit(cache=True)
def _set_scaled(g: Singles, by: float, x: Singles) -> None:
    for k in range(len(g)):
        g[k] = by * x[k]


@njit(cache=True)
def _add_scaled(g: Singles, by: float, x: Singles) -> None:
    for k in range(len(g)):
        g[k] += by * x[k]


@njit(cache=True, error_model="numpy")
def _batch_gradient(
    triples: Triples,
    w: Singles,
    start: int,
    end: int,
    n_users: int,
    marker: Marker,
    features: Moments,
    biases: Moments,
) -> float:
    """Add the gradient of the batch's mean loss; return the sum of its losses."""
    (user, left, right), (Z, G), (b, Gb), total = triples, features[:2], biases[:2], 0.0
    for k in range(start, end):
        u, i, j = user[k], left[k], right[k]
        z = b[i] - b[j] if len(b) else np.float32(0.0)
        for a in range(len(marker)):
            z += Z[a, u] * (Z[a, n_users + i] - Z[a, n_users + j])
        e = np.exp(-abs(z))
        total += np.log1p(e) + max(z, 0.0) - w[k] * z
        h = ((np.float32(1.0) if z >= 0 else e) / (np.float32(1.0) + e) - w[k]) / np.float32(end - start)
        for a in range(len(marker)):
            own = Z[a, u]
            G[a, u] += h * (Z[a, n_users + i] - Z[a, n_users + j])
            G[a, n_users + i] += h * own
            G[a, n_users + j] -= h * own
        if len(b):
            Gb[i] += h
            Gb[j] -= h
    return total


def normalised_sgd(
    objective: Objective,
    start: Floats,
    epochs: int = 300,
    size: float = 1.0,
    callback: Callback | None = None,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Floats, Result]:
    """Reproduce exact outcomes, one comparison at a time, each step scaled by its own curvature.

        step = size (p - w) / (g'(0) max(||V_i - V_j||^2 + 2 ||U_u||^2, floor))
        U_u = U_u - step (V_i - V_j),   V_i = V_i - step U_u,   V_j = V_j + step U_u

    Parameters
    ----------
    objective : Objective, logistic, exact outcomes
        Its data only: there are no penalties, and biases are not moved.
    start : flat array
        Its features set the floor. A small random one serves as well as the spectral one.
    epochs : int
        Most passes over the data, reshuffled for each.
    size : float
        Halved, from the start again, where features run away.
    callback : function of x after every epoch, optional
    random_state : int, Generator or None

    Returns
    -------
    x, result : `objective` holds the mean of (p - w)^2 over every epoch

    Raises
    ------
    CofactorError
        Another link; choices instead of chances, for which a constant step does not converge.

    Cost
    ----
    O(m r) time per epoch, one comparison after the other.

    Source
    ------
    Not in the paper. With exact outcomes every gradient vanishes at the solution, so that a constant step converges
    linearly; Adam's normalisation by running means destroys that.
    """
    _check(objective, epochs, 1, size)
    if objective.data.noisy:
        raise CofactorError("normalised SGD needs exact chances as outcomes: for choices use lbfgs")
    start = checked_start(objective, start)
    U, V, _ = objective.split(start)
    data = objective.data
    floor = 2 * (1 / data.n_users + 1 / data.n_items) * float(np.linalg.norm(U) * np.linalg.norm(V))
    if not floor:
        raise CofactorError("features that are all zero set no floor and have no gradient: start elsewhere")
    while size > TINY:
        rng, x, gaps = np.random.default_rng(random_state), start.copy(), list[float]()
        U, V, _ = objective.split(x)
        while len(gaps) < epochs and not _settled(gaps):
            order, marker = rng.permutation(len(data)), (0,) * objective.rank
            gaps.append(_sgd_epoch(objective.triples, data.outcome, order, U, V, marker, size, floor) / len(data))
            if not gaps[-1] < DIVERGED:
                break
            if callback is not None:
                callback(x)
        if gaps[-1] < DIVERGED:
            return x, _sgd_result(gaps, epochs)
        size /= 2
    raise CofactorError("normalised SGD ran away at every step size: take another start, or another solver")


def _settled(gaps: list[float]) -> bool:
    """Exact, or no better than ten epochs ago."""
    flat = len(gaps) > EPOCHS_FLAT and gaps[-1] > 0.999 * gaps[-1 - EPOCHS_FLAT]
    return bool(gaps) and (gaps[-1] < EXACT or flat)


def _sgd_result(gaps: list[float], epochs: int) -> Result:
    converged = gaps[-1] < EXACT
    reason = f"mean squared gap {gaps[-1]:.2g} after {len(gaps)} epochs"
    if not converged:
        warnings.warn(f"normalised SGD: {reason}", ConvergenceWarning, stacklevel=3)
    return Result(np.array(gaps), len(gaps), converged, reason)


@njit(cache=True)
def _sgd_epoch(
    triples: Triples,
    w: Floats,
    order: NDArray[np.intp],
    U: Floats,
    V: Floats,
    marker: Marker,
    size: float,
    floor: float,
) -> float:
    """Move U and V in place, comparison after comparison; return the sum of (p - w)^2 met on the way."""
    (user, left, right), total = triples, 0.0
    for k in order:
        u, i, j = user[k], left[k], right[k]
        z, square = 0.0, 0.0
        for a in range(len(marker)):
            d = V[i, a] - V[j, a]
            z += U[u, a] * d
            square += d * d + 2 * U[u, a] * U[u, a]
        gap = 1 / (1 + np.exp(-z)) - w[k]
        total += gap * gap
        step = 4 * size * gap / max(square, floor)
        for a in range(len(marker)):
            d, own = V[i, a] - V[j, a], U[u, a]
            U[u, a] -= step * d
            V[i, a] -= step * own
            V[j, a] += step * own
    return total


def _check(objective: Objective, epochs: int, batch: int, rate: float) -> None:
    if objective.link.name != "logistic" or objective.data.counts is not None:
        raise CofactorError("stochastic solvers know the logistic link without counts: use lbfgs or bb")
    check_whole(1, epochs=epochs, batch=batch)
    check_positive(rate=rate)

"""What notebook 06 computes: a map of tastes, curvature at the truth, descents, too few comparisons, dishes held out.

symbol   meaning                                                         shape
U, V     features of users and of items                                  (n1, r), (n2, r)
x        the flat vector (U, V)
sigma_1  largest singular value of U V'
eta      step; one over sigma_1 / (n1 (n2 - 1)), the curvature, by default
dof      (n1 + n2 - 1) r - r^2, numbers that comparisons can tell
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from cofactor import simulate
from cofactor.comparisons import (
    ComparisonMF,
    Comparisons,
    Objective,
    PreferenceModel,
    barzilai_borwein,
    expected_error,
    pair_accuracy,
    random_start,
    spectral_start,
    utility_error,
)
from cofactor.comparisons.planner import degrees_of_freedom
from cofactor.core.errors import CofactorError, ConvergenceWarning
from cofactor.core.types import Floats

USERS, ITEMS = 60, 80  # of the small problem that panels and pictures use
RUNAWAY = 1e3  # a loss this many times the first ends a descent
EXACT = 0  # answers per comparison that stand for endless ones
STARTS = {"spectral": 0.0, "small random": 0.1, "random": 1.0, "large random": 2.0}  # size relative to the truth


@dataclass(frozen=True)
class Tastes:
    """A few people and dishes with two features each; dishes are centred."""

    users: Sequence[str]
    items: Sequence[str]
    U: Floats
    V: Floats


def tastes() -> Tastes:
    """Four people and six dishes: hot against mild, meat against plants."""
    U = np.array([[1.6, 0.4], [0.3, -1.5], [-1.3, 0.9], [-0.8, -1.0]])
    V = np.array([[1.0, 0.9], [1.2, -0.8], [-0.9, 1.1], [-1.0, -0.2], [0.2, -1.3], [0.1, 0.6]])
    dishes = "chilli", "curry", "roast", "risotto", "salad", "pizza"
    return Tastes(("Ann", "Ben", "Cleo", "Dan"), dishes, U, V - V.mean(axis=0))


def differences(U: Floats, V: Floats) -> Floats:
    """Return the (n1, n2, n2) differences of utilities, all that comparisons depend on."""
    X = U @ V.T
    return np.asarray(X[:, :, None] - X[:, None, :])


def step_size(U: Floats, V: Floats) -> float:
    """Return n1 (n2 - 1) / sigma_1(U V'), one over the curvature that a logistic likelihood has at the truth."""
    return len(U) * (len(V) - 1) / float(np.linalg.norm(U @ V.T, 2))


# ---- the landscape ----


def curvature(objective: Objective, x: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues (increasing) and eigenvectors of the Gauss-Newton matrix of the likelihood at x."""
    product = objective.curvature(x)
    values, vectors = np.linalg.eigh(np.array([product(e) for e in np.eye(x.size)]))
    return np.maximum(values, 0.0), vectors


def flat_directions(values: ArrayLike) -> int:
    """Count eigenvalues that are zero but for rounding."""
    values = np.asarray(values, dtype=np.float64)
    return int(np.sum(values < 1e-10 * values.max()))


@dataclass(frozen=True)
class Plane:
    """Loss where the truth is turned by `angles` (degrees) and moved by `shares` of its length: (shares, angles)."""

    angles: Floats
    shares: Floats
    loss: Floats


def plane(objective: Objective, U: Floats, V: Floats, seed: int = 2) -> Plane:
    """Evaluate the loss on a turn of the first two features, crossed with a step in a random direction."""
    angles, shares = np.linspace(-180, 180, 73), np.linspace(-0.5, 0.5, 41)
    N = np.random.default_rng(seed).standard_normal((len(U) + len(V), U.shape[1]))
    N *= np.sqrt((np.sum(U**2) + np.sum(V**2)) / np.sum(N**2))
    loss = np.empty((len(shares), len(angles)))
    for (i, j), _ in np.ndenumerate(loss):
        c, s = np.cos(np.radians(angles[j])), np.sin(np.radians(angles[j]))
        Q = np.eye(U.shape[1])
        Q[:2, :2] = [[c, -s], [s, c]]
        Z = np.vstack([U, V]) @ Q + shares[i] * N
        loss[i, j] = objective(Z.ravel())[0]
    return Plane(angles, shares, loss)


# ---- descents ----


@dataclass(frozen=True)
class Descent:
    """Relative error of the utilities and loss (14), before and after every step."""

    errors: Floats
    losses: Floats
    x: Floats


def descend(objective: Objective, start: Floats, step: float, n_iter: int, truth: tuple[Floats, Floats]) -> Descent:
    """Take constant steps and watch the error; stop early where the loss runs away."""
    x, errors, losses = start.copy(), [], []
    for _ in range(n_iter + 1):
        f, g = objective(x)
        losses.append(f)
        errors.append(utility_error(*objective.split(x)[:2], *truth))
        if not f <= RUNAWAY * max(losses[0], 1.0):
            break
        x = x - step * g
    return Descent(np.array(errors), np.array(losses), x)


def away(truth: tuple[Floats, Floats], theta: float, seed: int = 2) -> Floats:
    """Return the truth as a flat vector, moved in a random direction by theta times its length."""
    Z = np.vstack(truth)
    N = np.random.default_rng(seed).standard_normal(Z.shape)
    return np.asarray((Z + theta * N * np.linalg.norm(Z) / np.linalg.norm(N)).ravel())


@dataclass(frozen=True)
class Pursuit:
    """A simulated problem and a descent on it.

    Attributes
    ----------
    truth, found : (n1, n2) centred utilities
    descent : Descent
    n_comparisons, dof : int
    step : float
        As a multiple of one over the curvature.
    answers : int
        Choices per comparison; 0: the chance itself.
    start : str
    """

    truth: Floats
    found: Floats
    descent: Descent
    n_comparisons: int
    dof: int
    step: float
    answers: int
    start: str


def pursue(
    per_dof: float, rank: int, start: str, step: float, answers: int, n_iter: int = 400, seed: int = 0
) -> Pursuit:
    """Draw 60 users, 80 items and comparisons, and descend from a start with a constant step."""
    U, V = simulate.comparison_factors(USERS, ITEMS, rank, random_state=seed)
    dof = degrees_of_freedom(USERS, ITEMS, rank)
    exact = simulate.draw_comparisons(U, V, round(per_dof * dof), "exact", random_state=seed + 1)
    data = answered(exact, answers, seed + 2)
    objective = Objective(data, rank)
    if start not in STARTS:
        raise CofactorError(f"start={start!r}: choose one of {', '.join(map(repr, STARTS))}")
    rms = float(np.sqrt((np.sum(U**2) + np.sum(V**2)) / (U.size + V.size)))
    first = random_start(data, rank, STARTS[start] * rms, seed + 3) if STARTS[start] else spectral_start(
        data, rank, random_state=seed
    )  # fmt: skip
    run = descend(objective, objective.join(*first), step * step_size(U, V), n_iter, (U, V))
    A, B, _ = objective.split(run.x)
    return Pursuit(U @ V.T, A @ (B - B.mean(axis=0)).T, run, len(data), dof, step, answers, start)


def answered(exact: Comparisons, answers: int, seed: int = 0) -> Comparisons:
    """Replace chances by the share of so many choices; EXACT leaves them."""
    if answers == EXACT:
        return exact
    n = np.random.default_rng(seed).binomial(answers, exact.outcome)
    counts = np.full(len(exact), float(answers))
    return Comparisons(exact.user, exact.left, exact.right, n / answers, exact.n_users, exact.n_items, counts=counts)


# ---- amounts ----


@dataclass(frozen=True)
class Amounts:
    """What fits leave, by comparisons per degree of freedom: arrays of (trials, multiples).

    `trained`: root mean square gap of chances on comparisons fitted to, `held`: on others, `error`: of utilities.
    """

    multiples: Floats
    trained: Floats
    held: Floats
    error: Floats


def too_few(multiples: Sequence[float], n_trials: int = 5, rank: int = 2, max_iter: int = 400) -> Amounts:
    """Fit ever more exact comparisons of one crowd from the spectral start."""
    truth = simulate.comparison_factors(USERS, ITEMS, rank, random_state=0)
    dof = degrees_of_freedom(USERS, ITEMS, rank)
    found = np.empty((3, n_trials, len(multiples)))
    for seed in range(n_trials):
        fresh = simulate.draw_comparisons(*truth, 2000, "exact", random_state=1000 + seed)
        for k, multiple in enumerate(multiples):
            data = simulate.draw_comparisons(*truth, round(multiple * dof), "exact", random_state=seed + 1)
            objective = Objective(data, rank)
            start = objective.join(*spectral_start(data, rank, random_state=0))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # hopeless ones run as long as they may
                x, _ = barzilai_borwein(objective, start, max_iter, tol=1e-10)
            gaps = [gap(one, x, rank) for one in (data, fresh)]
            found[:, seed, k] = *gaps, utility_error(*objective.split(x)[:2], *truth)
    return Amounts(np.asarray(multiples, dtype=np.float64), *found)


def gap(data: Comparisons, x: Floats, rank: int) -> float:
    """Root mean square of chances less outcomes."""
    z = Objective(data, rank).differences(x)
    return float(np.sqrt(np.mean((expit(z) - data.outcome) ** 2)))


@dataclass(frozen=True)
class Choices:
    """Relative errors of fits to choices: (trials, sizes) beside the (sizes,) predicted ones."""

    n_comparisons: Floats
    errors: Floats
    expected: Floats

    @property
    def slope(self) -> float:
        """Of log error against log m."""
        mean = np.log(self.errors).mean(axis=0)
        return float(np.polyfit(np.log(self.n_comparisons), mean, 1)[0])


def choices(per_dof: Sequence[float], n_trials: int = 3, rank: int = 2) -> Choices:
    """Fit ever more binary choices of one crowd, the ridge chosen on held-out ones."""
    U, V = simulate.comparison_factors(USERS, ITEMS, rank, random_state=0)
    spread = float(np.sqrt(np.mean((U @ V.T) ** 2)))
    m = [round(multiple * degrees_of_freedom(USERS, ITEMS, rank)) for multiple in per_dof]
    errors = np.empty((n_trials, len(m)))
    for (seed, k), _ in np.ndenumerate(errors):
        data = simulate.draw_comparisons(U, V, m[k], "binary", random_state=seed + 1)
        fit = ComparisonMF(rank, item_bias=False, random_state=seed).fit(data)
        errors[seed, k] = utility_error(fit.user_factors_, fit.item_factors_, U, V)
    expected = [expected_error(size, USERS, ITEMS, rank, spread) for size in m]
    return Choices(np.array(m, dtype=np.float64), errors, np.array(expected))


# ---- recommending ----


def hide_items(data: Comparisons, per_user: int = 7, seed: int = 0) -> tuple[Comparisons, Comparisons]:
    """Hide some items of every user: learn from comparisons without them, test on those among them."""
    rng = np.random.default_rng(seed)
    hidden = np.zeros((data.n_users, data.n_items), dtype=bool)
    for user in range(data.n_users):
        own = data.user == user
        met = np.unique(np.concatenate([data.left[own], data.right[own]]))
        hidden[user, rng.permutation(met)[:per_user]] = True
    left, right = hidden[data.user, data.left], hidden[data.user, data.right]
    return data.take(~(left | right)), data.take(left & right)


def accuracy(model: PreferenceModel, held: Comparisons) -> float:
    """Share of held-out comparisons whose winner the model has on top."""
    ids: list[Any] = [np.array(list(names), dtype=object) for names in (held.users, held.items)]
    margin = model.margin(ids[0][held.user], ids[1][held.left], ids[1][held.right])
    return pair_accuracy(margin, held.outcome, held.counts)

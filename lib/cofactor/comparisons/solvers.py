"""Starts (spectral or random) and solvers (L-BFGS, Barzilai-Borwein, the paper's gradient descent).

    symbol   meaning                                   equation
    x        the flat vector (U, V, b)
    g        gradient of f at x
    eta      step size
    s, y     x - x_before, g - g_before

`lbfgs` is the default solver; its first steps are Barzilai-Borwein steps. `gradient_descent` is the paper's Algorithm
1. All solvers take an `Objective` and a start and return (x, Result); `callback(x)`, if given, is called with the start
and with every iterate.

The start. With A_k = e_u (e_i - e_j)' and weak preferences, w_k - 1/2 is g'(0) <A_k, X> on average, so

    G = s sum_k (w_k - 1/2) A_k,   s = n1 (n2 - 1) / (2 m g'(0)),   has the mean X J,

and its singular vectors are the start of the features. Rows and columns are first divided by the square roots of how
often their user or item occurs, relative to the mean, and the features are divided once more. This equalises the noise
and also suits uneven sampling, for which the mean of G is X J times these frequencies. (The paper says that an SVD
start does not work here: there is no partially observed X to decompose. G replaces it.)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.comparisons.data import Comparisons
from cofactor.comparisons.objective import ENOUGH_PER_DEGREE, Objective, degrees_of_freedom, gamma, link_named
from cofactor.core.checks import check_kind, check_positive, check_whole, finite_numbers, rng_of
from cofactor.core.errors import CofactorError, ConvergenceWarning
from cofactor.core.estimator import History, Result
from cofactor.core.lazy import optimize, sparse_linalg
from cofactor.core.types import Floats, Seed

Callback = Callable[[Floats], object]
Projection = Callable[[Floats], Floats]

MEMORY_STEPS = 10  # values of f that a new one is compared with, and pairs that L-BFGS keeps
SUFFICIENT = 1e-4  # share of the decrease promised by the gradient that is asked for
STEP_RANGE = 1e-6, 1e6  # smallest and largest step, relative to the first
FLAT_CHANGE = 1e-12  # relative change of f that counts as none
TRIES = 30  # shortenings of one step
FIRST_STEP = 0.3  # first step, relative to one over the curvature
COMPARISONS_OF_THE_UNSEEN = 0.1  # comparisons a user or an item without any is scaled as if it had
WARM_UP = 40  # steps of Barzilai and Borwein before L-BFGS
EASING, EASING_STEPS = (0.03, 0.003), 25  # ridges before none, relative to one over the size of features, and steps
LARGEST_START = 1e30  # number in a start
POWER = 30  # iterations that estimate the curvature
MAX_HALVINGS = 20


# ---- starts ----


def project_to_centred(V: Floats) -> Floats:
    """Subtract the mean over items from every feature: P_H, the J V of Eq. (19).

    >>> project_to_centred(np.array([[1.0], [3.0]])).ravel().tolist()
    [-1.0, 1.0]
    """
    return np.asarray(V - V.mean(axis=0))


def residual_matrix(comparisons: Comparisons, link: str = "logistic", b: Floats | None = None) -> sparse.csr_array:
    """Return the sparse (n1, n2) matrix sum_k c_k (w_k - g(b_i - b_j)) e_u (e_i - e_j)', where c are the counts.

    It is the negative gradient of the summed logistic loss with respect to X at U = V = 0.

    >>> residual_matrix(Comparisons([0, 0], [0, 0], [1, 2], [1, 0])).toarray()
    array([[ 0. , -0.5,  0.5]])
    """
    data = comparisons
    z = np.zeros(len(data)) if b is None else b[data.left] - b[data.right]
    rest = data.outcome - link_named(link).probability(z)
    rest = rest if data.counts is None else rest * data.counts
    both = np.concatenate([rest, -rest]), (np.tile(data.user, 2), np.concatenate([data.left, data.right]))
    return sparse.csr_array(both, shape=(data.n_users, data.n_items))


def spectral_start(
    comparisons: Comparisons,
    rank: int,
    link: str = "logistic",
    b: Floats | None = None,
    random_state: Seed = None,
) -> tuple[Floats, Floats]:
    """Return balanced features U (n1, r) and V (n2, r), V centred, from the top singular vectors of G.

    Parameters
    ----------
    comparisons : Comparisons
    rank : int
        r, at most min(n1, n2) - 1.
    link : {"logistic", "probit"}
    b : (n2,) array, optional
        Known biases: w - g(b_i - b_j) replaces w - 1/2.
    random_state : int, Generator or None
        Used for the starting vector of the SVD.

    Cost: O(m r) time per iteration of the SVD, with a few dozen iterations; O(m) memory.

    >>> data = Comparisons([0, 0, 1, 1], [0, 1, 1, 2], [1, 2, 0, 1], [1, 1, 1, 1])
    >>> U, V = spectral_start(data, rank=1, random_state=0)
    >>> ((U @ V.T).round(1) + 0).tolist()
    [[1.3, 0.0, -1.3], [-1.3, 0.0, 1.3]]
    """
    data = comparisons
    check_kind(Comparisons, comparisons=comparisons)
    check_whole(1, rank=rank)
    if not rank < min(data.n_users, data.n_items):
        raise CofactorError(f"rank={rank}: choose 1 to {min(data.n_users, data.n_items) - 1} features")
    G = residual_matrix(data, link, b)
    G *= 1 / (gamma(data.n_users, data.n_items) * data.total * float(link_named(link).steepness(0.0)))
    users, items = (np.sqrt(np.maximum(n / n.mean(), 1 / n.size)) for n in (data.per_user, data.per_item))
    even = sparse.diags_array(1 / users) @ G @ sparse.diags_array(1 / items)
    rng = rng_of(random_state)
    if not np.any(even.data):  # answers balance out for everybody: nothing is preferred
        return np.zeros((data.n_users, rank)), np.zeros((data.n_items, rank))
    A, s, Ct = sparse_linalg.svds(even, k=rank, v0=rng.standard_normal(min(G.shape)))
    order = np.argsort(-s)
    A, C = A[:, order] / users[:, None], Ct[order].T / items[:, None]
    return A * np.sqrt(s[order]), project_to_centred(C * np.sqrt(s[order]))


def random_start(comparisons: Comparisons, rank: int, scale: float, random_state: Seed = None) -> tuple[Floats, Floats]:
    """Draw features from N(0, scale^2), with V centred; zero is a saddle point, which gradient steps never leave."""
    check_kind(Comparisons, comparisons=comparisons)
    check_whole(1, rank=rank)
    check_positive(scale=scale)  # zero is a saddle
    rng = rng_of(random_state)
    U = scale * rng.standard_normal((comparisons.n_users, rank))
    return U, project_to_centred(scale * rng.standard_normal((comparisons.n_items, rank)))


def eased_start(objective: Objective, start: Floats) -> Floats:
    """Return a start that was improved by some steps with a ridge and then with a smaller one.

    This is for few exact probabilities, which do not bound the features, so that they could grow without limit. The
    ridges are 0.03 and 0.003 divided by the mean square of the features at the start. The start is returned unchanged
    if outcomes are choices, if there is a ridge, or from three comparisons per degree of freedom on. Not in the paper.
    """
    start = checked_start(objective, start)
    data, rank = objective.data, objective.rank
    few = data.total < ENOUGH_PER_DEGREE[False] * degrees_of_freedom(data.n_users, data.n_items, rank)
    if data.noisy or objective.rho or not rank or not few:
        return start
    U, V, _ = objective.split(start)
    square = np.sum(U**2) + np.sum(V**2)
    if not square:
        return start
    unit, x = (U.size + V.size) / square, start
    for easing in EASING:
        eased = objective.with_ridge(easing * unit)
        x = _barzilai_borwein_steps(eased, variable_scales(eased, x), x, History("easing", EASING_STEPS, 0.0), None)
        objective.n_passes += eased.n_passes
    return x


def checked_start(objective: Objective, start: ArrayLike) -> Floats:
    """Check that a start has the right number of finite values, and return it."""
    check_kind(Objective, objective=objective)
    x = finite_numbers(start, "start")
    objective.split(x)
    if x.size and np.abs(x).max() > LARGEST_START:
        raise CofactorError(f"start contains numbers beyond {LARGEST_START:g}, which overflow: start closer to zero")
    return x


def variable_scales(objective: Objective, x: Floats) -> Floats:
    """Return scales that equalise the curvature of the variables: 1 / sqrt(mean curvature of the row).

    The curvature of a user with n_u comparisons is g'(0) n_u/m times the mean of (V_i - V_j)^2, that of an item n_i/m
    times the mean of U^2, and that of a bias n_i/m, plus the priors. Without scaling, users with few comparisons need
    many more steps.
    """
    data, (U, V, b) = objective.data, objective.split(x)
    m, prior = len(data), objective.rho / float(objective.link.information(0.0))
    floor = COMPARISONS_OF_THE_UNSEEN / m
    users, items = np.maximum(data.per_user / m, floor), np.maximum(data.per_item / m, floor)
    h = objective.join(
        np.repeat((2 * np.mean(V**2) * users + prior)[:, None], objective.rank, axis=1) if U.size else U,
        np.repeat((np.mean(U**2) * items + prior)[:, None], objective.rank, axis=1) if U.size else V,
        items + objective.rho_bias / float(objective.link.information(0.0)) if b.size else b,
    )
    return 1 / np.sqrt(np.where(h > 0, h, 1.0))


@np.errstate(over="ignore", invalid="ignore")  # a trial step may go too far; its loss is then no number, and it is cut
def _scaled(objective: Objective, p: Floats, x: Floats) -> tuple[float, Floats]:
    """Return f(p x) and its gradient with respect to x."""
    f, g = objective(p * x)
    return f, p * g


# ---- descent ----


def lbfgs(
    objective: Objective,
    start: Floats,
    max_iter: int = 2000,
    tol: float = 1e-8,
    callback: Callback | None = None,
    verbose: bool = False,
) -> tuple[Floats, Result]:
    """Minimise by L-BFGS (SciPy) after some Barzilai-Borwein steps; parameters as for `barzilai_borwein`.

    This is the default solver. Without the first steps, L-BFGS enters regions in which the features grow and the loss
    hardly decreases.
    """
    check_whole(1, max_iter=max_iter)
    start = checked_start(objective, start)
    p = variable_scales(objective, start)
    history = History("L-BFGS", min(WARM_UP, max_iter), tol, verbose)
    x = _barzilai_borwein_steps(objective, p, start, history, callback)
    if history.converged or max_iter <= WARM_UP:
        return x, history.result()
    values, steepest = history.objective, float(np.abs(p * objective(start)[1]).max())

    def note(intermediate_result: optimize.OptimizeResult) -> None:
        values.append(float(intermediate_result.fun))
        _tell(callback, p * intermediate_result.x)

    limits = {"maxiter": max_iter - WARM_UP, "maxfun": 20 * max_iter}
    options = {**limits, "maxcor": MEMORY_STEPS, "ftol": 0.0, "gtol": tol * steepest}
    found = optimize.minimize(
        lambda x: _scaled(objective, p, x), x / p, jac=True, method="L-BFGS-B", callback=note, options=options
    )
    converged = found.status != 1  # 1: a limit was reached; 2: f cannot fall further in floating point
    if not converged:
        warnings.warn(
            f"L-BFGS: iteration limit {max_iter} reached; increase the limit or the tolerance",
            ConvergenceWarning,
            stacklevel=2,
        )
    return p * found.x, Result(np.array(values), len(values), converged, str(found.message))


def barzilai_borwein(
    objective: Objective,
    start: Floats,
    max_iter: int = 2000,
    tol: float = 1e-8,
    callback: Callback | None = None,
    verbose: bool = False,
) -> tuple[Floats, Result]:
    """Minimise by Barzilai-Borwein gradient steps with a non-monotone line search.

        x = x - eta g,   eta = <s, s> / <s, y> and <s, y> / <y, y> in turn

    accepted if f <= max(last 10 f) - 1e-4 eta ||g||^2, otherwise eta / 4; variables are scaled by `variable_scales`.

    Parameters
    ----------
    objective : Objective
    start : flat array
        With features, it must not be a stationary point.
    max_iter : int
    tol : float
        Stop when ||g|| has fallen to this fraction of its initial value, or f has not changed for ten steps.
    callback : function of x, optional
    verbose : bool

    Returns
    -------
    x, result : `result.objective` is f after every step

    Raises a CofactorError if there are features and the gradient vanishes at the start, for example because all are
    zero.

    Cost: one pass over the data per step, rarely two, O(m r) each.

    Source: Barzilai and Borwein, IMA J. Numer. Anal. 1988; Grippo, Lampariello and Lucidi, SIAM J. Numer. Anal. 1986.
    The paper uses gradient descent with a constant step.

    >>> data = Comparisons([0, 0, 0], [0, 1, 0], [1, 2, 2], [0.8, 0.7, 0.9])
    >>> x, result = barzilai_borwein(Objective(data, rank=0, item_bias=True), np.zeros(3))
    >>> x.round(2).tolist(), result.converged
    ([1.2, -0.18, -1.02], True)
    """
    start = checked_start(objective, start)
    p = variable_scales(objective, start)
    history = History("Barzilai-Borwein", max_iter, tol, verbose)
    x = _barzilai_borwein_steps(objective, p, start, history, callback)
    return x, history.result()


@np.errstate(over="ignore", invalid="ignore")  # see `_scaled`
def _barzilai_borwein_steps(
    objective: Objective, p: Floats, start: Floats, history: History, callback: Callback | None
) -> Floats:
    x, (f, g) = start / p, _scaled(objective, p, start / p)
    first = eta = FIRST_STEP / (2 * float(objective.link.information(0.0)))
    g0, recent, flat = float(np.linalg.norm(g)), [f], 0
    _tell(callback, start)
    history.converged = _at_minimum(objective, g0)
    for step in history if not history.converged else ():
        highest, square = max(recent), float(g @ g)
        for _ in range(TRIES):
            x_new = x - eta * g
            f_new, g_new = _scaled(objective, p, x_new)
            if f_new <= highest - SUFFICIENT * eta * square + 1e-15 * abs(highest):  # but for rounding
                break
            eta /= 4
        if not np.isfinite(f_new):
            raise CofactorError("the loss overflows from this start: start closer to zero, or use a ridge")
        s, y = x_new - x, g_new - g
        flat = flat + 1 if abs(f_new - f) <= FLAT_CHANGE * abs(f) else 0
        x, f, g, recent = x_new, f_new, g_new, [*recent, f_new][-MEMORY_STEPS:]
        sy = float(s @ y)
        step_length = 2 * eta  # without curvature along s: go further
        if sy > 0:
            step_length = float(s @ s) / sy if step % 2 == 0 else sy / float(y @ y)
        eta = float(np.clip(step_length, STEP_RANGE[0] * first, STEP_RANGE[1] * first))
        _tell(callback, p * x)
        history.record(f, 0.0 if flat == MEMORY_STEPS else float(np.linalg.norm(g)) / g0)
    return p * x


def gradient_descent(
    objective: Objective,
    start: Floats,
    max_iter: int = 2000,
    tol: float = 1e-8,
    callback: Callback | None = None,
    verbose: bool = False,
    learning_rate: float | None = None,
    projection: Projection | None = None,
) -> tuple[Floats, Result]:
    """Minimise by gradient descent with a constant step size, Z = Z - eta grad f(Z): the paper's Algorithm 1.

    Parameters
    ----------
    objective, start, max_iter, tol, callback, verbose
        As for `barzilai_borwein`.
    learning_rate : float, optional
        eta. Default: one over the curvature at the start, by power iterations on the Gauss-Newton matrix. Whenever f
        exceeds its initial value, eta is halved and the descent restarted.
    projection : function of x, optional
        Applied to the start and after every step. Default: none; the paper's projections have no effect if items are
        centred and no row is long.

    Cost: one pass per step, O(m r). Source: ICML 2025, Algorithm 1. Deviations: no projections by default; the step
    size, because that of Theorem 4.1 needs more than 1e25 iterations per digit.
    """
    if learning_rate is not None:
        check_positive(learning_rate=learning_rate)
    start = checked_start(objective, start)
    eta = 1 / largest_curvature(objective, start) if learning_rate is None else learning_rate
    for _ in range(MAX_HALVINGS):
        history = History("gradient descent", max_iter, tol, verbose)
        x = _descend(objective, start, eta, history, projection or np.asarray, callback)
        if x is not None:
            return x, history.result()
        eta /= 2
    raise CofactorError(
        f"gradient descent diverged for all step sizes from {eta * 2**MAX_HALVINGS:g} to {eta:g}: start closer to zero"
    )


def _descend(
    objective: Objective, start: Floats, eta: float, history: History, projection: Projection, callback: Callback | None
) -> Floats | None:
    """Take the steps; return None if f exceeds its initial value."""
    x = projection(start)
    f, g = objective(x)
    f0, g0 = f, float(np.linalg.norm(g))
    _tell(callback, x)
    history.converged = _at_minimum(objective, g0)
    for _ in history if not history.converged else ():
        x = projection(x - eta * g)
        f, g = objective(x)
        if not f <= max(1.5 * f0, f0 + 1e-12):
            return None
        _tell(callback, x)
        history.record(f, float(np.linalg.norm(g)) / g0)
    return x


def largest_curvature(objective: Objective, x: Floats) -> float:
    """Return the largest eigenvalue of the Gauss-Newton matrix at x, by power iterations, plus the penalties.

    O(m r) time per iteration, with 30 iterations.
    """
    product = objective.curvature(x)
    v = np.random.default_rng(0).standard_normal(x.size)
    value = 0.0
    for _ in range(POWER):
        v = product(v / np.linalg.norm(v))
        value = float(np.linalg.norm(v))
        if not value:
            raise CofactorError(
                "the likelihood has no curvature at the start (are all features zero?): choose another start"
            )
    U, V, _ = objective.split(x)
    sigma = float(np.linalg.norm(U, 2) * np.linalg.norm(V, 2)) if objective.rank else 0.0
    return value + 4 * objective.balance * sigma + max(objective.rho, objective.rho_bias)


def _at_minimum(objective: Objective, norm: float) -> bool:
    """Whether a zero gradient is the minimum (biases alone are convex); with features, it raises a CofactorError."""
    if norm > 0 or (norm == 0 and not objective.rank):
        return norm == 0
    raise CofactorError(
        "the gradient vanishes at the start, perhaps because all features are zero (a saddle): choose another start"
    )


def _tell(callback: Callback | None, x: Floats) -> None:
    if callback is not None:
        callback(x)

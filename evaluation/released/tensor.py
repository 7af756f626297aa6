"""CTD as released with IEEE TSP 2021: penalties, projections and stopping rules in place of those of `coupled_tensor`.

Triples that were never observed together are fitted as zeros. Columns that sum to less than one are left so, since the
released scripts score them as they are. Symbols: see `cofactor.rivals.coupled_tensor`.

Source: code with Ibrahim and Fu, "Recovering joint probability of discrete random variables from pairwise marginals",
IEEE TSP 2021.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from cofactor.core.estimator import History, Result
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.lazy import njit
from cofactor.core.simplex import project_vector
from cofactor.core.types import Floats
from cofactor.rivals.coupled_tensor import TensorData, check_moments, sweep
from cofactor.rivals.triple_moments import TripleMoments


class Script(NamedTuple):
    """What a script sets.

    Attributes
    ----------
    penalty : (float, float)
        rho of every A_n and of lambda, whatever the data.
    inner : (int, int)
        Most ADMM steps of every A_n and of lambda.
    inner_tol : float
        Of both residuals, in absolute terms.
    projection : "at most one" or "clipped"
        Columns of A_n are kept nonnegative with a sum of at most one, which is no PMF; or their negative entries are
        cut off before they are projected onto the simplex, which is not the projection. Lambda: always the latter.
    stop : "residual" or "objective"
        What the change of the relative residual is divided by.
    """

    penalty: tuple[float, float] = (10.0, 10.0)
    inner: tuple[int, int] = (100, 100)
    inner_tol: float = 1e-7
    projection: Literal["at most one", "clipped"] = "at most one"
    stop: Literal["residual", "objective"] = "residual"


def released_tensor(
    triples: TripleMoments,
    start: LatentClassModel,
    script: Script,
    max_iter: int = 500,
    tol: float = 1e-6,
    verbose: bool = False,
) -> tuple[LatentClassModel, Result]:
    """Fit a latent-class model to third moments as released; see `coupled_tensor`.

    Columns of its conditionals sum to one only where `script.projection` makes them: it is no joint PMF otherwise.
    """
    check_moments(triples, start)
    data = TensorData.of(triples, None, np.array(list(combinations(range(len(triples.sizes)), 3))).T)
    solvers = partial(_admm, script=script, by_row=False), partial(_admm, script=script, by_row=True)
    A, prior = start.stacked.copy(), start.prior.copy()
    duals = np.zeros_like(A), np.zeros_like(prior)
    history, residual, cost = History("coupled tensor factorisation", max_iter, tol, verbose), 1.0, np.inf
    for step in history:
        before = residual, cost
        prior, cost = sweep(data, A, prior, duals, solvers, 0.0)
        residual = float(np.sqrt(2 * cost / data.norm2))
        history.record(cost, released_change(step, abs(before[0] - residual), before, script))
    return LatentClassModel.from_stacked(prior / prior.sum(), A, triples.sizes), history.result()


def released_change(step: int, change: float, before: tuple[float, float], script: Script) -> float:
    """Change of the relative residual over what it, or the objective, was before; the first sweep never stops."""
    scale = before[script.stop == "objective"]
    return change / scale if step and scale else 0.0 if step and not change else np.inf  # no scale: it fits exactly


def _admm(G: Floats, V: Floats, A: Floats, U: Floats, mu: float, script: Script, by_row: bool) -> tuple[Floats, Floats]:
    """Solve for A_n, or by row for lambda."""
    rho = script.penalty[by_row]
    inverse = np.asarray(np.linalg.inv(G + (rho + mu) * np.eye(len(G))), dtype=np.float64)
    X, dual = A.T.copy(), U.T.copy()
    pull, at_most = np.ascontiguousarray((V + mu * A).T), script.projection == "at most one" and not by_row
    _steps(inverse, pull, float(rho), X, dual, script.inner[by_row], script.inner_tol, at_most, by_row)
    return X.T, dual.T


@njit(cache=True)
def _steps(
    inverse: Floats,
    pull: Floats,
    rho: float,
    X: Floats,
    U: Floats,
    inner: int,
    tol: float,
    at_most: bool,
    by_row: bool,
) -> None:
    """Iterate on X and U, transposes of A and of the dual, in place."""
    for _ in range(inner):
        free = inverse @ (pull + rho * (X + U))
        before = X.copy()
        X[:] = free - U
        for f in range(1 if by_row else len(X)):
            _constrain(X[:, 0] if by_row else X[f], at_most)
        U += X - free
        if max(np.sum((X - free) ** 2), np.sum((X - before) ** 2)) <= tol**2:
            break


@njit(cache=True)
def _constrain(x: Floats, at_most: bool) -> None:
    x[:] = np.maximum(x, 0.0)
    if not (at_most and np.sum(x) <= 1):
        project_vector(x)

"""The steps of Frank-Wolfe on the self-dictionary: from start to stop. `frank_wolfe` says what they solve."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse
from threadpoolctl import ThreadpoolController

from cofactor.core.errors import ConvergenceWarning
from cofactor.core.result import Result, progress
from cofactor.core.types import Floats, Indices
from cofactor.separable.lists import Coefficients, row_penalty
from cofactor.separable.scoring import Scorer

CAPACITY = 16  # entries per column that lists start with
SMALL = 2e7  # flops per step below which more threads only cost


@dataclass(frozen=True)
class FrankWolfeResult(Result):
    """A `Result` with what Frank-Wolfe knows besides.

    Attributes
    ----------
    gap : (n_iter,) array
        Duality gap of the point from which each step started, in units of the objective: no feasible point is lower
        by more. NaN for the first step from C = 0, which is no feasible point.
    nnz : (n_iter,) ints
        Entries stored after each step.
    """

    gap: Floats
    nnz: Indices


@dataclass(frozen=True)
class Budget:
    """When to stop, and what to work with: steps, largest gap (-inf: none), type of rough scores, threads."""

    n_iter: int
    most_gap: float = -np.inf
    dtype: DTypeLike = np.float32
    n_jobs: int | None = None
    verbose: bool = False


def descend(
    X: Floats, start: sparse.csc_array | None, t: float, lam: float, mu: float, budget: Budget
) -> tuple[Coefficients, FrankWolfeResult]:
    """Make the steps t, t + 1, ... on 1/2 ||X - X C||_F^2 + lam Phi_mu(C) from C = `start` (None: zero)."""
    points = np.ascontiguousarray(X.T)  # no copy where columns of X lie together
    C = Coefficients.empty(len(points), CAPACITY) if start is None else Coefficients.from_sparse(start, CAPACITY)
    residuals = -points if start is None else start.T @ points
    if start is not None:
        residuals -= points
    objective, gap, nnz, converged = [], [], [], False
    blas = ThreadpoolController()
    with blas.limit(limits=1, user_api="blas"):
        scorer = Scorer(points, budget.dtype, _threads(budget.n_jobs, blas, X.shape), stay=start is not None)
        penalty, _ = row_penalty(C, lam, mu)
        for step in progress(range(budget.n_iter), "MERIT", budget.verbose):
            picks, gaps = scorer.pick(residuals, C, penalty)
            fit = C.step(points, residuals, picks, alpha=2 / (t + step + 2))
            penalty, peaks = row_penalty(C, lam, mu)
            objective.append(fit / 2 + lam * peaks)
            gap.append(float(gaps.sum()) if step or start is not None else np.nan)
            nnz.append(C.nnz)
            converged = step > 0 and gap[-1] <= budget.most_gap
            if converged:
                break
    return C, _outcome(np.array(objective), np.array(gap), np.array(nnz), converged, budget)


def _threads(n_jobs: int | None, blas: ThreadpoolController, shape: tuple[int, int]) -> int:
    if 2 * shape[0] * shape[1] ** 2 < SMALL:
        return 1
    return n_jobs or max([pool["num_threads"] for pool in blas.info() if pool["user_api"] == "blas"], default=1)


def _outcome(objective: Floats, gap: Floats, nnz: Indices, converged: bool, budget: Budget) -> FrankWolfeResult:
    n_iter = len(objective)
    if not n_iter:
        converged, reason = True, "the start fits exactly: no step was due"
    elif converged:
        reason = f"gap within the tolerance after {n_iter} steps"
    elif budget.most_gap == -np.inf:
        converged, reason = True, f"made the {n_iter} steps asked for; no tolerance was given"
    else:
        reason = f"limit of {n_iter} steps reached before the gap fell to the tolerance"
        warnings.warn(f"MERIT: {reason}", ConvergenceWarning, stacklevel=4)
    return FrankWolfeResult(objective, n_iter, converged, reason, gap, nnz)

"""MERIT: Frank-Wolfe on the self-dictionary, in memory linear in the number of points.

Read `cofactor.plain.merit` first: the same algorithm in forty lines of NumPy. `descend` below is its loop, and the rest
of this file says what it is given: weight, start, and which rows are anchors in the end.

    plain version                                 here                                                     file
    least_of_gradient, 500 columns of G a time    GradientTiles.least_of_gradient, tiles that are dropped  tiles
    row_softmax, P in two parts                   row_penalty, the same two parts times lam                lists
    C = (1 - step) C + step U, a sparse matrix    Coefficients.step, one list of entries a column          lists
    residual_of_spa                               `_weight`, "msr"                                         here

Model: X ~ X C, columns of C on the simplex; a row of C is filled only if its column of X is an anchor. Every step
moves every column of C towards one vertex of the simplex, so that C after T steps holds at most T entries per column
and is never formed as an N x N array.

    symbol   meaning                                                     shape       here
    X        points, one per column                                      (M, N)      Algorithm 1
    C        coefficients                                                (N, N)      lists per column
    C0       coefficients on the anchors of SPA, or a given start        (N, N)
    lam, mu  weight and smoothing of the row penalty Phi_mu                          Eq. (18)
    t        number of the first step                                                Eq. (11)

Source: Nguyen, Fu and Wu, "Memory-efficient convex optimization for self-dictionary separable nonnegative matrix
factorization: a Frank-Wolfe approach", IEEE TSP 2022, Algorithm 1.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse
from threadpoolctl import ThreadpoolController

from cofactor.core.errors import ConvergenceWarning
from cofactor.core.result import Result, progress
from cofactor.core.spa import spa
from cofactor.core.types import Floats, Indices
from cofactor.separable.base import AnchorFit, Matrix, dense_points
from cofactor.separable.columns import Columns, columns_used
from cofactor.separable.least_squares import simplex_least_squares
from cofactor.separable.lists import CAPACITY, Coefficients, row_penalty
from cofactor.separable.options import Objective, Select, Start, Weight, check_numbers, check_options, given_start
from cofactor.separable.selection import (
    lone_columns_told,
    settled_number,
    spread_rows,
    squares_left,
    suggest_n_anchors,
    top_rows,
)
from cofactor.separable.tiles import GradientTiles

MSR_SHARE = 1.5  # lam of "msr" in mean squared residuals of SPA; from 1 to 2 little changes
FOREIGN = 0.5  # share of the squares that mixtures of SPA's anchors leave, above which they are no model of X
EXACT_START = 1e-12  # a start whose residual is this share of X is exact
CLEARLY_LESS = 0.5  # share of squares by which another selection must be better to be taken
LISTED = 0.1  # share of all rows that select="spa" chooses among
FLOPS_OF_THREADS = 2e7  # per step, below which more threads only cost


@dataclass(frozen=True)
class FrankWolfeResult(Result):
    """How the iteration of `merit` went: a `Result` with the duality gap and the stored entries of every step.

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
    """Limits of `descend`: most steps, gap at which to stop (-inf: never), precision of rough scores, threads."""

    n_iter: int
    most_gap: float = -np.inf
    dtype: DTypeLike = np.float32
    n_jobs: int | None = None
    verbose: bool = False


def descend(
    X: Floats, start: sparse.csc_array | None, t: float, lam: float, mu: float, budget: Budget
) -> tuple[Coefficients, FrankWolfeResult]:
    """Minimise 1/2 ||X - X C||_F^2 + lam Phi_mu(C) by the steps t, t + 1, ... of Frank-Wolfe from C = `start`.

    The loop of `cofactor.plain.merit`, whose lines stand in the comments; `start` None is C = 0. Two things are kept
    from step to step that the plain version computes anew: the residuals X C - X, and the penalty of the rows of C.
    """
    points = np.ascontiguousarray(X.T)  # no copy where columns of X lie together
    C = Coefficients.empty(len(points), CAPACITY) if start is None else Coefficients.from_sparse(start, CAPACITY)
    residuals = -points if start is None else start.T @ points
    if start is not None:
        residuals -= points
    objective, gap, nnz, converged = [], [], [], False
    blas = ThreadpoolController()
    with blas.limit(limits=1, user_api="blas"):
        threads = _threads(budget.n_jobs, blas, X.shape)
        tiles = GradientTiles(points, budget.dtype, threads, prefer_stored=start is not None)
        penalty, _ = row_penalty(C, lam, mu)  # plain: row_softmax
        for step in progress(range(budget.n_iter), "MERIT", budget.verbose):
            picks, gaps = tiles.least_of_gradient(residuals, C, penalty)  # plain: the same name
            fit = C.step(points, residuals, picks, alpha=2 / (t + step + 2))  # plain: (1 - step) C + step U
            penalty, peaks = row_penalty(C, lam, mu)
            objective.append(fit / 2 + lam * peaks)
            gap.append(float(gaps.sum()) if step or start is not None else np.nan)
            nnz.append(C.nnz)
            converged = step > 0 and gap[-1] <= budget.most_gap
            if converged:
                break
    return C, _outcome(np.array(objective), np.array(gap), np.array(nnz), converged, budget)


@dataclass(frozen=True)
class MeritFit(AnchorFit):
    """Result of `merit`: an `AnchorFit` with the weight lam that was used and the suggested number of anchors.

    Attributes
    ----------
    lam : float
        Weight of the penalty that was used.
    n_suggested : int
        Number of anchors that `suggest_n_anchors` says.
    margin : float in [0, 1]
        How clear that is, see there.
    duplicates : list of int arrays
        Groups of equal columns that were merged; each is represented by its lowest index.
    """

    lam: float
    n_suggested: int
    margin: float
    duplicates: list[Indices]


def merit(
    X: Matrix,
    n_anchors: int | None = None,
    lam: Weight = "msr",
    mu: float = 1e-5,
    n_iter: int = 50,
    objective: Objective = "full",
    init: Start = None,
    t_init: int | None = None,
    tol: float | None = None,
    *,
    gap_abs: float | None = None,
    merge_duplicates: bool = True,
    select: Select = "auto",
    n_jobs: int | None = None,
    verbose: bool = False,
) -> MeritFit:
    """Find anchor columns by convex optimisation, all at once.

        min over C of  ||X - X C||_F^2 + lam Phi_mu(C),   C >= 0,  columns of C sum to one,
        Phi_mu(C) = sum_n mu log( (1/N) sum_l exp(C_nl / mu) ),  about the sum of row maxima,

    by n_iter steps of Frank-Wolfe, C = (1 - a) C + a [e_j1, ..., e_jN] with a = 2 / (t + 2) and j_l the least entry of
    column l of the gradient. Rows are scored by their largest entry.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column, finite, of any sign. Where the weights of the model do not sum to one by themselves,
        scale the columns to sum to one first.
    n_anchors : int in [1, N], optional
        K. Default: as many as `suggest_n_anchors` says, with a warning where its margin is below 0.5; `lone_columns`
        are then left out.
    lam : "msr", "paper" or float >= 0
        "msr" is 1.5 times the mean squared residual of SPA, 1.5 ||X - X C0||_F^2 / (N - K): the mean over columns that
        have one, since the K that SPA chose fit themselves. Where mixtures of SPA's anchors leave more than half of
        the squares of the other columns unexplained, as for words and for nodes of real graphs, the residual does not
        measure noise, and "msr" means: no penalty (lam = 0), and start from SPA's coefficients C0. "paper" is the
        heuristic ||X - X C0||_F / K. 0 is MERIT(0), without penalty.
    mu : float > 0
        Smoothing of the row maxima; without consequence from 1e-7 to 1e-1.
    n_iter : int >= 1
        Steps. More is not better: with "paper", stopping early is part of what makes it work.
    objective : "full" or "half"
        Half is the printed 1/2 ||X - X C||_F^2 + lam Phi_mu(C); full is what the released code minimises, the same as
        half with lam / 2.
    init : None, "spa" or (N, N) array or sparse matrix
        Where to start: C = 0, C0 (the simplex least squares on the anchors of SPA), or the columns given.
    t_init : int >= 1, optional
        First t of a start other than zero. Default: round(1 / RMSE), RMSE = ||X - X C0||_F / sqrt(N).
    tol : float, optional
        Stop when the gap is at most tol ||X||_F^2.
    gap_abs : float, optional
        Stop when the gap is below this, in units of the objective: the rule of the released code.
    merge_duplicates : bool
        Merge columns that are equal up to 1e-9 of the largest entry, so that rounding has nothing to decide.
    select : "auto", "top" or "spa"
        "top" takes the K rows of largest score; "spa" runs SPA on the tenth of all rows (3 K at least) that score
        highest: for data in which each anchor occurs several times, each time with other noise. "auto" takes the
        latter where mixtures of its anchors leave less than half of the squares that those of the former leave.
    n_jobs : int, optional
        Threads. Default: as many as BLAS may use. The result is the same at any number.
    verbose : bool
        Show a progress bar on a terminal.

    Raises
    ------
    CofactorError
        X holds NaN or infinity (columns are named) or is zero everywhere; an argument is out of range; a start is not
        on the simplex.

    Warns
    -----
    DataWarning
        Columns of X are zero (named): they are left out, their coefficients stay empty. The number of anchors was not
        given, and is not clear from X, or columns lead none but themselves (named): they are left out, too.
    ConvergenceWarning
        A tolerance was given and not met.

    SPA takes far less time and is often as good or better, above all with few anchors and noise on all columns. MERIT
    finds more where anchors are many, and where they are exact and noise pushes the mixtures outwards. `cofactor
    bench SPA --line separable` measures both.

    Cost: 2 M N^2 flops per step; memory see `predicted_bytes`, O(M N + N n_iter).

    Source: Algorithm 1. Deviations: exp(C / mu) is shifted by the row maximum (as printed it overflows above C =
    0.0071); the default lam and n_iter (the paper: ||X - X C0||_F / K, which neither scales with X nor with N, and 100
    steps); equal columns are merged; a column without residual stays where its own penalty is least (the gradient is
    rounding there); lowest index on ties. The released code stops by an absolute gap (`gap_abs`) and takes t_init from
    the spectral norm. `cofactor.plain.merit` is the plain version, `tests/oracles` holds the dense one.

    Examples
    --------
    >>> fit = merit([[1.0, 0.0, 0.0, 0.5, 0.4], [0.0, 1.0, 0.0, 0.5, 0.3], [0.0, 0.0, 1.0, 0.0, 0.3]], 3)
    >>> sorted(fit.anchors.tolist())
    [0, 1, 2]
    """
    whole = dense_points(X)
    check_numbers(whole.shape[1], n_anchors, lam, mu, n_iter, t_init, n_jobs, tol, gap_abs)
    check_options(objective, select, init)
    columns = columns_used(whole, merge_duplicates, lone_columns_told(whole) if n_anchors is None else None)
    n_suggested, margin = suggest_n_anchors(columns.points)
    K = settled_number(n_anchors, n_suggested, margin)
    factor = 2.0 if objective == "full" else 1.0  # descend knows the half
    weight, start = _weight_and_start(lam, init, columns, K, factor)
    t = _first_t(start, columns, t_init)
    most_gap = _most_gap(tol, gap_abs, columns) / factor
    budget = Budget(n_iter if t < np.inf else 0, most_gap, n_jobs=n_jobs, verbose=verbose)
    C, result = descend(columns.points, start, t, columns.scaled(weight) / factor, mu, budget)
    scores = C.peaks()
    anchors = _selected(columns.points, scores, K, select)
    found = columns.used[anchors], columns.expand_scores(scores), columns.expand(C.to_sparse())
    return MeritFit(*found, _in_units(result, columns, factor), weight, n_suggested, margin, columns.groups)


# ---- weight and start ----


def _weight_and_start(
    lam: Weight, init: Start, columns: Columns, K: int, factor: float
) -> tuple[float, sparse.csc_array | None]:
    """Return lam in units of X, and where to start; C0 is kept only where it is the start."""
    C0 = _spa_start(columns.points, K) if isinstance(lam, str) or isinstance(init, str) else None
    foreign = lam == "msr" and C0 is not None and _foreign(C0, columns)
    weight = 0.0 if foreign else _weight(lam, C0, columns, K, factor)
    from_spa = isinstance(init, str) or (foreign and init is None)
    return weight, C0 if from_spa else given_start(init, columns)


def _weight(lam: Weight, C0: sparse.csc_array | None, columns: Columns, K: int, factor: float) -> float:
    """Return lam in units of X."""
    if not isinstance(lam, str) or C0 is None:
        return float(lam)
    rest = _residual_norm(columns.points, C0)
    if lam == "paper":
        return float(np.ldexp(rest, columns.exponent)) / K
    left = max(columns.used.size - K, 1)  # the anchors have no residual
    return float(np.ldexp(MSR_SHARE * factor / 2 * rest**2 / left, 2 * columns.exponent))


def _foreign(C0: sparse.csc_array, columns: Columns) -> bool:
    """Whether mixtures of SPA's anchors are no model of the other columns."""
    squares = np.einsum("mn,mn->n", columns.points, columns.points)
    squares[C0.indices] = 0  # the anchors
    return bool(_residual_norm(columns.points, C0) ** 2 > FOREIGN * squares.sum())


def _first_t(start: sparse.csc_array | None, columns: Columns, t_init: int | None) -> float:
    """Return t of the first step; infinity where the start fits exactly and no step is due."""
    if start is None:
        return 0
    X = columns.points
    rest = _residual_norm(X, start)
    if rest <= EXACT_START * np.linalg.norm(X):
        return np.inf
    rmse = np.ldexp(rest / np.sqrt(X.shape[1]), columns.exponent)
    return t_init or max(round(1 / rmse), 1)


def _residual_norm(X: Floats, C: sparse.csc_array) -> float:
    """Return ||X - X C||_F."""
    rest = C.T @ X.T
    rest -= X.T
    return float(np.linalg.norm(rest))


def _spa_start(X: Floats, K: int) -> sparse.csc_array:
    """Return C0: simplex least squares on the anchors of SPA, zero elsewhere."""
    anchors = spa(X, K, restart=True)
    H = sparse.csc_array(simplex_least_squares(X[:, anchors], X))
    return sparse.csc_array((H.data, anchors[H.indices], H.indptr), shape=(X.shape[1], X.shape[1]))


# ---- stopping, and what comes out ----


def _most_gap(tol: float | None, gap_abs: float | None, columns: Columns) -> float:
    """Return the gap at which to stop, of the columns that take part; -inf where there is no such rule."""
    relative = -np.inf if tol is None else tol * np.sum(columns.points**2)
    return float(max(relative, -np.inf if gap_abs is None else columns.scaled(gap_abs)))


def _threads(n_jobs: int | None, blas: ThreadpoolController, shape: tuple[int, int]) -> int:
    if 2 * shape[0] * shape[1] ** 2 < FLOPS_OF_THREADS:
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


def _in_units(result: FrankWolfeResult, columns: Columns, factor: float) -> FrankWolfeResult:
    """Return objective and gap in units of X."""
    unit = np.ldexp(factor, 2 * columns.exponent)
    return replace(result, objective=unit * result.objective, gap=unit * result.gap)


def _selected(X: Floats, scores: Floats, K: int, select: Select) -> Indices:
    top = top_rows(scores, K)
    if select == "top":
        return top
    spread = spread_rows(X, scores, K, max(3 * K, int(LISTED * scores.size)))
    if select == "spa" or squares_left(X, X[:, spread]) < CLEARLY_LESS * squares_left(X, X[:, top]):
        return spread
    return top

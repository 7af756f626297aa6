"""MERIT: Frank-Wolfe on the self-dictionary, in memory linear in the number of points.

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

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.checks import check_positive, check_whole, is_number, numbers, sound_places
from cofactor.core.errors import CofactorError, listing
from cofactor.core.spa import require_anchors, spa
from cofactor.core.types import Floats, Indices
from cofactor.separable.base import AnchorFit, Matrix, dense_points
from cofactor.separable.columns import Columns, columns_used
from cofactor.separable.descent import Budget, FrankWolfeResult, descend
from cofactor.separable.least_squares import simplex_least_squares
from cofactor.separable.selection import (
    lone_columns_told,
    settled_number,
    spread_rows,
    squares_left,
    suggest_n_anchors,
    top_rows,
)

Weight: TypeAlias = Literal["msr", "paper"] | float
Objective = Literal["full", "half"]
Start: TypeAlias = Literal["spa"] | ArrayLike | sparse.sparray | None
Select = Literal["auto", "top", "spa"]

MSR_SHARE = 1.5  # lam of "msr" in mean squared residuals of SPA; from 1 to 2 little changes
MISFIT = 0.5  # share of X that mixtures of SPA's anchors leave, above which they are no model of it
FITS = 1e-12  # a start whose residual is this share of X is exact
ON_SIMPLEX = 1e-6  # how far from one the columns of a given start may sum
CLEARLY_LESS = 0.5  # share of squares by which another selection must be better to be taken
LISTED = 0.1  # share of all rows that select="spa" chooses among


@dataclass(frozen=True)
class MeritFit(AnchorFit):
    """An `AnchorFit` with what MERIT settled on.

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
        have one, since the K that SPA chose fit themselves. Where this residual is more than half of these columns
        themselves, as for words and for nodes of real graphs, it says nothing of the noise: then lam is 0, and the
        start C0. "paper" is the heuristic ||X - X C0||_F / K. 0 is MERIT(0), without penalty.
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
    reproduce practice-separable` measures both.

    Cost: 2 M N^2 flops per step; memory see `predicted_bytes`, O(M N + N n_iter).

    Source: Algorithm 1. Deviations: exp(C / mu) is shifted by the row maximum (as printed it overflows above C =
    0.0071); the default lam and n_iter (the paper: ||X - X C0||_F / K, which neither scales with X nor with N, and 100
    steps); equal columns are merged; a column without residual stays where its own penalty is least (the gradient is
    rounding there); lowest index on ties. The released code stops by an absolute gap (`gap_abs`) and takes t_init from
    the spectral norm. `tests/oracles` holds the dense version.

    Examples
    --------
    >>> fit = merit([[1.0, 0.0, 0.0, 0.5, 0.4], [0.0, 1.0, 0.0, 0.5, 0.3], [0.0, 0.0, 1.0, 0.0, 0.3]], 3)
    >>> sorted(fit.anchors.tolist())
    [0, 1, 2]
    """
    whole = dense_points(X)
    _check(whole.shape[1], n_anchors, lam, mu, n_iter, t_init, n_jobs, tol, gap_abs)
    _check_choices(objective, select, init)
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


def _weight_and_start(
    lam: Weight, init: Start, columns: Columns, K: int, factor: float
) -> tuple[float, sparse.csc_array | None]:
    """Return lam in units of X, and where to start; C0 is kept only where it is the start."""
    C0 = _spa_start(columns.points, K) if isinstance(lam, str) or isinstance(init, str) else None
    foreign = lam == "msr" and C0 is not None and _foreign(C0, columns)
    weight = 0.0 if foreign else _weight(lam, C0, columns, K, factor)
    from_spa = isinstance(init, str) or (foreign and init is None)
    return weight, C0 if from_spa else _given_start(init, columns)


def _weight(lam: Weight, C0: sparse.csc_array | None, columns: Columns, K: int, factor: float) -> float:
    """Return lam in units of X."""
    if not isinstance(lam, str) or C0 is None:
        return float(lam)
    rest = _misfit(columns.points, C0)
    if lam == "paper":
        return float(np.ldexp(rest, columns.exponent)) / K
    left = max(columns.used.size - K, 1)  # the anchors have no residual
    return float(np.ldexp(MSR_SHARE * factor / 2 * rest**2 / left, 2 * columns.exponent))


def _foreign(C0: sparse.csc_array, columns: Columns) -> bool:
    """Whether mixtures of SPA's anchors are no model of the other columns."""
    squares = np.einsum("mn,mn->n", columns.points, columns.points)
    squares[C0.indices] = 0  # the anchors
    return bool(_misfit(columns.points, C0) ** 2 > MISFIT * squares.sum())


def _first_t(start: sparse.csc_array | None, columns: Columns, t_init: int | None) -> float:
    """Return t of the first step; infinity where the start fits exactly and no step is due."""
    if start is None:
        return 0
    X = columns.points
    rest = _misfit(X, start)
    if rest <= FITS * np.linalg.norm(X):
        return np.inf
    rmse = np.ldexp(rest / np.sqrt(X.shape[1]), columns.exponent)
    return t_init or max(round(1 / rmse), 1)


def _most_gap(tol: float | None, gap_abs: float | None, columns: Columns) -> float:
    """Return the gap at which to stop, of the columns that take part; -inf where there is no such rule."""
    relative = -np.inf if tol is None else tol * np.sum(columns.points**2)
    return float(max(relative, -np.inf if gap_abs is None else columns.scaled(gap_abs)))


def _selected(X: Floats, scores: Floats, K: int, select: Select) -> Indices:
    top = top_rows(scores, K)
    if select == "top":
        return top
    spread = spread_rows(X, scores, K, max(3 * K, int(LISTED * scores.size)))
    if select == "spa" or squares_left(X, X[:, spread]) < CLEARLY_LESS * squares_left(X, X[:, top]):
        return spread
    return top


def _in_units(result: FrankWolfeResult, columns: Columns, factor: float) -> FrankWolfeResult:
    """Return objective and gap in units of X."""
    unit = np.ldexp(factor, 2 * columns.exponent)
    return replace(result, objective=unit * result.objective, gap=unit * result.gap)


def _misfit(X: Floats, C: sparse.csc_array) -> float:
    """Return ||X - X C||_F."""
    rest = C.T @ X.T
    rest -= X.T
    return float(np.linalg.norm(rest))


def _spa_start(X: Floats, K: int) -> sparse.csc_array:
    """Return C0: simplex least squares on the anchors of SPA, zero elsewhere."""
    anchors = spa(X, K, restart=True)
    H = sparse.csc_array(simplex_least_squares(X[:, anchors], X))
    return sparse.csc_array((H.data, anchors[H.indices], H.indptr), shape=(X.shape[1], X.shape[1]))


def _given_start(init: ArrayLike | sparse.sparray | None, columns: Columns) -> sparse.csc_array | None:
    if init is None:
        return None
    given = sound_places(init, "init") if sparse.issparse(init) else numbers(init, "init", 2)
    C0, N = sparse.csc_array(given, dtype=np.float64), columns.owner.size
    if C0.shape != (N, N):
        raise CofactorError(f"init has shape {C0.shape}: X has {N} columns, so give {N} x {N} coefficients")
    C0 = columns.shrink(C0)
    bad = np.abs(C0.sum(axis=0) - 1) > ON_SIMPLEX
    bad[C0.tocoo().col[~(C0.data >= 0)]] = True
    if bad.any():
        raise CofactorError(
            f"init is not on the simplex in {bad.sum()} columns ({listing(columns.used[bad])}): entries must be "
            "nonnegative, sum to one, and use no column of zeros"
        )
    C0.eliminate_zeros()
    return C0


def _check(
    N: int,
    n_anchors: int | None,
    lam: Weight,
    mu: float,
    n_iter: int,
    t_init: int | None,
    n_jobs: int | None,
    *tolerances: float | None,
) -> None:
    if n_anchors is not None:
        require_anchors(n_anchors, N)
    if lam not in ("msr", "paper") if isinstance(lam, str) else not (is_number(lam) and 0 <= lam < np.inf):
        raise CofactorError(f'lam={lam!r}: give "msr", "paper" or a number of at least 0')
    check_positive(mu=mu)
    counts = {"n_iter": n_iter, "t_init": t_init, "n_jobs": n_jobs}
    check_whole(1, **{name: count for name, count in counts.items() if count is not None or name == "n_iter"})
    if any(not (is_number(tolerance) and tolerance >= 0) for tolerance in tolerances if tolerance is not None):
        raise CofactorError(f"tol, gap_abs = {tolerances}: tolerances are 0 or more")


def _check_choices(objective: Objective, select: Select, init: Start) -> None:
    starts = ("spa",) if isinstance(init, str) else (init,)
    choices = ("objective", objective, get_args(Objective)), ("select", select, get_args(Select))
    given = (*choices, ("init", init, starts))
    for name, value, known in given:
        if not any(value is choice or (isinstance(value, str) and value == choice) for choice in known):
            raise CofactorError(f"{name}={value!r}: choose one of {', '.join(known)}")

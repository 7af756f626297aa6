"""MERIT: Frank-Wolfe on the self-dictionary, in memory linear in the number of points.

Model: X ~ X C, columns of C on the simplex; a row of C is filled only if its column of X is an anchor. Every step
moves every column of C towards one vertex of the simplex, so that C after T steps holds at most T entries per column
and is never formed as an N x N array.

    symbol   meaning                                                     shape       here
    X        points, one per column                                      (M, N)      Algorithm 1
    C        coefficients                                                (N, N)      lists per column
    R        residual X C - X                                            (M, N)
    lam, mu  weight and smoothing of the row penalty Phi_mu                          Eq. (16)-(18)
    t        counts steps; the step length is 2 / (t + 2)                            Eq. (11)
    rho      score of a row, its largest entry                           (N,)        Theorem 3

Source: Nguyen, Fu and Wu, "Memory-efficient convex optimization for self-dictionary separable nonnegative matrix
factorization: a Frank-Wolfe approach", IEEE TSP 2022, Algorithm 1.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from cofactor.core.checks import check_whole, is_number, numbers
from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.least_squares import simplex_least_squares
from cofactor.core.spa import spa
from cofactor.core.types import Floats, Indices
from cofactor.separable.base import AnchorFit, Matrix, dense_points, require_anchors
from cofactor.separable.columns import Columns, columns_used
from cofactor.separable.descent import Budget, FrankWolfeResult, descend
from cofactor.separable.lists import Coefficients
from cofactor.separable.selection import CLEAR, spread_rows, suggest_n_anchors, top_rows

Start: TypeAlias = Literal["spa"] | ArrayLike | sparse.sparray | None

MSR_SHARE = 1.5  # lam of "msr" in mean squared residuals of SPA; from 1 to 2 little changes
FITS = 1e-12  # a start whose residual is this share of X is exact
ON_SIMPLEX = 1e-6  # how far from one the columns of a given start may sum
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
    lam: Literal["msr", "paper"] | float = "msr",
    mu: float = 1e-5,
    n_iter: int = 50,
    objective: Literal["full", "half"] = "full",
    init: Start = None,
    t_init: int | None = None,
    tol: float | None = None,
    gap_abs: float | None = None,
    merge_duplicates: bool = False,
    select: Literal["top", "spa"] = "top",
    score_dtype: Literal["float32", "float64"] = "float32",
    n_jobs: int | None = None,
    random_state: int | np.random.Generator | None = None,
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
        K. Default: as many as `suggest_n_anchors` says, with a warning where its margin is below 0.5.
    lam : "msr", "paper" or float >= 0
        "msr" is 1.5 times the mean squared residual of SPA, 1.5 ||X - X C0||_F^2 / (N - K): the mean over columns that
        have one, since the K that SPA chose fit themselves. "paper" is the heuristic ||X - X C0||_F / K. 0 is
        MERIT(0), without penalty.
    mu : float > 0
        Smoothing of the row maxima; without consequence from 1e-7 to 1e-1.
    n_iter : int >= 1
        Steps. More is not better: with "paper", stopping early is part of what makes it work.
    objective : "full" or "half"
        Half is the printed 1/2 ||X - X C||_F^2 + lam Phi_mu(C); full is what the released code minimises, the same as
        half with lam / 2.
    init : None, "spa" or (N, N) array or sparse matrix
        Where to start: C = 0, the simplex least squares on the anchors of SPA, or the columns given.
    t_init : int >= 1, optional
        First t of a start other than zero. Default: round(1 / RMSE), RMSE = ||X - X C0||_F / sqrt(N).
    tol : float, optional
        Stop when the gap is at most tol ||X||_F^2.
    gap_abs : float, optional
        Stop when the gap is below this, in units of the objective: the rule of the released code.
    merge_duplicates : bool
        Merge columns that are equal up to 1e-9 of the largest entry, so that rounding has nothing to decide.
    select : "top" or "spa"
        "top" takes the K rows of largest score; "spa" runs SPA on the tenth of all rows (3 K at least) that score
        highest: for data in which each anchor occurs several times, each time with other noise.
    score_dtype : "float32" or "float64"
        Precision of rough scores. The result is the same; see `scoring`.
    n_jobs : int, optional
        Threads. Default: as many as BLAS may use. The result is the same at any number.
    random_state : int, Generator or None
        Not used, nothing is random: there so that all methods are called alike.

    Returns
    -------
    MeritFit

    Raises
    ------
    CofactorError
        X holds NaN or infinity (columns are named) or is zero everywhere; n_anchors, lam, mu, n_iter, t_init, n_jobs
        or a tolerance out of range; a start that is not on the simplex.

    Warns
    -----
    DataWarning
        Columns of X are zero (named): they are left out, their coefficients stay empty. The number of anchors was not
        given, and is not clear from X.
    ConvergenceWarning
        A tolerance was given and not met.

    Notes
    -----
    Not always better than `spa`, which takes far less time. With 3 to 10 anchors and noise on all columns SPA finds
    more of them: 94 against 87 % among 200 uniform mixtures, 99 against 98 % among mid-points (50 rows, 10 to 30 dB,
    600 problems each), the difference being at most 3 points from 20 dB on. MERIT finds more where anchors are many (40
    among 200 uniform mixtures at 10 dB: 100 against 95 %, 20 problems), and where they are exact and noise pushes the
    mixtures outwards (91 against 59 %, 600 problems). `cofactor reproduce practice-separable` measures it again.

    Cost
    ----
    2 M N^2 flops per step; memory see `predicted_bytes`, O(M N + N n_iter).

    Source
    ------
    Algorithm 1. Deviations: exp(C / mu) is shifted by the row maximum (as printed it overflows above C = 0.0071); the
    default lam and n_iter (the paper: ||X - X C0||_F / K, which neither scales with X nor with N, and 100 steps); a
    column without residual stays where its own penalty is least (the gradient is rounding there); lowest index on
    ties. The released code stops by an absolute gap (`gap_abs`) and takes t_init from the spectral norm.
    `tests/oracles` holds the dense version.

    Examples
    --------
    >>> fit = merit([[1.0, 0.0, 0.0, 0.5, 0.4], [0.0, 1.0, 0.0, 0.5, 0.3], [0.0, 0.0, 1.0, 0.0, 0.3]], 3)
    >>> sorted(fit.anchors.tolist())
    [0, 1, 2]
    """
    whole = dense_points(X)
    _check(whole.shape[1], n_anchors, lam, mu, n_iter, t_init, n_jobs, tol, gap_abs)
    _check_choice("objective", objective, ("full", "half"))
    _check_choice("select", select, ("top", "spa"))
    _check_choice("score_dtype", score_dtype, ("float32", "float64"))
    if isinstance(init, str):
        _check_choice("init", init, ("spa",))
    columns = columns_used(whole, merge_duplicates)
    gaps = (-np.inf if tol is None else tol * np.sum(columns.points**2), -np.inf if gap_abs is None else gap_abs)
    most_gap = max(gaps[0], np.ldexp(gaps[1], -2 * columns.exponent)) / (2 if objective == "full" else 1)
    task = _Task(columns, lam, mu, objective, init, t_init, Budget(n_iter, most_gap, score_dtype, n_jobs))
    n_suggested, margin = suggest_n_anchors(columns.points)
    if n_anchors is None and margin < CLEAR:
        _warn_unclear(n_suggested, margin)
    K = n_anchors or n_suggested
    C, value, result = task.solve(K)
    scores = C.peaks()
    if select == "spa":
        anchors = spread_rows(columns.points, scores, K, max(3 * K, int(LISTED * scores.size)))
    else:
        anchors = top_rows(scores, K)
    found = columns.used[anchors], columns.expand_scores(scores), columns.expand(C.to_sparse()), result
    return MeritFit(*found, value, n_suggested, margin, columns.groups)


def _warn_unclear(n_suggested: int, margin: float) -> None:
    warnings.warn(
        f"the number of anchors is not clear: {n_suggested} suggested by a margin of {margin:.2f}, and below {CLEAR} "
        "it is often wrong; try several, or give n_anchors",
        DataWarning,
        stacklevel=3,
    )


@dataclass(frozen=True)
class _Task:
    """One call of `merit`, on clean columns; what depends on the number of anchors is settled in `solve`."""

    columns: Columns
    lam: str | float
    mu: float
    objective: str
    init: Start
    t_init: int | None
    budget: Budget

    @property
    def needs_spa(self) -> bool:
        return isinstance(self.lam, str) or isinstance(self.init, str)

    def solve(self, K: int) -> tuple[Coefficients, float, FrankWolfeResult]:
        """Return C, the lam used, and how it went, both in units of X; K counts only for what starts from SPA."""
        X, double = self.columns.points, 2 * self.columns.exponent
        start, lam = self._start(K)
        whole = 2.0 if self.objective == "full" else 1.0
        t = self._first_t(start)
        budget = self.budget if t < np.inf else replace(self.budget, n_iter=0)
        C, result = descend(X, start, t, float(np.ldexp(lam, -double)) / whole, self.mu, budget)
        unit = np.ldexp(whole, double)
        return C, lam, replace(result, objective=unit * result.objective, gap=unit * result.gap)

    def _start(self, K: int) -> tuple[sparse.csc_array | None, float]:
        """Return the start and lam; SPA's coefficients are dropped where they only served lam."""
        C0 = _spa_start(self.columns.points, K) if self.needs_spa else None
        lam = self._lam(C0, K)
        return (C0 if isinstance(self.init, str) else _given_start(self.init, self.columns)), lam

    def _lam(self, C0: Any, K: int) -> float:
        if not isinstance(self.lam, str):
            return float(self.lam)
        rest = _misfit(self.columns.points, C0)
        if self.lam == "paper":
            return float(np.ldexp(rest, self.columns.exponent)) / K
        share = MSR_SHARE if self.objective == "full" else MSR_SHARE / 2
        left = max(self.columns.used.size - K, 1)  # the columns of SPA's anchors have no residual
        return float(np.ldexp(share * rest**2 / left, 2 * self.columns.exponent))

    def _first_t(self, start: sparse.csc_array | None) -> float:
        """Return t of the first step; infinity where the start fits exactly and no step is due."""
        if start is None:
            return 0
        X = self.columns.points
        rest = _misfit(X, start)
        if rest <= FITS * np.linalg.norm(X):
            return np.inf
        rmse = np.ldexp(rest / np.sqrt(X.shape[1]), self.columns.exponent)
        return self.t_init or max(round(1 / rmse), 1)


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


def _given_start(init: Start, columns: Columns) -> sparse.csc_array | None:
    if init is None:
        return None
    given = init if sparse.issparse(init) else numbers(init, "init", 2)
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
    lam: str | float,
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
    if not (is_number(mu) and 0 < mu < np.inf):
        raise CofactorError(f"mu={mu!r}: the smoothing must be above 0 (1e-5 is the paper's)")
    check_whole(1, n_iter=n_iter)
    for name, count in {"t_init": t_init, "n_jobs": n_jobs}.items():
        if count is not None:
            check_whole(1, **{name: count})
    if any(not (is_number(tolerance) and tolerance >= 0) for tolerance in tolerances if tolerance is not None):
        raise CofactorError(f"tol, gap_abs = {tolerances}: tolerances are 0 or more")


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise CofactorError(f"{name}={value!r}: choose one of {', '.join(choices)}")

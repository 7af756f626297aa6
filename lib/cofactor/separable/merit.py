"""MERIT: Frank-Wolfe on the self-dictionary, which finds all anchors at once in memory linear in the number of points.

The plain version, `cofactor.plain.merit`, is the algorithm in ten lines; read it first:

    C = sparse.csc_array((N, N))
    for t in range(n_iter):
        U = unit_vectors(least_of_gradient(X, C, lam, mu))   # of every column of G = 2 X'(X C - X) + lam P, the least
        step = 2 / (t + 2)
        C = (1 - step) * C + step * U
    anchors = np.argsort(-C.max(axis=1))[:K]                 # rows by their largest entry

`descend` is this loop; `merit` provides the weight and the start, and selects the anchors at the end.

    plain version                                      here
    least_of_gradient, 500 columns of G at a time      GradientTiles.least_of_gradient, in tiles that are discarded
    row_softmax, P in two parts                        row_penalty, the same two parts times lam
    C = (1 - step) C + step U, a sparse matrix         Coefficients.step, one list of entries per column
    residual_of_spa                                    `_weight`, "msr"

Model: X ~ X C with the columns of C on the simplex; a row of C is nonzero only if its column of X is an anchor. Every
step moves every column of C towards one vertex of the simplex, so after T steps C has at most T entries per column and
is never formed as an N x N array.

    symbol   meaning                                                     shape       here
    X        points, one per column                                      (M, N)      Algorithm 1
    C        coefficients: scale * weights at rows, by column            (N, N)      N lists
    C0       coefficients on the anchors of SPA, or a given start        (N, N)
    lam, mu  weight and smoothing of the row penalty Phi_mu                          Eq. (18)
    t        number of the first step                                                Eq. (11)
    r_l      X c_l - x_l, the residual of column l                       (M,)
    m_n      peak of row n of C                                          (N,)
    S_n      sum over l of exp((C_nl - m_n) / mu), including zeros       (N,)
    y_nl     penalty lam exp((C_nl - m_n) / mu) / S_n
    p_n      the penalty for C_nl = 0                                    (N,)

The linear step. The gradient of column l (half of the plain one) is g_n = x_n'r_l + y_nl. A BLAS product per tile of
columns and block of rows gives approximate scores (X has the base penalties p as an additional row, and the residuals
have a one); compiled code reduces a block, while it is in the cache, to the least score of every column. The error of
approximate scores is at most

    e_l = eps (M + 8) (max_n ||x_n|| ||r_l|| + max_n y_nl),

so the exact minimum is within 2 e_l of the approximate one. All candidates in this range are scored again in double
precision, term by term, and ties go to the lowest index. The choice therefore depends neither on the precision of the
approximate scores, nor on BLAS, nor on the number of threads.

Source: Nguyen, Fu and Wu, "Memory-efficient convex optimization for self-dictionary separable nonnegative matrix
factorization: a Frank-Wolfe approach", IEEE TSP 2022, Algorithm 1.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse
from threadpoolctl import ThreadpoolController

from cofactor.core.checks import check_positive, check_whole, is_number, numbers, sound_places
from cofactor.core.errors import CofactorError, ConvergenceWarning, listing
from cofactor.core.estimator import Result, progress
from cofactor.core.lazy import njit
from cofactor.core.simplex import require_anchors, spa
from cofactor.core.types import Floats, Indices
from cofactor.separable.columns import (
    AnchorFit,
    Columns,
    Matrix,
    columns_used,
    dense_points,
    lone_columns_with_warning,
    settled_number,
    spread_rows,
    squares_left,
    suggest_n_anchors,
    top_rows,
)
from cofactor.separable.least_squares import simplex_least_squares

Weight: TypeAlias = Literal["msr", "paper"] | float
Objective = Literal["full", "half"]
Start: TypeAlias = Literal["spa"] | ArrayLike | sparse.sparray | None
Select = Literal["auto", "top", "spa"]
Rough = NDArray[np.float32] | Floats
Picks = NDArray[np.int64]
Ints32 = NDArray[np.int32]

MSR_SHARE = 1.5  # lam of "msr" in mean squared residuals of SPA; from 1 to 2 little changes
FOREIGN = 0.5  # share of the squares that mixtures of SPA's anchors leave, above which they are no model of X
EXACT_START = 1e-12  # a start whose residual is this share of X is exact
CLEARLY_LESS = 0.5  # share of squares by which another selection must be better to be taken
LISTED = 0.1  # share of all rows that select="spa" chooses among
ON_SIMPLEX = 1e-6  # how far from one the columns of a given start may sum
FLOPS_OF_THREADS = 2e7  # per step, below which more threads only cost
CAPACITY = 16  # entries per column that lists start with
LEAST_EXPONENT = -700.0  # exp of less than this counts as zero
LANES = 64  # rough minima kept per column of a block; a lane holds every 64th row
TILE_COLUMNS, BLOCK_ROWS = 384, 1024  # scored at a time: 1.5 MB of rough scores, which stay in the cache
THIN_ROWS, THIN_TILE, THIN_BLOCK = 16, 32, 2048  # the same where X has fewer rows, and the product costs little
CACHE_LINE = 64  # bytes
FITTED = 1e-24  # a squared residual of this share of the squared length is rounding
UNDERFLOW = 1e-35  # what products that fall below the range of single precision may add up to


@dataclass(frozen=True)
class FrankWolfeResult(Result):
    """Convergence information of `merit`: a `Result` with the duality gap and the number of stored entries per step.

    Attributes
    ----------
    gap : (n_iter,) array
        Duality gap at the start of each step, in units of the objective; no feasible point is lower by more. NaN for
        the first step from C = 0, which is not feasible.
    nnz : (n_iter,) ints
        Number of entries stored after each step.
    """

    gap: Floats
    nnz: Indices


@dataclass(frozen=True)
class MeritFit(AnchorFit):
    """Result of `merit`: an `AnchorFit` with the penalty weight lam and the suggested number of anchors.

    Attributes
    ----------
    lam : float
        The penalty weight that was used.
    n_suggested : int
        The number of anchors from `suggest_n_anchors`.
    margin : float in [0, 1]
        The margin of this suggestion.
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
    """Find all anchor columns at once by convex optimisation.

        min over C of  ||X - X C||_F^2 + lam Phi_mu(C),   C >= 0,  columns of C sum to one,
        Phi_mu(C) = sum_n mu log( (1/N) sum_l exp(C_nl / mu) ),  about the sum of row maxima,

    by n_iter steps of Frank-Wolfe, C = (1 - a) C + a [e_j1, ..., e_jN] with a = 2 / (t + 2) and j_l the index of the
    least entry of column l of the gradient. The score of a row is its largest entry.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column, finite, of any sign. If the weights of the model do not sum to one by themselves, scale
        the columns to sum to one first.
    n_anchors : int in [1, N], optional
        K. Default: the number from `suggest_n_anchors`, with a warning if its margin is below 0.5; `lone_columns` are
        then left out.
    lam : "msr", "paper" or float >= 0
        "msr" is 1.5 times the mean squared residual of SPA, 1.5 ||X - X C0||_F^2 / (N - K), averaged over the columns
        that are not anchors of SPA. If mixtures of these anchors leave more than half of the squares of the other
        columns unexplained, as for words and for nodes of real graphs, the residual does not measure noise; "msr" then
        means no penalty (lam = 0) and a start at SPA's coefficients C0. "paper" is the heuristic ||X - X C0||_F / K. 0
        is MERIT(0), without a penalty.
    mu : float > 0
        Smoothing of the row maxima; values from 1e-7 to 1e-1 make no difference.
    n_iter : int >= 1
        Number of steps. More steps are not always better: "paper" relies on stopping early.
    objective : "full" or "half"
        "half" is the printed 1/2 ||X - X C||_F^2 + lam Phi_mu(C); "full" is the objective of the released code, which
        equals "half" with lam / 2.
    init : None, "spa" or (N, N) array or sparse matrix
        Start at C = 0, at C0 (simplex least squares on the anchors of SPA), or at the given coefficients.
    t_init : int >= 1, optional
        First t if the start is not zero. Default: round(1 / RMSE), RMSE = ||X - X C0||_F / sqrt(N).
    tol : float, optional
        Stop when the gap is at most tol ||X||_F^2.
    gap_abs : float, optional
        Stop when the gap is at most this, in units of the objective, as in the released code.
    merge_duplicates : bool
        Merge columns that are equal up to 1e-9 of the largest entry, so that rounding does not decide between them.
    select : "auto", "top" or "spa"
        "top" takes the K rows with the largest scores. "spa" runs SPA on the tenth of the rows (at least 3 K) with the
        largest scores, for data in which each anchor occurs several times with different noise. "auto" takes "spa" if
        mixtures of its anchors leave less than half of the squares that those of "top" leave.
    n_jobs : int, optional
        Number of threads. Default: that of BLAS. The result does not depend on it.
    verbose : bool
        Show a progress bar on a terminal.

    Raises
    ------
    CofactorError
        X contains NaN or infinity (columns are named) or only zeros; an argument is out of range; or the start is not
        on the simplex.

    Warns
    -----
    DataWarning
        Columns of X are zero (they are named and left out, with empty coefficients). If `n_anchors` is None: the
        suggested number is uncertain, or there are lone columns (they are named and left out).
    ConvergenceWarning
        A tolerance was given but not reached.

    SPA takes far less time and is often as good or better, especially with few anchors and noise on all columns. MERIT
    finds more anchors if there are many of them, and if they are exact and noise pushes the mixtures outwards.
    `cofactor bench SPA --problem separable` measures both.

    Cost: 2 M N^2 flops per step; O(M N + N n_iter) memory, see `predicted_bytes`.

    Source: Algorithm 1. Deviations: exp(C / mu) is shifted by the row maximum (as printed, it overflows above C =
    0.0071); the default lam and n_iter (the paper: ||X - X C0||_F / K, which scales neither with X nor with N, and 100
    steps); equal columns are merged; a column without residual stays where its own penalty is least, because its
    gradient is a rounding error; ties go to the lowest index. The released code stops at an absolute gap (`gap_abs`)
    and derives t_init from the spectral norm. `cofactor.plain.merit` is the plain version; `tests/oracles` has the
    dense one.

    Examples
    --------
    >>> fit = merit([[1.0, 0.0, 0.0, 0.5, 0.4], [0.0, 1.0, 0.0, 0.5, 0.3], [0.0, 0.0, 1.0, 0.0, 0.3]], 3)
    >>> sorted(fit.anchors.tolist())
    [0, 1, 2]
    """
    whole = dense_points(X)
    _check_options(whole.shape[1], n_anchors, lam, mu, n_iter, objective, init, t_init, (tol, gap_abs), select, n_jobs)
    columns = columns_used(whole, merge_duplicates, lone_columns_with_warning(whole) if n_anchors is None else None)
    points, unit = columns.points, 2 * columns.exponent  # of squares: X is divided by 2**exponent
    n_suggested, margin = suggest_n_anchors(points)
    K = settled_number(n_anchors, n_suggested, margin)
    factor = 2.0 if objective == "full" else 1.0  # `descend` knows the half
    C0 = _spa_start(points, K) if isinstance(lam, str) or isinstance(init, str) else None
    weight, foreign = _weight(lam, C0, columns, K, factor)
    start = C0 if isinstance(init, str) or (foreign and init is None) else _given_start(init, columns)
    t, n_iter = _first_step(start, columns, t_init, n_iter)
    most_gap = -np.inf if tol is None else tol * np.sum(points**2)
    most_gap = max(most_gap, -np.inf if gap_abs is None else np.ldexp(gap_abs, -unit)) / factor
    C, result = descend(
        points, start, t, np.ldexp(weight, -unit) / factor, mu, n_iter, float(most_gap), n_jobs=n_jobs, verbose=verbose
    )
    scores = C.peaks()
    anchors = columns.used[_selected(points, scores, K, select)]
    in_units = np.ldexp(factor, unit)
    result = replace(result, objective=in_units * result.objective, gap=in_units * result.gap)
    found = anchors, columns.expand_scores(scores), columns.expand(C.to_sparse())
    return MeritFit(*found, result, weight, n_suggested, margin, columns.groups)


def descend(
    X: Floats,
    start: sparse.csc_array | None,
    t: float,
    lam: float,
    mu: float,
    n_iter: int,
    most_gap: float = -np.inf,
    dtype: DTypeLike = np.float32,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> tuple[Coefficients, FrankWolfeResult]:
    """Minimise 1/2 ||X - X C||_F^2 + lam Phi_mu(C) by the steps t, t + 1, ... of Frank-Wolfe from C = `start`.

    This is the loop of `cofactor.plain.merit`, whose lines are quoted in the comments; `start=None` means C = 0. Unlike
    the plain version, it updates the residuals X C - X and the penalty of the rows of C from step to step. It ends
    after n_iter steps, or when the gap is at most `most_gap`; approximate scores have the type `dtype`.
    """
    points = np.ascontiguousarray(X.T)  # no copy where columns of X lie together
    C = Coefficients.empty(len(points), CAPACITY) if start is None else Coefficients.from_sparse(start, CAPACITY)
    residuals = -points if start is None else start.T @ points
    if start is not None:
        residuals -= points
    objective, gap, nnz, converged = [], [], [], False
    blas, threads = ThreadpoolController(), 1
    with blas.limit(limits=1, user_api="blas"):
        if 2 * X.size * len(points) >= FLOPS_OF_THREADS:
            known = [pool["num_threads"] for pool in blas.info() if pool["user_api"] == "blas"]
            threads = n_jobs or max(known, default=1)
        tiles = GradientTiles(points, dtype, threads, prefer_stored=start is not None)
        penalty, _ = row_penalty(C, lam, mu)  # plain: row_softmax
        steps = range(n_iter)
        for step in progress(steps, "MERIT", verbose) if verbose else steps:
            picks, gaps = tiles.least_of_gradient(residuals, C, penalty)  # plain: the same name
            fit = C.step(points, residuals, picks, alpha=2 / (t + step + 2))  # plain: (1 - step) C + step U
            penalty, peaks = row_penalty(C, lam, mu)
            objective.append(fit / 2 + lam * peaks)
            gap.append(float(gaps.sum()) if step or start is not None else np.nan)
            nnz.append(C.nnz)
            converged = step > 0 and gap[-1] <= most_gap
            if converged:
                break
    made = len(objective)
    if not made:
        converged, reason = True, "the start is exact, so no step was taken"
    elif converged:
        reason = f"the gap is within the tolerance after {made} steps"
    elif most_gap == -np.inf:
        converged, reason = True, f"stopped after {made} steps; no tolerance was set"
    else:
        reason = f"the gap did not reach the tolerance within {made} steps"
        warnings.warn(f"MERIT: {reason}", ConvergenceWarning, stacklevel=3)
    return C, FrankWolfeResult(np.array(objective), made, converged, reason, np.array(gap), np.array(nnz))


# ---- what the loop is given ----


def _check_options(
    N: int,
    n_anchors: int | None,
    lam: Weight,
    mu: float,
    n_iter: int,
    objective: Objective,
    init: Start,
    t_init: int | None,
    tolerances: tuple[float | None, float | None],
    select: Select,
    n_jobs: int | None,
) -> None:
    """Raise a CofactorError if an option is out of range; N is the number of columns of X."""
    if n_anchors is not None:
        require_anchors(n_anchors, N)
    if lam not in ("msr", "paper") if isinstance(lam, str) else not (is_number(lam) and 0 <= lam < np.inf):
        raise CofactorError(f"lam={lam!r}: must be 'msr', 'paper' or a nonnegative number")
    check_positive(mu=mu)
    counts = {"n_iter": n_iter, "t_init": t_init, "n_jobs": n_jobs}
    check_whole(1, **{name: count for name, count in counts.items() if count is not None or name == "n_iter"})
    if any(not (is_number(tolerance) and tolerance >= 0) for tolerance in tolerances if tolerance is not None):
        raise CofactorError(f"tol, gap_abs = {tolerances}: tolerances must be nonnegative")
    words = [("objective", objective, get_args(Objective)), ("select", select, get_args(Select))]
    for name, value, known in words + ([("init", init, ("spa",))] if isinstance(init, str) else []):
        if not (isinstance(value, str) and value in known):
            raise CofactorError(f"{name}={value!r}: must be one of {', '.join(map(repr, known))}")


def _spa_start(X: Floats, K: int) -> sparse.csc_array:
    """Return C0, the simplex least-squares coefficients on the anchors of SPA; all other rows are zero."""
    anchors = spa(X, K, restart=True)
    H = sparse.csc_array(simplex_least_squares(X[:, anchors], X))
    return sparse.csc_array((H.data, anchors[H.indices], H.indptr), shape=(X.shape[1], X.shape[1]))


def _weight(lam: Weight, C0: sparse.csc_array | None, columns: Columns, K: int, factor: float) -> tuple[float, bool]:
    """Return lam in units of X, and whether mixtures of SPA's anchors fail to explain the other columns."""
    if not isinstance(lam, str) or C0 is None:
        return float(lam), False
    rest = _residual_norm(columns.points, C0)
    if lam == "paper":
        return float(np.ldexp(rest, columns.exponent)) / K, False
    squares = np.einsum("mn,mn->n", columns.points, columns.points)
    squares[C0.indices] = 0  # the anchors, which have no residual
    if rest**2 > FOREIGN * squares.sum():
        return 0.0, True
    left = max(columns.used.size - K, 1)
    return float(np.ldexp(MSR_SHARE * factor / 2 * rest**2 / left, 2 * columns.exponent)), False


def _given_start(init: ArrayLike | sparse.sparray | None, columns: Columns) -> sparse.csc_array | None:
    """Return the given (N, N) coefficients on the used columns; refuse coefficients that are not on the simplex."""
    if init is None:
        return None
    given = sound_places(init, "init") if sparse.issparse(init) else numbers(init, "init", 2)
    C0, N = sparse.csc_array(given, dtype=np.float64), columns.owner.size
    if C0.shape != (N, N):
        raise CofactorError(f"init has shape {C0.shape}, but X has {N} columns: pass {N} x {N} coefficients")
    C0 = columns.shrink(C0)
    bad = np.abs(C0.sum(axis=0) - 1) > ON_SIMPLEX
    bad[C0.tocoo().col[~(C0.data >= 0)]] = True
    if bad.any():
        raise CofactorError(
            f"init is not on the simplex in {bad.sum()} columns ({listing(columns.used[bad])}): entries must be "
            "nonnegative, sum to one, and use no zero columns of X"
        )
    C0.eliminate_zeros()
    return C0


def _first_step(start: sparse.csc_array | None, columns: Columns, t_init: int | None, n_iter: int) -> tuple[float, int]:
    """Return t of the first step and the number of steps, which is zero if the start is exact."""
    if start is None:
        return 0, n_iter
    X = columns.points
    rest = _residual_norm(X, start)
    if rest <= EXACT_START * np.linalg.norm(X):
        return np.inf, 0
    rmse = np.ldexp(rest / np.sqrt(X.shape[1]), columns.exponent)
    return t_init or max(round(1 / rmse), 1), n_iter


def _residual_norm(X: Floats, C: sparse.csc_array) -> float:
    """Return ||X - X C||_F."""
    rest = C.T @ X.T
    rest -= X.T
    return float(np.linalg.norm(rest))


def _selected(X: Floats, scores: Floats, K: int, select: Select) -> Indices:
    """Return the K anchors chosen by the scores of rows, as described in `merit`."""
    top = top_rows(scores, K)
    if select == "top":
        return top
    spread = spread_rows(X, scores, K, max(3 * K, int(LISTED * scores.size)))
    if select == "spa" or squares_left(X, X[:, spread]) < CLEARLY_LESS * squares_left(X, X[:, top]):
        return spread
    return top


# ---- coefficients as lists of entries per column, and a step on them ----


class Entries(NamedTuple):
    """The coefficients C for compiled loops: C[rows[l, e], l] = scale * weights[l, e] for e < count[l]."""

    rows: Ints32
    weights: Floats
    count: Ints32  # type: ignore[assignment]  # tuple.count is not missed
    scale: float


class RowPenalty(NamedTuple):
    """The penalty of the rows of C, of lam Phi_mu(C) = lam sum_n mu log(mean_l exp(C_nl / mu))."""

    base: Floats  # p
    peak: Floats  # m
    total: Floats  # S
    lam: float
    mu: float


@dataclass
class Coefficients:
    """The coefficients C as `entries`, in arrays that grow when a column is full."""

    entries: Entries

    @classmethod
    def empty(cls, n_points: int, capacity: int) -> Coefficients:
        """Return C = 0 with space for `capacity` entries per column."""
        shape = n_points, capacity
        return cls(Entries(np.empty(shape, np.int32), np.empty(shape), np.zeros(n_points, np.int32), 1.0))

    @classmethod
    def from_sparse(cls, C: sparse.csc_array, spare: int) -> Coefficients:
        """Return the entries of C, with space for more in every column."""
        count = np.diff(C.indptr)
        lists = cls.empty(len(count), int(count.max()) + spare)
        rows, weights, counts, _ = lists.entries
        column, place = np.repeat(np.arange(len(count)), count), np.arange(C.nnz) - np.repeat(C.indptr[:-1], count)
        rows[column, place], weights[column, place] = C.indices, C.data
        counts[:] = count
        return lists

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return int(self.entries.count.sum())

    def peaks(self) -> Floats:
        """Return the largest entry of every row."""
        return _row_peaks(self.entries)[0]

    def to_sparse(self) -> sparse.csc_array:
        """Return C as a sparse matrix with sorted row indices."""
        rows, weights, count, scale = self.entries
        stored = np.arange(rows.shape[1]) < count[:, None]
        indptr = np.append(0, np.cumsum(count, dtype=np.int64))
        C = sparse.csc_array((scale * weights[stored], rows[stored], indptr), shape=(len(count), len(count)))
        C.sort_indices()
        return C

    def step(self, points: Floats, residuals: Floats, picks: NDArray[np.int64], alpha: float) -> float:
        """Move every column and its residual by alpha towards its pick; return the sum of squared residuals."""
        rows, weights, count, scale = self.entries
        capacity = rows.shape[1]
        if int(count.max()) == capacity:  # a column is full: double the room
            more = np.zeros((len(count), min(capacity, len(count) - capacity + 1)), np.int32)
            rows, weights = np.hstack([rows, more]), np.hstack([weights, more])
        self.entries = Entries(rows, weights, count, scale * (1 - alpha) if alpha < 1 else 1.0)
        return float(_take_step(self.entries, points, residuals, picks, alpha))


def row_penalty(C: Coefficients, lam: float, mu: float) -> tuple[RowPenalty, float]:
    """Return the penalty of the rows of C and Phi_mu(C); rows are shifted by their peaks to avoid overflow."""
    peak, stored = _row_peaks(C.entries)
    zeros: Floats = np.exp(np.maximum(-peak / mu, 2 * LEAST_EXPONENT))
    total = (len(peak) - stored) * zeros
    _add_row_sums(C.entries, mu, peak, total)
    value = float(np.sum(peak + mu * np.log(total / len(peak))))
    return RowPenalty(lam * zeros / total, peak, total, lam, mu), value


@njit(cache=True, nogil=True)
def _row_peaks(C: Entries) -> tuple[Floats, NDArray[np.int64]]:
    """Return the largest entry and the number of entries of every row."""
    peak, stored = np.zeros(len(C.count)), np.zeros(len(C.count), np.int64)
    for l in range(len(C.count)):
        for e in range(C.count[l]):
            n = C.rows[l, e]
            stored[n] += 1
            peak[n] = max(peak[n], C.scale * C.weights[l, e])
    return peak, stored


@njit(cache=True, nogil=True)
def _add_row_sums(C: Entries, mu: float, peak: Floats, total: Floats) -> None:
    for l in range(len(C.count)):
        for e in range(C.count[l]):
            exponent = (C.scale * C.weights[l, e] - peak[C.rows[l, e]]) / mu
            if exponent > LEAST_EXPONENT:
                total[C.rows[l, e]] += np.exp(exponent)


@njit(cache=True, nogil=True)
def entry_penalty(C: Entries, penalty: RowPenalty, l: int, e: int) -> float:
    """Return y of entry e of column l."""
    n = C.rows[l, e]
    exponent = (C.scale * C.weights[l, e] - penalty.peak[n]) / penalty.mu
    return penalty.lam * np.exp(exponent) / penalty.total[n] if exponent > LEAST_EXPONENT else 0.0


@njit(cache=True, nogil=True)
def _take_step(C: Entries, points: Floats, residuals: Floats, picks: NDArray[np.int64], alpha: float) -> float:
    fit = 0.0
    for l in range(len(picks)):
        j, x, r = picks[l], points[l], residuals[l]
        if alpha == 1:
            C.count[l] = 0
        e = 0
        while e < C.count[l] and C.rows[l, e] != j:
            e += 1
        if e == C.count[l]:
            C.rows[l, e], C.weights[l, e] = j, 0.0
            C.count[l] += 1
        C.weights[l, e] += alpha / C.scale
        for m in range(len(r)):
            r[m] = (1 - alpha) * r[m] + alpha * (points[j, m] - x[m])
            fit += r[m] * r[m]
    return fit


# ---- the linear step: for every column the least entry of its gradient ----


class Scan(NamedTuple):
    """The inputs of the compiled loops of one step."""

    points: Floats
    residuals: Floats
    squares: Floats  # squared lengths of points
    blocks: Rough  # points as columns, with a row for p: (blocks, M + 1, points of a block)
    C: Entries
    penalty: RowPenalty
    error: float  # of a rough score, as a share of max ||x|| ||r|| + max y
    longest: float  # max ||x||
    base_max: float  # max p
    tile: int
    prefer_stored: bool


class GradientTiles:
    """Search for the least entry of every column of the gradient, tile by tile, on `n_threads` threads.

    The points are kept as rows in double precision and, in blocks, as columns in the precision of approximate scores. A
    column without residual is scored by its penalties only; with `prefer_stored`, ties go to rows that C stores.
    """

    def __init__(self, points: Floats, dtype: DTypeLike, n_threads: int, prefer_stored: bool) -> None:
        N, M = points.shape
        self.points, self.n_threads, self.prefer_stored = points, n_threads, prefer_stored
        self.tile, block = (TILE_COLUMNS, BLOCK_ROWS) if M >= THIN_ROWS else (THIN_TILE, THIN_BLOCK)
        self.ends = range(block, N, block)
        self.blocks = np.zeros((len(self.ends) + 1, M + 1, min(block, N)), dtype)
        for rows, columns in zip(np.split(points, self.ends), self.blocks, strict=True):
            columns[:M, : len(rows)] = rows.T
        self.squares = np.einsum("nm,nm->n", points, points)
        self.error = (M + 8) * float(np.finfo(self.blocks.dtype).eps) / 2

    def least_of_gradient(self, residuals: Floats, C: Coefficients, penalty: RowPenalty) -> tuple[Picks, Floats]:
        """Return the row to move to for every column, and the gap r'(r + x) + sum_n C_n y_n - min_n g_n."""
        N = len(residuals)
        for base, columns in zip(np.split(penalty.base, self.ends), self.blocks, strict=True):
            columns[-1, : len(base)] = base
        longest, base_max = float(np.sqrt(self.squares.max())), float(penalty.base.max())
        arrays = self.points, residuals, self.squares, self.blocks, C.entries, penalty
        scan = Scan(*arrays, self.error, longest, base_max, self.tile, self.prefer_stored)
        picks, gaps = np.zeros(N, np.int64), np.empty(N)
        first, *others = pairwise(np.linspace(0, N, self.n_threads + 1).astype(int).tolist())
        with ThreadPoolExecutor(self.n_threads) as pool:
            futures = [pool.submit(_pick_span, scan, span, picks, gaps) for span in others]
            _pick_span(scan, first, picks, gaps)
            for future in futures:
                future.result()
        return picks, gaps


@njit(cache=True, nogil=True)
def _pick_span(scan: Scan, span: tuple[int, int], picks: Picks, gaps: Floats) -> None:
    """Pick rows for a span of columns; all compiled, because a step with a thin X has hundreds of small products."""
    residuals, blocks, tile = scan.residuals, scan.blocks, scan.tile
    M, width = residuals.shape[1], blocks.shape[2]
    left = np.ones((tile, M + 1), blocks.dtype)
    spare = np.empty(tile * width + CACHE_LINE, blocks.dtype)
    first = -spare.ctypes.data % CACHE_LINE // spare.itemsize  # BLAS writes a fifth faster from a cache line on
    memory = spare[first : first + tile * width].reshape(tile, width)
    for start in range(span[0], span[1], tile):
        count = min(tile, span[1] - start)
        left[:count, :M] = residuals[start : start + count]
        rough, margin = memory[:count], np.empty(count)
        low, least = np.full(count, np.inf, blocks.dtype), np.full(count, np.inf)
        _open_tile(scan, start, margin, gaps)
        for b in range(len(blocks)):
            np.dot(left[:count], blocks[b], rough)
            _fold(scan, rough, b * width, start, margin, low, least, picks)
        _close_tile(scan, start, margin, least, picks, gaps)


@njit(cache=True, nogil=True)
def _open_tile(scan: Scan, start: int, margin: Floats, gaps: Floats) -> None:
    """Set the margins of scores, 2 e_l (-1 for columns without residual), and the gaps without min g."""
    C, penalty = scan.C, scan.penalty
    for i in range(len(margin)):
        l = start + i
        r = scan.residuals[l]
        fit, paid, largest = _dot(r, r), 0.0, scan.base_max
        for e in range(C.count[l]):
            y = entry_penalty(C, penalty, l, e)
            paid += C.scale * C.weights[l, e] * y
            largest = max(largest, y)
        size = scan.longest * np.sqrt(fit) + largest + UNDERFLOW / np.finfo(np.float32).eps
        margin[i] = -1.0 if fit <= FITTED * scan.squares[l] else 2 * scan.error * size
        gaps[l] = fit + _dot(r, scan.points[l]) + paid


@njit(cache=True, nogil=True)
def _fold(
    scan: Scan,
    rough: Rough,
    first: int,
    start: int,
    margin: Floats,
    low: Rough,
    least: Floats,
    picks: Picks,
) -> None:
    """Update the least approximate and exact scores of columns by a block of scores that begins at row `first`."""
    points, residuals, C, penalty = scan.points, scan.residuals, scan.C, scan.penalty
    lanes, n_rows = np.empty(LANES, rough.dtype), min(rough.shape[1], len(points) - first)
    for i in range(len(rough)):
        l, scores = start + i, rough[i, :n_rows]
        if margin[i] < 0:
            continue
        for e in range(C.count[l]):
            n = C.rows[l, e]
            if first <= n < first + len(scores):
                scores[n - first] += entry_penalty(C, penalty, l, e) - penalty.base[n]
        lowest = _lane_minima(scores, lanes)
        low[i] = min(low[i], lowest)
        limit = low[i] + margin[i]
        if lowest > limit:
            continue
        for lane in range(min(LANES, len(scores))):
            if lanes[lane] <= limit:
                for k in range(lane, len(scores), LANES):
                    if scores[k] <= limit:
                        n = first + k
                        score = _dot(points[n], residuals[l]) + _penalty_at(C, penalty, l, n)
                        if score < least[i] or (score == least[i] and n < picks[l]):
                            least[i], picks[l] = score, n


@njit(cache=True, nogil=True)
def _close_tile(scan: Scan, start: int, margin: Floats, least: Floats, picks: Picks, gaps: Floats) -> None:
    """Pick rows for the columns without residual, and subtract the least scores from the gaps."""
    for i in range(len(margin)):
        l = start + i
        if margin[i] < 0:
            picks[l], least[i] = _cheapest_row(scan.C, scan.penalty, l, scan.prefer_stored)
        gaps[l] -= least[i]


@njit(cache=True, nogil=True)
def _cheapest_row(C: Entries, penalty: RowPenalty, l: int, prefer_stored: bool) -> tuple[int, float]:
    """Return the row with the least penalty; ties go to the lowest index or, if `prefer_stored`, to stored rows."""
    support, base = C.rows[l, : C.count[l]], penalty.base
    best, least = -1, np.inf
    for e in range(len(support)):
        y = entry_penalty(C, penalty, l, e)
        if y < least or (y == least and support[e] < best):
            best, least = support[e], y
    for n in range(len(base)):
        if (base[n] < least or (base[n] == least and n < best and not prefer_stored)) and not (support == n).any():
            best, least = n, base[n]
    return best, least


@njit(cache=True, nogil=True)
def _penalty_at(C: Entries, penalty: RowPenalty, l: int, n: int) -> float:
    for e in range(C.count[l]):
        if C.rows[l, e] == n:
            return entry_penalty(C, penalty, l, e)
    return penalty.base[n]


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _lane_minima(scores: Rough, lanes: Rough) -> float:
    """Fill lanes[i] = min over k of scores[i + k LANES], eight rows at a time; return the minimum."""
    W = LANES
    lanes[:] = np.inf
    whole = len(scores) // (8 * W) * (8 * W)
    for start in range(0, whole, 8 * W):
        s = scores[start : start + 8 * W]
        for i in range(W):
            a, b = min(s[i], s[i + W]), min(s[i + 2 * W], s[i + 3 * W])
            c, d = min(s[i + 4 * W], s[i + 5 * W]), min(s[i + 6 * W], s[i + 7 * W])
            lanes[i] = min(lanes[i], min(min(a, b), min(c, d)))
    for i in range(whole, len(scores)):
        lanes[i % W] = min(lanes[i % W], scores[i])
    lowest = lanes[0]
    for i in range(W):
        lowest = min(lowest, lanes[i])
    return lowest


@njit(cache=True, nogil=True)
def _dot(a: Floats, b: Floats) -> float:
    """Return a'b, summed term by term, so that the result is always identical to the last bit."""
    total = 0.0
    for m in range(len(a)):
        total += a[m] * b[m]
    return total

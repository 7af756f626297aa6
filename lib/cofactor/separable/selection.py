"""Choose the number of anchors from the residuals of SPA, and the anchors from row scores; find lone columns."""

from __future__ import annotations

import warnings

import numpy as np

from cofactor.core.errors import CofactorError, DataWarning, listing
from cofactor.core.spa import RANK_SHARE, require_anchors, spa, with_squares
from cofactor.core.types import Floats, Indices
from cofactor.separable.base import Matrix, columns_with_size, dense_points
from cofactor.separable.least_squares import simplex_least_squares

MOST_ANCHORS = 200  # tried, where their number is not given
MOST_SHARE = 0.75  # of the columns may be anchors: behind it the last residuals fall fast in any matrix
CLEAR_MARGIN = 0.5  # margin below which the suggested number is often wrong
GROWTH = 1.25  # factor by which squares left may grow without a column that leads itself alone
# lone columns: at most three, or one in fifty, and at most a tenth of all
LONE_COLUMNS = 3
LONE_ONE_IN = 50
LONE_ONE_IN_AT_MOST = 10
EACH = 2  # columns per anchor, or more: with fewer, many anchors lead none by chance
LONE_SHARE = (
    0.5  # of what other columns hold of the middle anchor: a lone one has less; one that leads none by chance, more
)
WHITE = 0.4  # by how much the largest direction left may exceed that of noise before nothing is clear
NOISE_ROWS, NOISE_COLUMNS = 500, 2000  # that tell whether only noise is left
SCALING_ROUNDS = 3  # of dividing rows by the size of their noise
COLUMNS_AT_A_TIME = 500  # columns at a time


def suggest_n_anchors(X: Matrix) -> tuple[int, float]:
    """Suggest how many anchors there are: where the residual of successive projection drops most.

    With r_k the squared residual of the k-th column that SPA chooses, r_1 >= r_2 >= ..., the suggestion is the k > 1
    that maximises r_k / r_{k+1}: up to K these are anchors, beyond only noise is left. `lone_columns` take no part.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column, finite, of any sign.

    Returns
    -------
    k : int
        At most 200, at most the rank of X (more anchors than there are rows cannot be seen), and at most three quarters
        of the columns. 1 only where X has rank one.
    margin : float in [0, 1]
        By how much the largest factor exceeds the second largest, as a share of it: near zero, another k is as good. 0
        where there is only one factor. Less where more than noise is left: 1 - (s - 1) / 0.4, where s is the largest
        eigenvalue that k directions leave as a multiple of the largest one of noise, with rows of noise scaled alike.

    Raises a CofactorError where X is no matrix, holds NaN or infinity, or is zero everywhere.

    Cost: that of SPA with 200 anchors, O(200 M N) at most, and of `lone_columns`.

    Source: No rule is given in the paper, which takes K as known. `evaluation/studies.py` draws 1080
    mixtures of 2 to 10 anchors of nine families, at 10 to 35 dB, most of them with an outlier or two. Where the margin
    is 0.5 or more, in 61 % of them, the number is right in 97 %: in 99 % of mixtures of well separated columns under
    even noise, in 82 % where columns are brighter or darker than the model has it, in 80 % where pure columns are alike
    (smooth spectra): there, anchors that differ from mixtures of the others by less than the noise are not seen. Of
    40 anchors among 200 points at 20 dB, the number is right in 96 % of draws.

    >>> suggest_n_anchors([[1.0, 0.0, 0.5, 0.4], [0.0, 1.0, 0.5, 0.6]])[0]
    2
    """
    points = with_squares(dense_points(X))
    if not points.any():
        raise CofactorError("X is zero everywhere: there is nothing to choose anchors from")
    return suggested_number(np.delete(points, lone_columns(points), axis=1))[1:]


def lone_columns(X: Matrix, n_anchors: int | None = None) -> Indices:
    """Find columns that would be anchors of themselves alone: outliers, glints, columns with one hot entry.

    An anchor that SPA chose is lone where it has the largest weight in no column but itself, where the others hold less
    than half as much of it as of the middle anchor, and where without it mixtures of as many anchors, or fewer, explain
    the others nearly as well: they leave less than 1.25 times as much of their squares. The second rule keeps anchors
    that lead no column by chance, which happens where few columns mix each; the third, those of which others hold much.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column, finite.
    n_anchors : int in [1, N], optional
        K, where it is known. Default: what the residuals of SPA suggest, again after each column that was found.

    Returns rising indices of columns: at most three, or a fiftieth of the columns if these are more, and at most a
    tenth; none where there are two columns per anchor or fewer. Raises a CofactorError where X is no matrix of finite
    numbers, or `n_anchors` is out of range.

    Cost: O(200 M N) for SPA and O(N K^3) for weights, and again for every column that leads no other.

    >>> X = np.hstack([np.eye(3)[:, [0, 1]], [[0.2], [0.2], [9.0]], np.full((3, 9), [[0.5], [0.5], [0.0]])])
    >>> lone_columns(X).tolist()
    [2]
    """
    points = with_squares(dense_points(X))
    if n_anchors is not None:
        require_anchors(n_anchors, points.shape[1])
    start = remaining = columns_with_size(points)
    allowed = min(max(LONE_COLUMNS, start.size // LONE_ONE_IN), start.size // LONE_ONE_IN_AT_MOST)
    for known in (None,) if n_anchors is None else (None, n_anchors):
        while (found := _lone(points[:, remaining], known, allowed - start.size + remaining.size)).size:
            remaining = np.delete(remaining, found)
    return np.setdiff1d(start, remaining)


def _lone(X: Floats, n_anchors: int | None, allowed: int) -> Indices:
    """Return lone columns among the anchors of X: all that lead no other, or else the loneliest; none: nothing more."""
    none, anchors = np.array([], dtype=np.intp), _first_anchors(X, n_anchors)
    if allowed <= 0 or X.shape[1] <= EACH * len(anchors):
        return none
    H = simplex_least_squares(X[:, anchors], X)
    leads, held = np.bincount(H.argmax(axis=0), minlength=len(H)), H.sum(axis=1) - 1  # held: by other columns
    few = np.flatnonzero((leads <= 1) & (held < LONE_SHARE * np.median(held)) | (len(anchors) == 1))
    few = few[np.argsort(held[few])]
    for some in [few, *few[:, None]] if few.size > 1 else [few]:
        if 0 < some.size <= allowed:
            rest = np.delete(X, anchors[some], axis=1)
            others = _first_anchors(rest, n_anchors)[: len(anchors)]
            before, after = squares_left(rest, X[:, anchors]), squares_left(rest, rest[:, others])
            if after <= max(GROWTH * before, RANK_SHARE**2 * float(np.vdot(rest, rest))):
                return anchors[some]
    return none


def _first_anchors(X: Floats, n_anchors: int | None) -> Indices:
    """Return that many columns that SPA chooses, or as many as its residuals suggest."""
    if n_anchors is not None:
        return spa(X, min(n_anchors, X.shape[1]))
    found, number = _drop(X)[:2]
    return found[:number]


def _drop(X: Floats) -> tuple[Indices, int, float]:
    """Return what SPA finds, behind how many of them its residual drops most, and the margin of that."""
    tried = min(MOST_ANCHORS, *X.shape)
    found = spa(X, tried)
    return found, *largest_drop(residuals(X, found), tried, X.shape[1])


def suggested_number(X: Floats) -> tuple[Indices, int, float]:
    """Return SPA's columns, the suggested number of anchors, and its margin, lowered where more than noise is left."""
    found, number, margin = _drop(X)
    return found, number, min(margin, max(1 - (_beside_noise(X, number) - 1) / WHITE, 0.0))


def _beside_noise(X: Floats, k: int) -> float:
    """Return the largest eigenvalue that k directions leave of X X', as a multiple of that of noise of the same size.

    Noise may differ from row to row. The edge is that of Marchenko and Pastur, (1 + sqrt((M - k) / N))^2. 1 where
    hardly a direction is left, or only rounding.
    """
    M, N = X.shape
    rows = (
        np.unique(np.linspace(0, M - 1, max(NOISE_ROWS, 4 * k)).astype(int))
        if max(NOISE_ROWS, 4 * k) < M
        else np.arange(M)
    )
    Y = X[rows][:, np.unique(np.linspace(0, N - 1, min(NOISE_COLUMNS, N)).astype(int))]
    free, n = len(rows) - k, Y.shape[1]
    rest = Y
    for _ in range(SCALING_ROUNDS if free > 1 else 0):
        U = np.linalg.eigh(Y @ Y.T)[1][:, -k:]
        rest = Y - U @ (U.T @ Y)
        size = np.sqrt(np.einsum("mn,mn->m", rest, rest) * len(rows) / (free * n))
        if not (size > 0).any() or size.max() <= RANK_SHARE * np.abs(Y).max():
            return 1.0
        size = np.where(size > RANK_SHARE * size.max(), size, 1.0)[:, None]
        Y, rest = Y / size, rest / size
    if free <= 1:
        return 1.0
    return float(np.linalg.eigvalsh(rest @ rest.T)[-1] / n / (1 + np.sqrt(free / n)) ** 2)


def squares_left(X: Floats, W: Floats) -> float:
    """Return ||X - W H||_F^2 with H the best mixtures: the squared length that the columns of W do not explain."""
    left = 0.0
    for block in np.array_split(
        np.arange(X.shape[1]), max(X.shape[1] // COLUMNS_AT_A_TIME, 1)
    ):  # little memory beside X
        rest = W @ simplex_least_squares(W, X[:, block]) - X[:, block]
        left += float(np.vdot(rest, rest))
    return left


def lone_columns_told(X: Floats) -> Indices:
    """Return `lone_columns`, with a warning that names them."""
    lone = lone_columns(X)
    if lone.size:
        warnings.warn(
            f"columns {listing(lone.tolist())} would be anchors of themselves alone: left out; give n_anchors to keep "
            "all columns",
            DataWarning,
            stacklevel=3,
        )
    return lone


def settled_number(n_anchors: int | None, suggested: int, margin: float) -> int:
    """Return the number that was given, or else the suggested one, with a warning where it is not clear."""
    if n_anchors is None and margin < CLEAR_MARGIN:
        warnings.warn(
            f"the number of anchors is not clear: {suggested} suggested by a margin of {margin:.2f}, and below "
            f"{CLEAR_MARGIN} it is often wrong; try several, or give n_anchors",
            DataWarning,
            stacklevel=3,
        )
    return n_anchors or suggested


def residuals(points: Floats, found: Indices) -> Floats:
    """Return the squared residual of every column that SPA found when it was found, as a share of the first."""
    lengths = np.diagonal(np.linalg.qr(points[:, found], mode="r"))
    return np.asarray((lengths / lengths[0]) ** 2)


def largest_drop(squares: Floats, tried: int, n_points: int) -> tuple[int, float]:
    """Return the k > 1 with the largest r_k / r_{k+1}, and its margin in [0, 1].

    Fewer squares than `tried` mean that SPA stopped: the residual after the last one then counts as RANK_SHARE.
    """
    known = np.append(squares, RANK_SHARE) if len(squares) < tried else squares
    factors = (known[:-1] / known[1:])[1 : int(MOST_SHARE * n_points)]
    if not factors.size:
        return len(squares), 0.0
    best = int(np.argmax(factors))
    second = np.delete(factors, best).max(initial=1.0)
    return best + 2, float(max(1 - second / factors[best], 0.0))


def top_rows(scores: Floats, n_anchors: int) -> Indices:
    """Return the rows of the largest scores, falling; the lower index first on ties."""
    return np.argsort(-scores, kind="stable")[:n_anchors]


def spread_rows(X: Floats, scores: Floats, n_anchors: int, n_listed: int) -> Indices:
    """Let successive projection choose among the `n_listed` rows of largest scores; by falling score."""
    listed = np.sort(top_rows(scores, max(n_listed, n_anchors)))
    chosen = listed[spa(X[:, listed], n_anchors, restart=True)]
    return chosen[top_rows(scores[chosen], n_anchors)]

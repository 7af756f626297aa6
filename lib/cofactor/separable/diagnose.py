"""Before anchors are chosen: whether columns are fit for it, how many there seem to be. After: how sure they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from cofactor.core.bootstrap import LEVEL, Rows, quantiles, resample
from cofactor.core.checks import available_bytes, positions
from cofactor.core.errors import CofactorError, listing
from cofactor.core.estimator import Check, Diagnosis, clone
from cofactor.core.lazy import optimize, pd
from cofactor.core.simplex import require_anchors, spa, with_squares
from cofactor.core.types import Floats, Indices, Seed
from cofactor.separable.columns import (
    CLEAR_MARGIN,
    Matrix,
    columns_with_size,
    dense_points,
    lone_columns,
    points_of,
    same_columns,
    suggested_number,
)
from cofactor.separable.graphs import GraphMethod
from cofactor.separable.least_squares import simplex_least_squares
from cofactor.separable.methods import AnchorMethod, predicted_bytes

UNEVEN = 1.5  # columns whose sums differ by more were not scaled alike
ILL = 100.0  # condition number of the anchors from which on noise of a per cent hides one
UNEXPLAINED = 0.2  # relative residual above which anchors do not explain the columns
SAMPLE = 1000  # columns that are fitted to tell the residual
NEAR = 0.9  # a column of which an anchor accounts for this share stands for the anchor


def diagnose(X: Matrix, n_anchors: int | None = None) -> Diagnosis:
    """Check a matrix before anchors are chosen among its columns.

    Parameters
    ----------
    X : (M, N) array or scipy.sparse matrix
        One point per column.
    n_anchors : int in [1, N], optional
        K that is planned. Default: what `suggest_n_anchors` says; there it stands how often that is right.

    NaN, infinity and nothing but zeros fail: no method can find anchors. Raises `CofactorError` where X is no matrix,
    or `n_anchors` is out of range. Cost: that of `lone_columns`, O(200 M N) and more, and of a simplex fit of 1000
    columns; X is made dense.

    Examples
    --------
    >>> from cofactor import simulate
    >>> report = diagnose(simulate.dirichlet_mixtures(50, 200, 5, snr_db=30, random_state=0).X)
    >>> report["number of anchors"].value.split(",")[0]
    '5 suggested'
    """
    points = points_of(X)
    if n_anchors is not None:
        require_anchors(n_anchors, points.shape[1])
    title = f"X: {points.shape[0]} rows, {points.shape[1]} columns"
    finite = _finite(points)
    checks = [finite]
    if finite.status == "pass":
        points = with_squares(points)
        checks.append(_zeros(points))
    if checks[-1].status != "fail":
        nonzero = columns_with_size(points)
        lone = lone_columns(points, n_anchors)
        checks += [_repeated(points), _lone(lone), _scale(points[:, nonzero])]
        checks += _anchors(points[:, np.setdiff1d(nonzero, lone)], n_anchors)
    return Diagnosis(title, tuple(checks), _verdict(checks))


def _verdict(checks: list[Check]) -> str:
    failed = [check.name for check in checks if check.status == "fail"]
    if failed:
        return f"no method can find anchors ({listing(failed)})"
    warned = [check.name for check in checks if check.status == "warn"]
    return f"no method is ruled out; read the warnings ({listing(warned)})" if warned else "no method is ruled out"


def _warning_if(warn: bool, name: str, value: str, advice: str) -> Check:
    """Return a check that passes without advice, or warns with it."""
    return Check(name, "warn", value, advice) if warn else Check(name, "pass", value)


def _finite(points: Floats) -> Check:
    bad = np.flatnonzero(~np.isfinite(points).all(axis=0)).tolist()
    if bad:
        return Check("finite", "fail", f"NaN or infinity in columns {listing(bad)}", "drop these columns, or fill them")
    return Check("finite", "pass", "all entries")


def _zeros(points: Floats) -> Check:
    zero = np.setdiff1d(np.arange(points.shape[1]), columns_with_size(points)).tolist()
    if len(zero) == points.shape[1] or not points.any():
        return Check("zero columns", "fail", "all of them", "there is nothing to choose anchors from")
    value = f"{len(zero)}: {listing(zero)}" if zero else "none"
    return _warning_if(bool(zero), "zero columns", value, "they are left out")


def _repeated(points: Floats) -> Check:
    nonzero = columns_with_size(points)
    groups = same_columns(points[:, nonzero])[1]
    named = listing(f"({listing(nonzero[group].tolist())})" for group in groups)
    value = f"{len(groups)} group{'s' * (len(groups) > 1)}: {named}" if groups else "none"
    advice = "they share the score of one anchor: keep one of each, or let merit merge them"
    return _warning_if(bool(groups), "equal columns", value, advice)


def _lone(lone: Indices) -> Check:
    value = f"{lone.size}: {listing(lone.tolist())}" if lone.size else "none"
    advice = "outliers, glints or hot entries, each an anchor of itself alone: not counted; look at them"
    return _warning_if(bool(lone.size), "lone columns", value, advice)


def _scale(points: Floats) -> Check:
    if points.min() < 0:
        return Check("scale", "pass", f"{(points < 0).mean():.1%} of the entries are negative")
    sums = points.sum(axis=0)
    ratio = float(np.quantile(sums, 0.95) / np.quantile(sums, 0.05))
    value = f"column sums differ by a factor of {ratio:.3g} (5th to 95th percentile)"
    advice = "scale columns to sum to one (X / X.sum(axis=0)), unless their size means something"
    return _warning_if(ratio > UNEVEN, "scale", value, advice)


def _anchors(points: Floats, n_anchors: int | None) -> list[Check]:
    found, suggested, margin = suggested_number(points)
    if n_anchors is not None and n_anchors > len(found):
        found = spa(points, min(n_anchors, points.shape[1]))
    K = min(suggested if n_anchors is None else n_anchors, len(found))
    W = points[:, found[:K]]
    number = _number(suggested, margin, n_anchors, len(found))
    M, N = points.shape
    return [number, _condition(W), _residual(points, W), _memory(M, N, K)]


def _number(suggested: int, margin: float, asked: int | None, rank: int) -> Check:
    value = f"{suggested} suggested, by a margin of {margin:.2f}"
    if asked is not None and asked > rank:
        advice = f"SPA finds {rank} directions only; methods that allow more anchors than that need little noise"
        return Check("number of anchors", "warn", f"{asked} asked for, {rank} found", advice)
    if margin < CLEAR_MARGIN:
        return Check("number of anchors", "warn", value, "no clear drop: noise, or no anchors; try several numbers")
    if asked not in (None, suggested):
        return Check("number of anchors", "warn", f"{asked} asked for, {value}", "compare both")
    return Check("number of anchors", "pass", value)


def _condition(W: Floats) -> Check:
    condition = float(np.linalg.cond(W))
    advice = "one anchor is almost a mixture of others, and little noise hides it: ask for fewer"
    return _warning_if(condition > ILL, "condition of the anchors", f"{condition:.3g}", advice)


def _residual(points: Floats, W: Floats) -> Check:
    chosen = np.unique(np.linspace(0, points.shape[1] - 1, SAMPLE).astype(int))
    some = points[:, chosen]
    left = float(np.linalg.norm(some - W @ simplex_least_squares(W, some)) / np.linalg.norm(some))
    advice = "mixtures of these anchors do not explain the columns: more anchors, less noise, or other scaling"
    return _warning_if(left > UNEXPLAINED, "residual", f"{left:.1%} of the norm, at {W.shape[1]} anchors", advice)


def _memory(M: int, N: int, K: int) -> Check:
    needed = {name: predicted_bytes(name, M, N, K) for name in ("MERIT", "FastGradient")}
    free = available_bytes()
    out = [name for name, size in needed.items() if size > free]
    value = ", ".join(f"{name} {size / 1e9:.2g} GB" for name, size in needed.items())
    return _warning_if(bool(out), "memory", value, f"too much for {listing(out)} here")


# ---- how sure anchors and weights are: the same method again, on columns drawn with replacement ----


@dataclass(frozen=True, eq=False)
class AnchorBootstrap:
    """Anchors with those of the refits, and what they tell; see `bootstrap`.

    Attributes
    ----------
    anchors : (K,) ints
        Of the fit to all columns.
    draws : tuple of (K,) int arrays
        Anchors of every refit, as columns of X, each in the place of the anchor that it is most of.
    weights : (K, N) array
        Of all columns on the anchors.
    """

    anchors: Indices
    draws: tuple[Indices, ...] = field(repr=False)
    weights: Floats = field(repr=False)
    points: Floats = field(repr=False)

    def stability(self) -> pd.DataFrame:
        """Return a row per anchor: the share of refits that chose this column, or one of which it is 90 per cent."""
        found = np.array(self.draws)
        near = self.weights[np.arange(len(self.anchors)), found] >= NEAR
        return pd.DataFrame(
            {"anchor": self.anchors, "chosen": (found == self.anchors).mean(axis=0), "near": near.mean(axis=0)}
        )

    def intervals(self, columns: Indices | None = None, level: float = LEVEL) -> pd.DataFrame:
        """Return weights of columns (default: all): column, anchor, estimate, low, high. O(B K) memory per column."""
        N = self.points.shape[1]
        asked = np.arange(N) if columns is None else positions(columns, N, "columns")
        some = self.points[:, asked]
        low, high = quantiles([simplex_least_squares(self.points[:, drawn], some) for drawn in self.draws], level)
        values = {"estimate": self.weights[:, asked], "low": low, "high": high}
        ids = {"column": np.repeat(asked, len(self.anchors)), "anchor": np.tile(self.anchors, len(asked))}
        return pd.DataFrame(ids | {name: value.T.ravel() for name, value in values.items()})


def bootstrap(
    method: AnchorMethod,
    X: Matrix,
    *,
    n_draws: int = 200,
    random_state: Seed = None,
    n_jobs: int = 1,
    verbose: bool = False,
) -> AnchorBootstrap:
    """Find anchors again among columns drawn with replacement: which of them depend on single columns.

    A column that was drawn twice is taken once: copies tell an anchor finder nothing. So a refit sees 63 per cent of
    the columns, and an anchor that only one column stands for is missing in 37 per cent of them.

    Parameters
    ----------
    method : AnchorMethod
        A method for points, fitted on X or not fitted yet. Its number of anchors stays what the fit to X has.
    X : (M, N) array or scipy.sparse matrix
    n_draws, random_state, n_jobs, verbose
        See `cofactor.core.bootstrap.resample`; the result is the same at any number of jobs.

    Returns
    -------
    AnchorBootstrap
        `stability` of the anchors, `intervals` of the weights.

    Raises
    ------
    CofactorError
        The method takes a graph or counts, or as `fit` and `resample`.

    Cost: That of n_draws fits to 0.63 N columns.

    Intervals show what other columns would change, not the noise that all columns share.

    Examples
    --------
    >>> from cofactor.separable import SPA
    >>> from cofactor.simulate import dirichlet_mixtures
    >>> X = dirichlet_mixtures(20, 100, 3, 30.0, random_state=0).X
    >>> bootstrap(SPA(3), X, n_draws=20, random_state=0).stability()["near"].min() >= 0.9
    np.True_
    """
    if not isinstance(method, AnchorMethod) or isinstance(method, GraphMethod):
        raise CofactorError(
            f"{method!r} does not take points: only methods that do can be refitted to columns drawn at random"
        )
    points = dense_points(X)
    fitted = method if hasattr(method, "anchors_") else clone(method).fit(points)
    if not fitted.anchors_.size:
        raise CofactorError(f"{method!r} finds anchors that are not columns of X: choose a method that selects columns")
    weights = fitted.transform(points)
    if fitted.scores_.size != points.shape[1]:
        raise CofactorError(f"fitted to {fitted.scores_.size} columns, X has {points.shape[1]}: fit to this X")
    refit = partial(_refit, method=clone(method).set_params(n_anchors=len(fitted.anchors_)), X=points, weights=weights)
    draws = resample(refit, points.shape[1], n_draws, random_state, n_jobs, verbose)
    return AnchorBootstrap(fitted.anchors_, tuple(draws), weights, points)


def _refit(rows: Rows, method: AnchorMethod, X: Floats, weights: Floats) -> Indices:
    """Anchors among the columns drawn, each in the place of the one that it is most of."""
    seen = np.unique(rows)
    found = seen[method.fit(X[:, seen]).anchors_]
    if len(found) < len(weights):
        raise CofactorError(f"{len(found)} anchors among the columns drawn, {len(weights)} wanted")
    order = optimize.linear_sum_assignment(weights[:, found], maximize=True)[1]
    return np.asarray(found[order])

"""Checks of a matrix before anchors are chosen, and bootstrap results for anchors and weights after it."""

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
        The planned K. Default: the number from `suggest_n_anchors`, whose documentation says how often it is right.

    NaN, infinity and a matrix of zeros fail, because no method can find anchors then. Raises a CofactorError if X is
    not a matrix, or `n_anchors` is out of range. Cost: that of `lone_columns`, at least O(200 M N), and of a simplex
    fit to 1000 columns; X is converted to a dense array.

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
    """Return a check that warns with advice if `warn`, and passes otherwise."""
    return Check(name, "warn", value, advice) if warn else Check(name, "pass", value)


def _finite(points: Floats) -> Check:
    bad = np.flatnonzero(~np.isfinite(points).all(axis=0)).tolist()
    if bad:
        return Check("finite", "fail", f"NaN or infinity in columns {listing(bad)}", "drop or fill these columns")
    return Check("finite", "pass", "all entries")


def _zeros(points: Floats) -> Check:
    zero = np.setdiff1d(np.arange(points.shape[1]), columns_with_size(points)).tolist()
    if len(zero) == points.shape[1] or not points.any():
        return Check("zero columns", "fail", "all of them", "there are no anchors to find")
    value = f"{len(zero)}: {listing(zero)}" if zero else "none"
    return _warning_if(bool(zero), "zero columns", value, "zero columns are left out")


def _repeated(points: Floats) -> Check:
    nonzero = columns_with_size(points)
    groups = same_columns(points[:, nonzero])[1]
    named = listing(f"({listing(nonzero[group].tolist())})" for group in groups)
    value = f"{len(groups)} group{'s' * (len(groups) > 1)}: {named}" if groups else "none"
    advice = "equal columns share the score of one anchor: keep one of each, or let merit merge them"
    return _warning_if(bool(groups), "equal columns", value, advice)


def _lone(lone: Indices) -> Check:
    value = f"{lone.size}: {listing(lone.tolist())}" if lone.size else "none"
    advice = "check these columns: outliers, glints or single large entries, which are not counted as anchors"
    return _warning_if(bool(lone.size), "lone columns", value, advice)


def _scale(points: Floats) -> Check:
    if points.min() < 0:
        return Check("scale", "pass", f"{(points < 0).mean():.1%} of the entries are negative")
    sums = points.sum(axis=0)
    ratio = float(np.quantile(sums, 0.95) / np.quantile(sums, 0.05))
    value = f"column sums differ by a factor of {ratio:.3g} (5th to 95th percentile)"
    advice = "scale columns to sum to one (X / X.sum(axis=0)), unless their size is meaningful"
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
    value = f"{suggested} suggested, with a margin of {margin:.2f}"
    if asked is not None and asked > rank:
        advice = f"SPA finds only {rank} directions; methods that allow more anchors need data with little noise"
        return Check("number of anchors", "warn", f"{asked} requested, {rank} found", advice)
    if margin < CLEAR_MARGIN:
        return Check(
            "number of anchors",
            "warn",
            value,
            "the residual has no clear drop, because of noise or missing anchors; try several numbers",
        )
    if asked not in (None, suggested):
        return Check("number of anchors", "warn", f"{asked} requested, {value}", "compare both numbers")
    return Check("number of anchors", "pass", value)


def _condition(W: Floats) -> Check:
    condition = float(np.linalg.cond(W))
    advice = "choose fewer anchors: one is almost a mixture of the others, and a little noise hides it"
    return _warning_if(condition > ILL, "condition of the anchors", f"{condition:.3g}", advice)


def _residual(points: Floats, W: Floats) -> Check:
    chosen = np.unique(np.linspace(0, points.shape[1] - 1, SAMPLE).astype(int))
    some = points[:, chosen]
    left = float(np.linalg.norm(some - W @ simplex_least_squares(W, some)) / np.linalg.norm(some))
    advice = "mixtures of these anchors do not explain the columns: try more anchors, other scaling or less noisy data"
    return _warning_if(left > UNEXPLAINED, "residual", f"{left:.1%} of the norm with {W.shape[1]} anchors", advice)


def _memory(M: int, N: int, K: int) -> Check:
    needed = {name: predicted_bytes(name, M, N, K) for name in ("MERIT", "FastGradient")}
    free = available_bytes()
    out = [name for name, size in needed.items() if size > free]
    value = ", ".join(f"{name} {size / 1e9:.2g} GB" for name, size in needed.items())
    return _warning_if(bool(out), "memory", value, f"there is not enough free memory for {listing(out)}")


# ---- bootstrap: the same method on columns drawn with replacement ----


@dataclass(frozen=True, eq=False)
class AnchorBootstrap:
    """Result of `bootstrap`: the anchors of the fit and of the refits.

    Attributes
    ----------
    anchors : (K,) ints
        Anchors of the fit to all columns.
    draws : tuple of (K,) int arrays
        Anchors of every refit, as columns of X, each matched to the anchor with the largest weight in it.
    weights : (K, N) array
        Weights of the anchors in all columns.
    """

    anchors: Indices
    draws: tuple[Indices, ...] = field(repr=False)
    weights: Floats = field(repr=False)
    points: Floats = field(repr=False)

    def stability(self) -> pd.DataFrame:
        """Return, per anchor, the fraction of refits that chose it (chosen) or a column that is 90 % of it (near)."""
        found = np.array(self.draws)
        near = self.weights[np.arange(len(self.anchors)), found] >= NEAR
        return pd.DataFrame(
            {"anchor": self.anchors, "chosen": (found == self.anchors).mean(axis=0), "near": near.mean(axis=0)}
        )

    def intervals(self, columns: Indices | None = None, level: float = LEVEL) -> pd.DataFrame:
        """Return intervals for the weights of columns (default: all); O(B K) memory per column for B refits."""
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
    """Refit a method to columns drawn with replacement, to show which anchors depend on single columns.

    A column drawn twice is used once, because copies carry no information about anchors. A refit therefore uses 63 % of
    the columns, and an anchor that is represented by a single column is missing in 37 % of the refits.

    Parameters
    ----------
    method : AnchorMethod
        A method for points, unfitted or fitted on X. The refits use the number of anchors of the fit to X.
    X : (M, N) array or scipy.sparse matrix
    n_draws, random_state, n_jobs, verbose
        See `cofactor.core.bootstrap.resample`; the result does not depend on the number of jobs.

    Returns
    -------
    AnchorBootstrap
        Its methods give the `stability` of the anchors and `intervals` for the weights.

    Raises
    ------
    CofactorError
        The method takes a graph or counts, or `fit` or `resample` raises an error.

    Cost: that of n_draws fits to 0.63 N columns.

    The intervals show the effect of the choice of columns, not of noise that all columns share.

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
            f"{method!r} does not take points: only methods for points can be refitted to randomly drawn columns"
        )
    points = dense_points(X)
    fitted = method if hasattr(method, "anchors_") else clone(method).fit(points)
    if not fitted.anchors_.size:
        raise CofactorError(f"the anchors of {method!r} are not columns of X: choose a method that selects columns")
    weights = fitted.transform(points)
    if fitted.scores_.size != points.shape[1]:
        raise CofactorError(
            f"the method was fitted to {fitted.scores_.size} columns, but X has {points.shape[1]}: fit it to this X"
        )
    refit = partial(_refit, method=clone(method).set_params(n_anchors=len(fitted.anchors_)), X=points, weights=weights)
    draws = resample(refit, points.shape[1], n_draws, random_state, n_jobs, verbose)
    return AnchorBootstrap(fitted.anchors_, tuple(draws), weights, points)


def _refit(rows: Rows, method: AnchorMethod, X: Floats, weights: Floats) -> Indices:
    """Return the anchors among the drawn columns, each matched to the anchor with the largest weight in it."""
    seen = np.unique(rows)
    found = seen[method.fit(X[:, seen]).anchors_]
    if len(found) < len(weights):
        raise CofactorError(
            f"a refit found only {len(found)} of {len(weights)} anchors among the drawn columns: choose fewer anchors"
        )
    order = optimize.linear_sum_assignment(weights[:, found], maximize=True)[1]
    return np.asarray(found[order])

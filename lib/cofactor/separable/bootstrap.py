"""How sure anchors and weights are: the same method, again, on columns drawn anew out of the columns there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from cofactor.core.bootstrap import LEVEL, Rows, quantiles, resample
from cofactor.core.checks import positions
from cofactor.core.errors import CofactorError
from cofactor.core.estimator import clone
from cofactor.core.lazy import optimize, pd
from cofactor.core.types import Floats, Indices, Seed
from cofactor.separable.base import Matrix, dense_points
from cofactor.separable.least_squares import simplex_least_squares
from cofactor.separable.methods import AnchorMethod, GraphMethod

NEAR = 0.9  # a column of which an anchor accounts for this share stands for the anchor


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
    """Find anchors again among columns drawn with replacement: which of them hang on single columns.

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
        raise CofactorError(f"{method!r} does not take points: columns are drawn for methods of points only")
    points = dense_points(X)
    fitted = method if hasattr(method, "anchors_") else clone(method).fit(points)
    if not fitted.anchors_.size:
        raise CofactorError(f"{method!r} finds corners that are no columns: columns are followed through the draws")
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

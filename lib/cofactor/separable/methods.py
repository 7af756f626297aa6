"""Every method of this line as an estimator, by its name.

Finders of anchors take points, one per column; SPOC and GeoNMF take the adjacency matrix of a graph, LDA counts of
words in documents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from scipy import sparse

from cofactor.core.checks import check_kind, rng_of
from cofactor.core.errors import CofactorError, listing
from cofactor.core.estimator import Estimator, clone
from cofactor.core.types import Floats, Indices, Seed
from cofactor.registry import Methods, names
from cofactor.separable.base import AnchorFit, Matrix, dense_points, spa_fit
from cofactor.separable.frank_wolfe import merit
from cofactor.separable.graphs import adjacency_of, geo_nmf, leading_eigenvectors, spa_on_rows
from cofactor.separable.least_squares import simplex_least_squares
from cofactor.separable.options import Objective, Select, Start, Weight
from cofactor.separable.projected import projected_spa
from cofactor.separable.selection import lone_columns_told, settled_number, suggest_n_anchors

Finder = Callable[[Floats, int], AnchorFit]


@dataclass(eq=False, repr=False)
class AnchorMethod(Estimator):
    """What all finders of anchors share, whose points are the columns of X, as in the papers, not its rows.

    `fit` finds anchors, `transform` the weights of any columns on them. scikit-learn has points as rows: a search or a
    split of its own would cut points into pieces, so give these methods none.

    Parameters
    ----------
    n_anchors : int, optional
        K. Default: as many as `suggest_n_anchors` says, with a warning where that is not clear; `lone_columns` are then
        left out. With a number all columns take part: `cofactor anchors` leaves lone ones out there, too.
    random_state : int, Generator or None
        Has no effect where a method draws nothing.
    verbose : bool
        Show a progress bar on a terminal, where a method makes many steps.

    Attributes
    ----------
    anchors_ : (K,) ints, columns of X by falling score
    scores_ : (N,) array
    coefficients_ : (N, N) scipy.sparse csc_array, or None where a method has none
    W_ : (M, K) array, the columns of X that are anchors
    model_ : AnchorFit, all that the method found
    result_ : Result
    """

    n_anchors: int | None = None
    random_state: Seed = field(default=None, kw_only=True)
    verbose: bool = field(default=False, kw_only=True)

    def fit(self, X: Matrix, y: object = None) -> AnchorMethod:
        """Find anchors among the columns of X, (M, N), dense or sparse; y is not used."""
        rng_of(self.random_state)  # refuses what is no seed, also where nothing is drawn
        points = dense_points(X)
        return self._keep(self._find(points), points)

    def transform(self, X: Matrix) -> Floats:
        """Return H, (K, n), of X ~ W H: weights of new columns, nonnegative with sum one, by least squares."""
        self._check_fitted()
        return simplex_least_squares(self.W_, self._points(X))

    def fit_transform(self, X: Matrix, y: object = None) -> Floats:
        """Find anchors, and return the (K, N) weights of all columns on them; y is not used."""
        return self.fit(X).transform(X)

    def _find(self, X: Floats) -> AnchorFit:
        raise NotImplementedError

    def _chosen(self, X: Floats) -> tuple[Indices, int]:
        """Return the columns to choose among and the number of anchors: as asked for, or what the data suggest."""
        if self.n_anchors is not None:
            return np.arange(X.shape[1]), self.n_anchors
        taking_part = np.delete(np.arange(X.shape[1]), lone_columns_told(X))
        return taking_part, settled_number(None, *suggest_n_anchors(X[:, taking_part]))

    def _points(self, X: Matrix) -> Floats:
        points = dense_points(X)
        if len(points) != len(self.W_):
            raise CofactorError(f"X has {len(points)} rows, and the matrix of the fit had {len(self.W_)}")
        return points

    def _keep(self, found: AnchorFit, points: Floats) -> AnchorMethod:
        self.model_, self.result_ = found, found.result
        self.anchors_, self.scores_, self.coefficients_ = found.anchors, found.scores, found.coefficients
        self.W_ = points[:, found.anchors]
        return self


@dataclass(eq=False, repr=False)
class SPA(AnchorMethod):
    """Successive projection: the longest column, projected out of all others, and again. Cost and source: see `spa`."""

    def _find(self, X: Floats) -> AnchorFit:
        taking_part, K = self._chosen(X)
        return spa_fit(X[:, taking_part], K).expanded(taking_part, X.shape[1])


@dataclass(eq=False, repr=False)
class ProjectedSPA(AnchorMethod):
    """Successive projection in the K leading directions, away from noise. Cost, source: see `projected_spa`.

    W_ holds the anchors' columns projected onto these directions, not the columns themselves.
    """

    def _find(self, X: Floats) -> AnchorFit:
        taking_part, K = self._chosen(X)
        found, self._projected = projected_spa(X[:, taking_part], K)
        return found.expanded(taking_part, X.shape[1])

    def _keep(self, found: AnchorFit, points: Floats) -> AnchorMethod:
        super()._keep(found, points)
        self.W_ = self._projected
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class MERIT(AnchorMethod):
    """Convex self-dictionary by Frank-Wolfe; points are columns. Parameters, cost and source: see `merit`.

    `model_` is a `MeritFit`. `max_iter` is the number of steps, `n_iter` there.
    """

    lam: Weight = "msr"
    mu: float = 1e-5
    max_iter: int = 50
    objective: Objective = "full"
    init: Start = None
    t_init: int | None = None
    tol: float | None = None
    gap_abs: float | None = None
    merge_duplicates: bool = True
    select: Select = "auto"
    n_jobs: int | None = None

    def _find(self, X: Floats) -> AnchorFit:
        settings = self.get_params(deep=False)
        settings.pop("random_state")
        return merit(X, n_iter=settings.pop("max_iter"), **settings)


@dataclass(eq=False, repr=False, kw_only=True)
class MERIT0(MERIT):
    """MERIT without a penalty, MERIT(0) of the paper; points are columns. Parameters, cost and source: see `merit`."""

    lam: Weight = 0.0


@dataclass(eq=False, repr=False)
class GraphMethod(AnchorMethod):
    """Finders of pure nodes: `fit` takes the (N, N) adjacency matrix of a graph, and needs `n_anchors`.

    `transform` takes the links, (N, n), of n nodes to those of the fit. W_ holds what pure nodes are in the leading
    eigenvectors, (K, K). Other attributes: see `AnchorMethod`.
    """

    which: ClassVar[Literal["LM", "LA"]] = "LM"

    def fit(self, X: Matrix, y: object = None) -> AnchorMethod:
        """Find pure nodes of the graph with this adjacency matrix, symmetric, nonnegative, diagonal zero."""
        A = adjacency_of(X)
        if self.n_anchors is None:
            raise CofactorError("n_anchors=None: give the number of communities, a graph does not suggest one")
        values, vectors = leading_eigenvectors(A, self.n_anchors, self.which)
        self._basis = vectors / np.where(values == 0, 1.0, values)  # links times this are rows of eigenvectors
        return self._keep(self._pure(A, vectors), vectors.T)

    def _pure(self, A: sparse.csr_array, vectors: Floats) -> AnchorFit:
        raise NotImplementedError

    def _points(self, X: Matrix) -> Floats:
        links = dense_points(X)
        if len(links) != len(self._basis):
            raise CofactorError(f"links have {len(links)} rows, and the graph of the fit had {len(self._basis)} nodes")
        return np.asarray(self._basis.T @ links)


@dataclass(eq=False, repr=False)
class SPOC(GraphMethod):
    """Successive projection on the leading eigenvectors of a graph. Cost and source: see `spoc`."""

    which: ClassVar[Literal["LM", "LA"]] = "LA"

    def _pure(self, A: sparse.csr_array, vectors: Floats) -> AnchorFit:
        return spa_on_rows(vectors, vectors.shape[1])


@dataclass(eq=False, repr=False)
class GeoNMF(GraphMethod):
    """Clusters of the longest rows of degree-scaled eigenvectors. Cost and source: see `geo_nmf`."""

    def _pure(self, A: sparse.csr_array, vectors: Floats) -> AnchorFit:
        return geo_nmf(A, vectors.shape[1], self.random_state)


METHODS = Methods("separable")
OF_POINTS = names("separable", takes="points")


def find_anchors(
    method: str | AnchorMethod | Finder, X: Floats, n_anchors: int, random_state: Seed = None, others: str = ""
) -> AnchorFit:
    """Find anchors among points whose columns summed to one before their dimension was reduced.

    By a method's name, an estimator, or any function of X and the number; `others` are names that the caller knows.
    """
    if callable(method):
        return method(X, n_anchors)
    if isinstance(method, str) and method not in OF_POINTS:
        raise CofactorError(f"no method {method!r}: there are {listing(OF_POINTS)}, {others}")
    check_kind((str, AnchorMethod), method=method)
    found = METHODS[method](random_state=random_state) if isinstance(method, str) else clone(method)
    if "sums" in found.get_params() and found.sums is None:  # XRAY
        found.set_params(sums=1.0)
    fit: AnchorFit = found.set_params(n_anchors=n_anchors).fit(X).model_
    return fit

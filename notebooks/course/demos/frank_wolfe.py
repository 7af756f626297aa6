"""What notebook 05 computes: points in a triangle, one column's walk, how often methods find all anchors, memory.

symbol   meaning                                                        shape
X        points, one per column                                         (M, N)
C        coefficients, X ~ X C, columns on the simplex                  (N, N)
c, x     one column of C, and the point it explains                     (N,), (M,)
rho      scores of the rows of C, their largest entries                 (N,)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cofactor import simulate
from cofactor.core.peak import measure_peak
from cofactor.core.types import Floats, Indices
from cofactor.separable import AnchorFit, MeritFit, merit
from cofactor.simulate import Mixture

Finder = Callable[[Floats, int], AnchorFit]

CORNERS = np.array([[0.0, -0.9, 0.9], [1.0, -0.5, -0.5]])  # of the triangle, around the origin
N_ROWS = 50  # of X in the panel
MSR = "msr"
FUNCTIONS = {"MERIT": "cofactor.separable:merit", "FastGradient": "cofactor.separable:fast_gradient"}
SMALL = 200  # points of the call that comes before the one that is measured


def triangle(n_points: int = 12, noise: float = 0.0, seed: int = 3) -> Mixture:
    """Draw points in the triangle, its three corners first, and move all of them by Gaussian noise."""
    rng = np.random.default_rng(seed)
    H = np.hstack([np.eye(3), rng.dirichlet(np.ones(3), n_points - 3).T])
    X = CORNERS @ H + noise * rng.standard_normal((2, n_points))
    return Mixture(X, CORNERS, H, np.arange(3))


@dataclass(frozen=True)
class Walk:
    """How Frank-Wolfe approaches one point.

    Attributes
    ----------
    X : (2, N) array
    target : int
        The column that is approached.
    picks : (T,) ints
        The column that every step moves towards.
    places : (T, 2) array
        X c after every step.
    weights : (N,) array
        c after the last step.
    """

    X: Floats
    target: int
    picks: Indices
    places: Floats
    weights: Floats

    @property
    def distance(self) -> float:
        """From X c to the target, after the last step."""
        return float(np.linalg.norm(self.places[-1] - self.X[:, self.target]))

    @property
    def touched(self) -> Indices:
        """Columns with a weight."""
        return np.flatnonzero(self.weights)


def walk(X: Floats, target: int, n_iter: int) -> Walk:
    """Take the steps of Eq. (14) for one column."""
    c, x = np.zeros(X.shape[1]), X[:, target]
    picks, places = [], []
    for t in range(n_iter):
        picks.append(int((X.T @ (X @ c - x)).argmin()))
        c *= t / (t + 2)
        c[picks[-1]] += 2 / (t + 2)
        places.append(X @ c)
    return Walk(X, target, np.array(picks), np.array(places), c)


def finds_all(fit: AnchorFit, truth: Mixture) -> bool:
    """Whether the anchors found are the true ones."""
    return set(fit.anchors.tolist()) == set(truth.anchors.tolist())


def success(finder: Finder, problems: Sequence[Mixture]) -> float:
    """Share of problems in which a method finds all anchors, K known."""
    return float(np.mean([finds_all(finder(problem.X, problem.anchors.size), problem) for problem in problems]))


def success_by_snr(snrs: Sequence[float], finders: Mapping[str, Finder], n_trials: int = 10) -> dict[str, Floats]:
    """Share of successes at every signal-to-noise ratio; the setting of Figure 4a, (M, N, K) = (50, 200, 40)."""
    shares = {name: np.empty(len(snrs)) for name in finders}
    for i, snr_db in enumerate(snrs):
        problems = [simulate.dirichlet_mixtures(snr_db=snr_db, random_state=seed) for seed in range(n_trials)]
        for name, finder in finders.items():
            shares[name][i] = success(finder, problems)
    return shares


def repeated(copies: int, snr_db: float = 15.0, seed: int = 0) -> tuple[Mixture, Indices]:
    """Draw 200 mixtures of 10 anchors, each of which occurs several times, every time with other noise.

    Returns the mixture (its anchors: the first copies) and, for all columns, the anchor it is a copy of, or -1.
    """
    rng = np.random.default_rng(seed)
    K, N = 10, 200
    W = rng.random((N_ROWS, K))
    H = np.hstack([np.eye(K)] * copies + [rng.dirichlet(np.ones(K), N - K * copies).T])
    Y = W @ H
    X = Y + rng.normal(0, np.sqrt(np.mean(Y**2) * 10 ** (-snr_db / 10)), Y.shape)
    copy_of = np.append(np.tile(np.arange(K), copies), np.full(N - K * copies, -1))
    return Mixture(X, W, H, np.arange(K)), copy_of


@dataclass(frozen=True)
class Selection:
    """What MERIT makes of one drawn problem."""

    problem: Mixture
    fit: MeritFit

    @property
    def hits(self) -> int:
        """How many true anchors were found."""
        return len(set(self.fit.anchors.tolist()) & set(self.problem.anchors.tolist()))

    @property
    def stored(self) -> int:
        """Entries of C that are stored."""
        assert self.fit.coefficients is not None
        return int(self.fit.coefficients.nnz)

    @property
    def drop(self) -> tuple[int, float]:
        """After how many of the falling scores they drop most, and by what share of that more than anywhere else."""
        drops = -np.diff(np.sort(self.fit.scores)[::-1])[: self.fit.scores.size // 2]
        second, first = np.sort(drops)[-2:]
        return int(np.argmax(drops)) + 1, float((first - second) / first)


def select(
    n_points: int, n_anchors: int, snr_db: float | None, lam: str | float, mu: float, seed: int = 0
) -> Selection:
    """Draw mixtures with 50 rows and run MERIT."""
    problem = simulate.dirichlet_mixtures(N_ROWS, n_points, n_anchors, snr_db, seed)
    return Selection(problem, merit(problem.X, n_anchors, lam=lam, mu=mu))  # type: ignore[arg-type]


def measure_memory(method: str, sizes: Sequence[int], n_iter: int, n_anchors: int = 40) -> dict[int, float]:
    """Measure the peak of a method on drawn mixtures of every size, each in a fresh process.

    Returns bytes by N, what the process held before the call not counted; empty where the system does not tell.
    """
    peaks = {}
    for n_points in sizes:
        X = simulate.dirichlet_mixtures(N_ROWS, n_points, n_anchors, random_state=0).X
        options: dict[str, Any] = {"n_anchors": n_anchors, "n_iter": n_iter}
        figures = measure_peak(FUNCTIONS[method], warm={"X": X[:, :SMALL], **options}, X=X, **options)
        if figures is not None:
            peaks[int(n_points)] = 1e6 * (figures["peak_mb"] - figures["base_mb"])
    return peaks

"""The panels of notebook 05: a walk in the triangle, and the scores of drawn mixtures.

symbol   meaning                                                        shape
X        points, one per column                                         (M, N)
C        coefficients, X ~ X C, columns on the simplex                  (N, N)
c, x     one column of C, and the point it explains                     (N,), (M,)
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import ipywidgets as w
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from cofactor import simulate
from cofactor.core.types import Floats, Indices
from cofactor.separable import MeritFit, merit
from cofactor.simulate import Mixture
from cofactor_app.plots.style import BLUE, FAINT, INK, ORANGE, WIDTH, new_picture, number, percent, say, styled
from course.nb05.pictures import N_ROWS, draw_scores, in_bytes
from course.panel import Panel, choice, slider

CORNERS = np.array([[0.0, -0.9, 0.9], [1.0, -0.5, -0.5]])  # of the triangle, around the origin
N_POINTS = 12  # in the triangle
NAMED = 40  # steps whose place in the triangle is drawn as a dot
POINTS = (100, 200, 500, 1000, 1500)  # 2000 take longer than half a second
ANCHORS = (5, 10, 20, 40, 70)
SNRS = (6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 20.0, 30.0)
MSR = "msr"
LAMBDAS = (
    ("by the residual of SPA (default)", MSR),
    ("the paper's rule", "paper"),
    *((f"{value:g}", value) for value in (0.0, 1e-3, 1e-2, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)),
)
MUS = (1e-7, 1e-5, 1e-3, 0.1, 1.0)


# ---- a walk in the triangle ----


def triangle(n_points: int = 12, noise: float = 0.0, seed: int = 3) -> Mixture:
    """Draw points in the triangle, its three corners first, and move all of them by Gaussian noise."""
    rng = np.random.default_rng(seed)
    H = np.hstack([np.eye(3), rng.dirichlet(np.ones(3), n_points - 3).T])
    X = CORNERS @ H + noise * rng.standard_normal((2, n_points))
    return Mixture(X, CORNERS, H, np.arange(3))


class Walk(NamedTuple):
    """How Frank-Wolfe approaches the column `target` of X (2, N).

    The columns that its T steps move towards; X c after every step, (T, 2); c after the last step, (N,).
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


@styled
def draw_points(X: Floats) -> Figure:
    """Draw the points in the triangle, each with its number."""
    fig = new_picture(WIDTH, 3.2)
    ax = fig.subplots()
    ax.add_patch(Polygon(CORNERS.T, closed=True, fc="none", ec=FAINT, lw=1, ls="--"))
    ax.plot(*X, "o", color=BLUE, ms=5)
    for n, point in enumerate(X.T):
        side = {"xytext": (-6, 3), "ha": "right"} if n % 2 else {"xytext": (6, 3)}
        ax.annotate(str(n), tuple(point), textcoords="offset points", fontsize=9, **side)
    ax.set(aspect="equal")
    ax.set_axis_off()
    say(fig, f"{X.shape[1]} points in a triangle: the columns of X by their numbers")
    return fig


@styled
def draw_walk(walk: Walk) -> Figure:
    """Draw points, the path of X c towards one of them, and the columns it is a mixture of, with their weights."""
    fig = new_picture(WIDTH, 4.0)
    ax = fig.subplots()
    _fill_walk(ax, walk)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside right center", handlelength=1.8)
    after = "1 step" if len(walk.picks) == 1 else f"{len(walk.picks)} steps"
    touched, left = f"{len(walk.touched)} of {walk.X.shape[1]} columns touched", number(round(walk.distance, 3))
    say(fig, f"After {after}: {touched}, {left} from the point")
    return fig


def _fill_walk(ax: Axes, walk: Walk) -> None:
    """Draw one walk, and the triangle, into axes."""
    ax.add_patch(Polygon(CORNERS.T, closed=True, fc="none", ec=FAINT, lw=1, ls="--"))
    ax.plot(*walk.X, "o", color=FAINT, ms=4.5, mec="white", mew=0.4, label="columns of X")
    ax.plot(*walk.X[:, walk.touched], "D", color=ORANGE, ms=7, mec="white", mew=0.6, label="columns touched")
    ax.plot(*walk.places.T, "-", color=BLUE, lw=1.2, label="X c, step by step")
    ax.plot(*walk.places[:NAMED].T, ".", color=BLUE, ms=5)
    ax.plot(*walk.X[:, walk.target], "*", color=INK, ms=13, mec="white", mew=0.8, label="the point x")
    for n in walk.touched:
        x, y = walk.X[:, n]
        away = (14 * np.sign(x), 9 * np.sign(y))
        ax.annotate(f"{walk.weights[n]:.2f}", (x, y), away, textcoords="offset points", ha="center", va="center")
    seen = np.hstack([CORNERS, walk.X])  # with noise, points lie on either side of the edges
    low, high = seen.min(axis=1), seen.max(axis=1)
    ax.set(xlim=(low[0] - 0.4, high[0] + 0.4), ylim=(low[1] - 0.2, high[1] + 0.2), aspect="equal")
    ax.set_axis_off()


def walk_panel(seed: int = 3) -> Panel:
    """Choose the point, the steps and the noise; see the way of Frank-Wolfe and the columns that it touches."""

    def compute(n_iter: int, target: int, noise: float) -> Walk:
        return walk(triangle(N_POINTS, noise, seed).X, target, n_iter)

    controls = {
        "n_iter": slider(w.IntSlider, 6, 1, 60, 1, "steps"),
        "target": slider(w.IntSlider, 5, 0, N_POINTS - 1, 1, "column of X"),
        "noise": slider(w.FloatSlider, 0.0, 0.0, 0.3, 0.05, "noise"),
    }
    return Panel(controls, compute, draw_walk, describe_walk)


def describe_walk(outcome: Walk) -> str:
    """Say which columns have a weight, and how far the point is."""
    weights = ", ".join(f"{n} ({outcome.weights[n]:.2f})" for n in outcome.touched)
    left = number(round(outcome.distance, 3))
    return f"Column {outcome.target} is a mixture of the columns {weights}; {left} is left to go."


# ---- scores of drawn mixtures ----


class Selection(NamedTuple):
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


def draw_selection(outcome: Selection) -> Figure:
    """Draw the scores of a drawn problem."""
    name = f"λ = {number(float(f'{outcome.fit.lam:.3g}'))}"
    return draw_scores({name: outcome.fit.scores}, outcome.problem.anchors)


def selection_panel(seed: int = 0) -> Panel:
    """Choose N, K, the noise, lambda and mu; see the scores of anchors and mixtures, and what C takes."""
    controls = {
        "n_points": choice(w.SelectionSlider, POINTS, 200, "points N"),
        "n_anchors": choice(w.SelectionSlider, ANCHORS, 40, "anchors K"),
        "snr_db": choice(w.SelectionSlider, SNRS, 10.0, "SNR (dB)"),
        "lam": choice(w.Dropdown, LAMBDAS, MSR, "λ"),
        "mu": choice(w.SelectionSlider, MUS, 1e-5, "μ"),
    }
    return Panel(controls, partial(select, seed=seed), draw_selection, describe_selection)


def describe_selection(outcome: Selection) -> str:
    """Say how many anchors were found, with which lambda, where the scores drop most, and what C takes."""
    fit, truth = outcome.fit, outcome.problem
    N, K = truth.X.shape[1], truth.anchors.size
    found = f"{outcome.hits} of {K} anchors found with λ = {number(float(f'{fit.lam:.3g}'))}"
    after, margin = outcome.drop
    guess = f"the largest drop of the scores is after {after} (margin {percent(margin)})"
    sizes = f"{in_bytes(12 * outcome.stored)}; dense: {in_bytes(8 * N**2)}"
    return f"{found}; {guess}. C holds {outcome.stored:,} entries, {sizes}."

"""The panels of notebook 05: steps in the triangle, memory, and the scores of random mixtures.

symbol   meaning                                                        shape
X        points, one per column                                         (M, N)
C        coefficients, X ~ X C, columns on the simplex                  (N, N)
c, x     one column of C, and the point it explains                     (N,), (M,)
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import NamedTuple

import ipywidgets as w
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.ticker import FuncFormatter

from cofactor import simulate
from cofactor.core.types import Floats, Indices
from cofactor.separable import MeritFit, merit
from cofactor.simulate import Mixture
from cofactor_app.plots.style import BLUE, FAINT, INK, ORANGE, WIDTH, new_picture, number, percent, say, styled
from course.live import Live, drag
from course.nb05.pictures import INDEX, N_ROWS, WEIGHT, draw_scores, in_bytes
from course.panel import Panel, choice

CORNERS = np.array([[0.0, -0.9, 0.9], [1.0, -0.5, -0.5]])  # of the triangle, around the origin
N_POINTS = 12  # in the triangle
STEPS = 60  # of a walk
POINTS = (100, 200, 500, 1000, 1500)  # 2000 take longer than half a second
ANCHORS = (5, 10, 20, 40, 70)
SNRS = (6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 20.0, 30.0)
MSR = "msr"
LAMBDAS = (
    ("from the residual of SPA (default)", MSR),
    ("the paper's rule", "paper"),
    *((f"{value:g}", value) for value in (0.0, 1e-3, 1e-2, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)),
)
MUS = (1e-7, 1e-5, 1e-3, 0.1, 1.0)


# ---- a walk in the triangle ----


def triangle(n_points: int = 12, noise: float = 0.0, seed: int = 3) -> Mixture:
    """Draw points in the triangle, its three corners first, and add Gaussian noise to all of them."""
    rng = np.random.default_rng(seed)
    H = np.hstack([np.eye(3), rng.dirichlet(np.ones(3), n_points - 3).T])
    X = CORNERS @ H + noise * rng.standard_normal((2, n_points))
    return Mixture(X, CORNERS, H, np.arange(3))


class Walk(NamedTuple):
    """The path of Frank-Wolfe to the column `target` of X (2, N).

    The columns that its T steps move towards; X c after every step, (T, 2); c after the last step, (N,).
    """

    X: Floats
    target: int
    picks: Indices
    places: Floats
    weights: Floats

    @property
    def distance(self) -> float:
        """Distance from X c to the target after the last step."""
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
    say(fig, f"{X.shape[1]} points in a triangle: the columns of X with their numbers")
    return fig


@styled
def walk_live(seed: int = 3) -> Live:
    """Drag through the steps of Frank-Wolfe towards a point: which columns it picks, and their weights."""
    fig = new_picture(8, 3.9)
    left, right = fig.subplots(1, 2, width_ratios=[1.5, 1])
    left.add_patch(Polygon(CORNERS.T, closed=True, fc="none", ec=FAINT, lw=1, ls="--"))
    (points,) = left.plot([], [], "o", color=FAINT, ms=4.5, mec="white", mew=0.4, label="columns of X")
    (touched,) = left.plot([], [], "D", color=ORANGE, ms=7, mec="white", mew=0.6, label="columns picked")
    (path,) = left.plot([], [], ".-", color=BLUE, lw=1, ms=4, label="X c, step by step")
    (goal,) = left.plot([], [], "*", color=INK, ms=13, mec="white", mew=0.8, label="the point x")
    left.set(xlim=(-1.5, 1.5), ylim=(-1.25, 1.4), aspect="equal")
    left.legend(loc="upper left", bbox_to_anchor=(-0.15, 1.0))
    left.set_axis_off()
    bars = right.bar(np.arange(N_POINTS), np.zeros(N_POINTS), color=ORANGE)
    right.set(xlabel="column of X", ylabel="weight in c", ylim=(0, 1.02), xticks=np.arange(N_POINTS))
    say(fig, "Frank-Wolfe: one column of X per step")

    @lru_cache(maxsize=256)
    def walked(target: int, noise: float) -> list[Walk]:
        X = triangle(N_POINTS, noise, seed).X
        return [walk(X, target, n_iter) for n_iter in range(1, STEPS + 1)]

    def update(n_iter: int, target: int, noise: float) -> str:
        now = walked(target, noise)[n_iter - 1]
        points.set_data(*now.X)
        touched.set_data(*now.X[:, now.touched])
        path.set_data(*now.places.T)
        goal.set_data(*now.X[:, [target]])
        for bar, weight in zip(bars, now.weights, strict=True):
            bar.set_height(weight)
        return describe_walk(now)

    controls = {
        "n_iter": drag(1, 1, STEPS, 1, "steps"),
        "target": drag(5, 0, N_POINTS - 1, 1, "column of X"),
        "noise": drag(0.0, 0.0, 0.3, 0.05, "noise"),
    }
    look = "Which columns will be picked? Guess, then drag the steps. Try other points. And with noise?"
    return Live(controls, fig, [points, path, touched, goal, *bars], update, look)


def describe_walk(outcome: Walk) -> str:
    """Say which columns have a weight, and how far the point still is."""
    weights = ", ".join(f"{n} ({outcome.weights[n]:.2f})" for n in outcome.touched)
    left = number(round(outcome.distance, 3))
    return f"Column {outcome.target} as a mixture of columns (weights): {weights}; remaining distance {left}."


@lru_cache(maxsize=1)
def first_filled() -> Indices:
    """Return the step that first fills each entry of C (N, N), for 200 noisy points; STEPS + 1 if none does."""
    X = simulate.dirichlet_mixtures(snr_db=10, random_state=0).X
    C, filled = np.zeros((X.shape[1],) * 2), np.full((X.shape[1],) * 2, STEPS + 1)
    for t in range(STEPS):
        picks = (X.T @ (X @ C - X)).argmin(axis=0)
        C *= t / (t + 2)
        C[picks, np.arange(len(picks))] += 2 / (t + 2)
        filled[C > 0] = np.minimum(filled[C > 0], t + 1)
    return filled


@styled
def memory_live() -> Live:
    """Drag the steps and the number of points: how much of C is filled, and the memory of lists and of a dense C."""
    filled, N = first_filled(), np.geomspace(100, 1e6, 60)
    fig = new_picture(8, 3.8)
    left, right = fig.subplots(1, 2, width_ratios=[1, 1.3])
    image = left.imshow(filled <= 0, cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
    left.set(xlabel="column of C", ylabel="row of C", title="filled entries, 200 points at 10 dB")
    right.loglog(N, WEIGHT * N**2, color=INK, label="a dense C")
    (lists,) = right.loglog(N, N, color=BLUE, label="lists of C, at most")
    (here,) = right.loglog(N[:2], N[:2], "D", color=ORANGE, mec=INK, ms=8)
    right.axhline(16e9, color=FAINT, lw=1, ls=":")
    right.text(110, 2e10, "16 GB, a laptop", fontsize=8.5)
    right.yaxis.set_major_formatter(FuncFormatter(lambda value, _: in_bytes(value)))
    right.set(xlabel="points N", ylabel="memory", xlim=(100, 1e6), ylim=(1e3, 1e13))
    right.legend(loc="lower right")
    say(fig, "A step adds at most one entry to a column")

    def update(after: int, power: float) -> str:
        image.set_data(filled <= after)
        lists.set_data(N, (INDEX + WEIGHT) * N * after)
        n = 10**power
        sizes = (INDEX + WEIGHT) * n * after, WEIGHT * n**2
        here.set_data([n, n], sizes)
        share = (filled <= after).mean()
        return (
            f"After {after} step{'' if after == 1 else 's'}, {percent(share, 1)} of C is filled: "
            f"{len(filled) * share:.1f} entries per column. With N = {n:,.0f} points, the lists need at most "
            f"{in_bytes(sizes[0])}, and a dense C needs {in_bytes(sizes[1])}."
        )

    controls = {
        "after": drag(1, 1, 50, 1, "steps"),
        "power": drag(3.0, 2.0, 6.0, 0.1, "log10 of the points N"),
    }
    look = (
        "How much of C will 50 steps fill? Guess, then drag. At which N does a dense C no longer fit into the laptop?"
    )
    return Live(controls, fig, [image, lists, here], update, look)


# ---- scores of drawn mixtures ----


class Selection(NamedTuple):
    """A random problem and the fit of MERIT to it."""

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
        """The number of scores above the largest drop, and its relative margin over the second largest."""
        drops = -np.diff(np.sort(self.fit.scores)[::-1])[: self.fit.scores.size // 2]
        second, first = np.sort(drops)[-2:]
        return int(np.argmax(drops)) + 1, float((first - second) / first)


def select(
    n_points: int, n_anchors: int, snr_db: float | None, lam: str | float, mu: float, seed: int = 0
) -> Selection:
    """Draw a problem with 50 rows and run MERIT."""
    problem = simulate.dirichlet_mixtures(N_ROWS, n_points, n_anchors, snr_db, seed)
    return Selection(problem, merit(problem.X, n_anchors, lam=lam, mu=mu))  # type: ignore[arg-type]


def draw_selection(outcome: Selection) -> Figure:
    """Draw the scores of one problem."""
    name = f"λ = {number(float(f'{outcome.fit.lam:.3g}'))}"
    return draw_scores({name: outcome.fit.scores}, outcome.problem.anchors)


def selection_panel(seed: int = 0) -> Panel:
    """Choose N, K, the noise, lambda and mu; see the scores of anchors and mixtures, and the memory of C."""
    controls = {
        "n_points": choice(w.SelectionSlider, POINTS, 200, "points N"),
        "n_anchors": choice(w.SelectionSlider, ANCHORS, 40, "anchors K"),
        "snr_db": choice(w.SelectionSlider, SNRS, 10.0, "SNR (dB)"),
        "lam": choice(w.Dropdown, LAMBDAS, MSR, "λ"),
        "mu": choice(w.SelectionSlider, MUS, 1e-5, "μ"),
    }
    return Panel(controls, partial(select, seed=seed), draw_selection, describe_selection)


def describe_selection(outcome: Selection) -> str:
    """Say how many anchors were found, with which lambda, where the scores drop most, and the memory of C."""
    fit, truth = outcome.fit, outcome.problem
    N, K = truth.X.shape[1], truth.anchors.size
    found = f"{outcome.hits} of {K} anchors found with λ = {number(float(f'{fit.lam:.3g}'))}"
    after, margin = outcome.drop
    guess = f"the largest drop of the scores is after {after} (margin {percent(margin)})"
    sizes = f"{in_bytes((INDEX + WEIGHT) * outcome.stored)}; dense: {in_bytes(WEIGHT * N**2)}"
    return f"{found}; {guess}. C holds {outcome.stored:,} entries, {sizes}."

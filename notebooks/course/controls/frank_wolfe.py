"""The panels of notebook 05: a walk in the triangle, and the scores of drawn mixtures."""

from __future__ import annotations

import ipywidgets as w

from cofactor.plots.style import number, percent
from course.panel import Panel, choice, slider
from course.demos.frank_wolfe import CORNERS, MSR, Selection, Walk, select, triangle, walk
from course.figures.frank_wolfe import draw_selection, draw_walk, in_bytes

N_POINTS = 12  # in the triangle
POINTS = (100, 200, 500, 1000, 2000)
ANCHORS = (5, 10, 20, 40, 70)
SNRS = (6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 20.0, 30.0)
LAMBDAS = (
    ("by the residual of SPA (default)", MSR),
    ("the paper's rule", "paper"),
    *((f"{value:g}", value) for value in (0.0, 1e-3, 1e-2, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)),
)
MUS = (1e-7, 1e-5, 1e-3, 0.1, 1.0)


def walk_panel(seed: int = 3) -> Panel:
    """Choose the point, the steps and the noise; see the way of Frank-Wolfe and the columns that it touches."""

    def compute(n_iter: int, target: int, noise: float) -> Walk:
        return walk(triangle(N_POINTS, noise, seed).X, target, n_iter)

    controls = {
        "n_iter": slider(w.IntSlider, 6, 1, 60, 1, "steps"),
        "target": slider(w.IntSlider, 5, 0, N_POINTS - 1, 1, "column of X"),
        "noise": slider(w.FloatSlider, 0.0, 0.0, 0.3, 0.05, "noise"),
    }
    return Panel(controls, compute, lambda outcome: draw_walk(outcome, CORNERS), describe_walk)


def describe_walk(outcome: Walk) -> str:
    """Say which columns have a weight, and how far the point is."""
    weights = ", ".join(f"{n} ({outcome.weights[n]:.2f})" for n in outcome.touched)
    left = number(round(outcome.distance, 3))
    return f"Column {outcome.target} is a mixture of the columns {weights}; {left} is left to go."


def selection_panel(seed: int = 0) -> Panel:
    """Choose N, K, the noise, lambda and mu; see the scores of anchors and mixtures, and what C takes."""

    def compute(n_points: int, n_anchors: int, snr_db: float, lam: str | float, mu: float) -> Selection:
        return select(n_points, n_anchors, snr_db, lam, mu, seed)

    controls = {
        "n_points": choice(w.SelectionSlider, POINTS, 200, "points N"),
        "n_anchors": choice(w.SelectionSlider, ANCHORS, 40, "anchors K"),
        "snr_db": choice(w.SelectionSlider, SNRS, 10.0, "SNR (dB)"),
        "lam": choice(w.Dropdown, LAMBDAS, MSR, "λ"),
        "mu": choice(w.SelectionSlider, MUS, 1e-5, "μ"),
    }
    return Panel(controls, compute, draw_selection, describe_selection)


def describe_selection(outcome: Selection) -> str:
    """Say how many anchors were found, with which lambda, where the scores drop most, and what C takes."""
    fit, truth = outcome.fit, outcome.problem
    N, K = truth.X.shape[1], truth.anchors.size
    found = f"{outcome.hits} of {K} anchors found with λ = {number(float(f'{fit.lam:.3g}'))}"
    after, margin = outcome.drop
    guess = f"the largest drop of the scores is after {after} (margin {percent(margin)})"
    sizes = f"{in_bytes(12 * outcome.stored)}; dense: {in_bytes(8 * N**2)}"
    return f"{found}; {guess}. C holds {outcome.stored:,} entries, {sizes}."

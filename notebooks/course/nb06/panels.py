"""The panel of notebook 06: comparisons, rank, start, step and noise of a descent.

symbol   meaning                                                         shape
U, V     features of users and of items                                  (n1, r), (n2, r)
x        the flat vector (U, V)
sigma_1  largest singular value of U V'
eta      step; one over sigma_1 / (n1 (n2 - 1)), the curvature, by default
dof      (n1 + n2 - 1) r - r^2, numbers that comparisons can tell
"""

from __future__ import annotations

from collections import namedtuple
from functools import partial

import ipywidgets as w
import numpy as np
from matplotlib.figure import Figure

from cofactor import simulate
from cofactor.comparisons import Comparisons, Objective, random_start, spectral_start, utility_error
from cofactor.comparisons.objective import degrees_of_freedom
from cofactor.core.types import Floats
from cofactor_app.plots.style import BLUE, FAINT, ORANGE, new_picture, number, say, styled
from course.panel import Panel, choice

USERS, ITEMS = 60, 80  # of the small problem that panels and pictures use
RUNAWAY = 1e3  # a loss this many times the first ends a descent
SHOWN = 1e-12  # relative errors below are all rounding
SOLVED = 1e-3
EXACT = 0  # answers per comparison that stand for endless ones
STARTS = {"spectral": 0.0, "small random": 0.1, "random": 1.0, "large random": 2.0}  # size relative to the truth
PER_DOF = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0)
STEPS = (0.001, 0.1, 0.3, 1.0, 1.5, 1.9, 2.5, 4.0)
ANSWERS = (("endless", EXACT), ("100", 100), ("10", 10), ("1", 1))

Descent = namedtuple("Descent", "errors losses x")  # before and after every step, and where it ended
Pursuit = namedtuple("Pursuit", "truth found descent n_comparisons dof step answers start")  # utilities are centred


def _descend(objective: Objective, start: Floats, step: float, max_iter: int, truth: tuple[Floats, Floats]) -> Descent:
    """Take constant steps and watch relative error and loss (14); stop early where the loss runs away."""
    x, errors, losses = start.copy(), [], []
    for _ in range(max_iter + 1):
        f, g = objective(x)
        losses.append(f)
        errors.append(utility_error(*objective.split(x)[:2], *truth))
        if not f <= RUNAWAY * max(losses[0], 1.0):
            break
        x = x - step * g
    return Descent(np.array(errors), np.array(losses), x)


def answered(exact: Comparisons, answers: int, seed: int = 0) -> Comparisons:
    """Replace chances by the share of so many choices; EXACT leaves them."""
    if answers == EXACT:
        return exact
    n = np.random.default_rng(seed).binomial(answers, exact.outcome)
    counts = np.full(len(exact), float(answers))
    return Comparisons(exact.user, exact.left, exact.right, n / answers, exact.n_users, exact.n_items, counts=counts)


def pursue(
    per_dof: float, rank: int, start: str, step: float, answers: int, max_iter: int = 400, seed: int = 0
) -> Pursuit:
    """Draw 60 users, 80 items and comparisons, and descend from a start; the step is a multiple of 1 / curvature."""
    U, V = simulate.comparison_factors(USERS, ITEMS, rank, random_state=seed)
    dof = degrees_of_freedom(USERS, ITEMS, rank)
    exact = simulate.draw_comparisons(U, V, round(per_dof * dof), "exact", random_state=seed + 1)
    data = answered(exact, answers, seed + 2)
    objective = Objective(data, rank)
    size = STARTS[start] * float(np.sqrt((np.sum(U**2) + np.sum(V**2)) / (U.size + V.size)))
    spectral = spectral_start(data, rank, random_state=seed) if size == 0 else None
    first = objective.join(*(spectral or random_start(data, rank, size, seed + 3)))
    eta = step * USERS * (ITEMS - 1) / float(np.linalg.norm(U @ V.T, 2))
    run = _descend(objective, first, eta, max_iter, (U, V))
    A, B, _ = objective.split(run.x)
    return Pursuit(U @ V.T, A @ (B - B.mean(axis=0)).T, run, len(data), dof, step, answers, start)


@styled
def draw_pursuit(outcome: Pursuit) -> Figure:
    """Draw error and loss of a descent, beside found utilities against true ones."""
    run = outcome.descent
    fig = new_picture(7.5, 3.3)
    left, right = fig.subplots(1, 2, width_ratios=[1.3, 1])
    left.semilogy(np.maximum(run.errors, SHOWN), color=BLUE, lw=2, label="relative error of utilities")
    left.semilogy(np.maximum(run.losses, SHOWN**2), color=ORANGE, lw=1.5, ls="--", label="loss on the comparisons")
    left.set(xlabel="iteration", ylabel="error, loss")
    left.legend(loc="best", fontsize=8)
    reach = 1.1 * float(np.abs(outcome.truth).max())
    right.plot([-reach, reach], [-reach, reach], "--", color=FAINT, lw=1)
    right.plot(outcome.truth.ravel(), outcome.found.ravel(), ",", color=BLUE, alpha=0.6, rasterized=True)
    right.set(xlabel="true utility", ylabel="utility found", xlim=(-reach, reach), ylim=(-2 * reach, 2 * reach))
    say(fig, f"{_verdict(outcome)}: relative error {_short(run.errors[-1])} after {len(run.errors) - 1} steps")
    return fig


def _verdict(outcome: Pursuit) -> str:
    run = outcome.descent
    if run.losses[-1] > run.losses[0]:
        return "Ran away"
    if run.errors[-1] < SOLVED:
        return "Recovered"
    if run.errors[-1] > 1.5 * run.errors.min() and outcome.answers != EXACT:
        return "Learnt the noise"
    return "Not recovered"


def _short(value: float) -> str:
    return number(float(f"{value:.1e}"))


def descent_panel(seed: int = 0) -> Panel:
    """Choose comparisons per degree of freedom, rank, start, step and answers each; see whether it arrives."""
    controls = {
        "per_dof": choice(w.SelectionSlider, PER_DOF, 4.0, "comparisons m / dof"),
        "rank": choice(w.SelectionSlider, (1, 2, 3, 4, 5), 2, "rank r"),
        "step": choice(w.SelectionSlider, STEPS, 1.0, "step (1 / curvature)"),
        "answers": choice(w.SelectionSlider, ANSWERS, EXACT, "answers each"),
        "start": choice(w.Dropdown, tuple(STARTS), "spectral", "start"),
    }
    return Panel(controls, partial(pursue, seed=seed), draw_pursuit, _describe)


def _describe(outcome: Pursuit) -> str:
    errors, answers = outcome.descent.errors, outcome.answers
    each = "exact chances" if answers == EXACT else f"{answers} answer{'s' * (answers > 1)} each"
    return (
        f"{outcome.n_comparisons:,} comparisons with {each} for {outcome.dof} degrees of freedom. "
        f"From a {outcome.start} start, {len(errors) - 1} steps of {outcome.step:g} / curvature take the relative "
        f"error from {_short(errors[0])} to {_short(errors[-1])}; its least on the way is {_short(errors.min())}."
    )

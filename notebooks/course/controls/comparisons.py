"""The panel of notebook 06: comparisons, rank, start, step and noise of a descent."""

from __future__ import annotations

import ipywidgets as w

from cofactor.plots.style import number
from course.panel import Panel, choice
from course.demos.comparisons import EXACT, STARTS, Pursuit, pursue
from course.figures.comparisons import draw_pursuit

PER_DOF = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0)
RANKS = (1, 2, 3, 4, 5)
STEPS = (0.001, 0.1, 0.3, 1.0, 1.5, 1.9, 2.5, 4.0)
ANSWERS = (("endless", EXACT), ("100", 100), ("10", 10), ("1", 1))


def descent_panel(seed: int = 0) -> Panel:
    """Choose comparisons per degree of freedom, rank, start, step and answers each; see whether it arrives."""

    def compute(per_dof: float, rank: int, start: str, step: float, answers: int) -> Pursuit:
        return pursue(per_dof, rank, start, step, answers, seed=seed)

    controls = {
        "per_dof": choice(w.SelectionSlider, PER_DOF, 4.0, "comparisons m / dof"),
        "rank": choice(w.SelectionSlider, RANKS, 2, "rank r"),
        "step": choice(w.SelectionSlider, STEPS, 1.0, "step (1 / curvature)"),
        "answers": choice(w.SelectionSlider, ANSWERS, EXACT, "answers each"),
        "start": choice(w.Dropdown, tuple(STARTS), "spectral", "start"),
    }
    return Panel(controls, compute, draw_pursuit, describe_pursuit)


def describe_pursuit(outcome: Pursuit) -> str:
    """Say what was asked and done, and what came of it."""
    run = outcome.descent
    each = (
        "exact chances" if outcome.answers == EXACT else f"{outcome.answers} answer{'s' * (outcome.answers > 1)} each"
    )
    first, last, least = (number(float(f"{value:.1e}")) for value in (run.errors[0], run.errors[-1], run.errors.min()))
    asked = f"{outcome.n_comparisons:,} comparisons with {each} for {outcome.dof} degrees of freedom"
    done = f"{len(run.errors) - 1} steps of {outcome.step:g} / curvature"
    return (
        f"{asked}. From a {outcome.start} start, {done} take the relative error from {first} to {last}; "
        f"its least on the way is {least}."
    )

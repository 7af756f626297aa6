"""The panel of notebook 10: how many labels a wanted error takes, planned from a pilot."""

from __future__ import annotations

import ipywidgets as w

from cofactor.plots.planning import draw_plan
from cofactor.plots.style import percent
from course.panel import Panel, choice, slider
from course.demos.your_data import Pilot, plan_pilot

PER_TASK = (2, 3, 4, 5, 7, 10, 20)
OFFERED = ("MV-EM", "KOS(ordinal)", "MajorityVote")  # those fitted hundreds of times in a second or two


def plan_panel(seed: int = 0) -> Panel:
    """Choose how good the workers are, how many labels the pilot has, and the error that is wanted.

    Parameters
    ----------
    seed : int
        Of the pilot and of the crowds simulated from it.
    """

    def compute(accuracy: float, per_task: int, wanted: float, method: str) -> Pilot:
        return plan_pilot(accuracy, per_task, wanted / 100, method, seed)

    controls = {
        "accuracy": slider(w.FloatSlider, 0.7, 0.4, 0.95, 0.05, "workers' accuracy (mean)"),
        "per_task": choice(w.SelectionSlider, PER_TASK, 4, "labels per task in the pilot"),
        "wanted": slider(w.FloatSlider, 5.0, 0.5, 20.0, 0.5, "wanted error (%)"),
        "method": choice(w.Dropdown, OFFERED, "MV-EM", "method"),
    }
    return Panel(controls, compute, lambda pilot: draw_plan(pilot.plan), describe_pilot)


def describe_pilot(pilot: Pilot) -> str:
    """Say what the pilot was, and what every method needs, in nine of ten simulations."""
    plan = pilot.plan
    rows = zip(*(plan.needed()[name] for name in ("method", "amount", "low", "high")), strict=True)
    answers = [
        f"{name} {plan.amount_in_words(amount)} ({plan.amount_in_words(low)} to {plan.amount_in_words(high)})"
        for name, amount, low, high in rows
    ]
    return (
        f"Workers right on {percent(pilot.accuracy)}, a pilot with {pilot.per_task} labels per task: for an error of "
        f"{percent(plan.wanted, 1)} take {'; '.join(answers)} labels per task."
    )

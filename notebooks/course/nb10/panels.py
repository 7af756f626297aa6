"""The panel of notebook 10: how many labels a wanted error takes, planned from a pilot."""

from __future__ import annotations

from collections import namedtuple

import ipywidgets as w
import numpy as np

from cofactor.crowd.plan_next import Plan
from cofactor_app.plots.planning import draw_plan
from cofactor_app.plots.style import percent
from course.nb10.pilots import ACCURACIES, OFFERED, PER_TASK, TRIED, kept_errors
from course.panel import Panel, choice, slider

VOTE = "MajorityVote"

Pilot = namedtuple("Pilot", "accuracy per_task plan")


def plan_pilot(accuracy: float, per_task: int, wanted: float, method: str = "MV-EM") -> Pilot:
    """Return the kept plan from a pilot of 200 tasks, for the vote and a method."""
    errors = dict(zip(OFFERED, kept_errors()[accuracy, per_task], strict=True))
    shown = {name: errors[name] for name in dict.fromkeys([VOTE, method])}
    told = "labels per task", "share of tasks labelled wrongly", np.array(TRIED, dtype=np.float64)
    return Pilot(accuracy, per_task, Plan(*told, shown, wanted, per_task))


def plan_panel() -> Panel:
    """Choose how good the workers are, how many labels the pilot has, and the error that is wanted."""

    def compute(accuracy: float, per_task: int, wanted: float, method: str) -> Pilot:
        return plan_pilot(round(accuracy, 1), per_task, wanted / 100, method)

    controls = {
        "accuracy": slider(w.FloatSlider, 0.7, ACCURACIES[0], ACCURACIES[-1], 0.1, "workers' accuracy (mean)"),
        "per_task": choice(w.SelectionSlider, PER_TASK, 4, "labels per task in the pilot"),
        "wanted": slider(w.FloatSlider, 5.0, 0.5, 20.0, 0.5, "wanted error (%)"),
        "method": choice(w.Dropdown, OFFERED, "MV-EM", "method"),
    }
    return Panel(controls, compute, lambda pilot: draw_plan(pilot.plan), _describe)


def _describe(pilot: Pilot) -> str:
    """Say what the pilot was, and what every method needs, in nine of ten simulations."""
    told = []
    for name, middle, low, high in pilot.plan.in_words():
        told.append(f"{name} {middle}" + (f" ({low} to {high})" if low != high else ""))
    said = f"Workers right on {percent(pilot.accuracy)}, a pilot with {pilot.per_task} labels per task"
    return f"{said}: for an error of {percent(pilot.plan.wanted, 1)} take {'; '.join(told)} labels per task."

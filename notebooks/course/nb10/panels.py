"""The panel of notebook 10: how many labels a wanted error takes, planned from a pilot."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import replace
from functools import lru_cache

import ipywidgets as w
import numpy as np

from cofactor_app.planning.plan import Plan
from cofactor.crowd.labels import CrowdLabels
from cofactor_app.planning.crowd import plan
from cofactor_app.plots.planning import draw_plan
from cofactor_app.plots.style import percent
from course.nb10.files import sorting_crowd
from course.panel import Panel, choice, slider

TASKS, WORKERS, CLASSES, TRIALS = 200, 20, 3, 20  # of the pilot, and simulations
TRIED = (1, 2, 3, 4, 5, 7, 9, 12, 15, 20)  # labels per task
SPREAD = 0.12  # of workers' accuracies
OFFERED = ("MV-EM", "KOS(ordinal)", "MajorityVote")  # those fitted hundreds of times in a second or two

Pilot = namedtuple("Pilot", "accuracy per_task plan")


def plan_pilot(accuracy: float, per_task: int, wanted: float, method: str = "MV-EM", seed: int = 0) -> Pilot:
    """Plan from a pilot: 200 tasks of three classes and known truth, with `per_task` labels each, by 20 workers."""
    return Pilot(accuracy, per_task, replace(_pilot_plan(accuracy, per_task, method, seed), wanted=wanted))


@lru_cache(maxsize=32)  # another wanted error reads the same curve
def _pilot_plan(accuracy: float, per_task: int, method: str, seed: int) -> Plan:
    rng = np.random.default_rng(seed)
    skills = np.clip(accuracy + SPREAD * rng.standard_normal(WORKERS), 0.05, 0.99)
    row, worker = np.array([(n, m) for n in range(TASKS) for m in rng.permutation(WORKERS)[:per_task]]).T
    drawn, truth = sorting_crowd(skills.tolist()).sample(TASKS, (row, worker), rng)
    sizes = CLASSES, TASKS, WORKERS
    labels = CrowdLabels.from_arrays(row, worker, drawn.codes[row, worker], *sizes, unlabelled="keep")
    methods = list(dict.fromkeys(["MajorityVote", method]))
    return plan(labels, 0.05, amounts=TRIED, methods=methods, truth=truth, n_trials=TRIALS, random_state=rng)


def plan_panel(seed: int = 0) -> Panel:
    """Choose how good the workers are, how many labels the pilot has, and the error that is wanted."""

    def compute(accuracy: float, per_task: int, wanted: float, method: str) -> Pilot:
        return plan_pilot(accuracy, per_task, wanted / 100, method, seed)

    controls = {
        "accuracy": slider(w.FloatSlider, 0.7, 0.4, 0.95, 0.05, "workers' accuracy (mean)"),
        "per_task": choice(w.SelectionSlider, (2, 3, 4, 5, 7, 10, 20), 4, "labels per task in the pilot"),
        "wanted": slider(w.FloatSlider, 5.0, 0.5, 20.0, 0.5, "wanted error (%)"),
        "method": choice(w.Dropdown, OFFERED, "MV-EM", "method"),
    }
    return Panel(controls, compute, lambda pilot: draw_plan(pilot.plan), _describe)


def _describe(pilot: Pilot) -> str:
    """Say what the pilot was, and what every method needs, in nine of ten simulations."""
    plan, told = pilot.plan, []
    for row in plan.needed().itertuples():
        middle, low, high = map(plan.amount_in_words, (row.amount, row.low, row.high))
        told.append(f"{row.method} {middle} ({low} to {high})")
    said = f"Workers right on {percent(pilot.accuracy)}, a pilot with {pilot.per_task} labels per task"
    return f"{said}: for an error of {percent(plan.wanted, 1)} take {'; '.join(told)} labels per task."

"""The picture of notebook 10: what the path from a file ends in."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from cofactor.crowd.plan_next import Plan
from cofactor.crowd.workers import CrowdBootstrap
from cofactor_app.plots.crowd import SURE, fill_uncertainty
from cofactor_app.plots.planning import fill_intervals, fill_plan
from cofactor_app.plots.style import WIDTH, new_picture, percent, say, styled


@styled
def draw_path(posterior: ArrayLike, found: CrowdBootstrap, plan: Plan) -> Figure:
    """Draw what the path from a CSV ends in: doubtful tasks, workers with intervals, labels for a wanted error."""
    posterior = np.asarray(posterior, dtype=np.float64)
    fig = new_picture(WIDTH, 6.2)
    tasks, workers, labels = fig.subplot_mosaic("AB;CC", height_ratios=[1, 1.05]).values()
    fill_uncertainty(tasks, posterior, None)
    fill_intervals(workers, found, legend=False)
    chance = 100 / len(found.classes)
    workers.annotate("chance", (0, chance), (4, 3), textcoords="offset points")
    fill_plan(labels, plan)
    doubtful = f"{np.sum(posterior.max(axis=1) < SURE)} of {len(posterior)} tasks are doubtful"
    name, needed = list(plan.errors)[-1], plan.needed()["amount"].iloc[-1]
    words = plan.answers()[name] if plan.only_range else plan.amount_in_words(needed)
    say(fig, f"{doubtful}; an error of {percent(plan.wanted)} takes {words} {plan.unit} ({name})")
    return fig

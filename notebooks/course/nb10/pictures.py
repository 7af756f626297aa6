"""Pictures of notebook 10: what the path ends in, refits with their interval, crowds that reach an error."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from cofactor.core.bootstrap import LEVEL, quantiles
from cofactor.core.planning import Plan
from cofactor.crowd.bootstrap import CrowdBootstrap
from cofactor.plots.crowd import SURE, fill_uncertainty
from cofactor.plots.planning import fill_intervals, fill_plan
from cofactor.plots.style import BLUE, FAINT, INK, ORANGE, WIDTH, new_picture, number, percent, say, styled

ENOUGH = 0.9  # share of simulated crowds that makes an amount of data enough


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


@styled
def draw_refits(draws: ArrayLike, level: float = LEVEL) -> Figure:
    """Draw a histogram of refits with the central interval of this level."""
    draws = np.asarray(draws, dtype=np.float64)
    low, high = map(float, quantiles(draws, level))
    fig = new_picture(WIDTH, 2.6)
    ax = fig.subplots()
    ax.hist(100 * draws, bins=24, color=BLUE, edgecolor="white")
    ax.axvspan(100 * low, 100 * high, color=ORANGE, alpha=0.25, lw=0)
    for end in (low, high):
        ax.axvline(100 * end, color=ORANGE, ls="--")
    ax.set(xlabel="accuracy of the worker in a refit (%)", ylabel="refits")
    inside = float(np.mean((draws >= low) & (draws <= high)))
    say(fig, f"The shaded interval holds {percent(inside)} of {len(draws)} refits")
    return fig


@styled
def draw_enough(amounts: ArrayLike, share: ArrayLike, wanted: float) -> Figure:
    """Draw the share of simulated crowds that reach the wanted error, against the amount of data."""
    share = 100 * np.asarray(share, dtype=np.float64)
    fig = new_picture(WIDTH, 2.8)
    ax = fig.subplots()
    colours = [BLUE if value >= 100 * ENOUGH else FAINT for value in share]
    bars = ax.bar(np.asarray(amounts), share, color=colours, width=0.7)
    for bar, value in zip(bars, share, strict=True):
        bar.set_hatch("" if value >= 100 * ENOUGH else "///")
        bar.set_edgecolor("white")
    ax.axhline(100 * ENOUGH, color=INK, ls="--", lw=0.9)
    ax.set(xlabel="labels per task", ylabel="crowds that get there (%)", ylim=(0, 102), xticks=np.asarray(amounts))
    say(fig, f"How many of the simulated crowds err on at most {number(100 * wanted)} % (dashed: {percent(ENOUGH)})")
    return fig

"""The panel of notebook 11: how a budget of checked tasks is split, and what each part of it buys."""

from __future__ import annotations

from collections import namedtuple
from functools import lru_cache

import ipywidgets as w
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cofactor.core.types import Floats, Ints
from cofactor_app.plots.style import BLUE, INK, ORANGE, WIDTH, new_picture, percent, say, styled
from course.nb11.choosing import best_of, strata
from course.nb11.crowd import CLASSES, Drawn, differ, drawn
from course.nb11.exercises import NINETY, estimate
from course.panel import Panel, choice, slider

CROWDS, DRAWS, STEPS = 12, 40, 11  # of the panel, of tasks in each, and splits of the budget

Colour = tuple[float, float, float]
Split = namedtuple("Split", "apart budget slips splits found wide here")


def split_budget(apart: float, budget: int, slips: float) -> Split:
    """Buy so many tasks, this share of them where readings differ; `slips` is the share of checks that are wrong."""
    splits = np.round(np.linspace(0, budget, STEPS)).astype(int)
    found, wide = np.array([_tried(int(n), budget, slips) for n in splits]).T
    here = _tried(round(apart * budget), budget, slips)
    return Split(apart, budget, slips, splits, found, wide, here)


@lru_cache(maxsize=512)
def _tried(n_apart: int, budget: int, slips: float) -> tuple[float, float]:
    """How often the right reading is chosen, and the half width of the interval, in the mean over crowds and draws."""
    tries = [
        _bought(drawn("panel", number), n_apart, budget, slips, draw)
        for number in range(CROWDS)
        for draw in range(DRAWS)
    ]
    right, wide = np.mean(tries, axis=0)
    return float(right), float(wide)


def _bought(crowd: Drawn, n_apart: int, budget: int, slips: float, draw: int) -> tuple[bool, float]:
    rng, apart = np.random.default_rng([n_apart, budget, draw]), differ(crowd.found.posteriors)
    parts = [rng.permutation(np.flatnonzero(mask)) for mask in (apart, ~apart)]
    tasks = np.concatenate([parts[0][:n_apart], parts[1][: budget - n_apart]])
    checked = _slipped(crowd.crowd.truth, slips, rng)
    taken = best_of((crowd.said[:, tasks] == checked[tasks]).sum(axis=1))
    best = (crowd.said == crowd.crowd.truth).mean(axis=1).argmax()
    return taken == best, NINETY * estimate(*strata(crowd.said[taken], crowd.found.posteriors, checked, tasks))[1]


def _slipped(truth: Ints, slips: float, rng: np.random.Generator) -> Ints:
    """The truth as somebody writes it down who errs on this share of the tasks."""
    other = (truth + rng.integers(1, len(CLASSES), len(truth))) % len(CLASSES)
    return np.where(rng.random(len(truth)) < slips, other, truth)


def budget_panel() -> Panel:
    """Choose how many tasks to buy, which share of them where readings differ, and how often the checks are wrong."""
    controls = {
        "apart": slider(w.FloatSlider, 0.5, 0.0, 1.0, 0.1, "share bought where readings differ"),
        "budget": choice(w.SelectionSlider, (5, 10, 20, 40), 20, "checked tasks"),
        "slips": choice(w.SelectionSlider, (("none", 0.0), ("5 %", 0.05), ("20 %", 0.2)), 0.0, "checks that are wrong"),
    }
    return Panel(controls, split_budget, draw_split, _describe)


@styled
def draw_split(split: Split) -> Figure:
    """Draw how often the right reading is chosen, and the width of the interval, against the split of the budget."""
    fig = new_picture(WIDTH, 3.2)
    left, right = fig.subplots(1, 2)
    _curve(left, split, split.found, split.here[0], BLUE)
    _curve(right, split, split.wide, split.here[1], ORANGE)
    left.set(ylabel="right reading chosen (%)", ylim=(0, 104))
    right.set(ylabel="half width of the interval (points)", ylim=(0, None))
    say(fig, f"Right reading in {percent(split.here[0])}, interval of ±{percent(split.here[1])}")
    return fig


def _curve(ax: Axes, split: Split, values: Floats, here: float, colour: Colour) -> None:
    ax.plot(split.splits, 100 * values, color=colour, marker="o", ms=3)
    ax.plot(split.apart * split.budget, 100 * here, "D", color=INK, ms=8)
    ax.set_xlabel("of these where readings differ")


def _describe(split: Split) -> str:
    """Say what was bought and what it is good for."""
    n = round(split.apart * split.budget)
    bought = f"{split.budget} checked tasks, {n} of them where readings differ"
    wrong = f", {percent(split.slips)} of the checks wrong" if split.slips else ""
    return (
        f"{bought}{wrong}: they choose the right reading in {percent(split.here[0])} of {CROWDS * DRAWS} trials, "
        f"and the interval of 90 % reaches {percent(split.here[1])} to each side."
    )

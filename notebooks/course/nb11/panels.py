"""The live figure of notebook 11: how a budget of checked tasks is split, and what each part of it buys."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
from matplotlib.figure import Figure

from cofactor.core.types import Floats, Ints
from cofactor_app.plots.style import BLUE, FAINT, INK, ORANGE, WIDTH, new_picture, percent, say, styled
from course.live import Live, drag, reveal
from course.nb11.choosing import best_of, strata
from course.nb11.crowd import CLASSES, Drawn, differ, drawn
from course.nb11.exercises import NINETY, estimate

CROWDS, DRAWS = 6, 40  # of the figure, and of tasks in each


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


@cache
def splits(budget: int) -> Floats:
    """How often the right reading is chosen, and the half width of the interval, by checks where readings differ."""
    return np.array([_tried(n, budget, 0.0) for n in range(0, budget + 1, 2)]).T


@styled
def _draw_budget() -> Figure:
    fig = new_picture(WIDTH, 3.1)
    left, right = fig.subplots(1, 2)
    for ax, colour in ((left, BLUE), (right, ORANGE)):
        ax.plot([], [], color=colour, marker="o", ms=3)
        ax.plot([], [], "D", color=INK, ms=8)
        ax.axvline(20, color=FAINT, lw=1, ls=":")
        ax.set(xlabel="of these where answers differ", xlim=(-0.7, 20.7))
    left.set(ylabel="right answer chosen (%)", ylim=(40, 104))
    right.set(ylabel="half width of the interval (points)", ylim=(0, 70))
    say(fig, f"Checked leaves, some of them where answers differ: {CROWDS * DRAWS} trials")
    return fig


def budget_live() -> Live:
    """Drag how many of the checked leaves are to lie where readings differ; then see what that buys."""
    fig, _ = _draw_budget(), [splits(budget) for budget in (10, 20)]  # computed before anybody drags
    lines = [line for ax in fig.axes for line in ax.lines]

    def update(budget: int, apart: int, shown: bool) -> str:
        n = min(apart, budget)
        x, at = np.arange(0, budget + 1, 2), n // 2
        for curve, dot, place, values in zip(lines[::3], lines[1::3], lines[2::3], 100 * splits(budget), strict=True):
            place.set_xdata([n, n])
            curve.set_data(x, values)
            dot.set_data([n], [values[at]])
            curve.set_visible(shown)
            dot.set_visible(shown)
        found, wide = splits(budget)[:, at]
        told = f"the right answer in {percent(found)} of the trials, its accuracy to ±{percent(wide)}"
        return f"{n} of {budget} where answers differ: {told if shown else 'what will that buy?'}"

    controls = {
        "apart": drag(20, 0, 20, 2, "where answers differ"),
        "budget": drag(20, 10, 20, 10, "checked leaves"),
        "shown": reveal("what it buys"),
    }
    look = "Two jobs: choose the right answer, and tell how good it is. Drag to your split, then show."
    return Live(controls, fig, lines, update, look)

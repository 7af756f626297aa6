"""The live figure of notebook 11: how a budget of checked tasks is split, and what each part of it buys."""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.figure import Figure

from cofactor.core.types import Floats
from cofactor_app.plots.style import BLUE, FAINT, INK, ORANGE, WIDTH, new_picture, percent, say, styled
from course.live import Live, drag, reveal
from course.nb11.choosing import best_of, strata
from course.nb11.crowd import Drawn, differ, drawn
from course.nb11.exercises import NINETY, estimate

CROWDS, DRAWS = 4, 30  # of the figure, and of tasks in each


def _bought(crowd: Drawn, n_apart: int, budget: int, draw: int) -> tuple[bool, float]:
    """Whether the right reading is chosen, and the half width of the interval."""
    rng, apart = np.random.default_rng([n_apart, budget, draw]), differ(crowd.found.posteriors)
    parts = [rng.permutation(np.flatnonzero(mask)) for mask in (apart, ~apart)]
    tasks = np.concatenate([parts[0][:n_apart], parts[1][: budget - n_apart]])
    truth = crowd.crowd.truth
    taken = best_of((crowd.said[:, tasks] == truth[tasks]).sum(axis=1))
    best = (crowd.said == truth).mean(axis=1).argmax()
    return taken == best, NINETY * estimate(*strata(crowd.said[taken], crowd.found.posteriors, truth, tasks))[1]


@cache
def splits(budget: int) -> Floats:
    """How often the right reading is chosen, and the half width of the interval, by checks where readings differ.

    Means over crowds and draws.
    """
    tries = [
        [_bought(drawn("panel", number), n, budget, draw) for number in range(CROWDS) for draw in range(DRAWS)]
        for n in range(0, budget + 1, 2)
    ]
    return np.mean(tries, axis=1).T


@styled
def _draw_budget() -> Figure:
    fig = new_picture(WIDTH, 3.7)
    parts = fig.subplot_mosaic([["leaves", "leaves"], ["left", "right"]], height_ratios=[0.3, 1])
    leaves, left, right = parts["leaves"], parts["left"], parts["right"]
    leaves.plot([], [], "s", ms=11, color=ORANGE, mec="white", label="answers differ")
    leaves.plot([], [], "o", ms=11, color=BLUE, mec="white", label="answers agree")
    leaves.set(xlim=(-0.7, 26), ylim=(-1, 1))
    leaves.set_axis_off()
    leaves.legend(loc="center right", markerscale=0.7)
    for ax, colour in ((left, BLUE), (right, ORANGE)):
        ax.plot([], [], color=colour, marker="o", ms=3)
        ax.plot([], [], "D", color=INK, ms=8)
        ax.axvline(20, color=FAINT, lw=1, ls=":")
        ax.set(xlabel="checked leaves where answers differ", xlim=(-0.7, 20.7))
    left.set(ylabel="right answer chosen (%)", ylim=(40, 104))
    right.set(ylabel="half width (points)", ylim=(0, 70))
    say(fig, f"Checked leaves, some of them where answers differ: {CROWDS * DRAWS} trials")
    return fig


def budget_live() -> Live:
    """Drag how many of the checked leaves are to lie where readings differ; then see what that buys."""
    fig, _ = _draw_budget(), [splits(budget) for budget in (10, 20)]  # computed before anybody drags
    differs, agrees, *lines = [line for ax in fig.axes for line in ax.lines]

    def update(budget: int, apart: int, shown: bool) -> str:
        n = min(apart, budget)
        x, at = np.arange(0, budget + 1, 2), n // 2
        for leaves, places in ((differs, range(n)), (agrees, range(n, budget))):
            leaves.set_data(places, [0] * len(places))
        for curve, dot, place, values in zip(lines[::3], lines[1::3], lines[2::3], 100 * splits(budget), strict=True):
            place.set_xdata([n, n])
            curve.set_data(x, values)
            dot.set_data([n], [values[at]])
            curve.set_visible(shown)
            dot.set_visible(shown)
        found, wide = splits(budget)[:, at]
        told = f"the right answer in {percent(found)} of the trials, its accuracy to ±{percent(wide)}"
        return f"{n} of {budget} where answers differ: {told if shown else 'what will the result be?'}"

    controls = {
        "apart": drag(20, 0, 20, 2, "where answers differ"),
        "budget": drag(20, 10, 20, 10, "checked leaves"),
        "shown": reveal("what it buys"),
    }
    look = "Two jobs: choose the right answer, and say how good it is. Drag to your split, then show."
    return Live(controls, fig, [differs, agrees, *lines], update, look)

"""The live figures of notebook 10: how many labels are enough, and when two people can be told apart."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import beta

from cofactor.core.types import Floats
from cofactor_app.plots.style import BLUE, FAINT, INK, ORANGE, WIDTH, new_picture, percent, say, styled
from course.live import Live, drag, reveal
from course.nb10.exercises import planned_crowds

CROWDS_SEED, PROMISE = 3, 0.9


# ---- how many labels ----


@styled
def _draw_crowds(amounts: Floats, errors: Floats) -> Figure:
    fig = new_picture(WIDTH, 3.3)
    ax = fig.subplots()
    ax.plot(amounts, 100 * errors.T, color=FAINT, lw=0.6, alpha=0.7)
    ax.plot([], [], color=FAINT, lw=0.6, label="a simulated crowd")
    ax.plot(amounts, 100 * errors.mean(axis=0), color=BLUE, label="mean")
    ax.axhline(0, color=ORANGE, ls="--", label="wanted error")
    ax.axvline(amounts[0], color=INK, lw=1.2, label="your guess")
    ax.axvline(amounts[0], color=ORANGE, ls=":", lw=2, label="nine of ten crowds")
    ax.set(xlabel="labels per task", ylabel="tasks wrong (%)", xlim=(amounts[0], amounts[-1]), ylim=(0, 40))
    ax.legend(loc="upper right")
    say(fig, f"{len(errors)} crowds like yours, simulated with {amounts[0]} to {amounts[-1]} labels per task")
    return fig


def enough_live() -> Live:
    """Drag the labels that you would pay for; see how many of the crowds reach the wanted error with them."""
    amounts, errors, _ = planned_crowds(np.random.default_rng(CROWDS_SEED)).values()
    fig = _draw_crowds(amounts, errors)
    wish, guess, needed = fig.axes[0].lines[-3:]

    def update(wanted: int, guessed: int, shown: bool) -> str:
        there = (errors <= wanted / 100).mean(axis=0)
        first = amounts[np.argmax(there >= PROMISE)] if (there >= PROMISE).any() else None
        wish.set_ydata([wanted, wanted])
        guess.set_xdata([guessed, guessed])
        needed.set_xdata([first or 99, first or 99])
        needed.set_visible(shown)
        if not shown:
            return f"{guessed} labels per task for an error of {wanted} %: for how many of ten crowds is that enough?"
        told = f"with {guessed} labels {percent(there[guessed - amounts[0]])} of the crowds reach it"
        return f"{told}; nine of ten need {first or 'more than were tried'}"

    controls = {
        "wanted": drag(5, 2, 20, 1, "wanted error (%)"),
        "guessed": drag(5, 3, 13, 1, "labels per task"),
        "shown": reveal("enough"),
    }
    look = "How many labels per task would you pay for? They must be enough for nine crowds of ten."
    return Live(controls, fig, [wish, guess, needed], update, look)


# ---- two people ----


def interval(right: float, n: int) -> Floats:
    """Ends of the 90 % interval of an accuracy, from n labels of which this share is right, as in Eq. (1)."""
    return np.asarray(beta.ppf([0.05, 0.95], n * right + 0.5, n * (1 - right) + 0.5))


def difference(first: float, second: float, n: int) -> Floats:
    """Ends of the 90 % interval of the difference of two accuracies, from n labels of each."""
    shares = (n * np.array([first, second]) + 0.5) / (n + 1)
    s = np.sqrt(np.sum(shares * (1 - shares)) / (n + 1))
    return np.asarray(shares[1] - shares[0] + 1.645 * s * np.array([-1, 1]))


@styled
def _draw_two() -> Figure:
    fig = new_picture(WIDTH, 2.5)
    left, right = fig.subplots(1, 2, width_ratios=[1.3, 1])
    for y, name in enumerate(("late-6", "late-2")):
        left.plot([], [], "o-", color=BLUE, lw=3, label=name if y == 0 else None)
    left.set(xlim=(0, 100), ylim=(-0.6, 1.6), yticks=[0, 1], yticklabels=["late-6", "late-2"], xlabel="right (%)")
    right.axvline(0, color=FAINT, lw=1, ls=":")
    right.plot([], [], "D-", color=ORANGE, lw=3)
    right.set(xlim=(-40, 60), ylim=(-0.5, 0.5), yticks=[], xlabel="difference (points)")
    say(fig, "Two people, with 90 % intervals")
    return fig


def two_live() -> Live:
    """Drag the labels of two people until they can be told apart: by their intervals, and by that of the difference."""
    fig = _draw_two()
    bars, apart = fig.axes[0].lines, fig.axes[1].lines[1]

    def update(n: int, worse: int, better: int, shown: bool) -> str:
        ends = [interval(each / 100, n) for each in (worse, better)]
        for y, (bar, each) in enumerate(zip(bars, ends, strict=True)):
            bar.set_data(100 * each, [y, y])
        low, high = 100 * difference(worse / 100, better / 100, n)
        apart.set_data([low, high], [0, 0])
        apart.set_visible(shown)
        overlap = "overlap" if ends[0][1] > ends[1][0] else "do not overlap"
        told = f"the difference is {low:.0f} to {high:.0f} points" if shown else "can they be distinguished?"
        return f"{n} labels each: the two intervals {overlap}; {told}"

    controls = {
        "n": drag(40, 5, 300, 5, "labels of each"),
        "worse": drag(59, 30, 95, 1, "late-6 right (%)"),
        "better": drag(81, 30, 95, 1, "late-2 right (%)"),
        "shown": reveal("difference"),
    }
    look = "Drag to the fewest labels with which you would put the two in order. Then show the difference."
    return Live(controls, fig, [*bars, apart], update, look)

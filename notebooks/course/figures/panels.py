"""The figures behind the panels of a simulated crowd, where the truth is known."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cofactor.core.errors import CofactorError
from cofactor.crowd.base import worker_accuracy
from cofactor.plots.crowd import fill_methods, fill_uncertainty
from cofactor.plots.style import BLUE, FAINT, INK, ORANGE, WIDTH, new_picture, percent, say, styled
from course.demos import Comparison, Rounds


@styled
def draw_crowd(outcome: Comparison) -> Figure:
    """Draw the errors of majority vote and a method, and its estimate of each worker's accuracy against the truth."""
    fig = new_picture(WIDTH, 3.4)
    left, right = fig.subplots(1, 2, width_ratios=[1, 1.15])
    fill_methods(left, outcome.errors, "MajorityVote")
    left.margins(y=0.3)
    _fill_accuracy(right, outcome)
    before, after = outcome.errors["MajorityVote"], outcome.errors[outcome.method]
    say(fig, f"{outcome.method} errs on {percent(after, 1)} of the tasks, majority vote on {percent(before, 1)}")
    return fig


def _fill_accuracy(ax: Axes, outcome: Comparison) -> None:
    true, estimate = 100 * worker_accuracy(outcome.truth), 100 * worker_accuracy(outcome.estimate)
    ax.plot([0, 100], [0, 100], "--", color=FAINT, lw=1)
    ax.plot(true, estimate, "o", color=BLUE, ms=5, alpha=0.8, mec="white", mew=0.5)
    ax.set(xlabel="true accuracy of a worker (%)", ylabel="estimated accuracy (%)")
    ax.set(xlim=(0, 100), ylim=(0, 100), aspect="equal")


@styled
def draw_rounds(rounds: Rounds, after: int) -> Figure:
    """Draw the log-likelihood round by round with a mark at `after`, beside the posteriors at that point."""
    if not 0 <= after <= rounds.last:
        raise CofactorError(f"after={after}: EM was run for {rounds.last} rounds, so ask for 0 to that many")
    fig = new_picture(WIDTH, 3.5)
    left, right = fig.subplots(1, 2)
    left.plot(np.arange(1, rounds.last + 1), rounds.log_likelihood[1:], color=FAINT, marker="o", ms=3)
    if after:
        left.plot([after], rounds.log_likelihood[[after]], "D", color=ORANGE, ms=8, mec=INK)
    left.set(xlabel="rounds of EM", ylabel="log-likelihood (nats)", xlim=(0, rounds.last + 1))
    fill_uncertainty(right, rounds.posteriors[after], rounds.truth)
    start, now = percent(rounds.errors[0], 1), percent(rounds.errors[after], 1)
    text = f"{now} of labels wrong after {after} round{'s' if after > 1 else ''} of EM, {start} by majority vote"
    say(fig, text if after else f"{start} of labels wrong before EM, by majority vote")
    return fig

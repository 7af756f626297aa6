"""Pictures of notebook 07 about priors: what is believed of one worker, and what evidence says about kinds of tasks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import beta

from cofactor.core.errors import CofactorError
from cofactor.plots.style import BLUE, FAINT, INK, ORANGE, WIDTH, new_picture, number, percent, say, styled
from course.demos.prior import Bound, KindsGain


@styled
def draw_belief(seen: Sequence[tuple[int, int]], prior: tuple[float, float] = (4.0, 1.0)) -> Figure:
    """Draw what is believed of how often a worker is right, before and after some labels, beside their plain share.

    Parameters
    ----------
    seen : sequence of (right, wrong)
        Labels; one set of axes each.
    prior : (float, float)
        Labels imagined before: right ones, wrong ones.

    Raises
    ------
    CofactorError
        Nothing to draw, or a worker without any label.
    """
    if not seen or min(right + wrong for right, wrong in seen) == 0:
        raise CofactorError("give (right, wrong) numbers of labels, at least one label each time")
    fig = new_picture(WIDTH, 2.9)
    axes = fig.subplots(1, len(seen), squeeze=False)[0]
    plain = [right / (right + wrong) for right, wrong in seen]
    means = [(right + prior[0]) / (right + wrong + sum(prior)) for right, wrong in seen]
    for ax, numbers, share, mean in zip(axes, seen, plain, means, strict=True):
        _fill_belief(ax, numbers, prior, share, mean)
    axes[0].set_ylabel("density")
    axes[len(axes) // 2].set_xlabel("probability of being right (%)")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    labels = ", ".join(str(right + wrong) for right, wrong in seen)
    say(fig, f"After {labels} labels: {_listed(plain)} right by the plain share, {_listed(means)} with the prior")
    return fig


def _listed(shares: Sequence[float]) -> str:
    return ", ".join(percent(share) for share in shares)


def _fill_belief(ax: Axes, seen: tuple[int, int], prior: tuple[float, float], plain: float, mean: float) -> None:
    x = np.linspace(0.001, 0.999, 400)
    right, wrong = seen
    ax.plot(100 * x, beta.pdf(x, *prior), color=INK, ls=":", label="prior")
    after = beta.pdf(x, prior[0] + right, prior[1] + wrong)
    ax.fill_between(100 * x, after, color=BLUE, alpha=0.15, lw=0)
    ax.plot(100 * x, after, color=BLUE, label="after the labels")
    ax.axvline(100 * mean, color=BLUE, ls="--", label="its mean")
    ax.axvline(100 * plain, color=ORANGE, ls="-.", label="share of right labels")
    ax.set_title(f"{right + wrong} labels", loc="left", color=INK)
    ax.set(xlim=(0, 100), ylim=(0, None), yticks=[])


@styled
def draw_evidence(bound: Bound, kinds: KindsGain) -> Figure:
    """Draw the bound rising below the evidence, and what two kinds of tasks gain as more tasks are hard."""
    fig = new_picture(WIDTH, 3.3)
    left, right = fig.subplots(1, 2)
    left.axhline(bound.evidence, color=INK, ls="--", label="evidence, log Pr(labels)")
    left.plot(np.arange(1, len(bound.rounds) + 1), bound.rounds, "o-", color=BLUE, ms=4, label="bound (ELBO)")
    left.set(xlabel="round", ylabel="nats")
    left.margins(y=0.2)
    left.legend(loc="lower right")
    x = 100 * kinds.shares
    right.axhline(0, color=FAINT, lw=1)
    for gains in kinds.gains:
        right.plot(x, gains, "o", color=ORANGE, ms=4, alpha=0.6)
    right.plot(x, kinds.gains.mean(axis=0), color=ORANGE, label="mean of the crowds (dots)")
    right.set(xlabel="hard tasks (%)", ylabel="two kinds minus one (nats)", xticks=x)
    right.legend(loc="upper left")
    few, many = kinds.gains.mean(axis=0)[[0, -1]]
    say(fig, f"The bound ends {number(round(bound.gap, 2))} nats below the evidence; two kinds lose {-few:.0f} nats "
             f"where no task is hard, and gain {many:.0f} where {percent(kinds.shares[-1])} are")  # fmt: skip
    return fig

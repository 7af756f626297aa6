"""The pictures of notebook 11: who agrees with whom, and what twenty checked tasks say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from cofactor.core.types import Floats
from cofactor.crowd.labels import CrowdLabels
from cofactor_app.plots.style import BLUE, FAINT, INK, WIDTH, heat, new_picture, percent, say, styled
from course.nb11.choosing import strata
from course.nb11.crowd import BUDGET, KINDS, drawn, split_evenly
from course.nb11.exercises import NINETY, estimate


def agreement(labels: CrowdLabels) -> Floats:
    """Return, for every two workers, the share of the tasks labelled by both on which they gave the same label."""
    codes = labels.table.codes
    both = (codes[:, :, None] >= 0) & (codes[:, None, :] >= 0)
    return np.asarray((both & (codes[:, :, None] == codes[:, None, :])).sum(axis=0) / both.sum(axis=0))


@styled
def draw_agreement(labels: CrowdLabels) -> Figure:
    """Draw the fraction of equal labels of every two workers, in the order of their numbers."""
    shares = agreement(labels)
    fig = new_picture(WIDTH, 4.4)
    _fill_agreement(fig, fig.subplots(), shares, labels.workers)
    others = shares[~np.eye(len(shares), dtype=bool)]
    always = int(np.sum(others == 1) / 2)
    say(fig, f"Two workers give the same label on {percent(others.mean())} of their tasks; {always} pairs always do")
    return fig


@styled
def draw_delivery(seed: str) -> Figure:
    """Draw the end of the way for the crowd of a seed: who is what, and the readings beside what twenty checks say."""
    crowd = drawn(seed)
    order = sorted(range(len(KINDS)), key=lambda m: KINDS.index(crowd.kinds[m]))
    fig = new_picture(WIDTH, 3.6)
    people, ends = fig.subplots(1, 2, width_ratios=[1, 1.15])
    _fill_agreement(fig, people, agreement(crowd.crowd.labels)[np.ix_(order, order)], order)
    truth, tasks = crowd.crowd.truth, split_evenly(crowd.found.posteriors, BUDGET)
    taken = int((crowd.said[:, tasks] == truth[tasks]).sum(axis=1).argmax())
    _, s = found = estimate(*strata(crowd.said[taken], crowd.found.posteriors, truth, tasks))
    right = (crowd.said == truth).mean(axis=1)
    bars = ends.barh(
        crowd.found.names, 100 * right, color=[BLUE if r == taken else FAINT for r in range(3)], height=0.6
    )
    bars[taken].set_hatch("///")
    bars[taken].set_edgecolor("white")
    reach = [[100 * NINETY * s], [100 * min(NINETY * s, 1 - found[0])]]
    ends.errorbar(100 * found[0], taken, xerr=reach, color=INK, marker="o", capsize=5, lw=2, label=f"{BUDGET} checks")
    ends.set(xlabel="right labels (%)", xlim=(50, 102))
    ends.invert_yaxis()
    ends.legend(loc="lower right", bbox_to_anchor=(1, 0.98))
    words = f"{percent(found[0])}, give or take {percent(NINETY * s)}"
    say(
        fig,
        f"{BUDGET} checked labels choose '{crowd.found.names[taken]}' and say {words}; it is {percent(right[taken])}",
    )
    return fig


def _fill_agreement(fig: Figure, ax: Axes, shares: ArrayLike, names: Sequence[object]) -> None:
    image = heat(ax, shares, (0.0, 1.0))
    ax.set_xticks(range(len(names)), [str(name) for name in names])
    ax.set_yticks(range(len(names)), [str(name) for name in names])
    ax.set(xlabel="worker", ylabel="worker")
    fig.colorbar(image, ax=ax, label="fraction of equal labels", shrink=0.8)

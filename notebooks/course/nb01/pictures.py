"""Two starts of EM, beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from cofactor.plots.style import LOOKS, new_picture, number, percent, say, styled

Path = tuple[Sequence[float], Sequence[float]]


@styled
def draw_starts(paths: Mapping[str, Path]) -> Figure:
    """Draw log-likelihoods (nats) and shares of wrong labels, round by round, of EM from several starts."""
    fig = new_picture(7.5, 3.5)
    axes = fig.subplots(1, 2)
    for (name, (climb, wrong)), (colour, _, line) in zip(paths.items(), LOOKS, strict=False):
        for ax, values in zip(axes, (np.asarray(climb), 100 * np.asarray(wrong)), strict=True):
            ax.plot(np.arange(1, len(values) + 1), values, color=colour, ls=line, label=f"from {name}")
    axes[0].set(xlabel="round of EM", ylabel="log-likelihood (nats)")
    axes[1].set(xlabel="round of EM", ylabel="labels wrong (%)", ylim=(-1, None))
    axes[0].legend(loc="lower right")
    best = max(paths, key=lambda name: paths[name][0][-1])
    gap = paths[best][0][-1] - min(path[0][-1] for path in paths.values())
    ends = ", ".join(f"from {name} {percent(path[1][-1], 1)}" for name, path in paths.items())
    say(fig, f"EM from {best} ends {number(gap)} nats higher; labels wrong: {ends}")
    return fig

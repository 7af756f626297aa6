"""How well missing blocks are filled, on many simulated crowds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from cofactor.core.types import Floats
from cofactor.plots.style import new_picture, percent, say, styled
from course.crowds import MARKS, HoledCrowd, hide_pairs, small_crowd

SHARES = (0.1, 0.3, 0.5, 0.7)


def imputation_errors(
    n_workers: int = 12,
    n_classes: int = 3,
    n_tasks: int = 1000,
    seeds: Sequence[int] = range(5),
    shares: Sequence[float] = SHARES,
) -> dict[str, Floats]:
    """Hide growing shares of the pairs of simulated annotators; relative errors of the missing blocks.

    Returns a (seeds, shares) array per imputation. Cost: a few milliseconds per crowd, share and imputation.
    """
    table = {name: np.empty((len(seeds), len(shares))) for name in ("designated", "robust")}
    for s, seed in enumerate(seeds):
        crowd = small_crowd(n_workers, n_classes, n_tasks, seed)
        for i, share in enumerate(shares):
            problem = HoledCrowd.of(crowd, hide_pairs(n_workers, share, seed))
            for name, errors in table.items():
                errors[s, i] = problem.error(problem.fill(name))
    return table


@styled
def draw_imputation_error(by_method: Mapping[str, Floats], shares: Sequence[float] = SHARES) -> Figure:
    """Draw (seeds, shares) relative errors of missing blocks against the share of pairs: mean and range over seeds."""
    fig = new_picture()
    ax = fig.subplots()
    missing = 100 * np.asarray(shares)
    for name, values in by_method.items():
        colour, marker, line = MARKS[name]
        ax.fill_between(missing, 100 * values.min(axis=0), 100 * values.max(axis=0), color=colour, alpha=0.15, lw=0)
        ax.plot(missing, 100 * values.mean(axis=0), color=colour, marker=marker, ls=line, label=name)
    ax.set(xlabel="pairs of annotators missing (%)", ylabel="error of missing blocks (% of norm)", ylim=(0, None))
    ax.set_xticks(missing)
    ax.legend(title=f"mean and range, {len(next(iter(by_method.values())))} crowds", alignment="left")
    means = {name: float(values[:, -1].mean()) for name, values in by_method.items()}
    best, worst = sorted(means, key=lambda name: means[name])
    at = f"At {percent(shares[-1])} missing pairs"
    say(fig, f"{at}, {best} imputation is {percent(means[best])} off, {worst} {percent(means[worst])}")
    return fig

"""How well holes are filled."""

import numpy as np
from matplotlib.figure import Figure

from cofactor.plots.style import BLUE, ORANGE, WIDTH, bare, heat, new_picture, percent, say, styled
from course.demos import Completion, ImputationErrors
from course.matrices import draw_blocks, draw_cooccurrence, fill_blocks

__all__ = ["draw_blocks", "draw_completion", "draw_cooccurrence", "draw_imputation_error"]

MARKS = {"designated": (BLUE, "o", "-"), "robust": (ORANGE, "s", "--")}


@styled
def draw_completion(completion: Completion) -> Figure:
    """Draw co-occurrences with holes, the completed matrix, and its error against the truth."""
    M = len(completion.missing)
    filled = "holes taken for zeros" if completion.imputation == "none" else "completed"
    top = float(completion.truth.max())
    fig = new_picture(WIDTH, 3.1)
    axes = fig.subplots(1, 3)
    fill_blocks(axes[0], np.where(completion.hidden, 0, completion.estimate), completion.missing, top)
    fill_blocks(axes[1], completion.estimate, completion.unreached, top)
    heat(axes[2], np.abs(completion.estimate - completion.truth), (0, top), "Oranges")
    for ax, name in zip(axes, ("observed (holes hatched)", filled, "size of the error"), strict=True):
        ax.set_title(name)
        bare(ax)
    axes[0].set(xlabel=f"{M} annotators", ylabel=f"{M} annotators")
    fig.colorbar(axes[1].images[0], ax=axes[:2], location="bottom", shrink=0.6, aspect=30, label="joint frequency")
    fig.colorbar(axes[2].images[0], ax=axes[2], location="bottom", aspect=15, label="|estimate − truth|")
    say(fig, completion.finding)
    return fig


@styled
def draw_imputation_error(errors: ImputationErrors) -> Figure:
    """Draw the relative error of missing blocks against the share of missing pairs: mean and range over seeds."""
    fig = new_picture()
    ax = fig.subplots()
    for name, values in errors.by_method.items():
        colour, marker, line = MARKS[name]
        ax.fill_between(
            100 * errors.shares, 100 * values.min(axis=0), 100 * values.max(axis=0), color=colour, alpha=0.15, lw=0
        )
        ax.plot(100 * errors.shares, 100 * values.mean(axis=0), color=colour, marker=marker, ls=line, label=name)
    ax.set(xlabel="pairs of annotators missing (%)", ylabel="error of missing blocks (% of norm)", ylim=(0, None))
    ax.set_xticks(100 * errors.shares)
    ax.legend(title=f"mean and range, {errors.n_seeds} crowds", alignment="left")
    means = {name: float(values[:, -1].mean()) for name, values in errors.by_method.items()}
    best, worst = sorted(means, key=lambda name: means[name])
    at = f"At {percent(errors.shares[-1])} missing pairs"
    say(fig, f"{at}, {best} imputation is {percent(means[best])} off, {worst} {percent(means[worst])}")
    return fig

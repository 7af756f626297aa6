"""Pictures of notebook 07 about priors: belief in a worker, thin crowds, evidence and its bound, types of workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import beta

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.types import Floats
from cofactor.simulate import Crowd, large_crowd
from cofactor_app.plots.style import BLUE, FAINT, INK, ORANGE, WIDTH, new_picture, number, percent, say, styled

THIN_WORKERS, THIN_CLASSES, THIN_TASKS, THIN_LABELS = 150, 10, 700, 4
RIGHT = (0.55, 0.85)  # accuracies of the thin crowd's workers, from the least to the most accurate
BUSY = 0.7  # how unevenly they work: labels fall as 1 / rank^BUSY
LINES = ("o-", "s--", "^:")


def thin_crowd(seed: int = 0) -> Crowd:
    """Simulate ten classes and workers of 18 labels each, on average, for the 100 cells of a confusion matrix.

    All workers take a class for the same other classes; they differ in how often they are right.
    """
    rng = np.random.default_rng(seed)
    K = THIN_CLASSES
    wrong = rng.dirichlet(np.full(K, 0.5), size=K).T * (1 - np.eye(K))
    wrong /= wrong.sum(axis=0)
    skills = rng.uniform(*RIGHT, THIN_WORKERS)
    model = LatentClassModel(np.full(K, 1 / K), [p * np.eye(K) + (1 - p) * wrong for p in skills])
    return large_crowd(model, THIN_TASKS, THIN_LABELS, BUSY, rng)


@styled
def draw_belief(seen: Sequence[tuple[int, int]], prior: tuple[float, float] = (4.0, 1.0)) -> Figure:
    """Draw what is believed of how often a worker is right, before and after some labels, beside their plain share.

    `seen` holds numbers of (right, wrong) labels, `prior` those imagined before.
    """
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
    without, with_prior = (", ".join(map(percent, shares)) for shares in (plain, means))
    say(fig, f"After {labels} labels: {without} right by the plain share, {with_prior} with the prior")
    return fig


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


# ---- evidence ----


@styled
def draw_evidence(
    rounds: Floats, evidence: float, amounts: Sequence[int], gains: Mapping[str, Sequence[float]]
) -> Figure:
    """Draw the bound rising below the evidence, and by what labels of some people speak for saying nothing."""
    fig = new_picture(WIDTH, 3.3)
    left, right = fig.subplots(1, 2)
    left.axhline(evidence, color=INK, ls="--", label="evidence, log Pr(labels)")
    left.plot(np.arange(1, len(rounds) + 1), rounds, "o-", color=BLUE, ms=4, label="bound (ELBO)")
    left.set(xlabel="round", ylabel="nats")
    left.margins(y=0.2)
    left.legend(loc="lower right")
    right.axhline(0, color=FAINT, lw=1)
    for (name, nats), style in zip(gains.items(), LINES, strict=False):
        right.plot(amounts, nats, style, ms=4, color=ORANGE, label=name)
    right.set(xlabel="labels of the person", ylabel="says nothing, minus accuracies (nats)", xticks=amounts)
    right.legend(loc="best")
    below = f"The bound ends {number(round(evidence - rounds[-1], 2))} nats below the evidence"
    told = ", ".join(f"{name} {nats[-1]:+.1f}" for name, nats in gains.items())
    say(fig, f"{below}; nats for saying nothing after {amounts[-1]} labels: {told}")
    return fig

"""Pictures of notebook 07 about priors: belief in a worker, thin crowds, evidence and its bound, two kinds of tasks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import beta

from cofactor.core.latent_class import LatentClassModel
from cofactor.core.types import Floats
from cofactor.crowd import CrowdLabels
from cofactor.plots.style import BLUE, FAINT, INK, ORANGE, WIDTH, new_picture, number, percent, say, styled
from cofactor.simulate import Crowd, large_crowd

THIN_WORKERS, THIN_CLASSES, THIN_TASKS, THIN_LABELS = 150, 10, 700, 4
RIGHT = (0.55, 0.85)  # accuracies of the thin crowd's workers, from the least to the most accurate
BUSY = 0.7  # how unevenly they work: labels fall as 1 / rank^BUSY
KINDS_TASKS, KINDS_WORKERS = 500, 12
EASY, HARD = (0.8, 0.95), (0.2, 0.8)  # accuracies on easy and on hard tasks


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


def mixed_tasks(share: float, seed: int = 0) -> CrowdLabels:
    """Simulate a crowd for which some tasks of each class are hard: there people are right by chance only."""
    rng = np.random.default_rng([seed, round(100 * share)])
    truth, hard = rng.integers(0, 2, KINDS_TASKS), rng.random(KINDS_TASKS) < share
    easy_right, hard_right = (rng.uniform(*ends, (KINDS_WORKERS, 2)) for ends in (EASY, HARD))
    right = np.where(hard[:, None, None], hard_right, easy_right)  # (tasks, people, classes)
    hit = rng.random((KINDS_TASKS, KINDS_WORKERS)) < np.take_along_axis(right, truth[:, None, None], axis=2)[:, :, 0]
    task, worker = np.nonzero(np.ones(hit.shape))
    return CrowdLabels.from_arrays(task, worker, np.where(hit, truth[:, None], 1 - truth[:, None]).ravel(), 2)


@styled
def draw_evidence(rounds: Floats, evidence: float, shares: Sequence[float], gains: Floats) -> Figure:
    """Draw the bound rising below the evidence, and what two kinds of tasks gain as more tasks are hard."""
    fig = new_picture(WIDTH, 3.3)
    left, right = fig.subplots(1, 2)
    left.axhline(evidence, color=INK, ls="--", label="evidence, log Pr(labels)")
    left.plot(np.arange(1, len(rounds) + 1), rounds, "o-", color=BLUE, ms=4, label="bound (ELBO)")
    left.set(xlabel="round", ylabel="nats")
    left.margins(y=0.2)
    left.legend(loc="lower right")
    x, mean = 100 * np.asarray(shares), gains.mean(axis=0)
    right.axhline(0, color=FAINT, lw=1)
    for one in gains:
        right.plot(x, one, "o", color=ORANGE, ms=4, alpha=0.6)
    right.plot(x, mean, color=ORANGE, label="mean of the crowds (dots)")
    right.set(xlabel="hard tasks (%)", ylabel="two kinds minus one (nats)", xticks=x)
    right.legend(loc="upper left")
    below = f"The bound ends {number(round(evidence - rounds[-1], 2))} nats below the evidence"
    gained = f"gain {mean[-1]:.0f} where {percent(shares[-1])} are"
    say(fig, f"{below}; two kinds lose {-mean[0]:.0f} nats where no task is hard, and {gained}")
    return fig

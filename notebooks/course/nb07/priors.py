"""What notebook 07 and its lab show of priors: a thin crowd, and evidence for what a person is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from cofactor.core.latent_class import LatentClassModel
from cofactor.simulate import Crowd, large_crowd
from cofactor_app.plots.style import FAINT, ORANGE, WIDTH, new_picture, say, styled

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


# ---- evidence ----


@styled
def draw_evidence(amounts: Sequence[int], gains: Mapping[str, Sequence[float]]) -> Figure:
    """Draw by how many nats the labels of some people speak for saying nothing."""
    fig = new_picture(WIDTH, 3)
    ax = fig.subplots()
    ax.axhline(0, color=FAINT, lw=1)
    for (name, nats), style in zip(gains.items(), LINES, strict=False):
        ax.plot(amounts, nats, style, ms=4, color=ORANGE, label=name)
    ax.set(xlabel="labels of the person", ylabel="says nothing, minus accuracies (nats)", xticks=amounts)
    ax.legend(loc="best")
    told = ", ".join(f"{name} {nats[-1]:+.1f}" for name, nats in gains.items())
    say(fig, f"Nats for saying nothing after {amounts[-1]} labels: {told}")
    return fig

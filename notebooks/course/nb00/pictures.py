"""The picture on the front page: what aggregation gives, in one row."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure, SubFigure
from numpy.typing import ArrayLike

from cofactor.core.latent_class import LatentClassModel, map_class
from cofactor.crowd.base import Aggregator
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.scores import error_rate
from cofactor_app.plots.crowd import draw_uncertainty, fill_confusions, spread_workers
from cofactor_app.plots.style import names_of, new_picture, percent, say, styled
from course.votes import VOTE, fill_methods


@styled
def draw_overview(labels: CrowdLabels, truth: ArrayLike, method: Aggregator, name: str = "model") -> Figure:
    """Draw in one row: errors before and after, what three contrasting workers confuse, which tasks stay in doubt.

    `method` is fitted to the labels; `truth` has -1 where it is unknown.
    """
    model, posterior = method.model_, method.predict_proba(labels)
    before = error_rate(vote_shares(labels), truth)
    after = error_rate(map_class(posterior, model.prior), truth)
    fig = new_picture(11, 3.7)
    parts: Any = fig.subfigures(1, 3, width_ratios=[0.95, 1.3, 1.25], wspace=0.04)
    bars = parts[0].subplots()
    fill_methods(bars, {VOTE: before, name: after}, VOTE)
    bars.margins(y=0.3)
    _fill_workers(parts[1], model, labels)
    draw_uncertainty(posterior, truth, ax=parts[2].subplots())
    heads = ("Errors of majority vote and model", "Who confuses what: % of each true class")
    for part, text in zip(parts, (*heads, "How certain each label is; wrong ones crossed"), strict=True):
        part.suptitle(text, fontsize=10)
    size = f"{labels.n_workers} workers, {labels.n_tasks} tasks"
    say(fig, f"{size}: {percent(before, 1)} wrong by majority vote, {percent(after, 1)} once confusions are known")
    return fig


def _fill_workers(part: SubFigure, model: LatentClassModel, labels: CrowdLabels) -> None:
    chosen = spread_workers(model, 3)
    axes = part.subplots(1, len(chosen), squeeze=False)
    fill_confusions(axes, model, chosen, labels.workers, names_of(range(labels.n_classes), labels.classes, "class"))
    axes[0, 0].set_ylabel("label given")
    axes[0, len(chosen) // 2].set_xlabel("true class")

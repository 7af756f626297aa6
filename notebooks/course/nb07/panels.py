"""The panel of notebook 07: real crowds with fewer labels."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping

import ipywidgets as w
import numpy as np
from matplotlib.figure import Figure

from cofactor.core.errors import CofactorError
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Ints
from cofactor.crowd import METHODS
from cofactor.crowd.base import error_rate
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.data.loading import CrowdDataset, load
from cofactor_app.plots.crowd import fill_uncertainty
from cofactor_app.plots.style import WIDTH, new_picture, percent, say, styled
from course.panel import Panel, choice
from course.votes import VOTE, disagreements, fill_methods

OFFERED = (
    "WorkerTypes", "MajorityVote", "MV-EM", "RobSymNMF", "RobSymNMF-EM", "DesSymNMF", "DesSymNMF-EM",
    "SymNMF(no imputation)", "MultiStart-EM", "MultiSPA", "Spectral-D&S", "KOS",
)  # fmt: skip
KEPT = (2, 3, 4, 5, 7, 10, 15, 20, 30, 39)
BUNDLED = ("bluebird", "digits")

Thinned = namedtuple("Thinned", "name method labels truth posterior errors wanted overruled")


def keep_labels(labels: CrowdLabels, per_task: int, seed: int = 0) -> CrowdLabels:
    """Keep at most so many labels of every task, drawn at random; a larger number keeps the same ones and more."""
    if per_task < 1:
        raise CofactorError(f"per_task={per_task}: keep at least one label of every task")
    order = np.random.default_rng(seed).permutation(labels.n_labels)
    rows = labels.table.rows[order]
    by_task = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[by_task], rows[by_task])
    kept = np.sort(order[by_task[np.arange(len(rows)) - starts < per_task]])
    return with_values(labels, kept, labels.table.values[kept])


def with_values(labels: CrowdLabels, kept: Ints, values: Ints) -> CrowdLabels:
    """Return the same tasks, workers and classes with these values at the entries kept, and no others."""
    table = labels.table
    new = CategoricalTable.from_entries(table.rows[kept], table.variables[kept], values, table.sizes, table.n_rows)
    return CrowdLabels(new, labels.tasks, labels.workers, labels.classes)


def thin(crowd: CrowdDataset, method: str, per_task: int, seed: int = 0) -> Thinned:
    """Keep some labels per task and aggregate them; the errors are those of the vote and of the method.

    Raises
    ------
    CofactorError
        The method refuses what is left.
    """
    labels = keep_labels(crowd.labels, per_task, seed)
    scores = METHODS[method](random_state=0).fit(labels).predict_proba(labels)
    posterior = scores / np.maximum(scores.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    errors = {VOTE: error_rate(vote_shares(labels), crowd.truth)} | {method: error_rate(scores, crowd.truth)}
    overruled = len(disagreements(labels, posterior))
    return Thinned(crowd.name, method, labels, crowd.truth, posterior, errors, per_task, overruled)


@styled
def draw_thinned(outcome: Thinned) -> Figure:
    """Draw the errors of vote and method on a crowd with fewer labels, beside how certain each task is."""
    fig = new_picture(WIDTH, 3.6)
    left, right = fig.subplots(1, 2, width_ratios=[1, 1.2])
    fill_methods(left, outcome.errors, VOTE)
    left.margins(y=0.3)
    fill_uncertainty(right, outcome.posterior, outcome.truth)
    before, after = outcome.errors[VOTE], outcome.errors[outcome.method]
    each = outcome.labels.n_labels / outcome.labels.n_tasks
    said = f"{outcome.name}, {each:.3g} labels a task: majority vote errs on {percent(before, 1)}"
    say(fig, said if outcome.method == VOTE else f"{said}, {outcome.method} on {percent(after, 1)}")
    return fig


def thinning_panel(crowds: Mapping[str, CrowdDataset] | None = None, seed: int = 0) -> Panel:
    """Choose a crowd, how many labels of every task to keep, and a method; see its error and what is uncertain.

    Crowds to choose from are those that need no network, unless others are given by their names.
    """
    offered = dict(crowds) if crowds else {name: load(name, "crowd") for name in BUNDLED}

    def compute(per_task: int, crowd: str, method: str) -> Thinned:
        return thin(offered[crowd], method, per_task, seed)

    controls = {
        "per_task": choice(w.SelectionSlider, KEPT, 10, "labels kept per task"),
        "crowd": choice(w.Dropdown, tuple(offered), next(iter(offered)), "crowd"),
        "method": choice(w.Dropdown, OFFERED, "WorkerTypes", "method"),
    }
    return Panel(controls, compute, draw_thinned, _describe)


def _describe(outcome: Thinned) -> str:
    before, after = percent(outcome.errors[VOTE], 1), percent(outcome.errors[outcome.method], 1)
    left = f"{outcome.name} with at most {outcome.wanted} labels per task has {outcome.labels.n_labels:,} labels"
    vote = f"{left}; majority vote errs on {before} of the tasks"
    if outcome.method == VOTE:
        return f"{vote}."
    return f"{vote}, {outcome.method} on {after}. It overrules the majority {outcome.overruled} times."

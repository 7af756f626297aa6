"""The panel of notebook 07: real crowds with fewer labels."""

from __future__ import annotations

from collections.abc import Mapping

import ipywidgets as w

from cofactor.data.loading import CrowdDataset, load_crowd
from cofactor.plots.style import percent
from course.panel import Panel, choice
from course.demos.real_crowd import Thinned, thin
from course.figures.real_crowd import draw_thinned

OFFERED = (
    "BayesDS",
    "MajorityVote",
    "Wawa",
    "OneCoin",
    "MV-EM",
    "RobSymNMF",
    "RobSymNMF-EM",
    "DesSymNMF",
    "DesSymNMF-EM",
    "SymNMF(no imputation)",
    "MultiStart-EM",
    "MultiSPA",
    "Spectral-D&S",
    "KOS",
)
KEPT = (2, 3, 4, 5, 7, 10, 15, 20, 30, 39)
BUNDLED = ("bluebird", "digits")


def thinning_panel(crowds: Mapping[str, CrowdDataset] | None = None, seed: int = 0) -> Panel:
    """Choose a crowd, how many labels of every task to keep, and a method; see its error and what is uncertain.

    Parameters
    ----------
    crowds : mapping of names to crowds, optional
        Offered; by default those that need no network.
    seed : int
        Of the choice of labels; a larger number keeps the same ones and more.
    """
    offered = dict(crowds) if crowds else {name: load_crowd(name) for name in BUNDLED}

    def compute(per_task: int, crowd: str, method: str) -> Thinned:
        return thin(offered[crowd], method, per_task, seed)

    controls = {
        "per_task": choice(w.SelectionSlider, KEPT, 10, "labels kept per task"),
        "crowd": choice(w.Dropdown, tuple(offered), next(iter(offered)), "crowd"),
        "method": choice(w.Dropdown, OFFERED, "BayesDS", "method"),
    }
    return Panel(controls, compute, draw_thinned, describe_thinned)


def describe_thinned(outcome: Thinned) -> str:
    """Say what is left, how often vote and method err, and how often they differ."""
    before, after = outcome.errors["MajorityVote"], outcome.errors[outcome.method]
    left = f"{outcome.name} with at most {outcome.wanted} labels per task has {outcome.labels.n_labels:,} labels"
    vote = f"majority vote errs on {percent(before, 1)} of the tasks"
    if outcome.method == "MajorityVote":
        return f"{left}; {vote}."
    return (
        f"{left}; {vote}, {outcome.method} on {percent(after, 1)}. It overrules the majority {outcome.overruled} times."
    )

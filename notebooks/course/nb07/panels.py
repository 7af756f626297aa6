"""The live figures of notebook 07: people who mislead, and what a prior makes of few labels."""

from __future__ import annotations

import warnings
from collections import namedtuple
from collections.abc import Mapping
from functools import cache

import ipywidgets as w
import numpy as np
from matplotlib.figure import Figure
from scipy.stats import beta

from cofactor.core.errors import CofactorError, DataWarning
from cofactor.core.tables import CategoricalTable
from cofactor.core.types import Floats, Ints
from cofactor.crowd import METHODS
from cofactor.crowd.labels import CrowdLabels, vote_shares
from cofactor.crowd.scores import error_rate
from cofactor.data.loading import CrowdDataset, load
from cofactor_app.plots.crowd import draw_uncertainty
from cofactor_app.plots.style import BLUE, FAINT, INK, LOOKS, ORANGE, WIDTH, new_picture, percent, say, styled
from course.crowds import without_prior
from course.live import Live, drag, reveal
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
    draw_uncertainty(outcome.posterior, outcome.truth, ax=right)
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


# ---- people who mislead ----

SHARES = tuple(range(0, 46, 5))  # per cent of the people
RACED = {
    "majority vote": "MajorityVote",
    "MV-EM": "MV-EM",
    "DesSymNMF-EM": "DesSymNMF-EM",
    "WorkerTypes": "WorkerTypes",
}


def mislead(labels: CrowdLabels, share: float, seed: int = 0) -> CrowdLabels:
    """Let a fraction of the people always give the next class."""
    someone = np.random.default_rng(seed).permutation(labels.n_workers)
    misleads = np.isin(labels.table.variables, someone[: round(share * labels.n_workers)])
    values = (labels.table.values + misleads) % labels.n_classes
    return with_values(labels, np.arange(labels.n_labels), values)


@cache
def misled() -> dict[str, Floats]:
    """Shares of the photographs of Bluebird that methods label wrongly, by how many of the people mislead."""
    crowd = load("bluebird", "crowd")
    found = {}
    for name, method in RACED.items():
        fits = (mislead(crowd.labels, share / 100) for share in SHARES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # WorkerTypes tells where it keeps to the vote
            scores = [without_prior(method).fit(labels).predict_proba(labels) for labels in fits]
        found[name] = np.array([error_rate(each, crowd.truth) for each in scores])
    return found


@styled
def _draw_misled() -> Figure:
    fig = new_picture(WIDTH, 3.2)
    ax = fig.subplots()
    for (name, errors), (colour, marker, line) in zip(misled().items(), LOOKS, strict=False):
        ax.plot(SHARES, 100 * errors, color=colour, marker=marker, ls=line, label=name)
    ax.axvline(0, color=FAINT, lw=1)
    ax.plot([], [], "x", color=INK, ms=9, mew=2, label="your guess for MV-EM")
    ax.set(xlabel="people who always hand in the other bird (%)", ylabel="photographs wrong (%)", xlim=(-2, 47))
    ax.set(ylim=(0, 55))
    ax.legend(loc="upper left", ncols=2)
    say(fig, "108 photographs of two kinds of birds, labelled by 39 people")
    return fig


def mislead_live() -> Live:
    """Drag how many people mislead, and the error that you expect of a model; then see all methods."""
    fig = _draw_misled()
    vote, *models, now, guess = fig.axes[0].lines
    errors = {name: dict(zip(SHARES, found, strict=True)) for name, found in misled().items()}

    def update(share: int, guessed: int, shown: bool) -> str:
        now.set_xdata([share, share])
        guess.set_data([share], [guessed])
        for line in models:
            line.set_visible(shown)
        told = f"{share} % mislead: the vote is wrong on {percent(errors['majority vote'][share])}"
        found = ", ".join(f"{name} on {percent(errors[name][share])}" for name in list(errors)[1:])
        return f"{told}, {found}" if shown else f"{told}, and MV-EM, a model of every person, on {guessed} %?"

    controls = {
        "share": drag(0, 0, 45, 5, "mislead (%)"),
        "guessed": drag(30, 0, 50, 1, "your guess (%)"),
        "shown": reveal("models"),
    }
    return Live(
        controls,
        fig,
        [vote, *models, now, guess],
        update,
        "Let more people mislead. Guess first, then show the models.",
    )


# ---- a prior ----

IMAGINED = 4, 1  # right and wrong labels


@styled
def _draw_belief() -> Figure:
    fig = new_picture(WIDTH, 3)
    ax = fig.subplots()
    x = np.linspace(0.001, 0.999, 200)
    ax.plot(100 * x, beta.pdf(x, *IMAGINED), color=INK, ls=":", label="prior")
    ax.plot(100 * x, 0 * x, color=BLUE, label="after the labels")
    ax.axvline(0, color=BLUE, ls="--", label="its mean")
    ax.axvline(0, color=ORANGE, ls="-.", label="fraction of right labels")
    ax.set(xlim=(0, 100), ylim=(0, 12), yticks=[], xlabel="probability of being right (%)", ylabel="density")
    ax.legend(loc="upper left")
    say(fig, f"Belief in one person, after {sum(IMAGINED)} imagined labels and some real ones")
    return fig


def belief_live() -> Live:
    """Drag the right and wrong labels of a person; see the estimated accuracy with and without a prior."""
    fig = _draw_belief()
    _, after, mean, plain = fig.axes[0].lines
    x = after.get_xdata() / 100

    def update(right: int, wrong: int, shown: bool) -> str:
        a, b = IMAGINED[0] + right, IMAGINED[1] + wrong
        after.set_ydata(beta.pdf(x, a, b))
        mean.set_xdata([100 * a / (a + b)] * 2)
        n = right + wrong
        plain.set_xdata([100 * right / n] * 2 if n else [-10, -10])
        for line in (after, mean):
            line.set_visible(shown)
        share = f"{percent(right / n)} without a prior" if n else "no estimate without a prior"
        told = f"{percent(a / (a + b))} with the prior" if shown else "and with five imagined labels?"
        return f"{n} labels, {right} of them right: {share}, {told}"

    controls = {
        "right": drag(1, 0, 100, 1, "right labels"),
        "wrong": drag(2, 0, 200, 1, "wrong labels"),
        "shown": reveal("with the prior"),
    }
    return Live(
        controls,
        fig,
        [after, mean, plain],
        update,
        "Try one right label of three, ten of thirty, and a hundred of 300.",
    )

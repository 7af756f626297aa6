"""Plots of a crowd: its confusion matrices, workers, uncertain tasks, plans for its labels, and refits.

Functions take library objects. They draw into the axes `ax` and return them; without `ax`, they make a new figure whose
title states the finding. Functions with several panels take a figure `fig` in the same way. No function uses pyplot,
files or global settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation
from numpy.typing import ArrayLike, NDArray

from cofactor.core.bootstrap import probability_intervals
from cofactor.core.errors import CofactorError, amount, listing
from cofactor.core.latent_class import LatentClassModel
from cofactor.core.types import Floats, Ints
from cofactor.crowd.base import SURE, worker_accuracy
from cofactor.crowd.labels import CrowdLabels
from cofactor.crowd.plan_next import Plan
from cofactor.crowd.workers import CrowdBootstrap
from cofactor_app.plots.style import (
    BLUE,
    DPI,
    FAINT,
    INK,
    LOOKS_BESIDE_VOTE,
    ORANGE,
    PURPLE,
    RED,
    WIDTH,
    Shown,
    axes_of,
    bare,
    heat,
    names_of,
    new_picture,
    number,
    percent,
    say,
    short,
    styled,
)

PANELS = 6  # confusion matrices shown unless others are asked for
NAMED = 4  # outliers named in a scatter plot
MARKED = 40  # wrong labels marked one by one; more are drawn as shares of groups of tasks
GROUPS = 25
TICKS = (0.5, 0.9, 0.99, 0.999, 0.9999)
CERTAIN = 1 - 1e-5  # probabilities above are drawn here
LETTER = 0.08  # inches a letter of a tick takes
MOST_NAMES = 20  # of workers along an axis
WIDE = 30.0  # amounts that span more than this factor get a logarithmic axis


def spread_workers(model: LatentClassModel, n_workers: int = PANELS) -> Ints:
    """Pick workers from the most to the least accurate, evenly spaced by rank."""
    order = np.argsort(-worker_accuracy(model), kind="stable")
    return order[np.unique(np.linspace(0, len(order) - 1, min(n_workers, len(order))).round().astype(int))]


@styled
def draw_confusions(
    model: LatentClassModel,
    workers: Sequence[object] | None = None,
    which: ArrayLike | None = None,
    classes: Sequence[object] | None = None,
    accuracy: Floats | None = None,
    *,
    fig: Figure | SubFigure | None = None,
) -> Figure | SubFigure:
    """Draw the confusion matrices of workers side by side, the most accurate worker first.

    Parameters
    ----------
    model : LatentClassModel
        Dawid-Skene model, all variables with the same K classes.
    workers, classes : sequences of names, optional
        In the order of the codes, such as `labels.workers` and `labels.classes`.
    which : (P,) worker codes, optional
        Default: up to six workers, evenly spaced from the most to the least accurate.
    accuracy : (M,) array, optional
        Accuracies that were not estimated from the model; the title then names no mistake.
    fig : Figure or SubFigure, optional
        Draw into this figure, and leave its title to the caller.

    Raises a CofactorError if `which` is empty or contains a code that is not a worker's.
    """
    right = worker_accuracy(model) if accuracy is None else accuracy
    chosen = spread_workers(model) if which is None else _checked_codes(which, model.n_variables, "worker")
    chosen = chosen[np.argsort(-right[chosen], kind="stable")]
    columns = min(len(chosen), 6 if model.n_classes == 2 else 3)
    rows = -(-len(chosen) // columns)
    own = None
    if fig is None:
        fig = own = new_picture(WIDTH, min(1.5 + rows * (1.4 if columns > 3 else 2.0), 9))
    axes = fig.subplots(rows, columns, squeeze=False)
    fill_confusions(axes, model, chosen, workers, names_of(range(model.n_classes), classes, "class"), accuracy)
    fig.supxlabel("true class (columns sum to 100 %)", fontsize=9.5)
    fig.supylabel("label given", fontsize=9.5)
    if own:
        shown = f"{percent(right[chosen].max())} to {percent(right[chosen].min())} right"
        worst = "" if accuracy is not None else f": {_worst_confusion(model, chosen, workers, classes)}"
        say(own, f"{shown}{worst}" if worst else f"Confusion matrices of workers who are {shown}")
    return fig


def fill_confusions(
    axes: Any,
    model: LatentClassModel,
    chosen: Ints,
    workers: Sequence[object] | None,
    classes: list[str],
    accuracy: Floats | None = None,
) -> Any:
    """Draw the confusion matrices of the chosen workers into a (rows, columns) array of axes, and return it."""
    accuracy = worker_accuracy(model) if accuracy is None else accuracy
    for ax, m, name in zip(axes.ravel(), chosen, names_of(chosen, workers, "worker"), strict=False):
        heat(ax, model.conditionals[m], number=lambda value: f"{100 * value:.0f}")
        ax.set_title(f"{short(name)}\n{percent(accuracy[m])} right")
        bare(ax)
    for ax in axes.ravel()[len(chosen) :]:
        ax.set_axis_off()
    names = [short(name) for name in classes]
    room = (axes.flat[0].get_figure().bbox.width / DPI - 1.2) / axes.shape[1] / len(names)  # inches for a class
    turned = 90 if LETTER * max(map(len, names)) > room else 0
    for ax in axes[:, 0]:
        ax.set_yticks(range(len(names)), names)
    for ax in axes.flat[max(len(chosen) - axes.shape[1], 0) : len(chosen)]:
        ax.set_xticks(range(len(names)), names, rotation=turned)
    return axes


def _worst_confusion(
    model: LatentClassModel, chosen: Ints, workers: Sequence[object] | None, classes: Sequence[object] | None
) -> str:
    off = np.stack([model.conditionals[m] * (1 - np.eye(model.n_classes)) for m in chosen])
    p, i, c = np.unravel_index(np.argmax(off), off.shape)
    (worker,) = names_of([int(chosen[p])], workers, "worker")
    label, true = names_of([int(i), int(c)], classes, "class")
    return f"{short(worker)} labels {percent(off[p, i, c])} of ‘{short(true, 24)}’ as ‘{short(label, 24)}’"


@styled
def draw_worker_accuracy(model: LatentClassModel, labels: CrowdLabels, *, ax: Axes | None = None) -> Axes:
    """Draw each worker's estimated accuracy against the number of labels given, and mark workers worse than chance.

    A worker is marked if an interval for that many labels ends below chance. If all workers gave the same number of
    labels, they are drawn in order of accuracy instead.
    """
    accuracy, given = worker_accuracy(model), labels.table.entries_per_variable
    chance = 1 / model.n_classes
    bad = probability_intervals(accuracy, np.zeros_like(accuracy), given)[1] < chance
    worse = f"{bad.sum() or 'None'} of {len(bad)} workers {'is' if bad.sum() <= 1 else 'are'} worse than chance"
    ax = axes_of(ax, f"{worse}; the median is right on {percent(float(np.median(accuracy)))}")
    x = _labels_axis(ax, given, accuracy)
    ax.plot(x[~bad], 100 * accuracy[~bad], "o", color=BLUE, ms=5, alpha=0.75, mec="white", mew=0.5)
    ax.plot(x[bad], 100 * accuracy[bad], "X", color=RED, ms=7, mec="white", mew=0.5)
    ax.axhline(100 * chance, color=FAINT, ls="--", lw=1)
    right = ax.get_xlim()[1]
    ax.annotate(f"chance {percent(chance)}", (right, 100 * chance), (-2, 3), textcoords="offset points", ha="right")
    worst = np.flatnonzero(bad)[np.argsort(accuracy[bad], kind="stable")][: NAMED if bad.sum() <= NAMED else 1]
    for m, name in zip(worst, names_of(worst, labels.workers, "worker"), strict=True):
        ax.annotate(short(name), (x[m], 100 * accuracy[m]), (7, -4), textcoords="offset points", color=RED)
    ax.set(ylabel="estimated accuracy (% of tasks right)", ylim=(min(0, 100 * accuracy.min()) - 3, 103))
    return ax


def _labels_axis(ax: Axes, given: Ints, accuracy: Floats) -> Floats:
    """Choose what goes along x: labels given, on a log scale where they differ widely, or ranks where they do not."""
    if given.min() == given.max():
        ax.set(xlabel=f"workers, least accurate first (each gave {given[0]} labels)", xlim=(0, len(given) + 1))
        return np.argsort(np.argsort(accuracy, kind="stable")).astype(np.float64) + 1
    if given.max() > 20 * max(given.min(), 1):
        ax.set_xscale("log")
    ax.set_xlabel("labels given")
    ax.set_xlim(0.8 * max(given.min(), 0.8), 1.25 * given.max())
    return np.maximum(given, 0.9)


@styled
def draw_uncertainty(posterior: ArrayLike, truth: ArrayLike | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the highest class probability of every task: most errors should be where it is low.

    The scale is that of log-odds, since most probabilities are near one. With known truth, wrong labels are crossed
    out; if there are many in a new picture, bars below also show the error rates of groups of tasks.

    Parameters
    ----------
    posterior : (N, K) class probabilities
    truth : (N,) class codes, optional
        -1 where unknown.
    """
    posterior = np.asarray(posterior, dtype=np.float64)
    known = np.full(len(posterior), -1) if truth is None else np.asarray(truth)
    bad = None if truth is None else (known >= 0) & (np.argmax(posterior, axis=1) != known)
    if ax is None and bad is not None and bad.sum() > MARKED:
        fig = new_picture(WIDTH, 4.3)
        say(fig, _doubt(posterior, bad))
        ax, below = fig.subplots(2, 1, sharex=True, height_ratios=[2, 1], subplot_kw={"axes_class": Shown})
        _fill_uncertainty(ax, posterior, bad)
        ax.set_xlabel("")
        _share_wrong(below, bad[_least_certain(posterior)])
        return ax
    ax = axes_of(ax, _doubt(posterior, bad))
    _fill_uncertainty(ax, posterior, bad)
    return ax


def _fill_uncertainty(ax: Axes, posterior: Floats, wrong: NDArray[np.bool_] | None) -> None:
    order = _least_certain(posterior)
    rank, height = np.arange(1, len(order) + 1), np.minimum(posterior.max(axis=1)[order], CERTAIN)
    ax.axvspan(0, (height < SURE).sum() + 0.5, color=FAINT, alpha=0.18, lw=0)
    ax.axhline(SURE, color=FAINT, ls="--", lw=1)
    ax.plot(rank, height, ".", color=BLUE, ms=4, label="task")
    if wrong is not None:
        bad = wrong[order]
        size = 7 if bad.sum() <= MARKED else 4
        ax.plot(rank[bad], height[bad], "X", color=RED, ms=size, mec="white", mew=0.4, label="wrong label")
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, handletextpad=0.2, borderpad=0)
    ax.set_yscale("logit")
    ax.set_yticks([*TICKS, CERTAIN], [*(f"{100 * tick:.6g}" for tick in TICKS), f"≥ {100 * CERTAIN:.6g}"])
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set(xlabel="tasks, least certain first", ylabel="posterior probability\nof the label (%)")
    ax.set(xlim=(0, len(order) + 1), ylim=(min(0.45, 0.9 * height.min()), 1 - (1 - CERTAIN) / 2))


def _share_wrong(ax: Axes, bad: NDArray[np.bool_]) -> None:
    groups = np.array_split(np.arange(len(bad)), GROUPS)
    each = " or ".join(str(size) for size in sorted({len(group) for group in groups}))
    share = [100 * bad[group].mean() for group in groups]
    ax.bar([group.mean() + 1 for group in groups], share, 0.8 * len(groups[0]), color=RED)
    ax.set(xlabel=f"tasks, least certain first (bars: {each} tasks each)", ylabel="wrong (%)")


def _least_certain(posterior: Floats) -> Ints:
    return np.argsort(posterior.max(axis=1), kind="stable")


def _doubt(posterior: Floats, bad: NDArray[np.bool_] | None) -> str:
    uncertain = posterior.max(axis=1) < SURE
    text = f"Below {percent(SURE)} certain: {uncertain.sum()} of {len(uncertain)} tasks"
    if bad is None:
        return text
    if not bad.any():
        return f"{text}; no label is wrong"
    return f"{text}, {(bad & uncertain).sum()} of the {bad.sum()} wrong labels"


def _checked_codes(codes: ArrayLike, limit: int, kind: str) -> Ints:
    """Return codes of tasks or workers as integers; raise a CofactorError that names codes out of range."""
    checked = np.atleast_1d(np.asarray(codes))
    if checked.dtype.kind not in "iu" or not checked.size:
        raise CofactorError(f"{kind}s must be given by code, a whole number from 0 to {limit - 1}: got {codes!r}")
    bad = checked[(checked < 0) | (checked >= limit)]
    if bad.size:
        raise CofactorError(f"no {kind} has the code {listing(bad.tolist())}: codes are 0 to {limit - 1}")
    return checked.astype(np.int64)


# ---- plans and refits ----


@styled
def draw_plan(plan: Plan, level: float = 0.9, *, ax: Axes | None = None) -> Axes:
    """Draw each method's error with its band against the amount of data, and where the wanted error is reached."""
    amounts = plan.answers() if plan.only_range else {name: amount for name, amount, *_ in plan.in_words()}
    needed = ", ".join(f"{name} {amount}" for name, amount in amounts.items())
    ax = axes_of(ax, f"For an error of {number(plan.wanted)}: {needed} {plan.unit}", height=3.8)
    curves, answers = plan.curve(level), plan.needed(level=level)
    for k, (name, (colour, marker, line)) in enumerate(zip(plan.errors, cycle(LOOKS_BESIDE_VOTE), strict=False)):
        table = curves[curves["method"] == name]
        ax.fill_between(table["amount"], table["low"], table["high"], color=colour, alpha=0.15, lw=0)
        ax.plot(table["amount"], table["error"], color=colour, marker=marker, ls=line, ms=4, label=name)
        middle, low, high = answers.loc[k, ["amount", "low", "high"]].to_numpy(dtype=np.float64)
        if np.isfinite(low if plan.only_range else middle):
            ax.plot([low, min(high, plan.amounts[-1])], [plan.wanted] * 2, color=colour, lw=4, alpha=0.5)
            if not plan.only_range:
                ax.plot(middle, plan.wanted, "D", color=colour, ms=6)
    ax.axhline(plan.wanted, color=INK, lw=0.9, ls="--")
    _plan_axes(ax, plan)
    title = f"median and {level:.0%} of {len(next(iter(plan.errors.values())))} simulations"
    legend = ax.legend(title=title, alignment="left")
    if plan.only_range:  # bands fill the axes; errors fall, so lines are low at the right
        legend.set_loc("upper right")
    return ax


def _plan_axes(ax: Axes, plan: Plan) -> None:
    ax.set(xlabel=plan.unit, ylabel=plan.measure, ylim=(0, None))
    if plan.amounts[-1] > WIDE * plan.amounts[0]:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if plan.amounts[0] <= plan.present <= plan.amounts[-1]:
        ax.axvline(plan.present, color=FAINT, lw=0.9, ls=":")
        above = ax.get_xaxis_transform()  # where no legend can cover it
        ax.text(plan.present, 1.0, "now", color=INK, transform=above, ha="center", va="bottom")


@styled
def draw_intervals(found: CrowdBootstrap, level: float = 0.9, *, ax: Axes | None = None) -> Axes:
    """Draw each worker's estimated accuracy with its interval, best first, and the accuracy of chance."""
    table = found.accuracy(level).sort_values("estimate", ascending=False, kind="stable").reset_index(drop=True)
    chance = 1 / len(found.classes)
    below, above = table["high"] < chance, table["low"] > chance
    kinds = [
        (table[above], BLUE, "o", "better than chance"),
        (table[~above & ~below], ORANGE, "s", "not distinguishable from chance"),
        (table[below], PURPLE, "X", "worse than chance"),
    ]
    kinds = [kind for kind in kinds if len(kind[0])]
    counts = ", ".join(f"{len(mine)} {name}" for mine, *_, name in kinds)
    names = names_of(range(len(table)), table["worker"].tolist(), "worker") if len(table) <= MOST_NAMES else []
    names = [short(name) for name in names]
    turned = len(names) * LETTER * max(map(len, names), default=0) > WIDTH - 1
    letters = LETTER * max(map(len, names)) if turned else 0.0  # inches below the axis
    ax = axes_of(ax, f"Of {amount(len(table), 'worker')}: {counts}", height=4.2 + letters)
    for mine, colour, marker, name in kinds:
        ends = 100 * np.stack([mine["estimate"] - mine["low"], mine["high"] - mine["estimate"]])
        ax.errorbar(mine.index + 1, 100 * mine["estimate"], ends, color=colour, fmt=marker, ms=4, lw=1.2,
                    label=f"{name}: {len(mine)}")  # fmt: skip
    ax.axhline(100 * chance, color=INK, lw=0.9, ls="--", label=f"chance: {percent(chance)}")
    mean = float(np.average(table["estimate"], weights=table["labels"]))
    ax.axhline(100 * mean, color=INK, lw=0.9, ls=":", label=f"mean of all labels: {percent(mean)}")
    ax.set(xlabel="workers, most accurate first", ylabel="estimated accuracy (%)", ylim=(0, 102))
    if names:
        ax.set_xticks(range(1, len(names) + 1), names, rotation=90 if turned else 0)
    title = f"{percent(level)} intervals from {len(found.draws)} refits"
    under = ax.transAxes + ScaledTranslation(0, -0.5 - letters, ax.figure.dpi_scale_trans)
    ax.legend(title=title, alignment="left", loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=under, ncols=2)
    return ax

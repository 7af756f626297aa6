"""Pictures of plans and of uncertainty: error against amount of data, and intervals."""

from __future__ import annotations

from itertools import cycle

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from cofactor.crowd.plan_next import Plan
from cofactor.crowd.workers import CrowdBootstrap
from cofactor_app.plots.style import (
    BLUE,
    FAINT,
    INK,
    LOOKS_BESIDE_VOTE,
    ORANGE,
    PURPLE,
    axes_of,
    number,
    percent,
    styled,
)

WIDE = 30.0  # amounts that span more than this factor get a logarithmic axis


@styled
def draw_plan(plan: Plan, level: float = 0.9, *, ax: Axes | None = None) -> Axes:
    """Draw each method's error against the amount of data, with its band, and where the wanted error is reached."""
    ax = axes_of(ax, f"For an error of {number(plan.wanted)}: {_finding(plan)}", height=3.8)
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
    _axes(ax, plan)
    title = f"median and {level:.0%} of {len(next(iter(plan.errors.values())))} simulations"
    legend = ax.legend(title=title, alignment="left")
    if plan.only_range:  # bands fill the axes; errors fall, so lines are low at the right
        legend.set_loc("upper right")
    return ax


def _axes(ax: Axes, plan: Plan) -> None:
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


def _finding(plan: Plan) -> str:
    words = plan.answers() if plan.only_range else {name: amount for name, amount, *_ in plan.in_words()}
    return f"{', '.join(f'{name} {amount}' for name, amount in words.items())} {plan.unit}"


@styled
def draw_intervals(found: CrowdBootstrap, level: float = 0.9, *, ax: Axes | None = None) -> Axes:
    """Draw each worker's estimated accuracy with its interval, the best first, beside that of chance."""
    table = found.accuracy(level).sort_values("estimate", ascending=False, kind="stable").reset_index(drop=True)
    chance = 1 / len(found.classes)
    below, above = table["high"] < chance, table["low"] > chance
    unsure = len(table) - above.sum() - below.sum()
    finding = f"Of {len(table)} workers, {above.sum()} are better than chance, {below.sum()} worse, {unsure} either"
    ax = axes_of(ax, finding, height=4.2)
    for chosen, colour, marker, name in (
        (above, BLUE, "o", "better than chance"),
        (~above & ~below, ORANGE, "s", "cannot be told from chance"),
        (below, PURPLE, "X", "worse than chance"),
    ):
        mine = table[chosen]
        ends = 100 * np.stack([mine["estimate"] - mine["low"], mine["high"] - mine["estimate"]])
        ax.errorbar(mine.index + 1, 100 * mine["estimate"], ends, color=colour, fmt=marker, ms=4, lw=1.2,
                    label=f"{name}: {len(mine)}")  # fmt: skip
    ax.axhline(100 * chance, color=INK, lw=0.9, ls="--")
    mean = float(np.average(table["estimate"], weights=table["labels"]))
    ax.axhline(100 * mean, color=INK, lw=0.9, ls=":", label=f"mean of all labels: {percent(mean)}")
    ax.set(xlabel="workers, the best first", ylabel="labels that are right (%)", ylim=(0, 102))
    title = f"intervals of {percent(level)}, {len(found.draws)} refits"
    ax.legend(title=title, alignment="left", loc="upper left", bbox_to_anchor=(0, -0.2), ncols=2)
    return ax

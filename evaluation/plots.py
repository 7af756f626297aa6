"""Pictures of an experiment's results: levels beside published numbers, sweeps, curves over iterations, histograms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation, LogLocator

from cofactor.core.types import Floats
from cofactor_app.plots.simplex import draw_triangle, to_plane
from cofactor_app.plots.style import BLUE, CLASS_COLOURS, CLASS_HATCHES, FAINT, INK, ORANGE, new_picture, styled
from evaluation.experiment import Experiment
from evaluation.verdicts import NORMAL

ROW = 0.21  # inches per method
BESIDE = 3  # methods in a row of a legend, where there is room
NAME = 2.6  # inches of a method in a legend
MOST_BINS = 24
SHORT = 1.5  # decades of an axis that needs more numbers than powers of ten
LOGARITHMIC = ("mse", "seconds", "peak", "predicted")  # metrics that range over decades
ROOM = 1.5  # times the largest value ends a logarithmic axis
TITLE, LETTERS = 30, 90  # characters in a line of a panel's heading at most, and of all headings side by side
MOST_BESIDE, WRAPPED = 7, 5  # panels in one row; in each of several rows
STYLES = "-", "--", ":", "-."
MARKERS = "os^Dv<>pP"  # nine, and four styles of lines: 36 looks
MARKED = 0.1  # lengths of the picture between two marks of a curve
ABOVE = 1.08  # heights of a triangle's panel, clear of the name of its upper corner
MOST_NUMBERS = 4  # on an axis of a sweep, between its ends: long ones must not touch
UNIT_VECTORS = ("$e_1$", "$e_2$", "$e_3$")


@styled
def draw(experiment: Experiment, trials: pd.DataFrame, summary: pd.DataFrame) -> Figure:
    """Draw the pictures that the experiment declares."""
    return PLOTS[experiment.plot](experiment, trials, summary)


def _levels(experiment: Experiment, _: pd.DataFrame, summary: pd.DataFrame) -> Figure:
    """One panel per setting, one line per method: ours with an interval of 95 %, published as a cross.

    What has no value of the first metric, as a classifier without a likelihood, has no line and no panel.
    """
    metric = next(iter(experiment.metrics))
    rows = summary[(summary["metric"] == metric) & (summary["ours"].notna() | summary["published"].notna())]
    methods = list(dict.fromkeys(rows["method"]))[::-1]
    valued = set(rows["setting"])
    told = [setting for setting in experiment.settings if setting in valued] or list(experiment.settings)
    figure, panels = _panels(experiment, 1.4 + ROW * max(len(methods), 2), told)
    for axes, setting in zip(panels, told, strict=True):
        here = rows[rows["setting"] == setting].set_index("method").reindex(methods)
        reach = NORMAL * here["se"]
        ours = axes.errorbar(here["ours"], range(len(methods)), xerr=reach, fmt="o", color=BLUE, ms=4, lw=1)
        if rows["published"].notna().any():
            ours.set_label("ours")
            axes.plot(here["published"], range(len(methods)), "x", color=ORANGE, ms=6, mew=1.6, label="published")
        axes.grid(axis="both", color=FAINT, alpha=0.25, lw=0.6)
        axes.set_xlabel(fill(axis_name(metric, experiment.metrics[metric]), LETTERS // min(len(panels), WRAPPED)))
    if metric.startswith(LOGARITHMIC):
        values = np.concatenate([rows["ours"], rows["published"], rows["ours"] + NORMAL * rows["se"]])
        _logarithmic(panels, np.where(values > 0, values, np.nan))
    panels[0].set_yticks(range(len(methods)), methods)
    panels[0].set_ylim(-0.5, max(len(methods), 1) - 0.5)  # of all: the first and the last mark are not cut
    _legend_below(figure, panels)
    return figure


def _logarithmic(panels: Sequence[Axes], values: Floats) -> None:
    """Give all panels the same logarithmic axis, with as many numbers as there is room for."""
    low, high = (np.nanmin(values) / ROOM, np.nanmax(values) * ROOM) if np.isfinite(values).any() else (0.1, 1.0)
    short = np.log10(high / low) < SHORT
    for axes in panels:
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if short else (1,), numticks=5))
        axes.xaxis.set_major_formatter("{x:g}" if short else LogFormatterSciNotation())
        axes.xaxis.set_minor_formatter("")


def _curves(experiment: Experiment, trials: pd.DataFrame, _: pd.DataFrame) -> Figure:
    """One panel per setting: every trial faint, the median bold, on a logarithmic axis."""
    found = trials.assign(step=trials["metric"].str.removeprefix("t=").astype(int))
    methods = list(dict.fromkeys(found["method"]))
    figure, panels = _panels(experiment, 3.0 + ROW * -(-len(methods) // BESIDE))
    looks = list(zip(methods, *map(cycle, (STYLES, MARKERS, CLASS_COLOURS)), strict=False))
    for axes, setting in zip(panels, experiment.settings, strict=True):
        for method, style, marker, colour in looks:
            here = found[(found["setting"] == setting) & (found["method"] == method)]
            if len(here):
                curves = here.pivot_table(index="step", columns="trial", values="value")
                axes.semilogy(curves.index, curves, color=colour, lw=0.5, alpha=0.2)
                look = {"ls": style, "marker": marker, "ms": 4, "markevery": MARKED, "lw": 1.8}
                axes.semilogy(curves.index, curves.median(axis=1), color=colour, **look, label=method)
        axes.set_xlabel("iteration")
    panels[0].set_ylabel(experiment.axis)
    _legend_below(figure, panels)
    return figure


def _histogram(experiment: Experiment, trials: pd.DataFrame, _: pd.DataFrame) -> Figure:
    """One panel per setting: how often each method that varies over trials reached which level."""
    metric = next(iter(experiment.metrics))
    found = trials[(trials["metric"] == metric) & trials["value"].notna()]
    varying = [str(name) for name, rows in found.groupby("method", sort=False) if np.ptp(rows["value"].to_numpy()) > 0]
    bins = np.histogram_bin_edges(found["value"], bins=MOST_BINS) if len(found) else np.linspace(0, 1, 2)
    figure, panels = _panels(experiment, 3.4)
    for axes, setting in zip(panels, experiment.settings, strict=True):
        for colour, hatch, method in zip(CLASS_COLOURS, CLASS_HATCHES, varying, strict=False):
            here = found[(found["setting"] == setting) & (found["method"] == method)]["value"]
            if len(here):
                name = f"{method} ({len(here)} trials)"
                axes.hist(here, bins=list(bins), color=colour, hatch=hatch, ec="white", alpha=0.55, label=name)
        axes.set_xlabel(axis_name(metric, experiment.metrics[metric]))
    panels[0].set_ylabel("trials")
    _legend_below(figure, panels)
    return figure


def _sweep(experiment: Experiment, _: pd.DataFrame, summary: pd.DataFrame) -> Figure:
    """One panel per metric, over settings such as "SNR=8" or "tdt2,K=3": a line per method, published hollow."""
    methods = list(dict.fromkeys(summary["method"]))
    rows = -(-len(methods) // BESIDE)  # of the legend, which stands below: in a panel it would cover the lines
    figure = new_picture(width=min(3.4 * len(experiment.metrics) + 1.6, 10.5), height=3.2 + ROW * rows)
    panels = figure.subplots(1, len(experiment.metrics), squeeze=False)[0]
    figure.suptitle(experiment.title, color=INK, fontsize=10)
    at = {setting: float(setting.split("=")[-1].replace(",", "")) for setting in experiment.settings}
    for method, colour, marker, style in zip(
        methods, cycle(CLASS_COLOURS), cycle(MARKERS), cycle(STYLES), strict=False
    ):
        for axes, metric in zip(panels, experiment.metrics, strict=True):
            here = summary[(summary["method"] == method) & (summary["metric"] == metric)]
            x = here["setting"].map(at)
            axes.plot(x, here["ours"], color=colour, marker=marker, ls=style, ms=4, lw=1.3, label=method)
            axes.plot(x, here["published"], marker, color=colour, ms=8, mfc="none", mew=1.4)
    if summary["published"].notna().any():
        panels[0].plot([], [], "o", color=INK, ms=8, mfc="none", mew=1.4, label="published (hollow)")
    for axes, (metric, unit) in zip(panels, experiment.metrics.items(), strict=True):
        axes.locator_params(axis="x", nbins=MOST_NUMBERS)
        axes.set_xlabel(next(iter(experiment.settings)).split("=")[0].split(",")[-1])
        axes.set_ylabel(axis_name(metric, unit))
        if metric.startswith(LOGARITHMIC):
            axes.set_yscale("log")
    _legend_below(figure, panels)
    return figure


def _simplex(experiment: Experiment, trials: pd.DataFrame, _: pd.DataFrame) -> Figure:
    """One panel per setting: the rows of the first trial in the triangle, and the certificate's verdict on them."""
    found = trials[trials["trial"] == 0]
    figure, panels = _panels(experiment, 3.4)
    for axes, setting in zip(panels, experiment.settings, strict=True):
        here = found[found["setting"] == setting]
        values = here.loc[here["metric"].str.startswith("h"), "value"].to_numpy()
        judged = here.set_index("metric")["value"]
        if len(values):
            draw_triangle(to_plane(values.reshape(-1, 3)), UNIT_VECTORS, ax=axes)
            verdict = "unique" if judged["unique"] else "not shown to be unique"
            axes.set_title(f"{experiment.settings[setting]}\n{verdict}: 1/r = {judged['1/r']:.2f}", y=ABOVE)
    names = [axes.get_legend_handles_labels() for axes in panels if axes.get_legend()]
    for legend in filter(None, (axes.get_legend() for axes in panels)):
        legend.remove()
    if names:
        figure.legend(*names[-1], loc="outside lower center", ncols=4)
    return figure


def _legend_below(figure: Figure, panels: Sequence[Axes]) -> None:
    """Name what is in any panel, once."""
    named = {name: line for axes in panels for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    if named:
        beside = min(BESIDE, max(1, int(figure.get_figwidth() / NAME)))
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=beside, fontsize=7.5)


def _panels(experiment: Experiment, height: float, settings: Sequence[str] | None = None) -> tuple[Figure, list[Axes]]:
    """One panel per setting (default: of all), named by it; more than fit beside one another go into further rows."""
    settings = list(experiment.settings) if settings is None else settings
    count = len(settings)
    rows, columns = (1, count) if count <= MOST_BESIDE else (-(-count // WRAPPED), WRAPPED)
    figure = new_picture(width=min(3.0 + 2.4 * columns, 10.5), height=height * rows)
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
    for axes in panels[count:]:
        axes.remove()
    for axes, setting in zip(panels, settings, strict=False):
        axes.set_title(fill(experiment.settings[setting], min(TITLE, LETTERS // columns)))
    figure.suptitle(experiment.title, color=INK, fontsize=10)
    return figure, list(panels[:count])


def axis_name(metric: str, unit: str) -> str:
    """Return the name of a metric, with its unit if it has one."""
    return metric if unit == "1" else f"{metric} ({unit})"


PLOTS: dict[str, Callable[[Experiment, pd.DataFrame, pd.DataFrame], Figure]] = {
    "levels": _levels,
    "curves": _curves,
    "histogram": _histogram,
    "simplex": _simplex,
    "sweep": _sweep,
}
LEVELS = ("levels", "sweep")  # plots whose first metric is a number that methods compete for

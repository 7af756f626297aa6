"""Pictures of notebook 03: error of imputed blocks against the number of co-labelled items."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from cofactor.core.errors import CofactorError
from cofactor.plots.style import BLUE, GREEN, INK, ORANGE, new_picture, percent, say, styled
from course.demos.imputation import PowerLaw, SampleErrors

MARKS = {"designated": (BLUE, "o", "-"), "robust": (ORANGE, "s", "--"), "least squares": (GREEN, "^", "-.")}


@styled
def draw_sample_errors(errors: SampleErrors) -> Figure:
    """Draw the error of missing blocks against co-labelled items on log-log axes, beside the slope of Theorem 1."""
    fig = new_picture(height=3.8)
    ax = fig.subplots()
    for name, values in errors.by_method.items():
        colour, marker, line = MARKS[name]
        ax.fill_between(
            errors.sizes, 100 * values.min(axis=0), 100 * values.max(axis=0), color=colour, alpha=0.13, lw=0
        )
        ax.plot(errors.sizes, 100 * values.mean(axis=0), color=colour, marker=marker, ls=line, label=name)
    best = min(values[:, -1].mean() for values in errors.by_method.values())
    ax.plot(
        errors.sizes, 80 * best * np.sqrt(errors.sizes[-1] / errors.sizes), color=INK, lw=0.9, ls=":",
        label="slope of $1/\\sqrt{S}$",
    )  # fmt: skip
    _log_axes(ax)
    ax.legend(title=f"mean and range, {errors.n_seeds} crowds", alignment="left", loc="lower left")
    ax.set_title(errors.setting, loc="left", color=INK)
    slopes = ", ".join(_slope(errors, name) for name in errors.by_method)
    say(fig, f"Error falls as S to the power of {slopes} (Theorem 1: \N{MINUS SIGN}0.5)")
    return fig


def _slope(errors: SampleErrors, name: str) -> str:
    exponent, spread = errors.rate(name).exponent
    return f"\N{MINUS SIGN}{exponent:.2f} ± {spread:.2f} ({name})"


def _log_axes(ax: Axes) -> None:
    ax.set(xscale="log", yscale="log", xlabel="co-labelled items S of each observed pair")
    ax.set_ylabel("error of missing blocks (% of norm)")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


@styled
def draw_items_needed(errors: SampleErrors, method: str, target: float) -> Figure:
    """Draw the fitted c / sqrt(S) with its range over crowds, and where it crosses a target error."""
    if not 0 < target < 1:
        raise CofactorError(f"target={target}: ask for a relative error between 0 and 1")
    law = errors.rate(method)
    needed, fewest, most = law.items_needed(target)
    fig = new_picture(height=3.6)
    ax = fig.subplots()
    colour, marker, _ = MARKS[method]
    S = np.geomspace(errors.sizes[0], max(errors.sizes[-1], 1.5 * most), 50)
    _fill_law(ax, law, S, colour)
    ax.plot(errors.sizes, 100 * errors.by_method[method].T, color=colour, marker=marker, ms=3, ls="", alpha=0.5)
    ax.axhline(100 * target, color=INK, lw=0.9, ls="--")
    ax.plot([fewest, most], [100 * target] * 2, color=INK, lw=4, solid_capstyle="butt")
    ax.plot(needed, 100 * target, "D", color=INK, ms=6)
    _log_axes(ax)
    ax.set_title(f"{method} imputation, {errors.setting}; dots: single crowds", loc="left", color=INK)
    say(
        fig,
        f"For {percent(target)} error: {needed:,.0f} co-labelled items per pair "
        f"({fewest:,.0f} to {most:,.0f} for 80\N{NO-BREAK SPACE}% of the crowds)",
    )
    return fig


def _fill_law(ax: Axes, law: PowerLaw, S: np.ndarray, colour: object) -> None:
    middle, low, high = law.constant
    ax.fill_between(S, 100 * low / np.sqrt(S), 100 * high / np.sqrt(S), color=colour, alpha=0.2, lw=0)
    ax.plot(S, 100 * middle / np.sqrt(S), color=colour)
